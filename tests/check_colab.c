/* check_colab.c - the notebook of each lab: what its first cell says of a runtime, all its cells
 * from top to bottom, and the same cells as a script with nothing but a bundle. */
#include "testing.h"

#include <sys/stat.h>

#include "files.h"

#define NOTEBOOK "labs/day17-registers/colab.ipynb"
#define PYTHON "/usr/bin/python3"
#define NBCONVERT "/usr/bin/jupyter-nbconvert"

static struct process_result run(const char *const *argv, const char *const *environment,
                                 const char *folder)
{
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .directory = folder,
                                      .wall_ns = INT64_C(300000000000),
                                      .output_limit = (size_t)8 << 20,
                                      .merge_error = true};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    return result;
}

/* Only the end: Check gives up on long messages. */
static void expect(const char *text, const char *said)
{
    size_t length = strlen(text);
    ck_assert_msg(strstr(text, said) != NULL, "\"%s\" is not in what ends with:\n%s", said,
                  text + (length > 1500 ? length - 1500 : 0));
}

/* ---- The first cell -------------------------------------------------------------------------- */

#define NVCC(version) "'nvcc': {'path': '/usr/local/cuda/bin/nvcc', 'version': '" version "'}, "

static const struct {
    const char *doctor; /* as Python has it */
    const char *said;
} runtimes[] = {
    {"{'nvcc': None, 'driver_cuda': None, 'executor': 'emulator', 'gpus': [], 'findings': []}",
     "There is no nvcc in this runtime"},
    {"{" NVCC("12.5") "'driver_cuda': None, 'executor': 'emulator', 'gpus': [], 'findings': []}",
     "This is a CPU runtime"},
    {"{" NVCC("13.0") "'driver_cuda': '12.4', 'executor': 'emulator', 'gpus': [], 'findings': []}",
     "The toolkit (CUDA 13.0) is newer than the driver (CUDA 12.4) can load"},
    {"{" NVCC("12.5") "'driver_cuda': '12.4', 'executor': 'gpu', 'gpus': [{'name': 'A card'}], "
                      "'findings': []}",
     "All is well: the kernels will run on A card."},
    {"{" NVCC("12.5") "'driver_cuda': '12.4', 'executor': 'emulator', 'gpus': [], 'findings': "
                      "[{'id': 'gpu', 'status': 'warn', 'text': 'the card is asleep', 'remedy': "
                      "'wake it'}]}",
     "the card is asleep."},
    {"{" NVCC(
         "12.5") "'driver_cuda': None, 'executor': 'emulator', 'gpus': [], 'findings': "
                 "[{'id': 'cpu', 'status': 'fail', 'text': 'it is gone', 'remedy': 'call it'}]}",
     "it is gone. What mends it: call it"},
};

START_TEST(first_cell_explains_the_runtime)
{
    static const char script[] =
        "import json, sys\n"
        "cells = [c for c in json.load(open(sys.argv[1]))['cells'] if c['cell_type'] == 'code']\n"
        "source = ''.join(cells[0]['source'])\n"
        "scope = {}\n"
        "exec(source[:source.index('\\nspillway = find_spillway()')], scope)\n"
        "print('\\n'.join(scope['explain'](eval(sys.argv[2]))))\n";
    if (access(PYTHON, X_OK) != 0)
        TEST_SKIP("no python3");
    struct process_result result = run(
        (const char *[]){PYTHON, "-c", script, NOTEBOOK, runtimes[_i].doctor, NULL}, NULL, NULL);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.output));
    expect(bytes_text(&result.output), runtimes[_i].said);
    process_result_release(&result);
}
END_TEST

/* ---- From top to bottom ---------------------------------------------------------------------- */

static char *variable(const char *name, const char *value)
{
    char *text = NULL;
    ck_assert_int_gt(asprintf(&text, "%s=%s", name, value), 0);
    return text;
}

static void expect_results(const char *folder)
{
    static const char *const names[] = {"results.zip", "grade.json", "grade.html", "build.log"};
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        AUTO_FREE char *path = path_join(folder, names[i]);
        ck_assert_msg(access(path, R_OK) == 0, "%s was not left", names[i]);
    }
}

START_TEST(notebook_runs_in_a_student_repository)
{
    if (access(NBCONVERT, X_OK) != 0)
        TEST_SKIP("no jupyter-nbconvert");
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    AUTO_FREE char *folder = path_join(testing_temporary_folder(), "colab");
    struct process_result result =
        testing_spillway((const char *[]){"release", "day17-registers", folder, NULL}, NULL);
    ck_assert_int_eq(result.exit_code, 0);
    process_result_release(&result);
    AUTO_FREE char *home = variable("HOME", testing_temporary_folder());
    AUTO_FREE char *program = variable("SPILLWAY", testing_binary());
    AUTO_FREE char *cuda = variable("CUDA_HOME", testing_cuda_home());
    const char *const environment[] = {home, program, cuda, "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",
                                       NULL};
    result = run((const char *[]){NBCONVERT, "--to", "notebook", "--execute", "--output",
                                  "executed.ipynb", "colab.ipynb", NULL},
                 environment, folder);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.output));
    process_result_release(&result);
    AUTO_FREE char *path = path_join(folder, "executed.ipynb");
    struct bytes executed;
    ck_assert_int_eq(file_read(&executed, path, (size_t)16 << 20, false), FILE_READ);
    expect(bytes_text(&executed), "Score: 25/100");
    expect(bytes_text(&executed), "<svg xmlns");
    expect(bytes_text(&executed), "The results are in");
    ck_assert_ptr_null(strstr(bytes_text(&executed), "\"output_type\": \"error\""));
    bytes_release(&executed);
    expect_results(folder);
}
END_TEST

START_TEST(cells_run_from_a_bundle_alone)
{
    const char *bundle = getenv("SPILLWAY_BUNDLE");
    AUTO_FREE char *archive = NULL;
    ck_assert_int_gt(asprintf(&archive, "%s.tar.gz", bundle != NULL ? bundle : ""), 0);
    if (bundle == NULL || access(archive, R_OK) != 0)
        TEST_SKIP("this build makes no bundle");
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    if (access(PYTHON, X_OK) != 0)
        TEST_SKIP("no python3");
    AUTO_FREE char *folder = path_join(testing_temporary_folder(), "colab-bundle");
    AUTO_FREE char *script = path_join(folder, "cells.py");
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    struct process_result result =
        run((const char *[]){"/bin/sh", "packaging/notebook-script", NOTEBOOK, NULL},
            (const char *[]){"PATH=/usr/bin:/bin", NULL}, NULL);
    ck_assert_int_eq(result.exit_code, 0);
    testing_write(script, result.output.data, result.output.length);
    process_result_release(&result);
    AUTO_FREE char *home = variable("HOME", testing_temporary_folder());
    AUTO_FREE char *url = variable("SPILLWAY_URL", archive);
    AUTO_FREE char *cuda = variable("CUDA_HOME", testing_cuda_home());
    const char *const environment[] = {home, url, cuda, "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",
                                       NULL};
    result = run((const char *[]){PYTHON, "cells.py", NULL}, environment, folder);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.output));
    expect(bytes_text(&result.output), "Released day17-registers");
    expect(bytes_text(&result.output), "Score: 25/100");
    expect(bytes_text(&result.output), "The results are in");
    process_result_release(&result);
    expect_results(folder);
}
END_TEST

Suite *suite_colab(void)
{
    Suite *suite = suite_create("colab");
    TCase *tests = tcase_create("colab");
    tcase_set_timeout(tests, 320);
    tcase_add_loop_test(tests, first_cell_explains_the_runtime, 0, COUNT_OF(runtimes));
    tcase_add_test(tests, notebook_runs_in_a_student_repository);
    tcase_add_test(tests, cells_run_from_a_bundle_alone);
    suite_add_tcase(suite, tests);
    return suite;
}

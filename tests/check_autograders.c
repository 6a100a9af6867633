/* check_autograders.c - what is uploaded to Gradescope and to Autolab, run in the folders that
 * those systems make. */
#include "testing.h"

#include <jansson.h>
#include <sys/stat.h>

#include "files.h"
#include "support_toolkit.h"

#define LAB "day17-registers"
#define REFERENCE "reference/" LAB "/"
#define STARTER "starter/" LAB "/"

static char root[512];

/* build/, where `make gradescope autolab` lays its files; NULL: not made in this build. */
static const char *made(const char *name)
{
    const char *build = getenv("SPILLWAY_AUTOGRADERS");
    return build == NULL ? NULL : support_path(build, name);
}

static struct process_result run(const char *const *argv, const char *const *environment,
                                 const char *directory)
{
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .directory = directory,
                                      .wall_ns = INT64_C(120000000000),
                                      .output_limit = (size_t)8 << 20};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    ck_assert_msg(!result.timed_out && !result.signalled, "%s did not end by itself", argv[0]);
    return result;
}

static void must(const char *const *argv, const char *directory)
{
    struct process_result result =
        run(argv, (const char *[]){"PATH=/usr/bin:/bin", NULL}, directory);
    ck_assert_msg(result.exit_code == 0, "%s: %s", argv[0], bytes_text(&result.error));
    process_result_release(&result);
}
#define MUST(directory, ...) must((const char *[]){__VA_ARGS__, NULL}, directory)

static void copy(const char *from, const char *to)
{
    struct bytes content;
    ck_assert_int_eq(file_read(&content, from, (size_t)1 << 20, false), FILE_READ);
    testing_write(to, content.data, content.length);
    bytes_release(&content);
}

static char *below(const char *name)
{
    char *path = path_join(root, name);
    ck_assert_ptr_nonnull(path);
    return path;
}

/* ---- Gradescope: a submission ---------------------------------------------------------------- */

#define METADATA                                                                                   \
    "{\"id\": 7, \"created_at\": \"2026-03-03T11:00:00.000000-08:00\", \"assignment\": "           \
    "{\"due_date\": \"2026-03-02T08:00:00.000000-08:00\", \"total_points\": \"100.0\"}, "          \
    "\"users\": [{\"id\": 1, \"email\": \"a@example.org\", \"name\": \"A\"}]}"

static const struct {
    const char *name;
    const char *source, *answers; /* files; NULL: not submitted */
    const char *metadata;
    bool has_toolkit, has_program;
    int score;
    size_t tests;
    const char *says; /* in `output` */
} submissions[] = {
    /* clang-format off */
    {"reference", REFERENCE "registers.cu", REFERENCE "answers.ini", NULL, true, true, 100, 25, "Score: 100/100"},
    {"starter", STARTER "registers.cu", NULL, METADATA, true, true, 25, 25, "submitted 1 day 3 hours after the due date: 2 late days"},
    {"does not compile", REFERENCE "answers.ini", NULL, NULL, true, true, 0, 25, "The compiler says:"},
    {"no source", NULL, REFERENCE "answers.ini", NULL, true, true, 0, 0, "Nothing was graded: no registers.cu"},
    {"no toolkit", STARTER "registers.cu", NULL, METADATA, false, true, 0, 0, "Nothing was graded: CUDA_HOME is /nowhere"},
    {"no program", STARTER "registers.cu", NULL, NULL, true, false, 0, 0, "could not be started"},
    /* clang-format on */
};

START_TEST(gradescope_submission)
{
    const char *archive = made("gradescope/autograder.zip");
    if (archive == NULL)
        TEST_SKIP("this build makes no archive");
    if (submissions[_i].has_toolkit && !testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    AUTO_FREE char *zip = strdup(archive), *source = below("source"), *given = below("submission");
    AUTO_FREE char *results = below("results/results.json"), *home = NULL, *place = NULL;
    support_folder(source);
    support_folder(given);
    MUST(source, "/usr/bin/unzip", "-q", zip);
    if (submissions[_i].source != NULL)
        copy(submissions[_i].source, support_path(given, "registers.cu"));
    if (submissions[_i].answers != NULL)
        copy(submissions[_i].answers, support_path(given, "answers.ini"));
    if (submissions[_i].metadata != NULL)
        testing_write(support_path(root, "submission_metadata.json"), submissions[_i].metadata,
                      strlen(submissions[_i].metadata));
    if (!submissions[_i].has_program)
        ck_assert_int_eq(unlink(support_path(source, "spillway/bin/spillway")), 0);
    ck_assert_int_gt(asprintf(&home, "CUDA_HOME=%s",
                              submissions[_i].has_toolkit ? testing_cuda_home() : "/nowhere"),
                     0);
    ck_assert_int_gt(asprintf(&place, "AUTOGRADER_ROOT=%s", root), 0);
    AUTO_FREE char *program = path_join(source, "run_autograder");
    struct process_result result =
        run((const char *[]){program, NULL},
            (const char *[]){"PATH=/usr/bin:/bin", home, place, NULL}, "/");
    json_error_t trouble;
    json_t *graded = json_load_file(results, JSON_REJECT_DUPLICATES, &trouble);
    ck_assert_msg(graded != NULL, "%s: %s%s", trouble.text, bytes_text(&result.output),
                  bytes_text(&result.error));
    ck_assert_int_eq(json_integer_value(json_object_get(graded, "score")), submissions[_i].score);
    ck_assert_uint_eq(json_array_size(json_object_get(graded, "tests")), submissions[_i].tests);
    const char *output = json_string_value(json_object_get(graded, "output"));
    ck_assert_msg(strstr(output, submissions[_i].says) != NULL, "%s", output);
    json_decref(graded);
    process_result_release(&result);
}
END_TEST

/* ---- Gradescope: the image ------------------------------------------------------------------- */

static const struct {
    const char *release;
    const char *repository; /* NULL: refused */
} images[] = {
    {"ID=ubuntu\nVERSION_ID=\"22.04\"\n", "/repos/ubuntu2204/x86_64/"},
    {"ID=ubuntu\nVERSION_ID=\"24.04\"\n", "/repos/ubuntu2404/x86_64/"},
    {"ID=debian\nVERSION_ID=\"12\"\n", "/repos/debian12/x86_64/"},
    {"ID=ubuntu\nVERSION_ID=\"20.04\"\n", NULL},
    {"ID=fedora\nVERSION_ID=40\n", NULL},
};

/* On a machine made of scripts: what is installed, in which versions, from where. */
START_TEST(gradescope_image)
{
    static const char *const packages[] = {" cuda-nvcc-", " cuda-crt-", " libnvvm-",
                                           " cuda-cudart-dev-"};
    static const char *const commands[] = {"apt-get", "dpkg", "wget"};
    AUTO_FREE char *release = below("os-release"), *bin = below("bin"), *log = below("log");
    AUTO_FREE char *program = below("source/spillway/bin/spillway"), *path = NULL, *place = NULL;
    AUTO_FREE char *file = NULL;
    testing_write(release, images[_i].release, strlen(images[_i].release));
    support_folder(bin);
    support_folder(support_path(root, "source/spillway/bin"));
    for (size_t i = 0; i < COUNT_OF(commands); ++i) {
        char script[600];
        (void)snprintf(script, sizeof script, "#!/bin/sh\necho %s \"$@\" >>%s\n", commands[i], log);
        support_script(support_path(bin, commands[i]), script);
    }
    /* The lists of packages are those of the machine that the test runs on. */
    char rm[600];
    (void)snprintf(rm, sizeof rm,
                   "#!/bin/sh\ncase \"$*\" in */var/lib/*) echo rm \"$@\" >>%s ;; *) exec /bin/rm "
                   "\"$@\" ;; esac\n",
                   log);
    support_script(support_path(bin, "rm"), rm);
    char doctor[600];
    (void)snprintf(doctor, sizeof doctor, "#!/bin/sh\necho spillway \"$CUDA_HOME\" \"$@\" >>%s\n",
                   log);
    support_script(program, doctor);
    copy("packaging/gradescope/setup.sh", support_path(root, "source/setup.sh"));
    copy("packaging/gradescope/run_autograder", support_path(root, "source/run_autograder"));
    ck_assert_int_gt(asprintf(&path, "PATH=%s:/usr/bin:/bin", bin), 0);
    ck_assert_int_gt(asprintf(&place, "AUTOGRADER_ROOT=%s", root), 0);
    ck_assert_int_gt(asprintf(&file, "OS_RELEASE=%s", release), 0);
    AUTO_FREE char *setup = below("source/setup.sh");
    struct process_result result = run((const char *[]){"/bin/sh", setup, NULL},
                                       (const char *[]){path, place, file, NULL}, "/");
    bool refused = images[_i].repository == NULL;
    ck_assert_msg((result.exit_code != 0) == refused, "%s", bytes_text(&result.error));
    struct bytes asked = {0};
    enum file_status status = file_read(&asked, log, 65536, false);
    if (refused) {
        ck_assert_int_eq(status, FILE_MISSING);
        ck_assert_ptr_nonnull(strstr(bytes_text(&result.error), "base image"));
    } else {
        const char *text = bytes_text(&asked);
        ck_assert_msg(strstr(text, images[_i].repository) != NULL, "%s", text);
        for (size_t i = 0; i < COUNT_OF(packages); ++i) {
            const char *at = strstr(text, packages[i]);
            ck_assert_msg(at != NULL, "no%s in %s", packages[i], text);
            size_t word = strcspn(at + 1, " \n");
            ck_assert_msg(memchr(at + 1, '=', word) != NULL, "not pinned:%.*s", (int)word + 1, at);
        }
        ck_assert_msg(strstr(text, "cuda-toolkit") == NULL && strstr(text, "driver") == NULL,
                      "more than the compiler: %s", text);
        ck_assert_ptr_nonnull(strstr(text, "rm -rf /var/lib/apt/lists/"));
        ck_assert_ptr_nonnull(strstr(text, "spillway /usr/local/cuda-13.0 doctor\n"));
    }
    bytes_release(&asked);
    process_result_release(&result);
}
END_TEST

/* The submission's run takes the compiler that the image's setup installed. */
START_TEST(gradescope_scripts_agree)
{
    struct bytes setup, run_script;
    ck_assert_int_eq(file_read(&setup, "packaging/gradescope/setup.sh", 65536, false), FILE_READ);
    ck_assert_int_eq(file_read(&run_script, "packaging/gradescope/run_autograder", 65536, false),
                     FILE_READ);
    const char *cuda = strstr(bytes_text(&setup), "\ncuda=");
    ck_assert_ptr_nonnull(cuda);
    cuda += strlen("\ncuda=");
    char home[80];
    (void)snprintf(home, sizeof home, "/usr/local/cuda-%.*s}", (int)strcspn(cuda, "\n"), cuda);
    *strchr(home + strlen("/usr/local/cuda-"), '-') = '.';
    ck_assert_msg(strstr(bytes_text(&run_script), home) != NULL, "%s", home);
    bytes_release(&setup);
    bytes_release(&run_script);
}
END_TEST

/* ---- Autolab --------------------------------------------------------------------------------- */

static void plain(const char *folder)
{
    copy(REFERENCE "registers.cu", support_path(folder, "registers.cu"));
    copy(REFERENCE "answers.ini", support_path(folder, "answers.ini"));
    MUST(folder, "/usr/bin/tar", "-cf", "../handin.tar", "registers.cu", "answers.ini");
}
static void nested(const char *folder)
{
    support_folder(support_path(folder, "my work/day17"));
    copy(REFERENCE "registers.cu", support_path(folder, "my work/day17/registers.cu"));
    copy(REFERENCE "answers.ini", support_path(folder, "my work/day17/answers.ini"));
    MUST(folder, "/usr/bin/tar", "-czf", "../handin.tgz", "my work");
}
static void source_alone(const char *folder)
{
    (void)folder;
    copy(STARTER "registers.cu", support_path(root, "registers.cu"));
}
/* Links, and members that lead out of the folder. */
static void hostile(const char *folder)
{
    copy(STARTER "registers.cu", support_path(folder, "x"));
    ck_assert_int_eq(symlink("/etc/passwd", support_path(folder, "answers.ini")), 0);
    MUST(folder, "/usr/bin/tar", "-P", "-cf", "../handin.tar", "--transform=s,^x$,../registers.cu,",
         "x", "answers.ini");
}
static void not_an_archive(const char *folder)
{
    (void)folder;
    testing_write(support_path(root, "handin.tar"), "garbage \x01\x02", 10);
}
static void nothing(const char *folder)
{
    (void)folder;
}

static const struct {
    void (*hand_in)(const char *folder);
    int points;       /* -1: the last line is no JSON */
    const char *says; /* in the output */
} handins[] = {
    {plain, 100, "Score: 100/100"},      {nested, 100, "Score: 100/100"},
    {source_alone, 25, "Score: 25/100"}, {hostile, 0, "Score: 0/100"},
    {not_an_archive, 0, "Score: 0/100"}, {nothing, -1, "No handin was found"},
};

START_TEST(autolab_handin)
{
    const char *archive = made("autolab/autograde.tar");
    if (archive == NULL)
        TEST_SKIP("this build makes no archive");
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    AUTO_FREE char *tar = strdup(archive), *folder = below("student"), *home = NULL;
    AUTO_FREE char *makefile = strdup(made("autolab/autograde-Makefile"));
    support_folder(folder);
    MUST("/", "/usr/bin/cp", tar, root);
    copy(makefile, support_path(root, "Makefile"));
    handins[_i].hand_in(folder);
    ck_assert_int_gt(asprintf(&home, "CUDA_HOME=%s", testing_cuda_home()), 0);
    struct process_result result = run((const char *[]){"/usr/bin/make", NULL},
                                       (const char *[]){"PATH=/usr/bin:/bin", home, NULL}, root);
    const char *output = bytes_text(&result.output);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    ck_assert_msg(strstr(output, handins[_i].says) != NULL, "%.2000s%s",
                  result.output.length < 2000 ? output : output + result.output.length - 2000,
                  bytes_text(&result.error));
    ck_assert_uint_gt(result.output.length, 0);
    const char *line = output + result.output.length - 1;
    while (line > output && line[-1] != '\n')
        --line;
    json_t *last = json_loads(line, 0, NULL);
    const char *key = NULL;
    json_t *value = NULL;
    int points = last == NULL ? -1 : 0;
    json_object_foreach(json_object_get(last, "scores"), key, value)
    {
        points += (int)json_integer_value(value);
    }
    ck_assert_int_eq(points, handins[_i].points);
    json_decref(last);
    process_result_release(&result);
}
END_TEST

/* Autolab refuses a score for a problem that the assessment has not. */
START_TEST(autolab_problems_are_the_groups)
{
    const char *path = made("autolab/problems.yml");
    if (path == NULL)
        TEST_SKIP("this build makes no archive");
    struct bytes problems;
    ck_assert_int_eq(file_read(&problems, path, 65536, false), FILE_READ);
    struct process_result labs = testing_spillway((const char *[]){"labs", LAB, NULL}, NULL);
    size_t marks = 0, named = 0;
    char *rest = strchr(labs.output.data, '\n') + 1;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && line[0] != '\0'; ++marks) {
        char wanted[80];
        (void)snprintf(wanted, sizeof wanted, "\n- name: %.*s\n", (int)strcspn(line, "."), line);
        ck_assert_msg(strstr(bytes_text(&problems), wanted) != NULL, "%s", wanted);
    }
    ck_assert_uint_eq(marks, 25);
    for (const char *at = bytes_text(&problems); (at = strstr(at, "\n- name: ")) != NULL; ++at)
        ++named;
    ck_assert_uint_eq(named, 8);
    process_result_release(&labs);
    bytes_release(&problems);
}
END_TEST

static void set_up(void)
{
    support_new_folder(root);
}

Suite *suite_autograders(void)
{
    Suite *suite = suite_create("autograders");
    TCase *tests = tcase_create("autograders");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_loop_test(tests, gradescope_submission, 0, COUNT_OF(submissions));
    tcase_add_loop_test(tests, gradescope_image, 0, COUNT_OF(images));
    tcase_add_test(tests, gradescope_scripts_agree);
    tcase_add_loop_test(tests, autolab_handin, 0, COUNT_OF(handins));
    tcase_add_test(tests, autolab_problems_are_the_groups);
    suite_add_tcase(suite, tests);
    return suite;
}

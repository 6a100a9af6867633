/* check_cmd_doctor.c - `spillway doctor` on toolkits and machines made of shell scripts. */
#include "testing.h"

#include <jansson.h>
#include <sys/stat.h>

#include "doctor.h"
#include "files.h"

/* ---- A machine made for one test ------------------------------------------------------------- */

#define GOOD_NVCC                                                                                  \
    "#!/bin/sh\n"                                                                                  \
    "case \"$1\" in\n"                                                                             \
    "--version) echo 'Cuda compilation tools, release 12.4, V12.4.131' ;;\n"                       \
    "--list-gpu-arch) echo compute_50; echo compute_75; echo compute_90 ;;\n"                      \
    "esac\n"
/* Its nvcc.profile puts a folder before the PATH, as Debian's and Ubuntu's do. */
#define NVCC_WITH_A_GCC                                                                            \
    "#!/bin/sh\n"                                                                                  \
    "case \"$1\" in\n"                                                                             \
    "--version) echo 'Cuda compilation tools, release 12.4, V12.4.131' ;;\n"                       \
    "--list-gpu-arch) echo compute_75 ;;\n"                                                        \
    "-dryrun) cd \"${0%/*}\" && printf '#!/bin/sh\\necho 12.3.4\\n' >gcc && chmod +x gcc &&\n"     \
    "         echo \"#$ PATH=/nowhere:$PWD:$PATH\" ;;\n"                                           \
    "esac\n"
#define GOOD_PTXAS "#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n"
#define OTHER_PTXAS "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n"
#define OLD_NVCC                                                                                   \
    "#!/bin/sh\n"                                                                                  \
    "case \"$1\" in\n"                                                                             \
    "--version) echo 'Cuda compilation tools, release 11.8, V11.8.89' ;;\n"                        \
    "--list-gpu-arch) echo compute_75 ;;\n"                                                        \
    "esac\n"
#define OLD_PTXAS "#!/bin/sh\necho 'Cuda compilation tools, release 11.8, V11.8.89'\n"
#define DEAF_NVCC "#!/bin/sh\necho 'cannot open shared object file' >&2\nexit 127\n"
/* Answers every question, but cannot compile. */
#define NVCC_THAT_COMPILES_NOTHING(words, status)                                                  \
    "#!/bin/sh\n"                                                                                  \
    "case \"$1\" in\n"                                                                             \
    "--version) echo 'Cuda compilation tools, release 12.4, V12.4.131' ;;\n"                       \
    "--list-gpu-arch) echo compute_75 ;;\n"                                                        \
    "*) echo \"" words "\" >&2; exit " status " ;;\n"                                              \
    "esac\n"

static void write_program(const char *path, const char *text)
{
    testing_write(path, text, strlen(text));
    ck_assert_int_eq(chmod(path, 0755), 0);
}

/* A fresh folder below the runner's, owned. */
static char *make_folder(const char *name)
{
    char *path = NULL;
    ck_assert_int_gt(asprintf(&path, "%s/%s-%d", testing_temporary_folder(), name, (int)getpid()),
                     0);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    return path;
}

/* A folder with bin/nvcc and bin/ptxas; a NULL script: no such program. Owned. */
static char *make_toolkit(const char *nvcc, const char *ptxas)
{
    char *folder = make_folder("toolkit");
    AUTO_FREE char *bin = path_join(folder, "bin");
    ck_assert_int_eq(mkdir(bin, 0755), 0);
    AUTO_FREE char *nvcc_path = path_join(bin, "nvcc"), *ptxas_path = path_join(bin, "ptxas");
    if (nvcc != NULL)
        write_program(nvcc_path, nvcc);
    if (ptxas != NULL)
        write_program(ptxas_path, ptxas);
    return folder;
}

static struct process_result doctor(const char *const *arguments, const char *const *environment)
{
    const char *argv[16] = {testing_binary(), "doctor"};
    for (size_t i = 0; arguments != NULL && arguments[i] != NULL; ++i)
        argv[2 + i] = arguments[i];
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(120000000000),
                                      .output_limit = (size_t)1 << 20};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    ck_assert(!result.timed_out && !result.signalled);
    return result;
}

/* The finding called `id` with the worst status among those so called. */
static const char *status_of(json_t *root, const char *id, const char **text, const char **remedy)
{
    static const char *const order[] = {"ok", "warn", "fail"};
    size_t index, worst = 0;
    json_t *finding;
    const char *found = NULL;
    json_array_foreach(json_object_get(root, "findings"), index, finding)
    {
        const char *status = json_string_value(json_object_get(finding, "status"));
        if (strcmp(json_string_value(json_object_get(finding, "id")), id) != 0)
            continue;
        for (size_t i = 0; i < COUNT_OF(order); ++i)
            if (strcmp(order[i], status) == 0 && (found == NULL || i > worst)) {
                worst = i;
                found = order[i];
                *text = json_string_value(json_object_get(finding, "text"));
                *remedy = json_string_value(json_object_get(finding, "remedy"));
            }
    }
    return found;
}

static json_t *json_of(const struct process_result *result)
{
    json_error_t error;
    json_t *root = json_loads(bytes_text(&result->output), 0, &error);
    ck_assert_msg(root != NULL, "line %d: %s in: %s", error.line, error.text,
                  bytes_text(&result->output));
    ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), "spillway/doctor/v1");
    return root;
}

/* ---- Toolkits -------------------------------------------------------------------------------- */

static const struct {
    const char *name, *nvcc, *ptxas;
    int exit_code;
    const char *id, *status, *text, *remedy; /* the finding that must be there */
} toolkit_rows[] = {
    /* clang-format off */
    {"whole",            GOOD_NVCC, GOOD_PTXAS,  0, "nvcc",  "ok",   "12.4.131", NULL},
    {"its architectures", GOOD_NVCC, GOOD_PTXAS, 0, "nvcc",  "ok",   "sm_50 to sm_90", NULL},
    {"its ptxas",        GOOD_NVCC, GOOD_PTXAS,  0, "ptxas", "ok",   "12.4.131", NULL},
    {"compiles",         GOOD_NVCC, GOOD_PTXAS,  0, "trial", "ok",   "compiles", NULL},
    {"gcc of the system", GOOD_NVCC, GOOD_PTXAS, 0, "host-compiler", "ok", ": /usr/bin/gcc, ", NULL},
    {"gcc of its own",   NVCC_WITH_A_GCC, GOOD_PTXAS, 0, "host-compiler", "ok", "gcc 12.3.4: /", NULL},
    {"no nvcc",          NULL,      GOOD_PTXAS,  3, "nvcc",  "fail", "no bin/nvcc", "CUDA_HOME"},
    {"no ptxas",         GOOD_NVCC, NULL,        3, "ptxas", "fail", "no ptxas", "CUDA toolkit"},
    {"nvcc fails",       DEAF_NVCC, GOOD_PTXAS,  3, "nvcc",  "fail", "--version` failed", "CUDA toolkit"},
    {"nvcc says nothing", "#!/bin/sh\n", GOOD_PTXAS, 3, "nvcc", "fail", "names no version", "CUDA toolkit"},
    {"ptxas fails",      GOOD_NVCC, DEAF_NVCC,   3, "ptxas", "fail", "names no version", "CUDA toolkit"},
    {"ptxas of another", GOOD_NVCC, OTHER_PTXAS, 0, "ptxas", "warn", "another toolkit", "CUDA_HOME=/usr/local/cuda-12.4"},
    {"old",              OLD_NVCC,  OLD_PTXAS,   0, "nvcc",  "warn", "older than CUDA 12.0", "CUDA toolkit"},
    {"gcc too new",      NVCC_THAT_COMPILES_NOTHING("error: -- unsupported GNU version! gcc versions later than 13", "1"),
                         GOOD_PTXAS,             3, "trial", "fail", "unsupported GNU version", "gcc-12"},
    {"no C++ half",      NVCC_THAT_COMPILES_NOTHING("gcc: fatal error: cannot execute 'cc1plus'", "1"),
                         GOOD_PTXAS,             3, "trial", "fail", "cc1plus", "g++"},
    {"fails in silence", NVCC_THAT_COMPILES_NOTHING("", "1"),
                         GOOD_PTXAS,             3, "trial", "fail", "cannot compile", "CUDA toolkit"},
    {"killed",           NVCC_THAT_COMPILES_NOTHING("busy", "1; kill -9 $$"),
                         GOOD_PTXAS,             3, "trial", "fail", "busy", "CUDA toolkit"},
    /* clang-format on */
};

START_TEST(toolkit_row)
{
    if (toolkit_rows[_i].ptxas == NULL && access("/usr/bin/ptxas", X_OK) == 0)
        TEST_SKIP("a ptxas on the PATH takes the place of the missing one");
    AUTO_FREE char *toolkit = make_toolkit(toolkit_rows[_i].nvcc, toolkit_rows[_i].ptxas);
    AUTO_FREE char *home = NULL;
    ck_assert_int_gt(asprintf(&home, "CUDA_HOME=%s", toolkit), 0);
    const char *const environment[] = {home, "PATH=/usr/bin:/bin", "SPILLWAY_CACHE=/tmp", NULL};
    struct process_result result = doctor((const char *[]){"--json", NULL}, environment);
    json_t *root = json_of(&result);
    const char *text = "", *remedy = NULL;
    const char *status = status_of(root, toolkit_rows[_i].id, &text, &remedy);
    ck_assert_msg(status != NULL, "%s: no finding %s in %s", toolkit_rows[_i].name,
                  toolkit_rows[_i].id, bytes_text(&result.output));
    ck_assert_msg(strcmp(status, toolkit_rows[_i].status) == 0, "%s: %s: %s", toolkit_rows[_i].name,
                  status, text);
    ck_assert_msg(strstr(text, toolkit_rows[_i].text) != NULL, "%s: %s", toolkit_rows[_i].name,
                  text);
    if (toolkit_rows[_i].remedy == NULL)
        ck_assert_ptr_null(remedy);
    else
        ck_assert_msg(remedy != NULL && strstr(remedy, toolkit_rows[_i].remedy) != NULL, "%s: %s",
                      toolkit_rows[_i].name, remedy);
    ck_assert_int_eq(result.exit_code, toolkit_rows[_i].exit_code);
    ck_assert_int_eq(json_is_true(json_object_get(root, "can_grade")),
                     toolkit_rows[_i].exit_code == 0);
    if (toolkit_rows[_i].exit_code != 0)
        ck_assert_str_eq(json_string_value(json_object_get(root, "executor")), "none");
    json_decref(root);
    process_result_release(&result);
}
END_TEST

/* ---- Machines -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *path, *temporary, *cache; /* NULL: the variable is not set */
    int exit_code;
    const char *id, *status, *remedy;
} machine_rows[] = {
    /* clang-format off */
    {"all is well",       "PATH=/usr/bin:/bin", NULL, "SPILLWAY_CACHE=/tmp", 0, "cache", "ok", NULL},
    {"no PATH",           NULL,                 NULL, "SPILLWAY_CACHE=/tmp", 0, "host-compiler", "ok", NULL},
    {"no gcc",            "PATH=/nowhere",      NULL, "SPILLWAY_CACHE=/tmp", 3, "host-compiler", "fail", "g++"},
    {"no temporary folder", "PATH=/usr/bin:/bin", "TMPDIR=/nowhere/at/all", "SPILLWAY_CACHE=/tmp", 3,
                          "temporary-folder", "fail", "export TMPDIR=/tmp"},
    {"temporary folder is a file", "PATH=/usr/bin:/bin", "TMPDIR=/dev/null", "SPILLWAY_CACHE=/tmp", 3,
                          "temporary-folder", "fail", "export TMPDIR=/tmp"},
    {"no home",           "PATH=/usr/bin:/bin", NULL, NULL, 0, "cache", "warn", "export SPILLWAY_CACHE="},
    {"cache is a file",   "PATH=/usr/bin:/bin", NULL, "SPILLWAY_CACHE=/dev/null/below", 0, "cache", "warn",
                          "export SPILLWAY_CACHE="},
    {"cache in a pseudo file system", "PATH=/usr/bin:/bin", NULL, "SPILLWAY_CACHE=/proc/spillway", 0, "cache",
                          "warn", "export SPILLWAY_CACHE="},
    {"processor",         "PATH=/usr/bin:/bin", NULL, "SPILLWAY_CACHE=/tmp", 0, "cpu", NULL, NULL},
    {"sandbox",           "PATH=/usr/bin:/bin", NULL, "SPILLWAY_CACHE=/tmp", 0, "sandbox", NULL, NULL},
    {"libraries",         "PATH=/usr/bin:/bin", NULL, "SPILLWAY_CACHE=/tmp", 0, "libraries", "ok", NULL},
    {"labs",              "PATH=/usr/bin:/bin", NULL, "SPILLWAY_CACHE=/tmp", 0, "labs", "ok", NULL},
    /* clang-format on */
};

START_TEST(machine_row)
{
    AUTO_FREE char *toolkit = make_toolkit(GOOD_NVCC, GOOD_PTXAS);
    AUTO_FREE char *nvcc = path_join(toolkit, "bin/nvcc");
    const char *environment[4] = {NULL};
    const char *const set[] = {machine_rows[_i].path, machine_rows[_i].temporary,
                               machine_rows[_i].cache};
    for (size_t i = 0, used = 0; i < COUNT_OF(set); ++i)
        if (set[i] != NULL)
            environment[used++] = set[i];
    struct process_result result =
        doctor((const char *[]){"--json", "--nvcc", nvcc, NULL}, environment);
    json_t *root = json_of(&result);
    const char *text = "", *remedy = NULL;
    const char *status = status_of(root, machine_rows[_i].id, &text, &remedy);
    ck_assert_msg(status != NULL, "%s: no finding %s", machine_rows[_i].name, machine_rows[_i].id);
    if (machine_rows[_i].status != NULL)
        ck_assert_msg(strcmp(status, machine_rows[_i].status) == 0, "%s: %s: %s",
                      machine_rows[_i].name, status, text);
    if (machine_rows[_i].remedy != NULL)
        ck_assert_msg(remedy != NULL && strstr(remedy, machine_rows[_i].remedy) != NULL, "%s: %s",
                      machine_rows[_i].name, remedy);
    ck_assert_msg(result.exit_code == machine_rows[_i].exit_code, "%s: exit status %d: %s",
                  machine_rows[_i].name, result.exit_code, bytes_text(&result.output));
    json_decref(root);
    process_result_release(&result);
}
END_TEST

/* ---- Drivers and cards ----------------------------------------------------------------------- */

/* clang-format off */
#define CARD(major_, minor_) {.name = "a card", .major = major_, .minor = minor_, .memory_bytes = (uint64_t)16 << 30}
static const struct {
    const char *name;
    unsigned toolkit_major, toolkit_minor; /* 0: none */
    int driver, runtime;                   /* 0: none */
    struct gpu_device card;                /* major 0: none */
    enum executor_kind executor;
    const char *id;
    enum doctor_status status;
    const char *text, *remedy;
} gpu_rows[] = {
    {"same version",        13, 0, 13000, 13000, CARD(9, 0),  EXECUTOR_GPU, "gpu", DOCTOR_OK, "a card (sm_90), 16 GiB", NULL},
    {"driver of that version", 13, 0, 13000, 13000, CARD(9, 0), EXECUTOR_GPU, "driver", DOCTOR_OK, "CUDA 13.0", NULL},
    {"toolkit newer by a minor", 12, 5, 12040, 12050, CARD(7, 5), EXECUTOR_GPU, "driver", DOCTOR_OK, "does no harm", NULL},
    {"driver newer by a major", 12, 4, 13000, 12040, CARD(7, 5), EXECUTOR_GPU, "driver", DOCTOR_OK, "CUDA 12.4", NULL},
    {"driver older by a major", 13, 0, 12040, 12040, CARD(7, 5), EXECUTOR_EMULATOR, "driver", DOCTOR_WARN,
                            "the toolkit is CUDA 13.0", "CUDA_HOME=/usr/local/cuda-12"},
    {"runtime too new",     12, 4, 12040, 13000, {.major = 0}, EXECUTOR_EMULATOR, "driver", DOCTOR_WARN,
                            "the CUDA runtime in this spillway is CUDA 13.0", "CUDA_HOME=/usr/local/cuda-12"},
    {"card too new",        12, 4, 13000, 12040, CARD(12, 0), EXECUTOR_EMULATOR, "gpu", DOCTOR_WARN, "is too old", "a newer CUDA toolkit that knows sm_120"},
    {"card too old",        13, 0, 13000, 13000, CARD(7, 0),  EXECUTOR_EMULATOR, "gpu", DOCTOR_WARN, "does not compile", "an older CUDA toolkit that knows sm_70"},
    {"built without cudart", 13, 0, 13000, 0, {.major = 0},   EXECUTOR_EMULATOR, "gpu", DOCTOR_WARN, "built without a CUDA toolkit", "make clean all"},
    {"no card",             13, 0, 13000, 13000, {.major = 0}, EXECUTOR_EMULATOR, "gpu", DOCTOR_WARN, "no device, it says", ""},
    {"no toolkit",           0, 0, 13000, 13000, CARD(9, 0),  EXECUTOR_EMULATOR, "gpu", DOCTOR_OK, "a card (sm_90)", NULL},
};
/* clang-format on */

START_TEST(gpu_row)
{
    struct doctor subject = {.survey = {.driver_present = gpu_rows[_i].driver != 0,
                                        .driver_version = gpu_rows[_i].driver,
                                        .runtime_version = gpu_rows[_i].runtime,
                                        .devices = {gpu_rows[_i].card},
                                        .device_count = gpu_rows[_i].card.major != 0,
                                        .why_none = "no device, it says"}};
    if (gpu_rows[_i].toolkit_major != 0)
        subject.toolchain = (struct toolchain){.version = "X",
                                               .major = gpu_rows[_i].toolkit_major,
                                               .minor = gpu_rows[_i].toolkit_minor,
                                               .archs = {{.number = 75}, {.number = 90}},
                                               .arch_count = 2};
    doctor_judge_gpus(&subject);
    ck_assert_int_eq(subject.executor, gpu_rows[_i].executor);
    const struct doctor_finding *found = NULL;
    for (size_t i = 0; i < subject.count; ++i)
        if (strcmp(subject.findings[i].id, gpu_rows[_i].id) == 0)
            found = &subject.findings[i];
    ck_assert_msg(found != NULL, "%s", gpu_rows[_i].name);
    ck_assert_msg(found->status == gpu_rows[_i].status, "%s: %s", gpu_rows[_i].name, found->text);
    ck_assert_msg(strstr(found->text, gpu_rows[_i].text) != NULL, "%s: %s", gpu_rows[_i].name,
                  found->text);
    ck_assert_msg(gpu_rows[_i].remedy == NULL
                      ? found->remedy[0] == '\0'
                      : found->remedy[0] != '\0' &&
                            strstr(found->remedy, gpu_rows[_i].remedy) != NULL,
                  "%s: %s", gpu_rows[_i].name, found->remedy);
    ck_assert(doctor_can_grade(&subject)); /* a GPU is never what makes grading impossible */
}
END_TEST

/* ---- The page -------------------------------------------------------------------------------- */

START_TEST(page_is_readable)
{
    AUTO_FREE char *toolkit = make_toolkit(DEAF_NVCC, GOOD_PTXAS);
    AUTO_FREE char *nvcc = path_join(toolkit, "bin/nvcc");
    struct process_result result =
        doctor((const char *[]){"--nvcc", nvcc, NULL},
               (const char *[]){"PATH=/usr/bin:/bin", "SPILLWAY_CACHE=/dev/null/below", NULL});
    ck_assert_int_eq(result.exit_code, 3);
    const char *page = bytes_text(&result.output);
    ck_assert_msg(strncmp(page, "FAIL  ", 6) == 0, "%s", page);
    ck_assert_ptr_nonnull(strstr(page, "\nOK    "));
    ck_assert_ptr_nonnull(strstr(page, "\nWARN  "));
    ck_assert_ptr_nonnull(strstr(page, "Nothing can be graded here"));
    ck_assert_ptr_null(strchr(page, '\033'));
    size_t troubles = 0, remedies = 0;
    for (const char *line = page; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool remedy = strncmp(line, "      mend: ", 12) == 0;
        troubles += strncmp(line, "FAIL", 4) == 0 || strncmp(line, "WARN", 4) == 0;
        remedies += remedy;
        /* One word, a path, may be longer than a line. */
        ck_assert_msg(remedy || length <= 80 || memchr(line + 6, ' ', length - 6) == NULL ||
                          strstr(line, toolkit) != NULL,
                      "a line of %zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
    ck_assert_uint_ge(troubles, 2);
    ck_assert_uint_eq(remedies, troubles);
    process_result_release(&result);
}
END_TEST

START_TEST(real_toolkit)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    AUTO_FREE char *home = NULL, *cache = NULL;
    ck_assert_int_gt(asprintf(&home, "CUDA_HOME=%s", testing_cuda_home()), 0);
    ck_assert_int_gt(asprintf(&cache, "SPILLWAY_CACHE=%s/c", testing_temporary_folder()), 0);
    struct process_result result =
        doctor(NULL, (const char *[]){home, cache, "PATH=/usr/bin:/bin", NULL});
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.output));
    ck_assert_ptr_nonnull(strstr(bytes_text(&result.output), "Grading works here"));
    process_result_release(&result);
}
END_TEST

static const struct {
    const char *argument;
    int exit_code;
    const char *text;
} usage_rows[] = {
    {"--help", 0, "usage: spillway doctor"},
    {"--frobnicate", 2, "spillway doctor --help"},
    {"everything", 2, "what is \"everything\""},
    {"--nvcc=/nowhere/nvcc", 3, "/nowhere/nvcc is no program"},
};

START_TEST(usage_row)
{
    struct process_result result =
        doctor((const char *[]){usage_rows[_i].argument, NULL},
               (const char *[]){"PATH=/usr/bin:/bin", "SPILLWAY_CACHE=/tmp", NULL});
    ck_assert_int_eq(result.exit_code, usage_rows[_i].exit_code);
    ck_assert_msg(strstr(bytes_text(&result.output), usage_rows[_i].text) != NULL ||
                      strstr(bytes_text(&result.error), usage_rows[_i].text) != NULL,
                  "%s%s", bytes_text(&result.output), bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

Suite *suite_cmd_doctor(void)
{
    Suite *suite = suite_create("cmd_doctor");
    TCase *tests = tcase_create("cmd_doctor");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, toolkit_row, 0, COUNT_OF(toolkit_rows));
    tcase_add_loop_test(tests, machine_row, 0, COUNT_OF(machine_rows));
    tcase_add_loop_test(tests, gpu_row, 0, COUNT_OF(gpu_rows));
    tcase_add_test(tests, page_is_readable);
    tcase_add_test(tests, real_toolkit);
    tcase_add_loop_test(tests, usage_row, 0, COUNT_OF(usage_rows));
    suite_add_tcase(suite, tests);
    return suite;
}

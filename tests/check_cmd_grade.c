/* check_cmd_grade.c - `spillway grade` as its users meet it: the real program, with a toolkit of
 * shell scripts that hands out what CUDA 13.0 makes of the reference solution. */
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "files.h"
#include "support_git.h"
#include "support_toolkit.h"

#define LAB "day17-registers"
#define REFERENCE "reference/" LAB
#define QUICK "--sandbox", "off", "--executor", "none"

static struct fake_toolkit toolkit;
static char home[600], place[512];

static void make_toolkit(const char *nvcc, const char *after_ptxas)
{
    fake_toolkit_make_day17(&toolkit, nvcc, after_ptxas);
    (void)snprintf(home, sizeof home, "CUDA_HOME=%s", toolkit.home);
}

static void set_up(void)
{
    make_toolkit(NULL, NULL);
    support_new_folder(place);
}

/* `spillway grade` with these arguments and the toolkit. Release the result. */
static struct process_result grade_in(const char *const *arguments, const char *variable)
{
    const char *all[40] = {"grade"};
    size_t count = 1;
    for (; *arguments != NULL; ++arguments) {
        ck_assert_uint_lt(count, COUNT_OF(all) - 1);
        all[count++] = *arguments;
    }
    const char *const environment[] = {variable != NULL ? variable : home, home, NULL};
    return testing_spillway(all, environment);
}
#define GRADE(...) grade_in((const char *const[]){__VA_ARGS__, NULL}, NULL)

static json_t *json_from(const char *text, size_t length)
{
    json_error_t trouble;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &trouble);
    ck_assert_msg(root != NULL, "line %d: %s", trouble.line, trouble.text);
    return root;
}

static json_t *json_of(const struct process_result *result)
{
    ck_assert_msg(result->exit_code == 0, "%s", bytes_text(&result->error));
    ck_assert_str_eq(bytes_text(&result->error), "");
    return json_from(bytes_text(&result->output), result->output.length);
}

static int int_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return (int)json_integer_value(value);
}

static const json_t *mark_of(const json_t *root, const char *id)
{
    size_t index = 0;
    json_t *mark = NULL;
    json_array_foreach(json_object_get(root, "marks"), index,
                       mark) if (strcmp(json_string_value(json_object_get(mark, "id")), id) ==
                                 0) return mark;
    ck_abort_msg("there is no mark %s", id);
    return NULL;
}

static const char *status_of(const json_t *root, const char *id)
{
    return json_string_value(json_object_get(mark_of(root, id), "status"));
}

static bool says(const struct bytes *text, const char *words)
{
    return strstr(bytes_text(text), words) != NULL;
}

static const char *in_place(const char *name)
{
    return support_path(place, name);
}

static void copy_reference(const char *name)
{
    static const char *const files[] = {"registers.cu", "answers.ini"};
    support_folder(in_place(name));
    for (size_t i = 0; i < COUNT_OF(files); ++i) {
        struct bytes content;
        ck_assert_int_eq(
            file_read(&content, support_path(REFERENCE, files[i]), (size_t)1 << 20, false),
            FILE_READ);
        testing_write(support_path(in_place(name), files[i]), content.data, content.length);
        bytes_release(&content);
    }
}

/* ---- Graded
 * -------------------------------------------------------------------------------------- */

START_TEST(the_reference_earns_everything)
{
    struct process_result result =
        GRADE(REFERENCE, "--sandbox", "off", "--executor", "emulator", "--elements", "4099",
              "--threads", "1", "--seed", "17", "--verbose");
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    ck_assert_str_eq(bytes_text(&result.error), "");
    ck_assert_msg(says(&result.output, "\nScore: 100/100\n"), "%s", bytes_text(&result.output));
    ck_assert(says(&result.output, "nvcc 13.0.88"));
    ck_assert(says(&result.output, "CUDA_HOME)"));
    ck_assert(says(&result.output, "graded for  sm_75"));
    ck_assert(says(&result.output, "seed        17\n"));
    ck_assert(says(&result.output, "\ndecayWide           72 "));
    ck_assert(!says(&result.output, "\033"));
    process_result_release(&result);
}
END_TEST

START_TEST(json_alone_on_standard_output)
{
    struct process_result result =
        GRADE(REFERENCE, QUICK, "--json", "-", "--seed", "17", "--verbose");
    json_t *root = json_of(&result);
    ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), "spillway/result/v1");
    ck_assert_int_eq(int_of(root, "score"), 75);
    ck_assert_int_eq(int_of(root, "pending"), 25);
    ck_assert_int_eq(int_of(root, "max_score"), 100);
    ck_assert_str_eq(status_of(root, "numbers.decayWide"), "skipped");
    ck_assert_str_eq(status_of(root, "question3.spills"), "passed");
    json_decref(root);
    process_result_release(&result);
    /* The other way round: the page on standard output, the JSON in a file. */
    const char *path = in_place("grade.json");
    result = GRADE(REFERENCE, QUICK, "--json", path);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert(says(&result.output, "\nScore: 75/100 (25 pending)\n"));
    struct bytes content;
    ck_assert_int_eq(file_read(&content, path, (size_t)1 << 20, false), FILE_READ);
    root = json_from(content.data, content.length);
    ck_assert_int_eq(int_of(root, "score"), 75);
    json_decref(root);
    bytes_release(&content);
    process_result_release(&result);
}
END_TEST

static char *normalised(const char *seed)
{
    struct process_result result = GRADE(REFERENCE, "--sandbox", "off", "--executor", "emulator",
                                         "--elements", "100", "--json", "-", "--seed", seed);
    json_t *root = json_of(&result);
    ck_assert_int_eq(json_object_del(root, "duration_ns"), 0);
    char *text = json_dumps(root, JSON_SORT_KEYS);
    ck_assert_ptr_nonnull(text);
    json_decref(root);
    process_result_release(&result);
    return text;
}

START_TEST(a_seed_repeats_a_grade)
{
    AUTO_FREE char *one = normalised("4711"), *again = normalised("4711");
    ck_assert_str_eq(one, again);
    int seeds[2];
    for (size_t i = 0; i < COUNT_OF(seeds); ++i) {
        struct process_result result = GRADE(REFERENCE, QUICK, "--json", "-");
        json_t *root = json_of(&result);
        seeds[i] = int_of(root, "seed");
        json_decref(root);
        process_result_release(&result);
    }
    ck_assert_int_ne(seeds[0], seeds[1]);
}
END_TEST

START_TEST(thresholds)
{
    static const struct {
        const char *least;
        int status;
    } rows[] = {{"0", 0}, {"75", 0}, {"76", 1}, {"1000", 1}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct process_result result = GRADE(REFERENCE, QUICK, "--fail-under", rows[i].least);
        ck_assert_int_eq(result.exit_code, rows[i].status);
        ck_assert(says(&result.output, "Score: 75/100")); /* pending points do not count */
        process_result_release(&result);
    }
}
END_TEST

START_TEST(some_marks_only)
{
    struct process_result result = GRADE(REFERENCE, QUICK, "--only", "question2");
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert(says(&result.output, "question2.threads_lost"));
    ck_assert(!says(&result.output, "question1."));
    ck_assert(says(&result.output, "Score: 75/100")); /* of all of them */
    process_result_release(&result);
}
END_TEST

START_TEST(several_architectures)
{
    struct process_result result =
        GRADE(REFERENCE, QUICK, "--json", "-", "--arch", "sm_75,compute_80,7.5", "--arch", "90");
    json_t *root = json_of(&result);
    const json_t *archs = json_object_get(json_object_get(root, "toolchain"), "archs");
    ck_assert_uint_eq(json_array_size(archs), 3);
    ck_assert_str_eq(json_string_value(json_array_get(archs, 1)), "sm_80");
    ck_assert_uint_eq(json_array_size(json_object_get(root, "kernels")), 12);
    json_decref(root);
    process_result_release(&result);
}
END_TEST

START_TEST(a_revision)
{
    struct bytes source, answers;
    ck_assert_int_eq(file_read(&source, REFERENCE "/registers.cu", 100000, false), FILE_READ);
    ck_assert_int_eq(file_read(&answers, REFERENCE "/answers.ini", 100000, false), FILE_READ);
    const struct git_file files[] = {{.path = "registers.cu", .data = bytes_text(&source)},
                                     {.path = "answers.ini", .data = bytes_text(&answers)}};
    char id[48];
    support_git_init(in_place("git"), false);
    support_git_commit(in_place("git"), files, COUNT_OF(files), id);
    struct process_result result =
        GRADE(in_place("git"), QUICK, "--json", "-", "--rev", "main", "--lab", LAB);
    json_t *root = json_of(&result);
    const json_t *submission = json_object_get(root, "submission");
    ck_assert_str_eq(json_string_value(json_object_get(submission, "kind")), "git");
    ck_assert_str_eq(json_string_value(json_object_get(submission, "commit")), id);
    ck_assert_int_eq(int_of(root, "score"), 75);
    json_decref(root);
    process_result_release(&result);
    bytes_release(&answers);
    bytes_release(&source);
}
END_TEST

START_TEST(in_the_sandbox)
{
    struct process_result result = GRADE(REFERENCE, "--executor", "none", "--json", "-");
    json_t *root = json_of(&result);
    ck_assert_int_eq(int_of(root, "score"), 75);
    json_decref(root);
    process_result_release(&result);
}
END_TEST

/* ---- What costs marks, and no more
 * ------------------------------------------------------------------- */

START_TEST(bad_submissions_are_graded)
{
    static char huge[(1 << 20) + 2];
    memset(huge, 'x', sizeof huge - 1);
    const struct {
        const char *file, *content;
        size_t length;
        const char *mark, *status, *words;
    } rows[] = {
        {"answers.ini", NULL, 0, "counts.decayWide", "failed", "there is no answers.ini"},
        {"answers.ini", "[registers]\ndecayWide = many\n", 0, "counts.decayWide", "failed",
         "should be a whole number; answers.ini says \"many\""},
        {"answers.ini", "[registers]\ndecayWyde = 72\n", 0, "counts.decayWide", "failed",
         "not in answers.ini"},
        {"answers.ini", "[build]\narch = sm_52\n[registers]\ndecayWide = 72\n", 0,
         "counts.decayWide", "skipped", "does not compile for"},
        {"answers.ini", "\0\0\0", 3, "counts.decayWide", "failed", "not in answers.ini"},
        {"registers.cu", huge, sizeof huge - 1, "build.accepted", "failed", "is larger than"},
        {"registers.cu", "", 0, "build.accepted", "failed", "the file is empty"},
        {"registers.cu", "caf\xe9", 0, "build.accepted", "failed", "is not UTF-8"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char name[16];
        (void)snprintf(name, sizeof name, "row%zu", i);
        copy_reference(name);
        const char *path = support_path(in_place(name), rows[i].file);
        if (rows[i].content == NULL)
            ck_assert_int_eq(unlink(path), 0);
        else
            testing_write(path, rows[i].content,
                          rows[i].length > 0 ? rows[i].length : strlen(rows[i].content));
        struct process_result result = GRADE(in_place(name), QUICK, "--lab", LAB, "--json", "-");
        json_t *root = json_of(&result);
        ck_assert_msg(strcmp(status_of(root, rows[i].mark), rows[i].status) == 0, "row %zu: %s", i,
                      status_of(root, rows[i].mark));
        const char *message =
            json_string_value(json_object_get(mark_of(root, rows[i].mark), "message"));
        ck_assert_msg(strstr(message, rows[i].words) != NULL, "row %zu: %s", i, message);
        /* Question 2 is about a T4, and answered without any build. */
        if (strcmp(rows[i].file, "registers.cu") == 0)
            ck_assert_str_eq(status_of(root, "question2.percent_lost"), "passed");
        json_decref(root);
        process_result_release(&result);
    }
}
END_TEST

START_TEST(a_compile_error_is_quoted)
{
    make_toolkit(
        "printf 'registers.cu(41): error: identifier \"foo\" is undefined\\n    foo;\\n' >&2\n"
        "exit 2\n",
        NULL);
    struct process_result result = GRADE(REFERENCE, QUICK);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert(says(&result.output, "FAIL   0/5   build.accepted\n"));
    ck_assert(says(&result.output, "where: registers.cu:41\n"));
    ck_assert(
        says(&result.output, "  | registers.cu(41): error: identifier \"foo\" is undefined\n"));
    process_result_release(&result);
}
END_TEST

/* ---- What is refused
 * ---------------------------------------------------------------------------------- */

static void assert_one_sentence(const struct process_result *result, int status, const char *words)
{
    const char *error = bytes_text(&result->error);
    ck_assert_msg(result->exit_code == status, "status %d: %s", result->exit_code, error);
    ck_assert_str_eq(bytes_text(&result->output), "");
    ck_assert_msg(strstr(error, words) != NULL, "expected \"%s\" in: %s", words, error);
    ck_assert_msg(strncmp(error, "spillway: ", 10) == 0 && strchr(error, '\n') != NULL &&
                      strchr(error, '\n')[1] == '\0',
                  "not one sentence: %s", error);
}

#define ARGUMENTS(...)                                                                             \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* clang-format off */
static const struct {
    const char *arguments[12], *variable;
    int status;
    const char *words;
} refused[] = {
    {ARGUMENTS("nowhere"), NULL, 2, "there is no folder nowhere"},
    {ARGUMENTS("README.md"), NULL, 2, "README.md is not a folder"},
    {ARGUMENTS("grader"), NULL, 2, "cannot tell which lab grader belongs to: name it with --lab ID"},
    {ARGUMENTS("grader", "--lab", "day18"), NULL, 2, "there is no lab \"day18\"; the labs are: " LAB},
    {ARGUMENTS("/", "--lab", LAB), NULL, 2, "no registers.cu in /"},
    {ARGUMENTS(REFERENCE, "starter"), NULL, 2, "one folder at a time: what is \"starter\"?"},
    {ARGUMENTS(REFERENCE, "--arch", "turing"), NULL, 2, "expected names like sm_75"},
    {ARGUMENTS(REFERENCE, "--arch", ""), NULL, 2, "expected names like sm_75"},
    {ARGUMENTS(REFERENCE, "--arch", "sm_75,,sm_80"), NULL, 2, "expected names like sm_75"},
    {ARGUMENTS(REFERENCE, "--arch", "sm_52"), NULL, 2, "nvcc 13.0.88 does not compile for sm_52; it knows sm_75 sm_80"},
    {ARGUMENTS(REFERENCE, "--arch", "75,76,77,78,79,80,81,82,83,84,85,86,87,88,89,90,91"), NULL, 2, "at most 16 architectures"},
    {ARGUMENTS(REFERENCE, "--executor", "cpu"), NULL, 2, "expected auto, gpu, emulator or none"},
    {ARGUMENTS(REFERENCE, "--sandbox", "maybe"), NULL, 2, "expected auto, on or off"},
    {ARGUMENTS(REFERENCE, "--seed", "-1"), NULL, 2, "expected a whole number from 0"},
    {ARGUMENTS(REFERENCE, "--seed", "18446744073709551616"), NULL, 2, "expected a whole number"},
    {ARGUMENTS(REFERENCE, "--elements", "0"), NULL, 2, "from 1 to 16777216"},
    {ARGUMENTS(REFERENCE, "--elements", "1e6"), NULL, 2, "expected a whole number"},
    {ARGUMENTS(REFERENCE, "--threads", "257"), NULL, 2, "from 0 to 256"},
    {ARGUMENTS(REFERENCE, "--fail-under", "most"), NULL, 2, "expected a whole number"},
    {ARGUMENTS(REFERENCE, "--only", "nothing"), NULL, 2, "there are build, numbers, shift, bounds, counts"},
    {ARGUMENTS(REFERENCE, "--frobnicate"), NULL, 2, "there is no option --frobnicate"},
    {ARGUMENTS(REFERENCE, "-v"), NULL, 2, "there is no option -v"},
    {ARGUMENTS(REFERENCE, "--json"), NULL, 2, "--json needs a value"},
    {ARGUMENTS(REFERENCE, "--verbose=3"), NULL, 2, "takes no value"},
    {ARGUMENTS("/usr", "--lab", LAB, "--rev", "HEAD"), NULL, 2, "no git repository"},
    {ARGUMENTS("a\033[31m\nb"), NULL, 2, "there is no folder a?[31m b"},
    /* the machine */
    {ARGUMENTS(REFERENCE, QUICK), "CUDA_HOME=/nowhere", 3, "CUDA_HOME is /nowhere"},
    {ARGUMENTS(REFERENCE, QUICK, "--nvcc", "/nowhere/nvcc"), NULL, 3, "--nvcc /nowhere/nvcc"},
    {ARGUMENTS(REFERENCE, QUICK, "--nvcc", "/usr"), NULL, 3, "a folder: name the program in it"},
    {ARGUMENTS(REFERENCE, QUICK, "--nvcc", "/bin/false"), NULL, 3, "/bin/false"},
    {ARGUMENTS(REFERENCE, QUICK, "--nvcc", "/bin/echo"), NULL, 3, "/bin/echo"},
    {ARGUMENTS(REFERENCE, QUICK), "TMPDIR=/nowhere", 3, "cannot make a temporary folder in /nowhere"},
    {ARGUMENTS(REFERENCE, QUICK, "--json", "/nowhere/grade.json"), NULL, 3, "cannot write /nowhere/grade.json: No such file"},
    {ARGUMENTS(REFERENCE, QUICK, "--json", "/usr"), NULL, 3, "cannot write /usr: Is a directory"},
    {ARGUMENTS(REFERENCE, QUICK, "--json", "/dev/full"), NULL, 3, "cannot write /dev/full: No space left"},
};
/* clang-format on */

START_TEST(refusal)
{
    struct process_result result = grade_in(refused[_i].arguments, refused[_i].variable);
    assert_one_sentence(&result, refused[_i].status, refused[_i].words);
    process_result_release(&result);
}
END_TEST

START_TEST(broken_toolkits)
{
    static const struct {
        const char *nvcc, *words;
    } rows[] = {
        {"#!/bin/sh\nexit 1\n", "--version` failed"},
        {"#!/bin/sh\necho hello\n", "names no version like V13.0.88"},
        {"#!/bin/sh\necho ', V13.0.88'\n", "lists no architecture"},
        {"#!/nowhere/shell\n", "cannot start"},
        {"#!/bin/sh\ncase $1 in --version) echo ', V13.0.88';; --list-gpu-arch) echo compute_75;;\n"
         "*) echo 'nvcc fatal   : no host compiler'; exit 1;; esac\n",
         "cannot compile even an empty kernel here: nvcc fatal : no host compiler"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        support_script(toolkit.nvcc, rows[i].nvcc);
        struct process_result result = GRADE(REFERENCE, QUICK);
        assert_one_sentence(&result, 3, i + 1 < COUNT_OF(rows) ? rows[i].words : "empty kernel");
        process_result_release(&result);
    }
    if (access("/usr/bin/ptxas", X_OK) == 0)
        TEST_SKIP("a ptxas on the PATH takes the place of the missing one");
    ck_assert_int_eq(unlink(toolkit.ptxas), 0);
    struct process_result result = GRADE(REFERENCE, QUICK);
    assert_one_sentence(&result, 3, "no ptxas beside it");
    process_result_release(&result);
}
END_TEST

START_TEST(no_gpu)
{
    if (access("/dev/nvidiactl", F_OK) == 0)
        TEST_SKIP("there is a GPU");
    struct process_result result = GRADE(REFERENCE, "--sandbox", "off", "--executor", "gpu");
    assert_one_sentence(&result, 3, "--executor gpu, but ");
    ck_assert(says(&result.error, "spillway doctor"));
    process_result_release(&result);
}
END_TEST

START_TEST(help)
{
    static const char *const options[] = {
        "--lab",  "--rev",  "--arch",    "--executor", "--seed",    "--only",    "--fail-under",
        "--json", "--nvcc", "--sandbox", "--elements", "--threads", "--verbose", "--help"};
    struct process_result result = GRADE("--help");
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_str_eq(bytes_text(&result.error), "");
    for (size_t i = 0; i + 1 < COUNT_OF(options); ++i)
        ck_assert_msg(says(&result.output, options[i]), "%s", options[i]);
    for (const char *line = bytes_text(&result.output); *line != '\0';) {
        size_t length = strcspn(line, "\n"), columns = 0;
        for (size_t i = 0; i < length; ++i)
            columns += ((unsigned char)line[i] & 0xC0) != 0x80;
        ck_assert_msg(columns <= 80, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    process_result_release(&result);
}
END_TEST

/* ---- Full disks
 * ------------------------------------------------------------------------------------------ */

/* Runs a shell script with $SPILLWAY and the toolkit. Release the result. */
static struct process_result shell(const char *script)
{
    char binary[4200], folder[600], cache[600];
    (void)snprintf(binary, sizeof binary, "SPILLWAY=%s", testing_binary());
    (void)snprintf(folder, sizeof folder, "PLACE=%s", place);
    (void)snprintf(cache, sizeof cache, "SPILLWAY_CACHE=%s/cache", place);
    const char *const argv[] = {"/bin/bash", "-c", script, NULL};
    const char *const environment[] = {
        home, binary, folder, cache, "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(300000000000),
                                      .output_limit = (size_t)1 << 20};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    return result;
}

START_TEST(output_that_does_not_arrive)
{
    static const char *const commands[] = {"grade " REFERENCE " --sandbox off --executor none",
                                           "grade " REFERENCE
                                           " --sandbox off --executor none --json -",
                                           "grade --help", "--help", "--version"};
    static const char *const ways[] = {"> /dev/full", ">&-"};
    for (size_t i = 0; i < COUNT_OF(commands); ++i)
        for (size_t k = 0; k < COUNT_OF(ways); ++k) {
            char script[300];
            (void)snprintf(script, sizeof script, "exec $SPILLWAY %s %s", commands[i], ways[k]);
            struct process_result result = shell(script);
            ck_assert_msg(result.exit_code == 3, "%s: status %d", script, result.exit_code);
            ck_assert_msg(says(&result.error, "cannot write standard output"), "%s",
                          bytes_text(&result.error));
            process_result_release(&result);
        }
}
END_TEST

START_TEST(a_full_disk)
{
    struct process_result result =
        shell("unshare --user --map-root-user --mount true 2>/dev/null || exit 77\n"
              "mkdir $PLACE/small\n"
              "exec unshare --user --map-root-user --mount bash -c '\n"
              "  mount -t tmpfs -o size=8k none $PLACE/small || exit 77\n"
              "  echo old > $PLACE/small/grade.json\n"
              "  $SPILLWAY grade " REFERENCE
              " --sandbox off --executor none --json $PLACE/small/grade.json\n"
              "  echo status $?; cat $PLACE/small/grade.json; ls -A $PLACE/small'\n");
    if (result.exit_code == 77) {
        process_result_release(&result);
        TEST_SKIP("no file system can be mounted here");
    }
    ck_assert_str_eq(bytes_text(&result.output), "status 3\nold\ngrade.json\n");
    ck_assert_msg(says(&result.error, "small/grade.json: No space left on device"), "%s",
                  bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

/* A file that would grow past what the user may write is an error of writing, not a signal. */
START_TEST(a_file_size_limit)
{
    struct process_result result =
        shell("ulimit -f 4; exec $SPILLWAY grade " REFERENCE " --sandbox off --executor none");
    ck_assert_msg(result.exit_code == 3, "status %d: %s", result.exit_code,
                  bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

/* ---- A terminal
 * ------------------------------------------------------------------------------------------- */

static struct bytes on_a_terminal(const char *no_colour)
{
    int terminal = -1;
    pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)setenv("CUDA_HOME", toolkit.home, 1);
        (void)setenv("TERM", "xterm", 1);
        (void)(no_colour != NULL ? setenv("NO_COLOR", no_colour, 1) : unsetenv("NO_COLOR"));
        (void)execl(testing_binary(), "spillway", "grade", REFERENCE, QUICK, (char *)NULL);
        _exit(127);
    }
    struct bytes page = bytes_with_limit((size_t)1 << 20);
    char chunk[4096];
    for (ssize_t got; (got = read(terminal, chunk, sizeof chunk)) > 0;)
        bytes_append(&page, chunk, (size_t)got);
    (void)close(terminal);
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return page;
}

START_TEST(colour_and_progress_on_a_terminal)
{
    struct bytes page = on_a_terminal(NULL);
    ck_assert(says(&page, "\033[32mOK   \033[0m  5/5   build.accepted"));
    ck_assert(says(&page, "compiling for 1 architecture"));
    /* What was shown meanwhile is wiped off before the page. */
    const char *progress = strstr(bytes_text(&page), "compiling");
    const char *title = strstr(bytes_text(&page), "Day 17");
    ck_assert(progress != NULL && title != NULL && progress < title);
    ck_assert_int_eq(strncmp(title - 4, "\r\033[K", 4), 0);
    bytes_release(&page);
    page = on_a_terminal("1");
    ck_assert(says(&page, "\nOK     5/5   build.accepted"));
    ck_assert(!says(&page, "\033[32m") && !says(&page, "\033[0m"));
    bytes_release(&page);
}
END_TEST

/* ---- Interrupted
 * ------------------------------------------------------------------------------------------ */

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    (void)nanosleep(&pause, NULL);
}

static void wait_for_file(const char *path)
{
    for (int i = 0; i < 3000 && access(path, F_OK) != 0; ++i)
        nap();
    ck_assert_msg(access(path, F_OK) == 0, "%s did not come to be", path);
}

static size_t entries_in(const char *folder)
{
    DIR *open_folder = opendir(folder);
    ck_assert_ptr_nonnull(open_folder);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(open_folder)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(open_folder);
    return count;
}

/* Every descendant that lost its parent comes to us: in the end there must be none. */
static void assert_nobody_is_left(void)
{
    for (int i = 0; i < 1500; ++i) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid == 0)
            nap();
    }
    ck_abort_msg("a child of the interrupted program lives on");
}

static void interrupt_at(const char *signal_file, int signal_number, const char *executor)
{
    const char *temporary = in_place("temporary"), *errors = in_place("errors");
    support_folder(temporary);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)setenv("CUDA_HOME", toolkit.home, 1);
        (void)setenv("TMPDIR", temporary, 1);
        int out = open("/dev/null", O_WRONLY);
        int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
            _exit(126);
        (void)execl(testing_binary(), "spillway", "grade", REFERENCE, "--sandbox", "off",
                    "--executor", executor, "--threads", "1", "--json", in_place("grade.json"),
                    (char *)NULL);
        _exit(127);
    }
    char path[1200];
    (void)snprintf(path, sizeof path, "%s/bin/%s", toolkit.home, signal_file);
    wait_for_file(path);
    for (int i = 0; i < 20; ++i)
        nap();
    ck_assert_int_eq(kill(pid, signal_number), 0);
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 130);
    assert_nobody_is_left();
    ck_assert_uint_eq(entries_in(temporary), 0);
    ck_assert_int_ne(access(in_place("grade.json"), F_OK), 0);
    struct bytes said;
    ck_assert_int_eq(file_read(&said, errors, 10000, false), FILE_READ);
    ck_assert_str_eq(bytes_text(&said), "spillway: interrupted\n");
    bytes_release(&said);
}

START_TEST(interrupted_while_compiling)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    make_toolkit("trap '' INT TERM HUP; sleep 300 & : > \"$here/started\"; sleep 300; sleep 300\n",
                 NULL);
    interrupt_at("started", signals[_i], "none");
}
END_TEST

/* A kernel without end, in the emulator's worker. */
START_TEST(interrupted_while_running)
{
    static const char looping[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry _Z11decayNarrowPKfPfm(.param .u64 a, .param .u64 b, .param .u64 c)\n"
        "{ LOOP: bra LOOP; }\n"
        ".visible .entry _Z9decayWidePKfPfm(.param .u64 a, .param .u64 b, .param .u64 c)\n"
        "{ ret; }\n";
    make_toolkit(NULL, ": > \"$here/assembled\"\n");
    fake_toolkit_add(&toolkit, "module.ptx", looping, sizeof looping - 1);
    interrupt_at("assembled", SIGINT, "emulator");
}
END_TEST

Suite *suite_cmd_grade(void)
{
    Suite *suite = suite_create("cmd_grade");
    TCase *tests = tcase_create("cmd_grade");
    tcase_set_timeout(tests, 200);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, the_reference_earns_everything);
    tcase_add_test(tests, json_alone_on_standard_output);
    tcase_add_test(tests, a_seed_repeats_a_grade);
    tcase_add_test(tests, thresholds);
    tcase_add_test(tests, some_marks_only);
    tcase_add_test(tests, several_architectures);
    tcase_add_test(tests, a_revision);
    tcase_add_test(tests, in_the_sandbox);
    tcase_add_test(tests, bad_submissions_are_graded);
    tcase_add_test(tests, a_compile_error_is_quoted);
    tcase_add_loop_test(tests, refusal, 0, COUNT_OF(refused));
    tcase_add_test(tests, broken_toolkits);
    tcase_add_test(tests, no_gpu);
    tcase_add_test(tests, help);
    tcase_add_test(tests, output_that_does_not_arrive);
    tcase_add_test(tests, a_full_disk);
    tcase_add_test(tests, a_file_size_limit);
    tcase_add_test(tests, colour_and_progress_on_a_terminal);
    tcase_add_loop_test(tests, interrupted_while_compiling, 0, 3);
    tcase_add_test(tests, interrupted_while_running);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_faults.c - one call of the C library or of the system fails, each in turn: `grade` then
 * gives the grade that it would have given, or exit status 3 with a sentence, and leaves nothing
 * behind.
 *
 * The program under test is `faulty` (tests/faults/). How many calls of each case are tried is
 * $SPILLWAY_FAULTS: a number, or "all". */
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "faults/faults.h"
#include "files.h"
#include "number.h"
#include "support_toolkit.h"

#define OLD_JSON "what was there before\n"
#define REPORTS_MAX 40

static struct fake_toolkit toolkit;
static struct faults *faults;
static char place[512], program[4096], home[600], folder[600], cuda_home[600], json[600],
    cache[600];
static struct process_result good; /* the grade when nothing fails */
static struct bytes good_json, good_memory;

static const struct fault_case {
    const char *name;
    enum fault_process process;
    enum fault_kind kind;
    bool lasting;
    const char *executor, *sandbox;
    unsigned real; /* not 0: with the machine's own toolkit, and so many calls at most */
} cases[] = {
    {"an allocation", FAULT_GRADER, FAULT_MEMORY, false, "emulator", "off", 0},
    {"all memory from some point on", FAULT_GRADER, FAULT_MEMORY, true, "none", "off", 0},
    {"an allocation of the worker", FAULT_WORKER, FAULT_MEMORY, false, "emulator", "off", 0},
    {"a call", FAULT_GRADER, FAULT_SYSTEM, false, "emulator", "off", 0},
    {"a call with bubblewrap", FAULT_GRADER, FAULT_SYSTEM, false, "none", "on", 0},
    {"a call between fork and exec", FAULT_CHILD, FAULT_SYSTEM, false, "emulator", "off", 0},
    {"a call of the worker", FAULT_WORKER, FAULT_SYSTEM, false, "emulator", "off", 0},
    {"a call of the confined worker", FAULT_WORKER, FAULT_SYSTEM, false, "emulator", "auto", 0},
    {"a call with nvcc itself", FAULT_GRADER, FAULT_SYSTEM, false, "emulator", "auto", 3},
};

static void set_up(void)
{
    const char *binary = testing_binary();
    fake_toolkit_make_day17(&toolkit, NULL, NULL);
    support_new_folder(place);
    (void)snprintf(program, sizeof program, "%.*s/tests/faulty",
                   (int)(strrchr(binary, '/') - binary), binary);
    (void)snprintf(cuda_home, sizeof cuda_home, "CUDA_HOME=%s", toolkit.home);
    (void)snprintf(home, sizeof home, "HOME=%s", place);
    (void)snprintf(folder, sizeof folder, "TMPDIR=%s", support_path(place, "tmp"));
    (void)snprintf(cache, sizeof cache, "SPILLWAY_CACHE=%s", support_path(place, "cache"));
    (void)snprintf(json, sizeof json, "%s", support_path(place, "grade.json"));
    support_folder(support_path(place, "tmp"));
    int fd = open(support_path(place, FAULTS_FILE), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(ftruncate(fd, sizeof *faults), 0);
    faults = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(faults, MAP_FAILED);
    (void)close(fd);
    /* Whoever is left behind becomes our child. */
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

static struct process_result grade(const struct fault_case *one, uint64_t at)
{
    char real_home[4200];
    (void)snprintf(real_home, sizeof real_home, "CUDA_HOME=%s", testing_cuda_home());
    const char *const argv[] = {program,      "grade",       "reference/day17-registers",
                                "--executor", one->executor, "--sandbox",
                                one->sandbox, "--elements",  "1",
                                "--threads",  "1",           "--seed",
                                "17",         "--json",      json,
                                NULL};
    const char *const environment[] = {home,
                                       folder,
                                       one->real > 0 ? real_home : cuda_home,
                                       cache,
                                       "PATH=/usr/bin:/bin",
                                       "LC_ALL=C.UTF-8",
                                       NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(120000000000),
                                      .output_limit = 1 << 20};
    struct process_result result;
    struct error err = {0};
    *faults = (struct faults){
        .process = one->process, .kind = one->kind, .at = at, .lasting = one->lasting};
    testing_write(json, OLD_JSON, sizeof OLD_JSON - 1);
    temporary_folder_remove(strdup(support_path(place, "cache")));
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    return result;
}

/* Whatever it was, what is not removed now would be blamed on the next. */
static bool folder_is_empty(const char *path)
{
    DIR *stream = opendir(path);
    bool empty = true;
    ck_assert_ptr_nonnull(stream);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char *left = path_join(path, entry->d_name);
            empty = false;
            temporary_folder_remove(left);
        }
    (void)closedir(stream);
    return empty;
}

/* Those that are being killed have two seconds for it. */
static bool nobody_is_left(void)
{
    for (int attempt = 0; attempt < 200; ++attempt) {
        pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0 && errno == ECHILD)
            return true;
        if (ended == 0)
            (void)usleep(10000);
    }
    return false;
}

/* The time that it took differs. */
static bool same_json(const struct bytes *one, const struct bytes *other)
{
    static const char key[] = "\"duration_ns\":";
    const char *a = strstr(bytes_text(one), key), *b = strstr(bytes_text(other), key);
    if (a == NULL || b == NULL || a - one->data != b - other->data ||
        memcmp(one->data, other->data, (size_t)(a - one->data)) != 0)
        return false;
    a += sizeof key - 1;
    b += sizeof key - 1;
    return strcmp(a + strspn(a, " 0123456789"), b + strspn(b, " 0123456789")) == 0;
}

/* Where the other grade differs first: the rest of that line. */
static const char *first_difference(const char *other)
{
    static char line[120];
    const char *expected = bytes_text(&good_json), *begin = other;
    for (; *other != '\0' && *other == *expected; ++expected)
        if (*other++ == '\n')
            begin = other;
    (void)snprintf(line, sizeof line, "the JSON is another, or half of it: %.*s",
                   (int)strcspn(begin, "\n"), begin);
    return line;
}

#define MEMORY "cache/grade-day17-registers"

/* What is remembered for the hints: all of it or nothing. */
static bool memory_is_whole(void)
{
    struct bytes memory;
    enum file_status status = file_read(&memory, support_path(place, MEMORY), 1 << 20, false);
    bool whole =
        status == FILE_MISSING ||
        (status == FILE_READ && strcmp(bytes_text(&memory), bytes_text(&good_memory)) == 0);
    bytes_release(&memory);
    return whole;
}

/* NULL: all is well. */
static const char *what_is_wrong(const struct process_result *result)
{
    struct bytes written;
    ck_assert_int_eq(file_read(&written, json, 1 << 20, false), FILE_READ);
    const char *words = bytes_text(&result->error), *wrong = NULL;
    bool new_json = strcmp(bytes_text(&written), OLD_JSON) != 0;
    if (result->timed_out)
        wrong = "it does not end";
    else if (result->signalled)
        wrong = "it crashed";
    else if (result->exit_code != 0 && result->exit_code != 3)
        wrong = "it ended with a status that is neither 0 nor 3";
    else if (new_json && !same_json(&good_json, &written))
        wrong = first_difference(bytes_text(&written));
    else if (result->exit_code == 0 &&
             strcmp(bytes_text(&result->output), bytes_text(&good.output)) != 0)
        wrong = "it gave another grade";
    else if (result->exit_code == 0 && !new_json)
        wrong = "it did not write the JSON and said nothing";
    else if (result->exit_code == 3 && result->output.length > 0)
        wrong = "it printed a grade and failed all the same";
    else if (result->exit_code == 3 &&
             (strncmp(words, "spillway: ", 10) != 0 || strlen(words) < 20))
        wrong = "it failed without a sentence";
    bytes_release(&written);
    if (wrong == NULL && !memory_is_whole())
        wrong = "half of what hints need was remembered";
    if (!nobody_is_left())
        wrong = "a process was left behind";
    if (!folder_is_empty(support_path(place, "tmp")))
        wrong = "a temporary folder was left behind";
    return wrong;
}

/* Beside the JSON, where it is made before it gets its name. NULL: nothing is there. */
static const char *left_behind(void)
{
    static const char *const known[] = {".", "..", "tmp", "cache", "grade.json", FAULTS_FILE};
    static char words[300];
    DIR *stream = opendir(place);
    bool clean = true;
    ck_assert_ptr_nonnull(stream);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        bool expected = false;
        for (size_t i = 0; i < COUNT_OF(known); ++i)
            expected = expected || strcmp(entry->d_name, known[i]) == 0;
        if (!expected) {
            clean = false;
            (void)snprintf(words, sizeof words, "%s was left behind", entry->d_name);
        }
    }
    (void)closedir(stream);
    return clean ? NULL : words;
}

/* Every so many calls; each one when "all" are wanted. */
static uint64_t step_of(const struct fault_case *one, uint64_t total)
{
    const char *wanted = getenv("SPILLWAY_FAULTS");
    uint64_t runs = 25;
    if (one->real > 0)
        return total / one->real + 1;
    if (wanted != NULL && strcmp(wanted, "all") == 0)
        return 1;
    if (wanted != NULL)
        ck_assert_msg(number_parse_u64(wanted, 1000000, &runs) && runs > 0,
                      "SPILLWAY_FAULTS is a number, or all");
    return total / runs > 0 ? total / runs : 1;
}

START_TEST(a_call_fails)
{
    const struct fault_case *one = &cases[_i];
    unsigned tried = 0, wrong = 0;
    if (one->real > 0 && !testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    good = grade(one, 0);
    if (strcmp(one->sandbox, "on") == 0 && good.exit_code == 3)
        TEST_SKIP("no bubblewrap here: %s", bytes_text(&good.error));
    ck_assert_msg(good.exit_code == 0, "%s", bytes_text(&good.error));
    ck_assert_int_eq(file_read(&good_json, json, 1 << 20, false), FILE_READ);
    ck_assert_int_eq(file_read(&good_memory, support_path(place, MEMORY), 1 << 20, false),
                     FILE_READ);
    const uint64_t total = faults->seen[one->process][one->kind], step = step_of(one, total);
    ck_assert_uint_gt(total, 20);
    for (uint64_t at = 1; at <= total; at += step) {
        struct process_result result = grade(one, at);
        const char *trouble = what_is_wrong(&result);
        if (trouble == NULL)
            trouble = left_behind();
        if (trouble != NULL && ++wrong <= REPORTS_MAX)
            (void)fprintf(stderr, "  %s, number %llu (%s): %s; status %d, signal %d: %s\n",
                          one->name, (unsigned long long)at, faults->failed, trouble,
                          result.exit_code, result.signal, bytes_text(&result.error));
        process_result_release(&result);
        ++tried;
    }
    process_result_release(&good);
    bytes_release(&good_json);
    bytes_release(&good_memory);
    (void)munmap(faults, sizeof *faults);
    ck_assert_msg(wrong == 0, "%s fails: %u of %u ended badly", one->name, wrong, tried);
}
END_TEST

Suite *suite_faults(void)
{
    Suite *suite = suite_create("faults");
    TCase *tests = tcase_create("faults");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_set_timeout(tests, 7200);
    tcase_add_loop_test(tests, a_call_fails, 0, COUNT_OF(cases));
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_main.c - runs every suite (or those named on the command line) and counts what ran. */
#include "testing.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "files.h"

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.inc"
#undef SUITE
};

/* Tests run in forked children: the count lives in shared memory. */
static unsigned *skipped;
static char *temporary_folder;
/* The one that holds it: still reachable in the children, whose tests look for leaks. */
static char *runner_folder;

void testing_count_skip(const char *test, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "skipped %s: ", test);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    __atomic_fetch_add(skipped, 1, __ATOMIC_RELAXED);
}

const char *testing_cuda_home(void)
{
    const char *home = getenv("CUDA_HOME");
    return home != NULL && home[0] != '\0' ? home : "/usr/local/cuda";
}

bool testing_have_toolkit(void)
{
    AUTO_FREE char *path = path_join(testing_cuda_home(), "bin/nvcc");
    return path != NULL && access(path, X_OK) == 0;
}

const char *testing_binary(void)
{
    const char *path = getenv("SPILLWAY_BINARY");
    ck_assert_msg(path != NULL, "SPILLWAY_BINARY is not set: run the tests with `make check`");
    return path;
}

struct bytes testing_fixture(const char *name)
{
    AUTO_FREE char *path = path_join("tests/fixtures", name);
    struct bytes content;
    ck_assert_ptr_nonnull(path);
    enum file_status status = file_read(&content, path, (size_t)64 << 20, true);
    ck_assert_msg(status == FILE_READ, "%s: %s", path, file_status_text(status));
    return content;
}

struct process_result testing_spillway(const char *const *arguments, const char *const *environment)
{
    const char *argv[64] = {testing_binary()};
    size_t count = 1;
    for (; *arguments != NULL; ++arguments) {
        ck_assert_uint_lt(count, COUNT_OF(argv) - 1);
        argv[count++] = *arguments;
    }
    static char cuda_home[4096], path[4096], cache[4096];
    (void)snprintf(cuda_home, sizeof cuda_home, "CUDA_HOME=%s", testing_cuda_home());
    (void)snprintf(path, sizeof path, "PATH=/usr/bin:/bin");
    (void)snprintf(cache, sizeof cache, "SPILLWAY_CACHE=%s/cache", testing_temporary_folder());
    /* getenv() finds the first of a name: what the caller gives comes before the defaults. */
    const char *env[32], *const defaults[] = {cuda_home, path, cache, "LC_ALL=C.UTF-8", NULL};
    size_t used = 0;
    for (; environment != NULL && *environment != NULL; ++environment) {
        ck_assert_uint_lt(used, COUNT_OF(env) - COUNT_OF(defaults));
        env[used++] = *environment;
    }
    memcpy(env + used, defaults, sizeof defaults);
    struct process_result result;
    struct error err = {0};
    const struct process_spec spec = {.argv = argv,
                                      .environment = env,
                                      .wall_ns = INT64_C(300000000000),
                                      .output_limit = (size_t)32 << 20};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    return result;
}

const char *testing_temporary_folder(void)
{
    return temporary_folder;
}

void testing_write(const char *path, const void *data, size_t length)
{
    struct error err = {0};
    ck_assert_msg(file_write(path, data, length, &err) == 0, "%s", err.text);
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

/* ---- Running --------------------------------------------------------------------------------- */
/* Every suite runs in a child of its own, as many at a time as there are cores, with its output in
 * a file that is printed when it ends. One suite alone runs right here, for a debugger. */

struct tally {
    int ran, failed;
    unsigned skipped;
};

static struct tally run_suite(size_t index)
{
    SRunner *runner = srunner_create(suites[index].make());
    srunner_run_all(runner, CK_ENV);
    struct tally tally = {.ran = srunner_ntests_run(runner),
                          .failed = srunner_ntests_failed(runner)};
    srunner_free(runner);
    tally.skipped = *skipped;
    return tally;
}

struct slot {
    pid_t pid; /* 0: free */
    size_t suite;
    int output;
    int64_t began_ns;
};

/* What a child tells: in memory that it shares with us. */
static struct tally *tallies;

static _Noreturn void be_child(size_t index, int output)
{
    if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(EXIT_FAILURE);
    /* Counted from 0, and files of its own. */
    skipped = &tallies[index].skipped;
    char *folder = path_join(temporary_folder, suites[index].name);
    if (folder == NULL || mkdir(folder, 0700) != 0) {
        (void)fprintf(stderr, "cannot set up the suite: %s\n", strerror(errno));
        _exit(EXIT_FAILURE);
    }
    temporary_folder = folder;
    struct tally tally = run_suite(index);
    tallies[index] = tally;
    (void)fflush(NULL);
    _exit(EXIT_SUCCESS);
}

static bool start_child(struct slot *slot, size_t index)
{
    slot->output = memfd_create("suite", MFD_CLOEXEC);
    slot->suite = index;
    slot->began_ns = process_now_ns();
    (void)fflush(NULL);
    slot->pid = slot->output < 0 ? -1 : fork();
    if (slot->pid == 0)
        be_child(index, slot->output);
    return slot->pid > 0;
}

static void finish_child(struct slot *slot, int status)
{
    struct tally *tally = &tallies[slot->suite];
    bool whole = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    if (!whole) {
        ++tally->ran;
        ++tally->failed;
    }
    char buffer[4096];
    (void)lseek(slot->output, 0, SEEK_SET);
    for (ssize_t got; (got = read(slot->output, buffer, sizeof buffer)) > 0;)
        (void)fwrite(buffer, 1, (size_t)got, stdout);
    if (!whole)
        (void)printf("the suite itself died (wait status %d)\n", status);
    (void)printf("  %-14s %5.1f s\n", suites[slot->suite].name,
                 (double)(process_now_ns() - slot->began_ns) * 1e-9);
    (void)fflush(stdout);
    (void)close(slot->output);
    *slot = (struct slot){0};
}

static int run_many(const size_t *chosen, size_t count)
{
    struct slot slots[16] = {{0}};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t width = cores < 1                         ? 1
                   : (size_t)cores < COUNT_OF(slots) ? (size_t)cores
                                                     : COUNT_OF(slots);
    size_t next = 0, running = 0;
    while (next < count || running > 0) {
        for (size_t i = 0; i < width && next < count; ++i)
            if (slots[i].pid == 0) {
                if (!start_child(&slots[i], chosen[next++])) {
                    (void)fprintf(stderr, "cannot start a suite: %s\n", strerror(errno));
                    return -1;
                }
                ++running;
            }
        int status = 0;
        pid_t ended = waitpid(-1, &status, 0);
        for (size_t i = 0; i < width; ++i)
            if (ended > 0 && slots[i].pid == ended) {
                finish_child(&slots[i], status);
                --running;
            }
        if (ended < 0 && errno != EINTR)
            return -1;
    }
    return 0;
}

static void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    size_t chosen[COUNT_OF(suites)], count = 0;
    for (size_t i = 0; i < COUNT_OF(suites); ++i)
        if (wanted(suites[i].name, argc, argv))
            chosen[count++] = i;
    skipped = shared_memory(sizeof *skipped);
    tallies = shared_memory(sizeof *tallies * COUNT_OF(suites));
    temporary_folder = runner_folder = temporary_folder_create(&err);
    if (skipped == NULL || tallies == NULL || temporary_folder == NULL) {
        (void)fprintf(stderr, "cannot set up the tests: %s\n", err.text);
        return EXIT_FAILURE;
    }
    int status = 0;
    if (count == 1)
        tallies[chosen[0]] = run_suite(chosen[0]);
    else
        status = run_many(chosen, count);
    temporary_folder_remove(runner_folder);
    struct tally total = {0};
    for (size_t i = 0; i < COUNT_OF(suites); ++i) {
        total.ran += tallies[i].ran;
        total.failed += tallies[i].failed;
        total.skipped += tallies[i].skipped;
    }
    if (total.ran == 0)
        (void)fprintf(stderr, "no test ran: is the suite's name right?\n");
    (void)printf("%d passed, %d failed, %u skipped\n",
                 total.ran - total.failed - (int)total.skipped, total.failed, total.skipped);
    return status == 0 && total.ran > 0 && total.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

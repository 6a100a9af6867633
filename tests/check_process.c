/* check_process.c - child processes: how they end, what they get, what is left of them. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "files.h"
#include "number.h"

#define SECOND INT64_C(1000000000)
/* "At once", on the slowest machine: far below the 300 s that the sleepers would sleep. */
#define SOON (60 * SECOND)

/* Runs `script` by the shell; the spec's other members are the caller's. Aborts the test if it does
 * not start. */
static struct process_result shell_with(struct process_spec spec, const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, "sh", testing_temporary_folder(), NULL};
    static const char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
    spec.argv = argv;
    if (spec.environment == NULL)
        spec.environment = environment;
    if (spec.output_limit == 0)
        spec.output_limit = 1000;
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    return result;
}

static struct process_result shell(const char *script)
{
    return shell_with((struct process_spec){.wall_ns = SOON}, script);
}

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    (void)nanosleep(&pause, NULL);
}

/* True once the process is gone or a zombie that nobody has fetched yet. */
static bool is_dead(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    struct bytes stat;
    bool dead = true;
    if (file_read(&stat, path, 4096, false) == FILE_READ) {
        const char *state = strrchr(bytes_text(&stat), ')');
        dead = state == NULL || state[1] == '\0' || state[2] == 'Z' || state[2] == 'X';
        bytes_release(&stat);
    }
    return dead;
}

static void assert_dies(pid_t pid)
{
    for (int i = 0; i < 3000; ++i) {
        if (is_dead(pid))
            return;
        nap();
    }
    (void)kill(pid, SIGKILL);
    ck_abort_msg("process %d lives on", (int)pid);
}

static pid_t pid_in(const char *text)
{
    uint64_t pid = 0;
    ck_assert_msg(number_parse_u64_bytes(text, strspn(text, "0123456789"), 1 << 30, &pid),
                  "no process id in \"%s\"", text);
    return (pid_t)pid;
}

/* Waits until the file holds a line, and reads the process id in it. */
static pid_t wait_for_pid(const char *path)
{
    for (int i = 0; i < 3000; ++i) {
        struct bytes content;
        if (file_read(&content, path, 100, false) == FILE_READ) {
            bool whole = strchr(bytes_text(&content), '\n') != NULL;
            pid_t pid = whole ? pid_in(bytes_text(&content)) : 0;
            bytes_release(&content);
            if (whole)
                return pid;
        }
        nap();
    }
    ck_abort_msg("nothing was written to %s", path);
    return 0;
}

/* Runs `body` in a forked child and returns its exit code; what it does to its descriptors and
 * signals stays with it. -1: it was killed. */
static int in_child(int (*body)(void))
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(body());
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- How a child ends ----------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *script;
    int exit_code, signal;
    const char *output, *error;
} endings[] = {
    {"exit 0", 0, 0, "", ""},
    {"exit 1", 1, 0, "", ""},
    {"exit 255", 255, 0, "", ""},
    {"echo out; echo err >&2; exit 3", 3, 0, "out\n", "err\n"},
    {"kill -9 $$", -1, SIGKILL, "", ""},
    {"echo before; kill -SEGV $$", -1, SIGSEGV, "before\n", ""},
    {"kill -INT $$", -1, SIGINT, "", ""},
    {"printf 'a\\0b'", 0, 0, "a", ""},
    {"cat", 0, 0, "", ""}, /* standard input is empty */
    {"read line && echo \"$line\"", 1, 0, "", ""},
    /* closes its output and lives on: its end still decides */
    {"exec >&- 2>&-; sleep 0.2; exit 7", 7, 0, "", ""},
};
/* clang-format on */

START_TEST(ending)
{
    struct process_result result = shell(endings[_i].script);
    ck_assert_int_eq(result.exit_code, endings[_i].exit_code);
    ck_assert_int_eq(result.signalled, endings[_i].signal != 0);
    ck_assert_int_eq(result.signal, endings[_i].signal);
    ck_assert_str_eq(bytes_text(&result.output), endings[_i].output);
    ck_assert_str_eq(bytes_text(&result.error), endings[_i].error);
    ck_assert(!result.timed_out && !result.output_cut && !result.error_cut);
    ck_assert(result.wall_ns > 0 && result.wall_ns < SOON);
    process_result_release(&result);
}
END_TEST

START_TEST(what_cannot_start)
{
    AUTO_FREE char *plain = path_join(testing_temporary_folder(), "process-plain");
    AUTO_FREE char *garbage = path_join(testing_temporary_folder(), "process-garbage");
    testing_write(plain, "#!/bin/sh\n", 10);
    testing_write(garbage, "\1\2\3\4", 4);
    ck_assert_int_eq(chmod(garbage, 0755), 0);
    const struct {
        const char *program, *directory, *why;
    } rows[] = {
        {"/nowhere/nvcc", NULL, "No such file"},
        {"/tmp", NULL, "Permission denied"},
        {plain, NULL, "Permission denied"},
        {garbage, NULL, "Exec format error"},
        {"sh", NULL, "No such file"}, /* a path, never searched for */
        {"/bin/sh", "/nowhere", "No such file"},
        {"/bin/sh", "/etc/passwd", "Not a directory"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        const char *const argv[] = {rows[i].program, NULL};
        const struct process_spec spec = {
            .argv = argv, .directory = rows[i].directory, .output_limit = 100};
        struct process_result result;
        struct error err = {0};
        ck_assert_int_eq(process_run(&result, &spec, &err), -1);
        ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
        ck_assert_msg(strstr(err.text, rows[i].why) != NULL && strstr(err.text, argv[0]) != NULL,
                      "row %zu: %s", i, err.text);
        ck_assert(result.output.data == NULL && result.error.data == NULL);
    }
}
END_TEST

/* ---- What a child gets ----------------------------------------------------------------------- */

START_TEST(environment_is_exact)
{
    ck_assert_int_eq(setenv("NVCC_APPEND_FLAGS", "-G", 1), 0);
    const char *const argv[] = {"/usr/bin/env", NULL};
    const char *const given[] = {"ONE=1", "TWO=2 and more", NULL};
    const struct {
        const char *const *environment;
        const char *expected;
    } rows[] = {{given, "ONE=1\nTWO=2 and more\n"}, {NULL, ""}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct process_result result;
        struct error err = {0};
        const struct process_spec spec = {
            .argv = argv, .environment = rows[i].environment, .output_limit = 1000};
        ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
        ck_assert_str_eq(bytes_text(&result.output), rows[i].expected);
        process_result_release(&result);
    }
}
END_TEST

START_TEST(directory_is_entered)
{
    struct process_result result = shell_with((struct process_spec){.directory = "/usr"}, "pwd");
    ck_assert_str_eq(bytes_text(&result.output), "/usr\n");
    process_result_release(&result);
}
END_TEST

/* A descriptor that somebody above us left open (a lock, a job server) is not passed on. */
START_TEST(no_descriptor_leaks)
{
    int leak = open("/dev/null", O_RDONLY);
    int high = fcntl(leak, F_DUPFD, 200);
    ck_assert(leak >= 0 && high >= 200);
    struct process_result result =
        shell("for fd in /proc/self/fd/*; do test -e $fd && echo ${fd##*/}; done | sort -n | "
              "awk '$1 > 2 && $1 < 10 || $1 >= 200'; test -e /proc/self/fd/200 && echo leaked");
    ck_assert_msg(strstr(bytes_text(&result.output), "200") == NULL &&
                      strstr(bytes_text(&result.output), "leaked") == NULL,
                  "%s", bytes_text(&result.output));
    process_result_release(&result);
    (void)close(leak);
    (void)close(high);
}
END_TEST

START_TEST(signals_are_as_new)
{
    process_catch_interrupts();
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
    struct process_result result = shell("sed -n 's/^Sig[BI][lg][kn]:[^0-9a-f]*//p' "
                                         "/proc/self/status");
    const char *text = bytes_text(&result.output);
    for (size_t i = 0; i < 2; ++i, text += 17) {
        AUTO_FREE char *mask = NULL;
        uint64_t bits = 0;
        ck_assert_int_ge(asprintf(&mask, "0x%.16s", text), 0);
        ck_assert_msg(number_parse_u64(mask, UINT64_MAX, &bits), "%s", mask);
        /* Signals 32 and 33 belong to the C library, which does not let us touch them. */
        ck_assert_uint_eq(bits & ~UINT64_C(0x180000000), 0);
    }
    process_result_release(&result);
}
END_TEST

/* The program may be started with its standard descriptors closed. */
static int run_without_descriptors(void)
{
    for (int fd = 0; fd < 3; ++fd)
        (void)close(fd);
    const char *const argv[] = {"/bin/sh", "-c", "read x; echo out; echo err >&2; exit 5", NULL};
    const char *const missing[] = {"/nowhere/program", NULL};
    struct process_spec spec = {.argv = argv, .output_limit = 100};
    struct process_result result;
    struct error err = {0};
    if (process_run(&result, &spec, &err) != 0)
        return 1;
    bool right = result.exit_code == 5 && strcmp(bytes_text(&result.output), "out\n") == 0 &&
                 strcmp(bytes_text(&result.error), "err\n") == 0;
    process_result_release(&result);
    spec.argv = missing;
    if (process_run(&result, &spec, &err) == 0)
        return 2;
    return right ? 0 : 3;
}

START_TEST(closed_standard_descriptors)
{
    ck_assert_int_eq(in_child(run_without_descriptors), 0);
}
END_TEST

static int run_with_children_ignored(void)
{
    const char *const argv[] = {"/bin/sh", "-c", "exit 3", NULL};
    const struct process_spec spec = {.argv = argv, .output_limit = 100};
    struct process_result result;
    struct error err = {0};
    (void)signal(SIGCHLD, SIG_IGN);
    /* How it ended cannot be known: that is an error, never "exit code 0". */
    if (process_run(&result, &spec, &err) == 0 || err.kind != ERROR_INFRASTRUCTURE)
        return 1;
    process_catch_interrupts();
    err = (struct error){0};
    if (process_run(&result, &spec, &err) != 0)
        return 2;
    return result.exit_code == 3 ? 0 : 3;
}

START_TEST(ignored_children)
{
    ck_assert_int_eq(in_child(run_with_children_ignored), 0);
}
END_TEST

/* ---- Limits ---------------------------------------------------------------------------------- */

START_TEST(output_is_capped)
{
    const struct {
        const char *script;
        size_t limit, length;
        bool cut;
    } rows[] = {
        {"head -c 3000000 /dev/zero | tr '\\0' x", 1000, 1000, true},
        {"printf 12345", 5, 5, false},
        {"printf 123456", 5, 5, true},
        {"head -c 200000 /dev/zero", (size_t)1 << 20, 200000, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct process_result result =
            shell_with((struct process_spec){.output_limit = rows[i].limit}, rows[i].script);
        ck_assert_int_eq(result.exit_code, 0);
        ck_assert_uint_eq(result.output.length, rows[i].length);
        ck_assert_int_eq(result.output_cut, rows[i].cut);
        ck_assert(!result.error_cut);
        process_result_release(&result);
    }
}
END_TEST

START_TEST(no_room_at_all)
{
    const char *const argv[] = {"/bin/sh", "-c", "echo out; echo err >&2", NULL};
    const struct process_spec spec = {.argv = argv};
    struct process_result result;
    struct error err = {0};
    ck_assert_int_eq(process_run(&result, &spec, &err), 0);
    ck_assert_str_eq(bytes_text(&result.output), "");
    ck_assert(result.output_cut && result.error_cut);
    process_result_release(&result);
}
END_TEST

START_TEST(streams_merge_in_order)
{
    struct process_result result =
        shell_with((struct process_spec){.merge_error = true}, "echo a; echo b >&2; echo c");
    ck_assert_str_eq(bytes_text(&result.output), "a\nb\nc\n");
    ck_assert_str_eq(bytes_text(&result.error), "");
    process_result_release(&result);
}
END_TEST

START_TEST(resource_limits)
{
    struct process_spec spec = {.memory_bytes = (uint64_t)3 << 30, .cpu_seconds = 77};
    struct process_result result = shell_with(spec, "ulimit -v; ulimit -t; ulimit -c");
    ck_assert_str_eq(bytes_text(&result.output), "3145728\n77\n0\n");
    process_result_release(&result);
    spec = (struct process_spec){.file_bytes = 100000};
    result = shell_with(spec, "exec dd if=/dev/zero of=\"$1/process-big\" bs=4096 count=100");
    ck_assert(result.signalled);
    ck_assert_int_eq(result.signal, SIGXFSZ);
    process_result_release(&result);
}
END_TEST

/* ---- The wall clock, and what it leaves ------------------------------------------------------ */

/* clang-format off */
static const char *const sleepers[] = {
    "exec sleep 300",
    "sleep 300 & echo $!; sleep 300",          /* a grandchild holds the pipes */
    "exec >&- 2>&-; sleep 300",                /* nobody holds them */
    "trap '' TERM INT HUP; sleep 300; sleep 300",
    "while :; do echo flood; done",
};
/* clang-format on */

START_TEST(wall_clock)
{
    struct process_result result =
        shell_with((struct process_spec){.wall_ns = SECOND / 2}, sleepers[_i]);
    ck_assert(result.timed_out && result.signalled);
    ck_assert_int_eq(result.signal, SIGKILL);
    ck_assert(result.wall_ns >= SECOND / 2 && result.wall_ns < SOON);
    if (_i == 1)
        assert_dies(pid_in(bytes_text(&result.output)));
    process_result_release(&result);
}
END_TEST

/* The child's end is the end: a grandchild that holds the pipes open cannot keep us. */
START_TEST(grandchild_is_left_behind)
{
    struct process_result result = shell_with((struct process_spec){0}, "sleep 300 & echo $!");
    ck_assert(!result.timed_out && !result.signalled);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert(result.wall_ns < SOON);
    assert_dies(pid_in(bytes_text(&result.output)));
    process_result_release(&result);
}
END_TEST

/* One with a session of its own cannot be killed with the group, but cannot keep us either. */
START_TEST(escaped_grandchild_cannot_keep_us)
{
    static const char *const scripts[] = {
        "setsid sh -c 'echo $$; exec sleep 300' & sleep 0.3",
        "setsid sh -c 'echo $$; while :; do echo flood; done' & sleep 0.3",
    };
    for (size_t i = 0; i < COUNT_OF(scripts); ++i) {
        struct process_result result = shell_with((struct process_spec){0}, scripts[i]);
        ck_assert_int_eq(result.exit_code, 0);
        ck_assert(result.wall_ns < SOON);
        pid_t escaped = pid_in(bytes_text(&result.output));
        process_result_release(&result);
        (void)kill(escaped, SIGKILL);
        assert_dies(escaped);
    }
}
END_TEST

/* ---- Interrupts ------------------------------------------------------------------------------ */

static char pid_file[4096];

/* Returns 130 when the run said "interrupted". */
static int run_until_interrupted(void)
{
    process_catch_interrupts();
    char script[4200];
    (void)snprintf(script, sizeof script,
                   "trap '' INT TERM HUP; sh -c 'sleep 300; sleep 300' & echo $! > '%s'; wait",
                   pid_file);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    const struct process_spec spec = {
        .argv = argv, .environment = environment, .output_limit = 100};
    struct process_result result;
    struct error err = {0};
    if (process_run(&result, &spec, &err) == 0)
        return 1;
    if (result.output.data != NULL)
        return 2;
    return err.kind == ERROR_INTERRUPTED && process_interrupted() ? 130 : 3;
}

START_TEST(interrupts)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};
    (void)snprintf(pid_file, sizeof pid_file, "%s/process-pid-%d", testing_temporary_folder(), _i);
    pid_t parent = fork();
    ck_assert_int_ge(parent, 0);
    if (parent == 0)
        _exit(run_until_interrupted());
    pid_t grandchild = wait_for_pid(pid_file);
    ck_assert(!is_dead(grandchild));
    ck_assert_int_eq(kill(parent, signals[_i]), 0);
    int status = 0;
    ck_assert_int_eq(waitpid(parent, &status, 0), parent);
    if (signals[_i] == SIGKILL) {
        /* The child dies with us; what it started itself may stay, so it is cleared away here. */
        (void)kill(-getpgid(grandchild), SIGKILL);
        return;
    }
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 130);
    assert_dies(grandchild);
}
END_TEST

/* nohup, and the background jobs of a script, ignore a signal on purpose. */
static int ignore_and_catch(void)
{
    (void)signal(SIGHUP, SIG_IGN);
    process_catch_interrupts();
    (void)raise(SIGHUP);
    if (process_interrupted())
        return 1;
    (void)raise(SIGTERM);
    return process_interrupted() ? 0 : 2;
}

START_TEST(ignored_signals_stay_ignored)
{
    ck_assert_int_eq(in_child(ignore_and_catch), 0);
}
END_TEST

/* ---- Several at once ------------------------------------------------------------------------- */

struct parallel {
    pthread_t thread;
    unsigned number, wrong;
};

static void *run_many(void *argument)
{
    struct parallel *self = argument;
    for (unsigned i = 0; i < 15; ++i) {
        char script[64], expected[64];
        (void)snprintf(script, sizeof script, "echo %u.%u; exit %u", self->number, i, i);
        (void)snprintf(expected, sizeof expected, "%u.%u\n", self->number, i);
        const char *const argv[] = {"/bin/sh", "-c", script, NULL};
        const struct process_spec spec = {.argv = argv, .output_limit = 100, .wall_ns = SOON};
        struct process_result result;
        struct error err = {0};
        if (process_run(&result, &spec, &err) != 0 || result.exit_code != (int)i ||
            strcmp(bytes_text(&result.output), expected) != 0)
            ++self->wrong;
        process_result_release(&result);
    }
    return NULL;
}

START_TEST(threads_do_not_mix)
{
    struct parallel threads[6] = {0};
    for (unsigned i = 0; i < COUNT_OF(threads); ++i) {
        threads[i].number = i;
        ck_assert_int_eq(pthread_create(&threads[i].thread, NULL, run_many, &threads[i]), 0);
    }
    for (unsigned i = 0; i < COUNT_OF(threads); ++i) {
        ck_assert_int_eq(pthread_join(threads[i].thread, NULL), 0);
        ck_assert_uint_eq(threads[i].wrong, 0);
    }
}
END_TEST

Suite *suite_process(void)
{
    Suite *suite = suite_create("process");
    TCase *tests = tcase_create("process");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, ending, 0, COUNT_OF(endings));
    tcase_add_test(tests, what_cannot_start);
    tcase_add_test(tests, environment_is_exact);
    tcase_add_test(tests, directory_is_entered);
    tcase_add_test(tests, no_descriptor_leaks);
    tcase_add_test(tests, signals_are_as_new);
    tcase_add_test(tests, closed_standard_descriptors);
    tcase_add_test(tests, ignored_children);
    tcase_add_test(tests, output_is_capped);
    tcase_add_test(tests, no_room_at_all);
    tcase_add_test(tests, streams_merge_in_order);
    tcase_add_test(tests, resource_limits);
    tcase_add_loop_test(tests, wall_clock, 0, COUNT_OF(sleepers));
    tcase_add_test(tests, grandchild_is_left_behind);
    tcase_add_test(tests, escaped_grandchild_cannot_keep_us);
    tcase_add_loop_test(tests, interrupts, 0, 4);
    tcase_add_test(tests, ignored_signals_stay_ignored);
    tcase_add_test(tests, threads_do_not_mix);
    suite_add_tcase(suite, tests);
    return suite;
}

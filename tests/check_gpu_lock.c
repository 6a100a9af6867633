/* The lock on a GPU, tried without one: any 16 bytes do for a UUID. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "gpu_lock.h"
#include "process.h"

#define SECOND_NS INT64_C(1000000000)

static const unsigned char uuid[GPU_UUID_BYTES] = "a device of ours";
static const unsigned char other[GPU_UUID_BYTES] = "another device!!";

static int take(const unsigned char *which, int64_t wall_ns, struct error *err)
{
    return gpu_lock_take(which, testing_temporary_folder(), wall_ns, err);
}

START_TEST(one_at_a_time)
{
    struct error err = {0};
    AUTO_CLOSE int mine = take(uuid, SECOND_NS, &err);
    ck_assert_msg(mine >= 0, "%s", err.text);
    AUTO_CLOSE int beside = take(other, SECOND_NS, &err);
    ck_assert_msg(beside >= 0, "%s", err.text);
    int64_t began = process_now_ns();
    ck_assert_int_eq(take(uuid, SECOND_NS / 5, &err), -1);
    ck_assert_int_ge(process_now_ns() - began, SECOND_NS / 5);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    (void)close(steal_fd(&mine));
    err = (struct error){0};
    AUTO_CLOSE int again = take(uuid, SECOND_NS, &err);
    ck_assert_msg(again >= 0, "%s", err.text);
}
END_TEST

/* Whoever is killed lets go. */
START_TEST(death_unlocks)
{
    struct error err = {0};
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int held = take(uuid, SECOND_NS, &err);
        (void)!write(ready[1], "x", held >= 0);
        (void)pause();
        _exit(0);
    }
    char byte;
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(take(uuid, SECOND_NS / 10, &err), -1);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    err = (struct error){0};
    AUTO_CLOSE int mine = take(uuid, SECOND_NS, &err);
    ck_assert_msg(mine >= 0, "%s", err.text);
}
END_TEST

/* A run goes on without a lock where none can be had. */
START_TEST(nowhere_to_lock)
{
    struct error err = {0};
    ck_assert_int_eq(gpu_lock_take(uuid, "/nowhere/at/all", SECOND_NS, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_NONE);
    /* Nor does a link lead anywhere. */
    char path[4096], target[4096];
    (void)snprintf(target, sizeof target, "%s/made-by-a-link", testing_temporary_folder());
    static const unsigned char linked[GPU_UUID_BYTES] = "a linked device!";
    char name[80] = "";
    for (size_t i = 0; i < sizeof linked; ++i)
        (void)snprintf(name + 2 * i, 3, "%02x", linked[i]);
    (void)snprintf(path, sizeof path, "%s/spillway-gpu-%s.lock", testing_temporary_folder(), name);
    ck_assert_int_eq(symlink(target, path), 0);
    ck_assert_int_eq(take(linked, SECOND_NS, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_NONE);
    ck_assert_int_ne(access(target, F_OK), 0);
}
END_TEST

Suite *suite_gpu_lock(void)
{
    Suite *suite = suite_create("gpu_lock");
    TCase *tests = tcase_create("gpu_lock");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, one_at_a_time);
    tcase_add_test(tests, death_unlocks);
    tcase_add_test(tests, nowhere_to_lock);
    suite_add_tcase(suite, tests);
    return suite;
}

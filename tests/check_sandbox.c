/* The sandbox of compiles and workers, tried from the inside: a shell script plays the compiler. */
#include "testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "files.h"
#include "sandbox.h"
#include "sandbox_kernel.h"

#define ORDINARY_USER 65534

/* ---- A compiler of our own ------------------------------------------------------------------- */

struct workplace {
    char *folder; /* writable from the inside */
    char secret[128], script[160];
};

static struct workplace make_workplace(const char *script)
{
    struct error err = {0};
    struct workplace place = {.folder = temporary_folder_create(&err)};
    ck_assert_msg(place.folder != NULL, "%s", err.text);
    ck_assert_int_eq(chmod(place.folder, 0777), 0);
    (void)snprintf(place.secret, sizeof place.secret, "%s.secret", place.folder);
    testing_write(place.secret, "the grades\n", 11);
    (void)snprintf(place.script, sizeof place.script, "%s/script", place.folder);
    testing_write(place.script, script, strlen(script));
    return place;
}

static void remove_workplace(struct workplace *place)
{
    (void)unlink(place->secret);
    temporary_folder_remove(place->folder);
}

/* `sh script secret arguments`, in the sandbox. */
static struct process_result run_script(const struct sandbox *sandbox,
                                        const struct workplace *place, const char *argument,
                                        int64_t wall_ns)
{
    char variable[256];
    (void)snprintf(variable, sizeof variable, "TMPDIR=%s", sandbox_folder(sandbox, place->folder));
    const char *const argv[] = {"/bin/bash", "script", place->secret, argument, NULL};
    const char *const environment[] = {"PATH=/usr/bin:/bin", variable, NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = wall_ns,
                                      .file_bytes = 1 << 20,
                                      .output_limit = 65536,
                                      .merge_error = true};
    const struct sandbox_view view = {.folder = place->folder};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(sandbox_run(&result, sandbox, &spec, &view, &err) == 0, "%s", err.text);
    return result;
}

static bool has_level(enum sandbox_level level)
{
    const struct sandbox *machine = sandbox_probe();
    switch (level) {
    case SANDBOX_BUBBLEWRAP:
        return machine->level == SANDBOX_BUBBLEWRAP;
    case SANDBOX_KERNEL:
        return machine->landlock_abi >= 3 && machine->seccomp;
    case SANDBOX_LIMITS:
        break;
    }
    return true;
}

static struct sandbox at_level(enum sandbox_level level)
{
    struct sandbox sandbox = *sandbox_probe();
    sandbox.level = level;
    return sandbox;
}

/* A test of its own process may become an ordinary user for good. */
static bool become_ordinary(void)
{
    return geteuid() != 0 ||
           (setgroups(0, NULL) == 0 && setgid(ORDINARY_USER) == 0 && setuid(ORDINARY_USER) == 0);
}

/* ---- What cannot be done --------------------------------------------------------------------- */

static const enum sandbox_level walls[] = {SANDBOX_BUBBLEWRAP, SANDBOX_KERNEL};

/* Each prints REACHED when it got what it wanted. $1 is a file outside, $2 a number. */
static const struct {
    const char *what, *script;
    bool needs_namespaces; /* a promise of bubblewrap alone */
} attempts[] = {
    /* clang-format off */
    {"read the account file", "grep -q root /etc/passwd && echo REACHED", false},
    {"read a neighbour", "grep -q grades \"$1\" && echo REACHED", false},
    {"see that a neighbour exists", "test -e \"$1\" && echo REACHED", true},
    {"list the folder above", "ls /tmp | grep -q . && echo REACHED", false},
    {"list a home", "ls /root /home 2>/dev/null | grep -q . && echo REACHED", false},
    {"append to a neighbour", "echo x >> \"$1\" && echo REACHED", false},
    {"remove a neighbour", "rm \"$1\" && echo REACHED", false},
    {"write beside the folder", "echo x > /tmp/spillway-escaped && echo REACHED", false},
    {"make a folder at the top", "mkdir /made && echo REACHED", false},
    {"write into the system", "echo x > /usr/bin/spillway-escaped && echo REACHED", false},
    {"make the system writable",
     "mount -o remount,rw /usr && echo x > /usr/bin/spillway-escaped && echo REACHED", false},
    {"mount something", "mount -t tmpfs none /usr && echo REACHED", false},
    {"make a device", "mknod d b 8 0 && echo REACHED", false},
    {"make a namespace", "unshare -U true && echo REACHED", false},
    {"connect to a server", "exec 3<>/dev/tcp/127.0.0.1/$2 && echo REACHED", false},
    {"follow a link out", "ln -s \"$1\" link; grep -q grades link && echo REACHED", false},
    {"make a hard link out", "ln \"$1\" link && grep -q grades link && echo REACHED", false},
    {"see other processes", "ls /proc | grep -q '^[0-9]*$' && echo REACHED", false},
    {"signal another process", "kill -0 $2 && echo REACHED", false},
    {"find secrets in the environment", "env | grep -q SPILLWAY && echo REACHED", false},
    {"fill the disk", "head -c 2000000 /usr/bin/bash > big && cat big big big > more && echo REACHED",
     false},
    {"leave shared memory", "ipcmk -M 4096 && echo REACHED", false},
    {"reach a device", "head -c 1 /dev/urandom && echo REACHED", false},
    {"put something beside it", "echo x >/dev/made && echo REACHED", false},
    {"put something in its place", "rm /dev/null && echo x >/dev/null && echo REACHED", false},
    /* clang-format on */
};

static int listen_somewhere(uint16_t *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(fd, 8), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void try_everything(enum sandbox_level level)
{
    struct sandbox sandbox = at_level(level);
    uint16_t port = 0;
    int server = listen_somewhere(&port);
    (void)setenv("SPILLWAY_SECRET", "x", 1);
    for (size_t i = 0; i < COUNT_OF(attempts); ++i) {
        if (attempts[i].needs_namespaces && level != SANDBOX_BUBBLEWRAP)
            continue;
        struct workplace place = make_workplace(attempts[i].script);
        char number[16];
        bool wants_port = strstr(attempts[i].script, "/dev/tcp") != NULL;
        (void)snprintf(number, sizeof number, "%u",
                       wants_port ? (unsigned)port : (unsigned)getpid());
        struct process_result result = run_script(&sandbox, &place, number, INT64_C(30000000000));
        ck_assert_msg(strstr(bytes_text(&result.output), "REACHED") == NULL, "%s: could %s: %s",
                      sandbox_word(&sandbox), attempts[i].what, bytes_text(&result.output));
        struct stat info;
        ck_assert_msg(stat(place.secret, &info) == 0 && info.st_size == 11,
                      "%s: could %s: the neighbour's file has changed", sandbox_word(&sandbox),
                      attempts[i].what);
        process_result_release(&result);
        remove_workplace(&place);
    }
    (void)close(server);
    ck_assert_int_ne(access("/tmp/spillway-escaped", F_OK), 0);
    ck_assert_int_ne(access("/usr/bin/spillway-escaped", F_OK), 0);
}

START_TEST(walls_hold)
{
    if (!has_level(walls[_i]))
        TEST_SKIP("this machine has no %s", _i == 0 ? "bubblewrap" : "Landlock and seccomp");
    try_everything(walls[_i]);
}
END_TEST

START_TEST(walls_hold_for_an_ordinary_user)
{
    if (!become_ordinary())
        TEST_SKIP("cannot become an ordinary user");
    if (!has_level(walls[_i]))
        TEST_SKIP("an ordinary user has no %s here", _i == 0 ? "bubblewrap" : "Landlock");
    try_everything(walls[_i]);
}
END_TEST

/* The same attempts succeed outside: otherwise the scripts would prove nothing. */
START_TEST(attempts_are_real)
{
    static const char *const real[] = {"read the account file", "read a neighbour",
                                       "connect to a server",   "append to a neighbour",
                                       "see other processes",   "signal another process"};
    struct sandbox sandbox = at_level(SANDBOX_LIMITS);
    uint16_t port = 0;
    int server = listen_somewhere(&port);
    for (size_t i = 0; i < COUNT_OF(attempts); ++i)
        for (size_t k = 0; k < COUNT_OF(real); ++k) {
            if (strcmp(attempts[i].what, real[k]) != 0)
                continue;
            struct workplace place = make_workplace(attempts[i].script);
            char number[16];
            bool wants_port = strstr(attempts[i].script, "/dev/tcp") != NULL;
            (void)snprintf(number, sizeof number, "%u",
                           wants_port ? (unsigned)port : (unsigned)getpid());
            struct process_result result =
                run_script(&sandbox, &place, number, INT64_C(30000000000));
            ck_assert_msg(strstr(bytes_text(&result.output), "REACHED") != NULL,
                          "outside of any sandbox one cannot %s: %s", attempts[i].what,
                          bytes_text(&result.output));
            process_result_release(&result);
            remove_workplace(&place);
        }
    (void)close(server);
}
END_TEST

/* ---- What still works, and how it ends ------------------------------------------------------- */

static const enum sandbox_level all_levels[] = {SANDBOX_BUBBLEWRAP, SANDBOX_KERNEL, SANDBOX_LIMITS};

START_TEST(endings_are_told_apart)
{
    static const struct {
        const char *script;
        int exit_code, signal; /* signal 0: none */
        const char *says;
    } rows[] = {
        {"exit 0", 0, 0, ""},
        {"echo hello; exit 1", 1, 0, "hello"},
        {"exit 77", 77, 0, ""},
        {"kill -SEGV $$", -1, SIGSEGV, ""},
        {"kill -KILL $$", -1, SIGKILL, ""},
        {"head -c 2000000 /usr/bin/bash >big; cat big big big >more", -1, SIGXFSZ, ""},
        {"echo out; echo err >&2; cat < /dev/stdin", 0, 0, "out\nerr\n"},
        {"echo x > made && cat made", 0, 0, "x"},
        {"echo \"$TMPDIR\"; echo y > \"$TMPDIR/made\" && cat made", 0, 0, "y"},
        {"echo 'bwrap: Can not mount'; exit 1", 1, 0, "bwrap: Can not mount"},
        {"echo x >/dev/null && cat /dev/null && echo thrown away", 0, 0, "thrown away"},
        {"ulimit -n", 0, 0, "256"},
        {"ulimit -c", 0, 0, "0"},
    };
    if (!has_level(all_levels[_i]))
        TEST_SKIP("level %d is not to be had here", _i);
    struct sandbox sandbox = at_level(all_levels[_i]);
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        /* Under seccomp a shell cannot signal itself by kill. */
        if (strstr(rows[i].script, "kill") != NULL && all_levels[_i] != SANDBOX_LIMITS)
            continue;
        bool reads_stdin = strstr(rows[i].script, "/dev/stdin") != NULL;
        if (reads_stdin && all_levels[_i] != SANDBOX_LIMITS)
            continue;
        struct workplace place = make_workplace(rows[i].script);
        struct process_result result = run_script(&sandbox, &place, "", INT64_C(30000000000));
        bool exec_last = rows[i].signal == SIGXFSZ; /* the shell reports its child's signal */
        int signal_seen = result.signalled                      ? result.signal
                          : exec_last && result.exit_code > 128 ? result.exit_code - 128
                                                                : 0;
        ck_assert_msg(!result.timed_out && signal_seen == rows[i].signal &&
                          (rows[i].signal != 0 || result.exit_code == rows[i].exit_code),
                      "%s: `%s` ended with %d, signal %d: %s", sandbox_word(&sandbox),
                      rows[i].script, result.exit_code, result.signal, bytes_text(&result.output));
        ck_assert_msg(strstr(bytes_text(&result.output), rows[i].says) != NULL, "%s: `%s` said: %s",
                      sandbox_word(&sandbox), rows[i].script, bytes_text(&result.output));
        process_result_release(&result);
        remove_workplace(&place);
    }
}
END_TEST

/* What the script started lives no longer than the sandbox: it would write after a while. */
START_TEST(nothing_outlives_it)
{
    static const struct {
        const char *script;
        bool ends; /* else the wall clock ends it */
    } rows[] = {
        {"(sleep 1; echo x > late) >/dev/null 2>&1 & exit 0", true},
        {"(sleep 1; echo x > late) & sleep 100", false},
        {"(setsid sh -c 'sleep 1; echo x > late') >/dev/null 2>&1 & exit 0", true},
        {"trap '' TERM INT HUP; while :; do sleep 1; echo x > late; done", false},
    };
    if (!has_level(all_levels[_i]))
        TEST_SKIP("level %d is not to be had here", _i);
    struct sandbox sandbox = at_level(all_levels[_i]);
    struct workplace places[COUNT_OF(rows)];
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        places[i] = make_workplace(rows[i].script);
        if (strstr(rows[i].script, "setsid") != NULL && all_levels[_i] == SANDBOX_LIMITS)
            continue;
        struct process_result result = run_script(
            &sandbox, &places[i], "", rows[i].ends ? INT64_C(30000000000) : INT64_C(400000000));
        ck_assert_int_eq(result.timed_out, !rows[i].ends);
        process_result_release(&result);
    }
    const struct timespec pause = {.tv_sec = 2};
    (void)nanosleep(&pause, NULL);
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char path[200];
        (void)snprintf(path, sizeof path, "%s/late", places[i].folder);
        ck_assert_msg(access(path, F_OK) != 0, "%s: `%s` lived on", sandbox_word(&sandbox),
                      rows[i].script);
        remove_workplace(&places[i]);
    }
}
END_TEST

static void *run_one(void *argument)
{
    const struct sandbox *sandbox = argument;
    for (int i = 0; i < 5; ++i) {
        struct workplace place = make_workplace("echo $((6 * 7)) > answer; cat answer");
        struct process_result result = run_script(sandbox, &place, "", INT64_C(30000000000));
        ck_assert_str_eq(bytes_text(&result.output), "42\n");
        process_result_release(&result);
        remove_workplace(&place);
    }
    return NULL;
}

START_TEST(several_at_once)
{
    if (!has_level(all_levels[_i]))
        TEST_SKIP("level %d is not to be had here", _i);
    struct sandbox sandbox = at_level(all_levels[_i]);
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT_OF(threads); ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_one, &sandbox), 0);
    for (size_t i = 0; i < COUNT_OF(threads); ++i)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

/* ---- Where bubblewrap is missing or does not work -------------------------------------------- */

static void use_path(const char *bwrap_script, char folder[256])
{
    char path[300];
    (void)snprintf(folder, 256, "%s/bin-XXXXXX", testing_temporary_folder());
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (bwrap_script != NULL) {
        (void)snprintf(path, sizeof path, "%s/bwrap", folder);
        testing_write(path, bwrap_script, strlen(bwrap_script));
        ck_assert_int_eq(chmod(path, 0755), 0);
    }
    ck_assert_int_eq(setenv("PATH", folder, 1), 0);
}

START_TEST(falls_back)
{
    static const struct {
        const char *script; /* NULL: not installed */
        const char *trouble;
    } rows[] = {
        {NULL, "not installed"},
        {"#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
         "No permissions to create new namespace"},
        {"#!/bin/sh\necho 'bwrap: No permissions to create new namespace, likely because the "
         "kernel "
         "does not allow non-privileged user namespaces. See <https://deb.li/bubblewrap> or "
         "<file:///usr/share/doc/bubblewrap/README.Debian.gz>.' >&2\nexit 1\n",
         "(the sandbox cannot be set up: No permissions to create new namespace)"},
        {"#!/bin/sh\nexit 0\n", "ended without a word"},
        {"#!/bin/sh\nkill -9 $$\n", "does not work"},
        {"not a program\n", "does not work"},
    };
    char folder[256];
    use_path(rows[_i].script, folder);
    const struct sandbox *machine = sandbox_probe();
    ck_assert_int_ne(machine->level, SANDBOX_BUBBLEWRAP);
    ck_assert_msg(strstr(machine->trouble, rows[_i].trouble) != NULL, "%s", machine->trouble);
    struct sandbox sandbox;
    struct error err = {0};
    ck_assert_int_eq(sandbox_choose(&sandbox, SANDBOX_AUTO, &err), 0);
    struct bytes lost = bytes_with_limit(1000), remedy = bytes_with_limit(1000);
    sandbox_lost(&sandbox, &lost);
    sandbox_remedy(&sandbox, &remedy);
    ck_assert_uint_gt(lost.length, 20);
    ck_assert_msg(strstr(bytes_text(&remedy), rows[_i].script == NULL ? "apt-get install bubblewrap"
                                                                      : "user namespaces"),
                  "%s", bytes_text(&remedy));
    bytes_release(&lost);
    bytes_release(&remedy);
    ck_assert_int_eq(sandbox_choose(&sandbox, SANDBOX_ON, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_ptr_nonnull(strstr(err.text, "--sandbox on"));
}
END_TEST

START_TEST(off_means_limits)
{
    struct sandbox sandbox;
    struct error err = {0};
    ck_assert_int_eq(sandbox_choose(&sandbox, SANDBOX_OFF, &err), 0);
    ck_assert_str_eq(sandbox_word(&sandbox), "limits");
    static const struct {
        const char *word;
        bool known;
        enum sandbox_mode mode;
    } rows[] = {{"auto", true, SANDBOX_AUTO},
                {"on", true, SANDBOX_ON},
                {"off", true, SANDBOX_OFF},
                {"", false, 0},
                {"On", false, 0},
                {"yes", false, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        enum sandbox_mode mode = SANDBOX_AUTO;
        ck_assert_int_eq(sandbox_parse_mode(rows[i].word, &mode), rows[i].known);
        if (rows[i].known)
            ck_assert_int_eq(mode, rows[i].mode);
    }
}
END_TEST

/* A bubblewrap that broke after the probe is the machine's trouble, never a compiler's refusal. */
START_TEST(broken_bubblewrap_is_no_compile_error)
{
    char folder[256];
    use_path("#!/bin/sh\necho 'registers.cu(3): error: no'\nexit 1\n", folder);
    struct sandbox sandbox = {.level = SANDBOX_BUBBLEWRAP};
    (void)snprintf(sandbox.bubblewrap, sizeof sandbox.bubblewrap, "%s/bwrap", folder);
    static const char *const argv[] = {"/bin/true", NULL};
    const struct process_spec spec = {.argv = argv, .output_limit = 1000, .merge_error = true};
    const struct sandbox_view view = {0};
    struct process_result result;
    struct error err = {0};
    ck_assert_int_eq(sandbox_run(&result, &sandbox, &spec, &view, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
}
END_TEST

/* ---- Workers --------------------------------------------------------------------------------- */

static void *touch(void *argument)
{
    *(int *)argument = 1;
    return NULL;
}

/* A server on a local socket, as docker has one. */
static bool reaches_local_server(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

/* Runs in a child, confined. Which thing could be done all the same; 0: none, and what a worker
 * needs works. */
static int try_from_a_worker(int inherited, enum sandbox_worker worker, const char *server)
{
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_NETLINK, SOCK_RAW, 0) >= 0)
        return 1;
    if (open("/etc/passwd", O_RDONLY) >= 0 || open(server, O_RDONLY) >= 0)
        return 2;
    if (open("/tmp/spillway-escaped", O_WRONLY | O_CREAT, 0600) >= 0 ||
        mkdir("/tmp/spillway-x", 0700) == 0)
        return 3;
    if (kill(getppid(), 0) == 0)
        return 4;
    if (reaches_local_server(server))
        return 5;
    if (unlink(server) == 0 || rename(server, "/tmp/spillway-escaped") == 0 ||
        chmod(server, 0) == 0)
        return 6;
/* A sanitizer needs processes (to look for leaks, to name lines): sandbox_kernel.c lets it. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        return 7;
#endif
    (void)execl("/bin/false", "false", (char *)NULL); /* ends with 1 if it works */
    int touched = 0;
    pthread_t thread;
    void *memory = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || pthread_create(&thread, NULL, touch, &touched) != 0 ||
        pthread_join(thread, NULL) != 0 || touched != 1 || write(inherited, "x", 1) != 1)
        return 8;
    bool opens = open("/dev/null", O_RDWR) >= 0, reads = open("/usr/bin/env", O_RDONLY) >= 0;
    if (worker == SANDBOX_GPU ? !opens || !reads : opens || reads)
        return 9;
    return 0;
}

START_TEST(a_worker_is_shut_in)
{
    static const enum sandbox_worker workers[] = {SANDBOX_EMULATOR, SANDBOX_GPU};
    const struct sandbox *machine = sandbox_probe();
    if (!machine->seccomp || machine->landlock_abi < 3)
        TEST_SKIP("this kernel has no Landlock or no seccomp");
    if (_i >= 2 && !become_ordinary())
        TEST_SKIP("cannot become an ordinary user");
    struct error made = {0};
    char *folder = temporary_folder_create(&made);
    ck_assert_msg(folder != NULL, "%s", made.text);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/server", folder);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), channel[2];
    ck_assert_int_eq(bind(server, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(server, 4), 0);
    ck_assert(reaches_local_server(address.sun_path));
    ck_assert_int_eq(pipe(channel), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct error err = {0};
        if (sandbox_confine_worker(workers[_i % 2], &err) != 0)
            _exit(64);
        _exit(try_from_a_worker(channel[1], workers[_i % 2], address.sun_path));
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    (void)close(server);
    temporary_folder_remove(folder);
}
END_TEST

Suite *suite_sandbox(void)
{
    Suite *suite = suite_create("sandbox");
    TCase *cases = tcase_create("sandbox");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, walls_hold, 0, (int)COUNT_OF(walls));
    tcase_add_loop_test(cases, walls_hold_for_an_ordinary_user, 0, (int)COUNT_OF(walls));
    tcase_add_test(cases, attempts_are_real);
    tcase_add_loop_test(cases, endings_are_told_apart, 0, (int)COUNT_OF(all_levels));
    tcase_add_loop_test(cases, nothing_outlives_it, 0, (int)COUNT_OF(all_levels));
    tcase_add_loop_test(cases, several_at_once, 0, (int)COUNT_OF(all_levels));
    tcase_add_loop_test(cases, falls_back, 0, 6);
    tcase_add_test(cases, off_means_limits);
    tcase_add_test(cases, broken_bubblewrap_is_no_compile_error);
    tcase_add_loop_test(cases, a_worker_is_shut_in, 0, 4);
    suite_add_tcase(suite, cases);
    return suite;
}

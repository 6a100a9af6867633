/* check_sandbox_repo.c - what a reader of a stranger's repo can still do once it has shut itself
 * in. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "files.h"
#include "sandbox.h"

static char readable[400], writable[400], secret[400];

static void set_up(void)
{
    char root[300];
    (void)snprintf(root, sizeof root, "%s/reader-XXXXXX", testing_temporary_folder());
    ck_assert_ptr_nonnull(mkdtemp(root));
    (void)snprintf(readable, sizeof readable, "%s/readable", root);
    (void)snprintf(writable, sizeof writable, "%s/writable", root);
    (void)snprintf(secret, sizeof secret, "%s/secret", root);
    ck_assert_int_eq(mkdir(readable, 0700), 0);
    ck_assert_int_eq(mkdir(writable, 0700), 0);
    testing_write(secret, "secret", 6);
    char path[500];
    (void)snprintf(path, sizeof path, "%s/file", readable);
    testing_write(path, "text", 4);
    (void)snprintf(path, sizeof path, "%s/link", readable);
    ck_assert_int_eq(symlink(secret, path), 0);
}

/* ---- Deeds: errno, or 0 when it worked --------------------------------------------------------
 */

static int open_it(const char *folder, const char *name, int flags)
{
    char path[500];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    AUTO_CLOSE int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd >= 0 ? 0 : errno;
}

static int socket_of(int family, int type)
{
    AUTO_CLOSE int fd = socket(family, type | SOCK_CLOEXEC, 0);
    return fd >= 0 ? 0 : errno;
}

static int read_readable(void)
{
    return open_it(readable, "file", O_RDONLY);
}
static int read_through_link(void)
{
    return open_it(readable, "link", O_RDONLY);
}
static int read_secret(void)
{
    return open_it(readable, "../secret", O_RDONLY);
}
static int read_resolver(void)
{
    return open_it("/etc", "hosts", O_RDONLY);
}
static int list_root(void)
{
    return open_it("/", ".", O_RDONLY | O_DIRECTORY);
}
static int write_readable(void)
{
    return open_it(readable, "new", O_WRONLY | O_CREAT);
}
static int write_writable(void)
{
    return open_it(writable, "new", O_WRONLY | O_CREAT);
}
static int use_ip(void)
{
    return socket_of(AF_INET, SOCK_STREAM);
}
static int use_local_socket(void)
{
    return socket_of(AF_UNIX, SOCK_STREAM);
}
static int use_packets(void)
{
    return socket_of(AF_PACKET, SOCK_RAW);
}
static int serve_ip(void)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ? errno : 0;
}
static int run_program(void)
{
    char name[] = "true";
    char *const argv[] = {name, NULL};
    (void)execv("/bin/true", argv);
    return errno;
}
static int kill_parent(void)
{
    return kill(getppid(), 0) == 0 ? 0 : errno;
}
static int have_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, data) != 0)
        return errno;
    uint32_t files = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
    return (data[0].effective & ~files) != 0 || data[1].effective != 0 ? EPERM : 0;
}
static int write_much(void)
{
    char path[500], chunk[4096] = {0};
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)snprintf(path, sizeof path, "%s/much", writable);
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 100; ++i)
        if (write(fd, chunk, sizeof chunk) < 0)
            return errno;
    return 0;
}

/* Sees to the mode of what can be opened, and of nothing else: chmod.c. */
static int open_secret_to_all(void)
{
    return chmod(secret, 0666) == 0 ? 0 : errno;
}
static int set_mode_of_own(void)
{
    char path[500];
    struct stat info;
    (void)snprintf(path, sizeof path, "%s/own", writable);
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || chmod(path, 0444) != 0 || fstat(fd, &info) != 0)
        return errno;
    return (info.st_mode & 0777) == 0444 ? 0 : EIO;
}

#define LANDLOCK true
static const struct {
    int (*deed)(void);
    bool by_landlock; /* who refuses it */
    int offline, online;
} rows[] = {
    {read_readable, LANDLOCK, 0, 0},
    {read_through_link, LANDLOCK, EACCES, EACCES},
    {read_secret, LANDLOCK, EACCES, EACCES},
    {read_resolver, LANDLOCK, EACCES, 0},
    {list_root, LANDLOCK, EACCES, EACCES},
    {write_readable, LANDLOCK, EACCES, EACCES},
    {write_writable, LANDLOCK, 0, 0},
    {use_ip, false, EPERM, 0},
    {use_local_socket, false, EPERM, EAFNOSUPPORT},
    {use_packets, false, EPERM, EAFNOSUPPORT},
    {run_program, false, EPERM, EPERM},
    {kill_parent, false, EPERM, EPERM},
    {have_capabilities, false, 0, 0},
    {write_much, false, EFBIG, EFBIG},
    {open_secret_to_all, LANDLOCK, EPERM, EPERM},
    {set_mode_of_own, false, 0, 0},
};

/* In a child of its own, since there is no way back. */
static int do_confined(int (*deed)(void), bool network)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct error err = {0};
        const struct sandbox_reader reader = {.readable = readable,
                                              .writable = {writable},
                                              .network = network,
                                              .foreign_files = network,
                                              .file_bytes = 100000};
        _exit(sandbox_confine_reader(&reader, &err) == 0 ? deed() : 255);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

START_TEST(deeds)
{
    const struct sandbox *here = sandbox_probe();
    if (rows[_i].by_landlock ? here->landlock_abi == 0 : !here->seccomp)
        TEST_SKIP("this kernel has no %s", rows[_i].by_landlock ? "Landlock" : "seccomp");
    ck_assert_int_eq(do_confined(rows[_i].deed, false), rows[_i].offline);
    ck_assert_int_eq(do_confined(rows[_i].deed, true), rows[_i].online);
}
END_TEST

START_TEST(nobody_is_served)
{
    if (sandbox_probe()->landlock_abi < 4)
        TEST_SKIP("this kernel's Landlock knows no network");
    ck_assert_int_eq(do_confined(serve_ip, true), EACCES);
}
END_TEST

Suite *suite_sandbox_repo(void)
{
    Suite *suite = suite_create("sandbox_repo");
    TCase *tests = tcase_create("sandbox_repo");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_loop_test(tests, deeds, 0, COUNT_OF(rows));
    tcase_add_test(tests, nobody_is_served);
    suite_add_tcase(suite, tests);
    return suite;
}

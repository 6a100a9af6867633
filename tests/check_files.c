/* check_files.c - reading with caps, writing whole or not at all, temporary folders. */
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "files.h"
#include "support_toolkit.h"

/* A folder of this test's own below the runner's. */
static char folder[4096];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "%s/files-XXXXXX", testing_temporary_folder());
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    temporary_folder_remove(strdup(folder));
}

static char *in_folder(const char *name)
{
    char *path = path_join(folder, name);
    ck_assert_ptr_nonnull(path);
    return path;
}

static size_t entries_in_folder(void)
{
    DIR *open_folder = opendir(folder);
    ck_assert_ptr_nonnull(open_folder);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(open_folder)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(open_folder);
    return count;
}

static void assert_holds(const char *path, const char *expected)
{
    struct bytes content;
    enum file_status status = file_read(&content, path, 100000, true);
    ck_assert_msg(status == FILE_READ, "%s: %s", path, file_status_text(status));
    ck_assert_str_eq(bytes_text(&content), expected);
    bytes_release(&content);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    return info.st_mode & 0777;
}

/* Runs `body` in a forked child, so that limits, descriptors and users stay there. */
static int in_child(int (*body)(void))
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(body());
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* In a forked child: root reads and writes everything, so permissions are tried as somebody else.
 */
static bool become_nobody(void)
{
    return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

/* ---- Reading --------------------------------------------------------------------------------- */

#define LIMIT 100

START_TEST(what_can_be_read)
{
    AUTO_FREE char *file = in_folder("file"), *full = in_folder("full"), *over = in_folder("over");
    AUTO_FREE char *empty = in_folder("empty"), *link_path = in_folder("link");
    AUTO_FREE char *dangling = in_folder("dangling"), *loop = in_folder("loop");
    AUTO_FREE char *fifo = in_folder("fifo"), *below = in_folder("file/below");
    AUTO_FREE char *missing = in_folder("missing"), *socket_path = in_folder("socket");
    char data[LIMIT + 1], long_name[600];
    memset(data, 'x', sizeof data);
    memset(long_name, 'n', sizeof long_name);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = '\0';
    testing_write(file, "con\0tent", 8);
    testing_write(full, data, LIMIT);
    testing_write(over, data, LIMIT + 1);
    testing_write(empty, "", 0);
    ck_assert_int_eq(symlink("file", link_path), 0);
    ck_assert_int_eq(symlink("nothing", dangling), 0);
    ck_assert_int_eq(symlink("loop", loop), 0);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    AUTO_CLOSE int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* The address is short: bind below the folder, by a relative path. */
    ck_assert_int_eq(chdir(folder), 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "socket");
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);

    const struct {
        const char *path;
        bool follow;
        enum file_status status;
        size_t length;
    } rows[] = {
        {file, false, FILE_READ, 8},
        {full, false, FILE_READ, LIMIT},
        {over, false, FILE_TOO_LARGE, 0},
        {empty, false, FILE_READ, 0},
        {missing, false, FILE_MISSING, 0},
        {below, false, FILE_MISSING, 0},
        {"", false, FILE_MISSING, 0},
        {folder, false, FILE_NOT_REGULAR, 0},
        {link_path, false, FILE_NOT_REGULAR, 0},
        {link_path, true, FILE_READ, 8},
        {dangling, false, FILE_NOT_REGULAR, 0},
        {dangling, true, FILE_MISSING, 0},
        {loop, false, FILE_NOT_REGULAR, 0},
        {loop, true, FILE_NOT_REGULAR, 0},
        {fifo, false, FILE_NOT_REGULAR, 0},
        {socket_path, false, FILE_NOT_REGULAR, 0},
        {"/dev/zero", false, FILE_NOT_REGULAR, 0},
        {"/dev/null", false, FILE_NOT_REGULAR, 0},
        {long_name, false, FILE_UNREADABLE, 0},
        /* says it is empty, and holds more than the limit: as a file that grows meanwhile */
        {"/proc/self/status", false, FILE_TOO_LARGE, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct bytes content;
        enum file_status status = file_read(&content, rows[i].path, LIMIT, rows[i].follow);
        ck_assert_msg(status == rows[i].status, "row %zu (%s): %s", i, rows[i].path,
                      file_status_text(status));
        ck_assert_uint_eq(content.length, rows[i].length);
        ck_assert_int_eq(status == FILE_READ, content.data != NULL);
        bytes_release(&content);
    }
}
END_TEST

/* A filter that makes openat2() as unknown as it is before Linux 5.6. */
static bool forget_openat2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = COUNT_OF(code), .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Round 0 by openat2(), round 1 without it. */
START_TEST(reading_stays_beneath)
{
    AUTO_FREE char *top = in_folder("top"), *inner = in_folder("top/inner");
    AUTO_FREE char *file = in_folder("top/inner/file"), *outside = in_folder("outside");
    AUTO_FREE char *away = in_folder("top/away"), *way = in_folder("top/way");
    AUTO_FREE char *link_path = in_folder("top/link"), *out_link = in_folder("top/out");
    AUTO_FREE char *fifo = in_folder("top/fifo"), *over = in_folder("top/over");
    AUTO_FREE char *top_link = in_folder("top-link"), *none = in_folder("none");
    char data[LIMIT + 1] = {0};
    ck_assert_int_eq(mkdir(top, 0700), 0);
    ck_assert_int_eq(mkdir(inner, 0700), 0);
    testing_write(file, "inside", 6);
    testing_write(outside, "secret", 6);
    testing_write(over, data, sizeof data);
    ck_assert_int_eq(symlink("inner", way), 0);
    ck_assert_int_eq(symlink("..", away), 0);
    ck_assert_int_eq(symlink("inner/file", link_path), 0);
    ck_assert_int_eq(symlink(outside, out_link), 0);
    ck_assert_int_eq(symlink("top", top_link), 0);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    if (_i == 1 && !forget_openat2())
        TEST_SKIP("cannot make openat2() unknown here");
    const struct {
        const char *folder, *name;
        enum file_status status;
    } rows[] = {
        {top, "inner/file", FILE_READ},
        {top_link, "inner/file", FILE_READ}, /* the folder is the caller's, link or not */
        {inner, "file", FILE_READ},
        {top, "missing", FILE_MISSING},
        {top, "missing/file", FILE_MISSING},
        {top, "inner/file/below", FILE_MISSING},
        {none, "file", FILE_MISSING},
        {top, "inner", FILE_NOT_REGULAR},
        {top, "link", FILE_NOT_REGULAR},
        {top, "out", FILE_NOT_REGULAR},
        {top, "way/file", FILE_NOT_REGULAR},
        {top, "away/outside", FILE_NOT_REGULAR},
        {top, "../outside", FILE_NOT_REGULAR},
        {inner, "../../outside", FILE_NOT_REGULAR},
        {top, outside, FILE_NOT_REGULAR},
        {top, "fifo", FILE_NOT_REGULAR},
        {top, "over", FILE_TOO_LARGE},
        {"/dev", "zero", FILE_NOT_REGULAR},
        {"/proc/self", "exe", FILE_NOT_REGULAR},
        {"/proc/self/fd", "0", FILE_NOT_REGULAR},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct bytes content;
        enum file_status status = file_read_beneath(&content, rows[i].folder, rows[i].name, LIMIT);
        ck_assert_msg(status == rows[i].status, "row %zu (%s): %s", i, rows[i].name,
                      file_status_text(status));
        ck_assert_str_eq(bytes_text(&content), status == FILE_READ ? "inside" : "");
        bytes_release(&content);
    }
}
END_TEST

static int read_secret_as_nobody(void)
{
    AUTO_FREE char *secret = in_folder("secret");
    struct bytes content;
    if (!become_nobody())
        return 77;
    enum file_status status = file_read(&content, secret, LIMIT, false);
    return status == FILE_UNREADABLE && strcmp(file_status_text(status), "Permission denied") == 0
               ? 0
               : 1;
}

START_TEST(permissions_hold)
{
    AUTO_FREE char *secret = in_folder("secret");
    testing_write(secret, "x", 1);
    ck_assert_int_eq(chmod(secret, 0), 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    support_open_to_all();
    int status = in_child(read_secret_as_nobody);
    if (status == 77)
        TEST_SKIP("cannot change the user");
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(descriptors_can_be_read)
{
    int ends[2];
    struct bytes content;
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "12345", 5), 5);
    (void)close(ends[1]);
    ck_assert_int_eq(file_read_fd(&content, ends[0], 5), FILE_READ);
    ck_assert_str_eq(bytes_text(&content), "12345");
    bytes_release(&content);
    (void)close(ends[0]);
    ck_assert_int_eq(file_read_fd(&content, ends[0], 5), FILE_UNREADABLE);
    ck_assert_int_eq(errno, EBADF);
    ck_assert_ptr_null(content.data);
    AUTO_CLOSE int directory = open("/", O_RDONLY);
    ck_assert_int_eq(file_read_fd(&content, directory, 5), FILE_UNREADABLE);
    ck_assert_int_eq(errno, EISDIR);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "123456", 6), 6);
    (void)close(ends[1]);
    ck_assert_int_eq(file_read_fd(&content, ends[0], 5), FILE_TOO_LARGE);
    (void)close(ends[0]);
}
END_TEST

/* ---- Writing --------------------------------------------------------------------------------- */

START_TEST(files_are_replaced_whole)
{
    AUTO_FREE char *path = in_folder("grade.json"), *private = in_folder("private");
    AUTO_FREE char *link_path = in_folder("link"), *target = in_folder("target");
    (void)umask(027);
    testing_write(path, "first, and longer", 17);
    testing_write(path, "second", 6);
    assert_holds(path, "second");
    ck_assert_uint_eq(mode_of(path), 0640);
    testing_write(path, "", 0);
    assert_holds(path, "");
    /* A grade that was made private stays private. */
    testing_write(private, "1", 1);
    ck_assert_int_eq(chmod(private, 0600), 0);
    (void)umask(0);
    testing_write(private, "2", 1);
    ck_assert_uint_eq(mode_of(private), 0600);
    /* A link is replaced, and what it points to left alone. */
    testing_write(target, "mine", 4);
    ck_assert_int_eq(symlink("target", link_path), 0);
    testing_write(link_path, "grade", 5);
    assert_holds(target, "mine");
    assert_holds(link_path, "grade");
    ck_assert_uint_eq(entries_in_folder(), 4);
}
END_TEST

START_TEST(what_cannot_be_written)
{
    AUTO_FREE char *file = in_folder("file"), *sub = in_folder("sub"), *slash = in_folder("sub/");
    AUTO_FREE char *nowhere = in_folder("nowhere/grade"), *below = in_folder("file/grade");
    testing_write(file, "old", 3);
    ck_assert_int_eq(mkdir(sub, 0700), 0);
    const struct {
        const char *path, *why;
    } rows[] = {
        {nowhere, "No such file or directory"},
        {below, "Not a directory"},
        {sub, "Is a directory"},
        {slash, ""},
        {"", "No such file or directory"},
        {"/dev/full", "No space left on device"},
        {"/proc/nothing/x", "No such file"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct error err = {0};
        ck_assert_int_eq(file_write(rows[i].path, "new", 3, &err), -1);
        ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
        ck_assert_msg(strstr(err.text, rows[i].why) != NULL && strstr(err.text, rows[i].path),
                      "row %zu: %s", i, err.text);
    }
    ck_assert_uint_eq(entries_in_folder(), 2);
    struct stat info;
    ck_assert_int_eq(lstat("/dev/full", &info), 0);
    ck_assert(S_ISCHR(info.st_mode));
}
END_TEST

/* A name may be as long as the file system allows: the temporary one is not longer. */
START_TEST(longest_name)
{
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    AUTO_FREE char *path = in_folder(name);
    testing_write(path, "x", 1);
    assert_holds(path, "x");
}
END_TEST

static int write_over_the_limit(void)
{
    AUTO_FREE char *path = in_folder("grade");
    const struct rlimit limit = {1000, 1000};
    char data[5000] = {0};
    struct error err = {0};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 77;
    return file_write(path, data, sizeof data, &err) == -1 &&
                   strstr(err.text, "File too large") != NULL
               ? 0
               : 1;
}

START_TEST(full_disk_leaves_the_old_file)
{
    AUTO_FREE char *path = in_folder("grade");
    testing_write(path, "old", 3);
    ck_assert_int_eq(in_child(write_over_the_limit), 0);
    assert_holds(path, "old");
    ck_assert_uint_eq(entries_in_folder(), 1);
}
END_TEST

static int write_as_nobody(void)
{
    AUTO_FREE char *path = in_folder("grade");
    struct error err = {0};
    if (!become_nobody())
        return 77;
    return file_write(path, "x", 1, &err) == -1 && strstr(err.text, "Permission denied") ? 0 : 1;
}

START_TEST(unwritable_folder)
{
    support_open_to_all();
    ck_assert_int_eq(chmod(folder, 0555), 0);
    int status = in_child(write_as_nobody);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    if (status == 77)
        TEST_SKIP("cannot change the user");
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(entries_in_folder(), 0);
}
END_TEST

/* ---- Standard output and its other names ----------------------------------------------------- */

static const char *output_name;

/* Standard output is a regular file that holds something already. */
static int write_to_redirected(void)
{
    AUTO_FREE char *path = in_folder("stdout");
    struct error err = {0};
    if (freopen(path, "w", stdout) == NULL || printf("printed ") < 0)
        return 1;
    if (file_write(output_name, "written", 7, &err) != 0)
        return 2;
    return printf(" after") > 0 && fflush(stdout) == 0 ? 0 : 3;
}

START_TEST(standard_output)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    AUTO_FREE char *path = in_folder("stdout");
    struct stat before, after;
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        if (lstat(strcmp(names[i], "-") == 0 ? "/" : names[i], &before) != 0)
            continue;
        output_name = names[i];
        ck_assert_int_eq(in_child(write_to_redirected), 0);
        assert_holds(path, "printed written after");
    }
    /* /dev/stdout is still the link that it was. */
    if (lstat("/dev/stdout", &after) == 0)
        ck_assert(S_ISLNK(after.st_mode));
    ck_assert_uint_eq(entries_in_folder(), 1);
}
END_TEST

static int write_to_full_output(void)
{
    struct error err = {0};
    if (freopen("/dev/full", "w", stdout) == NULL)
        return 1;
    return file_write("-", "x", 1, &err) == -1 && strstr(err.text, "standard output") != NULL &&
                   strstr(err.text, "No space left") != NULL
               ? 0
               : 2;
}

START_TEST(full_standard_output)
{
    ck_assert_int_eq(in_child(write_to_full_output), 0);
}
END_TEST

static void *read_fifo(void *path)
{
    struct bytes *content = malloc(sizeof *content);
    AUTO_CLOSE int fd = open(path, O_RDONLY);
    if (content != NULL && (fd < 0 || file_read_fd(content, fd, 100) != FILE_READ))
        *content = (struct bytes){0};
    return content;
}

START_TEST(fifo_is_written_to)
{
    AUTO_FREE char *path = in_folder("fifo");
    pthread_t reader;
    void *content = NULL;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_fifo, path), 0);
    testing_write(path, "through", 7);
    ck_assert_int_eq(pthread_join(reader, &content), 0);
    ck_assert_ptr_nonnull(content);
    ck_assert_str_eq(bytes_text(content), "through");
    bytes_release(content);
    free(content);
}
END_TEST

/* Several threads write at once while one architecture each is built: no file may get another mode
 * than the umask says, and the umask may not change. */
static void *write_many(void *number)
{
    struct error err = {0};
    for (unsigned i = 0; i < 200 && err.kind == ERROR_NONE; ++i) {
        char name[64];
        (void)snprintf(name, sizeof name, "%u-%u", *(const unsigned *)number, i);
        char *path = path_join(folder, name);
        struct stat info;
        if (path == NULL || file_write(path, name, strlen(name), &err) != 0 ||
            stat(path, &info) != 0 || (info.st_mode & 0777) != 0640)
            (void)error_set(&err, ERROR_INFRASTRUCTURE, "wrong mode");
        free(path);
    }
    return err.kind == ERROR_NONE ? NULL : number;
}

START_TEST(threads_keep_the_umask)
{
    pthread_t threads[4];
    unsigned numbers[4] = {0, 1, 2, 3};
    (void)umask(027);
    for (size_t i = 0; i < COUNT_OF(threads); ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_many, &numbers[i]), 0);
    for (size_t i = 0; i < COUNT_OF(threads); ++i) {
        void *failed = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(umask(022), 027);
}
END_TEST

/* ---- Folders --------------------------------------------------------------------------------- */

START_TEST(temporary_folders)
{
    struct error err = {0};
    AUTO_FREE char *outside = in_folder("outside"), *kept = in_folder("outside/kept");
    ck_assert_int_eq(mkdir(outside, 0700), 0);
    testing_write(kept, "kept", 4);
    ck_assert_int_eq(setenv("TMPDIR", folder, 1), 0);
    char *made = temporary_folder_create(&err);
    ck_assert_msg(made != NULL, "%s", err.text);
    ck_assert_int_eq(strncmp(made, folder, strlen(folder)), 0);
    ck_assert_uint_eq(mode_of(made), 0700);
    AUTO_FREE char *deep = path_join(made, "a"), *deeper = path_join(made, "a/b");
    AUTO_FREE char *file = path_join(made, "a/b/file"), *link_path = path_join(made, "a/link");
    ck_assert_int_eq(mkdir(deep, 0700), 0);
    ck_assert_int_eq(mkdir(deeper, 0700), 0);
    testing_write(file, "x", 1);
    ck_assert_int_eq(chmod(file, 0), 0);
    ck_assert_int_eq(symlink(outside, link_path), 0);
    temporary_folder_remove(made);
    ck_assert_uint_eq(entries_in_folder(), 1);
    assert_holds(kept, "kept");
    temporary_folder_remove(NULL);
    /* A relative TMPDIR would follow whoever changes the folder. */
    ck_assert_int_eq(setenv("TMPDIR", "relative", 1), 0);
    made = temporary_folder_create(&err);
    ck_assert_msg(made != NULL && strncmp(made, "/tmp/", 5) == 0, "%s", err.text);
    temporary_folder_remove(made);
    ck_assert_int_eq(setenv("TMPDIR", "/nowhere", 1), 0);
    ck_assert_ptr_null(temporary_folder_create(&err));
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, "/nowhere") != NULL, "%s", err.text);
}
END_TEST

/* What a compiler that went mad may leave: deeper than descriptors go, longer than a path may be.
 */
START_TEST(a_deep_folder_is_removed)
{
    struct error err = {0};
    ck_assert_int_eq(setenv("TMPDIR", folder, 1), 0);
    char *made = temporary_folder_create(&err), name[32];
    ck_assert_msg(made != NULL, "%s", err.text);
    AUTO_CLOSE int at = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int level = 0; level < 300; ++level) {
        ck_assert_int_eq(mkdirat(at, "a folder with a long name", 0700), 0);
        ck_assert_int_eq(mkdirat(at, ".deep-0", level % 2 == 0 ? 0 : 0700), 0);
        int below = openat(at, "a folder with a long name", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(below, 0);
        (void)close(at);
        at = below;
    }
    for (int file = 0; file < 3000; ++file) {
        (void)snprintf(name, sizeof name, "file-%d", file);
        int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        (void)close(fd);
    }
    temporary_folder_remove(made);
    ck_assert_uint_eq(entries_in_folder(), 0);
}
END_TEST

START_TEST(cache_folders)
{
    AUTO_FREE char *own = in_folder("own/deep"), *xdg = in_folder("xdg"), *home = in_folder("home");
    AUTO_FREE char *xdg_expected = in_folder("xdg/spillway"), *file = in_folder("file");
    AUTO_FREE char *home_expected = in_folder("home/.cache/spillway"), *here = in_folder("rel");
    testing_write(file, "x", 1);
    ck_assert_int_eq(chdir(folder), 0);
    const struct {
        const char *own, *xdg, *home, *expected;
    } rows[] = {
        {own, xdg, home, own},
        {NULL, xdg, home, xdg_expected},
        {"", "relative", home, home_expected},
        {NULL, NULL, home, home_expected},
        {"rel", xdg, home, here},
        {NULL, NULL, NULL, NULL},
        {file, xdg, home, NULL},
        {"/proc/nothing/at/all", xdg, home, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct error err = {0};
        (void)(rows[i].own ? setenv("SPILLWAY_CACHE", rows[i].own, 1) : unsetenv("SPILLWAY_CACHE"));
        (void)(rows[i].xdg ? setenv("XDG_CACHE_HOME", rows[i].xdg, 1) : unsetenv("XDG_CACHE_HOME"));
        (void)(rows[i].home ? setenv("HOME", rows[i].home, 1) : unsetenv("HOME"));
        AUTO_FREE char *path = cache_folder(&err);
        ck_assert_msg((path == NULL) == (rows[i].expected == NULL), "row %zu: %s", i, err.text);
        ck_assert_int_eq(err.kind, path == NULL ? ERROR_INFRASTRUCTURE : ERROR_NONE);
        if (path == NULL)
            continue;
        ck_assert_str_eq(path, rows[i].expected);
        ck_assert_uint_eq(mode_of(path), 0700);
    }
}
END_TEST

START_TEST(paths_join)
{
    static const struct {
        const char *directory, *name, *expected;
    } rows[] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        AUTO_FREE char *joined = path_join(rows[i].directory, rows[i].name);
        ck_assert_str_eq(joined, rows[i].expected);
    }
}
END_TEST

/* ---- Private files --------------------------------------------------------------------------- */

static mode_t kind_and_mode(const char *path)
{
    struct stat info;
    ck_assert_int_eq(lstat(path, &info), 0);
    return info.st_mode;
}

START_TEST(paths_are_shortened)
{
    static const char *const pairs[][2] = {
        {"a", "a"},
        {"a/", "a"},
        {"./a", "a"},
        {"a//b/./c/.", "a/b/c"},
        {"/", "/"},
        {"//./", "/"},
        {"/a/../b//", "/a/../b"},
        {"", "."},
        {"./.", "."},
        {"..", ".."},
        {".a", ".a"},
        {"a./b.", "a./b."},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); ++i) {
        char path[40];
        (void)snprintf(path, sizeof path, "%s", pairs[i][0]);
        path_shorten(path);
        ck_assert_str_eq(path, pairs[i][1]);
    }
}
END_TEST

START_TEST(private_files_are_kept)
{
    AUTO_FREE char *path = in_folder("kept"), *other = in_folder("other");
    struct error err = {0};
    bool written = false;
    (void)umask(0);
    ck_assert_int_eq(file_keep_private(path, "one", 3, &written, &err), 0);
    ck_assert(written && kind_and_mode(path) == (S_IFREG | 0600));
    ck_assert_int_eq(file_keep_private(path, "one", 3, &written, &err), 0);
    ck_assert(!written);
    ck_assert_int_eq(file_keep_private(path, "two", 3, &written, &err), 0);
    ck_assert(written);
    ck_assert_int_eq(file_keep_private(path, "", 0, &written, &err), 0);
    ck_assert(written);
    ck_assert_int_eq(file_keep_private(path, "", 0, &written, &err), 0);
    ck_assert(!written);
    /* Open to others, or a link to the same bytes: made ours. */
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_int_eq(file_keep_private(path, "", 0, &written, &err), 0);
    ck_assert(written && kind_and_mode(path) == (S_IFREG | 0600));
    ck_assert_int_eq(symlink(path, other), 0);
    ck_assert_int_eq(file_keep_private(other, "", 0, &written, &err), 0);
    ck_assert(written && kind_and_mode(other) == (S_IFREG | 0600));
    ck_assert_uint_eq(entries_in_folder(), 2);
}
END_TEST

START_TEST(private_folders_are_made)
{
    AUTO_FREE char *path = in_folder("made"), *link = in_folder("link");
    AUTO_FREE char *deep = in_folder("no/such"), *file = in_folder("file");
    struct error err = {0};
    (void)umask(0);
    ck_assert_int_eq(folder_make_private(path, &err), 0);
    ck_assert(kind_and_mode(path) == (S_IFDIR | 0700));
    ck_assert_int_eq(chmod(path, 0755), 0);
    ck_assert_int_eq(folder_make_private(path, &err), 0);
    ck_assert(kind_and_mode(path) == (S_IFDIR | 0700));
    testing_write(file, "x", 1);
    ck_assert_int_eq(symlink(path, link), 0);
    const char *const wrong[] = {link, deep, file};
    static const char *const says[] = {"link is a symbolic link, where a folder belongs",
                                       "No such file", "file is a file, where a folder belongs"};
    for (size_t i = 0; i < COUNT_OF(wrong); ++i) {
        err = (struct error){0};
        ck_assert_int_eq(folder_make_private(wrong[i], &err), -1);
        ck_assert(err.kind == ERROR_INFRASTRUCTURE && strstr(err.text, wrong[i]) != NULL);
        ck_assert_msg(strstr(err.text, says[i]) != NULL, "%s", err.text);
    }
    bool written = false;
    err = (struct error){0};
    ck_assert_int_eq(folder_sync(path, &err), 0);
    ck_assert_int_eq(folder_sync(file, &err), -1);
    ck_assert_msg(strstr(err.text, "Not a directory") != NULL, "%s", err.text);
    err = (struct error){0};
    ck_assert_int_eq(file_keep_private(deep, "x", 1, &written, &err), -1);
    ck_assert_msg(strstr(err.text, "no/such: No such file") != NULL, "%s", err.text);
    err = (struct error){0};
    ck_assert_int_eq(file_keep_private(path, "x", 1, &written, &err), -1);
    ck_assert_uint_eq(entries_in_folder(), 3);
}
END_TEST

Suite *suite_files(void)
{
    Suite *suite = suite_create("files");
    TCase *tests = tcase_create("files");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, make_folder, remove_folder);
    tcase_add_test(tests, what_can_be_read);
    tcase_add_loop_test(tests, reading_stays_beneath, 0, 2);
    tcase_add_test(tests, permissions_hold);
    tcase_add_test(tests, descriptors_can_be_read);
    tcase_add_test(tests, files_are_replaced_whole);
    tcase_add_test(tests, what_cannot_be_written);
    tcase_add_test(tests, longest_name);
    tcase_add_test(tests, full_disk_leaves_the_old_file);
    tcase_add_test(tests, unwritable_folder);
    tcase_add_test(tests, standard_output);
    tcase_add_test(tests, full_standard_output);
    tcase_add_test(tests, fifo_is_written_to);
    tcase_add_test(tests, threads_keep_the_umask);
    tcase_add_test(tests, temporary_folders);
    tcase_add_test(tests, a_deep_folder_is_removed);
    tcase_add_test(tests, cache_folders);
    tcase_add_test(tests, paths_join);
    tcase_add_test(tests, paths_are_shortened);
    tcase_add_test(tests, private_files_are_kept);
    tcase_add_test(tests, private_folders_are_made);
    suite_add_tcase(suite, tests);
    return suite;
}

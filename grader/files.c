#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum file_status file_read_fd(struct bytes *out, int fd, size_t limit)
{
    *out = bytes_with_limit(limit);
    for (;;) {
        char chunk[65536];
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 && bytes_append(out, "", 0) == 0)
            return FILE_READ;
        if (got > 0 && bytes_append(out, chunk, (size_t)got) == 0)
            continue;
        enum file_status status =
            got > 0 && out->length + (size_t)got > limit ? FILE_TOO_LARGE : FILE_UNREADABLE;
        int saved = got >= 0 ? ENOMEM : errno;
        bytes_release(out);
        errno = saved;
        return status;
    }
}

/* Without blocking: a FIFO that nobody writes to would otherwise hold us for ever. */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* `fd` is the result of opening a file, errno included. */
static enum file_status read_opened(struct bytes *out, int fd, size_t limit)
{
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return FILE_MISSING;
        /* A socket cannot be opened at all (ENXIO); a refused link is ELOOP, a way out EXDEV. */
        return errno == ELOOP || errno == ENXIO || errno == EXDEV ? FILE_NOT_REGULAR
                                                                  : FILE_UNREADABLE;
    }
    struct stat info;
    if (fstat(fd, &info) != 0)
        return FILE_UNREADABLE;
    if (!S_ISREG(info.st_mode))
        return FILE_NOT_REGULAR;
    if (info.st_size < 0 || (uint64_t)info.st_size > limit)
        return FILE_TOO_LARGE;
    /* The file may grow after the fstat(): file_read_fd() holds the limit again. */
    return file_read_fd(out, fd, limit);
}

enum file_status file_read(struct bytes *out, const char *path, size_t limit, bool follow)
{
    *out = bytes_with_limit(limit);
    AUTO_CLOSE int fd = open(path, READ_FLAGS | (follow ? 0 : O_NOFOLLOW));
    return read_opened(out, fd, limit);
}

/* ---- Reading below a folder ------------------------------------------------------------------ */

/* openat2() where there is none: one component after the other, none of them a link or "..". */
static int walk_beneath(int folder, const char *name)
{
    AUTO_CLOSE int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    while (at >= 0) {
        char component[NAME_MAX + 1];
        size_t length = strcspn(name, "/");
        if (length == 0 || length >= sizeof component ||
            (length == 2 && memcmp(name, "..", 2) == 0)) {
            errno = length == 2 || (length == 0 && name[0] == '/') ? EXDEV : ENOENT;
            return -1;
        }
        memcpy(component, name, length);
        component[length] = '\0';
        if (name[length] == '\0')
            return openat(at, component, READ_FLAGS | O_NOFOLLOW);
        struct stat info;
        if (fstatat(at, component, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode)) {
            errno = ELOOP;
            return -1;
        }
        int next = openat(at, component, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int saved = errno;
        (void)close(at);
        errno = saved;
        at = next;
        name += length + 1;
    }
    return -1;
}

static int open_beneath(int folder, const char *name)
{
    const struct open_how how = {.flags = READ_FLAGS,
                                 .resolve =
                                     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    for (int attempt = 0; attempt < 8; ++attempt) {
        int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
        /* EAGAIN: something was renamed meanwhile, and the kernel cannot tell any more. */
        if (fd >= 0 || (errno != EAGAIN && errno != ENOSYS && errno != EPERM))
            return fd;
        if (errno != EAGAIN)
            break; /* Linux before 5.6, or a container that forbids it */
    }
    return walk_beneath(folder, name);
}

enum file_status file_read_beneath(struct bytes *out, const char *folder, const char *name,
                                   size_t limit)
{
    *out = bytes_with_limit(limit);
    AUTO_CLOSE int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_CLOSE int fd = at < 0 ? -1 : open_beneath(at, name);
    return read_opened(out, fd, limit);
}

const char *file_status_text(enum file_status status)
{
    switch (status) {
    case FILE_READ:
        return "read";
    case FILE_MISSING:
        return "no such file";
    case FILE_NOT_REGULAR:
        return "not a regular file";
    case FILE_TOO_LARGE:
        return "too large";
    case FILE_UNREADABLE:
        break;
    }
    return strerror(errno);
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t wrote = write(fd, data, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -1;
        data += wrote;
        length -= (size_t)wrote;
    }
    return 0;
}

static int write_standard_output(const void *data, size_t length, struct error *err)
{
    if (fflush(stdout) != 0 || write_all(STDOUT_FILENO, data, length) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write standard output");
    return 0;
}

static int write_in_place(const char *path, int more_flags, const void *data, size_t length,
                          struct error *err)
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | more_flags;
    AUTO_CLOSE int fd = open(path, flags, 0666);
    if (fd < 0 || write_all(fd, data, length) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write %s", path);
    return 0;
}

/* What rename() must not replace: a device such as /dev/full, a FIFO, and the links that stand for
 * descriptors. */
static bool is_special(const char *path, const struct stat *target, bool exists)
{
    struct stat link;
    if (exists && !S_ISREG(target->st_mode) && !S_ISDIR(target->st_mode))
        return true;
    return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) &&
           (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0);
}

static bool is_standard_output(const struct stat *target)
{
    struct stat own;
    return fstat(STDOUT_FILENO, &own) == 0 && own.st_dev == target->st_dev &&
           own.st_ino == target->st_ino && own.st_rdev == target->st_rdev;
}

/* A new file with a name of its own in the folder of `path`: *name is owned by the caller. The
 * kernel applies the umask, which no thread can ask for without changing it. */
static int open_beside(const char *path, char **name)
{
    const char *slash = strrchr(path, '/');
    int folder_length = slash == NULL ? 0 : (int)(slash + 1 - path);
    for (int attempt = 0; attempt < 16; ++attempt) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            return -1;
        free(*name);
        *name = NULL;
        if (asprintf(name, "%.*s.spillway-%016llx", folder_length, path,
                     (unsigned long long)random) < 0)
            return -1;
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Some file systems cannot sync; the data is no worse for it. */
static int sync_file(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS ? 0 : -1;
}

/* Keeps `mode`, or without one (-1) what the umask gave. */
static int replace_file(const char *path, int mode, const void *data, size_t length,
                        struct error *err)
{
    AUTO_FREE char *temporary = NULL;
    AUTO_CLOSE int fd = open_beside(path, &temporary);
    if (fd < 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write %s", path);
    if ((mode >= 0 && fchmod(fd, (mode_t)mode) != 0) || write_all(fd, data, length) != 0 ||
        sync_file(fd) != 0 || rename(temporary, path) != 0) {
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write %s", path);
        (void)unlink(temporary);
        return -1;
    }
    return 0;
}

int file_write(const char *path, const void *data, size_t length, struct error *err)
{
    struct stat target;
    bool exists = stat(path, &target) == 0;
    /* What cannot be looked at may be a device, which is not to be replaced. */
    if (!exists && !file_is_absent(errno) && strcmp(path, "-") != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write %s", path);
    if (strcmp(path, "-") == 0 || (exists && is_standard_output(&target)))
        return write_standard_output(data, length, err);
    if (is_special(path, &target, exists))
        return write_in_place(path, 0, data, length, err);
    bool keeps_mode = exists && S_ISREG(target.st_mode);
    return replace_file(path, keeps_mode ? (int)(target.st_mode & 0777) : -1, data, length, err);
}

/* ---- Private files --------------------------------------------------------------------------- */

/* A regular file with these bytes, that nobody else may read. */
static bool holds_privately(const char *path, const void *data, size_t length)
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & 0777) != 0600 ||
        (uint64_t)info.st_size != length)
        return false;
    struct bytes content;
    bool same = file_read(&content, path, length, false) == FILE_READ && content.length == length &&
                memcmp(bytes_text(&content), data, length) == 0;
    bytes_release(&content);
    return same;
}

int file_keep_private(const char *path, const void *data, size_t length, bool *written,
                      struct error *err)
{
    *written = !holds_privately(path, data, length);
    if (!*written)
        return 0;
    return replace_file(path, 0600, data, length, err);
}

int folder_sync(const char *path, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && sync_file(fd) == 0
               ? 0
               : error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write the folder %s", path);
}

/* Something else has the name that a folder is to have. */
static int refuse_in_the_way(const char *path, const struct stat *info, struct error *err)
{
    return S_ISLNK(info->st_mode)
               ? error_set(err, ERROR_INFRASTRUCTURE,
                           "%s is a symbolic link, where a folder belongs; it was not followed, "
                           "since it may lead to what is nobody's business here: remove it, then "
                           "give the same command again",
                           path)
               : error_set(err, ERROR_INFRASTRUCTURE,
                           "%s is a file, where a folder belongs: move it away, then give the same "
                           "command again",
                           path);
}

int folder_make_private(const char *path, struct error *err)
{
    struct stat info;
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno == EEXIST && lstat(path, &info) == 0) {
        if (!S_ISDIR(info.st_mode))
            return refuse_in_the_way(path, &info, err);
        return (info.st_mode & 0777) == 0700 || chmod(path, 0700) == 0
                   ? 0
                   : error_set_errno(err, ERROR_INFRASTRUCTURE,
                                     "cannot keep the folder %s from others", path);
    }
    return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make the folder %s", path);
}

int file_write_scratch(const char *path, const void *data, size_t length, struct error *err)
{
    return write_in_place(path, O_NOFOLLOW, data, length, err);
}

char *path_join(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    const char *slash = length == 0 || directory[length - 1] == '/' ? "" : "/";
    char *joined = NULL;
    return asprintf(&joined, "%s%s%s", directory, slash, name) < 0 ? NULL : joined;
}

void path_shorten(char *path)
{
    bool absolute = path[0] == '/';
    char *to = path, *rest = path;
    for (char *part; (part = strsep(&rest, "/")) != NULL;) {
        size_t length = strlen(part);
        if (length == 0 || strcmp(part, ".") == 0)
            continue;
        if (absolute || to != path)
            *to++ = '/';
        memmove(to, part, length);
        to += length;
    }
    if (to == path)
        *to++ = absolute ? '/' : '.';
    *to = '\0';
}

bool file_is_absent(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP ||
           error == ENAMETOOLONG;
}

/* 1 when the path is a program, 0 when not, -1 when errno says why that cannot be told. */
static int is_program(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return file_is_absent(errno) ? 0 : -1;
    if (!S_ISREG(info.st_mode))
        return 0;
    return access(path, X_OK) == 0 ? 1 : file_is_absent(errno) ? 0 : -1;
}

char *program_find(const char *name)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char candidate[PATH_MAX];
        int size = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, name);
        if (path[0] == '/' && size < (int)sizeof candidate) {
            int found = is_program(candidate);
            if (found != 0)
                return found > 0 ? strdup(candidate) : NULL;
        }
        path += length + (path[length] == ':');
    }
    errno = ENOENT;
    return NULL;
}

int folders_make(const char *whole, struct error *err)
{
    AUTO_FREE char *path = strdup(whole);
    if (path == NULL)
        return error_no_memory(err);
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL)
            *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        if (slash != NULL)
            *slash = '/';
        if (!made)
            return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make the folder %s", whole);
        if (slash == NULL)
            return 0;
    }
}

char *cache_folder(struct error *err)
{
    const char *own = getenv("SPILLWAY_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    AUTO_FREE char *path = NULL;
    if (own != NULL && own[0] == '/')
        path = strdup(own);
    else if (own != NULL && own[0] != '\0') {
        AUTO_FREE char *here = getcwd(NULL, 0);
        if (here == NULL) {
            error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot tell which folder this is");
            return NULL;
        }
        path = path_join(here, own);
    } else if (xdg != NULL && xdg[0] == '/')
        path = path_join(xdg, "spillway");
    else if (home != NULL && home[0] == '/')
        path = path_join(home, ".cache/spillway");
    else {
        error_set(err, ERROR_INFRASTRUCTURE,
                  "no cache folder: set SPILLWAY_CACHE or HOME to a folder of yours");
        return NULL;
    }
    if (path == NULL) {
        error_no_memory(err);
        return NULL;
    }
    if (folders_make(path, err) != 0)
        return NULL;
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode) || access(path, W_OK) != 0) {
        error_set(err, ERROR_INFRASTRUCTURE, "the cache folder %s is not a writable folder", path);
        return NULL;
    }
    return steal_pointer(&path);
}

#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

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

enum file_status file_read(struct bytes *out, const char *path, size_t limit, bool follow)
{
    *out = bytes_with_limit(limit);
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW);
    AUTO_CLOSE int fd = open(path, flags);
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return FILE_MISSING;
        /* A socket cannot be opened at all (ENXIO); a refused link is ELOOP. */
        return errno == ELOOP || errno == ENXIO ? FILE_NOT_REGULAR : FILE_UNREADABLE;
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

/* True for what rename() must not replace: a device such as /dev/full or /dev/stdout, or a FIFO. */
static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

int file_write(const char *path, const void *data, size_t length, struct error *err)
{
    bool to_stdout = strcmp(path, "-") == 0;
    if (to_stdout || is_special(path)) {
        AUTO_CLOSE int opened = to_stdout ? -1 : open(path, O_WRONLY | O_CLOEXEC);
        if (!to_stdout && opened < 0)
            return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write %s", path);
        if (to_stdout)
            (void)fflush(stdout);
        if (write_all(to_stdout ? STDOUT_FILENO : opened, data, length) != 0)
            return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write %s",
                                   to_stdout ? "standard output" : path);
        return 0;
    }
    size_t room = strlen(path) + sizeof ".XXXXXX";
    AUTO_FREE char *temporary = malloc(room);
    if (temporary == NULL)
        return error_no_memory(err);
    (void)snprintf(temporary, room, "%s.XXXXXX", path);
    AUTO_CLOSE int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write %s", path);
    mode_t mask = umask(0);
    (void)umask(mask);
    if (write_all(fd, data, length) != 0 || fchmod(fd, 0666 & ~mask) != 0 || fsync(fd) != 0 ||
        rename(temporary, path) != 0) {
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot write %s", path);
        (void)unlink(temporary);
        return -1;
    }
    return 0;
}

char *path_join(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    const char *slash = length > 0 && directory[length - 1] == '/' ? "" : "/";
    char *joined = NULL;
    return asprintf(&joined, "%s%s%s", directory, slash, name) < 0 ? NULL : joined;
}

char *temporary_folder_create(struct error *err)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] != '/')
        parent = "/tmp";
    AUTO_FREE char *path = path_join(parent, "spillway.XXXXXX");
    if (path == NULL) {
        error_no_memory(err);
        return NULL;
    }
    if (mkdtemp(path) == NULL) {
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make a temporary folder in %s", parent);
        return NULL;
    }
    return steal_pointer(&path);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    (void)remove(path);
    return 0; /* go on: what cannot be removed must not keep the rest */
}

void temporary_folder_remove(char *path)
{
    if (path == NULL)
        return;
    (void)nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    free(path);
}

static int make_folders(char *path, struct error *err)
{
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL)
            *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        if (slash != NULL)
            *slash = '/';
        if (!made)
            return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make the cache folder %s",
                                   path);
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
        path = here == NULL ? NULL : path_join(here, own);
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
    if (make_folders(path, err) != 0)
        return NULL;
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode) || access(path, W_OK) != 0) {
        error_set(err, ERROR_INFRASTRUCTURE, "the cache folder %s is not a writable folder", path);
        return NULL;
    }
    return steal_pointer(&path);
}

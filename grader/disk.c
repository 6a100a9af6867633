#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#include "files.h"

/* More than the smallest file that a library needs beside its own (32 KiB for SQLite's index). */
#define PROBE_BYTES ((size_t)64 << 10)

bool disk_explains(int code)
{
    return code == ENOSPC || code == EDQUOT || code == EROFS || code == EACCES || code == EPERM;
}

/* The folder of a file; owned, NULL without memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* " (it belongs to ann)"; "" where that is no reason. */
static void name_owner(const char *path, char into[100])
{
    struct stat info;
    into[0] = '\0';
    if (lstat(path, &info) != 0 || info.st_uid == geteuid())
        return;
    struct passwd entry, *found = NULL;
    char room[1024];
    if (getpwuid_r(info.st_uid, &entry, room, sizeof room, &found) == 0 && found != NULL)
        (void)snprintf(into, 100, " (it belongs to %.60s)", found->pw_name);
    else
        (void)snprintf(into, 100, " (it belongs to user %u)", (unsigned)info.st_uid);
}

/* What of the two may not be written: the file, if it is there, else the folder. */
static int fail_by_permission(struct error *err, const char *path, const char *folder,
                              const char *what)
{
    const char *closed = access(path, F_OK) == 0 && access(folder, W_OK) == 0 ? path : folder;
    char owner[100];
    name_owner(closed, owner);
    return error_set(err, ERROR_INFRASTRUCTURE,
                     "you may not write %s%s, so %s: let its owner change that (chmod u+w, chown), "
                     "or copy the whole folder to a place of your own and take that",
                     closed, owner, what);
}

int disk_fail(struct error *err, const char *path, const char *what, int code)
{
    AUTO_FREE char *folder = folder_of(path);
    if (folder == NULL)
        return error_no_memory(err);
    switch (code) {
    case ENOSPC:
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the disk that holds %s is full, so %s: make room there, then give the "
                         "same command again",
                         folder, what);
    case EDQUOT:
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "your quota on the disk that holds %s is used up, so %s: delete what you "
                         "can there or ask for more, then give the same command again",
                         folder, what);
    case EROFS:
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "%s lies on a disk that can only be read, so %s: have it mounted for "
                         "writing, or copy the whole folder to another disk and take that",
                         folder, what);
    case EACCES:
    case EPERM:
        return fail_by_permission(err, path, folder, what);
    case ELOOP:
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "%s is a symbolic link, which was not followed, so %s: remove it, then "
                         "give the same command again",
                         path, what);
    default:
        errno = code;
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "%s: %s", path, what);
    }
}

int disk_probe(const char *path)
{
    static const char zeros[4096];
    AUTO_FREE char *folder = folder_of(path);
    AUTO_FREE char *name = folder == NULL ? NULL : path_join(folder, ".spillway-XXXXXX");
    if (name == NULL)
        return ENOMEM;
    AUTO_CLOSE int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return errno;
    (void)unlink(name);
    for (size_t written = 0; written < PROBE_BYTES;) {
        ssize_t got = write(fd, zeros, sizeof zeros);
        if (got < 0 && errno != EINTR)
            return errno;
        written += got < 0 ? 0 : (size_t)got;
    }
    return fsync(fd) == 0 || !disk_explains(errno) ? 0 : errno;
}

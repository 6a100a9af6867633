/* temporary.c - private folders, and their removal: without allocating, since it comes after short
 * memory too, and whatever a compiler that a stranger's source got hold of left in them. */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

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

/* ---- Removal --------------------------------------------------------------------------------- */

#define DEPTH_MAX 16 /* each level costs a descriptor and a page of stack */
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct removal {
    int top;        /* folders that lie too deep are moved here, to be met again */
    dev_t device;   /* what is mounted inside is none of ours */
    unsigned moved; /* how many: their names */
};

static bool remove_content(struct removal *removal, int folder, unsigned depth);

static int open_folder(int at, const char *name)
{
    int fd = openat(at, name, FOLDER_FLAGS);
    if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
        fd = openat(at, name, FOLDER_FLAGS);
    return fd;
}

/* True when the entry is gone. */
static bool remove_folder(struct removal *removal, int at, const char *name, unsigned depth)
{
    char place[32];
    struct stat info;
    if (fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_dev != removal->device)
        return false;
    if (depth == DEPTH_MAX) {
        (void)snprintf(place, sizeof place, ".deep-%u", removal->moved++);
        return renameat(at, name, removal->top, place) == 0;
    }
    AUTO_CLOSE int folder = open_folder(at, name);
    return folder >= 0 && remove_content(removal, folder, depth + 1) &&
           unlinkat(at, name, AT_REMOVEDIR) == 0;
}

/* True when the folder is empty now. Reads it again as long as something could be removed: what is
 * removed may hide what follows it. */
static bool remove_content(struct removal *removal, int folder, unsigned depth)
{
    _Alignas(struct dirent64) char entries[4096];
    for (bool more = true; more;) {
        bool empty = true;
        ssize_t got;
        more = false;
        if (lseek(folder, 0, SEEK_SET) != 0)
            return false;
        while ((got = getdents64(folder, entries, sizeof entries)) > 0) {
            for (ssize_t at = 0; at < got;) {
                const struct dirent64 *entry = (const void *)(entries + at);
                const char *name = entry->d_name;
                at += entry->d_reclen;
                if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                    continue;
                empty = false;
                more = unlinkat(folder, name, 0) == 0 ||
                       remove_folder(removal, folder, name, depth) || more;
            }
        }
        if (got == 0 && empty)
            return true;
    }
    return false;
}

static bool remove_all(const char *path)
{
    AUTO_CLOSE int top = open_folder(AT_FDCWD, path);
    struct stat info;
    if (top < 0 || fstat(top, &info) != 0)
        return false;
    struct removal removal = {.top = top, .device = info.st_dev};
    (void)remove_content(&removal, top, 0);
    return rmdir(path) == 0;
}

void temporary_folder_remove(char *path)
{
    if (path == NULL)
        return;
    /* What failed for a moment, such as a lack of descriptors, is tried again. */
    for (int attempt = 0; attempt < 3 && !remove_all(path); ++attempt)
        continue;
    free(path);
}

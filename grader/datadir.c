#include "datadir.h"

#include <errno.h>
#include <limits.h>

#include "files.h"

/* Absolute path of the running program, owned by the caller; NULL with *err. */
static char *program_path(struct error *err)
{
    AUTO_FREE char *path = malloc(PATH_MAX);
    if (path == NULL) {
        error_no_memory(err);
        return NULL;
    }
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0) {
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot find my own program file");
        return NULL;
    }
    path[length] = '\0';
    return steal_pointer(&path);
}

/* *slot = folder/relative, or NULL again when no such file exists. */
static bool exists_below(const char *folder, const char *relative, char **slot)
{
    free(*slot);
    *slot = path_join(folder, relative);
    if (*slot != NULL && access(*slot, F_OK) == 0)
        return true;
    free(*slot);
    *slot = NULL;
    return false;
}

char *data_path(const char *relative, struct error *err)
{
    AUTO_FREE char *path = NULL;
    const char *given = getenv("SPILLWAY_DATA");
    if (given != NULL && given[0] != '\0' && exists_below(given, relative, &path))
        return steal_pointer(&path);
    AUTO_FREE char *folder = program_path(err);
    if (folder == NULL)
        return NULL;
    /* Upwards from the program: bin/ of an installation or bundle, build/<variant>/ of a source
     * tree (build/<variant>/tests/ for the test programs). */
    for (int level = 0; level < 4; ++level) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash == folder)
            break;
        *slash = '\0';
        AUTO_FREE char *share = path_join(folder, "share/spillway");
        if ((share != NULL && exists_below(share, relative, &path)) ||
            exists_below(folder, relative, &path))
            return steal_pointer(&path);
    }
    error_set(err, ERROR_INFRASTRUCTURE,
              "cannot find %s: set SPILLWAY_DATA to the folder that holds labs/", relative);
    return NULL;
}

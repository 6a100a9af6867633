/* repo_survey.c - what stands in a local repo's folder, before libgit2 opens any of it.
 *
 * libgit2 opens what it finds and reads it whole. A pipe in the place of a ref makes it wait until
 * the parent loses patience; a file with a hole of a terabyte in it runs into the limits of memory;
 * a link that leads out of the repo, and a configuration that includes a file there, are denied by
 * the kernel, which looks like a repo that nobody may read. Here each has a sentence of its own.
 * Only names, kinds and sizes are looked at, and the configuration. Whoever changes the folder
 * meanwhile still has the parent's clock against them. */
#include "repo_work.h"

#include <dirent.h>
#include <limits.h>
#include <strings.h>
#include <sys/stat.h>

#include "files.h"
#include "slice.h"
#include "text.h"

#define CONTROL_BYTES ((int64_t)1 << 20)      /* HEAD, config and the like, and one ref */
#define PACKED_REFS_BYTES ((int64_t)16 << 20) /* room for more than LIMIT_REPO_REFS */
#define DEEPEST 4                             /* folders below objects/ */
#define REFS_DEEPEST 40                       /* and below refs/ */
#define REFS_MOST ((size_t)2 * LIMIT_REPO_REFS)
#define INCLUDES_DEEP 5   /* configurations that include others */
#define INCLUDES_MOST 100 /* of them, all together */

struct survey {
    struct repo_work *work;
    const char *folder;  /* the git folder */
    char root[PATH_MAX]; /* its real path */
    size_t entries;      /* looked at: of a folder, or files that a configuration includes */
};

/* ---- One name -------------------------------------------------------------------------------- */

/* What is no file and no folder. */
static const char *kind_of(mode_t mode)
{
    return S_ISFIFO(mode) ? "a pipe (FIFO)" : S_ISSOCK(mode) ? "a socket" : "a device";
}

static bool is_below(const char *path, const char *root)
{
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* What is wrong with the file or folder of that name, into `detail`: REPO_FINE when nothing is.
 * What is not there, or cannot be looked at, is left to libgit2. `*mode` becomes 0 or its kind,
 * links followed. */
static enum repo_reason examine(const struct survey *s, const char *name, int64_t most_bytes,
                                char detail[500], mode_t *mode)
{
    AUTO_FREE char *path = path_join(s->folder, name);
    char shown[200], real[PATH_MAX];
    struct stat info;
    *mode = 0;
    if (path == NULL || realpath(path, real) == NULL || stat(real, &info) != 0)
        return REPO_FINE;
    (void)text_copy(shown, sizeof shown, name);
    if (!is_below(real, s->root)) {
        (void)snprintf(detail, 500, "its %s is a link to somewhere else", shown);
        return REPO_BORROWED;
    }
    *mode = info.st_mode & S_IFMT;
    if (*mode != S_IFREG && *mode != S_IFDIR) {
        (void)snprintf(detail, 500, "its %s is %s where a file belongs", shown, kind_of(*mode));
        return REPO_DAMAGED;
    }
    if (*mode == S_IFREG && info.st_size > most_bytes) {
        char bytes[TEXT_NUMBER_BYTES], most[TEXT_NUMBER_BYTES];
        (void)snprintf(
            detail, 500, "its %s has %s bytes; %s are read at most, and no repo needs more", shown,
            text_number((uint64_t)info.st_size, bytes), text_number((uint64_t)most_bytes, most));
        return REPO_DAMAGED;
    }
    return REPO_FINE;
}

/* False after a refusal. */
static bool look(const struct survey *s, const char *name, int64_t most_bytes, mode_t *mode)
{
    char detail[500];
    enum repo_reason reason = examine(s, name, most_bytes, detail, mode);
    if (reason != REPO_FINE)
        (void)repo_work_refuse(s->work, reason, "%s", detail);
    return reason == REPO_FINE;
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* All of a folder but what is plainly a file. Recurses DEEPEST deep at most. */
static bool walk(struct survey *s, const char *name, unsigned depth)
{
    AUTO_FREE char *path = path_join(s->folder, name);
    DIR *folder = path == NULL || depth > DEEPEST ? NULL : opendir(path);
    bool fine = true;
    for (const struct dirent *entry; fine && folder != NULL && s->entries < LIMIT_REPO_OBJECTS &&
                                     (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        ++s->entries;
        if (entry->d_type == DT_REG)
            continue;
        AUTO_FREE char *below = path_join(name, entry->d_name);
        mode_t mode = 0;
        fine = below != NULL && look(s, below, INT64_MAX, &mode);
        if (fine && mode == S_IFDIR)
            fine = walk(s, below, depth + 1);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return fine;
}

/* ---- Refs ------------------------------------------------------------------------------------ */

/* Whoever lists the refs reads every file among them, and skips what is none: so each has to be of
 * sane size. Recurses REFS_DEEPEST deep at most. */
static bool walk_refs(struct survey *s, const char *name, unsigned depth)
{
    AUTO_FREE char *path = path_join(s->folder, name);
    DIR *folder = path == NULL || depth > REFS_DEEPEST ? NULL : opendir(path);
    bool fine = true;
    for (const struct dirent *entry;
         fine && folder != NULL && s->entries < REFS_MOST && (entry = readdir(folder)) != NULL;) {
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(folder), entry->d_name, &info, 0) != 0)
            continue;
        ++s->entries;
        AUTO_FREE char *below = path_join(name, entry->d_name);
        mode_t mode = 0;
        if (below != NULL && S_ISREG(info.st_mode) && info.st_size > CONTROL_BYTES)
            fine = look(s, below, CONTROL_BYTES, &mode);
        else if (below != NULL && S_ISDIR(info.st_mode) && entry->d_type != DT_LNK)
            fine = walk_refs(s, below, depth + 1);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return fine;
}

/* ---- The configuration ----------------------------------------------------------------------- */

/* What a line of an [include] section names. False: nothing. */
static bool included_by(struct slice line, bool *in_include, struct slice *ret)
{
    line = slice_trim(line);
    if (slice_is_char_at(line, 0, '[')) {
        const char *close = slice_find_char(line, ']');
        *in_include = line.length > 8 && strncasecmp(line.text + 1, "include", 7) == 0;
        line = close == NULL ? (struct slice){0}
                             : slice_trim(slice_from(line, (size_t)(close - line.text) + 1));
    }
    const char *equals = slice_find_char(line, '=');
    if (!*in_include || equals == NULL)
        return false;
    struct slice key = slice_trim(slice_to(line, equals));
    if (key.length != 4 || strncasecmp(key.text, "path", 4) != 0)
        return false;
    *ret = slice_trim(slice_from(line, (size_t)(equals - line.text) + 1));
    if (ret->length >= 2 && ret->text[0] == '"' && ret->text[ret->length - 1] == '"')
        *ret = (struct slice){ret->text + 1, ret->length - 2};
    return ret->length > 0;
}

static bool look_at_config(struct survey *s, const char *path, bool outside, unsigned depth);

/* A file that a configuration includes. `outside`: refuse what lies outside of the repo. */
static bool look_at_included(struct survey *s, const char *from, struct slice name, bool outside,
                             unsigned depth)
{
    const char *slash = strrchr(from, '/');
    AUTO_FREE char *path = NULL;
    char shown[200], real[PATH_MAX];
    struct stat info;
    if (asprintf(&path, "%.*s%.*s",
                 slash == NULL || name.text[0] == '/' ? 0 : (int)(slash - from) + 1, from,
                 (int)name.length, name.text) < 0) {
        path = NULL;
        return true;
    }
    (void)text_copy(shown, sizeof shown, path);
    if (outside && (name.text[0] == '~' || realpath(path, real) == NULL ||
                    !is_below(real, s->work->task->address))) {
        (void)repo_work_refuse(s->work, REPO_FORMAT,
                               "its configuration includes another file, %.*s, which is not the "
                               "repo's own and is not read",
                               (int)(name.length < 200 ? name.length : 200), name.text);
        return false;
    }
    if (name.text[0] == '~' || stat(path, &info) != 0)
        return true;
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        (void)repo_work_refuse(s->work, REPO_DAMAGED,
                               "its configuration includes %s, which is %s where a file belongs",
                               shown, kind_of(info.st_mode));
        return false;
    }
    return look_at_config(s, path, outside, depth + 1);
}

static bool look_at_config(struct survey *s, const char *path, bool outside, unsigned depth)
{
    struct bytes content;
    bool in_include = false;
    enum file_status status = file_read(&content, path, (size_t)CONTROL_BYTES, true);
    struct slice rest = {bytes_text(&content), content.length}, name;
    if (status == FILE_TOO_LARGE)
        (void)repo_work_refuse(s->work, REPO_DAMAGED,
                               "its configuration has a part of more than %lld bytes",
                               (long long)CONTROL_BYTES);
    bool fine = status != FILE_TOO_LARGE;
    while (fine && depth < INCLUDES_DEEP && s->entries < INCLUDES_MOST && rest.length > 0) {
        const char *end = slice_find_char(rest, '\n');
        struct slice line = end == NULL ? rest : slice_to(rest, end);
        rest = slice_from(rest, line.length + (end != NULL));
        if (!included_by(line, &in_include, &name))
            continue;
        ++s->entries;
        fine = look_at_included(s, path, name, outside, depth);
    }
    bytes_release(&content);
    return fine;
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool start(struct survey *s, struct repo_work *work, const char *git_folder)
{
    *s = (struct survey){.work = work, .folder = git_folder};
    return realpath(git_folder, s->root) != NULL;
}

static bool walk_all_refs(struct survey *s)
{
    s->entries = 0;
    return walk_refs(s, "refs", 0);
}

bool repo_survey(struct repo_work *work, const char *git_folder)
{
    static const char *const names[] = {"HEAD",         "config",       "config.worktree",
                                        "commondir",    "info/grafts",  "objects",
                                        "objects/pack", "objects/info", "objects/info/alternates",
                                        "refs",         "refs/heads",   "refs/tags",
                                        "shallow"}; /* read by libgit2 1.7 and newer */
    struct survey s;
    mode_t mode = 0;
    if (!start(&s, work, git_folder))
        return true;
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        if (!look(&s, names[i], CONTROL_BYTES, &mode))
            return false;
    AUTO_FREE char *config = path_join(git_folder, "config");
    return look(&s, "packed-refs", PACKED_REFS_BYTES, &mode) &&
           (config == NULL || look_at_config(&s, config, false, 0)) && walk_all_refs(&s);
}

bool repo_survey_ref(struct repo_work *work, const char *git_folder, const char *name, bool wanted)
{
    struct survey s;
    char detail[500];
    mode_t mode = 0;
    if (!start(&s, work, git_folder))
        return true;
    enum repo_reason reason = examine(&s, name, CONTROL_BYTES, detail, &mode);
    if (reason != REPO_FINE && wanted)
        (void)repo_work_refuse(work, reason, "%s", detail);
    return reason == REPO_FINE;
}

bool repo_survey_objects(struct repo_work *work, const char *git_folder)
{
    struct survey s;
    return !start(&s, work, git_folder) || walk(&s, "objects", 0);
}

bool repo_survey_includes(struct repo_work *work, const char *git_folder)
{
    struct survey s;
    AUTO_FREE char *config = path_join(git_folder, "config");
    return config == NULL || !start(&s, work, git_folder) || look_at_config(&s, config, true, 0);
}

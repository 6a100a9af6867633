/* repo_read.c - the commit and the files, out of the cache. This process sees nothing else. */
#include "repo_work.h"

#include "text.h"

/* ---- Where to look --------------------------------------------------------------------------- */

size_t repo_folders(const struct repo_task *task, size_t wanted,
                    char folders[REPO_FOLDERS_MAX][600])
{
    size_t count = 0;
    if (task->path[0] != '\0')
        (void)snprintf(folders[count++], sizeof folders[0], "%s", task->path);
    folders[count++][0] = '\0';
    (void)snprintf(folders[count++], sizeof folders[0], "%s/%s", task->wanted[wanted].family,
                   task->lab_id);
    (void)snprintf(folders[count++], sizeof folders[0], "%s", task->lab_id);
    return count;
}

static void join(char into[800], const char *folder, const char *name)
{
    (void)snprintf(into, 800, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", name);
}

/* ---- Reading --------------------------------------------------------------------------------- */

struct reading {
    struct repo_work *work;
    git_repository *cache;
    git_odb *odb;
    git_oid root;
    char commit[8];
};

enum looked {
    LOOKED_NOTHING,   /* no such path */
    LOOKED_FILE,      /* a blob */
    LOOKED_ODD,       /* something else has this path; `problem` says what */
    LOOKED_ODD_ABOVE, /* something else stands where a folder would be */
    LOOKED_LOST,      /* an object is not there */
};

static enum looked odd(char problem[400], enum looked kind, const char *what)
{
    (void)snprintf(problem, 400, "%s", what);
    return kind;
}

/* Loads a tree of sane size; NULL otherwise. */
static git_tree *load_tree(const struct reading *reading, const git_oid *id)
{
    git_tree *tree = NULL;
    git_object_t type = GIT_OBJECT_INVALID;
    size_t size = 0;
    if (git_odb_read_header(&size, &type, reading->odb, id) != 0 || type != GIT_OBJECT_TREE ||
        size > LIMIT_REPO_TREE_BYTES || git_tree_lookup(&tree, reading->cache, id) != 0)
        return NULL;
    return tree;
}

static const char is_folder[] = "is a folder";

static enum looked judge(const git_tree_entry *entry, bool last, git_oid *id, char problem[400])
{
    git_oid_cpy(id, git_tree_entry_id(entry));
    switch (git_tree_entry_filemode(entry)) {
    case GIT_FILEMODE_TREE:
        return last ? odd(problem, LOOKED_ODD, is_folder) : LOOKED_FILE;
    case GIT_FILEMODE_LINK:
        return last ? odd(problem, LOOKED_ODD, "is a symbolic link: commit the file itself")
                    : odd(problem, LOOKED_ODD_ABOVE,
                          "lies behind a symbolic link: commit the folder itself");
    case GIT_FILEMODE_COMMIT:
        return last ? odd(problem, LOOKED_ODD,
                          "is a nested repository (a submodule), whose files were not submitted")
                    : odd(problem, LOOKED_ODD_ABOVE,
                          "lies in a nested repository (a submodule), whose files were not "
                          "submitted: remove the .git folder in it, then add and commit the files");
    default:
        return last ? LOOKED_FILE : LOOKED_NOTHING;
    }
}

/* Other entries whose name differs by case only: on some systems only one of them could be there.
 */
static void look_at_case(const struct reading *reading, const git_tree *tree, const char *name)
{
    for (size_t i = 0; i < git_tree_entrycount(tree); ++i) {
        const char *other = git_tree_entry_name(git_tree_entry_byindex(tree, i));
        char shown[80], own[80];
        if (strcasecmp(other, name) == 0 && strcmp(other, name) != 0)
            repo_work_flag(reading->work, REPO_FLAG_CASE,
                           "beside %s there is %s, which Windows and macOS cannot tell from it: "
                           "only the first was graded",
                           text_copy(own, sizeof own, name), text_copy(shown, sizeof shown, other));
    }
}

/* Follows `path` from the commit's tree. LOOKED_FILE: *id is the blob. `chosen`: it is the file
 * that counts if it is there. */
static enum looked look(const struct reading *reading, const char *path, bool chosen, git_oid *id,
                        char problem[400])
{
    char parts[800];
    git_oid_cpy(id, &reading->root);
    (void)snprintf(parts, sizeof parts, "%s", path);
    char *rest = parts;
    for (char *part; (part = strsep(&rest, "/")) != NULL;) {
        git_tree *tree = load_tree(reading, id);
        if (tree == NULL)
            return LOOKED_LOST;
        const git_tree_entry *entry = git_tree_entry_byname(tree, part);
        enum looked looked =
            entry == NULL ? LOOKED_NOTHING : judge(entry, rest == NULL, id, problem);
        if (looked == LOOKED_FILE && rest == NULL && chosen)
            look_at_case(reading, tree, part);
        git_tree_free(tree);
        if (looked != LOOKED_FILE)
            return looked;
    }
    return LOOKED_FILE;
}

static int lost(const struct reading *reading, const char *path)
{
    char shown[200];
    (void)text_copy(shown, sizeof shown, path);
    if ((reading->work->task->traits & REPO_TRAIT_PARTIAL) != 0)
        return repo_work_refuse(reading->work, REPO_PARTIAL,
                                "the content of %s in commit %s is not in the repo, which is a "
                                "partial clone (git clone --filter)",
                                shown, reading->commit);
    return repo_work_refuse(reading->work, REPO_DAMAGED,
                            "the content of %s in commit %s is missing or corrupt", shown,
                            reading->commit);
}

/* Appends the blob to the payload. */
static int read_blob(const struct reading *reading, size_t index, const git_oid *id)
{
    struct repo_reply_file *file = &reading->work->reply.files[index];
    uint64_t limit = reading->work->task->wanted[index].limit;
    git_object_t type = GIT_OBJECT_INVALID;
    git_blob *blob = NULL;
    size_t size = 0;
    int status = 0;
    if (git_odb_read_header(&size, &type, reading->odb, id) != 0 || type != GIT_OBJECT_BLOB)
        return lost(reading, file->path);
    if (size > limit)
        (void)snprintf(file->problem, sizeof file->problem,
                       "has %zu bytes; %llu are read at most%s", size, (unsigned long long)limit,
                       index == 0 ? ", and a lab's source has a few thousand" : "");
    else if (git_blob_lookup(&blob, reading->cache, id) != 0)
        status = lost(reading, file->path);
    else if (bytes_append(&reading->work->payload, git_blob_rawcontent(blob), size) != 0)
        status = repo_work_machine(reading->work, "out of memory");
    else
        file->length = size;
    git_blob_free(blob);
    return status;
}

/* ---- A file that is elsewhere ---------------------------------------------------------------- */

struct search {
    const struct reading *reading;
    const char *name;
    char found[300]; /* "a/x.cu and b/x.cu" */
    size_t found_count;
    char nested[200]; /* the first nested repository */
    size_t entries;
};

#define SEARCH_DEPTH 12

static void note_found(struct search *search, const char *path)
{
    char shown[100];
    size_t used = strlen(search->found);
    if (++search->found_count <= 3)
        (void)snprintf(search->found + used, sizeof search->found - used, "%s%s",
                       search->found_count == 1 ? "" : ", ", text_copy(shown, sizeof shown, path));
}

/* Recurses SEARCH_DEPTH deep at most. */
static void search_tree(struct search *search, const git_oid *id, const char *folder,
                        unsigned depth)
{
    git_tree *tree = depth < SEARCH_DEPTH ? load_tree(search->reading, id) : NULL;
    size_t count = tree == NULL ? 0 : git_tree_entrycount(tree);
    for (size_t i = 0; i < count && search->entries < LIMIT_REPO_TREE_ENTRIES; ++i) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        git_filemode_t mode = git_tree_entry_filemode(entry);
        char path[800];
        ++search->entries;
        join(path, folder, git_tree_entry_name(entry));
        if (mode == GIT_FILEMODE_TREE && strlen(path) < 600)
            search_tree(search, git_tree_entry_id(entry), path, depth + 1);
        else if (mode == GIT_FILEMODE_COMMIT && search->nested[0] == '\0')
            (void)text_copy(search->nested, sizeof search->nested, path);
        else if (mode != GIT_FILEMODE_TREE &&
                 strcasecmp(git_tree_entry_name(entry), search->name) == 0)
            note_found(search, path);
    }
    git_tree_free(tree);
}

bool repo_blobs_of(struct repo_work *work, git_repository *cache, git_odb *odb, const git_oid *root,
                   struct repo_blobs *ret)
{
    struct reading reading = {.work = work, .cache = cache, .odb = odb};
    char folders[REPO_FOLDERS_MAX + 1][600], first[600] = "", problem[400];
    git_oid_cpy(&reading.root, root);
    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < work->task->wanted_count; ++i) {
        size_t count = 0;
        enum looked looked = LOOKED_NOTHING;
        if (work->task->wanted[i].unscored)
            continue;
        if (i > 0)
            (void)snprintf(folders[count++], sizeof folders[0], "%s", first);
        count += repo_folders(work->task, i, folders + count);
        for (size_t k = 0; looked == LOOKED_NOTHING && k < count; ++k) {
            char path[800];
            join(path, folders[k], work->task->wanted[i].name);
            looked = look(&reading, path, false, &ret->ids[i], problem);
            if (i == 0 && looked == LOOKED_FILE)
                (void)snprintf(first, sizeof first, "%s", folders[k]);
        }
        if (looked == LOOKED_NOTHING)
            memset(&ret->ids[i], 0, sizeof ret->ids[i]);
        if (looked != LOOKED_FILE && (i == 0 || looked != LOOKED_NOTHING))
            return false;
    }
    return true;
}

static int no_source(const struct reading *reading)
{
    const struct repo_task *task = reading->work->task;
    const char *name = task->wanted[0].name;
    struct search search = {.reading = reading, .name = name};
    char folders[REPO_FOLDERS_MAX][600], places[300] = "";
    size_t count = repo_folders(task, 0, folders), used = 0;
    search_tree(&search, &reading->root, "", 0);
    for (size_t i = 0; i < count && used < sizeof places; ++i)
        used += (size_t)snprintf(places + used, sizeof places - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 folders[i][0] == '\0' ? "the top folder" : folders[i]);
    if (search.found_count > 0)
        return repo_work_refuse(
            reading->work, REPO_NO_SOURCE,
            "commit %s has no %s in %s; it has %s: the name has to be the same letter by letter, "
            "and the folder one of these",
            reading->commit, name, places, search.found);
    if (search.nested[0] != '\0')
        return repo_work_refuse(
            reading->work, REPO_NO_SOURCE,
            "commit %s has no %s; %s is a nested repository (a submodule), "
            "whose files were not submitted: remove the .git folder in it, then "
            "add and commit the files",
            reading->commit, name, search.nested);
    return repo_work_refuse(reading->work, REPO_NO_SOURCE,
                            "commit %s has no file %s: it belongs in %s", reading->commit, name,
                            places);
}

/* The folder of the first file, when that was found. */
static bool first_folder(const struct repo_work *work, char into[600])
{
    const char *path = work->reply.files[0].path, *slash = strrchr(path, '/');
    (void)snprintf(into, 600, "%.*s", slash == NULL ? 0 : (int)(slash - path), path);
    return work->reply.files[0].found == 1;
}

/* ---- What counted, and what did not -----------------------------------------------------------
 */

/* A file of the same name in one of the other folders, with other content: whoever edits that one
 * waits for points in vain. */
static void look_for_another(const struct reading *reading, size_t index, const git_oid *id,
                             char folders[][600], size_t count)
{
    const char *chosen = reading->work->reply.files[index].path;
    char others[120] = "", shown[70], own[70], problem[400];
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
        char path[800];
        git_oid other;
        join(path, folders[i], reading->work->task->wanted[index].name);
        if (strcmp(path, chosen) == 0 ||
            look(reading, path, false, &other, problem) != LOOKED_FILE || git_oid_equal(&other, id))
            continue;
        size_t used = strlen(others);
        (void)snprintf(others + used, sizeof others - used, "%s%s", found++ == 0 ? "" : " or ",
                       text_copy(shown, sizeof shown, path));
    }
    if (found > 0)
        repo_work_flag(reading->work, index == 0 ? REPO_FLAG_TWICE : REPO_FLAG_TWICE_OTHER,
                       "%s counted, and not %s, which %s from it",
                       text_copy(own, sizeof own, chosen), others,
                       found == 1 ? "differs" : "differ");
}

/* What stands where the folder that the request names should be, a clause. */
static void describe_folder(const struct reading *reading, const char *folder, char into[160])
{
    char problem[400] = "";
    git_oid id;
    enum looked looked = look(reading, folder, false, &id, problem);
    if (looked == LOOKED_ODD && strcmp(problem, is_folder) == 0)
        (void)snprintf(into, 160, "has no %s", reading->work->task->wanted[0].name);
    else
        (void)snprintf(into, 160, "%s",
                       looked == LOOKED_FILE  ? "is a file"
                       : looked == LOOKED_ODD ? "is no folder"
                                              : "is not there");
}

/* It was passed over for one of the usual places. */
static void look_at_path(const struct reading *reading)
{
    struct repo_work *work = reading->work;
    const char *folder = work->task->path;
    char chosen[600], clause[160], shown[60], own[70];
    if (folder[0] == '\0' || (first_folder(work, chosen) && strcmp(folder, chosen) == 0))
        return;
    describe_folder(reading, folder, clause);
    repo_work_flag(work, REPO_FLAG_PATH, REPO_PATH_NOTE "%s, which %s: %s counted instead",
                   text_copy(shown, sizeof shown, folder), clause,
                   text_copy(own, sizeof own, work->reply.files[0].path));
}

/* ---- The step -------------------------------------------------------------------------------- */

static int read_wanted(const struct reading *reading, size_t index)
{
    struct repo_work *work = reading->work;
    struct repo_reply_file *file = &work->reply.files[index];
    char folders[REPO_FOLDERS_MAX + 1][600], above[800] = "", above_problem[400] = "";
    size_t count = 0;
    if (index > 0 && first_folder(work, folders[0]))
        ++count;
    count += repo_folders(work->task, index, folders + count);
    for (size_t i = 0; i < count; ++i) {
        char path[800];
        git_oid id;
        join(path, folders[i], work->task->wanted[index].name);
        enum looked looked = look(reading, path, true, &id, file->problem);
        if (looked == LOOKED_LOST)
            return lost(reading, path);
        if (looked == LOOKED_ODD_ABOVE && above[0] == '\0') {
            (void)snprintf(above, sizeof above, "%s", path);
            (void)snprintf(above_problem, sizeof above_problem, "%s", file->problem);
        }
        file->problem[looked == LOOKED_ODD_ABOVE ? 0 : strlen(file->problem)] = '\0';
        if (looked != LOOKED_FILE && looked != LOOKED_ODD)
            continue;
        (void)snprintf(file->path, sizeof file->path, "%s", path);
        file->found = 1;
        if (looked == LOOKED_FILE)
            look_for_another(reading, index, &id, folders, count);
        return looked == LOOKED_ODD ? 0 : read_blob(reading, index, &id);
    }
    if (above[0] != '\0') {
        (void)snprintf(file->path, sizeof file->path, "%s", above);
        (void)snprintf(file->problem, sizeof file->problem, "%s", above_problem);
        file->found = 1;
    }
    return 0;
}

/* `graded`, `newest`: trees, most often the same. */
static int read_files(struct reading *reading, const git_oid *graded, const git_oid *newest)
{
    struct repo_work *work = reading->work;
    int status = 0;
    for (size_t i = 0;
         status == 0 && work->reply.reason == REPO_FINE && i < work->task->wanted_count; ++i) {
        git_oid_cpy(&reading->root, work->task->wanted[i].unscored ? newest : graded);
        status = read_wanted(reading, i);
        if (i > 0 || status != 0 || work->reply.reason != REPO_FINE)
            continue;
        if (work->reply.files[0].found)
            look_at_path(reading);
        else
            status = no_source(reading);
    }
    return status;
}

int repo_work_read(struct repo_work *work)
{
    int status = 0;
    git_commit *commit = NULL, *earlier = NULL;
    git_repository *cache = repo_store_open(work, &status);
    if (cache == NULL)
        return status;
    struct reading reading = {.work = work, .cache = cache};
    status = repo_pick(work, cache, &commit);
    if (commit != NULL && status == 0 && work->reply.reason == REPO_FINE) {
        git_oid_cpy(&reading.root, git_commit_tree_id(commit));
        if (git_repository_odb(&reading.odb, cache) == 0) {
            repo_pick_same(work, cache, reading.odb, commit, &earlier);
            const git_commit *graded = earlier != NULL ? earlier : commit;
            (void)git_oid_tostr(reading.commit, sizeof reading.commit, git_commit_id(graded));
            status = read_files(&reading, git_commit_tree_id(graded), git_commit_tree_id(commit));
        } else {
            status = repo_work_machine(work, "cannot read the cache: %s", repo_git_words());
        }
    }
    if (work->reply.reason != REPO_FINE) {
        memset(work->reply.files, 0, sizeof work->reply.files);
        /* Which says that what is graded is whole. */
        work->reply.flags &= ~(1u << REPO_FLAG_CUT);
        work->reply.flag_text[REPO_FLAG_CUT][0] = '\0';
    }
    git_odb_free(reading.odb);
    git_commit_free(earlier);
    git_commit_free(commit);
    git_repository_free(cache);
    return status;
}

/* submission_git.c - a commit as a place to read a submission from, through libgit2.
 *
 * Blobs are read from the commit's tree: no checkout, no filters, no hooks, no submodules. */
#include "submission.h"

#include <git2.h>
#include <sys/stat.h>

struct git_place {
    git_repository *repository;
    git_tree *tree;
    char revision[48]; /* abbreviated id, for messages */
};

/* What the system refused is the machine's trouble, whatever was asked for. */
static int git_failure(struct error *err, enum error_kind kind, const char *what, const char *name)
{
    const git_error *last = git_error_last();
    if (last != NULL && (last->klass == GIT_ERROR_NOMEMORY || last->klass == GIT_ERROR_OS))
        kind = ERROR_INFRASTRUCTURE;
    return error_set(err, kind, "%s %s: %s", what, name,
                     last != NULL && last->message != NULL ? last->message : "unknown git error");
}

/* True when a folder of the path is a nested repository: git commits its name and none of its
 * files. Cuts the path. */
static bool lies_in_nested_repository(const git_tree *tree, char *path)
{
    bool nested = false;
    for (char *slash; !nested && (slash = strrchr(path, '/')) != NULL;) {
        *slash = '\0';
        git_tree_entry *entry = NULL;
        if (git_tree_entry_bypath(&entry, tree, path) == 0)
            nested = git_tree_entry_filemode(entry) == GIT_FILEMODE_COMMIT;
        git_tree_entry_free(entry);
    }
    return nested;
}

static enum file_status lacks_object(char problem[200])
{
    (void)snprintf(problem, 200,
                   "it is not in this repository (a partial clone, or a damaged one): clone it "
                   "again in full");
    return FILE_UNREADABLE;
}

static enum file_status missing_entry(const git_tree *tree, char *relative, int code,
                                      char problem[200])
{
    const git_error *last = git_error_last();
    if (code != GIT_ENOTFOUND || (last != NULL && last->klass == GIT_ERROR_ODB))
        return lacks_object(problem);
    if (!lies_in_nested_repository(tree, relative))
        return FILE_MISSING;
    (void)snprintf(problem, 200, "lies in a nested repository, whose files were not submitted");
    return FILE_NOT_REGULAR;
}

/* The size is asked first: a blob is loaded whole. */
static enum file_status read_blob(git_repository *repository, const git_oid *id,
                                  struct bytes *content, size_t limit, char problem[200])
{
    git_odb *database = NULL;
    git_blob *blob = NULL;
    git_object_t type = GIT_OBJECT_INVALID;
    size_t size = 0;
    enum file_status status = FILE_READ;
    if (git_repository_odb(&database, repository) != 0 ||
        git_odb_read_header(&size, &type, database, id) != 0 || type != GIT_OBJECT_BLOB)
        status = lacks_object(problem);
    else if (size > limit)
        status = FILE_TOO_LARGE;
    else if (git_blob_lookup(&blob, repository, id) != 0)
        status = lacks_object(problem);
    else if (bytes_append(content, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob)) !=
             0) {
        (void)snprintf(problem, 200, "out of memory");
        status = FILE_UNREADABLE;
    }
    git_blob_free(blob);
    git_odb_free(database);
    return status;
}

static enum file_status git_read(const struct submission_place *place, struct bytes *content,
                                 const char *folder, const char *name, size_t limit,
                                 char problem[200])
{
    const struct git_place *state = place->state;
    *content = bytes_with_limit(limit);
    AUTO_FREE char *path = path_join(folder, name); /* the tree's root is "" */
    git_tree_entry *entry = NULL;
    if (path == NULL) {
        (void)snprintf(problem, 200, "out of memory");
        return FILE_UNREADABLE;
    }
    int found = git_tree_entry_bypath(&entry, state->tree, path);
    if (found != 0)
        return missing_entry(state->tree, path, found, problem);
    git_filemode_t mode = git_tree_entry_filemode(entry);
    enum file_status status = FILE_NOT_REGULAR;
    if (mode == GIT_FILEMODE_LINK)
        (void)snprintf(problem, 200, "is a symbolic link: commit the file itself");
    else if (mode == GIT_FILEMODE_COMMIT)
        (void)snprintf(problem, 200, "is a nested repository, whose files were not submitted");
    else if (mode == GIT_FILEMODE_TREE)
        (void)snprintf(problem, 200, "is a folder");
    else
        status = read_blob(state->repository, git_tree_entry_id(entry), content, limit, problem);
    git_tree_entry_free(entry);
    return status;
}

static char *git_describe_path(const struct submission_place *place, const char *folder,
                               const char *name)
{
    const struct git_place *state = place->state;
    AUTO_FREE char *path = path_join(folder, name);
    char *text = NULL;
    return path == NULL || asprintf(&text, "%s:%s", state->revision, path) < 0 ? NULL : text;
}

/* The folder's path inside the working tree, without slashes at its ends; "" for a bare repository.
 */
static char *path_inside(git_repository *repository, const char *directory)
{
    const char *root = git_repository_workdir(repository);
    AUTO_FREE char *real = root == NULL ? NULL : realpath(root, NULL);
    size_t length = real == NULL ? 0 : strlen(real);
    if (real == NULL || strncmp(directory, real, length) != 0)
        return strdup("");
    const char *inside = directory + length;
    if (length > 1 && inside[0] != '/')
        return strdup("");
    return strdup(inside + strspn(inside, "/"));
}

/* libgit2 refuses repositories of other users, and has more than one code and sentence for it. */
static int cannot_open(const char *directory, struct error *err)
{
    struct stat info;
    const git_error *last = git_error_last();
    const char *words = last != NULL && last->message != NULL ? last->message : "";
    bool foreign = stat(directory, &info) == 0 && info.st_uid != geteuid();
    if (foreign && (strstr(words, "owned") != NULL || strstr(words, "safe.directory") != NULL))
        return error_set(err, ERROR_USAGE,
                         "the git repository at %s belongs to another user, and git does not read "
                         "such ones: copy it, or say `git config --global --add safe.directory %s`",
                         directory, directory);
    return git_failure(err, ERROR_USAGE, "no git repository that can be opened at", directory);
}

int submission_git_open(struct submission_place *place, struct submission *submission,
                        const char *directory, const char *revision, char **prefix,
                        struct error *err)
{
    struct git_place *state = calloc(1, sizeof *state);
    if (state == NULL)
        return error_no_memory(err);
    *place =
        (struct submission_place){.read = git_read, .describe = git_describe_path, .state = state};
    (void)git_libgit2_init();
    if (git_repository_open_ext(&state->repository, directory, 0, NULL) != 0)
        return cannot_open(directory, err);
    git_object *object = NULL, *commit = NULL;
    int status = -1;
    if (git_revparse_single(&object, state->repository, revision) != 0 ||
        git_object_peel(&commit, object, GIT_OBJECT_COMMIT) != 0)
        git_failure(err, ERROR_USAGE, "there is no commit", revision);
    else if (git_commit_tree(&state->tree, (git_commit *)commit) != 0)
        git_failure(err, ERROR_INFRASTRUCTURE, "cannot read the tree of", revision);
    else {
        git_oid_tostr(submission->commit, sizeof submission->commit, git_object_id(commit));
        (void)snprintf(state->revision, sizeof state->revision, "%.10s", submission->commit);
        (void)snprintf(submission->chosen, sizeof submission->chosen, "--rev %s", revision);
        *prefix = path_inside(state->repository, directory);
        status = *prefix == NULL ? error_no_memory(err) : 0;
    }
    git_object_free(commit);
    git_object_free(object);
    return status;
}

void submission_git_close(struct submission_place *place)
{
    struct git_place *state = place->state;
    if (state == NULL)
        return;
    git_tree_free(state->tree);
    git_repository_free(state->repository);
    free(state);
    (void)git_libgit2_shutdown();
    place->state = NULL;
}

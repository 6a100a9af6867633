/* release_git.c - the repository of a release, through libgit2: its one commit, and every object.
 *
 * Blobs are made from the very bytes that lie in the folder, past all filters: the configuration of
 * whoever releases must not change a line ending. */
#include "release.h"

#include <git2.h>

#include "files.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)

static int git_failure(struct error *err, const char *what)
{
    const git_error *last = git_error_last();
    return error_set(err, ERROR_INFRASTRUCTURE, "%s: %s", what,
                     last != NULL && last->message != NULL ? last->message : "unknown git error");
}

/* ---- The commit ------------------------------------------------------------------------------ */

static int add_file(git_repository *repository, git_index *index, const char *folder,
                    const char *name, struct error *err)
{
    AUTO_FREE char *path = path_join(folder, name);
    struct bytes content = {0};
    if (path == NULL)
        return error_no_memory(err);
    enum file_status status = file_read(&content, path, FILE_BYTES_MAX, false);
    if (status != FILE_READ)
        return error_set(err, ERROR_INFRASTRUCTURE, "%s: %s", path, file_status_text(status));
    git_index_entry entry = {.path = name, .mode = GIT_FILEMODE_BLOB};
    int failed = git_blob_create_from_buffer(&entry.id, repository, bytes_text(&content),
                                             content.length) != 0 ||
                 git_index_add(index, &entry) != 0;
    bytes_release(&content);
    return failed ? git_failure(err, "cannot add a file to the repository") : 0;
}

/* The name that git knows for this user, else the program's. */
static int sign(git_signature **out, git_repository *repository)
{
    return git_signature_default(out, repository) == 0
               ? 0
               : git_signature_now(out, "Spillway", "spillway@localhost");
}

int release_git_commit(const char *folder, const char *const *names, size_t count,
                       const char *message, char commit[48], struct error *err)
{
    git_repository *repository = NULL;
    git_index *index = NULL;
    git_tree *tree = NULL;
    git_signature *author = NULL;
    git_oid tree_id, commit_id;
    git_repository_init_options options = {.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION,
                                           .flags = GIT_REPOSITORY_INIT_NO_REINIT,
                                           .initial_head = "main"};
    int status = -1;
    (void)git_libgit2_init();
    if (git_repository_init_ext(&repository, folder, &options) != 0 ||
        git_repository_index(&index, repository) != 0) {
        git_failure(err, "cannot make a git repository");
        goto done;
    }
    for (size_t i = 0; i < count; ++i)
        if (add_file(repository, index, folder, names[i], err) != 0)
            goto done;
    if (git_index_write(index) != 0 || git_index_write_tree(&tree_id, index) != 0 ||
        git_tree_lookup(&tree, repository, &tree_id) != 0 || sign(&author, repository) != 0 ||
        git_commit_create(&commit_id, repository, "HEAD", author, author, NULL, message, tree, 0,
                          NULL) != 0) {
        git_failure(err, "cannot make the first commit");
        goto done;
    }
    git_oid_tostr(commit, 48, &commit_id);
    status = 0;
done:
    git_signature_free(author);
    git_tree_free(tree);
    git_index_free(index);
    git_repository_free(repository);
    (void)git_libgit2_shutdown();
    return status;
}

/* ---- Every object ---------------------------------------------------------------------------- */

struct visit {
    git_odb *database;
    release_object_visitor *each;
    void *context;
};

static int visit_object(const git_oid *id, void *payload)
{
    const struct visit *visit = payload;
    git_odb_object *object = NULL;
    char hex[48];
    if (git_odb_read(&object, visit->database, id) != 0)
        return -1;
    git_oid_tostr(hex, sizeof hex, id);
    int status =
        visit->each(visit->context, hex, git_object_type2string(git_odb_object_type(object)),
                    git_odb_object_data(object), git_odb_object_size(object));
    git_odb_object_free(object);
    return status;
}

int release_git_objects(const char *folder, release_object_visitor *each, void *context,
                        struct error *err)
{
    git_repository *repository = NULL;
    git_odb *database = NULL;
    int status = 0;
    (void)git_libgit2_init();
    int opened = git_repository_open_ext(&repository, folder, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
    if (opened == GIT_ENOTFOUND)
        goto done;
    struct visit visit = {.each = each, .context = context};
    if (opened != 0 || git_repository_odb(&database, repository) != 0)
        status = git_failure(err, "cannot open the git repository");
    visit.database = database;
    if (status == 0 && git_odb_foreach(database, visit_object, &visit) != 0)
        status = git_failure(err, "cannot read the git history");
done:
    git_odb_free(database);
    git_repository_free(repository);
    (void)git_libgit2_shutdown();
    return status;
}

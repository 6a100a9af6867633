#include "support_git.h"

#include <git2.h>

#define CHECKED(call)                                                                              \
    do {                                                                                           \
        int code_ = (call);                                                                        \
        ck_assert_msg(code_ == 0, "%s: %s", #call,                                                 \
                      git_error_last() != NULL ? git_error_last()->message : "");                  \
    } while (0)

static git_repository *open_repository(const char *path)
{
    git_repository *repository = NULL;
    (void)git_libgit2_init();
    CHECKED(git_repository_open(&repository, path));
    return repository;
}

static void close_repository(git_repository *repository)
{
    git_repository_free(repository);
    (void)git_libgit2_shutdown();
}

void support_git_init(const char *path, bool bare)
{
    git_repository *repository = NULL;
    ck_assert_int_eq(setenv("HOME", testing_temporary_folder(), 1), 0);
    ck_assert_int_eq(setenv("XDG_CONFIG_HOME", testing_temporary_folder(), 1), 0);
    (void)git_libgit2_init();
    git_repository_init_options options = {.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION};
    options.flags = GIT_REPOSITORY_INIT_MKPATH | (bare ? GIT_REPOSITORY_INIT_BARE : 0);
    options.initial_head = "main";
    CHECKED(git_repository_init_ext(&repository, path, &options));
    close_repository(repository);
}

static void add(git_repository *repository, git_index *index, const struct git_file *file)
{
    git_index_entry entry = {.path = file->path, .mode = GIT_FILEMODE_BLOB};
    if (file->kind == GIT_FILE_NESTED) {
        entry.mode = GIT_FILEMODE_COMMIT;
        CHECKED(git_oid_fromstr(&entry.id, "1111111111111111111111111111111111111111"));
        CHECKED(git_index_add(index, &entry));
        return;
    }
    if (file->kind == GIT_FILE_LINK)
        entry.mode = GIT_FILEMODE_LINK;
    size_t length = file->length != 0 ? file->length : strlen(file->data);
    CHECKED(git_blob_create_from_buffer(&entry.id, repository, file->data, length));
    CHECKED(git_index_add(index, &entry));
}

void support_git_commit(const char *path, const struct git_file *files, size_t count, char id[48])
{
    support_git_commit_at(path, files, count, id, SUPPORT_GIT_DATE);
}

void support_git_commit_at(const char *path, const struct git_file *files, size_t count,
                           char id[48], int64_t unix_s)
{
    git_repository *repository = open_repository(path);
    git_index *index = NULL;
    git_tree *tree = NULL;
    git_object *parent = NULL;
    git_signature *somebody = NULL;
    git_oid tree_id, commit_id;
    CHECKED(git_repository_index(&index, repository));
    CHECKED(git_index_clear(index));
    for (size_t i = 0; i < count; ++i)
        add(repository, index, &files[i]);
    CHECKED(git_index_write_tree(&tree_id, index));
    CHECKED(git_tree_lookup(&tree, repository, &tree_id));
    CHECKED(git_signature_new(&somebody, "A Student", "student@example.org", unix_s, 0));
    bool first = git_revparse_single(&parent, repository, "HEAD") != 0;
    const git_commit *parents[] = {(const git_commit *)parent};
    CHECKED(git_commit_create(&commit_id, repository, "HEAD", somebody, somebody, NULL, "work",
                              tree, first ? 0 : 1, parents));
    if (id != NULL)
        git_oid_tostr(id, 48, &commit_id);
    git_signature_free(somebody);
    git_object_free(parent);
    git_tree_free(tree);
    git_index_free(index);
    close_repository(repository);
}

void support_git_tag(const char *path, const char *name, const char *revision)
{
    git_repository *repository = open_repository(path);
    git_object *target = NULL;
    git_signature *somebody = NULL;
    git_oid id;
    CHECKED(git_revparse_single(&target, repository, revision));
    CHECKED(git_signature_new(&somebody, "A Student", "student@example.org", 1700000000, 0));
    CHECKED(git_tag_create(&id, repository, name, target, somebody, "handed in", 0));
    git_signature_free(somebody);
    git_object_free(target);
    close_repository(repository);
}

void support_git_lose(const char *path, const char *revision)
{
    git_repository *repository = open_repository(path);
    git_object *object = NULL;
    char hex[48], file[2000];
    CHECKED(git_revparse_single(&object, repository, revision));
    git_oid_tostr(hex, sizeof hex, git_object_id(object));
    (void)snprintf(file, sizeof file, "%sobjects/%.2s/%s", git_repository_path(repository), hex,
                   hex + 2);
    ck_assert_msg(unlink(file) == 0, "%s", file);
    git_object_free(object);
    close_repository(repository);
}

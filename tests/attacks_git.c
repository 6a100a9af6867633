/* attacks_git.c - submissions that are commits: links, nested repositories, and a repository whose
 * configuration names programs. */
#include "attacks.h"

#include <git2.h>
#include <sys/stat.h>

#include "files.h"

static int git_failed(struct error *err, const struct attack_place *place, const char *what)
{
    const git_error *last = git_error_last();
    return error_set(err, ERROR_INFRASTRUCTURE, "attack %s: %s: %s", place->name, what,
                     last == NULL ? "?" : last->message);
}

/* Adds a file of the submission's folder to the tree, by its content. */
static int add_file(git_treebuilder *tree, git_repository *repository, const char *name)
{
    git_oid id;
    AUTO_FREE char *path = path_join(git_repository_workdir(repository), name);
    return path == NULL || git_blob_create_from_disk(&id, repository, path) != 0
               ? -1
               : git_treebuilder_insert(NULL, tree, name, &id, GIT_FILEMODE_BLOB);
}

/* Commits answers.ini and the source: as it is, as a link to `target`, or, as the folder that holds
 * it, a nested repository. */
static int commit_as(const struct attack_place *place, git_filemode_t mode, const char *target,
                     struct error *err)
{
    git_repository *repository = NULL;
    git_treebuilder *tree = NULL;
    git_tree *written = NULL;
    git_signature *who = NULL;
    git_oid id, commit;
    bool good = git_libgit2_init() > 0 &&
                git_repository_init(&repository, place->submission, 0) == 0 &&
                git_treebuilder_new(&tree, repository, NULL) == 0 &&
                add_file(tree, repository, "answers.ini") == 0;
    if (good && mode == GIT_FILEMODE_LINK)
        good = git_blob_create_from_buffer(&id, repository, target, strlen(target)) == 0 &&
               git_treebuilder_insert(NULL, tree, "registers.cu", &id, mode) == 0;
    else if (good && mode == GIT_FILEMODE_COMMIT)
        good = git_oid_fromstr(&id, "1234567812345678123456781234567812345678") == 0 &&
               git_treebuilder_insert(NULL, tree, "starter", &id, mode) == 0;
    else if (good)
        good = add_file(tree, repository, "registers.cu") == 0 &&
               add_file(tree, repository, ".gitattributes") == 0;
    good =
        good && git_treebuilder_write(&id, tree) == 0 &&
        git_tree_lookup(&written, repository, &id) == 0 &&
        git_signature_new(&who, "A", "a@b", 1700000000, 0) == 0 &&
        git_commit_create(&commit, repository, "HEAD", who, who, NULL, "x", written, 0, NULL) == 0;
    if (!good)
        git_failed(err, place, "cannot make the repository");
    git_signature_free(who);
    git_tree_free(written);
    git_treebuilder_free(tree);
    git_repository_free(repository);
    (void)git_libgit2_shutdown();
    return good ? 0 : -1;
}

int attack_committed_link(const struct attack_place *place, struct error *err)
{
    AUTO_FREE char *target = path_join(place->reference, "registers.cu");
    return target == NULL ? error_no_memory(err) : commit_as(place, GIT_FILEMODE_LINK, target, err);
}

int attack_committed_repository(const struct attack_place *place, struct error *err)
{
    return commit_as(place, GIT_FILEMODE_COMMIT, NULL, err);
}

/* Hooks and programs that git would run on a checkout, a status or a fetch. */
int attack_repository_runs_programs(const struct attack_place *place, struct error *err)
{
    static const char *const hooks[] = {"post-checkout", "reference-transaction", "fsmonitor"};
    static const char attributes[] = "*.cu filter=x\n";
    char text[2000];
    AUTO_FREE char *attributes_path = path_join(place->submission, ".gitattributes");
    if (attributes_path == NULL ||
        file_write(attributes_path, attributes, sizeof attributes - 1, err) != 0)
        return error_no_memory(err);
    if (commit_as(place, GIT_FILEMODE_BLOB, NULL, err) != 0)
        return -1;
    (void)snprintf(text, sizeof text,
                   "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch %s\n"
                   "\tsshCommand = touch %s\n\tpager = touch %s\n"
                   "[filter \"x\"]\n\tsmudge = touch %s\n\tclean = touch %s\n\trequired = true\n"
                   "[include]\n\tpath = /dev/zero\n[alias]\n\tlog = !touch %s\n",
                   place->escaped, place->escaped, place->escaped, place->escaped, place->escaped,
                   place->escaped);
    AUTO_FREE char *config = path_join(place->submission, ".git/config");
    if (config == NULL || file_write(config, text, strlen(text), err) != 0)
        return -1;
    for (size_t i = 0; i < COUNT_OF(hooks); ++i) {
        AUTO_FREE char *folder = path_join(place->submission, ".git/hooks");
        AUTO_FREE char *hook = folder == NULL ? NULL : path_join(folder, hooks[i]);
        (void)snprintf(text, sizeof text, "#!/bin/sh\ntouch %s\n", place->escaped);
        if (hook == NULL || (mkdir(folder, 0755) != 0 && access(folder, F_OK) != 0) ||
            file_write(hook, text, strlen(text), err) != 0 || chmod(hook, 0755) != 0)
            return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make a hook");
    }
    return 0;
}

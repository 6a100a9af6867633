/* repo_push.c - feedback as a commit on the branch `feedback`, and on no other.
 *
 * The branch's tree gets one folder, named after the lab, which holds exactly the files of this
 * feedback; what else is on the branch stays. With the same tree there is nothing to do. The branch
 * only ever moves forward: what somebody else pushed to it becomes the parent. */
#include "repo_talk.h"

#define LOCAL_REF "refs/spillway/publish"

/* ---- The commit ------------------------------------------------------------------------------ */

/* The tree of the lab's folder. Code of libgit2. */
static int write_folder(const struct repo_work *work, git_repository *repository, git_oid *ret)
{
    git_treebuilder *builder = NULL;
    const uint8_t *content = work->parts.contents;
    int code = git_treebuilder_new(&builder, repository, NULL);
    for (size_t i = 0; code == 0 && i < work->task->file_count; ++i) {
        git_oid blob;
        size_t length = (size_t)work->task->files[i].length;
        code = git_blob_create_from_buffer(&blob, repository, content, length);
        if (code == 0)
            code = git_treebuilder_insert(NULL, builder, work->task->files[i].name, &blob,
                                          GIT_FILEMODE_BLOB);
        content += length;
    }
    if (code == 0)
        code = git_treebuilder_write(ret, builder);
    git_treebuilder_free(builder);
    return code;
}

/* The branch's tree: that of `parent` (NULL: none yet) with the lab's folder replaced. */
static int write_tree(const struct repo_work *work, git_repository *repository, git_commit *parent,
                      git_oid *ret)
{
    git_treebuilder *builder = NULL;
    git_tree *before = NULL;
    git_oid folder;
    int code = write_folder(work, repository, &folder);
    if (code == 0 && parent != NULL)
        code = git_commit_tree(&before, parent);
    if (code == 0)
        code = git_treebuilder_new(&builder, repository, before);
    if (code == 0)
        code =
            git_treebuilder_insert(NULL, builder, work->task->lab_id, &folder, GIT_FILEMODE_TREE);
    if (code == 0)
        code = git_treebuilder_write(ret, builder);
    git_treebuilder_free(builder);
    git_tree_free(before);
    return code;
}

/* Fills reply.commit and reply.unchanged. *id is the new commit, or the parent's if nothing
 * changed. */
static int write_commit(struct repo_work *work, git_repository *repository, git_commit *parent,
                        git_oid *id)
{
    git_signature *spillway = NULL;
    git_tree *tree = NULL;
    git_oid tree_id;
    const git_commit *parents[] = {parent};
    int code = write_tree(work, repository, parent, &tree_id);
    if (code == 0 && parent != NULL && git_oid_equal(&tree_id, git_commit_tree_id(parent))) {
        work->reply.unchanged = 1;
        git_oid_cpy(id, git_commit_id(parent));
    } else if (code == 0) {
        code = git_tree_lookup(&tree, repository, &tree_id);
        if (code == 0)
            code = git_signature_new(&spillway, "Spillway", "spillway@localhost", work->task->now_s,
                                     0);
        if (code == 0)
            code = git_commit_create(id, repository, NULL, spillway, spillway, NULL,
                                     work->task->message, tree, parent == NULL ? 0 : 1, parents);
    }
    git_signature_free(spillway);
    git_tree_free(tree);
    if (code == 0)
        git_oid_tostr(work->reply.commit, sizeof work->reply.commit, id);
    return code;
}

/* ---- Into a folder on this machine ----------------------------------------------------------- */

static int cannot_write(struct repo_work *work)
{
    if (repo_git_disk_full())
        return repo_work_machine(work, "cannot write to the repo: %s", repo_git_words());
    return repo_work_refuse(work, REPO_NO_ACCESS, "cannot write to the repo: %s", repo_git_words());
}

/* A branch that somebody has checked out is not changed under their hands; and the branch that is
 * graded cannot be the one that feedback goes to. */
static bool is_default(struct repo_work *work, git_repository *repository)
{
    git_reference *head = NULL;
    bool same = git_reference_lookup(&head, repository, "HEAD") == 0 &&
                git_reference_symbolic_target(head) != NULL &&
                strcmp(git_reference_symbolic_target(head), REPO_FEEDBACK_REF) == 0;
    git_reference_free(head);
    if (same)
        (void)repo_work_refuse(work, REPO_NO_BRANCH, REPO_DEFAULT_FEEDBACK);
    return same;
}

/* The first branch of a repo becomes its default on many a host, and then the one that is graded.
 */
static bool has_branch(struct repo_work *work, git_repository *repository)
{
    git_reference_iterator *iterator = NULL;
    const char *name;
    bool found = git_reference_iterator_glob_new(&iterator, repository, "refs/heads/*") != 0;
    while (!found && git_reference_next_name(&name, iterator) == 0)
        found = strcmp(name, REPO_FEEDBACK_REF) != 0;
    git_reference_iterator_free(iterator);
    if (!found)
        (void)repo_work_refuse(work, REPO_EMPTY, REPO_NO_WORK);
    return found;
}

static int put(struct repo_work *work, git_repository *repository)
{
    git_oid before, id;
    git_commit *parent = NULL;
    git_reference *made = NULL;
    if (!repo_survey_ref(work, git_repository_path(repository), REPO_FEEDBACK_REF, true))
        return 0;
    int found = git_reference_name_to_id(&before, repository, REPO_FEEDBACK_REF);
    if (found == 0 && repo_commit_lookup(&parent, repository, &before) != 0)
        return repo_work_refuse(work, REPO_DAMAGED, "the branch feedback cannot be read: %s",
                                repo_git_words());
    int code = write_commit(work, repository, parent, &id);
    if (code == 0 && !work->reply.unchanged)
        code = parent == NULL ? git_reference_create(&made, repository, REPO_FEEDBACK_REF, &id, 0,
                                                     work->task->message)
                              : git_reference_create_matching(&made, repository, REPO_FEEDBACK_REF,
                                                              &id, 1, &before, work->task->message);
    git_reference_free(made);
    git_commit_free(parent);
    if (code == GIT_EMODIFIED || code == GIT_EEXISTS) {
        work->reply.retry_whole = 1;
        return repo_work_refuse(work, REPO_NO_BRANCH, "the branch feedback moved meanwhile");
    }
    if (code == GIT_ELOCKED) {
        work->reply.retry_whole = 1;
        return repo_work_refuse(work, REPO_NO_BRANCH,
                                "the branch feedback is locked: another program is changing it, or "
                                "one that was stopped left the file %s.lock in the repo",
                                REPO_FEEDBACK_REF);
    }
    return code == 0 ? 0 : cannot_write(work);
}

int repo_work_put(struct repo_work *work)
{
    git_repository *repository = repo_open_alone(work);
    int status = 0;
    if (repository == NULL)
        return 0;
    /* The commit's log of changes would name whoever runs this, and there may be no name. */
    (void)git_repository_set_ident(repository, "Spillway", "spillway@localhost");
    if (has_branch(work, repository) && !is_default(work, repository))
        status = put(work, repository);
    if (work->reply.reason != REPO_FINE)
        work->reply.commit[0] = '\0';
    git_repository_free(repository);
    return status;
}

/* ---- To a server ----------------------------------------------------------------------------- */

static int on_reference(const char *name, const char *trouble, void *context)
{
    struct repo_work *work = context;
    (void)name;
    if (trouble == NULL)
        return 0;
    work->reply.retry_whole = strstr(trouble, "fetch first") != NULL ||
                              strstr(trouble, "non-fast-forward") != NULL ||
                              strstr(trouble, "failed to update ref") != NULL;
    return repo_work_refuse(work, REPO_NO_BRANCH, "the server refuses the branch feedback: %s",
                            trouble);
}

static int upload(struct repo_work *work, git_repository *cache, const git_oid *id)
{
    static char wish[] = LOCAL_REF ":" REPO_FEEDBACK_REF;
    char *wishes[] = {wish};
    const git_strarray list = {wishes, 1};
    git_push_options options = {.version = GIT_PUSH_OPTIONS_VERSION};
    git_remote *remote = NULL;
    git_reference *made = NULL;
    if (git_reference_create(&made, cache, LOCAL_REF, id, 1, NULL) != 0)
        return repo_work_machine(work, "cannot write to the cache: %s", repo_git_words());
    git_reference_free(made);
    options.callbacks = repo_talk_callbacks(work);
    options.callbacks.push_update_reference = on_reference;
    options.pb_parallelism = 1;
#ifdef REPO_TALK_REDIRECTS
    options.follow_redirects = REPO_TALK_REDIRECTS(work);
#endif
    options.proxy_opts.version = GIT_PROXY_OPTIONS_VERSION;
    options.proxy_opts.type = GIT_PROXY_AUTO;
    int code = git_remote_create_anonymous(&remote, cache, work->task->address);
    if (code == 0)
        code = repo_talk_connect(work, remote, GIT_DIRECTION_PUSH);
    if (code == 0)
        code = git_remote_upload(remote, &list, &options);
    git_remote_free(remote);
    if (code == GIT_ENONFASTFORWARD) {
        work->reply.retry_whole = 1;
        return repo_work_refuse(work, REPO_NO_BRANCH, "the branch feedback moved meanwhile");
    }
    return code == 0 ? 0 : repo_work_cannot_talk(work, code);
}

int repo_work_push(struct repo_work *work)
{
    git_commit *parent = NULL;
    git_oid before, id;
    int status = 0;
    git_repository *cache = repo_store_open(work, &status);
    if (cache == NULL)
        return status;
    bool has_parent = work->task->ref_count > 0;
    if (has_parent && (git_oid_fromstr(&before, work->parts.refs[0].id) != 0 ||
                       repo_commit_lookup(&parent, cache, &before) != 0))
        status = repo_work_refuse(work, REPO_DAMAGED, "the branch feedback cannot be read: %s",
                                  repo_git_words());
    else if (write_commit(work, cache, parent, &id) != 0)
        status = repo_work_machine(work, "cannot write to the cache: %s", repo_git_words());
    else if (!work->reply.unchanged)
        status = upload(work, cache, &id);
    if (work->reply.reason != REPO_FINE)
        work->reply.commit[0] = '\0';
    git_commit_free(parent);
    git_repository_free(cache);
    return status;
}

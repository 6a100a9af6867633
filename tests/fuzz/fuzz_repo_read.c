/* fuzz_repo_read.c - any commit with any tree: the reader answers something that its parent
 * accepts. Input: a length, a file of that length, a length, the headers of a commit (in which TREE
 * is its tree), and a tree in which twenty F are the id of the file, twenty T of the tree, 3 levels
 * deep. */
#include <assert.h>

#include "repo_work.h"
#include "repository.h"
#include "slice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void replace(uint8_t *tree, size_t length, const char *marker, const uint8_t id[20])
{
    for (uint8_t *at = tree; (at = memmem(at, (size_t)(tree + length - at), marker, 20)) != NULL;)
        memcpy(at, id, 20);
}

/* Takes as many bytes as the first one says. */
static struct slice take(struct slice *rest)
{
    size_t length = rest->length == 0 ? 0 : (uint8_t)rest->text[0];
    struct slice body = rest->length == 0 ? *rest : slice_from(*rest, 1);
    if (length > body.length)
        length = body.length;
    *rest = slice_from(body, length);
    return (struct slice){body.text, length};
}

static void put_tree(struct slice pattern, const uint8_t file[20], uint8_t id[20])
{
    uint8_t *tree = malloc(pattern.length + 1);
    for (int depth = 0; tree != NULL && depth < 3; ++depth) {
        if (pattern.length > 0)
            memcpy(tree, pattern.text, pattern.length);
        replace(tree, pattern.length, "FFFFFFFFFFFFFFFFFFFF", file);
        replace(tree, pattern.length, "TTTTTTTTTTTTTTTTTTTT", id);
        repository_put(id, tree, pattern.length, GIT_OBJECT_TREE);
    }
    free(tree);
}

static void put_commit(struct slice headers, const uint8_t tree[20], char hex[41])
{
    uint8_t id[20];
    char text[600], tree_hex[41];
    git_oid raw;
    git_oid_fromraw(&raw, tree);
    git_oid_tostr(tree_hex, sizeof tree_hex, &raw);
    int used = snprintf(text, sizeof text, "tree %s\n", tree_hex);
    if (headers.length > 0)
        memcpy(text + used, headers.text, headers.length);
    repository_put(id, text, (size_t)used + headers.length, GIT_OBJECT_COMMIT);
    git_oid_fromraw(&raw, id);
    git_oid_tostr(hex, 41, &raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static struct repo_task task;
    static struct repo_work work;
    struct slice rest = {(const char *)data, length};
    struct slice content = take(&rest), headers = take(&rest);
    struct repo_ref ref = {.name = "refs/heads/main"};
    uint8_t file[20], tree[20] = {0};
    struct error err = {0};
    repo_task_init(&task, REPO_READ);
    (void)snprintf(task.cache, sizeof task.cache, "%s", repository_folder());
    (void)snprintf(task.graded_ref, sizeof task.graded_ref, "refs/heads/main");
    (void)snprintf(task.lab_id, sizeof task.lab_id, "day17-registers");
    (void)snprintf(task.wanted[0].name, sizeof task.wanted[0].name, "registers.cu");
    (void)snprintf(task.wanted[0].family, sizeof task.wanted[0].family, "starter");
    task.wanted[0].limit = 200;
    task.wanted_count = 1;
    task.ref_count = 1;
    task.has_cutoff = length % 2;
    task.cutoff_s = 1700000000;
    repository_put(file, content.text, content.length, GIT_OBJECT_BLOB);
    put_tree(rest, file, tree);
    put_commit(headers, tree, ref.id);
    memset(&work, 0, sizeof work);
    work = (struct repo_work){
        .task = &task, .parts.refs = &ref, .answers = -1, .ssh = -1, .err = &err};
    work.payload = bytes_with_limit(1000000);
    repo_reply_init(&work.reply, REPO_READ);
    if (repo_work_read(&work) == 0) {
        struct bytes all = bytes_with_limit(2000000);
        static struct repo_reply reply;
        const uint8_t *payload = NULL;
        const char *why = NULL;
        if (work.reply.reason != REPO_FINE)
            bytes_clear(&work.payload);
        work.reply.payload_bytes = work.payload.length;
        (void)bytes_append(&all, &work.reply, sizeof work.reply);
        (void)bytes_append(&all, work.payload.data, work.payload.length);
        bool accepted =
            repo_reply_read(&reply, &payload, (const uint8_t *)all.data, all.length, &task, &why);
        if (!accepted)
            (void)fprintf(stderr, "the reply %s\n", why);
        assert(accepted);
        bytes_release(&all);
    }
    bytes_release(&work.payload);
    repository_forget();
    return 0;
}

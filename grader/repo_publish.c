/* repo_publish.c - the parent's side of repo_push.c. */
#include "repo_publish.h"

#include "repo_call.h"

#define MOVED_MAX 3 /* times that somebody else may push to the branch meanwhile */

static bool put(char *into, size_t room, const char *text)
{
    return snprintf(into, room, "%s", text) < (int)room;
}

/* A name that is one entry of a tree, and no git folder. */
static bool is_plain_name(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0 && strncasecmp(name, ".git", 4) != 0;
}

static int make_task(struct repo_task *task, const struct repo_fetcher *fetcher,
                     const struct repo_publication *publication, struct error *err)
{
    size_t sum = 0;
    repo_task_init(task, REPO_PUSH);
    task->now_s = publication->now_s;
    task->most_bytes = fetcher->options.most_bytes;
    task->most_objects = fetcher->options.most_objects;
    task->choice = REPO_TIP;
    bool fits = put(task->cache, sizeof task->cache, publication->cache) &&
                put(task->lab_id, sizeof task->lab_id, publication->lab_id) &&
                is_plain_name(publication->lab_id) && publication->file_count > 0 &&
                publication->file_count <= REPO_PUBLISH_FILES_MAX;
    if (publication->message != NULL)
        fits = fits && put(task->message, sizeof task->message, publication->message);
    else /* pipelines of the large hosts would start at each push */
        (void)snprintf(task->message, sizeof task->message, "Feedback on %.64s [skip ci]",
                       publication->lab_id);
    for (size_t i = 0; fits && i < publication->file_count; ++i) {
        const struct repo_publish_file *file = &publication->files[i];
        fits = is_plain_name(file->name) &&
               put(task->files[i].name, sizeof task->files[i].name, file->name) &&
               file->length <= LIMIT_PUBLISH_BYTES - sum;
        sum += fits ? file->length : 0;
        task->files[i].length = file->length;
    }
    task->file_count = (uint32_t)publication->file_count;
    return fits ? 0
                : error_set(err, ERROR_USAGE,
                            "feedback is at most %d files and %zu bytes, and names have no slash",
                            REPO_PUBLISH_FILES_MAX, LIMIT_PUBLISH_BYTES);
}

static void refuse(struct repo_published *ret, enum repo_reason reason, const char *detail)
{
    ret->reason = reason;
    (void)repo_sentence(ret->sentence, sizeof ret->sentence, reason, detail);
}

/* What the branch is on the server, into the cache. *found: *ref is its tip. */
static int look_up_branch(const struct repo_call *push, struct repo_published *ret,
                          struct repo_ref *ref, bool *found, struct error *err)
{
    struct repo_call call = {.fetcher = push->fetcher, .url = push->url, .task = push->task};
    call.task.kind = REPO_DOWNLOAD;
    call.task.file_count = 0;
    *found = false;
    (void)snprintf(call.task.ref, sizeof call.task.ref, REPO_FEEDBACK_REF);
    int status = repo_call(&call, err);
    ret->attempts += call.attempts;
    bool listed =
        status == 0 && (call.reply.reason == REPO_FINE || call.reply.reason == REPO_NO_REF);
    if (listed && !call.reply.has_branch)
        refuse(ret, REPO_EMPTY, REPO_NO_WORK);
    else if (listed && strcmp(call.reply.default_ref, REPO_FEEDBACK_REF) == 0)
        refuse(ret, REPO_NO_BRANCH, REPO_DEFAULT_FEEDBACK);
    else if (status == 0 && call.reply.reason == REPO_FINE) {
        memcpy(ref, call.payload.data, sizeof *ref);
        *found = true;
    } else if (status == 0 && call.reply.reason != REPO_NO_REF)
        refuse(ret, (enum repo_reason)call.reply.reason, call.reply.detail);
    repo_call_release(&call);
    return status;
}

static void take(struct repo_published *ret, const struct repo_call *call)
{
    ret->unchanged = call->reply.unchanged;
    (void)snprintf(ret->commit, sizeof ret->commit, "%s", call->reply.commit);
    if (call->reply.reason != REPO_FINE)
        refuse(ret, (enum repo_reason)call->reply.reason, call->reply.detail);
}

/* Once more, on top of what somebody else pushed meanwhile. */
static int publish(struct repo_call *call, struct repo_published *ret, struct error *err)
{
    struct repo_ref ref;
    bool found = false;
    for (int moved = 0;; ++moved) {
        *ret = (struct repo_published){.attempts = ret->attempts};
        if (call->task.kind == REPO_PUSH) {
            if (look_up_branch(call, ret, &ref, &found, err) != 0)
                return -1;
            if (ret->reason != REPO_FINE)
                return 0;
            call->refs = &ref;
            call->task.ref_count = found;
        }
        call->attempts = 0;
        int status = repo_call(call, err);
        ret->attempts += call->attempts;
        if (status != 0)
            return status;
        take(ret, call);
        if (!call->reply.retry_whole || moved == MOVED_MAX)
            return 0;
    }
}

int repo_publish(struct repo_fetcher *fetcher, const struct repo_publication *publication,
                 struct repo_published *ret, struct error *err)
{
    struct repo_url url;
    char problem[300];
    const void *contents[REPO_PUBLISH_FILES_MAX];
    struct repo_answer unreachable = {0};
    *ret = (struct repo_published){0};
    if (!repo_url_parse(&url, publication->address, problem))
        return error_set(err, ERROR_USAGE, "the address of a repo %s", problem);
    struct repo_call call = {.fetcher = fetcher, .url = &url, .contents = contents};
    if (make_task(&call.task, fetcher, publication, err) != 0)
        return -1;
    for (size_t i = 0; i < publication->file_count; ++i)
        contents[i] = publication->files[i].data;
    if (!repo_address_resolve(call.task.address, fetcher, publication->address, &url,
                              &unreachable)) {
        ret->reason = unreachable.reason;
        (void)snprintf(ret->sentence, sizeof ret->sentence, "%s", unreachable.sentence);
        return 0;
    }
    if (repo_kind_is_local(url.kind))
        call.task.kind = REPO_PUT;
    AUTO_CLOSE int lock = repo_cache_lock(publication->cache, err);
    int status = lock < 0 ? -1 : publish(&call, ret, err);
    repo_call_release(&call);
    return status;
}

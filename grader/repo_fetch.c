/* repo_fetch.c - the parent's side: fetch, read, and mend a cache that a killed fetch or a disk
 * left in pieces. */
#include "repo_fetch.h"

#include <errno.h>
#include <git2.h>
#include <sys/stat.h>

#include "disk.h"
#include "files.h"
#include "process.h"
#include "repo_call.h"
#include "submission.h"
#include "text.h"

void repo_fetcher_use(const char *program)
{
    repo_helper_use(program);
}

/* ---- A fetcher ------------------------------------------------------------------------------- */

static struct repo_options without_zeros(const struct repo_options *given)
{
    struct repo_options options = given != NULL ? *given : (struct repo_options){0};
    if (options.silence_ns == 0)
        options.silence_ns = INT64_C(1000000000) * LIMIT_REPO_SILENCE_SECONDS;
    if (options.wall_ns == 0)
        options.wall_ns = INT64_C(1000000000) * LIMIT_REPO_SECONDS;
    if (options.attempts == 0)
        options.attempts = LIMIT_REPO_ATTEMPTS;
    if (options.backoff_ns == 0)
        options.backoff_ns = INT64_C(1000000000);
    if (options.most_bytes == 0)
        options.most_bytes = LIMIT_REPO_BYTES;
    if (options.most_objects == 0)
        options.most_objects = LIMIT_REPO_OBJECTS;
    return options;
}

struct repo_fetcher *repo_fetcher_open(const struct repo_options *options, struct error *err)
{
    struct repo_fetcher *fetcher = calloc(1, sizeof *fetcher);
    if (fetcher == NULL) {
        error_no_memory(err);
        return NULL;
    }
    (void)git_libgit2_init();
    fetcher->options = without_zeros(options);
    fetcher->helper = REPO_HELPER_NONE;
    if (repo_owner_load(fetcher, err) != 0 || repo_helper_start(&fetcher->helper, err) != 0) {
        repo_fetcher_close(fetcher);
        return NULL;
    }
    return fetcher;
}

void repo_fetcher_close(struct repo_fetcher *fetcher)
{
    if (fetcher == NULL)
        return;
    repo_helper_stop(&fetcher->helper);
    repo_owner_release(fetcher);
    repo_credential_wipe(&fetcher->known);
    free(fetcher);
    (void)git_libgit2_shutdown();
}

static bool hash_text(char into[41], const void *data, size_t length)
{
    git_oid id;
    if (git_odb_hash(&id, data, length, GIT_OBJECT_BLOB) != 0)
        return false;
    git_oid_tostr(into, 41, &id);
    return true;
}

char *repo_cache_folder(const char *output_folder, const char *identity)
{
    char hash[41];
    char *path = NULL;
    (void)git_libgit2_init();
    bool hashed = hash_text(hash, identity, strlen(identity));
    (void)git_libgit2_shutdown();
    return !hashed || asprintf(&path, "%s/repos/%s", output_folder, hash) < 0 ? NULL : path;
}

/* ---- The task -------------------------------------------------------------------------------- */

/* Everything that decides which commit and which files, so that equal states mean equal answers. */
static bool note_policy(struct repo_task *task, const struct repo_request *request)
{
    struct bytes text = bytes_with_limit((size_t)4 << 20);
    (void)bytes_printf(&text, "%d\n%d\n%s\n%s\n%s\n%s\n", REPO_VERSION, (int)request->choice,
                       request->ref == NULL ? "" : request->ref,
                       request->tag_pattern == NULL ? "" : request->tag_pattern,
                       request->lab_id == NULL ? "" : request->lab_id,
                       request->path == NULL ? "" : request->path);
    (void)bytes_printf(&text, "%d %lld %d\n", request->has_cutoff, (long long)request->cutoff_s,
                       request->has_push_log);
    (void)bytes_printf(&text, "%d %lld %lld\n", request->has_due, (long long)request->due_s,
                       (long long)request->free_s);
    for (size_t i = 0; i < request->push_count; ++i)
        (void)bytes_printf(&text, "%s %lld\n", request->pushes[i].commit,
                           (long long)request->pushes[i].unix_s);
    for (size_t i = 0; i < request->wanted_count; ++i)
        (void)bytes_printf(&text, "%s\n%s\n%zu %d %s\n", request->wanted[i].name,
                           request->wanted[i].family, request->wanted[i].limit,
                           request->wanted[i].unscored, task->wanted[i].blank);
    bool hashed = !text.failed && hash_text(task->policy, text.data, text.length);
    bytes_release(&text);
    return hashed;
}

/* Copies a text that may be NULL; false if it does not fit. */
static bool put(char *into, size_t room, const char *text)
{
    return snprintf(into, room, "%s", text == NULL ? "" : text) < (int)room;
}

/* --path as git names folders: without a slash at either end and without "./" anywhere. */
static bool put_path(char into[512], const char *path)
{
    if (!put(into, 512, path == NULL ? "" : path + strspn(path, "/")))
        return false;
    path_shorten(into);
    if (strcmp(into, ".") == 0)
        into[0] = '\0';
    return true;
}

static int make_task(struct repo_task *task, const struct repo_fetcher *fetcher,
                     const struct repo_request *request, struct error *err)
{
    repo_task_init(task, REPO_DOWNLOAD);
    task->choice = request->choice;
    task->has_cutoff = request->has_cutoff;
    task->has_push_log = request->has_push_log;
    task->has_due = request->has_due;
    task->due_s = request->due_s;
    task->free_s = request->free_s;
    task->cutoff_s = request->cutoff_s;
    task->now_s = request->now_s;
    task->most_bytes = fetcher->options.most_bytes;
    task->most_objects = fetcher->options.most_objects;
    bool fits = put(task->cache, sizeof task->cache, request->cache) &&
                put(task->ref, sizeof task->ref, request->ref) &&
                put(task->tag_pattern, sizeof task->tag_pattern, request->tag_pattern) &&
                put(task->known_state, sizeof task->known_state, request->known_state) &&
                put(task->cutoff_text, sizeof task->cutoff_text, request->cutoff_text) &&
                put(task->lab_id, sizeof task->lab_id, request->lab_id) &&
                put_path(task->path, request->path) && request->wanted_count <= REPO_FILES_MAX &&
                request->push_count <= LIMIT_REPO_PUSHES;
    for (size_t i = 0; fits && i < request->wanted_count; ++i) {
        const struct repo_wanted *wanted = &request->wanted[i];
        fits = put(task->wanted[i].name, sizeof task->wanted[i].name, wanted->name) &&
               put(task->wanted[i].family, sizeof task->wanted[i].family, wanted->family) &&
               wanted->limit <= LIMIT_SOURCE_BYTES;
        task->wanted[i].limit = wanted->limit;
        task->wanted[i].unscored = wanted->unscored;
        if (wanted->blank != NULL && wanted->blank->length > 0 &&
            !hash_text(task->wanted[i].blank, bytes_text(wanted->blank), wanted->blank->length))
            return error_no_memory(err);
    }
    task->wanted_count = (uint32_t)request->wanted_count;
    if (!fits)
        return error_set(err, ERROR_USAGE,
                         "a branch, tag, path or file name is too long, or there "
                         "are more than %d pushes of one student",
                         LIMIT_REPO_PUSHES);
    return note_policy(task, request) ? 0 : error_no_memory(err);
}

/* ---- The address ----------------------------------------------------------------------------- */

static void refuse(struct repo_answer *ret, enum repo_reason reason, const char *detail)
{
    ret->reason = reason;
    (void)repo_sentence(ret->sentence, sizeof ret->sentence, reason, detail);
}

static void no_path(struct repo_answer *ret, const char *path, int code)
{
    char detail[700], shown[500];
    (void)text_copy(shown, sizeof shown, path);
    if (code == EACCES) {
        (void)snprintf(detail, sizeof detail, "you may not look into the folder %s", shown);
        refuse(ret, REPO_NO_ACCESS, detail);
        return;
    }
    (void)snprintf(detail, sizeof detail, "there is no folder %s", shown);
    refuse(ret, REPO_NOT_FOUND, detail);
}

/* What libgit2 or its child opens. False: *ret says why not. */
bool repo_address_resolve(char into[LIMIT_REPO_URL_BYTES + 1], const struct repo_fetcher *fetcher,
                          const char *address, const struct repo_url *url, struct repo_answer *ret)
{
    char detail[700];
    if (url->kind == REPO_SSH)
        return put(into, LIMIT_REPO_URL_BYTES + 1, address);
    if (!repo_kind_is_local(url->kind)) {
        static const char *const schemes[] = {
            [REPO_HTTPS] = "https", [REPO_HTTP] = "http", [REPO_GIT] = "git"};
        char port[16] = "";
        bool bracketed = strchr(url->host, ':') != NULL;
        if (url->port != 0)
            (void)snprintf(port, sizeof port, ":%u", url->port);
        /* Without the user's name, which libgit2 would offer with an empty password. */
        return snprintf(into, LIMIT_REPO_URL_BYTES + 1, "%s://%s%s%s%s%s", schemes[url->kind],
                        bracketed ? "[" : "", url->host, bracketed ? "]" : "", port,
                        url->path) <= LIMIT_REPO_URL_BYTES;
    }
    AUTO_FREE char *real = realpath(url->path, NULL);
    struct stat info;
    if (real == NULL || stat(real, &info) != 0) {
        no_path(ret, url->path, errno);
        return false;
    }
    if (!S_ISDIR(info.st_mode)) {
        refuse(ret, REPO_NOT_GIT, "that is a file, not the folder of a repo");
        return false;
    }
    if (access(real, R_OK | X_OK) != 0) {
        no_path(ret, url->path, errno);
        return false;
    }
    if (!repo_owner_trusts(fetcher, real, detail)) {
        refuse(ret, REPO_OWNER, detail);
        return false;
    }
    if (put(into, LIMIT_REPO_URL_BYTES + 1, real))
        return true;
    refuse(ret, REPO_NOT_FOUND, "its path is too long");
    return false;
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void flag(struct repo_answer *ret, enum repo_flag flag, const char *text)
{
    if (text[0] == '\0' || repo_answer_flagged(ret, flag))
        return;
    ret->flags |= 1u << flag;
    (void)snprintf(ret->flag_text[flag], sizeof ret->flag_text[flag], "%s", text);
}

static void take_flags(struct repo_answer *ret, const struct repo_reply *reply)
{
    for (size_t i = 0; i < REPO_FLAG_COUNT; ++i)
        flag(ret, (enum repo_flag)i, reply->flag_text[i]);
}

/* A refusal that the same refs will bring again. */
static bool is_settled(enum repo_reason reason)
{
    return reason == REPO_FINE || reason == REPO_EMPTY || reason == REPO_NO_REF ||
           reason == REPO_NO_TAG || reason == REPO_NOTHING_IN_TIME || reason == REPO_NO_COMMIT ||
           reason == REPO_NO_SOURCE;
}

static void take_fetch(struct repo_answer *ret, const struct repo_call *call)
{
    const struct repo_reply *reply = &call->reply;
    ret->reason = (enum repo_reason)reply->reason;
    (void)snprintf(ret->state, sizeof ret->state, "%s",
                   is_settled(ret->reason) ? reply->state : "");
    (void)snprintf(ret->ref, sizeof ret->ref, "%s", reply->ref);
    ret->unchanged = reply->unchanged;
    ret->received_bytes += reply->received_bytes;
    ret->received_objects += reply->received_objects;
    take_flags(ret, reply);
    if (ret->reason != REPO_FINE)
        (void)repo_sentence(ret->sentence, sizeof ret->sentence, ret->reason, reply->detail);
}

/* What can be seen from the bytes alone. How the lines of a text for people end is no matter. */
static void look_at_content(struct repo_answer *ret, struct repo_file *file)
{
    char text[200], shown[120];
    if (submission_is_lfs_pointer(&file->content)) {
        (void)snprintf(file->problem, sizeof file->problem,
                       "is a Git LFS pointer, not the file itself: take it out of LFS (git lfs "
                       "untrack), then add and commit the file");
        bytes_release(&file->content);
        return;
    }
    if (file == &ret->files[0] && file->content.length > 1 &&
        memmem(file->content.data, file->content.length, "\r\n", 2) != NULL) {
        (void)snprintf(text, sizeof text,
                       "the lines of %s end in CR LF, as on Windows: it was read as it is",
                       text_copy(shown, sizeof shown, file->path));
        flag(ret, REPO_FLAG_CRLF, text);
    }
}

static int take_files(struct repo_answer *ret, const struct repo_call *call, struct error *err)
{
    const char *content = call->payload.data;
    for (size_t i = 0; i < call->task.wanted_count; ++i) {
        const struct repo_reply_file *from = &call->reply.files[i];
        struct repo_file *file = &ret->files[i];
        (void)snprintf(file->path, sizeof file->path, "%s", from->path);
        (void)snprintf(file->problem, sizeof file->problem, "%s", from->problem);
        file->found = from->found;
        file->content = bytes_with_limit((size_t)from->length);
        if (bytes_append(&file->content, content, (size_t)from->length) != 0)
            return error_no_memory(err);
        content += from->length;
        look_at_content(ret, file);
    }
    return 0;
}

static int take_reading(struct repo_answer *ret, const struct repo_call *call, struct error *err)
{
    const struct repo_reply *reply = &call->reply;
    ret->reason = (enum repo_reason)reply->reason;
    take_flags(ret, reply);
    if (reply->ref[0] != '\0')
        (void)snprintf(ret->ref, sizeof ret->ref, "%s", reply->ref);
    (void)snprintf(ret->commit, sizeof ret->commit, "%s", reply->commit);
    (void)snprintf(ret->chosen, sizeof ret->chosen, "%s", reply->chosen);
    ret->unix_s = reply->unix_s;
    ret->source = (enum repo_time_source)reply->source;
    ret->commit_s = reply->commit_s;
    ret->commit_offset_s = reply->commit_offset_s;
    ret->later = reply->later;
    if (ret->reason == REPO_FINE)
        return take_files(ret, call, err);
    (void)repo_sentence(ret->sentence, sizeof ret->sentence, ret->reason, reply->detail);
    if (!is_settled(ret->reason))
        ret->state[0] = '\0';
    return 0;
}

bool repo_answer_flagged(const struct repo_answer *answer, enum repo_flag flag)
{
    return (answer->flags >> flag & 1) != 0;
}

void repo_answer_describe(const struct repo_answer *answer, struct bytes *out)
{
    if (answer->sentence[0] != '\0') {
        (void)bytes_append_text(out, answer->sentence);
        return;
    }
    for (size_t i = 0; i < REPO_FILES_MAX; ++i)
        if (answer->files[i].problem[0] != '\0') {
            (void)bytes_printf(out, "%s %s", answer->files[i].path, answer->files[i].problem);
            return;
        }
}

void repo_answer_release(struct repo_answer *answer)
{
    for (size_t i = 0; i < REPO_FILES_MAX; ++i)
        bytes_release(&answer->files[i].content);
    memset(answer, 0, sizeof *answer);
}

/* ---- Both steps ------------------------------------------------------------------------------ */

/* What is wrong with the cache, which is ours: nothing of it is the student's fault. */
struct cache_trouble {
    bool broken;   /* another fetch may mend it */
    bool unusable; /* not even opened */
};

/* The second step, in a process that sees the cache alone. */
static int read_cache(struct repo_call *fetched, const struct repo_request *request,
                      struct repo_answer *ret, struct cache_trouble *trouble, struct error *err)
{
    struct repo_call call = {.fetcher = fetched->fetcher,
                             .url = fetched->url,
                             .task = fetched->task,
                             .pushes = request->pushes,
                             .refs = (const struct repo_ref *)(const void *)fetched->payload.data};
    call.task.kind = REPO_READ;
    call.task.address[0] = '\0';
    call.task.traits = fetched->reply.traits;
    call.task.push_count = (uint32_t)request->push_count;
    call.task.ref_count = fetched->reply.ref_count;
    (void)snprintf(call.task.graded_ref, sizeof call.task.graded_ref, "%s", fetched->reply.ref);
    int status = repo_call(&call, err);
    trouble->broken =
        status == 0 && call.reply.reason == REPO_DAMAGED && fetched->reply.traits == 0;
    trouble->unusable = status == 0 && call.reply.retry_whole;
    if (status == 0)
        status = take_reading(ret, &call, err);
    repo_call_release(&call);
    return status;
}

static int both_steps(struct repo_call *call, const struct repo_request *request,
                      struct repo_answer *ret, struct cache_trouble *trouble, struct error *err)
{
    *trouble = (struct cache_trouble){0};
    int status = repo_call(call, err);
    if (status != 0)
        return status;
    trouble->broken = trouble->unusable = call->reply.retry_whole;
    take_fetch(ret, call);
    if (ret->reason != REPO_FINE || ret->unchanged)
        return 0;
    return read_cache(call, request, ret, trouble, err);
}

/* Objects that were complete when they were fetched are gone: a killed machine, a bad disk. Another
 * fetch brings them back, if they are there. */
static int start_afresh(const struct repo_request *request, struct repo_answer *ret,
                        struct error *err)
{
    temporary_folder_remove(strdup(request->cache));
    repo_answer_release(ret);
    return folders_make(request->cache, err);
}

/* Made anew, and still not to be opened. */
static int fail_by_cache(const char *cache, struct error *err)
{
    AUTO_FREE char *head = path_join(cache, "HEAD");
    if (head == NULL)
        return error_no_memory(err);
    if (access(cache, R_OK | W_OK | X_OK) != 0 || access(head, R_OK) != 0)
        return disk_fail(err, head, "what is fetched of the repo cannot be kept there", errno);
    return error_set(
        err, ERROR_INFRASTRUCTURE,
        "%s, which keeps what is fetched of the repo, cannot be opened, nor made anew: "
        "remove that folder, then try again with --retry",
        cache);
}

int repo_fetch(struct repo_fetcher *fetcher, const struct repo_request *request,
               struct repo_answer *ret, struct error *err)
{
    struct repo_url url;
    char problem[300];
    struct cache_trouble trouble = {0};
    int64_t began = process_now_ns();
    memset(ret, 0, sizeof *ret);
    if (!repo_url_parse(&url, request->address, problem))
        return error_set(err, ERROR_USAGE, "the address of a repo %s", problem);
    struct repo_call call = {.fetcher = fetcher, .url = &url};
    if (make_task(&call.task, fetcher, request, err) != 0)
        return -1;
    if (!repo_address_resolve(call.task.address, fetcher, request->address, &url, ret))
        return 0;
    if (repo_kind_is_local(url.kind))
        call.task.kind = REPO_COPY;
    AUTO_CLOSE int lock = repo_cache_lock(request->cache, err);
    AUTO_FREE char *head = path_join(request->cache, "HEAD");
    bool was_there = head != NULL && access(head, F_OK) == 0;
    int status = lock < 0 ? -1 : both_steps(&call, request, ret, &trouble, err);
    if (status == 0 && trouble.broken && was_there) {
        status = start_afresh(request, ret, err);
        if (status == 0)
            status = both_steps(&call, request, ret, &trouble, err);
    }
    if (status == 0 && trouble.unusable)
        status = fail_by_cache(request->cache, err);
    ret->attempts = call.attempts;
    ret->fetch_ns = process_now_ns() - began;
    repo_call_release(&call);
    if (status != 0)
        repo_answer_release(ret);
    return status;
}

#include "repo_task.h"

#include "text.h"

void repo_task_init(struct repo_task *task, enum repo_task_kind kind)
{
    memset(task, 0, sizeof *task);
    task->magic = REPO_MAGIC;
    task->version = REPO_VERSION;
    task->kind = kind;
}

void repo_reply_init(struct repo_reply *reply, enum repo_task_kind kind)
{
    memset(reply, 0, sizeof *reply);
    reply->magic = REPO_MAGIC;
    reply->version = REPO_VERSION;
    reply->kind = kind;
}

bool repo_is_id(const char *text)
{
    return strspn(text, "0123456789abcdef") == 40 && text[40] == '\0';
}

static bool terminated(const char *text, size_t room)
{
    return memchr(text, 0, room) != NULL;
}

static bool is_id_or_none(const char *text, size_t room)
{
    return terminated(text, room) && (text[0] == '\0' || repo_is_id(text));
}

static bool reads_payload(uint32_t kind)
{
    return kind == REPO_READ;
}

/* Terminated, and then made printable in place. */
static bool take_text(char *text, size_t room)
{
    if (!terminated(text, room))
        return false;
    text_clean(text);
    return true;
}

static bool files_valid(struct repo_reply *reply, const struct repo_task *task)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < REPO_FILES_MAX; ++i) {
        struct repo_reply_file *file = &reply->files[i];
        bool wanted = reads_payload(task->kind) && i < task->wanted_count;
        if (!take_text(file->path, sizeof file->path) ||
            !take_text(file->problem, sizeof file->problem) || file->found > 1 ||
            file->length > (wanted ? task->wanted[i].limit : 0) ||
            (file->length > 0 && (!file->found || file->problem[0] != '\0')) ||
            (file->found && file->path[0] == '\0'))
            return false;
        sum += file->length;
    }
    return !reads_payload(task->kind) || sum == reply->payload_bytes;
}

static bool refs_valid(const struct repo_reply *reply, const uint8_t *payload,
                       const struct repo_task *task)
{
    if (reads_payload(task->kind))
        return reply->ref_count == 0;
    if (reply->ref_count > LIMIT_REPO_TAGS ||
        reply->payload_bytes != reply->ref_count * sizeof(struct repo_ref))
        return false;
    for (size_t i = 0; i < reply->ref_count; ++i) {
        struct repo_ref ref;
        memcpy(&ref, payload + i * sizeof ref, sizeof ref);
        if (!terminated(ref.name, sizeof ref.name) || !terminated(ref.id, sizeof ref.id) ||
            !repo_is_id(ref.id))
            return false;
    }
    return true;
}

static bool numbers_valid(const struct repo_reply *reply)
{
    /* Year 1 to 9999, so that every date can be written. */
    const int64_t first = INT64_C(-62135596800), last = INT64_C(253402300799);
    return reply->unchanged <= 1 && reply->wants_secret <= 1 && reply->retry_whole <= 1 &&
           reply->has_branch <= 1 && reply->source <= REPO_TIME_PUSH && reply->unix_s >= first &&
           reply->unix_s <= last && reply->commit_s >= first && reply->commit_s <= last &&
           reply->commit_offset_s >= -86400 && reply->commit_offset_s <= 86400 &&
           reply->flags < 1u << REPO_FLAG_COUNT && reply->traits < 8;
}

static bool texts_valid(struct repo_reply *reply)
{
    for (size_t i = 0; i < REPO_FLAG_COUNT; ++i) {
        bool flagged = (reply->flags >> i & 1) != 0;
        if (!take_text(reply->flag_text[i], sizeof reply->flag_text[i]) ||
            flagged != (reply->flag_text[i][0] != '\0'))
            return false;
    }
    return take_text(reply->detail, sizeof reply->detail) &&
           take_text(reply->ref, sizeof reply->ref) &&
           take_text(reply->default_ref, sizeof reply->default_ref) &&
           take_text(reply->chosen, sizeof reply->chosen) &&
           is_id_or_none(reply->state, sizeof reply->state) &&
           is_id_or_none(reply->commit, sizeof reply->commit);
}

/* What fits together: a fine reading has a commit and its file, and so on. */
static bool whole(const struct repo_reply *reply)
{
    if ((reply->reason == REPO_FINE) != (reply->detail[0] == '\0'))
        return false;
    if (reply->reason != REPO_FINE)
        return reply->unchanged == 0;
    if (reply->kind == REPO_READ)
        return reply->commit[0] != '\0' && reply->files[0].found == 1 && reply->chosen[0] != '\0';
    if (reply->kind == REPO_PUT || reply->kind == REPO_PUSH)
        return reply->commit[0] != '\0' && reply->ref_count == 0;
    if (reply->kind == REPO_COPY || reply->kind == REPO_DOWNLOAD)
        return reply->state[0] != '\0' && (reply->unchanged == 1 || reply->ref_count > 0);
    return true;
}

bool repo_reply_read(struct repo_reply *reply, const uint8_t **payload, const uint8_t *data,
                     size_t length, const struct repo_task *task, const char **why)
{
    *payload = NULL;
    *why = NULL;
    if (length < sizeof *reply) {
        *why = length == 0 ? "is missing" : "is cut off";
        return false;
    }
    memcpy(reply, data, sizeof *reply);
    if (reply->magic != REPO_MAGIC || reply->version != REPO_VERSION || reply->kind != task->kind)
        *why = "is none of ours";
    else if (reply->reason >= REPO_REASON_COUNT)
        *why = "has an unknown reason";
    else if (reply->payload_bytes != length - sizeof *reply)
        *why = "has a wrong length";
    else if (!numbers_valid(reply))
        *why = "holds a number out of range";
    else if (!texts_valid(reply))
        *why = "holds a text that is none";
    else if (!files_valid(reply, task))
        *why = "holds files that were not asked for";
    else if (!refs_valid(reply, data + sizeof *reply, task))
        *why = "holds refs that are none";
    else if (!whole(reply))
        *why = "contradicts itself";
    *payload = data + sizeof *reply;
    return *why == NULL;
}

bool repo_task_read(const void *memory, size_t length, const struct repo_task **ret,
                    struct repo_task_parts *parts)
{
    const struct repo_task *task = memory;
    const uint8_t *at = (const uint8_t *)memory + sizeof *task;
    *parts = (struct repo_task_parts){0};
    if (length < sizeof *task || task->magic != REPO_MAGIC || task->version != REPO_VERSION ||
        task->kind >= REPO_TASK_KINDS || task->push_count > LIMIT_REPO_PUSHES ||
        task->ref_count > LIMIT_REPO_TAGS || task->wanted_count > REPO_FILES_MAX ||
        task->file_count > COUNT_OF(task->files))
        return false;
    uint64_t expected = sizeof *task + task->push_count * sizeof(struct repo_push) +
                        task->ref_count * sizeof(struct repo_ref);
    for (size_t i = 0; i < task->file_count; ++i) {
        if (task->files[i].length > LIMIT_PUBLISH_BYTES)
            return false;
        expected += task->files[i].length;
    }
    if (expected != length)
        return false;
    parts->pushes = (const struct repo_push *)(const void *)at;
    at += task->push_count * sizeof(struct repo_push);
    parts->refs = (const struct repo_ref *)(const void *)at;
    parts->contents = at + task->ref_count * sizeof(struct repo_ref);
    *ret = task;
    return true;
}

#include "replies.h"

#include <assert.h>

#include "text.h"

static void check_text(const char *text, size_t room)
{
    assert(memchr(text, 0, room) != NULL && text_is_utf8(text, strlen(text)));
    assert(strpbrk(text, "\n\t\033") == NULL);
}

static void check_files(const struct repo_reply *reply, const struct repo_task *task)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < REPO_FILES_MAX; ++i) {
        const struct repo_reply_file *file = &reply->files[i];
        check_text(file->path, sizeof file->path);
        check_text(file->problem, sizeof file->problem);
        assert(file->length <= task->wanted[i].limit);
        sum += file->length;
    }
    assert(task->kind != REPO_READ || sum == reply->payload_bytes);
}

bool replies_check(const uint8_t *message, size_t length, const struct repo_task *task)
{
    static struct repo_reply reply;
    const uint8_t *payload = NULL;
    const char *why = NULL;
    if (!repo_reply_read(&reply, &payload, message, length, task, &why)) {
        assert(why != NULL);
        return false;
    }
    assert(payload + reply.payload_bytes == message + length && reply.kind == task->kind);
    check_text(reply.detail, sizeof reply.detail);
    check_text(reply.chosen, sizeof reply.chosen);
    check_text(reply.ref, sizeof reply.ref);
    check_files(&reply, task);
    assert(reply.commit[0] == '\0' || repo_is_id(reply.commit));
    assert(repo_reason_word((enum repo_reason)reply.reason) != NULL);
    for (size_t i = 0; i < reply.ref_count; ++i) {
        struct repo_ref ref;
        memcpy(&ref, payload + i * sizeof ref, sizeof ref);
        assert(repo_is_id(ref.id) && memchr(ref.name, 0, sizeof ref.name) != NULL);
    }
    return true;
}

bool replies_check_own(struct repo_reply *reply, struct bytes *payload,
                       const struct repo_task *task)
{
    struct bytes message = bytes_with_limit(2000000);
    if (reply->reason != REPO_FINE)
        bytes_clear(payload);
    reply->payload_bytes = payload->length;
    (void)bytes_append(&message, reply, sizeof *reply);
    (void)bytes_append(&message, bytes_text(payload), payload->length);
    bool accepted = replies_check((const uint8_t *)message.data, message.length, task);
    bytes_release(&message);
    return accepted;
}

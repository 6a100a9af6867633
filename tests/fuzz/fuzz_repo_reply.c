/* fuzz_repo_reply.c - a repo's child that was taken over answers anything: what is accepted can be
 * used. The first byte says what was asked. */
#include <assert.h>

#include "repo_task.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static struct repo_task task;
    static struct repo_reply reply;
    const uint8_t *payload = NULL;
    const char *why = NULL;
    if (length == 0)
        return 0;
    repo_task_init(&task, (enum repo_task_kind)(data[0] % REPO_TASK_KINDS));
    if (task.kind == REPO_READ) {
        task.wanted_count = 2;
        task.wanted[0].limit = 1000;
        task.wanted[1].limit = 10;
    }
    if (!repo_reply_read(&reply, &payload, data + 1, length - 1, &task, &why)) {
        assert(why != NULL);
        return 0;
    }
    assert(payload + reply.payload_bytes == data + length && reply.kind == task.kind);
    check_text(reply.detail, sizeof reply.detail);
    check_text(reply.chosen, sizeof reply.chosen);
    check_text(reply.ref, sizeof reply.ref);
    check_files(&reply, &task);
    assert(reply.commit[0] == '\0' || repo_is_id(reply.commit));
    assert(repo_reason_word((enum repo_reason)reply.reason) != NULL);
    for (size_t i = 0; i < reply.ref_count; ++i) {
        struct repo_ref ref;
        memcpy(&ref, payload + i * sizeof ref, sizeof ref);
        assert(repo_is_id(ref.id) && memchr(ref.name, 0, sizeof ref.name) != NULL);
    }
    return 0;
}

/* fuzz_repo_reply.c - a repo's child that was taken over answers anything: what is accepted can be
 * used. The first byte says what was asked. */
#include "replies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static struct repo_task task;
    if (length == 0)
        return 0;
    repo_task_init(&task, (enum repo_task_kind)(data[0] % REPO_TASK_KINDS));
    if (task.kind == REPO_READ) {
        task.wanted_count = 2;
        task.wanted[0].limit = 1000;
        task.wanted[1].limit = 10;
    }
    (void)replies_check(data + 1, length - 1, &task);
    return 0;
}

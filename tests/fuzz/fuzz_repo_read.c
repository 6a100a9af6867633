/* fuzz_repo_read.c - any commit with any tree: the reader answers something that its parent
 * accepts. Input: a length, a file of that length, a length, headers of a commit, a tree
 * (repository.h). */
#include <assert.h>

#include "replies.h"
#include "repo_work.h"
#include "repository.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static struct repo_task task;
    static struct repo_work work;
    struct repo_ref ref = {.name = "refs/heads/main"};
    struct error err = {0};
    repo_task_init(&task, REPO_READ);
    (void)snprintf(task.cache, sizeof task.cache, "%s", repository_folder());
    (void)snprintf(task.graded_ref, sizeof task.graded_ref, "refs/heads/main");
    (void)snprintf(task.lab_id, sizeof task.lab_id, "day17-registers");
    (void)snprintf(task.wanted[0].name, sizeof task.wanted[0].name, "registers.cu");
    (void)snprintf(task.wanted[0].family, sizeof task.wanted[0].family, "starter");
    task.wanted[0].limit = 200;
    task.wanted_count = task.ref_count = 1;
    task.has_cutoff = length % 2;
    task.cutoff_s = 1700000000;
    task.has_due = length / 2 % 2; /* every date but the oldest is late */
    task.due_s = task.free_s = 1;
    repository_put_all(ref.id, data, length, true);
    work = (struct repo_work){.task = &task, .parts.refs = &ref, .answers = -1, .ssh = -1};
    work.err = &err;
    work.payload = bytes_with_limit(1000000);
    repo_reply_init(&work.reply, REPO_READ);
    assert(repo_work_read(&work) != 0 || replies_check_own(&work.reply, &work.payload, &task));
    bytes_release(&work.payload);
    repository_forget();
    return 0;
}

/* shard_run.c - one task of a cluster: its part of a plan, graded like a class. */
#include "shard.h"

#include <time.h>

#include "batch_crew.h"
#include "process.h"

#define WAIT_NS INT64_C(200000000)
#define TRIES 2

/* The works that have no result yet: a task may run again after it was lost half-way. */
static int list_works(struct batch *batch, const struct shard_plan *plan, size_t task,
                      struct error *err)
{
    size_t begin = task * plan->per_task;
    size_t end =
        begin + plan->per_task < plan->key_count ? begin + plan->per_task : plan->key_count;
    if (begin >= plan->key_count)
        return error_set(err, ERROR_USAGE, "the plan has no task %zu", task);
    batch->items = calloc(end - begin, sizeof batch->items[0]);
    if (batch->items == NULL)
        return error_no_memory(err);
    for (size_t i = begin; i < end; ++i) {
        struct attempt known;
        struct error trouble = {0};
        enum shard_result result = shard_read_result(plan->folder, plan->keys[i], &known, &trouble);
        attempt_release(&known);
        if (result != SHARD_ATTEMPT)
            batch->items[batch->item_count++].work_key = plan->keys[i];
    }
    return 0;
}

static int take(struct batch *batch, struct pool *pool, size_t index, size_t *finished,
                struct error *err)
{
    struct batch_item *item = &batch->items[index];
    const char *folder = batch->options->folder;
    int status = 0;
    if (item->end == ITEM_STOPPED)
        return 0;
    if (item->end == ITEM_TROUBLE && ++item->tries < TRIES) {
        batch_item_reset(item);
        pool_add(pool, STAGE_FETCH, index);
        return 0;
    }
    if (item->end == ITEM_TROUBLE)
        status = shard_write_trouble(folder, item->work_key, item->err.text, err);
    else
        status = shard_write_attempt(folder, item, err);
    batch_item_release(item);
    ++*finished;
    return status;
}

static int grade_works(struct batch *batch, struct error *err)
{
    struct pool *pool = NULL;
    size_t finished = 0;
    if (crew_start(&pool, batch, CREW_LOAD, err) != 0)
        return -1;
    int status = 0;
    while (status == 0 && finished < batch->item_count && !process_interrupted()) {
        size_t index = pool_wait(pool, WAIT_NS);
        if (index != POOL_DONE)
            status = take(batch, pool, index, &finished, err);
    }
    pool_stop(pool);
    for (size_t index; status == 0 && (index = pool_wait(pool, 0)) != POOL_DONE;)
        if (batch->items[index].end == ITEM_ATTEMPT)
            status = take(batch, pool, index, &finished, err);
    pool_close(pool);
    if (status == 0 && finished < batch->item_count)
        return error_set(err, ERROR_INTERRUPTED, "interrupted");
    return status;
}

int shard_run(const struct shard_plan *plan, size_t task, struct error *err)
{
    const struct batch_options options = {.folder = plan->folder,
                                          .lab = lab_find(plan->lab_id),
                                          .machine = plan->machine,
                                          .elements = plan->elements,
                                          .jobs = plan->jobs};
    struct batch batch = {.options = &options, .seed = plan->seed, .now_s = (int64_t)time(NULL)};
    if (options.lab == NULL)
        return error_set(err, ERROR_INFRASTRUCTURE, "there is no lab %s here", plan->lab_id);
    (void)pthread_mutex_init(&batch.numbers_lock, NULL);
    int status = list_works(&batch, plan, task, err);
    if (status == 0 && batch.item_count > 0)
        status = crew_find_machine(&batch, err);
    if (status == 0 && batch.item_count > 0)
        status = grade_works(&batch, err);
    crew_release(&batch);
    (void)pthread_mutex_destroy(&batch.numbers_lock);
    return status;
}

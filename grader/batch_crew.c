#include "batch_crew.h"

#include <sched.h>

#include "process.h"
#include "run_survey.h"
#include "shard.h"

#define FETCH_THREADS_MOST 8 /* more make servers refuse */

/* ---- The machine -----------------------------------------------------------------------------*/

/* A lane for each GPU of the kind that was chosen: others would give other figures. */
static int find_lanes(struct batch *batch, struct error *err)
{
    const struct gpu_device *first = &batch->machine.choice.gpu;
    struct gpu_survey survey;
    if (batch->machine.choice.executor != EXECUTOR_GPU)
        return 0;
    if (run_survey_gpus(&survey, err) != 0)
        return -1;
    for (size_t i = 0; i < survey.device_count && batch->gpu_count < COUNT_OF(batch->gpus); ++i)
        if (survey.devices[i].major == first->major && survey.devices[i].minor == first->minor &&
            strcmp(survey.devices[i].name, first->name) == 0)
            batch->gpus[batch->gpu_count++] = survey.devices[i];
    return batch->gpu_count > 0
               ? 0
               : error_set(err, ERROR_INFRASTRUCTURE,
                           "the GPU %s was there a moment ago and is gone", first->name);
}

int crew_find_machine(struct batch *batch, struct error *err)
{
    struct machine_options wanted = batch->options->machine;
    AUTO_FREE char *cache = path_join(batch->options->folder, "cache");
    if (cache == NULL)
        return error_no_memory(err);
    /* Submissions run side by side, one a core: several threads for one would only be in the way.
     */
    if (wanted.threads == 0)
        wanted.threads = 1;
    if (machine_find(&batch->machine, &wanted, err) != 0 ||
        cache_open(&batch->cache, cache, err) != 0 ||
        recall_open(&batch->recall, batch->cache, &batch->machine.toolchain, err) != 0)
        return -1;
    batch->machine.recall = &batch->recall;
    /* An architecture that nvcc does not know is the command's mistake, not a student's. */
    struct choice choice = batch->machine.choice;
    const struct answers none = {0};
    if (choice_archs(&choice, wanted.archs, wanted.arch_count, &batch->machine.toolchain, &none,
                     err) != 0)
        return -1;
    return find_lanes(batch, err);
}

void crew_release(struct batch *batch)
{
    for (size_t i = 0; i < batch->item_count; ++i)
        batch_item_release(&batch->items[i]);
    free(batch->items);
    numbers_release(&batch->numbers);
    cache_close(batch->cache);
    machine_release(&batch->machine);
}

/* ---- Threads ---------------------------------------------------------------------------------*/

struct fetch_state {
    struct repo_fetcher *fetcher; /* NULL: err says why */
    struct error err;
};

static void *begin_fetch(void *context, unsigned thread)
{
    (void)thread;
    struct batch *batch = context;
    struct fetch_state *state = calloc(1, sizeof *state);
    if (state != NULL)
        state->fetcher = repo_fetcher_open(&batch->options->repo, &state->err);
    return state;
}

static void end_fetch(void *context, void *state)
{
    (void)context;
    struct fetch_state *own = state;
    if (own != NULL)
        repo_fetcher_close(own->fetcher);
    free(own);
}

static void fetch(struct batch *batch, struct fetch_state *state, struct batch_item *item)
{
    struct error err = {0};
    if (state != NULL && state->fetcher != NULL) {
        batch_item_fetch(batch, item, state->fetcher);
        return;
    }
    if (state != NULL)
        err = state->err;
    else
        error_no_memory(&err);
    batch_item_fail(item, &err);
}

static size_t work_fetch(void *context, void *state, unsigned thread, size_t index)
{
    (void)thread;
    struct batch *batch = context;
    fetch(batch, state, &batch->items[index]);
    return batch->items[index].end == ITEM_UNDERWAY ? STAGE_WORK : POOL_DONE;
}

static size_t work_fetch_alone(void *context, void *state, unsigned thread, size_t index)
{
    (void)work_fetch(context, state, thread, index);
    return POOL_DONE;
}

static size_t work_load(void *context, void *state, unsigned thread, size_t index)
{
    (void)state, (void)thread;
    struct batch *batch = context;
    struct batch_item *item = &batch->items[index];
    struct error err = {0};
    item->began_ns = process_now_ns();
    if (shard_read_work(batch->options->folder, item->work_key, batch->options->lab, item, &err) !=
        0)
        batch_item_fail(item, &err);
    return item->end == ITEM_UNDERWAY ? STAGE_WORK : POOL_DONE;
}

static size_t work_work(void *context, void *state, unsigned thread, size_t index)
{
    (void)state, (void)thread;
    struct batch *batch = context;
    batch_item_work(batch, &batch->items[index]);
    return batch->items[index].end == ITEM_UNDERWAY ? STAGE_LANE : POOL_DONE;
}

static void *begin_lane(void *context, unsigned thread)
{
    (void)context, (void)thread;
    return run_lane_open();
}

static void end_lane(void *context, void *state)
{
    (void)context;
    run_lane_close(state);
}

static size_t work_lane(void *context, void *state, unsigned thread, size_t index)
{
    struct batch *batch = context;
    batch_item_lane(&batch->items[index], &batch->gpus[thread], state);
    return POOL_DONE;
}

/* CPUs that this process may use: a task of a cluster has a part of its machine. */
static unsigned cpu_count(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* of machines with more than 1,024 */
    return count > 0 ? (unsigned)count : online > 0 ? (unsigned)online : 1;
}

int crew_start(struct pool **ret, struct batch *batch, enum crew_source source, struct error *err)
{
    const struct batch_options *o = batch->options;
    unsigned jobs = o->jobs > 0 ? o->jobs : cpu_count();
    unsigned fetch_jobs = o->fetch_jobs > 0               ? o->fetch_jobs
                          : 2 * jobs > FETCH_THREADS_MOST ? FETCH_THREADS_MOST
                                                          : 2 * jobs;
    struct pool_stage stages[STAGE_COUNT] = {
        [STAGE_FETCH] = {.threads = fetch_jobs,
                         .queue_limit = SIZE_MAX,
                         .work = source == CREW_FETCH ? work_fetch : work_fetch_alone,
                         .begin = begin_fetch,
                         .end = end_fetch},
        [STAGE_WORK] = {.threads = source == CREW_FETCH_ALONE ? 0 : jobs,
                        .queue_limit = 4 * (size_t)jobs,
                        .work = work_work},
        [STAGE_LANE] = {.threads = batch->gpu_count,
                        .queue_limit = 2 * (size_t)batch->gpu_count,
                        .work = work_lane,
                        .begin = begin_lane,
                        .end = end_lane},
    };
    if (source == CREW_LOAD)
        stages[STAGE_FETCH] =
            (struct pool_stage){.threads = 1, .queue_limit = SIZE_MAX, .work = work_load};
    if (pool_open(ret, stages, STAGE_COUNT, batch, err) != 0)
        return -1;
    if (pool_room(*ret, batch->item_count, err) != 0) {
        pool_close(*ret);
        *ret = NULL;
        return -1;
    }
    for (size_t i = 0; i < batch->item_count; ++i)
        pool_add(*ret, STAGE_FETCH, i);
    return 0;
}

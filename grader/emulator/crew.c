/* crew.c - the host threads of a launch, and the blocks that each has begun.
 *
 * A host thread takes one block after another. A block whose warps do nothing but look at memory
 * waits for another block, as in a barrier over the whole grid: then the thread leaves it as it is
 * and begins the next one; when no block is left to begin (or as many are under way as a GPU could
 * hold), it goes through those that wait in turn. */
#include "emulator/machine.h"

#include <sched.h>

struct worker { /* one host thread */
    struct launch *launch;
    struct runner *all;                    /* owned, chained by `next` */
    struct runner *idle;                   /* chained by `next_there` … */
    struct runner *waiting, **waiting_end; /* … as are those whose block waits, in order */
    uint64_t next_block, chunk_end;        /* taken from the launch, not begun yet */
};

/* ---- Runners -------------------------------------------------------------------------------- */

static int prepare_runner(struct runner *runner, struct launch *launch)
{
    *runner = (struct runner){.launch = launch, .warp_count = launch->warps_per_block};
    runner->tid = calloc(launch->warps_per_block, sizeof *runner->tid);
    runner->block_runs = calloc(launch->kernel->block_count + 1, sizeof *runner->block_runs);
    if (runner->tid == NULL || runner->block_runs == NULL)
        return -1;
    for (unsigned thread = 0; thread < launch->warps_per_block * LANES; ++thread) {
        uint32_t(*const tid)[LANES] = runner->tid[thread / LANES];
        tid[0][thread % LANES] = thread % launch->block[0];
        tid[1][thread % LANES] = thread / launch->block[0] % launch->block[1];
        tid[2][thread % LANES] = thread / launch->block[0] / launch->block[1];
    }
    return shared_prepare(runner, launch->shared_bytes, launch->kernel->small_shared);
}

static struct runner *take_runner(struct worker *worker)
{
    struct runner *runner = worker->idle;
    if (runner != NULL) {
        worker->idle = runner->next_there;
        return runner;
    }
    runner = aligned_alloc(_Alignof(struct runner), sizeof *runner);
    if (runner == NULL)
        return NULL;
    if (prepare_runner(runner, worker->launch) != 0) {
        runner_release(runner);
        free(runner);
        return NULL;
    }
    runner->next = worker->all;
    worker->all = runner;
    return runner;
}

static void give_budget_back(struct runner *runner)
{
    (void)atomic_fetch_add(&runner->launch->budget, runner->budget);
    runner->budget = 0;
}

/* What threads share is written seldom, and not for each block. The runner on top of the idle ones
 * is the next to be used, so that it may keep its budget. */
static void put_away(struct worker *worker, struct runner *runner)
{
    if (worker->idle != NULL)
        give_budget_back(runner);
    runner->next_there = worker->idle;
    worker->idle = runner;
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static bool is_over(struct launch *launch)
{
    return atomic_load(&launch->out_of_budget) || atomic_load(&launch->no_memory) ||
           atomic_load(&launch->was_interrupted);
}

/* May one more be under way? The first of a thread always may. */
static bool is_place(const struct worker *worker)
{
    struct launch *launch = worker->launch;
    const uint64_t open = atomic_load(&launch->blocks_waiting) + 1;
    return worker->waiting == NULL ||
           (open <= CAP_RESIDENT_BLOCKS && open * launch->block_threads <= CAP_RESIDENT_THREADS);
}

/* The next block, begun; NULL: there is none, or no place for it. */
static struct runner *begin_next(struct worker *worker)
{
    struct launch *launch = worker->launch;
    if (worker->next_block == worker->chunk_end) {
        worker->next_block = atomic_fetch_add(&launch->next_block, launch->chunk);
        worker->chunk_end = worker->next_block + launch->chunk;
    }
    if (worker->next_block >= launch->blocks ||
        worker->next_block > atomic_load(&launch->stop_block) || !is_place(worker))
        return NULL;
    struct runner *runner = take_runner(worker);
    if (runner == NULL) { /* with others under way, one of them may make room */
        if (worker->waiting == NULL)
            atomic_store(&launch->no_memory, true);
        return NULL;
    }
    block_begin(runner, worker->next_block++);
    return runner;
}

static struct runner *take_waiting(struct worker *worker)
{
    struct runner *runner = worker->waiting;
    if (runner == NULL)
        return NULL;
    worker->waiting = runner->next_there;
    if (worker->waiting == NULL)
        worker->waiting_end = &worker->waiting;
    (void)atomic_fetch_sub(&worker->launch->blocks_waiting, 1);
    (void)sched_yield(); /* what it waits for may be another host thread's */
    return runner;
}

static void let_wait(struct worker *worker, struct runner *runner)
{
    give_budget_back(runner);
    atomic_store(&worker->launch->blocks_wait, true);
    (void)atomic_fetch_add(&worker->launch->blocks_waiting, 1);
    runner->next_there = NULL;
    *worker->waiting_end = runner;
    worker->waiting_end = &runner->next_there;
}

static void *work(void *payload)
{
    struct worker *worker = payload;
    struct launch *launch = worker->launch;
    worker->waiting_end = &worker->waiting;
    for (;;) {
        struct runner *runner = is_over(launch) ? NULL : begin_next(worker);
        if (runner == NULL)
            runner = take_waiting(worker);
        if (runner == NULL)
            return NULL;
        const bool is_wanted =
            !is_over(launch) && runner->block_number <= atomic_load(&launch->stop_block);
        /* After a fault nobody need come any more for whom this block waits. */
        if (is_wanted && !block_go(runner) && atomic_load(&launch->stop_block) == UINT64_MAX) {
            let_wait(worker, runner);
            continue;
        }
        block_end(runner);
        put_away(worker, runner);
    }
}

/* ---- The launch ----------------------------------------------------------------------------- */

int crew_run(struct emulator_result *result, struct launch *launch, unsigned threads,
             struct error *err)
{
    AUTO_FREE struct worker *workers = calloc(threads, sizeof *workers);
    AUTO_FREE pthread_t *handles = calloc(threads, sizeof *handles);
    if (workers == NULL || handles == NULL)
        return error_no_memory(err);
    for (unsigned w = 0; w < threads; ++w)
        workers[w].launch = launch;
    /* This thread works too; where another cannot be had, fewer do. */
    unsigned started = 1;
    while (started < threads &&
           pthread_create(&handles[started], NULL, work, &workers[started]) == 0)
        ++started;
    (void)work(&workers[0]);
    struct runner *all = NULL, **end = &all;
    for (unsigned w = 0; w < started; ++w) {
        if (w > 0)
            (void)pthread_join(handles[w], NULL);
        *end = workers[w].all;
        while (*end != NULL)
            end = &(*end)->next;
    }
    const int status = outcome_collect(result, launch, all, err);
    while (all != NULL) {
        struct runner *next = all->next;
        runner_release(all);
        free(all);
        all = next;
    }
    return status;
}

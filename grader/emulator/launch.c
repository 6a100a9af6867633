/* launch.c - a launch: its shape and arguments, its threads, its budget. */
#include "emulator/machine.h"

#include <time.h>

#include "text.h"

/* ---- Launches ------------------------------------------------------------------------------- */

/* Instructions that a runner takes from the budget at a time: few enough that what the others hold
 * in hand (and give back after each block) does not matter. */
#define BUDGET_SHARE_MOST 1000000
#define BUDGET_SHARE_LEAST 16

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void stop_at(struct launch *launch, uint64_t block)
{
    uint64_t before = atomic_load(&launch->stop_block);
    while (block < before && !atomic_compare_exchange_weak(&launch->stop_block, &before, block))
        ;
}

void launch_stop(struct warp *warp)
{
    warp->runner->stopped = true;
    stop_at(warp->runner->launch, warp->runner->block_number);
}

bool runner_more_budget(struct warp *warp, const struct op *op)
{
    struct runner *runner = warp->runner;
    struct launch *launch = runner->launch;
    if (launch->interrupted != NULL && launch->interrupted()) {
        atomic_store(&launch->was_interrupted, true);
        runner->stopped = true;
        return false;
    }
    const bool late = launch->deadline_ns != 0 && now_ns() > launch->deadline_ns;
    uint64_t left = atomic_load(&launch->budget);
    /* A block may be longer than a share. */
    while (runner->budget < op->imm && left > 0 && !late) {
        const uint64_t share = left < launch->budget_share ? left : launch->budget_share;
        if (atomic_compare_exchange_weak(&launch->budget, &left, left - share)) {
            runner->budget += share;
            left -= share;
        }
    }
    if (runner->budget >= op->imm && !late)
        return true;
    char number[TEXT_NUMBER_BYTES];
    struct fault_site site = {.op = op, .lane = (unsigned)__builtin_ctz(warp->active)};
    if (late)
        fault_report(warp, &site, "time limit", false, "does not end in time; it was still here");
    else
        fault_report(warp, &site, "instruction limit", false,
                     "does not end: it was still here after %s instructions of the launch's warps",
                     text_number(launch->budget_given, number));
    atomic_store(&launch->out_of_budget, true);
    runner->stopped = true;
    stop_at(launch, 0);
    return false;
}

static int copy_arguments(struct emulator *emulator, const struct kernel *kernel,
                          const struct emulator_launch *request, struct error *err)
{
    const struct ptx_body *entry = kernel->entry;
    if (request->argument_count != entry->formal_count)
        return error_set(err, ERROR_USAGE, "`%.200s` takes %zu argument%s, not %zu", kernel->name,
                         entry->formal_count, entry->formal_count == 1 ? "" : "s",
                         request->argument_count);
    for (size_t i = 0; i < entry->formal_count; ++i) {
        if (request->argument_bytes[i] != entry->formals[i]->bytes)
            return error_set(err, ERROR_USAGE, "argument %zu of `%.200s` has %llu bytes, not %zu",
                             i, kernel->name, (unsigned long long)entry->formals[i]->bytes,
                             request->argument_bytes[i]);
        if (kernel_has_refusal(kernel))
            continue;
        if (request->argument_bytes[i] > 0)
            memcpy(emulator->parameters->data + kernel->programs->parameters[i],
                   request->arguments[i], request->argument_bytes[i]);
    }
    return 0;
}

/* What every device since sm_30 takes. */
#define GRID_MOST_X UINT32_C(2147483647)
#define GRID_MOST_YZ UINT32_C(65535)
#define BLOCK_MOST_Z 64u

static int check_shape(const struct kernel *kernel, const struct emulator_launch *request,
                       struct launch *launch, struct error *err)
{
    const struct ptx_function *entry = &kernel->entry->face;
    const unsigned block_most[3] = {CAP_BLOCK_THREADS, CAP_BLOCK_THREADS, BLOCK_MOST_Z};
    const unsigned grid_most[3] = {GRID_MOST_X, GRID_MOST_YZ, GRID_MOST_YZ};
    uint64_t threads = 1, blocks = 1;
    for (unsigned i = 0; i < 3; ++i) {
        launch->grid[i] = request->grid[i];
        launch->block[i] = request->block[i];
        if (request->block[i] == 0 || request->block[i] > block_most[i])
            return error_set(err, ERROR_USAGE,
                             "a block of %u x %u x %u threads cannot be launched: it has at least "
                             "1 and at most 1,024 x 1,024 x 64, and at most 1,024 in all",
                             request->block[0], request->block[1], request->block[2]);
        if (request->grid[i] == 0 || request->grid[i] > grid_most[i])
            return error_set(err, ERROR_USAGE,
                             "a grid of %u x %u x %u blocks cannot be launched: it has at least 1 "
                             "and at most 2,147,483,647 x 65,535 x 65,535",
                             request->grid[0], request->grid[1], request->grid[2]);
        threads *= request->block[i];
        blocks *= request->grid[i];
    }
    const uint64_t most =
        entry->max_threads[0] == 0
            ? CAP_BLOCK_THREADS
            : (uint64_t)entry->max_threads[0] * entry->max_threads[1] * entry->max_threads[2];
    if (threads > most || threads > CAP_BLOCK_THREADS) {
        char number[TEXT_NUMBER_BYTES], limit[TEXT_NUMBER_BYTES];
        (void)text_number(threads, number);
        if (most >= CAP_BLOCK_THREADS)
            return error_set(err, ERROR_USAGE,
                             "a block of %s threads cannot be launched: it has at most %s", number,
                             text_number(CAP_BLOCK_THREADS, limit));
        return error_set(err, ERROR_USAGE,
                         "a block of %s threads cannot be launched: the bounds of `%.200s` allow "
                         "at most %s",
                         number, kernel->name, text_number(most, limit));
    }
    launch->block_threads = (unsigned)threads;
    launch->blocks = blocks;
    launch->warps_per_block = (launch->block_threads + LANES - 1) / LANES;
    return 0;
}

static struct kernel *find_kernel(struct emulator *emulator, const char *name, struct error *err)
{
    for (struct kernel *kernel = emulator->kernels; kernel != NULL; kernel = kernel->next)
        if (strcmp(kernel->entry->face.name, name) == 0)
            return kernel;
    for (size_t i = 0; i < emulator->module->body_count; ++i) {
        const struct ptx_body *body = emulator->module->bodies[i];
        if (!body->face.is_entry || !body->has_body || strcmp(body->face.name, name) != 0)
            continue;
        struct kernel *kernel = kernel_prepare(emulator, body, err);
        if (kernel == NULL)
            return NULL;
        kernel->next = emulator->kernels;
        emulator->kernels = kernel;
        return kernel;
    }
    (void)error_set(err, ERROR_USAGE, "there is no kernel `%.200s` in this PTX", name);
    return NULL;
}

/* Blocks that wait for their whole grid have to be under way together. */
static int check_resident(const struct launch *launch, const char *entry, struct error *err)
{
    const uint64_t by_threads = CAP_RESIDENT_THREADS / launch->block_threads;
    const uint64_t most = by_threads < CAP_RESIDENT_BLOCKS ? by_threads : CAP_RESIDENT_BLOCKS;
    if (launch->blocks > most)
        return error_set(err, ERROR_USAGE,
                         "`%.200s` waits for its whole grid, which has to be on the device at "
                         "once: of blocks of %u threads that can be %llu at most, not %llu",
                         entry, launch->block_threads, (unsigned long long)most,
                         (unsigned long long)launch->blocks);
    struct region *workspace = launch->emulator->workspace;
    memset(workspace->data, 0, workspace->bytes);
    return 0;
}

int emulator_launch(struct emulator *emulator, const struct emulator_launch *request,
                    const struct emulator_options *options, struct emulator_result *ret,
                    struct error *err)
{
    *ret = (struct emulator_result){.status = EMULATOR_FINISHED};
    struct kernel *kernel = NULL;
    if (emulator->refusal[0] == '\0') {
        kernel = find_kernel(emulator, request->entry, err);
        if (kernel == NULL)
            return -1;
    }
    if (emulator->refusal[0] != '\0' || kernel_has_refusal(kernel)) {
        ret->status = EMULATOR_REFUSED;
        (void)snprintf(ret->refusal, sizeof ret->refusal, "%s",
                       emulator->refusal[0] != '\0' ? emulator->refusal : kernel->refusal);
        return 0;
    }
    struct launch launch = {.emulator = emulator,
                            .kernel = kernel,
                            .checks = !options->no_checks,
                            .interrupted = options->interrupted,
                            .first_chunk = emulator->heap.chunk_count,
                            .printed = bytes_with_limit(CAP_PRINTED_BYTES)};
    if (check_shape(kernel, request, &launch, err) != 0 ||
        copy_arguments(emulator, kernel, request, err) != 0)
        return -1;
    const uint64_t shared = ((kernel->shared_bytes + 15) & ~UINT64_C(15)) + request->shared_bytes;
    launch.shared_bytes = request->shared_bytes == 0 ? kernel->shared_bytes : (uint32_t)shared;
    launch.dynamic_bytes = request->shared_bytes;
    if (shared > CAP_SHARED_BYTES)
        return error_set(err, ERROR_USAGE, "%llu bytes of shared memory: a block has at most %u",
                         (unsigned long long)shared, CAP_SHARED_BYTES);
    launch.budget_given = options->max_warp_instructions != 0 ? options->max_warp_instructions
                                                              : CAP_WARP_INSTRUCTIONS;
    atomic_init(&launch.budget, launch.budget_given);
    atomic_init(&launch.stop_block, UINT64_MAX);
    launch.deadline_ns = options->wall_ns > 0 ? now_ns() + options->wall_ns : 0;
    long cores = options->threads != 0 ? (long)options->threads : sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = cores < 1 ? 1 : cores > CAP_THREADS ? CAP_THREADS : (unsigned)cores;
    if (threads > launch.blocks)
        threads = (unsigned)launch.blocks;
    if (kernel->cooperative && check_resident(&launch, request->entry, err) != 0)
        return -1;
    threads = threads == 0 ? 1 : threads;
    /* Small enough that threads end together though some blocks do much more than others. */
    launch.chunk = launch.blocks / threads / 64;
    launch.chunk = launch.chunk == 0 ? 1 : launch.chunk > 64 ? 64 : launch.chunk;
    const uint64_t part = launch.budget_given / threads / 64;
    launch.budget_share = part > BUDGET_SHARE_MOST    ? BUDGET_SHARE_MOST
                          : part < BUDGET_SHARE_LEAST ? BUDGET_SHARE_LEAST
                                                      : part;
    (void)pthread_mutex_init(&launch.lock, NULL);
    int status = crew_run(ret, &launch, threads, err);
    (void)pthread_mutex_destroy(&launch.lock);
    bytes_release(&launch.printed);
    races_forget(emulator);
    if (status != 0)
        emulator_result_release(ret);
    return status;
}

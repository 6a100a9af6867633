/* block.c - one block: its warps by turns, its barriers, and the memory that they need. */
#include "emulator/machine.h"

/* ---- Memory of warps and frames ------------------------------------------------------------- */

static void *runner_memory(struct runner *runner, uint64_t bytes)
{
    if (runner->memory_used + bytes > CAP_WARP_MEMORY_BYTES)
        return NULL;
    void *memory = aligned_alloc(64, (bytes + 63) & ~UINT64_C(63));
    if (memory != NULL)
        runner->memory_used += bytes;
    else /* the machine's doing, not the kernel's */
        atomic_store(&runner->launch->no_memory, true);
    return memory;
}

static void no_memory(struct warp *warp, const struct op *site, const char *what)
{
    struct fault_site where = {
        .op = site, .lane = (unsigned)__builtin_ctz(warp->active != 0 ? warp->active : 1)};
    if (!atomic_load(&warp->runner->launch->no_memory))
        fault_report(warp, &where, "stack overflow", false, "needs more %s than the emulator has",
                     what);
    launch_stop(warp);
}

/* Local memory for `bytes` a thread. */
static bool grow_local(struct warp *warp, uint32_t bytes)
{
    if (bytes <= warp->local_capacity)
        return true;
    uint64_t capacity = warp->local_capacity == 0 ? 64 : warp->local_capacity;
    while (capacity < bytes)
        capacity *= 2;
    uint64_t data_bytes = capacity * LANES, known_bytes = capacity * LANES / 8 + 64;
    uint8_t *data = runner_memory(warp->runner, data_bytes);
    uint8_t *known = runner_memory(warp->runner, known_bytes);
    if (data == NULL || known == NULL) {
        free(data);
        free(known);
        return false;
    }
    memset(data, 0, data_bytes);
    memset(known, 0, known_bytes);
    if (warp->local_capacity > 0) {
        memcpy(data, warp->local, (size_t)warp->local_capacity * LANES);
        memcpy(known, warp->local_known, (size_t)warp->local_capacity * LANES / 8);
    }
    free(warp->local);
    free(warp->local_known);
    warp->local = data;
    warp->local_known = known;
    warp->local_capacity = (uint32_t)capacity;
    return true;
}

static void fill_constants(uint8_t *registers, const struct program *program)
{
    for (size_t i = 0; i < program->constant_count; ++i) {
        const struct constant *constant = &program->constants[i];
        const unsigned bytes = width_bytes((enum width)constant->width);
        const unsigned lanes = constant->width == WIDTH_PREDICATE ? 1 : LANES;
        const unsigned taken = bytes < 8 ? bytes : 8;
        for (unsigned lane = 0; lane < lanes; ++lane)
            memcpy(registers + constant->offset + bytes * lane, &constant->bits, taken);
    }
}

/* A frame that ran the same function is as good as new: constants are still in place. */
static struct frame *take_frame(struct warp *warp, const struct program *program)
{
    for (struct frame **link = &warp->spare_frames; *link != NULL; link = &(*link)->parent)
        if ((*link)->program == program) {
            struct frame *frame = *link;
            *link = frame->parent;
            return frame;
        }
    struct frame *frame = calloc(1, sizeof *frame);
    if (frame == NULL) {
        atomic_store(&warp->runner->launch->no_memory, true);
        return NULL;
    }
    frame->registers = runner_memory(warp->runner, program->register_bytes + 64u);
    if (frame->registers == NULL) {
        free(frame);
        return NULL;
    }
    memset(frame->registers, 0, program->register_bytes + 64u);
    frame->register_bytes = program->register_bytes + 64u;
    fill_constants(frame->registers, program);
    for (size_t i = 0; i < program->invariant_count; ++i)
        program->invariants[i].run.lanes(frame->registers, &program->invariants[i],
                                         frame->registers + program->invariants[i].d);
    return frame;
}

struct frame *frame_open(struct warp *warp, const struct program *program, struct frame *parent,
                         uint32_t mask, const struct op *site)
{
    const unsigned depth = parent == NULL ? 0 : parent->depth + 1;
    const uint32_t base =
        parent == NULL ? 0
                       : parent->local_base + parent->program->local_bytes + parent->taken_bytes;
    if (depth > CAP_CALL_DEPTH || base + program->local_bytes > CAP_LOCAL_BYTES) {
        no_memory(warp, site, "stack");
        return NULL;
    }
    struct frame *frame = NULL;
    if (!grow_local(warp, base + program->local_bytes) ||
        (frame = take_frame(warp, program)) == NULL) {
        no_memory(warp, site, "memory for calls");
        return NULL;
    }
    const struct frame kept = *frame;
    *frame = (struct frame){.parent = parent,
                            .program = program,
                            .registers = kept.registers,
                            .register_bytes = kept.register_bytes,
                            .local_base = base,
                            .mask = mask,
                            .depth = depth};
    for (size_t i = 0; i < program->defined_count; ++i)
        memset(frame->registers + program->defined[i], 0, 4);
    if (program->local_bytes > 0 && mask == warp->live) { /* whole words: multiples of 16 */
        memset(warp->local_known + (size_t)base * LANES / 8, 0,
               (size_t)program->local_bytes * LANES / 8);
    } else {
        for (uint32_t left = mask; left != 0; left &= left - 1)
            local_set_known(warp, (unsigned)__builtin_ctz(left), base, program->local_bytes, false);
    }
    return frame;
}

bool frame_extend(struct warp *warp, uint64_t bytes, const struct op *site)
{
    struct frame *frame = warp->frame;
    const uint64_t begin =
        (uint64_t)frame->local_base + frame->program->local_bytes + frame->taken_bytes;
    if (bytes > CAP_LOCAL_BYTES || begin + bytes > CAP_LOCAL_BYTES) {
        no_memory(warp, site, "stack");
        return false;
    }
    if (!grow_local(warp, (uint32_t)(begin + bytes))) {
        no_memory(warp, site, "memory for its stack");
        return false;
    }
    for (uint32_t left = warp->active; left != 0; left &= left - 1)
        local_set_known(warp, (unsigned)__builtin_ctz(left), (uint32_t)begin, (uint32_t)bytes,
                        false);
    frame->taken_bytes += (uint32_t)bytes;
    warp_activate(warp, warp->group);
    return true;
}

void frame_close(struct warp *warp, struct frame *frame)
{
    frame->parent = warp->spare_frames;
    warp->spare_frames = frame;
}

static void free_warp(struct warp *warp)
{
    while (warp->spare_frames != NULL) {
        struct frame *next = warp->spare_frames->parent;
        free(warp->spare_frames->registers);
        free(warp->spare_frames);
        warp->spare_frames = next;
    }
    free(warp->local);
    free(warp->local_known);
    free(warp->copies);
    free(warp);
}

/* ---- Warps ---------------------------------------------------------------------------------- */

static struct warp *begin_warp(struct runner *runner, unsigned number)
{
    const struct launch *launch = runner->launch;
    struct warp *warp = runner->spare;
    if (warp != NULL)
        runner->spare = warp->next_spare;
    else
        warp = calloc(1, sizeof *warp);
    if (warp == NULL)
        return NULL;
    const unsigned left = launch->block_threads - number * LANES;
    warp->runner = runner;
    warp->number = number;
    warp->live = left >= LANES ? FULL_MASK : (UINT32_C(1) << left) - 1;
    warp->patience = 0;
    warp->turn = 0;
    warp->others = warp->in_turn = false;
    if (warp->copy_count > 0 || warp->copies != NULL) {
        warp->copy_count = 0;
        memset(warp->copy_groups, 0, sizeof warp->copy_groups);
    }
    warp->yields = false;
    warp->tid = runner->tid[number];
    const struct program *program = launch->kernel->programs;
    warp->active = warp->live;
    struct frame *frame = frame_open(warp, program, NULL, warp->live, program->ops);
    if (frame == NULL) {
        free_warp(warp);
        return NULL;
    }
    warp->groups[0] = (struct group){
        .state = GROUP_READY, .mask = warp->live, .next = program->ops, .frame = frame};
    ++runner->warps_run;
    return warp;
}

/* Frames of a warp that was stopped in the middle. */
static void reclaim_frames(struct warp *warp)
{
    struct record *records = warp->records;
    for (unsigned i = 0; i < LANES + RECORDS; ++i) {
        struct frame *frame = NULL;
        if (i < LANES && warp->groups[i].state != GROUP_FREE)
            frame = warp->groups[i].frame;
        else if (i >= LANES && records[i - LANES].used && records[i - LANES].arrived != 0)
            frame = records[i - LANES].frame;
        while (frame != NULL && frame->mask != 0) {
            struct frame *parent = frame->parent;
            frame->mask = 0; /* seen */
            frame_close(warp, frame);
            frame = parent;
        }
    }
}

static void end_warp(struct runner *runner, struct warp *warp)
{
    runner->warps[warp->number] = NULL;
    if (warp->live != 0) { /* else its groups, records and frames are all free */
        reclaim_frames(warp);
        memset(warp->groups, 0, sizeof warp->groups);
        memset(warp->records, 0, sizeof warp->records);
    }
    warp->next_spare = runner->spare;
    runner->spare = warp;
}

/* ---- The block ------------------------------------------------------------------------------ */

#define LOOKS_MOST 4 /* rounds of mere looking before a block is taken for one that waits */

static bool run_warps(struct runner *runner)
{
    bool any = false;
    for (unsigned w = 0; w < runner->warp_count && !runner->stopped; ++w) {
        if (runner->warp_done[w])
            continue;
        if (runner->warps[w] == NULL) {
            runner->warps[w] = begin_warp(runner, w);
            if (runner->warps[w] == NULL) {
                atomic_store(&runner->launch->no_memory, true);
                runner->stopped = true;
                return false;
            }
        }
        struct warp *warp = runner->warps[w];
        if (warp_is_ready(warp)) {
            warp_run(warp);
            any = true;
        }
        if (warp->live == 0) {
            runner->warp_done[w] = true;
            ++runner->warps_done;
            end_warp(runner, warp);
        }
    }
    return any;
}

void block_begin(struct runner *runner, uint64_t number)
{
    const struct launch *launch = runner->launch;
    runner->block_number = number;
    runner->block[0] = (uint32_t)(number % launch->grid[0]);
    runner->block[1] = (uint32_t)(number / launch->grid[0] % launch->grid[1]);
    runner->block[2] = (uint32_t)(number / launch->grid[0] / launch->grid[1]);
    runner->stopped = false;
    ++runner->blocks_begun;
    runner->warps_done = 0;
    runner->threads_live = launch->block_threads;
    memset(runner->warp_done, 0, sizeof runner->warp_done);
    memset(runner->barrier_arrived, 0, sizeof runner->barrier_arrived);
    runner->barrier_waiting = 0;
    runner->fenced = false;
    memset(runner->gates, 0, sizeof runner->gates);
    if (launch->shared_bytes > 0)
        memset(runner->shared_known, 0, launch->shared_bytes / 4 + 1);
    if (launch->kernel->reserved_bytes > 0) {
        memset(runner->shared, 0, launch->kernel->reserved_bytes);
        memset(runner->shared_known, 0xF, launch->kernel->reserved_bytes / 4);
    }
    shared_meet_all(runner);
}

/* Nobody can go on: lets lanes go that wait for others of their warp, or reports who waits where.
 */
static void unblock(struct runner *runner)
{
    bool released = false;
    barriers_note_parted(runner);
    for (unsigned w = 0; w < runner->warp_count; ++w)
        released = (runner->warps[w] != NULL && warp_release(runner->warps[w])) || released;
    for (unsigned w = 0; w < runner->warp_count && !released; ++w)
        released = runner->warps[w] != NULL && exchange_settle(runner->warps[w], true);
    if (!released && runner->warps_done < runner->warp_count) {
        barriers_report(runner);
        runner->stopped = true;
    }
}

bool block_go(struct runner *runner)
{
    const unsigned patience = atomic_load(&runner->launch->blocks_wait) ? 1 : LOOKS_MOST;
    unsigned looks = 0; /* rounds in which no warp did more than look */
    while (runner->warps_done < runner->warp_count && !runner->stopped) {
        runner->goes_on = false;
        if (!run_warps(runner) && !runner->stopped && !barriers_open(runner)) {
            unblock(runner);
            continue;
        }
        looks = runner->goes_on ? 0 : looks + 1;
        if (looks >= patience && runner->launch->blocks > 1)
            return false;
    }
    return true;
}

void block_end(struct runner *runner)
{
    for (unsigned w = 0; w < runner->warp_count; ++w)
        if (runner->warps[w] != NULL)
            end_warp(runner, runner->warps[w]);
}

void runner_release(struct runner *runner)
{
    while (runner->spare != NULL) {
        struct warp *next = runner->spare->next_spare;
        free_warp(runner->spare);
        runner->spare = next;
    }
    free(runner->tid);
    free(runner->block_runs);
    shared_free(runner);
    free(runner->faults);
}

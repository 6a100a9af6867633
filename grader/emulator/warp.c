/* warp.c - one warp: running its groups of lanes, branches, calls and ends. How they part and meet:
 * meet.c. See machine.h. */
#include "emulator/machine.h"

/* After this many instructions another warp gets a turn … */
#define SLICE 20000
#define SHORT_SLICE 1000 /* where blocks wait for one another */
/* … and after this many, lanes that wait for a group that does not come stop waiting. A group that
 * looks at memory which others may change (an atomic, a volatile load) may itself be waiting for
 * them: then one slice is enough. */
#define PATIENCE 4000000
/* Who looks at one place so often in a row, and changes nothing meanwhile, spins. */
#define LOOKS_IN_VAIN 64

void warp_activate(struct warp *warp, struct group *group)
{
    warp->group = group;
    warp->frame = group->frame;
    warp->registers = group->frame->registers;
    warp->active = group->mask;
    const struct program *program = group->frame->program;
    warp->local_top = group->frame->local_base + program->local_bytes + group->frame->taken_bytes;
    if (group->frame->taken_bytes == 0)
        warp->local_top -= program->local_padding;
}

/* ---- Running -------------------------------------------------------------------------------- */

static struct group *pick(struct warp *warp)
{
    for (unsigned i = 0; i < LANES; ++i) {
        unsigned k = (warp->turn + i) % LANES;
        if (warp->groups[k].state == GROUP_READY) {
            warp->turn = k;
            warp->others = i + 1 < LANES;
            return &warp->groups[k];
        }
    }
    return NULL;
}

bool warp_is_ready(const struct warp *warp)
{
    for (unsigned i = 0; i < LANES; ++i)
        if (warp->groups[i].state == GROUP_READY)
            return true;
    return false;
}

static void execute(struct warp *warp, const struct op *op)
{
    void (*const blend)(void *, const void *, uint32_t, enum width) = lanes_best()->blend;
    uint8_t *const scratch = warp->runner->scratch;
    while (op != NULL) {
        uint8_t *const registers = warp->registers;
        if (warp->active == warp->frame->mask) {
            for (; op->class != OP_JUMP; ++op)
                if (op->class == OP_LANES)
                    op->run.lanes(registers, op, registers + op->d);
                else
                    op->run.step(warp, op);
        } else {
            for (; op->class != OP_JUMP; ++op)
                if (op->class == OP_LANES) {
                    op->run.lanes(registers, op, scratch);
                    blend(registers + op->d, scratch, warp->active, (enum width)op->width);
                } else {
                    op->run.step(warp, op);
                }
        }
        op = op->run.jump(warp, op);
    }
}

/* Changes to memory so far: a warp that only waits makes none. */
static uint64_t count_changes(const struct runner *runner)
{
    return runner->changes + runner->traffic.global.store.requests +
           runner->traffic.local_array.store.requests + runner->counters.shared_store.requests;
}

void warp_look(struct warp *warp, const struct op *op, uint64_t address)
{
    const uint64_t changes = count_changes(warp->runner);
    warp->polls = true;
    if (warp->look != op || warp->look_address != address || warp->look_changes != changes)
        warp->looks = 0;
    warp->look = op;
    warp->look_address = address;
    warp->look_changes = changes;
    if (++warp->looks < LOOKS_IN_VAIN)
        return;
    warp->looks = 0;
    warp->slice = 0;
}

void warp_run(struct warp *warp)
{
    struct runner *runner = warp->runner;
    const uint64_t changes = count_changes(runner);
    warp->slice = atomic_load_explicit(&runner->launch->blocks_wait, memory_order_relaxed)
                      ? SHORT_SLICE
                      : SLICE;
    do
        for (struct group *group = pick(warp); group != NULL && !runner->stopped && !warp->yields;
             group = pick(warp)) {
            warp_activate(warp, group);
            execute(warp, group->next);
        }
    while (!warp->yields && !runner->stopped && exchange_settle(warp, false));
    if (!warp->yields || !warp->looked || count_changes(runner) != changes)
        runner->goes_on = true;
    warp->yields = false;
}

/* `@p instruction` */
void warp_guarded(struct warp *warp, const struct op *op)
{
    uint32_t predicate;
    memcpy(&predicate, warp->registers + op->guard, sizeof predicate);
    const uint32_t active = warp->active;
    warp->active &= op->negated ? ~predicate : predicate;
    if (warp->active != 0) {
        if (op->inner == OP_LANES) {
            op->guarded.lanes(warp->registers, op, warp->runner->scratch);
            lanes_best()->blend(warp->registers + op->d, warp->runner->scratch, warp->active,
                                (enum width)op->width);
        } else {
            op->guarded.step(warp, op);
        }
    }
    warp->active = active;
}

/* The running group stops here for now and goes on with `op` later. */
static const struct op *take_turns(struct warp *warp, const struct op *op)
{
    warp->group->next = op;
    warp->yields = true;
    warp->turn = (warp->turn + 1) % LANES;
    warp->patience += SLICE;
    if (warp->patience >= PATIENCE || warp->polls) {
        warp->patience = 0;
        (void)warp_release(warp);
    }
    warp->looked = warp->polls;
    warp->polls = false;
    warp->in_turn = !warp->in_turn;
    return NULL;
}

const struct op *warp_enter_block(struct warp *warp, const struct op *op)
{
    const struct group *group = warp->group;
    while (group->record != NULL && group->record->block == op->target &&
           group->record->frame == warp->frame)
        if (!meet_arrive(warp))
            return NULL;
    if (warp->others && meet_early(warp, op))
        return NULL;
    struct runner *runner = warp->runner;
    runner->instructions += op->imm;
    const struct block *block = op->detail;
    ++runner->block_runs[block->number];
    runner->counters.lane_instructions += op->imm * (unsigned)__builtin_popcount(warp->active);
    if (runner->budget < op->imm && !runner_more_budget(warp, op))
        return NULL;
    runner->budget -= op->imm;
    if (warp->slice < op->imm) {
        warp->slice = SLICE;
        if (runner->warp_count > 1 || warp->active != warp->live ||
            (warp->polls && runner->launch->blocks > 1))
            return take_turns(warp, op + 1);
    }
    warp->slice -= op->imm;
    return op + 1;
}

/* ---- Branches ------------------------------------------------------------------------------- */

const struct op *warp_branch(struct warp *warp, const struct op *op)
{
    uint32_t predicate;
    memcpy(&predicate, warp->registers + op->guard, sizeof predicate);
    const uint32_t taken = warp->active & (op->negated ? ~predicate : predicate);
    ++warp->runner->counters.branches;
    if (taken == 0)
        return op + 1;
    if (taken == warp->active)
        return op->detail;
    meet_part(warp, taken, op->detail, op->e);
    return op + 1;
}

const struct op *warp_jump(struct warp *warp, const struct op *op)
{
    (void)warp;
    return op->detail;
}

const struct op *warp_branch_indexed(struct warp *warp, const struct op *op)
{
    const uint32_t *targets = op->detail;
    const struct program *program = warp->frame->program;
    for (;;) {
        const unsigned first = (unsigned)__builtin_ctz(warp->active);
        uint32_t index, same = 0;
        memcpy(&index, warp->registers + op->a + 4 * first, sizeof index);
        if (index >= op->imm) {
            struct fault_site site = {.op = op, .lane = first};
            fault_report(warp, &site, "wild branch", false, "jumps to entry %u of a table of %llu",
                         index, (unsigned long long)op->imm);
            launch_stop(warp);
            return NULL;
        }
        for (uint32_t left = warp->active; left != 0; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(left);
            uint32_t other;
            memcpy(&other, warp->registers + op->a + 4 * lane, sizeof other);
            same |= other == index ? UINT32_C(1) << lane : 0;
        }
        const struct op *target = targets[index] == NO_BLOCK
                                      ? &program->ops[program->end_op]
                                      : &program->ops[program->blocks[targets[index]].op];
        if (same == warp->active)
            return target;
        meet_part(warp, same, target, op->e);
    }
}

/* ---- Ends ----------------------------------------------------------------------------------- */

static void leave(struct warp *warp, uint32_t mask)
{
    warp->live &= ~mask;
    warp->runner->threads_live -= (uint32_t)__builtin_popcount(mask);
    for (struct frame *frame = warp->frame, *parent = NULL; frame != NULL; frame = parent) {
        parent = frame->parent;
        frame->mask &= ~mask;
    }
    struct record *record = warp->group->record;
    struct frame *frame = warp->frame;
    warp->group->state = GROUP_FREE;
    meet_forget(warp, record, mask);
    while (frame != NULL && frame->mask == 0) {
        struct frame *parent = frame->parent;
        frame_close(warp, frame);
        frame = parent;
    }
}

const struct op *warp_exit(struct warp *warp, const struct op *op)
{
    (void)op;
    leave(warp, warp->active);
    return NULL;
}

const struct op *warp_trap(struct warp *warp, const struct op *op)
{
    struct fault_site site = {.op = op, .lane = (unsigned)__builtin_ctz(warp->active)};
    fault_report(warp, &site, "trap", false, "executes a trap");
    launch_stop(warp);
    return NULL;
}

/* What the emulator does not run (op->detail says why). Under a guard it may not concern anybody.
 */
const struct op *warp_refused(struct warp *warp, const struct op *op)
{
    uint32_t lanes = warp->active;
    if (op->guard != UINT32_MAX) {
        uint32_t predicate;
        memcpy(&predicate, warp->registers + op->guard, sizeof predicate);
        lanes &= op->negated ? ~predicate : predicate;
    }
    if (lanes == 0)
        return op + 1;
    struct launch *launch = warp->runner->launch;
    (void)pthread_mutex_lock(&launch->lock);
    if (launch->refusal == NULL || warp->runner->block_number < launch->refusal_block) {
        launch->refusal = op->detail;
        launch->refusal_block = warp->runner->block_number;
    }
    (void)pthread_mutex_unlock(&launch->lock);
    launch_stop(warp);
    return NULL;
}

const struct op *warp_return(struct warp *warp, const struct op *op)
{
    struct group *group = warp->group;
    struct frame *frame = warp->frame;
    if (frame->parent == NULL)
        return warp_exit(warp, op);
    while (group->record != NULL && group->record->frame == frame) {
        struct record *record = group->record;
        if (record->block == NO_BLOCK) {
            if (!meet_arrive(warp))
                return NULL;
            continue;
        }
        group->record = record->parent; /* the function ended on a path that misses the block */
        record->expected &= ~group->mask;
        meet_settle(warp, record);
    }
    const struct call *call = frame->call;
    const struct op *next = frame->return_to;
    const uint32_t base = frame->parent->local_base;
    for (uint32_t left = group->mask; left != 0; left &= left - 1)
        for (size_t r = 0; r < call->result_count; ++r)
            local_copy(warp, (unsigned)__builtin_ctz(left), base + call->results[r],
                       frame->local_base + frame->program->returns[r], call->result_bytes[r]);
    group->frame = frame->parent;
    frame->mask &= ~group->mask;
    if (frame->mask == 0)
        frame_close(warp, frame);
    warp_activate(warp, group);
    return next;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

/* The function that the first lane calls, when lanes may call different ones: the others are split
 * off and come to this op again. */
static const struct program *indirect_target(struct warp *warp, const struct op *op)
{
    const struct call *call = op->detail;
    const unsigned first = (unsigned)__builtin_ctz(warp->active);
    const unsigned bytes = call->pointer_bytes;
    uint64_t pointer = 0;
    memcpy(&pointer, warp->registers + call->pointer + bytes * first, bytes);
    const struct program *target =
        kernel_function_at(warp->runner->launch->emulator, call->kernel, pointer);
    if (target == NULL || target->body->face.is_entry || !call_fits(call, target->body)) {
        struct fault_site site = {.op = op, .lane = first, .address = pointer};
        fault_report(warp, &site, "wild call", false, "calls 0x%llx, which is no function that %s",
                     (unsigned long long)pointer,
                     target == NULL ? "it could call" : "takes these parameters");
        launch_stop(warp);
        return NULL;
    }
    uint32_t others = 0;
    for (uint32_t left = warp->active; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t other = 0;
        memcpy(&other, warp->registers + call->pointer + bytes * lane, bytes);
        others |= other != pointer ? UINT32_C(1) << lane : 0;
    }
    if (others != 0)
        meet_part(warp, others, op, op->e);
    return target;
}

const struct op *warp_call(struct warp *warp, const struct op *op)
{
    const struct call *call = op->detail;
    const struct program *target = call->target;
    if (call->kind == CALL_INDIRECT) {
        target = indirect_target(warp, op);
        if (target == NULL)
            return NULL;
    }
    struct frame *frame = frame_open(warp, target, warp->frame, warp->active, op);
    if (frame == NULL)
        return NULL; /* reported */
    frame->return_to = op + 1;
    frame->call = call;
    for (uint32_t left = warp->active; left != 0; left &= left - 1)
        for (size_t i = 0; i < call->argument_count; ++i)
            local_copy(warp, (unsigned)__builtin_ctz(left),
                       frame->local_base + target->parameters[i],
                       warp->frame->local_base + call->arguments[i], call->argument_bytes[i]);
    warp->group->frame = frame;
    warp_activate(warp, warp->group);
    return target->ops;
}

/* barrier.c - bar and barrier: threads of a block wait for one another. */
#include "emulator/lane_values.h"
#include "emulator/lower.h"

/* ---- Barriers ------------------------------------------------------------------------------- */

static const struct op *barrier(struct warp *warp, const struct op *op)
{
    struct group *group = warp->group;
    const unsigned first = (unsigned)__builtin_ctz(warp->active);
    const uint32_t number = read_lane(warp, op->a, first);
    const uint32_t count = op->b == UINT32_MAX ? 0 : read_lane(warp, op->b, first);
    if (number >= BARRIERS || count % LANES != 0 || count > CAP_BLOCK_THREADS) {
        struct fault_site site = {.op = op, .lane = first};
        fault_report(warp, &site, "bad barrier", false,
                     "uses barrier %u with %u threads (barriers are 0 to 15, threads a multiple of "
                     "32)",
                     number, count);
        launch_stop(warp);
        return NULL;
    }
    if (op->negated) { /* bar.arrive does not wait */
        warp->runner->barrier_arrived[number] += (uint32_t)__builtin_popcount(warp->active);
        shared_arrive(warp->runner, number, warp->number);
        return op + 1;
    }
    group->state = GROUP_BARRIER;
    warp->runner->barrier_waiting |= UINT32_C(1) << number;
    group->barrier = number;
    group->barrier_count = count;
    group->next = op + 1;
    group->at = op;
    group->reduction = (uint8_t)op->imm;
    if (op->imm != BARRIER_PLAIN) {
        group->vote = read_mask(warp, op->c);
        group->result = op->d;
    }
    return NULL;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static bool waits_at(const struct group *group, unsigned barrier)
{
    return group->state == GROUP_BARRIER && group->barrier == barrier;
}

/* Threads that wait, and how many it takes; and the outcome of bar.red over them. */
static void barrier_release(struct runner *runner, unsigned barrier)
{
    uint32_t any = 0, all = 1, sum = 0, waiting = 0, warps = 0;
    for (unsigned w = 0; w < runner->warp_count; ++w)
        for (unsigned g = 0; runner->warps[w] != NULL && g < LANES; ++g) {
            const struct group *group = &runner->warps[w]->groups[g];
            if (!waits_at(group, barrier))
                continue;
            any |= (group->vote & group->mask) != 0;
            all &= (group->vote & group->mask) == group->mask;
            sum += (uint32_t)__builtin_popcount(group->vote & group->mask);
            waiting += (uint32_t)__builtin_popcount(group->mask);
            warps |= UINT32_C(1) << w;
        }
    for (unsigned w = 0; w < runner->warp_count; ++w)
        for (unsigned g = 0; runner->warps[w] != NULL && g < LANES; ++g) {
            struct group *group = &runner->warps[w]->groups[g];
            if (!waits_at(group, barrier))
                continue;
            group->state = GROUP_READY;
            runner->warps[w]->others = true;
            uint8_t *to = group->frame->registers + group->result;
            if (group->reduction == BARRIER_POPC) {
                for (uint32_t left = group->mask; left != 0; left &= left - 1)
                    memcpy(to + 4 * (unsigned)__builtin_ctz(left), &sum, sizeof sum);
            } else if (group->reduction != BARRIER_PLAIN) {
                uint32_t predicate, yes = group->reduction == BARRIER_OR ? any : all;
                memcpy(&predicate, to, sizeof predicate);
                predicate = yes != 0 ? predicate | group->mask : predicate & ~group->mask;
                memcpy(to, &predicate, sizeof predicate);
            }
        }
    const bool is_whole = waiting == runner->threads_live && runner->barrier_arrived[barrier] == 0;
    runner->barrier_arrived[barrier] = 0;
    ++runner->counters.barriers;
    ++runner->global_epoch;
    if (is_whole)
        shared_meet_all(runner);
    else
        shared_meet(runner, barrier, warps);
}

/* Lanes of one warp that wait at one barrier by different instructions took different ways to it.
 */
static void check_divergence(struct runner *runner, unsigned barrier)
{
    for (unsigned w = 0; w < runner->warp_count && runner->launch->checks; ++w) {
        struct warp *warp = runner->warps[w];
        const struct group *first = NULL;
        for (unsigned g = 0; warp != NULL && g < LANES; ++g) {
            const struct group *group = &warp->groups[g];
            if (!waits_at(group, barrier))
                continue;
            if (first == NULL)
                first = group;
            if (group->at->instruction == first->at->instruction)
                continue;
            const struct ptx_instruction *other = first->at->instruction;
            struct fault_site site = {.op = group->at,
                                      .lane = (unsigned)__builtin_ctz(group->mask)};
            fault_report(
                warp, &site, "barrier divergence", false,
                "waits here while other threads of its warp wait at the barrier of line %u",
                fault_line(other));
        }
    }
}

/* Opens every barrier that all have reached. */
bool barriers_open(struct runner *runner)
{
    bool opened = false;
    for (uint32_t left = runner->barrier_waiting; left != 0; left &= left - 1) {
        const unsigned barrier = (unsigned)__builtin_ctz(left);
        uint32_t waiting = runner->barrier_arrived[barrier], wanted = 0;
        bool anybody = false;
        for (unsigned w = 0; w < runner->warp_count; ++w)
            for (unsigned g = 0; runner->warps[w] != NULL && g < LANES; ++g) {
                const struct group *group = &runner->warps[w]->groups[g];
                if (!waits_at(group, barrier))
                    continue;
                anybody = true;
                waiting += (uint32_t)__builtin_popcount(group->mask);
                wanted = group->barrier_count != 0 ? group->barrier_count : runner->threads_live;
            }
        if (!anybody || waiting < wanted)
            continue;
        check_divergence(runner, barrier);
        barrier_release(runner, barrier);
        runner->barrier_waiting &= ~(UINT32_C(1) << barrier);
        opened = true;
    }
    return opened;
}

/* Nothing is left to do for the threads that meet here: as good as ended. */
static bool is_end(const struct record *record)
{
    const struct program *program = record->frame->program;
    if (record->frame->parent != NULL || record->block == NO_BLOCK)
        return record->frame->parent == NULL;
    const struct block *block = &program->blocks[record->block];
    const struct opcode *first = program->body->instructions[block->first].known;
    return first != NULL && first->flow == OPCODE_END;
}

/* Lanes of a warp wait at a barrier, others of it where their paths meet: those do not come to the
 * barrier with it. (Threads that have ended are not missed.) */
void barriers_note_parted(struct runner *runner)
{
    for (unsigned w = 0; w < runner->warp_count && runner->launch->checks; ++w) {
        struct warp *warp = runner->warps[w];
        uint32_t elsewhere = 0;
        for (unsigned r = 0; warp != NULL && r < RECORDS; ++r)
            if (warp->records[r].used && !is_end(&warp->records[r]))
                elsewhere |= warp->records[r].arrived;
        for (unsigned g = 0; elsewhere != 0 && g < LANES; ++g) {
            const struct group *group = &warp->groups[g];
            if (group->state != GROUP_BARRIER)
                continue;
            struct fault_site site = {.op = group->at,
                                      .lane = (unsigned)__builtin_ctz(group->mask)};
            fault_report(
                warp, &site, "barrier divergence", false,
                "waits at a barrier with %d threads of its warp while %d others take a way "
                "around it",
                __builtin_popcount(group->mask), __builtin_popcount(elsewhere));
        }
    }
}

/* Nobody can go on: who waits where? */
void barriers_report(struct runner *runner)
{
    char words[400];
    size_t used = 0;
    struct warp *first = NULL;
    const struct group *waits = NULL;
    for (unsigned w = 0; w < runner->warp_count && used < sizeof words - 80; ++w)
        for (unsigned g = 0; runner->warps[w] != NULL && g < LANES; ++g) {
            const struct group *group = &runner->warps[w]->groups[g];
            if (group->state != GROUP_BARRIER)
                continue;
            if (first == NULL) {
                first = runner->warps[w];
                waits = group;
            }
            const struct ptx_instruction *at = group->at->instruction;
            if (used < sizeof words - 80)
                used += (size_t)snprintf(words + used, sizeof words - used,
                                         "%s%d threads of warp %u at barrier %u (%s %u)",
                                         used == 0 ? "" : ", ", __builtin_popcount(group->mask), w,
                                         group->barrier, at->location != NULL ? "line" : "PTX line",
                                         fault_line(at));
        }
    if (first == NULL)
        return;
    first->active = waits->mask;
    struct fault_site site = {.op = waits->at, .lane = (unsigned)__builtin_ctz(waits->mask)};
    fault_report(first, &site, "barrier never met", false,
                 "waits at a barrier that the rest of the block never reaches (%u threads are "
                 "alive: %s)",
                 runner->threads_live, words);
    launch_stop(first);
}

/* ---- Lowering ------------------------------------------------------------------------------ */

void lower_barrier(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *operands = instruction->operands;
    size_t count = instruction->operand_count;
    if (lower_has(instruction, "warp")) {
        if (count == 1)
            exchange_lower_warp_barrier(lowering, &operands[0]);
        else
            lower_refuse(lowering, "it is not understood");
        return;
    }
    if (lower_has(instruction, "cluster")) {
        lower_refuse(lowering, "clusters of blocks are not emulated");
        return;
    }
    const bool red = lower_has(instruction, "red");
    enum barrier_reduction reduction = BARRIER_PLAIN;
    uint32_t d = 0, predicate = 0;
    if (red) {
        if (count < 3) {
            lower_refuse(lowering, "it is not understood");
            return;
        }
        reduction = lower_has(instruction, "popc")  ? BARRIER_POPC
                    : lower_has(instruction, "and") ? BARRIER_AND
                                                    : BARRIER_OR;
        d = lower_result(lowering, &operands[0],
                         reduction == BARRIER_POPC ? WIDTH_32 : WIDTH_PREDICATE);
        predicate = lower_value(lowering, &operands[count - 1], WIDTH_PREDICATE, PTX_PRED);
        ++operands;
        count -= 2;
    }
    if (count < 1 || count > 2) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t number = lower_value(lowering, &operands[0], WIDTH_32, PTX_U32);
    uint32_t threads =
        count == 2 ? lower_value(lowering, &operands[1], WIDTH_32, PTX_U32) : UINT32_MAX;
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = barrier;
    op->a = number;
    op->b = threads;
    op->c = predicate;
    op->d = d;
    op->imm = reduction;
    op->negated = lower_has(instruction, "arrive");
}

/* exchange.c - lanes of a warp exchange values: shuffles, votes, matches, reductions. */
#include "emulator/lane_values.h"
#include "emulator/lower.h"

/* ---- Shuffles and votes --------------------------------------------------------------------- */

enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };

#define SHUFFLE_MASK_SHIFT 32 /* in op->imm: where the mask of the lanes that have a value is */

/* PTX ISA, "shfl": from which lane, and whether that lane is in range. op->e: predicate or none.
 * A lane may hand out a register that has no value, as long as nobody takes it: what the leader
 * alone has set is told to all so. */
static void shuffle(struct warp *warp, const struct op *op)
{
    const uint32_t at = (uint32_t)(op->imm >> SHUFFLE_MASK_SHIFT);
    const uint32_t defined = at == UINT32_MAX ? FULL_MASK : read_mask(warp, at);
    uint32_t result[LANES], in_range = 0;
    EACH_ACTIVE(lane)
    {
        const uint32_t b = read_lane(warp, op->b, lane) & 31, c = read_lane(warp, op->c, lane);
        const uint32_t segment = c >> 8 & 31, clamp = c & 31;
        const int most = (int)((lane & segment) | (clamp & ~segment));
        const uint32_t least = lane & segment;
        int from;
        bool good;
        switch ((enum shuffle)(op->imm & 3)) {
        case SHUFFLE_UP:
            from = (int)lane - (int)b;
            good = from >= most;
            break;
        case SHUFFLE_DOWN:
            from = (int)(lane + b);
            good = from <= most;
            break;
        case SHUFFLE_BUTTERFLY:
            from = (int)(lane ^ b);
            good = from <= most;
            break;
        case SHUFFLE_INDEX:
        default:
            from = (int)(least | (b & ~segment));
            good = from <= most;
            break;
        }
        in_range |= good ? UINT32_C(1) << lane : 0;
        if (good && ((warp->active & defined) >> (from & 31) & 1) == 0 &&
            warp->runner->launch->checks) {
            struct fault_site site = {.op = op, .lane = lane};
            fault_report(warp, &site, "undefined value", true,
                         "takes the value of lane %d, which %s", from & 31,
                         (warp->active >> (from & 31) & 1) == 0 ? "takes no part in the shuffle"
                                                                : "has none yet");
        }
        result[lane] = read_lane(warp, op->a, good ? (unsigned)from & 31 : lane);
    }
    EACH_ACTIVE(lane) write_lane(warp, op->d, lane, result[lane]);
    if (op->e != UINT32_MAX)
        write_mask(warp, op->e, in_range);
}

enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNIFORM, VOTE_BALLOT, VOTE_ACTIVE };

static void vote(struct warp *warp, const struct op *op)
{
    const enum vote kind = (enum vote)op->imm;
    const uint32_t yes = kind == VOTE_ACTIVE ? warp->active : read_mask(warp, op->a) & warp->active;
    if (kind == VOTE_BALLOT || kind == VOTE_ACTIVE) {
        EACH_ACTIVE(lane) write_lane(warp, op->d, lane, yes);
        return;
    }
    bool outcome = kind == VOTE_ALL   ? yes == warp->active
                   : kind == VOTE_ANY ? yes != 0
                                      : yes == 0 || yes == warp->active;
    write_mask(warp, op->d, outcome ? FULL_MASK : 0);
}

/* match.any: who has my value; match.all: everybody, if all have the same. */
static void match(struct warp *warp, const struct op *op)
{
    const bool wide = op->width == WIDTH_64, all = op->imm != 0;
    uint32_t result[LANES], agree = 0;
    EACH_ACTIVE(lane)
    {
        const uint64_t mine = wide ? read_wide(warp, op->a, lane) : read_lane(warp, op->a, lane);
        uint32_t same = 0;
        for (uint32_t left = warp->active; left != 0; left &= left - 1) {
            const unsigned other = (unsigned)__builtin_ctz(left);
            uint64_t theirs = wide ? read_wide(warp, op->a, other) : read_lane(warp, op->a, other);
            same |= theirs == mine ? UINT32_C(1) << other : 0;
        }
        result[lane] = all && same != warp->active ? 0 : same;
        agree |= same == warp->active ? UINT32_C(1) << lane : 0;
    }
    EACH_ACTIVE(lane) write_lane(warp, op->d, lane, result[lane]);
    if (op->e != UINT32_MAX)
        write_mask(warp, op->e, agree);
}

enum reduction {
    REDUX_ADD,
    REDUX_MIN_U,
    REDUX_MAX_U,
    REDUX_MIN_S,
    REDUX_MAX_S,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR
};

/* redux of f32: where numbers are told apart, how far, and what a NaN does. */
enum { REDUX_FLOAT_MAX = 1, REDUX_FLOAT_ABS = 2, REDUX_FLOAT_NAN = 4 };

/* Bits of f32 as integers in the order of the numbers: -0 comes before +0. */
static int32_t float_order(uint32_t bits)
{
    return (int32_t)(bits ^ ((bits >> 31) != 0 ? UINT32_C(0x7FFFFFFF) : 0));
}

static void redux_float(struct warp *warp, const struct op *op)
{
    const uint32_t nan = 0x7FFFFFFF, infinity = 0x7F800000;
    uint32_t result = nan;
    bool any_nan = false;
    EACH_ACTIVE(lane)
    {
        const uint32_t bits = read_lane(warp, op->a, lane);
        const uint32_t value = (op->imm & REDUX_FLOAT_ABS) != 0 ? bits & nan : bits;
        if ((value & nan) > infinity) {
            any_nan = true;
            continue;
        }
        const bool is_greater = float_order(value) > float_order(result);
        if (result == nan || is_greater == ((op->imm & REDUX_FLOAT_MAX) != 0))
            result = value;
    }
    if (any_nan && (op->imm & REDUX_FLOAT_NAN) != 0)
        result = nan;
    EACH_ACTIVE(lane) write_lane(warp, op->d, lane, result);
}

static void redux(struct warp *warp, const struct op *op)
{
    uint32_t result = read_lane(warp, op->a, (unsigned)__builtin_ctz(warp->active));
    for (uint32_t left = warp->active & (warp->active - 1); left != 0; left &= left - 1) {
        const uint32_t value = read_lane(warp, op->a, (unsigned)__builtin_ctz(left));
        switch ((enum reduction)op->imm) {
        case REDUX_ADD:
            result += value;
            break;
        case REDUX_MIN_U:
            result = value < result ? value : result;
            break;
        case REDUX_MAX_U:
            result = value > result ? value : result;
            break;
        case REDUX_MIN_S:
            result = (int32_t)value < (int32_t)result ? value : result;
            break;
        case REDUX_MAX_S:
            result = (int32_t)value > (int32_t)result ? value : result;
            break;
        case REDUX_AND:
            result &= value;
            break;
        case REDUX_OR:
            result |= value;
            break;
        case REDUX_XOR:
            result ^= value;
            break;
        }
    }
    EACH_ACTIVE(lane) write_lane(warp, op->d, lane, result);
}

/* ---- Waiting for the lanes that the mask names --------------------------------------------------
 *
 * An instruction with .sync happens when every living lane of its mask has come to it. Lanes that
 * have diverged come as several groups: those that are early wait (GROUP_SYNC), the last one
 * performs the exchange for all, and then each group goes its own way. bar.warp.sync may be met at
 * different places of the program. */

static bool meets(const struct group *group, const struct frame *frame, const struct op *op)
{
    return group->state == GROUP_SYNC && group->frame == frame &&
           (group->at == op || (group->at->guarded.step == NULL && op->guarded.step == NULL));
}

/* Of these lanes, those whose mask is that of the first: lanes of different masks may come to one
 * instruction together (the parts of a labelled partition), and exchange among themselves. */
static uint32_t same_mask(const struct warp *warp, const struct op *op, uint32_t lanes)
{
    uint32_t same = 0;
    if (op->target == UINT32_MAX)
        return lanes;
    const uint32_t mask = read_lane(warp, op->target, (unsigned)__builtin_ctz(lanes));
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        same |= read_lane(warp, op->target, lane) == mask ? UINT32_C(1) << lane : 0;
    }
    return same;
}

/* Performs it for all lanes that wait at the op, with `active` among them. */
static void perform(struct warp *warp, const struct op *op, uint32_t lanes)
{
    const uint32_t active = warp->active;
    for (uint32_t left = op->guarded.step != NULL ? lanes : 0; left != 0; left &= ~warp->active) {
        warp->active = same_mask(warp, op, left);
        op->guarded.step(warp, op);
    }
    warp->active = active;
    for (unsigned i = 0; i < LANES; ++i)
        if (meets(&warp->groups[i], warp->frame, op) && (warp->groups[i].mask & lanes) != 0)
            warp->groups[i].state = GROUP_READY;
    warp->others = true;
    ++warp->sync_epoch;
}

static uint32_t waiting_at(const struct warp *warp, const struct frame *frame, const struct op *op,
                           uint32_t wanted)
{
    uint32_t lanes = 0;
    for (unsigned i = 0; i < LANES; ++i)
        if (meets(&warp->groups[i], frame, op) && (warp->groups[i].mask & wanted) != 0)
            lanes |= warp->groups[i].mask;
    return lanes;
}

static const struct op *wait_for_lanes(struct warp *warp, const struct op *op)
{
    uint32_t outside = 0, wanted = 0;
    EACH_ACTIVE(lane)
    {
        const uint32_t mask =
            op->target == UINT32_MAX ? FULL_MASK : read_lane(warp, op->target, lane);
        wanted |= mask;
        outside |= (mask >> lane & 1) == 0 ? UINT32_C(1) << lane : 0;
    }
    if (outside != 0 && warp->runner->launch->checks) {
        struct fault_site site = {.op = op, .lane = (unsigned)__builtin_ctz(outside)};
        fault_report(warp, &site, "bad mask", false,
                     "takes part in an exchange whose mask (0x%x) does not name its lane (%u)",
                     wanted, site.lane);
    }
    wanted = (wanted | warp->active) & warp->live;
    const uint32_t here = warp->active | waiting_at(warp, warp->frame, op, wanted);
    if ((wanted & ~here) == 0) {
        perform(warp, op, here);
        return op + 1;
    }
    struct group *group = warp->group;
    group->state = GROUP_SYNC;
    group->at = op;
    group->next = op + 1;
    group->vote = wanted;
    return NULL;
}

/* Lanes may have exited since: does what the living ones wait for happen now? With `anyway`, the
 * first exchange happens without those that do not come. False: there is nothing to do. */
bool exchange_settle(struct warp *warp, bool anyway)
{
    for (unsigned i = 0; i < LANES; ++i) {
        const struct group *group = &warp->groups[i];
        if (group->state != GROUP_SYNC)
            continue;
        const uint32_t wanted = group->vote & warp->live;
        const uint32_t here = waiting_at(warp, group->frame, group->at, wanted);
        if ((wanted & ~here) != 0 && !anyway)
            continue;
        const struct op *op = group->at;
        warp_activate(warp, &warp->groups[i]);
        if ((wanted & ~here) != 0 && warp->runner->launch->checks) {
            struct fault_site site = {.op = op, .lane = (unsigned)__builtin_ctz(group->mask)};
            fault_report(warp, &site, "divergent exchange", false,
                         "waits for lanes of its warp that do not come (mask 0x%x, present 0x%x)",
                         wanted, here);
        }
        perform(warp, op, here);
        return true;
    }
    return false;
}

/* The instruction's own step becomes what wait_for_lanes() performs. `mask`: the operand that names
 * the lanes; NULL: the old form, in which those that are here exchange. */
static void make_sync(struct lowering *lowering, struct op *op, const struct ptx_operand *mask)
{
    if (mask == NULL)
        return;
    const size_t index = (size_t)(op - lowering->program->ops);
    const uint32_t value = lower_value(lowering, mask, WIDTH_32, PTX_U32);
    if (lower_refused(lowering))
        return;
    /* Reading the mask may have taken ops of its own, which have to come first. */
    struct op *ops = lowering->program->ops;
    const struct op kept = ops[index];
    const size_t last = lowering->program->op_count - 1;
    memmove(ops + index, ops + index + 1, (last - index) * sizeof *ops);
    ops[last] = kept;
    ops[last].guarded = kept.run;
    ops[last].run.jump = wait_for_lanes;
    ops[last].class = OP_JUMP;
    ops[last].target = value;
}

/* ---- Lowering ------------------------------------------------------------------------------- */

/* d or d|p: the register and the predicate. */
static uint32_t result_pair(struct lowering *lowering, const struct ptx_operand *operand,
                            enum width width, uint32_t *predicate)
{
    *predicate = UINT32_MAX;
    if (operand->kind != PTX_OPERAND_PAIR)
        return lower_result(lowering, operand, width);
    *predicate = lower_result(lowering, &operand->children[1], WIDTH_PREDICATE);
    return lower_result(lowering, &operand->children[0], width);
}

void lower_shuffle(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    const struct ptx_operand *operands = instruction->operands;
    const int mode = lower_choose(instruction, modes, COUNT_OF(modes));
    const bool sync = lower_has(instruction, "sync");
    if (mode < 0 || instruction->operand_count != (sync ? 5u : 4u)) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t predicate;
    uint32_t a = lower_value(lowering, &operands[1], WIDTH_32, PTX_B32);
    uint32_t b = lower_value(lowering, &operands[2], WIDTH_32, PTX_B32);
    uint32_t c = lower_value(lowering, &operands[3], WIDTH_32, PTX_B32);
    uint32_t d = result_pair(lowering, &operands[0], WIDTH_32, &predicate);
    struct op *op = lower_step(lowering, shuffle);
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->e = predicate;
    const uint32_t defined = operands[1].kind == PTX_OPERAND_REGISTER
                                 ? lowering->defined[operands[1].index]
                                 : UINT32_MAX;
    op->imm = (uint64_t)mode | (uint64_t)defined << SHUFFLE_MASK_SHIFT;
    make_sync(lowering, op, sync ? &operands[4] : NULL);
}

void lower_vote(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const kinds[] = {"all", "any", "uni", "ballot"};
    const int kind = lower_choose(instruction, kinds, COUNT_OF(kinds));
    const bool sync = lower_has(instruction, "sync");
    if (kind < 0 || instruction->operand_count != (sync ? 3u : 2u)) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t a = lower_value(lowering, &instruction->operands[1], WIDTH_PREDICATE, PTX_PRED);
    uint32_t d = lower_result(lowering, &instruction->operands[0],
                              kind == VOTE_BALLOT ? WIDTH_32 : WIDTH_PREDICATE);
    struct op *op = lower_step(lowering, vote);
    op->d = d;
    op->a = a;
    op->imm = (uint64_t)kind;
    make_sync(lowering, op, sync ? &instruction->operands[2] : NULL);
}

void lower_match(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const enum width width = lower_register_width(lower_type(instruction));
    if (instruction->operand_count != 3 || (width != WIDTH_32 && width != WIDTH_64)) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t predicate;
    uint32_t a = lower_value(lowering, &instruction->operands[1], width, PTX_B32);
    uint32_t d = result_pair(lowering, &instruction->operands[0], WIDTH_32, &predicate);
    struct op *op = lower_step(lowering, match);
    op->d = d;
    op->a = a;
    op->e = predicate;
    op->width = (uint8_t)width;
    op->imm = lower_has(instruction, "all");
    make_sync(lowering, op, &instruction->operands[2]);
}

void lower_redux(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const kinds[] = {"add", "min", "max", "min", "max", "and", "or", "xor"};
    const int kind = lower_choose(instruction, kinds, COUNT_OF(kinds));
    const enum ptx_type type = lower_type(instruction);
    const bool is_float = type == PTX_F32;
    const bool is_extremum = kind == REDUX_MIN_U || kind == REDUX_MAX_U;
    if (kind < 0 || instruction->operand_count != 3 || ptx_type_bytes(type) != 4 ||
        (is_float && !is_extremum)) {
        lower_refuse(lowering, "the emulator does not run this instruction");
        return;
    }
    uint32_t a = lower_value(lowering, &instruction->operands[1], WIDTH_32, type);
    uint32_t d = lower_result(lowering, &instruction->operands[0], WIDTH_32);
    struct op *op = lower_step(lowering, is_float ? redux_float : redux);
    op->d = d;
    op->a = a;
    if (is_float)
        op->imm = (kind == REDUX_MAX_U ? REDUX_FLOAT_MAX : 0u) |
                  (lower_has(instruction, "abs") ? REDUX_FLOAT_ABS : 0u) |
                  (lower_has(instruction, "NaN") ? REDUX_FLOAT_NAN : 0u);
    else
        op->imm = (uint64_t)kind + (is_extremum && type == PTX_S32 ? REDUX_MIN_S - REDUX_MIN_U : 0);
    make_sync(lowering, op, &instruction->operands[2]);
}

/* elect.sync d|p, mask: the lowest lane is the leader. */
static void elect(struct warp *warp, const struct op *op)
{
    const unsigned leader = (unsigned)__builtin_ctz(warp->active);
    EACH_ACTIVE(lane) write_lane(warp, op->d, lane, leader);
    if (op->e != UINT32_MAX)
        write_mask(warp, op->e, UINT32_C(1) << leader);
}

void lower_elect(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (instruction->operand_count != 2) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t predicate;
    uint32_t d = result_pair(lowering, &instruction->operands[0], WIDTH_32, &predicate);
    struct op *op = lower_step(lowering, elect);
    op->d = d;
    op->e = predicate;
    make_sync(lowering, op, &instruction->operands[1]);
}

void exchange_lower_warp_barrier(struct lowering *lowering, const struct ptx_operand *mask)
{
    make_sync(lowering, lower_step(lowering, NULL), mask);
}

void lower_activemask(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (instruction->operand_count != 1) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t d = lower_result(lowering, &instruction->operands[0], WIDTH_32);
    struct op *op = lower_step(lowering, vote);
    op->d = d;
    op->imm = VOTE_ACTIVE;
}

/* async.c - cp.async, and barriers in memory (mbarrier).
 *
 * A cp.async copies at once: one of the orders that the hardware may choose. An mbarrier is a
 * 64-bit word of shared memory; what its bits mean is the implementation's business (PTX ISA,
 * "Contents of the mbarrier object"): here bits 0-19 are the arrivals still expected in this phase,
 * 20-39 those expected in each, bit 40 is the phase, and a mark, which is the block's own, tells
 * barriers from other words. */
#include "emulator/lane_values.h"
#include "emulator/lower.h"

/* ---- cp.async -------------------------------------------------------------------------------- */

struct copy {
    struct access to, from;
    uint32_t to_base, from_base;
    uint32_t size;   /* register with the bytes to read; UINT32_MAX: all */
    uint32_t ignore; /* predicate of the lanes that read nothing; UINT32_MAX: none */
    unsigned bytes;
};

/* The copy is done at once; that nobody may count on it yet is for the race checks. */
#define COPIES_MAX 65536u

static void note_copy(struct warp *warp, unsigned lane, uint32_t address, unsigned bytes)
{
    if (!warp->runner->launch->checks)
        return;
    if (warp->copy_count == warp->copy_capacity) {
        const size_t capacity = warp->copy_capacity == 0 ? 256 : 2 * warp->copy_capacity;
        struct async_copy *list =
            capacity > COPIES_MAX ? NULL : realloc(warp->copies, capacity * sizeof *list);
        if (list == NULL) { /* then nothing is found about this one */
            shared_copied(warp, lane, address, bytes);
            return;
        }
        warp->copies = list;
        warp->copy_capacity = capacity;
    }
    warp->copies[warp->copy_count++] = (struct async_copy){.address = address,
                                                           .group = warp->copy_groups[lane],
                                                           .bytes = (uint8_t)bytes,
                                                           .lane = (uint8_t)lane};
}

static void commit_group(struct warp *warp, const struct op *op)
{
    (void)op;
    EACH_ACTIVE(lane)++ warp->copy_groups[lane];
}

/* Waits for all groups but the latest op->imm; UINT64_MAX: for what is not committed, too. */
static void wait_group(struct warp *warp, const struct op *op)
{
    size_t kept = 0;
    for (size_t i = 0; i < warp->copy_count; ++i) {
        const struct async_copy *copy = &warp->copies[i];
        const bool is_over =
            op->imm == UINT64_MAX || copy->group + op->imm < warp->copy_groups[copy->lane];
        if ((warp->active >> copy->lane & 1) != 0 && is_over)
            shared_copied(warp, copy->lane, copy->address, copy->bytes);
        else
            warp->copies[kept++] = *copy;
    }
    warp->copy_count = kept;
}

static void run_copy(struct warp *warp, const struct op *op)
{
    const struct copy *copy = op->detail;
    struct op half = *op;
    struct touched touched = {0};
    EACH_ACTIVE(lane)
    {
        uint32_t wanted =
            copy->size == UINT32_MAX ? copy->bytes : read_lane(warp, copy->size, lane);
        wanted = wanted > copy->bytes ? copy->bytes : wanted;
        if (copy->ignore != UINT32_MAX && (read_mask(warp, copy->ignore) >> lane & 1) != 0)
            wanted = 0;
        uint8_t data[16] = {0};
        enum ptx_space space = PTX_SPACE_NONE;
        uint64_t address = 0;
        if (wanted > 0) {
            half.a = copy->from_base;
            const uint8_t *from = access_lane_bytes(warp, &half, &copy->from, lane, ACCESS_LOAD,
                                                    wanted, &space, &address);
            if (from == NULL)
                continue;
            memcpy(data, from, wanted);
            touched.address[touched.count] = address;
            touched.lane[touched.count++] = (uint8_t)lane;
        }
        half.a = copy->to_base;
        uint8_t *to = access_lane_bytes(warp, &half, &copy->to, lane, ACCESS_STORE, copy->bytes,
                                        &space, &address);
        if (to == NULL)
            continue;
        memcpy(to, data, copy->bytes);
        if (space == PTX_SHARED)
            note_copy(warp, lane, (uint32_t)address, copy->bytes);
    }
    traffic_count_global(&warp->runner->counters.async_copy, &touched, copy->bytes);
}

/* cp.async.mbarrier.arrive{.noinc}.b64 [barrier]: arrives when the thread's copies are done, which
 * they are. Without .noinc one more arrival is expected, so that nothing changes. */
static void lower_mbarrier_arrival(struct lowering *lowering,
                                   const struct ptx_instruction *instruction);

void lower_copy(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *operands = instruction->operands;
    if (lower_has(instruction, "commit_group")) {
        (void)lower_step(lowering, commit_group);
        return;
    }
    if (lower_has(instruction, "wait_group") || lower_has(instruction, "wait_all")) {
        const bool all = lower_has(instruction, "wait_all");
        if (!all && (instruction->operand_count != 1 || operands[0].kind != PTX_OPERAND_INTEGER ||
                     operands[0].value > UINT32_MAX)) {
            lower_refuse(lowering, "it is not understood");
            return;
        }
        lower_step(lowering, wait_group)->imm = all ? UINT64_MAX : operands[0].value;
        return;
    }
    struct copy *copy = arena_alloc(lowering->arena, sizeof *copy);
    if (copy == NULL) {
        lowering->failed = true;
        return;
    }
    if (lower_has(instruction, "bulk")) {
        lower_bulk(lowering, instruction);
        return;
    }
    if (lower_has(instruction, "mbarrier")) {
        lower_mbarrier_arrival(lowering, instruction);
        return;
    }
    if (!lower_has(instruction, "async") || instruction->operand_count < 3 ||
        operands[2].kind != PTX_OPERAND_INTEGER ||
        (operands[2].value != 4 && operands[2].value != 8 && operands[2].value != 16)) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    copy->bytes = (unsigned)operands[2].value;
    copy->to = (struct access){.space = PTX_SHARED, .is_store = true, .is_async = true, .count = 1};
    copy->from = (struct access){.space = PTX_GLOBAL, .count = 1};
    copy->to.element_bytes = copy->from.element_bytes = (uint8_t)copy->bytes;
    copy->to_base = lower_address(lowering, &operands[0], &copy->to);
    copy->from_base = lower_address(lowering, &operands[1], &copy->from);
    /* What may follow: the bytes to read or a predicate; and a cache policy, which says nothing. */
    const size_t rest =
        instruction->operand_count - (lower_has(instruction, "L2::cache_hint") ? 1 : 0);
    const bool is_predicate = rest > 3 && operands[3].kind == PTX_OPERAND_REGISTER &&
                              operands[3].symbol->type == PTX_PRED;
    copy->size = rest > 3 && !is_predicate ? lower_value(lowering, &operands[3], WIDTH_32, PTX_U32)
                                           : UINT32_MAX;
    copy->ignore =
        is_predicate ? lower_value(lowering, &operands[3], WIDTH_PREDICATE, PTX_PRED) : UINT32_MAX;
    struct op *op = lower_step(lowering, run_copy);
    op->detail = copy;
}

/* ---- mbarrier -------------------------------------------------------------------------------- */

enum mbarrier {
    MBARRIER_INIT,
    MBARRIER_INVAL,
    MBARRIER_ARRIVE,
    MBARRIER_DROP,
    MBARRIER_TEST,
    MBARRIER_PARITY,
    MBARRIER_PENDING
};

#define MBARRIER_COUNT UINT64_C(0xFFFFF)
#define MBARRIER_PHASE (UINT64_C(1) << 40)
#define MBARRIER_MARK (UINT64_C(0x3A5) << 48)     /* so that other words are told apart … */
#define MBARRIER_MARKS (UINT64_C(0x7FFFFF) << 41) /* … and what the block before left */

struct mbarrier_detail {
    struct access access;
    enum mbarrier kind;
};

static uint64_t mark_of(const struct runner *runner)
{
    return MBARRIER_MARK | (uint64_t)(runner->blocks_begun & 0x7F) << 41;
}

/* `count` threads arrive; with `drop`, later phases expect that many fewer. */
static uint64_t arrive(uint64_t word, uint64_t count, bool drop)
{
    uint64_t pending = word & MBARRIER_COUNT, expected = word >> 20 & MBARRIER_COUNT;
    uint64_t phase = word & MBARRIER_PHASE;
    expected = drop && expected >= count ? expected - count : expected;
    pending = pending >= count ? pending - count : 0;
    if (pending == 0) {
        phase ^= MBARRIER_PHASE;
        pending = expected;
    }
    return (word & MBARRIER_MARKS) | phase | expected << 20 | pending;
}

/* What waiters may count on once the phase has ended (shared.c). */
static void end_phase(struct runner *runner, uint64_t address)
{
    struct gate *gate = &runner->gates[runner->next_gate++ % GATES];
    for (unsigned i = 0; i < GATES; ++i)
        if (runner->gates[i].address == address + 1)
            gate = &runner->gates[i];
    *gate = (struct gate){.address = address + 1, .epoch = shared_release(runner)};
    ++runner->global_epoch;
}

static void pass_gate(struct warp *warp, uint64_t address)
{
    const struct runner *runner = warp->runner;
    uint32_t epoch = 0; /* a barrier of long ago: everything */
    for (unsigned i = 0; i < GATES; ++i)
        if (runner->gates[i].address == address + 1)
            epoch = runner->gates[i].epoch;
    shared_acquire(warp, epoch);
}

/* PTX ISA, "mbarrier.init": not of one that is there already, before mbarrier.inval. Whoever has
 * arrived is forgotten, and whoever waits may wait for ever. */
static void check_new(struct warp *warp, const struct fault_site *site, uint64_t word)
{
    const unsigned pending = (unsigned)(word & MBARRIER_COUNT);
    const unsigned expected = (unsigned)(word >> 20 & MBARRIER_COUNT);
    if (pending != expected)
        fault_report(warp, site, "bad mbarrier", false,
                     "initialises an mbarrier that is in use: %u of %u arrivals are still expected",
                     pending, expected);
    else
        fault_report(warp, site, "bad mbarrier", true,
                     "initialises an mbarrier again, without mbarrier.inval before");
}

/* False after reporting that the word is no barrier, or its count none. */
static bool is_sound(struct warp *warp, const struct op *op, const struct mbarrier_detail *detail,
                     unsigned lane, uint64_t address, uint64_t word)
{
    const char *trouble = NULL;
    const uint32_t count = detail->kind == MBARRIER_INIT ? read_lane(warp, op->b, lane) : 1;
    if (!warp->runner->launch->checks)
        return true;
    if (count == 0 || count > MBARRIER_COUNT)
        trouble = "initialises an mbarrier for no thread, or for more than 1,048,575";
    else if (detail->kind != MBARRIER_INIT && (word & MBARRIER_MARKS) != mark_of(warp->runner))
        trouble = "uses an mbarrier that is not initialised, or was overwritten";
    const struct fault_site site = {
        .op = op, .lane = lane, .address = address, .bytes = 8, .space = PTX_SHARED};
    if (trouble != NULL)
        fault_report(warp, &site, "bad mbarrier", false, "%s", trouble);
    else if (detail->kind == MBARRIER_INIT && (word & MBARRIER_MARKS) == mark_of(warp->runner))
        check_new(warp, &site, word);
    return trouble == NULL;
}

/* op->b: count, state or parity; op->d: result, or UINT32_MAX. */
static void run_mbarrier(struct warp *warp, const struct op *op)
{
    const struct mbarrier_detail *detail = op->detail;
    uint32_t outcome = 0;
    uint64_t last_address = 0;
    warp->polls = true;
    EACH_ACTIVE(lane)
    {
        enum ptx_space space = PTX_SPACE_NONE;
        uint64_t address = 0, word = 0;
        const enum access_kind kind = detail->kind == MBARRIER_INIT ? ACCESS_STORE : ACCESS_ATOMIC;
        uint8_t *memory =
            access_lane_bytes(warp, op, &detail->access, lane, kind, 8, &space, &address);
        if (memory == NULL)
            continue;
        memcpy(&word, memory, sizeof word);
        const uint64_t before = word;
        last_address = address;
        if (!is_sound(warp, op, detail, lane, address, word))
            continue;
        switch (detail->kind) {
        case MBARRIER_INIT:
            word = read_lane(warp, op->b, lane) & MBARRIER_COUNT;
            word |= word << 20 | mark_of(warp->runner);
            break;
        case MBARRIER_INVAL:
            word = 0;
            break;
        case MBARRIER_ARRIVE:
        case MBARRIER_DROP:
            word = arrive(word, read_lane(warp, op->b, lane), detail->kind == MBARRIER_DROP);
            if (((word ^ before) & MBARRIER_PHASE) != 0)
                end_phase(warp->runner, address);
            if (op->d != UINT32_MAX)
                memcpy(warp->registers + op->d + 8 * lane, &before, sizeof before);
            break;
        case MBARRIER_TEST:
            if (((read_wide(warp, op->b, lane) ^ word) & MBARRIER_PHASE) != 0)
                outcome |= UINT32_C(1) << lane;
            break;
        default: /* MBARRIER_PARITY: has the phase of that parity completed? */
            if ((word & MBARRIER_PHASE) >> 40 != (read_lane(warp, op->b, lane) & 1))
                outcome |= UINT32_C(1) << lane;
            break;
        }
        memcpy(memory, &word, sizeof word);
    }
    if (detail->kind == MBARRIER_TEST || detail->kind == MBARRIER_PARITY) {
        write_mask(warp, op->d, outcome);
        if (outcome != 0)
            pass_gate(warp, last_address);
    }
}

static void run_pending(struct warp *warp, const struct op *op)
{
    EACH_ACTIVE(lane)
    write_lane(warp, op->d, lane, (uint32_t)(read_wide(warp, op->b, lane) & MBARRIER_COUNT));
}

static struct mbarrier_detail *new_detail(struct lowering *lowering,
                                          const struct ptx_instruction *instruction)
{
    struct mbarrier_detail *detail = arena_alloc(lowering->arena, sizeof *detail);
    if (detail == NULL) {
        lowering->failed = true;
        return NULL;
    }
    const bool shared = lower_has(instruction, "shared") || lower_has(instruction, "shared::cta");
    detail->access = (struct access){.space = shared ? PTX_SHARED : PTX_GENERIC,
                                     .is_store = true,
                                     .element_bytes = 8,
                                     .count = 1};
    return detail;
}

static void lower_mbarrier_arrival(struct lowering *lowering,
                                   const struct ptx_instruction *instruction)
{
    struct mbarrier_detail *detail = new_detail(lowering, instruction);
    if (detail == NULL || !lower_has(instruction, "noinc"))
        return;
    if (instruction->operand_count != 1) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    detail->kind = MBARRIER_ARRIVE;
    const uint32_t a = lower_address(lowering, &instruction->operands[0], &detail->access);
    const uint32_t b = lower_constant(lowering, WIDTH_32, 1);
    struct op *op = lower_step(lowering, run_mbarrier);
    op->a = a;
    op->b = b;
    op->d = UINT32_MAX;
    op->detail = detail;
}

void lower_mbarrier(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const kinds[] = {"init",      "inval",    "arrive",       "arrive_drop",
                                        "test_wait", "try_wait", "pending_count"};
    const struct ptx_operand *operands = instruction->operands;
    const size_t count = instruction->operand_count;
    const int which = lower_choose(instruction, kinds, COUNT_OF(kinds));
    struct mbarrier_detail *detail = new_detail(lowering, instruction);
    if (detail == NULL)
        return;
    if (which < 0 || count == 0 || lower_has(instruction, "expect_tx") ||
        lower_has(instruction, "shared::cluster")) {
        lower_refuse(lowering, "the emulator does not run this kind of mbarrier");
        return;
    }
    if (which == 6 && count != 2) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    if (which == 6) {
        uint32_t state = lower_value(lowering, &operands[1], WIDTH_64, PTX_B64);
        uint32_t d = lower_result(lowering, &operands[0], WIDTH_32);
        struct op *op = lower_step(lowering, run_pending);
        op->b = state;
        op->d = d;
        return;
    }
    const bool arrives = which == 2 || which == 3, tests = which == 4 || which == 5;
    const size_t at = which < 2 ? 0 : 1;
    if (count <= at) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t b = lower_constant(lowering, WIDTH_32, 1), d = UINT32_MAX;
    detail->kind = which == 0                         ? MBARRIER_INIT
                   : which == 1                       ? MBARRIER_INVAL
                   : which == 2                       ? MBARRIER_ARRIVE
                   : which == 3                       ? MBARRIER_DROP
                   : lower_has(instruction, "parity") ? MBARRIER_PARITY
                                                      : MBARRIER_TEST;
    uint32_t a = lower_address(lowering, &operands[at], &detail->access);
    if (which == 0 || (arrives && count > at + 1))
        b = lower_value(lowering, &operands[at + 1 < count ? at + 1 : at], WIDTH_32, PTX_U32);
    if (tests)
        b = lower_value(lowering, &operands[at + 1 < count ? at + 1 : at],
                        detail->kind == MBARRIER_PARITY ? WIDTH_32 : WIDTH_64, PTX_B64);
    if (arrives && operands[0].kind != PTX_OPERAND_SINK)
        d = lower_result(lowering, &operands[0], WIDTH_64);
    else if (tests)
        d = lower_result(lowering, &operands[0], WIDTH_PREDICATE);
    struct op *op = lower_step(lowering, run_mbarrier);
    op->a = a;
    op->b = b;
    op->d = d;
    op->detail = detail;
}

/* async.c - cp.async, and barriers in memory (mbarrier).
 *
 * A cp.async copies at once: one of the orders that the hardware may choose. An mbarrier is a
 * 64-bit word of shared memory; what its bits mean is the implementation's business (PTX ISA,
 * "Contents of the mbarrier object"): here bits 0-19 are the arrivals still expected in this phase,
 * 20-39 those expected in each, and bit 40 is the phase. */
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
        if (to != NULL)
            memcpy(to, data, copy->bytes);
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
    if (lower_has(instruction, "commit_group") || lower_has(instruction, "wait_group") ||
        lower_has(instruction, "wait_all"))
        return; /* every copy is done already */
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
    copy->to = (struct access){.space = PTX_SHARED, .is_store = true, .count = 1};
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

struct mbarrier_detail {
    struct access access;
    enum mbarrier kind;
};

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
    return phase | expected << 20 | pending;
}

/* op->b: count, state or parity; op->d: result, or UINT32_MAX. */
static void run_mbarrier(struct warp *warp, const struct op *op)
{
    const struct mbarrier_detail *detail = op->detail;
    uint32_t outcome = 0;
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
        switch (detail->kind) {
        case MBARRIER_INIT:
            word = read_lane(warp, op->b, lane) & MBARRIER_COUNT;
            word |= word << 20;
            break;
        case MBARRIER_INVAL:
            word = 0;
            break;
        case MBARRIER_ARRIVE:
        case MBARRIER_DROP:
            word = arrive(word, read_lane(warp, op->b, lane), detail->kind == MBARRIER_DROP);
            if (((word ^ before) & MBARRIER_PHASE) != 0)
                shared_next_epoch(warp->runner);
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
    if (detail->kind == MBARRIER_TEST || detail->kind == MBARRIER_PARITY)
        write_mask(warp, op->d, outcome);
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

/* atomics.c - atom and red, in global and shared memory.
 *
 * Blocks run on several host threads, so every one is a compare-and-swap on the host's memory. */
#include "emulator/lower.h"
#include "emulator/scalar.h"

enum atomic {
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_CAS,
    ATOMIC_EXCHANGE,
    ATOMIC_ADD,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_MIN,
    ATOMIC_MAX
};

struct atomic_detail {
    struct access access; /* first, so that the checks of access.c can be used */
    enum atomic atomic;
    enum ptx_type type;
};

/* In global memory a sum in f32 knows no subnormal numbers, in shared memory it does. */
static uint64_t add(enum ptx_type type, bool is_shared, uint64_t a, uint64_t b)
{
    float x = 0, y = 0;
    double p = 0, q = 0;
    uint32_t narrow = 0;
    uint64_t wide = 0;
    switch (type) {
    case PTX_F32:
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        x = CANON_f32(is_shared ? x + y
                                : scalar_flush_f32(scalar_flush_f32(x) + scalar_flush_f32(y)));
        memcpy(&narrow, &x, sizeof narrow);
        return narrow;
    case PTX_F64:
        memcpy(&p, &a, sizeof p);
        memcpy(&q, &b, sizeof q);
        p = CANON2_f64(p, q, p + q);
        memcpy(&wide, &p, sizeof wide);
        return wide;
    case PTX_F16:
        return half_add((uint16_t)a, (uint16_t)b);
    case PTX_BF16:
        return bfloat_add((uint16_t)a, (uint16_t)b);
    case PTX_F16X2:
        return (uint32_t)half_add((uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16 |
               half_add((uint16_t)a, (uint16_t)b);
    case PTX_BF16X2:
        return (uint32_t)bfloat_add((uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16 |
               bfloat_add((uint16_t)a, (uint16_t)b);
    default:
        return a + b;
    }
}

static bool is_less(enum ptx_type type, uint64_t a, uint64_t b)
{
    if (type == PTX_S32)
        return (int32_t)a < (int32_t)b;
    if (type == PTX_S64)
        return (int64_t)a < (int64_t)b;
    return a < b;
}

static uint64_t apply(const struct atomic_detail *detail, bool is_shared, uint64_t old, uint64_t b,
                      uint64_t c)
{
    switch (detail->atomic) {
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_XOR:
        return old ^ b;
    case ATOMIC_CAS:
        return old == b ? c : old;
    case ATOMIC_EXCHANGE:
        return b;
    case ATOMIC_ADD:
        return add(detail->type, is_shared, old, b);
    case ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > b ? b : old - 1;
    case ATOMIC_MIN:
        return is_less(detail->type, b, old) ? b : old;
    default:
        return is_less(detail->type, old, b) ? b : old;
    }
}

#define SWAP(type)                                                                                 \
    {                                                                                              \
        type *word = (type *)(void *)memory;                                                       \
        type old = __atomic_load_n(word, __ATOMIC_SEQ_CST);                                        \
        while (!__atomic_compare_exchange_n(word, &old, (type)apply(detail, is_shared, old, b, c), \
                                            false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))            \
            ;                                                                                      \
        return old;                                                                                \
    }

/* The address is a multiple of the size: a misaligned access was a fault already. */
static uint64_t swap(const struct atomic_detail *detail, bool is_shared, uint8_t *memory,
                     uint64_t b, uint64_t c)
{
    if (detail->access.element_bytes == 2)
        SWAP(uint16_t)
    if (detail->access.element_bytes == 4)
        SWAP(uint32_t)
    SWAP(uint64_t)
}

static void run_atomic(struct warp *warp, const struct op *op)
{
    const struct atomic_detail *detail = op->detail;
    const unsigned bytes = detail->access.element_bytes;
    struct touched touched = {0};
    bool any_shared = false;
    warp->polls = true;
    for (uint32_t left = warp->active; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        enum ptx_space space = PTX_SPACE_NONE;
        uint64_t address = 0, b = 0, c = 0, old = 0;
        memcpy(&b, warp->registers + op->b + bytes * lane, bytes);
        if (detail->atomic == ATOMIC_CAS)
            memcpy(&c, warp->registers + op->c + bytes * lane, bytes);
        uint8_t *memory = access_lane_bytes(warp, op, &detail->access, lane, ACCESS_ATOMIC, bytes,
                                            &space, &address);
        if (memory != NULL) {
            old = swap(detail, space == PTX_SHARED, memory, b, c);
            any_shared = any_shared || space == PTX_SHARED;
            if (space != PTX_SHARED) {
                touched.address[touched.count] = address;
                touched.lane[touched.count++] = (uint8_t)lane;
            }
        } else if (space == PTX_LOCAL) {
            struct fault_site site = {.op = op, .lane = lane, .address = address};
            fault_report(warp, &site, "bad atomic", false,
                         "performs an atomic operation on local memory");
        }
        if (op->d != UINT32_MAX)
            memcpy(warp->registers + op->d + bytes * lane, &old, bytes);
    }
    traffic_count_atomic(&warp->runner->counters.global_atomic, &touched, bytes);
    warp->runner->counters.shared_atomics += any_shared ? 1 : 0;
}

static bool is_allowed(enum atomic atomic, enum ptx_type type)
{
    const unsigned bytes = ptx_type_bytes(type);
    if (ptx_type_is_float(type))
        return atomic == ATOMIC_ADD && type != PTX_TF32 && bytes >= 2 && bytes <= 8;
    if (bytes == 2)
        return atomic == ATOMIC_CAS;
    if (atomic == ATOMIC_INC || atomic == ATOMIC_DEC)
        return bytes == 4;
    return bytes == 4 || bytes == 8;
}

void lower_atomic(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const names[] = {"and", "or",  "xor", "cas", "exch",
                                        "add", "inc", "dec", "min", "max"};
    const bool is_red = !instruction->known->has_result;
    struct atomic_detail *detail = arena_alloc(lowering->arena, sizeof *detail);
    if (detail == NULL) {
        lowering->failed = true;
        return;
    }
    int which = -1;
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        if (lower_has(instruction, names[i]))
            which = (int)i;
    const enum ptx_type type = lower_type(instruction);
    const size_t first = is_red ? 0 : 1;
    const size_t wanted = first + (which == ATOMIC_CAS ? 3 : 2);
    if (which < 0 || !is_allowed((enum atomic)which, type) || instruction->operand_count < wanted ||
        instruction->operand_count > wanted + 1) {
        lower_refuse(lowering, "the emulator does not run this instruction");
        return;
    }
    const struct ptx_operand *operands = instruction->operands;
    const enum width width = lower_register_width(type);
    detail->atomic = (enum atomic)which;
    detail->type = type;
    detail->access = (struct access){.space = lower_has(instruction, "global") ? PTX_GLOBAL
                                              : lower_has(instruction, "shared") ||
                                                      lower_has(instruction, "shared::cta")
                                                  ? PTX_SHARED
                                                  : PTX_GENERIC,
                                     .is_store = true,
                                     .element_bytes = (uint8_t)ptx_type_bytes(type),
                                     .count = 1};
    uint32_t a = lower_address(lowering, &operands[first], &detail->access);
    uint32_t b = lower_value(lowering, &operands[first + 1], width, type);
    uint32_t c = which == ATOMIC_CAS ? lower_value(lowering, &operands[first + 2], width, type) : 0;
    uint32_t d = is_red ? UINT32_MAX : lower_result(lowering, &operands[0], width);
    struct op *op = lower_step(lowering, run_atomic);
    op->a = a;
    op->b = b;
    op->c = c;
    op->d = d;
    op->detail = detail;
}

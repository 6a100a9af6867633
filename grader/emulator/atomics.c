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

/* Where all lanes go to one address, ptxas has their operands added up (or whatever it is) in
 * registers, and one lane does the rest: so the machine code says that it made of such PTX. */
enum joined { JOINED_NEVER, JOINED_ALWAYS, JOINED_BY_FULL_WARPS };

struct atomic_detail {
    enum joined joined;
    struct access access; /* of all elements together */
    enum atomic atomic;
    enum ptx_type type;
    unsigned bytes, count;  /* of an element; how many, each an operation of its own */
    uint32_t b[8], c, d[8]; /* offsets of the registers; d UINT32_MAX: not wanted */
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

static uint64_t extremum_of_half(enum ptx_type type, bool largest, uint16_t a, uint16_t b)
{
    if (type == PTX_F16 || type == PTX_F16X2)
        return largest ? half_max(a, b) : half_min(a, b);
    return largest ? bfloat_max(a, b) : bfloat_min(a, b);
}

static bool is_less(enum ptx_type type, uint64_t a, uint64_t b)
{
    if (type == PTX_S32)
        return (int32_t)a < (int32_t)b;
    if (type == PTX_S64)
        return (int64_t)a < (int64_t)b;
    return a < b;
}

static uint64_t extremum(enum ptx_type type, bool largest, uint64_t old, uint64_t b)
{
    if (!ptx_type_is_float(type))
        return (largest ? is_less(type, old, b) : is_less(type, b, old)) ? b : old;
    uint64_t result = extremum_of_half(type, largest, (uint16_t)old, (uint16_t)b);
    if (ptx_type_bytes(type) == 4)
        result |= extremum_of_half(type, largest, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
    return result;
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
        return extremum(detail->type, false, old, b);
    default:
        return extremum(detail->type, true, old, b);
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
    if (detail->bytes == 2)
        SWAP(uint16_t)
    if (detail->bytes == 4)
        SWAP(uint32_t)
    SWAP(uint64_t)
}

/* 128 bits: the host has no such operation everywhere, so they take turns. */
static void swap_wide(const struct warp *warp, const struct atomic_detail *detail, uint8_t *memory,
                      unsigned lane, uint8_t old[16])
{
    pthread_mutex_t *lock = &warp->runner->launch->lock;
    const uint8_t *b = warp->registers + detail->b[0] + 16 * lane;
    (void)pthread_mutex_lock(lock);
    memcpy(old, memory, 16);
    if (detail->atomic == ATOMIC_EXCHANGE)
        memcpy(memory, b, 16);
    else if (memcmp(old, b, 16) == 0)
        memcpy(memory, warp->registers + detail->c + 16 * lane, 16);
    (void)pthread_mutex_unlock(lock);
}

/* One lane's operations; element by element. */
static void run_lane(struct warp *warp, const struct atomic_detail *detail, unsigned lane,
                     uint8_t *memory, bool is_shared)
{
    const unsigned bytes = detail->bytes;
    for (unsigned e = 0; e < detail->count; ++e) {
        uint8_t old[16] = {0};
        if (bytes == 16 && memory != NULL) {
            swap_wide(warp, detail, memory, lane, old);
        } else if (memory != NULL) {
            uint64_t b = 0, c = 0;
            memcpy(&b, warp->registers + detail->b[e] + bytes * lane, bytes);
            if (detail->atomic == ATOMIC_CAS)
                memcpy(&c, warp->registers + detail->c + bytes * lane, bytes);
            const uint64_t before = swap(detail, is_shared, memory + e * bytes, b, c);
            memcpy(old, &before, sizeof before);
            const uint64_t change = apply(detail, is_shared, before, b, c) ^ before;
            warp->runner->changes += change << (64 - 8 * bytes) != 0 ? 1 : 0;
        }
        if (detail->d[e] != UINT32_MAX)
            memcpy(warp->registers + detail->d[e] + bytes * lane, old, bytes);
    }
}

static bool is_joined(const struct atomic_detail *detail, uint32_t active)
{
    return detail->joined == JOINED_ALWAYS ||
           (detail->joined == JOINED_BY_FULL_WARPS && active == FULL_MASK);
}

/* The word around 16 bits, which lie in it at `address`. */
static uint32_t word_around(const uint8_t *memory, uint64_t address)
{
    return __atomic_load_n((const uint32_t *)(const void *)(memory - address % 4),
                           __ATOMIC_SEQ_CST);
}

/* 16 bits. The machine has no such atomics: ptxas writes a loop (read in the machine code for
 * sm_90). It loads the word around them, and tries compare-and-swap with the whole of it until
 * nobody has changed the word in between; of a cas, the other half of it. Lanes that share a word
 * try again and again, all those that are left at once; `memory` is where the bytes of each touched
 * place are. */
static void run_halves(struct warp *warp, const struct atomic_detail *detail,
                       const struct touched *touched, uint8_t *const memory[LANES])
{
    struct runner *runner = warp->runner;
    const bool is_cas = detail->atomic == ATOMIC_CAS;
    struct touched words = *touched;
    uint32_t seen[LANES];
    for (unsigned i = 0; i < words.count; ++i) {
        seen[i] = word_around(memory[i], words.address[i]);
        words.address[i] &= ~UINT64_C(3);
    }
    traffic_count_global(&runner->traffic.global.load, &words, sizeof(uint32_t));
    uint32_t left = words.count == 0 ? 0 : FULL_MASK >> (LANES - words.count);
    while (left != 0) {
        struct touched tried = {0};
        for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
            const unsigned i = (unsigned)__builtin_ctz(rest);
            const uint32_t now = word_around(memory[i], touched->address[i]);
            const uint32_t mine = UINT32_C(0xffff) << 8 * (touched->address[i] % 4);
            tried.address[tried.count++] = words.address[i];
            if (((now ^ seen[i]) & (is_cas ? ~mine : UINT32_MAX)) == 0) {
                run_lane(warp, detail, touched->lane[i], memory[i], false);
                left &= ~(UINT32_C(1) << i);
            }
            seen[i] = now;
        }
        traffic_count_atomic(&runner->counters.global_atomic, &tried, sizeof(uint32_t), true);
    }
}

static void run_atomic(struct warp *warp, const struct op *op)
{
    const struct atomic_detail *detail = op->detail;
    const bool by_loop = detail->bytes == 2 && detail->count == 1;
    uint8_t *memories[LANES];
    const unsigned bytes = detail->bytes * detail->count;
    struct touched touched = {0};
    bool any_shared = false;
    uint64_t first = 0;
    for (uint32_t left = warp->active; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        enum ptx_space space = PTX_SPACE_NONE;
        uint64_t address = 0;
        uint8_t *memory = access_lane_bytes(warp, op, &detail->access, lane, ACCESS_ATOMIC, bytes,
                                            &space, &address);
        if (left == warp->active)
            first = address;
        if (memory == NULL && space == PTX_LOCAL) {
            struct fault_site site = {.op = op, .lane = lane, .address = address};
            fault_report(warp, &site, "bad atomic", false,
                         "performs an atomic operation on local memory");
        } else if (memory != NULL && space == PTX_SHARED) {
            any_shared = true;
        } else if (memory != NULL) {
            memories[touched.count] = memory;
            touched.address[touched.count] = address;
            touched.lane[touched.count++] = (uint8_t)lane;
            if (by_loop)
                continue;
        }
        run_lane(warp, detail, lane, memory, space == PTX_SHARED);
    }
    warp->runner->counters.shared_atomics += any_shared ? 1 : 0;
    if (by_loop)
        run_halves(warp, detail, &touched, memories);
    warp_look(warp, op, first);
    if (by_loop)
        return;
    if (touched.count > 1 && is_joined(detail, warp->active))
        touched.count = 1;
    traffic_count_atomic(&warp->runner->counters.global_atomic, &touched, bytes,
                         detail->atomic == ATOMIC_CAS);
}

static bool is_allowed(enum atomic atomic, enum ptx_type type)
{
    const unsigned bytes = ptx_type_bytes(type);
    const bool is_half =
        type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
    if (is_half && (atomic == ATOMIC_MIN || atomic == ATOMIC_MAX))
        return true;
    if (ptx_type_is_float(type))
        return atomic == ATOMIC_ADD && type != PTX_TF32 && bytes >= 2 && bytes <= 8;
    if (bytes == 16)
        return atomic == ATOMIC_CAS || atomic == ATOMIC_EXCHANGE;
    if (bytes == 2)
        return atomic == ATOMIC_CAS;
    if (atomic == ATOMIC_INC || atomic == ATOMIC_DEC)
        return bytes == 4;
    return bytes == 4 || bytes == 8;
}

/* The registers of the operands, which may be vectors. */
static bool find_elements(struct lowering *lowering, struct atomic_detail *detail,
                          const struct ptx_operand *b, const struct ptx_operand *d)
{
    const enum width width = lower_register_width(detail->type);
    const bool is_vector = b->kind == PTX_OPERAND_VECTOR;
    detail->count = is_vector ? (unsigned)b->child_count : 1;
    if (detail->count == 0 || (detail->count & (detail->count - 1)) != 0 ||
        detail->count * detail->bytes > 16 ||
        (d != NULL && is_vector &&
         (d->kind != PTX_OPERAND_VECTOR || d->child_count != b->child_count))) {
        lower_refuse(lowering, "a vector of this shape is not understood");
        return false;
    }
    for (unsigned e = 0; e < detail->count; ++e) {
        detail->b[e] = lower_value(lowering, is_vector ? &b->children[e] : b, width, detail->type);
        detail->d[e] =
            d == NULL ? UINT32_MAX : lower_result(lowering, is_vector ? &d->children[e] : d, width);
    }
    return !lower_refused(lowering);
}

static bool is_read(const struct uniformity *known, const struct ptx_operand *operand)
{
    return operand->kind != PTX_OPERAND_SINK &&
           (operand->kind != PTX_OPERAND_REGISTER || known->reads[operand->index] != 0);
}

/* `address` and what follows it; d: the result, NULL for red. */
static enum joined how_joined(struct lowering *lowering, const struct atomic_detail *detail,
                              const struct ptx_operand *address, const struct ptx_operand *d)
{
    const bool is_add = detail->atomic == ATOMIC_ADD;
    const bool is_logic = detail->atomic <= ATOMIC_XOR;
    const bool is_extremum = detail->atomic == ATOMIC_MIN || detail->atomic == ATOMIC_MAX;
    if (lowering->emulator->module->is_debug || detail->access.space == PTX_SHARED ||
        detail->count != 1 || ptx_type_is_float(detail->type) ||
        !(is_add || is_logic || is_extremum))
        return JOINED_NEVER;
    const struct uniformity *known = uniform_find(lowering);
    if (known == NULL) {
        lowering->failed = true;
        return JOINED_NEVER;
    }
    const bool is_wanted = d != NULL && is_read(known, d);
    if (!uniform_operand(known, address))
        return JOINED_NEVER;
    if (is_add && uniform_operand(known, &address[1])) /* times the number of lanes */
        return JOINED_ALWAYS;
    if (detail->bytes != 4 || (is_wanted && !is_add))
        return JOINED_NEVER;
    return is_wanted ? JOINED_BY_FULL_WARPS : JOINED_ALWAYS;
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
    detail->atomic = (enum atomic)which;
    detail->type = type;
    detail->bytes = ptx_type_bytes(type);
    detail->access = (struct access){.space = lower_has(instruction, "global") ? PTX_GLOBAL
                                              : lower_has(instruction, "shared") ||
                                                      lower_has(instruction, "shared::cta")
                                                  ? PTX_SHARED
                                                  : PTX_GENERIC,
                                     .is_store = true,
                                     .count = 1};
    const uint32_t a = lower_address(lowering, &operands[first], &detail->access);
    if (!find_elements(lowering, detail, &operands[first + 1], is_red ? NULL : &operands[0]))
        return;
    detail->access.element_bytes = (uint8_t)(detail->bytes * detail->count);
    if (which == ATOMIC_CAS)
        detail->c = lower_value(lowering, &operands[first + 2], lower_register_width(type), type);
    detail->joined = how_joined(lowering, detail, &operands[first], is_red ? NULL : &operands[0]);
    lower_order(lowering, instruction, "release");
    struct op *op = lower_step(lowering, run_atomic);
    op->a = a;
    op->detail = detail;
    lower_order(lowering, instruction, "acquire");
}

/* lanes_body.h - the lane-wise handlers: compiled twice, for any x86-64 and for AVX2 with FMA.
 * The includer defines LANES_NAME. Types may alias: a register file is bytes. */
#include "emulator/machine.h"
#include "emulator/scalar.h"

/* One expression serves signed and unsigned types. */
#pragma GCC diagnostic ignored "-Wtype-limits"

#if defined(__clang__)
#define LANE_LOOP                                                                                  \
    _Pragma("clang loop vectorize(assume_safety)") for (unsigned lane = 0; lane < LANES; ++lane)
#else
#define LANE_LOOP _Pragma("GCC ivdep") for (unsigned lane = 0; lane < LANES; ++lane)
#endif

#define LANE_TYPE(name, type) typedef type t_##name __attribute__((may_alias))
LANE_TYPE(u8, uint16_t); /* 8-bit values live in 16-bit lanes or wider */
LANE_TYPE(s8, int16_t);
LANE_TYPE(u16, uint16_t);
LANE_TYPE(s16, int16_t);
LANE_TYPE(u32, uint32_t);
LANE_TYPE(s32, int32_t);
LANE_TYPE(u64, uint64_t);
LANE_TYPE(s64, int64_t);
LANE_TYPE(f32, float);
LANE_TYPE(f64, double);
LANE_TYPE(h16, uint16_t);
LANE_TYPE(x32, uint32_t);
LANE_TYPE(b128, scalar_u128);

#define EACH_HALF1(f) ((uint32_t)f((uint16_t)(a >> 16)) << 16 | f((uint16_t)a))
#define EACH_HALF2(f)                                                                              \
    ((uint32_t)f((uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16 | f((uint16_t)a, (uint16_t)b))
#define EACH_HALF3(f)                                                                              \
    ((uint32_t)f((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16)) << 16 |            \
     f((uint16_t)a, (uint16_t)b, (uint16_t)c))

#define EACH_PAIR(type, expression)                                                                \
    ({                                                                                             \
        uint32_t pair_ = 0;                                                                        \
        for (unsigned shift_ = 0; shift_ < 32; shift_ += 16) {                                     \
            const type p = (type)(a >> shift_), q = (type)(b >> shift_);                           \
            pair_ |= (uint32_t)(uint16_t)(expression) << shift_;                                   \
        }                                                                                          \
        pair_;                                                                                     \
    })
#define EACH_HALF_SET(PREFIX, expression, yes)                                                     \
    ({                                                                                             \
        uint32_t pair_ = 0;                                                                        \
        for (unsigned shift_ = 0; shift_ < 32; shift_ += 16) {                                     \
            const float x = PREFIX##_to_f32((uint16_t)(a >> shift_));                              \
            const float y = PREFIX##_to_f32((uint16_t)(b >> shift_));                              \
            pair_ |= (expression) ? (uint32_t)(yes) << shift_ : 0;                                 \
        }                                                                                          \
        pair_;                                                                                     \
    })
static const uint32_t half_one = 0x3C00, bfloat_one = 0x3F80;
#define EACH_F32C(expression)                                                                      \
    ({                                                                                             \
        uint64_t pair_ = 0;                                                                        \
        for (unsigned shift_ = 0; shift_ < 64; shift_ += 32) {                                     \
            const float p = scalar_float((uint32_t)(a >> shift_));                                 \
            const float q = scalar_float((uint32_t)(b >> shift_));                                 \
            const float r = scalar_float((uint32_t)(c >> shift_));                                 \
            (void)r;                                                                               \
            pair_ |= (uint64_t)scalar_float_bits(expression) << shift_;                            \
        }                                                                                          \
        pair_;                                                                                     \
    })
#define EACH_F32(expression)                                                                       \
    ({                                                                                             \
        const uint64_t c = 0;                                                                      \
        EACH_F32C(expression);                                                                     \
    })

/* A byte that is 0 or 1 for each lane, to a mask. */
static inline uint32_t pack_mask(const uint8_t flags[LANES])
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < LANES / 8; ++i) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * i, sizeof eight);
        mask |= (uint32_t)(eight * UINT64_C(0x0102040810204080) >> 56) << 8 * i;
    }
    return mask;
}

#define HANDLER(id) static void id(const uint8_t *registers, const struct op *op, void *out)
#define OPERAND(letter, type, field)                                                               \
    const t_##type *const p##letter = (const t_##type *)(const void *)(registers + op->field)

#define OP1(id, text, D, A, expression)                                                            \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        OPERAND(a, A, a);                                                                          \
        const uint64_t imm = op->imm;                                                              \
        (void)imm;                                                                                 \
        t_##D *const result = out;                                                                 \
        LANE_LOOP                                                                                  \
        {                                                                                          \
            const t_##A a = pa[lane];                                                              \
            result[lane] = (t_##D)(expression);                                                    \
        }                                                                                          \
    }
#define OP2(id, text, D, A, B, expression)                                                         \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        OPERAND(a, A, a);                                                                          \
        OPERAND(b, B, b);                                                                          \
        t_##D *const result = out;                                                                 \
        LANE_LOOP                                                                                  \
        {                                                                                          \
            const t_##A a = pa[lane];                                                              \
            const t_##B b = pb[lane];                                                              \
            result[lane] = (t_##D)(expression);                                                    \
        }                                                                                          \
    }
#define OP3(id, text, D, A, B, C, expression)                                                      \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        OPERAND(a, A, a);                                                                          \
        OPERAND(b, B, b);                                                                          \
        OPERAND(c, C, c);                                                                          \
        const uint64_t imm = op->imm;                                                              \
        (void)imm;                                                                                 \
        t_##D *const result = out;                                                                 \
        LANE_LOOP                                                                                  \
        {                                                                                          \
            const t_##A a = pa[lane];                                                              \
            const t_##B b = pb[lane];                                                              \
            const t_##C c = pc[lane];                                                              \
            (void)c; /* some instructions have an operand that they do not use */                  \
            result[lane] = (t_##D)(expression);                                                    \
        }                                                                                          \
    }
#define OP4(id, text, D, A, B, C, E, expression)                                                   \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        OPERAND(a, A, a);                                                                          \
        OPERAND(b, B, b);                                                                          \
        OPERAND(c, C, c);                                                                          \
        OPERAND(d, E, e);                                                                          \
        t_##D *const result = out;                                                                 \
        LANE_LOOP                                                                                  \
        {                                                                                          \
            const t_##A a = pa[lane];                                                              \
            const t_##B b = pb[lane];                                                              \
            const t_##C c = pc[lane];                                                              \
            const t_##E d = pd[lane];                                                              \
            result[lane] = (t_##D)(expression);                                                    \
        }                                                                                          \
    }
#define SETP(id, text, A, expression)                                                              \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        OPERAND(a, A, a);                                                                          \
        OPERAND(b, A, b);                                                                          \
        uint8_t flags[LANES];                                                                      \
        LANE_LOOP                                                                                  \
        {                                                                                          \
            const t_##A a = pa[lane], b = pb[lane];                                                \
            flags[lane] = (uint8_t)((expression) ? 1 : 0);                                         \
        }                                                                                          \
        *(t_u32 *)out = pack_mask(flags);                                                          \
    }
#define TESTP(id, text, A, expression)                                                             \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        OPERAND(a, A, a);                                                                          \
        uint8_t flags[LANES];                                                                      \
        LANE_LOOP                                                                                  \
        {                                                                                          \
            const t_##A a = pa[lane];                                                              \
            flags[lane] = (uint8_t)((expression) ? 1 : 0);                                         \
        }                                                                                          \
        *(t_u32 *)out = pack_mask(flags);                                                          \
    }
#define SELP(id, text, A)                                                                          \
    HANDLER(id)                                                                                    \
    {                                                                                              \
        OPERAND(a, A, a);                                                                          \
        OPERAND(b, A, b);                                                                          \
        const uint32_t mask = *(const t_u32 *)(const void *)(registers + op->c);                   \
        t_##A *const result = out;                                                                 \
        LANE_LOOP                                                                                  \
        {                                                                                          \
            const t_##A a = pa[lane], b = pb[lane];                                                \
            result[lane] = (mask >> lane & 1) != 0 ? a : b;                                        \
        }                                                                                          \
    }

#include "emulator/instructions.inc"

#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef SETP
#undef TESTP
#undef SELP
#define OP1(id, text, D, A, expression) id,
#define OP2(id, text, D, A, B, expression) id,
#define OP3(id, text, D, A, B, C, expression) id,
#define OP4(id, text, D, A, B, C, E, expression) id,
#define SETP(id, text, A, expression) id,
#define TESTP(id, text, A, expression) id,
#define SELP(id, text, A) id,
static const lane_handler handlers[] = {
#include "emulator/instructions.inc"
};

/* ---- Under a mask --------------------------------------------------------------------------- */

#define BLEND(type)                                                                                \
    {                                                                                              \
        t_##type *const to = into;                                                                 \
        const t_##type *const source = from;                                                       \
        LANE_LOOP to[lane] = (mask >> lane & 1) != 0 ? source[lane] : to[lane];                    \
    }                                                                                              \
    break

static void blend(void *into, const void *from, uint32_t mask, enum width width)
{
    switch (width) {
    case WIDTH_PREDICATE: {
        t_u32 *const to = into;
        *to = (*to & ~mask) | (*(const t_u32 *)from & mask);
        break;
    }
    case WIDTH_16:
        BLEND(u16);
    case WIDTH_32:
        BLEND(u32);
    case WIDTH_64:
        BLEND(u64);
    default:
        for (unsigned lane = 0; lane < LANES; ++lane)
            if ((mask >> lane & 1) != 0)
                memcpy((uint8_t *)into + 16 * lane, (const uint8_t *)from + 16 * lane, 16);
        break;
    }
}

/* ---- Consecutive 32-bit accesses of a full warp --------------------------------------------- */

static inline bool is_consecutive(const t_u64 *address)
{
    const uint64_t first = address[0];
    uint64_t differs = 0;
    for (unsigned lane = 0; lane < LANES; ++lane)
        differs |= address[lane] ^ (first + 4 * lane);
    return differs == 0;
}

/* The place of 128 bytes that lie in one region and may be read as they are; NULL: look closer. */
static inline uint8_t *find_run(struct warp *warp, uint64_t address, struct region **ret)
{
    struct region *region = warp->runner->last_region;
    if (region == NULL || address - region->base > region->bytes ||
        region->bytes - (address - region->base) < 4 * LANES) {
        region = memory_find(warp->runner->launch->emulator, address);
        if (region == NULL || region->bytes < 4 * LANES ||
            address - region->base > region->bytes - 4 * LANES)
            return NULL;
        warp->runner->last_region = region;
    }
    *ret = region;
    return (address & 3) == 0 && region->kind != REGION_HEAP
               ? region->data + (address - region->base)
               : NULL;
}

static inline void count_run(struct traffic_count *count, uint64_t address)
{
    count->requests += 1;
    count->sectors += (address + 4 * LANES - 1) / 32 - address / 32 + 1;
}

/* Notes in the warp whether the lanes' addresses follow one another, for this instruction and those
 * after it in the block that use the same register (load_global_32_again and its like). */
static inline void note_run(struct warp *warp, const struct op *op)
{
    const t_u64 *address = (const t_u64 *)(const void *)(warp->registers + op->a);
    warp->run_first = address[0];
    warp->is_run = warp->active == FULL_MASK && is_consecutive(address);
}

static inline void load_run(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    struct region *region = NULL;
    if (warp->is_run) {
        const uint64_t first = warp->run_first + (uint64_t)access->offset;
        const uint8_t *data = find_run(warp, first, &region);
        if (data != NULL &&
            (region->all_known || known_test(region->known, first - region->base, 4 * LANES)) &&
            (atomic_load_explicit(&region->writers, memory_order_relaxed) == NULL ||
             global_race_run(warp, region, first, false))) {
            memcpy(warp->registers + access->registers[0], data, 4 * LANES);
            count_run(&warp->runner->traffic.global.load, first);
            return;
        }
    }
    access_load(warp, op);
}

static inline void store_run(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    struct region *region = NULL;
    if (warp->is_run) {
        const uint64_t first = warp->run_first + (uint64_t)access->offset;
        uint8_t *data = find_run(warp, first, &region);
        if (data != NULL && region->kind <= REGION_VARIABLE &&
            global_race_run(warp, region, first, true)) {
            memcpy(data, warp->registers + access->registers[0], 4 * LANES);
            if (!region->all_known)
                known_set(region->known, first - region->base, 4 * LANES);
            count_run(&warp->runner->traffic.global.store, first);
            return;
        }
    }
    access_store(warp, op);
}

static void load_global_32(struct warp *warp, const struct op *op)
{
    note_run(warp, op);
    load_run(warp, op);
}

static void load_global_32_again(struct warp *warp, const struct op *op)
{
    load_run(warp, op);
}

static void store_global_32(struct warp *warp, const struct op *op)
{
    note_run(warp, op);
    store_run(warp, op);
}

static void store_global_32_again(struct warp *warp, const struct op *op)
{
    store_run(warp, op);
}

/* ---- Local memory: every lane at the same offset, whole words ------------------------------- */

/* The offset within each thread's local memory; false: look closer. */
static inline __attribute__((always_inline)) bool
same_words(const struct warp *warp, const struct op *op, unsigned count, uint64_t *ret)
{
    const struct access *access = op->detail;
    uint64_t first = (uint64_t)access->offset, differs = 0;
    if (access->address == ADDRESS_64) {
        const t_u64 *address = (const t_u64 *)(const void *)(warp->registers + op->a);
        first += address[0];
        if (!access->is_uniform)
            for (unsigned lane = 0; lane < LANES; ++lane)
                differs |= address[lane] ^ address[0];
    } else if (access->address == ADDRESS_32) {
        const t_u32 *address = (const t_u32 *)(const void *)(warp->registers + op->a);
        first += address[0];
        for (unsigned lane = 0; lane < LANES; ++lane)
            differs |= address[lane] ^ address[0];
    } else if (access->address == ADDRESS_FRAME) {
        first += warp->frame->local_base;
    }
    const unsigned bytes = 4u * count;
    *ret = first;
    return differs == 0 && (first & (bytes - 1)) == 0 && first <= warp->local_top &&
           warp->local_top - first >= bytes;
}

/* Words of one offset lie side by side: 128 bytes, and 16 bytes of the bit map. `count` is a
 * constant where this is put into a handler. */
static inline __attribute__((always_inline)) void
load_local_words(struct warp *warp, const struct op *op, unsigned count)
{
    const struct access *access = op->detail;
    uint64_t offset = 0;
    if (warp->active == FULL_MASK && same_words(warp, op, count, &offset)) {
        const uint8_t *data = warp->local + offset * LANES;
        uint64_t known[2], all = UINT64_MAX;
        for (unsigned e = 0; e < count; ++e) {
            memcpy(known, warp->local_known + offset * LANES / 8 + 16 * e, sizeof known);
            all &= known[0] & known[1];
        }
        if (all == UINT64_MAX) {
            for (unsigned e = 0; e < count; ++e)
                if (access->registers[e] != UINT32_MAX)
                    memcpy(warp->registers + access->registers[e], data + 4 * LANES * e, 4 * LANES);
            struct traffic_count *total = &warp->runner->traffic.local_array.load;
            total->requests += access->counted ? count : 0;
            total->sectors += access->counted ? 4u * count : 0;
            return;
        }
    }
    access_load(warp, op);
}

static inline __attribute__((always_inline)) void
store_local_words(struct warp *warp, const struct op *op, unsigned count)
{
    const struct access *access = op->detail;
    uint64_t offset = 0;
    if (warp->active == FULL_MASK && same_words(warp, op, count, &offset)) {
        for (unsigned e = 0; e < count; ++e) {
            memcpy(warp->local + offset * LANES + 4 * LANES * e,
                   warp->registers + access->registers[e], 4 * LANES);
            memset(warp->local_known + offset * LANES / 8 + 16 * e, 0xFF, 16);
        }
        struct traffic_count *total = &warp->runner->traffic.local_array.store;
        total->requests += access->counted ? count : 0;
        total->sectors += access->counted ? 4u * count : 0;
        return;
    }
    access_store(warp, op);
}

static void load_local_32(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    load_local_words(warp, op, access->count);
}

static void store_local_32(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    store_local_words(warp, op, access->count);
}

static void load_local_one(struct warp *warp, const struct op *op)
{
    load_local_words(warp, op, 1);
}

static void store_local_one(struct warp *warp, const struct op *op)
{
    store_local_words(warp, op, 1);
}

/* ---- Shared memory: whole words of a full warp ------------------------------------------------
 */

/* The word that each lane addresses; false: some lane is outside or between words. */
static inline bool shared_words(const struct warp *warp, const struct op *op,
                                const struct access *access, uint32_t words[LANES])
{
    const uint32_t bytes = warp->runner->launch->shared_bytes, offset = (uint32_t)access->offset;
    uint32_t odd = 0, outside = 0;
    if (bytes < 4)
        return false;
    if (access->address == ADDRESS_32) {
        const t_u32 *address = (const t_u32 *)(const void *)(warp->registers + op->a);
        LANE_LOOP words[lane] = address[lane] + offset;
    } else if (access->address == ADDRESS_64) {
        const t_u64 *address = (const t_u64 *)(const void *)(warp->registers + op->a);
        uint64_t high = 0;
        for (unsigned lane = 0; lane < LANES; ++lane) {
            const uint64_t whole = address[lane] + (uint64_t)access->offset;
            high |= whole >> 32;
            words[lane] = (uint32_t)whole;
        }
        odd |= high != 0;
    } else {
        LANE_LOOP words[lane] = offset;
    }
    for (unsigned lane = 0; lane < LANES; ++lane) {
        odd |= words[lane] & 3;
        outside |= words[lane] > bytes - 4;
    }
    LANE_LOOP words[lane] /= 4;
    return (odd | outside) == 0;
}

/* One wavefront where all lanes read one word, or each another bank; else a closer look. */
static inline unsigned count_wavefronts(const uint32_t words[LANES])
{
    uint32_t same = 0, consecutive = 0;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        same |= words[lane] ^ words[0];
        consecutive |= words[lane] ^ (words[0] + lane);
    }
    if (same == 0 || consecutive == 0)
        return 1;
    /* Two words of one bank differ: keep the first of each bank and look for another. */
    uint32_t first[LANES], banks = 0, clash = 0;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        const uint32_t bank = words[lane] % LANES;
        if ((banks >> bank & 1) == 0)
            first[bank] = words[lane];
        clash |= first[bank] ^ words[lane];
        banks |= UINT32_C(1) << bank;
    }
    if (clash == 0)
        return 1;
    struct touched touched;
    touched.count = LANES;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        touched.address[lane] = (uint64_t)words[lane] * 4;
        touched.lane[lane] = (uint8_t)lane;
    }
    return shared_wavefronts(&touched, 4);
}

/* Nothing that shared_race() would have to think about: nobody else wrote in this epoch (and, for a
 * store, nobody else read). */
static inline bool shared_is_quiet(const struct warp *warp, const uint32_t words[LANES],
                                   bool is_store)
{
    const struct runner *runner = warp->runner;
    const uint32_t mine = runner->shared_tag | warp->number * LANES;
    uint32_t busy = runner->shared_parts;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        const uint32_t note = runner->shadow.writes[words[lane]];
        busy |= (note ^ mine) >> SHARED_EPOCH_SHIFT == 0 && note != (mine | lane);
        if (is_store) {
            const uint32_t read = runner->shadow.reads[words[lane]];
            busy |= (read ^ mine) >> SHARED_EPOCH_SHIFT == 0 && read != (mine | lane);
        }
    }
    return busy == 0;
}

/* Two lanes that store to one word are a matter for shared_race(), too. */
static inline bool are_different(const uint32_t words[LANES])
{
    uint32_t consecutive = 0;
    for (unsigned lane = 0; lane < LANES; ++lane)
        consecutive |= words[lane] ^ (words[0] + lane);
    if (consecutive == 0)
        return true;
    uint64_t seen[CAP_SHARED_BYTES / 4 / 64 / 64 + 1] = {0};
    uint32_t twice = 0;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        /* A small Bloom filter: a false hit only costs the slow way. */
        const uint64_t bit = UINT64_C(1) << (words[lane] % 64);
        uint64_t *part = &seen[words[lane] / 64 % COUNT_OF(seen)];
        twice |= (*part & bit) != 0;
        *part |= bit;
    }
    return twice == 0;
}

/* Blocks that are 8 or 16 threads wide make warps whose eighths are regular: eight lanes at one
 * word, or at eight that follow one another. */
#define EIGHT 8
#define OCTETS (LANES / EIGHT)

struct octets {
    uint32_t first[OCTETS]; /* word of the first lane */
    bool is_run[OCTETS];    /* eight words; else one */
};

static inline bool find_octets(const uint32_t words[LANES], struct octets *ret)
{
    for (unsigned o = 0; o < OCTETS; ++o) {
        uint32_t same = 0, run = 0;
        for (uint32_t i = 0; i < EIGHT; ++i) {
            same |= words[EIGHT * o + i] ^ words[EIGHT * o];
            run |= words[EIGHT * o + i] ^ (words[EIGHT * o] + i);
        }
        ret->first[o] = words[EIGHT * o];
        ret->is_run[o] = run == 0;
        if (same != 0 && run != 0)
            return false;
    }
    return true;
}

/* No two octets have different words in one bank; or, with `apart`, any word in common. */
static inline bool octets_are_easy(const struct octets *octets, bool apart)
{
    for (unsigned o = 1; o < OCTETS; ++o)
        for (unsigned p = 0; p < o; ++p) {
            const uint32_t distance = (octets->first[o] - octets->first[p]) % LANES;
            if ((distance < EIGHT || distance > LANES - EIGHT) &&
                (apart || octets->first[o] != octets->first[p]))
                return false;
        }
    return true;
}

/* Whether the octets may be read as they are: all written, and by nobody else in this epoch. */
static inline bool octets_are_quiet(const struct warp *warp, const struct octets *octets)
{
    const struct runner *runner = warp->runner;
    const uint32_t mine = runner->shared_tag | warp->number * LANES;
    uint32_t busy = runner->shared_parts || runner->shadow.unit_bytes != 4;
    for (unsigned o = 0; o < OCTETS; ++o) {
        const uint32_t *notes = runner->shadow.writes + octets->first[o];
        if (!octets->is_run[o]) {
            busy |= (notes[0] ^ mine) >> SHARED_EPOCH_SHIFT == 0;
            busy |= runner->shared_known[octets->first[o]] != 0xF;
            continue;
        }
        uint64_t known;
        memcpy(&known, runner->shared_known + octets->first[o], sizeof known);
        busy |= known != UINT64_C(0x0F0F0F0F0F0F0F0F);
        for (uint32_t i = 0; i < EIGHT; ++i)
            busy |= (notes[i] ^ mine) >> SHARED_EPOCH_SHIFT == 0 &&
                    notes[i] != (mine | (EIGHT * o + i));
    }
    return busy == 0;
}

static inline uint32_t reader_note(uint32_t note, uint32_t mine)
{
    const uint32_t difference = note ^ mine;
    if (difference >> SHARED_EPOCH_SHIFT != 0)
        return mine;
    if ((difference & SHARED_THREAD) / LANES != 0)
        return note | SHARED_MANY_WARPS;
    return (difference & SHARED_THREAD) != 0 ? note | SHARED_MANY_LANES : note;
}

static inline void note_octet_readers(struct warp *warp, const struct octets *octets,
                                      uint64_t information)
{
    struct shared_shadow *shadow = &warp->runner->shadow;
    const uint32_t mine = warp->runner->shared_tag | warp->number * LANES;
    for (unsigned o = 0; o < OCTETS; ++o) {
        uint32_t *notes = shadow->reads + octets->first[o];
        uint64_t *informations = shadow->read_information + octets->first[o];
        if (!octets->is_run[o]) {
            notes[0] = reader_note(notes[0], mine | EIGHT * o) | SHARED_MANY_LANES;
            informations[0] = information;
            continue;
        }
        for (uint32_t i = 0; i < EIGHT; ++i) {
            notes[i] = reader_note(notes[i], mine | (EIGHT * o + i));
            informations[i] = information;
        }
    }
}

static inline uint64_t shared_information(const struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    return (uint64_t)warp->sync_epoch << 32 | access->line;
}

/* False: not so regular, or something has to be looked at lane by lane. */
static inline bool load_octets(struct warp *warp, const struct op *op, const uint32_t words[LANES])
{
    const struct access *access = op->detail;
    struct runner *runner = warp->runner;
    struct octets octets;
    if (!find_octets(words, &octets))
        return false;
    if (runner->launch->checks) {
        if (!octets_are_quiet(warp, &octets))
            return false;
        note_octet_readers(warp, &octets, shared_information(warp, op));
    }
    t_u32 *const result = (t_u32 *)(void *)(warp->registers + access->registers[0]);
    const t_u32 *const shared = (const t_u32 *)(const void *)runner->shared;
    for (unsigned o = 0; o < OCTETS; ++o) {
        const t_u32 *const from = shared + octets.first[o];
        if (octets.is_run[o])
            for (unsigned i = 0; i < EIGHT; ++i)
                result[EIGHT * o + i] = from[i];
        else
            for (unsigned i = 0; i < EIGHT; ++i)
                result[EIGHT * o + i] = from[0];
    }
    runner->counters.shared_load.requests += 1;
    runner->counters.shared_load.sectors +=
        octets_are_easy(&octets, false) ? 1 : count_wavefronts(words);
    return true;
}

static void load_shared_32(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    struct runner *runner = warp->runner;
    uint32_t words[LANES];
    if (warp->active != FULL_MASK || !shared_words(warp, op, access, words)) {
        access_load(warp, op);
        return;
    }
    if (load_octets(warp, op, words))
        return;
    if (runner->launch->checks) {
        uint32_t known = 0xF;
        for (unsigned lane = 0; lane < LANES; ++lane)
            known &= runner->shared_known[words[lane]];
        if (known != 0xF || runner->shadow.unit_bytes != 4 ||
            !shared_is_quiet(warp, words, false)) {
            access_load(warp, op);
            return;
        }
        struct shared_shadow *shadow = &runner->shadow;
        const uint32_t mine = runner->shared_tag | warp->number * LANES;
        const uint64_t information = shared_information(warp, op);
        for (unsigned lane = 0; lane < LANES; ++lane) {
            shadow->reads[words[lane]] = reader_note(shadow->reads[words[lane]], mine | lane);
            shadow->read_information[words[lane]] = information;
        }
    }
    t_u32 *const result = (t_u32 *)(void *)(warp->registers + access->registers[0]);
    const t_u32 *const shared = (const t_u32 *)(const void *)runner->shared;
    for (unsigned lane = 0; lane < LANES; ++lane)
        result[lane] = shared[words[lane]];
    runner->counters.shared_load.requests += 1;
    runner->counters.shared_load.sectors += count_wavefronts(words);
}

/* Whether the octets, all of them runs, may be written as they are: nobody else read or wrote. */
static inline bool octets_are_free(const struct warp *warp, const struct octets *octets)
{
    const struct runner *runner = warp->runner;
    const uint32_t mine = runner->shared_tag | warp->number * LANES;
    uint32_t busy = runner->shared_parts || runner->shadow.unit_bytes != 4;
    for (unsigned o = 0; o < OCTETS; ++o) {
        const uint32_t *writes = runner->shadow.writes + octets->first[o];
        const uint32_t *reads = runner->shadow.reads + octets->first[o];
        busy |= !octets->is_run[o];
        for (uint32_t i = 0; i < EIGHT; ++i) {
            const uint32_t own = mine | (EIGHT * o + i);
            busy |= (writes[i] ^ mine) >> SHARED_EPOCH_SHIFT == 0 && writes[i] != own;
            busy |= (reads[i] ^ mine) >> SHARED_EPOCH_SHIFT == 0 && reads[i] != own;
        }
    }
    return busy == 0;
}

static inline bool store_octets(struct warp *warp, const struct op *op, const uint32_t words[LANES])
{
    const struct access *access = op->detail;
    struct runner *runner = warp->runner;
    const bool checks = runner->launch->checks;
    struct octets octets;
    if (!find_octets(words, &octets) || !octets_are_easy(&octets, true) || !octets.is_run[0] ||
        !octets.is_run[1] || !octets.is_run[2] || !octets.is_run[3] ||
        (checks && !octets_are_free(warp, &octets)))
        return false;
    const t_u32 *const value =
        (const t_u32 *)(const void *)(warp->registers + access->registers[0]);
    t_u32 *const shared = (t_u32 *)(void *)runner->shared;
    const uint32_t mine = runner->shared_tag | warp->number * LANES;
    const uint64_t information = shared_information(warp, op);
    for (unsigned o = 0; o < OCTETS; ++o) {
        t_u32 *const to = shared + octets.first[o];
        for (unsigned i = 0; i < EIGHT; ++i)
            to[i] = value[EIGHT * o + i];
        if (!checks)
            continue;
        uint32_t *notes = runner->shadow.writes + octets.first[o];
        uint64_t *informations = runner->shadow.write_information + octets.first[o];
        for (uint32_t i = 0; i < EIGHT; ++i) {
            notes[i] = mine | (EIGHT * o + i);
            informations[i] = information;
        }
        memset(runner->shared_known + octets.first[o], 0xF, EIGHT);
    }
    runner->counters.shared_store.requests += 1;
    runner->counters.shared_store.sectors += 1;
    return true;
}

static void store_shared_32(struct warp *warp, const struct op *op)
{
    const struct access *access = op->detail;
    struct runner *runner = warp->runner;
    uint32_t words[LANES];
    const bool whole = warp->active == FULL_MASK && shared_words(warp, op, access, words);
    if (whole && store_octets(warp, op, words))
        return;
    if (!whole ||
        (runner->launch->checks && (runner->shadow.unit_bytes != 4 || !are_different(words) ||
                                    !shared_is_quiet(warp, words, true)))) {
        access_store(warp, op);
        return;
    }
    const t_u32 *const value =
        (const t_u32 *)(const void *)(warp->registers + access->registers[0]);
    t_u32 *const shared = (t_u32 *)(void *)runner->shared;
    for (unsigned lane = 0; lane < LANES; ++lane)
        shared[words[lane]] = value[lane];
    if (runner->launch->checks) {
        const uint32_t mine = runner->shared_tag | warp->number * LANES;
        const uint64_t information = shared_information(warp, op);
        for (unsigned lane = 0; lane < LANES; ++lane) {
            runner->shadow.writes[words[lane]] = mine | lane;
            runner->shadow.write_information[words[lane]] = information;
            runner->shared_known[words[lane]] = 0xF;
        }
    }
    runner->counters.shared_store.requests += 1;
    runner->counters.shared_store.sectors += count_wavefronts(words);
}

/* ---- Parameters of a kernel: the same for all
 * ---------------------------------------------------- */

static void broadcast_32(const uint8_t *registers, const struct op *op, void *out)
{
    uint32_t value;
    t_u32 *const result = out;
    (void)registers;
    memcpy(&value, op->detail, sizeof value);
    LANE_LOOP result[lane] = value;
}

static void broadcast_64(const uint8_t *registers, const struct op *op, void *out)
{
    uint64_t value;
    t_u64 *const result = out;
    (void)registers;
    memcpy(&value, op->detail, sizeof value);
    LANE_LOOP result[lane] = value;
}

const struct lanes LANES_NAME = {.handlers = handlers,
                                 .blend = blend,
                                 .load_global_32 = load_global_32,
                                 .store_global_32 = store_global_32,
                                 .load_global_32_again = load_global_32_again,
                                 .store_global_32_again = store_global_32_again,
                                 .load_local_32 = load_local_32,
                                 .store_local_32 = store_local_32,
                                 .load_local_one = load_local_one,
                                 .store_local_one = store_local_one,
                                 .load_shared_32 = load_shared_32,
                                 .store_shared_32 = store_shared_32,
                                 .broadcast_32 = broadcast_32,
                                 .broadcast_64 = broadcast_64};

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

#include "emulator/lanes_memory.inc"
#include "emulator/lanes_shared.inc"

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

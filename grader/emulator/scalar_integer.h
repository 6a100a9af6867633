/* scalar_integer.h - part of scalar.h: integers and bits, and what other files compute.
 * Semantics: PTX ISA, chapter 9.7, by the name of the instruction. */
#ifndef SPILLWAY_EMULATOR_SCALAR_INTEGER_H
#define SPILLWAY_EMULATOR_SCALAR_INTEGER_H

#include "base.h"

#include <math.h>

enum rounding { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP };

/* rounding.c: one operation in a rounding mode that the compiler's arithmetic does not have. */
float rounding_add_f32(float a, float b, enum rounding mode);
float rounding_mul_f32(float a, float b, enum rounding mode);
float rounding_fma_f32(float a, float b, float c, enum rounding mode);
float rounding_div_f32(float a, float b, enum rounding mode);
float rounding_sqrt_f32(float a, enum rounding mode);
double rounding_add_f64(double a, double b, enum rounding mode);
double rounding_mul_f64(double a, double b, enum rounding mode);
double rounding_fma_f64(double a, double b, double c, enum rounding mode);
double rounding_div_f64(double a, double b, enum rounding mode);
double rounding_sqrt_f64(double a, enum rounding mode);
float rounding_narrow(double a, enum rounding mode);
float rounding_s64_to_f32(int64_t a, enum rounding mode);
float rounding_u64_to_f32(uint64_t a, enum rounding mode);
double rounding_s64_to_f64(int64_t a, enum rounding mode);
double rounding_u64_to_f64(uint64_t a, enum rounding mode);

/* half.c: f16 and bf16, as bits */
uint16_t half_flush_mul(uint16_t a, uint16_t b); /* with .ftz: see scalar_flush_mul() */
uint16_t half_flush_fma(uint16_t a, uint16_t b, uint16_t c);
uint16_t half_abs(uint16_t a);
uint16_t half_neg(uint16_t a);
uint16_t bfloat_abs(uint16_t a);
uint16_t bfloat_neg(uint16_t a);
/* A NaN keeps its sign and the top of its fraction. */
uint16_t half_from_f64_nan(double value, enum rounding mode);
uint16_t bfloat_from_f64_nan(double value, enum rounding mode);
float scalar_narrow_nan(double value, enum rounding mode);
double half_to_f64(uint16_t bits);
double bfloat_to_f64(uint16_t bits);
uint16_t half_from_f64(double value, enum rounding mode);
uint16_t bfloat_from_f64(double value, enum rounding mode);
uint16_t half_from_s64(int64_t value, enum rounding mode);
uint16_t half_from_u64(uint64_t value, enum rounding mode);
uint16_t bfloat_from_s64(int64_t value, enum rounding mode);
uint16_t bfloat_from_u64(uint64_t value, enum rounding mode);
#define HALF_FUNCTIONS(PREFIX)                                                                     \
    float PREFIX##_to_f32(uint16_t bits);                                                          \
    uint16_t PREFIX##_add(uint16_t a, uint16_t b);                                                 \
    uint16_t PREFIX##_sub(uint16_t a, uint16_t b);                                                 \
    uint16_t PREFIX##_mul(uint16_t a, uint16_t b);                                                 \
    uint16_t PREFIX##_fma(uint16_t a, uint16_t b, uint16_t c);                                     \
    uint16_t PREFIX##_min(uint16_t a, uint16_t b);                                                 \
    uint16_t PREFIX##_max(uint16_t a, uint16_t b);                                                 \
    uint16_t PREFIX##_min_nan(uint16_t a, uint16_t b);                                             \
    uint16_t PREFIX##_max_nan(uint16_t a, uint16_t b);                                             \
    uint16_t PREFIX##_ex2(uint16_t a);                                                             \
    uint16_t PREFIX##_tanh(uint16_t a);
HALF_FUNCTIONS(half)
HALF_FUNCTIONS(bfloat)
#undef HALF_FUNCTIONS
uint16_t half_saturate(uint16_t a);
uint16_t bfloat_saturate(uint16_t a);
uint16_t half_relu(uint16_t a);
uint16_t bfloat_relu(uint16_t a);
uint16_t half_flush(uint16_t a);
/* e4m3 and e5m2; what is too large becomes the largest finite number. */
uint16_t quarter_e4m3_from_f64(double value);
uint16_t quarter_e5m2_from_f64(double value);
uint16_t quarter_e4m3_to_half(uint8_t bits);
uint16_t quarter_e5m2_to_half(uint8_t bits);

/* ---- Integers ------------------------------------------------------------------------------- */

/* The hardware does not trap: x / 0 and x % 0 have all bits set, and the one overflow wraps. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits" /* one text for signed and unsigned */
#define SCALAR_DIVISION(T, U, C)                                                                   \
    static inline C scalar_div_##T(C a, C b)                                                       \
    {                                                                                              \
        if (b == 0)                                                                                \
            return (C)-1;                                                                          \
        return (C)((C)-1 < 0 && b == (C)-1 ? (C)((U)0 - (U)a) : (C)(a / b));                       \
    }                                                                                              \
    static inline C scalar_rem_##T(C a, C b)                                                       \
    {                                                                                              \
        if (b == 0)                                                                                \
            return (C)-1;                                                                          \
        return (C)((C)-1 < 0 && b == (C)-1 ? 0 : (C)(a % b));                                      \
    }
SCALAR_DIVISION(u16, uint32_t, uint16_t)
SCALAR_DIVISION(s16, uint32_t, int16_t)
SCALAR_DIVISION(u32, uint32_t, uint32_t)
SCALAR_DIVISION(s32, uint32_t, int32_t)
SCALAR_DIVISION(u64, uint64_t, uint64_t)
SCALAR_DIVISION(s64, uint64_t, int64_t)
#undef SCALAR_DIVISION
#pragma GCC diagnostic pop

__extension__ typedef unsigned __int128 scalar_u128;
__extension__ typedef __int128 scalar_s128;

static inline uint64_t scalar_mul_hi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((scalar_u128)a * b >> 64);
}

static inline int64_t scalar_mul_hi_s64(int64_t a, int64_t b)
{
    return (int64_t)((scalar_s128)a * b >> 64);
}

static inline int32_t scalar_saturate_s32(int64_t value)
{
    return (int32_t)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}

static inline int32_t scalar_extend24(int32_t a)
{
    return (int32_t)((uint32_t)a << 8) >> 8;
}

static inline int32_t scalar_dp4a(uint32_t a, uint32_t b, int32_t c, bool a_signed, bool b_signed)
{
    uint32_t sum = (uint32_t)c;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint8_t x = (uint8_t)(a >> shift), y = (uint8_t)(b >> shift);
        sum += (uint32_t)((a_signed ? (int8_t)x : x) * (b_signed ? (int8_t)y : y));
    }
    return (int32_t)sum;
}

static inline int32_t scalar_dp2a(uint32_t a, uint32_t b, int32_t c, bool a_signed, bool b_signed,
                                  unsigned first_byte)
{
    uint32_t sum = (uint32_t)c;
    for (unsigned i = 0; i < 2; ++i) {
        uint16_t x = (uint16_t)(a >> 16 * i);
        uint8_t y = (uint8_t)(b >> 8 * (first_byte + i));
        sum += (uint32_t)((a_signed ? (int16_t)x : x) * (b_signed ? (int8_t)y : y));
    }
    return (int32_t)sum;
}

static inline uint64_t scalar_reverse(uint64_t a)
{
    a = (a >> 1 & UINT64_C(0x5555555555555555)) | (a & UINT64_C(0x5555555555555555)) << 1;
    a = (a >> 2 & UINT64_C(0x3333333333333333)) | (a & UINT64_C(0x3333333333333333)) << 2;
    a = (a >> 4 & UINT64_C(0x0F0F0F0F0F0F0F0F)) | (a & UINT64_C(0x0F0F0F0F0F0F0F0F)) << 4;
    return __builtin_bswap64(a);
}

static inline uint32_t scalar_bfind(uint64_t a, bool unused)
{
    (void)unused;
    return a == 0 ? UINT32_MAX : 63 - (uint32_t)__builtin_clzll(a);
}

static inline uint32_t scalar_shift_amount(uint64_t a, uint32_t top)
{
    return a == 0 ? UINT32_MAX : top - (63 - (uint32_t)__builtin_clzll(a));
}

static inline uint64_t scalar_bfe(uint64_t a, uint32_t b, uint32_t c, unsigned bits, bool is_signed)
{
    /* The 64-bit form is a routine that looks at all bits of both. */
    const unsigned position = bits == 64 ? (b < 255 ? b : 255) : b & 0xFF;
    const unsigned length = bits == 64 ? (c < 255 ? c : 255) : c & 0xFF;
    if (length == 0)
        return 0;
    /* Bits past the top read as the sign (signed) or zero. */
    unsigned top = position + length - 1;
    uint64_t sign = is_signed ? a >> (top < bits ? top : bits - 1) & 1 : 0;
    uint64_t value = position < bits ? a >> position : 0;
    unsigned known = position < bits ? bits - position : 0;
    unsigned taken = length < known ? length : known;
    uint64_t mask = taken >= 64 ? UINT64_MAX : (UINT64_C(1) << taken) - 1;
    return (value & mask) | (sign != 0 ? ~mask : 0);
}

static inline uint64_t scalar_bfi(uint64_t a, uint64_t b, uint32_t c, uint32_t d, unsigned bits)
{
    const unsigned position = bits == 64 ? c : c & 0xFF, length = bits == 64 ? d : d & 0xFF;
    if (length == 0 || position >= bits)
        return b;
    unsigned taken = length < bits - position ? length : bits - position;
    uint64_t mask = (taken >= 64 ? UINT64_MAX : (UINT64_C(1) << taken) - 1) << position;
    return (b & ~mask) | (a << position & mask);
}

static inline uint32_t scalar_szext(uint32_t a, uint32_t bits, bool is_signed)
{
    if (bits == 0)
        return 0;
    if (bits >= 32)
        return a;
    uint32_t mask = (UINT32_C(1) << bits) - 1;
    return is_signed && (a >> (bits - 1) & 1) != 0 ? a | ~mask : a & mask;
}

static inline uint32_t scalar_bmsk(uint32_t position, uint32_t length)
{
    if (position >= 32 || length == 0)
        return 0;
    uint64_t mask = length >= 32 ? UINT32_MAX : (UINT64_C(1) << length) - 1;
    return (uint32_t)(mask << position);
}

static inline uint32_t scalar_shf_l(uint32_t low, uint32_t high, uint32_t n)
{
    return (uint32_t)(((uint64_t)high << 32 | low) << n >> 32);
}

static inline uint32_t scalar_shf_r(uint32_t low, uint32_t high, uint32_t n)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> n);
}

static inline uint32_t scalar_prmt(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        unsigned s = selector >> 4 * i & 0xF;
        uint8_t byte = (uint8_t)(bytes >> 8 * (s & 7));
        if ((s & 8) != 0)
            byte = (byte & 0x80) != 0 ? 0xFF : 0;
        result |= (uint32_t)byte << 8 * i;
    }
    return result;
}

static inline uint32_t scalar_prmt_f4e(uint32_t c)
{
    static const uint16_t table[] = {0x3210, 0x4321, 0x5432, 0x6543};
    return table[c & 3];
}

static inline uint32_t scalar_prmt_b4e(uint32_t c)
{
    static const uint16_t table[] = {0x5670, 0x6701, 0x7012, 0x0123};
    return table[c & 3];
}

static inline uint32_t scalar_prmt_ecl(uint32_t c)
{
    static const uint16_t table[] = {0x3210, 0x3211, 0x3222, 0x3333};
    return table[c & 3];
}

static inline uint32_t scalar_prmt_ecr(uint32_t c)
{
    static const uint16_t table[] = {0x0000, 0x1110, 0x2210, 0x3210};
    return table[c & 3];
}

static inline uint32_t scalar_lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
    uint32_t result = 0;
    result |= (table & 0x01) != 0 ? ~a & ~b & ~c : 0;
    result |= (table & 0x02) != 0 ? ~a & ~b & c : 0;
    result |= (table & 0x04) != 0 ? ~a & b & ~c : 0;
    result |= (table & 0x08) != 0 ? ~a & b & c : 0;
    result |= (table & 0x10) != 0 ? a & ~b & ~c : 0;
    result |= (table & 0x20) != 0 ? a & ~b & c : 0;
    result |= (table & 0x40) != 0 ? a & b & ~c : 0;
    result |= (table & 0x80) != 0 ? a & b & c : 0;
    return result;
}

/* Find the n-th set bit from a base on, up (n > 0) or down (n < 0). The manual wants a base below
 * 32; the rest is what the hardware does. */
static inline uint32_t scalar_fns(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == INT32_MIN)
        return 0;
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return (mask >> base & 1) != 0 ? base : UINT32_MAX;
    const int step = offset > 0 ? 1 : -1;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int position = (int)base; position >= 0 && position < 32; position += step)
        if ((mask >> position & 1) != 0 && --left == 0)
            return (uint32_t)position;
    return UINT32_MAX;
}

/* Clamps an integer of any type into a range, without surprises between signed and unsigned. */
#define CLAMP(value, least, most)                                                                  \
    ((scalar_s128)(value) < (scalar_s128)(least)  ? (scalar_s128)(least)                           \
     : (scalar_s128)(value) > (scalar_s128)(most) ? (scalar_s128)(most)                            \
                                                  : (scalar_s128)(value))

#define IS_SIGNED(value) ((__typeof__(value))-1 < 1)
#define INTEGER_TO_F32(a, mode)                                                                    \
    (IS_SIGNED(a) ? rounding_s64_to_f32((int64_t)(a), mode)                                        \
                  : rounding_u64_to_f32((uint64_t)(a), mode))
#define INTEGER_TO_F64(a, mode)                                                                    \
    (IS_SIGNED(a) ? rounding_s64_to_f64((int64_t)(a), mode)                                        \
                  : rounding_u64_to_f64((uint64_t)(a), mode))
#define INTEGER_TO_F16(a, mode)                                                                    \
    (IS_SIGNED(a) ? half_from_s64((int64_t)(a), mode) : half_from_u64((uint64_t)(a), mode))
#define INTEGER_TO_BF16(a, mode)                                                                   \
    (IS_SIGNED(a) ? bfloat_from_s64((int64_t)(a), mode) : bfloat_from_u64((uint64_t)(a), mode))

#endif

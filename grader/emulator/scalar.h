/* scalar.h - what one lane computes, where an expression in instructions.inc is not enough.
 * Semantics: PTX ISA, chapter 9.7, by the name of the instruction. */
#ifndef SPILLWAY_EMULATOR_SCALAR_H
#define SPILLWAY_EMULATOR_SCALAR_H

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

/* |a - b| of each 8- or 16-bit part; or their sum. */
static inline uint32_t scalar_vabsdiff(uint32_t a, uint32_t b, unsigned bits, bool add)
{
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    uint32_t result = 0;
    for (unsigned shift = 0; shift < 32; shift += bits) {
        uint32_t x = a >> shift & mask, y = b >> shift & mask;
        uint32_t difference = x < y ? y - x : x - y;
        result += add ? difference : difference << shift;
    }
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

/* ---- Floating point ------------------------------------------------------------------------- */

static inline float scalar_nan(void)
{
    const uint32_t bits = 0x7FFFFFFF; /* the canonical NaN of PTX */
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Whatever the NaN of an f32 operation, the hardware gives the canonical one. In f64 it gives
 * an operand that is NaN, made quiet (x + x does that, and so does the host's arithmetic where only
 * one operand is NaN): of two the second, of fma's three b before c before a. CANONn_T: of n
 * operands. */
static inline float scalar_canonical_f32(float a)
{
    return a == a ? a : scalar_nan();
}
static inline double scalar_quiet_f64(double a)
{
    return a == a ? a : a + a;
}
#define CANON_f32(value) scalar_canonical_f32(value)
#define CANON_f64(value) (value)
#define SCALAR_QUIET_f32(value) CANON_f32(value)
#define SCALAR_QUIET_f64(value) scalar_quiet_f64(value)
#define CANON1_f32(a, value) CANON_f32(value)
#define CANON2_f32(a, b, value) CANON_f32(value)
#define CANON3_f32(a, b, c, value) CANON_f32(value)
#define CANON1_f64(a, value) ((a) != (a) ? (a) + (a) : (value))
#define CANON2_f64(a, b, value) ((b) != (b) ? (b) + (b) : (value))
#define CANON3_f64(a, b, c, value)                                                                 \
    ((b) != (b) ? (b) + (b) : (c) != (c) ? (c) + (c) : (a) != (a) ? (a) + (a) : (value))

#define SCALAR_FLOAT(T, C, BITS, TOP)                                                              \
    static inline C scalar_abs_##T(C a)                                                            \
    {                                                                                              \
        BITS bits;                                                                                 \
        memcpy(&bits, &a, sizeof bits);                                                            \
        bits &= ~(TOP);                                                                            \
        memcpy(&a, &bits, sizeof bits);                                                            \
        return a;                                                                                  \
    }                                                                                              \
    static inline C scalar_neg_##T(C a)                                                            \
    {                                                                                              \
        BITS bits;                                                                                 \
        memcpy(&bits, &a, sizeof bits);                                                            \
        bits ^= (TOP);                                                                             \
        memcpy(&a, &bits, sizeof bits);                                                            \
        return a;                                                                                  \
    }                                                                                              \
    /* the sign of a, the rest of b */                                                             \
    static inline C scalar_copysign_##T(C a, C b)                                                  \
    {                                                                                              \
        BITS sign, bits;                                                                           \
        memcpy(&sign, &a, sizeof bits);                                                            \
        memcpy(&bits, &b, sizeof bits);                                                            \
        bits = (bits & ~(TOP)) | (sign & (TOP));                                                   \
        memcpy(&b, &bits, sizeof bits);                                                            \
        return b;                                                                                  \
    }                                                                                              \
    static inline bool scalar_negative_##T(C a)                                                    \
    {                                                                                              \
        BITS bits;                                                                                 \
        memcpy(&bits, &a, sizeof bits);                                                            \
        return (bits & (TOP)) != 0;                                                                \
    }                                                                                              \
    /* One NaN loses against a number, -0 is less than +0. */                                      \
    static inline C scalar_min_##T(C a, C b)                                                       \
    {                                                                                              \
        if (a != a)                                                                                \
            return b;                                                                              \
        if (b != b || a < b)                                                                       \
            return a;                                                                              \
        return b < a || scalar_negative_##T(b) ? b : a;                                            \
    }                                                                                              \
    static inline C scalar_max_##T(C a, C b)                                                       \
    {                                                                                              \
        if (a != a)                                                                                \
            return b;                                                                              \
        if (b != b || a > b)                                                                       \
            return a;                                                                              \
        return b > a || scalar_negative_##T(a) ? b : a;                                            \
    }
SCALAR_FLOAT(f32, float, uint32_t, UINT32_C(1) << 31)
SCALAR_FLOAT(f64, double, uint64_t, UINT64_C(1) << 63)
#undef SCALAR_FLOAT

static inline float scalar_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t scalar_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The smaller or larger magnitude, with the product's sign. */
static inline float scalar_xorsign(float a, float b, bool larger, bool nan_wins)
{
    const float x = scalar_abs_f32(a), y = scalar_abs_f32(b);
    if ((a != a && b != b) || (nan_wins && (a != a || b != b)))
        return scalar_nan();
    const float magnitude = larger ? scalar_max_f32(x, y) : scalar_min_f32(x, y);
    const uint32_t sign = (scalar_float_bits(a) ^ scalar_float_bits(b)) & 0x80000000u;
    return scalar_float(scalar_float_bits(magnitude) | sign);
}

/* tf32 keeps 10 bits of the fraction: ties away from zero, or to even. */
static inline uint32_t scalar_tf32(float a, bool away)
{
    uint32_t bits = scalar_float_bits(a);
    if (a != a)
        return away ? bits & ~UINT32_C(0x1FFF) : 0x7FFFE000;
    if (isinf(a))
        return bits;
    bits += away ? 0x1000 : 0xFFF + (bits >> 13 & 1);
    return bits & ~UINT32_C(0x1FFF);
}

/* Subnormal numbers become zero of the same sign. */
static inline float scalar_flush_f32(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits = (bits & 0x7F800000) == 0 ? bits & 0x80000000 : bits;
    memcpy(&a, &bits, sizeof bits);
    return a;
}

static inline double scalar_flush_f64(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits = bits << 1 >> 53 == 0 ? bits & UINT64_C(1) << 63 : bits;
    memcpy(&a, &bits, sizeof bits);
    return a;
}

/* .ftz flushes what is subnormal if rounded to 24 bits, whatever the exponent: 0x1.fffffep-127
 * becomes zero, though f32 would round it to 2^-126. `exact` may be rounded to f64. */
static inline bool scalar_is_tiny(double exact)
{
    const float scaled = (float)(exact * 0x1p64);
    return scaled < 0x1p-62f && scaled > -0x1p-62f;
}

static inline float scalar_flush_mul(float a, float b)
{
    const double exact = (double)a * (double)b;
    return scalar_is_tiny(exact) ? (scalar_negative_f64(exact) ? -0.0f : 0.0f) : a * b;
}

static inline float scalar_flush_fma(float a, float b, float c)
{
    const double sum = (double)a * (double)b + (double)c;
    return scalar_is_tiny(sum) ? (scalar_negative_f64(sum) ? -0.0f : 0.0f)
                               : __builtin_fmaf(a, b, c);
}

/* .ftz makes f32 arithmetic of a conversion: its NaN is the canonical one. */
static inline double scalar_flush_widen(float a)
{
    return (double)CANON_f32(scalar_flush_f32(a));
}

/* div.approx: a * (1/b); for 2^126 < |b| < 2^128 the reciprocal is flushed and the quotient is 0.
 */
static inline float scalar_div_approx(float a, float b)
{
    float magnitude = scalar_abs_f32(b);
    if (magnitude > 0x1p126f && !isinf(b))
        return isinf(a) ? scalar_nan() : scalar_copysign_f32(a * b, 0.0f);
    return a / b;
}

/* sin.approx and cos.approx see a fraction of a turn: the product with 1/(2 pi), cut to f32. The
 * farther from zero, the less is left of it; at 2^24 turns there is nothing but whole ones. */
static inline double scalar_turn(float a)
{
    const double product = (double)a * (double)0.15915494f;
    uint64_t bits;
    memcpy(&bits, &product, sizeof bits);
    bits &= ~UINT64_C(0x1FFFFFFF);
    double turns;
    memcpy(&turns, &bits, sizeof turns);
    return (turns - __builtin_rint(turns)) * 6.283185307179586476925;
}

static inline float scalar_sin_approx(float a)
{
    const float result = (float)sin(scalar_turn(a));
    return result == 0 ? scalar_copysign_f32(a, result) : result;
}

/* The .ftz f64 approximations take and give the upper 32 bits; the lower are zero. */
static inline double scalar_high_word(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits &= UINT64_C(0xFFFFFFFF00000000);
    memcpy(&a, &bits, sizeof bits);
    return a;
}

static inline double scalar_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double scalar_flush_rsqrt_approx_f64(double a)
{
    a = scalar_high_word(a);
    if (fpclassify(a) == FP_SUBNORMAL)
        a = a < 0 ? -0.0 : 0.0;
    const double result = 1 / sqrt(a);
    return result != result ? scalar_from_bits(UINT64_C(0x7FFFFFFF00000000))
                            : scalar_high_word(result);
}

/* One step of third order from that approximation, as the hardware's routine does it. */
static inline double scalar_rsqrt_approx_f64(double a)
{
    if (!(a > 0) || isinf(a))
        return CANON1_f64(a, 1 / sqrt(a));
    const double scale = a < 0x1p-1022 ? 0x1p54 : 1;
    const double x = a * scale, y = scalar_flush_rsqrt_approx_f64(x);
    const double error = __builtin_fma(x, -(y * y), 1.0);
    const double result = __builtin_fma(__builtin_fma(error, 0.375, 0.5), y * error, y);
    return scale == 1 ? result : result * 0x1p27;
}

static inline double scalar_rcp_approx_f64(double a)
{
    a = scalar_high_word(a);
    if (a != a)
        return scalar_from_bits(UINT64_C(0x7FFFFFFF00000000));
    if (fpclassify(a) == FP_SUBNORMAL)
        a = a < 0 ? -0.0 : 0.0;
    double result = 1 / a;
    if (fpclassify(result) == FP_SUBNORMAL)
        result = result < 0 ? -0.0 : 0.0;
    return scalar_high_word(result);
}

static inline double scalar_integral(double a, enum rounding mode)
{
    switch (mode) {
    case ROUND_NEAREST:
        return __builtin_rint(a); /* the host runs in round-to-nearest-even */
    case ROUND_ZERO:
        return __builtin_trunc(a);
    case ROUND_DOWN:
        return __builtin_floor(a);
    default:
        return __builtin_ceil(a);
    }
}

/* NaN becomes 0, but the top bit alone where one of the two types has 64 bits. */
static inline uint64_t scalar_to_u64(double a, enum rounding mode, uint64_t most, bool from_f64)
{
    a = scalar_integral(a, mode);
    if (a != a)
        return from_f64 || most == UINT64_MAX ? (most >> 1) + 1 : 0;
    if (a <= 0)
        return 0;
    return a >= (double)most ? most : (uint64_t)a;
}

static inline int64_t scalar_to_s64(double a, enum rounding mode, int64_t least, int64_t most,
                                    bool from_f64)
{
    a = scalar_integral(a, mode);
    if (a != a)
        return from_f64 || most == INT64_MAX ? least : 0;
    if (a <= (double)least)
        return least;
    return a >= (double)most ? most : (int64_t)a;
}

#endif

/* scalar_float.h - part of scalar.h: floating point. */
#ifndef SPILLWAY_EMULATOR_SCALAR_FLOAT_H
#define SPILLWAY_EMULATOR_SCALAR_FLOAT_H

#include "emulator/scalar_integer.h"

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

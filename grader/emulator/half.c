/* half.c - f16 (5 bits of exponent, 10 of fraction) and bf16 (8 and 7), as bits.
 *
 * Every operation is done in f64, where sums and products of two such numbers are exact, and
 * rounded once to the narrow format. A NaN result is the canonical one of PTX, 0x7FFF. */
#include "emulator/scalar.h"

struct format {
    unsigned fraction_bits;
    int least_exponent, most_exponent; /* of normal numbers, unbiased */
};

static const struct format half_format = {10, -14, 15}, bfloat_format = {7, -126, 127},
                           e5m2_format = {2, -14, 15};

/* A conversion to f64 keeps the fraction of a NaN and makes it quiet. */
static double quiet_nan(unsigned fraction, unsigned fraction_bits)
{
    const uint64_t bits = UINT64_C(0x7FF8000000000000) | (uint64_t)fraction << (52 - fraction_bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double decode(uint16_t bits, const struct format *format)
{
    const unsigned fraction_bits = format->fraction_bits;
    const unsigned exponent = (bits & 0x7FFFu) >> fraction_bits;
    const unsigned fraction = bits & ((1u << fraction_bits) - 1);
    const unsigned top = (0x7FFFu >> fraction_bits);
    double value;
    if (exponent == top)
        value = fraction != 0 ? quiet_nan(fraction, fraction_bits) : HUGE_VAL;
    else if (exponent == 0)
        value = ldexp((double)fraction, format->least_exponent - (int)fraction_bits);
    else
        value = ldexp((double)(fraction | 1u << fraction_bits),
                      (int)exponent - 1 + format->least_exponent - (int)fraction_bits);
    return (bits & 0x8000) != 0 ? -value : value;
}

static uint16_t encode(double value, enum rounding mode, const struct format *format)
{
    if (value != value)
        return 0x7FFF;
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const uint16_t infinity =
        (uint16_t)((0x7FFFu >> format->fraction_bits) << format->fraction_bits);
    const double magnitude = fabs(value);
    if (magnitude == 0)
        return sign;
    if (isinf(magnitude))
        return sign | infinity;
    int exponent = ilogb(magnitude);
    if (exponent < format->least_exponent)
        exponent = format->least_exponent;
    /* In units of the last place the fraction is an integer below 2^(bits + 1), or overflows. */
    const double scaled = ldexp(magnitude, (int)format->fraction_bits - exponent);
    bool up = mode == ROUND_UP ? sign == 0 : mode == ROUND_DOWN && sign != 0;
    double whole = mode == ROUND_NEAREST ? rint(scaled) : up ? ceil(scaled) : floor(scaled);
    if (exponent > format->most_exponent ||
        (exponent == format->most_exponent && whole >= ldexp(2.0, (int)format->fraction_bits))) {
        bool to_infinity = mode == ROUND_NEAREST || up;
        return sign | (uint16_t)(to_infinity ? infinity : infinity - 1);
    }
    /* Adding lets a carry out of the fraction raise the exponent; a subnormal has exponent 0. */
    unsigned biased = (unsigned)(exponent - format->least_exponent);
    return sign | (uint16_t)((biased << format->fraction_bits) + (unsigned)whole);
}

double half_to_f64(uint16_t bits)
{
    return decode(bits, &half_format);
}

double bfloat_to_f64(uint16_t bits)
{
    return decode(bits, &bfloat_format);
}

uint16_t half_from_f64(double value, enum rounding mode)
{
    return encode(value, mode, &half_format);
}

uint16_t bfloat_from_f64(double value, enum rounding mode)
{
    return encode(value, mode, &bfloat_format);
}

/* From f64, unlike from f32, the hardware cuts a NaN down instead of giving the canonical one. */
static uint16_t cut_nan(double value, const struct format *format)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const unsigned kept = format->fraction_bits;
    const unsigned exponent = (0x7FFFu >> kept) << kept, quiet = 1u << (kept - 1);
    return (uint16_t)((bits >> 48 & 0x8000) | exponent | quiet |
                      (bits >> (52 - kept) & ((1u << kept) - 1)));
}

uint16_t half_from_f64_nan(double value, enum rounding mode)
{
    return value != value ? cut_nan(value, &half_format) : half_from_f64(value, mode);
}

uint16_t bfloat_from_f64_nan(double value, enum rounding mode)
{
    return value != value ? cut_nan(value, &bfloat_format) : bfloat_from_f64(value, mode);
}

float scalar_narrow_nan(double value, enum rounding mode)
{
    if (value == value)
        return rounding_narrow(value, mode);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t narrow =
        (uint32_t)((bits >> 32 & 0x80000000) | 0x7FC00000 | (bits >> 29 & 0x7FFFFF));
    float result;
    memcpy(&result, &narrow, sizeof result);
    return result;
}

/* A 64-bit integer may not fit f64: round to odd first, which keeps the second rounding right. */
static double integer_to_odd(uint64_t magnitude)
{
    if (magnitude < UINT64_C(1) << 53)
        return (double)magnitude;
    uint64_t kept = magnitude >> 11 | ((magnitude & 0x7FF) != 0 ? 1 : 0);
    return (double)kept * 2048.0;
}

uint16_t half_from_u64(uint64_t value, enum rounding mode)
{
    return encode(integer_to_odd(value), mode, &half_format);
}

uint16_t half_from_s64(int64_t value, enum rounding mode)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    double wide = integer_to_odd(magnitude);
    return encode(value < 0 ? -wide : wide, mode, &half_format);
}

uint16_t bfloat_from_u64(uint64_t value, enum rounding mode)
{
    return encode(integer_to_odd(value), mode, &bfloat_format);
}

uint16_t bfloat_from_s64(int64_t value, enum rounding mode)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    double wide = integer_to_odd(magnitude);
    return encode(value < 0 ? -wide : wide, mode, &bfloat_format);
}

/* a * b + c with one rounding. The product is exact in f64; the sum is rounded to odd (TwoSum finds
 * what was lost) so that the last rounding is the only one that counts. */
static double fused(double a, double b, double c)
{
    double product = a * b, sum = product + c;
    if (!isfinite(sum))
        return sum;
    double part = sum - product;
    double lost = (product - (sum - part)) + (c - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (lost != 0 && (bits & 1) == 0) {
        bits += (lost > 0) == (sum > 0) ? 1 : UINT64_MAX;
        memcpy(&sum, &bits, sizeof sum);
    }
    return sum;
}

#define HALF_OPERATIONS(PREFIX)                                                                    \
    float PREFIX##_to_f32(uint16_t bits)                                                           \
    {                                                                                              \
        return (float)PREFIX##_to_f64(bits);                                                       \
    }                                                                                              \
    uint16_t PREFIX##_add(uint16_t a, uint16_t b)                                                  \
    {                                                                                              \
        return encode(fused(PREFIX##_to_f64(a), 1, PREFIX##_to_f64(b)), ROUND_NEAREST,             \
                      &PREFIX##_format);                                                           \
    }                                                                                              \
    uint16_t PREFIX##_sub(uint16_t a, uint16_t b)                                                  \
    {                                                                                              \
        return encode(fused(PREFIX##_to_f64(a), 1, -PREFIX##_to_f64(b)), ROUND_NEAREST,            \
                      &PREFIX##_format);                                                           \
    }                                                                                              \
    uint16_t PREFIX##_mul(uint16_t a, uint16_t b)                                                  \
    {                                                                                              \
        return encode(PREFIX##_to_f64(a) * PREFIX##_to_f64(b), ROUND_NEAREST, &PREFIX##_format);   \
    }                                                                                              \
    uint16_t PREFIX##_fma(uint16_t a, uint16_t b, uint16_t c)                                      \
    {                                                                                              \
        return encode(fused(PREFIX##_to_f64(a), PREFIX##_to_f64(b), PREFIX##_to_f64(c)),           \
                      ROUND_NEAREST, &PREFIX##_format);                                            \
    }                                                                                              \
    static bool PREFIX##_is_nan(uint16_t a)                                                        \
    {                                                                                              \
        return PREFIX##_to_f64(a) != PREFIX##_to_f64(a);                                           \
    }                                                                                              \
    uint16_t PREFIX##_abs(uint16_t a)                                                              \
    {                                                                                              \
        return PREFIX##_is_nan(a) ? 0x7FFF : a & 0x7FFF;                                           \
    }                                                                                              \
    uint16_t PREFIX##_neg(uint16_t a)                                                              \
    {                                                                                              \
        return PREFIX##_is_nan(a) ? 0x7FFF : a ^ 0x8000;                                           \
    }                                                                                              \
    uint16_t PREFIX##_min(uint16_t a, uint16_t b)                                                  \
    {                                                                                              \
        if (PREFIX##_is_nan(a))                                                                    \
            return PREFIX##_is_nan(b) ? 0x7FFF : b;                                                \
        return PREFIX##_is_nan(b) ||                                                               \
                       (scalar_min_f64(PREFIX##_to_f64(a), PREFIX##_to_f64(b)) ==                  \
                            PREFIX##_to_f64(a) &&                                                  \
                        (PREFIX##_to_f64(a) != 0 || (a & 0x8000) != 0 || (b & 0x8000) == 0))       \
                   ? a                                                                             \
                   : b;                                                                            \
    }                                                                                              \
    uint16_t PREFIX##_max(uint16_t a, uint16_t b)                                                  \
    {                                                                                              \
        if (PREFIX##_is_nan(a))                                                                    \
            return PREFIX##_is_nan(b) ? 0x7FFF : b;                                                \
        return PREFIX##_is_nan(b) ||                                                               \
                       (scalar_max_f64(PREFIX##_to_f64(a), PREFIX##_to_f64(b)) ==                  \
                            PREFIX##_to_f64(a) &&                                                  \
                        (PREFIX##_to_f64(a) != 0 || (a & 0x8000) == 0 || (b & 0x8000) != 0))       \
                   ? a                                                                             \
                   : b;                                                                            \
    }                                                                                              \
    uint16_t PREFIX##_min_nan(uint16_t a, uint16_t b)                                              \
    {                                                                                              \
        return PREFIX##_is_nan(a) || PREFIX##_is_nan(b) ? 0x7FFF : PREFIX##_min(a, b);             \
    }                                                                                              \
    uint16_t PREFIX##_max_nan(uint16_t a, uint16_t b)                                              \
    {                                                                                              \
        return PREFIX##_is_nan(a) || PREFIX##_is_nan(b) ? 0x7FFF : PREFIX##_max(a, b);             \
    }                                                                                              \
    uint16_t PREFIX##_ex2(uint16_t a)                                                              \
    {                                                                                              \
        return encode(exp2(PREFIX##_to_f64(a)), ROUND_NEAREST, &PREFIX##_format);                  \
    }                                                                                              \
    uint16_t PREFIX##_tanh(uint16_t a)                                                             \
    {                                                                                              \
        return encode(tanh(PREFIX##_to_f64(a)), ROUND_NEAREST, &PREFIX##_format);                  \
    }
HALF_OPERATIONS(half)
HALF_OPERATIONS(bfloat)

/* See scalar_is_tiny(). */
static uint16_t flush_encode(double value)
{
    const bool is_tiny = fabs(value) < 0x1p-13 &&
                         (encode(value * 0x1p14, ROUND_NEAREST, &half_format) & 0x7FFF) < 0x3C00;
    return is_tiny ? (signbit(value) ? 0x8000 : 0) : encode(value, ROUND_NEAREST, &half_format);
}

uint16_t half_flush_mul(uint16_t a, uint16_t b)
{
    return flush_encode(half_to_f64(a) * half_to_f64(b));
}

uint16_t half_flush_fma(uint16_t a, uint16_t b, uint16_t c)
{
    return flush_encode(fused(half_to_f64(a), half_to_f64(b), half_to_f64(c)));
}

static uint16_t saturate(double value, uint16_t bits, uint16_t one)
{
    if (!(value > 0))
        return 0;
    return value < 1 ? bits : one;
}

uint16_t half_saturate(uint16_t a)
{
    return saturate(half_to_f64(a), a, 0x3C00);
}

uint16_t bfloat_saturate(uint16_t a)
{
    return saturate(bfloat_to_f64(a), a, 0x3F80);
}

static uint16_t relu(double value, uint16_t bits)
{
    if (value != value)
        return 0x7FFF;
    return value > 0 ? bits : 0;
}

uint16_t half_relu(uint16_t a)
{
    return relu(half_to_f64(a), a);
}

uint16_t bfloat_relu(uint16_t a)
{
    return relu(bfloat_to_f64(a), a);
}

uint16_t half_flush(uint16_t a)
{
    return (a & 0x7C00) == 0 ? a & 0x8000 : a;
}

/* ---- Eight-bit floats ------------------------------------------------------------------------ */

/* e5m2 is the upper half of an f16. The formats' NaN is 0x7F; infinity saturates. */
uint16_t quarter_e5m2_from_f64(double value)
{
    if (value != value)
        return 0x7F;
    if (fabs(value) > 57344)
        value = copysign(57344, value);
    const uint16_t bits = encode(value, ROUND_NEAREST, &e5m2_format);
    const uint16_t sign = bits >> 8 & 0x80; /* encode() puts the sign at bit 15 */
    return sign | (bits & 0x7F);
}

uint16_t quarter_e5m2_to_half(uint8_t bits)
{
    const uint16_t half = (uint16_t)(bits << 8);
    return (half & 0x7FFF) > 0x7C00 ? 0x7FFF : half;
}

/* e4m3 has no infinity: exponent 15 is an ordinary one up to 448. */
uint16_t quarter_e4m3_from_f64(double value)
{
    if (value != value)
        return 0x7F;
    const uint16_t sign = signbit(value) ? 0x80 : 0;
    const double magnitude = fabs(value);
    if (magnitude >= 448)
        return sign | 0x7E;
    int exponent = magnitude == 0 ? -6 : ilogb(magnitude);
    if (exponent < -6)
        exponent = -6;
    const unsigned whole = (unsigned)rint(ldexp(magnitude, 3 - exponent));
    const unsigned bits = ((unsigned)(exponent + 6) << 3) + whole;
    return sign | (uint16_t)(bits > 0x7E ? 0x7E : bits);
}

uint16_t quarter_e4m3_to_half(uint8_t bits)
{
    if ((bits & 0x7F) == 0x7F)
        return 0x7FFF;
    const unsigned exponent = bits >> 3 & 15, fraction = bits & 7;
    const double value =
        exponent == 0 ? ldexp(fraction, -9) : ldexp(8 + fraction, (int)exponent - 10);
    return half_from_f64((bits & 0x80) != 0 ? -value : value, ROUND_NEAREST);
}

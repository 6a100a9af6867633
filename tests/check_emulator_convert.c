/* check_emulator_convert.c - cvt: every pair of types, in every rounding, against the host. */
#include "support_instruction.h"

#include <fenv.h>

__extension__ typedef __int128 wide;

#define f(bits) bits_f32(bits)
#define g(bits) bits_f64(bits)
#define h(bits) bits_small(bits, FORMAT_F16)
#define k(bits) bits_small(bits, FORMAT_BF16)
#define S(value, bits) signed_value(value, bits)
#define U(value, bits) unsigned_value(value, bits)
#define L(value) ((long double)(value))

static wide signed_value(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static wide unsigned_value(uint64_t value, unsigned bits)
{
    return value << (64 - bits) >> (64 - bits);
}

/* The low bits of a value, as a register of that type holds them: 16 bits at least. */
static uint64_t extended(uint64_t value, const char *type)
{
    const unsigned bits = (unsigned)strtoul(type + 1, NULL, 10);
    return (uint64_t)(type[0] == 's' ? signed_value(value, bits) : unsigned_value(value, bits));
}

static uint64_t clamped(wide value, wide least, wide most, const char *type)
{
    return extended((uint64_t)(value < least ? least : value > most ? most : value), type);
}

static float flush(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

static float clip(float value)
{
    return isnan(value) || value <= 0 ? 0 : value > 1 ? 1 : value;
}

/* .relu: a NaN stays one, what is negative becomes zero. */
static uint64_t positive_of(uint64_t bits, uint64_t infinity)
{
    if ((bits & 0x7FFF) > infinity)
        return 0x7FFF;
    return (bits & 0x8000) != 0 ? 0 : bits;
}

/* The volatile variables keep the conversion between the two changes of mode. */
static uint64_t narrow_f32(long double value, int mode)
{
    volatile long double from = value;
    (void)fesetround(mode);
    volatile float to = (float)from;
    (void)fesetround(FE_TONEAREST);
    return f32_bits(to);
}

static uint64_t narrow_f64(long double value, int mode)
{
    volatile long double from = value;
    (void)fesetround(mode);
    volatile double to = (double)from;
    (void)fesetround(FE_TONEAREST);
    return f64_bits(to);
}

static double integral(double value, int mode)
{
    volatile double from = value;
    (void)fesetround(mode);
    volatile double to = nearbyint(from);
    (void)fesetround(FE_TONEAREST);
    return to;
}

static uint64_t to_integer(double value, int mode, wide least, wide most, uint64_t of_nan,
                           const char *type)
{
    if (isnan(value))
        return extended(of_nan, type);
    const long double whole = integral(value, mode);
    const wide clipped = whole <= (long double)least  ? least
                         : whole >= (long double)most ? most
                                                      : (wide)whole;
    return extended((uint64_t)clipped, type);
}

/* Ten bits of the fraction, ties away from zero. */
static uint64_t tf32_away(uint64_t a)
{
    if (isnan(f(a)))
        return 0x7FFFFFFF;
    return isinf(f(a)) ? a : (a + 0x1000) & ~UINT64_C(0x1FFF);
}

/* Four bits of exponent and no infinity: all ones are a NaN, 448 is the largest. */
static uint64_t e4m3(double value)
{
    if (isnan(value))
        return 0x7F;
    const uint64_t sign = signbit(value) ? 0x80 : 0;
    if (fabs(value) >= 448)
        return sign | 0x7E;
    /* As if there were an infinity: exponents up to 14 agree, the last has 448 / 2^8 = 1.75. */
    uint64_t best = 0;
    double least = INFINITY;
    for (uint64_t bits = 0; bits < 0x7F; ++bits) {
        const unsigned exponent = (unsigned)bits >> 3;
        const double known = exponent == 0 ? ldexp((double)(bits & 7), -9)
                                           : ldexp((double)(8 + (bits & 7)), (int)exponent - 10);
        const double distance = fabs(known - fabs(value));
        if (distance < least || (distance == least && (bits & 1) == 0)) {
            least = distance;
            best = bits;
        }
    }
    return sign | best;
}

static uint64_t e5m2(double value)
{
    const uint64_t bits = small_bits(value, ((struct format){5, 2}), FE_TONEAREST);
    if (isnan(value))
        return 0x7F;
    return (bits & 0x7F) >= 0x7C ? (bits & 0x80) | 0x7B : bits;
}

static uint64_t from_e4m3(uint64_t bits)
{
    const unsigned exponent = (unsigned)bits >> 3 & 15;
    const double magnitude = exponent == 0 ? ldexp((double)(bits & 7), -9)
                                           : ldexp((double)(8 + (bits & 7)), (int)exponent - 10);
    if ((bits & 0x7F) == 0x7F)
        return 0x7FFF;
    return small_bits((bits & 0x80) != 0 ? -magnitude : magnitude, FORMAT_F16, FE_TONEAREST);
}

#define ROW(id, text, types, expression)                                                           \
    static uint64_t expect_##id(uint64_t a, uint64_t b, uint64_t c, uint64_t d)                    \
    {                                                                                              \
        (void)a, (void)b, (void)c, (void)d;                                                        \
        return (uint64_t)(expression);                                                             \
    }
#include "instructions/convert.inc"
#undef ROW

static const struct instruction_row rows[] = {
#define ROW(id, text, types, expression) {text, types, expect_##id},
#include "instructions/convert.inc"
#undef ROW
};

#define AT_ONCE 16 /* instructions a test: processes cost more than these */

START_TEST(conversions_are_what_the_manual_says)
{
    for (size_t i = (size_t)_i * AT_ONCE; i < (size_t)(_i + 1) * AT_ONCE && i < COUNT_OF(rows); ++i)
        support_instruction(&rows[i]);
}
END_TEST

Suite *suite_emulator_convert(void);
Suite *suite_emulator_convert(void)
{
    Suite *suite = suite_create("emulator_convert");
    TCase *tcase = tcase_create("conversions");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, conversions_are_what_the_manual_says, 0,
                        (COUNT_OF(rows) + AT_ONCE - 1) / AT_ONCE);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* check_emulator_float.c - floating point: each instruction against the host; approximations within
 * the bounds that the PTX manual gives. */
#include "support_instruction.h"

#include <fenv.h>

#define f(bits) bits_f32(bits)
#define g(bits) bits_f64(bits)
#define h(bits) bits_small(bits, FORMAT_F16)
#define k(bits) bits_small(bits, FORMAT_BF16)
#define F(value) f32_bits(value)
#define G(value) f64_bits(value)
#define H(value) small_bits(value, FORMAT_F16, FE_TONEAREST)
#define K(value) small_bits(value, FORMAT_BF16, FE_TONEAREST)

/* The volatile variables keep the arithmetic between the two changes of mode. */
#define IN(type, value, mode, expression)                                                          \
    __extension__({                                                                                \
        volatile type x = value(a), y = value(b), z = value(c), result_;                           \
        (void)y, (void)z;                                                                          \
        (void)fesetround(mode);                                                                    \
        result_ = (expression);                                                                    \
        (void)fesetround(FE_TONEAREST);                                                            \
        result_;                                                                                   \
    })
#define IN32(mode, expression) IN(float, f, mode, expression)
#define IN64(mode, expression) IN(double, g, mode, expression)
#define FLUSHED(mode, expression) F(flush(IN(float, f_flushed, mode, expression)))
#define CLIPPED(value) F(clip(value))
#define COMPARE(left, right, holds)                                                                \
    __extension__({                                                                                \
        const double x = (double)(left), y = (double)(right);                                      \
        const bool ordered = !isnan(x) && !isnan(y);                                               \
        (holds) ? 1u : 0u;                                                                         \
    })
#define LOW(bits) ((bits)&0xFFFF)
#define HIGH(bits) ((bits) >> 16)
#define TWICE(low, high) ((low) | (high) << 16)
/* .relu: what is negative becomes zero. */
#define POSITIVE(bits)                                                                             \
    __extension__({                                                                                \
        const uint64_t bits_ = (bits);                                                             \
        (bits_ & 0x8000) != 0 ? UINT64_C(0) : bits_;                                               \
    })

static float flush(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

static float f_flushed(uint64_t bits)
{
    return flush(f(bits));
}

static float clip(float value)
{
    return isnan(value) || value <= 0 ? 0 : value > 1 ? 1 : value;
}

static uint64_t flush_half(uint64_t bits)
{
    return (bits & 0x7C00) == 0 ? bits & 0x8000 : bits;
}

static uint64_t clip_half(uint64_t bits)
{
    const double value = h(bits);
    return isnan(value) || value <= 0 ? 0 : value > 1 ? 0x3C00 : bits;
}

/* 0: the first operand is it, 1: the second. A number beats a NaN, -0 is less than +0. */
static int lesser(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && !isnan(y) ? 1 : 0;
    if (x == y)
        return signbit(x) ? 0 : signbit(y) ? 1 : 0;
    return y < x ? 1 : 0;
}

static int greater(double x, double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) && !isnan(y) ? 1 : 0;
    if (x == y)
        return !signbit(x) ? 0 : !signbit(y) ? 1 : 0;
    return y > x ? 1 : 0;
}

static uint64_t xorsign(uint64_t a, uint64_t b, bool larger)
{
    const uint64_t top = UINT64_C(1) << 31;
    const float x = f(a & ~top), y = f(b & ~top);
    const int which = larger ? greater(x, y) : lesser(x, y);
    return (which == 0 ? F(x) : F(y)) | ((a ^ b) & top);
}

/* The product of two halves is exact in f64, the sum is not: what is lost must not make a tie. */
static long double exact_fma(double x, double y, double z)
{
    const double product = x * y;
    long double sum = (long double)product + z;
    if (isfinite(sum)) {
        const long double back = sum - product;
        const long double lost = ((long double)product - (sum - back)) + ((long double)z - back);
        if (lost != 0) /* round to odd: a sticky bit below all that count */
            sum = nextafterl(sum, lost > 0 ? (long double)INFINITY : -(long double)INFINITY);
    }
    return sum;
}

#define ROW(id, text, types, expression)                                                           \
    static uint64_t expect_##id(uint64_t a, uint64_t b, uint64_t c, uint64_t d)                    \
    {                                                                                              \
        (void)a, (void)b, (void)c, (void)d;                                                        \
        return (uint64_t)(expression);                                                             \
    }
#include "instructions/float.inc"
#undef ROW

static const struct instruction_row rows[] = {
#define ROW(id, text, types, expression) {text, types, expect_##id},
#include "instructions/float.inc"
#undef ROW
};

#define AT_ONCE 16 /* instructions a test: processes cost more than these */

START_TEST(instructions_compute_what_the_manual_says)
{
    for (size_t i = (size_t)_i * AT_ONCE; i < (size_t)(_i + 1) * AT_ONCE && i < COUNT_OF(rows); ++i)
        support_instruction(&rows[i]);
}
END_TEST

/* ---- Approximations ---------------------------------------------------------------------------
 */

/* PTX ISA, 9.7.3 and 9.7.4: the largest error of each, in units in the last place (of f32, or of
 * the 16-bit format), relative or absolute; `from` and `to`: the magnitudes of a for which it is
 * given.
 */
struct approximation {
    const char *text, *types;
    double (*exact)(double a, double b);
    double ulps, relative, absolute;
    double from, to;
    bool flush; /* of what goes in and comes out */
};

static double exact_divide(double a, double b)
{
    return a / b;
}

static double exact_reciprocal(double a, double b)
{
    (void)b;
    return 1 / a;
}

#define EXACT(name, expression)                                                                    \
    static double exact_##name(double a, double b)                                                 \
    {                                                                                              \
        (void)b;                                                                                   \
        return expression;                                                                         \
    }
EXACT(root, sqrt(a))
EXACT(reciprocal_root, 1 / sqrt(a))
EXACT(sine, sin(a))
EXACT(cosine, cos(a))
EXACT(power, exp2(a))
EXACT(logarithm, log2(a))
EXACT(tangent, tanh(a))
#undef EXACT

#define TURN 6.283185307179586
static const struct approximation approximations[] = {
    {"div.approx.f32", "f32 f32 f32", exact_divide, 2, 0, 0, 0, INFINITY, false},
    {"div.approx.ftz.f32", "f32 f32 f32", exact_divide, 2, 0, 0, 0, INFINITY, true},
    {"div.full.f32", "f32 f32 f32", exact_divide, 2, 0, 0, 0, INFINITY, false},
    {"rcp.approx.f32", "f32 f32", exact_reciprocal, 1, 0, 0, 0, INFINITY, false},
    {"rcp.approx.ftz.f32", "f32 f32", exact_reciprocal, 1, 0, 0, 0, INFINITY, true},
    {"sqrt.approx.f32", "f32 f32", exact_root, 0, 0x1p-23, 0, 0, INFINITY, false},
    {"sqrt.approx.ftz.f32", "f32 f32", exact_root, 0, 0x1p-23, 0, 0, INFINITY, true},
    {"rsqrt.approx.f32", "f32 f32", exact_reciprocal_root, 0, 0x1.2p-23, 0, 0, INFINITY, false},
    {"rsqrt.approx.ftz.f32", "f32 f32", exact_reciprocal_root, 0, 0x1.2p-23, 0, 0, INFINITY, true},
    {"sin.approx.f32", "f32 f32", exact_sine, 0, 0, 0x1.6p-21, 0, TURN, false},
    {"sin.approx.ftz.f32", "f32 f32", exact_sine, 0, 0, 0x1.6p-21, 0, TURN, true},
    {"cos.approx.f32", "f32 f32", exact_cosine, 0, 0, 0x1.6p-21, 0, TURN, false},
    {"cos.approx.ftz.f32", "f32 f32", exact_cosine, 0, 0, 0x1.6p-21, 0, TURN, true},
    {"ex2.approx.f32", "f32 f32", exact_power, 2, 0, 0, 0, INFINITY, false},
    {"ex2.approx.ftz.f32", "f32 f32", exact_power, 2, 0, 0, 0, INFINITY, true},
    {"lg2.approx.f32", "f32 f32", exact_logarithm, 0, 0x1p-22, 0, 2, INFINITY, false},
    {"lg2.approx.f32", "f32 f32", exact_logarithm, 0, 0, 0x1p-22, 0.5, 2, false},
    {"lg2.approx.ftz.f32", "f32 f32", exact_logarithm, 0, 0x1p-22, 0, 2, INFINITY, true},
    {"tanh.approx.f32", "f32 f32", exact_tangent, 0, 0x1p-11, 0, 0, INFINITY, false},
    {"ex2.approx.f16", "f16 f16", exact_power, 0, 0x1.1p-10, 0, 0, INFINITY, false},
    {"tanh.approx.f16", "f16 f16", exact_tangent, 0, 0, 0x1.02p-11, 0, INFINITY, false},
    {"ex2.approx.ftz.bf16", "bf16 bf16", exact_power, 0, 0x1p-7, 0, 0, INFINITY, true},
    {"tanh.approx.bf16", "bf16 bf16", exact_tangent, 0, 0, 0x1p-8, 0, INFINITY, false},
    {"ex2.approx.f16x2", "f16x2 f16x2", exact_power, 0, 0x1.1p-10, 0, 0, INFINITY, false},
    {"tanh.approx.f16x2", "f16x2 f16x2", exact_tangent, 0, 0, 0x1.02p-11, 0, INFINITY, false},
    {"ex2.approx.ftz.bf16x2", "bf16x2 bf16x2", exact_power, 0, 0x1p-7, 0, 0, INFINITY, true},
    {"tanh.approx.bf16x2", "bf16x2 bf16x2", exact_tangent, 0, 0, 0x1p-8, 0, INFINITY, false},
    {"rcp.approx.ftz.f64", "f64 f64", exact_reciprocal, 0, 0x1p-20, 0, 0, INFINITY, true},
    {"rsqrt.approx.ftz.f64", "f64 f64", exact_reciprocal_root, 0, 0x1p-20, 0, 0, INFINITY, true},
    {"rsqrt.approx.f64", "f64 f64", exact_reciprocal_root, 0, 0x1p-20, 0, 0, INFINITY, false},
};

static const struct approximation *judged; /* by accept() */

struct kind { /* of numbers, by the type that a text ends with */
    double (*value)(uint64_t bits);
    double least, most; /* normal numbers */
    unsigned fraction;
};

static double value_f32(uint64_t bits)
{
    return (double)f(bits & UINT32_MAX);
}

static double value_f64(uint64_t bits)
{
    return g(bits);
}

static double value_f16(uint64_t bits)
{
    return h(bits & 0xFFFF);
}

static double value_bf16(uint64_t bits)
{
    return k(bits & 0xFFFF);
}

static struct kind kind_of(const char *text)
{
    if (strstr(text, ".f64") != NULL)
        return (struct kind){value_f64, 0x1p-1022, 0x1.fffffffffffffp1023, 52};
    if (strstr(text, ".bf16") != NULL)
        return (struct kind){value_bf16, 0x1p-126, 0x1.fep127, 7};
    if (strstr(text, ".f16") != NULL)
        return (struct kind){value_f16, 0x1p-14, 65504, 10};
    return (struct kind){value_f32, 0x1p-126, 0x1.fffffep127, 23};
}

static bool is_close(const struct kind *kind, double got, double x, double y)
{
    const struct approximation *row = judged;
    if (row->flush) {
        x = fabs(x) < kind->least ? copysign(0, x) : x;
        y = fabs(y) < kind->least ? copysign(0, y) : y;
    }
    if (!isnan(x) && (fabs(x) < row->from || fabs(x) > row->to))
        return true; /* nothing is promised */
    if (row->exact == exact_divide && fabs(y) > 0x1p126 && strstr(row->text, "approx") != NULL)
        return true; /* zero, or a NaN for infinity */
    const double exact = row->exact(x, y);
    if (isnan(exact))
        return isnan(got);
    if (row->flush && fabs(exact) < kind->least * 1.01)
        return fabs(got) <= kind->least * 1.01;
    if (fabs(exact) > kind->most) /* rounded, it is the largest number or infinite */
        return got == exact || fabs(got) >= kind->most;
    const double unit = fabs(exact) < kind->least ? ldexp(kind->least, -(int)kind->fraction)
                                                  : ldexp(1, ilogb(exact) - (int)kind->fraction);
    const double allowed = fmax(fmax(row->ulps * unit, row->relative * fabs(exact)), row->absolute);
    /* A subnormal result is rounded, whatever the promise for others. */
    return fabs(got - exact) <= fmax(allowed, fabs(exact) < kind->least ? unit : 0);
}

static bool accept(const char *text, uint64_t got, uint64_t a, uint64_t b)
{
    const struct kind kind = kind_of(text);
    if (strstr(text, "16x2") != NULL)
        return is_close(&kind, kind.value(got & 0xFFFF), kind.value(a & 0xFFFF), 0) &&
               is_close(&kind, kind.value(got >> 16), kind.value(a >> 16), 0);
    return is_close(&kind, kind.value(got), kind.value(a), kind.value(b));
}

START_TEST(approximations_are_within_their_bounds)
{
    judged = &approximations[_i];
    const struct instruction_row row = {judged->text, judged->types, NULL};
    support_approximation(&row, accept);
}
END_TEST

Suite *suite_emulator_float(void);
Suite *suite_emulator_float(void)
{
    Suite *suite = suite_create("emulator_float");
    TCase *tcase = tcase_create("instructions");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, instructions_compute_what_the_manual_says, 0,
                        (COUNT_OF(rows) + AT_ONCE - 1) / AT_ONCE);
    tcase_add_loop_test(tcase, approximations_are_within_their_bounds, 0, COUNT_OF(approximations));
    suite_add_tcase(suite, tcase);
    return suite;
}

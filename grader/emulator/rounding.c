/* rounding.c - arithmetic in the rounding modes .rz, .rm and .rp, by the host's control word.
 *
 * Compiled with -frounding-math. The volatile operands keep the operation between the two switches
 * of the mode. The mode belongs to the thread and is always put back. */
#include "emulator/scalar.h"

#include <fenv.h>

static int switch_to(enum rounding mode)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    int before = fegetround();
    (void)fesetround(modes[mode]);
    return before;
}

#define IN_MODE(type, expression)                                                                  \
    int before = switch_to(mode);                                                                  \
    volatile type result = (expression);                                                           \
    (void)fesetround(before);                                                                      \
    return result

#define ROUNDING_FUNCTIONS(T, C, FMA, SQRT)                                                        \
    C rounding_add_##T(C a, C b, enum rounding mode)                                               \
    {                                                                                              \
        volatile C x = a, y = b;                                                                   \
        IN_MODE(C, x + y);                                                                         \
    }                                                                                              \
    C rounding_mul_##T(C a, C b, enum rounding mode)                                               \
    {                                                                                              \
        volatile C x = a, y = b;                                                                   \
        IN_MODE(C, x *y);                                                                          \
    }                                                                                              \
    C rounding_fma_##T(C a, C b, C c, enum rounding mode)                                          \
    {                                                                                              \
        volatile C x = a, y = b, z = c;                                                            \
        IN_MODE(C, FMA(x, y, z));                                                                  \
    }                                                                                              \
    C rounding_div_##T(C a, C b, enum rounding mode)                                               \
    {                                                                                              \
        volatile C x = a, y = b;                                                                   \
        IN_MODE(C, x / y);                                                                         \
    }                                                                                              \
    C rounding_sqrt_##T(C a, enum rounding mode)                                                   \
    {                                                                                              \
        volatile C x = a;                                                                          \
        IN_MODE(C, SQRT(x));                                                                       \
    }
ROUNDING_FUNCTIONS(f32, float, fmaf, sqrtf)
ROUNDING_FUNCTIONS(f64, double, fma, sqrt)

float rounding_narrow(double a, enum rounding mode)
{
    volatile double x = a;
    IN_MODE(float, (float)x);
}

float rounding_s64_to_f32(int64_t a, enum rounding mode)
{
    volatile int64_t x = a;
    IN_MODE(float, (float)x);
}

double rounding_s64_to_f64(int64_t a, enum rounding mode)
{
    volatile int64_t x = a;
    IN_MODE(double, (double)x);
}

/* No instruction converts the upper half of u64 before AVX-512; halving keeps the lost bit sticky,
 * so that the one rounding comes out the same. */
float rounding_u64_to_f32(uint64_t a, enum rounding mode)
{
    if (a <= INT64_MAX)
        return rounding_s64_to_f32((int64_t)a, mode);
    return 2.0f * rounding_s64_to_f32((int64_t)(a >> 1 | (a & 1)), mode);
}

double rounding_u64_to_f64(uint64_t a, enum rounding mode)
{
    if (a <= INT64_MAX)
        return rounding_s64_to_f64((int64_t)a, mode);
    return 2.0 * rounding_s64_to_f64((int64_t)(a >> 1 | (a & 1)), mode);
}

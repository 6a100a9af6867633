// The mathematical functions of libdevice that numbers.cu leaves out, three or four a kernel.
#include <cmath>
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define LIBM(name, type, a, b, c, d)                                                               \
    KERNEL name(const type *in, type *out, int n)                                                  \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i < n) {                                                                               \
            const type x = in[i], y = in[(i + 1) % n];                                             \
            (void)y;                                                                               \
            out[4 * i] = a;                                                                        \
            out[4 * i + 1] = b;                                                                    \
            out[4 * i + 2] = c;                                                                    \
            out[4 * i + 3] = d;                                                                    \
        }                                                                                          \
    }
LIBM(hyperbolic_f32, float, sinhf(x), coshf(x), tanhf(x * 0.1f), asinhf(x))
LIBM(areas_f32, float, acoshf(fabsf(x) + 1), atanhf(x * 0.25f), asinf(x * 0.25f), acosf(x * 0.25f))
LIBM(arcs_f32, float, atanf(x), atan2f(x, y), sinpif(x), cospif(x))
LIBM(exponentials_f32, float, exp2f(x), exp10f(x), expm1f(x), ldexpf(x, (int)(y * 10)))
LIBM(logarithms_f32, float, log2f(fabsf(x)), log10f(fabsf(x)), log1pf(fabsf(x)), logbf(x))
LIBM(errors_f32, float, erfcf(x), erfinvf(x * 0.25f), erfcinvf(fabsf(x) * 0.25f + 0.1f), erfcxf(x))
LIBM(normals_f32, float, normcdff(x), normcdfinvf(fabsf(x) * 0.2f + 0.01f), tgammaf(x), lgammaf(y))
LIBM(bessel_f32, float, j0f(x), j1f(x), y0f(fabsf(x)), cyl_bessel_i0f(x))
LIBM(roots_f32, float, cbrtf(x), rcbrtf(x), rhypotf(x, y), norm3df(x, y, 0.5f))
LIBM(remainders_f32, float, fmodf(x * 100, y), remainderf(x * 100, y), fdimf(x, y), nextafterf(x, y))
LIBM(roundings_f32, float, nearbyintf(x * 8), (float)lrintf(x * 8), (float)llroundf(x * 8), copysignf(x, y))
LIBM(hyperbolic_f64, double, sinh(x), cosh(x), tanh(x), asinh(x))
LIBM(areas_f64, double, acosh(fabs(x) + 1), atanh(x * 0.25), asin(x * 0.25), acos(x * 0.25))
LIBM(arcs_f64, double, atan(x), atan2(x, y), tan(x), sinpi(x))
LIBM(exponentials_f64, double, exp2(x), exp10(x), expm1(x), ldexp(x, (int)(y * 10)))
LIBM(logarithms_f64, double, log2(fabs(x)), log10(fabs(x)), log1p(fabs(x)), logb(x))
LIBM(errors_f64, double, erfc(x), erfinv(x * 0.25), erfcx(x), normcdf(x))
LIBM(roots_f64, double, cbrt(x), rcbrt(x), hypot(x, y), rsqrt(fabs(x)))
LIBM(remainders_f64, double, fmod(x * 100, y), remainder(x * 100, y), fdim(x, y), nextafter(x, y))
LIBM(roundings_f64, double, rint(x * 8), (double)llrint(x * 8), round(x * 8), copysign(x, y))
LIBM(gammas_f64, double, lgamma(x), tgamma(fabs(x)), cospi(x), trunc(x * 8))

KERNEL parts_f32(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int exponent = 0, quotient = 0;
    float whole = 0, s = 0, c = 0;
    out[6 * i] = frexpf(in[i], &exponent) + exponent;
    out[6 * i + 1] = modff(in[i] * 4, &whole) + whole * 2;
    sincosf(in[i] * 30, &s, &c);
    out[6 * i + 2] = s;
    out[6 * i + 3] = c;
    out[6 * i + 4] = remquof(in[i] * 50, in[(i + 1) % n], &quotient) + (quotient & 7);
    out[6 * i + 5] = (float)ilogbf(in[i]) + (isnan(in[i]) ? 1 : 0) + (signbit(in[i]) ? 2 : 0);
}

KERNEL parts_f64(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int exponent = 0;
    double whole = 0, s = 0, c = 0;
    out[4 * i] = frexp(in[i], &exponent) + exponent;
    out[4 * i + 1] = modf(in[i] * 4, &whole) + whole * 2;
    sincos(in[i] * 1e5, &s, &c); // far enough for the slow reduction
    out[4 * i + 2] = s;
    out[4 * i + 3] = c;
}

#define DIRECTED_F64(to, suffix)                                                                   \
    to[0] = __dadd_##suffix(a, b);                                                                 \
    to[1] = __dmul_##suffix(a, b);                                                                 \
    to[2] = __fma_##suffix(a, b, c);                                                               \
    to[3] = __ddiv_##suffix(a, b);                                                                 \
    to[4] = __dsqrt_##suffix(fabs(c));                                                             \
    to[5] = __drcp_##suffix(c);                                                                    \
    to[6] = __dsub_##suffix(a, c)

KERNEL directed_f64(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n], *to = out + 28 * i;
    DIRECTED_F64(to, rn);
    DIRECTED_F64((to + 7), rz);
    DIRECTED_F64((to + 14), ru);
    DIRECTED_F64((to + 21), rd);
}

#define DIRECTED_F32(to, suffix)                                                                   \
    to[0] = __fadd_##suffix(a, b);                                                                 \
    to[1] = __fmul_##suffix(a, b);                                                                 \
    to[2] = __fmaf_##suffix(a, b, c);                                                              \
    to[3] = __fdiv_##suffix(a, b);                                                                 \
    to[4] = __fsqrt_##suffix(fabsf(c));                                                            \
    to[5] = __frcp_##suffix(c);                                                                    \
    to[6] = __fsub_##suffix(a, c)

KERNEL directed_f32(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n], *to = out + 28 * i;
    DIRECTED_F32(to, rn);
    DIRECTED_F32((to + 7), rz);
    DIRECTED_F32((to + 14), ru);
    DIRECTED_F32((to + 21), rd);
}

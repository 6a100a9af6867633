// Arithmetic as the compiler emits it: libdevice, half precision, 64-bit division, bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define MATH_F32(name, expression)                                                                 \
    KERNEL name##_f32(const float *in, float *out, int n)                                          \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i < n) {                                                                               \
            const float x = in[i], y = in[(i + 1) % n];                                            \
            (void)y;                                                                               \
            out[i] = expression;                                                                   \
        }                                                                                          \
    }
#define MATH_F64(name, expression)                                                                 \
    KERNEL name##_f64(const double *in, double *out, int n)                                        \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i < n) {                                                                               \
            const double x = in[i], y = in[(i + 1) % n];                                           \
            (void)y;                                                                               \
            out[i] = expression;                                                                   \
        }                                                                                          \
    }
MATH_F32(sin, sinf(x * 1000.0f))
MATH_F32(cos, cosf(x))
MATH_F32(tan, tanf(x))
MATH_F32(exp, expf(x))
MATH_F32(log, logf(fabsf(x)))
MATH_F32(pow, powf(fabsf(x), y))
MATH_F32(erf, erff(x))
MATH_F32(atan2, atan2f(x, y))
MATH_F32(tanh, tanhf(x))
MATH_F32(cbrt, cbrtf(x))
MATH_F32(lgamma, lgammaf(x))
MATH_F32(fmod, fmodf(x, y))
MATH_F32(divide, x / y)
MATH_F32(root, sqrtf(fabsf(x)) + rsqrtf(fabsf(y)))
MATH_F32(hypot, hypotf(x, y))
MATH_F32(rounds, rintf(x) + floorf(y) * 2 + ceilf(x) * 3 + truncf(y) * 5 + roundf(x) * 7)
MATH_F64(sin, sin(x * 1000.0))
MATH_F64(cos, cos(x))
MATH_F64(exp, exp(x))
MATH_F64(log, log(fabs(x)))
MATH_F64(pow, pow(fabs(x), y))
MATH_F64(erf, erf(x))
MATH_F64(tgamma, tgamma(fabs(x)))
MATH_F64(divide, x / y)
MATH_F64(root, i % 2 == 0 ? sqrt(fabs(x)) : rsqrt(fabs(y)))
MATH_F64(fma, fma(x, y, x) - fmin(x, y) * fmax(x, -y))

KERNEL integers(const int *in, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int a = in[i], b = in[(i + 1) % n] | 1;
    unsigned ua = a, ub = b;
    long long sum = a / b + (long long)(a % b) * 3 + ua / ub + (ua % ub) * 5ull;
    sum += __mulhi(a, b) + __umulhi(ua, ub) + __mul24(a, b) + __umul24(ua, ub);
    sum += __sad(a, b, ua) + __usad(ua, ub, 3u) + __hadd(a, b) + __rhadd(a, b) + __uhadd(ua, ub);
    sum += abs(a) + min(a, b) * 2 + max(ua, ub) * 3ll;
    out[i] = sum;
}

KERNEL integers64(const long long *in, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long a = in[i], b = in[(i + 1) % n] | 1;
    unsigned long long ua = a, ub = b;
    long long sum = a / b + a % b + (long long)(ua / ub) + (long long)(ua % ub);
    sum += __mul64hi(a, b) + (long long)__umul64hi(ua, ub) + llabs(a) + min(a, b) + (long long)max(ua, ub);
    sum += a << (b & 63);
    sum ^= a >> (b & 63);
    sum ^= ua >> (b & 63);
    out[i] = sum;
}

KERNEL wide_products(const unsigned long long *in, unsigned long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned __int128 product = (unsigned __int128)in[i] * in[(i + 1) % n];
    product += in[(i + 2) % n];
    product -= (unsigned __int128)in[(i + 3) % n] << 17;
    out[2 * i] = (unsigned long long)product;
    out[2 * i + 1] = (unsigned long long)(product >> 64);
}

KERNEL bits(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n], r = 0;
    unsigned long long w = (unsigned long long)a << 32 | b;
    r ^= __popc(a) + __clz(b) * 3 + __ffs(c) * 5 + __brev(a) + __popcll(w) + __clzll(w) + __ffsll(w);
    r ^= __byte_perm(a, b, c) + __funnelshift_l(a, b, c) + __funnelshift_r(a, b, c);
    r ^= __funnelshift_lc(a, b, c) + __funnelshift_rc(a, b, c) + (unsigned)(__brevll(w) >> 13);
    r ^= __dp4a(a, b, c) + __dp4a((int)a, (int)b, (int)c) + __dp2a_lo(a, b, c) + __dp2a_hi((int)a, (int)b, (int)c);
    r ^= (a & b) | (~a & c);
    r ^= (a >> (b & 31) << 3) + ((a * 37) >> 11 & 0x1ff);
    out[i] = r;
}

KERNEL simd_bytes(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = in[i], b = in[(i + 1) % n], r = 0;
    r ^= __vadd4(a, b) + __vsub2(a, b) * 3 + __vabsdiffu4(a, b) + __vavgu4(a, b);
    r ^= __vcmpgtu4(a, b) + __vmaxs2(a, b) + __vmins4(a, b) + __vabs4(a) + __vneg2(b);
    r ^= __vaddss2(a, b) + __vsubus4(a, b) + __vsads4(a, b) + __vseteq2(a, b);
    out[i] = r;
}

KERNEL conversions(const float *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i] * 1e6f;
    double d = (double)in[i] * 1e12;
    int r = (int)x + __float2int_rn(x) * 3 + __float2int_ru(x) * 5 + (int)__float2uint_rd(x) * 7;
    r ^= (int)(long long)d + (int)__double2ll_ru(d) + (int)(unsigned long long)x;
    r ^= __double2int_rn(d * 1e-8) + __float_as_int(__double2float_rz(d)) + (short)x + (unsigned char)(int)x;
    r ^= __float_as_int(__int2float_rz(r)) + __float_as_int((float)(unsigned)r) + __double2hiint((double)r);
    r ^= __float_as_int(__ll2float_rd((long long)d)) ^ __double2loint(__ll2double_ru((long long)d * 12345));
    out[i] = r;
}

KERNEL directed(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
    out[8 * i] = __fadd_rz(a, b);
    out[8 * i + 1] = __fadd_ru(a, b) + __fadd_rd(a, b);
    out[8 * i + 2] = __fmul_rz(a, b);
    out[8 * i + 3] = __fmaf_ru(a, b, c);
    out[8 * i + 4] = __fdiv_rd(a, b);
    out[8 * i + 5] = __fsqrt_ru(fabsf(a));
    out[8 * i + 6] = __frcp_rz(b);
    out[8 * i + 7] = (float)__dadd_ru((double)a, (double)b * 1e-20);
}

KERNEL halves(const __half *in, __half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
    out[4 * i] = __hfma(a, b, c);
    out[4 * i + 1] = a * b - c;
    out[4 * i + 2] = __hlt(a, b) ? __hadd(a, c) : __hneg(b);
    out[4 * i + 3] = __float2half(__half2float(a) * 1.7f);
}

KERNEL halves2(const __half2 *in, __half2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half2 a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
    out[4 * i] = __hfma2(a, b, c);
    out[4 * i + 1] = __hadd2(__hmul2(a, b), __hsub2(a, c));
    out[4 * i + 2] = __hgt2(a, b);
    out[4 * i + 3] = __hmax2(__habs2(a), __hmin2(b, c));
}

KERNEL brains(const __nv_bfloat16 *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 a = in[i], b = in[(i + 1) % n];
    out[2 * i] = __bfloat162float(a) * __bfloat162float(b);
    out[2 * i + 1] = __bfloat162float(__float2bfloat16(__bfloat162float(a) * 1.3f));
}

KERNEL nbody(const float4 *bodies, float4 *out, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < blockDim.x; ++k) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float inverse = 1.0f / sqrtf(d2);
            float s = tile[k].w * inverse * inverse * inverse;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    if (i < n)
        out[i] = make_float4(ax, ay, az, 0);
}

__constant__ float coefficients[8] = {1.0f, -0.5f, 0.25f, -0.125f, 0.0625f, 3.0f, 7.0f, -11.0f};
__device__ const double scale_table[4] = {1.5, 2.5, -3.5, 4.5};
__device__ int counters[4];

KERNEL constants(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 8; ++k)
        sum = sum * in[i] + coefficients[(k + i) & 7];
    out[i] = sum * (float)scale_table[i & 3];
    atomicAdd(&counters[i & 3], 1);
}

struct Parameters {
    float scale[5];
    int offset;
    short small[3];
};

KERNEL by_value(Parameters p, const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * p.scale[i % 5] + p.offset + p.small[i % 3];
}

KERNEL atomics_all(int *i32, unsigned *u32, unsigned long long *u64, float *f32, double *f64)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i32[0], t);
    atomicSub(&i32[1], 3);
    atomicMin(&i32[2], -t);
    atomicMax(&i32[3], t);
    atomicInc(&u32[0], 99u);
    atomicDec(&u32[1], 77u);
    atomicAnd(&u32[2], ~(1u << (t & 15)));
    atomicOr(&u32[3], 1u << (t & 31));
    atomicXor(&u32[4], t);
    atomicMax(&u32[5], (unsigned)t * 7);
    atomicAdd(&u64[0], (unsigned long long)t << 20);
    atomicMax(&u64[1], (unsigned long long)t << 33);
    atomicAdd(&f32[0], 1.0f);
    atomicAdd(&f64[0], 0.5);
}

// Compiled with -use_fast_math: approximate functions, subnormal numbers flushed to zero.
#include <cmath>
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define FAST(name, expression)                                                                     \
    KERNEL fast_##name(const float *in, float *out, int n)                                         \
    {                                                                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        if (i < n) {                                                                               \
            const float x = in[i], y = in[(i + 1) % n];                                            \
            (void)x, (void)y;                                                                             \
            out[i] = expression;                                                                   \
        }                                                                                          \
    }
FAST(sin, sinf(x))
FAST(cos, cosf(x))
FAST(tan, tanf(x * 0.25f))
FAST(exp, expf(x))
FAST(exp10, exp10f(x))
FAST(log, logf(fabsf(x)))
FAST(log2, log2f(fabsf(x)))
FAST(log10, log10f(fabsf(x)))
FAST(pow, powf(0.5f + fabsf(x), y))
FAST(divide, x / y)
FAST(reciprocal, 1.0f / y)
FAST(root, sqrtf(fabsf(x)))
FAST(inverse_root, rsqrtf(fabsf(x)))
FAST(tanh, tanhf(x))
FAST(length, sqrtf(x * x + y * y))
FAST(sum, x * 1e-37f + y * 1e-38f)
FAST(product, x * y * 1e-38f)
FAST(saturate, __saturatef(x * 0.5f + y))
FAST(polynomial, ((x * 0.3f + 1.0f) * x - y) * x + 0.5f)
FAST(rounds, floorf(x) + ceilf(y) * 2 + rintf(x * y))
FAST(choose, fminf(x, y) * 1e-38f + fmaxf(x, y) * (x < y * 1e-38f ? 1.0f : 2.0f))

KERNEL fast_mandelbrot(int *out, int width, int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float cx = -2.0f + x * 0.0423f, cy = -1.5f + y * 0.0447f, zx = 0, zy = 0;
    int k = 0;
    while (k < limit && zx * zx + zy * zy < 4.0f) {
        float t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        ++k;
    }
    out[y * width + x] = k;
}

/* native.c - the twin of decayWide and decayWideIndexed: the kernels' own text, with the loop that
 * a GPU spreads over its threads written out. The Makefile compiles it with -O3, AVX2, FMA and
 * contraction, so that the compiler may do what it can; it makes `sum = kept + decay * sum` one
 * fused step, as nvcc does, and the benchmark holds the outputs equal to the emulator's. */
#include "native.h"

#define TAPS 64

static const float decay = 0.9375f;

void native_wide(const float *restrict input, float *restrict output, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; ++i) {
        float levels[TAPS];
        float level = 0.0f;
#pragma GCC unroll 64
        for (int tap = 0; tap < TAPS; ++tap) {
            level = input[i + tap] + decay * level;
            levels[tap] = level;
        }
        float sum = 0.0f;
#pragma GCC unroll 64
        for (int tap = TAPS - 1; tap >= 0; --tap)
            sum = levels[tap] + decay * sum;
        output[i] = sum;
    }
}

void native_indexed(const float *restrict input, float *restrict output, size_t begin, size_t end,
                    int shift)
{
    for (size_t i = begin; i < end; ++i) {
        float levels[TAPS];
        float level = 0.0f;
#pragma GCC unroll 64
        for (int tap = 0; tap < TAPS; ++tap) {
            level = input[i + tap] + decay * level;
            levels[tap] = level;
        }
        float sum = 0.0f;
#pragma GCC unroll 64
        for (int tap = TAPS - 1; tap >= 0; --tap)
            sum = levels[(tap + shift) & (TAPS - 1)] + decay * sum;
        output[i] = sum;
    }
}

/* ---- The twins of kernels.cu: one turn of the outer loops a CUDA thread ------------------------
 */

void native_product(const float *restrict a, const float *restrict b, float *restrict c, int n,
                    int begin, int end)
{
    for (int row = begin; row < end; ++row)
        for (int column = 0; column < n; ++column) {
            float sum = 0.0f;
            for (int k = 0; k < n; ++k)
                sum += a[row * n + k] * b[k * n + column];
            c[row * n + column] = sum;
        }
}

/* Each block's sum, its threads one after another. */
void native_reduce(const int *restrict in, int *restrict out, int n, int blocks, int threads,
                   int begin, int end)
{
    for (int block = begin; block < end; ++block) {
        int sum = 0;
        for (int thread = 0; thread < threads; ++thread)
            for (int i = block * threads + thread; i < n; i += blocks * threads)
                sum += in[i];
        out[block] = sum;
    }
}

void native_mandelbrot(int *restrict out, int side, int most, int begin, int end)
{
    for (int y = begin; y < end; ++y)
        for (int x = 0; x < side; ++x) {
            const float real = -2.0f + 3.0f * (float)x / (float)side;
            const float imaginary = -1.5f + 3.0f * (float)y / (float)side;
            float p = 0.0f, q = 0.0f;
            int turns = 0;
            while (turns < most && p * p + q * q <= 4.0f) {
                const float next = p * p - q * q + real;
                q = 2.0f * p * q + imaginary;
                p = next;
                ++turns;
            }
            out[y * side + x] = turns;
        }
}

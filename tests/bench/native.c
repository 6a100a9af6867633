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

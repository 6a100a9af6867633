/* native.h - the wide kernels of day17-registers as native code: what an emulator is measured by.
 */
#ifndef SPILLWAY_NATIVE_H
#define SPILLWAY_NATIVE_H

#include <stddef.h>

/* Elements [begin, end), one iteration a CUDA thread. `input` has 63 elements more. */
void native_wide(const float *restrict input, float *restrict output, size_t begin, size_t end);
void native_indexed(const float *restrict input, float *restrict output, size_t begin, size_t end,
                    int shift);

/* The kernels of kernels.cu: rows (or blocks) [begin, end). */
void native_product(const float *restrict a, const float *restrict b, float *restrict c, int n,
                    int begin, int end);
void native_reduce(const int *restrict in, int *restrict out, int n, int blocks, int threads,
                   int begin, int end);
void native_mandelbrot(int *restrict out, int side, int most, int begin, int end);

#endif

// Atomics of every operation and type, in global and in shared memory, with results. What threads
// share, they change in ways whose order cannot be told afterwards.
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define TYPES 6

// Each thread has places of its own, so the value before is known.
template <typename T> __device__ T each(T *place, T value, T other, int kind)
{
    switch (kind) {
    case 0: return atomicAdd(place, value);
    case 1: return atomicExch(place, value);
    case 2: return atomicMin(place, value);
    case 3: return atomicMax(place, value);
    case 4: return atomicAnd(place, value);
    case 5: return atomicOr(place, value);
    case 6: return atomicXor(place, value);
    default: return atomicCAS(place, other, value);
    }
}

template <typename T> __device__ void all_kinds(T *data, const T *in, T *before, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
#pragma unroll
    for (int kind = 0; kind < 8; ++kind)
        before[8 * i + kind] = each(&data[8 * i + kind], in[i], in[(i + kind) % n], kind);
}

KERNEL global_s32(int *data, const int *in, int *before, int n) { all_kinds(data, in, before, n); }
KERNEL global_u32(unsigned *data, const unsigned *in, unsigned *before, int n) { all_kinds(data, in, before, n); }
KERNEL global_s64(long long *data, const long long *in, long long *before, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    before[3 * i] = atomicMin(&data[3 * i], in[i]);
    before[3 * i + 1] = atomicMax(&data[3 * i + 1], in[i]);
    before[3 * i + 2] = atomicXor((unsigned long long *)&data[3 * i + 2], (unsigned long long)in[i]);
}
KERNEL global_u64(unsigned long long *data, const unsigned long long *in, unsigned long long *before, int n)
{
    all_kinds(data, in, before, n);
}

KERNEL global_wrap(unsigned *data, const unsigned *in, unsigned *before, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    before[2 * i] = atomicInc(&data[2 * i], in[i]);
    before[2 * i + 1] = atomicDec(&data[2 * i + 1], in[i]);
}

KERNEL global_f32(float *data, const float *in, float *before, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        before[2 * i] = atomicAdd(&data[2 * i], in[i]);
        before[2 * i + 1] = atomicExch(&data[2 * i + 1], in[i]);
    }
}

KERNEL global_f64(double *data, const double *in, double *before, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        before[i] = atomicAdd(&data[i], in[i]);
}

KERNEL global_u16(unsigned short *data, const unsigned short *in, unsigned short *before, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        before[i] = atomicCAS(&data[i], in[(i + i % 2) % n], (unsigned short)(in[i] + 1));
}

template <typename T> __device__ void all_shared(const T *in, T *out, T *before)
{
    __shared__ T box[8 * 64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    for (int k = t; k < 8 * 64; k += 64)
        box[k] = in[i] + k;
    __syncthreads();
#pragma unroll
    for (int kind = 0; kind < 8; ++kind)
        before[8 * i + kind] = each(&box[8 * ((t * 5) & 63) + kind], in[i], in[i] + kind, kind);
    __syncthreads();
    for (int k = 0; k < 8; ++k)
        out[8 * i + k] = box[8 * t + k];
}

KERNEL shared_s32(const int *in, int *out, int *before) { all_shared(in, out, before); }
KERNEL shared_u32(const unsigned *in, unsigned *out, unsigned *before) { all_shared(in, out, before); }
KERNEL shared_u64(const unsigned long long *in, unsigned long long *out, unsigned long long *before)
{
    all_shared(in, out, before);
}

KERNEL shared_floats(const float *in, float *out, double *wide)
{
    __shared__ float box[64];
    __shared__ double wide_box[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    box[t] = in[i];
    wide_box[t] = in[i];
    __syncthreads();
    float before = atomicAdd(&box[t ^ 3], in[i] * 0.3f);
    double wide_before = atomicAdd(&wide_box[63 - t], in[i] * 0.7);
    __syncthreads();
    out[2 * i] = before;
    out[2 * i + 1] = box[t];
    wide[2 * i] = wide_before;
    wide[2 * i + 1] = wide_box[t];
}

// Many meet at few places.
KERNEL crowded(const int *in, int *sums, unsigned *wrap, float *halves, int n)
{
    __shared__ int local[5];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 5)
        local[threadIdx.x] = 0;
    __syncthreads();
    int v = i < n ? in[i] : 0;
    atomicAdd(&local[(unsigned)v % 5], v & 0xff);
    atomicMax(&sums[5 + (v & 3)], v);
    atomicInc(&wrap[v & 1], 1000000u);
    atomicAdd(&halves[i % 3], 0.5f * (v & 3));
    __syncthreads();
    if (threadIdx.x < 5)
        atomicAdd(&sums[threadIdx.x], local[threadIdx.x]);
}

KERNEL blocks_and_system(int *data, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd_block(&data[i], in[i]);
    atomicMax_system(&data[i], in[(i + 1) % n]);
    atomicAnd_block(&data[i], ~in[(i + 2) % n]);
}

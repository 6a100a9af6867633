// Planted faults, one a kernel: what the emulator says of each is compared with compute-sanitizer.
// Each takes 64 ints (256 bytes) and n = 64, launched with 2 blocks of 64 threads.
#define FAULT extern "C" __global__ void

FAULT read_past_end(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += data[i + 1];
}

FAULT write_past_end(int *data, int n)
{
    if (threadIdx.x == 7 && blockIdx.x == 1)
        data[n] = 1;
}

FAULT read_before_begin(int *data, int n)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        data[0] = data[-1];
}

FAULT null_pointer(int *data, int n)
{
    int *p = n == 64 ? nullptr : data;
    if (threadIdx.x == 3)
        *p = 1;
}

FAULT misaligned(int *data, int n)
{
    if (threadIdx.x == 5 && blockIdx.x == 0)
        *(int *)((char *)data + 2) = n;
}

FAULT shared_past_end(int *data, int n)
{
    __shared__ int box[16];
    if (threadIdx.x < 16)
        box[threadIdx.x] = n;
    __syncthreads();
    if (threadIdx.x == 20)
        data[0] = box[n];
}

FAULT local_past_end(int *data, int n)
{
    int box[4];
    for (int k = 0; k < 4; ++k)
        box[(k + n) & 3] = k;
    if (threadIdx.x == 2)
        box[n * 1000] = 1;
    data[threadIdx.x & 3] = box[n & 3];
}

FAULT uninitialised_global(int *data, int n)
{
    int i = threadIdx.x;
    if (blockIdx.x == 0 && i < n / 2)
        data[i] = data[i + n / 2] + 1;
}

FAULT uninitialised_shared(int *data, int n)
{
    __shared__ int box[64];
    if (threadIdx.x < 60)
        box[threadIdx.x] = n;
    __syncthreads();
    data[threadIdx.x] = box[threadIdx.x];
}

FAULT uninitialised_local(int *data, int n)
{
    int box[8];
    for (int k = 0; k < 7; ++k)
        box[(k * n) & 7] = k;
    data[threadIdx.x] = box[(threadIdx.x + n) & 7];
}

FAULT race_write_write(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x / 2] = threadIdx.x;
    __syncthreads();
    data[threadIdx.x] = box[threadIdx.x / 2];
}

FAULT race_read_write(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n;
    data[threadIdx.x] = box[63 - threadIdx.x];
}

FAULT race_within_warp(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n + threadIdx.x;
    data[threadIdx.x] = box[threadIdx.x ^ 1];
}

FAULT race_global(int *data, int n)
{
    data[threadIdx.x] = blockIdx.x;
}

FAULT barrier_divergent(int *data, int n)
{
    if (threadIdx.x < 40) {
        data[threadIdx.x] = 1;
        __syncthreads();
    }
    data[threadIdx.x] = 2;
}

FAULT barrier_half_exits(int *data, int n)
{
    if (threadIdx.x >= 40)
        return;
    __syncthreads();
    data[threadIdx.x] = 2;
}

FAULT shuffle_wrong_mask(int *data, int n)
{
    if (threadIdx.x % 32 < 16)
        data[threadIdx.x] = __shfl_xor_sync(0xffff0000, (int)threadIdx.x, 1);
}

FAULT shuffle_divergent(int *data, int n)
{
    if (threadIdx.x % 32 < 16)
        data[threadIdx.x] = __shfl_xor_sync(0xffffffff, (int)threadIdx.x, 1);
}

FAULT double_free(int *data, int n)
{
    if (threadIdx.x == 0) {
        int *p = (int *)malloc(64);
        p[0] = n;
        data[0] = p[0];
        free(p);
        free(p);
    }
}

FAULT use_after_free(int *data, int n)
{
    if (threadIdx.x == 0) {
        volatile int *p = (volatile int *)malloc(64);
        p[3] = n;
        free((void *)p);
        data[0] = p[3];
    }
}

FAULT heap_past_end(int *data, int n)
{
    if (threadIdx.x == 0) {
        volatile int *p = (volatile int *)malloc(64);
        p[16] = n;
        free((void *)p);
    }
}

FAULT leak(int *data, int n)
{
    if (threadIdx.x == 0) {
        int *p = (int *)malloc(64);
        p[0] = n;
        data[0] = p[0];
    }
}

__device__ __noinline__ int deeper(int n, int *data)
{
    int box[64];
    for (int k = 0; k < 64; ++k)
        box[k] = n + k;
    data[0] = box[n & 63];
    return n == -1 ? 0 : deeper(n + 1, data) + box[(n * 7) & 63];
}

FAULT stack_overflow(int *data, int n)
{
    if (threadIdx.x == 0)
        data[1] = deeper(n, data);
}

FAULT trap_fault(int *data, int n)
{
    if (threadIdx.x == 9)
        __trap();
}

FAULT barrier_id_mismatch(int *data, int n)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    data[threadIdx.x] = n;
}

// Planted faults, one a kernel: what the emulator says of each is compared with compute-sanitizer.
// Each takes 64 ints (256 bytes) and n = 64, launched with 2 blocks of 64 threads.
#include <cassert>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

#define FAULT extern "C" __global__ void

FAULT nothing_wrong(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = blockIdx.x == 0 ? data[threadIdx.x] + n : n;
    __syncthreads();
    if (blockIdx.x == 0)
        data[threadIdx.x] = box[63 - threadIdx.x];
}

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

// ---- More places out of bounds ------------------------------------------------------------------

FAULT reduction_past_end(int *data, int n)
{
    if (threadIdx.x == 1)
        atomicAdd(&data[n + 1], 1);
}

FAULT atomic_past_end(int *data, int n)
{
    if (threadIdx.x == 1)
        data[0] = atomicExch(&data[n], 1);
}

FAULT vector_past_end(int *data, int n)
{
    int4 *four = (int4 *)data;
    if (threadIdx.x == 16 && blockIdx.x == 0)
        four[0] = four[n / 4];
}

FAULT vector_misaligned(int *data, int n)
{
    if (threadIdx.x == 4 && blockIdx.x == 0)
        *(int4 *)(data + 1) = make_int4(n, n, n, n);
}

FAULT byte_past_end(int *data, int n)
{
    const char *bytes = (const char *)data;
    if (threadIdx.x == 0 && blockIdx.x == 0)
        data[0] = bytes[n * 4];
}

FAULT wild_pointer(int *data, int n)
{
    int *p = (int *)((unsigned long long)n << 40);
    if (threadIdx.x == 11 && blockIdx.x == 0)
        *p = 1;
}

FAULT read_only_past_end(int *data, int n)
{
    if (threadIdx.x == 2 && blockIdx.x == 0)
        data[0] = __ldg(data + n + 3);
}

FAULT shared_misaligned(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n;
    __syncthreads();
    if (threadIdx.x == 6)
        data[0] = *(int *)((char *)box + n / 32 + 4);
}

FAULT shared_atomic_past_end(int *data, int n)
{
    __shared__ int box[16];
    if (threadIdx.x < 16)
        box[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&box[n * 16], 1);
    __syncthreads();
    data[threadIdx.x & 15] = box[threadIdx.x & 15];
}

FAULT shared_none_given(int *data, int n)
{
    extern __shared__ int given[]; // the launch gives no dynamic shared memory
    given[threadIdx.x * n] = n;
    __syncthreads();
    data[0] = given[0];
}

FAULT local_misaligned(int *data, int n)
{
    int box[8];
    for (int k = 0; k < 8; ++k)
        box[(k + n) & 7] = k;
    if (threadIdx.x == 3)
        *(int *)((char *)box + (n & 12) + 2) = n;
    data[threadIdx.x & 3] = box[n & 7];
}

__device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

FAULT variable_past_end(int *data, int n)
{
    if (threadIdx.x == 5 && blockIdx.x == 0)
        data[0] = table[n / 8];
}

__constant__ int fixed[8] = {1, 2, 3, 4, 5, 6, 7, 8};

FAULT constant_past_end(int *data, int n)
{
    if (threadIdx.x == 5 && blockIdx.x == 0)
        data[0] = fixed[n * 4096];
}

FAULT async_copy_past_end(int *data, int n)
{
    __shared__ int box[64];
    if (threadIdx.x == 0)
        __pipeline_memcpy_async(&box[0], &data[n], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    data[threadIdx.x] = box[0];
}

// ---- The heap of the device ---------------------------------------------------------------------

FAULT free_inside(int *data, int n)
{
    if (threadIdx.x == 0) {
        int *p = (int *)malloc(64);
        p[0] = n;
        data[0] = p[0];
        free(p + 4);
    }
}

FAULT free_of_a_buffer(int *data, int n)
{
    if (threadIdx.x == 0 && blockIdx.x == 0 && n > 0)
        free(data);
}

FAULT assertion(int *data, int n)
{
    assert(data[threadIdx.x] < n - 60 || threadIdx.x < 4);
    if (threadIdx.x == 4)
        assert(n < 64);
}

// ---- Memory that nobody wrote -------------------------------------------------------------------

FAULT uninitialised_heap(int *data, int n)
{
    if (threadIdx.x == 0) {
        int *p = (int *)malloc(64);
        p[0] = n;
        data[blockIdx.x] = p[n & 15] + p[n / 16];
        free(p);
    }
}

FAULT uninitialised_partly(int *data, int n)
{
    int i = threadIdx.x;
    if (blockIdx.x == 0) {
        *(volatile char *)&data[i] = n;
        data[i] = *(volatile int *)&data[i] + 1;
    }
}

FAULT uninitialised_vector(int *data, int n)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        volatile int *plain = data;
        plain[0] = plain[1] = plain[2] = n;
        int x, y, z, w;
        asm volatile("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "l"(data));
        data[8] = x + y + z + w;
    }
}

FAULT uninitialised_atomic(int *data, int n)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        data[1] = atomicAdd(&data[0], n);
}

FAULT uninitialised_register(int *data, int n)
{
    int sum;
    asm volatile("{ .reg .b32 unset; add.s32 %0, unset, %1; }" : "=r"(sum) : "r"(n));
    data[threadIdx.x] = sum;
}

// ---- Races in shared memory ---------------------------------------------------------------------

FAULT race_read_after_write(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n;
    __syncthreads();
    box[threadIdx.x] = threadIdx.x;
    data[threadIdx.x] = box[63 - threadIdx.x];
}

FAULT race_write_after_read(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n;
    __syncthreads();
    int v = box[63 - threadIdx.x];
    box[threadIdx.x] = v + threadIdx.x + 1;
    __syncthreads();
    data[threadIdx.x] = box[threadIdx.x];
}

FAULT race_reduction(int *data, int n)
{
    __shared__ int sums[64];
    sums[threadIdx.x] = data[threadIdx.x] + n;
    __syncthreads();
    for (int step = 32; step > 0; step /= 2)
        if (threadIdx.x < step)
            sums[threadIdx.x] += sums[threadIdx.x + step]; // a barrier is missing
    if (threadIdx.x == 0)
        data[blockIdx.x] = sums[0];
}

FAULT race_warp_volatile(int *data, int n)
{
    __shared__ volatile int sums[64];
    sums[threadIdx.x] = threadIdx.x + n;
    __syncthreads();
    if (threadIdx.x < 32) { // as written before threads of a warp went their own ways
        sums[threadIdx.x] += sums[threadIdx.x + 32];
        if (threadIdx.x < 16)
            sums[threadIdx.x] += sums[threadIdx.x + 16];
        if (threadIdx.x < 8)
            sums[threadIdx.x] += sums[threadIdx.x + 8];
    }
    if (threadIdx.x == 0)
        data[blockIdx.x] = sums[0];
}

FAULT race_atomic_and_read(int *data, int n)
{
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    atomicAdd(&total, threadIdx.x + n);
    data[threadIdx.x] = total;
}

FAULT race_bytes_and_word(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n;
    __syncthreads();
    ((volatile char *)box)[threadIdx.x] = threadIdx.x + 1;
    data[threadIdx.x] = box[(threadIdx.x / 4 + 8) % 16];
}

FAULT race_async_copy(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n;
    __syncthreads();
    __pipeline_memcpy_async(&box[threadIdx.x], &data[threadIdx.x], 4);
    __pipeline_commit();
    data[threadIdx.x] = box[threadIdx.x]; // before the copy is waited for
    __pipeline_wait_prior(0);
}

FAULT race_async_copy_no_barrier(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n;
    __syncthreads();
    __pipeline_memcpy_async(&box[threadIdx.x], &data[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    data[threadIdx.x] = box[63 - threadIdx.x]; // copied by another thread
}

FAULT race_named_barrier(int *data, int n)
{
    __shared__ int box[64];
    box[threadIdx.x] = n + threadIdx.x;
    asm volatile("bar.sync %0, 32;" ::"r"(1 + (int)threadIdx.x / 32) : "memory"); // each warp alone
    data[threadIdx.x] = box[63 - threadIdx.x];
}

FAULT race_arrive_only(int *data, int n)
{
    __shared__ int box[64];
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory"); // before the writing, not after it
        box[threadIdx.x] = n + threadIdx.x;
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        data[threadIdx.x] = box[threadIdx.x - 32];
    }
}

FAULT race_before_wait(int *data, int n)
{
    __shared__ __mbarrier_t gate;
    __shared__ int box[64];
    if (threadIdx.x == 0)
        __mbarrier_init(&gate, 64);
    __syncthreads();
    box[threadIdx.x] = n + threadIdx.x;
    __mbarrier_token_t token = __mbarrier_arrive(&gate);
    data[threadIdx.x] = box[63 - threadIdx.x]; // before the others are waited for
    while (!__mbarrier_test_wait(&gate, token))
        ;
}

// ---- Barriers and masks -------------------------------------------------------------------------

FAULT barrier_two_places(int *data, int n)
{
    if (threadIdx.x % 32 < 16) {
        data[threadIdx.x] = n;
        asm volatile("bar.sync 0;" ::: "memory");
    } else {
        data[threadIdx.x] = n + 1;
        asm volatile("bar.sync 0;" ::: "memory");
        data[threadIdx.x] = n + 2;
    }
}

FAULT barrier_in_loop(int *data, int n)
{
    for (int k = 0; k < (threadIdx.x < 32 ? 2 : 3); ++k) {
        data[threadIdx.x] = k * n;
        __syncthreads();
    }
}

FAULT barrier_bad_count(int *data, int n)
{
    asm volatile("bar.sync 1, %0;" ::"r"(n - 31) : "memory");
    data[threadIdx.x] = n;
}

FAULT barrier_bad_number(int *data, int n)
{
    asm volatile("bar.sync %0;" ::"r"(n) : "memory");
    data[threadIdx.x] = n;
}

FAULT syncwarp_wrong_mask(int *data, int n)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(0xffff0000u + (n - 64));
    data[threadIdx.x] = n;
}

FAULT syncwarp_divergent(int *data, int n)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(0xffffffffu);
    data[threadIdx.x] = n;
}

FAULT syncwarp_after_exit(int *data, int n)
{
    if (threadIdx.x % 32 >= 16)
        return;
    __syncwarp(0xffffffffu);
    data[threadIdx.x] = n;
}

FAULT vote_wrong_mask(int *data, int n)
{
    data[threadIdx.x] = __ballot_sync(0xffu + (n - 64), (int)threadIdx.x < n);
}

FAULT vote_divergent(int *data, int n)
{
    if (threadIdx.x % 32 < 16)
        data[threadIdx.x] = __any_sync(0xffffffffu, (int)threadIdx.x < n - 50);
}

FAULT reduce_wrong_mask(int *data, int n)
{
    data[threadIdx.x] = __reduce_add_sync(0xffu + (n - 64), n);
}

FAULT shuffle_from_outside(int *data, int n)
{
    if (threadIdx.x % 32 < 16)
        data[threadIdx.x] = __shfl_sync(0x0000ffffu, (int)threadIdx.x, n / 3);
}

FAULT mbarrier_not_initialised(int *data, int n)
{
    __shared__ __mbarrier_t gate;
    data[threadIdx.x] = n;
    __mbarrier_token_t token = __mbarrier_arrive(&gate);
    if (threadIdx.x == 0)
        data[0] = __mbarrier_test_wait(&gate, token);
}

FAULT mbarrier_overwritten(int *data, int n)
{
    __shared__ __mbarrier_t gate;
    if (threadIdx.x == 0) {
        __mbarrier_init(&gate, 64);
        *(volatile long long *)&gate = n;
    }
    __syncthreads();
    data[threadIdx.x] = (int)__mbarrier_arrive(&gate) & 0;
}

FAULT mbarrier_initialised_twice(int *data, int n)
{
    __shared__ __mbarrier_t gate;
    if (threadIdx.x == 0) {
        __mbarrier_init(&gate, 64);
        __mbarrier_init(&gate, n);
    }
    __syncthreads();
    data[threadIdx.x] = (int)__mbarrier_arrive(&gate) & 0;
}

FAULT mbarrier_used_after_end(int *data, int n)
{
    __shared__ __mbarrier_t gate;
    if (threadIdx.x == 0) {
        __mbarrier_init(&gate, 64);
        __mbarrier_inval(&gate);
    }
    __syncthreads();
    data[threadIdx.x] = (int)__mbarrier_arrive(&gate) & 0;
}

FAULT mbarrier_bad_count(int *data, int n)
{
    __shared__ __mbarrier_t gate;
    if (threadIdx.x == 0)
        __mbarrier_init(&gate, n - 64);
    __syncthreads();
    data[threadIdx.x] = n;
}

FAULT mbarrier_initialised_in_use(int *data, int n)
{
    __shared__ __mbarrier_t gate;
    if (threadIdx.x == 0)
        __mbarrier_init(&gate, 64);
    __syncthreads();
    if (threadIdx.x < 32)
        data[threadIdx.x] = (int)__mbarrier_arrive(&gate) & 0;
    __syncthreads();
    if (threadIdx.x == 0)
        __mbarrier_init(&gate, n); // 32 have arrived, and are forgotten
    __syncthreads();
    if (threadIdx.x >= 32)
        data[threadIdx.x] = (int)__mbarrier_arrive(&gate) & 0;
}

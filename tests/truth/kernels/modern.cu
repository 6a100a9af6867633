// What sm_80 and later add: copies past the registers, reductions in one instruction, bf16
// arithmetic, atomics on halves; and cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cstdint>

namespace cg = cooperative_groups;

#define KERNEL extern "C" __global__ void

// Two tiles in turn: one is copied while the other is used.
KERNEL async_tiles(const float *in, float *out, int n)
{
    __shared__ float tile[2][128];
    int tiles = n / 128, t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][t], &in[t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&tile[(k + 1) & 1][t], &in[(k + 1) * 128 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += tile[k & 1][(t * 7 + k) & 127];
        __syncthreads();
    }
    out[t] = sum;
}

KERNEL async_wide(const float4 *in, float4 *out, int n)
{
    __shared__ float4 box[96];
    int i = blockIdx.x * 96 + threadIdx.x;
    if (i < n)
        __pipeline_memcpy_async(&box[threadIdx.x], &in[i], 16);
    else
        box[threadIdx.x] = make_float4(1, 2, 3, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (i < n)
        out[i] = box[95 - threadIdx.x];
}

// The rest of a copy is filled with zeros.
KERNEL async_zero_fill(const float2 *in, float2 *out, int n)
{
    __shared__ float2 box[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    __pipeline_memcpy_async(&box[threadIdx.x], &in[min(i, n - 1)], 8, i < n ? threadIdx.x % 3 * 4 % 8 : 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = box[threadIdx.x ^ 1];
}

KERNEL redux_all(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : i;
    int r = __reduce_add_sync(0xffffffff, v) ^ __reduce_min_sync(0xffffffff, v) * 3;
    r += __reduce_max_sync(0xffffffff, v) + (int)__reduce_min_sync(0xffffffff, (unsigned)v);
    r ^= (int)__reduce_max_sync(0xffffffff, (unsigned)v) + (int)__reduce_xor_sync(0xffffffff, (unsigned)v);
    r += (int)__reduce_and_sync(0xffffffff, (unsigned)v | 0xff) + (int)__reduce_or_sync(0xffffffff, (unsigned)v & 0xffff);
    if (i % 3 == 0)
        r += __reduce_add_sync(__activemask(), v & 0xff);
    if (i < n)
        out[i] = r;
}

KERNEL brains_native(const __nv_bfloat16 *in, __nv_bfloat16 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
    out[6 * i] = __hfma(a, b, c);
    out[6 * i + 1] = a * b - c;
    out[6 * i + 2] = __hmin(a, b) + __hmax(b, c);
    out[6 * i + 3] = __hlt(a, b) ? __hneg(a) : __habs(c);
    out[6 * i + 4] = __float2bfloat16_rn(__bfloat162float(a) * 1.7f);
    out[6 * i + 5] = __double2bfloat16(__bfloat162float(b) * 0.3);
}

KERNEL brains2_native(const __nv_bfloat162 *in, __nv_bfloat162 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat162 a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
    out[5 * i] = __hfma2(a, b, c);
    out[5 * i + 1] = __hadd2(__hmul2(a, b), __hsub2(a, c));
    out[5 * i + 2] = __hgt2(a, b);
    out[5 * i + 3] = __hmax2(__habs2(a), __hmin2(b, c));
    out[5 * i + 4] = __floats2bfloat162_rn(__low2float(a) * 3.0f, __high2float(b));
}

KERNEL half_conversions(const float *in, unsigned short *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i];
    __half h = __float2half_rn(x);
    out[8 * i] = __half_as_ushort(h);
    out[8 * i + 1] = __half_as_ushort(__float2half_rz(x));
    out[8 * i + 2] = __half_as_ushort(__float2half_ru(x));
    out[8 * i + 3] = (unsigned short)__half2short_rz(h);
    out[8 * i + 4] = (unsigned short)__half2int_rn(h);
    out[8 * i + 5] = __half_as_ushort(__double2half((double)x * 0.1));
    out[8 * i + 6] = __half_as_ushort(__int2half_rz((int)x * 77));
    out[8 * i + 7] = __half_as_ushort(hrint(h) + hfloor(h) + htrunc(h));
}

// Sums that are exact in any order.
KERNEL half_atomics(const unsigned *in, __half2 *sums, __half *most, __nv_bfloat162 *brains, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = in[i];
    atomicAdd(&sums[i % 37], __floats2half2_rn((float)(v & 7), (float)(v >> 4 & 3) * 0.5f));
    atomicAdd(&most[i % 53], __float2half((float)(v >> 9 & 3)));
    atomicAdd(&brains[i % 41], __floats2bfloat162_rn((float)(v & 1), (float)(v >> 5 & 1)));
}

KERNEL groups_tiles(const int *in, int *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int i = block.group_index().x * block.size() + block.thread_rank();
    int v = i < n ? in[i] : 0;
    int sum = cg::reduce(tile, v, cg::plus<int>()), most = cg::reduce(tile, v, cg::greater<int>());
    int next = tile.shfl(v, (tile.thread_rank() + 3) % 8);
    block.sync();
    if (i < n)
        out[i] = sum * 3 + most + next - tile.meta_group_rank() + (tile.any(v == 7) ? 1 : 0);
}

KERNEL groups_coalesced(const int *in, int *out, unsigned *kept, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    int result = -1;
    if (v % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        result = active.thread_rank() * 100 + active.size();
        result += active.shfl(v & 0xff, 0);
        if (active.thread_rank() == 0)
            atomicAdd(kept, active.size());
    }
    if (i < n)
        out[i] = result;
}

KERNEL groups_labelled(const int *in, int *out, int n)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    auto same = cg::labeled_partition(warp, v & 3);
    int result = same.size() * 1000 + same.thread_rank();
    result += cg::reduce(same, v & 0xff, cg::plus<int>());
    if (i < n)
        out[i] = result;
}

KERNEL barrier_counts(const int *in, int *out)
{
    // 160 threads: warps 0-1 meet at barrier 1, 2-4 at barrier 2; then all count and vote.
    __shared__ int box[160];
    int t = threadIdx.x, i = blockIdx.x * 160 + t;
    box[t] = in[i];
    int seen;
    if (t < 64) {
        asm volatile("barrier.sync 1, 64;" ::: "memory");
        seen = box[63 - t];
    } else {
        asm volatile("barrier.sync 2, 96;" ::: "memory");
        seen = box[223 - t];
    }
    int odd = __syncthreads_count(seen & 1), all = __syncthreads_and(seen != 5);
    int some;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 0; barrier.red.or.pred q, 3, 160, p;"
                 " selp.s32 %0, 1, 0, q; }" : "=r"(some) : "r"(seen) : "memory");
    out[i] = seen ^ odd * 3 + all + some * 2;
}

KERNEL ticket_order(unsigned *next, unsigned *order, unsigned *sum)
{
    // Blocks take turns through memory; the sum does not depend on the order.
    __shared__ unsigned mine;
    if (threadIdx.x == 0) {
        mine = atomicAdd(next, 1u);
        __threadfence();
        atomicExch(&order[mine], 1u);
    }
    __syncthreads();
    atomicAdd(sum, mine * 3 + threadIdx.x);
    __nanosleep(20);
}

KERNEL match_groups(const int *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] & 7 : 9;
    unsigned same = __match_any_sync(0xffffffff, v);
    unsigned long long wide = (unsigned long long)v << 40 | 5;
    unsigned again = __match_any_sync(0xffffffff, wide);
    int all;
    unsigned everyone = __match_all_sync(0xffffffff, wide >> 50, &all);
    int leader = __ffs(same) - 1;
    int sum = __shfl_sync(same, i, leader);
    if (i < n)
        out[i] = same ^ again * 5 ^ everyone + all + sum;
}

KERNEL print_lines(const float *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int got = 0;
    if (i % 11 == 0)
        got = printf("thread %d of block %u: %.3f, %5d|%-6x|%c %s %lld %%\n", threadIdx.x, blockIdx.x,
                     in[i], i * 37, i * 255, 'a' + i % 26, i % 2 ? "odd" : "even", (long long)i << 33);
    if (i == 5)
        got = printf("no argument\n");
    out[i] = got;
}

KERNEL heap_lists(int *out, int n)
{
    struct Cell {
        int value;
        Cell *next;
    };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Cell *head = nullptr;
    for (int k = 0; k < i % 7; ++k) {
        Cell *cell = (Cell *)malloc(sizeof(Cell));
        cell->value = k * i;
        cell->next = head;
        head = cell;
    }
    int sum = 0;
    while (head != nullptr) {
        Cell *next = head->next;
        sum = sum * 3 + head->value;
        free(head);
        head = next;
    }
    int *array = new int[4 + i % 3];
    for (int k = 0; k < 4; ++k)
        array[k] = k + sum;
    out[i] = array[i & 3];
    delete[] array;
}

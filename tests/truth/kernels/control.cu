// Control flow: divergence, loops, recursion, calls through pointers, warps that disagree.
#include <cstdint>

#define KERNEL extern "C" __global__ void

KERNEL mandelbrot(int *out, int width, int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float cx = -2.0f + 3.0f * x / width, cy = -1.5f + 3.0f * y / height;
    float zx = 0, zy = 0;
    int k = 0;
    while (k < limit && zx * zx + zy * zy < 4.0f) {
        float t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        ++k;
    }
    out[y * width + x] = k;
}

KERNEL collatz(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = in[i] % 10000 + 1, steps = 0;
    while (value != 1) {
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        ++steps;
    }
    out[i] = steps;
}

KERNEL gcd_loop(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = in[i] | 1, b = in[(i * 7 + 3) % n] | 1;
    while (b != 0) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    out[i] = a;
}

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KERNEL recursion(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = fibonacci((in[i] & 0x7fffffff) % 11);
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

KERNEL recursion_deep(unsigned *out)
{
    out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 4);
}

__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float half_of(float x) { return x / 2; }
__device__ __noinline__ float minus_one(float x) { return x - 1; }
typedef float (*function)(float);
__device__ function table[3] = {square, half_of, minus_one};

KERNEL pointers(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[i % 3](in[i]) + table[(i / 32) % 3](in[i]);
}

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
    float radius;
    __device__ Disc(float r) : radius(r) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};

KERNEL virtuals(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Square square(in[i]);
    Disc disc(in[i]);
    const Shape *shape = i % 3 == 0 ? (const Shape *)&square : (const Shape *)&disc;
    out[i] = shape->area();
}

KERNEL switches(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = in[i];
    switch (v & 15) {
    case 0: v = v * 3; break;
    case 1: v = v + 77; break;
    case 2: v = v ^ 0x1234; break;
    case 3: v = v >> 3; break;
    case 4: v = -v; break;
    case 5: v = v / 7; break;
    case 6: v = v % 13; /* fall through */
    case 7: v = v - 5; break;
    case 8: v = __popc(v); break;
    case 9: v = __clz(v); break;
    case 10: v = __brev(v); break;
    case 11: v = v * v; break;
    default: v = 42; break;
    }
    out[i] = v;
}

KERNEL early_exit(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = in[i];
    if (v % 3 == 0) {
        out[i] = -1;
        return;
    }
    for (int k = 0; k < 20; ++k) {
        v = v * 1103515245 + 12345;
        if ((v & 31) == 7)
            break;
        if ((v & 63) == 9)
            continue;
        v += k;
    }
    out[i] = v;
}

KERNEL nested_loops(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sum = 0;
    for (int a = 0; a < (in[i] & 7); ++a) {
        for (int b = a; b < (i & 15); ++b) {
            if ((a + b + i) % 5 == 0)
                continue;
            sum += a * b;
            if (sum > 200)
                goto done;
        }
        sum += 3;
    }
done:
    out[i] = sum;
}

KERNEL spin_lock(int *lock, int *counter, int rounds)
{
    for (int r = 0; r < rounds; ++r) {
        bool done = false;
        while (!done)
            if (atomicCAS(lock, 0, 1) == 0) {
                *(volatile int *)counter += 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
    }
}

KERNEL ballots(const int *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    unsigned ballot = __ballot_sync(0xffffffff, v & 1);
    unsigned any = __any_sync(0xffffffff, (v & 63) == 0), all = __all_sync(0xffffffff, v != 5);
    unsigned same = __match_any_sync(0xffffffff, v & 3);
    int predicate;
    unsigned everyone = __match_all_sync(0xffffffff, v >> 31, &predicate);
    if (i < n)
        out[i] = ballot ^ same * 3 + any + 2 * all + everyone + predicate * 5;
}

KERNEL ballots_divergent(const int *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned present = __ballot_sync(0xffffffff, i < n);
    if (i >= n)
        return;
    unsigned lane = threadIdx.x & 31, result;
    if (lane % 2 == 0) {
        result = __ballot_sync(0x55555555 & present, in[i] > 0);
        result += __shfl_sync(0x55555555 & present, lane, lane & ~2);
    } else {
        result = __ballot_sync(0xaaaaaaaa & present, in[i] < 0);
    }
    __syncwarp(present);
    result ^= __shfl_sync(present, result, 1);
    out[i] = result;
}

KERNEL sync_variants(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    int count = __syncthreads_count(v & 1);
    int all = __syncthreads_and(v != 0x7fffffff), any = __syncthreads_or((v & 1023) == 1);
    if (i < n)
        out[i] = count * 4 + (all ? 2 : 0) + (any ? 1 : 0);
}

KERNEL named_barriers(const int *in, int *out)
{
    __shared__ int box[64];
    int t = threadIdx.x; // 128 threads: two warps produce, two consume
    if (t < 64) {
        box[t] = in[t] * 2;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        asm volatile("bar.sync 2, 128;" ::: "memory");
        out[t] = box[t];
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        int v = box[t - 64] + 1;
        asm volatile("bar.sync 3, 64;" ::: "memory");
        box[127 - t] = v;
        asm volatile("bar.sync 2, 128;" ::: "memory");
        out[t] = -v;
    }
}

KERNEL hash_insert(const unsigned *keys, unsigned *slots, unsigned *found, unsigned mask, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i] | 1;
    for (unsigned h = key * 2654435761u;; ++h) {
        unsigned before = atomicCAS(&slots[h & mask], 0u, key);
        if (before == key)
            return;
        if (before == 0) { // where a key ends up depends on who came first; that it is there does not
            atomicAdd(&found[0], 1u);
            atomicXor(&found[1], key * 40503u);
            return;
        }
    }
}

KERNEL last_block(const int *in, int *partial, unsigned *ticket, int *out, int n)
{
    __shared__ int sums[128];
    __shared__ bool last;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b)
            total += ((volatile int *)partial)[b];
        out[0] = total;
    }
}

KERNEL local_stack(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int stack[40], top = 0, sum = 0;
    stack[top++] = (in[i] & 0xff) + 8;
    while (top > 0) {
        int v = stack[--top];
        sum += v;
        if (v > 5 && top < 38) {
            stack[top++] = v / 2;
            stack[top++] = v / 3;
        }
    }
    out[i] = sum;
}

KERNEL local_bytes(const unsigned char *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned char word[37];
    short pair[9];
    double wide[5];
    for (int k = 0; k < 37; ++k)
        word[k] = in[(i + k) % n];
    for (int k = 0; k < 9; ++k)
        pair[k] = word[(k * in[i]) % 37] * 3;
    for (int k = 0; k < 5; ++k)
        wide[k] = pair[(k + in[i]) % 9];
    out[i] = word[in[i] % 37] ^ (unsigned char)pair[in[i] % 9] ^ (unsigned char)(int)wide[in[i] % 5];
}

// Some leave for good from within a loop, the others come together behind it.
KERNEL return_in_loop(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = in[i], k = 0;
    for (; k < (v & 31) + 8; ++k) {
        v = v * 1664525 + 1013904223;
        if ((v >> 16 & 127) == 5) {
            out[i] = -v;
            return;
        }
        if ((v >> 20 & 15) == 3)
            break;
    }
    out[i] = v + in[(i + k) % n];
}

KERNEL leave_two_loops(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int found = -1;
    for (int a = 0; a < 12 && found < 0; ++a) {
        for (int b = 0; b < (in[(i + a) % n] & 7); ++b)
            if (((in[(i * 3 + b) % n] ^ a) & 63) == 17) {
                found = a * 100 + b;
                break;
            }
        out[i] = a;
    }
    out[i] = found * 2 + out[i];
}

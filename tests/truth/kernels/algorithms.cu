// Whole algorithms, small: sorting, scanning, searching, graphs, grids, hashing, numbers.
// Whatever the order in which blocks run, each leaves the same bits behind.
#include <cstdint>

#define KERNEL extern "C" __global__ void

__device__ unsigned mix(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

// Blelloch's scan: up a tree and down again; indices padded against bank conflicts.
KERNEL scan_blelloch(const int *in, int *out, int n)
{
    __shared__ int tree[512 + 16];
#define PAD(i) ((i) + ((i) >> 5))
    int base = blockIdx.x * 512, t = threadIdx.x;
    tree[PAD(t)] = base + t < n ? in[base + t] : 0;
    tree[PAD(t + 256)] = base + t + 256 < n ? in[base + t + 256] : 0;
    int offset = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            tree[PAD(offset * (2 * t + 2) - 1)] += tree[PAD(offset * (2 * t + 1) - 1)];
        offset *= 2;
    }
    if (t == 0)
        tree[PAD(511)] = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = PAD(offset * (2 * t + 1) - 1), b = PAD(offset * (2 * t + 2) - 1);
            int keep = tree[a];
            tree[a] = tree[b];
            tree[b] += keep;
        }
    }
    __syncthreads();
    if (base + t < n)
        out[base + t] = tree[PAD(t)];
    if (base + t + 256 < n)
        out[base + t + 256] = tree[PAD(t + 256)];
}

// Sums of blocks of any size, by warps, then by the first warp.
template <typename T, typename F> __device__ T reduce_block(T value, F combine, T neutral)
{
    __shared__ T part[32];
    for (int offset = 16; offset > 0; offset /= 2)
        value = combine(value, __shfl_down_sync(0xffffffff, value, offset));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x % 32] : neutral;
    for (int offset = 16; offset > 0; offset /= 2)
        value = combine(value, __shfl_down_sync(0xffffffff, value, offset));
    return value;
}

KERNEL reduce_max_f32(const float *in, float *out, int n)
{
    float best = -__int_as_float(0x7f800000);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        best = fmaxf(best, in[i]);
    best = reduce_block(best, [](float a, float b) { return fmaxf(a, b); }, -3e38f);
    if (threadIdx.x == 0)
        out[blockIdx.x] = best;
}

KERNEL reduce_min_s64(const long long *in, long long *out, int n)
{
    long long best = 0x7fffffffffffffffll;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        best = min(best, in[i]);
    best = reduce_block(best, [](long long a, long long b) { return min(a, b); }, best);
    if (threadIdx.x == 0)
        out[blockIdx.x] = best;
}

KERNEL dot_f32(const float *a, const float *b, float *out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    sum = reduce_block(sum, [](float x, float y) { return x + y; }, 0.0f);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

// Where is the largest? Ties go to the first.
KERNEL argmax(const int *in, int *out, int n)
{
    unsigned long long best = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned long long key =
            (unsigned long long)((unsigned)in[i] ^ 0x80000000u) << 32 | (unsigned)~i;
        best = max(best, key);
    }
    best = reduce_block(best, [](unsigned long long a, unsigned long long b) { return max(a, b); }, 0ull);
    if (threadIdx.x == 0)
        out[blockIdx.x] = (int)~(unsigned)best;
}

KERNEL mean_variance(const float *in, double *out, int n)
{
    double count = 0, mean = 0, squares = 0; // Welford's way
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        count += 1;
        double delta = in[i] - mean;
        mean += delta / count;
        squares += delta * (in[i] - mean);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        double c = __shfl_down_sync(0xffffffff, count, offset);
        double m = __shfl_down_sync(0xffffffff, mean, offset);
        double s = __shfl_down_sync(0xffffffff, squares, offset);
        double delta = m - mean, total = count + c;
        if (total > 0) {
            mean += delta * c / total;
            squares += s + delta * delta * count * c / total;
        }
        count = total;
    }
    if (threadIdx.x % 32 == 0) {
        int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
        out[2 * w] = mean;
        out[2 * w + 1] = squares;
    }
}

// Keep what is odd, in order: ballots count within the warp, shared memory across warps.
KERNEL compact(const int *in, int *out, int *counts, int n)
{
    __shared__ int begin[9];
    int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int value = i < n ? in[i] : 0;
    unsigned kept = __ballot_sync(0xffffffff, value & 1);
    if (lane == 0)
        begin[warp + 1] = __popc(kept);
    __syncthreads();
    if (threadIdx.x == 0) {
        begin[0] = 0;
        for (int w = 0; w < 8; ++w)
            begin[w + 1] += begin[w];
        counts[blockIdx.x] = begin[8];
    }
    __syncthreads();
    if (value & 1)
        out[blockIdx.x * 256 + begin[warp] + __popc(kept & ((1u << lane) - 1))] = value;
    if (threadIdx.x >= begin[8])
        out[blockIdx.x * 256 + threadIdx.x] = 0;
}

// Radix sort of 256 keys, one bit a round.
KERNEL radix_sort(const unsigned *in, unsigned *out)
{
    __shared__ unsigned keys[256];
    __shared__ int zeros[8];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    keys[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int bit = 0; bit < 32; ++bit) {
        unsigned key = keys[t];
        unsigned is_zero = __ballot_sync(0xffffffff, (key >> bit & 1) == 0);
        if (lane == 0)
            zeros[warp] = __popc(is_zero);
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < 8; ++w) {
            before += w < warp ? zeros[w] : 0;
            all += zeros[w];
        }
        int rank = before + __popc(is_zero & ((1u << lane) - 1));
        keys[(key >> bit & 1) == 0 ? rank : all + t - rank] = key;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = keys[t];
}

// Bitonic sort within a warp, through shuffles only.
KERNEL bitonic_warp(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float value = i < n ? in[i] : 1e30f;
    for (int size = 2; size <= 32; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            float other = __shfl_xor_sync(0xffffffff, value, stride);
            bool up = (lane & size) == 0, low = (lane & stride) == 0;
            value = up == low ? fminf(value, other) : fmaxf(value, other);
        }
    if (i < n)
        out[i] = value;
}

KERNEL odd_even_sort(short *data)
{
    __shared__ short keys[130];
    keys[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
    for (int round = 0; round < blockDim.x; ++round) {
        __syncthreads();
        int left = 2 * threadIdx.x + (round & 1);
        if (left + 1 < blockDim.x && keys[left] > keys[left + 1]) {
            short keep = keys[left];
            keys[left] = keys[left + 1];
            keys[left + 1] = keep;
        }
    }
    __syncthreads();
    data[blockIdx.x * blockDim.x + threadIdx.x] = keys[threadIdx.x];
}

// Each thread sorts its own dozen in local memory.
KERNEL insertion_sort(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int keys[12];
    for (int k = 0; k < 12; ++k)
        keys[k] = in[12 * i + k];
    for (int k = 1; k < 12; ++k) {
        int key = keys[k], at = k;
        for (; at > 0 && keys[at - 1] > key; --at)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
    for (int k = 0; k < 12; ++k)
        out[12 * i + k] = keys[k];
}

KERNEL binary_search(const unsigned *wanted, int *out, int n, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int low = 0, high = size; // the k-th value is k * k
    while (low < high) {
        int middle = (low + high) / 2;
        if ((unsigned)middle * middle < wanted[i])
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}

// Each block merges two runs of 64 by looking up the ranks.
KERNEL merge_ranks(const unsigned *in, unsigned *out)
{
    __shared__ unsigned runs[128];
    int t = threadIdx.x, mine = t / 64;
    unsigned key = (in[blockIdx.x * 128 + t] & 0xfff) + (t % 64) * 0x800;
    runs[t] = key;
    __syncthreads();
    if (t % 64 > 0 && runs[t - 1] > key)
        key = runs[t - 1];
    __syncthreads();
    runs[t] = key;
    __syncthreads();
    unsigned most = key;
    for (int k = t / 64 * 64; k < t; ++k)
        most = max(most, runs[k]);
    __syncthreads();
    runs[t] = most;
    __syncthreads();
    int low = 0, high = 64;
    const unsigned *other = runs + 64 * (1 - mine);
    while (low < high) {
        int middle = (low + high) / 2;
        if (mine == 0 ? other[middle] < most : other[middle] <= most)
            low = middle + 1;
        else
            high = middle;
    }
    out[blockIdx.x * 128 + t % 64 + low] = most;
}

KERNEL transpose_rectangle(const double *in, double *out, int width, int height)
{
    __shared__ double tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL transpose_bytes(const uchar4 *in, uchar4 *out, int width)
{
    __shared__ unsigned char tile[64][68];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 64; k += 16) {
        uchar4 v = in[((blockIdx.y * 64 + y + k) * width + blockIdx.x * 64) / 4 + x];
        tile[y + k][4 * x] = v.x;
        tile[y + k][4 * x + 1] = v.y;
        tile[y + k][4 * x + 2] = v.z;
        tile[y + k][4 * x + 3] = v.w;
    }
    __syncthreads();
    for (int k = 0; k < 64; k += 16)
        out[((blockIdx.x * 64 + y + k) * width + blockIdx.y * 64) / 4 + x] =
            make_uchar4(tile[4 * x][y + k], tile[4 * x + 1][y + k], tile[4 * x + 2][y + k],
                        tile[4 * x + 3][y + k]);
}

KERNEL matmul_plain(const double *a, const double *b, double *c, int rows, int columns, int inner)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows)
        return;
    double sum = 0;
    for (int k = 0; k < inner; ++k)
        sum += a[y * inner + k] * b[k * columns + x];
    c[y * columns + x] = sum;
}

// Each thread makes 4 x 4 elements of a 32 x 32 tile.
KERNEL matmul_registers(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[8][33], tb[8][33];
    float sum[4][4] = {};
    int row = blockIdx.y * 32, column = blockIdx.x * 32, t = threadIdx.y * 8 + threadIdx.x;
    for (int step = 0; step < n; step += 8) {
        for (int k = t; k < 256; k += 64) {
            int r = row + k / 8, s = step + k % 8;
            ta[k % 8][k / 8] = r < n && s < n ? a[r * n + s] : 0;
            int u = step + k / 32, v = column + k % 32;
            tb[k / 32][k % 32] = u < n && v < n ? b[u * n + v] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k)
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    sum[i][j] += ta[k][threadIdx.y * 4 + i] * tb[k][threadIdx.x * 4 + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            int r = row + threadIdx.y * 4 + i, v = column + threadIdx.x * 4 + j;
            if (r < n && v < n)
                c[r * n + v] = sum[i][j];
        }
}

KERNEL matmul_int8(const int *a, const int *b, int *c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    int sum = 0;
    for (int k = 0; k < n / 4; ++k)
        sum = __dp4a(a[y * (n / 4) + k], b[x * (n / 4) + k], sum);
    c[y * n + x] = sum;
}

KERNEL matvec_warp(const float *a, const float *x, float *y, int rows, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = lane; k < columns; k += 32)
        sum += a[row * columns + k] * x[k];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

// A sparse matrix: row r has (r * 7) % 11 entries, scattered.
KERNEL sparse_csr(const float *values, const float *x, float *y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    float sum = 0;
    int length = row * 7 % 11;
    for (int k = 0; k < length; ++k)
        sum += values[(row * 11 + k) % n] * x[mix(row * 11 + k) % n];
    y[row] = sum;
}

__constant__ float weights[7] = {0.03125f, 0.109375f, 0.21875f, 0.28125f, 0.21875f, 0.109375f, 0.03125f};
KERNEL convolve(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = -3; k <= 3; ++k)
        sum += weights[k + 3] * (i + k >= 0 && i + k < n ? in[i + k] : 0.0f);
    out[i] = sum;
}

KERNEL stencil3d(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int i = (z * ny + y) * nx + x;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[i] = in[i];
        return;
    }
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                    in[i - nx * ny] + in[i + nx * ny]);
}

KERNEL game_of_life(const unsigned char *in, unsigned char *out, int width, int height)
{
    __shared__ unsigned char tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
        int u = (blockIdx.x * 16 + k % 18 - 1 + width) % width;
        int v = (blockIdx.y * 16 + k / 18 - 1 + height) % height;
        tile[k / 18][k % 18] = in[v * width + u] & 1;
    }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    int count = 0;
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx)
            count += tile[threadIdx.y + dy][threadIdx.x + dx];
    int alive = tile[threadIdx.y + 1][threadIdx.x + 1];
    out[y * width + x] = count == 3 || (alive && count == 4);
}

KERNEL mandelbrot_f64(int *out, int width, int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    double cx = -0.7436 + 0.01 * x / width, cy = 0.1318 + 0.01 * y / height, zx = 0, zy = 0;
    int k = 0;
    for (; k < limit && zx * zx + zy * zy < 4; ++k) {
        double t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
    }
    out[y * width + x] = k;
}

// One body a thread, through global memory, in double precision.
KERNEL nbody_f64(const double *positions, double *forces, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double fx = 0, fy = 0;
    for (int k = 0; k < n; ++k) {
        double dx = positions[2 * k] - positions[2 * i], dy = positions[2 * k + 1] - positions[2 * i + 1];
        double inverse = 1.0 / (dx * dx + dy * dy + 1e-3);
        fx += dx * inverse;
        fy += dy * inverse;
    }
    forces[2 * i] = fx;
    forces[2 * i + 1] = fy;
}

// Levels of a breadth-first search over a graph that mix() draws; one launch, one block.
KERNEL breadth_first(int *level, int nodes)
{
    for (int v = threadIdx.x; v < nodes; v += blockDim.x)
        level[v] = v == 0 ? 0 : 1000;
    int changed = 1;
    for (int depth = 0; __syncthreads_or(changed); ++depth) {
        changed = 0;
        for (int v = threadIdx.x; v < nodes; v += blockDim.x)
            if (atomicAdd(&level[v], 0) == depth)
                for (int k = 0; k < 3; ++k)
                    if (atomicMin(&level[mix(v * 3 + k) % nodes], depth + 1) > depth + 1)
                        changed = 1;
    }
}

// Components by the smallest label; the result does not depend on who is first.
KERNEL components(int *label, int nodes)
{
    for (int v = threadIdx.x; v < nodes; v += blockDim.x)
        label[v] = v;
    int go_on = 1;
    while (__syncthreads_or(go_on)) {
        go_on = 0;
        for (int v = threadIdx.x; v < nodes; v += blockDim.x) {
            int to = v % 4 == 0 ? v : mix(v) % nodes; // one edge each, some have none
            int a = atomicAdd(&label[v], 0), b = atomicAdd(&label[to], 0);
            if (a == b)
                continue;
            atomicMin(&label[a < b ? to : v], min(a, b));
            go_on = 1;
        }
    }
}

// Floyd and Warshall's shortest ways among 24 places.
KERNEL shortest_ways(const unsigned *in, unsigned *out)
{
    __shared__ unsigned way[24][24];
    int x = threadIdx.x, y = threadIdx.y;
    way[y][x] = x == y ? 0 : in[blockIdx.x * 576 + y * 24 + x] % 1000;
    for (int k = 0; k < 24; ++k) {
        __syncthreads();
        unsigned through = way[y][k] + way[k][x];
        unsigned best = min(way[y][x], through);
        __syncthreads();
        way[y][x] = best;
    }
    out[blockIdx.x * 576 + y * 24 + x] = way[y][x];
}

// Edit distance of two strings of 64, along the diagonals.
KERNEL edit_distance(const unsigned char *a, const unsigned char *b, int *out)
{
    __shared__ int row[3][66];
    int t = threadIdx.x; // 65 threads
    const unsigned char *left = a + blockIdx.x * 64, *right = b + blockIdx.x * 64;
    for (int diagonal = 0; diagonal <= 128; ++diagonal) {
        int column = diagonal - t;
        if (column >= 0 && column <= 64) {
            int best;
            if (t == 0 || column == 0)
                best = t + column;
            else {
                best = min(row[(diagonal + 2) % 3][t - 1], row[(diagonal + 2) % 3][t]) + 1;
                int same = (left[t - 1] & 3) == (right[column - 1] & 3);
                best = min(best, row[(diagonal + 1) % 3][t - 1] + !same);
            }
            row[diagonal % 3][t] = best;
            if (diagonal == 128)
                out[blockIdx.x] = best;
        }
        __syncthreads();
    }
}

KERNEL crc32(const unsigned char *in, unsigned *out, int n)
{
    __shared__ unsigned table[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        unsigned value = k;
        for (int bit = 0; bit < 8; ++bit)
            value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
        table[k] = value;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned crc = ~0u;
    for (int k = 0; k < 33; ++k)
        crc = crc >> 8 ^ table[(crc ^ in[i * 33 + k]) & 255];
    out[i] = ~crc;
}

__constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

KERNEL sha256(const unsigned *blocks, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int k = 0; k < 16; ++k)
        w[k] = blocks[16 * i + k];
#define TURN(x, by) __funnelshift_r(x, x, by)
#pragma unroll 1
    for (int k = 0; k < 64; ++k) {
        if (k >= 16) {
            unsigned a = w[(k + 1) & 15], b = w[(k + 14) & 15];
            w[k & 15] += (TURN(a, 7) ^ TURN(a, 18) ^ a >> 3) + w[(k + 9) & 15] +
                         (TURN(b, 17) ^ TURN(b, 19) ^ b >> 10);
        }
        unsigned t1 = h[7] + (TURN(h[4], 6) ^ TURN(h[4], 11) ^ TURN(h[4], 25)) +
                      ((h[4] & h[5]) ^ (~h[4] & h[6])) + rounds[k] + w[k & 15];
        unsigned t2 = (TURN(h[0], 2) ^ TURN(h[0], 13) ^ TURN(h[0], 22)) +
                      ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        for (int j = 7; j > 0; --j)
            h[j] = h[j - 1];
        h[4] += t1;
        h[0] = t1 + t2;
    }
    for (int k = 0; k < 8; ++k)
        out[8 * i + k] = h[k];
}

// Philox: counter-based random numbers; points within the quarter circle.
KERNEL monte_carlo(unsigned *hits, int rounds_each)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (int r = 0; r < rounds_each; ++r) {
        unsigned c0 = i, c1 = r, c2 = 0, c3 = 0, k0 = 0xcafe, k1 = 0xf00d;
        for (int k = 0; k < 7; ++k) {
            unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
            unsigned h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
            c0 = h1 ^ c1 ^ k0;
            c1 = l1;
            c2 = h0 ^ c3 ^ k1;
            c3 = l0;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        float x = c0 * 0x1p-32f, y = c1 * 0x1p-32f;
        count += x * x + y * y < 1.0f;
    }
    atomicAdd(&hits[threadIdx.x & 7], count);
}

// A Fourier transform of 128 points in shared memory, its own cosines from a recurrence.
KERNEL fourier(const float2 *in, float2 *out)
{
    __shared__ float2 data[128];
    int t = threadIdx.x; // 64
    for (int k = t; k < 128; k += 64)
        data[__brev(k) >> 25] = in[blockIdx.x * 128 + k];
    for (int half = 1; half < 128; half *= 2) {
        __syncthreads();
        int j = t % half, i = t / half * 2 * half + j;
        float c = cospif((float)j / half), s = -sinpif((float)j / half);
        float2 a = data[i], b = data[i + half];
        float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        data[i] = make_float2(a.x + turned.x, a.y + turned.y);
        data[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    for (int k = t; k < 128; k += 64)
        out[blockIdx.x * 128 + k] = data[k];
}

// Queens on a board, by recursion with local arrays.
__device__ __noinline__ int place(int row, int size, unsigned columns, unsigned up, unsigned down)
{
    if (row == size)
        return 1;
    int found = 0;
    for (int c = 0; c < size; ++c) {
        unsigned bit = 1u << c;
        if ((columns & bit) || (up & 1u << (row + c)) || (down & 1u << (row - c + size)))
            continue;
        found += place(row + 1, size, columns | bit, up | 1u << (row + c), down | 1u << (row - c + size));
    }
    return found;
}

KERNEL queens(int *out)
{
    int size = 3 + threadIdx.x % 4, first = blockIdx.x % size;
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        place(1, size, 1u << first, 1u << first, 1u << (size - first));
}

struct Node {
    int value, left, right;
};

__device__ __noinline__ int tree_sum(const Node *nodes, int at, int depth)
{
    if (at < 0 || depth > 12)
        return 0;
    return nodes[at].value % 100 + tree_sum(nodes, nodes[at].left, depth + 1) -
           tree_sum(nodes, nodes[at].right, depth + 1);
}

KERNEL trees(const int *in, int *out, int n)
{
    __shared__ Node nodes[63];
    for (int k = threadIdx.x; k < 63; k += blockDim.x)
        nodes[k] = {in[blockIdx.x * 63 + k], 2 * k + 1 < 63 ? 2 * k + 1 : -1,
                    2 * k + 2 < 63 ? 2 * k + 2 : -1};
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tree_sum(nodes, threadIdx.x % 31, 0);
}

KERNEL linked_list(const unsigned *order, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned at = i, sum = 0;
    for (int step = 0; step < (i & 31); ++step) {
        sum = sum * 31 + at;
        at = order[at] % n;
    }
    out[i] = sum;
}

// A table of counters for words: keys hashed into open slots, then written in the keys' order.
KERNEL hash_count(const unsigned *keys, unsigned *counts, int n)
{
    __shared__ unsigned slot_key[256], slot_count[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        slot_key[k] = 0;
        slot_count[k] = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned key = keys[blockIdx.x * n + i] % 97 + 1;
        unsigned h = mix(key);
        for (;; ++h) {
            unsigned before = atomicCAS(&slot_key[h & 255], 0u, key);
            if (before == 0 || before == key)
                break;
        }
        atomicAdd(&slot_count[h & 255], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x)
        if (slot_key[k] != 0)
            counts[blockIdx.x * 98 + slot_key[k]] = slot_count[k];
}

// Histograms of a warp each, merged.
KERNEL histogram_private(const unsigned char *in, unsigned *bins, int n)
{
    extern __shared__ unsigned counts[];
    for (int k = threadIdx.x; k < 4 * 64; k += blockDim.x)
        counts[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicInc(&counts[threadIdx.x / 32 * 64 + in[i] / 4], 0xffffffffu);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&bins[threadIdx.x], counts[threadIdx.x] + counts[64 + threadIdx.x] +
                                          counts[128 + threadIdx.x] + counts[192 + threadIdx.x]);
}

KERNEL softmax_rows(const float *in, float *out, int columns)
{
    __shared__ float box[64];
    const float *row = in + blockIdx.x * columns;
    float most = -1e30f, sum = 0;
    for (int k = threadIdx.x; k < columns; k += 64)
        most = fmaxf(most, row[k]);
    box[threadIdx.x] = most;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half)
            box[threadIdx.x] = fmaxf(box[threadIdx.x], box[threadIdx.x + half]);
        __syncthreads();
    }
    most = box[0];
    __syncthreads();
    for (int k = threadIdx.x; k < columns; k += 64)
        sum += 1.0f / (1.0f + (most - row[k]) * (most - row[k])); // stays exact to compare
    box[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half)
            box[threadIdx.x] += box[threadIdx.x + half];
        __syncthreads();
    }
    for (int k = threadIdx.x; k < columns; k += 64)
        out[blockIdx.x * columns + k] = 1.0f / (1.0f + (most - row[k]) * (most - row[k])) / box[0];
}

// A ray meets spheres; the nearest hit's number and distance.
KERNEL spheres(const float4 *ball, float2 *out, int balls, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * width)
        return;
    float dx = (float)(i % width) / width - 0.5f, dy = (float)(i / width) / width - 0.5f, dz = 1;
    float scale = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz), nearest = 1e30f;
    dx *= scale, dy *= scale, dz *= scale;
    int hit = -1;
    for (int k = 0; k < balls; ++k) {
        float4 b = ball[k];
        float along = b.x * dx + b.y * dy + (b.z + 6) * dz;
        float d2 = b.x * b.x + b.y * b.y + (b.z + 6) * (b.z + 6) - along * along;
        float r2 = b.w * b.w;
        if (d2 > r2)
            continue;
        float t = along - sqrtf(r2 - d2);
        if (t > 0 && t < nearest) {
            nearest = t;
            hit = k;
        }
    }
    out[i] = make_float2(hit, nearest);
}

KERNEL newton_root(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = fabs(in[i]) + 0.01, x = a;
    int steps = 0;
    while (fabs(x * x * x - a) > 1e-12 * a && steps < 60) {
        x = x - (x * x * x - a) / (3 * x * x);
        ++steps;
    }
    out[i] = x + steps;
}

KERNEL runge_kutta(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], y = in[(i + 1) % n], z = in[(i + 2) % n];
    for (int k = 0; k < 40; ++k) { // Lorenz
        float dx = 10.0f * (y - x), dy = x * (28.0f - z) - y, dz = x * y - 2.6666667f * z;
        x += 0.005f * dx;
        y += 0.005f * dy;
        z += 0.005f * dz;
    }
    out[3 * i] = x;
    out[3 * i + 1] = y;
    out[3 * i + 2] = z;
}

// Gaussian elimination of 5 equations in each thread's local memory, with a search for the pivot.
KERNEL solve_local(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float m[5][6];
    for (int r = 0; r < 5; ++r)
        for (int c = 0; c < 6; ++c)
            m[r][c] = in[(i * 7 + r * 6 + c) % (30 * n)];
#pragma unroll 1
    for (int p = 0; p < 5; ++p) {
        int best = p;
        for (int r = p + 1; r < 5; ++r)
            if (fabsf(m[r][p]) > fabsf(m[best][p]))
                best = r;
        for (int c = 0; c < 6; ++c) {
            float keep = m[p][c];
            m[p][c] = m[best][c];
            m[best][c] = keep;
        }
        for (int r = p + 1; r < 5; ++r) {
            float factor = m[r][p] / m[p][p];
            for (int c = p; c < 6; ++c)
                m[r][c] -= factor * m[p][c];
        }
    }
    for (int r = 4; r >= 0; --r) {
        float sum = m[r][5];
        for (int c = r + 1; c < 5; ++c)
            sum -= m[r][c] * out[5 * i + c];
        out[5 * i + r] = sum / m[r][r];
    }
}

KERNEL primes(unsigned *count, unsigned char *is_prime, int n)
{
    extern __shared__ unsigned char composite[];
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        composite[k] = k < 2;
    __syncthreads();
    for (int p = 2; p * p < n; ++p) {
        if (!composite[p])
            for (int k = p * p + p * threadIdx.x; k < n; k += p * blockDim.x)
                composite[k] = 1;
        __syncthreads();
    }
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        is_prime[k] = !composite[k];
        if (!composite[k])
            atomicAdd(count, 1u);
    }
}

// Three dimensions of blocks and of threads: who am I?
KERNEL coordinates(unsigned *out)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned lane, below;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] =
        threadIdx.x + threadIdx.y * 10 + threadIdx.z * 100 + blockIdx.x * 1000 + blockIdx.y * 10000 +
        blockIdx.z * 100000 + lane * 1000000 + __popc(below) * 50000000;
}

struct Complex {
    double re, im;
};
__device__ Complex operator*(Complex a, Complex b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

KERNEL complex_powers(const double2 *in, double2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Complex z = {in[i].x / 4, in[i].y / 4}, power = {1, 0};
    for (unsigned e = i % 37; e > 0; e >>= 1) {
        if (e & 1)
            power = power * z;
        z = z * z;
    }
    out[i] = make_double2(power.re, power.im);
}

KERNEL wide_copy(const longlong4 *in, longlong4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}

KERNEL cache_hints(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = __ldg(&in[i]) + __ldcg(&in[(i + 1) % n]) * 2 + __ldcs(&in[(i + 2) % n]) * 3;
    sum += __ldca(&in[(i + 3) % n]) * 5 + __ldcv(&in[(i + 4) % n]) * 7 + __ldlu(&in[(i + 5) % n]);
    __stcs(&out[4 * i], sum);
    __stcg(&out[4 * i + 1], sum + 1);
    __stwb(&out[4 * i + 2], sum + 2);
    __stwt(&out[4 * i + 3], sum + 3);
}

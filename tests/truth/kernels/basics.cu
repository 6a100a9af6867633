// Memory access patterns, reductions and scans.
#include <cstddef>
#include <cstdint>

#define KERNEL extern "C" __global__ void

KERNEL copy_float2(const float2 *in, float2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

KERNEL copy_float4(const float4 *in, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

KERNEL copy_char(const char *in, char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

KERNEL copy_short3(const short *in, short *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < 3; ++k)
            out[3 * i + k] = in[3 * i + 2 - k];
}

KERNEL stride3(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[3 * i];
}

KERNEL stride8(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[8 * i];
}

KERNEL gather(const float *in, const int *idx, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[idx[i]];
}

KERNEL scatter_reverse(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i] * 2.0;
}

KERNEL odd_even(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i % 2 == 1)
        out[i] = in[i];
    else
        out[i] = in[n - 1 - i];
}

KERNEL transpose_plain(const float *in, float *out, int width)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL transpose_padded(const float *in, float *out, int width)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL reduce_shared(const float *in, float *out, int n)
{
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

KERNEL reduce_shuffle(const int *in, int *out, int n)
{
    __shared__ int part[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i < n ? in[i] : 0;
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}

KERNEL reduce_double(const double *in, double *out, int n)
{
    __shared__ double part[256];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i] * in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

KERNEL scan_shared(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned buffer[2][256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int from = 0;
    buffer[0][threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int offset = 1; offset < 256; offset *= 2) {
        unsigned value = buffer[from][threadIdx.x];
        if (threadIdx.x >= offset)
            value += buffer[from][threadIdx.x - offset];
        buffer[1 - from][threadIdx.x] = value;
        from = 1 - from;
        __syncthreads();
    }
    if (i < n)
        out[i] = buffer[from][threadIdx.x];
}

KERNEL scan_shuffle(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    int value = i < n ? in[i] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
        int below = __shfl_up_sync(0xffffffff, value, offset);
        if (lane >= offset)
            value += below;
    }
    if (i < n)
        out[i] = value;
}

KERNEL segments_shuffle(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0;
    value += __shfl_sync(0xffffffff, value, 3, 8);
    value -= __shfl_xor_sync(0xffffffff, value, 5, 16);
    value *= __shfl_down_sync(0xffffffff, value, 2, 4);
    if (i < n)
        out[i] = value;
}

KERNEL histogram_global(const unsigned char *in, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i]], 1u);
}

KERNEL histogram_shared(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

KERNEL histogram_index(const int *idx, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[idx[i] & 255], 1u);
}

KERNEL histogram_result(const int *idx, unsigned *bins, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = atomicAdd(&bins[idx[i] & 255], 1u) & 0u;
}

KERNEL saxpy_grid_stride(float a, const float *x, float *y, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

KERNEL stencil2d(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float centre = in[y * width + x];
    float sum = -4.0f * centre;
    sum += x > 0 ? in[y * width + x - 1] : centre;
    sum += x < width - 1 ? in[y * width + x + 1] : centre;
    sum += y > 0 ? in[(y - 1) * width + x] : centre;
    sum += y < height - 1 ? in[(y + 1) * width + x] : centre;
    out[y * width + x] = centre + 0.1f * sum;
}

KERNEL stencil_halo(const float *in, float *out, int n)
{
    __shared__ float tile[256 + 8];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x + 4] = i < n ? in[i] : 0;
    if (threadIdx.x < 4) {
        tile[threadIdx.x] = i >= 4 ? in[i - 4] : 0;
        tile[threadIdx.x + 260] = i + 256 < n ? in[i + 256] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k)
        sum += tile[threadIdx.x + k] * (k + 1);
    if (i < n)
        out[i] = sum;
}

KERNEL matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[16][16], tb[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (n + 15) / 16; ++t) {
        int k = t * 16 + threadIdx.x, l = t * 16 + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = row < n && k < n ? a[row * n + k] : 0;
        tb[threadIdx.y][threadIdx.x] = l < n && column < n ? b[l * n + column] : 0;
        __syncthreads();
        for (int j = 0; j < 16; ++j)
            sum += ta[threadIdx.y][j] * tb[j][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

KERNEL bitonic_sort(int *data)
{
    __shared__ int keys[512];
    keys[threadIdx.x] = data[blockIdx.x * 512 + threadIdx.x];
    keys[threadIdx.x + 256] = data[blockIdx.x * 512 + threadIdx.x + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            bool up = (low & size) == 0;
            int x = keys[low], y = keys[low + stride];
            if ((x > y) == up) {
                keys[low] = y;
                keys[low + stride] = x;
            }
        }
    __syncthreads();
    data[blockIdx.x * 512 + threadIdx.x] = keys[threadIdx.x];
    data[blockIdx.x * 512 + threadIdx.x + 256] = keys[threadIdx.x + 256];
}

// kernels.cu - what the emulator is timed with: barriers, shuffles, divergence. native.c has the same
// work as plain loops, one turn a CUDA thread.
#define TILE 16

extern "C" __global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < n; first += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void reduce(const int *in, int *out, int n)
{
    __shared__ int parts[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void mandelbrot(int *out, int side, int most)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= side)
        return;
    const float real = -2.0f + 3.0f * x / side, imaginary = -1.5f + 3.0f * y / side;
    float a = 0.0f, b = 0.0f;
    int turns = 0;
    while (turns < most && a * a + b * b <= 4.0f) {
        const float next = a * a - b * b + real;
        b = 2.0f * a * b + imaginary;
        a = next;
        ++turns;
    }
    out[y * side + x] = turns;
}

// A __device__ array of 128 MiB, which nothing uses.

constexpr int NARROW_TAPS = 4;
constexpr int WIDE_TAPS = 64;
constexpr float DECAY = 0.9375f;
constexpr int BLOCK_THREADS = 256;
constexpr int BLOCKS_PER_SM = 4;

__device__ float big[1 << 25];

__global__ void decayNarrow(const float *in, float *out, size_t n)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        float levels[NARROW_TAPS];
        float level = 0.0f;
#pragma unroll
        for (int tap = 0; tap < NARROW_TAPS; ++tap) {
            level = in[i + tap] + DECAY * level;
            levels[tap] = level;
        }
        float sum = 0.0f;
#pragma unroll
        for (int tap = NARROW_TAPS - 1; tap >= 0; --tap)
            sum = levels[tap] + DECAY * sum;
        out[i] = sum;
    }
}

__global__ void decayWide(const float *in, float *out, size_t n)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        float levels[WIDE_TAPS];
        float level = 0.0f;
#pragma unroll
        for (int tap = 0; tap < WIDE_TAPS; ++tap) {
            level = in[i + tap] + DECAY * level;
            levels[tap] = level;
        }
        float sum = 0.0f;
#pragma unroll
        for (int tap = WIDE_TAPS - 1; tap >= 0; --tap)
            sum = levels[tap] + DECAY * sum;
        out[i] = sum;
    }
}

__global__ void decayWideIndexed(const float *in, float *out, size_t n, int shift)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        float levels[WIDE_TAPS];
        float level = 0.0f;
#pragma unroll
        for (int tap = 0; tap < WIDE_TAPS; ++tap) {
            level = in[i + tap] + DECAY * level;
            levels[tap] = level;
        }
        float sum = 0.0f;
#pragma unroll
        for (int tap = WIDE_TAPS - 1; tap >= 0; --tap)
            sum = levels[(tap + shift) & (WIDE_TAPS - 1)] + DECAY * sum;
        out[i] = sum;
    }
}

__global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS_PER_SM)
decayWideBounded(const float *in, float *out, size_t n)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) {
        float levels[WIDE_TAPS];
        float level = 0.0f;
#pragma unroll
        for (int tap = 0; tap < WIDE_TAPS; ++tap) {
            level = in[i + tap] + DECAY * level;
            levels[tap] = level;
        }
        float sum = 0.0f;
#pragma unroll
        for (int tap = WIDE_TAPS - 1; tap >= 0; --tap)
            sum = levels[tap] + DECAY * sum;
        out[i] = sum;
    }
}

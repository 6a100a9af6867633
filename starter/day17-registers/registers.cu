// registers.cu - day 17: registers, local memory and spills.
//
// Four kernels run one filter. Each thread walks a window of samples forwards and lets a level
// decay on the way, keeping every level it passes; then it walks back over the kept levels and lets
// a sum decay. Because the way back starts with the last level, all of them must be kept at once:
// that is what makes a thread want many registers.
//
// Build it, and read what ptxas says about each kernel (no GPU is needed for that):
//
//     nvcc -std=c++17 -O3 -arch=sm_75 -Xptxas -v -o registers registers.cu
//
// Two of the kernels are yours to edit: decayWideIndexed and decayWideBounded. Leave the rest as it
// is.

#include <cuda_runtime.h>

// nvcc reads all headers again at each build: <vector> and <algorithm> took a quarter of its time
// here, so the program does without them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int NARROW_TAPS = 4;
constexpr int WIDE_TAPS = 64;
constexpr float DECAY = 0.9375f; // 15/16: exact in binary, so the CPU can agree to the last bit

constexpr int BLOCK_THREADS = 256; // how every kernel below is launched
constexpr int BLOCKS_PER_SM = 4;   // how many such blocks we would like on one SM at a time

// ---- The kernels --------------------------------------------------------------------------------
// All read in[i] … in[i + taps - 1] and write out[i], for i < n.

// 4 taps: few levels to keep, so few registers.
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

// 64 taps: after unrolling, every index is a number that the compiler can read, so all 64 levels
// can live in registers.
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

// decayWide with one argument more.
// TODO: on the way back, read the level that lies `shift` places further on, modulo the taps.
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
            sum = levels[tap] + DECAY * sum;
        out[i] = sum;
    }
}

// decayWide under a register budget.
// TODO: give it launch bounds: BLOCK_THREADS threads a block, BLOCKS_PER_SM blocks an SM.
__global__ void
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

// ---- The program --------------------------------------------------------------------------------
// Prints what the device itself says of each kernel, next to which you can lay the ptxas report,
// and compares every result with the CPU, bit by bit.

constexpr size_t ELEMENTS = 1049187; // odd on purpose: the last block is not full
constexpr int ROUNDS = 31;           // timed launches of each kernel
constexpr int EXIT_NO_DEVICE = 3;

#define CUDA_OK(call) cudaMustSucceed((call), #call, __LINE__)

static void cudaMustSucceed(cudaError_t status, const char *call, int line)
{
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "registers.cu:%d: %s failed: %s\n", line, call,
                 cudaGetErrorString(status));
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorUnsupportedPtxVersion)
        std::fprintf(stderr, "Build again with -arch=sm_XX for the card in this machine.\n");
    std::exit(EXIT_FAILURE);
}

struct Kernel {
    const char *name;
    const void *function;
    int taps;
};

static const Kernel kernels[] = {
    {"decayNarrow", reinterpret_cast<const void *>(decayNarrow), NARROW_TAPS},
    {"decayWide", reinterpret_cast<const void *>(decayWide), WIDE_TAPS},
    {"decayWideIndexed", reinterpret_cast<const void *>(decayWideIndexed), WIDE_TAPS},
    {"decayWideBounded", reinterpret_cast<const void *>(decayWideBounded), WIDE_TAPS},
};
constexpr int KERNEL_COUNT = sizeof kernels / sizeof kernels[0];

// decayWideIndexed takes all four arguments (shift = 0 here), the others the first three.
static void launch(const Kernel &kernel, const float *in, float *out)
{
    size_t n = ELEMENTS;
    int shift = 0;
    void *arguments[] = {&in, &out, &n, &shift};
    const unsigned blocks = unsigned((n + BLOCK_THREADS - 1) / BLOCK_THREADS);
    CUDA_OK(cudaLaunchKernel(kernel.function, dim3(blocks), dim3(BLOCK_THREADS), arguments, 0,
                             nullptr));
}

// The same filter on the CPU. std::fma rounds once, as the fused multiply-add of the GPU does.
static void computeOnCpu(const float *in, float *out, int taps)
{
    for (size_t i = 0; i < ELEMENTS; ++i) {
        float levels[WIDE_TAPS];
        float level = 0.0f, sum = 0.0f;
        for (int tap = 0; tap < taps; ++tap)
            levels[tap] = level = std::fma(DECAY, level, in[i + tap]);
        for (int tap = taps - 1; tap >= 0; --tap)
            sum = std::fma(DECAY, sum, levels[tap]);
        out[i] = sum;
    }
}

static bool sameBits(float a, float b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

static int ascending(const void *left, const void *right)
{
    const float a = *static_cast<const float *>(left), b = *static_cast<const float *>(right);
    return (a > b) - (a < b);
}

static float medianMilliseconds(const Kernel &kernel, const float *in, float *out)
{
    cudaEvent_t begin, end;
    CUDA_OK(cudaEventCreate(&begin));
    CUDA_OK(cudaEventCreate(&end));
    float times[ROUNDS];
    for (float &time : times) {
        CUDA_OK(cudaEventRecord(begin));
        launch(kernel, in, out);
        CUDA_OK(cudaEventRecord(end));
        CUDA_OK(cudaEventSynchronize(end));
        CUDA_OK(cudaEventElapsedTime(&time, begin, end));
    }
    CUDA_OK(cudaEventDestroy(begin));
    CUDA_OK(cudaEventDestroy(end));
    std::qsort(times, ROUNDS, sizeof times[0], ascending);
    return times[ROUNDS / 2];
}

static int attribute(cudaDeviceAttr which)
{
    int value = 0;
    CUDA_OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

static float input[ELEMENTS + WIDE_TAPS - 1];
static float results[KERNEL_COUNT][ELEMENTS];
static float narrow[ELEMENTS], wide[ELEMENTS]; // what the CPU makes of it

int main()
{
    int devices = 0, driver = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0) {
        const bool noDriver = cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0;
        std::fprintf(stderr,
                     "registers: no CUDA device can be used here (%s); the ptxas report of the "
                     "build needs none, this table does.\n",
                     noDriver               ? "no NVIDIA driver is installed"
                     : found != cudaSuccess ? cudaGetErrorString(found)
                                            : "the driver shows none");
        return EXIT_NO_DEVICE;
    }

    cudaDeviceProp card;
    CUDA_OK(cudaGetDeviceProperties(&card, 0));
    const int registersPerSm = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    const int threadsPerSm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    std::printf("card                      %s (compute capability %d.%d)\n", card.name, card.major,
                card.minor);
    std::printf("registers per SM          %d\n", registersPerSm);
    std::printf("threads per SM, at most   %d\n", threadsPerSm);
    std::printf("registers a thread may use\n");
    std::printf("  and still fill the card %d\n", registersPerSm / threadsPerSm);
    std::printf("  and leave room for %d blocks of %d threads an SM: %d\n\n", BLOCKS_PER_SM,
                BLOCK_THREADS, registersPerSm / (BLOCKS_PER_SM * BLOCK_THREADS));

    unsigned random = 17;
    for (float &value : input) { // a fixed sequence of numbers between -1 and 1
        random = random * 1664525u + 1013904223u;
        value = float(int(random >> 8) - (1 << 23)) / float(1 << 23);
    }
    float *deviceIn = nullptr, *deviceOut = nullptr;
    CUDA_OK(cudaMalloc(&deviceIn, sizeof input));
    CUDA_OK(cudaMalloc(&deviceOut, ELEMENTS * sizeof(float)));
    CUDA_OK(cudaMemcpy(deviceIn, input, sizeof input, cudaMemcpyHostToDevice));

    std::printf("n = %zu, %d threads a block, %d and %d taps; ms: median of %d launches\n\n",
                ELEMENTS, BLOCK_THREADS, NARROW_TAPS, WIDE_TAPS, ROUNDS);
    std::printf("kernel            regs  local B  max thr/blk  blk/SM   occ %%       ms\n");
    std::printf("----------------  ----  -------  -----------  ------  ------  -------\n");
    for (int k = 0; k < KERNEL_COUNT; ++k) {
        const Kernel &kernel = kernels[k];
        cudaFuncAttributes said;
        CUDA_OK(cudaFuncGetAttributes(&said, kernel.function));
        int blocks = 0;
        CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function,
                                                              BLOCK_THREADS, 0));

        // All bits set is a NaN: an element that the kernel forgets cannot pass for a result.
        CUDA_OK(cudaMemset(deviceOut, 0xff, ELEMENTS * sizeof(float)));
        launch(kernel, deviceIn, deviceOut);
        CUDA_OK(cudaDeviceSynchronize());
        CUDA_OK(cudaMemcpy(results[k], deviceOut, sizeof results[k], cudaMemcpyDeviceToHost));

        std::printf("%-16s  %4d  %7zu  %11d  %6d  %6.1f  %7.3f\n", kernel.name, said.numRegs,
                    said.localSizeBytes, said.maxThreadsPerBlock, blocks,
                    100.0 * blocks * BLOCK_THREADS / threadsPerSm,
                    medianMilliseconds(kernel, deviceIn, deviceOut));
    }
    CUDA_OK(cudaFree(deviceIn));
    CUDA_OK(cudaFree(deviceOut));

    std::printf("\nelements that differ from the CPU, of %zu:", ELEMENTS);
    computeOnCpu(input, narrow, NARROW_TAPS);
    computeOnCpu(input, wide, WIDE_TAPS);
    size_t wrong = 0;
    for (int k = 0; k < KERNEL_COUNT; ++k) {
        const float *expected = kernels[k].taps == NARROW_TAPS ? narrow : wide;
        size_t differ = 0;
        for (size_t i = 0; i < ELEMENTS; ++i)
            differ += !sameBits(results[k][i], expected[i]);
        std::printf("%s %s %zu", k == 0 ? "" : ",", kernels[k].name, differ);
        wrong += differ;
    }
    size_t apart = 0;
    for (size_t i = 0; i < ELEMENTS; ++i)
        apart += !sameBits(results[1][i], results[2][i]) || !sameBits(results[1][i], results[3][i]);
    std::printf("\nelements at which the three wide kernels (shift 0) differ from one another: "
                "%zu\n",
                apart);
    return wrong == 0 && apart == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// faults_driver.cu - runs one planted fault on a GPU, for compute-sanitizer to watch.
//
//   faults_driver FAULTS.cubin NAME
//
// A kernel of faults.cu takes (int *data, int n): 64 ints, n = 64; 2 blocks of 64 threads. The ints
// are cleared first, unless the fault is that nobody has written them.
// Build: nvcc -o faults_driver faults_driver.cu -lcuda (sanitizer.sh does all of it).
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *text = "?";
    cuGetErrorName(result, &text);
    std::fprintf(stderr, "%s: %s\n", what, text);
    std::exit(1);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: faults_driver FAULTS.cubin NAME\n");
        return 2;
    }
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr data = 0;
    int n = 64;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "context");
    check(cuCtxSetCurrent(context), "context");
    check(cuModuleLoad(&module, argv[1]), argv[1]);
    check(cuModuleGetFunction(&function, module, argv[2]), argv[2]);
    check(cuMemAlloc(&data, 64 * sizeof(int)), "cuMemAlloc");
    if (std::strstr(argv[2], "uninitialised") == nullptr)
        check(cuMemsetD8(data, 0, 64 * sizeof(int)), "cuMemsetD8");
    void *parameters[] = {&data, &n};
    check(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr), argv[2]);
    check(cuCtxSynchronize(), argv[2]);
    check(cuMemFree(data), "cuMemFree");
    check(cuModuleUnload(module), "cuModuleUnload");
    check(cuDevicePrimaryCtxRelease(device), "context");
    return 0;
}

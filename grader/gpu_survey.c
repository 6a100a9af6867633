/* gpu_survey.c - what GPUs the driver shows. Runs in a worker process. */
#include "gpu.h"

#ifdef SPILLWAY_HAVE_CUDART

#include <cuda_runtime_api.h>

#include "base.h"

/* The attribute's value; 0 when the device does not say. */
static uint32_t attribute_of(int device, enum cudaDeviceAttr attribute)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, device) != cudaSuccess || value < 0)
        return 0;
    return (uint32_t)value;
}

static bool survey_device(struct job_gpu *into, int device)
{
    struct cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return false;
    *into = (struct job_gpu){
        .ordinal = (uint32_t)device,
        .major = attribute_of(device, cudaDevAttrComputeCapabilityMajor),
        .minor = attribute_of(device, cudaDevAttrComputeCapabilityMinor),
        .threads_per_sm = attribute_of(device, cudaDevAttrMaxThreadsPerMultiProcessor),
        .blocks_per_sm = attribute_of(device, cudaDevAttrMaxBlocksPerMultiprocessor),
        .threads_per_block = attribute_of(device, cudaDevAttrMaxThreadsPerBlock),
        .registers_per_sm = attribute_of(device, cudaDevAttrMaxRegistersPerMultiprocessor),
        .registers_per_block = attribute_of(device, cudaDevAttrMaxRegistersPerBlock),
        .shared_per_sm = attribute_of(device, cudaDevAttrMaxSharedMemoryPerMultiprocessor),
        .shared_per_block = attribute_of(device, cudaDevAttrMaxSharedMemoryPerBlock),
        .shared_per_block_optin = attribute_of(device, cudaDevAttrMaxSharedMemoryPerBlockOptin),
        .shared_reserved = attribute_of(device, cudaDevAttrReservedSharedMemoryPerBlock),
        .memory_bytes = properties.totalGlobalMem};
    (void)snprintf(into->name, sizeof into->name, "%.*s", (int)sizeof into->name - 1,
                   properties.name);
    return true;
}

static void explain(struct job_surveyed *ret, cudaError_t status)
{
    char *why = ret->why_none;
    size_t room = sizeof ret->why_none;
    unsigned driver = ret->driver_version, runtime = ret->runtime_version;
    if (driver == 0)
        (void)snprintf(why, room, "no NVIDIA driver is installed (libcuda.so.1 was not found)");
    else if (status == cudaErrorInsufficientDriver)
        (void)snprintf(why, room,
                       "the driver supports CUDA %u.%u, which is too old for this program (built "
                       "with CUDA %u.%u)",
                       driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (status == cudaErrorNoDevice)
        (void)snprintf(why, room, "the driver is there, but shows no GPU to this process");
    else
        (void)snprintf(why, room, "the driver does not start: %s (%s)", cudaGetErrorString(status),
                       cudaGetErrorName(status));
}

void gpu_survey(struct job_surveyed *ret)
{
    int driver = 0, runtime = 0, count = 0;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    ret->driver_version = driver > 0 ? (uint32_t)driver : 0;
    ret->runtime_version = runtime > 0 ? (uint32_t)runtime : 0;
    ret->driver_present = driver > 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    for (int i = 0; status == cudaSuccess && i < count && i < JOB_GPUS_MAX; ++i)
        if (survey_device(&ret->devices[ret->device_count], i))
            ++ret->device_count;
    if (ret->device_count == 0)
        explain(ret, status);
}

#else

void gpu_survey(struct job_surveyed *ret)
{
    (void)snprintf(ret->why_none, sizeof ret->why_none,
                   "this spillway was built without a CUDA toolkit, so it cannot use a GPU");
}

#endif

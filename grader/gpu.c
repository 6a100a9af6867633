/* gpu.c - the device's context, the driver's calls, and which task goes where. */
#include "gpu.h"

#ifdef SPILLWAY_HAVE_CUDART

#include "gpu_internal.h"
#include "scrub.h"

/* One spelling for all toolkits: since CUDA 12.5 the wanted version is an argument, before that it
 * was the runtime's own. The meaning of every call we use is the same in both. */
static bool find_call(const char *name, void *slot)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void *address = NULL;
#if CUDART_VERSION >= 12050
    cudaError_t status =
        cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found);
#else
    cudaError_t status = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found);
#endif
    if (status != cudaSuccess || found != cudaDriverEntryPointSuccess || address == NULL) {
        (void)cudaGetLastError();
        return false;
    }
    memcpy(slot, &address, sizeof address); /* a data pointer is no function pointer in C */
    return true;
}

static int find_calls(struct gpu_driver *driver, struct error *err)
{
#define CALL(Name)                                                                                 \
    if (!find_call("cu" #Name, &driver->Name))                                                     \
        return error_set(err, ERROR_INFRASTRUCTURE,                                                \
                         "the driver has no cu" #Name ": it is older than CUDA 12.0");
    GPU_DRIVER_CALLS(CALL)
#undef CALL
    return 0;
}

static int runtime_error(struct error *err, cudaError_t status, const char *what)
{
    return error_set(err, ERROR_INFRASTRUCTURE, "%s: %s (%s)", what, cudaGetErrorString(status),
                     cudaGetErrorName(status));
}

/* A context, and a round trip of a few bytes: a device that a killed kernel left unusable fails
 * here and not in the middle of a grade. */
static int make_context(int device, struct error *err)
{
    cudaError_t status =
        cudaInitDevice(device, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid);
    if (status == cudaSuccess)
        status = cudaSetDevice(device);
    if (status != cudaSuccess)
        return runtime_error(err, status, "no context on the device");
    unsigned char bytes[256] = {0};
    void *memory = NULL;
    status = cudaMalloc(&memory, sizeof bytes);
    if (status == cudaSuccess)
        status = cudaMemset(memory, 0x5a, sizeof bytes);
    if (status == cudaSuccess)
        status = cudaMemcpy(bytes, memory, sizeof bytes, cudaMemcpyDeviceToHost);
    if (status == cudaSuccess)
        status = cudaFree(memory);
    if (status != cudaSuccess)
        return runtime_error(err, status, "the device does not answer");
    for (size_t i = 0; i < sizeof bytes; ++i)
        if (bytes[i] != 0x5a)
            return error_set(err, ERROR_INFRASTRUCTURE, "the device gives wrong bytes back");
    return 0;
}

static int read_attributes(struct gpu *gpu, struct job_hello *hello, struct error *err)
{
    int major = 0, minor = 0, mapping = 0;
    const struct {
        enum cudaDeviceAttr attribute;
        unsigned *into;
    } wanted[] = {
        {cudaDevAttrMultiProcessorCount, &gpu->sm_count},
        {cudaDevAttrMaxThreadsPerMultiProcessor, &gpu->threads_per_sm},
        {cudaDevAttrMaxThreadsPerBlock, &gpu->threads_per_block},
        {cudaDevAttrMaxRegistersPerBlock, &gpu->registers_per_block},
        {cudaDevAttrMaxSharedMemoryPerBlock, &gpu->shared_per_block},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, &gpu->shared_per_block_optin},
    };
    for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
        int value = 0;
        cudaError_t status = cudaDeviceGetAttribute(&value, wanted[i].attribute, gpu->device);
        if (status != cudaSuccess || value < 0)
            return runtime_error(err, status, "the device does not say its limits");
        *wanted[i].into = (unsigned)value;
    }
    (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu->device);
    (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu->device);
    gpu->cc = hello->cc = (unsigned)(major * 10 + minor);
    (void)gpu->driver.DeviceGetName(hello->device, (int)sizeof hello->device, gpu->device);
    CUuuid uuid = {{0}};
    if (gpu->driver.DeviceGetUuid(&uuid, gpu->device) == CUDA_SUCCESS)
        memcpy(hello->uuid, uuid.bytes, sizeof hello->uuid);
    const CUmemAllocationProp memory = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->device}};
    gpu->mapping =
        !gpu->job->header->guards_only &&
        gpu->driver.DeviceGetAttribute(&mapping,
                                       CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                       gpu->device) == CUDA_SUCCESS &&
        mapping != 0 &&
        gpu->driver.MemGetAllocationGranularity(&gpu->granularity, &memory,
                                                CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS &&
        gpu->granularity > 0;
    return 0;
}

static int load_scrub(struct gpu *gpu, struct error *err)
{
    const struct job_header *header = gpu->job->header;
    if (header->scrub_module.bytes == 0)
        return 0;
    void *sink = NULL;
    if (gpu->driver.ModuleLoadData(&gpu->scrub, gpu->job->base + header->scrub_module.offset) !=
            CUDA_SUCCESS ||
        cudaMalloc(&sink, 4) != cudaSuccess) {
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the kernel that scrubs local and shared memory does not load");
    }
    gpu->sink = (CUdeviceptr)(uintptr_t)sink;
    /* Each exists only when there is something of its kind to scrub. */
    if (gpu->driver.ModuleGetFunction(&gpu->scrub_local, gpu->scrub, SCRUB_LOCAL_ENTRY) !=
        CUDA_SUCCESS)
        gpu->scrub_local = NULL;
    if (gpu->driver.ModuleGetFunction(&gpu->scrub_shared, gpu->scrub, SCRUB_SHARED_ENTRY) !=
        CUDA_SUCCESS)
        gpu->scrub_shared = NULL;
    return 0;
}

struct gpu *gpu_open(const struct job *job, struct job_hello *hello, struct error *err)
{
    AUTO_FREE struct gpu *gpu = calloc(1, sizeof *gpu);
    if (gpu == NULL) {
        error_no_memory(err);
        return NULL;
    }
    gpu->job = job;
    gpu->device = (int)job->header->device;
    if (make_context(gpu->device, err) != 0 || find_calls(&gpu->driver, err) != 0 ||
        read_attributes(gpu, hello, err) != 0 || load_scrub(gpu, err) != 0)
        return NULL;
    return steal_pointer(&gpu);
}

void gpu_let_go(struct gpu *gpu)
{
    if (gpu->sink != 0)
        (void)cudaFree((void *)(uintptr_t)gpu->sink);
    if (gpu->scrub != NULL)
        (void)gpu->driver.ModuleUnload(gpu->scrub);
    gpu->sink = 0;
    gpu->scrub = NULL;
    gpu->scrub_local = gpu->scrub_shared = NULL;
    gpu->job = NULL;
}

int gpu_take(struct gpu *gpu, const struct job *job, struct job_hello *hello, struct error *err)
{
    if (job->header->executor != EXECUTOR_GPU || (int)job->header->device != gpu->device)
        return error_set(err, ERROR_INFRASTRUCTURE, "the next job is for another device");
    gpu->job = job;
    return read_attributes(gpu, hello, err) != 0 ? -1 : load_scrub(gpu, err);
}

void gpu_do(struct gpu *gpu, const struct job_task *task, struct job_record *answer)
{
    switch (task->kind) {
    case JOB_RUN:
        gpu_do_run(gpu, task->launch, answer);
        break;
    case JOB_FENCE:
        worker_mute(true);
        gpu_do_fence(gpu, task, answer);
        worker_mute(false);
        break;
    case JOB_TIME:
        worker_mute(true);
        gpu_do_time(gpu, task, answer);
        worker_mute(false);
        break;
    default:
        worker_record_trouble(answer, "the GPU executor was asked for something it does not do");
        break;
    }
}

void gpu_close(struct gpu *gpu)
{
    if (gpu == NULL)
        return;
    gpu_let_go(gpu);
    free(gpu);
    (void)cudaDeviceReset();
}

#else

#include "worker_answer.h"

struct gpu *gpu_open(const struct job *job, struct job_hello *hello, struct error *err)
{
    (void)job;
    (void)hello;
    error_set(err, ERROR_INFRASTRUCTURE, "this spillway was built without a CUDA toolkit");
    return NULL;
}

void gpu_do(struct gpu *gpu, const struct job_task *task, struct job_record *answer)
{
    (void)gpu;
    (void)task;
    worker_record_trouble(answer, "this spillway was built without a CUDA toolkit");
}

void gpu_let_go(struct gpu *gpu)
{
    (void)gpu;
}

int gpu_take(struct gpu *gpu, const struct job *job, struct job_hello *hello, struct error *err)
{
    (void)gpu, (void)job, (void)hello;
    return error_set(err, ERROR_INFRASTRUCTURE, "this spillway was built without a CUDA toolkit");
}

void gpu_close(struct gpu *gpu)
{
    (void)gpu;
}

#endif

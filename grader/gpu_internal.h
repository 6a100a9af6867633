/* gpu_internal.h - shared by the gpu_*.c files only: the driver's calls, and one launch's parts.
 *
 * A step that fails fills *answer (a fault of the kernel, or trouble with the machine) and returns
 * false; its caller cleans up and hands the answer on. */
#ifndef SPILLWAY_GPU_INTERNAL_H
#define SPILLWAY_GPU_INTERNAL_H

#include "gpu.h"
#include "worker_answer.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

/* The driver's calls that we use, by name without "cu". Their types and meaning are the same in
 * every driver since CUDA 12.0, which is the version that is asked for. */
#define GPU_DRIVER_CALLS(CALL)                                                                     \
    CALL(GetErrorName)                                                                             \
    CALL(GetErrorString)                                                                           \
    CALL(DeviceGetAttribute)                                                                       \
    CALL(DeviceGetName)                                                                            \
    CALL(DeviceGetUuid)                                                                            \
    CALL(ModuleLoadData)                                                                           \
    CALL(ModuleUnload)                                                                             \
    CALL(ModuleGetFunction)                                                                        \
    CALL(FuncGetAttribute)                                                                         \
    CALL(FuncSetAttribute)                                                                         \
    CALL(LaunchKernel)                                                                             \
    CALL(OccupancyMaxActiveBlocksPerMultiprocessor)                                                \
    CALL(MemAddressReserve)                                                                        \
    CALL(MemAddressFree)                                                                           \
    CALL(MemCreate)                                                                                \
    CALL(MemRelease)                                                                               \
    CALL(MemMap)                                                                                   \
    CALL(MemUnmap)                                                                                 \
    CALL(MemSetAccess)                                                                             \
    CALL(MemGetAllocationGranularity)                                                              \
    CALL(MemsetD32Async)

struct gpu_driver {
#define CALL(Name) __typeof__(cu##Name) *Name;
    GPU_DRIVER_CALLS(CALL)
#undef CALL
};

struct gpu {
    const struct job *job; /* borrowed */
    struct gpu_driver driver;
    int device;
    unsigned cc, sm_count, threads_per_sm, threads_per_block, registers_per_block;
    unsigned shared_per_block, shared_per_block_optin;
    CUmodule scrub;                       /* NULL: the job has none */
    CUfunction scrub_local, scrub_shared; /* NULL: nothing of that kind to scrub */
    CUdeviceptr sink;                     /* four bytes that the scrub kernel never writes */
    bool mapping;                         /* unmapped pages can be had */
    size_t granularity;                   /* of mapped memory */
};

/* ---- gpu_faults.c ----------------------------------------------------------------------------*/

/* What was being done when a call failed. */
enum gpu_step { GPU_SET_UP, GPU_LOAD, GPU_LAUNCH, GPU_FINISH };

struct gpu_kernel;

/* Turns an error code (CUresult and cudaError_t share their numbers) into an answer. Returns false,
 * always. `kernel` may be NULL during GPU_SET_UP and GPU_LOAD. */
bool gpu_fail(const struct gpu *gpu, struct job_record *answer, uint32_t launch, enum gpu_step step,
              const struct gpu_kernel *kernel, int code);

/* ---- gpu_launch.c ----------------------------------------------------------------------------*/

struct gpu_kernel {
    CUmodule module;
    CUfunction function;
    struct job_device device;
};

/* Loads a fresh copy of the module: its variables hold their initial values. */
bool gpu_load(struct gpu *gpu, uint32_t launch, struct gpu_kernel *kernel,
              struct job_record *answer);
void gpu_unload(struct gpu *gpu, struct gpu_kernel *kernel);

/* Where the buffers of a launch lie. */
struct gpu_place {
    CUdeviceptr data;
    CUdeviceptr base; /* of the allocation or mapping */
    size_t bytes, allocated;
    CUdeviceptr reserved; /* mapped: the address range, with unmapped pages on both sides */
    size_t reserved_bytes;
    CUmemGenericAllocationHandle handle;
    bool has_handle, is_mapped;
    size_t guard_before, guard_after; /* bytes beside the data that are watched */
};

struct gpu_places {
    struct gpu_place at[RUN_ARGUMENTS_MAX];
};

bool gpu_place_plain(struct gpu *gpu, uint32_t launch, struct gpu_places *places,
                     struct job_record *answer);
void gpu_places_free(struct gpu *gpu, struct gpu_places *places);

/* Pristine inputs, poisoned outputs. */
bool gpu_fill(struct gpu *gpu, uint32_t launch, const struct gpu_places *places,
              struct job_record *answer);
/* Overwrites what earlier kernels left in local and shared memory. Asynchronous. */
bool gpu_scrub(struct gpu *gpu, uint32_t pattern, struct job_record *answer);
/* Queues the launch: errors of the launch call only. */
bool gpu_queue(struct gpu *gpu, uint32_t launch, const struct gpu_kernel *kernel,
               const struct gpu_places *places, struct job_record *answer);
/* Waits for everything queued. */
bool gpu_finish(struct gpu *gpu, uint32_t launch, const struct gpu_kernel *kernel,
                struct job_record *answer);
bool gpu_poison_async(struct gpu *gpu, uint32_t launch, const struct gpu_place *place,
                      struct job_record *answer);

#define GPU_PATTERN_NAN UINT32_C(0x7fc0dead)    /* a NaN: what touches it shows */
#define GPU_PATTERN_NUMBER UINT32_C(0x44a5a5a5) /* 1325.177…: an ordinary number */

/* ---- The tasks -------------------------------------------------------------------------------*/

void gpu_do_run(struct gpu *gpu, uint32_t launch, struct job_record *answer);
void gpu_do_fence(struct gpu *gpu, const struct job_task *task, struct job_record *answer);
void gpu_do_time(struct gpu *gpu, const struct job_task *task, struct job_record *answer);

#endif

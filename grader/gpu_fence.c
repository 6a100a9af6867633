/* gpu_fence.c - JOB_FENCE: buffers that end (or begin) exactly at unmapped memory.
 *
 * cudaMalloc rounds up: one element past an array lies in memory that is really there, and nothing
 * reports it. Through the driver's virtual memory calls a buffer can be put at the very end of a
 * mapping whose next page is not mapped, and then the first byte too far is an illegal address.
 * Where those calls are missing, zones beside the buffer are filled and compared afterwards: that
 * shows what is written there, and, by launching twice over different zones, that an output
 * depends on what is read there. */
#ifdef SPILLWAY_HAVE_CUDART

#include "gpu_internal.h"

#define GUARD_BYTES ((size_t)64 << 10)  /* beside a buffer, without a fence */
#define WATCHED_BYTES ((size_t)4 << 10) /* beside a fenced buffer, within its mapping */

static const uint32_t guard_bytes[] = {0xa5, 0x7f};

/* ---- Placing ---------------------------------------------------------------------------------*/

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Reserves addresses for the buffer and an unmapped page on either side, and maps the middle. */
static CUresult map_middle(struct gpu *gpu, struct gpu_place *place)
{
    const CUmemAllocationProp memory = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->device}};
    const CUmemAccessDesc access = {.location = memory.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    place->allocated = round_up(place->bytes, gpu->granularity);
    place->reserved_bytes = place->allocated + 2 * gpu->granularity;
    CUresult status =
        gpu->driver.MemAddressReserve(&place->reserved, place->reserved_bytes, 0, 0, 0);
    if (status != CUDA_SUCCESS) {
        place->reserved = 0;
        return status;
    }
    status = gpu->driver.MemCreate(&place->handle, place->allocated, &memory, 0);
    if (status != CUDA_SUCCESS)
        return status;
    place->has_handle = true;
    place->base = place->reserved + gpu->granularity;
    status = gpu->driver.MemMap(place->base, place->allocated, 0, place->handle, 0);
    if (status != CUDA_SUCCESS)
        return status;
    place->is_mapped = true;
    return gpu->driver.MemSetAccess(place->base, place->allocated, &access, 1);
}

static bool place_fenced(struct gpu *gpu, const struct job_task *task, struct gpu_place *place,
                         struct job_record *answer)
{
    CUresult status = map_middle(gpu, place);
    if (status != CUDA_SUCCESS)
        return gpu_fail(gpu, answer, task->launch, GPU_SET_UP, NULL, status);
    place->data = place->base;
    if (task->fence_side == JOB_FENCE_END)
        place->data +=
            (place->allocated - place->bytes) / task->fence_alignment * task->fence_alignment;
    place->guard_before = smaller(place->data - place->base, WATCHED_BYTES);
    place->guard_after =
        smaller(place->base + place->allocated - place->data - place->bytes, WATCHED_BYTES);
    return true;
}

static bool place_guarded(struct gpu *gpu, const struct job_task *task, struct gpu_place *place,
                          struct job_record *answer)
{
    void *memory = NULL;
    cudaError_t status = cudaMalloc(&memory, place->bytes + 2 * GUARD_BYTES);
    if (status != cudaSuccess)
        return gpu_fail(gpu, answer, task->launch, GPU_SET_UP, NULL, (int)status);
    place->base = (CUdeviceptr)(uintptr_t)memory;
    place->data = place->base + GUARD_BYTES;
    place->guard_before = place->guard_after = GUARD_BYTES;
    return true;
}

static bool place_all(struct gpu *gpu, const struct job_task *task, struct gpu_places *places,
                      struct job_record *answer)
{
    const struct job_launch *spec = &gpu->job->launches[task->launch];
    const struct job_argument *arguments = job_launch_arguments(gpu->job, spec);
    for (size_t i = 0; i < spec->argument_count; ++i) {
        if (arguments[i].role == RUN_SCALAR || arguments[i].bytes == 0 ||
            (task->fenced >> i & 1) == 0)
            continue;
        places->at[i].bytes = arguments[i].bytes;
        if (gpu->mapping ? !place_fenced(gpu, task, &places->at[i], answer)
                         : !place_guarded(gpu, task, &places->at[i], answer))
            return false;
    }
    return gpu_place_plain(gpu, task->launch, places, answer); /* the others */
}

/* ---- Guard zones -----------------------------------------------------------------------------*/

static bool fill_guards(struct gpu *gpu, const struct gpu_places *places, uint32_t byte,
                        struct job_record *answer)
{
    for (size_t i = 0; i < COUNT_OF(places->at); ++i) {
        const struct gpu_place *place = &places->at[i];
        cudaError_t status = cudaSuccess;
        if (place->guard_before > 0)
            status = cudaMemset((void *)(uintptr_t)(place->data - place->guard_before), (int)byte,
                                place->guard_before);
        if (status == cudaSuccess && place->guard_after > 0)
            status = cudaMemset((void *)(uintptr_t)(place->data + place->bytes), (int)byte,
                                place->guard_after);
        if (status != cudaSuccess)
            return gpu_fail(gpu, answer, 0, GPU_SET_UP, NULL, (int)status);
    }
    return true;
}

/* Looks for the changed byte that lies nearest to the buffer. */
static bool check_zone(struct gpu *gpu, CUdeviceptr zone, size_t bytes, uint32_t byte, bool after,
                       struct job_record *answer, size_t argument)
{
    static unsigned char copy[GUARD_BYTES];
    if (bytes == 0)
        return true;
    cudaError_t status = cudaMemcpy(copy, (void *)(uintptr_t)zone, bytes, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess)
        return gpu_fail(gpu, answer, 0, GPU_SET_UP, NULL, (int)status);
    for (size_t distance = 0; distance < bytes; ++distance) {
        if (copy[after ? distance : bytes - 1 - distance] == byte)
            continue;
        if (!answer->fenced.changed || distance < answer->fenced.distance) {
            answer->fenced.changed = 1;
            answer->fenced.argument = (uint32_t)argument;
            answer->fenced.after = after;
            answer->fenced.distance = distance;
        }
        break;
    }
    return true;
}

static bool check_guards(struct gpu *gpu, const struct gpu_places *places, uint32_t byte,
                         struct job_record *answer)
{
    for (size_t i = 0; i < COUNT_OF(places->at); ++i) {
        const struct gpu_place *place = &places->at[i];
        if (!check_zone(gpu, place->data - place->guard_before, place->guard_before, byte, false,
                        answer, i) ||
            !check_zone(gpu, place->data + place->bytes, place->guard_after, byte, true, answer, i))
            return false;
    }
    return true;
}

/* ---- The task --------------------------------------------------------------------------------*/

static bool launch_fenced(struct gpu *gpu, const struct job_task *task,
                          const struct gpu_kernel *kernel, const struct gpu_places *places,
                          uint32_t byte, struct job_record *answer)
{
    return fill_guards(gpu, places, byte, answer) && gpu_fill(gpu, task->launch, places, answer) &&
           gpu_scrub(gpu, GPU_PATTERN_NAN, answer) &&
           gpu_queue(gpu, task->launch, kernel, places, answer) &&
           gpu_finish(gpu, task->launch, kernel, answer);
}

/* The outputs of one launch into `into` (as many bytes as outputs_bytes() says). */
static size_t outputs_bytes(const struct gpu *gpu, uint32_t launch)
{
    const struct job_launch *spec = &gpu->job->launches[launch];
    const struct job_argument *arguments = job_launch_arguments(gpu->job, spec);
    size_t bytes = 0;
    for (size_t i = 0; i < spec->argument_count; ++i)
        bytes += arguments[i].role == RUN_OUTPUT ? arguments[i].bytes : 0;
    return bytes;
}

static bool fetch_outputs(struct gpu *gpu, uint32_t launch, const struct gpu_places *places,
                          unsigned char *into, struct job_record *answer)
{
    const struct job_launch *spec = &gpu->job->launches[launch];
    const struct job_argument *arguments = job_launch_arguments(gpu->job, spec);
    for (size_t i = 0; i < spec->argument_count; ++i) {
        if (arguments[i].role != RUN_OUTPUT || arguments[i].bytes == 0)
            continue;
        cudaError_t status = cudaMemcpy(into, (void *)(uintptr_t)places->at[i].data,
                                        arguments[i].bytes, cudaMemcpyDeviceToHost);
        if (status != cudaSuccess)
            return gpu_fail(gpu, answer, launch, GPU_SET_UP, NULL, (int)status);
        into += arguments[i].bytes;
    }
    return true;
}

/* Two launches over different zones. */
static bool launch_guarded(struct gpu *gpu, const struct job_task *task,
                           const struct gpu_kernel *kernel, const struct gpu_places *places,
                           struct job_record *answer)
{
    size_t bytes = outputs_bytes(gpu, task->launch);
    AUTO_FREE unsigned char *outputs = malloc(2 * bytes + 1);
    struct job_record found;
    worker_record_init(&found, JOB_FENCED, task->launch);
    found.fenced.guarded = 1;
    if (outputs == NULL) {
        worker_record_trouble(answer, "out of memory");
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(guard_bytes); ++i) {
        if (!launch_fenced(gpu, task, kernel, places, guard_bytes[i], answer) ||
            !fetch_outputs(gpu, task->launch, places, outputs + i * bytes, answer))
            return false;
        if (!check_guards(gpu, places, guard_bytes[i], &found)) {
            *answer = found;
            return false;
        }
    }
    found.fenced.depends = memcmp(outputs, outputs + bytes, bytes) != 0;
    *answer = found;
    return true;
}

static bool launch_mapped(struct gpu *gpu, const struct job_task *task,
                          const struct gpu_kernel *kernel, const struct gpu_places *places,
                          struct job_record *answer)
{
    if (!launch_fenced(gpu, task, kernel, places, guard_bytes[0], answer))
        return false;
    worker_record_init(answer, JOB_FENCED, task->launch);
    return check_guards(gpu, places, guard_bytes[0], answer);
}

void gpu_do_fence(struct gpu *gpu, const struct job_task *task, struct job_record *answer)
{
    struct gpu_kernel kernel;
    struct gpu_places places = {0};
    if (!gpu->mapping && task->fence_side == JOB_FENCE_START) {
        worker_record_init(answer, JOB_FENCED,
                           task->launch); /* zones stand on both sides at once */
        answer->fenced.guarded = 1;
        return;
    }
    if (gpu_load(gpu, task->launch, &kernel, answer) && place_all(gpu, task, &places, answer)) {
        if (gpu->mapping)
            (void)launch_mapped(gpu, task, &kernel, &places, answer);
        else
            (void)launch_guarded(gpu, task, &kernel, &places, answer);
    }
    if (answer->kind == JOB_FAULT && answer->fault.ends_worker)
        return;
    gpu_places_free(gpu, &places);
    gpu_unload(gpu, &kernel);
}

#endif

/* gpu_launch.c - load a kernel, place and fill its buffers, scrub, launch, wait; and JOB_RUN. */
#ifdef SPILLWAY_HAVE_CUDART

#include "gpu_internal.h"

#define SCRUB_LOCAL_BLOCK 256
#define SCRUB_SHARED_BLOCK 64
#define SCRUB_WAVES 2
#define PARAMETER_BYTES_MAX 4096

/* ---- Loading ---------------------------------------------------------------------------------*/

static int64_t attribute_of(struct gpu *gpu, CUfunction function, CUfunction_attribute attribute)
{
    int value = -1;
    if (gpu->driver.FuncGetAttribute(&value, attribute, function) != CUDA_SUCCESS)
        return -1;
    return value;
}

static void read_kernel(struct gpu *gpu, const struct job_launch *launch, struct gpu_kernel *kernel)
{
    CUfunction function = kernel->function;
    int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]), blocks = -1;
    /* More dynamic shared memory than the default has to be asked for. */
    if (launch->shared_bytes > gpu->shared_per_block)
        (void)gpu->driver.FuncSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)launch->shared_bytes);
    if (gpu->driver.OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads,
                                                              launch->shared_bytes) != CUDA_SUCCESS)
        blocks = -1;
    kernel->device = (struct job_device){
        .registers = attribute_of(gpu, function, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .local_bytes = attribute_of(gpu, function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .shared_bytes = attribute_of(gpu, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .max_threads = attribute_of(gpu, function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .blocks_per_sm = blocks};
}

bool gpu_load(struct gpu *gpu, uint32_t launch, struct gpu_kernel *kernel,
              struct job_record *answer)
{
    const struct job *job = gpu->job;
    *kernel = (struct gpu_kernel){.device = {-1, -1, -1, -1, -1}};
    CUresult status =
        gpu->driver.ModuleLoadData(&kernel->module, job->base + job->header->module.offset);
    if (status != CUDA_SUCCESS) {
        kernel->module = NULL;
        return gpu_fail(gpu, answer, launch, GPU_LOAD, kernel, status);
    }
    status = gpu->driver.ModuleGetFunction(&kernel->function, kernel->module,
                                           job_text(job, job->launches[launch].symbol));
    if (status != CUDA_SUCCESS)
        return gpu_fail(gpu, answer, launch, GPU_LOAD, kernel, status);
    read_kernel(gpu, &job->launches[launch], kernel);
    return true;
}

void gpu_unload(struct gpu *gpu, struct gpu_kernel *kernel)
{
    if (kernel->module != NULL)
        (void)gpu->driver.ModuleUnload(kernel->module);
    kernel->module = NULL;
}

/* ---- Buffers ---------------------------------------------------------------------------------*/

bool gpu_place_plain(struct gpu *gpu, uint32_t launch, struct gpu_places *places,
                     struct job_record *answer)
{
    const struct job_launch *spec = &gpu->job->launches[launch];
    const struct job_argument *arguments = job_launch_arguments(gpu->job, spec);
    for (size_t i = 0; i < spec->argument_count; ++i) {
        struct gpu_place *place = &places->at[i];
        if (arguments[i].role == RUN_SCALAR || place->data != 0)
            continue;
        void *memory = NULL;
        /* cudaMalloc aligns to 256 bytes, in every version. */
        cudaError_t status = cudaMalloc(&memory, arguments[i].bytes > 0 ? arguments[i].bytes : 1);
        if (status != cudaSuccess)
            return gpu_fail(gpu, answer, launch, GPU_SET_UP, NULL, (int)status);
        place->base = place->data = (CUdeviceptr)(uintptr_t)memory;
        place->bytes = arguments[i].bytes;
    }
    return true;
}

static void free_place(struct gpu *gpu, struct gpu_place *place)
{
    if (place->is_mapped)
        (void)gpu->driver.MemUnmap(place->base, place->allocated);
    if (place->has_handle)
        (void)gpu->driver.MemRelease(place->handle);
    if (place->reserved != 0)
        (void)gpu->driver.MemAddressFree(place->reserved, place->reserved_bytes);
    else if (place->base != 0)
        (void)cudaFree((void *)(uintptr_t)place->base);
    *place = (struct gpu_place){0};
}

void gpu_places_free(struct gpu *gpu, struct gpu_places *places)
{
    for (size_t i = 0; i < COUNT_OF(places->at); ++i)
        free_place(gpu, &places->at[i]);
}

bool gpu_poison_async(struct gpu *gpu, uint32_t launch, const struct gpu_place *place,
                      struct job_record *answer)
{
    uint32_t word = run_poison_word(gpu->job->header->poison_seed, launch);
    size_t words = place->bytes / sizeof word, rest = place->bytes % sizeof word;
    int status = 0;
    if (words > 0)
        status = (int)gpu->driver.MemsetD32Async(place->data, word, words, NULL);
    if (status == 0 && rest > 0)
        status = (int)cudaMemcpy((void *)(uintptr_t)(place->data + words * sizeof word), &word,
                                 rest, cudaMemcpyHostToDevice);
    return status == 0 || gpu_fail(gpu, answer, launch, GPU_SET_UP, NULL, status);
}

bool gpu_fill(struct gpu *gpu, uint32_t launch, const struct gpu_places *places,
              struct job_record *answer)
{
    const struct job_launch *spec = &gpu->job->launches[launch];
    const struct job_argument *arguments = job_launch_arguments(gpu->job, spec);
    for (size_t i = 0; i < spec->argument_count; ++i) {
        const struct gpu_place *place = &places->at[i];
        if (arguments[i].role == RUN_SCALAR || place->bytes == 0)
            continue;
        if (arguments[i].role == RUN_OUTPUT) {
            if (!gpu_poison_async(gpu, launch, place, answer))
                return false;
            continue;
        }
        cudaError_t status =
            cudaMemcpy((void *)(uintptr_t)place->data, gpu->job->base + arguments[i].data.offset,
                       place->bytes, cudaMemcpyHostToDevice);
        if (status != cudaSuccess)
            return gpu_fail(gpu, answer, launch, GPU_SET_UP, NULL, (int)status);
    }
    return true;
}

/* ---- Launching -------------------------------------------------------------------------------*/

bool gpu_scrub(struct gpu *gpu, uint32_t pattern, struct job_record *answer)
{
    uint32_t probe = 0;
    void *parameters[] = {&pattern, &probe, &gpu->sink};
    const struct {
        CUfunction function;
        unsigned blocks_per_sm, threads;
    } kinds[] = {
        {gpu->scrub_local, gpu->threads_per_sm / SCRUB_LOCAL_BLOCK, SCRUB_LOCAL_BLOCK},
        {gpu->scrub_shared, 32, SCRUB_SHARED_BLOCK},
    };
    for (size_t i = 0; i < COUNT_OF(kinds); ++i) {
        if (kinds[i].function == NULL)
            continue;
        unsigned blocks = gpu->sm_count * kinds[i].blocks_per_sm * SCRUB_WAVES;
        CUresult status = gpu->driver.LaunchKernel(
            kinds[i].function, blocks, 1, 1, kinds[i].threads, 1, 1, 0, NULL, parameters, NULL);
        if (status != CUDA_SUCCESS)
            return gpu_fail(gpu, answer, 0, GPU_SET_UP, NULL, status);
    }
    return true;
}

/* The parameters as the kernel's parameter space holds them: each at its own alignment. A buffer
 * and its size, rather than a pointer a parameter: a kernel that declares more parameters than the
 * lab gives makes the driver read no further than this. */
static size_t pack(const struct job *job, const struct job_launch *spec,
                   const struct gpu_places *places, unsigned char into[PARAMETER_BYTES_MAX])
{
    const struct job_argument *arguments = job_launch_arguments(job, spec);
    size_t at = 0;
    for (size_t i = 0; i < spec->argument_count; ++i) {
        bool scalar = arguments[i].role == RUN_SCALAR;
        size_t bytes = scalar ? arguments[i].scalar_bytes : sizeof(CUdeviceptr);
        uint64_t value = scalar ? arguments[i].scalar : places->at[i].data;
        at = (at + bytes - 1) / bytes * bytes;
        memcpy(into + at, &value, bytes);
        at += bytes;
    }
    return at;
}

bool gpu_queue(struct gpu *gpu, uint32_t launch, const struct gpu_kernel *kernel,
               const struct gpu_places *places, struct job_record *answer)
{
    const struct job_launch *spec = &gpu->job->launches[launch];
    unsigned char parameters[PARAMETER_BYTES_MAX] = {0};
    size_t bytes = pack(gpu->job, spec, places, parameters);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    CUresult status = gpu->driver.LaunchKernel(
        kernel->function, spec->grid[0], spec->grid[1], spec->grid[2], spec->block[0],
        spec->block[1], spec->block[2], spec->shared_bytes, NULL, NULL, extra);
    return status == CUDA_SUCCESS || gpu_fail(gpu, answer, launch, GPU_LAUNCH, kernel, status);
}

bool gpu_finish(struct gpu *gpu, uint32_t launch, const struct gpu_kernel *kernel,
                struct job_record *answer)
{
    cudaError_t status = cudaStreamSynchronize(NULL);
    return status == cudaSuccess || gpu_fail(gpu, answer, launch, GPU_FINISH, kernel, (int)status);
}

/* ---- JOB_RUN ---------------------------------------------------------------------------------*/

/* Copies buffers of one role into the results. */
static bool fetch(struct gpu *gpu, uint32_t launch, const struct gpu_places *places, uint32_t role,
                  bool second, struct job_record *answer)
{
    const struct job_launch *spec = &gpu->job->launches[launch];
    const struct job_argument *arguments = job_launch_arguments(gpu->job, spec);
    for (size_t i = 0; i < spec->argument_count; ++i) {
        if (arguments[i].role != role || arguments[i].bytes == 0)
            continue;
        uint64_t offset = second ? arguments[i].second : arguments[i].first;
        cudaError_t status =
            cudaMemcpy(gpu->job->results + offset, (void *)(uintptr_t)places->at[i].data,
                       arguments[i].bytes, cudaMemcpyDeviceToHost);
        if (status != cudaSuccess)
            return gpu_fail(gpu, answer, launch, GPU_SET_UP, NULL, (int)status);
    }
    return true;
}

static bool launch_once(struct gpu *gpu, uint32_t launch, const struct gpu_kernel *kernel,
                        const struct gpu_places *places, uint32_t pattern,
                        struct job_record *answer)
{
    return gpu_fill(gpu, launch, places, answer) && gpu_scrub(gpu, pattern, answer) &&
           gpu_queue(gpu, launch, kernel, places, answer) &&
           gpu_finish(gpu, launch, kernel, answer);
}

static bool launch_twice(struct gpu *gpu, uint32_t launch, const struct gpu_kernel *kernel,
                         const struct gpu_places *places, struct job_record *answer)
{
    if (!launch_once(gpu, launch, kernel, places, GPU_PATTERN_NAN, answer) ||
        !fetch(gpu, launch, places, RUN_OUTPUT, false, answer) ||
        !fetch(gpu, launch, places, RUN_INPUT, false, answer))
        return false;
    worker_mute(true); /* it would print everything twice */
    bool finished = launch_once(gpu, launch, kernel, places, GPU_PATTERN_NUMBER, answer) &&
                    fetch(gpu, launch, places, RUN_OUTPUT, true, answer);
    worker_mute(false);
    return finished;
}

void gpu_do_run(struct gpu *gpu, uint32_t launch, struct job_record *answer)
{
    struct gpu_kernel kernel;
    struct gpu_places places = {0};
    if (gpu_load(gpu, launch, &kernel, answer) && gpu_place_plain(gpu, launch, &places, answer) &&
        launch_twice(gpu, launch, &kernel, &places, answer)) {
        worker_record_init(answer, JOB_RAN, launch);
        answer->ran.device = kernel.device;
    }
    if (answer->kind == JOB_FAULT && answer->fault.ends_worker)
        return;
    gpu_places_free(gpu, &places);
    gpu_unload(gpu, &kernel);
}

#endif

/* gpu_time.c - JOB_TIME: launches in turns, each between two events, each answer checked.
 *
 * Shared and throttled GPUs drift, so the kernels of a group take turns round by round and are
 * compared round by round. Before the first round everything runs for WARM_UP_NS: clocks rise only
 * under load. A round gives each kernel a rotated copy of its inputs (run.c says why) in the very
 * same buffers, poisons its outputs, and scrubs; all that is queued in front of the first event, so
 * that the host is ahead of the device when the event pair runs and its latency stays outside.
 * Inputs were just written, so they lie in L2 as far as they fit: times are warm. */
#ifdef SPILLWAY_HAVE_CUDART

#include "gpu_internal.h"
#include "process.h"
#include "timing.h"

#define ROTATIONS 3
#define WARM_UP_NS INT64_C(160000000)
#define ENOUGH_NS INT64_C(1000000000)  /* no further round for more certainty after this */
#define LONGEST_NS INT64_C(3000000000) /* no further round at all after this */
#define CERTAIN 0.01                   /* of each median: then more rounds are not worth it */
#define EMPTY_ROUNDS 31

struct timed_launch {
    uint32_t launch;
    struct gpu_kernel kernel;
    struct gpu_places places;
    struct gpu_places rotated[ROTATIONS]; /* device copies of the inputs; outputs unused */
    unsigned char *expected[ROTATIONS];   /* owned: all outputs, one after another */
    size_t output_bytes;
    bool differs;
};

struct timing {
    struct gpu *gpu;
    struct timed_launch *launches; /* owned */
    size_t count;
    cudaEvent_t begin, end;
    unsigned char *fetched; /* pinned; room for the largest outputs */
    size_t fetched_bytes;
};

static const struct job_launch *spec_of(const struct timing *timing, size_t index)
{
    return &timing->gpu->job->launches[timing->launches[index].launch];
}

static bool trouble(const struct timing *timing, size_t index, cudaError_t status,
                    struct job_record *answer)
{
    return gpu_fail(timing->gpu, answer, timing->launches[index].launch, GPU_SET_UP, NULL,
                    (int)status);
}

/* ---- Rotated inputs --------------------------------------------------------------------------*/

/* Elements keep their whole bytes: the step is a multiple of the largest element that the buffer's
 * size allows. */
static size_t rotation_bytes(size_t bytes, unsigned rotation)
{
    size_t unit = 16;
    while (bytes % unit != 0)
        unit /= 2;
    size_t units = bytes / unit;
    return units == 0 ? 0 : (size_t)rotation * 7 % units * unit;
}

static cudaError_t upload_rotated(const struct gpu_place *place, const unsigned char *data,
                                  unsigned rotation)
{
    size_t cut = rotation_bytes(place->bytes, rotation), tail = place->bytes - cut;
    cudaError_t status =
        cudaMemcpy((void *)(uintptr_t)place->data, data + cut, tail, cudaMemcpyHostToDevice);
    if (status == cudaSuccess && cut > 0)
        status =
            cudaMemcpy((void *)(uintptr_t)(place->data + tail), data, cut, cudaMemcpyHostToDevice);
    return status;
}

static bool make_rotations(struct timing *timing, size_t index, struct job_record *answer)
{
    struct timed_launch *timed = &timing->launches[index];
    const struct job_argument *arguments =
        job_launch_arguments(timing->gpu->job, spec_of(timing, index));
    for (unsigned r = 0; r < ROTATIONS; ++r) {
        for (size_t i = 0; i < spec_of(timing, index)->argument_count; ++i) {
            struct gpu_place *place = &timed->rotated[r].at[i];
            void *memory = NULL;
            if (arguments[i].role != RUN_INPUT || arguments[i].bytes == 0)
                continue;
            cudaError_t status = cudaMalloc(&memory, arguments[i].bytes);
            if (status != cudaSuccess)
                return trouble(timing, index, status, answer);
            place->base = place->data = (CUdeviceptr)(uintptr_t)memory;
            place->bytes = arguments[i].bytes;
            status = upload_rotated(place, timing->gpu->job->base + arguments[i].data.offset, r);
            if (status != cudaSuccess)
                return trouble(timing, index, status, answer);
        }
    }
    return true;
}

/* ---- One launch ------------------------------------------------------------------------------*/

/* Queues what comes before a launch: scrub, fresh inputs, poison. */
static bool queue_inputs(struct timing *timing, size_t index, unsigned rotation,
                         struct job_record *answer)
{
    struct timed_launch *timed = &timing->launches[index];
    const struct job_argument *arguments =
        job_launch_arguments(timing->gpu->job, spec_of(timing, index));
    if (!gpu_scrub(timing->gpu, rotation % 2 == 0 ? GPU_PATTERN_NAN : GPU_PATTERN_NUMBER, answer))
        return false;
    for (size_t i = 0; i < spec_of(timing, index)->argument_count; ++i) {
        const struct gpu_place *place = &timed->places.at[i];
        cudaError_t status = cudaSuccess;
        if (arguments[i].role == RUN_OUTPUT &&
            !gpu_poison_async(timing->gpu, timed->launch, place, answer))
            return false;
        if (arguments[i].role == RUN_INPUT && place->bytes > 0)
            status = cudaMemcpyAsync((void *)(uintptr_t)place->data,
                                     (void *)(uintptr_t)timed->rotated[rotation].at[i].data,
                                     place->bytes, cudaMemcpyDeviceToDevice, NULL);
        if (status != cudaSuccess)
            return trouble(timing, index, status, answer);
    }
    return true;
}

static bool queue_launch(struct timing *timing, size_t index, const struct gpu_kernel *kernel,
                         unsigned rotation, struct job_record *answer)
{
    struct timed_launch *timed = &timing->launches[index];
    if (!queue_inputs(timing, index, rotation, answer))
        return false;
    cudaError_t status = cudaEventRecord(timing->begin, NULL);
    if (status != cudaSuccess)
        return trouble(timing, index, status, answer);
    if (!gpu_queue(timing->gpu, timed->launch, kernel, &timed->places, answer))
        return false;
    status = cudaEventRecord(timing->end, NULL);
    return status == cudaSuccess || trouble(timing, index, status, answer);
}

static bool launch_timed(struct timing *timing, size_t index, const struct gpu_kernel *kernel,
                         unsigned rotation, double *ns, struct job_record *answer)
{
    float ms = 0;
    if (!queue_launch(timing, index, kernel, rotation, answer) ||
        !gpu_finish(timing->gpu, timing->launches[index].launch, kernel, answer))
        return false;
    cudaError_t status = cudaEventElapsedTime(&ms, timing->begin, timing->end);
    if (status != cudaSuccess)
        return trouble(timing, index, status, answer);
    *ns = (double)ms * 1e6;
    return true;
}

static bool fetch(struct timing *timing, size_t index, unsigned char *into,
                  struct job_record *answer)
{
    struct timed_launch *timed = &timing->launches[index];
    const struct job_argument *arguments =
        job_launch_arguments(timing->gpu->job, spec_of(timing, index));
    for (size_t i = 0; i < spec_of(timing, index)->argument_count; ++i) {
        if (arguments[i].role != RUN_OUTPUT || arguments[i].bytes == 0)
            continue;
        cudaError_t status = cudaMemcpy(into, (void *)(uintptr_t)timed->places.at[i].data,
                                        arguments[i].bytes, cudaMemcpyDeviceToHost);
        if (status != cudaSuccess)
            return trouble(timing, index, status, answer);
        into += arguments[i].bytes;
    }
    return true;
}

/* ---- Setting up ------------------------------------------------------------------------------*/

/* The right answer to each rotation: from a module that has just been loaded, so that nothing of an
 * earlier launch can be in it. */
static bool learn_answers(struct timing *timing, size_t index, struct job_record *answer)
{
    struct timed_launch *timed = &timing->launches[index];
    for (unsigned r = 0; r < ROTATIONS; ++r) {
        struct gpu_kernel fresh;
        double ns = 0;
        timed->expected[r] = malloc(timed->output_bytes + 1);
        if (timed->expected[r] == NULL) {
            worker_record_trouble(answer, "out of memory");
            return false;
        }
        worker_progress(timed->launch, 0);
        if (!gpu_load(timing->gpu, timed->launch, &fresh, answer))
            return false;
        bool learnt = launch_timed(timing, index, &fresh, r, &ns, answer) &&
                      fetch(timing, index, timed->expected[r], answer);
        if (answer->kind != JOB_FAULT || !answer->fault.ends_worker)
            gpu_unload(timing->gpu, &fresh);
        if (!learnt)
            return false;
    }
    return true;
}

static bool set_up(struct timing *timing, struct job_record *answer)
{
    cudaError_t status = cudaEventCreate(&timing->begin);
    if (status == cudaSuccess)
        status = cudaEventCreate(&timing->end);
    for (size_t i = 0; i < timing->count; ++i) {
        struct timed_launch *timed = &timing->launches[i];
        const struct job_launch *spec = spec_of(timing, i);
        const struct job_argument *arguments = job_launch_arguments(timing->gpu->job, spec);
        for (size_t k = 0; k < spec->argument_count; ++k)
            timed->output_bytes += arguments[k].role == RUN_OUTPUT ? arguments[k].bytes : 0;
        if (timed->output_bytes > timing->fetched_bytes)
            timing->fetched_bytes = timed->output_bytes;
    }
    if (status == cudaSuccess)
        status = cudaMallocHost((void **)&timing->fetched, timing->fetched_bytes + 1);
    if (status != cudaSuccess)
        return trouble(timing, 0, status, answer);
    for (size_t i = 0; i < timing->count; ++i) {
        struct timed_launch *timed = &timing->launches[i];
        if (!gpu_place_plain(timing->gpu, timed->launch, &timed->places, answer) ||
            !make_rotations(timing, i, answer) || !learn_answers(timing, i, answer) ||
            !gpu_load(timing->gpu, timed->launch, &timed->kernel, answer))
            return false;
    }
    return true;
}

static void tear_down(struct timing *timing)
{
    if (timing->begin != NULL)
        (void)cudaEventDestroy(timing->begin);
    if (timing->end != NULL)
        (void)cudaEventDestroy(timing->end);
    if (timing->fetched != NULL)
        (void)cudaFreeHost(timing->fetched);
    for (size_t i = 0; i < timing->count; ++i) {
        struct timed_launch *timed = &timing->launches[i];
        gpu_places_free(timing->gpu, &timed->places);
        gpu_unload(timing->gpu, &timed->kernel);
        for (unsigned r = 0; r < ROTATIONS; ++r) {
            gpu_places_free(timing->gpu, &timed->rotated[r]);
            free(timed->expected[r]);
        }
    }
    free(timing->launches);
}

/* ---- Rounds ----------------------------------------------------------------------------------*/

static bool warm_up(struct timing *timing, struct job_record *answer)
{
    for (size_t i = 0; i < timing->count; ++i) {
        struct timed_launch *timed = &timing->launches[i];
        int64_t until = process_now_ns() + WARM_UP_NS / (int64_t)timing->count;
        double ns = 0;
        worker_progress(timed->launch, 0);
        do
            if (!launch_timed(timing, i, &timed->kernel, 0, &ns, answer))
                return false;
        while (process_now_ns() < until);
    }
    return true;
}

/* What an event pair says around nothing at all. Work in front of it lets the host get ahead, as in
 * a timed launch. 0 when it cannot be measured. */
static double measure_empty(struct timing *timing)
{
    double samples[EMPTY_ROUNDS];
    struct job_record ignored;
    for (size_t i = 0; i < COUNT_OF(samples); ++i) {
        float ms = 0;
        if (!queue_inputs(timing, 0, 0, &ignored) ||
            cudaEventRecord(timing->begin, NULL) != cudaSuccess ||
            cudaEventRecord(timing->end, NULL) != cudaSuccess ||
            cudaStreamSynchronize(NULL) != cudaSuccess ||
            cudaEventElapsedTime(&ms, timing->begin, timing->end) != cudaSuccess)
            return 0;
        samples[i] = (double)ms * 1e6;
    }
    return timing_summarise(samples, COUNT_OF(samples)).median;
}

static double *samples_of(const struct timing *timing, size_t index)
{
    return (double *)(void *)(timing->gpu->job->results + spec_of(timing, index)->samples);
}

static bool certain(const struct timing *timing, unsigned rounds)
{
    for (size_t i = 0; i < timing->count; ++i)
        if (timing_uncertainty(samples_of(timing, i), rounds) > CERTAIN)
            return false;
    return true;
}

static bool one_round(struct timing *timing, unsigned round, struct job_record *answer)
{
    /* Neighbouring rounds never use the same rotation. */
    unsigned rotation = round % ROTATIONS;
    for (size_t i = 0; i < timing->count; ++i) {
        struct timed_launch *timed = &timing->launches[i];
        worker_progress(timed->launch, round + 1);
        if (!launch_timed(timing, i, &timed->kernel, rotation, &samples_of(timing, i)[round],
                          answer) ||
            !fetch(timing, i, timing->fetched, answer))
            return false;
        if (memcmp(timing->fetched, timed->expected[rotation], timed->output_bytes) != 0)
            timed->differs = true;
    }
    return true;
}

static bool all_rounds(struct timing *timing, unsigned *rounds, struct job_record *answer)
{
    unsigned wanted = timing->gpu->job->header->timing_rounds;
    int64_t began = process_now_ns();
    *rounds = 0;
    while (*rounds < JOB_SAMPLES_MAX) {
        int64_t spent = process_now_ns() - began;
        bool needed = *rounds < wanted && spent < LONGEST_NS;
        bool wished = spent < ENOUGH_NS && (*rounds == 0 || !certain(timing, *rounds));
        if (!needed && !wished)
            break;
        if (!one_round(timing, *rounds, answer))
            return false;
        ++*rounds;
    }
    return true;
}

void gpu_do_time(struct gpu *gpu, const struct job_task *task, struct job_record *answer)
{
    struct timing timing = {.gpu = gpu,
                            .launches = calloc(task->timed_count, sizeof *timing.launches),
                            .count = task->timed_count};
    unsigned rounds = 0;
    if (timing.launches == NULL) {
        worker_record_trouble(answer, "out of memory");
        return;
    }
    for (size_t i = 0; i < timing.count; ++i)
        timing.launches[i].launch = task->timed[i];
    worker_record_init(answer, JOB_TIMED, 0);
    if (set_up(&timing, answer) && warm_up(&timing, answer)) {
        double empty_ns = measure_empty(&timing);
        if (all_rounds(&timing, &rounds, answer)) {
            worker_record_init(answer, JOB_TIMED, 0);
            answer->timed.count = task->timed_count;
            answer->timed.rounds = rounds;
            answer->timed.empty_ns = empty_ns;
            for (size_t i = 0; i < timing.count; ++i)
                answer->timed.differs[i] = timing.launches[i].differs;
        }
    }
    if (answer->kind == JOB_FAULT && answer->fault.ends_worker)
        return;                        /* the context is dead: the process ends */
    if (answer->kind == JOB_TROUBLE) { /* no memory for this, say: no times then, but a grade */
        worker_record_init(answer, JOB_TIMED, 0);
        answer->timed.count = task->timed_count;
    }
    tear_down(&timing);
}

#endif

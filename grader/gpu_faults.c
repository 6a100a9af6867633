/* gpu_faults.c - what an error code of the driver means for a student, or for us.
 *
 * The codes are cuda.h's. Which of them a kernel can bring about, and in which call they surface,
 * was measured: a trap ends as 719 at the synchronisation, a launch beyond a launch bound as 1 and
 * too many registers as 701 in the launch call itself; after 7xx at a synchronisation every later
 * call of the process fails. */
#ifdef SPILLWAY_HAVE_CUDART

#include "gpu_internal.h"

/* ---- Faults of a running kernel --------------------------------------------------------------*/

static const struct {
    int code;
    const char *kind, *sentence;
} faults[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, "illegal address",
     "the kernel read or wrote an address that no buffer has. The GPU stops the whole launch and "
     "does not say which thread it was; run it on the emulator to see the source line"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned",
     "the kernel accessed an address that is no multiple of the access's own size, as a float2 at "
     "an odd float would"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, "wrong address space",
     "an instruction for one kind of memory was given an address of another"},
    {CUDA_ERROR_INVALID_PC, "wrong jump", "the kernel jumped to an address that holds no code"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "illegal instruction",
     "the kernel met an instruction that the GPU does not execute"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, "stack overflow",
     "the kernel overflowed its call stack or corrupted it, as endless recursion does"},
    {CUDA_ERROR_ASSERT, "assertion", "an assert() in the kernel failed"},
    {CUDA_ERROR_LAUNCH_FAILED, "trap",
     "the kernel ended itself (a trap, or a fault that the GPU does not name)"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "time out",
     "the driver's watchdog stopped the kernel, since this GPU also draws a screen"},
};

static const char *error_name(const struct gpu *gpu, int code)
{
    const char *name = NULL;
    if (gpu->driver.GetErrorName((CUresult)code, &name) != CUDA_SUCCESS || name == NULL)
        return "unknown error";
    return name;
}

static const char *error_words(const struct gpu *gpu, int code)
{
    const char *words = NULL;
    if (gpu->driver.GetErrorString((CUresult)code, &words) != CUDA_SUCCESS || words == NULL)
        return "no description";
    return words;
}

static void running_fault(const struct gpu *gpu, struct job_record *answer, uint32_t launch,
                          int code)
{
    for (size_t i = 0; i < COUNT_OF(faults); ++i) {
        if (faults[i].code != code)
            continue;
        worker_record_fault(answer, launch,
                            code == CUDA_ERROR_LAUNCH_TIMEOUT ? RUN_TIMED_OUT : RUN_FAULTED,
                            faults[i].kind, "%s. The driver calls it %s.", faults[i].sentence,
                            error_name(gpu, code));
        answer->fault.ends_worker = 1;
        answer->fault.address = code == CUDA_ERROR_ILLEGAL_ADDRESS;
        answer->fault.misaligned = code == CUDA_ERROR_MISALIGNED_ADDRESS;
        return;
    }
    /* Memory errors of the hardware, a device that fell off its bus, …: not the kernel's doing. */
    worker_record_trouble(answer, "GPU %d failed while a kernel ran: %s (%s)", gpu->device,
                          error_words(gpu, code), error_name(gpu, code));
}

/* ---- Launches that are refused ---------------------------------------------------------------*/

static void refused_launch(const struct gpu *gpu, struct job_record *answer, uint32_t launch,
                           const struct gpu_kernel *kernel, int code)
{
    const struct job_launch *spec = &gpu->job->launches[launch];
    unsigned long long threads =
        (unsigned long long)spec->block[0] * spec->block[1] * spec->block[2];
    long long registers = kernel->device.registers;
    long long bound = kernel->device.max_threads;
    long long shared = kernel->device.shared_bytes + spec->shared_bytes;
    const char *kind = "launch refused";
    if (code == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && registers > 0) {
        long long rounded = (registers + 7) / 8 * 8;
        worker_record_fault(
            answer, launch, RUN_FAULTED, kind,
            "too many resources requested for launch: %lld registers a thread are handed out as "
            "%lld (in steps of 8), and %lld x %llu threads are %lld, but a block may have %u. The "
            "largest block that fits has %lld threads.",
            registers, rounded, rounded, threads, rounded * (long long)threads,
            gpu->registers_per_block, bound);
    } else if (threads > gpu->threads_per_block) {
        worker_record_fault(answer, launch, RUN_FAULTED, kind,
                            "a block of %llu threads is more than this GPU allows (%u).", threads,
                            gpu->threads_per_block);
    } else if (bound > 0 && threads > (unsigned long long)bound) {
        worker_record_fault(
            answer, launch, RUN_FAULTED, kind,
            "the launch has %llu threads a block, but the kernel takes at most %lld (its launch "
            "bounds, or its %lld registers a thread, allow no more): the driver answers \"invalid "
            "value\" and nothing is computed.",
            threads, bound, registers);
    } else if (shared > gpu->shared_per_block_optin) {
        worker_record_fault(answer, launch, RUN_FAULTED, kind,
                            "%lld bytes of shared memory a block are more than this GPU has (%u).",
                            shared, gpu->shared_per_block_optin);
    } else if (code == CUDA_ERROR_OUT_OF_MEMORY) {
        worker_record_fault(
            answer, launch, RUN_FAULTED, "out of memory",
            "the GPU has no room for the kernel's local memory: %lld bytes a thread, times %u "
            "threads on each of %u SMs.",
            (long long)kernel->device.local_bytes, gpu->threads_per_sm, gpu->sm_count);
    } else {
        worker_record_fault(answer, launch, RUN_FAULTED, kind,
                            "the driver refuses the launch: %s (%s).", error_words(gpu, code),
                            error_name(gpu, code));
    }
}

/* ---- Modules that do not load ----------------------------------------------------------------*/

static void failed_load(const struct gpu *gpu, struct job_record *answer, uint32_t launch, int code)
{
    const char *symbol = job_text(gpu->job, gpu->job->launches[launch].symbol);
    switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        worker_record_fault(answer, launch, RUN_FAULTED, "out of memory",
                            "the compiled kernels need more memory than GPU %d has: a variable of "
                            "the module (__device__ …) is too large.",
                            gpu->device);
        break;
    case CUDA_ERROR_NOT_FOUND:
        worker_record_fault(answer, launch, RUN_FAULTED, "no such kernel",
                            "the compiled module has no kernel \"%.200s\".", symbol);
        break;
    default:
        worker_record_trouble(answer, "GPU %d (sm_%u) does not load the compiled kernels: %s (%s)",
                              gpu->device, gpu->cc, error_words(gpu, code), error_name(gpu, code));
        break;
    }
}

bool gpu_fail(const struct gpu *gpu, struct job_record *answer, uint32_t launch, enum gpu_step step,
              const struct gpu_kernel *kernel, int code)
{
    switch (step) {
    case GPU_SET_UP:
        worker_record_trouble(
            answer, "GPU %d: %s (%s)%s", gpu->device, error_words(gpu, code), error_name(gpu, code),
            code == CUDA_ERROR_OUT_OF_MEMORY ? ": is another program using it?" : "");
        break;
    case GPU_LOAD:
        failed_load(gpu, answer, launch, code);
        break;
    case GPU_LAUNCH:
        refused_launch(gpu, answer, launch, kernel, code);
        break;
    case GPU_FINISH:
        running_fault(gpu, answer, launch, code);
        break;
    }
    if (answer->kind == JOB_FAULT && kernel != NULL)
        answer->fault.device = kernel->device;
    return false;
}

#endif

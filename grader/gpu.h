/* gpu.h - the GPU executor, inside the worker process.
 *
 * Plain C on cudart_static; whatever the runtime lacks in some version (modules, launches by
 * handle, virtual memory) is the driver's, found through cudaGetDriverEntryPoint. Built without a
 * toolkit, gpu_open() and gpu_survey() say so in a sentence. One thread, one device, one stream. */
#ifndef SPILLWAY_GPU_H
#define SPILLWAY_GPU_H

#include "job.h"

struct gpu;

/* Makes the device's context and proves by a small round trip that it answers. NULL with *err. The
 * job must outlive the result. */
struct gpu *gpu_open(const struct job *job, struct job_hello *hello, struct error *err);

/* Does one task (JOB_RUN, JOB_FENCE, JOB_TIME). Always fills *answer; after JOB_FAULT with
 * ends_worker the context is dead and only gpu_abandon() is left. */
void gpu_do(struct gpu *gpu, const struct job_task *task, struct job_record *answer);

/* Another job on the same context: first the old one is let go of (and may be released then), then
 * the new one taken. -1 with *err, and only gpu_close() is left. */
void gpu_let_go(struct gpu *gpu);
int gpu_take(struct gpu *gpu, const struct job *job, struct job_hello *hello, struct error *err);

void gpu_close(struct gpu *gpu);

/* What GPUs the driver shows. Never fails: why_none says why there are none. */
void gpu_survey(struct job_surveyed *ret);

#endif

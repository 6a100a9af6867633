/* worker.h - inside the worker process: what executors share, and how they answer.
 *
 * A worker maps the job, brings its executor up, says hello, and then does one task after another
 * until its socket closes. An executor fills one record per task. */
#ifndef SPILLWAY_WORKER_H
#define SPILLWAY_WORKER_H

#include "job.h"

/* Turns *record into an answer of this kind, empty but for the launch and unknown device numbers.
 */
void worker_record_init(struct job_record *record, enum job_record_kind kind, uint32_t launch);

/* Turns *record into JOB_FAULT with this kind and sentence. */
void worker_record_fault(struct job_record *record, uint32_t launch, enum run_status status,
                         const char *kind, const char *format, ...) PRINTF_LIKE(5, 6);

/* Turns *record into JOB_TROUBLE. */
void worker_record_trouble(struct job_record *record, const char *format, ...) PRINTF_LIKE(2, 3);

/* Sends JOB_PROGRESS at once: `launch` is about to run. */
void worker_progress(uint32_t launch, uint64_t round);

/* Sends standard output to /dev/null, or back to the grader. Flushes first. */
void worker_mute(bool mute);

/* Fills `bytes` bytes with the poison of this launch. */
void worker_fill_poison(void *into, size_t bytes, uint32_t word);

/* ---- Executors -------------------------------------------------------------------------------*/

/* Runs one launch on the emulator. Always fills *answer. */
void worker_emulate(const struct job *job, uint32_t launch, struct job_record *answer);
/* CPUs that this process may use. */
unsigned worker_cpu_count(void);

#endif

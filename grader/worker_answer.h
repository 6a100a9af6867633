/* worker_answer.h - inside the worker process: how executors answer, and what they share.
 *
 * An executor fills one record per task; worker.c sends it. Only progress goes out at once. Nothing
 * here fails but the sending, when the grader is gone. */
#ifndef SPILLWAY_WORKER_ANSWER_H
#define SPILLWAY_WORKER_ANSWER_H

#include "job.h"

/* Turns *record into an answer of this kind, empty but for the launch and unknown device numbers.
 */
void worker_record_init(struct job_record *record, enum job_record_kind kind, uint32_t launch);

/* Turns *record into JOB_FAULT with this kind and sentence. */
void worker_record_fault(struct job_record *record, uint32_t launch, enum run_status status,
                         const char *kind, const char *format, ...) PRINTF_LIKE(5, 6);

/* Turns *record into JOB_TROUBLE. */
void worker_record_trouble(struct job_record *record, const char *format, ...) PRINTF_LIKE(2, 3);

/* What is sent from here on answers the task of this sequence number. */
void worker_answer_begin(uint32_t task_sequence);

/* Sends it to the grader. False when the grader is gone. */
bool worker_answer_send(struct job_record *record);

/* Sends JOB_PROGRESS at once: `launch` is about to run. Ends the process when nobody listens. */
void worker_progress(uint32_t launch, uint64_t round);

/* Sends standard output to /dev/null, or back to the grader. Flushes first. */
void worker_mute(bool mute);

/* Fills `bytes` bytes with the poison of this launch. */
void worker_fill_poison(void *into, size_t bytes, uint32_t word);

#endif

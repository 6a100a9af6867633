/* run_result.h - turn a worker's record and the bytes in shared memory into a launch's result.
 *
 * Here the comparisons are made that need no knowledge of the lab: an input that changed, two
 * launches that differ. Everything is copied: the next launch uses the same shared memory. Text
 * that came from outside loses its control characters. */
#ifndef SPILLWAY_RUN_RESULT_H
#define SPILLWAY_RUN_RESULT_H

#include "job.h"
#include "worker_process.h"

/* An empty result: RUN_NOT_RUN, every device number unknown. */
void run_result_init(struct run_launch_result *result);
void run_result_release(struct run_launch_result *result);

/* JOB_RAN: outputs, inputs, traffic. -1 with *err when memory is short. */
int run_result_take_ran(struct run_launch_result *result, const struct job *job, size_t launch,
                        const struct job_ran *ran, struct error *err);

/* JOB_FAULT. Drops the outputs: they mean nothing. */
void run_result_take_fault(struct run_launch_result *result, const struct job_faulted *fault);

/* A fault in our own words. Drops the outputs. */
void run_result_set_fault(struct run_launch_result *result, enum run_status status,
                          const char *kind, const char *format, ...) PRINTF_LIKE(4, 5);

/* JOB_TIMED: one launch's samples, as they lie in shared memory. */
int run_result_take_times(struct run_launch_result *result, const struct job *job, size_t launch,
                          const struct job_timed *timed, size_t index, struct error *err);

/* What the kernel printed, if anything. Short memory loses it silently. */
void run_result_take_printed(struct run_launch_result *result, struct worker *worker);

/* Puts the first line of the worker's standard error behind the fault's text: there the driver says
 * which device assertion failed. */
void run_result_add_words(struct run_launch_result *result, const struct worker *worker);

#endif

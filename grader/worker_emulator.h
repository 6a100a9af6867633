/* worker_emulator.h - the emulator as an executor, inside the worker process. */
#ifndef SPILLWAY_WORKER_EMULATOR_H
#define SPILLWAY_WORKER_EMULATOR_H

#include "job.h"

/* Runs one launch. Always fills *answer. */
void worker_emulate(const struct job *job, uint32_t launch, struct job_record *answer);

/* Threads that it runs with: the job's, else one for each CPU that this process may use. */
unsigned worker_emulator_threads(const struct job *job);

#endif

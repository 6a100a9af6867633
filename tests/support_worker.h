/* support_worker.h - stand-ins for the worker process, so that the grader's side of a run is tested
 * without an executor, and against workers that misbehave in every way.
 *
 * fake_worker() runs in the forked child in place of the exec'd program. What it does with a launch
 * is in the kernel's name: see the table in support_worker.c. */
#ifndef SPILLWAY_SUPPORT_WORKER_H
#define SPILLWAY_SUPPORT_WORKER_H

#include "job.h"

/* Counters shared by the test and all its workers. */
struct fake_shared {
    unsigned started;             /* workers */
    unsigned runs, fences, times; /* tasks that arrived */
    unsigned nexts;               /* jobs after the first */
    pid_t last_pid;
};
extern struct fake_shared *fake_shared;

/* Makes fake_worker() stand in for the worker in this process, with fresh counters. */
void fake_worker_install(void);

#endif

/* student_wait.h - how long a student waits for the first marks after a save. */
#ifndef SPILLWAY_BENCH_STUDENT_WAIT_H
#define SPILLWAY_BENCH_STUDENT_WAIT_H

#include "base.h"

/* Runs `spillway watch` over a copy of the lab in `folder`, saves one changed kernel `rounds`
 * times, and fills for each: from the save to the first marks, and to the last. False when it
 * cannot. */
bool bench_watch(const char *spillway, const char *nvcc, const char *folder, unsigned rounds,
                 double *first_ns, double *all_ns);

#endif

/* student_wait.h - how long a student waits for the first marks after a save. */
#ifndef SPILLWAY_BENCH_STUDENT_WAIT_H
#define SPILLWAY_BENCH_STUDENT_WAIT_H

#include "bench.h"

struct student_wait {         /* of each round, in ns */
    struct series compiled;   /* `floor`, right before the save */
    struct series first, all; /* from the save to the first mark that changed, and to the last */
};

/* Runs `spillway watch` over a copy of the lab, saves one changed kernel in each round, and `floor`
 * (the compiler alone, argv) before it. False: it did not show what it should. */
bool bench_watch(const struct bench *bench, const char *const *floor, struct student_wait *out);

#endif

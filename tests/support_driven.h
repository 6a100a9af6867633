/* support_driven.h - a program that keeps running while a test writes files and reads what it says.
 * Stands alone: the benchmarks use it too. */
#ifndef SPILLWAY_SUPPORT_DRIVEN_H
#define SPILLWAY_SUPPORT_DRIVEN_H

#include "bytes.h"

#include <sys/types.h>

struct driven {
    pid_t pid;
    int output;        /* its standard output and error */
    struct bytes said; /* all of it so far */
    size_t heard;      /* what was waited for ends here */
};

/* False when it cannot be started. */
bool driven_start(struct driven *out, const char *const *argv, const char *const *environment);

/* Reads on until `marker` stands behind what was waited for before. False when the program ends, or
 * has not said it within 60 s. */
bool driven_wait(struct driven *driven, const char *marker);

/* Sends the signal, waits for the end, and returns the exit status (-1: ended by a signal). */
int driven_stop(struct driven *driven, int signal);

#endif

/* faults.h - what a test and the program it starts share: which call shall fail.
 *
 * The test program `faulty` is spillway with faults.c linked in front of the C library. When it
 * starts it maps the file `faults` in $HOME, a struct faults; without that file nothing fails. */
#ifndef SPILLWAY_FAULTS_H
#define SPILLWAY_FAULTS_H

#include "base.h"

#include <stdatomic.h>

enum fault_kind {
    FAULT_MEMORY, /* an allocation, of ours or of any library */
    FAULT_SYSTEM, /* a call of the operating system */
    FAULT_KINDS
};

enum fault_process {
    FAULT_GRADER, /* the command itself */
    FAULT_CHILD,  /* a process that it forked, until that runs another program */
    FAULT_WORKER, /* `spillway worker` */
    FAULT_PROCESSES
};

struct faults {
    uint32_t process, kind; /* the calls of these are numbered from 1 */
    uint64_t at;            /* this one fails; 0: none does */
    uint32_t lasting;       /* 1: so do all later ones */
    atomic_uint_least64_t seen[FAULT_PROCESSES][FAULT_KINDS];
    char failed[32]; /* name of the call that failed first; "": none did */
};

#define FAULTS_FILE "faults"

#endif

/* memory.h - what is remembered of somebody's work on a lab: the marks of the last grading and what
 * it measured, in the cache folder, never in the student's tree.
 *
 * Hints are chosen by it. A file that is missing or makes no sense means: nothing was graded yet.
 */
#ifndef SPILLWAY_MEMORY_H
#define SPILLWAY_MEMORY_H

#include "errors.h"
#include "grade.h"

#define MEMORY_KERNELS_MAX 32
#define MEMORY_MARKS_MAX 128

struct memory_kernel {
    bool known; /* the build had it */
    bool fault; /* a launch of it went wrong: refused, stopped by a fault, out of time */
    int64_t registers, stack_bytes, spill_store_bytes, spill_load_bytes;
};

struct memory {
    const struct lab *lab;
    bool graded;
    int score, pending, best;
    enum mark_status marks[MEMORY_MARKS_MAX]; /* of lab->criteria */
    bool has_mark[MEMORY_MARKS_MAX];
    struct memory_kernel kernels[MEMORY_KERNELS_MAX]; /* of lab->kernels */
};

/* Never fails: what cannot be read was never there. */
void memory_parse(struct memory *out, const struct lab *lab, const char *text, size_t length);
void memory_load(struct memory *out, const struct lab *lab);

/* Replaces what was remembered of the lab by this grade; `best` is the higher of the two. -1 with
 * *err: it cannot be written (and nobody loses more than a hint). */
int memory_keep(const struct grade *grade, struct error *err);

/* Index of the first mark that was lost; SIZE_MAX: none was. */
size_t memory_first_lost(const struct memory *memory);

#endif

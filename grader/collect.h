/* collect.h - copy what the stages found into the grade: kernels, tools, notes. */
#ifndef SPILLWAY_COLLECT_H
#define SPILLWAY_COLLECT_H

#include "rubric.h"

struct collect_context {
    const struct rubric_input *input;
    enum executor_kind executor;
    const char *why; /* why this executor */
};

/* Fills everything of *grade but the marks and the duration. -1 with *err: no memory. */
int collect_grade(struct grade *grade, const struct collect_context *context, struct error *err);

#endif

/* solution.h - what a student gets of a finished source: the parts between the markers left out.
 *
 * An author writes the finished program once, with the student's version of each part inside:
 *
 *     // BEGIN SOLUTION
 *     //: sum = 0.0f; // TODO: …      what the student gets here, indented as this line is
 *     sum = 2.0f * in[i];             the solution, which compiles
 *     // END SOLUTION
 *
 * A marker has a line of its own, behind any comment sign. Part of the format is that a part has at
 * least one line of solution, that parts do not nest, and that "//:" stands nowhere else. */
#ifndef SPILLWAY_SOLUTION_H
#define SPILLWAY_SOLUTION_H

#include "bytes.h"
#include "errors.h"
#include "slice.h"

/* Appends the student's version to *starter and returns the number of parts left out, or -1 with
 * *err (infrastructure: the file came with the program) that names the line. */
int solution_strip(struct bytes *starter, const char *text, size_t length, struct error *err);

/* Calls `each` for every line of solution that is not blank; `line` counts from 1. The text must
 * have passed solution_strip(). Stops when `each` returns non-zero, and returns that. */
int solution_lines(const char *text, size_t length,
                   int (*each)(void *context, struct slice line, unsigned number), void *context);

#endif

/* out_compare.h - one submission's kernels on several cards: registers, frame, spills, blocks per
 * SM, side by side. */
#ifndef SPILLWAY_OUT_COMPARE_H
#define SPILLWAY_OUT_COMPARE_H

#include "grade.h"

/* The card that a course knows an architecture by ("T4" for sm_75); "" for others. */
const char *card_name(struct arch arch);

/* The architectures of these cards, in the order of their age. */
extern const struct arch card_archs[];
extern const size_t card_count;

struct out_compare_options {
    const char *kernel;          /* only this one; NULL: all */
    const struct arch *left_out; /* that nvcc does not compile for; borrowed */
    size_t left_out_count;
};

/* Appends a table a kernel, from the rows of a grade for several architectures. Trouble is in
 * out->failed. */
void out_compare_text(struct bytes *out, const struct grade *grade,
                      const struct out_compare_options *options);

/* The same as JSON, spillway/compare/v1. -1 with *err: no memory. */
int out_compare_json(struct bytes *out, const struct grade *grade,
                     const struct out_compare_options *options, struct error *err);

#endif

/* mismatch.h - where an output differs from the reference, and what that tells about the mistake.
 *
 * A guess is made only when it accounts for every element that was looked at; no guess is better
 * than a wrong one. */
#ifndef SPILLWAY_MISMATCH_H
#define SPILLWAY_MISMATCH_H

#include "labs/lab.h"

struct mismatch_output {
    const struct lab *lab;
    unsigned kernel;                  /* index into lab->kernels */
    const struct reference_call call; /* inputs, n and scalar; output is not looked at */
    const float *expected;            /* n elements */
    const char *got;                  /* n floats, any alignment */
    uint32_t poison;                  /* what an element held before the launch */
};

struct mismatch {
    size_t count; /* 0: none, and then nothing else holds */
    size_t first, last;
    uint32_t expected_bits, got_bits; /* of the first */
    char pattern[320];                /* a sentence; "": no pattern was seen */
    char remedy[320];                 /* what to try for it; "" with no pattern */
};

/* A NaN equals a NaN; everything else bit by bit. */
void mismatch_find(struct mismatch *out, const struct mismatch_output *output);

/* How many floats lie between two (0 and -0 are neighbours); UINT64_MAX when one is a NaN. */
uint64_t mismatch_ulps(uint32_t a_bits, uint32_t b_bits);

/* "expected 1 (0x3f800000), got 1.0000001 (0x3f800001), 1 ULP apart" */
void mismatch_values(char *out, size_t size, uint32_t expected_bits, uint32_t got_bits);

#endif

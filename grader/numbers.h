/* numbers.h - the lab's launches: inputs from a seed, the CPU reference, the run, the comparison.
 *
 * Inputs and expected outputs depend on the lab and the seed alone, so numbers_prepare() runs while
 * the compiler does. The expected outputs never enter the process that runs a student's kernel. */
#ifndef SPILLWAY_NUMBERS_H
#define SPILLWAY_NUMBERS_H

#include "facts.h"
#include "labs/lab.h"
#include "run.h"

struct case_data {
    const struct lab_case *spec; /* borrowed from the lab */
    size_t n;                    /* elements of this launch */
    int64_t scalar;              /* given or drawn */
    float *input;                /* owned by the numbers; equal groups share one */
    size_t input_count;
    float *expected; /* owned */
};

struct numbers {
    const struct lab *lab;
    uint64_t seed;
    struct case_data *cases; /* owned, one per lab case */
    size_t case_count;
    float **inputs; /* owned, one per input group */
    size_t input_count;
};

/* Draws the scalars and fills inputs and expected outputs. `elements` (0: the lab's own) replaces n
 * of the full-size cases. -1 with *err: no memory. */
int numbers_prepare(struct numbers *out, const struct lab *lab, uint64_t seed, size_t elements,
                    struct error *err);
void numbers_release(struct numbers *numbers);

/* `count` floats in [-1, 1), multiples of 2^-23, a function of (seed, group, index) alone. */
void numbers_fill_input(float *input, size_t count, uint64_t seed, uint64_t group);

/* ---- Running --------------------------------------------------------------------------------- */

enum case_status {
    CASE_EQUAL,   /* every element, bit by bit, and nothing else was amiss */
    CASE_WRONG,   /* see problem */
    CASE_SKIPPED, /* no executor, or the emulator does not know an instruction */
    CASE_ERROR,   /* the machine failed this launch */
};

struct case_outcome {
    enum case_status status;
    uint64_t compared, mismatches;
    size_t first_index; /* of the first mismatch */
    uint32_t expected_bits, got_bits;
    const struct run_launch_result *launch; /* borrowed from the run; NULL: not launched */
    char problem[1200];                     /* what was seen, for the message; "" when equal */
    char remedy[320];                       /* what to try for it; "": nothing particular */
};

struct numbers_options {
    enum executor_kind executor;
    int device;
    struct arch arch;                /* what the executor runs */
    unsigned threads;                /* emulator; 0: all */
    const struct build_image *scrub; /* GPU: see scrub.h; NULL otherwise */
    unsigned timing_rounds;
    bool unconfined;         /* the worker does not shut itself in */
    unsigned launch_seconds; /* silence allowed per launch; 0: LIMIT_LAUNCH_SECONDS */
    struct run_lane *lane;   /* borrowed; NULL: a worker for this run alone */
};

struct numbers_result {
    struct run run;                /* owned; empty when the executor is none */
    struct case_outcome *outcomes; /* owned, one per lab case */
    size_t outcome_count;
    /* Not NULL: an earlier run of the same module stands for this one (numbers_pack.h). There are
     * no outputs, but those of equal cases are the expected ones of these numbers; borrowed. */
    const struct numbers *right_outputs;
};

/* Launches every case whose kernel the target has. Returns 0 whatever the kernels did; -1 with
 * *err. */
int numbers_run(struct numbers_result *out, const struct numbers *numbers,
                const struct build_target *target, const struct audit *audit,
                const struct numbers_options *options, struct error *err);
void numbers_result_release(struct numbers_result *result);

/* Elements at which the outputs of two finished cases of equal n differ; -1 when they cannot be
 * compared. */
int64_t numbers_differ(const struct numbers_result *result, size_t case_a, size_t case_b);

#endif

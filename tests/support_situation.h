/* support_situation.h - everything that a rubric judges, made by hand for the tiny lab: what ptxas,
 * the cubin and the device say, the answers, and what the launches gave. */
#ifndef SPILLWAY_SUPPORT_SITUATION_H
#define SPILLWAY_SUPPORT_SITUATION_H

#include "collect.h"
#include "rubric.h"
#include "support_lab.h"

struct said { /* of one kernel */
    int64_t registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes;
};

struct situation {
    /* ---- Change these between situation_start() and situation_judge() ---- */
    const char *pick_directives, *pick_body, *more_ptx; /* of the module */
    const char *report;                                 /* instead of what `ptxas` makes; NULL */
    struct said ptxas[TINY_KERNELS], cubin[TINY_KERNELS];
    struct said what_if_ptxas, what_if_cubin; /* of twice */
    bool has_what_if, cubin_readable, cubin_has_pick, compiled, assembled, nvcc_knows_arch;
    unsigned arch;
    const char *answers; /* NULL: there is no answers.ini */
    const char *source;
    struct case_outcome outcomes[TINY_CASES];
    struct run_launch_result launches[TINY_CASES]; /* outcomes[i].launch is one of them, or NULL */
    struct run run;
    /* ---- Made from them ---- */
    struct toolchain toolchain;
    struct submission submission;
    struct build build;
    struct build_target target;
    struct numbers numbers;
    struct numbers_result result;
    struct rubric_input input;
    struct cubin_kernel machine[TINY_KERNELS], what_if_machine;
    struct grade grade;
};

/* Everything as it should be: each mark passes, but q.unjudged. */
void situation_start(struct situation *s);
/* Gathers, collects and judges; aborts the test on an error. */
void situation_judge(struct situation *s);
void situation_release(struct situation *s);

#endif

/* pipeline.h - grade one submission: build → run → judge, each stage a function.
 *
 * What is the same for every submission of a class is found once: the machine (compiler, sandbox,
 * executor) here, inputs and expected outputs in struct numbers. `spillway grade` goes through the
 * stages once; a batch goes through them for many submissions, and may go from build to build while
 * another thread runs what was built.
 *
 * Life cycle: machine_find(); per submission pipeline_start(), pipeline_build(), pipeline_run(),
 * pipeline_judge(), read pipeline.grade, pipeline_release(); machine_release(). A stage that
 * returns -1 with *err leaves nothing to be judged: release the pipeline. What a submission's code
 * does is never an error: it ends in the grade. */
#ifndef SPILLWAY_PIPELINE_H
#define SPILLWAY_PIPELINE_H

#include "build.h"
#include "choice.h"
#include "numbers.h"
#include "rubric.h"
#include "submission.h"
#include "toolchain.h"

struct machine_options {
    const char *nvcc;                    /* NULL: see toolchain.h */
    const char *executor;                /* auto, gpu, emulator or none */
    enum sandbox_mode sandbox;           /* also: SANDBOX_OFF runs kernels unconfined */
    struct arch archs[CHOICE_ARCHS_MAX]; /* wished by the user */
    size_t arch_count;                   /* 0: each submission's own, see choice.h */
    unsigned threads;                    /* of the emulator; 0: one per core */
    unsigned launch_seconds;             /* 0: LIMIT_LAUNCH_SECONDS */
};

struct machine {
    struct machine_options options; /* strings borrowed */
    struct toolchain toolchain;
    struct choice choice;        /* only the executor: architectures are each submission's */
    const struct recall *recall; /* borrowed; NULL: each submission is built and run for itself */
};

/* Finds and asks the toolkit, chooses the sandbox and the executor. -1 with *err: infrastructure;
 * release it all the same. */
int machine_find(struct machine *out, const struct machine_options *options, struct error *err);
void machine_release(struct machine *machine);

struct pipeline {
    const struct machine *machine;       /* borrowed */
    const struct submission *submission; /* borrowed */
    const struct numbers *numbers;       /* borrowed; prepared before pipeline_run() */
    struct choice choice;
    struct run_lane *lane; /* borrowed; may be set before pipeline_run(); NULL: none (run.h) */
    char *folder;          /* private temporary folder, owned */
    struct build build;
    struct build_image scrub;
    struct numbers_result result;
    struct rubric_input rubric;
    struct grade grade;
};

/* Chooses the architectures and makes the temporary folder. All three are borrowed until
 * pipeline_release(). -1 with *err: usage (nvcc does not compile for a wished architecture) or
 * infrastructure. */
int pipeline_start(struct pipeline *out, const struct machine *machine,
                   const struct submission *submission, const struct numbers *numbers,
                   struct error *err);

/* The compilers' work; does not look at the numbers, which may be prepared meanwhile. */
int pipeline_build(struct pipeline *pipeline, struct error *err);

/* Judges what was built before anything has run: the marks for numbers are skipped, the others are
 * as they will be. pipeline_run() and pipeline_judge() may follow. */
int pipeline_preview(struct pipeline *pipeline, struct error *err);

/* Launches every case of the numbers under the machine's executor. */
int pipeline_run(struct pipeline *pipeline, struct error *err);

/* Fills pipeline->grade but for its duration. After answers.ini alone has changed, and
 * pipeline->submission with it, it may be called again. */
int pipeline_judge(struct pipeline *pipeline, struct error *err);

void pipeline_release(struct pipeline *pipeline);

#endif

/* grading_options.h - the options that every command has which builds and runs a submission: what
 * they are called, what they may be, and where they go.
 *
 * A command lists in its getopt table those that it has (`{"arch", required_argument, NULL,
 * GRADING_ARCH}`), hands what it does not know itself to grading_options_take(), and numbers its
 * own options from GRADING_OWN on. Strings are borrowed from argv. */
#ifndef SPILLWAY_GRADING_OPTIONS_H
#define SPILLWAY_GRADING_OPTIONS_H

#include "options.h"
#include "pipeline.h"

enum grading_option {
    GRADING_LAB = OPTIONS_HELP + 1, /* all take a value */
    GRADING_REV,
    GRADING_ARCH,
    GRADING_EXECUTOR,
    GRADING_SEED,
    GRADING_NVCC,
    GRADING_SANDBOX,
    GRADING_ELEMENTS,
    GRADING_THREADS,
    GRADING_LAUNCH_SECONDS,
    GRADING_OWN
};

struct grading_options {
    struct submission_options submission;
    struct machine_options machine;
    bool has_seed;
    uint64_t seed, elements;
};

/* The current folder, on whatever executor there is. */
#define GRADING_OPTIONS                                                                            \
    ((struct grading_options){.submission.directory = ".", .machine.executor = "auto"})

/* Takes what options_next() returned. -1 with *err (usage): a value that cannot be, or an option
 * that is none of these, of which options_next() has said so. */
int grading_options_take(struct grading_options *options, int option, const char *value,
                         struct error *err);

/* What stands behind the options: one folder, or nothing. -1 with *err (usage). */
int grading_options_folder(struct grading_options *options, int argc, char **argv,
                           struct error *err);

/* Draws a seed unless one was given. -1 with *err (infrastructure). */
int grading_options_draw_seed(struct grading_options *options, struct error *err);

#endif

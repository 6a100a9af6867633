/* choice.h - what a grading runs on: the executor, and the architectures that are built.
 *
 * Graded are those of --arch, else the one that answers.ini declares, else the GPU's, else sm_75.
 * Counts belong to the declared one; the kernels run for the executor's. */
#ifndef SPILLWAY_CHOICE_H
#define SPILLWAY_CHOICE_H

#include "answers.h"
#include "arch.h"
#include "run.h"
#include "run_survey.h"
#include "toolchain.h"

#define CHOICE_ARCHS_MAX 16 /* that a user may name */

struct choice {
    enum executor_kind executor;
    struct gpu_device gpu;                   /* EXECUTOR_GPU */
    char why[256];                           /* why this executor */
    struct arch archs[CHOICE_ARCHS_MAX + 2]; /* graded, then declared and executed when others */
    size_t arch_count, graded_count;
    size_t declared;           /* index; SIZE_MAX: nvcc does not know it; 0: none was declared */
    struct arch declared_arch; /* number 0: none */
    size_t executed;           /* index */
};

/* The value of --arch: names joined by commas, added to `archs` (room for CHOICE_ARCHS_MAX) where
 * they are not there yet. -1 with *err (usage). */
int choice_parse_archs(struct arch *archs, size_t *count, const char *list, struct error *err);
/* The value of --executor: auto, gpu, emulator or none; *ret borrows it. -1 with *err (usage). */
int choice_parse_executor(const char **ret, const char *value, struct error *err);

/* `wish` is auto, gpu, emulator or none. *choice must be zero. -1 with *err (infrastructure) when a
 * GPU is wished for and none can be used; the message says why. */
int choice_executor(struct choice *choice, const char *wish, const struct toolchain *toolchain,
                    struct error *err);

/* After choice_executor(). At most CHOICE_ARCHS_MAX distinct `wished` ones (none: see above). -1
 * with *err (usage) when nvcc does not compile for one of them. */
int choice_archs(struct choice *choice, const struct arch *wished, size_t count,
                 const struct toolchain *toolchain, const struct answers *answers,
                 struct error *err);

#endif

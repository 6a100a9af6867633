/* build.h - compile one submission's device code: nvcc to PTX, then ptxas to a cubin, once per
 * architecture, side by side.
 *
 * Two steps, so that nothing the source can print stands beside ptxas's numbers: what nvcc says in
 * step one is only ever quoted to the student, never parsed for numbers. ptxas runs with -w, since
 * it echoes an unknown .pragma string whole, newlines and all, in a warning; the spill warning is
 * made from the byte counts instead. A source that does not compile is a result, not an error. */
#ifndef SPILLWAY_BUILD_H
#define SPILLWAY_BUILD_H

#include "cubin.h"
#include "emulator/ptx.h"
#include "report.h"
#include "submission.h"
#include "toolchain.h"

/* What ptxas made of one PTX text. */
struct build_image {
    bool assembled;      /* false: problem says why */
    struct bytes cubin;  /* owned */
    struct cubin parsed; /* second witness; empty when !readable */
    bool readable;
    struct report report; /* first witness */
    char problem[600];
};

struct build_target {
    struct arch arch;
    bool compiled;       /* nvcc made PTX that we can read */
    char problem[200];   /* why not, one sentence; "" when compiled */
    bool stopped;        /* nvcc ran into a limit: another time it may not */
    struct bytes words;  /* what nvcc said of the student's file: printable, capped */
    unsigned error_line; /* first source line that an error names; 0: none */
    struct bytes ptx;
    struct ptx_module *module; /* NULL unless compiled */
    struct build_image image;
};

struct build {
    struct build_target *targets; /* owned */
    size_t target_count;
    bool has_what_if;          /* the lab asks one, and the PTX allowed it */
    char what_if_problem[300]; /* why not */
    struct arch what_if_arch;
    struct build_image what_if;
};

struct recall;
struct build_options {
    const struct toolchain *toolchain;
    const struct arch *archs; /* distinct */
    size_t arch_count;
    struct arch what_if_arch;    /* one of archs */
    const char *folder;          /* private temporary folder, exists */
    const struct recall *recall; /* what was built before (recall.h); NULL: build all of it */
};

/* Returns 0 whatever the source does to the compilers; -1 with *err when the machine failed (a
 * compiler that cannot be started, or that a signal killed twice) or the user interrupted. */
int build_run(struct build *out, const struct submission *submission,
              const struct build_options *options, struct error *err);
void build_release(struct build *build);

/* Assembles one PTX text in folder/name.ptx: also for the scrub kernel of the GPU executor. Of the
 * options it reads toolchain and recall. A cubin that is recalled may have been made of PTX with
 * another line table. */
int build_assemble(struct build_image *out, const struct build_options *options, struct arch arch,
                   const char *folder, const char *name, const char *ptx, size_t length,
                   struct error *err);
void build_image_release(struct build_image *image);

#endif

/* compiler.h - start nvcc or ptxas: in the sandbox, with a clean environment and the limits of
 * caps.h, and find out whose trouble a failure is.
 *
 * A compiler that fails is the source's doing only if it works on other sources. So after a failure
 * a harmless kernel of ours is compiled the same way, once per process; when that fails too, the
 * machine is to blame, and nobody loses a mark. */
#ifndef SPILLWAY_COMPILER_H
#define SPILLWAY_COMPILER_H

#include "process.h"
#include "toolchain.h"

enum compiler_end {
    COMPILER_DONE,    /* exit status 0 */
    COMPILER_REFUSED, /* it ended on its own, and says why */
    COMPILER_STOPPED, /* time, memory, file size, or a crash: `problem` says which */
};

struct compiler_run {
    enum compiler_end end;
    struct bytes words; /* standard output and error together, owned; capped, not yet printable */
    bool words_cut;     /* there were more */
    char problem[200];  /* COMPILER_STOPPED: a sentence */
};

/* Runs argv in `folder` (private, absolute) for `arch`. Returns 0 whatever the source does to the
 * compiler; -1 with *err when the machine failed or the user interrupted. */
int compiler_run(struct compiler_run *out, const struct toolchain *toolchain, struct arch arch,
                 const char *const *argv, const char *folder, struct error *err);
void compiler_run_release(struct compiler_run *run);

#endif

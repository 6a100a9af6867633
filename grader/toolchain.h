/* toolchain.h - which CUDA toolkit compiles, found once and printed.
 *
 * Order: --nvcc, $CUDA_HOME/bin/nvcc, the PATH, /usr/local/cuda/bin/nvcc. ptxas is the one beside
 * the real nvcc, else the one on the PATH. */
#ifndef SPILLWAY_TOOLCHAIN_H
#define SPILLWAY_TOOLCHAIN_H

#include "arch.h"
#include "errors.h"
#include "sandbox.h"

#define TOOLCHAIN_ARCHS_MAX 64
#define TOOLCHAIN_PATHS_MAX 24

struct toolchain {
    char *nvcc;        /* absolute path, owned */
    char *ptxas;       /* absolute path, owned */
    const char *found; /* how nvcc was found: "--nvcc", "CUDA_HOME", "PATH", "/usr/local/cuda" */
    char version[32];  /* "13.0.88" */
    unsigned major, minor;
    struct arch archs[TOOLCHAIN_ARCHS_MAX]; /* that this nvcc compiles for, ascending */
    size_t arch_count;
    /* What a compile reads besides the system's own folders: parts of the toolkit, and of a host
     * compiler that does not live in /usr. Owned. */
    char *paths[TOOLCHAIN_PATHS_MAX];
    size_t path_count;
    char *gcc_link, *gcc;     /* a link on the PATH to another gcc than the system's first, and that
                                 gcc; NULL: there is none. Owned. */
    struct sandbox sandbox;   /* every compiler runs in it; zero: limits alone */
    unsigned compile_seconds; /* wall clock of one run of a compiler; 0: LIMIT_COMPILE_SECONDS */
};

/* Finds the programs without running them: cheap. -1 with *err (infrastructure) when there is none;
 * the sentence says where it was looked for and how to get a toolkit. *out then holds the nvcc that
 * was found without a ptxas, if any: release it all the same. */
int toolchain_find(struct toolchain *out, const char *nvcc_option, struct error *err);

/* Runs nvcc for its version and architectures; fills the rest of *toolchain. */
int toolchain_ask(struct toolchain *toolchain, struct error *err);

/* What toolchain_ask() reads: the text after ", V" in "…, release 13.0, V13.0.88" (false: there is
 * none, and nothing is changed), and a list with one architecture a line. */
bool toolchain_read_version(struct toolchain *toolchain, const char *text);
void toolchain_read_archs(struct toolchain *toolchain, const char *text);

/* What a compile may see: the toolkit, the host compiler, and `folder` (NULL: none) to write in.
 * Borrows from both. */
struct sandbox_view toolchain_view(const struct toolchain *toolchain, const char *folder);

void toolchain_release(struct toolchain *toolchain);
bool toolchain_knows(const struct toolchain *toolchain, struct arch arch);

/* The environment of every compile: the PATH (nvcc looks for the host compiler there), a temporary
 * folder, and nothing else - above all no NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS, which change
 * every number without a word. Points *ret into *storage. */
struct toolchain_environment {
    char path[4096], temporary[4200];
    const char *entries[4];
};
const char *const *toolchain_environment(struct toolchain_environment *storage,
                                         const char *temporary_folder);

#endif

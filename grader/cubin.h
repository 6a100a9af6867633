/* cubin.h - read resource numbers out of a cubin: a second witness beside ptxas's words.
 *
 * A cubin is an ELF file. Its `.nv.info` sections hold EIATTR records (public by reverse
 * engineering, see cubin.c); spills are found in the machine code. Measured with ptxas 11.8, 12.4
 * and 13.0: see the remarks at each field.
 *
 * The bytes are hostile: every offset, count, string and index is checked against the buffer, the
 * work grows with the file's size, and malformed input is a struct error, never a crash.
 *
 * Life cycle: cubin_parse(), read, cubin_release(). A zero struct is a valid empty one. */
#ifndef SPILLWAY_CUBIN_H
#define SPILLWAY_CUBIN_H

#include "errors.h"

#define CUBIN_ABSENT (-1) /* the file does not say, or we do not understand it */

enum cubin_answer { CUBIN_UNKNOWN = 0, CUBIN_NO, CUBIN_YES };

struct cubin_kernel {
    char *symbol;      /* owned */
    int64_t registers; /* EIATTR_REGCOUNT; equals "Used N registers" */

    /* EIATTR_FRAME_SIZE of the entry. Equals "bytes cumulative stack size" where ptxas prints that,
     * else "bytes stack frame": up to 12.4 the entry's own frame; with 13.0 the deepest chain of
     * callees is included (but not a recursive one). The same number for a kernel that calls
     * nothing. */
    int64_t frame_bytes;
    int64_t max_frame_bytes; /* the largest FRAME_SIZE among the entry and its callees */
    int64_t shared_bytes;    /* static; without the 1 KiB that the system adds since sm_90 */
    int64_t barriers;        /* EIATTR_NUM_BARRIERS; toolkits before 13 do not write it */
    int64_t max_threads[3];  /* EIATTR_MAX_THREADS (launch bounds); CUBIN_ABSENT when none */
    int64_t param_bytes;     /* EIATTR_CBANK_PARAM_SIZE */

    /* From the machine code of the entry and of the callees that ptxas put into its section: static
     * counts, each instruction once. CUBIN_ABSENT when the code is not understood, and for spills
     * also unless spills_known.
     * bytes: for one thread; what ptxas calls spill bytes.
     * requests: of one warp; 64 bits count two and 128 bits four, whatever the active threads. Each
     *   is four sectors of 32 bytes in a full warp, and one for every eight threads or part of them
     *   in the last one. (Measured with Nsight Compute on an H200.) */
    size_t callee_count;
    int64_t local_store_instructions, local_load_instructions; /* all STL / LDL, spills included */
    int64_t local_store_bytes, local_load_bytes;
    int64_t local_store_requests, local_load_requests;
    int64_t spill_store_instructions, spill_load_instructions; /* the rest is arrays */
    int64_t spill_store_bytes, spill_load_bytes;
    int64_t spill_store_requests, spill_load_requests;
    bool spills_known; /* false for toolkits that do not mark spills (12.4 and before): then
                          cubin_settle_spills() may help */

    /* CUBIN_YES: every warp that passes the guards at the top (`if (i >= n) return;`) runs each
     * spill instruction exactly once, so spill traffic is count x warps. CUBIN_NO: branches, calls
     * or predicates make it depend on the data. */
    enum cubin_answer straight_line;
};

struct cubin {
    struct cubin_kernel *kernels; /* owned; in the order of the symbol table */
    size_t kernel_count;
    unsigned sm;      /* 75 for sm_75, from e_flags; 0 when not understood */
    unsigned toolkit; /* 130 for CUDA 13.0, 124 for 12.4; 0 when the file does not say */
};

/* Returns 0; -1 with *err when the bytes are no readable cubin, and then *out is empty. */
int cubin_parse(struct cubin *out, const void *data, size_t length, struct error *err);
void cubin_release(struct cubin *cubin);

/* The kernel of that (mangled) name, or NULL. Borrowed. */
const struct cubin_kernel *cubin_find(const struct cubin *cubin, const char *symbol);

/* For cubins whose spills are not marked: what is known if the PTX declares `declared_bytes` of
 * `.local` memory in the kernel and its callees. Nothing declared: all local traffic is spills.
 * A frame with no room beside what is declared: none is. Else it stays unknown. Returns
 * kernel->spills_known. */
bool cubin_settle_spills(struct cubin_kernel *kernel, uint64_t declared_bytes);

#endif

/* cubin.h - read resource numbers out of a cubin: a second witness beside ptxas's words.
 *
 * A cubin is an ELF file; `.nv.info` holds EIATTR records (public by reverse engineering, see the
 * list of sources in cubin.c). Spill bytes come from the machine code: attribute 0x55 annotates
 * every spill STL/LDL, whose width is decoded from the instruction word.
 *
 * The bytes are hostile: every offset and count is checked against the buffer. */
#ifndef SPILLWAY_CUBIN_H
#define SPILLWAY_CUBIN_H

#include "errors.h"

#define CUBIN_ABSENT (-1) /* the file does not say */

struct cubin_kernel {
    char *symbol;            /* owned */
    int64_t registers;       /* EIATTR_REGCOUNT */
    int64_t frame_bytes;     /* EIATTR_FRAME_SIZE of the entry itself */
    int64_t max_frame_bytes; /* the largest frame of the entry and the functions of the file */
    int64_t shared_bytes;    /* size of .nv.shared.<kernel>; 0 when there is no such section */
    int64_t barriers;        /* EIATTR_NUM_BARRIERS; 0 when absent */
    int64_t max_threads[3];  /* EIATTR_MAX_THREADS (launch bounds); CUBIN_ABSENT when none */
    int64_t param_bytes;     /* EIATTR_CBANK_PARAM_SIZE */
    /* From machine code. Spills: annotated; arrays: the rest. Counts are static instructions. */
    int64_t spill_store_bytes, spill_load_bytes;
    int64_t spill_store_instructions, spill_load_instructions;
    int64_t local_store_instructions, local_load_instructions; /* all STL / LDL, spills included */
    /* Requests that one executed warp makes, each spill instruction once (a 128-bit one counts
     * four). The same for sectors of a full warp. */
    int64_t spill_store_requests, spill_load_requests;
    bool spills_known; /* annotations and instruction encoding were understood */
};

struct cubin {
    struct cubin_kernel *kernels;
    size_t kernel_count;
    unsigned sm; /* 75 for sm_75, from e_flags; 0 when not understood */
};

/* Returns 0; -1 with *err when the bytes are no readable cubin. */
int cubin_parse(struct cubin *out, const void *data, size_t length, struct error *err);
void cubin_release(struct cubin *cubin);
const struct cubin_kernel *cubin_find(const struct cubin *cubin, const char *symbol);

#endif

/* cubin_code.h - the machine code of one kernel of a cubin: local-memory traffic, and which part of
 * it is spills. Between cubin.c, which finds the code and ptxas's annotations, and sass.c. */
#ifndef SPILLWAY_CUBIN_CODE_H
#define SPILLWAY_CUBIN_CODE_H

#include "cubin.h"
#include "frames.h"

/* What is known of an instruction, one byte each. */
enum { CODE_MARK_SPILL = 1, CODE_MARK_SAVE = 2 };

struct cubin_code {
    unsigned sm;
    const unsigned char *data; /* borrowed */
    uint64_t size;
    uint64_t count;       /* instructions */
    unsigned char *marks; /* owned by cubin.c; `count` of them */
    bool marked_wrong;    /* an annotation points at something else than a local access */
    bool saves_unclear;   /* the registers that callees save could not be followed */
    bool incomplete;      /* functions of the file may be called that are not in `data` */
    bool annotated;       /* the toolkit that made the file marks spills */
};

/* Marks the stores and loads by which a function keeps its caller's registers. */
void cubin_code_mark_saves(struct cubin_code *code, const struct frame_function *function,
                           const struct frames *frames);

/* Fills the fields of *kernel that come from machine code, once all marks are set. */
void cubin_code_count(struct cubin_kernel *kernel, struct cubin_code *code);

#endif

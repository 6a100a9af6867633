/* rows_ptx.h - one kernel for each instruction of the emulator's table, as PTX text.
 *
 * Kernel number i: (const u64 *a, const u64 *b, const u64 *c, const u64 *d, u64 *out, u32 n).
 * Element k of `out` is the instruction's result for element k of its operands, zero-extended. */
#ifndef SPILLWAY_ROWS_PTX_H
#define SPILLWAY_ROWS_PTX_H

#include "bytes.h"

struct rows_case {
    char text[96];    /* the instruction as it stands in the kernel: "fma.rn.f32" */
    char kernel[24];  /* "row12" */
    char types[4][8]; /* of the operands: "f32", "s32", "pred"; "" none */
    char result[8];   /* "u32", "pred", … as wide as the destination */
    char parts[5][8]; /* of the result and the operands: "h1", "b3210"; "-": negated; "" all */
    bool is_approximate;
    uint64_t immediate; /* lop3: the table */
    bool has_immediate;
};

size_t rows_case_count(void);
void rows_case_at(size_t index, struct rows_case *ret);

/* "fma.rn.f32 f32,f32,f32, 0 exact": its name in the golden data. */
void rows_key(const struct rows_case *row, char *to, size_t room);

/* All kernels, or those of [first, last). */
void rows_ptx(struct bytes *out, size_t first, size_t last);

/* What is fed to an operand of that type: `count` values, the same everywhere. */
void rows_inputs(const char *type, unsigned operand, uint64_t *values, size_t count);

#endif

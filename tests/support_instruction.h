/* support_instruction.h - one instruction at a time, against what the host computes.
 *
 * A table of instructions is a file of rows, ROW(id, text, types, expression), included twice: to
 * make a function of each expression and a table of both. In the expression a, b, c and d are the
 * bits of the operands, zero-extended. */
#ifndef SPILLWAY_SUPPORT_INSTRUCTION_H
#define SPILLWAY_SUPPORT_INSTRUCTION_H

#include "support_emulator.h"

#include <math.h>

struct instruction_row {
    /* "add.s32"; or with its operands, "lop3.b32 $0, $1, $2, $3, 0x96", $0 being the result */
    const char *text;
    /* "s32 s32 s32": the result first. pred, u8 … s64, b128, f16, bf16, f16x2, bf16x2, f32, f64;
     * the size of a type is that of its register, 16 bits at least. */
    const char *types;
    uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
};

/* Runs it over many operands: edges of the types, and random bits. */
void support_instruction(const struct instruction_row *row);
/* The same, for an approximation: `accept` judges the result. */
void support_approximation(const struct instruction_row *row,
                           bool (*accept)(const char *text, uint64_t got, uint64_t a, uint64_t b));

/* Bits and values */
float bits_f32(uint64_t bits);
double bits_f64(uint64_t bits);
uint64_t f32_bits(float value);
uint64_t f64_bits(double value);
/* Binary formats of 16 bits and less: sign, `exponent` bits, `fraction` bits. */
struct format {
    unsigned exponent, fraction;
};
#define FORMAT_F16 ((struct format){5, 10})
#define FORMAT_BF16 ((struct format){8, 7})
double bits_small(uint64_t bits, struct format format);
/* Rounded once, in the rounding mode of the host; infinities where it overflows. */
uint64_t small_bits(long double value, struct format format, int mode);

#endif

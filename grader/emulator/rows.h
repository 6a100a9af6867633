/* rows.h - the table of lane-wise instructions, as the decoder sees it. */
#ifndef SPILLWAY_EMULATOR_ROWS_H
#define SPILLWAY_EMULATOR_ROWS_H

#include "emulator/machine.h"

#define ROW_OPERANDS 4

struct row {
    const char *text;  /* "add.s32" */
    unsigned handler;  /* index into struct lanes.handlers */
    enum width d;      /* WIDTH_PREDICATE: the result is a predicate */
    unsigned operands; /* how many it reads */
    struct {
        enum width width;
        enum ptx_type type; /* how an immediate is to be read */
    } operand[ROW_OPERANDS];
};

/* NULL: there is no such instruction. */
const struct row *row_find(const char *text);
size_t row_count(void);
const struct row *row_at(size_t index);

#endif

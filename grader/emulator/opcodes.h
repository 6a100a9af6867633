/* opcodes.h - the table of opcodes (opcodes.inc), as the front end and the lowering see it. */
#ifndef SPILLWAY_EMULATOR_OPCODES_H
#define SPILLWAY_EMULATOR_OPCODES_H

#include "emulator/emulator.h"

struct lowering;
struct ptx_instruction;

enum opcode_flow {
    OPCODE_ON,     /* the next instruction follows; a guard masks it */
    OPCODE_STOP,   /* the next instruction follows, but perhaps later: a guard is a branch around */
    OPCODE_BRANCH, /* goes to a label, or (under a guard) to the next instruction */
    OPCODE_END     /* of the thread or function */
};

struct opcode {
    const char *name;
    /* Emits the ops of an instruction, or refuses it with a reason. */
    void (*lower)(struct lowering *lowering, const struct ptx_instruction *instruction);
    enum emulator_kind kind; /* EMULATOR_KIND_COUNT: its type decides */
    enum opcode_flow flow;
    bool has_result; /* the first operand is written */
};

/* NULL: there is no such opcode. */
const struct opcode *opcode_find(const char *name);

#endif

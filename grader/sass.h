/* sass.h - decode the few machine instructions that tell about local memory and control flow.
 *
 * Since compute capability 7.0 an instruction has 16 bytes: opcode in bits 0-11, guard predicate in
 * bits 12-15 (7: always). The fields used here are public by reverse engineering: the encoder of
 * Mesa's NAK compiler (sm70_encode.rs) and the CuAssembler project; tests compare what follows from
 * them with ptxas on every architecture that nvcc offers. Older architectures are not understood.
 */
#ifndef SPILLWAY_SASS_H
#define SPILLWAY_SASS_H

#include "base.h"

#define SASS_INSTRUCTION_BYTES 16
#define SASS_STACK_POINTER 1 /* the register that points at the frame, by convention of ptxas */

enum sass_kind {
    SASS_UNKNOWN = 0, /* one of the control-flow opcodes, but which is not known */
    SASS_OTHER,       /* no local memory, no control flow */
    SASS_LOCAL_STORE, /* STL */
    SASS_LOCAL_LOAD,  /* LDL */
    SASS_BRANCH,      /* BRA with a fixed target */
    SASS_EXIT,
    SASS_BARRIER_MOVE, /* BMOV: between convergence barriers */
    SASS_CALL,
    SASS_JUMP, /* return, or a target that comes from a register */
};

struct sass_instruction {
    enum sass_kind kind;
    bool guarded; /* runs only where a predicate holds */
    /* local accesses: width for one thread, register stored or loaded (the first of several),
     * register that holds the address, and what is added to it */
    unsigned bytes, reg, base;
    int32_t offset;
    uint64_t target; /* SASS_BRANCH: address of the instruction it leads to */
};

/* True when this file knows the encoding of sm_<sm>. */
bool sass_understands(unsigned sm);

/* Decodes the 16 bytes at `code`, which stand at `address` of their section. Cannot fail. */
struct sass_instruction sass_decode(unsigned sm, const unsigned char *code, uint64_t address);

#endif

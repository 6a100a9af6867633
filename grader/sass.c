#include "sass.h"

#include "elf.h"

#define OPCODE_STL 0x387
#define OPCODE_LDL 0x983
#define ALWAYS 7 /* the predicate that is always true, not negated */

/* Bits 0-8 of an opcode name the operation, bits 9-11 the form of its operands. The control-flow
 * operations share the range 0x140-0x15f. */
#define OPERATION_MASK 0x1ff
#define FLOW_FIRST 0x140
#define FLOW_LAST 0x15f

/* clang-format off */
static const unsigned char flow_kinds[FLOW_LAST - FLOW_FIRST + 1] = {
    [0x01] = SASS_OTHER,  /* BSYNC: reconverge */
    [0x02] = SASS_OTHER,  /* BREAK: leave a convergence barrier */
    [0x03] = SASS_CALL,   /* CALL.ABS */
    [0x04] = SASS_CALL,   /* CALL.REL */
    [0x05] = SASS_OTHER,  /* BSSY: set a convergence barrier */
    [0x06] = SASS_OTHER,  /* YIELD */
    [0x07] = SASS_BRANCH, /* BRA */
    [0x09] = SASS_JUMP,   /* BRX */
    [0x0a] = SASS_JUMP,   /* JMP */
    [0x0c] = SASS_JUMP,   /* JMX */
    [0x0d] = SASS_EXIT,   /* EXIT */
    [0x0e] = SASS_OTHER,  /* LEPC: load the program counter */
    [0x10] = SASS_JUMP,   /* RET */
    [0x15] = SASS_BARRIER_MOVE,
    [0x16] = SASS_BARRIER_MOVE,
    [0x18] = SASS_JUMP,   /* BRXU */
    [0x19] = SASS_JUMP,   /* JMXU */
    [0x1c] = SASS_OTHER,  /* BPT: trap, which ends the whole kernel */
    [0x1d] = SASS_OTHER,  /* NANOSLEEP */
};
/* Bytes a thread moves, by the width field: U8, S8, U16, S16, 32, 64, 128. */
static const unsigned char width_bytes[8] = {1, 1, 2, 2, 4, 8, 16, 0};
/* clang-format on */

bool sass_understands(unsigned sm)
{
    return sm >= 70 && sm < 130;
}

/* The low `bits` bits of value as a two's complement number. */
static int64_t sign_extend(uint64_t value, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    value &= (sign << 1) - 1;
    return (int64_t)((value ^ sign) - sign);
}

/* Branch targets are relative to the next instruction, in units of four bytes. Up to sm_89 the
 * distance is bits 34-81; since sm_90 its low eight bits are 16-23 and the rest 34-81. */
static uint64_t branch_target(unsigned sm, uint64_t low, uint64_t high, uint64_t address)
{
    uint64_t field = low >> 34 | high << 30;
    int64_t words = sign_extend(field, 48);
    if (sm >= 90)
        words = (int64_t)((uint64_t)words << 8 | (low >> 16 & 0xff));
    return address + SASS_INSTRUCTION_BYTES + (uint64_t)words * 4;
}

struct sass_instruction sass_decode(unsigned sm, const unsigned char *code, uint64_t address)
{
    uint64_t low = elf_u64(code), high = elf_u64(code + 8);
    unsigned opcode = (unsigned)(low & 0xfff), operation = opcode & OPERATION_MASK;
    struct sass_instruction in = {.kind = SASS_OTHER, .guarded = (low >> 12 & 15) != ALWAYS};
    if (opcode == OPCODE_STL || opcode == OPCODE_LDL) {
        bool store = opcode == OPCODE_STL;
        in.kind = store ? SASS_LOCAL_STORE : SASS_LOCAL_LOAD;
        in.bytes = width_bytes[high >> 9 & 7];
        in.reg = (unsigned)(low >> (store ? 32 : 16) & 0xff);
        in.base = (unsigned)(low >> 24 & 0xff);
        in.offset = (int32_t)sign_extend(low >> 40, 24);
    } else if (operation >= FLOW_FIRST && operation <= FLOW_LAST) {
        in.kind = (enum sass_kind)flow_kinds[operation - FLOW_FIRST];
        if (in.kind == SASS_BRANCH)
            in.target = branch_target(sm, low, high, address);
    }
    return in;
}

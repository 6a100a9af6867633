/* fuse.c - where ptxas may make one operation of two.
 *
 * A mul without a rounding mode (.rn and the like) may be joined with the add or sub that takes its
 * product, into an fma that rounds once instead of twice; ptxas does so unless it is told
 * -fmad=false. Which pairs it joins is its own affair. The emulator keeps them apart, as the PTX
 * has them, and says where the last bit may therefore differ. */
#include "emulator/lower.h"

static bool is_plain(const struct ptx_instruction *instruction, const char *opcode)
{
    static const char *const rounding[] = {"rn", "rz", "rm", "rp"};
    if (strcmp(instruction->opcode, opcode) != 0 || instruction->operand_count < 2 ||
        !ptx_type_is_float(lower_type(instruction)))
        return false;
    for (size_t i = 0; i < COUNT_OF(rounding); ++i)
        if (lower_has(instruction, rounding[i]))
            return false;
    return true;
}

/* What adds its operand to something: also an atomic, which may become a loop around an add. */
static bool is_sum(const struct ptx_instruction *instruction)
{
    return is_plain(instruction, "add") || is_plain(instruction, "sub") ||
           ((is_plain(instruction, "atom") || is_plain(instruction, "red")) &&
            lower_has(instruction, "add"));
}

/* A product stays one when its sign changes or it moves to another register. Moves go through
 * parameters of a call, too: those are not followed. */
static bool hands_on(const struct ptx_instruction *instruction)
{
    return instruction->operand_count == 2 &&
           (strcmp(instruction->opcode, "mov") == 0 || strcmp(instruction->opcode, "neg") == 0);
}

static bool marked(const uint8_t *products, const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REGISTER && products[operand->index] != 0;
}

/* Marks what becomes a product; true: something is new. */
static bool mark(const struct ptx_instruction *instruction, uint8_t *products)
{
    if (instruction->operand_count < 2)
        return false;
    const struct ptx_operand *result = &instruction->operands[0];
    if (result->kind != PTX_OPERAND_REGISTER || products[result->index] != 0)
        return false;
    if (!is_plain(instruction, "mul") &&
        !(hands_on(instruction) && marked(products, &instruction->operands[1])))
        return false;
    products[result->index] = 1;
    return true;
}

bool fuse_find(struct arena *arena, const struct ptx_body *body, struct emulator_fusable *ret)
{
    uint8_t *products = arena_array(arena, body->register_count + 1, 1);
    if (products == NULL)
        return false;
    bool changed = true;
    for (unsigned rounds = 0; changed && rounds < 4; ++rounds) {
        changed = false;
        for (size_t i = 0; i < body->instruction_count; ++i)
            changed |= mark(&body->instructions[i], products);
    }
    for (size_t i = 0; i < body->instruction_count; ++i) {
        const struct ptx_instruction *instruction = &body->instructions[i];
        bool found = false;
        if (!is_sum(instruction))
            continue;
        for (size_t o = 0; o < instruction->operand_count; ++o)
            found |= marked(products, &instruction->operands[o]);
        if (!found || ret->count++ > 0)
            continue;
        ret->ptx_line = instruction->line;
        ret->line = instruction->location != NULL ? instruction->location->line : 0;
    }
    return true;
}

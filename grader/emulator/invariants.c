/* invariants.c - what a kernel computes from its parameters alone.
 *
 * Such a value is the same in every lane of every warp of the launch. Its instructions are taken
 * out of the program and run once, when a register file is made: beside the constants, which stay
 * in place from warp to warp. They are counted as if each warp had executed them.
 *
 * A register qualifies when one instruction writes it, without a guard, nobody can read it before
 * that, and the operands are constants, parameters, or registers that qualify. Only entries are
 * looked at. Whether an instruction really moves is known when it has been lowered: what needs more
 * than lane-wise ops stays where it is (invariants_take). */
#include "emulator/lower.h"

struct census {
    struct lowering *lowering;
    uint8_t *writes; /* per register: 0, 1, or 2 for more */
    bool qualifies;  /* of the operands looked at */
};

static void count_write(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct census *census = payload;
    if (is_written && census->writes[operand->index] < 2)
        ++census->writes[operand->index];
}

static void look_at(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct census *census = payload;
    const struct lowering *lowering = census->lowering;
    if (is_written)
        census->qualifies = census->qualifies && census->writes[operand->index] == 1 &&
                            !lowering->doubtful[operand->index];
    else
        census->qualifies = census->qualifies && lowering->invariant[operand->index];
}

static void mark(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct lowering *lowering = payload;
    if (is_written)
        lowering->invariant[operand->index] = true;
}

static void unmark(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct lowering *lowering = payload;
    if (is_written)
        lowering->invariant[operand->index] = false;
}

static bool has_special(const struct ptx_instruction *instruction)
{
    for (size_t i = 0; i < instruction->operand_count; ++i)
        if (instruction->operands[i].kind == PTX_OPERAND_SPECIAL)
            return true;
    return false;
}

static bool may_qualify(const struct ptx_instruction *instruction)
{
    const struct opcode *known = instruction->known;
    if (known == NULL || instruction->guard != NULL || instruction->operand_count < 2 ||
        instruction->operands[0].kind != PTX_OPERAND_REGISTER || has_special(instruction))
        return false;
    if (known->lower == lower_load)
        return lower_has(instruction, "param");
    return known->lower == lower_lane_wise || known->lower == lower_cvta ||
           known->lower == lower_mov || known->lower == lower_video ||
           (known->lower == lower_arithmetic && !lower_has(instruction, "cc")) ||
           (known->lower == lower_logic && lower_type(instruction) != PTX_PRED);
}

static bool qualifies(struct census *census, const struct ptx_instruction *instruction)
{
    census->qualifies = may_qualify(instruction);
    if (census->qualifies)
        cfg_visit_registers(instruction, look_at, census);
    return census->qualifies;
}

/* Fills lowering->invariant, by register of the function. False: no memory. */
bool invariants_find(struct lowering *lowering)
{
    const struct ptx_body *body = lowering->body;
    const size_t declared = (size_t)body->register_count + 1;
    struct census census = {.lowering = lowering};
    census.writes = arena_array(lowering->arena, declared, 1);
    lowering->invariant = arena_array(lowering->arena, declared, sizeof *lowering->invariant);
    if (census.writes == NULL || lowering->invariant == NULL)
        return false;
    if (!body->face.is_entry)
        return true;
    for (size_t i = 0; i < body->instruction_count; ++i)
        cfg_visit_registers(&body->instructions[i], count_write, &census);
    for (size_t i = 0; i < body->instruction_count; ++i)
        if (qualifies(&census, &body->instructions[i]))
            cfg_visit_registers(&body->instructions[i], mark, lowering);
    return true;
}

static void look_at_result(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct census *census = payload;
    if (is_written)
        census->qualifies = census->qualifies && census->lowering->invariant[operand->index];
}

static void look_at_sources(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct census *census = payload;
    if (!is_written)
        census->qualifies = census->qualifies && census->lowering->invariant[operand->index];
}

/* The ops of the instruction, from `first` on, move to those of the register file if it qualifies.
 */
bool invariants_take(struct lowering *lowering, const struct ptx_instruction *instruction,
                     size_t first)
{
    struct program *program = lowering->program;
    struct census census = {.lowering = lowering, .qualifies = may_qualify(instruction)};
    if (!census.qualifies)
        return true;
    cfg_visit_registers(instruction, look_at_result, &census);
    if (!census.qualifies)
        return true;
    cfg_visit_registers(instruction, look_at_sources, &census);
    for (size_t i = first; i < program->op_count; ++i)
        census.qualifies = census.qualifies && program->ops[i].class == OP_LANES;
    if (!census.qualifies) { /* what is computed from it stays as well */
        cfg_visit_registers(instruction, unmark, lowering);
        return true;
    }
    for (size_t i = first; i < program->op_count; ++i) {
        struct op *list = arena_grow(lowering->arena, program->invariants, program->invariant_count,
                                     &lowering->invariant_capacity, sizeof *list);
        if (list == NULL)
            return false;
        program->invariants = list;
        list[program->invariant_count++] = program->ops[i];
    }
    program->op_count = first;
    return true;
}

/* lower_control.c - branches and ends. */
#include "emulator/lower.h"

/* ---- Control -------------------------------------------------------------------------------- */

static uint32_t label_block(struct lowering *lowering, const struct ptx_symbol *label)
{
    const struct program *program = lowering->program;
    for (uint32_t low = 0, high = (uint32_t)program->block_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (program->blocks[middle].first == label->position)
            return middle;
        if (program->blocks[middle].first < label->position)
            low = middle + 1;
        else
            high = middle;
    }
    return NO_BLOCK; /* at the end of the function */
}

void lower_jump(struct lowering *lowering, jump_handler run, uint32_t target)
{
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = run;
    op->target = target;
}

/* A branch under a guard: lanes whose predicate (negated or not) holds go to the target. */
void lower_guard_branch(struct lowering *lowering, const struct ptx_operand *guard, bool negate,
                        uint32_t target, uint32_t meets)
{
    uint32_t slot = lowering->slots[guard->index];
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = warp_branch;
    op->guard = slot;
    op->negated = guard->negated != negate;
    op->target = target;
    op->e = meets;
}

/* Labels that are none: a table where a label is due, or nothing. */
static const struct ptx_symbol *target_of(struct lowering *lowering,
                                          const struct ptx_instruction *instruction,
                                          size_t operands, enum ptx_symbol_kind kind)
{
    const struct ptx_symbol *symbol =
        instruction->operand_count == operands ? instruction->operands[operands - 1].symbol : NULL;
    if (symbol != NULL && symbol->kind == kind)
        return symbol;
    lower_refuse(lowering, "its target is not understood");
    return NULL;
}

void lower_branch(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_symbol *label = target_of(lowering, instruction, 1, PTX_SYMBOL_LABEL);
    if (label == NULL)
        return;
    const uint32_t target = label_block(lowering, label);
    if (instruction->guard != NULL)
        lower_guard_branch(lowering, instruction->guard, false, target, lowering->meets);
    else
        lower_jump(lowering, warp_jump, target);
}

/* brx.idx index, table. Under a guard the lanes without it go around. */
void lower_branch_indexed(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_symbol *symbol = target_of(lowering, instruction, 2, PTX_SYMBOL_TARGETS);
    if (symbol == NULL)
        return;
    uint32_t *targets = arena_array(lowering->arena, symbol->target_count + 1, sizeof *targets);
    if (targets == NULL) {
        lowering->failed = true;
        return;
    }
    for (size_t i = 0; i < symbol->target_count; ++i) {
        const struct ptx_symbol *label = symbol->targets[i].symbol;
        if (label == NULL || label->kind != PTX_SYMBOL_LABEL) {
            lower_refuse(lowering, "its target is not understood");
            return;
        }
        targets[i] = label_block(lowering, label);
    }
    if (instruction->guard != NULL)
        lower_guard_branch(lowering, instruction->guard, true, lowering->block + 1,
                           lowering->meets);
    uint32_t index = lower_value(lowering, &instruction->operands[0], WIDTH_32, PTX_U32);
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = warp_branch_indexed;
    op->a = index;
    op->imm = symbol->target_count;
    op->detail = targets;
    op->e = lowering->meets;
}

/* A fence orders what the thread does with what others of its block do, and (without .cta) with
 * what other blocks do. */
void lower_fence(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    lower_step(lowering, races_fence)->imm = lower_has(instruction, "cta");
}

/* An access that acquires or releases orders as a fence behind or before it does. */
void lower_order(struct lowering *lowering, const struct ptx_instruction *instruction,
                 const char *word)
{
    if (!lower_refused(lowering) &&
        (lower_has(instruction, word) || lower_has(instruction, "acq_rel")))
        lower_fence(lowering, instruction);
}

void lower_return(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    (void)instruction;
    lower_give_results(lowering);
    lower_jump(lowering, warp_return, NO_BLOCK);
}

void lower_exit(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    (void)instruction;
    lower_jump(lowering, warp_exit, NO_BLOCK);
}

void lower_trap(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    (void)instruction;
    lower_jump(lowering, warp_trap, NO_BLOCK);
}

/* Instructions without an effect that we could see. */
void lower_hint(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    (void)lowering;
    (void)instruction;
}

/* ---- What is refused ------------------------------------------------------------------------ */

void lower_matrix(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    (void)instruction;
    lower_refuse(lowering, "matrix instructions are not emulated");
}

void lower_texture(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    (void)instruction;
    lower_refuse(lowering, "textures and surfaces are not emulated");
}

void lower_cluster(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    (void)instruction;
    lower_refuse(lowering, "clusters of blocks are not emulated");
}

void lower_bulk(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    (void)instruction;
    lower_refuse(lowering, "bulk copies are not emulated");
}

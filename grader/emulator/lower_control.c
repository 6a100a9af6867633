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

bool lower_branch(struct lowering *lowering, const struct ptx_instruction *instruction,
                  uint32_t meets)
{
    const bool indexed = strcmp(instruction->opcode, "brx") == 0;
    if (strcmp(instruction->opcode, "bra") != 0 && !indexed)
        return false;
    const struct ptx_operand *operands = instruction->operands;
    const size_t wanted = indexed ? 2 : 1;
    const struct ptx_symbol *symbol =
        instruction->operand_count == wanted ? operands[wanted - 1].symbol : NULL;
    if (symbol == NULL || symbol->kind != (indexed ? PTX_SYMBOL_TARGETS : PTX_SYMBOL_LABEL)) {
        lower_refuse(lowering, "its target is not understood");
        return true;
    }
    if (!indexed) {
        uint32_t target = label_block(lowering, symbol);
        if (instruction->guard != NULL)
            lower_guard_branch(lowering, instruction->guard, false, target, meets);
        else
            lower_jump(lowering, warp_jump, target);
        return true;
    }
    uint32_t *targets = arena_array(lowering->arena, symbol->target_count + 1, sizeof *targets);
    if (targets == NULL) {
        lowering->failed = true;
        return true;
    }
    for (size_t i = 0; i < symbol->target_count; ++i) {
        const struct ptx_symbol *label = symbol->targets[i].symbol;
        if (label == NULL || label->kind != PTX_SYMBOL_LABEL) {
            lower_refuse(lowering, "its target is not understood");
            return true;
        }
        targets[i] = label_block(lowering, label);
    }
    uint32_t index = lower_value(lowering, &operands[0], WIDTH_32, PTX_U32);
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = warp_branch_indexed;
    op->a = index;
    op->imm = symbol->target_count;
    op->detail = targets;
    op->e = meets;
    return true;
}

/* A fence orders what the block does with what other blocks do; one of the block's own does not. */
static bool lower_fence(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (strcmp(instruction->opcode, "membar") != 0 && strcmp(instruction->opcode, "fence") != 0)
        return false;
    if (!lower_has(instruction, "cta"))
        (void)lower_step(lowering, races_fence);
    return true;
}

bool lower_control(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const char *opcode = instruction->opcode;
    static const struct {
        const char *opcode;
        jump_handler run;
    } simple[] = {
        {"ret", warp_return}, {"exit", warp_exit}, {"trap", warp_trap}, {"brkpt", warp_trap}};
    for (size_t i = 0; i < COUNT_OF(simple); ++i)
        if (strcmp(opcode, simple[i].opcode) == 0) {
            lower_jump(lowering, simple[i].run, NO_BLOCK);
            return true;
        }
    if (lower_fence(lowering, instruction))
        return true;
    if (strcmp(opcode, "call") == 0)
        return lower_call(lowering, instruction);
    return false;
}

/* Instructions without an effect that we could see. */
bool lower_is_hint(const struct ptx_instruction *instruction)
{
    static const char *const hints[] = {"membar",    "fence",   "prefetch",
                                        "prefetchu", "pmevent", "applypriority",
                                        "nanosleep", "discard", "griddepcontrol"};
    for (size_t i = 0; i < COUNT_OF(hints); ++i)
        if (strcmp(instruction->opcode, hints[i]) == 0)
            return true;
    return false;
}

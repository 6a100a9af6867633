/* lower.c - from the instructions of a function to ops: the register file, and block by block. */
#include "emulator/lower.h"

#include <stdarg.h>

#include "demangle.h"
#include "emulator/rows.h"

/* ---- Refusals ------------------------------------------------------------------------------- */

void lower_refuse(struct lowering *lowering, const char *format, ...)
{
    char *refusal = lowering->kernel->refusal;
    if (refusal[0] != '\0')
        return;
    const struct ptx_instruction *instruction = lowering->instruction;
    int used = 0;
    if (instruction != NULL)
        used = snprintf(refusal, sizeof lowering->kernel->refusal,
                        "line %u: %.100s: ", instruction->line, instruction->text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(refusal + used, sizeof lowering->kernel->refusal - (size_t)used, format,
                    arguments);
    va_end(arguments);
}

bool lower_refused(const struct lowering *lowering)
{
    return lowering->kernel->refusal[0] != '\0' || lowering->failed;
}

/* ---- Room in the register file -------------------------------------------------------------- */

uint32_t lower_slot(struct lowering *lowering, enum width width)
{
    struct program *program = lowering->program;
    if (width == WIDTH_PREDICATE) {
        if (lowering->spare_predicate_bytes == 0) {
            lowering->spare_predicates = program->register_bytes;
            lowering->spare_predicate_bytes = 64;
            program->register_bytes += 64;
        }
        lowering->spare_predicate_bytes -= 4;
        return lowering->spare_predicates + lowering->spare_predicate_bytes;
    }
    uint32_t slot = program->register_bytes;
    if (slot > CAP_REGISTER_FILE_BYTES) {
        char name[DEMANGLED_NAME_BYTES];
        lowering->hopeless = true;
        lower_refuse(lowering, "`%s` needs more registers than the emulator has",
                     demangle_name(lowering->body->face.name, name));
        return 0;
    }
    program->register_bytes += LANES * width_bytes(width);
    return slot;
}

uint32_t lower_temporary(struct lowering *lowering, enum width width)
{
    unsigned used = lowering->temporary_used[width];
    if (used >= COUNT_OF(lowering->temporaries[width])) {
        lower_refuse(lowering, "it has too many operands");
        return 0;
    }
    if (used == lowering->temporary_count[width]) {
        lowering->temporaries[width][used] = lower_slot(lowering, width);
        ++lowering->temporary_count[width];
    }
    ++lowering->temporary_used[width];
    return lowering->temporaries[width][used];
}

static uint64_t hash_constant(enum width width, uint64_t bits)
{
    uint64_t hash = (bits + width) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static bool grow_constant_slots(struct lowering *lowering)
{
    size_t count = lowering->constant_slot_count == 0 ? 64 : lowering->constant_slot_count * 2;
    uint32_t *slots = arena_array(lowering->arena, count, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < lowering->constant_count; ++i) {
        const struct constant *constant = &lowering->constants[i];
        size_t slot = hash_constant((enum width)constant->width, constant->bits) & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = i + 1;
    }
    lowering->constant_slots = slots;
    lowering->constant_slot_count = count;
    return true;
}

/* Constants are registers that nobody writes: filled once when a register file is made. */
uint32_t lower_constant(struct lowering *lowering, enum width width, uint64_t bits)
{
    if (width == WIDTH_16)
        bits &= UINT16_MAX;
    else if (width == WIDTH_32 || width == WIDTH_PREDICATE)
        bits &= UINT32_MAX;
    if (lowering->constant_count * 2 >= lowering->constant_slot_count &&
        !grow_constant_slots(lowering)) {
        lowering->failed = true;
        return 0;
    }
    const size_t mask = lowering->constant_slot_count - 1;
    size_t slot = hash_constant(width, bits) & mask;
    for (; lowering->constant_slots[slot] != 0; slot = (slot + 1) & mask) {
        const struct constant *known = &lowering->constants[lowering->constant_slots[slot] - 1];
        if (known->width == width && known->bits == bits)
            return known->offset;
    }
    struct constant *list =
        arena_grow(lowering->arena, lowering->constants, lowering->constant_count,
                   &lowering->constant_capacity, sizeof *list);
    if (list == NULL) {
        lowering->failed = true;
        return 0;
    }
    lowering->constants = list;
    uint32_t offset = lower_slot(lowering, width);
    list[lowering->constant_count++] =
        (struct constant){.offset = offset, .width = (uint8_t)width, .bits = bits};
    lowering->constant_slots[slot] = (uint32_t)lowering->constant_count;
    return offset;
}

/* ---- Ops ------------------------------------------------------------------------------------ */

struct op *lower_emit(struct lowering *lowering, enum op_class class)
{
    static struct op nowhere; /* after a failure, so that callers need not test */
    struct program *program = lowering->program;
    struct op *ops = arena_grow(lowering->arena, program->ops, program->op_count,
                                &lowering->op_capacity, sizeof *ops);
    if (ops == NULL) {
        lowering->failed = true;
        return &nowhere;
    }
    program->ops = ops;
    struct op *op = &ops[program->op_count++];
    *op = (struct op){.class = (uint8_t) class, .instruction = lowering->instruction};
    return op;
}

struct op *lower_step(struct lowering *lowering, step_handler run)
{
    struct op *op = lower_emit(lowering, OP_STEP);
    op->run.step = run;
    return op;
}

void lower_emit_row(struct lowering *lowering, const struct row *row, uint32_t d,
                    const uint32_t *sources, uint64_t imm)
{
    struct op *op = lower_emit(lowering, OP_LANES);
    op->run.lanes = lanes_best()->handlers[row->handler];
    op->width = (uint8_t)row->d;
    op->d = d;
    op->a = sources[0];
    op->b = sources[1];
    op->c = sources[2];
    op->e = sources[3];
    op->imm = imm;
}

void lower_row(struct lowering *lowering, const char *text, uint32_t d, uint32_t a, uint32_t b,
               uint32_t c, uint64_t imm)
{
    const uint32_t sources[ROW_OPERANDS] = {a, b, c, 0};
    const struct row *row = row_find(text);
    if (row == NULL)
        lower_refuse(lowering, "the emulator does not run this instruction");
    else
        lower_emit_row(lowering, row, d, sources, imm);
}

/* ---- Functions ------------------------------------------------------------------------------ */

/* Puts the guard around what was emitted for the instruction. */
static void guard_ops(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    struct program *program = lowering->program;
    for (size_t i = lowering->instruction_op; i < program->op_count; ++i) {
        struct op *op = &program->ops[i];
        op->guarded = op->run;
        op->inner = op->class;
        op->class = OP_STEP;
        op->run.step = warp_guarded;
        op->guard = lowering->slots[instruction->guard->index];
        op->negated = instruction->guard->negated;
    }
}

static bool is_plain_mov(const struct ptx_instruction *instruction)
{
    return instruction->known != NULL && instruction->known->lower == lower_mov &&
           instruction->operand_count == 2 &&
           instruction->operands[0].kind == PTX_OPERAND_REGISTER &&
           instruction->operands[1].kind == PTX_OPERAND_REGISTER;
}

/* Handing on what nobody has set is no use of it: a call with an empty structure does that, and a
 * shuffle in which all take the value of one lane. */
static bool is_handed_on(const struct lowering *lowering, const struct ptx_operand *operand)
{
    const struct ptx_instruction *instruction = lowering->instruction;
    return is_plain_mov(instruction) ||
           (instruction->known != NULL && instruction->known->lower == lower_shuffle &&
            operand == &instruction->operands[1]) ||
           (strcmp(instruction->opcode, "st") == 0 && lower_has(instruction, "param") &&
            instruction->operand_count == 2 && operand == &instruction->operands[1]);
}

/* Stored through a generic address, as code does that was compiled without optimisation: it stores
 * empty structures too, so that this is a warning. */
static bool is_stored_somewhere(const struct ptx_instruction *instruction,
                                const struct ptx_operand *operand)
{
    static const char *const spaces[] = {"global", "shared", "shared::cta", "local", "param"};
    return strcmp(instruction->opcode, "st") == 0 && instruction->operand_count == 2 &&
           operand == &instruction->operands[1] &&
           lower_choose(instruction, spaces, COUNT_OF(spaces)) < 0;
}

static void check_defined(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct lowering *lowering = payload;
    uint32_t mask = lowering->defined[operand->index];
    if (mask == UINT32_MAX || is_written || is_handed_on(lowering, operand) ||
        operand == lowering->instruction->guard)
        return;
    struct op *op = lower_step(lowering, defined_check);
    op->a = mask;
    op->detail = operand;
    op->imm = is_stored_somewhere(lowering->instruction, operand);
}

static void set_defined(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct lowering *lowering = payload;
    uint32_t mask = lowering->defined[operand->index];
    if (mask == UINT32_MAX || !is_written)
        return;
    struct op *op = lower_step(lowering, defined_set);
    op->d = mask;
    if (is_plain_mov(lowering->instruction)) {
        uint32_t source = lowering->defined[lowering->instruction->operands[1].index];
        if (source != UINT32_MAX) {
            op->run.step = defined_copy;
            op->a = source;
        }
    }
}

/* What is known of addresses holds until the register changes, or lanes come or go. */
static void forget_run(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct lowering *lowering = payload;
    if (is_written && lowering->slots[operand->index] == lowering->noted_run)
        lowering->noted_run = UINT32_MAX;
}

static void lower_plain(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (instruction->known != NULL)
        instruction->known->lower(lowering, instruction);
    else
        lower_refuse(lowering, "the emulator does not know this instruction");
}

static void lower_instruction(struct lowering *lowering, const struct ptx_instruction *instruction,
                              const struct block *block, uint32_t number)
{
    lowering->instruction = instruction;
    lowering->block = number;
    lowering->meets = block->meets;
    lowering->instruction_op = lowering->program->op_count;
    memset(lowering->temporary_used, 0, sizeof lowering->temporary_used);
    if (instruction->guard != NULL && instruction->guard->index < lowering->body->register_count &&
        lowering->defined[instruction->guard->index] != UINT32_MAX) {
        struct op *op = lower_step(lowering, defined_check);
        op->a = lowering->defined[instruction->guard->index];
        op->detail = instruction->guard;
        lowering->instruction_op = lowering->program->op_count;
    }
    if (instruction->known != NULL && instruction->known->flow == OPCODE_BRANCH) {
        cfg_visit_registers(instruction, check_defined, lowering);
        lower_plain(lowering, instruction);
        return;
    }
    if (instruction->guard != NULL && cfg_is_jump(instruction)) {
        /* Around it, to the next block. */
        lower_guard_branch(lowering, instruction->guard, true, number + 1, block->meets);
        cfg_visit_registers(instruction, check_defined, lowering);
        lower_plain(lowering, instruction);
        return;
    }
    cfg_visit_registers(instruction, check_defined, lowering);
    lower_plain(lowering, instruction);
    cfg_visit_registers(instruction, set_defined, lowering);
    cfg_visit_registers(instruction, forget_run, lowering);
    if (!lower_refused(lowering) &&
        !invariants_take(lowering, instruction, lowering->instruction_op))
        lowering->failed = true;
    if (cfg_is_jump(instruction))
        lowering->noted_run = UINT32_MAX;
    if (instruction->guard != NULL)
        guard_ops(lowering, instruction);
}

/* What is not understood stops the launch when a thread comes to it: code that never runs may hold
 * anything. */
static void lower_or_refuse(struct lowering *lowering, const struct ptx_instruction *instruction,
                            const struct block *block, uint32_t number)
{
    struct program *program = lowering->program;
    const size_t first = program->op_count;
    lower_instruction(lowering, instruction, block, number);
    char *refusal = lowering->kernel->refusal;
    if (refusal[0] == '\0' || lowering->failed || lowering->hopeless)
        return;
    program->op_count = first;
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = warp_refused;
    op->guard =
        instruction->guard == NULL ? UINT32_MAX : lowering->slots[instruction->guard->index];
    op->negated = instruction->guard != NULL && instruction->guard->negated;
    op->detail = arena_text(lowering->arena, refusal, strlen(refusal));
    lowering->failed = lowering->failed || op->detail == NULL;
    lowering->noted_run = UINT32_MAX;
    refusal[0] = '\0';
}

/* Jumps learn where their block begins, and where the paths meet. */
static void resolve_targets(struct lowering *lowering)
{
    struct program *program = lowering->program;
    for (size_t i = 0; i < program->op_count; ++i) {
        struct op *op = &program->ops[i];
        if (op->class == OP_JUMP && (op->run.jump == warp_branch || op->run.jump == warp_jump)) {
            /* A label at the very end: the function returns there. */
            const size_t target = op->target < program->block_count ? program->blocks[op->target].op
                                                                    : program->end_op;
            op->detail = &program->ops[target];
        }
    }
}

/* Where each local variable lies in the frame: depots, and parameters of calls. */
static void place_variables(struct lowering *lowering)
{
    const struct ptx_body *body = lowering->body;
    struct program *program = lowering->program;
    uint64_t bytes = 0;
    uint32_t *offsets = arena_array(lowering->arena, body->variable_count + 1, sizeof *offsets);
    uint32_t *formals = arena_array(lowering->arena, body->formal_count + 1, sizeof *formals);
    uint32_t *returns = arena_array(lowering->arena, body->return_count + 1, sizeof *returns);
    if (offsets == NULL || formals == NULL || returns == NULL) {
        lowering->failed = true;
        return;
    }
    lowering->variable_offsets = offsets;
    program->parameters = formals;
    program->returns = returns;
    uint64_t parameter_bytes = 0;
    for (size_t i = 0; i < body->formal_count; ++i) {
        const struct ptx_symbol *formal = body->formals[i];
        uint64_t *at = body->face.is_entry ? &parameter_bytes : &bytes;
        const uint64_t align = formal->kind == PTX_SYMBOL_REGISTER ? 8 : formal->align;
        *at = (*at + align - 1) & ~(align - 1);
        formals[i] = (uint32_t)*at;
        *at += lower_formal_bytes(formal);
    }
    for (size_t i = 0; i < body->return_count; ++i) {
        const struct ptx_symbol *result = body->returns[i];
        const uint64_t align = result->kind == PTX_SYMBOL_REGISTER ? 8 : result->align;
        bytes = (bytes + align - 1) & ~(align - 1);
        returns[i] = (uint32_t)bytes;
        bytes += lower_formal_bytes(body->returns[i]);
    }
    for (size_t i = 0; i < body->variable_count; ++i) {
        const struct ptx_symbol *variable = body->variables[i];
        if (variable->space != PTX_LOCAL && variable->space != PTX_PARAM)
            continue;
        bytes = (bytes + variable->align - 1) & ~(uint64_t)(variable->align - 1);
        offsets[i] = (uint32_t)bytes;
        bytes += variable->bytes;
        if (bytes > CAP_LOCAL_BYTES) {
            char name[DEMANGLED_NAME_BYTES];
            lower_refuse(lowering, "`%s` needs more than %u bytes of local memory per thread",
                         demangle_name(body->face.name, name), CAP_LOCAL_BYTES);
            return;
        }
    }
    program->local_bytes = (uint32_t)((bytes + 15) & ~UINT64_C(15));
    program->local_padding = body->face.is_entry ? program->local_bytes - (uint32_t)bytes : 0;
    program->argument_bytes = (uint32_t)parameter_bytes;
}

bool lower_function(struct lowering *lowering)
{
    const struct ptx_body *body = lowering->body;
    struct program *program = lowering->program;
    program->body = body;
    if (body->instruction_count > CAP_FUNCTION_INSTRUCTIONS) {
        char name[DEMANGLED_NAME_BYTES];
        lower_refuse(lowering, "`%s` has more than %u instructions",
                     demangle_name(body->face.name, name), CAP_FUNCTION_INSTRUCTIONS);
        return true;
    }
    place_variables(lowering);
    if (lower_refused(lowering) || !cfg_build(lowering) || !registers_assign(lowering))
        return kernel_has_refusal(lowering->kernel);
    lower_receive_formals(lowering);
    if (lower_refused(lowering))
        return kernel_has_refusal(lowering->kernel);
    for (uint32_t b = 0; b < program->block_count; ++b) {
        struct block *block = &program->blocks[b];
        lowering->instruction = &body->instructions[block->first];
        block->op = (uint32_t)program->op_count;
        lowering->noted_run = UINT32_MAX;
        struct op *header = lower_emit(lowering, OP_JUMP);
        header->run.jump = warp_enter_block;
        header->detail = block;
        header->target = b;
        header->imm = block->last - block->first;
        block->number = (uint32_t)lowering->kernel->block_count++;
        for (uint32_t i = block->first; i < block->last && !lower_refused(lowering); ++i) {
            ++block->kinds[counters_classify(&body->instructions[i])];
            lower_or_refuse(lowering, &body->instructions[i], block, b);
        }
        if (lower_refused(lowering))
            return kernel_has_refusal(lowering->kernel);
    }
    program->end_op = (uint32_t)program->op_count;
    lower_give_results(lowering); /* a function may end without ret */
    lower_jump(lowering, warp_return, NO_BLOCK);
    resolve_targets(lowering);
    program->constants = lowering->constants;
    program->constant_count = lowering->constant_count;
    return !lowering->failed;
}

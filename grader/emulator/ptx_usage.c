/* ptx_usage.c - which module variables are written by device code?
 *
 * Registers that may hold an address inside a variable are followed through each function, without
 * regard to the order of instructions: the address of a variable taints the register that receives
 * it, and every register computed from a tainted one. A store or atomic through a tainted register
 * writes the variable. An address that leaves our sight (stored to memory, passed to a function, or
 * part of an initialiser) counts as written too, except when only printf or assert receive it. */
#include "emulator/ptx_ast.h"

enum { CLEAN = 0, SEVERAL = UINT32_MAX }; /* else: index of the variable + 1 */

struct usage {
    struct ptx_module *module;
    const struct ptx_body *body;
    uint32_t *taint; /* one per register */
    bool changed, all_written;
};

static uint32_t merge(uint32_t a, uint32_t b)
{
    if (a == CLEAN || a == b)
        return b;
    return b == CLEAN ? a : SEVERAL;
}

static bool is_module_variable(const struct ptx_symbol *symbol)
{
    return symbol != NULL && symbol->kind == PTX_SYMBOL_VARIABLE &&
           (symbol->space == PTX_GLOBAL || symbol->space == PTX_CONST);
}

static uint32_t taint_of(const struct usage *usage, const struct ptx_operand *operand)
{
    uint32_t taint = CLEAN;
    if (operand->kind == PTX_OPERAND_REGISTER && operand->index < usage->body->register_count)
        taint = usage->taint[operand->index];
    else if (operand->kind == PTX_OPERAND_SYMBOL && is_module_variable(operand->symbol))
        taint = operand->symbol->number + 1;
    for (size_t i = 0; i < operand->child_count; ++i)
        taint = merge(taint, taint_of(usage, &operand->children[i]));
    return taint;
}

static void mark_written(struct usage *usage, uint32_t taint)
{
    if (taint == CLEAN || usage->all_written)
        return;
    if (taint != SEVERAL) {
        usage->module->variable_faces[taint - 1].is_written = true;
        return;
    }
    for (size_t i = 0; i < usage->module->variable_count; ++i)
        usage->module->variable_faces[i].is_written = true;
    usage->all_written = true;
}

static void taint_destination(struct usage *usage, const struct ptx_operand *operand,
                              uint32_t taint)
{
    if (operand->kind == PTX_OPERAND_REGISTER && operand->index < usage->body->register_count) {
        uint32_t merged = merge(usage->taint[operand->index], taint);
        if (merged != usage->taint[operand->index]) {
            usage->taint[operand->index] = merged;
            usage->changed = true;
        }
    }
    for (size_t i = 0; i < operand->child_count; ++i)
        taint_destination(usage, &operand->children[i], taint);
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool has_modifier(const struct ptx_instruction *instruction, const char *modifier)
{
    for (unsigned i = 0; i < instruction->modifier_count; ++i)
        if (strcmp(instruction->modifiers[i], modifier) == 0)
            return true;
    return false;
}

/* printf and assert read what they are given; a parameter of theirs is stored just before. */
static bool only_read_by_callee(const struct usage *usage, size_t index)
{
    const size_t end = index + 64; /* a call stands close to its parameters */
    for (; index < usage->body->instruction_count && index < end; ++index) {
        const struct ptx_instruction *instruction = &usage->body->instructions[index];
        if (strcmp(instruction->opcode, "call") != 0)
            continue;
        for (size_t o = 0; o < instruction->operand_count; ++o) {
            const struct ptx_symbol *symbol = instruction->operands[o].symbol;
            if (symbol != NULL && symbol->kind == PTX_SYMBOL_FUNCTION)
                return strcmp(symbol->name, "vprintf") == 0 ||
                       strcmp(symbol->name, "__assertfail") == 0;
        }
        return false;
    }
    return false;
}

/* A pointer that is stored to local memory may be a printf argument: the function then calls
 * vprintf, and strings are what it prints. Read-only there as well. */
static bool only_printed(const struct usage *usage, const struct ptx_instruction *instruction)
{
    return has_modifier(instruction, "local") && usage->body->face.calls_vprintf;
}

static void visit(struct usage *usage, size_t index)
{
    const struct ptx_instruction *instruction = &usage->body->instructions[index];
    const struct ptx_operand *operands = instruction->operands;
    const size_t count = instruction->operand_count;
    const char *opcode = instruction->opcode;
    if (count == 0)
        return;
    if (strcmp(opcode, "st") == 0 && count == 2) {
        uint32_t value = taint_of(usage, &operands[1]);
        if (has_modifier(instruction, "param")) {
            if (!only_read_by_callee(usage, index))
                mark_written(usage, value);
            return;
        }
        mark_written(usage, taint_of(usage, &operands[0]));
        if (!only_printed(usage, instruction))
            mark_written(usage, value);
    } else if (strcmp(opcode, "red") == 0 || starts_with(opcode, "cp") ||
               starts_with(opcode, "mbarrier") || strcmp(opcode, "multimem") == 0 ||
               strcmp(opcode, "st") == 0 || strcmp(opcode, "sust") == 0 ||
               strcmp(opcode, "wmma") == 0 || strcmp(opcode, "stmatrix") == 0) {
        mark_written(usage, taint_of(usage, &operands[0]));
    } else if (strcmp(opcode, "atom") == 0 && count >= 2) {
        mark_written(usage, taint_of(usage, &operands[1]));
    } else if (strcmp(opcode, "call") == 0) {
        for (size_t i = 0; i < count; ++i)
            mark_written(usage, taint_of(usage, &operands[i]));
    } else if (strcmp(opcode, "ld") == 0 || strcmp(opcode, "ldu") == 0) {
        /* What is loaded is a value; an address stored elsewhere counted when it was stored. */
    } else {
        uint32_t taint = CLEAN;
        for (size_t i = 1; i < count; ++i)
            taint = merge(taint, taint_of(usage, &operands[i]));
        if (taint != CLEAN)
            taint_destination(usage, &operands[0], taint);
    }
}

int ptx_find_written(struct ptx_module *module)
{
    for (size_t v = 0; v < module->variable_count; ++v)
        for (size_t i = 0; i < module->variables[v]->initialiser_count; ++i) {
            const struct ptx_symbol *target = module->variables[v]->initialiser[i].target;
            if (is_module_variable(target))
                module->variable_faces[target->number].is_written = true;
        }
    for (size_t b = 0; b < module->body_count; ++b) {
        struct usage usage = {.module = module, .body = module->bodies[b]};
        if (usage.body->instruction_count == 0 || module->variable_count == 0)
            continue;
        usage.taint = calloc(usage.body->register_count + 1u, sizeof *usage.taint);
        if (usage.taint == NULL)
            return -1;
        /* Each round taints at least one register more (clean, one, several), or is the last. A
         * few rounds settle real code; text made to need more is called written throughout. */
        unsigned rounds = 0;
        do {
            usage.changed = false;
            for (size_t i = 0; i < usage.body->instruction_count; ++i)
                visit(&usage, i);
        } while (usage.changed && ++rounds < 64);
        if (usage.changed)
            mark_written(&usage, SEVERAL);
        free(usage.taint);
    }
    return 0;
}

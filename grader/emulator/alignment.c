/* alignment.c - what addresses are multiples of, for sure, and which lie in shared memory.
 *
 * For merge.c, which finds what ptxas makes one access of. Everything is a multiple of everything
 * and in shared memory at first; then each instruction that writes a register takes from that what
 * is not so, until nothing changes. ptxas puts variables of shared memory at multiples of 16,
 * whatever they ask for; where dynamic shared memory begins it takes from the declaration. */
#include "emulator/lower.h"

#define SOURCES 4 /* operands of what is looked at, the result included */
#define SWEEPS 32
#define VARIABLE_ZEROS 4

struct search {
    struct alignment *found;
    const struct ptx_instruction *instruction;
    bool changed;
};

/* At most ALIGNMENT_MAX. */
static unsigned trailing_zeros(uint64_t value)
{
    const unsigned zeros = value == 0 ? ALIGNMENT_MAX : (unsigned)__builtin_ctzll(value);
    return zeros < ALIGNMENT_MAX ? zeros : ALIGNMENT_MAX;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned zeros_of_symbol(const struct ptx_symbol *symbol)
{
    if (symbol == NULL || symbol->kind != PTX_SYMBOL_VARIABLE)
        return 0;
    if (symbol->space == PTX_SHARED && !symbol->unsized)
        return VARIABLE_ZEROS;
    return trailing_zeros(symbol->align == 0 ? 1 : symbol->align);
}

unsigned alignment_of(const struct alignment *found, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return operand->component == '\0' ? found->zeros[operand->index] : 0;
    case PTX_OPERAND_INTEGER:
        return trailing_zeros(operand->value);
    case PTX_OPERAND_SYMBOL:
        return smaller(zeros_of_symbol(operand->symbol), trailing_zeros(operand->value));
    default:
        return 0;
    }
}

static unsigned zeros_of_result(const struct search *search)
{
    const struct ptx_instruction *instruction = search->instruction;
    static const char *const copies[] = {"mov", "cvt", "cvta", NULL};
    static const char *const sums[] = {"add", "sub", "or", "xor", NULL};
    const struct ptx_operand *operands = instruction->operands;
    const char *opcode = instruction->opcode;
    unsigned a[SOURCES] = {0};
    if (instruction->operand_count < 2 || instruction->operand_count > SOURCES ||
        lower_has(instruction, "hi"))
        return 0;
    for (size_t i = 1; i < instruction->operand_count; ++i)
        a[i] = alignment_of(search->found, &operands[i]);
    for (size_t i = 0; copies[i] != NULL; ++i)
        if (strcmp(opcode, copies[i]) == 0)
            return instruction->operand_count == 2 ? a[1] : 0;
    for (size_t i = 0; sums[i] != NULL; ++i)
        if (strcmp(opcode, sums[i]) == 0)
            return smaller(a[1], a[2]);
    if (strcmp(opcode, "and") == 0)
        return a[1] > a[2] ? a[1] : a[2];
    if (strcmp(opcode, "selp") == 0)
        return smaller(a[1], a[2]);
    if (strcmp(opcode, "shl") == 0 && operands[2].kind == PTX_OPERAND_INTEGER)
        return smaller(ALIGNMENT_MAX, a[1] + (unsigned)(operands[2].value & 63));
    if (strcmp(opcode, "mul") == 0)
        return smaller(ALIGNMENT_MAX, a[1] + a[2]);
    if (strcmp(opcode, "mad") == 0)
        return smaller(a[1] + a[2], a[3]);
    return 0;
}

bool alignment_is_shared(const struct alignment *found, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_REGISTER)
        return found->in_shared[operand->index];
    return operand->kind == PTX_OPERAND_SYMBOL && operand->symbol != NULL &&
           operand->symbol->kind == PTX_SYMBOL_VARIABLE && operand->symbol->space == PTX_SHARED;
}

static void expect_best(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct search *search = payload;
    if (!is_written)
        return;
    search->found->zeros[operand->index] = ALIGNMENT_MAX;
    search->found->in_shared[operand->index] = true;
}

static void take_away(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct search *search = payload;
    const struct ptx_instruction *instruction = search->instruction;
    if (!is_written)
        return;
    const unsigned zeros = operand == &instruction->operands[0] ? zeros_of_result(search) : 0;
    if (zeros < search->found->zeros[operand->index]) {
        search->found->zeros[operand->index] = (uint8_t)zeros;
        search->changed = true;
    }
    bool shared = strcmp(instruction->opcode, "cvta") == 0 && lower_has(instruction, "shared");
    if (strcmp(instruction->opcode, "mov") == 0 || strcmp(instruction->opcode, "add") == 0)
        for (size_t i = 1; i < instruction->operand_count; ++i)
            shared = shared || alignment_is_shared(search->found, &instruction->operands[i]);
    if (!shared && search->found->in_shared[operand->index]) {
        search->found->in_shared[operand->index] = false;
        search->changed = true;
    }
}

bool alignment_find(struct lowering *lowering, struct alignment *ret)
{
    const struct ptx_body *body = lowering->body;
    const size_t registers = (size_t)body->register_count + 1;
    struct search search = {.found = ret};
    ret->zeros = arena_array(lowering->arena, registers, 1);
    ret->in_shared = arena_array(lowering->arena, registers, sizeof(bool));
    if (ret->zeros == NULL || ret->in_shared == NULL) {
        lowering->failed = true;
        return false;
    }
    for (size_t i = 0; i < body->instruction_count; ++i)
        cfg_visit_registers(&body->instructions[i], expect_best, &search);
    for (unsigned sweep = 0; sweep < SWEEPS; ++sweep) {
        search.changed = false;
        for (size_t i = 0; i < body->instruction_count; ++i) {
            search.instruction = &body->instructions[i];
            cfg_visit_registers(search.instruction, take_away, &search);
        }
        if (!search.changed)
            return true;
    }
    return false; /* a hostile function, of which nothing is said */
}

/* kernel.c - an entry and all that it may call, lowered together. */
#include "emulator/lower.h"

#include "demangle.h"

uint64_t kernel_function_address(const struct emulator *emulator, const struct ptx_body *body)
{
    (void)emulator;
    return FUNCTION_WINDOW + 16 * (uint64_t)body->number;
}

const struct program *kernel_function_at(const struct emulator *emulator,
                                         const struct kernel *kernel, uint64_t address)
{
    uint64_t number = (address - FUNCTION_WINDOW) / 16;
    if (address < FUNCTION_WINDOW || address % 16 != 0 || number >= emulator->module->body_count ||
        kernel->program_of[number] == 0)
        return NULL;
    return &kernel->programs[kernel->program_of[number] - 1];
}

bool kernel_has_refusal(const struct kernel *kernel)
{
    return kernel->refusal[0] != '\0';
}

struct reach { /* the functions that the entry may call */
    struct emulator *emulator;
    struct kernel *kernel;
    const struct ptx_body **list;
    size_t count;
    size_t shared_capacity;
    bool failed;
};

static void reach_function(struct reach *reach, const struct ptx_body *body)
{
    if (!body->has_body || reach->kernel->program_of[body->number] != 0)
        return;
    reach->list[reach->count++] = body;
    reach->kernel->program_of[body->number] = (uint32_t)reach->count;
}

static void reach_shared(struct reach *reach, const struct ptx_symbol *symbol)
{
    struct kernel *kernel = reach->kernel;
    for (size_t i = 0; i < kernel->shared_count; ++i)
        if (kernel->shared[i].symbol == symbol)
            return;
    struct shared_variable *list = arena_grow(&kernel->arena, kernel->shared, kernel->shared_count,
                                              &reach->shared_capacity, sizeof *list);
    if (list == NULL) {
        reach->failed = true;
        return;
    }
    kernel->shared = list;
    if (kernel->shared_count >= CAP_SHARED_VARIABLES || symbol->bytes > CAP_SHARED_BYTES) {
        char name[DEMANGLED_NAME_BYTES];
        (void)snprintf(kernel->refusal, sizeof kernel->refusal,
                       "line %u: `%s` does not fit into shared memory", symbol->line,
                       demangle_name(symbol->name, name));
        return;
    }
    list[kernel->shared_count++] = (struct shared_variable){.symbol = symbol};
}

static void reach_operand(struct reach *reach, const struct ptx_operand *operand)
{
    const struct ptx_symbol *symbol = operand->symbol;
    if (operand->kind == PTX_OPERAND_SPECIAL &&
        strncmp(operand->name, "%reserved_smem", strlen("%reserved_smem")) == 0)
        reach->kernel->reserved_bytes = RESERVED_SHARED_BYTES;
    if (operand->kind == PTX_OPERAND_SYMBOL && symbol != NULL) {
        if (symbol->kind == PTX_SYMBOL_FUNCTION)
            reach_function(reach, symbol->body);
        else if (symbol->kind == PTX_SYMBOL_VARIABLE && symbol->space == PTX_SHARED)
            reach_shared(reach, symbol);
    }
    for (size_t i = 0; i < operand->child_count; ++i)
        reach_operand(reach, &operand->children[i]);
}

/* Breadth first over operands. Functions whose addresses are in initialised variables may be called
 * by anybody. */
static void reach_all(struct reach *reach, const struct ptx_body *entry)
{
    const struct ptx_module *module = reach->emulator->module;
    reach_function(reach, entry);
    for (size_t v = 0; v < module->variable_count; ++v)
        for (size_t i = 0; i < module->variables[v]->initialiser_count; ++i) {
            const struct ptx_symbol *target = module->variables[v]->initialiser[i].target;
            if (target != NULL && target->kind == PTX_SYMBOL_FUNCTION)
                reach_function(reach, target->body);
        }
    for (size_t f = 0; f < reach->count && !reach->failed; ++f)
        for (size_t i = 0; i < reach->list[f]->instruction_count; ++i) {
            const struct ptx_instruction *instruction = &reach->list[f]->instructions[i];
            for (size_t o = 0; o < instruction->operand_count; ++o)
                reach_operand(reach, &instruction->operands[o]);
        }
}

/* What is reserved, static variables, then the start of dynamic shared memory, which all [] arrays
 * share. */
static void place_shared(struct kernel *kernel)
{
    uint64_t bytes = kernel->reserved_bytes;
    for (size_t i = 0; i < kernel->shared_count; ++i) {
        const struct ptx_symbol *symbol = kernel->shared[i].symbol;
        if (symbol->unsized)
            continue;
        bytes = (bytes + symbol->align - 1) & ~(uint64_t)(symbol->align - 1);
        kernel->shared[i].offset = (uint32_t)bytes;
        bytes += symbol->bytes;
        if (bytes > CAP_SHARED_BYTES && kernel->refusal[0] == '\0') {
            (void)snprintf(kernel->refusal, sizeof kernel->refusal,
                           "`%.100s` needs more than %u bytes of shared memory", kernel->name,
                           CAP_SHARED_BYTES);
            return;
        }
    }
    kernel->shared_bytes = (uint32_t)bytes;
    for (size_t i = 0; i < kernel->shared_count; ++i)
        if (kernel->shared[i].symbol->unsized)
            kernel->shared[i].offset = (uint32_t)((bytes + 15) & ~UINT64_C(15));
}

struct kernel *kernel_prepare(struct emulator *emulator, const struct ptx_body *entry,
                              struct error *err)
{
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL) {
        (void)error_no_memory(err);
        return NULL;
    }
    kernel->entry = entry;
    const size_t bodies = emulator->module->body_count;
    struct reach reach = {.emulator = emulator, .kernel = kernel};
    char name[DEMANGLED_NAME_BYTES];
    (void)demangle_name(entry->face.name, name);
    kernel->name = arena_text(&kernel->arena, name, strlen(name));
    kernel->program_of = arena_array(&kernel->arena, bodies, sizeof *kernel->program_of);
    reach.list = arena_array(&kernel->arena, bodies, sizeof(const struct ptx_body *));
    bool failed = kernel->name == NULL || kernel->program_of == NULL || reach.list == NULL;
    if (!failed) {
        reach_all(&reach, entry);
        place_shared(kernel);
        kernel->programs = arena_array(&kernel->arena, reach.count, sizeof *kernel->programs);
        failed = reach.failed || kernel->programs == NULL;
    }
    kernel->program_count = failed ? 0 : reach.count;
    for (size_t f = 0; f < kernel->program_count; ++f) /* calls look at the callee's body */
        kernel->programs[f].body = reach.list[f];
    for (size_t f = 0; f < kernel->program_count && !failed && !kernel_has_refusal(kernel); ++f) {
        struct lowering lowering = {.emulator = emulator,
                                    .kernel = kernel,
                                    .arena = &kernel->arena,
                                    .body = reach.list[f],
                                    .program = &kernel->programs[f]};
        failed = (!lower_function(&lowering) && !kernel_has_refusal(kernel)) ||
                 !fuse_find(&kernel->arena, reach.list[f], &kernel->fusable);
    }
    if (failed) {
        kernel_free(kernel);
        (void)error_no_memory(err);
        return NULL;
    }
    return kernel;
}

void kernel_free(struct kernel *kernel)
{
    if (kernel == NULL)
        return;
    arena_release(&kernel->arena);
    free(kernel);
}

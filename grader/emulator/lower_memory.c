/* lower_memory.c - ld, st, cvta: spaces, addresses, and which handler runs them. */
#include "emulator/lower.h"

static enum ptx_space space_of(const struct ptx_instruction *instruction)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_GLOBAL},
                  {"shared", PTX_SHARED},
                  {"local", PTX_LOCAL},
                  {"param", PTX_PARAM},
                  {"const", PTX_CONST}};
    for (unsigned m = 0; m < instruction->modifier_count; ++m)
        for (size_t i = 0; i < COUNT_OF(spaces); ++i) {
            const char *modifier = instruction->modifiers[m];
            size_t length = strlen(spaces[i].name);
            if (strncmp(modifier, spaces[i].name, length) == 0 &&
                (modifier[length] == '\0' || modifier[length] == ':'))
                return spaces[i].space;
        }
    return PTX_GENERIC;
}

static uint32_t shared_offset(struct lowering *lowering, const struct ptx_symbol *symbol)
{
    const struct kernel *kernel = lowering->kernel;
    for (size_t i = 0; i < kernel->shared_count; ++i)
        if (kernel->shared[i].symbol == symbol)
            return kernel->shared[i].offset;
    lower_refuse(lowering, "the shared variable `%.100s` was not found", symbol->name);
    return 0;
}

void lower_variable_address(struct lowering *lowering, const struct ptx_symbol *symbol,
                            uint64_t offset, struct access *access)
{
    access->address = ADDRESS_CONSTANT;
    switch (symbol->space) {
    case PTX_GLOBAL:
    case PTX_CONST:
        access->offset = (int64_t)(lowering->emulator->variable_addresses[symbol->number] + offset);
        break;
    case PTX_SHARED:
        offset += shared_offset(lowering, symbol);
        access->offset = (int64_t)(access->space == PTX_GENERIC ? SHARED_WINDOW + offset : offset);
        break;
    case PTX_LOCAL:
    case PTX_PARAM:
        access->address = ADDRESS_FRAME;
        if (symbol->is_formal) {
            const struct ptx_body *body = lowering->body;
            struct ptx_symbol *const *list = symbol->is_return ? body->returns : body->formals;
            const uint32_t *places =
                symbol->is_return ? lowering->program->returns : lowering->program->parameters;
            size_t i = 0;
            while (list[i] != symbol)
                ++i;
            offset += places[i];
            if (body->face.is_entry && !symbol->is_return)
                access->address = ADDRESS_CONSTANT; /* in the parameter block */
        } else {
            offset += lowering->variable_offsets[symbol->number];
        }
        access->offset = (int64_t)offset;
        break;
    default:
        lower_refuse(lowering, "`%.100s` has no address", symbol->name);
        break;
    }
}

uint32_t lower_address(struct lowering *lowering, const struct ptx_operand *operand,
                       struct access *access)
{
    if (operand->kind != PTX_OPERAND_ADDRESS || operand->child_count != 1) {
        lower_refuse(lowering, "its address is not understood");
        return 0;
    }
    const struct ptx_operand *base = &operand->children[0];
    if (base->kind == PTX_OPERAND_REGISTER) {
        enum width width = lower_register_width(base->symbol->type);
        if (width != WIDTH_32 && width != WIDTH_64)
            lower_refuse(lowering, "an address has 32 or 64 bits");
        access->address = width == WIDTH_64 ? ADDRESS_64 : ADDRESS_32;
        access->offset = (int64_t)operand->value;
        return lowering->slots[base->index];
    }
    if (base->kind == PTX_OPERAND_INTEGER) {
        access->address = ADDRESS_CONSTANT;
        access->offset = (int64_t)base->value;
        return 0;
    }
    const struct ptx_symbol *symbol = base->symbol;
    if (base->kind != PTX_OPERAND_SYMBOL || symbol == NULL || symbol->kind != PTX_SYMBOL_VARIABLE) {
        lower_refuse(lowering, "its address is not understood");
        return 0;
    }
    lower_variable_address(lowering, symbol, operand->value, access);
    /* The value of an entry's parameter address (not an access to it) is a real address. */
    if (access->space == PTX_SPACE_NONE && symbol->space == PTX_PARAM &&
        access->address == ADDRESS_CONSTANT)
        access->offset += (int64_t)lowering->emulator->parameters->base;
    return 0;
}

/* Registers of the data operand: one, or the elements of a vector. */
static void data_registers(struct lowering *lowering, const struct ptx_operand *operand,
                           enum ptx_type type, struct access *access)
{
    const struct ptx_operand *elements = operand;
    size_t count = 1;
    if (operand->kind == PTX_OPERAND_VECTOR) {
        elements = operand->children;
        count = operand->child_count;
    }
    if (count > COUNT_OF(access->registers) || count == 0) {
        lower_refuse(lowering, "a vector of %zu elements is not understood", count);
        return;
    }
    access->count = (uint8_t)count;
    access->element_bytes = (uint8_t)ptx_type_bytes(type);
    access->sign_extend = ptx_type_is_signed(type);
    enum width width = lower_register_width(type);
    for (size_t i = 0; i < count; ++i)
        if (elements[i].kind == PTX_OPERAND_REGISTER) {
            width = lower_register_width(elements[i].symbol->type);
            break;
        }
    if (width == WIDTH_PREDICATE || width_bytes(width) < access->element_bytes) {
        lower_refuse(lowering, "a register is too small for what is accessed");
        return;
    }
    access->register_bytes = (uint8_t)width_bytes(width);
    for (size_t i = 0; i < count; ++i) {
        if (elements[i].kind == PTX_OPERAND_SINK)
            access->registers[i] = UINT32_MAX;
        else if (access->is_store)
            access->registers[i] = lower_value(lowering, &elements[i], width, type);
        else
            access->registers[i] = lower_result(lowering, &elements[i], width);
    }
}

/* A parameter of a function, or of a call: local memory, but no traffic. Of an entry: the block of
 * constants that the launch brings. */
static void resolve_parameter_space(struct lowering *lowering, struct access *access)
{
    access->counted = false;
    if (access->address == ADDRESS_FRAME) {
        access->space = PTX_LOCAL;
    } else if (access->address != ADDRESS_CONSTANT) {
        access->space = lowering->body->face.is_entry ? PTX_GLOBAL : PTX_LOCAL;
    } else if (!access->is_store) {
        uint64_t end = (uint64_t)access->offset + (uint64_t)access->element_bytes * access->count;
        if (access->offset < 0 || end > lowering->program->argument_bytes)
            lower_refuse(lowering, "it reads outside the kernel's parameters");
    } else {
        lower_refuse(lowering, "a kernel's parameters cannot be written");
    }
}

static step_handler choose_handler(struct lowering *lowering, const struct access *access,
                                   uint32_t base)
{
    const struct lanes *lanes = lanes_best();
    if (access->is_strong)
        return access->is_store ? access_store : access_load;
    if (access->space == PTX_PARAM)
        return access_load_parameter;
    if (access->space == PTX_GLOBAL && access->address == ADDRESS_64 && access->count == 1 &&
        access->element_bytes == 4 && access->register_bytes == 4 && access->counted &&
        access->registers[0] != UINT32_MAX) {
        const bool again = lowering->noted_run == base && lowering->instruction->guard == NULL;
        lowering->noted_run = lowering->instruction->guard == NULL ? base : UINT32_MAX;
        if (access->is_store)
            return again ? lanes->store_global_32_again : lanes->store_global_32;
        return again ? lanes->load_global_32_again : lanes->load_global_32;
    }
    if (access->space == PTX_LOCAL && access->element_bytes == 4 && access->register_bytes == 4 &&
        (access->count & (access->count - 1)) == 0) {
        if (access->count == 1)
            return access->is_store ? lanes->store_local_one : lanes->load_local_one;
        return access->is_store ? lanes->store_local_32 : lanes->load_local_32;
    }
    if (access->space == PTX_SHARED && access->element_bytes == 4 && access->register_bytes == 4 &&
        access->count == 1 && access->registers[0] != UINT32_MAX)
        return access->is_store ? lanes->store_shared_32 : lanes->load_shared_32;
    return access->is_store ? access_store : access_load;
}

/* A whole word of the kernel's parameters: as cheap as a constant. */
static bool lower_broadcast(struct lowering *lowering, const struct access *access)
{
    if (access->space != PTX_PARAM || access->count != 1 || access->registers[0] == UINT32_MAX ||
        access->element_bytes != access->register_bytes ||
        (access->element_bytes != 4 && access->element_bytes != 8))
        return false;
    struct op *op = lower_emit(lowering, OP_LANES);
    op->run.lanes =
        access->element_bytes == 4 ? lanes_best()->broadcast_32 : lanes_best()->broadcast_64;
    op->width = access->element_bytes == 4 ? WIDTH_32 : WIDTH_64;
    op->d = access->registers[0];
    op->detail = lowering->emulator->parameters->data + access->offset;
    return true;
}

/* Accesses that ptxas makes one of: the first of them counts for all. */
static void lower_merged(struct lowering *lowering, struct access *access, uint32_t base)
{
    if ((access->space != PTX_SHARED && access->space != PTX_GLOBAL &&
         access->space != PTX_GENERIC) ||
        access->is_strong || access->address == ADDRESS_FRAME)
        return;
    const struct merged_access *merged = merge_find(lowering);
    if (!merged->is_merged)
        return;
    access->counted = false;
    if (merged->bytes == 0)
        return;
    struct merge_detail *detail = arena_alloc(lowering->arena, sizeof *detail);
    if (detail == NULL) {
        lowering->failed = true;
        return;
    }
    *detail = (struct merge_detail){.address = access->address,
                                    .is_store = access->is_store,
                                    .bytes = merged->bytes,
                                    .offset = access->offset - merged->back};
    struct op *op = lower_step(lowering, merge_count);
    op->a = base;
    op->detail = detail;
}

static void lower_access(struct lowering *lowering, const struct ptx_instruction *instruction,
                         bool is_store)
{
    static const char *const strong[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    struct access *access = arena_alloc(lowering->arena, sizeof *access);
    if (access == NULL) {
        lowering->failed = true;
        return;
    }
    const enum ptx_type type = lower_type(instruction);
    if (instruction->operand_count < 2 || ptx_type_bytes(type) == 0) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    const struct ptx_operand *address = &instruction->operands[is_store ? 0 : 1];
    const struct ptx_operand *data = &instruction->operands[is_store ? 1 : 0];
    access->is_store = is_store;
    access->counted = true;
    access->space = space_of(instruction);
    access->is_strong = lower_choose(instruction, strong, COUNT_OF(strong)) >= 0;
    access->is_volatile = lower_has(instruction, "volatile");
    access->line = fault_line(instruction);
    uint32_t base = lower_address(lowering, address, access);
    data_registers(lowering, data, type, access);
    if (lower_refused(lowering))
        return;
    if (access->space == PTX_PARAM)
        resolve_parameter_space(lowering, access);
    else if (access->address == ADDRESS_FRAME)
        access->space = PTX_LOCAL; /* a generic access to a local variable by name */
    if (access->space == PTX_CONST)
        access->counted = false;
    if ((access->space == PTX_SHARED || access->space == PTX_GENERIC) && access->element_bytes < 4)
        lowering->kernel->small_shared = true;
    if (lower_refused(lowering) || lower_broadcast(lowering, access))
        return;
    const struct ptx_operand *at = &address->children[0];
    access->is_uniform = at->kind == PTX_OPERAND_REGISTER && lowering->invariant[at->index] &&
                         access->address != ADDRESS_FRAME;
    lower_merged(lowering, access, base);
    struct op *op = lower_step(lowering, choose_handler(lowering, access, base));
    op->a = base;
    op->detail = access;
}

/* cvta{.to}.SPACE.u64 d, a: shared and local are windows of the generic addresses. */
void lower_cvta(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const bool to = lower_has(instruction, "to");
    enum ptx_space space = space_of(instruction);
    if (instruction->operand_count != 2) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    const enum width width = lower_register_width(lower_type(instruction));
    if (space == PTX_PARAM)
        space = lowering->body->face.is_entry ? PTX_CONST : PTX_LOCAL;
    const uint64_t window = space == PTX_SHARED  ? SHARED_WINDOW
                            : space == PTX_LOCAL ? LOCAL_WINDOW
                                                 : 0;
    if (width != WIDTH_32 && width != WIDTH_64) {
        lower_refuse(lowering, "an address has 32 or 64 bits");
        return;
    }
    uint32_t a = lower_value(lowering, &instruction->operands[1], width, PTX_U64);
    uint32_t d = lower_result(lowering, &instruction->operands[0], width);
    const bool wide = width == WIDTH_64;
    if (window == 0)
        lower_row(lowering, wide ? "mov.b64" : "mov.b32", d, a, 0, 0, 0);
    else if (to)
        lower_row(lowering, wide ? "sub.u64" : "sub.u32", d, a,
                  lower_constant(lowering, width, window), 0, 0);
    else
        lower_row(lowering, wide ? "add.u64" : "add.u32", d, a,
                  lower_constant(lowering, width, window), 0, 0);
}

void lower_load(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    lower_access(lowering, instruction, false);
    lower_order(lowering, instruction, "acquire");
}

void lower_store(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (lower_has(instruction, "async") || lower_has(instruction, "bulk"))
        lower_refuse(lowering, "stores that complete later are not emulated");
    lower_order(lowering, instruction, "release");
    if (!lower_refused(lowering))
        lower_access(lowering, instruction, true);
}

/* A policy for caches: any value will do. */
void lower_policy(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (instruction->operand_count == 0)
        lower_refuse(lowering, "it is not understood");
    else
        lower_row(lowering, "mov.b64", lower_result(lowering, &instruction->operands[0], WIDTH_64),
                  lower_constant(lowering, WIDTH_64, 0), 0, 0, 0);
}

/* lower_operand.c - operands: registers, constants, special registers, addresses of variables. */
#include "emulator/lower.h"

#include "emulator/rows.h"

bool lower_has(const struct ptx_instruction *instruction, const char *modifier)
{
    for (unsigned i = 0; i < instruction->modifier_count; ++i)
        if (strcmp(instruction->modifiers[i], modifier) == 0)
            return true;
    return false;
}

int lower_choose(const struct ptx_instruction *instruction, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (lower_has(instruction, names[i]))
            return (int)i;
    return -1;
}

enum ptx_type lower_modifier_type(const struct ptx_instruction *instruction, unsigned index)
{
    const char *text = instruction->modifiers[index];
    return ptx_type_find(text, strlen(text));
}

enum ptx_type lower_type(const struct ptx_instruction *instruction)
{
    for (unsigned i = instruction->modifier_count; i-- > 0;)
        if (lower_modifier_type(instruction, i) != PTX_NO_TYPE)
            return lower_modifier_type(instruction, i);
    return PTX_NO_TYPE;
}

/* The bits of a floating-point immediate in the type of the instruction. */
static uint64_t float_bits(const struct ptx_operand *operand, enum ptx_type type)
{
    double wide = 0;
    float narrow = 0;
    uint32_t bits = (uint32_t)operand->value;
    uint64_t ret = operand->value;
    if (operand->kind == PTX_OPERAND_FLOAT32) {
        if (type != PTX_F64)
            return operand->value;
        memcpy(&narrow, &bits, sizeof narrow);
        wide = (double)narrow;
        memcpy(&ret, &wide, sizeof ret);
    } else if (type == PTX_F32) {
        memcpy(&wide, &operand->value, sizeof wide);
        narrow = (float)wide;
        memcpy(&bits, &narrow, sizeof bits);
        ret = bits;
    }
    return ret;
}

/* The kernel may wait for its whole grid, which needs a place to meet in. */
static bool lower_workspace(struct lowering *lowering)
{
    struct emulator *emulator = lowering->emulator;
    lowering->kernel->cooperative = true;
    if (emulator->workspace == NULL)
        emulator->workspace =
            memory_add(emulator, 256, REGION_VARIABLE, "the grid's workspace", true);
    lowering->failed = lowering->failed || emulator->workspace == NULL;
    return !lowering->failed;
}

static uint32_t read_special(struct lowering *lowering, const struct ptx_operand *operand,
                             enum width width)
{
    enum width own = WIDTH_32;
    enum special special = special_find(operand->name, operand->component, &own);
    if (special == SPECIAL_UNKNOWN) {
        lower_refuse(lowering, "the emulator does not know the register %.60s", operand->name);
        return 0;
    }
    if ((special == SPECIAL_WORKSPACE_LOW || special == SPECIAL_WORKSPACE_HIGH) &&
        !lower_workspace(lowering))
        return 0;
    /* Reading a special register at another width widens or cuts it. */
    uint32_t temporary = lower_temporary(lowering, own);
    struct op *op = lower_step(lowering, special_read);
    op->d = temporary;
    op->width = (uint8_t)own;
    op->imm = special;
    op->a = lowering->program->blocks[lowering->block].last - 1 -
            (uint32_t)(lowering->instruction - lowering->body->instructions);
    if (own == width)
        return temporary;
    uint32_t converted = lower_temporary(lowering, width);
    lower_row(lowering,
              own == WIDTH_64     ? width == WIDTH_32 ? "cvt.u32.u64" : "cvt.u16.u64"
              : width == WIDTH_64 ? "cvt.u64.u32"
                                  : "cvt.u16.u32",
              converted, temporary, 0, 0, 0);
    return converted;
}

/* The address of a variable or function, as a value. */
static uint32_t symbol_value(struct lowering *lowering, const struct ptx_operand *operand,
                             enum width width)
{
    const struct ptx_symbol *symbol = operand->symbol;
    if (symbol->kind == PTX_SYMBOL_FUNCTION)
        return lower_constant(lowering, width,
                              kernel_function_address(lowering->emulator, symbol->body));
    struct access access = {0};
    const struct ptx_operand address = {.kind = PTX_OPERAND_ADDRESS,
                                        .children = (struct ptx_operand *)operand,
                                        .child_count = 1,
                                        .value = operand->value};
    (void)lower_address(lowering, &address, &access);
    if (access.address == ADDRESS_CONSTANT)
        return lower_constant(lowering, width, (uint64_t)access.offset);
    if (lowering->body->face.is_entry) /* its frame is the first */
        return lower_constant(lowering, width, (uint64_t)access.offset);
    uint32_t temporary = lower_temporary(lowering, width);
    struct op *op = lower_step(lowering, special_frame_address);
    op->d = temporary;
    op->width = (uint8_t)width;
    op->imm = (uint64_t)access.offset;
    return temporary;
}

uint32_t lower_value(struct lowering *lowering, const struct ptx_operand *operand, enum width width,
                     enum ptx_type type)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER: {
        enum width own = lower_register_width(operand->symbol->type);
        if (own != width) {
            lower_refuse(lowering, "operand `%.60s` has the wrong size", operand->name);
            return 0;
        }
        uint32_t slot = lowering->slots[operand->index];
        if (operand->negated && width == WIDTH_PREDICATE) {
            uint32_t temporary = lower_temporary(lowering, width);
            struct op *op = lower_step(lowering, predicate_not);
            op->d = temporary;
            op->a = slot;
            return temporary;
        }
        if (operand->negated || operand->part != NULL) {
            lower_refuse(lowering, "it takes no part and no negative of a register like `%.60s`",
                         operand->name);
            return 0;
        }
        return slot;
    }
    case PTX_OPERAND_INTEGER: {
        uint64_t value = operand->value;
        if (type == PTX_F32 || type == PTX_F64) { /* an integer where a float is due */
            struct ptx_operand converted = {.kind = PTX_OPERAND_FLOAT};
            double wide = (double)(int64_t)value;
            memcpy(&converted.value, &wide, sizeof wide);
            value = float_bits(&converted, type);
        }
        if (width == WIDTH_PREDICATE)
            value = value != 0 ? FULL_MASK : 0;
        return lower_constant(lowering, width, value);
    }
    case PTX_OPERAND_FLOAT:
    case PTX_OPERAND_FLOAT32:
        return lower_constant(lowering, width, float_bits(operand, type));
    case PTX_OPERAND_SPECIAL:
        return read_special(lowering, operand, width);
    case PTX_OPERAND_SYMBOL:
        if (operand->symbol != NULL &&
            (operand->symbol->kind == PTX_SYMBOL_VARIABLE ||
             operand->symbol->kind == PTX_SYMBOL_FUNCTION) &&
            (width == WIDTH_32 || width == WIDTH_64))
            return symbol_value(lowering, operand, width);
        break;
    default:
        break;
    }
    lower_refuse(lowering, "an operand of this kind is not understood here");
    return 0;
}

uint32_t lower_result(struct lowering *lowering, const struct ptx_operand *operand,
                      enum width width)
{
    if (operand->kind == PTX_OPERAND_SINK)
        return lower_temporary(lowering, width);
    if (operand->kind != PTX_OPERAND_REGISTER || operand->negated || operand->part != NULL) {
        lower_refuse(lowering, "the result has to be a register");
        return 0;
    }
    if (lower_register_width(operand->symbol->type) != width) {
        lower_refuse(lowering, "the result `%.60s` has the wrong size", operand->name);
        return 0;
    }
    return lowering->slots[operand->index];
}

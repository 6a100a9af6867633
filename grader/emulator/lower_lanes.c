/* lower_lanes.c - lane-wise instructions: what instructions.inc has rows for, and what is composed
 * of them: .ftz, .sat, .relu, minima of three. */
#include "emulator/lower.h"

#include "emulator/rows.h"

/* ---- Lane-wise instructions ----------------------------------------------------------------- */

struct composed { /* what the name of a row leaves out */
    char text[128];
    bool flush, relu;       /* .ftz, .relu of a floating-point result */
    enum ptx_type saturate; /* .sat of a floating-point result; PTX_NO_TYPE: no */
};

enum ptx_type lower_first_type(const struct ptx_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->modifier_count; ++i)
        if (lower_modifier_type(instruction, i) != PTX_NO_TYPE)
            return lower_modifier_type(instruction, i);
    return PTX_NO_TYPE;
}

static bool is_one_of(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (strcmp(text, list[i]) == 0)
            return true;
    return false;
}

/* "fma.rn.ftz.f32" is the row "fma.f32", flushed. */
static void compose(const struct ptx_instruction *instruction, struct composed *ret)
{
    static const char *const rounded[] = {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"};
    static const char *const typeless[] = {"mov", "selp", "slct", "setp"};
    static const char *const unsigned_shift[] = {"shr"};
    const char *opcode = instruction->opcode;
    const enum ptx_type last = lower_type(instruction);
    const enum ptx_type first = lower_first_type(instruction);
    const bool floating = ptx_type_is_float(first) || ptx_type_is_float(last);
    *ret = (struct composed){.saturate = PTX_NO_TYPE};
    const bool integer_relu = !floating && lower_has(instruction, "relu");
    size_t used = (size_t)snprintf(ret->text, sizeof ret->text, "%.32s%s", opcode,
                                   integer_relu ? ".relu" : "");
    unsigned types_seen = 0;
    for (unsigned i = 0; i < instruction->modifier_count; ++i) {
        const char *modifier = instruction->modifiers[i];
        if (strcmp(modifier, "ftz") == 0) {
            ret->flush = true;
            continue;
        }
        if (strcmp(modifier, "relu") == 0) {
            ret->relu = floating;
            continue;
        }
        if (strcmp(modifier, "sat") == 0 && floating) {
            if (ptx_type_is_float(first))
                ret->saturate = first;
            continue;
        }
        if (strcmp(modifier, "rn") == 0 && floating &&
            is_one_of(opcode, rounded, COUNT_OF(rounded)))
            continue;
        enum ptx_type type = ptx_type_find(modifier, strlen(modifier));
        char bits[8];
        if (type != PTX_NO_TYPE && type != PTX_PRED &&
            ((is_one_of(opcode, typeless, 3) && types_seen++ == 0) ||
             (is_one_of(opcode, unsigned_shift, 1) && type >= PTX_B8 && type <= PTX_B64))) {
            (void)snprintf(bits, sizeof bits, "%c%u",
                           opcode[0] == 's' && opcode[1] == 'h' ? 'u' : 'b',
                           8 * ptx_type_bytes(type));
            modifier = bits;
        }
        if (used < sizeof ret->text)
            used += (size_t)snprintf(ret->text + used, sizeof ret->text - used, ".%.40s", modifier);
    }
    /* What is tiny before rounding is flushed: products have rows for that, and so have the forms
     * whose .ftz means more than flushing. */
    static const char *const products[] = {"mul.f32",     "fma.f32",         "mul.f16",
                                           "fma.f16",     "mul.f16x2",       "fma.f16x2",
                                           "cvt.f64.f32", "rsqrt.approx.f64"};
    if (ret->flush && is_one_of(ret->text, products, COUNT_OF(products))) {
        char product[24];
        (void)snprintf(product, sizeof product, "%.23s", ret->text);
        (void)snprintf(ret->text, sizeof ret->text, "flush.%s", product);
    }
}

/* The row that flushes subnormal numbers of a type; NULL: its .ftz is about something else. */
static const char *flush_row(enum ptx_type type)
{
    return type == PTX_F32     ? "flush.f32"
           : type == PTX_F64   ? "flush.f64"
           : type == PTX_F16   ? "flush.f16"
           : type == PTX_F16X2 ? "flush.f16x2"
                               : NULL;
}

/* The row that makes negative numbers zero; NULL: of small formats, whose operands are cut instead.
 */
static const char *relu_row(enum ptx_type type)
{
    switch (type) {
    case PTX_F32:
        return "relu.f32";
    case PTX_F16:
        return "relu.f16";
    case PTX_F16X2:
        return "relu.f16x2";
    case PTX_BF16:
        return "relu.bf16";
    case PTX_BF16X2:
        return "relu.bf16x2";
    default:
        return NULL;
    }
}

uint32_t lower_flushed(struct lowering *lowering, uint32_t value, enum ptx_type type)
{
    const char *row = flush_row(type);
    if (row == NULL)
        return value;
    uint32_t temporary = lower_temporary(lowering, lower_register_width(type));
    lower_row(lowering, row, temporary, value, 0, 0, 0);
    return temporary;
}

/* cvt, ld and st take registers that are wider than the type; cvt also gives them. */
static uint32_t narrowed(struct lowering *lowering, const struct ptx_operand *operand,
                         enum width width, enum ptx_type type)
{
    static const char *const rows[WIDTH_COUNT][WIDTH_COUNT] = {
        [WIDTH_16] = {[WIDTH_32] = "cvt.u16.u32", [WIDTH_64] = "cvt.u16.u64"},
        [WIDTH_32] = {[WIDTH_64] = "cvt.u32.u64"}};
    if (operand->kind != PTX_OPERAND_REGISTER)
        return lower_value(lowering, operand, width, type);
    enum width own = lower_register_width(operand->symbol->type);
    if (own == width || own >= WIDTH_COUNT || rows[width][own] == NULL)
        return lower_value(lowering, operand, width, type);
    uint32_t temporary = lower_temporary(lowering, width);
    lower_row(lowering, rows[width][own], temporary, lower_value(lowering, operand, own, type), 0,
              0, 0);
    return temporary;
}

/* The result of a cvt goes to a wider register: extended by the sign of its type. */
static void widen(struct lowering *lowering, const struct ptx_operand *result, enum ptx_type type,
                  uint32_t value, enum width width)
{
    enum width own = lower_register_width(result->symbol->type);
    bool is_signed = ptx_type_is_signed(type);
    const char *row = NULL;
    if (width == WIDTH_16 && own == WIDTH_32)
        row = is_signed ? "cvt.s32.s16" : "cvt.u32.u16";
    else if (width == WIDTH_16 && own == WIDTH_64)
        row = is_signed ? "cvt.s64.s16" : "cvt.u64.u16";
    else if (width == WIDTH_32 && own == WIDTH_64)
        row = is_signed ? "cvt.s64.s32" : "cvt.u64.u32";
    if (row == NULL)
        lower_refuse(lowering, "the result `%.60s` has the wrong size", result->name);
    else
        lower_row(lowering, row, lower_result(lowering, result, own), value, 0, 0, 0);
}

static bool row_needs_narrow_operand(const struct ptx_instruction *instruction)
{
    return strcmp(instruction->opcode, "cvt") == 0;
}

/* cvt.u32.u8 reads the low byte of its operand. */
static uint32_t cut_to_byte(struct lowering *lowering, uint32_t value, enum ptx_type type)
{
    uint32_t temporary = lower_temporary(lowering, WIDTH_16);
    lower_row(lowering, type == PTX_S8 ? "cvt.s8.u16" : "cvt.u8.u16", temporary, value, 0, 0, 0);
    return temporary;
}

void lower_lane_wise(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    struct composed composed;
    compose(instruction, &composed);
    const struct row *row = row_find(composed.text);
    const size_t extra = strcmp(instruction->opcode, "lop3") == 0 ? 1 : 0;
    if (row == NULL || row->d == WIDTH_PREDICATE) {
        lower_refuse(lowering, "the emulator does not run this instruction");
        return;
    }
    if (instruction->operand_count != row->operands + 1 + extra) {
        lower_refuse(lowering, "it has %zu operands, not %zu", instruction->operand_count,
                     row->operands + 1 + extra);
        return;
    }
    const struct ptx_operand *operands = instruction->operands;
    const enum ptx_type last = lower_type(instruction), first = lower_first_type(instruction);
    const bool chooses = strcmp(instruction->opcode, "slct") == 0; /* .ftz is about c alone */
    uint32_t sources[ROW_OPERANDS] = {0};
    for (unsigned i = 0; i < row->operands; ++i) {
        const enum width width = row->operand[i].width;
        sources[i] = row_needs_narrow_operand(instruction)
                         ? narrowed(lowering, &operands[i + 1], width, row->operand[i].type)
                         : lower_value(lowering, &operands[i + 1], width, row->operand[i].type);
        if (row_needs_narrow_operand(instruction) && ptx_type_bytes(last) == 1)
            sources[i] = cut_to_byte(lowering, sources[i], last);
        if (composed.flush && row->operand[i].type == PTX_F32)
            sources[i] = lower_flushed(lowering, sources[i], PTX_F32);
        else if (composed.flush && !chooses && first == last && flush_row(last) != NULL)
            sources[i] = lower_flushed(lowering, sources[i], last);
        if (composed.relu && relu_row(first) == NULL && relu_row(last) != NULL) {
            const uint32_t positive = lower_temporary(lowering, WIDTH_32);
            lower_row(lowering, relu_row(last), positive, sources[i], 0, 0, 0);
            sources[i] = positive;
        }
    }
    uint64_t imm = 0;
    if (extra != 0) {
        if (operands[4].kind != PTX_OPERAND_INTEGER)
            lower_refuse(lowering, "the table of lop3 has to be a number");
        imm = operands[4].value;
    }
    if (lower_refused(lowering))
        return;
    const bool wider = operands[0].kind == PTX_OPERAND_REGISTER &&
                       lower_register_width(operands[0].symbol->type) > row->d &&
                       row_needs_narrow_operand(instruction);
    uint32_t d =
        wider ? lower_temporary(lowering, row->d) : lower_result(lowering, &operands[0], row->d);
    lower_emit_row(lowering, row, d, sources, imm);
    /* cvt: .ftz is about f32 alone. */
    if (composed.flush && !chooses && flush_row(first) != NULL &&
        (first == PTX_F32 || !row_needs_narrow_operand(instruction)))
        lower_row(lowering, flush_row(first), d, d, 0, 0, 0);
    if (composed.relu && relu_row(first) != NULL)
        lower_row(lowering, relu_row(first), d, d, 0, 0, 0);
    if (composed.saturate != PTX_NO_TYPE) {
        char text[32];
        (void)snprintf(text, sizeof text, "saturate.%s", ptx_type_name(composed.saturate));
        lower_row(lowering, text, d, d, 0, 0, 0);
    }
    if (wider)
        widen(lowering, &operands[0], first, d, row->d);
}

/* add, sub, mad: those with .cc set the carry flag. */
void lower_arithmetic(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (lower_has(instruction, "cc"))
        lower_carry(lowering, instruction);
    else
        lower_lane_wise(lowering, instruction);
}

/* min and max of three: of the first two, and then of that and the third. */
void lower_extremum(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (instruction->operand_count != 4 || lower_type(instruction) != PTX_F32) {
        lower_lane_wise(lowering, instruction);
        return;
    }
    struct composed composed;
    compose(instruction, &composed);
    uint32_t values[3];
    for (unsigned i = 0; i < 3; ++i) {
        values[i] = lower_value(lowering, &instruction->operands[i + 1], WIDTH_32, PTX_F32);
        values[i] = composed.flush ? lower_flushed(lowering, values[i], PTX_F32) : values[i];
    }
    const uint32_t first = lower_temporary(lowering, WIDTH_32);
    lower_row(lowering, composed.text, first, values[0], values[1], 0, 0);
    lower_row(lowering, composed.text, lower_result(lowering, &instruction->operands[0], WIDTH_32),
              first, values[2], 0, 0);
}

/* lop3.BOOL.b32 d|p, a, b, c, table, q: p = (d != 0) BOOL q */
void lower_lop3(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const boolean_names[] = {"and", "or"};
    const int boolean = lower_choose(instruction, boolean_names, COUNT_OF(boolean_names));
    const struct ptx_operand *operands = instruction->operands;
    if (boolean < 0) {
        lower_lane_wise(lowering, instruction);
        return;
    }
    if (instruction->operand_count != 6 || operands[0].kind != PTX_OPERAND_PAIR ||
        operands[4].kind != PTX_OPERAND_INTEGER) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t values[3];
    for (unsigned i = 0; i < 3; ++i)
        values[i] = lower_value(lowering, &operands[i + 1], WIDTH_32, PTX_B32);
    const uint32_t q = lower_value(lowering, &operands[5], WIDTH_PREDICATE, PTX_PRED);
    const uint32_t d = lower_result(lowering, &operands[0].children[0], WIDTH_32);
    const uint32_t p = lower_temporary(lowering, WIDTH_PREDICATE);
    lower_row(lowering, "lop3.b32", d, values[0], values[1], values[2], operands[4].value);
    lower_row(lowering, "setp.ne.b32", p, d, lower_constant(lowering, WIDTH_32, 0), 0, 0);
    predicate_logic(lowering, (unsigned)boolean,
                    lower_result(lowering, &operands[0].children[1], WIDTH_PREDICATE), p, q);
}

/* lower_predicates.c - comparisons, and logic on whole predicates. */
#include "emulator/lower.h"

#include "emulator/rows.h"

static const char *const boolean_names[] = {"and", "or", "xor"};

/* setp.CMP.f16x2 p|q, a, b: p is the lower half's, q the upper's. */
static void compare_pair(struct lowering *lowering, const struct ptx_instruction *instruction,
                         enum ptx_type type)
{
    const struct ptx_operand *operands = instruction->operands;
    char text[32];
    (void)snprintf(text, sizeof text, "setp.%.8s.%s", instruction->modifiers[0],
                   type == PTX_F16X2 ? "f16" : "bf16");
    const uint32_t a = lower_value(lowering, &operands[1], WIDTH_32, PTX_B32);
    const uint32_t b = lower_value(lowering, &operands[2], WIDTH_32, PTX_B32);
    for (unsigned half = 0; half < 2; ++half) {
        const uint32_t x = lower_temporary(lowering, WIDTH_16);
        const uint32_t y = lower_temporary(lowering, WIDTH_16);
        lower_row(lowering, "piece.b16.b32", x, a, 0, 0, 16 * half);
        lower_row(lowering, "piece.b16.b32", y, b, 0, 0, 16 * half);
        lower_row(lowering, text,
                  lower_result(lowering, &operands[0].children[half], WIDTH_PREDICATE), x, y, 0, 0);
    }
}

/* setp.CMP{.BOOL}{.ftz}.TYPE p{|q}, a, b{, {!}c}   and set, which gives a number instead */
static void lower_compare(struct lowering *lowering, const struct ptx_instruction *instruction,
                          bool is_set)
{
    const struct ptx_operand *operands = instruction->operands;
    const size_t count = instruction->operand_count;
    unsigned boolean = COUNT_OF(boolean_names);
    char text[64];
    enum ptx_type type = lower_type(instruction);
    bool flush = lower_has(instruction, "ftz");
    for (unsigned m = 1; m < instruction->modifier_count; ++m)
        for (unsigned i = 0; i < COUNT_OF(boolean_names); ++i)
            if (strcmp(instruction->modifiers[m], boolean_names[i]) == 0)
                boolean = i;
    const bool combined = boolean < COUNT_OF(boolean_names);
    if (count != (combined ? 4u : 3u) || instruction->modifier_count < 2) {
        lower_refuse(lowering, "it has %zu operands, which is not understood", count);
        return;
    }
    if (type == PTX_F16X2 || type == PTX_BF16X2) {
        if (is_set && !combined)
            lower_lane_wise(lowering, instruction);
        else if (!is_set && !combined && operands[0].kind == PTX_OPERAND_PAIR)
            compare_pair(lowering, instruction, type);
        else
            lower_refuse(lowering, "the emulator does not run this instruction");
        return;
    }
    (void)snprintf(text, sizeof text, "setp.%.8s.%s", instruction->modifiers[0],
                   ptx_type_name(type));
    const struct row *row = row_find(text);
    if (row == NULL) {
        lower_refuse(lowering, "the emulator does not run this instruction");
        return;
    }
    uint32_t sources[ROW_OPERANDS] = {0};
    for (unsigned i = 0; i < 2; ++i) {
        sources[i] =
            lower_value(lowering, &operands[i + 1], row->operand[i].width, row->operand[i].type);
        if (flush && (type == PTX_F32 || type == PTX_F16))
            sources[i] = lower_flushed(lowering, sources[i], type);
    }
    uint32_t third = combined ? lower_value(lowering, &operands[3], WIDTH_PREDICATE, PTX_PRED) : 0;
    const struct ptx_operand *p = &operands[0], *q = NULL;
    if (operands[0].kind == PTX_OPERAND_PAIR) {
        p = &operands[0].children[0];
        q = &operands[0].children[1];
    }
    uint32_t compared = combined || q != NULL || is_set
                            ? lower_temporary(lowering, WIDTH_PREDICATE)
                            : lower_result(lowering, p, WIDTH_PREDICATE);
    lower_emit_row(lowering, row, compared, sources, 0);
    if (!combined && q == NULL && !is_set)
        return;
    if (q != NULL) {
        uint32_t inverse = lower_temporary(lowering, WIDTH_PREDICATE);
        struct op *op = lower_step(lowering, predicate_not);
        op->d = inverse;
        op->a = compared;
        predicate_logic(lowering, combined ? boolean : 1,
                        lower_result(lowering, q, WIDTH_PREDICATE), inverse,
                        combined ? third : inverse);
    }
    const uint32_t result = is_set ? lower_temporary(lowering, WIDTH_PREDICATE)
                                   : lower_result(lowering, p, WIDTH_PREDICATE);
    predicate_logic(lowering, combined ? boolean : 1, result, compared,
                    combined ? third : compared);
    if (!is_set)
        return;
    /* set: all ones or zero, or 1.0 or 0.0 */
    const enum ptx_type result_type = lower_first_type(instruction);
    const bool real = ptx_type_is_float(result_type);
    const enum width width = lower_register_width(result_type);
    const uint64_t yes = !real                     ? UINT64_MAX
                         : width == WIDTH_32       ? 0x3F800000
                         : result_type == PTX_BF16 ? 0x3F80
                                                   : 0x3C00;
    (void)snprintf(text, sizeof text, "selp.b%u", 8 * ptx_type_bytes(result_type));
    lower_row(lowering, text, lower_result(lowering, &operands[0], width),
              lower_constant(lowering, width, yes), lower_constant(lowering, width, 0), result, 0);
}

void lower_setp(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    lower_compare(lowering, instruction, false);
}

void lower_set(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    lower_compare(lowering, instruction, true);
}

void lower_testp(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct row *row = row_find(instruction->text);
    if (row == NULL || instruction->operand_count != 2) {
        lower_refuse(lowering, "the emulator does not run this instruction");
        return;
    }
    uint32_t sources[ROW_OPERANDS] = {lower_value(lowering, &instruction->operands[1],
                                                  row->operand[0].width, row->operand[0].type)};
    lower_emit_row(lowering, row,
                   lower_result(lowering, &instruction->operands[0], WIDTH_PREDICATE), sources, 0);
}

/* and, or, xor, not: of predicates, or lane-wise. */
void lower_logic(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const names[] = {"and", "or", "xor", "not"};
    const struct ptx_operand *operands = instruction->operands;
    if (lower_type(instruction) != PTX_PRED) {
        lower_lane_wise(lowering, instruction);
        return;
    }
    unsigned which = 0;
    while (which < 3 && strcmp(instruction->opcode, names[which]) != 0)
        ++which;
    if (instruction->operand_count != (which < 3 ? 3u : 2u)) {
        lower_refuse(lowering, "it has %zu operands, which is not understood",
                     instruction->operand_count);
        return;
    }
    const uint32_t a = lower_value(lowering, &operands[1], WIDTH_PREDICATE, PTX_PRED);
    if (which < 3) {
        const uint32_t b = lower_value(lowering, &operands[2], WIDTH_PREDICATE, PTX_PRED);
        predicate_logic(lowering, which, lower_result(lowering, &operands[0], WIDTH_PREDICATE), a,
                        b);
        return;
    }
    const uint32_t d = lower_result(lowering, &operands[0], WIDTH_PREDICATE);
    struct op *op = lower_step(lowering, predicate_not);
    op->d = d;
    op->a = a;
}

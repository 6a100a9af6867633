/* lower_mov.c - mov: values, addresses, and vectors packed and unpacked. */
#include "emulator/lower.h"

#include "emulator/rows.h"

/* A vector into one register, or one register into a vector. */
static void move_vector(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
    const unsigned bytes = ptx_type_bytes(lower_type(instruction));
    const bool packs = from->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *vector = packs ? from : to;
    const unsigned pieces = (unsigned)vector->child_count;
    const unsigned piece = pieces == 0 ? 0 : bytes / pieces;
    if (bytes > 16 || (bytes == 16 && pieces != 2) || (pieces != 2 && pieces != 4) || piece < 1 ||
        bytes % pieces != 0) {
        lower_refuse(lowering, "a vector of this shape is not understood");
        return;
    }
    const enum width whole = lower_register_width(lower_type(instruction));
    const enum width part = piece <= 2 ? WIDTH_16 : piece == 4 ? WIDTH_32 : WIDTH_64;
    char text[32];
    if (packs) {
        uint32_t sources[ROW_OPERANDS] = {0};
        for (unsigned i = 0; i < pieces; ++i)
            sources[i] = lower_value(lowering, &vector->children[i], part, PTX_B32);
        (void)snprintf(text, sizeof text, "pack%u.b%u", pieces, 8 * bytes);
        const struct row *row = row_find(text);
        if (row == NULL)
            lower_refuse(lowering, "a vector of this shape is not understood");
        else
            lower_emit_row(lowering, row, lower_result(lowering, to, whole), sources, 0);
        return;
    }
    uint32_t source = lower_value(lowering, from, whole, lower_type(instruction));
    (void)snprintf(text, sizeof text, "piece.b%u.b%u", 8 * piece, 8 * bytes);
    for (unsigned i = 0; i < pieces; ++i)
        if (vector->children[i].kind != PTX_OPERAND_SINK)
            lower_row(lowering, text, lower_result(lowering, &vector->children[i], part), source, 0,
                      0, (uint64_t)i * piece * 8);
}

/* mov.v4.u32 {…}, {…}, and {…}, %tid: element by element. */
static void move_elements(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
    const enum ptx_type type = lower_type(instruction);
    const enum width width = lower_register_width(type);
    char row[16];
    (void)snprintf(row, sizeof row, "mov.b%u", 8 * ptx_type_bytes(type));
    if (to->kind != PTX_OPERAND_VECTOR || row_find(row) == NULL || to->child_count > 4 ||
        (from->kind == PTX_OPERAND_VECTOR && from->child_count != to->child_count)) {
        lower_refuse(lowering, "a vector of this shape is not understood");
        return;
    }
    uint32_t values[4] = {0};
    for (size_t i = 0; i < to->child_count; ++i) {
        struct ptx_operand part = *from;
        if (from->kind == PTX_OPERAND_VECTOR)
            part = from->children[i];
        else
            part.component = "xyzw"[i];
        const uint32_t value = lower_value(lowering, &part, width, type);
        values[i] = lower_temporary(lowering, width); /* the vectors may have elements in common */
        lower_row(lowering, row, values[i], value, 0, 0, 0);
    }
    for (size_t i = 0; i < to->child_count; ++i)
        if (to->children[i].kind != PTX_OPERAND_SINK)
            lower_row(lowering, row, lower_result(lowering, &to->children[i], width), values[i], 0,
                      0, 0);
}

void lower_mov(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *operands = instruction->operands;
    if (instruction->operand_count != 2) {
        lower_refuse(lowering, "it has %zu operands, not 2", instruction->operand_count);
    } else if (lower_has(instruction, "v2") || lower_has(instruction, "v4")) {
        move_elements(lowering, instruction);
    } else if (operands[0].kind == PTX_OPERAND_VECTOR || operands[1].kind == PTX_OPERAND_VECTOR) {
        move_vector(lowering, instruction);
    } else if (lower_type(instruction) == PTX_PRED) {
        const uint32_t a = lower_value(lowering, &operands[1], WIDTH_PREDICATE, PTX_PRED);
        predicate_logic(lowering, 1, lower_result(lowering, &operands[0], WIDTH_PREDICATE), a, a);
    } else {
        lower_lane_wise(lowering, instruction);
    }
}

/* lower_lanes.c - lane-wise instructions: what instructions.inc has rows for, and what is composed
 * of them (.ftz, .sat, setp with a second condition, mov of vectors). */
#include "emulator/lower.h"

#include "emulator/rows.h"

/* ---- Lane-wise instructions ----------------------------------------------------------------- */

struct composed { /* what the name of a row leaves out */
    char text[128];
    bool flush, relu;       /* .ftz, .relu of a floating-point result */
    enum ptx_type saturate; /* .sat of a floating-point result; PTX_NO_TYPE: no */
};

static enum ptx_type first_type(const struct ptx_instruction *instruction)
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
    const enum ptx_type first = first_type(instruction);
    const bool floating = ptx_type_is_float(first) || ptx_type_is_float(last);
    *ret = (struct composed){.saturate = PTX_NO_TYPE};
    size_t used = (size_t)snprintf(ret->text, sizeof ret->text, "%.32s", opcode);
    const char *saturate = "";
    unsigned types_seen = 0;
    for (unsigned i = 0; i < instruction->modifier_count; ++i) {
        const char *modifier = instruction->modifiers[i];
        if (strcmp(modifier, "ftz") == 0) {
            ret->flush = true;
            continue;
        }
        if (strcmp(modifier, "relu") == 0 && floating) {
            ret->relu = true;
            continue;
        }
        if (strcmp(modifier, "sat") == 0) {
            if (!floating)
                saturate = ".sat";
            else if (ptx_type_is_float(first))
                ret->saturate = first;
            if (strcmp(opcode, "cvt") == 0 || floating)
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
        if (strcmp(opcode, "cvt") == 0 && type != PTX_NO_TYPE && saturate[0] != '\0' &&
            used < sizeof ret->text) {
            used += (size_t)snprintf(ret->text + used, sizeof ret->text - used, "%s", saturate);
            saturate = "";
        }
        if (used < sizeof ret->text)
            used += (size_t)snprintf(ret->text + used, sizeof ret->text - used, ".%.40s", modifier);
    }
}

/* The row that flushes subnormal numbers of a type; NULL: its .ftz is about something else. */
static const char *flush_row(enum ptx_type type)
{
    return type == PTX_F32     ? "flush.f32"
           : type == PTX_F16   ? "flush.f16"
           : type == PTX_F16X2 ? "flush.f16x2"
                               : NULL;
}

static uint32_t flushed(struct lowering *lowering, uint32_t value, enum ptx_type type)
{
    const char *row = flush_row(type);
    if (row == NULL)
        return value;
    uint32_t temporary = lower_temporary(lowering, type == PTX_F16 ? WIDTH_16 : WIDTH_32);
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

/* min and max of three: of the first two, and then of that and the third. */
static bool lower_three(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const bool mine =
        strcmp(instruction->opcode, "min") == 0 || strcmp(instruction->opcode, "max") == 0;
    if (!mine || instruction->operand_count != 4 || lower_type(instruction) != PTX_F32)
        return false;
    struct composed composed;
    compose(instruction, &composed);
    uint32_t values[3];
    for (unsigned i = 0; i < 3; ++i) {
        values[i] = lower_value(lowering, &instruction->operands[i + 1], WIDTH_32, PTX_F32);
        values[i] = composed.flush ? flushed(lowering, values[i], PTX_F32) : values[i];
    }
    const uint32_t first = lower_temporary(lowering, WIDTH_32);
    lower_row(lowering, composed.text, first, values[0], values[1], 0, 0);
    lower_row(lowering, composed.text, lower_result(lowering, &instruction->operands[0], WIDTH_32),
              first, values[2], 0, 0);
    return true;
}

/* lop3.BOOL.b32 d|p, a, b, c, table, q: p = (d != 0) BOOL q */
static bool lower_lop3_predicate(struct lowering *lowering,
                                 const struct ptx_instruction *instruction)
{
    static const char *const boolean_names[] = {"and", "or"};
    const int boolean = lower_choose(instruction, boolean_names, COUNT_OF(boolean_names));
    const struct ptx_operand *operands = instruction->operands;
    if (strcmp(instruction->opcode, "lop3") != 0 || boolean < 0)
        return false;
    if (instruction->operand_count != 6 || operands[0].kind != PTX_OPERAND_PAIR ||
        operands[4].kind != PTX_OPERAND_INTEGER) {
        lower_refuse(lowering, "it is not understood");
        return true;
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
    return true;
}

void lower_lane_wise(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    struct composed composed;
    if (lower_three(lowering, instruction) || lower_lop3_predicate(lowering, instruction))
        return;
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
    const enum ptx_type last = lower_type(instruction), first = first_type(instruction);
    uint32_t sources[ROW_OPERANDS] = {0};
    for (unsigned i = 0; i < row->operands; ++i) {
        const enum width width = row->operand[i].width;
        sources[i] = row_needs_narrow_operand(instruction)
                         ? narrowed(lowering, &operands[i + 1], width, row->operand[i].type)
                         : lower_value(lowering, &operands[i + 1], width, row->operand[i].type);
        if (row_needs_narrow_operand(instruction) && ptx_type_bytes(last) == 1)
            sources[i] = cut_to_byte(lowering, sources[i], last);
        if (composed.flush && row->operand[i].type == PTX_F32)
            sources[i] = flushed(lowering, sources[i], PTX_F32);
        else if (composed.flush && (last == PTX_F16 || last == PTX_F16X2) && first == last)
            sources[i] = flushed(lowering, sources[i], last);
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
    if (composed.flush && flush_row(first) != NULL &&
        (row->operand[0].type == PTX_F32 || first != PTX_F32 ||
         row_needs_narrow_operand(instruction)))
        lower_row(lowering, flush_row(first), d, d, 0, 0, 0);
    if (composed.relu) {
        char text[32];
        (void)snprintf(text, sizeof text, "relu.%s", ptx_type_name(first));
        lower_row(lowering, text, d, d, 0, 0, 0);
    }
    if (composed.saturate != PTX_NO_TYPE) {
        char text[32];
        (void)snprintf(text, sizeof text, "saturate.%s", ptx_type_name(composed.saturate));
        lower_row(lowering, text, d, d, 0, 0, 0);
    }
    if (wider)
        widen(lowering, &operands[0], first, d, row->d);
}

/* ---- Predicates ----------------------------------------------------------------------------- */

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
void lower_compare(struct lowering *lowering, const struct ptx_instruction *instruction,
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
            sources[i] = flushed(lowering, sources[i], type);
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
    uint32_t result = compared;
    if (q != NULL) {
        uint32_t inverse = lower_temporary(lowering, WIDTH_PREDICATE);
        struct op *op = lower_step(lowering, predicate_not);
        op->d = inverse;
        op->a = compared;
        predicate_logic(lowering, combined ? boolean : 1,
                        lower_result(lowering, q, WIDTH_PREDICATE), inverse,
                        combined ? third : inverse);
    }
    if (is_set)
        result = lower_temporary(lowering, WIDTH_PREDICATE);
    else
        result = lower_result(lowering, p, WIDTH_PREDICATE);
    predicate_logic(lowering, combined ? boolean : 1, result, compared,
                    combined ? third : compared);
    if (!is_set)
        return;
    /* set: all ones or zero, or 1.0 or 0.0 */
    const enum ptx_type result_type = first_type(instruction);
    const bool real = ptx_type_is_float(result_type);
    const enum width width = lower_register_width(result_type);
    uint64_t yes = !real ? UINT64_MAX : width == WIDTH_32 ? 0x3F800000 : 0x3C00;
    (void)snprintf(text, sizeof text, "selp.b%u", 8 * ptx_type_bytes(result_type));
    lower_row(lowering, text, lower_result(lowering, &operands[0], width),
              lower_constant(lowering, width, yes), lower_constant(lowering, width, 0), result, 0);
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

/* and.pred and its like, mov.pred */
bool lower_predicate(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const names[] = {"and", "or", "xor", "mov", "not"};
    const struct ptx_operand *operands = instruction->operands;
    for (unsigned i = 0; i < COUNT_OF(names); ++i) {
        if (strcmp(instruction->opcode, names[i]) != 0 || lower_type(instruction) != PTX_PRED)
            continue;
        const bool two = i < 3;
        if (instruction->operand_count != (two ? 3u : 2u)) {
            lower_refuse(lowering, "it has %zu operands, which is not understood",
                         instruction->operand_count);
            return true;
        }
        uint32_t a = lower_value(lowering, &operands[1], WIDTH_PREDICATE, PTX_PRED);
        uint32_t b = two ? lower_value(lowering, &operands[2], WIDTH_PREDICATE, PTX_PRED) : a;
        uint32_t d = lower_result(lowering, &operands[0], WIDTH_PREDICATE);
        if (i == 4) {
            struct op *op = lower_step(lowering, predicate_not);
            op->d = d;
            op->a = a;
        } else {
            predicate_logic(lowering, two ? i : 1, d, a, b);
        }
        return true;
    }
    return false;
}

/* ---- mov with vectors: packing and unpacking ------------------------------------------------ */

bool lower_vector_mov(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    if (strcmp(instruction->opcode, "mov") != 0 || instruction->operand_count != 2)
        return false;
    const struct ptx_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
    const unsigned bytes = ptx_type_bytes(lower_type(instruction));
    const bool packs = from->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *vector = packs ? from : to;
    if (vector->kind != PTX_OPERAND_VECTOR)
        return false;
    const unsigned pieces = (unsigned)vector->child_count;
    const unsigned piece = pieces == 0 ? 0 : bytes / pieces;
    if (bytes > 8 || (pieces != 2 && pieces != 4) || piece < 1 || bytes % pieces != 0) {
        lower_refuse(lowering, "a vector of this shape is not understood");
        return true;
    }
    const enum width whole = lower_register_width(lower_type(instruction));
    const enum width part = piece <= 2 ? WIDTH_16 : WIDTH_32;
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
        return true;
    }
    uint32_t source = lower_value(lowering, from, whole, lower_type(instruction));
    (void)snprintf(text, sizeof text, "piece.b%u.b%u", 8 * piece, 8 * bytes);
    for (unsigned i = 0; i < pieces; ++i)
        if (vector->children[i].kind != PTX_OPERAND_SINK)
            lower_row(lowering, text, lower_result(lowering, &vector->children[i], part), source, 0,
                      0, (uint64_t)i * piece * 8);
    return true;
}

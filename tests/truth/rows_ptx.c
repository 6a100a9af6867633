/* rows_ptx.c - see rows_ptx.h. Needs rows.c of the emulator, and nothing else of it. */
#include "rows_ptx.h"

#include "emulator/rows.h"
#include "rows_video.h"

/* Forms that the decoder composes from several rows, or that hold a number. */
static const struct {
    const char *text, *result;
    const char *types[4];
    uint64_t immediate;
    bool has_immediate;
} composed[] = {
    {"lop3.b32", "u32", {"u32", "u32", "u32"}, 0x80, true},
    {"lop3.b32", "u32", {"u32", "u32", "u32"}, 0x96, true},
    {"lop3.b32", "u32", {"u32", "u32", "u32"}, 0xE8, true},
    {"lop3.b32", "u32", {"u32", "u32", "u32"}, 0x1B, true},
    {"add.ftz.f32", "f32", {"f32", "f32"}, 0, false},
    {"mul.ftz.f32", "f32", {"f32", "f32"}, 0, false},
    {"mul.ftz.sat.f32", "f32", {"f32", "f32"}, 0, false},
    {"fma.rn.ftz.f32", "f32", {"f32", "f32", "f32"}, 0, false},
    {"fma.rn.sat.f32", "f32", {"f32", "f32", "f32"}, 0, false},
    {"fma.rz.ftz.sat.f32", "f32", {"f32", "f32", "f32"}, 0, false},
    {"add.sat.f32", "f32", {"f32", "f32"}, 0, false},
    {"sub.rz.ftz.f32", "f32", {"f32", "f32"}, 0, false},
    {"div.rn.ftz.f32", "f32", {"f32", "f32"}, 0, false},
    {"rcp.rn.ftz.f32", "f32", {"f32"}, 0, false},
    {"sqrt.rn.ftz.f32", "f32", {"f32"}, 0, false},
    {"abs.ftz.f32", "f32", {"f32"}, 0, false},
    {"neg.ftz.f32", "f32", {"f32"}, 0, false},
    {"min.ftz.f32", "f32", {"f32", "f32"}, 0, false},
    {"max.ftz.NaN.f32", "f32", {"f32", "f32"}, 0, false},
    {"setp.lt.ftz.f32", "pred", {"f32", "f32"}, 0, false},
    {"setp.equ.ftz.f32", "pred", {"f32", "f32"}, 0, false},
    {"slct.ftz.f32.f32", "f32", {"f32", "f32", "f32"}, 0, false},
    {"set.lt.u32.f32", "u32", {"f32", "f32"}, 0, false},
    {"set.ge.f32.s32", "f32", {"s32", "s32"}, 0, false},
    {"set.ltu.ftz.s32.f32", "u32", {"f32", "f32"}, 0, false},
    {"set.ne.u32.u64", "u32", {"u64", "u64"}, 0, false},
    {"set.lt.f16.f16", "h16", {"h16", "h16"}, 0, false},
    {"cvt.rn.sat.f32.f64", "f32", {"f64"}, 0, false},
    {"cvt.sat.f32.f32", "f32", {"f32"}, 0, false},
    {"cvt.rni.ftz.f32.f32", "f32", {"f32"}, 0, false},
    {"cvt.ftz.f64.f32", "f64", {"f32"}, 0, false},
    {"cvt.rn.ftz.f32.f64", "f32", {"f64"}, 0, false},
    {"cvt.rzi.ftz.s32.f32", "u32", {"f32"}, 0, false},
    {"cvt.rn.relu.f16.f32", "h16", {"f32"}, 0, false},
    {"cvt.rn.relu.bf16x2.f32", "u32", {"f32", "f32"}, 0, false},
    {"add.ftz.f16", "h16", {"h16", "h16"}, 0, false},
    {"fma.rn.ftz.sat.f16", "h16", {"h16", "h16", "h16"}, 0, false},
    {"fma.rn.relu.f16x2", "u32", {"x32", "x32", "x32"}, 0, false},
    {"fma.rn.relu.bf16", "h16", {"bf16", "bf16", "bf16"}, 0, false},
    {"mul.sat.f16x2", "u32", {"x32", "x32"}, 0, false},
    {"shr.b32", "u32", {"u32", "u32"}, 0, false},
    {"ex2.approx.ftz.bf16", "h16", {"bf16"}, 0, false},
    {"ex2.approx.ftz.f32", "f32", {"f32"}, 0, false},
    {"sin.approx.ftz.f32", "f32", {"f32"}, 0, false},
    {"rcp.approx.ftz.f32", "f32", {"f32"}, 0, false},
    {"div.approx.ftz.f32", "f32", {"f32", "f32"}, 0, false},
    {"div.full.ftz.f32", "f32", {"f32", "f32"}, 0, false},
    {"sqrt.approx.ftz.f32", "f32", {"f32"}, 0, false},
    {"rcp.approx.ftz.f64", "f64", {"f64"}, 0, false},
    {"rsqrt.approx.ftz.f64", "f64", {"f64"}, 0, false},
    /* The carry flag from one to the next, and what reads it: see chain(). */
    {"add.cc.u32+addc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"add.cc.u32+subc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"sub.cc.u32+subc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"sub.cc.u32+addc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"add.cc.s32+subc.s32", "u32", {"s32", "s32", "s32", "s32"}, 0, false},
    {"sub.cc.s32+addc.s32", "u32", {"s32", "s32", "s32", "s32"}, 0, false},
    {"add.cc.u32+addc.cc.u32+addc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"add.cc.u32+addc.cc.u32+subc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"add.cc.u32+subc.cc.u32+addc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"add.cc.u32+subc.cc.u32+subc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"sub.cc.u32+addc.cc.u32+addc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"sub.cc.u32+addc.cc.u32+subc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"sub.cc.u32+subc.cc.u32+addc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"sub.cc.u32+subc.cc.u32+subc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"add.cc.u64+addc.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
    {"add.cc.u64+subc.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
    {"sub.cc.u64+subc.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
    {"sub.cc.u64+addc.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
    {"add.cc.u64+subc.cc.u64+addc.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
    {"sub.cc.u64+subc.cc.u64+addc.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
    {"sub.cc.u64+addc.cc.u64+subc.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
    {"mad.lo.cc.u32+madc.hi.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"mad.lo.cc.u32+madc.hi.cc.u32+subc.u32", "u32", {"u32", "u32", "u32", "u32"}, 0, false},
    {"mad.hi.cc.s32+madc.lo.s32", "u32", {"s32", "s32", "s32", "s32"}, 0, false},
    {"mad.lo.cc.u64+madc.hi.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
    {"mad.hi.cc.u64+subc.u64", "u64", {"u64", "u64", "u64", "u64"}, 0, false},
};

/* What rows do not say of the real instruction. */
static bool is_internal(const char *text)
{
    static const char *const prefixes[] = {"flush.",   "saturate.", "relu.", "pack2.",
                                           "pack4.",   "piece.",    "lop3.", "cvt.bf16.bf16",
                                           "mov.b128", "video."};
    for (size_t i = 0; i < COUNT_OF(prefixes); ++i)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Forms that the table has for completeness but ptxas (13.0, sm_90) does not take. */
static const char *const not_in_ptx[] = {
#include "rows_refused.inc"
    NULL};

static bool is_left_out(const char *text)
{
    for (size_t i = 0; not_in_ptx[i] != NULL; ++i)
        if (strcmp(text, not_in_ptx[i]) == 0)
            return true;
    return is_internal(text);
}

static size_t row_index(size_t wanted)
{
    for (size_t i = 0; i < row_count(); ++i)
        if (!is_left_out(row_at(i)->text) && wanted-- == 0)
            return i;
    return row_count();
}

static size_t plain_count(void)
{
    static size_t count;
    for (size_t i = 0; count == 0 && i < row_count(); ++i)
        for (size_t k = 0; k < row_count(); ++k)
            count += is_left_out(row_at(k)->text) ? 0 : 1;
    return count;
}

size_t rows_case_count(void)
{
    return plain_count() + COUNT_OF(composed) + rows_video_count();
}

/* The rows leave a floating-point .rn out, PTX wants it in some. */
static void real_text(const char *row, char *to, size_t room)
{
    static const char *const opcodes[] = {"fma", "mad", "div", "rcp", "sqrt"};
    static const char *const types[] = {".f32",  ".f64",    ".f16",  ".f16x2",
                                        ".bf16", ".bf16x2", ".f32x2"};
    for (size_t o = 0; o < COUNT_OF(opcodes); ++o)
        for (size_t t = 0; t < COUNT_OF(types); ++t) {
            const size_t length = strlen(opcodes[o]);
            if (strncmp(row, opcodes[o], length) == 0 && strcmp(row + length, types[t]) == 0) {
                (void)snprintf(to, room, "%s.rn%s", opcodes[o], types[t]);
                return;
            }
        }
    (void)snprintf(to, room, "%s", row);
}

static const char *type_word(enum ptx_type type, const char *text)
{
    if (type == PTX_F16 && strstr(text, "bf16") != NULL &&
        (strncmp(text, "cvt", 3) != 0 || strncmp(text + strlen(text) - 5, ".bf16", 5) == 0))
        return "bf16";
    if (type == PTX_B32 && strstr(text, "bf16x2") != NULL)
        return "y32";
    switch (type) {
    case PTX_F16:
        return "h16";
    case PTX_B32:
        return "x32";
    case PTX_PRED:
        return "pred";
    default:
        return ptx_type_name(type);
    }
}

static bool is_approximate(const char *text)
{
    return strstr(text, ".approx") != NULL || strstr(text, ".full") != NULL;
}

static void fill_case(size_t index, struct rows_case *ret)
{
    *ret = (struct rows_case){.immediate = 0};
    if (index >= plain_count() + COUNT_OF(composed)) {
        rows_video_at(index - plain_count() - COUNT_OF(composed), ret);
        return;
    }
    if (index >= plain_count()) {
        const size_t i = index - plain_count();
        (void)snprintf(ret->text, sizeof ret->text, "%s", composed[i].text);
        (void)snprintf(ret->result, sizeof ret->result, "%s", composed[i].result);
        for (unsigned k = 0; k < 4 && composed[i].types[k] != NULL; ++k)
            (void)snprintf(ret->types[k], sizeof ret->types[k], "%s", composed[i].types[k]);
        ret->immediate = composed[i].immediate;
        ret->has_immediate = composed[i].has_immediate;
        ret->is_approximate = is_approximate(composed[i].text);
        return;
    }
    static const char *const results[] = {"pred", "u16", "u32", "u64", "u128"};
    const struct row *row = row_at(row_index(index));
    real_text(row->text, ret->text, sizeof ret->text);
    (void)snprintf(ret->result, sizeof ret->result, "%s", results[row->d]);
    for (unsigned k = 0; k < row->operands; ++k)
        (void)snprintf(ret->types[k], sizeof ret->types[k], "%s",
                       type_word(row->operand[k].type, row->text));
    ret->is_approximate = is_approximate(row->text);
}

void rows_case_at(size_t index, struct rows_case *ret)
{
    fill_case(index, ret);
    (void)snprintf(ret->kernel, sizeof ret->kernel, "row%zu", index);
}

void rows_key(const struct rows_case *row, char *to, size_t room)
{
    char parts[48] = "";
    for (unsigned i = 0; i < 5; ++i)
        if (row->parts[i][0] != '\0') /* of the result: 0, of the operands: from 1 on */
            (void)snprintf(parts + strlen(parts), sizeof parts - strlen(parts), "/%u%s", i,
                           row->parts[i]);
    (void)snprintf(to, room, "%s%s %s,%s,%s,%s %llx %s", row->text, parts, row->types[0],
                   row->types[1], row->types[2], row->types[3], (unsigned long long)row->immediate,
                   row->is_approximate ? "approximate" : "exact");
}

/* ---- Text -------------------------------------------------------------------------------------
 */

static unsigned bits_of(const char *type)
{
    if (strcmp(type, "pred") == 0)
        return 1;
    if (strcmp(type, "f64") == 0 || strcmp(type + 1, "64") == 0)
        return 64;
    if (strcmp(type + 1, "32") == 0)
        return 32;
    return 16; /* u8 and s8 as well */
}

/* "add.cc.u32+subc.u32": one behind the other. The first takes a and b, the next one c and d, the
 * last of three two zeros; a product a and b, and what it is added to is c, then d. */
static void chain(struct bytes *out, const char *text, char letter, const char *result)
{
    for (unsigned place = 0; text != NULL; ++place) {
        const char *next = strchr(text, '+');
        const int length = next != NULL ? (int)(next - text) : (int)strlen(text);
        (void)bytes_printf(out, "%.*s %s, ", length, text, result);
        if (place == 2)
            (void)bytes_append_text(out, "0, 0;\n");
        else if (strncmp(text, "mad", 3) == 0)
            (void)bytes_printf(out, "%%%ca, %%%cb, %%%c%c;\n", letter, letter, letter,
                               place == 0 ? 'c' : 'd');
        else
            (void)bytes_printf(out, "%%%c%c, %%%c%c;\n", letter, place == 0 ? 'a' : 'c', letter,
                               place == 0 ? 'b' : 'd');
        text = next != NULL ? next + 1 : NULL;
    }
}

static void kernel(struct bytes *out, const struct rows_case *row)
{
    static const char names[] = "abcd";
    (void)bytes_printf(out,
                       ".visible .entry %s(.param .u64 pa, .param .u64 pb, .param .u64 pc, "
                       ".param .u64 pd, .param .u64 po, .param .u32 pn)\n{\n"
                       ".reg .pred %%p, %%q, %%x1, %%xa, %%xb, %%xc, %%xd;\n"
                       ".reg .b16 %%h16, %%ha, %%hb, %%hc, %%hd;\n"
                       ".reg .b32 %%i, %%n, %%t, %%w32, %%wa, %%wb, %%wc, %%wd;\n"
                       ".reg .b64 %%address, %%offset, %%v, %%l64, %%la, %%lb, %%lc, %%ld;\n"
                       "ld.param.u32 %%n, [pn];\nmov.u32 %%i, %%ctaid.x;\nmov.u32 %%t, %%ntid.x;\n"
                       "mul.lo.u32 %%i, %%i, %%t;\nmov.u32 %%t, %%tid.x;\n"
                       "add.u32 %%i, %%i, %%t;\nsetp.ge.u32 %%q, %%i, %%n;\n@%%q ret;\n"
                       "mul.wide.u32 %%offset, %%i, 8;\n",
                       row->kernel);
    char list[160] = "";
    size_t used = 0;
    for (unsigned k = 0; k < 4 && row->types[k][0] != '\0'; ++k) {
        const char c = names[k];
        const unsigned bits = bits_of(row->types[k]);
        const char letter = bits == 64 ? 'l' : bits == 32 ? 'w' : bits == 16 ? 'h' : 'x';
        (void)bytes_printf(out,
                           "ld.param.u64 %%address, [p%c];\nadd.u64 %%address, %%address, "
                           "%%offset;\nld.global.u64 %%l%c, [%%address];\n",
                           c, c);
        if (bits == 32 || bits == 16)
            (void)bytes_printf(out, "cvt.u%u.u64 %%%c%c, %%l%c;\n", bits, letter, c, c);
        else if (bits == 1)
            (void)bytes_printf(out, "and.b64 %%l%c, %%l%c, 1;\nsetp.ne.u64 %%x%c, %%l%c, 0;\n", c,
                               c, c, c);
        const char *part = row->parts[k + 1];
        const bool negated = strcmp(part, "-") == 0;
        used +=
            (size_t)snprintf(list + used, sizeof list - used, ", %s%%%c%c%s%s", negated ? "-" : "",
                             letter, c, negated || part[0] == '\0' ? "" : ".", negated ? "" : part);
    }
    if (row->has_immediate)
        (void)snprintf(list + used, sizeof list - used, ", 0x%llx",
                       (unsigned long long)row->immediate);
    const unsigned bits = bits_of(row->result);
    const char *result = bits == 64 ? "%l64" : bits == 32 ? "%w32" : bits == 16 ? "%h16" : "%x1";
    if (strchr(row->text, '+') != NULL)
        chain(out, row->text, bits == 64 ? 'l' : 'w', result);
    else
        (void)bytes_printf(out, "%s %s%s%s%s;\n", row->text, result,
                           row->parts[0][0] == '\0' ? "" : ".", row->parts[0], list);
    if (bits == 32 || bits == 16)
        (void)bytes_printf(out, "cvt.u64.u%u %%v, %s;\n", bits, result);
    else if (bits == 64)
        (void)bytes_printf(out, "mov.b64 %%v, %%l64;\n");
    else
        (void)bytes_printf(out, "selp.u64 %%v, 1, 0, %%x1;\n");
    (void)bytes_append_text(out, "ld.param.u64 %address, [po];\nadd.u64 %address, %address, "
                                 "%offset;\nst.global.u64 [%address], %v;\nret;\n}\n");
}

void rows_ptx(struct bytes *out, size_t first, size_t last)
{
    (void)bytes_append_text(out, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (size_t i = first; i < last && i < rows_case_count(); ++i) {
        struct rows_case row;
        rows_case_at(i, &row);
        kernel(out, &row);
    }
}

/* ---- Inputs -----------------------------------------------------------------------------------
 */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Bit patterns of a binary format: a third plain numbers around 1, a third anything, the rest the
 * edges: zeros, infinities, NaNs, the smallest and largest, halves. */
static uint64_t float_pattern(unsigned bits, unsigned fraction, uint64_t *state)
{
    const uint64_t random = next_random(state), top = UINT64_C(1) << (bits - 1);
    const uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t exponent_mask = (top - 1) & ~((UINT64_C(1) << fraction) - 1);
    const uint64_t bias = (exponent_mask >> 1) & exponent_mask;
    const uint64_t one = bias, low = (UINT64_C(1) << fraction) - 1;
    const uint64_t edges[] = {0,
                              exponent_mask,
                              exponent_mask | 1,
                              top - 1,
                              exponent_mask - 1,
                              1,
                              low,
                              low + 1,
                              one,
                              one + (UINT64_C(1) << fraction),
                              one - (UINT64_C(1) << fraction),
                              one | (low + 1) >> 1,
                              exponent_mask | (low + 1) >> 1,
                              one - 1,
                              one + 1};
    const uint64_t sign = (random >> 5 & 1) != 0 ? top : 0;
    if (random % 3 == 0)
        return sign | (one + (next_random(state) % 12 << fraction) - (UINT64_C(6) << fraction)) |
               (next_random(state) & low);
    if (random % 3 == 1)
        return next_random(state) & all;
    return sign | edges[(random >> 8) % COUNT_OF(edges)];
}

static uint64_t integer_pattern(unsigned bits, uint64_t *state)
{
    const uint64_t random = next_random(state), top = UINT64_C(1) << (bits - 1);
    const uint64_t edges[] = {0,
                              1,
                              2,
                              3,
                              7,
                              8,
                              15,
                              16,
                              31,
                              32,
                              33,
                              63,
                              64,
                              65,
                              127,
                              128,
                              255,
                              256,
                              top,
                              top - 1,
                              top + 1,
                              UINT64_MAX,
                              UINT64_MAX - 1};
    const uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (random % 3 == 0)
        return edges[(random >> 8) % COUNT_OF(edges)] & all;
    return (next_random(state) >> (random % 3 == 1 ? 0 : (random >> 8) % bits)) & all;
}

void rows_inputs(const char *type, unsigned operand, uint64_t *values, size_t count)
{
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * (operand + 1);
    for (const char *c = type; *c != '\0'; ++c)
        state = state * 31 + (uint64_t)*c;
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(type, "f64") == 0)
            values[i] = float_pattern(64, 52, &state);
        else if (strcmp(type, "f32") == 0)
            values[i] = float_pattern(32, 23, &state);
        else if (strcmp(type, "h16") == 0)
            values[i] = float_pattern(16, 10, &state);
        else if (strcmp(type, "bf16") == 0)
            values[i] = float_pattern(16, 7, &state);
        else if (strcmp(type, "x32") == 0)
            values[i] = float_pattern(16, 10, &state) << 16 | float_pattern(16, 10, &state);
        else if (strcmp(type, "y32") == 0)
            values[i] = float_pattern(16, 7, &state) << 16 | float_pattern(16, 7, &state);
        else
            values[i] = integer_pattern(strcmp(type, "pred") == 0 ? 16 : bits_of(type), &state);
    }
}

#ifdef ROWS_PTX_MAIN
/* rows_ptx > rows.ptx 2> rows.tsv */
int main(void)
{
    struct bytes out = bytes_with_limit((size_t)64 << 20);
    rows_ptx(&out, 0, rows_case_count());
    (void)fwrite(out.data, 1, out.length, stdout);
    for (size_t i = 0; i < rows_case_count(); ++i) {
        struct rows_case row;
        rows_case_at(i, &row);
        char key[160];
        rows_key(&row, key, sizeof key);
        (void)fprintf(stderr, "%s\t%s\n", row.kernel, key);
    }
    bytes_release(&out);
    return 0;
}
#endif

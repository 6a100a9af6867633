/* rows_video.c - see rows_video.h. */
#include "rows_video.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* How an instruction goes on behind its types, and what of its operands it takes. */
struct ending {
    const char *text;
    unsigned operands;
    const char *parts[4]; /* of the result and the operands; "-" is a minus */
};

static const struct ending arithmetic[] = {
    {"", 2, {"", "h1", "b2"}},       {".sat", 2, {"", "", ""}},     {".add", 3, {"", "b0", ""}},
    {".sat.min", 3, {"", "", "h0"}}, {".max", 3, {"", "", ""}},     {"", 3, {"h1", "", ""}},
    {".sat", 3, {"b2", "h0", "b3"}}, {".sat", 3, {"h0", "", "b1"}},
};
static const struct ending shifts[] = {
    {".clamp", 2, {""}},           {".wrap", 2, {"", "h1", "b2"}},
    {".sat.clamp", 2, {""}},       {".sat.wrap", 2, {"", "b1", "b0"}},
    {".clamp.add", 3, {"", "h0"}}, {".sat.clamp.min", 3, {"", "", "b3"}},
    {".wrap.max", 3, {""}},        {".sat.clamp", 3, {"h1", "", "b1"}},
};
static const struct ending comparisons[] = {
    {".eq", 2, {"", "b0", "b1"}}, {".ne", 2, {"", "h0", "b1"}}, {".lt", 2, {""}},
    {".le", 2, {"", "", "h1"}},   {".gt.add", 3, {""}},         {".ge.min", 3, {""}},
    {".lt.max", 3, {""}},         {".gt", 3, {"b1"}},           {".le", 3, {"h1", "b3"}},
};
static const struct ending products[] = {
    {"", 3, {""}},
    {".sat", 3, {""}},
    {".po", 3, {"", "h0", "b1"}},
    {".shr7", 3, {"", "h1", "h0"}},
    {".sat.shr15", 3, {""}},
    {".po.sat.shr7", 3, {""}},
    {".sat", 3, {"", "-"}},
    {".shr15", 3, {"", "", "-"}},
    {".sat", 3, {"", "", "", "-"}},
    {".shr7", 3, {"", "", "", "-"}},
};
static const struct ending halves[] = {
    {"", 3, {""}},
    {".sat", 3, {""}},
    {".add", 3, {""}},
    {".sat", 3, {"h1", "h01", "h22"}},
    {".add", 3, {"h0", "h33", "h10"}},
};
static const struct ending bytes[] = {
    {"", 3, {""}},
    {".sat", 3, {""}},
    {".add", 3, {""}},
    {".sat", 3, {"b31", "b0123", "b4455"}},
    {".add", 3, {"b210", "b7531", "b6420"}},
};
static const struct ending half_comparisons[] = {
    {".eq", 3, {""}},     {".ne", 3, {"h1"}},     {".lt", 3, {""}},
    {".le.add", 3, {""}}, {".gt.add", 3, {"h0"}}, {".ge", 3, {"", "h13", "h02"}},
};
static const struct ending byte_comparisons[] = {
    {".eq", 3, {""}},     {".ne", 3, {"b20"}},    {".lt", 3, {""}},
    {".le.add", 3, {""}}, {".gt.add", 3, {"b3"}}, {".ge", 3, {"", "b1357", "b0246"}},
};

#define THREE LIST(".u32.u32.u32", ".s32.s32.s32", ".s32.u32.s32", ".u32.s32.u32")
#define ENDINGS(table) table, COUNT_OF(table)
static const struct family {
    const char *const *opcodes, *const *types;
    const struct ending *endings;
    size_t ending_count;
} families[] = {
    {LIST("vadd", "vsub", "vabsdiff", "vmin", "vmax"), THREE, ENDINGS(arithmetic)},
    {LIST("vshl", "vshr"), LIST(".u32.u32.u32", ".s32.s32.u32", ".u32.s32.u32", ".s32.u32.u32"),
     ENDINGS(shifts)},
    {LIST("vset"), LIST(".u32.u32", ".s32.s32", ".s32.u32"), ENDINGS(comparisons)},
    {LIST("vmad"), THREE, ENDINGS(products)},
    {LIST("vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2"), THREE, ENDINGS(halves)},
    {LIST("vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4"), THREE, ENDINGS(bytes)},
    {LIST("vset2"), LIST(".u32.u32", ".s32.s32", ".u32.s32"), ENDINGS(half_comparisons)},
    {LIST("vset4"), LIST(".u32.u32", ".s32.s32", ".u32.s32"), ENDINGS(byte_comparisons)},
};

static size_t length_of(const char *const *list)
{
    size_t length = 0;
    while (list[length] != NULL)
        ++length;
    return length;
}

static size_t size_of(const struct family *family)
{
    return length_of(family->opcodes) * length_of(family->types) * family->ending_count;
}

size_t rows_video_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(families); ++i)
        count += size_of(&families[i]);
    return count;
}

void rows_video_at(size_t index, struct rows_case *ret)
{
    const struct family *family = families;
    for (; index >= size_of(family); ++family)
        index -= size_of(family);
    const size_t types = length_of(family->types);
    const struct ending *ending = &family->endings[index % family->ending_count];
    index /= family->ending_count;
    *ret = (struct rows_case){.immediate = 0};
    (void)snprintf(ret->text, sizeof ret->text, "%s%s%s", family->opcodes[index / types],
                   family->types[index % types], ending->text);
    (void)snprintf(ret->result, sizeof ret->result, "u32");
    for (unsigned i = 0; i < ending->operands; ++i)
        (void)snprintf(ret->types[i], sizeof ret->types[i], "u32");
    for (unsigned i = 0; i <= ending->operands; ++i)
        (void)snprintf(ret->parts[i], sizeof ret->parts[i], "%s",
                       ending->parts[i] == NULL ? "" : ending->parts[i]);
}

/* ptx_types.c - see ptx_types.h. PTX ISA, "Types", "Alternate Floating-Point Data Formats". */
#include "emulator/ptx_types.h"

/* clang-format off */
static const struct {
    const char *name;
    unsigned bytes;
    bool is_signed, is_float;
} types[PTX_TYPE_COUNT] = {
    [PTX_NO_TYPE]    = {"",            0, false, false},
    [PTX_PRED]       = {"pred",        0, false, false},
    [PTX_B8]         = {"b8",          1, false, false},
    [PTX_B16]        = {"b16",         2, false, false},
    [PTX_B32]        = {"b32",         4, false, false},
    [PTX_B64]        = {"b64",         8, false, false},
    [PTX_B128]       = {"b128",       16, false, false},
    [PTX_U8]         = {"u8",          1, false, false},
    [PTX_U16]        = {"u16",         2, false, false},
    [PTX_U32]        = {"u32",         4, false, false},
    [PTX_U64]        = {"u64",         8, false, false},
    [PTX_S8]         = {"s8",          1, true,  false},
    [PTX_S16]        = {"s16",         2, true,  false},
    [PTX_S32]        = {"s32",         4, true,  false},
    [PTX_S64]        = {"s64",         8, true,  false},
    [PTX_F16]        = {"f16",         2, false, true},
    [PTX_F16X2]      = {"f16x2",       4, false, true},
    [PTX_BF16]       = {"bf16",        2, false, true},
    [PTX_BF16X2]     = {"bf16x2",      4, false, true},
    [PTX_TF32]       = {"tf32",        4, false, true},
    [PTX_F32]        = {"f32",         4, false, true},
    [PTX_F64]        = {"f64",         8, false, true},
    [PTX_U16X2]      = {"u16x2",       4, false, false},
    [PTX_S16X2]      = {"s16x2",       4, true,  false},
    [PTX_F32X2]      = {"f32x2",       8, false, true},
    [PTX_E4M3X2]     = {"e4m3x2",      2, false, true},
    [PTX_E5M2X2]     = {"e5m2x2",      2, false, true},
    [PTX_TEXREF]     = {"texref",      8, false, false},
    [PTX_SAMPLERREF] = {"samplerref",  8, false, false},
    [PTX_SURFREF]    = {"surfref",     8, false, false},
};
/* clang-format on */

enum ptx_type ptx_type_find(const char *text, size_t length)
{
    for (unsigned i = PTX_PRED; i < PTX_TYPE_COUNT; ++i)
        if (strlen(types[i].name) == length && memcmp(types[i].name, text, length) == 0)
            return (enum ptx_type)i;
    return PTX_NO_TYPE;
}

const char *ptx_type_name(enum ptx_type type)
{
    return types[type].name;
}

unsigned ptx_type_bytes(enum ptx_type type)
{
    return types[type].bytes;
}

bool ptx_type_is_signed(enum ptx_type type)
{
    return types[type].is_signed;
}

bool ptx_type_is_float(enum ptx_type type)
{
    return types[type].is_float;
}

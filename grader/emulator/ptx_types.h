/* ptx_types.h - the scalar types of PTX. */
#ifndef SPILLWAY_PTX_TYPES_H
#define SPILLWAY_PTX_TYPES_H

#include "base.h"

enum ptx_type {
    PTX_NO_TYPE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_TF32,
    PTX_F32,
    PTX_F64,
    PTX_U16X2,
    PTX_S16X2,
    PTX_F32X2,
    PTX_E4M3X2,
    PTX_E5M2X2,
    PTX_TEXREF,
    PTX_SAMPLERREF,
    PTX_SURFREF,
    PTX_TYPE_COUNT
};

/* PTX_NO_TYPE when the text (without the dot) names no type. */
enum ptx_type ptx_type_find(const char *text, size_t length);
const char *ptx_type_name(enum ptx_type type);
unsigned ptx_type_bytes(enum ptx_type type); /* 0 for pred and none */
bool ptx_type_is_signed(enum ptx_type type);
bool ptx_type_is_float(enum ptx_type type); /* any floating-point type, packed ones too */

#endif

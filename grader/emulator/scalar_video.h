/* scalar_video.h - part of scalar.h: the video instructions. PTX ISA, "Video Instructions".
 *
 * All of them do the same steps: pick bytes or halves of the operands and extend them by their
 * type, compute without overflow, clamp (.sat), and then add, compare or merge with a third
 * operand. Which parts, types and steps: struct video_form, which travels in the op's immediate.
 *
 * GPUs since Volta have hardly any of them: ptxas writes them out, and the scalar ones not quite as
 * the manual has them. Where the two differ this does what an H200 did with the code of ptxas 13.0:
 * - .sat to u32 only makes what is negative zero; of vshl and vshr it clamps to both ends;
 * - .sat to a part takes the number for an unsigned one, so that what is negative becomes the most;
 *   of vshl and vshr it clamps as if there were no part;
 * - .h1 of the result gets the upper half of the number, not the lower one;
 * - .min and .max compare 64 bits, without a sign if the result has none; a sum, a difference and
 *   what was shifted and clamped are cut to 32 bits and extended by their sign before;
 * - vmad has a sign for whole operands and for c, whatever their types say. */
#ifndef SPILLWAY_EMULATOR_SCALAR_VIDEO_H
#define SPILLWAY_EMULATOR_SCALAR_VIDEO_H

#include "emulator/scalar_integer.h"

enum video_operation {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_AVERAGE,
    VIDEO_DIFFERENCE,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_SET
};
enum video_part { VIDEO_WHOLE, VIDEO_B0, VIDEO_B1, VIDEO_B2, VIDEO_B3, VIDEO_H0, VIDEO_H1 };
enum video_second { VIDEO_PLAIN, VIDEO_THEN_ADD, VIDEO_THEN_MIN, VIDEO_THEN_MAX };
enum video_compare { VIDEO_EQ, VIDEO_NE, VIDEO_LT, VIDEO_LE, VIDEO_GT, VIDEO_GE };

struct video_form {
    uint64_t a_signed : 1, b_signed : 1, d_signed : 1;
    uint64_t saturates : 1;
    uint64_t second : 2;  /* enum video_second */
    uint64_t compare : 3; /* vset: enum video_compare */
    uint64_t wraps : 1;   /* vshl, vshr: five bits of the distance count; else 32 is the most */
    /* Scalar: enum video_part; d_part: the result is merged into the third operand there. */
    uint64_t a_part : 3, b_part : 3, d_part : 3;
    /* SIMD: for each part of the result, which part of b:a (3 bits each), and is it wanted? */
    uint64_t a_picks : 12, b_picks : 12, mask : 4;
    /* vmad */
    uint64_t negates_product : 1, negates_c : 1, adds_one : 1, shift : 4;
};
_Static_assert(sizeof(struct video_form) == sizeof(uint64_t), "it travels in an immediate");

static inline struct video_form video_form(uint64_t immediate)
{
    struct video_form form;
    memcpy(&form, &immediate, sizeof form);
    return form;
}

/* The low `bits` of a value, extended by the type. */
static inline int64_t scalar_video_extend(uint32_t value, unsigned bits, bool is_signed)
{
    const uint64_t low = (uint64_t)value << (64 - bits);
    return is_signed ? (int64_t)low >> (64 - bits) : (int64_t)(low >> (64 - bits));
}

static inline int64_t scalar_video_take(uint32_t value, unsigned part, bool is_signed)
{
    if (part == VIDEO_WHOLE)
        return scalar_video_extend(value, 32, is_signed);
    if (part >= VIDEO_H0)
        return scalar_video_extend(value >> 16 * (part - VIDEO_H0), 16, is_signed);
    return scalar_video_extend(value >> 8 * (part - VIDEO_B0), 8, is_signed);
}

static inline bool scalar_video_holds(int64_t a, int64_t b, unsigned compare)
{
    switch ((enum video_compare)compare) {
    case VIDEO_EQ:
        return a == b;
    case VIDEO_NE:
        return a != b;
    case VIDEO_LT:
        return a < b;
    case VIDEO_LE:
        return a <= b;
    case VIDEO_GT:
        return a > b;
    case VIDEO_GE:
    default:
        return a >= b;
    }
}

/* The operands have at most 33 bits, and a distance is at most 32. */
static inline scalar_s128 scalar_video_compute(enum video_operation operation, int64_t a, int64_t b,
                                               struct video_form form)
{
    switch (operation) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_AVERAGE: /* away from zero */
        return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VIDEO_DIFFERENCE:
        return a < b ? b - a : a - b;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_SHL:
        return (scalar_s128)a * ((scalar_s128)1 << (form.wraps ? b & 31 : b < 32 ? b : 32));
    case VIDEO_SHR:
        return a >> (form.wraps ? b & 31 : b < 32 ? b : 32);
    case VIDEO_SET:
    default:
        return scalar_video_holds(a, b, form.compare) ? 1 : 0;
    }
}

/* The manual's intermediate results: 34 bits, and 33 after clamping. */
static inline int64_t scalar_video_wrap(scalar_s128 value, unsigned bits)
{
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static inline scalar_s128 scalar_video_clamp(scalar_s128 value, unsigned bits, bool is_signed)
{
    const scalar_s128 most = ((scalar_s128)1 << (is_signed ? bits - 1 : bits)) - 1;
    const scalar_s128 least = is_signed ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
}

static inline uint32_t scalar_video_merge(uint32_t value, unsigned part, uint32_t c)
{
    const unsigned bits = part >= VIDEO_H0 ? 16 : 8;
    const unsigned shift = part >= VIDEO_H0 ? 16 * (part - VIDEO_H0) : 8 * (part - VIDEO_B0);
    const uint32_t mask = ((UINT32_C(1) << bits) - 1) << shift;
    return ((part == VIDEO_H1 ? value : value << shift) & mask) | (c & ~mask);
}

static inline int64_t scalar_video_saturate(int64_t value, struct video_form form, bool is_shift)
{
    if (is_shift) /* the intermediate result has 34 bits */
        return (int64_t)scalar_video_clamp(scalar_video_wrap(value, 34), 32, form.d_signed);
    if (form.d_part == VIDEO_WHOLE)
        return form.d_signed ? (int64_t)scalar_video_clamp(value, 32, true) : value < 0 ? 0 : value;
    const unsigned bits = form.d_part >= VIDEO_H0 ? 16 : 8;
    const uint64_t most = (UINT64_C(1) << (form.d_signed ? bits - 1 : bits)) - 1;
    return (int64_t)((uint64_t)value > most ? most : (uint64_t)value);
}

/* vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset */
static inline uint32_t scalar_video(enum video_operation operation, uint32_t a, uint32_t b,
                                    uint32_t c, uint64_t immediate)
{
    const struct video_form form = video_form(immediate);
    const bool is_shift = operation == VIDEO_SHL || operation == VIDEO_SHR;
    const bool is_sum = operation == VIDEO_ADD || operation == VIDEO_SUB;
    const bool is_signed = operation == VIDEO_SET ? form.a_signed : form.d_signed;
    int64_t value =
        (int64_t)scalar_video_compute(operation, scalar_video_take(a, form.a_part, form.a_signed),
                                      scalar_video_take(b, form.b_part, form.b_signed), form);
    if (form.saturates)
        value = scalar_video_saturate(value, form, is_shift);
    if (form.d_part != VIDEO_WHOLE)
        return scalar_video_merge((uint32_t)value, form.d_part, c);
    if (form.second == VIDEO_PLAIN || form.second == VIDEO_THEN_ADD)
        return (uint32_t)value + (form.second == VIDEO_PLAIN ? 0 : c);
    if (is_sum || (is_shift && form.saturates))
        value = scalar_video_wrap(value, 32);
    const int64_t third = scalar_video_extend(c, 32, is_signed);
    const bool is_less = is_signed ? value < third : (uint64_t)value < (uint64_t)third;
    return (uint32_t)(is_less == (form.second == VIDEO_THEN_MIN) ? value : third);
}

/* vadd2 … vset4: parts of `bits`, each by itself; with .add the sum of them and c. */
static inline uint32_t scalar_video_parts(enum video_operation operation, uint32_t a, uint32_t b,
                                          uint32_t c, uint64_t immediate, unsigned bits)
{
    const struct video_form form = video_form(immediate);
    const uint64_t both = (uint64_t)b << 32 | a;
    const uint32_t low = (UINT32_C(1) << bits) - 1;
    uint32_t result = form.second == VIDEO_THEN_ADD ? c : 0;
    for (unsigned i = 0; i < 32 / bits; ++i) {
        const unsigned from_a = form.a_picks >> 3 * i & 7, from_b = form.b_picks >> 3 * i & 7;
        scalar_s128 value = scalar_video_compute(
            operation, scalar_video_extend((uint32_t)(both >> from_a * bits), bits, form.a_signed),
            scalar_video_extend((uint32_t)(both >> from_b * bits), bits, form.b_signed), form);
        const bool wanted = (form.mask >> i & 1) != 0;
        if (form.saturates)
            value = scalar_video_clamp(value, bits, form.d_signed);
        if (form.second == VIDEO_THEN_ADD)
            result += wanted ? (uint32_t)value : 0;
        else
            result |= ((wanted ? (uint32_t)value : c >> i * bits) & low) << i * bits;
    }
    return result;
}

/* vmad: a * b + c, one of the two negated or one added, shifted right, clamped; in 64 bits. */
static inline uint32_t scalar_video_mad(uint32_t a, uint32_t b, uint32_t c, uint64_t immediate)
{
    const struct video_form form = video_form(immediate);
    const bool is_signed = form.a_signed || form.b_signed || form.negates_product || form.negates_c;
    const bool a_signed = form.a_signed || form.a_part == VIDEO_WHOLE;
    const bool b_signed = form.b_signed || form.b_part == VIDEO_WHOLE;
    scalar_s128 value = (scalar_s128)scalar_video_take(a, form.a_part, a_signed) *
                        scalar_video_take(b, form.b_part, b_signed);
    if (form.negates_product)
        value = -value;
    value += scalar_video_extend(form.negates_c ? ~c : c, 32, true);
    value += form.negates_c || form.adds_one ? 1 : 0;
    const int64_t shifted =
        is_signed ? (int64_t)value >> form.shift : (int64_t)((uint64_t)value >> form.shift);
    return (uint32_t)(form.saturates ? scalar_video_clamp(shifted, 32, is_signed) : shifted);
}

#endif

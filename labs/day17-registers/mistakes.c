/* mistakes.c - what the kernels of day17-registers give when they are wrong in a common way.
 *
 * One filter with switches, element by element: it is asked for a few elements only. Fused
 * multiply-adds round once, as nvcc's do. */
#include "base.h"

#include <math.h>

#include "labs/day17-registers/mistakes.h"

#define NARROW_TAPS 4
#define WIDE_TAPS 64

static const float decay = 0.9375f;

enum shift_use {
    SHIFT_BACK, /* as it should be */
    SHIFT_UNUSED,
    SHIFT_STORE, /* where the way forward stores */
    SHIFT_BY_63,
    SHIFT_ALONE,   /* the tap is left out */
    SHIFT_UNBOUND, /* past the last level, where stale local memory is most often 0 */
};

/* What is done otherwise than in the reference; all zero: nothing. */
struct variant {
    bool drop_first_in, drop_last_in;     /* the sample of that tap counts as 0 */
    bool drop_first_back, drop_last_back; /* the way back leaves that level out */
    bool ascending;                       /* the way back runs from the first level to the last */
    bool split_forward, split_back;       /* multiply, round, add, round */
    bool keep_forward, keep_back;         /* nothing decays there */
    bool last_level;                      /* the result is the last level, not the sum */
    enum shift_use shift;
};

static float step(float value, float before, bool split, bool keep)
{
    if (keep)
        return value + before;
    volatile float product = decay * before; /* rounded on its own */
    return split ? value + product : fmaf(decay, before, value);
}

static float compute_element(const struct variant *v, const float *in, int taps, int64_t shift)
{
    float levels[WIDE_TAPS], level = 0, sum = 0;
    int by = (int)(((shift % WIDE_TAPS) + WIDE_TAPS) % WIDE_TAPS);
    for (int tap = 0; tap < taps; ++tap) {
        bool dropped = (tap == 0 && v->drop_first_in) || (tap == taps - 1 && v->drop_last_in);
        level = step(dropped ? 0 : in[tap], level, v->split_forward, v->keep_forward);
        levels[v->shift == SHIFT_STORE ? (tap + by) % taps : tap] = level;
    }
    if (v->last_level)
        return level;
    for (int round = 0; round < taps; ++round) {
        int tap = v->ascending ? round : taps - 1 - round;
        int from = v->shift == SHIFT_BACK    ? (tap + by) % taps
                   : v->shift == SHIFT_ALONE ? by
                   : v->shift == SHIFT_BY_63 ? (int)((tap + shift) % (taps - 1))
                                             : tap;
        if (v->shift == SHIFT_UNBOUND) {
            bool within = tap + shift >= 0 && tap + shift < taps;
            sum = step(within ? levels[tap + shift] : 0, sum, false, false);
            continue;
        }
        if ((tap == 0 && v->drop_first_back) || (tap == taps - 1 && v->drop_last_back))
            continue;
        sum = step(levels[from], sum, v->split_back, v->keep_back);
    }
    return sum;
}

enum { NARROW = 1u << 0, WIDE = 1u << 1, INDEXED = 1u << 2, BOUNDED = 1u << 3 };
#define ALL (NARROW | WIDE | INDEXED | BOUNDED)

static const char back_loop[] = "Compare the loop of the way back with the starter's: it runs from "
                                "the last tap down to tap 0, both included.";
static const char forward_loop[] = "Compare the loop of the way forward with the starter's: every "
                                   "tap from 0 to the last reads in[i + tap].";
static const char fused[] = "Write `x + DECAY * y` in one expression of floats, which nvcc makes "
                            "one fused multiply-add; __fmul_rn and __fadd_rn keep the two apart.";
static const char shift_back[] =
    "Read levels[(tap + shift) modulo the taps] on the way back, with a "
    "plus; the way forward stores to levels[tap] as it did.";

/* clang-format off */
static const struct variant variants[DAY17_MISTAKE_COUNT] = {
    {.shift = SHIFT_UNBOUND},
    {.drop_first_back = true},
    {.drop_last_back = true},
    {.drop_first_in = true},
    {.drop_last_in = true},
    {.ascending = true},
    {.split_forward = true},
    {.split_back = true},
    {.split_forward = true, .split_back = true},
    {.keep_forward = true},
    {.keep_back = true},
    {.last_level = true},
    {.shift = SHIFT_UNUSED},
    {.shift = SHIFT_STORE},
    {.shift = SHIFT_BY_63},
    {.shift = SHIFT_ALONE},
};
const struct lab_mistake day17_mistakes[DAY17_MISTAKE_COUNT] = {
    /* Before the missing taps: at shift 1 the last of them gives the same. */
    {INDEXED, "the shifted index runs past the last level",
     "The index must wrap round: add the shift, and take it modulo the taps."},
    {ALL, "one tap is missing: the way back leaves out the level of tap 0", back_loop},
    {ALL, "one tap is missing: the way back leaves out the level of the last tap", back_loop},
    {ALL, "one tap is missing: the way forward leaves out the first sample", forward_loop},
    {ALL, "one tap is missing: the way forward leaves out the last sample", forward_loop},
    {ALL, "the way back walks from the first level to the last", back_loop},
    {ALL, "the way forward multiplies and adds with a rounding after each", fused},
    {ALL, "the way back multiplies and adds with a rounding after each", fused},
    {ALL, "both ways multiply and add with a rounding after each", fused},
    {ALL, "nothing decays on the way forward", "Multiply the level by DECAY on the way forward."},
    {ALL, "nothing decays on the way back", "Multiply the sum by DECAY on the way back."},
    {ALL, "out[i] gets the last level instead of the sum", "Store `sum` in out[i]."},
    {INDEXED, "the shift is not used, or used on both ways, which undoes it", shift_back},
    {INDEXED, "the shift is subtracted, or moves where the way forward stores, which is the same",
     shift_back},
    {INDEXED, "the index is taken modulo 63",
     "WIDE_TAPS - 1 belongs behind `&`, WIDE_TAPS behind `%`: both wrap round at 64 levels."},
    {INDEXED, "each step of the way back reads one and the same level",
     "Read levels[(tap + shift) % WIDE_TAPS], or & (WIDE_TAPS - 1): the index has to move with the tap."},
};
/* clang-format on */

void day17_mistaken(unsigned kernel, size_t mistake, const struct reference_call *call)
{
    const struct variant *variant = &variants[mistake];
    int taps = kernel == 0 ? NARROW_TAPS : WIDE_TAPS;
    for (size_t i = call->begin; i < call->end; ++i)
        call->output[i - call->begin] =
            compute_element(variant, call->input + i, taps, call->scalar);
}

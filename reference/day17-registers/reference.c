/* reference.c - the filter of day17-registers on the CPU, many elements at a time.
 *
 * One element is a chain of 128 dependent operations, so elements, not taps, are what runs side by
 * side: GROUP of them share each step, enough to hide the latency of a fused multiply-add. The
 * compiler turns the loops over a group into vector code; the Makefile compiles this file with -O3
 * for that. The body is written once and inlined into a plain wrapper and into one for AVX2 with
 * FMA; fmaf() is exact in both (without FMA hardware the C library computes it in software). */
#include "base.h"

#include <math.h>

#include "reference/day17-registers/reference.h"

#define NARROW_TAPS 4
#define WIDE_TAPS 64
#define GROUP 32

static const float decay = 0.9375f;

/* Elements [first, first + GROUP): `input` and `output` point at element `first`. */
static inline __attribute__((always_inline)) void
filter_group(const float *restrict input, float *restrict output, unsigned taps, unsigned shift)
{
    float levels[WIDE_TAPS][GROUP];
    float level[GROUP] = {0}, sum[GROUP] = {0};
    for (unsigned tap = 0; tap < taps; ++tap)
        for (unsigned lane = 0; lane < GROUP; ++lane)
            levels[tap][lane] = level[lane] = fmaf(decay, level[lane], input[tap + lane]);
    for (unsigned back = taps; back-- > 0;) {
        const float *kept = levels[(back + shift) % taps];
        for (unsigned lane = 0; lane < GROUP; ++lane)
            sum[lane] = fmaf(decay, sum[lane], kept[lane]);
    }
    memcpy(output, sum, sizeof sum);
}

static inline __attribute__((always_inline)) void filter(const struct reference_call *call,
                                                         unsigned taps, unsigned shift)
{
    size_t i = call->begin;
    for (; call->end - i >= GROUP; i += GROUP)
        filter_group(call->input + i, call->output + i, taps, shift);
    size_t rest = call->end - i;
    if (rest == 0)
        return;
    /* The last few elements, padded to a group so that nothing beyond the input is read. */
    float input[GROUP + WIDE_TAPS] = {0}, output[GROUP];
    memcpy(input, call->input + i, (rest + taps - 1) * sizeof *input);
    filter_group(input, output, taps, shift);
    memcpy(call->output + i, output, rest * sizeof *output);
}

static inline __attribute__((always_inline)) unsigned shift_of(const struct reference_call *call)
{
    return (unsigned)((uint64_t)call->scalar % WIDE_TAPS); /* 2^64 is a multiple of 64 */
}

/* clang-format off */
#define DEFINE_PATH(path, target)                                                                  \
    target static void narrow_##path(const struct reference_call *call)                            \
    { filter(call, NARROW_TAPS, 0); }                                                              \
    target static void wide_##path(const struct reference_call *call)                              \
    { filter(call, WIDE_TAPS, 0); }                                                                \
    target static void indexed_##path(const struct reference_call *call)                           \
    { filter(call, WIDE_TAPS, shift_of(call)); }
/* clang-format on */

#define TARGET_PLAIN
DEFINE_PATH(plain, TARGET_PLAIN)

static bool plain_usable(void)
{
    return true;
}

#ifdef __x86_64__
#define TARGET_AVX2 __attribute__((target("avx2,fma")))
DEFINE_PATH(avx2, TARGET_AVX2)

static bool avx2_usable(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

/* clang-format off */
const struct day17_reference_path day17_reference_paths[] = {
    {"plain", plain_usable, narrow_plain, wide_plain, indexed_plain},
#ifdef __x86_64__
    {"avx2", avx2_usable, narrow_avx2, wide_avx2, indexed_avx2},
#endif
};
/* clang-format on */
const size_t day17_reference_path_count = COUNT_OF(day17_reference_paths);

static const struct day17_reference_path *best_path(void)
{
    size_t best = COUNT_OF(day17_reference_paths) - 1;
    while (best > 0 && !day17_reference_paths[best].usable())
        --best;
    return &day17_reference_paths[best];
}

void day17_reference_narrow(const struct reference_call *call)
{
    best_path()->narrow(call);
}

void day17_reference_wide(const struct reference_call *call)
{
    best_path()->wide(call);
}

void day17_reference_indexed(const struct reference_call *call)
{
    best_path()->indexed(call);
}

/* check_emulator_warp.c - what lanes of a warp exchange: each instruction against the host. */
#include "support_emulator.h"

#include <math.h>

#define LANES 32

/* One warp: lane l has in[l]; what it gets is computed from all of in. */
struct row {
    const char *statements; /* from %r2 = in[lane] (or %d2, 64 bits) to %r3 */
    uint32_t (*expected)(const uint32_t *in, unsigned lane);
};

/* ---- Shuffles ------------------------------------------------------------------------------- */

/* PTX ISA, "shfl": c holds the clamp in bits 0-4 and the segment mask in bits 8-12. */
static uint32_t up(const uint32_t *in, unsigned lane, unsigned b, unsigned width)
{
    return lane % width >= b ? in[lane - b] : in[lane];
}

static uint32_t down(const uint32_t *in, unsigned lane, unsigned b, unsigned width)
{
    return lane % width + b < width ? in[lane + b] : in[lane];
}

static uint32_t up_3(const uint32_t *in, unsigned lane)
{
    return up(in, lane, 3, 32);
}

static uint32_t up_2_of_8(const uint32_t *in, unsigned lane)
{
    return up(in, lane, 2, 8);
}

static uint32_t down_5(const uint32_t *in, unsigned lane)
{
    return down(in, lane, 5, 32);
}

static uint32_t down_1_of_4(const uint32_t *in, unsigned lane)
{
    return down(in, lane, 1, 4);
}

static uint32_t butterfly_9(const uint32_t *in, unsigned lane)
{
    return in[lane ^ 9];
}

static uint32_t index_17(const uint32_t *in, unsigned lane)
{
    (void)lane;
    return in[17];
}

static uint32_t index_own_of_16(const uint32_t *in, unsigned lane)
{
    return in[(lane & 16) | ((lane * 7) & 15)];
}

static uint32_t in_range_down_5(const uint32_t *in, unsigned lane)
{
    (void)in;
    return lane + 5 < 32 ? 1 : 0;
}

/* ---- Votes, matches, reductions ---------------------------------------------------------------
 */

static uint32_t odd_lanes(const uint32_t *in)
{
    uint32_t mask = 0;
    for (unsigned lane = 0; lane < LANES; ++lane)
        mask |= (in[lane] & 1) << lane;
    return mask;
}

static uint32_t ballot(const uint32_t *in, unsigned lane)
{
    (void)lane;
    return odd_lanes(in);
}

static uint32_t any(const uint32_t *in, unsigned lane)
{
    (void)lane;
    return odd_lanes(in) != 0 ? 1 : 0;
}

static uint32_t all(const uint32_t *in, unsigned lane)
{
    (void)lane;
    return odd_lanes(in) == UINT32_MAX ? 1 : 0;
}

static uint32_t uniform(const uint32_t *in, unsigned lane)
{
    (void)lane;
    return odd_lanes(in) == UINT32_MAX || odd_lanes(in) == 0 ? 1 : 0;
}

static uint32_t ballot_of_half(const uint32_t *in, unsigned lane)
{
    return lane < 16 ? odd_lanes(in) & 0xFFFF : in[lane];
}

static uint32_t same_value(const uint32_t *in, unsigned lane)
{
    uint32_t mask = 0;
    for (unsigned other = 0; other < LANES; ++other)
        mask |= in[other] % 4 == in[lane] % 4 ? UINT32_C(1) << other : 0;
    return mask;
}

static uint32_t no_match(const uint32_t *in, unsigned lane)
{
    (void)in, (void)lane;
    return 0;
}

static uint32_t everybody(const uint32_t *in, unsigned lane)
{
    (void)in, (void)lane;
    return UINT32_MAX;
}

#define REDUCTION(name, type, first, expression)                                                   \
    static uint32_t name(const uint32_t *in, unsigned lane)                                        \
    {                                                                                              \
        type result = first;                                                                       \
        (void)lane;                                                                                \
        for (unsigned other = 0; other < LANES; ++other) {                                         \
            const type value = (type)in[other];                                                    \
            result = (expression);                                                                 \
        }                                                                                          \
        return (uint32_t)result;                                                                   \
    }
REDUCTION(sum, uint32_t, 0, result + value)
REDUCTION(least, uint32_t, UINT32_MAX, value < result ? value : result)
REDUCTION(most, uint32_t, 0, value > result ? value : result)
REDUCTION(least_signed, int32_t, INT32_MAX, value < result ? value : result)
REDUCTION(most_signed, int32_t, INT32_MIN, value > result ? value : result)
REDUCTION(conjunction, uint32_t, UINT32_MAX, result &value)
REDUCTION(disjunction, uint32_t, 0, result | value)
REDUCTION(parity, uint32_t, 0, result ^ value)

/* PTX ISA, "redux.sync": +0 is more than -0, a NaN counts only with .NaN, and if all are NaN the
 * result is one, too: the canonical one. */
static uint32_t float_extremum(const uint32_t *values, bool is_max, bool is_abs, bool takes_nan)
{
    uint32_t result = 0x7FFFFFFF;
    bool found = false;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        const uint32_t bits = values[lane] & (is_abs ? 0x7FFFFFFF : UINT32_MAX);
        float value, best;
        memcpy(&value, &bits, sizeof value);
        memcpy(&best, &result, sizeof best);
        if (isnan(value) && takes_nan)
            return 0x7FFFFFFF;
        if (isnan(value))
            continue;
        const bool is_less =
            value < best || (value == best && signbit(value) != 0 && signbit(best) == 0);
        const bool is_more =
            value > best || (value == best && signbit(value) == 0 && signbit(best) != 0);
        if (!found || (is_max ? is_more : is_less))
            result = bits;
        found = true;
    }
    return result;
}

/* `value`: what the statements make of in[other] before. */
#define FLOAT_REDUCTION(name, value, is_max, is_abs, takes_nan)                                    \
    static uint32_t name(const uint32_t *in, unsigned lane)                                        \
    {                                                                                              \
        uint32_t values[LANES];                                                                    \
        (void)in, (void)lane;                                                                      \
        for (unsigned other = 0; other < LANES; ++other)                                           \
            values[other] = (value);                                                               \
        return float_extremum(values, is_max, is_abs, takes_nan);                                  \
    }
#define FINITE (in[other] & 0xBFFFFFFF)
#define SOME_NAN (other % 5 == 0 ? 0xFFC00001 : in[other] & 0xBFFFFFFF)
FLOAT_REDUCTION(least_float, FINITE, false, false, false)
FLOAT_REDUCTION(most_float, FINITE, true, false, false)
FLOAT_REDUCTION(least_magnitude, FINITE, false, true, false)
FLOAT_REDUCTION(most_magnitude, FINITE, true, true, false)
FLOAT_REDUCTION(least_number, SOME_NAN, false, false, false)
FLOAT_REDUCTION(most_number, SOME_NAN, true, true, false)
FLOAT_REDUCTION(least_or_nan, SOME_NAN, false, true, true)
FLOAT_REDUCTION(most_or_nan, SOME_NAN, true, false, true)
FLOAT_REDUCTION(least_zero, in[other] & 0x80000000, false, false, true)
FLOAT_REDUCTION(most_zero, in[other] & 0x80000000, true, false, true)
FLOAT_REDUCTION(only_nan, 0xFF800001, true, false, false)
#undef FINITE
#undef SOME_NAN

static uint32_t sum_of_thirds(const uint32_t *in, unsigned lane)
{
    uint32_t result = 0;
    for (unsigned other = 0; other < LANES; ++other)
        result += other % 3 == lane % 3 ? in[other] : 0;
    return result;
}

static uint32_t lowest(const uint32_t *in, unsigned lane)
{
    (void)in;
    return lane == 8 ? 1 : 0;
}

static uint32_t below(const uint32_t *in, unsigned lane)
{
    (void)in;
    return (UINT32_C(1) << lane) - 1;
}

static uint32_t above(const uint32_t *in, unsigned lane)
{
    (void)in;
    return lane == 31 ? 0 : UINT32_MAX << (lane + 1);
}

static uint32_t own_bit(const uint32_t *in, unsigned lane)
{
    (void)in;
    return UINT32_C(1) << lane;
}

static uint32_t not_above(const uint32_t *in, unsigned lane)
{
    return ~above(in, lane);
}

static uint32_t not_below(const uint32_t *in, unsigned lane)
{
    return ~below(in, lane);
}

static uint32_t upper_half(const uint32_t *in, unsigned lane)
{
    return lane >= 16 ? 0xFFFF0000 : in[lane];
}

/* ---- The table ------------------------------------------------------------------------------ */

#define ODD "and.b32 %r4, %r2, 1; setp.ne.u32 %p1, %r4, 0;\n"
#define FLAG "selp.u32 %r3, 1, 0, %p2;"
#define SOME_NAN                                                                                   \
    "and.b32 %r4, %r2, 0xbfffffff; rem.u32 %r5, %t, 5; setp.eq.u32 %p3, %r5, 0;\n"                 \
    "selp.b32 %r4, 0xffc00001, %r4, %p3;\n"
/* clang-format off */
static const struct row rows[] = {
    {"shfl.sync.up.b32 %r3, %r2, 3, 0, 0xffffffff;", up_3},
    {"shfl.up.b32 %r3, %r2, 3, 0;", up_3},
    {"shfl.sync.up.b32 %r3, %r2, 2, 0x1800, 0xffffffff;", up_2_of_8},
    {"shfl.sync.down.b32 %r3, %r2, 5, 31, 0xffffffff;", down_5},
    {"shfl.down.b32 %r3, %r2, 5, 31;", down_5},
    {"shfl.sync.down.b32 %r3, %r2, 1, 0x1c1f, 0xffffffff;", down_1_of_4},
    {"shfl.sync.bfly.b32 %r3, %r2, 9, 31, 0xffffffff;", butterfly_9},
    {"shfl.sync.idx.b32 %r3, %r2, 17, 31, 0xffffffff;", index_17},
    /* Only the leader has a value, and all take that. */
    {"{ .reg .b32 led; setp.eq.u32 %p3, %t, 17; @%p3 mov.b32 led, %r2; shfl.sync.idx.b32 %r3, led, 17, 31, 0xffffffff; }", index_17},
    {"mul.lo.u32 %r4, %t, 7; shfl.sync.idx.b32 %r3|%p1, %r2, %r4, 0x101f, 0xffffffff;", index_own_of_16},
    {"shfl.sync.down.b32 %r5|%p2, %r2, 5, 31, 0xffffffff;" FLAG, in_range_down_5},
    {ODD "vote.sync.ballot.b32 %r3, %p1, 0xffffffff;", ballot},
    {ODD "vote.ballot.b32 %r3, %p1;", ballot},
    {ODD "vote.sync.any.pred %p2, %p1, 0xffffffff;" FLAG, any},
    {ODD "vote.sync.all.pred %p2, %p1, 0xffffffff;" FLAG, all},
    {ODD "vote.sync.uni.pred %p2, %p1, 0xffffffff;" FLAG, uniform},
    {ODD "vote.all.pred %p2, !%p1;" FLAG, no_match},
    {ODD "mov.u32 %r3, %r2; setp.lt.u32 %p3, %t, 16; @%p3 vote.sync.ballot.b32 %r3, %p1, 0xffff;", ballot_of_half},
    {"and.b32 %r4, %r2, 3; match.any.sync.b32 %r3, %r4, 0xffffffff;", same_value},
    {"and.b32 %r4, %r2, 3; cvt.u64.u32 %d4, %r4; shl.b64 %d4, %d4, 40; match.any.sync.b64 %r3, %d4, 0xffffffff;", same_value},
    {"match.all.sync.b32 %r3, %r2, 0xffffffff;", no_match},
    {"match.all.sync.b32 %r3|%p2, %r2, 0xffffffff;" FLAG, no_match},
    {"mov.u32 %r4, 5; match.all.sync.b32 %r3|%p2, %r4, 0xffffffff;", everybody},
    {"redux.sync.add.u32 %r3, %r2, 0xffffffff;", sum},
    {"redux.sync.add.s32 %r3, %r2, 0xffffffff;", sum},
    {"redux.sync.min.u32 %r3, %r2, 0xffffffff;", least},
    {"redux.sync.max.u32 %r3, %r2, 0xffffffff;", most},
    {"redux.sync.min.s32 %r3, %r2, 0xffffffff;", least_signed},
    {"redux.sync.max.s32 %r3, %r2, 0xffffffff;", most_signed},
    {"redux.sync.and.b32 %r3, %r2, 0xffffffff;", conjunction},
    {"redux.sync.or.b32 %r3, %r2, 0xffffffff;", disjunction},
    {"redux.sync.xor.b32 %r3, %r2, 0xffffffff;", parity},
    {"and.b32 %r4, %r2, 0xbfffffff; redux.sync.min.f32 %r3, %r4, 0xffffffff;", least_float},
    {"and.b32 %r4, %r2, 0xbfffffff; redux.sync.max.f32 %r3, %r4, 0xffffffff;", most_float},
    {"and.b32 %r4, %r2, 0xbfffffff; redux.sync.min.abs.f32 %r3, %r4, 0xffffffff;", least_magnitude},
    {"and.b32 %r4, %r2, 0xbfffffff; redux.sync.max.abs.f32 %r3, %r4, 0xffffffff;", most_magnitude},
    {SOME_NAN "redux.sync.min.f32 %r3, %r4, 0xffffffff;", least_number},
    {SOME_NAN "redux.sync.max.abs.f32 %r3, %r4, 0xffffffff;", most_number},
    {SOME_NAN "redux.sync.min.abs.NaN.f32 %r3, %r4, 0xffffffff;", least_or_nan},
    {SOME_NAN "redux.sync.max.NaN.f32 %r3, %r4, 0xffffffff;", most_or_nan},
    {"and.b32 %r4, %r2, 0x80000000; redux.sync.min.NaN.f32 %r3, %r4, 0xffffffff;", least_zero},
    {"and.b32 %r4, %r2, 0x80000000; redux.sync.max.NaN.f32 %r3, %r4, 0xffffffff;", most_zero},
    {"redux.sync.max.f32 %r3, 0fFF800001, 0xffffffff;", only_nan},
    /* Three groups of lanes, each with a mask of its own, at one instruction. */
    {"rem.u32 %r4, %t, 3; mov.u32 %r5, 0x49249249; shl.b32 %r5, %r5, %r4; redux.sync.add.u32 %r3, %r2, %r5;", sum_of_thirds},
    {"activemask.b32 %r3;", everybody},
    {"mov.u32 %r3, %r2; setp.ge.u32 %p3, %t, 16; @%p3 activemask.b32 %r3;", upper_half},
    {"mov.u32 %r3, 0; setp.ge.u32 %p3, %t, 8; @!%p3 bra out; elect.sync _|%p2, 0xffffff00;" FLAG " out:", lowest},
    {"mov.u32 %r3, %lanemask_lt;", below},
    {"mov.u32 %r3, %lanemask_gt;", above},
    {"mov.u32 %r3, %lanemask_eq;", own_bit},
    {"mov.u32 %r3, %lanemask_le;", not_above},
    {"mov.u32 %r3, %lanemask_ge;", not_below},
    {"bar.warp.sync 0xffffffff; mov.u32 %r3, %lanemask_eq;", own_bit},
};
/* clang-format on */

START_TEST(lanes_exchange)
{
    uint32_t in[LANES], out[LANES] = {0}, state = 5;
    char statements[1024];
    for (unsigned lane = 0; lane < LANES; ++lane)
        in[lane] = support_random(&state);
    (void)snprintf(
        statements, sizeof statements,
        "mul.wide.u32 %%d0, %%t, 4; add.u64 %%in, %%in, %%d0; add.u64 %%out, %%out, %%d0;\n"
        "ld.global.u32 %%r2, [%%in];\n%s\nst.global.u32 [%%out], %%r3;",
        rows[_i].statements);
    const struct support_kernel kernel = {.statements = statements,
                                          .in = in,
                                          .in_bytes = sizeof in,
                                          .out = out,
                                          .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    support_finished(&result);
    ck_assert_msg(result.fault_count == 0, "%s: %s", rows[_i].statements,
                  result.fault_count > 0 ? result.faults[0].text : "");
    for (unsigned lane = 0; lane < LANES; ++lane)
        ck_assert_msg(out[lane] == rows[_i].expected(in, lane), "%s: lane %u has %x, not %x",
                      rows[_i].statements, lane, out[lane], rows[_i].expected(in, lane));
    emulator_result_release(&result);
}
END_TEST

START_TEST(a_shuffle_of_no_value_is_told)
{
    uint32_t out[1] = {0};
    const struct support_kernel kernel = {
        .statements = "{ .reg .b32 led; setp.lt.u32 %p3, %t, 17; @%p3 mov.b32 led, 5;\n"
                      "shfl.sync.idx.b32 %r3, led, 17, 31, 0xffffffff; }",
        .out = out,
        .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    support_finished(&result);
    ck_assert_uint_eq(result.fault_count, 1);
    ck_assert_str_eq(result.faults[0].kind, "undefined value");
    ck_assert(result.faults[0].warning);
    ck_assert_ptr_nonnull(
        strstr(result.faults[0].text, "takes the value of lane 17, which has none yet"));
    emulator_result_release(&result);
}
END_TEST

Suite *suite_emulator_warp(void);
Suite *suite_emulator_warp(void)
{
    Suite *suite = suite_create("emulator_warp");
    TCase *tcase = tcase_create("exchange");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, lanes_exchange, 0, COUNT_OF(rows));
    tcase_add_test(tcase, a_shuffle_of_no_value_is_told);
    suite_add_tcase(suite, tcase);
    return suite;
}

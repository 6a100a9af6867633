/* check_timing.c - medians, quartiles, and verdicts over series with known truths. */
#include "testing.h"

#include <math.h>

#include "timing.h"

static const struct {
    double samples[8];
    size_t count;
    double median, q1, q3;
} summaries[] = {
    {{5}, 1, 5, 5, 5},
    {{3, 1}, 2, 2, 1.5, 2.5},
    {{9, 1, 5}, 3, 5, 3, 7},
    {{4, 1, 3, 2}, 4, 2.5, 1.75, 3.25},
    {{1, 2, 3, 4, 1000}, 5, 3, 2, 4}, /* an outlier moves nothing */
};

START_TEST(summary_row)
{
    struct timing_summary summary = timing_summarise(summaries[_i].samples, summaries[_i].count);
    ck_assert_uint_eq(summary.count, summaries[_i].count);
    ck_assert_double_eq_tol(summary.median, summaries[_i].median, 1e-12);
    ck_assert_double_eq_tol(summary.q1, summaries[_i].q1, 1e-12);
    ck_assert_double_eq_tol(summary.q3, summaries[_i].q3, 1e-12);
}
END_TEST

START_TEST(empty_and_oversized_series_say_nothing)
{
    static double many[TIMING_ROUNDS_MAX + 1];
    ck_assert_uint_eq(timing_summarise(many, 0).count, 0);
    ck_assert_uint_eq(timing_summarise(many, COUNT_OF(many)).count, 0);
    ck_assert_int_eq(timing_compare(many, many, 0).verdict, TIMING_UNCLEAR);
    ck_assert_int_eq(timing_compare(many, many, COUNT_OF(many)).verdict, TIMING_UNCLEAR);
    ck_assert_double_eq_tol(timing_uncertainty(many, 0), 1.0, 1e-12);
    ck_assert_double_eq_tol(timing_uncertainty(many, 5), 1.0, 1e-12); /* all zero */
}
END_TEST

/* Uniform in [-1, 1), from a fixed stream. */
static double noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(*state >> 11) / 0x1p52 - 1.0;
}

/* Series whose truth is known: b takes 20 us, a takes ratio times that; each sample has `spread`
 * noise, `drift` moves both from the first round to the last, and every 7th round of b is hit by
 * something else on the GPU. */
static const struct {
    const char *what;
    double ratio, spread, drift;
    bool hits;
    size_t count;
    enum timing_verdict verdict;
} verdicts[] = {
    {"twice as fast", 0.5, 0.05, 0, false, 31, TIMING_FASTER},
    {"twice as slow", 2.0, 0.05, 0, false, 31, TIMING_SLOWER},
    {"equal", 1.0, 0.02, 0, false, 63, TIMING_SAME},
    {"equal, the clock halves under both", 1.0, 0.02, 1.0, false, 63, TIMING_SAME},
    {"a tenth faster, the clock halves under both", 0.9, 0.02, 1.0, false, 31, TIMING_FASTER},
    {"equal, with hits", 1.0, 0.02, 0, true, 63, TIMING_SAME},
    {"a tenth slower, with hits", 1.1, 0.02, 0, true, 63, TIMING_SLOWER},
    {"equal, but all noise", 1.0, 0.9, 0, false, 31, TIMING_UNCLEAR},
    {"at the margin", 0.97, 0.03, 0, false, 31, TIMING_UNCLEAR},
    {"too few rounds", 0.5, 0.0, 0, false, TIMING_ROUNDS_NEEDED - 1, TIMING_UNCLEAR},
    {"just enough rounds", 0.5, 0.0, 0, false, TIMING_ROUNDS_NEEDED, TIMING_FASTER},
};

START_TEST(verdict_row)
{
    double a[TIMING_ROUNDS_MAX], b[TIMING_ROUNDS_MAX];
    uint64_t state = 42;
    for (size_t i = 0; i < verdicts[_i].count; ++i) {
        double clock = 1 + verdicts[_i].drift * (double)i / (double)verdicts[_i].count;
        b[i] = 20000 * clock * (1 + verdicts[_i].spread * noise(&state));
        a[i] = 20000 * verdicts[_i].ratio * clock * (1 + verdicts[_i].spread * noise(&state));
        if (verdicts[_i].hits && i % 7 == 3)
            b[i] *= 40;
    }
    struct timing_comparison result = timing_compare(a, b, verdicts[_i].count);
    ck_assert_msg(result.verdict == verdicts[_i].verdict, "%s: %s, ratio %g [%g, %g]",
                  verdicts[_i].what, timing_verdict_text(result.verdict), result.ratio, result.low,
                  result.high);
    ck_assert(result.low <= result.ratio && result.ratio <= result.high);
    /* The other way round it is the opposite. */
    struct timing_comparison back = timing_compare(b, a, verdicts[_i].count);
    if (result.verdict == TIMING_FASTER)
        ck_assert_int_eq(back.verdict, TIMING_SLOWER);
    if (result.verdict == TIMING_SLOWER)
        ck_assert_int_eq(back.verdict, TIMING_FASTER);
}
END_TEST

/* A 95 % interval should miss the truth about 5 times in a hundred. */
START_TEST(the_interval_holds_what_it_promises)
{
    uint64_t state = 7;
    int missed = 0, trials = 2000;
    for (int t = 0; t < trials; ++t) {
        double a[31], b[31];
        for (size_t i = 0; i < COUNT_OF(a); ++i) {
            a[i] = 1000 * exp(0.2 * noise(&state));
            b[i] = 1000 * exp(0.2 * noise(&state));
        }
        struct timing_comparison result = timing_compare(a, b, COUNT_OF(a));
        missed += result.low > 1.0 || result.high < 1.0;
    }
    ck_assert_int_lt(missed, trials * 7 / 100);
    ck_assert_int_gt(missed, trials / 200);
}
END_TEST

START_TEST(broken_samples_are_left_out)
{
    double a[40], b[40];
    for (size_t i = 0; i < COUNT_OF(a); ++i) {
        a[i] = 1000;
        b[i] = 3000;
    }
    a[3] = 0;
    a[4] = NAN;
    b[5] = -1;
    b[6] = INFINITY;
    struct timing_comparison result = timing_compare(a, b, COUNT_OF(a));
    ck_assert_int_eq(result.verdict, TIMING_FASTER);
    ck_assert_double_eq_tol(result.high, 1.0 / 3, 1e-9);
}
END_TEST

Suite *suite_timing(void)
{
    Suite *suite = suite_create("timing");
    TCase *tests = tcase_create("timing");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, summary_row, 0, COUNT_OF(summaries));
    tcase_add_test(tests, empty_and_oversized_series_say_nothing);
    tcase_add_loop_test(tests, verdict_row, 0, COUNT_OF(verdicts));
    tcase_add_test(tests, the_interval_holds_what_it_promises);
    tcase_add_test(tests, broken_samples_are_left_out);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_mismatch.c - where outputs differ, how far, and the pattern that is seen in it. */
#include "testing.h"

#include <math.h>

#include "mismatch.h"

#define N 131
#define BLOCK 64
#define POISON 0x7FC0ABCDu

/* ---- Outputs ---- */
/* A lab of one kernel that doubles, and knows one mistake: it trebles. */

static float input[N], expected[N], got[N];

static void treble(unsigned kernel, size_t mistake, const struct reference_call *call)
{
    (void)kernel, (void)mistake;
    for (size_t i = call->begin; i < call->end; ++i)
        call->output[i - call->begin] = 3 * call->input[i];
}

static const struct lab_kernel kernels[] = {{.name = "twice", .block_threads = BLOCK}};
static const struct lab_mistake mistakes[] = {{1, "it trebles", "Double."}};
static const struct lab lab = {.kernels = kernels,
                               .kernel_count = 1,
                               .mistakes = mistakes,
                               .mistake_count = 1,
                               .mistaken = treble};

static void set_bits(size_t i, uint32_t bits)
{
    memcpy(&got[i], &bits, sizeof bits);
}

static void none(void) {}
static void unwritten(void)
{
    for (size_t i = 0; i < N; ++i)
        set_bits(i, POISON);
}
static void tail_unwritten(void)
{
    for (size_t i = 128; i < N; ++i)
        set_bits(i, POISON);
}
static void holes_unwritten(void)
{
    for (size_t i = 5; i < N; i += 9)
        set_bits(i, POISON);
}
static void poison_and_wrong(void)
{
    tail_unwritten();
    got[3] = 1;
}
static void trebled(void)
{
    for (size_t i = 0; i < N; ++i)
        got[i] = 3 * input[i];
}
static void nearly_trebled(void)
{
    trebled();
    got[N - 1] = 1;
}
static void zero(void)
{
    memset(got, 0, sizeof got);
}
static void minus_zero(void)
{
    for (size_t i = 0; i < N; ++i)
        got[i] = -0.0f;
}
static void constant(void)
{
    for (size_t i = 0; i < N; ++i)
        got[i] = 4.5f;
}
static void one_later(void)
{
    memmove(got, got + 1, (N - 1) * sizeof got[0]);
}
static void one_earlier(void)
{
    memmove(got + 1, got, (N - 1) * sizeof got[0]);
}
static void two_later(void)
{
    memmove(got, got + 2, (N - 2) * sizeof got[0]);
}
static void nan_once(void)
{
    got[7] = NAN;
}
static void nans(void)
{
    got[7] = got[70] = NAN;
}
static void nan_and_wrong(void)
{
    nan_once();
    got[9] += 1;
}
static void last_digit(void)
{
    for (size_t i = 0; i < N; i += 3)
        got[i] = nextafterf(got[i], 100);
}
static void half(void)
{
    for (size_t i = 0; i < N; ++i)
        got[i] *= 1 + 0x1p-11f;
}
static void infinite(void)
{
    got[4] = INFINITY;
}
static void tail_wrong(void)
{
    for (size_t i = 129; i < N; ++i)
        got[i] += 1;
}
static void one_thread(void)
{
    for (size_t i = 6; i < N; i += BLOCK)
        got[i] += 1;
}
static void anyhow(void)
{
    got[3] += 1;
    got[40] += 2;
}

/* clang-format off */
static const struct {
    void (*change)(void);
    size_t count, first;
    const char *pattern, *remedy; /* parts; "": none at all */
} rows[] = {
    {none, 0, 0, "", ""},
    {unwritten, N, 0, "nothing was written", "stores its result"},
    {tail_unwritten, 3, 128, "only the tail is missing: the last 3, elements 128 to 130, were never written", "guard"},
    {holes_unwritten, 14, 5, "the wrong elements were never written", "without storing"},
    {poison_and_wrong, 4, 3, "", ""},
    {trebled, N, 0, "values of a kernel in which it trebles", "Double."},
    {nearly_trebled, N, 0, "", ""},
    {zero, N, 0, "every element is 0", "stays 0"},
    {minus_zero, N, 0, "every element is 0", "stays 0"},
    {constant, N - 1, 0, "every element is the same, 4.5", "depends on no input"},
    {one_later, N - 1, 0, "shifted by one: element i holds what belongs to element i + 1", "+ 1"},
    {one_earlier, N - 1, 1, "shifted by one: element i holds what belongs to element i - 1", "- 1"},
    {two_later, N - 2, 0, "", ""},
    {nan_once, 1, 7, "is a NaN, at 1 element,", "0 / 0"},
    {nans, 2, 7, "is a NaN, at 2 elements,", "0 / 0"},
    {nan_and_wrong, 2, 7, "", ""},
    {last_digit, 44, 0, "last digits only", "same operations"},
    {half, N, 0, "nearly right", "half"},
    {infinite, 1, 4, "", ""},
    {tail_wrong, 2, 129, "only the tail is wrong: the last 2, elements 129 to 130", "guard"},
    {one_thread, 2, 6, "", ""}, /* of two blocks: chance */
    {anyhow, 2, 3, "", ""},
};
/* clang-format on */

START_TEST(row)
{
    for (size_t i = 0; i < N; ++i) {
        input[i] = (float)((i * 37) % 101) + 1.25f;
        expected[i] = got[i] = 2 * input[i];
    }
    rows[_i].change();
    const struct mismatch_output output = {.lab = &lab,
                                           .call = {.input = input, .n = N},
                                           .expected = expected,
                                           .got = (const char *)got,
                                           .poison = POISON};
    struct mismatch mismatch;
    mismatch_find(&mismatch, &output);
    ck_assert_uint_eq(mismatch.count, rows[_i].count);
    if (rows[_i].count > 0)
        ck_assert_uint_eq(mismatch.first, rows[_i].first);
    if (rows[_i].pattern[0] == '\0')
        ck_assert_str_eq(mismatch.pattern, "");
    ck_assert_msg(strstr(mismatch.pattern, rows[_i].pattern) != NULL, "%s", mismatch.pattern);
    ck_assert_msg(strstr(mismatch.remedy, rows[_i].remedy) != NULL, "%s", mismatch.remedy);
    ck_assert_int_eq(mismatch.pattern[0] == '\0', mismatch.remedy[0] == '\0');
}
END_TEST

/* The emulator's edge, and outputs of one element. */
START_TEST(small_outputs)
{
    for (size_t n = 1; n < 20; ++n) {
        for (size_t i = 0; i < n; ++i) {
            input[i] = expected[i] = (float)i + 1;
            got[i] = 0;
        }
        const struct mismatch_output output = {.lab = &lab,
                                               .call = {.input = input, .n = n},
                                               .expected = expected,
                                               .got = (const char *)got,
                                               .poison = POISON};
        struct mismatch mismatch;
        mismatch_find(&mismatch, &output);
        ck_assert_uint_eq(mismatch.count, n);
        ck_assert_uint_eq(mismatch.last, n - 1);
    }
}
END_TEST

/* ---- Distances ---- */

/* clang-format off */
static const struct {
    uint32_t a, b;
    uint64_t ulps;
} distances[] = {
    {0x3F800000, 0x3F800000, 0}, {0x3F800000, 0x3F800001, 1}, {0x3F800001, 0x3F800000, 1},
    {0x00000000, 0x80000000, 1}, {0x00000001, 0x80000001, 3}, {0x7F7FFFFF, 0x7F800000, 1},
    {0x7F800000, 0xFF800000, 0xFF000001}, {0x7FC00000, 0x3F800000, UINT64_MAX},
    {0x3F800000, 0xFFC00001, UINT64_MAX},
};
/* clang-format on */

START_TEST(distance)
{
    ck_assert_uint_eq(mismatch_ulps(distances[_i].a, distances[_i].b), distances[_i].ulps);
}
END_TEST

START_TEST(values_in_words)
{
    char words[200];
    mismatch_values(words, sizeof words, 0x3F800000, 0x3F800001);
    ck_assert_str_eq(words, "expected 1 (0x3f800000), got 1.00000012 (0x3f800001), 1 ULP apart");
    mismatch_values(words, sizeof words, 0x3F800000, 0x3FC00000);
    ck_assert_str_eq(words, "expected 1 (0x3f800000), got 1.5 (0x3fc00000), 4,194,304 ULPs apart");
    mismatch_values(words, sizeof words, 0x3F800000, 0x7FC00000);
    ck_assert_str_eq(words, "expected 1 (0x3f800000), got nan (0x7fc00000)");
}
END_TEST

/* ---- The mistakes that labs know ---- */

/* Each has words, and is a mistake: it gives other values than the reference, and than each of the
 * others. */
START_TEST(mistakes_differ)
{
    enum { ELEMENTS = 40, EXTRA = 200 };
    const struct lab *known = lab_registry[_i];
    float samples[ELEMENTS + EXTRA], right[ELEMENTS], wrong[64][ELEMENTS];
    for (size_t i = 0; i < COUNT_OF(samples); ++i)
        samples[i] = (float)((i * 7919) % 1009) / 1009 - 0.4f;
    ck_assert_uint_le(known->mistake_count, 64);
    for (unsigned kernel = 0; kernel < known->kernel_count; ++kernel) {
        struct reference_call call = {
            .input = samples, .output = right, .n = ELEMENTS, .end = ELEMENTS, .scalar = 70};
        known->kernels[kernel].reference(&call);
        for (size_t m = 0; m < known->mistake_count; ++m) {
            const struct lab_mistake *mistake = &known->mistakes[m];
            ck_assert(mistake->says != NULL && strlen(mistake->says) > 10);
            ck_assert(mistake->try_next != NULL && strlen(mistake->try_next) > 10);
            if ((mistake->kernels >> kernel & 1) == 0)
                continue;
            call.output = wrong[m];
            known->mistaken(kernel, m, &call);
            ck_assert_msg(memcmp(wrong[m], right, sizeof right) != 0, "%s: %s is no mistake",
                          known->kernels[kernel].name, mistake->says);
            for (size_t k = 0; k < m; ++k)
                ck_assert_msg((known->mistakes[k].kernels >> kernel & 1) == 0 ||
                                  memcmp(wrong[m], wrong[k], sizeof right) != 0,
                              "%s: \"%s\" and \"%s\" give the same", known->kernels[kernel].name,
                              mistake->says, known->mistakes[k].says);
        }
    }
}
END_TEST

/* A tap that the way back leaves out, and an index that runs past the levels, give equal values
 * when the shift is 1; a kernel that is right at shift 0 leaves out no tap. */
/* clang-format off */
static const struct last_tap {
    int shift;
    const char *says;
} last_taps[] = {
    {0, "leaves out the level of the last tap"},
    {1, "runs past the last level"},
    {7, "runs past the last level"},
};
/* clang-format on */

START_TEST(last_tap_or_no_modulo)
{
    enum { TAPS = 64, ELEMENTS = 400 };
    const struct last_tap *tap_row = &last_taps[_i];
    const struct lab *known = lab_find("day17-registers");
    unsigned kernel = 0;
    while (strcmp(known->kernels[kernel].name, "decayWideIndexed") != 0)
        ++kernel;
    static float samples[ELEMENTS + TAPS], right[ELEMENTS], wrong[ELEMENTS];
    for (size_t i = 0; i < COUNT_OF(samples); ++i)
        samples[i] = (float)((i * 7919) % 1009) / 1009 - 0.4f;
    const struct reference_call call = {.input = samples,
                                        .output = right,
                                        .n = ELEMENTS,
                                        .end = ELEMENTS,
                                        .scalar = tap_row->shift};
    known->kernels[kernel].reference(&call);
    int lost = tap_row->shift == 0 ? 1 : tap_row->shift; /* so many of the last taps add nothing */
    for (size_t i = 0; i < ELEMENTS; ++i) {
        float levels[TAPS], level = 0, sum = 0;
        for (size_t tap = 0; tap < TAPS; ++tap)
            levels[tap] = level = fmaf(0.9375f, level, samples[i + tap]);
        for (int tap = TAPS - 1 - lost; tap >= 0; --tap)
            sum = fmaf(0.9375f, sum, levels[tap + tap_row->shift]);
        wrong[i] = sum;
    }
    struct mismatch found;
    mismatch_find(&found, &(struct mismatch_output){.lab = known,
                                                    .kernel = kernel,
                                                    .call = call,
                                                    .expected = right,
                                                    .got = (const char *)wrong,
                                                    .poison = POISON});
    ck_assert_msg(strstr(found.pattern, tap_row->says) != NULL, "\"%s\"", found.pattern);
}
END_TEST

Suite *suite_mismatch(void)
{
    Suite *suite = suite_create("mismatch");
    TCase *tests = tcase_create("mismatch");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, row, 0, COUNT_OF(rows));
    tcase_add_test(tests, small_outputs);
    tcase_add_loop_test(tests, distance, 0, COUNT_OF(distances));
    tcase_add_test(tests, values_in_words);
    tcase_add_loop_test(tests, last_tap_or_no_modulo, 0, COUNT_OF(last_taps));
    tcase_add_loop_test(tests, mistakes_differ, 0, (int)lab_registry_count);
    suite_add_tcase(suite, tests);
    return suite;
}

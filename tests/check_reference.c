/* check_reference.c - the CPU reference of day17-registers against a plain loop, and the choice of
 * its decay: it must show a dropped tap and unfused arithmetic. */
#include "testing.h"

#include <math.h>

#include "numbers.h"
#include "reference/day17-registers/reference.h"

#define TAPS 64
#define DECAY 0.9375f
#define ELEMENTS 4099

/* What the specification in reference.h says, as plainly as can be, with three ways of getting it
 * wrong. */
struct variant {
    int lost_sample; /* this sample is not added on the way forward; -1: none */
    int lost_level;  /* this place is not added on the way back; -1: none */
    bool unfused;    /* multiply and add round separately */
};
static const struct variant right = {-1, -1, false};

/* The build forbids contraction (-ffp-contract=off), so this rounds twice. */
static float step(float carried, float added, bool unfused)
{
    if (!unfused)
        return fmaf(DECAY, carried, added);
    float product = DECAY * carried;
    return product + added;
}

static float filter(const float *input, int taps, unsigned shift, struct variant variant)
{
    float levels[TAPS], level = 0, sum = 0;
    for (int tap = 0; tap < taps; ++tap) {
        level = step(level, tap == variant.lost_sample ? 0 : input[tap], variant.unfused);
        levels[tap] = level;
    }
    for (int tap = taps - 1; tap >= 0; --tap) {
        float kept = levels[((unsigned)tap + shift) % (unsigned)taps];
        sum = step(sum, tap == variant.lost_level ? 0 : kept, variant.unfused);
    }
    return sum;
}

static float input[ELEMENTS + TAPS - 1], output[ELEMENTS + 2];

static void fill(uint64_t seed)
{
    numbers_fill_input(input, COUNT_OF(input), seed, 1);
}

static bool same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- Every path equals the plain loop ---- */

static const struct slice {
    size_t n, begin, end;
    int64_t shift;
} slices[] = {
    /* clang-format off */
    {ELEMENTS, 0, ELEMENTS, 0}, {ELEMENTS, 0, ELEMENTS, 1},  {ELEMENTS, 0, ELEMENTS, 7},
    {ELEMENTS, 0, ELEMENTS, 63}, {ELEMENTS, 0, ELEMENTS, 64}, {ELEMENTS, 0, ELEMENTS, 1048575},
    {ELEMENTS, 0, ELEMENTS, INT32_MAX}, {1, 0, 1, 3}, {31, 0, 31, 3}, {32, 0, 32, 3}, {33, 0, 33, 3},
    {ELEMENTS, 2049, ELEMENTS, 5}, {ELEMENTS, 0, 2049, 5}, {ELEMENTS, 4098, 4099, 5},
    {ELEMENTS, 100, 100, 5}, /* nothing to do */
    /* clang-format on */
};

static void compare_path(void (*compute)(const struct reference_call *), int taps, unsigned shift,
                         const struct slice *slice)
{
    static const float untouched = 12345.0f;
    /* Exactly as long as the kernel may read: a read beyond it is caught by the sanitizer build. */
    float *exact = malloc((slice->n + (size_t)taps - 1) * sizeof *exact);
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, input, (slice->n + (size_t)taps - 1) * sizeof *exact);
    for (size_t i = 0; i < COUNT_OF(output); ++i)
        output[i] = untouched;
    const struct reference_call call = {.input = exact,
                                        .output = output + 1,
                                        .n = slice->n,
                                        .begin = slice->begin,
                                        .end = slice->end,
                                        .scalar = slice->shift};
    compute(&call);
    for (size_t i = 0; i < ELEMENTS; ++i) {
        bool inside = i >= slice->begin && i < slice->end;
        float expected = inside ? filter(input + i, taps, shift, right) : untouched;
        ck_assert_msg(same_bits(output[i + 1], expected), "element %zu: expected %a, got %a", i,
                      (double)expected, (double)output[i + 1]);
    }
    ck_assert(same_bits(output[0], untouched) && same_bits(output[ELEMENTS + 1], untouched));
    free(exact);
}

START_TEST(path_equals_plain_loop)
{
    const struct slice *slice = &slices[_i];
    unsigned shift = (unsigned)(slice->shift % TAPS);
    fill(7);
    for (size_t p = 0; p < day17_reference_path_count; ++p) {
        const struct day17_reference_path *path = &day17_reference_paths[p];
        if (!path->usable()) {
            testing_count_skip(__func__, "this CPU has no %s", path->name);
            continue;
        }
        compare_path(path->narrow, 4, 0, slice);
        compare_path(path->wide, TAPS, 0, slice);
        compare_path(path->indexed, TAPS, shift, slice);
    }
    compare_path(day17_reference_narrow, 4, 0, slice);
    compare_path(day17_reference_wide, TAPS, 0, slice);
    compare_path(day17_reference_indexed, TAPS, shift, slice);
}
END_TEST

/* ---- What the decay must show ---- */

static double percent_changed(struct variant variant, unsigned shift)
{
    size_t changed = 0;
    for (size_t i = 0; i < ELEMENTS; ++i)
        changed += !same_bits(filter(input + i, TAPS, shift, right),
                              filter(input + i, TAPS, shift, variant));
    return 100.0 * (double)changed / ELEMENTS;
}

START_TEST(dropped_tap_is_seen)
{
    fill(_i + 100);
    for (unsigned shift = 0; shift < 2; ++shift) {
        struct variant no_sample = {_i, -1, false}, no_level = {-1, _i, false};
        ck_assert_double_ge(percent_changed(no_sample, shift), 99.0);
        ck_assert_double_ge(percent_changed(no_level, shift), 99.0);
    }
}
END_TEST

START_TEST(unfused_arithmetic_is_seen)
{
    fill(_i);
    struct variant unfused = {-1, -1, true};
    ck_assert_double_ge(percent_changed(unfused, 0), 50.0);
    ck_assert_double_ge(percent_changed(unfused, 7), 50.0);
}
END_TEST

/* fmaf() without FMA hardware must still round once: a pair where twice is not the same. */
START_TEST(fma_rounds_once)
{
    volatile float a = 0x1.001p+0f, b = 0x1p-80f;
    ck_assert(same_bits(fmaf(a, a, b), 0x1.002002p+0f));
}
END_TEST

Suite *suite_reference(void)
{
    Suite *suite = suite_create("reference");
    TCase *tests = tcase_create("reference");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, path_equals_plain_loop, 0, COUNT_OF(slices));
    tcase_add_loop_test(tests, dropped_tap_is_seen, 0, TAPS);
    tcase_add_loop_test(tests, unfused_arithmetic_is_seen, 0, 5);
    tcase_add_test(tests, fma_rounds_once);
    suite_add_tcase(suite, tests);
    return suite;
}

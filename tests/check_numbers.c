/* check_numbers.c - inputs, drawn arguments, the reference, the launches and their comparison. The
 * launches run on the emulator, in the real worker. */
#include "testing.h"

#include "numbers.h"
#include "support_lab.h"
#include "worker_process.h"

/* ---- Inputs ---------------------------------------------------------------------------------- */

START_TEST(inputs_are_reproducible)
{
    enum { COUNT = 20000 };
    static float whole[COUNT], part[COUNT], other[COUNT];
    numbers_fill_input(whole, COUNT, 17, 3);
    numbers_fill_input(part, 100, 17, 3);
    ck_assert_int_eq(memcmp(whole, part, 100 * sizeof(float)), 0);
    double sum = 0;
    for (size_t i = 0; i < COUNT; ++i) {
        ck_assert(whole[i] >= -1.0f && whole[i] < 1.0f);
        float steps = whole[i] * 0x1p23f;
        ck_assert(steps == (float)(int32_t)steps);
        sum += (double)whole[i];
    }
    ck_assert(sum / COUNT > -0.05 && sum / COUNT < 0.05);
    /* Another seed or group: hardly an element in common. */
    const struct {
        uint64_t seed, group;
    } others[] = {{18, 3}, {17, 4}, {0, 0}, {UINT64_MAX, 3}, {3, 17}};
    for (size_t k = 0; k < COUNT_OF(others); ++k) {
        size_t same = 0;
        numbers_fill_input(other, COUNT, others[k].seed, others[k].group);
        for (size_t i = 0; i < COUNT; ++i)
            same += whole[i] == other[i];
        ck_assert_uint_lt(same, 20);
    }
}
END_TEST

static struct numbers prepare(const struct lab *lab, uint64_t seed, size_t elements)
{
    struct numbers numbers;
    struct error err = {0};
    ck_assert_msg(numbers_prepare(&numbers, lab, seed, elements, &err) == 0, "%s", err.text);
    return numbers;
}

START_TEST(scalars_are_drawn_in_range)
{
    bool seen[44] = {false};
    size_t distinct = 0;
    for (uint64_t seed = 0; seed < 2000; ++seed) {
        struct numbers numbers = prepare(&support_lab, seed * 977, 1);
        int64_t drawn = numbers.cases[TINY_CASE_DRAWN].scalar;
        ck_assert(drawn >= -3 && drawn <= 40);
        distinct += !seen[drawn + 3];
        seen[drawn + 3] = true;
        ck_assert_int_eq(numbers.cases[TINY_CASE_PICK_AGAIN].scalar, 7);
        numbers_release(&numbers);
    }
    ck_assert_uint_eq(distinct, COUNT_OF(seen));
    struct numbers one = prepare(&support_lab, 5, 0), again = prepare(&support_lab, 5, 0);
    ck_assert_int_eq(one.cases[TINY_CASE_DRAWN].scalar, again.cases[TINY_CASE_DRAWN].scalar);
    numbers_release(&one);
    numbers_release(&again);
}
END_TEST

START_TEST(what_is_prepared)
{
    static const size_t elements[] = {0, 1, 63, 64, 65, 100000, 100001, 250007};
    struct numbers numbers = prepare(&support_lab, 17, elements[_i]);
    size_t full = elements[_i] == 0 ? 1000 : elements[_i];
    ck_assert_uint_eq(numbers.case_count, TINY_CASES);
    ck_assert_uint_eq(numbers.cases[TINY_CASE_TWICE].n, full);
    ck_assert_uint_eq(numbers.cases[TINY_CASE_PICK].n, full);
    ck_assert_uint_eq(numbers.cases[TINY_CASE_PICK_AGAIN].n, 77);
    /* Equal groups share an input, as long as its kernel may read; others have their own. */
    ck_assert_ptr_eq(numbers.cases[0].input, numbers.cases[1].input);
    ck_assert_ptr_ne(numbers.cases[1].input, numbers.cases[2].input);
    ck_assert(memcmp(numbers.cases[2].input, numbers.cases[3].input, 77 * sizeof(float)) != 0);
    for (size_t i = 0; i < TINY_CASES; ++i) {
        const struct case_data *data = &numbers.cases[i];
        ck_assert_uint_eq(data->input_count, data->n + 15);
        for (size_t k = 0; k < data->n; ++k) {
            float expected = i == TINY_CASE_TWICE ? 2.0f * data->input[k]
                                                  : data->input[k + ((uint64_t)data->scalar & 15)];
            ck_assert(data->expected[k] == expected);
        }
    }
    numbers_release(&numbers);
    numbers_release(&numbers);
}
END_TEST

/* ---- Launches -------------------------------------------------------------------------------- */

/* A target of this PTX, that only the emulator can run. */
static struct build_target target_of(const char *text)
{
    struct build_target target = {.arch = {.number = 75},
                                  .compiled = true,
                                  .module = support_parse(text),
                                  .image.assembled = true};
    target.ptx = bytes_with_limit((size_t)1 << 20);
    ck_assert_int_eq(bytes_append_text(&target.ptx, text), 0);
    return target;
}

static void release_target(struct build_target *target)
{
    ptx_free(target->module);
    bytes_release(&target->ptx);
}

static struct numbers_result run_as(const struct numbers *numbers,
                                    const struct build_target *target,
                                    const struct numbers_options *options)
{
    struct numbers_result result;
    struct error err = {0};
    struct audit audit;
    worker_process_use(testing_binary(), NULL);
    audit_judge(&audit, numbers->lab, target);
    ck_assert_msg(numbers_run(&result, numbers, target, &audit, options, &err) == 0, "%s",
                  err.text);
    ck_assert_uint_eq(result.outcome_count, numbers->case_count);
    return result;
}

static struct numbers_result run(const struct numbers *numbers, const struct build_target *target)
{
    return run_as(numbers, target,
                  &(struct numbers_options){
                      .executor = EXECUTOR_EMULATOR, .arch = {.number = 75}, .threads = 1});
}

START_TEST(right_kernels_pass)
{
    struct bytes ptx = testing_fixture("toolkit/tiny.ptx");
    struct build_target target = target_of(bytes_text(&ptx));
    for (uint64_t seed = 1; seed < 4; ++seed) {
        struct numbers numbers = prepare(&support_lab, seed, 0);
        struct numbers_result result = run(&numbers, &target);
        for (size_t i = 0; i < TINY_CASES; ++i) {
            const struct case_outcome *outcome = &result.outcomes[i];
            ck_assert_msg(outcome->status == CASE_EQUAL, "%s", outcome->problem);
            ck_assert(outcome->launch != NULL);
            ck_assert_uint_eq(outcome->compared, numbers.cases[i].n);
            ck_assert_uint_eq(outcome->mismatches, 0);
            ck_assert_str_eq(outcome->problem, "");
        }
        /* twice(x) is x nowhere but at 0. */
        ck_assert_int_ge(numbers_differ(&result, TINY_CASE_TWICE, TINY_CASE_PICK), 990);
        ck_assert_int_eq(numbers_differ(&result, TINY_CASE_PICK, TINY_CASE_PICK), 0);
        ck_assert_int_eq(numbers_differ(&result, TINY_CASE_PICK, TINY_CASE_DRAWN), -1);
        numbers_result_release(&result);
        numbers_release(&numbers);
    }
    release_target(&target);
    bytes_release(&ptx);
}
END_TEST

/* ---- Comparing ------------------------------------------------------------------------------- */

static uint32_t reference_bits;

static void reference_constant(const struct reference_call *call)
{
    for (size_t i = call->begin; i < call->end; ++i)
        memcpy(&call->output[i], &reference_bits, sizeof reference_bits);
}

static const struct lab_argument constant_arguments[] = {
    {.name = "in", .role = ARGUMENT_INPUT, .type = SCALAR_F32},
    {.name = "out", .role = ARGUMENT_OUTPUT, .type = SCALAR_F32},
    {.name = "n", .role = ARGUMENT_COUNT, .type = SCALAR_U64},
};
static const struct lab_kernel constant_kernels[] = {
    {"twice", constant_arguments, 3, 64, reference_constant}};
static const struct lab_case constant_cases[] = {{.n = 131}};
static const struct lab constant_lab = {.id = "constant",
                                        .source_name = "constant.cu",
                                        .kernels = constant_kernels,
                                        .kernel_count = 1,
                                        .cases = constant_cases,
                                        .case_count = 1};

/* A kernel that writes one pattern to element `odd` and another to the rest. `more` is put in front
 * of its end, for other deeds. */
static struct build_target writer_target(uint32_t odd_bits, uint64_t odd, uint32_t bits,
                                         const char *more)
{
    char text[3000];
    int length = snprintf(
        text, sizeof text,
        PTX_HEADER
        ".visible .entry _Z5twicePKfPfm(.param .u64 a, .param .u64 b, .param .u64 c)\n"
        "{\n .reg .pred %%p<4>; .reg .b32 %%r<4>; .reg .b64 %%rd<10>;\n"
        " ld.param.u64 %%rd1, [b]; ld.param.u64 %%rd2, [c]; ld.param.u64 %%rd8, [a];\n"
        " mov.u32 %%r1, %%ctaid.x; mul.wide.u32 %%rd3, %%r1, 64; mov.u32 %%r2, %%tid.x;\n"
        " cvt.u64.u32 %%rd4, %%r2; add.s64 %%rd5, %%rd3, %%rd4;\n"
        " setp.ge.u64 %%p1, %%rd5, %%rd2; @%%p1 bra DONE;\n"
        " shl.b64 %%rd6, %%rd5, 2; add.s64 %%rd7, %%rd1, %%rd6; add.s64 %%rd9, %%rd8, %%rd6;\n"
        " mov.b32 %%r3, %u; setp.eq.u64 %%p2, %%rd5, %llu; @%%p2 mov.b32 %%r3, %u;\n"
        " st.global.b32 [%%rd7], %%r3;\n %s\nDONE: ret;\n}\n",
        bits, (unsigned long long)odd, odd_bits, more);
    ck_assert(length > 0 && (size_t)length < sizeof text);
    return target_of(text);
}

#define ONE 0x3F800000u
#define TWO 0x40000000u
#define ZERO 0u
#define MINUS_ZERO 0x80000000u
#define QUIET 0x7FC00000u
#define OTHER_NAN 0xFFC12345u
#define SIGNALLING 0x7F800001u
#define INFINITE 0x7F800000u
#define MINUS_INFINITE 0xFF800000u
#define TINIEST 1u

/* clang-format off */
static const struct {
    uint32_t expected, got;
    bool equal;
} comparisons[] = {
    {ONE, ONE, true}, {ONE, TWO, false}, {ONE, ONE + 1, false}, {ZERO, ZERO, true},
    {ZERO, MINUS_ZERO, false}, {MINUS_ZERO, ZERO, false}, {MINUS_ZERO, MINUS_ZERO, true},
    {ZERO, TINIEST, false}, {TINIEST, TINIEST, true},
    {INFINITE, INFINITE, true}, {INFINITE, MINUS_INFINITE, false}, {ONE, INFINITE, false},
    /* a NaN never passes unless one was expected; its payload is nobody's business */
    {ONE, QUIET, false}, {ONE, OTHER_NAN, false}, {ZERO, SIGNALLING, false}, {INFINITE, QUIET, false},
    {QUIET, ONE, false}, {QUIET, ZERO, false}, {QUIET, INFINITE, false},
    {QUIET, QUIET, true}, {QUIET, OTHER_NAN, true}, {SIGNALLING, QUIET, true},
};
/* clang-format on */

START_TEST(bits_are_compared)
{
    reference_bits = comparisons[_i].expected;
    struct numbers numbers = prepare(&constant_lab, 1, 0);
    struct build_target target = writer_target(comparisons[_i].got, 77, reference_bits, "");
    struct numbers_result result = run(&numbers, &target);
    const struct case_outcome *outcome = &result.outcomes[0];
    ck_assert_msg(outcome->status == (comparisons[_i].equal ? CASE_EQUAL : CASE_WRONG), "%s",
                  outcome->problem);
    ck_assert_uint_eq(outcome->compared, 131);
    ck_assert_uint_eq(outcome->mismatches, comparisons[_i].equal ? 0 : 1);
    if (!comparisons[_i].equal) {
        ck_assert_uint_eq(outcome->first_index, 77);
        ck_assert_uint_eq(outcome->expected_bits, comparisons[_i].expected);
        ck_assert_uint_eq(outcome->got_bits, comparisons[_i].got);
        ck_assert_msg(strstr(outcome->problem, "1 of 131 elements differ") != NULL &&
                          strstr(outcome->problem, "element 77 (block 1, thread 13)") != NULL,
                      "%s", outcome->problem);
    }
    numbers_result_release(&result);
    numbers_release(&numbers);
    release_target(&target);
}
END_TEST

START_TEST(every_mismatch_is_counted)
{
    reference_bits = ONE;
    struct numbers numbers = prepare(&constant_lab, 1, 0);
    struct build_target target = writer_target(ONE, 0, TWO, "");
    struct numbers_result result = run(&numbers, &target);
    ck_assert_uint_eq(result.outcomes[0].mismatches, 130);
    ck_assert_uint_eq(result.outcomes[0].first_index, 1);
    numbers_result_release(&result);
    numbers_release(&numbers);
    release_target(&target);
}
END_TEST

/* What a kernel may do besides computing. */
static const struct {
    const char *deed;
    enum case_status status;
    const char *problem;
} deeds[] = {
    {"", CASE_EQUAL, ""},
    {"st.global.b32 [%rd9], %r3;", CASE_WRONG, "writes into its input `in` (first at byte 0)"},
    {"trap;", CASE_WRONG, "trap"},
    {"st.global.b32 [%rd7+524], %r3;", CASE_WRONG, "out"},
    {"ld.global.b32 %r1, [%rd9+524];", CASE_WRONG, "in"},
    {"frobnicate.b32 %r1, %r2;", CASE_SKIPPED, "frobnicate"},
    {"// begin inline asm\nfrobnicate.b32 %r1, %r2;\n// end inline asm\n", CASE_WRONG,
     "frobnicate"},
};

START_TEST(deed)
{
    reference_bits = ONE;
    struct numbers numbers = prepare(&constant_lab, 1, 0);
    struct build_target target = writer_target(ONE, 0, ONE, deeds[_i].deed);
    struct numbers_result result = run(&numbers, &target);
    ck_assert_msg(result.outcomes[0].status == deeds[_i].status, "%s", result.outcomes[0].problem);
    ck_assert_msg(strstr(result.outcomes[0].problem, deeds[_i].problem) != NULL, "%s",
                  result.outcomes[0].problem);
    numbers_result_release(&result);
    numbers_release(&numbers);
    release_target(&target);
}
END_TEST

/* ---- What is not launched -------------------------------------------------------------------- */

START_TEST(what_is_not_launched)
{
    static const struct {
        const char *text;
        enum case_status status; /* of pick's first case */
        const char *problem;
    } rows[] = {
        {PTX_HEADER PTX_TWICE, CASE_WRONG, "there is no kernel called pick"},
        {PTX_HEADER PTX_TWICE PTX_PICK_HEAD ".maxntid 32, 1, 1 { ret; }\n", CASE_WRONG,
         "pick is bounded to 32 threads a block but launched with 64"},
        {PTX_HEADER PTX_TWICE PTX_PICK_HEAD ".reqntid 128, 1, 1 { ret; }\n", CASE_WRONG,
         "bounded to 128 threads"},
    };
    struct numbers numbers = prepare(&support_lab, 1, 100);
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct build_target target = target_of(rows[i].text);
        struct numbers_result result = run(&numbers, &target);
        for (size_t k = TINY_CASE_PICK; k < TINY_CASES; ++k) {
            ck_assert_int_eq(result.outcomes[k].status, rows[i].status);
            ck_assert(result.outcomes[k].launch == NULL);
            ck_assert_msg(strstr(result.outcomes[k].problem, rows[i].problem) != NULL, "%s",
                          result.outcomes[k].problem);
        }
        ck_assert(result.outcomes[TINY_CASE_TWICE].launch != NULL);
        numbers_result_release(&result);
        release_target(&target);
    }
    numbers_release(&numbers);
}
END_TEST

START_TEST(bounds_that_allow_the_launch)
{
    static const char *const bounds[] = {".maxntid 64, 1, 1", ".maxntid 16, 4, 1",
                                         ".maxntid 1024, 1, 1", ".reqntid 64, 1, 1"};
    struct numbers numbers = prepare(&support_lab, 1, 100);
    for (size_t i = 0; i < COUNT_OF(bounds); ++i) {
        char text[1000];
        (void)snprintf(text, sizeof text, PTX_HEADER PTX_TWICE PTX_PICK_HEAD "%s { ret; }\n",
                       bounds[i]);
        struct build_target target = target_of(text);
        struct numbers_result result = run(&numbers, &target);
        ck_assert_msg(result.outcomes[TINY_CASE_PICK].launch != NULL, "%s: %s", bounds[i],
                      result.outcomes[TINY_CASE_PICK].problem);
        numbers_result_release(&result);
        release_target(&target);
    }
    numbers_release(&numbers);
}
END_TEST

START_TEST(without_a_build_or_an_executor)
{
    struct numbers numbers = prepare(&support_lab, 1, 100);
    struct build_target target = {.problem = "it does not compile"};
    struct numbers_result result = run(&numbers, &target);
    for (size_t i = 0; i < TINY_CASES; ++i) {
        ck_assert_int_eq(result.outcomes[i].status, CASE_WRONG);
        ck_assert_str_eq(result.outcomes[i].problem, "tiny.cu: it does not compile");
    }
    numbers_result_release(&result);
    target = target_of(PTX_HEADER PTX_TWICE);
    target.image.assembled = false;
    (void)snprintf(target.image.problem, sizeof target.image.problem, "ptxas refuses it");
    result = run(&numbers, &target);
    for (size_t i = 0; i < TINY_CASES; ++i) {
        ck_assert_int_eq(result.outcomes[i].status, CASE_WRONG);
        ck_assert_str_eq(result.outcomes[i].problem, "ptxas refuses it");
    }
    numbers_result_release(&result);
    target.image.assembled = true;
    const struct numbers_options none = {.executor = EXECUTOR_NONE};
    result = run_as(&numbers, &target, &none);
    ck_assert_int_eq(result.outcomes[TINY_CASE_TWICE].status, CASE_SKIPPED);
    ck_assert_ptr_nonnull(strstr(result.outcomes[TINY_CASE_TWICE].problem, "--executor none"));
    ck_assert_int_eq(result.outcomes[TINY_CASE_PICK].status, CASE_WRONG); /* there is none */
    ck_assert_int_eq(numbers_differ(&result, TINY_CASE_TWICE, TINY_CASE_PICK), -1);
    numbers_result_release(&result);
    release_target(&target);
    numbers_release(&numbers);
}
END_TEST

Suite *suite_numbers(void)
{
    Suite *suite = suite_create("numbers");
    TCase *tests = tcase_create("numbers");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, inputs_are_reproducible);
    tcase_add_test(tests, scalars_are_drawn_in_range);
    tcase_add_loop_test(tests, what_is_prepared, 0, 8);
    tcase_add_test(tests, right_kernels_pass);
    tcase_add_loop_test(tests, bits_are_compared, 0, COUNT_OF(comparisons));
    tcase_add_test(tests, every_mismatch_is_counted);
    tcase_add_loop_test(tests, deed, 0, COUNT_OF(deeds));
    tcase_add_test(tests, what_is_not_launched);
    tcase_add_test(tests, bounds_that_allow_the_launch);
    tcase_add_test(tests, without_a_build_or_an_executor);
    suite_add_tcase(suite, tests);
    return suite;
}

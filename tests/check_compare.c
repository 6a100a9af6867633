/* check_compare.c - `spillway compare`: the tables, the JSON, and the command. */
#include "testing.h"

#include <jansson.h>

#include "out_compare.h"
#include "support_lab.h"

/* ---- The tables, from made-up rows ---- */

static struct grade_kernel row(unsigned arch, int64_t registers, int64_t frame, int64_t spilled,
                               int64_t blocks)
{
    return (struct grade_kernel){.name = "twice",
                                 .arch = {.number = arch},
                                 .known = true,
                                 .registers = registers,
                                 .stack_bytes = frame,
                                 .spill_store_bytes = spilled,
                                 .spill_load_bytes = spilled,
                                 .blocks_per_sm = blocks,
                                 .occupancy_percent = blocks < 0 ? -1 : 12.5};
}

static void expect_table(const struct grade_kernel *rows, size_t count,
                         const struct out_compare_options *options, const char *said)
{
    struct grade grade = {.lab = &support_lab,
                          .source_path = (char *)(uintptr_t) "tiny.cu",
                          .nvcc_version = "12.2.1",
                          .kernels = (struct grade_kernel *)(uintptr_t)rows,
                          .kernel_count = count};
    struct bytes page = bytes_with_limit(100000);
    out_compare_text(&page, &grade, options);
    ck_assert(!page.failed);
    ck_assert_msg(strstr(bytes_text(&page), said) != NULL, "\"%s\" is not in:\n%s", said,
                  bytes_text(&page));
    size_t column = 0;
    for (const char *c = bytes_text(&page); *c != '\0'; ++c) {
        column = *c == '\n' ? 0 : column + 1;
        ck_assert_uint_le(column, 80);
    }
    bytes_release(&page);
}

START_TEST(tables_lie_side_by_side)
{
    const struct out_compare_options all = {0}, none = {.kernel = "pick"};
    const struct grade_kernel differ[] = {row(75, 72, 256, 0, 3), row(90, 32, 256, 8, 8)};
    expect_table(differ, 2, &all,
                 "twice               regs   frame  spill st     ld   blk/SM   occ %\n");
    expect_table(differ, 2, &all,
                 "  T4       sm_75      72     256         0      0        3    12.5\n");
    expect_table(differ, 2, &all,
                 "  H100     sm_90      32     256         8      8        8    12.5\n");
    expect_table(
        differ, 2, &all,
        "From card to card: 32 to 72 registers, 0 to 16 bytes spilled, 3 to 8 blocks\n  per SM.\n");
    const struct grade_kernel same[] = {row(75, 10, 0, 0, 4), row(86, 10, 0, 0, 4)};
    expect_table(same, 2, &all, "the same on every card");
    const struct grade_kernel odd[] = {row(77, 10, 0, 0, -1)};
    expect_table(odd, 1, &all,
                 "           sm_77      10       0         0      0        -       -\n");
    struct grade_kernel unknown = row(75, 1, 1, 1, 1);
    unknown.known = false;
    (void)snprintf(unknown.problem, sizeof unknown.problem, "it is not there");
    expect_table(&unknown, 1, &all, "  T4       sm_75   it is not there\n");
    expect_table(differ, 2, &none, "nothing is run\n");
    const struct arch left[] = {{.number = 100}};
    const struct out_compare_options old = {.left_out = left, .left_out_count = 1};
    expect_table(same, 2, &old, "B200 (sm_100) is left out: nvcc 12.2.1 does not compile for it\n");
}
END_TEST

START_TEST(cards_have_names)
{
    ck_assert_uint_eq(card_count, 6);
    for (size_t i = 0; i < card_count; ++i)
        ck_assert_str_ne(card_name(card_archs[i]), "");
    ck_assert_str_eq(card_name((struct arch){.number = 75}), "T4");
    ck_assert_str_eq(card_name((struct arch){.number = 121}), "");
}
END_TEST

/* ---- The command ---- */

static const struct {
    const char *arguments[5];
    int status;
    const char *said;
} usage_rows[] = {
    {{"compare", "--help"}, 0, "usage: spillway compare"},
    {{"compare", "a", "b"}, 2, "one folder at a time"},
    {{"compare", "no-such-folder"}, 2, "there is no folder"},
    {{"compare", "--arch", "t4"}, 2, "names like sm_75"},
    {{"compare", "starter/day17-registers", "--kernel", "decay"}, 2, "are decayNarrow, decayWide,"},
};

START_TEST(usage_row)
{
    const char *arguments[6] = {NULL};
    for (size_t i = 0; i < 5; ++i)
        arguments[i] = usage_rows[_i].arguments[i];
    struct process_result result = testing_spillway(arguments, NULL);
    const struct bytes *stream = usage_rows[_i].status == 0 ? &result.output : &result.error;
    ck_assert_int_eq(result.exit_code, usage_rows[_i].status);
    ck_assert_msg(strstr(bytes_text(stream), usage_rows[_i].said) != NULL, "%s",
                  bytes_text(stream));
    process_result_release(&result);
}
END_TEST

static json_t *run_json(const char *const *arguments)
{
    struct process_result result = testing_spillway(arguments, NULL);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    json_t *root = json_loads(bytes_text(&result.output), 0, NULL);
    ck_assert_ptr_nonnull(root);
    process_result_release(&result);
    return root;
}

/* What compare shows is what grade finds. */
START_TEST(numbers_are_those_of_a_grade)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    static const char *const keys[] = {"registers",        "stack_bytes",   "spill_store_bytes",
                                       "spill_load_bytes", "blocks_per_sm", "occupancy_percent"};
    const char *const compare[] = {"compare", "reference/day17-registers", "--json", NULL};
    const char *const grade[] = {"grade",      "reference/day17-registers",
                                 "--arch",     "sm_75,sm_80,sm_86,sm_89,sm_90",
                                 "--executor", "none",
                                 "--json",     "-",
                                 NULL};
    json_t *compared = run_json(compare), *graded = run_json(grade);
    ck_assert_str_eq(json_string_value(json_object_get(compared, "schema")), "spillway/compare/v1");
    json_t *rows = json_object_get(compared, "rows"), *kernels = json_object_get(graded, "kernels");
    size_t met = 0, i, k;
    json_t *one, *other;
    json_array_foreach(kernels, i, one)
    {
        json_array_foreach(rows, k, other)
        {
            if (!json_equal(json_object_get(one, "name"), json_object_get(other, "kernel")) ||
                !json_equal(json_object_get(one, "arch"), json_object_get(other, "arch")))
                continue;
            ++met;
            for (size_t key = 0; key < COUNT_OF(keys); ++key)
                ck_assert_msg(
                    json_equal(json_object_get(one, keys[key]), json_object_get(other, keys[key])),
                    "%s", keys[key]);
        }
    }
    ck_assert_uint_eq(met, 5 * 4);
    json_decref(compared);
    json_decref(graded);
}
END_TEST

Suite *suite_compare(void)
{
    Suite *suite = suite_create("compare");
    TCase *tests = tcase_create("compare");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, tables_lie_side_by_side);
    tcase_add_test(tests, cards_have_names);
    tcase_add_loop_test(tests, usage_row, 0, COUNT_OF(usage_rows));
    tcase_add_test(tests, numbers_are_those_of_a_grade);
    suite_add_tcase(suite, tests);
    return suite;
}

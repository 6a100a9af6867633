/* check_cmd_occupancy.c - `spillway occupancy` through the real program. */
#include "testing.h"

#include <jansson.h>

#define MOST_ARGUMENTS 16

/* clang-format off */
static const struct page {
    const char *arguments[MOST_ARGUMENTS];
    const char *words[8]; /* each is in the output */
} pages[] = {
    {{"--arch", "sm_75", "--regs", "65", "--threads", "256"},
     {"blocks      3 an SM\n", "threads     768 of 1,024\n", "occupancy   75.0%\n", "limited by  registers\n",
      "\n65 registers are allocated as 72; 72 x 256 = 18,432; 65,536 / 18,432 = 3 blocks\n",
      "next        at 64 registers: 4 blocks\n"}},
    {{"--arch", "sm_75", "--regs", "64", "--threads", "256"},
     {"blocks      4 an SM\n", "occupancy   100.0%\n", "limited by  threads and registers\n",
      "fewer registers alone would gain no block\n"}},
    {{"--arch", "80", "--regs", "80", "--threads=160"},
     {"sm_80: ", "blocks      4 an SM\n", "\nsub-partitions has 16,384, room for 6 warps; 4 x 6 / 5 warps a block = 4 blocks\n"}},
    {{"--arch", "8.0", "--regs", "65", "--threads", "1024"},
     {"blocks      0 an SM: a launch would be refused\n", "72 x 1024 = 73,728, more than the 65,536 that\na block may have\n", "at 64 registers: 1 block\n"}},
    {{"--arch", "sm_90a", "--regs", "32", "--threads", "128", "--shared", "0xea60"},
     {"shared      60,000 bytes and 1,024 that the system reserves, in units of 128,", "cudaFuncAttributeMaxDynamicSharedMemorySize",
      "limited by  shared memory\n"}},
    {{"--arch", "sm_120", "--regs", "32", "--threads", "64", "--barriers", "2"},
     {"blocks      12 an SM\n", "limited by  barriers\n"}},
    {{"--help"}, {"usage: spillway occupancy", "--threads 256", "Exit status"}},
};

static const struct refusal {
    const char *arguments[MOST_ARGUMENTS];
    const char *words; /* in the one line on standard error */
} refusals[] = {
    {{NULL}, "--arch is missing"},
    {{"--arch", "sm_75"}, "--regs is missing"},
    {{"--arch", "sm_75", "--regs", "65"}, "--threads is missing"},
    {{"--arch", "sm_99", "--regs", "65", "--threads", "256"}, "\"sm_99\"; known are sm_50"},
    {{"--arch", "T4", "--regs", "65", "--threads", "256"}, "\"T4\""},
    {{"--arch", "sm_75", "--regs", "256", "--threads", "256"}, "from 0 to 255"},
    {{"--arch", "sm_75", "--regs", "-1", "--threads", "256"}, "\"-1\""},
    {{"--arch", "sm_75", "--regs", "65", "--threads", "0"}, "from 1 to 1024"},
    {{"--arch", "sm_75", "--regs", "65", "--threads", "1025"}, "from 1 to 1024"},
    {{"--arch", "sm_75", "--regs", "65 ", "--threads", "256"}, "\"65 \""},
    {{"--arch", "sm_75", "--regs", "99999999999999999999999", "--threads", "256"}, "from 0 to 255"},
    {{"--arch", "sm_75", "--regs", "65", "--threads", "256", "--shared", "65537"}, "from 0 to 65536"},
    {{"--arch", "sm_75", "--regs", "65", "--threads", "256", "--barriers", "17"}, "from 0 to 16"},
    {{"--arch", "sm_75", "--regs", "\x1b[31m", "--threads", "256"}, "\"?[31m\""},
    {{"--regs"}, "--regs needs a value"},
    {{"--registers", "3"}, "there is no option --registers"},
    {{"--arch", "sm_75", "kernel.cu"}, "\"kernel.cu\" is no option"},
};
/* clang-format on */

static struct process_result run(const char *const *arguments)
{
    const char *all[MOST_ARGUMENTS + 2] = {"occupancy"};
    for (size_t i = 0; i < MOST_ARGUMENTS && arguments[i] != NULL; ++i)
        all[i + 1] = arguments[i];
    return testing_spillway(all, NULL);
}

START_TEST(test_pages)
{
    const struct page *row = &pages[_i];
    struct process_result result = run(row->arguments);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_str_eq(bytes_text(&result.error), "");
    const char *text = bytes_text(&result.output);
    for (size_t i = 0; i < COUNT_OF(row->words) && row->words[i] != NULL; ++i)
        ck_assert_msg(strstr(text, row->words[i]) != NULL, "\"%s\" is not in\n%s", row->words[i],
                      text);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 82, "too wide: %s", line); /* … is 3 bytes */
    process_result_release(&result);
}
END_TEST

START_TEST(test_refusals)
{
    const struct refusal *row = &refusals[_i];
    struct process_result result = run(row->arguments);
    ck_assert_int_eq(result.exit_code, 2);
    ck_assert_str_eq(bytes_text(&result.output), "");
    const char *text = bytes_text(&result.error);
    ck_assert_msg(strstr(text, row->words) != NULL, "%s", text);
    ck_assert_msg(strchr(text, '\n') == text + strlen(text) - 1, "not one line: %s", text);
    process_result_release(&result);
}
END_TEST

static json_int_t integer(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s is no integer", key);
    return json_integer_value(value);
}

START_TEST(test_json)
{
    static const char *const arguments[] = {"--json",    "--arch", "sm_75",    "--regs", "65",
                                            "--threads", "256",    "--shared", "128",    NULL};
    struct process_result result = run(arguments);
    ck_assert_int_eq(result.exit_code, 0);
    json_t *root =
        json_loadb(result.output.data, result.output.length, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), "spillway/occupancy/v1");
    ck_assert_str_eq(json_string_value(json_object_get(root, "arch")), "sm_75");
    ck_assert_int_eq(integer(root, "blocks"), 3);
    ck_assert_int_eq(integer(root, "threads"), 768);
    ck_assert_int_eq(integer(root, "registers_allocated"), 72);
    ck_assert_double_eq(json_real_value(json_object_get(root, "percent")), 75.0);
    const json_t *limits = json_object_get(root, "limited_by");
    ck_assert_uint_eq(json_array_size(limits), 1);
    ck_assert_str_eq(json_string_value(json_array_get(limits, 0)), "registers");
    const json_t *kernel = json_object_get(root, "kernel");
    ck_assert_int_eq(integer(kernel, "shared_bytes"), 128);
    const json_t *by = json_object_get(root, "blocks_by");
    ck_assert_int_eq(integer(by, "threads"), 4);
    ck_assert_int_eq(integer(by, "shared"), 256);
    ck_assert(json_is_null(json_object_get(by, "barriers")));
    const json_t *next = json_object_get(root, "next");
    ck_assert_int_eq(integer(next, "registers"), 64);
    ck_assert_int_eq(integer(next, "blocks"), 4);
    ck_assert_int_eq(integer(json_object_get(root, "sm"), "registers"), 65536);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(root, "arithmetic")), "18,432"));
    json_decref(root);
    process_result_release(&result);
}
END_TEST

/* What nothing can gain is null, not 0. */
START_TEST(test_json_without_next)
{
    static const char *const arguments[] = {"--json", "--arch",    "sm_75", "--regs",
                                            "64",     "--threads", "256",   NULL};
    struct process_result result = run(arguments);
    json_t *root = json_loadb(result.output.data, result.output.length, 0, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert(json_is_null(json_object_get(root, "next")));
    ck_assert_uint_eq(json_array_size(json_object_get(root, "limited_by")), 2);
    json_decref(root);
    process_result_release(&result);
}
END_TEST

Suite *suite_cmd_occupancy(void)
{
    Suite *suite = suite_create("cmd_occupancy");
    TCase *tests = tcase_create("occupancy");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, test_pages, 0, COUNT_OF(pages));
    tcase_add_loop_test(tests, test_refusals, 0, COUNT_OF(refusals));
    tcase_add_test(tests, test_json);
    tcase_add_test(tests, test_json_without_next);
    suite_add_tcase(suite, tests);
    return suite;
}

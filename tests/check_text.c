/* check_text.c - sanitising, UTF-8, checked numbers, architecture names, byte buffers. */
#include "testing.h"

#include "arch.h"
#include "number.h"
#include "text.h"

static const struct {
    const char *input;
    size_t length, room;
    const char *expected;
} sanitize_rows[] = {
    {"plain", 5, 100, "plain"},
    {"", 0, 10, ""},
    {"a\x1b[31mred", 9, 100, "a?[31mred"},
    {"two\nlines\tand", 13, 100, "two lines and"},
    {"nul\0byte", 8, 100, "nul?byte"},
    {"mark\xd8\x9cx", 7, 100, "mark?x"},
    {"hidden\xe2\x80\x8bx", 10, 100, "hidden?x"},
    {"tag\xf3\xa0\x81\x81x", 8, 100, "tag?x"},
    {"none\xef\xbf\xbfx", 8, 100, "none?x"},
    {"\xc3\xa9t\xc3\xa9", 5, 100, "\xc3\xa9t\xc3\xa9"},
    {"bad \xff\xfe!", 7, 100, "bad ?\?!"},
    {"overlong \xc0\xaf", 11, 100, "overlong ??"},
    {"surrogate \xed\xa0\x80", 13, 100, "surrogate ???"},
    {"cut \xe2\x82", 6, 100, "cut ??"},
    {"\xe2\x80\xaegnp.exe", 10, 100, "?gnp.exe"},
    {"\xc2\x9b"
     "31m",
     5, 100, "?31m"},
    {"exactly ten", 11, 11, "exactly ten"},
    {"a long line that is cut", 23, 10, "a long \xe2\x80\xa6"},
    {"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 9, 7, "\xe2\x82\xac\xe2\x80\xa6"},
};

START_TEST(sanitize_row)
{
    struct bytes out = bytes_with_limit(1000);
    text_sanitize(&out, sanitize_rows[_i].input, sanitize_rows[_i].length, sanitize_rows[_i].room);
    ck_assert_str_eq(bytes_text(&out), sanitize_rows[_i].expected);
    ck_assert(text_is_utf8(bytes_text(&out), out.length));
    bytes_release(&out);
}
END_TEST

START_TEST(sanitize_keeps_lines_when_asked)
{
    struct bytes out = bytes_with_limit(100);
    text_sanitize_lines(&out, "a\n\tb\r", 5, 100);
    ck_assert_str_eq(bytes_text(&out), "a\n\tb?");
    bytes_release(&out);
}
END_TEST

static const struct {
    const char *text;
    uint64_t max;
    bool ok;
    uint64_t value;
} unsigned_rows[] = {
    {"0", 10, true, 0},
    {"10", 10, true, 10},
    {"11", 10, false, 0},
    {"", 10, false, 0},
    {" 1", 10, false, 0},
    {"1 ", 10, false, 0},
    {"+1", 10, false, 0},
    {"-1", 10, false, 0},
    {"0x40", 100, true, 64},
    {"0X4f", 100, true, 79},
    {"0x", 100, false, 0},
    {"18446744073709551615", UINT64_MAX, true, UINT64_MAX},
    {"18446744073709551616", UINT64_MAX, false, 0},
    {"99999999999999999999999", UINT64_MAX, false, 0},
    {"0xffffffffffffffff", UINT64_MAX, true, UINT64_MAX},
    {"0x1ffffffffffffffff", UINT64_MAX, false, 0},
    {"1e3", 10000, false, 0},
};

START_TEST(unsigned_row)
{
    uint64_t value = 4711;
    bool ok = number_parse_u64(unsigned_rows[_i].text, unsigned_rows[_i].max, &value);
    ck_assert_int_eq(ok, unsigned_rows[_i].ok);
    ck_assert_uint_eq(value, ok ? unsigned_rows[_i].value : 4711);
}
END_TEST

START_TEST(signed_limits)
{
    int64_t value = 0;
    ck_assert(number_parse_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &value));
    ck_assert_int_eq(value, INT64_MIN);
    ck_assert(number_parse_i64("9223372036854775807", INT64_MIN, INT64_MAX, &value));
    ck_assert_int_eq(value, INT64_MAX);
    ck_assert(!number_parse_i64("9223372036854775808", INT64_MIN, INT64_MAX, &value));
    ck_assert(!number_parse_i64("-9223372036854775809", INT64_MIN, INT64_MAX, &value));
    ck_assert(!number_parse_i64("--1", INT64_MIN, INT64_MAX, &value));
    ck_assert(!number_parse_i64("-", INT64_MIN, INT64_MAX, &value));
    ck_assert(!number_parse_i64("-5", -4, 4, &value));
}
END_TEST

START_TEST(arrays_are_cleaned_in_place)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {{"", ""},
                {"plain", "plain"},
                {"a\x1b[1m\nb\tc", "a?[1m b c"},
                {"cut\xc3", "cut?"},
                {"cut\xe2\x80", "cut??"},
                {"\xe2\x80\xaex\xc3\xa9", "?x\xc3\xa9"}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char text[32];
        (void)snprintf(text, sizeof text, "%s", rows[i].text);
        text_clean(text);
        ck_assert_str_eq(text, rows[i].expected);
    }
}
END_TEST

static const struct {
    const char *text;
    bool ok;
    unsigned number;
    char suffix;
} arch_rows[] = {
    {"sm_75", true, 75, 0},   {"compute_75", true, 75, 0}, {"75", true, 75, 0},
    {"7.5", true, 75, 0},     {"SM_90A", true, 90, 'a'},   {"sm_100f", true, 100, 'f'},
    {"12.0", true, 120, 0},   {"sm_121", true, 121, 0},    {"", false, 0, 0},
    {"sm_", false, 0, 0},     {"sm_7", false, 0, 0},       {"sm_75b", false, 0, 0},
    {"sm_75aa", false, 0, 0}, {"7.", false, 0, 0},         {".5", false, 0, 0},
    {"7.55", false, 0, 0},    {"7..5", false, 0, 0},       {"sm_9999", false, 0, 0},
    {"sm_-75", false, 0, 0},  {"turing", false, 0, 0},     {"sm_75 ", false, 0, 0},
};

START_TEST(arch_row)
{
    struct arch arch = {0};
    ck_assert_int_eq(arch_parse(arch_rows[_i].text, &arch), arch_rows[_i].ok);
    ck_assert_uint_eq(arch.number, arch_rows[_i].number);
    ck_assert_int_eq(arch.suffix, arch_rows[_i].suffix);
}
END_TEST

START_TEST(arch_names)
{
    char buffer[ARCH_NAME_BYTES];
    ck_assert_str_eq(arch_name((struct arch){.number = 90, .suffix = 'a'}, "sm_", buffer),
                     "sm_90a");
    ck_assert_str_eq(arch_name((struct arch){.number = 120}, "compute_", buffer), "compute_120");
}
END_TEST

START_TEST(numbers_for_people)
{
    char buffer[TEXT_NUMBER_BYTES];
    ck_assert_str_eq(text_number(0, buffer), "0");
    ck_assert_str_eq(text_number(999, buffer), "999");
    ck_assert_str_eq(text_number(1049187, buffer), "1,049,187");
    ck_assert_str_eq(text_number(UINT64_MAX, buffer), "18,446,744,073,709,551,615");
}
END_TEST

START_TEST(bytes_keep_their_limit)
{
    struct bytes b = bytes_with_limit(5);
    ck_assert_int_eq(bytes_append_text(&b, "12345"), 0);
    ck_assert_int_eq(bytes_append_text(&b, "6"), -1);
    ck_assert(b.failed);
    ck_assert_str_eq(bytes_text(&b), "12345");
    ck_assert_ptr_null(bytes_take(&b));
    bytes_clear(&b);
    ck_assert_int_eq(bytes_printf(&b, "%d", 99), 0);
    AUTO_FREE char *taken = bytes_take(&b);
    ck_assert_str_eq(taken, "99");
    bytes_release(&b);
}
END_TEST

Suite *suite_text(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");
    tcase_add_loop_test(tests, sanitize_row, 0, COUNT_OF(sanitize_rows));
    tcase_add_test(tests, sanitize_keeps_lines_when_asked);
    tcase_add_test(tests, arrays_are_cleaned_in_place);
    tcase_add_loop_test(tests, unsigned_row, 0, COUNT_OF(unsigned_rows));
    tcase_add_test(tests, signed_limits);
    tcase_add_loop_test(tests, arch_row, 0, COUNT_OF(arch_rows));
    tcase_add_test(tests, arch_names);
    tcase_add_test(tests, numbers_for_people);
    tcase_add_test(tests, bytes_keep_their_limit);
    suite_add_tcase(suite, tests);
    return suite;
}

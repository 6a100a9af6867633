/* check_answers.c - answers.ini in every shape that people and editors give it. */
#include "testing.h"

#include "answers.h"
#include "text.h"

static struct answers parse(const char *text, size_t length)
{
    struct answers answers;
    struct error err = {0};
    ck_assert_msg(answers_parse(&answers, text, length, &err) == 0, "%s", err.text);
    ck_assert(answers.usable);
    return answers;
}

static bool has_problem(const struct answers *answers, const char *words)
{
    for (size_t i = 0; i < answers->problem_count; ++i)
        if (strstr(answers->problems[i], words) != NULL)
            return true;
    return false;
}

#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define BYTES(text) text, sizeof(text) - 1

/* clang-format off */
/* What [registers] wide comes to ("(none)": not given, "(twice)": a duplicate), and its line. */
static const struct {
    const char *text;
    size_t length;
    const char *value;
    unsigned line;
    const char *problem; /* part of one; NULL: there is none */
} shapes[] = {
    {BYTES("[registers]\nwide = 72\n"), "72", 2, NULL},
    {BYTES("[registers]\nwide = 72"), "72", 2, NULL},
    {BYTES("\xef\xbb\xbf[registers]\nwide = 72\n"), "72", 2, NULL},
    {BYTES("[registers]\r\nwide = 72\r\n"), "72", 2, NULL},
    {BYTES("\r\n\r\n[registers]\r\n\r\nwide = 72   \t \r\n"), "72", 5, NULL},
    {BYTES("[registers]\nwide=72\n"), "72", 2, NULL},
    {BYTES("[registers]\nwide : 72\n"), "72", 2, NULL},
    {BYTES("[REGISTERS]\nWide = 72\n"), "72", 2, NULL},
    {BYTES("[registers]\nwide =\n"), "", 2, NULL},
    {BYTES("[registers]\nwide =          ; the count\n"), "", 2, NULL},
    {BYTES("[registers]\nwide =;the count\n"), "", 2, NULL},
    {BYTES("[registers]\nwide = 72 ; the count\n"), "72", 2, NULL},
    {BYTES("[registers]\nwide = 72\t;the count\n"), "72", 2, NULL},
    {BYTES("[registers]\nwide = a;b\n"), "a;b", 2, NULL},
    {BYTES("[registers]\nwide = 72 # the count\n"), "72 # the count", 2, NULL},
    {BYTES("; one\n# two\n\n[registers] ; three\nwide = 72\n"), "72", 5, NULL},
    /* indented, as people do below a section */
    {BYTES("[registers]\n  wide = 72\n"), "72", 2, NULL},
    {BYTES("lab = x\n\t[registers]\n\twide = 72\n"), "72", 3, NULL},
    {BYTES("[registers]\nother = 1\n  [registers]\n  wide = 72\n"), "72", 4, NULL},
    {BYTES("[other]\nwide = 1\n  [registers]\nwide = 72\n"), "72", 4, NULL},
    {BYTES("[registers]\nwide = 72\n  and more\n"), "72", 2, "line 3: neither"},
    {BYTES("[registers]\n  ; remark\nwide = 72\n   # remark\n"), "72", 3, NULL},
    /* given twice */
    {BYTES("[registers]\nwide = 72\nwide = 73\n"), "(twice)", 2, "line 3: \"wide\" was given on line 2"},
    {BYTES("[registers]\nwide = 72\n[other]\na = 1\n[Registers]\nWIDE = 73\n"), "(twice)", 2,
     "line 6: \"wide\" was given on line 2"},
    {BYTES("[registers]\nwide =\nwide = 73\n"), "(twice)", 2, "line 3"},
    /* in the wrong place */
    {BYTES("wide = 72\n"), "(none)", 0, NULL},
    {BYTES("[register]\nwide = 72\n"), "(none)", 0, NULL},
    {BYTES("[registers\nwide = 72\n"), "(none)", 0, "line 1: neither"},
    {BYTES("[registers]\nwide\n"), "(none)", 0, "line 2: neither"},
    {BYTES("[registers]\n= 72\n"), "(none)", 0, "line 2: there is no key"},
    {BYTES(""), "(none)", 0, NULL},
    {BYTES("\n\n\n"), "(none)", 0, NULL},
    /* bytes that are no text */
    {BYTES("[registers]\nwide = 7\0002\n"), "(none)", 0, "line 2: holds a NUL"},
    {BYTES("[registers]\nwide = 72\nother = \xe9t\xe9\n"), "72", 2, "line 3: is not UTF-8"},
    {BYTES("[registers]\nwide = caf\xc3\xa9\n"), "caf\xc3\xa9", 2, NULL},
    {BYTES("[registers]\nwide = \x1b[31mred\n"), "?[31mred", 2, NULL},
    {BYTES("\xff\xfe[\0r\0]\0\n\0w\0=\0001\0\n\0"), "(none)", 0, "line 1: holds a NUL"},
};
/* clang-format on */

START_TEST(shape)
{
    struct answers answers = parse(shapes[_i].text, shapes[_i].length);
    const struct answer *answer = answers_find(&answers, "registers", "wide");
    const char *value = answer == NULL ? "(none)" : answer->duplicate ? "(twice)" : answer->value;
    ck_assert_str_eq(value, shapes[_i].value);
    ck_assert_uint_eq(answer == NULL ? 0 : answer->line, shapes[_i].line);
    if (shapes[_i].problem == NULL)
        ck_assert_msg(answers.problem_count == 0, "%s", answers.problems[0]);
    else
        ck_assert_msg(has_problem(&answers, shapes[_i].problem), "%s",
                      answers.problem_count > 0 ? answers.problems[0] : "no problem");
    answers_release(&answers);
}
END_TEST

/* inih cuts a line at 200 bytes and takes the rest for another line: "…x = 1" would be a key. */
START_TEST(long_lines)
{
    static const struct {
        size_t length;
        bool read;
    } rows[] = {{189, true},  {190, true},  {191, false}, {199, false},  {200, false},
                {201, false}, {300, false}, {400, false}, {70000, false}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct bytes text = bytes_with_limit(100000);
        bytes_append_text(&text, "[a]\nkey = 1 ;");
        while (text.length < rows[i].length + 4 - 6)
            bytes_append_text(&text, "x");
        bytes_append_text(&text, "wide=9\nnext = 2\n");
        struct answers answers = parse(text.data, text.length);
        ck_assert_int_eq(answers_find(&answers, "a", "key") != NULL, rows[i].read);
        ck_assert_int_eq(has_problem(&answers, "line 2: longer than 190 bytes"), !rows[i].read);
        ck_assert_uint_eq(answers.count, rows[i].read ? 2 : 1);
        const struct answer *next = answers_find(&answers, "a", "next");
        ck_assert_ptr_nonnull(next);
        ck_assert_uint_eq(next->line, 3);
        answers_release(&answers);
        bytes_release(&text);
    }
}
END_TEST

START_TEST(long_names_and_values)
{
    static const char text[] = "[a]\n" X50 "xxxxxxxxxxxxxx = 1\n" X50 "xxxxxxxxxxxxx = 2\n"
                               "long = " X50 X50 "xxxxxxxxxxxxxxxxxxxx\n"
                               "over = " X50 X50 "xxxxxxxxxxxxxxxxxxxxx\n"
                               "[" X50 X50 "]\nin = 3\n";
    struct answers answers = parse(text, sizeof text - 1);
    ck_assert(has_problem(&answers, "line 2: a section, key or value"));
    ck_assert_ptr_nonnull(answers_find(&answers, "a", X50 "xxxxxxxxxxxxx"));
    ck_assert_uint_eq(strlen(answers_find(&answers, "a", "long")->value), 120);
    ck_assert_ptr_null(answers_find(&answers, "a", "over"));
    ck_assert(has_problem(&answers, "line 5: a section, key or value"));
    ck_assert_ptr_null(answers_find(&answers, "a", "in"));
    answers_release(&answers);
}
END_TEST

/* A hostile file costs a bounded amount of time and of words. */
START_TEST(a_hundred_thousand_keys)
{
    struct bytes text = bytes_with_limit((size_t)4 << 20);
    bytes_append_text(&text, "[a]\nfirst = 1\n");
    for (unsigned i = 0; i < 100000; ++i)
        bytes_printf(&text, "key%u = %u\n", i, i);
    struct answers answers = parse(text.data, text.length);
    ck_assert_uint_eq(answers.count, LIMIT_ANSWERS_KEYS);
    ck_assert_uint_eq(answers.problem_count, 1);
    ck_assert(has_problem(&answers, "line 202: more keys"));
    ck_assert_str_eq(answers_find(&answers, "a", "first")->value, "1");
    answers_release(&answers);
    bytes_clear(&text);
    for (unsigned i = 0; i < 100000; ++i)
        bytes_append_text(&text, "key = 1\n");
    answers = parse(text.data, text.length);
    ck_assert_uint_eq(answers.count, 1);
    ck_assert_uint_eq(answers.problem_count, 20);
    answers_release(&answers);
    bytes_release(&text);
}
END_TEST

/* Names and problems are shown to people: whatever they hold, they are printable. */
START_TEST(everything_shown_is_printable)
{
    static const char text[] =
        "[se\x1b[2Jction]\nke\x07y = v\x01"
        "alue\nke\x07y = 2\n"
        "[xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xc3\xa9\xc3\xa9]\n"
        "a = 1\n";
    struct answers answers = parse(text, sizeof text - 1);
    ck_assert_uint_ge(answers.count, 2);
    for (size_t i = 0; i < answers.count; ++i) {
        const char *const shown[] = {answers.items[i].section, answers.items[i].key,
                                     answers.items[i].value};
        for (size_t k = 0; k < COUNT_OF(shown); ++k) {
            ck_assert(text_is_utf8(shown[k], strlen(shown[k])));
            for (const char *p = shown[k]; *p != '\0'; ++p)
                ck_assert_uint_ge((unsigned char)*p, 0x20);
        }
    }
    for (size_t i = 0; i < answers.problem_count; ++i)
        for (const char *p = answers.problems[i]; *p != '\0'; ++p)
            ck_assert_uint_ge((unsigned char)*p, 0x20);
    answers_release(&answers);
}
END_TEST

START_TEST(absent)
{
    struct answers answers;
    struct error err = {0};
    ck_assert_int_eq(answers_absent(&answers, "there is no answers.ini", &err), 0);
    ck_assert(!answers.usable);
    ck_assert_uint_eq(answers.problem_count, 1);
    ck_assert_str_eq(answers.problems[0], "there is no answers.ini");
    ck_assert_ptr_null(answers_find(&answers, "", "lab"));
    answers_release(&answers);
    answers_release(&answers);
}
END_TEST

/* clang-format off */
static const struct {
    const char *text;
    bool ok;
    int64_t value;
} numbers[] = {
    {"72", true, 72}, {"0", true, 0}, {"-3", true, -3}, {"0072", true, 72}, {"25%", true, 25},
    {"25 %", true, 25}, {"25.0", true, 25}, {"25.00%", true, 25}, {"0x40", true, 64},
    {"0X40", true, 64}, {"0xfF", true, 255}, {"9223372036854775807", true, INT64_MAX},
    {"-9223372036854775808", true, INT64_MIN},
    {"", false, 0}, {"%", false, 0}, {"-", false, 0}, {".", false, 0}, {".0", false, 0},
    {"25.", false, 0}, {"25.5", false, 0}, {"25.0.0", false, 0}, {"1e3", false, 0}, {"+5", false, 0},
    {"1,024", false, 0}, {"1 024", false, 0}, {"72 registers", false, 0}, {"seventy", false, 0},
    {"0x", false, 0}, {"0x4G", false, 0}, {"--5", false, 0}, {"5-", false, 0}, {"25%%", false, 0},
    {"%25", false, 0}, {"9223372036854775808", false, 0}, {"-9223372036854775809", false, 0},
    {"99999999999999999999999999999999", false, 0}, {"\xef\xbc\x97", false, 0}, {"NaN", false, 0},
    {"inf", false, 0}, {"?", false, 0},
};
/* clang-format on */

START_TEST(number)
{
    struct answer answer = {.line = 1};
    int64_t value = 4711;
    (void)snprintf(answer.value, sizeof answer.value, "%s", numbers[_i].text);
    ck_assert_msg(answer_number(&answer, &value) == numbers[_i].ok, "%s", numbers[_i].text);
    ck_assert_int_eq(value, numbers[_i].ok ? numbers[_i].value : 4711);
}
END_TEST

START_TEST(named_toolkit)
{
    static const struct {
        const char *value;
        bool ok;
        unsigned major, minor;
    } rows[] = {
        {"12.6", true, 12, 6},      {"12.6.85", true, 12, 6}, {"V13.0.88", true, 13, 0},
        {"v12.4.131", true, 12, 4}, {"12", false, 0, 0},      {"", false, 0, 0},
        {"12.", false, 0, 0},       {".6", false, 0, 0},      {"12.6, V12.6.85", false, 0, 0},
        {"cuda 12.6", false, 0, 0}, {"12.x", false, 0, 0},    {"99999.1", false, 0, 0},
        {"-1.2", false, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char text[100];
        unsigned major = 0, minor = 0;
        (void)snprintf(text, sizeof text, "[build]\nnvcc = %s\n", rows[i].value);
        struct answers answers = parse(text, strlen(text));
        ck_assert_msg(answers_toolkit(&answers, &major, &minor) == rows[i].ok, "%s", rows[i].value);
        ck_assert_uint_eq(major, rows[i].major);
        ck_assert_uint_eq(minor, rows[i].minor);
        answers_release(&answers);
    }
    struct answers twice = parse("[build]\nnvcc = 12.6\nnvcc = 12.6\n", 32);
    unsigned major = 0, minor = 0;
    ck_assert(!answers_toolkit(&twice, &major, &minor));
    answers_release(&twice);
}
END_TEST

Suite *suite_answers(void)
{
    Suite *suite = suite_create("answers");
    TCase *tests = tcase_create("answers");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, shape, 0, COUNT_OF(shapes));
    tcase_add_test(tests, long_lines);
    tcase_add_test(tests, long_names_and_values);
    tcase_add_test(tests, a_hundred_thousand_keys);
    tcase_add_test(tests, everything_shown_is_printable);
    tcase_add_test(tests, absent);
    tcase_add_test(tests, named_toolkit);
    tcase_add_loop_test(tests, number, 0, COUNT_OF(numbers));
    suite_add_tcase(suite, tests);
    return suite;
}

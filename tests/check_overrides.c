/* check_overrides.c - points set by hand are checked before any of them counts. */
#include "testing.h"

#include "caps.h"
#include "overrides.h"
#include "support_class.h"
#include "support_toolkit.h"

static struct roster roster;
static struct overrides overrides;
static struct problems problems;
static struct error err;

static void parse(const char *text)
{
    problems = (struct problems){0};
    err = (struct error){0};
    roster = class_roster(CLASS_ROSTER);
    ck_assert_int_eq(
        overrides_parse(&overrides, text, strlen(text), &roster, &support_lab, &problems, &err), 0);
}

static void forget(void)
{
    overrides_release(&overrides);
    roster_release(&roster);
    problems_release(&problems);
}

START_TEST(overrides_are_read)
{
    parse("reason,student,points,mark\r\n"
          "\"shown in class,\nby voice\",s1,8,code.frame\r\n"
          "zero,s1,0,build.accepted\r\n"
          "taken back,s2,,q.word\r\n");
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "");
    ck_assert_uint_eq(overrides.count, 3);
    ck_assert_str_eq(overrides.items[0].student, "s1");
    ck_assert_str_eq(overrides.items[0].mark, "code.frame");
    ck_assert_str_eq(overrides.items[0].reason, "shown in class,\nby voice");
    ck_assert(overrides.items[0].points == 8 && !overrides.items[0].withdrawn);
    ck_assert(overrides.items[1].points == 0 && !overrides.items[1].withdrawn);
    ck_assert(overrides.items[2].withdrawn);
    forget();
}
END_TEST

#define HEAD "student,mark,points,reason\n"

static const struct {
    const char *text;
    size_t line, total;
    const char *says;
} wrong[] = {
    /* clang-format off */
    {"", 0, 1, "is empty"},
    {"student,mark,points\n", 1, 1, "it lacks `reason`"},
    {HEAD "s9,code.frame,1,x\n", 2, 1, "no student of the roster has the id `s9`"},
    {HEAD "S1,code.frame,1,x\n", 2, 1, "no student of the roster has the id `S1`"},
    {HEAD ",code.frame,1,x\n", 2, 1, "`student` is empty"},
    {HEAD "s1,code.fram,1,x\n", 2, 1, "tiny has no mark `code.fram`"},
    {HEAD "s1,code.frame,9,x\n", 2, 1, "`9` are no points for code.frame: expected a whole number from 0 to 8"},
    {HEAD "s1,code.frame,-1,x\n", 2, 1, "are no points"},
    {HEAD "s1,code.frame,1.5,x\n", 2, 1, "are no points"},
    {HEAD "s1,code.frame,+1,x\n", 2, 1, "are no points"},
    {HEAD "s1,code.frame,1,\n", 2, 1, "`reason` is empty"},
    {HEAD "s1,code.frame,1,a\x1b[31m\n", 2, 1, "`reason` holds characters"},
    {HEAD "s1,code.frame,1,x\ns2,code.frame,1,x\ns1,code.frame,2,y\n", 4, 1, "code.frame of s1 is on line 2 already"},
    {HEAD "s9,none,,\n", 2, 3, "no student"},
    /* clang-format on */
};

START_TEST(what_is_wrong_is_said)
{
    parse(wrong[_i].text);
    ck_assert_msg(problems.count > 0, "nothing");
    ck_assert_msg(problems.total == wrong[_i].total, "%zu: %s", problems.total,
                  problems.items[0].text);
    ck_assert_uint_eq(problems.items[0].line, wrong[_i].line);
    ck_assert_msg(strstr(problems.items[0].text, wrong[_i].says) != NULL, "%s",
                  problems.items[0].text);
    forget();
}
END_TEST

START_TEST(a_reason_has_an_end)
{
    struct bytes text = bytes_with_limit(10000);
    bytes_append_text(&text, HEAD "s1,code.frame,1,");
    for (size_t i = 0; i < LIMIT_REASON_BYTES; ++i)
        bytes_append_text(&text, "x");
    parse(bytes_text(&text));
    ck_assert(problems.total == 0 && overrides.count == 1);
    forget();
    bytes_append_text(&text, "x");
    parse(bytes_text(&text));
    ck_assert(problems.total == 1 && overrides.count == 0);
    forget();
    bytes_release(&text);
}
END_TEST

START_TEST(files_are_read)
{
    char folder[512];
    support_new_folder(folder);
    const char *path = support_path(folder, "overrides.csv");
    testing_write(path, HEAD "s1,code.frame,1,x\n", strlen(HEAD "s1,code.frame,1,x\n"));
    roster = class_roster(CLASS_ROSTER);
    problems = (struct problems){0};
    err = (struct error){0};
    ck_assert_int_eq(overrides_read(&overrides, path, &roster, &support_lab, &problems, &err), 0);
    ck_assert_uint_eq(overrides.count, 1);
    overrides_release(&overrides);
    ck_assert_int_eq(overrides_read(&overrides, "/nowhere", &roster, &support_lab, &problems, &err),
                     -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    forget();
}
END_TEST

Suite *suite_overrides(void)
{
    Suite *suite = suite_create("overrides");
    TCase *tests = tcase_create("overrides");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, overrides_are_read);
    tcase_add_loop_test(tests, what_is_wrong_is_said, 0, COUNT_OF(wrong));
    tcase_add_test(tests, a_reason_has_an_end);
    tcase_add_test(tests, files_are_read);
    suite_add_tcase(suite, tests);
    return suite;
}

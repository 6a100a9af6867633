/* check_pushlog.c - when commits arrived, as the platform says. */
#include "testing.h"

#include "pushlog.h"
#include "support_class.h"
#include "support_toolkit.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define B_LOUD "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
#define LONG "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

static struct roster roster;
static struct pushlog pushes;
static struct problems problems;
static struct error err;

static void parse(const char *text)
{
    problems = (struct problems){0};
    err = (struct error){0};
    roster = class_roster("id,name,email,repo,group\n"
                          "s1,First,s1@x.org,https://host/c/s1.git,\n"
                          "s2,Second,s2@x.org,git@host:c/team,t\n"
                          "s3,Third,s3@x.org,git@host:c/team.git/,t\n");
    ck_assert_int_eq(pushlog_parse(&pushes, text, strlen(text), &roster, NULL, &problems, &err), 0);
}

static void forget(void)
{
    pushlog_release(&pushes);
    roster_release(&roster);
    problems_release(&problems);
}

START_TEST(pushes_are_found)
{
    size_t count = 77;
    parse("time,commit,repo,id,by\n"
          "@300," B_LOUD ",,s1,x\n"
          "1970-01-01T00:01:40Z," A ",https://host/c/s1,,x\n"
          "@500," B ",https://host/c/s1.git/,,x\n"
          "@200," LONG ",https://Host/c/./team.git,,x\n"
          "@200," A ",https://elsewhere/x,,x\n"
          "@200," A ",,s9,x\n"
          ",,,,\n");
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "");
    ck_assert_uint_eq(pushes.foreign_rows, 2);
    ck_assert_uint_eq(pushes.notes.total, 1);
    ck_assert_uint_eq(pushes.count, 5);
    const struct push *of = pushlog_of(&pushes, &roster.students[0], &count);
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(of[0].time.unix_s, 100);
    ck_assert_str_eq(of[1].commit, B);
    ck_assert_int_eq(of[2].time.unix_s, 500);
    /* Both of a team that shares a repo. */
    for (size_t i = 1; i < 3; ++i) {
        of = pushlog_of(&pushes, &roster.students[i], &count);
        ck_assert_uint_eq(count, 1);
        ck_assert_str_eq(of->commit, LONG);
    }
    /* The first time that a commit arrived. */
    ck_assert_int_eq(pushlog_find(&pushes, &roster.students[0], B_LOUD)->time.unix_s, 300);
    ck_assert_ptr_null(pushlog_find(&pushes, &roster.students[1], A));
    forget();
}
END_TEST

START_TEST(a_student_without_pushes)
{
    size_t count = 77;
    parse("id,commit,pushed_at\ns2," A ",@1\n");
    ck_assert_uint_eq(problems.total, 0);
    ck_assert_ptr_null(pushlog_of(&pushes, &roster.students[0], &count));
    ck_assert_uint_eq(count, 0);
    ck_assert_ptr_null(pushlog_of(&pushes, &roster.students[2], &count));
    ck_assert_ptr_nonnull(pushlog_of(&pushes, &roster.students[1], &count));
    forget();
}
END_TEST

static const struct {
    const char *text;
    size_t line, total;
    const char *says;
} wrong[] = {
    {"", 0, 1, "is empty"},
    {"id,time\n", 1, 1, "it lacks `commit`"},
    {"id,commit\n", 1, 1, "it lacks `time`"},
    {"commit,time\n", 1, 1, "it lacks `id` or `repo`"},
    {"id,commit,time,pushed_at\n", 1, 1, "both `time` and `pushed_at`"},
    {"id,commit,time\n," A ",@1\n", 2, 1, "neither a student (`id`) nor a `repo`"},
    {"id,commit,time\ns1,abc1234,@1\n", 2, 1, "`abc1234` is no commit"},
    {"id,commit,time\ns1," A "g,@1\n", 2, 1, "is no commit"},
    {"id,commit,time\ns1,HEAD,@1\n", 2, 1, "is no commit"},
    {"id,commit,time\ns1," A ",2026-03-29 23:59\n", 2, 1, "has no time zone"},
    {"id,commit,time\ns9,x,y\ns1," A ",\n", 2, 3, "is no commit"},
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
    ck_assert_uint_eq(pushes.count, 0);
    forget();
}
END_TEST

START_TEST(files_are_read)
{
    char folder[512];
    support_new_folder(folder);
    const char *path = support_path(folder, "pushes.csv");
    const char *text = "id,commit,time\ns1," A ",@1\n";
    testing_write(path, text, strlen(text));
    roster = class_roster(CLASS_ROSTER);
    problems = (struct problems){0};
    err = (struct error){0};
    ck_assert_int_eq(pushlog_read(&pushes, path, &roster, NULL, &problems, &err), 0);
    ck_assert_uint_eq(pushes.count, 1);
    pushlog_release(&pushes);
    ck_assert_int_eq(pushlog_read(&pushes, "/nowhere", &roster, NULL, &problems, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    forget();
}
END_TEST

Suite *suite_pushlog(void)
{
    Suite *suite = suite_create("pushlog");
    TCase *tests = tcase_create("pushlog");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, pushes_are_found);
    tcase_add_test(tests, a_student_without_pushes);
    tcase_add_loop_test(tests, what_is_wrong_is_said, 0, COUNT_OF(wrong));
    tcase_add_test(tests, files_are_read);
    suite_add_tcase(suite, tests);
    return suite;
}

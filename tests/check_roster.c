/* check_roster.c - a class is read, or everything that is wrong with it is said, line by line. */
#include "testing.h"

#include "caps.h"
#include "roster.h"
#include "support_toolkit.h"

static struct roster roster;
static struct problems problems;
static struct error err;

static const struct zone *berlin(void)
{
    char problem[MOMENT_PROBLEM_BYTES];
    const struct zone *zone = zone_find("Europe/Berlin", problem);
    ck_assert_msg(zone != NULL, "%s", problem);
    return zone;
}

static void parse(const char *text)
{
    problems = (struct problems){0};
    err = (struct error){0};
    ck_assert_msg(roster_parse(&roster, text, strlen(text), "/class", berlin(), &problems, &err) ==
                      0,
                  "%s", err.text);
}

static void forget(void)
{
    roster_release(&roster);
    problems_release(&problems);
}

#define HEAD "id,name,email,repo\n"
#define GOOD "s1,First,s1@example.org,repos/s1\n"

START_TEST(a_class_is_read)
{
    parse("\xEF\xBB\xBF"
          "Group ; Deadline;REPO;email;Name;extension_hours;ref;id\r\n"
          "blue;2026-03-29 23:59;git@host:c/a.git;a@x.org;\"Adams; Émile\";48;main;a1\r\n"
          ";\t2026-03-30T12:00:00Z ;../b; B@x.org ;Bo;1,5;;b-2.x_Y+z@q\r\n"
          ";;/srv/c.git;c@x.org;Cy;;submit/1;3\r\n"
          ";;;;;;;\r\n\r\n");
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "");
    ck_assert_uint_eq(roster.notes.total, 0);
    ck_assert_uint_eq(roster.count, 3);
    const struct student *a = &roster.students[0], *b = &roster.students[1];
    const struct student *c = &roster.students[2];
    ck_assert_str_eq(a->id, "a1");
    ck_assert_str_eq(a->name, "Adams; Émile");
    ck_assert_str_eq(a->email, "a@x.org");
    ck_assert_str_eq(a->repo, "git@host:c/a.git");
    ck_assert_str_eq(a->location, "git@host:c/a.git");
    ck_assert_int_eq(a->repo_kind, REPO_SSH);
    ck_assert_str_eq(a->ref, "main");
    ck_assert_str_eq(a->group, "blue");
    ck_assert(a->has_deadline && a->deadline.unix_s == 1774821540);
    ck_assert_int_eq(a->extension_s, 48 * 3600);
    ck_assert_uint_eq(a->line, 2);
    ck_assert_str_eq(b->id, "b-2.x_Y+z@q");
    ck_assert_str_eq(b->email, "B@x.org");
    ck_assert_str_eq(b->location, "/class/../b");
    ck_assert_int_eq(b->repo_kind, REPO_PATH);
    ck_assert(b->ref == NULL && b->group == NULL);
    ck_assert(b->has_deadline && b->deadline.unix_s == 1774872000);
    ck_assert_int_eq(b->extension_s, 5400);
    ck_assert_str_eq(c->location, "/srv/c.git");
    ck_assert_str_eq(c->ref, "submit/1");
    ck_assert(!c->has_deadline && c->extension_s == 0);
    ck_assert_ptr_eq(roster_find(&roster, "b-2.x_Y+z@q"), b);
    ck_assert_ptr_null(roster_find(&roster, "B-2.x_Y+z@q"));
    forget();
}
END_TEST

/* The first problem of each, and how many there are. */
static const struct {
    const char *text;
    size_t line, total;
    const char *says;
} wrong[] = {
    /* clang-format off */
    {"", 0, 1, "is empty: its first row should name the columns"},
    {"\n\n", 0, 1, "is empty: its first row should name the columns"},
    {HEAD, 0, 1, "names the columns, but no student"},
    {"id,name\ns1,First\n", 1, 1, "it lacks `email`, `repo`"},
    {"s1,First,s1@example.org,repos/s1\n", 1, 1, "it lacks `id`, `name`, `email`, `repo`"},
    {"id,name,email,repo,id\n" , 1, 1, "the column `id` is there twice"},
    /* Empty and odd cells. */
    {HEAD ",First,s1@example.org,r\n", 2, 1, "`id` is empty"},
    {HEAD "s1, ,s1@example.org,r\n", 2, 1, "`name` is empty"},
    {HEAD "s1,First,,r\n", 2, 1, "`email` is empty"},
    {HEAD "s1,First,s1@example.org\n", 2, 1, "`repo` is empty"},
    {HEAD "s1\n", 2, 3, "`name` is empty"},
    {HEAD "s1,First,s1@example.org,r,more\n", 2, 1, "5 cells, but the first row names 4 columns"},
    /* Ids become folders. */
    {HEAD "../s1,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "a/b,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "..,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD ".hidden,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "-rf,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "@s1,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "s1.,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "s 1,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "s\\1,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "sé,First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "\"s\n1\",First,s1@example.org,r\n", 2, 1, "cannot be a folder's name"},
    {HEAD "s1234567890123456789012345678901234567890123456789012345678901234,First,s1@example.org,r\n",
     2, 1, "longer than 64 bytes"},
    /* Names and addresses. */
    {HEAD "s1,\"Fi\nrst\",s1@example.org,r\n", 2, 1, "`name` holds characters that cannot be printed"},
    {HEAD "s1,Fi\x1b[31mrst,s1@example.org,r\n", 2, 1, "`name` holds characters"},
    {HEAD "s1,Fi\xE2\x80\xAErst,s1@example.org,r\n", 2, 1, "`name` holds characters"},
    {HEAD "s1,First,example.org,r\n", 2, 1, "is no e-mail address"},
    {HEAD "s1,First,s1@,r\n", 2, 1, "is no e-mail address"},
    {HEAD "s1,First,@example.org,r\n", 2, 1, "is no e-mail address"},
    {HEAD "s1,First,a@b@c,r\n", 2, 1, "is no e-mail address"},
    {HEAD "s1,First,First <s1@example.org>,r\n", 2, 1, "is no e-mail address"},
    /* Repos: check_repo_url.c has them all. */
    {HEAD "s1,First,s1@example.org,https://u:secret@host/r\n", 2, 1, "the repo "},
    {HEAD "s1,First,s1@example.org,ext::sh -c x\n", 2, 1, "the repo "},
    /* Refs. */
    {"id,name,email,repo,ref\ns1,First,s1@example.org,r,--upload-pack=x\n", 2, 1, "is no name of a branch or tag"},
    {"id,name,email,repo,ref\ns1,First,s1@example.org,r,a..b\n", 2, 1, "is no name of a branch or tag"},
    {"id,name,email,repo,ref\ns1,First,s1@example.org,r,main~1\n", 2, 1, "is no name of a branch or tag"},
    {"id,name,email,repo,ref\ns1,First,s1@example.org,r,x.lock\n", 2, 1, "is no name of a branch or tag"},
    {"id,name,email,repo,ref\ns1,First,s1@example.org,r,refs/*\n", 2, 1, "is no name of a branch or tag"},
    /* Times. */
    {"id,name,email,repo,deadline\ns1,First,s1@example.org,r,tomorrow\n", 2, 1, "deadline: `tomorrow` is no time"},
    {"id,name,email,repo,deadline\ns1,First,s1@example.org,r,2026-03-29\n", 2, 1, "has no time of day"},
    {"id,name,email,repo,deadline\ns1,First,s1@example.org,r,2026-03-29 23:59 CEST\n", 2, 1, "is an abbreviation"},
    {"id,name,email,repo,extension_hours\ns1,First,s1@example.org,r,2d\n", 2, 1, "is no extension"},
    {"id,name,email,repo,extension_hours\ns1,First,s1@example.org,r,-1\n", 2, 1, "is no extension"},
    {"id,name,email,repo,extension_hours\ns1,First,s1@example.org,r,1.234\n", 2, 1, "is no extension"},
    {"id,name,email,repo,extension_hours\ns1,First,s1@example.org,r,.5\n", 2, 1, "is no extension"},
    {"id,name,email,repo,extension_hours\ns1,First,s1@example.org,r,1.\n", 2, 1, "is no extension"},
    {"id,name,email,repo,extension_hours\ns1,First,s1@example.org,r,9001\n", 2, 1, "is no extension"},
    {"id,name,email,repo,extension_hours\ns1,First,s1@example.org,r,0x10\n", 2, 1, "is no extension"},
    /* Twice. */
    {HEAD GOOD "s1,Second,s2@example.org,repos/s2\n", 3, 1, "the id `s1` is on line 2 already"},
    {HEAD GOOD "S1,Second,s2@example.org,repos/s2\n", 3, 1, "the id `S1` is on line 2 already"},
    {HEAD GOOD "s2,Second,S1@Example.org,repos/s2\n", 3, 1, "the email `S1@Example.org` is on line 2 already"},
    {HEAD GOOD "s2,Second,s2@example.org,repos/s1\n", 3, 1, "the repo is that of line 2 as well"},
    {HEAD GOOD "s2,Second,s2@example.org,repos/s1.git/\n", 3, 1, "the repo is that of line 2 as well"},
    {HEAD GOOD "s2,Second,s2@example.org,repos/./s1\n", 3, 1, "the repo is that of line 2 as well"},
    {HEAD "s1,First,s1@example.org,git@github.com:c/S1.git\ns2,Second,s2@example.org,https://github.com/c/s1\n", 3, 1, "the repo is that of line 2 as well"},
    {"id,name,email,repo,group\ns1,First,s1@example.org,r,blue\ns2,Second,s2@example.org,r,red\n", 3, 1, "the repo is that of line 2 as well"},
    {HEAD GOOD "s1,,x,repos/s1\n", 3, 4, "`name` is empty"},
    /* All at once, by line, duplicates among bad rows too. */
    {HEAD "\"s1,First,s1@example.org,r\n", 2, 1, "never closed"},
    {HEAD "s1,,s1@example.org,r\n\xFF,x,y@z,r2\ns1,Third,,r3\n", 2, 4, "`name` is empty"},
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
    for (size_t i = 0; i < problems.count; ++i) {
        ck_assert_ptr_null(strstr(problems.items[i].text, "secret"));
        ck_assert(i == 0 || problems.items[i - 1].line <= problems.items[i].line);
    }
    forget();
}
END_TEST

START_TEST(rows_without_problems_are_kept)
{
    parse(HEAD GOOD "s2,,s2@example.org,r2\ns3,Third,s3@example.org,r3\n");
    ck_assert_uint_eq(problems.total, 1);
    ck_assert_uint_eq(roster.count, 2);
    ck_assert_str_eq(roster.students[1].id, "s3");
    forget();
}
END_TEST

START_TEST(a_group_may_share_a_repo)
{
    parse("id,name,email,repo,group\ns1,First,s1@example.org,r,blue\n"
          "s2,Second,s2@example.org,r.git,blue\ns3,Third,s3@example.org,r3,blue\n");
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "");
    ck_assert_uint_eq(roster.count, 3);
    forget();
}
END_TEST

START_TEST(what_is_odd_is_noted)
{
    parse("id,name,email,repo,dead_line,deadline\n"
          "s1,First,s1@example.org,r,2026-01-01 12:00,2026-03-29 02:30\n");
    ck_assert_uint_eq(problems.total, 0);
    ck_assert_uint_eq(roster.notes.total, 2);
    ck_assert_str_eq(roster.notes.items[0].text, "the column `dead_line` is not used");
    ck_assert_uint_eq(roster.notes.items[1].line, 2);
    ck_assert_ptr_nonnull(strstr(roster.notes.items[1].text, "does not exist"));
    forget();
}
END_TEST

START_TEST(without_a_zone_times_need_one)
{
    const char *text = "id,name,email,repo,deadline\n"
                       "s1,First,s1@example.org,r,2026-03-29 23:59\n"
                       "s2,Second,s2@example.org,r2,2026-03-29 23:59 Europe/Berlin\n";
    problems = (struct problems){0};
    ck_assert_int_eq(roster_parse(&roster, text, strlen(text), "/", NULL, &problems, &err), 0);
    ck_assert_uint_eq(problems.total, 1);
    ck_assert_ptr_nonnull(strstr(problems.items[0].text, "has no time zone"));
    forget();
}
END_TEST

START_TEST(deadlines_add_up)
{
    struct moment batch = moment_at(1774821540, berlin()), deadline;
    parse("id,name,email,repo,deadline,extension_hours\n"
          "s1,First,s1@example.org,r1,,\n"
          "s2,Second,s2@example.org,r2,,2\n"
          "s3,Third,s3@example.org,r3,2026-03-30 12:00 UTC,0.25\n");
    ck_assert_uint_eq(problems.total, 0);
    ck_assert(!student_deadline(&roster.students[0], NULL, &deadline));
    ck_assert(student_deadline(&roster.students[0], &batch, &deadline));
    ck_assert_int_eq(deadline.unix_s, 1774821540);
    ck_assert(!student_deadline(&roster.students[1], NULL, &deadline));
    ck_assert(student_deadline(&roster.students[1], &batch, &deadline));
    ck_assert_int_eq(deadline.unix_s, 1774821540 + 7200);
    ck_assert_ptr_eq(deadline.zone, berlin());
    ck_assert(student_deadline(&roster.students[2], &batch, &deadline));
    ck_assert_int_eq(deadline.unix_s, 1774872000 + 900);
    forget();
}
END_TEST

START_TEST(many_students)
{
    struct bytes text = bytes_with_limit((size_t)64 << 20);
    bytes_append_text(&text, HEAD);
    for (int i = 0; i < 100000; ++i)
        bytes_printf(&text, "s%d,Student %d,s%d@example.org,repos/s%d\n", i, i, i, i);
    parse(bytes_text(&text));
    ck_assert_uint_eq(problems.total, 0);
    ck_assert_uint_eq(roster.count, 100000);
    forget();
    bytes_append_text(&text, "S99999,x,y@z,r\nS5,x,yy@z,r2\n");
    parse(bytes_text(&text));
    ck_assert_uint_eq(problems.total, 2);
    forget();
    bytes_release(&text);
}
END_TEST

START_TEST(files_are_read)
{
    char folder[512];
    support_new_folder(folder);
    const char *path = support_path(folder, "class.csv");
    testing_write(path, HEAD GOOD, strlen(HEAD GOOD));
    problems = (struct problems){0};
    err = (struct error){0};
    ck_assert_int_eq(roster_read(&roster, path, NULL, &problems, &err), 0);
    ck_assert_uint_eq(roster.count, 1);
    AUTO_FREE char *real = realpath(folder, NULL);
    ck_assert_str_eq(roster.students[0].location, support_path(real, "repos/s1"));
    forget();
    ck_assert_int_eq(roster_read(&roster, "/nowhere.csv", NULL, &problems, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_str_eq(err.text, "cannot read the roster /nowhere.csv: no such file");
    forget();
}
END_TEST

Suite *suite_roster(void)
{
    Suite *suite = suite_create("roster");
    TCase *tests = tcase_create("roster");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_class_is_read);
    tcase_add_loop_test(tests, what_is_wrong_is_said, 0, COUNT_OF(wrong));
    tcase_add_test(tests, rows_without_problems_are_kept);
    tcase_add_test(tests, a_group_may_share_a_repo);
    tcase_add_test(tests, what_is_odd_is_noted);
    tcase_add_test(tests, without_a_zone_times_need_one);
    tcase_add_test(tests, deadlines_add_up);
    tcase_add_test(tests, many_students);
    tcase_add_test(tests, files_are_read);
    suite_add_tcase(suite, tests);
    return suite;
}

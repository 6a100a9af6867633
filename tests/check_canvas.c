/* check_canvas.c - templates that Canvas exports, and what becomes of them. */
#include "testing.h"

#include "canvas.h"
#include "support_class.h"
#include "support_toolkit.h"

static char folder[512];
static struct canvas canvas;
static struct problems problems, notes;
static struct error err;

static void read_template(const char *text, const char *column)
{
    support_new_folder(folder);
    const char *path = support_path(folder, "template.csv");
    testing_write(path, text, strlen(text));
    problems = notes = (struct problems){0};
    err = (struct error){0};
    ck_assert_msg(canvas_read(&canvas, path, column, &support_lab, &problems, &err) == 0, "%s",
                  err.text);
}

static void forget(void)
{
    canvas_release(&canvas);
    problems_release(&problems);
    problems_release(&notes);
}

/* s1 has 8190, s2 8191, the others nothing yet. */
static const struct {
    const char *template, *column, *expected;
    const char *notes; /* what stands behind the path */
} cases[] = {
    /* clang-format off */
    /* Any of the ids, in any case; the lab's title or id. */
    {"Student,ID,SIS Login ID,Section,A tiny lab (9)\nFirst,101,S1,A,\nSecond,102,s2,B,\n", NULL,
     "Student,ID,SIS Login ID,Section,A tiny lab (9)\nFirst,101,S1,A,8190\nSecond,102,s2,B,8191\n", ""},
    {"Student,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section,Week 3: tiny (9),Other (1)\n"
     "First,101,s1,x,i,root,A,,\nSecond,102,,S2@EXAMPLE.ORG,i,root,B,,\n", NULL,
     "Student,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section,Week 3: tiny (9)\n"
     "First,101,s1,x,i,root,A,8190\nSecond,102,,S2@EXAMPLE.ORG,i,root,B,8191\n", ""},
    {"Student,ID,Section,Only (9)\nFirst,s1,A,\nSecond,s2,A,\n", NULL,
     "Student,ID,Section,Only (9)\nFirst,s1,A,8190\nSecond,s2,A,8191\n", ""},
    {"Student,ID,Section,Only (9),Final Score,Unposted Final Score\nFirst,s1,A,,,\nSecond,s2,A,,,\n", NULL,
     "Student,ID,Section,Only (9)\nFirst,s1,A,8190\nSecond,s2,A,8191\n", ""},
    {"LastName,FirstName,ID,Section,Only (9)\nOne,First,s1,A,\nTwo,Second,s2,A,\n", NULL,
     "LastName,FirstName,ID,Section,Only (9)\nOne,First,s1,A,8190\nTwo,Second,s2,A,8191\n", ""},
    /* Read only columns are passed over; the points are compared. */
    {"Student,ID,Section,Sum,Only (9)\n  Points Possible,,,(read only),8191.00\nFirst,s1,A,,\nSecond,s2,A,,\n", NULL,
     "Student,ID,Section,Only (9)\n\"  Points Possible\",,,8191.00\nFirst,s1,A,8190\nSecond,s2,A,8191\n", ""},
    {"Student,ID,Section,Only (9)\n  Points Possible,,,10\nFirst,s1,A,\nSecond,s2,A,\n", NULL,
     "Student,ID,Section,Only (9)\n\"  Points Possible\",,,10\nFirst,s1,A,8190\nSecond,s2,A,8191\n",
     ":2: Canvas has 10 points possible for this assignment, the lab has 8191: scores are written as the lab counts them\n"},
    /* A row on posting may stand above the points. */
    {"Student,ID,Section,Only (9)\n,,,Manual Posting\n  Points Possible,,,10\nFirst,s1,A,\nSecond,s2,A,\n", NULL,
     "Student,ID,Section,Only (9)\n\"  Points Possible\",,,10\nFirst,s1,A,8190\nSecond,s2,A,8191\n",
     ":3: Canvas has 10 points possible for this assignment, the lab has 8191: scores are written as the lab counts them\n"},
    /* Semicolons stay semicolons. */
    {"Student;ID;Section;Only (9)\nFirst, X;s1;A;\nSecond;s2;A;\n", NULL,
     "Student;ID;Section;Only (9)\n\"First, X\";s1;A;8190\nSecond;s2;A;8191\n", ""},
    /* Named, with and without its id; a new one. */
    {"Student,ID,Section,Lab (1),Lab (2)\nFirst,s1,A,,\nSecond,s2,A,,\n", "lab (2)",
     "Student,ID,Section,Lab (2)\nFirst,s1,A,8190\nSecond,s2,A,8191\n", ""},
    {"Student,ID,Section,Lab 1 (1),Lab 2 (2)\nFirst,s1,A,,\nSecond,s2,A,,\n", "Lab 2",
     "Student,ID,Section,Lab 2 (2)\nFirst,s1,A,8190\nSecond,s2,A,8191\n", ""},
    {"Student,ID,Section,Final Score\n Points Possible,,,(read only)\nFirst,s1,A,\nSecond,s2,A,\n", "Lab 3",
     "Student,ID,Section,Lab 3\n\" Points Possible\",,,8191\nFirst,s1,A,8190\nSecond,s2,A,8191\n", ""},
    /* Who is left out. */
    {"Student,ID,Section,Only (9)\nFirst,s1,A,EX\n\"Student, Test\",77,A,\n\nManual Posting,,,\nAgain,s2,A,\nSecond,s2,A,\n", NULL,
     "Student,ID,Section,Only (9)\nAgain,s2,A,8191\n",
     ":2: s1 (Émile, First) is excused in Canvas: left out\n:7: Second is the student of line 6 once more: left out\n"},
    {"Student,ID,Section,Only (9)\nFirst,s1,A,\n=Stranger,999,A,3\n", NULL,
     "Student,ID,Section,Only (9)\nFirst,s1,A,8190\n",
     ": s2 (Second Student) is in the roster, but not in Canvas: left out\n"
     ":3: =Stranger is in Canvas, but not in the roster: left out\n"},
    /* A number that Canvas made is not the student who has it as an id, be it above or below. */
    {"Student,ID,SIS User ID,Section,Only (9)\nDropped,s1,9001,A,\nFirst,7,s1,A,\nSecond,8,s2,A,\n", NULL,
     "Student,ID,SIS User ID,Section,Only (9)\nFirst,7,s1,A,8190\nSecond,8,s2,A,8191\n",
     ":2: Dropped is in Canvas, but not in the roster: left out\n"},
    {"Student,ID,SIS Login ID,Section,Only (9)\nDropped,s1,dan,A,\nSecond,8,s2@example.org,A,\n", NULL,
     "Student,ID,SIS Login ID,Section,Only (9)\nSecond,8,s2@example.org,A,8191\n",
     ": s1 (Émile, First) is in the roster, but not in Canvas: left out\n"
     ":2: Dropped is in Canvas, but not in the roster: left out\n"},
    /* It is where the school says nothing of a guest, or nothing that the roster knows. */
    {"Student,ID,SIS User ID,Section,Only (9)\nGuest,s1,,A,\nSecond,8,s2,A,\n", NULL,
     "Student,ID,SIS User ID,Section,Only (9)\nGuest,s1,,A,8190\nSecond,8,s2,A,8191\n", ""},
    {"Student,ID,SIS User ID,Section,Only (9)\nFirst,s1,9001,A,\nSecond,s2,9002,A,\n", NULL,
     "Student,ID,SIS User ID,Section,Only (9)\nFirst,s1,9001,A,8190\nSecond,s2,9002,A,8191\n", ""},
    /* Who may be two students is nobody: a wrong guess would hand out another's grade. */
    {"Student,ID,SIS User ID,SIS Login ID,Section,Only (9)\nBoth,1,s1,s2,A,\nSecond,2,,S2@Example.org,A,\n", NULL,
     "Student,ID,SIS User ID,SIS Login ID,Section,Only (9)\nSecond,2,,S2@Example.org,A,8191\n",
     ": s1 (Émile, First) is in the roster, but not in Canvas: left out\n"
     ":2: Both has the ids of two students of the roster, s1 and s2: left out\n"},
    {"Student,ID,SIS User ID,SIS Login ID,Section,Only (9)\nFirst,1,s1,S1@example.org,A,\nSecond,2,s2,s2,A,\n", NULL,
     "Student,ID,SIS User ID,SIS Login ID,Section,Only (9)\nFirst,1,s1,S1@example.org,A,8190\nSecond,2,s2,s2,A,8191\n", ""},
    /* A name is never a formula, an id stays as it is. */
    {"Student,ID,SIS User ID,Section,Only (9)\n=HYPERLINK(1),=s1,s1,@A,\nSecond,1,s2,A,\n", NULL,
     "Student,ID,SIS User ID,Section,Only (9)\n'=HYPERLINK(1),=s1,s1,'@A,8190\nSecond,1,s2,A,8191\n", ""},
    /* clang-format on */
};

START_TEST(templates_are_filled_in)
{
    struct roster roster = class_roster("id,name,email,repo\n"
                                        "s1,\"Émile, First\",s1@example.org,r1\n"
                                        "s2,Second Student,s2@example.org,r2\n");
    char own[512];
    struct gradebook *book = class_gradebook(&roster, own);
    struct standings standings;
    struct late_policy policy = late_policy_none();
    class_record(book, "s1", class_graded("F", NULL));
    class_record(book, "s2", class_graded("", NULL));
    read_template(cases[_i].template, cases[_i].column);
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "");
    ck_assert(canvas.guessed == (strstr(cases[_i].expected, "Only (9)") != NULL));
    ck_assert_int_eq(standings_read(&standings, book, &roster, &support_lab, NULL, &policy, &err),
                     0);
    struct bytes out = bytes_with_limit(10000), said = bytes_with_limit(10000);
    ck_assert_int_eq(canvas_write(&out, &canvas, &standings, &notes, &err), 0);
    ck_assert_str_eq(bytes_text(&out), cases[_i].expected);
    problems_write(&said, &notes, "");
    ck_assert_str_eq(bytes_text(&said), cases[_i].notes);
    bytes_release(&out);
    bytes_release(&said);
    standings_release(&standings);
    gradebook_close(book);
    roster_release(&roster);
    forget();
}
END_TEST

static const struct {
    const char *template, *column, *says;
} refused[] = {
    /* clang-format off */
    {"id,name,email\ns1,x,y\n", NULL, "it lacks `Section`"},
    {"Student,SIS User ID,Section,Lab (1)\n", NULL, "it lacks `ID`"},
    {"", NULL, "is empty"},
    {"Student,ID,Section\nFirst,s1,A\n", NULL, "none is an assignment that can be written"},
    {"Student,ID,Section,Final Score\nFirst,s1,A,\n", NULL, "none is an assignment that can be written"},
    {"Student,ID,Section,A (1),B (2)\nFirst,s1,A,,\n", NULL, "there are several: name one with --canvas-column, of \"A (1)\", \"B (2)\"\n"},
    {"Student,ID,Section,A (1),B (2),C (3),D (4),E (5),F (6),\x1b[7mG,H\nFirst,s1,A,,,,,,,,\n", NULL, "\"F (6)\" and 2 more\n"},
    {"Student,ID,Section,tiny A (1),tiny B (2)\nFirst,s1,A,,\n", NULL, "of \"tiny A (1)\", \"tiny B (2)\"\n"},
    {"Student,ID,Section,tiny A (1),Other (2)\nFirst,s1,A,,\n", "Final Score", "Canvas passes over"},
    {"Student,ID,Section,Lab (1),Lab (2)\nFirst,s1,A,,\n", "Lab", "behind the title as well (\"Lab (1)\", \"Lab (2)\")\n"},
    {"Student,ID,Section,Lab (1),Other (2)\nFirst,s1,A,,\n", "Lbb", "no column is called `Lbb`; its assignments are \"Lab (1)\", \"Other (2)\"\n"},
    {"Student,ID,Section,Lab (1)\nFirst,s1,A,\n", "Lab (2)", "no column is called `Lab (2)`; its assignments are \"Lab (1)\"\n"},
    {"Student,ID,Section,Lab (1)\nFirst,s1,A,\n", "Section", "no column is called `Section`"},
    {"Student,ID,Section,Lab (1)\nFirst,s1,A,\n", "My Final Score", "Canvas passes over a column"},
    {"Student,ID,Section,\"Lab (1)\nFirst,s1,A,\n", NULL, "never closed"},
    /* clang-format on */
};

START_TEST(what_is_no_template)
{
    read_template(refused[_i].template, refused[_i].column);
    struct bytes said = bytes_with_limit(10000);
    problems_write(&said, &problems, "t.csv");
    ck_assert_uint_gt(problems.total, 0);
    ck_assert_msg(strstr(bytes_text(&said), refused[_i].says) != NULL, "%s", bytes_text(&said));
    bytes_release(&said);
    forget();
}
END_TEST

START_TEST(no_such_file)
{
    problems = (struct problems){0};
    err = (struct error){0};
    ck_assert_int_eq(canvas_read(&canvas, "/nowhere.csv", NULL, &support_lab, &problems, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    canvas_release(&canvas);
}
END_TEST

Suite *suite_canvas(void)
{
    Suite *suite = suite_create("canvas");
    TCase *tests = tcase_create("canvas");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, templates_are_filled_in, 0, COUNT_OF(cases));
    tcase_add_loop_test(tests, what_is_no_template, 0, COUNT_OF(refused));
    tcase_add_test(tests, no_such_file);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_cmd_batch.c - `spillway batch` as an instructor meets it: a class of small repos, the real
 * program, and a toolkit of shell scripts. */
#include "testing.h"

#include <fcntl.h>
#include <git2.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "csv.h"
#include "files.h"
#include "gradebook.h"
#include "support_school.h"
#include "support_git.h"

#define QUICK "--executor", "none"
#define STUDENTS 12 /* two of each kind */

static struct school school;
static char out[560];

static void set_up(size_t students, const char *delay)
{
    school_make(&school, students, delay);
    (void)snprintf(out, sizeof out, "%s/out", school.folder);
}

#define BATCH(...) school_batch(&school, out, (const char *const[]){__VA_ARGS__, NULL})

static void assert_says(const struct process_result *result, const char *part)
{
    ck_assert_msg(strstr(bytes_text(&result->output), part) != NULL ||
                      strstr(bytes_text(&result->error), part) != NULL,
                  "expected \"%s\" in\n%.1500s%.900s", part, bytes_text(&result->output),
                  bytes_text(&result->error));
}

static void run(int exit_code, const char *const *arguments, const char *const *parts)
{
    struct process_result result = school_batch(&school, out, arguments);
    ck_assert_msg(result.exit_code == exit_code, "exit status %d\n%s%s", result.exit_code,
                  bytes_text(&result.output), bytes_text(&result.error));
    for (; *parts != NULL; ++parts)
        assert_says(&result, *parts);
    process_result_release(&result);
}
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct bytes read_out(const char *folder, const char *name)
{
    struct bytes content;
    const char *path = support_path(folder, name);
    ck_assert_msg(file_read(&content, path, (size_t)16 << 20, false) == FILE_READ, "%s", path);
    return content;
}

static void assert_in(const char *name, const char *part)
{
    struct bytes content = read_out(out, name);
    ck_assert_msg(strstr(bytes_text(&content), part) != NULL, "expected \"%s\" in %s:\n%.2500s",
                  part, name, bytes_text(&content));
    bytes_release(&content);
}

static size_t calls(const char *name)
{
    struct bytes note = fake_toolkit_note(&school.toolkit, name);
    size_t count = note.length / 2;
    bytes_release(&note);
    return count;
}

/* ---- A class ---------------------------------------------------------------------------------*/

START_TEST(a_class_is_graded)
{
    set_up(STUDENTS, "");
    run(0, LIST(QUICK),
        LIST("s001             graded 75/100 (25 pending)", "s002             graded",
             "s004             graded", "s005             missing: The repo is empty",
             "s006             missing: Commit", "12 students", "graded          8",
             "missing         4", "seed 17"));
    static const char *const files[] = {"grades.csv",
                                        "pending.csv",
                                        "gradebook.sqlite",
                                        "students/s001/feedback.txt",
                                        "students/s001/result.json",
                                        "students/s001/report.html",
                                        "students/s005/feedback.txt"};
    for (size_t i = 0; i < COUNT_OF(files); ++i)
        ck_assert_msg(access(support_path(out, files[i]), R_OK) == 0, "%s", files[i]);
    assert_in("students/s004/feedback.txt", "BROKEN");
    assert_in("students/s002/feedback.txt", "the newest commit");
    struct stat info;
    ck_assert_int_eq(stat(out, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0700);
    /* Right, near copy and blank have the same code: one compile, and one for each broken one. */
    ck_assert_uint_eq(calls("nvcc-calls"), 3);
    ck_assert_uint_eq(calls("ptxas-calls"), 2);
}
END_TEST

/* What a student is told to try when grading alone, line by line, stands in each file of the class.
 */
START_TEST(feedback_teaches_as_much_as_grading_alone)
{
    size_t lines = 0;
    set_up(3, "");
    run(0, LIST("--executor", "emulator", "--elements", "3000"), LIST("3 students"));
    const char *const arguments[] = {"grade",      school_repo(&school, 3),
                                     "--rev",      "HEAD",
                                     "--lab",      "day17-registers",
                                     "--executor", "emulator",
                                     "--elements", "3000",
                                     "--seed",     "17",
                                     "--sandbox",  "off",
                                     NULL};
    const char *const environment[] = {school.home, NULL};
    struct process_result alone = testing_spillway(arguments, environment);
    struct bytes text = read_out(out, "students/s003/feedback.txt");
    struct bytes json = read_out(out, "students/s003/result.json");
    struct bytes html = read_out(out, "students/s003/report.html");
    char *rest = alone.output.data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *remedy = strstr(line, "try:   ");
        if (remedy == NULL)
            continue;
        ++lines;
        ck_assert_msg(strstr(text.data, line) != NULL, "feedback.txt lacks \"%s\"", line);
        AUTO_FREE char *words = strdup(remedy + strlen("try:   "));
        words[strcspn(words, "\"'<>&")] = '\0'; /* as all three write it */
        ck_assert_msg(strstr(json.data, words) != NULL, "result.json lacks \"%s\"", words);
        ck_assert_msg(strstr(html.data, words) != NULL, "report.html lacks \"%s\"", words);
    }
    ck_assert_uint_gt(lines, 3);
    bytes_release(&text);
    bytes_release(&json);
    bytes_release(&html);
    process_result_release(&alone);
}
END_TEST

/* The id of branch `feedback` of a student's repo, and whether its tree has the file. */
static void look_at_feedback(size_t student, const char *path, char id[48])
{
    git_repository *repo = NULL;
    git_oid oid;
    git_object *file = NULL;
    ck_assert_int_ge(git_libgit2_init(), 0);
    ck_assert_int_eq(git_repository_open(&repo, school_repo(&school, student)), 0);
    ck_assert_int_eq(git_reference_name_to_id(&oid, repo, "refs/heads/feedback"), 0);
    (void)git_oid_tostr(id, 48, &oid);
    char spec[200];
    (void)snprintf(spec, sizeof spec, "feedback:%s", path);
    ck_assert_msg(git_revparse_single(&file, repo, spec) == 0, "no %s", spec);
    struct bytes here = read_out(out, "students/s001/feedback.txt");
    const git_blob *blob = (const git_blob *)file;
    if (student == 1 && strstr(path, "feedback.txt") != NULL) {
        ck_assert_uint_eq((size_t)git_blob_rawsize(blob), here.length);
        ck_assert(memcmp(git_blob_rawcontent(blob), here.data, here.length) == 0);
    }
    bytes_release(&here);
    git_object_free(file);
    git_repository_free(repo);
    (void)git_libgit2_shutdown();
}

START_TEST(feedback_is_published_only_when_asked)
{
    char first[48], again[48], after[48];
    set_up(6, "");
    run(0, LIST(QUICK), LIST("6 students"));
    ck_assert_int_ne(access(support_path(school_repo(&school, 1), "refs/heads/feedback"), F_OK), 0);
    run(0, LIST(QUICK, "--publish", "--student", "s001,s002"),
        LIST("feedback published to 2 repos, unchanged in 0"));
    look_at_feedback(1, "day17-registers/feedback.txt", first);
    look_at_feedback(1, "day17-registers/result.json", again);
    ck_assert_str_eq(first, again);
    look_at_feedback(1, "day17-registers/report.html", again);
    ck_assert_str_eq(first, again);
    run(0, LIST(QUICK, "--publish"), LIST("feedback published to 4 repos, unchanged in 2"));
    look_at_feedback(1, "day17-registers/feedback.txt", again);
    ck_assert_str_eq(first, again);
    /* Who hands in on works on, and grading still looks at that branch alone. */
    AUTO_FREE char *source = school_source();
    school_hand_in(&school, 1, source, NULL);
    run(0, LIST(QUICK, "--publish"),
        LIST("s001             graded", "s002             unchanged",
             "feedback published to 1 repo, unchanged in 5"));
    look_at_feedback(1, "day17-registers/feedback.txt", after);
    ck_assert_str_ne(first, after);
}
END_TEST

/* Ways of writing what the other has as FOLDER/s001. */
static const char *const spellings[] = {"s001/", "./s001", "also/../s001", "also"};

START_TEST(who_shares_a_repo_has_a_folder_each)
{
    char first[48], again[48], roster[3000];
    set_up(2, "");
    const char *path = school_repo(&school, 1);
    ck_assert_int_eq(symlink("s001", support_path(school.folder, "also")), 0);
    (void)snprintf(roster, sizeof roster,
                   "id,name,email,repo,group\ns001,A,a@example.org,%s,g\n"
                   "s002,B,b@example.org,%s/%s,g\n",
                   path, school.folder, spellings[_i]);
    testing_write(school.roster, roster, strlen(roster));
    run(0, LIST(QUICK, "--publish"), LIST("2 students", "feedback published to 2 repos"));
    look_at_feedback(1, "day17-registers-s001/feedback.txt", first);
    look_at_feedback(1, "day17-registers-s002/report.html", first);
    run(0, LIST(QUICK, "--publish"), LIST("feedback published to 0 repos, unchanged in 2"));
    look_at_feedback(1, "day17-registers-s001/feedback.txt", again);
    ck_assert_str_eq(first, again);
}
END_TEST

/* Which of two sources counted, and that it is not where --path says, stands wherever somebody
 * looks. */
START_TEST(a_source_elsewhere_is_said)
{
    set_up(3, "");
    AUTO_FREE char *source = school_source();
    const struct git_file files[] = {
        {"registers.cu", "// mine\n", 0, GIT_FILE_PLAIN},
        {"starter/day17-registers/registers.cu", source, 0, GIT_FILE_PLAIN}};
    support_git_commit(school_repo(&school, 2), files, COUNT_OF(files), NULL);
    run(0, LIST(QUICK),
        LIST("; note: registers.cu counted, and not starter/day17-registers/registers.cu",
             "noted           1  something is odd"));
    assert_in("students/s002/feedback.txt", "note        registers.cu counted, and not");
    assert_in("students/s002/report.html", "<td>registers.cu counted, and not");
    assert_in("grades.csv", "\"registers.cu counted, and not starter");
    run(0, LIST(QUICK, "--path", "nosuch"),
        LIST("s001             graded 75/100 (25 pending); note: the files were expected in "
             "nosuch, which is not there: registers.cu counted instead",
             "noted           3", "--path nosuch: nobody's source is in that folder"));
    run(0, LIST(QUICK, "--path", "nosuch"),
        LIST("s001             unchanged 75/100 (25 pending); "
             "note: the files were expected in nosuch"));
    assert_in("students/s001/feedback.txt", "expected in nosuch");
    run(0, LIST(QUICK, "--path", "starter/day17-registers"),
        LIST("--path starter/day17-registers: the source of 2 of 3 is not in that folder"));
}
END_TEST

START_TEST(what_has_not_changed_is_not_graded_again)
{
    set_up(STUDENTS, "");
    run(0, LIST(QUICK), LIST("graded          8"));
    struct bytes before = read_out(out, "grades.csv");
    run(0, LIST(QUICK),
        LIST("s001             unchanged 75/100", "s005             unchanged: missing",
             "cached         12"));
    ck_assert_uint_eq(calls("nvcc-calls"), 3);
    struct bytes after = read_out(out, "grades.csv");
    ck_assert_str_eq(bytes_text(&before), bytes_text(&after));
    /* One student goes on working. */
    AUTO_FREE char *source = school_source();
    school_hand_in(&school, 5, source, NULL);
    run(0, LIST(QUICK),
        LIST("s005             graded", "s006             unchanged", "cached         11"));
    ck_assert_uint_eq(calls("nvcc-calls"), 3); /* others had the same source */
    /* Another seed is another grading. */
    run(0, LIST(QUICK, "--seed", "18"), LIST("s001             graded", "seed 18"));
    run(0, LIST(QUICK, "--seed", "18", "--force"), LIST("s001             graded"));
    bytes_release(&before);
    bytes_release(&after);
}
END_TEST

START_TEST(some_can_be_picked)
{
    set_up(6, "");
    run(0, LIST(QUICK, "--student", "s001, s003"),
        LIST("s001             graded", "s003             graded", "waiting         4"));
    run(0, LIST(QUICK, "--student", "s004", "--student", "s005"),
        LIST("s004             graded", "s005             missing", "waiting         2"));
    run(2, LIST(QUICK, "--student", "s007"), LIST("--student s007: there is no such id"));
    run(0, LIST(QUICK), LIST("s002             graded", "s001             unchanged"));
    struct process_result failed = BATCH(QUICK, "--failed", "--force");
    assert_says(&failed, "s004             graded");
    assert_says(&failed, "s005             missing");
    ck_assert_ptr_null(strstr(bytes_text(&failed.output), "s001 "));
    process_result_release(&failed);
    run(0, LIST(QUICK, "--since", "2020-01-01 00:00 UTC"), LIST("s001             unchanged"));
    struct process_result since = BATCH(QUICK, "--since", "2100-01-01 00:00 UTC");
    ck_assert_ptr_null(strstr(bytes_text(&since.output), "s001 "));
    process_result_release(&since);
}
END_TEST

START_TEST(trouble_is_apart_and_tried_again)
{
    set_up(3, "");
    char hidden[560];
    (void)snprintf(hidden, sizeof hidden, "%s-away", school_repo(&school, 2));
    ck_assert_int_eq(rename(school_repo(&school, 2), hidden), 0);
    run(3, LIST(QUICK),
        LIST("s001             graded", "s002             not graded: There is no folder",
             "trouble         1", "1 student could not be graded", "--retry"));
    assert_in("trouble.csv", "s002,");
    ck_assert_int_eq(rename(hidden, school_repo(&school, 2)), 0);
    struct process_result again = BATCH(QUICK, "--retry");
    ck_assert_int_eq(again.exit_code, 0);
    assert_says(&again, "s002             graded");
    ck_assert_ptr_null(strstr(bytes_text(&again.output), "s001 "));
    process_result_release(&again);
    /* A repo that is gone later leaves what was graded. */
    ck_assert_int_eq(rename(school_repo(&school, 2), hidden), 0);
    run(3, LIST(QUICK), LIST("s002             not graded", "graded          3"));
    assert_in("trouble.csv", "s002,");
    /* It comes back as it was: nothing to grade, and the trouble is over. */
    ck_assert_int_eq(rename(hidden, school_repo(&school, 2)), 0);
    run(0, LIST(QUICK, "--retry"), LIST("s002             unchanged"));
    struct bytes table = read_out(out, "trouble.csv");
    ck_assert_ptr_null(strstr(bytes_text(&table), "s002"));
    bytes_release(&table);
    run(0, LIST(QUICK, "--retry"), LIST("trouble of the machine keeps nobody"));
}
END_TEST

START_TEST(points_by_hand_hold)
{
    set_up(3, "");
    const char *path = support_path(school.folder, "appeals.csv");
    static const char appeals[] =
        "student,mark,points,reason\ns003,shift.frame,0,copied\ns003,counts.decayNarrow,3,shown\n";
    testing_write(path, appeals, sizeof appeals - 1);
    run(0, LIST(QUICK, "--override", path), LIST("s003             graded"));
    assert_in("students/s003/feedback.txt", "copied");
    run(0, LIST(QUICK), LIST("s003             unchanged"));
    assert_in("students/s003/feedback.txt", "copied");
    static const char wrong[] = "student,mark,points,reason\ns009,shift.frame,0,x\ns001,none,0,x\n";
    testing_write(path, wrong, sizeof wrong - 1);
    run(2, LIST(QUICK, "--override", path), LIST("s009", "none", "2 problems: nothing was graded"));
}
END_TEST

/* Everything was committed on 2023-11-14 at 22:13 UTC. */
#define LATE_BY_A_DAY "2023-11-14 12:00 UTC"

/* A line shows the score that counts, and says why it is not what the marks earned. */
START_TEST(lines_show_the_score_that_counts)
{
    set_up(5, "");
    const char *path = support_path(school.folder, "appeals.csv");
    static const char appeals[] = "student,mark,points,reason\ns003,counts.decayNarrow,3,shown\n"
                                  "s005,counts.decayNarrow,3,on paper\n";
    testing_write(path, appeals, sizeof appeals - 1);
    run(0, LIST(QUICK, "--deadline", LATE_BY_A_DAY, "--late", "percent=10", "--override", path),
        LIST("s001             graded 68/100 (25 pending; late: 7.5 of 75 taken)",
             "; 1 mark set by hand)", "s005             missing, 3/100 (1 mark set by hand): "));
    run(0, LIST(QUICK),
        LIST("Other terms than the last time", "--late percent=10 --executor none\n",
             "now    --executor none"));
    run(0, LIST(QUICK, "--deadline", LATE_BY_A_DAY, "--late", "percent=10"),
        LIST("before --executor none"));
    struct process_result same = BATCH(QUICK, "--deadline", LATE_BY_A_DAY, "--late", "percent=10");
    ck_assert_ptr_null(strstr(bytes_text(&same.output), "Other terms"));
    process_result_release(&same);
    run(0, LIST(QUICK, "--deadline", LATE_BY_A_DAY, "--late", "percent=10"),
        LIST("s001             unchanged 68/100 (25 pending; late: 7.5 of 75 taken)",
             "s005             unchanged: missing, 3/100 (1 mark set by hand)"));
    assert_in("grades.csv", "\ns001,Student 1,s001@example.org,,graded,68,");
}
END_TEST

/* What a student wrote to the instructor is not dropped without a word. */
START_TEST(an_explanation_that_is_not_read_is_said)
{
    static char large[40000];
    set_up(6, "");
    AUTO_FREE char *source = school_source();
    memset(large, 'x', sizeof large);
    const struct {
        size_t student;
        struct git_file file;
        const char *said;
    } rows[] = {
        {1, {"explain.md", "a\0b", 3, GIT_FILE_PLAIN}, "holds NUL bytes, as UTF-16 has"},
        {2, {"explain.md", large, sizeof large, GIT_FILE_PLAIN}, "has 40000 bytes; 32000 are read"},
        {3, {"explain.md", "/etc/passwd", 0, GIT_FILE_LINK}, "is a symbolic link"},
        {4, {"explain.md/x", "x", 0, GIT_FILE_PLAIN}, "is a folder"},
        {5, {"explain.md", "\xFF\r\n=1+1", 0, GIT_FILE_PLAIN}, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        const struct git_file files[] = {{"registers.cu", source, 0, GIT_FILE_PLAIN}, rows[i].file};
        support_git_commit(school_repo(&school, rows[i].student), files, COUNT_OF(files), NULL);
    }
    run(0, LIST(QUICK), LIST("noted           4"));
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char name[60], row[20];
        (void)snprintf(name, sizeof name, "students/s%03zu/feedback.txt", rows[i].student);
        (void)snprintf(row, sizeof row, "\ns%03zu,", rows[i].student);
        struct bytes table = read_out(out, "explanations.csv");
        ck_assert((strstr(table.data, row) != NULL) == (rows[i].said == NULL));
        bytes_release(&table);
        if (rows[i].said != NULL)
            assert_in(name, rows[i].said);
    }
    assert_in("explanations.csv", "?\n'=1+1"); /* one cell, and no formula */
}
END_TEST

/* A roster that lost rows looks like students who left. */
START_TEST(who_left_the_roster_is_said)
{
    set_up(4, "");
    struct bytes whole = read_out(school.folder, "roster.csv");
    run(0, LIST(QUICK), LIST("graded          4"));
    char *second = strstr(whole.data, "\ns002,");
    testing_write(school.roster, whole.data, (size_t)(second + 1 - whole.data));
    run(0, LIST(QUICK),
        LIST("No longer in the roster: s002, s003, s004. Their history", "1 student\n"));
    struct process_result again = BATCH(QUICK);
    ck_assert_ptr_null(strstr(bytes_text(&again.output), "No longer"));
    process_result_release(&again);
    testing_write(school.roster, whole.data, whole.length);
    run(0, LIST(QUICK), LIST("s004             unchanged", "graded          4"));
    bytes_release(&whole);
}
END_TEST

START_TEST(nobody_to_grade_is_said)
{
    set_up(1, "");
    run(0, LIST(QUICK), LIST("graded 75/100"));
    run(0, LIST(QUICK, "--retry"),
        LIST("Nothing to do. --retry: trouble of the machine keeps nobody"));
    run(0, LIST(QUICK, "--since", "2100-01-01 00:00 UTC"), LIST("Nothing to do. --since: nobody"));
    run(0, LIST(QUICK, "--retry", "--student", "s001"),
        LIST("Nothing to do. The options together"));
}
END_TEST

/* Such as of another class, or of this one with the ids spelt otherwise. */
START_TEST(pushes_of_nobody_are_counted)
{
    set_up(1, "");
    const char *path = support_path(school.folder, "pushes.csv");
#define PUSH ",0123456789012345678901234567890123456789,@1\n"
    static const char all[] = "id,commit,time\nS001" PUSH "s002" PUSH;
    static const char one[] = "id,commit,time\ns001" PUSH "s002" PUSH;
    testing_write(path, all, sizeof all - 1);
    run(0, LIST(QUICK, "--pushed-at", path), LIST("all of its 2 rows name nobody of the roster"));
    testing_write(path, one, sizeof one - 1);
    run(0, LIST(QUICK, "--pushed-at", path), LIST("pushes.csv: 1 row names nobody of the roster"));
}
END_TEST

START_TEST(an_only_column_of_canvas_is_named)
{
    set_up(1, "");
    const char *path = support_path(school.folder, "export.csv");
    static const char one[] = "Student,ID,SIS User ID,Section,Essay (7)\nOne,1,s001,A,\n";
    testing_write(path, one, sizeof one - 1);
    run(0, LIST(QUICK, "--canvas", path),
        LIST("\"Essay (7)\" does not name the lab, but is its only assignment",
             "column \"Essay (7)"));
    static const char two[] = "Student,ID,SIS User ID,Section,Essay (7),Quiz (8)\nOne,1,s001,A,,\n";
    testing_write(path, two, sizeof two - 1);
    run(2, LIST(QUICK, "--canvas", path), LIST("of \"Essay (7)\", \"Quiz (8)\""));
}
END_TEST

/* ---- Day after day ----------------------------------------------------------------------------*/

static void work_on(void)
{
    AUTO_FREE char *source = school_source();
    school_hand_in(&school, 5, source, NULL); /* who had handed in nothing */
    school_hand_in(&school, 1, "// gone\n", NULL);
}

static void move_the_source(void)
{
    AUTO_FREE char *source = school_source();
    const struct git_file files[] = {
        {"registers.cu", "// another\n", 0, GIT_FILE_PLAIN},
        {"starter/day17-registers/registers.cu", source, 0, GIT_FILE_PLAIN}};
    support_git_commit(school_repo(&school, 2), files, COUNT_OF(files), NULL);
}

static void spell_otherwise(void)
{
    struct bytes roster = read_out(school.folder, "roster.csv");
    struct bytes changed = bytes_with_limit((size_t)1 << 20);
    const char *at = strstr(roster.data, "/s003\n");
    bytes_append(&changed, roster.data, (size_t)(at - roster.data));
    bytes_printf(&changed, "/.%s", at);
    testing_write(school.roster, changed.data, changed.length);
    bytes_release(&roster);
    bytes_release(&changed);
}

/* The last student leaves. */
static void lose_a_row(void)
{
    struct bytes roster = read_out(school.folder, "roster.csv");
    roster.data[roster.length - 1] = '\0';
    testing_write(school.roster, roster.data,
                  (size_t)(strrchr(roster.data, '\n') + 1 - roster.data));
    bytes_release(&roster);
}

static const struct {
    void (*change)(void); /* before the batch */
    const char *arguments[4];
} days[] = {
    {NULL, {NULL}},
    {work_on, {NULL}},
    {NULL, {"--deadline", LATE_BY_A_DAY, "--late", "percent=10"}},
    {move_the_source, {"--path", "starter/day17-registers"}},
    {spell_otherwise, {"--path", "nosuch", "--head"}},
    {lose_a_row, {"--deadline", "2023-11-01 12:00 UTC"}},
    {NULL, {NULL}},
};

static void assert_same_table(const char *a, const char *b)
{
    struct csv one, other;
    struct problems problems = {0};
    struct error err = {0};
    ck_assert_int_eq(csv_read(&one, support_path(a, "grades.csv"), &problems, &err), 0);
    ck_assert_int_eq(csv_read(&other, support_path(b, "grades.csv"), &problems, &err), 0);
    ck_assert_uint_eq(one.row_count, other.row_count);
    for (size_t i = 0; i < one.row_count; ++i)
        for (size_t j = 0; j < one.rows[0].count; ++j)
            if (strcmp(csv_cell(&one.rows[0], j), "attempt") != 0)
                ck_assert_msg(strcmp(csv_cell(&one.rows[i], j), csv_cell(&other.rows[i], j)) == 0,
                              "%s of %s: %s, afresh %s", csv_cell(&one.rows[0], j),
                              csv_cell(&one.rows[i], 0), csv_cell(&one.rows[i], j),
                              csv_cell(&other.rows[i], j));
    csv_release(&one);
    csv_release(&other);
}

/* Whatever changes between two batches, in the end the folder holds what one batch gives. */
START_TEST(going_on_equals_starting_afresh)
{
    set_up(6, "");
    for (size_t day = 0; day < COUNT_OF(days); ++day) {
        const char *arguments[8] = {QUICK};
        char afresh[600], name[64];
        (void)snprintf(afresh, sizeof afresh, "%s-%zu", out, day);
        if (days[day].change != NULL)
            days[day].change();
        for (size_t i = 0; i < 4 && days[day].arguments[i] != NULL; ++i)
            arguments[i + 2] = days[day].arguments[i];
        run(0, arguments, LIST("seed 17"));
        struct process_result result = school_batch(&school, afresh, arguments);
        ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
        process_result_release(&result);
        assert_same_table(out, afresh);
        for (size_t i = 1; i <= 5; ++i) {
            (void)snprintf(name, sizeof name, "students/s%03zu/feedback.txt", i);
            struct bytes one = read_out(out, name), other = read_out(afresh, name);
            ck_assert_msg(strcmp(bytes_text(&one), bytes_text(&other)) == 0,
                          "day %zu, %s:\n%s---\n%s", day, name, one.data, other.data);
            bytes_release(&one);
            bytes_release(&other);
        }
    }
}
END_TEST

/* ---- Refusals --------------------------------------------------------------------------------*/

static const struct {
    const char *arguments[5];
    const char *said;
} refusals[] = {
    {{"--lab", "day99"}, "there is no lab \"day99\""},
    {{"--deadline", "tomorrow"}, "--deadline \"tomorrow\""},
    {{"--zone", "Mars/Olympus"}, "--zone Mars/Olympus"},
    {{"--late", "percent=ten"}, "percent"},
    {{"--late", "percent=10"}, "late after what?"},
    {{"--tag", "x", "--head"}, "--tag and --head"},
    {{"--canvas-column", "Day 17"}, "--canvas FILE"},
    {{"--jobs", "0"}, "--jobs"},
    {{"--executor", "cloud"}, "auto, gpu, emulator or none"},
    {{"--arch", "sm_999"}, "nvcc 13.0.88 does not compile for sm_999"},
    {{"--sandbox", "maybe"}, "auto, on or off"},
    {{"--bogus"}, "--bogus"},
    {{"another.csv"}, "one roster at a time"},
    {{"--override", "none.csv"}, "none.csv"},
    {{"--student", ""}, "--student \"\" names nobody"},
    {{"--student", " , ", "--force"}, "--student \" , \" names nobody"},
    {{"--out", ""}, "--out \"\" names no folder"},
};

START_TEST(refused)
{
    set_up(1, "");
    struct process_result result = school_batch(&school, out, refusals[_i].arguments);
    ck_assert_int_eq(result.exit_code, 2);
    assert_says(&result, refusals[_i].said);
    process_result_release(&result);
}
END_TEST

START_TEST(another_batch_is_at_work)
{
    set_up(1, "");
    run(0, LIST(QUICK), LIST("graded"));
    AUTO_CLOSE int fd = open(support_path(out, "lock"), O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    run(2, LIST(QUICK), LIST("another batch is at work"));
}
END_TEST

START_TEST(a_folder_is_of_one_lab)
{
    set_up(1, "");
    struct gradebook *book = NULL;
    struct error err = {0};
    ck_assert_int_eq(mkdir(out, 0755), 0);
    ck_assert_int_eq(gradebook_open(&book, support_path(out, "gradebook.sqlite"), &err), 0);
    ck_assert_int_eq(gradebook_set(book, "lab", "another-lab", &err), 0);
    gradebook_close(book);
    run(2, LIST(QUICK), LIST("holds the grades of the lab another-lab"));
}
END_TEST

START_TEST(a_folder_with_other_things_is_left_alone)
{
    struct stat info;
    set_up(1, "");
    ck_assert_int_eq(mkdir(out, 0755), 0);
    const char *hidden = support_path(out, ".gitignore");
    testing_write(hidden, "*", 1);
    run(0, LIST(QUICK), LIST("graded          1")); /* which is nothing */
    (void)snprintf(out, sizeof out, "%s/shared", school.folder);
    ck_assert_int_eq(mkdir(out, 0755), 0);
    testing_write(support_path(out, "notes"), "x", 1);
    run(2, LIST(QUICK), LIST("holds other things and no gradebook"));
    ck_assert_int_eq(stat(out, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0755);
    ck_assert_int_ne(access(support_path(out, "lock"), F_OK), 0);
}
END_TEST

START_TEST(other_ways_of_grading_are_said)
{
    set_up(1, "");
    run(0, LIST(QUICK), LIST("graded          1"));
    run(0, LIST(QUICK, "--arch", "sm_75", "--elements", "3000", "--launch-seconds", "9"),
        LIST("before --executor none\n  now    --arch sm_75 --executor none --elements 3000 "
             "--launch-seconds 9\n"));
}
END_TEST

/* What lies where a folder or file of a batch belongs: said with what and where, never followed. */
static const struct {
    const char *name, *said;
    bool link; /* else a file, or for the gradebook a folder */
} strays[] = {
    {"students/s002", "/students/s002 is a symbolic link, where a folder belongs", true},
    {"students/s002", "/students/s002 is a file, where a folder belongs", false},
    {"students", "/students is a symbolic link, where a folder belongs", true},
    {"students", "/students is a file, where a folder belongs", false},
    {"gradebook.sqlite", "/gradebook.sqlite is a symbolic link that leads to no file", true},
    {"lock", "/lock is a symbolic link, which was not followed, so no batch can work there", true},
};

START_TEST(a_stray_file_is_said)
{
    set_up(2, "");
    AUTO_FREE char *stray = strdup(support_path(out, strays[_i].name));
    AUTO_FREE char *elsewhere = strdup(support_path(school.folder, "elsewhere"));
    AUTO_FREE char *away = strdup(support_path(school.folder, "away"));
    run(0, LIST(QUICK), LIST("graded          2"));
    ck_assert_int_eq(mkdir(elsewhere, 0700), 0);
    ck_assert_int_eq(rename(stray, away), 0);
    if (strays[_i].link)
        ck_assert_int_eq(symlink(elsewhere, stray), 0);
    else
        testing_write(stray, "mine", 4);
    run(3, LIST(QUICK, "--force"), LIST(strays[_i].said));
    ck_assert_int_eq(rmdir(elsewhere), 0); /* nothing is in it */
    /* It keeps nobody from being graded, and no other file from being written. */
    if (strncmp(strays[_i].name, "students", 8) == 0) {
        ck_assert_int_eq(unlink(support_path(out, "grades.csv")), 0);
        run(3, LIST(QUICK, "--seed", "18"),
            LIST("s001             graded 75/100", "s002             graded 75/100",
                 "; not written: ", "2 of 2 students are finished and safe", "but not all of"));
        assert_in("grades.csv", "\ns002,Student 2,");
    }
    ck_assert_int_eq(unlink(stray), 0);
    ck_assert_int_eq(rename(away, stray), 0);
    run(0, LIST(QUICK, "--seed", "18"), LIST("graded          2"));
    assert_in("students/s002/feedback.txt", "seed        18");
}
END_TEST

/* ---- Stopped and going on --------------------------------------------------------------------*/

struct child {
    pid_t pid;
    int output; /* both streams */
};

static struct child start(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    struct child child = {.pid = fork(), .output = ends[0]};
    ck_assert_int_ge(child.pid, 0);
    if (child.pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)setenv("CUDA_HOME", school.toolkit.home, 1);
        (void)setenv("PATH", "/usr/bin:/bin", 1); /* as testing_spillway() has it */
        (void)execl(testing_binary(), "spillway", "batch", school.roster, "--lab",
                    "day17-registers", "--out", out, "--seed", "17", "--sandbox", "off",
                    "--executor", "emulator", "--elements", "3000", (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    return child;
}

/* Reads until `lines` students are finished, or the end. */
static struct bytes read_lines(const struct child *child, size_t lines)
{
    struct bytes text = bytes_with_limit((size_t)1 << 20);
    char c = '\0';
    while (lines > 0 && read(child->output, &c, 1) == 1) {
        bytes_append(&text, &c, 1);
        lines -= c == '\n';
    }
    return text;
}

static int end(struct child *child, int signal)
{
    int status = 0;
    if (signal != 0)
        (void)kill(child->pid, signal);
    ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
    (void)close(child->output);
    return status;
}

/* The gradebook opens, and holds everybody whose line was printed. */
static void assert_holds(const char *printed)
{
    struct gradebook *book = NULL;
    struct error err = {0};
    if (access(support_path(out, "gradebook.sqlite"), F_OK) != 0) {
        ck_assert_str_eq(printed, "");
        return;
    }
    ck_assert_msg(gradebook_open(&book, support_path(out, "gradebook.sqlite"), &err) == 0, "%s",
                  err.text);
    AUTO_FREE char *copy = strdup(printed);
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && rest != NULL;) {
        char id[5];
        struct attempt attempt;
        bool found = false;
        if (line[0] != 's' || strstr(line, "graded") == NULL || strstr(line, "not graded") != NULL)
            continue;
        (void)snprintf(id, sizeof id, "%.4s", line);
        ck_assert_int_eq(gradebook_latest(book, id, 0, &attempt, &found, &err), 0);
        ck_assert_msg(found, "%s was said to be finished, and is not in the gradebook", id);
        attempt_release(&attempt);
    }
    gradebook_close(book);
}

static const char *const compared[] = {"grades.csv", "pending.csv", "explanations.csv",
                                       "trouble.csv"};

static void assert_same_file(const char *a, const char *b, const char *name)
{
    struct bytes one = read_out(a, name), other = read_out(b, name);
    const char *x = bytes_text(&one), *y = bytes_text(&other);
    size_t at = 0, line = 0;
    for (; x[at] != '\0' && x[at] == y[at]; ++at)
        line = x[at] == '\n' ? at + 1 : line;
    ck_assert_msg(one.length == other.length && x[at] == '\0', "%s differs:\n%.900s\n---\n%.900s",
                  name, x + line, y + line);
    bytes_release(&one);
    bytes_release(&other);
}

static void assert_same_results(const char *a, const char *b)
{
    for (size_t i = 0; i < COUNT_OF(compared); ++i)
        assert_same_file(a, b, compared[i]);
    for (size_t i = 1; i <= school.students; ++i) {
        char name[64];
        (void)snprintf(name, sizeof name, "students/s%03zu/feedback.txt", i);
        assert_same_file(a, b, name);
        (void)snprintf(name, sizeof name, "students/s%03zu/result.json", i);
        assert_same_file(a, b, name);
        (void)snprintf(name, sizeof name, "students/s%03zu/report.html", i);
        assert_same_file(a, b, name);
    }
}

/* The class graded without a stop, in out-straight. */
static void grade_straight(char straight[600])
{
    (void)snprintf(straight, 600, "%s-straight", out);
    struct process_result result =
        school_batch(&school, straight, LIST("--executor", "emulator", "--elements", "3000"));
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    process_result_release(&result);
}

static void finish_and_compare(const char *straight)
{
    struct process_result result = BATCH("--executor", "emulator", "--elements", "3000");
    ck_assert_msg(result.exit_code == 0, "%s%s", bytes_text(&result.output),
                  bytes_text(&result.error));
    process_result_release(&result);
    assert_same_results(straight, out);
}

static size_t kills(void)
{
    const char *wish = getenv("SPILLWAY_TEST_KILLS");
    return wish != NULL && strcmp(wish, "100") == 0 ? 100 : 10;
}

START_TEST(killed_at_any_moment_nothing_is_lost)
{
    char straight[600];
    set_up(STUDENTS, "sleep 0.05");
    struct timespec began, ended;
    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    grade_straight(straight);
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    int64_t whole_us =
        (ended.tv_sec - began.tv_sec) * 1000000 + (ended.tv_nsec - began.tv_nsec) / 1000;
    unsigned seed = (unsigned)began.tv_nsec;
    for (size_t i = 0; i < kills(); ++i) {
        /* Anew at times, so that every moment has its turn. */
        if (i % 3 == 0) {
            (void)snprintf(out, sizeof out, "%s/out-%zu", school.folder, i);
        }
        struct child child = start();
        (void)usleep((useconds_t)((uint64_t)rand_r(&seed) % (uint64_t)whole_us));
        (void)kill(child.pid, SIGKILL);
        struct bytes printed = read_lines(&child, SIZE_MAX);
        (void)end(&child, 0);
        assert_holds(bytes_text(&printed));
        bytes_release(&printed);
        if (i % 3 == 2 || i + 1 == kills())
            finish_and_compare(straight);
    }
}
END_TEST

START_TEST(interrupted_it_ends_cleanly_and_says_how_to_go_on)
{
    char straight[600];
    set_up(STUDENTS, "sleep 0.2");
    grade_straight(straight);
    struct child child = start();
    struct bytes first = read_lines(&child, 2);
    (void)kill(child.pid, SIGINT);
    struct bytes rest = read_lines(&child, SIZE_MAX);
    int status = end(&child, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 130, "%x: %s", (unsigned)status,
                  bytes_text(&rest));
    ck_assert_msg(strstr(bytes_text(&rest), "the same command goes on") != NULL, "%s",
                  bytes_text(&rest));
    assert_holds(bytes_text(&first));
    bytes_release(&first);
    bytes_release(&rest);
    finish_and_compare(straight);
}
END_TEST

/* Whom trouble of the machine kept from being graded is not finished. */
START_TEST(interrupted_it_counts_trouble_apart)
{
    char expected[200];
    set_up(4, "sleep 0.3");
    AUTO_FREE char *hidden = strdup(support_path(school.folder, "away"));
    ck_assert_int_eq(rename(school_repo(&school, 2), hidden), 0);
    struct child child = start();
    struct bytes said = read_lines(&child, 1);
    while (strstr(bytes_text(&said), "s002             not graded") == NULL) {
        struct bytes line = read_lines(&child, 1);
        ck_assert_msg(line.length > 0, "%s", bytes_text(&said));
        bytes_append_text(&said, bytes_text(&line));
        bytes_release(&line);
    }
    (void)kill(child.pid, SIGINT);
    struct bytes rest = read_lines(&child, SIZE_MAX);
    bytes_append_text(&said, bytes_text(&rest));
    int status = end(&child, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    size_t finished = 0;
    for (const char *at = bytes_text(&said); (at = strstr(at, "  graded ")) != NULL; ++at)
        ++finished;
    ck_assert_uint_lt(finished, 3);
    (void)snprintf(expected, sizeof expected,
                   "%zu of 4 students are finished and safe in %s, and 1 could not be graded",
                   finished, out);
    ck_assert_msg(strstr(bytes_text(&said), expected) != NULL, "expected \"%s\" in\n%s", expected,
                  bytes_text(&said));
    bytes_release(&rest);
    bytes_release(&said);
    ck_assert_int_eq(rename(hidden, school_repo(&school, 2)), 0);
    struct process_result result = BATCH("--executor", "emulator", "--elements", "3000");
    ck_assert_int_eq(result.exit_code, 0);
    assert_says(&result, "s002             graded");
    process_result_release(&result);
}
END_TEST

Suite *suite_cmd_batch(void)
{
    Suite *suite = suite_create("cmd_batch");
    TCase *tests = tcase_create("class");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, a_class_is_graded);
    tcase_add_test(tests, feedback_teaches_as_much_as_grading_alone);
    tcase_add_test(tests, feedback_is_published_only_when_asked);
    tcase_add_loop_test(tests, who_shares_a_repo_has_a_folder_each, 0, (int)COUNT_OF(spellings));
    tcase_add_test(tests, a_source_elsewhere_is_said);
    tcase_add_test(tests, what_has_not_changed_is_not_graded_again);
    tcase_add_test(tests, some_can_be_picked);
    tcase_add_test(tests, trouble_is_apart_and_tried_again);
    tcase_add_test(tests, points_by_hand_hold);
    tcase_add_test(tests, lines_show_the_score_that_counts);
    tcase_add_test(tests, an_explanation_that_is_not_read_is_said);
    tcase_add_test(tests, who_left_the_roster_is_said);
    tcase_add_test(tests, nobody_to_grade_is_said);
    tcase_add_test(tests, pushes_of_nobody_are_counted);
    tcase_add_test(tests, an_only_column_of_canvas_is_named);
    tcase_add_test(tests, going_on_equals_starting_afresh);
    tcase_add_loop_test(tests, refused, 0, (int)COUNT_OF(refusals));
    tcase_add_test(tests, another_batch_is_at_work);
    tcase_add_test(tests, a_folder_is_of_one_lab);
    tcase_add_test(tests, a_folder_with_other_things_is_left_alone);
    tcase_add_test(tests, other_ways_of_grading_are_said);
    tcase_add_loop_test(tests, a_stray_file_is_said, 0, (int)COUNT_OF(strays));
    suite_add_tcase(suite, tests);
    TCase *stops = tcase_create("stops");
    tcase_set_timeout(stops, 1200);
    tcase_add_test(stops, interrupted_it_ends_cleanly_and_says_how_to_go_on);
    tcase_add_test(stops, interrupted_it_counts_trouble_apart);
    tcase_add_test(stops, killed_at_any_moment_nothing_is_lost);
    suite_add_tcase(suite, stops);
    return suite;
}

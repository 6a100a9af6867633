/* check_cmd_batch.c - `spillway batch` as an instructor meets it: a class of small repos, the real
 * program, and a toolkit of shell scripts. */
#include "testing.h"

#include <git2.h>
#include <sys/stat.h>

#include "files.h"
#include "support_batch.h"
#include "support_git.h"

#define STUDENTS 12 /* two of each kind */

static size_t calls(const char *name)
{
    struct bytes note = fake_toolkit_note(&batch_school.toolkit, name);
    size_t count = note.length / 2;
    bytes_release(&note);
    return count;
}

/* ---- A class ---------------------------------------------------------------------------------*/

START_TEST(a_class_is_graded)
{
    batch_set_up(STUDENTS, "");
    batch_expect(0, LIST(QUICK),
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
        ck_assert_msg(access(support_path(batch_out, files[i]), R_OK) == 0, "%s", files[i]);
    batch_assert_in("students/s004/feedback.txt", "BROKEN");
    batch_assert_in("students/s002/feedback.txt", "the newest commit");
    struct stat info;
    ck_assert_int_eq(stat(batch_out, &info), 0);
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
    batch_set_up(3, "");
    batch_expect(0, LIST("--executor", "emulator", "--elements", "3000"), LIST("3 students"));
    const char *const arguments[] = {"grade",      school_repo(&batch_school, 3),
                                     "--rev",      "HEAD",
                                     "--lab",      "day17-registers",
                                     "--executor", "emulator",
                                     "--elements", "3000",
                                     "--seed",     "17",
                                     "--sandbox",  "off",
                                     NULL};
    const char *const environment[] = {batch_school.home, NULL};
    struct process_result alone = testing_spillway(arguments, environment);
    struct bytes text = batch_read(batch_out, "students/s003/feedback.txt");
    struct bytes json = batch_read(batch_out, "students/s003/result.json");
    struct bytes html = batch_read(batch_out, "students/s003/report.html");
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
    ck_assert_int_eq(git_repository_open(&repo, school_repo(&batch_school, student)), 0);
    ck_assert_int_eq(git_reference_name_to_id(&oid, repo, "refs/heads/feedback"), 0);
    (void)git_oid_tostr(id, 48, &oid);
    char spec[200];
    (void)snprintf(spec, sizeof spec, "feedback:%s", path);
    ck_assert_msg(git_revparse_single(&file, repo, spec) == 0, "no %s", spec);
    struct bytes here = batch_read(batch_out, "students/s001/feedback.txt");
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
    batch_set_up(6, "");
    batch_expect(0, LIST(QUICK), LIST("6 students"));
    ck_assert_int_ne(
        access(support_path(school_repo(&batch_school, 1), "refs/heads/feedback"), F_OK), 0);
    batch_expect(0, LIST(QUICK, "--publish", "--student", "s001,s002"),
                 LIST("feedback published to 2 repos, unchanged in 0"));
    look_at_feedback(1, "day17-registers/feedback.txt", first);
    look_at_feedback(1, "day17-registers/result.json", again);
    ck_assert_str_eq(first, again);
    look_at_feedback(1, "day17-registers/report.html", again);
    ck_assert_str_eq(first, again);
    batch_expect(
        0, LIST(QUICK, "--publish"),
        LIST("feedback published to 3 repos, unchanged in 2\n1 repo without a branch got none"));
    look_at_feedback(1, "day17-registers/feedback.txt", again);
    ck_assert_str_eq(first, again);
    /* Who hands in on works on, and grading still looks at that branch alone. */
    AUTO_FREE char *source = school_source();
    school_hand_in(&batch_school, 1, source, NULL);
    batch_expect(0, LIST(QUICK, "--publish"),
                 LIST("s001             graded", "s002             unchanged",
                      "feedback published to 1 repo, unchanged in 4"));
    look_at_feedback(1, "day17-registers/feedback.txt", after);
    ck_assert_str_ne(first, after);
}
END_TEST

/* Ways of writing what the other has as FOLDER/s001. */
static const char *const spellings[] = {"s001/", "./s001", "also/../s001", "also"};

START_TEST(who_shares_a_repo_has_a_folder_each)
{
    char first[48], again[48], roster[3000];
    batch_set_up(2, "");
    const char *path = school_repo(&batch_school, 1);
    ck_assert_int_eq(symlink("s001", support_path(batch_school.folder, "also")), 0);
    (void)snprintf(roster, sizeof roster,
                   "id,name,email,repo,group\ns001,A,a@example.org,%s,g\n"
                   "s002,B,b@example.org,%s/%s,g\n",
                   path, batch_school.folder, spellings[_i]);
    testing_write(batch_school.roster, roster, strlen(roster));
    batch_expect(
        0, LIST(QUICK, "--publish"),
        LIST("2 students", "feedback published to 1 repo (of 2 students), unchanged in 0"));
    look_at_feedback(1, "day17-registers-s001/feedback.txt", first);
    look_at_feedback(1, "day17-registers-s002/report.html", first);
    batch_expect(0, LIST(QUICK, "--publish"),
                 LIST("feedback published to 0 repos, unchanged in 1"));
    look_at_feedback(1, "day17-registers-s001/feedback.txt", again);
    ck_assert_str_eq(first, again);
}
END_TEST

/* Which of two sources counted, and that it is not where --path says, stands wherever somebody
 * looks. */
START_TEST(a_source_elsewhere_is_said)
{
    batch_set_up(3, "");
    AUTO_FREE char *source = school_source();
    const struct git_file files[] = {
        {"registers.cu", "// mine\n", 0, GIT_FILE_PLAIN},
        {"starter/day17-registers/registers.cu", source, 0, GIT_FILE_PLAIN}};
    support_git_commit(school_repo(&batch_school, 2), files, COUNT_OF(files), NULL);
    batch_expect(0, LIST(QUICK),
                 LIST("; note: registers.cu counted, and not starter/day17-registers/registers.cu",
                      "noted           1  something is odd"));
    batch_assert_in("students/s002/feedback.txt", "note        registers.cu counted, and not");
    batch_assert_in("students/s002/report.html", "<td>registers.cu counted, and not");
    batch_assert_in("grades.csv", "\"registers.cu counted, and not starter");
    batch_expect(
        0, LIST(QUICK, "--path", "nosuch"),
        LIST("s001             graded 75/100 (25 pending); note: the files were expected in "
             "nosuch, which is not there: registers.cu counted instead",
             "noted           3", "--path nosuch: nobody's source is in that folder"));
    batch_expect(0, LIST(QUICK, "--path", "nosuch"),
                 LIST("s001             unchanged 75/100 (25 pending); "
                      "note: the files were expected in nosuch"));
    batch_assert_in("students/s001/feedback.txt", "expected in nosuch");
    batch_expect(
        0, LIST(QUICK, "--path", "starter/day17-registers"),
        LIST("--path starter/day17-registers: the source of 2 of 3 is not in that folder"));
}
END_TEST

/* The README alone makes nobody late; other work does, and what was in time can still be had. */
START_TEST(late_and_unchanged_is_in_time)
{
    enum { NEXT_NOON = SUPPORT_GIT_DATE + 50000 };
    char id[48], note[400], roster[3000];
    batch_set_up(3, "");
    AUTO_FREE char *source = school_source();
    AUTO_FREE char *answers = school_answers();
    AUTO_FREE char *other = NULL;
    ck_assert_int_gt(asprintf(&other, "%s// finished at last\n", source), 0);
    const struct git_file same[] = {{.path = "registers.cu", .data = source},
                                    {.path = "answers.ini", .data = answers},
                                    {.path = "README.md", .data = "mine\n"}};
    const struct git_file work[] = {{.path = "registers.cu", .data = other},
                                    {.path = "answers.ini", .data = answers}};
    /* The third had what was handed out until the next day: nothing to point at. */
    struct bytes blank;
    ck_assert(file_read(&blank, "starter/day17-registers/registers.cu", (size_t)1 << 20, false) ==
              FILE_READ);
    const struct git_file handed_out = {.path = "registers.cu", .data = bytes_text(&blank)};
    support_git_commit(school_repo(&batch_school, 3), &handed_out, 1, NULL);
    support_git_commit_at(school_repo(&batch_school, 3), work, COUNT_OF(work), NULL, NEXT_NOON);
    bytes_release(&blank);
    support_git_commit(school_repo(&batch_school, 2), same, 2, id);
    support_git_commit_at(school_repo(&batch_school, 1), same, COUNT_OF(same), NULL, NEXT_NOON);
    support_git_commit_at(school_repo(&batch_school, 2), work, COUNT_OF(work), NULL, NEXT_NOON);
#define LATE QUICK, "--deadline", "2023-11-15 00:00 UTC", "--late", "percent=10"
    (void)snprintf(note, sizeof note,
                   "(25 pending; late: 7.5 of 75 taken); note: an earlier commit was in time and "
                   "was not graded, since the newest counts: %s of 2023-11-14 22:13:20 +00:00 (who "
                   "keeps the roster can have that one graded instead: its id as `ref`)",
                   id);
    batch_expect(0, LIST(LATE),
                 LIST("s001             graded 75/100 (25 pending)\n", note,
                      "s003             graded 68/100 (25 pending; late: 7.5 of 75 taken)\n",
                      "late            2", "noted           1"));
    batch_assert_in("students/s001/feedback.txt", "the newest hand-in");
    batch_assert_in("grades.csv", "same graded files as this one of 2023-11-14");
    batch_assert_in("students/s001/feedback.txt", "handed in   2023-11-14 22:13:20");
    batch_assert_in("students/s002/feedback.txt", "note        an earlier commit was in time");
    batch_assert_in("students/s002/feedback.txt", id);
    batch_assert_in("grades.csv", id);
    batch_expect(0, LIST(LATE),
                 LIST("s001             unchanged 75/100 (25 pending)\n",
                      "s002             unchanged 68/100 (25 pending; late"));
    /* A day more for the one; and what was in time, as the note says. */
    static const char columns[] = "id,name,email,repo,extension_hours,ref\n";
    (void)snprintf(roster, sizeof roster, "%ss002,B,b@example.org,%s,24,\n", columns,
                   school_repo(&batch_school, 2));
    testing_write(batch_school.roster, roster, strlen(roster));
    batch_expect(0, LIST(LATE), LIST("s002             graded 75/100 (25 pending)\n"));
    (void)snprintf(roster, sizeof roster, "%ss002,B,b@example.org,%s,,%s\n", columns,
                   school_repo(&batch_school, 2), id);
    testing_write(batch_school.roster, roster, strlen(roster));
    batch_expect(0, LIST(LATE), LIST("s002             graded 75/100 (25 pending)\n"));
    batch_assert_in("grades.csv", "the commit that the roster names");
    /* Also where tags are handed in. */
    support_git_tag(school_repo(&batch_school, 2), "submit/1", "HEAD");
    batch_expect(0, LIST(QUICK, "--tag", "submit/*"), LIST("s002             unchanged 75/100"));
    batch_assert_in("grades.csv", "the commit that the roster names");
}
END_TEST

START_TEST(what_has_not_changed_is_not_graded_again)
{
    batch_set_up(STUDENTS, "");
    batch_expect(0, LIST(QUICK), LIST("graded          8"));
    struct bytes before = batch_read(batch_out, "grades.csv");
    batch_expect(0, LIST(QUICK),
                 LIST("s001             unchanged 75/100", "s005             unchanged: missing",
                      "cached         12"));
    ck_assert_uint_eq(calls("nvcc-calls"), 3);
    struct bytes after = batch_read(batch_out, "grades.csv");
    ck_assert_str_eq(bytes_text(&before), bytes_text(&after));
    /* One student goes on working. */
    AUTO_FREE char *source = school_source();
    school_hand_in(&batch_school, 5, source, NULL);
    batch_expect(
        0, LIST(QUICK),
        LIST("s005             graded", "s006             unchanged", "cached         11"));
    ck_assert_uint_eq(calls("nvcc-calls"), 3); /* others had the same source */
    /* Another seed is another grading. */
    batch_expect(0, LIST(QUICK, "--seed", "18"), LIST("s001             graded", "seed 18"));
    batch_expect(0, LIST(QUICK, "--seed", "18", "--force"), LIST("s001             graded"));
    bytes_release(&before);
    bytes_release(&after);
}
END_TEST

START_TEST(some_can_be_picked)
{
    batch_set_up(6, "");
    batch_expect(0, LIST(QUICK, "--student", "s001, s003"),
                 LIST("s001             graded", "s003             graded", "waiting         4"));
    batch_expect(0, LIST(QUICK, "--student", "s004", "--student", "s005"),
                 LIST("s004             graded", "s005             missing", "waiting         2"));
    batch_expect(2, LIST(QUICK, "--student", "s007"), LIST("--student s007: there is no such id"));
    batch_expect(0, LIST(QUICK), LIST("s002             graded", "s001             unchanged"));
    struct process_result failed = BATCH(QUICK, "--failed", "--force");
    batch_assert_says(&failed, "s004             graded");
    batch_assert_says(&failed, "s005             missing");
    ck_assert_ptr_null(strstr(bytes_text(&failed.output), "s001 "));
    process_result_release(&failed);
    batch_expect(0, LIST(QUICK, "--since", "2020-01-01 00:00 UTC"),
                 LIST("s001             unchanged"));
    struct process_result since = BATCH(QUICK, "--since", "2100-01-01 00:00 UTC");
    ck_assert_ptr_null(strstr(bytes_text(&since.output), "s001 "));
    process_result_release(&since);
}
END_TEST

START_TEST(trouble_is_apart_and_tried_again)
{
    batch_set_up(3, "");
    char hidden[560];
    (void)snprintf(hidden, sizeof hidden, "%s-away", school_repo(&batch_school, 2));
    ck_assert_int_eq(rename(school_repo(&batch_school, 2), hidden), 0);
    batch_expect(3, LIST(QUICK),
                 LIST("s001             graded", "s002             not graded: There is no folder",
                      "trouble         1", "1 student could not be graded", "--retry"));
    batch_assert_in("trouble.csv", "s002,");
    ck_assert_int_eq(rename(hidden, school_repo(&batch_school, 2)), 0);
    struct process_result again = BATCH(QUICK, "--retry");
    ck_assert_int_eq(again.exit_code, 0);
    batch_assert_says(&again, "s002             graded");
    ck_assert_ptr_null(strstr(bytes_text(&again.output), "s001 "));
    process_result_release(&again);
    /* A repo that is gone later leaves what was graded. */
    ck_assert_int_eq(rename(school_repo(&batch_school, 2), hidden), 0);
    batch_expect(3, LIST(QUICK), LIST("s002             not graded", "graded          3"));
    batch_assert_in("trouble.csv", "s002,");
    /* It comes back as it was: nothing to grade, and the trouble is over. */
    ck_assert_int_eq(rename(hidden, school_repo(&batch_school, 2)), 0);
    batch_expect(0, LIST(QUICK, "--retry"), LIST("s002             unchanged"));
    struct bytes table = batch_read(batch_out, "trouble.csv");
    ck_assert_ptr_null(strstr(bytes_text(&table), "s002"));
    bytes_release(&table);
    batch_expect(0, LIST(QUICK, "--retry"), LIST("trouble of the machine keeps nobody"));
}
END_TEST

START_TEST(points_by_hand_hold)
{
    batch_set_up(3, "");
    const char *path = support_path(batch_school.folder, "appeals.csv");
    static const char appeals[] =
        "student,mark,points,reason\ns003,shift.frame,0,copied\ns003,counts.decayNarrow,3,shown\n";
    testing_write(path, appeals, sizeof appeals - 1);
    batch_expect(0, LIST(QUICK, "--override", path), LIST("s003             graded"));
    batch_assert_in("students/s003/feedback.txt", "copied");
    batch_expect(0, LIST(QUICK), LIST("s003             unchanged"));
    batch_assert_in("students/s003/feedback.txt", "copied");
    static const char wrong[] = "student,mark,points,reason\ns009,shift.frame,0,x\ns001,none,0,x\n";
    testing_write(path, wrong, sizeof wrong - 1);
    batch_expect(2, LIST(QUICK, "--override", path),
                 LIST("s009", "none", "2 problems: nothing was graded"));
}
END_TEST

/* A line shows the score that counts, and says why it is not what the marks earned. */
START_TEST(lines_show_the_score_that_counts)
{
    batch_set_up(5, "");
    const char *path = support_path(batch_school.folder, "appeals.csv");
    static const char appeals[] = "student,mark,points,reason\ns003,counts.decayNarrow,3,shown\n"
                                  "s005,counts.decayNarrow,3,on paper\n";
    testing_write(path, appeals, sizeof appeals - 1);
    batch_expect(
        0,
        LIST(QUICK, "--deadline", BATCH_LATE_BY_A_DAY, "--late", "percent=10", "--override", path),
        LIST("s001             graded 68/100 (25 pending; late: 7.5 of 75 taken)",
             "; 1 mark set by hand)", "s005             missing, 3/100 (1 mark set by hand): "));
    batch_expect(0, LIST(QUICK),
                 LIST("Other terms than the last time", "--late percent=10 --executor none\n",
                      "now    --executor none"));
    batch_expect(0, LIST(QUICK, "--deadline", BATCH_LATE_BY_A_DAY, "--late", "percent=10"),
                 LIST("before --executor none"));
    struct process_result same =
        BATCH(QUICK, "--deadline", BATCH_LATE_BY_A_DAY, "--late", "percent=10");
    ck_assert_ptr_null(strstr(bytes_text(&same.output), "Other terms"));
    process_result_release(&same);
    batch_expect(0, LIST(QUICK, "--deadline", BATCH_LATE_BY_A_DAY, "--late", "percent=10"),
                 LIST("s001             unchanged 68/100 (25 pending; late: 7.5 of 75 taken)",
                      "s005             unchanged: missing, 3/100 (1 mark set by hand)"));
    batch_assert_in("grades.csv", "\ns001,Student 1,s001@example.org,,graded,68,");
}
END_TEST

/* What a student wrote to the instructor is not dropped without a word. */
START_TEST(an_explanation_that_is_not_read_is_said)
{
    static char large[40000];
    batch_set_up(6, "");
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
        support_git_commit(school_repo(&batch_school, rows[i].student), files, COUNT_OF(files),
                           NULL);
    }
    batch_expect(0, LIST(QUICK), LIST("noted           4"));
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char name[60], row[20];
        (void)snprintf(name, sizeof name, "students/s%03zu/feedback.txt", rows[i].student);
        (void)snprintf(row, sizeof row, "\ns%03zu,", rows[i].student);
        struct bytes table = batch_read(batch_out, "explanations.csv");
        ck_assert((strstr(table.data, row) != NULL) == (rows[i].said == NULL));
        bytes_release(&table);
        if (rows[i].said != NULL)
            batch_assert_in(name, rows[i].said);
    }
    batch_assert_in("explanations.csv", "?\n'=1+1"); /* one cell, and no formula */
}
END_TEST

/* A roster that lost rows looks like students who left. */
START_TEST(who_left_the_roster_is_said)
{
    batch_set_up(4, "");
    struct bytes whole = batch_read(batch_school.folder, "roster.csv");
    batch_expect(0, LIST(QUICK), LIST("graded          4"));
    char *second = strstr(whole.data, "\ns002,");
    testing_write(batch_school.roster, whole.data, (size_t)(second + 1 - whole.data));
    batch_expect(0, LIST(QUICK),
                 LIST("No longer in the roster: s002, s003, s004. Their history", "1 student\n"));
    struct process_result again = BATCH(QUICK);
    ck_assert_ptr_null(strstr(bytes_text(&again.output), "No longer"));
    process_result_release(&again);
    testing_write(batch_school.roster, whole.data, whole.length);
    batch_expect(0, LIST(QUICK), LIST("s004             unchanged", "graded          4"));
    bytes_release(&whole);
}
END_TEST

START_TEST(nobody_to_grade_is_said)
{
    batch_set_up(1, "");
    batch_expect(0, LIST(QUICK), LIST("graded 75/100"));
    batch_expect(0, LIST(QUICK, "--retry"),
                 LIST("Nothing to do. --retry: trouble of the machine keeps nobody"));
    batch_expect(0, LIST(QUICK, "--since", "2100-01-01 00:00 UTC"),
                 LIST("Nothing to do. --since: nobody"));
    batch_expect(0, LIST(QUICK, "--retry", "--student", "s001"),
                 LIST("Nothing to do. The options together"));
}
END_TEST

/* Such as of another class, or of this one with the ids spelt otherwise. */
START_TEST(pushes_of_nobody_are_counted)
{
    batch_set_up(1, "");
    const char *path = support_path(batch_school.folder, "pushes.csv");
#define PUSH ",0123456789012345678901234567890123456789,@1\n"
    static const char all[] = "id,commit,time\nS001" PUSH "s002" PUSH;
    static const char one[] = "id,commit,time\ns001" PUSH "s002" PUSH;
    testing_write(path, all, sizeof all - 1);
    batch_expect(0, LIST(QUICK, "--pushed-at", path),
                 LIST("all of its 2 rows name nobody of the roster"));
    testing_write(path, one, sizeof one - 1);
    batch_expect(0, LIST(QUICK, "--pushed-at", path),
                 LIST("pushes.csv: 1 row names nobody of the roster"));
}
END_TEST

START_TEST(an_only_column_of_canvas_is_named)
{
    batch_set_up(1, "");
    const char *path = support_path(batch_school.folder, "export.csv");
    static const char one[] = "Student,ID,SIS User ID,Section,Essay (7)\nOne,1,s001,A,\n";
    testing_write(path, one, sizeof one - 1);
    batch_expect(0, LIST(QUICK, "--canvas", path),
                 LIST("\"Essay (7)\" does not name the lab, but is its only assignment",
                      "column \"Essay (7)"));
    static const char two[] = "Student,ID,SIS User ID,Section,Essay (7),Quiz (8)\nOne,1,s001,A,,\n";
    testing_write(path, two, sizeof two - 1);
    batch_expect(2, LIST(QUICK, "--canvas", path), LIST("of \"Essay (7)\", \"Quiz (8)\""));
}
END_TEST

/* A title that was mistyped would become a new assignment. */
START_TEST(a_column_that_canvas_lacks_is_refused)
{
    batch_set_up(1, "");
    const char *path = support_path(batch_school.folder, "export.csv");
    static const char two[] = "Student,ID,SIS User ID,Section,Essay (7),Quiz (8)\nOne,1,s001,A,,\n";
    testing_write(path, two, sizeof two - 1);
    batch_expect(
        2, LIST(QUICK, "--canvas", path, "--canvas-column", "Quizz"),
        LIST("no column is called `Quizz`; its assignments are \"Essay (7)\", \"Quiz (8)\""));
    batch_expect(0, LIST(QUICK, "--canvas", path, "--canvas-column", "quiz"),
                 LIST("canvas.csv, column \"Quiz (8)\""));
    static const char none[] = "Student,ID,SIS User ID,Section\nOne,1,s001,A\n";
    testing_write(path, none, sizeof none - 1);
    batch_expect(0, LIST(QUICK, "--canvas", path, "--canvas-column", "Day 17"),
                 LIST("has no assignment: Canvas will make a new one called \"Day 17\""));
}
END_TEST

START_TEST(what_does_not_compile_is_run_by_nothing)
{
    batch_set_up(4, "");
    batch_expect(0, LIST("--elements", "3000", "--student", "s004"),
                 LIST("s004             graded"));
    batch_assert_in("students/s004/feedback.txt", "run by      nothing: it does not compile\n");
    batch_assert_in("students/s004/result.json", "\"why\": \"it does not compile\"");
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
    {{"--partition", "gpu"}, "--partition is an option of Slurm's"},
    {{"--time", "30"}, "--time is an option"},
    {{"--gres", "none"}, "--gres is an option"},
    {{"--per-task", "4"}, "--per-task is an option"},
    {{"--sbatch", "-c4", "--gres", "x"}, "--sbatch is an option"},
    {{"--engine", "local", "--sbatch", "-c4"}, "--engine slurm as well"},
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
    batch_set_up(1, "");
    struct process_result result = school_batch(&batch_school, batch_out, refusals[_i].arguments);
    ck_assert_int_eq(result.exit_code, 2);
    batch_assert_says(&result, refusals[_i].said);
    process_result_release(&result);
}
END_TEST

START_TEST(other_ways_of_grading_are_said)
{
    batch_set_up(1, "");
    batch_expect(0, LIST(QUICK), LIST("graded          1"));
    batch_expect(
        0, LIST(QUICK, "--arch", "sm_75", "--elements", "3000", "--launch-seconds", "9"),
        LIST("before --executor none\n  now    --arch sm_75 --executor none --elements 3000 "
             "--launch-seconds 9\n"));
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
    tcase_add_test(tests, late_and_unchanged_is_in_time);
    tcase_add_test(tests, late_and_unchanged_is_in_time);
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
    tcase_add_test(tests, a_column_that_canvas_lacks_is_refused);
    tcase_add_test(tests, what_does_not_compile_is_run_by_nothing);
    tcase_add_loop_test(tests, refused, 0, (int)COUNT_OF(refusals));
    tcase_add_test(tests, other_ways_of_grading_are_said);
    suite_add_tcase(suite, tests);
    return suite;
}

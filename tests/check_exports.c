/* check_exports.c - every file of a batch, and the gradebook, say the same of each student. */
#include "testing.h"

#include <dirent.h>
#include <jansson.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "exports.h"
#include "files.h"
#include "number.h"
#include "out_feedback.h"
#include "process.h"
#include "summary.h"
#include "support_class.h"
#include "support_toolkit.h"
#include "text.h"

static char folder[512];
static struct roster roster;
static struct gradebook *book;
static struct standings standings;
static struct exports_report report;
static struct canvas canvas;
static struct error err;

#define TEMPLATE                                                                                   \
    "Student,ID,SIS User ID,SIS Login ID,Section,Earlier (11),A tiny lab (12),Final Score\n"       \
    "    Points Possible,,,,,50,8191,(read only)\n"                                                \
    "\"First, Émile\",101,s1,x1,A,1,,\n"                                                          \
    "Second,102,x2,S2,A,1,5,\n"                                                                    \
    "=Third,103,,s3@example.org,A,1,,\n"                                                           \
    "Fourth,104,s4,x4,A,1,,\n"                                                                     \
    "Fifth,105,s5,x5,A,1,,\n"                                                                      \
    "Nobody,106,x6,x6,A,1,7,\n"                                                                    \
    "\"Student, Test\",107,,abc,A,,,\n"

/* Late and overridden; pending and excluded by nobody; missing with an override; broken; waiting
 * with trouble. */
static void start(void)
{
    struct attempt attempt;
    err = (struct error){0};
    report = (struct exports_report){0};
    roster = class_roster(CLASS_ROSTER);
    book = class_gradebook(&roster, folder);
    attempt = class_graded("F", NULL);
    class_record(book, "s1", attempt);
    attempt = class_graded("FPPF", "2026-03-30 01:10");
    attempt.explanation = strdup("=cmd|x\n- I indexed the array\x07\nas told");
    attempt.warnings = strdup("a commit is dated before its parent\nthe tip was rewritten");
    attempt.cached = true;
    class_record(book, "s1", attempt);
    attempt = class_graded("PPSE", "2026-03-28 12:00");
    attempt.explanation = strdup("");
    class_record(book, "s2", attempt);
    ck_assert_int_eq(attempt_without_grade(&attempt, ATTEMPT_MISSING, "no commit in time", &err),
                     0);
    class_record(book, "s3", attempt);
    ck_assert_int_eq(attempt_without_grade(&attempt, ATTEMPT_BROKEN, "missing objects", &err), 0);
    class_record(book, "s4", attempt);
    ck_assert_int_eq(gradebook_record_trouble(book, "s5", "the network is gone", &err), 0);
    ck_assert_uint_eq(class_override(book, &roster,
                                     "student,mark,points,reason\n"
                                     "s1,code.frame,5,\"shown in class, partly\"\n"
                                     "s2,numbers.pick,4,judged by eye\n"
                                     "s3,q.word,512,handed in on paper\n"),
                      3);
    struct problems problems = {0};
    const char *path = support_path(folder, "template.csv");
    testing_write(path, TEMPLATE, strlen(TEMPLATE));
    ck_assert_int_eq(canvas_read(&canvas, path, NULL, &support_lab, &problems, &err), 0);
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "");
}

static void export(const char *policy_text)
{
    struct late_policy policy;
    struct moment deadline = class_time("2026-03-28 23:59");
    const struct exports_options options = {.folder = folder, .canvas = &canvas};
    ck_assert_int_eq(late_policy_parse(&policy, policy_text, &err), 0);
    ck_assert_msg(
        standings_read(&standings, book, &roster, &support_lab, &deadline, &policy, &err) == 0,
        "%s", err.text);
    problems_release(&report.notes);
    report = (struct exports_report){0};
    ck_assert_msg(exports_write(&standings, book, &options, &report, &err) == 0, "%s", err.text);
}

static void stop(void)
{
    standings_release(&standings);
    problems_release(&report.notes);
    canvas_release(&canvas);
    gradebook_close(book);
    roster_release(&roster);
}

static struct bytes content(const char *name)
{
    struct bytes text;
    ck_assert_msg(file_read(&text, support_path(folder, name), (size_t)1 << 24, false) == FILE_READ,
                  "no %s", name);
    return text;
}

static struct csv table(const char *name)
{
    struct csv csv;
    struct problems problems = {0};
    ck_assert_int_eq(csv_read(&csv, support_path(folder, name), &problems, &err), 0);
    ck_assert_uint_eq(problems.total, 0);
    return csv;
}

/* The cell of a student (by the first column) in a column; NULL: no such row. */
static const char *cell_of(const struct csv *csv, const char *key, const char *column)
{
    for (size_t i = 1; i < csv->row_count; ++i)
        for (size_t j = 0; j < csv->rows[0].count; ++j)
            if (strcmp(csv_cell(&csv->rows[i], 0), key) == 0 &&
                strcmp(csv_cell(&csv->rows[0], j), column) == 0)
                return csv_cell(&csv->rows[i], j);
    return NULL;
}

/* ---- Totals ---------------------------------------------------------------------------------- */

/* s1: 8191 - 1 - 8 graded, 5 of 8 by hand, two days late at 10 % of 8187: 1637.4 is taken.
 * s2: 4 by hand, 8 pending. */
static const struct {
    const char *id, *status;
    int64_t graded, raw, score, pending;
    const char *penalty; /* NULL: no deadline applies */
    const char *canvas;  /* first cell there */
} totals[] = {
    {"s1", "graded", 8182, 8187, 6550, 0, "1637.4", "First, Émile"},
    {"s2", "graded", 8179, 8183, 8183, 8, "0", "Second"},
    {"s3", "missing", 0, 512, 512, 0, NULL, "'=Third"},
    {"s4", "broken", 0, 0, 0, 0, NULL, "Fourth"},
};

static int64_t ask(const char *sql, const char *id)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_open(support_path(folder, "gradebook.sqlite"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return value;
}

static void assert_number(const struct csv *csv, const char *id, const char *column, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    ck_assert_str_eq(cell_of(csv, id, column), text);
}

START_TEST(totals_agree_everywhere)
{
    char name[64], last[96], pending[32] = "";
    start();
    export("percent=10");
    struct csv grades = table("grades.csv"), for_canvas = table("canvas.csv");
    const char *id = totals[_i].id;
    ck_assert_str_eq(cell_of(&grades, id, "status"), totals[_i].status);
    assert_number(&grades, id, "graded_score", totals[_i].graded);
    assert_number(&grades, id, "raw_score", totals[_i].raw);
    assert_number(&grades, id, "score", totals[_i].score);
    assert_number(&grades, id, "pending", totals[_i].pending);
    assert_number(&grades, id, "max_score", 8191);
    ck_assert_str_eq(cell_of(&grades, id, "late_penalty"),
                     totals[_i].penalty == NULL ? "" : totals[_i].penalty);
    assert_number(&for_canvas, totals[_i].canvas, "A tiny lab (12)", totals[_i].score);

    int64_t sum = 0;
    for (size_t i = 0; i < support_lab.criterion_count; ++i) {
        uint64_t points = 0;
        ck_assert(
            number_parse_u64(cell_of(&grades, id, support_lab.criteria[i].id), 8191, &points));
        sum += (int64_t)points;
    }
    ck_assert_int_eq(sum, totals[_i].raw);

    (void)snprintf(name, sizeof name, "students/%s/result.json", id);
    json_error_t trouble;
    json_t *root = json_load_file(support_path(folder, name), JSON_REJECT_DUPLICATES, &trouble);
    ck_assert_msg(root != NULL, "%s", trouble.text);
    json_t *batch = json_object_get(root, "batch");
    ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), "spillway/result/v1");
    ck_assert_str_eq(json_string_value(json_object_get(batch, "student")), id);
    ck_assert_str_eq(json_string_value(json_object_get(batch, "status")), totals[_i].status);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "score")), totals[_i].graded);
    ck_assert_int_eq(json_integer_value(json_object_get(batch, "graded_score")), totals[_i].graded);
    ck_assert_int_eq(json_integer_value(json_object_get(batch, "raw_score")), totals[_i].raw);
    ck_assert_int_eq(json_integer_value(json_object_get(batch, "score")), totals[_i].score);
    ck_assert_int_eq(json_integer_value(json_object_get(batch, "pending")), totals[_i].pending);
    ck_assert_int_eq(json_integer_value(json_object_get(batch, "max_score")), 8191);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "marks")), TINY_CRITERIA);
    json_decref(root);

    (void)snprintf(name, sizeof name, "students/%s/feedback.txt", id);
    struct bytes text = content(name);
    if (totals[_i].pending > 0)
        (void)snprintf(pending, sizeof pending, " (%lld pending)", (long long)totals[_i].pending);
    (void)snprintf(last, sizeof last, "\nFinal score: %lld/8191%s\n", (long long)totals[_i].score,
                   pending);
    ck_assert_msg(text.length > strlen(last) &&
                      strcmp(text.data + text.length - strlen(last), last) == 0,
                  "%s", text.data);
    bytes_release(&text);

    (void)snprintf(name, sizeof name, "students/%s/report.html", id);
    text = content(name);
    (void)snprintf(last, sizeof last,
                   "<p class=\"score\">Final score: <strong>%lld/8191</strong>%s</p>\n",
                   (long long)totals[_i].score, pending);
    ck_assert_msg(strstr(text.data, last) != NULL, "%s", text.data);
    bytes_release(&text);

    ck_assert_int_eq(ask("SELECT score FROM standing WHERE student = ?1", id), totals[_i].score);
    ck_assert_int_eq(ask("SELECT raw_score FROM standing WHERE student = ?1", id), totals[_i].raw);
    ck_assert_int_eq(ask("SELECT graded_score FROM standing WHERE student = ?1", id),
                     totals[_i].graded);
    ck_assert_int_eq(ask("SELECT pending FROM standing WHERE student = ?1", id),
                     totals[_i].pending);
    csv_release(&grades);
    csv_release(&for_canvas);
    stop();
}
END_TEST

START_TEST(who_waits_has_no_score)
{
    struct stat info;
    start();
    export("none");
    struct csv grades = table("grades.csv"), for_canvas = table("canvas.csv");
    ck_assert_str_eq(cell_of(&grades, "s5", "status"), "waiting");
    static const char *const empty[] = {"score",   "raw_score",    "graded_score", "pending",
                                        "attempt", "late_penalty", "code.frame",   "commit"};
    for (size_t i = 0; i < COUNT_OF(empty); ++i)
        ck_assert_str_eq(cell_of(&grades, "s5", empty[i]), "");
    ck_assert_str_eq(cell_of(&grades, "s5", "trouble"), "the network is gone");
    ck_assert_ptr_null(cell_of(&for_canvas, "Fifth", "ID"));
    ck_assert_int_ne(stat(support_path(folder, "students/s5"), &info), 0);
    ck_assert_int_eq(ask("SELECT score IS NULL FROM standing WHERE student = ?1", "s5"), 1);
    csv_release(&grades);
    csv_release(&for_canvas);
    stop();
}
END_TEST

/* ---- What is in the files -------------------------------------------------------------------- */

static const struct {
    const char *file, *holds;
} holds[] = {
    {"grades.csv", "\ns1,\"Émile, First\",s1@example.org,blue,graded,6550,8191,0,8187,8182,yes,2,"
                   "1637.4,0,1,2,0123456789abcdef0123456789abcdef01234567,the last commit on main,"
                   "2026-03-30T01:10:00+02:00,the commit's date,2026-03-28T23:59:00+01:00,"
                   "\"a commit is dated before its parent\nthe tip was rewritten\",,,"},
    {"grades.csv", "\ns3,'=HYPERLINK(1),s3@example.org,,missing,512,"},
    {"grades.csv", ",no commit in time,,"},
    {"pending.csv", "\ns2,Second Student,code.frame,a frame,error,8,\"expected 1, saw 2\"\n"},
    {"trouble.csv", "\ns5,Fifth Student,s5@example.org,repos/s5,the network is gone\n"},
    {"explanations.csv", "\ns1,\"Émile, First\",0123456789abcdef0123456789abcdef01234567,"
                         "\"'=cmd|x\n'- I indexed the array?\nas told\"\n"},
    {"canvas.csv", "Student,ID,SIS User ID,SIS Login ID,Section,A tiny lab (12)\n"
                   "\"    Points Possible\",,,,,8191\n"
                   "\"First, Émile\",101,s1,x1,A,6550\n"},
    {"students/s1/feedback.txt", "Émile, First (s1): A tiny lab\n"
                                 "  repo        repos/s1\n"
                                 "  handed in   2026-03-30 01:10 +02:00 (Europe/Berlin), by the "
                                 "commit's date\n"
                                 "  deadline    2026-03-28 23:59 +01:00 (Europe/Berlin)\n"
                                 "  note        a commit is dated before its parent\n"
                                 "  note        the tip was rewritten\n"},
    {"students/s1/feedback.txt",
     "\n  commit      0123456789abcdef0123456789abcdef01234567 (the last "
     "commit on main)\n"},
    {"students/s1/feedback.txt", "\nFAIL   0/8   code.frame\n"},
    {"students/s1/feedback.txt", "\nScore: 8182/8191\n"},
    {"students/s1/feedback.txt", "\nSet by hand:\n"
                                 "  - code.frame: 5 of 8 points instead of 0: shown in class, "
                                 "partly\n"},
    {"students/s1/feedback.txt",
     "\nHanded in 24 h 11 min after the deadline, 2026-03-28 23:59 +01:00\n"
     "(Europe/Berlin), at 2026-03-30 01:10 +02:00 (Europe/Berlin): 2 started days; 2\n"
     "days × 10 % of 8187 = 1637.4; 8187 − 1637.4 = 6549.6, rounded 6550.\n"},
    {"students/s2/feedback.txt", "before the deadline, 2026-03-28 23:59"},
    {"students/s3/feedback.txt", "\nNothing to grade: no commit in time\n"},
    {"students/s3/feedback.txt", "  - q.word: 512 of 512 points instead of 0: handed in on paper"},
    {"students/s4/feedback.txt", "\nNot graded: missing objects\n"},
    {"students/s1/report.html", "<h1>Émile, First (s1): A tiny lab</h1>\n"},
    {"students/s1/report.html", "<tr><th>handed in</th>\n<td>2026-03-30 01:10 +02:00 "
                                "(Europe/Berlin), by the commit&#39;s date</td>\n</tr>\n"},
    {"students/s1/report.html", "<th>note</th>\n<td>the tip was rewritten</td>"},
    {"students/s1/report.html", "<h2>Set by hand</h2>"},
    {"students/s1/report.html", "<tr><td>code.frame</td>\n<td class=\"n\">5/8</td>\n"
                                "<td class=\"n\">0</td>\n<td>shown in class, partly</td>\n"},
    {"students/s1/report.html", ": 2 started days; 2 days × 10 % of 8187 = 1637.4; 8187 − 1637.4 = "
                                "6549.6, rounded 6550.</p>\n"},
    {"students/s1/report.html", "<strong>code.frame</strong>"},
    {"students/s1/report.html", "<dt>seen</dt>\n<dd>expected 1, saw 2</dd>\n<dt>why</dt>"},
    {"students/s1/report.html", "<dt>try</dt>\n<dd>Mend it.</dd>"},
    {"students/s2/report.html",
     "<p class=\"score\">Final score: <strong>8183/8191</strong> (8 pending)</p>"},
    {"students/s3/report.html", "<p>Nothing to grade: no commit in time</p>\n"},
    {"students/s4/report.html", "<p>Not graded: missing objects</p>\n"},
};

START_TEST(files_hold)
{
    start();
    export("percent=10");
    struct bytes text = content(holds[_i].file);
    ck_assert_msg(strstr(text.data, holds[_i].holds) != NULL, "%s: %s", holds[_i].file, text.data);
    ck_assert(text_is_utf8(text.data, text.length));
    bytes_release(&text);
    stop();
}
END_TEST

START_TEST(who_is_left_out_of_canvas_is_said)
{
    start();
    export("none");
    struct bytes notes = bytes_with_limit(4000);
    problems_write(&notes, &report.notes, "canvas");
    ck_assert_str_eq(bytes_text(&notes),
                     "canvas: s5 (Fifth Student) has no score yet: left out\n"
                     "canvas:8: Nobody is in Canvas, but not in the roster: left out\n");
    bytes_release(&notes);
    stop();
}
END_TEST

/* ARCHITECTURE.md names every column, and every table of the gradebook. */
START_TEST(formats_are_documented)
{
    struct bytes map;
    start();
    export("none");
    ck_assert_int_eq(file_read(&map, "ARCHITECTURE.md", (size_t)1 << 20, false), FILE_READ);
    static const char *const names[] = {"grades.csv", "pending.csv", "trouble.csv",
                                        "explanations.csv"};
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        struct csv csv = table(names[i]);
        char row[32];
        (void)snprintf(row, sizeof row, "\n| `%s` |", names[i]);
        const char *line = strstr(map.data, row);
        ck_assert_msg(line != NULL, "%s", row);
        AUTO_FREE char *documented = strndup(line + 1, strcspn(line + 1, "\n"));
        size_t columns = csv.rows[0].count - (i == 0 ? support_lab.criterion_count : 0);
        for (size_t j = 0; j < columns; ++j) {
            char quoted[64];
            (void)snprintf(quoted, sizeof quoted, "`%s`", csv_cell(&csv.rows[0], j));
            ck_assert_msg(strstr(documented, quoted) != NULL, "%s: %s", names[i], quoted);
        }
        csv_release(&csv);
    }
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_open(support_path(folder, "gradebook.sqlite"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table'",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    const char *paragraph = strstr(map.data, "The gradebook, `gradebook.sqlite`");
    ck_assert_ptr_nonnull(paragraph);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        char quoted[64];
        (void)snprintf(quoted, sizeof quoted, "`%s`",
                       (const char *)sqlite3_column_text(statement, 0));
        ck_assert_msg(strstr(paragraph, quoted) != NULL, "%s", quoted);
    }
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    bytes_release(&map);
    stop();
}
END_TEST

/* ---- How they are written -------------------------------------------------------------------- */

static void assert_private(const char *path, size_t *files)
{
    struct stat info;
    ck_assert_int_eq(lstat(path, &info), 0);
    ck_assert_msg((info.st_mode & 0777) == (S_ISDIR(info.st_mode) ? 0700 : 0600), "%s: %o", path,
                  info.st_mode);
    *files += S_ISREG(info.st_mode);
    if (!S_ISDIR(info.st_mode))
        return;
    DIR *entries = opendir(path);
    ck_assert_ptr_nonnull(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        ck_assert_msg(strstr(entry->d_name, ".spillway-") == NULL, "%s", entry->d_name);
        AUTO_FREE char *below = path_join(path, entry->d_name);
        assert_private(below, files);
    }
    (void)closedir(entries);
}

START_TEST(files_are_private)
{
    size_t files = 0;
    start();
    export("none");
    assert_private(support_path(folder, "students"), &files);
    ck_assert_uint_eq(files, 12);
    static const char *const names[] = {"grades.csv", "pending.csv", "trouble.csv",
                                        "explanations.csv", "canvas.csv"};
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        assert_private(support_path(folder, names[i]), &files);
    ck_assert_uint_eq(files, 17);
    ck_assert_uint_eq(report.files_written, 17);
    stop();
}
END_TEST

static ino_t inode(const char *name)
{
    struct stat info;
    ck_assert_int_eq(stat(support_path(folder, name), &info), 0);
    return info.st_ino;
}

START_TEST(only_what_changes_is_written)
{
    start();
    export("none");
    ino_t s2 = inode("students/s2/feedback.txt"), grades = inode("grades.csv");
    standings_release(&standings);
    export("none");
    ck_assert_uint_eq(report.files_written, 0);
    ck_assert_uint_eq(report.files_same, 17);
    ck_assert(inode("grades.csv") == grades);
    ck_assert_uint_eq(class_override(book, &roster,
                                     "student,mark,points,reason\n"
                                     "s4,q.word,1,seen on paper\n"),
                      1);
    standings_release(&standings);
    export("none");
    /* The student's three, grades.csv and canvas.csv. */
    ck_assert_uint_eq(report.files_written, 5);
    ck_assert(inode("students/s2/feedback.txt") == s2);
    ck_assert(inode("grades.csv") != grades);
    /* One that somebody opened to others, or edited, is mended. */
    ck_assert_int_eq(chmod(support_path(folder, "grades.csv"), 0644), 0);
    testing_write(support_path(folder, "students/s1/result.json"), "{}", 2);
    standings_release(&standings);
    export("none");
    ck_assert_uint_eq(report.files_written, 2);
    stop();
}
END_TEST

START_TEST(one_student_alone)
{
    start();
    export("none");
    struct exports_report one = {0};
    ck_assert_int_eq(unlink(support_path(folder, "students/s1/feedback.txt")), 0);
    ck_assert_int_eq(
        exports_write_student(&standings.rows[0], &support_lab, book, folder, &one, &err), 0);
    ck_assert_uint_eq(one.files_written, 1);
    ck_assert_uint_eq(one.files_same, 2);
    ck_assert_int_eq(
        exports_write_student(&standings.rows[4], &support_lab, book, folder, &one, &err), 0);
    ck_assert_uint_eq(one.files_written + one.files_same, 3);
    stop();
}
END_TEST

START_TEST(what_stands_in_the_way_is_said)
{
    start();
    const struct exports_options options = {.folder = folder};
    export("none");
    ck_assert_int_eq(unlink(support_path(folder, "students/s1/result.json")), 0);
    ck_assert_int_eq(mkdir(support_path(folder, "students/s1/result.json"), 0700), 0);
    ck_assert_int_eq(exports_write(&standings, book, &options, &report, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, "students/s1/result.json") != NULL, "%s", err.text);
    ck_assert_int_eq(rmdir(support_path(folder, "students/s1/result.json")), 0);
    err = (struct error){0};
    ck_assert_int_eq(exports_write(&standings, book, &options, &report, &err), 0);
    stop();
}
END_TEST

START_TEST(a_damaged_document_is_said)
{
    start();
    export("none");
    struct bytes out = bytes_with_limit(100000);
    static const char *const documents[] = {"", "{", "[]", "{}", "{\"a\": 1"};
    for (size_t i = 0; i < COUNT_OF(documents); ++i) {
        struct attempt attempt = class_graded("", NULL);
        free(attempt.json);
        attempt.json = strdup(documents[i]);
        class_record(book, "s1", attempt);
        standings_release(&standings);
        struct late_policy policy = late_policy_none();
        const struct exports_options options = {.folder = folder};
        err = (struct error){0};
        ck_assert_int_eq(
            standings_read(&standings, book, &roster, &support_lab, NULL, &policy, &err), 0);
        ck_assert_int_eq(exports_write(&standings, book, &options, &report, &err), -1);
        ck_assert_msg(strstr(err.text, "of s1 holds no JSON") != NULL, "%s", err.text);
    }
    bytes_release(&out);
    stop();
}
END_TEST

/* ---- report.html ----------------------------------------------------------------------------- */

#define HOSTILE "</title><script>alert(1)</script><img src=x onerror='y'>&\x1b[2J"

static void assert_well_formed(const char *path)
{
    const char *const argv[] = {"/usr/bin/xmllint", "--noout", "--nonet", path, NULL};
    const struct process_spec spec = {.argv = argv,
                                      .wall_ns = INT64_C(60000000000),
                                      .merge_error = true,
                                      .output_limit = (size_t)1 << 20};
    struct process_result result;
    if (access(argv[0], X_OK) != 0)
        TEST_SKIP("no xmllint");
    ck_assert_int_eq(process_run(&result, &spec, &err), 0);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.output));
    process_result_release(&result);
}

/* Whatever students, kernels and instructors write, it stays text. */
START_TEST(nothing_written_becomes_markup)
{
    struct student student = {
        .id = (char *)"s<1>", .name = (char *)HOSTILE, .repo = (char *)"https://x/" HOSTILE};
    struct override override = {.reason = (char *)HOSTILE};
    struct standing_mark mark = {.id = HOSTILE, .override = &override};
    struct standing standing = {.student = &student,
                                .status = _i == 0 ? STANDING_GRADED : STANDING_BROKEN,
                                .marks = &mark,
                                .mark_count = 1,
                                .attempt = {.chosen = (char *)HOSTILE,
                                            .warnings = (char *)HOSTILE "\n" HOSTILE,
                                            .reason = _i == 0 ? NULL : (char *)HOSTILE}};
    struct bytes page = bytes_with_limit(100000);
    (void)snprintf(standing.late.words, sizeof standing.late.words, "%s", HOSTILE);
    out_feedback_html(&page, &standing, &support_lab, NULL, HOSTILE);
    ck_assert(!page.failed);
    ck_assert_ptr_null(strcasestr(page.data, "<script"));
    ck_assert_ptr_null(strcasestr(page.data, "<img"));
    ck_assert_ptr_null(strchr(page.data, '\x1b'));
    ck_assert_ptr_nonnull(strstr(page.data, "&lt;script&gt;alert(1)"));
    support_new_folder(folder);
    const char *path = support_path(folder, "report.html");
    testing_write(path, page.data, page.length);
    bytes_release(&page);
    assert_well_formed(path);
}
END_TEST

START_TEST(reports_are_well_formed)
{
    char name[64];
    start();
    export("percent=10");
    (void)snprintf(name, sizeof name, "students/%s/report.html", totals[_i].id);
    assert_well_formed(support_path(folder, name));
    stop();
}
END_TEST

/* A gradebook from before has the page alone. */
START_TEST(a_grade_without_html_is_shown_as_text)
{
    start();
    struct attempt attempt = class_graded("PPPF", NULL);
    free(attempt.html);
    attempt.html = NULL;
    class_record(book, "s1", attempt);
    export("none");
    struct bytes text = content("students/s1/report.html");
    ck_assert_ptr_nonnull(strstr(text.data, "<pre>A tiny lab (tiny)\n"));
    ck_assert_ptr_nonnull(strstr(text.data, "try:   Mend it.\n"));
    bytes_release(&text);
    stop();
}
END_TEST

/* ---- The summary ----------------------------------------------------------------------------- */

START_TEST(a_class_in_a_few_numbers)
{
    struct summary summary;
    struct bytes page = bytes_with_limit(4000);
    start();
    export("percent=10");
    summary_make(&summary, &standings);
    ck_assert_uint_eq(summary.students, 5);
    ck_assert_uint_eq(summary.graded, 2);
    ck_assert_uint_eq(summary.cached, 1);
    ck_assert_uint_eq(summary.late, 1);
    ck_assert_uint_eq(summary.missing, 1);
    ck_assert_uint_eq(summary.broken, 1);
    ck_assert_uint_eq(summary.waiting, 1);
    ck_assert_uint_eq(summary.trouble, 1);
    ck_assert_uint_eq(summary.pending, 1);
    ck_assert_uint_eq(summary.overridden, 3);
    ck_assert_uint_eq(summary.scored, 4);
    ck_assert_double_eq_tol(summary.mean, (6550 + 8183 + 512 + 0) / 4.0, 1e-9);
    ck_assert_double_eq_tol(summary.median, (6550 + 512) / 2.0, 1e-9);
    ck_assert_str_eq(summary.worst_mark, "code.frame");
    ck_assert_int_eq(summary.worst_points_lost, 3);
    ck_assert_uint_eq(summary.worst_students, 1);
    summary_write(&page, &summary);
    ck_assert_str_eq(
        bytes_text(&page),
        "5 students\n"
        "  graded          2\n"
        "  cached          1  unchanged since they were last looked at\n"
        "  late            1  after the deadline and its grace\n"
        "  missing         1  nothing was handed in\n"
        "  broken          1  cannot be read: the student has to mend it\n"
        "  pending         1  have marks that are not judged: pending.csv\n"
        "  overridden      3  have points set by hand\n"
        "  noted           1  something is odd: `warnings` in grades.csv\n"
        "  waiting         1  without any grading yet\n"
        "  trouble         1  by address, server or this machine: trouble.csv, --retry\n"
        "  mean       3811.2 of 8191, missing and broken counted as 0 or as set by hand\n"
        "  median     3531.0\n"
        "Most points were lost on code.frame: 3 by 1 student\n  (a frame)\n");
    bytes_release(&page);
    stop();
}
END_TEST

/* Nobody's zero is hidden in a mean, and where there is none nothing is said. */
START_TEST(the_mean_says_what_is_in_it)
{
    static const struct {
        size_t missing, broken;
        bool redeemed;
        const char *line;
    } rows[] = {
        {0, 0, false, "  mean         50.0 of 100\n"},
        {1, 0, false, "  mean         50.0 of 100, missing and broken counted as 0\n"},
        {0, 2, false, "  mean         50.0 of 100, missing and broken counted as 0\n"},
        {1, 2, true,
         "  mean         50.0 of 100, missing and broken counted as 0 or as set by hand\n"},
    };
    struct bytes page = bytes_with_limit(4000);
    const struct summary summary = {.students = 9,
                                    .scored = 9,
                                    .missing = rows[_i].missing,
                                    .broken = rows[_i].broken,
                                    .redeemed = rows[_i].redeemed,
                                    .mean = 50,
                                    .median = 50,
                                    .max_score = 100};
    summary_write(&page, &summary);
    ck_assert_msg(strstr(bytes_text(&page), rows[_i].line) != NULL, "%s", bytes_text(&page));
    bytes_release(&page);
}
END_TEST

/* The score that counts, and what it came about by. */
START_TEST(a_standing_in_words)
{
    static const struct {
        const char *id, *policy, *words;
    } rows[] = {
        {"s1", "percent=10", "6550/8191 (late: 1637.4 of 8187 taken; 1 mark set by hand)"},
        {"s1", "none", "8187/8191 (late, at no cost; 1 mark set by hand)"},
        {"s1", "percent=10,days=1", "0/8191 (late: 8187 of 8187 taken; 1 mark set by hand)"},
        {"s2", "percent=10", "8183/8191 (8 pending; 1 mark set by hand)"},
        {"s3", "percent=10", "512/8191 (1 mark set by hand)"},
        {"s4", "percent=10", "0/8191"},
    };
    start();
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct bytes words = bytes_with_limit(4000);
        export(rows[i].policy);
        for (size_t j = 0; j < standings.count; ++j)
            if (strcmp(standings.rows[j].student->id, rows[i].id) == 0)
                standing_describe(&words, &standings.rows[j]);
        ck_assert_str_eq(bytes_text(&words), rows[i].words);
        bytes_release(&words);
        standings_release(&standings);
    }
    export("none");
    stop();
}
END_TEST

/* Points by hand are raw score: what came late costs, whether it could be read or not. */
static const struct {
    enum attempt_outcome outcome;
    const char *points, *late; /* in the feedback; NULL: nothing of the kind */
    int64_t score;
} late_ones[] = {
    {ATTEMPT_GRADED, "Points: 8190 graded + 1 − 3 by hand = 8188",
     "2 days × 10 % of 8188 = 1637.6; 8188 − 1637.6 = 6550.4, rounded 6550.", 6550},
    {ATTEMPT_BROKEN, "Points: 0 graded + 1 + 5 by hand = 6",
     "2 days × 10 % of 6 = 1.2; 6 − 1.2 = 4.8, rounded 5.", 5},
    /* Nothing was handed in, neither in time nor late. */
    {ATTEMPT_MISSING, "Points: 0 graded + 1 + 5 by hand = 6", NULL, 6},
};

START_TEST(points_by_hand_are_late_too)
{
    char score[80];
    start();
    struct attempt attempt = class_graded("F", "2026-03-30 01:10");
    if (late_ones[_i].outcome != ATTEMPT_GRADED) {
        attempt_release(&attempt);
        ck_assert_int_eq(attempt_without_grade(&attempt, late_ones[_i].outcome, "cannot", &err), 0);
        attempt.has_handed_in = true;
        attempt.handed_in = class_time("2026-03-30 01:10");
    }
    class_record(book, "s1", attempt);
    (void)class_override(book, &roster,
                         "student,mark,points,reason\ns1,build.accepted,1,by hand\n"
                         "s1,code.frame,5,by hand\n");
    export("percent=10");
    struct bytes text = content("students/s1/feedback.txt");
    struct bytes page = content("students/s1/report.html");
    struct bytes joined = bytes_with_limit(text.length + 8);
    for (size_t i = 0; i < text.length; ++i) /* as one line */
        bytes_append(&joined, text.data[i] == '\n' ? " " : text.data + i, 1);
    (void)snprintf(score, sizeof score, "Final score: %lld/8191", (long long)late_ones[_i].score);
    ck_assert_msg(strstr(joined.data, late_ones[_i].points) != NULL, "%s", text.data);
    ck_assert_msg(strstr(page.data, late_ones[_i].points) != NULL, "%s", page.data);
    ck_assert_msg(strstr(joined.data, score) != NULL, "%s", text.data);
    if (late_ones[_i].late == NULL) {
        ck_assert_msg(strstr(joined.data, "started day") == NULL, "%s", text.data);
    } else {
        ck_assert_msg(strstr(joined.data, late_ones[_i].late) != NULL, "%s", text.data);
        ck_assert_msg(strstr(page.data, late_ones[_i].late) != NULL, "%s", page.data);
    }
    bytes_release(&joined);
    bytes_release(&text);
    bytes_release(&page);
    stop();
}
END_TEST

START_TEST(an_empty_class)
{
    struct summary summary;
    struct bytes page = bytes_with_limit(4000);
    const struct standings none = {.lab = &support_lab};
    summary_make(&summary, &none);
    ck_assert(summary.students == 0 && summary.scored == 0 && summary.worst_mark == NULL);
    summary_write(&page, &summary);
    ck_assert_str_eq(bytes_text(&page), "0 students\n");
    bytes_release(&page);
}
END_TEST

Suite *suite_exports(void)
{
    Suite *suite = suite_create("exports");
    TCase *tests = tcase_create("exports");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, totals_agree_everywhere, 0, COUNT_OF(totals));
    tcase_add_test(tests, who_waits_has_no_score);
    tcase_add_loop_test(tests, files_hold, 0, COUNT_OF(holds));
    tcase_add_test(tests, who_is_left_out_of_canvas_is_said);
    tcase_add_test(tests, formats_are_documented);
    tcase_add_test(tests, files_are_private);
    tcase_add_test(tests, only_what_changes_is_written);
    tcase_add_test(tests, one_student_alone);
    tcase_add_test(tests, what_stands_in_the_way_is_said);
    tcase_add_test(tests, a_damaged_document_is_said);
    tcase_add_loop_test(tests, nothing_written_becomes_markup, 0, 2);
    tcase_add_loop_test(tests, reports_are_well_formed, 0, COUNT_OF(totals));
    tcase_add_test(tests, a_grade_without_html_is_shown_as_text);
    tcase_add_test(tests, a_class_in_a_few_numbers);
    tcase_add_loop_test(tests, the_mean_says_what_is_in_it, 0, 4);
    tcase_add_test(tests, a_standing_in_words);
    tcase_add_loop_test(tests, points_by_hand_are_late_too, 0, (int)COUNT_OF(late_ones));
    tcase_add_test(tests, an_empty_class);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_gradebook.c - what is recorded stays, whatever happens to the program; what is damaged or
 * foreign is refused with a sentence and left as it is. */
#include "testing.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "files.h"
#include "mix.h"
#include "support_class.h"
#include "support_toolkit.h"

static char folder[512];
static struct roster roster;
static struct gradebook *book;
static struct error err;

static void start(void)
{
    err = (struct error){0};
    roster = class_roster(CLASS_ROSTER);
    book = class_gradebook(&roster, folder);
}

static void stop(void)
{
    gradebook_close(book);
    roster_release(&roster);
    book = NULL;
}

static const char *file(void)
{
    return support_path(folder, "gradebook.sqlite");
}

static void reopen(void)
{
    gradebook_close(book);
    ck_assert_msg(gradebook_open(&book, file(), &err) == 0, "%s", err.text);
}

/* Another connection, as any other program has it. */
static int64_t ask(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
                     SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 10000);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    int code = sqlite3_step(statement);
    ck_assert_msg(code == SQLITE_ROW || code == SQLITE_DONE, "%s", sqlite3_errmsg(db));
    int64_t value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return value;
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *words = NULL;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &words) == SQLITE_OK, "%s", words);
    (void)sqlite3_close(db);
}

static struct attempt latest(const char *student, unsigned parts)
{
    struct attempt attempt;
    bool found = false;
    ck_assert_msg(gradebook_latest(book, student, parts, &attempt, &found, &err) == 0, "%s",
                  err.text);
    ck_assert_msg(found, "%s has no attempt", student);
    return attempt;
}

/* ---- The file -------------------------------------------------------------------------------- */

START_TEST(a_new_gradebook_is_private_and_durable)
{
    struct stat info;
    start();
    ck_assert_int_eq(stat(file(), &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
    ck_assert_int_eq(stat(support_path(folder, "gradebook.sqlite-wal"), &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
    ck_assert_int_eq(ask(file(), "PRAGMA application_id"), 0x53504C57);
    ck_assert_int_eq(ask(file(), "PRAGMA user_version"), 3);
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM student"), 5);
    stop();
    /* Closed, it is one file that can be copied. */
    ck_assert_int_ne(stat(support_path(folder, "gradebook.sqlite-wal"), &info), 0);
}
END_TEST

START_TEST(settings_are_kept)
{
    char *value = NULL;
    start();
    ck_assert_int_eq(gradebook_get(book, "seed", &value, &err), 0);
    ck_assert_ptr_null(value);
    ck_assert_int_eq(gradebook_set(book, "seed", "1", &err), 0);
    ck_assert_int_eq(gradebook_set(book, "seed", "18446744073709551615", &err), 0);
    ck_assert_int_eq(gradebook_set(book, "it's; DROP TABLE setting; --", "", &err), 0);
    reopen();
    ck_assert_int_eq(gradebook_get(book, "seed", &value, &err), 0);
    ck_assert_str_eq(value, "18446744073709551615");
    free(value);
    ck_assert_int_eq(gradebook_get(book, "it's; DROP TABLE setting; --", &value, &err), 0);
    ck_assert_str_eq(value, "");
    free(value);
    stop();
}
END_TEST

static void make_version1(const char *path)
{
    struct bytes sql = testing_fixture("gradebook/version1.sql");
    execute(path, bytes_text(&sql));
    bytes_release(&sql);
}

START_TEST(a_gradebook_of_version_1_is_brought_up_to_date)
{
    char *trouble = NULL;
    bool found = false;
    struct overrides overrides;
    support_new_folder(folder);
    make_version1(file());
    err = (struct error){0};
    ck_assert_msg(gradebook_open(&book, file(), &err) == 0, "%s", err.text);
    ck_assert_int_eq(ask(file(), "PRAGMA user_version"), 3);
    struct attempt attempt = latest("s1", ATTEMPT_MARKS | ATTEMPT_TEXTS);
    ck_assert_int_eq(attempt.number, 2);
    ck_assert_int_eq(attempt.score, 6);
    ck_assert_int_eq(attempt.pending, 4);
    ck_assert_uint_eq(attempt.mark_count, 2);
    ck_assert_str_eq(attempt.marks[0].message, "witnesses disagree");
    ck_assert_int_eq(attempt.marks[0].status, MARK_ERROR);
    ck_assert_str_eq(attempt.marks[0].remedy, "");
    ck_assert_str_eq(attempt.page, "page 2");
    ck_assert_ptr_null(attempt.html);
    ck_assert_str_eq(attempt.explanation, "I indexed it");
    ck_assert_ptr_null(attempt.state);
    ck_assert_int_eq(attempt.handed_in.unix_s, 1774000500);
    ck_assert_int_eq(attempt.handed_in.offset_s, 7200);
    attempt_release(&attempt);
    attempt = latest("s2", ATTEMPT_HEAD);
    ck_assert_int_eq(attempt.outcome, ATTEMPT_MISSING);
    ck_assert_str_eq(attempt.reason, "no commit at or before the deadline");
    attempt_release(&attempt);
    ck_assert_int_eq(gradebook_latest(book, "s3", ATTEMPT_HEAD, &attempt, &found, &err), 0);
    ck_assert(!found);
    ck_assert_int_eq(gradebook_overrides(book, "s1", &overrides, &err), 0);
    ck_assert_uint_eq(overrides.count, 1);
    ck_assert_int_eq(overrides.items[0].points, 3);
    overrides_release(&overrides);
    ck_assert_int_eq(gradebook_trouble(book, "s1", &trouble, &err), 0);
    ck_assert_ptr_null(trouble);
    ck_assert_int_eq(gradebook_trouble(book, "s3", &trouble, &err), 0);
    ck_assert_str_eq(trouble, "the disk was full");
    free(trouble);
    /* What later versions have more works on it. */
    attempt = class_graded("F", NULL);
    attempt.state = strdup("refs/heads/main 1234");
    class_record(book, "s1", attempt);
    attempt = latest("s1", ATTEMPT_MARKS | ATTEMPT_TEXTS);
    ck_assert_int_eq(attempt.number, 3);
    ck_assert_str_eq(attempt.state, "refs/heads/main 1234");
    ck_assert_str_eq(attempt.marks[0].remedy, "Mend it.");
    ck_assert_str_eq(attempt.marks[1].remedy, "");
    ck_assert_ptr_nonnull(strstr(attempt.html, "Mend it."));
    attempt_release(&attempt);
    gradebook_close(book);
    /* The tables are those of a new file. */
    char other[512];
    struct roster none = {0};
    gradebook_close(class_gradebook(&none, other));
    char sql[1200];
    (void)snprintf(sql, sizeof sql, "ATTACH '%s/gradebook.sqlite' AS other", other);
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(file(), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_stmt *statement = NULL;
    ck_assert_int_eq(
        sqlite3_prepare_v2(db,
                           "SELECT m.name, c.name, c.type, c.\"notnull\", c.pk"
                           " FROM main.sqlite_schema m, pragma_table_info(m.name, 'main') c"
                           " EXCEPT SELECT m.name, c.name, c.type, c.\"notnull\", c.pk"
                           " FROM other.sqlite_schema m, pragma_table_info(m.name, 'other') c",
                           -1, &statement, NULL),
        SQLITE_OK);
    ck_assert_msg(sqlite3_step(statement) == SQLITE_DONE, "table %s differs",
                  (const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
}
END_TEST

/* ---- What is refused ------------------------------------------------------------------------- */

static void newer(void)
{
    make_version1(file());
    execute(file(), "PRAGMA user_version = 99");
}
static void foreign(void)
{
    execute(file(), "CREATE TABLE photo (id INTEGER); INSERT INTO photo VALUES (1)");
}
static void of_another_program(void)
{
    execute(file(), "PRAGMA application_id = 77");
}
static void text(void)
{
    testing_write(file(), "id,name\n", 8);
}
static void old_and_wrong(void)
{
    execute(file(), "PRAGMA application_id = 1397771351; PRAGMA user_version = 1;"
                    "CREATE TABLE standing (x TEXT)");
}
/* A page in the middle becomes other bytes. */
static void damaged(void)
{
    make_version1(file());
    execute(file(), "WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n LIMIT 2000)"
                    " INSERT INTO trouble SELECT i, 's1', 1, hex (zeroblob (100)), i FROM n");
    struct bytes content;
    ck_assert_int_eq(file_read(&content, file(), (size_t)64 << 20, false), FILE_READ);
    size_t at = content.length / 2 / 4096 * 4096;
    memset(content.data + at, 0x5A, 4096);
    testing_write(file(), content.data, content.length);
    bytes_release(&content);
}
static void cut(void)
{
    damaged();
    ck_assert_int_eq(truncate(file(), 4096 * 5 + 17), 0);
}

static const struct {
    void (*make)(void);
    enum error_kind kind;
    const char *says;
} refused[] = {
    {newer, ERROR_USAGE, "newer Spillway (version 99 of its tables, this program knows 3)"},
    {foreign, ERROR_USAGE, "no gradebook of Spillway's"},
    {of_another_program, ERROR_USAGE, "no gradebook of Spillway's"},
    {text, ERROR_INFRASTRUCTURE, "is damaged (file is not a database)"},
    {old_and_wrong, ERROR_INFRASTRUCTURE, "cannot bring the gradebook up to date"},
    {damaged, ERROR_INFRASTRUCTURE, "is damaged"},
    {cut, ERROR_INFRASTRUCTURE, "is damaged"},
};

START_TEST(what_is_refused_stays_as_it_is)
{
    struct bytes before, after;
    support_new_folder(folder);
    refused[_i].make();
    ck_assert_int_eq(file_read(&before, file(), (size_t)64 << 20, false), FILE_READ);
    err = (struct error){0};
    ck_assert_int_eq(gradebook_open(&book, file(), &err), -1);
    ck_assert_ptr_null(book);
    ck_assert_int_eq(err.kind, refused[_i].kind);
    ck_assert_msg(strstr(err.text, refused[_i].says) != NULL, "%s", err.text);
    ck_assert_msg(strstr(err.text, file()) != NULL, "%s", err.text);
    ck_assert_int_eq(file_read(&after, file(), (size_t)64 << 20, false), FILE_READ);
    ck_assert_uint_eq(before.length, after.length);
    ck_assert_mem_eq(before.data, after.data, before.length);
    bytes_release(&before);
    bytes_release(&after);
}
END_TEST

START_TEST(where_no_file_can_be)
{
    support_new_folder(folder);
    err = (struct error){0};
    ck_assert_int_eq(gradebook_open(&book, folder, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    err = (struct error){0};
    ck_assert_int_eq(gradebook_open(&book, "/nowhere/gradebook.sqlite", &err), -1);
    ck_assert_msg(strstr(err.text, "/nowhere/gradebook.sqlite: No such file") != NULL, "%s",
                  err.text);
    char deep[700];
    (void)snprintf(deep, sizeof deep, "%s", folder);
    while (strlen(deep) < 520) {
        (void)snprintf(deep + strlen(deep), sizeof deep - strlen(deep), "/%0100d", 0);
        ck_assert_int_eq(mkdir(deep, 0700), 0);
    }
    err = (struct error){0};
    ck_assert_int_eq(gradebook_open(&book, support_path(deep, "gradebook.sqlite"), &err), -1);
    ck_assert_msg(strstr(err.text, "more than the 500 that SQLite takes") != NULL, "%s", err.text);
}
END_TEST

/* ---- Attempts -------------------------------------------------------------------------------- */

static const char hostile[] = "'; DROP TABLE attempt; --\"\n\xE2\x80\xA6 %s ?1";

START_TEST(an_attempt_comes_back_as_it_was)
{
    struct attempt back;
    bool found = false;
    start();
    struct attempt attempt = class_graded("PFSE", "2026-03-29 23:59:07");
    char **const texts[] = {&attempt.warnings, &attempt.explanation, &attempt.state, &attempt.key};
    for (size_t i = 0; i < COUNT_OF(texts); ++i)
        *texts[i] = strdup(hostile);
    attempt.cached = true;
    ck_assert_int_eq(gradebook_record(book, "s1", &attempt, &err), 0);
    ck_assert_int_eq(attempt.number, 1);
    reopen();
    back = latest("s1", ATTEMPT_MARKS | ATTEMPT_TEXTS);
    const struct bytes_pair {
        const char *a, *b;
    } pairs[] = {{attempt.commit, back.commit},
                 {attempt.chosen, back.chosen},
                 {attempt.warnings, back.warnings},
                 {attempt.handed_in_from, back.handed_in_from},
                 {attempt.page, back.page},
                 {attempt.explanation, back.explanation},
                 {attempt.json, back.json},
                 {attempt.state, back.state},
                 {attempt.key, back.key}};
    for (size_t i = 0; i < COUNT_OF(pairs); ++i) {
        ck_assert_ptr_nonnull(pairs[i].b);
        ck_assert_str_eq(pairs[i].a, pairs[i].b);
    }
    ck_assert_ptr_null(back.reason);
    ck_assert(back.cached && back.outcome == ATTEMPT_GRADED && back.number == 1);
    ck_assert_int_eq(back.score, attempt.score);
    ck_assert_int_eq(back.pending, 4 + 8);
    ck_assert_int_eq(back.max_score, 8191);
    ck_assert_int_eq(back.finished_s, attempt.finished_s);
    ck_assert_int_eq(back.duration_ns, 5);
    ck_assert_int_eq(back.handed_in.unix_s, attempt.handed_in.unix_s);
    ck_assert_int_eq(moment_offset(back.handed_in), 7200);
    ck_assert_uint_eq(back.mark_count, attempt.mark_count);
    for (size_t i = 0; i < back.mark_count; ++i) {
        ck_assert_str_eq(back.marks[i].id, support_lab.criteria[i].id);
        ck_assert_str_eq(back.marks[i].title, support_lab.criteria[i].title);
        ck_assert_str_eq(back.marks[i].message, attempt.marks[i].message);
        ck_assert_int_eq(back.marks[i].status, attempt.marks[i].status);
        ck_assert_int_eq(back.marks[i].points, attempt.marks[i].points);
        ck_assert_int_eq(back.marks[i].max_points, attempt.marks[i].max_points);
    }
    attempt_release(&back);
    back = latest("s1", ATTEMPT_HEAD);
    ck_assert(back.marks == NULL && back.page == NULL && back.json == NULL);
    attempt_release(&back);
    ck_assert_int_eq(gradebook_by_key(book, hostile, ATTEMPT_MARKS, &back, &found, &err), 0);
    ck_assert(found && back.mark_count == attempt.mark_count);
    attempt_release(&back);
    ck_assert_int_eq(gradebook_by_key(book, "other", ATTEMPT_MARKS, &back, &found, &err), 0);
    ck_assert(!found);
    attempt_release(&attempt);
    stop();
}
END_TEST

START_TEST(a_regrade_keeps_history)
{
    struct attempt attempt;
    bool found = false;
    start();
    class_record(book, "s1", class_graded("F", NULL));
    class_record(book, "s2", class_graded("FF", NULL));
    class_record(book, "s1", class_graded("", NULL));
    ck_assert_int_eq(
        attempt_without_grade(&attempt, ATTEMPT_BROKEN, "a SHA-256 repo\x1b[31m", &err), 0);
    class_record(book, "s1", attempt);
    static const int64_t scores[] = {8190, 8191, 0};
    for (int64_t number = 1; number <= 3; ++number) {
        ck_assert_int_eq(
            gradebook_attempt(book, "s1", number, ATTEMPT_MARKS, &attempt, &found, &err), 0);
        ck_assert(found);
        ck_assert_int_eq(attempt.number, number);
        ck_assert_int_eq(attempt.score, scores[number - 1]);
        attempt_release(&attempt);
    }
    attempt = latest("s1", ATTEMPT_MARKS);
    ck_assert_str_eq(attempt.reason, "a SHA-256 repo?[31m");
    ck_assert_uint_eq(attempt.mark_count, 0);
    attempt_release(&attempt);
    ck_assert_int_eq(gradebook_attempt(book, "s1", 4, ATTEMPT_MARKS, &attempt, &found, &err), 0);
    ck_assert(!found);
    stop();
}
END_TEST

START_TEST(nobody_knows_this_student)
{
    start();
    struct attempt attempt = class_graded("", NULL);
    ck_assert_int_eq(gradebook_record(book, "s9", &attempt, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    attempt_release(&attempt);
    /* The gradebook goes on. */
    class_record(book, "s1", class_graded("", NULL));
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM attempt"), 1);
    stop();
}
END_TEST

START_TEST(a_roster_is_taken_over)
{
    start();
    class_record(book, "s2", class_graded("", NULL));
    struct roster other = class_roster("id,name,email,repo,extension_hours,deadline\n"
                                       "s5,Fifth Student,new@example.org,repos/s5,,\n"
                                       "s6,Sixth Student,s6@example.org,repos/s6,1.5,"
                                       "2026-03-29 23:59\n");
    ck_assert_int_eq(gradebook_put_roster(book, &other, &err), 0);
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM student"), 6);
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM student WHERE position IS NOT NULL"), 2);
    ck_assert_int_eq(ask(file(), "SELECT position FROM student WHERE email = 'new@example.org'"),
                     0);
    ck_assert_int_eq(ask(file(), "SELECT extension_s FROM student WHERE id = 's6'"), 5400);
    ck_assert_int_eq(ask(file(), "SELECT deadline_s FROM student WHERE id = 's6'"), 1774821540);
    struct student_ids ids;
    ck_assert_int_eq(gradebook_pick(book, PICK_WITHOUT_ATTEMPT, 0, &ids, &err), 0);
    ck_assert_uint_eq(ids.count, 2);
    student_ids_release(&ids);
    /* And back: the history is still there. */
    ck_assert_int_eq(gradebook_put_roster(book, &roster, &err), 0);
    struct attempt attempt = latest("s2", ATTEMPT_HEAD);
    attempt_release(&attempt);
    roster_release(&other);
    stop();
}
END_TEST

/* ---- Trouble and overrides ------------------------------------------------------------------- */

START_TEST(trouble_is_no_mark)
{
    char *trouble = NULL;
    start();
    class_record(book, "s1", class_graded("F", NULL));
    ck_assert_int_eq(gradebook_record_trouble(book, "s1", "the network is gone", &err), 0);
    ck_assert_int_eq(gradebook_record_trouble(book, "s1", "the disk is full", &err), 0);
    ck_assert_int_eq(gradebook_trouble(book, "s1", &trouble, &err), 0);
    ck_assert_str_eq(trouble, "the disk is full");
    free(trouble);
    struct attempt attempt = latest("s1", ATTEMPT_HEAD);
    ck_assert_int_eq(attempt.score, 8190);
    attempt_release(&attempt);
    class_record(book, "s1", class_graded("", NULL));
    ck_assert_int_eq(gradebook_trouble(book, "s1", &trouble, &err), 0);
    ck_assert_ptr_null(trouble);
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM trouble"), 2);
    /* It can be over without a new attempt, which is written once. */
    ck_assert_int_eq(gradebook_end_trouble(book, "s1", &err), 0);
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM trouble"), 2);
    ck_assert_int_eq(gradebook_record_trouble(book, "s1", "the disk is full", &err), 0);
    for (int i = 0; i < 2; ++i)
        ck_assert_int_eq(gradebook_end_trouble(book, "s1", &err), 0);
    ck_assert_int_eq(gradebook_trouble(book, "s1", &trouble, &err), 0);
    ck_assert_ptr_null(trouble);
    struct student_ids ids;
    ck_assert_int_eq(gradebook_pick(book, PICK_TROUBLE, 0, &ids, &err), 0);
    ck_assert_uint_eq(ids.count, 0);
    student_ids_release(&ids);
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM trouble"), 4);
    stop();
}
END_TEST

START_TEST(overrides_have_a_history)
{
    static const char first[] = "student,mark,points,reason\n"
                                "s1,code.frame,3,\"shown in class; it's fine\"\n"
                                "s2,build.accepted,1,the file had another name\n";
    static const char second[] = "student,mark,points,reason\ns1,code.frame,4,counted again\n";
    static const char back[] = "student,mark,points,reason\ns1,code.frame,,taken back\n";
    struct overrides overrides;
    start();
    ck_assert_uint_eq(class_override(book, &roster, first), 2);
    ck_assert_uint_eq(class_override(book, &roster, first), 0);
    ck_assert_uint_eq(class_override(book, &roster, second), 1);
    reopen();
    ck_assert_int_eq(gradebook_overrides(book, "s1", &overrides, &err), 0);
    ck_assert_uint_eq(overrides.count, 1);
    ck_assert_int_eq(overrides.items[0].points, 4);
    ck_assert_str_eq(overrides.items[0].reason, "counted again");
    ck_assert_int_gt(overrides.items[0].at_s, 1700000000);
    overrides_release(&overrides);
    ck_assert_uint_eq(class_override(book, &roster, back), 1);
    ck_assert_uint_eq(class_override(book, &roster, back), 0);
    ck_assert_int_eq(gradebook_overrides(book, "s1", &overrides, &err), 0);
    ck_assert_uint_eq(overrides.count, 0);
    ck_assert_int_eq(gradebook_override_history(book, "s1", &overrides, &err), 0);
    ck_assert_uint_eq(overrides.count, 3);
    ck_assert_int_eq(overrides.items[0].points, 3);
    ck_assert(!overrides.items[1].withdrawn && overrides.items[2].withdrawn);
    overrides_release(&overrides);
    stop();
}
END_TEST

START_TEST(overrides_are_taken_all_or_none)
{
    char *const texts[] = {strdup("s1"), strdup("s9"), strdup("code.frame"), strdup("why not")};
    struct override items[] = {
        {.student = texts[0], .mark = texts[2], .points = 3, .reason = texts[3]},
        {.student = texts[1], .mark = texts[2], .points = 3, .reason = texts[3]}};
    const struct overrides overrides = {.items = items, .count = 2};
    size_t changed = 7;
    start();
    ck_assert_int_eq(gradebook_put_overrides(book, &overrides, &changed, &err), -1);
    ck_assert_uint_eq(changed, 0);
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM override"), 0);
    for (size_t i = 0; i < COUNT_OF(texts); ++i)
        free(texts[i]);
    stop();
}
END_TEST

/* ---- Picking --------------------------------------------------------------------------------- */

static const struct {
    enum gradebook_pick pick;
    int64_t since_s;
    const char *ids;
} picks[] = {
    {PICK_ROSTER, 0, "s1 s2 s3 s4 s5"},
    {PICK_WITHOUT_ATTEMPT, 0, "s5"},
    {PICK_FAILED, 0, "s2 s4"},
    {PICK_PENDING, 0, "s3"},
    {PICK_TROUBLE, 0, "s1 s5"},
    {PICK_SINCE, 2000, "s2 s3"},
    {PICK_SINCE, 4000, ""},
};

START_TEST(students_are_picked)
{
    struct student_ids ids;
    struct attempt attempt;
    start();
    const struct {
        const char *student, *letters;
        int64_t finished_s;
    } graded[] = {{"s1", "F", 900}, {"s1", "", 1000}, {"s2", "F", 2000}, {"s3", "S", 3000}};
    for (size_t i = 0; i < COUNT_OF(graded); ++i) {
        attempt = class_graded(graded[i].letters, NULL);
        attempt.finished_s = graded[i].finished_s;
        class_record(book, graded[i].student, attempt);
    }
    ck_assert_int_eq(attempt_without_grade(&attempt, ATTEMPT_MISSING, "empty", &err), 0);
    attempt.finished_s = 1;
    ck_assert_int_eq(gradebook_record_trouble(book, "s4", "before", &err), 0);
    class_record(book, "s4", attempt);
    ck_assert_int_eq(gradebook_record_trouble(book, "s1", "now", &err), 0);
    ck_assert_int_eq(gradebook_record_trouble(book, "s5", "now", &err), 0);
    ck_assert_int_eq(gradebook_pick(book, picks[_i].pick, picks[_i].since_s, &ids, &err), 0);
    struct bytes joined = bytes_with_limit(100);
    for (size_t i = 0; i < ids.count; ++i)
        bytes_printf(&joined, "%s%s", i == 0 ? "" : " ", ids.ids[i]);
    ck_assert_str_eq(bytes_text(&joined), picks[_i].ids);
    bytes_release(&joined);
    student_ids_release(&ids);
    stop();
}
END_TEST

/* ---- When the program dies ------------------------------------------------------------------- */

/* In a child, for ever: an attempt after the other. */
static void record_for_ever(void)
{
    struct gradebook *own = NULL;
    struct error trouble = {0};
    if (gradebook_open(&own, file(), &trouble) != 0)
        _exit(1);
    for (;;) {
        struct attempt attempt = class_graded("F", NULL);
        if (gradebook_record(own, "s1", &attempt, &trouble) != 0)
            _exit(1);
        attempt_release(&attempt);
    }
}

START_TEST(a_kill_leaves_whole_attempts)
{
    start();
    gradebook_close(book);
    int64_t before = 0;
    for (unsigned round = 0; round < 12; ++round) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            record_for_ever();
        (void)usleep(20000 + (useconds_t)(mix64_at(17, round) % 60000));
        int status = 0;
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        ck_assert_msg(gradebook_open(&book, file(), &err) == 0, "%s", err.text);
        gradebook_close(book);
        int64_t attempts = ask(file(), "SELECT count(*) FROM attempt");
        ck_assert_int_ge(attempts, before);
        before = attempts;
        ck_assert_int_eq(ask(file(), "SELECT count(*) FROM mark"), 13 * attempts);
        ck_assert_int_eq(ask(file(), "SELECT coalesce (max (number), 0) FROM attempt"), attempts);
    }
    ck_assert_int_gt(before, 0);
    ck_assert_msg(gradebook_open(&book, file(), &err) == 0, "%s", err.text);
    stop();
}
END_TEST

/* In a child whose files may not grow: how a full disk looks. */
static int record_until_full(void)
{
    struct gradebook *own = NULL;
    struct error trouble = {0};
    const struct rlimit limit = {256 << 10, 256 << 10};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (gradebook_open(&own, file(), &trouble) != 0 || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 100;
    for (int i = 0; i < 10000; ++i) {
        struct attempt attempt = class_graded("F", NULL);
        int status = gradebook_record(own, "s1", &attempt, &trouble);
        attempt_release(&attempt);
        if (status != 0)
            return trouble.kind == ERROR_INFRASTRUCTURE && strstr(trouble.text, file()) != NULL
                       ? i
                       : 101;
    }
    return 102;
}

START_TEST(a_full_disk_costs_one_attempt)
{
    start();
    gradebook_close(book);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(record_until_full());
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) > 0);
    ck_assert_msg(WEXITSTATUS(status) < 100, "%d", WEXITSTATUS(status));
    ck_assert_msg(gradebook_open(&book, file(), &err) == 0, "%s", err.text);
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM attempt"), WEXITSTATUS(status));
    ck_assert_int_eq(ask(file(), "SELECT count(*) FROM mark"), 13 * WEXITSTATUS(status));
    stop();
}
END_TEST

START_TEST(another_program_may_hold_it_for_a_while)
{
    int ready[2];
    char byte = 0;
    start();
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        sqlite3 *db = NULL;
        bool held = sqlite3_open(file(), &db) == SQLITE_OK &&
                    sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK;
        (void)!write(ready[1], "x", 1);
        (void)usleep(300000);
        _exit(held && sqlite3_close_v2(db) == SQLITE_OK ? 0 : 1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    class_record(book, "s1", class_graded("", NULL));
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    stop();
}
END_TEST

Suite *suite_gradebook(void)
{
    Suite *suite = suite_create("gradebook");
    TCase *tests = tcase_create("gradebook");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_new_gradebook_is_private_and_durable);
    tcase_add_test(tests, settings_are_kept);
    tcase_add_test(tests, a_gradebook_of_version_1_is_brought_up_to_date);
    tcase_add_loop_test(tests, what_is_refused_stays_as_it_is, 0, COUNT_OF(refused));
    tcase_add_test(tests, where_no_file_can_be);
    tcase_add_test(tests, an_attempt_comes_back_as_it_was);
    tcase_add_test(tests, a_regrade_keeps_history);
    tcase_add_test(tests, nobody_knows_this_student);
    tcase_add_test(tests, a_roster_is_taken_over);
    tcase_add_test(tests, trouble_is_no_mark);
    tcase_add_test(tests, overrides_have_a_history);
    tcase_add_test(tests, overrides_are_taken_all_or_none);
    tcase_add_loop_test(tests, students_are_picked, 0, COUNT_OF(picks));
    tcase_add_test(tests, a_kill_leaves_whole_attempts);
    tcase_add_test(tests, a_full_disk_costs_one_attempt);
    tcase_add_test(tests, another_program_may_hold_it_for_a_while);
    suite_add_tcase(suite, tests);
    return suite;
}

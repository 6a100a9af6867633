/* gradebook_schema.c - the tables, version by version.
 *
 * A new file goes through every step, an old one through those that it lacks: there is one way to
 * get at today's tables. Steps that have shipped are never edited. */
#include "gradebook_internal.h"

#define APPLICATION_ID 0x53504C57 /* "SPLW" */

static const char *const steps[] = {
    /* 1: settings, students, attempts with their marks, overrides, trouble. */
    "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE student ("
    " id TEXT PRIMARY KEY,"
    " position INTEGER," /* in the roster; NULL: no longer in it */
    " name TEXT NOT NULL, email TEXT NOT NULL, repo TEXT NOT NULL, ref TEXT, group_name TEXT,"
    " deadline_s INTEGER, deadline TEXT," /* own deadline, without the extension */
    " extension_s INTEGER NOT NULL DEFAULT 0"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE attempt ("
    " id INTEGER PRIMARY KEY,"
    " student TEXT NOT NULL REFERENCES student (id),"
    " number INTEGER NOT NULL CHECK (number > 0),"
    " outcome TEXT NOT NULL CHECK (outcome IN ('graded', 'missing', 'broken')),"
    " reason TEXT,"
    " commit_id TEXT, chosen TEXT,"
    " handed_in_s INTEGER, handed_in_offset_s INTEGER, handed_in_from TEXT, warnings TEXT,"
    " score INTEGER NOT NULL, pending INTEGER NOT NULL, max_score INTEGER NOT NULL,"
    " key TEXT, cached INTEGER NOT NULL CHECK (cached IN (0, 1)),"
    " finished_s INTEGER NOT NULL, duration_ns INTEGER NOT NULL,"
    " explanation TEXT, page TEXT, json TEXT,"
    " UNIQUE (student, number),"
    " CHECK ((outcome = 'graded') = (reason IS NULL)),"
    " CHECK (score >= 0 AND pending >= 0 AND score + pending <= max_score)"
    ") STRICT;"
    "CREATE INDEX attempt_key ON attempt (key) WHERE key IS NOT NULL;"
    "CREATE TABLE mark ("
    " attempt INTEGER NOT NULL REFERENCES attempt (id),"
    " position INTEGER NOT NULL,"
    " id TEXT NOT NULL, title TEXT NOT NULL,"
    " status TEXT NOT NULL CHECK (status IN ('passed', 'failed', 'skipped', 'error')),"
    " points INTEGER NOT NULL, max_points INTEGER NOT NULL, message TEXT NOT NULL,"
    " PRIMARY KEY (attempt, position), UNIQUE (attempt, id),"
    " CHECK (points BETWEEN 0 AND max_points)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE override ("
    " id INTEGER PRIMARY KEY,"
    " student TEXT NOT NULL REFERENCES student (id), mark TEXT NOT NULL,"
    " points INTEGER CHECK (points >= 0)," /* NULL: taken back */
    " reason TEXT NOT NULL, at_s INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX override_student ON override (student, mark);"
    "CREATE TABLE trouble ("
    " id INTEGER PRIMARY KEY,"
    " student TEXT NOT NULL REFERENCES student (id),"
    " after_attempt INTEGER NOT NULL," /* the latest attempt's number then; 0: none */
    " sentence TEXT NOT NULL, at_s INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX trouble_student ON trouble (student);",
    /* 2: what the repo looked like, so that an unchanged one need not be read; and what counts for
     * each student, as the exported files show it. */
    "ALTER TABLE attempt ADD COLUMN state TEXT;"
    "CREATE TABLE standing ("
    " student TEXT PRIMARY KEY REFERENCES student (id),"
    " status TEXT NOT NULL,"
    " attempt INTEGER," /* its number */
    " graded_score INTEGER, raw_score INTEGER, late_penalty_millionths INTEGER, score INTEGER,"
    " pending INTEGER, max_score INTEGER, late TEXT NOT NULL"
    ") STRICT, WITHOUT ROWID;",
    /* 3: what to try for a lost mark, and the grade as a part of a page. */
    ("ALTER TABLE mark ADD COLUMN remedy TEXT NOT NULL DEFAULT '';"
     "ALTER TABLE attempt ADD COLUMN html TEXT;"),
};
#define VERSION ((int)COUNT_OF(steps))

static int read_pragma(struct gradebook *book, const char *sql, int *ret, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(book->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *ret = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW ? 0 : gradebook_fail(book, code, err);
}

/* Pragmas take no bound values: these are numbers of ours. */
static int write_pragma(struct gradebook *book, const char *name, int value, struct error *err)
{
    char sql[100];
    (void)snprintf(sql, sizeof sql, "PRAGMA %s = %d", name, value);
    return gradebook_execute(book, sql, err);
}

static int check_kind(struct gradebook *book, int version, struct error *err)
{
    int id = 0, tables = 0;
    if (read_pragma(book, "PRAGMA application_id", &id, err) != 0 ||
        read_pragma(book, "SELECT count(*) FROM sqlite_schema", &tables, err) != 0)
        return -1;
    bool is_new = id == 0 && version == 0 && tables == 0;
    if (!is_new && id != APPLICATION_ID)
        return error_set(err, ERROR_USAGE,
                         "%s is an SQLite file, but no gradebook of Spillway's: give another "
                         "output folder",
                         book->path);
    if (version > VERSION)
        return error_set(err, ERROR_USAGE,
                         "the gradebook %s was made by a newer Spillway (version %d of its tables, "
                         "this program knows %d): use that one",
                         book->path, version, VERSION);
    return 0;
}

static int run_steps(struct gradebook *book, int version, struct error *err)
{
    for (int i = version; i < VERSION; ++i)
        if (gradebook_execute(book, steps[i], err) != 0)
            return -1;
    return write_pragma(book, "application_id", APPLICATION_ID, err) != 0 ||
                   write_pragma(book, "user_version", VERSION, err) != 0
               ? -1
               : 0;
}

int gradebook_migrate(struct gradebook *book, struct error *err)
{
    int version = 0;
    if (read_pragma(book, "PRAGMA user_version", &version, err) != 0 ||
        check_kind(book, version, err) != 0)
        return -1;
    if (version == VERSION)
        return 0;
    if (gradebook_execute(book, "BEGIN EXCLUSIVE", err) != 0)
        return -1;
    /* Another program may have been faster. */
    if (read_pragma(book, "PRAGMA user_version", &version, err) != 0 ||
        run_steps(book, version, err) != 0 || gradebook_execute(book, "COMMIT", err) != 0) {
        (void)sqlite3_exec(book->db, "ROLLBACK", NULL, NULL, NULL);
        return error_context(err, version == 0 ? "cannot make the tables of the gradebook"
                                               : "cannot bring the gradebook up to date");
    }
    return 0;
}

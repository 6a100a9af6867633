/* gradebook_internal.h - what the gradebook's files share: the connection, its statements, and how
 * a failure of SQLite's becomes a sentence. Only these files include sqlite3.h. */
#ifndef SPILLWAY_GRADEBOOK_INTERNAL_H
#define SPILLWAY_GRADEBOOK_INTERNAL_H

#include <sqlite3.h>

#include "gradebook.h"

/* Every statement that a gradebook runs more than once; the texts are in gradebook_statements.c.
 * Values are always bound, never pasted in. */
enum statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_ROLLBACK,
    STATEMENT_SET,
    STATEMENT_GET,
    STATEMENT_STUDENTS_OUT,
    STATEMENT_STUDENT_IN,
    STATEMENT_NEXT_NUMBER,
    STATEMENT_ADD_ATTEMPT,
    STATEMENT_ADD_MARK,
    STATEMENT_ADD_TROUBLE,
    STATEMENT_CURRENT_OVERRIDE,
    STATEMENT_ADD_OVERRIDE,
    STATEMENT_LATEST,
    STATEMENT_ATTEMPT,
    STATEMENT_BY_KEY,
    STATEMENT_MARKS,
    STATEMENT_TEXTS,
    STATEMENT_TROUBLE,
    STATEMENT_OVERRIDES,
    STATEMENT_OVERRIDE_HISTORY,
    STATEMENT_PUT_STANDING,
    STATEMENT_PICK_ROSTER,
    STATEMENT_PICK_WITHOUT_ATTEMPT,
    STATEMENT_PICK_FAILED,
    STATEMENT_PICK_PENDING,
    STATEMENT_PICK_TROUBLE,
    STATEMENT_PICK_SINCE,
    STATEMENT_COUNT
};

struct gradebook {
    sqlite3 *db;
    char *path;                                /* as opened, owned */
    sqlite3_stmt *statements[STATEMENT_COUNT]; /* owned; NULL until first used */
};

extern const char *const gradebook_statements[STATEMENT_COUNT];

/* Fills *err with what SQLite's `code` means for whoever runs the batch. Returns -1. */
int gradebook_fail(struct gradebook *book, int code, struct error *err);

/* Runs statements without values or rows, as schemas and pragmas are. */
int gradebook_execute(struct gradebook *book, const char *sql, struct error *err);

/* The statement, ready to be bound. NULL with *err. */
sqlite3_stmt *gradebook_prepare(struct gradebook *book, enum statement which, struct error *err);

/* One step: *row says whether there is one. At the end, and after a failure, the statement is reset
 * and lets go of what was bound. */
int gradebook_step(struct gradebook *book, sqlite3_stmt *statement, bool *row, struct error *err);
/* For a statement that gives no rows. */
int gradebook_finish(struct gradebook *book, sqlite3_stmt *statement, struct error *err);
/* Ends a statement that may have more rows. */
void gradebook_leave(sqlite3_stmt *statement);

/* Everything between them is done, or nothing. gradebook_end() commits when `status` is 0 and rolls
 * back otherwise; it returns -1 when either the status or the commit failed. */
int gradebook_begin(struct gradebook *book, struct error *err);
int gradebook_end(struct gradebook *book, int status, struct error *err);

/* Values by their place from 1. Texts are borrowed until the statement is reset; NULL is NULL. */
void gradebook_bind_text(sqlite3_stmt *statement, int place, const char *text);
void gradebook_bind_number(sqlite3_stmt *statement, int place, int64_t value);
void gradebook_bind_optional(sqlite3_stmt *statement, int place, bool known, int64_t value);

/* A copy of a column's text, NULL for NULL; *no_memory is set when there is none for it. */
char *gradebook_text(sqlite3_stmt *statement, int column, bool *no_memory);

/* gradebook_schema.c: makes or brings up to date. */
int gradebook_migrate(struct gradebook *book, struct error *err);

#endif

/* gradebook_read.c - what comes out of the gradebook. */
#include "gradebook.h"

#include "gradebook_internal.h"

int gradebook_get(struct gradebook *book, const char *name, char **ret, struct error *err)
{
    *ret = NULL;
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_GET, err);
    bool row = false, no_memory = false;
    if (statement == NULL)
        return -1;
    gradebook_bind_text(statement, 1, name);
    if (gradebook_step(book, statement, &row, err) != 0)
        return -1;
    if (row) {
        *ret = gradebook_text(statement, 0, &no_memory);
        gradebook_leave(statement);
    }
    return no_memory ? error_no_memory(err) : 0;
}

/* ---- Attempts -------------------------------------------------------------------------------- */

static bool parse_status(const char *word, enum mark_status *ret)
{
    static const enum mark_status all[] = {MARK_PASSED, MARK_FAILED, MARK_SKIPPED, MARK_ERROR};
    for (size_t i = 0; i < COUNT_OF(all); ++i)
        if (word != NULL && strcmp(mark_status_word(all[i]), word) == 0) {
            *ret = all[i];
            return true;
        }
    return false;
}

/* The columns of ATTEMPT_COLUMNS, in their order; *id becomes the row's. */
static int take_head(struct gradebook *book, sqlite3_stmt *statement, struct attempt *attempt,
                     int64_t *id, struct error *err)
{
    bool no_memory = false;
    *id = sqlite3_column_int64(statement, 0);
    attempt->number = sqlite3_column_int64(statement, 1);
    AUTO_FREE char *outcome = gradebook_text(statement, 2, &no_memory);
    attempt->reason = gradebook_text(statement, 3, &no_memory);
    attempt->commit = gradebook_text(statement, 4, &no_memory);
    attempt->chosen = gradebook_text(statement, 5, &no_memory);
    attempt->has_handed_in = sqlite3_column_type(statement, 6) != SQLITE_NULL;
    if (attempt->has_handed_in)
        attempt->handed_in = moment_at_offset(sqlite3_column_int64(statement, 6),
                                              (int32_t)sqlite3_column_int64(statement, 7));
    attempt->handed_in_from = gradebook_text(statement, 8, &no_memory);
    attempt->warnings = gradebook_text(statement, 9, &no_memory);
    attempt->score = sqlite3_column_int64(statement, 10);
    attempt->pending = sqlite3_column_int64(statement, 11);
    attempt->max_score = sqlite3_column_int64(statement, 12);
    attempt->state = gradebook_text(statement, 13, &no_memory);
    attempt->key = gradebook_text(statement, 14, &no_memory);
    attempt->cached = sqlite3_column_int64(statement, 15) != 0;
    attempt->finished_s = sqlite3_column_int64(statement, 16);
    attempt->duration_ns = sqlite3_column_int64(statement, 17);
    if (no_memory)
        return error_no_memory(err);
    return attempt_outcome_parse(outcome, &attempt->outcome)
               ? 0
               : gradebook_fail(book, SQLITE_CORRUPT, err);
}

static int add_mark(struct attempt *attempt, sqlite3_stmt *statement, bool *known_status)
{
    bool no_memory = false;
    struct attempt_mark *grown =
        realloc(attempt->marks, (attempt->mark_count + 1) * sizeof attempt->marks[0]);
    if (grown == NULL)
        return -1;
    attempt->marks = grown;
    AUTO_FREE char *status = gradebook_text(statement, 2, &no_memory);
    struct attempt_mark *mark = &grown[attempt->mark_count++];
    *mark = (struct attempt_mark){.id = gradebook_text(statement, 0, &no_memory),
                                  .title = gradebook_text(statement, 1, &no_memory),
                                  .points = sqlite3_column_int64(statement, 3),
                                  .max_points = sqlite3_column_int64(statement, 4),
                                  .message = gradebook_text(statement, 5, &no_memory),
                                  .remedy = gradebook_text(statement, 6, &no_memory)};
    *known_status = parse_status(status, &mark->status);
    return no_memory ? -1 : 0;
}

static int read_marks(struct gradebook *book, int64_t id, struct attempt *attempt,
                      struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_MARKS, err);
    if (statement == NULL)
        return -1;
    gradebook_bind_number(statement, 1, id);
    for (;;) {
        bool row = false, known_status = false;
        if (gradebook_step(book, statement, &row, err) != 0)
            return -1;
        if (!row)
            return 0;
        if (add_mark(attempt, statement, &known_status) != 0 || !known_status) {
            gradebook_leave(statement);
            return known_status ? error_no_memory(err) : gradebook_fail(book, SQLITE_CORRUPT, err);
        }
    }
}

static int read_texts(struct gradebook *book, int64_t id, struct attempt *attempt,
                      struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_TEXTS, err);
    bool row = false, no_memory = false;
    if (statement == NULL)
        return -1;
    gradebook_bind_number(statement, 1, id);
    if (gradebook_step(book, statement, &row, err) != 0)
        return -1;
    if (row) {
        attempt->explanation = gradebook_text(statement, 0, &no_memory);
        attempt->page = gradebook_text(statement, 1, &no_memory);
        attempt->json = gradebook_text(statement, 2, &no_memory);
        attempt->html = gradebook_text(statement, 3, &no_memory);
        gradebook_leave(statement);
    }
    return no_memory ? error_no_memory(err) : 0;
}

/* Runs a bound statement that gives at most one attempt. */
static int read_attempt(struct gradebook *book, sqlite3_stmt *statement, unsigned parts,
                        struct attempt *ret, bool *found, struct error *err)
{
    int64_t id = 0;
    bool row = false;
    if (gradebook_step(book, statement, &row, err) != 0)
        return -1;
    *found = row;
    if (!row)
        return 0;
    int status = take_head(book, statement, ret, &id, err);
    gradebook_leave(statement);
    if (status == 0 && (parts & ATTEMPT_MARKS) != 0)
        status = read_marks(book, id, ret, err);
    if (status == 0 && (parts & ATTEMPT_TEXTS) != 0)
        status = read_texts(book, id, ret, err);
    if (status == 0)
        return 0;
    attempt_release(ret);
    *found = false;
    return -1;
}

static sqlite3_stmt *prepare_read(struct gradebook *book, enum statement which, const char *text,
                                  struct attempt *ret, bool *found, struct error *err)
{
    *ret = (struct attempt){0};
    *found = false;
    sqlite3_stmt *statement = gradebook_prepare(book, which, err);
    if (statement != NULL)
        gradebook_bind_text(statement, 1, text);
    return statement;
}

int gradebook_latest(struct gradebook *book, const char *student, unsigned parts,
                     struct attempt *ret, bool *found, struct error *err)
{
    sqlite3_stmt *statement = prepare_read(book, STATEMENT_LATEST, student, ret, found, err);
    return statement == NULL ? -1 : read_attempt(book, statement, parts, ret, found, err);
}

int gradebook_attempt(struct gradebook *book, const char *student, int64_t number, unsigned parts,
                      struct attempt *ret, bool *found, struct error *err)
{
    sqlite3_stmt *statement = prepare_read(book, STATEMENT_ATTEMPT, student, ret, found, err);
    if (statement == NULL)
        return -1;
    gradebook_bind_number(statement, 2, number);
    return read_attempt(book, statement, parts, ret, found, err);
}

int gradebook_by_key(struct gradebook *book, const char *key, unsigned parts, struct attempt *ret,
                     bool *found, struct error *err)
{
    sqlite3_stmt *statement = prepare_read(book, STATEMENT_BY_KEY, key, ret, found, err);
    return statement == NULL ? -1 : read_attempt(book, statement, parts, ret, found, err);
}

int gradebook_trouble(struct gradebook *book, const char *student, char **ret, struct error *err)
{
    *ret = NULL;
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_TROUBLE, err);
    bool row = false, no_memory = false;
    if (statement == NULL)
        return -1;
    gradebook_bind_text(statement, 1, student);
    if (gradebook_step(book, statement, &row, err) != 0)
        return -1;
    if (row) {
        *ret = gradebook_text(statement, 0, &no_memory);
        gradebook_leave(statement);
    }
    return no_memory ? error_no_memory(err) : 0;
}

/* ---- Overrides ------------------------------------------------------------------------------- */

static int add_override(struct overrides *overrides, const char *student, sqlite3_stmt *statement)
{
    bool no_memory = false;
    struct override *grown =
        realloc(overrides->items, (overrides->count + 1) * sizeof overrides->items[0]);
    if (grown == NULL)
        return -1;
    overrides->items = grown;
    struct override *override = &grown[overrides->count++];
    *override = (struct override){.student = strdup(student),
                                  .mark = gradebook_text(statement, 0, &no_memory),
                                  .withdrawn = sqlite3_column_type(statement, 1) == SQLITE_NULL,
                                  .points = sqlite3_column_int64(statement, 1),
                                  .reason = gradebook_text(statement, 2, &no_memory),
                                  .at_s = sqlite3_column_int64(statement, 3)};
    return no_memory || override->student == NULL ? -1 : 0;
}

static int read_overrides(struct gradebook *book, enum statement which, const char *student,
                          struct overrides *ret, struct error *err)
{
    *ret = (struct overrides){0};
    sqlite3_stmt *statement = gradebook_prepare(book, which, err);
    if (statement == NULL)
        return -1;
    gradebook_bind_text(statement, 1, student);
    for (;;) {
        bool row = false;
        int status = gradebook_step(book, statement, &row, err);
        if (status == 0 && !row)
            return 0;
        if (status == 0 && add_override(ret, student, statement) != 0) {
            gradebook_leave(statement);
            status = error_no_memory(err);
        }
        if (status != 0) {
            overrides_release(ret);
            return -1;
        }
    }
}

int gradebook_overrides(struct gradebook *book, const char *student, struct overrides *ret,
                        struct error *err)
{
    return read_overrides(book, STATEMENT_OVERRIDES, student, ret, err);
}

int gradebook_override_history(struct gradebook *book, const char *student, struct overrides *ret,
                               struct error *err)
{
    return read_overrides(book, STATEMENT_OVERRIDE_HISTORY, student, ret, err);
}

/* ---- Picking --------------------------------------------------------------------------------- */

static int add_id(struct student_ids *ids, sqlite3_stmt *statement)
{
    bool no_memory = false;
    char **grown = realloc(ids->ids, (ids->count + 1) * sizeof ids->ids[0]);
    if (grown == NULL)
        return -1;
    ids->ids = grown;
    grown[ids->count++] = gradebook_text(statement, 0, &no_memory);
    return no_memory ? -1 : 0;
}

int gradebook_pick(struct gradebook *book, enum gradebook_pick pick, int64_t since_s,
                   struct student_ids *ret, struct error *err)
{
    static const enum statement statements[] = {
        [PICK_ROSTER] = STATEMENT_PICK_ROSTER,
        [PICK_WITHOUT_ATTEMPT] = STATEMENT_PICK_WITHOUT_ATTEMPT,
        [PICK_FAILED] = STATEMENT_PICK_FAILED,
        [PICK_PENDING] = STATEMENT_PICK_PENDING,
        [PICK_TROUBLE] = STATEMENT_PICK_TROUBLE,
        [PICK_SINCE] = STATEMENT_PICK_SINCE,
    };
    *ret = (struct student_ids){0};
    sqlite3_stmt *statement = gradebook_prepare(book, statements[pick], err);
    if (statement == NULL)
        return -1;
    if (pick == PICK_SINCE)
        gradebook_bind_number(statement, 1, since_s);
    for (;;) {
        bool row = false;
        int status = gradebook_step(book, statement, &row, err);
        if (status == 0 && !row)
            return 0;
        if (status == 0 && add_id(ret, statement) != 0) {
            gradebook_leave(statement);
            status = error_no_memory(err);
        }
        if (status != 0) {
            student_ids_release(ret);
            return -1;
        }
    }
}

void student_ids_release(struct student_ids *ids)
{
    for (size_t i = 0; i < ids->count; ++i)
        free(ids->ids[i]);
    free(ids->ids);
    *ids = (struct student_ids){0};
}

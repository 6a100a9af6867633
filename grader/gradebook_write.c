/* gradebook_write.c - what goes into the gradebook: each call one transaction. */
#include "gradebook.h"

#include "gradebook_internal.h"
#include "standing.h"

static int64_t now_s(void)
{
    return moment_now(NULL).unix_s;
}

int gradebook_set(struct gradebook *book, const char *name, const char *value, struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_SET, err);
    if (statement == NULL)
        return -1;
    gradebook_bind_text(statement, 1, name);
    gradebook_bind_text(statement, 2, value);
    return gradebook_finish(book, statement, err);
}

/* ---- Students -------------------------------------------------------------------------------- */

static int put_student(struct gradebook *book, const struct student *student, size_t position,
                       struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_STUDENT_IN, err);
    if (statement == NULL)
        return -1;
    char deadline[MOMENT_TEXT_BYTES];
    gradebook_bind_text(statement, 1, student->id);
    gradebook_bind_number(statement, 2, (int64_t)position);
    gradebook_bind_text(statement, 3, student->name);
    gradebook_bind_text(statement, 4, student->email);
    gradebook_bind_text(statement, 5, student->repo);
    gradebook_bind_text(statement, 6, student->ref);
    gradebook_bind_text(statement, 7, student->group);
    gradebook_bind_optional(statement, 8, student->has_deadline, student->deadline.unix_s);
    gradebook_bind_text(statement, 9,
                        student->has_deadline ? moment_text(student->deadline, deadline) : NULL);
    gradebook_bind_number(statement, 10, student->extension_s);
    return gradebook_finish(book, statement, err);
}

static int put_students(struct gradebook *book, const struct roster *roster, struct error *err)
{
    sqlite3_stmt *out = gradebook_prepare(book, STATEMENT_STUDENTS_OUT, err);
    if (out == NULL || gradebook_finish(book, out, err) != 0)
        return -1;
    for (size_t i = 0; i < roster->count; ++i)
        if (put_student(book, &roster->students[i], i, err) != 0)
            return -1;
    return 0;
}

int gradebook_put_roster(struct gradebook *book, const struct roster *roster, struct error *err)
{
    if (gradebook_begin(book, err) != 0)
        return -1;
    return gradebook_end(book, put_students(book, roster, err), err);
}

/* ---- Attempts -------------------------------------------------------------------------------- */

static int next_number(struct gradebook *book, const char *student, int64_t *ret, struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_NEXT_NUMBER, err);
    bool row = false;
    if (statement == NULL)
        return -1;
    gradebook_bind_text(statement, 1, student);
    if (gradebook_step(book, statement, &row, err) != 0)
        return -1;
    *ret = row ? sqlite3_column_int64(statement, 0) : 1;
    gradebook_leave(statement);
    return 0;
}

static int add_attempt(struct gradebook *book, const char *student, const struct attempt *attempt,
                       struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_ADD_ATTEMPT, err);
    if (statement == NULL)
        return -1;
    int32_t offset_s = moment_offset(attempt->handed_in);
    gradebook_bind_text(statement, 1, student);
    gradebook_bind_number(statement, 2, attempt->number);
    gradebook_bind_text(statement, 3, attempt_outcome_word(attempt->outcome));
    gradebook_bind_text(statement, 4, attempt->reason);
    gradebook_bind_text(statement, 5, attempt->commit);
    gradebook_bind_text(statement, 6, attempt->chosen);
    gradebook_bind_optional(statement, 7, attempt->has_handed_in, attempt->handed_in.unix_s);
    gradebook_bind_optional(statement, 8, attempt->has_handed_in, offset_s);
    gradebook_bind_text(statement, 9, attempt->handed_in_from);
    gradebook_bind_text(statement, 10, attempt->warnings);
    gradebook_bind_number(statement, 11, attempt->score);
    gradebook_bind_number(statement, 12, attempt->pending);
    gradebook_bind_number(statement, 13, attempt->max_score);
    gradebook_bind_text(statement, 14, attempt->state);
    gradebook_bind_text(statement, 15, attempt->key);
    gradebook_bind_number(statement, 16, attempt->cached);
    gradebook_bind_number(statement, 17, attempt->finished_s);
    gradebook_bind_number(statement, 18, attempt->duration_ns);
    gradebook_bind_text(statement, 19, attempt->explanation);
    gradebook_bind_text(statement, 20, attempt->page);
    gradebook_bind_text(statement, 21, attempt->json);
    gradebook_bind_text(statement, 22, attempt->html);
    return gradebook_finish(book, statement, err);
}

static int add_mark(struct gradebook *book, int64_t attempt, size_t position,
                    const struct attempt_mark *mark, struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_ADD_MARK, err);
    if (statement == NULL)
        return -1;
    gradebook_bind_number(statement, 1, attempt);
    gradebook_bind_number(statement, 2, (int64_t)position);
    gradebook_bind_text(statement, 3, mark->id);
    gradebook_bind_text(statement, 4, mark->title);
    gradebook_bind_text(statement, 5, mark_status_word(mark->status));
    gradebook_bind_number(statement, 6, mark->points);
    gradebook_bind_number(statement, 7, mark->max_points);
    gradebook_bind_text(statement, 8, mark->message);
    gradebook_bind_text(statement, 9, mark->remedy);
    return gradebook_finish(book, statement, err);
}

static int record(struct gradebook *book, const char *student, struct attempt *attempt,
                  struct error *err)
{
    if (next_number(book, student, &attempt->number, err) != 0 ||
        add_attempt(book, student, attempt, err) != 0)
        return -1;
    int64_t id = sqlite3_last_insert_rowid(book->db);
    for (size_t i = 0; i < attempt->mark_count; ++i)
        if (add_mark(book, id, i, &attempt->marks[i], err) != 0)
            return -1;
    return 0;
}

int gradebook_record(struct gradebook *book, const char *student, struct attempt *attempt,
                     struct error *err)
{
    if (gradebook_begin(book, err) != 0)
        return -1;
    return gradebook_end(book, record(book, student, attempt, err), err);
}

int gradebook_record_trouble(struct gradebook *book, const char *student, const char *sentence,
                             struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_ADD_TROUBLE, err);
    if (statement == NULL)
        return -1;
    gradebook_bind_text(statement, 1, student);
    gradebook_bind_text(statement, 2, sentence);
    gradebook_bind_number(statement, 3, now_s());
    return gradebook_finish(book, statement, err);
}

int gradebook_end_trouble(struct gradebook *book, const char *student, struct error *err)
{
    AUTO_FREE char *sentence = NULL;
    if (gradebook_trouble(book, student, &sentence, err) != 0)
        return -1;
    return sentence == NULL ? 0 : gradebook_record_trouble(book, student, "", err);
}

/* ---- Overrides ------------------------------------------------------------------------------- */

/* Does the gradebook say the same already? Taking back what is not there changes nothing. */
static int holds_already(struct gradebook *book, const struct override *override, bool *ret,
                         struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_CURRENT_OVERRIDE, err);
    bool row = false;
    if (statement == NULL)
        return -1;
    gradebook_bind_text(statement, 1, override->student);
    gradebook_bind_text(statement, 2, override->mark);
    if (gradebook_step(book, statement, &row, err) != 0)
        return -1;
    bool withdrawn = !row || sqlite3_column_type(statement, 0) == SQLITE_NULL;
    *ret = withdrawn == override->withdrawn;
    if (*ret && !withdrawn)
        *ret = sqlite3_column_int64(statement, 0) == override->points &&
               strcmp((const char *)sqlite3_column_text(statement, 1), override->reason) == 0;
    if (row)
        gradebook_leave(statement);
    return 0;
}

static int add_override(struct gradebook *book, const struct override *override, struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_ADD_OVERRIDE, err);
    if (statement == NULL)
        return -1;
    gradebook_bind_text(statement, 1, override->student);
    gradebook_bind_text(statement, 2, override->mark);
    gradebook_bind_optional(statement, 3, !override->withdrawn, override->points);
    gradebook_bind_text(statement, 4, override->reason);
    gradebook_bind_number(statement, 5, now_s());
    return gradebook_finish(book, statement, err);
}

static int put_overrides(struct gradebook *book, const struct overrides *overrides, size_t *changed,
                         struct error *err)
{
    for (size_t i = 0; i < overrides->count; ++i) {
        bool same = false;
        if (holds_already(book, &overrides->items[i], &same, err) != 0 ||
            (!same && add_override(book, &overrides->items[i], err) != 0))
            return -1;
        *changed += !same;
    }
    return 0;
}

int gradebook_put_overrides(struct gradebook *book, const struct overrides *overrides,
                            size_t *changed, struct error *err)
{
    *changed = 0;
    if (gradebook_begin(book, err) != 0)
        return -1;
    int status = gradebook_end(book, put_overrides(book, overrides, changed, err), err);
    if (status != 0)
        *changed = 0;
    return status;
}

/* ---- Standings ------------------------------------------------------------------------------- */

static int put_standing(struct gradebook *book, const struct standing *standing, struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, STATEMENT_PUT_STANDING, err);
    if (statement == NULL)
        return -1;
    bool scored = standing_has_score(standing);
    gradebook_bind_text(statement, 1, standing->student->id);
    gradebook_bind_text(statement, 2, standing_status_word(standing->status));
    gradebook_bind_optional(statement, 3, scored, standing->attempt.number);
    gradebook_bind_optional(statement, 4, scored, standing->graded_score);
    gradebook_bind_optional(statement, 5, scored, standing->late.raw_score);
    gradebook_bind_optional(statement, 6, scored, standing->late.penalty);
    gradebook_bind_optional(statement, 7, scored, standing->late.score);
    gradebook_bind_optional(statement, 8, scored, standing->pending);
    gradebook_bind_number(statement, 9, standing->max_score);
    gradebook_bind_text(statement, 10, standing->late.words);
    return gradebook_finish(book, statement, err);
}

int gradebook_put_standings(struct gradebook *book, const struct standings *standings,
                            struct error *err)
{
    if (gradebook_begin(book, err) != 0)
        return -1;
    int status = 0;
    for (size_t i = 0; i < standings->count && status == 0; ++i)
        status = put_standing(book, &standings->rows[i], err);
    return gradebook_end(book, status, err);
}

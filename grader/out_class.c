#include "out_class.h"

#include "caps.h"
#include "csv.h"
#include "text.h"

static void put_row(struct csv_writer *writer, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        csv_put(writer, cells[i]);
    csv_end_row(writer);
}

/* ---- grades.csv ------------------------------------------------------------------------------ */

static const char *const grade_columns[] = {
    "id",           "name",    "email",      "group",        "status", "score",
    "max_score",    "pending", "raw_score",  "graded_score", "late",   "late_days",
    "late_penalty", "slack",   "overridden", "attempt",      "commit", "chosen",
    "handed_in",    "by",      "deadline",   "warnings",     "reason", "trouble",
};

static void put_number_if(struct csv_writer *writer, bool known, int64_t value)
{
    if (known)
        csv_put_number(writer, value);
    else
        csv_put(writer, NULL);
}

static void put_time_if(struct csv_writer *writer, bool known, struct moment moment)
{
    char text[MOMENT_TEXT_BYTES];
    csv_put(writer, known ? moment_rfc3339(moment, text) : NULL);
}

static void put_points(struct csv_writer *writer, const struct standing *standing, const char *id)
{
    for (size_t i = 0; i < standing->mark_count; ++i)
        if (strcmp(standing->marks[i].id, id) == 0) {
            csv_put_number(writer, standing->marks[i].points);
            return;
        }
    csv_put(writer, NULL);
}

static void put_grade(struct csv_writer *writer, const struct standing *standing,
                      const struct lab *lab)
{
    const struct student *student = standing->student;
    const struct attempt *attempt = &standing->attempt;
    const struct late *late = &standing->late;
    char penalty[LATE_AMOUNT_BYTES];
    bool scored = standing_has_score(standing);
    csv_put(writer, student->id);
    csv_put(writer, student->name);
    csv_put(writer, student->email);
    csv_put(writer, student->group);
    csv_put(writer, standing_status_word(standing->status));
    put_number_if(writer, scored, late->score);
    csv_put_number(writer, standing->max_score);
    put_number_if(writer, scored, standing->pending);
    put_number_if(writer, scored, late->raw_score);
    put_number_if(writer, scored, standing->graded_score);
    csv_put(writer, late->has_deadline ? (late->late ? "yes" : "no") : NULL);
    put_number_if(writer, late->has_deadline, late->started_days);
    csv_put(writer, late->has_deadline ? late_amount(late->penalty, penalty) : NULL);
    put_number_if(writer, late->has_deadline, late->started_days - late->penalised_days);
    csv_put_number(writer, (int64_t)standing_overridden(standing));
    put_number_if(writer, scored, attempt->number);
    csv_put(writer, attempt->commit);
    csv_put(writer, attempt->chosen);
    put_time_if(writer, attempt->has_handed_in, attempt->handed_in);
    csv_put(writer, attempt->handed_in_from);
    put_time_if(writer, standing->has_deadline, standing->deadline);
    csv_put(writer, attempt->warnings);
    csv_put(writer, attempt->reason);
    csv_put(writer, standing->trouble);
    for (size_t i = 0; i < lab->criterion_count; ++i) {
        if (scored)
            put_points(writer, standing, lab->criteria[i].id);
        else
            csv_put(writer, NULL);
    }
    csv_end_row(writer);
}

void out_class_grades(struct bytes *out, const struct standings *standings)
{
    struct csv_writer writer = csv_writer_on(out);
    for (size_t i = 0; i < COUNT_OF(grade_columns); ++i)
        csv_put(&writer, grade_columns[i]);
    for (size_t i = 0; i < standings->lab->criterion_count; ++i)
        csv_put(&writer, standings->lab->criteria[i].id);
    csv_end_row(&writer);
    for (size_t i = 0; i < standings->count; ++i)
        put_grade(&writer, &standings->rows[i], standings->lab);
}

/* ---- The other tables ------------------------------------------------------------------------ */

void out_class_pending(struct bytes *out, const struct standings *standings)
{
    static const char *const columns[] = {"id", "name", "mark", "title", "status", "points", "why"};
    struct csv_writer writer = csv_writer_on(out);
    put_row(&writer, columns, COUNT_OF(columns));
    for (size_t i = 0; i < standings->count; ++i) {
        const struct standing *standing = &standings->rows[i];
        for (size_t j = 0; j < standing->mark_count; ++j) {
            const struct standing_mark *mark = &standing->marks[j];
            if (!standing_has_score(standing) || !standing_mark_is_pending(mark))
                continue;
            csv_put(&writer, standing->student->id);
            csv_put(&writer, standing->student->name);
            csv_put(&writer, mark->id);
            csv_put(&writer, mark->title);
            csv_put(&writer, mark_status_word(mark->status));
            csv_put_number(&writer, mark->max_points);
            csv_put(&writer, mark->message);
            csv_end_row(&writer);
        }
    }
}

void out_class_trouble(struct bytes *out, const struct standings *standings)
{
    static const char *const columns[] = {"id", "name", "email", "repo", "trouble"};
    struct csv_writer writer = csv_writer_on(out);
    put_row(&writer, columns, COUNT_OF(columns));
    for (size_t i = 0; i < standings->count; ++i) {
        const struct standing *standing = &standings->rows[i];
        const char *const cells[] = {standing->student->id, standing->student->name,
                                     standing->student->email, standing->student->repo,
                                     standing->trouble};
        if (standing->trouble != NULL)
            put_row(&writer, cells, COUNT_OF(cells));
    }
}

void out_class_explanations_head(struct bytes *out)
{
    static const char *const columns[] = {"id", "name", "commit", "explanation"};
    struct csv_writer writer = csv_writer_on(out);
    put_row(&writer, columns, COUNT_OF(columns));
}

void out_class_explanation(struct bytes *out, const struct standing *standing,
                           const char *explanation)
{
    struct csv_writer writer = csv_writer_on(out);
    struct bytes clean = bytes_with_limit(LIMIT_EXPLANATION_BYTES + 8);
    text_sanitize_lines(&clean, explanation, strlen(explanation), LIMIT_EXPLANATION_BYTES);
    out->failed = out->failed || clean.failed;
    const char *const cells[] = {standing->student->id, standing->student->name,
                                 standing->attempt.commit, bytes_text(&clean)};
    put_row(&writer, cells, COUNT_OF(cells));
    bytes_release(&clean);
}

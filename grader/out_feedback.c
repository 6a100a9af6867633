#include "out_feedback.h"

#include "json_build.h"
#include "slice.h"
#include "text.h"
#include "wrap.h"

/* ---- feedback.txt ---------------------------------------------------------------------------- */

static void write_line(struct bytes *out, const char *label, const char *text)
{
    if (text != NULL && text[0] != '\0')
        wrap_text(out, 2, label, text);
}

/* Unless the page of the grade says so anyway. */
static void write_commit(struct bytes *out, const struct attempt *attempt, const char *page)
{
    if (page != NULL && attempt->commit != NULL && strstr(page, attempt->commit) != NULL)
        return;
    struct bytes line = bytes_with_limit(2000);
    if (attempt->commit != NULL)
        bytes_append_text(&line, attempt->commit);
    if (attempt->chosen != NULL)
        bytes_printf(&line, "%s%s", line.length > 0 ? ": " : "", attempt->chosen);
    write_line(out, "commit      ", bytes_text(&line));
    bytes_release(&line);
}

void out_feedback_handed_in(struct bytes *out, const struct standing *standing)
{
    const struct attempt *attempt = &standing->attempt;
    char time[MOMENT_TEXT_BYTES];
    if (!attempt->has_handed_in)
        return;
    bytes_append_text(out, moment_text(attempt->handed_in, time));
    if (attempt->handed_in_from != NULL)
        bytes_printf(out, ", by %s", attempt->handed_in_from);
}

void out_feedback_deadline(struct bytes *out, const struct standing *standing)
{
    char time[MOMENT_TEXT_BYTES], extension[MOMENT_TEXT_BYTES];
    if (!standing->has_deadline)
        return;
    bytes_append_text(out, moment_text(standing->deadline, time));
    if (standing->student->extension_s > 0)
        bytes_printf(out, ", with an extension of %s",
                     moment_duration(standing->student->extension_s, extension));
}

static void write_times(struct bytes *out, const struct standing *standing)
{
    struct bytes line = bytes_with_limit(2000);
    out_feedback_handed_in(&line, standing);
    write_line(out, "handed in   ", bytes_text(&line));
    bytes_clear(&line);
    out_feedback_deadline(&line, standing);
    write_line(out, "deadline    ", bytes_text(&line));
    bytes_release(&line);
}

static void write_warnings(struct bytes *out, const char *warnings)
{
    for (const char *line = warnings; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        AUTO_FREE char *one = strndup(line, length);
        if (one == NULL)
            out->failed = true;
        else
            write_line(out, "note        ", one);
        line += length + (line[length] == '\n');
    }
}

static void write_overrides(struct bytes *out, const struct standing *standing)
{
    bool first = true;
    for (size_t i = 0; i < standing->mark_count; ++i) {
        const struct standing_mark *mark = &standing->marks[i];
        if (mark->override == NULL)
            continue;
        if (first)
            bytes_append_text(out, "\nSet by hand:\n");
        first = false;
        struct bytes line = bytes_with_limit(4000);
        bytes_printf(&line, "%s: %lld of %lld points instead of %lld: %s", mark->id,
                     (long long)mark->points, (long long)mark->max_points,
                     (long long)mark->graded_points, mark->override->reason);
        wrap_text(out, 2, "- ", bytes_text(&line));
        bytes_release(&line);
    }
    if (!first) {
        struct bytes sum = bytes_with_limit(4000);
        standing_describe_points(&sum, standing);
        wrap_text(out, 2, "Points: ", bytes_text(&sum));
        bytes_release(&sum);
    }
}

void out_feedback_text(struct bytes *out, const struct standing *standing, const struct lab *lab,
                       const char *page)
{
    const struct student *student = standing->student;
    bytes_printf(out, "%s (%s): %s\n", student->name, student->id, lab->title);
    write_line(out, "repo        ", student->repo);
    write_commit(out, &standing->attempt, page);
    write_times(out, standing);
    write_warnings(out, standing->attempt.warnings);
    if (standing->attempt.reason != NULL) {
        bytes_append_text(out, "\n");
        wrap_text(out, 0,
                  standing->status == STANDING_MISSING ? "Nothing to grade: " : "Not graded: ",
                  standing->attempt.reason);
    }
    if (page != NULL && page[0] != '\0')
        bytes_printf(out, "\n%s", page);
    write_overrides(out, standing);
    if (standing->late.words[0] != '\0') {
        bytes_append_text(out, "\n");
        wrap_text(out, 0, "", standing->late.words);
    }
    bytes_printf(out, "\nFinal score: %lld/%lld", (long long)standing->late.score,
                 (long long)standing->max_score);
    if (standing->pending > 0)
        bytes_printf(out, " (%lld pending)", (long long)standing->pending);
    bytes_append_text(out, "\n");
}

/* ---- result.json ----------------------------------------------------------------------------- */

static json_t *time_or_null(bool known, struct moment moment)
{
    char text[MOMENT_TEXT_BYTES];
    return known ? json_text(moment_rfc3339(moment, text)) : json_null();
}

static json_t *late_object(struct json_builder *b, const struct late *late)
{
    if (!late->has_deadline)
        return json_null();
    json_t *object = json_object();
    json_put(b, object, "late", json_boolean(late->late));
    json_put(b, object, "seconds", json_integer(late->over_s));
    json_put(b, object, "started_days", json_integer(late->started_days));
    json_put(b, object, "penalised_days", json_integer(late->penalised_days));
    json_put(b, object, "penalty_millionths", json_integer(late->penalty));
    json_put(b, object, "words", json_text(late->words));
    return object;
}

static json_t *overrides_array(struct json_builder *b, const struct standing *standing)
{
    json_t *array = json_array();
    for (size_t i = 0; i < standing->mark_count; ++i) {
        const struct standing_mark *mark = &standing->marks[i];
        if (mark->override == NULL)
            continue;
        json_t *object = json_object();
        json_put(b, object, "mark", json_text(mark->id));
        json_put(b, object, "points", json_integer(mark->points));
        json_put(b, object, "graded_points", json_integer(mark->graded_points));
        json_put(b, object, "max_points", json_integer(mark->max_points));
        json_put(b, object, "reason", json_text(mark->override->reason));
        json_push(b, array, object);
    }
    return array;
}

static json_t *batch_object(struct json_builder *b, const struct standing *standing)
{
    const struct attempt *attempt = &standing->attempt;
    json_t *object = json_object();
    json_put(b, object, "student", json_text(standing->student->id));
    json_put(b, object, "status", json_text(standing_status_word(standing->status)));
    json_put(b, object, "reason", json_text_or_null(attempt->reason));
    json_put(b, object, "attempt", json_integer(attempt->number));
    json_put(b, object, "commit", json_text_or_null(attempt->commit));
    json_put(b, object, "chosen", json_text_or_null(attempt->chosen));
    json_put(b, object, "handed_in", time_or_null(attempt->has_handed_in, attempt->handed_in));
    json_put(b, object, "handed_in_from", json_text_or_null(attempt->handed_in_from));
    json_put(b, object, "deadline", time_or_null(standing->has_deadline, standing->deadline));
    json_put(b, object, "extension_seconds", json_integer(standing->student->extension_s));
    json_put(b, object, "warnings", json_text_or_null(attempt->warnings));
    json_put(b, object, "late", late_object(b, &standing->late));
    json_put(b, object, "overrides", overrides_array(b, standing));
    json_put(b, object, "graded_score", json_integer(standing->graded_score));
    json_put(b, object, "raw_score", json_integer(standing->late.raw_score));
    json_put(b, object, "score", json_integer(standing->late.score));
    json_put(b, object, "pending", json_integer(standing->pending));
    json_put(b, object, "max_score", json_integer(standing->max_score));
    return object;
}

/* What stands for the document of a grade where there is none. */
static json_t *without_grade(struct json_builder *b, const struct standing *standing,
                             const struct lab *lab)
{
    json_t *root = json_object(), *marks = json_array();
    json_put(b, root, "schema", json_text("spillway/result/v1"));
    json_put(b, root, "lab", json_text(lab->id));
    json_put(b, root, "kernels", json_array());
    for (size_t i = 0; i < standing->mark_count; ++i) {
        const struct standing_mark *mark = &standing->marks[i];
        json_t *object = json_object();
        json_put(b, object, "id", json_text(mark->id));
        json_put(b, object, "title", json_text(mark->title));
        json_put(b, object, "status", json_text(mark_status_word(mark->status)));
        json_put(b, object, "points", json_integer(mark->graded_points));
        json_put(b, object, "max_points", json_integer(mark->max_points));
        json_put(b, object, "message", json_text(standing->attempt.reason));
        json_push(b, marks, object);
    }
    json_put(b, root, "marks", marks);
    json_put(b, root, "score", json_integer(standing->graded_score));
    json_put(b, root, "pending", json_integer(0));
    json_put(b, root, "max_score", json_integer(standing->max_score));
    return root;
}

/* The document without its last brace, and without what stands behind it; empty when it is none. */
static struct slice open_end(const char *json)
{
    struct slice document = {json, strlen(json)};
    while (document.length > 0 && strchr(" \t\r\n", document.text[document.length - 1]) != NULL)
        --document.length;
    if (document.length < 3 || document.text[0] != '{' || document.text[document.length - 1] != '}')
        return (struct slice){0};
    --document.length;
    while (strchr(" \t\r\n", document.text[document.length - 1]) != NULL)
        --document.length;
    return document;
}

/* One more member at the end of a document that is there already: of thousands of students most are
 * as they were, and taking their documents apart would be most of the work. */
static int append_member(struct bytes *out, const char *json, struct json_builder *b,
                         json_t *member, struct error *err)
{
    struct bytes text = bytes_with_limit(out->limit);
    json_t *object = json_object();
    json_put(b, object, "batch", member);
    int status = json_finish(b, &text, object, err);
    struct slice document = open_end(json);
    if (status == 0) {
        bytes_append(out, document.text, document.length);
        bytes_append_text(out, ",");
        bytes_append_text(out, bytes_text(&text) + 1);
    }
    bytes_release(&text);
    return out->failed ? error_no_memory(err) : status;
}

int out_feedback_json(struct bytes *out, const struct standing *standing, const struct lab *lab,
                      const char *json, struct error *err)
{
    struct json_builder b = {0};
    if (json == NULL) {
        json_t *root = without_grade(&b, standing, lab);
        json_put(&b, root, "batch", batch_object(&b, standing));
        return json_finish(&b, out, root, err);
    }
    if (open_end(json).length == 0)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "attempt %lld of %s holds no JSON: grade again with --student %s --force",
                         (long long)standing->attempt.number, standing->student->id,
                         standing->student->id);
    return append_member(out, json, &b, batch_object(&b, standing), err);
}

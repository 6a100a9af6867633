/* attempt_json.c - an attempt as a document, so that another machine can hand it in. */
#include "attempt.h"

#include "caps.h"
#include "json_build.h"

#define SCHEMA "spillway/attempt/v1"

static json_t *one_mark(struct json_builder *b, const struct attempt_mark *mark)
{
    json_t *object = json_object();
    json_put(b, object, "id", json_text(mark->id));
    json_put(b, object, "title", json_text(mark->title));
    json_put(b, object, "status", json_text(mark_status_word(mark->status)));
    json_put(b, object, "points", json_integer(mark->points));
    json_put(b, object, "max_points", json_integer(mark->max_points));
    json_put(b, object, "message", json_text(mark->message));
    json_put(b, object, "remedy", json_text(mark->remedy));
    return object;
}

/* NULL and "" are two things here. */
static json_t *text_or_null(const char *text)
{
    return text == NULL ? json_null() : json_text(text);
}

int attempt_to_json(struct bytes *out, const struct attempt *attempt, struct error *err)
{
    struct json_builder b = {0};
    json_t *root = json_object(), *marks = json_array();
    char time[MOMENT_TEXT_BYTES];
    json_put(&b, root, "schema", json_text(SCHEMA));
    json_put(&b, root, "number", json_integer(attempt->number));
    json_put(&b, root, "outcome", json_text(attempt_outcome_word(attempt->outcome)));
    json_put(&b, root, "reason", text_or_null(attempt->reason));
    json_put(&b, root, "commit", text_or_null(attempt->commit));
    json_put(&b, root, "chosen", text_or_null(attempt->chosen));
    json_put(&b, root, "handed_in",
             attempt->has_handed_in ? json_text(moment_rfc3339(attempt->handed_in, time))
                                    : json_null());
    json_put(&b, root, "handed_in_from", text_or_null(attempt->handed_in_from));
    json_put(&b, root, "warnings", text_or_null(attempt->warnings));
    json_put(&b, root, "explanation", text_or_null(attempt->explanation));
    json_put(&b, root, "score", json_integer(attempt->score));
    json_put(&b, root, "pending", json_integer(attempt->pending));
    json_put(&b, root, "max_score", json_integer(attempt->max_score));
    for (size_t i = 0; i < attempt->mark_count; ++i)
        json_push(&b, marks, one_mark(&b, &attempt->marks[i]));
    json_put(&b, root, "marks", marks);
    json_put(&b, root, "page", text_or_null(attempt->page));
    json_put(&b, root, "json", text_or_null(attempt->json));
    json_put(&b, root, "html", text_or_null(attempt->html));
    json_put(&b, root, "state", text_or_null(attempt->state));
    json_put(&b, root, "key", text_or_null(attempt->key));
    json_put(&b, root, "cached", json_boolean(attempt->cached));
    json_put(&b, root, "finished_s", json_integer(attempt->finished_s));
    json_put(&b, root, "duration_ns", json_integer(attempt->duration_ns));
    return json_finish(&b, out, root, err);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Collects what is wrong: one test at the end suffices. */
struct reader {
    const json_t *object;
    const char *trouble; /* the first key that is missing or of the wrong type; NULL: none */
    bool no_memory;
};

static const json_t *value_of(struct reader *r, const char *key)
{
    const json_t *value = json_object_get(r->object, key);
    if (value == NULL && r->trouble == NULL)
        r->trouble = key;
    return value;
}

static char *take_text(struct reader *r, const char *key, bool may_be_null)
{
    const json_t *value = value_of(r, key);
    if (value == NULL || (may_be_null && json_is_null(value)))
        return NULL;
    const char *text = json_string_value(value);
    if (text == NULL) {
        r->trouble = r->trouble == NULL ? key : r->trouble;
        return NULL;
    }
    char *copy = strdup(text);
    r->no_memory = r->no_memory || copy == NULL;
    return copy;
}

static int64_t take_number(struct reader *r, const char *key, int64_t max)
{
    const json_t *value = value_of(r, key);
    int64_t number = value == NULL ? 0 : (int64_t)json_integer_value(value);
    if ((!json_is_integer(value) || number < 0 || number > max) && r->trouble == NULL)
        r->trouble = key;
    return number;
}

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

#define MOST_POINTS 1000000

static void take_mark(struct reader *outer, const json_t *object, struct attempt_mark *mark)
{
    struct reader r = {.object = object};
    mark->id = take_text(&r, "id", false);
    mark->title = take_text(&r, "title", false);
    mark->message = take_text(&r, "message", false);
    mark->remedy = take_text(&r, "remedy", false);
    mark->points = take_number(&r, "points", MOST_POINTS);
    mark->max_points = take_number(&r, "max_points", MOST_POINTS);
    AUTO_FREE char *status = take_text(&r, "status", false);
    if (!parse_status(status, &mark->status) || mark->points > mark->max_points)
        r.trouble = "marks";
    outer->no_memory = outer->no_memory || r.no_memory;
    if (outer->trouble == NULL)
        outer->trouble = r.trouble;
}

/* The sums must be those of the marks: a shard that was cut or edited must not change a score. */
static void take_marks(struct reader *r, struct attempt *attempt)
{
    const json_t *marks = value_of(r, "marks");
    size_t count = json_array_size(marks);
    if (!json_is_array(marks) || count > LIMIT_REPORT_MESSAGES) {
        r->trouble = r->trouble == NULL ? "marks" : r->trouble;
        return;
    }
    attempt->marks = calloc(count + 1, sizeof attempt->marks[0]);
    if (attempt->marks == NULL) {
        r->no_memory = true;
        return;
    }
    int64_t score = 0, pending = 0, max_score = 0;
    for (; attempt->mark_count < count; ++attempt->mark_count) {
        struct attempt_mark *mark = &attempt->marks[attempt->mark_count];
        take_mark(r, json_array_get(marks, attempt->mark_count), mark);
        score += mark->points;
        max_score += mark->max_points;
        if (mark->status == MARK_SKIPPED || mark->status == MARK_ERROR)
            pending += mark->max_points;
    }
    bool graded = attempt->outcome == ATTEMPT_GRADED;
    if (r->trouble == NULL && graded &&
        (score != attempt->score || pending != attempt->pending || max_score != attempt->max_score))
        r->trouble = "score";
}

static void take_time(struct reader *r, struct attempt *attempt)
{
    char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];
    AUTO_FREE char *text = take_text(r, "handed_in", true);
    if (text == NULL)
        return;
    attempt->has_handed_in = moment_parse(&attempt->handed_in, text, NULL, problem, note);
    if (!attempt->has_handed_in && r->trouble == NULL)
        r->trouble = "handed_in";
}

static void take_attempt(struct reader *r, struct attempt *attempt)
{
    AUTO_FREE char *schema = take_text(r, "schema", false);
    AUTO_FREE char *outcome = take_text(r, "outcome", false);
    if (schema == NULL || strcmp(schema, SCHEMA) != 0)
        r->trouble = "schema";
    if (outcome == NULL || !attempt_outcome_parse(outcome, &attempt->outcome))
        r->trouble = r->trouble == NULL ? "outcome" : r->trouble;
    attempt->number = take_number(r, "number", INT32_MAX);
    attempt->reason = take_text(r, "reason", true);
    attempt->commit = take_text(r, "commit", true);
    attempt->chosen = take_text(r, "chosen", true);
    take_time(r, attempt);
    attempt->handed_in_from = take_text(r, "handed_in_from", true);
    attempt->warnings = take_text(r, "warnings", true);
    attempt->explanation = take_text(r, "explanation", true);
    attempt->score = take_number(r, "score", MOST_POINTS);
    attempt->pending = take_number(r, "pending", MOST_POINTS);
    attempt->max_score = take_number(r, "max_score", MOST_POINTS);
    take_marks(r, attempt);
    attempt->page = take_text(r, "page", true);
    attempt->json = take_text(r, "json", true);
    attempt->html = take_text(r, "html", true);
    attempt->state = take_text(r, "state", true);
    attempt->key = take_text(r, "key", true);
    attempt->cached = json_is_true(value_of(r, "cached"));
    attempt->finished_s = take_number(r, "finished_s", INT64_MAX);
    attempt->duration_ns = take_number(r, "duration_ns", INT64_MAX);
    if (attempt->outcome != ATTEMPT_GRADED && attempt->reason == NULL && r->trouble == NULL)
        r->trouble = "reason";
}

int attempt_from_json(struct attempt *ret, const char *text, size_t length, struct error *err)
{
    *ret = (struct attempt){0};
    json_error_t trouble;
    json_t *root = length > LIMIT_ATTEMPT_BYTES
                       ? NULL
                       : json_loadb(text, length, JSON_REJECT_DUPLICATES, &trouble);
    if (root == NULL)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         length > LIMIT_ATTEMPT_BYTES ? "an attempt's file is larger than 64 MiB"
                                                      : "an attempt's file is no JSON");
    struct reader reader = {.object = root};
    take_attempt(&reader, ret);
    json_decref(root);
    if (reader.no_memory || reader.trouble != NULL)
        attempt_release(ret);
    if (reader.no_memory)
        return error_no_memory(err);
    if (reader.trouble != NULL)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "an attempt's file is damaged: `%s` is missing, or no attempt has such a "
                         "value",
                         reader.trouble);
    return 0;
}

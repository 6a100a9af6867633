/* out_gradescope.c - results.json of Gradescope, by its autograder specifications.
 *
 * The top-level score overrides what the tests add up to, so both are written and agree. A mark
 * that is pending has neither score nor status: Gradescope shows it as information. Every string is
 * plain text ("text" in each format), so that a message is never taken for HTML. Nothing is hidden:
 * one hidden test would hide the student's total. */
#include "writers.h"

#include "json_build.h"
#include "lateness.h"
#include "mark_words.h"

/* "2.3": the third mark of the second group. */
static json_t *number_of(const struct grade *grade, size_t index)
{
    unsigned group = 0, item = 0;
    for (size_t i = 0; i <= index; ++i) {
        const struct mark *mark = &grade->marks[i], *before = i == 0 ? NULL : &grade->marks[i - 1];
        size_t length = mark_group_length(mark);
        bool same = before != NULL && length == mark_group_length(before) &&
                    memcmp(mark->criterion->id, before->criterion->id, length) == 0;
        group += same ? 0 : 1;
        item = same ? item + 1 : 1;
    }
    char text[32];
    (void)snprintf(text, sizeof text, "%u.%u", group, item);
    return json_text(text);
}

static json_t *text_of(struct json_builder *b, const struct bytes *words)
{
    b->bad = b->bad || words->failed;
    return json_text(bytes_text(words));
}

static json_t *test_of(struct json_builder *b, const struct grade *grade, size_t index)
{
    const struct mark *mark = &grade->marks[index];
    bool pending = mark_is_pending(mark);
    json_t *test = json_object(), *tags = json_array(), *extra = json_object();
    struct bytes words = bytes_with_limit((size_t)64 << 10);
    if (pending)
        bytes_printf(&words, "PENDING, %d points: ", mark->criterion->points);
    bytes_append_text(&words, mark->criterion->title);
    json_put(b, test, "name", text_of(b, &words));
    bytes_clear(&words);
    json_put(b, test, "number", number_of(grade, index));
    if (!pending) {
        json_put(b, test, "score", json_integer(mark->points));
        json_put(b, test, "max_score", json_integer(mark->criterion->points));
        json_put(b, test, "status", json_text(mark_status_word(mark->status)));
    }
    mark_explain(&words, grade, mark);
    if (words.length > 0)
        json_put(b, test, "output", text_of(b, &words));
    bytes_release(&words);
    json_push(b, tags, json_stringn(mark->criterion->id, mark_group_length(mark)));
    json_put(b, test, "tags", tags);
    json_put(b, extra, "id", json_text(mark->criterion->id));
    json_put(b, extra, "status", json_text(mark_status_word(mark->status)));
    json_put(b, extra, "points", json_integer(mark->points));
    json_put(b, extra, "max_points", json_integer(mark->criterion->points));
    json_put(b, extra, "line", mark->line > 0 ? json_integer(mark->line) : json_null());
    json_put(b, test, "extra_data", extra);
    return test;
}

static json_t *frame_of(struct json_builder *b)
{
    json_t *root = json_object();
    json_put(b, root, "output_format", json_text("text"));
    json_put(b, root, "test_output_format", json_text("text"));
    json_put(b, root, "test_name_format", json_text("text"));
    json_put(b, root, "visibility", json_text("visible"));
    return root;
}

static json_t *extra_of(struct json_builder *b, const struct grade *grade,
                        const struct lateness *late)
{
    json_t *extra = json_object();
    json_put(b, extra, "lab", json_text(grade->lab->id));
    json_put(b, extra, "pending", json_integer(grade->pending));
    json_put(b, extra, "max_score", json_integer(grade->max_score));
    json_put(b, extra, "seed", json_integer((json_int_t)grade->seed));
    json_put(b, extra, "nvcc", json_text(grade->nvcc_version));
    json_put(b, extra, "executor", json_text(executor_word(grade->executor)));
    json_put(b, extra, "late_days", late->known ? json_integer(late->late_days) : json_null());
    json_put(b, extra, "late_seconds",
             late->known ? json_integer(late->late_seconds) : json_null());
    return extra;
}

int out_gradescope(struct bytes *out, const struct grade *grade,
                   const struct writer_context *context, struct error *err)
{
    struct json_builder b = {0};
    struct lateness late = {0};
    struct error trouble = {0}; /* that costs the days, not the grade */
    if (context->gradescope_metadata != NULL)
        (void)lateness_read(&late, context->gradescope_metadata, &trouble);
    json_t *root = frame_of(&b), *tests = json_array();
    struct bytes words = bytes_with_limit((size_t)1 << 20);
    grade_explain(&words, grade);
    if (late.known) {
        bytes_append_text(&words, "\nTime: ");
        lateness_explain(&words, &late);
        bytes_append_text(&words, ".\n");
    }
    if (trouble.kind != ERROR_NONE)
        bytes_printf(&words, "\nTime: not known; %s.\n", trouble.text);
    json_put(&b, root, "score", json_integer(grade->score));
    json_put(&b, root, "execution_time", json_real((double)grade->duration_ns / 1e9));
    json_put(&b, root, "output", text_of(&b, &words));
    bytes_release(&words);
    for (size_t i = 0; i < grade->mark_count; ++i)
        json_push(&b, tests, test_of(&b, grade, i));
    json_put(&b, root, "tests", tests);
    json_put(&b, root, "extra_data", extra_of(&b, grade, &late));
    return json_finish(&b, out, root, err);
}

/* A missing or broken file shows the student an autograder that failed to execute, and no reason.
 */
int out_gradescope_absent(struct bytes *out, const char *why, struct error *err)
{
    struct json_builder b = {0};
    json_t *root = frame_of(&b), *extra = json_object();
    struct bytes words = bytes_with_limit(8192);
    if (why == NULL)
        bytes_append_text(&words,
                          "The grading began and did not come to its end: most likely it was "
                          "stopped for taking too long or too much memory. Nothing was judged. "
                          "Submit again; if this stays, tell your instructor.\n");
    else
        bytes_printf(&words, "Nothing was graded: %s\n", why);
    json_put(&b, root, "score", json_integer(0));
    json_put(&b, root, "output", text_of(&b, &words));
    bytes_release(&words);
    json_put(&b, extra, "graded", json_false());
    json_put(&b, root, "extra_data", extra);
    return json_finish(&b, out, root, err);
}

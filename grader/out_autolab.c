/* out_autolab.c - what Autolab reads from an autograder's output: the last line that is not blank
 * is JSON with a score for each problem of the assessment.
 *
 * The line before it is the optional staged view. Autolab's parser puts quotes around every letter
 * or digit that a colon follows, inside strings as well: a blank is put between them. A problem is
 * a group of marks ("numbers"), and must be called so on the site. */
#include "writers.h"

#include "json_build.h"
#include "mark_words.h"
#include "text.h"

static bool same_group(const struct mark *mark, const struct mark *other)
{
    size_t length = mark_group_length(mark);
    return length == mark_group_length(other) &&
           memcmp(mark->criterion->id, other->criterion->id, length) == 0;
}

/* One line without a word that touches a colon. */
static json_t *line_text(const char *text)
{
    struct bytes line = bytes_with_limit((size_t)16 << 10),
                 safe = bytes_with_limit((size_t)32 << 10);
    text_sanitize(&line, text, strlen(text), 4000);
    for (const char *p = bytes_text(&line); *p != '\0'; ++p) {
        if (*p == ':' && p > line.data && p[-1] != ' ')
            bytes_append_text(&safe, " ");
        bytes_append(&safe, p, 1);
    }
    json_t *value = line.failed || safe.failed ? NULL : json_text(bytes_text(&safe));
    bytes_release(&safe);
    bytes_release(&line);
    return value;
}

static void put_group(struct json_builder *b, json_t *object, const struct mark *mark,
                      json_t *value)
{
    AUTO_FREE char *group = strndup(mark->criterion->id, mark_group_length(mark));
    if (group == NULL) {
        json_decref(value);
        b->bad = true;
    } else {
        json_put(b, object, group, value);
    }
}

static json_t *stage_of(struct json_builder *b, const struct grade *grade, size_t first)
{
    json_t *stage = json_object();
    for (size_t i = first; i < grade->mark_count; ++i) {
        const struct mark *mark = &grade->marks[i];
        if (!same_group(&grade->marks[first], mark))
            continue;
        json_t *view = json_object();
        struct bytes hint = bytes_with_limit((size_t)16 << 10);
        if (mark->status != MARK_PASSED)
            bytes_printf(&hint, "%s%s", mark_is_pending(mark) ? "pending, " : "", mark->message);
        json_put(b, view, "passed", json_boolean(mark->status == MARK_PASSED));
        json_put(b, view, "hint", line_text(bytes_text(&hint)));
        bytes_release(&hint);
        json_put(b, stage, mark->criterion->id, view);
    }
    return stage;
}

static int append_line(struct json_builder *b, struct bytes *out, json_t *root, struct error *err)
{
    AUTO_FREE char *line = b->bad ? NULL : json_dumps(root, JSON_COMPACT);
    json_decref(root);
    if (line == NULL || bytes_append_text(out, line) != 0 || bytes_append_text(out, "\n") != 0)
        return error_no_memory(err);
    return 0;
}

int out_autolab_line(struct bytes *out, const struct grade *grade,
                     const struct writer_context *context, struct error *err)
{
    (void)context;
    struct json_builder b = {0};
    json_t *view = json_object(), *stages = json_array();
    json_t *root = json_object(), *scores = json_object();
    json_put(&b, view, "_presentation", json_text("semantic"));
    json_put(&b, view, "stages", stages);
    for (size_t i = 0; i < grade->mark_count; ++i) {
        const struct mark *mark = &grade->marks[i];
        if (i > 0 && same_group(mark, &grade->marks[i - 1]))
            continue;
        int points = 0;
        for (size_t k = i; k < grade->mark_count; ++k)
            points += same_group(mark, &grade->marks[k]) ? grade->marks[k].points : 0;
        json_push(&b, stages, json_stringn(mark->criterion->id, mark_group_length(mark)));
        put_group(&b, view, mark, stage_of(&b, grade, i));
        put_group(&b, scores, mark, json_integer(points));
    }
    json_put(&b, root, "scores", scores);
    if (append_line(&b, out, view, err) == 0)
        return append_line(&b, out, root, err);
    json_decref(root);
    return -1;
}

/* out_tap.c - the Test Anything Protocol, version 14 (testanything.org).
 *
 * One test point a mark. What could not be judged carries a SKIP directive, whoever is to blame: it
 * has cost nothing. Words stand in a YAML block as strings in double quotes, which JSON strings are
 * too: whatever a message holds, no line of it begins like a test point. */
#include "writers.h"

#include "json_build.h"
#include "mark_words.h"
#include "text.h"

#define REASON_BYTES 120

/* Text of a test point or a directive: on one line, '#' and '\' escaped. */
static void describe(struct bytes *out, const char *text)
{
    struct bytes line = bytes_with_limit(REASON_BYTES);
    text_sanitize(&line, text, strlen(text), REASON_BYTES);
    for (const char *p = bytes_text(&line); *p != '\0'; ++p) {
        if (*p == '#' || *p == '\\')
            bytes_append_text(out, "\\");
        bytes_append(out, p, 1);
    }
    bytes_release(&line);
}

static void yaml_text(struct bytes *out, const char *key, const char *text)
{
    json_t *string = json_text(text);
    AUTO_FREE char *quoted = string == NULL ? NULL : json_dumps(string, JSON_ENCODE_ANY);
    json_decref(string);
    if (quoted == NULL)
        out->failed = true;
    else
        bytes_printf(out, "  %s: %s\n", key, quoted);
}

static void test_point(struct bytes *out, const struct grade *grade, size_t index)
{
    const struct mark *mark = &grade->marks[index];
    bytes_printf(out, "%sok %zu - ", mark->status == MARK_FAILED ? "not " : "", index + 1);
    describe(out, mark->criterion->id);
    if (mark_is_pending(mark)) {
        bytes_append_text(out, " # SKIP pending");
        bytes_append_text(out, mark->message[0] == '\0' ? "" : ", ");
        describe(out, mark->message);
    }
    struct bytes words = bytes_with_limit((size_t)64 << 10);
    mark_explain(&words, grade, mark);
    bytes_append_text(out, "\n  ---\n");
    yaml_text(out, "title", mark->criterion->title);
    bytes_printf(out, "  status: %s\n  points: %d\n  max_points: %d\n",
                 mark_status_word(mark->status), mark->points, mark->criterion->points);
    if (mark->line > 0) {
        yaml_text(out, "file", grade->source_path);
        bytes_printf(out, "  line: %u\n", mark->line);
    }
    if (words.length > 0)
        yaml_text(out, "message", bytes_text(&words));
    bytes_append_text(out, "  ...\n");
    out->failed = out->failed || words.failed;
    bytes_release(&words);
}

int out_tap(struct bytes *out, const struct grade *grade, const struct writer_context *context,
            struct error *err)
{
    (void)context;
    bytes_printf(out, "TAP version 14\n1..%zu\n", grade->mark_count);
    for (size_t i = 0; i < grade->mark_count; ++i)
        test_point(out, grade, i);
    bytes_append_text(out, "# Score: ");
    grade_score_words(out, grade);
    bytes_append_text(out, "\n");
    return out->failed ? error_no_memory(err) : 0;
}

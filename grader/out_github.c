/* out_github.c - for GitHub Actions: a page for the step's summary, and annotations at the lines of
 * the source that lost points.
 *
 * The page is GitHub's Markdown. Whatever a student or a compiler wrote stands in <pre> blocks,
 * where Markdown means nothing once what HTML knows is escaped. Annotations are
 * workflow commands (`::error file=…,line=…::…`), with the escapes that the runner undoes. */
#include "writers.h"

#include "mark_words.h"
#include "text.h"

/* ---- The summary ----------------------------------------------------------------------------- */

static void html(struct bytes *out, const char *text)
{
    for (const char *p = text; *p != '\0'; ++p) {
        if (*p == '<')
            bytes_append_text(out, "&lt;");
        else if (*p == '>')
            bytes_append_text(out, "&gt;");
        else if (*p == '&')
            bytes_append_text(out, "&amp;");
        else if (*p == '|') /* the end of a table's cell */
            bytes_append_text(out, "&#124;");
        else
            bytes_append(out, p, 1);
    }
}

static void quoted(struct bytes *out, const struct bytes *words)
{
    bytes_append_text(out, "<pre>\n");
    html(out, bytes_text(words));
    bytes_append_text(out, "</pre>\n");
    out->failed = out->failed || words->failed;
}

static const char *status_sign(enum mark_status status)
{
    static const char *const signs[] = {[MARK_PASSED] = "✅ passed",
                                        [MARK_FAILED] = "❌ failed",
                                        [MARK_SKIPPED] = "⏳ pending",
                                        [MARK_ERROR] = "⏳ pending (error)"};
    return signs[status];
}

static void mark_table(struct bytes *out, const struct grade *grade)
{
    bytes_append_text(out, "\n| mark | | points |\n|---|---|---:|\n");
    for (size_t i = 0; i < grade->mark_count; ++i) {
        const struct mark *mark = &grade->marks[i];
        bytes_printf(out, "| <code>%s</code> ", mark->criterion->id);
        html(out, mark->criterion->title);
        bytes_printf(out, " | %s | %d/%d |\n", status_sign(mark->status), mark->points,
                     mark->criterion->points);
    }
}

int out_github_summary(struct bytes *out, const struct grade *grade,
                       const struct writer_context *context, struct error *err)
{
    (void)context;
    struct bytes words = bytes_with_limit((size_t)1 << 20);
    bytes_append_text(out, "## ");
    html(out, grade->lab->title);
    bytes_append_text(out, "\n\n**Score: ");
    grade_score_words(out, grade);
    bytes_append_text(out, "**\n");
    mark_table(out, grade);
    for (size_t i = 0; i < grade->mark_count; ++i) {
        const struct mark *mark = &grade->marks[i];
        bytes_clear(&words);
        mark_explain(&words, grade, mark);
        if (words.length == 0)
            continue;
        bytes_printf(out, "\n<details><summary><code>%s</code>, %s</summary>\n\n",
                     mark->criterion->id, status_sign(mark->status));
        quoted(out, &words);
        bytes_append_text(out, "\n</details>\n");
    }
    bytes_clear(&words);
    grade_explain(&words, grade);
    bytes_append_text(out, "\n");
    quoted(out, &words);
    bytes_append_text(out, "\n");
    bytes_release(&words);
    return out->failed ? error_no_memory(err) : 0;
}

/* ---- Annotations ----------------------------------------------------------------------------- */

/* What the runner takes for the end of a value, or of the command, as it wants it written. */
static void command_text(struct bytes *out, const char *text, bool property)
{
    for (const char *p = text; *p != '\0'; ++p) {
        if (*p == '%' || *p == '\r' || *p == '\n' || (property && (*p == ':' || *p == ',')))
            bytes_printf(out, "%%%02X", (unsigned char)*p);
        else
            bytes_append(out, p, 1);
    }
}

static void annotate(struct bytes *out, const struct grade *grade, const struct mark *mark)
{
    const struct criterion *criterion = mark->criterion;
    bool in_answers =
        criterion->kind == CRITERION_REPORTED_COUNT || criterion->kind == CRITERION_ANSWER;
    const char *file = in_answers ? grade->answers_path : grade->source_path;
    struct bytes words = bytes_with_limit((size_t)64 << 10);
    bytes_printf(out, "::%s ", mark->status == MARK_FAILED ? "error" : "warning");
    if (file != NULL) {
        bytes_append_text(out, "file=");
        command_text(out, file, true);
        bytes_append_text(out, ",");
    }
    if (mark->line > 0)
        bytes_printf(out, "line=%u,", mark->line);
    bytes_printf(out, "title=%s (%d/%d)::", criterion->id, mark->points, criterion->points);
    bytes_printf(&words, "%s\n", criterion->title);
    mark_explain(&words, grade, mark);
    while (words.length > 0 && words.data[words.length - 1] == '\n')
        words.data[--words.length] = '\0';
    command_text(out, bytes_text(&words), false);
    bytes_append_text(out, "\n");
    out->failed = out->failed || words.failed;
    bytes_release(&words);
}

/* GitHub shows ten of a kind: those at a line of the source come first. */
int out_github_annotations(struct bytes *out, const struct grade *grade,
                           const struct writer_context *context, struct error *err)
{
    (void)context;
    for (int pass = 0; pass < 2; ++pass)
        for (size_t i = 0; i < grade->mark_count; ++i)
            if (grade->marks[i].status != MARK_PASSED && (grade->marks[i].line > 0) == (pass == 0))
                annotate(out, grade, &grade->marks[i]);
    return out->failed ? error_no_memory(err) : 0;
}

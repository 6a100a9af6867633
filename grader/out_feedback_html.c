/* out_feedback_html.c - report.html: a student's grade and what the class adds to it, for a
 * browser. */
#include "out_feedback.h"

#include "caps.h"
#include "html.h"

static void write_row(struct bytes *out, const char *head, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    bytes_append_text(out, "<tr>");
    html_element(out, "th", "", head);
    html_element(out, "td", "", text);
    bytes_append_text(out, "</tr>\n");
}

static void write_commit(struct bytes *out, const struct attempt *attempt)
{
    struct bytes text = bytes_with_limit(LIMIT_MESSAGE_BYTES);
    if (attempt->commit != NULL)
        bytes_append_text(&text, attempt->commit);
    if (attempt->chosen != NULL)
        bytes_printf(&text, "%s%s", text.length > 0 ? ": " : "", attempt->chosen);
    write_row(out, "commit", bytes_text(&text));
    out->failed = out->failed || text.failed;
    bytes_release(&text);
}

static void write_work(struct bytes *out, const struct standing *standing)
{
    struct bytes text = bytes_with_limit(LIMIT_MESSAGE_BYTES);
    bytes_append_text(out, "<table>\n");
    write_row(out, "repo", standing->student->repo);
    write_commit(out, &standing->attempt);
    out_feedback_handed_in(&text, standing);
    write_row(out, "handed in", bytes_text(&text));
    bytes_clear(&text);
    out_feedback_deadline(&text, standing);
    write_row(out, "deadline", bytes_text(&text));
    for (const char *line = standing->attempt.warnings; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        AUTO_FREE char *one = strndup(line, length);
        out->failed = out->failed || one == NULL;
        write_row(out, "note", one);
        line += length + (line[length] == '\n');
    }
    bytes_append_text(out, "</table>\n");
    out->failed = out->failed || text.failed;
    bytes_release(&text);
}

static void write_overrides(struct bytes *out, const struct standing *standing)
{
    bool first = true;
    for (size_t i = 0; i < standing->mark_count; ++i) {
        const struct standing_mark *mark = &standing->marks[i];
        if (mark->override == NULL)
            continue;
        if (first)
            bytes_append_text(out, "<h2>Set by hand</h2>\n<table>\n<tr><th>mark</th>"
                                   "<th>points</th><th>instead of</th><th>because</th></tr>\n");
        first = false;
        bytes_append_text(out, "<tr>");
        html_element(out, "td", "", mark->id);
        bytes_printf(out, "<td class=\"n\">%lld/%lld</td>\n<td class=\"n\">%lld</td>\n",
                     (long long)mark->points, (long long)mark->max_points,
                     (long long)mark->graded_points);
        html_element(out, "td", "", mark->override->reason);
        bytes_append_text(out, "</tr>\n");
    }
    if (first)
        return;
    struct bytes sum = bytes_with_limit(LIMIT_MESSAGE_BYTES);
    bytes_append_text(&sum, "Points: ");
    standing_describe_points(&sum, standing);
    bytes_append_text(out, "</table>\n");
    html_element(out, "p", "", bytes_text(&sum));
    bytes_release(&sum);
}

static void write_score(struct bytes *out, const struct standing *standing)
{
    bytes_printf(out, "<p class=\"score\">Final score: <strong>%lld/%lld</strong>",
                 (long long)standing->late.score, (long long)standing->max_score);
    if (standing->pending > 0)
        bytes_printf(out, " (%lld pending)", (long long)standing->pending);
    bytes_append_text(out, "</p>\n");
}

static void write_grade(struct bytes *out, const char *html, const char *page)
{
    if (html == NULL && (page == NULL || page[0] == '\0'))
        return;
    bytes_append_text(out, "<h2>What was graded</h2>\n");
    if (html != NULL)
        bytes_append_text(out, html);
    else
        html_element(out, "pre", "", page);
}

void out_feedback_html(struct bytes *out, const struct standing *standing, const struct lab *lab,
                       const char *html, const char *page)
{
    const struct student *student = standing->student;
    struct bytes title = bytes_with_limit((size_t)1 << 20);
    bytes_printf(&title, "%s (%s): %s", student->name, student->id, lab->title);
    html_begin(out, bytes_text(&title));
    html_element(out, "h1", "", bytes_text(&title));
    write_score(out, standing);
    write_work(out, standing);
    if (standing->attempt.reason != NULL) {
        bytes_printf(out, "<p>%s: ",
                     standing->status == STANDING_MISSING ? "Nothing to grade" : "Not graded");
        html_escape(out, standing->attempt.reason);
        bytes_append_text(out, "</p>\n");
    }
    write_overrides(out, standing);
    if (standing->late.words[0] != '\0') {
        bytes_append_text(out, "<h2>Deadline</h2>\n");
        html_element(out, "p", "", standing->late.words);
    }
    write_grade(out, html, page);
    html_end(out);
    out->failed = out->failed || title.failed;
    bytes_release(&title);
}

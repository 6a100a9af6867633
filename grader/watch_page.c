#include "watch_page.h"

#include "mark_words.h"
#include "wrap.h"

int watch_page_start(struct watch_page *out, const struct lab *lab, bool colour)
{
    *out = (struct watch_page){.lab = lab, .colour = colour, .score = -1};
    out->marks = calloc(lab->criterion_count, sizeof out->marks[0]);
    return out->marks == NULL ? -1 : 0;
}

void watch_page_end(struct watch_page *page)
{
    for (size_t i = 0; page->marks != NULL && i < page->lab->criterion_count; ++i)
        free(page->marks[i].words);
    free(page->marks);
    *page = (struct watch_page){0};
}

static const char *label_of(enum mark_status status)
{
    static const char *const labels[] = {[MARK_PASSED] = "OK",
                                         [MARK_FAILED] = "FAIL",
                                         [MARK_SKIPPED] = "SKIP",
                                         [MARK_ERROR] = "ERROR"};
    return labels[status];
}

static void append_label(struct bytes *out, enum mark_status status, bool colour)
{
    static const char *const colours[] = {[MARK_PASSED] = "\033[32m",
                                          [MARK_FAILED] = "\033[31m",
                                          [MARK_SKIPPED] = "\033[33m",
                                          [MARK_ERROR] = "\033[35m"};
    bytes_printf(out, "%s%-5s%s", colour ? colours[status] : "", label_of(status),
                 colour ? "\033[0m" : "");
}

/* All that is to be said of a mark that is not passed, under its line. */
static void append_details(struct bytes *out, const struct grade *grade, const struct mark *mark)
{
    wrap_text(out, 6, "", mark->criterion->title);
    if (mark->message[0] != '\0')
        wrap_text(out, 6, "seen:  ", mark->message);
    if (mark->line > 0)
        bytes_printf(out, "      where: %s:%u\n", grade->lab->source_name, mark->line);
    if (mark->remedy[0] != '\0')
        wrap_text(out, 6, "try:   ", mark->remedy);
}

int watch_page_marks(struct watch_page *page, struct bytes *out, const struct grade *grade,
                     bool preview)
{
    int changed = 0;
    for (size_t i = 0; i < grade->mark_count; ++i) {
        const struct mark *mark = &grade->marks[i];
        struct watch_shown *last = &page->marks[i];
        if (preview && mark->criterion->kind == CRITERION_NUMBERS)
            continue;
        char *words = NULL;
        if (asprintf(&words, "%s\n%s", mark->message, mark->remedy) < 0)
            return -1;
        if (last->shown && last->status == mark->status && strcmp(last->words, words) == 0) {
            free(words);
            continue;
        }
        ++changed;
        append_label(out, mark->status, page->colour);
        bytes_printf(out, " %2d/%-2d  %s", mark->points, mark->criterion->points,
                     mark->criterion->id);
        if (last->shown && last->status != mark->status)
            bytes_printf(out, " (was %s)", label_of(last->status));
        bytes_append_text(out, mark->waits ? ", waits for the build\n" : "\n");
        /* At the beginning a line each is enough: nobody has done anything yet. */
        if (last->shown && mark->status != MARK_PASSED && !mark->waits)
            append_details(out, grade, mark);
        free(last->words);
        *last = (struct watch_shown){.shown = true, .status = mark->status, .words = words};
    }
    return changed;
}

void watch_page_score(struct watch_page *page, struct bytes *out, const struct grade *grade)
{
    const struct mark *next = NULL;
    bytes_append_text(out, "Score: ");
    grade_score_words(out, grade);
    if (page->score >= 0 && page->score != grade->score)
        bytes_printf(out, " (%+d)", grade->score - page->score);
    bytes_append_text(out, "\n");
    page->score = grade->score;
    if (grade->score == grade->max_score) {
        grade_finish_words(out, grade, true);
        return;
    }
    for (size_t i = 0; i < grade->mark_count && next == NULL; ++i)
        if (grade->marks[i].status == MARK_FAILED)
            next = &grade->marks[i];
    if (next == NULL)
        return;
    struct bytes words = bytes_with_limit(2000);
    bytes_printf(&words, "%s: %s", next->criterion->id, next->remedy);
    wrap_text(out, 0, "Next:  ", bytes_text(&words));
    bytes_release(&words);
}

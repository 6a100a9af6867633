#include "attempt.h"

#include <time.h>

#include "caps.h"
#include "out_html.h"
#include "out_json.h"
#include "out_text.h"
#include "text.h"

const char *attempt_outcome_word(enum attempt_outcome outcome)
{
    switch (outcome) {
    case ATTEMPT_GRADED:
        return "graded";
    case ATTEMPT_MISSING:
        return "missing";
    case ATTEMPT_BROKEN:
        break;
    }
    return "broken";
}

bool attempt_outcome_parse(const char *word, enum attempt_outcome *ret)
{
    static const enum attempt_outcome all[] = {ATTEMPT_GRADED, ATTEMPT_MISSING, ATTEMPT_BROKEN};
    for (size_t i = 0; i < COUNT_OF(all); ++i)
        if (strcmp(attempt_outcome_word(all[i]), word) == 0) {
            *ret = all[i];
            return true;
        }
    return false;
}

/* ---- Ownership ------------------------------------------------------------------------------- */

/* Every string of an attempt, so that none is forgotten. */
#define TEXTS(attempt)                                                                             \
    {                                                                                              \
        &(attempt)->reason, &(attempt)->commit, &(attempt)->chosen, &(attempt)->handed_in_from,    \
            &(attempt)->warnings, &(attempt)->explanation, &(attempt)->page, &(attempt)->json,     \
            &(attempt)->html, &(attempt)->state, &(attempt)->key                                   \
    }

static void mark_release(struct attempt_mark *mark)
{
    free(mark->id);
    free(mark->title);
    free(mark->message);
    free(mark->remedy);
}

void attempt_release(struct attempt *attempt)
{
    char **const texts[] = TEXTS(attempt);
    for (size_t i = 0; i < COUNT_OF(texts); ++i)
        free(*texts[i]);
    for (size_t i = 0; i < attempt->mark_count; ++i)
        mark_release(&attempt->marks[i]);
    free(attempt->marks);
    *attempt = (struct attempt){0};
}

static int fail(struct attempt *attempt, struct error *err)
{
    attempt_release(attempt);
    return error_no_memory(err);
}

/* Adds a mark whose strings are copies. */
static int add_mark(struct attempt *attempt, const struct attempt_mark *from)
{
    struct attempt_mark *mark = &attempt->marks[attempt->mark_count];
    *mark = *from;
    mark->id = strdup(from->id);
    mark->title = strdup(from->title);
    mark->message = strdup(from->message);
    mark->remedy = strdup(from->remedy);
    ++attempt->mark_count;
    return mark->id == NULL || mark->title == NULL || mark->message == NULL || mark->remedy == NULL
               ? -1
               : 0;
}

int attempt_copy(struct attempt *ret, const struct attempt *from, struct error *err)
{
    struct attempt source = *from; /* to take the addresses of its pointers */
    char **const sources[] = TEXTS(&source), **const texts[] = TEXTS(ret);
    *ret = source;
    for (size_t i = 0; i < COUNT_OF(texts); ++i)
        *texts[i] = NULL;
    ret->marks = NULL;
    ret->mark_count = 0;
    for (size_t i = 0; i < COUNT_OF(texts); ++i)
        if (*sources[i] != NULL && (*texts[i] = strdup(*sources[i])) == NULL)
            return fail(ret, err);
    ret->marks = calloc(from->mark_count + 1, sizeof ret->marks[0]);
    if (ret->marks == NULL)
        return fail(ret, err);
    for (size_t i = 0; i < from->mark_count; ++i)
        if (add_mark(ret, &from->marks[i]) != 0)
            return fail(ret, err);
    return 0;
}

/* ---- From a grade ---------------------------------------------------------------------------- */

static char *page_of(const struct grade *grade)
{
    struct bytes page = bytes_with_limit(LIMIT_ATTEMPT_BYTES);
    const struct out_text_options options = {0};
    out_text_write(&page, grade, &options);
    char *text = bytes_take(&page);
    bytes_release(&page);
    return text;
}

static char *html_of(const struct grade *grade)
{
    struct bytes html = bytes_with_limit(LIMIT_ATTEMPT_BYTES);
    out_html_grade(&html, grade);
    char *text = bytes_take(&html);
    bytes_release(&html);
    return text;
}

static int64_t now_s(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec;
}

static int copy_marks(struct attempt *ret, const struct grade *grade)
{
    ret->marks = calloc(grade->mark_count + 1, sizeof ret->marks[0]);
    if (ret->marks == NULL)
        return -1;
    for (size_t i = 0; i < grade->mark_count; ++i) {
        const struct mark *mark = &grade->marks[i];
        /* add_mark() copies: borrowing is fine here. */
        AUTO_FREE char *id = strdup(mark->criterion->id);
        AUTO_FREE char *title = strdup(mark->criterion->title);
        if (id == NULL || title == NULL)
            return -1;
        const struct attempt_mark copy = {.id = id,
                                          .title = title,
                                          .status = mark->status,
                                          .points = mark->points,
                                          .max_points = mark->criterion->points,
                                          .message = mark->message,
                                          .remedy = mark->remedy};
        if (add_mark(ret, &copy) != 0)
            return -1;
    }
    return 0;
}

int attempt_from_grade(struct attempt *ret, const struct grade *grade, struct error *err)
{
    *ret = (struct attempt){.outcome = ATTEMPT_GRADED,
                            .score = grade->score,
                            .pending = grade->pending,
                            .max_score = grade->max_score,
                            .finished_s = now_s(),
                            .duration_ns = grade->duration_ns};
    struct bytes json = bytes_with_limit(LIMIT_ATTEMPT_BYTES);
    if (out_json_text(&json, grade, err) != 0) {
        bytes_release(&json);
        return -1;
    }
    ret->json = bytes_take(&json);
    bytes_release(&json);
    ret->page = page_of(grade);
    ret->html = html_of(grade);
    if (ret->json == NULL || ret->page == NULL || ret->html == NULL || copy_marks(ret, grade) != 0)
        return fail(ret, err);
    if (grade->commit[0] != '\0' && (ret->commit = strdup(grade->commit)) == NULL)
        return fail(ret, err);
    if (grade->chosen[0] != '\0' && (ret->chosen = strdup(grade->chosen)) == NULL)
        return fail(ret, err);
    return 0;
}

int attempt_without_grade(struct attempt *ret, enum attempt_outcome outcome, const char *reason,
                          struct error *err)
{
    *ret = (struct attempt){.outcome = outcome, .finished_s = now_s()};
    ret->reason = text_printable(reason);
    return ret->reason == NULL ? fail(ret, err) : 0;
}

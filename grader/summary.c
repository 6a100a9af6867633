#include "summary.h"

#include "repo_fetch.h"

/* ---- Counting -------------------------------------------------------------------------------- */

static void count_student(struct summary *summary, const struct standing *standing)
{
    switch (standing->status) {
    case STANDING_WAITING:
        ++summary->waiting;
        break;
    case STANDING_GRADED:
        ++summary->graded;
        break;
    case STANDING_MISSING:
        ++summary->missing;
        break;
    case STANDING_BROKEN:
        ++summary->broken;
        break;
    }
    summary->cached += standing->status == STANDING_GRADED && standing->attempt.cached;
    summary->late += standing->late.late;
    summary->trouble += standing->trouble != NULL;
    summary->pending += standing->pending > 0;
    summary->overridden += standing_overridden(standing) > 0;
    const char *warnings = standing->attempt.warnings;
    summary->noted += warnings != NULL;
    summary->outside_path += warnings != NULL && strstr(warnings, REPO_PATH_NOTE) != NULL;
    summary->redeemed |=
        (standing->status == STANDING_MISSING || standing->status == STANDING_BROKEN) &&
        standing->late.score > 0;
}

static int order_scores(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void average(struct summary *summary, const struct standings *standings)
{
    int64_t *scores = calloc(standings->count + 1, sizeof scores[0]);
    int64_t sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < standings->count && scores != NULL; ++i)
        if (standing_has_score(&standings->rows[i])) {
            scores[count] = standings->rows[i].late.score;
            sum += scores[count++];
        }
    if (count > 0) {
        qsort(scores, count, sizeof scores[0], order_scores);
        summary->scored = count;
        summary->mean = (double)sum / (double)count;
        size_t below = (count - 1) / 2, above = count / 2;
        summary->median = ((double)scores[below] + (double)scores[above]) / 2;
    }
    free(scores);
}

/* Points that count and were lost; pending ones are not. */
static int64_t lost(const struct standing *standing, const char *id)
{
    for (size_t i = 0; i < standing->mark_count; ++i) {
        const struct standing_mark *mark = &standing->marks[i];
        if (strcmp(mark->id, id) == 0)
            return standing_mark_is_pending(mark) ? 0 : mark->max_points - mark->points;
    }
    return 0;
}

static void find_worst(struct summary *summary, const struct standings *standings)
{
    for (size_t i = 0; i < standings->lab->criterion_count; ++i) {
        const struct criterion *criterion = &standings->lab->criteria[i];
        int64_t points = 0;
        size_t students = 0;
        for (size_t j = 0; j < standings->count; ++j) {
            if (standings->rows[j].status != STANDING_GRADED)
                continue;
            int64_t of_student = lost(&standings->rows[j], criterion->id);
            points += of_student;
            students += of_student > 0;
        }
        if (points <= summary->worst_points_lost)
            continue;
        summary->worst_mark = criterion->id;
        summary->worst_title = criterion->title;
        summary->worst_points_lost = points;
        summary->worst_students = students;
    }
}

void summary_make(struct summary *ret, const struct standings *standings)
{
    *ret =
        (struct summary){.students = standings->count, .max_score = lab_max_score(standings->lab)};
    for (size_t i = 0; i < standings->count; ++i)
        count_student(ret, &standings->rows[i]);
    average(ret, standings);
    find_worst(ret, standings);
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void write_count(struct bytes *out, const char *label, size_t count, const char *more)
{
    if (count > 0)
        bytes_printf(out, "  %-10s %6zu%s%s\n", label, count, more[0] == '\0' ? "" : "  ", more);
}

void summary_write(struct bytes *out, const struct summary *summary)
{
    bytes_printf(out, "%zu student%s\n", summary->students, summary->students == 1 ? "" : "s");
    write_count(out, "graded", summary->graded, "");
    write_count(out, "cached", summary->cached, "unchanged since they were last looked at");
    write_count(out, "late", summary->late, "after the deadline and its grace");
    write_count(out, "missing", summary->missing, "nothing was handed in");
    write_count(out, "broken", summary->broken, "cannot be read: the student has to mend it");
    write_count(out, "pending", summary->pending, "have marks that are not judged: pending.csv");
    write_count(out, "overridden", summary->overridden, "have points set by hand");
    write_count(out, "noted", summary->noted, "something is odd: `warnings` in grades.csv");
    write_count(out, "waiting", summary->waiting, "without any grading yet");
    write_count(out, "trouble", summary->trouble,
                "by address, server or this machine: trouble.csv, --retry");
    if (summary->scored > 0) {
        bytes_printf(out, "  mean       %6.1f of %lld", summary->mean,
                     (long long)summary->max_score);
        if (summary->missing + summary->broken > 0)
            bytes_printf(out, ", missing and broken counted as 0%s",
                         summary->redeemed ? " or as set by hand" : "");
        bytes_printf(out, "\n  median     %6.1f\n", summary->median);
    }
    if (summary->worst_mark != NULL)
        bytes_printf(out, "Most points were lost on %s: %lld by %zu student%s\n  (%s)\n",
                     summary->worst_mark, (long long)summary->worst_points_lost,
                     summary->worst_students, summary->worst_students == 1 ? "" : "s",
                     summary->worst_title);
}

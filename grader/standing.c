#include "standing.h"

const char *standing_status_word(enum standing_status status)
{
    switch (status) {
    case STANDING_WAITING:
        return "waiting";
    case STANDING_GRADED:
        return "graded";
    case STANDING_MISSING:
        return "missing";
    case STANDING_BROKEN:
        break;
    }
    return "broken";
}

bool standing_has_score(const struct standing *standing)
{
    return standing->status != STANDING_WAITING;
}

/* ---- Marks ----------------------------------------------------------------------------------- */

static enum standing_status status_of(const struct attempt *attempt, bool found)
{
    if (!found)
        return STANDING_WAITING;
    switch (attempt->outcome) {
    case ATTEMPT_GRADED:
        return STANDING_GRADED;
    case ATTEMPT_MISSING:
        return STANDING_MISSING;
    case ATTEMPT_BROKEN:
        break;
    }
    return STANDING_BROKEN;
}

static const struct override *find_override(const struct overrides *overrides, const char *mark)
{
    for (size_t i = 0; i < overrides->count; ++i)
        if (strcmp(overrides->items[i].mark, mark) == 0)
            return &overrides->items[i];
    return NULL;
}

/* The attempt's marks; without a grade the lab's, nothing of them earned. */
static int collect_marks(struct standing *standing, const struct lab *lab, struct error *err)
{
    const struct attempt *attempt = &standing->attempt;
    bool graded = standing->status == STANDING_GRADED;
    standing->mark_count = graded ? attempt->mark_count : lab->criterion_count;
    standing->marks = calloc(standing->mark_count + 1, sizeof standing->marks[0]);
    if (standing->marks == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < standing->mark_count; ++i) {
        struct standing_mark *mark = &standing->marks[i];
        if (graded)
            *mark = (struct standing_mark){.id = attempt->marks[i].id,
                                           .title = attempt->marks[i].title,
                                           .message = attempt->marks[i].message,
                                           .status = attempt->marks[i].status,
                                           .graded_points = attempt->marks[i].points,
                                           .max_points = attempt->marks[i].max_points};
        else
            *mark = (struct standing_mark){.id = lab->criteria[i].id,
                                           .title = lab->criteria[i].title,
                                           .message = "",
                                           .status = MARK_FAILED,
                                           .max_points = lab->criteria[i].points};
        mark->override = find_override(&standing->overrides, mark->id);
        mark->points = mark->override != NULL ? mark->override->points : mark->graded_points;
    }
    return 0;
}

/* What an override settles is not pending any more. */
bool standing_mark_is_pending(const struct standing_mark *mark)
{
    return mark->override == NULL && (mark->status == MARK_SKIPPED || mark->status == MARK_ERROR);
}

static void add_up(struct standing *standing, const struct late_policy *policy)
{
    int64_t raw_score = 0;
    for (size_t i = 0; i < standing->mark_count; ++i) {
        const struct standing_mark *mark = &standing->marks[i];
        raw_score += mark->points;
        standing->graded_score += mark->graded_points;
        standing->max_score += mark->max_points;
        standing->pending += standing_mark_is_pending(mark) ? mark->max_points : 0;
    }
    if (!standing_has_score(standing)) {
        standing->pending = 0;
        standing->late = (struct late){0};
        return;
    }
    const struct attempt *attempt = &standing->attempt;
    bool handed_in = attempt->has_handed_in && standing->status != STANDING_MISSING;
    late_judge(&standing->late, policy, standing->has_deadline ? &standing->deadline : NULL,
               standing->student->extension_s, handed_in ? &attempt->handed_in : NULL, raw_score);
}

/* ---- Words ----------------------------------------------------------------------------------- */

size_t standing_overridden(const struct standing *standing)
{
    size_t count = 0;
    for (size_t i = 0; i < standing->mark_count; ++i)
        count += standing->marks[i].override != NULL;
    return count;
}

void standing_describe_points(struct bytes *out, const struct standing *standing)
{
    bytes_printf(out, "%lld graded", (long long)standing->graded_score);
    for (size_t i = 0; i < standing->mark_count; ++i) {
        const struct standing_mark *mark = &standing->marks[i];
        int64_t more = mark->points - mark->graded_points;
        if (mark->override != NULL)
            bytes_printf(out, " %s %lld", more < 0 ? "−" : "+",
                         (long long)(more < 0 ? -more : more));
    }
    bytes_printf(out, " by hand = %lld", (long long)standing->late.raw_score);
}

void standing_describe(struct bytes *out, const struct standing *standing)
{
    const struct late *late = &standing->late;
    size_t overridden = standing_overridden(standing);
    const char *join = " (";
    char penalty[LATE_AMOUNT_BYTES];
    bytes_printf(out, "%lld/%lld", (long long)late->score, (long long)standing->max_score);
    if (standing->pending > 0) {
        bytes_printf(out, "%s%lld pending", join, (long long)standing->pending);
        join = "; ";
    }
    if (late->late) {
        if (late->penalty > 0)
            bytes_printf(out, "%slate: %s of %lld taken", join, late_amount(late->penalty, penalty),
                         (long long)late->raw_score);
        else
            bytes_printf(out, "%slate, at no cost", join);
        join = "; ";
    }
    if (overridden > 0) {
        bytes_printf(out, "%s%zu mark%s set by hand", join, overridden, overridden == 1 ? "" : "s");
        join = "; ";
    }
    bytes_append_text(out, join[0] == ';' ? ")" : "");
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int read_standing(struct standing *standing, struct gradebook *book, const struct lab *lab,
                         const struct moment *deadline, const struct late_policy *policy,
                         struct error *err)
{
    const struct student *student = standing->student;
    bool found = false;
    if (gradebook_latest(book, student->id, ATTEMPT_MARKS, &standing->attempt, &found, err) != 0 ||
        gradebook_overrides(book, student->id, &standing->overrides, err) != 0 ||
        gradebook_trouble(book, student->id, &standing->trouble, err) != 0)
        return -1;
    standing->status = status_of(&standing->attempt, found);
    standing->has_deadline = student_deadline(student, deadline, &standing->deadline);
    /* In the zone that the deadline is in: one page shows one clock. */
    if (standing->has_deadline && standing->deadline.zone != NULL)
        standing->attempt.handed_in =
            moment_at(standing->attempt.handed_in.unix_s, standing->deadline.zone);
    if (collect_marks(standing, lab, err) != 0)
        return -1;
    add_up(standing, policy);
    return 0;
}

int standing_read(struct standing *ret, struct gradebook *book, const struct student *student,
                  const struct lab *lab, const struct moment *deadline,
                  const struct late_policy *policy, struct error *err)
{
    *ret = (struct standing){.student = student};
    if (read_standing(ret, book, lab, deadline, policy, err) == 0)
        return 0;
    standing_release(ret);
    return -1;
}

void standing_release(struct standing *standing)
{
    attempt_release(&standing->attempt);
    overrides_release(&standing->overrides);
    free(standing->trouble);
    free(standing->marks);
    *standing = (struct standing){0};
}

int standings_read(struct standings *ret, struct gradebook *book, const struct roster *roster,
                   const struct lab *lab, const struct moment *deadline,
                   const struct late_policy *policy, struct error *err)
{
    *ret = (struct standings){.lab = lab, .policy = *policy};
    ret->rows = calloc(roster->count + 1, sizeof ret->rows[0]);
    if (ret->rows == NULL)
        return error_no_memory(err);
    for (; ret->count < roster->count; ++ret->count)
        if (standing_read(&ret->rows[ret->count], book, &roster->students[ret->count], lab,
                          deadline, policy, err) != 0) {
            standings_release(ret);
            return -1;
        }
    return 0;
}

void standings_release(struct standings *standings)
{
    for (size_t i = 0; i < standings->count; ++i)
        standing_release(&standings->rows[i]);
    free(standings->rows);
    *standings = (struct standings){0};
}

/* standing.h - what counts for a student: the latest attempt, the overrides, and being late, as one
 * set of numbers that every exported file, and the gradebook, shows.
 *
 *   points of each mark = the override's, where there is one, else the attempt's
 *   raw score           = their sum
 *   score               = raw score less the late penalty, rounded half up, once, here
 *
 * A student without a readable submission has every mark at 0, and overrides count there too. They
 * are raw score like any other, so that a hand-in that came late costs its penalty whether it could
 * be read or not; only who handed in nothing (missing) cannot have been late. */
#ifndef SPILLWAY_STANDING_H
#define SPILLWAY_STANDING_H

#include "gradebook.h"
#include "late.h"

enum standing_status {
    STANDING_WAITING, /* no attempt yet: there is no score */
    STANDING_GRADED,
    STANDING_MISSING,
    STANDING_BROKEN,
};

struct standing_mark {
    const char *id, *title, *message; /* borrowed from the attempt or the lab */
    enum mark_status status;          /* as graded; an override changes points, not this */
    int64_t points;                   /* that count */
    int64_t graded_points, max_points;
    const struct override *override; /* NULL: none */
};

struct standing {
    const struct student *student; /* borrowed from the roster */
    enum standing_status status;
    struct attempt attempt; /* owned; without its texts */
    struct overrides overrides;
    char *trouble; /* owned; of the machine, since the attempt; NULL */
    bool has_deadline;
    struct moment deadline;      /* the student's own, extension included */
    struct standing_mark *marks; /* owned; in the attempt's order */
    size_t mark_count;
    int64_t graded_score; /* before overrides */
    struct late late;     /* late.raw_score, late.score */
    int64_t pending, max_score;
};

struct standings {
    const struct lab *lab;
    struct late_policy policy;
    struct standing *rows; /* owned; one a student of the roster, in its order */
    size_t count;
};

/* One student's; see standings_read(). */
int standing_read(struct standing *ret, struct gradebook *book, const struct student *student,
                  const struct lab *lab, const struct moment *deadline,
                  const struct late_policy *policy, struct error *err);
void standing_release(struct standing *standing);

/* Reads the whole class from the gradebook. `deadline` is the batch's, NULL: none. The roster and
 * the lab must outlive the result. */
int standings_read(struct standings *ret, struct gradebook *book, const struct roster *roster,
                   const struct lab *lab, const struct moment *deadline,
                   const struct late_policy *policy, struct error *err);
void standings_release(struct standings *standings);

/* Stores the numbers in the gradebook, for whoever asks it with SQL. One transaction. */
int gradebook_put_standings(struct gradebook *book, const struct standings *standings,
                            struct error *err);

/* "waiting", "graded", "missing", "broken". */
const char *standing_status_word(enum standing_status status);
/* Skipped or error, and not settled by an override. */
bool standing_mark_is_pending(const struct standing_mark *mark);
/* There is a score: everybody but who is waiting. */
bool standing_has_score(const struct standing *standing);
/* Appends the score that counts and what it came about by: "62/100", "50/100 (20 pending; late: 10
 * of 60 taken; 1 mark set by hand)". Only of who has a score. */
void standing_describe(struct bytes *out, const struct standing *standing);
/* Appends how the raw score came about: "60 graded + 5 − 3 by hand = 62". Only of who has
 * overrides. */
void standing_describe_points(struct bytes *out, const struct standing *standing);
/* How many marks have points set by hand. */
size_t standing_overridden(const struct standing *standing);

#endif

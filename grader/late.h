/* late.h - what being late costs, as exact arithmetic that can be shown to a student.
 *
 * Lateness is counted in started days after the deadline (a student's own, extension included): the
 * smallest k for which the submission is no later than deadline + k days + grace, where a day is
 * the same time of day once more, so that no hour is won or lost when clocks change. Slack days are
 * free. Each further day costs a percentage of the raw score or a number of points, at most the
 * cap, and never more than the raw score; beyond the last day on which anything is taken the score
 * is 0. Money-like numbers are integers of 1/1,000,000 point; the one rounding, half up to whole
 * points, comes at the end. */
#ifndef SPILLWAY_LATE_H
#define SPILLWAY_LATE_H

#include "bytes.h"
#include "moment.h"

/* Points or percents, in millionths. */
#define LATE_UNIT INT64_C(1000000)

enum late_kind {
    LATE_FREE,    /* being late costs nothing, but is said */
    LATE_PERCENT, /* of the raw score, a day */
    LATE_POINTS,  /* a day */
};

struct late_policy {
    enum late_kind kind;
    int64_t per_day;    /* in LATE_UNITs: percent or points, by kind */
    bool has_cap;       /* at most this much is taken, in the same unit */
    int64_t cap;        /* in LATE_UNITs */
    int64_t grace_s;    /* added to the deadline and to each day after it */
    int64_t slack_days; /* days that cost nothing */
    int64_t most_days;  /* a submission later than this many started days gets 0; -1: no end */
};

/* No deadline is ever passed at a cost: what holds without any option. */
struct late_policy late_policy_none(void);

/* Reads "percent=10,cap=50,grace=30min,slack=1,days=3" (any of them, in any order, or "none");
 * `points=` instead of `percent=`; grace in min, h or both (1h30min). Decimal fractions have at
 * most four digits. -1 with *err (usage): which part is wrong, and what was expected. */
int late_policy_parse(struct late_policy *ret, const char *text, struct error *err);
/* The policy as late_policy_parse() reads it: the same text for the same policy. */
void late_policy_write(struct bytes *out, const struct late_policy *policy);
/* In a sentence, for the end of a batch and for a syllabus. */
void late_policy_describe(struct bytes *out, const struct late_policy *policy);

struct late {
    bool has_deadline;
    bool late;              /* started_days > 0 */
    bool refused;           /* after the last day: penalty is the whole raw score */
    int64_t over_s;         /* handed in so many seconds after the deadline; <= 0: in time */
    int64_t started_days;   /* after grace */
    int64_t penalised_days; /* after slack, too */
    int64_t penalty;        /* in LATE_UNITs, 0 … raw_score * LATE_UNIT */
    int64_t raw_score;      /* points, before */
    int64_t score;          /* points, after: rounded half up */
    char words[700];        /* the arithmetic, in one or two sentences; "" without a deadline */
};

/* NULL for `deadline` or `handed_in`: none is known, and nothing is taken. `raw_score` >= 0 is what
 * the marks and the overrides sum up to; `extension_s` is shown in the words only (the deadline
 * already holds it). */
void late_judge(struct late *ret, const struct late_policy *policy, const struct moment *deadline,
                int64_t extension_s, const struct moment *handed_in, int64_t raw_score);

/* After this moment nothing counts: the deadline, the last day and grace. False: there is no end.
 */
bool late_end(const struct late_policy *policy, const struct moment *deadline, struct moment *ret);

/* Until this moment being late costs nothing: the deadline, slack and grace; without a price the
 * last day. False: it never costs anything. */
bool late_free_end(const struct late_policy *policy, const struct moment *deadline,
                   struct moment *ret);

/* "8.5": LATE_UNITs as a decimal without trailing zeros. Returns `into`. */
#define LATE_AMOUNT_BYTES 32
const char *late_amount(int64_t units, char into[LATE_AMOUNT_BYTES]);

#endif

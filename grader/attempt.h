/* attempt.h - what one grading of one student's work found, as the gradebook keeps it.
 *
 * It is data of its own, made from a grade and outliving it, so that it can also come from another
 * machine: attempt_to_json() and attempt_from_json() carry it in a plain file. Trouble of the
 * machine is no attempt: it has no score, and gradebook_record_trouble() lists it apart. */
#ifndef SPILLWAY_ATTEMPT_H
#define SPILLWAY_ATTEMPT_H

#include "grade.h"
#include "moment.h"

enum attempt_outcome {
    ATTEMPT_GRADED,
    ATTEMPT_MISSING, /* nothing was handed in: no commit in time, no such file, an empty repo */
    ATTEMPT_BROKEN,  /* something was, but cannot be read: the student has to mend it */
};

struct attempt_mark {
    char *id, *title; /* owned */
    enum mark_status status;
    int64_t points, max_points;
    char *message; /* owned; "" when there is nothing to add */
    char *remedy;  /* owned; what to try; "" unless failed */
};

/* Each string is owned; NULL: there is none. */
struct attempt {
    int64_t number; /* 1, 2, … a student; gradebook_record() gives it */
    enum attempt_outcome outcome;
    char *reason; /* ATTEMPT_MISSING, ATTEMPT_BROKEN: why, in a sentence */
    /* What was graded */
    char *commit;       /* hex */
    char *chosen;       /* why this commit */
    bool has_handed_in; /* handed_in is known */
    struct moment handed_in;
    char *handed_in_from; /* "the push log", "the commit's date", … */
    char *warnings;       /* dates that run backwards and the like; a line each */
    char *explanation;    /* explain.md */
    /* What came out */
    int64_t score, pending, max_score; /* of the marks, before overrides and lateness */
    struct attempt_mark *marks;
    size_t mark_count;
    char *page; /* as out_text_write() has it */
    char *json; /* as out_json_write() has it */
    char *html; /* as out_html_grade() has it; NULL also where an older gradebook has none */
    /* How */
    char *state; /* of the repo, see repo_fetch.h: while it holds, nothing needs to be read again */
    char *key;   /* what the grading depended on, hashed: the same key gives the same marks */
    bool cached; /* taken over from an earlier grading of the same key */
    int64_t finished_s, duration_ns;
};

/* Outcome, marks, sums, page, JSON, HTML, commit and duration of a grade; the rest is the caller's
 * to fill. -1 with *err, and then *ret is empty. */
int attempt_from_grade(struct attempt *ret, const struct grade *grade, struct error *err);
/* One that has no marks, with the reason. */
int attempt_without_grade(struct attempt *ret, enum attempt_outcome outcome, const char *reason,
                          struct error *err);
/* Another copy, all of it owned. */
int attempt_copy(struct attempt *ret, const struct attempt *from, struct error *err);
void attempt_release(struct attempt *attempt);

/* "graded", "missing", "broken". */
const char *attempt_outcome_word(enum attempt_outcome outcome);
bool attempt_outcome_parse(const char *word, enum attempt_outcome *ret) MUST_CHECK;

/* Schema spillway/attempt/v1. The zone of handed_in becomes its offset. */
int attempt_to_json(struct bytes *out, const struct attempt *attempt, struct error *err);
/* -1 with *err (infrastructure): not such a document, or values that no attempt has. */
int attempt_from_json(struct attempt *ret, const char *text, size_t length, struct error *err);

#endif

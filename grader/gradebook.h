/* gradebook.h - the SQLite file that a batch fills: students, attempts, marks, overrides, trouble.
 *
 * What is recorded stays: a regrade adds an attempt, an override adds a row. Each
 * gradebook_record() is one transaction that is on the disk when the call returns (WAL,
 * synchronous=FULL), so that a batch that is killed has every student who was finished before.
 * ARCHITECTURE.md lists the tables.
 *
 * One thread uses a gradebook at a time. Functions return 0, or -1 with *err (infrastructure: the
 * disk, a damaged file, another program that holds the lock for too long). Strings handed in are
 * copied; strings handed out are the caller's. */
#ifndef SPILLWAY_GRADEBOOK_H
#define SPILLWAY_GRADEBOOK_H

#include "attempt.h"
#include "overrides.h"
#include "roster.h"

struct gradebook;

/* Opens the file, or makes it (0600), checks that it is whole, and brings an older one up to date.
 * A file that is damaged, newer than this program, or no gradebook gives a sentence and stays as it
 * is. */
int gradebook_open(struct gradebook **ret, const char *path, struct error *err);
void gradebook_close(struct gradebook *book);

/* ---- Settings of the batch: seed, lab, toolkit, … ---------------------------------------------
 */

int gradebook_set(struct gradebook *book, const char *name, const char *value, struct error *err);
/* *ret: owned, or NULL when it was never set. */
int gradebook_get(struct gradebook *book, const char *name, char **ret, struct error *err);

/* ---- Writing ----------------------------------------------------------------------------------
 */

/* Takes over the roster: new students come in, known ones are brought up to date, those who are no
 * longer in it keep their history and are left out of what is exported. */
int gradebook_put_roster(struct gradebook *book, const struct roster *roster, struct error *err);

/* Adds an attempt, gives it its number, and clears the student's trouble. */
int gradebook_record(struct gradebook *book, const char *student, struct attempt *attempt,
                     struct error *err);

/* Adds trouble of the machine with one student's grading. What was graded before stays valid. */
int gradebook_record_trouble(struct gradebook *book, const char *student, const char *sentence,
                             struct error *err);
/* The student could be reached again, and what was graded before is still true: trouble since then
 * is over, which becomes a row of its own with an empty sentence. Without trouble nothing is
 * written.
 */
int gradebook_end_trouble(struct gradebook *book, const char *student, struct error *err);

/* Adds those that differ from what holds; *changed counts them. All or none. */
int gradebook_put_overrides(struct gradebook *book, const struct overrides *overrides,
                            size_t *changed, struct error *err);

/* ---- Reading ----------------------------------------------------------------------------------
 */

enum attempt_parts {
    ATTEMPT_HEAD = 0,       /* everything but: */
    ATTEMPT_MARKS = 1 << 0, /* marks */
    ATTEMPT_TEXTS = 1 << 1, /* page, json, html, explanation */
};

/* The student's latest attempt; *found false, and *ret empty, without any. */
int gradebook_latest(struct gradebook *book, const char *student, unsigned parts,
                     struct attempt *ret, bool *found, struct error *err);
/* An earlier one, by its number. */
int gradebook_attempt(struct gradebook *book, const char *student, int64_t number, unsigned parts,
                      struct attempt *ret, bool *found, struct error *err);
/* The latest graded attempt of anybody whose key this is. */
int gradebook_by_key(struct gradebook *book, const char *key, unsigned parts, struct attempt *ret,
                     bool *found, struct error *err);
/* Trouble since the latest attempt; NULL: none. */
int gradebook_trouble(struct gradebook *book, const char *student, char **ret, struct error *err);
/* The overrides that hold for a student, by mark. Release them. */
int gradebook_overrides(struct gradebook *book, const char *student, struct overrides *ret,
                        struct error *err);
/* All that were ever given to a student, the oldest first. */
int gradebook_override_history(struct gradebook *book, const char *student, struct overrides *ret,
                               struct error *err);

enum gradebook_pick {
    PICK_ROSTER,          /* everybody */
    PICK_WITHOUT_ATTEMPT, /* never graded, nor found missing or broken */
    PICK_FAILED,          /* the latest attempt is missing or broken, or lost a mark */
    PICK_PENDING,         /* the latest attempt has pending marks */
    PICK_TROUBLE,         /* trouble since the latest attempt */
    PICK_SINCE,           /* the latest attempt ended at `since_s` or later */
};

struct student_ids {
    char **ids; /* owned, in the roster's order */
    size_t count;
};

/* Students of the current roster. */
int gradebook_pick(struct gradebook *book, enum gradebook_pick pick, int64_t since_s,
                   struct student_ids *ret, struct error *err);
void student_ids_release(struct student_ids *ids);

#endif

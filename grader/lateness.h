/* lateness.h - how late a submission is, from the file that Gradescope lays beside it.
 *
 * Only created_at counts, never the clock: a regrade makes nobody late. */
#ifndef SPILLWAY_LATENESS_H
#define SPILLWAY_LATENESS_H

#include "bytes.h"
#include "errors.h"

struct lateness {
    bool known;
    int64_t late_seconds; /* after the due date; negative: before it */
    unsigned late_days;   /* begun days of 24 hours after the due date; 0 when in time */
    char created_at[64], due_date[64]; /* as the file has them, printable */
};

/* Reads /autograder/submission_metadata.json. What the file does not say (no due date, no time that
 * can be read) leaves `known` false and is no error. -1 with *err: the file cannot be read, or is
 * no JSON. */
int lateness_read(struct lateness *out, const char *path, struct error *err);

/* "submitted 1 day 3 hours after the due date: 2 late days"; "" when not known. */
void lateness_explain(struct bytes *out, const struct lateness *lateness);

#endif

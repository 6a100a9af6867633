/* overrides.h - points that the instructor sets by hand, after an appeal: `--override FILE`.
 *
 * A CSV with the columns `student` (an id of the roster), `mark` (an id of the lab's rubric),
 * `points` and `reason`. Points are whole, from 0 to the mark's own; without any the override of
 * that mark is taken back. The gradebook keeps the history; the same file again changes nothing. */
#ifndef SPILLWAY_OVERRIDES_H
#define SPILLWAY_OVERRIDES_H

#include "labs/lab.h"
#include "roster.h"

struct override {
    char *student, *mark; /* owned */
    bool withdrawn;       /* the mark is as graded again; points are 0 */
    int64_t points;
    char *reason; /* owned, printable, never empty */
    int64_t at_s; /* when the gradebook got it; 0: not from there */
    size_t line;
};

struct overrides {
    struct override *items; /* owned */
    size_t count;
};

/* Problems and errors as with roster_read(). */
int overrides_parse(struct overrides *ret, const char *data, size_t length,
                    const struct roster *roster, const struct lab *lab, struct problems *problems,
                    struct error *err);
int overrides_read(struct overrides *ret, const char *path, const struct roster *roster,
                   const struct lab *lab, struct problems *problems, struct error *err);
void overrides_release(struct overrides *overrides);

#endif

/* pushlog.h - when commits arrived at the server: a CSV that the platform gives out, which knows
 * better than the dates that students write into their commits.
 *
 * Columns: `commit` (40 or 64 hex digits) and `time` (as moment.h reads it; `pushed_at` is
 * understood too), and `id` (a student of the roster) or `repo` (as the roster has it), or both.
 * Rows of nobody in the roster are counted and passed over: a log may cover the whole course. */
#ifndef SPILLWAY_PUSHLOG_H
#define SPILLWAY_PUSHLOG_H

#include "roster.h"

struct push {
    const struct student *student; /* borrowed from the roster */
    char commit[65];               /* lower case */
    struct moment time;
    size_t line;
};

struct pushlog {
    struct push *pushes; /* owned; by student in the roster's order, then by time, then by line */
    size_t count;
    size_t foreign_rows;   /* of nobody in the roster */
    struct problems notes; /* times in a DST gap or overlap, unused columns */
};

/* The roster must outlive the log. Problems and errors as with roster_read(). A row whose repo
 * several students share stands for each of them. */
int pushlog_parse(struct pushlog *ret, const char *data, size_t length, const struct roster *roster,
                  const struct zone *zone, struct problems *problems, struct error *err);
int pushlog_read(struct pushlog *ret, const char *path, const struct roster *roster,
                 const struct zone *zone, struct problems *problems, struct error *err);
void pushlog_release(struct pushlog *log);

/* The pushes of a student in order of time; *count 0 when there is none. */
const struct push *pushlog_of(const struct pushlog *log, const struct student *student,
                              size_t *count);
/* When this very commit first arrived as the tip of a push; NULL: the log does not say. */
const struct push *pushlog_find(const struct pushlog *log, const struct student *student,
                                const char *commit);

#endif

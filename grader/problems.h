/* problems.h - everything that is wrong with a file of the instructor's, by line, so that it can be
 * mended in one go.
 *
 * Life cycle: a zero struct is an empty list; add, read, release. Nothing here fails: without
 * memory, or beyond LIMIT_PROBLEMS, a problem is counted and its words are dropped, so that a file
 * with a problem never passes for one without. */
#ifndef SPILLWAY_PROBLEMS_H
#define SPILLWAY_PROBLEMS_H

#include "bytes.h"

struct problem {
    size_t line; /* from 1; 0: the file as a whole */
    char *text;  /* owned; one printable sentence */
};

struct problems {
    struct problem *items; /* owned, in the order of adding until problems_sort() */
    size_t count;          /* of items */
    size_t total;          /* with those whose words were dropped: 0 means that all is well */
};

void problems_add(struct problems *problems, size_t line, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* By line; those of one line stay in the order of adding. */
void problems_sort(struct problems *problems);
/* One line each, "NAME:LINE: text", and a last one that counts what was dropped. */
void problems_write(struct bytes *out, const struct problems *problems, const char *name);
void problems_release(struct problems *problems);

#endif

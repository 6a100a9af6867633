/* leak.h - does a folder, or the history of its git repository, give a lab's solution away?
 *
 * Secrets are what a student is to find out: the solution lines of the reference source, the lines
 * of its other files, its answers, and the solutions of the hint ladder. They are sought in every
 * byte of every file and of every git object, reachable or not, with blanks left out on both sides,
 * so that another layout hides nothing. A text that is packed, encoded or reworded is not found.
 *
 * What the handout shows on purpose ("write __launch_bounds__(…)") is no secret in the handout, and
 * one everywhere else.
 *
 * Life cycle: secrets_gather(), leak_check() as often as wanted, secrets_release(). */
#ifndef SPILLWAY_LEAK_H
#define SPILLWAY_LEAK_H

#include "bytes.h"
#include "errors.h"
#include "labs/lab.h"

struct secret {
    char *needle; /* owned; without blanks */
    size_t length;
    char origin[200]; /* "reference/day17-registers/registers.cu, line 97" */
    bool shown;       /* by the handout */
};

struct secrets {
    struct secret *items; /* owned */
    size_t count, shown_count;
    char *handout_title; /* owned; the first line of the handout: how one is known */
    bool has_reference;  /* false: only the hints' solutions are known here */
};

/* Reads them from the lab's own files. -1 with *err: the lab's files cannot be read. */
int secrets_gather(struct secrets *out, const struct lab *lab, struct error *err);
void secrets_release(struct secrets *secrets);

/* The first secret in these bytes; NULL: none. */
const struct secret *secrets_find(const struct secrets *secrets, const char *data, size_t length);

struct leak_report {
    size_t file_count, object_count;
    uint64_t bytes;
    size_t finding_count;
    struct bytes findings; /* owned; a line for each of the first of them */
};

/* Looks through the folder, .git included, and through the objects of its repository if it has one.
 * -1 with *err: something there cannot be read. */
int leak_check(struct leak_report *out, const struct secrets *secrets, const char *folder,
               struct error *err);
void leak_report_release(struct leak_report *report);

#endif

/* support_class.h - a small class made by hand, for tests of the gradebook and of what is exported
 * from it. Everything aborts the test on failure. */
#ifndef SPILLWAY_SUPPORT_CLASS_H
#define SPILLWAY_SUPPORT_CLASS_H

#include "gradebook.h"
#include "support_lab.h"

/* Reads a roster from text; its folder is /class and its zone Europe/Berlin. */
struct roster class_roster(const char *csv);

/* s1 to s5, without deadlines. */
#define CLASS_ROSTER                                                                               \
    "id,name,email,repo,group\n"                                                                   \
    "s1,\"Émile, First\",s1@example.org,repos/s1,blue\n"                                          \
    "s2,Second Student,s2@example.org,repos/s2,\n"                                                 \
    "s3,=HYPERLINK(1),s3@example.org,repos/s3,\n"                                                  \
    "s4,Fourth Student,s4@example.org,repos/s4,blue\n"                                             \
    "s5,Fifth Student,s5@example.org,repos/s5,\n"

/* A time with a zone. */
struct moment class_time(const char *text);

/* An attempt at the tiny lab: one letter a criterion, P passed, F failed, S skipped, E error;
 * criteria beyond the end of the word have passed. Handed in at `handed_in`, NULL: not known. */
struct attempt class_graded(const char *letters, const char *handed_in);

/* A gradebook in a new folder, with this roster in it; *folder becomes that folder. */
struct gradebook *class_gradebook(const struct roster *roster, char folder[512]);

/* Records it and releases it. */
void class_record(struct gradebook *book, const char *student, struct attempt attempt);

/* Reads overrides of the tiny lab from text and puts them in; returns how many were new. */
size_t class_override(struct gradebook *book, const struct roster *roster, const char *csv);

#endif

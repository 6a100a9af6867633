/* roster.h - the class: who is graded, from which repo, until when.
 *
 * A CSV with a header; columns in any order:
 *   id               required  the student's folder name: letters, digits, . _ - + @, the first a
 *                              letter or digit, at most LIMIT_STUDENT_ID_BYTES
 *   name             required
 *   email            required
 *   repo             required  a path (relative to the roster's folder), file://, https://, ssh://
 *                              or host:path as scp has it
 *   ref              optional  branch, tag or whole commit id; empty: the repo's default branch
 *   deadline         optional  as moment.h reads it; empty: the batch's
 *   extension_hours  optional  added to the deadline; decimals are fine
 *   group            optional  students of one group may share a repo
 *
 * The whole file is read before anything starts, and every problem is reported, not only the
 * first. */
#ifndef SPILLWAY_ROSTER_H
#define SPILLWAY_ROSTER_H

#include "moment.h"
#include "problems.h"
#include "repo_url.h"

struct student {
    char *id, *name, *email; /* owned, printable */
    char *repo;              /* owned; as the roster has it, without credentials */
    char *location;          /* owned; what to open: an absolute path, or the URL */
    char *identity;          /* owned; equal for students of one repo (repo_identity.h) */
    enum repo_kind repo_kind;
    char *ref;   /* owned; a branch, tag or commit; NULL: the default branch */
    char *group; /* owned; NULL: none */
    bool has_deadline;
    struct moment deadline; /* own deadline, without the extension */
    int64_t extension_s;    /* 0: none */
    size_t line;
};

struct roster {
    struct student *students; /* owned, in the file's order */
    size_t count;
    char *folder;          /* owned; what relative paths start from */
    struct problems notes; /* what is odd but no obstacle: unused columns, times in a DST overlap */
};

/* `folder` is what relative paths start from; `zone` that of times without one, NULL: such times
 * are problems. With problems->total > 0 the roster holds only the rows without any. -1 with *err:
 * no memory (and for roster_read() usage: no such file). Release it after either result. */
int roster_parse(struct roster *ret, const char *data, size_t length, const char *folder,
                 const struct zone *zone, struct problems *problems, struct error *err);
/* The same from a file, whose folder relative paths start from. */
int roster_read(struct roster *ret, const char *path, const struct zone *zone,
                struct problems *problems, struct error *err);
void roster_release(struct roster *roster);

/* NULL: nobody has that id; case matters. */
const struct student *roster_find(const struct roster *roster, const char *id);

/* Whether another student of the same group hands in with the same repo. */
bool roster_shares_repo(const struct roster *roster, const struct student *student);

/* The deadline that counts: the student's own, else the batch's (NULL: none), and the extension.
 * False: there is none. */
bool student_deadline(const struct student *student, const struct moment *batch_deadline,
                      struct moment *ret);

#endif

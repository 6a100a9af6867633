/* submission.h - the student's bytes: the edited source and answers.ini, from a folder or a commit.
 *
 * What is wrong with a file that is there (too large, a symbolic link, not UTF-8 …) is the
 * student's and travels on as a reason; what is wrong with the request (no such folder, no source
 * at all) is an error, since then there is nothing to grade. */
#ifndef SPILLWAY_SUBMISSION_H
#define SPILLWAY_SUBMISSION_H

#include "answers.h"
#include "files.h"
#include "labs/lab.h"

struct submission_file {
    char *path;           /* as shown to people, owned */
    struct bytes content; /* empty unless `problem` is "" */
    char problem[200];    /* why the content cannot be used; "": it can */
};

#define SUBMISSION_ID_BYTES 48

struct submission {
    enum { SUBMISSION_DIRECTORY, SUBMISSION_GIT } kind;
    char *path;       /* folder or repository, owned */
    char commit[48];  /* SUBMISSION_GIT: hex id */
    char chosen[160]; /* SUBMISSION_GIT: why this commit */
    const struct lab *lab;
    struct submission_file source;
    struct answers answers;
    char *answers_path; /* owned; NULL when there is no such file */
    /* Owned; a file of that name with other content, in the second place; NULL: none is known. */
    char *other_source, *other_answers;
    /* What git calls a file with exactly these bytes (`git hash-object`), "" when there is none
     * that can be used: two gradings of the same ids judged the same work. */
    char source_id[SUBMISSION_ID_BYTES], answers_id[SUBMISSION_ID_BYTES];
};

struct submission_options {
    const char *directory;
    const char *revision; /* NULL: the files of the folder */
    const char *lab_id;   /* NULL: from answers.ini, else the folder's name */
};

/* Reads everything once. -1 with *err: usage (no such folder, lab or revision, no source file) or
 * infrastructure (cannot be read). Release it after either result is no longer needed. */
int submission_read(struct submission *out, const struct submission_options *options,
                    struct error *err);
void submission_release(struct submission *submission);

/* For who has the bytes already (a batch): what submission_read() does once it has found a file.
 * Takes the content over, unless `problem` (a clause; "": none) or its bytes say that it cannot be
 * used. */
int submission_take_source(struct submission *submission, struct bytes *content,
                           const char *problem, struct error *err);
/* content NULL: there is no such file. -1: no memory. */
int submission_take_answers(struct submission *submission, const struct bytes *content,
                            const char *problem, struct error *err);

/* What git commits in place of a file that Git LFS keeps elsewhere. */
bool submission_is_lfs_pointer(const struct bytes *content);

/* ---- Where files are looked for: submission_read() drives one of these ----------------------- */

/* Reads `name` of `folder`, a path in the place's own terms; `name` may have components, none of
 * which may be a link. FILE_READ fills *content. FILE_NOT_REGULAR and FILE_UNREADABLE say in
 * `problem` what is wrong. */
struct submission_place {
    enum file_status (*read)(const struct submission_place *place, struct bytes *content,
                             const char *folder, const char *name, size_t limit, char problem[200]);
    /* 1 when nothing above `folder` belongs to the submission's tree, else 0; -1 with *err when it
     * cannot be told. NULL: no folder is so. */
    int (*is_top)(const struct submission_place *place, const char *folder, struct error *err);
    /* As shown to people; owned by the caller. */
    char *(*describe)(const struct submission_place *place, const char *folder, const char *name);
    void *state;
};

/* submission_git.c: the tree of a revision as a place. `*prefix` becomes the folder's path inside
 * the tree ("" or "a/b"). Free the state with submission_git_close(). */
int submission_git_open(struct submission_place *place, struct submission *submission,
                        const char *directory, const char *revision, char **prefix,
                        struct error *err);
void submission_git_close(struct submission_place *place);

#endif

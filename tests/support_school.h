/* support_school.h - a class for tests of `spillway batch`: a toolkit of shell scripts that hands
 * out what CUDA 13.0 makes of the reference solution of day17-registers, a repo for each student,
 * and the roster. */
#ifndef SPILLWAY_SUPPORT_SCHOOL_H
#define SPILLWAY_SUPPORT_SCHOOL_H

#include "support_toolkit.h"
#include "testing.h"

/* What students hand in, over and over. */
enum school_kind {
    SCHOOL_RIGHT,     /* the reference and its answers */
    SCHOOL_NEAR_COPY, /* the same with a comment of one's own */
    SCHOOL_BLANK,     /* the reference without answers */
    SCHOOL_BROKEN,    /* does not compile */
    SCHOOL_EMPTY,     /* a repo without a commit */
    SCHOOL_NO_SOURCE, /* a repo without the lab's file */
    SCHOOL_KINDS
};

struct school {
    struct fake_toolkit toolkit;
    char home[600];   /* "CUDA_HOME=…" */
    char folder[512]; /* everything of this class */
    char roster[560];
    size_t students;
};

/* Student number i (from 1) is sNNN, and hands in kind (i - 1) % SCHOOL_KINDS. The scripts count
 * their calls in the toolkit's notes "nvcc-calls" and "ptxas-calls", two bytes a call; `delay` (a
 * shell command, may be "") runs before each compile. */
void school_make(struct school *school, size_t students, const char *delay);

/* FOLDER/sNNN */
const char *school_repo(const struct school *school, size_t student);
/* Commits this source and these answers (NULL: none) to the student's repo. */
void school_hand_in(const struct school *school, size_t student, const char *source,
                    const char *answers);
/* The reference's files, whole. Free them. */
char *school_source(void);
char *school_answers(void);

/* `spillway batch ROSTER --lab day17-registers --out FOLDER/out --seed 17 --sandbox off` and these
 * arguments (NULL-terminated). Release the result. */
struct process_result school_batch(const struct school *school, const char *out,
                                   const char *const *arguments);

#endif

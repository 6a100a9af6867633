/* attacks.h - a submission that attacks, as data: see tests/attacks/EXPECTED.tsv.
 *
 * A folder tests/attacks/<name>/ may hold
 *   registers.cu          the whole source; else the reference's, with
 *   top.cu, bottom.cu       put before and after it, and
 *   store.<kernel>.cu       in place of that kernel's `out[i] = sum;`
 *   answers.ini           the whole answers; else the reference's, with
 *   answers.add             put after them
 *   arguments             one a line, in place of `--lab day17-registers`
 *   environment           NAME=value a line, added to the grader's environment
 * and anything else, which is copied beside the source. Text in them may name @SECRET@ (a file that
 * nobody but the grader's user may see), @ESCAPED@ (a file that must not come into being),
 * @REFERENCE@ (the folder of the finished lab) and @HERE@ (the submission). What cannot lie in a
 * folder, such as a FIFO or a hundred megabytes, has a function in attacks_make.c under the
 * attack's name. */
#ifndef SPILLWAY_ATTACKS_H
#define SPILLWAY_ATTACKS_H

#include "bytes.h"
#include "errors.h"
#include "writers.h"

#define CANARY "canary-2147001-of-the-gradebook" /* what the secret file holds */
#define OUTPUT_BYTES_MAX ((size_t)4 << 20)

struct attack_place {
    const char *name;
    const char *data;       /* tests/attacks/<name>; need not exist */
    const char *reference;  /* reference/day17-registers, absolute */
    const char *submission; /* to be filled; exists, empty */
    const char *secret, *escaped;
};

/* Text with its @…@ replaced. -1 with *err when the file is there and cannot be read; *found says
 * whether it is there. */
int attack_text(struct bytes *out, const struct attack_place *place, const char *file, bool *found,
                struct error *err);

/* Fills the submission's folder. */
int attack_make(const struct attack_place *place, struct error *err);

/* attacks_git.c: the same for submissions that are commits. */
int attack_committed_link(const struct attack_place *place, struct error *err);
int attack_committed_repository(const struct attack_place *place, struct error *err);
int attack_repository_runs_programs(const struct attack_place *place, struct error *err);

/* ---- Judging (attacks_judge.c) --------------------------------------------------------------- */

struct attack {
    char name[64];
    char ends[16];  /* "graded", "usage", "wall": graded, and only Landlock or bubblewrap stop it;
                       "12.4": graded, by that toolkit and newer ones */
    char lost[400]; /* "none", "group.*", "group.item"; "?" in front: may be lost */
    char tries[200];
    bool skipped;
    bool blocked;
    char seen[400]; /* why it was not blocked */
    double seconds;
};

/* What came of grading it. */
struct outcome {
    bool timed_out;
    int exit_code; /* 128 + signal when ended by one */
    struct bytes text, trouble, json;
    struct bytes formats[WRITERS_MAX]; /* by the rows of writer_table */
    double seconds;
    bool left_processes;
};
void attack_outcome_release(struct outcome *outcome);

/* Writes into `seen`, printable, why an attack was not blocked. Returns false. */
bool attack_object(char seen[400], const char *format, ...) PRINTF_LIKE(2, 3);

/* No document holds a secret, a byte that steers a terminal, broken UTF-8, a flood, or markup of
 * the submission. */
bool attack_words_are_clean(const struct outcome *outcome, char seen[400]);

/* Exactly the expected marks are lost, none is pending, and one line says the score. */
bool attack_judge_grade(const struct attack *attack, const struct outcome *outcome, char seen[400]);

#endif

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

#endif

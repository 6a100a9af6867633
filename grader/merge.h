/* merge.h - one grade from two of the same work: what the first left pending, the second may have
 * judged, most often on a GPU. */
#ifndef SPILLWAY_MERGE_H
#define SPILLWAY_MERGE_H

#include "grade.h"

/* Takes into *into what it left pending and `from` judged: marks, and the kernels' figures that
 * were not known. What both judged stays as it is; where they differ a note says so. Notes tell
 * what was taken. -1 with *err (usage) and *into as it was, when the two are not about the same
 * lab, files and architectures, or both ran kernels on different inputs. */
int merge_grades(struct grade *into, const struct grade *from, struct error *err);

#endif

/* summary.h - a class in a few numbers, for the end of a batch. */
#ifndef SPILLWAY_SUMMARY_H
#define SPILLWAY_SUMMARY_H

#include "standing.h"

struct summary {
    size_t students, graded, cached, late, missing, broken, waiting, trouble, pending, overridden;
    size_t noted;        /* something about the repo should be looked at */
    size_t outside_path; /* of these: the source is not in the folder that --path names */
    /* Over those who have a score, missing and broken included; count 0: not known. */
    size_t scored;
    bool redeemed; /* some of the missing and broken have points set by hand */
    double mean, median;
    int64_t max_score;
    /* Over those who were graded: the mark that lost the most points, all students together. */
    const char *worst_mark, *worst_title; /* borrowed from the lab; NULL: nothing was lost */
    int64_t worst_points_lost;
    size_t worst_students;
};

void summary_make(struct summary *ret, const struct standings *standings);
/* The table at the end of a batch, at most 80 columns wide. */
void summary_write(struct bytes *out, const struct summary *summary);

#endif

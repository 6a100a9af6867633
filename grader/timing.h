/* timing.h - what a series of times says, and whether one kernel is faster than another.
 *
 * Means drift and medians stay, so everything here is an order statistic. Two kernels are compared
 * by the ratios of times taken in the same round: when the clock of a shared or throttled GPU
 * drifts, it drifts under both. Pure functions; the only failure is an empty series. */
#ifndef SPILLWAY_TIMING_H
#define SPILLWAY_TIMING_H

#include "base.h"

#define TIMING_ROUNDS_MAX 512
#define TIMING_ROUNDS_NEEDED 8 /* fewer say nothing about a median */
#define TIMING_MARGIN 0.03     /* ratios within 3 % of 1 count as the same speed */

struct timing_summary {
    double median, q1, q3;
    size_t count; /* 0: empty, or more than TIMING_ROUNDS_MAX */
};
struct timing_summary timing_summarise(const double *samples, size_t count);

/* Half the width of a 95 % interval of the median, as a share of the median: how sure it is.
 * 1.0 when nothing is known. (McGill, Tukey and Larsen, "Variations of box plots", 1978: the
 * interval is the median +/- 1.57 quartile distances / sqrt(n).) */
double timing_uncertainty(const double *samples, size_t count);

enum timing_verdict { TIMING_UNCLEAR, TIMING_FASTER, TIMING_SLOWER, TIMING_SAME };

struct timing_comparison {
    enum timing_verdict verdict; /* of a, compared with b */
    double ratio;                /* median of a's time / b's time, round by round; 0: unknown */
    double low, high;            /* a 95 % interval of that median, from the order statistics */
};

/* `count` rounds of each, a[i] and b[i] from the same round. Faster or slower only when the whole
 * interval lies beyond the margin, same only when it lies within, otherwise unclear. */
struct timing_comparison timing_compare(const double *a, const double *b, size_t count);

/* "faster", "slower", "same", "unclear". */
const char *timing_verdict_text(enum timing_verdict verdict);

#endif

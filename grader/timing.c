#include "timing.h"

#include <math.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value at the share q of a sorted series, between neighbours by their distance. */
static double quantile(const double *sorted, size_t count, double q)
{
    double place = q * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count)
        return sorted[count - 1];
    double share = place - (double)below;
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

static bool sort_copy(double into[TIMING_ROUNDS_MAX], const double *samples, size_t count)
{
    if (count == 0 || count > TIMING_ROUNDS_MAX)
        return false;
    memcpy(into, samples, count * sizeof *into);
    qsort(into, count, sizeof *into, ascending);
    return true;
}

struct timing_summary timing_summarise(const double *samples, size_t count)
{
    double sorted[TIMING_ROUNDS_MAX];
    if (!sort_copy(sorted, samples, count))
        return (struct timing_summary){0};
    return (struct timing_summary){.median = quantile(sorted, count, 0.5),
                                   .q1 = quantile(sorted, count, 0.25),
                                   .q3 = quantile(sorted, count, 0.75),
                                   .count = count};
}

double timing_uncertainty(const double *samples, size_t count)
{
    struct timing_summary summary = timing_summarise(samples, count);
    if (summary.count < 2 || !(summary.median > 0))
        return 1.0;
    double half = 1.57 * (summary.q3 - summary.q1) / sqrt((double)count);
    double share = half / summary.median;
    return share < 1.0 ? share : 1.0;
}

struct timing_comparison timing_compare(const double *a, const double *b, size_t count)
{
    double ratios[TIMING_ROUNDS_MAX], sorted[TIMING_ROUNDS_MAX];
    struct timing_comparison result = {.verdict = TIMING_UNCLEAR};
    if (count > TIMING_ROUNDS_MAX)
        return result;
    size_t usable = 0;
    for (size_t i = 0; i < count; ++i)
        if (a[i] > 0 && b[i] > 0 && isfinite(a[i]) && isfinite(b[i]))
            ratios[usable++] = a[i] / b[i];
    if (!sort_copy(sorted, ratios, usable))
        return result;
    /* The number of ratios below the true median is binomial (n, 1/2): 1.96 standard deviations of
     * sqrt(n)/2 on either side of n/2 hold it 95 times in a hundred. */
    double n = (double)usable, reach = 1.96 * sqrt(n) / 2;
    double low = floor(n / 2 - reach), high = ceil(n / 2 + reach);
    result.ratio = quantile(sorted, usable, 0.5);
    result.low = sorted[low > 0 ? (size_t)low : 0];
    result.high = sorted[high < n - 1 ? (size_t)high : usable - 1];
    if (usable < TIMING_ROUNDS_NEEDED)
        return result;
    if (result.high < 1 - TIMING_MARGIN)
        result.verdict = TIMING_FASTER;
    else if (result.low > 1 + TIMING_MARGIN)
        result.verdict = TIMING_SLOWER;
    else if (result.low >= 1 - TIMING_MARGIN && result.high <= 1 + TIMING_MARGIN)
        result.verdict = TIMING_SAME;
    return result;
}

const char *timing_verdict_text(enum timing_verdict verdict)
{
    switch (verdict) {
    case TIMING_FASTER:
        return "faster";
    case TIMING_SLOWER:
        return "slower";
    case TIMING_SAME:
        return "same";
    case TIMING_UNCLEAR:
        break;
    }
    return "unclear";
}

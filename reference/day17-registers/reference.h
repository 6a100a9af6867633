/* reference.h - the CPU reference of the lab day17-registers.
 *
 * out[i] for begin <= i < end, as labs/lab.h says. Per element, over `taps` samples from in[i] on:
 *
 *     level[k] = fma(0.9375, level[k - 1], in[i + k]),  level[-1] = 0
 *     sum      = fma(0.9375, sum, level[(k + shift) mod taps]) for k = taps - 1 … 0, from 0
 *
 * Each step rounds once, so a device that fuses multiply and add must give the same bits. Pure
 * functions over the caller's memory: nothing allocates, nothing fails, any thread may call. */
#ifndef SPILLWAY_DAY17_REFERENCE_H
#define SPILLWAY_DAY17_REFERENCE_H

#include "labs/lab.h"

void day17_reference_narrow(const struct reference_call *call);  /* 4 taps */
void day17_reference_wide(const struct reference_call *call);    /* 64 taps */
void day17_reference_indexed(const struct reference_call *call); /* 64 taps, shift = scalar >= 0 */

/* One way of computing all three, which the functions above choose from: tests hold them equal. */
struct day17_reference_path {
    const char *name;     /* "plain", "avx2" */
    bool (*usable)(void); /* on this CPU */
    void (*narrow)(const struct reference_call *call);
    void (*wide)(const struct reference_call *call);
    void (*indexed)(const struct reference_call *call);
};
extern const struct day17_reference_path day17_reference_paths[]; /* best last */
extern const size_t day17_reference_path_count;

#endif

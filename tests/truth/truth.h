/* truth.h - the kernels that are run on the emulator and on a GPU with the same inputs.
 *
 * Included by the driver that runs them on a GPU (driver.cu) and by the tests, so that both make
 * the same buffers from the same description. Bilingual: C and C++.
 *
 * A launch is described by words, one for each parameter of the kernel:
 *   s32:7  u64:99  f32:0.5         a value
 *   in:f32:1000                    a buffer of 1000 random numbers
 *   in:f32:1000:special            with infinities, NaNs, subnormal numbers among them
 *   in:s32:1000:below:77           integers from 0 to 76
 *   in:s32:1000:rand:77            the same from rand() after srand(5) (glibc)
 *   io:…                           the same, and it is compared afterwards
 *   zero:u32:256                   a buffer of zeros that is compared afterwards
 *   scratch:u32:256                a buffer of zeros that is not compared
 *   out:f32:1000                   a poisoned buffer that is compared afterwards
 *   hex:0000803f…                  a structure by value, its bytes */
#ifndef SPILLWAY_TRUTH_H
#define SPILLWAY_TRUTH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRUTH_ARGUMENTS_MAX 12

struct truth_group { /* kernels of one file, compiled in one way */
    const char *file, *variant, *ptx;
    const char *name; /* "basics_sm75" */
};

struct truth_launch {
    const char *file; /* of the groups that it belongs to */
    const char *entry;
    const char *name; /* of the launch: the entry, or shorter where that is mangled */
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    /* How far an approximation may be off: units in the last place, or absolutely (-1: not at
     * all, but one NaN is as good as another). Both 0: every bit is compared. */
    struct truth_tolerance {
        unsigned ulps;
        double absolute;
    } tolerance;
    const char *arguments;
};

struct truth_argument {
    unsigned char *data; /* owned: the value, or what the buffer begins with */
    size_t bytes;
    int is_buffer, is_compared, is_output; /* is_output: nothing in it is known before */
    char type;                             /* of the elements: 'f' floating point, 'i' integer */
    unsigned element_bytes;
};

extern const struct truth_group truth_groups[];
extern const size_t truth_group_count;
extern const struct truth_launch truth_launches[];
extern const size_t truth_launch_count;

int truth_is_exact(const struct truth_launch *launch);

/* Fills at most TRUTH_ARGUMENTS_MAX arguments; returns how many, or -1 with a word in *bad that is
 * not understood. */
int truth_arguments(const struct truth_launch *launch, struct truth_argument *arguments,
                    const char **bad);
void truth_release(struct truth_argument *arguments, int count);

/* FNV-1a of the bytes: what the golden data keeps of an exact buffer. */
uint64_t truth_hash(const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif

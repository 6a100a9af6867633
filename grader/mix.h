/* mix.h - 64 bits in, 64 well mixed bits out: reproducible numbers from a seed and a counter.
 *
 * The step of SplitMix64 (Steele, Lea and Flood, 2014): a bijection, so that any element of a
 * series can be made alone. Never change it: seeds that were printed must give the same inputs. */
#ifndef SPILLWAY_MIX_H
#define SPILLWAY_MIX_H

#include <stdint.h>

static inline uint64_t mix64(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* The same, `index` steps further along the series that begins at `seed`. */
static inline uint64_t mix64_at(uint64_t seed, uint64_t index)
{
    return mix64(seed + index * UINT64_C(0x9E3779B97F4A7C15));
}

#endif

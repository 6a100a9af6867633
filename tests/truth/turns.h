/* turns.h - patterns, one warp each, that show which lanes the hardware serves in one turn: atomics
 * whose words lie in many lines of 128 bytes, and shared memory in wide words. */
#ifndef SPILLWAY_TRUTH_TURNS_H
#define SPILLWAY_TRUTH_TURNS_H

#ifdef __cplusplus
extern "C" {
#endif

#define TURNS_LANES 32
#define TURNS_BYTES (2 << 20)

/* Pattern number `number`: the kernel (of kernels/probes.cu), and for each lane which word, of the
 * kernel's width, it takes; -1: none. All are within TURNS_BYTES. NULL: there are no more. */
const char *turns_pattern(unsigned number, int words[TURNS_LANES]);

#ifdef __cplusplus
}
#endif

#endif

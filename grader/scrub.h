/* scrub.h - PTX of the kernels that overwrite what earlier kernels left behind.
 *
 * Local and shared memory keep their bytes from one kernel to the next: a kernel that forgets to
 * store an element of a local array reads what another left there, and if that was an earlier
 * launch of itself, the right value. Two launches of the scrub kernels with different patterns, one
 * before each launch of the kernel under test, make such luck visible.
 *
 * Both entries take (.u32 pattern, .u32 probe, .u64 sink): every 32-bit word becomes the pattern;
 * the word at index `probe` is then read back, and only if it were not the pattern would something
 * be written to `sink` (4 bytes). That never happens, but it keeps the stores alive. */
#ifndef SPILLWAY_SCRUB_H
#define SPILLWAY_SCRUB_H

#include "bytes.h"

#define SCRUB_LOCAL_ENTRY "spillway_scrub_local"   /* launch with 256 threads a block */
#define SCRUB_SHARED_ENTRY "spillway_scrub_shared" /* launch with 64 threads a block */
#define SCRUB_FRAME_MAX 8192                       /* bytes of local memory a thread */
#define SCRUB_SHARED_MAX 49152                     /* bytes of static shared memory a block */

/* Writes the PTX into *out (initialised here; release it). `target` is "sm_75" or the like.
 * `frame_bytes` and `shared_bytes` are the largest of the kernels to be run, rounded up and capped
 * here; an entry exists only where its number is above 0, but one always does: a module without any
 * is not worth finding out what a driver thinks of it.
 * -1 when the target is not understood or memory is short. */
int scrub_source(struct bytes *out, const char *target, int64_t frame_bytes, int64_t shared_bytes);

#endif

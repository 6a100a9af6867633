/* sm_limits.c - the one table of compute capabilities.
 *
 * Sources: CUDA C++ Programming Guide, appendix "Compute Capabilities", table "Technical
 * Specifications per Compute Capability" (of 12.x for 5.0 to 7.2, of 13.x for 7.5 and later), and
 * for granularities, sub-partitions, barriers and the 1 KiB that the system reserves in each block
 * the occupancy calculator of CUDA 13.0 (cuda_occupancy.h), which knows 5.0 to 12.1.
 *
 * Rows on which public copies differ, and what settled them:
 * - 5.3, 6.2: 32 K registers a block (deviceQuery on Tegra X1; NVIDIA's libcu++ traits for 6.2);
 *   5.2 has 64 K (deviceQuery on five cards of three kinds).
 * - 8.8 is as 8.6, 10.3 as 10.0, 12.1 as 12.0 (libcu++ traits), and 11.0 holds 1,536 threads.
 *   ptxas 13.0 agrees with every threads_per_sm from 7.5 on: it ignores .minnctapersm beyond it.
 * - 6.0 has two sub-partitions but checks launches as if it had four, so that what runs on it runs
 *   on 6.1 too. */
#include "occupancy.h"

#define KIB(n) ((n)*1024u)
/* What is the same everywhere: 64 K registers an SM, 255 a thread, handed out by 256; blocks of at
 * most 1,024 threads; 48 KiB of shared memory a block without asking for more. */
#define COMMON                                                                                     \
    .threads_per_block = 1024, .registers_per_sm = KIB(64), .registers_per_thread = 255,           \
    .register_allocation = 256, .warp_allocation = 4, .shared_per_block = KIB(48)

/* clang-format off */
#define ROW(major_, minor_, threads, blocks, block_registers, partitions, shared, optin, unit, reserved, barriers) \
    {.major = major_, .minor = minor_, COMMON, .threads_per_sm = threads, .blocks_per_sm = blocks,                 \
     .registers_per_block = KIB(block_registers), .sub_partitions = partitions, .shared_per_sm = KIB(shared),      \
     .shared_per_block_optin = KIB(optin), .shared_allocation = unit, .shared_reserved = reserved,                 \
     .barriers_per_sm = barriers}

static const struct sm_limits rows[] = {
    /*   cc      threads blocks regs/  sub-   shared  largest  granu- re-   bar-
     *           per SM  per SM block  parts  per SM  a block  larity served riers */
    ROW(5, 0,    2048,   32,    64,    4,      64,     48,     256,   0,    0),
    ROW(5, 2,    2048,   32,    64,    4,      96,     48,     256,   0,    0),
    ROW(5, 3,    2048,   32,    32,    4,      64,     48,     256,   0,    0),
    ROW(6, 0,    2048,   32,    64,    2,      64,     48,     256,   0,    0),
    ROW(6, 1,    2048,   32,    64,    4,      96,     48,     256,   0,    0),
    ROW(6, 2,    2048,   32,    32,    4,      64,     48,     256,   0,    0),
    ROW(7, 0,    2048,   32,    64,    4,      96,     96,     256,   0,    0),
    ROW(7, 2,    2048,   32,    64,    4,      96,     96,     256,   0,    0),
    ROW(7, 5,    1024,   16,    64,    4,      64,     64,     256,   0,    0),
    ROW(8, 0,    2048,   32,    64,    4,     164,    163,     128,   1024, 0),
    ROW(8, 6,    1536,   16,    64,    4,     100,     99,     128,   1024, 0),
    ROW(8, 7,    1536,   16,    64,    4,     164,    163,     128,   1024, 0),
    ROW(8, 8,    1536,   16,    64,    4,     100,     99,     128,   1024, 0),
    ROW(8, 9,    1536,   24,    64,    4,     100,     99,     128,   1024, 0),
    ROW(9, 0,    2048,   32,    64,    4,     228,    227,     128,   1024, 64),
    ROW(10, 0,   2048,   32,    64,    4,     228,    227,     128,   1024, 64),
    ROW(10, 3,   2048,   32,    64,    4,     228,    227,     128,   1024, 64),
    ROW(11, 0,   1536,   24,    64,    4,     228,    227,     128,   1024, 24),
    ROW(12, 0,   1536,   24,    64,    4,     100,     99,     128,   1024, 24),
    ROW(12, 1,   1536,   24,    64,    4,     100,     99,     128,   1024, 24),
};
/* clang-format on */

const struct sm_limits *sm_limits_find(unsigned major, unsigned minor)
{
    for (size_t i = 0; i < COUNT_OF(rows); ++i)
        if (rows[i].major == major && rows[i].minor == minor)
            return &rows[i];
    return NULL;
}

const struct sm_limits *sm_limits_row(size_t index)
{
    return index < COUNT_OF(rows) ? &rows[index] : NULL;
}

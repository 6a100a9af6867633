/* occupancy.h - how many blocks of a kernel one SM can hold, and what limits them.
 *
 * The rules are those of the CUDA programming guide (appendix "Compute Capabilities") and of the
 * occupancy calculator in the toolkit; tests hold the results equal to the toolkit's
 * cuda_occupancy.h. Pure functions: nothing allocates, nothing fails but by the return value.
 *
 * Registers are handed to whole warps: 32 times the count, rounded up to 256, that is the count
 * rounded up to 8. The register file is split into sub-partitions (four on all but 6.0), each warp
 * lives in one of them, and a rest of a sub-partition that holds no whole warp is lost. At launch
 * the hardware checks a block's registers as if its warps filled all sub-partitions evenly. */
#ifndef SPILLWAY_OCCUPANCY_H
#define SPILLWAY_OCCUPANCY_H

#include "bytes.h"

#define OCCUPANCY_WARP_THREADS 32

/* Limits of one SM. Filled from the table of compute capabilities, or from a device's attributes.
 */
struct sm_limits {
    unsigned major, minor; /* compute capability */
    unsigned threads_per_sm, blocks_per_sm, threads_per_block;
    unsigned registers_per_sm, registers_per_block, registers_per_thread;
    unsigned register_allocation; /* registers are handed to a warp in units of this many (256) */
    unsigned sub_partitions;      /* the register file is split into this many equal parts */
    unsigned warp_allocation; /* warps of a block are rounded up to this many in the launch check */
    unsigned shared_per_sm, shared_per_block, shared_per_block_optin; /* bytes */
    unsigned shared_allocation; /* granularity of shared memory, bytes */
    unsigned shared_reserved;   /* bytes the system keeps per block */
    unsigned barriers_per_sm;   /* barriers of all resident blocks together; 0: they set no limit
                                   (before 9.0) */
};

enum occupancy_limit { /* bits: several may limit at once */
                       OCCUPANCY_BY_THREADS = 1u << 0,
                       OCCUPANCY_BY_BLOCKS = 1u << 1,
                       OCCUPANCY_BY_REGISTERS = 1u << 2,
                       OCCUPANCY_BY_SHARED = 1u << 3,
                       OCCUPANCY_BY_BARRIERS = 1u << 4,
};
#define OCCUPANCY_LIMIT_COUNT 5

struct occupancy_kernel {
    unsigned registers;    /* per thread, as ptxas says */
    unsigned threads;      /* per block */
    unsigned shared_bytes; /* static and dynamic, per block; above shared_per_block the kernel is
                              taken to have asked for more */
    unsigned barriers;     /* named barriers per block */
    unsigned max_threads; /* .maxntid; 0: none given. A larger block is refused, which the runtime's
                             occupancy functions do not look at */
};

#define OCCUPANCY_NO_LIMIT UINT32_MAX

struct occupancy {
    unsigned blocks;              /* per SM; 0: the kernel cannot be launched so */
    unsigned threads;             /* resident per SM */
    double percent;               /* of the SM's warp slots */
    unsigned limited_by;          /* enum occupancy_limit bits */
    unsigned registers_allocated; /* per thread after rounding: 65 becomes 72 */
    unsigned next_registers; /* largest count below `registers` that gains a block; 0: none does */
    unsigned next_blocks;    /* blocks at that count */
    /* Blocks that each limit alone would allow, in the order of the bits; OCCUPANCY_NO_LIMIT. */
    unsigned blocks_by[OCCUPANCY_LIMIT_COUNT];
};

/* Limits for a compute capability from the table (5.0 to 12.1). NULL if the table has no such row.
 */
const struct sm_limits *sm_limits_find(unsigned major, unsigned minor);

/* The rows of that table, in ascending order; NULL past the end. */
const struct sm_limits *sm_limits_row(size_t index);

struct occupancy occupancy_compute(const struct sm_limits *sm,
                                   const struct occupancy_kernel *kernel);

/* Threads of the largest block that this many registers allow (a multiple of a warp), capped by the
 * architecture and by max_threads (when not 0): cudaFuncAttributes.maxThreadsPerBlock. */
unsigned occupancy_max_block_threads(const struct sm_limits *sm, unsigned registers,
                                     unsigned max_threads);

/* Most registers a thread may use while `blocks` blocks of `threads` threads still fit one SM; 0
 * when they do not fit with any. */
unsigned occupancy_register_budget(const struct sm_limits *sm, unsigned threads, unsigned blocks);

/* "threads", "blocks", "registers", "shared memory", "barriers". */
const char *occupancy_limit_name(enum occupancy_limit limit);

/* Appends the arithmetic of the register limit in one line, without a newline:
 * "65 registers are allocated as 72; 72 x 256 = 18,432; 65,536 / 18,432 = 3 blocks", or where that
 * simple division is not the rule, the rule by warps and sub-partitions. Trouble is in out->failed.
 */
void occupancy_explain_registers(struct bytes *out, const struct sm_limits *sm,
                                 const struct occupancy_kernel *kernel);

#endif

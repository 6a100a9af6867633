/* machine.h - how a kernel is executed: the structures that the files of the emulator share.
 *
 * A kernel is lowered once to a `struct program`: an array of `struct op`, each one function to be
 * called for 32 lanes at a time. Registers are arrays of 32 lanes in a byte array (the register
 * file of a call frame); operands are byte offsets into it. A predicate is a 32-bit mask.
 *
 * A launch hands blocks to host threads (`struct runner`). A runner runs the warps of one block by
 * turns; a warp runs until it ends, waits at a barrier, or has had its share. Within a warp, lanes
 * that went different ways form groups (`struct group`); one group runs at a time. Where a branch
 * splits a group, a `struct record` remembers the block at which all paths meet again (the
 * immediate post-dominator): groups that arrive there wait for one another and become one.
 *
 * Invariants: the masks of the groups of a warp are disjoint and make up its live lanes; a group
 * writes no lane of a register that is not its own, except lanes that nobody uses any more. */
#ifndef SPILLWAY_EMULATOR_MACHINE_H
#define SPILLWAY_EMULATOR_MACHINE_H

#include "emulator/program.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Memory --------------------------------------------------------------------------------- */

enum region_kind {
    REGION_BUFFER,
    REGION_VARIABLE,
    REGION_CONSTANT,
    REGION_PARAMETERS,
    REGION_HEAP
};

struct region {
    uint64_t base, bytes;
    uint8_t *data;
    uint8_t *known; /* a bit for each byte: written or copied in; NULL: all are */
    bool all_known; /* so that the bits need not be looked at */
    enum region_kind kind;
    _Atomic(uint64_t *) writers, readers; /* races.c: a note for each word; NULL: not written */
    char label[64];
};

struct heap { /* device malloc */
    pthread_mutex_t lock;
    uint32_t *owner; /* per 16 bytes: number of the allocation + 1; 0: nobody's */
    struct heap_chunk {
        uint64_t offset, bytes;
        const struct op *site; /* the call of malloc */
        bool freed;
    } * chunks;
    size_t chunk_count, chunk_capacity;
    uint64_t used;
    struct region *region; /* NULL until the first malloc could come */
    bool no_memory;        /* the host's: not what malloc may answer with NULL */
};

struct emulator {
    struct ptx_module *module;
    struct region **regions; /* by rising address */
    size_t region_count, region_capacity;
    uint64_t next_address;
    uint64_t *variable_addresses; /* of module->variables */
    struct region *parameters;    /* the block of the running launch's parameters */
    struct region *workspace;     /* what the threads of a whole grid meet in; NULL: not needed */
    struct kernel *kernels;       /* lowered so far */
    struct heap heap;
    uint64_t allocated_bytes;
    char refusal[512]; /* module variables that do not fit */
};

/* ---- Execution ------------------------------------------------------------------------------ */

struct frame { /* one call of a function by a group */
    struct frame *parent;
    const struct program *program;
    const struct op *return_to;
    const struct call *call;
    uint8_t *registers;
    uint32_t register_bytes; /* allocated */
    uint32_t local_base;     /* where its local memory begins in each thread's */
    uint32_t taken_bytes;    /* by alloca, behind what the program needs */
    uint32_t mask;           /* lanes that are inside */
    unsigned depth;
};

struct record {
    struct record *parent;
    struct frame *frame;
    uint32_t block; /* where the lanes meet; NO_BLOCK: at the return of the frame */
    uint32_t expected, arrived;
    bool used;
};

enum group_state { GROUP_FREE, GROUP_READY, GROUP_BARRIER, GROUP_SYNC };

struct group {
    enum group_state state;
    uint32_t mask;
    const struct op *next;
    struct frame *frame;
    struct record *record;
    uint32_t barrier;       /* GROUP_BARRIER: its number */
    uint32_t barrier_count; /* threads it waits for; 0: all */
    const struct op *at;    /* the barrier instruction */
    uint32_t result;        /* bar.red: where the result goes */
    uint32_t vote;          /* bar.red: this group's predicate */
    uint8_t reduction;      /* enum barrier_reduction */
};

/* Shared memory that systems since CUDA 11 keep for themselves; here only for kernels that ask
 * where it is (%reserved_smem_offset_…). Zero when a block begins. */
#define RESERVED_SHARED_BYTES 1024u

#define RECORDS 96
#define BARRIERS 16
#define GATES 16
enum barrier_reduction { BARRIER_PLAIN, BARRIER_AND, BARRIER_OR, BARRIER_POPC };

struct warp {
    /* What handlers look at */
    uint8_t *registers; /* of the running frame */
    uint32_t active;    /* lanes of the running group */
    uint32_t live;      /* lanes that have not exited */
    struct group *group;
    struct frame *frame;
    struct runner *runner;
    const struct program *program;
    uint64_t run_first; /* lanes_body.h: the address of lane 0 in the latest 32-bit access … */
    bool is_run;        /* … and whether the others follow it */
    unsigned number;    /* in the block */
    uint32_t local_top; /* bytes of local memory that the running frame may touch */
    uint8_t *local, *local_known;
    uint32_t local_capacity;   /* bytes a thread */
    uint32_t sync_epoch;       /* exchanges among the warp's lanes so far */
    struct async_copy *copies; /* owned; cp.async that nobody has waited for (async.c) */
    size_t copy_count, copy_capacity;
    uint32_t copy_groups[LANES]; /* cp.async.commit_group so far */
    uint64_t slice;              /* instructions left before another warp gets its turn */
    uint64_t patience;           /* instructions since lanes were last let go */
    unsigned turn;               /* the group that runs, or runs next */
    bool yields;                 /* the turn is over */
    bool looked;                 /* … and it polled */
    bool polls;                  /* has looked at memory that others may change, in this slice */
    const struct op *look;       /* the latest instruction that did, … */
    uint64_t look_address;       /* … where its first lane looked, … */
    uint64_t look_changes;       /* … after how many changes … */
    unsigned looks;              /* … and how often without any in between */
    bool others;                 /* maybe another group is ready as well */
    bool in_turn;                /* groups go in turn in this slice, not those behind first */
    struct group groups[LANES];
    struct record records[RECORDS];
    struct frame *spare_frames;
    struct warp *next_spare;
    const uint32_t (*tid)[LANES]; /* x, y, z */
};

struct fault_note { /* a kind of fault at an instruction, as one runner met it */
    struct emulator_fault fault;
    uint64_t key;   /* the line */
    uint64_t block; /* linear number of the first */
};

/* Notes about a unit of shared memory: who touched it last, and when (shared.c). */
#define SHARED_THREAD UINT32_C(0x3FF)
#define SHARED_ATOMIC (UINT32_C(1) << 10)
#define SHARED_MANY_LANES (UINT32_C(1) << 11)
#define SHARED_MANY_WARPS (UINT32_C(1) << 12)
#define SHARED_ASYNC (UINT32_C(1) << 13)    /* by a cp.async that is not waited for */
#define SHARED_VOLATILE (UINT32_C(1) << 14) /* and by nobody else otherwise */
#define SHARED_EPOCH_SHIFT 15

struct shared_shadow {
    unsigned unit_bytes;
    size_t units;
    uint32_t *writes, *reads;
    uint64_t *write_information, *read_information; /* sync_epoch << 32 | source line */
};

struct async_copy { /* by one lane, to shared memory */
    uint32_t address, group;
    uint8_t bytes, lane;
};

struct launch;

struct runner { /* a block that is under way, and what blocks leave */
    struct launch *launch;
    struct runner *next, *next_there; /* crew.c */
    struct region *last_region;       /* most accesses fall where the one before fell */
    uint8_t *shared, *shared_known;   /* known: the low four bits of one byte a word */
    struct shared_shadow shadow;
    uint32_t shared_tag; /* the epoch, in its place in a note */
    bool shared_parts;   /* what is over differs from warp to warp: `order` says it */
    bool fenced;         /* the block has ordered itself with others */
    bool stopped;
    bool goes_on; /* in this round of its warps one did more than look at memory */
    uint32_t order[CAP_BLOCK_THREADS / LANES]
                  [CAP_BLOCK_THREADS / LANES];              /* [a][b]: epochs of b
                                                                below are over for a */
    uint32_t arrivals[BARRIERS][CAP_BLOCK_THREADS / LANES]; /* bar.arrive; 0: none */
    struct gate {         /* an mbarrier whose latest phase has ended */
        uint64_t address; /* in shared memory, plus one; 0: none */
        uint32_t epoch;
    } gates[GATES];
    unsigned next_gate;
    uint32_t global_epoch; /* for races.c: barriers so far */
    uint32_t blocks_begun;
    uint32_t block[3];
    uint64_t block_number;
    uint32_t (*tid)[3][LANES];                     /* per warp of a block */
    struct warp *warps[CAP_BLOCK_THREADS / LANES]; /* of the running block; NULL: not running */
    bool warp_done[CAP_BLOCK_THREADS / LANES];
    unsigned warp_count, warps_done;
    uint32_t barrier_arrived[BARRIERS]; /* threads that arrived by bar.arrive */
    uint32_t barrier_waiting;           /* a bit for each barrier at which somebody may wait */
    uint32_t threads_live;
    struct warp *spare;
    uint64_t memory_used; /* of warps and frames */
    struct fault_note *faults;
    size_t fault_count;
    struct traffic traffic;
    struct emulator_counters counters;
    uint64_t *block_runs; /* per block of the kernel: how often a group entered it */
    uint64_t changes;     /* atomics that left another value than they found */
    uint64_t warps_run, instructions, budget; /* budget: left before asking for more */
    _Alignas(64) uint8_t scratch[512];
};

struct launch {
    struct emulator *emulator;
    const struct kernel *kernel;
    unsigned grid[3], block[3];
    uint64_t blocks;
    unsigned block_threads, warps_per_block;
    uint32_t shared_bytes; /* reserved, static and dynamic */
    uint32_t dynamic_bytes;
    bool checks;
    atomic_uint_fast64_t next_block, budget;
    atomic_uint_fast64_t stop_block; /* blocks from here on need not run */
    int64_t deadline_ns;             /* monotonic; 0: none */
    pthread_mutex_t lock;            /* printed, refusal */
    struct bytes printed;
    bool printed_cut;
    const char *refusal; /* what the lowest block came to that is not run; under the lock */
    uint64_t refusal_block;
    bool (*interrupted)(void); /* or NULL */
    size_t first_chunk;        /* of the heap, that this launch can make */
    atomic_bool no_memory, out_of_budget, was_interrupted;
    uint64_t budget_given, budget_share;
    uint64_t chunk;                      /* blocks that a host thread takes at a time */
    atomic_uint_fast64_t blocks_waiting; /* for other blocks, now */
    atomic_bool blocks_wait;             /* a block has waited for another */
};

/* What the files of the emulator do with all this. */
#include "emulator/parts.h"

#endif

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

#include "emulator/caps.h"
#include "emulator/emulator.h"
#include "emulator/ptx_ast.h"

#include <pthread.h>
#include <stdatomic.h>

#define LANES 32
#define FULL_MASK UINT32_MAX

/* Generic addresses of shared and local memory, and what stands for functions, as windows that no
 * buffer lies in. Modules of 32-bit addresses have them too, so all are below 4 GiB. */
#define WINDOW_BYTES (UINT64_C(1) << 24)
#define SHARED_WINDOW UINT64_C(0x01000000)
#define LOCAL_WINDOW UINT64_C(0x02000000)
#define FUNCTION_WINDOW UINT64_C(0x03000000)
#define FIRST_BUFFER UINT64_C(0x00007f0000000000)
#define FIRST_BUFFER_32 UINT64_C(0x10000000) /* of modules with 32-bit addresses … */
#define LAST_ADDRESS_32 UINT64_C(0xf0000000) /* … which end here */

struct warp;
struct op;

/* ---- Programs ------------------------------------------------------------------------------- */

/* A lane-wise operation computes all 32 lanes into `out` and knows nothing of masks. */
typedef void (*lane_handler)(const uint8_t *registers, const struct op *op, void *out);
/* Anything else looks at warp->active itself. A step goes on with the next op; a jump returns the
 * op to go on with, or NULL when the warp has to look for another group. */
typedef void (*step_handler)(struct warp *warp, const struct op *op);
typedef const struct op *(*jump_handler)(struct warp *warp, const struct op *op);

enum op_class { OP_LANES, OP_STEP, OP_JUMP };

/* How wide one lane of a register is. */
enum width { WIDTH_PREDICATE, WIDTH_16, WIDTH_32, WIDTH_64, WIDTH_128, WIDTH_COUNT };

union op_run {
    lane_handler lanes;
    step_handler step;
    jump_handler jump;
};

struct op {
    union op_run run;
    union op_run guarded; /* OP_STEP by warp_guarded(): what the guard lets through */
    uint32_t d, a, b, c;  /* byte offsets in the register file */
    uint32_t e;           /* a fourth operand */
    uint8_t class;        /* enum op_class */
    uint8_t width;        /* of d, enum width: OP_LANES */
    uint8_t inner;        /* the class of `guarded` */
    bool negated;         /* the guard is @!p */
    uint32_t guard;       /* offset of the guard */
    uint32_t target;      /* jumps: index of a block */
    uint64_t imm;
    const void *detail;                        /* struct access, struct call, … */
    const struct ptx_instruction *instruction; /* NULL: the emulator's own */
};

struct block {                           /* a basic block */
    uint32_t kinds[EMULATOR_KIND_COUNT]; /* of its instructions */
    uint32_t number;                     /* among all blocks of the kernel */
    uint32_t first, last;                /* instructions of the function: [first, last) */
    uint32_t op;                         /* its first op: the block header */
    uint32_t meets;  /* its immediate post-dominator, or NO_BLOCK: the end of the function */
    bool is_way_out; /* one edge leads here, and from here it goes straight to the end */
};
#define NO_BLOCK UINT32_MAX

enum address_kind { ADDRESS_64, ADDRESS_32, ADDRESS_CONSTANT, ADDRESS_FRAME };

/* One memory instruction. */
struct access {
    enum ptx_space space;
    enum address_kind address; /* ADDRESS_FRAME: `offset` counts from the frame's local memory */
    bool is_store;
    bool is_strong; /* volatile, relaxed, acquire …: others may change it */
    bool is_volatile;
    bool is_async;          /* cp.async: done when it is waited for */
    bool is_uniform;        /* all lanes have the same address */
    bool counted;           /* parameters of functions are no traffic */
    unsigned line;          /* for race checks: of the source, else of the PTX */
    uint8_t element_bytes;  /* in memory */
    uint8_t register_bytes; /* of one lane of each register */
    uint8_t count;          /* elements: 1, 2, 4, 8 */
    bool sign_extend;
    int64_t offset;
    uint32_t registers[8]; /* UINT32_MAX: the sink `_` */
};

struct constant { /* pinned in every register file of the program */
    uint32_t offset;
    uint8_t width;
    uint64_t bits;
};

struct program { /* one function, in the form that warps execute */
    const struct ptx_body *body;
    struct op *ops;
    size_t op_count;
    struct block *blocks;
    size_t block_count;
    uint32_t register_bytes;
    const struct constant *constants;
    size_t constant_count;
    struct op *invariants; /* run once for a register file (invariants.c) */
    size_t invariant_count;
    uint32_t local_bytes;       /* frame: depots, and parameters of it and of what it calls */
    uint32_t end_op;            /* where a function ends that has no ret */
    uint32_t argument_bytes;    /* entries: size of the parameter block */
    const uint32_t *parameters; /* offset of each formal: in the parameter block or the frame */
    const uint32_t *returns;
    const uint32_t
        *defined; /* offsets of masks: the lanes in which a doubtful register is defined */
    size_t defined_count;
};

struct shared_variable {
    const struct ptx_symbol *symbol;
    uint32_t offset;
};

/* An entry and everything that it may call. */
struct kernel {
    struct arena arena; /* of it all */
    const struct ptx_body *entry;
    uint32_t *program_of;     /* per function of the module: index + 1; 0: cannot be called */
    struct program *programs; /* the entry's first */
    size_t program_count;
    size_t block_count; /* of all programs */
    struct shared_variable *shared;
    size_t shared_count;
    bool small_shared;       /* it accesses shared memory in pieces smaller than a word */
    bool cooperative;        /* it may wait for the whole grid */
    uint32_t reserved_bytes; /* of shared memory, at its beginning: the system's */
    uint32_t shared_bytes;   /* static, reserved ones included; dynamic ones begin at the next
                                multiple of 16 */
    const char *name;        /* of the entry, for people: demangled, without arguments */
    struct emulator_fusable fusable;
    char refusal[512]; /* not empty: it contains something that we do not run */
    struct kernel *next;
};

struct call { /* detail of a call */
    const struct kernel *kernel;
    const struct program *target; /* NULL: indirect, or a built-in function */
    uint32_t pointer;             /* indirect: offset of the register with the address */
    unsigned pointer_bytes;
    const uint32_t *arguments, *results; /* offsets in the caller's frame */
    const uint32_t *argument_bytes, *result_bytes;
    size_t argument_count, result_count;
    enum { CALL_FUNCTION, CALL_INDIRECT, CALL_PRINTF, CALL_MALLOC, CALL_FREE, CALL_ASSERT } kind;
};

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
    bool fenced;           /* the block has ordered itself with others */
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
    uint32_t blocks_begun;
    uint64_t changes;                         /* atomics that left another value than they found */
    uint64_t warps_run, instructions, budget; /* budget: left before asking for more */
    bool stopped;
    bool goes_on; /* in this round of its warps one did more than look at memory */
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
    uint64_t chunk;                   /* blocks that a host thread takes at a time */
    atomic_uint_fast64_t blocks_open; /* under way */
    atomic_bool blocks_wait;          /* a block has waited for another */
};

/* lanes_body.h, compiled twice */
struct lanes {
    const lane_handler *handlers; /* in the order of instructions.inc */
    void (*blend)(void *into, const void *from, uint32_t mask, enum width width);
    step_handler load_global_32, store_global_32; /* the common case: 32 bits, 64-bit address */
    step_handler load_global_32_again, store_global_32_again; /* … same address register */
    step_handler load_local_32, store_local_32;               /* several words of one offset */
    step_handler load_local_one, store_local_one;
    step_handler load_shared_32, store_shared_32;
    lane_handler broadcast_32, broadcast_64; /* op->detail: what every lane gets */
};
extern const struct lanes lanes_base, lanes_avx2;
const struct lanes *lanes_best(void);

/* counters.c */
enum emulator_kind counters_classify(const struct ptx_instruction *instruction);
void counters_collect(struct emulator_counters *total, const struct runner *runner);

/* kernel.c: NULL with *err only for no memory; a kernel that cannot run has its refusal filled. */
struct kernel *kernel_prepare(struct emulator *emulator, const struct ptx_body *entry,
                              struct error *err);
void kernel_free(struct kernel *kernel);
/* What stands for a function as a value; program: NULL when it stands for none of the kernel's. */
uint64_t kernel_function_address(const struct emulator *emulator, const struct ptx_body *body);
const struct program *kernel_function_at(const struct emulator *emulator,
                                         const struct kernel *kernel, uint64_t address);

/* access.c: any memory instruction, lane by lane */
void access_load(struct warp *warp, const struct op *op);
void access_store(struct warp *warp, const struct op *op);
void access_load_parameter(struct warp *warp, const struct op *op);

/* memory.c */
struct region *memory_find(const struct emulator *emulator, uint64_t address);
struct region *memory_add(struct emulator *emulator, uint64_t bytes, enum region_kind kind,
                          const char *label, bool known);
bool known_test(const uint8_t *bits, uint64_t first, uint64_t count);
void known_set(uint8_t *bits, uint64_t first, uint64_t count);
void known_clear(uint8_t *bits, uint64_t first, uint64_t count);

/* faults.c */
struct fault_site {
    const struct op *op;
    unsigned lane;
    uint64_t address;
    unsigned bytes;
    enum ptx_space space;
    bool is_store, is_constant; /* is_constant: of the constant space */
};
/* fault_words.c */
struct fault_words { /* the two ends of a sentence about an access */
    char what[256], after[384];
    bool is_freed;
};
void fault_place(const struct launch *launch, const struct op *op, struct emulator_fault *fault,
                 char *text, size_t room);
unsigned fault_line(const struct ptx_instruction *instruction); /* in the source, else in the PTX */
void fault_owner(const struct warp *warp, const struct fault_site *site, char *text, size_t room);
void fault_describe_access(const struct warp *warp, const struct fault_site *site,
                           struct fault_words *ret);
/* What was freed may be meant: else an access that hit nothing is out of bounds. */
bool fault_is_in_heap(const struct warp *warp, const struct fault_site *site);
/* The access hit no memory, or one that it may not touch. */
void fault_access(struct warp *warp, const struct fault_site *site);
/* Any other kind, in its own words after the kernel's name: "kernel WORDS: block …". */
void fault_report(struct warp *warp, const struct fault_site *site, const char *kind, bool warning,
                  const char *format, ...) PRINTF_LIKE(5, 6);
/* Ends the launch at the running block: what comes after it does not matter any more. */
void launch_stop(struct warp *warp);

/* warp.c */
void warp_run(struct warp *warp);
void warp_activate(struct warp *warp, struct group *group); /* makes it the running one */
bool warp_is_ready(const struct warp *warp);
bool warp_release(struct warp *warp); /* lanes that wait for others go on alone; false: none did */
void warp_guarded(struct warp *warp, const struct op *op);
const struct op *warp_enter_block(struct warp *warp, const struct op *op);
const struct op *warp_branch(struct warp *warp, const struct op *op);
const struct op *warp_branch_indexed(struct warp *warp, const struct op *op);
const struct op *warp_jump(struct warp *warp, const struct op *op);
const struct op *warp_call(struct warp *warp, const struct op *op);
const struct op *warp_return(struct warp *warp, const struct op *op);
const struct op *warp_exit(struct warp *warp, const struct op *op);
const struct op *warp_trap(struct warp *warp, const struct op *op);
const struct op *warp_refused(struct warp *warp, const struct op *op);

/* crew.c: runs all blocks. -1: no memory, or interrupted. */
int crew_run(struct emulator_result *result, struct launch *launch, unsigned threads,
             struct error *err);

/* block.c */
void block_begin(struct runner *runner, uint64_t number);
bool block_go(struct runner *runner); /* false: its warps only look, as if waiting for a block */
void block_end(struct runner *runner);
void runner_release(struct runner *runner);
/* NULL after reporting a fault. `site` is the call. */
struct frame *frame_open(struct warp *warp, const struct program *program, struct frame *parent,
                         uint32_t mask, const struct op *site);
void frame_close(struct warp *warp, struct frame *frame);
/* More local memory for the running frame; false after reporting a fault. */
bool frame_extend(struct warp *warp, uint64_t bytes, const struct op *site);

/* launch.c: asks for more of the instruction budget and looks at the clock; false: the launch is
 * over (reported). */
bool runner_more_budget(struct warp *warp, const struct op *op);

/* outcome.c; the runners are chained by `next` */
int outcome_collect(struct emulator_result *result, struct launch *launch, struct runner *runners,
                    struct error *err);

/* lower_call.c: the arguments and results of a call have the sizes that the function wants. */
bool call_fits(const struct call *call, const struct ptx_body *body);

/* builtin.c: vprintf, malloc, free, __assertfail */
const struct op *builtin_call(struct warp *warp, const struct op *op);

bool kernel_has_refusal(const struct kernel *kernel);

/* access.c, for atomics: the bytes that one lane addresses, or NULL after reporting a fault. */
enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC };
uint8_t *access_lane_bytes(struct warp *warp, const struct op *op, const struct access *access,
                           unsigned lane, enum access_kind kind, unsigned bytes,
                           enum ptx_space *space, uint64_t *address);
/* Local memory of one lane: bytes [offset, offset + bytes) of its own. */
void local_read(const struct warp *warp, unsigned lane, uint32_t offset, void *to, uint32_t bytes);
void local_write(struct warp *warp, unsigned lane, uint32_t offset, const void *from,
                 uint32_t bytes);
void local_copy(struct warp *warp, unsigned lane, uint32_t to, uint32_t from, uint32_t bytes);
void local_set_known(struct warp *warp, unsigned lane, uint32_t offset, uint32_t bytes, bool known);

/* shared.c */
int shared_prepare(struct runner *runner, uint32_t bytes, bool by_byte);
void shared_free(struct runner *runner);
bool shared_is_known(const struct runner *runner, uint64_t address, unsigned bytes);
void shared_set_known(struct runner *runner, uint64_t address, unsigned bytes);
struct shared_touch {
    unsigned lane;
    uint64_t address;
    unsigned bytes;
    enum access_kind kind;
    bool same_value, is_volatile, is_async;
};
void shared_race(struct warp *warp, const struct op *op, const struct shared_touch *touch);
void shared_copied(struct warp *warp, unsigned lane, uint64_t address, unsigned bytes);
void shared_meet_all(struct runner *runner);
void shared_meet(struct runner *runner, unsigned barrier, uint32_t warps);
void shared_arrive(struct runner *runner, unsigned barrier, unsigned warp);
void shared_acquire(struct warp *warp, uint32_t epoch);
uint32_t shared_release(struct runner *runner);

/* races.c */
void global_race(struct warp *warp, const struct op *op, unsigned lane, struct region *region,
                 uint64_t address, unsigned bytes, enum access_kind kind, bool same_value);
bool global_race_run(struct warp *warp, struct region *region, uint64_t address, bool is_store);
void races_fence(struct warp *warp, const struct op *op);
void races_forget(struct emulator *emulator); /* after a launch */

/* traffic.c */
struct touched { /* what the lanes of one instruction touched in one space */
    unsigned count;
    uint64_t address[LANES];
    uint8_t lane[LANES];
};
void traffic_count_global(struct traffic_count *count, const struct touched *touched,
                          unsigned bytes);
void traffic_count_atomic(struct traffic_count *count, const struct touched *touched,
                          unsigned bytes);
/* How many wavefronts the banks of shared memory need; shared_count() adds them up. */
unsigned shared_wavefronts(const struct touched *touched, unsigned bytes);
void shared_count(struct warp *warp, const struct touched *touched, unsigned bytes, bool is_store);
void traffic_count_local(struct traffic_count *count, const struct touched *touched,
                         unsigned bytes);

/* exchange.c */
bool exchange_settle(struct warp *warp, bool anyway);

/* barrier.c: opens every barrier that all have reached; false: none. */
bool barriers_open(struct runner *runner);
void barriers_note_parted(struct runner *runner);
void barriers_report(struct runner *runner); /* nobody can go on: who waits where? */

/* predicates.c */
void predicate_not(struct warp *warp, const struct op *op);

/* faults.c: a warning about memory that the launch took and did not give back. */
void fault_leak(struct runner *runner, const struct op *site, uint64_t allocations, uint64_t bytes);

/* builtin.c: is [offset, offset + bytes) of the heap inside one allocation that is not freed? */
bool heap_holds(struct heap *heap, uint64_t offset, unsigned bytes);
bool heap_was_freed(struct heap *heap, uint64_t address);

/* special.c: %tid and the like */
enum special {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_CLOCK,
    SPECIAL_CLOCK_HI,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER,
    SPECIAL_GLOBALTIMER_LO,
    SPECIAL_GLOBALTIMER_HI,
    SPECIAL_DYNAMIC_SMEM_SIZE,
    SPECIAL_TOTAL_SMEM_SIZE,
    SPECIAL_RESERVED_MIDDLE, /* of shared memory */
    SPECIAL_RESERVED_END,
    SPECIAL_WORKSPACE_LOW, /* %envreg2 and %envreg1: the address of the grid's workspace */
    SPECIAL_WORKSPACE_HIGH,
    SPECIAL_ZERO, /* clusters of one block: ranks and ids are 0 … */
    SPECIAL_ONE,  /* … and counts 1 */
    SPECIAL_UNKNOWN
};
/* `component`: 'x', 'y', 'z' or NUL. *width: of the register itself. */
enum special special_find(const char *name, char component, enum width *width);
/* d = the special register op->imm. */
void special_read(struct warp *warp, const struct op *op);
/* d = an address in the frame's local memory: op->imm behind its beginning, plus op->e as window.
 */
void special_frame_address(struct warp *warp, const struct op *op);

/* Registers that may be undefined */
void defined_check(struct warp *warp, const struct op *op);
void defined_set(struct warp *warp, const struct op *op);
void defined_copy(struct warp *warp, const struct op *op);

static inline unsigned width_bytes(enum width width) /* of one lane */
{
    static const unsigned bytes[] = {4, 2, 4, 8, 16};
    return bytes[width];
}

#endif

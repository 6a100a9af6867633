/* parts.h - what the files of the emulator offer one another, file by file. Include machine.h,
 * which has the structures, and this at its end. */
#ifndef SPILLWAY_EMULATOR_PARTS_H
#define SPILLWAY_EMULATOR_PARTS_H

#include "emulator/machine.h"

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
    uint64_t address; /* within the space */
    unsigned bytes;
    enum ptx_space space;
    bool is_store, is_constant; /* is_constant: of the constant space */
    bool is_generic;            /* the space was found out by the address */
    unsigned wrapped;           /* fault_meant.c: the address is 2^32 elements of so many bytes too
                                   high; 0: it is not */
};
/* fault_meant.c: which memory an access meant that hit none: fills in space, address, wrapped. */
void fault_find_meant(const struct warp *warp, struct fault_site *site);
static inline uint64_t fault_near(const struct fault_site *site) /* where that memory is */
{
    return site->address - ((uint64_t)site->wrapped << 32);
}
/* fault_words.c */
struct fault_words { /* the two ends of a sentence about an access */
    char what[256], after[384];
    bool is_freed;
};
void fault_place(const struct launch *launch, const struct op *op, struct emulator_fault *fault,
                 char *text, size_t room);
unsigned fault_line(const struct ptx_instruction *instruction); /* in the source, else in the PTX */
void fault_owner(const struct warp *warp, const struct fault_site *site, char *text, size_t room);
/* Of a site that fault_find_meant() has looked at. */
void fault_describe_access(const struct warp *warp, const struct fault_site *site,
                           struct fault_words *ret);

/* fault_things.c: what has a name (a variable in quotes, or words) and a place in a space.
 * Addresses before the beginning of shared and local memory are negative, as 2^64 less so much. */
struct fault_thing {
    char name[96];
    uint64_t begin, bytes;
};
bool fault_is_before(const struct fault_thing *thing, uint64_t address);
uint64_t fault_distance(const struct fault_thing *thing, uint64_t address); /* 0: inside */
/* The nearest one; false (NULL): there is none. Static variables and dynamic shared memory; the
 * allocations of device malloc; regions that the access could have meant. */
bool fault_nearest_shared(const struct launch *launch, uint64_t address, struct fault_thing *ret);
bool fault_nearest_allocation(struct heap *heap, uint64_t address, struct fault_thing *ret);
const struct region *fault_nearest_region(const struct emulator *emulator, uint64_t address,
                                          bool is_constant);
void fault_thing_of_region(const struct region *region, struct fault_thing *ret);
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
void warp_guarded(struct warp *warp, const struct op *op);
/* The instruction looks at memory that others may change; `address` is its first lane's. Whoever
 * looks again and again and changes nothing waits for others: its turn is soon over. */
void warp_look(struct warp *warp, const struct op *op, uint64_t address);
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

/* meet.c: how lanes part and meet; each function says more. */
bool meet_arrive(struct warp *warp);
bool meet_early(struct warp *warp, const struct op *op);
void meet_part(struct warp *warp, uint32_t away, const struct op *target, uint32_t meets);
void meet_settle(struct warp *warp, struct record *record);
void meet_forget(struct warp *warp, struct record *record, uint32_t mask);
bool warp_release(struct warp *warp); /* lanes that wait for others go on alone; false: none did */

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
                          unsigned bytes, bool is_cas);
/* How many wavefronts the banks of shared memory need; shared_count() adds them up. */
unsigned shared_wavefronts(const struct touched *touched, unsigned bytes, bool is_store);
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

#endif

/* lower.h - from PTX instructions to ops: what the files of the lowering share. */
#ifndef SPILLWAY_EMULATOR_LOWER_H
#define SPILLWAY_EMULATOR_LOWER_H

#include "emulator/machine.h"
#include "emulator/opcodes.h"

struct lowering {
    struct emulator *emulator;
    struct kernel *kernel;
    struct arena *arena; /* the kernel's */
    const struct ptx_body *body;
    struct program *program;
    bool failed;   /* no memory */
    bool hopeless; /* the refusal is about the function as a whole */
    size_t op_capacity;
    uint32_t *slots;   /* per register of the function: its offset; UINT32_MAX: not used */
    uint32_t *defined; /* per register: offset of its defined mask; UINT32_MAX: always defined */
    bool *doubtful, *invariant; /* per register: it may be read undefined; see invariants.c */
    size_t invariant_capacity;
    uint32_t spare_predicates, spare_predicate_bytes;
    struct constant *constants;
    size_t constant_count, constant_capacity;
    uint32_t *constant_slots; /* hash: index + 1 */
    size_t constant_slot_count;
    uint32_t temporaries[WIDTH_COUNT][16];
    unsigned temporary_count[WIDTH_COUNT], temporary_used[WIDTH_COUNT];
    uint32_t *variable_offsets; /* per variable of the function: offset in its frame */
    const struct ptx_instruction *instruction; /* the one being lowered */
    size_t instruction_op;                     /* its first op */
    uint32_t carry;                            /* the carry flag, a predicate; 0: not used yet */
    uint32_t noted_run; /* the address register that the latest note_run() saw; or UINT32_MAX */
    const struct uniformity *uniformity; /* uniform.c; NULL: nobody has asked */
    const struct merged *merged;         /* merge.c; the same */
    uint32_t block;                      /* where it stands */
    uint32_t meets;                      /* where lanes meet that part in its block */
};

/* cfg.c: blocks and where the paths of each meet again. */
bool cfg_build(struct lowering *lowering);
/* fuse.c: adds what the body has; false: no memory. */
bool fuse_find(struct arena *arena, const struct ptx_body *body, struct emulator_fusable *ret);

bool cfg_is_jump(const struct ptx_instruction *instruction);
/* Calls visit(…) for each register that the instruction reads or writes, reads first. */
void cfg_visit_registers(const struct ptx_instruction *instruction,
                         void (*visit)(void *payload, const struct ptx_operand *operand,
                                       bool is_written),
                         void *payload);
/* Up to `room` successors of a block: indices; NO_BLOCK is the end of the function. */
struct cfg_successors {
    uint32_t *blocks;
    size_t count, capacity;
};
bool cfg_successors(struct lowering *lowering, uint32_t block, struct cfg_successors *ret);

/* registers.c: slots of the register file, shared by registers that are never alive together. */
bool registers_assign(struct lowering *lowering);

/* invariants.c: false without memory */
bool invariants_find(struct lowering *lowering);
bool invariants_take(struct lowering *lowering, const struct ptx_instruction *instruction,
                     size_t first);

/* uniform.c */
struct uniformity {          /* per register of the function */
    bool *varies;            /* from lane to lane */
    uint8_t *writes, *reads; /* 0, 1, or 2 for more */
};
const struct uniformity *uniform_find(struct lowering *lowering); /* NULL: no memory */
/* The same in all lanes: a register, an address, a number. */
bool uniform_operand(const struct uniformity *found, const struct ptx_operand *operand);
/* It computes its results from its operands (and the carry flag), and does nothing else. */
bool lower_is_computation(const struct ptx_instruction *instruction);

/* alignment.c */
#define ALIGNMENT_MAX 20
struct alignment {   /* per register of the function */
    uint8_t *zeros;  /* low bits that are 0 whatever happens, at most ALIGNMENT_MAX */
    bool *in_shared; /* an address in shared memory, maybe a generic one */
};
/* false: nothing is known, or no memory (then the lowering has failed). */
bool alignment_find(struct lowering *lowering, struct alignment *ret);
unsigned alignment_of(const struct alignment *found, const struct ptx_operand *operand);
bool alignment_is_shared(const struct alignment *found, const struct ptx_operand *operand);

/* merge.c: accesses that are counted together, or not at all. */
struct merged_access {
    bool is_merged; /* not counted by itself */
    uint8_t bytes;  /* of the wide access that is counted where this one stands; 0: none */
    uint8_t back;   /* where that begins: so many bytes before this one */
};
struct merged {
    struct merged_access *of; /* per instruction of the function; NULL: none is merged */
};
struct merge_detail {
    enum address_kind address;
    bool is_store;
    uint8_t bytes;
    int64_t offset;
};
/* Of the instruction that is being lowered, a load or a store. */
const struct merged_access *merge_find(struct lowering *lowering);
void merge_count(struct warp *warp, const struct op *op); /* a step; detail: struct merge_detail */

/* lower.c */
uint32_t lower_slot(struct lowering *lowering, enum width width); /* a new one */
uint32_t lower_temporary(struct lowering *lowering, enum width width);
struct op *lower_emit(struct lowering *lowering, enum op_class class);
struct op *lower_step(struct lowering *lowering, step_handler run);
/* Offset of the operand's value, as `width` wide; immediates are read as `type`. */
uint32_t lower_value(struct lowering *lowering, const struct ptx_operand *operand, enum width width,
                     enum ptx_type type);
/* Offset of a register that is written; `exact`: its width must be `width`. */
uint32_t lower_result(struct lowering *lowering, const struct ptx_operand *operand,
                      enum width width);
enum width lower_register_width(enum ptx_type type);
void lower_refuse(struct lowering *lowering, const char *format, ...) PRINTF_LIKE(2, 3);
bool lower_refused(const struct lowering *lowering);
uint32_t lower_constant(struct lowering *lowering, enum width width, uint64_t bits);
bool lower_function(struct lowering *lowering);
bool lower_has(const struct ptx_instruction *instruction, const char *modifier);
/* Index of the first of the names that is a modifier of the instruction; -1: none is. */
int lower_choose(const struct ptx_instruction *instruction, const char *const *names, size_t count);
enum ptx_type lower_type(const struct ptx_instruction *instruction); /* the last modifier's */
/* Emits the lane-wise instruction of that row name. */
void lower_row(struct lowering *lowering, const char *text, uint32_t d, uint32_t a, uint32_t b,
               uint32_t c, uint64_t imm);

struct row;
/* Emits a row with its operands; four sources. */
void lower_emit_row(struct lowering *lowering, const struct row *row, uint32_t d,
                    const uint32_t *sources, uint64_t imm);
enum ptx_type lower_modifier_type(const struct ptx_instruction *instruction, unsigned index);

/* One for each lowering named in opcodes.inc: emits the ops of the instruction, or refuses it. */
#define LOWER(name)                                                                                \
    void lower_##name(struct lowering *lowering, const struct ptx_instruction *instruction);
/* lower_lanes.c */
LOWER(lane_wise)
LOWER(arithmetic)
LOWER(extremum)
LOWER(lop3)
/* lower_video.c */
LOWER(video)
/* lower_predicates.c */
LOWER(setp)
LOWER(set)
LOWER(testp)
LOWER(logic)
/* lower_mov.c */
LOWER(mov)
/* predicates.c */
LOWER(carry)
LOWER(is_space)
/* lower_control.c */
LOWER(branch)
LOWER(branch_indexed)
LOWER(return )
LOWER(exit)
LOWER(trap)
LOWER(fence)
LOWER(hint)
LOWER(matrix)
LOWER(texture)
LOWER(cluster)
LOWER(bulk)
/* lower_call.c */
LOWER(call)
/* lower_memory.c */
LOWER(load)
LOWER(store)
LOWER(cvta)
LOWER(policy)
/* stack.c */
LOWER(stack_take)
LOWER(stack_save)
LOWER(stack_restore)
/* exchange.c */
LOWER(shuffle)
LOWER(vote)
LOWER(match)
LOWER(redux)
LOWER(elect)
LOWER(activemask)
/* barrier.c, async.c, atomics.c */
LOWER(barrier)
LOWER(copy)
LOWER(mbarrier)
LOWER(atomic)
#undef LOWER

/* lower_lanes.c: the first type among the modifiers; and the value with its subnormal numbers
 * flushed, as .ftz wants it. */
enum ptx_type lower_first_type(const struct ptx_instruction *instruction);
uint32_t lower_flushed(struct lowering *lowering, uint32_t value, enum ptx_type type);

/* lower_call.c: parameters that are registers, at the beginning and the end of a function. */
unsigned lower_formal_bytes(const struct ptx_symbol *formal);
void lower_receive_formals(struct lowering *lowering);
void lower_give_results(struct lowering *lowering);

/* lower_control.c */
void lower_jump(struct lowering *lowering, jump_handler run, uint32_t target);
/* A fence if the access has `word` (acquire: call it behind the access; release: before it). */
void lower_order(struct lowering *lowering, const struct ptx_instruction *instruction,
                 const char *word);
/* Lanes whose guard holds (or not, with `negate`) go to block `target`. */
void lower_guard_branch(struct lowering *lowering, const struct ptx_operand *guard, bool negate,
                        uint32_t target, uint32_t meets);

/* predicates.c: d = a OP b over predicates; 0 and, 1 or, 2 xor */
void predicate_logic(struct lowering *lowering, unsigned boolean, uint32_t d, uint32_t a,
                     uint32_t b);

/* exchange.c: bar.warp.sync */
void exchange_lower_warp_barrier(struct lowering *lowering, const struct ptx_operand *mask);

/* lower_memory.c */
/* The address of a variable plus `offset`, as access->address and access->offset. */
void lower_variable_address(struct lowering *lowering, const struct ptx_symbol *symbol,
                            uint64_t offset, struct access *access);
/* The address operand, for instructions of other files: fills space, kind and offset; returns the
 * offset of the register with the base (0 if there is none). */
uint32_t lower_address(struct lowering *lowering, const struct ptx_operand *operand,
                       struct access *access);

#endif

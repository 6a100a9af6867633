/* program.h - what a kernel is lowered to: functions as arrays of ops, memory instructions, calls.
 * machine.h says how it is executed. All of it lives in the arena of the kernel. */
#ifndef SPILLWAY_EMULATOR_PROGRAM_H
#define SPILLWAY_EMULATOR_PROGRAM_H

#include "emulator/caps.h"
#include "emulator/emulator.h"
#include "emulator/ptx_ast.h"

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

/* A lane-wise operation computes all 32 lanes into `out` and knows nothing of masks. */
typedef void (*lane_handler)(const uint8_t *registers, const struct op *op, void *out);
/* Anything else looks at warp->active itself. A step goes on with the next op; a jump returns the
 * op to go on with, or NULL when the warp has to look for another group. */
typedef void (*step_handler)(struct warp *warp, const struct op *op);
typedef const struct op *(*jump_handler)(struct warp *warp, const struct op *op);

enum op_class { OP_LANES, OP_STEP, OP_JUMP };

/* How wide one lane of a register is. */
enum width { WIDTH_PREDICATE, WIDTH_16, WIDTH_32, WIDTH_64, WIDTH_128, WIDTH_COUNT };

static inline unsigned width_bytes(enum width width) /* of one lane */
{
    static const unsigned bytes[] = {4, 2, 4, 8, 16};
    return bytes[width];
}

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
    uint32_t local_padding;     /* behind what a kernel declares: nobody may touch it */
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

#endif

/* ptx_ast.h - a parsed module: functions, variables, instructions. Everything lives in the module's
 * arena. The public view of it is ptx.h; this one is for the emulator, which lowers it. */
#ifndef SPILLWAY_PTX_AST_H
#define SPILLWAY_PTX_AST_H

#include "emulator/arena.h"
#include "emulator/ptx.h"
#include "emulator/ptx_types.h"

/* Where an instruction comes from, as the latest .loc before it says. */
struct ptx_location {
    unsigned file, line;                 /* file: the number of a .file directive */
    unsigned inlined_file, inlined_line; /* where it was inlined; 0: it was not */
    const struct ptx_location *caller;   /* the same as a location; NULL: there is none */
    const struct ptx_location *before;   /* in the text */
    unsigned shown_file, shown_line; /* for people: in the file where the function begins, if it is
                                        reached by inlining */
};

enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTER, /* one register, or a bank: %r<10> */
    PTX_SYMBOL_VARIABLE, /* .global .const .shared .local .param, and parameters of functions */
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_FUNCTION,
    PTX_SYMBOL_PROTOTYPE, /* .callprototype */
    PTX_SYMBOL_TARGETS,   /* .branchtargets, .calltargets */
};

struct ptx_initialiser {             /* one scalar of an initialised variable */
    uint64_t value;                  /* or what is added to the symbol's address */
    const char *symbol;              /* NULL: a plain value */
    const struct ptx_symbol *target; /* what `symbol` names: a variable or a function */
    unsigned line;
    bool generic;        /* the generic address is wanted */
    unsigned mask_shift; /* mask operator 0xFF00(symbol): bits to shift right; 0xff: whole */
};

struct ptx_symbol {
    enum ptx_symbol_kind kind;
    const char *name;
    unsigned line;
    unsigned scope;              /* the scope it was declared in; 0: the module */
    struct ptx_symbol *shadowed; /* the parser's: what the name meant before */
    struct ptx_symbol *next;     /* the parser's: declared in the same scope */

    /* Registers and variables */
    enum ptx_type type;
    unsigned vector;       /* 1, 2, 4 */
    unsigned first, count; /* PTX_SYMBOL_REGISTER: numbers in the function; count 0: not a bank */

    /* Variables */
    enum ptx_space space;
    uint64_t elements, bytes;
    unsigned align;
    bool is_extern, is_formal, is_return; /* is_formal: a parameter of the function */
    bool unsized;                         /* [] */
    struct ptx_initialiser *initialiser;
    size_t initialiser_count;       /* scalars given; the rest is zero */
    const struct ptx_symbol *owner; /* the function it stands in; NULL: module scope */
    unsigned number;                /* index among the variables of its function or module */

    /* Labels */
    unsigned position; /* index of the instruction that follows */

    /* Functions */
    struct ptx_body *body; /* shared by a declaration and the definition that follows it */

    /* Targets and prototypes */
    const struct ptx_operand *targets;
    size_t target_count;
};

enum ptx_operand_kind {
    PTX_OPERAND_REGISTER, /* symbol, index: the number in the function; component: .x of a vector */
    PTX_OPERAND_SPECIAL,  /* %tid.x: name */
    PTX_OPERAND_INTEGER,  /* value */
    PTX_OPERAND_FLOAT,    /* value: f64 bits */
    PTX_OPERAND_FLOAT32,  /* value: f32 bits */
    PTX_OPERAND_SYMBOL,   /* variable, label or function, plus `value` */
    PTX_OPERAND_ADDRESS,  /* [children[0] + value]; more children in tensor forms */
    PTX_OPERAND_VECTOR,   /* { children } */
    PTX_OPERAND_LIST,     /* ( children ) of a call */
    PTX_OPERAND_SINK,     /* _ */
    PTX_OPERAND_PAIR,     /* children[0] | children[1] */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated;     /* !p, or -r of vmad; an integer or a float has the sign in its value */
    char component;   /* 'x' … 'w'; NUL: none */
    const char *part; /* of a video instruction's register: "b0", "h32"; NULL: all of it */
    unsigned index;
    uint64_t value;
    const char *name;     /* as written, for messages and for what is resolved later */
    unsigned scope, line; /* where the name stands */
    const struct ptx_symbol *symbol;
    struct ptx_operand *children;
    size_t child_count;
};

struct ptx_instruction {
    const char *text;             /* "ld.global.f32" */
    const char *opcode;           /* "ld" */
    const struct opcode *known;   /* what opcodes.inc says of it; NULL: nothing */
    const char *const *modifiers; /* "global", "f32" */
    unsigned modifier_count;
    const struct ptx_operand *guard; /* a register operand; NULL: none. negated: @!p */
    struct ptx_operand *operands;
    size_t operand_count;
    unsigned line;                       /* in the PTX text */
    const struct ptx_location *location; /* NULL: no .loc before it */
    bool inline_asm;
};

/* A function, its public face first. */
struct ptx_body {
    struct ptx_function face; /* what ptx_function_at() hands out */
    unsigned number;          /* in the module */
    struct ptx_symbol *symbol;
    struct ptx_symbol **formals; /* as declared */
    size_t formal_count;
    struct ptx_symbol **returns;
    size_t return_count;
    bool has_body;
    struct ptx_instruction *instructions;
    size_t instruction_count, instruction_capacity;
    unsigned register_count;       /* numbers given out */
    struct ptx_symbol **registers; /* their declarations, in order */
    size_t register_symbol_count, register_symbol_capacity;
    struct ptx_symbol **variables; /* declared inside, formals included */
    size_t variable_count, variable_capacity;
    const struct ptx_location *first_location;
    struct ptx_body *next;
};

struct ptx_file {
    unsigned number;
    const char *path;
};

struct ptx_module {
    struct arena arena;
    char *text;
    size_t length;
    const char *target;
    bool is_debug;    /* .target sm_75, debug: ptxas does not optimise it */
    unsigned version; /* 90 for 9.0 */
    unsigned address_bytes;
    struct ptx_body **bodies;
    size_t body_count, body_capacity;
    struct ptx_symbol **variables; /* at module scope */
    struct ptx_variable *variable_faces;
    size_t variable_count, variable_capacity;
    struct ptx_pragma *pragmas;
    size_t pragma_count, pragma_capacity;
    struct ptx_file *files;
    size_t file_count, file_capacity;
};

/* Path of a .file number; NULL when there is none. */
const char *ptx_file_path(const struct ptx_module *module, unsigned number);

/* Decides which module variables are written by the kernels (ptx_usage.c). -1: no memory. */
int ptx_find_written(struct ptx_module *module);

#endif

/* ptx.h - the PTX front end: text to a module of functions, variables and instructions.
 *
 * Used by the emulator, and by audit.c to judge what a submission's device code holds. The text is
 * hostile: sizes, nesting and counts are capped (emulator/caps.h), and what cannot be parsed is an
 * error with a line number, never a crash. An instruction that the emulator does not know is no
 * error here: it is kept, and refused when a thread comes to it.
 * Source: "PTX ISA", NVIDIA. */
#ifndef SPILLWAY_PTX_H
#define SPILLWAY_PTX_H

#include "emulator/ptx_types.h"
#include "errors.h"

enum ptx_space {
    PTX_SPACE_NONE,
    PTX_REG,
    PTX_PARAM,
    PTX_CONST,
    PTX_GLOBAL,
    PTX_LOCAL,
    PTX_SHARED,
    PTX_GENERIC
};

struct ptx_parameter {
    const char *name;
    unsigned bytes; /* whole size, arrays included */
    unsigned align;
    enum ptx_type type; /* of one element */
};

struct ptx_variable { /* at module scope, or a .global or .const inside a function */
    const char *name;
    enum ptx_space space;
    uint64_t bytes;
    bool is_extern, has_initialiser;
    bool is_written; /* a store or atomic in the module may target it */
    unsigned line;
};

struct ptx_pragma {
    const char *text;     /* between the quotes, unescaped */
    const char *function; /* the function it stands in; NULL at module scope */
    unsigned line;
};

struct ptx_function {
    const char *name;
    bool is_entry, is_extern;    /* extern: declared without a body */
    unsigned line;               /* of the directive, in the PTX text */
    size_t body_begin, body_end; /* byte offsets of '{' and of '}'; both 0 without a body */
    size_t directives_end;       /* byte offset where a directive may be inserted (before '{') */
    const struct ptx_parameter *parameters;
    size_t parameter_count;
    unsigned max_threads[3];      /* .maxntid; all 0: none. Dimensions left out are 1 */
    unsigned required_threads[3]; /* .reqntid */
    unsigned min_blocks;          /* .minnctapersm; 0: none */
    unsigned max_registers;       /* .maxnreg; 0: none */
    uint64_t shared_bytes; /* static shared memory declared in the body, each variable rounded up to
                              16 bytes, as padding may */
    uint64_t local_bytes;  /* local memory declared in the body, without padding */
    unsigned inline_asm_line; /* source line (or PTX line) of the first inline assembly; 0: none */
    const char *inline_asm_file; /* the source file of that line; NULL: it is a PTX line */
    unsigned inline_asm_count;   /* how many asm statements */
    bool calls_vprintf, calls_malloc, calls_free, calls_assert, calls_other;
    const char *calls_other_name; /* the first extern function that is none of the above; or NULL */
};

struct ptx_module; /* owns every string above */

/* Returns NULL and fills *err (kind INFRASTRUCTURE only for no memory; otherwise ERROR_USAGE with
 * "line N: …", since the text is at fault). The text is copied. */
struct ptx_module *ptx_parse(const char *text, size_t length, struct error *err);
void ptx_free(struct ptx_module *module);

/* A function that is declared and defined counts once. */
size_t ptx_function_count(const struct ptx_module *module);
const struct ptx_function *ptx_function_at(const struct ptx_module *module, size_t index);
const struct ptx_function *ptx_function_find(const struct ptx_module *module, const char *name);
size_t ptx_variable_count(const struct ptx_module *module);
const struct ptx_variable *ptx_variable_at(const struct ptx_module *module, size_t index);
size_t ptx_pragma_count(const struct ptx_module *module);
const struct ptx_pragma *ptx_pragma_at(const struct ptx_module *module, size_t index);
const char *ptx_target(const struct ptx_module *module); /* "sm_75"; "" when the text has none */

#endif

/* ptx_parser.h - what the files of the parser share. Nobody else includes it.
 *
 * On the first error (or when memory is short) `failed` is set and the lexer is moved to the end of
 * the text, so that every loop ends by itself; functions may go on with what they have. */
#ifndef SPILLWAY_PTX_PARSER_H
#define SPILLWAY_PTX_PARSER_H

#include "emulator/caps.h"
#include "emulator/ptx_ast.h"
#include "emulator/ptx_lexer.h"

struct ptx_name { /* an identifier of the text, once */
    const char *text;
    size_t length;
    struct ptx_symbol *symbol; /* what it means in the current scope; labels are kept apart */
    struct ptx_symbol *label;  /* of the function label_of; its text carries the scope's number */
    const struct ptx_body *label_of;
    struct ptx_name *next; /* same hash */
};

struct ptx_scope {
    unsigned number;
    struct ptx_symbol *declared; /* chained by `next` */
};

struct ptx_parser {
    struct ptx_module *module;
    struct arena *arena; /* the module's */
    struct ptx_lexer lexer;
    struct error *err;
    bool failed;

    struct ptx_name **buckets;
    size_t bucket_count;

    struct ptx_scope scopes[CAP_SCOPE_DEPTH];
    unsigned scope_depth;    /* 0: module */
    unsigned *scope_parents; /* of scope numbers of the current function */
    size_t scope_count, scope_capacity;

    struct ptx_body *body; /* the function being parsed; NULL at module scope */
    const struct ptx_location *location;
    struct ptx_operand **pending; /* names of the current function that nothing explains yet */
    size_t pending_count, pending_capacity;
    size_t instruction_count, variable_count; /* of the whole module */
};

/* ptx_names.c: tokens and names */
void ptx_fail(struct ptx_parser *parser, unsigned line, const char *format, ...) PRINTF_LIKE(3, 4);
void ptx_fail_memory(struct ptx_parser *parser);
/* "expected X, found Y" at the current token. */
void ptx_expected(struct ptx_parser *parser, const char *what);
struct ptx_name *ptx_name_of(struct ptx_parser *parser, const char *text, size_t length);
void ptx_scope_open(struct ptx_parser *parser);
void ptx_scope_close(struct ptx_parser *parser);
/* Makes the name mean the symbol in the current scope; a second meaning in one scope fails. */
void ptx_declare(struct ptx_parser *parser, struct ptx_symbol *symbol);
struct ptx_symbol *ptx_symbol_new(struct ptx_parser *parser, enum ptx_symbol_kind kind,
                                  const struct ptx_token *token);
bool ptx_at(const struct ptx_parser *parser, char punctuation);
bool ptx_token_is(const struct ptx_token *token, const char *text);
bool ptx_at_dotted(const struct ptx_parser *parser, const char *text);
bool ptx_accept(struct ptx_parser *parser, char punctuation);
void ptx_require(struct ptx_parser *parser, char punctuation);
uint64_t ptx_require_integer(struct ptx_parser *parser, uint64_t max, const char *what);
void ptx_skip_balanced(struct ptx_parser *parser, char open, char close);

/* ptx_directives.c */
void ptx_parse_location(struct ptx_parser *parser);
void ptx_parse_pragma(struct ptx_parser *parser);
void ptx_parse_file(struct ptx_parser *parser);

/* ptx_constant.c */
struct ptx_constant {
    bool is_float, is_float32;
    uint64_t value; /* bits */
    const char *symbol;
    bool generic;
    unsigned mask_shift;
    uint64_t mask; /* 0: none */
};
struct ptx_constant ptx_parse_constant(struct ptx_parser *parser, unsigned depth);

/* ptx_declare.c */
/* True when the current token is .reg, .global and the like. */
bool ptx_at_space(const struct ptx_parser *parser);
/* Gives a register its numbers in the function that is being parsed. */
void ptx_number_register(struct ptx_parser *parser, struct ptx_symbol *symbol);
/* One or more declarators up to and with the ';'. */
void ptx_parse_declaration(struct ptx_parser *parser, bool is_extern);
/* "(" .param … ")": NULL-safe, adds to the list. In a prototype, names are not declared. */
void ptx_parse_parameters(struct ptx_parser *parser, struct ptx_symbol ***list, size_t *count,
                          bool is_return, bool prototype);

/* ptx_operand.c. `budget`: how many more operands the instruction may have. */
struct ptx_operand_list {
    struct ptx_operand *items;
    size_t count, capacity;
};
struct ptx_operand ptx_parse_operand(struct ptx_parser *parser, unsigned depth, size_t *budget);
void ptx_add_operand(struct ptx_parser *parser, struct ptx_operand_list *list,
                     const struct ptx_operand *operand);

/* ptx_body.c */
void ptx_parse_body(struct ptx_parser *parser);

#endif

/* ptx_lexer.h - PTX text to tokens, one at a time, with one token of look-ahead.
 *
 * Never fails: a character that PTX does not have becomes a PTX_TOKEN_BAD, and the parser says
 * where. Comments are skipped, but the markers that nvcc writes around inline assembly are noted.
 */
#ifndef SPILLWAY_PTX_LEXER_H
#define SPILLWAY_PTX_LEXER_H

#include "base.h"

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,        /* add, %r1, $L__BB0_2, _ */
    PTX_TOKEN_DOTTED,      /* .global, .L2::128B; the text begins after the dot */
    PTX_TOKEN_INTEGER,     /* value */
    PTX_TOKEN_FLOAT,       /* value: the bits of an f64 */
    PTX_TOKEN_FLOAT32,     /* 0f…: value: the bits of an f32 */
    PTX_TOKEN_STRING,      /* the text between the quotes, escapes as written */
    PTX_TOKEN_PUNCTUATION, /* `punctuation` */
    PTX_TOKEN_BAD
};

struct ptx_token {
    enum ptx_token_kind kind;
    char punctuation;
    const char *text; /* into the source */
    size_t length;
    uint64_t value;
    bool is_unsigned; /* an integer with a U at its end */
    unsigned line;
    size_t offset; /* of its first byte */
    bool glued;    /* no blank between the token before and this one */
};

struct ptx_lexer {
    const char *text;
    size_t length, position;
    unsigned line;
    struct ptx_token token;   /* the current one */
    unsigned inline_asm_line; /* PTX line of the latest marker not yet taken; 0: none */
    bool in_inline_asm;       /* between the two markers */
};

void ptx_lexer_start(struct ptx_lexer *lexer, const char *text, size_t length);
void ptx_lexer_advance(struct ptx_lexer *lexer);

#endif

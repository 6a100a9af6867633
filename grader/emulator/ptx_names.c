/* ptx_names.c - the parser's tokens and names: what is expected, what is found, what a name means
 * in the scope that is open. */
#include "emulator/ptx_parser.h"

#include <stdarg.h>

/* ---- Errors and tokens ---------------------------------------------------------------------- */

void ptx_fail(struct ptx_parser *parser, unsigned line, const char *format, ...)
{
    if (!parser->failed) {
        char text[768];
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        (void)error_set(parser->err, ERROR_USAGE, "line %u: %s", line, text);
    }
    parser->failed = true;
    parser->lexer.position = parser->lexer.length;
    ptx_lexer_advance(&parser->lexer);
}

void ptx_fail_memory(struct ptx_parser *parser)
{
    if (!parser->failed && parser->arena->total_bytes > CAP_ARENA_BYTES / 2)
        ptx_fail(parser, parser->lexer.token.line, "the PTX needs more memory than is allowed");
    else if (!parser->failed)
        (void)error_no_memory(parser->err);
    parser->failed = true;
    parser->lexer.position = parser->lexer.length;
    ptx_lexer_advance(&parser->lexer);
}

/* Puts a token into a message: its beginning, with anything odd replaced. */
static const char *quote(const struct ptx_token *token, char room[48])
{
    if (token->kind == PTX_TOKEN_END)
        return "the end of the text";
    size_t n = 0;
    room[n++] = '`';
    if (token->kind == PTX_TOKEN_DOTTED)
        room[n++] = '.';
    for (size_t i = 0; i < token->length && i < 36; ++i) {
        char c = token->text[i];
        room[n++] = c >= ' ' && c <= '~' ? c : '?';
    }
    room[n++] = '`';
    room[n] = '\0';
    return room;
}

void ptx_expected(struct ptx_parser *parser, const char *what)
{
    char room[48];
    const struct ptx_token token = parser->lexer.token;
    ptx_fail(parser, token.line, "expected %s, found %s", what, quote(&token, room));
}

bool ptx_at(const struct ptx_parser *parser, char punctuation)
{
    return parser->lexer.token.kind == PTX_TOKEN_PUNCTUATION &&
           parser->lexer.token.punctuation == punctuation;
}

bool ptx_token_is(const struct ptx_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool ptx_at_dotted(const struct ptx_parser *parser, const char *text)
{
    return parser->lexer.token.kind == PTX_TOKEN_DOTTED && ptx_token_is(&parser->lexer.token, text);
}

bool ptx_accept(struct ptx_parser *parser, char punctuation)
{
    bool there = ptx_at(parser, punctuation);
    if (there)
        ptx_lexer_advance(&parser->lexer);
    return there;
}

void ptx_require(struct ptx_parser *parser, char punctuation)
{
    const char what[] = {'`', punctuation, '`', '\0'};
    if (!ptx_accept(parser, punctuation))
        ptx_expected(parser, what);
}

uint64_t ptx_require_integer(struct ptx_parser *parser, uint64_t max, const char *what)
{
    const struct ptx_token token = parser->lexer.token;
    if (token.kind != PTX_TOKEN_INTEGER) {
        ptx_expected(parser, what);
        return 0;
    }
    if (token.value > max) {
        ptx_fail(parser, token.line, "%s: %llu is more than the %llu that we accept", what,
                 (unsigned long long)token.value, (unsigned long long)max);
        return 0;
    }
    ptx_lexer_advance(&parser->lexer);
    return token.value;
}

void ptx_skip_balanced(struct ptx_parser *parser, char open, char close)
{
    unsigned line = parser->lexer.token.line;
    size_t depth = 0;
    do {
        if (ptx_at(parser, open))
            ++depth;
        else if (ptx_at(parser, close))
            --depth;
        if (parser->lexer.token.kind == PTX_TOKEN_END) {
            ptx_fail(parser, line, "`%c` without its `%c`", open, close);
            return;
        }
        ptx_lexer_advance(&parser->lexer);
    } while (depth > 0);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static size_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 29);
}

static void names_grow(struct ptx_parser *parser)
{
    size_t count = parser->bucket_count * 2;
    struct ptx_name **buckets = calloc(count, sizeof(struct ptx_name *));
    if (buckets == NULL)
        return; /* longer chains, still right */
    for (size_t i = 0; i < parser->bucket_count; ++i)
        for (struct ptx_name *name = parser->buckets[i], *next = NULL; name != NULL; name = next) {
            next = name->next;
            size_t slot = hash_of(name->text, name->length) & (count - 1);
            name->next = buckets[slot];
            buckets[slot] = name;
        }
    free(parser->buckets);
    parser->buckets = buckets;
    parser->bucket_count = count;
}

struct ptx_name *ptx_name_of(struct ptx_parser *parser, const char *text, size_t length)
{
    static struct ptx_name none = {.text = ""};
    size_t slot = hash_of(text, length) & (parser->bucket_count - 1);
    size_t chain = 0;
    for (struct ptx_name *name = parser->buckets[slot]; name != NULL; name = name->next, ++chain)
        if (name->length == length && memcmp(name->text, text, length) == 0)
            return name;
    if (length > CAP_NAME_BYTES) {
        ptx_fail(parser, parser->lexer.token.line, "a name of %zu characters is too long", length);
        return &none;
    }
    struct ptx_name *name = arena_alloc(parser->arena, sizeof *name);
    const char *copy = arena_text(parser->arena, text, length);
    if (name == NULL || copy == NULL) {
        ptx_fail_memory(parser);
        return &none;
    }
    *name = (struct ptx_name){.text = copy, .length = length, .next = parser->buckets[slot]};
    parser->buckets[slot] = name;
    if (chain > 4 && parser->bucket_count < (size_t)1 << 22)
        names_grow(parser);
    return name;
}

void ptx_scope_open(struct ptx_parser *parser)
{
    if (parser->scope_depth + 1 >= CAP_SCOPE_DEPTH) {
        ptx_fail(parser, parser->lexer.token.line, "more than %d scopes inside one another",
                 CAP_SCOPE_DEPTH - 1);
        return;
    }
    unsigned *parents = arena_grow(parser->arena, parser->scope_parents, parser->scope_count,
                                   &parser->scope_capacity, sizeof *parents);
    if (parents == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    parser->scope_parents = parents;
    unsigned number = (unsigned)parser->scope_count++;
    parents[number] = parser->scopes[parser->scope_depth].number;
    parser->scopes[++parser->scope_depth] = (struct ptx_scope){.number = number};
}

void ptx_scope_close(struct ptx_parser *parser)
{
    if (parser->scope_depth == 0)
        return;
    struct ptx_scope *scope = &parser->scopes[parser->scope_depth--];
    for (struct ptx_symbol *symbol = scope->declared; symbol != NULL; symbol = symbol->next)
        ptx_name_of(parser, symbol->name, strlen(symbol->name))->symbol = symbol->shadowed;
}

struct ptx_symbol *ptx_symbol_new(struct ptx_parser *parser, enum ptx_symbol_kind kind,
                                  const struct ptx_token *token)
{
    struct ptx_symbol *symbol = arena_alloc(parser->arena, sizeof *symbol);
    if (symbol == NULL) {
        ptx_fail_memory(parser);
        return NULL;
    }
    symbol->kind = kind;
    symbol->line = token->line;
    symbol->name = ptx_name_of(parser, token->text, token->length)->text;
    symbol->scope = parser->scopes[parser->scope_depth].number;
    symbol->vector = 1;
    return symbol;
}

void ptx_declare(struct ptx_parser *parser, struct ptx_symbol *symbol)
{
    struct ptx_name *name = ptx_name_of(parser, symbol->name, strlen(symbol->name));
    if (parser->failed)
        return;
    struct ptx_scope *scope = &parser->scopes[parser->scope_depth];
    if (name->symbol != NULL && name->symbol->scope == scope->number) {
        bool again = scope->number == 0 && (symbol->is_extern || name->symbol->is_extern);
        if (!again) {
            ptx_fail(parser, symbol->line, "`%.200s` is declared twice (first in line %u)",
                     symbol->name, name->symbol->line);
            return;
        }
    }
    symbol->shadowed = name->symbol;
    symbol->next = scope->declared;
    scope->declared = symbol;
    name->symbol = symbol;
}

/* ptx_directives.c - directives that may stand anywhere: .loc, .pragma, .file. */
#include "emulator/ptx_parser.h"

static unsigned accept_integer(struct ptx_parser *parser)
{
    unsigned value = 0;
    if (parser->lexer.token.kind == PTX_TOKEN_INTEGER) {
        value = (unsigned)parser->lexer.token.value;
        ptx_lexer_advance(&parser->lexer);
    }
    return value;
}

/* .loc FILE LINE COLUMN [, function_name LABEL [+ N], inlined_at FILE LINE COLUMN] */
void ptx_parse_location(struct ptx_parser *parser)
{
    struct ptx_location *location = arena_alloc(parser->arena, sizeof *location);
    if (location == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    ptx_lexer_advance(&parser->lexer);
    location->file = accept_integer(parser);
    location->line = accept_integer(parser);
    (void)accept_integer(parser);
    while (ptx_accept(parser, ',')) {
        bool inlined = ptx_token_is(&parser->lexer.token, "inlined_at");
        if (parser->lexer.token.kind != PTX_TOKEN_NAME) {
            ptx_expected(parser, "function_name or inlined_at");
            return;
        }
        ptx_lexer_advance(&parser->lexer);
        if (inlined) {
            location->inlined_file = accept_integer(parser);
            location->inlined_line = accept_integer(parser);
            (void)accept_integer(parser);
        } else if (parser->lexer.token.kind == PTX_TOKEN_NAME) {
            ptx_lexer_advance(&parser->lexer);
            if (ptx_accept(parser, '+'))
                (void)accept_integer(parser);
        }
    }
    location->before = parser->location;
    const struct ptx_location *caller = location->inlined_line != 0 ? location->before : NULL;
    for (unsigned i = 0; caller != NULL && i < 16; ++i, caller = caller->before)
        if (caller->file == location->inlined_file && caller->line == location->inlined_line) {
            location->caller = caller;
            break;
        }
    /* Line 0 means "nowhere in particular": keep the line before it. */
    if (location->line == 0 && parser->location != NULL)
        return;
    parser->location = location;
    if (parser->body != NULL && parser->body->first_location == NULL)
        parser->body->first_location = location;
    location->shown_file = location->file;
    location->shown_line = location->line;
    const struct ptx_location *first = parser->body == NULL ? NULL : parser->body->first_location;
    for (const struct ptx_location *at = location; first != NULL && at != NULL; at = at->caller) {
        if (at->file != first->file && at->inlined_file != first->file)
            continue;
        const bool here = at->file == first->file;
        location->shown_file = first->file;
        location->shown_line = here ? at->line : at->inlined_line;
        break;
    }
}

static char *unescape(struct ptx_parser *parser, const struct ptx_token *token)
{
    char *text = arena_text(parser->arena, token->text, token->length);
    if (text == NULL) {
        ptx_fail_memory(parser);
        return NULL;
    }
    size_t n = 0;
    for (size_t i = 0; i < token->length; ++i) {
        char c = token->text[i];
        if (c == '\\' && i + 1 < token->length) {
            c = token->text[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
        text[n++] = c == '\0' ? '?' : c;
    }
    text[n] = '\0';
    return text;
}

/* .pragma "text" [, "text"] ; */
void ptx_parse_pragma(struct ptx_parser *parser)
{
    ptx_lexer_advance(&parser->lexer);
    do {
        const struct ptx_token token = parser->lexer.token;
        if (token.kind != PTX_TOKEN_STRING) {
            ptx_expected(parser, "a string after .pragma");
            return;
        }
        struct ptx_module *module = parser->module;
        struct ptx_pragma *list = arena_grow(parser->arena, module->pragmas, module->pragma_count,
                                             &module->pragma_capacity, sizeof *module->pragmas);
        char *text = unescape(parser, &token);
        if (list == NULL || text == NULL) {
            ptx_fail_memory(parser);
            return;
        }
        module->pragmas = list;
        list[module->pragma_count++] =
            (struct ptx_pragma){.text = text,
                                .function = parser->body == NULL ? NULL : parser->body->face.name,
                                .line = token.line};
        ptx_lexer_advance(&parser->lexer);
    } while (ptx_accept(parser, ','));
    ptx_require(parser, ';');
}

/* .file NUMBER "path" [, TIME, SIZE] */
void ptx_parse_file(struct ptx_parser *parser)
{
    ptx_lexer_advance(&parser->lexer);
    unsigned number = (unsigned)ptx_require_integer(parser, UINT32_MAX, "the number of a .file");
    const struct ptx_token token = parser->lexer.token;
    if (token.kind != PTX_TOKEN_STRING) {
        ptx_expected(parser, "the path of a .file");
        return;
    }
    struct ptx_module *module = parser->module;
    struct ptx_file *files = arena_grow(parser->arena, module->files, module->file_count,
                                        &module->file_capacity, sizeof *files);
    char *path = unescape(parser, &token);
    if (files == NULL || path == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    module->files = files;
    if (module->file_count < CAP_FILES)
        files[module->file_count++] = (struct ptx_file){.number = number, .path = path};
    ptx_lexer_advance(&parser->lexer);
    while (ptx_accept(parser, ','))
        (void)accept_integer(parser);
}

/* ptx_parser.c - modules: directives, functions, and the names they declare.
 *
 * The parser is a recursive descent whose only recursions are bounded (scopes, constant
 * expressions, operands). Names are looked up while parsing; labels and functions that are declared
 * later are explained at the end of the function. Grammar: PTX ISA, chapters 4, 5 and 11. */
#include "emulator/ptx_parser.h"

/* ---- Functions ------------------------------------------------------------------------------ */

static void parse_dimensions(struct ptx_parser *parser, unsigned dimensions[3])
{
    dimensions[0] = dimensions[1] = dimensions[2] = 1;
    unsigned i = 0;
    do {
        uint64_t value = ptx_require_integer(parser, UINT32_MAX, "a number of threads");
        if (i < 3)
            dimensions[i++] = (unsigned)value;
    } while (ptx_accept(parser, ','));
}

/* Performance-tuning directives between the parameters and the body. */
static void parse_function_directives(struct ptx_parser *parser, struct ptx_function *face)
{
    while (parser->lexer.token.kind == PTX_TOKEN_DOTTED && !parser->failed) {
        if (ptx_at_dotted(parser, "pragma")) {
            ptx_parse_pragma(parser);
            continue;
        }
        const struct ptx_token token = parser->lexer.token;
        ptx_lexer_advance(&parser->lexer);
        unsigned ignored[3];
        if (ptx_token_is(&token, "maxntid"))
            parse_dimensions(parser, face->max_threads);
        else if (ptx_token_is(&token, "reqntid"))
            parse_dimensions(parser, face->required_threads);
        else if (ptx_token_is(&token, "minnctapersm"))
            face->min_blocks =
                (unsigned)ptx_require_integer(parser, UINT32_MAX, "a number of blocks");
        else if (ptx_token_is(&token, "maxnreg"))
            face->max_registers =
                (unsigned)ptx_require_integer(parser, UINT32_MAX, "a number of registers");
        else if (parser->lexer.token.kind == PTX_TOKEN_INTEGER)
            parse_dimensions(parser, ignored); /* .maxclusterrank 8 and what comes after it */
    }
}

static struct ptx_body *function_named(struct ptx_parser *parser, const struct ptx_token *token)
{
    struct ptx_name *name = ptx_name_of(parser, token->text, token->length);
    /* A parameter may have the function's own name, and hides it until the function ends. */
    struct ptx_symbol *hiding = name->symbol, **module_wide = &name->symbol;
    while (*module_wide != NULL && (*module_wide)->scope != 0)
        module_wide = &(*module_wide)->shadowed;
    if (*module_wide != NULL && (*module_wide)->kind == PTX_SYMBOL_FUNCTION)
        return (*module_wide)->body;
    struct ptx_module *module = parser->module;
    struct ptx_body **list = arena_grow(parser->arena, module->bodies, module->body_count,
                                        &module->body_capacity, sizeof(struct ptx_body *));
    struct ptx_body *body = arena_alloc(parser->arena, sizeof *body);
    struct ptx_symbol *symbol = ptx_symbol_new(parser, PTX_SYMBOL_FUNCTION, token);
    if (list == NULL || body == NULL || symbol == NULL) {
        ptx_fail_memory(parser);
        return NULL;
    }
    module->bodies = list;
    if (module->body_count >= CAP_FUNCTIONS) {
        ptx_fail(parser, token->line, "more than %d functions", CAP_FUNCTIONS);
        return NULL;
    }
    body->number = (unsigned)module->body_count;
    list[module->body_count++] = body;
    body->symbol = symbol;
    symbol->body = body;
    body->face.name = symbol->name;
    body->face.line = token->line;
    body->face.is_extern = true;
    bool hidden = module_wide != &name->symbol;
    name->symbol = *module_wide;
    ptx_declare(parser, symbol);
    if (hidden) {
        *module_wide = name->symbol;
        name->symbol = hiding;
    }
    return body;
}

static void publish_parameters(struct ptx_parser *parser, struct ptx_body *body)
{
    struct ptx_parameter *list = arena_array(parser->arena, body->formal_count, sizeof *list);
    if (list == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    for (size_t i = 0; i < body->formal_count; ++i) {
        const struct ptx_symbol *formal = body->formals[i];
        list[i] = (struct ptx_parameter){.name = formal->name,
                                         .bytes = (unsigned)formal->bytes,
                                         .align = formal->align,
                                         .type = formal->type};
    }
    body->face.parameters = list;
    body->face.parameter_count = body->formal_count;
}

/* .entry NAME (…) directives { … }    .func (…) NAME (…) directives { … } or ; */
static void parse_function(struct ptx_parser *parser, bool is_entry)
{
    struct ptx_body scratch = {0};
    ptx_lexer_advance(&parser->lexer);
    while (ptx_at_dotted(parser, "attribute")) {
        ptx_lexer_advance(&parser->lexer);
        ptx_skip_balanced(parser, '(', ')');
    }
    parser->scope_count = 1; /* numbers begin anew in each function; 0 is the module's */
    ptx_scope_open(parser);
    if (ptx_at(parser, '('))
        ptx_parse_parameters(parser, &scratch.returns, &scratch.return_count, true, false);
    const struct ptx_token token = parser->lexer.token;
    if (token.kind != PTX_TOKEN_NAME) {
        ptx_expected(parser, "the name of a function");
        return;
    }
    ptx_lexer_advance(&parser->lexer);
    if (ptx_at(parser, '('))
        ptx_parse_parameters(parser, &scratch.formals, &scratch.formal_count, false, false);

    /* The function's own name belongs to the module, not to the scope of its parameters. */
    unsigned depth = parser->scope_depth;
    parser->scope_depth = 0;
    struct ptx_body *body = function_named(parser, &token);
    parser->scope_depth = depth;
    if (body == NULL || parser->failed)
        return;
    if (!body->has_body) {
        body->returns = scratch.returns;
        body->return_count = scratch.return_count;
        body->formals = scratch.formals;
        body->formal_count = scratch.formal_count;
        publish_parameters(parser, body);
    }
    parser->body = body;
    parser->location = NULL;
    struct ptx_function directives = body->face;
    parse_function_directives(parser, &directives);
    if (ptx_at(parser, '{')) {
        if (body->has_body) {
            ptx_fail(parser, token.line, "function `%.200s` is defined twice (first in line %u)",
                     body->face.name, body->face.line);
            return;
        }
        body->face = directives;
        body->has_body = true;
        body->face.is_entry = is_entry;
        body->face.is_extern = false;
        body->face.line = token.line;
        body->face.body_begin = body->face.directives_end = parser->lexer.token.offset;
        for (size_t i = 0; i < body->formal_count; ++i)
            if (body->formals[i]->kind == PTX_SYMBOL_REGISTER)
                ptx_number_register(parser, body->formals[i]);
        for (size_t i = 0; i < body->return_count; ++i)
            if (body->returns[i]->kind == PTX_SYMBOL_REGISTER)
                ptx_number_register(parser, body->returns[i]);
        ptx_parse_body(parser);
    } else {
        body->face.is_entry = is_entry || body->face.is_entry;
        ptx_require(parser, ';');
    }
    parser->body = NULL;
    parser->location = NULL;
    ptx_scope_close(parser);
}

/* ---- Modules -------------------------------------------------------------------------------- */

static void parse_version(struct ptx_parser *parser)
{
    ptx_lexer_advance(&parser->lexer);
    double version = 0;
    if (parser->lexer.token.kind == PTX_TOKEN_FLOAT)
        memcpy(&version, &parser->lexer.token.value, sizeof version);
    if (!(version >= 1.0 && version < 100.0)) {
        ptx_expected(parser, "a version such as 9.0");
        return;
    }
    parser->module->version = (unsigned)(version * 10.0 + 0.5);
    ptx_lexer_advance(&parser->lexer);
}

static void parse_target(struct ptx_parser *parser)
{
    do {
        ptx_lexer_advance(&parser->lexer);
        const struct ptx_token token = parser->lexer.token;
        if (token.kind != PTX_TOKEN_NAME) {
            ptx_expected(parser, "a target such as sm_75");
            return;
        }
        if (parser->module->target[0] == '\0' && token.length > 3 &&
            memcmp(token.text, "sm_", 3) == 0)
            parser->module->target = ptx_name_of(parser, token.text, token.length)->text;
        else if (token.length == 5 && memcmp(token.text, "debug", 5) == 0)
            parser->module->is_debug = true;
        ptx_lexer_advance(&parser->lexer);
    } while (ptx_at(parser, ','));
}

static void parse_module_directive(struct ptx_parser *parser)
{
    bool is_extern = false;
    while (ptx_at_dotted(parser, "visible") || ptx_at_dotted(parser, "extern") ||
           ptx_at_dotted(parser, "weak") || ptx_at_dotted(parser, "common")) {
        is_extern = is_extern || ptx_at_dotted(parser, "extern");
        ptx_lexer_advance(&parser->lexer);
    }
    if (ptx_at_dotted(parser, "entry")) {
        parse_function(parser, true);
    } else if (ptx_at_dotted(parser, "func")) {
        parse_function(parser, false);
    } else if (ptx_at_space(parser)) {
        ptx_parse_declaration(parser, is_extern);
    } else if (ptx_at_dotted(parser, "version")) {
        parse_version(parser);
    } else if (ptx_at_dotted(parser, "target")) {
        parse_target(parser);
    } else if (ptx_at_dotted(parser, "address_size")) {
        ptx_lexer_advance(&parser->lexer);
        parser->module->address_bytes =
            (unsigned)ptx_require_integer(parser, 64, "an address size") / 8;
    } else if (ptx_at_dotted(parser, "file")) {
        ptx_parse_file(parser);
    } else if (ptx_at_dotted(parser, "loc")) {
        ptx_parse_location(parser);
    } else if (ptx_at_dotted(parser, "pragma")) {
        ptx_parse_pragma(parser);
    } else if (ptx_at_dotted(parser, "section")) {
        ptx_lexer_advance(&parser->lexer);
        while (!ptx_at(parser, '{') && parser->lexer.token.kind != PTX_TOKEN_END)
            ptx_lexer_advance(&parser->lexer);
        ptx_skip_balanced(parser, '{', '}');
    } else if (ptx_at_dotted(parser, "alias")) {
        while (!ptx_at(parser, ';') && parser->lexer.token.kind != PTX_TOKEN_END)
            ptx_lexer_advance(&parser->lexer);
        ptx_require(parser, ';');
    } else {
        ptx_expected(parser, "a directive such as .entry or .global");
    }
}

/* What an extern function is for, so that an audit need not look at instructions. */
static void note_call(struct ptx_body *caller, const struct ptx_body *callee)
{
    struct ptx_function *face = &caller->face;
    if (callee->has_body)
        return;
    if (strcmp(callee->face.name, "vprintf") == 0)
        face->calls_vprintf = true;
    else if (strcmp(callee->face.name, "malloc") == 0)
        face->calls_malloc = true;
    else if (strcmp(callee->face.name, "free") == 0)
        face->calls_free = true;
    else if (strcmp(callee->face.name, "__assertfail") == 0)
        face->calls_assert = true;
    else {
        face->calls_other = true;
        if (face->calls_other_name == NULL)
            face->calls_other_name = callee->face.name;
    }
}

static void note_inline_asm(struct ptx_module *module, struct ptx_body *body)
{
    for (size_t i = 0; i < body->instruction_count; ++i) {
        const struct ptx_instruction *instruction = &body->instructions[i];
        for (size_t o = 0; o < instruction->operand_count; ++o) {
            const struct ptx_symbol *symbol = instruction->operands[o].symbol;
            if (symbol != NULL && symbol->kind == PTX_SYMBOL_FUNCTION)
                note_call(body, symbol->body);
        }
        if (instruction->inline_asm && body->face.inline_asm_file == NULL &&
            instruction->location != NULL) {
            body->face.inline_asm_file = ptx_file_path(module, instruction->location->file);
            body->face.inline_asm_line = instruction->location->line;
        }
    }
}

/* Initialisers may name variables and functions that are declared after them. */
static void resolve_initialisers(struct ptx_parser *parser)
{
    for (size_t v = 0; v < parser->module->variable_count; ++v) {
        const struct ptx_symbol *variable = parser->module->variables[v];
        for (size_t i = 0; i < variable->initialiser_count; ++i) {
            struct ptx_initialiser *item = &variable->initialiser[i];
            if (item->symbol == NULL)
                continue;
            item->target = ptx_name_of(parser, item->symbol, strlen(item->symbol))->symbol;
            if (item->target == NULL)
                ptx_fail(parser, item->line, "`%.200s` is declared nowhere", item->symbol);
        }
    }
}

static int publish_variables(struct ptx_module *module)
{
    struct ptx_variable *faces = arena_array(&module->arena, module->variable_count, sizeof *faces);
    if (faces == NULL)
        return -1;
    for (size_t i = 0; i < module->variable_count; ++i) {
        const struct ptx_symbol *symbol = module->variables[i];
        faces[i] = (struct ptx_variable){.name = symbol->name,
                                         .space = symbol->space,
                                         .bytes = symbol->bytes,
                                         .is_extern = symbol->is_extern,
                                         .has_initialiser = symbol->initialiser_count > 0,
                                         .line = symbol->line};
    }
    module->variable_faces = faces;
    return ptx_find_written(module);
}

struct ptx_module *ptx_parse(const char *text, size_t length, struct error *err)
{
    if (length > CAP_TEXT_BYTES) {
        (void)error_set(err, ERROR_USAGE, "the PTX is %zu bytes long; at most %zu are accepted",
                        length, CAP_TEXT_BYTES);
        return NULL;
    }
    struct ptx_module *module = calloc(1, sizeof *module);
    struct ptx_parser *parser = calloc(1, sizeof *parser);
    char *copy = malloc(length + 1);
    struct ptx_name **buckets = calloc(1024, sizeof(struct ptx_name *));
    if (module == NULL || parser == NULL || copy == NULL || buckets == NULL) {
        free(module);
        free(parser);
        free(copy);
        free(buckets);
        (void)error_no_memory(err);
        return NULL;
    }
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    module->text = copy;
    module->length = length;
    module->target = "";
    module->address_bytes = 8;
    struct error trouble = {0};
    *parser = (struct ptx_parser){.module = module,
                                  .arena = &module->arena,
                                  .err = &trouble,
                                  .buckets = buckets,
                                  .bucket_count = 1024};
    ptx_lexer_start(&parser->lexer, copy, length);
    parser->scope_parents =
        arena_grow(parser->arena, NULL, 0, &parser->scope_capacity, sizeof *parser->scope_parents);
    if (parser->scope_parents == NULL)
        ptx_fail_memory(parser);
    parser->scope_count = 1; /* the module's */
    if (parser->lexer.token.kind == PTX_TOKEN_END)
        ptx_fail(parser, 1, "there is no PTX in this text");
    else if (!ptx_at_dotted(parser, "version"))
        ptx_expected(parser, "PTX to begin with .version");
    while (parser->lexer.token.kind != PTX_TOKEN_END && !parser->failed)
        parse_module_directive(parser);
    for (size_t i = 0; i < module->body_count && !parser->failed; ++i)
        note_inline_asm(module, module->bodies[i]);
    if (!parser->failed)
        resolve_initialisers(parser);
    if (!parser->failed && publish_variables(module) != 0)
        ptx_fail_memory(parser);
    bool failed = parser->failed;
    free(parser->buckets);
    free(parser);
    if (failed) {
        ptx_free(module);
        if (trouble.no_memory)
            (void)error_no_memory(err);
        (void)error_set(err, trouble.kind, "%s", trouble.text);
        return NULL;
    }
    return module;
}

void ptx_free(struct ptx_module *module)
{
    if (module == NULL)
        return;
    arena_release(&module->arena);
    free(module->text);
    free(module);
}

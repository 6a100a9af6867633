/* ptx_declare.c - declarations of registers, variables and parameters, with their initialisers.
 * PTX ISA, chapter 5.4 "Variables". */
#include "emulator/ptx_parser.h"

/* ---- Initialisers --------------------------------------------------------------------------- */

struct initialiser_list {
    struct ptx_initialiser *items;
    size_t count, capacity;
};

static uint64_t float_bits(enum ptx_type type, const struct ptx_constant *constant)
{
    float narrow = 0;
    double wide = 0;
    uint32_t bits = (uint32_t)constant->value;
    uint64_t ret = constant->value;
    if (type == PTX_F32 && !constant->is_float32) {
        memcpy(&wide, &constant->value, sizeof wide);
        narrow = (float)wide;
        memcpy(&bits, &narrow, sizeof bits);
        ret = bits;
    } else if (type == PTX_F64 && constant->is_float32) {
        memcpy(&narrow, &bits, sizeof narrow);
        wide = (double)narrow;
        memcpy(&ret, &wide, sizeof ret);
    }
    return ret;
}

static void add_initialiser(struct ptx_parser *parser, struct initialiser_list *list,
                            enum ptx_type type)
{
    const unsigned line = parser->lexer.token.line;
    struct ptx_constant constant = ptx_parse_constant(parser, 0);
    if (!constant.is_float && ptx_type_is_float(type) && constant.symbol == NULL &&
        (type == PTX_F32 || type == PTX_F64)) {
        double wide = (double)(int64_t)constant.value;
        memcpy(&constant.value, &wide, sizeof wide);
        constant.is_float = true;
    }
    struct ptx_initialiser *items =
        arena_grow(parser->arena, list->items, list->count, &list->capacity, sizeof *items);
    if (items == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    list->items = items;
    struct ptx_initialiser *item = &items[list->count++];
    *item = (struct ptx_initialiser){.value = constant.is_float ? float_bits(type, &constant)
                                                                : constant.value,
                                     .symbol = constant.symbol,
                                     .generic = constant.generic,
                                     .line = line};
    if (constant.mask != 0)
        item->mask_shift = (unsigned)__builtin_ctzll(constant.mask);
}

/* { {1, 2}, {3} }: nested braces are read as one list, padded to the row they belong to. */
static void parse_initialiser(struct ptx_parser *parser, struct initialiser_list *list,
                              enum ptx_type type, const uint64_t *row_elements, unsigned depth)
{
    if (!ptx_at(parser, '{')) {
        add_initialiser(parser, list, type);
        return;
    }
    if (depth >= CAP_ARRAY_RANK) {
        ptx_fail(parser, parser->lexer.token.line, "an initialiser is nested too deeply");
        return;
    }
    ptx_lexer_advance(&parser->lexer);
    while (!ptx_at(parser, '}') && !parser->failed) {
        size_t begin = list->count;
        bool nested = ptx_at(parser, '{');
        parse_initialiser(parser, list, type, row_elements, depth + 1);
        while (nested && !parser->failed && list->count - begin < row_elements[depth]) {
            struct ptx_initialiser *items =
                arena_grow(parser->arena, list->items, list->count, &list->capacity, sizeof *items);
            if (items == NULL) {
                ptx_fail_memory(parser);
                return;
            }
            list->items = items;
            items[list->count++] = (struct ptx_initialiser){0};
        }
        if (!ptx_accept(parser, ','))
            break;
    }
    ptx_require(parser, '}');
}

/* ---- Declarators ---------------------------------------------------------------------------- */

struct declaration {
    enum ptx_space space;
    enum ptx_type type;
    unsigned vector, align;
    bool is_extern;
};

static enum ptx_space space_of(const struct ptx_parser *parser)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{"reg", PTX_REG},       {"param", PTX_PARAM}, {"const", PTX_CONST},
                  {"global", PTX_GLOBAL}, {"local", PTX_LOCAL}, {"shared", PTX_SHARED},
                  {"sreg", PTX_REG},      {"tex", PTX_GLOBAL}};
    for (size_t i = 0; i < COUNT_OF(spaces); ++i)
        if (ptx_at_dotted(parser, spaces[i].name))
            return spaces[i].space;
    return PTX_SPACE_NONE;
}

bool ptx_at_space(const struct ptx_parser *parser)
{
    return space_of(parser) != PTX_SPACE_NONE;
}

/* .space and everything dotted that follows it. */
static bool parse_qualifiers(struct ptx_parser *parser, struct declaration *ret)
{
    ret->space = space_of(parser);
    ret->vector = 1;
    bool pointee = false;
    ptx_lexer_advance(&parser->lexer);
    while (parser->lexer.token.kind == PTX_TOKEN_DOTTED && !parser->failed) {
        const struct ptx_token token = parser->lexer.token;
        enum ptx_type type = ptx_type_find(token.text, token.length);
        if (ptx_at_dotted(parser, "align")) {
            ptx_lexer_advance(&parser->lexer);
            uint64_t align = ptx_require_integer(parser, 1u << 20, "an alignment");
            if (align == 0 || (align & (align - 1)) != 0) {
                ptx_fail(parser, token.line, "the alignment %llu is no power of two",
                         (unsigned long long)align);
                return false;
            }
            if (!pointee)
                ret->align = (unsigned)align;
            continue;
        }
        if (ptx_at_dotted(parser, "attribute")) {
            ptx_lexer_advance(&parser->lexer);
            ptx_skip_balanced(parser, '(', ')');
            continue;
        }
        if (ptx_at_dotted(parser, "v2") || ptx_at_dotted(parser, "v4") ||
            ptx_at_dotted(parser, "v8"))
            ret->vector = (unsigned)(token.text[1] - '0');
        else if (ptx_at_dotted(parser, "ptr"))
            pointee = true;
        else if (type != PTX_NO_TYPE)
            ret->type = type;
        else if (!pointee && !ptx_at_space(parser)) {
            ptx_expected(parser, "a type");
            return false;
        }
        ptx_lexer_advance(&parser->lexer);
    }
    if (ret->type == PTX_NO_TYPE && !parser->failed)
        ptx_expected(parser, "a type");
    return !parser->failed;
}

static void parse_dimensions(struct ptx_parser *parser, struct ptx_symbol *symbol,
                             uint64_t row_elements[CAP_ARRAY_RANK])
{
    uint64_t dimensions[CAP_ARRAY_RANK];
    unsigned rank = 0;
    while (ptx_accept(parser, '[')) {
        if (rank >= CAP_ARRAY_RANK) {
            ptx_fail(parser, symbol->line, "an array of more than %d dimensions", CAP_ARRAY_RANK);
            return;
        }
        dimensions[rank] = 0;
        if (ptx_at(parser, ']'))
            symbol->unsized = rank == 0;
        else
            dimensions[rank] = ptx_parse_constant(parser, 0).value;
        ++rank;
        ptx_require(parser, ']');
    }
    uint64_t elements = 1;
    for (unsigned i = rank; i-- > 0;) {
        row_elements[i] = elements;
        if (symbol->unsized && i == 0)
            elements = 0;
        else if (dimensions[i] != 0 && elements > CAP_VARIABLE_BYTES / dimensions[i])
            ptx_fail(parser, symbol->line, "`%.200s` is larger than any device's memory",
                     symbol->name);
        else
            elements *= dimensions[i];
    }
    symbol->elements = elements;
}

static void size_variable(struct ptx_parser *parser, struct ptx_symbol *symbol,
                          const struct declaration *declaration)
{
    unsigned bytes = ptx_type_bytes(symbol->type) * symbol->vector;
    if (symbol->unsized)
        symbol->elements = symbol->initialiser_count / symbol->vector;
    if (bytes != 0 && symbol->elements > CAP_VARIABLE_BYTES / bytes) {
        ptx_fail(parser, symbol->line, "`%.200s` is larger than any device's memory", symbol->name);
        return;
    }
    symbol->bytes = symbol->elements * bytes;
    symbol->align = declaration->align != 0 ? declaration->align : bytes != 0 ? bytes : 1;
    if (symbol->initialiser_count > symbol->elements * symbol->vector)
        ptx_fail(parser, symbol->line, "`%.200s` has more initial values than elements",
                 symbol->name);
}

/* Adds the variable to its function's or the module's list. */
static void list_variable(struct ptx_parser *parser, struct ptx_symbol *symbol)
{
    if (++parser->variable_count > CAP_VARIABLES) {
        ptx_fail(parser, symbol->line, "more than %d variables", CAP_VARIABLES);
        return;
    }
    struct ptx_module *module = parser->module;
    bool module_wide =
        parser->body == NULL || symbol->space == PTX_GLOBAL || symbol->space == PTX_CONST;
    struct ptx_symbol ***list = module_wide ? &module->variables : &parser->body->variables;
    size_t *count = module_wide ? &module->variable_count : &parser->body->variable_count;
    size_t *capacity = module_wide ? &module->variable_capacity : &parser->body->variable_capacity;
    struct ptx_symbol **grown =
        arena_grow(parser->arena, *list, *count, capacity, sizeof(struct ptx_symbol *));
    if (grown == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    *list = grown;
    symbol->number = (unsigned)*count;
    symbol->owner = parser->body == NULL ? NULL : parser->body->symbol;
    if (!module_wide && symbol->space == PTX_SHARED)
        parser->body->face.shared_bytes += (symbol->bytes + 15) / 16 * 16;
    if (!module_wide && symbol->space == PTX_LOCAL)
        parser->body->face.local_bytes += symbol->bytes;
    grown[(*count)++] = symbol;
}

void ptx_number_register(struct ptx_parser *parser, struct ptx_symbol *symbol)
{
    struct ptx_body *body = parser->body;
    if (body == NULL)
        return; /* .sreg or a register at module scope: only a name */
    uint64_t more = symbol->count == 0 ? 1 : symbol->count;
    more *= symbol->vector;
    if (body->register_count + more > CAP_REGISTERS) {
        ptx_fail(parser, symbol->line, "more than %u registers in one function", CAP_REGISTERS);
        return;
    }
    struct ptx_symbol **list =
        arena_grow(parser->arena, body->registers, body->register_symbol_count,
                   &body->register_symbol_capacity, sizeof(struct ptx_symbol *));
    if (list == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    body->registers = list;
    list[body->register_symbol_count++] = symbol;
    symbol->first = body->register_count;
    body->register_count += (unsigned)more;
}

/* NAME, NAME<N>, NAME[2][3] */
static struct ptx_symbol *parse_declarator(struct ptx_parser *parser,
                                           const struct declaration *declaration,
                                           uint64_t row_elements[CAP_ARRAY_RANK])
{
    const struct ptx_token token = parser->lexer.token;
    if (token.kind != PTX_TOKEN_NAME) {
        ptx_expected(parser, "a name");
        return NULL;
    }
    bool is_register = declaration->space == PTX_REG;
    struct ptx_symbol *symbol =
        ptx_symbol_new(parser, is_register ? PTX_SYMBOL_REGISTER : PTX_SYMBOL_VARIABLE, &token);
    if (symbol == NULL)
        return NULL;
    symbol->type = declaration->type;
    symbol->vector = declaration->vector;
    symbol->space = declaration->space;
    symbol->is_extern = declaration->is_extern;
    ptx_lexer_advance(&parser->lexer);
    if (is_register && ptx_accept(parser, '<')) {
        symbol->count = (unsigned)ptx_require_integer(parser, CAP_REGISTERS, "a register count");
        ptx_require(parser, '>');
        if (symbol->count == 0 && !parser->failed)
            ptx_fail(parser, token.line, "`%.200s<0>` declares no register", symbol->name);
    } else if (!is_register) {
        parse_dimensions(parser, symbol, row_elements);
    }
    return symbol;
}

void ptx_parse_declaration(struct ptx_parser *parser, bool is_extern)
{
    struct declaration declaration = {.is_extern = is_extern};
    if (!parse_qualifiers(parser, &declaration))
        return;
    do {
        uint64_t row_elements[CAP_ARRAY_RANK] = {0};
        struct ptx_symbol *symbol = parse_declarator(parser, &declaration, row_elements);
        if (symbol == NULL || parser->failed)
            return;
        if (symbol->kind == PTX_SYMBOL_REGISTER) {
            ptx_number_register(parser, symbol);
        } else {
            struct initialiser_list list = {0};
            if (ptx_accept(parser, '='))
                parse_initialiser(parser, &list, symbol->type, row_elements, 0);
            symbol->initialiser = list.items;
            symbol->initialiser_count = list.count;
            size_variable(parser, symbol, &declaration);
            list_variable(parser, symbol);
        }
        ptx_declare(parser, symbol);
    } while (ptx_accept(parser, ','));
    ptx_require(parser, ';');
}

void ptx_parse_parameters(struct ptx_parser *parser, struct ptx_symbol ***list, size_t *count,
                          bool is_return, bool prototype)
{
    size_t capacity = 0;
    uint64_t bytes = 0;
    ptx_require(parser, '(');
    while (!ptx_at(parser, ')') && !parser->failed) {
        struct declaration declaration = {0};
        if (!ptx_at_space(parser)) {
            ptx_expected(parser, "a parameter");
            return;
        }
        if (!parse_qualifiers(parser, &declaration))
            return;
        uint64_t row_elements[CAP_ARRAY_RANK] = {0};
        struct ptx_symbol *symbol = parse_declarator(parser, &declaration, row_elements);
        struct ptx_symbol **grown =
            arena_grow(parser->arena, *list, *count, &capacity, sizeof(struct ptx_symbol *));
        if (symbol == NULL || grown == NULL) {
            ptx_fail_memory(parser);
            return;
        }
        if (symbol->kind == PTX_SYMBOL_REGISTER)
            symbol->elements = 1;
        size_variable(parser, symbol, &declaration);
        symbol->is_formal = true;
        symbol->is_return = is_return;
        *list = grown;
        grown[(*count)++] = symbol;
        bytes += symbol->bytes;
        if (*count > CAP_PARAMETERS || bytes > CAP_PARAMETER_BYTES) {
            ptx_fail(parser, symbol->line, "a function takes too many parameters");
            return;
        }
        if (!prototype && strcmp(symbol->name, "_") != 0)
            ptx_declare(parser, symbol);
        if (!ptx_accept(parser, ','))
            break;
    }
    ptx_require(parser, ')');
}

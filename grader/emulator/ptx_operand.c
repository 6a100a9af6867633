/* ptx_operand.c - operands: registers, names, numbers, addresses, vectors, lists. */
#include "emulator/ptx_parser.h"

void ptx_add_operand(struct ptx_parser *parser, struct ptx_operand_list *list,
                     const struct ptx_operand *operand)
{
    struct ptx_operand *items =
        arena_grow(parser->arena, list->items, list->count, &list->capacity, sizeof *items);
    if (items == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    list->items = items;
    items[list->count++] = *operand;
}

/* Comma-separated operands up to the closing character. */
static struct ptx_operand parse_group(struct ptx_parser *parser, enum ptx_operand_kind kind,
                                      char close, unsigned depth, size_t *budget)
{
    struct ptx_operand group = {.kind = kind};
    struct ptx_operand_list list = {0};
    ptx_lexer_advance(&parser->lexer);
    while (!ptx_at(parser, close) && !parser->failed) {
        struct ptx_operand operand = ptx_parse_operand(parser, depth + 1, budget);
        ptx_add_operand(parser, &list, &operand);
        if (!ptx_accept(parser, ','))
            break;
    }
    ptx_require(parser, close);
    group.children = list.items;
    group.child_count = list.count;
    if (kind == PTX_OPERAND_ADDRESS && list.count > 0 && !parser->failed) {
        /* [base + offset]: the offset was read as part of the base */
        group.value =
            list.items[0].kind == PTX_OPERAND_REGISTER || list.items[0].kind == PTX_OPERAND_SYMBOL
                ? list.items[0].value
                : 0;
    } else if (kind == PTX_OPERAND_ADDRESS && !parser->failed) {
        ptx_expected(parser, "an address between [ and ]");
    }
    return group;
}

/* %r12 of a bank %r<45>: the number of the register, if there is such a bank. */
static const struct ptx_symbol *find_bank(struct ptx_parser *parser, const char *text,
                                          size_t length, unsigned *index)
{
    size_t digits = 0;
    while (digits < length && text[length - 1 - digits] >= '0' && text[length - 1 - digits] <= '9')
        ++digits;
    if (digits == 0 || digits == length || digits > 32)
        return NULL;
    for (size_t n = digits; n > 0; --n) {
        const char *suffix = text + length - n;
        if ((suffix[0] == '0' && n > 1) || n > 7)
            continue;
        const struct ptx_symbol *bank = ptx_name_of(parser, text, length - n)->symbol;
        if (bank == NULL || bank->kind != PTX_SYMBOL_REGISTER || bank->count == 0)
            continue;
        unsigned value = 0;
        for (size_t i = 0; i < n; ++i)
            value = value * 10 + (unsigned)(suffix[i] - '0');
        if (value < bank->count) {
            *index = bank->first + value * bank->vector;
            return bank;
        }
    }
    return NULL;
}

static bool is_component(const struct ptx_token *token)
{
    return token->kind == PTX_TOKEN_DOTTED && token->length == 1 &&
           strchr("xyzwrgba", token->text[0]) != NULL;
}

/* .b0, .h1, .h32, .b7654: what video instructions take of a register. */
static bool is_part(const struct ptx_token *token)
{
    if (token->kind != PTX_TOKEN_DOTTED || token->length < 2 || token->length > 5 ||
        (token->text[0] != 'b' && token->text[0] != 'h'))
        return false;
    for (size_t i = 1; i < token->length; ++i)
        if (token->text[i] < '0' || token->text[i] > '7')
            return false;
    return true;
}

/* Tells what a name is. Labels and what is declared later wait for the end of the function. */
static void explain_name(struct ptx_parser *parser, struct ptx_operand *operand,
                         const struct ptx_token *token)
{
    const struct ptx_name *name = ptx_name_of(parser, token->text, token->length);
    operand->name = name->text;
    operand->scope = parser->scopes[parser->scope_depth].number;
    operand->line = token->line;
    operand->symbol = name->symbol;
    if (name->symbol == NULL ||
        (name->symbol->kind == PTX_SYMBOL_REGISTER && name->symbol->count != 0)) {
        operand->symbol = find_bank(parser, token->text, token->length, &operand->index);
        if (operand->symbol != NULL)
            operand->kind = PTX_OPERAND_REGISTER;
        else if (token->text[0] == '%')
            operand->kind = PTX_OPERAND_SPECIAL;
        else
            operand->kind = PTX_OPERAND_SYMBOL; /* pending */
    } else if (name->symbol->kind == PTX_SYMBOL_REGISTER) {
        operand->kind = PTX_OPERAND_REGISTER;
        operand->index = name->symbol->first;
    } else {
        operand->kind = PTX_OPERAND_SYMBOL;
    }
}

/* A register that is a vector, without a component: the vector of its components. */
static struct ptx_operand spread_vector(struct ptx_parser *parser, const struct ptx_operand *whole)
{
    struct ptx_operand vector = {.kind = PTX_OPERAND_VECTOR};
    struct ptx_operand *children =
        arena_array(parser->arena, whole->symbol->vector, sizeof *children);
    if (children == NULL) {
        ptx_fail_memory(parser);
        return *whole;
    }
    for (unsigned i = 0; i < whole->symbol->vector; ++i) {
        children[i] = *whole;
        children[i].component = "xyzw"[i % 4];
        children[i].index += i;
    }
    vector.children = children;
    vector.child_count = whole->symbol->vector;
    return vector;
}

static struct ptx_operand parse_name(struct ptx_parser *parser)
{
    struct ptx_operand operand = {0};
    const struct ptx_token token = parser->lexer.token;
    ptx_lexer_advance(&parser->lexer);
    if (token.length == 1 && token.text[0] == '_') {
        operand.kind = PTX_OPERAND_SINK;
        return operand;
    }
    if (token.length == 7 && memcmp(token.text, "WARP_SZ", 7) == 0) {
        operand.kind = PTX_OPERAND_INTEGER;
        operand.value = 32;
        return operand;
    }
    explain_name(parser, &operand, &token);
    if (parser->failed)
        return operand;
    if (is_component(&parser->lexer.token)) {
        const char component = parser->lexer.token.text[0];
        static const char letters[] = "xyzwrgba";
        unsigned place = (unsigned)(strchr(letters, component) - letters) % 4;
        operand.component = "xyzw"[place];
        if (operand.kind == PTX_OPERAND_REGISTER) {
            if (place >= operand.symbol->vector)
                ptx_expected(parser, "a component that the vector has");
            else
                operand.index += place;
        }
        ptx_lexer_advance(&parser->lexer);
    } else if (operand.kind == PTX_OPERAND_REGISTER && operand.symbol->vector > 1) {
        return spread_vector(parser, &operand);
    } else if (operand.kind == PTX_OPERAND_REGISTER && is_part(&parser->lexer.token)) {
        operand.part =
            ptx_name_of(parser, parser->lexer.token.text, parser->lexer.token.length)->text;
        ptx_lexer_advance(&parser->lexer);
    }
    while ((ptx_at(parser, '+') || ptx_at(parser, '-')) && !parser->failed) {
        bool minus = ptx_at(parser, '-');
        ptx_lexer_advance(&parser->lexer);
        bool negative = ptx_accept(parser, '-');
        uint64_t value = ptx_require_integer(parser, UINT64_MAX, "an offset");
        operand.value += minus != negative ? 0 - value : value;
    }
    return operand;
}

static struct ptx_operand parse_pair(struct ptx_parser *parser, const struct ptx_operand *first,
                                     unsigned depth, size_t *budget)
{
    struct ptx_operand pair = {.kind = PTX_OPERAND_PAIR};
    struct ptx_operand_list list = {0};
    ptx_lexer_advance(&parser->lexer);
    struct ptx_operand second = ptx_parse_operand(parser, depth + 1, budget);
    ptx_add_operand(parser, &list, first);
    ptx_add_operand(parser, &list, &second);
    pair.children = list.items;
    pair.child_count = list.count;
    return pair;
}

/* -%r1 of vmad. False: it is a constant with a sign, and nothing was read. */
static bool parse_negative(struct ptx_parser *parser, struct ptx_operand *operand)
{
    const struct ptx_lexer before = parser->lexer;
    ptx_lexer_advance(&parser->lexer);
    if (parser->lexer.token.kind == PTX_TOKEN_NAME) {
        *operand = parse_name(parser);
        operand->negated = true;
        if (parser->failed || operand->kind == PTX_OPERAND_REGISTER)
            return true;
    }
    parser->lexer = before;
    return false;
}

struct ptx_operand ptx_parse_operand(struct ptx_parser *parser, unsigned depth, size_t *budget)
{
    struct ptx_operand operand = {0};
    const struct ptx_token token = parser->lexer.token;
    if (depth > CAP_OPERAND_DEPTH || (*budget)-- == 0) {
        *budget = 0;
        ptx_fail(parser, token.line, "an instruction has too many or too deeply nested operands");
        return operand;
    }
    if (ptx_at(parser, '{'))
        return parse_group(parser, PTX_OPERAND_VECTOR, '}', depth, budget);
    if (ptx_at(parser, '('))
        return parse_group(parser, PTX_OPERAND_LIST, ')', depth, budget);
    if (ptx_at(parser, '['))
        return parse_group(parser, PTX_OPERAND_ADDRESS, ']', depth, budget);
    if (ptx_accept(parser, '!')) {
        operand = ptx_parse_operand(parser, depth + 1, budget);
        operand.negated = !operand.negated;
        return operand;
    }
    if (token.kind == PTX_TOKEN_NAME) {
        operand = parse_name(parser);
        if (ptx_at(parser, '|'))
            return parse_pair(parser, &operand, depth, budget);
        return operand;
    }
    if (ptx_at(parser, '-') && parse_negative(parser, &operand))
        return operand;
    operand = (struct ptx_operand){0};
    struct ptx_constant constant = ptx_parse_constant(parser, 0);
    operand.kind = constant.is_float32 ? PTX_OPERAND_FLOAT32
                   : constant.is_float ? PTX_OPERAND_FLOAT
                                       : PTX_OPERAND_INTEGER;
    operand.value = constant.value;
    if (constant.symbol != NULL) { /* 4 + symbol */
        const struct ptx_token name = {.kind = PTX_TOKEN_NAME,
                                       .text = constant.symbol,
                                       .length = strlen(constant.symbol),
                                       .line = token.line};
        explain_name(parser, &operand, &name);
    }
    return operand;
}

/* ptx_constant.c - constant expressions: initialisers, offsets, operands. PTX ISA, chapter 4.5
 * "Constants". */
#include "emulator/ptx_parser.h"

static struct ptx_constant parse_primary(struct ptx_parser *parser, unsigned depth)
{
    struct ptx_constant constant = {0};
    const struct ptx_token token = parser->lexer.token;
    if (depth > CAP_EXPRESSION_DEPTH) {
        ptx_fail(parser, token.line, "a constant expression is nested too deeply");
        return constant;
    }
    if (ptx_accept(parser, '-')) {
        constant = parse_primary(parser, depth + 1);
        if (constant.is_float32)
            constant.value ^= UINT64_C(1) << 31;
        else if (constant.is_float)
            constant.value ^= UINT64_C(1) << 63;
        else
            constant.value = 0 - constant.value;
    } else if (ptx_accept(parser, '+')) {
        constant = parse_primary(parser, depth + 1);
    } else if (ptx_accept(parser, '~')) {
        constant = parse_primary(parser, depth + 1);
        constant.value = ~constant.value;
    } else if (ptx_accept(parser, '!')) {
        constant = parse_primary(parser, depth + 1);
        constant.value = constant.value == 0;
    } else if (ptx_accept(parser, '(')) {
        if (parser->lexer.token.kind == PTX_TOKEN_DOTTED) { /* a cast: (.s64) x */
            ptx_lexer_advance(&parser->lexer);
            ptx_require(parser, ')');
            return parse_primary(parser, depth + 1);
        }
        constant = ptx_parse_constant(parser, depth + 1);
        ptx_require(parser, ')');
    } else if (token.kind == PTX_TOKEN_INTEGER) {
        constant.value = token.value;
        ptx_lexer_advance(&parser->lexer);
        if (ptx_accept(parser, '(')) { /* mask operator: 0xFF00(symbol) */
            uint64_t mask = constant.value;
            constant = ptx_parse_constant(parser, depth + 1);
            constant.mask = mask;
            ptx_require(parser, ')');
        }
    } else if (token.kind == PTX_TOKEN_FLOAT || token.kind == PTX_TOKEN_FLOAT32) {
        constant.is_float = true;
        constant.is_float32 = token.kind == PTX_TOKEN_FLOAT32;
        constant.value = token.value;
        ptx_lexer_advance(&parser->lexer);
    } else if (token.kind == PTX_TOKEN_NAME) {
        const char *name = ptx_name_of(parser, token.text, token.length)->text;
        ptx_lexer_advance(&parser->lexer);
        if (strcmp(name, "WARP_SZ") == 0) {
            constant.value = 32;
        } else if (strcmp(name, "generic") == 0 && ptx_accept(parser, '(')) {
            constant = ptx_parse_constant(parser, depth + 1);
            constant.generic = true;
            ptx_require(parser, ')');
        } else {
            constant.symbol = name;
        }
    } else {
        ptx_expected(parser, "a constant");
    }
    return constant;
}

static unsigned precedence_of(const struct ptx_parser *parser, char *operator_ret)
{
    static const struct {
        char operator;
        unsigned precedence;
    } table[] = {{'*', 6}, {'/', 6}, {'%', 6}, {'+', 5}, {'-', 5},
                 {'<', 4}, {'>', 4}, {'&', 3}, {'^', 2}, {'|', 1}};
    for (size_t i = 0; i < COUNT_OF(table); ++i)
        if (ptx_at(parser, table[i].operator)) {
            *operator_ret = table[i].operator;
            return table[i].precedence;
        }
    return 0;
}

static uint64_t apply(char operator, uint64_t a, uint64_t b)
{
    switch (operator) {
    case '*':
        return a * b;
    case '/':
        return b == 0 ? 0 : a / b;
    case '%':
        return b == 0 ? 0 : a % b;
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '<':
        return b < 64 ? a << b : 0;
    case '>':
        return b < 64 ? a >> b : 0;
    case '&':
        return a & b;
    case '^':
        return a ^ b;
    default:
        return a | b;
    }
}

static struct ptx_constant parse_binary(struct ptx_parser *parser, unsigned depth, unsigned least)
{
    struct ptx_constant left = parse_primary(parser, depth);
    char operator= '\0';
    for (unsigned level = precedence_of(parser, &operator); level >= least && level > 0;
         level = precedence_of(parser, &operator)) {
        const char applied = operator;
        ptx_lexer_advance(&parser->lexer);
        if (applied == '<' || applied == '>')
            ptx_require(parser, applied);
        if (depth > CAP_EXPRESSION_DEPTH) {
            ptx_fail(parser, parser->lexer.token.line, "a constant is nested too deeply");
            return left;
        }
        struct ptx_constant right = parse_binary(parser, depth + 1, level + 1);
        if (parser->failed)
            return left;
        if (left.is_float || right.is_float) {
            ptx_expected(parser, "one number: arithmetic on floating-point constants is not known");
            return left;
        }
        if (right.symbol != NULL && left.symbol == NULL && applied == '+') {
            right.value += left.value;
            left = right;
        } else {
            left.value = apply(applied, left.value, right.value);
        }
    }
    return left;
}

struct ptx_constant ptx_parse_constant(struct ptx_parser *parser, unsigned depth)
{
    return parse_binary(parser, depth, 1);
}

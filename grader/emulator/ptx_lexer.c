/* ptx_lexer.c - see ptx_lexer.h. Grammar: PTX ISA, chapter 4 "Syntax". */
#include "emulator/ptx_lexer.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_follower(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

/* The character `ahead` places on, NUL past the end. */
static char peek(const struct ptx_lexer *lexer, size_t ahead)
{
    return ahead < lexer->length - lexer->position ? lexer->text[lexer->position + ahead] : '\0';
}

static void note_comment(struct ptx_lexer *lexer, const char *text, size_t length)
{
    static const char begin[] = "begin inline asm", end[] = "end inline asm";
    while (length > 0 && (*text == ' ' || *text == '\t')) {
        ++text;
        --length;
    }
    if (length >= sizeof begin - 1 && memcmp(text, begin, sizeof begin - 1) == 0) {
        if (lexer->inline_asm_line == 0)
            lexer->inline_asm_line = lexer->line;
        lexer->in_inline_asm = true;
    } else if (length >= sizeof end - 1 && memcmp(text, end, sizeof end - 1) == 0) {
        lexer->in_inline_asm = false;
    }
}

static void skip_blanks(struct ptx_lexer *lexer)
{
    while (lexer->position < lexer->length) {
        char c = peek(lexer, 0);
        if (c == '\n') {
            ++lexer->line;
            ++lexer->position;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++lexer->position;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            size_t start = lexer->position + 2;
            while (lexer->position < lexer->length && peek(lexer, 0) != '\n')
                ++lexer->position;
            note_comment(lexer, lexer->text + start, lexer->position - start);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            lexer->position += 2;
            while (lexer->position < lexer->length &&
                   !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/')) {
                if (peek(lexer, 0) == '\n')
                    ++lexer->line;
                ++lexer->position;
            }
            lexer->position += lexer->position < lexer->length ? 2 : 0;
        } else if (c == '\0' && lexer->position + 1 == lexer->length) {
            ++lexer->position; /* nvcc's files end with a NUL when taken from a fatbin */
        } else {
            return;
        }
    }
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* 0f3F700000 and 0d3FEE000000000000: the bits, exactly that many digits. */
static bool scan_float_bits(struct ptx_lexer *lexer, struct ptx_token *token, unsigned digits)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < digits; ++i) {
        int digit = hex_value(peek(lexer, 2 + i));
        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    if (is_follower(peek(lexer, 2 + digits)))
        return false;
    token->kind = digits == 8 ? PTX_TOKEN_FLOAT32 : PTX_TOKEN_FLOAT;
    token->value = value;
    lexer->position += 2 + digits;
    return true;
}

static bool scan_decimal_float(struct ptx_lexer *lexer, struct ptx_token *token)
{
    size_t n = 0;
    bool is_float = false;
    while (is_digit(peek(lexer, n)))
        ++n;
    if (peek(lexer, n) == '.' && is_digit(peek(lexer, n + 1))) {
        is_float = true;
        ++n;
        while (is_digit(peek(lexer, n)))
            ++n;
    } else if (peek(lexer, n) == '.' && !is_follower(peek(lexer, n + 1))) {
        is_float = true;
        ++n;
    }
    if (peek(lexer, n) == 'e' || peek(lexer, n) == 'E') {
        size_t sign = peek(lexer, n + 1) == '+' || peek(lexer, n + 1) == '-' ? 1 : 0;
        if (is_digit(peek(lexer, n + 1 + sign))) {
            is_float = true;
            n += 1 + sign;
            while (is_digit(peek(lexer, n)))
                ++n;
        }
    }
    char digits[64];
    if (!is_float || n >= sizeof digits)
        return false;
    memcpy(digits, lexer->text + lexer->position, n);
    digits[n] = '\0';
    double value = strtod(digits, NULL);
    memcpy(&token->value, &value, sizeof value);
    token->kind = PTX_TOKEN_FLOAT;
    lexer->position += n;
    return true;
}

static void scan_number(struct ptx_lexer *lexer, struct ptx_token *token)
{
    unsigned base = 10;
    if (peek(lexer, 0) == '0') {
        char second = peek(lexer, 1);
        if ((second == 'f' || second == 'F') && scan_float_bits(lexer, token, 8))
            return;
        if ((second == 'd' || second == 'D') && scan_float_bits(lexer, token, 16))
            return;
        if (second == 'x' || second == 'X')
            base = 16;
        else if (second == 'b' || second == 'B')
            base = 2;
        else if (is_digit(second))
            base = 8;
    }
    if (base == 10 && scan_decimal_float(lexer, token))
        return;
    lexer->position += base == 16 || base == 2 ? 2 : 0;
    uint64_t value = 0;
    unsigned digits = 0;
    bool fits = true;
    for (;; ++digits, ++lexer->position) {
        int digit = hex_value(peek(lexer, 0));
        if (digit < 0 || (unsigned)digit >= base)
            break;
        fits = fits && value <= (UINT64_MAX - (uint64_t)digit) / base;
        value = value * base + (uint64_t)digit;
    }
    if (peek(lexer, 0) == 'U') {
        token->is_unsigned = true;
        ++lexer->position;
    }
    bool clean = digits > 0 && fits && !is_follower(peek(lexer, 0));
    token->kind = clean ? PTX_TOKEN_INTEGER : PTX_TOKEN_BAD;
    token->value = value;
}

static void scan_string(struct ptx_lexer *lexer, struct ptx_token *token)
{
    ++lexer->position;
    size_t start = lexer->position;
    while (lexer->position < lexer->length && peek(lexer, 0) != '"') {
        if (peek(lexer, 0) == '\n')
            ++lexer->line;
        lexer->position += peek(lexer, 0) == '\\' && lexer->position + 1 < lexer->length ? 2 : 1;
    }
    token->kind = lexer->position < lexer->length ? PTX_TOKEN_STRING : PTX_TOKEN_BAD;
    token->text = lexer->text + start;
    token->length = lexer->position - start;
    if (token->kind == PTX_TOKEN_STRING)
        ++lexer->position;
}

void ptx_lexer_advance(struct ptx_lexer *lexer)
{
    size_t before = lexer->position;
    skip_blanks(lexer);
    struct ptx_token token = {.line = lexer->line,
                              .offset = lexer->position,
                              .text = lexer->text + lexer->position,
                              .glued = lexer->position == before};
    if (lexer->position >= lexer->length) {
        token.kind = PTX_TOKEN_END;
        lexer->token = token;
        return;
    }
    char c = peek(lexer, 0);
    if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_follower(peek(lexer, 1)))) {
        do
            ++lexer->position;
        while (is_follower(peek(lexer, 0)));
        token.kind = PTX_TOKEN_NAME;
    } else if (c == '.' && is_follower(peek(lexer, 1))) {
        ++token.text;
        ++lexer->position;
        for (;;) { /* .shared::cta and .L2::128B are one token */
            if (is_follower(peek(lexer, 0)))
                ++lexer->position;
            else if (peek(lexer, 0) == ':' && peek(lexer, 1) == ':' && is_follower(peek(lexer, 2)))
                lexer->position += 2;
            else
                break;
        }
        token.kind = PTX_TOKEN_DOTTED;
    } else if (is_digit(c)) {
        scan_number(lexer, &token);
    } else if (c == '"') {
        scan_string(lexer, &token);
        lexer->token = token;
        return;
    } else {
        ++lexer->position;
        bool known = c != '\0' && strchr("{}()[]<>,;:@!|+-*/%&^~=?", c) != NULL;
        token.kind = known ? PTX_TOKEN_PUNCTUATION : PTX_TOKEN_BAD;
        token.punctuation = known ? c : '\0';
    }
    token.length = (size_t)(lexer->text + lexer->position - token.text);
    lexer->token = token;
}

void ptx_lexer_start(struct ptx_lexer *lexer, const char *text, size_t length)
{
    *lexer = (struct ptx_lexer){.text = text, .length = length, .line = 1};
    ptx_lexer_advance(lexer);
}

#include "canonical.h"

#include <ctype.h>

#include "slice.h"

struct scan {
    struct slice text;
    size_t at;
    struct bytes *out;
    bool doubt;     /* give up */
    bool directive; /* the line began with '#' */
    bool begun;     /* a token was seen on this line */
};

static char peek(const struct scan *s, size_t ahead)
{
    return s->at + ahead < s->text.length ? s->text.text[s->at + ahead] : '\0';
}

static void copy(struct scan *s, size_t count)
{
    (void)bytes_append(s->out, s->text.text + s->at, count);
    s->at += count;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* ---- Pieces of C++ --------------------------------------------------------------------------- */

static void blank(struct scan *s, size_t count, bool plain)
{
    static const char blanks[] = "                                ";
    /* Compilers count columns in bytes or in characters: only where code follows on the line does
     * that matter, and only where the two differ. */
    s->doubt = s->doubt || !plain;
    for (size_t left = count; left > 0;) {
        size_t some = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
        (void)bytes_append(s->out, blanks, some);
        left -= some;
    }
    s->at += count;
}

static void line_comment(struct scan *s)
{
    struct slice rest = slice_from(s->text, s->at);
    const char *end = slice_find_char(rest, '\n');
    blank(s, end == NULL ? rest.length : (size_t)(end - rest.text), true);
}

static void block_comment(struct scan *s)
{
    struct slice rest = slice_from(s->text, s->at + 2);
    const char *end = slice_find(rest, "*/");
    if (end == NULL) {
        s->doubt = true;
        return;
    }
    size_t length = (size_t)(end - rest.text) + 4;
    const char *comment = s->text.text + s->at;
    bool plain = true, lines = false;
    for (size_t i = 0; i < length; ++i) {
        plain = plain && (unsigned char)comment[i] < 0x80 && comment[i] != '\t';
        lines = lines || comment[i] == '\n';
    }
    if (lines && s->directive) {
        s->doubt = true;
        return;
    }
    struct slice after = slice_from(rest, length - 2);
    while (slice_is_blank_at(after, 0) || slice_is_char_at(after, 0, '\r'))
        after = slice_from(after, 1);
    plain = plain || after.length == 0 || after.text[0] == '\n';
    for (size_t done = 0; done < length;) {
        const char *newline = memchr(comment + done, '\n', length - done);
        size_t part = newline == NULL ? length - done : (size_t)(newline - comment) - done;
        blank(s, part, plain);
        done += part;
        if (newline != NULL) {
            const char mark[] = {CANONICAL_JOINED_LINES, '\n'};
            (void)bytes_append(s->out, mark, sizeof mark);
            ++s->at;
            ++done;
        }
    }
}

static void quoted(struct scan *s, char quote)
{
    size_t length = 1;
    for (;; ++length) {
        char c = peek(s, length);
        if (s->at + length >= s->text.length || c == '\n') {
            s->doubt = true;
            return;
        }
        if (c == '\\')
            ++length;
        else if (c == quote)
            break;
    }
    if (s->at + length >= s->text.length) {
        s->doubt = true;
        return;
    }
    copy(s, length + 1);
}

/* A number as the preprocessor has it: 1'000, 0x1p-3, 1e+5f. */
static void number(struct scan *s)
{
    size_t length = 1;
    for (;; ++length) {
        char c = peek(s, length), before = peek(s, length - 1);
        bool sign = (c == '+' || c == '-') && strchr("eEpP", before) != NULL && before != '\0';
        bool separator = c == '\'' && is_word(peek(s, length + 1));
        if (!is_word(c) && c != '.' && !sign && !separator)
            break;
    }
    copy(s, length);
}

/* The rest of an #include line as it stands: in <a//b> there is no comment, in "a\b" no escape. */
static void keep_line(struct scan *s)
{
    struct slice rest = slice_from(s->text, s->at);
    const char *end = slice_find_char(rest, '\n');
    struct slice line = end == NULL ? rest : slice_to(rest, end);
    s->doubt = s->doubt || slice_find(line, "/*") != NULL;
    copy(s, line.length);
}

static void word(struct scan *s)
{
    size_t length = 0;
    while (is_word(peek(s, length)))
        ++length;
    struct slice name = {s->text.text + s->at, length};
    /* R"x(…)x", also as u8R, LR and so on. */
    s->doubt = s->doubt || (name.text[length - 1] == 'R' && peek(s, length) == '"');
    copy(s, length);
    static const char *const includes[] = {"include",    "include_next",  "import",
                                           "embed",      "__has_include", "__has_include_next",
                                           "__has_embed"};
    for (size_t i = 0; s->directive && i < COUNT_OF(includes); ++i)
        if (slice_is(name, includes[i]))
            keep_line(s);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\n';
}

static void line_end(struct scan *s)
{
    while (s->out->length > 0 && is_blank(s->out->data[s->out->length - 1]) &&
           s->out->data[s->out->length - 1] != '\n')
        --s->out->length;
    copy(s, 1);
    s->directive = s->begun = false;
}

static void step(struct scan *s)
{
    char c = peek(s, 0), next = peek(s, 1);
    if (c == '\n') {
        line_end(s);
        return;
    }
    if (c == '/' && (next == '/' || next == '*')) {
        if (next == '/')
            line_comment(s);
        else
            block_comment(s);
        return;
    }
    if (c == '#' && !s->begun)
        s->directive = true;
    /* %: is another way to write #. */
    s->doubt = s->doubt || (c == '%' && next == ':');
    s->begun = s->begun || !isspace((unsigned char)c);
    if (c == '"' || c == '\'')
        quoted(s, c);
    else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)next)))
        number(s);
    else if (is_word(c))
        word(s);
    else
        copy(s, 1);
}

/* What is decided before the text is taken apart into tokens. */
static bool has_joined_lines(struct slice text)
{
    for (size_t i = 0; i < text.length; ++i) {
        if (text.text[i] == '?' && i + 1 < text.length && text.text[i + 1] == '?')
            return true; /* a trigraph, perhaps */
        if (text.text[i] != '\\')
            continue;
        size_t after = i + 1;
        while (after < text.length && is_blank(text.text[after]) && text.text[after] != '\n')
            ++after;
        if (after == text.length || text.text[after] == '\n')
            return true;
    }
    return false;
}

bool canonical_source(struct bytes *out, const char *source, size_t length)
{
    *out = bytes_with_limit(length + length / 2 + 2);
    struct scan scan = {.text = {source, length}, .out = out};
    scan.doubt = length > 0 && (memchr(source, '\0', length) != NULL ||
                                memchr(source, CANONICAL_JOINED_LINES, length) != NULL ||
                                has_joined_lines(scan.text));
    while (!scan.doubt && scan.at < length)
        step(&scan);
    while (!scan.doubt && out->length > 0 && is_blank(out->data[out->length - 1]))
        --out->length;
    if (!scan.doubt && !out->failed)
        return true;
    bytes_release(out);
    return false;
}

/* ---- PTX ------------------------------------------------------------------------------------- */

/* Digits and blanks, and the names of inlined functions: what nvcc writes behind .loc. */
static bool is_line_entry(struct slice line)
{
    static const char allowed[] = "0123456789 \t,";
    if (!slice_starts_with(line, ".loc\t") && !slice_starts_with(line, ".loc "))
        return false;
    line = slice_from(line, 5);
    const char *comma = slice_find_char(line, ',');
    struct slice numbers = comma == NULL ? line : slice_to(line, comma);
    for (size_t i = 0; i < numbers.length; ++i)
        if (strchr(allowed, numbers.text[i]) == NULL || numbers.text[i] == '\0')
            return false;
    if (comma == NULL)
        return true;
    struct slice rest = slice_from(line, numbers.length);
    if (!slice_starts_with(rest, ", function_name $L__info_string"))
        return false;
    for (size_t i = 0; i < rest.length; ++i)
        if (!isalnum((unsigned char)rest.text[i]) && strchr("_$+, ", rest.text[i]) == NULL)
            return false;
    return true;
}

static bool is_file_entry(struct slice line)
{
    if (!slice_starts_with(line, ".file\t") && !slice_starts_with(line, ".file "))
        return false;
    const char *open = slice_find_char(line, '"');
    size_t before = open == NULL ? 0 : (size_t)(open - line.text);
    return open != NULL && line.text[line.length - 1] == '"' &&
           memchr(open + 1, '"', line.length - before - 1) == line.text + line.length - 1 &&
           memchr(open, '\\', line.length - before) == NULL;
}

bool canonical_ptx(struct bytes *out, const char *ptx, size_t length)
{
    *out = bytes_with_limit(length + 2);
    struct slice text = {ptx, length};
    if (slice_find(text, "inline asm") != NULL || slice_find(text, ".pragma") != NULL ||
        slice_find(text, "/*") != NULL || (length > 0 && memchr(ptx, '\0', length) != NULL))
        return false;
    while (text.length > 0) {
        const char *newline = slice_find_char(text, '\n');
        struct slice line = newline == NULL ? text : slice_to(text, newline);
        struct slice trimmed = slice_trim(line);
        size_t whole = line.length + (newline != NULL);
        bool line_table = is_line_entry(trimmed) || is_file_entry(trimmed);
        if (!line_table && slice_find_char(line, '"') != NULL)
            break; /* a string may span lines */
        if (!line_table)
            (void)bytes_append(out, text.text, whole);
        text = slice_from(text, whole);
    }
    if (text.length == 0 && !out->failed)
        return true;
    bytes_release(out);
    return false;
}

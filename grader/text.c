#include "text.h"

/* Length of the well-formed UTF-8 sequence at `text` (at most `length` bytes), or 0; *code gets its
 * code point. */
static size_t sequence(const char *text, size_t length, uint32_t *code)
{
    const unsigned char *b = (const unsigned char *)text;
    size_t size = b[0] < 0x80             ? 1
                  : (b[0] & 0xE0) == 0xC0 ? 2
                  : (b[0] & 0xF0) == 0xE0 ? 3
                  : (b[0] & 0xF8) == 0xF0 ? 4
                                          : 0;
    if (size == 0 || size > length)
        return 0;
    static const unsigned char first_mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t value = b[0] & first_mask[size];
    for (size_t i = 1; i < size; ++i) {
        if ((b[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (b[i] & 0x3Fu);
    }
    if (value < smallest[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *code = value;
    return size;
}

bool text_is_utf8(const char *text, size_t length)
{
    uint32_t code = 0;
    for (size_t at = 0; at < length;) {
        size_t size = sequence(text + at, length - at, &code);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

/* Characters that steer a terminal, turn the order of what follows, cannot be seen, or stand in no
 * document (XML refuses U+FFFE and U+FFFF). */
static bool is_control(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0, 0x1F},        {0x7F, 0x9F},     {0x61C, 0x61C},   {0x200B, 0x200B}, {0x200E, 0x200F},
        {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
    };
    for (size_t i = 0; i < COUNT_OF(ranges); ++i)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return (code & 0xFFFE) == 0xFFFE;
}

/* The piece of output that stands for what begins at `text`; *consumed says how much that is. */
static const char *printable_piece(const char *text, size_t length, bool keep_lines,
                                   size_t *piece_size, size_t *consumed)
{
    uint32_t code = 0;
    size_t size = sequence(text, length, &code);
    *consumed = size == 0 ? 1 : size;
    *piece_size = *consumed;
    if (size == 1 && (code == '\n' || code == '\t'))
        return keep_lines ? text : " ";
    if (size != 0 && !is_control(code))
        return text;
    *piece_size = 1;
    return "?";
}

static void sanitize(struct bytes *out, const char *text, size_t length, size_t room,
                     bool keep_lines)
{
    static const char cut[] = "…";
    size_t piece_size = 0, consumed = 0, total = 0;
    for (size_t at = 0; at < length && total <= room; at += consumed) {
        (void)printable_piece(text + at, length - at, keep_lines, &piece_size, &consumed);
        total += piece_size;
    }
    bool fits = total <= room;
    if (!fits && room < sizeof cut - 1)
        return;
    size_t left = fits ? room : room - (sizeof cut - 1);
    for (size_t at = 0; at < length; at += consumed) {
        const char *piece =
            printable_piece(text + at, length - at, keep_lines, &piece_size, &consumed);
        if (piece_size > left)
            break;
        bytes_append(out, piece, piece_size);
        left -= piece_size;
    }
    if (!fits)
        bytes_append_text(out, cut);
}

void text_sanitize(struct bytes *out, const char *text, size_t length, size_t room)
{
    sanitize(out, text, length, room, false);
}

void text_sanitize_lines(struct bytes *out, const char *text, size_t length, size_t room)
{
    sanitize(out, text, length, room, true);
}

void text_clean(char *text)
{
    size_t length = strlen(text), to = 0, piece_size = 0, consumed = 0;
    /* A piece is never longer than what it stands for. */
    for (size_t at = 0; at < length; at += consumed) {
        const char *piece = printable_piece(text + at, length - at, false, &piece_size, &consumed);
        memmove(text + to, piece, piece_size);
        to += piece_size;
    }
    text[to] = '\0';
}

const char *text_copy(char *into, size_t size, const char *text)
{
    struct bytes copy = bytes_in(into, size); /* short memory must not change a text */
    text_sanitize(&copy, text, strlen(text), size - 1);
    return into;
}

char *text_printable(const char *text)
{
    size_t length = strlen(text);
    struct bytes copy = bytes_with_limit(length);
    text_sanitize_lines(&copy, text, length, length);
    char *taken = bytes_take(&copy);
    bytes_release(&copy);
    return taken;
}

const char *text_number(uint64_t value, char buffer[TEXT_NUMBER_BYTES])
{
    char digits[TEXT_NUMBER_BYTES];
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t at = 0;
    for (int i = 0; i < count; ++i) {
        if (i > 0 && (count - i) % 3 == 0)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}

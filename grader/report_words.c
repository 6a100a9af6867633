#include "report_words.h"

#include "report_table.h"

static bool starts_code_point(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; ++i)
        columns += starts_code_point(text[i]);
    return columns;
}

size_t report_words_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

/* Byte offset of code point `index`. */
static size_t offset_of(const char *text, size_t index)
{
    size_t at = 0;
    for (; text[at] != '\0'; ++at)
        if (starts_code_point(text[at]) && index-- == 0)
            break;
    return at;
}

void report_words_shorten(struct bytes *out, const char *text, size_t columns)
{
    size_t wide = report_words_columns(text);
    if (wide <= columns) {
        bytes_append_text(out, text);
        return;
    }
    /* The name stands in front, the parameters that tell overloads apart behind. */
    size_t head = (columns - 1) * 2 / 3, tail = columns - 1 - head;
    bytes_append(out, text, offset_of(text, head));
    bytes_append_text(out, "…");
    bytes_append_text(out, text + offset_of(text, wide - tail));
}

void report_words_wrap(struct bytes *out, const char *sentence)
{
    size_t column = 0;
    while (*sentence != '\0') {
        size_t length = strcspn(sentence, " "), wide = columns_of(sentence, length);
        if (column > 0 && column + 1 + wide > REPORT_TABLE_COLUMNS) {
            bytes_append_text(out, "\n");
            column = 0;
        } else if (column > 0) {
            bytes_append_text(out, " ");
            ++column;
        }
        bytes_append(out, sentence, length);
        column += wide;
        sentence += length;
        sentence += strspn(sentence, " ");
    }
    bytes_append_text(out, "\n");
}

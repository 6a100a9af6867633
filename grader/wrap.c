#include "wrap.h"

#define WIDTH 80

/* Columns that `length` bytes of UTF-8 take, near enough: continuation bytes take none. */
static size_t columns(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; ++i)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

void wrap_text(struct bytes *out, size_t indent, const char *label, const char *text)
{
    size_t at = indent;
    bytes_printf(out, "%*s%s", (int)indent, "", label);
    at += columns(label, strlen(label));
    size_t margin = at;
    bool fresh = true;
    while (*text != '\0') {
        if (*text == '\n') {
            bytes_printf(out, "\n%*s", (int)margin, "");
            at = margin;
            fresh = true;
            ++text;
            continue;
        }
        size_t word = strcspn(text, " \n"), width = columns(text, word);
        if (!fresh && at + 1 + width > WIDTH) {
            bytes_printf(out, "\n%*s", (int)margin, "");
            at = margin;
            fresh = true;
        }
        if (!fresh) {
            bytes_append_text(out, " ");
            ++at;
        }
        bytes_append(out, text, word);
        at += width;
        fresh = false;
        text += word;
        while (*text == ' ')
            ++text;
    }
    bytes_append_text(out, "\n");
}

/* report_clean.c - a log as a terminal or PowerShell left it, made plain text. */
#include "report_line.h"

#define ESCAPE '\x1b'
#define BELL '\x07'

/* Length of the terminal's escape sequence that begins at `text` (ECMA-48: CSI …, OSC/APC/DCS …
 * up to BELL or ST, or two bytes). It never goes past a line end. */
static size_t escape_length(const char *text, size_t length)
{
    if (length < 2)
        return length;
    size_t at = 2;
    switch (text[1]) {
    case '[':
        while (at < length && text[at] >= 0x20 && text[at] <= 0x3F)
            ++at;
        return at < length && text[at] >= 0x40 && text[at] <= 0x7E ? at + 1 : at;
    case ']':
    case '_':
    case 'P':
    case '^':
        for (; at < length && text[at] != '\n'; ++at) {
            if (text[at] == BELL)
                return at + 1;
            if (text[at] == ESCAPE && at + 1 < length && text[at + 1] == '\\')
                return at + 2;
        }
        return at;
    case '\n':
        return 1;
    default:
        return 2;
    }
}

static int remove_escapes(struct bytes *copy, struct slice log)
{
    *copy = bytes_with_limit(log.length);
    const char *end = log.text + log.length;
    for (const char *p = log.text; p < end;) {
        const char *escape = memchr(p, ESCAPE, (size_t)(end - p));
        if (bytes_append(copy, p, (size_t)((escape != NULL ? escape : end) - p)) != 0)
            return -1;
        if (escape == NULL)
            break;
        p = escape + escape_length(escape, (size_t)(end - escape));
    }
    return 0;
}

/* What a redirection in Windows PowerShell writes. What is not ASCII becomes '?': names are ASCII,
 * and the rest only stands in messages that nobody parses. */
static int narrow_utf16(struct bytes *copy, struct slice log, bool little_endian)
{
    *copy = bytes_with_limit(log.length);
    if (bytes_reserve(copy, log.length / 2) != 0)
        return -1;
    for (size_t at = 2; at + 1 < log.length; at += 2) {
        char low = log.text[at + (little_endian ? 0 : 1)];
        char high = log.text[at + (little_endian ? 1 : 0)];
        if (bytes_append(copy, high == 0 && (unsigned char)low < 0x80 ? &low : "?", 1) != 0)
            return -1;
    }
    return 0;
}

int report_clean(struct slice *clean, struct bytes *copy, struct slice log)
{
    *clean = log;
    *copy = (struct bytes){0};
    if (log.length >= 2 &&
        (memcmp(log.text, "\xff\xfe", 2) == 0 || memcmp(log.text, "\xfe\xff", 2) == 0)) {
        if (narrow_utf16(copy, log, log.text[0] == '\xff') != 0)
            return -1;
        *clean = (struct slice){bytes_text(copy), copy->length};
    } else if (log.length >= 3 && memcmp(log.text, "\xef\xbb\xbf", 3) == 0) {
        *clean = (struct slice){log.text + 3, log.length - 3};
    }
    if (clean->length == 0 || memchr(clean->text, ESCAPE, clean->length) == NULL)
        return 0;
    struct bytes plain;
    int status = remove_escapes(&plain, *clean);
    bytes_release(copy);
    *copy = plain;
    *clean = (struct slice){bytes_text(copy), copy->length};
    return status;
}

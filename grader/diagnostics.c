#include "diagnostics.h"

#include <ctype.h>

#include "number.h"
#include "text.h"

/* nvcc's front end says "registers.cu(41): error: …", the preprocessor "registers.cu:3:10: fatal
 * error: …" → 41, 3; 0 when the line is of neither form. */
static unsigned source_line(const char *line, size_t length, const char *name)
{
    size_t name_length = strlen(name);
    if (length <= name_length + 2 || memcmp(line, name, name_length) != 0 ||
        (line[name_length] != '(' && line[name_length] != ':'))
        return 0;
    const char *digits = line + name_length + 1;
    size_t count = 0;
    while (count < length - name_length - 1 && isdigit((unsigned char)digits[count]))
        ++count;
    uint64_t number = 0;
    return number_parse_u64_bytes(digits, count, 10000000, &number) ? (unsigned)number : 0;
}

unsigned diagnostics_keep_own(struct bytes *out, const char *words, size_t length,
                              const char *source_name)
{
    unsigned error_line = 0;
    bool own = false;
    for (size_t at = 0; at < length && !out->failed;) {
        const char *line = words + at;
        const char *newline = memchr(line, '\n', length - at);
        size_t size = newline == NULL ? length - at : (size_t)(newline - line);
        unsigned number = source_line(line, size, source_name);
        bool indented = size == 0 || line[0] == ' ' || line[0] == '\t';
        own = number != 0 || (own && indented);
        if (own && size > 0) {
            text_sanitize_lines(out, line, size, 300);
            bytes_append_text(out, "\n");
        }
        if (number != 0 && error_line == 0 && memmem(line, size, "error", 5) != NULL)
            error_line = number;
        at += size + 1;
    }
    out->failed = false; /* cut at the limit is good enough for a quotation */
    return error_line;
}

void diagnostics_first_error(char *out, size_t room, const char *before, const char *words)
{
    struct bytes text = bytes_in(out, room);
    const char *error = strstr(words, "error");
    while (error != NULL && error > words && error[-1] != '\n')
        --error;
    if (error == NULL)
        error = words;
    bytes_append_text(&text, before);
    text_sanitize(&text, error, strcspn(error, "\n"), 300);
}

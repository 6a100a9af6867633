#include "csv.h"

struct csv_writer csv_writer_on(struct bytes *out)
{
    return (struct csv_writer){.out = out, .separator = ','};
}

static void begin_cell(struct csv_writer *writer)
{
    if (writer->in_row)
        bytes_append(writer->out, &writer->separator, 1);
    writer->in_row = true;
}

/* Bytes of a character at the front of `text` that a spreadsheet begins a formula with (what it
 * writes as ASCII or, in East Asian input, as full-width letters); 0: none. */
static size_t formula_sign(const char *text)
{
    static const char *const signs[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};
    for (size_t i = 0; i < COUNT_OF(signs); ++i)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

/* What may stand in front of a formula all the same: blanks, the no-break space among them, and
 * quotes, which are a pair around nothing for a reader that begins a cell there. */
static size_t skippable(const char *text)
{
    size_t length = 0;
    for (;;) {
        if (text[length] == ' ' || text[length] == '"')
            ++length;
        else if (strncmp(text + length, "\xC2\xA0", 2) == 0)
            length += 2;
        else
            return length;
    }
}

static bool begins_cell_elsewhere(char c)
{
    return c == ';' || c == '\t' || c == '\n' || c == '\r';
}

static void append_guarded(struct bytes *out, const char *text)
{
    bool fresh = true; /* a spreadsheet may begin a cell here */
    if ((unsigned char)text[0] < ' ' && text[0] != '\0')
        bytes_append_text(out, "'");
    while (*text != '\0') {
        if (fresh) {
            size_t skipped = skippable(text);
            if (formula_sign(text + skipped) > 0)
                bytes_append_text(out, "'");
            bytes_append(out, text, skipped);
            text += skipped;
            fresh = false;
            continue;
        }
        fresh = begins_cell_elsewhere(*text);
        bytes_append(out, text++, 1);
    }
}

static void append_quoted(struct bytes *out, const char *text)
{
    bytes_append_text(out, "\"");
    for (; *text != '\0'; ++text)
        bytes_append(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    bytes_append_text(out, "\"");
}

static void append_cell(struct bytes *out, const char *text)
{
    bool plain = strpbrk(text, ",;\t\r\n\"") == NULL && text[0] != ' ' &&
                 (text[0] == '\0' || text[strlen(text) - 1] != ' ');
    if (plain)
        bytes_append_text(out, text);
    else
        append_quoted(out, text);
}

void csv_put(struct csv_writer *writer, const char *text)
{
    begin_cell(writer);
    if (text == NULL)
        return;
    struct bytes guarded = bytes_with_limit(2 * strlen(text) + 2);
    append_guarded(&guarded, text);
    if (guarded.failed)
        writer->out->failed = true;
    append_cell(writer->out, bytes_text(&guarded));
    bytes_release(&guarded);
}

void csv_put_exact(struct csv_writer *writer, const char *text)
{
    begin_cell(writer);
    if (text != NULL)
        append_cell(writer->out, text);
}

void csv_put_number(struct csv_writer *writer, int64_t value)
{
    begin_cell(writer);
    bytes_printf(writer->out, "%lld", (long long)value);
}

void csv_end_row(struct csv_writer *writer)
{
    bytes_append_text(writer->out, "\n");
    writer->in_row = false;
}

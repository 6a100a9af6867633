#include "csv.h"

#include <strings.h>

#include "caps.h"
#include "files.h"
#include "text.h"

/* The reader copies cells, quotes undone, one after another into `text`, which is never longer than
 * the input and so is allocated once: pointers into it stay good. */
struct reader {
    const char *at, *end;
    size_t line;
    char *to; /* next free byte of csv->text */
    struct csv *csv;
    struct problems *problems;
    size_t cell_count, cell_capacity; /* of csv->cells */
    size_t row_capacity;
    bool bad_row; /* the current row has a problem and is left out */
    struct error *err;
};

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static void complain(struct reader *r, size_t line, const char *what)
{
    if (!r->bad_row)
        problems_add(r->problems, line, "%s", what);
    r->bad_row = true;
}

/* Over one CRLF, LF or CR. */
static void skip_line_end(struct reader *r)
{
    if (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n')
        ++r->at;
    ++r->at;
    ++r->line;
}

static void read_quoted(struct reader *r)
{
    size_t opened = r->line;
    ++r->at;
    for (;;) {
        if (r->at == r->end) {
            complain(
                r, opened,
                "a quoted cell begins here and is never closed: put a \" at its end, and write "
                "a quote inside it as \"\"");
            return;
        }
        if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"')) {
            ++r->at;
            return;
        }
        if (*r->at == '"')
            ++r->at;
        else if (*r->at == '\n' || (*r->at == '\r' && (r->at + 1 == r->end || r->at[1] != '\n')))
            ++r->line;
        *r->to++ = *r->at++;
    }
}

static int keep_cell(struct reader *r, char *cell)
{
    if (r->cell_count == r->cell_capacity) {
        size_t capacity = r->cell_capacity == 0 ? 256 : 2 * r->cell_capacity;
        char **grown = realloc(r->csv->cells, capacity * sizeof grown[0]);
        if (grown == NULL)
            return error_no_memory(r->err);
        r->csv->cells = grown;
        r->cell_capacity = capacity;
    }
    r->csv->cells[r->cell_count++] = cell;
    return 0;
}

static int read_cell(struct reader *r)
{
    char *cell = r->to;
    if (r->at < r->end && *r->at == '"') {
        read_quoted(r);
        if (r->at < r->end && *r->at != r->csv->separator && !is_line_end(*r->at))
            complain(r, r->line,
                     "something stands behind the closing quote of a cell: write a quote inside a "
                     "cell as \"\", and put the whole cell in quotes");
    }
    while (r->at < r->end && *r->at != r->csv->separator && !is_line_end(*r->at)) {
        if (*r->at == '"')
            complain(r, r->line,
                     "a quote stands inside a cell that has none in front: put the whole cell in "
                     "quotes, and write the quote as \"\"");
        *r->to++ = *r->at++;
    }
    size_t length = (size_t)(r->to - cell);
    if (length > LIMIT_CSV_CELL_BYTES)
        complain(r, r->line, "a cell is longer than 64 KiB");
    *r->to++ = '\0';
    return keep_cell(r, cell);
}

/* What a row's bytes must be whatever they mean. */
static void check_bytes(struct reader *r, size_t line, const char *from)
{
    size_t length = (size_t)(r->at - from);
    if (memchr(from, '\0', length) != NULL)
        complain(r, line,
                 "a NUL byte: this is no text file (\"CSV UTF-8\" is what it should be "
                 "saved as)");
    else if (!text_is_utf8(from, length))
        complain(r, line, "bytes that are not UTF-8: save the table as \"CSV UTF-8\"");
}

static int keep_row(struct reader *r, size_t line, size_t first_cell)
{
    struct csv *csv = r->csv;
    if (r->bad_row) {
        r->cell_count = first_cell;
        return 0;
    }
    if (csv->row_count == r->row_capacity) {
        size_t capacity = r->row_capacity == 0 ? 64 : 2 * r->row_capacity;
        struct csv_row *grown = realloc(csv->rows, capacity * sizeof grown[0]);
        if (grown == NULL)
            return error_no_memory(r->err);
        csv->rows = grown;
        r->row_capacity = capacity;
    }
    /* The place among the cells; a pointer once they no longer move. */
    csv->rows[csv->row_count++] =
        (struct csv_row){.line = line, .count = r->cell_count - first_cell};
    return 0;
}

static int read_row(struct reader *r)
{
    size_t line = r->line, first_cell = r->cell_count;
    const char *from = r->at;
    r->bad_row = false;
    for (;;) {
        if (r->cell_count - first_cell == LIMIT_CSV_COLUMNS) {
            complain(r, line, "more than 2,000 cells in one row");
            r->cell_count = first_cell;
        }
        if (read_cell(r) != 0)
            return -1;
        if (r->at == r->end || *r->at != r->csv->separator)
            break;
        ++r->at;
    }
    check_bytes(r, line, from);
    if (r->at < r->end)
        skip_line_end(r);
    return keep_row(r, line, first_cell);
}

/* The one of , ; and tab that the first row has outside of quotes; a comma wins. */
static char find_separator(const char *at, const char *end)
{
    bool quoted = false, semicolon = false, tab = false;
    for (; at < end && (quoted || !is_line_end(*at)); ++at) {
        if (*at == '"')
            quoted = !quoted;
        else if (!quoted && *at == ',')
            return ',';
        else if (!quoted && *at == ';')
            semicolon = true;
        else if (!quoted && *at == '\t')
            tab = true;
    }
    if (semicolon)
        return ';';
    return tab ? '\t' : ',';
}

static int read_rows(struct reader *r)
{
    while (r->at < r->end) {
        if (is_line_end(*r->at)) {
            skip_line_end(r);
            continue;
        }
        if (r->csv->row_count == LIMIT_CSV_ROWS) {
            problems_add(r->problems, r->line, "more than 200,000 rows");
            return 0;
        }
        if (read_row(r) != 0)
            return -1;
    }
    return 0;
}

static bool starts_with_bytes(const char *data, size_t length, const char *bytes)
{
    return length >= strlen(bytes) && memcmp(data, bytes, strlen(bytes)) == 0;
}

int csv_parse(struct csv *ret, const char *data, size_t length, struct problems *problems,
              struct error *err)
{
    *ret = (struct csv){.separator = ','};
    if (starts_with_bytes(data, length, "\xFF\xFE") ||
        starts_with_bytes(data, length, "\xFE\xFF")) {
        problems_add(problems, 0, "is UTF-16 (\"Unicode text\"): save the table as \"CSV UTF-8\"");
        return 0;
    }
    if (length > LIMIT_CSV_BYTES) {
        problems_add(problems, 0, "is larger than 64 MiB");
        return 0;
    }
    if (starts_with_bytes(data, length, "\xEF\xBB\xBF")) {
        data += 3;
        length -= 3;
    }
    /* Each cell needs its bytes and a NUL: it has a separator, a line end or the end behind it. */
    ret->text = malloc(length + 1);
    if (ret->text == NULL)
        return error_no_memory(err);
    ret->separator = find_separator(data, data + length);
    struct reader reader = {.at = data,
                            .end = data + length,
                            .line = 1,
                            .to = ret->text,
                            .csv = ret,
                            .problems = problems,
                            .err = err};
    if (read_rows(&reader) != 0) {
        csv_release(ret);
        return -1;
    }
    size_t first = 0;
    for (size_t i = 0; i < ret->row_count; ++i) {
        ret->rows[i].cells = ret->cells + first;
        first += ret->rows[i].count;
    }
    return 0;
}

int csv_read(struct csv *ret, const char *path, struct problems *problems, struct error *err)
{
    *ret = (struct csv){.separator = ','};
    struct bytes content;
    enum file_status status = file_read(&content, path, LIMIT_CSV_BYTES, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_USAGE, "cannot read %s: %s", path, file_status_text(status));
    int result = csv_parse(ret, content.data, content.length, problems, err);
    bytes_release(&content);
    return result;
}

void csv_release(struct csv *csv)
{
    free(csv->rows);
    free(csv->text);
    free(csv->cells);
    *csv = (struct csv){0};
}

/* ---- What is in it --------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || is_line_end(c);
}

const char *csv_cell(const struct csv_row *row, size_t column)
{
    if (column >= row->count)
        return "";
    char *cell = row->cells[column];
    while (is_blank(*cell))
        ++cell;
    size_t length = strlen(cell);
    while (length > 0 && is_blank(cell[length - 1]))
        --length;
    cell[length] = '\0';
    return cell;
}

bool csv_row_is_blank(const struct csv_row *row)
{
    for (size_t i = 0; i < row->count; ++i)
        if (csv_cell(row, i)[0] != '\0')
            return false;
    return true;
}

static const struct csv_column *find_column(const struct csv_column *columns, size_t count,
                                            const char *name)
{
    for (size_t i = 0; i < count; ++i)
        if (strcasecmp(columns[i].name, name) == 0)
            return &columns[i];
    return NULL;
}

void csv_find_columns(const struct csv *csv, const struct csv_column *columns, size_t count,
                      struct problems *problems, struct problems *notes)
{
    for (size_t i = 0; i < count; ++i)
        *columns[i].ret = CSV_NO_COLUMN;
    if (csv->row_count == 0) {
        if (problems->total == 0)
            problems_add(problems, 0, "is empty: its first row should name the columns");
        return;
    }
    const struct csv_row *header = &csv->rows[0];
    for (size_t i = 0; i < header->count; ++i) {
        const char *name = csv_cell(header, i);
        const struct csv_column *column = find_column(columns, count, name);
        if (column != NULL && *column->ret == CSV_NO_COLUMN)
            *column->ret = i;
        else if (column != NULL)
            problems_add(problems, header->line, "the column `%s` is there twice", column->name);
        else if (name[0] != '\0' && notes != NULL)
            problems_add(notes, header->line, "the column `%.60s` is not used", name);
    }
    struct bytes missing = bytes_with_limit(1000);
    for (size_t i = 0; i < count; ++i)
        if (columns[i].required && *columns[i].ret == CSV_NO_COLUMN)
            bytes_printf(&missing, "%s`%s`", missing.length > 0 ? ", " : "", columns[i].name);
    if (missing.length > 0)
        problems_add(problems, header->line, "the first row should name the columns; it lacks %s",
                     bytes_text(&missing));
    bytes_release(&missing);
}

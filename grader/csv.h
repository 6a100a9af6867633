/* csv.h - tables as comma-separated values: a reader for what spreadsheets and learning platforms
 * write, and a writer whose cells a spreadsheet takes for text, never for a formula.
 *
 * Format: RFC 4180. Beyond it the reader takes a byte order mark, LF and CR as ends of a line, `;`
 * or a tab as the separator when the first row has that and no comma, and passes over empty lines.
 * It refuses, by line: a quote that does not stand at the front of its cell, anything after the
 * closing quote, a quote that is never closed, bytes that are not UTF-8, NUL, and what exceeds a
 * cap of caps.h. */
#ifndef SPILLWAY_CSV_H
#define SPILLWAY_CSV_H

#include "errors.h"
#include "problems.h"

struct csv_row {
    size_t line;  /* where it begins, from 1; a quoted cell may span lines */
    char **cells; /* NUL-terminated, quotes undone, not trimmed; borrowed from the table */
    size_t count;
};

struct csv {
    char separator;
    struct csv_row *rows; /* owned, the header first */
    size_t row_count;
    char *text;   /* owned: the cells' bytes */
    char **cells; /* owned: the rows' pointers */
};

/* What cannot be read becomes a problem and its row is left out; the rest is read all the same.
 * Returns -1 with *err only without memory, and then *ret is empty. */
int csv_parse(struct csv *ret, const char *data, size_t length, struct problems *problems,
              struct error *err);
/* The same from a file. A file that is not there or cannot be read is a usage error. */
int csv_read(struct csv *ret, const char *path, struct problems *problems, struct error *err);
void csv_release(struct csv *csv);

/* The cell without blanks at either end, "" where the row is shorter or the column is
 * CSV_NO_COLUMN. Borrowed from the table; the blanks behind it are cut off in place. */
#define CSV_NO_COLUMN SIZE_MAX
const char *csv_cell(const struct csv_row *row, size_t column);
/* All cells of the row are blank: what a spreadsheet leaves below a table. */
bool csv_row_is_blank(const struct csv_row *row);

/* ---- Columns by name ------------------------------------------------------------------------- */

struct csv_column {
    const char *name;
    bool required;
    size_t *ret; /* the column's place, or CSV_NO_COLUMN */
};

/* Finds columns in the header, without regard to case and blanks. A required one that is missing
 * and one that is there twice are problems; one that nobody asked for goes to `notes`, since a
 * misspelt name would else be ignored in silence. NULL: no notes wanted. */
void csv_find_columns(const struct csv *csv, const struct csv_column *columns, size_t count,
                      struct problems *problems, struct problems *notes);

/* ---- Writing --------------------------------------------------------------------------------- */

/* Appends rows to a buffer; trouble is in out->failed. Rows end in LF. */
struct csv_writer {
    struct bytes *out;
    char separator;
    bool in_row;
};

struct csv_writer csv_writer_on(struct bytes *out);

/* Text from anywhere. What a spreadsheet would take for a formula gets an apostrophe in front: a
 * first character = + - @ (and their full-width twins) or a control character, also behind blanks
 * and quotes;
 * and the same behind a `;`, tab or line end inside the cell, where a spreadsheet that expects
 * another separator would begin a cell of its own. NULL is an empty cell. */
void csv_put(struct csv_writer *writer, const char *text);
/* Text that another program matches byte by byte: quoted as need be, but never guarded. Only for
 * what a student has no say in. */
void csv_put_exact(struct csv_writer *writer, const char *text);
void csv_put_number(struct csv_writer *writer, int64_t value);
void csv_end_row(struct csv_writer *writer);

#endif

#include "canvas.h"

#include <strings.h>

#include "slice.h"
#include "text.h"

/* ---- The template ---------------------------------------------------------------------------- */

static bool is_identity(const char *name)
{
    static const char *const names[] = {
        "Student",      "LastName",       "FirstName",    "ID",      "SIS User ID",
        "SIS Login ID", "Integration ID", "Root Account", "Section",
    };
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

/* Canvas looks for these words anywhere in a title, and then does not take the column for an
 * assignment. */
static bool is_passed_over(const char *title)
{
    static const char *const words[] = {"Current Score",  "Current Points", "Current Grade",
                                        "Final Score",    "Final Points",   "Final Grade",
                                        "Override Score", "Override Grade", "Override Status"};
    for (size_t i = 0; i < COUNT_OF(words); ++i)
        if (strcasestr(title, words[i]) != NULL)
            return true;
    return false;
}

/* The title in front of " (12345)". */
static struct slice title_of(const char *header)
{
    struct slice title = {header, strlen(header)};
    const char *open = slice_find_last(title, " (");
    if (open == NULL || title.text[title.length - 1] != ')')
        return title;
    size_t digits = title.length - (size_t)(open - header) - 3;
    return digits > 0 && slice_digits((struct slice){open + 2, digits}) == digits
               ? slice_to(title, open)
               : title;
}

static bool same_title(const char *header, const char *wanted)
{
    struct slice title = title_of(header);
    return strcasecmp(header, wanted) == 0 ||
           (title.length == strlen(wanted) && strncasecmp(title.text, wanted, title.length) == 0);
}

static bool mentions(const char *header, const struct lab *lab)
{
    return strcasestr(header, lab->title) != NULL || strcasestr(header, lab->id) != NULL;
}

static bool is_read_only(const struct canvas *canvas, size_t column)
{
    return canvas->points_row != 0 &&
           strcasestr(csv_cell(&canvas->csv.rows[canvas->points_row], column), "read only") != NULL;
}

enum rule { RULE_NAMED, RULE_MENTIONS, RULE_ONLY };

/* Columns of assignments that a rule fits; *ret is the last of them, and `titles` gets some. */
static size_t count_columns(const struct canvas *canvas, enum rule rule, const char *column,
                            const struct lab *lab, size_t *ret, struct bytes *titles)
{
    enum { SHOWN = 6 };
    const struct csv_row *header = &canvas->csv.rows[0];
    size_t count = 0;
    for (size_t i = 0; i < header->count; ++i) {
        const char *name = csv_cell(header, i);
        if (is_identity(name) || name[0] == '\0' || is_passed_over(name) || is_read_only(canvas, i))
            continue;
        if ((rule == RULE_NAMED && !same_title(name, column)) ||
            (rule == RULE_MENTIONS && !mentions(name, lab)))
            continue;
        char title[100];
        if (++count <= SHOWN)
            bytes_printf(titles, "%s\"%s\"", count == 1 ? "" : ", ",
                         text_copy(title, sizeof title, name));
        *ret = i;
    }
    if (count > SHOWN)
        bytes_printf(titles, " and %zu more", count - SHOWN);
    return count;
}

/* Asked for by its title. */
static void find_named(struct canvas *canvas, const char *column, const struct lab *lab,
                       struct bytes *titles, struct problems *problems)
{
    if (is_passed_over(column))
        problems_add(problems, 0,
                     "Canvas passes over a column called `%.100s`: its title must not hold "
                     "words such as \"Final Score\"",
                     column);
    size_t others,
        named = count_columns(canvas, RULE_NAMED, column, lab, &canvas->assignment, titles);
    if (named > 1)
        problems_add(problems, canvas->csv.rows[0].line,
                     "several columns are called `%.100s`: give the id in parentheses behind the "
                     "title as well (%s)",
                     column, bytes_text(titles));
    /* Canvas would make a new assignment of a title that was mistyped. */
    else if (named == 0 && count_columns(canvas, RULE_ONLY, NULL, lab, &others, titles) > 0)
        problems_add(problems, canvas->csv.rows[0].line,
                     "no column is called `%.100s`; its assignments are %s", column,
                     bytes_text(titles));
}

static void find_assignment(struct canvas *canvas, const char *column, const struct lab *lab,
                            struct problems *problems)
{
    char room[900];
    struct bytes titles = bytes_in(room, sizeof room);
    canvas->assignment = CSV_NO_COLUMN;
    if (column != NULL) {
        find_named(canvas, column, lab, &titles, problems);
        return;
    }
    size_t fitting = count_columns(canvas, RULE_MENTIONS, NULL, lab, &canvas->assignment, &titles);
    if (fitting == 0) {
        fitting = count_columns(canvas, RULE_ONLY, NULL, lab, &canvas->assignment, &titles);
        canvas->guessed = fitting == 1;
    }
    if (fitting == 0)
        problems_add(problems, canvas->csv.rows[0].line,
                     "which of its columns is %s? none is an assignment that can be written: name "
                     "a new one with --canvas-column",
                     lab->id);
    else if (fitting > 1)
        problems_add(problems, canvas->csv.rows[0].line,
                     "which of its columns is %s? there are several: name one with "
                     "--canvas-column, of %s",
                     lab->id, bytes_text(&titles));
}

/* The row that says which assignments are posted by hand: no student's, and it has no points. */
static bool is_posting_row(const struct csv_row *row)
{
    bool posting = false;
    for (size_t i = 0; i < row->count; ++i) {
        const char *cell = csv_cell(row, i);
        bool says = strcasecmp(cell, "Manual Posting") == 0 || strcasecmp(cell, "Muted") == 0;
        if (cell[0] != '\0' && !says)
            return false;
        posting |= says;
    }
    return posting;
}

/* " Points Possible" stands in the first cell below the header, or below the row on posting. */
static void find_points_row(struct canvas *canvas)
{
    size_t at = 1;
    if (canvas->csv.row_count > at && is_posting_row(&canvas->csv.rows[at]))
        ++at;
    if (canvas->csv.row_count > at &&
        strcasestr(csv_cell(&canvas->csv.rows[at], 0), "points possible") != NULL)
        canvas->points_row = at;
}

static int keep_identity(struct canvas *canvas, struct error *err)
{
    const struct csv_row *header = &canvas->csv.rows[0];
    canvas->identity = calloc(header->count + 1, sizeof canvas->identity[0]);
    if (canvas->identity == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < header->count; ++i)
        if (is_identity(csv_cell(header, i)))
            canvas->identity[canvas->identity_count++] = i;
    return 0;
}

static int understand(struct canvas *canvas, const char *column, const struct lab *lab,
                      struct problems *problems, struct error *err)
{
    size_t section = CSV_NO_COLUMN, before = problems->total;
    const struct csv_column columns[] = {
        /* clang-format off */
        {"Student",      false, &canvas->name},
        {"ID",           true,  &canvas->id},
        {"SIS User ID",  false, &canvas->sis_user},
        {"SIS Login ID", false, &canvas->sis_login},
        {"Section",      true,  &section},
        /* clang-format on */
    };
    csv_find_columns(&canvas->csv, columns, COUNT_OF(columns), problems, NULL);
    if (canvas->csv.row_count == 0 || problems->total != before) {
        problems_add(problems, 0,
                     "is no gradebook that Canvas exported: choose Grades, Export, "
                     "and give that file");
        return 0;
    }
    find_points_row(canvas);
    find_assignment(canvas, column, lab, problems);
    if (problems->total != before)
        return 0;
    canvas->title =
        strdup(canvas->assignment == CSV_NO_COLUMN ? column
                                                   : canvas->csv.rows[0].cells[canvas->assignment]);
    return canvas->title == NULL ? error_no_memory(err) : keep_identity(canvas, err);
}

int canvas_read(struct canvas *ret, const char *path, const char *column, const struct lab *lab,
                struct problems *problems, struct error *err)
{
    *ret = (struct canvas){0};
    if (csv_read(&ret->csv, path, problems, err) != 0)
        return -1;
    if (understand(ret, column, lab, problems, err) == 0)
        return 0;
    canvas_release(ret);
    return -1;
}

void canvas_release(struct canvas *canvas)
{
    csv_release(&canvas->csv);
    free(canvas->identity);
    free(canvas->title);
    *canvas = (struct canvas){0};
}

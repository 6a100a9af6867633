/* out_canvas.c - who of Canvas's export is who of the roster, and the file that it imports. */
#include "canvas.h"

#include <strings.h>

/* ---- Who is who ------------------------------------------------------------------------------ */

/* An id or an address of a student of ours. */
struct key {
    const char *text;
    size_t student; /* place in the standings */
};

struct match {
    struct key *ids, *emails; /* owned, sorted without regard to case */
    size_t count;
    size_t *row_of; /* owned; a student's row of the template; 0: none */
    bool by_sis;    /* some row was found by what the school says of it */
};

static int order_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    return strcasecmp(a->text, b->text);
}

static int match_start(struct match *match, const struct standings *standings, struct error *err)
{
    match->count = standings->count;
    match->ids = calloc(match->count + 1, sizeof match->ids[0]);
    match->emails = calloc(match->count + 1, sizeof match->emails[0]);
    match->row_of = calloc(match->count + 1, sizeof match->row_of[0]);
    if (match->ids == NULL || match->emails == NULL || match->row_of == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < match->count; ++i) {
        match->ids[i] = (struct key){standings->rows[i].student->id, i};
        match->emails[i] = (struct key){standings->rows[i].student->email, i};
    }
    qsort(match->ids, match->count, sizeof match->ids[0], order_keys);
    qsort(match->emails, match->count, sizeof match->emails[0], order_keys);
    return 0;
}

static void match_release(struct match *match)
{
    free(match->ids);
    free(match->emails);
    free(match->row_of);
}

static const struct key *find_key(const struct key *keys, size_t count, const char *text)
{
    const struct key wanted = {text, 0};
    return keys == NULL || text[0] == '\0'
               ? NULL
               : bsearch(&wanted, keys, count, sizeof keys[0], order_keys);
}

/* What the school itself says of the row; NULL: nobody of ours. *other: somebody else whom it says
 * as well, NULL: nobody. */
static const struct key *find_by_sis(const struct match *match, const struct canvas *canvas,
                                     const struct csv_row *row, const struct key **other)
{
    const char *const cells[] = {csv_cell(row, canvas->sis_user), csv_cell(row, canvas->sis_login)};
    const struct key *const tables[] = {match->ids, match->emails};
    const struct key *found = NULL;
    *other = NULL;
    for (size_t i = 0; i < COUNT_OF(tables) * COUNT_OF(cells); ++i) {
        const struct key *key = find_key(tables[i / 2], match->count, cells[i % 2]);
        if (found == NULL)
            found = key;
        else if (key != NULL && key->student != found->student)
            *other = key;
    }
    return found;
}

/* Canvas numbers its users itself, and such a number may be another student's id at the school: it
 * is asked only where the school says nothing of the row, or in a file in which nothing that the
 * school says is in the roster. */
static const struct key *find_by_canvas_id(const struct match *match, const struct canvas *canvas,
                                           const struct csv_row *row)
{
    bool silent =
        csv_cell(row, canvas->sis_user)[0] == '\0' && csv_cell(row, canvas->sis_login)[0] == '\0';
    return silent || !match->by_sis ? find_key(match->ids, match->count, csv_cell(row, canvas->id))
                                    : NULL;
}

/* A row without a name and an id says something of the columns; "Student, Test" is Canvas's own. */
static bool is_student_row(const struct canvas *canvas, size_t at)
{
    const struct csv_row *row = &canvas->csv.rows[at];
    if (at == 0 || at <= canvas->points_row || csv_row_is_blank(row))
        return false;
    const char *name = csv_cell(row, canvas->name);
    return csv_cell(row, canvas->id)[0] != '\0' && strcasecmp(name, "Student, Test") != 0;
}

/* True: the row's student is known, and is the row's unless an earlier row has it. */
static bool take_row(struct match *match, const struct canvas *canvas, size_t at,
                     const struct key *key, struct problems *notes)
{
    const struct csv_row *row = &canvas->csv.rows[at];
    if (key == NULL)
        return false;
    if (match->row_of[key->student] != 0)
        problems_add(notes, row->line, "%.100s is the student of line %zu once more: left out",
                     csv_cell(row, canvas->name),
                     canvas->csv.rows[match->row_of[key->student]].line);
    else
        match->row_of[key->student] = at;
    return true;
}

/* True: the school says who it is, or that it cannot be told. */
static bool take_sis_row(struct match *match, const struct canvas *canvas,
                         const struct standings *standings, size_t at, struct problems *notes)
{
    const struct csv_row *row = &canvas->csv.rows[at];
    const struct key *other = NULL, *key = find_by_sis(match, canvas, row, &other);
    if (other == NULL)
        return take_row(match, canvas, at, key, notes);
    /* A wrong guess would give one student another's grade. */
    problems_add(notes, row->line,
                 "%.100s has the ids of two students of the roster, %s and %s: left out",
                 csv_cell(row, canvas->name), standings->rows[key->student].student->id,
                 standings->rows[other->student].student->id);
    return true;
}

/* First all that the school says, so that no number of Canvas's comes before it. */
static void match_rows(struct match *match, const struct canvas *canvas,
                       const struct standings *standings, struct problems *notes)
{
    const struct key *other;
    for (size_t i = 1; i < canvas->csv.row_count; ++i)
        if (is_student_row(canvas, i) && take_sis_row(match, canvas, standings, i, notes))
            match->by_sis = true;
    for (size_t i = 1; i < canvas->csv.row_count; ++i) {
        const struct csv_row *row = &canvas->csv.rows[i];
        if (is_student_row(canvas, i) && find_by_sis(match, canvas, row, &other) == NULL &&
            !take_row(match, canvas, i, find_by_canvas_id(match, canvas, row), notes))
            problems_add(notes, row->line, "%.100s is in Canvas, but not in the roster: left out",
                         csv_cell(row, canvas->name));
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Ids are what Canvas matches; a name may have been written by its student. */
static bool is_id(const struct canvas *canvas, size_t column)
{
    return column == canvas->id || column == canvas->sis_user || column == canvas->sis_login;
}

static void write_identity(struct csv_writer *writer, const struct canvas *canvas,
                           const struct csv_row *row)
{
    for (size_t i = 0; i < canvas->identity_count; ++i) {
        size_t column = canvas->identity[i];
        const char *cell = column < row->count ? row->cells[column] : "";
        bool exact = row == &canvas->csv.rows[0] || is_id(canvas, column);
        (exact ? csv_put_exact : csv_put)(writer, cell);
    }
}

static void write_heads(struct csv_writer *writer, const struct canvas *canvas,
                        const struct standings *standings, struct problems *notes)
{
    write_identity(writer, canvas, &canvas->csv.rows[0]);
    csv_put_exact(writer, canvas->title);
    csv_end_row(writer);
    if (canvas->points_row == 0)
        return;
    const struct csv_row *row = &canvas->csv.rows[canvas->points_row];
    char own[32];
    (void)snprintf(own, sizeof own, "%d", lab_max_score(standings->lab));
    const char *theirs =
        canvas->assignment == CSV_NO_COLUMN ? own : csv_cell(row, canvas->assignment);
    write_identity(writer, canvas, row);
    csv_put_exact(writer, theirs);
    csv_end_row(writer);
    /* "100" and "100.00" are one number. */
    size_t digits = strlen(own);
    if (strncmp(theirs, own, digits) != 0 ||
        strspn(theirs + digits, ".,0") != strlen(theirs + digits))
        problems_add(notes, row->line,
                     "Canvas has %.40s points possible for this assignment, the lab has %s: scores "
                     "are written as the lab counts them",
                     theirs[0] == '\0' ? "no" : theirs, own);
}

static bool is_excused(const struct canvas *canvas, const struct csv_row *row)
{
    return strcasecmp(csv_cell(row, canvas->assignment), "EX") == 0;
}

static void write_students(struct csv_writer *writer, const struct canvas *canvas,
                           const struct standings *standings, const struct match *match,
                           struct problems *notes)
{
    for (size_t i = 0; i < standings->count; ++i) {
        const struct standing *standing = &standings->rows[i];
        if (match->row_of[i] == 0) {
            problems_add(notes, 0, "%s (%s) is in the roster, but not in Canvas: left out",
                         standing->student->id, standing->student->name);
        } else if (is_excused(canvas, &canvas->csv.rows[match->row_of[i]])) {
            problems_add(notes, canvas->csv.rows[match->row_of[i]].line,
                         "%s (%s) is excused in Canvas: left out", standing->student->id,
                         standing->student->name);
        } else if (!standing_has_score(standing)) {
            problems_add(notes, 0, "%s (%s) has no score yet: left out", standing->student->id,
                         standing->student->name);
        } else {
            write_identity(writer, canvas, &canvas->csv.rows[match->row_of[i]]);
            csv_put_number(writer, standing->late.score);
            csv_end_row(writer);
        }
    }
}

int canvas_write(struct bytes *out, const struct canvas *canvas, const struct standings *standings,
                 struct problems *notes, struct error *err)
{
    struct match match = {0};
    int status = match_start(&match, standings, err);
    if (status == 0) {
        struct csv_writer writer = csv_writer_on(out);
        writer.separator = canvas->csv.separator;
        match_rows(&match, canvas, standings, notes);
        write_heads(&writer, canvas, standings, notes);
        write_students(&writer, canvas, standings, &match, notes);
        problems_sort(notes);
    }
    match_release(&match);
    return status;
}

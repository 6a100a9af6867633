#include "overrides.h"

#include "caps.h"
#include "csv.h"
#include "files.h"
#include "number.h"
#include "text.h"

struct columns {
    size_t student, mark, points, reason;
};

struct reader {
    struct overrides *overrides;
    const struct roster *roster;
    const struct lab *lab;
    struct problems *problems;
    struct columns columns;
};

static const struct criterion *find_criterion(const struct lab *lab, const char *id)
{
    for (size_t i = 0; i < lab->criterion_count; ++i)
        if (strcmp(lab->criteria[i].id, id) == 0)
            return &lab->criteria[i];
    return NULL;
}

static void check_points(struct reader *r, struct override *override, const char *points,
                         const struct criterion *criterion)
{
    uint64_t number = 0;
    override->withdrawn = points[0] == '\0';
    if (criterion == NULL || override->withdrawn)
        return;
    if (number_parse_u64(points, (uint64_t)criterion->points, &number))
        override->points = (int64_t)number;
    else
        problems_add(r->problems, override->line,
                     "`%.40s` are no points for %s: expected a whole number from 0 to %d, or "
                     "nothing to take an override back",
                     points, criterion->id, criterion->points);
}

/* The reason goes to the student. */
static void check_reason(struct reader *r, size_t line, const char *reason)
{
    struct bytes clean = bytes_with_limit(2 * strlen(reason) + 8);
    text_sanitize_lines(&clean, reason, strlen(reason), 2 * strlen(reason));
    if (reason[0] == '\0')
        problems_add(r->problems, line, "`reason` is empty: the student reads it");
    else if (strlen(reason) > LIMIT_REASON_BYTES)
        problems_add(r->problems, line, "`reason` is longer than %d bytes", LIMIT_REASON_BYTES);
    else if (strcmp(bytes_text(&clean), reason) != 0)
        problems_add(r->problems, line, "`reason` holds characters that cannot be printed");
    bytes_release(&clean);
}

static void check_row(struct reader *r, struct override *override, const struct csv_row *row)
{
    const char *student = csv_cell(row, r->columns.student);
    const char *mark = csv_cell(row, r->columns.mark);
    const struct criterion *criterion = find_criterion(r->lab, mark);
    if (student[0] == '\0')
        problems_add(r->problems, override->line, "`student` is empty");
    else if (roster_find(r->roster, student) == NULL)
        problems_add(r->problems, override->line, "no student of the roster has the id `%.60s`",
                     student);
    if (criterion == NULL)
        problems_add(r->problems, override->line,
                     "%s has no mark `%.60s`: its marks are listed in each feedback.txt, such as "
                     "%s",
                     r->lab->id, mark, r->lab->criteria[0].id);
    check_points(r, override, csv_cell(row, r->columns.points), criterion);
    check_reason(r, override->line, csv_cell(row, r->columns.reason));
}

/* Two rows for one mark of one student: which one counts? */
static void check_twice(struct reader *r, size_t at)
{
    const struct override *last = &r->overrides->items[at];
    for (size_t i = 0; i < at; ++i) {
        const struct override *earlier = &r->overrides->items[i];
        if (strcmp(earlier->student, last->student) == 0 &&
            strcmp(earlier->mark, last->mark) == 0) {
            problems_add(r->problems, last->line, "%s of %s is on line %zu already", last->mark,
                         last->student, earlier->line);
            return;
        }
    }
}

static void override_release(struct override *override)
{
    free(override->student);
    free(override->mark);
    free(override->reason);
    *override = (struct override){0};
}

static int read_rows(struct reader *r, const struct csv *csv, struct error *err)
{
    struct overrides *overrides = r->overrides;
    overrides->items = calloc(csv->row_count, sizeof overrides->items[0]);
    if (overrides->items == NULL)
        return error_no_memory(err);
    for (size_t i = 1; i < csv->row_count; ++i) {
        const struct csv_row *row = &csv->rows[i];
        if (csv_row_is_blank(row))
            continue;
        struct override *override = &overrides->items[overrides->count];
        size_t before = r->problems->total;
        *override = (struct override){.line = row->line};
        check_row(r, override, row);
        override->student = strdup(csv_cell(row, r->columns.student));
        override->mark = strdup(csv_cell(row, r->columns.mark));
        override->reason = strdup(csv_cell(row, r->columns.reason));
        if (override->student == NULL || override->mark == NULL || override->reason == NULL) {
            override_release(override);
            return error_no_memory(err);
        }
        check_twice(r, overrides->count);
        if (r->problems->total != before)
            override_release(override);
        else
            ++overrides->count;
    }
    return 0;
}

int overrides_parse(struct overrides *ret, const char *data, size_t length,
                    const struct roster *roster, const struct lab *lab, struct problems *problems,
                    struct error *err)
{
    *ret = (struct overrides){0};
    struct csv csv;
    if (csv_parse(&csv, data, length, problems, err) != 0)
        return -1;
    struct reader reader = {.overrides = ret, .roster = roster, .lab = lab, .problems = problems};
    const struct csv_column columns[] = {
        /* clang-format off */
        {"student", true, &reader.columns.student},
        {"mark",    true, &reader.columns.mark},
        {"points",  true, &reader.columns.points},
        {"reason",  true, &reader.columns.reason},
        /* clang-format on */
    };
    size_t before = problems->total;
    csv_find_columns(&csv, columns, COUNT_OF(columns), problems, NULL);
    int status = 0;
    if (csv.row_count > 0 && problems->total == before)
        status = read_rows(&reader, &csv, err);
    problems_sort(problems);
    csv_release(&csv);
    return status;
}

int overrides_read(struct overrides *ret, const char *path, const struct roster *roster,
                   const struct lab *lab, struct problems *problems, struct error *err)
{
    *ret = (struct overrides){0};
    struct bytes content;
    enum file_status status = file_read(&content, path, LIMIT_CSV_BYTES, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_USAGE, "cannot read the overrides %s: %s", path,
                         file_status_text(status));
    int result = overrides_parse(ret, content.data, content.length, roster, lab, problems, err);
    bytes_release(&content);
    return result;
}

void overrides_release(struct overrides *overrides)
{
    for (size_t i = 0; i < overrides->count; ++i)
        override_release(&overrides->items[i]);
    free(overrides->items);
    *overrides = (struct overrides){0};
}

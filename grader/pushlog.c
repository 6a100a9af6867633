#include "pushlog.h"

#include <ctype.h>

#include "caps.h"
#include "csv.h"
#include "files.h"
#include "repo_identity.h"

struct columns {
    size_t id, repo, commit, time;
};

struct reader {
    struct pushlog *log;
    const struct roster *roster;
    const struct zone *zone;
    struct problems *problems;
    struct columns columns;
    const struct student **by_id, **by_repo; /* owned; the roster, sorted */
    size_t capacity;
};

/* ---- Whose a row is -------------------------------------------------------------------------- */

static int order_ids(const void *left, const void *right)
{
    const struct student *const *a = left, *const *b = right;
    return strcmp((*a)->id, (*b)->id);
}

/* Students of one repo in the roster's order. */
static int order_repos(const void *left, const void *right)
{
    const struct student *const *a = left, *const *b = right;
    int order = strcmp((*a)->identity, (*b)->identity);
    return order != 0 ? order : (*a > *b) - (*a < *b);
}

static const char *key_of(const struct student *student, bool by_repo)
{
    return by_repo ? student->identity : student->id;
}

/* The first of the sorted students who is not before `key`. */
static size_t lower_bound(const struct student *const *sorted, size_t count, const char *key,
                          bool by_repo)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(key_of(sorted[middle], by_repo), key);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- One row --------------------------------------------------------------------------------- */

static bool copy_commit(char into[65], const char *text)
{
    size_t length = strlen(text);
    if ((length != 40 && length != 64) || strspn(text, "0123456789abcdefABCDEF") != length)
        return false;
    for (size_t i = 0; i <= length; ++i)
        into[i] = (char)tolower((unsigned char)text[i]);
    return true;
}

static int add_push(struct reader *r, const struct push *push, const struct student *student,
                    struct error *err)
{
    struct pushlog *log = r->log;
    if (log->count == r->capacity) {
        size_t capacity = r->capacity == 0 ? 64 : 2 * r->capacity;
        struct push *grown = realloc(log->pushes, capacity * sizeof grown[0]);
        if (grown == NULL)
            return error_no_memory(err);
        log->pushes = grown;
        r->capacity = capacity;
    }
    log->pushes[log->count] = *push;
    log->pushes[log->count++].student = student;
    return 0;
}

/* For everybody whose row this is. With an id the repo says nothing more. */
static int add_for_students(struct reader *r, const struct push *push, const char *id,
                            const char *repo, struct error *err)
{
    bool by_repo = id[0] == '\0';
    AUTO_FREE char *identity = by_repo ? repo_identity(repo, r->roster->folder) : NULL;
    const char *key = by_repo ? identity : id;
    if (key == NULL)
        return error_no_memory(err);
    const struct student *const *sorted = by_repo ? r->by_repo : r->by_id;
    size_t count = r->roster->count, at = lower_bound(sorted, count, key, by_repo);
    bool any = false;
    for (; at < count; ++at) {
        if (strcmp(key_of(sorted[at], by_repo), key) != 0)
            break;
        if (add_push(r, push, sorted[at], err) != 0)
            return -1;
        any = true;
    }
    if (!any)
        ++r->log->foreign_rows;
    return 0;
}

static int read_row(struct reader *r, const struct csv_row *row, struct error *err)
{
    char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];
    const char *id = csv_cell(row, r->columns.id), *repo = csv_cell(row, r->columns.repo);
    const char *commit = csv_cell(row, r->columns.commit), *time = csv_cell(row, r->columns.time);
    struct push push = {.line = row->line};
    size_t before = r->problems->total;
    if (id[0] == '\0' && repo[0] == '\0')
        problems_add(r->problems, row->line, "names neither a student (`id`) nor a `repo`");
    if (!copy_commit(push.commit, commit))
        problems_add(r->problems, row->line,
                     "`%.80s` is no commit: expected all of its 40 hexadecimal digits", commit);
    if (!moment_parse(&push.time, time, r->zone, problem, note))
        problems_add(r->problems, row->line, "time: %s", problem);
    else if (note[0] != '\0')
        problems_add(&r->log->notes, row->line, "time: %s", note);
    return r->problems->total != before ? 0 : add_for_students(r, &push, id, repo, err);
}

/* ---- The whole log --------------------------------------------------------------------------- */

static int order_pushes(const void *left, const void *right)
{
    const struct push *a = left, *b = right;
    if (a->student != b->student)
        return a->student < b->student ? -1 : 1;
    if (a->time.unix_s != b->time.unix_s)
        return a->time.unix_s < b->time.unix_s ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static int sort_students(struct reader *r, struct error *err)
{
    size_t count = r->roster->count;
    r->by_id = calloc(count + 1, sizeof r->by_id[0]);
    r->by_repo = calloc(count + 1, sizeof r->by_repo[0]);
    if (r->by_id == NULL || r->by_repo == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < count; ++i)
        r->by_id[i] = r->by_repo[i] = &r->roster->students[i];
    qsort(r->by_id, count, sizeof r->by_id[0], order_ids);
    qsort(r->by_repo, count, sizeof r->by_repo[0], order_repos);
    return 0;
}

static int read_table(struct reader *r, const struct csv *csv, struct error *err)
{
    size_t pushed_at = CSV_NO_COLUMN;
    const struct csv_column columns[] = {
        /* clang-format off */
        {"id",        false, &r->columns.id},
        {"repo",      false, &r->columns.repo},
        {"commit",    true,  &r->columns.commit},
        {"time",      false, &r->columns.time},
        {"pushed_at", false, &pushed_at},
        /* clang-format on */
    };
    csv_find_columns(csv, columns, COUNT_OF(columns), r->problems, &r->log->notes);
    if (csv->row_count == 0)
        return 0;
    size_t header = csv->rows[0].line;
    if (r->columns.time == CSV_NO_COLUMN)
        r->columns.time = pushed_at;
    else if (pushed_at != CSV_NO_COLUMN)
        problems_add(r->problems, header, "has both `time` and `pushed_at`: which one counts?");
    if (r->columns.time == CSV_NO_COLUMN)
        problems_add(r->problems, header, "the first row should name the columns; it lacks `time`");
    if (r->columns.id == CSV_NO_COLUMN && r->columns.repo == CSV_NO_COLUMN)
        problems_add(r->problems, header,
                     "the first row should name the columns; it lacks `id` or "
                     "`repo`");
    if (r->columns.commit == CSV_NO_COLUMN || r->columns.time == CSV_NO_COLUMN ||
        (r->columns.id == CSV_NO_COLUMN && r->columns.repo == CSV_NO_COLUMN))
        return 0; /* every row would say the same once more */
    if (sort_students(r, err) != 0)
        return -1;
    for (size_t i = 1; i < csv->row_count; ++i)
        if (!csv_row_is_blank(&csv->rows[i]) && read_row(r, &csv->rows[i], err) != 0)
            return -1;
    if (r->log->count > 0)
        qsort(r->log->pushes, r->log->count, sizeof r->log->pushes[0], order_pushes);
    return 0;
}

int pushlog_parse(struct pushlog *ret, const char *data, size_t length, const struct roster *roster,
                  const struct zone *zone, struct problems *problems, struct error *err)
{
    *ret = (struct pushlog){0};
    struct csv csv;
    if (csv_parse(&csv, data, length, problems, err) != 0)
        return -1;
    struct reader reader = {.log = ret, .roster = roster, .zone = zone, .problems = problems};
    int status = read_table(&reader, &csv, err);
    free(reader.by_id);
    free(reader.by_repo);
    csv_release(&csv);
    return status;
}

int pushlog_read(struct pushlog *ret, const char *path, const struct roster *roster,
                 const struct zone *zone, struct problems *problems, struct error *err)
{
    *ret = (struct pushlog){0};
    struct bytes content;
    enum file_status status = file_read(&content, path, LIMIT_CSV_BYTES, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_USAGE, "cannot read the push log %s: %s", path,
                         file_status_text(status));
    int result = pushlog_parse(ret, content.data, content.length, roster, zone, problems, err);
    bytes_release(&content);
    return result;
}

void pushlog_release(struct pushlog *log)
{
    free(log->pushes);
    problems_release(&log->notes);
    *log = (struct pushlog){0};
}

const struct push *pushlog_of(const struct pushlog *log, const struct student *student,
                              size_t *count)
{
    size_t low = 0, high = log->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->pushes[middle].student < student)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < log->count && log->pushes[low + *count].student == student)
        ++*count;
    return *count == 0 ? NULL : &log->pushes[low];
}

const struct push *pushlog_find(const struct pushlog *log, const struct student *student,
                                const char *commit)
{
    size_t count = 0;
    const struct push *pushes = pushlog_of(log, student, &count);
    for (size_t i = 0; i < count; ++i)
        if (strcasecmp(pushes[i].commit, commit) == 0)
            return &pushes[i];
    return NULL;
}

#include "roster.h"

#include <ctype.h>

#include "caps.h"
#include "csv.h"
#include "files.h"
#include "number.h"
#include "repo_identity.h"
#include "slice.h"
#include "text.h"

struct columns {
    size_t id, name, email, repo, ref, deadline, extension_hours, group;
};

struct reader {
    struct roster *roster;
    struct columns columns;
    const char *folder;
    const struct zone *zone;
    struct problems *problems;
    bool *bad; /* owned; students with a problem: kept until the duplicates are found */
};

/* ---- One cell -------------------------------------------------------------------------------- */

static bool is_printable(const char *text)
{
    size_t length = strlen(text);
    struct bytes clean = bytes_with_limit(2 * length + 8);
    text_sanitize(&clean, text, length, 2 * length);
    bool same = strcmp(bytes_text(&clean), text) == 0;
    bytes_release(&clean);
    return same;
}

/* A cell that people read: printable, not too long. True when it can be used. */
static bool check_text(struct reader *r, size_t line, const char *column, const char *text)
{
    if (strlen(text) > LIMIT_STUDENT_TEXT_BYTES)
        problems_add(r->problems, line, "`%s` is longer than %d bytes", column,
                     LIMIT_STUDENT_TEXT_BYTES);
    else if (!is_printable(text))
        problems_add(r->problems, line,
                     "`%s` holds characters that cannot be printed (line breaks, control or "
                     "direction marks): `%.60s`",
                     column, text);
    else
        return true;
    return false;
}

/* Ids become names of folders, and cells of spreadsheets. */
static void check_id(struct reader *r, size_t line, const char *id)
{
    static const char more[] = "._-+@";
    size_t length = strlen(id);
    bool good = isascii((unsigned char)id[0]) && isalnum((unsigned char)id[0]);
    for (size_t i = 0; i < length && good; ++i)
        good = isascii((unsigned char)id[i]) &&
               (isalnum((unsigned char)id[i]) || strchr(more, id[i]) != NULL);
    if (!good || id[length - 1] == '.')
        problems_add(r->problems, line,
                     "the id `%.60s` cannot be a folder's name: expected letters, digits and "
                     ". _ - + @, a letter or digit first, no dot last",
                     id);
    else if (length > LIMIT_STUDENT_ID_BYTES)
        problems_add(r->problems, line, "the id is longer than %d bytes", LIMIT_STUDENT_ID_BYTES);
}

static void check_email(struct reader *r, size_t line, const char *email)
{
    const char *at = strchr(email, '@');
    bool good = at != NULL && at != email && at[1] != '\0' && strchr(at + 1, '@') == NULL &&
                strpbrk(email, " \t,;<>\"") == NULL;
    if (!check_text(r, line, "email", email))
        return;
    if (!good)
        problems_add(r->problems, line,
                     "`%.60s` is no e-mail address: expected one such as "
                     "alice@example.org",
                     email);
}

/* A ref goes to git as a name, never as an option or a pattern (git-check-ref-format). */
static void check_ref(struct reader *r, size_t line, const char *ref)
{
    if (!check_text(r, line, "ref", ref))
        return;
    size_t length = strlen(ref);
    bool bad = ref[0] == '-' || ref[0] == '/' || ref[0] == '.' || strstr(ref, "..") != NULL ||
               strstr(ref, "//") != NULL || strstr(ref, "/.") != NULL ||
               strstr(ref, "@{") != NULL || strpbrk(ref, " ~^:?*[\\") != NULL ||
               ref[length - 1] == '/' || ref[length - 1] == '.' ||
               (length > 5 && strcmp(ref + length - 5, ".lock") == 0);
    if (bad)
        problems_add(r->problems, line,
                     "`%.60s` is no name of a branch or tag: expected one such as main or "
                     "submit/1",
                     ref);
}

/* Hours with at most two decimals, in seconds. */
static bool parse_hours(const char *text, int64_t *ret)
{
    struct slice s = {text, strlen(text)};
    size_t digits = slice_digits(s);
    uint64_t hours = 0, hundredths = 0;
    if (!number_parse_u64_bytes(s.text, digits, LIMIT_EXTENSION_HOURS, &hours))
        return false;
    s = slice_from(s, digits);
    if (s.length > 0) {
        /* A spreadsheet may write the decimal point of its own country. */
        if ((s.text[0] != '.' && s.text[0] != ',') || s.length > 3 || s.length < 2 ||
            slice_digits(slice_from(s, 1)) != s.length - 1 ||
            !number_parse_u64_bytes(s.text + 1, s.length - 1, 99, &hundredths))
            return false;
        if (s.length == 2)
            hundredths *= 10;
    }
    *ret = (int64_t)(hours * 3600 + hundredths * 36);
    return true;
}

/* ---- One row --------------------------------------------------------------------------------- */

static void read_times(struct reader *r, struct student *student, const char *deadline,
                       const char *hours)
{
    char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];
    if (deadline[0] != '\0') {
        student->has_deadline = moment_parse(&student->deadline, deadline, r->zone, problem, note);
        if (!student->has_deadline)
            problems_add(r->problems, student->line, "deadline: %s", problem);
        else if (note[0] != '\0')
            problems_add(&r->roster->notes, student->line, "deadline: %s", note);
    }
    if (hours[0] != '\0' && !parse_hours(hours, &student->extension_s))
        problems_add(r->problems, student->line,
                     "`%.60s` is no extension: expected hours from 0 to %d, such as 48 or 1.5",
                     hours, LIMIT_EXTENSION_HOURS);
}

static void check_repo(struct reader *r, struct student *student, const char *repo)
{
    char problem[300];
    if (!repo_classify(repo, &student->repo_kind, problem))
        problems_add(r->problems, student->line, "the repo %s", problem);
}

/* Every cell is looked at, so that all problems of the row are said at once. */
static void check_row(struct reader *r, struct student *student, const struct csv_row *row)
{
    const struct {
        const char *name, *text;
    } required[] = {{"id", csv_cell(row, r->columns.id)},
                    {"name", csv_cell(row, r->columns.name)},
                    {"email", csv_cell(row, r->columns.email)},
                    {"repo", csv_cell(row, r->columns.repo)}};
    const char *ref = csv_cell(row, r->columns.ref), *group = csv_cell(row, r->columns.group);
    for (size_t i = 0; i < COUNT_OF(required); ++i)
        if (required[i].text[0] == '\0')
            problems_add(r->problems, student->line, "`%s` is empty", required[i].name);
    if (required[0].text[0] != '\0')
        check_id(r, student->line, required[0].text);
    (void)check_text(r, student->line, "name", required[1].text);
    if (required[2].text[0] != '\0')
        check_email(r, student->line, required[2].text);
    if (required[3].text[0] != '\0')
        check_repo(r, student, required[3].text);
    if (ref[0] != '\0')
        check_ref(r, student->line, ref);
    (void)check_text(r, student->line, "group", group);
    read_times(r, student, csv_cell(row, r->columns.deadline),
               csv_cell(row, r->columns.extension_hours));
}

static void check_width(struct reader *r, const struct csv_row *row, size_t columns)
{
    for (size_t i = columns; i < row->count; ++i)
        if (csv_cell(row, i)[0] != '\0') {
            problems_add(r->problems, row->line,
                         "%zu cells, but the first row names %zu columns: put a cell that holds a "
                         "comma in quotes",
                         row->count, columns);
            return;
        }
}

static void student_release(struct student *student)
{
    free(student->id);
    free(student->name);
    free(student->email);
    free(student->repo);
    free(student->location);
    free(student->identity);
    free(student->ref);
    free(student->group);
    *student = (struct student){0};
}

static int copy_row(const struct reader *r, struct student *student, const struct csv_row *row)
{
    const char *ref = csv_cell(row, r->columns.ref), *group = csv_cell(row, r->columns.group);
    student->id = strdup(csv_cell(row, r->columns.id));
    student->name = strdup(csv_cell(row, r->columns.name));
    student->email = strdup(csv_cell(row, r->columns.email));
    student->repo = strdup(csv_cell(row, r->columns.repo));
    student->location = repo_location(csv_cell(row, r->columns.repo), r->folder);
    student->identity = repo_identity(csv_cell(row, r->columns.repo), r->folder);
    student->ref = ref[0] == '\0' ? NULL : strdup(ref);
    student->group = group[0] == '\0' ? NULL : strdup(group);
    return student->id == NULL || student->name == NULL || student->email == NULL ||
                   student->repo == NULL || student->location == NULL ||
                   student->identity == NULL || (ref[0] != '\0' && student->ref == NULL) ||
                   (group[0] != '\0' && student->group == NULL)
               ? -1
               : 0;
}

/* ---- The whole class ------------------------------------------------------------------------- */

static int read_students(struct reader *r, const struct csv *csv, struct error *err)
{
    struct roster *roster = r->roster;
    roster->students = calloc(csv->row_count, sizeof roster->students[0]);
    r->bad = calloc(csv->row_count, sizeof r->bad[0]);
    roster->count = 0;
    if (roster->students == NULL || r->bad == NULL) {
        error_no_memory(err);
        return -1;
    }
    for (size_t i = 1; i < csv->row_count; ++i) {
        const struct csv_row *row = &csv->rows[i];
        if (csv_row_is_blank(row))
            continue;
        size_t problems_before = r->problems->total;
        struct student *student = &roster->students[roster->count];
        *student = (struct student){.line = row->line};
        check_width(r, row, csv->rows[0].count);
        check_row(r, student, row);
        r->bad[roster->count] = r->problems->total != problems_before;
        if (copy_row(r, student, row) != 0) {
            student_release(student);
            return error_no_memory(err);
        }
        ++roster->count;
    }
    return 0;
}

/* What must not be there twice, in a form that makes equal what is the same. */
struct key {
    char *text;
    const struct student *student;
};

static int order_keys(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order != 0
               ? order
               : (a->student->line > b->student->line) - (a->student->line < b->student->line);
}

/* Ids and addresses without regard to case: a folder's name has none on some file systems. */
static char *lower(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; at != NULL && *at != '\0'; ++at)
        *at = (char)tolower((unsigned char)*at);
    return copy;
}

static char *id_key(const struct student *student)
{
    return lower(student->id);
}

static char *email_key(const struct student *student)
{
    return lower(student->email);
}

static char *repo_key(const struct student *student)
{
    return strdup(student->identity);
}

static bool share_group(const struct student *a, const struct student *b)
{
    return a->group != NULL && b->group != NULL && strcmp(a->group, b->group) == 0;
}

static void say_twice(struct problems *problems, const char *what, const struct key *first,
                      const struct key *second)
{
    const struct student *a = first->student, *b = second->student;
    if (strcmp(what, "repo") != 0)
        problems_add(problems, b->line, "the %s `%.100s` is on line %zu already", what,
                     strcmp(what, "id") == 0 ? b->id : b->email, a->line);
    else if (!share_group(a, b))
        problems_add(problems, b->line,
                     "the repo is that of line %zu as well: if they hand in together, give both "
                     "the same `group`",
                     a->line);
}

static int find_twice(const struct roster *roster, const char *what,
                      char *(*make_key)(const struct student *), struct problems *problems,
                      struct error *err)
{
    int status = 0;
    struct key *keys = calloc(roster->count + 1, sizeof keys[0]);
    for (size_t i = 0; i < roster->count && keys != NULL; ++i) {
        keys[i] = (struct key){make_key(&roster->students[i]), &roster->students[i]};
        if (keys[i].text == NULL)
            status = -1;
    }
    if (keys != NULL && status == 0) {
        qsort(keys, roster->count, sizeof keys[0], order_keys);
        for (size_t i = 1; i < roster->count; ++i)
            if (keys[i].text[0] != '\0' && strcmp(keys[i - 1].text, keys[i].text) == 0)
                say_twice(problems, what, &keys[i - 1], &keys[i]);
    }
    for (size_t i = 0; i < roster->count && keys != NULL; ++i)
        free(keys[i].text);
    status = keys == NULL ? -1 : status;
    free(keys);
    return status == 0 ? 0 : error_no_memory(err);
}

static void drop_bad(struct reader *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->roster->count; ++i)
        if (r->bad[i])
            student_release(&r->roster->students[i]);
        else
            r->roster->students[kept++] = r->roster->students[i];
    r->roster->count = kept;
}

static int read_table(struct reader *r, const struct csv *csv, struct error *err)
{
    const struct csv_column columns[] = {
        /* clang-format off */
        {"id",              true,  &r->columns.id},
        {"name",            true,  &r->columns.name},
        {"email",           true,  &r->columns.email},
        {"repo",            true,  &r->columns.repo},
        {"ref",             false, &r->columns.ref},
        {"deadline",        false, &r->columns.deadline},
        {"extension_hours", false, &r->columns.extension_hours},
        {"group",           false, &r->columns.group},
        /* clang-format on */
    };
    size_t before = r->problems->total;
    csv_find_columns(csv, columns, COUNT_OF(columns), r->problems, &r->roster->notes);
    if (csv->row_count == 0 || r->problems->total != before)
        return 0; /* else every row would say the same once more */
    if (read_students(r, csv, err) != 0)
        return -1;
    if (r->roster->count == 0 && r->problems->total == 0)
        problems_add(r->problems, 0, "names the columns, but no student");
    if (find_twice(r->roster, "id", id_key, r->problems, err) != 0 ||
        find_twice(r->roster, "email", email_key, r->problems, err) != 0 ||
        find_twice(r->roster, "repo", repo_key, r->problems, err) != 0)
        return -1;
    drop_bad(r);
    problems_sort(r->problems);
    return 0;
}

int roster_parse(struct roster *ret, const char *data, size_t length, const char *folder,
                 const struct zone *zone, struct problems *problems, struct error *err)
{
    *ret = (struct roster){.folder = strdup(folder)};
    struct csv csv;
    if (ret->folder == NULL)
        return error_no_memory(err);
    if (csv_parse(&csv, data, length, problems, err) != 0)
        return -1;
    struct reader reader = {.roster = ret, .folder = folder, .zone = zone, .problems = problems};
    int status = read_table(&reader, &csv, err);
    free(reader.bad);
    csv_release(&csv);
    return status;
}

int roster_read(struct roster *ret, const char *path, const struct zone *zone,
                struct problems *problems, struct error *err)
{
    *ret = (struct roster){0};
    struct bytes content;
    enum file_status status = file_read(&content, path, LIMIT_CSV_BYTES, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_USAGE, "cannot read the roster %s: %s", path,
                         file_status_text(status));
    AUTO_FREE char *whole = realpath(path, NULL);
    int result = -1;
    if (whole == NULL) {
        error_set_errno(err, ERROR_USAGE, "cannot tell which folder %s is in", path);
    } else {
        char *slash = strrchr(whole, '/');
        slash[slash == whole ? 1 : 0] = '\0';
        result = roster_parse(ret, content.data, content.length, whole, zone, problems, err);
    }
    bytes_release(&content);
    return result;
}

void roster_release(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; ++i)
        student_release(&roster->students[i]);
    free(roster->students);
    free(roster->folder);
    problems_release(&roster->notes);
    *roster = (struct roster){0};
}

const struct student *roster_find(const struct roster *roster, const char *id)
{
    for (size_t i = 0; i < roster->count; ++i)
        if (strcmp(roster->students[i].id, id) == 0)
            return &roster->students[i];
    return NULL;
}

bool roster_shares_repo(const struct roster *roster, const struct student *student)
{
    for (size_t i = 0; i < roster->count && student->group != NULL; ++i) {
        const struct student *other = &roster->students[i];
        if (other != student && share_group(other, student) &&
            strcmp(other->identity, student->identity) == 0)
            return true;
    }
    return false;
}

bool student_deadline(const struct student *student, const struct moment *batch_deadline,
                      struct moment *ret)
{
    if (!student->has_deadline && batch_deadline == NULL)
        return false;
    *ret = moment_plus(student->has_deadline ? student->deadline : *batch_deadline,
                       student->extension_s);
    return true;
}

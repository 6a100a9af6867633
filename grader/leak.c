#include "leak.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fts.h>

#include "answers.h"
#include "caps.h"
#include "datadir.h"
#include "files.h"
#include "hints.h"
#include "release.h"
#include "solution.h"

#define LINE_LEAST 24     /* characters of a line of a whole file that make it telling */
#define SOLUTION_LEAST 8  /* the same of a line between the markers */
#define FINDINGS_SHOWN 20 /* the rest is counted */
#define FILE_BYTES_MAX ((size_t)64 << 20)

/* ---- Secrets --------------------------------------------------------------------------------- */

/* Appends what is neither blank nor backslash: layout and quoting leave it the same. */
static void squeeze(struct bytes *out, const char *text, size_t length)
{
    if (bytes_reserve(out, length) != 0)
        return;
    for (size_t i = 0; i < length; ++i)
        if (!isspace((unsigned char)text[i]) && text[i] != '\\')
            bytes_append(out, &text[i], 1);
}

struct gathering {
    struct secrets *secrets;
    struct bytes public_text; /* squeezed; what a student gets of the source */
    struct bytes handout;     /* squeezed */
    const char *file;         /* being read */
    size_t least;
    struct error *err;
};

static bool contains(const struct bytes *text, const struct bytes *part)
{
    return memmem(bytes_text(text), text->length, part->data, part->length) != NULL;
}

/* A line becomes a secret unless it says too little, is public or is one already. */
static int add_line(void *context, struct slice line, unsigned number)
{
    struct gathering *g = context;
    struct bytes needle = bytes_with_limit(line.length);
    squeeze(&needle, line.text, line.length);
    if (needle.failed || needle.length < g->least || contains(&g->public_text, &needle)) {
        bool failed = needle.failed;
        bytes_release(&needle);
        return failed ? error_no_memory(g->err) : 0;
    }
    struct secrets *secrets = g->secrets;
    struct secret *grown = realloc(secrets->items, (secrets->count + 1) * sizeof secrets->items[0]);
    if (grown == NULL) {
        bytes_release(&needle);
        return error_no_memory(g->err);
    }
    secrets->items = grown;
    struct secret *secret = &grown[secrets->count++];
    *secret = (struct secret){.length = needle.length, .shown = contains(&g->handout, &needle)};
    if (number > 0)
        (void)snprintf(secret->origin, sizeof secret->origin, "%s, line %u", g->file, number);
    else
        (void)snprintf(secret->origin, sizeof secret->origin, "%s", g->file);
    secret->needle = bytes_take(&needle);
    secrets->shown_count += secret->shown;
    return 0;
}

static int add_lines(struct gathering *g, const char *text, size_t length)
{
    unsigned number = 0;
    for (struct slice rest = {text, length}; rest.length > 0;) {
        const char *newline = slice_find_char(rest, '\n');
        struct slice line = newline != NULL ? slice_to(rest, newline) : rest;
        rest = slice_from(rest, line.length + (newline != NULL));
        if (add_line(g, line, ++number) != 0)
            return -1;
    }
    return 0;
}

/* "key=value" of every answer; what was built for, and with what, is no answer. */
static int add_answers(struct gathering *g, const char *text, size_t length)
{
    struct answers answers;
    if (answers_parse(&answers, text, length, g->err) != 0)
        return -1;
    int status = 0;
    for (size_t i = 0; status == 0 && i < answers.count; ++i) {
        const struct answer *answer = &answers.items[i];
        if (answer->section[0] == '\0' || strcmp(answer->section, "build") == 0)
            continue;
        struct bytes line = bytes_with_limit(1000);
        bytes_printf(&line, "%s=%s", answer->key, answer->value);
        status = add_line(g, (struct slice){bytes_text(&line), line.length}, answer->line);
        bytes_release(&line);
    }
    answers_release(&answers);
    return status;
}

static int read_whole(struct bytes *out, const char *path, struct error *err)
{
    enum file_status status = file_read(out, path, FILE_BYTES_MAX, true);
    return status == FILE_READ
               ? 0
               : error_set(err, ERROR_INFRASTRUCTURE, "%s: %s", path, file_status_text(status));
}

/* data_path() of a printf-like name; NULL when there is no such file. */
static char *find_data(const char *root, const char *lab, const char *name)
{
    char relative[512];
    struct error ignored = {0};
    return snprintf(relative, sizeof relative, "%s/%s/%s", root, lab, name) < (int)sizeof relative
               ? data_path(relative, &ignored)
               : NULL;
}

static int add_reference_file(struct gathering *g, const struct lab *lab, const char *folder,
                              const char *name)
{
    AUTO_FREE char *path = path_join(folder, name);
    char shown[300];
    struct bytes text = {0};
    if (path == NULL)
        return error_no_memory(g->err);
    if (read_whole(&text, path, g->err) != 0)
        return -1;
    (void)snprintf(shown, sizeof shown, "reference/%s/%s", lab->id, name);
    g->file = shown;
    int status = 0;
    if (strcmp(name, lab->source_name) == 0) {
        g->least = SOLUTION_LEAST;
        status = solution_lines(bytes_text(&text), text.length, add_line, g);
    } else if (strcmp(name, "answers.ini") == 0) {
        g->least = 1;
        status = add_answers(g, bytes_text(&text), text.length);
    } else {
        g->least = LINE_LEAST;
        status = add_lines(g, bytes_text(&text), text.length);
    }
    g->file = NULL;
    bytes_release(&text);
    return status;
}

static int add_reference(struct gathering *g, const struct lab *lab)
{
    /* By a file that only the right folder has: a build keeps its objects in one of that name. */
    AUTO_FREE char *folder = find_data("reference", lab->id, lab->source_name);
    if (folder == NULL)
        return 0;
    *strrchr(folder, '/') = '\0';
    DIR *listing = opendir(folder);
    if (listing == NULL)
        return error_set_errno(g->err, ERROR_INFRASTRUCTURE, "cannot list %s", folder);
    int status = 0;
    for (struct dirent *entry; status == 0 && (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.')
            status = add_reference_file(g, lab, folder, entry->d_name);
    (void)closedir(listing);
    g->secrets->has_reference = true;
    return status;
}

static int add_hints(struct gathering *g, const struct lab *lab)
{
    struct hints hints;
    if (hints_load(&hints, lab->id, g->err) != 0)
        return -1;
    int status = 0;
    g->least = LINE_LEAST;
    for (size_t i = 0; status == 0 && i < hints.count; ++i) {
        char shown[300];
        (void)snprintf(shown, sizeof shown, "labs/%s/hints, solution of %s", lab->id,
                       hints.items[i].id);
        g->file = shown;
        const char *solution = hints.items[i].solution;
        for (const char *line = solution; status == 0 && line != NULL && *line != '\0';) {
            size_t length = strcspn(line, "\n");
            status = add_line(g, (struct slice){line, length}, 0);
            line += length + (line[length] == '\n');
        }
        g->file = NULL;
    }
    hints_release(&hints);
    return status;
}

/* The student's source and the handout: what stands there is public, there. */
static int read_public(struct gathering *g, const struct lab *lab)
{
    AUTO_FREE char *reference = find_data("reference", lab->id, lab->source_name);
    AUTO_FREE char *starter = find_data("starter", lab->id, lab->source_name);
    AUTO_FREE char *handout = find_data("labs", lab->id, "README.md");
    struct bytes text = bytes_with_limit(FILE_BYTES_MAX);
    if (handout == NULL || (starter == NULL && reference == NULL))
        return error_set(g->err, ERROR_INFRASTRUCTURE,
                         "the files of %s are not here: set SPILLWAY_DATA to the folder that holds "
                         "labs/",
                         lab->id);
    int status = reference != NULL && release_starter(&text, lab, g->err) < 0 ? -1 : 0;
    if (reference == NULL)
        status = read_whole(&text, starter, g->err);
    if (status == 0)
        squeeze(&g->public_text, bytes_text(&text), text.length);
    bytes_release(&text);
    if (status != 0 || read_whole(&text, handout, g->err) != 0)
        return -1;
    squeeze(&g->handout, bytes_text(&text), text.length);
    g->secrets->handout_title = strndup(bytes_text(&text), strcspn(bytes_text(&text), "\n"));
    bytes_release(&text);
    return g->public_text.failed || g->handout.failed || g->secrets->handout_title == NULL
               ? error_no_memory(g->err)
               : 0;
}

int secrets_gather(struct secrets *out, const struct lab *lab, struct error *err)
{
    *out = (struct secrets){0};
    struct gathering g = {.secrets = out,
                          .public_text = bytes_with_limit(FILE_BYTES_MAX),
                          .handout = bytes_with_limit(FILE_BYTES_MAX),
                          .err = err};
    int status = read_public(&g, lab);
    if (status == 0)
        status = add_reference(&g, lab);
    if (status == 0)
        status = add_hints(&g, lab);
    bytes_release(&g.public_text);
    bytes_release(&g.handout);
    if (status != 0)
        secrets_release(out);
    return status;
}

void secrets_release(struct secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; ++i)
        free(secrets->items[i].needle);
    free(secrets->items);
    free(secrets->handout_title);
    *secrets = (struct secrets){0};
}

const struct secret *secrets_find(const struct secrets *secrets, const char *data, size_t length)
{
    struct bytes squeezed = bytes_with_limit(length);
    squeeze(&squeezed, data, length);
    size_t title = strlen(secrets->handout_title);
    bool handout = title > 0 && length > title && memcmp(data, secrets->handout_title, title) == 0;
    const struct secret *found = NULL;
    for (size_t i = 0; found == NULL && i < secrets->count; ++i) {
        const struct secret *secret = &secrets->items[i];
        if (!(handout && secret->shown) &&
            memmem(bytes_text(&squeezed), squeezed.length, secret->needle, secret->length) != NULL)
            found = secret;
    }
    bytes_release(&squeezed);
    return found;
}

/* ---- Looking through a folder ---------------------------------------------------------------- */

struct search {
    struct leak_report *report;
    const struct secrets *secrets;
};

static void note(struct leak_report *report, const char *where, const char *what)
{
    if (report->finding_count++ < FINDINGS_SHOWN)
        bytes_printf(&report->findings, "%s: %s\n", where, what);
}

static void look_at(const struct search *search, const char *where, const char *data, size_t length)
{
    search->report->bytes += length;
    const struct secret *secret = secrets_find(search->secrets, data, length);
    if (secret != NULL)
        note(search->report, where, secret->origin);
}

static int look_at_file(const struct search *search, const char *path, const char *where,
                        struct error *err)
{
    struct bytes content;
    enum file_status status = file_read(&content, path, FILE_BYTES_MAX, false);
    ++search->report->file_count;
    if (status == FILE_TOO_LARGE)
        note(search->report, where, "too large to be looked through");
    else if (status == FILE_READ)
        look_at(search, where, bytes_text(&content), content.length);
    else if (status != FILE_NOT_REGULAR)
        return error_set(err, ERROR_INFRASTRUCTURE, "%s: %s", path, file_status_text(status));
    bytes_release(&content);
    return 0;
}

static int look_at_files(const struct search *search, const char *folder, struct error *err)
{
    AUTO_FREE char *root = strdup(folder);
    char *const roots[] = {root, NULL};
    FTS *walk = root == NULL ? NULL : fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look through %s", folder);
    int status = 0;
    for (FTSENT *entry; status == 0 && (entry = fts_read(walk)) != NULL;) {
        const char *inside = entry->fts_path + strlen(folder);
        inside += inside[0] == '/';
        if (entry->fts_info == FTS_F)
            status = look_at_file(search, entry->fts_path, inside, err);
        else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
                 entry->fts_info == FTS_NS) {
            errno = entry->fts_errno;
            status =
                error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look at %s", entry->fts_path);
        }
    }
    (void)fts_close(walk);
    return status;
}

static int look_at_object(void *context, const char *id, const char *type, const char *data,
                          size_t length)
{
    const struct search *search = context;
    char where[80];
    (void)snprintf(where, sizeof where, "git %s %.12s", type, id);
    ++search->report->object_count;
    look_at(search, where, data, length);
    return 0;
}

int leak_check(struct leak_report *out, const struct secrets *secrets, const char *folder,
               struct error *err)
{
    *out = (struct leak_report){.findings = bytes_with_limit((size_t)16 << 10)};
    struct search search = {.report = out, .secrets = secrets};
    int status = look_at_files(&search, folder, err);
    return status == 0 ? release_git_objects(folder, look_at_object, &search, err) : -1;
}

void leak_report_release(struct leak_report *report)
{
    bytes_release(&report->findings);
    *report = (struct leak_report){0};
}

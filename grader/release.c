#include "release.h"

#include <errno.h>
#include <sys/stat.h>

#include "datadir.h"
#include "files.h"
#include "solution.h"

#define FILE_BYTES_MAX ((size_t)4 << 20)

/* What a student repository holds. "@LAB@" and "@SOURCE@" stand for the lab's own words. */
static const struct release_file {
    const char *name;   /* in the repository */
    const char *origin; /* below the data folder; NULL: the student's version of the source */
    bool filled;        /* the words between @ are put in */
} release_files[] = {
    /* clang-format off */
    {"@SOURCE@",                    NULL,                                false},
    {"answers.ini",                 "exercises/@LAB@/answers.ini",       false},
    {"questions.md",                "exercises/@LAB@/questions.md",      false},
    {"README.md",                   "labs/@LAB@/README.md",              false},
    {"published.tsv",               "labs/@LAB@/published.tsv",          false},
    {"colab.ipynb",                 "labs/@LAB@/colab.ipynb",            true},
    {"Makefile",                    "packaging/student/Makefile",        true},
    {".gitignore",                  "packaging/student/gitignore",       true},
    {".github/workflows/grade.yml", "packaging/student/grade.yml",       true},
    {".gitlab-ci.yml",              "packaging/student/gitlab-ci.yml",   true},
    /* clang-format on */
};

/* ---- The files ------------------------------------------------------------------------------- */

/* Puts the lab's words in the place of "@NAME@". */
static void fill(struct bytes *out, const char *text, const struct release_options *options)
{
    /* A notebook is JSON, and runs as it lies in the lab's folder: an empty string stands there. */
    char url[600], program[100];
    (void)snprintf(url, sizeof url, "SPILLWAY_URL = \\\"%.500s\\\"", options->url);
    const char *source = options->lab->source_name; /* what the handout's nvcc -o makes of it */
    (void)snprintf(program, sizeof program, "%.*s", (int)strcspn(source, "."), source);
    const struct {
        const char *name, *word;
    } words[] = {{"SPILLWAY_URL = \\\"\\\"", url},
                 {"@LAB@", options->lab->id},
                 {"@SOURCE@", source},
                 {"@PROGRAM@", program},
                 {"@TITLE@", options->lab->title},
                 {"@URL@", options->url}};
    while (*text != '\0') {
        size_t length = 1;
        const char *put = NULL;
        for (size_t i = 0; i < COUNT_OF(words); ++i)
            if (strncmp(text, words[i].name, strlen(words[i].name)) == 0) {
                put = words[i].word;
                length = strlen(words[i].name);
            }
        if (put != NULL)
            bytes_append_text(out, put);
        else
            bytes_append(out, text, length);
        text += length;
    }
}

/* The file's path below the data folder, owned. NULL with *err when it is not there. */
static char *data_file(const char *origin, const struct release_options *options, struct error *err)
{
    struct bytes relative = bytes_with_limit(512);
    fill(&relative, origin, options);
    char *path = data_path(bytes_text(&relative), err);
    bytes_release(&relative);
    return path;
}

static int read_data(struct bytes *out, const char *origin, const struct release_options *options,
                     struct error *err)
{
    AUTO_FREE char *path = data_file(origin, options, err);
    if (path == NULL)
        return -1;
    enum file_status status = file_read(out, path, FILE_BYTES_MAX, true);
    return status == FILE_READ
               ? 0
               : error_set(err, ERROR_INFRASTRUCTURE, "%s: %s", path, file_status_text(status));
}

int release_starter(struct bytes *out, const struct lab *lab, struct error *err)
{
    const struct release_options options = {.lab = lab, .url = ""};
    struct bytes reference = {0};
    if (read_data(&reference, "reference/@LAB@/@SOURCE@", &options, err) != 0)
        return -1;
    int gaps = solution_strip(out, bytes_text(&reference), reference.length, err);
    bytes_release(&reference);
    if (gaps < 0)
        error_context(err, "reference/%s/%s", lab->id, lab->source_name);
    return gaps;
}

/* An installation has no reference: there the starter that came with it is the student's version.
 */
static int read_source(struct bytes *out, const struct release_options *options, int *gaps,
                       struct error *err)
{
    struct error missing = {0};
    AUTO_FREE char *reference = data_file("reference/@LAB@/@SOURCE@", options, &missing);
    if (reference == NULL) {
        *gaps = -1;
        return read_data(out, "starter/@LAB@/@SOURCE@", options, err);
    }
    *out = bytes_with_limit(FILE_BYTES_MAX);
    *gaps = release_starter(out, options->lab, err);
    return *gaps < 0 ? -1 : 0;
}

/* The folders above a file of the repository. */
static int make_parents(const char *root, const char *name, struct error *err)
{
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        AUTO_FREE char *folder = NULL;
        if (asprintf(&folder, "%s/%.*s", root, (int)(slash - name), name) < 0) {
            folder = NULL;
            return error_no_memory(err);
        }
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make %s", folder);
    }
    return 0;
}

static int make_file(struct release *release, const struct release_options *options,
                     const char *folder, const struct release_file *file, const char *name,
                     struct error *err)
{
    struct bytes content = {0}, filled = bytes_with_limit(FILE_BYTES_MAX);
    int status = file->origin == NULL ? read_source(&content, options, &release->gap_count, err)
                                      : read_data(&content, file->origin, options, err);
    if (status == 0 && file->filled)
        fill(&filled, bytes_text(&content), options);
    const struct bytes *text = file->filled ? &filled : &content;
    AUTO_FREE char *path = path_join(folder, name);
    if (status == 0 && (path == NULL || text->failed))
        status = error_no_memory(err);
    if (status == 0)
        status = make_parents(folder, name, err);
    if (status == 0)
        status = file_write_scratch(path, bytes_text(text), text->length, err);
    bytes_release(&content);
    bytes_release(&filled);
    return status;
}

static int make_files(struct release *release, const struct release_options *options,
                      const char *folder, struct error *err)
{
    struct bytes names[COUNT_OF(release_files)];
    const char *texts[COUNT_OF(release_files)];
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(release_files); ++i) {
        names[i] = bytes_with_limit(512);
        fill(&names[i], release_files[i].name, options);
        texts[i] = bytes_text(&names[i]);
        if (status == 0)
            status = make_file(release, options, folder, &release_files[i], texts[i], err);
    }
    char message[256];
    (void)snprintf(message, sizeof message, "Begin %s\n", options->lab->id);
    if (status == 0)
        status = release_git_commit(folder, texts, COUNT_OF(texts), message, release->commit, err);
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        bytes_release(&names[i]);
    release->file_count = COUNT_OF(release_files);
    return status;
}

bool release_url_is_plain(const char *url)
{
    return url[strspn(url, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                           "-._~:/@%+")] == '\0';
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int seek_leaks(struct release *release, const struct release_options *options,
                      const char *folder, struct error *err)
{
    struct secrets secrets;
    if (secrets_gather(&secrets, options->lab, err) != 0)
        return -1;
    release->secret_count = secrets.count;
    release->shown_count = secrets.shown_count;
    int status = leak_check(&release->leaks, &secrets, folder, err);
    secrets_release(&secrets);
    if (status == 0 && release->leaks.finding_count > 0)
        status =
            error_set(err, ERROR_INFRASTRUCTURE,
                      "the repository would give the solution away in %zu place%s, so none "
                      "was made",
                      release->leaks.finding_count, release->leaks.finding_count == 1 ? "" : "s");
    return status;
}

/* The folder that the wished one would lie in is not there, or is none. */
static void refuse_parent(const char *folder, size_t length, struct error *err)
{
    while (length > 1 && folder[length - 1] != '/')
        --length;
    while (length > 1 && folder[length - 1] == '/')
        --length;
    AUTO_FREE char *parent = strndup(folder, length);
    struct stat info;
    if (parent == NULL)
        error_no_memory(err);
    else if (stat(parent, &info) != 0 && errno == ENOENT)
        error_set(err, ERROR_USAGE,
                  "there is no folder %s to make %s in: make it first (mkdir -p %s), or name a "
                  "folder elsewhere",
                  parent, folder, parent);
    else
        error_set(err, ERROR_USAGE,
                  "%s cannot be made, since %s is not a folder: name one elsewhere", folder,
                  parent);
}

/* A folder beside the wished one, so that a rename is all that is left to do. Owned. */
static char *make_folder_beside(const char *folder, struct error *err)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        --length;
    char *path = NULL;
    if (asprintf(&path, "%.*s.XXXXXX", (int)length, folder) < 0) {
        error_no_memory(err);
        return NULL;
    }
    if (mkdtemp(path) != NULL)
        return path;
    if (errno == ENOENT || errno == ENOTDIR)
        refuse_parent(folder, length, err);
    else
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make a folder beside %s", folder);
    free(path);
    return NULL;
}

static int give_name(const char *made, const char *folder, struct error *err)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    if (chmod(made, 0777 & ~mask) == 0 && rename(made, folder) == 0)
        return 0;
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
        return error_set(err, ERROR_USAGE,
                         "%s is there already: name a folder that is new, or empty", folder);
    return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make %s", folder);
}

int release_make(struct release *out, const struct release_options *options, struct error *err)
{
    *out = (struct release){0};
    /* A folder that somebody stands in cannot be replaced without pulling it away. */
    AUTO_FREE char *here = getcwd(NULL, 0), *wished = realpath(options->folder, NULL);
    if (here != NULL && wished != NULL && strcmp(here, wished) == 0)
        return error_set(err, ERROR_USAGE,
                         "%s is the current folder: name one that is new, or empty and elsewhere",
                         options->folder);
    char *folder = make_folder_beside(options->folder, err);
    if (folder == NULL)
        return -1;
    if (make_files(out, options, folder, err) == 0 && seek_leaks(out, options, folder, err) == 0 &&
        give_name(folder, options->folder, err) == 0) {
        free(folder);
        return 0;
    }
    temporary_folder_remove(folder);
    return -1;
}

void release_release(struct release *release)
{
    leak_report_release(&release->leaks);
    *release = (struct release){0};
}

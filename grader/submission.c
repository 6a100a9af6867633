/* submission.c - finds the files of a submission and the lab they belong to. */
#include "submission.h"

#include <errno.h>
#include <limits.h>
#include <dirent.h>
#include <sys/stat.h>

#include "caps.h"
#include "digest.h"
#include "text.h"

/* ---- A folder on disk as a place: paths are absolute ----------------------------------------- */

static enum file_status disk_read(const struct submission_place *place, struct bytes *content,
                                  const char *folder, const char *name, size_t limit,
                                  char problem[200])
{
    (void)place;
    enum file_status status = file_read_beneath(content, folder, name, limit);
    if (status == FILE_NOT_REGULAR)
        (void)snprintf(problem, 200, "is not a regular file (a link, folder or device?)");
    else if (status == FILE_UNREADABLE)
        (void)snprintf(problem, 200, "%s", file_status_text(status));
    return status;
}

/* A repository is a tree of its own, also when it lies inside another (a student's clone inside the
 * course's). */
static int disk_is_top(const struct submission_place *place, const char *folder, struct error *err)
{
    (void)place;
    AUTO_FREE char *git = path_join(folder, ".git");
    if (git == NULL)
        return error_no_memory(err);
    if (access(git, F_OK) == 0)
        return 1;
    if (file_is_absent(errno))
        return 0;
    return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look for %s", git);
}

static char *disk_describe(const struct submission_place *place, const char *folder,
                           const char *name)
{
    (void)place;
    return path_join(folder, name);
}

/* ---- Looking for one file -------------------------------------------------------------------- */

/* Cuts the last component of a path. False when nothing is left to cut. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        bool more = path[0] != '\0';
        path[0] = '\0';
        return more;
    }
    if (slash == path) {
        bool more = path[1] != '\0';
        path[1] = '\0';
        return more;
    }
    *slash = '\0';
    return true;
}

struct search {
    const struct submission_place *place;
    const char *folder; /* where the submission lies, in the place's own paths */
    const char *name;   /* "registers.cu" */
    const char *family; /* "starter": the second place is <ancestor>/starter/<lab>/name */
    const char *lab_id;
    size_t limit;
};

/* The folder itself first, then starter/<lab>/ or exercises/<lab>/ of it and of each folder above
 * it in the same tree. FILE_MISSING when none has it. *path is owned by the caller whenever the
 * file exists. */
static enum file_status search_file(struct bytes *content, char **path, char problem[200],
                                    const struct search *search, struct error *err)
{
    *path = NULL;
    AUTO_FREE char *folder = strdup(search->folder);
    AUTO_FREE char *below = NULL;
    if (folder == NULL ||
        asprintf(&below, "%s/%s/%s", search->family, search->lab_id, search->name) < 0) {
        error_no_memory(err);
        return FILE_UNREADABLE;
    }
    const char *name = search->name;
    for (bool more = true; more; name = below) {
        enum file_status status =
            search->place->read(search->place, content, folder, name, search->limit, problem);
        if (status != FILE_MISSING) {
            *path = search->place->describe(search->place, folder, name);
            if (*path == NULL)
                error_no_memory(err);
            else if (status == FILE_UNREADABLE)
                error_set(err, ERROR_INFRASTRUCTURE, "cannot read %s: %s", *path, problem);
            return status;
        }
        if (name == below) {
            int top = search->place->is_top == NULL
                          ? 0
                          : search->place->is_top(search->place, folder, err);
            more = top == 0 && go_up(folder);
        }
    }
    return FILE_MISSING;
}

/* What lies in the second place of the folder itself, when the first was taken and differs: whoever
 * edits that one waits for points in vain. Owned; NULL: nothing. */
static char *look_for_another(const struct search *search, const char *path,
                              const struct bytes *content, struct error *err)
{
    AUTO_FREE char *first = search->place->describe(search->place, search->folder, search->name);
    AUTO_FREE char *below = NULL;
    struct bytes other = {0};
    char problem[200] = "", *found = NULL;
    if (first == NULL ||
        asprintf(&below, "%s/%s/%s", search->family, search->lab_id, search->name) < 0) {
        error_no_memory(err);
        return NULL;
    }
    if (path != NULL && strcmp(path, first) == 0 &&
        search->place->read(search->place, &other, search->folder, below, search->limit, problem) ==
            FILE_READ &&
        (other.length != content->length ||
         memcmp(bytes_text(&other), bytes_text(content), other.length) != 0)) {
        found = search->place->describe(search->place, search->folder, below);
        if (found == NULL)
            error_no_memory(err);
    }
    bytes_release(&other);
    return found;
}

/* ---- The lab --------------------------------------------------------------------------------- */

static void list_labs(struct bytes *list)
{
    for (size_t i = 0; i < lab_registry_count; ++i)
        bytes_printf(list, "%s%s", i == 0 ? "" : ", ", lab_registry[i]->id);
}

/* The lab that an answers.ini in the folder itself names; NULL: none that exists, and `named` (of
 * LIMIT_ANSWER_VALUE_BYTES + 1 bytes) says what it names. */
static const struct lab *lab_of_answers(const struct submission_place *place, const char *folder,
                                        char *named, struct error *err)
{
    struct bytes content = {0};
    struct answers answers = {0};
    char problem[200] = "";
    const struct lab *lab = NULL;
    if (place->read(place, &content, folder, "answers.ini", LIMIT_ANSWERS_BYTES, problem) ==
            FILE_READ &&
        answers_parse(&answers, bytes_text(&content), content.length, err) == 0) {
        const struct answer *answer = answers_find(&answers, "", "lab");
        if (answer != NULL && !answer->duplicate) {
            (void)snprintf(named, LIMIT_ANSWER_VALUE_BYTES + 1, "%s", answer->value);
            lab = lab_find(answer->value);
        }
    }
    answers_release(&answers);
    bytes_release(&content);
    return lab;
}

/* --lab, else `lab =` of an answers.ini in the folder itself, else the folder's name. */
static int choose_lab(struct submission *out, const struct submission_place *place,
                      const char *folder, const char *folder_name,
                      const struct submission_options *options, struct error *err)
{
    char room[1000];
    struct bytes known = bytes_in(room, sizeof room);
    char named[LIMIT_ANSWER_VALUE_BYTES + 1] = "";
    list_labs(&known);
    if (options->lab_id != NULL)
        out->lab = lab_find(options->lab_id);
    else
        out->lab = lab_of_answers(place, folder, named, err);
    if (out->lab == NULL && options->lab_id == NULL && named[0] == '\0')
        out->lab = lab_find(folder_name);
    if (out->lab == NULL && options->lab_id != NULL)
        error_set(err, ERROR_USAGE, "there is no lab \"%s\"; the labs are: %s", options->lab_id,
                  bytes_text(&known));
    else if (out->lab == NULL && named[0] != '\0')
        error_set(err, ERROR_USAGE,
                  "answers.ini in %s is for the lab \"%s\", which there is not; the labs are: %s",
                  options->directory, named, bytes_text(&known));
    else if (out->lab == NULL)
        error_set(err, ERROR_USAGE,
                  "cannot tell which lab %s belongs to: name it with --lab ID; the labs are: %s",
                  options->directory, bytes_text(&known));
    return out->lab == NULL || err->kind != ERROR_NONE ? -1 : 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* What git commits in place of a file that Git LFS keeps elsewhere. */
bool submission_is_lfs_pointer(const struct bytes *content)
{
    static const char start[] = "version https://git-lfs.github.com/spec/";
    return content->length < 1024 && strncmp(bytes_text(content), start, sizeof start - 1) == 0;
}

/* Why a source that was read cannot be compiled; NULL when it can be tried. */
static const char *source_problem(const struct bytes *content)
{
    if (content->length == 0)
        return "is empty";
    if (memchr(content->data, '\0', content->length) != NULL)
        return "holds NUL bytes: save it as plain UTF-8 text";
    if (!text_is_utf8(content->data, content->length))
        return "is not UTF-8 text: save it as UTF-8";
    if (submission_is_lfs_pointer(content))
        return "is a Git LFS pointer, not the file itself: commit the file without LFS";
    return NULL;
}

int submission_take_source(struct submission *submission, struct bytes *content,
                           const char *problem, struct error *err)
{
    struct submission_file *source = &submission->source;
    const char *own = problem[0] == '\0' ? source_problem(content) : problem;
    if (own != NULL) {
        (void)snprintf(source->problem, sizeof source->problem, "%s", own);
        bytes_release(content);
        return 0;
    }
    source->content = *content;
    *content = (struct bytes){0};
    return digest_git_blob(submission->source_id, bytes_text(&source->content),
                           source->content.length, err);
}

/* A .cu file of another name, as a browser or an editor may have called it; owned. NULL: none. */
static char *other_source(const struct submission *submission)
{
    DIR *listing = submission->kind == SUBMISSION_DIRECTORY ? opendir(submission->path) : NULL;
    char *found = NULL;
    for (struct dirent *entry;
         listing != NULL && found == NULL && (entry = readdir(listing)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > 3 && strcmp(entry->d_name + length - 3, ".cu") == 0)
            found = text_printable(entry->d_name);
    }
    if (listing != NULL)
        (void)closedir(listing);
    return found;
}

static int read_source(struct submission *out, struct search *search, struct error *err)
{
    struct submission_file *source = &out->source;
    struct bytes content = {0};
    char problem[200] = "";
    search->name = out->lab->source_name;
    search->family = "starter";
    search->limit = LIMIT_SOURCE_BYTES;
    enum file_status status = search_file(&content, &source->path, problem, search, err);
    if (err->kind == ERROR_NONE && status == FILE_MISSING) {
        AUTO_FREE char *other = other_source(out);
        error_set(
            err, ERROR_USAGE,
            "no %s in %s, and no starter/%s/%s in it or a folder above it: nothing to grade%s%s"
            "%s%s",
            search->name, out->path, out->lab->id, search->name, other != NULL ? "; " : "",
            other != NULL ? other : "", other != NULL ? " is there: call it " : "",
            other != NULL ? search->name : "");
    }
    if (status == FILE_TOO_LARGE)
        (void)snprintf(problem, sizeof problem,
                       "is larger than %zu bytes; a lab's source has a few thousand",
                       LIMIT_SOURCE_BYTES);
    if (err->kind == ERROR_NONE)
        out->other_source = look_for_another(search, source->path, &content, err);
    (void)submission_take_source(out, &content, problem, err);
    return err->kind == ERROR_NONE ? 0 : -1;
}

int submission_take_answers(struct submission *submission, const struct bytes *content,
                            const char *problem, struct error *err)
{
    char reason[500];
    if (content == NULL)
        return answers_absent(&submission->answers,
                              "there is no answers.ini: copy the blank one of the exercise beside "
                              "the source and fill it in",
                              err);
    if (problem[0] == '\0')
        return digest_git_blob(submission->answers_id, bytes_text(content), content->length, err) ==
                       0
                   ? answers_parse(&submission->answers, bytes_text(content), content->length, err)
                   : -1;
    (void)snprintf(reason, sizeof reason, "answers.ini %s, so it was not read", problem);
    return answers_absent(&submission->answers, reason, err);
}

static int read_answers(struct submission *out, struct search *search, struct error *err)
{
    struct bytes content = {0};
    char problem[200] = "";
    search->name = "answers.ini";
    search->family = "exercises";
    search->limit = LIMIT_ANSWERS_BYTES;
    enum file_status status = search_file(&content, &out->answers_path, problem, search, err);
    if (status == FILE_TOO_LARGE)
        (void)snprintf(problem, sizeof problem, "is larger than %zu bytes", LIMIT_ANSWERS_BYTES);
    if (err->kind == ERROR_NONE)
        out->other_answers = look_for_another(search, out->answers_path, &content, err);
    if (err->kind == ERROR_NONE)
        (void)submission_take_answers(out, status == FILE_MISSING ? NULL : &content, problem, err);
    bytes_release(&content);
    return err->kind == ERROR_NONE ? 0 : -1;
}

static int read_from(struct submission *out, const struct submission_place *place,
                     const char *folder, const char *folder_name,
                     const struct submission_options *options, struct error *err)
{
    if (choose_lab(out, place, folder, folder_name, options, err) != 0)
        return -1;
    struct search search = {.place = place, .folder = folder, .lab_id = out->lab->id};
    if (read_source(out, &search, err) != 0)
        return -1;
    return read_answers(out, &search, err);
}

/* realpath() found nothing, and errno says why. */
static void no_folder(const char *directory, struct error *err)
{
    if (errno == ENOENT || errno == ENOTDIR)
        error_set(err, ERROR_USAGE, "there is no folder %s", directory);
    else if (file_is_absent(errno))
        error_set_errno(err, ERROR_USAGE, "cannot find the folder %s", directory);
    else
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot find the folder %s", directory);
}

int submission_read(struct submission *out, const struct submission_options *options,
                    struct error *err)
{
    *out = (struct submission){.path = strdup(options->directory)};
    AUTO_FREE char *absolute = realpath(options->directory, NULL);
    struct stat info;
    int status = -1;
    if (out->path == NULL)
        error_no_memory(err);
    else if (absolute == NULL)
        no_folder(options->directory, err);
    else if (stat(absolute, &info) != 0)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look at %s", options->directory);
    else if (!S_ISDIR(info.st_mode))
        error_set(err, ERROR_USAGE, "%s is not a folder: name the folder that holds the submission",
                  options->directory);
    else if (options->revision != NULL) {
        struct submission_place place = {0};
        AUTO_FREE char *prefix = NULL;
        out->kind = SUBMISSION_GIT;
        if (submission_git_open(&place, out, absolute, options->revision, &prefix, err) == 0)
            status = read_from(out, &place, prefix, strrchr(absolute, '/') + 1, options, err);
        submission_git_close(&place);
    } else {
        const struct submission_place place = {
            .read = disk_read, .is_top = disk_is_top, .describe = disk_describe};
        status = read_from(out, &place, absolute, strrchr(absolute, '/') + 1, options, err);
    }
    if (status != 0)
        submission_release(out);
    return status;
}

void submission_release(struct submission *submission)
{
    free(submission->path);
    free(submission->source.path);
    free(submission->answers_path);
    free(submission->other_source);
    free(submission->other_answers);
    bytes_release(&submission->source.content);
    answers_release(&submission->answers);
    *submission = (struct submission){0};
}

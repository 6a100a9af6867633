/* attacks_make.c - makes the submission of one attack. */
#include "attacks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "files.h"

#define TEXT_BYTES_MAX ((size_t)32 << 20)
#define SOURCE "registers.cu"
#define STORE "        out[i] = sum;\n"

static int failed(struct error *err, const struct attack_place *place, const char *what)
{
    return error_set_errno(err, ERROR_INFRASTRUCTURE, "attack %s: %s", place->name, what);
}

static char *inside(const struct attack_place *place, const char *name)
{
    return path_join(place->submission, name);
}

static int write_file(const struct attack_place *place, const char *name, const void *data,
                      size_t length, struct error *err)
{
    AUTO_FREE char *path = inside(place, name);
    return path == NULL ? error_no_memory(err) : file_write(path, data, length, err);
}

/* ---- Text of the data folder ----------------------------------------------------------------- */

static void expand(struct bytes *out, const struct attack_place *place, const char *text)
{
    const struct {
        const char *mark, *meaning;
    } marks[] = {{"@SECRET@", place->secret},
                 {"@ESCAPED@", place->escaped},
                 {"@REFERENCE@", place->reference},
                 {"@HERE@", place->submission}};
    while (*text != '\0') {
        size_t plain = strcspn(text, "@"), used = plain;
        bytes_append(out, text, plain);
        for (size_t i = 0; text[plain] == '@' && i < COUNT_OF(marks) && used == plain; ++i)
            if (strncmp(text + plain, marks[i].mark, strlen(marks[i].mark)) == 0) {
                bytes_append_text(out, marks[i].meaning);
                used += strlen(marks[i].mark);
            }
        if (text[plain] == '@' && used == plain) {
            bytes_append_text(out, "@");
            ++used;
        }
        text += used;
    }
}

int attack_text(struct bytes *out, const struct attack_place *place, const char *file, bool *found,
                struct error *err)
{
    *out = bytes_with_limit(TEXT_BYTES_MAX);
    AUTO_FREE char *path = path_join(place->data, file);
    struct bytes raw = {0};
    enum file_status status =
        path == NULL ? FILE_UNREADABLE : file_read(&raw, path, TEXT_BYTES_MAX, true);
    *found = status == FILE_READ;
    if (status != FILE_READ && status != FILE_MISSING)
        return failed(err, place, file);
    if (*found && memchr(raw.data, '\0', raw.length) != NULL)
        bytes_append(out, raw.data, raw.length); /* binary: as it is */
    else if (*found)
        expand(out, place, bytes_text(&raw));
    bytes_release(&raw);
    return 0;
}

/* ---- Source and answers ---------------------------------------------------------------------- */

static int append_optional(struct bytes *out, const struct attack_place *place, const char *file,
                           struct error *err)
{
    struct bytes text;
    bool found = false;
    int status = attack_text(&text, place, file, &found, err);
    bytes_append(out, bytes_text(&text), text.length);
    bytes_release(&text);
    return status;
}

/* The reference with the stores of some kernels replaced. */
static int append_reference(struct bytes *out, const struct attack_place *place, struct error *err)
{
    static const char *const kernels[] = {"decayNarrow", "decayWide", "decayWideIndexed",
                                          "decayWideBounded"};
    AUTO_FREE char *path = path_join(place->reference, SOURCE);
    struct bytes source = {0};
    if (path == NULL || file_read(&source, path, TEXT_BYTES_MAX, true) != FILE_READ)
        return failed(err, place, "the reference cannot be read");
    const char *rest = bytes_text(&source);
    for (size_t i = 0; i < COUNT_OF(kernels) && err->kind == ERROR_NONE; ++i) {
        char file[64], signature[64];
        (void)snprintf(file, sizeof file, "store.%s.cu", kernels[i]);
        (void)snprintf(signature, sizeof signature, "%s(const float", kernels[i]);
        struct bytes text;
        bool found = false;
        if (attack_text(&text, place, file, &found, err) == 0 && found) {
            const char *kernel = strstr(rest, signature);
            const char *store = kernel == NULL ? NULL : strstr(kernel, STORE);
            if (store == NULL) {
                errno = ENOENT;
                failed(err, place, "the reference has no such kernel or store");
            } else {
                bytes_append(out, rest, (size_t)(store - rest));
                bytes_append(out, text.data, text.length);
                rest = store + strlen(STORE);
            }
        }
        bytes_release(&text);
    }
    bytes_append_text(out, rest);
    bytes_release(&source);
    return err->kind == ERROR_NONE ? 0 : -1;
}

static int make_source(const struct attack_place *place, struct error *err)
{
    struct bytes source;
    bool found = false;
    if (attack_text(&source, place, SOURCE, &found, err) == 0 && !found &&
        append_optional(&source, place, "top.cu", err) == 0 &&
        append_reference(&source, place, err) == 0)
        (void)append_optional(&source, place, "bottom.cu", err);
    if (err->kind == ERROR_NONE)
        (void)write_file(place, SOURCE, bytes_text(&source), source.length, err);
    bytes_release(&source);
    return err->kind == ERROR_NONE ? 0 : -1;
}

/* The reference's answers but for the toolkit that they name: with another one than this machine's
 * a wrong count would be pending, not lost. */
static void add_answers(struct bytes *out, const char *text)
{
    const char *key = strstr(text, "\nnvcc = ");
    size_t kept = key == NULL ? strlen(text) : (size_t)(key - text) + strlen("\nnvcc =");
    bytes_append(out, text, kept);
    if (key != NULL)
        bytes_append_text(out, text + kept + strcspn(text + kept, "\n"));
}

static int make_answers(const struct attack_place *place, struct error *err)
{
    struct bytes answers, reference = {0};
    bool found = false;
    if (attack_text(&answers, place, "answers.ini", &found, err) == 0 && !found) {
        AUTO_FREE char *path = path_join(place->reference, "answers.ini");
        if (path == NULL || file_read(&reference, path, TEXT_BYTES_MAX, true) != FILE_READ)
            failed(err, place, "the reference has no answers");
        add_answers(&answers, bytes_text(&reference));
        bytes_release(&reference);
        (void)append_optional(&answers, place, "answers.add", err);
    }
    if (err->kind == ERROR_NONE)
        (void)write_file(place, "answers.ini", bytes_text(&answers), answers.length, err);
    bytes_release(&answers);
    return err->kind == ERROR_NONE ? 0 : -1;
}

static bool is_ingredient(const char *name)
{
    static const char *const names[] = {SOURCE,        "top.cu",    "bottom.cu",  "answers.ini",
                                        "answers.add", "arguments", "environment"};
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        if (strcmp(name, names[i]) == 0)
            return true;
    return name[0] == '.' || strncmp(name, "store.", 6) == 0;
}

static int copy_others(const struct attack_place *place, struct error *err)
{
    DIR *folder = opendir(place->data);
    if (folder == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct bytes text;
        bool found = false;
        if (is_ingredient(entry->d_name))
            continue;
        if (attack_text(&text, place, entry->d_name, &found, err) == 0)
            (void)write_file(place, entry->d_name, bytes_text(&text), text.length, err);
        bytes_release(&text);
    }
    (void)closedir(folder);
    return err->kind == ERROR_NONE ? 0 : -1;
}

/* ---- What cannot lie in a folder ------------------------------------------------------------- */
/* Each runs after the rest was made, and may replace it. */

static int replace_by_link(const struct attack_place *place, const char *name, const char *target,
                           struct error *err)
{
    AUTO_FREE char *path = inside(place, name);
    (void)unlink(path);
    return symlink(target, path) == 0 ? 0 : failed(err, place, "symlink");
}

static int source_is_link(const struct attack_place *place, struct error *err)
{
    AUTO_FREE char *target = path_join(place->reference, SOURCE);
    return replace_by_link(place, SOURCE, target, err);
}

static int source_is_dangling_link(const struct attack_place *place, struct error *err)
{
    return replace_by_link(place, SOURCE, "/nowhere/at/all", err);
}

static int source_is_zero_device(const struct attack_place *place, struct error *err)
{
    AUTO_FREE char *path = inside(place, SOURCE);
    (void)unlink(path);
    if (mknod(path, S_IFCHR | 0644, makedev(1, 5)) == 0)
        return 0;
    return replace_by_link(place, SOURCE, "/dev/zero", err); /* only root makes devices */
}

static int make_folder_of(const struct attack_place *place, const char *name, struct error *err)
{
    AUTO_FREE char *path = inside(place, name);
    (void)unlink(path);
    return mkdir(path, 0700) == 0 ? 0 : failed(err, place, "mkdir");
}

static int source_is_folder(const struct attack_place *place, struct error *err)
{
    return make_folder_of(place, SOURCE, err);
}

static int answers_is_folder(const struct attack_place *place, struct error *err)
{
    return make_folder_of(place, "answers.ini", err);
}

static int make_fifo(const struct attack_place *place, const char *name, struct error *err)
{
    AUTO_FREE char *path = inside(place, name);
    (void)unlink(path);
    return mkfifo(path, 0600) == 0 ? 0 : failed(err, place, "mkfifo");
}

static int source_is_fifo(const struct attack_place *place, struct error *err)
{
    return make_fifo(place, SOURCE, err);
}

static int answers_is_fifo(const struct attack_place *place, struct error *err)
{
    return make_fifo(place, "answers.ini", err);
}

static int include_fifo(const struct attack_place *place, struct error *err)
{
    return make_fifo(place, "pipe.h", err);
}

static int source_is_socket(const struct attack_place *place, struct error *err)
{
    AUTO_FREE char *path = inside(place, SOURCE);
    (void)unlink(path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* The address has little room: by way of the current folder. */
    AUTO_CLOSE int here = open(".", O_PATH | O_CLOEXEC);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", SOURCE);
    bool made = fd >= 0 && chdir(place->submission) == 0 &&
                bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    int saved = errno;
    bool back = fchdir(here) == 0;
    errno = saved;
    return made && back ? 0 : failed(err, place, "socket");
}

static int make_sparse(const struct attack_place *place, const char *name, off_t bytes,
                       struct error *err)
{
    AUTO_FREE char *path = inside(place, name);
    return truncate(path, bytes) == 0 ? 0 : failed(err, place, "truncate");
}

static int source_is_sparse_giant(const struct attack_place *place, struct error *err)
{
    return make_sparse(place, SOURCE, (off_t)1 << 40, err);
}

static int answers_are_giant(const struct attack_place *place, struct error *err)
{
    return make_sparse(place, "answers.ini", (off_t)100 << 20, err);
}

static int answers_is_link(const struct attack_place *place, struct error *err)
{
    return replace_by_link(place, "answers.ini", place->secret, err);
}

/* The source is to be looked for in starter/, which is a link to the reference's folder. */
static int starter_is_link(const struct attack_place *place, struct error *err)
{
    AUTO_FREE char *source = inside(place, SOURCE), *starter = inside(place, "starter");
    (void)unlink(source);
    if (mkdir(starter, 0700) != 0)
        return failed(err, place, "mkdir");
    return replace_by_link(place, "starter/day17-registers", place->reference, err);
}

static int append_repeated(const struct attack_place *place, const char *name, const char *before,
                           const char *unit, size_t count, const char *after, struct error *err)
{
    struct bytes text = bytes_with_limit(TEXT_BYTES_MAX);
    AUTO_FREE char *path = inside(place, name);
    struct bytes old = {0};
    if (file_read(&old, path, TEXT_BYTES_MAX, false) == FILE_READ)
        bytes_append(&text, bytes_text(&old), old.length);
    bytes_release(&old);
    bytes_append_text(&text, before);
    for (size_t i = 0; i < count; ++i)
        bytes_append_text(&text, unit);
    bytes_append_text(&text, after);
    int status = text.failed ? error_no_memory(err) : file_write(path, text.data, text.length, err);
    bytes_release(&text);
    return status;
}

static int ten_megabytes(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, SOURCE, "", "// ten bytes\n", 850000, "", err);
}

static int deep_parentheses(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, SOURCE, "__device__ int deep = ", "(", 500000, "1;\n", err);
}

static int deep_braces(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, SOURCE, "__device__ void deep() ", "{", 400000, "\n", err);
}

static int long_name(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, SOURCE, "__global__ void ", "name_", 100000, "() {}\n", err);
}

static int long_error(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, SOURCE, "int x = ", "unknown_", 100000, ";\n", err);
}

static int many_errors(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, SOURCE, "", "int a = b;\n", 80000, "", err);
}

static int many_warnings(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, SOURCE, "", "#warning Score: 100/100\n", 3000, "", err);
}

static int answers_billion_keys(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, "answers.ini", "[more]\n", "k=1\n", 16000, "", err);
}

static int answers_long_line(const struct attack_place *place, struct error *err)
{
    return append_repeated(place, "answers.ini", "[x]\ny = ", "0123456789", 6000, "\n", err);
}

static int answers_nul(const struct attack_place *place, struct error *err)
{
    static const char text[] = "lab = day17-registers\n[registers]\ndecayNarrow = 10\0 = 11\n"
                               "decayWide = 7\0002\n";
    return write_file(place, "answers.ini", text, sizeof text - 1, err);
}

static int prebuilt_things(const struct attack_place *place, struct error *err)
{
    static const char *const folders[] = {"sm_75", "build"};
    static const char *const files[] = {"sm_75/device.ptx", "sm_75/device.cubin",
                                        "build/device.ptx", "device.ptx",
                                        "device.cubin",     "registers.cubin"};
    for (size_t i = 0; i < COUNT_OF(folders); ++i)
        if (make_folder_of(place, folders[i], err) != 0)
            return -1;
    for (size_t i = 0; i < COUNT_OF(files); ++i)
        if (write_file(place, files[i], "not what the source says", 24, err) != 0)
            return -1;
    return 0;
}

static const struct {
    const char *name;
    int (*make)(const struct attack_place *place, struct error *err);
} makers[] = {
    /* clang-format off */
    {"source_is_link", source_is_link},
    {"source_is_dangling_link", source_is_dangling_link},
    {"source_is_zero_device", source_is_zero_device},
    {"source_is_folder", source_is_folder},
    {"source_is_fifo", source_is_fifo},
    {"source_is_socket", source_is_socket},
    {"source_is_sparse_giant", source_is_sparse_giant},
    {"starter_is_link", starter_is_link},
    {"include_fifo", include_fifo},
    {"ten_megabytes", ten_megabytes},
    {"deep_parentheses", deep_parentheses},
    {"deep_braces", deep_braces},
    {"long_name", long_name},
    {"long_error", long_error},
    {"many_errors", many_errors},
    {"many_warnings", many_warnings},
    {"prebuilt_things", prebuilt_things},
    {"answers_is_folder", answers_is_folder},
    {"answers_is_fifo", answers_is_fifo},
    {"answers_is_link", answers_is_link},
    {"answers_are_giant", answers_are_giant},
    {"answers_billion_keys", answers_billion_keys},
    {"answers_long_line", answers_long_line},
    {"answers_nul", answers_nul},
    {"committed_link", attack_committed_link},
    {"committed_repository", attack_committed_repository},
    {"repository_runs_programs", attack_repository_runs_programs},
    /* clang-format on */
};

int attack_make(const struct attack_place *place, struct error *err)
{
    if (make_source(place, err) != 0 || make_answers(place, err) != 0 ||
        copy_others(place, err) != 0)
        return -1;
    for (size_t i = 0; i < COUNT_OF(makers); ++i)
        if (strcmp(makers[i].name, place->name) == 0)
            return makers[i].make(place, err);
    return 0;
}

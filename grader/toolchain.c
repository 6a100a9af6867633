#include "toolchain.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "files.h"
#include "caps.h"
#include "number.h"
#include "process.h"

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* realpath(), but "not there" and "could not be found out" are two things: a toolkit that is passed
 * over for a moment's lack of memory would give another grade. -1 with *err; *ret NULL: not there.
 */
static int real_path(char **ret, const char *path, struct error *err)
{
    *ret = realpath(path, NULL);
    if (*ret != NULL || file_is_absent(errno))
        return 0;
    return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look for %s", path);
}

/* The absolute path to run a program by, owned; NULL if none is there, or with *err. Links are
 * resolved, since nvcc looks for the rest of its toolkit around the path that it was called by; but
 * not a link to a program of another name (ccache), which goes by the name that it was called by.
 */
static char *absolute_program(const char *path, struct error *err)
{
    AUTO_FREE char *real = NULL;
    if (real_path(&real, path, err) != 0 || real == NULL || !is_program(real))
        return NULL;
    if (strncmp(base_name(real), "nvcc", 4) == 0 || strcmp(base_name(real), base_name(path)) == 0)
        return steal_pointer(&real);
    const char *name = base_name(path);
    AUTO_FREE char *folder = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
    AUTO_FREE char *real_folder = folder == NULL ? NULL : realpath(folder, NULL);
    char *program = real_folder == NULL ? NULL : path_join(real_folder, name);
    if (program == NULL)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look for %s", path);
    return program;
}

static int find_nvcc(struct toolchain *out, const char *nvcc_option, struct error *err)
{
    if (nvcc_option != NULL) {
        struct stat info;
        out->found = "--nvcc";
        out->nvcc = absolute_program(nvcc_option, err);
        if (out->nvcc != NULL)
            return 0;
        bool folder = stat(nvcc_option, &info) == 0 && S_ISDIR(info.st_mode);
        return error_set(err, ERROR_INFRASTRUCTURE, "--nvcc %s is %s", nvcc_option,
                         folder ? "a folder: name the program in it, as in bin/nvcc"
                                : "no program that can be run");
    }
    const char *home = getenv("CUDA_HOME");
    if (home != NULL && home[0] != '\0') {
        AUTO_FREE char *path = path_join(home, "bin/nvcc");
        out->found = "CUDA_HOME";
        if (path == NULL)
            return error_no_memory(err);
        out->nvcc = absolute_program(path, err);
        if (out->nvcc != NULL)
            return 0;
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "CUDA_HOME is %s, but there is no bin/nvcc in it: correct or unset it",
                         home);
    }
    AUTO_FREE char *on_path = program_find("nvcc");
    if (on_path == NULL && errno != ENOENT)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look for nvcc on the PATH");
    out->found = on_path != NULL ? "PATH" : "/usr/local/cuda";
    out->nvcc = absolute_program(on_path != NULL ? on_path : "/usr/local/cuda/bin/nvcc", err);
    if (out->nvcc == NULL)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "no nvcc on the PATH or in /usr/local/cuda: install the CUDA toolkit "
                         "(12.0 or newer), or name it with --nvcc PATH or CUDA_HOME");
    return 0;
}

/* ptxas lies beside nvcc, or (a wrapper, Debian's scripts) beside what the wrapper links to or on
 * the PATH. */
static char *find_ptxas(const char *nvcc, struct error *err)
{
    AUTO_FREE char *real = NULL;
    if (real_path(&real, nvcc, err) != 0)
        return NULL;
    const char *const places[] = {real, nvcc};
    for (size_t i = 0; i < COUNT_OF(places); ++i) {
        const char *slash = places[i] == NULL ? NULL : strrchr(places[i], '/');
        AUTO_FREE char *folder =
            slash == NULL ? NULL : strndup(places[i], (size_t)(slash - places[i]));
        AUTO_FREE char *candidate = folder == NULL ? NULL : path_join(folder, "ptxas");
        if (slash != NULL && candidate == NULL) {
            error_no_memory(err);
            return NULL;
        }
        if (candidate != NULL && is_program(candidate))
            return steal_pointer(&candidate);
    }
    char *on_path = program_find("ptxas");
    if (on_path == NULL && errno != ENOENT)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look for ptxas on the PATH");
    return on_path;
}

/* ---- What a compile reads -------------------------------------------------------------------- */

static int add_path(struct toolchain *toolchain, char *path, struct error *err)
{
    if (path == NULL)
        return error_no_memory(err);
    if (toolchain->path_count < TOOLCHAIN_PATHS_MAX && access(path, F_OK) == 0)
        toolchain->paths[toolchain->path_count++] = path;
    else
        free(path);
    return 0;
}

/* Of a program in PREFIX/bin, these folders of PREFIX; of any other program, itself alone. */
static int add_program(struct toolchain *toolchain, const char *program, const char *const *folders,
                       size_t folder_count, struct error *err)
{
    AUTO_FREE char *real = NULL;
    if (real_path(&real, program, err) != 0)
        return -1;
    char *slash = real == NULL ? NULL : strrchr(real, '/');
    if (slash == NULL)
        return 0;
    *slash = '\0';
    char *parent = strrchr(real, '/');
    if (parent == NULL || strcmp(parent, "/bin") != 0) {
        *slash = '/';
        return add_path(toolchain, strdup(real), err);
    }
    *parent = '\0';
    if (strcmp(real, "/usr") == 0) /* the system's own, see sandbox.c */
        return 0;
    int status = 0;
    for (size_t i = 0; i < folder_count && status == 0; ++i)
        status = add_path(toolchain, path_join(real, folders[i]), err);
    return status;
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* A folder with a link to an older gcc, put first on the PATH for a toolkit that refuses the
 * system's: that link alone, since other things may lie there. It must stay a link, because gcc
 * looks for its parts around the place that it really has. A link to ccache is left out; the
 * system's gcc does as well. */
static int add_compiler_link(struct toolchain *toolchain, const char *gcc, struct error *err)
{
    AUTO_FREE char *real = NULL;
    if (real_path(&real, gcc, err) != 0)
        return -1;
    bool visible = (is_below(gcc, "/usr") && !is_below(gcc, "/usr/local")) || is_below(gcc, "/bin");
    for (size_t i = 0; i < toolchain->path_count; ++i)
        visible |= is_below(gcc, toolchain->paths[i]);
    if (visible || gcc[0] != '/' || real == NULL || !is_below(real, "/usr/bin") ||
        strstr(base_name(real), "gcc") == NULL)
        return 0;
    toolchain->gcc_link = strdup(gcc);
    toolchain->gcc = steal_pointer(&real);
    return toolchain->gcc_link == NULL ? error_no_memory(err) : 0;
}

static int find_paths(struct toolchain *toolchain, struct error *err)
{
    static const char *const toolkit[] = {"bin", "nvvm", "include", "targets/x86_64-linux/include",
                                          "targets/sbsa-linux/include"};
    static const char *const compiler[] = {"bin", "lib", "lib64", "libexec", "include"};
    AUTO_FREE char *host = program_find("gcc");
    if (host == NULL && errno != ENOENT)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot look for gcc on the PATH");
    if (add_program(toolchain, toolchain->nvcc, toolkit, COUNT_OF(toolkit), err) != 0 ||
        add_program(toolchain, toolchain->ptxas, toolkit, 1, err) != 0)
        return -1;
    if (host == NULL)
        return 0;
    if (add_compiler_link(toolchain, host, err) != 0)
        return -1;
    return add_program(toolchain, host, compiler, COUNT_OF(compiler), err);
}

int toolchain_find(struct toolchain *out, const char *nvcc_option, struct error *err)
{
    *out = (struct toolchain){0};
    if (find_nvcc(out, nvcc_option, err) != 0)
        return -1;
    out->ptxas = find_ptxas(out->nvcc, err);
    if (out->ptxas == NULL) {
        error_set(err, ERROR_INFRASTRUCTURE,
                  "there is an nvcc (%s) but no ptxas beside it or on the PATH: the toolkit is "
                  "incomplete, install it again",
                  out->nvcc);
        return -1;
    }
    return find_paths(out, err);
}

void toolchain_release(struct toolchain *toolchain)
{
    free(toolchain->nvcc);
    free(toolchain->ptxas);
    free(toolchain->gcc_link);
    free(toolchain->gcc);
    for (size_t i = 0; i < toolchain->path_count; ++i)
        free(toolchain->paths[i]);
    *toolchain = (struct toolchain){0};
}

struct sandbox_view toolchain_view(const struct toolchain *toolchain, const char *folder)
{
    return (struct sandbox_view){.folder = folder,
                                 .readable = (const char *const *)toolchain->paths,
                                 .readable_count = toolchain->path_count,
                                 .link = toolchain->gcc_link,
                                 .link_target = toolchain->gcc};
}

const char *const *toolchain_environment(struct toolchain_environment *storage,
                                         const char *temporary_folder)
{
    const char *path = getenv("PATH");
    (void)snprintf(storage->path, sizeof storage->path, "PATH=%s",
                   path != NULL && strlen(path) < sizeof storage->path - 8 ? path
                                                                           : "/usr/bin:/bin");
    (void)snprintf(storage->temporary, sizeof storage->temporary, "TMPDIR=%s", temporary_folder);
    storage->entries[0] = storage->path;
    storage->entries[1] = storage->temporary;
    storage->entries[2] = "LC_ALL=C";
    storage->entries[3] = NULL;
    return storage->entries;
}

/* Outside of any sandbox: no submission has a say here. */
static int ask(struct process_result *result, const struct toolchain *toolchain, const char *option,
               struct error *err)
{
    const char *const argv[] = {toolchain->nvcc, option, NULL};
    struct toolchain_environment environment;
    const struct process_spec spec = {.argv = argv,
                                      .environment = toolchain_environment(&environment, "/tmp"),
                                      .wall_ns = INT64_C(20000000000),
                                      .output_limit = (size_t)64 << 10};
    if (process_run(result, &spec, err) != 0)
        return -1;
    if (!result->timed_out && !result->signalled && result->exit_code == 0)
        return 0;
    error_set(err, ERROR_INFRASTRUCTURE, "`%s %s` failed: is the toolkit whole?", toolchain->nvcc,
              option);
    process_result_release(result);
    return -1;
}

bool toolchain_read_version(struct toolchain *toolchain, const char *text)
{
    const char *version = strstr(text, ", V");
    if (version == NULL)
        return false;
    version += strlen(", V");
    size_t length = strspn(version, "0123456789.");
    size_t major = strcspn(version, ".");
    if (length == 0 || length >= sizeof toolchain->version || major >= length)
        return false;
    size_t minor = strspn(version + major + 1, "0123456789");
    uint64_t numbers[2];
    if (!number_parse_u64_bytes(version, major, 999, &numbers[0]) ||
        !number_parse_u64_bytes(version + major + 1, minor, 999, &numbers[1]))
        return false;
    memcpy(toolchain->version, version, length);
    toolchain->version[length] = '\0';
    toolchain->major = (unsigned)numbers[0];
    toolchain->minor = (unsigned)numbers[1];
    return true;
}

static int compare_archs(const void *left, const void *right)
{
    const struct arch *a = left, *b = right;
    return a->number != b->number ? (a->number > b->number) - (a->number < b->number)
                                  : a->suffix - b->suffix;
}

void toolchain_read_archs(struct toolchain *toolchain, const char *text)
{
    toolchain->arch_count = 0;
    for (size_t length; *text != '\0'; text += length + strspn(text + length, "\r\n")) {
        char line[ARCH_NAME_BYTES];
        length = strcspn(text, "\r\n");
        if (length >= sizeof line || toolchain->arch_count == TOOLCHAIN_ARCHS_MAX)
            continue;
        memcpy(line, text, length);
        line[length] = '\0';
        if (arch_parse(line, &toolchain->archs[toolchain->arch_count]))
            ++toolchain->arch_count;
    }
    qsort(toolchain->archs, toolchain->arch_count, sizeof toolchain->archs[0], compare_archs);
}

int toolchain_ask(struct toolchain *toolchain, struct error *err)
{
    struct process_result result;
    if (ask(&result, toolchain, "--version", err) != 0)
        return -1;
    bool understood = toolchain_read_version(toolchain, bytes_text(&result.output));
    process_result_release(&result);
    if (!understood)
        return error_set(err, ERROR_INFRASTRUCTURE, "`%s --version` names no version like V13.0.88",
                         toolchain->nvcc);
    if (ask(&result, toolchain, "--list-gpu-arch", err) != 0)
        return -1;
    toolchain_read_archs(toolchain, bytes_text(&result.output));
    process_result_release(&result);
    if (toolchain->arch_count == 0)
        return error_set(err, ERROR_INFRASTRUCTURE, "`%s --list-gpu-arch` lists no architecture",
                         toolchain->nvcc);
    return 0;
}

/* nvcc lists only the plain architectures. With an `a` it makes code for one architecture alone
 * (from sm_90 on), with an `f` for its family (from sm_100 on, by CUDA 12.9). */
static bool variant_exists(const struct toolchain *toolchain, struct arch arch)
{
    bool has_families = toolchain->major > 12 || (toolchain->major == 12 && toolchain->minor >= 9);
    return arch.suffix == 'a' ? arch.number >= 90 : has_families && arch.number >= 100;
}

bool toolchain_knows(const struct toolchain *toolchain, struct arch arch)
{
    for (size_t i = 0; i < toolchain->arch_count; ++i)
        if (toolchain->archs[i].number == arch.number &&
            (toolchain->archs[i].suffix == arch.suffix ||
             (toolchain->archs[i].suffix == 0 && variant_exists(toolchain, arch))))
            return true;
    return false;
}

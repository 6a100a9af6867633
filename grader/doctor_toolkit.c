/* doctor_toolkit.c - nvcc, ptxas and the host compiler: found, asked, and tried on a small kernel.
 */
#include "doctor.h"

#include <glob.h>

#include "files.h"
#include "process.h"
#include "text.h"

#define OLDEST_MAJOR 12 /* the labs and the tests are written for CUDA 12.0 and newer */
#define ASK_WALL_NS INT64_C(20000000000)
#define TRIAL_WALL_NS INT64_C(60000000000)

static const char how_to_get_one[] =
    "install the CUDA toolkit (12.0 or newer; no GPU is needed for it): "
    "https://developer.nvidia.com/cuda-downloads lists the commands for this system";

/* ---- No toolkit ------------------------------------------------------------------------------ */

/* A toolkit in /usr/local/cuda-12.4 that nobody put on the PATH: its folder, owned, else NULL. */
static char *overlooked_toolkit(void)
{
    glob_t found = {0};
    char *folder = NULL;
    if (glob("/usr/local/cuda*/bin/nvcc", 0, NULL, &found) == 0 && found.gl_pathc > 0) {
        const char *last = found.gl_pathv[found.gl_pathc - 1];
        folder = strndup(last, strlen(last) - strlen("/bin/nvcc"));
    }
    globfree(&found);
    return folder;
}

static void no_toolkit(struct doctor *doctor, const char *nvcc_option, const struct error *trouble)
{
    struct doctor_finding *finding =
        doctor_add(doctor, doctor->toolchain.nvcc != NULL ? "ptxas" : "nvcc", DOCTOR_FAIL, "%s",
                   trouble->text);
    const char *home = getenv("CUDA_HOME");
    AUTO_FREE char *overlooked = overlooked_toolkit();
    if (doctor->toolchain.nvcc != NULL)
        doctor_remedy(finding, "%s", how_to_get_one);
    else if (nvcc_option != NULL)
        doctor_remedy(finding, "spillway doctor --nvcc %s",
                      overlooked != NULL ? "/usr/local/cuda/bin/nvcc" : "/path/to/bin/nvcc");
    else if (overlooked != NULL)
        doctor_remedy(finding, "export CUDA_HOME=%s", overlooked);
    else if (home != NULL && home[0] != '\0')
        doctor_remedy(finding, "unset CUDA_HOME");
    else
        doctor_remedy(finding, "%s", how_to_get_one);
}

/* ---- Asking a program its version ------------------------------------------------------------ */

/* Runs argv as a compile runs, sandbox and all, in `folder` (NULL: nowhere to write); true when it
 * ended, however. Release *result after true. */
static bool run_quietly(struct process_result *result, const struct toolchain *toolchain,
                        const char *const *argv, const char *folder, int64_t wall_ns,
                        struct error *err)
{
    struct toolchain_environment environment;
    const char *temporary = folder != NULL ? sandbox_folder(&toolchain->sandbox, folder) : "/tmp";
    const struct process_spec spec = {.argv = argv,
                                      .environment = toolchain_environment(&environment, temporary),
                                      .directory = folder,
                                      .wall_ns = wall_ns,
                                      .output_limit = (size_t)64 << 10,
                                      .merge_error = true};
    if (folder == NULL)
        return process_run(result, &spec, err) == 0;
    struct sandbox_view view = toolchain_view(toolchain, folder);
    return sandbox_run(result, &toolchain->sandbox, &spec, &view, err) == 0;
}

/* The text between `before` and the next blank or newline of what `program option` prints. */
static bool ask_version(char version[64], const char *program, const char *option,
                        const char *before, struct error *err)
{
    const char *const argv[] = {program, option, NULL};
    struct process_result result;
    if (!run_quietly(&result, NULL, argv, NULL, ASK_WALL_NS, err))
        return false;
    const char *at = result.exit_code == 0 ? strstr(bytes_text(&result.output), before) : NULL;
    size_t length = at == NULL ? 0 : strspn(at + strlen(before), "0123456789.");
    if (length > 0 && length < 64) {
        memcpy(version, at + strlen(before), length);
        version[length] = '\0';
    }
    process_result_release(&result);
    return length > 0 && length < 64;
}

static int look_at_nvcc(struct doctor *doctor, struct error *err)
{
    struct toolchain *toolchain = &doctor->toolchain;
    struct error trouble = {0};
    if (toolchain_ask(toolchain, &trouble) != 0) {
        if (trouble.kind == ERROR_INTERRUPTED) {
            *err = trouble;
            return -1;
        }
        toolchain->version[0] = '\0';
        toolchain->arch_count = 0;
        struct doctor_finding *finding = doctor_add(doctor, "nvcc", DOCTOR_FAIL, "%s (found by %s)",
                                                    trouble.text, toolchain->found);
        doctor_remedy(finding, "%s", how_to_get_one);
        return 0;
    }
    char first[ARCH_NAME_BYTES], last[ARCH_NAME_BYTES];
    (void)arch_name(toolchain->archs[0], "sm_", first);
    (void)arch_name(toolchain->archs[toolchain->arch_count - 1], "sm_", last);
    if (toolchain->major >= OLDEST_MAJOR) {
        doctor_add(doctor, "nvcc", DOCTOR_OK, "nvcc %s: %s (found by %s), compiles for %s to %s",
                   toolchain->version, toolchain->nvcc, toolchain->found, first, last);
        return 0;
    }
    struct doctor_finding *finding =
        doctor_add(doctor, "nvcc", DOCTOR_WARN,
                   "nvcc %s: %s (found by %s) is older than CUDA %d.0, which the labs are written "
                   "for: it may refuse them",
                   toolchain->version, toolchain->nvcc, toolchain->found, OLDEST_MAJOR);
    doctor_remedy(finding, "%s", how_to_get_one);
    return 0;
}

static int look_at_ptxas(struct doctor *doctor, struct error *err)
{
    const struct toolchain *toolchain = &doctor->toolchain;
    char version[64] = "";
    struct error trouble = {0};
    bool answered = ask_version(version, toolchain->ptxas, "--version", ", V", &trouble);
    if (trouble.kind == ERROR_INTERRUPTED) {
        *err = trouble;
        return -1;
    }
    if (!answered) {
        struct doctor_finding *finding = doctor_add(
            doctor, "ptxas", DOCTOR_FAIL,
            "`%s --version` names no version: the toolkit is not whole", toolchain->ptxas);
        doctor_remedy(finding, "%s", how_to_get_one);
        return 0;
    }
    if (toolchain->version[0] == '\0' || strcmp(version, toolchain->version) == 0) {
        doctor_add(doctor, "ptxas", DOCTOR_OK, "ptxas %s: %s", version, toolchain->ptxas);
        return 0;
    }
    struct doctor_finding *finding = doctor_add(
        doctor, "ptxas", DOCTOR_WARN,
        "ptxas %s (%s) belongs to another toolkit than nvcc %s: it may refuse the PTX, and its "
        "register counts are that other toolkit's",
        version, toolchain->ptxas, toolchain->version);
    doctor_remedy(finding, "name a whole toolkit: export CUDA_HOME=/usr/local/cuda-%u.%u",
                  toolchain->major, toolchain->minor);
    return 0;
}

/* ---- The host compiler ----------------------------------------------------------------------- */

/* The first `gcc` in a list of folders parted by colons; owned, NULL: there is none. */
static char *find_gcc(const char *path)
{
    while (*path != '\0' && *path != '\n') {
        size_t length = strcspn(path, ":\n");
        AUTO_FREE char *folder = strndup(path, length);
        AUTO_FREE char *candidate = folder == NULL || length == 0 ? NULL : path_join(folder, "gcc");
        if (candidate != NULL && access(candidate, X_OK) == 0)
            return steal_pointer(&candidate);
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* nvcc calls `gcc` by name, in the PATH that a compile gets, before which its nvcc.profile may put
 * folders: Debian's and Ubuntu's toolkits have a gcc of their own there, which calls one that is
 * old enough. A dry run shows that path. Owned; NULL: there is none, or *err (interrupted). */
static char *find_host_compiler(const struct toolchain *toolchain, struct error *err)
{
    static const char shown[] = "#$ PATH=";
    struct toolchain_environment environment;
    (void)toolchain_environment(&environment, "/tmp");
    if (toolchain->nvcc != NULL && toolchain->version[0] != '\0') {
        const char *const argv[] = {toolchain->nvcc, "-dryrun", "-cubin", "-x", "cu",
                                    "/dev/null",     NULL};
        struct process_result result;
        if (!run_quietly(&result, NULL, argv, NULL, ASK_WALL_NS, err))
            return NULL;
        const char *at = strstr(bytes_text(&result.output), shown);
        char *gcc = at == NULL ? NULL : find_gcc(at + sizeof shown - 1);
        process_result_release(&result);
        if (gcc != NULL)
            return gcc;
    }
    return find_gcc(environment.path + strlen("PATH="));
}

static int look_at_host_compiler(struct doctor *doctor, struct error *err)
{
    struct error trouble = {0};
    AUTO_FREE char *gcc = find_host_compiler(&doctor->toolchain, &trouble);
    if (trouble.kind == ERROR_INTERRUPTED) {
        *err = trouble;
        return -1;
    }
    if (gcc == NULL) {
        struct doctor_finding *finding =
            doctor_add(doctor, "host-compiler", DOCTOR_FAIL,
                       "no gcc on the PATH: nvcc reads every source through it");
        doctor_remedy_install(finding, "g++");
        return 0;
    }
    char version[64] = "";
    bool answered = ask_version(version, gcc, "-dumpfullversion", "", &trouble);
    if (trouble.kind == ERROR_INTERRUPTED) {
        *err = trouble;
        return -1;
    }
    doctor_add(doctor, "host-compiler", DOCTOR_OK, "gcc %s: %s, through which nvcc reads sources",
               answered ? version : "(of unknown version)", gcc);
    return 0;
}

/* ---- A trial build --------------------------------------------------------------------------- */

static void trial_failed(struct doctor *doctor, const struct process_result *result)
{
    const char *words = bytes_text(&result->output);
    const char *line = strstr(words, "error");
    if (line == NULL)
        line = strstr(words, "fatal");
    while (line != NULL && line > words && line[-1] != '\n')
        --line;
    if (line == NULL)
        line = words;
    struct bytes quoted = bytes_with_limit(300);
    text_sanitize(&quoted, line, strcspn(line, "\n"), 280);
    struct doctor_finding *finding =
        doctor_add(doctor, "trial", DOCTOR_FAIL, "nvcc cannot compile an empty kernel: %s",
                   result->timed_out    ? "it was still busy after a minute"
                   : quoted.length == 0 ? "it failed without a word"
                                        : bytes_text(&quoted));
    bytes_release(&quoted);
    if (strstr(words, "unsupported GNU version") != NULL)
        doctor_remedy_install(finding,
                              "gcc-12 g++-12 (this gcc is too new for this nvcc; then put a "
                              "folder with gcc -> gcc-12 and g++ -> g++-12 first on the PATH)");
    else if (strstr(words, "cc1plus") != NULL)
        doctor_remedy_install(finding, "g++");
    else
        doctor_remedy(finding, "%s", how_to_get_one);
}

/* Found and versioned is not yet working: a host compiler too new for this nvcc, a missing C++ half
 * of gcc or a missing cicc only show when something is compiled. */
static int try_a_build(struct doctor *doctor, struct error *err)
{
    static const char source[] = "__global__ void trial() {}\n";
    const struct toolchain *toolchain = &doctor->toolchain;
    struct error trouble = {0};
    char *folder = temporary_folder_create(&trouble);
    AUTO_FREE char *path = folder == NULL ? NULL : path_join(folder, "trial.cu");
    int status = 0;
    /* No temporary folder has a finding of its own. */
    if (path != NULL && file_write(path, source, strlen(source), &trouble) == 0) {
        char option[ARCH_NAME_BYTES + 8], name[ARCH_NAME_BYTES];
        (void)snprintf(option, sizeof option, "-arch=%s",
                       arch_name(toolchain->archs[0], "sm_", name));
        const char *const argv[] = {toolchain->nvcc, "-std=c++17", "-O3", option, "-cubin", "-o",
                                    "trial.cubin",   "trial.cu",   NULL};
        struct process_result result;
        if (run_quietly(&result, toolchain, argv, folder, TRIAL_WALL_NS, &trouble)) {
            if (!result.timed_out && !result.signalled && result.exit_code == 0)
                doctor_add(doctor, "trial", DOCTOR_OK, "an empty kernel compiles, in %.1f s",
                           (double)result.wall_ns * 1e-9);
            else
                trial_failed(doctor, &result);
            process_result_release(&result);
        } else if (trouble.kind == ERROR_INTERRUPTED) {
            *err = trouble;
            status = -1;
        } else {
            doctor_add(doctor, "trial", DOCTOR_FAIL, "%s", trouble.text);
        }
    }
    temporary_folder_remove(folder);
    return status;
}

int doctor_look_at_toolkit(struct doctor *doctor, const char *nvcc_option, struct error *err)
{
    struct error trouble = {0};
    if (toolchain_find(&doctor->toolchain, nvcc_option, &trouble) != 0) {
        no_toolkit(doctor, nvcc_option, &trouble);
        return look_at_host_compiler(doctor, err);
    }
    doctor->toolchain.sandbox = *sandbox_probe();
    if (look_at_nvcc(doctor, err) != 0 || look_at_ptxas(doctor, err) != 0 ||
        look_at_host_compiler(doctor, err) != 0)
        return -1;
    return doctor_can_grade(doctor) ? try_a_build(doctor, err) : 0;
}

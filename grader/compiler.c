#include "compiler.h"

#include <pthread.h>
#include <signal.h>

#include "caps.h"
#include "files.h"
#include "text.h"

static unsigned seconds_of(const struct toolchain *toolchain)
{
    return toolchain->compile_seconds != 0 ? toolchain->compile_seconds : LIMIT_COMPILE_SECONDS;
}

static int start(struct process_result *result, const struct toolchain *toolchain,
                 const char *const *argv, const char *folder, struct error *err)
{
    struct toolchain_environment environment;
    const struct sandbox_view view = toolchain_view(toolchain, folder);
    const struct process_spec spec = {
        .argv = argv,
        .environment =
            toolchain_environment(&environment, sandbox_folder(&toolchain->sandbox, folder)),
        .wall_ns = (int64_t)seconds_of(toolchain) * 1000000000,
        .memory_bytes = LIMIT_COMPILE_MEMORY_BYTES,
        .file_bytes = LIMIT_CUBIN_BYTES,
        .cpu_seconds = LIMIT_COMPILE_SECONDS,
        .output_limit = LIMIT_COMPILER_OUTPUT_BYTES,
        .merge_error = true,
    };
    if (sandbox_run(result, &toolchain->sandbox, &spec, &view, err) != 0)
        return -1;
    /* nvcc itself ends with 128 + the signal that ended one of its passes. */
    if (!result->signalled && result->exit_code > 128 && result->exit_code <= 128 + SIGSYS) {
        result->signalled = true;
        result->signal = result->exit_code - 128;
    }
    return 0;
}

/* ---- Is it the machine? ---------------------------------------------------------------------- */

static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER;
static bool control_worked; /* guarded by control_lock */

static int compile_control(const struct toolchain *toolchain, struct arch arch, const char *folder,
                           struct error *err)
{
    static const char source[] = "__global__ void control(float *out) { *out = 1.0f; }\n";
    char option[ARCH_NAME_BYTES + 8], name[ARCH_NAME_BYTES];
    (void)snprintf(option, sizeof option, "-arch=%s", arch_name(arch, "sm_", name));
    const char *const argv[] = {toolchain->nvcc, "-std=c++17", option, "-cubin", "-o",
                                "control.cubin", "control.cu", NULL};
    AUTO_FREE char *path = path_join(folder, "control.cu");
    struct process_result result;
    if (path == NULL)
        return error_no_memory(err);
    if (file_write(path, source, sizeof source - 1, err) != 0 ||
        start(&result, toolchain, argv, folder, err) != 0)
        return -1;
    bool worked = !result.timed_out && !result.signalled && result.exit_code == 0;
    if (!worked) {
        char room[400];
        struct bytes words = bytes_in(room, sizeof room);
        text_sanitize(&words, bytes_text(&result.output), result.output.length, 300);
        error_set(err, ERROR_INFRASTRUCTURE,
                  "%s cannot compile even an empty kernel %s: %s; `spillway doctor` tells more",
                  toolchain->nvcc,
                  toolchain->sandbox.level == SANDBOX_LIMITS
                      ? "here"
                      : "in the sandbox (is it a script that calls another nvcc? Then name that "
                        "one with --nvcc)",
                  words.length > 0   ? bytes_text(&words)
                  : result.timed_out ? "it does not end"
                                     : "it ends without a word");
    }
    process_result_release(&result);
    return worked ? 0 : -1;
}

/* In a folder of its own: the compiler that failed may have left anything in the other. */
static int check_machine(const struct toolchain *toolchain, struct arch arch, struct error *err)
{
    (void)pthread_mutex_lock(&control_lock);
    if (!control_worked) {
        char *folder = temporary_folder_create(err);
        control_worked = folder != NULL && compile_control(toolchain, arch, folder, err) == 0;
        temporary_folder_remove(folder);
    }
    bool works = control_worked;
    (void)pthread_mutex_unlock(&control_lock);
    return works ? 0 : -1;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* SIGKILL may be the kernel's, out of memory because of somebody else: worth a second try. */
static bool deserves_another(const struct process_result *result)
{
    return result->signalled && !result->timed_out && result->signal != SIGXFSZ &&
           result->signal != SIGXCPU;
}

static const char *describe_signal(int number)
{
    switch (number) {
    case SIGXFSZ:
        return "it makes the compiler write a file of more than 64 MiB";
    case SIGXCPU:
        return "it keeps the compiler busy without end";
    case SIGKILL:
        return "it makes the compiler need more memory or time than it may have";
    default:
        return "it makes the compiler crash";
    }
}

static void describe(struct compiler_run *out, const struct toolchain *toolchain,
                     const struct process_result *result)
{
    if (result->timed_out)
        (void)snprintf(out->problem, sizeof out->problem,
                       "the compiler was still busy after %u seconds and was stopped",
                       seconds_of(toolchain));
    else if (result->signalled)
        (void)snprintf(out->problem, sizeof out->problem, "%s (signal %d, %s)",
                       describe_signal(result->signal), result->signal, strsignal(result->signal));
    else if (memmem(bytes_text(&result->output), result->output.length, "out of memory", 13) !=
             NULL)
        (void)snprintf(out->problem, sizeof out->problem,
                       "it makes the compiler need more than %llu MiB of memory",
                       (unsigned long long)(LIMIT_COMPILE_MEMORY_BYTES >> 20));
    out->end = out->problem[0] != '\0' ? COMPILER_STOPPED : COMPILER_REFUSED;
}

int compiler_run(struct compiler_run *out, const struct toolchain *toolchain, struct arch arch,
                 const char *const *argv, const char *folder, struct error *err)
{
    *out = (struct compiler_run){.end = COMPILER_DONE};
    struct process_result result = {0};
    for (int attempt = 0; attempt < 2; ++attempt) {
        process_result_release(&result);
        if (start(&result, toolchain, argv, folder, err) != 0)
            return -1;
        if (!deserves_another(&result))
            break;
    }
    bool failed = result.timed_out || result.signalled || result.exit_code != 0;
    if (failed)
        describe(out, toolchain, &result);
    int status = failed ? check_machine(toolchain, arch, err) : 0;
    if (status == 0) {
        out->words = result.output;
        out->words_cut = result.output_cut;
        result.output = (struct bytes){0};
    }
    process_result_release(&result);
    return status;
}

void compiler_run_release(struct compiler_run *run)
{
    bytes_release(&run->words);
    *run = (struct compiler_run){0};
}

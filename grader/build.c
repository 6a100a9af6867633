#include "build.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "caps.h"
#include "compiler.h"
#include "diagnostics.h"
#include "entries.h"
#include "recall.h"
#include "slice.h"

/* ---- Step one: nvcc -------------------------------------------------------------------------- */

static int make_ptx(struct build_target *target, const struct submission *submission,
                    const struct build_options *options, const char *folder, struct error *err)
{
    char arch_option[ARCH_NAME_BYTES + 8], arch_text[ARCH_NAME_BYTES];
    (void)snprintf(arch_option, sizeof arch_option, "-arch=%s",
                   arch_name(target->arch, "sm_", arch_text));
    const char *const argv[] = {options->toolchain->nvcc,
                                "-std=c++17",
                                "-O3",
                                arch_option,
                                "-lineinfo",
                                "-ptx",
                                "-o",
                                "device.ptx",
                                submission->lab->source_name,
                                NULL};
    struct compiler_run run;
    if (compiler_run(&run, options->toolchain, target->arch, argv, folder, err) != 0)
        return -1;
    target->words = bytes_with_limit(LIMIT_MESSAGE_BYTES);
    target->error_line = diagnostics_keep_own(&target->words, bytes_text(&run.words),
                                              run.words.length, submission->lab->source_name);
    AUTO_FREE char *ptx_path = path_join(folder, "device.ptx");
    target->stopped = run.end == COMPILER_STOPPED;
    if (run.end == COMPILER_STOPPED)
        (void)snprintf(target->problem, sizeof target->problem, "%s", run.problem);
    else if (run.end == COMPILER_REFUSED)
        (void)snprintf(target->problem, sizeof target->problem, "it does not compile");
    else if (ptx_path == NULL)
        error_no_memory(err);
    else {
        enum file_status status = file_read(&target->ptx, ptx_path, LIMIT_PTX_BYTES, false);
        if (status == FILE_TOO_LARGE)
            (void)snprintf(target->problem, sizeof target->problem,
                           "it compiles to more than %zu bytes of PTX", LIMIT_PTX_BYTES);
        else if (status != FILE_READ)
            error_set(err, ERROR_INFRASTRUCTURE, "nvcc left no readable %s: %s", ptx_path,
                      file_status_text(status));
    }
    compiler_run_release(&run);
    return err->kind == ERROR_NONE ? 0 : -1;
}

static int read_module(struct build_target *target, struct error *err)
{
    if (target->problem[0] != '\0')
        return 0;
    struct error trouble = {0};
    target->module = ptx_parse(bytes_text(&target->ptx), target->ptx.length, &trouble);
    target->compiled = target->module != NULL;
    if (!target->compiled && trouble.kind == ERROR_INFRASTRUCTURE) {
        *err = trouble;
        return -1;
    }
    if (!target->compiled)
        (void)snprintf(target->problem, sizeof target->problem, "its PTX cannot be read (%.120s)",
                       trouble.text);
    return 0;
}

/* ---- Step two: ptxas ------------------------------------------------------------------------- */

/* Fills cubin and words, or says why there are none. */
static enum recall_outcome run_ptxas(struct build_image *out, struct bytes *words,
                                     const struct toolchain *toolchain, struct arch arch,
                                     const char *folder, const char *name, struct slice ptx,
                                     struct error *err)
{
    char ptx_name[64], cubin_name[64], arch_option[ARCH_NAME_BYTES + 8], arch_text[ARCH_NAME_BYTES];
    (void)snprintf(ptx_name, sizeof ptx_name, "%s.ptx", name);
    (void)snprintf(cubin_name, sizeof cubin_name, "%s.cubin", name);
    (void)snprintf(arch_option, sizeof arch_option, "-arch=%s", arch_name(arch, "sm_", arch_text));
    AUTO_FREE char *ptx_path = path_join(folder, ptx_name);
    AUTO_FREE char *cubin_path = path_join(folder, cubin_name);
    const char *const argv[] = {toolchain->ptxas, arch_option, "-v", "-w", "-o",
                                cubin_name,       ptx_name,    NULL};
    struct compiler_run run;
    if (ptx_path == NULL || cubin_path == NULL)
        error_no_memory(err);
    if (err->kind != ERROR_NONE || file_write_scratch(ptx_path, ptx.text, ptx.length, err) != 0 ||
        compiler_run(&run, toolchain, arch, argv, folder, err) != 0)
        return RECALL_FAILED;
    if (run.end == COMPILER_STOPPED)
        (void)snprintf(out->problem, sizeof out->problem, "%s", run.problem);
    else if (run.end == COMPILER_REFUSED)
        diagnostics_first_error(out->problem, sizeof out->problem,
                                "ptxas refuses it: ", bytes_text(&run.words));
    else if (run.words_cut) /* half a report would be another one */
        (void)snprintf(out->problem, sizeof out->problem, "it makes ptxas say more than %zu bytes",
                       LIMIT_COMPILER_OUTPUT_BYTES);
    else {
        enum file_status status = file_read(&out->cubin, cubin_path, LIMIT_CUBIN_BYTES, false);
        if (status == FILE_TOO_LARGE)
            (void)snprintf(out->problem, sizeof out->problem,
                           "its machine code is larger than %zu bytes", LIMIT_CUBIN_BYTES);
        else if (status != FILE_READ)
            error_set(err, ERROR_INFRASTRUCTURE, "ptxas left no readable %s: %s", cubin_path,
                      file_status_text(status));
    }
    *words = run.words;
    run.words = (struct bytes){0};
    compiler_run_release(&run);
    return err->kind != ERROR_NONE   ? RECALL_FAILED
           : out->problem[0] != '\0' ? RECALL_OWN
                                     : RECALL_SHARED;
}

int build_assemble(struct build_image *out, const struct build_options *options, struct arch arch,
                   const char *folder, const char *name, const char *ptx, size_t length,
                   struct error *err)
{
    *out = (struct build_image){0};
    struct bytes words = {0};
    struct recall_claim claim;
    struct error unreadable = {0};
    if (!recall_image(&claim, options->recall, arch, ptx, length, &words, &out->cubin)) {
        enum recall_outcome outcome = run_ptxas(out, &words, options->toolchain, arch, folder, name,
                                                (struct slice){ptx, length}, err);
        recall_keep_image(&claim, outcome, &words, &out->cubin);
    }
    out->assembled = err->kind == ERROR_NONE && out->problem[0] == '\0' &&
                     report_parse(&out->report, bytes_text(&words), words.length, err) == 0;
    if (out->assembled)
        out->readable =
            cubin_parse(&out->parsed, out->cubin.data, out->cubin.length, &unreadable) == 0;
    if (unreadable.no_memory) /* a damaged cubin is a witness who disagrees; this is none */
        *err = unreadable;
    bytes_release(&words);
    return err->kind == ERROR_NONE ? 0 : -1;
}

/* ---- The what-if build ----------------------------------------------------------------------- */

/* The PTX of the submission with `.maxntid max_threads, 1, 1` added to one kernel. */
static int make_what_if(struct build *build, const struct build_target *target,
                        const struct ptx_function *kernel, const struct lab_what_if *what_if,
                        const struct build_options *options, const char *folder, struct error *err)
{
    struct bytes ptx = bytes_with_limit(LIMIT_PTX_BYTES + 100);
    bytes_append(&ptx, target->ptx.data, kernel->directives_end);
    bytes_printf(&ptx, "\n.maxntid %u, 1, 1\n", what_if->max_threads);
    bytes_append(&ptx, target->ptx.data + kernel->directives_end,
                 target->ptx.length - kernel->directives_end);
    int status = ptx.failed ? error_no_memory(err)
                            : build_assemble(&build->what_if, options, target->arch, folder,
                                             "what-if", ptx.data, ptx.length, err);
    bytes_release(&ptx);
    build->has_what_if = status == 0 && build->what_if.assembled;
    if (status == 0 && !build->what_if.assembled)
        (void)snprintf(build->what_if_problem, sizeof build->what_if_problem, "%.250s",
                       build->what_if.problem);
    return status;
}

/* ---- One architecture, in a thread of its own ------------------------------------------------ */

struct arch_build {
    struct build *build;
    struct build_target *target;
    const struct submission *submission;
    const struct build_options *options;
    pthread_t thread;
    bool started;
    struct error err;
    const char *folder; /* of this architecture; set while build_one() runs */
    struct error what_if_err;
};

static int try_what_if(struct arch_build *one)
{
    const struct lab *lab = one->submission->lab;
    struct build *build = one->build;
    if (lab->what_if.max_threads == 0 || !arch_equal(one->target->arch, build->what_if_arch))
        return 0;
    const char *name = lab->kernels[lab->what_if.kernel].name;
    struct entry_match match =
        entries_find(one->target->module, &lab->kernels[lab->what_if.kernel]);
    if (match.function == NULL)
        (void)snprintf(build->what_if_problem, sizeof build->what_if_problem, "%.280s",
                       match.problem);
    else if (entries_block_bound(match.function) != 0)
        (void)snprintf(build->what_if_problem, sizeof build->what_if_problem,
                       "%s carries launch bounds of its own: undo that edit, since the question "
                       "asks what one would change",
                       name);
    else
        return make_what_if(build, one->target, match.function, &lab->what_if, one->options,
                            one->folder, &one->what_if_err);
    return 0;
}

static void *what_if_main(void *argument)
{
    struct arch_build *one = argument;
    (void)try_what_if(one);
    return NULL;
}

/* Both read the PTX and neither waits for the other. */
static int assemble_both(struct arch_build *one)
{
    struct build_target *target = one->target;
    pthread_t thread;
    bool beside = pthread_create(&thread, NULL, what_if_main, one) == 0;
    int status = build_assemble(&target->image, one->options, target->arch, one->folder, "device",
                                target->ptx.data, target->ptx.length, &one->err);
    if (beside)
        (void)pthread_join(thread, NULL);
    else
        (void)try_what_if(one);
    if (status == 0 && one->what_if_err.kind != ERROR_NONE) {
        one->err = one->what_if_err;
        return -1;
    }
    return status;
}

/* Writes the source and compiles it, unless that was done before. */
static int make_or_recall_ptx(struct arch_build *one, const char *folder)
{
    const struct submission *submission = one->submission;
    struct recall_claim claim;
    if (recall_source(&claim, one->options->recall, submission, one->target))
        return 0;
    AUTO_FREE char *source = path_join(folder, submission->lab->source_name);
    int status = source == NULL ? error_no_memory(&one->err) : 0;
    if (status == 0)
        status = file_write_scratch(source, submission->source.content.data,
                                    submission->source.content.length, &one->err);
    if (status == 0)
        status = make_ptx(one->target, submission, one->options, folder, &one->err);
    recall_keep_source(&claim, one->target, submission->lab->source_name, status == 0);
    return status;
}

static int build_one(struct arch_build *one)
{
    struct build_target *target = one->target;
    char arch_text[ARCH_NAME_BYTES];
    AUTO_FREE char *folder =
        path_join(one->options->folder, arch_name(target->arch, "sm_", arch_text));
    if (folder == NULL)
        return error_no_memory(&one->err);
    if (mkdir(folder, 0700) != 0)
        return error_set_errno(&one->err, ERROR_INFRASTRUCTURE, "cannot make %s", folder);
    if (make_or_recall_ptx(one, folder) != 0 || read_module(target, &one->err) != 0)
        return -1;
    one->folder = folder;
    return target->compiled ? assemble_both(one) : 0;
}

static void *build_main(void *argument)
{
    struct arch_build *one = argument;
    (void)build_one(one);
    return NULL;
}

int build_run(struct build *out, const struct submission *submission,
              const struct build_options *options, struct error *err)
{
    *out = (struct build){.what_if_arch = options->what_if_arch};
    struct arch_build *builds = calloc(options->arch_count, sizeof *builds);
    out->targets = calloc(options->arch_count, sizeof out->targets[0]);
    if (builds == NULL || out->targets == NULL) {
        free(builds);
        free(out->targets);
        *out = (struct build){0};
        return error_no_memory(err);
    }
    out->target_count = options->arch_count;
    for (size_t i = 0; i < options->arch_count; ++i) {
        out->targets[i].arch = options->archs[i];
        builds[i] = (struct arch_build){
            .build = out, .target = &out->targets[i], .submission = submission, .options = options};
        if (submission->source.problem[0] != '\0') {
            (void)snprintf(out->targets[i].problem, sizeof out->targets[i].problem, "the file %s",
                           submission->source.problem);
            continue;
        }
        builds[i].started = pthread_create(&builds[i].thread, NULL, build_main, &builds[i]) == 0;
        if (!builds[i].started)
            (void)build_one(&builds[i]);
    }
    for (size_t i = 0; i < options->arch_count; ++i) {
        if (builds[i].started)
            (void)pthread_join(builds[i].thread, NULL);
        if (builds[i].err.kind != ERROR_NONE && err->kind == ERROR_NONE)
            *err = builds[i].err;
    }
    free(builds);
    if (err->kind == ERROR_NONE)
        return 0;
    build_release(out);
    return -1;
}

void build_image_release(struct build_image *image)
{
    bytes_release(&image->cubin);
    cubin_release(&image->parsed);
    report_release(&image->report);
    *image = (struct build_image){0};
}

void build_release(struct build *build)
{
    for (size_t i = 0; i < build->target_count; ++i) {
        struct build_target *target = &build->targets[i];
        bytes_release(&target->words);
        bytes_release(&target->ptx);
        ptx_free(target->module);
        build_image_release(&target->image);
    }
    free(build->targets);
    build_image_release(&build->what_if);
    *build = (struct build){0};
}

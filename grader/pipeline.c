#include "pipeline.h"

#include "audit.h"
#include "collect.h"
#include "files.h"
#include "recall.h"
#include "scrub.h"

#include <pthread.h>

#define TIMING_ROUNDS 31

/* ---- The machine ----------------------------------------------------------------------------- */

/* The compiler is asked while the sandbox is tried: both wait for other processes. */
struct asking {
    struct toolchain *toolchain;
    int status;
    struct error err;
};

static void *ask_main(void *argument)
{
    struct asking *asking = argument;
    asking->status = toolchain_ask(asking->toolchain, &asking->err);
    return NULL;
}

int machine_find(struct machine *out, const struct machine_options *options, struct error *err)
{
    *out = (struct machine){.options = *options};
    if (toolchain_find(&out->toolchain, options->nvcc, err) != 0)
        return -1;
    struct asking asking = {.toolchain = &out->toolchain};
    pthread_t thread;
    bool beside = pthread_create(&thread, NULL, ask_main, &asking) == 0;
    int status = sandbox_choose(&out->toolchain.sandbox, options->sandbox, err);
    if (beside)
        (void)pthread_join(thread, NULL);
    else if (status == 0)
        (void)ask_main(&asking);
    if (status == 0 && asking.status != 0)
        *err = asking.err;
    if (status != 0 || asking.status != 0)
        return -1;
    return choice_executor(&out->choice, options->executor, &out->toolchain, err);
}

void machine_release(struct machine *machine)
{
    toolchain_release(&machine->toolchain);
    *machine = (struct machine){0};
}

/* ---- Build ----------------------------------------------------------------------------------- */

int pipeline_start(struct pipeline *out, const struct machine *machine,
                   const struct submission *submission, const struct numbers *numbers,
                   struct error *err)
{
    *out = (struct pipeline){.machine = machine,
                             .submission = submission,
                             .numbers = numbers,
                             .choice = machine->choice};
    if (choice_archs(&out->choice, machine->options.archs, machine->options.arch_count,
                     &machine->toolchain, &submission->answers, err) != 0)
        return -1;
    out->folder = temporary_folder_create(err);
    return out->folder != NULL ? 0 : -1;
}

/* A kernel that fills local and shared memory with a pattern, for the frames of this very build. */
static int assemble_scrub(struct pipeline *p, struct error *err)
{
    const struct build_target *target = &p->build.targets[p->choice.executed];
    if (p->choice.executor != EXECUTOR_GPU || !target->image.assembled)
        return 0;
    int64_t frame = 0, shared = 0;
    for (size_t i = 0; i < target->image.parsed.kernel_count; ++i) {
        const struct cubin_kernel *kernel = &target->image.parsed.kernels[i];
        frame = kernel->max_frame_bytes > frame ? kernel->max_frame_bytes : frame;
        shared = kernel->shared_bytes > shared ? kernel->shared_bytes : shared;
    }
    struct bytes ptx = {0};
    char name[ARCH_NAME_BYTES];
    int status = -1;
    const struct build_options options = {.toolchain = &p->machine->toolchain,
                                          .recall = p->machine->recall};
    if (scrub_source(&ptx, arch_name(target->arch, "sm_", name), frame, shared) != 0)
        error_no_memory(err);
    else
        status = build_assemble(&p->scrub, &options, target->arch, p->folder, "scrub", ptx.data,
                                ptx.length, err);
    if (status == 0 && !p->scrub.assembled)
        status = error_set(err, ERROR_INFRASTRUCTURE, "cannot assemble the scrub kernel: %s",
                           p->scrub.problem);
    bytes_release(&ptx);
    return status;
}

int pipeline_build(struct pipeline *p, struct error *err)
{
    size_t declared = p->choice.declared == SIZE_MAX ? 0 : p->choice.declared;
    const struct build_options options = {.toolchain = &p->machine->toolchain,
                                          .archs = p->choice.archs,
                                          .arch_count = p->choice.arch_count,
                                          .what_if_arch = p->choice.archs[declared],
                                          .folder = p->folder,
                                          .recall = p->machine->recall};
    return build_run(&p->build, p->submission, &options, err) == 0 ? assemble_scrub(p, err) : -1;
}

/* ---- Run ------------------------------------------------------------------------------------- */

int pipeline_preview(struct pipeline *p, struct error *err)
{
    const struct build_target *target = &p->build.targets[p->choice.executed];
    const struct numbers_options options = {.executor = EXECUTOR_NONE};
    struct audit audit;
    audit_judge(&audit, p->submission->lab, target);
    numbers_result_release(&p->result);
    return numbers_run(&p->result, p->numbers, target, &audit, &options, err) == 0
               ? pipeline_judge(p, err)
               : -1;
}

int pipeline_run(struct pipeline *p, struct error *err)
{
    numbers_result_release(&p->result);
    const struct build_target *target = &p->build.targets[p->choice.executed];
    const struct machine_options *machine = &p->machine->options;
    bool gpu = p->choice.executor == EXECUTOR_GPU;
    struct audit audit;
    audit_judge(&audit, p->submission->lab, target);
    const struct numbers_options options = {
        .executor = p->choice.executor,
        .device = p->choice.gpu.ordinal,
        .arch = target->arch,
        .threads = machine->threads,
        .scrub = gpu ? &p->scrub : NULL,
        .timing_rounds = gpu ? TIMING_ROUNDS : 0,
        .unconfined = machine->sandbox == SANDBOX_OFF,
        .launch_seconds = machine->launch_seconds,
        .lane = p->lane,
    };
    struct recall_claim claim;
    if (recall_run(&claim, p->machine->recall, p->numbers, target, &options, p->choice.gpu.name,
                   &p->result))
        return 0;
    int status = numbers_run(&p->result, p->numbers, target, &audit, &options, err);
    recall_keep_run(&claim, p->numbers, status == 0 ? &p->result : NULL);
    return status;
}

/* ---- Judge ----------------------------------------------------------------------------------- */

int pipeline_judge(struct pipeline *p, struct error *err)
{
    struct rubric_input *input = &p->rubric;
    grade_release(&p->grade);
    rubric_input_release(input);
    *input = (struct rubric_input){
        .lab = p->submission->lab,
        .submission = p->submission,
        .toolchain = &p->machine->toolchain,
        .build = &p->build,
        .target_count = p->choice.arch_count,
        .graded_count = p->choice.graded_count,
        .declared_arch = p->choice.declared_arch,
        .numbers = p->numbers,
        .result = &p->result,
        .targets = calloc(p->choice.arch_count, sizeof input->targets[0]),
    };
    if (input->targets == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < input->target_count; ++i)
        input->targets[i].target = &p->build.targets[i];
    if (p->choice.declared != SIZE_MAX)
        input->declared = &input->targets[p->choice.declared];
    if (p->choice.executor != EXECUTOR_NONE)
        input->executed = &input->targets[p->choice.executed];
    const struct collect_context context = {
        .input = input, .executor = p->choice.executor, .why = p->choice.why};
    if (rubric_gather(input, err) != 0 || collect_grade(&p->grade, &context, err) != 0)
        return -1;
    return rubric_judge(&p->grade, input, err);
}

void pipeline_release(struct pipeline *p)
{
    grade_release(&p->grade);
    rubric_input_release(&p->rubric);
    numbers_result_release(&p->result);
    build_image_release(&p->scrub);
    build_release(&p->build);
    temporary_folder_remove(p->folder);
    *p = (struct pipeline){0};
}

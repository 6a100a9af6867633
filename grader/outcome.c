#include "outcome.h"

#include <assert.h>
#include <stdarg.h>

#include "mismatch.h"
#include "remedies.h"
#include "text.h"

static const char *with_scalar(const struct lab_kernel *kernel, const struct case_data *data,
                               char buffer[64])
{
    buffer[0] = '\0';
    for (size_t i = 0; i < kernel->argument_count; ++i)
        if (kernel->arguments[i].role == ARGUMENT_SCALAR)
            (void)snprintf(buffer, 64, " at %s %lld", kernel->arguments[i].name,
                           (long long)data->scalar);
    return buffer;
}

static void compare_output(struct case_outcome *outcome, const struct numbers *numbers,
                           const struct case_data *data, const char *output, uint32_t poison)
{
    const struct lab_kernel *kernel = &numbers->lab->kernels[data->spec->kernel];
    const struct mismatch_output compared = {
        .lab = numbers->lab,
        .kernel = data->spec->kernel,
        .call = {.input = data->input, .n = data->n, .scalar = data->scalar},
        .expected = data->expected,
        .got = output,
        .poison = poison,
    };
    struct mismatch mismatch;
    mismatch_find(&mismatch, &compared);
    outcome->compared = data->n;
    outcome->mismatches = mismatch.count;
    if (mismatch.count == 0)
        return;
    outcome->first_index = mismatch.first;
    outcome->expected_bits = mismatch.expected_bits;
    outcome->got_bits = mismatch.got_bits;
    char scalar[64], values[200], wrong[TEXT_NUMBER_BYTES], all[TEXT_NUMBER_BYTES];
    mismatch_values(values, sizeof values, mismatch.expected_bits, mismatch.got_bits);
    (void)snprintf(outcome->problem, sizeof outcome->problem,
                   "%s%s: %s of %s elements differ%s from the CPU reference; the first is element "
                   "%zu (block %zu, thread %zu): %s%s%s",
                   kernel->name, with_scalar(kernel, data, scalar),
                   text_number(mismatch.count, wrong), text_number(data->n, all),
                   mismatch.count == 1 ? "s" : "", mismatch.first,
                   mismatch.first / kernel->block_threads, mismatch.first % kernel->block_threads,
                   values, mismatch.pattern[0] != '\0' ? "\nPattern: " : "", mismatch.pattern);
    (void)snprintf(outcome->remedy, sizeof outcome->remedy, "%s", mismatch.remedy);
}

static void set_problem(struct case_outcome *outcome, const char *remedy, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void set_problem(struct case_outcome *outcome, const char *remedy, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(outcome->problem, sizeof outcome->problem, format, arguments);
    va_end(arguments);
    (void)snprintf(outcome->remedy, sizeof outcome->remedy, "%s", remedy != NULL ? remedy : "");
}

static void judge_finished(struct case_outcome *outcome, const struct numbers *numbers,
                           const struct case_data *data, uint32_t poison)
{
    const struct run_launch_result *launch = outcome->launch;
    const struct lab_kernel *kernel = &numbers->lab->kernels[data->spec->kernel];
    char scalar[64];
    const char *at = with_scalar(kernel, data, scalar);
    if (launch->output_count == 0 || launch->outputs[0].data == NULL ||
        launch->outputs[0].bytes != data->n * sizeof(float)) {
        outcome->status = CASE_ERROR;
        set_problem(outcome, NULL, "%s%s: the executor brought back no output to compare",
                    kernel->name, at);
        return;
    }
    outcome->status = CASE_WRONG;
    compare_output(outcome, numbers, data, launch->outputs[0].data, poison);
    if (outcome->mismatches > 0 && !launch->input_changed) /* which may be why they are wrong */
        return;
    if (launch->input_changed && launch->input_index < kernel->argument_count)
        set_problem(
            outcome,
            "Store to the output only, and keep what you change in variables of the kernel.",
            "%s%s writes into its input `%s` (first at byte %zu): a kernel's input "
            "belongs to its caller",
            kernel->name, at, kernel->arguments[launch->input_index].name, launch->input_offset);
    else if (launch->outputs[0].scrub_differs)
        set_problem(outcome, remedy_for_fault("uninitialised read", "", REMEDY_IN_LAB),
                    "%s%s gives another answer when other values lie in local and shared memory "
                    "before it starts (first at byte %zu): it reads something it never wrote",
                    kernel->name, at, launch->outputs[0].scrub_first);
    else if (launch->later_launch_differs)
        set_problem(outcome,
                    "Keep values in variables of the kernel: a __device__ or static variable is "
                    "still there at the next launch.",
                    "%s%s is right at its first launch and wrong at a later one with fresh "
                    "inputs: it keeps something from launch to launch",
                    kernel->name, at);
    else
        outcome->status = CASE_EQUAL;
}

/* "At shift 7, decayWide reads …": the emulator's sentences begin with the kernel, the GPU's do
 * not. */
static void tell_fault(struct case_outcome *outcome, const struct lab_kernel *kernel,
                       const char *at)
{
    const struct run_fault *fault = &outcome->launch->fault;
    const char *remedy = remedy_for_fault(fault->kind, fault->text, REMEDY_IN_LAB);
    if (strncmp(fault->text, kernel->name, strlen(kernel->name)) != 0)
        set_problem(outcome, remedy, "%s%s: %s", kernel->name, at, fault->text);
    else if (at[0] != '\0')
        set_problem(outcome, remedy, "At%s, %s", at + strlen(" at"), fault->text);
    else
        set_problem(outcome, remedy, "%s", fault->text);
}

void outcome_judge(struct case_outcome *outcome, const struct numbers *numbers,
                   const struct case_data *data, uint32_t poison, bool blamed)
{
    const struct run_launch_result *launch = outcome->launch;
    assert(launch != NULL);
    const struct lab_kernel *kernel = &numbers->lab->kernels[data->spec->kernel];
    char scalar[64];
    const char *at = with_scalar(kernel, data, scalar);
    switch (launch->status) {
    case RUN_FINISHED:
        judge_finished(outcome, numbers, data, poison);
        return;
    case RUN_FAULTED:
    case RUN_TIMED_OUT:
        outcome->status = CASE_WRONG;
        tell_fault(outcome, kernel, at);
        return;
    case RUN_REFUSED:
        outcome->status = blamed ? CASE_WRONG : CASE_SKIPPED;
        set_problem(outcome, NULL, "%s was not run: %s", kernel->name, launch->fault.text);
        return;
    case RUN_NOT_RUN:
        outcome->status = CASE_SKIPPED;
        set_problem(outcome, NULL, "%s was not run", kernel->name);
        return;
    case RUN_LOST:
        break;
    }
    outcome->status = blamed ? CASE_WRONG : CASE_ERROR;
    set_problem(outcome, NULL, "%s%s: %s", kernel->name, at, launch->fault.text);
}

/* criteria_code.c - the criteria that look at the code: what it holds, computes and costs. */
#include "diagnostics.h"
#include "rubric.h"
#include "text.h"

void criteria_on_every_arch(struct verdict *verdict, const struct criterion *criterion,
                            const struct rubric_input *input, resource_judge *judge)
{
    for (size_t t = 0; t < input->graded_count; ++t) {
        const struct rubric_target *target = &input->targets[t];
        if (verdict_without_facts(verdict, target, criterion->kernel) ||
            !judge(verdict, criterion, input, target))
            return;
    }
    verdict_set(verdict, MARK_PASSED, "%s", "");
}

/* ---- build ----------------------------------------------------------------------------------- */

/* nvcc's first error in one line, behind what was said already. */
static void quote_first_error(struct verdict *verdict, const struct build_target *target)
{
    char quoted[300];
    if (target->compiled || target->error_line == 0)
        return;
    diagnostics_first_error(quoted, sizeof quoted, "; the first error is ",
                            bytes_text(&target->words));
    bytes_append_text(&verdict->message, quoted);
}

void criteria_build(struct verdict *verdict, const struct criterion *criterion,
                    const struct rubric_input *input)
{
    (void)criterion;
    verdict_set(verdict, MARK_PASSED, "%s", "");
    for (size_t t = 0; t < input->target_count; ++t) {
        const struct audit *audit = &input->targets[t].audit;
        const struct build_target *target = input->targets[t].target;
        if (audit->finding_count == 0)
            continue;
        verdict_set(verdict, MARK_FAILED, "%s", audit->findings[0]);
        quote_first_error(verdict, target);
        for (size_t i = 1; i < audit->finding_count; ++i)
            bytes_printf(&verdict->message, "\n%s", audit->findings[i]);
        if (audit->remedies[0] != NULL)
            verdict_try(verdict, "%s", audit->remedies[0]);
        verdict->line = target->error_line;
        if (verdict->line == 0)
            verdict->line = source_line_of(input->submission, audit->words[0]);
        return;
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Nothing is known about this launch: an earlier one of the same kernel did not end. */
static bool was_spared(const struct case_outcome *outcome)
{
    return outcome->launch != NULL &&
           strcmp(outcome->launch->fault.kind, RUN_NOT_LAUNCHED_AGAIN) == 0;
}

/* "right at shift 0, 1 and 7; wrong at 63" over all launches of the kernel that came to an end;
 * nothing, and false, when they all went the same way, or take no scalar. */
static bool tell_scalars(struct verdict *verdict, const struct criterion *criterion,
                         const struct rubric_input *input)
{
    const struct lab *lab = input->lab;
    const struct lab_kernel *kernel = &lab->kernels[criterion->kernel];
    const char *name = NULL;
    for (size_t i = 0; i < kernel->argument_count; ++i)
        if (kernel->arguments[i].role == ARGUMENT_SCALAR)
            name = kernel->arguments[i].name;
    if (name == NULL)
        return false;
    size_t right_count = 0, wrong_count = 0;
    int64_t last_right = 0;
    char room[3][500];
    struct bytes right = bytes_in(room[0], sizeof room[0]);
    struct bytes wrong = bytes_in(room[1], sizeof room[1]);
    struct bytes spared = bytes_in(room[2], sizeof room[2]);
    for (size_t i = 0; i < lab->case_count; ++i) {
        const struct case_outcome *outcome = &input->result->outcomes[i];
        enum case_status status = outcome->status;
        bool was_run = !was_spared(outcome);
        struct bytes *list = status == CASE_EQUAL ? &right : was_run ? &wrong : &spared;
        int64_t scalar = input->numbers->cases[i].scalar;
        if (lab->cases[i].kernel != criterion->kernel ||
            (status != CASE_EQUAL && status != CASE_WRONG))
            continue;
        bytes_printf(list, "%s%lld", list->length > 0 ? ", " : "", (long long)scalar);
        right_count += status == CASE_EQUAL;
        wrong_count += status == CASE_WRONG && was_run;
        last_right = status == CASE_EQUAL ? scalar : last_right;
    }
    if (right_count == 0 || wrong_count == 0)
        return false;
    bytes_printf(&verdict->message, "\nThe kernel is right at %s %s, and wrong at %s", name,
                 bytes_text(&right), bytes_text(&wrong));
    if (right_count == 1 && wrong_count > 1 && last_right != 0)
        bytes_printf(&verdict->message, ": is %lld written into it, in the place of %s?",
                     (long long)last_right, name);
    if (spared.length > 0)
        bytes_printf(&verdict->message, "\nIt was not run after that at %s", bytes_text(&spared));
    return true;
}

/* The index of a buffer went too far; not that of an array of the kernel's own. */
static bool left_a_buffer(const struct case_outcome *outcome)
{
    const struct run_launch_result *launch = outcome->launch;
    return launch != NULL && launch->status == RUN_FAULTED &&
           (strcmp(launch->fault.kind, "out of bounds") == 0 ||
            strcmp(launch->fault.kind, "illegal address") == 0) &&
           strstr(launch->fault.text, "null pointer") == NULL &&
           strstr(launch->fault.text, "its local memory") == NULL &&
           strstr(launch->fault.text, "its shared memory") == NULL;
}

void criteria_numbers(struct verdict *verdict, const struct criterion *criterion,
                      const struct rubric_input *input)
{
    verdict_set(verdict, MARK_PASSED, "%s", "");
    size_t wrong = 0, spared = 0, launched = 0;
    bool out_of_buffer = false;
    for (size_t i = criterion->first_case; i < criterion->first_case + criterion->case_count; ++i) {
        const struct case_outcome *outcome = &input->result->outcomes[i];
        /* A wrong answer outweighs trouble of ours at another launch. */
        launched += outcome->launch != NULL;
        spared += was_spared(outcome);
        if (outcome->status == CASE_EQUAL || (wrong > 0 && outcome->status != CASE_WRONG))
            continue;
        enum mark_status status = outcome->status == CASE_WRONG     ? MARK_FAILED
                                  : outcome->status == CASE_SKIPPED ? MARK_SKIPPED
                                                                    : MARK_ERROR;
        if (outcome->status == CASE_WRONG && wrong++ > 0)
            continue;
        verdict_set(verdict, status, "%s", outcome->problem);
        verdict_try(verdict, "%s", outcome->remedy);
        out_of_buffer = left_a_buffer(outcome);
        verdict->line = outcome->launch != NULL ? outcome->launch->fault.line : 0;
    }
    if (wrong > 1 && launched > 0 && spared < wrong) {
        bytes_printf(&verdict->message, "\n(%zu of %zu launches went wrong", wrong - spared,
                     criterion->case_count);
        if (spared > 0)
            bytes_printf(&verdict->message, "; %zu %s not run after that", spared,
                         spared == 1 ? "was" : "were");
        bytes_append_text(&verdict->message, ")");
    }
    /* The guard is right when another scalar is: what the scalar leads to is not. */
    if (wrong > 0 && tell_scalars(verdict, criterion, input) && out_of_buffer)
        verdict_try(verdict, "%s", criterion->try_next);
    if (verdict->status != MARK_PASSED || criterion->equal_to_case < 0)
        return;
    size_t other = (size_t)criterion->equal_to_case;
    int64_t differing = numbers_differ(input->result, criterion->first_case, other);
    const char *other_name = input->lab->kernels[input->lab->cases[other].kernel].name;
    /* Equal to the reference, hence to a right kernel; a wrong one is no yardstick. */
    if (differing > 0 && input->result->outcomes[other].status == CASE_EQUAL)
        verdict_set(verdict, MARK_FAILED,
                    "%s and %s differ at %lld elements; storing the taps elsewhere must not change "
                    "the answer",
                    input->lab->kernels[criterion->kernel].name, other_name, (long long)differing);
}

/* ---- shift ----------------------------------------------------------------------------------- */

static bool judge_frame(struct verdict *verdict, const struct criterion *criterion,
                        const struct rubric_input *input, const struct rubric_target *target)
{
    (void)input;
    const struct kernel_facts *facts = &target->facts[criterion->kernel];
    char arch[ARCH_NAME_BYTES];
    int64_t expected = (int64_t)criterion->expected, seen = facts->stack_bytes;
    int64_t spilled = facts->spill_store_bytes + facts->spill_load_bytes;
    if (seen == expected)
        return true;
    verdict_set(verdict, MARK_FAILED,
                "expected a stack frame of %s%s%lld bytes on %s, ptxas reports %lld",
                criterion->arithmetic != NULL ? criterion->arithmetic : "",
                criterion->arithmetic != NULL ? " = " : "", (long long)expected,
                arch_name(facts->arch, "sm_", arch), (long long)seen);
    if (seen == 0 && facts->shared_bytes > 0) {
        bytes_printf(&verdict->message,
                     "; the kernel has %lld bytes of shared memory instead, of which a block has "
                     "one copy",
                     (long long)facts->shared_bytes);
        verdict_try(verdict, "Declare the array without __shared__: each thread needs its own.");
    } else if (seen == 0) {
        bytes_append_text(&verdict->message,
                          ": the compiler could tell which element each step reads, so the array "
                          "was dissolved into registers");
        verdict_try(verdict,
                    "Let the argument reach the index with which the array is read, beside "
                    "the tap: only what is known at run time alone forces the array into "
                    "memory.");
    } else if (spilled > 0) {
        bytes_printf(&verdict->message, ", and spills of %lld bytes beside the array",
                     (long long)spilled);
        verdict_try(verdict,
                    "Take launch bounds and register limits off this kernel: with room for "
                    "its registers it spills nothing, and the frame is the array alone.");
    } else if (seen > expected) {
        bytes_printf(&verdict->message,
                     ": %lld bytes more than the array, as %lld more floats take",
                     (long long)(seen - expected), (long long)((seen - expected) / 4));
        verdict_try(verdict,
                    "Look for a second array, or for one that was made longer: each that is "
                    "indexed at run time lies in the frame with all its elements.");
    } else {
        bytes_printf(&verdict->message, ": the array in memory is shorter than that by %lld floats",
                     (long long)((expected - seen) / 4));
        verdict_try(verdict, "Keep all levels in one array of floats, and index that one.");
    }
    return false;
}

void criteria_frame(struct verdict *verdict, const struct criterion *criterion,
                    const struct rubric_input *input)
{
    criteria_on_every_arch(verdict, criterion, input, judge_frame);
}

static bool judge_no_spills(struct verdict *verdict, const struct criterion *criterion,
                            const struct rubric_input *input, const struct rubric_target *target)
{
    (void)input;
    const struct kernel_facts *facts = &target->facts[criterion->kernel];
    char arch[ARCH_NAME_BYTES];
    const struct ptx_function *f = facts->function;
    (void)arch_name(facts->arch, "sm_", arch);
    if (facts->spill_store_bytes > 0 || facts->spill_load_bytes > 0) {
        verdict_set(verdict, MARK_FAILED,
                    "%s spills on %s: %lld bytes of spill stores, %lld bytes of spill loads; "
                    "expected none beside the array's own frame",
                    facts->name, arch, (long long)facts->spill_store_bytes,
                    (long long)facts->spill_load_bytes);
        if (f->max_threads[0] == 0 && f->max_registers == 0)
            return false;
        bytes_printf(&verdict->message, "; it carries a bound that leaves it only %lld registers",
                     (long long)facts->registers);
        verdict_try(verdict,
                    "Take __launch_bounds__ and __maxnreg__ off %s: they belong to another "
                    "kernel of this lab.",
                    facts->name);
    } else if (facts->stack_bytes == 0) {
        verdict_set(
            verdict, MARK_FAILED,
            "%s uses no local memory on %s yet: ptxas reports a frame of 0 bytes, and a frame "
            "without a spill is what this mark wants to see",
            facts->name, arch);
        verdict_try(verdict,
                    "Make the edit of %s first: an array that is indexed by an argument has "
                    "to lie in memory.",
                    facts->name);
    } else {
        return true;
    }
    return false;
}

void criteria_no_spills(struct verdict *verdict, const struct criterion *criterion,
                        const struct rubric_input *input)
{
    criteria_on_every_arch(verdict, criterion, input, judge_no_spills);
}

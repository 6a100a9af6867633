/* criteria_code.c - the criteria that look at the code: what it holds, computes and costs. */
#include "rubric.h"
#include "text.h"

/* A criterion about resources holds when it holds on every graded architecture; the first on which
 * it does not decides. */
typedef bool resource_judge(struct verdict *, const struct criterion *, const struct kernel_facts *,
                            const struct rubric_target *);

static void on_every_arch(struct verdict *verdict, const struct criterion *criterion,
                          const struct rubric_input *input, resource_judge *judge)
{
    for (size_t t = 0; t < input->graded_count; ++t) {
        const struct rubric_target *target = &input->targets[t];
        if (verdict_without_facts(verdict, target, criterion->kernel) ||
            !judge(verdict, criterion, &target->facts[criterion->kernel], target))
            return;
    }
    verdict_set(verdict, MARK_PASSED, "%s", "");
}

/* ---- build ----------------------------------------------------------------------------------- */

void criteria_build(struct verdict *verdict, const struct criterion *criterion,
                    const struct rubric_input *input)
{
    (void)criterion;
    verdict_set(verdict, MARK_PASSED, "%s", "");
    for (size_t t = 0; t < input->target_count; ++t) {
        const struct audit *audit = &input->targets[t].audit;
        if (audit->finding_count == 0)
            continue;
        verdict_set(verdict, MARK_FAILED, "%s", audit->findings[0]);
        for (size_t i = 1; i < audit->finding_count; ++i)
            bytes_printf(&verdict->message, "\n%s", audit->findings[i]);
        verdict->line = input->targets[t].target->error_line;
        return;
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

void criteria_numbers(struct verdict *verdict, const struct criterion *criterion,
                      const struct rubric_input *input)
{
    verdict_set(verdict, MARK_PASSED, "%s", "");
    size_t wrong = 0;
    for (size_t i = criterion->first_case; i < criterion->first_case + criterion->case_count; ++i) {
        const struct case_outcome *outcome = &input->result->outcomes[i];
        /* A wrong answer outweighs trouble of ours at another launch. */
        if (outcome->status == CASE_EQUAL || (wrong > 0 && outcome->status != CASE_WRONG))
            continue;
        enum mark_status status = outcome->status == CASE_WRONG     ? MARK_FAILED
                                  : outcome->status == CASE_SKIPPED ? MARK_SKIPPED
                                                                    : MARK_ERROR;
        if (outcome->status == CASE_WRONG && wrong++ > 0)
            continue;
        verdict_set(verdict, status, "%s", outcome->problem);
        verdict->line = outcome->launch != NULL ? outcome->launch->fault.line : 0;
    }
    if (wrong > 1)
        bytes_printf(&verdict->message, "\n(%zu of %zu launches went wrong)", wrong,
                     criterion->case_count);
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
                        const struct kernel_facts *facts, const struct rubric_target *target)
{
    (void)target;
    char arch[ARCH_NAME_BYTES];
    if ((uint64_t)facts->stack_bytes == criterion->expected)
        return true;
    verdict_set(verdict, MARK_FAILED,
                "expected a stack frame of %llu bytes on %s, ptxas reports %lld",
                (unsigned long long)criterion->expected, arch_name(facts->arch, "sm_", arch),
                (long long)facts->stack_bytes);
    return false;
}

void criteria_frame(struct verdict *verdict, const struct criterion *criterion,
                    const struct rubric_input *input)
{
    on_every_arch(verdict, criterion, input, judge_frame);
}

static bool judge_no_spills(struct verdict *verdict, const struct criterion *criterion,
                            const struct kernel_facts *facts, const struct rubric_target *target)
{
    (void)target, (void)criterion;
    char arch[ARCH_NAME_BYTES];
    if (facts->spill_store_bytes > 0 || facts->spill_load_bytes > 0)
        verdict_set(verdict, MARK_FAILED,
                    "%s spills on %s: %lld bytes of spill stores, %lld bytes of spill loads; "
                    "expected none beside the array's own frame",
                    facts->name, arch_name(facts->arch, "sm_", arch),
                    (long long)facts->spill_store_bytes, (long long)facts->spill_load_bytes);
    else if (facts->stack_bytes == 0)
        verdict_set(verdict, MARK_FAILED,
                    "%s uses no local memory on %s yet: a frame without a spill is what this mark "
                    "wants to see",
                    facts->name, arch_name(facts->arch, "sm_", arch));
    else
        return true;
    return false;
}

void criteria_no_spills(struct verdict *verdict, const struct criterion *criterion,
                        const struct rubric_input *input)
{
    on_every_arch(verdict, criterion, input, judge_no_spills);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static bool judge_launch_bounds(struct verdict *verdict, const struct criterion *criterion,
                                const struct kernel_facts *facts,
                                const struct rubric_target *target)
{
    (void)target;
    const struct ptx_function *f = facts->function;
    if (f->max_threads[0] == criterion->threads && f->max_threads[1] <= 1 &&
        f->max_threads[2] <= 1 && f->min_blocks == criterion->blocks)
        return true;
    struct bytes seen = bytes_with_limit(200);
    if (f->max_threads[0] == 0)
        bytes_append_text(&seen, "no maximum of threads");
    else
        bytes_printf(&seen, "at most %u threads",
                     f->max_threads[0] * f->max_threads[1] * f->max_threads[2]);
    if (f->min_blocks == 0)
        bytes_append_text(&seen, " and no minimum of blocks");
    else
        bytes_printf(&seen, " and at least %u blocks", f->min_blocks);
    if (f->max_registers != 0)
        bytes_printf(&seen, ", and a register cap of %u, which is another tool", f->max_registers);
    verdict_set(verdict, MARK_FAILED,
                "expected launch bounds of %u threads a block and %u blocks per SM on %s; the "
                "compiled kernel says %s",
                criterion->threads, criterion->blocks, facts->name, bytes_text(&seen));
    bytes_release(&seen);
    return false;
}

void criteria_launch_bounds(struct verdict *verdict, const struct criterion *criterion,
                            const struct rubric_input *input)
{
    on_every_arch(verdict, criterion, input, judge_launch_bounds);
}

static bool judge_budget(struct verdict *verdict, const struct criterion *criterion,
                         const struct kernel_facts *facts, const struct rubric_target *target)
{
    char arch[ARCH_NAME_BYTES], file[TEXT_NUMBER_BYTES];
    const struct sm_limits *sm = sm_limits_find(arch_major(facts->arch), arch_minor(facts->arch));
    (void)arch_name(facts->arch, "sm_", arch);
    if (sm == NULL) {
        verdict_set(verdict, MARK_SKIPPED, "the register file of %s is not in the table", arch);
        return false;
    }
    unsigned budget = occupancy_register_budget(sm, criterion->threads, criterion->blocks);
    if (facts->registers > budget)
        verdict_set(verdict, MARK_FAILED,
                    "expected at most %s / (%u x %u) = %u registers on %s, ptxas reports %lld",
                    text_number(sm->registers_per_sm, file), criterion->threads, criterion->blocks,
                    budget, arch, (long long)facts->registers);
    else if ((uint64_t)facts->shared_bytes > audit_declared_shared_bytes(target->target))
        verdict_set(verdict, MARK_FAILED,
                    "%s uses %lld bytes of shared memory on %s that its source does not declare: "
                    "its spills were moved there, where the report does not show them",
                    facts->name, (long long)facts->shared_bytes, arch);
    else
        return true;
    return false;
}

void criteria_register_budget(struct verdict *verdict, const struct criterion *criterion,
                              const struct rubric_input *input)
{
    on_every_arch(verdict, criterion, input, judge_budget);
}

static bool judge_blocks_fit(struct verdict *verdict, const struct criterion *criterion,
                             const struct kernel_facts *facts, const struct rubric_target *target)
{
    (void)target;
    char arch[ARCH_NAME_BYTES];
    (void)arch_name(facts->arch, "sm_", arch);
    if (!facts->has_occupancy) {
        verdict_set(verdict, MARK_SKIPPED, "the limits of %s are not in the table", arch);
        return false;
    }
    if (facts->occupancy.blocks >= criterion->blocks)
        return true;
    char each[TEXT_NUMBER_BYTES], file[TEXT_NUMBER_BYTES];
    const struct sm_limits *sm = sm_limits_find(arch_major(facts->arch), arch_minor(facts->arch));
    unsigned rounded = facts->occupancy.registers_allocated;
    verdict_set(verdict, MARK_FAILED,
                "expected %u blocks of %u threads on one SM of %s, %u fit: %lld registers are "
                "handed out as %u; %u x %u = %s of the SM's %s",
                criterion->blocks, criterion->threads, arch, facts->occupancy.blocks,
                (long long)facts->registers, rounded, rounded, criterion->threads,
                text_number((uint64_t)rounded * criterion->threads, each),
                text_number(sm->registers_per_sm, file));
    return false;
}

void criteria_blocks_fit(struct verdict *verdict, const struct criterion *criterion,
                         const struct rubric_input *input)
{
    on_every_arch(verdict, criterion, input, judge_blocks_fit);
}

/* criteria_bounds.c - the criteria about launch bounds: what they say, and what they leave. */
#include "rubric.h"
#include "text.h"

static const struct sm_limits *limits_of(const struct kernel_facts *facts)
{
    return sm_limits_find(arch_major(facts->arch), arch_minor(facts->arch));
}

/* ---- What the bounds say --------------------------------------------------------------------- */

static bool bounds_are(const struct ptx_function *f, unsigned threads, unsigned blocks)
{
    return f->max_threads[0] == threads && f->max_threads[1] <= 1 && f->max_threads[2] <= 1 &&
           f->min_blocks == blocks;
}

/* The kernel that carries the bounds which this one should have; NULL: none does. */
static const char *carrier(const struct criterion *criterion, const struct rubric_input *input,
                           const struct rubric_target *target)
{
    for (size_t k = 0; k < input->lab->kernel_count; ++k)
        if (k != criterion->kernel && target->known[k] &&
            bounds_are(target->facts[k].function, criterion->threads, criterion->blocks))
            return target->facts[k].name;
    return NULL;
}

/* "65,536 / (256 x 4) = 64 registers"; "= 85, rounded down to 80 registers"; "= 1,024, of which a
 * thread can have 255 registers" */
static void append_budget(struct bytes *out, const struct sm_limits *sm, unsigned threads,
                          unsigned blocks)
{
    char file[TEXT_NUMBER_BYTES], share_text[TEXT_NUMBER_BYTES];
    unsigned budget = occupancy_register_budget(sm, threads, blocks);
    uint64_t resident = (uint64_t)threads * blocks;
    uint64_t share = resident > 0 ? sm->registers_per_sm / resident : 0;
    bytes_printf(out, "%s / (%u x %u) = ", text_number(sm->registers_per_sm, file), threads,
                 blocks);
    if (share > budget)
        bytes_printf(out, "%s, %s ", text_number(share, share_text),
                     budget == sm->registers_per_thread ? "of which a thread can have"
                                                        : "rounded down to");
    bytes_printf(out, "%u registers", budget);
}

static void describe_bounds(struct bytes *out, const struct ptx_function *f)
{
    if (f->max_threads[0] == 0 && f->min_blocks == 0)
        bytes_append_text(out, "nothing of either");
    else if (f->max_threads[0] == 0)
        bytes_printf(out, "no maximum of threads and at least %u block%s", f->min_blocks,
                     f->min_blocks == 1 ? "" : "s");
    else
        bytes_printf(out, "at most %u threads and ",
                     f->max_threads[0] * f->max_threads[1] * f->max_threads[2]);
    if (f->max_threads[0] != 0 && f->min_blocks == 0)
        bytes_append_text(out, "no minimum of blocks");
    else if (f->max_threads[0] != 0)
        bytes_printf(out, "at least %u block%s", f->min_blocks, f->min_blocks == 1 ? "" : "s");
    if (f->max_registers != 0)
        bytes_printf(out, ", and a register cap of %u, which is another tool", f->max_registers);
}

/* What the compiler made of other numbers than the lab's. */
static void explain_other_numbers(struct bytes *message, const struct sm_limits *sm,
                                  const struct criterion *criterion, unsigned threads,
                                  unsigned blocks)
{
    char resident[TEXT_NUMBER_BYTES], slots[TEXT_NUMBER_BYTES];
    unsigned budget = occupancy_register_budget(sm, threads, blocks);
    if (budget == 0) {
        bytes_printf(message, ": %u x %u are %s threads, and an SM holds %s at a time", threads,
                     blocks, text_number((uint64_t)threads * blocks, resident),
                     text_number(sm->threads_per_sm, slots));
        return;
    }
    bytes_append_text(message, ": a budget of ");
    append_budget(message, sm, threads, blocks);
    if (budget == occupancy_register_budget(sm, criterion->threads, criterion->blocks)) {
        bytes_append_text(message, ", which is the lab's too, but promises other blocks");
        return;
    }
    bytes_append_text(message, ", where the lab wants ");
    append_budget(message, sm, criterion->threads, criterion->blocks);
}

/* What this way of being wrong means, and what mends it. */
static void explain_bounds(struct verdict *verdict, const struct criterion *criterion,
                           const struct kernel_facts *facts, const char *elsewhere)
{
    const struct ptx_function *f = facts->function;
    const struct sm_limits *sm = limits_of(facts);
    unsigned threads = f->max_threads[0], blocks = f->min_blocks;
    struct bytes *message = &verdict->message;
    if (elsewhere != NULL) {
        bytes_printf(message, "; these very bounds stand on %s", elsewhere);
        verdict_try(verdict, "Move them from %s to the line in front of the name %s.", elsewhere,
                    facts->name);
    } else if (threads == criterion->blocks && blocks == criterion->threads) {
        bytes_append_text(message, ": the two numbers are swapped");
        verdict_try(verdict, "Threads first: __launch_bounds__(%u, %u).", criterion->threads,
                    criterion->blocks);
    } else if (f->max_registers != 0) {
        verdict_try(verdict,
                    "Take __maxnreg__ away and say what you want to achieve: "
                    "__launch_bounds__(%u, %u).",
                    criterion->threads, criterion->blocks);
    } else if (threads == criterion->threads && blocks == 0 && sm != NULL) {
        char file[TEXT_NUMBER_BYTES];
        bytes_printf(
            message,
            ": one block alone may have %s / %u = %u registers a thread, and %u is the most "
            "there is",
            text_number(sm->registers_per_sm, file), threads, sm->registers_per_sm / threads,
            sm->registers_per_thread);
        char room[200];
        struct bytes budget = bytes_in(room, sizeof room);
        append_budget(&budget, sm, threads, criterion->blocks);
        verdict_try(verdict, "Add the second number, %u: then a thread may have %s.",
                    criterion->blocks, bytes_text(&budget));
    } else if (threads != 0 && sm != NULL) {
        explain_other_numbers(message, sm, criterion, threads, blocks == 0 ? 1 : blocks);
        verdict_try(verdict,
                    "Write __launch_bounds__(%u, %u): the threads that a block is launched "
                    "with, and the blocks that should fit.",
                    criterion->threads, criterion->blocks);
    }
}

static bool judge_launch_bounds(struct verdict *verdict, const struct criterion *criterion,
                                const struct rubric_input *input,
                                const struct rubric_target *target)
{
    const struct kernel_facts *facts = &target->facts[criterion->kernel];
    if (bounds_are(facts->function, criterion->threads, criterion->blocks))
        return true;
    char room[200];
    struct bytes seen = bytes_in(room, sizeof room);
    describe_bounds(&seen, facts->function);
    verdict_set(verdict, MARK_FAILED,
                "expected launch bounds of %u threads a block and %u blocks per SM on %s; the "
                "compiled kernel says %s",
                criterion->threads, criterion->blocks, facts->name, bytes_text(&seen));
    explain_bounds(verdict, criterion, facts, carrier(criterion, input, target));
    return false;
}

void criteria_launch_bounds(struct verdict *verdict, const struct criterion *criterion,
                            const struct rubric_input *input)
{
    criteria_on_every_arch(verdict, criterion, input, judge_launch_bounds);
}

/* ---- What they leave ------------------------------------------------------------------------- */

/* As long as the bounds themselves are wrong, they are what has to be mended. */
static void try_bounds_first(struct verdict *verdict, const struct criterion *criterion,
                             const struct kernel_facts *facts)
{
    if (!bounds_are(facts->function, criterion->threads, criterion->blocks))
        verdict_try(verdict,
                    "Give %s its launch bounds, %u threads and %u blocks: the compiler then "
                    "keeps to the budget by itself.",
                    facts->name, criterion->threads, criterion->blocks);
}

static bool judge_budget(struct verdict *verdict, const struct criterion *criterion,
                         const struct rubric_input *input, const struct rubric_target *target)
{
    (void)input;
    char arch[ARCH_NAME_BYTES];
    const struct kernel_facts *facts = &target->facts[criterion->kernel];
    const struct sm_limits *sm = limits_of(facts);
    (void)arch_name(facts->arch, "sm_", arch);
    if (sm == NULL) {
        verdict_set(verdict, MARK_SKIPPED, "the register file of %s is not in the table", arch);
        return false;
    }
    int64_t budget = occupancy_register_budget(sm, criterion->threads, criterion->blocks);
    if (facts->registers > budget) {
        verdict_set(verdict, MARK_FAILED, "expected at most ");
        append_budget(&verdict->message, sm, criterion->threads, criterion->blocks);
        bytes_printf(&verdict->message, " on %s, ptxas reports %lld, %lld too many for each thread",
                     arch, (long long)facts->registers, (long long)(facts->registers - budget));
        try_bounds_first(verdict, criterion, facts);
    } else if ((uint64_t)facts->shared_bytes > audit_declared_shared_bytes(target->target)) {
        verdict_set(verdict, MARK_FAILED,
                    "%s uses %lld bytes of shared memory on %s that its source does not declare: "
                    "its spills were moved there, where the report does not show them",
                    facts->name, (long long)facts->shared_bytes, arch);
        verdict_try(verdict, "Take out what moves the spills to shared memory, and let them show.");
    } else {
        return true;
    }
    return false;
}

void criteria_register_budget(struct verdict *verdict, const struct criterion *criterion,
                              const struct rubric_input *input)
{
    criteria_on_every_arch(verdict, criterion, input, judge_budget);
}

/* Why no more blocks fit. */
static void explain_blocks(struct verdict *verdict, const struct criterion *criterion,
                           const struct kernel_facts *facts)
{
    const struct occupancy *fit = &facts->occupancy;
    unsigned bound = facts->function->max_threads[0] * facts->function->max_threads[1] *
                     facts->function->max_threads[2];
    struct bytes *message = &verdict->message;
    if (bound != 0 && bound < criterion->threads) {
        bytes_printf(message, ": the kernel's own bound of %u threads refuses such a block", bound);
    } else if ((fit->limited_by & OCCUPANCY_BY_REGISTERS) != 0 || fit->limited_by == 0) {
        const struct occupancy_kernel kernel = {.registers = (unsigned)facts->registers,
                                                .threads = criterion->threads,
                                                .barriers = (unsigned)facts->barriers};
        bytes_append_text(message, ": ");
        occupancy_explain_registers(message, limits_of(facts), &kernel);
    } else {
        bytes_append_text(message, ": they are limited by ");
        const char *joint = "";
        for (unsigned i = 0; i < OCCUPANCY_LIMIT_COUNT; ++i)
            if ((fit->limited_by >> i & 1) != 0) {
                bytes_printf(message, "%s%s", joint,
                             occupancy_limit_name((enum occupancy_limit)(1u << i)));
                joint = " and ";
            }
        bytes_printf(message, " (%lld bytes of shared memory a block)",
                     (long long)facts->shared_bytes);
    }
    try_bounds_first(verdict, criterion, facts);
    if (verdict->remedy[0] == '\0' && fit->next_blocks >= criterion->blocks)
        verdict_try(verdict, "Bring the kernel down to %u registers: then %u blocks fit.",
                    fit->next_registers, fit->next_blocks);
}

static bool judge_blocks_fit(struct verdict *verdict, const struct criterion *criterion,
                             const struct rubric_input *input, const struct rubric_target *target)
{
    (void)input;
    char arch[ARCH_NAME_BYTES];
    const struct kernel_facts *facts = &target->facts[criterion->kernel];
    (void)arch_name(facts->arch, "sm_", arch);
    if (!facts->has_occupancy) {
        verdict_set(verdict, MARK_SKIPPED, "the limits of %s are not in the table", arch);
        return false;
    }
    if (facts->occupancy.blocks >= criterion->blocks)
        return true;
    verdict_set(verdict, MARK_FAILED, "expected %u blocks of %u threads on one SM of %s, %u fit%s",
                criterion->blocks, criterion->threads, arch, facts->occupancy.blocks,
                facts->occupancy.blocks == 1 ? "s" : "");
    explain_blocks(verdict, criterion, facts);
    return false;
}

void criteria_blocks_fit(struct verdict *verdict, const struct criterion *criterion,
                         const struct rubric_input *input)
{
    criteria_on_every_arch(verdict, criterion, input, judge_blocks_fit);
}

#include "rubric.h"

#include <ctype.h>
#include <stdarg.h>

#include "caps.h"
#include "text.h"

/* ---- Facts ----------------------------------------------------------------------------------- */

/* The first launch of a kernel on a GPU of this very architecture, as a witness; NULL: none. */
static const struct run_launch_result *
device_launch(const struct rubric_input *input, const struct build_target *target, size_t kernel)
{
    const struct numbers_result *result = input->result;
    if (result == NULL || result->run.executor != EXECUTOR_GPU ||
        result->run.device_cc != target->arch.number)
        return NULL;
    for (size_t i = 0; i < result->outcome_count; ++i)
        if (input->lab->cases[i].kernel == kernel && result->outcomes[i].launch != NULL &&
            result->outcomes[i].launch->device_registers >= 0)
            return result->outcomes[i].launch;
    return NULL;
}

int rubric_gather(struct rubric_input *input, struct error *err)
{
    size_t kernels = input->lab->kernel_count;
    for (size_t t = 0; t < input->target_count; ++t) {
        struct rubric_target *target = &input->targets[t];
        audit_judge(&target->audit, input->lab, target->target);
        target->facts = calloc(kernels, sizeof target->facts[0]);
        target->known = calloc(kernels, sizeof target->known[0]);
        target->problems = calloc(kernels, sizeof target->problems[0]);
        if (target->facts == NULL || target->known == NULL || target->problems == NULL)
            return error_no_memory(err);
        for (size_t k = 0; k < kernels; ++k)
            target->known[k] = facts_gather(
                &target->facts[k], &input->lab->kernels[k], target->target, &target->audit,
                device_launch(input, target->target, k), target->problems[k]);
    }
    return 0;
}

void rubric_input_release(struct rubric_input *input)
{
    for (size_t t = 0; t < input->target_count; ++t) {
        free(input->targets[t].facts);
        free(input->targets[t].known);
        free(input->targets[t].problems);
    }
    free(input->targets);
    *input = (struct rubric_input){0};
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

void verdict_set(struct verdict *verdict, enum mark_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    verdict->status = status;
    bytes_clear(&verdict->message);
    bytes_vprintf(&verdict->message, format, arguments);
    va_end(arguments);
}

bool verdict_without_facts(struct verdict *verdict, const struct rubric_target *target,
                           unsigned kernel)
{
    char arch[ARCH_NAME_BYTES];
    if (!target->known[kernel]) {
        verdict_set(verdict, MARK_FAILED, "%s", target->problems[kernel]);
        return true;
    }
    const struct kernel_facts *facts = &target->facts[kernel];
    if (facts->disagreement[0] == '\0')
        return false;
    if (facts->blamed)
        verdict_set(verdict, MARK_FAILED,
                    "%s on %s; the submission holds code of another kind than the lab's, so this "
                    "counts as its doing",
                    facts->disagreement, arch_name(facts->arch, "sm_", arch));
    else
        verdict_set(
            verdict, MARK_ERROR,
            "%s on %s: the sources of this number do not agree, so it is not judged (please "
            "report this as a bug)",
            facts->disagreement, arch_name(facts->arch, "sm_", arch));
    return true;
}

/* ---- Source lines ---------------------------------------------------------------------------- */

static bool is_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* What follows a remark or a string that begins at p; NULL when none begins there. */
static const char *skip_quoted(const char *p)
{
    const char *end = NULL;
    if (p[0] == '/' && p[1] == '/')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        end = strstr(p + 2, "*/");
        return end != NULL ? end + 2 : p + strlen(p);
    }
    if (*p != '"')
        return NULL;
    for (end = p + 1; *end != '\0' && *end != '"' && *end != '\n'; ++end)
        if (*end == '\\' && end[1] != '\0')
            ++end;
    return *end == '"' ? end + 1 : end;
}

/* Line on which `name(` first stands as a whole word outside remarks and strings: the definition,
 * since a launch is `name<<<`. 0 when there is none. */
static unsigned definition_line(const struct submission *submission, const char *name)
{
    const char *text = bytes_text(&submission->source.content);
    size_t length = strlen(name);
    unsigned line = 1;
    for (const char *p = text; *p != '\0'; ++p) {
        for (const char *after; (after = skip_quoted(p)) != NULL; p = after)
            for (const char *skipped = p; skipped < after; ++skipped)
                line += *skipped == '\n';
        if (*p == '\0')
            break;
        if (*p == '\n')
            ++line;
        if (*p != name[0] || strncmp(p, name, length) != 0 || (p > text && is_identifier(p[-1])))
            continue;
        const char *after = p + length;
        while (*after == ' ' || *after == '\t')
            ++after;
        if (*after == '(')
            return line;
    }
    return 0;
}

/* ---- The engine ------------------------------------------------------------------------------ */

typedef void judge_function(struct verdict *, const struct criterion *,
                            const struct rubric_input *);

static judge_function *const judges[] = {
    [CRITERION_BUILD] = criteria_build,
    [CRITERION_NUMBERS] = criteria_numbers,
    [CRITERION_FRAME_BYTES] = criteria_frame,
    [CRITERION_NO_SPILLS] = criteria_no_spills,
    [CRITERION_LAUNCH_BOUNDS] = criteria_launch_bounds,
    [CRITERION_REGISTER_BUDGET] = criteria_register_budget,
    [CRITERION_BLOCKS_FIT] = criteria_blocks_fit,
    [CRITERION_REPORTED_COUNT] = criteria_reported_count,
    [CRITERION_ANSWER] = criteria_answer,
};

static bool judges_code(const struct criterion *criterion)
{
    return criterion->kind != CRITERION_BUILD && criterion->kind != CRITERION_REPORTED_COUNT &&
           criterion->kind != CRITERION_ANSWER;
}

int rubric_judge(struct grade *grade, const struct rubric_input *input, struct error *err)
{
    const struct lab *lab = input->lab;
    grade->marks = calloc(lab->criterion_count, sizeof grade->marks[0]);
    if (grade->marks == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < lab->criterion_count; ++i) {
        const struct criterion *criterion = &lab->criteria[i];
        struct verdict verdict = {.message = bytes_with_limit(LIMIT_MESSAGE_BYTES)};
        judges[criterion->kind](&verdict, criterion, input);
        struct mark *mark = &grade->marks[grade->mark_count];
        *mark = (struct mark){.criterion = criterion, .status = verdict.status};
        mark->message = text_printable(bytes_text(&verdict.message));
        bytes_release(&verdict.message);
        if (mark->message == NULL)
            return error_no_memory(err);
        ++grade->mark_count;
        mark->line = verdict.line;
        if (mark->line == 0 && verdict.status == MARK_FAILED && judges_code(criterion))
            mark->line = definition_line(input->submission, lab->kernels[criterion->kernel].name);
        if (verdict.status == MARK_PASSED)
            mark->points = criterion->points;
    }
    grade_add_up(grade);
    return 0;
}

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
    for (size_t t = 0; input->targets != NULL && t < input->target_count; ++t) {
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

void verdict_try(struct verdict *verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(verdict->remedy, sizeof verdict->remedy, format, arguments);
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

/* First line on which the word stands outside remarks and strings; with `as_call`, only where a
 * parenthesis follows: the definition of a kernel, since a launch is `name<<<`. 0: nowhere. */
static unsigned find_word(const struct submission *submission, const char *word, bool as_call)
{
    const char *text = bytes_text(&submission->source.content);
    size_t length = strlen(word);
    unsigned line = 1;
    for (const char *p = text; *p != '\0'; ++p) {
        for (const char *after; (after = skip_quoted(p)) != NULL; p = after)
            for (const char *skipped = p; skipped < after; ++skipped)
                line += *skipped == '\n';
        if (*p == '\0')
            break;
        if (*p == '\n')
            ++line;
        if (*p != word[0] || strncmp(p, word, length) != 0 || (p > text && is_identifier(p[-1])) ||
            is_identifier(p[length]))
            continue;
        const char *after = p + length;
        while (*after == ' ' || *after == '\t')
            ++after;
        if (!as_call || *after == '(')
            return line;
    }
    return 0;
}

unsigned source_line_of(const struct submission *submission, const char *word)
{
    return word[0] == '\0' ? 0 : find_word(submission, word, false);
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

/* A mark that only waits for the build, or for its kernel, has nothing of its own to be mended. */
static bool waits_for_build(const struct criterion *criterion, const struct rubric_input *input)
{
    const struct rubric_target *target =
        criterion->kind == CRITERION_REPORTED_COUNT ? input->declared
        : criterion->kind == CRITERION_NUMBERS      ? input->executed
                                                    : &input->targets[0];
    return (judges_code(criterion) || criterion->kind == CRITERION_REPORTED_COUNT) &&
           target != NULL && !target->known[criterion->kernel];
}

static const char *build_id(const struct lab *lab)
{
    for (size_t i = 0; i < lab->criterion_count; ++i)
        if (lab->criteria[i].kind == CRITERION_BUILD)
            return lab->criteria[i].id;
    return "build";
}

static const char *remedy_of(struct verdict *verdict, const struct criterion *criterion,
                             const struct rubric_input *input)
{
    if (verdict->status != MARK_FAILED)
        return "";
    if (verdict->remedy[0] == '\0' && waits_for_build(criterion, input))
        verdict_try(verdict, "Mend the build first (%s); this mark only waits for it.",
                    build_id(input->lab));
    if (verdict->remedy[0] != '\0')
        return verdict->remedy;
    return criterion->try_next != NULL ? criterion->try_next : "";
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
        /* All of it now: a message that does not fit in memory would be another message. */
        if (bytes_reserve(&verdict.message, LIMIT_MESSAGE_BYTES) != 0)
            return error_no_memory(err);
        judges[criterion->kind](&verdict, criterion, input);
        struct mark *mark = &grade->marks[grade->mark_count];
        *mark = (struct mark){.criterion = criterion, .status = verdict.status};
        mark->message = text_printable(bytes_text(&verdict.message));
        mark->remedy = text_printable(remedy_of(&verdict, criterion, input));
        bytes_release(&verdict.message);
        ++grade->mark_count;
        mark->waits = verdict.status == MARK_FAILED && waits_for_build(criterion, input);
        if (mark->message == NULL || mark->remedy == NULL)
            return error_no_memory(err);
        mark->line = verdict.line;
        if (mark->line == 0 && verdict.status == MARK_FAILED && judges_code(criterion))
            mark->line = find_word(input->submission, lab->kernels[criterion->kernel].name, true);
        if (verdict.status == MARK_PASSED)
            mark->points = criterion->points;
    }
    grade_add_up(grade);
    return 0;
}

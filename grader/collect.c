#include "collect.h"

#include <limits.h>
#include <strings.h>

#include "text.h"

/* ---- Kernels --------------------------------------------------------------------------------- */

static void take_facts(struct grade_kernel *row, const struct kernel_facts *facts)
{
    row->registers = facts->registers;
    row->stack_bytes = facts->stack_bytes;
    row->spill_store_bytes = facts->spill_store_bytes;
    row->spill_load_bytes = facts->spill_load_bytes;
    row->shared_bytes = facts->shared_bytes;
    row->barriers = facts->barriers;
    row->registers_said = facts->witnesses.registers;
    row->stack_said = facts->witnesses.stack_bytes;
    row->spill_store_said = facts->witnesses.spill_store_bytes;
    row->spill_load_said = facts->witnesses.spill_load_bytes;
    row->shared_said = facts->witnesses.shared_bytes;
    if (facts->has_occupancy) {
        row->max_threads_per_block = facts->max_threads_per_block;
        row->blocks_per_sm = facts->occupancy.blocks;
        row->occupancy_percent = facts->occupancy.percent;
    }
}

static int take_text(char **slot, const char *text, struct error *err)
{
    if (*slot != NULL || text == NULL || text[0] == '\0')
        return 0;
    *slot = text_printable(text);
    return *slot == NULL ? error_no_memory(err) : 0;
}

static int take_launches(struct grade_kernel *row, size_t kernel, const struct kernel_facts *facts,
                         const struct rubric_input *input, struct error *err)
{
    const struct numbers_result *result = input->result;
    for (size_t i = 0; i < result->outcome_count; ++i) {
        const struct case_outcome *outcome = &result->outcomes[i];
        const struct lab_case *spec = &input->lab->cases[i];
        const struct run_launch_result *launch = outcome->launch;
        if (spec->kernel != kernel || launch == NULL)
            continue;
        row->ran = true;
        row->compared += outcome->compared;
        row->mismatches += outcome->mismatches;
        if (outcome->mismatches > 0 && !row->has_first_mismatch) {
            row->has_first_mismatch = true;
            row->first_index = outcome->first_index;
            row->expected_bits = outcome->expected_bits;
            row->got_bits = outcome->got_bits;
        }
        if (launch->status != RUN_FINISHED && row->fault == NULL)
            row->fault_line = launch->fault.line;
        if ((launch->status != RUN_FINISHED &&
             take_text(&row->fault, launch->fault.text, err) != 0) ||
            take_text(&row->printed, launch->printed, err) != 0)
            return -1;
        if (!spec->full_size || launch->status != RUN_FINISHED)
            continue;
        row->traffic = launch->traffic;
        row->time = launch->time;
        if (!row->traffic.spill.known && facts != NULL)
            row->traffic.spill = facts_spill_traffic(facts, input->numbers->cases[i].n);
    }
    return 0;
}

static int collect_target(struct grade *grade, const struct rubric_input *input,
                          const struct rubric_target *target, struct error *err)
{
    for (size_t k = 0; k < input->lab->kernel_count; ++k) {
        struct grade_kernel *row = &grade->kernels[grade->kernel_count++];
        *row = (struct grade_kernel){.name = input->lab->kernels[k].name,
                                     .arch = target->target->arch,
                                     .known = target->known[k],
                                     .max_threads_per_block = FACT_UNKNOWN,
                                     .blocks_per_sm = FACT_UNKNOWN,
                                     .occupancy_percent = -1};
        const struct kernel_facts *facts = row->known ? &target->facts[k] : NULL;
        if (facts != NULL)
            take_facts(row, facts);
        else
            (void)text_copy(row->problem, sizeof row->problem, target->problems[k]);
        if (target == input->executed && take_launches(row, k, facts, input, err) != 0)
            return -1;
    }
    return 0;
}

/* The graded architectures, and the one that ran if it is another: its times and faults are of
 * interest too. */
static int collect_kernels(struct grade *grade, const struct rubric_input *input, struct error *err)
{
    grade->kernels =
        calloc(input->lab->kernel_count * (input->graded_count + 1), sizeof grade->kernels[0]);
    if (grade->kernels == NULL)
        return error_no_memory(err);
    for (size_t t = 0; t < input->target_count; ++t)
        if ((t < input->graded_count || &input->targets[t] == input->executed) &&
            collect_target(grade, input, &input->targets[t], err) != 0)
            return -1;
    return 0;
}

/* ---- Notes ----------------------------------------------------------------------------------- */

#define UNKNOWN_KEYS_SHOWN 5

static bool lab_asks(const struct lab *lab, const struct answer *answer)
{
    static const struct {
        const char *section, *key;
    } general[] = {{"", "lab"}, {"build", "arch"}, {"build", "nvcc"}};
    for (size_t i = 0; i < COUNT_OF(general); ++i)
        if (strcasecmp(answer->section, general[i].section) == 0 &&
            strcasecmp(answer->key, general[i].key) == 0)
            return true;
    for (size_t i = 0; i < lab->criterion_count; ++i)
        if (lab->criteria[i].section != NULL &&
            strcasecmp(answer->section, lab->criteria[i].section) == 0 &&
            strcasecmp(answer->key, lab->criteria[i].key) == 0)
            return true;
    return false;
}

/* What the general keys say that cannot be, or is not so. */
static int collect_general_notes(struct grade *grade, const struct rubric_input *input,
                                 struct error *err)
{
    const struct answers *answers = &input->submission->answers;
    const struct answer *lab = answers_find(answers, "", "lab");
    const struct answer *arch = answers_find(answers, "build", "arch");
    const struct answer *nvcc = answers_find(answers, "build", "nvcc");
    struct arch parsed;
    unsigned major = 0, minor = 0;
    if (lab != NULL && lab->value[0] != '\0' && lab_find(lab->value) != input->lab &&
        grade_add_note(grade, err,
                       "answers.ini, line %u: these are the answers to \"%s\", graded as %s",
                       lab->line, lab->value, input->lab->id) != 0)
        return -1;
    if (arch != NULL && arch->value[0] != '\0' && !arch_parse(arch->value, &parsed) &&
        grade_add_note(grade, err,
                       "answers.ini, line %u: \"%s\" is no architecture like sm_75; the counts are "
                       "compared with the graded one",
                       arch->line, arch->value) != 0)
        return -1;
    if (nvcc != NULL && !nvcc->duplicate && nvcc->value[0] != '\0' &&
        !answers_toolkit(answers, &major, &minor) &&
        grade_add_note(grade, err,
                       "answers.ini, line %u: \"%s\" is no version like 12.6; the counts are taken "
                       "for those of nvcc %s",
                       nvcc->line, nvcc->value, input->toolchain->version) != 0)
        return -1;
    return 0;
}

/* As people know the path: from the current folder where it lies below that. */
static int take_path(char **slot, const char *path, struct error *err)
{
    if (path == NULL)
        return 0;
    char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) == NULL ? 0 : strlen(here);
    if (length > 1 && strncmp(path, here, length) == 0 && path[length] == '/')
        path += length + 1;
    return take_text(slot, path, err);
}

static int note_other(struct grade *grade, const char *counted, const char *other,
                      struct error *err)
{
    AUTO_FREE char *shown = NULL;
    if (other == NULL)
        return 0;
    if (take_path(&shown, other, err) != 0)
        return -1;
    return grade_add_note(grade, err, "%s counted, and not %s, which differs from it", counted,
                          shown);
}

static int collect_notes(struct grade *grade, const struct rubric_input *input, struct error *err)
{
    const struct submission *submission = input->submission;
    const struct answers *answers = &submission->answers;
    if (note_other(grade, grade->source_path, submission->other_source, err) != 0 ||
        note_other(grade, grade->answers_path, submission->other_answers, err) != 0)
        return -1;
    for (size_t i = 0; i < answers->problem_count; ++i)
        if (grade_add_note(grade, err, "answers.ini: %s", answers->problems[i]) != 0)
            return -1;
    size_t unknown = 0;
    for (size_t i = 0; i < answers->count; ++i)
        if (!lab_asks(input->lab, &answers->items[i]) && unknown++ < UNKNOWN_KEYS_SHOWN &&
            grade_add_note(
                grade, err, "answers.ini, line %u: nothing asks for [%s] %s; is it misspelt?",
                answers->items[i].line, answers->items[i].section, answers->items[i].key) != 0)
            return -1;
    if (unknown > UNKNOWN_KEYS_SHOWN &&
        grade_add_note(grade, err, "answers.ini: nothing asks for %zu other keys either",
                       unknown - UNKNOWN_KEYS_SHOWN) != 0)
        return -1;
    return collect_general_notes(grade, input, err);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int collect_submission(struct grade *grade, const struct submission *submission,
                              struct error *err)
{
    grade->lab = submission->lab;
    grade->from_git = submission->kind == SUBMISSION_GIT;
    (void)snprintf(grade->commit, sizeof grade->commit, "%s", submission->commit);
    (void)text_copy(grade->chosen, sizeof grade->chosen, submission->chosen);
    (void)snprintf(grade->source_id, sizeof grade->source_id, "%s", submission->source_id);
    (void)snprintf(grade->answers_id, sizeof grade->answers_id, "%s", submission->answers_id);
    return take_path(&grade->path, submission->path, err) != 0 ||
                   take_path(&grade->source_path, submission->source.path, err) != 0 ||
                   take_path(&grade->answers_path, submission->answers_path, err) != 0
               ? -1
               : 0;
}

/* Why this executor; where nothing was run on it, that is why. */
static void set_why(struct grade *grade, const struct collect_context *context)
{
    bool compiled = context->input->targets[0].target->compiled;
    const char *why = context->why;
    if (grade->executor != EXECUTOR_NONE && grade->device[0] == '\0')
        why = compiled ? "there was nothing to run" : "it does not compile";
    (void)text_copy(grade->why, sizeof grade->why, why);
}

int collect_grade(struct grade *grade, const struct collect_context *context, struct error *err)
{
    const struct rubric_input *input = context->input;
    const struct toolchain *toolchain = input->toolchain;
    if (collect_submission(grade, input->submission, err) != 0)
        return -1;
    (void)snprintf(grade->nvcc_version, sizeof grade->nvcc_version, "%s", toolchain->version);
    (void)text_copy(grade->nvcc_path, sizeof grade->nvcc_path, toolchain->nvcc);
    (void)snprintf(grade->nvcc_found, sizeof grade->nvcc_found, "%s", toolchain->found);
    grade->archs = calloc(input->target_count, sizeof grade->archs[0]);
    if (grade->archs == NULL)
        return error_no_memory(err);
    grade->arch_count = input->target_count;
    grade->graded_arch_count = input->graded_count;
    for (size_t t = 0; t < input->target_count; ++t)
        grade->archs[t] = input->targets[t].target->arch;
    grade->declared_arch = input->declared_arch;
    grade->executor = context->executor;
    (void)text_copy(grade->device, sizeof grade->device, input->result->run.device);
    set_why(grade, context);
    grade->sandbox = toolchain->sandbox;
    grade->seed = input->numbers->seed;
    const struct build_target *first = input->targets[0].target;
    if (!first->compiled && take_text(&grade->compiler_words, bytes_text(&first->words), err) != 0)
        return -1;
    if (collect_kernels(grade, input, err) != 0)
        return -1;
    return collect_notes(grade, input, err);
}

/* criteria_answers.c - the criteria that compare answers.ini with what was measured. */
#include "entries.h"
#include "rubric.h"

#include <strings.h>

/* "planned or spilled" */
static void append_choices(struct bytes *out, const char *words)
{
    for (const char *word = words; *word != '\0';) {
        size_t length = strcspn(word, " ");
        bool last = word[length] == '\0';
        bytes_printf(out, "%s%.*s", word == words ? "" : last ? " or " : ", ", (int)length, word);
        word += length + (last ? 0 : 1);
    }
}

static bool is_choice(const char *words, const char *value)
{
    size_t length = strlen(value);
    for (const char *word = words; *word != '\0';) {
        size_t size = strcspn(word, " ");
        if (size == length && strncasecmp(word, value, size) == 0)
            return true;
        word += size + (word[size] == ' ');
    }
    return false;
}

/* What a blank is to be filled with. */
static void try_to_answer(struct verdict *verdict, const struct criterion *criterion)
{
    char room[300];
    struct bytes choices = bytes_in(room, sizeof room);
    if (criterion->words != NULL)
        append_choices(&choices, criterion->words);
    if (criterion->kind == CRITERION_REPORTED_COUNT)
        verdict_try(verdict,
                    "Build with -Xptxas -v, find the block of %s, and write the number after "
                    "\"Used\" behind the equals sign.",
                    criterion->key);
    else if (choices.length > 0)
        verdict_try(verdict, "%s Write %s.", criterion->try_next, bytes_text(&choices));
}

/* The answer to one key, or NULL with a verdict when there is none that can be judged. */
static const struct answer *given(struct verdict *verdict, const struct criterion *criterion,
                                  const struct rubric_input *input)
{
    const struct answers *answers = &input->submission->answers;
    const struct answer *answer = answers_find(answers, criterion->section, criterion->key);
    if (!answers->usable)
        verdict_set(verdict, MARK_FAILED, "%s",
                    answers->problem_count > 0 ? answers->problems[0] : "answers.ini was not read");
    else if (answer == NULL)
        verdict_set(verdict, MARK_FAILED, "[%s] %s is not in answers.ini", criterion->section,
                    criterion->key);
    else if (answer->duplicate)
        verdict_set(verdict, MARK_FAILED,
                    "[%s] %s is given more than once in answers.ini (first on line %u); keep one",
                    criterion->section, criterion->key, answer->line);
    else if (answer->value[0] == '\0')
        verdict_set(verdict, MARK_FAILED, "[%s] %s is not answered yet (answers.ini, line %u)",
                    criterion->section, criterion->key, answer->line);
    else
        return answer;
    if (answer != NULL && answer->value[0] == '\0' && !answer->duplicate)
        try_to_answer(verdict, criterion);
    return NULL;
}

static bool wants_number(struct verdict *verdict, const struct criterion *criterion,
                         const struct answer *answer, int64_t *number)
{
    if (answer_number(answer, number))
        return true;
    verdict_set(verdict, MARK_FAILED,
                "[%s] %s should be a whole number; answers.ini says \"%s\" (line %u)",
                answer->section, answer->key, answer->value, answer->line);
    verdict_try(verdict, "Write a whole number, and nothing else. %s",
                criterion->try_next != NULL ? criterion->try_next : "");
    return false;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* What [build] nvcc says, when that is not the grader's toolkit; else NULL. */
static const char *other_toolkit(const struct rubric_input *input)
{
    const struct answers *answers = &input->submission->answers;
    unsigned major = 0, minor = 0;
    bool other = answers_toolkit(answers, &major, &minor) &&
                 (major != input->toolchain->major || minor != input->toolchain->minor);
    return other ? answers_find(answers, "build", "nvcc")->value : NULL;
}

/* Another kernel of the build that uses as many registers; NULL: none. */
static const char *kernel_with(const struct rubric_input *input, unsigned kernel, int64_t registers)
{
    for (size_t k = 0; k < input->lab->kernel_count; ++k)
        if (k != kernel && input->declared->known[k] &&
            input->declared->facts[k].registers == registers)
            return input->declared->facts[k].name;
    return NULL;
}

/* What may have led to the wrong count. */
static void explain_count(struct verdict *verdict, const struct kernel_facts *facts,
                          const struct rubric_input *input, int64_t number, const char *namesake)
{
    char arch[ARCH_NAME_BYTES];
    (void)arch_name(facts->arch, "sm_", arch);
    for (size_t t = 0; t < input->target_count; ++t) {
        const struct rubric_target *target = &input->targets[t];
        size_t k = (size_t)(facts - input->declared->facts);
        if (target == input->declared || !target->known[k] || target->facts[k].registers != number)
            continue;
        bytes_printf(&verdict->message, "; %lld is its count on %s", (long long)number,
                     arch_name(target->target->arch, "sm_", arch));
        verdict_try(verdict, "Name in [build] arch the architecture that you built for: counts of "
                             "one are not those of another.");
        return;
    }
    if (facts->name == input->lab->kernels[input->lab->what_if.kernel].name &&
        input->lab->what_if.max_threads != 0 && entries_block_bound(facts->function) != 0) {
        bytes_printf(&verdict->message, "; %s carries launch bounds that were not given",
                     facts->name);
        verdict_try(verdict, "Undo the launch bounds on %s: that edit was for a moment only.",
                    facts->name);
    } else if (namesake != NULL) {
        bytes_printf(&verdict->message, "; %lld is what %s uses", (long long)number, namesake);
        verdict_try(verdict, "Read the block whose mangled name holds exactly %s: %zu%s.",
                    facts->name, strlen(facts->name), facts->name);
    } else if (input->declared_arch.number == 0) {
        const struct answer *given = answers_find(&input->submission->answers, "build", "arch");
        bool blank = given == NULL || given->value[0] == '\0';
        verdict_try(verdict,
                    "Write into [build] arch what you built for, a name like sm_75: since it is "
                    "%s%s%s, the count was compared with %s.",
                    blank ? "blank" : "\"", blank ? "" : given->value, blank ? "" : "\"", arch);
    } else {
        verdict_try(verdict,
                    "Save the source, build it once more for %s with -Xptxas -v, and copy "
                    "the number after \"Used\": each edit may change it. If you built for another "
                    "one, write that into [build] arch.",
                    arch);
    }
}

void criteria_reported_count(struct verdict *verdict, const struct criterion *criterion,
                             const struct rubric_input *input)
{
    char arch[ARCH_NAME_BYTES];
    const struct answer *answer = given(verdict, criterion, input);
    int64_t number = 0;
    if (answer == NULL || !wants_number(verdict, criterion, answer, &number))
        return;
    if (input->declared == NULL) {
        verdict_set(verdict, MARK_SKIPPED,
                    "answers.ini names %s, which nvcc %s does not compile for: your %lld was not "
                    "checked",
                    arch_name(input->declared_arch, "sm_", arch), input->toolchain->version,
                    (long long)number);
        return;
    }
    if (verdict_without_facts(verdict, input->declared, criterion->kernel))
        return;
    const struct kernel_facts *facts = &input->declared->facts[criterion->kernel];
    const char *other = other_toolkit(input);
    const char *namesake = kernel_with(input, criterion->kernel, number);
    (void)arch_name(facts->arch, "sm_", arch);
    if (facts->registers == number)
        verdict_set(verdict, MARK_PASSED, "%s", "");
    else if (other != NULL)
        verdict_set(verdict, MARK_SKIPPED,
                    "you report %lld registers with nvcc %s; nvcc %s says %lld for %s, and another "
                    "toolkit may well count otherwise",
                    (long long)number, other, input->toolchain->version,
                    (long long)facts->registers, arch);
    else {
        verdict_set(
            verdict, MARK_FAILED,
            "you report %lld registers for %s; the rebuild of your file for %s with nvcc %s "
            "says \"Used %lld registers\" in its block (%s)",
            (long long)number, facts->name, arch, input->toolchain->version,
            (long long)facts->registers, facts->symbol);
        explain_count(verdict, facts, input, number, namesake);
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Facts whose witnesses disagree are withheld from the key functions. */
struct withheld {
    const char *disagreement; /* the first; NULL: none was withheld */
    bool blamed;              /* the submission's own doing */
};

static bool holds(struct withheld *withheld, const struct kernel_facts *facts, bool blamed)
{
    if (facts->disagreement[0] == '\0')
        return true;
    if (withheld->disagreement == NULL)
        withheld->disagreement = facts->disagreement;
    withheld->blamed = withheld->blamed || blamed;
    return false;
}

static void fill_context(struct key_context *context, const struct kernel_facts **kernels,
                         const struct rubric_input *input, struct withheld *withheld)
{
    const struct rubric_target *declared = input->declared;
    context->lab = input->lab;
    context->kernels = kernels;
    struct arch arch = declared != NULL ? declared->target->arch : input->declared_arch;
    context->sm = sm_limits_find(arch_major(arch), arch_minor(arch));
    for (size_t k = 0; declared != NULL && k < input->lab->kernel_count; ++k) {
        const struct kernel_facts *facts = &declared->facts[k];
        if (declared->known[k] && holds(withheld, facts, facts->blamed))
            kernels[k] = facts;
    }
}

static void fill_what_if(struct key_context *context, struct kernel_facts *what_if,
                         char problem[300], const struct rubric_input *input,
                         struct withheld *withheld)
{
    const struct build *build = input->build;
    const struct rubric_target *declared = input->declared;
    problem[0] = '\0';
    context->what_if_problem = problem;
    if (!build->has_what_if || declared == NULL)
        (void)snprintf(problem, 300, "%s", build->what_if_problem);
    else if (facts_gather_image(what_if, &input->lab->kernels[input->lab->what_if.kernel],
                                declared->target, &build->what_if, problem) &&
             holds(withheld, what_if, audit_blames(&declared->audit, what_if->function)))
        context->what_if = what_if;
}

static void compare_answer(struct verdict *verdict, const struct criterion *criterion,
                           const struct answer *answer, const struct answer_key *key)
{
    int64_t number = 0;
    if (key->kind == KEY_NUMBER && !wants_number(verdict, criterion, answer, &number))
        return;
    if (key->kind == KEY_NUMBER ? number == key->number
                                : strcasecmp(answer->value, key->word) == 0) {
        verdict_set(verdict, MARK_PASSED, "%s", "");
    } else if (key->kind == KEY_WORD && criterion->words != NULL &&
               !is_choice(criterion->words, answer->value)) {
        verdict_set(verdict, MARK_FAILED,
                    "\"%s\" (answers.ini, line %u) is none of the answers: ", answer->value,
                    answer->line);
        append_choices(&verdict->message, criterion->words);
        if (strchr("\"'`", answer->value[0]) != NULL)
            verdict_try(verdict, "Write the word without quotation marks.");
    } else {
        bool word = key->kind == KEY_WORD;
        verdict_set(verdict, MARK_FAILED, "you answered %s%s%s (answers.ini, line %u); %s",
                    word ? "\"" : "", answer->value, word ? "\"" : "", answer->line, key->because);
    }
}

void criteria_answer(struct verdict *verdict, const struct criterion *criterion,
                     const struct rubric_input *input)
{
    const struct answer *answer = given(verdict, criterion, input);
    if (answer == NULL)
        return;
    const struct kernel_facts *kernels[LAB_KERNELS_MAX] = {NULL};
    struct withheld withheld = {0};
    struct key_context context = {0};
    struct kernel_facts what_if;
    char problem[300];
    fill_context(&context, kernels, input, &withheld);
    fill_what_if(&context, &what_if, problem, input, &withheld);
    struct answer_key key = {.kind = KEY_UNKNOWN};
    criterion->compute(&context, &key);
    if (key.kind == KEY_UNJUDGED)
        verdict_set(verdict, MARK_SKIPPED, "\"%s\" was not checked: %s", answer->value,
                    key.because);
    else if (key.kind != KEY_UNKNOWN)
        compare_answer(verdict, criterion, answer, &key);
    else if (input->declared == NULL)
        verdict_set(verdict, MARK_SKIPPED,
                    "this nvcc does not compile for the architecture that answers.ini names, so "
                    "\"%s\" was not checked",
                    answer->value);
    else if (withheld.disagreement != NULL && !withheld.blamed)
        verdict_set(verdict, MARK_ERROR,
                    "\"%s\" was not checked, since the sources do not agree (please report this as "
                    "a bug): %s",
                    answer->value, withheld.disagreement);
    else {
        verdict_set(verdict, MARK_FAILED, "%s", key.because);
        verdict_try(verdict, "Mend the marks of the code first: this question is about your own "
                             "build, and answers itself once that is as it should be.");
    }
}

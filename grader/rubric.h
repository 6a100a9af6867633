/* rubric.h - judge every criterion of a lab from what the stages measured. */
#ifndef SPILLWAY_RUBRIC_H
#define SPILLWAY_RUBRIC_H

#include "audit.h"
#include "build.h"
#include "facts.h"
#include "grade.h"
#include "numbers.h"
#include "submission.h"

/* One architecture that was built: its audit and its facts, one per lab kernel. */
struct rubric_target {
    const struct build_target *target;
    struct audit audit;
    struct kernel_facts *facts; /* owned, lab->kernel_count */
    bool *known;                /* owned; false: facts[i] is empty and problems[i] says why */
    char (*problems)[300];      /* owned */
};

struct rubric_input {
    const struct lab *lab;
    const struct submission *submission;
    const struct toolchain *toolchain;
    const struct build *build;
    struct rubric_target *targets; /* owned: one per build target, the graded ones first */
    size_t target_count, graded_count;
    const struct rubric_target *declared; /* one of targets; NULL: nvcc does not know that one */
    struct arch declared_arch;            /* as answers.ini has it; number 0: none given */
    const struct rubric_target *executed; /* whose kernels ran; NULL: none */
    const struct numbers *numbers;
    const struct numbers_result *result;
};

/* Gathers audits and facts of every target. -1 with *err: no memory. */
int rubric_gather(struct rubric_input *input, struct error *err);
void rubric_input_release(struct rubric_input *input);

/* Judges all criteria and sums them up in grade->marks, score, pending, max_score. -1: no memory.
 */
int rubric_judge(struct grade *grade, const struct rubric_input *input, struct error *err);

/* ---- The judges, by kind of criterion: criteria_*.c ------------------------------------------ */

/* What a judge says; message has LIMIT_MESSAGE_BYTES of room. */
struct verdict {
    enum mark_status status;
    struct bytes message;
    char remedy[400]; /* what to try for this way of failing; "": what the criterion says */
    unsigned line;
};

void criteria_build(struct verdict *, const struct criterion *, const struct rubric_input *);
void criteria_numbers(struct verdict *, const struct criterion *, const struct rubric_input *);
void criteria_frame(struct verdict *, const struct criterion *, const struct rubric_input *);
void criteria_no_spills(struct verdict *, const struct criterion *, const struct rubric_input *);
void criteria_launch_bounds(struct verdict *, const struct criterion *,
                            const struct rubric_input *);
void criteria_register_budget(struct verdict *, const struct criterion *,
                              const struct rubric_input *);
void criteria_blocks_fit(struct verdict *, const struct criterion *, const struct rubric_input *);
void criteria_reported_count(struct verdict *, const struct criterion *,
                             const struct rubric_input *);
void criteria_answer(struct verdict *, const struct criterion *, const struct rubric_input *);

/* A criterion about resources holds when it holds on every graded architecture; the first on which
 * it does not decides. */
typedef bool resource_judge(struct verdict *, const struct criterion *, const struct rubric_input *,
                            const struct rubric_target *);
void criteria_on_every_arch(struct verdict *, const struct criterion *, const struct rubric_input *,
                            resource_judge *judge);

/* Sets status and message; returns nothing so that a judge can `return verdict_set(…)`. */
void verdict_set(struct verdict *verdict, enum mark_status status, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* What to try, when that depends on how the mark was lost. */
void verdict_try(struct verdict *verdict, const char *format, ...) PRINTF_LIKE(2, 3);

/* The line of the student's source on which the word first stands outside remarks and strings;
 * 0: nowhere. */
unsigned source_line_of(const struct submission *submission, const char *word);

/* When the facts of `kernel` on `target` cannot carry a verdict (no such kernel, witnesses that
 * disagree): sets the verdict and returns true. */
bool verdict_without_facts(struct verdict *verdict, const struct rubric_target *target,
                           unsigned kernel);

#endif

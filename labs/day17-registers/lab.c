/* lab.c - the lab day17-registers: registers, local memory and spills.
 *
 * Four kernels of one filter (see the handout beside this file). Constant tables only, and the
 * functions that work out the right answers from the submission's own build: no number of an answer
 * is stored here, save the situation that question 2 describes. */
#include "base.h"

#include <inttypes.h>

#include "arch.h"
#include "facts.h"
#include "labs/day17-registers/mistakes.h"
#include "labs/lab.h"
#include "occupancy.h"
#include "text.h"
#include "reference/day17-registers/reference.h"

#define NARROW_TAPS 4
#define WIDE_TAPS 64
#define BLOCK_THREADS 256
#define WANTED_BLOCKS 4
#define QUESTION3_BOUND 1024
#define FULL_ELEMENTS 1049187
#define SHIFTED_ELEMENTS 65539

/* ---- Kernels ---- */

enum { NARROW, WIDE, INDEXED, BOUNDED };

/* clang-format off */
static const struct lab_argument narrow_arguments[] = {
    {.name = "in",  .role = ARGUMENT_INPUT,  .type = SCALAR_F32, .extra = NARROW_TAPS - 1},
    {.name = "out", .role = ARGUMENT_OUTPUT, .type = SCALAR_F32},
    {.name = "n",   .role = ARGUMENT_COUNT,  .type = SCALAR_U64},
};
static const struct lab_argument wide_arguments[] = {
    {.name = "in",    .role = ARGUMENT_INPUT,  .type = SCALAR_F32, .extra = WIDE_TAPS - 1},
    {.name = "out",   .role = ARGUMENT_OUTPUT, .type = SCALAR_F32},
    {.name = "n",     .role = ARGUMENT_COUNT,  .type = SCALAR_U64},
    {.name = "shift", .role = ARGUMENT_SCALAR, .type = SCALAR_S32}, /* decayWideIndexed only */
};
#define WITHOUT_SHIFT (COUNT_OF(wide_arguments) - 1)

static const struct lab_kernel kernels[] = {
    [NARROW]  = {"decayNarrow",      narrow_arguments, COUNT_OF(narrow_arguments), BLOCK_THREADS,
                 day17_reference_narrow},
    [WIDE]    = {"decayWide",        wide_arguments,   WITHOUT_SHIFT,              BLOCK_THREADS,
                 day17_reference_wide},
    [INDEXED] = {"decayWideIndexed", wide_arguments,   COUNT_OF(wide_arguments),   BLOCK_THREADS,
                 day17_reference_indexed},
    [BOUNDED] = {"decayWideBounded", wide_arguments,   WITHOUT_SHIFT,              BLOCK_THREADS,
                 day17_reference_wide},
};

/* ---- Launches ---- */

enum { CASE_NARROW, CASE_WIDE, CASE_INDEXED, CASE_BOUNDED, CASE_SHIFTED };
enum { INPUTS_NARROW, INPUTS_WIDE, INPUTS_SHIFTED };

static const struct lab_case cases[] = {
    [CASE_NARROW]  = {.kernel = NARROW,  .n = FULL_ELEMENTS, .full_size = true, .input_group = INPUTS_NARROW},
    [CASE_WIDE]    = {.kernel = WIDE,    .n = FULL_ELEMENTS, .full_size = true, .input_group = INPUTS_WIDE},
    [CASE_INDEXED] = {.kernel = INDEXED, .n = FULL_ELEMENTS, .full_size = true, .input_group = INPUTS_WIDE},
    [CASE_BOUNDED] = {.kernel = BOUNDED, .n = FULL_ELEMENTS, .full_size = true, .input_group = INPUTS_WIDE},
    /* The last two are drawn: any shift, and one that certainly needs the modulo. */
    [CASE_SHIFTED] =
    {.kernel = INDEXED, .n = SHIFTED_ELEMENTS, .input_group = INPUTS_SHIFTED,     .scalar = 1},
    {.kernel = INDEXED, .n = SHIFTED_ELEMENTS, .input_group = INPUTS_SHIFTED + 1, .scalar = 7},
    {.kernel = INDEXED, .n = SHIFTED_ELEMENTS, .input_group = INPUTS_SHIFTED + 2, .scalar = 63},
    {.kernel = INDEXED, .n = SHIFTED_ELEMENTS, .input_group = INPUTS_SHIFTED + 3,
     .drawn = true, .draw_min = 0, .draw_max = 1 << 20},
    {.kernel = INDEXED, .n = SHIFTED_ELEMENTS, .input_group = INPUTS_SHIFTED + 4,
     .drawn = true, .draw_min = WIDE_TAPS, .draw_max = 1 << 20},
};
/* clang-format on */
#define SHIFTED_CASES (COUNT_OF(cases) - CASE_SHIFTED)

/* ---- Keys of the questions ----
 * Each works out one answer, and the arithmetic or the fact behind it. */

static void set_number(struct answer_key *ret, int64_t number)
{
    ret->kind = KEY_NUMBER;
    ret->number = number;
}

static void set_word(struct answer_key *ret, const char *word)
{
    ret->kind = KEY_WORD;
    (void)snprintf(ret->word, sizeof ret->word, "%s", word);
}

static int64_t spilled_bytes(const struct kernel_facts *facts)
{
    return facts->spill_store_bytes + facts->spill_load_bytes;
}

static bool has_planned_frame(const struct kernel_facts *facts)
{
    return facts->stack_bytes > 0 && spilled_bytes(facts) == 0;
}

/* "decayWideIndexed: 256-byte frame, 0 + 0 bytes spilled" */
static void describe(char *ret, size_t size, const char *name, const struct kernel_facts *facts)
{
    if (facts == NULL)
        (void)snprintf(ret, size, "%s: not in this build", name);
    else
        (void)snprintf(ret, size,
                       "%s: a frame of %" PRId64 " bytes, spill stores of %" PRId64
                       " and spill loads of %" PRId64 " bytes",
                       name, facts->stack_bytes, facts->spill_store_bytes, facts->spill_load_bytes);
}

/* Question 1 asks about a pair: one kernel that spills, one with a frame and no spill. Which is
 * which is read off the build. False, with ret->because, when the build shows no such pair. */
static bool find_pair(const struct key_context *context, struct answer_key *ret,
                      const struct kernel_facts **spilling, const struct kernel_facts **planned)
{
    const struct kernel_facts *indexed = context->kernels[INDEXED];
    const struct kernel_facts *bounded = context->kernels[BOUNDED];
    if (indexed != NULL && bounded != NULL) {
        *spilling = spilled_bytes(indexed) > 0 ? indexed : bounded;
        *planned = *spilling == indexed ? bounded : indexed;
        if (spilled_bytes(*spilling) > 0 && has_planned_frame(*planned))
            return true;
    }
    char first[160], second[160];
    describe(first, sizeof first, kernels[INDEXED].name, indexed);
    describe(second, sizeof second, kernels[BOUNDED].name, bounded);
    ret->kind = KEY_UNKNOWN;
    (void)snprintf(ret->because, sizeof ret->because,
                   "the question compares a kernel that spills with one that has a frame and no "
                   "spill, and this build shows no such pair (%s; %s): make both edits first",
                   first, second);
    return false;
}

static void explain_pair(struct answer_key *ret, const struct kernel_facts *spilling,
                         const struct kernel_facts *planned)
{
    (void)snprintf(ret->because, sizeof ret->because,
                   "%s spills %" PRId64 " bytes out and %" PRId64
                   " bytes in: it wanted registers and could not have them; %s has a frame of "
                   "%" PRId64 " bytes and spills nothing: its array needs addresses, so it was "
                   "never meant for registers, and more of them would change nothing",
                   spilling->name, spilling->spill_store_bytes, spilling->spill_load_bytes,
                   planned->name, planned->stack_bytes);
}

static void key_spilling_kernel(const struct key_context *context, struct answer_key *ret)
{
    const struct kernel_facts *spilling, *planned;
    if (!find_pair(context, ret, &spilling, &planned))
        return;
    set_word(ret, spilling->name);
    explain_pair(ret, spilling, planned);
}

static void key_other_is(const struct key_context *context, struct answer_key *ret)
{
    const struct kernel_facts *spilling, *planned;
    if (!find_pair(context, ret, &spilling, &planned))
        return;
    set_word(ret, has_planned_frame(planned) ? "planned" : "spilled");
    explain_pair(ret, spilling, planned);
}

/* Question 2 is about a T4, whatever the submission was built for. */
#define QUESTION2_MAJOR 7
#define QUESTION2_MINOR 5
#define QUESTION2_MORE 65
#define QUESTION2_LESS 64

struct question2 {
    const struct sm_limits *sm;
    struct occupancy more, less;
};

static bool question2_compute(struct question2 *q, struct answer_key *ret)
{
    q->sm = sm_limits_find(QUESTION2_MAJOR, QUESTION2_MINOR);
    if (q->sm == NULL) {
        ret->kind = KEY_UNJUDGED;
        (void)snprintf(ret->because, sizeof ret->because,
                       "the limits of compute capability %d.%d are not in the grader's table",
                       QUESTION2_MAJOR, QUESTION2_MINOR);
        return false;
    }
    const struct occupancy_kernel more = {.registers = QUESTION2_MORE, .threads = BLOCK_THREADS};
    const struct occupancy_kernel less = {.registers = QUESTION2_LESS, .threads = BLOCK_THREADS};
    q->more = occupancy_compute(q->sm, &more);
    q->less = occupancy_compute(q->sm, &less);
    return true;
}

/* Both sides of the comparison stand in every message of this question. */
static void explain_question2(const struct question2 *q, struct answer_key *ret)
{
    unsigned less = q->less.registers_allocated, more = q->more.registers_allocated;
    char file[TEXT_NUMBER_BYTES], slots[TEXT_NUMBER_BYTES];
    char less_block[TEXT_NUMBER_BYTES], more_block[TEXT_NUMBER_BYTES];
    (void)snprintf(
        ret->because, sizeof ret->because,
        "a T4 has %s registers and %s thread slots an SM. %u registers: %u x %u = %s a block, "
        "so %u blocks, %u threads. %u registers are handed out as %u (steps of 8): %u x %u = %s "
        "a block, so %u blocks, %u threads. The difference is %u threads",
        text_number(q->sm->registers_per_sm, file), text_number(q->sm->threads_per_sm, slots),
        QUESTION2_LESS, less, BLOCK_THREADS,
        text_number((uint64_t)less * BLOCK_THREADS, less_block), q->less.blocks, q->less.threads,
        QUESTION2_MORE, more, more, BLOCK_THREADS,
        text_number((uint64_t)more * BLOCK_THREADS, more_block), q->more.blocks, q->more.threads,
        q->less.threads - q->more.threads);
}

static void key_blocks_at_65(const struct key_context *context, struct answer_key *ret)
{
    (void)context;
    struct question2 q;
    if (!question2_compute(&q, ret))
        return;
    set_number(ret, q.more.blocks);
    explain_question2(&q, ret);
}

static void key_blocks_at_64(const struct key_context *context, struct answer_key *ret)
{
    (void)context;
    struct question2 q;
    if (!question2_compute(&q, ret))
        return;
    set_number(ret, q.less.blocks);
    explain_question2(&q, ret);
}

static void key_threads_lost(const struct key_context *context, struct answer_key *ret)
{
    (void)context;
    struct question2 q;
    if (!question2_compute(&q, ret))
        return;
    set_number(ret, q.less.threads - q.more.threads);
    explain_question2(&q, ret);
}

static void key_percent_lost(const struct key_context *context, struct answer_key *ret)
{
    (void)context;
    struct question2 q;
    if (!question2_compute(&q, ret))
        return;
    set_number(ret, (int64_t)(q.less.threads - q.more.threads) * 100 / q.less.threads);
    explain_question2(&q, ret);
}

static void key_max_registers(const struct key_context *context, struct answer_key *ret)
{
    const struct sm_limits *sm = context->sm;
    if (sm == NULL) {
        ret->kind = KEY_UNJUDGED;
        (void)snprintf(ret->because, sizeof ret->because,
                       "the limits of this architecture are not known");
        return;
    }
    unsigned budget = occupancy_register_budget(sm, QUESTION3_BOUND, 1);
    char file[TEXT_NUMBER_BYTES];
    set_number(ret, budget);
    (void)snprintf(ret->because, sizeof ret->because,
                   "the bound promises blocks of up to %u threads, so one such block has to fit: "
                   "%s registers / %u threads = %u, however few threads you launch",
                   QUESTION3_BOUND, text_number(sm->registers_per_block, file), QUESTION3_BOUND,
                   budget);
}

static void key_bound_spills(const struct key_context *context, struct answer_key *ret)
{
    const struct kernel_facts *bound = context->what_if;
    if (bound == NULL) {
        ret->kind = KEY_UNKNOWN;
        (void)snprintf(ret->because, sizeof ret->because,
                       "your decayWide could not be built with a bound of %u threads, so nobody "
                       "can say whether it would spill%s%s",
                       QUESTION3_BOUND, context->what_if_problem[0] == '\0' ? "" : ": ",
                       context->what_if_problem);
        return;
    }
    set_word(ret, spilled_bytes(bound) > 0 ? "yes" : "no");
    char name[ARCH_NAME_BYTES];
    (void)snprintf(ret->because, sizeof ret->because,
                   "your own decayWide, built for %s with a bound of %u threads, uses %" PRId64
                   " registers, has a frame of %" PRId64 " bytes and spills %" PRId64
                   " bytes out and %" PRId64 " in",
                   arch_name(bound->arch, "sm_", name), QUESTION3_BOUND, bound->registers,
                   bound->stack_bytes, bound->spill_store_bytes, bound->spill_load_bytes);
}

static void key_bound_speed(const struct key_context *context, struct answer_key *ret)
{
    (void)context;
    set_word(ret, "undetermined");
    (void)snprintf(ret->because, sizeof ret->because,
                   "the bound sets a register budget and nothing else: fewer registers may let "
                   "more threads be resident, a spill adds memory traffic, and which of the two "
                   "weighs more only a clock can tell");
}

/* ---- Rubric ---- */

static const char kernel_names[] = "decayNarrow decayWide decayWideIndexed decayWideBounded";

/* clang-format off */
static const struct criterion criteria[] = {
    {.id = "build.accepted", .title = "builds, with exactly the lab's kernels", .points = 5,
     .kind = CRITERION_BUILD,
     .why = "Every other mark looks at the kernels of this build, so it must hold the lab's four "
            "and nothing that could speak for them.",
     .try_next = "Build it yourself with `nvcc -std=c++17 -O3 -arch=sm_75 -Xptxas -v -o registers "
                 "registers.cu` and mend the first message."},

    {.id = "numbers.decayNarrow", .title = "decayNarrow equals the reference", .points = 5,
     .kind = CRITERION_NUMBERS, .kernel = NARROW, .first_case = CASE_NARROW, .case_count = 1,
     .equal_to_case = -1,
     .why = "This kernel is the small companion of the others; it is right as given.",
     .try_next = "Compare your decayNarrow with the starter's: nothing in it needs an edit."},
    {.id = "numbers.decayWide", .title = "decayWide equals the reference", .points = 5,
     .kind = CRITERION_NUMBERS, .kernel = WIDE, .first_case = CASE_WIDE, .case_count = 1,
     .equal_to_case = -1,
     .why = "The other two wide kernels are compared with this one, so it has to stay as given.",
     .try_next = "Compare your decayWide with the starter's: nothing in it needs an edit."},
    {.id = "numbers.decayWideIndexed", .title = "decayWideIndexed equals the reference at shift 0",
     .points = 5, .kind = CRITERION_NUMBERS, .kernel = INDEXED, .first_case = CASE_INDEXED,
     .case_count = 1, .equal_to_case = CASE_WIDE,
     .why = "At shift 0 it must do decayWide's arithmetic in decayWide's order: else the two are "
            "not the same experiment, and their times compare nothing.",
     .try_next = "Only the index of the backward pass changes; at shift 0 it must be the tap's own "
                 "number."},
    {.id = "numbers.decayWideBounded", .title = "decayWideBounded equals the reference",
     .points = 5, .kind = CRITERION_NUMBERS, .kernel = BOUNDED, .first_case = CASE_BOUNDED,
     .case_count = 1, .equal_to_case = -1,
     .why = "A launch bound changes where values are kept, never what is computed.",
     .try_next = "Only the bound in front of the name is new; the body stays decayWide's."},
    {.id = "numbers.decayWideIndexed.shifted",
     .title = "decayWideIndexed equals the reference at five other shifts", .points = 5,
     .kind = CRITERION_NUMBERS, .kernel = INDEXED, .first_case = CASE_SHIFTED,
     .case_count = SHIFTED_CASES, .equal_to_case = -1,
     .why = "The shift is an argument like any other: the index must follow it, and wrap round "
            "when it passes the last tap.",
     .try_next = "In the backward pass, read the level at (tap + shift) modulo the number of taps; "
                 "the forward pass stays as it is."},

    {.id = "shift.frame", .title = "decayWideIndexed keeps its 64 levels in local memory",
     .points = 8, .kind = CRITERION_FRAME_BYTES, .kernel = INDEXED,
     .expected = WIDE_TAPS * sizeof(float), .arithmetic = "64 taps x 4 bytes",
     .why = "An index that is only known at run time needs an array with addresses: 64 floats of 4 "
            "bytes, and nothing else, belong in the stack frame.",
     .try_next = "Index one array of 64 floats with the shift, and add no array of your own."},
    {.id = "shift.spills", .title = "decayWideIndexed has a frame and spills nothing", .points = 7,
     .kind = CRITERION_NO_SPILLS, .kernel = INDEXED,
     .why = "A planned frame and a spill are two things: this kernel shows the first without the "
            "second.",
     .try_next = "Leave this kernel without launch bounds or a register limit, and let the shift "
                 "reach the index of the backward pass."},

    {.id = "bounds.directives", .title = "decayWideBounded is bound to 256 threads and 4 blocks",
     .points = 5, .kind = CRITERION_LAUNCH_BOUNDS, .kernel = BOUNDED, .threads = BLOCK_THREADS,
     .blocks = WANTED_BLOCKS,
     .why = "Both numbers make the register budget: the register file divided by threads times "
            "blocks.",
     .try_next = "Write __launch_bounds__(BLOCK_THREADS, BLOCKS_PER_SM) between `void` and the "
                 "kernel's name."},
    {.id = "bounds.registers", .title = "decayWideBounded keeps to its register budget",
     .points = 5, .kind = CRITERION_REGISTER_BUDGET, .kernel = BOUNDED, .threads = BLOCK_THREADS,
     .blocks = WANTED_BLOCKS,
     .why = "65,536 registers for 4 blocks of 256 threads are 64 for each thread.",
     .try_next = "Give the bound both numbers: with 256 alone, the compiler may use up to 255 "
                 "registers."},
    {.id = "bounds.blocks", .title = "four blocks of decayWideBounded fit on one SM", .points = 5,
     .kind = CRITERION_BLOCKS_FIT, .kernel = BOUNDED, .threads = BLOCK_THREADS,
     .blocks = WANTED_BLOCKS,
     .why = "That is what the second number of the bound asks for.",
     .try_next = "Look at `spillway occupancy --arch sm_75 --regs N --threads 256` with your "
                 "kernel's count: it says what limits the blocks."},

#define COUNT(which, kernel_name)                                                                  \
    {.id = "counts." kernel_name, .title = "reported registers of " kernel_name, .points = 3,      \
     .kind = CRITERION_REPORTED_COUNT, .kernel = which, .section = "registers",                    \
     .key = kernel_name,                                                                           \
     .why = "The count comes out of your own build for the architecture you name; no other build " \
            "can tell it.",                                                                        \
     .try_next = "Build once more with -Xptxas -v, find the block of " kernel_name                 \
                 " and copy the number after \"Used\"."}
    COUNT(NARROW, "decayNarrow"),
    COUNT(WIDE, "decayWide"),
    COUNT(INDEXED, "decayWideIndexed"),
    COUNT(BOUNDED, "decayWideBounded"),
#undef COUNT

    {.id = "question1.lost_argument", .title = "which kernel the compiler lost registers for",
     .points = 4, .kind = CRITERION_ANSWER, .section = "question1", .key = "lost_argument",
     .words = kernel_names, .compute = key_spilling_kernel,
     .why = "Only spill bytes say that registers were wanted and refused; a frame alone does not.",
     .try_next = "Look for the kernel whose report has non-zero spill stores and spill loads."},
    {.id = "question1.other_is", .title = "what the other kernel's local memory is", .points = 3,
     .kind = CRITERION_ANSWER, .section = "question1", .key = "other_is",
     .words = "planned spilled", .compute = key_other_is,
     .why = "Both kernels use local memory, for opposite reasons.",
     .try_next = "Ask of the other kernel: were its values ever candidates for registers?"},
    {.id = "question1.more_registers_fix", .title = "which kernel more registers would mend",
     .points = 3, .kind = CRITERION_ANSWER, .section = "question1", .key = "more_registers_fix",
     .words = kernel_names, .compute = key_spilling_kernel,
     .why = "More registers help where registers ran out, and only there.",
     .try_next = "Think of an array that is indexed at run time, on a card with twice the "
                 "registers: would it move?"},

    {.id = "question2.blocks_at_65", .title = "blocks per SM of a T4 at 65 registers", .points = 3,
     .kind = CRITERION_ANSWER, .section = "question2", .key = "blocks_at_65",
     .compute = key_blocks_at_65,
     .why = "Registers are handed out in steps of eight a thread, and blocks fit whole or not at "
            "all.",
     .try_next = "Registers of one block first, then how often that goes into the SM's 65,536; "
                 "round down."},
    {.id = "question2.blocks_at_64", .title = "blocks per SM of a T4 at 64 registers", .points = 3,
     .kind = CRITERION_ANSWER, .section = "question2", .key = "blocks_at_64",
     .compute = key_blocks_at_64,
     .why = "64 registers a thread is exactly the most that still fills a T4.",
     .try_next = "The same two divisions with 64."},
    {.id = "question2.threads_lost", .title = "resident threads that the 65th register costs",
     .points = 2, .kind = CRITERION_ANSWER, .section = "question2", .key = "threads_lost",
     .compute = key_threads_lost,
     .why = "The price of one register is paid in whole blocks.",
     .try_next = "Turn both block counts into threads and subtract."},
    {.id = "question2.percent_lost", .title = "the same loss in percent", .points = 2,
     .kind = CRITERION_ANSWER, .section = "question2", .key = "percent_lost",
     .compute = key_percent_lost,
     .why = "It puts one register in proportion to what it costs.",
     .try_next = "Divide the threads lost by the threads resident at 64 registers."},

    {.id = "question3.max_registers", .title = "the most registers under a bound of 1024",
     .points = 3, .kind = CRITERION_ANSWER, .section = "question3", .key = "max_registers",
     .compute = key_max_registers,
     .why = "The bound is a budget made from the number in the source; the launch is no part of "
            "it.",
     .try_next = "One block of 1024 threads has to fit: divide the register file by that."},
    {.id = "question3.spills", .title = "whether decayWide spills under that bound", .points = 2,
     .kind = CRITERION_ANSWER, .section = "question3", .key = "spills",
     .words = "yes no", .compute = key_bound_spills,
     .why = "What does not fit the budget goes to local memory, and the report says so.",
     .try_next = "Make the edit, build for the architecture in your answers.ini, read the spill "
                 "bytes, and undo the edit."},
    {.id = "question3.speed", .title = "what the bound alone says about speed", .points = 3,
     .kind = CRITERION_ANSWER, .section = "question3", .key = "speed",
     .words = "faster slower same undetermined", .compute = key_bound_speed,
     .why = "A register count limits how many threads can be resident; time depends on much "
            "else.",
     .try_next = "Ask whether the division you just did holds a time anywhere."},
};

/* `#pragma unroll 1` and loops that nvcc keeps: harmless. */
static const char *const allowed_pragmas[] = {"nounroll"};

const struct lab lab_day17_registers = {
    .id = "day17-registers", .title = "Day 17: registers, local memory and spills",
    .source_name = "registers.cu",
    .kernels = kernels, .kernel_count = COUNT_OF(kernels),
    .cases = cases, .case_count = COUNT_OF(cases),
    .criteria = criteria, .criterion_count = COUNT_OF(criteria),
    .allowed_pragmas = allowed_pragmas, .allowed_pragma_count = COUNT_OF(allowed_pragmas),
    .mistakes = day17_mistakes, .mistake_count = DAY17_MISTAKE_COUNT, .mistaken = day17_mistaken,
    .what_if = {.kernel = WIDE, .max_threads = QUESTION3_BOUND},
    .time_base = WIDE,
    .starter_floor = 25, /* it builds, and its four kernels compute the right numbers at shift 0 */
};
/* clang-format on */

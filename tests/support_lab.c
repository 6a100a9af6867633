#include "support_lab.h"

#include "facts.h"

static void reference_twice(const struct reference_call *call)
{
    for (size_t i = call->begin; i < call->end; ++i)
        call->output[i] = 2.0f * call->input[i];
}

static void reference_pick(const struct reference_call *call)
{
    for (size_t i = call->begin; i < call->end; ++i)
        call->output[i] = call->input[i + ((uint64_t)call->scalar & 15)];
}

static void key_word(const struct key_context *context, struct answer_key *ret)
{
    const struct kernel_facts *pick = context->kernels[TINY_PICK];
    (void)snprintf(ret->because, sizeof ret->because, "pick is what it is");
    if (pick == NULL)
        return;
    ret->kind = KEY_WORD;
    (void)snprintf(ret->word, sizeof ret->word, "%s",
                   pick->spill_store_bytes > 0 ? "spills" : "fits");
}

static void key_number(const struct key_context *context, struct answer_key *ret)
{
    const struct kernel_facts *twice = context->kernels[TINY_TWICE];
    (void)snprintf(ret->because, sizeof ret->because, "twice is what it is");
    if (twice == NULL)
        return;
    ret->kind = KEY_NUMBER;
    ret->number = twice->registers;
}

static void key_what_if(const struct key_context *context, struct answer_key *ret)
{
    (void)snprintf(ret->because, sizeof ret->because, "what if: %s", context->what_if_problem);
    if (context->what_if == NULL)
        return;
    ret->kind = KEY_NUMBER;
    ret->number = context->what_if->registers;
}

static void key_unjudged(const struct key_context *context, struct answer_key *ret)
{
    (void)context;
    ret->kind = KEY_UNJUDGED;
    (void)snprintf(ret->because, sizeof ret->because, "nobody can tell");
}

/* clang-format off */
static const struct lab_argument arguments[] = {
    {.name = "in",    .role = ARGUMENT_INPUT,  .type = SCALAR_F32, .extra = 15},
    {.name = "out",   .role = ARGUMENT_OUTPUT, .type = SCALAR_F32},
    {.name = "n",     .role = ARGUMENT_COUNT,  .type = SCALAR_U64},
    {.name = "which", .role = ARGUMENT_SCALAR, .type = SCALAR_S32},
};
static const struct lab_kernel kernels[] = {
    [TINY_TWICE] = {"twice", arguments, 3, 64, reference_twice},
    [TINY_PICK]  = {"pick",  arguments, 4, 64, reference_pick},
};
static const struct lab_case cases[] = {
    [TINY_CASE_TWICE]      = {.kernel = TINY_TWICE, .n = 1000, .full_size = true, .input_group = 0},
    [TINY_CASE_PICK]       = {.kernel = TINY_PICK,  .n = 1000, .full_size = true, .input_group = 0},
    [TINY_CASE_PICK_AGAIN] = {.kernel = TINY_PICK,  .n = 77, .input_group = 1, .scalar = 7},
    [TINY_CASE_DRAWN]      = {.kernel = TINY_PICK,  .n = 77, .input_group = 2, .drawn = true,
                              .draw_min = -3, .draw_max = 40},
};
#define WORDS .why = "It matters.", .try_next = "Try again."
static const struct criterion criteria[] = {
    [TINY_BUILD] = {.id = "build.accepted", .title = "builds", .points = 1, .kind = CRITERION_BUILD,
                    WORDS},
    [TINY_NUMBERS] = {.id = "numbers.twice", .title = "twice is right", .points = 2,
                      .kind = CRITERION_NUMBERS, .kernel = TINY_TWICE,
                      .first_case = TINY_CASE_TWICE, .case_count = 1, .equal_to_case = -1, WORDS},
    [TINY_NUMBERS_PICK] = {.id = "numbers.pick", .title = "pick is right", .points = 4,
                           .kind = CRITERION_NUMBERS, .kernel = TINY_PICK,
                           .first_case = TINY_CASE_PICK, .case_count = 3,
                           .equal_to_case = TINY_CASE_TWICE, WORDS},
    [TINY_FRAME] = {.id = "code.frame", .title = "a frame", .points = 8,
                    .kind = CRITERION_FRAME_BYTES, .kernel = TINY_PICK, .expected = 64, WORDS},
    [TINY_NO_SPILLS] = {.id = "code.spills", .title = "no spills", .points = 16,
                        .kind = CRITERION_NO_SPILLS, .kernel = TINY_PICK, WORDS},
    [TINY_LAUNCH_BOUNDS] = {.id = "code.bounds", .title = "bounds", .points = 32,
                            .kind = CRITERION_LAUNCH_BOUNDS, .kernel = TINY_PICK, .threads = 64,
                            .blocks = 2, WORDS},
    [TINY_BUDGET] = {.id = "code.budget", .title = "a budget", .points = 64,
                     .kind = CRITERION_REGISTER_BUDGET, .kernel = TINY_PICK, .threads = 64,
                     .blocks = 16, WORDS},
    [TINY_BLOCKS] = {.id = "code.blocks", .title = "blocks fit", .points = 128,
                     .kind = CRITERION_BLOCKS_FIT, .kernel = TINY_PICK, .threads = 64,
                     .blocks = 16, WORDS},
    [TINY_COUNT] = {.id = "counts.twice", .title = "registers of twice", .points = 256,
                    .kind = CRITERION_REPORTED_COUNT, .kernel = TINY_TWICE, .section = "registers",
                    .key = "twice", WORDS},
    [TINY_WORD] = {.id = "q.word", .title = "a word", .points = 512, .kind = CRITERION_ANSWER,
                   .section = "q", .key = "word", .words = "spills fits",
                  .compute = key_word, WORDS},
    [TINY_NUMBER] = {.id = "q.number", .title = "a number", .points = 1024,
                     .kind = CRITERION_ANSWER, .section = "q", .key = "number",
                     .compute = key_number, WORDS},
    [TINY_WHAT_IF] = {.id = "q.what_if", .title = "what if", .points = 2048,
                      .kind = CRITERION_ANSWER, .section = "q", .key = "what_if",
                      .compute = key_what_if, WORDS},
    [TINY_UNJUDGED] = {.id = "q.unjudged", .title = "who knows", .points = 4096,
                       .kind = CRITERION_ANSWER, .section = "q", .key = "unjudged",
                       .compute = key_unjudged, WORDS},
};
static const char *const allowed_pragmas[] = {"nounroll", "used_bytes_mask"};

const struct lab support_lab = {
    .id = "tiny", .title = "A tiny lab", .source_name = "tiny.cu",
    .kernels = kernels, .kernel_count = COUNT_OF(kernels),
    .cases = cases, .case_count = COUNT_OF(cases),
    .criteria = criteria, .criterion_count = COUNT_OF(criteria),
    .allowed_pragmas = allowed_pragmas, .allowed_pragma_count = COUNT_OF(allowed_pragmas),
    .what_if = {.kernel = TINY_TWICE, .max_threads = 1024},
};
/* clang-format on */

struct ptx_module *support_parse(const char *text)
{
    struct error err = {0};
    struct ptx_module *module = ptx_parse(text, strlen(text), &err);
    ck_assert_msg(module != NULL, "%s", err.text);
    return module;
}

#include "numbers.h"

#include <pthread.h>

#include "caps.h"
#include "entries.h"
#include "mix.h"
#include "outcome.h"
#include "text.h"

/* ---- Random inputs --------------------------------------------------------------------------- */

void numbers_fill_input(float *input, size_t count, uint64_t seed, uint64_t group)
{
    uint64_t base = mix64(seed ^ mix64(group));
    for (size_t i = 0; i < count; ++i) {
        int32_t bits = (int32_t)(mix64(base + i) >> 40); /* 24 random bits */
        input[i] = (float)(bits - (1 << 23)) * 0x1p-23f;
    }
}

static int64_t draw(const struct lab_case *spec, uint64_t seed, size_t index)
{
    uint64_t range = (uint64_t)(spec->draw_max - spec->draw_min) + 1;
    return spec->draw_min + (int64_t)(mix64(seed + mix64(index + 1000003)) % range);
}

/* ---- The reference --------------------------------------------------------------------------- */

static size_t extra_elements(const struct lab_kernel *kernel)
{
    size_t extra = 0;
    for (size_t i = 0; i < kernel->argument_count; ++i)
        if (kernel->arguments[i].role == ARGUMENT_INPUT && kernel->arguments[i].extra > extra)
            extra = kernel->arguments[i].extra;
    return extra;
}

/* What one of two threads computes. */
struct share {
    const struct lab_kernel *kernel;
    struct reference_call call;
};

static void *compute_share(void *argument)
{
    struct share *share = argument;
    share->kernel->reference(&share->call);
    return NULL;
}

static void compute_expected(const struct lab_kernel *kernel, struct case_data *data)
{
    struct share shares[2];
    size_t half = data->n / 2;
    for (size_t i = 0; i < COUNT_OF(shares); ++i)
        shares[i] = (struct share){.kernel = kernel,
                                   .call = {.input = data->input,
                                            .output = data->expected,
                                            .n = data->n,
                                            .begin = i == 0 ? 0 : half,
                                            .end = i == 0 ? half : data->n,
                                            .scalar = data->scalar}};
    pthread_t helper;
    bool two = data->n > 100000 && pthread_create(&helper, NULL, compute_share, &shares[1]) == 0;
    (void)compute_share(&shares[0]);
    if (two)
        (void)pthread_join(helper, NULL);
    else
        (void)compute_share(&shares[1]);
}

static float *allocate_floats(size_t count)
{
    return calloc(count == 0 ? 1 : count, sizeof(float));
}

/* Cases of one input group share the longest input that any of them needs. */
static int share_inputs(struct numbers *numbers, struct error *err)
{
    numbers->inputs = calloc(numbers->case_count, sizeof numbers->inputs[0]);
    if (numbers->inputs == NULL)
        return error_no_memory(err);
    numbers->input_count = numbers->case_count;
    for (size_t i = 0; i < numbers->case_count; ++i) {
        unsigned group = numbers->cases[i].spec->input_group;
        size_t longest = 0, owner = i;
        for (size_t k = 0; k < numbers->case_count; ++k)
            if (numbers->cases[k].spec->input_group == group) {
                owner = k < owner ? k : owner;
                if (numbers->cases[k].input_count > longest)
                    longest = numbers->cases[k].input_count;
            }
        if (owner == i) {
            numbers->inputs[i] = allocate_floats(longest);
            if (numbers->inputs[i] == NULL)
                return error_no_memory(err);
            numbers_fill_input(numbers->inputs[i], longest, numbers->seed, group);
        }
        numbers->cases[i].input = numbers->inputs[owner];
    }
    return 0;
}

int numbers_prepare(struct numbers *out, const struct lab *lab, uint64_t seed, size_t elements,
                    struct error *err)
{
    *out = (struct numbers){.lab = lab, .seed = seed};
    out->cases = calloc(lab->case_count, sizeof out->cases[0]);
    if (out->cases == NULL)
        return error_no_memory(err);
    out->case_count = lab->case_count;
    for (size_t i = 0; i < lab->case_count; ++i) {
        const struct lab_case *spec = &lab->cases[i];
        struct case_data *data = &out->cases[i];
        data->spec = spec;
        data->n = spec->full_size && elements != 0 ? elements : spec->n;
        data->scalar = spec->drawn ? draw(spec, seed, i) : spec->scalar;
        data->input_count = data->n + extra_elements(&lab->kernels[spec->kernel]);
        data->expected = allocate_floats(data->n);
        if (data->expected == NULL)
            error_no_memory(err);
    }
    if (err->kind != ERROR_NONE || share_inputs(out, err) != 0) {
        numbers_release(out);
        return -1;
    }
    for (size_t i = 0; i < lab->case_count; ++i)
        compute_expected(&lab->kernels[lab->cases[i].kernel], &out->cases[i]);
    return 0;
}

void numbers_release(struct numbers *numbers)
{
    for (size_t i = 0; i < numbers->case_count; ++i)
        free(numbers->cases[i].expected);
    for (size_t i = 0; i < numbers->input_count; ++i)
        free(numbers->inputs[i]);
    free(numbers->cases);
    free(numbers->inputs);
    *numbers = (struct numbers){0};
}

/* ---- Launching ------------------------------------------------------------------------------- */

struct launch_plan {
    struct run_argument arguments[RUN_ARGUMENTS_MAX];
    struct run_launch launch;
};

static struct run_argument make_argument(const struct lab_argument *spec,
                                         const struct case_data *data)
{
    struct run_argument argument = {.name = spec->name, .scalar_bytes = 4};
    switch (spec->role) {
    case ARGUMENT_INPUT:
        argument.role = RUN_INPUT;
        argument.data = data->input;
        argument.bytes = (data->n + spec->extra) * sizeof(float);
        break;
    case ARGUMENT_OUTPUT:
        argument.role = RUN_OUTPUT;
        argument.bytes = data->n * sizeof(float);
        break;
    case ARGUMENT_COUNT:
    case ARGUMENT_SCALAR:
        argument.role = RUN_SCALAR;
        argument.scalar = spec->role == ARGUMENT_COUNT ? data->n : (uint64_t)data->scalar;
        argument.scalar_bytes = spec->type == SCALAR_U64 ? 8 : 4;
        if (argument.scalar_bytes == 4)
            argument.scalar &= UINT32_MAX;
        break;
    }
    return argument;
}

static void plan_launch(struct launch_plan *plan, const struct lab_kernel *kernel,
                        const struct case_data *data, const struct ptx_function *function,
                        const struct cubin_kernel *machine)
{
    for (size_t i = 0; i < kernel->argument_count; ++i)
        plan->arguments[i] = make_argument(&kernel->arguments[i], data);
    plan->launch = (struct run_launch){
        .kernel = kernel->name,
        .symbol = function->name,
        .grid = {(unsigned)((data->n + kernel->block_threads - 1) / kernel->block_threads), 1, 1},
        .block = {kernel->block_threads, 1, 1},
        .arguments = plan->arguments,
        .argument_count = kernel->argument_count,
        .timing_group = data->spec->full_size ? 1 : 0,
        .frame_bytes = machine != NULL ? machine->max_frame_bytes : 0,
        .shared_static_bytes =
            machine != NULL && machine->shared_bytes > 0 ? machine->shared_bytes : 0,
    };
}

/* Module variables are there for every launch, used or not: beyond this, small cards run dry. */
static bool module_too_large(struct case_outcome *outcome, const struct ptx_module *module)
{
    for (size_t i = 0; i < ptx_variable_count(module); ++i) {
        const struct ptx_variable *variable = ptx_variable_at(module, i);
        char bytes[TEXT_NUMBER_BYTES], most[TEXT_NUMBER_BYTES];
        if (variable->space != PTX_GLOBAL || variable->bytes <= LIMIT_MODULE_VARIABLE_BYTES)
            continue;
        (void)snprintf(outcome->problem, sizeof outcome->problem,
                       "no kernel was run: a module variable on line %u of the PTX takes %s bytes "
                       "of device memory, and at most %s are allowed",
                       variable->line, text_number(variable->bytes, bytes),
                       text_number(LIMIT_MODULE_VARIABLE_BYTES, most));
        (void)snprintf(outcome->remedy, sizeof outcome->remedy,
                       "Take the __device__ array out: this lab needs none.");
        return true;
    }
    return false;
}

/* Why a launch of this kernel would be refused before it starts; false when it would not be. */
static bool launch_impossible(struct case_outcome *outcome, const struct ptx_function *function,
                              const struct lab_kernel *kernel)
{
    uint64_t threads = entries_block_bound(function);
    if (threads == 0 || (threads >= kernel->block_threads && function->required_threads[0] == 0) ||
        threads == kernel->block_threads)
        return false;
    (void)snprintf(outcome->problem, sizeof outcome->problem,
                   "%s is bounded to %llu threads a block but launched with %u: the launch is "
                   "refused and nothing is computed",
                   kernel->name, (unsigned long long)threads, kernel->block_threads);
    (void)snprintf(outcome->remedy, sizeof outcome->remedy,
                   "Give the bound of %s at least %u threads: the first number of "
                   "__launch_bounds__ is the most threads that a block will have.",
                   kernel->name, kernel->block_threads);
    return true;
}

/* ---- The stage ------------------------------------------------------------------------------- */

static uint64_t poison_seed(const struct numbers *numbers)
{
    return mix64(numbers->seed ^ UINT64_C(0x706F69736F6E));
}

static int run_planned(struct numbers_result *out, const struct numbers *numbers,
                       const struct build_target *target, const struct numbers_options *options,
                       struct launch_plan *plans, const size_t *case_of, size_t count,
                       struct error *err)
{
    struct run_launch *launches = calloc(count, sizeof *launches);
    if (launches == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < count; ++i)
        launches[i] = plans[case_of[i]].launch;
    bool gpu = options->executor == EXECUTOR_GPU;
    const struct run_request request = {
        .executor = options->executor,
        .module = gpu ? target->image.cubin.data : target->ptx.data,
        .module_bytes = gpu ? target->image.cubin.length : target->ptx.length,
        .scrub_module = options->scrub != NULL ? options->scrub->cubin.data : NULL,
        .scrub_module_bytes = options->scrub != NULL ? options->scrub->cubin.length : 0,
        .launches = launches,
        .launch_count = count,
        .poison_seed = poison_seed(numbers),
        .threads = options->threads,
        .timing_rounds = options->timing_rounds,
        .launch_wall_ns = (int64_t)options->launch_seconds * 1000000000,
        .device = options->device,
        .unconfined = options->unconfined,
        .lane = options->lane,
    };
    int status = run_launches(&out->run, &request, err);
    free(launches);
    for (size_t i = 0; status == 0 && i < count; ++i)
        out->outcomes[case_of[i]].launch = &out->run.launches[i];
    return status;
}

int numbers_run(struct numbers_result *out, const struct numbers *numbers,
                const struct build_target *target, const struct audit *audit,
                const struct numbers_options *options, struct error *err)
{
    const struct lab *lab = numbers->lab;
    *out = (struct numbers_result){0};
    out->outcomes = calloc(numbers->case_count, sizeof out->outcomes[0]);
    struct launch_plan *plans = calloc(numbers->case_count, sizeof *plans);
    size_t *case_of = calloc(numbers->case_count, sizeof *case_of);
    int status = -1;
    size_t count = 0;
    if (out->outcomes == NULL || plans == NULL || case_of == NULL) {
        error_no_memory(err);
        goto done;
    }
    out->outcome_count = numbers->case_count;
    for (size_t i = 0; i < numbers->case_count; ++i) {
        struct case_outcome *outcome = &out->outcomes[i];
        const struct lab_kernel *kernel = &lab->kernels[numbers->cases[i].spec->kernel];
        struct entry_match match;
        outcome->status = CASE_WRONG;
        if (!target->compiled)
            (void)snprintf(outcome->problem, sizeof outcome->problem, "%s: %s", lab->source_name,
                           target->problem);
        else if (!target->image.assembled)
            (void)snprintf(outcome->problem, sizeof outcome->problem, "%s", target->image.problem);
        else if ((match = entries_find(target->module, kernel)).function == NULL)
            (void)snprintf(outcome->problem, sizeof outcome->problem, "%s", match.problem);
        else if (!module_too_large(outcome, target->module) &&
                 !launch_impossible(outcome, match.function, kernel)) {
            const struct cubin_kernel *machine =
                target->image.readable ? cubin_find(&target->image.parsed, match.function->name)
                                       : NULL;
            plan_launch(&plans[i], kernel, &numbers->cases[i], match.function, machine);
            case_of[count++] = i;
        }
    }
    if (options->executor == EXECUTOR_NONE) {
        for (size_t i = 0; i < count; ++i) {
            out->outcomes[case_of[i]].status = CASE_SKIPPED;
            (void)snprintf(out->outcomes[case_of[i]].problem, sizeof out->outcomes[0].problem,
                           "kernels were not run (--executor none)");
        }
        status = 0;
        goto done;
    }
    if (count > 0 && run_planned(out, numbers, target, options, plans, case_of, count, err) != 0)
        goto done;
    for (size_t i = 0; i < count; ++i) {
        struct case_outcome *outcome = &out->outcomes[case_of[i]];
        const struct case_data *data = &numbers->cases[case_of[i]];
        const struct lab_kernel *kernel = &lab->kernels[data->spec->kernel];
        struct entry_match match = entries_find(target->module, kernel);
        outcome_judge(outcome, numbers, data, run_poison_word(poison_seed(numbers), i),
                      audit_blames(audit, match.function));
    }
    status = 0;
done:
    free(plans);
    free(case_of);
    if (status != 0)
        numbers_result_release(out);
    return status;
}

void numbers_result_release(struct numbers_result *result)
{
    run_release(&result->run);
    free(result->outcomes);
    *result = (struct numbers_result){0};
}

/* The output of a case, as far as it is known; NULL when it is not. */
static const char *output_of(const struct numbers_result *result, size_t index, size_t *bytes)
{
    const struct case_outcome *outcome = &result->outcomes[index];
    if (result->right_outputs != NULL) {
        const struct case_data *data = &result->right_outputs->cases[index];
        *bytes = data->n * sizeof(float);
        return outcome->status == CASE_EQUAL ? (const char *)data->expected : NULL;
    }
    const struct run_launch_result *launch = outcome->launch;
    if (launch == NULL || launch->status != RUN_FINISHED || launch->output_count == 0)
        return NULL;
    *bytes = launch->outputs[0].bytes;
    return launch->outputs[0].data;
}

int64_t numbers_differ(const struct numbers_result *result, size_t case_a, size_t case_b)
{
    size_t a_bytes = 0, b_bytes = 0;
    const char *a = output_of(result, case_a, &a_bytes);
    const char *b = output_of(result, case_b, &b_bytes);
    if (a == NULL || b == NULL || a_bytes != b_bytes)
        return -1;
    int64_t differing = 0;
    for (size_t at = 0; at + sizeof(float) <= a_bytes; at += sizeof(float))
        differing += memcmp(a + at, b + at, sizeof(float)) != 0;
    return differing;
}

#include "support_situation.h"

#define TWICE_SYMBOL "_Z5twicePKfPfm"
#define PICK_SYMBOL "_Z4pickPKfPfmi"

static const char *const symbols[] = {[TINY_TWICE] = TWICE_SYMBOL, [TINY_PICK] = PICK_SYMBOL};

void situation_start(struct situation *s)
{
    *s = (struct situation){
        .pick_directives = ".maxntid 64, 1, 1 .minnctapersm 2",
        .pick_body = "",
        .more_ptx = "",
        .ptxas = {{.registers = 8}, {.registers = 64, .stack_bytes = 64}},
        .cubin = {{.registers = 8}, {.registers = 64, .stack_bytes = 64}},
        .what_if_ptxas = {.registers = 7},
        .what_if_cubin = {.registers = 7},
        .has_what_if = true,
        .cubin_readable = true,
        .cubin_has_pick = true,
        .compiled = true,
        .assembled = true,
        .nvcc_knows_arch = true,
        .arch = 75,
        .answers = "lab = tiny\n[registers]\ntwice = 8\n[q]\nword = fits\nnumber = 8\nwhat_if = 7\n"
                   "unjudged = x\n",
        .source = "// pick (of several)\n/* pick(\n*/ const char *s = \"pick(\";\n"
                  "__global__ void pick(const float *in)\n{\n}\n\nvoid twice(int)\n",
        .run = {.executor = EXECUTOR_EMULATOR, .device = "PTX emulator, 1 thread"},
    };
    for (size_t i = 0; i < TINY_CASES; ++i) {
        s->outcomes[i].compared = 10;
        s->launches[i] = (struct run_launch_result){.status = RUN_FINISHED,
                                                    .device_registers = -1,
                                                    .device_local_bytes = -1,
                                                    .device_shared_bytes = -1,
                                                    .device_max_threads = -1,
                                                    .device_blocks_per_sm = -1};
        s->outcomes[i].launch = &s->launches[i];
    }
}

static void write_report(struct bytes *text, const char *symbol, unsigned arch,
                         const struct said *said)
{
    bytes_printf(text,
                 "ptxas info    : Compiling entry function '%s' for 'sm_%u'\n"
                 "ptxas info    : Function properties for %s\n"
                 "    %lld bytes stack frame, %lld bytes spill stores, %lld bytes spill loads\n"
                 "ptxas info    : Used %lld registers, ",
                 symbol, arch, symbol, (long long)said->stack_bytes,
                 (long long)said->spill_store_bytes, (long long)said->spill_load_bytes,
                 (long long)said->registers);
    if (said->shared_bytes > 0)
        bytes_printf(text, "%lld bytes smem, ", (long long)said->shared_bytes);
    bytes_append_text(text, "376 bytes cmem[0]\n");
}

static void parse_report(struct report *report, const char *text)
{
    struct error err = {0};
    ck_assert_msg(report_parse(report, text, strlen(text), &err) == 0, "%s", err.text);
}

static struct cubin_kernel machine_of(const char *symbol, const struct said *said)
{
    struct cubin_kernel machine = {.symbol = (char *)(uintptr_t)symbol,
                                   .registers = said->registers,
                                   .frame_bytes = said->stack_bytes,
                                   .max_frame_bytes = said->stack_bytes,
                                   .shared_bytes = said->shared_bytes,
                                   .spill_store_bytes = said->spill_store_bytes,
                                   .spill_load_bytes = said->spill_load_bytes,
                                   .spills_known = true};
    return machine;
}

static void make_module(struct situation *s)
{
    struct bytes text = bytes_with_limit(100000);
    bytes_printf(&text, "%s%s%s%s\n{ %s ret; }\n%s", PTX_HEADER, PTX_TWICE, PTX_PICK_HEAD,
                 s->pick_directives, s->pick_body, s->more_ptx);
    s->target.module = support_parse(bytes_text(&text));
    bytes_release(&text);
}

static void make_images(struct situation *s)
{
    struct bytes text = bytes_with_limit(100000);
    struct build_image *image = &s->target.image;
    for (size_t k = 0; k < TINY_KERNELS; ++k) {
        write_report(&text, symbols[k], s->arch, &s->ptxas[k]);
        s->machine[k] = machine_of(symbols[k], &s->cubin[k]);
    }
    parse_report(&image->report, s->report != NULL ? s->report : bytes_text(&text));
    image->assembled = s->assembled;
    image->readable = s->cubin_readable;
    image->parsed =
        (struct cubin){.kernels = s->machine, .kernel_count = s->cubin_has_pick ? TINY_KERNELS : 1};
    bytes_clear(&text);
    write_report(&text, TWICE_SYMBOL, s->arch, &s->what_if_ptxas);
    s->what_if_machine = machine_of(TWICE_SYMBOL, &s->what_if_cubin);
    parse_report(&s->build.what_if.report, bytes_text(&text));
    s->build.has_what_if = s->has_what_if;
    s->build.what_if.assembled = s->build.what_if.readable = true;
    s->build.what_if.parsed = (struct cubin){.kernels = &s->what_if_machine, .kernel_count = 1};
    (void)snprintf(s->build.what_if_problem, sizeof s->build.what_if_problem, "%s",
                   s->has_what_if ? "" : "it went away");
    bytes_release(&text);
}

static void make_submission(struct situation *s)
{
    struct error err = {0};
    s->submission.lab = &support_lab;
    s->submission.path = strdup("there");
    s->submission.source.path = strdup("there/tiny.cu");
    s->submission.source.content = bytes_with_limit(10000);
    ck_assert_int_eq(bytes_append_text(&s->submission.source.content, s->source), 0);
    if (s->answers == NULL)
        ck_assert_int_eq(answers_absent(&s->submission.answers, "there is no answers.ini", &err),
                         0);
    else
        ck_assert_int_eq(
            answers_parse(&s->submission.answers, s->answers, strlen(s->answers), &err), 0);
}

void situation_judge(struct situation *s)
{
    struct error err = {0};
    const struct arch arch = {.number = s->arch};
    s->target = (struct build_target){.arch = arch, .compiled = s->compiled};
    if (s->compiled)
        make_module(s);
    else
        (void)snprintf(s->target.problem, sizeof s->target.problem, "it does not compile");
    if (!s->assembled)
        (void)snprintf(s->target.image.problem, sizeof s->target.image.problem, "ptxas refuses it");
    make_images(s);
    make_submission(s);
    s->build.targets = &s->target;
    s->build.target_count = 1;
    s->toolchain = (struct toolchain){.version = "13.0.88",
                                      .major = 13,
                                      .nvcc = (char *)(uintptr_t) "/opt/cuda/bin/nvcc",
                                      .found = "PATH"};
    ck_assert_int_eq(numbers_prepare(&s->numbers, &support_lab, 17, 10, &err), 0);
    s->result = (struct numbers_result){
        .run = s->run, .outcomes = s->outcomes, .outcome_count = TINY_CASES};
    s->input = (struct rubric_input){.lab = &support_lab,
                                     .submission = &s->submission,
                                     .toolchain = &s->toolchain,
                                     .build = &s->build,
                                     .target_count = 1,
                                     .graded_count = 1,
                                     .declared_arch = {.number = s->nvcc_knows_arch ? s->arch : 52},
                                     .numbers = &s->numbers,
                                     .result = &s->result,
                                     .targets = calloc(1, sizeof(struct rubric_target))};
    ck_assert_ptr_nonnull(s->input.targets);
    s->input.targets[0].target = &s->target;
    s->input.declared = s->nvcc_knows_arch ? &s->input.targets[0] : NULL;
    s->input.executed = &s->input.targets[0];
    const struct collect_context context = {
        .input = &s->input, .executor = s->run.executor, .why = "a test says so"};
    ck_assert_msg(rubric_gather(&s->input, &err) == 0 &&
                      collect_grade(&s->grade, &context, &err) == 0 &&
                      rubric_judge(&s->grade, &s->input, &err) == 0,
                  "%s", err.text);
}

void situation_release(struct situation *s)
{
    grade_release(&s->grade);
    rubric_input_release(&s->input);
    numbers_release(&s->numbers);
    submission_release(&s->submission);
    report_release(&s->target.image.report);
    report_release(&s->build.what_if.report);
    ptx_free(s->target.module);
}

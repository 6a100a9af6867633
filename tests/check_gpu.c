/* check_gpu.c - the GPU executor on a real device: what every kind of fault looks like there, that
 * a fault or a hang costs one launch only, the electric fence, scrubbing, and times.
 *
 * Needs a GPU and a toolkit; elsewhere every test is skipped and counted. The kernels are in
 * fixtures/gpu, compiled here for the device at hand. No CUDA call is made in this process. */
#include "testing.h"

#include "arch.h"
#include "files.h"
#include "run.h"
#include "run_survey.h"
#include "scrub.h"
#include "timing.h"
#include "worker_process.h"

#define ELEMENTS 4099 /* odd, and no multiple of a block */
#define WALL_NS INT64_C(4000000000)

static struct gpu_survey survey;
static char why_not[300]; /* why the tests cannot run here */
static char broken[300];  /* why they should run here, but cannot */
static struct bytes kernels_cubin, huge_cubin, scrub_cubin;
static float input_data[ELEMENTS];

/* ---- Set-up: once, in the runner's process; tests are forked from it -------------------------*/

static bool compile(const char *const *argv)
{
    const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(120000000000),
                                      .output_limit = 1 << 20,
                                      .merge_error = true};
    struct process_result result;
    struct error err = {0};
    if (process_run(&result, &spec, &err) != 0)
        return false;
    bool fine = !result.timed_out && !result.signalled && result.exit_code == 0;
    if (!fine)
        (void)snprintf(broken, sizeof broken, "%.250s", bytes_text(&result.output));
    process_result_release(&result);
    return fine;
}

static bool read_whole(struct bytes *into, const char *path)
{
    return file_read(into, path, (size_t)64 << 20, true) == FILE_READ;
}

static bool compile_kernels(const char *nvcc, const char *arch, const char *source,
                            struct bytes *into)
{
    char option[64], cubin[4096];
    (void)snprintf(option, sizeof option, "-arch=%s", arch);
    (void)snprintf(cubin, sizeof cubin, "%s/gpu.cubin", testing_temporary_folder());
    const char *argv[] = {nvcc, "-std=c++17", "-O3", option, "-cubin", "-o", cubin, source, NULL};
    return compile(argv) && read_whole(into, cubin);
}

static bool compile_scrub(const char *ptxas, const char *arch)
{
    char ptx[4096], cubin[4096];
    struct bytes text;
    (void)snprintf(ptx, sizeof ptx, "%s/gpu-scrub.ptx", testing_temporary_folder());
    (void)snprintf(cubin, sizeof cubin, "%s/gpu-scrub.cubin", testing_temporary_folder());
    const char *argv[] = {ptxas, "-arch", arch, "-o", cubin, ptx, NULL};
    struct error err = {0};
    bool written = scrub_source(&text, arch, 256, 1024) == 0 &&
                   file_write(ptx, text.data, text.length, &err) == 0;
    bytes_release(&text);
    return written && compile(argv) && read_whole(&scrub_cubin, cubin);
}

static void set_up(void)
{
    struct error err = {0};
    char arch[ARCH_NAME_BYTES];
    worker_process_use(testing_binary(), NULL);
    if (run_survey_gpus(&survey, &err) != 0 || survey.device_count == 0) {
        (void)snprintf(why_not, sizeof why_not, "%s", err.text[0] ? err.text : survey.why_none);
        return;
    }
    if (!testing_have_toolkit()) {
        (void)snprintf(why_not, sizeof why_not, "no CUDA toolkit");
        return;
    }
    AUTO_FREE char *nvcc = path_join(testing_cuda_home(), "bin/nvcc");
    AUTO_FREE char *ptxas = path_join(testing_cuda_home(), "bin/ptxas");
    struct arch device = {.number = survey.devices[0].major * 10 + survey.devices[0].minor};
    (void)arch_name(device, "sm_", arch);
    if (!compile_kernels(nvcc, arch, "tests/fixtures/gpu/kernels.cu", &kernels_cubin) ||
        !compile_kernels(nvcc, arch, "tests/fixtures/gpu/huge.cu", &huge_cubin) ||
        !compile_scrub(ptxas, arch))
        if (broken[0] == '\0')
            (void)snprintf(broken, sizeof broken, "cannot compile for %s", arch);
    for (int i = 0; i < ELEMENTS; ++i)
        input_data[i] = 1.0f + (float)i * 0.25f;
}

static void tear_down(void)
{
    bytes_release(&kernels_cubin);
    bytes_release(&huge_cubin);
    bytes_release(&scrub_cubin);
    worker_process_use(NULL, NULL);
}

#define NEEDS_GPU()                                                                                \
    do {                                                                                           \
        if (why_not[0] != '\0')                                                                    \
            TEST_SKIP("%s", why_not);                                                              \
        ck_assert_msg(broken[0] == '\0', "%s", broken);                                            \
    } while (0)

/* ---- A request -------------------------------------------------------------------------------*/

#define LAUNCHES_MAX 8
struct plan {
    struct run_argument arguments[LAUNCHES_MAX][4];
    struct run_launch launches[LAUNCHES_MAX];
    struct run_request request;
    struct run run;
};

static struct run_launch *add_launch(struct plan *plan, const char *kernel, uint64_t k)
{
    size_t i = plan->request.launch_count++;
    struct run_argument *arguments = plan->arguments[i];
    ck_assert_uint_lt(i, LAUNCHES_MAX);
    arguments[0] = (struct run_argument){
        .role = RUN_INPUT, .data = input_data, .bytes = sizeof input_data, .name = "in"};
    arguments[1] =
        (struct run_argument){.role = RUN_OUTPUT, .bytes = sizeof input_data, .name = "out"};
    arguments[2] = (struct run_argument){
        .role = RUN_SCALAR, .scalar = ELEMENTS, .scalar_bytes = 4, .name = "n"};
    arguments[3] =
        (struct run_argument){.role = RUN_SCALAR, .scalar = k, .scalar_bytes = 4, .name = "k"};
    plan->launches[i] = (struct run_launch){.kernel = kernel,
                                            .symbol = kernel,
                                            .grid = {(ELEMENTS + 256) / 256, 1, 1},
                                            .block = {256, 1, 1},
                                            .arguments = arguments,
                                            .argument_count = 4};
    return &plan->launches[i];
}

static void begin(struct plan *plan)
{
    *plan = (struct plan){.request = {.executor = EXECUTOR_GPU,
                                      .module = kernels_cubin.data,
                                      .module_bytes = kernels_cubin.length,
                                      .scrub_module = scrub_cubin.data,
                                      .scrub_module_bytes = scrub_cubin.length,
                                      .poison_seed = 5,
                                      .launch_wall_ns = WALL_NS}};
}

static void go(struct plan *plan)
{
    struct error err = {0};
    plan->request.launches = plan->launches;
    ck_assert_msg(run_launches(&plan->run, &plan->request, &err) == 0, "%s", err.text);
}

/* `right` with k: 2 x + k. */
static void assert_right(const struct run_launch_result *result, float k)
{
    ck_assert_msg(result->status == RUN_FINISHED, "%s: %s", result->fault.kind, result->fault.text);
    const float *out = result->outputs[0].data;
    for (int i = 0; i < ELEMENTS; ++i)
        ck_assert_msg(out[i] == input_data[i] * 2.0f + k, "element %d is %g", i, (double)out[i]);
    ck_assert(!result->outputs[0].scrub_differs);
    ck_assert(!result->input_changed);
}

/* ---- Tests -----------------------------------------------------------------------------------*/

START_TEST(the_survey_describes_the_device)
{
    NEEDS_GPU();
    const struct gpu_device *device = &survey.devices[0];
    ck_assert(survey.driver_present);
    ck_assert_int_ge(survey.driver_version, 12000);
    ck_assert_int_ge(survey.runtime_version, 12000);
    ck_assert_uint_gt(strlen(device->name), 0);
    ck_assert_uint_ge(device->major, 5);
    ck_assert_uint_ge(device->sm.registers_per_sm, 65536);
    ck_assert_uint_ge(device->sm.threads_per_sm, 1024);
    ck_assert_uint_eq(device->sm.register_allocation, 256);
    ck_assert_uint_gt(device->memory_bytes, 1 << 30);
}
END_TEST

START_TEST(a_right_kernel_is_right)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    (void)add_launch(&plan, "right", 3);
    (void)add_launch(&plan, "vectors", 0); /* needs aligned buffers */
    go(&plan);
    assert_right(&plan.run.launches[0], 3.0f);
    ck_assert_int_gt(plan.run.launches[0].device_registers, 0);
    ck_assert_int_eq(plan.run.launches[0].device_local_bytes, 0);
    ck_assert_int_eq(plan.run.launches[0].device_max_threads, 1024);
    const struct sm_limits *sm = &survey.devices[0].sm;
    ck_assert_int_eq(plan.run.launches[0].device_blocks_per_sm, sm->threads_per_sm / 256);
    ck_assert_msg(plan.run.launches[1].status == RUN_FINISHED, "%s",
                  plan.run.launches[1].fault.text);
    ck_assert_mem_eq(plan.run.launches[1].outputs[0].data, input_data, sizeof input_data);
    ck_assert_uint_eq(plan.run.device_cc, survey.devices[0].major * 10 + survey.devices[0].minor);
    run_release(&plan.run);
}
END_TEST

/* Each between two right launches, which must not notice. */
static const struct {
    const char *kernel;
    uint64_t k;
    bool guards_only;
    enum run_status status;
    const char *kind, *text;
} faults[] = {
    /* clang-format off */
    {"reads_behind",  0, false, RUN_FAULTED, "out of bounds",   "reads behind the end of the buffer \"in\""},
    {"reads_before",  0, false, RUN_FAULTED, "out of bounds",   "reads before the start of the buffer \"in\""},
    {"writes_behind", 0, false, RUN_FAULTED, "out of bounds",   "writes behind the end of the buffer \"out\""},
    {"writes_before", 0, false, RUN_FAULTED, "out of bounds",   "before the start of the buffer \"out\""},
    {"reads_behind",  0, true,  RUN_FAULTED, "out of bounds",   "reads memory beside its buffers"},
    {"reads_before",  0, true,  RUN_FAULTED, "out of bounds",   "reads memory beside its buffers"},
    {"writes_behind", 0, true,  RUN_FAULTED, "out of bounds",   "writes behind the end of the buffer \"out\""},
    {"writes_before", 0, true,  RUN_FAULTED, "out of bounds",   "writes before the start of the buffer \"out\""},
    {"far_away",      0, false, RUN_FAULTED, "illegal address", "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {"misaligned",    2, false, RUN_FAULTED, "misaligned",      "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {"traps",         0, false, RUN_FAULTED, "trap",            "ended itself"},
    {"asserts",       0, false, RUN_FAULTED, "assertion",       "INDEX != 3"},
    {"hangs",         0, false, RUN_TIMED_OUT, "time out",      "had not finished"},
    {"bounded",       0, false, RUN_FAULTED, "launch refused",  "takes at most 128"},
    {"no_such_name",  0, false, RUN_FAULTED, "no such kernel",  "no_such_name"},
    /* clang-format on */
};

START_TEST(a_fault_costs_one_launch)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    plan.request.guards_only = faults[_i].guards_only;
    (void)add_launch(&plan, "right", 1);
    (void)add_launch(&plan, faults[_i].kernel, faults[_i].k);
    (void)add_launch(&plan, "right", 2);
    go(&plan);
    const struct run_launch_result *bad = &plan.run.launches[1];
    assert_right(&plan.run.launches[0], 1.0f);
    assert_right(&plan.run.launches[2], 2.0f);
    ck_assert_msg(bad->status == faults[_i].status, "%s: status %d %s", faults[_i].kernel,
                  (int)bad->status, bad->fault.text);
    ck_assert_msg(strcmp(bad->fault.kind, faults[_i].kind) == 0, "%s: %s", bad->fault.kind,
                  bad->fault.text);
    ck_assert_msg(strstr(bad->fault.text, faults[_i].text) != NULL, "%s", bad->fault.text);
    run_release(&plan.run);
}
END_TEST

START_TEST(too_many_registers_are_explained)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    struct run_launch *launch = add_launch(&plan, "hungry", 0);
    launch->block[0] = 1024;
    go(&plan);
    const struct run_launch_result *result = &plan.run.launches[0];
    ck_assert_int_eq(result->status, RUN_FAULTED);
    ck_assert_str_eq(result->fault.kind, "launch refused");
    ck_assert_msg(strstr(result->fault.text, "too many resources") != NULL, "%s",
                  result->fault.text);
    ck_assert_int_gt(result->device_registers, 64);
    run_release(&plan.run);
}
END_TEST

START_TEST(a_module_that_is_too_large_is_the_kernels_fault)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    plan.request.module = huge_cubin.data;
    plan.request.module_bytes = huge_cubin.length;
    (void)add_launch(&plan, "right", 1);
    go(&plan);
    ck_assert_int_eq(plan.run.launches[0].status, RUN_FAULTED);
    ck_assert_msg(strstr(plan.run.launches[0].fault.text, "too large") != NULL, "%s",
                  plan.run.launches[0].fault.text);
    run_release(&plan.run);
}
END_TEST

START_TEST(unwritten_elements_hold_the_poison)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    (void)add_launch(&plan, "right", 0);
    (void)add_launch(&plan, "leaves_tail", 3);
    go(&plan);
    uint32_t words[ELEMENTS], poison = run_poison_word(5, 1);
    ck_assert_int_eq(plan.run.launches[1].status, RUN_FINISHED);
    memcpy(words, plan.run.launches[1].outputs[0].data, sizeof words);
    for (int i = 0; i < ELEMENTS; ++i)
        ck_assert_msg((words[i] == poison) == (i >= ELEMENTS - 3), "element %d: %08x", i, words[i]);
    run_release(&plan.run);
}
END_TEST

START_TEST(a_changed_input_is_seen)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    (void)add_launch(&plan, "changes_input", 1000);
    go(&plan);
    ck_assert(plan.run.launches[0].input_changed);
    ck_assert_uint_ge(plan.run.launches[0].input_offset, 4000);
    ck_assert_uint_lt(plan.run.launches[0].input_offset, 4004);
    run_release(&plan.run);
}
END_TEST

START_TEST(printing_is_kept_apart)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    (void)add_launch(&plan, "prints", 8);
    (void)add_launch(&plan, "right", 8);
    (void)add_launch(&plan, "floods", 8);
    go(&plan);
    ck_assert_ptr_nonnull(plan.run.launches[0].printed);
    ck_assert_str_eq(plan.run.launches[0].printed, "PASS 8\n"); /* once, though launched twice */
    ck_assert_ptr_null(plan.run.launches[1].printed);
    ck_assert_ptr_nonnull(plan.run.launches[2].printed);
    ck_assert_int_eq(plan.run.launches[2].status, RUN_FINISHED);
    run_release(&plan.run);
}
END_TEST

static const struct {
    const char *kernel;
    uint64_t complete; /* a k with which nothing is forgotten */
    uint64_t k;
} forgetters[] = {
    {"forgets_local", 1000, 5}, {"forgets_little", 1000, 5}, {"forgets_shared", 1000, 5}};

START_TEST(a_forgotten_store_does_not_pass_by_luck)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    (void)add_launch(&plan, forgetters[_i].kernel, forgetters[_i].complete);
    (void)add_launch(&plan, forgetters[_i].kernel, forgetters[_i].k);
    go(&plan);
    ck_assert_msg(plan.run.launches[0].status == RUN_FINISHED, "%s",
                  plan.run.launches[0].fault.text);
    ck_assert(!plan.run.launches[0].outputs[0].scrub_differs);
    ck_assert_msg(plan.run.launches[1].status == RUN_FINISHED, "%s",
                  plan.run.launches[1].fault.text);
    ck_assert_msg(plan.run.launches[1].outputs[0].scrub_differs, "%s", forgetters[_i].kernel);
    run_release(&plan.run);
}
END_TEST

START_TEST(a_kept_answer_is_caught_by_the_timed_launches)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    add_launch(&plan, "right", 1)->timing_group = 1;
    add_launch(&plan, "cached", 0)->timing_group = 1;
    plan.request.timing_rounds = 9;
    go(&plan);
    assert_right(&plan.run.launches[0], 1.0f);
    ck_assert(!plan.run.launches[0].later_launch_differs);
    ck_assert_int_eq(plan.run.launches[1].status, RUN_FINISHED);
    ck_assert_mem_eq(plan.run.launches[1].outputs[0].data, input_data, sizeof input_data);
    ck_assert(plan.run.launches[1].later_launch_differs);
    run_release(&plan.run);
}
END_TEST

START_TEST(times_tell_slow_from_fast)
{
    NEEDS_GPU();
    struct plan plan;
    begin(&plan);
    add_launch(&plan, "right", 1)->timing_group = 1;
    add_launch(&plan, "slower", 20000)->timing_group = 1;
    add_launch(&plan, "right", 2)->timing_group = 1;
    plan.request.timing_rounds = 31;
    go(&plan);
    for (size_t i = 0; i < 3; ++i) {
        const struct run_timing *time = &plan.run.launches[i].time;
        ck_assert_msg(plan.run.launches[i].status == RUN_FINISHED, "%s",
                      plan.run.launches[i].fault.text);
        ck_assert(time->known);
        ck_assert_uint_ge(time->rounds, 31);
        ck_assert(time->q1_ns <= time->median_ns && time->median_ns <= time->q3_ns);
        ck_assert_double_gt(time->median_ns, 100);
        ck_assert(!plan.run.launches[i].later_launch_differs);
    }
    const struct run_timing *fast = &plan.run.launches[0].time;
    const struct run_timing *slow = &plan.run.launches[1].time;
    ck_assert_uint_eq(fast->rounds, slow->rounds);
    ck_assert_int_eq(timing_compare(slow->samples_ns, fast->samples_ns, fast->rounds).verdict,
                     TIMING_SLOWER);
    ck_assert_int_ne(
        timing_compare(fast->samples_ns, plan.run.launches[2].time.samples_ns, fast->rounds)
            .verdict,
        TIMING_SLOWER);
    run_release(&plan.run);
}
END_TEST

Suite *suite_gpu(void)
{
    Suite *suite = suite_create("gpu");
    TCase *tests = tcase_create("gpu");
    tcase_set_timeout(tests, 180);
    tcase_add_unchecked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_survey_describes_the_device);
    tcase_add_test(tests, a_right_kernel_is_right);
    tcase_add_loop_test(tests, a_fault_costs_one_launch, 0, COUNT_OF(faults));
    tcase_add_test(tests, too_many_registers_are_explained);
    tcase_add_test(tests, a_module_that_is_too_large_is_the_kernels_fault);
    tcase_add_test(tests, unwritten_elements_hold_the_poison);
    tcase_add_test(tests, a_changed_input_is_seen);
    tcase_add_test(tests, printing_is_kept_apart);
    tcase_add_loop_test(tests, a_forgotten_store_does_not_pass_by_luck, 0, COUNT_OF(forgetters));
    tcase_add_test(tests, a_kept_answer_is_caught_by_the_timed_launches);
    tcase_add_test(tests, times_tell_slow_from_fast);
    suite_add_tcase(suite, tests);
    return suite;
}

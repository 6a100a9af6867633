/* check_worker.c - the real worker, exec'd, running PTX on the emulator. What the emulator itself
 * can do is tested elsewhere; here it is that everything arrives on the grader's side. */
#include "testing.h"

#include "run.h"
#include "run_survey.h"
#include "worker_process.h"

#define ELEMENTS 1000 /* 3 blocks of 256 and a part: 31 full warps and one of 8 lanes */

/* Kernels of (in, out, n, k). %%i is the thread's index, %%p is true from n on. */
#define PROLOGUE                                                                                   \
    "(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 k)\n"                            \
    "{\n"                                                                                          \
    ".reg .pred %p, %q; .reg .b32 %i, %b, %t, %n, %k, %v; .reg .b64 %in, %out, %o, %a, %c;\n"      \
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n];\n"                    \
    "ld.param.u32 %k, [k];\n"                                                                      \
    "cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;\n"                                \
    "mov.u32 %b, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %i, %tid.x;\n"                             \
    "mad.lo.s32 %i, %b, %t, %i;\n"                                                                 \
    "setp.ge.u32 %p, %i, %n;\n"                                                                    \
    "mul.wide.u32 %o, %i, 4; add.s64 %a, %in, %o; add.s64 %c, %out, %o;\n"
#define COPY "@%p bra done;\n ld.global.u32 %v, [%a]; st.global.u32 [%c], %v;\ndone: ret;\n}\n"

static const char module_text[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".global .align 4 .u32 visits;\n"
    ".visible .entry copy" PROLOGUE COPY ".visible .entry behind" PROLOGUE
    "@%p bra done;\n ld.global.u32 %v, [%a+4]; st.global.u32 [%c], %v;\ndone: ret;\n}\n"
    ".visible .entry unguarded" PROLOGUE
    "ld.global.u32 %v, [%in]; st.global.u32 [%c], %v; ret;\n}\n"
    ".visible .entry spins" PROLOGUE
    "again: ld.global.u32 %v, [%in]; setp.ne.u32 %q, %v, 77; @%q bra again; ret;\n}\n"
    ".visible .entry counts" PROLOGUE "@%p bra done;\n setp.ne.u32 %q, %i, 0; @%q bra done;\n"
    "ld.global.u32 %v, [visits]; add.u32 %v, %v, 1; st.global.u32 [visits], %v;\n"
    "st.global.u32 [%out], %v;\ndone: ret;\n}\n"
    ".visible .entry tail" PROLOGUE "sub.u32 %n, %n, %k; setp.ge.u32 %p, %i, %n;\n" COPY
    ".visible .entry spoils" PROLOGUE
    "@%p bra done;\n st.global.u32 [%a], %i; st.global.u32 [%c], %i;\ndone: ret;\n}\n"
    ".visible .entry unknown" PROLOGUE
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%v,%v,%v,%v,%v,%v,%v,%v}, [%a]; ret;\n}\n";

static uint32_t input_data[ELEMENTS];

struct plan {
    struct run_argument arguments[8][4];
    struct run_launch launches[8];
    struct run_request request;
    struct run run;
};

static void plan_launches(struct plan *plan, const char *const *names)
{
    *plan = (struct plan){0};
    size_t count = 0;
    worker_process_use(testing_binary(), NULL);
    for (uint32_t i = 0; i < ELEMENTS; ++i)
        input_data[i] = i * 3 + 1;
    for (; names[count] != NULL; ++count) {
        struct run_argument *arguments = plan->arguments[count];
        ck_assert_uint_lt(count, COUNT_OF(plan->launches));
        arguments[0] = (struct run_argument){
            .role = RUN_INPUT, .data = input_data, .bytes = sizeof input_data, .name = "in"};
        arguments[1] =
            (struct run_argument){.role = RUN_OUTPUT, .bytes = sizeof input_data, .name = "out"};
        arguments[2] = (struct run_argument){
            .role = RUN_SCALAR, .scalar = ELEMENTS, .scalar_bytes = 4, .name = "n"};
        arguments[3] =
            (struct run_argument){.role = RUN_SCALAR, .scalar = 3, .scalar_bytes = 4, .name = "k"};
        plan->launches[count] = (struct run_launch){.kernel = names[count],
                                                    .symbol = names[count],
                                                    .grid = {4, 1, 1},
                                                    .block = {256, 1, 1},
                                                    .arguments = arguments,
                                                    .argument_count = 4};
    }
    plan->request = (struct run_request){.executor = EXECUTOR_EMULATOR,
                                         .module = module_text,
                                         .module_bytes = sizeof module_text - 1,
                                         .launches = plan->launches,
                                         .launch_count = count,
                                         .poison_seed = 3,
                                         .threads = 2,
                                         .launch_wall_ns = INT64_C(60000000000)};
}

static void go(struct plan *plan)
{
    struct error err = {0};
    ck_assert_msg(run_launches(&plan->run, &plan->request, &err) == 0, "%s", err.text);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void assert_copied(const struct run_launch_result *result)
{
    ck_assert_msg(result->status == RUN_FINISHED, "%s: %s", result->fault.kind, result->fault.text);
    ck_assert_mem_eq(result->outputs[0].data, input_data, sizeof input_data);
    ck_assert(!result->input_changed);
}

/* ---- Results ---------------------------------------------------------------------------------*/

START_TEST(a_copy_comes_back_with_its_traffic)
{
    struct plan plan;
    plan_launches(&plan, NAMES("copy"));
    go(&plan);
    const struct run_launch_result *result = &plan.run.launches[0];
    assert_copied(result);
    ck_assert_str_eq(plan.run.device, "PTX emulator, 2 threads");
    ck_assert_uint_eq(plan.run.device_cc, 0);
    ck_assert(result->traffic.global.known);
    ck_assert_uint_eq(result->traffic.global.load.requests, 32);
    ck_assert_uint_eq(result->traffic.global.load.sectors, ELEMENTS * 4 / 32);
    ck_assert_uint_eq(result->traffic.global.store.requests, 32);
    ck_assert(!result->traffic.spill.known);
    ck_assert_uint_eq(result->warps_launched, 32);
    ck_assert_int_eq(result->device_registers, -1);
    ck_assert_ptr_null(result->printed);
    run_release(&plan.run);
}
END_TEST

START_TEST(one_thread_is_spelled_so)
{
    struct plan plan;
    plan_launches(&plan, NAMES("copy"));
    plan.request.threads = 1;
    go(&plan);
    assert_copied(&plan.run.launches[0]);
    ck_assert_str_eq(plan.run.device, "PTX emulator, 1 thread");
    run_release(&plan.run);
}
END_TEST

START_TEST(unwritten_elements_hold_the_poison)
{
    struct plan plan;
    uint32_t words[ELEMENTS];
    plan_launches(&plan, NAMES("copy", "tail"));
    go(&plan);
    ck_assert_int_eq(plan.run.launches[1].status, RUN_FINISHED);
    memcpy(words, plan.run.launches[1].outputs[0].data, sizeof words);
    for (size_t i = 0; i < ELEMENTS; ++i)
        ck_assert_uint_eq(words[i], i < ELEMENTS - 3 ? input_data[i] : run_poison_word(3, 1));
    run_release(&plan.run);
}
END_TEST

START_TEST(a_spoilt_input_is_seen)
{
    struct plan plan;
    plan_launches(&plan, NAMES("spoils", "copy"));
    go(&plan);
    ck_assert_int_eq(plan.run.launches[0].status, RUN_FINISHED);
    ck_assert(plan.run.launches[0].input_changed);
    ck_assert_uint_eq(plan.run.launches[0].input_offset, 0);
    assert_copied(&plan.run.launches[1]); /* it got fresh ones */
    run_release(&plan.run);
}
END_TEST

START_TEST(a_variable_of_the_module_is_fresh_in_every_launch)
{
    struct plan plan;
    plan_launches(&plan, NAMES("counts", "counts"));
    go(&plan);
    for (size_t i = 0; i < 2; ++i) {
        uint32_t first = 0;
        ck_assert_msg(plan.run.launches[i].status == RUN_FINISHED, "%s",
                      plan.run.launches[i].fault.text);
        memcpy(&first, plan.run.launches[i].outputs[0].data, sizeof first);
        ck_assert_uint_eq(first, 1);
    }
    run_release(&plan.run);
}
END_TEST

/* ---- Faults ----------------------------------------------------------------------------------*/

static const struct {
    const char *kernel;
    enum run_status status;
    const char *kind, *text;
    uint64_t count;
} faults[] = {
    {"behind", RUN_FAULTED, "out of bounds", "in", 1},
    {"unguarded", RUN_FAULTED, "out of bounds", "out", 24},
    {"unknown", RUN_REFUSED, "not emulated", "wmma", 0},
    {"no_such_kernel", RUN_FAULTED, "launch refused", "no_such_kernel", 0},
};

START_TEST(a_fault_says_what_and_where)
{
    struct plan plan;
    plan_launches(&plan, NAMES(faults[_i].kernel, "copy"));
    go(&plan);
    const struct run_launch_result *result = &plan.run.launches[0];
    ck_assert_msg(result->status == faults[_i].status, "status %d: %s", (int)result->status,
                  result->fault.text);
    ck_assert_msg(strstr(result->fault.kind, faults[_i].kind) != NULL, "%s: %s", result->fault.kind,
                  result->fault.text);
    ck_assert_msg(strstr(result->fault.text, faults[_i].text) != NULL, "%s", result->fault.text);
    if (faults[_i].count > 0)
        ck_assert_uint_eq(result->fault.count, faults[_i].count);
    assert_copied(&plan.run.launches[1]);
    run_release(&plan.run);
}
END_TEST

START_TEST(an_endless_loop_is_stopped)
{
    struct plan plan;
    plan_launches(&plan, NAMES("spins", "copy", "spins"));
    plan.request.launch_wall_ns = 1500000000;
    go(&plan);
    ck_assert_msg(plan.run.launches[0].status == RUN_TIMED_OUT, "status %d: %s",
                  (int)plan.run.launches[0].status, plan.run.launches[0].fault.text);
    ck_assert_uint_gt(strlen(plan.run.launches[0].fault.text), 10);
    assert_copied(&plan.run.launches[1]);
    ck_assert_int_eq(plan.run.launches[2].status, RUN_TIMED_OUT);
    ck_assert_ptr_nonnull(strstr(plan.run.launches[2].fault.text, "not launched again"));
    run_release(&plan.run);
}
END_TEST

START_TEST(unreadable_ptx_is_no_fault_of_the_kernel)
{
    struct plan plan;
    plan_launches(&plan, NAMES("copy"));
    plan.request.module = "this is no PTX { at all";
    plan.request.module_bytes = 23;
    go(&plan);
    ck_assert_int_eq(plan.run.launches[0].status, RUN_REFUSED);
    ck_assert_ptr_nonnull(strstr(plan.run.launches[0].fault.text, "line 1"));
    run_release(&plan.run);
}
END_TEST

START_TEST(the_worker_is_no_command_for_people)
{
    struct process_result result = testing_spillway(NAMES("worker"), NULL);
    ck_assert_int_eq(result.exit_code, 2);
    ck_assert_ptr_nonnull(strstr(bytes_text(&result.error), "no command for people"));
    process_result_release(&result);
}
END_TEST

/* ---- What this machine has -------------------------------------------------------------------*/

START_TEST(the_survey_always_answers)
{
    struct gpu_survey survey;
    struct error err = {0};
    worker_process_use(testing_binary(), NULL);
    int64_t began = process_now_ns();
    ck_assert_msg(run_survey_gpus(&survey, &err) == 0, "%s", err.text);
    ck_assert((survey.device_count == 0) == (survey.why_none[0] != '\0'));
    if (access("/dev/nvidiactl", F_OK) != 0 && access("/dev/dxg", F_OK) != 0)
        ck_assert_int_lt(process_now_ns() - began, INT64_C(100000000)); /* nothing was started */
}
END_TEST

START_TEST(a_gpu_that_is_not_there_is_the_machines_trouble)
{
    struct gpu_survey survey;
    struct error err = {0};
    struct plan plan;
    plan_launches(&plan, NAMES("copy"));
    ck_assert_int_eq(run_survey_gpus(&survey, &err), 0);
    if (survey.device_count > 0)
        TEST_SKIP("there is a GPU");
    plan.request.executor = EXECUTOR_GPU;
    ck_assert_int_eq(run_launches(&plan.run, &plan.request, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, "GPU 0 cannot be used") != NULL, "%s", err.text);
}
END_TEST

Suite *suite_worker(void)
{
    Suite *suite = suite_create("worker");
    TCase *tests = tcase_create("worker");
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, a_copy_comes_back_with_its_traffic);
    tcase_add_test(tests, one_thread_is_spelled_so);
    tcase_add_test(tests, unwritten_elements_hold_the_poison);
    tcase_add_test(tests, a_spoilt_input_is_seen);
    tcase_add_test(tests, a_variable_of_the_module_is_fresh_in_every_launch);
    tcase_add_loop_test(tests, a_fault_says_what_and_where, 0, COUNT_OF(faults));
    tcase_add_test(tests, an_endless_loop_is_stopped);
    tcase_add_test(tests, unreadable_ptx_is_no_fault_of_the_kernel);
    tcase_add_test(tests, the_worker_is_no_command_for_people);
    tcase_add_test(tests, the_survey_always_answers);
    tcase_add_test(tests, a_gpu_that_is_not_there_is_the_machines_trouble);
    suite_add_tcase(suite, tests);
    return suite;
}

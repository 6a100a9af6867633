/* check_run.c - the grader's side of running kernels: workers that work, fault, hang, die and lie;
 * and the job's memory between the two. No executor is needed: see support_worker.h. */
#include "testing.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "caps.h"
#include "run.h"
#include "support_worker.h"
#include "worker_process.h"

#define ELEMENTS 1021
static float input_data[ELEMENTS];

/* ---- A request of a few launches -------------------------------------------------------------*/

struct plan {
    struct run_argument arguments[8][3];
    struct run_launch launches[8];
    struct run_request request;
};

/* Each launch has (input, output, u32): what it does is in its name. */
static void plan_launches(struct plan *plan, enum executor_kind executor, const char *const *names)
{
    *plan = (struct plan){0};
    for (int i = 0; i < ELEMENTS; ++i)
        input_data[i] = (float)i * 0.5f;
    size_t count = 0;
    for (; names[count] != NULL; ++count) {
        struct run_argument *arguments = plan->arguments[count];
        ck_assert_uint_lt(count, COUNT_OF(plan->launches));
        arguments[0] = (struct run_argument){
            .role = RUN_INPUT, .data = input_data, .bytes = sizeof input_data, .name = "in"};
        arguments[1] =
            (struct run_argument){.role = RUN_OUTPUT, .bytes = sizeof input_data, .name = "out"};
        arguments[2] = (struct run_argument){
            .role = RUN_SCALAR, .scalar = ELEMENTS, .scalar_bytes = 4, .name = "n"};
        plan->launches[count] = (struct run_launch){.kernel = names[count],
                                                    .symbol = names[count],
                                                    .grid = {4, 1, 1},
                                                    .block = {256, 1, 1},
                                                    .arguments = arguments,
                                                    .argument_count = 3};
    }
    plan->request = (struct run_request){.executor = executor,
                                         .module = "ptx",
                                         .module_bytes = 4,
                                         .launches = plan->launches,
                                         .launch_count = count,
                                         .launch_wall_ns = INT64_C(30000000000)};
}

static void run_plan(struct run *run, struct plan *plan)
{
    struct error err = {0};
    ck_assert_msg(run_launches(run, &plan->request, &err) == 0, "%s", err.text);
}

static void assert_copied(const struct run_launch_result *result)
{
    ck_assert_msg(result->status == RUN_FINISHED, "%s: %s", result->fault.kind, result->fault.text);
    ck_assert_uint_eq(result->output_count, 1);
    ck_assert_uint_eq(result->outputs[0].bytes, sizeof input_data);
    ck_assert_mem_eq(result->outputs[0].data, input_data, sizeof input_data);
    ck_assert(!result->outputs[0].scrub_differs);
    ck_assert(!result->input_changed);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- Workers that work -----------------------------------------------------------------------*/

START_TEST(outputs_come_back)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_EMULATOR, NAMES("copy", "copy"));
    run_plan(&run, &plan);
    ck_assert_uint_eq(run.launch_count, 2);
    ck_assert_str_eq(run.device, "Pretended device");
    ck_assert_uint_eq(run.device_cc, 75);
    for (size_t i = 0; i < 2; ++i) {
        assert_copied(&run.launches[i]);
        ck_assert_int_eq(run.launches[i].device_registers, 40);
        ck_assert_int_eq(run.launches[i].device_blocks_per_sm, 3);
        ck_assert(run.launches[i].traffic.global.known);
        ck_assert(!run.launches[i].traffic.local_array.known);
        ck_assert_uint_eq(run.launches[i].traffic.global.store.sectors, 40);
        ck_assert_uint_eq(run.launches[i].warps_launched, 8);
        ck_assert(!run.launches[i].time.known);
    }
    ck_assert_uint_eq(fake_shared->started, 1);
    ck_assert_int_gt(run.wall_ns, 0);
    run_release(&run);
    ck_assert_ptr_null(run.launches);
}
END_TEST

START_TEST(nothing_runs_without_an_executor)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_NONE, NAMES("copy"));
    run_plan(&run, &plan);
    ck_assert_uint_eq(run.launch_count, 1);
    ck_assert_int_eq(run.launches[0].status, RUN_NOT_RUN);
    ck_assert_int_eq(run.launches[0].device_registers, -1);
    ck_assert_uint_eq(fake_shared->started, 0);
    run_release(&run);
}
END_TEST

START_TEST(a_changed_input_is_seen)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_EMULATOR, NAMES("changes-input"));
    run_plan(&run, &plan);
    ck_assert_int_eq(run.launches[0].status, RUN_FINISHED);
    ck_assert(run.launches[0].input_changed);
    ck_assert_uint_eq(run.launches[0].input_index, 0);
    ck_assert_uint_eq(run.launches[0].input_offset, 5);
    run_release(&run);
}
END_TEST

START_TEST(two_launches_that_differ_are_seen)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_GPU, NAMES("differs", "copy"));
    run_plan(&run, &plan);
    ck_assert(run.launches[0].outputs[0].scrub_differs);
    ck_assert_uint_eq(run.launches[0].outputs[0].scrub_first, 9);
    assert_copied(&run.launches[1]);
    run_release(&run);
}
END_TEST

START_TEST(what_a_kernel_prints_is_kept_and_cleaned)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_EMULATOR, NAMES("prints", "copy", "floods"));
    run_plan(&run, &plan);
    ck_assert_ptr_nonnull(run.launches[0].printed);
    ck_assert_str_eq(run.launches[0].printed, "hello ?[2J\n?x");
    ck_assert_ptr_null(run.launches[1].printed);
    ck_assert_ptr_nonnull(run.launches[2].printed);
    ck_assert_uint_gt(strlen(run.launches[2].printed), LIMIT_KERNEL_PRINT_BYTES);
    ck_assert_uint_lt(strlen(run.launches[2].printed), LIMIT_KERNEL_PRINT_BYTES + 64);
    ck_assert_ptr_nonnull(strstr(run.launches[2].printed, "[cut"));
    assert_copied(&run.launches[2]);
    run_release(&run);
}
END_TEST

/* ---- Workers that do not ---------------------------------------------------------------------*/

static const struct {
    const char *name;
    enum run_status status;
    unsigned workers; /* started for: this launch, then a copy */
    const char *kind, *text;
} misbehaviours[] = {
    /* clang-format off */
    {"fault",           RUN_FAULTED, 1, "out of bounds", "bad ?[31mtext?  here"},
    {"fault-and-end",   RUN_FAULTED, 2, "trap",          "ended itself"},
    {"assert",          RUN_FAULTED, 2, "assertion",     "The device said: registers.cu:12: Assertion"},
    {"refused",         RUN_REFUSED, 1, "not emulated",  "line 8"},
    {"exit",            RUN_LOST,    3, "worker lost",   "ended with status 5: last words"},
    {"killed",          RUN_LOST,    3, "worker lost",   "signal 9"},
    {"killed-once",     RUN_FINISHED, 2, "",             ""},
    {"wrong-magic",     RUN_LOST,    3, "worker lost",   "is none of ours"},
    {"short",           RUN_LOST,    3, "worker lost",   "is none of ours"},
    {"long",            RUN_LOST,    3, "worker lost",   "wrong length"},
    {"empty",           RUN_LOST,    3, "worker lost",   "the worker"},
    {"other-sequence",  RUN_LOST,    3, "worker lost",   "another question"},
    {"other-launch",    RUN_LOST,    3, "worker lost",   "launch"},
    {"hello-again",     RUN_LOST,    3, "worker lost",   "not what was asked"},
    {"open-text",       RUN_LOST,    3, "worker lost",   "out of range"},
    {"odd-status",      RUN_LOST,    3, "worker lost",   "out of range"},
    /* clang-format on */
};

START_TEST(one_bad_launch_spoils_no_other)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_EMULATOR, NAMES(misbehaviours[_i].name, "copy"));
    run_plan(&run, &plan);
    const struct run_launch_result *result = &run.launches[0];
    ck_assert_msg(result->status == misbehaviours[_i].status, "%s: status %d, %s",
                  misbehaviours[_i].name, (int)result->status, result->fault.text);
    ck_assert_str_eq(result->fault.kind, misbehaviours[_i].kind);
    ck_assert_msg(strstr(result->fault.text, misbehaviours[_i].text) != NULL, "%s",
                  result->fault.text);
    if (result->status != RUN_FINISHED)
        for (size_t i = 0; i < result->output_count; ++i)
            ck_assert_ptr_null(result->outputs[i].data);
    assert_copied(&run.launches[1]);
    ck_assert_uint_eq(fake_shared->started, misbehaviours[_i].workers);
    run_release(&run);
}
END_TEST

START_TEST(a_hung_kernel_is_stopped_and_the_others_run)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_GPU, NAMES("hang", "copy", "hang", "hang-with-child", "copy"));
    plan.request.launch_wall_ns = 300000000;
    run_plan(&run, &plan);
    ck_assert_int_eq(run.launches[0].status, RUN_TIMED_OUT);
    ck_assert_ptr_nonnull(strstr(run.launches[0].fault.text, "had not finished"));
    assert_copied(&run.launches[1]);
    ck_assert_int_eq(run.launches[2].status, RUN_TIMED_OUT);
    ck_assert_ptr_nonnull(strstr(run.launches[2].fault.text, "not launched again"));
    ck_assert_int_eq(run.launches[3].status, RUN_TIMED_OUT);
    assert_copied(&run.launches[4]);
    ck_assert_uint_eq(fake_shared->runs, 4); /* the second hang was not tried */
    ck_assert_uint_eq(fake_shared->started, 3);
    run_release(&run);
}
END_TEST

static const struct {
    const char *name, *text;
    enum executor_kind executor;
} failures[] = {
    {"trouble", "the device fell off its bus", EXECUTOR_GPU},
    {"hello-trouble", "GPU 0 cannot be used: all GPUs are busy", EXECUTOR_GPU},
    {"no-hello", "ended with status 9", EXECUTOR_EMULATOR},
};

START_TEST(the_machines_trouble_is_an_error)
{
    struct plan plan;
    struct run run;
    struct error err = {0};
    fake_worker_install();
    plan_launches(&plan, failures[_i].executor, NAMES(failures[_i].name, "copy"));
    ck_assert_int_eq(run_launches(&run, &plan.request, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, failures[_i].text) != NULL, "%s", err.text);
    ck_assert_ptr_null(run.launches);
    ck_assert_uint_eq(run.launch_count, 0);
}
END_TEST

START_TEST(a_program_that_is_not_there_is_an_error)
{
    struct plan plan;
    struct run run;
    struct error err = {0};
    worker_process_use("/nonexistent/spillway", NULL);
    plan_launches(&plan, EXECUTOR_EMULATOR, NAMES("copy"));
    ck_assert_int_eq(run_launches(&run, &plan.request, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, "No such file") != NULL, "%s", err.text);
}
END_TEST

START_TEST(too_large_requests_are_an_error)
{
    struct plan plan;
    struct run run;
    struct error err = {0};
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_EMULATOR, NAMES("copy"));
    plan.arguments[0][1].bytes = (size_t)3 << 30;
    ck_assert_int_eq(run_launches(&run, &plan.request, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_ptr_nonnull(strstr(err.text, "2 GiB"));
    ck_assert_uint_eq(fake_shared->started, 0);
}
END_TEST

static bool process_gone(pid_t pid)
{
    for (int i = 0; i < 200; ++i) {
        if (kill(pid, 0) != 0)
            return true;
        (void)usleep(10000);
    }
    return false;
}

START_TEST(an_interrupt_ends_the_run_and_its_worker)
{
    struct plan plan;
    struct run run;
    struct error err = {0};
    fake_worker_install();
    process_catch_interrupts();
    plan_launches(&plan, EXECUTOR_EMULATOR, NAMES("copy", "hang"));
    pid_t self = getpid();
    pid_t helper = fork();
    if (helper == 0) {
        while (fake_shared->runs < 2)
            (void)usleep(2000);
        (void)kill(self, SIGINT);
        _exit(0);
    }
    ck_assert_int_gt(helper, 0);
    int64_t began = process_now_ns();
    ck_assert_int_eq(run_launches(&run, &plan.request, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INTERRUPTED);
    ck_assert_int_lt(process_now_ns() - began, INT64_C(20000000000));
    ck_assert_ptr_null(run.launches);
    ck_assert(process_gone(fake_shared->last_pid));
    (void)waitpid(helper, NULL, 0);
}
END_TEST

/* ---- The electric fence ----------------------------------------------------------------------*/

START_TEST(the_fence_names_the_buffer)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_GPU,
                  NAMES("past-second", "aligned", "guard-changed", "copy", "fence-hang"));
    plan.request.launch_wall_ns = 1000000000;
    run_plan(&run, &plan);
    ck_assert_int_eq(run.launches[0].status, RUN_FAULTED);
    ck_assert_str_eq(run.launches[0].fault.kind, "out of bounds");
    ck_assert_ptr_nonnull(
        strstr(run.launches[0].fault.text, "behind the end of the buffer \"out\""));
    ck_assert_ptr_null(run.launches[0].outputs[0].data);
    assert_copied(&run.launches[1]);
    ck_assert_int_eq(run.launches[2].status, RUN_FAULTED);
    ck_assert_ptr_nonnull(strstr(run.launches[2].fault.text, "the byte at its end + 3"));
    assert_copied(&run.launches[3]);
    ck_assert_int_eq(run.launches[4].status, RUN_TIMED_OUT);
    run_release(&run);
}
END_TEST

/* ---- Timing ----------------------------------------------------------------------------------*/

START_TEST(times_are_taken_in_groups)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(
        &plan, EXECUTOR_GPU,
        NAMES("copy", "slow", "cached", "fault-timed", "hang-timed", "odd-times", "copy"));
    for (size_t i = 0; i < 6; ++i)
        plan.launches[i].timing_group = 4;
    plan.request.timing_rounds = 31;
    plan.request.launch_wall_ns = 500000000;
    run_plan(&run, &plan);
    ck_assert(run.launches[0].time.known);
    ck_assert_uint_eq(run.launches[0].time.rounds, 31);
    ck_assert_double_eq_tol(run.launches[0].time.median_ns, 1015, 0.01);
    ck_assert_double_eq_tol(run.launches[1].time.median_ns, 2015, 0.01);
    ck_assert_double_eq_tol(run.launches[1].time.q1_ns, 2007.5, 0.01);
    ck_assert_double_eq_tol(run.launches[1].time.q3_ns, 2022.5, 0.01);
    ck_assert_double_eq_tol(run.launches[1].time.samples_ns[30], 2030, 0.01);
    ck_assert_double_eq_tol(run.launches[1].time.empty_ns, 900, 0.01);
    ck_assert(!run.launches[1].later_launch_differs);
    ck_assert(run.launches[2].later_launch_differs);
    ck_assert_int_eq(run.launches[3].status, RUN_FAULTED);
    ck_assert_int_eq(run.launches[4].status, RUN_TIMED_OUT);
    ck_assert_ptr_nonnull(strstr(run.launches[4].fault.text, "again to time it"));
    ck_assert_int_eq(run.launches[5].status, RUN_FINISHED);
    ck_assert(!run.launches[5].time.known); /* a time below zero is none */
    ck_assert(!run.launches[6].time.known);
    ck_assert_uint_eq(fake_shared->times, 3);
    run_release(&run);
}
END_TEST

START_TEST(endless_progress_ends)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    plan_launches(&plan, EXECUTOR_GPU, NAMES("progress-for-ever"));
    plan.launches[0].timing_group = 1;
    plan.request.timing_rounds = 31;
    run_plan(&run, &plan);
    assert_copied(&run.launches[0]);
    ck_assert(!run.launches[0].time.known);
    run_release(&run);
}
END_TEST

/* ---- The process -----------------------------------------------------------------------------*/

/* A script in the worker's place says what it was given. */
START_TEST(the_worker_inherits_nothing_else)
{
    char path[4096];
    static const char script[] = "#!/bin/sh\n"
                                 "echo \"arguments: $*\" >&2\n"
                                 "for fd in /proc/$$/fd/*; do echo \"open: ${fd##*/}\" >&2; done\n"
                                 "env >&2\n"
                                 "echo \"stdin: $(readlink /proc/$$/fd/0)\" >&2\n"
                                 "echo \"core: $(ulimit -c)\" >&2\n"
                                 "echo \"group: $(ps -o pgid= -p $$ 2>/dev/null || echo ?)\" >&2\n";
    (void)snprintf(path, sizeof path, "%s/worker.sh", testing_temporary_folder());
    testing_write(path, script, sizeof script - 1);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_int_eq(setenv("SECRET_OF_THE_GRADER", "x", 1), 0);
    ck_assert_int_eq(setenv("CUDA_VISIBLE_DEVICES", "0", 1), 0);
    int stray = fcntl(STDIN_FILENO, F_DUPFD, 40); /* a library that forgot O_CLOEXEC */
    ck_assert_int_ge(stray, 40);
    worker_process_use(path, NULL);
    struct plan plan;
    struct job job;
    struct error err = {0};
    struct worker worker;
    struct job_record record;
    size_t length = 0;
    plan_launches(&plan, EXECUTOR_EMULATOR, NAMES("copy"));
    ck_assert_int_eq(job_create(&job, &plan.request, &err), 0);
    const struct worker_spec spec = {.job = &job};
    ck_assert_msg(worker_start(&worker, &spec, &err) == 0, "%s", err.text);
    pid_t pid = worker.pid;
    ck_assert_int_eq(getpgid(pid), pid);
    ck_assert_int_eq(
        worker_wait(&worker, process_now_ns() + INT64_C(20000000000), &record, &length),
        WORKER_GONE);
    worker_end(&worker);
    const char *said = bytes_text(&worker.said);
    ck_assert_ptr_nonnull(strstr(said, "arguments: worker\n"));
    ck_assert_ptr_nonnull(strstr(said, "stdin: /dev/null\n"));
    ck_assert_ptr_nonnull(strstr(said, "core: 0\n"));
    ck_assert_ptr_nonnull(strstr(said, "CUDA_VISIBLE_DEVICES=0\n"));
    ck_assert_ptr_null(strstr(said, "SECRET_OF_THE_GRADER"));
    ck_assert_ptr_nonnull(strstr(said, "open: 3\n"));
    ck_assert_ptr_nonnull(strstr(said, "open: 4\n"));
    ck_assert_ptr_nonnull(strstr(said, "open: 5\n"));
    for (int fd = 7; fd < 64; ++fd) { /* 6 is the folder that the shell is listing */
        char open_fd[32];
        (void)snprintf(open_fd, sizeof open_fd, "open: %d\n", fd);
        if (fd != 10 && fd != 255) /* where shells keep their script */
            ck_assert_msg(strstr(said, open_fd) == NULL, "descriptor %d: %s", fd, said);
    }
    worker_release(&worker);
    job_release(&job);
    (void)close(stray);
}
END_TEST

/* ---- The job's memory ------------------------------------------------------------------------*/

static const struct run_argument many_arguments[] = {
    {.role = RUN_INPUT, .data = input_data, .bytes = 403, .name = "a"},
    {.role = RUN_SCALAR, .scalar = 0x0123456789abcdef, .scalar_bytes = 8, .name = "b"},
    {.role = RUN_INPUT, .data = input_data, .bytes = 0, .name = "c"},
    {.role = RUN_OUTPUT, .bytes = 77, .name = NULL},
    {.role = RUN_INPUT, .data = input_data, .bytes = 403, .name = "again"},
};

static void create_many(struct job *job)
{
    struct error err = {0};
    struct run_launch launches[3];
    for (size_t i = 0; i < COUNT_OF(launches); ++i)
        launches[i] = (struct run_launch){.kernel = "kernel",
                                          .symbol = "_Z6kernelv",
                                          .grid = {7, 2, 3},
                                          .block = {32, 4, 1},
                                          .shared_bytes = 11,
                                          .timing_group = (unsigned)i,
                                          .frame_bytes = i == 0 ? -1 : 256,
                                          .arguments = many_arguments,
                                          .argument_count = COUNT_OF(many_arguments)};
    const struct run_request request = {.executor = EXECUTOR_GPU,
                                        .module = "module",
                                        .module_bytes = 6,
                                        .scrub_module = "scrub",
                                        .scrub_module_bytes = 5,
                                        .launches = launches,
                                        .launch_count = COUNT_OF(launches),
                                        .poison_seed = 99,
                                        .device = 3};
    for (int i = 0; i < ELEMENTS; ++i)
        input_data[i] = (float)i;
    ck_assert_msg(job_create(job, &request, &err) == 0, "%s", err.text);
}

START_TEST(a_job_arrives_as_it_was_sent)
{
    struct job sent, got;
    struct error err = {0};
    create_many(&sent);
    ck_assert_msg(job_open(&got, dup(sent.job_fd), dup(sent.result_fd), &err) == 0, "%s", err.text);
    ck_assert_uint_eq(got.header->launch_count, 3);
    ck_assert_uint_eq(got.header->device, 3);
    ck_assert_uint_eq(got.header->wall_ns, (uint64_t)LIMIT_LAUNCH_SECONDS * 1000000000);
    ck_assert_mem_eq(job_text(&got, got.header->module), "module", 6);
    ck_assert_mem_eq(job_text(&got, got.header->scrub_module), "scrub", 5);
    const struct job_launch *launch = &got.launches[2];
    const struct job_argument *arguments = job_launch_arguments(&got, launch);
    ck_assert_str_eq(job_text(&got, launch->symbol), "_Z6kernelv");
    ck_assert_uint_eq(launch->grid[2], 3);
    ck_assert_uint_eq(launch->frame_bytes, 256);
    ck_assert_uint_eq(got.launches[0].frame_bytes, 0);
    ck_assert_uint_eq(arguments[1].scalar, 0x0123456789abcdef);
    ck_assert_str_eq(job_text(&got, arguments[3].name), "");
    ck_assert_mem_eq(got.base + arguments[0].data.offset, input_data, 403);
    /* Equal inputs are stored once; what happens to them is kept apart. */
    ck_assert_uint_eq(arguments[0].data.offset, arguments[4].data.offset);
    ck_assert_uint_ne(arguments[0].first, arguments[4].first);
    ck_assert_uint_ge(arguments[3].second, arguments[3].first + 77);
    job_release(&got);
    job_release(&sent);
}
END_TEST

static void *keep_forking(void *stop)
{
    while (!__atomic_load_n((const bool *)stop, __ATOMIC_RELAXED)) {
        const char *const argv[] = {"/bin/true", NULL};
        struct process_result result;
        struct error err = {0};
        if (process_run(&result, &(struct process_spec){.argv = argv}, &err) == 0)
            process_result_release(&result);
    }
    return NULL;
}

/* A child between fork and exec still maps whatever its parent had mapped for writing. */
START_TEST(jobs_are_sealed_while_other_threads_fork)
{
    bool stop = false;
    pthread_t threads[2];
    for (size_t i = 0; i < COUNT_OF(threads); ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, keep_forking, &stop), 0);
    for (int round = 0; round < 300; ++round) {
        struct job job;
        create_many(&job);
        job_release(&job);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < COUNT_OF(threads); ++i)
        (void)pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(a_sealed_job_cannot_change)
{
    struct job job;
    create_many(&job);
    ck_assert_int_lt(pwrite(job.job_fd, "x", 1, 0), 0);
    ck_assert_int_ne(ftruncate(job.job_fd, 10), 0);
    ck_assert_int_ne(ftruncate(job.result_fd, 10), 0);
    ck_assert_int_eq(pwrite(job.result_fd, "x", 1, 0), 1);
    ck_assert_ptr_eq(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, job.job_fd, 0),
                     MAP_FAILED);
    job_release(&job);
}
END_TEST

/* Opens a copy of the job with some bytes changed; sums all that it points to, so that a place
 * outside would be met by the sanitizer or end in a signal. */
static bool open_changed(const struct job *original, size_t at, const void *bytes, size_t count)
{
    uint64_t total = original->header->total_bytes;
    struct error err = {0};
    int fd = memfd_create("changed", MFD_ALLOW_SEALING);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, original->base, total), (ssize_t)total);
    ck_assert_int_eq(pwrite(fd, bytes, count, (off_t)at), (ssize_t)count);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, JOB_SEALS), 0);
    struct job job;
    if (job_open(&job, fd, dup(original->result_fd), &err) != 0) {
        ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
        return false;
    }
    unsigned long sum = 0;
    for (size_t i = 0; i < job.header->launch_count; ++i) {
        const struct job_launch *launch = &job.launches[i];
        const struct job_argument *arguments = job_launch_arguments(&job, launch);
        sum += strlen(job_text(&job, launch->kernel)) + strlen(job_text(&job, launch->symbol));
        for (size_t k = 0; k < launch->argument_count; ++k) {
            sum += strlen(job_text(&job, arguments[k].name));
            for (size_t b = 0; arguments[k].role == RUN_INPUT && b < arguments[k].data.bytes; ++b)
                sum += job.base[arguments[k].data.offset + b];
            if (arguments[k].role != RUN_SCALAR && arguments[k].bytes > 0)
                sum += job.results[arguments[k].first + arguments[k].bytes - 1];
        }
    }
    job_release(&job);
    ck_assert_uint_lt(sum, ULONG_MAX); /* or the loops above would be optimised away */
    return true;
}

START_TEST(a_job_that_points_outside_is_refused)
{
    struct job job;
    create_many(&job);
    ck_assert(open_changed(&job, 0, job.base, 8)); /* unchanged: fine */
    static const uint64_t values[] = {0,          1,          63,        0x7fffffff,
                                      0xffffffff, UINT64_MAX, INT64_MAX, (uint64_t)1 << 40};
    size_t refused = 0, tried = 0;
    size_t tables = job.header->arguments.offset + job.header->arguments.bytes;
    /* Every word of the header and the tables, with every value. */
    for (size_t at = 0; at + 8 <= tables; at += 4)
        for (size_t v = 0; v < COUNT_OF(values); ++v, ++tried)
            refused += !open_changed(&job, at, &values[v], v % 2 == 0 ? 8 : 4);
    ck_assert_uint_gt(refused, tried / 4);
    job_release(&job);
}
END_TEST

/* ---- Records ---------------------------------------------------------------------------------*/

static struct job_record valid_record(enum job_record_kind kind)
{
    struct job_record record = {.magic = JOB_MAGIC,
                                .version = JOB_VERSION,
                                .sequence = kind == JOB_HELLO ? 0 : 5,
                                .kind = kind,
                                .launch = 2,
                                .payload_bytes = (uint32_t)job_payload_bytes(kind)};
    if (kind == JOB_FAULT)
        record.fault.fault.status = RUN_FAULTED;
    if (kind == JOB_TIMED)
        record.timed.count = 1;
    return record;
}

static const struct {
    enum job_record_kind kind;
    uint32_t task;
} answers[] = {{JOB_HELLO, 0},
               {JOB_RAN, JOB_RUN},
               {JOB_FAULT, JOB_RUN},
               {JOB_FENCED, JOB_FENCE},
               {JOB_PROGRESS, JOB_TIME},
               {JOB_TIMED, JOB_TIME},
               {JOB_SURVEYED, JOB_SURVEY},
               {JOB_TROUBLE, JOB_RUN}};

static bool is_valid(const struct job_record *record, size_t length, uint32_t task_kind)
{
    const struct job_task task = {
        .sequence = 5, .kind = task_kind, .launch = 2, .timed_count = 1, .timed = {2}};
    const struct job_expectation expected = {.sequence = task_kind == 0 ? 0 : 5,
                                             .task = task_kind == 0 ? NULL : &task,
                                             .launch_count = 4};
    const char *why = NULL;
    bool valid = job_record_valid(record, length, &expected, &why);
    ck_assert(valid == (why == NULL));
    return valid;
}

START_TEST(only_the_asked_for_record_is_taken)
{
    struct job_record record = valid_record(answers[_i].kind);
    size_t length = JOB_RECORD_HEAD_BYTES + record.payload_bytes;
    uint32_t task = answers[_i].task;
    ck_assert(is_valid(&record, length, task));
    ck_assert(!is_valid(&record, length - 1, task));
    ck_assert(!is_valid(&record, length + 1, task));
    ck_assert(!is_valid(&record, 0, task));
    ck_assert(!is_valid(&record, JOB_RECORD_HEAD_BYTES - 1, task));
    for (uint32_t other = 0; other <= JOB_SURVEY; ++other)
        if (other != task && answers[_i].kind != JOB_TROUBLE &&
            !(answers[_i].kind == JOB_FAULT && other >= JOB_RUN && other <= JOB_TIME))
            ck_assert_msg(!is_valid(&record, length, other), "kind %d for task %u",
                          (int)answers[_i].kind, other);
}
END_TEST

/* Random bytes in random places: whatever is taken must keep its promises. */
START_TEST(mutilated_records_do_no_harm)
{
    uint64_t state = 88172645463325252u + (uint64_t)_i;
    unsigned taken = 0;
    for (int round = 0; round < 60000; ++round) {
        struct job_record record = valid_record(answers[_i].kind);
        unsigned char *bytes = (unsigned char *)&record;
        size_t length = JOB_RECORD_HEAD_BYTES + record.payload_bytes;
        for (int k = 0; k < 1 + round % 5; ++k) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            size_t at = round % 2 == 0 ? state % 64 : state % length;
            bytes[at] = (unsigned char)(state >> 40);
        }
        if (!is_valid(&record, length, answers[_i].task))
            continue;
        ++taken;
        ck_assert_uint_eq(record.payload_bytes, job_payload_bytes(record.kind));
        if (record.kind == JOB_FAULT) {
            ck_assert_uint_lt(strlen(record.fault.fault.text), sizeof record.fault.fault.text);
            ck_assert_uint_lt(strlen(record.fault.fault.kind), sizeof record.fault.fault.kind);
        }
        if (record.kind == JOB_TIMED)
            ck_assert_uint_le(record.timed.rounds, JOB_SAMPLES_MAX);
        if (record.kind == JOB_SURVEYED)
            ck_assert_uint_le(record.surveyed.device_count, JOB_GPUS_MAX);
    }
    ck_assert_uint_gt(taken, 0);
}
END_TEST

START_TEST(tasks_must_fit_the_job)
{
    struct job job;
    create_many(&job);
    const struct job_task good = {.magic = JOB_MAGIC,
                                  .version = JOB_VERSION,
                                  .kind = JOB_FENCE,
                                  .launch = 2,
                                  .fence_alignment = 16};
    ck_assert(job_task_valid(&good, sizeof good, &job));
    const struct job_task bad[] = {
        {.magic = 1, .version = JOB_VERSION, .kind = JOB_RUN},
        {.magic = JOB_MAGIC, .version = 9, .kind = JOB_RUN},
        {.magic = JOB_MAGIC, .version = JOB_VERSION, .kind = JOB_RUN, .launch = 3},
        {.magic = JOB_MAGIC, .version = JOB_VERSION, .kind = 99},
        {.magic = JOB_MAGIC, .version = JOB_VERSION, .kind = JOB_FENCE, .fence_alignment = 3},
        {.magic = JOB_MAGIC, .version = JOB_VERSION, .kind = JOB_FENCE, .fence_alignment = 0},
        {.magic = JOB_MAGIC, .version = JOB_VERSION, .kind = JOB_TIME, .timed_count = 0},
        {.magic = JOB_MAGIC, .version = JOB_VERSION, .kind = JOB_TIME, .timed_count = 17},
        /* launch 0 is in no timing group: it has no place for samples */
        {.magic = JOB_MAGIC, .version = JOB_VERSION, .kind = JOB_TIME, .timed_count = 1},
    };
    for (size_t i = 0; i < COUNT_OF(bad); ++i)
        ck_assert_msg(!job_task_valid(&bad[i], sizeof bad[i], &job), "row %zu", i);
    ck_assert(!job_task_valid(&good, sizeof good - 1, &job));
    ck_assert(!job_task_valid(&good, sizeof good, NULL));
    job_release(&job);
}
END_TEST

/* ---- Poison ----------------------------------------------------------------------------------*/

START_TEST(poison_is_a_nan_that_no_arithmetic_makes)
{
    uint32_t last = 0;
    for (size_t launch = 0; launch < 3000; ++launch) {
        uint32_t word = run_poison_word(17, launch);
        uint64_t twice = (uint64_t)word << 32 | word;
        float single = 0;
        double wide = 0;
        memcpy(&single, &word, sizeof single);
        memcpy(&wide, &twice, sizeof wide);
        ck_assert(single != single);
        ck_assert(wide != wide);
        ck_assert_uint_ne(word, 0x7fffffff);
        ck_assert_uint_eq(word, run_poison_word(17, launch));
        ck_assert_uint_ne(word, last);
        last = word;
    }
    ck_assert_uint_ne(run_poison_word(17, 0), run_poison_word(18, 0));
}
END_TEST

/* ---- A worker that lives on from run to run --------------------------------------------------*/

static struct run_lane *lane;

static void run_on_lane(const char *name, int device)
{
    struct plan plan;
    struct run run;
    plan_launches(&plan, EXECUTOR_GPU, NAMES(name));
    for (int i = 0; i < ELEMENTS; ++i) /* other inputs for each */
        input_data[i] += (float)fake_shared->started + (float)(fake_shared->nexts * 7);
    plan.request.lane = lane;
    plan.request.device = device;
    if (strcmp(name, "hang") == 0)
        plan.request.launch_wall_ns = INT64_C(300000000);
    run_plan(&run, &plan);
    ck_assert_str_eq(run.device, "Pretended device");
    if (strncmp(name, "copy", 4) == 0)
        assert_copied(&run.launches[0]);
    run_release(&run);
}

/* Runs one after another, and how many workers and handed-over jobs they take. */
static const struct {
    const char *runs[5];
    int devices[5];
    unsigned started, nexts;
} lanes[] = {
    {{"copy", "copy", "copy"}, {0}, 1, 2},
    {{"copy"}, {0}, 1, 0},
    {{"copy", "fault", "copy"}, {0}, 1, 2},                 /* one that the worker survives */
    {{"copy", "fault-and-end", "copy", "copy"}, {0}, 2, 2}, /* a dead context */
    {{"copy", "hang", "copy"}, {0}, 2, 1},
    {{"copy", "exit", "copy"}, {0}, 3, 1}, /* tried twice */
    {{"copy", "copy-not-next", "copy"}, {0}, 2, 2},
    {{"copy", "copy-next-trouble", "copy"}, {0}, 2, 2},
    {{"copy", "copy", "copy"}, {0, 1, 1}, 2, 1},
};

START_TEST(a_lane_keeps_its_worker)
{
    fake_worker_install();
    lane = run_lane_open();
    ck_assert_ptr_nonnull(lane);
    for (size_t i = 0; i < COUNT_OF(lanes[_i].runs) && lanes[_i].runs[i] != NULL; ++i) {
        run_on_lane(lanes[_i].runs[i], lanes[_i].devices[i]);
    }
    ck_assert_uint_eq(fake_shared->started, lanes[_i].started);
    ck_assert_uint_eq(fake_shared->nexts, lanes[_i].nexts);
    pid_t last = fake_shared->last_pid;
    run_lane_close(lane);
    ck_assert_int_ne(kill(last, 0), 0); /* nobody is left */
}
END_TEST

START_TEST(the_emulator_has_no_lane)
{
    struct plan plan;
    struct run run;
    fake_worker_install();
    lane = run_lane_open();
    for (unsigned i = 1; i <= 3; ++i) {
        plan_launches(&plan, EXECUTOR_EMULATOR, NAMES("copy"));
        plan.request.lane = lane;
        run_plan(&run, &plan);
        assert_copied(&run.launches[0]);
        ck_assert_uint_eq(fake_shared->started, i);
        run_release(&run);
    }
    run_lane_close(lane);
}
END_TEST

START_TEST(a_lane_does_not_serve_for_ever)
{
    fake_worker_install();
    lane = run_lane_open();
    for (unsigned i = 0; i < 450; ++i)
        run_on_lane("copy", 0);
    ck_assert_uint_eq(fake_shared->started, 3);
    run_lane_close(lane);
    run_lane_close(NULL);
}
END_TEST

Suite *suite_run(void)
{
    Suite *suite = suite_create("run");
    TCase *workers = tcase_create("workers");
    tcase_set_timeout(workers, 120);
    tcase_add_test(workers, outputs_come_back);
    tcase_add_test(workers, nothing_runs_without_an_executor);
    tcase_add_test(workers, a_changed_input_is_seen);
    tcase_add_test(workers, two_launches_that_differ_are_seen);
    tcase_add_test(workers, what_a_kernel_prints_is_kept_and_cleaned);
    tcase_add_loop_test(workers, one_bad_launch_spoils_no_other, 0, COUNT_OF(misbehaviours));
    tcase_add_test(workers, a_hung_kernel_is_stopped_and_the_others_run);
    tcase_add_loop_test(workers, the_machines_trouble_is_an_error, 0, COUNT_OF(failures));
    tcase_add_test(workers, a_program_that_is_not_there_is_an_error);
    tcase_add_test(workers, too_large_requests_are_an_error);
    tcase_add_test(workers, an_interrupt_ends_the_run_and_its_worker);
    tcase_add_test(workers, the_fence_names_the_buffer);
    tcase_add_test(workers, times_are_taken_in_groups);
    tcase_add_test(workers, endless_progress_ends);
    tcase_add_test(workers, the_worker_inherits_nothing_else);
    TCase *living = tcase_create("lanes");
    tcase_set_timeout(living, 120);
    tcase_add_loop_test(living, a_lane_keeps_its_worker, 0, (int)COUNT_OF(lanes));
    tcase_add_test(living, the_emulator_has_no_lane);
    tcase_add_test(living, a_lane_does_not_serve_for_ever);
    suite_add_tcase(suite, living);
    suite_add_tcase(suite, workers);
    TCase *memory = tcase_create("memory");
    tcase_set_timeout(memory, 120);
    tcase_add_test(memory, a_job_arrives_as_it_was_sent);
    tcase_add_test(memory, jobs_are_sealed_while_other_threads_fork);
    tcase_add_test(memory, a_sealed_job_cannot_change);
    tcase_add_test(memory, a_job_that_points_outside_is_refused);
    tcase_add_loop_test(memory, only_the_asked_for_record_is_taken, 0, COUNT_OF(answers));
    tcase_add_loop_test(memory, mutilated_records_do_no_harm, 0, COUNT_OF(answers));
    tcase_add_test(memory, tasks_must_fit_the_job);
    tcase_add_test(memory, poison_is_a_nan_that_no_arithmetic_makes);
    suite_add_tcase(suite, memory);
    return suite;
}

/* run.c - theory of operation.
 *
 * The grader never runs a kernel. It lays the job out in shared memory (job.c), keeps one worker
 * process at a time (run_session.c), and asks it for one thing after another:
 *
 *   JOB_RUN    each launch once; on a GPU twice, over two kinds of leftovers in local and shared
 *              memory. The outputs of the first go to the caller. A kernel that faults takes its
 *              worker with it; one that hangs is killed; the next launch gets a fresh worker.
 *   JOB_FENCE  on a GPU, each launch that finished again, every buffer ended exactly at unmapped
 *              memory, then every buffer begun there: one element too far is then a fault. When it
 *              faults, single buffers are tried to find out which.
 *   JOB_TIME   on a GPU, the launches of a timing group in turns. Who faults or hangs there is
 *              taken out and the rest timed again.
 *
 * What a kernel does becomes its launch's result. What the machine does ends the run with an
 * error. A worker that dies without a word gets a second try before its launch counts as lost.
 *
 * Fresh inputs of timed launches. A kernel could keep its answer from the first launch in a
 * variable of the module and hand it out afterwards, quickly. So the worker rotates each input
 * buffer by a few places (values that are indices stay in range so), learns the right answer for
 * each rotation from an untimed launch in a freshly loaded module, and compares every timed output
 * with it. The reference need not run again, and an answer that was kept is a wrong one. */
#include "run.h"

#include "caps.h"
#include "mix.h"
#include "process.h"
#include "run_result.h"
#include "run_session.h"

#define TRIES 2

const char *executor_word(enum executor_kind kind)
{
    static const char *const words[] = {
        [EXECUTOR_NONE] = "none", [EXECUTOR_GPU] = "gpu", [EXECUTOR_EMULATOR] = "emulator"};
    return words[kind];
}

uint32_t run_poison_word(uint64_t poison_seed, size_t launch)
{
    uint64_t z = mix64_at(poison_seed, launch);
    /* 0x7fff as the upper half is a quiet NaN in every format; 0x7fffffff is the NaN that the
     * hardware computes, so that one is left out. */
    uint32_t low = (uint32_t)(z % 0xffff);
    return UINT32_C(0x7fff0000) | low;
}

static int64_t wall_seconds(const struct session *session)
{
    int64_t seconds = (int64_t)(session->job.header->wall_ns / 1000000000);
    return seconds > 0 ? seconds : 1;
}

static void set_hung(const struct session *session, struct run_launch_result *result,
                     const char *when)
{
    run_result_set_fault(result, RUN_TIMED_OUT, "time out",
                         "the kernel%s had not finished after %lld s and was stopped. A loop that "
                         "never ends does this, or a barrier that not every thread of the block "
                         "reaches.",
                         when, (long long)wall_seconds(session));
}

static void set_lost(const struct session *session, struct run_launch_result *result)
{
    run_result_set_fault(result, RUN_LOST, "worker lost",
                         "the kernel could not be run: %s. It was tried twice. This is no fault of "
                         "the kernel that we can name.",
                         session->reason);
}

/* Asks; a worker that dies without a word is replaced and asked once more. */
static enum session_end ask(struct session *session, struct job_task *task,
                            struct job_record *answer, struct error *err)
{
    enum session_end end = SESSION_DIED;
    for (int attempt = 0; attempt < TRIES && end == SESSION_DIED; ++attempt)
        end = session_ask(session, task, answer, err);
    return end;
}

/* ---- The launches that are compared ----------------------------------------------------------*/

/* After one hang, another launch of the same kernel would cost the same wall clock again for the
 * same answer. */
static bool hung_before(struct session *session, const struct run *run, size_t launch)
{
    const char *symbol = session->request->launches[launch].symbol;
    for (size_t i = 0; i < launch; ++i)
        if (run->launches[i].status == RUN_TIMED_OUT && symbol != NULL &&
            session->request->launches[i].symbol != NULL &&
            strcmp(session->request->launches[i].symbol, symbol) == 0)
            return true;
    return false;
}

static int run_one(struct session *session, struct run *run, size_t launch, struct error *err)
{
    struct run_launch_result *result = &run->launches[launch];
    struct job_task task = {.kind = JOB_RUN, .launch = (uint32_t)launch};
    struct job_record answer;
    if (hung_before(session, run, launch)) {
        run_result_set_fault(result, RUN_TIMED_OUT, RUN_NOT_LAUNCHED_AGAIN,
                             "the kernel was not launched again: an earlier launch of it had not "
                             "finished after %lld s.",
                             (long long)wall_seconds(session));
        return 0;
    }
    switch (ask(session, &task, &answer, err)) {
    case SESSION_FAILED:
        return -1;
    case SESSION_HUNG:
        set_hung(session, result, "");
        break;
    case SESSION_DIED:
        set_lost(session, result);
        break;
    case SESSION_ANSWERED:
        if (answer.kind == JOB_RAN &&
            run_result_take_ran(result, &session->job, launch, &answer.ran, err) != 0)
            return -1;
        if (answer.kind == JOB_FAULT)
            run_result_take_fault(result, &answer.fault);
        if (answer.kind == JOB_FAULT && answer.fault.ends_worker)
            session_retire(session);
        break;
    }
    run_result_take_printed(result, &session->worker);
    if (strcmp(result->fault.kind, "assertion") == 0)
        run_result_add_words(result, &session->worker);
    return 0;
}

/* ---- The electric fence ----------------------------------------------------------------------*/

struct fence {
    size_t launch;
    uint32_t mask; /* of the buffers */
    enum job_fence_side side;
};

/* One fenced launch. A kernel that needs its buffers aligned (float4 loads) faults when one starts
 * at an odd place: then the fence moves away by a few bytes, and those are watched. */
static enum session_end ask_fence(struct session *session, const struct fence *fence,
                                  struct job_record *answer, struct error *err)
{
    static const uint32_t alignments[] = {1, 16, 256};
    enum session_end end = SESSION_ANSWERED;
    for (size_t i = 0; i < COUNT_OF(alignments); ++i) {
        struct job_task task = {.kind = JOB_FENCE,
                                .launch = (uint32_t)fence->launch,
                                .fence_side = fence->side,
                                .fence_alignment = alignments[i],
                                .fenced = fence->mask};
        end = ask(session, &task, answer, err);
        if (end != SESSION_ANSWERED || answer->kind != JOB_FAULT)
            break;
        if (answer->fault.ends_worker)
            session_retire(session);
        if (!answer->fault.misaligned)
            break;
    }
    return end;
}

/* Which single buffer is it? Returns its argument index, or -1. */
static int find_culprit(struct session *session, const struct fence *fence, struct error *err)
{
    for (int i = 0; i < RUN_ARGUMENTS_MAX; ++i) {
        struct fence single = *fence;
        single.mask = fence->mask & (UINT32_C(1) << i);
        struct job_record answer;
        if (single.mask == 0)
            continue;
        enum session_end end = ask_fence(session, &single, &answer, err);
        if (end == SESSION_FAILED)
            return -1;
        if (end == SESSION_ANSWERED && answer.kind == JOB_FAULT && answer.fault.address)
            return i;
    }
    return -1;
}

static const char *argument_name(const struct session *session, size_t launch, size_t argument)
{
    const char *name = session->request->launches[launch].arguments[argument].name;
    return name != NULL ? name : "?";
}

static int judge_fence_fault(struct session *session, struct run_launch_result *result,
                             const struct fence *fence, const struct job_record *answer,
                             struct error *err)
{
    struct job_faulted fault = answer->fault;
    if (!fault.address) { /* another fault, which the first launches did not meet */
        run_result_take_fault(result, &fault);
        return 0;
    }
    const char *where = fence->side == JOB_FENCE_END ? "behind the end" : "before the start";
    const char *placed = fence->side == JOB_FENCE_END ? "ended exactly at" : "begun exactly behind";
    int culprit = find_culprit(session, fence, err);
    if (err->kind != ERROR_NONE)
        return -1;
    if (culprit >= 0) {
        const struct run_argument *argument =
            &session->request->launches[fence->launch].arguments[culprit];
        bool input = argument->role == RUN_INPUT;
        run_result_set_fault(
            result, RUN_FAULTED, "out of bounds",
            "the kernel %s %s of the buffer \"%s\" (%zu bytes): with that buffer %s unmapped "
            "memory the GPU reports an illegal address. Check the guard and the indices of the %s.",
            input ? "reads" : "reads or writes", where,
            argument_name(session, fence->launch, (size_t)culprit), argument->bytes, placed,
            input ? "loads" : "stores");
    } else {
        run_result_set_fault(
            result, RUN_FAULTED, "out of bounds",
            "the kernel reaches %s of a buffer: with its buffers %s unmapped memory the GPU "
            "reports an illegal address. Check the guard and the indices.",
            where, placed);
    }
    return 0;
}

static void judge_guards(struct session *session, struct run_launch_result *result,
                         const struct fence *fence, const struct job_fenced *fenced)
{
    size_t count = session->request->launches[fence->launch].argument_count;
    if (fenced->changed && fenced->argument < count)
        run_result_set_fault(result, RUN_FAULTED, "out of bounds",
                             "the kernel writes %s of the buffer \"%s\": the byte at its %s %llu "
                             "has changed.",
                             fenced->after ? "behind the end" : "before the start",
                             argument_name(session, fence->launch, fenced->argument),
                             fenced->after ? "end +" : "start -",
                             (unsigned long long)fenced->distance + (fenced->after ? 0 : 1));
    else if (fenced->depends)
        run_result_set_fault(result, RUN_FAULTED, "out of bounds",
                             "the kernel reads memory beside its buffers: with other bytes there "
                             "its output is another.");
}

static int fence_side(struct session *session, struct run_launch_result *result,
                      const struct fence *fence, struct error *err)
{
    struct job_record answer;
    switch (ask_fence(session, fence, &answer, err)) {
    case SESSION_FAILED:
        return -1;
    case SESSION_HUNG:
        set_hung(session, result, ", launched once more with the same input,");
        return 0;
    case SESSION_DIED:
        set_lost(session, result);
        return 0;
    case SESSION_ANSWERED:
        break;
    }
    if (answer.kind == JOB_FAULT)
        return judge_fence_fault(session, result, fence, &answer, err);
    judge_guards(session, result, fence, &answer.fenced);
    return 0;
}

static int fence_one(struct session *session, struct run *run, size_t launch, struct error *err)
{
    struct run_launch_result *result = &run->launches[launch];
    struct fence fence = {.launch = launch};
    for (size_t i = 0; i < session->request->launches[launch].argument_count; ++i)
        if (session->request->launches[launch].arguments[i].role != RUN_SCALAR)
            fence.mask |= UINT32_C(1) << i;
    static const enum job_fence_side sides[] = {JOB_FENCE_END, JOB_FENCE_START};
    for (size_t i = 0; i < COUNT_OF(sides) && result->status == RUN_FINISHED; ++i) {
        fence.side = sides[i];
        if (fence.mask != 0 && fence_side(session, result, &fence, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- Timing ----------------------------------------------------------------------------------*/

static size_t collect_group(const struct session *session, const struct run *run, unsigned group,
                            struct job_task *task)
{
    task->timed_count = 0;
    for (size_t i = 0; i < run->launch_count && task->timed_count < JOB_TIMED_MAX; ++i)
        if (session->request->launches[i].timing_group == group &&
            run->launches[i].status == RUN_FINISHED)
            task->timed[task->timed_count++] = (uint32_t)i;
    return task->timed_count;
}

static int time_group(struct session *session, struct run *run, unsigned group, struct error *err)
{
    struct job_task task = {.kind = JOB_TIME};
    struct job_record answer;
    /* Every turn of the loop times the group or takes one launch out of it. */
    while (collect_group(session, run, group, &task) > 0) {
        task.launch = task.timed[0];
        switch (ask(session, &task, &answer, err)) {
        case SESSION_FAILED:
            return -1;
        case SESSION_DIED: /* no times then: they never cost points */
            return 0;
        case SESSION_HUNG:
            set_hung(session, &run->launches[session->running], ", launched again to time it,");
            continue;
        case SESSION_ANSWERED:
            break;
        }
        if (answer.kind == JOB_FAULT) {
            run_result_take_fault(&run->launches[answer.launch], &answer.fault);
            if (answer.fault.ends_worker)
                session_retire(session);
            continue;
        }
        for (size_t i = 0; i < task.timed_count; ++i)
            if (run_result_take_times(&run->launches[task.timed[i]], &session->job, task.timed[i],
                                      &answer.timed, i, err) != 0)
                return -1;
        return 0;
    }
    return 0;
}

static int time_all(struct session *session, struct run *run, struct error *err)
{
    const struct run_request *request = session->request;
    for (size_t i = 0; i < request->launch_count; ++i) {
        unsigned group = request->launches[i].timing_group;
        bool seen = group == 0;
        for (size_t k = 0; k < i && !seen; ++k)
            seen = request->launches[k].timing_group == group;
        if (!seen && time_group(session, run, group, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- The whole run ---------------------------------------------------------------------------*/

static int run_all(struct session *session, struct run *run, struct error *err)
{
    const struct run_request *request = session->request;
    for (size_t i = 0; i < run->launch_count; ++i)
        if (run_one(session, run, i, err) != 0)
            return -1;
    if (request->executor != EXECUTOR_GPU)
        return 0;
    for (size_t i = 0; i < run->launch_count; ++i)
        if (run->launches[i].status == RUN_FINISHED && fence_one(session, run, i, err) != 0)
            return -1;
    return request->timing_rounds > 0 ? time_all(session, run, err) : 0;
}

int run_launches(struct run *out, const struct run_request *request, struct error *err)
{
    *out = (struct run){.executor = request->executor};
    if (request->launch_count == 0)
        return 0;
    int64_t began = process_now_ns();
    out->launches = calloc(request->launch_count, sizeof *out->launches);
    if (out->launches == NULL)
        return error_no_memory(err);
    out->launch_count = request->launch_count;
    for (size_t i = 0; i < out->launch_count; ++i)
        run_result_init(&out->launches[i]);
    if (request->executor == EXECUTOR_NONE)
        return 0;
    struct session session;
    int status = session_open(&session, request, err);
    if (status == 0) {
        status = run_all(&session, out, err);
        (void)snprintf(out->device, sizeof out->device, "%s", session.hello.device);
        out->device_cc = session.hello.cc;
        session_close(&session);
    }
    out->wall_ns = process_now_ns() - began;
    if (status != 0)
        run_release(out);
    return status;
}

void run_release(struct run *run)
{
    if (run == NULL)
        return;
    for (size_t i = 0; i < run->launch_count; ++i)
        run_result_release(&run->launches[i]);
    free(run->launches);
    *run = (struct run){0};
}

#include "run_session.h"

#include "caps.h"
#include "gpu_lock.h"
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)
#define START_ATTEMPTS 3 /* after a kill: the driver may need a moment to clean up */
#define TASK_SILENCES 16 /* a worker that only ever reports progress ends here */
#define TASK_RECORDS_MAX (JOB_TIMED_MAX * (JOB_SAMPLES_MAX + 8))

/* ---- Lanes -----------------------------------------------------------------------------------*/

#define LANE_RUNS_MOST                                                                             \
    200 /* what a kernel may have left in the context, such as its heap, ends too */

struct run_lane {
    struct worker worker; /* owned; WORKER_NONE: the next run starts one */
    struct job_hello hello;
    int device;
    bool unconfined;
    unsigned runs;
};

struct run_lane *run_lane_open(void)
{
    struct run_lane *lane = calloc(1, sizeof *lane);
    if (lane != NULL)
        lane->worker = WORKER_NONE;
    return lane;
}

void run_lane_close(struct run_lane *lane)
{
    if (lane == NULL)
        return;
    worker_end(&lane->worker);
    worker_release(&lane->worker);
    free(lane);
}

/* The lane's worker becomes the session's. */
static void adopt(struct session *session)
{
    struct run_lane *lane = session->request->lane;
    if (lane == NULL || lane->worker.pid <= 0)
        return;
    if (session->request->executor != EXECUTOR_GPU || lane->runs >= LANE_RUNS_MOST ||
        lane->device != session->request->device ||
        lane->unconfined != session->request->unconfined) {
        worker_end(&lane->worker);
        worker_release(&lane->worker);
    } else {
        session->worker = lane->worker;
        session->hello = lane->hello;
        session->adopted = true;
        bytes_clear(&session->worker.said);
    }
    lane->worker = WORKER_NONE;
}

/* A worker that is well goes (back) to the lane. */
static bool give_to_lane(struct session *session)
{
    struct run_lane *lane = session->request->lane;
    if (lane == NULL || !session->up || session->request->executor != EXECUTOR_GPU ||
        session->worker.pid <= 0)
        return false;
    lane->worker = session->worker;
    lane->hello = session->hello;
    lane->device = session->request->device;
    lane->unconfined = session->request->unconfined;
    lane->runs = session->was_adopted ? lane->runs + 1 : 1;
    session->worker = WORKER_NONE;
    return true;
}

int session_open(struct session *session, const struct run_request *request, struct error *err)
{
    *session = (struct session){.request = request, .worker = WORKER_NONE, .lock = -1};
    if (job_create(&session->job, request, err) != 0)
        return -1;
    adopt(session);
    return 0;
}

void session_close(struct session *session)
{
    (void)give_to_lane(session);
    worker_end(&session->worker);
    worker_release(&session->worker);
    job_release(&session->job);
    if (session->lock >= 0)
        (void)close(steal_fd(&session->lock));
    session->up = false;
}

void session_retire(struct session *session)
{
    worker_end(&session->worker);
    session->up = false;
    session->killed = true;
}

/* ---- Starting --------------------------------------------------------------------------------*/

/* The emulator needs the job, its own copy of the buffers with their shadow, and threads' stacks
 * and arenas; a runaway allocation ends in "no memory" and not in a machine that swaps. */
static uint64_t memory_limit(const struct session *session)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)session; /* sanitizers reserve terabytes of address space */
    return 0;
#else
    if (session->request->executor != EXECUTOR_EMULATOR)
        return 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = session->request->threads > 0 ? session->request->threads
                       : cores > 0                   ? (uint64_t)cores
                                                     : 1;
    return 8 * (session->job.header->total_bytes + session->job.header->result_bytes) +
           ((uint64_t)8 << 30) + threads * ((uint64_t)256 << 20);
#endif
}

/* The last line of what the worker said on standard error: where a sanitizer, the C library or the
 * driver leaves its words. */
static const char *last_words(struct worker *worker)
{
    char *text = worker->said.data;
    if (text == NULL)
        return "";
    size_t length = worker->said.length;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        text[--length] = '\0';
    char *line = strrchr(text, '\n');
    return line != NULL ? line + 1 : text;
}

static void died(struct session *session, const char *why)
{
    worker_stop(&session->worker);
    session->up = false;
    session->killed = true;
    const char *words = last_words(&session->worker);
    (void)snprintf(session->reason, sizeof session->reason, "the worker %s%s%.200s",
                   why != NULL ? why : session->worker.ending, words[0] != '\0' ? ": " : "", words);
}

static enum session_end interrupted(struct session *session, struct error *err)
{
    worker_stop(&session->worker);
    session->up = false;
    (void)error_set(err, ERROR_INTERRUPTED, "interrupted");
    return SESSION_FAILED;
}

static void nonsense(struct session *session, const char *why)
{
    char text[128];
    (void)snprintf(text, sizeof text, "sent a message that %s", why);
    died(session, text);
}

/* From the first worker's hello to the end of the session the GPU is ours alone. */
static int take_device(struct session *session, struct error *err)
{
    if (session->request->executor != EXECUTOR_GPU || session->lock >= 0)
        return 0;
    session->lock =
        gpu_lock_take(session->hello.uuid, NULL, LIMIT_GPU_WAIT_SECONDS * SECOND_NS, err);
    return err->kind == ERROR_NONE ? 0 : -1;
}

/* One attempt. SESSION_ANSWERED: the worker is up. */
static enum session_end start_once(struct session *session, struct error *err)
{
    worker_release(&session->worker);
    const struct worker_spec spec = {.job = &session->job,
                                     .memory_bytes = memory_limit(session),
                                     .unconfined = session->request->unconfined};
    if (worker_start(&session->worker, &spec, err) != 0)
        return SESSION_FAILED;
    struct job_record record;
    size_t length = 0;
    int64_t deadline = process_now_ns() + LIMIT_WORKER_START_SECONDS * SECOND_NS;
    switch (worker_wait(&session->worker, deadline, &record, &length)) {
    case WORKER_INTERRUPTED:
        return interrupted(session, err);
    case WORKER_GONE:
        died(session, NULL);
        return SESSION_DIED;
    case WORKER_SILENT:
        died(session, "did not come up in time");
        return SESSION_HUNG;
    case WORKER_MESSAGE:
        break;
    }
    if (length == sizeof errno) {
        memcpy(&errno, &record, sizeof errno);
        (void)error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start a worker process");
        worker_stop(&session->worker);
        return SESSION_FAILED;
    }
    const struct job_expectation expected = {.launch_count = session->job.header->launch_count};
    const char *why = NULL;
    if (!job_record_valid(&record, length, &expected, &why)) {
        nonsense(session, why);
        return SESSION_DIED;
    }
    if (record.kind == JOB_TROUBLE) {
        (void)snprintf(session->reason, sizeof session->reason, "%.500s", record.trouble.text);
        worker_end(&session->worker);
        return SESSION_DIED;
    }
    if (session->hello.device[0] == '\0')
        session->hello = record.hello;
    if (take_device(session, err) != 0) {
        worker_end(&session->worker);
        return SESSION_FAILED;
    }
    session->up = true;
    session->was_adopted = false;
    session->sequence = 0;
    return SESSION_ANSWERED;
}

/* Hands this job to a worker that has done others. Whatever goes wrong, a fresh one takes over. */
static enum session_end start_adopted(struct session *session, struct error *err)
{
    struct job_task task = {
        .magic = JOB_MAGIC, .version = JOB_VERSION, .sequence = 1, .kind = JOB_NEXT};
    const struct job_expectation expected = {
        .sequence = 1, .task = &task, .launch_count = session->job.header->launch_count};
    struct job_record record;
    size_t length = 0;
    const char *why = NULL;
    int64_t deadline = process_now_ns() + LIMIT_WORKER_START_SECONDS * SECOND_NS;
    session->adopted = false;
    enum worker_event event = worker_send_job(&session->worker, &task, &session->job)
                                  ? worker_wait(&session->worker, deadline, &record, &length)
                                  : WORKER_GONE;
    if (event == WORKER_INTERRUPTED)
        return interrupted(session, err);
    if (event != WORKER_MESSAGE || !job_record_valid(&record, length, &expected, &why) ||
        record.kind != JOB_HELLO) {
        died(session, "did not take the next submission");
        return SESSION_DIED;
    }
    if (take_device(session, err) != 0) {
        worker_end(&session->worker);
        return SESSION_FAILED;
    }
    session->up = session->was_adopted = true;
    session->sequence = 1;
    return SESSION_ANSWERED;
}

static enum session_end start(struct session *session, struct error *err)
{
    if (session->adopted) {
        enum session_end end = start_adopted(session, err);
        if (end != SESSION_DIED)
            return end;
    }
    bool after_kill = session->killed;
    for (int attempt = 1;; ++attempt) {
        enum session_end end = start_once(session, err);
        if (end == SESSION_FAILED)
            return end;
        if (end == SESSION_ANSWERED) {
            session->killed = false;
            return end;
        }
        if (!after_kill || end == SESSION_HUNG || attempt == START_ATTEMPTS)
            break;
        const struct timespec pause = {.tv_nsec = 300000000};
        (void)nanosleep(&pause, NULL);
    }
    if (session->request->executor == EXECUTOR_GPU && after_kill)
        (void)error_set(err, ERROR_INFRASTRUCTURE,
                        "GPU %d%s%s%s does not come back after a kernel on it was stopped: %s",
                        session->request->device, session->hello.device[0] != '\0' ? " (" : "",
                        session->hello.device, session->hello.device[0] != '\0' ? ")" : "",
                        session->reason);
    else if (session->request->executor == EXECUTOR_GPU)
        (void)error_set(err, ERROR_INFRASTRUCTURE, "GPU %d cannot be used: %s",
                        session->request->device, session->reason);
    else
        (void)error_set(err, ERROR_INFRASTRUCTURE, "the emulator does not start: %s",
                        session->reason);
    return SESSION_FAILED;
}

/* ---- Asking ----------------------------------------------------------------------------------*/

static int64_t silence_ns(const struct session *session)
{
    int64_t wall = (int64_t)session->job.header->wall_ns;
    /* The emulator keeps the clock itself and names the line it was on; ours stands behind it. */
    return session->request->executor == EXECUTOR_EMULATOR ? wall + wall / 4 + 2 * SECOND_NS : wall;
}

enum session_end session_ask(struct session *session, struct job_task *task,
                             struct job_record *answer, struct error *err)
{
    if (!session->up) {
        enum session_end end = start(session, err);
        if (end != SESSION_ANSWERED)
            return end;
    }
    task->magic = JOB_MAGIC;
    task->version = JOB_VERSION;
    task->sequence = ++session->sequence;
    session->running = task->launch;
    bytes_clear(&session->worker.printed);
    if (!worker_send(&session->worker, task)) {
        died(session, NULL);
        return SESSION_DIED;
    }
    const struct job_expectation expected = {.sequence = task->sequence,
                                             .task = task,
                                             .launch_count = session->job.header->launch_count};
    int64_t silence = silence_ns(session);
    int64_t last = process_now_ns() + TASK_SILENCES * silence;
    for (int records = 0; records < TASK_RECORDS_MAX; ++records) {
        int64_t deadline = process_now_ns() + silence;
        size_t length = 0;
        const char *why = NULL;
        switch (worker_wait(&session->worker, deadline < last ? deadline : last, answer, &length)) {
        case WORKER_INTERRUPTED:
            return interrupted(session, err);
        case WORKER_GONE:
            died(session, NULL);
            return SESSION_DIED;
        case WORKER_SILENT:
            died(session, "was stopped by the wall clock");
            return SESSION_HUNG;
        case WORKER_MESSAGE:
            break;
        }
        if (!job_record_valid(answer, length, &expected, &why)) {
            nonsense(session, why);
            return SESSION_DIED;
        }
        if (answer->kind == JOB_TROUBLE) {
            (void)error_set(err, ERROR_INFRASTRUCTURE, "%s", answer->trouble.text);
            return SESSION_FAILED;
        }
        if (answer->kind != JOB_PROGRESS)
            return SESSION_ANSWERED;
        session->running = answer->launch;
    }
    died(session, "reported progress without end");
    return SESSION_DIED;
}

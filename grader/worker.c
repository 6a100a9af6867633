/* worker.c - `spillway worker`: the process that runs kernels. See run.c for the whole picture.
 *
 * It inherits the job, the results and a socket under fixed numbers, and nothing else. What it
 * prints on standard output is taken for the kernel's own words. */
#include "worker.h"

#include "commands.h"
#include "gpu.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>

static uint32_t sequence;    /* of the task in hand */
static int kept_output = -1; /* standard output while it is muted */

/* ---- Records ---------------------------------------------------------------------------------*/

static const struct job_device unknown_device = {-1, -1, -1, -1, -1};

void worker_record_init(struct job_record *record, enum job_record_kind kind, uint32_t launch)
{
    memset(record, 0, sizeof *record);
    record->magic = JOB_MAGIC;
    record->version = JOB_VERSION;
    record->kind = kind;
    record->launch = launch;
    record->payload_bytes = (uint32_t)job_payload_bytes(kind);
    if (kind == JOB_RAN)
        record->ran.device = unknown_device;
    if (kind == JOB_FAULT)
        record->fault.device = unknown_device;
}

void worker_record_fault(struct job_record *record, uint32_t launch, enum run_status status,
                         const char *kind, const char *format, ...)
{
    worker_record_init(record, JOB_FAULT, launch);
    struct job_fault *fault = &record->fault.fault;
    fault->status = (uint32_t)status;
    (void)snprintf(fault->kind, sizeof fault->kind, "%s", kind);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
}

void worker_record_trouble(struct job_record *record, const char *format, ...)
{
    worker_record_init(record, JOB_TROUBLE, 0);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(record->trouble.text, sizeof record->trouble.text, format, arguments);
    va_end(arguments);
}

/* False when the grader is gone. */
static bool send_record(struct job_record *record)
{
    record->sequence = sequence;
    size_t length = JOB_RECORD_HEAD_BYTES + record->payload_bytes;
    ssize_t sent = 0;
    (void)fflush(stdout);
    do
        sent = send(JOB_DESCRIPTOR_SOCKET, record, length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)length;
}

void worker_progress(uint32_t launch, uint64_t round)
{
    struct job_record record;
    worker_record_init(&record, JOB_PROGRESS, launch);
    record.progress.round = round;
    if (!send_record(&record))
        _exit(EXIT_STATUS_INFRASTRUCTURE); /* nobody listens any more */
}

/* ---- What executors share --------------------------------------------------------------------*/

void worker_mute(bool mute)
{
    (void)fflush(stdout);
    if (mute && kept_output < 0) {
        AUTO_CLOSE int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        kept_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 16);
        if (null_fd >= 0 && kept_output >= 0)
            (void)dup2(null_fd, STDOUT_FILENO);
    } else if (!mute && kept_output >= 0) {
        (void)dup2(kept_output, STDOUT_FILENO);
        (void)close(steal_fd(&kept_output));
    }
}

void worker_fill_poison(void *into, size_t bytes, uint32_t word)
{
    unsigned char *to = into;
    size_t done = bytes < sizeof word ? bytes : sizeof word;
    memcpy(to, &word, done);
    /* What is filled fills the next as much: buffers have megabytes. */
    while (done < bytes) {
        size_t more = bytes - done < done ? bytes - done : done;
        memcpy(to + done, to, more);
        done += more;
    }
}

unsigned worker_cpu_count(void)
{
    cpu_set_t *set = NULL;
    unsigned count = 0;
    /* The kernel refuses a set that is too small for the machine: grow it until it fits. */
    for (int cpus = 1024; cpus <= 1 << 16 && count == 0; cpus *= 2) {
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        set = CPU_ALLOC(cpus);
        if (set == NULL)
            break;
        if (sched_getaffinity(0, bytes, set) == 0)
            count = (unsigned)CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
    }
    return count > 0 ? count : 1;
}

/* ---- The loop --------------------------------------------------------------------------------*/

/* The next task. False when the grader has closed its end. */
static bool next_task(struct job_task *task, const struct job *job)
{
    for (;;) {
        ssize_t got = recv(JOB_DESCRIPTOR_SOCKET, task, sizeof *task, MSG_TRUNC);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        if (job_task_valid(task, (size_t)got, job)) {
            sequence = task->sequence;
            return true;
        }
        (void)fputs("spillway worker: a task that does not fit the job\n", stderr);
        return false;
    }
}

static int say_hello(struct job_record *hello, const struct error *err)
{
    if (err->kind != ERROR_NONE)
        worker_record_trouble(hello, "%s", err->text);
    return send_record(hello) && err->kind == ERROR_NONE ? EXIT_STATUS_DONE
                                                         : EXIT_STATUS_INFRASTRUCTURE;
}

static int say_trouble(const struct error *err)
{
    struct job_record record;
    worker_record_init(&record, JOB_HELLO, 0);
    return say_hello(&record, err);
}

static int work_on_emulator(const struct job *job)
{
    struct error err = {0};
    struct job_record record;
    struct job_task task;
    worker_record_init(&record, JOB_HELLO, 0);
    unsigned threads = job->header->threads > 0 ? job->header->threads : worker_cpu_count();
    (void)snprintf(record.hello.device, sizeof record.hello.device, "PTX emulator, %u thread%s",
                   threads, threads == 1 ? "" : "s");
    int status = say_hello(&record, &err);
    while (status == EXIT_STATUS_DONE && next_task(&task, job)) {
        if (task.kind == JOB_RUN)
            worker_emulate(job, task.launch, &record);
        else
            worker_record_trouble(&record, "the emulator was asked for what only a GPU does");
        if (!send_record(&record))
            break;
    }
    return status;
}

static int work_on_gpu(const struct job *job)
{
    struct error err = {0};
    struct job_record record;
    struct job_task task;
    worker_record_init(&record, JOB_HELLO, 0);
    struct gpu *gpu = gpu_open(job, &record.hello, &err);
    int status = say_hello(&record, &err);
    while (status == EXIT_STATUS_DONE && next_task(&task, job)) {
        gpu_do(gpu, &task, &record);
        bool dead = record.kind == JOB_FAULT && record.fault.ends_worker;
        if (!send_record(&record))
            break;
        if (dead) /* no clean-up: every call into a dead context fails, and some hang */
            _exit(EXIT_STATUS_DONE);
    }
    gpu_close(gpu);
    return status;
}

static int survey(void)
{
    struct error err = {0};
    struct job_record record;
    struct job_task task;
    worker_record_init(&record, JOB_HELLO, 0);
    int status = say_hello(&record, &err);
    while (status == EXIT_STATUS_DONE && next_task(&task, NULL)) {
        worker_record_init(&record, JOB_SURVEYED, 0);
        gpu_survey(&record.surveyed);
        if (!send_record(&record))
            break;
    }
    return status;
}

int cmd_worker(int argc, char **argv)
{
    struct stat about;
    if (fstat(JOB_DESCRIPTOR_SOCKET, &about) != 0 || !S_ISSOCK(about.st_mode)) {
        (void)fputs("spillway: `worker` is what `spillway` starts to run kernels; it is no command "
                    "for people\n",
                    stderr);
        return EXIT_STATUS_USAGE;
    }
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1 && strcmp(argv[1], "survey") == 0)
        return survey();
    struct job job;
    struct error err = {0};
    bool unconfined = argc > 1 && strcmp(argv[1], "unconfined") == 0;
    if (job_open(&job, JOB_DESCRIPTOR_JOB, JOB_DESCRIPTOR_RESULTS, &err) != 0)
        return say_trouble(&err);
    bool gpu = job.header->executor == EXECUTOR_GPU;
    int status = EXIT_STATUS_INFRASTRUCTURE;
    if (!unconfined && sandbox_confine_worker(gpu ? SANDBOX_GPU : SANDBOX_EMULATOR, &err) != 0)
        status = say_trouble(&err);
    else
        status = gpu ? work_on_gpu(&job) : work_on_emulator(&job);
    job_release(&job);
    return status;
}

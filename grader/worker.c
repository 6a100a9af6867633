/* worker.c - `spillway worker`: the process that runs kernels. See run.c for the whole picture.
 *
 * It inherits the job, the results and a socket under fixed numbers, and nothing else. What it
 * prints on standard output is taken for the kernel's own words. */
#include "commands.h"

#include "gpu.h"
#include "sandbox.h"
#include "worker_answer.h"
#include "worker_emulator.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* The descriptors that came with a message; those that were not asked for are closed. */
static void take_memories(struct msghdr *message, int memories[2])
{
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
         head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int fd = -1;
            memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
            if (i < 2 && memories[i] < 0)
                memories[i] = fd;
            else
                (void)close(fd);
        }
    }
}

/* The next task; with JOB_NEXT come the two memories of another job. False when the grader has
 * closed its end. */
static bool next_task(struct job_task *task, const struct job *job, int memories[2])
{
    for (;;) {
        union {
            struct cmsghdr aligned;
            char bytes[CMSG_SPACE(2 * sizeof(int))];
        } control;
        struct iovec content = {.iov_base = task, .iov_len = sizeof *task};
        struct msghdr message = {.msg_iov = &content,
                                 .msg_iovlen = 1,
                                 .msg_control = control.bytes,
                                 .msg_controllen = sizeof control.bytes};
        ssize_t got = recvmsg(JOB_DESCRIPTOR_SOCKET, &message, MSG_TRUNC | MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        memories[0] = memories[1] = -1;
        take_memories(&message, memories);
        bool complete = (task->kind == JOB_NEXT) == (memories[1] >= 0);
        if (complete && job_task_valid(task, (size_t)got, job)) {
            worker_answer_begin(task->sequence);
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
    return worker_answer_send(hello) && err->kind == ERROR_NONE ? EXIT_STATUS_DONE
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
    unsigned threads = worker_emulator_threads(job);
    (void)snprintf(record.hello.device, sizeof record.hello.device, "PTX emulator, %u thread%s",
                   threads, threads == 1 ? "" : "s");
    int status = say_hello(&record, &err);
    int memories[2];
    while (status == EXIT_STATUS_DONE && next_task(&task, job, memories)) {
        if (task.kind == JOB_RUN)
            worker_emulate(job, task.launch, &record);
        else
            worker_record_trouble(&record, "the emulator was asked for what only a GPU does");
        if (!worker_answer_send(&record))
            break;
    }
    return status;
}

/* Takes another job in place of the one that is done. The context stays: making one costs more than
 * a lab's launches. */
static void change_job(struct gpu *gpu, struct job *job, const int memories[2],
                       struct job_record *record)
{
    struct error err = {0};
    worker_record_init(record, JOB_HELLO, 0);
    gpu_let_go(gpu);
    job_release(job);
    if (job_open(job, memories[0], memories[1], &err) != 0 ||
        gpu_take(gpu, job, &record->hello, &err) != 0)
        worker_record_trouble(record, "%s", err.text);
}

static int work_on_gpu(struct job *job)
{
    struct error err = {0};
    struct job_record record;
    struct job_task task;
    worker_record_init(&record, JOB_HELLO, 0);
    struct gpu *gpu = gpu_open(job, &record.hello, &err);
    int status = say_hello(&record, &err);
    int memories[2];
    while (status == EXIT_STATUS_DONE && next_task(&task, job, memories)) {
        if (task.kind == JOB_NEXT)
            change_job(gpu, job, memories, &record);
        else
            gpu_do(gpu, &task, &record);
        bool dead = record.kind == JOB_FAULT && record.fault.ends_worker;
        if (!worker_answer_send(&record))
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
    int memories[2];
    while (status == EXIT_STATUS_DONE && next_task(&task, NULL, memories)) {
        worker_record_init(&record, JOB_SURVEYED, 0);
        gpu_survey(&record.surveyed);
        if (!worker_answer_send(&record))
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

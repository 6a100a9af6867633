#include "support_worker.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "testing.h"
#include "worker_process.h"

struct fake_shared *fake_shared;

static struct job job;
static struct job_task task;
static uint32_t sequence;

static struct job_record make(enum job_record_kind kind)
{
    struct job_record record = {.magic = JOB_MAGIC,
                                .version = JOB_VERSION,
                                .sequence = sequence,
                                .kind = kind,
                                .launch = task.launch,
                                .payload_bytes = (uint32_t)job_payload_bytes(kind)};
    return record;
}

static void transmit(const struct job_record *record, size_t length)
{
    if (send(JOB_DESCRIPTOR_SOCKET, record, length, MSG_NOSIGNAL) < 0)
        _exit(3);
}

static void answer(const struct job_record *record)
{
    transmit(record, JOB_RECORD_HEAD_BYTES + record->payload_bytes);
}

static void sleep_for_ever(void)
{
    for (;;)
        (void)pause();
}

/* Outputs become the first input; a second output equals the first. */
static void compute(uint32_t launch)
{
    const struct job_launch *spec = &job.launches[launch];
    const struct job_argument *arguments = job_launch_arguments(&job, spec);
    const struct job_argument *input = NULL;
    for (size_t i = 0; i < spec->argument_count; ++i)
        if (arguments[i].role == RUN_INPUT) {
            input = &arguments[i];
            memcpy(job.results + input->first, job.base + input->data.offset, input->bytes);
        }
    for (size_t i = 0; i < spec->argument_count && input != NULL; ++i)
        if (arguments[i].role == RUN_OUTPUT) {
            size_t bytes = arguments[i].bytes < input->bytes ? arguments[i].bytes : input->bytes;
            memcpy(job.results + arguments[i].first, job.base + input->data.offset, bytes);
            if (job.header->executor == EXECUTOR_GPU)
                memcpy(job.results + arguments[i].second, job.base + input->data.offset, bytes);
        }
}

static struct job_record fault(enum run_status status, const char *kind, const char *text)
{
    struct job_record record = make(JOB_FAULT);
    record.fault.fault.status = (uint32_t)status;
    record.fault.fault.line = 12;
    record.fault.fault.count = 7;
    (void)snprintf(record.fault.fault.kind, sizeof record.fault.fault.kind, "%s", kind);
    (void)snprintf(record.fault.fault.text, sizeof record.fault.fault.text, "%s", text);
    return record;
}

/* ---- JOB_RUN ---------------------------------------------------------------------------------*/

static void run_copy(void)
{
    struct job_record record = make(JOB_RAN);
    record.ran.device = (struct job_device){40, 256, 0, 1024, 3};
    record.ran.global = (struct job_count){1, 10, 20, 30, 40};
    record.ran.warps_launched = 8;
    compute(task.launch);
    answer(&record);
}

static void run_hang(void)
{
    sleep_for_ever();
}

static void run_hang_with_child(void)
{
    if (fork() == 0)
        sleep_for_ever();
    sleep_for_ever();
}

static void run_exit(void)
{
    (void)fputs("first words\nlast words\n", stderr);
    _exit(5);
}

static void run_killed(void)
{
    (void)raise(SIGKILL);
}

static void run_killed_once(void)
{
    if (fake_shared->started == 1)
        (void)raise(SIGKILL);
    run_copy();
}

static void run_fault(void)
{
    struct job_record record = fault(RUN_FAULTED, "out of bounds", "bad \x1b[31mtext\x01\n here");
    answer(&record);
}

static void run_fault_and_end(void)
{
    struct job_record record = fault(RUN_FAULTED, "trap", "the kernel ended itself.");
    record.fault.ends_worker = 1;
    answer(&record);
    _exit(0);
}

static void run_assert(void)
{
    (void)fputs("registers.cu:12: Assertion `i < n` failed.\nmore\n", stderr);
    struct job_record record = fault(RUN_FAULTED, "assertion", "an assert() in the kernel failed.");
    record.fault.ends_worker = 1;
    answer(&record);
    _exit(0);
}

static void run_refused(void)
{
    struct job_record record = fault(RUN_REFUSED, "not emulated", "line 8: mma");
    answer(&record);
}

static void run_changes_input(void)
{
    struct job_record record = make(JOB_RAN);
    compute(task.launch);
    job.results[job_launch_arguments(&job, &job.launches[task.launch])[0].first + 5] ^= 1;
    answer(&record);
}

static void run_differs(void)
{
    struct job_record record = make(JOB_RAN);
    compute(task.launch);
    const struct job_launch *spec = &job.launches[task.launch];
    job.results[job_launch_arguments(&job, spec)[1].second + 9] ^= 1;
    answer(&record);
}

static void run_prints(void)
{
    (void)!write(STDOUT_FILENO, "hello \x1b[2J\n\0x", 13);
    run_copy();
}

static void run_floods(void)
{
    char chunk[4096];
    memset(chunk, 'x', sizeof chunk);
    for (int i = 0; i < 1000; ++i)
        (void)!write(STDOUT_FILENO, chunk, sizeof chunk);
    run_copy();
}

static void run_trouble(void)
{
    struct job_record record = make(JOB_TROUBLE);
    (void)snprintf(record.trouble.text, sizeof record.trouble.text, "the device fell off its bus");
    answer(&record);
}

static void run_wrong_magic(void)
{
    struct job_record record = make(JOB_RAN);
    record.magic ^= 1;
    answer(&record);
}

static void run_short(void)
{
    struct job_record record = make(JOB_RAN);
    transmit(&record, 9);
}

static void run_long(void)
{
    static unsigned char block[sizeof(struct job_record) + 1000];
    struct job_record record = make(JOB_RAN);
    memcpy(block, &record, sizeof record);
    (void)send(JOB_DESCRIPTOR_SOCKET, block, sizeof block, MSG_NOSIGNAL);
}

static void run_empty(void)
{
    (void)send(JOB_DESCRIPTOR_SOCKET, "", 0, MSG_NOSIGNAL);
    sleep_for_ever();
}

static void run_other_sequence(void)
{
    struct job_record record = make(JOB_RAN);
    record.sequence += 1;
    answer(&record);
}

static void run_other_launch(void)
{
    struct job_record record = make(JOB_RAN);
    record.launch = 77;
    answer(&record);
}

static void run_hello_again(void)
{
    struct job_record record = make(JOB_HELLO);
    answer(&record);
}

static void run_open_text(void)
{
    struct job_record record = fault(RUN_FAULTED, "x", "y");
    memset(record.fault.fault.text, 'A', sizeof record.fault.fault.text);
    answer(&record);
}

static void run_odd_status(void)
{
    struct job_record record = fault(RUN_FINISHED, "x", "y");
    answer(&record);
}

/* ---- JOB_FENCE and JOB_TIME ------------------------------------------------------------------*/

static void fence_fine(void)
{
    struct job_record record = make(JOB_FENCED);
    answer(&record);
}

static struct job_record address_fault(void)
{
    struct job_record record = fault(RUN_FAULTED, "illegal address", "illegal address.");
    record.fault.ends_worker = 1;
    record.fault.address = 1;
    return record;
}

/* Reads past argument 1 only: whenever that one is fenced at its end. */
static void fence_past_second(void)
{
    if (task.fence_side != JOB_FENCE_END || (task.fenced & 2) == 0) {
        fence_fine();
        return;
    }
    struct job_record record = address_fault();
    answer(&record);
    _exit(0);
}

/* Needs 16-byte alignment, and is right otherwise. */
static void fence_aligned(void)
{
    if (task.fence_side != JOB_FENCE_END || task.fence_alignment >= 16) {
        fence_fine();
        return;
    }
    struct job_record record = fault(RUN_FAULTED, "misaligned", "misaligned.");
    record.fault.ends_worker = 1;
    record.fault.misaligned = 1;
    answer(&record);
    _exit(0);
}

static void fence_changed(void)
{
    struct job_record record = make(JOB_FENCED);
    record.fenced.changed = 1;
    record.fenced.argument = 1;
    record.fenced.after = 1;
    record.fenced.distance = 3;
    answer(&record);
}

static void time_all(const char *slow)
{
    struct job_record record = make(JOB_TIMED);
    record.timed.count = task.timed_count;
    record.timed.rounds = 31;
    record.timed.empty_ns = 900;
    for (size_t i = 0; i < task.timed_count; ++i) {
        struct job_record progress = make(JOB_PROGRESS);
        progress.launch = task.timed[i];
        answer(&progress);
        const struct job_launch *spec = &job.launches[task.timed[i]];
        const char *name = job_text(&job, spec->kernel);
        if (strcmp(name, "hang-timed") == 0)
            sleep_for_ever();
        if (strcmp(name, "fault-timed") == 0) {
            struct job_record trap = address_fault();
            trap.launch = task.timed[i];
            answer(&trap);
            _exit(0);
        }
        record.timed.differs[i] = strcmp(name, "cached") == 0;
        double *samples = (double *)(void *)(job.results + spec->samples);
        for (int k = 0; k < 31; ++k)
            samples[k] = (strcmp(name, slow) == 0 ? 2000.0 : 1000.0) + k;
        if (strcmp(name, "odd-times") == 0)
            samples[3] = -1;
    }
    answer(&record);
}

static void time_progress_for_ever(void)
{
    for (;;) {
        struct job_record progress = make(JOB_PROGRESS);
        progress.launch = task.timed[0];
        answer(&progress);
    }
}

/* ---- The loop --------------------------------------------------------------------------------*/

static const struct {
    const char *name;
    void (*run)(void), (*fence)(void);
} behaviours[] = {
    {"copy", run_copy, NULL},
    {"hang", run_hang, NULL},
    {"hang-with-child", run_hang_with_child, NULL},
    {"exit", run_exit, NULL},
    {"killed", run_killed, NULL},
    {"killed-once", run_killed_once, NULL},
    {"fault", run_fault, NULL},
    {"fault-and-end", run_fault_and_end, NULL},
    {"assert", run_assert, NULL},
    {"refused", run_refused, NULL},
    {"changes-input", run_changes_input, NULL},
    {"differs", run_differs, NULL},
    {"prints", run_prints, NULL},
    {"floods", run_floods, NULL},
    {"trouble", run_trouble, NULL},
    {"wrong-magic", run_wrong_magic, NULL},
    {"short", run_short, NULL},
    {"long", run_long, NULL},
    {"empty", run_empty, NULL},
    {"other-sequence", run_other_sequence, NULL},
    {"other-launch", run_other_launch, NULL},
    {"hello-again", run_hello_again, NULL},
    {"open-text", run_open_text, NULL},
    {"odd-status", run_odd_status, NULL},
    {"past-second", NULL, fence_past_second},
    {"aligned", NULL, fence_aligned},
    {"guard-changed", NULL, fence_changed},
    {"fence-hang", NULL, run_hang},
};

static void act(void)
{
    const char *name = job_text(&job, job.launches[task.launch].kernel);
    void (*run)(void) = run_copy, (*fence)(void) = fence_fine;
    for (size_t i = 0; i < COUNT_OF(behaviours); ++i)
        if (strcmp(behaviours[i].name, name) == 0) {
            run = behaviours[i].run != NULL ? behaviours[i].run : run;
            fence = behaviours[i].fence != NULL ? behaviours[i].fence : fence;
        }
    if (task.kind == JOB_RUN) {
        ++fake_shared->runs;
        run();
    } else if (task.kind == JOB_FENCE) {
        ++fake_shared->fences;
        fence();
    } else {
        ++fake_shared->times;
        const char *first = job_text(&job, job.launches[task.timed[0]].kernel);
        if (strcmp(first, "progress-for-ever") == 0)
            time_progress_for_ever();
        else
            time_all("slow");
    }
}

/* The next message; with JOB_NEXT, the two memories of another job. */
static bool receive(int memories[2])
{
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec content = {.iov_base = &task, .iov_len = sizeof task};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (recvmsg(JOB_DESCRIPTOR_SOCKET, &message, 0) <= 0)
        return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    memories[0] = memories[1] = -1;
    if (head != NULL)
        memcpy(memories, CMSG_DATA(head), 2 * sizeof(int));
    return true;
}

static void take_next(const int memories[2])
{
    struct error err = {0};
    ++fake_shared->nexts;
    job_release(&job);
    if (job_open(&job, memories[0], memories[1], &err) != 0)
        _exit(5);
    const char *first = job_text(&job, job.launches[0].kernel);
    if (strcmp(first, "copy-not-next") == 0)
        _exit(6);
    task.launch = 0;
    struct job_record record =
        make(strcmp(first, "copy-next-trouble") == 0 ? JOB_TROUBLE : JOB_HELLO);
    answer(&record);
}

static int fake_worker(void)
{
    struct error err = {0};
    ++fake_shared->started;
    fake_shared->last_pid = getpid();
    if (job_open(&job, JOB_DESCRIPTOR_JOB, JOB_DESCRIPTOR_RESULTS, &err) != 0)
        return 3;
    sequence = 0;
    const char *first = job_text(&job, job.launches[0].kernel);
    if (strcmp(first, "no-hello") == 0)
        return 9;
    struct job_record hello = make(JOB_HELLO);
    (void)snprintf(hello.hello.device, sizeof hello.hello.device, "Pretended device");
    hello.hello.cc = 75;
    if (strcmp(first, "hello-trouble") == 0) {
        hello = make(JOB_TROUBLE);
        (void)snprintf(hello.trouble.text, sizeof hello.trouble.text, "all GPUs are busy");
    }
    answer(&hello);
    for (int memories[2]; receive(memories);) {
        if (!job_task_valid(&task, sizeof task, &job))
            return 4;
        sequence = task.sequence;
        if (task.kind == JOB_NEXT)
            take_next(memories);
        else
            act();
    }
    return 0;
}

void fake_worker_install(void)
{
    fake_shared =
        mmap(NULL, sizeof *fake_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(fake_shared, MAP_FAILED);
    worker_process_use(NULL, fake_worker);
}

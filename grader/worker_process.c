#include "worker_process.h"

#include "caps.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SAID_BYTES ((size_t)16 << 10)
#define DRAIN_READS_MAX 256 /* a kernel that floods standard output shall not hold us for ever */

extern char **environ;

/* The whole environment of a worker: what the CUDA driver needs to be found and to pick a device,
 * and what a sanitizer build was told. */
static const char *const passed_on[] = {
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "HOME",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "LSAN_OPTIONS",
    "TSAN_OPTIONS",
};
static const char *const fixed[] = {
    "LC_ALL=C.UTF-8", "CUDA_MODULE_LOADING=EAGER", /* nothing is loaded inside a timed launch */
    "CUDA_CACHE_DISABLE=1",                        /* there is nothing to compile just in time */
};

static const char *program = "/proc/self/exe";
static int (*stand_in)(void);

void worker_process_use(const char *path, int (*instead)(void))
{
    program = path != NULL ? path : "/proc/self/exe";
    stand_in = instead;
}

/* ---- Starting --------------------------------------------------------------------------------*/

struct child {
    int null_fd, output, error, socket, job, results;
    uint64_t memory_bytes;
    const char *const *argv;
    const char *const *environment;
    pid_t parent;
};

/* Puts the descriptors into place: first all of them out of the way, then to their numbers. */
static bool child_descriptors(const struct child *child)
{
    const int wanted[][2] = {{child->null_fd, STDIN_FILENO},
                             {child->output, STDOUT_FILENO},
                             {child->error, STDERR_FILENO},
                             {child->job, JOB_DESCRIPTOR_JOB},
                             {child->results, JOB_DESCRIPTOR_RESULTS},
                             {child->socket, JOB_DESCRIPTOR_SOCKET}};
    int away[COUNT_OF(wanted)];
    for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
        away[i] = wanted[i][0] < 0 ? -1 : fcntl(wanted[i][0], F_DUPFD_CLOEXEC, 16);
        if (wanted[i][0] >= 0 && away[i] < 0)
            return false;
    }
    for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
        if (away[i] < 0)
            (void)close(wanted[i][1]);
        else if (dup2(away[i], wanted[i][1]) < 0)
            return false;
    }
    /* Every descriptor is close-on-exec from birth; this is for those of libraries that forgot. */
#ifdef SYS_close_range
    if (stand_in == NULL)
        (void)syscall(SYS_close_range, JOB_DESCRIPTOR_SOCKET + 1, ~0u, 0);
#endif
    return true;
}

/* Runs in the forked child; only async-signal-safe calls. */
static void child_run(const struct child *child)
{
    process_begin_child(child->parent);
    /* A survey runs nobody's code, and the first of them may have the driver make its device nodes,
     * by a program of its own that gains privileges. */
    if (child->job >= 0)
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (child->memory_bytes > 0) {
        const struct rlimit memory = {child->memory_bytes, child->memory_bytes};
        (void)setrlimit(RLIMIT_AS, &memory);
    }
    if (child_descriptors(child)) {
        if (stand_in != NULL)
            _exit(stand_in());
        (void)execve(program, (char *const *)child->argv, (char *const *)child->environment);
    }
    int failure = errno;
    /* Four bytes are no record: the parent knows them for the reason why nothing started. */
    (void)!write(JOB_DESCRIPTOR_SOCKET, &failure, sizeof failure);
    _exit(127);
}

static void make_environment(const char *into[COUNT_OF(passed_on) + COUNT_OF(fixed) + 1])
{
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(fixed); ++i)
        into[used++] = fixed[i];
    for (size_t i = 0; i < COUNT_OF(passed_on); ++i) {
        size_t length = strlen(passed_on[i]);
        for (char **entry = environ; entry != NULL && *entry != NULL; ++entry)
            if (strncmp(*entry, passed_on[i], length) == 0 && (*entry)[length] == '=') {
                into[used++] = *entry;
                break;
            }
    }
    into[used] = NULL;
}

static void close_slot(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static int open_channels(int sockets[2], int output[2], int error[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0 ||
        pipe2(output, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0)
        return -1;
    return fcntl(output[0], F_SETFL, O_NONBLOCK) == 0 && fcntl(error[0], F_SETFL, O_NONBLOCK) == 0
               ? 0
               : -1;
}

int worker_start(struct worker *worker, const struct worker_spec *spec, struct error *err)
{
    *worker = WORKER_NONE;
    worker->printed = bytes_with_limit(LIMIT_KERNEL_PRINT_BYTES);
    worker->said = bytes_with_limit(SAID_BYTES);
    static const char *const run_arguments[] = {"spillway", "worker", NULL};
    static const char *const free_arguments[] = {"spillway", "worker", "unconfined", NULL};
    static const char *const survey_arguments[] = {"spillway", "worker", "survey", NULL};
    const char *environment[COUNT_OF(passed_on) + COUNT_OF(fixed) + 1];
    make_environment(environment);
    int sockets[2] = {-1, -1}, output[2] = {-1, -1}, error[2] = {-1, -1};
    AUTO_CLOSE int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int status = -1;
    if (null_fd >= 0 && open_channels(sockets, output, error) == 0) {
        const struct child child = {.null_fd = null_fd,
                                    .output = output[1],
                                    .error = error[1],
                                    .socket = sockets[1],
                                    .job = spec->job != NULL ? spec->job->job_fd : -1,
                                    .results = spec->job != NULL ? spec->job->result_fd : -1,
                                    .memory_bytes = spec->memory_bytes,
                                    .argv = spec->job == NULL  ? survey_arguments
                                            : spec->unconfined ? free_arguments
                                                               : run_arguments,
                                    .environment = environment,
                                    .parent = getpid()};
        worker->pid = fork();
        if (worker->pid == 0)
            child_run(&child);
        status = worker->pid > 0 ? 0 : -1;
    }
    if (status != 0)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start a worker process");
    else
        (void)setpgid(worker->pid, worker->pid); /* whichever of the two comes first */
    close_slot(&sockets[1]);
    close_slot(&output[1]);
    close_slot(&error[1]);
    worker->socket = sockets[0];
    worker->output = output[0];
    worker->error = error[0];
    if (status != 0) {
        worker->pid = 0;
        worker_release(worker);
    }
    return status;
}

/* ---- Talking ---------------------------------------------------------------------------------*/

bool worker_send(struct worker *worker, const struct job_task *task)
{
    ssize_t sent = 0;
    do
        sent = send(worker->socket, task, sizeof *task, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *task;
}

bool worker_send_job(struct worker *worker, const struct job_task *task, const struct job *job)
{
    const int memories[] = {job->job_fd, job->result_fd};
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof memories)];
    } control = {.bytes = {0}};
    struct iovec content = {.iov_base = (void *)(uintptr_t)task, .iov_len = sizeof *task};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof memories);
    memcpy(CMSG_DATA(head), memories, sizeof memories);
    ssize_t sent = 0;
    do
        sent = sendmsg(worker->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *task;
}

/* Reads all that is there now; what passes the cap is dropped, so that the worker never blocks on
 * us. */
static void drain(int *fd, struct bytes *into)
{
    char chunk[16384];
    for (int reads = 0; *fd >= 0 && reads < DRAIN_READS_MAX; ++reads) {
        ssize_t got = read(*fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            close_slot(fd);
            return;
        }
        size_t room = into->limit - into->length;
        (void)bytes_append(into, chunk, (size_t)got < room ? (size_t)got : room);
    }
}

static int milliseconds_until(int64_t deadline_ns)
{
    int64_t left = deadline_ns - process_now_ns();
    if (left <= 0)
        return 0;
    left = left / 1000000 + 1;
    return left > 1000000 ? 1000000 : (int)left;
}

enum worker_event worker_wait(struct worker *worker, int64_t deadline_ns, struct job_record *record,
                              size_t *length)
{
    for (;;) {
        if (process_interrupted())
            return WORKER_INTERRUPTED;
        struct pollfd fds[] = {{.fd = worker->socket, .events = POLLIN},
                               {.fd = worker->output, .events = POLLIN},
                               {.fd = worker->error, .events = POLLIN},
                               {.fd = process_interrupt_fd(), .events = POLLIN}};
        int wait_ms = milliseconds_until(deadline_ns);
        int ready = poll(fds, COUNT_OF(fds), wait_ms);
        if (ready == 0 && milliseconds_until(deadline_ns) == 0)
            return WORKER_SILENT;
        if (ready <= 0)
            continue;
        /* First the message, then the streams: what was printed before it is there by now. */
        ssize_t got = 0;
        bool message = fds[0].revents != 0;
        if (message)
            got = recv(worker->socket, record, sizeof *record, MSG_DONTWAIT | MSG_TRUNC);
        if (fds[1].revents != 0 || message)
            drain(&worker->output, &worker->printed);
        if (fds[2].revents != 0 || message)
            drain(&worker->error, &worker->said);
        if (!message || (got < 0 && (errno == EINTR || errno == EAGAIN)))
            continue;
        if (got <= 0)
            return WORKER_GONE;
        *length = (size_t)got;
        return WORKER_MESSAGE;
    }
}

/* ---- Ending ----------------------------------------------------------------------------------*/

static void describe_ending(struct worker *worker, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        (void)snprintf(worker->ending, sizeof worker->ending, "was ended by signal %d (%s)",
                       WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    else
        (void)snprintf(worker->ending, sizeof worker->ending, "ended with status %d",
                       WEXITSTATUS(wait_status));
}

static void reap(struct worker *worker)
{
    int wait_status = 0;
    while (waitpid(worker->pid, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    describe_ending(worker, wait_status);
    worker->pid = 0;
    drain(&worker->output, &worker->printed);
    drain(&worker->error, &worker->said);
    close_slot(&worker->socket);
    close_slot(&worker->output);
    close_slot(&worker->error);
}

void worker_stop(struct worker *worker)
{
    if (worker->pid <= 0)
        return;
    /* The group cannot be another's: its leader is not reaped yet. */
    (void)kill(-worker->pid, SIGKILL);
    (void)kill(worker->pid, SIGKILL); /* had it not become a leader yet */
    reap(worker);
}

void worker_end(struct worker *worker)
{
    if (worker->pid <= 0)
        return;
    /* No more tasks: a worker that waits for one reads the end of the socket and exits. */
    (void)shutdown(worker->socket, SHUT_WR);
    int64_t deadline = process_now_ns() + INT64_C(2000000000);
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 ||
            info.si_pid != 0 || process_interrupted() || process_now_ns() >= deadline)
            break;
        struct pollfd streams[] = {{.fd = worker->output, .events = POLLIN},
                                   {.fd = worker->error, .events = POLLIN}};
        (void)poll(streams, COUNT_OF(streams), 1);
        drain(&worker->output, &worker->printed);
        drain(&worker->error, &worker->said);
    }
    worker_stop(worker);
}

void worker_release(struct worker *worker)
{
    worker_stop(worker);
    close_slot(&worker->socket);
    close_slot(&worker->output);
    close_slot(&worker->error);
    bytes_release(&worker->printed);
    bytes_release(&worker->said);
}

/* process.c - theory of operation.
 *
 * process_run() forks; the child sets up its group, limits and descriptors and execs. Between fork
 * and exec only async-signal-safe calls run, since other threads of the parent may hold any lock. A
 * failed set-up or exec writes errno into a close-on-exec "exec pipe": an empty read means that
 * exec succeeded. The parent polls both output pipes, the interrupt pipe, a pidfd and the clock
 * until the child ends or the deadline passes; then it kills the group, takes what is left in the
 * pipes and reaps the child. The end of the child decides, never the end of its output: a
 * grandchild may hold the pipes open for ever, and a child may close them and live on. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static atomic_int interrupted; /* set by a handler, in whichever thread it runs; lock-free */
static int interrupt_pipe[2] = {-1, -1};

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    int saved = errno;
    atomic_store(&interrupted, 1);
    (void)!write(interrupt_pipe[1], "", 1);
    errno = saved;
}

void process_catch_interrupts(void)
{
    if (interrupt_pipe[0] >= 0 || pipe2(interrupt_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < COUNT_OF(signals); ++i) {
        struct sigaction before;
        /* What was ignored stays ignored: nohup, and a script's background jobs. */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
    /* A reader that went away and a file that may not grow are errors of write(), not the end of
     * the program. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    /* A parent may have left it ignored, and then nobody could ask how a child ended. */
    (void)signal(SIGCHLD, SIG_DFL);
}

bool process_interrupted(void)
{
    return atomic_load(&interrupted) != 0;
}

int process_interrupt_fd(void)
{
    return interrupt_pipe[0];
}

int64_t process_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void set_limit(int resource, uint64_t value)
{
    if (value == 0)
        return;
    const struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    (void)setrlimit((__rlimit_resource_t)resource, &limit);
}

/* Marks every descriptor from 3 on close-on-exec: what our own parent left open (a lock, a job
 * server's pipe) is none of the child's business. */
static void child_keep_only_standard(void)
{
    if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    struct rlimit files = {.rlim_cur = 1024};
    (void)getrlimit(RLIMIT_NOFILE, &files);
    for (rlim_t fd = 3; fd < files.rlim_cur && fd < 65536; ++fd)
        (void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

void process_begin_child(pid_t parent)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before the prctl() took hold */
        _exit(127);
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; ++number)
        (void)sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
}

/* Runs in the forked child; returns only on failure, with errno set. */
static void child_exec(const struct process_spec *spec, int in_fd, int out_fd, int err_fd,
                       pid_t parent)
{
    static const char *const empty_environment[] = {NULL};
    process_begin_child(parent);
    set_limit(RLIMIT_AS, spec->memory_bytes);
    set_limit(RLIMIT_FSIZE, spec->file_bytes);
    set_limit(RLIMIT_CPU, spec->cpu_seconds);
    set_limit(RLIMIT_NPROC, spec->processes);
    set_limit(RLIMIT_NOFILE, spec->open_files);
    if (spec->directory != NULL && chdir(spec->directory) != 0)
        return;
    if (dup2(in_fd, STDIN_FILENO) < 0 || dup2(out_fd, STDOUT_FILENO) < 0 ||
        dup2(err_fd, STDERR_FILENO) < 0)
        return;
    /* When our own standard input was closed, /dev/null is descriptor 0 already and dup2() left its
     * close-on-exec flag. */
    (void)fcntl(STDIN_FILENO, F_SETFD, 0);
    child_keep_only_standard();
    for (size_t i = 0; i < spec->inherited_count; ++i)
        if (fcntl(spec->inherited[i], F_SETFD, 0) != 0)
            return;
    if (spec->confine != NULL && spec->confine(spec->confinement) != 0)
        return;
    const char *const *environment =
        spec->environment != NULL ? spec->environment : empty_environment;
    (void)execve(spec->argv[0], (char *const *)spec->argv, (char *const *)environment);
}

struct stream {
    int fd;
    struct bytes *into;
    bool *cut;
    int failure; /* errno of what kept us from taking all that was said; 0: nothing */
};

/* Reads once what is there. Closes the stream at its end. False when there was nothing yet. */
static bool stream_drain(struct stream *stream)
{
    char chunk[65536];
    ssize_t got = read(stream->fd, chunk, sizeof chunk);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (got <= 0) {
        if (got < 0)
            stream->failure = errno;
        (void)close(stream->fd);
        stream->fd = -1;
        return true;
    }
    size_t room = stream->into->limit - stream->into->length;
    size_t keep = (size_t)got < room ? (size_t)got : room;
    if (bytes_append(stream->into, chunk, keep) != 0)
        stream->failure = ENOMEM;
    if (keep < (size_t)got)
        *stream->cut = true;
    return true;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != 0;
}

/* Collects output until the child ends, the clock runs out, or the user interrupts. */
static void watch(pid_t pid, struct stream streams[2], int64_t deadline, bool *timed_out)
{
    /* Becomes readable when the child ends. Kernels before 5.3 have none: then we look often. */
    AUTO_CLOSE int ended = (int)syscall(SYS_pidfd_open, pid, 0);
    int64_t longest_wait_ms = ended >= 0 ? 1000000 : 10;
    while (!has_ended(pid) && !process_interrupted()) {
        int64_t now = process_now_ns();
        if (deadline != 0 && now >= deadline) {
            *timed_out = true;
            return;
        }
        struct pollfd fds[] = {{.fd = streams[0].fd, .events = POLLIN},
                               {.fd = streams[1].fd, .events = POLLIN},
                               {.fd = interrupt_pipe[0], .events = POLLIN},
                               {.fd = ended, .events = POLLIN}};
        int64_t wait_ms = deadline == 0 ? longest_wait_ms : (deadline - now) / 1000000 + 1;
        if (poll(fds, COUNT_OF(fds),
                 (int)(wait_ms < longest_wait_ms ? wait_ms : longest_wait_ms)) <= 0)
            continue;
        for (size_t i = 0; i < 2; ++i)
            if (streams[i].fd >= 0 && fds[i].revents != 0)
                stream_drain(&streams[i]);
    }
}

/* Takes what the child left in its pipes, without waiting for more and without an end to be hoped
 * for: somebody who escaped from the group may go on writing. */
static void take_rest(struct stream *stream)
{
    enum { MOST_READS = 64 };
    if (stream->fd >= 0)
        (void)fcntl(stream->fd, F_SETFL, O_NONBLOCK);
    for (int reads = 0; stream->fd >= 0 && reads < MOST_READS; ++reads)
        if (!stream_drain(stream))
            return;
}

/* pipe2() whose ends are above the standard descriptors, which our own parent may have closed. */
static int pipe_above_standard(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    int status = 0;
    for (size_t i = 0; i < 2; ++i) {
        if (ends[i] > STDERR_FILENO)
            continue;
        int above = fcntl(ends[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (above < 0) {
            status = -1;
            continue;
        }
        (void)close(ends[i]);
        ends[i] = above;
    }
    return status;
}

static void close_pipe(int ends[2])
{
    for (size_t i = 0; i < 2; ++i)
        if (ends[i] >= 0)
            (void)close(ends[i]);
}

static int start(pid_t *pid, const struct process_spec *spec, int out_pipe[2], int err_pipe[2],
                 struct error *err)
{
    AUTO_CLOSE int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int exec_pipe[2] = {-1, -1};
    if (null_fd < 0 || pipe_above_standard(exec_pipe) != 0) {
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start %s", spec->argv[0]);
        close_pipe(exec_pipe);
        return -1;
    }
    pid_t parent = getpid();
    *pid = fork();
    if (*pid == 0) {
        child_exec(spec, spec->input != NULL ? *spec->input : null_fd, out_pipe[1],
                   spec->merge_error ? out_pipe[1] : err_pipe[1], parent);
        int failure = errno;
        (void)!write(exec_pipe[1], &failure, sizeof failure);
        _exit(127);
    }
    int fork_errno = errno;
    (void)close(exec_pipe[1]);
    int failure = 0;
    ssize_t got = 0;
    if (*pid > 0) {
        do
            got = read(exec_pipe[0], &failure, sizeof failure);
        while (got < 0 && errno == EINTR);
    }
    (void)close(exec_pipe[0]);
    if (*pid > 0 && got != (ssize_t)sizeof failure)
        return 0;
    if (*pid > 0)
        (void)waitpid(*pid, NULL, 0);
    errno = *pid > 0 ? failure : fork_errno;
    return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start %s", spec->argv[0]);
}

/* Ends whatever is left of the group, and finds out how the child ended. */
static int finish(struct process_result *out, pid_t pid, struct stream streams[2], int64_t began,
                  const char *name, struct error *err)
{
    /* The group cannot be another's, since its leader is not reaped yet. The leader may have left
     * the group. */
    (void)kill(-pid, SIGKILL);
    (void)kill(pid, SIGKILL);
    for (size_t i = 0; i < 2; ++i)
        take_rest(&streams[i]);
    int wait_status = 0;
    pid_t reaped = 0;
    do
        reaped = waitpid(pid, &wait_status, 0);
    while (reaped < 0 && errno == EINTR);
    if (reaped < 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot find out how %s ended", name);
    out->signalled = WIFSIGNALED(wait_status);
    out->signal = out->signalled ? WTERMSIG(wait_status) : 0;
    out->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    out->wall_ns = process_now_ns() - began;
    if (process_interrupted())
        return error_set(err, ERROR_INTERRUPTED, "interrupted");
    /* Half of a compiler's report would be read as another report. */
    for (size_t i = 0; i < 2; ++i)
        if (streams[i].failure != 0) {
            errno = streams[i].failure;
            return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot read what %s says", name);
        }
    return 0;
}

int process_run(struct process_result *out, const struct process_spec *spec, struct error *err)
{
    *out = (struct process_result){.output = bytes_with_limit(spec->output_limit),
                                   .error = bytes_with_limit(spec->output_limit)};
    int64_t began = process_now_ns();
    int out_pipe[2] = {-1, -1}, err_pipe[2] = {-1, -1};
    pid_t pid = -1;
    int status = -1;
    if (pipe_above_standard(out_pipe) != 0 || pipe_above_standard(err_pipe) != 0)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start %s", spec->argv[0]);
    else
        status = start(&pid, spec, out_pipe, err_pipe, err);
    for (size_t i = 0; i < 2; ++i) {
        int end = i == 0 ? out_pipe[1] : err_pipe[1];
        if (end >= 0)
            (void)close(end);
    }
    struct stream streams[] = {{out_pipe[0], &out->output, &out->output_cut, 0},
                               {err_pipe[0], &out->error, &out->error_cut, 0}};
    if (status == 0) {
        watch(pid, streams, spec->wall_ns > 0 ? began + spec->wall_ns : 0, &out->timed_out);
        status = finish(out, pid, streams, began, spec->argv[0], err);
    }
    for (size_t i = 0; i < 2; ++i)
        if (streams[i].fd >= 0)
            (void)close(streams[i].fd);
    if (status != 0)
        process_result_release(out);
    return status;
}

void process_result_release(struct process_result *result)
{
    bytes_release(&result->output);
    bytes_release(&result->error);
    *result = (struct process_result){0};
}

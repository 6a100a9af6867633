/* process.c - theory of operation.
 *
 * process_run() forks; the child sets up its group, limits and descriptors and execs. Between fork
 * and exec only async-signal-safe calls run, since other threads of the parent may hold any lock. A
 * failed set-up or exec writes errno into a close-on-exec "exec pipe": an empty read means that
 * exec succeeded. The parent polls both output pipes, the interrupt pipe, and the clock, and reaps
 * the child with a pidfd-free waitpid once both pipes are closed or the deadline has passed. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static volatile sig_atomic_t interrupted;
static int interrupt_pipe[2] = {-1, -1};

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    int saved = errno;
    interrupted = 1;
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
    for (size_t i = 0; i < COUNT_OF(signals); ++i)
        (void)sigaction(signals[i], &action, NULL);
    /* A reader that went away is an error of write(), not the end of the program. */
    (void)signal(SIGPIPE, SIG_IGN);
}

bool process_interrupted(void)
{
    return interrupted != 0;
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

/* Runs in the forked child; returns only on failure, with errno set. */
static void child_exec(const struct process_spec *spec, int null_fd, int out_fd, int err_fd,
                       pid_t parent)
{
    static const char *const empty_environment[] = {NULL};
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
    set_limit(RLIMIT_AS, spec->memory_bytes);
    set_limit(RLIMIT_FSIZE, spec->file_bytes);
    set_limit(RLIMIT_CPU, spec->cpu_seconds);
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (spec->directory != NULL && chdir(spec->directory) != 0)
        return;
    if (dup2(null_fd, STDIN_FILENO) < 0 || dup2(out_fd, STDOUT_FILENO) < 0 ||
        dup2(err_fd, STDERR_FILENO) < 0)
        return;
    const char *const *environment =
        spec->environment != NULL ? spec->environment : empty_environment;
    (void)execve(spec->argv[0], (char *const *)spec->argv, (char *const *)environment);
}

struct stream {
    int fd;
    struct bytes *into;
    bool *cut;
};

/* Reads once what is there. Closes the stream at its end. */
static void stream_drain(struct stream *stream)
{
    char chunk[65536];
    ssize_t got = read(stream->fd, chunk, sizeof chunk);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        (void)close(stream->fd);
        stream->fd = -1;
        return;
    }
    size_t room = stream->into->limit - stream->into->length;
    size_t keep = (size_t)got < room ? (size_t)got : room;
    if (keep < (size_t)got || bytes_append(stream->into, chunk, keep) != 0)
        *stream->cut = true;
}

static void watch(pid_t pid, struct stream streams[2], int64_t deadline, bool *timed_out)
{
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        int64_t now = process_now_ns();
        if (process_interrupted())
            return;
        if (deadline != 0 && now >= deadline) {
            *timed_out = true;
            return;
        }
        struct pollfd fds[] = {{.fd = streams[0].fd, .events = POLLIN},
                               {.fd = streams[1].fd, .events = POLLIN},
                               {.fd = interrupt_pipe[0], .events = POLLIN}};
        int64_t wait_ms = deadline == 0 ? -1 : (deadline - now) / 1000000 + 1;
        int timeout = wait_ms > 1000000 ? 1000000 : (int)wait_ms;
        if (poll(fds, COUNT_OF(fds), timeout) <= 0)
            continue;
        for (size_t i = 0; i < 2; ++i)
            if (streams[i].fd >= 0 && fds[i].revents != 0)
                stream_drain(&streams[i]);
    }
    /* Both pipes are closed; a child that lives on silently still has its deadline. */
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != 0)
            return;
        if (process_interrupted())
            return;
        if (deadline != 0 && process_now_ns() >= deadline) {
            *timed_out = true;
            return;
        }
        const struct timespec pause = {.tv_nsec = 1000000};
        (void)nanosleep(&pause, NULL);
    }
}

static int start(pid_t *pid, const struct process_spec *spec, int out_pipe[2], int err_pipe[2],
                 struct error *err)
{
    AUTO_CLOSE int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int exec_pipe[2];
    if (null_fd < 0 || pipe2(exec_pipe, O_CLOEXEC) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start %s", spec->argv[0]);
    pid_t parent = getpid();
    *pid = fork();
    if (*pid == 0) {
        child_exec(spec, null_fd, out_pipe[1], spec->merge_error ? out_pipe[1] : err_pipe[1],
                   parent);
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

int process_run(struct process_result *out, const struct process_spec *spec, struct error *err)
{
    *out = (struct process_result){.output = bytes_with_limit(spec->output_limit),
                                   .error = bytes_with_limit(spec->output_limit)};
    int64_t began = process_now_ns();
    int out_pipe[2] = {-1, -1}, err_pipe[2] = {-1, -1};
    pid_t pid = -1;
    int status = -1;
    if (pipe2(out_pipe, O_CLOEXEC) != 0 || pipe2(err_pipe, O_CLOEXEC) != 0)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start %s", spec->argv[0]);
    else
        status = start(&pid, spec, out_pipe, err_pipe, err);
    for (size_t i = 0; i < 2; ++i) {
        int end = i == 0 ? out_pipe[1] : err_pipe[1];
        if (end >= 0)
            (void)close(end);
    }
    struct stream streams[] = {{out_pipe[0], &out->output, &out->output_cut},
                               {err_pipe[0], &out->error, &out->error_cut}};
    if (status == 0) {
        watch(pid, streams, spec->wall_ns > 0 ? began + spec->wall_ns : 0, &out->timed_out);
        /* Whatever the leader left behind dies with it. The group cannot be another's: it is not
         * reaped yet. */
        (void)kill(-pid, SIGKILL);
        int wait_status = 0;
        while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
            continue;
        out->signalled = WIFSIGNALED(wait_status);
        out->signal = out->signalled ? WTERMSIG(wait_status) : 0;
        out->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
        out->wall_ns = process_now_ns() - began;
        if (process_interrupted())
            status = error_set(err, ERROR_INTERRUPTED, "interrupted");
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

#include "repo_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "process.h"
#include "repo_task.h"

extern char **environ;

/* The whole environment: what TLS, proxies and sanitizers are told. No HOME, no agent, no token. */
static const char *const passed_on[] = {
    "LD_LIBRARY_PATH", "http_proxy",    "https_proxy",    "HTTPS_PROXY",
    "all_proxy",       "ALL_PROXY",     "no_proxy",       "NO_PROXY",
    "SSL_CERT_FILE",   "SSL_CERT_DIR",  "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
    "ASAN_OPTIONS",    "UBSAN_OPTIONS", "LSAN_OPTIONS",   "TSAN_OPTIONS",
};

static const char *program = "/proc/self/exe";

void repo_helper_use(const char *path)
{
    program = path != NULL ? path : "/proc/self/exe";
}

/* ---- Starting -------------------------------------------------------------------------------- */

static void make_environment(const char *into[COUNT_OF(passed_on) + 2])
{
    size_t used = 0;
    into[used++] = "LC_ALL=C.UTF-8";
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

/* In the forked child; only async-signal-safe calls. */
static void become_helper(int null_fd, int said, int control, const char *const *environment,
                          pid_t parent)
{
    static const char *const argv[] = {"spillway", "repo", NULL};
    process_begin_child(parent);
    int away = fcntl(control, F_DUPFD_CLOEXEC, 16);
    if (away >= 0 && dup2(null_fd, STDIN_FILENO) >= 0 && dup2(said, STDOUT_FILENO) >= 0 &&
        dup2(said, STDERR_FILENO) >= 0 && dup2(away, REPO_DESCRIPTOR_CONTROL) >= 0) {
#ifdef SYS_close_range
        (void)syscall(SYS_close_range, REPO_DESCRIPTOR_CONTROL + 1, ~0u, 4 /* close-on-exec */);
#endif
        (void)execve(program, (char *const *)argv, (char *const *)environment);
    }
    _exit(127);
}

int repo_helper_start(struct repo_helper *helper, struct error *err)
{
    if (helper->pid > 0)
        return 0;
    const char *environment[COUNT_OF(passed_on) + 2];
    make_environment(environment);
    AUTO_CLOSE int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int control[2] = {-1, -1};
    /* Neither end waits: a child that prints more than a pipe holds loses the rest. */
    int said[2] = {-1, -1};
    pid_t parent = getpid();
    if (null_fd >= 0 && pipe2(said, O_CLOEXEC | O_NONBLOCK) == 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) == 0) {
        helper->pid = fork();
        if (helper->pid == 0)
            become_helper(null_fd, said[1], control[1], environment, parent);
        if (helper->pid > 0)
            (void)setpgid(helper->pid, helper->pid); /* whichever of the two comes first */
    }
    if (helper->pid <= 0)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start the helper that reads repos");
    if (control[1] >= 0)
        (void)close(control[1]);
    if (said[1] >= 0)
        (void)close(said[1]);
    helper->control = control[0];
    helper->said = said[0];
    if (helper->pid > 0)
        return 0;
    helper->pid = 0;
    repo_helper_stop(helper);
    return -1;
}

void repo_helper_stop(struct repo_helper *helper)
{
    if (helper->pid > 0) {
        /* The group cannot be another's: its leader is not reaped yet. */
        (void)kill(-helper->pid, SIGKILL);
        (void)kill(helper->pid, SIGKILL); /* had it not become a leader yet */
        while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (helper->control >= 0)
        (void)close(helper->control);
    if (helper->said >= 0)
        (void)close(helper->said);
    *helper = REPO_HELPER_NONE;
}

/* ---- One task -------------------------------------------------------------------------------- */

/* A sealed copy of the task in memory that the child can map. */
static int task_memory(const struct bytes *task, struct error *err)
{
    AUTO_CLOSE int fd = memfd_create("repo-task", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    size_t written = 0;
    while (fd >= 0 && written < task->length) {
        ssize_t got = write(fd, task->data + written, task->length - written);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        written += (size_t)got;
    }
    if (fd < 0 || written < task->length ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot hand a task to the reader of repos");
        return -1;
    }
    return steal_fd(&fd);
}

/* One byte, and the descriptors beside it. */
static bool send_descriptors(int control, const int *descriptors, size_t count)
{
    char byte = 'T';
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } beside;
    memset(&beside, 0, sizeof beside);
    struct iovec content = {&byte, 1};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = beside.room,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(head), descriptors, count * sizeof(int));
    ssize_t sent = 0;
    do
        sent = sendmsg(control, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1;
}

struct reading {
    int reply; /* -1 at its end */
    struct bytes *into;
    int64_t heard_ns;
};

/* Takes what is there; zero bytes in front of the reply are signs of life. False: nothing there. */
static bool take(struct reading *reading)
{
    char chunk[65536];
    ssize_t got = recv(reading->reply, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (got <= 0) {
        (void)close(reading->reply);
        reading->reply = -1;
        return false;
    }
    reading->heard_ns = process_now_ns();
    size_t skip = 0;
    while (reading->into->length == 0 && skip < (size_t)got && chunk[skip] == 0)
        ++skip;
    (void)bytes_append(reading->into, chunk + skip, (size_t)got - skip);
    return true;
}

static int milliseconds_until(int64_t when_ns)
{
    int64_t left = when_ns - process_now_ns();
    return left <= 0 ? 0 : left > INT64_C(1000000000000) ? 1000000 : (int)(left / 1000000) + 1;
}

static void forget_said(const struct repo_helper *helper)
{
    char chunk[4096];
    while (read(helper->said, chunk, sizeof chunk) > 0)
        continue;
}

static void describe(struct repo_helper_run *run, const struct repo_helper *helper, int wait_status)
{
    char said[200] = "";
    ssize_t got = read(helper->said, said, sizeof said - 1);
    said[got > 0 ? got : 0] = '\0';
    while (got > 0 && (said[got - 1] == '\n' || said[got - 1] == ' '))
        said[--got] = '\0';
    run->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    if (WIFSIGNALED(wait_status))
        (void)snprintf(run->ending, sizeof run->ending, "was ended by signal %d (%s)%s%s",
                       WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)), got > 0 ? ": " : "",
                       said);
    else
        (void)snprintf(run->ending, sizeof run->ending, "ended with status %d%s%s",
                       WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1, got > 0 ? ": " : "",
                       said);
}

/* The helper itself is gone, with whatever it ran. */
static int lost(struct repo_helper *helper, struct repo_helper_run *run, struct error *err)
{
    int wait_status = 0;
    while (waitpid(helper->pid, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    run->end = REPO_HELPER_DIED;
    describe(run, helper, wait_status);
    (void)kill(-helper->pid, SIGKILL); /* nobody took its number: its child may hold the group */
    helper->pid = 0;
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 127)
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot run %s, which reads repos", program);
    return 0;
}

/* Waits for the child's end. -1 with *err: the user interrupted, or there is no helper. */
static int watch(struct repo_helper *helper, struct repo_helper_run *run, struct reading *reading,
                 struct error *err)
{
    enum { MOST_READS = 256 }; /* between two looks at the clock */
    int64_t began = process_now_ns();
    reading->heard_ns = began;
    for (;;) {
        int64_t silent_at = reading->heard_ns + run->silence_ns, slow_at = began + run->wall_ns;
        struct pollfd fds[] = {{.fd = helper->control, .events = POLLIN},
                               {.fd = reading->reply, .events = POLLIN},
                               {.fd = process_interrupt_fd(), .events = POLLIN}};
        int ready =
            poll(fds, COUNT_OF(fds), milliseconds_until(silent_at < slow_at ? silent_at : slow_at));
        if (process_interrupted())
            return error_set(err, ERROR_INTERRUPTED, "interrupted");
        int wait_status = 0;
        ssize_t got = fds[0].revents == 0 || ready <= 0
                          ? -2
                          : recv(helper->control, &wait_status, sizeof wait_status, MSG_DONTWAIT);
        bool ended = got >= 0;
        for (int reads = 0; reads < MOST_READS && reading->reply >= 0 && !run->reply.failed;
             ++reads)
            if (!take(reading))
                break;
        int64_t now = process_now_ns();
        if (run->reply.failed)
            run->end = REPO_HELPER_FLOODED;
        else if (ended && got == (ssize_t)sizeof wait_status && wait_status == 0)
            run->end = REPO_HELPER_ANSWERED;
        else if (ended && got != (ssize_t)sizeof wait_status)
            return lost(helper, run, err);
        else if (ended) {
            run->end = REPO_HELPER_DIED;
            describe(run, helper, wait_status);
        } else if (now >= slow_at)
            run->end = REPO_HELPER_SLOW;
        else if (now >= silent_at)
            run->end = REPO_HELPER_SILENT;
        else
            continue;
        /* A child that ended by itself leaves the helper good for the next. */
        if (!ended)
            repo_helper_stop(helper);
        return 0;
    }
}

int repo_helper_run(struct repo_helper *helper, struct repo_helper_run *run, struct error *err)
{
    AUTO_CLOSE int descriptor = run->descriptor;
    run->descriptor = -1;
    run->reply = bytes_with_limit(run->reply_limit);
    run->ending[0] = '\0';
    AUTO_CLOSE int memory = task_memory(&run->task, err);
    int ends[2] = {-1, -1};
    if (memory < 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot talk to the reader of repos");
    AUTO_CLOSE int child_end = ends[1];
    struct reading reading = {.reply = ends[0], .into = &run->reply};
    const int descriptors[] = {memory, child_end, descriptor};
    size_t count = descriptor >= 0 ? 3 : 2;
    bool sent = false;
    /* A helper that died meanwhile (killed from outside) is replaced once. */
    for (int attempt = 0; !sent && attempt < 2; ++attempt) {
        if (repo_helper_start(helper, err) != 0)
            break;
        forget_said(helper);
        sent = send_descriptors(helper->control, descriptors, count);
        if (!sent)
            repo_helper_stop(helper);
    }
    int status = 0;
    if (!sent) {
        status = error_set(err, ERROR_INFRASTRUCTURE, "the helper that reads repos does not start");
    } else {
        (void)close(steal_fd(&child_end));
        if (descriptor >= 0)
            (void)close(steal_fd(&descriptor));
        status = watch(helper, run, &reading, err);
        if (status != 0)
            repo_helper_stop(helper);
    }
    if (reading.reply >= 0)
        (void)close(reading.reply);
    return status;
}

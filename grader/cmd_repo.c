/* cmd_repo.c - `spillway repo`: the helper that forks a child for each step of each repo.
 *
 * The helper itself reads nothing but a byte and descriptors from the program that started it, so
 * every child begins as clean as the first. See repo_fetch.h for the whole picture. */
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "repo_work.h"
#include "sandbox.h"

struct order {
    int task, answers, ssh; /* -1: none */
};

static void close_order(struct order *order)
{
    const int fds[] = {order->task, order->answers, order->ssh};
    for (size_t i = 0; i < COUNT_OF(fds); ++i)
        if (fds[i] >= 0)
            (void)close(fds[i]);
}

/* False when the other end is closed. */
static bool next_order(struct order *order)
{
    char byte = 0;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } beside;
    struct iovec content = {&byte, 1};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = beside.room,
                             .msg_controllen = sizeof beside.room};
    ssize_t got = 0;
    do
        got = recvmsg(REPO_DESCRIPTOR_CONTROL, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *order = (struct order){-1, -1, -1};
    struct cmsghdr *head = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head == NULL || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len < CMSG_LEN(2 * sizeof(int)))
        return false;
    int fds[3] = {-1, -1, -1};
    memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
    *order = (struct order){fds[0], fds[1], fds[2]};
    return true;
}

/* ---- In the child ---------------------------------------------------------------------------- */

static int confine(const struct repo_task *task, struct error *err)
{
    bool local = task->kind == REPO_COPY || task->kind == REPO_PUT;
    bool server = task->kind == REPO_DOWNLOAD || task->kind == REPO_PUSH;
    const struct sandbox_reader reader = {
        .readable = task->kind == REPO_COPY   ? task->address
                    : task->kind == REPO_READ ? task->cache
                                              : NULL,
        .writable = {task->kind == REPO_READ ? NULL : task->cache,
                     task->kind == REPO_PUT ? task->address : NULL},
        .network = server && !task->through_ssh,
        .foreign_files = local,
        .memory_bytes = LIMIT_REPO_MEMORY_BYTES,
        .file_bytes = task->most_bytes,
        .cpu_seconds = LIMIT_REPO_CPU_SECONDS,
    };
    return sandbox_confine_reader(&reader, err);
}

static bool write_all(int fd, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0) {
        ssize_t got = send(fd, at, length, MSG_NOSIGNAL);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

/* The exit status of the child: not 0 when there is no answer. What it prints is part of the
 * parent's message. */
static int work_on(const struct order *order)
{
    static int (*const steps[REPO_TASK_KINDS])(struct repo_work *) = {
        [REPO_COPY] = repo_work_copy, [REPO_DOWNLOAD] = repo_work_download,
        [REPO_READ] = repo_work_read, [REPO_PUT] = repo_work_put,
        [REPO_PUSH] = repo_work_push,
    };
    static struct repo_work work; /* large */
    struct error err = {0};
    struct stat info;
    const struct repo_task *task = NULL;
    if (fstat(order->task, &info) != 0)
        return EXIT_STATUS_INFRASTRUCTURE;
    size_t length = (size_t)info.st_size;
    void *memory = mmap(NULL, length, PROT_READ, MAP_PRIVATE, order->task, 0);
    if (memory == MAP_FAILED || !repo_task_read(memory, length, &task, &work.parts)) {
        (void)fputs("a task that does not add up", stderr);
        return EXIT_STATUS_INFRASTRUCTURE;
    }
    work.task = task;
    work.ssh = order->ssh;
    work.answers = order->answers;
    work.err = &err;
    work.payload = bytes_with_limit(REPO_REPLY_BYTES_MAX - sizeof work.reply);
    repo_reply_init(&work.reply, (enum repo_task_kind)task->kind);
    if (task->kind == REPO_PUT)
        (void)umask(022); /* a student has to be able to read what is put into the repo */
    if (confine(task, &err) != 0 || steps[task->kind](&work) != 0) {
        (void)fputs(err.text, stderr);
        return EXIT_STATUS_INFRASTRUCTURE;
    }
    if (work.reply.reason != REPO_FINE) {
        bytes_clear(&work.payload);
        work.reply.ref_count = 0;
    }
    work.reply.payload_bytes = work.payload.length;
    if (!write_all(order->answers, &work.reply, sizeof work.reply) ||
        !write_all(order->answers, work.payload.data, work.payload.length))
        return EXIT_STATUS_INFRASTRUCTURE;
    return EXIT_STATUS_DONE;
}

static _Noreturn void be_child(const struct order *order, pid_t helper)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)close(REPO_DESCRIPTOR_CONTROL);
    int status = getppid() == helper ? work_on(order) : EXIT_STATUS_INFRASTRUCTURE;
    (void)fflush(stderr);
    _exit(status);
}

/* ---- The helper ------------------------------------------------------------------------------ */

int cmd_repo(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct stat about;
    if (fstat(REPO_DESCRIPTOR_CONTROL, &about) != 0 || !S_ISSOCK(about.st_mode)) {
        (void)fputs(
            "spillway: `repo` is what `spillway` starts to read repos; it is no command for "
            "people\n",
            stderr);
        return EXIT_STATUS_USAGE;
    }
    (void)umask(077);
    repo_work_set_up();
    pid_t helper = getpid();
    struct order order;
    while (next_order(&order)) {
        pid_t child = fork();
        if (child == 0)
            be_child(&order, helper);
        close_order(&order);
        int wait_status = EXIT_STATUS_INFRASTRUCTURE << 8;
        while (child > 0 && waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
            continue;
        if (send(REPO_DESCRIPTOR_CONTROL, &wait_status, sizeof wait_status, MSG_NOSIGNAL) < 0)
            break;
    }
    return EXIT_STATUS_DONE;
}

#include "support_driven.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "process.h"

#define PATIENCE_NS INT64_C(60000000000)

bool driven_start(struct driven *out, const char *const *argv, const char *const *environment)
{
    int ends[2];
    *out = (struct driven){.output = -1, .said = bytes_with_limit((size_t)1 << 20)};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    out->pid = fork();
    if (out->pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)execve(argv[0], (char *const *)(uintptr_t)argv,
                     (char *const *)(uintptr_t)environment);
        _exit(127);
    }
    (void)close(ends[1]);
    out->output = ends[0];
    return out->pid > 0;
}

/* False at the end of what it says, or when nothing came in time. */
static bool read_more(struct driven *driven, int64_t deadline_ns)
{
    char chunk[4096];
    int64_t left_ns = deadline_ns - process_now_ns();
    struct pollfd fd = {.fd = driven->output, .events = POLLIN};
    if (left_ns <= 0 || poll(&fd, 1, (int)(left_ns / 1000000) + 1) <= 0)
        return false;
    ssize_t got = read(driven->output, chunk, sizeof chunk);
    return got > 0 && bytes_append(&driven->said, chunk, (size_t)got) == 0;
}

bool driven_wait(struct driven *driven, const char *marker)
{
    int64_t deadline_ns = process_now_ns() + PATIENCE_NS;
    for (;;) {
        const char *text = bytes_text(&driven->said);
        const char *found = strstr(text + driven->heard, marker);
        if (found != NULL) {
            driven->heard = (size_t)(found - text) + strlen(marker);
            return true;
        }
        if (!read_more(driven, deadline_ns))
            return false;
    }
}

int driven_stop(struct driven *driven, int signal)
{
    int status = 0;
    (void)kill(driven->pid, signal);
    while (read_more(driven, process_now_ns() + PATIENCE_NS))
        continue;
    (void)waitpid(driven->pid, &status, 0);
    (void)close(driven->output);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

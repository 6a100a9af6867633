#include "repo_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "files.h"
#include "process.h"
#include "repo_ssh.h"
#include "text.h"

#define FULL_BYTES ((uint64_t)8 << 20) /* less than this is a full disk */

/* ---- Waiting --------------------------------------------------------------------------------- */

/* -1 with *err: the user interrupted. */
static int pause_for(int64_t wait_ns, struct error *err)
{
    int64_t until = process_now_ns() + wait_ns;
    for (int64_t left = wait_ns; left > 0 && !process_interrupted();
         left = until - process_now_ns()) {
        struct pollfd interrupt = {.fd = process_interrupt_fd(), .events = POLLIN};
        (void)poll(&interrupt, 1, left > INT64_C(1000000000) ? 1000 : (int)(left / 1000000) + 1);
    }
    return process_interrupted() ? error_set(err, ERROR_INTERRUPTED, "interrupted") : 0;
}

int repo_cache_lock(const char *cache, struct error *err)
{
    AUTO_FREE char *path = NULL;
    if (folders_make(cache, err) != 0)
        return -1;
    if (asprintf(&path, "%s.lock", cache) < 0) {
        path = NULL;
        return error_no_memory(err);
    }
    AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make %s", path);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot lock %s", path);
        if (pause_for(INT64_C(20000000), err) != 0)
            return -1;
    }
    return steal_fd(&fd);
}

/* ---- The answer ------------------------------------------------------------------------------ */

const char *repo_sentence(char *into, size_t size, enum repo_reason reason, const char *detail)
{
    size_t length = strlen(detail);
    bool ended = length > 0 && strchr(".!?", detail[length - 1]) != NULL;
    (void)snprintf(into, size, "%s%s %s", detail, ended ? "" : ".", repo_reason_mend(reason));
    if (into[0] >= 'a' && into[0] <= 'z')
        into[0] = (char)(into[0] - 'a' + 'A');
    text_clean(into);
    return into;
}

static void make_up(struct repo_call *call, enum repo_reason reason, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void make_up(struct repo_call *call, enum repo_reason reason, const char *format, ...)
{
    va_list arguments;
    repo_reply_init(&call->reply, (enum repo_task_kind)call->task.kind);
    call->reply.reason = reason;
    va_start(arguments, format);
    (void)vsnprintf(call->reply.detail, sizeof call->reply.detail, format, arguments);
    va_end(arguments);
    text_clean(call->reply.detail);
    bytes_release(&call->payload);
}

static void take_answer(struct repo_call *call, const struct repo_helper_run *run)
{
    const uint8_t *payload = NULL;
    const char *why = NULL;
    bytes_release(&call->payload);
    if (!repo_reply_read(&call->reply, &payload, (const uint8_t *)run->reply.data,
                         run->reply.length, &call->task, &why)) {
        make_up(call, REPO_CRASHED, "what its reader answered %s", why);
        return;
    }
    size_t length = (size_t)call->reply.payload_bytes;
    call->payload = bytes_with_limit(length);
    if (bytes_append(&call->payload, payload, length) != 0)
        make_up(call, REPO_CRASHED, "there is not enough memory for what it holds");
}

/* A full disk hits everybody, so it is looked for here and not believed from a child. */
static bool disk_is_full(const char *folder)
{
    struct statvfs info;
    return statvfs(folder, &info) == 0 && (uint64_t)info.f_bavail * info.f_frsize < FULL_BYTES;
}

static int take_end(struct repo_call *call, const struct repo_helper_run *run, struct error *err)
{
    const struct repo_options *options = &call->fetcher->options;
    call->slow = run->end == REPO_HELPER_SLOW;
    switch (run->end) {
    case REPO_HELPER_ANSWERED:
        take_answer(call, run);
        break;
    case REPO_HELPER_SILENT:
        make_up(call, REPO_SILENT, "%s was silent for %lld seconds",
                repo_kind_is_local(call->url->kind) ? "the reader" : "the server",
                (long long)(options->silence_ns / 1000000000));
        break;
    case REPO_HELPER_SLOW:
        make_up(call, REPO_SILENT, "it was not done after %lld seconds",
                (long long)(options->wall_ns / 1000000000));
        break;
    case REPO_HELPER_FLOODED:
        make_up(call, REPO_CRASHED, "its reader answered with more than any repo gives");
        break;
    case REPO_HELPER_DIED:
        if (disk_is_full(call->task.cache))
            return error_set(err, ERROR_INFRASTRUCTURE, "the disk that holds %s is full",
                             call->task.cache);
        if (run->signal == SIGXCPU)
            make_up(call, REPO_TOO_LARGE, "reading it took more than %d seconds of computing",
                    LIMIT_REPO_CPU_SECONDS);
        else
            make_up(call, REPO_CRASHED, "the process that read it %s", run->ending);
        break;
    }
    return 0;
}

/* ---- One attempt ----------------------------------------------------------------------------- */

static struct bytes assemble(const struct repo_call *call)
{
    const struct repo_task *task = &call->task;
    size_t pushes = task->push_count * sizeof *call->pushes;
    size_t refs = task->ref_count * sizeof *call->refs;
    struct bytes bytes = bytes_with_limit(sizeof *task + pushes + refs + LIMIT_PUBLISH_BYTES);
    (void)bytes_append(&bytes, task, sizeof *task);
    (void)bytes_append(&bytes, call->pushes, pushes);
    (void)bytes_append(&bytes, call->refs, refs);
    for (size_t i = 0; i < task->file_count; ++i)
        (void)bytes_append(&bytes, call->contents[i], (size_t)task->files[i].length);
    return bytes;
}

static bool goes_to_server(const struct repo_call *call)
{
    return call->task.kind == REPO_DOWNLOAD || call->task.kind == REPO_PUSH;
}

static int attempt(struct repo_call *call, struct error *err)
{
    const struct repo_options *options = &call->fetcher->options;
    struct repo_helper_run run = {.descriptor = -1,
                                  .silence_ns = options->silence_ns,
                                  .wall_ns = options->wall_ns,
                                  .reply_limit = REPO_REPLY_BYTES_MAX};
    struct repo_ssh ssh = REPO_SSH_NONE;
    bool through_ssh = goes_to_server(call) && call->url->kind == REPO_SSH;
    call->task.through_ssh = through_ssh;
    if (through_ssh) {
        if (repo_ssh_start(&ssh, call->url, options->ssh_key, options->ssh_config,
                           call->task.kind == REPO_PUSH, err) != 0)
            return -1;
        run.descriptor = steal_fd(&ssh.descriptor);
    }
    run.task = assemble(call);
    int status =
        run.task.failed ? error_no_memory(err) : repo_helper_run(&call->fetcher->helper, &run, err);
    if (run.task.data != NULL)
        explicit_bzero(run.task.data, run.task.length); /* a secret may be in it */
    bytes_release(&run.task);
    repo_ssh_stop(&ssh);
    if (status == 0)
        status = take_end(call, &run, err);
    bytes_release(&run.reply);
    if (through_ssh) {
        char detail[500];
        enum repo_reason reason = repo_ssh_explain(&ssh, detail);
        /* The child saw a pipe that ended; ssh knows why. */
        bool guess = call->reply.reason == REPO_NETWORK || call->reply.reason == REPO_NOT_GIT;
        if (status == 0 && guess && reason != REPO_FINE)
            make_up(call, reason, "%s", detail);
        else if (status == 0 && guess && detail[0] != '\0')
            make_up(call, REPO_NETWORK, "ssh: %s", detail);
    }
    return status;
}

/* ---- Credentials ----------------------------------------------------------------------------- */

static void offer(struct repo_call *call, const struct repo_credential *credential)
{
    (void)snprintf(call->task.user, sizeof call->task.user, "%s", credential->user);
    (void)snprintf(call->task.secret, sizeof call->task.secret, "%s", credential->secret);
}

/* What can be offered at once: the server is told only when it asks. */
static void offer_known(struct repo_call *call, char why[200])
{
    struct repo_credential credential;
    why[0] = '\0';
    if (!goes_to_server(call) || (call->url->kind != REPO_HTTPS && call->url->kind != REPO_HTTP))
        return;
    if (repo_credential_from_environment(&credential, call->url, why))
        offer(call, &credential);
    else if (strcasecmp(call->fetcher->known_host, call->url->host) == 0)
        offer(call, &call->fetcher->known);
    repo_credential_wipe(&credential);
}

/* After a server asked for what we do not have yet. */
static bool ask_helper(struct repo_call *call, struct error *err)
{
    struct repo_fetcher *fetcher = call->fetcher;
    if (call->task.secret[0] != '\0' ||
        !repo_credential_from_helper(&fetcher->known, call->url, err))
        return false;
    (void)snprintf(fetcher->known_host, sizeof fetcher->known_host, "%s", call->url->host);
    offer(call, &fetcher->known);
    return true;
}

/* ---- Attempts -------------------------------------------------------------------------------- */

/* Worth another try, and one is left. */
static bool try_again(const struct repo_call *call, unsigned attempts)
{
    const struct repo_options *options = &call->fetcher->options;
    if (call->reply.reason == REPO_SILENT) /* each costs long enough */
        return !call->slow && attempts < options->attempts && attempts < 2;
    return call->reply.reason == REPO_NETWORK && attempts < options->attempts;
}

int repo_call(struct repo_call *call, struct error *err)
{
    char why[200];
    int64_t wait_ns = call->fetcher->options.backoff_ns;
    bool asked = false;
    int status = 0;
    offer_known(call, why);
    for (unsigned attempts = 1;; ++attempts) {
        /* With a secret in hand nobody is followed to another host. */
        call->task.redirects = call->task.secret[0] == '\0';
        ++call->attempts;
        status = attempt(call, err);
        if (status != 0)
            break;
        if (call->reply.wants_secret && !asked) {
            asked = true;
            if (ask_helper(call, err)) {
                --attempts;
                continue;
            }
            if (err->kind != ERROR_NONE) {
                status = -1;
                break;
            }
            if (why[0] != '\0')
                make_up(call, REPO_NO_ACCESS, "the server asks for a credential, and %s", why);
        }
        if (!try_again(call, attempts))
            break;
        status = pause_for(wait_ns, err);
        if (status != 0)
            break;
        wait_ns *= 2;
    }
    repo_url_redact(call->reply.detail, call->task.secret);
    explicit_bzero(call->task.secret, sizeof call->task.secret);
    return status;
}

void repo_call_release(struct repo_call *call)
{
    bytes_release(&call->payload);
}

#include "repo_ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "files.h"
#include "process.h"
#include "text.h"

#define ARGUMENTS_MAX 48
#define END_MS 500 /* what an ssh may take to say why it ended */

extern char **environ;

/* What ssh needs to find its files, its agent and a Kerberos ticket. */
static const char *const passed_on[] = {"HOME", "USER",          "LOGNAME",    "PATH",
                                        "LANG", "SSH_AUTH_SOCK", "KRB5CCNAME", "KRB5_CONFIG"};

/* ---- The command line ------------------------------------------------------------------------ */

/* For the shell on the other side: 'it'\''s'. */
static int quote(struct bytes *out, const char *text)
{
    (void)bytes_append_text(out, "'");
    for (; *text != '\0'; ++text)
        if (*text == '\'' || *text == '!')
            (void)bytes_printf(out, "'\\%c'", *text);
        else
            (void)bytes_append(out, text, 1);
    return bytes_append_text(out, "'");
}

struct command {
    const char *argv[ARGUMENTS_MAX];
    const char *environment[COUNT_OF(passed_on) + 1];
    char port[16];
    char target[sizeof((struct repo_url *)NULL)->user + sizeof((struct repo_url *)NULL)->host + 2];
    struct bytes remote; /* owned */
};

static void make_command(struct command *command, const struct repo_url *url, const char *key,
                         const char *config, bool push)
{
    static const char *const fixed[] = {
        "ssh", "-T",
        "-a",  "-x",
        "-o",  "BatchMode=yes",
        "-o",  "ConnectTimeout=20",
        "-o",  "ServerAliveInterval=15",
        "-o",  "ClearAllForwardings=yes",
        "-o",  "PermitLocalCommand=no",
        "-o",  "ControlMaster=no",
        "-o",  "LogLevel=ERROR",
    };
    size_t used = 0;
    for (; used < COUNT_OF(fixed); ++used)
        command->argv[used] = fixed[used];
    if (config != NULL) {
        command->argv[used++] = "-F";
        command->argv[used++] = config;
    }
    if (key != NULL) {
        command->argv[used++] = "-i";
        command->argv[used++] = key;
        command->argv[used++] = "-o";
        command->argv[used++] = "IdentitiesOnly=yes";
    }
    if (url->port != 0) {
        (void)snprintf(command->port, sizeof command->port, "%u", url->port);
        command->argv[used++] = "-p";
        command->argv[used++] = command->port;
    }
    (void)snprintf(command->target, sizeof command->target, "%s%s%s", url->user,
                   url->user[0] == '\0' ? "" : "@", url->host);
    command->remote = bytes_with_limit((size_t)8 * LIMIT_REPO_URL_BYTES);
    (void)bytes_append_text(&command->remote, push ? "git-receive-pack " : "git-upload-pack ");
    (void)quote(&command->remote, url->path);
    command->argv[used++] = "--";
    command->argv[used++] = command->target;
    command->argv[used++] = bytes_text(&command->remote);
    command->argv[used] = NULL;
    size_t variables = 0;
    for (size_t i = 0; i < COUNT_OF(passed_on); ++i) {
        size_t length = strlen(passed_on[i]);
        for (char **entry = environ; entry != NULL && *entry != NULL; ++entry)
            if (strncmp(*entry, passed_on[i], length) == 0 && (*entry)[length] == '=') {
                command->environment[variables++] = *entry;
                break;
            }
    }
    command->environment[variables] = NULL;
}

/* ---- Starting and ending --------------------------------------------------------------------- */

/* In the forked child; only async-signal-safe calls. */
static void become_ssh(const char *program, const struct command *command, int both, int said,
                       pid_t parent)
{
    process_begin_child(parent);
    if (dup2(both, STDIN_FILENO) >= 0 && dup2(both, STDOUT_FILENO) >= 0 &&
        dup2(said, STDERR_FILENO) >= 0) {
#ifdef SYS_close_range
        (void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 4 /* close-on-exec */);
#endif
        (void)execve(program, (char *const *)command->argv, (char *const *)command->environment);
    }
    _exit(127);
}

int repo_ssh_start(struct repo_ssh *ssh, const struct repo_url *url, const char *key,
                   const char *config, bool push, struct error *err)
{
    *ssh = REPO_SSH_NONE;
    AUTO_FREE char *program = program_find("ssh");
    if (program == NULL)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "there is no ssh on the PATH, which ssh:// addresses need: install "
                         "openssh-client");
    struct command command = {.port = ""};
    int ends[2] = {-1, -1}, said[2] = {-1, -1};
    pid_t parent = getpid();
    make_command(&command, url, key, config, push);
    /* Nobody reads its words while it runs: what a pipe cannot hold is lost, and it never waits. */
    if (!command.remote.failed && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 &&
        pipe2(said, O_CLOEXEC | O_NONBLOCK) == 0)
        ssh->pid = fork();
    else
        ssh->pid = -1;
    if (ssh->pid == 0)
        become_ssh(program, &command, ends[1], said[1], parent);
    if (ssh->pid < 0)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start %s", program);
    else
        (void)setpgid(ssh->pid, ssh->pid); /* whichever of the two comes first */
    bytes_release(&command.remote);
    if (ends[1] >= 0)
        (void)close(ends[1]);
    if (said[1] >= 0)
        (void)close(said[1]);
    ssh->descriptor = ends[0];
    ssh->said = said[0];
    if (ssh->pid > 0)
        return 0;
    ssh->pid = 0;
    repo_ssh_stop(ssh);
    return -1;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid != 0;
}

void repo_ssh_stop(struct repo_ssh *ssh)
{
    if (ssh->descriptor >= 0)
        (void)close(steal_fd(&ssh->descriptor));
    if (ssh->pid <= 0)
        return;
    for (int waited = 0; waited < END_MS && !has_ended(ssh->pid) && !process_interrupted();
         waited += 5)
        (void)poll(NULL, 0, 5);
    int wait_status = 0;
    (void)kill(-ssh->pid, SIGKILL);
    (void)kill(ssh->pid, SIGKILL); /* had it not become a leader yet */
    while (waitpid(ssh->pid, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    ssh->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    ssh->pid = 0;
}

/* ---- Its words ------------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *words;
    enum repo_reason reason;
    const char *detail; /* NULL: its own words */
} meanings[] = {
    {"host key verification failed", REPO_HOST_KEY, "ssh does not know this server's key, or knows another"},
    {"identification has changed", REPO_HOST_KEY, "the server's key is not the one in known_hosts"},
    {"permission denied", REPO_NO_ACCESS, NULL},
    {"too many authentication failures", REPO_NO_ACCESS, NULL},
    {"no supported authentication", REPO_NO_ACCESS, NULL},
    {"name or service not known", REPO_NOT_FOUND, "no server of that name is known"},
    {"no address associated", REPO_NOT_FOUND, "no server of that name is known"},
    {"could not resolve hostname", REPO_NETWORK, NULL},
    {"connection refused", REPO_NETWORK, NULL},
    {"connection timed out", REPO_NETWORK, NULL},
    {"operation timed out", REPO_NETWORK, NULL},
    {"no route to host", REPO_NETWORK, NULL},
    {"network is unreachable", REPO_NETWORK, NULL},
    {"connection reset", REPO_NETWORK, NULL},
    {"connection closed", REPO_NETWORK, NULL},
    {"kex_exchange", REPO_NETWORK, NULL},
    {"banner exchange", REPO_NETWORK, NULL},
    {"does not appear to be a git repository", REPO_NOT_FOUND, "the server has no git repo there"},
    {"not a git repository", REPO_NOT_FOUND, "the server has no git repo there"},
    {"repository not found", REPO_NOT_FOUND, "the server knows no such repo"},
    {"could not be found", REPO_NOT_FOUND, NULL},
    {"no such file", REPO_NOT_FOUND, NULL},
    {"dubious ownership", REPO_NO_ACCESS, "git on the server refuses it, since the folder there belongs to another user"},
    {"access denied", REPO_NO_ACCESS, NULL},
    {"denied to", REPO_NO_ACCESS, NULL},
    {"not allowed", REPO_NO_ACCESS, NULL},
    {"don't have permission", REPO_NO_ACCESS, NULL},
    {"command not found", REPO_NOT_GIT, "there is no git on the server"},
};
/* clang-format on */

/* The last line that says something. */
static void last_line(char into[300], const char *words)
{
    AUTO_FREE char *copy = strdup(words);
    char *rest = copy;
    into[0] = '\0';
    for (char *line; rest != NULL && (line = strsep(&rest, "\r\n")) != NULL;)
        if (line[strspn(line, " \t")] != '\0')
            (void)text_copy(into, 300, line);
}

enum repo_reason repo_ssh_meaning(const char *words, char detail[500])
{
    char line[300];
    last_line(line, words);
    repo_url_redact(line, NULL);
    for (size_t i = 0; i < COUNT_OF(meanings); ++i) {
        if (strcasestr(words, meanings[i].words) == NULL)
            continue;
        (void)snprintf(
            detail, 500, "%s%s%s%s", meanings[i].detail == NULL ? line : meanings[i].detail,
            meanings[i].detail == NULL ? "" : " (", meanings[i].detail == NULL ? "" : line,
            meanings[i].detail == NULL ? "" : ")");
        return meanings[i].reason;
    }
    (void)snprintf(detail, 500, "%s", line);
    return REPO_FINE;
}

enum repo_reason repo_ssh_explain(struct repo_ssh *ssh, char detail[500])
{
    char words[8192];
    ssize_t got = ssh->said < 0 ? 0 : read(ssh->said, words, sizeof words - 1);
    words[got > 0 ? got : 0] = '\0';
    if (ssh->said >= 0)
        (void)close(steal_fd(&ssh->said));
    return repo_ssh_meaning(words, detail);
}

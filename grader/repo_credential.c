#include "repo_credential.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "files.h"
#include "process.h"

#define HELPER_SECONDS 20

extern char **environ;

bool repo_credential_from_environment(struct repo_credential *ret, const struct repo_url *url,
                                      char why[200])
{
    const char *token = getenv("SPILLWAY_GIT_TOKEN"), *host = getenv("SPILLWAY_GIT_TOKEN_HOST");
    *ret = (struct repo_credential){.user = ""};
    why[0] = '\0';
    if (token == NULL || token[0] == '\0')
        return false;
    if (host == NULL || host[0] == '\0')
        host = "github.com";
    if (strcasecmp(host, url->host) != 0) {
        (void)snprintf(why, 200,
                       "SPILLWAY_GIT_TOKEN is for %.80s only; SPILLWAY_GIT_TOKEN_HOST "
                       "names another host",
                       host);
        return false;
    }
    if (strlen(token) >= sizeof ret->secret)
        return false;
    /* The large hosts take any name beside a token; some want the account's. */
    (void)snprintf(ret->user, sizeof ret->user, "%s",
                   url->user[0] != '\0' ? url->user : "x-access-token");
    (void)snprintf(ret->secret, sizeof ret->secret, "%s", token);
    return true;
}

/* ---- git's helpers --------------------------------------------------------------------------- */

static int question(const struct repo_url *url)
{
    char text[LIMIT_REPO_URL_BYTES + 700], port[16] = "", user[100] = "";
    if (url->port != 0)
        (void)snprintf(port, sizeof port, ":%u", url->port);
    if (url->user[0] != '\0')
        (void)snprintf(user, sizeof user, "username=%s\n", url->user);
    int length = snprintf(text, sizeof text, "protocol=%s\nhost=%s%s\npath=%s\n%s\n",
                          url->kind == REPO_HTTPS ? "https" : "http", url->host, port,
                          url->path[0] == '/' ? url->path + 1 : url->path, user);
    AUTO_CLOSE int fd = memfd_create("repo-question", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, (size_t)length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    return steal_fd(&fd);
}

/* The value of "NAME=" at the beginning of a line. */
static bool take_value(char *into, size_t room, const char *answer, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = answer; line != NULL && *line != '\0';) {
        size_t end = strcspn(line, "\n");
        if (strncmp(line, name, length) == 0 && end - length < room) {
            (void)snprintf(into, room, "%.*s", (int)(end - length), line + length);
            return true;
        }
        line = line[end] == '\0' ? NULL : line + end + 1;
    }
    return false;
}

/* Where helpers keep what they know, and how to reach a key ring; nothing that asks anybody. */
static void make_environment(const char *into[24])
{
    static const char *const passed_on[] = {
        "HOME",
        "USER",
        "LOGNAME",
        "PATH",
        "LANG",
        "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
        "GNUPGHOME",
        "GPG_AGENT_INFO",
        "DBUS_SESSION_BUS_ADDRESS",
        "PASSWORD_STORE_DIR",
    };
    static const char *const fixed[] = {"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false",
                                        "SSH_ASKPASS=/bin/false", "GCM_INTERACTIVE=never",
                                        "GIT_CEILING_DIRECTORIES=/"};
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

bool repo_credential_from_helper(struct repo_credential *ret, const struct repo_url *url,
                                 struct error *err)
{
    *ret = (struct repo_credential){.user = ""};
    AUTO_FREE char *git = program_find("git");
    AUTO_CLOSE int input = git == NULL ? -1 : question(url);
    if (input < 0)
        return false;
    const char *argv[] = {git, "credential", "fill", NULL};
    const char *environment[24];
    make_environment(environment);
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .directory = "/",
                                      .input = &input,
                                      .wall_ns = INT64_C(1000000000) * HELPER_SECONDS,
                                      .output_limit = 8192};
    struct process_result result = {0};
    struct error trouble = {0};
    if (process_run(&result, &spec, &trouble) != 0) {
        if (trouble.kind == ERROR_INTERRUPTED)
            *err = trouble;
        return false;
    }
    const char *answer = bytes_text(&result.output);
    bool known = !result.timed_out && !result.signalled && result.exit_code == 0 &&
                 take_value(ret->user, sizeof ret->user, answer, "username=") &&
                 take_value(ret->secret, sizeof ret->secret, answer, "password=");
    if (!known)
        repo_credential_wipe(ret);
    if (result.output.data != NULL)
        explicit_bzero(result.output.data, result.output.length);
    process_result_release(&result);
    return known;
}

void repo_credential_wipe(struct repo_credential *credential)
{
    explicit_bzero(credential, sizeof *credential);
}

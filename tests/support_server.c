#include "support_server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "files.h"
#include "number.h"

/* ---- Ports ----------------------------------------------------------------------------------- */

/* Listens on a free port of loopback. */
static int listen_anywhere(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(fd, 64), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static unsigned free_port(void)
{
    unsigned port = 0;
    (void)close(listen_anywhere(&port));
    return port;
}

static bool answers(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

/* Starts a program that listens on `port`, and waits until it does. */
static void start(const char *const *argv, unsigned port)
{
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int quiet = open("/dev/null", O_RDWR);
        (void)dup2(quiet, STDIN_FILENO);
        (void)dup2(quiet, STDOUT_FILENO);
        (void)dup2(quiet, STDERR_FILENO);
        process_begin_child(parent);
        /* A lock that somebody holds around the tests is not the server's to keep. */
        (void)syscall(SYS_close_range, 3u, ~0u, 0);
        (void)setenv("HOME", testing_temporary_folder(), 1);
        (void)execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    for (int tries = 0; !answers(port); ++tries) {
        ck_assert_msg(tries < 1000 && waitpid(pid, NULL, WNOHANG) == 0, "%s does not listen",
                      argv[0]);
        (void)poll(NULL, 0, 10);
    }
}

/* git's own folder of programs: `git daemon` would start git-daemon as a child, which outlives it.
 */
static char *git_program(const char *name)
{
    AUTO_FREE char *git = program_find("git");
    ck_assert_ptr_nonnull(git);
    const char *const argv[] = {git, "--exec-path", NULL};
    const struct process_spec spec = {
        .argv = argv, .wall_ns = INT64_C(60000000000), .output_limit = 4096};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    result.output.data[strcspn(result.output.data, "\n")] = '\0';
    char *path = path_join(result.output.data, name);
    process_result_release(&result);
    ck_assert_msg(path != NULL && access(path, X_OK) == 0, "there is no %s", path);
    return path;
}

unsigned server_git(const char *root)
{
    unsigned port = free_port();
    AUTO_FREE char *daemon = git_program("git-daemon");
    AUTO_FREE char *base = NULL, *listen_port = NULL;
    ck_assert_int_gt(asprintf(&base, "--base-path=%s", root), 0);
    ck_assert_int_gt(asprintf(&listen_port, "--port=%u", port), 0);
    const char *const argv[] = {
        daemon,      "--export-all",          "--reuseaddr", "--listen=127.0.0.1",
        listen_port, "--enable=receive-pack", base,          root,
        NULL};
    start(argv, port);
    return port;
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

#define HEAD_BYTES 16384

static unsigned *counts; /* requests, credentials, connections: shared with the servers */

struct request {
    char head[HEAD_BYTES];
    char method[16], path[4096], query[1000], type[200], authorization[400], encoding[100];
    bool chunked, expects;
    uint64_t length;
    struct bytes body;
};

static void header(const char *head, const char *name, char *into, size_t room)
{
    size_t length = strlen(name);
    into[0] = '\0';
    for (const char *line = head; line != NULL; line = strstr(line, "\r\n")) {
        line += line == head ? 0 : 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            line += length + 1 + strspn(line + length + 1, " ");
            (void)snprintf(into, room, "%.*s", (int)strcspn(line, "\r"), line);
            return;
        }
    }
}

static bool read_exactly(FILE *in, struct bytes *into, size_t length)
{
    char chunk[4096];
    while (length > 0) {
        size_t got = fread(chunk, 1, length < sizeof chunk ? length : sizeof chunk, in);
        if (got == 0 || bytes_append(into, chunk, got) != 0)
            return false;
        length -= got;
    }
    return true;
}

static bool read_chunks(FILE *in, struct bytes *into)
{
    char line[100];
    while (fgets(line, sizeof line, in) != NULL) {
        size_t length = strtoul(line, NULL, 16);
        if (!read_exactly(in, into, length) || fgets(line, sizeof line, in) == NULL)
            return false;
        if (length == 0)
            return true;
    }
    return false;
}

static bool read_request(FILE *in, FILE *out, struct request *request)
{
    char length[40], value[100];
    size_t used = 0;
    memset(request, 0, sizeof *request);
    while (used + 2 < HEAD_BYTES && fgets(request->head + used, (int)(HEAD_BYTES - used), in)) {
        bool end = strcmp(request->head + used, "\r\n") == 0;
        used += strlen(request->head + used);
        if (end)
            break;
    }
    if (sscanf(request->head, "%15s %4095s", request->method, request->path) != 2)
        return false;
    char *mark = strchr(request->path, '?');
    if (mark != NULL) {
        *mark = '\0';
        (void)snprintf(request->query, sizeof request->query, "%s", mark + 1);
    }
    header(request->head, "Content-Type", request->type, sizeof request->type);
    header(request->head, "Content-Encoding", request->encoding, sizeof request->encoding);
    header(request->head, "Authorization", request->authorization, sizeof request->authorization);
    header(request->head, "Content-Length", length, sizeof length);
    header(request->head, "Transfer-Encoding", value, sizeof value);
    request->chunked = strcasecmp(value, "chunked") == 0;
    header(request->head, "Expect", value, sizeof value);
    request->body = bytes_with_limit((size_t)64 << 20);
    if (strcasecmp(value, "100-continue") == 0) {
        (void)fputs("HTTP/1.1 100 Continue\r\n\r\n", out);
        (void)fflush(out);
    }
    if (!number_parse_u64(length, 64 << 20, &request->length))
        request->length = 0;
    return request->chunked ? read_chunks(in, &request->body)
                            : read_exactly(in, &request->body, (size_t)request->length);
}

static void answer(FILE *out, const char *status, const char *headers, const void *body,
                   size_t length)
{
    (void)fprintf(out, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status, headers, length);
    (void)fwrite(body, 1, length, out);
    (void)fflush(out);
}

/* Runs git http-backend as a CGI program (RFC 3875). */
static struct bytes run_backend(const struct request *request, const char *root)
{
    char content_length[40], path[4200], query[1100], method[40], type[240], encoding[140];
    char root_folder[600], programs[2000], home[600];
    const char *const environment[] = {root_folder,
                                       path,
                                       query,
                                       method,
                                       type,
                                       encoding,
                                       content_length,
                                       programs,
                                       home,
                                       "REMOTE_USER=somebody",
                                       "GIT_HTTP_EXPORT_ALL=1",
                                       NULL};
    AUTO_FREE char *git = program_find("git");
    AUTO_CLOSE int input = memfd_create("body", MFD_CLOEXEC);
    (void)snprintf(root_folder, sizeof root_folder, "GIT_PROJECT_ROOT=%s", root);
    (void)snprintf(path, sizeof path, "PATH_INFO=%s", request->path);
    (void)snprintf(query, sizeof query, "QUERY_STRING=%s", request->query);
    (void)snprintf(method, sizeof method, "REQUEST_METHOD=%s", request->method);
    (void)snprintf(type, sizeof type, "CONTENT_TYPE=%s", request->type);
    (void)snprintf(encoding, sizeof encoding, "HTTP_CONTENT_ENCODING=%s", request->encoding);
    (void)snprintf(content_length, sizeof content_length, "CONTENT_LENGTH=%zu",
                   request->body.length);
    (void)snprintf(programs, sizeof programs, "PATH=%s", getenv("PATH"));
    (void)snprintf(home, sizeof home, "HOME=%s", testing_temporary_folder());
    (void)!write(input, request->body.data, request->body.length);
    (void)lseek(input, 0, SEEK_SET);
    const char *const argv[] = {git, "-c", "http.receivepack=true", "http-backend", NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .input = &input,
                                      .wall_ns = INT64_C(60000000000),
                                      .output_limit = (size_t)64 << 20};
    struct process_result result = {0};
    struct error err = {0};
    struct bytes output = {0};
    if (process_run(&result, &spec, &err) == 0) {
        output = result.output;
        result.output = (struct bytes){0};
        process_result_release(&result);
    }
    return output;
}

static void be_backend(FILE *out, const struct request *request, const char *root, size_t most)
{
    struct bytes output = run_backend(request, root);
    char *end = output.length == 0 ? NULL : strstr(output.data, "\r\n\r\n");
    char status[100];
    if (end == NULL) {
        answer(out, "500 No Backend", "", "", 0);
        bytes_release(&output);
        return;
    }
    end[2] = '\0';
    header(output.data, "Status", status, sizeof status);
    const char *body = end + 4;
    size_t length = output.length - (size_t)(body - output.data);
    (void)fprintf(out, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n",
                  status[0] == '\0' ? "200 OK" : status, output.data, length);
    (void)fwrite(body, 1, length < most ? length : most, out);
    (void)fflush(out);
    bytes_release(&output);
}

static void serve_request(FILE *out, const struct request *request, enum server_http kind,
                          const char *root, const char *target)
{
    static const char page[] = "<html>Welcome</html>";
    /* printf 'x-access-token:s3cret-t0ken' | base64 */
    static const char pass[] = "Basic eC1hY2Nlc3MtdG9rZW46czNjcmV0LXQwa2Vu";
    char text[5000];
    switch (kind) {
    case SERVER_PASSWORD:
        if (strcmp(request->authorization, pass) == 0)
            be_backend(out, request, root, SIZE_MAX);
        else
            answer(out, "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", "", 0);
        break;
    case SERVER_HANGS_UP:
        be_backend(out, request, root, 600);
        break;
    case SERVER_STATUS:
        (void)snprintf(text, sizeof text, "%.3s Because", request->path + 1);
        answer(out, text, "", "", 0);
        break;
    case SERVER_PAGE:
        answer(out, "200 OK", "Content-Type: text/html\r\n", page, sizeof page - 1);
        break;
    case SERVER_DUMB:
        answer(out, "200 OK", "Content-Type: text/plain\r\n", "", 0);
        break;
    case SERVER_REDIRECT:
        (void)snprintf(text, sizeof text, "Location: %s%s?%s\r\n", target, request->path,
                       request->query);
        answer(out, "301 Moved", text, "", 0);
        break;
    default:
        be_backend(out, request, root, SIZE_MAX);
    }
}

static void serve_connection(int fd, enum server_http kind, const char *root, const char *target)
{
    static struct request request;
    FILE *in = fdopen(dup(fd), "r"), *out = fdopen(fd, "w");
    unsigned connection = __atomic_fetch_add(&counts[2], 1, __ATOMIC_RELAXED);
    if (in == NULL || out == NULL)
        return;
    while (kind == SERVER_SILENT && fgets(request.head, HEAD_BYTES, in) != NULL)
        continue;
    if (kind == SERVER_DRIPS)
        (void)fputs("HTTP/1.1 200 OK\r\nX: ", out);
    while (kind == SERVER_DRIPS && fputs("x", out) >= 0 && fflush(out) == 0)
        (void)poll(NULL, 0, 1000);
    if (kind == SERVER_FAILS_ONCE && connection == 0)
        return;
    while (read_request(in, out, &request)) {
        __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);
        if (request.authorization[0] != '\0')
            __atomic_fetch_add(&counts[1], 1, __ATOMIC_RELAXED);
        serve_request(out, &request, kind, root, target);
        bytes_release(&request.body);
        if (kind == SERVER_HANGS_UP)
            return;
    }
}

unsigned server_http(enum server_http kind, const char *root, const char *target)
{
    unsigned port = 0;
    int listening = listen_anywhere(&port);
    if (counts == NULL)
        counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(counts, MAP_FAILED);
    counts[2] = 0;
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        process_begin_child(parent);
        (void)signal(SIGCHLD, SIG_IGN);
        pid_t server = getpid();
        for (;;) {
            int fd = accept(listening, NULL, NULL);
            if (fd >= 0 && fork() == 0) {
                (void)signal(SIGCHLD, SIG_DFL);
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() == server)
                    serve_connection(fd, kind, root, target);
                _exit(0);
            }
            (void)close(fd);
        }
    }
    (void)close(listening);
    return port;
}

unsigned server_requests(void)
{
    return counts == NULL ? 0 : counts[0];
}

unsigned server_credentials(void)
{
    return counts == NULL ? 0 : counts[1];
}

/* ---- ssh ------------------------------------------------------------------------------------- */

static char *make_key(const char *folder, const char *name, const char *type)
{
    AUTO_FREE char *keygen = program_find("ssh-keygen");
    char *path = path_join(folder, name);
    ck_assert_ptr_nonnull(keygen);
    const char *const argv[] = {
        keygen, "-q", "-t", type, "-b", strcmp(type, "rsa") == 0 ? "2048" : "256",
        "-N",   "",   "-f", path, NULL};
    const struct process_spec spec = {
        .argv = argv, .wall_ns = INT64_C(60000000000), .output_limit = 4096, .merge_error = true};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.output));
    process_result_release(&result);
    return path;
}

static void write_text(const char *path, const char *format, ...) PRINTF_LIKE(2, 3);

static void write_text(const char *path, const char *format, ...)
{
    struct bytes text = bytes_with_limit(65536);
    va_list arguments;
    va_start(arguments, format);
    (void)bytes_vprintf(&text, format, arguments);
    va_end(arguments);
    testing_write(path, text.data, text.length);
    bytes_release(&text);
}

static void write_client(const char *path, const char *known_hosts)
{
    write_text(path,
               "Host *\n  UserKnownHostsFile %s\n  GlobalKnownHostsFile /dev/null\n"
               "  IdentityAgent none\n  UpdateHostKeys no\n  CheckHostIP no\n",
               known_hosts);
}

bool server_ssh(struct server_ssh *ret)
{
    static const char sshd[] = "/usr/sbin/sshd";
    const struct passwd *self = getpwuid(geteuid());
    /* A user who may not log in cannot be the one who is logged in as. */
    if (access(sshd, X_OK) != 0 || self == NULL || strstr(self->pw_shell, "nologin") != NULL ||
        access(self->pw_shell, X_OK) != 0)
        return false;
    AUTO_FREE char *folder = path_join(testing_temporary_folder(), "sshd-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (geteuid() == 0) /* where it gives up its privileges; its start script would make it */
        (void)mkdir("/run/sshd", 0755);
    AUTO_FREE char *host_key = make_key(folder, "host", "ed25519");
    AUTO_FREE char *key = make_key(folder, "key", "rsa");
    AUTO_FREE char *other = make_key(folder, "other", "ed25519");
    AUTO_FREE char *config = path_join(folder, "sshd_config");
    AUTO_FREE char *client = path_join(folder, "config");
    AUTO_FREE char *stranger = path_join(folder, "stranger");
    AUTO_FREE char *known = path_join(folder, "known_hosts");
    AUTO_FREE char *public_host = NULL, *log = path_join(folder, "log");
    struct bytes host = {0};
    ret->port = free_port();
    write_text(config,
               "Port %u\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s.pub\n"
               "PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\n"
               "PasswordAuthentication no\nKbdInteractiveAuthentication no\nLogLevel DEBUG\n",
               ret->port, host_key, key);
    ck_assert_int_gt(asprintf(&public_host, "%s.pub", host_key), 0);
    ck_assert_int_eq(file_read(&host, public_host, 4096, false), FILE_READ);
    write_text(known, "[127.0.0.1]:%u %s", ret->port, bytes_text(&host));
    bytes_release(&host);
    write_client(client, known);
    write_client(stranger, "/dev/null");
    (void)snprintf(ret->config, sizeof ret->config, "%s", client);
    (void)snprintf(ret->stranger_config, sizeof ret->stranger_config, "%s", stranger);
    (void)snprintf(ret->key, sizeof ret->key, "%s", key);
    (void)snprintf(ret->other_key, sizeof ret->other_key, "%s", other);
    const char *const argv[] = {sshd, "-D", "-f", config, "-E", log, NULL};
    start(argv, ret->port);
    return true;
}

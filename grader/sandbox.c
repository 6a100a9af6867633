/* sandbox.c - which sandbox this machine can have, and compilers inside it.
 *
 * bubblewrap builds an empty file system, mounts into it read-only what a compiler needs, and
 * starts the program there as a child of a process 1 of its own, so that nothing can outlive it.
 * Three traps:
 *   - started by root, the program would keep capabilities with which a read-only mount can be made
 *     writable again: --cap-drop ALL;
 *   - bubblewrap's own failures come on the same stderr, and with the same exit status, as a
 *     compiler's, and a source can print lines that look like them. So it reports on a descriptor
 * of its own (--json-status-fd): it writes an exit code there only when the program was started;
 *   - its exit status for a program that a signal ended is 128 + the signal. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "caps.h"
#include "files.h"
#include "number.h"
#include "sandbox_kernel.h"
#include "text.h"

#define INNER_FOLDER "/submission"
#define ARGUMENTS_MAX 256
#define PATHS_MAX 64

#if defined(__x86_64__)
#define LIBRARIES "/usr/lib/x86_64-linux-gnu"
#elif defined(__aarch64__)
#define LIBRARIES "/usr/lib/aarch64-linux-gnu"
#else
#define LIBRARIES "/usr/lib"
#endif

/* Of the system: programs, the C and C++ headers, and the libraries of both. Debian's own toolkit
 * package lies below /usr/lib too. None of this is private to anybody. */
static const char *const system_paths[] = {
    "/usr/bin",
    "/usr/include",
    "/usr/lib/gcc",
    LIBRARIES,
    "/usr/lib64",
    "/usr/libexec/gcc",
    "/usr/lib/nvidia-cuda-toolkit",
    "/usr/lib/cuda",
    "/etc/alternatives",
    "/etc/nvcc.profile",
    "/etc/ld.so.cache",
};
/* Links into /usr on most systems, folders on some. */
static const char *const root_paths[] = {"/bin", "/lib", "/lib64"};

/* ---- bubblewrap's arguments ------------------------------------------------------------------ */

struct arguments {
    const char *items[ARGUMENTS_MAX];
    size_t count;
    char links[COUNT_OF(root_paths)][64];
    char numbers[2][16];
};

static void add(struct arguments *arguments, const char *item)
{
    if (arguments->count < ARGUMENTS_MAX - 1) /* the last one stays NULL */
        arguments->items[arguments->count++] = item;
}

static void add_three(struct arguments *arguments, const char *option, const char *source,
                      const char *target)
{
    add(arguments, option);
    add(arguments, source);
    add(arguments, target);
}

static void add_system(struct arguments *arguments)
{
    for (size_t i = 0; i < COUNT_OF(system_paths); ++i)
        add_three(arguments, "--ro-bind-try", system_paths[i], system_paths[i]);
    for (size_t i = 0; i < COUNT_OF(root_paths); ++i) {
        ssize_t length =
            readlink(root_paths[i], arguments->links[i], sizeof arguments->links[i] - 1);
        if (length > 0)
            add_three(arguments, "--symlink", arguments->links[i], root_paths[i]);
        else
            add_three(arguments, "--ro-bind-try", root_paths[i], root_paths[i]);
    }
}

static void add_number(struct arguments *arguments, const char *option, int number, char text[16])
{
    if (number < 0)
        return;
    (void)snprintf(text, 16, "%d", number);
    add(arguments, option);
    add(arguments, text);
}

/* The environment is exactly the one that bubblewrap is started with. */
static void build_arguments(struct arguments *arguments, const char *bubblewrap,
                            const struct sandbox_view *view, int status_fd, int filter_fd,
                            const char *const *argv)
{
    static const char *const always[] = {"--unshare-all", "--new-session", "--die-with-parent",
                                         "--cap-drop", "ALL"};
    add(arguments, bubblewrap);
    for (size_t i = 0; i < COUNT_OF(always); ++i)
        add(arguments, always[i]);
    add_number(arguments, "--json-status-fd", status_fd, arguments->numbers[0]);
    add_number(arguments, "--seccomp", filter_fd, arguments->numbers[1]);
    add_system(arguments);
    /* Distributions wrap their toolkit's compilers in shell scripts, which throw words away there.
     */
    add_three(arguments, "--dev-bind-try", "/dev/null", "/dev/null");
    for (size_t i = 0; i < view->readable_count; ++i)
        add_three(arguments, "--ro-bind-try", view->readable[i], view->readable[i]);
    if (view->link != NULL)
        add_three(arguments, "--symlink", view->link_target, view->link);
    if (view->folder != NULL) {
        add_three(arguments, "--bind", view->folder, INNER_FOLDER);
        add(arguments, "--chdir");
        add(arguments, INNER_FOLDER);
    }
    add(arguments, "--remount-ro"); /* the empty root is memory, without a limit on it */
    add(arguments, "/");
    add(arguments, "--");
    for (; *argv != NULL; ++argv)
        add(arguments, *argv);
}

/* ---- Running in bubblewrap ------------------------------------------------------------------- */

static int memory_file(const char *name, const void *data, size_t bytes, struct error *err)
{
    AUTO_CLOSE int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0 ||
        (bytes > 0 && (write(fd, data, bytes) != (ssize_t)bytes || lseek(fd, 0, SEEK_SET) != 0)))
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make a file in memory");
    return steal_fd(&fd);
}

/* bubblewrap writes `{ "exit-code": 1 }` once the program it started has ended. */
static bool was_started(int status_fd)
{
    char text[4096];
    ssize_t length = pread(status_fd, text, sizeof text - 1, 0);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return strstr(text, "\"exit-code\"") != NULL;
}

/* bubblewrap ends as soon as the program does, or when it is killed; what the program had started
 * is killed with its process 1 a moment later. All of them hold one end of a pipe: wait until it
 * is closed, so that nobody writes into the folder any more. Who closes it earlier is not waited
 * for. */
static void await_end(int lifeline)
{
    struct pollfd fd = {.fd = lifeline}; /* its end is reported unasked */
    int64_t deadline = process_now_ns() + INT64_C(2000000000);
    while (process_now_ns() < deadline)
        if (poll(&fd, 1, 100) > 0 && (fd.revents & POLLHUP) != 0)
            return;
}

/* What it says first, up to the advice that some builds add ("…, likely because …. See <…>"): ours
 * is in sandbox_remedy(), and theirs would be cut in the middle. */
static void quote_first_clause(struct bytes *out, const struct process_result *result)
{
    static const char name[] = "bwrap: ";
    const char *words =
        result->error.length > 0 ? bytes_text(&result->error) : bytes_text(&result->output);
    if (strncmp(words, name, sizeof name - 1) == 0)
        words += sizeof name - 1;
    size_t length = 0;
    while (words[length] != '\0' && words[length] != '\n' &&
           ((words[length] != ',' && words[length] != '.') ||
            (words[length + 1] != ' ' && words[length + 1] != '\n')))
        ++length;
    text_sanitize(out, words, length, 160);
}

static int run_in_bubblewrap(struct process_result *result, const struct sandbox *sandbox,
                             const struct process_spec *spec, const struct sandbox_view *view,
                             struct error *err)
{
    size_t filter_bytes = 0;
    const void *filter = sandbox_kernel_filter(SANDBOX_CALLS_COMPILER, &filter_bytes);
    AUTO_CLOSE int status_fd = memory_file("bubblewrap status", NULL, 0, err);
    AUTO_CLOSE int filter_fd =
        sandbox->seccomp ? memory_file("seccomp filter", filter, filter_bytes, err) : -1;
    if (err->kind != ERROR_NONE)
        return -1;
    struct arguments arguments = {0};
    build_arguments(&arguments, sandbox->bubblewrap, view, status_fd, filter_fd, spec->argv);
    if (arguments.count >= ARGUMENTS_MAX - 1)
        return error_set(err, ERROR_INFRASTRUCTURE, "too many arguments for %s",
                         sandbox->bubblewrap);
    int lifeline[2];
    if (pipe2(lifeline, O_CLOEXEC) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make a pipe");
    const int inherited[] = {lifeline[1], status_fd, filter_fd};
    struct process_spec outer = *spec;
    outer.argv = arguments.items;
    outer.directory = NULL;
    outer.inherited = inherited;
    outer.inherited_count = filter_fd >= 0 ? 3 : 2;
    int status = process_run(result, &outer, err);
    (void)close(lifeline[1]);
    await_end(lifeline[0]);
    (void)close(lifeline[0]);
    if (status != 0)
        return -1;
    if (result->timed_out || result->signalled || was_started(status_fd)) {
        if (!result->signalled && result->exit_code > 128 && result->exit_code <= 128 + SIGSYS) {
            result->signalled = true;
            result->signal = result->exit_code - 128;
        }
        return 0;
    }
    char room[300];
    struct bytes words = bytes_in(room, sizeof room);
    quote_first_clause(&words, result);
    error_set(err, ERROR_INFRASTRUCTURE, "the sandbox cannot be set up: %s",
              words.length > 0 ? bytes_text(&words) : "bubblewrap ended without a word");
    process_result_release(result);
    return -1;
}

/* ---- Running under Landlock and seccomp ------------------------------------------------------ */

static int enter(const void *kernel)
{
    return sandbox_kernel_enter(kernel);
}

static int run_under_kernel(struct process_result *result, const struct process_spec *spec,
                            const struct sandbox_view *view, struct error *err)
{
    struct sandbox_path paths[PATHS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(system_paths); ++i)
        paths[count++] = (struct sandbox_path){system_paths[i], SANDBOX_READ};
    for (size_t i = 0; i < COUNT_OF(root_paths); ++i)
        paths[count++] = (struct sandbox_path){root_paths[i], SANDBOX_READ};
    paths[count++] = (struct sandbox_path){"/dev/null", SANDBOX_DEVICE};
    if (view->folder != NULL)
        paths[count++] = (struct sandbox_path){view->folder, SANDBOX_WRITE};
    for (size_t i = 0; i < view->readable_count && count < PATHS_MAX; ++i)
        paths[count++] = (struct sandbox_path){view->readable[i], SANDBOX_READ};
    struct sandbox_kernel kernel;
    if (sandbox_kernel_prepare(&kernel, paths, count, SANDBOX_CALLS_COMPILER, err) != 0)
        return -1;
    struct process_spec confined = *spec;
    confined.directory = view->folder;
    confined.confine = enter;
    confined.confinement = &kernel;
    int status = process_run(result, &confined, err);
    sandbox_kernel_release(&kernel);
    return status;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* RLIMIT_NPROC counts all tasks of the user, so the limit is what runs now and some more. The
 * fourth word of /proc/loadavg ("2/345") counts the tasks of the whole system. */
static uint64_t process_limit(void)
{
    uint64_t total = 0;
    struct bytes load;
    bool known = file_read(&load, "/proc/loadavg", 256, false) == FILE_READ;
    const char *slash = known ? strchr(bytes_text(&load), '/') : NULL;
    known = slash != NULL &&
            number_parse_u64_bytes(slash + 1, strspn(slash + 1, "0123456789"), 1000000000, &total);
    bytes_release(&load);
    return known ? total + LIMIT_COMPILE_PROCESSES : 0;
}

const char *sandbox_folder(const struct sandbox *sandbox, const char *folder)
{
    return sandbox->level == SANDBOX_BUBBLEWRAP ? INNER_FOLDER : folder;
}

int sandbox_run(struct process_result *result, const struct sandbox *sandbox,
                const struct process_spec *spec, const struct sandbox_view *view, struct error *err)
{
    *result = (struct process_result){0};
    AUTO_FREE char *program = realpath(spec->argv[0], NULL);
    if (program == NULL)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot start %s", spec->argv[0]);
    const char *argv[ARGUMENTS_MAX] = {program};
    for (size_t i = 1; spec->argv[i] != NULL; ++i) {
        if (i >= ARGUMENTS_MAX - 1)
            return error_set(err, ERROR_INFRASTRUCTURE, "too many arguments for %s", program);
        argv[i] = spec->argv[i];
    }
    struct process_spec limited = *spec;
    limited.argv = argv;
    limited.directory = view->folder;
    limited.processes = process_limit();
    limited.open_files = LIMIT_COMPILE_OPEN_FILES;
    if (sandbox->level == SANDBOX_BUBBLEWRAP)
        return run_in_bubblewrap(result, sandbox, &limited, view, err);
    if (sandbox->level == SANDBOX_KERNEL)
        return run_under_kernel(result, &limited, view, err);
    return process_run(result, &limited, err);
}

/* ---- What this machine has ------------------------------------------------------------------- */

static void find_bubblewrap(struct sandbox *found)
{
    AUTO_FREE char *path = program_find("bwrap");
    if (path != NULL && strlen(path) < sizeof found->bubblewrap)
        (void)snprintf(found->bubblewrap, sizeof found->bubblewrap, "%s", path);
    else if (path == NULL && errno != ENOENT)
        (void)snprintf(found->trouble, sizeof found->trouble,
                       "bubblewrap cannot be looked for (%s)", strerror(errno));
    else
        (void)snprintf(found->trouble, sizeof found->trouble, "bubblewrap is not installed");
}

/* Starts `true` the way a compiler would be started. */
static void try_bubblewrap(struct sandbox *found)
{
    static const char *const argv[] = {"/bin/true", NULL};
    static const char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(10000000000),
                                      .output_limit = 4096};
    const struct sandbox_view view = {0};
    struct process_result result = {0};
    struct error err = {0};
    found->level = SANDBOX_BUBBLEWRAP;
    bool worked = run_in_bubblewrap(&result, found, &spec, &view, &err) == 0;
    if (worked && !result.timed_out && !result.signalled && result.exit_code == 0)
        found->trouble[0] = '\0';
    else
        (void)snprintf(found->trouble, sizeof found->trouble, "%.60s does not work here (%.200s)",
                       found->bubblewrap, worked ? "it cannot run a program" : err.text);
    process_result_release(&result);
}

static struct sandbox machine;

static void probe(void)
{
    machine = (struct sandbox){.landlock_abi = sandbox_kernel_landlock_abi(),
                               .seccomp = sandbox_kernel_has_seccomp()};
    find_bubblewrap(&machine);
    if (machine.bubblewrap[0] != '\0')
        try_bubblewrap(&machine);
    if (machine.trouble[0] != '\0')
        machine.level =
            machine.landlock_abi > 0 || machine.seccomp ? SANDBOX_KERNEL : SANDBOX_LIMITS;
}

const struct sandbox *sandbox_probe(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, probe);
    return &machine;
}

static const char *const mode_words[] = {
    [SANDBOX_AUTO] = "auto", [SANDBOX_ON] = "on", [SANDBOX_OFF] = "off"};

const char *sandbox_mode_word(enum sandbox_mode mode)
{
    return mode_words[mode];
}

bool sandbox_parse_mode(const char *word, enum sandbox_mode *ret)
{
    for (size_t i = 0; i < COUNT_OF(mode_words); ++i)
        if (strcmp(word, mode_words[i]) == 0) {
            *ret = (enum sandbox_mode)i;
            return true;
        }
    return false;
}

int sandbox_choose(struct sandbox *out, enum sandbox_mode mode, struct error *err)
{
    *out = (struct sandbox){0};
    if (mode != SANDBOX_OFF)
        *out = *sandbox_probe();
    out->mode = mode;
    if (mode == SANDBOX_OFF)
        (void)snprintf(out->trouble, sizeof out->trouble, "--sandbox off");
    if (mode != SANDBOX_ON || out->level == SANDBOX_BUBBLEWRAP)
        return 0;
    char room[600];
    struct bytes remedy = bytes_in(room, sizeof room);
    sandbox_remedy(out, &remedy);
    error_set(err, ERROR_INFRASTRUCTURE, "--sandbox on, but %s; %s; or grade with --sandbox auto",
              out->trouble, bytes_text(&remedy));
    return -1;
}

/* ---- For people ------------------------------------------------------------------------------ */

const char *sandbox_word(const struct sandbox *sandbox)
{
    switch (sandbox->level) {
    case SANDBOX_BUBBLEWRAP:
        return "bubblewrap";
    case SANDBOX_KERNEL:
        return sandbox->landlock_abi > 0 ? "landlock" : "seccomp";
    case SANDBOX_LIMITS:
        break;
    }
    return "limits";
}

void sandbox_describe(const struct sandbox *sandbox, struct bytes *out)
{
    switch (sandbox->level) {
    case SANDBOX_BUBBLEWRAP:
        bytes_printf(out,
                     "bubblewrap: compilers see the toolkit and the submission, no other file, "
                     "process or network");
        return;
    case SANDBOX_KERNEL:
        bytes_printf(out, "%s%s%s: compilers %s%s%s", sandbox->landlock_abi > 0 ? "Landlock" : "",
                     sandbox->landlock_abi > 0 && sandbox->seccomp ? " and " : "",
                     sandbox->seccomp ? "seccomp" : "",
                     sandbox->landlock_abi > 0 ? "read no file but the toolkit's and their own"
                                               : "",
                     sandbox->landlock_abi > 0 && sandbox->seccomp ? ", and " : "",
                     sandbox->seccomp ? "have no network" : "");
        return;
    case SANDBOX_LIMITS:
        bytes_printf(out, "limits on time, memory and file size alone");
        return;
    }
}

void sandbox_lost(const struct sandbox *sandbox, struct bytes *out)
{
    switch (sandbox->level) {
    case SANDBOX_BUBBLEWRAP:
        return;
    case SANDBOX_KERNEL:
        if (sandbox->landlock_abi == 0)
            bytes_printf(out, "a source can include any file that you can read");
        else
            bytes_printf(out, "a source can find out which files exist, though not read them");
        bytes_printf(out, "; a compiler that was taken over sees your other processes%s",
                     sandbox->landlock_abi >= 6 ? "" : " and can signal them");
        if (!sandbox->seccomp)
            bytes_printf(out, " and has the network");
        return;
    case SANDBOX_LIMITS:
        bytes_printf(out, "a source can include any file that you can read, and a compiler that "
                          "was taken over can do what you can");
        return;
    }
}

void sandbox_remedy(const struct sandbox *sandbox, struct bytes *out)
{
    if (sandbox->level == SANDBOX_BUBBLEWRAP || sandbox->mode == SANDBOX_OFF)
        return;
    if (sandbox->bubblewrap[0] == '\0')
        bytes_printf(out, "install it: `sudo apt-get install bubblewrap`");
    else
        bytes_printf(out, "allow user namespaces: `sudo sysctl -w "
                          "kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu 24.04), "
                          "`kernel.unprivileged_userns_clone=1` (Debian), or start the container "
                          "with `--security-opt seccomp=unconfined`");
}

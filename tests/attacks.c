/* attacks.c - grade submissions that attack the grader, and see that each gets what an honest
 * failure gets and leaves nothing behind.
 *
 *   attacks --spillway PATH [--executor emulator|gpu] [--elements N] [--slots N]
 *           [--sandbox auto|on|off] [--keep] [NAME…]
 *
 * tests/attacks/EXPECTED.tsv names the attacks, what each must lose, and what it tries. Every
 * attack is graded by the real program in a process of its own, several at a time, while the
 * reference is graded beside them over and over as the neighbour. An attack is blocked when
 *   - the program ends as expected, in time, and with one `Score:` line that equals the JSON;
 *   - exactly the expected marks are lost, each of them failed, and nothing is pending;
 *   - nothing that was printed or written, in any format, holds a secret, a control byte, broken
 *     UTF-8 or markup of the submission;
 *   - its temporary folder is empty, no process of it is left, no file came into being elsewhere.
 * In the end the shared memory of the machine and the memory of its GPUs must be as before, and
 * every neighbour must have had its full score.
 *
 * A plain program without a test framework, so that it can be carried to a machine with a GPU.
 * Start it where tests/ and reference/ lie. */
#include "attacks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "files.h"
#include "number.h"
#include "process.h"
#include "text.h"
#include "toolchain.h"

#define ATTACKS_MAX 200
#define SLOTS_MAX 16
#define SECONDS_MAX 150 /* for one grade, whatever it tries */
#define ARGUMENTS_MAX 48
#define LAB "day17-registers"

struct options {
    char spillway[4096];
    const char *executor, *elements, *sandbox;
    unsigned slots;
    bool keep;
};

static struct options options = {
    .executor = "emulator", .elements = "4099", .sandbox = "auto", .slots = 2};
static char work[128], data_root[4096], reference[4096], secret[256], escaped[256];
static char sandbox_here[32]; /* that the compilers run in */

/* ---- One grade ------------------------------------------------------------------------------- */

struct places { /* of one grade, all below `work` */
    char root[200], submission[260], temporary[260], cache[260], text[260], trouble[260], json[260];
};

static int make_places(struct places *places, const char *name, const char *submission,
                       struct error *err)
{
    (void)snprintf(places->root, sizeof places->root, "%s/%s", work, name);
    (void)snprintf(places->submission, sizeof places->submission, "%s/%s", places->root,
                   submission);
    (void)snprintf(places->temporary, sizeof places->temporary, "%s/temporary", places->root);
    (void)snprintf(places->cache, sizeof places->cache, "%s/cache", places->root);
    (void)snprintf(places->text, sizeof places->text, "%s/text", places->root);
    (void)snprintf(places->trouble, sizeof places->trouble, "%s/trouble", places->root);
    (void)snprintf(places->json, sizeof places->json, "%s/grade.json", places->root);
    if (mkdir(places->root, 0700) != 0 || mkdir(places->submission, 0700) != 0 ||
        mkdir(places->temporary, 0700) != 0 || mkdir(places->cache, 0700) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make %s", places->root);
    return 0;
}

struct list { /* of strings that point into owned texts */
    const char *items[ARGUMENTS_MAX];
    size_t count;
};

static void add(struct list *list, const char *item)
{
    if (list->count < ARGUMENTS_MAX - 1)
        list->items[list->count++] = item;
}

static void add_lines(struct list *list, struct bytes *text)
{
    char *rest = text->data;
    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '\0')
            add(list, line);
}

static double now(void)
{
    return (double)process_now_ns() / 1e9;
}

/* Orphans of the grade become our children: are there any that live on? */
static bool any_left(void)
{
    for (double until = now() + 2; now() < until;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return false;
        const struct timespec pause = {.tv_nsec = 2000000};
        if (pid == 0)
            (void)nanosleep(&pause, NULL);
    }
    return true;
}

static void start_grade(const struct places *places, const struct list *arguments,
                        const struct list *environment)
{
    int out = open(places->text, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int trouble = open(places->trouble, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int null_fd = open("/dev/null", O_RDONLY);
    if (out < 0 || trouble < 0 || null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(trouble, 2) < 0)
        _exit(127);
    (void)setpgid(0, 0);
    (void)execve(options.spillway, (char *const *)arguments->items,
                 (char *const *)environment->items);
    _exit(127);
}

static void grade(struct outcome *outcome, const struct places *places,
                  const struct list *arguments, const struct list *environment)
{
    *outcome = (struct outcome){0};
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    double began = now();
    pid_t pid = fork();
    if (pid == 0)
        start_grade(places, arguments, environment);
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid || pid < 0)
            break;
        if (now() - began > SECONDS_MAX) {
            outcome->timed_out = true;
            (void)kill(-pid, SIGKILL);
        }
        const struct timespec pause = {.tv_nsec = 5000000};
        (void)nanosleep(&pause, NULL);
    }
    outcome->seconds = now() - began;
    outcome->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    outcome->left_processes = any_left();
    (void)file_read(&outcome->text, places->text, OUTPUT_BYTES_MAX, false);
    (void)file_read(&outcome->trouble, places->trouble, OUTPUT_BYTES_MAX, false);
    (void)file_read(&outcome->json, places->json, OUTPUT_BYTES_MAX, false);
    for (size_t i = 0; i < writer_count; ++i) {
        AUTO_FREE char *path = path_join(places->root, writer_table[i].option);
        if (path != NULL && writer_table[i].write != NULL)
            (void)file_read(&outcome->formats[i], path, OUTPUT_BYTES_MAX, false);
    }
}

/* Every format that there is, each into a file of its option's name. */
static void add_writers(struct list *arguments, const struct places *places,
                        char storage[WRITERS_MAX][300])
{
    for (size_t i = 0; i < writer_count; ++i)
        if (writer_table[i].write != NULL) {
            (void)snprintf(storage[i], sizeof storage[i], "--%s=%s/%s", writer_table[i].option,
                           places->root, writer_table[i].option);
            add(arguments, storage[i]);
        }
}

static void usual_arguments(struct list *arguments, const struct places *places)
{
    static const char *const always[] = {"--arch",           "sm_75", "--seed", "17",
                                         "--launch-seconds", "2"};
    add(arguments, options.spillway);
    add(arguments, "grade");
    add(arguments, places->submission);
    for (size_t i = 0; i < COUNT_OF(always); ++i)
        add(arguments, always[i]);
    add(arguments, "--executor");
    add(arguments, options.executor);
    add(arguments, "--elements");
    add(arguments, options.elements);
    add(arguments, "--sandbox");
    add(arguments, options.sandbox);
    add(arguments, "--json");
    add(arguments, places->json);
}

/* "NAME=value" of our own environment, or NULL. */
static const char *inherited(const char *name)
{
    extern char **environ;
    size_t length = strlen(name);
    for (char **entry = environ; *entry != NULL; ++entry)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry;
    return NULL;
}

static void usual_environment(struct list *environment, const struct places *places,
                              char storage[2][300])
{
    static const char *const names[] = {"PATH", "CUDA_HOME", "LD_LIBRARY_PATH", "SPILLWAY_DATA",
                                        "ASAN_OPTIONS"};
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        if (inherited(names[i]) != NULL)
            add(environment, inherited(names[i]));
    (void)snprintf(storage[0], sizeof storage[0], "TMPDIR=%s", places->temporary);
    (void)snprintf(storage[1], sizeof storage[1], "SPILLWAY_CACHE=%s", places->cache);
    add(environment, storage[0]);
    add(environment, storage[1]);
    add(environment, "LC_ALL=C.UTF-8");
    /* What one of the formats asks for. */
    static const char *const classroom[] = {"CLASSROOM=c", "ASSIGNMENT=a", "SUBMISSION_TAG=s",
                                            "COMMIT_URL=u", "RELEASE_URL=r"};
    for (size_t i = 0; i < COUNT_OF(classroom); ++i)
        add(environment, classroom[i]);
}

/* ---- Judging ----------------------------------------------------------------------------------
 */

static bool is_empty_folder(const char *path)
{
    DIR *folder = opendir(path);
    size_t entries = 0;
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (folder != NULL)
        (void)closedir(folder);
    return entries == 0;
}

static bool judge(const struct attack *attack, const struct places *places,
                  const struct outcome *outcome, char seen[400])
{
    int expected = strcmp(attack->ends, "usage") == 0 ? 2 : 0;
    if (outcome->timed_out)
        return attack_object(seen, "not graded within %d s", SECONDS_MAX);
    if (outcome->exit_code != expected)
        return attack_object(seen, "ended with %d: %.200s", outcome->exit_code,
                             bytes_text(&outcome->trouble));
    if (outcome->left_processes)
        return attack_object(seen, "a process was left");
    if (!is_empty_folder(places->temporary))
        return attack_object(seen, "its temporary folder is not empty");
    if (access(escaped, F_OK) == 0)
        return attack_object(seen, "code of the submission wrote a file");
    return attack_words_are_clean(outcome, seen) &&
           (expected != 0 || attack_judge_grade(attack, outcome, seen));
}

/* ---- An attack, and the neighbour ------------------------------------------------------------ */

/* What a helper process tells about its grade. */
struct helper_report {
    bool fine;
    double seconds;
    char seen[400];
    char sandbox[32];
};

static void take_sandbox(struct helper_report *report, const struct outcome *outcome)
{
    json_t *root = json_loadb(bytes_text(&outcome->json), outcome->json.length, 0, NULL);
    const char *level =
        json_string_value(json_object_get(json_object_get(root, "sandbox"), "level"));
    (void)snprintf(report->sandbox, sizeof report->sandbox, "%s", level != NULL ? level : "");
    json_decref(root);
}

/* Some names are part of an attack themselves. */
static const char *folder_name(const struct attack *attack)
{
    if (strcmp(attack->name, "evil_folder_name") == 0)
        return "<b onclick=alert(1)>\033[31m\"';$(touch x)\n=1+1";
    return "submission";
}

static void run_attack(const struct attack *attack, struct helper_report *report)
{
    struct error err = {0};
    struct places places;
    char data[4200], storage[2][300];
    (void)snprintf(data, sizeof data, "%s/%s", data_root, attack->name);
    struct bytes arguments_text = {0}, environment_text = {0};
    bool own_arguments = false, own_environment = false;
    if (make_places(&places, attack->name, folder_name(attack), &err) == 0) {
        const struct attack_place place = {.name = attack->name,
                                           .data = data,
                                           .reference = reference,
                                           .submission = places.submission,
                                           .secret = secret,
                                           .escaped = escaped};
        if (attack_make(&place, &err) == 0 &&
            attack_text(&arguments_text, &place, "arguments", &own_arguments, &err) == 0)
            (void)attack_text(&environment_text, &place, "environment", &own_environment, &err);
    }
    if (err.kind == ERROR_NONE) {
        struct list arguments = {0}, environment = {0};
        struct outcome outcome;
        char formats[WRITERS_MAX][300];
        usual_arguments(&arguments, &places);
        add_writers(&arguments, &places, formats);
        if (own_arguments) {
            add_lines(&arguments, &arguments_text);
        } else {
            add(&arguments, "--lab");
            add(&arguments, LAB);
        }
        usual_environment(&environment, &places, storage);
        add_lines(&environment, &environment_text);
        grade(&outcome, &places, &arguments, &environment);
        report->fine = judge(attack, &places, &outcome, report->seen);
        report->seconds = outcome.seconds;
        take_sandbox(report, &outcome);
        attack_outcome_release(&outcome);
        if (!options.keep)
            temporary_folder_remove(strdup(places.root));
    } else {
        (void)attack_object(report->seen, "%s", err.text);
    }
    bytes_release(&arguments_text);
    bytes_release(&environment_text);
}

static const struct attack neighbour = {.ends = "graded", .lost = "none"};

static void run_neighbour(unsigned number, struct helper_report *report)
{
    struct attack attack = neighbour;
    (void)snprintf(attack.name, sizeof attack.name, "neighbour-%u", number);
    run_attack(&attack, report);
}

/* ---- Several at a time ----------------------------------------------------------------------- */

struct slot {
    pid_t pid; /* 0: free */
    int channel;
    struct attack *attack; /* NULL: the neighbour */
};

static bool start_helper(struct slot *slot, struct attack *attack, unsigned number)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        struct helper_report report = {0};
        if (attack != NULL)
            run_attack(attack, &report);
        else
            run_neighbour(number, &report);
        _exit(write(ends[1], &report, sizeof report) == (ssize_t)sizeof report ? 0 : 1);
    }
    (void)close(ends[1]);
    *slot = (struct slot){.pid = pid, .channel = ends[0], .attack = attack};
    return pid > 0;
}

static void take_report(struct slot *slot, struct helper_report *report)
{
    *report = (struct helper_report){.seen = "the helper died"};
    if (read(slot->channel, report, sizeof *report) != (ssize_t)sizeof *report)
        report->fine = false;
    (void)close(slot->channel);
    (void)waitpid(slot->pid, NULL, 0);
    *slot = (struct slot){0};
}

struct neighbours {
    unsigned started, harmed;
    char seen[400];
};

static void take_neighbour(struct neighbours *neighbours, const struct helper_report *report)
{
    if (report->fine)
        return;
    ++neighbours->harmed;
    (void)snprintf(neighbours->seen, sizeof neighbours->seen, "%s", report->seen);
}

static struct attack *next_attack(struct attack *attacks, size_t count, size_t *next)
{
    while (*next < count && attacks[*next].skipped)
        ++*next;
    return *next < count ? &attacks[(*next)++] : NULL;
}

/* Slot 0 is the neighbour's: it is graded again and again as long as attacks run. */
static void run_all(struct attack *attacks, size_t count, struct neighbours *neighbours)
{
    struct slot slots[SLOTS_MAX + 1] = {0};
    size_t next = 0;
    for (;;) {
        size_t busy = 0;
        for (size_t i = 1; i <= options.slots; ++i) {
            struct attack *attack = slots[i].pid == 0 ? next_attack(attacks, count, &next) : NULL;
            if (attack != NULL)
                (void)start_helper(&slots[i], attack, 0);
            busy += slots[i].pid != 0;
        }
        if (busy == 0 && slots[0].pid == 0)
            return;
        if (busy > 0 && slots[0].pid == 0)
            (void)start_helper(&slots[0], NULL, neighbours->started++);
        struct pollfd fds[SLOTS_MAX + 1];
        for (size_t i = 0; i <= options.slots; ++i)
            fds[i] =
                (struct pollfd){.fd = slots[i].pid != 0 ? slots[i].channel : -1, .events = POLLIN};
        if (poll(fds, options.slots + 1, -1) <= 0)
            continue;
        for (size_t i = 0; i <= options.slots; ++i) {
            struct attack *attack = slots[i].attack;
            struct helper_report report;
            if (fds[i].revents == 0)
                continue;
            take_report(&slots[i], &report);
            if (i == 0) {
                take_neighbour(neighbours, &report);
                continue;
            }
            attack->blocked = report.fine;
            attack->seconds = report.seconds;
            (void)snprintf(attack->seen, sizeof attack->seen, "%s", report.seen);
        }
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

static bool is_wanted(const char *name, char *const *names, int count)
{
    for (int i = 0; i < count; ++i)
        if (strncmp(names[i], name, strlen(names[i])) == 0)
            return true;
    return count == 0;
}

/* "12.4": the toolkit of this machine is that one or newer. */
static bool toolkit_reaches(const char *version)
{
    struct toolchain toolchain = {0};
    struct error ignored = {0};
    const char *minor = strchr(version, '.');
    uint64_t wanted[2];
    bool reaches = minor != NULL &&
                   number_parse_u64_bytes(version, (size_t)(minor - version), 999, &wanted[0]) &&
                   number_parse_u64(minor + 1, 999, &wanted[1]) &&
                   toolchain_find(&toolchain, NULL, &ignored) == 0 &&
                   toolchain_ask(&toolchain, &ignored) == 0 &&
                   (toolchain.major > wanted[0] ||
                    (toolchain.major == wanted[0] && toolchain.minor >= wanted[1]));
    toolchain_release(&toolchain);
    return reaches;
}

/* Some attacks are stopped by the sandbox alone; where it is not to be had, there is nothing to
 * try. */
static bool can_be_stopped(const struct attack *attack)
{
    bool bubblewrap = strcmp(sandbox_here, "bubblewrap") == 0;
    if (strcmp(attack->ends, "bubblewrap") == 0)
        return bubblewrap;
    if (attack->ends[0] >= '0' && attack->ends[0] <= '9')
        return toolkit_reaches(attack->ends);
    return strcmp(attack->ends, "wall") != 0 || bubblewrap || strcmp(sandbox_here, "landlock") == 0;
}

static int read_table(struct attack *attacks, size_t *count, char *const *names, int name_count,
                      struct error *err)
{
    AUTO_FREE char *path = path_join(data_root, "EXPECTED.tsv");
    struct bytes table;
    if (path == NULL || file_read(&table, path, (size_t)1 << 20, true) != FILE_READ)
        return error_set(err, ERROR_USAGE,
                         "no tests/attacks/EXPECTED.tsv here: start this where "
                         "tests/ and reference/ lie");
    char *rest = table.data;
    for (char *line; err->kind == ERROR_NONE && (line = strsep(&rest, "\n")) != NULL;) {
        char *cells[4] = {NULL};
        for (size_t i = 0; i < COUNT_OF(cells) && line != NULL; ++i)
            cells[i] = strsep(&line, "\t");
        if (cells[0][0] == '\0' || cells[0][0] == '#' || !is_wanted(cells[0], names, name_count))
            continue;
        if (cells[3] == NULL || *count >= ATTACKS_MAX) {
            error_set(err, ERROR_USAGE, "EXPECTED.tsv: the row of %s has too few columns",
                      cells[0]);
            continue;
        }
        struct attack *attack = &attacks[(*count)++];
        *attack = (struct attack){0};
        (void)snprintf(attack->name, sizeof attack->name, "%s", cells[0]);
        (void)snprintf(attack->ends, sizeof attack->ends, "%s", cells[1]);
        (void)snprintf(attack->lost, sizeof attack->lost, "%s", cells[2]);
        (void)snprintf(attack->tries, sizeof attack->tries, "%s", cells[3]);
        attack->skipped = !can_be_stopped(attack);
    }
    bytes_release(&table);
    return err->kind == ERROR_NONE ? 0 : -1;
}

static void print_table(const struct attack *attacks, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const struct attack *attack = &attacks[i];
        (void)printf("%-7s %6.1f s  %-26s %s\n",
                     attack->skipped   ? "skipped"
                     : attack->blocked ? "blocked"
                                       : "OPEN",
                     attack->seconds, attack->name, attack->tries);
        if (!attack->skipped && !attack->blocked)
            (void)printf("                   %s\n", attack->seen);
    }
}

/* ---- Before and after ------------------------------------------------------------------------ */

/* What shared memory there is, a line each: the files in /dev/shm, and the System V segments,
 * semaphores and queues of this machine by key and id. */
static void take_shared_memory(struct bytes *out)
{
    *out = bytes_with_limit((size_t)1 << 20);
    DIR *folder = opendir("/dev/shm");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        bytes_printf(out, "/dev/shm/%s\n", entry->d_name);
    if (folder != NULL)
        (void)closedir(folder);
    static const char *const lists[] = {"/proc/sysvipc/shm", "/proc/sysvipc/sem",
                                        "/proc/sysvipc/msg"};
    for (size_t i = 0; i < COUNT_OF(lists); ++i) {
        struct bytes text = {0};
        char *rest = NULL;
        if (file_read(&text, lists[i], (size_t)1 << 20, true) != FILE_READ)
            continue;
        for (char *line = strtok_r(text.data, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            char key[32], id[32];
            if (sscanf(line, "%31s %31s", key, id) == 2)
                bytes_printf(out, "%s %s %s\n", lists[i], key, id);
        }
        bytes_release(&text);
    }
}

/* Others on this machine may take theirs away meanwhile; nobody's may be new. */
static bool nothing_was_left(const struct bytes *before, struct bytes *after)
{
    bool same = true;
    char *rest = NULL;
    for (char *line = strtok_r(after->data, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *found = bytes_text(before);
        size_t length = strlen(line);
        while ((found = strstr(found, line)) != NULL &&
               (found[length] != '\n' || (found != before->data && found[-1] != '\n')))
            ++found;
        if (found == NULL)
            (void)printf("shared memory was left: %s\n", line);
        same = same && found != NULL;
    }
    return same;
}

/* Megabytes of all GPUs in use, as nvidia-smi says; -1 when it cannot be asked. */
static int64_t gpu_megabytes(void)
{
    static const char *const argv[] = {"/usr/bin/env", "nvidia-smi", "--query-gpu=memory.used",
                                       "--format=csv,noheader,nounits", NULL};
    const char *const environment[] = {inherited("PATH"), NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(60000000000),
                                      .output_limit = 65536};
    struct process_result result;
    struct error err = {0};
    int64_t total = -1;
    if (strcmp(options.executor, "gpu") != 0 || process_run(&result, &spec, &err) != 0)
        return -1;
    char *rest = result.exit_code == 0 ? result.output.data : NULL;
    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;) {
        uint64_t used = 0;
        if (number_parse_u64(line, UINT32_MAX, &used))
            total = (total < 0 ? 0 : total) + (int64_t)used;
    }
    process_result_release(&result);
    return total;
}

/* Some of the driver's own memory comes and goes. */
static bool gpu_is_free(int64_t before)
{
    enum { TOLERATED = 64 };
    int64_t after = -1;
    for (int attempt = 0; attempt < 20; ++attempt) { /* a killed context is cleaned up by and by */
        after = gpu_megabytes();
        if (before < 0 || after < 0 || after <= before + TOLERATED)
            return true;
        const struct timespec pause = {.tv_nsec = 500000000};
        (void)nanosleep(&pause, NULL);
    }
    (void)printf("GPU memory was left: %lld MiB are in use, before it were %lld\n",
                 (long long)after, (long long)before);
    return false;
}

static bool same_as_before(const struct bytes *before)
{
    struct bytes after, content = {0};
    take_shared_memory(&after);
    bool same = nothing_was_left(before, &after);
    bytes_release(&after);
    bool kept = file_read(&content, secret, 4096, false) == FILE_READ &&
                strstr(bytes_text(&content), CANARY) != NULL;
    bytes_release(&content);
    if (!kept)
        (void)printf("the secret file was changed\n");
    return same && kept;
}

static int prepare(struct error *err)
{
    AUTO_FREE char *folder = temporary_folder_create(err);
    AUTO_FREE char *here = getcwd(NULL, 0);
    if (folder == NULL || here == NULL)
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot make a folder to work in");
    (void)snprintf(work, sizeof work, "%s", folder);
    (void)snprintf(data_root, sizeof data_root, "%s/tests/attacks", here);
    (void)snprintf(reference, sizeof reference, "%s/reference/" LAB, here);
    (void)snprintf(secret, sizeof secret, "%s/gradebook.h", work);
    (void)snprintf(escaped, sizeof escaped, "%s/escaped", work);
    static const char text[] = "// " CANARY "\n2147001, 2147002,\n";
    return file_write(secret, text, sizeof text - 1, err);
}

static int parse_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"spillway", required_argument, NULL, 'p'},
        {"executor", required_argument, NULL, 'e'},
        {"elements", required_argument, NULL, 'n'},
        {"slots", required_argument, NULL, 's'},
        {"sandbox", required_argument, NULL, 'b'},
        {"keep", no_argument, NULL, 'k'},
        {NULL, 0, NULL, 0},
    };
    uint64_t slots = 2;
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == 'p' && realpath(optarg, options.spillway) == NULL)
            return -1;
        if (option == 'e')
            options.executor = optarg;
        if (option == 'n')
            options.elements = optarg;
        if (option == 'b')
            options.sandbox = optarg;
        if (option == 'k')
            options.keep = true;
        if (option == '?' ||
            (option == 's' && (!number_parse_u64(optarg, SLOTS_MAX, &slots) || slots == 0)))
            return -1;
    }
    options.slots = (unsigned)slots;
    return options.spillway[0] == '\0' ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    static struct attack attacks[ATTACKS_MAX];
    size_t count = 0;
    if (parse_options(argc, argv) != 0) {
        (void)fprintf(stderr, "usage: attacks --spillway PATH [--executor emulator|gpu] "
                              "[--elements N] [--slots N] [--sandbox MODE] [--keep] [NAME…]\n");
        return EXIT_STATUS_USAGE;
    }
    if (prepare(&err) != 0)
        return error_report(&err);
    struct bytes before;
    take_shared_memory(&before);
    int64_t gpu_before = gpu_megabytes();
    /* The first neighbour, alone: it must have its full score, and says which sandbox holds. */
    struct helper_report alone = {0};
    struct neighbours neighbours = {.started = 1};
    run_neighbour(0, &alone);
    (void)snprintf(sandbox_here, sizeof sandbox_here, "%s", alone.sandbox);
    if (!alone.fine)
        error_set(&err, ERROR_INFRASTRUCTURE, "the reference itself is not graded well: %s",
                  alone.seen);
    if (err.kind == ERROR_NONE &&
        read_table(attacks, &count, argv + optind, argc - optind, &err) == 0)
        run_all(attacks, count, &neighbours);
    bool same = err.kind == ERROR_NONE && same_as_before(&before) && gpu_is_free(gpu_before);
    bytes_release(&before);
    if (!options.keep)
        temporary_folder_remove(strdup(work));
    if (err.kind != ERROR_NONE)
        return error_report(&err);
    print_table(attacks, count);
    size_t blocked = 0, tried = 0;
    for (size_t i = 0; i < count; ++i) {
        tried += !attacks[i].skipped;
        blocked += attacks[i].blocked;
    }
    if (neighbours.harmed > 0)
        (void)printf("a neighbour was harmed: %s\n", neighbours.seen);
    (void)printf("%zu of %zu attacks blocked (%s, sandbox: %s), %zu skipped; %u neighbours graded "
                 "beside them, %u harmed\n",
                 blocked, tried, options.executor, sandbox_here, count - tried, neighbours.started,
                 neighbours.harmed);
    return blocked == tried && tried > 0 && same && neighbours.harmed == 0 ? EXIT_SUCCESS
                                                                           : EXIT_FAILURE;
}

#include "slurm.h"

#include <sys/stat.h>

#include "files.h"
#include "process.h"
#include "text.h"

#define CALL_NS INT64_C(60000000000)
#define OUTPUT_BYTES ((size_t)16 << 20) /* a line for each task of an array */
#define ARGUMENTS_MOST 200
#define LOG_BYTES ((size_t)16 << 20)

extern char **environ;

/* ---- Calling ---------------------------------------------------------------------------------*/

/* Runs one of Slurm's programs. 0 with *result to be released, whatever its exit status. */
static int call(struct process_result *result, const char *name, const char **argv,
                struct error *err)
{
    AUTO_FREE char *program = program_find(name);
    *result = (struct process_result){0};
    if (program == NULL)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "there is no %s on the PATH: --engine slurm needs a machine from which "
                         "Slurm jobs can be submitted",
                         name);
    argv[0] = program;
    const struct process_spec spec = {.argv = argv,
                                      .environment = (const char *const *)environ,
                                      .wall_ns = CALL_NS,
                                      .output_limit = OUTPUT_BYTES};
    return process_run(result, &spec, err);
}

static bool succeeded(const struct process_result *result)
{
    return !result->timed_out && !result->signalled && result->exit_code == 0;
}

static int refused(struct error *err, const char *name, const struct process_result *result)
{
    char words[600];
    (void)text_copy(words, sizeof words, bytes_text(&result->error));
    return error_set(err, ERROR_INFRASTRUCTURE,
                     "%s %s%s%s. Is this a machine of the cluster, and does `sinfo` answer here? "
                     "SLURM_CONF names a slurm.conf that is not in /etc/slurm%s",
                     name, result->timed_out ? "does not answer" : "failed",
                     words[0] != '\0' ? ": " : "", words,
                     strcmp(name, "sbatch") == 0
                         ? "; --partition, --time, --gres and --sbatch are handed to sbatch"
                         : "");
}

/* ---- Submitting ------------------------------------------------------------------------------*/

/* sbatch wants a script; what it runs are its arguments. */
static char *write_script(const char *log_folder, struct error *err)
{
    static const char script[] = "#!/bin/sh\nexec \"$@\"\n";
    char *path = path_join(log_folder, "task");
    if (path == NULL) {
        error_no_memory(err);
        return NULL;
    }
    if (file_write(path, script, sizeof script - 1, err) == 0 && chmod(path, 0700) == 0)
        return path;
    if (err->kind == ERROR_NONE)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make %s a program", path);
    free(path);
    return NULL;
}

struct arguments {
    const char *list[ARGUMENTS_MOST + 1]; /* the first is the program */
    size_t count;
};

static void add(struct arguments *arguments, const char *argument)
{
    if (arguments->count < ARGUMENTS_MOST)
        arguments->list[arguments->count++] = argument;
}

static void add_pair(struct arguments *arguments, const char *option, const char *value)
{
    if (value == NULL)
        return;
    add(arguments, option);
    add(arguments, value);
}

/* "123" or "123;cluster": letters, digits and what names are made of. */
static bool take_job(char job[SLURM_JOB_BYTES], const char *said)
{
    size_t length = strspn(said, "0123456789");
    if (length == 0 || length >= SLURM_JOB_BYTES || (said[length] != '\n' && said[length] != ';'))
        return false;
    memcpy(job, said, length);
    job[length] = '\0';
    return true;
}

int slurm_submit(char job[SLURM_JOB_BYTES], const struct slurm_options *options, size_t count,
                 const char *const *argv, const char *log_folder, struct error *err)
{
    char array[48];
    AUTO_FREE char *log = NULL;
    AUTO_FREE char *script = write_script(log_folder, err);
    struct arguments arguments = {.count = 1};
    struct process_result result;
    if (script == NULL)
        return -1;
    if (asprintf(&log, "%s/%%A-%%a.txt", log_folder) < 0) {
        log = NULL;
        return error_no_memory(err);
    }
    (void)snprintf(array, sizeof array, "0-%zu", count - 1);
    add(&arguments, "--parsable");
    add(&arguments, "--requeue");
    add_pair(&arguments, "--job-name", "spillway");
    add_pair(&arguments, "--array", array);
    add_pair(&arguments, "--output", log);
    add_pair(&arguments, "--partition", options->partition);
    add_pair(&arguments, "--time", options->time);
    add_pair(&arguments, "--gres", options->gres);
    for (size_t i = 0; i < options->extra_count; ++i)
        add(&arguments, options->extra[i]);
    add(&arguments, script);
    for (size_t i = 0; argv[i] != NULL; ++i)
        add(&arguments, argv[i]);
    if (arguments.count >= ARGUMENTS_MOST)
        return error_set(err, ERROR_USAGE, "too many options for sbatch");
    if (call(&result, "sbatch", arguments.list, err) != 0)
        return -1;
    int status = succeeded(&result) && take_job(job, bytes_text(&result.output))
                     ? 0
                     : refused(err, "sbatch", &result);
    process_result_release(&result);
    return status;
}

/* ---- Asking ----------------------------------------------------------------------------------*/

/* One line a task: "PENDING|Resources". */
static void count_tasks(struct slurm_state *state, char *lines)
{
    for (char *line; lines != NULL && (line = strsep(&lines, "\n")) != NULL;) {
        char *reason = strchr(line, '|');
        if (reason == NULL)
            continue;
        *reason++ = '\0';
        bool waits = strcmp(line, "PENDING") == 0 || strcmp(line, "REQUEUED") == 0 ||
                     strcmp(line, "SUSPENDED") == 0 || strcmp(line, "REQUEUE_HOLD") == 0;
        if (waits && state->waiting++ == 0)
            (void)text_copy(state->reason, sizeof state->reason, reason);
        state->running += !waits;
    }
}

int slurm_ask(const char *job, struct slurm_state *ret, struct error *err)
{
    *ret = (struct slurm_state){0};
    const char *argv[] = {NULL, "--noheader", "--array", "--format", "%T|%r", "--jobs", job, NULL};
    struct process_result result;
    if (call(&result, "squeue", argv, err) != 0)
        return -1;
    /* A job that ended a while ago is no longer known. */
    bool gone = strstr(bytes_text(&result.error), "Invalid job id") != NULL;
    int status = 0;
    if (succeeded(&result))
        count_tasks(ret, result.output.data);
    else if (!gone)
        status = refused(err, "squeue", &result);
    process_result_release(&result);
    return status;
}

void slurm_ends(const char *job, char *into, size_t size)
{
    const char *argv[] = {NULL,       "--noheader", "--parsable2", "--allocations",
                          "--format", "State",      "--jobs",      job,
                          NULL};
    struct process_result result;
    struct error ignored = {0};
    struct {
        char word[32];
        size_t count;
    } ends[12] = {{"", 0}};
    into[0] = '\0';
    if (call(&result, "sacct", argv, &ignored) != 0)
        return;
    char *lines = succeeded(&result) ? result.output.data : NULL;
    for (char *line; lines != NULL && (line = strsep(&lines, "\n")) != NULL;) {
        line[strcspn(line, " +")] = '\0'; /* "CANCELLED by 1000" */
        if (line[0] == '\0' || strcmp(line, "COMPLETED") == 0)
            continue;
        size_t i = 0;
        while (i + 1 < COUNT_OF(ends) && ends[i].count > 0 && strcmp(ends[i].word, line) != 0)
            ++i;
        (void)text_copy(ends[i].word, sizeof ends[i].word, line);
        ++ends[i].count;
    }
    for (size_t i = 0, used = 0; i < COUNT_OF(ends) && ends[i].count > 0 && used + 1 < size; ++i) {
        (void)snprintf(into + used, size - used, "%s%s %zu", i > 0 ? ", " : "", ends[i].word,
                       ends[i].count);
        used = strlen(into);
    }
    process_result_release(&result);
}

void slurm_cancel(const char *job)
{
    const char *argv[] = {NULL, "--quiet", job, NULL};
    struct process_result result;
    struct error ignored = {0};
    if (call(&result, "scancel", argv, &ignored) == 0)
        process_result_release(&result);
}

void slurm_last_words(const char *log_folder, const char *job, size_t task, char *into, size_t size)
{
    AUTO_FREE char *path = NULL;
    struct bytes text = {0};
    into[0] = '\0';
    if (asprintf(&path, "%s/%s-%zu.txt", log_folder, job, task) < 0) {
        path = NULL;
        return;
    }
    if (file_read(&text, path, LOG_BYTES, false) == FILE_READ && text.length > 0) {
        while (text.length > 0 && strchr("\n \t\r", text.data[text.length - 1]) != NULL)
            text.data[--text.length] = '\0';
        const char *line = text.length > 0 ? strrchr(text.data, '\n') : NULL;
        (void)text_copy(into, size, line != NULL ? line + 1 : bytes_text(&text));
    }
    bytes_release(&text);
}

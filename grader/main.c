/* main.c - dispatch to the subcommand. */
#include "commands.h"

#include <fcntl.h>

#include "errors.h"
#include "process.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* NULL: internal, not listed */
} commands[] = {
    /* clang-format off */
    {"grade", cmd_grade, "rebuild, run and judge a submission"},
    {"merge", cmd_merge, "join a grade with a later one that judged what it left open"},
    {"report", cmd_report, "read a ptxas -v log: registers, stack, spills"},
    {"occupancy", cmd_occupancy, "how many blocks of a kernel fit one SM, and what limits them"},
    {"emulate", cmd_emulate, "run a kernel of a PTX file on the CPU, every access checked"},
    {"compare", cmd_compare, "what the kernels cost on a T4, A100, … B200, side by side"},
    {"watch", cmd_watch, "grade again at each save, showing what changed"},
    {"hint", cmd_hint, "the next hint of one item of a lab"},
    {"release", cmd_release, "make a student repository of a lab"},
    {"labs", cmd_labs, "list the labs"},
    {"doctor", cmd_doctor, "what this machine lacks for grading, and what mends it"},
    {"batch", cmd_batch, "grade a class from its repos"},
    {"worker", cmd_worker, NULL},
    {"shard", cmd_shard, NULL},
    {"repo", cmd_repo, NULL},
    {NULL, NULL, NULL},
    /* clang-format on */
};

static void print_usage(FILE *out)
{
    (void)fputs("usage: spillway COMMAND [OPTION]…\n\nCommands:\n", out);
    for (const struct command *command = commands; command->name != NULL; ++command)
        if (command->summary != NULL)
            (void)fprintf(out, "  %-10s %s\n", command->name, command->summary);
    (void)fputs(
        "\n`spillway COMMAND --help` explains one. `spillway --version` prints the version.\n",
        out);
}

/* With a standard descriptor closed, the next file to be opened would get its number, and what is
 * printed would land in that file. The wrong direction is on purpose: a write still fails. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; ++fd)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* What was printed has to arrive: a full disk is no success. */
static int flush_output(int status)
{
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (!lost || status != EXIT_STATUS_DONE)
        return status;
    struct error err = {0};
    error_set_errno(&err, ERROR_INFRASTRUCTURE, "cannot write standard output");
    return error_report(&err);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_STATUS_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_usage(stdout);
        return EXIT_STATUS_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        (void)puts("spillway " SPILLWAY_VERSION);
        return EXIT_STATUS_DONE;
    }
    for (const struct command *command = commands; command->name != NULL; ++command)
        if (strcmp(name, command->name) == 0)
            return command->run(argc - 1, argv + 1);
    struct error err = {0};
    error_set(&err, ERROR_USAGE, "there is no command \"%s\"; `spillway --help` lists them", name);
    return error_report(&err);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    process_catch_interrupts();
    return flush_output(dispatch(argc, argv));
}

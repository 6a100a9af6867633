/* main.c - dispatch to the subcommand. */
#include "commands.h"
#include "errors.h"
#include "process.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* NULL: internal, not listed */
} commands[] = {
    /* clang-format off */
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

int main(int argc, char **argv)
{
    process_catch_interrupts();
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
    (void)fprintf(stderr, "spillway: there is no command \"%s\"; `spillway --help` lists them\n",
                  name);
    return EXIT_STATUS_USAGE;
}

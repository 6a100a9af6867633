/* cmd_labs.c - `spillway labs`: which labs there are, and what one of them judges. */
#include "commands.h"

#include <getopt.h>

#include "errors.h"
#include "labs/lab.h"
#include "options.h"

static const char usage[] =
    "usage: spillway labs [LAB]\n"
    "\n"
    "Lists the labs: id, file to edit, points, title. With LAB, lists its marks: id,\n"
    "points, title.\n"
    "\n"
    "Examples:\n"
    "  spillway labs\n"
    "  spillway labs day17-registers\n";

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPTIONS_HELP},
    {NULL, 0, NULL, 0},
};

static void list_labs(void)
{
    (void)printf("%-20s %-16s %6s  %s\n", "lab", "file", "points", "title");
    for (size_t i = 0; i < lab_registry_count; ++i) {
        const struct lab *lab = lab_registry[i];
        (void)printf("%-20s %-16s %6d  %s\n", lab->id, lab->source_name, lab_max_score(lab),
                     lab->title);
    }
}

static int list_marks(const char *id, struct error *err)
{
    const struct lab *lab = lab_find(id);
    if (lab == NULL)
        return error_set(err, ERROR_USAGE, "there is no lab \"%s\"; `spillway labs` lists them",
                         id);
    (void)printf("%-34s %6s  %s\n", "mark", "points", "title");
    for (size_t i = 0; i < lab->criterion_count; ++i)
        (void)printf("%-34s %6d  %s\n", lab->criteria[i].id, lab->criteria[i].points,
                     lab->criteria[i].title);
    return 0;
}

int cmd_labs(int argc, char **argv)
{
    struct error err = {0};
    optind = 0;
    int option = options_next(argc, argv, long_options, "labs", &err);
    if (option == OPTIONS_HELP) {
        (void)fputs(usage, stdout);
        return EXIT_STATUS_DONE;
    }
    if (option != OPTIONS_END)
        return error_report(&err);
    if (argc - optind > 1)
        error_set(&err, ERROR_USAGE, "one lab at a time: what is \"%s\"?", argv[optind + 1]);
    else if (argc - optind == 1)
        (void)list_marks(argv[optind], &err);
    else
        list_labs();
    return err.kind == ERROR_NONE ? EXIT_STATUS_DONE : error_report(&err);
}

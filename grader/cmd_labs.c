/* cmd_labs.c - `spillway labs`: which labs there are. */
#include "commands.h"

#include "errors.h"
#include "labs/lab.h"

int cmd_labs(int argc, char **argv)
{
    if (argc > 1) {
        bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
        (void)fputs("usage: spillway labs\n\nLists the labs: id, file to edit, points, title.\n",
                    help ? stdout : stderr);
        return help ? EXIT_STATUS_DONE : EXIT_STATUS_USAGE;
    }
    (void)printf("%-20s %-16s %6s  %s\n", "lab", "file", "points", "title");
    for (size_t i = 0; i < lab_registry_count; ++i) {
        const struct lab *lab = lab_registry[i];
        (void)printf("%-20s %-16s %6d  %s\n", lab->id, lab->source_name, lab_max_score(lab),
                     lab->title);
    }
    return EXIT_STATUS_DONE;
}

/* cmd_output.h - how a command hands out a grade: the files that were asked for, then the page. */
#ifndef SPILLWAY_CMD_OUTPUT_H
#define SPILLWAY_CMD_OUTPUT_H

#include "writers.h"

struct output_options {
    struct writers writers;
    const char *only; /* list only marks whose id begins with this; NULL: all */
    bool verbose;
    uint64_t fail_under;
};

/* -1 with *err (usage) when no mark of the lab begins with `only`: a list of nothing would look
 * like a grade without marks. */
int output_check_only(const struct lab *lab, const char *only, struct error *err);

/* Writes the files and prints the page, unless one of the files is standard output. -1 with *err.
 */
int output_grade(const struct grade *grade, const struct output_options *options,
                 struct error *err);

/* The exit status that belongs to the score. */
int output_status(const struct grade *grade, const struct output_options *options);

#endif

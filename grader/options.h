/* options.h - getopt_long() whose complaints are ours: one sentence in a struct error. */
#ifndef SPILLWAY_OPTIONS_H
#define SPILLWAY_OPTIONS_H

#include <getopt.h>

#include "errors.h"

#define OPTIONS_END (-1)
#define OPTIONS_WRONG (-2)

/* The next option's `val` (set each to 256 or more: there are no short options but those), with its
 * value in `optarg`; OPTIONS_END after the last, when argv from `optind` on holds the rest;
 * OPTIONS_WRONG with *err (usage) for one that is not in the table, or lacks its value, or has one
 * too many. `command` ("grade") is for the sentence. Set optind to 0 before the first call. */
int options_next(int argc, char **argv, const struct option *table, const char *command,
                 struct error *err);

#endif

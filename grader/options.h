/* options.h - command lines: getopt_long(), numbers and complaints, the same for every subcommand.
 *
 * What is wrong becomes one sentence in a struct error (usage). */
#ifndef SPILLWAY_OPTIONS_H
#define SPILLWAY_OPTIONS_H

#include <getopt.h>

#include "errors.h"

#define OPTIONS_END (-1)
#define OPTIONS_WRONG (-2)
#define OPTIONS_HELP 256 /* the `val` of --help; -h gives it too */

/* The next option's `val` (each above OPTIONS_HELP: no other option is short), with its value in
 * `optarg`; OPTIONS_END after the last, when argv from `optind` on holds the rest; OPTIONS_WRONG
 * with *err for one that is not in the table, or lacks its value, or has one too many. `command`
 * ("grade") is for the sentence. Set optind to 0 before the first call. */
int options_next(int argc, char **argv, const struct option *table, const char *command,
                 struct error *err);

/* A whole number from `least` to `most`, or -1 with *err; `why` ("" or ", the most a thread may
 * have") follows the range. */
int options_number(uint64_t *ret, const char *option, const char *value, uint64_t least,
                   uint64_t most, const char *why, struct error *err);

/* `--check is "some"; expected all or none`. Returns -1. */
int options_refuse(struct error *err, const char *option, const char *value, const char *expected);

#endif

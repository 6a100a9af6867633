/* cmd_batch.h - what `spillway batch` prints when the grading is over. Internal to cmd_batch*.c. */
#ifndef SPILLWAY_CMD_BATCH_H
#define SPILLWAY_CMD_BATCH_H

#include "batch.h"

/* The class in a few numbers, and where the files are. */
void cmd_batch_summary(const struct batch_options *options, const struct batch_result *result);

/* What was stopped can go on: how. */
void cmd_batch_remainder(const struct batch_options *options, const struct batch_result *result);

/* Publishes everybody's feedback, and says whose was not and why. -1 with *err. */
int cmd_batch_publish(const struct batch_options *options, const struct batch_result *result,
                      struct error *err);

#endif

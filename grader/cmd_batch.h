/* cmd_batch.h - the parts of `spillway batch`: its options, the files that they name, and what is
 * printed when the grading is over. Internal to cmd_batch*.c. */
#ifndef SPILLWAY_CMD_BATCH_H
#define SPILLWAY_CMD_BATCH_H

#include "batch.h"
#include "grading_options.h"

#define BATCH_STUDENTS_MOST 1000 /* named with --student */
#define BATCH_SBATCH_OPTIONS_MOST 50

/* The command line, and what it names. */
struct batch_command {
    struct batch_options batch;
    struct grading_options grading;
    const char *roster_path, *override_path, *pushed_path, *zone_text, *deadline_text, *since_text;
    const char *late_text, *canvas_path, *canvas_column, *gres_text;
    const char *slurm_option; /* the first one of Slurm's, "--gres" */
    const char *sbatch_options[BATCH_SBATCH_OPTIONS_MOST];
    const char *students[BATCH_STUDENTS_MOST];
    char *student_lists[BATCH_STUDENTS_MOST]; /* owned */
    size_t student_list_count;
    /* What the options' pointers point to */
    struct roster roster;
    struct overrides overrides;
    struct pushlog pushes;
    struct canvas canvas;
    struct moment deadline;
    struct late_policy late;
    bool publish;
};

/* Fills an empty command from the options (cmd_batch_options.c). Returns 1 after --help was
 * printed, 0 to go on, -1 with *err (usage). */
int cmd_batch_parse(struct batch_command *c, int argc, char **argv, struct error *err);

/* Reads the lab, times and files that they name (cmd_batch_inputs.c), says on standard error all
 * that is wrong or odd with them, and leaves c->batch ready for batch_run(). 0, or -1 with *err. */
int cmd_batch_read(struct batch_command *c, struct error *err);

/* ---- What is said in the end (cmd_batch_end.c) ------------------------------------------------
 */

/* The class in a few numbers, and where the files are. */
void cmd_batch_summary(const struct batch_options *options, const struct batch_result *result);

/* What was stopped can go on: how. */
void cmd_batch_remainder(const struct batch_options *options, const struct batch_result *result);

/* Publishes everybody's feedback, and says whose was not and why. -1 with *err. */
int cmd_batch_publish(const struct batch_options *options, const struct batch_result *result,
                      struct error *err);

#endif

/* slurm.h - jobs on a Slurm cluster, by its own programs: sbatch, squeue, sacct and scancel, each
 * with an argument vector and no shell.
 *
 * They are found on the PATH and get this program's environment, since a site's settings
 * (SLURM_CONF and the like) travel there. Nothing of a student's is ever an argument. */
#ifndef SPILLWAY_SLURM_H
#define SPILLWAY_SLURM_H

#include "bytes.h"
#include "errors.h"

struct slurm_options {
    const char *partition;    /* NULL: the cluster's default, like the next */
    const char *time;         /* limit of one task, as Slurm has it: "30", "2:00:00" */
    const char *gres;         /* "gpu:1"; NULL: none */
    const char *const *extra; /* passed on to sbatch as they are */
    size_t extra_count;
};

#define SLURM_JOB_BYTES 64

/* Submits an array of tasks 0 … count - 1, each of which runs `argv` (NULL-terminated) with
 * SLURM_ARRAY_TASK_ID set. What they print goes into files of `log_folder`, where the script lies
 * as well. `job` gets the array's id. -1 with *err (infrastructure): no Slurm here, or it refuses;
 * the message quotes it. */
int slurm_submit(char job[SLURM_JOB_BYTES], const struct slurm_options *options, size_t count,
                 const char *const *argv, const char *log_folder, struct error *err);

struct slurm_state {
    size_t waiting, running;
    char reason[64]; /* why the first that waits does so; "" */
};

/* How many of its tasks are still there: none, when all have ended, however. -1 with *err when
 * Slurm cannot be asked; that may pass. */
int slurm_ask(const char *job, struct slurm_state *ret, struct error *err);

/* What the accounting says of how tasks ended, "FAILED 3, NODE_FAIL 1", or "": many clusters keep
 * none. */
void slurm_ends(const char *job, char *into, size_t size);

/* Ends the job. Whether that worked does not matter. */
void slurm_cancel(const char *job);

/* What a file of a task's output ends with: its last line, printable; "" when there is none. */
void slurm_last_words(const char *log_folder, const char *job, size_t task, char *into,
                      size_t size);

#endif

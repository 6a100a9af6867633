/* batch.h - grade a class: every student's repo, in parallel, into the gradebook.
 *
 * Children fetch (repo_fetch.h); threads build, run and judge what came (pipeline.h), as many as
 * there are cores, or on a GPU one lane a device; the thread that called batch_run() records and
 * writes files. Each student is finished in one transaction, so that whatever stops a batch, the
 * same command goes on. What has not changed since the last attempt is not graded again.
 *
 * A student's trouble ends in that student's row. Trouble of the machine is tried once more, then
 * listed apart, and what was graded before stays valid. */
#ifndef SPILLWAY_BATCH_H
#define SPILLWAY_BATCH_H

#include "canvas.h"
#include "gradebook.h"
#include "late.h"
#include "overrides.h"
#include "pipeline.h"
#include "pushlog.h"
#include "repo_fetch.h"
#include "slurm.h"
#include "summary.h"

struct batch_options {
    const char *folder; /* --out: made if missing */
    const struct roster *roster;
    const struct lab *lab;
    struct machine_options machine; /* its threads are the emulator's, of one submission */
    bool has_seed;
    uint64_t seed; /* else the gradebook's, else drawn */
    size_t elements;
    unsigned jobs, fetch_jobs; /* 0: as many as there are cores, and as are good for a network */
    /* Which commit */
    const struct zone *zone;        /* that times are shown in; NULL: as git has them */
    const struct moment *deadline;  /* NULL: none, but for students with their own */
    const struct late_policy *late; /* NULL: what comes after the deadline does not count */
    const struct pushlog *pushes;   /* NULL: none */
    enum repo_choice choice;
    const char *tag_pattern; /* REPO_LAST_TAG */
    const char *path;        /* folder in the repos; NULL: the usual ones */
    struct repo_options repo;
    /* Who: the union of the four picks (none: everybody), of whom only the named ones if any are */
    const char *const *students;
    size_t student_count;
    bool failed, retry, has_since;
    int64_t since_s;
    bool force; /* also what has not changed */
    /* Where */
    bool on_slurm;
    struct slurm_options slurm;
    size_t per_task; /* students of one Slurm task; 0: so that there are at most 500 tasks */
    /* By hand, and what is written */
    const struct overrides *overrides; /* NULL: none */
    const struct canvas *canvas;       /* NULL: no canvas.csv */
};

struct batch_result {
    /* Of the students. Who is neither finished nor in trouble was interrupted. */
    size_t selected, finished, trouble;
    size_t regraded, unchanged, missing, broken; /* of the finished ones */
    uint64_t seed;
    struct summary summary; /* of the whole class; borrows from standings and the roster */
    struct standings standings;
    struct problems notes;   /* of Canvas */
    struct student_ids left; /* who was in the roster of the batch before, and is not in this one */
    /* Owned; what decides which commit counts and at what cost, as options. NULL `terms_before`:
     * the batch before this one in the folder had the same, or there was none. */
    char *terms, *terms_before;
};

/* Ends with every student of the selection finished or in trouble of the machine, or with
 * ERROR_INTERRUPTED, or with trouble that hits everybody (no toolkit, a full disk). In every case
 * what was finished is safe, and *ret->selected, finished and trouble are right. Release it in any
 * case. */
int batch_run(struct batch_result *ret, const struct batch_options *options, struct error *err);
void batch_result_release(struct batch_result *result);

#endif

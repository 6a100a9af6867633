/* shard.h - part of a class graded by another machine: plain files below the output folder, which
 * both see. No SQLite over a network, and no credentials away from the machine that fetches.
 *
 *   shards/work/KEY          one submission, as it was fetched
 *   shards/done/KEY.json     its attempt (attempt.h)
 *   shards/done/KEY.trouble  or a sentence: why that machine could not grade it
 *   shards/plan-N            how to grade, and which works: what the tasks of one job are given
 *
 * KEY is a hash of all that the attempt depends on, so results are idempotent: a task that runs
 * twice, or late, writes the same file again. Files appear by rename. */
#ifndef SPILLWAY_SHARD_H
#define SPILLWAY_SHARD_H

#include "batch_item.h"

/* Makes shards/ and its folders. */
int shard_make_folders(const char *folder, struct error *err);

/* The item's submission into a work file. */
int shard_write_work(const char *folder, const struct batch_item *item, struct error *err);
/* Fills an empty item's submission and the key of its attempt from the work file of that key.
 * -1 with *err: it is not there, or not whole. */
int shard_read_work(const char *folder, const char *key, const struct lab *lab,
                    struct batch_item *item, struct error *err);

/* ---- Results ---------------------------------------------------------------------------------*/

int shard_write_attempt(const char *folder, const struct batch_item *item, struct error *err);
int shard_write_trouble(const char *folder, const char *key, const char *sentence,
                        struct error *err);

enum shard_result {
    SHARD_NOTHING, /* no result yet */
    SHARD_ATTEMPT, /* *attempt is filled; it lacks what only the machine that fetched knows */
    SHARD_TROUBLE, /* *trouble says why */
};
/* A file that is not whole counts as none. */
enum shard_result shard_read_result(const char *folder, const char *key, struct attempt *attempt,
                                    struct error *trouble);
/* Both, after they are in the gradebook, or before another try. */
void shard_remove_result(const char *folder, const char *key);

/* ---- Plans -----------------------------------------------------------------------------------*/

struct shard_plan {
    char *folder; /* owned; the output folder, absolute */
    char *lab_id; /* owned */
    uint64_t seed, elements;
    struct machine_options machine; /* its texts are owned by the plan */
    char *nvcc, *executor;          /* owned: what machine points to */
    unsigned jobs;
    size_t per_task;
    char (*keys)[DIGEST_HEX_BYTES]; /* owned */
    size_t key_count;
};

/* Writes shards/plan-NUMBER, and returns its path, owned by the caller; NULL with *err. */
char *shard_write_plan(const struct shard_plan *plan, unsigned number, struct error *err);
/* -1 with *err: no plan, damaged, or of another version of this program. */
int shard_read_plan(struct shard_plan *ret, const char *path, struct error *err);
void shard_plan_release(struct shard_plan *plan);

/* Grades the works of one task (from 0) that have no result yet. -1 with *err: interrupted, or what
 * hits all of them. */
int shard_run(const struct shard_plan *plan, size_t task, struct error *err);

#endif

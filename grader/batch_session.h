/* batch_session.h - one run of a batch: what it holds, and how a student is finished. Internal to
 * batch*.c. */
#ifndef SPILLWAY_BATCH_SESSION_H
#define SPILLWAY_BATCH_SESSION_H

#include "batch_crew.h"
#include "batch_progress.h"
#include "shard.h"

struct session {
    struct batch batch;
    const struct batch_options *options;
    struct batch_result *result;
    struct gradebook *book; /* owned */
    int lock;               /* owned; -1: none */
    struct pool *pool;      /* owned */
    size_t sharded;         /* items that wait for another machine's result */
    struct batch_progress progress;
    struct late_policy policy; /* what counts, also where no option says so */
};

/* batch_open.c: makes the folder or takes it over, locks it, and brings its gradebook up to date
 * with the roster, the seed and the overrides. */
int batch_session_open(struct session *s, struct error *err);

/* Records an item that has ended, writes its files, says so, and lets go of it. Trouble that may
 * pass puts it into the pool's first stage once more. -1 with *err: what hits everybody. */
int session_take(struct session *s, struct batch_item *item, struct error *err);

/* batch_slurm.c: writes what was fetched for another machine to grade; has a Slurm cluster grade
 * it. */
int session_shard(struct session *s, struct batch_item *item, struct error *err);
int session_grade_on_slurm(struct session *s, struct error *err);

#endif

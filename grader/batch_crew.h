/* batch_crew.h - the machine and the threads that grade: of a batch on this machine, or of one task
 * of a cluster. Internal to batch*.c and shard*.c. */
#ifndef SPILLWAY_BATCH_CREW_H
#define SPILLWAY_BATCH_CREW_H

#include "batch_item.h"
#include "pool.h"

/* Finds compilers, sandbox, executor, GPUs; opens the cache below the output folder. Needs
 * batch->options and batch->seed. -1 with *err; crew_release() all the same. */
int crew_find_machine(struct batch *batch, struct error *err);
void crew_release(struct batch *batch);

/* What the first stage does with an item. */
enum crew_source {
    CREW_FETCH,       /* its repo is fetched, and what came is graded */
    CREW_FETCH_ALONE, /* its repo is fetched, and that is all */
    CREW_LOAD,        /* what another machine fetched is read from a file and graded */
};

/* Starts the threads and gives them all of batch->items. */
int crew_start(struct pool **ret, struct batch *batch, enum crew_source source, struct error *err);

#endif

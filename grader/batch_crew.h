/* batch_crew.h - the machine and the threads that grade. Internal to batch*.c. */
#ifndef SPILLWAY_BATCH_CREW_H
#define SPILLWAY_BATCH_CREW_H

#include "batch_item.h"
#include "pool.h"

/* Finds compilers, sandbox, executor, GPUs; opens the cache below the output folder. Needs
 * batch->options and batch->seed. -1 with *err; crew_release() all the same. */
int crew_find_machine(struct batch *batch, struct error *err);
void crew_release(struct batch *batch);

/* Starts the threads and gives them all of batch->items. */
int crew_start(struct pool **ret, struct batch *batch, struct error *err);

#endif

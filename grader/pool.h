/* pool.h - threads that take items through stages: each stage has a queue and threads of its own.
 *
 * An item is a number of the caller's. A stage's function works on one item and says which stage is
 * next, a later one always, or POOL_DONE; done items come back through pool_wait(). A queue that is
 * full holds up the stages before it, so that only so many items lie about half finished. */
#ifndef SPILLWAY_POOL_H
#define SPILLWAY_POOL_H

#include "errors.h"

#define POOL_DONE SIZE_MAX
#define POOL_STAGES_MAX 4

struct pool_stage {
    unsigned threads;   /* 0: the stage is not used */
    size_t queue_limit; /* items that may wait for it before others are held up */
    /* Called in a thread of the stage, with what begin() made for it and its place among the
     * stage's threads. */
    size_t (*work)(void *context, void *state, unsigned thread, size_t item);
    /* NULL: nothing to make; both are called in the thread itself. */
    void *(*begin)(void *context, unsigned thread);
    void (*end)(void *context, void *state);
};

struct pool;

/* Starts all threads; a stage gets fewer than asked for when the system has no more, but not none.
 * -1 with *err (infrastructure). `context` is the caller's. */
int pool_open(struct pool **ret, const struct pool_stage *stages, size_t stage_count, void *context,
              struct error *err);

/* Puts an item into the queue of a stage, full or not. Never fails: an item waits in at most one
 * place, and `item` < the count given to pool_room(). */
void pool_add(struct pool *pool, size_t stage, size_t item);
/* Room for items 0 … count - 1; before the first pool_add(). */
int pool_room(struct pool *pool, size_t count, struct error *err);

/* A done item, or POOL_DONE when none came within `wait_ns`. */
size_t pool_wait(struct pool *pool, int64_t wait_ns);

/* Items that are being worked on in a stage, and that wait for it. */
void pool_counts(struct pool *pool, size_t stage, size_t *working, size_t *waiting);

/* What still waits is dropped; what is being worked on is finished. Then the threads end. Done
 * items can be had from pool_wait() afterwards. */
void pool_stop(struct pool *pool);
void pool_close(struct pool *pool); /* stops it first; NULL is fine */

#endif

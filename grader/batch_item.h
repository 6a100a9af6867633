/* batch_item.h - one student on the way through a batch, stage by stage. Internal to batch*.c.
 *
 * Every stage leaves the item either for the next one or ended: `end` says how, and then the item
 * holds an attempt, or the trouble in `err`. A stage runs in one thread of the pool; an item is
 * never in two. */
#ifndef SPILLWAY_BATCH_ITEM_H
#define SPILLWAY_BATCH_ITEM_H

#include "batch.h"
#include "recall.h"
#include "run.h"

#include <pthread.h>

enum item_end {
    ITEM_UNDERWAY,
    ITEM_UNCHANGED, /* nothing that matters has changed since the latest attempt */
    ITEM_ATTEMPT,   /* `attempt` is to be recorded */
    ITEM_TROUBLE,   /* the machine's, or the server's: err */
    ITEM_STOPPED,   /* interrupted */
};

struct batch_item {
    const struct student *student; /* borrowed */
    char *known_key, *known_state; /* owned; of the latest attempt; NULL: there is none */
    enum attempt_outcome known_outcome;
    enum item_end end;
    bool passing; /* ITEM_TROUBLE: worth another try */
    unsigned tries;
    struct error err;
    struct submission submission;
    struct bytes answers;  /* for another machine: the bytes that the submission's were read from */
    char *answers_problem; /* owned; or why they could not be */
    const char *work_key;  /* borrowed; of an item that comes from a file of another machine */
    bool sharded;          /* it is for another machine to grade */
    struct pipeline pipeline;
    struct attempt attempt;
    int64_t began_ns;
};

#define BATCH_LANES_MOST 16

/* What all items share. */
struct batch {
    const struct batch_options *options;
    struct machine machine;
    struct cache *cache; /* owned */
    struct recall recall;
    char settings[DIGEST_HEX_BYTES]; /* everything but the submission that a grade depends on */
    bool elsewhere; /* other machines grade: there are neither machine nor cache here */
    int64_t now_s;
    uint64_t seed;
    struct bytes blank_source, blank_answers; /* as students get them; empty: not known */
    pthread_mutex_t numbers_lock;
    bool numbers_ready; /* guarded by numbers_lock, like the next */
    struct numbers numbers;
    struct gpu_device gpus[BATCH_LANES_MOST]; /* one lane each */
    unsigned gpu_count;
    struct batch_item *items; /* owned */
    size_t item_count;
};

/* Finds the settings' digest; after machine, recall and seed are set. What another machine has is
 * not known here, and left out. */
int batch_settings(struct batch *batch, struct error *err);

/* Reads what students begin with, where this installation has it. */
void batch_read_blanks(struct batch *batch);

enum { STAGE_FETCH, STAGE_WORK, STAGE_LANE, STAGE_COUNT };

/* Fetches, chooses, reads: ends the item, or fills its submission. */
void batch_item_fetch(struct batch *batch, struct batch_item *item, struct repo_fetcher *fetcher);
/* Builds, and where there is no lane runs and judges. */
void batch_item_work(struct batch *batch, struct batch_item *item);
/* Runs on this GPU and judges. */
void batch_item_lane(struct batch_item *item, const struct gpu_device *gpu, struct run_lane *lane);

/* Puts what was graded into the item's attempt, which holds what the fetch found. Takes *graded
 * over, and ends the item. */
void batch_item_complete(struct batch_item *item, struct attempt *graded);

/* The first word of an attempt's key: a name for all that it was made from. Returns `into`. */
const char *batch_item_key(const char *key, char into[DIGEST_HEX_BYTES]);

/* Forgets everything but the student and what was known before. */
void batch_item_reset(struct batch_item *item);
void batch_item_release(struct batch_item *item);

/* Trouble with a sentence; interrupted where the error says so. */
void batch_item_fail(struct batch_item *item, const struct error *err);

#endif

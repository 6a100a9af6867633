#include "pool.h"

#include <assert.h>
#include <pthread.h>
#include <time.h>

#define NONE SIZE_MAX
#define STACK_BYTES ((size_t)2 << 20)

struct queue { /* a list through pool->next */
    size_t first, last, length;
};

struct member {
    struct pool *pool;
    size_t stage;
    unsigned number;
    pthread_t thread;
};

struct pool {
    struct pool_stage stages[POOL_STAGES_MAX];
    size_t stage_count;
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_cond_t done_changed; /* on the monotonic clock */
    size_t *next;                /* owned: who comes after each item in its queue */
    size_t room;
    struct queue queues[POOL_STAGES_MAX];
    struct queue done;
    size_t working[POOL_STAGES_MAX];
    bool stop;
    struct member *members; /* owned */
    size_t member_count;
};

static void push(struct pool *pool, struct queue *queue, size_t item)
{
    assert(item < pool->room);
    pool->next[item] = NONE;
    if (queue->length == 0)
        queue->first = item;
    else
        pool->next[queue->last] = item;
    queue->last = item;
    ++queue->length;
}

static size_t take(struct pool *pool, struct queue *queue)
{
    size_t item = queue->first;
    queue->first = pool->next[item];
    --queue->length;
    return item;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Hands an item on; waits while the next queue is full. The lock is held. */
static void hand_on(struct pool *pool, size_t stage, size_t next, size_t item)
{
    assert(next == POOL_DONE || (next > stage && next < pool->stage_count));
    while (next != POOL_DONE && !pool->stop &&
           pool->queues[next].length >= pool->stages[next].queue_limit)
        (void)pthread_cond_wait(&pool->changed, &pool->lock);
    push(pool, next == POOL_DONE ? &pool->done : &pool->queues[next], item);
    (void)pthread_cond_broadcast(next == POOL_DONE ? &pool->done_changed : &pool->changed);
}

static void *member_main(void *argument)
{
    struct member *member = argument;
    struct pool *pool = member->pool;
    const struct pool_stage *stage = &pool->stages[member->stage];
    void *state = stage->begin != NULL ? stage->begin(pool->context, member->number) : NULL;
    (void)pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        if (pool->queues[member->stage].length == 0) {
            (void)pthread_cond_wait(&pool->changed, &pool->lock);
            continue;
        }
        size_t item = take(pool, &pool->queues[member->stage]);
        ++pool->working[member->stage];
        (void)pthread_cond_broadcast(&pool->changed);
        (void)pthread_mutex_unlock(&pool->lock);
        size_t next = stage->work(pool->context, state, member->number, item);
        (void)pthread_mutex_lock(&pool->lock);
        hand_on(pool, member->stage, next, item);
        --pool->working[member->stage];
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (stage->end != NULL)
        stage->end(pool->context, state);
    return NULL;
}

static int start_stage(struct pool *pool, size_t stage, struct error *err)
{
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    unsigned started = 0;
    for (; started < pool->stages[stage].threads; ++started) {
        struct member *member = &pool->members[pool->member_count];
        *member = (struct member){.pool = pool, .stage = stage, .number = started};
        if (pthread_create(&member->thread, &attributes, member_main, member) != 0)
            break;
        ++pool->member_count;
    }
    (void)pthread_attr_destroy(&attributes);
    if (started == 0 && pool->stages[stage].threads > 0)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "cannot start a thread: the system has no more of them");
    return 0;
}

int pool_open(struct pool **ret, const struct pool_stage *stages, size_t stage_count, void *context,
              struct error *err)
{
    assert(stage_count <= POOL_STAGES_MAX);
    *ret = NULL;
    size_t threads = 0;
    for (size_t i = 0; i < stage_count; ++i)
        threads += stages[i].threads;
    struct pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return error_no_memory(err);
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->changed, NULL);
    (void)pthread_cond_init(&pool->done_changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    memcpy(pool->stages, stages, stage_count * sizeof stages[0]);
    pool->stage_count = stage_count;
    pool->context = context;
    pool->members = calloc(threads + 1, sizeof pool->members[0]);
    int status = 0;
    if (pool->members == NULL) {
        error_no_memory(err);
        status = -1;
    }
    for (size_t i = 0; status == 0 && i < stage_count; ++i)
        status = start_stage(pool, i, err);
    if (status == 0)
        *ret = pool;
    else
        pool_close(pool);
    return status;
}

int pool_room(struct pool *pool, size_t count, struct error *err)
{
    size_t *next = calloc(count + 1, sizeof *next);
    if (next == NULL)
        return error_no_memory(err);
    (void)pthread_mutex_lock(&pool->lock);
    free(pool->next);
    pool->next = next;
    pool->room = count;
    (void)pthread_mutex_unlock(&pool->lock);
    return 0;
}

void pool_add(struct pool *pool, size_t stage, size_t item)
{
    (void)pthread_mutex_lock(&pool->lock);
    push(pool, &pool->queues[stage], item);
    (void)pthread_cond_broadcast(&pool->changed);
    (void)pthread_mutex_unlock(&pool->lock);
}

size_t pool_wait(struct pool *pool, int64_t wait_ns)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + wait_ns % 1000000000;
    until.tv_sec += wait_ns / 1000000000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    (void)pthread_mutex_lock(&pool->lock);
    while (pool->done.length == 0 &&
           pthread_cond_timedwait(&pool->done_changed, &pool->lock, &until) == 0)
        continue;
    size_t item = pool->done.length > 0 ? take(pool, &pool->done) : POOL_DONE;
    (void)pthread_mutex_unlock(&pool->lock);
    return item;
}

void pool_counts(struct pool *pool, size_t stage, size_t *working, size_t *waiting)
{
    (void)pthread_mutex_lock(&pool->lock);
    *working = pool->working[stage];
    *waiting = pool->queues[stage].length;
    (void)pthread_mutex_unlock(&pool->lock);
}

void pool_stop(struct pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    (void)pthread_cond_broadcast(&pool->changed);
    (void)pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->member_count; ++i)
        (void)pthread_join(pool->members[i].thread, NULL);
    pool->member_count = 0;
}

void pool_close(struct pool *pool)
{
    if (pool == NULL)
        return;
    pool_stop(pool);
    (void)pthread_cond_destroy(&pool->done_changed);
    (void)pthread_cond_destroy(&pool->changed);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool->members);
    free(pool->next);
    free(pool);
}

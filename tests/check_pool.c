/* check_pool.c - threads that take items through stages; what a bar says of them. */
#include "testing.h"

#include <pthread.h>

#include "batch_progress.h"
#include "pool.h"

#define ITEMS 500

struct trip {
    unsigned visits[3];
    unsigned stage_of_thread;
};

struct tour {
    struct trip trips[ITEMS];
    unsigned working[3], most[3]; /* at a time */
    unsigned begun, ended;
    size_t skip_second; /* every so many items go from the first stage to the last */
};

static void raise_to(unsigned *most, unsigned value)
{
    unsigned seen = __atomic_load_n(most, __ATOMIC_SEQ_CST);
    while (seen < value && !__atomic_compare_exchange_n(most, &seen, value, false, __ATOMIC_SEQ_CST,
                                                        __ATOMIC_SEQ_CST))
        continue;
}

static void visit(struct tour *tour, size_t stage, size_t item)
{
    raise_to(&tour->most[stage], __atomic_add_fetch(&tour->working[stage], 1, __ATOMIC_SEQ_CST));
    ++tour->trips[item].visits[stage];
    (void)usleep(20);
    __atomic_sub_fetch(&tour->working[stage], 1, __ATOMIC_SEQ_CST);
}

static void *begin(void *context, unsigned thread)
{
    (void)thread;
    struct tour *tour = context;
    __atomic_add_fetch(&tour->begun, 1, __ATOMIC_SEQ_CST);
    return tour;
}

static void end(void *context, void *state)
{
    ck_assert_ptr_eq(context, state);
    struct tour *tour = context;
    __atomic_add_fetch(&tour->ended, 1, __ATOMIC_SEQ_CST);
}

static size_t first(void *context, void *state, unsigned thread, size_t item)
{
    (void)state, (void)thread;
    struct tour *tour = context;
    visit(tour, 0, item);
    return tour->skip_second != 0 && item % tour->skip_second == 0 ? 2 : 1;
}

static size_t second(void *context, void *state, unsigned thread, size_t item)
{
    (void)state, (void)thread;
    visit(context, 1, item);
    return 2;
}

static size_t third(void *context, void *state, unsigned thread, size_t item)
{
    (void)state, (void)thread;
    visit(context, 2, item);
    return POOL_DONE;
}

static struct pool *open_pool(struct tour *tour, unsigned a, unsigned b, unsigned c)
{
    const struct pool_stage stages[] = {
        {.threads = a, .queue_limit = SIZE_MAX, .work = first, .begin = begin, .end = end},
        {.threads = b, .queue_limit = 2, .work = second},
        {.threads = c, .queue_limit = 1, .work = third, .begin = begin, .end = end},
    };
    struct pool *pool = NULL;
    struct error err = {0};
    ck_assert_msg(pool_open(&pool, stages, 3, tour, &err) == 0, "%s", err.text);
    ck_assert_int_eq(pool_room(pool, ITEMS, &err), 0);
    return pool;
}

static const struct {
    unsigned threads[3];
    size_t skip;
} shapes[] = {{{1, 1, 1}, 0}, {{4, 2, 1}, 3}, {{1, 4, 4}, 7}, {{3, 1, 5}, 2}};

START_TEST(every_item_goes_through_every_stage_once)
{
    static struct tour tour;
    tour = (struct tour){.skip_second = shapes[_i].skip};
    struct pool *pool =
        open_pool(&tour, shapes[_i].threads[0], shapes[_i].threads[1], shapes[_i].threads[2]);
    for (size_t i = 0; i < ITEMS; ++i)
        pool_add(pool, 0, i);
    bool done[ITEMS] = {false};
    for (size_t count = 0; count < ITEMS; ++count) {
        size_t item = pool_wait(pool, INT64_C(30000000000));
        ck_assert_uint_lt(item, ITEMS);
        ck_assert(!done[item]);
        done[item] = true;
    }
    ck_assert_uint_eq(pool_wait(pool, 0), POOL_DONE);
    pool_close(pool);
    for (size_t i = 0; i < ITEMS; ++i) {
        bool skipped = shapes[_i].skip != 0 && i % shapes[_i].skip == 0;
        ck_assert_uint_eq(tour.trips[i].visits[0], 1);
        ck_assert_uint_eq(tour.trips[i].visits[1], skipped ? 0 : 1);
        ck_assert_uint_eq(tour.trips[i].visits[2], 1);
    }
    for (size_t stage = 0; stage < 3; ++stage)
        ck_assert_uint_le(tour.most[stage], shapes[_i].threads[stage]);
    ck_assert_uint_eq(tour.begun, shapes[_i].threads[0] + shapes[_i].threads[2]);
    ck_assert_uint_eq(tour.ended, tour.begun);
}
END_TEST

START_TEST(an_item_may_go_round_again)
{
    static struct tour tour;
    tour = (struct tour){0};
    struct pool *pool = open_pool(&tour, 2, 2, 2);
    pool_add(pool, 0, 7);
    for (unsigned round = 1; round <= 20; ++round) {
        ck_assert_uint_eq(pool_wait(pool, INT64_C(30000000000)), 7);
        ck_assert_uint_eq(tour.trips[7].visits[2], round);
        pool_add(pool, 0, 7);
    }
    pool_close(pool);
}
END_TEST

START_TEST(stopping_finishes_what_is_at_work_and_drops_the_rest)
{
    static struct tour tour;
    tour = (struct tour){0};
    struct pool *pool = open_pool(&tour, 2, 2, 1);
    for (size_t i = 0; i < ITEMS; ++i)
        pool_add(pool, 0, i);
    ck_assert_uint_ne(pool_wait(pool, INT64_C(30000000000)), POOL_DONE);
    pool_stop(pool);
    size_t finished = 1;
    while (pool_wait(pool, 0) != POOL_DONE)
        ++finished;
    for (size_t stage = 0; stage < 3; ++stage) {
        size_t working = 1, waiting = 0;
        pool_counts(pool, stage, &working, &waiting);
        ck_assert_uint_eq(working, 0);
    }
    size_t through = 0;
    for (size_t i = 0; i < ITEMS; ++i)
        through += tour.trips[i].visits[2];
    ck_assert_uint_eq(through, finished);
    ck_assert_uint_eq(tour.ended, tour.begun);
    pool_close(pool);
}
END_TEST

/* ---- The bar ---------------------------------------------------------------------------------*/

#define SECOND INT64_C(1000000000)
static const struct {
    struct batch_progress progress;
    int64_t after_s;
    size_t columns;
    const char *expected;
} bars[] = {
    {{.total = 300, .waiting = 300},
     1,
     79,
     "[.............................]   0%  0 done, 0 running, 300 waiting, 0 failed"},
    {{.total = 300, .done = 100, .running = 4, .waiting = 196, .failed = 2},
     50,
     100,
     "[##########....................]  33%  100 done, 4 running, 196 waiting, 2 failed, 2 min "
     "left"},
    {{.total = 300, .done = 100, .running = 4, .waiting = 196},
     20,
     100,
     "[##########....................]  33%  100 done, 4 running, 196 waiting, 0 failed, 41 s "
     "left"},
    {{.total = 3000, .done = 10, .waiting = 2990},
     100,
     60,
     "  0%  10 done, 0 running, 2990 waiting, 0 failed, 9 h left"},
    /* Those that had not changed cost nothing: no guess while nothing was graded. */
    {{.total = 300, .done = 100, .unchanged = 100, .waiting = 200},
     20,
     60,
     "[##......]  33%  100 done, 0 running, 200 waiting, 0 failed"},
    {{.total = 2, .done = 2}, 20, 50, "100%  2 done, 0 running, 0 waiting, 0 failed"},
    {{.total = 0}, 0, 44, "100%  0 done, 0 running, 0 waiting, 0 failed"},
};

START_TEST(bars_say_how_far_it_is)
{
    char text[BATCH_PROGRESS_BYTES];
    (void)batch_progress_text(&bars[_i].progress, bars[_i].after_s * SECOND, bars[_i].columns,
                              text);
    ck_assert_str_eq(text, bars[_i].expected);
    ck_assert_uint_le(strlen(text), bars[_i].columns);
}
END_TEST

Suite *suite_pool(void)
{
    Suite *suite = suite_create("pool");
    TCase *tests = tcase_create("pool");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, every_item_goes_through_every_stage_once, 0, (int)COUNT_OF(shapes));
    tcase_add_test(tests, an_item_may_go_round_again);
    tcase_add_test(tests, stopping_finishes_what_is_at_work_and_drops_the_rest);
    tcase_add_loop_test(tests, bars_say_how_far_it_is, 0, (int)COUNT_OF(bars));
    suite_add_tcase(suite, tests);
    return suite;
}

/* batch_slurm.c - a class graded by a Slurm cluster: what was fetched here goes out as files, and
 * what comes back goes into the gradebook, each student as soon as the result is there.
 *
 * Tasks may fail, be preempted, lose their node, or run twice: only the files count. When no task
 * is left, what still has no result is submitted once more, in a job of its own. A batch that was
 * killed finds the results of its job's tasks when it runs again. */
#include "batch_session.h"

#include <assert.h>
#include <dirent.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <time.h>

#include "process.h"

#define SECOND_NS INT64_C(1000000000)
#define ROUNDS_MOST 3
#define TASKS_MOST 500          /* of one array: sites allow 1,000 unless they say otherwise */
#define POLL_NS (SECOND_NS / 4) /* for files */
#define ASK_NS SECOND_NS        /* Slurm, at first: its controller serves everybody */
#define ASK_MOST_NS (20 * SECOND_NS)
#define ASK_FAILURES_MOST 30
/* Until a file of another machine shows: over a network, and on a disk of this machine's own. */
#define SETTLE_NS (6 * SECOND_NS)
#define SETTLE_HERE_NS (SECOND_NS / 2)
#define TRIES 2

struct keyed {
    char key[DIGEST_HEX_BYTES];
    struct batch_item *item; /* NULL: has its result */
};

struct cluster {
    struct session *s;
    struct keyed *all; /* owned; the sharded items, by key */
    size_t count, left;
    char *folder;                   /* owned; absolute */
    char *log;                      /* owned; of the tasks */
    char (*keys)[DIGEST_HEX_BYTES]; /* owned; of this round's plan */
    size_t key_count, per_task;
    bool gave_up;
    char job[SLURM_JOB_BYTES];
};

int session_shard(struct session *s, struct batch_item *item, struct error *err)
{
    if (shard_write_work(s->options->folder, item, err) != 0)
        return -1;
    item->sharded = true;
    ++s->sharded;
    /* The file has it all: a large class would not fit in memory. */
    submission_release(&item->submission);
    bytes_release(&item->answers);
    return 0;
}

/* ---- Collecting ------------------------------------------------------------------------------*/

static int compare_keys(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    return strcmp(a->key, b->key);
}

/* The first of that key; students of one group may have the same work. */
static struct keyed *find_key(const struct cluster *c, const char *key)
{
    struct keyed wanted = {.key = ""};
    (void)snprintf(wanted.key, sizeof wanted.key, "%s", key);
    struct keyed *found = bsearch(&wanted, c->all, c->count, sizeof c->all[0], compare_keys);
    while (found != NULL && found > c->all && strcmp(found[-1].key, key) == 0)
        --found;
    return found;
}

static int finish_item(struct cluster *c, struct keyed *keyed, struct error *err)
{
    int status = session_take(c->s, keyed->item, err);
    --c->s->sharded;
    --c->left;
    keyed->item = NULL;
    return status;
}

/* Trouble is another machine's, perhaps: the next round may have more luck. */
static int take_trouble(struct cluster *c, struct keyed *keyed, const struct error *trouble,
                        struct error *err)
{
    struct batch_item *item = keyed->item;
    batch_item_fail(item, trouble);
    item->passing = false; /* the pool is no place for it */
    if (++item->tries < TRIES) {
        item->end = ITEM_UNDERWAY;
        return 0;
    }
    return finish_item(c, keyed, err);
}

static int take_result(struct cluster *c, const char *key, struct error *err)
{
    struct attempt attempt;
    struct error trouble = {0};
    int status = 0;
    struct keyed *keyed = find_key(c, key);
    enum shard_result result =
        keyed == NULL ? SHARD_NOTHING : shard_read_result(c->folder, key, &attempt, &trouble);
    if (result == SHARD_NOTHING)
        return 0;
    for (; status == 0 && keyed < c->all + c->count && strcmp(keyed->key, key) == 0; ++keyed) {
        struct attempt copy;
        if (keyed->item == NULL)
            continue;
        if (result == SHARD_TROUBLE) {
            status = take_trouble(c, keyed, &trouble, err);
            continue;
        }
        status = attempt_copy(&copy, &attempt, err);
        if (status != 0)
            break;
        batch_item_complete(keyed->item, &copy);
        status = finish_item(c, keyed, err);
    }
    attempt_release(&attempt);
    if (status == 0)
        shard_remove_result(c->folder, key);
    return status;
}

/* Everything that is there by now. */
static int collect(struct cluster *c, struct error *err)
{
    AUTO_FREE char *path = path_join(c->folder, "shards/done");
    DIR *folder = path == NULL ? NULL : opendir(path);
    if (folder == NULL)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot list the results of %s",
                               c->folder);
    int status = 0;
    for (const struct dirent *entry; status == 0 && (entry = readdir(folder)) != NULL;) {
        char key[DIGEST_HEX_BYTES];
        const char *dot = strchr(entry->d_name, '.');
        if (dot == NULL || dot - entry->d_name != DIGEST_HEX_BYTES - 1)
            continue; /* among others a file that is being written */
        memcpy(key, entry->d_name, DIGEST_HEX_BYTES - 1);
        key[DIGEST_HEX_BYTES - 1] = '\0';
        status = take_result(c, key, err);
    }
    (void)closedir(folder);
    return status;
}

/* ---- Waiting ---------------------------------------------------------------------------------*/

static void show(struct cluster *c, const struct slurm_state *state)
{
    struct batch_progress *progress = &c->s->progress;
    size_t running = state->running * c->per_task;
    progress->running = running < c->left ? running : c->left;
    progress->waiting = c->left - progress->running;
    batch_progress_show(progress, false);
}

static void pause_ns(int64_t ns)
{
    const struct timespec pause = {.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};
    (void)nanosleep(&pause, NULL);
}

/* Is this a file system of this machine's own? Everything else counts as a network's. */
static bool is_here(const char *folder)
{
    static const uint32_t own[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                   TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC};
    struct statfs info;
    bool found = false;
    if (statfs(folder, &info) != 0)
        return false;
    for (size_t i = 0; i < COUNT_OF(own); ++i)
        found = found || (uint32_t)info.f_type == own[i];
    return found;
}

/* Until nothing is missing, or no task is left that could bring it. */
static int wait_for_job(struct cluster *c, struct error *err)
{
    struct slurm_state state = {0};
    int64_t settle = is_here(c->folder) ? SETTLE_HERE_NS : SETTLE_NS;
    int64_t interval = ASK_NS, next_ask = process_now_ns() + ASK_NS, gone_at = 0;
    unsigned failures = 0;
    char said[sizeof state.reason] = "";
    while (c->left > 0 && (gone_at == 0 || process_now_ns() - gone_at < settle)) {
        if (process_interrupted())
            return error_set(err, ERROR_INTERRUPTED, "interrupted");
        pause_ns(POLL_NS);
        if (collect(c, err) != 0)
            return -1;
        show(c, &state);
        if (process_now_ns() < next_ask || gone_at != 0)
            continue;
        struct error trouble = {0};
        if (slurm_ask(c->job, &state, &trouble) == 0) {
            failures = 0;
            gone_at = state.waiting + state.running == 0 ? process_now_ns() : 0;
        } else if (trouble.kind == ERROR_INTERRUPTED || ++failures >= ASK_FAILURES_MOST) {
            *err = trouble;
            return -1;
        }
        if (state.running == 0 && state.waiting > 0 && strcmp(said, state.reason) != 0) {
            batch_progress_line(&c->s->progress, "slurm", "job %s waits: %s", c->job, state.reason);
            (void)snprintf(said, sizeof said, "%s", state.reason);
        }
        next_ask = process_now_ns() + interval;
        interval = 2 * interval < ASK_MOST_NS ? 2 * interval : ASK_MOST_NS;
    }
    return 0;
}

/* ---- Rounds ----------------------------------------------------------------------------------*/

static int list_missing(struct cluster *c, struct error *err)
{
    free(c->keys);
    c->key_count = 0;
    c->keys = calloc(c->left + 1, sizeof c->keys[0]);
    if (c->keys == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < c->count; ++i)
        if (c->all[i].item != NULL &&
            (c->key_count == 0 || strcmp(c->keys[c->key_count - 1], c->all[i].key) != 0)) {
            shard_remove_result(c->folder, c->all[i].key);
            memcpy(c->keys[c->key_count++], c->all[i].key, DIGEST_HEX_BYTES);
        }
    const size_t wish = c->s->options->per_task;
    size_t least = (c->key_count + TASKS_MOST - 1) / TASKS_MOST;
    c->per_task = wish > 0 ? wish : least > 8 ? least : 8;
    if (c->per_task < least)
        c->per_task = least;
    return 0;
}

static int submit(struct cluster *c, unsigned round, struct error *err)
{
    const struct batch_options *o = c->s->options;
    assert(c->per_task > 0);
    const struct shard_plan plan = {.folder = c->folder,
                                    .lab_id = (char *)(uintptr_t)o->lab->id,
                                    .seed = c->s->batch.seed,
                                    .elements = o->elements,
                                    .machine = o->machine,
                                    .jobs = o->jobs,
                                    .per_task = c->per_task,
                                    .keys = c->keys,
                                    .key_count = c->key_count};
    AUTO_FREE char *path = shard_write_plan(&plan, round, err);
    AUTO_FREE char *self = realpath("/proc/self/exe", NULL);
    if (path == NULL || self == NULL)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot prepare a Slurm job");
    const char *const argv[] = {self, "shard", path, NULL};
    size_t tasks = (c->key_count + c->per_task - 1) / c->per_task;
    if (slurm_submit(c->job, &o->slurm, tasks, argv, c->log, err) != 0)
        return -1;
    batch_progress_line(&c->s->progress, "slurm", "job %s: %zu submission%s in %zu task%s", c->job,
                        c->key_count, c->key_count == 1 ? "" : "s", tasks, tasks == 1 ? "" : "s");
    return 0;
}

/* What three jobs did not bring: with the words that the last one left. */
static int give_up(struct cluster *c, struct error *err)
{
    char ends[200];
    c->gave_up = true;
    slurm_ends(c->job, ends, sizeof ends);
    int status = 0;
    for (size_t i = 0; status == 0 && i < c->count; ++i) {
        struct keyed *keyed = &c->all[i];
        char words[300] = "";
        if (keyed->item == NULL)
            continue;
        for (size_t k = 0; k < c->key_count && words[0] == '\0'; ++k)
            if (strcmp(c->keys[k], keyed->key) == 0)
                slurm_last_words(c->log, c->job, k / c->per_task, words, sizeof words);
        struct error trouble = keyed->item->err;
        if (trouble.kind == ERROR_NONE)
            error_set(&trouble, ERROR_INFRASTRUCTURE,
                      "the Slurm tasks of %d jobs ended without its result%s%s%s%s%s", ROUNDS_MOST,
                      ends[0] != '\0' ? " (" : "", ends, ends[0] != '\0' ? ")" : "",
                      words[0] != '\0' ? ": " : "", words);
        batch_item_fail(keyed->item, &trouble);
        keyed->item->passing = false;
        status = finish_item(c, keyed, err);
    }
    return status;
}

static int run_rounds(struct cluster *c, struct error *err)
{
    /* What an earlier run's job has finished by now. */
    if (collect(c, err) != 0)
        return -1;
    for (unsigned round = 1; c->left > 0 && round <= ROUNDS_MOST; ++round) {
        if (list_missing(c, err) != 0 || submit(c, round, err) != 0)
            return -1;
        if (wait_for_job(c, err) != 0) {
            slurm_cancel(c->job);
            return -1;
        }
    }
    return c->left > 0 ? give_up(c, err) : 0;
}

static int sort_items(struct cluster *c, struct error *err)
{
    struct batch *batch = &c->s->batch;
    c->all = calloc(batch->item_count + 1, sizeof c->all[0]);
    if (c->all == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < batch->item_count; ++i)
        if (batch->items[i].sharded) {
            struct keyed *keyed = &c->all[c->count++];
            (void)batch_item_key(batch->items[i].attempt.key, keyed->key);
            keyed->item = &batch->items[i];
        }
    c->left = c->count;
    qsort(c->all, c->count, sizeof c->all[0], compare_keys);
    return 0;
}

int session_grade_on_slurm(struct session *s, struct error *err)
{
    struct cluster c = {.s = s, .folder = realpath(s->options->folder, NULL)};
    c.log = c.folder == NULL ? NULL : path_join(c.folder, "shards/log");
    int status = c.log == NULL ? error_no_memory(err) : sort_items(&c, err);
    if (status == 0)
        status = run_rounds(&c, err);
    /* The tasks' output stays where it is needed to find out what went wrong. */
    if (status == 0 && !c.gave_up) {
        char *shards = path_join(c.folder, "shards");
        temporary_folder_remove(shards);
    }
    free(c.all);
    free(c.keys);
    free(c.log);
    free(c.folder);
    return status;
}

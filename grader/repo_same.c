/* repo_same.c - since when the graded files have been what they are.
 *
 * A late commit that changes the README alone makes nobody later: of the hand-ins from the newest
 * by the deadline to the chosen one, the oldest whose graded files are the very blobs of the chosen
 * one is what counts. Nothing is compared but ids. Where all that is in time differs, and being
 * late costs something, a flag names it: the newest counts, and only the roster can say otherwise.
 *
 * A hand-in is what repo_pick() chooses among: a push where the push log decided, a tag where tags
 * are handed in, else a commit on the branch. What a force-push took off the branch is none, unless
 * the push log names it and the cache has it. */
#include "repo_pick.h"

#define COMPARED 2000 /* hand-ins after the deadline */

struct same {
    struct repo_work *work;
    git_repository *cache;
    git_odb *odb;
    const git_commit *chosen;
    struct repo_blobs graded;
    size_t compared;
    /* The oldest with the same files, if any */
    git_commit *commit; /* owned */
    int64_t unix_s;
    char ref[256];
    /* The newest that costs nothing, and is other work */
    git_commit *free; /* owned */
    int64_t free_unix_s;
    int32_t free_offset_s;
};

static void keep(git_commit **slot, git_commit *commit)
{
    git_commit_free(*slot);
    if (git_commit_dup(slot, commit) != 0)
        *slot = NULL;
}

/* As it was handed out: nothing that somebody would want graded instead. */
static bool is_blank(const struct same *same, const struct repo_blobs *blobs)
{
    const struct repo_task *task = same->work->task;
    for (size_t i = 0; i < task->wanted_count; ++i) {
        git_oid blank;
        if (!task->wanted[i].unscored && !git_oid_is_zero(&blobs->ids[i]) &&
            (git_oid_fromstr(&blank, task->wanted[i].blank) != 0 ||
             !git_oid_equal(&blank, &blobs->ids[i])))
            return false;
    }
    return true;
}

/* One hand-in, the newest first. False: older ones need not be looked at. */
static bool offer(struct same *same, git_commit *commit, int64_t unix_s, const char *ref)
{
    const struct repo_task *task = same->work->task;
    struct repo_blobs blobs;
    repo_work_sign_of_life(same->work);
    bool known =
        repo_blobs_of(same->work, same->cache, same->odb, git_commit_tree_id(commit), &blobs);
    if (known && memcmp(&blobs, &same->graded, sizeof blobs) == 0) {
        if (unix_s < same->unix_s) {
            keep(&same->commit, commit);
            same->unix_s = unix_s;
            (void)snprintf(same->ref, sizeof same->ref, "%s", ref);
        }
    } else if (known && unix_s <= task->free_s && same->free == NULL && !is_blank(same, &blobs)) {
        keep(&same->free, commit);
        same->free_unix_s = unix_s;
        same->free_offset_s = repo_pick_offset(git_commit_time_offset(commit));
    }
    return unix_s > task->due_s && ++same->compared < COMPARED;
}

static void offer_commits(struct same *same)
{
    git_commit *at = NULL;
    bool more = git_commit_dup(&at, (git_commit *)same->chosen) == 0;
    while (more) {
        git_commit *parent = NULL;
        const git_oid *id = git_commit_parent_id(at, 0);
        more = id != NULL && repo_commit_lookup(&parent, same->cache, id) == 0 &&
               offer(same, parent, repo_pick_date_of(parent), same->work->reply.ref);
        git_commit_free(at);
        at = parent;
    }
    git_commit_free(at);
}

static void offer_pushes(struct same *same)
{
    const struct repo_push *pushes = same->work->parts.pushes;
    git_oid id;
    git_commit *tip = NULL;
    size_t at = same->work->task->push_count;
    while (at > 0 && (strcmp(pushes[at - 1].commit, same->work->reply.commit) != 0 ||
                      repo_pick_time(pushes[at - 1].unix_s) != same->work->reply.unix_s))
        --at;
    if (git_oid_fromstr(&id, same->work->parts.refs[0].id) != 0 ||
        repo_commit_lookup(&tip, same->cache, &id) != 0)
        return;
    for (bool more = at > 0; more && --at > 0;) {
        const struct repo_push *push = &pushes[at - 1];
        git_commit *commit = NULL;
        if (git_oid_fromstr(&id, push->commit) == 0 &&
            repo_commit_lookup(&commit, same->cache, &id) == 0 &&
            repo_pick_is_on_ref(same->cache, tip, &id))
            more = offer(same, commit, repo_pick_time(push->unix_s), same->work->reply.ref);
        git_commit_free(commit);
    }
    git_commit_free(tip);
}

static bool offer_tag(void *context, git_commit *commit, int64_t unix_s, const char *ref)
{
    return offer(context, commit, unix_s, ref);
}

static void offer_all(struct same *same)
{
    const struct repo_work *work = same->work;
    if (work->task->choice == REPO_LAST_TAG)
        repo_pick_earlier_tags(same->work, same->cache, offer_tag, same);
    else if (work->reply.source == REPO_TIME_PUSH)
        offer_pushes(same);
    else if (work->reply.source == REPO_TIME_COMMIT) /* a tag of its own date has no earlier one */
        offer_commits(same);
}

static void take(struct same *same)
{
    struct repo_work *work = same->work;
    char when[REPO_DATE_BYTES], newest_when[REPO_DATE_BYTES], newest[41];
    uint32_t source = work->reply.source;
    (void)repo_pick_date(newest_when, work->reply.unix_s, work->reply.commit_offset_s);
    (void)snprintf(newest, sizeof newest, "%s", work->reply.commit);
    repo_pick_take(work, same->commit);
    work->reply.unix_s = same->unix_s;
    work->reply.source = source;
    (void)snprintf(work->reply.ref, sizeof work->reply.ref, "%s", same->ref);
    (void)repo_pick_date(when, same->unix_s, work->reply.commit_offset_s);
    repo_pick_because(work,
                      "the newest hand-in, %.7s of %s, has the same graded files as this one of "
                      "%s: so this one counts",
                      newest, newest_when, when);
}

static void flag_free(const struct same *same)
{
    char id[41], when[REPO_DATE_BYTES];
    git_oid_tostr(id, sizeof id, git_commit_id(same->free));
    repo_work_flag(same->work, REPO_FLAG_EARLIER,
                   "an earlier commit %s and was not graded, since the newest counts: %s of %s "
                   "(who keeps the roster can have that one graded instead: its id as `ref`)",
                   same->free_unix_s <= same->work->task->due_s ? "was in time"
                                                                : "would have cost nothing",
                   id, repo_pick_date(when, same->free_unix_s, same->free_offset_s));
}

void repo_pick_same(struct repo_work *work, git_repository *cache, git_odb *odb,
                    const git_commit *chosen, git_commit **earlier)
{
    struct same same = {.work = work, .cache = cache, .odb = odb, .chosen = chosen};
    *earlier = NULL;
    same.unix_s = work->reply.unix_s;
    if (!work->task->has_due || work->reply.unix_s <= work->task->due_s ||
        !repo_blobs_of(work, cache, odb, git_commit_tree_id(chosen), &same.graded))
        return;
    offer_all(&same);
    if (same.commit != NULL) {
        take(&same);
        *earlier = same.commit;
    }
    if (same.free != NULL && work->reply.unix_s > work->task->free_s)
        flag_free(&same);
    git_commit_free(same.free);
}

/* repo_pick_tag.c - the last tag in time. An annotated tag has a date of its own; any other is as
 * old as its commit. */
#include "repo_pick.h"

struct tagged {
    const struct repo_ref *ref;
    git_commit *commit; /* owned */
    int64_t unix_s;
    int32_t offset_s;
    bool annotated;
};

/* Follows tags of tags. False: too many of them, or one that cannot be read. */
static bool peel(git_oid *id, git_repository *cache, bool *too_deep)
{
    git_tag *tag = NULL;
    for (int i = 0; i < LIMIT_REPO_TAG_DEPTH && git_tag_lookup(&tag, cache, id) == 0; ++i) {
        git_object_t type = git_tag_target_type(tag);
        git_oid_cpy(id, git_tag_target_id(tag));
        git_tag_free(tag);
        if (type != GIT_OBJECT_TAG)
            return true;
        *too_deep = i + 1 == LIMIT_REPO_TAG_DEPTH;
    }
    return false;
}

/* False when the tag names no commit that can be read. */
static bool read_tag(struct tagged *ret, git_repository *cache, const struct repo_ref *ref,
                     bool *too_deep)
{
    git_oid id;
    git_tag *tag = NULL;
    *ret = (struct tagged){.ref = ref};
    if (git_oid_fromstr(&id, ref->id) != 0)
        return false;
    if (git_tag_lookup(&tag, cache, &id) == 0) {
        if (peel(&id, cache, too_deep))
            (void)repo_commit_lookup(&ret->commit, cache, &id);
        const git_signature *tagger = git_tag_tagger(tag);
        ret->annotated = tagger != NULL;
        if (tagger != NULL) {
            ret->unix_s = repo_pick_time(tagger->when.time);
            ret->offset_s = repo_pick_offset(tagger->when.offset);
        }
    } else
        (void)repo_commit_lookup(&ret->commit, cache, &id);
    git_tag_free(tag);
    if (ret->commit != NULL && !ret->annotated) {
        ret->unix_s = repo_pick_date_of(ret->commit);
        ret->offset_s = repo_pick_offset(git_commit_time_offset(ret->commit));
    }
    return ret->commit != NULL;
}

static bool is_later(const struct tagged *a, const struct tagged *b)
{
    return a->unix_s != b->unix_s ? a->unix_s > b->unix_s : strcmp(a->ref->name, b->ref->name) > 0;
}

static int order_tags(const void *left, const void *right)
{
    return is_later(left, right) ? -1 : 1; /* no two have one name */
}

void repo_pick_earlier_tags(struct repo_work *work, git_repository *cache,
                            bool (*offer)(void *context, git_commit *commit, int64_t unix_s,
                                          const char *ref),
                            void *context)
{
    struct tagged *tags = calloc((size_t)work->task->ref_count + 1, sizeof *tags);
    size_t count = 0;
    bool too_deep = false, passed = false, more = true;
    for (size_t i = 0; tags != NULL && i < work->task->ref_count; ++i)
        count += read_tag(&tags[count], cache, &work->parts.refs[i], &too_deep);
    if (tags != NULL)
        qsort(tags, count, sizeof *tags, order_tags);
    for (size_t i = 0; i < count; ++i) {
        if (passed && more)
            more = offer(context, tags[i].commit, tags[i].unix_s, tags[i].ref->name);
        passed |= strcmp(tags[i].ref->name, work->reply.ref) == 0;
        git_commit_free(tags[i].commit);
    }
    free(tags);
}

static void take_tag(struct repo_work *work, const struct tagged *tagged, size_t count)
{
    char until[REPO_DATE_BYTES], when[REPO_DATE_BYTES], pattern[80] = "";
    const char *name = repo_pick_short_name(tagged->ref->name);
    const char *what = tagged->annotated ? "made" : "a commit dated";
    repo_pick_take(work, tagged->commit);
    work->reply.unix_s = tagged->unix_s;
    work->reply.source = tagged->annotated ? REPO_TIME_TAG : REPO_TIME_COMMIT;
    (void)snprintf(work->reply.ref, sizeof work->reply.ref, "%s", tagged->ref->name);
    (void)repo_pick_date(when, tagged->unix_s, tagged->offset_s);
    if (work->task->choice == REPO_LAST_TAG)
        (void)snprintf(pattern, sizeof pattern, ", the last of %zu that match %.40s", count,
                       work->task->tag_pattern);
    if (work->task->has_cutoff && work->task->choice != REPO_TIP)
        repo_pick_because(work, "tag %.60s (%s %s)%s, at or before %s", name, what, when, pattern,
                          repo_pick_cutoff(until, work->task));
    else
        repo_pick_because(work, "tag %.60s (%s %s)%s", name, what, when, pattern);
}

int repo_pick_tag(struct repo_work *work, git_repository *cache, git_commit **ret)
{
    struct tagged best = {0}, earliest = {0};
    size_t usable = 0;
    bool too_deep = false;
    bool limited = work->task->has_cutoff && work->task->choice != REPO_TIP;
    for (size_t i = 0; i < work->task->ref_count; ++i) {
        struct tagged tagged;
        if (!read_tag(&tagged, cache, &work->parts.refs[i], &too_deep))
            continue;
        ++usable;
        repo_pick_look_at_future(work, git_commit_id(tagged.commit), tagged.unix_s);
        bool in_time = !limited || tagged.unix_s <= work->task->cutoff_s;
        work->reply.later += !in_time;
        struct tagged *slot = in_time ? &best : &earliest;
        if (slot->commit == NULL || is_later(&tagged, slot) == in_time) {
            git_commit_free(slot->commit);
            *slot = tagged;
        } else
            git_commit_free(tagged.commit);
    }
    char until[REPO_DATE_BYTES], when[REPO_DATE_BYTES];
    if (usable == 0 && too_deep && work->task->ref_count == 1)
        (void)repo_work_too_deep(work, work->parts.refs[0].name);
    else if (usable == 0)
        (void)repo_work_refuse(work, REPO_NO_COMMIT, "%s names %s commit that can be read",
                               work->task->ref_count == 1
                                   ? repo_pick_short_name(work->parts.refs[0].name)
                                   : "none of the tags",
                               work->task->ref_count == 1 ? "no" : "a");
    else if (best.commit == NULL)
        (void)repo_work_refuse(
            work, REPO_NOTHING_IN_TIME,
            "no tag was made at or before %s: the earliest, %s, bears the date %s",
            repo_pick_cutoff(until, work->task), repo_pick_short_name(earliest.ref->name),
            repo_pick_date(when, earliest.unix_s, earliest.offset_s));
    else {
        take_tag(work, &best, usable);
        *ret = best.commit;
    }
    git_commit_free(earliest.commit);
    return 0;
}

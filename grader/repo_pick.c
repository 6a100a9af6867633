/* repo_pick.c - which commit is graded.
 *
 * The branch is followed along first parents, since these are the commits that the branch itself
 * went through: what a merge after the cut-off brought in was not on the branch in time, whatever
 * dates it bears. A push log says when a tip arrived, a tag's date when it was made; a commit's
 * date is its author's word, so it is believed, and flagged where it cannot be true. */
#include "repo_pick.h"

#include <stdarg.h>
#include <time.h>

#include "text.h"

#define SKEW_S 60        /* clocks of two machines differ */
#define FUTURE_S 600     /* and so does ours from theirs */
#define LOOKED_BACK 2000 /* commits before the chosen one whose dates are compared */

int repo_commit_lookup(git_commit **ret, git_repository *repository, const git_oid *id)
{
    git_odb *odb = NULL;
    git_object_t type = GIT_OBJECT_INVALID;
    size_t size = 0;
    *ret = NULL;
    int code = git_repository_odb(&odb, repository);
    if (code == 0)
        code = git_odb_read_header(&size, &type, odb, id);
    git_odb_free(odb);
    if (code == 0 && (type != GIT_OBJECT_COMMIT || size > LIMIT_REPO_COMMIT_BYTES))
        code = GIT_EINVALID;
    return code != 0 ? code : git_commit_lookup(ret, repository, id);
}

/* Into the range that a reply may have. */
int64_t repo_pick_time(int64_t unix_s)
{
    const int64_t first = INT64_C(-62135596800), last = INT64_C(253402300799);
    return unix_s < first ? first : unix_s > last ? last : unix_s;
}

int32_t repo_pick_offset(int minutes)
{
    return minutes < -1440 || minutes > 1440 ? 0 : minutes * 60;
}

/* "2026-03-01 22:10:05 +01:00" */
const char *repo_pick_date(char into[REPO_DATE_BYTES], int64_t unix_s, int32_t offset_s)
{
    time_t local = (time_t)(repo_pick_time(unix_s) + offset_s);
    struct tm parts;
    size_t used = gmtime_r(&local, &parts) == NULL
                      ? 0
                      : strftime(into, REPO_DATE_BYTES, "%Y-%m-%d %H:%M:%S", &parts);
    int minutes = abs(offset_s) / 60;
    (void)snprintf(into + used, REPO_DATE_BYTES - used, " %c%02d:%02d", offset_s < 0 ? '-' : '+',
                   minutes / 60 % 100, minutes % 60);
    return into;
}

int64_t repo_pick_date_of(const git_commit *commit)
{
    return repo_pick_time(git_commit_time(commit));
}

static const char *commit_date(char into[REPO_DATE_BYTES], const git_commit *commit)
{
    return repo_pick_date(into, git_commit_time(commit),
                          repo_pick_offset(git_commit_time_offset(commit)));
}

const char *repo_pick_cutoff(char into[REPO_DATE_BYTES], const struct repo_task *task)
{
    return task->cutoff_text[0] != '\0' ? task->cutoff_text
                                        : repo_pick_date(into, task->cutoff_s, 0);
}

const char *repo_pick_short_name(const char *ref)
{
    static const char *const beginnings[] = {"refs/heads/", "refs/tags/"};
    for (size_t i = 0; i < COUNT_OF(beginnings); ++i)
        if (strncmp(ref, beginnings[i], strlen(beginnings[i])) == 0)
            return ref + strlen(beginnings[i]);
    return ref;
}

static void short_id(char into[8], const git_oid *id)
{
    (void)git_oid_tostr(into, 8, id);
}

void repo_pick_because(struct repo_work *work, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(work->reply.chosen, sizeof work->reply.chosen, format, arguments);
    va_end(arguments);
    text_clean(work->reply.chosen);
}

/* What is known of a commit whoever chose it. */
void repo_pick_take(struct repo_work *work, git_commit *commit)
{
    git_oid_tostr(work->reply.commit, sizeof work->reply.commit, git_commit_id(commit));
    work->reply.commit_s = repo_pick_date_of(commit);
    work->reply.commit_offset_s = repo_pick_offset(git_commit_time_offset(commit));
    work->reply.unix_s = work->reply.commit_s;
    work->reply.source = REPO_TIME_COMMIT;
}

static int cannot_read(struct repo_work *work, const git_oid *id)
{
    char hex[8];
    short_id(hex, id);
    if ((work->task->traits & REPO_TRAIT_PARTIAL) != 0)
        return repo_work_refuse(work, REPO_PARTIAL,
                                "commit %s was never there: the repo is a "
                                "partial clone",
                                hex);
    return repo_work_refuse(work, REPO_DAMAGED, "commit %s is missing or corrupt", hex);
}

/* ---- Dates that cannot be true --------------------------------------------------------------- */

void repo_pick_look_at_future(struct repo_work *work, const git_oid *id, int64_t unix_s)
{
    char hex[8], when[REPO_DATE_BYTES];
    short_id(hex, id);
    if (unix_s > work->task->now_s + FUTURE_S)
        repo_work_flag(work, REPO_FLAG_FUTURE, "%s is dated %s, which is still to come", hex,
                       repo_pick_date(when, unix_s, 0));
}

static void look_at_order(struct repo_work *work, git_commit *child, git_commit *parent)
{
    char hex[8], parent_hex[8], when[REPO_DATE_BYTES], parent_when[REPO_DATE_BYTES];
    if (repo_pick_date_of(child) + SKEW_S >= repo_pick_date_of(parent))
        return;
    short_id(hex, git_commit_id(child));
    short_id(parent_hex, git_commit_id(parent));
    repo_work_flag(work, REPO_FLAG_BACKWARDS, "commit %s is dated %s, before its parent %s (%s)",
                   hex, commit_date(when, child), parent_hex, commit_date(parent_when, parent));
}

static bool history_is_cut(const struct repo_work *work)
{
    return work->task->traits != 0;
}

/* The dates before the chosen commit. */
static void look_back(struct repo_work *work, git_repository *cache, git_commit *chosen)
{
    git_commit *child = NULL;
    if (git_commit_dup(&child, chosen) != 0)
        return;
    for (size_t i = 0; i < LOOKED_BACK; ++i) {
        git_commit *parent = NULL;
        const git_oid *id = git_commit_parent_id(child, 0);
        if (id == NULL || repo_commit_lookup(&parent, cache, id) != 0)
            break;
        look_at_order(work, child, parent);
        repo_pick_look_at_future(work, git_commit_id(parent), repo_pick_date_of(parent));
        git_commit_free(child);
        child = parent;
    }
    git_commit_free(child);
}

/* ---- By date --------------------------------------------------------------------------------- */

/* A merge that was passed over may have brought in work that is dated in time. */
static void look_at_merge(struct repo_work *work, git_repository *cache, git_commit *merge)
{
    char hex[8], other_hex[8];
    git_commit *other = NULL;
    const git_oid *id = git_commit_parent_id(merge, 1);
    if (id == NULL || repo_commit_lookup(&other, cache, id) != 0)
        return;
    short_id(hex, git_commit_id(merge));
    short_id(other_hex, id);
    if (repo_pick_date_of(other) <= work->task->cutoff_s)
        repo_work_flag(work, REPO_FLAG_MERGED,
                       "merge %s came after the cut-off and brought in %s, which is dated before: "
                       "not graded, since the branch had it too late",
                       hex, other_hex);
    git_commit_free(other);
}

static int too_late(struct repo_work *work, git_commit *first)
{
    char when[REPO_DATE_BYTES], until[REPO_DATE_BYTES];
    return repo_work_refuse(work, REPO_NOTHING_IN_TIME,
                            "there is no commit on %s at or before %s: the first one is dated %s",
                            repo_pick_short_name(work->task->graded_ref),
                            repo_pick_cutoff(until, work->task), commit_date(when, first));
}

static int cut_short(struct repo_work *work, git_commit *oldest)
{
    char when[REPO_DATE_BYTES], until[REPO_DATE_BYTES];
    return repo_work_refuse(work, REPO_SHALLOW,
                            "the history of %s is cut off (a shallow clone): its oldest commit is "
                            "dated %s, so the last one at or before %s cannot be found",
                            repo_pick_short_name(work->task->graded_ref), commit_date(when, oldest),
                            repo_pick_cutoff(until, work->task));
}

/* Goes back from the tip to the first commit in time. *ret stays NULL after a refusal. */
static int walk_to_cutoff(struct repo_work *work, git_repository *cache, git_commit *tip,
                          git_commit **ret)
{
    git_commit *at = NULL;
    if (git_commit_dup(&at, tip) != 0)
        return repo_work_machine(work, "out of memory");
    int status = 0;
    for (size_t steps = 0;; ++steps) {
        repo_pick_look_at_future(work, git_commit_id(at), repo_pick_date_of(at));
        if (!work->task->has_cutoff || repo_pick_date_of(at) <= work->task->cutoff_s) {
            *ret = at;
            return 0;
        }
        ++work->reply.later;
        look_at_merge(work, cache, at);
        git_commit *parent = NULL;
        const git_oid *id = git_commit_parent_id(at, 0);
        if (id == NULL)
            status = too_late(work, at);
        else if (steps >= LIMIT_REPO_COMMITS)
            status = repo_work_refuse(work, REPO_TOO_LARGE,
                                      "none of its last %d commits is in time", LIMIT_REPO_COMMITS);
        else if (repo_commit_lookup(&parent, cache, id) != 0)
            status = (work->task->traits & REPO_TRAIT_SHALLOW) != 0 ? cut_short(work, at)
                                                                    : cannot_read(work, id);
        if (parent == NULL) {
            git_commit_free(at);
            return status;
        }
        look_at_order(work, at, parent);
        git_commit_free(at);
        at = parent;
    }
}

static int pick_by_date(struct repo_work *work, git_repository *cache, git_commit *tip,
                        git_commit **ret)
{
    char until[REPO_DATE_BYTES], when[REPO_DATE_BYTES];
    const struct repo_task *task = work->task;
    const char *name = repo_pick_short_name(task->graded_ref);
    int status = walk_to_cutoff(work, cache, tip, ret);
    if (*ret == NULL)
        return status;
    repo_pick_take(work, *ret);
    unsigned long long later = work->reply.later;
    if (!task->has_cutoff)
        repo_pick_because(work, "the newest commit on %.80s", name);
    else if (later == 0)
        repo_pick_because(work, "the newest commit on %.80s, dated %s, at or before %s", name,
                          commit_date(when, *ret), repo_pick_cutoff(until, task));
    else
        repo_pick_because(
            work,
            "the last commit on %.80s at or before %s (dated %s); %llu later one%s not graded",
            name, repo_pick_cutoff(until, task), commit_date(when, *ret), later,
            later == 1 ? " was" : "s were");
    return 0;
}

/* ---- By push --------------------------------------------------------------------------------- */

bool repo_pick_is_on_ref(git_repository *cache, const git_commit *tip, const git_oid *id)
{
    char name[100], hex[41];
    git_oid kept;
    git_oid_tostr(hex, sizeof hex, id);
    (void)snprintf(name, sizeof name, "refs/spillway/tip/%s", hex);
    return git_oid_equal(id, git_commit_id(tip)) ||
           git_graph_descendant_of(cache, git_commit_id(tip), id) == 1 ||
           git_reference_name_to_id(&kept, cache, name) == 0;
}

static void take_push(struct repo_work *work, git_commit *commit, const struct repo_push *push,
                      size_t later)
{
    char until[REPO_DATE_BYTES], when[REPO_DATE_BYTES];
    repo_pick_take(work, commit);
    work->reply.unix_s = repo_pick_time(push->unix_s);
    work->reply.source = REPO_TIME_PUSH;
    work->reply.later = later;
    (void)repo_pick_date(when, push->unix_s, work->reply.commit_offset_s);
    if (!work->task->has_cutoff)
        repo_pick_because(work, "the newest commit on %.80s, pushed %s",
                          repo_pick_short_name(work->task->graded_ref), when);
    else
        repo_pick_because(work, "the last push to %.80s at or before %s (it arrived %s)%s",
                          repo_pick_short_name(work->task->graded_ref),
                          repo_pick_cutoff(until, work->task), when,
                          later == 0 ? "" : "; later ones were not graded");
}

/* Without a cut-off the tip is graded, and the log says when it arrived. */
static int pick_pushed_tip(struct repo_work *work, git_commit *tip, git_commit **ret)
{
    char hex[41];
    git_oid_tostr(hex, sizeof hex, git_commit_id(tip));
    for (size_t i = 0; i < work->task->push_count; ++i)
        if (strcmp(work->parts.pushes[i].commit, hex) == 0) {
            if (git_commit_dup(ret, tip) != 0)
                return repo_work_machine(work, "out of memory");
            take_push(work, *ret, &work->parts.pushes[i], 0);
            return 0;
        }
    repo_work_flag(work, REPO_FLAG_NOT_PUSHED,
                   "the push log does not name the newest commit, %.7s: its own date was taken",
                   hex);
    return 0;
}

/* *ret stays NULL when the log does not decide, or after a refusal. */
static int pick_by_push(struct repo_work *work, git_repository *cache, git_commit *tip,
                        git_commit **ret)
{
    const struct repo_push *pushes = work->parts.pushes;
    size_t count = work->task->push_count, in_time = count;
    char until[REPO_DATE_BYTES], when[REPO_DATE_BYTES];
    if (!work->task->has_cutoff)
        return pick_pushed_tip(work, tip, ret);
    while (in_time > 0 && pushes[in_time - 1].unix_s > work->task->cutoff_s)
        --in_time;
    if (in_time == 0)
        return repo_work_refuse(work, REPO_NOTHING_IN_TIME,
                                "nothing was pushed at or before %s: the first push arrived %s",
                                repo_pick_cutoff(until, work->task),
                                repo_pick_date(when, pushes[0].unix_s, 0));
    for (size_t i = in_time; i-- > 0;) {
        git_oid id;
        git_commit *commit = NULL;
        if (git_oid_fromstr(&id, pushes[i].commit) == 0 &&
            repo_commit_lookup(&commit, cache, &id) == 0 && repo_pick_is_on_ref(cache, tip, &id)) {
            take_push(work, commit, &pushes[i], count - in_time);
            *ret = commit;
            return 0;
        }
        git_commit_free(commit);
        repo_work_flag(work, REPO_FLAG_GONE,
                       "commit %.7s, pushed %s, is not in %.80s (any more): an earlier push was "
                       "taken, or the commits' dates",
                       pushes[i].commit, repo_pick_date(when, pushes[i].unix_s, 0),
                       repo_pick_short_name(work->task->graded_ref));
    }
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int pick_id(struct repo_work *work, git_repository *cache, git_commit **ret)
{
    git_oid id;
    if (git_oid_fromstr(&id, work->task->graded_ref) != 0 ||
        repo_commit_lookup(ret, cache, &id) != 0)
        return repo_work_refuse(work, REPO_NO_REF, "commit %.10s is on none of the branches",
                                work->task->graded_ref);
    repo_pick_take(work, *ret);
    repo_pick_because(work, "the commit that the roster names");
    for (size_t i = 0; i < work->task->push_count; ++i)
        if (strcmp(work->parts.pushes[i].commit, work->reply.commit) == 0) {
            work->reply.unix_s = repo_pick_time(work->parts.pushes[i].unix_s);
            work->reply.source = REPO_TIME_PUSH;
            break; /* when it first arrived */
        }
    return 0;
}

static int pick_on_branch(struct repo_work *work, git_repository *cache, git_commit **ret)
{
    git_oid id;
    git_commit *tip = NULL;
    const struct repo_ref *ref = &work->parts.refs[0];
    if (git_oid_fromstr(&id, ref->id) != 0 || repo_commit_lookup(&tip, cache, &id) != 0) {
        git_object_t type = GIT_OBJECT_INVALID;
        size_t size = 0;
        git_odb *odb = NULL;
        bool other = git_repository_odb(&odb, cache) == 0 &&
                     git_odb_read_header(&size, &type, odb, &id) == 0 && type != GIT_OBJECT_COMMIT;
        git_odb_free(odb);
        return other ? repo_work_refuse(work, REPO_NO_COMMIT, "%s names no commit", ref->name)
                     : cannot_read(work, &id);
    }
    int status = 0;
    if (work->task->choice == REPO_TIP) {
        repo_pick_take(work, tip);
        repo_pick_look_at_future(work, git_commit_id(tip), repo_pick_date_of(tip));
        repo_pick_because(work, "what %.80s names now", repo_pick_short_name(ref->name));
        *ret = tip;
        return 0;
    }
    if (work->task->push_count > 0)
        status = pick_by_push(work, cache, tip, ret);
    else if (work->task->has_push_log)
        repo_work_flag(work, REPO_FLAG_NOT_PUSHED,
                       "the push log does not name this student: the commits' dates were taken");
    if (status == 0 && *ret == NULL && work->reply.reason == REPO_FINE)
        status = pick_by_date(work, cache, tip, ret);
    git_commit_free(tip);
    return status;
}

static void note_rewritten(struct repo_work *work, git_repository *cache)
{
    size_t lost = work->task->ref_count == 1 ? repo_store_lost(cache, work->parts.refs[0].name) : 0;
    if (lost > 0)
        repo_work_flag(work, REPO_FLAG_REWRITTEN,
                       "the history was rewritten since it was first fetched (force-push): %zu "
                       "earlier tip%s no longer in it; the cache has kept %s",
                       lost, lost == 1 ? " is" : "s are", lost == 1 ? "it" : "them");
}

int repo_pick(struct repo_work *work, git_repository *cache, git_commit **ret)
{
    const struct repo_task *task = work->task;
    int status = 0;
    *ret = NULL;
    (void)snprintf(work->reply.ref, sizeof work->reply.ref, "%s", task->graded_ref);
    if (task->ref_count == 0)
        return repo_work_machine(work, "a task without refs");
    if (task->choice == REPO_LAST_TAG || strncmp(task->graded_ref, "refs/tags/", 10) == 0)
        status = repo_pick_tag(work, cache, ret);
    else if (repo_is_id(task->graded_ref))
        status = pick_id(work, cache, ret);
    else
        status = pick_on_branch(work, cache, ret);
    if (*ret == NULL)
        return status;
    look_back(work, cache, *ret);
    note_rewritten(work, cache);
    if (history_is_cut(work))
        repo_work_flag(
            work, REPO_FLAG_CUT, "%s",
            (task->traits & REPO_TRAIT_SHALLOW) != 0
                ? "the history is cut off (a shallow clone): what is graded is whole"
            : (task->traits & REPO_TRAIT_PARTIAL) != 0
                ? "a partial clone: what is graded is whole"
                : "objects of the history are missing or corrupt: what is graded is whole");
    return status;
}

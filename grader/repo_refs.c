/* repo_refs.c - which of a remote's refs are graded. */
#include "repo_work.h"

#include <fnmatch.h>

#include "text.h"

#define HEADS "refs/heads/"
#define TAGS "refs/tags/"

static bool starts_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static const struct repo_listed *find(const struct repo_listing *listing, const char *beginning,
                                      const char *rest)
{
    size_t length = strlen(beginning);
    for (size_t i = 0; i < listing->count; ++i)
        if (strncmp(listing->items[i].name, beginning, length) == 0 &&
            strcmp(listing->items[i].name + length, rest) == 0)
            return &listing->items[i];
    return NULL;
}

static bool is_feedback(const struct repo_listed *listed)
{
    return strcmp(listed->name, REPO_FEEDBACK_REF) == 0;
}

/* "main, dev, and 3 more", of the student's names below `beginning`; "" if there is none. Returns
 * how many. */
static size_t name_some(char into[200], const struct repo_listing *listing, const char *beginning)
{
    enum { SHOWN = 4 };
    struct bytes text = bytes_with_limit(190);
    size_t count = 0;
    for (size_t i = 0; i < listing->count; ++i)
        if (starts_with(listing->items[i].name, beginning) && !is_feedback(&listing->items[i]) &&
            ++count <= SHOWN) {
            char name[60];
            (void)bytes_printf(
                &text, "%s%s", count == 1 ? "" : ", ",
                text_copy(name, sizeof name, listing->items[i].name + strlen(beginning)));
        }
    if (count > SHOWN)
        (void)bytes_printf(&text, " and %zu more", count - SHOWN);
    (void)snprintf(into, 200, "%s", bytes_text(&text));
    bytes_release(&text);
    return count;
}

static int add(struct repo_work *work, const struct repo_listed *listed)
{
    struct repo_ref ref;
    memset(&ref, 0, sizeof ref);
    (void)snprintf(ref.name, sizeof ref.name, "%s", listed->name);
    git_oid_tostr(ref.id, sizeof ref.id, &listed->id);
    ++work->reply.ref_count;
    return bytes_append(&work->payload, &ref, sizeof ref) == 0
               ? 0
               : repo_work_machine(work, "out of memory");
}

static int add_one(struct repo_work *work, const struct repo_listed *listed)
{
    (void)snprintf(work->reply.ref, sizeof work->reply.ref, "%s", listed->name);
    return add(work, listed);
}

/* The student's branch if there is one alone, else NULL. */
static const struct repo_listed *only_branch(const struct repo_listing *listing)
{
    const struct repo_listed *only = NULL;
    for (size_t i = 0; i < listing->count; ++i)
        if (starts_with(listing->items[i].name, HEADS) && !is_feedback(&listing->items[i])) {
            if (only != NULL)
                return NULL;
            only = &listing->items[i];
        }
    return only;
}

/* ---- Kinds of wishes ------------------------------------------------------------------------- */

static int choose_tags(struct repo_work *work, const struct repo_listing *listing)
{
    char some[200], pattern[100];
    int status = 0;
    for (size_t i = 0; status == 0 && i < listing->count; ++i) {
        const struct repo_listed *item = &listing->items[i];
        if (!starts_with(item->name, TAGS) ||
            fnmatch(work->task->tag_pattern, item->name + strlen(TAGS), 0) != 0)
            continue;
        if (work->reply.ref_count == LIMIT_REPO_TAGS)
            return repo_work_refuse(work, REPO_TOO_LARGE, "more than %d tags match %s",
                                    LIMIT_REPO_TAGS,
                                    text_copy(pattern, sizeof pattern, work->task->tag_pattern));
        status = add(work, item);
    }
    (void)snprintf(work->reply.ref, sizeof work->reply.ref, TAGS "%.200s", work->task->tag_pattern);
    if (work->reply.ref_count > 0 || status != 0)
        return status;
    (void)text_copy(pattern, sizeof pattern, work->task->tag_pattern);
    if (name_some(some, listing, TAGS) == 0)
        return repo_work_refuse(work, REPO_NO_TAG, "no tag matches %s: the repo has no tags",
                                pattern);
    return repo_work_refuse(work, REPO_NO_TAG, "no tag matches %s; the repo's tags are %s", pattern,
                            some);
}

/* Of all branches: the commit may lie in any of them. */
static int choose_id(struct repo_work *work, const struct repo_listing *listing)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < listing->count; ++i)
        if (starts_with(listing->items[i].name, HEADS) && work->reply.ref_count < LIMIT_REPO_TAGS)
            status = add(work, &listing->items[i]);
    (void)snprintf(work->reply.ref, sizeof work->reply.ref, "%s", work->task->ref);
    if (work->reply.ref_count == 0 && status == 0)
        return repo_work_refuse(work, REPO_EMPTY, "the repo has no branch");
    return status;
}

static int choose_named(struct repo_work *work, const struct repo_listing *listing)
{
    static const char *const places[] = {HEADS, TAGS};
    const char *wish = work->task->ref;
    const struct repo_listed *found = starts_with(wish, "refs/") ? find(listing, "", wish) : NULL;
    for (size_t i = 0; found == NULL && i < COUNT_OF(places); ++i)
        found = find(listing, places[i], wish);
    if (found != NULL)
        return add_one(work, found);
    char some[200], name[100];
    (void)text_copy(name, sizeof name, wish);
    if (listing->count == 0)
        return repo_work_refuse(work, REPO_EMPTY, "the repo is empty: not one commit was pushed");
    if (name_some(some, listing, HEADS) == 0)
        return repo_work_refuse(work, REPO_NO_REF, "there is no branch or tag %s, nor any branch",
                                name);
    return repo_work_refuse(work, REPO_NO_REF, "there is no branch or tag %s; the branches are %s",
                            name, some);
}

/* HEAD is the instructor's branch: a host makes the first that is pushed the default one. What the
 * student pushed then is most likely called as usual. */
static int choose_beside_feedback(struct repo_work *work, const struct repo_listing *listing)
{
    static const char *const usual[] = {"main", "master"};
    static const char head[] = "the default branch is feedback, to which instructors publish";
    const struct repo_listed *found = only_branch(listing);
    char some[200], name[60];
    size_t branches = name_some(some, listing, HEADS);
    if (branches == 0)
        return repo_work_refuse(work, REPO_EMPTY,
                                "the repo is empty: not one commit was pushed, but feedback");
    for (size_t i = COUNT_OF(usual); branches > 1 && i-- > 0;) {
        const struct repo_listed *listed = find(listing, HEADS, usual[i]);
        found = listed != NULL ? listed : found;
    }
    if (found == NULL)
        return repo_work_refuse(work, REPO_NO_REF,
                                "%s; the branches are %s, and nobody said which is graded", head,
                                some);
    repo_work_flag(work, REPO_FLAG_ONLY_BRANCH, "%s: the branch %s was taken", head,
                   text_copy(name, sizeof name, found->name + strlen(HEADS)));
    return add_one(work, found);
}

/* HEAD leads nowhere. */
static int choose_without_head(struct repo_work *work, const struct repo_listing *listing)
{
    const struct repo_listed *only = only_branch(listing);
    char some[200], head[130] = "HEAD names no branch that exists";
    size_t branches = name_some(some, listing, HEADS);
    if (listing->head_target != NULL) {
        char name[60];
        bool branch = starts_with(listing->head_target, HEADS);
        (void)text_copy(name, sizeof name, listing->head_target + (branch ? strlen(HEADS) : 0));
        (void)snprintf(head, sizeof head, "the default branch is %s, which does not exist", name);
    }
    if (branches == 0)
        return repo_work_refuse(work, REPO_EMPTY, "the repo is empty: not one commit was pushed");
    if (only == NULL)
        return repo_work_refuse(work, REPO_NO_REF,
                                "%s; the branches are %s, and nobody said which is graded", head,
                                some);
    repo_work_flag(work, REPO_FLAG_ONLY_BRANCH, "%s: the only branch, %s, was taken", head, some);
    return add_one(work, only);
}

/* A server that does not say which branch HEAD is: one with the same tip. */
static const struct repo_listed *branch_of(const struct repo_listing *listing, const git_oid *id)
{
    static const char *const usual[] = {"main", "master"};
    const struct repo_listed *found = NULL;
    for (size_t i = 0; i < COUNT_OF(usual); ++i) {
        found = find(listing, HEADS, usual[i]);
        if (found != NULL && git_oid_equal(&found->id, id))
            return found;
    }
    for (size_t i = 0; i < listing->count; ++i)
        if (starts_with(listing->items[i].name, HEADS) && git_oid_equal(&listing->items[i].id, id))
            return &listing->items[i];
    return NULL;
}

static int choose_default(struct repo_work *work, const struct repo_listing *listing)
{
    const struct repo_listed *head = find(listing, "", "HEAD");
    if (head == NULL)
        return choose_without_head(work, listing);
    const char *target = head->symref != NULL ? head->symref : listing->head_target;
    const struct repo_listed *branch =
        target != NULL ? find(listing, "", target) : branch_of(listing, &head->id);
    if (branch != NULL)
        return is_feedback(branch) ? choose_beside_feedback(work, listing) : add_one(work, branch);
    repo_work_flag(work, REPO_FLAG_DETACHED,
                   "HEAD is on no branch (detached): the commit that it names was taken");
    return add_one(work, head);
}

/* ---- State ----------------------------------------------------------------------------------- */

/* Equal for equal questions about equal refs. */
static int note_state(struct repo_work *work)
{
    struct bytes text = bytes_with_limit(work->payload.length + 1000);
    git_oid id;
    (void)bytes_printf(&text, "%s\n%s\n%u\n", work->task->policy, work->reply.ref,
                       work->reply.traits);
    (void)bytes_append(&text, work->payload.data, work->payload.length);
    int code = text.failed ? -1 : git_odb_hash(&id, text.data, text.length, GIT_OBJECT_BLOB);
    bytes_release(&text);
    if (code != 0)
        return repo_work_machine(work, "out of memory");
    git_oid_tostr(work->reply.state, sizeof work->reply.state, &id);
    work->reply.unchanged =
        work->reply.reason == REPO_FINE && strcmp(work->reply.state, work->task->known_state) == 0;
    return 0;
}

int repo_refs_choose(struct repo_work *work, const struct repo_listing *listing, bool *all_branches)
{
    const struct repo_task *task = work->task;
    int status = 0;
    const struct repo_listed *head = find(listing, "", "HEAD");
    const char *target = head != NULL && head->symref != NULL ? head->symref : listing->head_target;
    (void)snprintf(work->reply.default_ref, sizeof work->reply.default_ref, "%s",
                   target == NULL ? "" : target);
    for (size_t i = 0; i < listing->count; ++i)
        work->reply.has_branch |=
            starts_with(listing->items[i].name, HEADS) && !is_feedback(&listing->items[i]);
    *all_branches = task->choice != REPO_LAST_TAG && repo_is_id(task->ref);
    if (listing->count > LIMIT_REPO_REFS)
        return repo_work_refuse(work, REPO_TOO_LARGE,
                                "the repo has %zu branches and tags; %d are "
                                "looked at, at most",
                                listing->count, LIMIT_REPO_REFS);
    if (task->choice == REPO_LAST_TAG)
        status = choose_tags(work, listing);
    else if (*all_branches)
        status = choose_id(work, listing);
    else if (task->ref[0] != '\0' && strcmp(task->ref, "HEAD") != 0)
        status = choose_named(work, listing);
    else
        status = choose_default(work, listing);
    if (status != 0)
        return status;
    /* A refusal has a state, too: the same refs will be refused again. */
    return note_state(work);
}

/* repo_download.c - a repo on a server, into the cache: only the refs that are graded, and of these
 * only what is not there yet. */
#include "repo_talk.h"

/* Asks for the refs in the payload, or for every branch. */
static int download(struct repo_work *work, git_remote *remote, bool all_branches)
{
    static char all[] = "+refs/heads/*:refs/spillway/unused/*";
    git_fetch_options options = {.version = GIT_FETCH_OPTIONS_VERSION};
    size_t count = all_branches ? 1 : work->reply.ref_count;
    AUTO_FREE char **wishes = calloc(count, sizeof *wishes);
    const struct repo_ref *refs = (const struct repo_ref *)(const void *)work->payload.data;
    if (wishes == NULL)
        return -1;
    /* The names come from the remote's list, so each is a ref that is there, and no pattern. */
    for (size_t i = 0; i < count; ++i)
        wishes[i] = all_branches ? all : (char *)refs[i].name;
    const git_strarray wish = {wishes, count};
    options.callbacks = repo_talk_callbacks(work);
    options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
    options.update_fetchhead = 0;
#ifdef REPO_TALK_REDIRECTS
    options.follow_redirects = REPO_TALK_REDIRECTS(work);
#endif
    options.proxy_opts.version = GIT_PROXY_OPTIONS_VERSION;
    options.proxy_opts.type = GIT_PROXY_AUTO;
    return git_remote_download(remote, &wish, &options);
}

static bool all_there(struct repo_work *work, git_repository *cache)
{
    const struct repo_ref *refs = (const struct repo_ref *)(const void *)work->payload.data;
    for (size_t i = 0; i < work->reply.ref_count; ++i) {
        git_oid id;
        if (git_oid_fromstr(&id, refs[i].id) != 0 || !repo_store_has(cache, &id))
            return false;
    }
    return true;
}

static int keep(struct repo_work *work, git_repository *cache)
{
    const struct repo_ref *refs = (const struct repo_ref *)(const void *)work->payload.data;
    int status = 0;
    for (size_t i = 0; status == 0 && i < work->reply.ref_count; ++i) {
        git_oid id;
        if (git_oid_fromstr(&id, refs[i].id) == 0)
            status = repo_store_keep(work, cache, refs[i].name, &id, work->reply.traits == 0);
    }
    return status;
}

/* Connected; the listing is there, and the refs are chosen. */
static int bring(struct repo_work *work, git_repository *cache, git_remote *remote, bool all)
{
    if (!all_there(work, cache)) {
        int code = download(work, remote, all);
        if (code != 0)
            return repo_work_cannot_talk(work, code);
    }
    return keep(work, cache);
}

int repo_work_download(struct repo_work *work)
{
    struct repo_listing listing = {0};
    git_remote *remote = NULL;
    bool all = false;
    int status = 0;
    git_repository *cache = repo_store_open(work, &status);
    if (cache == NULL)
        return status;
    int code = git_remote_create_anonymous(&remote, cache, work->task->address);
    if (code == 0)
        code = repo_talk_connect(work, remote, GIT_DIRECTION_FETCH);
    int listed = code == 0 ? repo_talk_list(remote, &listing) : 1;
    if (listed < 0)
        status = repo_work_machine(work, "out of memory");
    else if (listed > 0)
        status = repo_work_cannot_talk(work, code);
    else
        status = repo_refs_choose(work, &listing, &all);
    if (listed == 0 && status == 0 && work->reply.reason == REPO_FINE && !work->reply.unchanged)
        status = bring(work, cache, remote, all);
    free(listing.items);
    git_remote_free(remote);
    git_repository_free(cache);
    return status;
}

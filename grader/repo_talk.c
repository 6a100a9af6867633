/* repo_talk.c - connections to servers: callbacks, options, and what holds for libgit2 as a whole.
 */
#include "repo_talk.h"

#include "text.h"

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* Asked again when the server does not take what it got: once is enough. */
static int on_credentials(git_credential **ret, const char *url, const char *user, unsigned allowed,
                          void *context)
{
    struct repo_work *work = context;
    const struct repo_task *task = work->task;
    (void)url, (void)user;
    if (task->secret[0] == '\0') {
        work->reply.wants_secret = 1;
        (void)repo_work_refuse(
            work, REPO_NO_ACCESS,
            "the server asks for a credential, and there is none for it (some servers "
            "do so for repos that do not exist, too)");
        return GIT_EAUTH;
    }
    if ((allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT) == 0 || work->said_secret) {
        (void)repo_work_refuse(work, REPO_NO_ACCESS, "the server does not take the credential");
        return GIT_EAUTH;
    }
    work->said_secret = true;
    return git_credential_userpass_plaintext_new(ret, task->user, task->secret);
}

/* What the server prints: the end of it, for messages. */
static int on_remark(const char *text, int length, void *context)
{
    struct repo_work *work = context;
    size_t room = sizeof work->remarks - 1, used = strlen(work->remarks);
    size_t count = length > 0 ? (size_t)length : 0;
    repo_work_sign_of_life(work);
    if (count > room) {
        text += count - room;
        count = room;
    }
    if (used + count > room) {
        size_t drop = used + count - room;
        memmove(work->remarks, work->remarks + drop, used - drop + 1);
        used -= drop;
    }
    memcpy(work->remarks + used, text, count);
    work->remarks[used + count] = '\0';
    for (size_t i = 0; i < used + count; ++i)
        if (work->remarks[i] == '\0')
            work->remarks[i] = ' ';
    return 0;
}

static int on_progress(const git_indexer_progress *stats, void *context)
{
    struct repo_work *work = context;
    const struct repo_task *task = work->task;
    repo_work_sign_of_life(work);
    work->reply.received_bytes = stats->received_bytes;
    work->reply.received_objects = stats->received_objects;
    if (stats->total_objects <= task->most_objects && stats->received_bytes <= task->most_bytes)
        return 0;
    (void)repo_work_refuse(
        work, REPO_TOO_LARGE, "its history is larger than %llu MB or %llu objects",
        (unsigned long long)(task->most_bytes >> 20), (unsigned long long)task->most_objects);
    return -1;
}

git_remote_callbacks repo_talk_callbacks(struct repo_work *work)
{
    git_remote_callbacks callbacks = {.version = GIT_REMOTE_CALLBACKS_VERSION};
    callbacks.credentials = on_credentials;
    callbacks.sideband_progress = on_remark;
    callbacks.transfer_progress = on_progress;
    callbacks.transport = repo_wire_transport;
    callbacks.payload = work;
    return callbacks;
}

/* ---- Connecting ------------------------------------------------------------------------------ */

int repo_talk_connect(struct repo_work *work, git_remote *remote, git_direction direction)
{
    git_remote_callbacks callbacks = repo_talk_callbacks(work);
#ifdef REPO_TALK_REDIRECTS
    git_remote_connect_options options = {.version = GIT_REMOTE_CONNECT_OPTIONS_VERSION};
    options.callbacks = callbacks;
    options.proxy_opts.version = GIT_PROXY_OPTIONS_VERSION;
    options.proxy_opts.type = GIT_PROXY_AUTO;
    options.follow_redirects = REPO_TALK_REDIRECTS(work);
    return git_remote_connect_ext(remote, direction, &options);
#else /* which never follows to another host */
    git_proxy_options proxy = {.version = GIT_PROXY_OPTIONS_VERSION, .type = GIT_PROXY_AUTO};
    return git_remote_connect(remote, direction, &callbacks, &proxy, NULL);
#endif
}

int repo_talk_list(git_remote *remote, struct repo_listing *ret)
{
    const git_remote_head **heads = NULL;
    size_t count = 0;
    *ret = (struct repo_listing){0};
    if (git_remote_ls(&heads, &count, remote) != 0)
        return 1;
    ret->items = calloc(count + 1, sizeof *ret->items);
    if (ret->items == NULL)
        return -1;
    for (size_t i = 0; i < count; ++i) {
        size_t length = strlen(heads[i]->name);
        bool peeled = length > 3 && strcmp(heads[i]->name + length - 3, "^{}") == 0;
        if (!peeled && length < sizeof((struct repo_ref *)NULL)->name)
            ret->items[ret->count++] = (struct repo_listed){
                .name = heads[i]->name, .symref = heads[i]->symref_target, .id = heads[i]->oid};
    }
    return 0;
}

/* ---- Once ------------------------------------------------------------------------------------ */

void repo_work_set_up(void)
{
    static const git_config_level_t levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA,
                                                GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
                                                GIT_CONFIG_LEVEL_GLOBAL};
    (void)git_libgit2_init();
    /* Nobody's configuration is read but the repo's own, for its format. */
    for (size_t i = 0; i < COUNT_OF(levels); ++i)
        (void)git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
    (void)git_libgit2_opts(GIT_OPT_SET_TEMPLATE_PATH, "");
#if LIBGIT2_VER_MAJOR > 1 || LIBGIT2_VER_MINOR >= 5
    /* The parent has looked at who owns a local path. */
    (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
#endif
    (void)git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECTS, (size_t)LIMIT_REPO_OBJECTS);
    (void)git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)LIMIT_REPO_MEMORY_BYTES / 4);
    const char *file = getenv("GIT_SSL_CAINFO"), *folder = getenv("GIT_SSL_CAPATH");
    if (file != NULL || folder != NULL)
        (void)git_libgit2_opts(GIT_OPT_SET_SSL_CERT_LOCATIONS, file, folder);
}

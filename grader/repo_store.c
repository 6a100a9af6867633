/* repo_store.c - the bare cache of one repo, below the output folder.
 *
 *   refs/spillway/tip/<id>         every tip that was ever fetched: nothing that was graded is lost
 *   refs/spillway/part/<id>        the same of those that came without all of their history
 *   refs/spillway/now/<hash>       what the ref with that hash of its name was at the last fetch
 *   refs/spillway/lost/<hash>/<id> a tip of that ref which is in no later history of it
 *
 * A ref is written only when all that it needs is there, so a fetch that is killed leaves at most a
 * pack that nothing names, or a temporary file, which the next one removes. */
#include "repo_work.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>

#include "files.h"

#define TIPS "refs/spillway/tip/"
#define PARTS "refs/spillway/part/"
#define NOW "refs/spillway/now/"
#define LOST "refs/spillway/lost/"

/* ---- Opening --------------------------------------------------------------------------------- */

static int remove_lock(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    size_t length = strlen(path + where->base);
    if (type == FTW_F && length > 5 && strcmp(path + where->base + length - 5, ".lock") == 0)
        (void)unlink(path);
    return 0;
}

/* What a killed fetch left: unfinished packs, and locks of refs and of the cache's own files.
 * Nobody else is at work here: the parent has locked the cache. */
static void sweep(const char *cache)
{
    static const char *const locks[] = {"HEAD.lock", "config.lock", "packed-refs.lock"};
    for (size_t i = 0; i < COUNT_OF(locks); ++i) {
        AUTO_FREE char *lock = path_join(cache, locks[i]);
        if (lock != NULL)
            (void)unlink(lock);
    }
    AUTO_FREE char *folder = path_join(cache, "objects/pack");
    AUTO_FREE char *refs = path_join(cache, "refs");
    DIR *packs = folder == NULL ? NULL : opendir(folder);
    for (const struct dirent *entry; packs != NULL && (entry = readdir(packs)) != NULL;)
        if (strncmp(entry->d_name, "pack-", 5) != 0)
            (void)unlinkat(dirfd(packs), entry->d_name, 0); /* folders stay: no flag */
    if (packs != NULL)
        (void)closedir(packs);
    if (refs != NULL)
        (void)nftw(refs, remove_lock, 16, FTW_PHYS);
}

git_repository *repo_store_open(struct repo_work *work, int *status)
{
    git_repository *cache = NULL;
    const char *path = work->task->cache;
    AUTO_FREE char *head = path_join(path, "HEAD");
    bool made = head != NULL && access(head, F_OK) == 0;
    int code = -1;
    *status = 0;
    if (work->task->kind != REPO_READ)
        sweep(path);
    if (made) {
        code = git_repository_open_ext(
            &cache, path, GIT_REPOSITORY_OPEN_NO_SEARCH | GIT_REPOSITORY_OPEN_BARE, NULL);
    } else if (work->task->kind != REPO_READ) {
        git_repository_init_options options = {.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION};
        options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
        options.initial_head = "spillway";
        code = git_repository_init_ext(&cache, path, &options);
    }
    if (code == 0)
        return cache;
    /* A cache that was cut short when it was made: the parent removes it and tries again. */
    if (made || work->task->kind == REPO_READ) {
        work->reply.retry_whole = 1;
        repo_work_refuse(work, REPO_DAMAGED, "its cache cannot be opened: %s", repo_git_words());
    } else
        *status = repo_work_machine(work, "cannot make the cache %s: %s", path, repo_git_words());
    return NULL;
}

/* ---- Tips ------------------------------------------------------------------------------------ */

static void tip_name(char into[100], const char *beginning, const git_oid *tip)
{
    char hex[41];
    git_oid_tostr(hex, sizeof hex, tip);
    (void)snprintf(into, 100, "%s%s", beginning, hex);
}

/* Names of refs are the student's: their hashes can neither collide with one another (a, a/b) nor
 * be too long. */
static bool name_hash(char into[41], const char *name)
{
    git_oid id;
    if (git_odb_hash(&id, name, strlen(name), GIT_OBJECT_BLOB) != 0)
        return false;
    git_oid_tostr(into, 41, &id);
    return true;
}

static bool exists(git_repository *cache, const char *name)
{
    git_oid id;
    return git_reference_name_to_id(&id, cache, name) == 0;
}

bool repo_store_has(git_repository *cache, const git_oid *tip)
{
    char name[100];
    tip_name(name, TIPS, tip);
    return exists(cache, name);
}

static int set(struct repo_work *work, git_repository *cache, const char *name, const git_oid *id)
{
    git_reference *made = NULL;
    int code = git_reference_create(&made, cache, name, id, 1, NULL);
    git_reference_free(made);
    return code == 0 ? 0
                     : repo_work_machine(work, "cannot write to the cache: %s", repo_git_words());
}

/* The commit that a tip is, or that its tag names. */
static bool commit_of(git_oid *ret, git_repository *cache, const git_oid *tip)
{
    git_object *object = NULL, *commit = NULL;
    bool found = git_object_lookup(&object, cache, tip, GIT_OBJECT_ANY) == 0 &&
                 git_object_peel(&commit, object, GIT_OBJECT_COMMIT) == 0;
    if (found)
        git_oid_cpy(ret, git_object_id(commit));
    git_object_free(commit);
    git_object_free(object);
    return found;
}

static bool was_rewritten(git_repository *cache, const git_oid *before, const git_oid *after)
{
    git_oid old_commit, new_commit;
    if (!commit_of(&old_commit, cache, before) || !commit_of(&new_commit, cache, after) ||
        git_oid_equal(&old_commit, &new_commit))
        return false;
    return git_graph_descendant_of(cache, &new_commit, &old_commit) == 0;
}

int repo_store_keep(struct repo_work *work, git_repository *cache, const char *name,
                    const git_oid *tip, bool whole)
{
    char tip_ref[100], now_ref[100], lost_ref[200], hash[41], hex[41];
    git_oid before;
    tip_name(tip_ref, whole ? TIPS : PARTS, tip);
    if (!name_hash(hash, name))
        return repo_work_machine(work, "out of memory");
    (void)snprintf(now_ref, sizeof now_ref, "%s%s", NOW, hash);
    if (!exists(cache, tip_ref) && set(work, cache, tip_ref, tip) != 0)
        return -1;
    if (git_reference_name_to_id(&before, cache, now_ref) == 0) {
        if (git_oid_equal(&before, tip))
            return 0;
        if (was_rewritten(cache, &before, tip)) {
            git_oid_tostr(hex, sizeof hex, &before);
            (void)snprintf(lost_ref, sizeof lost_ref, "%s%s/%s", LOST, hash, hex);
            if (set(work, cache, lost_ref, &before) != 0)
                return -1;
        }
    }
    return set(work, cache, now_ref, tip);
}

static size_t count_or_call(git_repository *cache, const char *glob,
                            int (*each)(const git_oid *tip, void *context), void *context,
                            int *status)
{
    git_reference_iterator *iterator = NULL;
    size_t count = 0;
    *status = 0;
    if (git_reference_iterator_glob_new(&iterator, cache, glob) != 0)
        return 0;
    for (git_reference *ref = NULL; *status == 0 && git_reference_next(&ref, iterator) == 0;) {
        const git_oid *target = git_reference_target(ref);
        ++count;
        if (each != NULL && target != NULL)
            *status = each(target, context);
        git_reference_free(ref);
    }
    git_reference_iterator_free(iterator);
    return count;
}

size_t repo_store_lost(git_repository *cache, const char *name)
{
    char hash[41], glob[100];
    int status = 0;
    if (!name_hash(hash, name))
        return 0;
    (void)snprintf(glob, sizeof glob, "%s%s/*", LOST, hash);
    return count_or_call(cache, glob, NULL, NULL, &status);
}

int repo_store_each(git_repository *cache, int (*each)(const git_oid *tip, void *context),
                    void *context)
{
    int status = 0;
    (void)count_or_call(cache, TIPS "*", each, context, &status);
    return status;
}

/* repo_copy.c - a repo on this machine's disks, into the cache.
 *
 * libgit2's own transport for local paths packs every ref of the repo and gives up at the first
 * that is broken. Here only what is graded is packed; and where that is not whole (a shallow or
 * partial clone, a damaged repo), what the grading needs is taken along the first parents: the
 * commits, the trees on the way to the wanted files, and these. */
#include "repo_work.h"

#include <errno.h>
#include <sys/stat.h>

#include "files.h"

#define COMMITS_OF_A_PART 1000

/* ---- Is it a repo by itself? ----------------------------------------------------------------- */

/* What a repo borrows from elsewhere is not the student's to hand in, and cannot be reached. */
static const struct {
    const char *name;
    mode_t type; /* 0: any */
    const char *what;
} borrowings[] = {
    {"", S_IFLNK, "the folder is a symbolic link"},
    {"objects", S_IFLNK, "its objects are a link to somewhere else"},
    {"refs", S_IFLNK, "its refs are a link to somewhere else"},
    {"objects/info/alternates", 0,
     "it borrows objects from another repo (git clone --shared or --reference)"},
    {"commondir", 0, "it is a working tree that belongs to another repo (git worktree)"},
};

static bool stands_alone(struct repo_work *work, const char *git_folder)
{
    for (size_t i = 0; i < COUNT_OF(borrowings); ++i) {
        AUTO_FREE char *path = path_join(git_folder, borrowings[i].name);
        struct stat info;
        if (path == NULL || lstat(path, &info) != 0 ||
            (borrowings[i].type != 0 && (info.st_mode & S_IFMT) != borrowings[i].type))
            continue;
        (void)repo_work_refuse(work, REPO_BORROWED, "%s", borrowings[i].what);
        return false;
    }
    return true;
}

/* The git folder of the task's address, owned. NULL: the reply says why not. */
static char *find_git_folder(struct repo_work *work)
{
    const char *path = work->task->address;
    AUTO_FREE char *inner = path_join(path, ".git");
    AUTO_FREE char *real = inner == NULL ? NULL : realpath(inner, NULL);
    struct stat info, link;
    size_t length = strlen(path);
    if (inner == NULL || lstat(inner, &link) != 0)
        return strdup(path);
    if (real == NULL || stat(real, &info) != 0)
        (void)repo_work_refuse(work, REPO_BORROWED, "its .git is a link that leads nowhere");
    else if (S_ISREG(info.st_mode))
        (void)repo_work_refuse(work, REPO_BORROWED,
                               "it is a working tree whose repo lies elsewhere (a git worktree, or "
                               "a submodule)");
    else if (S_ISLNK(link.st_mode) && (strncmp(real, path, length) != 0 || real[length] != '/'))
        (void)repo_work_refuse(work, REPO_BORROWED, "its .git is a link to somewhere else");
    else if (!S_ISDIR(info.st_mode))
        (void)repo_work_refuse(work, REPO_DAMAGED, "its .git is neither a folder nor a file");
    return work->reply.reason == REPO_FINE ? steal_pointer(&real) : NULL;
}

git_repository *repo_open_alone(struct repo_work *work)
{
    AUTO_FREE char *folder = find_git_folder(work);
    git_repository *source = NULL;
    if (folder == NULL || !stands_alone(work, folder) || !repo_survey(work, folder))
        return NULL;
    int code =
        git_repository_open_ext(&source, work->task->address, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
    if (code == 0)
        return source;
    /* What may not be read is a file of the repo's own, or one that it includes from elsewhere. */
    if (strcasestr(repo_git_words(), "permission denied") == NULL ||
        repo_survey_includes(work, folder))
        (void)repo_work_cannot_open(work, code);
    return NULL;
}

static int note_promise(const git_config_entry *entry, void *context)
{
    (void)entry;
    *(bool *)context = true;
    return 0;
}

static void find_traits(struct repo_work *work, git_repository *source)
{
    git_config *config = NULL;
    bool promised = false;
    if (git_repository_is_shallow(source) == 1)
        work->reply.traits |= REPO_TRAIT_SHALLOW;
    if (git_repository_config_snapshot(&config, source) == 0)
        (void)git_config_foreach_match(
            config, "^(remote\\..*\\.(promisor|partialclonefilter)|extensions\\.partialclone)$",
            note_promise, &promised);
    git_config_free(config);
    if (promised)
        work->reply.traits |= REPO_TRAIT_PARTIAL;
}

/* ---- Refs ------------------------------------------------------------------------------------ */

struct refs {
    struct repo_listing listing;
    git_strarray names;
    git_reference *head;
};

static void release_refs(struct refs *refs)
{
    free(refs->listing.items);
    git_strarray_dispose(&refs->names);
    git_reference_free(refs->head);
}

/* Follows a ref to its id, and opens nothing that is no file: if it is `wanted`, that is refused.
 */
static bool resolve(struct repo_work *work, git_repository *source, const char *name, bool wanted,
                    git_oid *id)
{
    enum { LONGEST = 5 }; /* as git has it */
    AUTO_FREE char *at = strdup(name);
    for (int i = 0; i < LONGEST && at != NULL; ++i) {
        git_reference *ref = NULL;
        if (!repo_survey_ref(work, git_repository_path(source), at, wanted) ||
            git_reference_lookup(&ref, source, at) != 0)
            return false;
        const git_oid *target = git_reference_target(ref);
        const char *symbolic = git_reference_symbolic_target(ref);
        char *next = symbolic == NULL ? NULL : strdup(symbolic);
        if (target != NULL)
            git_oid_cpy(id, target);
        git_reference_free(ref);
        if (target != NULL) {
            free(next);
            return true;
        }
        free(at);
        at = next;
    }
    return false;
}

/* What is no file is not listed either: if the roster asks for it, say so. */
static void look_at_wish(struct repo_work *work, git_repository *source,
                         const struct repo_listing *listing)
{
    static const char *const places[] = {"", "refs/heads/", "refs/tags/"};
    const char *wish = work->task->ref;
    for (size_t i = strncmp(wish, "refs/", 5) == 0 ? 0 : 1; i < COUNT_OF(places); ++i) {
        AUTO_FREE char *name = NULL;
        if (asprintf(&name, "%s%s", places[i], wish) < 0) {
            name = NULL;
            return;
        }
        for (size_t k = 0; k < listing->count; ++k)
            if (strcmp(listing->items[k].name, name) == 0)
                return;
        if (!repo_survey_ref(work, git_repository_path(source), name, true))
            return;
    }
}

/* Refs that cannot be resolved (garbage, links in a circle) are as good as not there. */
static int list_refs(struct repo_work *work, git_repository *source, struct refs *refs)
{
    struct repo_listing *listing = &refs->listing;
    *refs = (struct refs){0};
    if (git_reference_list(&refs->names, source) != 0)
        return repo_work_refuse(work, REPO_DAMAGED, "its refs cannot be read: %s",
                                repo_git_words());
    listing->items = calloc(refs->names.count + 1, sizeof *listing->items);
    if (listing->items == NULL)
        return repo_work_machine(work, "out of memory");
    git_oid id;
    bool by_tags = work->task->choice == REPO_LAST_TAG;
    bool by_head = work->task->ref[0] == '\0' || strcmp(work->task->ref, "HEAD") == 0;
    if (git_reference_lookup(&refs->head, source, "HEAD") == 0) {
        listing->head_target = git_reference_symbolic_target(refs->head); /* NULL: detached */
        if (resolve(work, source, "HEAD", by_head && !by_tags, &id))
            listing->items[listing->count++] =
                (struct repo_listed){.name = "HEAD", .symref = listing->head_target, .id = id};
    }
    for (size_t i = 0; i < refs->names.count; ++i) {
        const char *name = refs->names.strings[i];
        if (strlen(name) < sizeof((struct repo_ref *)NULL)->name &&
            resolve(work, source, name, false, &id))
            listing->items[listing->count++] = (struct repo_listed){.name = name, .id = id};
    }
    if (!by_head && !by_tags)
        look_at_wish(work, source, listing);
    return 0;
}

/* ---- Packing --------------------------------------------------------------------------------- */

struct packing {
    struct repo_work *work;
    git_repository *source, *cache;
    git_packbuilder *builder;
    git_odb *from;
    git_odb_writepack *into;
    git_indexer_progress progress;
    git_revwalk *walk;
    bool too_many;
    bool too_deep; /* a tag of a tag of a tag … */
};

static int on_progress(int stage, uint32_t current, uint32_t total, void *context)
{
    struct packing *packing = context;
    (void)stage, (void)total;
    repo_work_sign_of_life(packing->work);
    packing->too_many = current > packing->work->task->most_objects;
    return packing->too_many ? -1 : 0;
}

static int on_bytes(void *data, size_t length, void *context)
{
    struct packing *packing = context;
    struct repo_work *work = packing->work;
    repo_work_sign_of_life(work);
    work->reply.received_bytes += length;
    if (work->reply.received_bytes > work->task->most_bytes) {
        packing->too_many = true;
        return -1;
    }
    return packing->into->append(packing->into, data, length, &packing->progress);
}

/* Moves what was inserted into the cache. */
static int transfer(struct packing *packing)
{
    git_odb *odb = NULL;
    size_t count = git_packbuilder_object_count(packing->builder);
    int code = 0;
    if (count > packing->work->task->most_objects) {
        packing->too_many = true;
        return -1;
    }
    if (count == 0)
        return 0;
    memset(&packing->progress, 0, sizeof packing->progress);
    code = git_repository_odb(&odb, packing->cache);
    if (code == 0)
        code = git_odb_write_pack(&packing->into, odb, NULL, NULL);
    if (code == 0)
        code = git_packbuilder_foreach(packing->builder, on_bytes, packing);
    if (code == 0)
        code = packing->into->commit(packing->into, &packing->progress);
    if (packing->into != NULL)
        packing->into->free(packing->into);
    packing->into = NULL;
    git_odb_free(odb);
    if (code == 0)
        packing->work->reply.received_objects += count;
    return code;
}

static int open_packing(struct packing *packing)
{
    if (git_packbuilder_new(&packing->builder, packing->source) != 0 ||
        git_repository_odb(&packing->from, packing->source) != 0)
        return -1;
    (void)git_packbuilder_set_threads(packing->builder, 1);
    return git_packbuilder_set_callbacks(packing->builder, on_progress, packing);
}

static void close_packing(struct packing *packing)
{
    git_packbuilder_free(packing->builder);
    git_odb_free(packing->from);
    git_revwalk_free(packing->walk);
    packing->builder = NULL;
    packing->from = NULL;
    packing->walk = NULL;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int hide_known(const git_oid *tip, void *context)
{
    struct packing *packing = context;
    git_object *object = NULL, *commit = NULL;
    /* A tip that was rewritten may be gone from the repo: then it hides nothing. */
    if (git_object_lookup(&object, packing->source, tip, GIT_OBJECT_ANY) == 0 &&
        git_object_peel(&commit, object, GIT_OBJECT_COMMIT) == 0)
        (void)git_revwalk_hide(packing->walk, git_object_id(commit));
    git_object_free(commit);
    git_object_free(object);
    return 0;
}

/* A tag may name a tag. `*commit` is where the chain ends. */
static int insert_tags(struct packing *packing, const git_oid *tip, git_oid *commit)
{
    git_oid_cpy(commit, tip);
    for (int i = 0;; ++i) {
        git_tag *tag = NULL;
        size_t size = 0;
        git_object_t type = GIT_OBJECT_INVALID;
        int code = git_odb_read_header(&size, &type, packing->from, commit);
        if (code != 0 || type != GIT_OBJECT_TAG)
            return code;
        packing->too_deep = i == LIMIT_REPO_TAG_DEPTH;
        code = packing->too_deep || size > LIMIT_REPO_COMMIT_BYTES
                   ? -1
                   : git_packbuilder_insert(packing->builder, commit, NULL);
        if (code == 0)
            code = git_tag_lookup(&tag, packing->source, commit);
        if (code == 0)
            git_oid_cpy(commit, git_tag_target_id(tag));
        git_tag_free(tag);
        if (code != 0)
            return code;
    }
}

static int copy_whole(struct packing *packing, const git_oid *tip)
{
    git_oid commit;
    git_object_t type = GIT_OBJECT_INVALID;
    size_t size = 0;
    int code = open_packing(packing);
    if (code == 0)
        code = insert_tags(packing, tip, &commit);
    if (code == 0)
        code = git_odb_read_header(&size, &type, packing->from, &commit);
    if (code == 0 && type != GIT_OBJECT_COMMIT) /* of a tree, say: what reads it will tell */
        code = git_packbuilder_insert(packing->builder, &commit, NULL);
    else if (code == 0) {
        code = git_revwalk_new(&packing->walk, packing->source);
        if (code == 0)
            code = git_revwalk_push(packing->walk, &commit);
        if (code == 0)
            code = repo_store_each(packing->cache, hide_known, packing);
        if (code == 0)
            code = git_packbuilder_insert_walk(packing->builder, packing->walk);
    }
    if (code == 0)
        code = transfer(packing);
    close_packing(packing);
    return code;
}

/* ---- What is needed of it -------------------------------------------------------------------- */

/* Inserts an object that can be read as a whole and is of sane size. */
static bool insert_sound(struct packing *packing, const git_oid *id, size_t limit)
{
    git_odb_object *object = NULL;
    git_object_t type = GIT_OBJECT_INVALID;
    size_t size = 0;
    bool sound = git_odb_read_header(&size, &type, packing->from, id) == 0 && size <= limit &&
                 git_odb_read(&object, packing->from, id) == 0 &&
                 git_packbuilder_insert(packing->builder, id, NULL) == 0;
    git_odb_object_free(object);
    return sound;
}

/* The trees down to a folder, and the file in it, as far as they can be read. */
static void insert_file(struct packing *packing, const git_oid *root, const char *folder,
                        const char *name)
{
    char path[800];
    git_oid id;
    git_oid_cpy(&id, root);
    (void)snprintf(path, sizeof path, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", name);
    char *rest = path;
    for (char *part; (part = strsep(&rest, "/")) != NULL;) {
        git_tree *tree = NULL;
        const git_tree_entry *entry = NULL;
        bool found = insert_sound(packing, &id, LIMIT_REPO_TREE_BYTES) &&
                     git_tree_lookup(&tree, packing->source, &id) == 0 &&
                     (entry = git_tree_entry_byname(tree, part)) != NULL;
        if (found)
            git_oid_cpy(&id, git_tree_entry_id(entry));
        git_tree_free(tree);
        if (!found)
            return;
    }
    (void)insert_sound(packing, &id, LIMIT_SOURCE_BYTES);
}

static void insert_wanted(struct packing *packing, const git_oid *root)
{
    const struct repo_task *task = packing->work->task;
    char folders[REPO_FOLDERS_MAX][600];
    for (size_t i = 0; i < task->wanted_count; ++i) {
        size_t count = repo_folders(task, i, folders);
        for (size_t k = 0; k < count; ++k)
            insert_file(packing, root, folders[k], task->wanted[i].name);
    }
}

/* False when not even the tip's commit can be read. */
static bool copy_part(struct packing *packing, const git_oid *tip, int *code)
{
    git_oid id;
    size_t commits = 0;
    *code = open_packing(packing);
    bool more = *code == 0 && insert_tags(packing, tip, &id) == 0;
    while (more && commits < COMMITS_OF_A_PART) {
        git_commit *commit = NULL;
        more = insert_sound(packing, &id, LIMIT_REPO_COMMIT_BYTES) &&
               git_commit_lookup(&commit, packing->source, &id) == 0;
        if (more) {
            ++commits;
            repo_work_sign_of_life(packing->work);
            insert_wanted(packing, git_commit_tree_id(commit));
            const git_oid *parent = git_commit_parent_id(commit, 0);
            more = parent != NULL;
            if (more)
                git_oid_cpy(&id, parent);
        }
        git_commit_free(commit);
    }
    if (commits > 0)
        *code = transfer(packing);
    close_packing(packing);
    return commits > 0;
}

/* ---- The step -------------------------------------------------------------------------------- */

/* Tags of tags; beside others it harms nobody. */
static int pass_over(struct repo_work *work, const struct repo_ref *ref)
{
    return work->reply.ref_count > 1 ? 0 : repo_work_too_deep(work, ref->name);
}

static int copy_tip(struct repo_work *work, git_repository *source, git_repository *cache,
                    const struct repo_ref *ref)
{
    struct packing packing = {.work = work, .source = source, .cache = cache};
    git_oid tip;
    int code = git_oid_fromstr(&tip, ref->id);
    bool whole = code == 0 && repo_store_has(cache, &tip);
    if (!whole && work->reply.traits == 0) {
        code = copy_whole(&packing, &tip);
        whole = code == 0;
        if (packing.too_many || repo_git_too_large())
            return repo_work_too_large(work);
        if (packing.too_deep)
            return pass_over(work, ref);
        if (!whole && repo_git_disk_full())
            return repo_work_machine(work, "cannot write the cache: %s", repo_git_words());
    }
    if (whole)
        return repo_store_keep(work, cache, ref->name, &tip, true);
    if (work->reply.traits == 0)
        work->reply.traits |= REPO_TRAIT_BROKEN;
    bool some = copy_part(&packing, &tip, &code);
    if (packing.too_deep)
        return pass_over(work, ref);
    if (!some)
        return repo_work_refuse(
            work, (work->reply.traits & REPO_TRAIT_PARTIAL) != 0 ? REPO_PARTIAL : REPO_DAMAGED,
            "the commit %.10s that %s names is missing or corrupt", ref->id, ref->name);
    if (packing.too_many || (code != 0 && repo_git_too_large()))
        return repo_work_too_large(work);
    if (code != 0)
        return repo_work_machine(work, "cannot write the cache: %s", repo_git_words());
    return repo_store_keep(work, cache, ref->name, &tip, false);
}

int repo_work_copy(struct repo_work *work)
{
    git_repository *source = repo_open_alone(work), *cache = NULL;
    struct refs refs = {0};
    bool all = false;
    int status = 0;
    if (source == NULL)
        return 0;
    find_traits(work, source);
    status = list_refs(work, source, &refs);
    if (status == 0 && work->reply.reason == REPO_FINE)
        status = repo_refs_choose(work, &refs.listing, &all);
    bool go_on = status == 0 && work->reply.reason == REPO_FINE && !work->reply.unchanged &&
                 repo_survey_objects(work, git_repository_path(source));
    if (go_on)
        cache = repo_store_open(work, &status);
    for (size_t i = 0; cache != NULL && status == 0 && i < work->reply.ref_count; ++i) {
        struct repo_ref ref;
        memcpy(&ref, work->payload.data + i * sizeof ref, sizeof ref);
        status = copy_tip(work, source, cache, &ref);
    }
    git_repository_free(cache);
    release_refs(&refs);
    git_repository_free(source);
    return status;
}

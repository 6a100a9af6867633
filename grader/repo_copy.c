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

git_repository *repo_open_alone(struct repo_work *work)
{
    const char *path = work->task->address;
    AUTO_FREE char *inner = path_join(path, ".git");
    struct stat info;
    git_repository *source = NULL;
    bool has_inner = inner != NULL && lstat(inner, &info) == 0;
    if (has_inner && S_ISREG(info.st_mode)) {
        (void)repo_work_refuse(work, REPO_BORROWED,
                               "it is a working tree whose repo lies elsewhere (a git worktree, or "
                               "a submodule)");
        return NULL;
    }
    if (!stands_alone(work, has_inner ? inner : path))
        return NULL;
    int code = git_repository_open_ext(&source, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
    if (code != 0)
        (void)repo_work_cannot_open(work, code);
    return source;
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
    if (git_reference_lookup(&refs->head, source, "HEAD") == 0) {
        listing->head_target = git_reference_symbolic_target(refs->head); /* NULL: detached */
        if (git_reference_name_to_id(&id, source, "HEAD") == 0)
            listing->items[listing->count++] =
                (struct repo_listed){.name = "HEAD", .symref = listing->head_target, .id = id};
    }
    for (size_t i = 0; i < refs->names.count; ++i) {
        const char *name = refs->names.strings[i];
        if (strlen(name) < sizeof((struct repo_ref *)NULL)->name &&
            git_reference_name_to_id(&id, source, name) == 0)
            listing->items[listing->count++] = (struct repo_listed){.name = name, .id = id};
    }
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
    enum { LONGEST = 16 };
    git_oid_cpy(commit, tip);
    for (int i = 0; i < LONGEST; ++i) {
        git_tag *tag = NULL;
        size_t size = 0;
        git_object_t type = GIT_OBJECT_INVALID;
        int code = git_odb_read_header(&size, &type, packing->from, commit);
        if (code != 0 || type != GIT_OBJECT_TAG)
            return code;
        code = size > LIMIT_REPO_COMMIT_BYTES
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
    return -1;
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
        if (!whole && repo_git_disk_full())
            return repo_work_machine(work, "cannot write the cache: %s", repo_git_words());
    }
    if (whole)
        return repo_store_keep(work, cache, ref->name, &tip, true);
    if (work->reply.traits == 0)
        work->reply.traits |= REPO_TRAIT_BROKEN;
    if (!copy_part(&packing, &tip, &code))
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
    bool go_on = status == 0 && work->reply.reason == REPO_FINE && !work->reply.unchanged;
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

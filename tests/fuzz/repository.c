#include "repository.h"

#include "files.h"
#include "slice.h"

#define OBJECTS_MAX 16

static char *folder;
static git_odb *database;
static char objects[OBJECTS_MAX][256]; /* the files of what was put */
static size_t object_count;

static void finish(void)
{
    git_odb_free(database);
    (void)git_libgit2_shutdown();
    temporary_folder_remove(folder);
}

static void start(void)
{
    struct error err = {0};
    git_repository *repository = NULL;
    folder = temporary_folder_create(&err);
    if (folder == NULL || git_libgit2_init() < 1 ||
        git_repository_init(&repository, folder, 1) != 0 ||
        git_repository_odb(&database, repository) != 0)
        abort();
    git_repository_free(repository);
    (void)atexit(finish);
}

const char *repository_folder(void)
{
    if (folder == NULL)
        start();
    return folder;
}

void repository_put(uint8_t id[20], const void *data, size_t length, git_object_t type)
{
    const char *root = repository_folder();
    git_oid oid;
    char hex[41] = "";
    if (object_count == OBJECTS_MAX || git_odb_write(&oid, database, data, length, type) != 0)
        abort();
    memcpy(id, oid.id, 20);
    (void)git_oid_tostr(hex, sizeof hex, &oid);
    (void)snprintf(objects[object_count++], sizeof objects[0], "%s/objects/%.2s/%s", root, hex,
                   hex + 2);
}

/* ---- A whole commit out of an input ---- */

/* Takes as many bytes as the first one says. */
static struct slice take(struct slice *rest)
{
    size_t length = rest->length == 0 ? 0 : (uint8_t)rest->text[0];
    struct slice body = rest->length == 0 ? *rest : slice_from(*rest, 1);
    length = length < body.length ? length : body.length;
    *rest = slice_from(body, length);
    return (struct slice){body.text, length};
}

static void replace(uint8_t *tree, size_t length, const char *marker, const uint8_t id[20])
{
    for (uint8_t *at = tree; (at = memmem(at, (size_t)(tree + length - at), marker, 20)) != NULL;)
        memcpy(at, id, 20);
}

static void put_trees(uint8_t id[20], struct slice pattern, const uint8_t file[20])
{
    uint8_t *tree = malloc(pattern.length + 1);
    for (int depth = 0; tree != NULL && depth < 3; ++depth) { /* starter/<lab>/<file> */
        if (pattern.length > 0)
            memcpy(tree, pattern.text, pattern.length);
        replace(tree, pattern.length, "FFFFFFFFFFFFFFFFFFFF", file);
        replace(tree, pattern.length, "TTTTTTTTTTTTTTTTTTTT", id);
        repository_put(id, tree, pattern.length, GIT_OBJECT_TREE);
    }
    free(tree);
}

static void hex_of(char hex[41], const uint8_t id[20])
{
    git_oid oid;
    memcpy(oid.id, id, 20);
    (void)git_oid_tostr(hex, 41, &oid);
}

void repository_put_all(char *hex, const uint8_t *data, size_t length, bool headers)
{
    static const char usual[] = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n";
    struct slice rest = {(const char *)data, length}, content = take(&rest);
    struct slice lines = headers ? take(&rest) : (struct slice){usual, sizeof usual - 1};
    uint8_t file[20], tree[20] = {0}, commit[20];
    char text[600], tree_hex[41];
    repository_put(file, content.text, content.length, GIT_OBJECT_BLOB);
    put_trees(tree, rest, file);
    hex_of(tree_hex, tree);
    int used = snprintf(text, sizeof text, "tree %s\n", tree_hex);
    if (lines.length > 0)
        memcpy(text + used, lines.text, lines.length);
    repository_put(commit, text, (size_t)used + lines.length, GIT_OBJECT_COMMIT);
    hex_of(hex, commit);
}

void repository_forget(void)
{
    while (object_count > 0)
        (void)unlink(objects[--object_count]);
}

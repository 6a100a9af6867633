#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "caps.h"
#include "files.h"
#include "pack.h"

#define MAGIC UINT64_C(0x3145484341435753) /* "SWCACHE1" */
#define HEADER_BYTES (3 * 8 + 2 * (size_t)DIGEST_BYTES + 8)

struct claim {
    struct digest key;
    struct claim *next;
};

struct cache {
    char *folder; /* owned */
    pthread_mutex_t lock;
    pthread_cond_t settled;
    struct claim *claims; /* being worked on: as many as there are threads, at most */
    struct cache_counts counts;
    uint64_t files_written; /* for names of temporary files */
};

/* ---- The folder ------------------------------------------------------------------------------ */

static int make_private(const char *folder, struct error *err)
{
    struct stat info;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make the folder %s", folder);
    if (lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return error_set(err, ERROR_INFRASTRUCTURE, "%s is not a folder", folder);
    if (info.st_uid != geteuid() || (info.st_mode & 0022) != 0)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the cache %s can be written by others, who could put wrong results into "
                         "it: remove it, or make it yours alone (chmod 700)",
                         folder);
    return 0;
}

int cache_open(struct cache **ret, const char *folder, struct error *err)
{
    *ret = NULL;
    if (make_private(folder, err) != 0)
        return -1;
    struct cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL || (cache->folder = strdup(folder)) == NULL) {
        free(cache);
        return error_no_memory(err);
    }
    (void)pthread_mutex_init(&cache->lock, NULL);
    (void)pthread_cond_init(&cache->settled, NULL);
    *ret = cache;
    return 0;
}

void cache_close(struct cache *cache)
{
    if (cache == NULL)
        return;
    while (cache->claims != NULL) {
        struct claim *claim = cache->claims;
        cache->claims = claim->next;
        free(claim);
    }
    (void)pthread_cond_destroy(&cache->settled);
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache->folder);
    free(cache);
}

/* FOLDER/ab/cdef…: folders stay small. */
static char *file_of(const struct cache *cache, const struct digest *key, bool make_folder)
{
    char hex[DIGEST_HEX_BYTES], *path = NULL;
    (void)digest_hex(key, hex);
    if (make_folder) {
        if (asprintf(&path, "%s/%.2s", cache->folder, hex) < 0)
            return NULL;
        (void)mkdir(path, 0700);
        free(path);
    }
    return asprintf(&path, "%s/%.2s/%s", cache->folder, hex, hex + 2) < 0 ? NULL : path;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void put_header(struct bytes *out, const struct digest *key, const struct digest *sum,
                       size_t length)
{
    pack_number(out, MAGIC);
    pack_bytes(out, key->bytes, sizeof key->bytes);
    pack_bytes(out, sum->bytes, sizeof sum->bytes);
    pack_number(out, length);
}

/* The content of a file of ours about this key, whole; or nothing. */
static bool read_file(const struct cache *cache, const struct digest *key, struct bytes *content)
{
    AUTO_FREE char *path = file_of(cache, key, false);
    struct bytes file = {0};
    *content = (struct bytes){0};
    if (path == NULL || file_read(&file, path, LIMIT_CACHE_FILE_BYTES, false) != FILE_READ)
        return false;
    struct unpack from = unpack_from(bytes_text(&file), file.length);
    struct error ignored = {0};
    struct digest sum;
    bool magic = unpack_number(&from) == MAGIC;
    struct slice own_key = unpack_bytes(&from), own_sum = unpack_bytes(&from);
    uint64_t length = unpack_number(&from);
    bool good = magic && !from.failed && length == from.rest.length &&
                own_key.length == DIGEST_BYTES && own_sum.length == DIGEST_BYTES &&
                memcmp(own_key.text, key->bytes, DIGEST_BYTES) == 0 &&
                digest_bytes(&sum, from.rest.text, from.rest.length, &ignored) == 0 &&
                memcmp(own_sum.text, sum.bytes, DIGEST_BYTES) == 0;
    if (good) {
        *content = bytes_with_limit(LIMIT_CACHE_FILE_BYTES);
        good = bytes_append(content, from.rest.text, from.rest.length) == 0;
    } else {
        (void)unlink(path);
    }
    bytes_release(&file);
    return good;
}

static bool write_whole(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        data += put;
        length -= (size_t)put;
    }
    return true;
}

static void write_file(const struct cache *cache, const struct digest *key, uint64_t number,
                       const void *data, size_t length)
{
    AUTO_FREE char *path = file_of(cache, key, true);
    AUTO_FREE char *temporary = NULL;
    struct bytes header = bytes_with_limit(HEADER_BYTES);
    struct error ignored = {0};
    struct digest sum;
    if (path == NULL || length > LIMIT_CACHE_FILE_BYTES - HEADER_BYTES ||
        digest_bytes(&sum, data, length, &ignored) != 0 ||
        asprintf(&temporary, "%s.%ld.%llu", path, (long)getpid(), (unsigned long long)number) < 0) {
        temporary = NULL;
        return;
    }
    put_header(&header, key, &sum, length);
    AUTO_CLOSE int fd =
        header.failed ? -1 : open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written =
        fd >= 0 && write_whole(fd, header.data, header.length) && write_whole(fd, data, length);
    if (fd >= 0 && (!written || rename(temporary, path) != 0))
        (void)unlink(temporary);
    bytes_release(&header);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static struct claim **find_claim(struct cache *cache, const struct digest *key)
{
    struct claim **slot = &cache->claims;
    while (*slot != NULL && !digest_equal(&(*slot)->key, key))
        slot = &(*slot)->next;
    return slot;
}

enum cache_claim cache_claim(struct cache *cache, const struct digest *key, struct bytes *content)
{
    *content = (struct bytes){0};
    struct claim *claim = calloc(1, sizeof *claim);
    (void)pthread_mutex_lock(&cache->lock);
    while (*find_claim(cache, key) != NULL)
        (void)pthread_cond_wait(&cache->settled, &cache->lock);
    /* Without memory for the claim, others work on the same: slower, and right all the same. */
    if (claim != NULL) {
        *claim = (struct claim){.key = *key, .next = cache->claims};
        cache->claims = claim;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    bool hit = read_file(cache, key, content);
    if (!hit)
        bytes_release(content);
    (void)pthread_mutex_lock(&cache->lock);
    cache->counts.hits += hit;
    cache->counts.misses += !hit;
    (void)pthread_mutex_unlock(&cache->lock);
    if (hit)
        cache_settle(cache, key, NULL, 0);
    return hit ? CACHE_HIT : CACHE_MINE;
}

void cache_settle(struct cache *cache, const struct digest *key, const void *data, size_t length)
{
    (void)pthread_mutex_lock(&cache->lock);
    uint64_t number = cache->files_written++;
    (void)pthread_mutex_unlock(&cache->lock);
    if (data != NULL)
        write_file(cache, key, number, data, length);
    (void)pthread_mutex_lock(&cache->lock);
    struct claim **slot = find_claim(cache, key);
    struct claim *claim = *slot;
    if (claim != NULL)
        *slot = claim->next;
    (void)pthread_cond_broadcast(&cache->settled);
    (void)pthread_mutex_unlock(&cache->lock);
    free(claim);
}

struct cache_counts cache_counts(struct cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    struct cache_counts counts = cache->counts;
    (void)pthread_mutex_unlock(&cache->lock);
    return counts;
}

/* cache.h - results by the content they came from: a folder of small files, and a list of what is
 * being worked out right now.
 *
 * Whoever needs a result claims its key. Either it is there, or the caller is the one to work it
 * out and must settle the claim, with the result or without; others who claim the key meanwhile
 * wait for that. So of many equal submissions one is worked on, and the rest wait for it.
 *
 * A key is a SHA-256 over everything that the result depends on. A file carries its key and the
 * SHA-256 of its content: one that was cut, damaged or renamed is a miss, and goes. Files appear by
 * rename, and are not synced: after a power failure they are misses at worst. The folder is private
 * (0700); it may be deleted at any time. Several programs may share one.
 *
 * Any thread may call. A cache that cannot be written loses speed, not grades: no error then. */
#ifndef SPILLWAY_CACHE_H
#define SPILLWAY_CACHE_H

#include "bytes.h"
#include "digest.h"

struct cache;

/* The folder is made if it is missing; -1 with *err when that does not work, or when it belongs to
 * somebody else or others may write into it. */
int cache_open(struct cache **ret, const char *folder, struct error *err);
void cache_close(struct cache *cache); /* NULL is fine */

enum cache_claim {
    CACHE_HIT,  /* *content is filled: release it */
    CACHE_MINE, /* work it out, and call cache_settle() */
};

/* Waits while another thread works on the key. */
enum cache_claim cache_claim(struct cache *cache, const struct digest *key, struct bytes *content);
/* data NULL: there is nothing to keep, and the next who claims the key has to work itself. */
void cache_settle(struct cache *cache, const struct digest *key, const void *data, size_t length);

struct cache_counts {
    size_t hits, misses;
};
struct cache_counts cache_counts(struct cache *cache);

#endif

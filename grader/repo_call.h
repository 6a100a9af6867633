/* repo_call.h - one task for a repo's child, with all that stands around it: ssh, credentials, the
 * clock, attempts, and what an end without an answer means. */
#ifndef SPILLWAY_REPO_CALL_H
#define SPILLWAY_REPO_CALL_H

#include "repo_credential.h"
#include "repo_helper.h"
#include "repo_task.h"

struct repo_fetcher {
    struct repo_options options; /* with no zeros left */
    struct repo_helper helper;
    char **trusted; /* safe.directory, as repo_owner.c reads it; owned */
    size_t trusted_count;
    /* What a helper of git's gave for this host: it is asked once. */
    char known_host[256];
    struct repo_credential known;
};

struct repo_call {
    struct repo_fetcher *fetcher;
    const struct repo_url *url;
    struct repo_task task;          /* without secrets: these are filled in here, and wiped */
    const struct repo_push *pushes; /* task.push_count of them */
    const struct repo_ref *refs;    /* task.ref_count of them */
    const void *const *contents;    /* task.file_count of them */
    unsigned attempts;              /* so far; counted on */
    bool slow;                      /* the last one took as long as one may */
    /* The answer; a made-up one (reason and detail) when the child gave none. */
    struct repo_reply reply;
    struct bytes payload; /* owned; released by the next call, or with repo_call_release() */
};

/* -1 with *err: nobody's repo could be read now, or the user interrupted. */
int repo_call(struct repo_call *call, struct error *err);
void repo_call_release(struct repo_call *call);

/* Locks the cache's folder, and makes it. Returns a descriptor to close, or -1 with *err. */
int repo_cache_lock(const char *cache, struct error *err);

/* "Detail. Mend." Returns `into`. */
const char *repo_sentence(char *into, size_t size, enum repo_reason reason, const char *detail);

/* What a child opens for an address. False: *ret has the reason. */
bool repo_address_resolve(char into[LIMIT_REPO_URL_BYTES + 1], const struct repo_fetcher *fetcher,
                          const char *address, const struct repo_url *url, struct repo_answer *ret);

/* repo_owner.c: reads safe.directory of the user's own git configuration. */
int repo_owner_load(struct repo_fetcher *fetcher, struct error *err);
void repo_owner_release(struct repo_fetcher *fetcher);
/* Whether git would read the repo at this real path. False: `detail` says whose it is. */
bool repo_owner_trusts(const struct repo_fetcher *fetcher, const char *path, char detail[700]);

#endif

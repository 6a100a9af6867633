/* repo_publish.h - feedback back to the student: a commit on the branch `feedback` of the student's
 * own repo, and on no other.
 *
 * The branch gets a folder named after the lab, which holds exactly the given files; what else lies
 * on it stays. Published again, the same files make no commit. The branch is never forced: what
 * somebody else pushed to it becomes the parent. A repo whose default (or checked-out) branch is
 * `feedback` is refused, and so is one without another branch (REPO_EMPTY): many a host would make
 * this one its default. Like reading, all of it happens in children (see repo_fetch.h); for a
 * local path the objects and the ref are written directly, without hooks, whether the repo is bare
 * or not. */
#ifndef SPILLWAY_REPO_PUBLISH_H
#define SPILLWAY_REPO_PUBLISH_H

#include "repo_fetch.h"

#define REPO_PUBLISH_FILES_MAX 16

struct repo_publish_file {
    const char *name; /* a file name without slashes: "feedback.txt" */
    const void *data;
    size_t length;
};

struct repo_publication {
    const char *address; /* as in a request */
    const char *cache;   /* as in a request: the same folder may be used */
    const char *lab_id;
    const char *message; /* of the commit, one line, at most 199 bytes; NULL: a plain one */
    int64_t now_s;       /* the commit's date */
    const struct repo_publish_file *files;
    size_t file_count; /* 1 to REPO_PUBLISH_FILES_MAX; LIMIT_PUBLISH_BYTES in all */
};

struct repo_published {
    enum repo_reason reason;
    char sentence[1000]; /* what is wrong, and what to try; "" for REPO_FINE */
    bool unchanged;      /* the branch held exactly this already */
    char commit[41];     /* what the branch is now */
    unsigned attempts;
};

/* 0 with *ret, whatever came of it; -1 with *err as repo_fetch(). Nothing is to be released. */
int repo_publish(struct repo_fetcher *fetcher, const struct repo_publication *publication,
                 struct repo_published *ret, struct error *err);

#endif

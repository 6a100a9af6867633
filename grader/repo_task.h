/* repo_task.h - what a repo's child is asked, and what it answers: plain records, since both ends
 * are the same program on the same machine.
 *
 * A task is a sealed piece of shared memory: struct repo_task, then `push_count` pushes, then
 * `ref_count` refs, then the bytes of the files to be published. The answer comes through a socket:
 * any number of zero bytes, each a sign of life, then struct repo_reply and `payload_bytes` more
 * (refs, or the files' contents).
 *
 * The child may have been taken over by the repo that it read: whatever it says is checked by
 * repo_reply_read(), which takes any bytes. Nothing in a reply is trusted further than to decide
 * the row of the student whose repo it was. */
#ifndef SPILLWAY_REPO_TASK_H
#define SPILLWAY_REPO_TASK_H

#include "repo_fetch.h"

#include <limits.h>

#define REPO_MAGIC UINT32_C(0x4f504552)
#define REPO_VERSION 2

/* The helper's end of the socket on which it is told what to do. */
#define REPO_DESCRIPTOR_CONTROL 3

enum repo_task_kind {
    REPO_COPY,     /* a local path into the cache */
    REPO_DOWNLOAD, /* a URL into the cache */
    REPO_READ,     /* the cache: choose and read */
    REPO_PUT,      /* feedback into a local path */
    REPO_PUSH,     /* feedback to a URL */
    REPO_TASK_KINDS
};

/* What the cache may lack, and why. */
enum repo_trait {
    REPO_TRAIT_SHALLOW = 1, /* history is cut on purpose */
    REPO_TRAIT_PARTIAL = 2, /* blobs are missing on purpose */
    REPO_TRAIT_BROKEN = 4,  /* objects are missing or corrupt */
};

struct repo_ref {
    char name[256]; /* "refs/heads/main", "HEAD" */
    char id[41];    /* of a commit or an annotated tag */
};

struct repo_task {
    uint32_t magic, version;
    uint32_t kind;                          /* enum repo_task_kind */
    uint32_t choice;                        /* enum repo_choice */
    char address[LIMIT_REPO_URL_BYTES + 1]; /* a real path, or a URL for libgit2 */
    char cache[PATH_MAX];
    char ref[256];         /* "": the default branch */
    char tag_pattern[256]; /* REPO_LAST_TAG */
    char policy[41];       /* hash of all else that the answer depends on */
    char known_state[41];  /* "": none */
    int64_t cutoff_s, now_s, due_s, free_s;
    uint64_t most_bytes, most_objects;
    uint32_t has_cutoff, has_due, has_push_log;
    uint32_t through_ssh;        /* the descriptor that came along is an ssh's input and output */
    uint32_t redirects;          /* 1: another host may answer in its place (never with a secret) */
    char user[64], secret[1024]; /* for https; secret "": none */
    char cutoff_text[128];
    char lab_id[160];  /* of a push: the folder's name */
    char message[200]; /* REPO_PUT, REPO_PUSH */
    char path[512];    /* --path, without slashes at its ends; "": none */
    struct {
        char name[128], family[64];
        uint64_t limit;
        uint32_t unscored;
        char blank[41]; /* the blob's id; "": not known */
    } wanted[REPO_FILES_MAX];
    uint32_t wanted_count;
    uint32_t traits;      /* REPO_READ: as the fetch said */
    uint32_t fetch_flags; /* REPO_READ: as the fetch said */
    char graded_ref[256]; /* REPO_READ: as the fetch said */
    uint32_t push_count;  /* records that follow */
    uint32_t ref_count;   /* REPO_READ: records that follow */
    uint32_t file_count;  /* REPO_PUT, REPO_PUSH: contents that follow */
    struct {
        char name[128];
        uint64_t length;
    } files[16];
};

/* Why nothing is published. */
#define REPO_NO_WORK "the repo has no branch beside which feedback could be put"
#define REPO_DEFAULT_FEEDBACK                                                                      \
    "feedback is the repo's default (or checked out) branch: another has to be, in the settings "  \
    "of the repo's host"

struct repo_reply_file {
    char path[512];
    char problem[400];
    uint64_t length; /* of its content in the payload */
    uint32_t found;
};

struct repo_reply {
    uint32_t magic, version;
    uint32_t kind;    /* the task's */
    uint32_t reason;  /* enum repo_reason */
    char detail[700]; /* what was seen, a sentence; "" for REPO_FINE */
    /* COPY, DOWNLOAD */
    char state[41];
    char ref[256];
    char default_ref[256]; /* where HEAD points, "" if that is not known */
    uint8_t unchanged, wants_secret, retry_whole;
    uint8_t has_branch; /* beside the instructor's */
    uint32_t traits, ref_count;
    uint64_t received_bytes, received_objects;
    /* READ */
    char commit[41];
    char chosen[300];
    uint32_t source; /* enum repo_time_source */
    int32_t commit_offset_s;
    int64_t unix_s, commit_s;
    uint64_t later;
    struct repo_reply_file files[REPO_FILES_MAX];
    /* All */
    uint32_t flags;
    char flag_text[REPO_FLAG_COUNT][REPO_FLAG_BYTES];
    uint64_t payload_bytes;
};

/* The most that a reply may have: signs of life not counted. */
#define REPO_REPLY_BYTES_MAX (sizeof(struct repo_reply) + ((size_t)5 << 20))

/* A new task or reply: everything zero but magic, version and kind. */
void repo_task_init(struct repo_task *task, enum repo_task_kind kind);
void repo_reply_init(struct repo_reply *reply, enum repo_task_kind kind);

/* Checks what a child said (its signs of life left out) against the task. True: *reply is filled,
 * its texts are terminated and printable on one line, its numbers are in range, and *payload
 * (borrowed from `data`) holds exactly the refs, checked as well, or the files. False: `why` is a
 * clause. */
bool repo_reply_read(struct repo_reply *reply, const uint8_t **payload, const uint8_t *data,
                     size_t length, const struct repo_task *task, const char **why) MUST_CHECK;

/* The parts of a task that follow its head, NULL where there are none. False if the lengths do not
 * add up: the two ends are of different builds. */
struct repo_task_parts {
    const struct repo_push *pushes;
    const struct repo_ref *refs;
    const uint8_t *contents;
};
bool repo_task_read(const void *memory, size_t length, const struct repo_task **ret,
                    struct repo_task_parts *parts) MUST_CHECK;

/* 40 lower-case hex digits. */
bool repo_is_id(const char *text);

#endif

/* repo_fetch.h - one student's repo: fetch what is new, choose the commit, hand back the files.
 *
 * Only libgit2 reads repos: nothing is checked out, no hook, filter, submodule or LFS download
 * runs, and neither the student's nor the user's git configuration is honoured (but
 * `safe.directory`, and what ssh itself reads). All of it happens in child processes, one for each
 * step of each repo:
 *
 *   fetch   compares the remote's refs with what is known, and brings what is new into a bare cache
 *           below the output folder. For a local path it has no network; for ssh it has only the
 *           pipe of an `ssh` that runs beside it, so that no key is near it; for https it has the
 *           network and that server's token.
 *   read    chooses the commit and reads the files from the cache: no network, no token, no file
 *           but the cache, which it cannot write.
 *
 * A child is killed when it is silent or slow for too long: libgit2 1.5 has no time-outs. Whatever
 * is wrong with the repo, the server or the way there is an answer with a reason, and costs one
 * student's row; only what would hit everybody (no memory, no process, a full disk, Ctrl-C) is a
 * struct error.
 *
 * Life cycle: repo_fetcher_open() once a thread, repo_fetch() for each repo, repo_answer_release(),
 * repo_fetcher_close(). A fetcher is for one thread at a time (its helper dies with the thread that
 * opened it); different threads have their own, and may work on the same cache: it is locked. */
#ifndef SPILLWAY_REPO_FETCH_H
#define SPILLWAY_REPO_FETCH_H

#include "bytes.h"
#include "caps.h"
#include "errors.h"
#include "repo_reason.h"

/* ---- What is asked for ----------------------------------------------------------------------- */

/* Which commit is graded. */
enum repo_choice {
    REPO_LAST,     /* the last on the graded ref at or before the cut-off; the tip without one */
    REPO_LAST_TAG, /* the last tag that matches `tag_pattern`, at or before the cut-off */
    REPO_TIP,      /* what the graded ref names now, whenever that was made */
};

/* The platform's word for when a commit became the tip of the ref (pushlog.h). */
struct repo_push {
    char commit[41]; /* 40 hex digits, lower case */
    int64_t unix_s;
};

/* A file of the submission. Looked for in `path` of the request if there is one, in the folder
 * where the first file was found, in the top folder, in <family>/<lab>/ and in <lab>/. */
struct repo_wanted {
    const char *name;   /* "registers.cu" */
    const char *family; /* "starter", "exercises" */
    size_t limit;       /* most bytes, at most LIMIT_SOURCE_BYTES */
    bool unscored;      /* makes nobody late, and is read from the newest commit in any case */
    const struct bytes *blank; /* as students get it: no work yet; NULL: not known */
};

struct repo_request {
    const char *address; /* an absolute path or a URL (repo_url.h) */
    const char *cache;   /* the repo's own folder (repo_cache_folder()); made if missing */
    const char *ref;     /* branch, tag, refs/… or a whole commit id; NULL: the default branch */
    enum repo_choice choice;
    const char *tag_pattern; /* REPO_LAST_TAG: "submit/…", with * ? [ ] as in a shell */
    bool has_cutoff;
    int64_t cutoff_s;        /* seconds since 1970; what is later is not chosen */
    const char *cutoff_text; /* as shown to people; NULL: UTC */
    /* What is handed in later is late, and costs something after `free_s` (never before `due_s`). A
     * late commit with the same graded files as an earlier one counts as that one. */
    bool has_due;
    int64_t due_s, free_s;
    const struct repo_push *pushes; /* in order of time; for REPO_LAST better than commits' dates */
    size_t push_count;
    bool has_push_log; /* there is one, though it may not name this student */
    int64_t now_s;     /* what is dated later lies in the future */
    const char *lab_id;
    const char *path;                 /* folder in the repo to look in first; NULL: none */
    const struct repo_wanted *wanted; /* the first is the source, without which nothing is graded */
    size_t wanted_count;              /* 1 to REPO_FILES_MAX */
    /* The `state` of an earlier answer: if nothing relevant changed since, only the refs are asked
     * for, and the answer says `unchanged` and holds no files. NULL: read in any case. */
    const char *known_state;
};

#define REPO_FILES_MAX 4

/* What repo_publish() writes. It is the instructor's, so no fallback ever grades it. */
#define REPO_FEEDBACK_REF "refs/heads/feedback"

/* ---- What comes back ------------------------------------------------------------------------- */

enum repo_time_source {
    REPO_TIME_COMMIT, /* the committer's date, which is the student's to set */
    REPO_TIME_TAG,    /* the annotated tag's date, likewise */
    REPO_TIME_PUSH,   /* the platform's push log */
};

/* What an instructor should look at; none of it changes a mark. */
enum repo_flag {
    REPO_FLAG_PATH,        /* the source is not in the folder that the request names */
    REPO_FLAG_TWICE,       /* another source, in a folder that is looked at later */
    REPO_FLAG_TWICE_OTHER, /* the same of another file */
    REPO_FLAG_EARLIER,     /* other work was in time, but the newest, late one was graded */
    REPO_FLAG_BACKWARDS,   /* a commit is dated before its parent */
    REPO_FLAG_FUTURE,      /* the chosen commit or tag is dated after now */
    REPO_FLAG_REWRITTEN,   /* an earlier fetch saw a tip that is no longer in the history */
    REPO_FLAG_DETACHED,    /* HEAD is no branch */
    REPO_FLAG_ONLY_BRANCH, /* HEAD names no branch that exists; there is one other */
    REPO_FLAG_CUT,         /* a shallow clone: the history is not whole */
    REPO_FLAG_NOT_PUSHED,  /* a push log was given and does not name this student's commits */
    REPO_FLAG_GONE,        /* a pushed commit in time is no longer in the repo */
    REPO_FLAG_MERGED,      /* commits dated in time came in by a merge after the cut-off */
    REPO_FLAG_CASE,        /* another file's name differs from the graded one's by case only */
    REPO_FLAG_CRLF,        /* lines end in CR LF: kept as they are, compilers take them */
    REPO_FLAG_COUNT
};
#define REPO_FLAG_BYTES 320

/* What the text of REPO_FLAG_PATH begins with. */
#define REPO_PATH_NOTE "the files were expected in "

struct repo_file {
    char path[512];       /* in the tree; "" when it is nowhere */
    bool found;           /* something has this path */
    char problem[400];    /* why the content cannot be used, a clause after the path; "": it can */
    struct bytes content; /* as committed, byte by byte */
};

struct repo_answer {
    enum repo_reason reason;
    char sentence[1000]; /* what is wrong, and what to try; "" for REPO_FINE */
    char state[41];      /* for known_state; "": read again next time, whatever happened */
    bool unchanged;      /* nothing below but `fetch_ns` and `attempts` is set */

    char ref[256];    /* "refs/heads/main", "refs/tags/submit/2", "HEAD"; "" if none was found */
    char commit[41];  /* "" if none was chosen */
    char chosen[300]; /* why this one, a clause: "the last commit on main at or before …" */
    int64_t unix_s;   /* when it was handed in, by `source` */
    enum repo_time_source source;
    int64_t commit_s;        /* the committer's date in any case */
    int32_t commit_offset_s; /* its offset, east of Greenwich */
    uint64_t later; /* commits (or tags, pushes) after the cut-off, which were passed over */

    uint32_t flags;                                   /* 1 << enum repo_flag */
    char flag_text[REPO_FLAG_COUNT][REPO_FLAG_BYTES]; /* a sentence each; "" where not flagged */
    struct repo_file files[REPO_FILES_MAX];           /* as wanted */

    uint64_t received_bytes, received_objects;
    unsigned attempts;
    int64_t fetch_ns; /* with waiting for the network and between attempts */
};

bool repo_answer_flagged(const struct repo_answer *answer, enum repo_flag flag);
/* The sentence, else the first problem of a file with its path, else "". Appended to *out. */
void repo_answer_describe(const struct repo_answer *answer, struct bytes *out);
void repo_answer_release(struct repo_answer *answer);

/* ---- Fetching -------------------------------------------------------------------------------- */

struct repo_options {
    const char *ssh_key;    /* private key file; NULL: the agent's, and ssh's own */
    const char *ssh_config; /* instead of ~/.ssh/config; NULL: that */
    int64_t silence_ns;     /* without a byte from the child; 0: LIMIT_REPO_SILENCE_SECONDS */
    int64_t wall_ns;        /* for one attempt as a whole; 0: LIMIT_REPO_SECONDS */
    unsigned attempts;      /* for what may pass; 0: LIMIT_REPO_ATTEMPTS */
    int64_t backoff_ns;     /* before the second attempt, doubled for each; 0: one second */
    uint64_t most_bytes;    /* 0: LIMIT_REPO_BYTES, for one fetch */
    uint64_t most_objects;  /* 0: LIMIT_REPO_OBJECTS, for one fetch */
};

struct repo_fetcher;

/* Starts the helper process. NULL with *err (infrastructure). `options` may be NULL; it is copied,
 * its texts are borrowed until the fetcher is closed. */
struct repo_fetcher *repo_fetcher_open(const struct repo_options *options, struct error *err);
void repo_fetcher_close(struct repo_fetcher *fetcher);

/* 0 with an answer to be released, of whatever reason; -1 with *err and an empty answer. */
int repo_fetch(struct repo_fetcher *fetcher, const struct repo_request *request,
               struct repo_answer *ret, struct error *err);

/* "FOLDER/repos/<hash of the repo's name>", owned by the caller; NULL when out of memory. The name
 * is repo_identity()'s: whoever works on one repo under two addresses waits at its lock. */
char *repo_cache_folder(const char *output_folder, const char *identity);

/* For programs that are not spillway itself (tests): the spillway that helpers are started from. */
void repo_fetcher_use(const char *program);

#endif

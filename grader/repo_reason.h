/* repo_reason.h - why a repo, or what it holds, cannot be graded: one reason a kind of trouble, so
 * that each has its own sentence and its own mend, and who has to act. */
#ifndef SPILLWAY_REPO_REASON_H
#define SPILLWAY_REPO_REASON_H

#include "base.h"

enum repo_reason {
    REPO_FINE = 0,
    /* For the student to mend */
    REPO_EMPTY,           /* not one commit */
    REPO_NO_REF,          /* the graded branch or tag is not there */
    REPO_NO_TAG,          /* no tag matches --tag */
    REPO_NOTHING_IN_TIME, /* no commit, push or tag at or before the cut-off */
    REPO_NO_COMMIT,       /* the ref names something else than a commit */
    REPO_NO_SOURCE,       /* the lab's source file is nowhere */
    REPO_SHALLOW,         /* the history is cut off before a commit in time */
    REPO_PARTIAL,         /* a partial clone: the files' bytes were never there */
    REPO_DAMAGED,         /* missing or corrupt objects */
    REPO_SHA256,          /* a repo of the other object format */
    REPO_FORMAT,          /* another extension that libgit2 does not know (reftable, …) */
    REPO_BORROWED,        /* objects or refs that lie in somebody else's repo */
    REPO_TOO_LARGE,       /* more bytes, objects or commits than caps.h has */
    /* For whoever keeps the roster, the server or this machine */
    REPO_NOT_FOUND,   /* no such repo, folder or server */
    REPO_NO_ACCESS,   /* it is there (or may be), but not for us */
    REPO_NOT_GIT,     /* something else than a git repo is there */
    REPO_OWNER,       /* a folder of another user, and nobody said that it is to be trusted */
    REPO_HOST_KEY,    /* the ssh server is not the one in known_hosts, or in none */
    REPO_CERTIFICATE, /* the https server cannot prove who it is */
    REPO_MOVED,       /* the server sends on to another host */
    REPO_NO_BRANCH,   /* publishing: the branch cannot be pushed */
    /* Likely to pass: worth another try */
    REPO_SILENT,  /* no word for too long, or too slow as a whole */
    REPO_NETWORK, /* unreachable, hung up, or too busy */
    REPO_CRASHED, /* the process that read the repo died */
    REPO_REASON_COUNT
};

enum repo_actor { REPO_NOBODY, REPO_STUDENT, REPO_INSTRUCTOR, REPO_TIME };

/* Who can mend it: the student, the instructor, or nobody needs to (--retry). */
enum repo_actor repo_reason_actor(enum repo_reason reason);

/* A word for tables and JSON: "not-found". Never NULL. */
const char *repo_reason_word(enum repo_reason reason);
bool repo_reason_parse(const char *word, enum repo_reason *ret) MUST_CHECK;

/* What to try, a sentence; "" for REPO_FINE. Borrowed. For what a student can mend, students read
 * it in their feedback, and instructors in the batch's lines. */
const char *repo_reason_mend(enum repo_reason reason);

#endif

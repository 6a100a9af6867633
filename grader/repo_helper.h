/* repo_helper.h - the process that forks one child for each step of each repo.
 *
 * It is this very program, exec'd as `spillway repo` with an almost empty environment: it has
 * libgit2 set up, reads nothing but tasks of ours, and so each child starts clean, in a fraction of
 * a millisecond, whatever the repo before it was. All of it is one process group, which dies with
 * the thread that started it, and which is killed as a whole when a child is silent or slow; the
 * next task starts another.
 *
 * For one thread at a time. */
#ifndef SPILLWAY_REPO_HELPER_H
#define SPILLWAY_REPO_HELPER_H

#include "bytes.h"
#include "errors.h"

struct repo_helper {
    pid_t pid;   /* 0: not running */
    int control; /* -1 when closed, like `said` */
    int said;    /* what it and its children print on standard error */
};

#define REPO_HELPER_NONE ((struct repo_helper){.control = -1, .said = -1})

enum repo_helper_end {
    REPO_HELPER_ANSWERED, /* the child ended by itself: *reply holds all that it said */
    REPO_HELPER_SILENT,   /* not a byte for too long: killed */
    REPO_HELPER_SLOW,     /* longer than allowed as a whole: killed */
    REPO_HELPER_FLOODED,  /* more bytes than any answer has: killed */
    REPO_HELPER_DIED,     /* `ending` says how */
};

struct repo_helper_run {
    struct bytes task; /* borrowed; starts with a struct repo_task */
    int descriptor;    /* goes along, and is closed here once it has; -1: none */
    int64_t silence_ns, wall_ns;
    size_t reply_limit;
    enum repo_helper_end end;
    struct bytes reply; /* without signs of life; owned by the caller */
    int signal;         /* REPO_HELPER_DIED: that ended it; 0: none */
    char ending[400];   /* REPO_HELPER_DIED: "was ended by signal 11 (…)", and what it printed */
};

/* Runs one task, starting the helper if need be. -1 with *err: it cannot be started, or the user
 * interrupted. Release run->reply after either result. */
int repo_helper_run(struct repo_helper *helper, struct repo_helper_run *run, struct error *err);

/* Starts the helper, if it does not run. */
int repo_helper_start(struct repo_helper *helper, struct error *err);

/* Kills the whole group and reaps it. Fine when nothing runs. */
void repo_helper_stop(struct repo_helper *helper);

/* Another spillway than the running program; NULL: that one. */
void repo_helper_use(const char *path);

#endif

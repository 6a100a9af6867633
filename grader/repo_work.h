/* repo_work.h - inside a repo's child: one task, what becomes its answer, and the steps.
 *
 * Each step fills work->reply and returns 0, also when the repo is no good: then the reply has a
 * reason. -1 with *err: this machine failed. Only these files and submission_git.c know libgit2. */
#ifndef SPILLWAY_REPO_WORK_H
#define SPILLWAY_REPO_WORK_H

#include <git2.h>

#include "repo_task.h"

struct repo_work {
    const struct repo_task *task;
    struct repo_task_parts parts;
    int ssh;     /* an ssh's input and output, -1: none */
    int answers; /* where signs of life go, -1: nowhere */
    int64_t said_life_ns;
    bool said_secret;  /* the credential was offered */
    bool sha256;       /* the server says so */
    char remarks[600]; /* what the server said about its progress, for messages */
    struct repo_reply reply;
    struct bytes payload;
    struct error *err; /* for repo_work_machine() */
};

/* The steps, by kind of task. */
int repo_work_copy(struct repo_work *work);     /* repo_copy.c */
int repo_work_download(struct repo_work *work); /* repo_download.c */
int repo_work_read(struct repo_work *work);     /* repo_read.c */
int repo_work_put(struct repo_work *work);      /* repo_push.c */
int repo_work_push(struct repo_work *work);     /* repo_push.c */

/* Options of libgit2 that hold for every step; once, before any task. */
void repo_work_set_up(void);

/* ---- Answers (repo_trouble.c) ---------------------------------------------------------------- */

/* The first reason stays. Returns 0. */
int repo_work_refuse(struct repo_work *work, enum repo_reason reason, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* This machine's trouble. Returns -1. */
int repo_work_machine(struct repo_work *work, const char *format, ...) PRINTF_LIKE(2, 3);
void repo_work_flag(struct repo_work *work, enum repo_flag flag, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* libgit2's last words, "" if none. */
const char *repo_git_words(void);
/* True when they say that the disk is full, or that something is larger than this child may have.
 */
bool repo_git_disk_full(void);
bool repo_git_too_large(void);
/* The refusal for it. Returns 0. */
int repo_work_too_large(struct repo_work *work);
/* The refusal of a tag that names tags for LIMIT_REPO_TAG_DEPTH steps. Returns 0. */
int repo_work_too_deep(struct repo_work *work, const char *tag);
/* What opening a local repo (or the cache) ended with. */
int repo_work_cannot_open(struct repo_work *work, int code);
/* What talking to a server ended with. */
int repo_work_cannot_talk(struct repo_work *work, int code);
/* Every second at most. */
void repo_work_sign_of_life(struct repo_work *work);

/* ---- Local paths (repo_survey.c, repo_copy.c) ------------------------------------------------ */

/* Looks at what libgit2 will open in a git folder, and at what it will copy from there: pipes,
 * devices, files of absurd size, links that lead out of the repo. False after a refusal. */
bool repo_survey(struct repo_work *work, const char *git_folder);
bool repo_survey_objects(struct repo_work *work, const char *git_folder);
/* The same of one ref. False: it cannot be opened, which is refused if it is `wanted`. */
bool repo_survey_ref(struct repo_work *work, const char *git_folder, const char *name, bool wanted);
/* Whether the configuration includes files from elsewhere: false after a refusal that names one. */
bool repo_survey_includes(struct repo_work *work, const char *git_folder);

/* Opens the task's address, if that is a whole repo by itself. NULL: the reply says why not. */
git_repository *repo_open_alone(struct repo_work *work);

/* ---- The cache (repo_store.c) ---------------------------------------------------------------- */

/* Opens it, or makes it. NULL: the work has the trouble, and `*status` is what to return. */
git_repository *repo_store_open(struct repo_work *work, int *status);
/* True when an earlier fetch ended with this tip, so that all that it needs is there. */
bool repo_store_has(git_repository *cache, const git_oid *tip);
/* Keeps `tip` for good, as what `name` is now, and the tip before it as lost, if it was rewritten.
 * Not `whole`: something that it needs is not there, and repo_store_has() stays false. */
int repo_store_keep(struct repo_work *work, git_repository *cache, const char *name,
                    const git_oid *tip, bool whole);
/* How many tips of `name` were rewritten since they were fetched. */
size_t repo_store_lost(git_repository *cache, const char *name);
/* Calls back for each tip that was ever kept. */
int repo_store_each(git_repository *cache, int (*each)(const git_oid *tip, void *context),
                    void *context);

/* ---- Refs (repo_refs.c) ---------------------------------------------------------------------- */

struct repo_listing {
    struct repo_listed {
        const char *name;   /* borrowed; never a peeled "…^{}" */
        const char *symref; /* borrowed; what it points to, NULL: nothing is known */
        git_oid id;
    } * items;
    size_t count;
    const char *head_target; /* where HEAD points, also if that is unborn; NULL: not known */
};

/* Finds the graded refs, writes them to the payload, and fills reply.ref, reply.state and
 * reply.unchanged; or refuses. `all_branches` becomes true when a commit is graded by its id, for
 * which every branch has to be there. */
int repo_refs_choose(struct repo_work *work, const struct repo_listing *listing,
                     bool *all_branches);

/* ---- Choosing (repo_pick.c) ------------------------------------------------------------------ */

/* Chooses the commit of the task's refs and fills the reply's part about it; or refuses. *ret is to
 * be freed by git_commit_free(). */
int repo_pick(struct repo_work *work, git_repository *cache, git_commit **ret);

/* Of a late hand-in (repo_same.c): *earlier is an earlier one with the same graded files, which is
 * what counts, and the reply is about that one; NULL: there is none. To be freed by
 * git_commit_free(). */
void repo_pick_same(struct repo_work *work, git_repository *cache, git_odb *odb,
                    const git_commit *chosen, git_commit **earlier);

/* The ids of the graded files in a tree, where repo_work_read() finds them (repo_read.c); zero
 * where there is none. False: there is no source, or something there is no file. */
struct repo_blobs {
    git_oid ids[REPO_FILES_MAX];
};
bool repo_blobs_of(struct repo_work *work, git_repository *cache, git_odb *odb, const git_oid *root,
                   struct repo_blobs *ret) MUST_CHECK;

/* The folders in which the task's file number `wanted` is looked for, in order, without slashes at
 * their ends. Returns how many. */
#define REPO_FOLDERS_MAX 4
size_t repo_folders(const struct repo_task *task, size_t wanted,
                    char folders[REPO_FOLDERS_MAX][600]);

/* Loads a commit unless it is larger than any sane one. 0, or libgit2's code. */
int repo_commit_lookup(git_commit **ret, git_repository *repository, const git_oid *id);

#endif

/* support_git.h - small git repositories for tests, made by libgit2: no git program is needed. */
#ifndef SPILLWAY_SUPPORT_GIT_H
#define SPILLWAY_SUPPORT_GIT_H

#include "testing.h"

struct git_file {
    const char *path;
    const char *data; /* the link's target for a link; unused for a nested repository */
    size_t length;    /* 0: strlen(data) */
    enum { GIT_FILE_PLAIN, GIT_FILE_LINK, GIT_FILE_NESTED } kind;
};

/* A new repository on branch main, without a commit. Also keeps libgit2 off the user's own
 * configuration. */
void support_git_init(const char *path, bool bare);

/* Commits exactly these files on main; writes no working tree. `id` (may be NULL) gets the hex id.
 */
void support_git_commit(const char *path, const struct git_file *files, size_t count, char id[48]);
/* The same, dated; the others are of SUPPORT_GIT_DATE. */
#define SUPPORT_GIT_DATE INT64_C(1700000000) /* 2023-11-14 22:13:20 UTC */
void support_git_commit_at(const char *path, const struct git_file *files, size_t count,
                           char id[48], int64_t unix_s);

/* An annotated tag of a revision. */
void support_git_tag(const char *path, const char *name, const char *revision);

/* Removes the object that `revision` ("HEAD:a/b", "HEAD^{tree}") names from the object store. */
void support_git_lose(const char *path, const char *revision);

#endif

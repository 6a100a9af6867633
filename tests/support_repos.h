/* support_repos.h - repos for tests, made by the git program as students make them, and fetched as
 * a batch fetches them. */
#ifndef SPILLWAY_SUPPORT_REPOS_H
#define SPILLWAY_SUPPORT_REPOS_H

#include "testing.h"

#include "repo_fetch.h"

#define REPOS_SOURCE "registers.cu"
#define REPOS_LAB "day17-registers"
#define REPOS_NOW INT64_C(1780000000) /* 2026-05-28 20:26:40 UTC */

/* False where there is no git program: tests call TEST_SKIP("no git"). */
bool repos_have_git(void);

/* A path below the suite's temporary folder; a few at a time are kept. */
const char *repos_in(const char *name);

/* Runs git in `folder` with the arguments up to NULL, at `date` (NULL: 2026-01-01 12:00 UTC), with
 * no configuration but its own. Aborts the test when it fails. */
void repos_git(const char *folder, const char *date, ...) __attribute__((sentinel));
/* The same, but it may fail; `output` (may be NULL) gets what it printed. */
bool repos_try_git(const char *folder, const char *date, struct bytes *output, ...)
    __attribute__((sentinel));
/* The id of a revision. */
void repos_id(const char *folder, const char *revision, char into[41]);

/* A new folder with `git init` on branch main, without a commit. */
void repos_init(const char *folder);
/* Writes a file of the working tree, with the folders above it, and commits everything. */
void repos_commit(const char *folder, const char *name, const char *content, const char *date);

/* A new repo as it should be: the source "first\n" and answers.ini, two commits. */
void repos_plain(const char *folder);

/* One fetch of `address` into a cache named after it. The request is complete but for what a test
 * changes: the lab's source and answers.ini, no cut-off. */
struct repo_request repos_request(const char *address);
struct repo_answer repos_fetch(const struct repo_request *request);
/* The same with options of the test's own. */
struct repo_answer repos_fetch_with(const struct repo_request *request,
                                    const struct repo_options *options);

/* The sentence, or the first file's problem. Kept until the next call. */
const char *repos_words(const struct repo_answer *answer);

#endif

/* repo_pick.h - what choosing by branch, push and tag have in common. */
#ifndef SPILLWAY_REPO_PICK_H
#define SPILLWAY_REPO_PICK_H

#include "repo_work.h"

/* A date and an offset (git's minutes, our seconds) brought into the range that a reply may have.
 */
int64_t repo_pick_time(int64_t unix_s);
int32_t repo_pick_offset(int minutes);
/* The committer's date. */
int64_t repo_pick_date_of(const git_commit *commit);

/* "2026-03-01 22:10:05 +01:00". Returns `into`. */
#define REPO_DATE_BYTES 48
const char *repo_pick_date(char into[REPO_DATE_BYTES], int64_t unix_s, int32_t offset_s);
/* The cut-off as the task has it in words, else as a date. */
const char *repo_pick_cutoff(char into[REPO_DATE_BYTES], const struct repo_task *task);

/* "main" of "refs/heads/main". */
const char *repo_pick_short_name(const char *ref);

/* Sets reply.chosen. */
void repo_pick_because(struct repo_work *work, const char *format, ...) PRINTF_LIKE(2, 3);
/* Sets what is known of a commit whoever chose it. */
void repo_pick_take(struct repo_work *work, git_commit *commit);
/* Flags a date that is still to come. */
void repo_pick_look_at_future(struct repo_work *work, const git_oid *id, int64_t unix_s);

/* Of the task's refs, which are tags. *ret stays NULL after a refusal. */
int repo_pick_tag(struct repo_work *work, git_repository *cache, git_commit **ret);
/* Calls back for each tag of the task older than the chosen one, the newest first, until `offer`
 * returns false. */
void repo_pick_earlier_tags(struct repo_work *work, git_repository *cache,
                            bool (*offer)(void *context, git_commit *commit, int64_t unix_s,
                                          const char *ref),
                            void *context);

/* True for the tip, what leads to it, and tips that the cache has kept. */
bool repo_pick_is_on_ref(git_repository *cache, const git_commit *tip, const git_oid *id);

#endif

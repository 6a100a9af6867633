/* repo_talk.h - a connection to a server, through libgit2, for fetching and for pushing. */
#ifndef SPILLWAY_REPO_TALK_H
#define SPILLWAY_REPO_TALK_H

#include "repo_work.h"

/* Before 1.4, libgit2 never follows a server to another host and has no option for it. */
#if LIBGIT2_VER_MAJOR > 1 || LIBGIT2_VER_MINOR >= 4
#define REPO_TALK_REDIRECTS(work)                                                                  \
    ((work)->task->redirects ? GIT_REMOTE_REDIRECT_INITIAL : GIT_REMOTE_REDIRECT_NONE)
#endif

/* Connects `remote` (of a repository, or anonymous) to fetch or to push. Returns libgit2's code;
 * repo_work_cannot_talk() explains it. */
int repo_talk_connect(struct repo_work *work, git_remote *remote, git_direction direction);

/* The callbacks of such a connection, for the calls that take them again. */
git_remote_callbacks repo_talk_callbacks(struct repo_work *work);

/* The transport of such a connection, for git_remote_callbacks.transport (repo_wire.c); `work` is a
 * struct repo_work. Sets reply.traits and work->sha256 by what the server lists. */
int repo_wire_transport(git_transport **ret, git_remote *owner, void *work);

/* What the remote lists, peeled entries left out. The items are owned by the caller (free()), what
 * they point to by the remote. -1: out of memory; 1: libgit2 has the trouble. */
int repo_talk_list(git_remote *remote, struct repo_listing *ret);

#endif

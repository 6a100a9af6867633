/* repo_identity.h - whether two addresses are one repo: students who share one are told by that,
 * and so is whose a row of a push log is.
 *
 * Two addresses are the same where they differ in what does not lead elsewhere:
 *   folders   "/./", "//", a slash or /.git at the end, file://, and, of folders that exist,
 *             symbolic links and ".."
 *   servers   https or ssh, the user git, the kind's own port, upper case in the host's name (and
 *             in the path, where the host has no two repos that differ by it), a slash or .git at
 *             the end
 * ".." of a path that does not exist stays: behind a link it leads elsewhere. */
#ifndef SPILLWAY_REPO_IDENTITY_H
#define SPILLWAY_REPO_IDENTITY_H

#include "base.h"

/* Equal for addresses of the same repo. Relative paths start from `folder`. An address that is none
 * (repo_url.h) is equal to itself. Owned by the caller; NULL: no memory. */
char *repo_identity(const char *address, const char *folder);

/* What to open: an absolute path without what does not lead anywhere, or the URL as it is. Owned by
 * the caller; NULL: no memory. */
char *repo_location(const char *address, const char *folder);

#endif

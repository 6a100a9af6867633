/* disk.h - why nothing can be written in a folder, in words for who has to mend it: the disk is
 * full, a quota is used up, the file system can only be read, or the folder is somebody else's. */
#ifndef SPILLWAY_DISK_H
#define SPILLWAY_DISK_H

#include "errors.h"

/* True for codes of errno that say so, and are mended outside of the program. */
bool disk_explains(int code);

/* Fills *err (infrastructure): which folder it is, why that keeps `what` (a clause, "the gradebook
 * cannot grow") from being so, and what to do before the same command is given again. `path` is the
 * file in that folder; any other code is named as the system names it. Returns -1. */
int disk_fail(struct error *err, const char *path, const char *what, int code);

/* Asks the folder of `path` by writing a few pages there, which are gone afterwards: 0, or errno.
 * For libraries that lose the reason on the way. */
int disk_probe(const char *path);

#endif

/* watch.h - wait until one of a few files was saved, by whatever way an editor saves.
 *
 * Folders are watched, not files: an editor that writes a new file and renames it over the old one
 * leaves a watched file behind. What counts in the end is whether a file is another one than before
 * (inode, size, times): an event alone, or one for a neighbour, wakes nobody. Where a file system
 * reports nothing (network, shared folders), the files are looked at once a second. */
#ifndef SPILLWAY_WATCH_H
#define SPILLWAY_WATCH_H

#include <sys/types.h>
#include <time.h>

#include "errors.h"

#define WATCH_FILES_MAX 4

struct watch_stamp { /* how one file is told from the next; all zero: there is none */
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec modified, changed;
};

struct watch {
    int fd; /* inotify; -1: none, and the files are only looked at once a second */
    char *paths[WATCH_FILES_MAX]; /* owned */
    struct watch_stamp stamps[WATCH_FILES_MAX];
    size_t count;
};

void watch_open(struct watch *out);
void watch_close(struct watch *watch);

/* Watches `path`, which need not exist; its folder must. -1 with *err. */
int watch_add(struct watch *watch, const char *path, struct error *err);

/* Has one of the files become another since the last watch_wait()? Does not wait. */
bool watch_changed(const struct watch *watch);

/* The files as they are now. Who finds that they hold what they held copies that to
 * watch->stamps. */
void watch_look(const struct watch *watch, struct watch_stamp stamps[WATCH_FILES_MAX]);

/* Returns once a file is another than before and its writer has closed it, or moved it to its
 * place; where that is not heard, once nothing was written for a moment. *noticed_ns: when the
 * first change was noticed. -1 with *err: interrupted. */
int watch_wait(struct watch *watch, int64_t *noticed_ns, struct error *err);

#endif

/* files.h - reading, writing and making temporary folders, with caps and without surprises. */
#ifndef SPILLWAY_FILES_H
#define SPILLWAY_FILES_H

#include "bytes.h"
#include "errors.h"

enum file_status {
    FILE_READ = 0,
    FILE_MISSING,     /* no such path */
    FILE_NOT_REGULAR, /* a directory, device, socket, FIFO, or (when refused) a symbolic link */
    FILE_TOO_LARGE,   /* more than the limit */
    FILE_UNREADABLE,  /* permission, I/O error: errno says which */
};

/* Reads a regular file of at most `limit` bytes into *out (initialised here; release it).
 * Opens without blocking, so a FIFO cannot hang us, and never follows a final symbolic link unless
 * `follow` is set. Anything but FILE_READ leaves *out empty. */
enum file_status file_read(struct bytes *out, const char *path, size_t limit, bool follow);

/* The same for `name` below `folder`: no component of `name` may be a symbolic link or lead out of
 * the folder (FILE_NOT_REGULAR). The folder itself is taken as it is. */
enum file_status file_read_beneath(struct bytes *out, const char *folder, const char *name,
                                   size_t limit);

/* The same from an open descriptor or standard input, which may be a pipe. */
enum file_status file_read_fd(struct bytes *out, int fd, size_t limit);

/* "missing", "not a regular file", …: for messages. errno is consulted for FILE_UNREADABLE. */
const char *file_status_text(enum file_status status);

/* Writes to a temporary file beside the target, syncs, renames over it: a reader sees the old file
 * or the new one, and a full disk leaves the old. A file that is there keeps its permissions; a
 * symbolic link is replaced, not followed (but those of /dev and /proc: /dev/stdout, /dev/fd/3).
 * Devices and FIFOs are written to. "-" is standard output. */
int file_write(const char *path, const void *data, size_t length, struct error *err);

/* Writes a file of a temporary folder of ours: in place, without syncing, and never through a
 * symbolic link, since a compiler that a stranger's source got hold of may have made one. */
int file_write_scratch(const char *path, const void *data, size_t length, struct error *err);

/* Sees to it that `path` is a file of ours (0600) that holds these bytes, written as file_write()
 * does. One that holds them already is left alone: *written says which. A symbolic link is
 * replaced. The name outlives a power cut only after folder_sync(). */
int file_keep_private(const char *path, const void *data, size_t length, bool *written,
                      struct error *err);

/* Makes a folder that only we can read (0700), or makes one that is there so. The folder above it
 * must be there, and holds the name for good after folder_sync(); a symbolic link is refused. */
int folder_make_private(const char *path, struct error *err);

/* The names in a folder are on the disk when this returns. */
int folder_sync(const char *path, struct error *err);

/* A private folder (0700) under $TMPDIR or /tmp. Returns its path, owned by the caller. */
char *temporary_folder_create(struct error *err);

/* Removes the folder and all below it without following links, and frees the path. NULL is fine. */
void temporary_folder_remove(char *path);

/* After a failure to look at a path: is nothing there, or nothing that this user can reach? Any
 * other trouble (EIO, ENOMEM) says neither. */
bool file_is_absent(int error);

/* The first program called `name` on the PATH, an absolute path owned by the caller; NULL if none,
 * with ENOENT in errno, or another code when that cannot be told. */
char *program_find(const char *name);

/* Makes the folder and those above it, private (0700), as far as they are missing. */
int folders_make(const char *whole, struct error *err);

/* "directory/name", owned by the caller; NULL when out of memory. */
char *path_join(const char *directory, const char *name);

/* Takes "//", "/./" and slashes at the end out of a path, in place: it leads where it did. Nothing
 * left becomes "." or "/". */
void path_shorten(char *path);

/* The folder for what Spillway remembers between runs: $SPILLWAY_CACHE, else
 * $XDG_CACHE_HOME/spillway, else $HOME/.cache/spillway. Made if missing. Owned by the caller. */
char *cache_folder(struct error *err);

#endif

/* repository.h - a bare git repository for fuzz targets: objects of any content, damaged trees too.
 *
 * It lies in a temporary folder that is removed at exit. What cannot be done aborts. */
#ifndef SPILLWAY_FUZZ_REPOSITORY_H
#define SPILLWAY_FUZZ_REPOSITORY_H

#include <git2.h>

#include "base.h"

const char *repository_folder(void);

/* Writes an object, whatever it holds; `id` gets its raw id. */
void repository_put(uint8_t id[20], const void *data, size_t length, git_object_t type);

/* Writes a file, a tree three levels deep and a commit of it, whose id `hex` gets, out of an input:
 * a length and the file; with `headers`, a length and what stands behind the commit's tree; the
 * tree. In that, twenty F stand for the id of the file and twenty T for the tree's own. */
void repository_put_all(char *hex, const uint8_t *data, size_t length, bool headers);

/* Removes every object that was put since the last call. */
void repository_forget(void);

#endif

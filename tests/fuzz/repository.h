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

/* Writes a commit of this tree; `hex` gets its id. */
void repository_commit(char hex[41], const uint8_t tree[20]);

/* Removes every object that was put since the last call. */
void repository_forget(void);

#endif

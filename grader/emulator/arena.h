/* arena.h - memory that is given back all at once: a parsed module, a lowered kernel. */
#ifndef SPILLWAY_EMULATOR_ARENA_H
#define SPILLWAY_EMULATOR_ARENA_H

#include "base.h"

struct arena_chunk;

struct arena { /* a zero struct is a valid empty arena */
    struct arena_chunk *chunks;
    size_t total_bytes, limit_bytes; /* limit 0: CAP_ARENA_BYTES */
};

/* Zeroed memory, aligned for anything; NULL when memory is short or the limit is reached. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* `count` elements, checked against overflow. */
void *arena_array(struct arena *arena, size_t count, size_t element_bytes);

/* A NUL-terminated copy. */
char *arena_text(struct arena *arena, const char *text, size_t length);

void arena_release(struct arena *arena);

/* Grows an array that lives in the arena by doubling: makes room for one more element after `count`
 * of them. Returns the array (moved if need be), or NULL. *capacity is kept up to date. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity,
                 size_t element_bytes);

#endif

/* arena.c - see arena.h. */
#include "emulator/arena.h"

#include <stdalign.h>

#include "emulator/caps.h"

#define CHUNK_BYTES ((size_t)64 << 10)

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, bytes;
    alignas(max_align_t) char data[];
};

void *arena_alloc(struct arena *arena, size_t bytes)
{
    const size_t limit = arena->limit_bytes != 0 ? arena->limit_bytes : CAP_ARENA_BYTES;
    if (bytes > limit)
        return NULL;
    bytes = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->bytes - chunk->used < bytes) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        if (arena->total_bytes > limit - room && arena->total_bytes + room > limit)
            return NULL;
        chunk = calloc(1, sizeof *chunk + room);
        if (chunk == NULL)
            return NULL;
        chunk->bytes = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->total_bytes += room;
    }
    void *memory = chunk->data + chunk->used;
    chunk->used += bytes;
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t element_bytes)
{
    if (element_bytes != 0 && count > SIZE_MAX / 2 / element_bytes)
        return NULL;
    return arena_alloc(arena, count * element_bytes);
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity,
                 size_t element_bytes)
{
    if (count < *capacity)
        return array;
    size_t more = *capacity == 0 ? 8 : *capacity * 2;
    void *moved = arena_array(arena, more, element_bytes);
    if (moved == NULL)
        return NULL;
    if (count > 0)
        memcpy(moved, array, count * element_bytes);
    *capacity = more;
    return moved;
}

void arena_release(struct arena *arena)
{
    while (arena->chunks != NULL) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    arena->total_bytes = 0;
}

/* bytes.h - a growing byte buffer with a hard maximum, always NUL-terminated once it holds data.
 *
 * Life cycle: `struct bytes b = bytes_with_limit(max);`, append, read b.data / b.length,
 * bytes_release(&b). A zero struct is a valid empty buffer with no room at all.
 * Once an append fails (no memory, or the limit would be passed) `failed` stays set and later
 * appends do nothing, so a writer may append freely and test once at the end. */
#ifndef SPILLWAY_BYTES_H
#define SPILLWAY_BYTES_H

#include "base.h"

#include <stdarg.h>

struct bytes {
    char *data;      /* owned; NULL while nothing was appended */
    size_t length;   /* bytes in use, without the final NUL */
    size_t capacity; /* bytes allocated */
    size_t limit;    /* most bytes that length may reach */
    bool failed;     /* an append was refused: data holds what came before it */
};

struct bytes bytes_with_limit(size_t limit);
/* A buffer in an array of the caller's, for up to size - 1 bytes: it never allocates, and must not
 * be released. The array is NUL-terminated at all times. */
struct bytes bytes_in(char *array, size_t size);
void bytes_release(struct bytes *b);
void bytes_clear(struct bytes *b); /* forgets the content, keeps the memory and the limit */

/* Each returns 0, or -1 after setting `failed`. */
int bytes_append(struct bytes *b, const void *data, size_t length);
int bytes_append_text(struct bytes *b, const char *text);
int bytes_printf(struct bytes *b, const char *format, ...) PRINTF_LIKE(2, 3);
int bytes_vprintf(struct bytes *b, const char *format, va_list arguments) PRINTF_LIKE(2, 0);

/* Makes room for `more` further bytes without changing the content. */
int bytes_reserve(struct bytes *b, size_t more);

/* The content as a string: never NULL, "" when empty. Borrowed until the next append. */
const char *bytes_text(const struct bytes *b);

/* Hands the memory to the caller (free() it) and leaves the buffer empty. NULL if `failed`. */
char *bytes_take(struct bytes *b);

#endif

/* base.h - included first by every C file of the grader: the language extensions we rely on,
 * scope-exit clean-up, and a ban on libc calls that have no safe use.
 *
 * Nothing here allocates or fails. The attributes exist in gcc and clang alike. */
#ifndef SPILLWAY_BASE_H
#define SPILLWAY_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRINTF_LIKE(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))
#define MUST_CHECK __attribute__((warn_unused_result))

/* Number of elements of an array (never of a pointer). */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* `AUTO_FREE char *p = …` frees p when the scope ends; `AUTO_CLOSE int fd = …` closes fd if >= 0.
 * Hand ownership to a caller with steal_pointer(&p) or steal_fd(&fd). */
#define AUTO_FREE __attribute__((cleanup(base_free_slot)))
#define AUTO_CLOSE __attribute__((cleanup(base_close_slot)))

static inline void base_free_slot(void *slot)
{
    void *owned = NULL;
    memcpy(&owned, slot, sizeof owned);
    free(owned);
}

static inline void base_close_slot(const int *slot)
{
    if (*slot >= 0)
        (void)close(*slot);
}

#define steal_pointer(slot)                                                                        \
    __extension__({                                                                                \
        __typeof__(*(slot)) stolen_ = *(slot);                                                     \
        *(slot) = NULL;                                                                            \
        stolen_;                                                                                   \
    })

static inline int steal_fd(int *slot)
{
    int fd = *slot;
    *slot = -1;
    return fd;
}

/* Calls whose result cannot be checked or bounded. Use number.h, bytes.h and process.h instead. */
#ifndef __clang__ /* some of these are macros there, which it will not poison */
#pragma GCC poison atoi atol atoll atof strcpy strcat sprintf vsprintf gets strtok system popen    \
    tmpnam
#endif

#endif

/* slice.h - a piece of somebody else's bytes: borrowed, not terminated, possibly empty.
 *
 * Nothing here allocates or fails; an empty slice may have a NULL text. */
#ifndef SPILLWAY_SLICE_H
#define SPILLWAY_SLICE_H

#include "base.h"

struct slice {
    const char *text;
    size_t length;
};

static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

/* memcmp() order, a beginning before what it begins. */
static inline int slice_compare(struct slice a, struct slice b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common == 0 ? 0 : memcmp(a.text, b.text, common);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* All but the first `count` bytes; count <= length. */
static inline struct slice slice_from(struct slice s, size_t count)
{
    return (struct slice){count == 0 ? s.text : s.text + count, s.length - count};
}

/* What lies before `end`, a pointer into the slice. */
static inline struct slice slice_to(struct slice s, const char *end)
{
    return (struct slice){s.text, (size_t)(end - s.text)};
}

static inline bool slice_is_blank_at(struct slice s, size_t at)
{
    return at < s.length && (s.text[at] == ' ' || s.text[at] == '\t');
}

static inline bool slice_is_digit_at(struct slice s, size_t at)
{
    return at < s.length && s.text[at] >= '0' && s.text[at] <= '9';
}

static inline bool slice_is_char_at(struct slice s, size_t at, char c)
{
    return at < s.length && s.text[at] == c;
}

/* Number of digits at the front. */
static inline size_t slice_digits(struct slice s)
{
    size_t count = 0;
    while (slice_is_digit_at(s, count))
        ++count;
    return count;
}

/* Without blanks and tabs at either end. */
static inline struct slice slice_trim(struct slice s)
{
    while (slice_is_blank_at(s, 0))
        s = slice_from(s, 1);
    while (s.length > 0 && slice_is_blank_at(s, s.length - 1))
        --s.length;
    return s;
}

static inline bool slice_is(struct slice s, const char *text)
{
    return s.length == strlen(text) && (s.length == 0 || memcmp(s.text, text, s.length) == 0);
}

static inline bool slice_starts_with(struct slice s, const char *text)
{
    size_t length = strlen(text);
    return s.length >= length && (length == 0 || memcmp(s.text, text, length) == 0);
}

/* True when the slice is a beginning of `text`, and not all of it. */
static inline bool slice_begins(struct slice s, const char *text)
{
    return s.length < strlen(text) && (s.length == 0 || memcmp(s.text, text, s.length) == 0);
}

/* First and last place of a text that is not empty, or NULL. */
static inline const char *slice_find(struct slice s, const char *text)
{
    return s.length == 0 ? NULL : memmem(s.text, s.length, text, strlen(text));
}

static inline const char *slice_find_last(struct slice s, const char *text)
{
    size_t length = strlen(text);
    for (size_t end = s.length; end >= length && end > 0; --end)
        if (memcmp(s.text + end - length, text, length) == 0)
            return s.text + end - length;
    return NULL;
}

static inline const char *slice_find_char(struct slice s, char c)
{
    return s.length == 0 ? NULL : memchr(s.text, c, s.length);
}

#endif

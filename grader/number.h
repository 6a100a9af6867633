/* number.h - text to integer, checked. The only place where digits become numbers.
 *
 * Each function accepts the whole string or nothing: no leading or trailing blanks, no sign unless
 * said, no overflow. On failure *ret is untouched. */
#ifndef SPILLWAY_NUMBER_H
#define SPILLWAY_NUMBER_H

#include "base.h"

/* Decimal digits, or 0x followed by hex digits; at most `max`. */
bool number_parse_u64(const char *text, uint64_t max, uint64_t *ret) MUST_CHECK;

/* The same over `length` bytes that need no NUL. */
bool number_parse_u64_bytes(const char *text, size_t length, uint64_t max,
                            uint64_t *ret) MUST_CHECK;

/* An optional '-' and digits as above, within [min, max]. */
bool number_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret) MUST_CHECK;

#endif

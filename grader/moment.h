/* moment.h - a point in time that knows its time zone.
 *
 * Zones are names of the IANA database, which libc reads; what it says of a zone is copied once
 * into a table of offsets (zone_find()), and everything else is arithmetic on that table. libc's
 * own conversions depend on the environment variable TZ, which threads share: zone_find() is the
 * one place that sets it, under a lock, for a moment, and puts it back. Call it while the program
 * has one thread, as when options and rosters are read; all else here may be called from any
 * thread.
 *
 * Twice a year local time jumps. In a gap (02:30 when the clock goes from 02:00 to 03:00) a time
 * does not exist: it is read with the offset before the jump, and so is as many minutes after the
 * jump as it is after the gap's beginning. In an overlap a time exists twice: the later one is
 * meant, in favour of whoever has a deadline. Both are said (moment_parse()'s `note`). */
#ifndef SPILLWAY_MOMENT_H
#define SPILLWAY_MOMENT_H

#include "errors.h"

/* One zone, made once, shared and never freed. */
struct zone;

struct moment {
    int64_t unix_s;          /* seconds since 1970-01-01T00:00:00Z */
    const struct zone *zone; /* NULL: a fixed offset */
    int32_t offset_s;        /* zone NULL: east of Greenwich, in seconds; else 0 */
};

#define MOMENT_PROBLEM_BYTES 400
#define MOMENT_TEXT_BYTES 128

/* `Europe/Berlin`, `UTC`, …. NULL with `problem`: no such zone, an abbreviation such as EST (it
 * means other hours elsewhere and in summer), or a machine without the database. */
const struct zone *zone_find(const char *name, char problem[MOMENT_PROBLEM_BYTES]);
const char *zone_name(const struct zone *zone);

/* Reads a time:
 *   RFC 3339             2026-03-29T23:59:00+02:00, also with a blank for the T, without seconds
 *   with a zone          2026-03-29 23:59 Europe/Berlin
 *   with none            2026-03-29 23:59, if `zone` is not NULL
 *   seconds since 1970   @1774821540
 * A day without a time is refused: nobody knows whether its beginning or its end was meant. Returns
 * false with `problem`: what is wrong, in words. `note` is "" or says which reading of a gap or an
 * overlap was taken. Fractions of a second are dropped. */
bool moment_parse(struct moment *ret, const char *text, const struct zone *zone,
                  char problem[MOMENT_PROBLEM_BYTES], char note[MOMENT_PROBLEM_BYTES]) MUST_CHECK;

/* Seconds since 1970 as seen in `zone` (NULL: UTC). */
struct moment moment_at(int64_t unix_s, const struct zone *zone);
/* The same with a fixed offset, as git records it. */
struct moment moment_at_offset(int64_t unix_s, int32_t offset_s);
struct moment moment_now(const struct zone *zone);

/* So many seconds later (or, negative, earlier), in the same zone. */
struct moment moment_plus(struct moment moment, int64_t seconds);
/* So many days later at the same time of day: 23 or 25 hours where the clock jumps. */
struct moment moment_plus_days(struct moment moment, int64_t days);

/* "2026-03-29 23:59 +02:00 (Europe/Berlin)", with seconds where they are not 0; moment_parse()
 * understands it. Returns `into`. */
const char *moment_text(struct moment moment, char into[MOMENT_TEXT_BYTES]);
/* "2026-03-29T23:59:00+02:00". Returns `into`. */
const char *moment_rfc3339(struct moment moment, char into[MOMENT_TEXT_BYTES]);

/* Its offset, east of Greenwich, in seconds. */
int32_t moment_offset(struct moment moment);

/* "2 days 3 h 10 min", "26 h 10 min", "40 s": hours up to two days, seconds only below an hour.
 * Rounded down, so that "0 min" stands for less than a minute. Returns `into`. */
const char *moment_duration(int64_t seconds, char into[MOMENT_TEXT_BYTES]);

#endif

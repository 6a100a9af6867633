/* zone.h - what the IANA database says of one zone, as a table: used by moment.c alone.
 *
 * libc is asked once, day by day from 1970 to 2100, and each change is found to the second; before
 * and after that the first and the last offset go on. */
#ifndef SPILLWAY_ZONE_H
#define SPILLWAY_ZONE_H

#include "moment.h"

struct zone_change {
    int64_t unix_s;   /* from here on */
    int32_t offset_s; /* this offset holds */
};

struct zone {
    char name[64];
    struct zone_change *changes; /* the first at INT64_MIN */
    size_t change_count;
};

/* The change that holds at a time. */
const struct zone_change *zone_change_at(const struct zone *zone, int64_t unix_s);

#endif

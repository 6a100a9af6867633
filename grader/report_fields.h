/* report_fields.h - the numbers of one statistics line. Internal to report*.c.
 *
 * The list is read item by item, in any order and with any items missing: "Used 24 registers, used
 * 1 barriers, 8 bytes cumulative stack size, 4+16 bytes smem, 376 bytes cmem[0], 2 textures". */
#ifndef SPILLWAY_REPORT_FIELDS_H
#define SPILLWAY_REPORT_FIELDS_H

#include "report_line.h"

/* REPORT_ABSENT where the log did not say. */
struct report_numbers {
    int64_t registers, barriers;
    int64_t stack_bytes, cumulative_stack_bytes, spill_store_bytes, spill_load_bytes;
    int64_t shared_bytes, local_bytes;
};

void report_numbers_init(struct report_numbers *numbers);

enum { REPORT_BANKS_MAX = 32 }; /* ptxas knows 18 */

struct report_banks {
    struct report_bank banks[REPORT_BANKS_MAX]; /* ascending by number */
    size_t count;
};

/* Adds the items of the list to *numbers and *banks. False when an item is cut, out of range, or
 * contradicts one that was read before; the other items are taken all the same. Words that are not
 * known are passed over, so that a newer compiler may say more. */
bool report_fields_read(struct slice list, struct report_numbers *numbers,
                        struct report_banks *banks);

#endif

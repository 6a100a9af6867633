/* numbers_pack.h - the outcome of a run as bytes, without the outputs: for runs in which every
 * launch ended, and whatever was called equal is so bit by bit, so that the reference's outputs can
 * stand for the kernel's.
 *
 * What such an outcome says about lines of the source, it says by number (line_map_of_ptx()): so it
 * can be read back for the same code on other lines. A sentence that may name a line in another way
 * than the emulator's "(file:line)" cannot be packed. */
#ifndef SPILLWAY_NUMBERS_PACK_H
#define SPILLWAY_NUMBERS_PACK_H

#include "line_map.h"
#include "numbers.h"
#include "pack.h"

enum numbers_packing {
    NUMBERS_NOT_PACKED,
    NUMBERS_NAME_LINES, /* of the source or the PTX: holds with the numbers of the PTX's lines */
    NUMBERS_NAME_NONE,  /* holds whatever the lines are */
};

/* `map`: of the PTX that ran; NULL: not known. */
enum numbers_packing numbers_can_pack(const struct numbers_result *result,
                                      const struct numbers *numbers, const struct line_map *map);
void numbers_pack(struct bytes *out, const struct numbers_result *result,
                  const struct numbers *numbers, const struct line_map *map);

/* `map`: of the PTX that the result is to stand for. False, and *ret is empty, when the bytes are
 * no such result for these numbers and lines. The result borrows the numbers. */
bool numbers_unpack(struct numbers_result *ret, const struct numbers *numbers,
                    const struct line_map *map, struct unpack *from);

#endif

/* numbers_pack.h - the outcome of a run as bytes, without the outputs: for runs in which every
 * launch finished and there is nothing to say that names a source line. */
#ifndef SPILLWAY_NUMBERS_PACK_H
#define SPILLWAY_NUMBERS_PACK_H

#include "numbers.h"
#include "pack.h"

/* Every case was launched and finished, without a remark or a printed word, and what is called
 * equal is so bit by bit: then the reference's outputs can stand for the kernel's. */
bool numbers_can_pack(const struct numbers_result *result, const struct numbers *numbers);
void numbers_pack(struct bytes *out, const struct numbers_result *result);

/* False, and *ret is empty, when the bytes are no such result for these numbers. The result borrows
 * the numbers. */
bool numbers_unpack(struct numbers_result *ret, const struct numbers *numbers, struct unpack *from);

#endif

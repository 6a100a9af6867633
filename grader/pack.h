/* pack.h - a few numbers and byte strings as one string of bytes, and back: what caches and shards
 * keep in files.
 *
 * Fields have no names: both sides agree on their order, and a version in the key or the header of
 * the file says which order that is. Numbers are little endian. The reader trusts nothing: a field
 * that is not there, or too long, sets `failed`, and every later field is empty or 0. */
#ifndef SPILLWAY_PACK_H
#define SPILLWAY_PACK_H

#include "bytes.h"
#include "slice.h"

/* Appending; trouble is in out->failed. */
void pack_number(struct bytes *out, uint64_t number);
void pack_signed(struct bytes *out, int64_t number);
void pack_double(struct bytes *out, double number); /* its bits */
void pack_bytes(struct bytes *out, const void *data, size_t length);
void pack_text(struct bytes *out, const char *text); /* NULL stays NULL */

struct unpack {
    struct slice rest; /* borrowed: what is still to be read */
    bool failed;
};

struct unpack unpack_from(const void *data, size_t length);
uint64_t unpack_number(struct unpack *from);
/* A number that is at most `most`, or 0 and failed. */
uint64_t unpack_below(struct unpack *from, uint64_t most);
int64_t unpack_signed(struct unpack *from);
double unpack_double(struct unpack *from);
struct slice unpack_bytes(struct unpack *from); /* borrowed */
/* An owned copy; NULL for NULL, and when it failed. */
char *unpack_text(struct unpack *from);
/* Into an array of `size` bytes, which it must fit. */
void unpack_text_into(struct unpack *from, char *into, size_t size);
/* Everything was there, and nothing is left over. */
bool unpack_done(const struct unpack *from);

#endif

/* values.h - values of PTX types as text: what `spillway emulate --arg` takes and prints. */
#ifndef SPILLWAY_EMULATOR_VALUES_H
#define SPILLWAY_EMULATOR_VALUES_H

#include "bytes.h"
#include "emulator/ptx_types.h"

/* True for the types that a value can have: everything but predicates and references. */
bool value_has_text(enum ptx_type type);

/* Reads one value (at most 128 characters) into *ret, little endian, ptx_type_bytes() long.
 * Integers are decimal (negative for signed and untyped ones) or 0x…; floating-point types take
 * decimal numbers, inf, nan, and bit patterns as 0x…, 0f… or 0d…. Out of range is false, too. */
bool value_parse(enum ptx_type type, const char *text, size_t length, void *ret) MUST_CHECK;

/* Appends the value: integers in decimal (untyped and packed ones in hex beyond 64 bits), floats as
 * the shortest decimal that reads back to the same bits, a NaN as nan(0x7fffffff). */
void value_print(struct bytes *out, enum ptx_type type, const void *value);

#endif

/* text.h - bytes from outside made fit for a terminal, a log or a document. */
#ifndef SPILLWAY_TEXT_H
#define SPILLWAY_TEXT_H

#include "bytes.h"

/* True when the bytes are well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates). */
bool text_is_utf8(const char *text, size_t length);

/* Appends a printable copy of at most `room` bytes to *out: control bytes (C0 but newline and tab,
 * DEL, C1, bidirectional overrides) and invalid UTF-8 become '?', and a copy that was cut ends with
 * "…". Newline and tab become a blank. Trouble is in out->failed. */
void text_sanitize(struct bytes *out, const char *text, size_t length, size_t room);

/* The same, but newlines and tabs stay: for quoted compiler output. */
void text_sanitize_lines(struct bytes *out, const char *text, size_t length, size_t room);

/* The same in place, for an array that snprintf() filled: what is not printable becomes '?', and so
 * does a character that the end of the array cut in two. */
void text_clean(char *text);

/* A printable copy on one line in an array of `size` bytes; one that was cut ends with "…". Returns
 * `into`. */
const char *text_copy(char *into, size_t size, const char *text);

/* An owned copy with its lines kept; NULL when out of memory. */
char *text_printable(const char *text);

/* "1,049,187": a number with thousands separators, as people read it. Returns `buffer`. */
#define TEXT_NUMBER_BYTES 32
const char *text_number(uint64_t value, char buffer[TEXT_NUMBER_BYTES]);

#endif

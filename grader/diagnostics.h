/* diagnostics.h - what of a compiler's words a student may see: those about their own source. */
#ifndef SPILLWAY_DIAGNOSTICS_H
#define SPILLWAY_DIAGNOSTICS_H

#include "bytes.h"

/* Appends to *out, printable, the lines that name the source file and the indented lines below each
 * (the quoted source, the instantiations). Whatever names another file is dropped with its
 * quotation: that file may be one that the student must not see. What does not fit is cut off.
 * Returns the line number of the first error, 0 when there is none. */
unsigned diagnostics_keep_own(struct bytes *out, const char *words, size_t length,
                              const char *source_name);

/* Writes `before` and the first line of `words` that says "error" (else the first line), printable,
 * into `room` bytes. */
void diagnostics_first_error(char *out, size_t room, const char *before, const char *words);

#endif

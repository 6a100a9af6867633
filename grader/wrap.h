/* wrap.h - sentences in lines of 80 columns, for pages that people read. */
#ifndef SPILLWAY_WRAP_H
#define SPILLWAY_WRAP_H

#include "bytes.h"

/* Appends `indent` blanks, the label, and the text word by word, broken at 80 columns; further
 * lines begin under the text. Newlines in the text stay. Trouble is in out->failed. */
void wrap_text(struct bytes *out, size_t indent, const char *label, const char *text);

#endif

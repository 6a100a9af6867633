/* json_text.h - a JSON value as text, for whichever command prints one. */
#ifndef SPILLWAY_JSON_TEXT_H
#define SPILLWAY_JSON_TEXT_H

#include <jansson.h>

#include "bytes.h"
#include "errors.h"

/* Appends the value, indented, with a newline, and gives it up. `flags` are jansson's, besides
 * JSON_INDENT. -1 with *err: no memory, which a `root` of NULL stands for as well, or no room in
 * *out. */
int json_text_append(struct bytes *out, json_t *root, size_t flags, struct error *err);

#endif

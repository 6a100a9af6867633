/* out_json.h - a grade as JSON, schema spillway/result/v1. */
#ifndef SPILLWAY_OUT_JSON_H
#define SPILLWAY_OUT_JSON_H

#include "grade.h"

/* Appends the document. -1 with *err: no memory, or no room. */
int out_json_text(struct bytes *out, const struct grade *grade, struct error *err);

/* Writes to `path` ("-": standard output), whole or not at all. -1 with *err. */
int out_json_write(const struct grade *grade, const char *path, struct error *err);

#endif

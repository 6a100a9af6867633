/* json_build.h - making a JSON document with one look for trouble, at the end.
 *
 * jansson gives NULL for a value that it could not make, and refuses to store one: json_put() and
 * json_push() note that in the builder. A string that is no UTF-8 is made printable instead, so
 * that no text can cost a grade. */
#ifndef SPILLWAY_JSON_BUILD_H
#define SPILLWAY_JSON_BUILD_H

#include <jansson.h>

#include "bytes.h"
#include "errors.h"

struct json_builder {
    bool bad;
};

/* Each takes the value over. */
void json_put(struct json_builder *builder, json_t *object, const char *key, json_t *value);
void json_push(struct json_builder *builder, json_t *array, json_t *value);

json_t *json_text(const char *text);         /* NULL counts as "" */
json_t *json_text_or_null(const char *text); /* null for NULL and "" */
json_t *json_number_or_null(int64_t value);  /* null when negative */
json_t *json_real_or_null(double value);     /* null when negative or none that JSON has */

/* Appends the whole as json_text_append() does and gives it up. -1 with *err. */
int json_finish(struct json_builder *builder, struct bytes *out, json_t *root, struct error *err);

#endif

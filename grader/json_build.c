#include "json_build.h"

#include <math.h>

#include "json_text.h"
#include "text.h"

void json_put(struct json_builder *builder, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        builder->bad = true;
}

void json_push(struct json_builder *builder, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        builder->bad = true;
}

json_t *json_text(const char *text)
{
    json_t *string = json_string(text == NULL ? "" : text);
    if (string != NULL)
        return string;
    AUTO_FREE char *printable = text_printable(text);
    return printable == NULL ? NULL : json_string(printable);
}

json_t *json_text_or_null(const char *text)
{
    return text == NULL || text[0] == '\0' ? json_null() : json_text(text);
}

json_t *json_number_or_null(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

json_t *json_real_or_null(double value)
{
    return isfinite(value) && value >= 0 ? json_real(value) : json_null();
}

int json_finish(struct json_builder *builder, struct bytes *out, json_t *root, struct error *err)
{
    if (builder->bad) {
        json_decref(root);
        return error_no_memory(err);
    }
    return json_text_append(out, root, 0, err);
}

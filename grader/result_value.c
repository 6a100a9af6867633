/* result_value.c - one value of a grade's JSON, of the kind and size that it can have. */
#include "result_internal.h"

#include <math.h>

#include "number.h"
#include "text.h"

void result_complain(const struct result_reader *reader, const char *key, const char *expected)
{
    error_set(reader->err, ERROR_USAGE, "%s%s%s is not %s", reader->where,
              reader->where[0] == '\0' ? "" : ".", key, expected);
}

bool result_is_absent(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

bool result_take_integer(const struct result_reader *reader, const json_t *object, const char *key,
                         int64_t least, int64_t most, int64_t *ret)
{
    const json_t *value = json_object_get(object, key);
    if (result_is_absent(value))
        return false;
    if (!json_is_integer(value) || json_integer_value(value) < least ||
        json_integer_value(value) > most) {
        result_complain(reader, key, "a whole number of the size that it can have");
        return false;
    }
    *ret = json_integer_value(value);
    return true;
}

void result_take_number(const struct result_reader *reader, const json_t *object, const char *key,
                        double *ret)
{
    const json_t *value = json_object_get(object, key);
    if (result_is_absent(value))
        return;
    if (!json_is_number(value) || !isfinite(json_number_value(value)) ||
        json_number_value(value) < 0)
        result_complain(reader, key, "a number");
    else
        *ret = json_number_value(value);
}

const char *result_take_words(const struct result_reader *reader, const json_t *object,
                              const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (result_is_absent(value))
        return NULL;
    if (!json_is_string(value)) {
        result_complain(reader, key, "a text");
        return NULL;
    }
    return json_string_value(value);
}

void result_take_array(const struct result_reader *reader, const json_t *object, const char *key,
                       char *into, size_t size)
{
    const char *text = result_take_words(reader, object, key);
    if (text != NULL)
        (void)text_copy(into, size, text);
}

char *result_copy(const struct result_reader *reader, const char *text, size_t most)
{
    struct bytes copy = bytes_with_limit(most + 8);
    text_sanitize_lines(&copy, text, strlen(text), most);
    bytes_append_text(&copy, ""); /* an empty text is one, too */
    char *taken = bytes_take(&copy);
    bytes_release(&copy);
    if (taken == NULL)
        error_no_memory(reader->err);
    return taken;
}

void result_take_text(const struct result_reader *reader, const json_t *object, const char *key,
                      size_t most, char **ret)
{
    const char *text = result_take_words(reader, object, key);
    if (text != NULL)
        *ret = result_copy(reader, text, most);
}

void result_take_arch(const struct result_reader *reader, const char *key, const json_t *value,
                      struct arch *ret)
{
    if (!result_is_absent(value) &&
        (!json_is_string(value) || !arch_parse(json_string_value(value), ret)))
        result_complain(reader, key, "an architecture like sm_75");
}

void result_take_bits(const struct result_reader *reader, const json_t *object, const char *key,
                      uint32_t *ret)
{
    const char *text = result_take_words(reader, object, key);
    uint64_t number = 0;
    if (text != NULL && !number_parse_u64(text, UINT32_MAX, &number))
        result_complain(reader, key, "the bits of a number, like 0x3f800000");
    *ret = (uint32_t)number;
}

int result_take_choice(const struct result_reader *reader, const json_t *object, const char *key,
                       const char *const *words, size_t count)
{
    const char *word = result_take_words(reader, object, key);
    for (size_t i = 0; word != NULL && i < count; ++i)
        if (strcmp(word, words[i]) == 0)
            return (int)i;
    result_complain(reader, key, "one of the words that it can be");
    return -1;
}

bool result_failed(const struct result_reader *reader)
{
    return reader->err->kind != ERROR_NONE;
}

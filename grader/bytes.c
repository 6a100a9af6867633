#include "bytes.h"

struct bytes bytes_with_limit(size_t limit)
{
    return (struct bytes){.limit = limit};
}

struct bytes bytes_in(char *array, size_t size)
{
    array[0] = '\0';
    return (struct bytes){.data = array, .capacity = size, .limit = size - 1};
}

void bytes_release(struct bytes *b)
{
    if (b == NULL)
        return;
    free(b->data);
    *b = (struct bytes){.limit = b->limit};
}

void bytes_clear(struct bytes *b)
{
    b->length = 0;
    b->failed = false;
    if (b->data != NULL)
        b->data[0] = '\0';
}

int bytes_reserve(struct bytes *b, size_t more)
{
    if (b->failed)
        return -1;
    if (more > b->limit || b->length > b->limit - more || b->limit == SIZE_MAX) {
        b->failed = true;
        return -1;
    }
    size_t needed = b->length + more + 1;
    if (b->data != NULL && needed <= b->capacity)
        return 0;
    size_t capacity = b->capacity < 64 ? 64 : b->capacity;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    char *data = realloc(b->data, capacity);
    if (data == NULL) {
        b->failed = true;
        return -1;
    }
    b->data = data;
    b->capacity = capacity;
    return 0;
}

int bytes_append(struct bytes *b, const void *data, size_t length)
{
    if (bytes_reserve(b, length) != 0)
        return -1;
    if (length > 0)
        memcpy(b->data + b->length, data, length);
    b->length += length;
    b->data[b->length] = '\0';
    return 0;
}

int bytes_append_text(struct bytes *b, const char *text)
{
    return bytes_append(b, text, strlen(text));
}

int bytes_vprintf(struct bytes *b, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    int status = -1;
    if (length < 0)
        b->failed = true;
    else if (bytes_reserve(b, (size_t)length) == 0) {
        (void)vsnprintf(b->data + b->length, (size_t)length + 1, format, again);
        b->length += (size_t)length;
        status = 0;
    }
    va_end(again);
    return status;
}

int bytes_printf(struct bytes *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int status = bytes_vprintf(b, format, arguments);
    va_end(arguments);
    return status;
}

const char *bytes_text(const struct bytes *b)
{
    return b->data == NULL ? "" : b->data;
}

char *bytes_take(struct bytes *b)
{
    if (b->failed || (b->data == NULL && bytes_append(b, "", 0) != 0))
        return NULL;
    char *data = b->data;
    *b = (struct bytes){.limit = b->limit};
    return data;
}

#include "pack.h"

#define NO_TEXT UINT64_MAX

void pack_number(struct bytes *out, uint64_t number)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = (unsigned char)(number >> (8 * i));
    (void)bytes_append(out, bytes, sizeof bytes);
}

void pack_signed(struct bytes *out, int64_t number)
{
    pack_number(out, (uint64_t)number);
}

void pack_double(struct bytes *out, double number)
{
    uint64_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    pack_number(out, bits);
}

void pack_bytes(struct bytes *out, const void *data, size_t length)
{
    pack_number(out, length);
    if (length > 0)
        (void)bytes_append(out, data, length);
}

void pack_text(struct bytes *out, const char *text)
{
    if (text == NULL)
        pack_number(out, NO_TEXT);
    else
        pack_bytes(out, text, strlen(text));
}

struct unpack unpack_from(const void *data, size_t length)
{
    return (struct unpack){.rest = {data, length}};
}

uint64_t unpack_number(struct unpack *from)
{
    if (from->failed || from->rest.length < 8) {
        from->failed = true;
        return 0;
    }
    uint64_t number = 0;
    for (size_t i = 0; i < 8; ++i)
        number |= (uint64_t)(unsigned char)from->rest.text[i] << (8 * i);
    from->rest = slice_from(from->rest, 8);
    return number;
}

uint64_t unpack_below(struct unpack *from, uint64_t most)
{
    uint64_t number = unpack_number(from);
    from->failed = from->failed || number > most;
    return from->failed ? 0 : number;
}

int64_t unpack_signed(struct unpack *from)
{
    return (int64_t)unpack_number(from);
}

double unpack_double(struct unpack *from)
{
    uint64_t bits = unpack_number(from);
    double number = 0;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static struct slice take(struct unpack *from, uint64_t length)
{
    if (from->failed || length > from->rest.length) {
        from->failed = true;
        return (struct slice){"", 0};
    }
    struct slice taken = {from->rest.text, (size_t)length};
    from->rest = slice_from(from->rest, (size_t)length);
    return taken;
}

struct slice unpack_bytes(struct unpack *from)
{
    uint64_t length = unpack_number(from);
    return take(from, length);
}

char *unpack_text(struct unpack *from)
{
    uint64_t length = unpack_number(from);
    if (from->failed || length == NO_TEXT)
        return NULL;
    struct slice text = take(from, length);
    char *copy = from->failed || memchr(text.text, '\0', text.length) != NULL
                     ? NULL
                     : strndup(text.text, text.length);
    from->failed = from->failed || copy == NULL;
    return copy;
}

void unpack_text_into(struct unpack *from, char *into, size_t size)
{
    struct slice text = unpack_bytes(from);
    from->failed = from->failed || text.length >= size ||
                   (text.length > 0 && memchr(text.text, '\0', text.length) != NULL);
    size_t length = from->failed ? 0 : text.length;
    if (length > 0)
        memcpy(into, text.text, length);
    into[length] = '\0';
}

bool unpack_done(const struct unpack *from)
{
    return !from->failed && from->rest.length == 0;
}

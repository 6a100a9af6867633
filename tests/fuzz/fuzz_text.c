/* fuzz_text.c - whatever a submission says becomes printable UTF-8 that fits; names demangle or
 * not. */
#include <assert.h>

#include "demangle.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check(const struct bytes *out, size_t room, bool lines)
{
    assert(!out->failed && out->length <= room);
    assert(text_is_utf8(bytes_text(out), out->length));
    for (size_t i = 0; i < out->length; ++i) {
        unsigned char byte = (unsigned char)out->data[i];
        assert(byte != 0x7F && (byte >= 0x20 || (lines && (byte == '\n' || byte == '\t'))));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    size_t room = length > 0 ? data[0] * (size_t)4 : 0;
    for (int lines = 0; lines < 2; ++lines) {
        struct bytes out = bytes_with_limit(room + 1);
        (lines ? text_sanitize_lines : text_sanitize)(&out, (const char *)data, length, room);
        check(&out, room, lines != 0);
        bytes_release(&out);
    }
    char *symbol = strndup((const char *)data, length);
    struct demangled storage;
    const char *name = symbol != NULL ? demangle(symbol, &storage) : NULL;
    if (name != NULL) {
        struct name_parts parts = demangle_split(name);
        assert(parts.begin >= name && parts.begin + parts.length <= name + strlen(name));
    }
    free(symbol);
    return 0;
}

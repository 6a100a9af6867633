/* fuzz_canonical.c - of a source only blanks change, each in its place; of PTX only whole lines go.
 */
#include <assert.h>

#include "canonical.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/* The mark that stands before a line end inside a comment is the one byte that is put in. */
static void check_source(const struct bytes *out, const char *source, size_t length)
{
    size_t at = 0;
    for (size_t i = 0; i < out->length; ++i) {
        const char c = out->data[i];
        if (c == '\x01')
            continue;
        while (c == '\n' && at < length && source[at] != '\n')
            ++at; /* blanks and comments at the end of a line */
        assert(at < length && (c == source[at] || (c == ' ' && source[at] != '\n')));
        ++at;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct bytes out;
    const char *text = (const char *)data;
    if (canonical_source(&out, text, length))
        check_source(&out, text, length);
    bytes_release(&out);
    size_t kept = 0;
    bool good = canonical_ptx(&out, text, length);
    for (size_t at = 0; at < length && kept < out.length; ++at)
        kept += out.data[kept] == text[at];
    assert(kept == out.length && (good || kept == 0));
    bytes_release(&out);
    return 0;
}

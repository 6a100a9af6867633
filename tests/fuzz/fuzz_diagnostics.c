/* fuzz_diagnostics.c - of any words of a compiler, only what is about the student's own file stays,
 * and that is printable. */
#include <assert.h>

#include "diagnostics.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_line(const char *line, bool first)
{
    assert(strncmp(line, "lab.cu(", 7) == 0 || strncmp(line, "lab.cu:", 7) == 0 ||
           (!first && (line[0] == ' ' || line[0] == '\t')));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct bytes kept = bytes_with_limit(1000);
    char *words = strndup((const char *)data, length), error[80];
    (void)diagnostics_keep_own(&kept, (const char *)data, length, "lab.cu");
    assert(kept.length <= 1000 && text_is_utf8(bytes_text(&kept), kept.length));
    const char *line = bytes_text(&kept), *end;
    for (bool first = true; (end = strchr(line, '\n')) != NULL; first = false) {
        check_line(line, first);
        line = end + 1;
    }
    if (words != NULL)
        diagnostics_first_error(error, sizeof error, "refused: ", words);
    assert(words == NULL || (strncmp(error, "refused: ", 9) == 0 && strchr(error, '\n') == NULL));
    bytes_release(&kept);
    free(words);
    return 0;
}

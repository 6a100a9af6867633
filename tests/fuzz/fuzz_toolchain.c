/* fuzz_toolchain.c - what a program that claims to be nvcc says of itself. */
#include <assert.h>

#include "toolchain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct toolchain toolchain = {0};
    char *text = strndup((const char *)data, length);
    if (text != NULL && toolchain_read_version(&toolchain, text)) {
        size_t version = strlen(toolchain.version);
        assert(version > 0 && strspn(toolchain.version, "0123456789.") == version);
        assert(toolchain.major < 1000 && toolchain.minor < 1000);
    }
    if (text != NULL)
        toolchain_read_archs(&toolchain, text);
    assert(toolchain.arch_count <= TOOLCHAIN_ARCHS_MAX);
    for (size_t i = 0; i < toolchain.arch_count; ++i)
        assert(toolchain_knows(&toolchain, toolchain.archs[i]) && toolchain.archs[i].number >= 10);
    free(text);
    return 0;
}

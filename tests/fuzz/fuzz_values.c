/* fuzz_values.c - any text is a value, a number, an architecture, or refused; what `emulate` prints
 * reads back to the same bits. */
#include <assert.h>

#include "arch.h"
#include "emulator/values.h"
#include "options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_value(enum ptx_type type, const char *text, size_t length)
{
    uint8_t value[16] = {0}, again[16] = {0};
    if (!value_parse(type, text, length, value))
        return;
    struct bytes printed = bytes_with_limit(200);
    value_print(&printed, type, value);
    const bool nan = strncmp(bytes_text(&printed), "nan", 3) == 0; /* printed for people */
    assert(nan || value_parse(type, bytes_text(&printed), printed.length, again));
    assert(nan || memcmp(value, again, sizeof value) == 0);
    bytes_release(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char *text = strndup((const char *)data, length);
    uint64_t number = 0;
    struct arch arch = {0};
    struct error err = {0};
    for (int type = PTX_B8; text != NULL && type < PTX_TYPE_COUNT; ++type)
        if (value_has_text(type))
            check_value(type, (const char *)data, length);
    (void)ptx_type_find((const char *)data, length);
    if (text != NULL && options_number(&number, "--regs", text, 7, 255, "", &err) == 0)
        assert(number >= 7 && number <= 255);
    assert(text == NULL || !arch_parse(text, &arch) || (arch.number >= 10 && arch.number < 1000));
    free(text);
    return 0;
}

/* fuzz_emulator.c - libFuzzer target: whatever a kernel does stays inside the emulator. */
#include "emulator/emulator.h"
#include "emulator/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

#define ARGUMENTS 64

/* Every 8-byte parameter is the address of a buffer, everything else a small number. */
static void launch(struct emulator *emulator, const struct ptx_function *entry, uint64_t buffer)
{
    static const uint8_t small[32 << 10] = {40};
    const void *arguments[ARGUMENTS];
    size_t bytes[ARGUMENTS], count = entry->parameter_count;
    struct emulator_result result = {0};
    struct error err = {0};
    for (size_t i = 0; i < count; ++i) {
        bytes[i] = entry->parameters[i].bytes;
        arguments[i] = bytes[i] == 8 ? (const void *)&buffer : small;
    }
    const struct emulator_launch spec = {entry->name, {2, 1, 1}, {40, 1, 1}, 64,
                                         arguments,   bytes,     count};
    const struct emulator_options options = {.threads = 1, .max_warp_instructions = 3000};
    (void)emulator_launch(emulator, &spec, &options, &result, &err);
    emulator_result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct error err = {0};
    struct ptx_module *module = ptx_parse((const char *)data, length, &err);
    struct emulator *emulator = emulator_create((const char *)data, length, &err);
    uint64_t buffer = emulator == NULL ? 0 : emulator_allocate(emulator, 4096, "buffer");
    for (size_t i = 0; buffer != 0 && i < ptx_function_count(module); ++i)
        if (ptx_function_at(module, i)->parameter_count <= ARGUMENTS)
            launch(emulator, ptx_function_at(module, i), buffer);
    emulator_free(emulator);
    ptx_free(module);
    return 0;
}

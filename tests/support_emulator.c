#include "support_emulator.h"

struct emulator *support_emulator(const char *ptx, size_t length)
{
    struct error err = {0};
    struct emulator *emulator = emulator_create(ptx, length, &err);
    ck_assert_msg(emulator != NULL, "%s", err.text);
    return emulator;
}

struct emulator *support_emulator_fixture(const char *name)
{
    struct bytes text = testing_fixture(name);
    struct emulator *emulator = support_emulator(text.data, text.length);
    bytes_release(&text);
    return emulator;
}

struct emulator_result support_launch(struct emulator *emulator, const char *entry, unsigned grid,
                                      unsigned block, const struct support_argument *arguments,
                                      size_t count, const struct emulator_options *options)
{
    const void *data[16];
    size_t bytes[16];
    ck_assert_uint_le(count, COUNT_OF(data));
    for (size_t i = 0; i < count; ++i) {
        data[i] = arguments[i].data;
        bytes[i] = arguments[i].bytes;
    }
    const struct emulator_launch launch = {.entry = entry,
                                           .grid = {grid, 1, 1},
                                           .block = {block, 1, 1},
                                           .arguments = data,
                                           .argument_bytes = bytes,
                                           .argument_count = count};
    const struct emulator_options two_threads = {.threads = 2};
    struct emulator_result result;
    struct error err = {0};
    ck_assert_msg(emulator_launch(emulator, &launch, options != NULL ? options : &two_threads,
                                  &result, &err) == 0,
                  "%s", err.text);
    return result;
}

uint64_t support_buffer(struct emulator *emulator, const char *label, const void *data,
                        size_t bytes)
{
    uint64_t address = emulator_allocate(emulator, bytes, label);
    ck_assert_uint_ne(address, 0);
    if (data != NULL)
        ck_assert_int_eq(emulator_copy_in(emulator, address, data, bytes), 0);
    return address;
}

void support_finished(const struct emulator_result *result)
{
    ck_assert_msg(result->status == EMULATOR_FINISHED, "status %d: %s%s", (int)result->status,
                  result->fault_count > 0 ? result->faults[0].text : "", result->refusal);
}

uint32_t support_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8 ^ *state << 24;
}

float support_random_float(uint32_t *state)
{
    return (float)((int32_t)(support_random(state) & 0xFFFFFF) - 0x800000) * 0x1p-20f;
}

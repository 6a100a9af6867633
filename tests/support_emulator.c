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

struct emulator_result support_run(const struct support_kernel *kernel)
{
    struct bytes ptx = bytes_with_limit((size_t)1 << 20);
    (void)bytes_printf(
        &ptx,
        ".version 8.7\n.target sm_90\n.address_size 64\n%s\n"
        ".entry k(.param .u64 p_in, .param .u64 p_out) {\n"
        ".reg .b16 %%h<20>; .reg .b32 %%r<20>, %%t; .reg .b64 %%d<20>, %%in, %%out;\n"
        ".reg .pred %%p<20>; .reg .f32 %%f<20>; .reg .f64 %%g<20>;\n"
        "ld.param.u64 %%in, [p_in]; ld.param.u64 %%out, [p_out];\n"
        "mov.u32 %%r0, %%ctaid.x; mov.u32 %%r1, %%ntid.x; mov.u32 %%t, %%tid.x;\n"
        "mad.lo.u32 %%t, %%r0, %%r1, %%t;\n%s\nret; }\n",
        kernel->declarations != NULL ? kernel->declarations : "", kernel->statements);
    struct emulator *emulator = support_emulator(ptx.data, ptx.length);
    const uint64_t in = support_buffer(emulator, "in", kernel->in, kernel->in_bytes);
    const uint64_t out = support_buffer(emulator, "out", kernel->out, kernel->out_bytes);
    const void *const arguments[] = {&in, &out};
    const size_t bytes[] = {sizeof in, sizeof out};
    const struct emulator_launch launch = {.entry = "k",
                                           .grid = {kernel->grid != 0 ? kernel->grid : 1, 1, 1},
                                           .block = {kernel->block != 0 ? kernel->block : 32, 1, 1},
                                           .shared_bytes = kernel->shared_bytes,
                                           .arguments = arguments,
                                           .argument_bytes = bytes,
                                           .argument_count = 2};
    struct emulator_options options = kernel->options;
    options.threads = options.threads != 0 ? options.threads : 1;
    struct emulator_result result;
    struct error err = {0};
    ck_assert_msg(emulator_launch(emulator, &launch, &options, &result, &err) == 0, "%s", err.text);
    if (kernel->out_bytes > 0)
        ck_assert_int_eq(emulator_copy_out(emulator, out, kernel->out, kernel->out_bytes), 0);
    emulator_free(emulator);
    bytes_release(&ptx);
    return result;
}

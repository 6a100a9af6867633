/* scrub.c - the two scrub kernels, as text.
 *
 * Written by hand in plain PTX, so that it needs no nvcc and assembles with every ptxas that knows
 * the target. A PTX version is needed that knows the target: the table is from the release notes in
 * "PTX ISA", NVIDIA. */
#include "scrub.h"

#include "arch.h"

#define SOURCE_BYTES_MAX ((size_t)16 << 10)
#define SHARED_LEAST 16384 /* larger blocks leave less of an SM's shared memory untouched */

static const struct {
    unsigned number;
    const char *version;
} versions[] = {
    /* clang-format off */
    { 75, "6.3"}, { 80, "7.0"}, { 86, "7.1"}, { 87, "7.4"}, { 88, "7.3"}, { 89, "7.8"},
    { 90, "7.8"}, {100, "8.6"}, {101, "8.6"}, {103, "8.8"}, {110, "9.0"}, {120, "8.7"},
    {121, "8.8"},
    /* clang-format on */
};

/* An 'a' or 'f' in the name needs a later version than the plain target; the kernels use nothing of
 * it, but a cubin for sm_90 runs on a device of 9.0 all the same, so the suffix is dropped. */
static const char *version_of(unsigned number)
{
    for (size_t i = 0; i < COUNT_OF(versions); ++i)
        if (versions[i].number == number)
            return versions[i].version;
    return number > versions[COUNT_OF(versions) - 1].number ? "9.0" : NULL;
}

/* ptxas sees through a local array whose words are all equal and keeps none of it. Volatile stores
 * must stay, and they exist only for generic addresses, so the array is written through one. */
static const char local_entry[] = ".visible .entry " SCRUB_LOCAL_ENTRY "(\n"
                                  "    .param .u32 pattern, .param .u32 probe, .param .u64 sink)\n"
                                  "{\n"
                                  "    .local .align 16 .b8 frame[%u];\n"
                                  "    .reg .pred %%more, %%same;\n"
                                  "    .reg .b32 %%value, %%left, %%index, %%seen;\n"
                                  "    .reg .b64 %%base, %%here, %%out;\n"
                                  "    ld.param.u32 %%value, [pattern];\n"
                                  "    ld.param.u32 %%index, [probe];\n"
                                  "    mov.u64 %%base, frame;\n"
                                  "    cvta.local.u64 %%base, %%base;\n"
                                  "    mov.u64 %%here, %%base;\n"
                                  "    mov.u32 %%left, %u;\n"
                                  "fill:\n"
                                  "    st.volatile.u32 [%%here], %%value;\n"
                                  "    add.u64 %%here, %%here, 4;\n"
                                  "    sub.u32 %%left, %%left, 1;\n"
                                  "    setp.ne.u32 %%more, %%left, 0;\n"
                                  "    @%%more bra fill;\n"
                                  "    rem.u32 %%index, %%index, %u;\n"
                                  "    mul.wide.u32 %%here, %%index, 4;\n"
                                  "    add.u64 %%here, %%here, %%base;\n"
                                  "    ld.volatile.u32 %%seen, [%%here];\n"
                                  "    setp.eq.u32 %%same, %%seen, %%value;\n"
                                  "    @%%same ret;\n"
                                  "    ld.param.u64 %%out, [sink];\n"
                                  "    st.global.u32 [%%out], %%seen;\n"
                                  "    ret;\n"
                                  "}\n";

/* The block's threads take turns over the words. */
static const char shared_entry[] =
    ".visible .entry " SCRUB_SHARED_ENTRY "(\n"
    "    .param .u32 pattern, .param .u32 probe, .param .u64 sink)\n"
    "{\n"
    "    .shared .align 16 .b8 area[%u];\n"
    "    .reg .pred %%more, %%same;\n"
    "    .reg .b32 %%value, %%at, %%step, %%base, %%here, %%index, %%seen;\n"
    "    .reg .b64 %%out;\n"
    "    ld.param.u32 %%value, [pattern];\n"
    "    ld.param.u32 %%index, [probe];\n"
    "    mov.u32 %%base, area;\n"
    "    mov.u32 %%at, %%tid.x;\n"
    "    shl.b32 %%at, %%at, 2;\n"
    "    mov.u32 %%step, %%ntid.x;\n"
    "    shl.b32 %%step, %%step, 2;\n"
    "    setp.ge.u32 %%more, %%at, %u;\n"
    "    @%%more bra filled;\n"
    "fill:\n"
    "    add.u32 %%here, %%base, %%at;\n"
    "    st.volatile.shared.u32 [%%here], %%value;\n"
    "    add.u32 %%at, %%at, %%step;\n"
    "    setp.lt.u32 %%more, %%at, %u;\n"
    "    @%%more bra fill;\n"
    "filled:\n"
    "    bar.sync 0;\n"
    "    rem.u32 %%index, %%index, %u;\n"
    "    shl.b32 %%index, %%index, 2;\n"
    "    add.u32 %%index, %%index, %%base;\n"
    "    ld.volatile.shared.u32 %%seen, [%%index];\n"
    "    setp.eq.u32 %%same, %%seen, %%value;\n"
    "    @%%same ret;\n"
    "    ld.param.u64 %%out, [sink];\n"
    "    st.global.u32 [%%out], %%seen;\n"
    "    ret;\n"
    "}\n";

static unsigned rounded(int64_t bytes, unsigned least, unsigned most)
{
    if (bytes >= most)
        return most;
    unsigned whole = bytes > 0 ? ((unsigned)bytes + 15) / 16 * 16 : 0;
    return whole > least ? whole : least;
}

int scrub_source(struct bytes *out, const char *target, int64_t frame_bytes, int64_t shared_bytes)
{
    *out = bytes_with_limit(SOURCE_BYTES_MAX);
    struct arch arch;
    if (!arch_parse(target, &arch) || version_of(arch.number) == NULL)
        return -1;
    bytes_printf(out, ".version %s\n.target sm_%u\n.address_size 64\n", version_of(arch.number),
                 arch.number);
    if (frame_bytes > 0 || shared_bytes <= 0) {
        unsigned bytes = rounded(frame_bytes, 16, SCRUB_FRAME_MAX);
        bytes_printf(out, local_entry, bytes, bytes / 4, bytes / 4);
    }
    if (shared_bytes > 0) {
        unsigned bytes = rounded(shared_bytes, SHARED_LEAST, SCRUB_SHARED_MAX);
        bytes_printf(out, shared_entry, bytes, bytes, bytes, bytes / 4);
    }
    return out->failed ? -1 : 0;
}

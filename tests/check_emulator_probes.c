/* check_emulator_probes.c - one warp each, with patterns drawn at random: the wavefronts of shared
 * memory for accesses of every width, the sectors of atomics that meet, local memory by bytes and
 * by words. Every counter as Nsight Compute had it on an H200. */
#include "support_emulator.h"

#include "truth/golden.h"

#define BUFFER_BYTES 65536

struct probe {
    char entry[32];
    int indices[32];
    uint64_t wanted[GOLDEN_COUNTER_COUNT];
};

/* "entry\tpattern\tindex,index,…\tcounter\tcounter…"; the place after the line, NULL at the end. */
static const char *parse(const char *at, struct probe *ret)
{
    int used = 0;
    if (sscanf(at, "%31s %*u %n", ret->entry, &used) != 1)
        return NULL;
    at += used;
    for (unsigned i = 0; i < COUNT_OF(ret->indices); ++i) {
        char *end = NULL;
        ret->indices[i] = (int)strtol(at, &end, 10);
        ck_assert(end != at);
        at = end + 1;
    }
    for (unsigned c = 0; c < GOLDEN_COUNTER_COUNT; ++c) {
        char *end = NULL;
        ret->wanted[c] = strtoull(at, &end, 10);
        ck_assert(end != at);
        at = end;
    }
    return at + 1;
}

/* More lines of 128 bytes than the hardware has turns for: see truth/explained.inc. */
static bool is_wide(const struct probe *probe)
{
    uint32_t lines = 0;
    unsigned count = 0;
    if (strncmp(probe->entry, "probe_red", 9) != 0)
        return false;
    for (unsigned i = 0; i < COUNT_OF(probe->indices); ++i)
        lines |= probe->indices[i] >= 0 ? UINT32_C(1) << (probe->indices[i] / 32 % 32) : 0;
    for (; lines != 0; lines &= lines - 1)
        ++count;
    return count > 4;
}

START_TEST(probes_are_counted_like_the_hardware)
{
    struct emulator *emulator = support_emulator_fixture("truth/probes.ptx");
    struct bytes text = testing_fixture("truth/golden/probes.tsv");
    void *zeros = calloc(1, BUFFER_BYTES);
    ck_assert_ptr_nonnull(zeros);
    uint64_t data = support_buffer(emulator, "data", zeros, BUFFER_BYTES);
    uint64_t out = support_buffer(emulator, "out", zeros, BUFFER_BYTES);
    struct probe probe;
    unsigned probes = 0, wide = 0;
    for (const char *at = parse(bytes_text(&text), &probe); at != NULL; at = parse(at, &probe)) {
        uint64_t indices = support_buffer(emulator, "indices", probe.indices, sizeof probe.indices);
        const bool has_data = strncmp(probe.entry, "probe_red", 9) == 0 ||
                              strncmp(probe.entry, "probe_atom", 10) == 0;
        const bool has_out = strncmp(probe.entry, "probe_red", 9) != 0;
        struct support_argument arguments[3] = {{&indices, 8}};
        size_t count = 1;
        if (has_data)
            arguments[count++] = (struct support_argument){&data, 8};
        if (has_out)
            arguments[count++] = (struct support_argument){&out, 8};
        const struct emulator_options options = {.threads = 1};
        struct emulator_result result =
            support_launch(emulator, probe.entry, 1, 32, arguments, count, &options);
        const struct {
            unsigned counter;
            uint64_t got;
        } compared[] = {
            {GOLDEN_SHARED_LOADS, result.counters.shared_load.requests},
            {GOLDEN_SHARED_LOAD_WAVEFRONTS, result.counters.shared_load.sectors},
            {GOLDEN_SHARED_STORES, result.counters.shared_store.requests},
            {GOLDEN_SHARED_STORE_WAVEFRONTS, result.counters.shared_store.sectors},
            {GOLDEN_LOCAL_LOAD_REQUESTS, result.traffic.local_array.load.requests},
            {GOLDEN_LOCAL_LOAD_SECTORS, result.traffic.local_array.load.sectors},
            {GOLDEN_LOCAL_STORE_REQUESTS, result.traffic.local_array.store.requests},
            {GOLDEN_LOCAL_STORE_SECTORS, result.traffic.local_array.store.sectors},
            {GOLDEN_GLOBAL_LOAD_SECTORS, result.traffic.global.load.sectors},
            {GOLDEN_GLOBAL_STORE_SECTORS, result.traffic.global.store.sectors},
        };
        for (size_t c = 0; c < COUNT_OF(compared); ++c)
            ck_assert_msg(compared[c].got == probe.wanted[compared[c].counter],
                          "%s, probe %u: %s: %llu, the hardware counted %llu", probe.entry, probes,
                          golden_counter_names[compared[c].counter],
                          (unsigned long long)compared[c].got,
                          (unsigned long long)probe.wanted[compared[c].counter]);
        const uint64_t sectors = result.counters.global_atomic.sectors;
        const uint64_t wanted =
            probe.wanted[GOLDEN_RED_SECTORS] + probe.wanted[GOLDEN_ATOM_SECTORS];
        if (is_wide(&probe) && sectors != wanted)
            ++wide;
        else
            ck_assert_msg(sectors == wanted,
                          "%s, probe %u: %llu sectors, the hardware counted %llu", probe.entry,
                          probes, (unsigned long long)sectors, (unsigned long long)wanted);
        ++probes;
        emulator_result_release(&result);
    }
    ck_assert_uint_ge(probes, 290);
    ck_assert_uint_le(wide, 2);
    free(zeros);
    bytes_release(&text);
    emulator_free(emulator);
}
END_TEST

Suite *suite_emulator_probes(void);
Suite *suite_emulator_probes(void)
{
    Suite *suite = suite_create("emulator_probes");
    TCase *tcase = tcase_create("probes");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, probes_are_counted_like_the_hardware);
    suite_add_tcase(suite, tcase);
    return suite;
}

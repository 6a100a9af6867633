/* check_emulator_probes.c - one warp each, with patterns drawn at random and from truth/turns.c:
 * the wavefronts of shared memory for accesses of every width, the sectors of atomics that meet,
 * local memory by bytes and by words. Every counter as Nsight Compute had it on an H200. */
#include "support_emulator.h"

#include "truth/golden.h"
#include "truth/turns.h"

#define BUFFER_BYTES 65536
#define OF_WARP 32

struct probe {
    char entry[32];
    int indices[OF_WARP];
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

static bool is_one_of(const char *entry, const char *const *prefixes)
{
    for (; *prefixes != NULL; ++prefixes)
        if (strncmp(entry, *prefixes, strlen(*prefixes)) == 0)
            return true;
    return false;
}

static const struct {
    const char *file;
    unsigned least;  /* probes in it */
    bool only_turns; /* of atomics and of shared memory; else everything was counted */
} recordings[] = {{"truth/golden/probes.tsv", 292, false}, {"truth/golden/turns.tsv", 1566, true}};

START_TEST(probes_are_counted_like_the_hardware)
{
    struct emulator *emulator = support_emulator_fixture("truth/probes.ptx");
    struct bytes text = testing_fixture(recordings[_i].file);
    static const char *const adding[] = {"probe_red", "probe_float", "probe_double", NULL};
    static const char *const atomic[] = {"probe_atom", "probe_cas", "probe_exchange", NULL};
    void *zeros = calloc(1, 2 * TURNS_BYTES);
    ck_assert_ptr_nonnull(zeros);
    /* driver.cu takes the indices of probes.tsv first, which takes 512 bytes. */
    const uint64_t before = recordings[_i].only_turns ? 0 : 512;
    uint64_t data = before + support_buffer(emulator, "data", zeros, before + TURNS_BYTES);
    uint64_t out = support_buffer(emulator, "out", zeros, BUFFER_BYTES);
    uint64_t indices = support_buffer(emulator, "indices", NULL, sizeof(int[OF_WARP]));
    struct probe probe;
    unsigned probes = 0;
    for (const char *at = parse(bytes_text(&text), &probe); at != NULL; at = parse(at, &probe)) {
        ck_assert_int_eq(emulator_copy_in(emulator, indices, probe.indices, sizeof probe.indices),
                         0);
        const bool has_out = !is_one_of(probe.entry, adding);
        const bool has_data = !has_out || is_one_of(probe.entry, atomic);
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
        for (size_t c = 0; c < (recordings[_i].only_turns ? 4 : COUNT_OF(compared)); ++c)
            ck_assert_msg(compared[c].got == probe.wanted[compared[c].counter],
                          "%s, probe %u: %s: %llu, the hardware counted %llu", probe.entry, probes,
                          golden_counter_names[compared[c].counter],
                          (unsigned long long)compared[c].got,
                          (unsigned long long)probe.wanted[compared[c].counter]);
        const uint64_t sectors = result.counters.global_atomic.sectors;
        const uint64_t wanted =
            probe.wanted[GOLDEN_RED_SECTORS] + probe.wanted[GOLDEN_ATOM_SECTORS];
        ck_assert_msg(sectors == wanted, "%s, probe %u: %llu sectors, the hardware counted %llu",
                      probe.entry, probes, (unsigned long long)sectors, (unsigned long long)wanted);
        ++probes;
        emulator_result_release(&result);
    }
    ck_assert_uint_ge(probes, recordings[_i].least);
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
    tcase_add_loop_test(tcase, probes_are_counted_like_the_hardware, 0, COUNT_OF(recordings));
    suite_add_tcase(suite, tcase);
    return suite;
}

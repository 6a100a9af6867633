/* check_emulator.c - the kernels of the registers lab: bit-exact, and counted like the hardware. */
#include "support_emulator.h"

#include <math.h>

#define N 1049187
#define WIDE_TAPS 64

static float *make_input(size_t count)
{
    float *in = malloc(count * sizeof *in);
    ck_assert_ptr_nonnull(in);
    uint32_t state = 17;
    for (size_t i = 0; i < count; ++i)
        in[i] = support_random_float(&state);
    return in;
}

static float reference(const float *in, unsigned taps, unsigned shift)
{
    float window[WIDE_TAPS], carry = 0.0f, acc = 0.0f;
    for (unsigned k = 0; k < taps; ++k)
        window[k] = carry = fmaf(carry, 0.9375f, in[k]);
    for (unsigned k = taps; k-- > 0;)
        acc = fmaf(acc, 0.9375f, window[(k + shift) % taps]);
    return acc;
}

/* Nsight Compute on an H200 counted these for the same launches (n = 1,049,187, 256 threads a
 * block), l1tex__t_requests and l1tex__t_sectors. decayNarrow stores with as many requests as
 * decayWide: one a warp that has work. */
static const struct {
    const char *name;
    unsigned taps, shift;
    struct traffic_count load, store, local_load, local_store;
} kernels[] = {
    {"decayNarrow", 4, 0, {131152, 622957}, {32788, 131149}, {0, 0}, {0, 0}},
    {"decayWide", 64, 0, {2098432, 10229624}, {32788, 131149}, {0, 0}, {0, 0}},
    {"decayWideIndexed",
     64,
     0,
     {2098432, 10229624},
     {32788, 131149},
     {2098432, 8393536},
     {2098432, 8393536}},
    {"decayWideIndexed",
     64,
     7,
     {2098432, 10229624},
     {32788, 131149},
     {2098432, 8393536},
     {2098432, 8393536}},
    {"decayWideBounded", 64, 0, {2098432, 10229624}, {32788, 131149}, {0, 0}, {0, 0}},
};
static const char *const fixtures[] = {"ptx/decay_sm75.ptx", "ptx/decay_sm90.ptx"};

static void assert_count(const char *what, struct traffic_count got, struct traffic_count wanted)
{
    ck_assert_msg(got.requests == wanted.requests && got.sectors == wanted.sectors,
                  "%s: %llu requests and %llu sectors, not %llu and %llu", what,
                  (unsigned long long)got.requests, (unsigned long long)got.sectors,
                  (unsigned long long)wanted.requests, (unsigned long long)wanted.sectors);
}

START_TEST(decay_kernels_are_exact)
{
    const size_t row = (size_t)_i / COUNT_OF(fixtures);
    struct emulator *emulator = support_emulator_fixture(fixtures[(size_t)_i % COUNT_OF(fixtures)]);
    const unsigned taps = kernels[row].taps;
    const size_t n = N;
    const int shift = (int)kernels[row].shift;
    const bool shifted = strcmp(kernels[row].name, "decayWideIndexed") == 0;
    float *in = make_input(n + taps - 1), *out = malloc(n * sizeof *out);
    ck_assert_ptr_nonnull(out);
    uint64_t device_in = support_buffer(emulator, "in", in, (n + taps - 1) * sizeof *in);
    uint64_t device_out = support_buffer(emulator, "out", NULL, n * sizeof *out);
    const struct support_argument arguments[] = {
        {&device_in, 8}, {&device_out, 8}, {&n, 8}, {&shift, 4}};
    struct emulator_result result = support_launch(emulator, kernels[row].name, (N + 255) / 256,
                                                   256, arguments, shifted ? 4 : 3, NULL);
    support_finished(&result);
    ck_assert_uint_eq(result.warps, 32792);
    assert_count("loads", result.traffic.global.load, kernels[row].load);
    assert_count("stores", result.traffic.global.store, kernels[row].store);
    assert_count("local loads", result.traffic.local_array.load, kernels[row].local_load);
    assert_count("local stores", result.traffic.local_array.store, kernels[row].local_store);
    ck_assert_int_eq(emulator_copy_out(emulator, device_out, out, n * sizeof *out), 0);
    size_t wrong = n; /* one assertion: a million take longer than the kernel */
    for (size_t i = 0; i < n && wrong == n; ++i) {
        float wanted = reference(in + i, taps, (unsigned)shift);
        wrong = memcmp(&out[i], &wanted, sizeof wanted) == 0 ? n : i;
    }
    ck_assert_msg(wrong == n, "out[%zu] is %a", wrong, (double)out[wrong % n]);
    emulator_result_release(&result);
    emulator_free(emulator);
    free(in);
    free(out);
}
END_TEST

/* An input that is one element short, or an output never written, must be seen at the exact spot.
 */
START_TEST(one_element_too_far_is_reported)
{
    struct emulator *emulator = support_emulator_fixture("ptx/decay_sm75.ptx");
    const size_t n = N, in_bytes = (n + 62) * sizeof(float);
    float *in = make_input(n + 63);
    uint64_t device_in = support_buffer(emulator, "in", in, in_bytes);
    uint64_t device_out = support_buffer(emulator, "out", NULL, n * sizeof(float));
    const struct support_argument arguments[] = {{&device_in, 8}, {&device_out, 8}, {&n, 8}};
    struct emulator_result result =
        support_launch(emulator, "decayWide", (N + 255) / 256, 256, arguments, 3, NULL);
    ck_assert_int_eq(result.status, EMULATOR_FAULTED);
    ck_assert_uint_eq(result.fault_count, 1);
    const struct emulator_fault *fault = &result.faults[0];
    ck_assert_str_eq(fault->kind, "out of bounds");
    ck_assert_uint_eq(fault->count, 1);
    ck_assert_uint_eq(fault->block[0], 4098);
    ck_assert_uint_eq(fault->thread[0], 98);
    ck_assert_uint_eq(fault->address, device_in + in_bytes);
    ck_assert_uint_eq(fault->bytes, 4);
    ck_assert_str_eq(fault->file, "decay.cu");
    ck_assert_uint_eq(fault->line, 16);
    char wanted[400];
    (void)snprintf(wanted, sizeof wanted,
                   "decayWide reads past the end of `in`: block 4098, thread 98 (decay.cu:16) read "
                   "4 bytes at address 0x%llx, directly after the last element of `in` (4,196,996 "
                   "bytes)",
                   (unsigned long long)fault->address);
    ck_assert_str_eq(fault->text, wanted);
    emulator_result_release(&result);
    emulator_free(emulator);
    free(in);
}
END_TEST

START_TEST(unwritten_input_is_reported)
{
    struct emulator *emulator = support_emulator_fixture("ptx/decay_sm75.ptx");
    const size_t n = 4099, in_bytes = (n + 3) * sizeof(float);
    float *in = make_input(n + 3);
    uint64_t device_in = support_buffer(emulator, "in", NULL, in_bytes);
    uint64_t device_out = support_buffer(emulator, "out", NULL, n * sizeof(float));
    ck_assert_int_eq(emulator_copy_in(emulator, device_in, in, in_bytes - 8), 0);
    const struct support_argument arguments[] = {{&device_in, 8}, {&device_out, 8}, {&n, 8}};
    struct emulator_result result =
        support_launch(emulator, "decayNarrow", 17, 256, arguments, 3, NULL);
    ck_assert_int_eq(result.status, EMULATOR_FAULTED);
    ck_assert_uint_eq(result.fault_count, 1);
    ck_assert_uint_eq(result.faults[0].count,
                      3); /* threads 1 and 2 before the end read one and two */
    ck_assert_str_eq(result.faults[0].kind, "uninitialised read");
    ck_assert_uint_eq(result.faults[0].block[0], 16);
    emulator_result_release(&result);
    const struct emulator_options careless = {.threads = 1, .no_checks = true};
    result = support_launch(emulator, "decayNarrow", 17, 256, arguments, 3, &careless);
    support_finished(&result);
    emulator_result_release(&result);
    emulator_free(emulator);
    free(in);
}
END_TEST

Suite *suite_emulator(void);
Suite *suite_emulator(void)
{
    Suite *suite = suite_create("emulator");
    TCase *tcase = tcase_create("decay");
    tcase_set_timeout(tcase, 240);
    tcase_add_loop_test(tcase, decay_kernels_are_exact, 0, COUNT_OF(kernels) * COUNT_OF(fixtures));
    tcase_add_test(tcase, one_element_too_far_is_reported);
    tcase_add_test(tcase, unwritten_input_is_reported);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* check_emulator_counters.c - requests, sectors and wavefronts as Nsight Compute counted them on an
 * H200 (sm_90, 256-byte aligned buffers). The profiler's shared-memory counters carry noise from
 * arbitration (303 conflicts where there are none): those are compared within 0.1 % or 400. */
#include "support_emulator.h"

#define N 100003

/* clang-format off */
static const struct {
    const char *entry;
    unsigned grid[2], block[2];
    unsigned in_bytes, out_bytes, scalar;
    struct traffic_count load, store;
    uint64_t shared_wavefronts; /* loads; 0: none */
} rows[] = {
    {"transpose_plain", {32, 32}, {32, 32}, 4 << 20, 4 << 20, 1024, {32768, 131072}, {32768, 131072}, 1048707},
    {"transpose_padded", {32, 32}, {32, 32}, 4 << 20, 4 << 20, 1024, {32768, 131072}, {32768, 131072}, 33071},
    {"stride3", {391, 1}, {256, 1}, 3 * N * 4, N * 4, N, {3126, 37501}, {3126, 12501}, 0},
    {"stride8", {391, 1}, {256, 1}, 8 * N * 4, N * 4, N, {3126, 100003}, {3126, 12501}, 0},
    {"copy_float2", {391, 1}, {256, 1}, N * 8, N * 8, N, {3126, 25001}, {3126, 25001}, 0},
    {"copy_float4", {391, 1}, {256, 1}, N * 16, N * 16, N, {3126, 50002}, {3126, 50002}, 0},
    {"copy_char", {391, 1}, {256, 1}, N, N, N, {3126, 3126}, {3126, 3126}, 0},
    {"odd_even", {391, 1}, {256, 1}, N * 4, N * 4, N, {6252, 28127}, {6252, 25002}, 0},
};
/* clang-format on */

static struct emulator_result launch(struct emulator *emulator, const char *entry,
                                     const unsigned grid[2], const unsigned block[2],
                                     const struct support_argument *arguments, size_t count)
{
    const void *data[4];
    size_t bytes[4];
    for (size_t i = 0; i < count; ++i) {
        data[i] = arguments[i].data;
        bytes[i] = arguments[i].bytes;
    }
    const struct emulator_launch spec = {.entry = entry,
                                         .grid = {grid[0], grid[1], 1},
                                         .block = {block[0], block[1], 1},
                                         .arguments = data,
                                         .argument_bytes = bytes,
                                         .argument_count = count};
    const struct emulator_options options = {.threads = 2};
    struct emulator_result result;
    struct error err = {0};
    ck_assert_msg(emulator_launch(emulator, &spec, &options, &result, &err) == 0, "%s", err.text);
    support_finished(&result);
    return result;
}

static void assert_near(const char *what, uint64_t got, uint64_t wanted)
{
    const uint64_t difference = got > wanted ? got - wanted : wanted - got;
    ck_assert_msg(difference <= 400 || difference * 1000 <= wanted, "%s: %llu, not %llu", what,
                  (unsigned long long)got, (unsigned long long)wanted);
}

START_TEST(kernels_are_counted_like_the_hardware)
{
    struct emulator *emulator = support_emulator_fixture("truth/basics_sm90.ptx");
    void *in = calloc(1, rows[_i].in_bytes);
    ck_assert_ptr_nonnull(in);
    uint64_t device_in = support_buffer(emulator, "in", in, rows[_i].in_bytes);
    uint64_t device_out = support_buffer(emulator, "out", NULL, rows[_i].out_bytes);
    const int scalar = (int)rows[_i].scalar;
    const struct support_argument arguments[] = {{&device_in, 8}, {&device_out, 8}, {&scalar, 4}};
    struct emulator_result result =
        launch(emulator, rows[_i].entry, rows[_i].grid, rows[_i].block, arguments, 3);
    ck_assert_uint_eq(result.traffic.global.load.requests, rows[_i].load.requests);
    ck_assert_uint_eq(result.traffic.global.load.sectors, rows[_i].load.sectors);
    ck_assert_uint_eq(result.traffic.global.store.requests, rows[_i].store.requests);
    ck_assert_uint_eq(result.traffic.global.store.sectors, rows[_i].store.sectors);
    assert_near("wavefronts", result.counters.shared_load.sectors, rows[_i].shared_wavefronts);
    emulator_result_release(&result);
    emulator_free(emulator);
    free(in);
}
END_TEST

/* rand() of the GNU C library after srand(5): the indices of the profiled kernels. */
static void make_indices(int *to, size_t count)
{
    static int32_t r[34 + 310 + N];
    r[0] = 5;
    for (int i = 1; i < 31; ++i) {
        int64_t next = INT64_C(16807) * r[i - 1] % 2147483647;
        r[i] = (int32_t)(next < 0 ? next + 2147483647 : next);
    }
    for (int i = 31; i < 34; ++i)
        r[i] = r[i - 31];
    for (size_t i = 34; i < 344 + count; ++i)
        r[i] = (int32_t)((uint32_t)r[i - 31] + (uint32_t)r[i - 3]);
    for (size_t i = 0; i < count; ++i)
        to[i] = (int)((uint32_t)r[i + 344] >> 1) % N;
}

START_TEST(a_gather_is_counted_like_the_hardware)
{
    struct emulator *emulator = support_emulator_fixture("truth/basics_sm90.ptx");
    int *idx = malloc(N * sizeof *idx);
    float *in = calloc(N, sizeof *in);
    ck_assert(idx != NULL && in != NULL);
    make_indices(idx, N);
    uint64_t device_in = support_buffer(emulator, "in", in, N * sizeof *in);
    uint64_t device_idx = support_buffer(emulator, "idx", idx, N * sizeof *idx);
    uint64_t device_out = support_buffer(emulator, "out", NULL, N * sizeof *in);
    const int n = N;
    const unsigned grid[] = {391, 1}, block[] = {256, 1};
    const struct support_argument arguments[] = {
        {&device_in, 8}, {&device_idx, 8}, {&device_out, 8}, {&n, 4}};
    struct emulator_result result = launch(emulator, "gather", grid, block, arguments, 4);
    ck_assert_uint_eq(result.traffic.global.load.requests, 6252);
    ck_assert_uint_eq(result.traffic.global.load.sectors, 112388);
    ck_assert_uint_eq(result.traffic.global.store.requests, 3126);
    ck_assert_uint_eq(result.traffic.global.store.sectors, 12501);
    emulator_result_release(&result);
    emulator_free(emulator);
    free(idx);
    free(in);
}
END_TEST

/* Instructions by kind add up, and lanes are counted. */
START_TEST(instructions_are_counted_by_kind)
{
    struct emulator *emulator = support_emulator_fixture("truth/basics_sm75.ptx");
    const int n = 1000;
    int *in = calloc((size_t)n, sizeof *in);
    ck_assert_ptr_nonnull(in);
    uint64_t device_in = support_buffer(emulator, "in", in, (size_t)n * sizeof *in);
    uint64_t device_out = support_buffer(emulator, "out", NULL, 4 * sizeof *in);
    const unsigned grid[] = {4, 1}, block[] = {256, 1};
    const struct support_argument arguments[] = {{&device_in, 8}, {&device_out, 8}, {&n, 4}};
    struct emulator_result result = launch(emulator, "reduce_shuffle", grid, block, arguments, 3);
    const struct emulator_counters *counters = &result.counters;
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < EMULATOR_KIND_COUNT; ++kind)
        sum += counters->instructions[kind];
    ck_assert_uint_eq(sum, result.warp_instructions);
    /* 5 shuffles in each of 32 warps, 5 more in the first of each of 4 blocks. */
    ck_assert_uint_eq(counters->instructions[EMULATOR_EXCHANGE], 32 * 5 + 4 * 5);
    ck_assert_uint_eq(counters->instructions[EMULATOR_BARRIER], 32);
    ck_assert_uint_eq(counters->barriers, 4);
    ck_assert_uint_eq(counters->shared_store.requests, 32);
    ck_assert_uint_le(counters->lane_instructions, 32 * result.warp_instructions);
    ck_assert_uint_gt(counters->divergent_branches, 0);
    ck_assert_uint_le(counters->divergent_branches, counters->branches);
    emulator_result_release(&result);
    emulator_free(emulator);
    free(in);
}
END_TEST

/* One warp goes to one address: ptxas (13.0, sm_90) lets one lane do it for all, or it does not, as
 * its machine code for the same instructions shows. */
/* clang-format off */
#define POSITION "mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %out, %d2;\n"
static const struct {
    const char *statements;
    uint64_t sectors;
} joined[] = {
    {"red.global.add.u32 [%out], %t;", 1},
    {"atom.global.add.u32 %r3, [%out+4], %t;", 1}, /* the result is not used */
    {"red.global.add.u32 [counter], %t;", 1},
    {"red.add.u32 [%out], 1;", 1},
    {"red.global.and.b32 [%out], %t;", 1},
    {"red.global.or.b32 [%out], 5;", 1},
    {"atom.global.xor.b32 %r3, [%out], %t;", 1},
    {"red.global.min.s32 [%out], %t;", 1},
    {"red.global.max.u32 [%out], 5;", 1},
    {"red.relaxed.sys.global.add.u32 [%out], %t;", 1},
    {"mov.u64 %d2, 1; red.global.add.u64 [%out], %d2;", 1},
    {"atom.global.add.u64 %d2, [%out], 3; mov.u64 %d3, %d2;", 1},
    {"mov.u32 %r2, %ctaid.x; " POSITION "red.global.add.u32 [%d3], %t;", 1},
    {"ld.global.u32 %r2, [%in]; " POSITION "red.global.add.u32 [%d3], %t;", 1},
    {"shfl.sync.idx.b32 %r2, %t, 0, 31, -1; " POSITION "red.global.add.u32 [%d3], %t;", 1},
    {"mov.u32 %r2, 0; next: " POSITION "red.global.add.u32 [%d3], %t; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra next;", 3},
    {"atom.global.add.u32 %r3, [%out], 1; mov.u32 %r4, %r3;", 1},
    {"atom.global.add.u32 %r3, [%out], %t; mov.u32 %r4, %r3;", 1}, /* by shuffles, of full warps */
    {"setp.gt.u32 %p1, %t, 9; @%p1 bra end; red.global.add.u32 [%out], %t; end:", 1},
    {"setp.gt.u32 %p1, %t, 9; @%p1 red.global.add.u32 [%out], %t;", 1},
    {"setp.gt.u32 %p1, %t, 9; @%p1 bra end; atom.global.add.u32 %r3, [%out], %t; mov.u32 %r4, %r3; end:", 10},
    {"atom.global.or.b32 %r3, [%out], %t; mov.u32 %r4, %r3;", 32},
    {"atom.global.max.u32 %r3, [%out], %t; mov.u32 %r4, %r3;", 32},
    {"atom.global.exch.b32 %r3, [%out], 5;", 32},
    {"red.global.inc.u32 [%out], 99;", 32},
    {"red.global.add.f32 [%out], 0f3F800000;", 32},
    {"cvt.u64.u32 %d2, %t; red.global.add.u64 [%out], %d2;", 32},
    {"cvt.u64.u32 %d2, %t; red.global.max.u64 [%out], %d2;", 32},
    {"mov.u64 %d2, 15; red.global.and.b64 [%out], %d2;", 32},
    {"shr.u32 %r2, %t, 5; " POSITION "red.global.add.u32 [%d3], %t;", 32}, /* equal, but who knows */
    {"mov.u32 %r2, 0; next: " POSITION "red.global.add.u32 [%d3], %t; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %t; @%p1 bra next;", 497},
    {"setp.lt.u32 %p1, %t, 40; add.u64 %d2, %out, 4; selp.u64 %d3, %out, %d2, %p1; red.global.add.u32 [%d3], 1;", 32},
};
/* clang-format on */

START_TEST(atomics_to_one_address_are_joined)
{
    uint32_t in[32] = {0}, out[64] = {0};
    const struct support_kernel kernel = {.declarations = ".global .u32 counter;",
                                          .statements = joined[_i].statements,
                                          .in = in,
                                          .in_bytes = sizeof in,
                                          .out = out,
                                          .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    ck_assert_msg(result.status == EMULATOR_FINISHED, "%s: %s", kernel.statements, result.refusal);
    ck_assert_msg(result.counters.global_atomic.sectors == joined[_i].sectors,
                  "%s: %llu sectors, not %llu", kernel.statements,
                  (unsigned long long)result.counters.global_atomic.sectors,
                  (unsigned long long)joined[_i].sectors);
    emulator_result_release(&result);
}
END_TEST

/* Lanes that return within a loop store one by one; those that break store together. */
START_TEST(ways_out_of_a_loop_are_counted_apart)
{
    uint32_t out[32] = {0};
    const struct support_kernel kernel = {
        .statements = "mul.wide.u32 %d1, %t, 4; add.u64 %d2, %out, %d1; mov.u32 %r2, 0;\n"
                      "next: setp.eq.u32 %p1, %r2, %t; @%p1 bra found;\n"
                      "shl.b32 %r3, %r2, 1; add.u32 %r3, %r3, 9; setp.eq.u32 %p2, %r3, %t;\n"
                      "@%p2 bra broken; add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 8;\n"
                      "@%p3 bra next; broken: st.global.u32 [%d2], 1; bra.uni end;\n"
                      "found: st.global.u32 [%d2], 2; end:",
        .out = out,
        .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    support_finished(&result);
    for (unsigned t = 0; t < 32; ++t)
        ck_assert_uint_eq(out[t], t < 8 ? 2 : 1);
    ck_assert_uint_eq(result.traffic.global.store.requests, 8 + 1);
    ck_assert_uint_eq(result.traffic.global.store.sectors, 8 + 3);
    emulator_result_release(&result);
}
END_TEST

Suite *suite_emulator_counters(void);
Suite *suite_emulator_counters(void)
{
    Suite *suite = suite_create("emulator_counters");
    TCase *tcase = tcase_create("counters");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, kernels_are_counted_like_the_hardware, 0, COUNT_OF(rows));
    tcase_add_test(tcase, a_gather_is_counted_like_the_hardware);
    tcase_add_test(tcase, instructions_are_counted_by_kind);
    tcase_add_loop_test(tcase, atomics_to_one_address_are_joined, 0, COUNT_OF(joined));
    tcase_add_test(tcase, ways_out_of_a_loop_are_counted_apart);
    suite_add_tcase(suite, tcase);
    return suite;
}

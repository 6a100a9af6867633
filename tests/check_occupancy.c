/* check_occupancy.c - occupancy arithmetic, held equal to the toolkit's cuda_occupancy.h over
 * everything that header knows, and to published and measured figures where there is no toolkit. */
#include "testing.h"

#include <limits.h>

#include "occupancy.h"

/* The oracle is read from the toolkit's folder when this file is compiled; it is not ours to copy.
 */
#ifdef __has_include
#if __has_include(<cuda_occupancy.h>)
#define HAVE_ORACLE 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#include <cuda_occupancy.h>
#include <cuda_runtime_api.h> /* for CUDART_VERSION */
#pragma GCC diagnostic pop
#endif
#endif

static const struct sm_limits *limits_of(unsigned number)
{
    const struct sm_limits *sm = sm_limits_find(number / 10, number % 10);
    ck_assert_msg(sm != NULL, "sm_%u is not in the table", number);
    return sm;
}

#define TABLE_ROWS 20

START_TEST(test_table)
{
    const struct sm_limits *sm = sm_limits_row((size_t)_i);
    ck_assert_ptr_nonnull(sm);
    ck_assert_ptr_eq(sm_limits_find(sm->major, sm->minor), sm);
    const struct sm_limits *next = sm_limits_row((size_t)_i + 1);
    ck_assert_int_eq(next == NULL, _i == TABLE_ROWS - 1);
    if (next != NULL)
        ck_assert_uint_lt(sm->major * 10 + sm->minor, next->major * 10 + next->minor);
    ck_assert_ptr_null(sm_limits_find(4, 0));
    ck_assert_ptr_null(sm_limits_find(9, 1));
    ck_assert_ptr_null(sm_limits_find(13, 0));
}
END_TEST

/* ---- Figures that are known from elsewhere --------------------------------------------------- */

/* clang-format off */
static const struct anchor {
    unsigned arch, registers, threads, shared, barriers;
    unsigned blocks, limited_by, allocated, next_registers, next_blocks;
} anchors[] = {
    /* The lesson's: a T4, 256 threads. */
    { 75,  65,  256, 0, 0,   3, OCCUPANCY_BY_REGISTERS,  72,  64, 4},
    { 75,  64,  256, 0, 0,   4, OCCUPANCY_BY_THREADS | OCCUPANCY_BY_REGISTERS, 64, 0, 0},
    { 75,  72,  256, 0, 0,   3, OCCUPANCY_BY_REGISTERS,  72,  64, 4},
    { 75,  10,  256, 0, 0,   4, OCCUPANCY_BY_THREADS,    16,   0, 0},
    /* Where simple division is wrong: partitions, and the check at launch. */
    { 80,  80,  160, 0, 0,   4, OCCUPANCY_BY_REGISTERS,  80,  72, 5},
    { 80,  33,  256, 0, 0,   6, OCCUPANCY_BY_REGISTERS,  40,  32, 8},
    { 80,  65, 1024, 0, 0,   0, OCCUPANCY_BY_REGISTERS,  72,  64, 1},
    { 75, 255,   32, 0, 0,   8, OCCUPANCY_BY_REGISTERS, 256, 168, 12},
    /* 32 K registers a block on Tegra. */
    { 53,  40, 1024, 0, 0,   0, OCCUPANCY_BY_REGISTERS,  40,  32, 2},
    { 62,  32, 1024, 0, 0,   2, OCCUPANCY_BY_THREADS | OCCUPANCY_BY_REGISTERS, 32, 0, 0},
    { 52,  64, 1024, 0, 0,   1, OCCUPANCY_BY_REGISTERS,  64,  32, 2},
    /* 6.0 has two sub-partitions: 6 warps in each of them. */
    { 60, 168,   32, 0, 0,  12, OCCUPANCY_BY_REGISTERS, 168, 144, 14},
    /* Shared memory: unit of 256, then of 128 with 1 KiB more. */
    { 75,  32,  128, 20000, 0, 3, OCCUPANCY_BY_SHARED,   32,   0, 0},
    { 86,  32,  128, 20000, 0, 4, OCCUPANCY_BY_SHARED,   32,   0, 0},
    { 90,  32,  128, 232448, 0, 1, OCCUPANCY_BY_SHARED,  32,   0, 0},
    { 90,  32,  128, 232449, 0, 0, OCCUPANCY_BY_SHARED,  32,   0, 0},
    { 61,  32,  128, 49153, 0, 0, OCCUPANCY_BY_SHARED,   32,   0, 0},
    /* Barriers, since 9.0. */
    { 90,  32,   64, 0, 16,   4, OCCUPANCY_BY_BARRIERS,  32,   0, 0},
    {120,  32,   64, 0, 2,   12, OCCUPANCY_BY_BARRIERS,  32,   0, 0},
    { 86,  32,   64, 0, 16,  16, OCCUPANCY_BY_BLOCKS,    32,   0, 0},
    /* 11.0 has 1,536 threads. */
    {110,  40,  512, 0, 0,   3, OCCUPANCY_BY_THREADS | OCCUPANCY_BY_REGISTERS, 40, 0, 0},
    {110,  32,   32, 0, 0,  24, OCCUPANCY_BY_BLOCKS,     32,   0, 0},
};
/* clang-format on */

START_TEST(test_anchors)
{
    const struct anchor *row = &anchors[_i];
    const struct sm_limits *sm = limits_of(row->arch);
    const struct occupancy_kernel kernel = {.registers = row->registers,
                                            .threads = row->threads,
                                            .shared_bytes = row->shared,
                                            .barriers = row->barriers};
    struct occupancy found = occupancy_compute(sm, &kernel);
    ck_assert_uint_eq(found.blocks, row->blocks);
    ck_assert_uint_eq(found.limited_by, row->limited_by);
    ck_assert_uint_eq(found.registers_allocated, row->allocated);
    ck_assert_uint_eq(found.next_registers, row->next_registers);
    ck_assert_uint_eq(found.next_blocks, row->next_blocks);
    ck_assert_uint_eq(found.threads, row->blocks * row->threads);
    unsigned warps = row->blocks * ((row->threads + 31) / 32);
    ck_assert_double_eq_tol(found.percent, 3200.0 * warps / sm->threads_per_sm, 1e-9);
}
END_TEST

/* Blocks per SM of 256 threads at 44, 64, 69 and 72 registers, for every row of the table. */
START_TEST(test_lesson_counts)
{
    const struct sm_limits *sm = sm_limits_row((size_t)_i);
    static const unsigned registers[] = {44, 64, 69, 72};
    const unsigned turing[] = {4, 4, 3, 3}, others[] = {5, 4, 3, 3};
    bool is_turing = sm->major == 7 && sm->minor == 5;
    for (size_t i = 0; i < COUNT_OF(registers); ++i) {
        const struct occupancy_kernel kernel = {.registers = registers[i], .threads = 256};
        ck_assert_uint_eq(occupancy_compute(sm, &kernel).blocks, is_turing ? turing[i] : others[i]);
    }
}
END_TEST

/* maxThreadsPerBlock as the runtime states it: Tesla T4 (published) and H200 (measured). */
/* clang-format off */
static const struct largest {
    unsigned arch, registers, max_threads, threads;
} largests[] = {
    {75,  10,   0, 1024}, {75, 72,   0, 896}, {75, 69, 0, 896}, {75, 64, 256, 256},
    {90,  12,   0, 1024}, {90, 72,   0, 896}, {90, 32, 0, 1024}, {90, 64, 256, 256},
    {90,  64,   0, 1024}, {90, 255,  0, 256}, {53, 64, 0, 512}, {53, 72, 0, 384},
    {90, 65,    0,  896}, {90, 73,   0, 768}, {90, 81, 0, 640}, {90, 96,   0, 640},
    {90, 97,    0,  512}, {90, 128,  0, 512}, {90, 129, 0, 384}, {90, 168, 0, 384},
    {90, 169,   0,  256}, {90, 240,  0, 256}, {90, 96, 33, 33}, {90, 96, 100, 100},
    {90, 64,  500,  500}, {90, 64, 1000, 1000},
    {90, 256,   0, 0},    {75,  0,   0, 1024}, {75, 80, 0, 768}, {75, 80, 1024, 768},
};
/* clang-format on */

START_TEST(test_largest_block)
{
    const struct largest *row = &largests[_i];
    ck_assert_uint_eq(
        occupancy_max_block_threads(limits_of(row->arch), row->registers, row->max_threads),
        row->threads);
}
END_TEST

/* The largest block is the largest that fits at all; one warp more does not. */
START_TEST(test_largest_block_fits)
{
    const struct sm_limits *sm = sm_limits_row((size_t)_i);
    for (unsigned registers = 1; registers <= sm->registers_per_thread; ++registers) {
        struct occupancy_kernel kernel = {.registers = registers};
        kernel.threads = occupancy_max_block_threads(sm, registers, 0);
        ck_assert_uint_gt(occupancy_compute(sm, &kernel).blocks, 0);
        kernel.threads += OCCUPANCY_WARP_THREADS;
        ck_assert_uint_eq(occupancy_compute(sm, &kernel).blocks, 0);
    }
}
END_TEST

/* clang-format off */
static const struct budget {
    unsigned arch, threads, blocks, registers;
} budgets[] = {
    {75,  256, 4,  64}, {75,  256, 3,  80}, {75, 256, 5, 0}, {75, 1024, 1, 64}, {80, 1024, 2, 32},
    {90,  256, 4,  64}, {90,  256, 8,  32}, {90, 256, 9, 0}, {86, 256, 6, 40}, {53, 1024, 1, 32},
    {75,   32, 1, 255}, {90, 1025, 1,   0}, {120, 256, 4, 64}, {75, 160, 4, 96}, {75, 0, 1, 0},
};
/* clang-format on */

START_TEST(test_budget)
{
    const struct budget *row = &budgets[_i];
    ck_assert_uint_eq(occupancy_register_budget(limits_of(row->arch), row->threads, row->blocks),
                      row->registers);
}
END_TEST

/* A budget is the most that fits, for every block size and count. */
START_TEST(test_budget_is_the_edge)
{
    const struct sm_limits *sm = sm_limits_row((size_t)_i);
    for (unsigned threads = 32; threads <= 1024; threads += 32)
        for (unsigned blocks = 1; blocks <= sm->blocks_per_sm; ++blocks) {
            struct occupancy_kernel kernel = {.threads = threads};
            kernel.registers = occupancy_register_budget(sm, threads, blocks);
            if (kernel.registers > 0)
                ck_assert_uint_ge(occupancy_compute(sm, &kernel).blocks, blocks);
            if (kernel.registers < sm->registers_per_thread) {
                ++kernel.registers;
                ck_assert_uint_lt(occupancy_compute(sm, &kernel).blocks, blocks);
            }
        }
}
END_TEST

/* next_registers is the largest count that gains a block: by trying each count below. */
START_TEST(test_next_registers)
{
    const struct sm_limits *sm = sm_limits_row((size_t)_i);
    for (unsigned threads = 32; threads <= 1024; threads += 96)
        for (unsigned registers = 1; registers <= sm->registers_per_thread; ++registers) {
            struct occupancy_kernel kernel = {.registers = registers, .threads = threads};
            struct occupancy found = occupancy_compute(sm, &kernel);
            struct occupancy better = found;
            while (better.blocks <= found.blocks && --kernel.registers > 0)
                better = occupancy_compute(sm, &kernel);
            ck_assert_uint_eq(found.next_registers, kernel.registers);
            if (kernel.registers > 0)
                ck_assert_uint_eq(found.next_blocks, better.blocks);
        }
}
END_TEST

START_TEST(test_launch_bounds)
{
    const struct sm_limits *sm = limits_of(75);
    struct occupancy_kernel kernel = {.registers = 32, .threads = 256, .max_threads = 128};
    struct occupancy found = occupancy_compute(sm, &kernel);
    ck_assert_uint_eq(found.blocks, 0);
    ck_assert_uint_eq(found.limited_by, OCCUPANCY_BY_THREADS);
    ck_assert_uint_eq(found.next_registers, 0);
    kernel.max_threads = 256;
    ck_assert_uint_eq(occupancy_compute(sm, &kernel).blocks, 4);
    kernel.threads = 0;
    ck_assert_uint_eq(occupancy_compute(sm, &kernel).blocks, 0);
    kernel = (struct occupancy_kernel){.registers = UINT32_MAX, .threads = 256};
    found = occupancy_compute(sm, &kernel);
    ck_assert_uint_eq(found.blocks, 0);
    ck_assert_uint_eq(found.next_registers, 255);
}
END_TEST

/* ---- The arithmetic in words ----------------------------------------------------------------- */

/* clang-format off */
static const struct explained {
    unsigned arch, registers, threads;
    const char *words;
} explained[] = {
    {75,  65,  256, "65 registers are allocated as 72; 72 x 256 = 18,432; 65,536 / 18,432 = 3 blocks"},
    {75,  64,  256, "64 registers are allocated as they are; 64 x 256 = 16,384; 65,536 / 16,384 = 4 blocks"},
    {75,  64, 1024, "64 registers are allocated as they are; 64 x 1024 = 65,536; 65,536 / 65,536 = 1 block"},
    {75,  65, 1024, "65 registers are allocated as 72; 72 x 1024 = 73,728, more than the 65,536 that a block may have"},
    {53,  40, 1024, "40 registers are allocated as they are; 40 x 1024 = 40,960, more than the 32,768 that a block may have"},
    {80,  80,  160, "80 registers are allocated as they are; a warp takes 32 x 80 = 2,560; each of 4 sub-partitions has 16,384, room for 6 warps; 4 x 6 / 5 warps a block = 4 blocks"},
    {60, 100,   32, "100 registers are allocated as 104; a warp takes 32 x 104 = 3,328; each of 2 sub-partitions has 32,768, room for 9 warps; 2 x 9 / 1 warps a block = 18 blocks"},
    {75,  10,   33, "10 registers are allocated as 16; 16 x 64 = 1,024; 65,536 / 1,024 = 64 blocks"},
    {75,   0,  256, "no registers are used, so they set no limit"},
    {75, 300,  256, "300 registers are more than the 255 that a thread may have"},
};
/* clang-format on */

START_TEST(test_explained)
{
    const struct explained *row = &explained[_i];
    const struct occupancy_kernel kernel = {.registers = row->registers, .threads = row->threads};
    struct bytes words = bytes_with_limit(1024);
    occupancy_explain_registers(&words, limits_of(row->arch), &kernel);
    ck_assert_str_eq(bytes_text(&words), row->words);
    bytes_release(&words);
}
END_TEST

START_TEST(test_limit_names)
{
    ck_assert_str_eq(occupancy_limit_name(OCCUPANCY_BY_THREADS), "threads");
    ck_assert_str_eq(occupancy_limit_name(OCCUPANCY_BY_BLOCKS), "blocks");
    ck_assert_str_eq(occupancy_limit_name(OCCUPANCY_BY_REGISTERS), "registers");
    ck_assert_str_eq(occupancy_limit_name(OCCUPANCY_BY_SHARED), "shared memory");
    ck_assert_str_eq(occupancy_limit_name(OCCUPANCY_BY_BARRIERS), "barriers");
}
END_TEST

/* ---- Against the toolkit's header ------------------------------------------------------------ */

#ifdef HAVE_ORACLE

static cudaOccDeviceProp oracle_device(const struct sm_limits *sm)
{
    return (cudaOccDeviceProp){
        .computeMajor = (int)sm->major,
        .computeMinor = (int)sm->minor,
        .maxThreadsPerBlock = (int)sm->threads_per_block,
        .maxThreadsPerMultiprocessor = (int)sm->threads_per_sm,
        .regsPerBlock = (int)sm->registers_per_block,
        .regsPerMultiprocessor = (int)sm->registers_per_sm,
        .warpSize = OCCUPANCY_WARP_THREADS,
        .sharedMemPerBlock = sm->shared_per_block,
        .sharedMemPerMultiprocessor = sm->shared_per_sm,
        .numSms = 1,
        .sharedMemPerBlockOptin = sm->shared_per_block_optin,
        .reservedSharedMemPerBlock = sm->shared_reserved,
    };
}

static bool oracle_ask(cudaOccResult *result, const struct sm_limits *sm,
                       const struct occupancy_kernel *kernel)
{
    const cudaOccDeviceProp device = oracle_device(sm);
    const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    const cudaOccFuncAttributes function = {
        .maxThreadsPerBlock = INT_MAX,
        .numRegs = (int)kernel->registers,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN, /* all of it dynamic, and asked for */
        .maxDynamicSharedSizeBytes = kernel->shared_bytes,
        .numBlockBarriers = (int)kernel->barriers,
    };
    return cudaOccMaxActiveBlocksPerMultiprocessor(result, &device, &function, &state,
                                                   (int)kernel->threads,
                                                   kernel->shared_bytes) == CUDA_OCC_SUCCESS;
}

/* Our bits in the header's order. Where barriers alone limit, the header leaves the bits of the
 * limits it looked at before; those are not compared. */
static unsigned oracle_limits(const cudaOccResult *result)
{
    static const struct {
        unsigned theirs, ours;
    } bits[] = {{OCC_LIMIT_WARPS, OCCUPANCY_BY_THREADS},
                {OCC_LIMIT_BLOCKS, OCCUPANCY_BY_BLOCKS},
                {OCC_LIMIT_REGISTERS, OCCUPANCY_BY_REGISTERS},
                {OCC_LIMIT_SHARED_MEMORY, OCCUPANCY_BY_SHARED},
                {OCC_LIMIT_BARRIERS, OCCUPANCY_BY_BARRIERS}};
    unsigned ours = 0;
    for (size_t i = 0; i < COUNT_OF(bits); ++i)
        if ((result->limitingFactors & bits[i].theirs) != 0)
            ours |= bits[i].ours;
    return ours;
}

/* The header of CUDA 12.0 to 12.6 ends with 9.0. */
static bool oracle_knows(const struct sm_limits *sm)
{
    return sm->major <= 9 || CUDART_VERSION >= 12080;
}

/* Compares without a Check assertion for each of millions of cases. */
static bool same_as_oracle(const struct sm_limits *sm, const struct occupancy_kernel *kernel)
{
    cudaOccResult result;
    if (!oracle_ask(&result, sm, kernel)) {
        ck_abort_msg("cuda_occupancy.h does not know %u.%u", sm->major, sm->minor);
        return false;
    }
    struct occupancy found = occupancy_compute(sm, kernel);
    bool limits_compared =
        result.blockLimitBarriers >= result.blockLimitBlocks || kernel->barriers == 0;
    if ((int)found.blocks == result.activeBlocksPerMultiprocessor &&
        (!limits_compared || found.limited_by == oracle_limits(&result)))
        return true;
    ck_abort_msg("%u.%u, %u registers, %u threads, %u bytes, %u barriers: %u blocks limited by %x, "
                 "the toolkit says %d and %x",
                 sm->major, sm->minor, kernel->registers, kernel->threads, kernel->shared_bytes,
                 kernel->barriers, found.blocks, found.limited_by,
                 result.activeBlocksPerMultiprocessor, oracle_limits(&result));
    return false;
}

#endif

/* Every register count and block size of one row of the table: 261,120 cases. */
START_TEST(test_oracle)
{
#ifdef HAVE_ORACLE
    const struct sm_limits *sm = sm_limits_row((size_t)_i);
    if (!oracle_knows(sm))
        TEST_SKIP("this cuda_occupancy.h ends before %u.%u", sm->major, sm->minor);
    unsigned cases = 0;
    for (unsigned registers = 1; registers <= 255; ++registers)
        for (unsigned threads = 1; threads <= 1024; ++threads) {
            const struct occupancy_kernel kernel = {.registers = registers, .threads = threads};
            cases += same_as_oracle(sm, &kernel);
        }
    ck_assert_uint_eq(cases, 255 * 1024);
#else
    TEST_SKIP("no CUDA toolkit, so no cuda_occupancy.h");
#endif
}
END_TEST

/* Shared memory and barriers, with fewer registers and block sizes. */
START_TEST(test_oracle_shared_and_barriers)
{
#ifdef HAVE_ORACLE
    static const unsigned registers[] = {1, 16, 32, 40, 64, 72, 128, 255};
    static const unsigned threads[] = {1, 32, 33, 64, 96, 128, 160, 256, 512, 768, 1000, 1024};
    static const unsigned barriers[] = {0, 1, 2, 3, 4, 7, 8, 15, 16};
    const struct sm_limits *sm = sm_limits_row((size_t)_i);
    if (!oracle_knows(sm))
        TEST_SKIP("this cuda_occupancy.h ends before %u.%u", sm->major, sm->minor);
    for (unsigned shared = 0; shared <= sm->shared_per_block_optin + 300; shared += 509)
        for (size_t r = 0; r < COUNT_OF(registers); ++r)
            for (size_t t = 0; t < COUNT_OF(threads); ++t)
                for (size_t b = 0; b < COUNT_OF(barriers); ++b) {
                    const struct occupancy_kernel kernel = {.registers = registers[r],
                                                            .threads = threads[t],
                                                            .shared_bytes = shared,
                                                            .barriers = barriers[b]};
                    if (!same_as_oracle(sm, &kernel))
                        return;
                }
    /* The edges of units and limits. */
    static const unsigned units[] = {128, 256, 1024, 48 * 1024};
    for (size_t u = 0; u < COUNT_OF(units); ++u)
        for (unsigned bytes = 0; bytes <= sm->shared_per_block_optin + units[u]; bytes += units[u])
            for (int off = -1; off <= 1; ++off) {
                const struct occupancy_kernel kernel = {
                    .registers = 32,
                    .threads = 64,
                    .shared_bytes = bytes == 0 && off < 0 ? 0 : bytes + (unsigned)off};
                if (!same_as_oracle(sm, &kernel))
                    return;
            }
#else
    TEST_SKIP("no CUDA toolkit, so no cuda_occupancy.h");
#endif
}
END_TEST

Suite *suite_occupancy(void)
{
    Suite *suite = suite_create("occupancy");
    TCase *known = tcase_create("known");
    tcase_set_timeout(known, 60);
    tcase_add_loop_test(known, test_table, 0, TABLE_ROWS);
    tcase_add_loop_test(known, test_anchors, 0, COUNT_OF(anchors));
    tcase_add_loop_test(known, test_lesson_counts, 0, TABLE_ROWS);
    tcase_add_loop_test(known, test_largest_block, 0, COUNT_OF(largests));
    tcase_add_loop_test(known, test_largest_block_fits, 0, TABLE_ROWS);
    tcase_add_loop_test(known, test_budget, 0, COUNT_OF(budgets));
    tcase_add_loop_test(known, test_budget_is_the_edge, 0, TABLE_ROWS);
    tcase_add_loop_test(known, test_next_registers, 0, TABLE_ROWS);
    tcase_add_test(known, test_launch_bounds);
    tcase_add_loop_test(known, test_explained, 0, COUNT_OF(explained));
    tcase_add_test(known, test_limit_names);
    suite_add_tcase(suite, known);
    TCase *oracle = tcase_create("oracle");
    tcase_set_timeout(oracle, 300);
    tcase_add_loop_test(oracle, test_oracle, 0, TABLE_ROWS);
    tcase_add_loop_test(oracle, test_oracle_shared_and_barriers, 0, TABLE_ROWS);
    suite_add_tcase(suite, oracle);
    return suite;
}

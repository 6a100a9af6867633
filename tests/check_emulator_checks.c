/* check_emulator_checks.c - planted faults: each is found, at its line, in the right thread, once.
 *
 * The kernels are those of tests/truth/kernels/faults.cu, launched with 2 blocks of 64 threads on
 * 64 ints. tests/truth/sanitizer.md has what compute-sanitizer says of the same ones. */
#include "support_emulator.h"

/* clang-format off */
static const struct {
    const char *entry;
    bool uninitialised; /* the buffer */
    struct {
        const char *kind;
        unsigned line, count;
        bool warning;
        unsigned block, thread;
        const char *words; /* in the text */
    } faults[5];
} rows[] = {
    {"read_past_end", false, {{"out of bounds", 22, 1, false, 0, 63, "reads past the end of `data`"}}},
    {"write_past_end", false, {{"out of bounds", 28, 1, false, 1, 7, "writes past the end of `data`"}}},
    {"read_before_begin", false, {{"out of bounds", 34, 1, false, 0, 0, "reads before the beginning of `data`"}}},
    {"null_pointer", false, {{"out of bounds", 41, 2, false, 0, 3, "writes through a null pointer"}}},
    {"misaligned", false, {{"misaligned", 47, 1, false, 0, 5, "writes 4 bytes at an address that is no multiple of 4"}}},
    {"shared_past_end", false, {{"out of bounds", 57, 2, false, 0, 20, "reads outside its shared memory"}}},
    {"local_past_end", false, {{"out of bounds", 66, 2, false, 0, 2, "writes outside its local memory"}}},
    {"uninitialised_global", true, {{"uninitialised read", 74, 32, false, 0, 0, "byte 128 of `data`"}}},
    {"uninitialised_shared", false, {{"uninitialised read", 83, 8, false, 0, 60, "shared memory"}}},
    {"uninitialised_local", false, {{"uninitialised read", 91, 112, false, 0, 1, "local memory"}}},
    {"race_write_write", false,
     {{"shared memory race", 97, 64, false, 0, 1, "writes what was also written by thread 0 of the block (line 97)"}}},
    {"race_read_write", false,
     {{"shared memory race", 105, 32, false, 0, 32, "writes what was read by thread 31 of the block (line 106)"},
      {"uninitialised read", 106, 64, false, 0, 0, "shared memory"},
      {"shared memory race", 106, 64, false, 0, 32, "reads what was written by thread 31 of the block (line 105)"},
      {"global memory race", 106, 32, true, 1, 0, "block number 0"}}},
    {"race_within_warp", false,
     {{"shared memory race", 113, 128, false, 0, 0, "reads what was written by thread 1 of the block (line 112)"}}},
    {"race_global", false, {{"global memory race", 118, 64, true, 1, 0, "also written by block number 0"}}},
    {"shuffle_wrong_mask", false, {{"bad mask", 141, 4, false, 0, 0, "does not name its lane"}}},
    {"double_free", false, {{"double free", 157, 2, false, 0, 0, "frees the same memory twice"}}},
    {"use_after_free", false, {{"use after free", 167, 2, false, 0, 0, "reads memory that was freed"}}},
    {"heap_past_end", false, {{"out of bounds", 175, 2, false, 0, 0, "past the end of memory that malloc gave"}}},
    {"leak", false, {{"leak", 183, 2, true, 0, 0, "2 allocations of malloc (faults.cu:183), 128 bytes in all"}}},
    {"stack_overflow", false, {{"stack overflow", 195, 1, false, 0, 0, "needs more stack"}}},
    {"trap_fault", false, {{"trap", 207, 1, false, 0, 9, "executes a trap"}}},
    {"barrier_id_mismatch", false,
     {{"barrier never met", 213, 1, false, 0, 0, "32 threads of warp 0 at barrier 1 (line 213), 32 threads of warp 1 at barrier 2 (line 215)"}}},
    {"barrier_half_exits", false, {{NULL, 0, 0, false, 0, 0, NULL}}},
};
/* clang-format on */

static struct emulator_result launch(struct emulator *emulator, size_t row,
                                     const struct emulator_options *options)
{
    int data[64], n = 64;
    for (int i = 0; i < n; ++i)
        data[i] = i;
    uint64_t buffer =
        support_buffer(emulator, "data", rows[row].uninitialised ? NULL : data, sizeof data);
    const struct support_argument arguments[] = {{&buffer, 8}, {&n, 4}};
    return support_launch(emulator, rows[row].entry, 2, 64, arguments, 2, options);
}

/* With one thread the counts are exact; with three the first fault has to be the same. */
START_TEST(planted_faults_are_found)
{
    const size_t row = (size_t)_i / 2;
    const unsigned threads = _i % 2 == 0 ? 1 : 3;
    struct emulator *emulator = support_emulator_fixture("truth/faults.ptx");
    const struct emulator_options options = {.threads = threads};
    struct emulator_result result = launch(emulator, row, &options);
    size_t wanted = 0, real = 0;
    while (wanted < COUNT_OF(rows[row].faults) && rows[row].faults[wanted].kind != NULL)
        real += rows[row].faults[wanted++].warning ? 0 : 1;
    ck_assert_int_eq(result.status, real > 0 ? EMULATOR_FAULTED : EMULATOR_FINISHED);
    ck_assert_msg(result.fault_count == wanted || threads > 1, "%s: %zu faults, not %zu",
                  rows[row].entry, result.fault_count, wanted);
    for (size_t f = 0; f < wanted && threads == 1; ++f) {
        const struct emulator_fault *fault = &result.faults[f];
        ck_assert_str_eq(fault->kind, rows[row].faults[f].kind);
        ck_assert_uint_eq(fault->line, rows[row].faults[f].line);
        ck_assert_uint_eq(fault->count, rows[row].faults[f].count);
        ck_assert(fault->warning == rows[row].faults[f].warning);
        ck_assert_uint_eq(fault->block[0], rows[row].faults[f].block);
        ck_assert_uint_eq(fault->thread[0], rows[row].faults[f].thread);
        ck_assert_str_eq(fault->file, "faults.cu");
        ck_assert_msg(strstr(fault->text, rows[row].faults[f].words) != NULL,
                      "\"%s\" is not in: %s", rows[row].faults[f].words, fault->text);
    }
    if (wanted > 0 && !rows[row].faults[0].warning) {
        ck_assert_str_eq(result.faults[0].kind, rows[row].faults[0].kind);
        ck_assert_uint_eq(result.faults[0].line, rows[row].faults[0].line);
        ck_assert_uint_eq(result.faults[0].block[0], rows[row].faults[0].block);
    }
    emulator_result_release(&result);
    emulator_free(emulator);
}
END_TEST

/* Without checks only what would leave the emulator's memory, or its control, is a fault. */
START_TEST(checks_can_be_left_out)
{
    static const char *const stay[] = {"out of bounds",    "misaligned",     "use after free",
                                       "double free",      "stack overflow", "trap",
                                       "barrier never met"};
    struct emulator *emulator = support_emulator_fixture("truth/faults.ptx");
    const struct emulator_options options = {.threads = 1, .no_checks = true};
    struct emulator_result result = launch(emulator, (size_t)_i, &options);
    bool stays = false;
    for (size_t i = 0; i < COUNT_OF(stay); ++i)
        stays = stays ||
                (rows[_i].faults[0].kind != NULL && strcmp(rows[_i].faults[0].kind, stay[i]) == 0);
    ck_assert_uint_eq(result.fault_count, stays ? 1 : 0);
    emulator_result_release(&result);
    emulator_free(emulator);
}
END_TEST

Suite *suite_emulator_checks(void);
Suite *suite_emulator_checks(void)
{
    Suite *suite = suite_create("emulator_checks");
    TCase *tcase = tcase_create("faults");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, planted_faults_are_found, 0, 2 * COUNT_OF(rows));
    tcase_add_loop_test(tcase, checks_can_be_left_out, 0, COUNT_OF(rows));
    suite_add_tcase(suite, tcase);
    return suite;
}

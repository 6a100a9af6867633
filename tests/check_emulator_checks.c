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
    } faults[6];
} rows[] = {
    {"nothing_wrong", false,
     {{NULL, 0, 0, false, 0, 0, NULL}}},
    {"read_past_end", false,
     {{"out of bounds", 22, 1, false, 0, 63, "reads past the end of `data`"}}},
    {"write_past_end", false,
     {{"out of bounds", 28, 1, false, 1, 7, "writes past the end of `data`"}}},
    {"read_before_begin", false,
     {{"out of bounds", 34, 1, false, 0, 0, "reads before the beginning of `data`"}}},
    {"null_pointer", false,
     {{"out of bounds", 41, 2, false, 0, 3, "writes through a null pointer"}}},
    {"misaligned", false,
     {{"misaligned", 47, 1, false, 0, 5, "writes 4 bytes at an address that is no multiple of 4"}}},
    {"shared_past_end", false,
     {{"out of bounds", 57, 2, false, 0, 20, "reads past the end of `box`"}}},
    {"local_past_end", false,
     {{"out of bounds", 66, 2, false, 0, 2, "writes past the end of its local memory"}}},
    {"uninitialised_global", true,
     {{"uninitialised read", 74, 32, false, 0, 0, "reads 4 bytes that nothing has written"}}},
    {"uninitialised_shared", true,
     {{"uninitialised read", 83, 8, false, 0, 60, "reads 4 bytes that nothing has written"}}},
    {"uninitialised_local", true,
     {{"uninitialised read", 91, 112, false, 0, 1, "reads 4 bytes that nothing has written"}}},
    {"race_write_write", false,
     {{"shared memory race", 97, 64, false, 0, 1, "writes what was also written by thread 0 of the block (line 97) without a barrier between"}}},
    {"race_read_write", false,
     {{"shared memory race", 105, 32, false, 0, 32, "writes what was read by thread 31 of the block (line 106) without a barrier between"},
      {"uninitialised read", 106, 64, false, 0, 0, "reads 4 bytes that nothing has written"},
      {"shared memory race", 106, 64, false, 0, 32, "reads what was written by thread 31 of the block (line 105) without a barrier between"},
      {"global memory race", 106, 32, true, 1, 0, "writes what was also written by block number 0, and nothing says who comes first"}}},
    {"race_within_warp", false,
     {{"shared memory race", 113, 128, false, 0, 0, "reads what was written by thread 1 of the block (line 112) without a barrier between"}}},
    {"race_global", false,
     {{"global memory race", 118, 64, true, 1, 0, "writes what was also written by block number 0, and nothing says who comes first"}}},
    {"barrier_divergent", false,
     {{"barrier divergence", 125, 2, false, 0, 32, "waits at a barrier with 8 threads of its warp while 24 others take a way around it"},
      {"global memory race", 124, 40, true, 1, 0, "writes what was also written by block number 0, and nothing says who comes first"}}},
    {"barrier_half_exits", false,
     {{NULL, 0, 0, false, 0, 0, NULL}}},
    {"shuffle_wrong_mask", false,
     {{"bad mask", 141, 4, false, 0, 0, "takes part in an exchange whose mask (0xffff0000) does not name its lane (0)"}}},
    {"shuffle_divergent", false,
     {{NULL, 0, 0, false, 0, 0, NULL}}},
    {"double_free", false,
     {{"double free", 157, 2, false, 0, 0, "frees the same memory twice"}}},
    {"use_after_free", false,
     {{"use after free", 167, 2, false, 0, 0, "reads memory that was freed"}}},
    {"heap_past_end", false,
     {{"out of bounds", 175, 2, false, 0, 0, "writes past the end of memory that malloc gave"}}},
    {"leak", false,
     {{"leak", 183, 2, true, 0, 0, "does not free what it allocates: 2 allocations of malloc (faults.cu:183), 128 bytes in all, are left"}}},
    {"stack_overflow", false,
     {{"stack overflow", 195, 1, false, 0, 0, "needs more stack than the emulator has"}}},
    {"trap_fault", false,
     {{"trap", 207, 1, false, 0, 9, "executes a trap"}}},
    {"barrier_id_mismatch", false,
     {{"barrier never met", 213, 1, false, 0, 0, "waits at a barrier that the rest of the block never reaches (64 threads are alive: 32 threads of warp 0 at barrier 1 (line 213), 32 threads of warp 1 at barrier 2 (line 215))"}}},
    {"reduction_past_end", false,
     {{"out of bounds", 224, 2, false, 0, 1, "writes past the end of `data`"}}},
    {"atomic_past_end", false,
     {{"out of bounds", 230, 2, false, 0, 1, "writes past the end of `data`"}}},
    {"vector_past_end", false,
     {{"out of bounds", 237, 1, false, 0, 16, "reads past the end of `data`"}}},
    {"vector_misaligned", false,
     {{"misaligned", 243, 1, false, 0, 4, "writes 16 bytes at an address that is no multiple of 16"}}},
    {"byte_past_end", false,
     {{"out of bounds", 250, 1, false, 0, 0, "reads past the end of `data`"}}},
    {"wild_pointer", false,
     {{"out of bounds", 257, 1, false, 0, 11, "writes where there is no memory"}}},
    {"read_only_past_end", false,
     {{"out of bounds", 263, 1, false, 0, 2, "reads past the end of `data`"}}},
    {"shared_misaligned", false,
     {{"misaligned", 272, 2, false, 0, 6, "reads 4 bytes at an address that is no multiple of 4"}}},
    {"shared_atomic_past_end", false,
     {{"out of bounds", 282, 2, false, 0, 0, "writes past the end of `box`"}}},
    {"shared_none_given", false,
     {{"out of bounds", 290, 128, false, 0, 0, "writes shared memory, of which the launch gives it none"},
      {"out of bounds", 292, 128, false, 0, 0, "reads shared memory, of which the launch gives it none"}}},
    {"local_misaligned", false,
     {{"misaligned", 301, 2, false, 0, 3, "writes 4 bytes at an address that is no multiple of 4"}}},
    {"variable_past_end", false,
     {{"out of bounds", 310, 1, false, 0, 5, "reads past the end of `table`"}}},
    {"constant_past_end", false,
     {{"out of bounds", 318, 1, false, 0, 5, "reads past the end of `fixed`"}}},
    {"async_copy_past_end", false,
     {{"out of bounds", 325, 2, false, 0, 0, "reads past the end of `data`"},
      {"uninitialised read", 329, 128, false, 0, 0, "reads 4 bytes that nothing has written"}}},
    {"free_inside", false,
     {{"bad free", 340, 2, false, 0, 0, "frees an address that malloc did not give"},
      {"leak", 337, 2, true, 0, 0, "does not free what it allocates: 2 allocations of malloc (faults.cu:337), 128 bytes in all, are left"}}},
    {"free_of_a_buffer", false,
     {{"bad free", 347, 1, false, 0, 0, "frees an address that malloc did not give"}}},
    {"assertion", false,
     {{"assert", 352, 1, false, 0, 4, "fails the assertion `data[threadIdx.x] < n - 60 || threadIdx.x < 4`"}}},
    {"uninitialised_heap", true,
     {{"uninitialised read", 364, 2, false, 0, 0, "reads 4 bytes that nothing has written"}}},
    {"uninitialised_partly", true,
     {{"uninitialised read", 374, 64, false, 0, 0, "reads 4 bytes that nothing has written"}}},
    {"uninitialised_vector", true,
     {{"uninitialised read", 386, 1, false, 0, 0, "reads 16 bytes that nothing has written"}}},
    {"uninitialised_atomic", true,
     {{"uninitialised read", 394, 1, false, 0, 0, "reads 4 bytes that nothing has written"}}},
    {"uninitialised_register", true,
     {{"uninitialised register", 400, 128, false, 0, 0, "uses the register unset, which has no value yet"}}},
    {"race_read_after_write", false,
     {{"shared memory race", 411, 64, false, 0, 32, "writes what was read by thread 31 of the block (line 412) without a barrier between"},
      {"shared memory race", 412, 64, false, 0, 32, "reads what was written by thread 31 of the block (line 411) without a barrier between"}}},
    {"race_write_after_read", false,
     {{"shared memory race", 420, 64, false, 0, 32, "reads what was written by thread 31 of the block (line 421) without a barrier between"},
      {"shared memory race", 421, 64, false, 0, 32, "writes what was read by thread 31 of the block (line 420) without a barrier between"}}},
    {"race_reduction", false,
     {{"shared memory race", 433, 62, false, 0, 0, "reads what was written by thread 16 of the block (line 433) without a barrier between"},
      {"global memory race", 429, 1, true, 1, 0, "reads what was written by block number 0, and nothing says who comes first"}}},
    {"race_warp_volatile", false,
     {{"shared memory race", 446, 32, true, 0, 0, "reads what was written by thread 16 of the block (line 444) without a barrier between"},
      {"shared memory race", 448, 16, true, 0, 0, "reads what was written by thread 8 of the block (line 446) without a barrier between"}}},
    {"race_atomic_and_read", false,
     {{"shared memory race", 461, 124, false, 0, 0, "reads what was written by thread 31 of the block (line 460) without a barrier between"}}},
    {"race_bytes_and_word", false,
     {{"shared memory race", 469, 64, false, 0, 32, "writes what was read by thread 0 of the block (line 470) without a barrier between"},
      {"shared memory race", 470, 256, false, 0, 32, "reads what was written by thread 0 of the block (line 469) without a barrier between"}}},
    {"race_async_copy", false,
     {{"shared memory race", 480, 128, false, 0, 0, "reads what is written by a cp.async of thread 0 of the block (line 478) that nobody has waited for"},
      {"global memory race", 478, 64, true, 1, 0, "reads what was written by block number 0, and nothing says who comes first"}}},
    {"race_async_copy_no_barrier", false,
     {{"shared memory race", 489, 64, false, 0, 32, "writes what was read by thread 31 of the block (line 492) without a barrier between"},
      {"shared memory race", 492, 64, false, 0, 32, "reads what was written by thread 31 of the block (line 489) without a barrier between"},
      {"global memory race", 489, 64, true, 1, 0, "reads what was written by block number 0, and nothing says who comes first"},
      {"global memory race", 492, 32, true, 1, 32, "writes what was also written by block number 0, and nothing says who comes first"}}},
    {"race_named_barrier", false,
     {{"shared memory race", 500, 128, false, 0, 0, "reads what was written by thread 63 of the block (line 498) without a barrier between"}}},
    {"race_arrive_only", false,
     {{"shared memory race", 511, 64, false, 0, 32, "reads what was written by thread 0 of the block (line 508) without a barrier between"}}},
    {"race_before_wait", false,
     {{"shared memory race", 522, 32, false, 0, 32, "writes what was read by thread 31 of the block (line 524) without a barrier between"},
      {"uninitialised read", 524, 64, false, 0, 0, "reads 4 bytes that nothing has written"},
      {"shared memory race", 524, 64, false, 0, 32, "reads what was written by thread 31 of the block (line 522) without a barrier between"},
      {"global memory race", 524, 32, true, 1, 0, "writes what was also written by block number 0, and nothing says who comes first"}}},
    {"barrier_two_places", false,
     {{"barrier divergence", 535, 4, false, 0, 0, "waits here while other threads of its warp wait at the barrier of line 538"},
      {"global memory race", 537, 32, true, 1, 16, "writes what was also written by block number 0, and nothing says who comes first"}}},
    {"barrier_in_loop", false,
     {{"global memory race", 546, 64, true, 1, 0, "writes what was also written by block number 0, and nothing says who comes first"}}},
    {"barrier_bad_count", false,
     {{"bad barrier", 553, 1, false, 0, 0, "uses barrier 1 with 33 threads (barriers are 0 to 15, threads a multiple of 32)"}}},
    {"barrier_bad_number", false,
     {{"bad barrier", 559, 1, false, 0, 0, "uses barrier 64 with 0 threads (barriers are 0 to 15, threads a multiple of 32)"}}},
    {"syncwarp_wrong_mask", false,
     {{"bad mask", 566, 4, false, 0, 0, "takes part in an exchange whose mask (0xffff0000) does not name its lane (0)"}}},
    {"syncwarp_divergent", false,
     {{NULL, 0, 0, false, 0, 0, NULL}}},
    {"syncwarp_after_exit", false,
     {{NULL, 0, 0, false, 0, 0, NULL}}},
    {"vote_wrong_mask", false,
     {{"bad mask", 587, 4, false, 0, 8, "takes part in an exchange whose mask (0xff) does not name its lane (8)"}}},
    {"vote_divergent", false,
     {{NULL, 0, 0, false, 0, 0, NULL}}},
    {"reduce_wrong_mask", false,
     {{"bad mask", 598, 4, false, 0, 8, "takes part in an exchange whose mask (0xff) does not name its lane (8)"}}},
    {"shuffle_from_outside", false,
     {{"undefined value", 604, 64, true, 0, 0, "takes the value of lane 21, which takes no part in the shuffle"}}},
    {"mbarrier_not_initialised", false,
     {{"uninitialised read", 611, 2, false, 0, 0, "reads 8 bytes that nothing has written"},
      {"bad mbarrier", 611, 128, false, 0, 0, "uses an mbarrier that is not initialised, or was overwritten"},
      {"bad mbarrier", 613, 2, false, 0, 0, "uses an mbarrier that is not initialised, or was overwritten"},
      {"global memory race", 610, 1, true, 1, 0, "writes what was also written by block number 0, and nothing says who comes first"}}},
    {"mbarrier_overwritten", false,
     {{"bad mbarrier", 624, 128, false, 0, 0, "uses an mbarrier that is not initialised, or was overwritten"}}},
    {"mbarrier_initialised_twice", false,
     {{"bad mbarrier", 632, 2, true, 0, 0, "initialises an mbarrier again, without mbarrier.inval before"}}},
    {"mbarrier_used_after_end", false,
     {{"bad mbarrier", 646, 128, false, 0, 0, "uses an mbarrier that is not initialised, or was overwritten"}}},
    {"mbarrier_bad_count", false,
     {{"bad mbarrier", 653, 2, false, 0, 0, "initialises an mbarrier for no thread, or for more than 1,048,575"}}},
    {"mbarrier_initialised_in_use", false,
     {{"bad mbarrier", 668, 2, false, 0, 0, "initialises an mbarrier that is in use: 32 of 64 arrivals are still expected"}}},
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
    static const char *const stay[] = {
        "out of bounds",  "misaligned", "use after free", "double free",       "bad free",
        "stack overflow", "trap",       "assert",         "barrier never met", "bad barrier"};
    struct emulator *emulator = support_emulator_fixture("truth/faults.ptx");
    const struct emulator_options options = {.threads = 1, .no_checks = true};
    struct emulator_result result = launch(emulator, (size_t)_i, &options);
    size_t stays = 0;
    for (size_t f = 0; f < COUNT_OF(rows[_i].faults) && rows[_i].faults[f].kind != NULL; ++f)
        for (size_t i = 0; i < COUNT_OF(stay); ++i)
            stays += strcmp(rows[_i].faults[f].kind, stay[i]) == 0 ? 1 : 0;
    ck_assert_uint_eq(result.fault_count, stays);
    emulator_result_release(&result);
    emulator_free(emulator);
}
END_TEST

/* ---- Beside compute-sanitizer -------------------------------------------------------------------
 */

/* tests/fixtures/truth/golden/sanitizer.tsv: fault, tool, its exit status (124: it hung), the
 * number of errors, its first words. tests/truth/sanitizer.md is a table of both for people. */
struct finding {
    char words[512]; /* of all four tools */
    bool any;
};

static void read_findings(const struct bytes *text, const char *fault, struct finding *ret)
{
    *ret = (struct finding){.any = false};
    size_t used = 0;
    for (const char *line = text->data; *line != '\0'; line = strchr(line, '\n') + 1) {
        char name[64], tool[16], status[8], count[16], words[128];
        if (sscanf(line, "%63[^\t]\t%15[^\t]\t%7[^\t]\t%15[^\t]\t%127[^\n]", name, tool, status,
                   count, words) != 5 ||
            strcmp(name, fault) != 0)
            continue;
        const bool hung = strcmp(status, "124") == 0;
        if (!hung && strtoul(count, NULL, 10) == 0)
            continue;
        if (hung && ret->any)
            continue; /* once is enough */
        used += (size_t)snprintf(ret->words + used, sizeof ret->words - used, "%s%s%s%s",
                                 ret->any ? "; " : "", hung ? "" : tool, hung ? "" : ": ",
                                 hung ? "none ends: the kernel hangs" : words);
        ret->any = true;
        ck_assert_uint_lt(used, sizeof ret->words);
    }
}

START_TEST(whatever_compute_sanitizer_finds_is_found)
{
    struct bytes text = testing_fixture("truth/golden/sanitizer.tsv");
    ck_assert_int_eq(bytes_append(&text, "", 1), 0);
    for (size_t row = 0; row < COUNT_OF(rows); ++row) {
        struct finding finding;
        read_findings(&text, rows[row].entry, &finding);
        ck_assert_msg(!finding.any || rows[row].faults[0].kind != NULL, "%s: %s", rows[row].entry,
                      finding.words);
    }
    bytes_release(&text);
}
END_TEST

/* ---- Code that was not optimised ------------------------------------------------------------- */

#define ROOM "{ .local .align 8 .b8 room[16]; .reg .b64 at; .reg .b32 word; "

/* Such code keeps its variables in local memory and reaches them by generic addresses. */
static const struct {
    const char *statements, *kind;
    bool warning;
} unset_rows[] = {
    {ROOM "cvta.local.u64 at, room; ld.u32 word, [at]; and.b32 word, word, -32;\n"
          "or.b32 word, word, 3; st.u32 [at], word; ld.u32 %r3, [at]; }",
     "uninitialised read", true},
    {ROOM "ld.local.u32 %r3, [room+4]; }", "uninitialised read", false},
    {ROOM "cvta.local.u64 at, room; setp.eq.u32 %p3, %t, 99; @%p3 mov.b32 word, 1;\n"
          "st.u32 [at], word; mov.u32 %r3, 0; }",
     "uninitialised register", true},
    {ROOM "setp.eq.u32 %p3, %t, 99; @%p3 mov.b32 word, 1; st.global.u32 [%out], word;\n"
          "mov.u32 %r3, 0; }",
     "uninitialised register", false},
};

START_TEST(padding_and_fields_may_be_unset)
{
    uint32_t out[32] = {0};
    const struct support_kernel kernel = {
        .statements = unset_rows[_i].statements, .out = out, .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    ck_assert_msg(result.fault_count == 1, "%zu faults", result.fault_count);
    ck_assert_str_eq(result.faults[0].kind, unset_rows[_i].kind);
    ck_assert_int_eq(result.faults[0].warning, unset_rows[_i].warning);
    emulator_result_release(&result);
}
END_TEST

/* ---- Code that was not inlined --------------------------------------------------------------- */

#define FILES ".file 1 \"/x/mine.cu\"\n.file 2 \"/y/theirs.hpp\"\n"
#define PUT(places)                                                                                \
    ".func put(.param .b64 at) { .reg .b64 a; ld.param.u64 a, [at];\n" places                      \
    "st.global.u32 [a], 1; ret; }\n"
#define AROUND(place)                                                                              \
    ".func around(.param .b64 at) { .reg .b64 b; ld.param.u64 b, [at];\n" place                    \
    "{ .param .b64 p; st.param.b64 [p], b; call put, (p); } ret; }\n"
#define CALL(function) "{ .param .b64 p; st.param.b64 [p], %out; call " function ", (p); }\n"
#define TWO_CALLS(function)                                                                        \
    "add.u64 %out, %out, 4096;\n.loc 1 7 1\n" CALL(function) ".loc 1 9 1\n" CALL(function)

/* What is shown is the place in the file of the kernel, each once for its 32 threads. */
static const struct {
    const char *declarations, *statements;
    unsigned lines[3]; /* 0: no more */
    const char *file;
} called_rows[] = {
    {FILES PUT(".loc 2 50 1\n"), TWO_CALLS("put"), {7, 9}, "/x/mine.cu"},
    {FILES PUT(""), TWO_CALLS("put"), {7, 9}, "/x/mine.cu"},
    {FILES PUT(".loc 1 3 1\n"), TWO_CALLS("put"), {3}, "/x/mine.cu"},
    {FILES PUT(".loc 2 50 1\n") AROUND(".loc 2 60 1\n"), TWO_CALLS("around"), {7, 9}, "/x/mine.cu"},
    {FILES PUT(".loc 2 50 1\n") AROUND(".loc 1 4 1\n"), TWO_CALLS("around"), {4}, "/x/mine.cu"},
    /* A kernel of which nothing is known has no file of its own. */
    {FILES PUT(".loc 2 50 1\n"), "add.u64 %out, %out, 4096;\n" CALL("put"), {50}, "/y/theirs.hpp"},
};

START_TEST(a_fault_in_a_header_is_shown_where_it_was_called)
{
    uint32_t out[32] = {0};
    const struct support_kernel kernel = {.declarations = called_rows[_i].declarations,
                                          .statements = called_rows[_i].statements,
                                          .out = out,
                                          .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    size_t wanted = 0;
    while (called_rows[_i].lines[wanted] != 0)
        ++wanted;
    ck_assert_msg(result.fault_count == wanted, "%zu faults", result.fault_count);
    for (size_t f = 0; f < wanted; ++f) {
        ck_assert_str_eq(result.faults[f].kind, "out of bounds");
        ck_assert_str_eq(result.faults[f].file, called_rows[_i].file);
        ck_assert_uint_eq(result.faults[f].line, called_rows[_i].lines[f]);
        ck_assert_uint_eq(result.faults[f].count,
                          wanted == 1 && called_rows[_i].lines[0] != 50 ? 64 : 32);
    }
    emulator_result_release(&result);
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
    tcase_add_test(tcase, whatever_compute_sanitizer_finds_is_found);
    tcase_add_loop_test(tcase, padding_and_fields_may_be_unset, 0, COUNT_OF(unset_rows));
    tcase_add_loop_test(tcase, a_fault_in_a_header_is_shown_where_it_was_called, 0,
                        COUNT_OF(called_rows));
    suite_add_tcase(suite, tcase);
    return suite;
}

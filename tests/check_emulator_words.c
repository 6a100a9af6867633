/* check_emulator_words.c - accesses that miss: which memory was meant, and how far off they are.
 *
 * The statements do what nvcc makes of a[i - 1] and the like: in shared memory with 32-bit
 * addresses, in local memory with 64-bit ones, without optimisation by generic addresses; an index
 * that is unsigned is multiplied as 32 bits, so that it falls below zero to 2^32 elements. */
#include "support_emulator.h"

#include "remedies.h"

#define PART ".shared .align 4 .b8 part[32]; "
#define TILE ".shared .align 4 .b8 tile[128]; "
#define ROOM ".local .align 8 .b8 room[64]; "
#define SET_TILE "mov.u32 %r2, tile; "
#define GENERIC_TILE "mov.u64 %d2, tile; cvta.shared.u64 %d2, %d2; "
#define GENERIC_ROOM "mov.u64 %d2, room; cvta.local.u64 %d2, %d2; "
/* %d3: what an unsigned index of `below` under zero becomes, times the size of an element. */
#define UNSIGNED(below, bytes)                                                                     \
    "mov.u32 %r4, 0; sub.u32 %r4, %r4, " below "; mul.wide.u32 %d3, %r4, " bytes                   \
    "; add.u64 %d2, %d2, %d3; "
#define LOOKS ": an unsigned index that fell below zero looks like that"

/* clang-format off */
static const struct {
    const char *statements;
    unsigned shared_bytes;
    const char *words[2]; /* in the text, in this order */
} rows[] = {
    /* Shared memory. */
    {TILE SET_TILE "ld.shared.u32 %r3, [%r2+-4];", 0,
     {"reads before the beginning of `tile`: block 0",
      " read 4 bytes at shared address -0x4, directly before the first element of `tile` (128 bytes)"}},
    {TILE SET_TILE "ld.shared.u32 %r3, [%r2+-8];", 0,
     {"reads before the beginning of `tile`", "at shared address -0x8, 4 bytes before the first element of `tile` (128 bytes)"}},
    {TILE SET_TILE "mov.u32 %r2, -400; st.shared.u32 [%r2], 1;", 0,
     {"writes before the beginning of `tile`", " wrote 4 bytes at shared address -0x190, 396 bytes before the first"}},
    {TILE SET_TILE "ld.shared.u32 %r3, [%r2+128];", 0,
     {"reads past the end of `tile`", "at shared address 0x80, directly after the last element of `tile` (128 bytes)"}},
    {TILE SET_TILE "ld.shared.v2.u32 {%r3, %r4}, [%r2+-4];", 0,
     {"reads before the beginning of `tile`", "which begins before `tile` (128 bytes) and ends inside it"}},
    {TILE SET_TILE "atom.shared.add.u32 %r3, [%r2+-4], 1;", 0,
     {"writes before the beginning of `tile`", "-0x4, directly before the first element"}},
    {"ld.shared.u32 %r3, [0xfffffffc];", 128,
     {"reads before the beginning of dynamic shared memory", "-0x4, directly before the first element of dynamic shared memory (128 bytes)"}},
    {TILE GENERIC_TILE "ld.u32 %r3, [%d2+-4];", 0,
     {"reads before the beginning of `tile`", "at shared address -0x4, directly before the first element of `tile` (128 bytes)"}},
    {TILE GENERIC_TILE "ld.u32 %r3, [%d2+128];", 0,
     {"reads past the end of `tile`", "at shared address 0x80, directly after the last element of `tile` (128 bytes)"}},
    {TILE GENERIC_TILE "st.u32 [%d2+136], 1;", 0,
     {"writes past the end of `tile`", "at shared address 0x88, 8 bytes after the last element of `tile` (128 bytes)"}},
    {TILE GENERIC_TILE "st.u32 [%d2+256], 1;", 128,
     {"writes past the end of dynamic shared memory", "at shared address 0x100, directly after the last element of dynamic"}},
    {TILE GENERIC_TILE "st.u32 [%d2+-65536], 1;", 0,
     {"writes before the beginning of `tile`", "65,532 bytes before the first element"}},
    {TILE GENERIC_TILE "st.u32 [%d2+-65540], 1;", 0, /* too far to be of that window for sure */
     {"writes where there is no memory", "at address 0xfefffc"}},
    {"mov.u64 %d2, 0xfffffc; st.u32 [%d2], 1;", 0, /* no shared memory: nothing to be before of */
     {"writes where there is no memory", "at address 0xfffffc"}},
    {TILE GENERIC_TILE UNSIGNED("2", "4") "ld.u32 %r3, [%d2];", 0,
     {"reads before the beginning of `tile`",
      "at shared address 0x3fffffff8, 4 bytes before the first element of `tile` (128 bytes) plus 2^32 x 4 bytes" LOOKS}},
    {PART TILE "mov.u32 %r3, part; " GENERIC_TILE UNSIGNED("2", "4") "st.u32 [%d2], 1;", 0,
     {"writes ", "plus 2^32 x 4 bytes" LOOKS}},
    /* Local memory. */
    {ROOM "mov.u64 %d2, room; ld.local.u32 %r3, [%d2+-4];", 0,
     {"reads before the beginning of its local memory: block 0",
      " read 4 bytes at local address -0x4, directly before the first element of its local memory (64 bytes)"}},
    {ROOM "mov.u64 %d2, room; st.local.u32 [%d2+-252], 1;", 0,
     {"writes before the beginning of its local memory", "at local address -0xfc, 248 bytes before the first element"}},
    {ROOM "mov.u64 %d2, room; st.local.u32 [%d2+64], 1;", 0,
     {"writes past the end of its local memory", "at local address 0x40, directly after the last element of its local memory"}},
    {ROOM "mov.u64 %d2, room; " UNSIGNED("4", "4") "ld.local.u32 %r3, [%d2];", 0,
     {"reads before the beginning of its local memory",
      "at local address 0x3fffffff0, 12 bytes before the first element of its local memory (64 bytes) plus 2^32 x 4 bytes" LOOKS}},
    {ROOM "mov.u64 %d2, room; add.u64 %d2, %d2, 32; " UNSIGNED("1", "16") "ld.local.u32 %r3, [%d2];", 0,
     {"reads past the end of its local memory",
      "at local address 0x1000000010, byte 16 of its local memory (64 bytes) plus 2^32 x 16 bytes" LOOKS}},
    {ROOM GENERIC_ROOM "ld.u32 %r3, [%d2+-4];", 0,
     {"reads before the beginning of its local memory", "at local address -0x4, directly before the first element"}},
    {ROOM TILE "mov.u32 %r3, tile; " GENERIC_ROOM "ld.u32 %r3, [%d2+-64];", 0,
     {"reads before the beginning of its local memory", "at local address -0x40, 60 bytes before the first element"}},
    {ROOM GENERIC_ROOM "ld.u32 %r3, [%d2+72];", 0,
     {"reads past the end of its local memory", "at local address 0x48, 8 bytes after the last element"}},
    {ROOM GENERIC_ROOM UNSIGNED("1", "8") "ld.u32 %r3, [%d2];", 0,
     {"reads before the beginning of its local memory", "4 bytes before the first element of its local memory (64 bytes) plus 2^32 x 8 bytes" LOOKS}},
    /* Global memory: `in` has 256 bytes, `out` behind it 128. */
    {"ld.global.u32 %r3, [%in+-8];", 0,
     {"reads before the beginning of `in`", ", 4 bytes before the first element of `in` (256 bytes)"}},
    {"ld.global.u32 %r3, [%in+-4];", 0,
     {"reads before the beginning of `in`", ", directly before the first element of `in` (256 bytes)"}},
    {"ld.global.u32 %r3, [%out+128];", 0,
     {"reads past the end of `out`", ", directly after the last element of `out` (128 bytes)"}},
    {"ld.global.u64 %d3, [%out+124];", 0,
     {"reads past the end of `out`", ", which begins inside `out` (128 bytes) and ends behind it"}},
    {"mov.u64 %d2, %in; " UNSIGNED("2", "4") "ld.global.u32 %r3, [%d2];", 0,
     {"reads before the beginning of `in`",
      " read 4 bytes at address 0x7f040007fff8, 4 bytes before the first element of `in` (256 bytes) plus 2^32 x 4 bytes" LOOKS}},
    {"mov.u64 %d2, %in; " UNSIGNED("1", "1") "ld.global.u8 %r3, [%d2];", 0,
     {"reads before the beginning of `in`", ", directly before the first element of `in` (256 bytes) plus 2^32 x 1 byte" LOOKS}},
    {"mov.u64 %d2, %out; " UNSIGNED("3", "16") "st.u32 [%d2+8], 1;", 0,
     {"writes before the beginning of `out`", ", 36 bytes before the first element of `out` (128 bytes) plus 2^32 x 16 bytes" LOOKS}},
    {"add.u64 %d2, %in, 128; " UNSIGNED("2", "8") "ld.global.u64 %d3, [%d2];", 0,
     {"reads past the end of `in`", ", byte 112 of `in` (256 bytes) plus 2^32 x 8 bytes" LOOKS}},
    /* As far away, but nowhere near what an index below zero gives. */
    {"mov.u64 %d2, 17180000000; add.u64 %d2, %d2, %in; ld.global.u32 %r3, [%d2];", 0,
     {"reads past the end of `out`", " bytes after the last element of `out` (128 bytes)"}},
    {"mov.u64 %d2, 0x123456789abc; ld.u32 %r3, [%d2];", 0,
     {"reads where there is no memory", " read 4 bytes at address 0x123456789abc"}},
    {"mov.u64 %d2, 0; ld.u32 %r3, [%d2+8];", 0,
     {"reads through a null pointer", " read 4 bytes at address 0x8"}},
};
/* clang-format on */

START_TEST(an_access_that_misses_names_what_it_meant)
{
    uint32_t in[64] = {0}, out[32] = {0};
    const struct support_kernel kernel = {.statements = rows[_i].statements,
                                          .block = 1,
                                          .shared_bytes = rows[_i].shared_bytes,
                                          .in = in,
                                          .in_bytes = sizeof in,
                                          .out = out,
                                          .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    ck_assert_msg(result.fault_count == 1, "%zu faults", result.fault_count);
    ck_assert_str_eq(result.faults[0].kind, "out of bounds");
    const char *text = result.faults[0].text;
    for (size_t i = 0; i < COUNT_OF(rows[_i].words); ++i) {
        const char *found = strstr(text, rows[_i].words[i]);
        ck_assert_msg(found != NULL, "\"%s\" is not in: %s", rows[_i].words[i],
                      result.faults[0].text);
        text = found;
    }
    /* A sentence is of a piece: nothing is said of windows or of the memory's other end. */
    ck_assert_msg((strstr(result.faults[0].text, "plus 2^32") != NULL) ==
                      (strstr(rows[_i].words[1], "plus 2^32") != NULL),
                  "%s", result.faults[0].text);
    emulator_result_release(&result);
}
END_TEST

/* The address of a fault, for programs, is that in its space as well. */
START_TEST(addresses_are_those_of_the_space)
{
    uint32_t out[32] = {0};
    const struct {
        const char *statements;
        uint64_t address;
    } faults[] = {
        {TILE GENERIC_TILE "ld.u32 %r3, [%d2+128];", 128},
        {TILE SET_TILE "ld.shared.u32 %r3, [%r2+128];", 128},
        {ROOM GENERIC_ROOM "ld.u32 %r3, [%d2+64];", 64},
        {TILE GENERIC_TILE "st.u32 [%d2+2], 1;", 2},
    };
    for (size_t i = 0; i < COUNT_OF(faults); ++i) {
        const struct support_kernel kernel = {
            .statements = faults[i].statements, .block = 1, .out = out, .out_bytes = sizeof out};
        struct emulator_result result = support_run(&kernel);
        ck_assert_uint_eq(result.fault_count, 1);
        ck_assert_uint_eq(result.faults[0].address, faults[i].address);
        emulator_result_release(&result);
    }
}
END_TEST

/* ---- What to try ------------------------------------------------------------------------------
 */

/* clang-format off */
static const struct {
    const char *kind, *text, *words, *in_lab; /* parts of the remedy; in_lab NULL: the same */
} remedy_rows[] = {
    {"out of bounds", "k reads past the end of `in`: … read 4 bytes at address 0x8, directly after", "if (i < n)", "n + taps - 1"},
    {"out of bounds", "k reads past the end of its local memory: … at local address 0x40, directly after", "never negative (in C++, -1 % 64 is -1)", NULL},
    {"out of bounds", "k reads before the beginning of `part`: … at shared address -0x4", "take it modulo", NULL},
    {"out of bounds", "k reads … an unsigned index that fell below zero looks like that", "Compare before you subtract", NULL},
    {"out of bounds", "k writes past the end of dynamic shared memory: … at shared address 0x4", "--shared", NULL},
    {"out of bounds", "k writes shared memory, of which the launch gives it none: … at shared address 0x4", "--shared", "Give the array a length"},
    {"out of bounds", "k reads through a null pointer: …", "it is 0", NULL},
    {"out of bounds", "k writes memory that kernels may only read: `fixed`: …", "Store to another place", NULL},
    {"illegal address", "", "Run it once on the emulator", "Grade it once with --executor emulator"},
    {"misaligned", "", "16 for a float4", "one by one"},
    {"uninitialised read", "… global memory, address 0x8, byte 0 of `out`", "not with `+=`", NULL},
    {"uninitialised read", "… shared memory, address 0x8", "Write every element", NULL},
    {"uninitialised register", "", "when it is declared", NULL},
    {"undefined value", "", "reach the same shuffle", NULL},
    {"use after free", "", "after free()", "no heap at all"},
    {"double free", "", "once", "no heap at all"},
    {"bad free", "", "malloc() gave", "no heap at all"},
    {"leak", "", "malloc() gave", "no heap at all"},
    {"trap", "", "__trap()", NULL},
    {"assert", "", "Print the values", "costs no mark"},
    {"time limit", "", "a loop whose counter", NULL},
    {"instruction limit", "", "--max-instructions", "changed inside the loop."},
    {"stack overflow", "", "calls itself", NULL},
    {"shared memory race", "", "__syncthreads()", NULL},
    {"global memory race", "", "atomics", "by one thread only."},
    {"barrier divergence", "", "the same __syncthreads()", NULL},
    {"barrier never met", "", "the same __syncthreads()", NULL},
    {"bad barrier", "", "without a number", NULL},
    {"bad mbarrier", "", "initialise it once", NULL},
    {"divergent exchange", "", "all lanes that the mask names", NULL},
    {"bad mask", "", "exactly those lanes", NULL},
    {"bad atomic", "", "never on a thread's own", NULL},
    {"wild call", "", "where the function pointer", "this lab needs no function pointer"},
    {"wild branch", "", "where the function pointer", "this lab needs no function pointer"},
};
/* clang-format on */

START_TEST(each_kind_has_a_remedy)
{
    /* What says nothing to somebody who has no lab before them. */
    static const char *const of_labs[] = {"lab", "taps", "mark", "make run", "Grade", "executor"};
    const char *anywhere =
        remedy_for_fault(remedy_rows[_i].kind, remedy_rows[_i].text, REMEDY_ANYWHERE);
    const char *in_lab =
        remedy_for_fault(remedy_rows[_i].kind, remedy_rows[_i].text, REMEDY_IN_LAB);
    ck_assert_msg(anywhere != NULL && strstr(anywhere, remedy_rows[_i].words) != NULL, "%s: %s",
                  remedy_rows[_i].kind, anywhere);
    for (size_t i = 0; i < COUNT_OF(of_labs); ++i)
        ck_assert_msg(strstr(anywhere, of_labs[i]) == NULL, "%s", anywhere);
    if (remedy_rows[_i].in_lab == NULL)
        ck_assert_pstr_eq(in_lab, anywhere);
    else
        ck_assert_msg(strstr(in_lab, remedy_rows[_i].in_lab) != NULL, "%s", in_lab);
}
END_TEST

Suite *suite_emulator_words(void);
Suite *suite_emulator_words(void)
{
    Suite *suite = suite_create("emulator_words");
    TCase *tcase = tcase_create("words");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, an_access_that_misses_names_what_it_meant, 0, COUNT_OF(rows));
    tcase_add_loop_test(tcase, each_kind_has_a_remedy, 0, COUNT_OF(remedy_rows));
    tcase_add_test(tcase, addresses_are_those_of_the_space);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* check_entries.c - a lab's kernel among the entries of a module, by its source name. */
#include "testing.h"

#include "entries.h"
#include "support_lab.h"

#define ENTRY(symbol, parameters) PTX_HEADER ".visible .entry " symbol "(" parameters ") { ret; }\n"
#define THREE ".param .u64 a, .param .u64 b, .param .u64 c"

/* clang-format off */
/* What the search for `twice` comes to. */
static const struct {
    const char *text;
    const char *symbol;  /* NULL: none will do */
    const char *problem; /* part of it */
    bool belongs;        /* the first entry is one of the lab's */
} rows[] = {
    {PTX_HEADER PTX_TWICE, "_Z5twicePKfPfm", "", true},
    {ENTRY("twice", THREE), "twice", "", true}, /* extern "C" */
    {PTX_HEADER PTX_TWICE PTX_PICK, "_Z5twicePKfPfm", "", true},
    {ENTRY("_Z5twicePfS_m", THREE), "_Z5twicePfS_m", "", true}, /* not const */
    {ENTRY("_Z5twicePKdPdm", THREE), "_Z5twicePKdPdm", "", true}, /* pointers are pointers */
    /* not found */
    {PTX_HEADER, NULL, "there is no kernel called twice", false},
    {PTX_HEADER PTX_PICK, NULL, "there is no kernel called twice", true},
    {ENTRY("_Z5TwicePKfPfm", THREE), NULL, "there is no kernel called twice", false},
    {ENTRY("_Z6twice2PKfPfm", THREE), NULL, "there is no kernel called twice", false},
    {ENTRY("_Z4twicPKfPfm", THREE), NULL, "there is no kernel called twice", false},
    {ENTRY("notwice", THREE), NULL, "there is no kernel called twice", false},
    {ENTRY("_ZN5twice1kEPKfPfm", THREE), NULL, "there is no kernel called twice", false}, /* twice::k */
    {ENTRY("_Z1kI5twiceEvPT_", ".param .u64 a"), NULL, "there is no kernel called twice", false}, /* k<twice> */
    {PTX_HEADER ".visible .func _Z5twicePKfPfm(" THREE ") { ret; }\n", NULL,
     "there is no kernel called twice", true},
    /* found, but not as it should be */
    {ENTRY("_ZN2ns5twiceEPKfPfm", THREE), NULL, "stands in a namespace", true},
    {ENTRY("_ZN1a1b5twiceEPKfPfm", THREE), NULL, "stands in a namespace", true},
    {ENTRY("_ZN12_GLOBAL__N_15twiceEPKfPfm", THREE), NULL, "stands in a namespace", true},
    {ENTRY("_ZN32_GLOBAL__N__c2070891_4_s_cu_main5twiceEPf", THREE), NULL, "stands in a namespace", true},
    {ENTRY("_Z5twiceILi4EEvPKfPfm", THREE), NULL, "is a template", true},
    {ENTRY("_Z5twiceIXadL_Z1fvEEEvPKfPfm", THREE), NULL, "is a template", true},
    {ENTRY("_ZN2ns5twiceIfEEvPKfPfm", THREE), NULL, "stands in a namespace", true},
    {ENTRY("_Z5twicePKfPf", ".param .u64 a, .param .u64 b"), NULL, "3 parameters", true},
    {ENTRY("_Z5twicePKfPfj", ".param .u64 a, .param .u64 b, .param .u32 c"), NULL, "3 parameters", true},
    {ENTRY("_Z5twicePKfPfmi", THREE ", .param .u32 d"), NULL, "3 parameters", true},
    {ENTRY("_Z5twice1S", ".param .align 8 .b8 a[24]"), NULL, "3 parameters", true},
    {PTX_HEADER PTX_TWICE ".visible .entry _Z5twicePKf(.param .u64 a) { ret; }\n", NULL,
     "several kernels called twice", true},
    {PTX_HEADER PTX_TWICE ".visible .entry _ZN2ns5twiceEPKfPfm(" THREE ") { ret; }\n", NULL,
     "several kernels called twice", true},
    {PTX_HEADER PTX_TWICE ".visible .entry twice(" THREE ") { ret; }\n", NULL,
     "several kernels called twice", true},
    /* names that are no names */
    {ENTRY("_Z", THREE), NULL, "there is no kernel called twice", false},
    {ENTRY("_Z5twice", THREE), "_Z5twice", "", true}, /* a variable's name, to the demangler */
    {ENTRY("_Z999twice", THREE), NULL, "there is no kernel called twice", false},
    {ENTRY("$twice", THREE), NULL, "there is no kernel called twice", false},
};
/* clang-format on */

START_TEST(row)
{
    struct ptx_module *module = support_parse(rows[_i].text);
    struct entry_match match = entries_find(module, &support_lab.kernels[TINY_TWICE]);
    if (rows[_i].symbol == NULL) {
        ck_assert_ptr_null(match.function);
        ck_assert_msg(strstr(match.problem, rows[_i].problem) != NULL, "%s", match.problem);
    } else {
        ck_assert_msg(match.function != NULL, "%s", match.problem);
        ck_assert_str_eq(match.function->name, rows[_i].symbol);
    }
    if (ptx_function_count(module) > 0)
        ck_assert_int_eq(entries_belongs(ptx_function_at(module, 0), &support_lab),
                         rows[_i].belongs);
    ptx_free(module);
}
END_TEST

/* A name of any length is looked at in bounded time and room. */
START_TEST(long_names)
{
    struct bytes text = bytes_with_limit((size_t)1 << 20);
    bytes_append_text(&text, PTX_HEADER ".visible .entry _Z5twice");
    for (unsigned i = 0; i < 20000; ++i)
        bytes_append_text(&text, "I");
    bytes_append_text(&text, "(.param .u64 a) { ret; }\n");
    struct ptx_module *module = support_parse(bytes_text(&text));
    ck_assert_ptr_null(entries_find(module, &support_lab.kernels[TINY_TWICE]).function);
    ptx_free(module);
    bytes_release(&text);
}
END_TEST

Suite *suite_entries(void)
{
    Suite *suite = suite_create("entries");
    TCase *tests = tcase_create("entries");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, row, 0, COUNT_OF(rows));
    tcase_add_test(tests, long_names);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_demangle.c - names of kernels: what nvcc writes, and what a hostile file may hold. */
#include "testing.h"

#include "caps.h"
#include "demangle.h"

static const struct {
    const char *symbol, *expected; /* NULL: keeps its form */
} rows[] = {
    {"_Z9decayWidePKfPfm", "decayWide(float const*, float*, unsigned long)"},
    {"_Z1kILi3EEvPf", "void k<3>(float*)"},
    {"_Z4tileIfLi32EEvPKT_PS0_", "void tile<float, 32>(float const*, float*)"},
    {"_ZN33_GLOBAL__N__214e2b58_4_a_cu_saxpy6hiddenEPi", "(anonymous namespace)::hidden(int*)"},
    {"_ZN3lab5applyIZNS_2goEPiEUliE0_EEvT_S1_",
     "void lab::apply<lab::go(int*)::{lambda(int)#2}>(lab::go(int*)::{lambda(int)#2}, int*)"},
    {"__nv_static_24__47d5ad35_4_a_cu__Z3fibi__Z3kstPf", "kst(float*)"},
    {"__nv_static_24__47d5ad35_4_a_cu__Z3fibi__ZN35_GLOBAL__N__47d5ad35_4_a_cu__Z3fibi3kanEPf",
     "(anonymous namespace)::kan(float*)"},
    {"__nv_static_24_short", NULL},
    {"__nv_static_99999999999999999999_x__Z1kPf", NULL},
    {"__nv_static_", NULL},
    {"__nv_static_0__Z1kPf", NULL},
    {"saxpy", NULL},
    {"c_style$weird", NULL},
    {"i", NULL}, /* no name: the demangler would make "int" of it */
    {"_Z", NULL},
    {"_Z9", NULL},
    {"_Z9decay", NULL},
    {"", NULL},
};

START_TEST(row)
{
    struct demangled storage;
    const char *name = demangle(rows[_i].symbol, &storage);
    if (rows[_i].expected == NULL)
        ck_assert_ptr_null(name);
    else
        ck_assert_pstr_eq(name, rows[_i].expected);
}
END_TEST

/* What a message calls it: the last component, without template arguments and parameters. */
static const struct {
    const char *symbol, *name, *whole;
    bool in_namespace, is_template;
} part_rows[] = {
    {"_Z9decayWidePKfPfm", "decayWide", "decayWide", false, false},
    {"_Z1kILi3EEvPf", "k", "k<3>", false, true},
    {"_ZN33_GLOBAL__N__214e2b58_4_a_cu_saxpy6hiddenEPi", "hidden", "(anonymous namespace)::hidden",
     true, false},
    {"_ZN3lab5applyIZNS_2goEPiEUliE0_EEvT_S1_", "apply",
     "lab::apply<lab::go(int*)::{lambda(int)#2}>", true, true},
    {"_ZZ9sharedOobPKiPiE4part", "part", "sharedOob(int const*, int*)::part", true, false},
    {"_ZZ9sharedOobPKiPiE4part_0", "part", "sharedOob(int const*, int*)::part", true, false},
    {"_ZZ4tmplILi4EEvPiE4tile", "tile", "tmpl<4>(int*)::tile", true, false},
    {"_ZZN3lab4tmplIfLi4EEEvPT_E4tile", "tile", "lab::tmpl<float, 4>(float*)::tile", true, false},
    {"_ZZN33_GLOBAL__N__214e2b58_4_a_cu_saxpy6hiddenEPiE4tile", "tile",
     "(anonymous namespace)::hidden(int*)::tile", true, false},
    {"_ZZ5outerPFviEE4tile", "tile", "outer(void (*)(int))::tile", true,
     false}, /* a parameter that is a function */
    {"_ZZNK5Stage3runEiE4tile", "tile", "Stage::run(int) const::tile", true, false},
    {"_ZZNKR5Stage3runEiE4tile", "tile", "Stage::run(int) const &::tile", true, false},
    {"_ZZNK5StageclEiE4tile", "tile", "Stage::operator()(int) const::tile", true, false},
    {"_ZZZ1kPiENKUlvE_clEvE3buf", "buf", "k(int*)::{lambda()#1}::operator()() const::buf", true,
     false},
    {"_ZZN3BoxIiE4stepEvE5table", "table", "Box<int>::step()::table", true, false},
    {"_ZN3lab5tableE", "table", "lab::table", true, false},
    {"_ZN33_GLOBAL__N__214e2b58_4_a_cu_saxpy1kIiEEvPT_", "k", "(anonymous namespace)::k<int>", true,
     true},
    {"_Z3useIN3lab3RowEEN3lab3RowEPT_", "use", "use<lab::Row>", false, true},
    {"plain", "plain", "plain", false, false},
    {"k(int", "k", "k", false, false},
    {"k(int)::", "", "k(int)::", true, false},
    {"k(((", "k", "k", false, false},
    {"f(int)::{lambda()", "{lambda()", "f(int)::{lambda()", true, false},
    {"", "", "", false, false},
};

START_TEST(last_component)
{
    struct demangled storage;
    const char *symbol = part_rows[_i].symbol, *name = demangle(symbol, &storage);
    const struct name_parts parts = demangle_split(name != NULL ? name : symbol);
    ck_assert_msg(name_parts_equal(&parts, part_rows[_i].name), "%s (%s): \"%.*s\"", symbol,
                  name != NULL ? name : "plain", (int)parts.length, parts.begin);
    ck_assert_uint_eq(parts.whole_length, strlen(part_rows[_i].whole));
    ck_assert(strncmp(parts.whole, part_rows[_i].whole, parts.whole_length) == 0);
    char text[DEMANGLED_NAME_BYTES];
    if (name != NULL || strchr(symbol, '(') == NULL)
        ck_assert_str_eq(demangle_name(symbol, text), part_rows[_i].whole);
    ck_assert(parts.in_namespace == part_rows[_i].in_namespace);
    ck_assert(parts.is_template == part_rows[_i].is_template);
}
END_TEST

START_TEST(names_for_messages_are_cut_off)
{
    char symbol[400] = "_Z300", text[DEMANGLED_NAME_BYTES];
    memset(symbol + 5, 'k', 300);
    symbol[305] = 'v';
    ck_assert_uint_eq(strlen(demangle_name(symbol, text)), DEMANGLED_NAME_BYTES - 1);
    ck_assert_uint_eq(strspn(text, "k"), DEMANGLED_NAME_BYTES - 1);
    ck_assert_uint_eq(strlen(demangle_name(symbol + 5, text)), DEMANGLED_NAME_BYTES - 1);
    ck_assert_str_eq(demangle_name("c_style$weird", text), "c_style$weird");
}
END_TEST

/* "PFvS_S_E" repeats all that came before it, twice: `levels` of them stand for 2^levels names. */
static void append_doubling(struct bytes *out, unsigned levels)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    bytes_append_text(out, "_Z1f1APFvS_S_E");
    for (unsigned level = 0; level < levels; ++level) {
        unsigned number = 2 * level + 1; /* substitutions count from S_, then S0_ */
        char text[3] = {digits[number / 36], digits[number % 36], '\0'};
        const char *shown = number < 36 ? text + 1 : text;
        bytes_printf(out, "PFvS%s_S%s_E", shown, shown);
    }
}

START_TEST(doubling_names_do_not_fill_the_memory)
{
    static const unsigned levels[] = {2, 8, 20, 64, 90, 300};
    struct bytes symbol = bytes_with_limit(10000);
    append_doubling(&symbol, levels[_i]);
    struct demangled storage;
    const char *name = demangle(bytes_text(&symbol), &storage);
    if (levels[_i] <= 8)
        ck_assert(name != NULL && strncmp(name, "f(A, void (*)(A, A), ", 21) == 0);
    else
        ck_assert_ptr_null(name);
    bytes_release(&symbol);
}
END_TEST

START_TEST(long_names_keep_their_form)
{
    static const size_t lengths[] = {900, 5000, (size_t)1 << 20};
    struct bytes symbol = bytes_with_limit((size_t)2 << 20);
    bytes_printf(&symbol, "_Z%zu", lengths[_i]);
    for (size_t i = 0; i < lengths[_i]; ++i)
        bytes_append(&symbol, "k", 1);
    bytes_append_text(&symbol, "v");
    struct demangled storage;
    const char *name = demangle(bytes_text(&symbol), &storage);
    ck_assert_int_eq(name != NULL, lengths[_i] < 1000);
    bytes_release(&symbol);
}
END_TEST

START_TEST(deep_names_do_not_fill_the_stack)
{
    static const char *const levels[] = {"P",   "PF", "N1a",  "1aI", "M1a",
                                         "A1_", "Dp", "DTsz", "DTcv"};
    struct bytes symbol = bytes_with_limit(LIMIT_DEMANGLE_BYTES + 10);
    bytes_append_text(&symbol, "_Z1f");
    while (symbol.length + 4 < LIMIT_DEMANGLE_BYTES && symbol.length < (_i % 2 ? 4090u : 1000u))
        bytes_append_text(&symbol, levels[_i / 2]);
    struct demangled storage;
    const char *name = demangle(bytes_text(&symbol), &storage);
    ck_assert(name == NULL || strlen(name) <= LIMIT_DEMANGLED_BYTES);
    bytes_release(&symbol);
}
END_TEST

Suite *suite_demangle(void)
{
    Suite *suite = suite_create("demangle");
    TCase *tests = tcase_create("demangle");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, row, 0, COUNT_OF(rows));
    tcase_add_loop_test(tests, last_component, 0, COUNT_OF(part_rows));
    tcase_add_test(tests, names_for_messages_are_cut_off);
    tcase_add_loop_test(tests, doubling_names_do_not_fill_the_memory, 0, 6);
    tcase_add_loop_test(tests, long_names_keep_their_form, 0, 3);
    tcase_add_loop_test(tests, deep_names_do_not_fill_the_stack, 0, 18);
    suite_add_tcase(suite, tests);
    return suite;
}

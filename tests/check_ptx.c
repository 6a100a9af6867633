/* check_ptx.c - the PTX front end: what it finds in a module, and what it says about bad text. */
#include "testing.h"

#include "emulator/ptx.h"

#define HEADER ".version 9.0\n.target sm_75\n.address_size 64\n"

static struct ptx_module *parse(const char *text)
{
    struct error err = {0};
    struct ptx_module *module = ptx_parse(text, strlen(text), &err);
    ck_assert_msg(module != NULL, "%s", err.text);
    return module;
}

START_TEST(functions_are_described)
{
    static const char text[] =
        HEADER ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
               ".extern .func free (.param .b64 a);\n"
               ".extern .func other (.param .b64 a);\n"
               ".visible .entry k(.param .u64 k_param_0, .param .align 8 .b8 k_param_1[24])\n"
               ".maxntid 256, 2\n.minnctapersm 4\n.maxnreg 40\n"
               "{\n\t.reg .b64 %rd<4>;\n\t.reg .b32 %r<3>;\n\t.loc 1 7 3\n"
               "\tld.param.u64 %rd1, [k_param_0];\n"
               "\t.pragma \"nounroll\";\n"
               "\t// begin inline asm\n\tmov.u32 %r1, %laneid;\n\t// end inline asm\n"
               "\t{ .param .b64 p0; .param .b64 p1; .param .b32 q;\n"
               "\tst.param.b64 [p0+0], %rd1;\n\tst.param.b64 [p1+0], %rd1;\n"
               "\tcall.uni (q), vprintf, (p0, p1);\n\tld.param.b32 %r2, [q+0]; }\n"
               "\t{ .param .b64 p0; st.param.b64 [p0+0], %rd1; call.uni other, (p0); }\n"
               "\tret;\n}\n.file 1 \"a.cu\"\n";
    struct ptx_module *module = parse(text);
    ck_assert_uint_eq(ptx_function_count(module), 4);
    ck_assert_str_eq(ptx_target(module), "sm_75");
    const struct ptx_function *k = ptx_function_find(module, "k");
    ck_assert_ptr_nonnull(k);
    ck_assert(k->is_entry && !k->is_extern);
    ck_assert_uint_eq(k->parameter_count, 2);
    ck_assert_uint_eq(k->parameters[0].bytes, 8);
    ck_assert_uint_eq(k->parameters[1].bytes, 24);
    ck_assert_str_eq(k->parameters[1].name, "k_param_1");
    ck_assert_uint_eq(k->max_threads[0], 256);
    ck_assert_uint_eq(k->max_threads[1], 2);
    ck_assert_uint_eq(k->max_threads[2], 1);
    ck_assert_uint_eq(k->required_threads[0], 0);
    ck_assert_uint_eq(k->min_blocks, 4);
    ck_assert_uint_eq(k->max_registers, 40);
    ck_assert_uint_eq(k->inline_asm_count, 1);
    ck_assert_str_eq(k->inline_asm_file, "a.cu");
    ck_assert_uint_eq(k->inline_asm_line, 7);
    ck_assert(k->calls_vprintf && !k->calls_free && !k->calls_malloc && !k->calls_assert);
    ck_assert(k->calls_other);
    ck_assert_str_eq(k->calls_other_name, "other");
    ck_assert_int_eq(text[k->directives_end], '{');
    ck_assert_int_eq(text[k->body_end], '}');
    ck_assert_uint_eq(ptx_pragma_count(module), 1);
    ck_assert_str_eq(ptx_pragma_at(module, 0)->text, "nounroll");
    ck_assert_str_eq(ptx_pragma_at(module, 0)->function, "k");
    const struct ptx_function *extern_one = ptx_function_find(module, "free");
    ck_assert(extern_one->is_extern && !extern_one->is_entry);
    ck_assert_ptr_null(ptx_function_find(module, "nothing"));
    ptx_free(module);
}
END_TEST

/* A parameter that has its function's name hides it in the function, and nowhere else. */
START_TEST(a_parameter_may_be_named_like_its_function)
{
    struct ptx_module *module =
        parse(HEADER ".extern .func f (.param .b64 f);\n"
                     ".extern .func f (.param .b64 f);\n"
                     ".visible .entry k()\n{\n"
                     "\t{ .param .b64 p; st.param.b64 [p], 1; call.uni f, (p); }\n\tret;\n}\n");
    ck_assert_uint_eq(ptx_function_count(module), 2);
    const struct ptx_function *k = ptx_function_find(module, "k");
    ck_assert_ptr_nonnull(k);
    ck_assert(k->calls_other);
    ck_assert_str_eq(k->calls_other_name, "f");
    ptx_free(module);
}
END_TEST

START_TEST(variables_are_described)
{
    struct ptx_module *module = parse(
        HEADER ".global .align 4 .u32 counter;\n.global .align 4 .b8 cache[4000];\n"
               ".const .align 4 .f32 table[2][2] = {{0f3F800000, 2}, {3.5}};\n"
               ".global .align 8 .u64 pointers[2] = {generic(hidden), generic(hidden)+8};\n"
               ".global .align 1 .b8 hidden[16];\n.global .align 1 .b8 $str[4] = {104, 105, 10};\n"
               ".extern .shared .align 16 .b8 dynamic[];\n"
               ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
               ".entry k() {\n .reg .b64 %rd<6>; .reg .b32 %r<4>;\n"
               " mov.u64 %rd1, counter; atom.global.add.u32 %r1, [%rd1], 1;\n"
               " mov.u64 %rd2, cache; cvta.global.u64 %rd3, %rd2; add.s64 %rd4, %rd3, 8;\n"
               " st.u32 [%rd4], %r1; ld.const.u32 %r2, [table+4];\n"
               " mov.u64 %rd5, $str; { .param .b64 a; .param .b64 b; .param .b32 q;\n"
               " st.param.b64 [a+0], %rd5; st.param.b64 [b+0], 0; call (q), vprintf, (a, b); }\n"
               " ret; }\n");
    static const struct {
        const char *name;
        enum ptx_space space;
        unsigned bytes;
        bool initialised, is_extern, written;
    } rows[] = {{"counter", PTX_GLOBAL, 4, false, false, true},
                {"cache", PTX_GLOBAL, 4000, false, false, true},
                {"table", PTX_CONST, 16, true, false, false},
                {"pointers", PTX_GLOBAL, 16, true, false, false},
                {"hidden", PTX_GLOBAL, 16, false, false, true},
                {"$str", PTX_GLOBAL, 4, true, false, false},
                {"dynamic", PTX_SHARED, 0, false, true, false}};
    ck_assert_uint_eq(ptx_variable_count(module), COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        const struct ptx_variable *variable = ptx_variable_at(module, i);
        ck_assert_str_eq(variable->name, rows[i].name);
        ck_assert_msg(variable->space == rows[i].space, "%s: space", rows[i].name);
        ck_assert_msg(variable->bytes == rows[i].bytes, "%s: bytes", rows[i].name);
        ck_assert_msg(variable->has_initialiser == rows[i].initialised, "%s: init", rows[i].name);
        ck_assert_msg(variable->is_extern == rows[i].is_extern, "%s: extern", rows[i].name);
        ck_assert_msg(variable->is_written == rows[i].written, "%s: written", rows[i].name);
    }
    ptx_free(module);
}
END_TEST

/* Text that is accepted. */
static const char *const accepted[] = {
    HEADER,
    ".version 6.0 .target sm_30, debug .address_size 32 /* c */ .entry k { exit; }",
    HEADER ".entry k() { frobnicate.x::y.z {%r1, _}, [%q+4, {1}], (a), 0d3FF0000000000000; a: }\n",
    HEADER ".entry k() { .reg .b32 %r<3>, x, y; .reg .pred p; @!p bra L; { L: add.u32 x, y, 1; }\n"
           " { L: bra L; } L: ret; }",
    HEADER ".func (.reg .u32 v) f (.reg .u32 a) { add.u32 v, a, 1; ret; }",
    HEADER ".entry k() { .reg .b32 %r<12>; t: .branchtargets A, B; brx.idx %r11, t; A: B: ret; }",
    HEADER ".entry k() { .reg .b64 f; p: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
           " .param .b32 a; .param .b64 b; call (a), f, (b), p; ret; }",
    HEADER ".section .debug_info { .b8 1, 2 .b64 $L__x }\n.file 1 \"x\", 1, 2\n",
    HEADER ".entry k() { .reg .v2 .f32 v; .reg .f32 f; mov.f32 f, v.y; ret; }",
    HEADER ".global .b8 a[] = {1, 2, -3, (4 + 5) * 2, 0xFF(b)}; .global .u32 b = 1 << 4;",
    HEADER ".entry k(.param .u64 .ptr .global .align 16 p) .noreturn .maxclusterrank 8 { ret; }",
    HEADER ".entry k() { .loc 1 2 3, function_name $x + 4, inlined_at 1 9 9\n ret; }",
};

START_TEST(text_is_accepted)
{
    ptx_free(parse(accepted[_i]));
}
END_TEST

/* clang-format off */
static const struct {
    const char *text, *message;
} refused[] = {
    {"", "line 1: there is no PTX in this text"},
    {"hello", "line 1: expected PTX to begin with .version, found `hello`"},
    {".version 9.0\n.target sm_75\n.entry k() { add.s32 %r1; }\n.foo",
     "line 4: expected a directive such as .entry or .global, found `.foo`"},
    {HEADER ".entry k() {\n bra nowhere;\n}", "line 5: `nowhere` is declared nowhere"},
    {HEADER ".entry k() {\n L: L: ret; }", "line 5: label `L` is declared twice (first in line 5)"},
    {HEADER ".entry k() {", "line 4: the text ends inside function `k` (line 4)"},
    {HEADER ".entry k() { ret }", "line 4: expected a constant, found `}`"},
    {HEADER ".entry k() { ret; }\n.entry k() { ret; }",
     "line 5: function `k` is defined twice (first in line 4)"},
    {HEADER ".entry k() { .reg .b32 %r<2000000>; }",
     "line 4: a register count: 2000000 is more than the 1048576 that we accept"},
    {HEADER ".global .b8 x[99999999999999];", "line 4: `x` is larger than any device's memory"},
    {HEADER ".global .b8 x[2] = {1, 2, 3};", "line 4: `x` has more initial values than elements"},
    {HEADER ".global .align 3 .b8 x;", "line 4: the alignment 3 is no power of two"},
    {HEADER ".global .u32 x; .global .u32 x;", "line 4: `x` is declared twice (first in line 4)"},
    {HEADER ".global .u64 x = y;", "line 4: `y` is declared nowhere"},
    {HEADER ".entry k() { @5 ret; }", "line 4: expected a predicate register before this, found `ret`"},
    {HEADER ".pragma \"never closed", "line 4: expected a string after .pragma, found `never closed`"},
    {HEADER ".section x { {", "line 4: `{` without its `}`"},
    {HEADER ".entry k() { add.u32 \001; }", "line 4: expected a constant, found `?`"},
    {HEADER ".global .u32 x = 99999999999999999999999;",
     "line 4: expected a constant, found `99999999999999999999999`"},
};
/* clang-format on */

START_TEST(text_is_refused)
{
    struct error err = {0};
    ck_assert_ptr_null(ptx_parse(refused[_i].text, strlen(refused[_i].text), &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_str_eq(err.text, refused[_i].message);
}
END_TEST

/* Nesting without end must meet a cap, not the end of the stack. */
START_TEST(nesting_is_bounded)
{
    static const struct {
        const char *before, *repeated, *message;
    } rows[] = {{HEADER ".entry k() ", "{", "scopes inside one another"},
                {HEADER ".entry k() { x ", "{", "too deeply nested"},
                {HEADER ".entry k() { x ", "!", "too deeply nested"},
                {HEADER ".entry k() { x ", "a|", "too deeply nested"},
                {HEADER ".global .u32 x = ", "(", "nested too deeply"},
                {HEADER ".global .u32 x = ", "-", "nested too deeply"},
                {HEADER ".global .u32 x = ", "1+(", "nested too deeply"},
                {HEADER ".global .u32 x[4] = ", "{", "nested too deeply"},
                {HEADER ".global .u32 x", "[1]", "more than 16 dimensions"},
                {HEADER ".entry k() { add", ".a", "more than 24 modifiers"}};
    struct bytes text = bytes_with_limit((size_t)1 << 20);
    ck_assert_int_eq(bytes_append_text(&text, rows[_i].before), 0);
    for (unsigned i = 0; i < 100000; ++i)
        ck_assert_int_eq(bytes_append_text(&text, rows[_i].repeated), 0);
    struct error err = {0};
    ck_assert_ptr_null(ptx_parse(text.data, text.length, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, rows[_i].message) != NULL, "%s", err.text);
    bytes_release(&text);
}
END_TEST

Suite *suite_ptx(void);
Suite *suite_ptx(void)
{
    Suite *suite = suite_create("ptx");
    TCase *tcase = tcase_create("parse");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, functions_are_described);
    tcase_add_test(tcase, a_parameter_may_be_named_like_its_function);
    tcase_add_test(tcase, variables_are_described);
    tcase_add_loop_test(tcase, text_is_accepted, 0, COUNT_OF(accepted));
    tcase_add_loop_test(tcase, text_is_refused, 0, COUNT_OF(refused));
    tcase_add_loop_test(tcase, nesting_is_bounded, 0, 10);
    suite_add_tcase(suite, tcase);
    return suite;
}

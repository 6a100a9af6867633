/* check_audit.c - what a lab allows in its device code, judged on PTX. */
#include "testing.h"

#include "audit.h"
#include "support_lab.h"

/* A target whose PTX is this text, with a cubin that came to be. Release its module. */
static struct build_target target_of(const char *text)
{
    return (struct build_target){.arch = {.number = 75},
                                 .compiled = true,
                                 .module = support_parse(text),
                                 .image.assembled = true};
}

#define BOTH PTX_HEADER PTX_TWICE PTX_PICK
#define IN_PICK(body) PTX_HEADER PTX_TWICE PTX_PICK_HEAD "{ " body " ret; }\n"
#define PRINTF ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
#define MALLOC ".extern .func (.param .b64 r) malloc (.param .b64 a);\n"
#define FREE ".extern .func free (.param .b64 a);\n"

/* clang-format off */
static const struct {
    const char *text;
    const char *finding; /* part of the first; NULL: there is none */
    size_t count;
    bool foreign;
} rows[] = {
    {BOTH, NULL, 0, false},
    {IN_PICK(".pragma \"nounroll\";"), NULL, 0, false},
    {IN_PICK(".pragma \"used_bytes_mask 0xf\";"), NULL, 0, false},
    {IN_PICK(".local .align 4 .b8 depot[256];"), NULL, 0, false},
    {IN_PICK(".shared .align 4 .b8 tile[256];"), NULL, 0, false},
    {BOTH ".const .align 4 .f32 table[2] = {1, 2};\n", NULL, 0, false},
    {BOTH ".global .align 1 .b8 $str[4] = {104, 105, 10};\n", NULL, 0, false},
    {BOTH ".visible .func helper(.param .u64 a) { ret; }\n", NULL, 0, false},
    /* entries */
    {PTX_HEADER PTX_TWICE, "there is no kernel called pick", 1, false},
    {PTX_HEADER, "there is no kernel called twice", 2, false},
    {BOTH ".visible .entry other() { ret; }\n", "not the lab's, other: remove it", 1, true},
    {BOTH ".visible .entry a() { ret; }\n.visible .entry b() { ret; }\n", "not the lab's, a", 2, true},
    {PTX_HEADER PTX_PICK ".visible .entry _ZN2ns5twiceEPKfPfm(.param .u64 a) { ret; }\n",
     "stands in a namespace", 1, false},
    /* pragmas */
    {IN_PICK(".pragma \"enable_smem_spilling\";"), "moves spills into shared memory", 1, true},
    {IN_PICK(".pragma \"nounrolled\";"), "the pragma \"nounrolled\" is none", 1, true},
    {IN_PICK(".pragma \"\";"), "the pragma \"\" is none", 1, true},
    {BOTH ".pragma \"maxnreg 24\";\n", "the pragma \"maxnreg 24\"", 1, true},
    {IN_PICK(".pragma \"a\\nptxas info    : Used 3 registers\";"), "the pragma \"a", 1, true},
    /* what runs long, prints, or allocates */
    {PRINTF IN_PICK("{ .param .b64 p; .param .b64 q; .param .b32 r; st.param.b64 [p+0], 0;"
                    " st.param.b64 [q+0], 0; call (r), vprintf, (p, q); }"),
     "prints from the device", 1, false},
    {MALLOC IN_PICK("{ .param .b64 p; .param .b64 r; st.param.b64 [p+0], 8;"
                    " call (r), malloc, (p); }"), "allocates on the device", 1, false},
    {FREE IN_PICK("{ .param .b64 p; st.param.b64 [p+0], 0; call free, (p); }"),
     "allocates on the device", 1, false},
    {PRINTF BOTH, NULL, 0, false}, /* declared, not called */
    /* variables that outlive a launch */
    {BOTH ".global .align 4 .b8 cache[4000];\n", "the variable cache (4,000 bytes) outlives", 1, false},
    {PTX_HEADER ".global .align 4 .u32 seen = 1;\n" PTX_TWICE PTX_PICK_HEAD
     "{ .reg .b32 %r<2>; mov.u32 %r1, 2; st.global.u32 [seen], %r1; ret; }\n",
     "the variable seen (4 bytes) outlives", 1, false},
    {PTX_HEADER ".extern .global .u32 elsewhere;\n" PTX_TWICE PTX_PICK, NULL, 0, false},
};
/* clang-format on */

/* The PTX of a row may have its declarations before the header's directives: put them behind. */
static struct build_target target_of_row(const char *text)
{
    const char *header = strstr(text, PTX_HEADER);
    ck_assert_ptr_nonnull(header);
    struct bytes whole = bytes_with_limit(10000);
    bytes_append_text(&whole, PTX_HEADER);
    bytes_append(&whole, text, (size_t)(header - text));
    bytes_append_text(&whole, header + strlen(PTX_HEADER));
    struct build_target target = target_of(bytes_text(&whole));
    bytes_release(&whole);
    return target;
}

START_TEST(row)
{
    struct build_target target = target_of_row(rows[_i].text);
    struct audit audit;
    audit_judge(&audit, &support_lab, &target);
    ck_assert_msg(audit.finding_count == rows[_i].count, "%zu findings, the first: %s",
                  audit.finding_count, audit.findings[0]);
    if (rows[_i].finding != NULL)
        ck_assert_msg(strstr(audit.findings[0], rows[_i].finding) != NULL, "%s", audit.findings[0]);
    ck_assert_int_eq(audit.foreign, rows[_i].foreign);
    for (size_t i = 0; i < audit.finding_count; ++i)
        ck_assert_ptr_null(strchr(audit.findings[i], '\n'));
    ptx_free(target.module);
}
END_TEST

START_TEST(what_was_not_built)
{
    struct build_target target = {.problem = "it does not compile"};
    struct audit audit;
    audit_judge(&audit, &support_lab, &target);
    ck_assert_uint_eq(audit.finding_count, 1);
    ck_assert_str_eq(audit.findings[0], "tiny.cu: it does not compile");
    ck_assert_uint_eq(audit_declared_shared_bytes(&target), 0);
    target = target_of(BOTH);
    target.image.assembled = false;
    (void)snprintf(target.image.problem, sizeof target.image.problem, "ptxas refuses it: x");
    audit_judge(&audit, &support_lab, &target);
    ck_assert_uint_eq(audit.finding_count, 1);
    ck_assert_str_eq(audit.findings[0], "ptxas refuses it: x");
    ptx_free(target.module);
}
END_TEST

/* Findings are capped and printable, whatever the names are. */
START_TEST(hostile_names)
{
    struct bytes text = bytes_with_limit(100000);
    bytes_append_text(&text, BOTH);
    for (unsigned i = 0; i < 100; ++i)
        bytes_printf(&text,
                     ".visible .entry foreign%u%0200u() { .pragma \"\x1b[31m%0300u\"; ret; }\n", i,
                     0, 0);
    struct build_target target = target_of(bytes_text(&text));
    struct audit audit;
    audit_judge(&audit, &support_lab, &target);
    ck_assert_uint_eq(audit.finding_count, AUDIT_FINDINGS_MAX);
    ck_assert(audit.foreign);
    for (size_t i = 0; i < audit.finding_count; ++i) {
        ck_assert_ptr_null(strchr(audit.findings[i], '\x1b'));
        ck_assert_ptr_nonnull(strstr(audit.findings[i], "remove it"));
    }
    ptx_free(target.module);
    bytes_release(&text);
}
END_TEST

/* Whose doing a disagreement is. */
START_TEST(blame)
{
    static const struct {
        const char *text;
        bool blamed;
    } cases[] = {
        {BOTH, false},
        {BOTH ".visible .entry other() { ret; }\n", true},
        {IN_PICK(".pragma \"enable_smem_spilling\";"), true},
        {IN_PICK("// begin inline asm\n nop_or_not: // end inline asm\n"), true},
        {BOTH ".global .align 4 .b8 cache[4000];\n", true},
        {PTX_HEADER PTX_PICK, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        struct build_target target = target_of(cases[i].text);
        struct audit audit;
        audit_judge(&audit, &support_lab, &target);
        const struct ptx_function *pick = ptx_function_find(target.module, "_Z4pickPKfPfmi");
        ck_assert_msg(audit_blames(&audit, pick) == cases[i].blamed, "row %zu", i);
        ck_assert_int_eq(audit_blames(&audit, NULL), cases[i].blamed && i != 3);
        ptx_free(target.module);
    }
}
END_TEST

START_TEST(declared_shared_memory)
{
    struct build_target target = target_of(
        PTX_HEADER ".shared .align 4 .b8 one[4];\n.shared .align 16 .b8 two[100];\n"
                   ".extern .shared .align 16 .b8 dynamic[];\n.global .b8 x[64] = {1};\n" PTX_TWICE
                       PTX_PICK_HEAD "{ .shared .align 8 .f64 three; ret; }\n");
    /* Each rounded up to 16 bytes: ptxas may pad so. */
    ck_assert_uint_eq(audit_declared_shared_bytes(&target), 16 + 112 + 16);
    ptx_free(target.module);
}
END_TEST

Suite *suite_audit(void)
{
    Suite *suite = suite_create("audit");
    TCase *tests = tcase_create("audit");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, row, 0, COUNT_OF(rows));
    tcase_add_test(tests, what_was_not_built);
    tcase_add_test(tests, hostile_names);
    tcase_add_test(tests, blame);
    tcase_add_test(tests, declared_shared_memory);
    suite_add_tcase(suite, tests);
    return suite;
}

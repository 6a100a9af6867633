/* check_emulator_ptx.c - PTX as others write it: old headers, names and comments, 32-bit addresses;
 * and what is refused, by name and line. */
#include "support_emulator.h"

/* Each kernel k(out) leaves 5, 6, 7 … one word a thread (of 8), or is refused with these words. */
/* clang-format off */
static const struct {
    const char *what, *text;
    const char *refusal; /* NULL: it runs */
} modules[] = {
    {"sm_30, PTX 6.0", ".version 6.0\n.target sm_30\n.address_size 64\n"
     ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\t.reg .b32 \t%r<4>;\n\t.reg .b64 \t%rd<5>;\n\n\n"
     "\tld.param.u64 \t%rd1, [k_param_0];\n\tcvta.to.global.u64 \t%rd2, %rd1;\n\tmov.u32 \t%r1, %tid.x;\n"
     "\tmul.wide.s32 \t%rd3, %r1, 4;\n\tadd.s64 \t%rd4, %rd2, %rd3;\n\tadd.s32 \t%r2, %r1, 5;\n\tst.global.u32 \t[%rd4], %r2;\n\tret;\n}\n", NULL},
    {"sm_20, debug and texture modes", ".version 3.1\n.target sm_20, texmode_independent, debug\n.address_size 64\n"
     ".entry k(.param .u64 .ptr .global .align 4 p) { .reg .u32 t; .reg .u64 a, b; ld.param.u64 a, [p]; mov.u32 t, %tid.x;\n"
     "mul.wide.u32 b, t, 4; add.u64 a, a, b; add.u32 t, t, 5; st.global.u32 [a], t; exit; }\n", NULL},
    {"names, comments, one line", ".version 7.8 .target sm_75 .address_size 64 // the end\n"
     "/* several\n lines */ .entry k(.param .u64 p){.reg .u32 $t,_x,%mine.not; .reg .u64 a$; .reg .u64 b_1;ld.param.u64 a$,[p];mov.u32 $t,%tid.x;"
     "mul.wide.u32 b_1,$t,4;add.u64 a$,a$,b_1;add.u32 _x,$t,5;/**/st.global.u32[a$],_x;ret;}", "line 3"},
    {"names and comments", ".version 7.8 .target sm_75 .address_size 64 // the end\n"
     "/* several\n lines */ .entry k(.param .u64 p){.reg .u32 $t,_x; .reg .u64 a$; .reg .u64 b_1;ld.param.u64 a$,[p];mov.u32 $t,%tid.x;"
     "mul.wide.u32 b_1,$t,4;add.u64 a$,a$,b_1;add.u32 _x,$t,5;/**/st.global.u32[a$],_x;ret;}", NULL},
    {"scopes", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) { .reg .b64 a; ld.param.u64 a, [p];\n"
     "{ .reg .b32 x; .reg .b64 b; mov.u32 x, %tid.x; { .reg .b32 x; mov.u32 x, 99; L: setp.eq.u32 q, x, 98; } mul.wide.u32 b, x, 4; add.u64 a, a, b; add.u32 x, x, 5; st.global.u32 [a], x; }\n"
     "ret; }\n", "line 5"},
    {"scopes that hide", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) { .reg .b64 a; .reg .pred q; ld.param.u64 a, [p];\n"
     "{ .reg .b32 x; .reg .b64 b; mov.u32 x, %tid.x; { .reg .b32 x; mov.u32 x, 97; L: add.u32 x, x, 1; setp.lt.u32 q, x, 99; @q bra L; } mul.wide.u32 b, x, 4; add.u64 a, a, b; add.u32 x, x, 5; bra L; L: st.global.u32 [a], x; }\n"
     "ret; }\n", NULL},
    {"banks and numbers", ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 4 .b32 five[] = {05, 0x5U, 0b101};\n"
     ".entry k(.param .b64 p) { .reg .b32 %r<10>, %s<2>; .reg .b64 %rd<3>; ld.param.b64 %rd0, [p]; mov.b32 %r9, %tid.x; mul.wide.u32 %rd1, %r9, 1U << 2;\n"
     "add.s64 %rd2, %rd0, %rd1; ld.const.b32 %s1, [five+8]; add.s32 %r0, %r9, %s1; st.global.b32 [%rd2], %r0; ret; }\n", NULL},
    {"a performance directive and pragmas", ".version 8.0\n.target sm_80\n.address_size 64\n.pragma \"nounroll\";\n"
     ".entry k(.param .b64 p) .maxntid 8, 1, 1 .minnctapersm 2 .maxnreg 32 { .pragma \"nounroll\"; .reg .b32 t; .reg .b64 a, b; ld.param.b64 a, [p]; mov.b32 t, %tid.x;\n"
     ".loc 1 7 0\n mad.wide.u32 b, t, 4, a; add.u32 t, t, 5; st.global.b32 [b], t; ret; }\n.file 1 \"mine.cu\"\n.section .debug_str { .b8 1, 2 }\n", NULL},
    {"32-bit addresses", ".version 6.4\n.target sm_60\n.address_size 32\n.global .u32 five = 5;\n.shared .u32 box[8];\n"
     ".entry k(.param .u32 p) { .reg .u32 t, a, v, s; ld.param.u32 a, [p]; mov.u32 t, %tid.x; shl.b32 v, t, 2; add.u32 a, a, v; mov.u32 s, box; add.u32 s, s, v;\n"
     "cvta.shared.u32 s, s; ld.global.u32 v, [five]; add.u32 v, v, t; st.u32 [s], v; ld.u32 v, [s]; cvta.global.u32 a, a; st.u32 [a], v; ret; }\n", NULL},
    {"32-bit pointers to functions", ".version 6.4\n.target sm_60\n.address_size 32\n"
     ".func (.param .u32 r) f (.param .u32 n) { .reg .u32 a; ld.param.u32 a, [n]; add.u32 a, a, 5; st.param.u32 [r], a; ret; }\n.global .u32 pointer = f;\n"
     ".entry k(.param .u32 p) { .reg .u32 t, a, v, fp; ld.param.u32 a, [p]; mov.u32 t, %tid.x; mad.lo.u32 a, t, 4, a; ld.global.u32 fp, [pointer];\n"
     "proto: .callprototype (.param .u32 _) _ (.param .u32 _); { .param .u32 x; .param .u32 y; st.param.u32 [x], t; call (y), fp, (x), proto; ld.param.u32 v, [y]; } st.global.u32 [a], v; ret; }\n", NULL},
    {"functions of registers", ".version 6.0\n.target sm_60\n.address_size 64\n.func (.reg .u32 sum, .reg .u64 at) f (.reg .u32 n, .reg .u64 p, .reg .u32 more) { .reg .pred q; mul.wide.u32 at, n, 4; add.u64 at, at, p;\n"
     "add.u32 sum, n, more; setp.eq.u32 q, n, 3; @q ret; add.u32 sum, sum, 0; }\n"
     ".entry k(.param .u64 p) { .reg .u32 t, v; .reg .u64 a; ld.param.u64 a, [p]; mov.u32 t, %tid.x; call (v, a), f, (t, a, 5); st.global.u32 [a], v; ret; }\n", NULL},
    {"code that never runs may hold anything", ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 p) { .reg .b32 t; .reg .b64 a, b; .reg .pred q; ld.param.b64 a, [p]; mov.b32 t, %tid.x;\n"
     "mad.wide.u32 b, t, 4, a; add.u32 t, t, 5; setp.gt.u32 q, t, 500; @q wgmma.fence.sync.aligned; @!q bra fine; frobnicate.all t, b; fine: st.global.b32 [b], t; ret; }\n", NULL},
    {"mma", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) { .reg .b32 r<9>;\n\nmma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {r1, r2, r3, r4}, {r1, r2}, {r1, r2}, {r1, r2, r3, r4};\nret; }\n",
     "line 6: mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16: matrix instructions are not emulated"},
    {"wmma", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) { .reg .b32 r<9>; .reg .b64 a; wmma.load.a.sync.aligned.row.m16n16k16.f16 {r1, r2}, [a], r3; ret; }\n", "line 4: wmma.load.a.sync.aligned.row.m16n16k16.f16: matrix"},
    {"ldmatrix", ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) { .reg .b32 r<9>; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1}, [r2]; ret; }\n", "matrix"},
    {"wgmma", ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 p) { wgmma.fence.sync.aligned; ret; }\n", "matrix"},
    {"texture", ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref t;\n.entry k(.param .u64 p) { .reg .f32 f<6>; tex.2d.v4.f32.f32 {f1, f2, f3, f4}, [t, {f1, f2}]; ret; }\n", "line 5: tex.2d.v4.f32.f32: textures and surfaces"},
    {"surface", ".version 8.0\n.target sm_80\n.address_size 64\n.global .surfref t;\n.entry k(.param .u64 p) { .reg .b32 f<6>; suld.b.1d.b32.trap {f1}, [t, {f2}]; ret; }\n", "textures and surfaces"},
    {"cluster barrier", ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) { barrier.cluster.arrive; ret; }\n", "clusters of blocks"},
    {"mapa", ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) { .reg .b32 r<3>; mapa.u32 r1, r2, 1; ret; }\n", "clusters of blocks"},
    {"bulk copy", ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) { .reg .b32 r<3>; .reg .b64 a; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [a], 16, [r2]; ret; }\n", "bulk copies"},
    {"no instruction", ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {\nfrobnicate.all;\nret; }\n", "line 5: frobnicate.all: the emulator does not know this instruction"},
    {"a wrong number of operands", ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) { .reg .b32 r<3>; add.s32 r1, r2; ret; }\n", "line 4: add.s32: it has 2 operands, not 3"},
    {"a wrong size", ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) { .reg .b32 r; .reg .b64 d; add.s32 r, r, d; ret; }\n", "line 4: add.s32: operand `d` has the wrong size"},
};
/* clang-format on */

START_TEST(modules_run_or_say_why)
{
    const char *text = modules[_i].text;
    const char *refusal = modules[_i].refusal;
    uint32_t out[8] = {0};
    struct error err = {0};
    struct emulator *emulator = emulator_create(text, strlen(text), &err);
    if (emulator == NULL) {
        ck_assert_msg(refusal != NULL && strstr(err.text, refusal) != NULL, "%s: %s",
                      modules[_i].what, err.text);
        return;
    }
    const uint64_t address = support_buffer(emulator, "out", out, sizeof out);
    const bool narrow = strstr(text, ".address_size 32") != NULL;
    ck_assert(!narrow || address <= UINT32_MAX);
    const struct support_argument arguments[] = {{&address, narrow ? 4 : 8}};
    struct emulator_result result = support_launch(emulator, "k", 1, 8, arguments, 1, NULL);
    if (refusal != NULL) {
        ck_assert_int_eq(result.status, EMULATOR_REFUSED);
        ck_assert_msg(strstr(result.refusal, refusal) != NULL, "%s: %s", modules[_i].what,
                      result.refusal);
    } else {
        ck_assert_msg(result.status == EMULATOR_FINISHED, "%s: %s%s", modules[_i].what,
                      result.refusal, result.fault_count > 0 ? result.faults[0].text : "");
        ck_assert_int_eq(emulator_copy_out(emulator, address, out, sizeof out), 0);
        for (uint32_t t = 0; t < 8; ++t)
            ck_assert_msg(out[t] == t + 5, "%s: thread %u left %u", modules[_i].what, t, out[t]);
    }
    emulator_result_release(&result);
    emulator_free(emulator);
}
END_TEST

/* The table of opcodes names suites of tests that there are. */
START_TEST(the_table_names_its_tests)
{
    static const struct {
        const char *opcode, *suites;
    } rows[] = {
#define OPCODE(name, lower, kind, flow, result, types, semantics, suites) {#name, suites},
#include "emulator/opcodes.inc"
#undef OPCODE
    };
    static const char *const suites[] = {
#define SUITE(name) #name,
#include "suites.inc"
#undef SUITE
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        ck_assert_msg(rows[i].suites[0] != '\0', "%s names no test", rows[i].opcode);
        for (const char *at = rows[i].suites; *at != '\0';) {
            const size_t length = strcspn(at, " ");
            bool found = false;
            for (size_t k = 0; k < COUNT_OF(suites); ++k)
                found =
                    found || (strlen(suites[k]) == length && strncmp(suites[k], at, length) == 0);
            ck_assert_msg(found, "%s names the suite %.*s", rows[i].opcode, (int)length, at);
            at += length + strspn(at + length, " ");
        }
    }
}
END_TEST

Suite *suite_emulator_ptx(void);
Suite *suite_emulator_ptx(void)
{
    Suite *suite = suite_create("emulator_ptx");
    TCase *tcase = tcase_create("modules");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, modules_run_or_say_why, 0, COUNT_OF(modules));
    tcase_add_test(tcase, the_table_names_its_tests);
    suite_add_tcase(suite, tcase);
    return suite;
}

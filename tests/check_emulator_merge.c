/* check_emulator_merge.c - accesses that ptxas makes one of, or leaves out, are counted as one.
 * That it does just this in real kernels, check_emulator_truth.c compares with a GPU. */
#include "support_emulator.h"

/* Each lane has 16 bytes of its own at %r4, and the same as a generic address at %d4. */
#define BEGIN                                                                                      \
    "mov.u32 %r2, box; shl.b32 %r3, %t, 4; add.u32 %r4, %r2, %r3;\n"                               \
    "cvta.shared.u64 %d2, box; mul.wide.u32 %d3, %t, 16; add.u64 %d4, %d2, %d3;\n"                 \
    "st.shared.v4.b32 [%r4], {%t, %t, %t, %t}; bar.sync 0; setp.ge.u32 %p1, %t, 0;\n"

static const struct {
    const char *statements;
    unsigned loads, wavefronts, stores, global_loads; /* the one store of BEGIN is not among them */
} rows[] = {
    /* Loads of shared memory */
    {"ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r4+4]; ld.shared.u32 %r7, [%r4+8];"
     "ld.shared.u32 %r8, [%r4+12];",
     1, 4, 0, 0},
    {"ld.shared.u32 %r5, [%r4+12]; ld.shared.u32 %r6, [%r4+8]; ld.shared.u32 %r7, [%r4+4];", 1, 4,
     0, 0},
    {"ld.shared.u32 %r5, [%r4+8]; ld.shared.f32 %f6, [%r4+12];", 1, 4, 0, 0},
    {"ld.shared.u32 %r5, [%r4+4]; ld.shared.u32 %r6, [%r4+8];", 2, 8, 0, 0},
    {"ld.shared.u64 %d5, [%r4+8]; ld.shared.u64 %d6, [%r4];", 1, 4, 0, 0},
    {"ld.shared.u32 %r5, [box+16]; ld.shared.u32 %r6, [box+20]; ld.shared.u32 %r7, [box+24];"
     "ld.shared.u32 %r8, [box+28];",
     1, 2, 0, 0},
    {"ld.shared.u16 %h5, [%r4]; ld.shared.u16 %h6, [%r4+2];", 1, 4, 0, 0},
    {"ld.shared.u16 %h5, [%r4+2]; ld.shared.u16 %h6, [%r4+4];", 2, 8, 0, 0},
    {"ld.shared.u8 %r5, [%r4]; ld.shared.u8 %r6, [%r4+1];", 2, 8, 0, 0},
    {"ld.u32 %r5, [%d4]; ld.u32 %r6, [%d4+4];", 1, 4, 0, 0},
    {"ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r4];", 1, 4, 0, 0},
    /* … which stay two */
    {"ld.shared.u32 %r5, [%r4]; bar.sync 0; ld.shared.u32 %r6, [%r4+4];", 2, 8, 0, 0},
    {"ld.shared.u32 %r5, [%r4]; st.shared.u32 [%r4+8], %r5; ld.shared.u32 %r6, [%r4+4];", 2, 8, 1,
     0},
    {"ld.shared.u32 %r5, [%r4]; st.u32 [%d4+8], %r5; ld.shared.u32 %r6, [%r4+4];", 2, 8, 1, 0},
    {"ld.shared.u32 %r5, [%r4]; bra near; near: ld.shared.u32 %r6, [%r4+4];", 2, 8, 0, 0},
    {"ld.volatile.shared.u32 %r5, [%r4]; ld.volatile.shared.u32 %r6, [%r4+4];", 2, 8, 0, 0},
    {"@%p1 ld.shared.u32 %r5, [%r4]; @%p1 ld.shared.u32 %r6, [%r4+4];", 2, 8, 0, 0},
    {"shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; ld.shared.u32 %r5, [%r4];"
     "ld.shared.u32 %r6, [%r4+4];",
     2, 2, 0, 0},
    {"ld.shared.u32 %r5, [%r4]; and.b32 %r6, %t, 1; shl.b32 %r6, %r6, 4; sub.u32 %r4, %r4, %r6;"
     "ld.shared.u32 %r7, [%r4+4];",
     2, 8, 0, 0},
    {"ld.shared.u32 %r5, [%r4]; st.global.u32 [%out], %r5; ld.shared.u32 %r6, [%r4+4];", 1, 4, 0,
     0},
    /* Stores */
    {"st.shared.u32 [%r4+4], %t; st.shared.u32 [%r4], %t;", 0, 0, 1, 0},
    {"st.shared.u16 [%r4+2], %h1; st.shared.u16 [%r4], %h1;", 0, 0, 1, 0},
    {"st.shared.u32 [%r4], %t; st.shared.u32 [%r4+4], %t; st.shared.u32 [%r4+8], %t;", 0, 0, 2, 0},
    {"st.shared.u32 [%r4], %t; ld.shared.u32 %r5, [%r4+8]; st.shared.u32 [%r4+4], %t;", 1, 4, 2, 0},
    {"st.u32 [%d4], %t; st.u32 [%d4+4], %t;", 0, 0, 1, 0},
    /* What was loaded before */
    {"ld.global.u32 %r5, [%in]; ld.global.f32 %f5, [%in];", 0, 0, 0, 1},
    {"ld.u32 %r5, [%in+4]; ld.u32 %r6, [%in+4];", 0, 0, 0, 1},
    {"add.u64 %d5, %in, %d3; ld.global.u32 %r5, [%d5]; add.u64 %d6, %in, %d3;"
     "ld.global.u32 %r6, [%d6];",
     0, 0, 0, 1},
    {"mov.b64 %d7, %d3; add.u64 %d5, %in, %d7; ld.global.u32 %r5, [%d5]; mov.b64 %d7, 0;"
     "add.u64 %d6, %in, %d7; ld.global.u32 %r6, [%d6];",
     0, 0, 0, 2},
    {"ld.global.u32 %r5, [%in]; ld.global.u32 %r6, [%in+4];", 0, 0, 0, 2},
    {"ld.global.u32 %r5, [%in]; ld.global.u16 %h6, [%in];", 0, 0, 0, 2},
    {"ld.global.u32 %r5, [%in]; st.global.u32 [%out], %r5; ld.global.u32 %r6, [%in];", 0, 0, 0, 2},
    {"ld.global.u32 %r5, [%in]; st.shared.u32 [%r4], %r5; ld.global.u32 %r6, [%in];", 0, 0, 1, 1},
    {"ld.global.u32 %r5, [%in]; bar.sync 0; ld.global.u32 %r6, [%in];", 0, 0, 0, 2},
    {"ld.volatile.global.u32 %r5, [%in]; ld.volatile.global.u32 %r6, [%in];", 0, 0, 0, 2},
    {"mov.f64 %g1, 0d3ff0000000000000; ld.global.u32 %r5, [%in]; div.rn.f64 %g2, %g1, %g1;"
     "ld.global.u32 %r6, [%in];",
     0, 0, 0, 2},
};

START_TEST(is_counted_as_ptxas_joins_it)
{
    static uint32_t in[256], out[256];
    char statements[2048];
    (void)snprintf(statements, sizeof statements, "%smov.u16 %%h1, 1;\n%s", BEGIN,
                   rows[_i].statements);
    struct support_kernel kernel = {.declarations = ".shared .align 4 .b8 box[1024];",
                                    .statements = statements,
                                    .in = in,
                                    .in_bytes = sizeof in,
                                    .out = out,
                                    .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    support_finished(&result);
    ck_assert_uint_eq(result.counters.shared_load.requests, rows[_i].loads);
    ck_assert_uint_eq(result.counters.shared_load.sectors, rows[_i].wavefronts);
    ck_assert_uint_eq(result.counters.shared_store.requests, rows[_i].stores + 1);
    ck_assert_uint_eq(result.traffic.global.load.requests, rows[_i].global_loads);
    emulator_result_release(&result);
}
END_TEST

Suite *suite_emulator_merge(void);
Suite *suite_emulator_merge(void)
{
    Suite *suite = suite_create("emulator_merge");
    TCase *tcase = tcase_create("merge");
    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, is_counted_as_ptxas_joins_it, 0, COUNT_OF(rows));
    suite_add_tcase(suite, tcase);
    return suite;
}

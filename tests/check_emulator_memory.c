/* check_emulator_memory.c - loads, stores and addresses: every type, width and space. */
#include "support_emulator.h"

/* ---- Every type goes through every space ------------------------------------------------------
 */

static const struct {
    const char *type;
    unsigned bytes;
    const char *registers; /* "h", "r" or "d" */
    const char *wider;     /* the type's value in 64 bits, by a load to a 64-bit register */
} types[] = {
    {"u8", 1, "h", "u"},  {"s8", 1, "h", "s"},  {"b8", 1, "h", "u"},  {"u16", 2, "h", "u"},
    {"s16", 2, "h", "s"}, {"b16", 2, "h", "u"}, {"u32", 4, "r", "u"}, {"s32", 4, "r", "s"},
    {"b32", 4, "r", "u"}, {"f32", 4, "f", "u"}, {"u64", 8, "d", "u"}, {"s64", 8, "d", "s"},
    {"b64", 8, "d", "u"}, {"f64", 8, "g", "u"},
};

/* How a place for one element is had at %d7, and the space that names it. */
static const struct {
    const char *name, *address, *suffix;
} spaces[] = {
    {"global", "mov.u64 %d7, %out;", ".global"},
    {"generic global", "cvta.global.u64 %d7, %out;", ""},
    {"shared", "mov.u64 %d7, box;", ".shared"},
    {"shared at 32 bits", "mov.u32 %r7, box; cvt.u64.u32 %d7, %r7;", ".shared::cta"},
    {"generic shared", "mov.u64 %d7, box; cvta.shared.u64 %d7, %d7;", ""},
    {"local", "mov.u64 %d7, depot;", ".local"},
    {"generic local", "mov.u64 %d7, depot; cvta.local.u64 %d7, %d7;", ""},
    {"generic by name", "cvta.shared.u64 %d7, box;", ""},
    {"module", "mov.u64 %d7, variable;", ".global"},
    {"generic module", "mov.u64 %d7, variable; cvta.global.u64 %d7, %d7;", ""},
    {"alloca", "alloca.u64 %d7, 32, 16;", ".local"},
};

static void write_moves(struct bytes *text, size_t type, size_t space, unsigned count)
{
    static const char *const vectors[] = {"", "", ".v2", "", ".v4"};
    const char *r = types[type].registers, *name = types[type].type;
    char list[96];
    size_t used = 0;
    for (unsigned i = 0; i < count; ++i)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%%%s%u", i == 0 ? "" : ", ", r,
                                 i + 2);
    const char *open = count > 1 ? "{" : "", *close = count > 1 ? "}" : "";
    (void)bytes_printf(text, ".local .align 32 .b8 depot[64]; .param .align 32 .b8 slot[32];\n%s\n",
                       spaces[space].address);
    (void)bytes_printf(text, "ld.global%s.%s %s%s%s, [%%in];\n", vectors[count], name, open, list,
                       close);
    (void)bytes_printf(text, "st%s%s.%s [%%d7], %s%s%s;\n", spaces[space].suffix, vectors[count],
                       name, open, list, close);
    (void)bytes_printf(text, "mov.b16 %%h2, 0; mov.b32 %%r2, 0; mov.b64 %%d2, 0;\n");
    (void)bytes_printf(text, "ld%s%s.%s %s%s%s, [%%d7];\n", spaces[space].suffix, vectors[count],
                       name, open, list, close);
    (void)bytes_printf(text, "st.global%s.%s [%%out+32], %s%s%s;\n", vectors[count], name, open,
                       list, close);
    /* The last element once more, into a wider register. */
    if (r[0] != 'f' && r[0] != 'g')
        (void)bytes_printf(text, "ld%s.%s %%d9, [%%d7+%u]; st.global.u64 [%%out+64], %%d9;\n",
                           spaces[space].suffix, name, (count - 1) * types[type].bytes);
}

START_TEST(values_go_through_every_space)
{
    const size_t type = (size_t)_i;
    for (size_t space = 0; space < COUNT_OF(spaces); ++space)
        for (unsigned count = 1; count <= 4 && count * types[type].bytes <= 16; count *= 2) {
            uint8_t in[32], out[72];
            for (unsigned i = 0; i < sizeof in; ++i)
                in[i] = (uint8_t)(0x81 + 29 * i);
            memset(out, 0, sizeof out);
            struct bytes text = bytes_with_limit(4096);
            write_moves(&text, type, space, count);
            const struct support_kernel kernel = {
                .declarations =
                    ".shared .align 32 .b8 box[32];\n.global .align 32 .b8 variable[32];",
                .statements = bytes_text(&text),
                .block = 1,
                .in = in,
                .in_bytes = sizeof in,
                .out = out,
                .out_bytes = sizeof out};
            struct emulator_result result = support_run(&kernel);
            ck_assert_msg(result.status == EMULATOR_FINISHED && result.fault_count == 0,
                          "%s %s: %s%s", types[type].type, spaces[space].name, result.refusal,
                          result.fault_count > 0 ? result.faults[0].text : "");
            const unsigned bytes = count * types[type].bytes;
            ck_assert_msg(memcmp(out + 32, in, bytes) == 0, "%u of %s through %s", count,
                          types[type].type, spaces[space].name);
            if (strchr("fg", types[type].registers[0]) == NULL) {
                int64_t wanted = 0, got;
                const unsigned shift = 64 - 8 * types[type].bytes;
                memcpy(&wanted, in + bytes - types[type].bytes, types[type].bytes);
                wanted = types[type].wider[0] == 's' ? (int64_t)((uint64_t)wanted << shift) >> shift
                                                     : wanted;
                memcpy(&got, out + 64, sizeof got);
                ck_assert_msg(got == wanted, "%s from %s, extended: %llx, not %llx",
                              types[type].type, spaces[space].name, (unsigned long long)got,
                              (unsigned long long)wanted);
            }
            emulator_result_release(&result);
            bytes_release(&text);
        }
}
END_TEST

/* ---- Single forms -----------------------------------------------------------------------------
 */

/* in is 1, 2, 3 … as 32-bit words; the kernel leaves words at out. */
#define DECLARATIONS                                                                               \
    ".const .align 8 .u32 fixed[4] = {10, 20, 30, 40};\n"                                          \
    ".const .align 8 .f32 real = 0f3FC00000;\n"                                                    \
    ".global .align 8 .u64 pointers[2] = {generic(target), generic(target)+4};\n"                  \
    ".global .align 4 .u32 target[2] = {77, 78};\n"                                                \
    ".global .align 1 .b8 parts[4] = {0xFF(target), 0xFF00(target), 1, 2};\n"                      \
    ".global .align 4 .s32 negative = -5;\n"                                                       \
    ".global .align 8 .f64 wide = 0d3FF8000000000000;\n"                                           \
    ".shared .align 16 .b8 box[64];\n"                                                             \
    ".extern .shared .align 16 .b8 given[];\n"
static const struct {
    const char *statements;
    uint32_t words[4];
} rows[] = {
    {"ld.const.u32 %r2, [fixed+8]; st.global.u32 [%out], %r2;", {30}},
    {"mov.u64 %d2, fixed; ld.const.u32 %r2, [%d2+4]; st.global.u32 [%out], %r2;", {20}},
    {"mov.u64 %d2, fixed; cvta.const.u64 %d2, %d2; ld.u32 %r2, [%d2+12]; st.global.u32 [%out], "
     "%r2;",
     {40}},
    {"ld.const.v2.u32 {%r2, %r3}, [fixed]; st.global.v2.u32 [%out], {%r2, %r3};", {10, 20}},
    {"ld.const.f32 %f2, [real]; st.global.f32 [%out], %f2;", {0x3FC00000}},
    {"ld.global.u64 %d2, [pointers+8]; ld.u32 %r2, [%d2]; st.global.u32 [%out], %r2;", {78}},
    {"mov.u64 %d2, target; ld.global.u8 %r2, [parts]; ld.global.u8 %r3, [parts+1]; ld.global.u8 "
     "%r4, [parts+3];\n"
     "and.b64 %d3, %d2, 255; cvt.u32.u64 %r5, %d3; sub.u32 %r2, %r2, %r5;\n"
     "shr.u64 %d3, %d2, 8; and.b64 %d3, %d3, 255; cvt.u32.u64 %r5, %d3; sub.u32 %r3, %r3, %r5;\n"
     "st.global.v2.u32 [%out], {%r2, %r3}; st.global.u32 [%out+8], %r4;",
     {0, 0, 2}},
    {"ld.global.s32 %r2, [negative]; st.global.u32 [%out], %r2;", {0xFFFFFFFB}},
    {"ld.global.f64 %g2, [wide]; st.global.f64 [%out], %g2;", {0, 0x3FF80000}},
    /* addresses */
    {"ld.global.u32 %r2, [%in+12]; st.global.u32 [%out+4], %r2; st.global.u32 [%out], 9;", {9, 4}},
    {"add.u64 %in, %in, 12; ld.global.u32 %r2, [%in+-4]; st.global.u32 [%out], %r2;", {3}},
    {"mov.u32 %r2, box; st.shared.u32 [%r2+8], 5; ld.shared.u32 %r3, [box+8]; st.global.u32 "
     "[%out], %r3;",
     {5}},
    {"mov.u32 %r2, given; st.shared.u32 [%r2+4], 6; ld.shared.u32 %r3, [given+4];\n"
     "mov.u32 %r4, %dynamic_smem_size; st.global.v2.u32 [%out], {%r3, %r4};",
     {6, 32}},
    {"mov.u32 %r4, %total_smem_size; st.global.u32 [%out], %r4; st.shared.u32 [box], 1; "
     "st.shared.u32 [given], 1;",
     {96}},
    {"cvta.to.global.u64 %d2, %in; ld.global.u32 %r2, [%d2]; st.global.u32 [%out], %r2;", {1}},
    {"mov.u64 %d2, box; cvta.shared.u64 %d3, %d2; cvta.to.shared.u64 %d4, %d3; sub.u64 %d4, %d4, "
     "%d2;\n"
     "cvt.u32.u64 %r2, %d4; st.global.u32 [%out], %r2;",
     {0}},
    {"mov.u32 %r2, box; cvta.shared.u32 %r3, %r2; cvta.to.shared.u32 %r4, %r3; sub.u32 %r4, %r4, "
     "%r2; st.global.u32 [%out], %r4;",
     {0}},
    /* which space? */
    {"isspacep.global %p1, %out; selp.u32 %r2, 1, 0, %p1; isspacep.shared %p1, %out; selp.u32 %r3, "
     "1, 0, %p1; st.global.v2.u32 [%out], {%r2, %r3};",
     {1, 0}},
    {"cvta.shared.u64 %d2, box; isspacep.shared %p1, %d2; selp.u32 %r2, 1, 0, %p1; isspacep.global "
     "%p1, %d2; selp.u32 %r3, 1, 0, %p1; st.global.v2.u32 [%out], {%r2, %r3};",
     {1, 0}},
    {"cvta.shared.u64 %d2, box; isspacep.shared::cta %p1, %d2; selp.u32 %r2, 1, 0, %p1; "
     "isspacep.shared::cluster %p1, %d2; selp.u32 %r3, 1, 0, %p1; st.global.v2.u32 [%out], {%r2, "
     "%r3};",
     {1, 1}},
    {".local .b32 l; cvta.local.u64 %d2, l; isspacep.local %p1, %d2; selp.u32 %r2, 1, 0, %p1; "
     "isspacep.const %p1, %d2; selp.u32 %r3, 1, 0, %p1; st.global.v2.u32 [%out], {%r2, %r3};",
     {1, 0}},
    {"mov.u64 %d2, fixed; cvta.const.u64 %d2, %d2; isspacep.const %p1, %d2; selp.u32 %r2, 1, 0, "
     "%p1; st.global.u32 [%out], %r2;",
     {1}},
    /* parameters of the kernel by address */
    {"mov.u64 %d2, p_out; cvta.param.u64 %d3, %d2; ld.u64 %d4, [%d3]; st.global.u32 [%d4], 8;",
     {8}},
    {"mov.u64 %d2, p_out; ld.param.u64 %d4, [%d2]; st.global.u32 [%d4], 7;", {7}},
    {"ld.param.v2.u32 {%r2, %r3}, [p_out]; mov.b64 %d2, {%r2, %r3}; st.global.u32 [%d2], 6;", {6}},
    /* hints change nothing */
    {"ld.global.nc.L1::no_allocate.L2::128B.u32 %r2, [%in+4]; st.global.wt.u32 [%out], %r2;", {2}},
    {"ld.volatile.global.u32 %r2, [%in+4]; st.volatile.global.u32 [%out], %r2;", {2}},
    {"ld.relaxed.gpu.global.u32 %r2, [%in+4]; st.release.sys.global.u32 [%out], %r2;", {2}},
    {"ld.acquire.cta.u32 %r2, [%in+8]; st.relaxed.cta.u32 [%out], %r2;", {3}},
    {"ld.weak.global.ca.u32 %r2, [%in+8]; st.weak.global.cs.u32 [%out], %r2;", {3}},
    {"ld.global.cg.u32 %r2, [%in+8]; st.global.cg.u32 [%out], %r2; ldu.global.u32 %r3, [%in]; "
     "st.global.u32 [%out+4], %r3;",
     {3, 1}},
    {"ldu.global.v4.u32 {%r2, %r3, %r4, %r5}, [%in]; st.global.v4.u32 [%out], {%r5, %r4, %r3, "
     "%r2};",
     {4, 3, 2, 1}},
    {"createpolicy.fractional.L2::evict_last.b64 %d2, 1.0;\n"
     "ld.global.L2::cache_hint.u32 %r2, [%in], %d2; st.global.L2::cache_hint.u32 [%out], %r2, %d2;",
     {1}},
    {"createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %d2, [%in], 16, 32; "
     "st.global.u32 [%out], 1;",
     {1}},
    {"prefetch.global.L1 [%in]; prefetch.global.L2::evict_last [%in]; prefetchu.L1 [%in]; "
     "st.global.u32 [%out], 2;",
     {2}},
    {"discard.global.L2 [%in], 128; applypriority.global.L2::evict_normal [%in], 128; "
     "st.global.u32 [%out], 3;",
     {3}},
    /* what is left of vectors */
    {"ld.global.v4.u32 {_, %r2, _, %r3}, [%in]; st.global.v2.u32 [%out], {%r2, %r3};", {2, 4}},
    {".reg .v4 .f32 quad; ld.global.v4.f32 quad, [%in]; st.global.f32 [%out], quad.z; mov.f32 "
     "quad.x, quad.w; st.global.f32 [%out+4], quad.x;",
     {3, 4}},
    {"ld.global.b128 %q, [%in]; st.global.b128 [%out], %q;", {1, 2, 3, 4}},
    {"ld.global.v4.b64 {%d2, %d3, %d4, %d5}, [%in]; st.global.v2.b64 [%out], {%d5, %d2};",
     {7, 8, 1, 2}},
    {"ld.global.v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%in]; st.global.v4.b32 [%out], "
     "{%r9, %r8, %r7, %r2};",
     {8, 7, 6, 1}},
    /* copies that complete later */
    {"cp.async.ca.shared.global [box], [%in], 4; cp.async.cg.shared.global [box+16], [%in+16], "
     "16;\n"
     "cp.async.commit_group; cp.async.wait_group 0; ld.shared.v2.u32 {%r2, %r3}, [box+16]; "
     "ld.shared.u32 %r4, [box];\n"
     "st.global.v2.u32 [%out], {%r2, %r3}; st.global.u32 [%out+8], %r4;",
     {5, 6, 1}},
    {"cp.async.ca.shared.global.L2::128B [box], [%in], 8, 4; cp.async.wait_all; ld.shared.v2.u32 "
     "{%r2, %r3}, [box];\n"
     "st.global.v2.u32 [%out], {%r2, %r3};",
     {1, 0}},
    {"setp.eq.u32 %p1, %t, 0; cp.async.ca.shared.global [box], [%in], 4, %p1; "
     "cp.async.ca.shared.global [box+4], [%in], 4, !%p1;\n"
     "cp.async.wait_all; ld.shared.v2.u32 {%r2, %r3}, [box]; st.global.v2.u32 [%out], {%r2, %r3};",
     {0, 1}},
    {"createpolicy.fractional.L2::evict_first.b64 %d2; cp.async.cg.shared.global.L2::cache_hint "
     "[box], [%in], 16, %d2;\n"
     "cp.async.wait_all; ld.shared.u32 %r2, [box+12]; st.global.u32 [%out], %r2;",
     {4}},
    /* the stack */
    {"stacksave.u64 %d2; alloca.u64 %d3, 40; st.local.u32 [%d3+36], 5; ld.local.u32 %r2, [%d3+36]; "
     "stackrestore.u64 %d2;\n"
     "alloca.u64 %d4, 16; sub.u64 %d5, %d4, %d3; cvt.u32.u64 %r3, %d5; st.global.v2.u32 [%out], "
     "{%r2, %r3};",
     {5, 0}},
    {"alloca.u32 %r2, 16, 64; and.b32 %r3, %r2, 63; alloca.u32 %r4, 16; setp.ge.u32 %p1, %r4, %r2; "
     "selp.u32 %r5, 1, 0, %p1;\n"
     "st.global.v2.u32 [%out], {%r3, %r5};",
     {0, 1}},
    /* special registers */
    {"mov.u32 %r2, %laneid; mov.u32 %r3, %warpid; mov.u32 %r4, %ntid.x; mov.u32 %r5, %nctaid.x; "
     "st.global.v4.u32 [%out], {%r2, %r3, %r4, %r5};",
     {0, 0, 1, 1}},
    {"mov.u64 %d2, %clock64; mov.u64 %d3, %clock64; setp.gt.u64 %p1, %d3, %d2; selp.u32 %r2, 1, 0, "
     "%p1; mov.u32 %r3, %clock; st.global.u32 [%out], %r2;",
     {1}},
    {"mov.u64 %d2, %globaltimer; setp.gt.u64 %p1, %d2, 1000000; selp.u32 %r2, 1, 0, %p1; "
     "st.global.u32 [%out], %r2;",
     {1}},
    {"mov.u32 %r2, %smid; mov.u32 %r3, %nsmid; setp.lt.u32 %p1, %r2, %r3; selp.u32 %r2, 1, 0, %p1; "
     "mov.u32 %r3, %pm0; mov.u32 %r4, %envreg7; st.global.v4.u32 [%out], {%r2, %r3, %r4, %r4};",
     {1, 0, 0, 0}},
    {"mov.u64 %d2, %tid.x; mov.b16 %h2, %ntid.x; cvt.u32.u64 %r2, %d2; cvt.u32.u16 %r3, %h2; "
     "st.global.v2.u32 [%out], {%r2, %r3};",
     {0, 1}},
    {".reg .v4 .u32 where; mov.v4.u32 where, %tid; st.global.u32 [%out], where.y; mov.v4.u32 "
     "where, %ntid; st.global.u32 [%out+4], where.z;",
     {0, 1}},
};

START_TEST(forms_work)
{
    uint32_t in[16], out[8] = {0};
    for (unsigned i = 0; i < COUNT_OF(in); ++i)
        in[i] = i + 1;
    char statements[2048];
    (void)snprintf(statements, sizeof statements, ".reg .b128 %%q;\n%s", rows[_i].statements);
    const struct support_kernel kernel = {.declarations = DECLARATIONS,
                                          .statements = statements,
                                          .block = 1,
                                          .shared_bytes = 32,
                                          .in = in,
                                          .in_bytes = sizeof in,
                                          .out = out,
                                          .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    ck_assert_msg(result.status == EMULATOR_FINISHED && result.fault_count == 0, "%s: %s%s",
                  rows[_i].statements, result.refusal,
                  result.fault_count > 0 ? result.faults[0].text : "");
    for (unsigned i = 0; i < 4; ++i)
        ck_assert_msg(out[i] == rows[_i].words[i], "%s: word %u is %x, not %x", rows[_i].statements,
                      i, out[i], rows[_i].words[i]);
    emulator_result_release(&result);
}
END_TEST

Suite *suite_emulator_memory(void);
Suite *suite_emulator_memory(void)
{
    Suite *suite = suite_create("emulator_memory");
    TCase *tcase = tcase_create("memory");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, values_go_through_every_space, 0, COUNT_OF(types));
    tcase_add_loop_test(tcase, forms_work, 0, COUNT_OF(rows));
    suite_add_tcase(suite, tcase);
    return suite;
}

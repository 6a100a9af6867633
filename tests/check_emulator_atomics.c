/* check_emulator_atomics.c - atom and red: every operation and type, in every space, against the
 * host; and from several host threads at once. */
#include "support_emulator.h"

#include <math.h>

#define THREADS 96 /* three warps, the last not quite like the others: 90 threads take part */
#define TAKING_PART 90

/* What one operation makes of the old value. */
static uint64_t op_and(uint64_t old, uint64_t b)
{
    return old & b;
}

static uint64_t op_or(uint64_t old, uint64_t b)
{
    return old | b;
}

static uint64_t op_xor(uint64_t old, uint64_t b)
{
    return old ^ b;
}

static uint64_t op_add(uint64_t old, uint64_t b)
{
    return old + b;
}

static uint64_t op_exch(uint64_t old, uint64_t b)
{
    (void)old;
    return b;
}

static uint64_t op_inc(uint64_t old, uint64_t b)
{
    return old >= b ? 0 : old + 1;
}

static uint64_t op_dec(uint64_t old, uint64_t b)
{
    return old == 0 || old > b ? b : old - 1;
}

static uint64_t op_min_u(uint64_t old, uint64_t b)
{
    return b < old ? b : old;
}

static uint64_t op_max_u(uint64_t old, uint64_t b)
{
    return b > old ? b : old;
}

static uint64_t op_min_s32(uint64_t old, uint64_t b)
{
    return (int32_t)b < (int32_t)old ? b : old;
}

static uint64_t op_max_s32(uint64_t old, uint64_t b)
{
    return (int32_t)b > (int32_t)old ? b : old;
}

static uint64_t op_min_s64(uint64_t old, uint64_t b)
{
    return (int64_t)b < (int64_t)old ? b : old;
}

static uint64_t op_max_s64(uint64_t old, uint64_t b)
{
    return (int64_t)b > (int64_t)old ? b : old;
}

static uint64_t op_cas(uint64_t old, uint64_t b)
{
    return old == 3 ? b : old; /* the kernel compares with 3 */
}

static uint64_t op_add_f32(uint64_t old, uint64_t b)
{
    float x, y;
    uint32_t bits = (uint32_t)old, other = (uint32_t)b;
    memcpy(&x, &bits, sizeof x);
    memcpy(&y, &other, sizeof y);
    x += y;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t op_add_f64(uint64_t old, uint64_t b)
{
    double x, y;
    memcpy(&x, &old, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&old, &x, sizeof old);
    return old;
}

/* One operation: who adds to what in which order is the emulator's: lane by lane. */
static const struct row {
    const char *name; /* what follows atom. or red. and the space */
    unsigned bytes;
    bool is_float, no_red;
    uint64_t (*apply)(uint64_t old, uint64_t b);
} rows[] = {
    {"and.b32", 4, false, false, op_and},
    {"or.b32", 4, false, false, op_or},
    {"xor.b32", 4, false, false, op_xor},
    {"add.u32", 4, false, false, op_add},
    {"add.s32", 4, false, false, op_add},
    {"exch.b32", 4, false, true, op_exch},
    {"inc.u32", 4, false, false, op_inc},
    {"dec.u32", 4, false, false, op_dec},
    {"min.u32", 4, false, false, op_min_u},
    {"max.u32", 4, false, false, op_max_u},
    {"min.s32", 4, false, false, op_min_s32},
    {"max.s32", 4, false, false, op_max_s32},
    {"cas.b32", 4, false, true, op_cas},
    {"and.b64", 8, false, false, op_and},
    {"or.b64", 8, false, false, op_or},
    {"xor.b64", 8, false, false, op_xor},
    {"add.u64", 8, false, false, op_add},
    {"exch.b64", 8, false, true, op_exch},
    {"min.u64", 8, false, false, op_min_u},
    {"max.u64", 8, false, false, op_max_u},
    {"min.s64", 8, false, false, op_min_s64},
    {"max.s64", 8, false, false, op_max_s64},
    {"cas.b64", 8, false, true, op_cas},
    {"add.f32", 4, true, false, op_add_f32},
    {"add.f64", 8, true, false, op_add_f64},
    {"cas.b16", 2, false, true, op_cas},
    {"relaxed.gpu.add.u32", 4, false, false, op_add},
    {"acq_rel.cta.max.s32", 4, false, false, op_max_s32},
    {"release.sys.or.b32", 4, false, false, op_or},
};

enum { IN_GLOBAL, IN_SHARED, GENERIC_GLOBAL, GENERIC_SHARED, WAYS };

static uint64_t random_bits(const struct row *row, uint32_t *state)
{
    if (row->is_float) {
        const float narrow = support_random_float(state);
        const double wide = (double)narrow;
        uint32_t bits;
        uint64_t all;
        memcpy(&bits, &narrow, sizeof bits);
        memcpy(&all, &wide, sizeof all);
        return row->bytes == 4 ? bits : all;
    }
    uint64_t value = support_random(state) % 5; /* small, so that comparisons meet equals */
    if (row->bytes == 8)
        value |= (uint64_t)(support_random(state) % 3) << 62;
    else if (row->bytes == 4)
        value |= support_random(state) % 3 << 30;
    return value;
}

/* out[0]: the counter; then what each thread saw before. %d7: the counter's address. */
static void write_statements(char *text, size_t room, const struct row *row, unsigned way, bool red)
{
    static const char *const spaces[] = {".global", ".shared", "", ""};
    const char *move = way == IN_GLOBAL        ? "mov.u64 %d7, %out;"
                       : way == IN_SHARED      ? "mov.u64 %d7, box;"
                       : way == GENERIC_GLOBAL ? "cvta.global.u64 %d7, %out;"
                                               : "mov.u64 %d7, box; cvta.shared.u64 %d7, %d7;";
    const unsigned bits = 8 * row->bytes;
    const char *reg = bits == 16 ? "%h" : bits == 32 ? "%r" : "%d";
    char instruction[64];
    (void)snprintf(instruction, sizeof instruction, "%s%s.%s", red ? "red" : "atom", spaces[way],
                   row->name);
    /* The scope stands before the space: atom.relaxed.gpu.global.add.u32. */
    const char *dot = strrchr(row->name, '.');
    const char *operation = dot;
    while (operation > row->name && operation[-1] != '.')
        --operation;
    if (operation > row->name)
        (void)snprintf(instruction, sizeof instruction, "%s.%.*s%s.%s", red ? "red" : "atom",
                       (int)(operation - 1 - row->name), row->name, spaces[way], operation);
    (void)snprintf(text, room,
                   "setp.ge.u32 %%p1, %%t, %d; %s\n"
                   "setp.ne.u32 %%p2, %%t, 0; @%%p2 bra filled;\n"
                   "ld.global.b%u %s8, [%%out]; st.shared.b%u [box], %s8;\nfilled: bar.sync 0;\n"
                   "@%%p1 bra late; mul.wide.u32 %%d0, %%t, %u; add.u64 %%in, %%in, %%d0;\n"
                   "ld.global.b%u %s2, [%%in];\n%s %s%s[%%d7], %s%s2;\n"
                   "%s add.u64 %%d1, %%out, %%d0; %s\n"
                   "late: bar.sync 0; @%%p2 bra done; %s\ndone:",
                   TAKING_PART, move, bits, reg, bits, reg, row->bytes, bits, reg, instruction,
                   red ? "" : reg, red ? "" : "3, ", strstr(row->name, "cas") != NULL ? "3, " : "",
                   reg, "",
                   red          ? ""
                   : bits == 16 ? "st.global.b16 [%d1+2], %h3;"
                   : bits == 32 ? "st.global.b32 [%d1+4], %r3;"
                                : "st.global.b64 [%d1+8], %d3;",
                   way == IN_SHARED || way == GENERIC_SHARED
                       ? bits == 16   ? "ld.shared.b16 %h9, [box]; st.global.b16 [%out], %h9;"
                         : bits == 32 ? "ld.shared.b32 %r9, [box]; st.global.b32 [%out], %r9;"
                                      : "ld.shared.b64 %d9, [box]; st.global.b64 [%out], %d9;"
                       : "");
}

static uint64_t element(const uint8_t *from, size_t index, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, from + index * bytes, bytes);
    return value;
}

START_TEST(operations_are_applied_one_after_another)
{
    const struct row *row = &rows[_i];
    uint8_t in[8 * THREADS], out[8 * (THREADS + 1)];
    char text[2048];
    for (unsigned way = 0; way < WAYS; ++way)
        for (unsigned red = 0; red < (row->no_red ? 1u : 2u); ++red) {
            uint32_t state = 77 + way;
            memset(out, 0, sizeof out);
            for (unsigned i = 0; i < THREADS; ++i) {
                const uint64_t value = random_bits(row, &state);
                memcpy(in + i * row->bytes, &value, row->bytes);
            }
            uint64_t first = random_bits(row, &state);
            memcpy(out, &first, row->bytes);
            write_statements(text, sizeof text, row, way, red != 0);
            const struct support_kernel kernel = {.declarations = ".shared .align 8 .b8 box[8];",
                                                  .statements = text,
                                                  .block = THREADS,
                                                  .in = in,
                                                  .in_bytes = sizeof in,
                                                  .out = out,
                                                  .out_bytes = sizeof out};
            struct emulator_result result = support_run(&kernel);
            ck_assert_msg(result.status == EMULATOR_FINISHED && result.fault_count == 0, "%s: %s%s",
                          text, result.refusal,
                          result.fault_count > 0 ? result.faults[0].text : "");
            const uint64_t mask =
                row->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * row->bytes) - 1;
            uint64_t value = first;
            for (unsigned i = 0; i < TAKING_PART; ++i) {
                if (red == 0)
                    ck_assert_msg(element(out, i + 1, row->bytes) == value,
                                  "%s way %u: thread %u saw %llx, not %llx", row->name, way, i,
                                  (unsigned long long)element(out, i + 1, row->bytes),
                                  (unsigned long long)value);
                value = row->apply(value, element(in, i, row->bytes)) & mask;
            }
            ck_assert_msg(element(out, 0, row->bytes) == value, "%s way %u: %llx is left, not %llx",
                          row->name, way, (unsigned long long)element(out, 0, row->bytes),
                          (unsigned long long)value);
            emulator_result_release(&result);
        }
}
END_TEST

/* ---- Vectors, halves, 128 bits ----------------------------------------------------------------
 */

/* Each ends with 32 bits of thread 0 at out, and begins with the words of `out`. */
static const struct {
    const char *statements;
    uint32_t before[4], after[4];
} wide_rows[] = {
    {"mov.b32 %f1, 0f3F800000; atom.global.v2.f32.add {%f2, %f3}, [%out], {%f1, %f1};\n"
     "st.global.v2.f32 [%out+8], {%f2, %f3};",
     {0x40000000, 0x40400000, 0, 0},
     {0x40400000, 0x40800000, 0x40000000, 0x40400000}},
    {"mov.b32 %f1, 0f3F800000; red.global.v4.f32.add [%out], {%f1, %f1, %f1, %f1};",
     {0, 0x3F800000, 0x40000000, 0xBF800000},
     {0x3F800000, 0x40000000, 0x40400000, 0}},
    {"mov.b32 %r2, 0x3C003C00; atom.global.add.noftz.f16x2 %r3, [%out], %r2;\n"
     "st.global.u32 [%out+4], %r3;",
     {0x40003C00, 0, 0, 0},
     {0x42004000, 0x40003C00, 0, 0}},
    {"mov.b16 %h2, 0x3F80; atom.global.add.noftz.bf16 %h3, [%out], %h2;\n"
     "st.global.b16 [%out+4], %h3;",
     {0x00004000, 0, 0, 0},
     {0x00004040, 0x4000, 0, 0}},
    {"mov.b16 %h2, 0x3C00; red.global.add.noftz.f16 [%out+2], %h2;",
     {0x3C000000, 0, 0, 0},
     {0x40000000, 0, 0, 0}},
    {"mov.b32 %r2, 0x3C004000; red.global.v2.f16x2.max.noftz [%out], {%r2, %r2};",
     {0x42000000, 0x00003C00, 0, 0},
     {0x42004000, 0x3C004000, 0, 0}},
    {"mov.b16 %h2, 0x3C00; atom.global.v2.f16.add.noftz {%h3, %h4}, [%out], {%h2, %h2};\n"
     "st.global.v2.b16 [%out+4], {%h3, %h4};",
     {0x40003C00, 0, 0, 0},
     {0x42004000, 0x40003C00, 0, 0}},
    {"mov.b16 %h2, 0x3F80; red.global.v4.bf16.min.noftz [%out], {%h2, %h2, %h2, %h2};",
     {0x40003F00, 0x3F80BF80, 0, 0},
     {0x3F803F00, 0x3F80BF80, 0, 0}},
    {"{ .reg .b128 a, b, c; mov.u64 %d1, 1; mov.u64 %d2, 2; mov.b128 a, {%d1, %d2};\n"
     "mov.u64 %d3, 0x700000005; mov.u64 %d4, 9; mov.b128 b, {%d3, %d4};\n"
     "atom.global.cas.b128 c, [%out], a, b; }",
     {1, 0, 2, 0},
     {5, 7, 9, 0}},
    {"{ .reg .b128 a, c; mov.u64 %d1, 1; mov.u64 %d2, 2; mov.b128 a, {%d1, %d2};\n"
     "atom.global.exch.b128 c, [%out], a; mov.b128 {%d3, %d4}, c;\n"
     "add.u64 %d3, %d3, 10; st.global.u64 [%out], %d3; }",
     {5, 0, 6, 0},
     {15, 0, 2, 0}},
};

START_TEST(wide_operations_work)
{
    uint32_t out[4];
    memcpy(out, wide_rows[_i].before, sizeof out);
    const struct support_kernel kernel = {
        .statements = wide_rows[_i].statements, .block = 1, .out = out, .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    ck_assert_msg(result.status == EMULATOR_FINISHED && result.fault_count == 0, "%s: %s%s",
                  kernel.statements, result.refusal,
                  result.fault_count > 0 ? result.faults[0].text : "");
    for (unsigned i = 0; i < 4; ++i)
        ck_assert_msg(out[i] == wide_rows[_i].after[i], "%s: word %u is %x, not %x",
                      kernel.statements, i, out[i], wide_rows[_i].after[i]);
    emulator_result_release(&result);
}
END_TEST

/* 64 blocks on three host threads: nothing is lost. */
START_TEST(host_threads_do_not_lose_any)
{
    uint32_t out[2] = {0, 0};
    const struct support_kernel kernel = {
        .statements = "red.global.add.u32 [%out], 1; atom.global.inc.u32 %r2, [%out+4], 6;",
        .grid = 64,
        .block = 100,
        .out = out,
        .out_bytes = sizeof out,
        .options = {.threads = 3}};
    struct emulator_result result = support_run(&kernel);
    support_finished(&result);
    ck_assert_uint_eq(out[0], 6400);
    ck_assert_uint_eq(out[1], 6400 % 7);
    emulator_result_release(&result);
}
END_TEST

Suite *suite_emulator_atomics(void);
Suite *suite_emulator_atomics(void)
{
    Suite *suite = suite_create("emulator_atomics");
    TCase *tcase = tcase_create("atomics");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, operations_are_applied_one_after_another, 0, COUNT_OF(rows));
    tcase_add_loop_test(tcase, wide_operations_work, 0, COUNT_OF(wide_rows));
    tcase_add_test(tcase, host_threads_do_not_lose_any);
    suite_add_tcase(suite, tcase);
    return suite;
}

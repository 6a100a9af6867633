/* check_emulator_control.c - divergence, loops, calls, barriers; what never ends is stopped. */
#include "support_emulator.h"

/* ---- Programs and what each thread leaves -------------------------------------------------------
 */

static uint32_t collatz(unsigned t)
{
    uint32_t n = t + 1, steps = 0;
    for (; n != 1; ++steps)
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
}

static uint32_t nested(unsigned t)
{
    return (t < 16 ? (t % 2 == 0 ? 1u : 2u) : (t % 4 == 3 ? 3u : 4u)) + (t % 8 == 5 ? 100u : 0u);
}

static uint32_t early(unsigned t)
{
    return t % 3 == 0 ? 0 : t % 3 == 1 ? 7 : 8;
}

static uint32_t breaks(unsigned t)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 20; ++i) {
        if (i == t)
            break;
        if (i % 3 == 0)
            continue;
        sum += i;
    }
    return sum;
}

static uint32_t switched(unsigned t)
{
    static const uint32_t values[] = {10, 20, 30, 30};
    return values[t % 4] + 1;
}

static uint32_t guarded_switch(unsigned t)
{
    return t >= 20 ? 9 : switched(t) - 1;
}

static uint32_t factorial(unsigned t)
{
    uint32_t product = 1;
    for (unsigned i = 2; i <= t % 13; ++i)
        product *= i;
    return product;
}

static uint32_t fibonacci(unsigned t)
{
    uint32_t a = 0, b = 1;
    for (unsigned i = 0; i < t % 11; ++i) {
        const uint32_t next = a + b;
        a = b;
        b = next;
    }
    return a;
}

static uint32_t chosen(unsigned t)
{
    return t % 3 == 0 ? t + 1 : t % 3 == 1 ? t * 2 : t - 3;
}

static uint32_t from_callee(unsigned t)
{
    return t % 2 == 0 ? 5 : 0; /* the others end inside the function */
}

static uint32_t swapped(unsigned t)
{
    return 63 - t;
}

static uint32_t swapped_twice(unsigned t)
{
    return 2 * (63 - t);
}

static uint32_t produced(unsigned t)
{
    return t < 32 ? 0 : (t - 32) * 3;
}

static uint32_t counted(unsigned t)
{
    (void)t;
    return 22; /* of 64 threads, those with t % 3 == 0 */
}

static uint32_t anybody(unsigned t)
{
    (void)t;
    return 1;
}

static uint32_t halves(unsigned t)
{
    return t % 32 < 16 ? 31 - t % 32 : t % 32;
}

static uint32_t lock_count(unsigned t)
{
    return t == 0 ? 64 : 0;
}

static uint32_t eight(unsigned t)
{
    (void)t;
    return 8;
}

static uint32_t plus_one(unsigned t)
{
    return t + 1;
}

#define FACTORIAL                                                                                  \
    ".func (.param .b32 r) fact (.param .b32 n) { .reg .b32 %a<6>; .reg .pred %p<2>;\n"            \
    "ld.param.b32 %a1, [n]; mov.u32 %a5, 1; setp.lt.u32 %p1, %a1, 2; @%p1 bra base;\n"             \
    "sub.u32 %a2, %a1, 1; { .param .b32 x; .param .b32 y; st.param.b32 [x], %a2;\n"                \
    "call.uni (y), fact, (x); ld.param.b32 %a3, [y]; } mul.lo.u32 %a5, %a3, %a1;\n"                \
    "base: st.param.b32 [r], %a5; ret; }\n"
#define FIBONACCI                                                                                  \
    ".func (.param .b32 r) fib (.param .b32 n) { .reg .b32 %a<8>; .reg .pred %p<2>;\n"             \
    "ld.param.b32 %a1, [n]; mov.u32 %a5, %a1; setp.lt.u32 %p1, %a1, 2; @%p1 bra base;\n"           \
    "sub.u32 %a2, %a1, 1; { .param .b32 x; .param .b32 y; st.param.b32 [x], %a2;\n"                \
    "call (y), fib, (x); ld.param.b32 %a3, [y]; }\n"                                               \
    "sub.u32 %a2, %a1, 2; { .param .b32 x; .param .b32 y; st.param.b32 [x], %a2;\n"                \
    "call (y), fib, (x); ld.param.b32 %a4, [y]; } add.u32 %a5, %a3, %a4;\n"                        \
    "base: st.param.b32 [r], %a5; ret; }\n"
#define THREE_FUNCTIONS                                                                            \
    ".func (.param .b32 r) f0 (.param .b32 n) { .reg .b32 %a; ld.param.b32 %a, [n];\n"             \
    "add.u32 %a, %a, 1; st.param.b32 [r], %a; ret; }\n"                                            \
    ".func (.param .b32 r) f1 (.param .b32 n) { .reg .b32 %a; ld.param.b32 %a, [n];\n"             \
    "shl.b32 %a, %a, 1; st.param.b32 [r], %a; ret; }\n"                                            \
    ".func (.param .b32 r) f2 (.param .b32 n) { .reg .b32 %a; ld.param.b32 %a, [n];\n"             \
    "sub.u32 %a, %a, 3; st.param.b32 [r], %a; ret; }\n"                                            \
    ".global .align 8 .u64 table[3] = {f0, f1, f2};\n"
#define CALL(name)                                                                                 \
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %t; call (y), " name ", (x);\n"             \
    "ld.param.b32 %r9, [y]; }"
/* clang-format off */
static const struct {
    const char *declarations, *statements; /* to %r9 */
    unsigned block;
    uint32_t (*expected)(unsigned t);
    bool may_exit; /* some threads leave nothing */
} programs[] = {
    {"", "add.u32 %r2, %t, 1; mov.u32 %r9, 0; loop: setp.eq.u32 %p1, %r2, 1; @%p1 bra done;\n"
     "and.b32 %r3, %r2, 1; setp.eq.u32 %p2, %r3, 0; @%p2 shr.u32 %r2, %r2, 1; @!%p2 mad.lo.u32 %r2, %r2, 3, 1;\n"
     "add.u32 %r9, %r9, 1; bra loop; done:", 64, collatz, false},
    {"", "setp.lt.u32 %p1, %t, 16; and.b32 %r2, %t, 1; and.b32 %r3, %t, 3; and.b32 %r4, %t, 7;\n"
     "@!%p1 bra right; setp.eq.u32 %p2, %r2, 0; @%p2 bra one; mov.u32 %r9, 2; bra join; one: mov.u32 %r9, 1; bra join;\n"
     "right: setp.eq.u32 %p2, %r3, 3; @%p2 bra three; mov.u32 %r9, 4; bra join; three: mov.u32 %r9, 3;\n"
     "join: setp.eq.u32 %p3, %r4, 5; @%p3 add.u32 %r9, %r9, 100;", 32, nested, false},
    {"", "rem.u32 %r2, %t, 3; setp.eq.u32 %p1, %r2, 0; @%p1 exit; mov.u32 %r9, 7; setp.eq.u32 %p2, %r2, 2; @!%p2 bra end; mov.u32 %r9, 8; end:", 32, early, true},
    {"", "mov.u32 %r2, 0; mov.u32 %r9, 0; loop: setp.eq.u32 %p1, %r2, 20; @%p1 bra done; setp.eq.u32 %p1, %r2, %t; @%p1 bra done;\n"
     "rem.u32 %r3, %r2, 3; setp.eq.u32 %p2, %r3, 0; @%p2 bra next; add.u32 %r9, %r9, %r2; next: add.u32 %r2, %r2, 1; bra loop; done:", 64, breaks, false},
    {"", "and.b32 %r2, %t, 3; ts: .branchtargets A, B, C, C; brx.idx %r2, ts; A: mov.u32 %r9, 10; bra join; B: mov.u32 %r9, 20; bra join; C: mov.u32 %r9, 30; join: add.u32 %r9, %r9, 1;", 32, switched, false},
    {"", "and.b32 %r2, %t, 3; mov.u32 %r9, 9; setp.lt.u32 %p1, %t, 20; ts: .branchtargets A, B, C, C; @%p1 brx.idx %r2, ts; bra join; A: mov.u32 %r9, 10; bra join; B: mov.u32 %r9, 20; bra join; C: mov.u32 %r9, 30; join:", 32, guarded_switch, false},
    {FACTORIAL, "rem.u32 %t, %t, 13;\n" CALL("fact"), 64, factorial, false},
    {FIBONACCI, "rem.u32 %t, %t, 11;\n" CALL("fib"), 64, fibonacci, false},
    {THREE_FUNCTIONS, "rem.u32 %r2, %t, 3; mul.wide.u32 %d2, %r2, 8; mov.u64 %d3, table; add.u64 %d3, %d3, %d2; ld.global.u64 %d4, [%d3];\n"
     "proto: .callprototype (.param .b32 _) _ (.param .b32 _); { .param .b32 x; .param .b32 y; st.param.b32 [x], %t; call (y), %d4, (x), proto; ld.param.b32 %r9, [y]; }", 64, chosen, false},
    {THREE_FUNCTIONS, "rem.u32 %r2, %t, 3; mov.u64 %d4, f0; setp.eq.u32 %p1, %r2, 1; @%p1 mov.u64 %d4, f1; setp.eq.u32 %p1, %r2, 2; @%p1 mov.u64 %d4, f2;\n"
     "proto: .callprototype (.param .b32 _) _ (.param .b32 _); { .param .b32 x; .param .b32 y; st.param.b32 [x], %t; call (y), %d4, (x), proto; ld.param.b32 %r9, [y]; }", 64, chosen, false},
    {".func (.param .b32 r) stop (.param .b32 n) { .reg .b32 %a; .reg .pred %p; ld.param.b32 %a, [n]; and.b32 %a, %a, 1; setp.ne.u32 %p, %a, 0;\n"
     "@%p exit; st.param.b32 [r], 5; ret; }\n", CALL("stop"), 32, from_callee, true},
    {".func (.reg .u32 r) increment (.reg .u32 n) { add.u32 r, n, 1; ret; }\n", "call (%r9), increment, (%t);", 32, plus_one, false},
    {"", "mov.u32 %r2, box; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %t; bar.sync 0; sub.u32 %r5, %r2, %r3; ld.shared.u32 %r9, [%r5+252];", 64, swapped, false},
    {"", "mov.u32 %r2, box; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %t; barrier.cta.sync.aligned 3; sub.u32 %r5, %r2, %r3;\n"
     "ld.shared.u32 %r6, [%r5+252]; bar.sync 5, 64; add.u32 %r6, %r6, %r6; st.shared.u32 [%r4], %r6; barrier.sync 3, 64; ld.shared.u32 %r9, [%r4];", 64, swapped_twice, false},
    {"", "mov.u32 %r9, 0; mov.u32 %r2, box; and.b32 %r3, %t, 31; shl.b32 %r3, %r3, 2; add.u32 %r4, %r2, %r3; setp.ge.u32 %p1, %t, 32; @%p1 bra consume;\n"
     "mul.lo.u32 %r5, %t, 3; st.shared.u32 [%r4], %r5; bar.arrive 1, 64; bra end; consume: bar.sync 1, 64; ld.shared.u32 %r9, [%r4]; end:", 64, produced, false},
    {"", "rem.u32 %r2, %t, 3; setp.eq.u32 %p1, %r2, 0; bar.red.popc.u32 %r9, 0, %p1;", 64, counted, false},
    {"", "setp.eq.u32 %p1, %t, 40; bar.red.or.pred %p2, 0, %p1; bar.red.and.pred %p3, 0, !%p1; selp.u32 %r9, 1, 0, %p2; @%p3 mov.u32 %r9, 2;", 64, anybody, false},
    {"", "mov.u32 %r2, box; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; mov.u32 %r9, %laneid; st.shared.u32 [%r4], %r9; setp.ge.u32 %p1, %r9, 16; bar.warp.sync 0xffffffff; @%p1 bra end;\n"
     "and.b32 %r5, %t, 32; mov.u32 %r6, 31; sub.u32 %r6, %r6, %r9; add.u32 %r5, %r5, %r6; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2; ld.shared.u32 %r9, [%r5]; end:", 64, halves, false},
    /* Lanes of one warp take a lock from one another. */
    {"", "setp.ne.u32 %p1, %t, 0; @%p1 bra ready; st.shared.v2.u32 [box], {0, 0}; ready: bar.sync 0;\n"
     "again: atom.shared.cas.b32 %r2, [box], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra again; membar.cta;\n"
     "ld.shared.u32 %r3, [box+4]; add.u32 %r3, %r3, 1; st.shared.u32 [box+4], %r3; membar.cta; atom.shared.exch.b32 %r2, [box], 0;\n"
     "bar.sync 0; mov.u32 %r9, 0; @%p1 bra end; ld.shared.u32 %r9, [box+4]; end:", 64, lock_count, false},
    {"", "setp.ne.u32 %p1, %t, 0; @%p1 bra ready; st.shared.v2.u32 [box], {0, 0}; ready: bar.sync 0;\n"
     "again: atom.acquire.cta.shared.cas.b32 %r2, [box], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra again;\n"
     "ld.shared.u32 %r3, [box+4]; add.u32 %r3, %r3, 1; st.shared.u32 [box+4], %r3; atom.release.cta.shared.exch.b32 %r2, [box], 0;\n"
     "bar.sync 0; mov.u32 %r9, 0; @%p1 bra end; ld.shared.u32 %r9, [box+4]; end:", 64, lock_count, false},
    /* Warps pass a barrier in memory, phase after phase. */
    {"", "setp.ne.u32 %p1, %t, 0; @%p1 bra ready; mbarrier.init.shared.b64 [gate], 64; ready: bar.sync 0; mov.u32 %r9, 0; mov.u32 %r2, 0;\n"
     "phase: mbarrier.arrive.shared.b64 %d2, [gate]; wait: mbarrier.test_wait.shared.b64 %p2, [gate], %d2; @!%p2 bra wait;\n"
     "add.u32 %r9, %r9, 2; add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 4; @%p3 bra phase;", 64, eight, false},
    {"", "setp.ne.u32 %p1, %t, 0; @%p1 bra ready; mbarrier.init.shared::cta.b64 [gate], 64; ready: bar.sync 0; mov.u32 %r9, 8; mov.u32 %r2, 0;\n"
     "mbarrier.arrive.shared.b64 _, [gate]; wait: mbarrier.try_wait.parity.shared.b64 %p2, [gate], 0; @!%p2 bra wait;\n"
     "mbarrier.arrive_drop.shared.b64 %d3, [gate]; mbarrier.pending_count.b64 %r4, %d3; setp.lt.u32 %p3, %r4, 65; @!%p3 mov.u32 %r9, 0;", 64, eight, false},
    {"", "nanosleep.u32 20; pmevent 1; griddepcontrol.wait; griddepcontrol.launch_dependents; .pragma \"nounroll\"; mov.u32 %r9, 8;", 32, eight, false},
};
/* clang-format on */

START_TEST(programs_compute)
{
    const unsigned block = programs[_i].block;
    uint32_t out[64] = {0};
    struct bytes declarations = bytes_with_limit(8192), statements = bytes_with_limit(8192);
    (void)bytes_printf(&declarations,
                       "%s\n.shared .align 8 .b8 box[256];\n.shared .align 8 .b64 gate;",
                       programs[_i].declarations);
    (void)bytes_printf(&statements,
                       "mul.wide.u32 %%d0, %%t, 4; add.u64 %%out, %%out, %%d0;\n%s\n"
                       "st.global.u32 [%%out], %%r9;",
                       programs[_i].statements);
    const struct support_kernel kernel = {.declarations = bytes_text(&declarations),
                                          .statements = bytes_text(&statements),
                                          .block = block,
                                          .out = out,
                                          .out_bytes = sizeof out};
    struct emulator_result result = support_run(&kernel);
    ck_assert_msg(result.status == EMULATOR_FINISHED && result.fault_count == 0, "%s: %s%s",
                  programs[_i].statements, result.refusal,
                  result.fault_count > 0 ? result.faults[0].text : "");
    for (unsigned t = 0; t < block; ++t)
        ck_assert_msg(out[t] == programs[_i].expected(t), "%s: thread %u has %u, not %u",
                      programs[_i].statements, t, out[t], programs[_i].expected(t));
    emulator_result_release(&result);
    bytes_release(&declarations);
    bytes_release(&statements);
}
END_TEST

/* ---- What does not end, or cannot go on ---------------------------------------------------------
 */

/* clang-format off */
static const struct {
    const char *declarations, *statements;
    unsigned block;
    const char *kind, *words;
    struct emulator_options options;
} troubles[] = {
    {"", "loop: bra loop;", 32, "instruction limit", "does not end: it was still here after 20,000 instructions", {.max_warp_instructions = 20000}},
    {"", "loop: bra loop;", 32, "time limit", "does not end in time", {.wall_ns = 30000000}},
    {"", "loop: ld.volatile.global.u32 %r2, [%out]; setp.eq.u32 %p1, %r2, 0; @%p1 bra loop;", 64, "instruction limit", "does not end", {.max_warp_instructions = 100000}},
    /* One lane waits for what another lane of its warp would do after the barrier. */
    {"", "setp.eq.u32 %p1, %t, 0; @!%p1 bra others; loop: atom.global.add.u32 %r2, [%out], 0; setp.eq.u32 %p2, %r2, 0; @%p2 bra loop; others: bar.sync 0; st.global.u32 [%out], 1;", 64,
     "instruction limit", "does not end", {.max_warp_instructions = 2000000}},
    {"", "setp.lt.u32 %p1, %t, 32; @%p1 bra one; bar.sync 1; bra end; one: bar.sync 2; end:", 64, "barrier never met",
     "64 threads are alive: 32 threads of warp 0 at barrier 2 (PTX line 11), 32 threads of warp 1 at barrier 1 (PTX line 11)", {0}},
    {"", "setp.lt.u32 %p1, %t, 32; @%p1 bra end; bar.sync 1, 96; end:", 64, "barrier never met", "32 threads of warp 1 at barrier 1", {0}},
    {"", "mov.u32 %r2, 17; bar.sync %r2;", 32, "bad barrier", "uses barrier 17", {0}},
    {"", "mov.u32 %r2, 40; bar.sync 1, %r2;", 32, "bad barrier", "uses barrier 1 with 40 threads", {0}},
    {"", "mov.u32 %r2, 5; ts: .branchtargets A, A; brx.idx %r2, ts; A:", 32, "wild branch", "jumps to entry 5 of a table of 2", {0}},
    {"", "mov.u64 %d2, 1234; proto: .callprototype _ (); call %d2, (), proto;", 32, "wild call", "calls 0x4d2, which is no function that it could call", {0}},
    {".func f (.param .b32 n) { ret; }", "mov.u64 %d2, f; proto: .callprototype _ (); call %d2, (), proto;", 32, "wild call", "no function that takes these parameters", {0}},
    {".func deep () { .local .b8 room[1024]; call deep; ret; }", "call deep;", 32, "stack overflow", "needs more stack", {0}},
    {".func deep () { call deep; ret; }", "call deep;", 1, "stack overflow", "needs more stack", {0}},
    {"", "alloca.u64 %d2, 10000000;", 32, "stack overflow", "needs more stack", {0}},
    {"", ".local .align 8 .b8 room[40]; st.local.u32 [room+36], 1; st.local.u32 [room+40], 1;", 1, "out of bounds", "directly after the last element of its local memory (40 bytes)", {0}},
    {"", ".local .align 8 .b8 room[40]; mov.u64 %d2, room; cvta.local.u64 %d2, %d2; st.u32 [%d2+48], 1;", 1, "out of bounds", "at local address 0x30, 8 bytes after the last element of its local memory (40 bytes)", {0}},
    {"", "trap;", 32, "trap", "executes a trap", {0}},
    {"", "brkpt;", 32, "trap", "executes a trap", {0}},
    /* Once this hung: the lanes of the mask never come. */
    {"", "setp.lt.u32 %p1, %t, 16; @!%p1 bra end; shfl.sync.bfly.b32 %r2, %t, 1, 31, 0xffff0000; end:", 32, "bad mask", "does not name its lane (0)", {0}},
    {"", "setp.lt.u32 %p1, %t, 16; @%p1 bra one; bar.warp.sync 0xffffffff; bar.sync 0; bra end; one: shfl.sync.idx.b32 %r2, %t, 0, 31, 0xffffffff; bar.sync 0; end:", 32,
     "divergent exchange", "waits for lanes of its warp that do not come", {0}},
    {"", "setp.ne.u32 %p1, %t, 0; @%p1 bra ready; mbarrier.init.shared.b64 [gate], 64; ready: bar.sync 0; mbarrier.arrive.shared.b64 %d2, [gate]; bar.sync 0; @%p1 bra end; mbarrier.init.shared.b64 [gate], 64; end:", 32,
     "bad mbarrier", "initialises an mbarrier that is in use: 32 of 64 arrivals are still expected", {0}},
    {"", "mbarrier.init.shared.b64 [gate], 40; wait: mbarrier.test_wait.parity.shared.b64 %p1, [gate], 0; @!%p1 bra wait;", 1, "instruction limit", "does not end", {.max_warp_instructions = 50000}},
};
/* clang-format on */

START_TEST(troubles_are_told)
{
    uint32_t out[2] = {0};
    char declarations[512];
    (void)snprintf(declarations, sizeof declarations, "%s .shared .align 8 .b64 gate;",
                   troubles[_i].declarations);
    const struct support_kernel kernel = {.declarations = declarations,
                                          .statements = troubles[_i].statements,
                                          .block = troubles[_i].block,
                                          .out = out,
                                          .out_bytes = sizeof out,
                                          .options = troubles[_i].options};
    struct emulator_result result = support_run(&kernel);
    ck_assert_msg(result.fault_count > 0, "%s: nothing was found (%s)", kernel.statements,
                  result.refusal);
    ck_assert_str_eq(result.faults[0].kind, troubles[_i].kind);
    ck_assert_msg(strstr(result.faults[0].text, troubles[_i].words) != NULL, "\"%s\" is not in: %s",
                  troubles[_i].words, result.faults[0].text);
    const bool stopped = strstr(troubles[_i].kind, "limit") != NULL;
    ck_assert_int_eq(result.status, stopped ? EMULATOR_STOPPED : EMULATOR_FAULTED);
    ck_assert_uint_ge(result.faults[0].ptx_line, 4);
    emulator_result_release(&result);
}
END_TEST

/* Who spins gives way at once: what the lock costs is what is done under it. */
static const struct {
    const char *wait; /* until [lock] is 0, and takes it */
    unsigned grid, block;
    uint64_t most;
} spins[] = {
    {"spin: atom.global.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;", 1, 64,
     100000},
    {"spin: atom.global.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;", 1, 256,
     1000000},
    {"spin: ld.volatile.global.u32 %r2, [lock]; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;\n"
     "atom.global.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;",
     1, 64, 100000},
};

START_TEST(who_spins_gives_way)
{
    uint32_t out = 0;
    struct bytes text = bytes_with_limit(2000);
    (void)bytes_printf(&text,
                       "%s\nld.volatile.global.u32 %%r3, [%%out]; add.u32 %%r3, %%r3, 1;\n"
                       "st.volatile.global.u32 [%%out], %%r3; membar.gl;\n"
                       "atom.global.exch.b32 %%r2, [lock], 0;",
                       spins[_i].wait);
    const struct support_kernel kernel = {.declarations = ".global .u32 lock = 0;",
                                          .statements = bytes_text(&text),
                                          .grid = spins[_i].grid,
                                          .block = spins[_i].block,
                                          .out = &out,
                                          .out_bytes = sizeof out,
                                          .options.max_warp_instructions = spins[_i].most};
    struct emulator_result result = support_run(&kernel);
    support_finished(&result);
    ck_assert_uint_eq(out, spins[_i].grid * spins[_i].block);
    emulator_result_release(&result);
    bytes_release(&text);
}
END_TEST

/* ---- Blocks that wait for blocks ----------------------------------------------------------------
 */

/* More blocks than host threads: those that wait are left, and others begin. */
/* clang-format off */
static const struct {
    const char *statements;
    unsigned grid, block, threads;
    uint32_t wanted; /* in out[1] */
} waits[] = {
    /* In the grid's workspace: each waits for all, then adds how many there are. */
    {"mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; mov.b64 %d2, {%r3, %r2}; mov.u32 %r6, %nctaid.x;\n"
     "atom.global.add.u32 %r4, [%d2], 1; membar.gl;\n"
     "wait: ld.volatile.global.u32 %r5, [%d2]; setp.lt.u32 %p3, %r5, %r6; @%p3 bra wait;\n"
     "membar.gl; red.global.add.u32 [%out+4], %r5;", 12, 1, 3, 144},
    {"mov.u32 %r2, %envreg1; mov.u32 %r3, %envreg2; mov.b64 %d2, {%r3, %r2}; mov.u32 %r6, %nctaid.x;\n"
     "atom.global.add.u32 %r4, [%d2], 1; membar.gl;\n"
     "wait: ld.volatile.global.u32 %r5, [%d2]; setp.lt.u32 %p3, %r5, %r6; @%p3 bra wait;\n"
     "membar.gl; red.global.add.u32 [%out+4], %r5;", 1000, 1, 1, 1000000},
    /* In a buffer, polled by an atomic; the other threads of the block wait at its barrier. */
    {"mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0; mov.u32 %r6, %nctaid.x; @%p1 bra all;\n"
     "red.global.add.u32 [%out], 1;\n"
     "wait: atom.global.or.b32 %r5, [%out], 0; setp.lt.u32 %p3, %r5, %r6; @%p3 bra wait;\n"
     "all: bar.sync 0; red.global.add.u32 [%out+4], 1;", 700, 64, 2, 700 * 64},
    /* Each waits for the next one: the last has to come first. */
    {"mov.u32 %r2, %ctaid.x; mov.u32 %r6, %nctaid.x; sub.u32 %r6, %r6, 1; sub.u32 %r6, %r6, %r2;\n"
     "wait: ld.acquire.gpu.global.u32 %r5, [%out]; setp.ne.u32 %p3, %r5, %r6; @%p3 bra wait;\n"
     "add.u32 %r5, %r5, 1; st.global.u32 [%out+4], %r5; st.release.gpu.global.u32 [%out], %r5;", 300, 1, 2, 300},
};
/* clang-format on */

START_TEST(blocks_wait_for_blocks)
{
    uint32_t out[2] = {0};
    const struct support_kernel kernel = {.statements = waits[_i].statements,
                                          .grid = waits[_i].grid,
                                          .block = waits[_i].block,
                                          .out = out,
                                          .out_bytes = sizeof out,
                                          .options = {.threads = waits[_i].threads}};
    struct emulator_result result = support_run(&kernel);
    support_finished(&result);
    ck_assert_msg(result.fault_count == 0, "%s: %s", waits[_i].statements,
                  result.fault_count > 0 ? result.faults[0].text : "");
    ck_assert_uint_eq(out[1], waits[_i].wanted);
    ck_assert_uint_lt(result.warp_instructions, 60000000); /* waiting is cheap */
    emulator_result_release(&result);
}
END_TEST

/* One of them faults: the others would wait for ever. */
START_TEST(a_fault_ends_the_waiting)
{
    uint32_t out[2] = {0};
    const struct support_kernel kernel = {
        .statements = "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 40; @%p1 trap;\n"
                      "red.global.add.u32 [%out], 1;\n"
                      "wait: ld.volatile.global.u32 %r5, [%out]; setp.lt.u32 %p3, %r5, 100;\n"
                      "@%p3 bra wait;",
        .grid = 100,
        .block = 1,
        .out = out,
        .out_bytes = sizeof out,
        .options = {.threads = 1 + (unsigned)_i}};
    struct emulator_result result = support_run(&kernel);
    ck_assert_int_eq(result.status, EMULATOR_FAULTED);
    ck_assert_uint_eq(result.fault_count, 1);
    ck_assert_str_eq(result.faults[0].kind, "trap");
    ck_assert_uint_eq(result.faults[0].block[0], 40);
    ck_assert_uint_lt(result.warp_instructions, 60000000);
    emulator_result_release(&result);
}
END_TEST

/* What no device could hold at once cannot wait as a whole. */
START_TEST(a_grid_can_be_too_large_to_wait)
{
    static const char text[] = ".version 8.0 .target sm_75 .address_size 64 .entry k() {\n"
                               ".reg .b32 %r<2>; mov.u32 %r1, %envreg1; ret; }";
    struct emulator *emulator = support_emulator(text, strlen(text));
    struct emulator_launch launch = {.entry = "k", .grid = {1, 1, 1}, .block = {256, 1, 1}};
    const struct emulator_options options = {.threads = 1};
    struct emulator_result result = {0};
    struct error err = {0};
    launch.grid[0] = 1056;
    ck_assert_int_eq(emulator_launch(emulator, &launch, &options, &result, &err), 0);
    emulator_result_release(&result);
    launch.grid[0] = 1057;
    ck_assert_int_eq(emulator_launch(emulator, &launch, &options, &result, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, "of 256 threads that can be 1056 at most, not 1057") != NULL,
                  "%s", err.text);
    emulator_free(emulator);
}
END_TEST

static bool stop_at_once(void)
{
    return true;
}

/* The caller's interrupt ends the launch. */
START_TEST(an_interrupt_ends_it)
{
    static const char text[] =
        ".version 8.0 .target sm_75 .address_size 64 .entry k() { l: bra l; }";
    struct emulator *emulator = support_emulator(text, strlen(text));
    const struct emulator_launch launch = {.entry = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    const struct emulator_options options = {.threads = 1, .interrupted = stop_at_once};
    struct emulator_result result = {0};
    struct error err = {0};
    ck_assert_int_eq(emulator_launch(emulator, &launch, &options, &result, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INTERRUPTED);
    emulator_result_release(&result);
    emulator_free(emulator);
}
END_TEST

Suite *suite_emulator_control(void);
Suite *suite_emulator_control(void)
{
    Suite *suite = suite_create("emulator_control");
    TCase *tcase = tcase_create("control");
    tcase_set_timeout(tcase, 300); /* sanitizers make a lock that lanes fight for slow */
    tcase_add_loop_test(tcase, programs_compute, 0, COUNT_OF(programs));
    tcase_add_loop_test(tcase, troubles_are_told, 0, COUNT_OF(troubles));
    tcase_add_loop_test(tcase, blocks_wait_for_blocks, 0, COUNT_OF(waits));
    tcase_add_loop_test(tcase, who_spins_gives_way, 0, COUNT_OF(spins));
    tcase_add_loop_test(tcase, a_fault_ends_the_waiting, 0, 2);
    tcase_add_test(tcase, a_grid_can_be_too_large_to_wait);
    tcase_add_test(tcase, an_interrupt_ends_it);
    suite_add_tcase(suite, tcase);
    return suite;
}

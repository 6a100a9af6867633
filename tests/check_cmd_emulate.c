/* check_cmd_emulate.c - `spillway emulate`: its arguments, its output, its exit statuses. */
#include "testing.h"

#include "files.h"

#include <jansson.h>

#include "errors.h"

/* out[i] = in[i] * factor; a second kernel whose name is mangled; one with a trap. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry scale(.param .u64 in, .param .u64 out, .param .f32 f, .param .u32 n)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
    "ld.param.f32 %f1, [f]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\n"
    "mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
    "ld.global.f32 %f2, [%rd4]; mul.f32 %f3, %f2, %f1; st.global.f32 [%rd5], %f3;\n"
    "DONE: ret;\n}\n"
    ".visible .entry _Z4copyIyEvPT_S1_(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
    "ld.global.u64 %rd3, [%rd1]; st.global.u64 [%rd2], %rd3; ret;\n}\n"
    ".visible .entry stop()\n{\ntrap;\n}\n"
    ".visible .entry spin()\n{\nL: bra L;\n}\n"
    ".visible .entry strange()\n{\nfrobnicate.x8 1;\nret;\n}\n"
    ".visible .entry fusable(.param .u64 out)\n{\n"
    ".reg .b64 %rd; .reg .f32 %f<3>;\nld.param.u64 %rd, [out];\nmov.f32 %f0, 0f3F800001;\n"
    "mul.f32 %f1, %f0, %f0;\nadd.f32 %f2, %f1, %f0;\nst.global.f32 [%rd], %f2; ret;\n}\n"
    ".visible .entry copy16(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .b64 %rd<4>; .reg .b16 %h;\nld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
    "ld.global.b16 %h, [%rd1]; st.global.b16 [%rd2], %h; ret;\n}\n"
    ".visible .entry _ZN2ns5innerEPi(.param .u64 out)\n{\n.reg .b64 %rd; ld.param.u64 %rd, [out];\n"
    "st.global.u32 [%rd], 7; ret;\n}\n"
    ".visible .entry narrow() .maxntid 64, 1, 1\n{\nret;\n}\n"
    ".visible .entry wide(.param .f64 x)\n{\nret;\n}\n"
    ".visible .entry loose(.param .b32 x, .param .align 4 .b8 y[8])\n{\nret;\n}\n"
    ".visible .entry below(.param .u64 in)\n{\n.reg .b64 %rd<3>; .reg .b32 %r;\n"
    "ld.param.u64 %rd0, [in]; mul.wide.u32 %rd1, -1, 4; add.s64 %rd0, %rd0, %rd1;\n"
    "ld.global.u32 %r, [%rd0]; ret;\n}\n"
    ".extern .func _Z6helperi(.param .b32 n);\n"
    ".visible .entry lost()\n{\n{ .param .b32 n; st.param.b32 [n], 1; call _Z6helperi, (n); "
    "}\nret;\n}\n"
    ".visible .entry unshared()\n{\nst.shared.u32 [4], 1; ret;\n}\n";

static const char *ptx_path(void)
{
    static char path[4096];
    (void)snprintf(path, sizeof path, "%s/emulate.ptx", testing_temporary_folder());
    testing_write(path, ptx, sizeof ptx - 1);
    return path;
}

#define ROW_ARGUMENTS 20

/* clang-format off */
static const struct {
    const char *arguments[ROW_ARGUMENTS]; /* after FILE */
    int status;
    const char *out;
    const char *err; /* a part of it; "": nothing at all */
} rows[] = {
    {{"--entry", "scale", "--grid", "1", "--block", "4", "--arg", "in:f32:1,2,3,4", "--arg", "out:f32:4",
      "--arg", "f32:0.5", "--arg", "s32:4"}, 0, "arg1: 0.5 1 1.5 2\n", ""},
    {{"--entry=scale", "--grid=2,1,1", "--block=2", "--arg=inout:f32:0x3f800000,0f40000000,inf,nan",
      "--arg=out:f32:4", "--arg=f32:0d3FB999999999999A", "--arg=u32:0x4"}, 0,
     "arg0: 1 2 inf nan(0x7fc00000)\narg1: 0.1 0.2 inf nan(0x7fffffff)\n", ""},
    {{"--entry", "scale", "--grid", "1", "--block", "4", "--arg", "in:f32:1", "--arg", "out:f32:2",
      "--arg", "f32:1", "--arg", "s32:1"}, 0, "arg1: 1 nan(0xffffffff)\n", ""},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "in:u64:18446744073709551615", "--arg", "out:u64:1"},
     0, "arg1: 18446744073709551615\n", ""},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "in:s64:-9223372036854775808", "--arg", "out:s64:1"},
     0, "arg1: -9223372036854775808\n", ""},
    {{"--entry", "fusable", "--grid", "1", "--block", "1", "--arg", "out:f32:1"}, 0, "arg0: 2.0000005\n",
     "adds a product. ptxas may make one fma of the two"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "in:f64:0.1", "--arg", "out:f64:1"}, 0, "arg1: 0.1\n", ""},
    {{"--entry", "copy16", "--grid", "1", "--block", "1", "--arg", "in:f16:0.1", "--arg", "out:f16:1"}, 0, "arg1: 0.1\n", ""},
    {{"--entry", "copy16", "--grid", "1", "--block", "1", "--arg", "in:f16:-65504", "--arg", "out:b16:1"}, 0, "arg1: 64511\n", ""},
    {{"--entry", "copy16", "--grid", "1", "--block", "1", "--arg", "in:s8:-1,-128", "--arg", "out:s8:2"}, 0, "arg1: -1 -128\n", ""},
    {{"--entry", "scale", "--grid", "1", "--block", "4", "--arg", "in:f32:1,2,3", "--arg", "out:f32:4",
      "--arg", "f32:1", "--arg", "s32:4"}, 4, "arg1: 1 2 3 0\n",
     "spillway: fault: scale reads past the end of `arg0`: block 0, thread 3 (PTX line 14) read 4 bytes at address 0x"},
    {{"--entry", "stop", "--grid", "1", "--block", "1"}, 4, "", "stop executes a trap: block 0, thread 0 (PTX line"},
    {{"--entry", "spin", "--grid", "1", "--block", "1", "--max-instructions", "1000"}, 4, "",
     "spin does not end: it was still here after 1,000 instructions"},
    {{"--entry", "strange", "--grid", "1", "--block", "1"}, 3, "",
     "the emulator cannot run this kernel: line 33: frobnicate.x8: "},
    {{"--entry", "inner", "--grid", "1", "--block", "1", "--arg", "out:s32:1"}, 0, "arg0: 7\n", ""},
    {{"--entry", "ns::inner", "--grid", "1", "--block", "1", "--arg", "out:s32:1"}, 0, "arg0: 7\n", ""},
    {{"--entry", "s::inner", "--grid", "1", "--block", "1", "--arg", "out:s32:1"}, 2, "", "there is no kernel `s::inner`"},
    {{"--entry", "::inner", "--grid", "1", "--block", "1", "--arg", "out:s32:1"}, 2, "", "there is no kernel `::inner`"},
    {{"--grid", "1", "--block", "1"}, 2, "", "--entry is missing; the kernels here are scale, copy<unsigned long long> (_Z4copyIyEvPT_S1_), stop"},
    {{"--entry", "nope", "--grid", "1", "--block", "1"}, 2, "", "there is no kernel `nope` in this PTX; there are scale, copy<unsigned long long> (_Z4copyIyEvPT_S1_), stop"},
    {{"--entry", "copy<unsigned long long>", "--grid", "1", "--block", "1", "--arg", "in:s64:9", "--arg", "out:s64:1"}, 0,
     "arg1: 9\n", ""},
    {{"--entry", "stop", "--grid", "0", "--block", "1"}, 2, "", "--grid is \"0\""},
    {{"--entry", "stop", "--grid", "1,2,3,4", "--block", "1"}, 2, "", "--grid is \"1,2,3,4\""},
    {{"--entry", "stop", "--grid", "1", "--block", "1025"}, 2, "",
     "a block of 1025 x 1 x 1 threads cannot be launched: it has at least 1 and at most 1,024 x 1,024 x 64, and at most 1,024 in all"},
    {{"--entry", "stop", "--grid", "1", "--block", "1,1,65"}, 2, "", "a block of 1 x 1 x 65 threads cannot be launched"},
    {{"--entry", "stop", "--grid", "1", "--block", "32,33"}, 2, "", "a block of 1,056 threads cannot be launched: it has at most 1,024"},
    {{"--entry", "stop", "--grid", "1,65536", "--block", "1"}, 2, "",
     "a grid of 1 x 65536 x 1 blocks cannot be launched: it has at least 1 and at most 2,147,483,647 x 65,535 x 65,535"},
    {{"--entry", "narrow", "--grid", "1", "--block", "65"}, 2, "",
     "a block of 65 threads cannot be launched: the bounds of `narrow` allow at most 64"},
    {{"--entry", "narrow", "--grid", "1", "--block", "64"}, 0, "", ""},
    {{"--entry", "lost", "--grid", "1", "--block", "1"}, 3, "", "the function `helper` has no body"},
    /* What to try, and where to look. */
    {{"--entry", "scale", "--grid", "1", "--block", "4", "--arg", "in:f32:1,2,3", "--arg", "out:f32:4",
      "--arg", "f32:1", "--arg", "s32:4"}, 4, "arg1: 1 2 3 0\n",
     "`arg0` (12 bytes)\n  try: Keep `if (i < n)` around all that reads and writes, and let every index\n"
     "       end where its array ends.\n"
     "spillway: note: for lines of the source in place of the PTX, compile with nvcc -lineinfo\n"},
    {{"--entry", "stop", "--grid", "1", "--block", "1"}, 4, "", "  try: Take out the __trap() or the condition that leads to it.\n"},
    {{"--entry", "spin", "--grid", "1", "--block", "1", "--max-instructions", "1000"}, 4, "", "       --max-instructions allows more.\n"},
    {{"--entry", "below", "--grid", "1", "--block", "1", "--arg", "in:u32:1"}, 4, "",
     "  try: An unsigned index, such as threadIdx.x - 1, is never negative: below zero"},
    {{"--entry", "unshared", "--grid", "1", "--block", "1"}, 4, "",
     "  try: Launch the kernel with as many bytes of dynamic shared memory as it uses"},
    {{"--entry", "unshared", "--grid", "1", "--block", "1", "--shared", "4"}, 4, "",
     "  try: End every index where the array ends, or launch the kernel with more"},
    /* Numbers of another kind than the parameter's, where both are said. */
    {{"--entry", "scale", "--grid", "1", "--block", "1", "--arg", "in:f32:1", "--arg", "out:f32:1", "--arg", "f32:1", "--arg", "f32:1"}, 0,
     "arg1: 1\n", "spillway: warning: argument 3 is of type f32, and the kernel takes an integer there (.u32): the same bits mean another number\n"},
    {{"--entry", "scale", "--grid", "1", "--block", "1", "--arg", "in:f32:1", "--arg", "out:f32:1", "--arg", "s32:1", "--arg", "s32:0"}, 0,
     "arg1: nan(0xffffffff)\n", "argument 2 is of type s32, and the kernel takes a floating-point number there (.f32)"},
    {{"--entry", "scale", "--grid", "1", "--block", "1", "--arg", "in:f32:1", "--arg", "out:f32:1", "--arg", "b32:1", "--arg", "b32:0"}, 0,
     "arg1: nan(0xffffffff)\n", ""},
    {{"--entry", "wide", "--grid", "1", "--block", "1", "--arg", "in:f32:1"}, 0, "",
     "argument 0 is the address of a buffer, and the kernel takes a floating-point number there (.f64)"},
    {{"--entry", "wide", "--grid", "1", "--block", "1", "--arg", "f64:1"}, 0, "", ""},
    {{"--entry", "loose", "--grid", "1", "--block", "1", "--arg", "f32:1", "--arg", "u64:1"}, 0, "", ""},
    {{"--entry", "stop", "--grid", "1"}, 2, "", "--block is missing"},
    {{"--entry", "stop", "--grid", "1", "--block", "1", "--arg", "u32:1"}, 2, "", "`stop` takes 0 arguments, not 1"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "u32:1", "--arg", "u64:1"}, 2, "",
     "argument 0 of `copy<unsigned long long>` has 8 bytes, not 4"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "in:u8:256", "--arg", "u64:1"}, 2, "",
     "argument 0: \"256\" is no value of type u8"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "in:u8:-1"}, 2, "", "\"-1\" is no value of type u8"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "in:f32:1,,2"}, 2, "", "\"\" is no value of type f32"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "in:f32: 1"}, 2, "", "\" 1\" is no value of type f32"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "f31:1"}, 2, "", "\"f31\" is no type of PTX"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "7"}, 2, "", "expected TYPE:VALUE"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "out:f32:x"}, 2, "", "\"x\" is no number of elements"},
    {{"--entry", "copy", "--grid", "1", "--block", "1", "--arg", "in:f32:@/nonexistent/file"}, 3, "", "/nonexistent/file"},
    {{"--entry", "stop", "--grid", "1", "--block", "1", "--frob"}, 2, "", "there is no option --frob"},
    {{"--entry", "stop", "--grid", "1", "--block", "1", "--check", "some"}, 2, "", "--check is \"some\""},
    {{"--entry"}, 2, "", "--entry needs a value"},
    {{"another.ptx", "--grid", "1", "--block", "1"}, 2, "", "only one PTX file"},
};
/* clang-format on */

static struct process_result run_row(const char *const *arguments)
{
    const char *argv[ROW_ARGUMENTS + 3] = {"emulate", ptx_path()};
    for (size_t i = 0; i < ROW_ARGUMENTS && arguments[i] != NULL; ++i)
        argv[i + 2] = arguments[i];
    return testing_spillway(argv, NULL);
}

START_TEST(command_answers)
{
    struct process_result result = run_row(rows[_i].arguments);
    ck_assert_msg(result.exit_code == rows[_i].status, "exit status %d, not %d: %s",
                  result.exit_code, rows[_i].status, bytes_text(&result.error));
    ck_assert_str_eq(bytes_text(&result.output), rows[_i].out);
    if (rows[_i].err[0] == '\0')
        ck_assert_str_eq(bytes_text(&result.error), "");
    else
        ck_assert_msg(strstr(bytes_text(&result.error), rows[_i].err) != NULL,
                      "\"%s\" is not in: %s", rows[_i].err, bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

/* Where addresses have 32 bits, a buffer's has, too. */
START_TEST(narrow_addresses_are_given)
{
    static const char text[] =
        ".version 6.4\n.target sm_60\n.address_size 32\n.entry k(.param .u32 p) {\n"
        ".reg .u32 t, a; ld.param.u32 a, [p]; mov.u32 t, %tid.x; mad.lo.u32 a, t, 4, a;\n"
        "st.global.u32 [a], t; ret; }\n";
    AUTO_FREE char *path = path_join(testing_temporary_folder(), "narrow.ptx");
    testing_write(path, text, strlen(text));
    const char *const arguments[] = {"emulate", path,    "--grid",    "1", "--block",
                                     "3",       "--arg", "out:u32:3", NULL};
    struct process_result result = testing_spillway(arguments, NULL);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    ck_assert_str_eq(bytes_text(&result.output), "arg0: 0 1 2\n");
    process_result_release(&result);
}
END_TEST

START_TEST(json_has_it_all)
{
    const char *const arguments[] = {
        "--entry", "scale",     "--grid", "1",        "--block", "4",     "--arg",  "in:f32:1,2,3",
        "--arg",   "out:f32:4", "--arg",  "f32:0.25", "--arg",   "s32:4", "--json", NULL};
    const char *row[ROW_ARGUMENTS] = {NULL};
    memcpy(row, arguments, sizeof arguments);
    struct process_result result = run_row(row);
    ck_assert_int_eq(result.exit_code, 4);
    json_error_t trouble;
    json_t *json = json_loads(bytes_text(&result.output), 0, &trouble);
    ck_assert_msg(json != NULL, "%s", trouble.text);
    const char *schema, *status, *kind, *type, *remedy;
    int argument, line, block, thread, count;
    double second;
    json_int_t requests, sectors;
    ck_assert_int_eq(
        json_unpack_ex(json, &trouble, 0,
                       "{s:s, s:s, s:[{s:s, s:s, s:i, s:[i,i,i], s:[i,i,i], s:i}], s:[{s:i, s:s, "
                       "s:[F,F,F,F]}], s:{s:{s:{s:I, s:I}}}}",
                       "schema", &schema, "status", &status, "faults", "kind", &kind, "remedy",
                       &remedy, "ptx_line", &line, "block", &block, &block, &block, "thread",
                       &thread, &count, &count, "count", &count, "buffers", "argument", &argument,
                       "type", &type, "values", &second, &second, &second, &second, "traffic",
                       "global", "load", "requests", &requests, "sectors", &sectors),
        0);
    ck_assert_str_eq(schema, "spillway/emulate/v1");
    ck_assert_str_eq(status, "faulted");
    ck_assert_str_eq(kind, "out of bounds");
    ck_assert_ptr_nonnull(strstr(remedy, "let every index end where its array ends"));
    ck_assert_ptr_null(strstr(remedy, "n + taps - 1")); /* which is a lab's */
    ck_assert_int_eq(line, 14);
    ck_assert_int_eq(thread, 3);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(argument, 1);
    ck_assert_str_eq(type, "f32");
    ck_assert_int_eq(requests, 1);
    ck_assert_int_eq(sectors, 1);
    json_decref(json);
    process_result_release(&result);
}
END_TEST

START_TEST(raw_bytes_come_from_a_file)
{
    char path[4200], argument[4300];
    (void)snprintf(path, sizeof path, "%s/in.bin", testing_temporary_folder());
    (void)snprintf(argument, sizeof argument, "in:u64:@%s", path);
    testing_write(path, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    const char *row[ROW_ARGUMENTS] = {"--entry", "copy",  "--grid", "1",     "--block",
                                      "1",       "--arg", argument, "--arg", "out:u64:1"};
    struct process_result result = run_row(row);
    ck_assert_str_eq(bytes_text(&result.output), "arg1: 578437695752307201\n");
    process_result_release(&result);
    testing_write(path, "\x01\x02\x03", 3);
    result = run_row(row);
    ck_assert_int_eq(result.exit_code, 2);
    ck_assert_msg(strstr(bytes_text(&result.error), "no multiple of the 8 of a u64") != NULL, "%s",
                  bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

START_TEST(files_are_judged)
{
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/bad.ptx", testing_temporary_folder());
    testing_write(path, ".version 7.0\n.entry k() { bra x; }\n", 35);
    const char *const bad[] = {"emulate", path,      "--entry", "k", "--grid",
                               "1",       "--block", "1",       NULL};
    struct process_result result = testing_spillway(bad, NULL);
    ck_assert_int_eq(result.exit_code, EXIT_STATUS_USAGE);
    ck_assert_msg(strstr(bytes_text(&result.error), "bad.ptx: line 2: `x` is declared nowhere") !=
                      NULL,
                  "%s", bytes_text(&result.error));
    process_result_release(&result);
    /* What is no PTX is told what makes it. */
    static const char *const names[] = {"own.cu", "own.txt"};
    static const char *const said[] = {
        "own.cu is source, and PTX is run here: make it with `nvcc -ptx -lineinfo -arch=sm_75 ",
        "own.txt is no PTX (line 1: expected PTX to begin with .version, found `__global__`): "
        "`nvcc "
        "-ptx -lineinfo -arch=sm_75 FILE.cu` makes it"};
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        AUTO_FREE char *own = path_join(testing_temporary_folder(), names[i]);
        testing_write(own, "__global__ void k() {}\n", 23);
        const char *const source[] = {"emulate", own,       "--entry", "k", "--grid",
                                      "1",       "--block", "1",       NULL};
        result = testing_spillway(source, NULL);
        ck_assert_int_eq(result.exit_code, EXIT_STATUS_USAGE);
        ck_assert_msg(strstr(bytes_text(&result.error), said[i]) != NULL, "%s",
                      bytes_text(&result.error));
        process_result_release(&result);
    }
    const char *const missing[] = {"emulate", "/nonexistent.ptx", "--grid", "1", "--block", "1",
                                   NULL};
    result = testing_spillway(missing, NULL);
    ck_assert_int_eq(result.exit_code, EXIT_STATUS_INFRASTRUCTURE);
    process_result_release(&result);
    const char *const help[] = {"emulate", "--help", NULL};
    result = testing_spillway(help, NULL);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_ptr_nonnull(strstr(bytes_text(&result.output), "Examples:"));
    process_result_release(&result);
}
END_TEST

Suite *suite_cmd_emulate(void);
Suite *suite_cmd_emulate(void)
{
    Suite *suite = suite_create("cmd_emulate");
    TCase *tcase = tcase_create("command");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, command_answers, 0, COUNT_OF(rows));
    tcase_add_test(tcase, narrow_addresses_are_given);
    tcase_add_test(tcase, json_has_it_all);
    tcase_add_test(tcase, raw_bytes_come_from_a_file);
    tcase_add_test(tcase, files_are_judged);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* check_cmd_report.c - `spillway report` as its users meet it: table, JSON, exit statuses. */
#include "testing.h"

#include <fcntl.h>
#include <jansson.h>
#include <pty.h>
#include <sys/wait.h>

#include "errors.h"

#define LOGS "tests/fixtures/ptxas/"

/* ---- exit statuses -----------------------------------------------------------------------------
 */

static const struct {
    const char *file;
    int status;
    const char *said; /* somewhere on standard output or standard error */
} status_rows[] = {
    {"60_two_archs_all_warnings.log", 0, "bounded(float const*, float*, unsigned long) on sm_75 "},
    {"62_rdc_compile_then_nvlink.log", 0, "kernel, as linked by nvlink"},
    {"66_too_much_shared_still_prints_stats.log", 1, "The build failed"},
    {"67_maxrregcount_vs_launch_bounds.log", 0, "300 bytes of stores, 300 bytes of loads"},
    {"70_werror_spills_are_errors.log", 1, "The build failed"},
    {"72_debug_G_frame_without_spill.log", 0, "No register is spilled."},
    {"72_debug_G_frame_without_spill.log", 0, "stack frame of 256 bytes and no spills"},
    {"79_smem_spilling_pragma_off_then_on.log", 1, "is ambiguous"},
    {"84_eight_nvcc_one_pipe_interleaved.log", 0, "printed 4 times with the same numbers"},
    {"88_forged_by_pragma_message.log", 1, "is ambiguous"},
    {"89_forged_by_ptx_pragma_string.log", 0, "300 bytes of stores"},
    {"101_cuda2_tab_no_arch_lmem_plus.log", 0, "60 bytes of local memory; a"},
    {"111_nvlink_one_arch.log", 0, "kst(float*)"},
    {"140_entry_and_callee_spill_warned.log", 0, "heavy(float const*, int), which it calls,"},
    {"141_three_archs_callee_in_each.log", 0,
     "caller on sm_75 spills registers: 12 bytes of stores"},
    {"143_functions_only.log", 1, "reports on 2 functions and on no kernel"},
    {"116_debug_G_functions_by_themselves.log", 0, "bytes of loads; the log does not say"},
    {"170_cut_in_a_number.log", 1, "is incomplete"},
    {"178_cut_at_the_head_frame_first.log", 1, "was it cut, or"},
    {"120_C7602_fatal_no_statistics.log", 1, "The build failed: ptxas fatal : (C7602)"},
    {"200_empty.log", 1, "The log is empty"},
    {"201_blank.log", 1, "The log is empty"},
    {"202_gcc_output.log", 1, "No line of this log is one of ptxas or nvlink"},
    {"203_front_end_error.log", 1, "identifier \"undefined_thing\" is"},
    {"204_gmem_only.log", 1, "reported on no"},
    {"205_words_about_ptxas.log", 1, "3 lines of this log hold \"ptxas info\" in the middle"},
    {"207_unknown_prefix.log", 1, "5 lines of this log hold"},
};

static void run_on(struct process_result *result, const char *file, const char *option)
{
    char path[300];
    (void)snprintf(path, sizeof path, LOGS "%s", file);
    const char *const arguments[] = {"report", path, option, NULL};
    *result = testing_spillway(arguments, NULL);
}

START_TEST(status_row)
{
    static const char *const options[] = {NULL, "--json"};
    for (size_t i = 0; i < COUNT_OF(options); ++i) {
        struct process_result result;
        run_on(&result, status_rows[_i].file, options[i]);
        ck_assert_msg(!result.signalled && result.exit_code == status_rows[_i].status,
                      "%s: status %d, not %d", status_rows[_i].file, result.exit_code,
                      status_rows[_i].status);
        bool said = strstr(bytes_text(&result.output), status_rows[_i].said) != NULL ||
                    strstr(bytes_text(&result.error), status_rows[_i].said) != NULL;
        ck_assert_msg(said || options[i] != NULL, "%s does not say \"%s\":\n%s%s",
                      status_rows[_i].file, status_rows[_i].said, bytes_text(&result.output),
                      bytes_text(&result.error));
        /* "No spills" is never said of what was not read. */
        if (status_rows[_i].status != 0 && strstr(status_rows[_i].said, "failed") == NULL)
            ck_assert(strstr(bytes_text(&result.output), "No register is spilled") == NULL);
        process_result_release(&result);
    }
}
END_TEST

static const struct {
    const char *arguments[6];
    int status;
    const char *said;
} usage_rows[] = {
    {{"report", "--help"}, 0, "usage: spillway report"},
    {{"report", "--colour"}, 2, "see `spillway report --help`"},
    {{"report", "a", "b"}, 2, "takes one log"},
    {{"report", LOGS "no such file"}, 3, "no such file"},
    {{"report", LOGS}, 3, "not a regular file"},
    {{"report", "/dev/null"}, 3, "not a regular file"},
    {{"report", "bad\x1b[31m name"}, 3, "bad?[31m name"},
    {{"report", "--json", LOGS "67_maxrregcount_vs_launch_bounds.log"}, 0, "spillway/report/v1"},
    {{"report", LOGS "67_maxrregcount_vs_launch_bounds.log", "--json"}, 0, "spillway/report/v1"},
};

START_TEST(usage_row)
{
    struct process_result result = testing_spillway(usage_rows[_i].arguments, NULL);
    ck_assert_int_eq(result.exit_code, usage_rows[_i].status);
    ck_assert_msg(strstr(bytes_text(&result.output), usage_rows[_i].said) != NULL ||
                      strstr(bytes_text(&result.error), usage_rows[_i].said) != NULL,
                  "not said: %s\n%s%s", usage_rows[_i].said, bytes_text(&result.output),
                  bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

/* ---- standard input and terminals --------------------------------------------------------------
 */

/* Runs `spillway report [option]` with this file as standard input, and standard output on a pipe
 * or on a terminal of its own; its output comes back in *out. Returns its exit status. */
static int run_with_input(struct bytes *out, const char *file, const char *option, bool terminal)
{
    char path[300];
    (void)snprintf(path, sizeof path, LOGS "%s", file);
    int input = open(path, O_RDONLY | O_CLOEXEC), ends[2] = {-1, -1};
    ck_assert_int_ge(input, 0);
    if (terminal)
        ck_assert_int_eq(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
    else
        ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)dup2(input, STDIN_FILENO);
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        execl(testing_binary(), "spillway", "report", option, (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    (void)close(input);
    *out = bytes_with_limit((size_t)1 << 20);
    char chunk[4096];
    for (ssize_t got; (got = read(ends[0], chunk, sizeof chunk)) > 0;)
        bytes_append(out, chunk, (size_t)got);
    (void)close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(standard_input)
{
    static const char *const options[] = {NULL, "-"};
    struct bytes out;
    ck_assert_int_eq(
        run_with_input(&out, "67_maxrregcount_vs_launch_bounds.log", options[_i], false), 0);
    ck_assert_ptr_nonnull(strstr(bytes_text(&out), "nolb   sm_75   32   304     300/300"));
    bytes_release(&out);
}
END_TEST

static size_t longest_line(const char *text)
{
    size_t longest = 0, columns = 0;
    for (; *text != '\0'; ++text) {
        columns = *text == '\n' ? 0 : columns + (((unsigned char)*text & 0xC0) != 0x80);
        if (*text != '\r' && columns > longest)
            longest = columns;
    }
    return longest;
}

START_TEST(fits_a_terminal)
{
    static const struct {
        const char *file, *shown;
    } rows[] = {
        {"60_two_archs_all_warnings.log", "bounded(float con…ed long)"},
        {"85_templates_lambdas_functor_dollar.log", "void lab::apply<l…1}, int*)"},
        {"131_names_of_1750_bytes_lambdas_20_digits.log", "sm_75"},
        {"132_demangled_names_with_spaces.log", "void copy<float, …ed long)"},
        {"115_rdc_two_archs_then_nvlink_targets.log", "(anonymous namesp…:kan(float*)"},
        {"144_callee_spills_beyond_sums.log", "2147483647/1"},
    };
    struct bytes out;
    (void)run_with_input(&out, rows[_i].file, NULL, true);
    ck_assert_ptr_nonnull(strstr(bytes_text(&out), "spill st/ld"));
    ck_assert_msg(longest_line(bytes_text(&out)) <= 80, "%zu columns:\n%s",
                  longest_line(bytes_text(&out)), bytes_text(&out));
    bytes_release(&out);
}
END_TEST

START_TEST(whole_names_on_a_pipe)
{
    struct process_result result;
    run_on(&result, "85_templates_lambdas_functor_dollar.log", NULL);
    ck_assert_ptr_nonnull(strstr(
        bytes_text(&result.output),
        "void lab::apply<lab::go(int*)::{lambda(int)#2}>(lab::go(int*)::{lambda(int)#2}, int*)\n"));
    process_result_release(&result);
}
END_TEST

/* What a hostile log may print: no escape, no control byte, no invalid UTF-8 comes through. */
START_TEST(nothing_steers_the_terminal)
{
    static const char *const options[] = {NULL, "--json"};
    static const char log[] = "ptxas info    : Compiling entry function 'a\x9b"
                              "31m\x07\xe2\x80\xae"
                              "b\xff' for 'sm_75'\n"
                              "ptxas info    : Function properties for a\x9b"
                              "31m\x07\xe2\x80\xae"
                              "b\xff\n"
                              "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
                              "ptxas info    : Used 9 registers, 376 bytes cmem[0]\n"
                              "ptxas error   : \x01\x02\x7f bad\n";
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/hostile.log", testing_temporary_folder());
    testing_write(path, log, sizeof log - 1);
    const char *const arguments[] = {"report", path, options[_i], NULL};
    struct process_result result = testing_spillway(arguments, NULL);
    ck_assert_int_eq(result.exit_code, 1);
    const struct bytes *streams[] = {&result.output, &result.error};
    for (size_t s = 0; s < 2; ++s)
        for (size_t i = 0; i < streams[s]->length; ++i) {
            unsigned char c = (unsigned char)streams[s]->data[i];
            ck_assert_msg(c == '\n' || (c >= 0x20 && c != 0x7F), "byte 0x%02x at %zu", c, i);
        }
    ck_assert_ptr_nonnull(strstr(bytes_text(&result.output), "a?31m??b?"));
    process_result_release(&result);
}
END_TEST

/* ---- JSON --------------------------------------------------------------------------------------
 */

static json_t *json_of(const char *file, int status)
{
    struct process_result result;
    run_on(&result, file, "--json");
    ck_assert_int_eq(result.exit_code, status);
    json_error_t error;
    json_t *root = json_loads(bytes_text(&result.output), JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s: %s", file, error.text);
    process_result_release(&result);
    return root;
}

/* The document of the design, key by key and in its order. */
START_TEST(json_has_the_schema)
{
    static const char expected[] =
        "{\"schema\": \"spillway/report/v1\", \"kernels\": ["
        "{\"symbol\": \"plain\", \"name\": \"plain\", \"arch\": \"sm_75\", \"tool\": \"ptxas\", "
        "\"registers\": 4, \"stack_bytes\": 0, \"spill_store_bytes\": 0, \"spill_load_bytes\": 0, "
        "\"shared_bytes\": null, \"constant_bytes\": 364, \"constant_banks\": {\"0\": 364}, "
        "\"barriers\": 0, \"functions\": [], \"totals\": {\"spill_store_bytes\": 0, "
        "\"spill_load_bytes\": 0, \"max_stack_bytes\": 0}, \"count\": 1, \"complete\": true, "
        "\"ambiguous\": false}, "
        "{\"symbol\": \"caller\", \"name\": \"caller\", \"arch\": \"sm_75\", \"tool\": \"ptxas\", "
        "\"registers\": 24, \"stack_bytes\": 280, \"spill_store_bytes\": 12, "
        "\"spill_load_bytes\": 4, \"shared_bytes\": null, \"constant_bytes\": 364, "
        "\"constant_banks\": {\"0\": 364}, \"barriers\": 0, \"functions\": ["
        "{\"symbol\": \"_Z5heavyPKfi\", \"stack_bytes\": 0, \"spill_store_bytes\": 752, "
        "\"spill_load_bytes\": 760}], \"totals\": {\"spill_store_bytes\": 764, "
        "\"spill_load_bytes\": 764, \"max_stack_bytes\": 280}, \"count\": 1, \"complete\": true, "
        "\"ambiguous\": false}], \"functions\": [], \"warnings\": ["
        "\"ptxas warning : Registers are spilled to local memory in function 'caller', 12 bytes "
        "spill stores, 4 bytes spill loads\", "
        "\"ptxas warning : Registers are spilled to local memory in function '_Z5heavyPKfi', 752 "
        "bytes spill stores, 760 bytes spill loads\"], \"errors\": [], \"build_failed\": false}";
    json_t *root = json_of("140_entry_and_callee_spill_warned.log", 0);
    char *text = json_dumps(root, 0);
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(root);
}
END_TEST

static const struct {
    const char *file, *pointer; /* keys and indices, separated by '/' */
    int status;
    const char *value;
} json_rows[] = {
    {"88_forged_by_pragma_message.log", "kernels/0/count", 1, "2"},
    {"88_forged_by_pragma_message.log", "kernels/0/ambiguous", 1, "true"},
    {"88_forged_by_pragma_message.log", "kernels/0/complete", 1, "false"},
    {"88_forged_by_pragma_message.log", "kernels/2/ambiguous", 1, "false"},
    {"101_cuda2_tab_no_arch_lmem_plus.log", "kernels/0/arch", 0, "null"},
    {"101_cuda2_tab_no_arch_lmem_plus.log", "kernels/0/shared_bytes", 0, "44"},
    {"101_cuda2_tab_no_arch_lmem_plus.log", "kernels/0/spill_store_bytes", 0, "null"},
    {"101_cuda2_tab_no_arch_lmem_plus.log", "kernels/0/totals/max_stack_bytes", 0, "null"},
    {"101_cuda2_tab_no_arch_lmem_plus.log", "kernels/0/constant_bytes", 0, "null"},
    {"101_cuda2_tab_no_arch_lmem_plus.log", "kernels/0/constant_banks", 0, "{\"1\": 352}"},
    {"111_nvlink_one_arch.log", "kernels/0/tool", 0, "\"nvlink\""},
    {"111_nvlink_one_arch.log", "kernels/0/name", 0, "\"kst(float*)\""},
    {"111_nvlink_one_arch.log", "kernels/0/totals/spill_load_bytes", 0, "null"},
    {"62_rdc_compile_then_nvlink.log", "functions/4", 0,
     "{\"symbol\": \"_Z3fibi\", \"stack_bytes\": 16, \"spill_store_bytes\": 16, "
     "\"spill_load_bytes\": 16}"},
    {"178_cut_at_the_head_frame_first.log", "functions/0/symbol", 1, "null"},
    {"178_cut_at_the_head_frame_first.log", "functions/0/stack_bytes", 1, "16"},
    {"66_too_much_shared_still_prints_stats.log", "build_failed", 1, "true"},
    {"66_too_much_shared_still_prints_stats.log", "errors/0", 1,
     "\"ptxas error   : Entry function 'toobig' uses too much shared data (0x13880 bytes, 0xc000 "
     "max)\""},
    {"173_cut_in_a_name.log", "kernels/1/symbol", 1, "\"be…\""},
    {"211_invalid_utf8.log", "kernels/0/symbol", 0, "\"al??pha\""},
    {"200_empty.log", "kernels", 1, "[]"},
    {"200_empty.log", "build_failed", 1, "false"},
    {"202_gcc_output.log", "warnings", 1, "[]"},
};

START_TEST(json_row)
{
    json_t *root = json_of(json_rows[_i].file, json_rows[_i].status), *at = root;
    char pointer[200];
    (void)snprintf(pointer, sizeof pointer, "%s", json_rows[_i].pointer);
    char *rest = pointer;
    for (char *key; at != NULL && (key = strsep(&rest, "/")) != NULL;)
        at = json_is_array(at) ? json_array_get(at, (size_t)(key[0] - '0'))
                               : json_object_get(at, key);
    ck_assert_ptr_nonnull(at);
    char *text = json_dumps(at, JSON_ENCODE_ANY);
    ck_assert_str_eq(text, json_rows[_i].value);
    free(text);
    json_decref(root);
}
END_TEST

/* A full disk loses the report, and the status says so. */
START_TEST(full_disk)
{
    static const char *const options[] = {NULL, "--json"};
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(full, 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)dup2(full, STDOUT_FILENO);
        execl(testing_binary(), "spillway", "report", LOGS "67_maxrregcount_vs_launch_bounds.log",
              options[_i], (char *)NULL);
        _exit(127);
    }
    (void)close(full);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), EXIT_STATUS_INFRASTRUCTURE);
}
END_TEST

Suite *suite_cmd_report(void)
{
    Suite *suite = suite_create("cmd_report");
    TCase *tests = tcase_create("cmd_report");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, status_row, 0, COUNT_OF(status_rows));
    tcase_add_loop_test(tests, usage_row, 0, COUNT_OF(usage_rows));
    tcase_add_loop_test(tests, standard_input, 0, 2);
    tcase_add_loop_test(tests, fits_a_terminal, 0, 6);
    tcase_add_test(tests, whole_names_on_a_pipe);
    tcase_add_loop_test(tests, nothing_steers_the_terminal, 0, 2);
    tcase_add_test(tests, json_has_the_schema);
    tcase_add_loop_test(tests, json_row, 0, COUNT_OF(json_rows));
    tcase_add_loop_test(tests, full_disk, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}

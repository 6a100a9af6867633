/* check_attacks.c - runs the program `attacks`: every hostile submission is blocked. */
#include "testing.h"

START_TEST(every_attack_is_blocked)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    char program[4096], cuda_home[4200], path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    const char *binary = testing_binary();
    (void)snprintf(program, sizeof program, "%.*s/tests/attacks",
                   (int)(strrchr(binary, '/') - binary), binary);
    (void)snprintf(cuda_home, sizeof cuda_home, "CUDA_HOME=%s", testing_cuda_home());
    const char *const argv[] = {program, "--spillway", binary, "--slots", "2", NULL};
    const char *const environment[] = {cuda_home, path, NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(1700000000000),
                                      .output_limit = 1 << 20,
                                      .merge_error = true};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    bool fine = !result.timed_out && !result.signalled && result.exit_code == 0;
    (void)fputs(bytes_text(&result.output), stdout);
    process_result_release(&result);
    ck_assert_msg(fine, "not every attack was blocked: see the table above");
}
END_TEST

Suite *suite_attacks(void)
{
    Suite *suite = suite_create("attacks");
    TCase *tests = tcase_create("attacks");
    tcase_set_timeout(tests, 1800); /* about a minute on two free cores; CI may have less */
    tcase_add_test(tests, every_attack_is_blocked);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_mutants.c - runs the program `mutants`: every wrong kernel loses its marks and no others,
 * the reference keeps all, the starter earns its floor. */
#include "testing.h"

#include "labs/lab.h"

START_TEST(each_mutant_loses_its_marks_and_no_others)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    char program[4096], cuda_home[4200], path[] = "PATH=/usr/bin:/bin";
    const char *binary = testing_binary();
    (void)snprintf(program, sizeof program, "%.*s/tests/mutants",
                   (int)(strrchr(binary, '/') - binary), binary);
    (void)snprintf(cuda_home, sizeof cuda_home, "CUDA_HOME=%s", testing_cuda_home());
    const char *const argv[] = {program, "--lab", lab_registry[_i]->id, NULL};
    const char *const environment[] = {cuda_home, path, NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(1700000000000),
                                      .output_limit = 1 << 20,
                                      .merge_error = true};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    bool good = !result.timed_out && !result.signalled && result.exit_code == 0;
    if (!good) /* the table is longer than one of Check's messages may be */
        (void)fputs(bytes_text(&result.output), stderr);
    ck_assert_msg(good, "some mutants lose other marks than expected: see the table above");
    process_result_release(&result);
}
END_TEST

Suite *suite_mutants(void)
{
    Suite *suite = suite_create("mutants");
    TCase *tests = tcase_create("mutants");
    tcase_set_timeout(tests, 1800); /* a minute or two on two free cores; CI may have less */
    tcase_add_loop_test(tests, each_mutant_loses_its_marks_and_no_others, 0,
                        (int)lab_registry_count);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_facts.c - do the witnesses agree? ptxas's words against a recorded cubin. */
#include "testing.h"

#include "facts.h"

/* clang-format off */
static const struct witness_row {
    const char *cubin, *kernel;
    int frame, stores, loads;    /* as ptxas is made to say */
    int cubin_stores;            /* what the cubin witnesses; -1: it is silent */
    const char *disagreement;    /* part of it; "" none */
} rows[] = {
    {"small_sm_75.cubin",           "smallSpills",    48, 48, 48, 48, ""},
    {"small_sm_75.cubin",           "smallSpills",    48, 44, 48, 48, "spill stores of smallSpills: ptxas says 44, the cubin says 48"},
    {"small_sm_75_cuda_12.4.cubin", "smallSpills",    48, 48, 48, 48, ""}, /* not marked there: settled */
    {"small_sm_75_cuda_12.4.cubin", "smallSpills",    48, 48, 40, 48, "spill loads of smallSpills: ptxas says 40, the cubin says 48"},
    {"small_sm_75_cuda_11.8.cubin", "smallSpills",    48,  0,  0, 48, "spill stores"},
    {"small_sm_75_cuda_12.4.cubin", "smallArray",     16,  0,  0, -1, ""}, /* room for a word beside the array */
    {"small_sm_75_cuda_12.4.cubin", "smallRecursion", 32, 28, 28, -1, ""}, /* a callee saves registers */
    {"small_sm_75.cubin",           "smallRecursion", 32, 28, 28, 28, ""},
};
/* clang-format on */

START_TEST(test_spill_witnesses)
{
    const struct witness_row *row = &rows[_i];
    char path[128];
    (void)snprintf(path, sizeof path, "cubin/%s", row->cubin);
    struct bytes ptx = testing_fixture("cubin/small_sm_75.ptx");
    struct bytes cubin = testing_fixture(path);
    struct bytes said = bytes_with_limit(4096);
    struct error err = {0};
    bytes_printf(&said,
                 "ptxas info    : Compiling entry function '%s' for 'sm_75'\n"
                 "ptxas info    : Function properties for %s\n"
                 "    %d bytes stack frame, %d bytes spill stores, %d bytes spill loads\n"
                 "ptxas info    : Used 24 registers, used %d barriers, %d bytes smem, "
                 "372 bytes cmem[0]\n",
                 row->kernel, row->kernel, row->frame, row->stores, row->loads,
                 strcmp(row->kernel, "smallArray") == 0 ? 1 : 0,
                 strcmp(row->kernel, "smallArray") == 0 ? 128 : 0);
    struct build_target target = {.arch = {.number = 75},
                                  .compiled = true,
                                  .module = ptx_parse(ptx.data, ptx.length, &err),
                                  .image = {.assembled = true, .readable = true}};
    ck_assert_msg(target.module != NULL, "%s", err.text);
    ck_assert_int_eq(cubin_parse(&target.image.parsed, cubin.data, cubin.length, &err), 0);
    ck_assert_int_eq(report_parse(&target.image.report, said.data, said.length, &err), 0);

    const struct lab_argument arguments[] = {{"in", ARGUMENT_INPUT, SCALAR_F32, 0},
                                             {"out", ARGUMENT_OUTPUT, SCALAR_F32, 0},
                                             {"n", ARGUMENT_SCALAR, SCALAR_S32, 0}};
    const struct lab_kernel kernel = {.name = row->kernel,
                                      .arguments = arguments,
                                      .argument_count = COUNT_OF(arguments),
                                      .block_threads = 64};
    struct kernel_facts facts;
    char problem[300] = "";
    ck_assert_msg(facts_gather_image(&facts, &kernel, &target, &target.image, problem), "%s",
                  problem);
    ck_assert_int_eq(facts.witnesses.spill_store_bytes.cubin, row->cubin_stores);
    if (row->disagreement[0] == '\0')
        ck_assert_str_eq(facts.disagreement, "");
    else
        ck_assert_msg(strstr(facts.disagreement, row->disagreement) != NULL, "\"%s\"",
                      facts.disagreement);
    report_release(&target.image.report);
    cubin_release(&target.image.parsed);
    ptx_free(target.module);
    bytes_release(&said);
    bytes_release(&cubin);
    bytes_release(&ptx);
}
END_TEST

Suite *suite_facts(void)
{
    Suite *suite = suite_create("facts");
    TCase *witnesses = tcase_create("witnesses");
    tcase_add_loop_test(witnesses, test_spill_witnesses, 0, COUNT_OF(rows));
    suite_add_tcase(suite, witnesses);
    return suite;
}

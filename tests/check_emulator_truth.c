/* check_emulator_truth.c - some eighty kernels of every kind: no fault, no false alarm. */
#include "support_emulator.h"

#include "truth/truth.h"

static const char *const variants[] = {"sm75", "sm90"};

struct run {
    struct truth_argument arguments[TRUTH_ARGUMENTS_MAX];
    int count;
    struct emulator_result result;
};

static void run_launch(struct run *run, const struct truth_launch *launch, const char *variant,
                       unsigned threads)
{
    char path[128];
    const char *bad = "";
    (void)snprintf(path, sizeof path, "truth/%s_%s.ptx", launch->file, variant);
    struct emulator *emulator = support_emulator_fixture(path);
    run->count = truth_arguments(launch, run->arguments, &bad);
    ck_assert_msg(run->count >= 0, "%s: %s", launch->name, bad);
    uint64_t addresses[TRUTH_ARGUMENTS_MAX];
    const void *data[TRUTH_ARGUMENTS_MAX];
    size_t bytes[TRUTH_ARGUMENTS_MAX];
    for (int i = 0; i < run->count; ++i) {
        struct truth_argument *argument = &run->arguments[i];
        data[i] = argument->data;
        bytes[i] = argument->bytes;
        if (!argument->is_buffer)
            continue;
        addresses[i] = support_buffer(emulator, "buffer",
                                      argument->is_output ? NULL : argument->data, argument->bytes);
        if (argument->is_output)
            ck_assert_int_eq(
                emulator_poison(emulator, addresses[i], argument->data, argument->bytes), 0);
        data[i] = &addresses[i];
        bytes[i] = sizeof addresses[i];
    }
    const struct emulator_launch spec = {
        .entry = launch->entry,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .shared_bytes = launch->shared_bytes,
        .arguments = data,
        .argument_bytes = bytes,
        .argument_count = (size_t)run->count};
    const struct emulator_options options = {.threads = threads,
                                             .max_warp_instructions = 400000000};
    struct error err = {0};
    ck_assert_msg(emulator_launch(emulator, &spec, &options, &run->result, &err) == 0, "%s: %s",
                  launch->name, err.text);
    for (int i = 0; i < run->count; ++i)
        if (run->arguments[i].is_buffer)
            ck_assert_int_eq(emulator_copy_out(emulator, addresses[i], run->arguments[i].data,
                                               run->arguments[i].bytes),
                             0);
    emulator_free(emulator);
}

static void end_run(struct run *run)
{
    truth_release(run->arguments, run->count);
    emulator_result_release(&run->result);
}

START_TEST(kernels_run_clean)
{
    const struct truth_launch *launch = &truth_launches[_i];
    for (size_t v = 0; v < COUNT_OF(variants); ++v) {
        struct run run;
        run_launch(&run, launch, variants[v], 2);
        ck_assert_msg(run.result.status == EMULATOR_FINISHED, "%s for %s: %s%s", launch->name,
                      variants[v], run.result.refusal,
                      run.result.fault_count > 0 ? run.result.faults[0].text : "");
        ck_assert_msg(run.result.fault_count == 0, "%s for %s: %s", launch->name, variants[v],
                      run.result.fault_count > 0 ? run.result.faults[0].text : "");
        end_run(&run);
    }
}
END_TEST

/* How blocks fall to host threads must not show, neither in the results nor in the counters. */
START_TEST(threads_do_not_matter)
{
    const struct truth_launch *launch = &truth_launches[_i];
    struct run one, three;
    run_launch(&one, launch, "sm75", 1);
    run_launch(&three, launch, "sm75", 3);
    /* A spinning warp executes as long as it has to wait; probing depends on who came first. */
    const bool varies =
        strcmp(launch->name, "spin_lock") == 0 || strcmp(launch->name, "hash_insert") == 0;
    for (int i = 0; i < one.count; ++i)
        ck_assert_msg(
            memcmp(one.arguments[i].data, three.arguments[i].data, one.arguments[i].bytes) == 0 ||
                !one.arguments[i].is_compared,
            "%s: argument %d differs", launch->name, i);
    if (!varies) {
        ck_assert_msg(
            memcmp(&one.result.traffic, &three.result.traffic, sizeof one.result.traffic) == 0,
            "%s: traffic differs", launch->name);
        ck_assert_uint_eq(one.result.warp_instructions, three.result.warp_instructions);
        ck_assert_uint_eq(one.result.counters.lane_instructions,
                          three.result.counters.lane_instructions);
        ck_assert_uint_eq(one.result.counters.divergent_branches,
                          three.result.counters.divergent_branches);
    }
    end_run(&one);
    end_run(&three);
}
END_TEST

Suite *suite_emulator_truth(void);
Suite *suite_emulator_truth(void)
{
    Suite *suite = suite_create("emulator_truth");
    TCase *tcase = tcase_create("kernels");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, kernels_run_clean, 0, (int)truth_launch_count);
    tcase_add_loop_test(tcase, threads_do_not_matter, 0, (int)truth_launch_count);
    suite_add_tcase(suite, tcase);
    return suite;
}

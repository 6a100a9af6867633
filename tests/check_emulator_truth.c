/* check_emulator_truth.c - kernels of every kind, compared bit by bit with what an H200 made of
 * them. */
#include "support_emulator.h"

#include "truth/golden.h"
#include "truth/truth.h"

struct run {
    struct truth_argument arguments[TRUTH_ARGUMENTS_MAX];
    int count;
    struct emulator_result result;
};

static struct emulator *group_emulator(const struct truth_group *group)
{
    char path[128];
    (void)snprintf(path, sizeof path, "truth/%s.ptx", group->ptx);
    return support_emulator_fixture(path);
}

static void run_launch(struct run *run, struct emulator *emulator,
                       const struct truth_launch *launch, unsigned threads)
{
    const char *bad = "";
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
}

static void end_run(struct run *run)
{
    truth_release(run->arguments, run->count);
    emulator_result_release(&run->result);
}

struct tally {
    struct bytes failures;
    uint64_t launches, exact, approximate, near, worst_ulps;
};

/* ---- Outputs -----------------------------------------------------------------------------------
 */

/* Where bits differ: the first places, from the recorded bytes (SPILLWAY_TRUTH_RAW names a folder
 * with what record.sh left), for whoever looks for the reason. */
static void show_differences(struct tally *tally, const struct truth_group *group,
                             const struct truth_argument *argument, size_t place)
{
    const char *folder = getenv("SPILLWAY_TRUTH_RAW");
    if (folder == NULL)
        return;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s.bin", folder, group->name);
    FILE *file = fopen(path, "rb");
    unsigned char *raw = malloc(argument->bytes);
    ck_assert(file != NULL && raw != NULL && fseek(file, (long)place, SEEK_SET) == 0);
    unsigned shown = 0, count = 0;
    const unsigned bytes = argument->element_bytes;
    if (fread(raw, 1, argument->bytes, file) == argument->bytes)
        for (size_t i = 0; i + bytes <= argument->bytes; i += bytes) {
            if (memcmp(raw + i, argument->data + i, bytes) == 0)
                continue;
            ++count;
            if (shown++ >= 6)
                continue;
            (void)bytes_printf(&tally->failures, "    [%zu] ", i / bytes);
            for (unsigned b = bytes; b-- > 0;)
                (void)bytes_printf(&tally->failures, "%02x", argument->data[i + b]);
            (void)bytes_append_text(&tally->failures, ", the hardware ");
            for (unsigned b = bytes; b-- > 0;)
                (void)bytes_printf(&tally->failures, "%02x", raw[i + b]);
            (void)bytes_append_text(&tally->failures, "\n");
        }
    (void)bytes_printf(&tally->failures, "    %u elements of %zu\n", count,
                       argument->bytes / bytes);
    free(raw);
    (void)fclose(file);
}

/* Places between two numbers of one format; NaN only equals NaN. */
static uint64_t distance(uint64_t a, uint64_t b, unsigned bits)
{
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    const uint64_t infinity = bits == 32 ? 0x7F800000 : UINT64_C(0x7FF0000000000000);
    const bool nan_a = (a & ~sign) > infinity, nan_b = (b & ~sign) > infinity;
    if (nan_a || nan_b)
        return nan_a && nan_b ? 0 : UINT64_MAX;
    const uint64_t x = (a & sign) != 0 ? sign - (a & ~sign) : sign + a;
    const uint64_t y = (b & sign) != 0 ? sign - (b & ~sign) : sign + b;
    return x > y ? x - y : y - x;
}

static double number(uint64_t pattern, unsigned bytes)
{
    double value = 0;
    if (bytes == 4) {
        float narrow;
        memcpy(&narrow, &pattern, 4);
        value = (double)narrow;
    } else {
        memcpy(&value, &pattern, 8);
    }
    return value;
}

static void compare_approximation(struct tally *tally, const struct truth_launch *launch,
                                  const struct truth_argument *argument, const unsigned char *raw)
{
    const unsigned bytes = argument->element_bytes;
    unsigned failures = 0;
    for (size_t i = 0; i + bytes <= argument->bytes; i += bytes) {
        uint64_t got = 0, wanted = 0;
        memcpy(&got, argument->data + i, bytes);
        memcpy(&wanted, raw + i, bytes);
        ++tally->approximate;
        if (got == wanted)
            continue;
        ++tally->near;
        const uint64_t ulps = distance(got, wanted, 8 * bytes);
        const double off = number(got, bytes) - number(wanted, bytes);
        if (ulps <= launch->tolerance.ulps)
            tally->worst_ulps = ulps > tally->worst_ulps ? ulps : tally->worst_ulps;
        else if (!(off <= launch->tolerance.absolute && off >= -launch->tolerance.absolute) &&
                 failures++ < 4)
            (void)bytes_printf(&tally->failures,
                               "%s: element %zu is %.9g, on the hardware %.9g: %llu ulps\n",
                               launch->name, i / bytes, number(got, bytes), number(wanted, bytes),
                               (unsigned long long)ulps);
    }
}

static void compare_outputs(struct tally *tally, const struct golden *golden,
                            const struct truth_group *group, const struct truth_launch *launch,
                            const struct run *run, size_t *place)
{
    for (int i = 0; i < run->count; ++i) {
        const struct truth_argument *argument = &run->arguments[i];
        if (!argument->is_compared)
            continue;
        struct golden_output wanted;
        if (!golden_output(golden, group->name, launch->name, i, &wanted)) {
            (void)bytes_printf(&tally->failures, "%s: not recorded\n", launch->name);
            continue;
        }
        ck_assert_uint_eq(wanted.bytes, argument->bytes);
        if (wanted.raw != NULL) {
            compare_approximation(tally, launch, argument, wanted.raw);
        } else {
            tally->exact += argument->bytes / argument->element_bytes;
            if (truth_hash(argument->data, argument->bytes) != wanted.hash) {
                (void)bytes_printf(&tally->failures, "%s: argument %d differs\n", launch->name, i);
                show_differences(tally, group, argument, *place);
            }
        }
        *place += argument->bytes <= 256 << 10 ? argument->bytes : 0;
    }
}

START_TEST(group_is_true)
{
    const struct truth_group *group = &truth_groups[_i];
    struct emulator *emulator = group_emulator(group);
    struct golden golden;
    struct tally tally = {.failures = bytes_with_limit((size_t)1 << 20)};
    size_t place = 0;
    golden_read(&golden);
    for (size_t i = 0; i < truth_launch_count; ++i) {
        const struct truth_launch *launch = &truth_launches[i];
        if (strcmp(launch->file, group->file) != 0)
            continue;
        struct run run;
        run_launch(&run, emulator, launch, 2);
        ++tally.launches;
        if (run.result.status != EMULATOR_FINISHED || run.result.fault_count > 0)
            (void)bytes_printf(&tally.failures, "%s: %s%s\n", launch->name, run.result.refusal,
                               run.result.fault_count > 0 ? run.result.faults[0].text : "");
        compare_outputs(&tally, &golden, group, launch, &run, &place);
        end_run(&run);
    }
    golden_release(&golden);
    emulator_free(emulator);
    printf("%s: %llu launches: %llu values with equal bits; %llu approximations, %llu of them not "
           "bit-identical, at most %llu ulps off\n",
           group->name, (unsigned long long)tally.launches, (unsigned long long)tally.exact,
           (unsigned long long)tally.approximate, (unsigned long long)tally.near,
           (unsigned long long)tally.worst_ulps);
    ck_assert_msg(tally.failures.length == 0, "%s:\n%s", group->name, bytes_text(&tally.failures));
    bytes_release(&tally.failures);
}
END_TEST

Suite *suite_emulator_truth(void);
Suite *suite_emulator_truth(void)
{
    Suite *suite = suite_create("emulator_truth");
    TCase *tcase = tcase_create("kernels");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, group_is_true, 0, (int)truth_group_count);
    suite_add_tcase(suite, tcase);
    return suite;
}

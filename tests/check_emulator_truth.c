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

/* Where driver.cu's buffers lay: one behind the other, with 256 bytes to spare, at multiples of
 * 512. It matters for atomics (traffic.c); a few bits of it are enough. */
#define SPARE 256
#define PLACE 512
#define PLACES_END ((uint64_t)64 << 10)

static void run_launch(struct run *run, struct emulator *emulator,
                       const struct truth_launch *launch, unsigned threads)
{
    const char *bad = "";
    run->count = truth_arguments(launch, run->arguments, &bad);
    ck_assert_msg(run->count >= 0, "%s: %s", launch->name, bad);
    uint64_t addresses[TRUTH_ARGUMENTS_MAX];
    const void *data[TRUTH_ARGUMENTS_MAX];
    size_t bytes[TRUTH_ARGUMENTS_MAX];
    uint64_t place = 0;
    for (int i = 0; i < run->count; ++i) {
        struct truth_argument *argument = &run->arguments[i];
        data[i] = argument->data;
        bytes[i] = argument->bytes;
        if (!argument->is_buffer)
            continue;
        addresses[i] = place + support_buffer(emulator, "buffer", NULL, place + argument->bytes);
        ck_assert_int_eq((argument->is_output ? emulator_poison : emulator_copy_in)(
                             emulator, addresses[i], argument->data, argument->bytes),
                         0);
        place = (place + argument->bytes + SPARE + PLACE - 1) / PLACE * PLACE % PLACES_END;
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

/* ---- Counters ----------------------------------------------------------------------------------
 */

/* What is compared: columns of the golden data. Atomics with and without a result are one kind. */
#define BIT(counter) (1u << (counter))
#define GLOBAL_LOAD (BIT(GOLDEN_GLOBAL_LOAD_REQUESTS) | BIT(GOLDEN_GLOBAL_LOAD_SECTORS))
#define GLOBAL_STORE (BIT(GOLDEN_GLOBAL_STORE_REQUESTS) | BIT(GOLDEN_GLOBAL_STORE_SECTORS))
#define LOCAL                                                                                      \
    (BIT(GOLDEN_LOCAL_LOAD_REQUESTS) | BIT(GOLDEN_LOCAL_LOAD_SECTORS) |                            \
     BIT(GOLDEN_LOCAL_STORE_REQUESTS) | BIT(GOLDEN_LOCAL_STORE_SECTORS))
#define ATOMIC (BIT(GOLDEN_RED_REQUESTS) | BIT(GOLDEN_RED_SECTORS))
#define SHARED_LOAD BIT(GOLDEN_SHARED_LOAD_WAVEFRONTS)
#define SHARED_STORE BIT(GOLDEN_SHARED_STORE_WAVEFRONTS)
#define COMPARED (GLOBAL_LOAD | GLOBAL_STORE | LOCAL | ATOMIC | SHARED_LOAD | SHARED_STORE)

static const unsigned kinds[] = {GLOBAL_LOAD, GLOBAL_STORE, LOCAL,
                                 ATOMIC,      SHARED_LOAD,  SHARED_STORE};

enum reason {
    CALLS,
    SPILLS,
    REGISTERS,
    ONCE,
    LOOP,
    APART,
    LIBRARY,
    ORDER /* from here on: the numbers are not the same twice */
};

static const struct explained {
    const char *file, *variants, *launch;
    unsigned counters;
    enum reason reason;
} explained[] = {
#define EXPLAINED(file, variants, launch, counters, reason)                                        \
    {#file, variants, #launch, counters, reason},
#include "truth/explained.inc"
#undef EXPLAINED
};

static const struct explained *explanation(const struct truth_group *group, const char *launch)
{
    for (size_t i = 0; i < COUNT_OF(explained); ++i)
        if (strcmp(explained[i].file, group->file) == 0 &&
            strcmp(explained[i].launch, launch) == 0 &&
            strstr(explained[i].variants, group->variant) != NULL)
            return &explained[i];
    return NULL;
}

/* What the emulator counted. Copies past the registers are loads to the profiler. */
static void counted(const struct emulator_result *result, uint64_t ret[GOLDEN_COUNTER_COUNT])
{
    const struct traffic *traffic = &result->traffic;
    const struct emulator_counters *counters = &result->counters;
    const uint64_t values[GOLDEN_COUNTER_COUNT] = {
        [GOLDEN_GLOBAL_LOAD_REQUESTS] =
            traffic->global.load.requests + counters->async_copy.requests,
        [GOLDEN_GLOBAL_LOAD_SECTORS] = traffic->global.load.sectors + counters->async_copy.sectors,
        [GOLDEN_GLOBAL_STORE_REQUESTS] = traffic->global.store.requests,
        [GOLDEN_GLOBAL_STORE_SECTORS] = traffic->global.store.sectors,
        [GOLDEN_LOCAL_LOAD_REQUESTS] = traffic->local_array.load.requests,
        [GOLDEN_LOCAL_LOAD_SECTORS] = traffic->local_array.load.sectors,
        [GOLDEN_LOCAL_STORE_REQUESTS] = traffic->local_array.store.requests,
        [GOLDEN_LOCAL_STORE_SECTORS] = traffic->local_array.store.sectors,
        [GOLDEN_SHARED_LOAD_WAVEFRONTS] = counters->shared_load.sectors,
        [GOLDEN_SHARED_STORE_WAVEFRONTS] = counters->shared_store.sectors,
        [GOLDEN_RED_REQUESTS] = counters->global_atomic.requests,
        [GOLDEN_RED_SECTORS] = counters->global_atomic.sectors};
    memcpy(ret, values, sizeof values);
}

/* The profiler's counters of shared memory carry noise from arbitration. */
static bool is_equal(unsigned counter, uint64_t got, uint64_t wanted)
{
    const uint64_t difference = got > wanted ? got - wanted : wanted - got;
    const bool noisy = (BIT(counter) & (SHARED_LOAD | SHARED_STORE)) != 0;
    return difference == 0 || (noisy && (difference <= 400 || difference * 1000 <= wanted));
}

struct tally {
    struct bytes failures;
    uint64_t counters, explained;
    uint64_t warned; /* of products that ptxas may fuse */
    uint64_t launches, exact, approximate, near, worst_ulps;
};

static void compare_counters(struct tally *tally, const struct golden *golden,
                             const struct truth_group *group, const struct truth_launch *launch,
                             const struct run *run)
{
    uint64_t wanted[GOLDEN_COUNTER_COUNT], got[GOLDEN_COUNTER_COUNT];
    if (!golden_counters(golden, group->name, launch->name, wanted)) {
        (void)bytes_printf(&tally->failures, "%s: no counters\n", launch->name);
        return;
    }
    counted(&run->result, got);
    wanted[GOLDEN_RED_REQUESTS] += wanted[GOLDEN_ATOM_REQUESTS];
    wanted[GOLDEN_RED_SECTORS] += wanted[GOLDEN_ATOM_SECTORS];
    const struct explained *why = explanation(group, launch->name);
    unsigned missing = why != NULL && why->reason < ORDER ? why->counters : 0;
    for (unsigned c = 0; c < GOLDEN_COUNTER_COUNT; ++c) {
        if ((BIT(c) & COMPARED) == 0)
            continue;
        if (is_equal(c, got[c], wanted[c])) {
            ++tally->counters;
        } else if (why != NULL && (why->counters & BIT(c)) != 0) {
            ++tally->explained;
            /* One of the kind is enough. */
            for (unsigned k = 0; k < COUNT_OF(kinds); ++k)
                missing &= (kinds[k] & BIT(c)) != 0 ? ~kinds[k] : ~0u;
        } else {
            (void)bytes_printf(&tally->failures, "%s: %s: %llu, the hardware counted %llu\n",
                               launch->name, golden_counter_names[c], (unsigned long long)got[c],
                               (unsigned long long)wanted[c]);
        }
    }
    if (missing != 0)
        (void)bytes_printf(&tally->failures, "%s: equal now, but in explained.inc\n", launch->name);
}

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

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in some order: the hardware's blocks print as they come. */
static size_t sorted_lines(char *text, char *lines[], size_t room)
{
    size_t count = 0;
    char *place = NULL;
    for (char *line = strtok_r(text, "\n", &place); line != NULL && count < room;
         line = strtok_r(NULL, "\n", &place))
        lines[count++] = line;
    qsort(lines, count, sizeof *lines, by_text);
    return count;
}

static void compare_printed(struct tally *tally, const struct truth_launch *launch,
                            const struct bytes *printed)
{
    struct bytes wanted = testing_fixture("truth/golden/printed.txt");
    char *got = strdup(bytes_text(printed)), *lines[64], *wanted_lines[64];
    ck_assert_ptr_nonnull(got);
    const size_t count = sorted_lines(got, lines, COUNT_OF(lines));
    const size_t wanted_count = sorted_lines(wanted.data, wanted_lines, COUNT_OF(wanted_lines));
    if (count != wanted_count)
        (void)bytes_printf(&tally->failures, "%s: %zu lines printed, %zu on the hardware\n",
                           launch->name, count, wanted_count);
    for (size_t i = 0; i < count && i < wanted_count; ++i)
        if (strcmp(lines[i], wanted_lines[i]) != 0)
            (void)bytes_printf(&tally->failures, "%s: prints `%s`, the hardware `%s`\n",
                               launch->name, lines[i], wanted_lines[i]);
    free(got);
    bytes_release(&wanted);
}

/* How blocks fall to host threads must not show: each group runs with one thread and with three. */
START_TEST(group_is_true)
{
    const struct truth_group *group = &truth_groups[_i / 2];
    const unsigned threads = _i % 2 == 0 ? 1 : 3;
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
        run_launch(&run, emulator, launch, threads);
        ++tally.launches;
        if (golden_is_fused(&golden, group->name, launch->name) && run.result.fusable.count == 0)
            (void)bytes_printf(&tally.failures, "%s: ptxas fuses, and the emulator says nothing\n",
                               launch->name);
        tally.warned += run.result.fusable.count > 0 ? 1 : 0;
        if (run.result.status != EMULATOR_FINISHED || run.result.fault_count > 0)
            (void)bytes_printf(&tally.failures, "%s: %s%s\n", launch->name, run.result.refusal,
                               run.result.fault_count > 0 ? run.result.faults[0].text : "");
        compare_outputs(&tally, &golden, group, launch, &run, &place);
        compare_counters(&tally, &golden, group, launch, &run);
        if (run.result.printed.length > 0)
            compare_printed(&tally, launch, &run.result.printed);
        end_run(&run);
    }
    golden_release(&golden);
    emulator_free(emulator);
    if (_i % 2 == 0)
        printf(
            "%s: %llu launches: %llu values with equal bits; %llu approximations, %llu of them not "
            "bit-identical, at most %llu ulps off; %llu counters equal, %llu not (explained.inc); "
            "%llu may be fused\n",
            group->name, (unsigned long long)tally.launches, (unsigned long long)tally.exact,
            (unsigned long long)tally.approximate, (unsigned long long)tally.near,
            (unsigned long long)tally.worst_ulps, (unsigned long long)tally.counters,
            (unsigned long long)tally.explained, (unsigned long long)tally.warned);
    ck_assert_msg(tally.failures.length == 0, "%s:\n%s", group->name, bytes_text(&tally.failures));
    bytes_release(&tally.failures);
}
END_TEST

/* ---- Planted faults ----------------------------------------------------------------------------
 */

static bool has_fault(const char *entry)
{
    struct emulator *emulator = support_emulator_fixture("truth/faults.ptx");
    int data[64] = {0};
    const int n = 64;
    const bool poisoned = strstr(entry, "uninitialised") != NULL;
    uint64_t buffer = support_buffer(emulator, "data", poisoned ? NULL : data, sizeof data);
    const struct support_argument arguments[] = {{&buffer, 8}, {&n, 4}};
    const struct emulator_options options = {.threads = 2};
    struct emulator_result result = support_launch(emulator, entry, 2, 64, arguments, 2, &options);
    const bool found = result.fault_count > 0;
    emulator_result_release(&result);
    emulator_free(emulator);
    return found;
}

/* tests/truth/sanitizer.md, as a table for people. */
START_TEST(finds_what_compute_sanitizer_finds)
{
    struct bytes text = testing_fixture("truth/golden/sanitizer.tsv");
    char fault[64], tool[16], errors[16];
    int status = 0, used = 0;
    unsigned found = 0;
    for (const char *at = bytes_text(&text); *at != '\0'; at = strchr(at, '\n') + 1) {
        ck_assert_int_eq(sscanf(at, "%63s %15s %d %15s %n", fault, tool, &status, errors, &used),
                         4);
        if (strcmp(errors, "0") == 0) /* "-": it hung */
            continue;
        ck_assert_msg(has_fault(fault), "%s: the emulator finds nothing, %s does", fault, tool);
        ++found;
    }
    ck_assert_uint_ge(found, 50);
    ck_assert(!has_fault("nothing_wrong"));
    bytes_release(&text);
}
END_TEST

Suite *suite_emulator_truth(void);
Suite *suite_emulator_truth(void)
{
    Suite *suite = suite_create("emulator_truth");
    TCase *tcase = tcase_create("kernels");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, group_is_true, 0, 2 * (int)truth_group_count);
    tcase_add_test(tcase, finds_what_compute_sanitizer_finds);
    suite_add_tcase(suite, tcase);
    return suite;
}

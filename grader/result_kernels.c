/* result_kernels.c - what a grade's JSON says of each kernel: facts, witnesses, the run. */
#include "result_internal.h"

#include <math.h>

#include "caps.h"

static void read_witnesses(const struct result_reader *reader, const json_t *all, const char *key,
                           struct witnesses *ret)
{
    const json_t *said = json_object_get(all, key);
    *ret = (struct witnesses){FACT_UNKNOWN, FACT_UNKNOWN, FACT_UNKNOWN};
    (void)result_take_integer(reader, said, "ptxas", 0, INT32_MAX, &ret->ptxas);
    (void)result_take_integer(reader, said, "cubin", 0, INT32_MAX, &ret->cubin);
    (void)result_take_integer(reader, said, "device", 0, INT32_MAX, &ret->device);
}

static void read_count(const struct result_reader *reader, const json_t *object, uint64_t *ret,
                       const char *key)
{
    int64_t number = 0;
    (void)result_take_integer(reader, object, key, 0, INT64_MAX, &number);
    *ret = (uint64_t)number;
}

static void read_direction(const struct result_reader *reader, const json_t *traffic,
                           const char *key, struct traffic_direction *ret)
{
    const json_t *object = json_object_get(traffic, key);
    ret->known = json_is_object(object);
    struct traffic_count *const counts[] = {&ret->load, &ret->store};
    static const char *const keys[] = {"load", "store"};
    for (size_t i = 0; i < COUNT_OF(keys); ++i) {
        const json_t *count = json_object_get(object, keys[i]);
        read_count(reader, count, &counts[i]->requests, "requests");
        read_count(reader, count, &counts[i]->sectors, "sectors");
    }
}

static void read_time(const struct result_reader *reader, const json_t *object,
                      struct run_timing *ret)
{
    int64_t rounds = 0;
    if (result_is_absent(object))
        return;
    ret->known = true;
    ret->median_ns = ret->q1_ns = ret->q3_ns = NAN;
    result_take_number(reader, object, "median", &ret->median_ns);
    result_take_number(reader, object, "q1", &ret->q1_ns);
    result_take_number(reader, object, "q3", &ret->q3_ns);
    (void)result_take_integer(reader, object, "rounds", 0, 1000000, &rounds);
    ret->rounds = (unsigned)rounds;
}

static void read_run(const struct result_reader *reader, const json_t *object,
                     struct grade_kernel *row)
{
    int64_t number = 0;
    row->ran = result_take_integer(reader, object, "compared", 0, INT64_MAX, &number);
    row->compared = (uint64_t)number;
    read_count(reader, object, &row->mismatches, "mismatches");
    const json_t *first = json_object_get(object, "first_mismatch");
    row->has_first_mismatch = json_is_object(first);
    uint64_t index = 0;
    read_count(reader, first, &index, "index");
    row->first_index = (size_t)index;
    result_take_bits(reader, first, "expected_bits", &row->expected_bits);
    result_take_bits(reader, first, "got_bits", &row->got_bits);
    const json_t *fault = json_object_get(object, "fault");
    int64_t line = 0;
    result_take_text(reader, fault, "text", LIMIT_MESSAGE_BYTES, &row->fault);
    (void)result_take_integer(reader, fault, "line", 0, INT32_MAX, &line);
    row->fault_line = (unsigned)line;
    const json_t *traffic = json_object_get(object, "traffic");
    read_direction(reader, traffic, "global", &row->traffic.global);
    read_direction(reader, traffic, "local_array", &row->traffic.local_array);
    read_direction(reader, traffic, "spill", &row->traffic.spill);
    read_time(reader, json_object_get(object, "time_ns"), &row->time);
    result_take_text(reader, object, "printed", LIMIT_KERNEL_PRINT_BYTES, &row->printed);
}

static void read_facts(const struct result_reader *reader, const json_t *object,
                       struct grade_kernel *row)
{
    const struct {
        const char *key;
        int64_t *number;
        struct witnesses *said; /* NULL: it has none */
    } facts[] = {
        {"registers", &row->registers, &row->registers_said},
        {"stack_bytes", &row->stack_bytes, &row->stack_said},
        {"spill_store_bytes", &row->spill_store_bytes, &row->spill_store_said},
        {"spill_load_bytes", &row->spill_load_bytes, &row->spill_load_said},
        {"shared_bytes", &row->shared_bytes, &row->shared_said},
        {"barriers", &row->barriers, NULL},
        {"max_threads_per_block", &row->max_threads_per_block, NULL},
        {"blocks_per_sm", &row->blocks_per_sm, NULL},
    };
    const json_t *said = json_object_get(object, "witnesses");
    row->known = json_is_object(said);
    row->occupancy_percent = -1;
    result_take_number(reader, object, "occupancy_percent", &row->occupancy_percent);
    for (size_t i = 0; i < COUNT_OF(facts); ++i) {
        *facts[i].number = FACT_UNKNOWN;
        (void)result_take_integer(reader, object, facts[i].key, 0, INT32_MAX, facts[i].number);
        if (facts[i].said != NULL)
            read_witnesses(reader, said, facts[i].key, facts[i].said);
    }
}

static void read_kernel(const struct result_reader *reader, const json_t *object,
                        const struct lab *lab, struct grade_kernel *row)
{
    const char *name = result_take_words(reader, object, "name");
    for (size_t i = 0; i < lab->kernel_count && name != NULL; ++i)
        if (strcmp(lab->kernels[i].name, name) == 0)
            row->name = lab->kernels[i].name;
    if (row->name == NULL)
        result_complain(reader, "name", "a kernel of the lab");
    result_take_arch(reader, "arch", json_object_get(object, "arch"), &row->arch);
    if (row->arch.number == 0)
        result_complain(reader, "arch", "an architecture like sm_75");
    result_take_array(reader, object, "problem", row->problem, sizeof row->problem);
    read_facts(reader, object, row);
    read_run(reader, object, row);
}

void result_read_kernels(struct result_reader *reader, const json_t *root, struct grade *grade)
{
    const json_t *array = json_object_get(root, "kernels");
    size_t count = json_array_size(array);
    reader->where = "kernels";
    if (count > LIMIT_RESULT_KERNELS) {
        error_set(reader->err, ERROR_USAGE, "more than %d kernels", LIMIT_RESULT_KERNELS);
        return;
    }
    grade->kernels = calloc(count + 1, sizeof grade->kernels[0]);
    if (grade->kernels == NULL) {
        error_no_memory(reader->err);
        return;
    }
    for (size_t i = 0; i < count && !result_failed(reader); ++i)
        read_kernel(reader, json_array_get(array, i), grade->lab,
                    &grade->kernels[grade->kernel_count++]);
}

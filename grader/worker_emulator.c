/* worker_emulator.c - one launch on the PTX emulator.
 *
 * Every launch gets an emulator of its own, so that nothing a kernel leaves in a variable of the
 * module reaches the next. Buffers lie where the emulator puts them; their bounds are checked to
 * the byte, so no second placement is needed.
 *
 * A kernel that keeps its answer in such a variable would be found out by nobody then. So a launch
 * that a GPU would time is followed by a small one over other inputs in the same emulator, and the
 * same again in a fresh one: both must give the same bytes. A module without variables has no such
 * place, and is spared that. */
#include "worker_emulator.h"

#include "caps.h"
#include "emulator/emulator.h"
#include "emulator/ptx.h"
#include "worker_answer.h"

#include <sched.h>

static struct job_count count_of(const struct traffic_direction *direction)
{
    return (struct job_count){.known = direction->known,
                              .load_requests = direction->load.requests,
                              .load_sectors = direction->load.sectors,
                              .store_requests = direction->store.requests,
                              .store_sectors = direction->store.sectors};
}

static void take_fault(struct job_fault *into, const struct emulator_fault *from)
{
    into->line = from->line;
    into->count = from->count;
    (void)snprintf(into->kind, sizeof into->kind, "%s", from->kind);
    (void)snprintf(into->text, sizeof into->text, "%s", from->text);
    (void)snprintf(into->file, sizeof into->file, "%s", from->file);
}

/* The first fault that counts (or the first warning). NULL: none. */
static const struct emulator_fault *find_fault(const struct emulator_result *result, bool warning)
{
    for (size_t i = 0; i < result->fault_count; ++i)
        if (result->faults[i].warning == warning)
            return &result->faults[i];
    return NULL;
}

/* How many accesses met the kind of the first fault, at whatever line. */
static uint64_t count_kind(const struct emulator_result *result, const struct emulator_fault *first)
{
    uint64_t count = 0;
    for (size_t i = 0; i < result->fault_count; ++i)
        if (strcmp(result->faults[i].kind, first->kind) == 0)
            count += result->faults[i].count;
    return count;
}

#define ROTATION 16     /* bytes: keeps every element type whole */
#define SECOND_BLOCKS 4 /* of the small second launch */

struct buffers {
    uint64_t addresses[RUN_ARGUMENTS_MAX];
    const void *values[RUN_ARGUMENTS_MAX];
    size_t value_bytes[RUN_ARGUMENTS_MAX];
};

/* The input begins `rotate` bytes later, and wraps round: other values of the same kind. */
static bool copy_input(struct emulator *emulator, uint64_t address, const unsigned char *data,
                       size_t bytes, size_t rotate)
{
    return emulator_copy_in(emulator, address, data + rotate, bytes - rotate) == 0 &&
           (rotate == 0 ||
            emulator_copy_in(emulator, address + (bytes - rotate), data, rotate) == 0);
}

static bool place_buffer(struct emulator *emulator, const struct job *job,
                         const struct job_argument *argument, uint64_t *address, uint32_t poison,
                         bool other_inputs)
{
    *address = emulator_allocate(emulator, argument->bytes, job_text(job, argument->name));
    if (*address == 0)
        return false;
    if (argument->bytes == 0)
        return true;
    if (argument->role == RUN_INPUT)
        return copy_input(emulator, *address, job->base + argument->data.offset, argument->bytes,
                          other_inputs ? argument->bytes / 2 / ROTATION * ROTATION : 0);
    /* The result's own place serves as the poison's source: it is overwritten afterwards. But the
     * second launch must leave there what the first one gave. */
    AUTO_FREE void *scratch = other_inputs ? malloc(argument->bytes) : NULL;
    void *source = other_inputs ? scratch : job->results + argument->first;
    if (source == NULL)
        return false;
    worker_fill_poison(source, argument->bytes, poison);
    return emulator_poison(emulator, *address, source, argument->bytes) == 0;
}

static bool place_arguments(struct emulator *emulator, const struct job *job, uint32_t launch,
                            struct buffers *buffers, bool other_inputs)
{
    const struct job_argument *arguments = job_launch_arguments(job, &job->launches[launch]);
    uint32_t poison = run_poison_word(job->header->poison_seed, launch);
    for (size_t i = 0; i < job->launches[launch].argument_count; ++i) {
        if (arguments[i].role == RUN_SCALAR) {
            buffers->values[i] = &arguments[i].scalar;
            buffers->value_bytes[i] = arguments[i].scalar_bytes;
            continue;
        }
        if (!place_buffer(emulator, job, &arguments[i], &buffers->addresses[i], poison,
                          other_inputs))
            return false;
        buffers->values[i] = &buffers->addresses[i];
        buffers->value_bytes[i] = sizeof buffers->addresses[i];
    }
    return true;
}

static bool fetch_buffers(struct emulator *emulator, const struct job *job, uint32_t launch,
                          const struct buffers *buffers)
{
    const struct job_argument *arguments = job_launch_arguments(job, &job->launches[launch]);
    for (size_t i = 0; i < job->launches[launch].argument_count; ++i)
        if (arguments[i].role != RUN_SCALAR && arguments[i].bytes > 0 &&
            emulator_copy_out(emulator, buffers->addresses[i], job->results + arguments[i].first,
                              arguments[i].bytes) != 0)
            return false;
    return true;
}

static void judge(const struct emulator_result *result, uint32_t launch, struct job_record *answer)
{
    const struct emulator_fault *fault = find_fault(result, false);
    const struct emulator_fault *warning = find_fault(result, true);
    switch (result->status) {
    case EMULATOR_FINISHED:
        worker_record_init(answer, JOB_RAN, launch);
        answer->ran.global = count_of(&result->traffic.global);
        answer->ran.local_array = count_of(&result->traffic.local_array);
        answer->ran.warps_launched = result->warps;
        if (warning != NULL)
            take_fault(&answer->ran.warning, warning);
        return;
    case EMULATOR_REFUSED:
        worker_record_fault(answer, launch, RUN_REFUSED, "not emulated",
                            "the emulator does not run this: %s", result->refusal);
        return;
    case EMULATOR_FAULTED:
    case EMULATOR_STOPPED:
        break;
    }
    bool stopped = result->status == EMULATOR_STOPPED;
    worker_record_fault(answer, launch, stopped ? RUN_TIMED_OUT : RUN_FAULTED,
                        stopped ? "time out" : "fault", "the kernel %s",
                        stopped ? "did not end and was stopped" : "made a fault");
    if (fault != NULL) {
        take_fault(&answer->fault.fault, fault);
        answer->fault.fault.count = count_kind(result, fault);
    }
}

static struct emulator_launch make_call(const struct job *job, const struct job_launch *spec,
                                        const struct buffers *buffers)
{
    struct emulator_launch call = {.entry = job_text(job, spec->symbol),
                                   .shared_bytes = spec->shared_bytes,
                                   .arguments = buffers->values,
                                   .argument_bytes = buffers->value_bytes,
                                   .argument_count = spec->argument_count};
    for (size_t i = 0; i < 3; ++i) {
        call.grid[i] = spec->grid[i];
        call.block[i] = spec->block[i];
    }
    return call;
}

/* CPUs that this process may use. */
static unsigned cpu_count(void)
{
    cpu_set_t *set = NULL;
    unsigned count = 0;
    /* The kernel refuses a set that is too small for the machine: grow it until it fits. */
    for (int cpus = 1024; cpus <= 1 << 16 && count == 0; cpus *= 2) {
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        set = CPU_ALLOC(cpus);
        if (set == NULL)
            break;
        if (sched_getaffinity(0, bytes, set) == 0)
            count = (unsigned)CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
    }
    return count > 0 ? count : 1;
}

unsigned worker_emulator_threads(const struct job *job)
{
    return job->header->threads > 0 ? job->header->threads : cpu_count();
}

static struct emulator_options make_options(const struct job *job)
{
    return (struct emulator_options){.threads = worker_emulator_threads(job),
                                     .wall_ns = (int64_t)job->header->wall_ns};
}

static struct emulator *create(const struct job *job, struct error *err)
{
    return emulator_create(job_text(job, job->header->module), job->header->module.bytes, err);
}

/* Runs the first blocks over other inputs and appends the bytes of all buffers to *out. 1 when that
 * worked, 0 when the kernel did not end well, -1 when memory is short. */
static int run_second(struct emulator *emulator, const struct job *job, uint32_t launch,
                      struct bytes *out)
{
    const struct job_launch *spec = &job->launches[launch];
    const struct job_argument *arguments = job_launch_arguments(job, spec);
    struct buffers buffers = {0};
    if (!place_arguments(emulator, job, launch, &buffers, true))
        return -1;
    struct emulator_launch call = make_call(job, spec, &buffers);
    call.grid[0] = call.grid[0] < SECOND_BLOCKS ? call.grid[0] : SECOND_BLOCKS;
    const struct emulator_options options = make_options(job);
    struct emulator_result result = {0};
    struct error err = {0};
    int good = emulator_launch(emulator, &call, &options, &result, &err) == 0 &&
               result.status == EMULATOR_FINISHED;
    if (err.kind == ERROR_INFRASTRUCTURE)
        good = -1;
    for (size_t i = 0; good == 1 && i < spec->argument_count; ++i) {
        size_t bytes = (size_t)arguments[i].bytes;
        if (arguments[i].role == RUN_SCALAR || bytes == 0)
            continue;
        if (bytes_reserve(out, bytes) == 0 &&
            emulator_copy_out(emulator, buffers.addresses[i], out->data + out->length, bytes) == 0)
            out->length += bytes;
        else
            good = -1;
    }
    emulator_result_release(&result);
    return good;
}

/* Is there a variable that outlives a launch? Whether anybody writes it does not matter here. */
static bool can_keep(const struct job *job)
{
    struct error err = {0};
    struct ptx_module *module =
        ptx_parse(job_text(job, job->header->module), job->header->module.bytes, &err);
    bool found = module == NULL;
    for (size_t i = 0; !found && i < ptx_variable_count(module); ++i)
        found = ptx_variable_at(module, i)->space == PTX_GLOBAL;
    ptx_free(module);
    return found;
}

/* Does the kernel answer otherwise in an emulator in which it ran before than in a fresh one? 1 or
 * 0; -1 when memory is short. */
static int keeps_something(struct emulator *used, const struct job *job, uint32_t launch)
{
    struct bytes after = bytes_with_limit(LIMIT_RUN_ARENA_BYTES);
    struct bytes afresh = bytes_with_limit(LIMIT_RUN_ARENA_BYTES);
    struct error err = {0};
    struct emulator *fresh = create(job, &err);
    int second = run_second(used, job, launch, &after);
    int first = fresh != NULL ? run_second(fresh, job, launch, &afresh) : -1;
    int differs = first == 1 && (second == 0 || after.length != afresh.length ||
                                 memcmp(after.data, afresh.data, afresh.length) != 0);
    if (first < 0 || second < 0)
        differs = -1;
    emulator_free(fresh);
    bytes_release(&after);
    bytes_release(&afresh);
    return differs;
}

static void launch_it(struct emulator *emulator, const struct job *job, uint32_t launch,
                      struct job_record *answer)
{
    const struct job_launch *spec = &job->launches[launch];
    struct buffers buffers = {0};
    if (!place_arguments(emulator, job, launch, &buffers, false)) {
        worker_record_trouble(answer, "out of memory: the buffers of %s do not fit",
                              job_text(job, spec->kernel));
        return;
    }
    const struct emulator_launch call = make_call(job, spec, &buffers);
    const struct emulator_options options = make_options(job);
    struct emulator_result result = {0};
    struct error err = {0};
    if (emulator_launch(emulator, &call, &options, &result, &err) != 0) {
        if (err.kind == ERROR_INFRASTRUCTURE)
            worker_record_trouble(answer, "%s", err.text);
        else
            worker_record_fault(answer, launch, RUN_FAULTED, "launch refused", "%s", err.text);
    } else {
        if (result.printed.length > 0)
            (void)fwrite(result.printed.data, 1, result.printed.length, stdout);
        judge(&result, launch, answer);
        if (answer->kind == JOB_RAN && !fetch_buffers(emulator, job, launch, &buffers))
            worker_record_trouble(answer, "the emulator lost a buffer of %s",
                                  job_text(job, spec->kernel));
        else if (answer->kind == JOB_RAN && spec->timing_group != 0 && can_keep(job)) {
            int differs = keeps_something(emulator, job, launch);
            if (differs < 0)
                worker_record_trouble(answer, "out of memory: %s cannot be launched once more",
                                      job_text(job, spec->kernel));
            else
                answer->ran.later_differs = differs == 1;
        }
    }
    emulator_result_release(&result);
}

void worker_emulate(const struct job *job, uint32_t launch, struct job_record *answer)
{
    struct error err = {0};
    struct emulator *emulator = create(job, &err);
    if (emulator == NULL && err.kind == ERROR_INFRASTRUCTURE)
        worker_record_trouble(answer, "%s", err.text);
    else if (emulator == NULL) /* nvcc made this text: what we cannot read is our lack */
        worker_record_fault(answer, launch, RUN_REFUSED, "not emulated",
                            "the emulator cannot read the PTX: %s", err.text);
    else
        launch_it(emulator, job, launch, answer);
    emulator_free(emulator);
}

#include "run_result.h"

#include "caps.h"
#include "text.h"
#include "timing.h"

#include <math.h>
#include <stdarg.h>

void run_result_init(struct run_launch_result *result)
{
    *result = (struct run_launch_result){.status = RUN_NOT_RUN,
                                         .device_registers = -1,
                                         .device_local_bytes = -1,
                                         .device_shared_bytes = -1,
                                         .device_max_threads = -1,
                                         .device_blocks_per_sm = -1};
}

static void drop_outputs(struct run_launch_result *result)
{
    for (size_t i = 0; i < result->output_count; ++i) {
        free(result->outputs[i].data);
        result->outputs[i].data = NULL;
        result->outputs[i].scrub_differs = false;
    }
}

void run_result_release(struct run_launch_result *result)
{
    drop_outputs(result);
    free(result->time.samples_ns);
    free(result->printed);
    run_result_init(result);
}

/* ---- Text from outside -----------------------------------------------------------------------*/

static void take_fault_text(struct run_fault *into, const struct job_fault *from)
{
    *into = (struct run_fault){.line = from->line, .count = from->count};
    (void)text_copy(into->kind, sizeof into->kind, from->kind);
    (void)text_copy(into->text, sizeof into->text, from->text);
    (void)text_copy(into->file, sizeof into->file, from->file);
}

void run_result_take_printed(struct run_launch_result *result, struct worker *worker)
{
    if (worker->printed.length == 0 || result->printed != NULL)
        return;
    bool cut = worker->printed.length >= LIMIT_KERNEL_PRINT_BYTES;
    struct bytes text = bytes_with_limit(LIMIT_KERNEL_PRINT_BYTES + 64);
    text_sanitize_lines(&text, worker->printed.data, worker->printed.length,
                        LIMIT_KERNEL_PRINT_BYTES);
    if (cut)
        (void)bytes_append_text(&text, "\n[cut: the kernel printed more]\n");
    result->printed = bytes_take(&text);
    bytes_release(&text);
    bytes_clear(&worker->printed);
}

void run_result_add_words(struct run_launch_result *result, const struct worker *worker)
{
    const char *words = bytes_text(&worker->said);
    size_t length = strcspn(words, "\n"), used = strlen(result->fault.text);
    if (length == 0)
        return;
    char line[401];
    (void)snprintf(line, sizeof line, "%.*s", length > 400 ? 400 : (int)length, words);
    (void)snprintf(result->fault.text + used, sizeof result->fault.text - used,
                   " The device said: ");
    used = strlen(result->fault.text);
    (void)text_copy(result->fault.text + used, sizeof result->fault.text - used, line);
}

/* ---- Records ---------------------------------------------------------------------------------*/

static void take_device(struct run_launch_result *result, const struct job_device *device)
{
    result->device_registers = device->registers;
    result->device_local_bytes = device->local_bytes;
    result->device_shared_bytes = device->shared_bytes;
    result->device_max_threads = device->max_threads;
    result->device_blocks_per_sm = device->blocks_per_sm;
}

static struct traffic_direction take_count(const struct job_count *count)
{
    return (struct traffic_direction){
        .known = count->known != 0,
        .load = {.requests = count->load_requests, .sectors = count->load_sectors},
        .store = {.requests = count->store_requests, .sectors = count->store_sectors}};
}

/* Offset of the first byte at which the two differ; `bytes` when they are equal. The worker may
 * still be writing: a difference that memcmp() saw need not be there a moment later. */
static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    if (bytes == 0 || memcmp(a, b, bytes) == 0)
        return bytes;
    size_t i = 0;
    while (i < bytes && a[i] == b[i])
        ++i;
    return i;
}

static int take_output(struct run_output *into, const struct job *job,
                       const struct job_argument *argument, struct error *err)
{
    const unsigned char *first = job->results + argument->first;
    into->bytes = argument->bytes;
    into->data = malloc(argument->bytes > 0 ? argument->bytes : 1);
    if (into->data == NULL)
        return error_no_memory(err);
    memcpy(into->data, first, argument->bytes);
    if (job->header->executor != EXECUTOR_GPU)
        return 0;
    into->scrub_first =
        first_difference(into->data, job->results + argument->second, argument->bytes);
    into->scrub_differs = into->scrub_first < argument->bytes;
    return 0;
}

int run_result_take_ran(struct run_launch_result *result, const struct job *job, size_t launch,
                        const struct job_ran *ran, struct error *err)
{
    take_device(result, &ran->device);
    result->traffic.global = take_count(&ran->global);
    result->traffic.local_array = take_count(&ran->local_array);
    result->warps_launched = ran->warps_launched;
    result->warps_active = ran->warps_active;
    result->later_launch_differs = ran->later_differs != 0;
    take_fault_text(&result->warning, &ran->warning);
    const struct job_argument *arguments = job_launch_arguments(job, &job->launches[launch]);
    for (unsigned i = 0; i < job->launches[launch].argument_count; ++i) {
        const struct job_argument *argument = &arguments[i];
        if (argument->role == RUN_OUTPUT) {
            if (take_output(&result->outputs[result->output_count], job, argument, err) != 0)
                return -1;
            ++result->output_count;
        }
        if (argument->role != RUN_INPUT || result->input_changed)
            continue;
        size_t changed = first_difference(job->base + argument->data.offset,
                                          job->results + argument->first, argument->bytes);
        if (changed < argument->bytes) {
            result->input_changed = true;
            result->input_index = i;
            result->input_offset = changed;
        }
    }
    result->status = RUN_FINISHED;
    return 0;
}

void run_result_take_fault(struct run_launch_result *result, const struct job_faulted *fault)
{
    drop_outputs(result);
    take_device(result, &fault->device);
    take_fault_text(&result->fault, &fault->fault);
    result->status = (enum run_status)fault->fault.status;
}

void run_result_set_fault(struct run_launch_result *result, enum run_status status,
                          const char *kind, const char *format, ...)
{
    drop_outputs(result);
    result->status = status;
    result->fault = (struct run_fault){0};
    (void)snprintf(result->fault.kind, sizeof result->fault.kind, "%s", kind);
    va_list arguments;
    va_start(arguments, format);
    char text[sizeof result->fault.text];
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)text_copy(result->fault.text, sizeof result->fault.text, text);
}

int run_result_take_times(struct run_launch_result *result, const struct job *job, size_t launch,
                          const struct job_timed *timed, size_t index, struct error *err)
{
    result->later_launch_differs = timed->differs[index] != 0;
    if (timed->rounds == 0)
        return 0;
    double *samples = malloc(timed->rounds * sizeof *samples);
    if (samples == NULL)
        return error_no_memory(err);
    memcpy(samples, job->results + job->launches[launch].samples, timed->rounds * sizeof *samples);
    bool sane = true;
    for (unsigned i = 0; i < timed->rounds; ++i)
        sane = sane && isfinite(samples[i]) && samples[i] >= 0;
    if (!sane) { /* times are never judged: without them the grade stands */
        free(samples);
        return 0;
    }
    struct timing_summary summary = timing_summarise(samples, timed->rounds);
    result->time = (struct run_timing){.known = summary.count > 0,
                                       .median_ns = summary.median,
                                       .q1_ns = summary.q1,
                                       .q3_ns = summary.q3,
                                       .rounds = timed->rounds,
                                       .samples_ns = samples,
                                       .empty_ns = timed->empty_ns};
    return 0;
}

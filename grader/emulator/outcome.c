/* outcome.c - what a launch came to: faults, counters and prints of all runners as one. */
#include "emulator/machine.h"

static int compare_notes(const void *a, const void *b)
{
    const struct fault_note *x = a, *y = b;
    if (x->fault.warning != y->fault.warning)
        return x->fault.warning ? 1 : -1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return (x->fault.ptx_line > y->fault.ptx_line) - (x->fault.ptx_line < y->fault.ptx_line);
}

/* One list of all runners' notes: equal kinds and instructions are added up, the first block first.
 */
static int merge_faults(struct emulator_result *result, const struct runner *runners)
{
    size_t total = 0;
    for (const struct runner *runner = runners; runner != NULL; runner = runner->next)
        total += runner->fault_count;
    if (total == 0)
        return 0;
    AUTO_FREE struct fault_note *notes = calloc(total, sizeof *notes);
    if (notes == NULL)
        return -1;
    size_t used = 0;
    for (const struct runner *runner = runners; runner != NULL; runner = runner->next)
        for (size_t i = 0; i < runner->fault_count; ++i) {
            const struct fault_note *note = &runner->faults[i];
            size_t k = 0;
            while (k < used && (notes[k].key != note->key ||
                                strcmp(notes[k].fault.kind, note->fault.kind) != 0))
                ++k;
            if (k == used) {
                notes[used++] = *note;
                continue;
            }
            const uint64_t sum = notes[k].fault.count + note->fault.count;
            if (note->block < notes[k].block)
                notes[k] = *note;
            notes[k].fault.count = sum;
        }
    qsort(notes, used, sizeof *notes, compare_notes);
    result->faults = calloc(used, sizeof *result->faults);
    if (result->faults == NULL)
        return -1;
    result->fault_count = used;
    for (size_t i = 0; i < used; ++i)
        result->faults[i] = notes[i].fault;
    return 0;
}

static void add_direction(struct traffic_direction *to, const struct traffic_direction *from)
{
    to->known = true;
    to->load.requests += from->load.requests;
    to->load.sectors += from->load.sectors;
    to->store.requests += from->store.requests;
    to->store.sectors += from->store.sectors;
}

/* What this launch allocated and did not free, by call of malloc. */
static void report_leaks(struct runner *runner)
{
    const struct heap *heap = &runner->launch->emulator->heap;
    struct {
        const struct op *site;
        uint64_t allocations, bytes;
    } leaks[CAP_FAULT_LINES];
    unsigned count = 0;
    for (size_t i = runner->launch->first_chunk; i < heap->chunk_count; ++i) {
        if (heap->chunks[i].freed)
            continue;
        unsigned k = 0;
        while (k < count && leaks[k].site->instruction != heap->chunks[i].site->instruction)
            ++k;
        if (k == COUNT_OF(leaks))
            continue;
        if (k == count) {
            leaks[count++].site = heap->chunks[i].site;
            leaks[k].allocations = leaks[k].bytes = 0;
        }
        leaks[k].allocations += 1;
        leaks[k].bytes += heap->chunks[i].bytes;
    }
    for (unsigned k = 0; k < count; ++k)
        fault_leak(runner, leaks[k].site, leaks[k].allocations, leaks[k].bytes);
}

int outcome_collect(struct emulator_result *result, struct launch *launch, struct runner *runners,
                    struct error *err)
{
    for (const struct runner *runner = runners; runner != NULL; runner = runner->next) {
        add_direction(&result->traffic.global, &runner->traffic.global);
        add_direction(&result->traffic.local_array, &runner->traffic.local_array);
        counters_collect(&result->counters, runner);
        result->warps += runner->warps_run;
        result->warp_instructions += runner->instructions;
    }
    if (atomic_load(&launch->was_interrupted))
        return error_set(err, ERROR_INTERRUPTED, "interrupted");
    if (launch->checks && runners != NULL)
        report_leaks(runners);
    if (atomic_load(&launch->no_memory) || launch->emulator->heap.no_memory ||
        merge_faults(result, runners) != 0)
        return error_no_memory(err);
    result->fusable = launch->kernel->fusable;
    result->printed = launch->printed;
    launch->printed = (struct bytes){0};
    if (launch->refusal != NULL) {
        result->status = EMULATOR_REFUSED;
        (void)snprintf(result->refusal, sizeof result->refusal, "%s", launch->refusal);
    } else if (atomic_load(&launch->out_of_budget))
        result->status = EMULATOR_STOPPED;
    else if (result->fault_count > 0 && !result->faults[0].warning)
        result->status = EMULATOR_FAULTED;
    return 0;
}

void emulator_result_release(struct emulator_result *result)
{
    free(result->faults);
    bytes_release(&result->printed);
    *result = (struct emulator_result){0};
}

#include "facts.h"

#include "entries.h"

/* ---- Comparing witnesses --------------------------------------------------------------------- */

static void compare(struct kernel_facts *facts, const char *what, const struct witnesses *said)
{
    const struct {
        const char *who;
        int64_t value;
    } others[] = {{"the cubin", said->cubin}, {"the device", said->device}};
    for (size_t i = 0; i < COUNT_OF(others); ++i)
        if (said->ptxas != FACT_UNKNOWN && others[i].value != FACT_UNKNOWN &&
            others[i].value != said->ptxas && facts->disagreement[0] == '\0')
            (void)snprintf(facts->disagreement, sizeof facts->disagreement,
                           "%s of %s: ptxas says %lld, %s says %lld", what, facts->name,
                           (long long)said->ptxas, others[i].who, (long long)others[i].value);
}

static int64_t absent_is_zero(int64_t value)
{
    return value == REPORT_ABSENT ? 0 : value;
}

static void from_report(struct kernel_facts *facts, const struct report_kernel *said)
{
    facts->witnesses.registers.ptxas = said->registers;
    facts->witnesses.stack_bytes.ptxas = said->max_stack_bytes;
    facts->witnesses.spill_store_bytes.ptxas = said->total_spill_store_bytes;
    facts->witnesses.spill_load_bytes.ptxas = said->total_spill_load_bytes;
    /* ptxas leaves these out when they are zero. */
    facts->witnesses.shared_bytes.ptxas = absent_is_zero(said->shared_bytes);
    facts->barriers = absent_is_zero(said->barriers);
    facts->registers = said->registers;
    facts->stack_bytes = said->max_stack_bytes;
    facts->spill_store_bytes = said->total_spill_store_bytes;
    facts->spill_load_bytes = said->total_spill_load_bytes;
    facts->shared_bytes = facts->witnesses.shared_bytes.ptxas;
}

static void from_cubin(struct kernel_facts *facts, const struct cubin_kernel *machine)
{
    facts->witnesses.registers.cubin = machine->registers;
    /* With callees the file's number is a sum along the deepest chain, ptxas's is one a function.
     */
    if (machine->callee_count == 0)
        facts->witnesses.stack_bytes.cubin = machine->frame_bytes;
    facts->witnesses.shared_bytes.cubin = machine->shared_bytes;
    /* Toolkits up to 12.4 do not mark spills: what the PTX declares tells them from arrays. With
     * callees the machine code holds saved registers too, which ptxas counts by rules of its own.
     */
    struct cubin_kernel settled = *machine;
    if (settled.callee_count == 0)
        (void)cubin_settle_spills(&settled, facts->function->local_bytes);
    if (settled.spills_known) {
        facts->witnesses.spill_store_bytes.cubin = settled.spill_store_bytes;
        facts->witnesses.spill_load_bytes.cubin = settled.spill_load_bytes;
    }
}

static void from_device(struct kernel_facts *facts, const struct run_launch_result *device)
{
    facts->witnesses.registers.device = device->device_registers;
    facts->witnesses.shared_bytes.device = device->device_shared_bytes;
    /* The device's view counts the entry's own frame alone, never that of a function it calls. */
    bool calls =
        facts->machine != NULL && facts->machine->max_frame_bytes != facts->machine->frame_bytes;
    if (!calls)
        facts->witnesses.stack_bytes.device = device->device_local_bytes;
    facts->device_blocks_per_sm = device->device_blocks_per_sm;
    if (device->device_max_threads > 0)
        facts->max_threads_per_block = (unsigned)device->device_max_threads;
}

static void add_occupancy(struct kernel_facts *facts, const struct lab_kernel *kernel)
{
    const struct sm_limits *sm = sm_limits_find(arch_major(facts->arch), arch_minor(facts->arch));
    facts->has_occupancy = sm != NULL && facts->registers > 0;
    if (!facts->has_occupancy)
        return;
    uint64_t bound = entries_block_bound(facts->function);
    unsigned max_threads = bound > UINT32_MAX ? UINT32_MAX : (unsigned)bound;
    facts->max_threads_per_block =
        occupancy_max_block_threads(sm, (unsigned)facts->registers, max_threads);
    facts->occupancy = occupancy_compute(
        sm, &(struct occupancy_kernel){.registers = (unsigned)facts->registers,
                                       .threads = kernel->block_threads,
                                       .shared_bytes = (unsigned)facts->shared_bytes,
                                       .barriers = (unsigned)facts->barriers,
                                       .max_threads = max_threads});
}

/* ---- Gathering ------------------------------------------------------------------------------- */

static const struct witnesses silent = {FACT_UNKNOWN, FACT_UNKNOWN, FACT_UNKNOWN};

static bool gather(struct kernel_facts *out, const struct lab_kernel *kernel,
                   const struct build_target *target, const struct build_image *image,
                   const struct run_launch_result *device, char problem[300])
{
    *out = (struct kernel_facts){
        .name = kernel->name,
        .arch = target->arch,
        .device_blocks_per_sm = FACT_UNKNOWN,
        .witnesses = {silent, silent, silent, silent, silent},
    };
    if (!target->compiled) {
        (void)snprintf(problem, 300, "%s", target->problem);
        return false;
    }
    struct entry_match match = entries_find(target->module, kernel);
    if (match.function == NULL) {
        (void)snprintf(problem, 300, "%s", match.problem);
        return false;
    }
    if (!image->assembled) {
        (void)snprintf(problem, 300, "%.290s", image->problem);
        return false;
    }
    out->function = match.function;
    out->symbol = match.function->name;
    bool ambiguous = false;
    const struct report_kernel *said = report_find(&image->report, out->symbol, NULL, &ambiguous);
    if (said == NULL || ambiguous || !said->complete || said->registers < 0) {
        out->registers = out->stack_bytes = out->spill_store_bytes = FACT_UNKNOWN;
        out->spill_load_bytes = out->shared_bytes = out->barriers = FACT_UNKNOWN;
        (void)snprintf(out->disagreement, sizeof out->disagreement, "ptxas's report %s %s",
                       ambiguous ? "names more than once" : "does not speak plainly of",
                       kernel->name);
        return true;
    }
    from_report(out, said);
    out->machine = image->readable ? cubin_find(&image->parsed, out->symbol) : NULL;
    if (out->machine != NULL)
        from_cubin(out, out->machine);
    else if (image->readable)
        (void)snprintf(out->disagreement, sizeof out->disagreement,
                       "ptxas reports on %s, and the cubin does not hold it", kernel->name);
    add_occupancy(out, kernel);
    if (device != NULL)
        from_device(out, device);
    compare(out, "registers", &out->witnesses.registers);
    compare(out, "the stack frame", &out->witnesses.stack_bytes);
    compare(out, "spill stores", &out->witnesses.spill_store_bytes);
    compare(out, "spill loads", &out->witnesses.spill_load_bytes);
    compare(out, "shared memory", &out->witnesses.shared_bytes);
    if (out->disagreement[0] == '\0' && out->has_occupancy &&
        out->device_blocks_per_sm != FACT_UNKNOWN &&
        out->device_blocks_per_sm != out->occupancy.blocks)
        (void)snprintf(out->disagreement, sizeof out->disagreement,
                       "blocks per SM of %s: the arithmetic says %u, the device says %lld",
                       out->name, out->occupancy.blocks, (long long)out->device_blocks_per_sm);
    return true;
}

bool facts_gather(struct kernel_facts *out, const struct lab_kernel *kernel,
                  const struct build_target *target, const struct audit *audit,
                  const struct run_launch_result *device, char problem[300])
{
    if (!gather(out, kernel, target, &target->image, device, problem))
        return false;
    out->blamed = audit_blames(audit, out->function);
    return true;
}

bool facts_gather_image(struct kernel_facts *out, const struct lab_kernel *kernel,
                        const struct build_target *target, const struct build_image *image,
                        char problem[300])
{
    return gather(out, kernel, target, image, NULL, problem);
}

struct traffic_direction facts_spill_traffic(const struct kernel_facts *facts, uint64_t threads)
{
    const struct cubin_kernel *machine = facts->machine;
    struct traffic_direction traffic = {0};
    if (machine == NULL || !machine->spills_known)
        return traffic;
    bool none = machine->spill_load_instructions == 0 && machine->spill_store_instructions == 0;
    if (!none && machine->straight_line != CUBIN_YES)
        return traffic;
    traffic.known = true;
    /* One request a 32-bit word and warp; a word of 32 lanes is four sectors, and only the sectors
     * that active lanes touch count: the last warp may have fewer. */
    uint64_t warps = (threads + 31) / 32, rest = threads % 32;
    uint64_t sectors = threads / 32 * 4 + (rest * 4 + 31) / 32;
    traffic.load.requests = (uint64_t)machine->spill_load_requests * warps;
    traffic.store.requests = (uint64_t)machine->spill_store_requests * warps;
    traffic.load.sectors = (uint64_t)machine->spill_load_bytes / 4 * sectors;
    traffic.store.sectors = (uint64_t)machine->spill_store_bytes / 4 * sectors;
    return traffic;
}

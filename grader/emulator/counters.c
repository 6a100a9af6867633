/* counters.c - what a launch did: how many instructions of which kind.
 *
 * Instructions are not counted one by one: each basic block knows what it holds, and how often a
 * group of lanes entered it. */
#include "emulator/lower.h"

const char *emulator_kind_name(enum emulator_kind kind)
{
    static const char *const names[] = {"integer", "float",    "double", "conversion",
                                        "load",    "store",    "atomic", "control",
                                        "barrier", "exchange", "other"};
    return names[kind];
}

enum emulator_kind counters_classify(const struct ptx_instruction *instruction)
{
    const struct opcode *known = instruction->known;
    if (known == NULL)
        return EMULATOR_OTHER;
    if (known->kind == EMULATOR_BARRIER && lower_has(instruction, "warp"))
        return EMULATOR_EXCHANGE;
    if (known->kind != EMULATOR_KIND_COUNT)
        return known->kind;
    const enum ptx_type type = lower_type(instruction);
    if (type == PTX_F64)
        return EMULATOR_DOUBLE;
    return ptx_type_is_float(type) ? EMULATOR_FLOAT : EMULATOR_INTEGER;
}

static void add(struct traffic_count *to, const struct traffic_count *from)
{
    to->requests += from->requests;
    to->sectors += from->sectors;
}

void counters_collect(struct emulator_counters *total, const struct runner *runner)
{
    const struct emulator_counters *own = &runner->counters;
    const struct kernel *kernel = runner->launch->kernel;
    for (size_t p = 0; p < kernel->program_count; ++p)
        for (size_t b = 0; b < kernel->programs[p].block_count; ++b) {
            const struct block *block = &kernel->programs[p].blocks[b];
            for (unsigned kind = 0; kind < EMULATOR_KIND_COUNT; ++kind)
                total->instructions[kind] += block->kinds[kind] * runner->block_runs[block->number];
        }
    total->lane_instructions += own->lane_instructions;
    total->branches += own->branches;
    total->divergent_branches += own->divergent_branches;
    total->barriers += own->barriers;
    total->shared_atomics += own->shared_atomics;
    add(&total->global_atomic, &own->global_atomic);
    add(&total->async_copy, &own->async_copy);
    add(&total->shared_load, &own->shared_load);
    add(&total->shared_store, &own->shared_store);
}

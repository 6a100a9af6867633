/* races.c - global memory that several blocks touch without order: a warning, not a fault.
 *
 * Blocks of one launch run in any order. For each 4-byte word of a region that the launch writes,
 * the last block to write it and the last to read it are kept; another block that comes by and one
 * of the two writing is a race. Left out: atomics, volatile and relaxed accesses, and everything
 * that a block does after a fence (membar.gl, fence), because that is how blocks are ordered.
 * Reads are noted once something has been written to the region. */
#include "emulator/machine.h"

#define SEVERAL UINT32_MAX

static uint32_t *shadow_of(_Atomic(uint32_t *) *slot, const struct region *region)
{
    uint32_t *shadow = atomic_load_explicit(slot, memory_order_acquire);
    if (shadow != NULL)
        return shadow;
    uint32_t *fresh = calloc(region->bytes / 4 + 2, sizeof *fresh);
    if (fresh == NULL || atomic_compare_exchange_strong(slot, &shadow, fresh))
        return fresh; /* without memory nothing is found */
    free(fresh);
    return shadow;
}

void races_forget(struct emulator *emulator)
{
    for (size_t i = 0; i < emulator->region_count; ++i) {
        free(atomic_exchange(&emulator->regions[i]->writers, NULL));
        free(atomic_exchange(&emulator->regions[i]->readers, NULL));
    }
}

static void report_race(struct warp *warp, const struct op *op, unsigned lane, uint64_t address,
                        unsigned bytes, const char *words, uint32_t other)
{
    char block[32] = "other blocks";
    struct fault_site site = {
        .op = op, .lane = lane, .address = address, .bytes = bytes, .space = PTX_GLOBAL};
    if (other != SEVERAL)
        (void)snprintf(block, sizeof block, "block number %u", other - 1);
    fault_report(warp, &site, "global memory race", true, "%s %s, and nothing says who comes first",
                 words, block);
}

void global_race(struct warp *warp, const struct op *op, unsigned lane, struct region *region,
                 uint64_t address, unsigned bytes, enum access_kind kind, bool same_value)
{
    struct runner *runner = warp->runner;
    if (runner->launch->blocks == 1 || runner->fenced || kind == ACCESS_ATOMIC ||
        runner->block_number >= SEVERAL - 1)
        return;
    const uint32_t me = (uint32_t)runner->block_number + 1;
    uint32_t *writers = kind == ACCESS_LOAD
                            ? atomic_load_explicit(&region->writers, memory_order_relaxed)
                            : shadow_of(&region->writers, region);
    if (writers == NULL)
        return;
    uint32_t *readers = shadow_of(&region->readers, region);
    if (readers == NULL)
        return;
    const uint64_t first = (address - region->base) / 4;
    const uint64_t last = (address - region->base + bytes - 1) / 4;
    /* Parts of a word belong to nobody in particular: bytes side by side are no race. */
    if (bytes < 4)
        return;
    for (uint64_t word = first; word <= last; ++word) {
        const uint32_t writer = __atomic_load_n(&writers[word], __ATOMIC_RELAXED);
        const uint32_t reader = __atomic_load_n(&readers[word], __ATOMIC_RELAXED);
        if (writer != 0 && writer != me && !(kind == ACCESS_STORE && same_value))
            report_race(warp, op, lane, address, bytes,
                        kind == ACCESS_LOAD ? "reads what was written by"
                                            : "writes what was also written by",
                        writer);
        else if (kind == ACCESS_STORE && reader != 0 && reader != me && !same_value)
            report_race(warp, op, lane, address, bytes, "writes what was read by", reader);
        if (kind == ACCESS_LOAD)
            __atomic_store_n(&readers[word], reader == 0 || reader == me ? me : SEVERAL,
                             __ATOMIC_RELAXED);
        else
            __atomic_store_n(&writers[word], me, __ATOMIC_RELAXED);
    }
}

/* Consecutive words of a full warp: false when something has to be looked at word by word. */
bool global_race_run(struct runner *runner, struct region *region, uint64_t address, bool is_store)
{
    if (runner->launch->blocks == 1 || runner->fenced || !runner->launch->checks)
        return true;
    uint32_t *writers = is_store ? shadow_of(&region->writers, region)
                                 : atomic_load_explicit(&region->writers, memory_order_relaxed);
    if (writers == NULL)
        return true;
    uint32_t *readers = shadow_of(&region->readers, region);
    if (readers == NULL)
        return true;
    const uint32_t me = (uint32_t)runner->block_number + 1;
    const uint64_t word = (address - region->base) / 4;
    uint32_t strange = 0;
    for (unsigned i = 0; i < LANES; ++i) {
        const uint32_t writer = writers[word + i], reader = readers[word + i];
        strange |= writer != 0 && writer != me;
        strange |= reader != 0 && reader != me; /* a store: race; a load: becomes "several" */
    }
    if (strange != 0)
        return false;
    uint32_t *notes = is_store ? writers : readers;
    for (unsigned i = 0; i < LANES; ++i)
        notes[word + i] = me;
    return true;
}

void races_fence(struct warp *warp, const struct op *op)
{
    (void)op;
    warp->runner->fenced = true;
}

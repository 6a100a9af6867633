/* races.c - global memory that several threads touch without order: a warning, not a fault.
 *
 * Blocks of one launch run in any order, and so do the warps of a block between two barriers. For
 * each 4-byte word of a region that the launch writes, the last thread to write it and the last to
 * read it are kept; when another one comes by without order, and one of the two writes, that is a
 * race. Left out: atomics, volatile and relaxed accesses, threads of one warp, and everything that
 * a block does after a fence (membar.gl, fence, an acquire or release), because that is how blocks
 * are ordered. Reads are noted once something has been written to the region.
 *
 * A note: the block + 1 << 32 | the block's barriers so far << 11 | several << 10 | the thread. */
#include "emulator/machine.h"

#define THREAD UINT64_C(0x3FF)
#define SEVERAL (UINT64_C(1) << 10) /* readers of more than one warp */
#define EPOCH_SHIFT 11
#define SEVERAL_BLOCKS (UINT64_MAX << 32)

static uint64_t *shadow_of(struct runner *runner, _Atomic(uint64_t *) *slot,
                           const struct region *region)
{
    uint64_t *shadow = atomic_load_explicit(slot, memory_order_acquire);
    if (shadow != NULL)
        return shadow;
    uint64_t *fresh = calloc(region->bytes / 4 + 2, sizeof *fresh);
    if (fresh == NULL)
        atomic_store(&runner->launch->no_memory, true); /* nothing would be found */
    if (fresh == NULL || atomic_compare_exchange_strong(slot, &shadow, fresh))
        return fresh;
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

/* What this thread would note. */
static uint64_t note_of(const struct runner *runner, unsigned thread)
{
    const uint64_t epoch = runner->global_epoch & (UINT32_MAX >> EPOCH_SHIFT);
    return (runner->block_number + 1) << 32 | epoch << EPOCH_SHIFT | thread;
}

/* Nothing orders what `note` says before what `mine` would. */
static bool conflicts(uint64_t note, uint64_t mine)
{
    const uint64_t difference = note ^ mine;
    if (note == 0)
        return false;
    if (difference >> 32 != 0)
        return true;
    return (uint32_t)difference >> EPOCH_SHIFT == 0 &&
           ((note & SEVERAL) != 0 || (difference & THREAD) / LANES != 0);
}

static void report_race(struct warp *warp, const struct op *op, unsigned lane, uint64_t address,
                        unsigned bytes, const char *words, uint64_t note, uint64_t mine)
{
    char who[48];
    struct fault_site site = {
        .op = op, .lane = lane, .address = address, .bytes = bytes, .space = PTX_GLOBAL};
    if (note >> 32 == mine >> 32)
        (void)snprintf(who, sizeof who, "thread %u of the same block", (unsigned)(note & THREAD));
    else if (note >> 32 == SEVERAL_BLOCKS >> 32)
        (void)snprintf(who, sizeof who, "other blocks");
    else
        (void)snprintf(who, sizeof who, "block number %u", (unsigned)(note >> 32) - 1);
    fault_report(warp, &site, "global memory race", true, "%s %s, and nothing says who comes first",
                 words, who);
}

static uint64_t with_reader(uint64_t note, uint64_t mine)
{
    const uint64_t difference = note ^ mine;
    if (note == 0)
        return mine;
    if (difference >> 32 != 0)
        return SEVERAL_BLOCKS;
    if ((uint32_t)difference >> EPOCH_SHIFT != 0)
        return mine;
    return (difference & THREAD) / LANES != 0 ? note | SEVERAL : note;
}

void global_race(struct warp *warp, const struct op *op, unsigned lane, struct region *region,
                 uint64_t address, unsigned bytes, enum access_kind kind, bool same_value)
{
    struct runner *runner = warp->runner;
    /* Parts of a word belong to nobody in particular: bytes side by side are no race. */
    if (bytes < 4 || runner->fenced || kind == ACCESS_ATOMIC ||
        runner->block_number >= UINT32_MAX - 1)
        return;
    uint64_t *writers = kind == ACCESS_LOAD
                            ? atomic_load_explicit(&region->writers, memory_order_relaxed)
                            : shadow_of(runner, &region->writers, region);
    if (writers == NULL)
        return;
    uint64_t *readers = shadow_of(runner, &region->readers, region);
    if (readers == NULL)
        return;
    const uint64_t mine = note_of(runner, warp->number * LANES + lane);
    const bool changes = kind == ACCESS_STORE && !same_value;
    const uint64_t first = (address - region->base) / 4;
    const uint64_t last = (address - region->base + bytes - 1) / 4;
    for (uint64_t word = first; word <= last; ++word) {
        const uint64_t writer = __atomic_load_n(&writers[word], __ATOMIC_RELAXED);
        const uint64_t reader = __atomic_load_n(&readers[word], __ATOMIC_RELAXED);
        if ((kind == ACCESS_LOAD || changes) && conflicts(writer, mine))
            report_race(warp, op, lane, address, bytes,
                        kind == ACCESS_LOAD ? "reads what was written by"
                                            : "writes what was also written by",
                        writer, mine);
        else if (changes && conflicts(reader, mine))
            report_race(warp, op, lane, address, bytes, "writes what was read by", reader, mine);
        if (kind == ACCESS_LOAD)
            __atomic_store_n(&readers[word], with_reader(reader, mine), __ATOMIC_RELAXED);
        else
            __atomic_store_n(&writers[word], mine, __ATOMIC_RELAXED);
    }
}

/* Consecutive words of a full warp: false when something has to be looked at word by word.
 *
 * Other threads of the host read and write the same notes. A note is eight aligned bytes, which the
 * machines we run on move as one, and of two notes of one moment either will do; as relaxed atomics
 * the loops would not be vectorised. So ThreadSanitizer is told to look away here. */
__attribute__((no_sanitize("thread"))) bool
global_race_run(struct warp *warp, struct region *region, uint64_t address, bool is_store)
{
    struct runner *runner = warp->runner;
    if (runner->fenced || !runner->launch->checks)
        return true;
    uint64_t *writers = is_store ? shadow_of(runner, &region->writers, region)
                                 : atomic_load_explicit(&region->writers, memory_order_relaxed);
    if (writers == NULL)
        return true;
    uint64_t *readers = shadow_of(runner, &region->readers, region);
    if (readers == NULL)
        return true;
    const uint64_t mine = note_of(runner, warp->number * LANES);
    const uint64_t word = (address - region->base) / 4;
    /* Nobody, or this warp itself: whether now or before a barrier makes no difference. */
    const uint64_t who = ~(UINT64_C(31) | (uint64_t)UINT32_MAX >> EPOCH_SHIFT << EPOCH_SHIFT);
    uint64_t strange = 0;
    for (unsigned i = 0; i < LANES; ++i) {
        const uint64_t writer = writers[word + i], reader = readers[word + i];
        strange |= writer == 0 ? 0 : (writer ^ mine) & who;
        strange |= reader == 0 ? 0 : (reader ^ mine) & who;
    }
    if (strange != 0)
        return false;
    uint64_t *notes = is_store ? writers : readers;
    for (unsigned i = 0; i < LANES; ++i)
        notes[word + i] = mine + i;
    return true;
}

void races_fence(struct warp *warp, const struct op *op)
{
    if (op->imm == 0) /* of more than the block */
        warp->runner->fenced = true;
    shared_acquire(warp, 0);
}

/* shared.c - shared memory: which bytes were written, who touched them, and its 32 banks.
 *
 * Races. For each unit (a 4-byte word, or a byte in kernels that access less than a word) the last
 * writer and the last reader are kept, with the epoch in which they came: an epoch ends when a
 * barrier of the block opens. Two threads that touch a unit in the same epoch, one of them writing,
 * race; threads of one warp do not if their warp exchanged something in between (sync_epoch), and
 * atomics do not race with one another. Writing the value that is there already is no race, and
 * volatile or relaxed accesses are how programs synchronise by hand: they are left out.
 *
 * Banks. Word w lies in bank w % 32. A request takes as many wavefronts as the busiest bank has
 * different words; 64- and 128-bit accesses go in groups of 16 and 8 lanes. */
#include "emulator/machine.h"

/* ---- Known bytes: the low four bits of one byte a word ----------------------------------------
 */

bool shared_is_known(const struct runner *runner, uint64_t address, unsigned bytes)
{
    for (uint64_t at = address; at < address + bytes; ++at)
        if ((runner->shared_known[at / 4] >> at % 4 & 1) == 0)
            return false;
    return true;
}

void shared_set_known(struct runner *runner, uint64_t address, unsigned bytes)
{
    for (uint64_t at = address; at < address + bytes; ++at)
        runner->shared_known[at / 4] |= (uint8_t)(1u << at % 4);
}

/* ---- Races ------------------------------------------------------------------------------------
 */

#define OTHER_LANES SHARED_MANY_LANES
#define OTHER_WARPS SHARED_MANY_WARPS

static uint32_t source_line(const struct op *op)
{
    const struct ptx_instruction *instruction = op->instruction;
    if (instruction == NULL)
        return 0;
    return instruction->location != NULL ? instruction->location->line : instruction->line;
}

/* True when what is noted happened in this epoch, by another thread, unordered. */
static bool conflicts(const struct warp *warp, uint32_t note, uint64_t information, unsigned thread)
{
    if ((note ^ warp->runner->shared_tag) >> SHARED_EPOCH_SHIFT != 0)
        return false;
    const unsigned other = note & SHARED_THREAD;
    if ((note & (OTHER_LANES | OTHER_WARPS)) == 0 && other == thread)
        return false;
    if ((note & OTHER_WARPS) == 0 && other / LANES == thread / LANES)
        return information >> 32 == warp->sync_epoch;
    return true;
}

static void report_race(struct warp *warp, const struct op *op, unsigned lane, uint64_t address,
                        unsigned bytes, const char *words, uint32_t note, uint64_t information)
{
    struct fault_site site = {
        .op = op, .lane = lane, .address = address, .bytes = bytes, .space = PTX_SHARED};
    fault_report(warp, &site, "shared memory race", false,
                 "%s thread %u of the block (line %u) without a barrier between", words,
                 note & SHARED_THREAD, (unsigned)(information & UINT32_MAX));
}

static void note_read(struct warp *warp, size_t unit, unsigned thread, uint64_t information)
{
    struct shared_shadow *shadow = &warp->runner->shadow;
    uint32_t note = shadow->reads[unit];
    const uint32_t mine = warp->runner->shared_tag | thread;
    if ((note ^ mine) >> SHARED_EPOCH_SHIFT != 0)
        note = mine;
    else if ((note & SHARED_THREAD) / LANES != thread / LANES)
        note |= OTHER_WARPS;
    else if ((note & SHARED_THREAD) != thread)
        note |= OTHER_LANES;
    shadow->reads[unit] = note;
    shadow->read_information[unit] = information;
}

void shared_race(struct warp *warp, const struct op *op, unsigned lane, uint64_t address,
                 unsigned bytes, enum access_kind kind, bool same_value)
{
    struct shared_shadow *shadow = &warp->runner->shadow;
    const unsigned thread = warp->number * LANES + lane;
    const uint64_t information = (uint64_t)warp->sync_epoch << 32 | source_line(op);
    const unsigned unit_bytes = shadow->unit_bytes;
    for (uint64_t unit = address / unit_bytes; unit <= (address + bytes - 1) / unit_bytes; ++unit) {
        const uint32_t write = shadow->writes[unit], read = shadow->reads[unit];
        const bool both_atomic = kind == ACCESS_ATOMIC && (write & SHARED_ATOMIC) != 0;
        if (!both_atomic && !(kind == ACCESS_STORE && same_value) &&
            conflicts(warp, write, shadow->write_information[unit], thread))
            report_race(warp, op, lane, address, bytes,
                        kind == ACCESS_LOAD ? "reads what was written by"
                                            : "writes what was also written by",
                        write, shadow->write_information[unit]);
        else if (kind != ACCESS_LOAD && !both_atomic && !same_value &&
                 conflicts(warp, read, shadow->read_information[unit], thread))
            report_race(warp, op, lane, address, bytes, "writes what was read by", read,
                        shadow->read_information[unit]);
        if (kind == ACCESS_LOAD) {
            note_read(warp, unit, thread, information);
        } else {
            shadow->writes[unit] =
                warp->runner->shared_tag | thread | (kind == ACCESS_ATOMIC ? SHARED_ATOMIC : 0);
            shadow->write_information[unit] = information;
        }
    }
}

/* What came before a barrier is ordered with what comes after it. */
void shared_next_epoch(struct runner *runner)
{
    runner->shared_tag += UINT32_C(1) << SHARED_EPOCH_SHIFT;
    if (runner->shared_tag != 0 || runner->shadow.units == 0)
        return;
    memset(runner->shadow.writes, 0, runner->shadow.units * sizeof(uint32_t));
    memset(runner->shadow.reads, 0, runner->shadow.units * sizeof(uint32_t));
    runner->shared_tag = UINT32_C(1) << SHARED_EPOCH_SHIFT;
}

int shared_prepare(struct runner *runner, uint32_t bytes, bool by_byte)
{
    struct shared_shadow *shadow = &runner->shadow;
    runner->shared_tag = UINT32_C(1) << SHARED_EPOCH_SHIFT;
    if (bytes == 0)
        return 0;
    shadow->unit_bytes = by_byte ? 1 : 4;
    shadow->units = bytes / shadow->unit_bytes + 16;
    runner->shared = calloc(1, bytes + 64u);
    runner->shared_known = calloc(1, bytes / 4 + 64u);
    shadow->writes = calloc(shadow->units, sizeof(uint32_t));
    shadow->reads = calloc(shadow->units, sizeof(uint32_t));
    shadow->write_information = calloc(shadow->units, sizeof(uint64_t));
    shadow->read_information = calloc(shadow->units, sizeof(uint64_t));
    return runner->shared == NULL || runner->shared_known == NULL || shadow->writes == NULL ||
                   shadow->reads == NULL || shadow->write_information == NULL ||
                   shadow->read_information == NULL
               ? -1
               : 0;
}

void shared_release(struct runner *runner)
{
    free(runner->shared);
    free(runner->shared_known);
    free(runner->shadow.writes);
    free(runner->shadow.reads);
    free(runner->shadow.write_information);
    free(runner->shadow.read_information);
}

/* ---- Banks ------------------------------------------------------------------------------------
 */

/* The most different words that one bank has to give to these lanes. */
static unsigned busiest_bank(const struct touched *touched, unsigned first, unsigned last,
                             unsigned words)
{
    uint64_t seen[LANES][LANES]; /* per bank: the different words so far */
    uint8_t used[LANES] = {0};
    unsigned most = 1;
    for (unsigned i = first; i < last; ++i)
        for (unsigned w = 0; w < words; ++w) {
            const uint64_t word = touched->address[i] / 4 + w;
            const unsigned bank = word % LANES;
            unsigned k = 0;
            while (k < used[bank] && seen[bank][k] != word)
                ++k;
            if (k == used[bank] && k < LANES) {
                seen[bank][used[bank]++] = word;
                most = used[bank] > most ? used[bank] : most;
            }
        }
    return most;
}

/* Lanes of a 64- or 128-bit access are served in groups, as many as fill the 32 banks. */
unsigned shared_wavefronts(const struct touched *touched, unsigned bytes)
{
    const unsigned words = bytes < 4 ? 1 : bytes / 4;
    const unsigned lanes = words > 4 ? LANES / 4 : LANES / words;
    unsigned total = 0;
    for (unsigned first = 0; first < touched->count;) {
        unsigned last = first;
        const unsigned group = touched->lane[first] / lanes;
        while (last < touched->count && touched->lane[last] / lanes == group)
            ++last;
        total += busiest_bank(touched, first, last, words);
        first = last;
    }
    return total;
}

void shared_count(struct warp *warp, const struct touched *touched, unsigned bytes, bool is_store)
{
    if (touched->count == 0)
        return;
    struct emulator_counters *counters = &warp->runner->counters;
    struct traffic_count *count = is_store ? &counters->shared_store : &counters->shared_load;
    const unsigned wavefronts = shared_wavefronts(touched, bytes);
    count->requests += 1;
    count->sectors += wavefronts;
}

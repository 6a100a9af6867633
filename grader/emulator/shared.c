/* shared.c - shared memory: which bytes were written, who touched them, and its 32 banks.
 *
 * Races. For each unit (a 4-byte word, or a byte in kernels that access less than a word) the last
 * writer and the last reader are kept, with the epoch in which they came. A barrier of the whole
 * block begins a new epoch, and everything before is ordered. What orders only some warps (a
 * barrier of a part, an mbarrier, a fence) begins one too, but then a matrix says which epochs of
 * each warp are over for each other. Two threads that touch a unit without order, one of them
 * writing, race; threads of one warp do not if their warp exchanged something in between
 * (sync_epoch), and atomics do not race with one another. Writing the value that is there already
 * is no race. volatile accesses may be how a program synchronises by hand: among them it is only a
 * warning.
 *
 * Banks. Word w lies in bank w % 32. A request takes as many wavefronts as the busiest bank has
 * different words; 64- and 128-bit accesses go in groups of 16 and 8 lanes. Two groups of a load go
 * as one where lanes share what they load: if in the whole warp each two lanes whose numbers
 * differ in the lowest bit only load the same, or one of them nothing; or if that holds for the
 * bit above it. So a word for all costs half of the groups. Found with tests/truth/turns.c on an
 * H200. */
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

/* ---- Order ------------------------------------------------------------------------------------
 */

static uint32_t epoch_now(const struct runner *runner)
{
    return runner->shared_tag >> SHARED_EPOCH_SHIFT;
}

static void begin_epoch(struct runner *runner)
{
    runner->shared_tag += UINT32_C(1) << SHARED_EPOCH_SHIFT;
    if (runner->shared_tag != 0)
        return;
    /* The numbers are used up: forget what was noted under them. */
    runner->shared_tag = UINT32_C(1) << SHARED_EPOCH_SHIFT;
    runner->shared_parts = false;
    if (runner->shadow.units == 0)
        return;
    memset(runner->shadow.writes, 0, runner->shadow.units * sizeof(uint32_t));
    memset(runner->shadow.reads, 0, runner->shadow.units * sizeof(uint32_t));
}

/* All warps have met: what came before is over for everybody. */
void shared_meet_all(struct runner *runner)
{
    begin_epoch(runner);
    runner->shared_parts = false;
}

/* From here on, not all warps know the same. */
static void begin_parts(struct runner *runner)
{
    if (runner->shared_parts)
        return;
    runner->shared_parts = true;
    const uint32_t now = epoch_now(runner);
    for (unsigned a = 0; a < runner->warp_count; ++a)
        for (unsigned b = 0; b < runner->warp_count; ++b)
            runner->order[a][b] = now;
    memset(runner->arrivals, 0, sizeof runner->arrivals);
}

/* bar.arrive: what the warp did so far will be over for those who wait at the barrier. */
void shared_arrive(struct runner *runner, unsigned barrier, unsigned warp)
{
    begin_parts(runner);
    runner->arrivals[barrier][warp] = epoch_now(runner) + 1;
    begin_epoch(runner);
}

/* A barrier of some warps opens (a bit each): they know of one another, and of what each knew. */
void shared_meet(struct runner *runner, unsigned barrier, uint32_t warps)
{
    begin_parts(runner);
    const uint32_t next = epoch_now(runner) + 1;
    uint32_t joined[CAP_BLOCK_THREADS / LANES] = {0};
    for (unsigned w = 0; w < runner->warp_count; ++w) {
        uint32_t *arrival = &runner->arrivals[barrier][w];
        const bool waits = (warps >> w & 1) != 0;
        for (unsigned x = 0; x < runner->warp_count && (waits || *arrival != 0); ++x)
            if (runner->order[w][x] > joined[x])
                joined[x] = runner->order[w][x];
        const uint32_t own = waits ? next : *arrival;
        joined[w] = own > joined[w] ? own : joined[w];
        *arrival = 0;
    }
    for (uint32_t left = warps; left != 0; left &= left - 1)
        memcpy(runner->order[__builtin_ctz(left)], joined, sizeof joined);
    begin_epoch(runner);
}

/* A fence, or a wait that ended: what came before `epoch` is over for the warp; 0: everything. */
void shared_acquire(struct warp *warp, uint32_t epoch)
{
    struct runner *runner = warp->runner;
    begin_parts(runner);
    const uint32_t until = epoch != 0 ? epoch : epoch_now(runner) + 1;
    for (unsigned x = 0; x < runner->warp_count; ++x)
        if (runner->order[warp->number][x] < until)
            runner->order[warp->number][x] = until;
    if (epoch == 0)
        begin_epoch(runner);
}

/* The end of an mbarrier's phase: what came before is over for whoever waits for it. */
uint32_t shared_release(struct runner *runner)
{
    begin_parts(runner);
    begin_epoch(runner);
    return epoch_now(runner);
}

/* ---- Races ------------------------------------------------------------------------------------
 */

/* True when what is noted was done by another thread, and nothing orders it before this. */
static bool conflicts(const struct warp *warp, uint32_t note, uint64_t information, unsigned thread)
{
    const struct runner *runner = warp->runner;
    const unsigned other = note & SHARED_THREAD;
    const uint32_t epoch = note >> SHARED_EPOCH_SHIFT;
    if (runner->shared_parts ? epoch < runner->order[warp->number][other / LANES]
                             : epoch != epoch_now(runner))
        return false;
    if ((note & SHARED_ASYNC) != 0)
        return true;
    if ((note & (SHARED_MANY_LANES | SHARED_MANY_WARPS)) == 0 && other == thread)
        return false;
    if ((note & SHARED_MANY_WARPS) == 0 && other / LANES == thread / LANES)
        return information >> 32 == warp->sync_epoch;
    return true;
}

static void report_race(struct warp *warp, const struct op *op, const struct shared_touch *touch,
                        const char *words, uint32_t note, uint64_t information)
{
    struct fault_site site = {.op = op,
                              .lane = touch->lane,
                              .address = touch->address,
                              .bytes = touch->bytes,
                              .space = PTX_SHARED};
    const bool warning = touch->is_volatile && (note & SHARED_VOLATILE) != 0;
    const unsigned line = (unsigned)(information & UINT32_MAX);
    if ((note & SHARED_ASYNC) != 0)
        fault_report(warp, &site, "shared memory race", false,
                     "%s a cp.async of thread %u of the block (line %u) that nobody has waited for",
                     touch->kind == ACCESS_LOAD ? "reads what is written by"
                                                : "writes what is also written by",
                     note & SHARED_THREAD, line);
    else
        fault_report(warp, &site, "shared memory race", warning,
                     "%s thread %u of the block (line %u) without a barrier between", words,
                     note & SHARED_THREAD, line);
}

static void note_read(struct warp *warp, size_t unit, unsigned thread, uint64_t information,
                      uint32_t flags)
{
    struct shared_shadow *shadow = &warp->runner->shadow;
    uint32_t note = shadow->reads[unit];
    const uint32_t mine = warp->runner->shared_tag | thread | flags;
    if ((note ^ mine) >> SHARED_EPOCH_SHIFT != 0)
        note = mine;
    else if ((note & SHARED_THREAD) / LANES != thread / LANES)
        note |= SHARED_MANY_WARPS;
    else if ((note & SHARED_THREAD) != thread)
        note |= SHARED_MANY_LANES;
    shadow->reads[unit] = flags != 0 ? note : note & ~SHARED_VOLATILE;
    shadow->read_information[unit] = information;
}

void shared_race(struct warp *warp, const struct op *op, const struct shared_touch *touch)
{
    struct shared_shadow *shadow = &warp->runner->shadow;
    const enum access_kind kind = touch->kind;
    const unsigned thread = warp->number * LANES + touch->lane;
    const uint64_t information = (uint64_t)warp->sync_epoch << 32 | fault_line(op->instruction);
    const unsigned unit_bytes = shadow->unit_bytes;
    const uint32_t flags = (kind == ACCESS_ATOMIC ? SHARED_ATOMIC : 0) |
                           (touch->is_volatile ? SHARED_VOLATILE : 0) |
                           (touch->is_async ? SHARED_ASYNC : 0);
    const uint64_t last = (touch->address + touch->bytes - 1) / unit_bytes;
    for (uint64_t unit = touch->address / unit_bytes; unit <= last; ++unit) {
        const uint32_t write = shadow->writes[unit], read = shadow->reads[unit];
        const bool both_atomic = kind == ACCESS_ATOMIC && (write & SHARED_ATOMIC) != 0;
        const bool changes = kind != ACCESS_LOAD && !touch->same_value;
        if (!both_atomic && (kind != ACCESS_STORE || changes) &&
            conflicts(warp, write, shadow->write_information[unit], thread))
            report_race(warp, op, touch,
                        kind == ACCESS_LOAD ? "reads what was written by"
                                            : "writes what was also written by",
                        write, shadow->write_information[unit]);
        else if (changes && !both_atomic &&
                 conflicts(warp, read, shadow->read_information[unit], thread))
            report_race(warp, op, touch, "writes what was read by", read,
                        shadow->read_information[unit]);
        if (kind == ACCESS_LOAD) {
            note_read(warp, unit, thread, information, flags);
        } else {
            shadow->writes[unit] = warp->runner->shared_tag | thread | flags;
            shadow->write_information[unit] = information;
        }
    }
}

/* A cp.async was waited for by its thread: from now on it is a write like any other. */
void shared_copied(struct warp *warp, unsigned lane, uint64_t address, unsigned bytes)
{
    struct shared_shadow *shadow = &warp->runner->shadow;
    const unsigned thread = warp->number * LANES + lane;
    const uint64_t last = (address + bytes - 1) / shadow->unit_bytes;
    for (uint64_t unit = address / shadow->unit_bytes; unit <= last; ++unit) {
        const uint32_t note = shadow->writes[unit];
        if ((note & SHARED_ASYNC) == 0 || (note & SHARED_THREAD) != thread)
            continue; /* somebody wrote it since */
        shadow->writes[unit] = warp->runner->shared_tag | thread;
        shadow->write_information[unit] =
            (uint64_t)warp->sync_epoch << 32 | (shadow->write_information[unit] & UINT32_MAX);
    }
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

void shared_free(struct runner *runner)
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

/* Each two lanes of the access whose numbers differ in that bit only have the same address. */
static bool is_shared_by(const struct touched *touched, unsigned bit)
{
    uint64_t address[LANES];
    uint32_t lanes = 0;
    for (unsigned i = 0; i < touched->count; ++i) {
        const unsigned lane = touched->lane[i], other = lane ^ bit;
        if ((lanes >> other & 1) != 0 && address[other] != touched->address[i])
            return false;
        address[lane] = touched->address[i];
        lanes |= UINT32_C(1) << lane;
    }
    return true;
}

/* Lanes of a 64- or 128-bit access are served in groups, as many as fill the 32 banks. */
unsigned shared_wavefronts(const struct touched *touched, unsigned bytes, bool is_store)
{
    const unsigned words = bytes < 4 ? 1 : bytes / 4;
    unsigned lanes = words > 4 ? LANES / 4 : LANES / words;
    unsigned total = 0;
    if (words > 1 && !is_store && (is_shared_by(touched, 1) || is_shared_by(touched, 2)))
        lanes *= 2;
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
    count->requests += 1;
    count->sectors += shared_wavefronts(touched, bytes, is_store);
}

/* traffic.c - requests and sectors, as the profiler's L1 counters have them (traffic.h).
 *
 * Global: one request an instruction, whatever its width, and as many sectors as there are
 * different 32-byte pieces under the active lanes. Local memory is interleaved: the 32 lanes' words
 * of one 4-byte place in the frame lie side by side, eight lanes to a sector; an access of n words
 * makes n requests. Equal to Nsight Compute on an H200 (tests/fixtures/ptx/h200.tsv). */
#include "emulator/machine.h"

#define SECTOR 32

/* How many different numbers are in the list. */
static unsigned count_different(const uint64_t *list, unsigned count)
{
    unsigned different = 0;
    uint64_t seen[2 * LANES];
    for (unsigned i = 0; i < count; ++i) {
        unsigned k = different;
        while (k > 0 && seen[k - 1] != list[i])
            --k;
        if (k == 0)
            seen[different++] = list[i];
    }
    return different;
}

void traffic_count_global(struct traffic_count *count, const struct touched *touched,
                          unsigned bytes)
{
    if (touched->count == 0)
        return;
    uint64_t sectors[2 * LANES];
    unsigned used = 0;
    for (unsigned i = 0; i < touched->count; ++i) {
        uint64_t first = touched->address[i] / SECTOR;
        uint64_t last = (touched->address[i] + bytes - 1) / SECTOR;
        sectors[used++] = first;
        if (last != first)
            sectors[used++] = last;
    }
    count->requests += 1;
    count->sectors += count_different(sectors, used);
}

void traffic_count_local(struct traffic_count *count, const struct touched *touched, unsigned bytes)
{
    if (touched->count == 0)
        return;
    const unsigned words = bytes < 4 ? 1 : bytes / 4;
    for (unsigned w = 0; w < words; ++w) {
        uint64_t sectors[LANES];
        for (unsigned i = 0; i < touched->count; ++i)
            sectors[i] = (touched->address[i] / 4 + w) * 4 + touched->lane[i] / 8;
        count->requests += 1;
        count->sectors += count_different(sectors, touched->count);
    }
}

/* Lanes that meet at one word take turns: the first turn takes one lane of each word, the next one
 * of what is left, and each turn touches its sectors anew. */
void traffic_count_atomic(struct traffic_count *count, const struct touched *touched,
                          unsigned bytes)
{
    if (touched->count == 0)
        return;
    const unsigned unit = bytes < 4 ? 4 : bytes;
    uint32_t left = touched->count == LANES ? FULL_MASK : (UINT32_C(1) << touched->count) - 1;
    count->requests += 1;
    while (left != 0) {
        uint64_t words[LANES], sectors[LANES];
        unsigned taken = 0;
        for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
            const unsigned i = (unsigned)__builtin_ctz(rest);
            const uint64_t word = touched->address[i] / unit;
            unsigned k = taken;
            while (k > 0 && words[k - 1] != word)
                --k;
            if (k != 0)
                continue;
            words[taken] = word;
            sectors[taken++] = touched->address[i] / SECTOR;
            left &= ~(UINT32_C(1) << i);
        }
        count->sectors += count_different(sectors, taken);
    }
}

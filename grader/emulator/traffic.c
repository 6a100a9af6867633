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

/* Atomics. The 128-byte lines of memory are dealt out to four banks; which one a line goes to is a
 * parity of bits of its number each (`bank_of`). A turn takes one line of each bank: that of the
 * bank's first lane that is left. (Of compare-and-swap, which takes two operands, one half of the
 * lines comes after the other.) In each bank every column of a line (a word as wide as the
 * access, at least 4 bytes) serves one lane, the first that wants it: if that lane is of another
 * line it waits, and all behind it at that column of that bank with it. So lanes that meet at one
 * word come one by one, and each turn touches its sectors anew. Found with tests/truth/turns.c on
 * an H200, all of whose sectors are counted so. Bits 7 to 20 of an address are sure, those above
 * may be of the physical page. */
#define LINE 128
#define BANKS 4

static unsigned bank_of(uint64_t line)
{
    return (unsigned)__builtin_parityll(line & 0x14b7ab5) |
           (unsigned)__builtin_parityll(line & 0xbed5da) << 1;
}

/* The turns of these of the touched places, a bit each; how many sectors they touch. */
static unsigned sectors_by_turns(const struct touched *touched, uint32_t left, unsigned unit)
{
    unsigned total = 0;
    while (left != 0) {
        uint64_t line_of[BANKS] = {0};
        uint32_t asked[BANKS] = {0};     /* columns that a lane has come to */
        unsigned sectors = 0, lines = 0; /* a bit each: four of a bank; a bank that has its line */
        for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
            const unsigned i = (unsigned)__builtin_ctz(rest);
            const uint64_t line = touched->address[i] / LINE;
            const unsigned place = (unsigned)(touched->address[i] % LINE);
            const unsigned bank = bank_of(line);
            const uint32_t column = UINT32_C(1) << place / unit;
            if ((lines >> bank & 1) == 0) {
                lines |= 1u << bank;
                line_of[bank] = line;
            }
            if ((asked[bank] & column) != 0)
                continue;
            asked[bank] |= column;
            if (line_of[bank] != line)
                continue;
            sectors |= 1u << (4 * bank + place / SECTOR);
            left &= ~(UINT32_C(1) << i);
        }
        total += (unsigned)__builtin_popcount(sectors);
    }
    return total;
}

void traffic_count_atomic(struct traffic_count *count, const struct touched *touched,
                          unsigned bytes, bool is_cas)
{
    if (touched->count == 0)
        return;
    const unsigned unit = bytes < 4 ? 4 : bytes;
    uint32_t halves[2] = {0};
    for (unsigned i = 0; i < touched->count && i < LANES; ++i)
        halves[is_cas ? touched->address[i] / (LINE / 2) % 2 : 0] |= UINT32_C(1) << i;
    count->requests += 1;
    count->sectors +=
        sectors_by_turns(touched, halves[0], unit) + sectors_by_turns(touched, halves[1], unit);
}

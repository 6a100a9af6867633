/* memory.c - regions of the device's address space, and which of their bytes are known.
 *
 * Buffers and module variables get addresses 256 KiB apart or more, so that an access a little off
 * hits nothing. Large ones begin at multiples of their size, up to 2 MiB, where a program's first
 * buffer lies as well: how atomics take turns depends on it (traffic.c). Which bytes were written
 * is one bit each. Blocks run on several threads: a byte of the bit map that is only partly covered
 * is set atomically, a whole one by a plain store (its final value, whoever writes it). */
#include "emulator/machine.h"

#define GAP ((uint64_t)256 << 10)
#define ALIGNED_MAX ((uint64_t)2 << 20)

struct region *memory_find(const struct emulator *emulator, uint64_t address)
{
    size_t low = 0, high = emulator->region_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (emulator->regions[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : emulator->regions[low - 1];
}

struct region *memory_add(struct emulator *emulator, uint64_t bytes, enum region_kind kind,
                          const char *label, bool known)
{
    if (emulator->module->address_bytes == 4 &&
        bytes + 2 * GAP > LAST_ADDRESS_32 - emulator->next_address)
        return NULL;
    if (emulator->region_count == emulator->region_capacity) {
        size_t capacity = emulator->region_capacity == 0 ? 16 : emulator->region_capacity * 2;
        struct region **list = realloc(emulator->regions, capacity * sizeof(struct region *));
        if (list == NULL)
            return NULL;
        emulator->regions = list;
        emulator->region_capacity = capacity;
    }
    struct region *region = calloc(1, sizeof *region);
    /* Room past the end lets whole words of the bit map be read at the edge. */
    uint8_t *data = calloc(1, bytes + 64);
    uint8_t *bits = known ? NULL : calloc(1, bytes / 8 + 64);
    if (region == NULL || data == NULL || (!known && bits == NULL)) {
        free(region);
        free(data);
        free(bits);
        return NULL;
    }
    uint64_t aligned = GAP;
    while (aligned < bytes && aligned < ALIGNED_MAX && emulator->module->address_bytes == 8)
        aligned *= 2;
    emulator->next_address = (emulator->next_address + aligned - 1) & ~(aligned - 1);
    *region = (struct region){.base = emulator->next_address,
                              .bytes = bytes,
                              .data = data,
                              .known = bits,
                              .all_known = known,
                              .kind = kind};
    (void)snprintf(region->label, sizeof region->label, "%s", label);
    emulator->next_address += (bytes + 2 * GAP - 1) & ~(GAP - 1);
    emulator->regions[emulator->region_count++] = region; /* addresses only rise */
    return region;
}

bool known_test(const uint8_t *bits, uint64_t first, uint64_t count)
{
    const uint8_t *byte = bits + first / 8;
    unsigned skipped = (unsigned)(first % 8);
    while (count > 0) {
        uint64_t eight;
        memcpy(&eight, byte, sizeof eight);
        unsigned taken = 64 - skipped;
        if (taken > count)
            taken = (unsigned)count;
        uint64_t wanted = (taken == 64 ? UINT64_MAX : (UINT64_C(1) << taken) - 1) << skipped;
        if ((eight & wanted) != wanted)
            return false;
        count -= taken;
        skipped = 0;
        byte += 8;
    }
    return true;
}

static void set_partly(uint8_t *byte, uint8_t bits)
{
    if ((__atomic_load_n(byte, __ATOMIC_RELAXED) & bits) != bits)
        (void)__atomic_fetch_or(byte, bits, __ATOMIC_RELAXED);
}

void known_set(uint8_t *bits, uint64_t first, uint64_t count)
{
    uint8_t *byte = bits + first / 8;
    unsigned skipped = (unsigned)(first % 8);
    if (skipped != 0) {
        unsigned taken = count < 8 - skipped ? (unsigned)count : 8 - skipped;
        set_partly(byte++, (uint8_t)(((1u << taken) - 1) << skipped));
        count -= taken;
    }
    memset(byte, 0xFF, count / 8);
    if (count % 8 != 0)
        set_partly(byte + count / 8, (uint8_t)((1u << count % 8) - 1));
}

void known_clear(uint8_t *bits, uint64_t first, uint64_t count)
{
    for (; count > 0 && (first % 8 != 0 || count < 8); ++first, --count)
        (void)__atomic_fetch_and(bits + first / 8, (uint8_t) ~(1u << first % 8), __ATOMIC_RELAXED);
    memset(bits + first / 8, 0, count / 8);
    for (first += count & ~UINT64_C(7), count %= 8; count > 0; ++first, --count)
        (void)__atomic_fetch_and(bits + first / 8, (uint8_t) ~(1u << first % 8), __ATOMIC_RELAXED);
}

#if defined(__SANITIZE_THREAD__)
/* A kernel whose threads race makes the emulator's threads race for the same bytes, which is what
 * it asked for; the emulator says so itself (races.c). */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:access_store\nrace:access_load\nrace:store_run\nrace:load_run\n";
}
#endif

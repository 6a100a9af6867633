/* fault_meant.c - which memory an access meant that hit none.
 *
 * An index that is too small leads out of an array at its beginning, and what the machine makes of
 * it does not look like that: a negative number in an unsigned address; a generic address that is
 * in no window any more, or in that of the space before; and an unsigned index, which cannot be
 * negative, is 2^32 elements too high. Each is taken for what it looks like only if that leads to
 * within 64 KiB of memory that there is. */
#include "emulator/machine.h"

#define REACH (UINT64_C(64) << 10)
/* The greatest buffer that 2^32 bytes more lead clearly out of, and how far away everything must be
 * for an address to be explained by them. */
#define SMALL (UINT64_C(1) << 31)
#define FAR (UINT64_C(1) << 30)

static const unsigned element_bytes[] = {1, 2, 4, 8, 16};

/* In [0, bytes), or a little before. */
static bool is_near(uint64_t offset, uint64_t bytes)
{
    return offset + REACH < bytes + REACH;
}

/* A space of its own: does the address lie a little before it, or 2^32 elements too high? */
static bool find_in_space(struct fault_site *site, enum ptx_space space, uint64_t address,
                          uint64_t bytes)
{
    unsigned wrapped = 0;
    bool found = address + REACH < REACH;
    for (size_t i = 0; i < COUNT_OF(element_bytes) && !found; ++i) {
        wrapped = element_bytes[i];
        found = is_near(address - ((uint64_t)wrapped << 32), bytes);
    }
    if (!found)
        return false;
    site->space = space;
    site->address = address;
    site->wrapped = wrapped;
    return true;
}

/* The same of the buffer that this takes nearest to; `distance` is from its beginning. */
static void find_buffer(struct launch *launch, struct fault_site *site)
{
    const struct emulator *emulator = launch->emulator;
    struct fault_thing thing;
    const struct region *literal = fault_nearest_region(emulator, site->address, site->is_constant);
    if (literal != NULL) {
        fault_thing_of_region(literal, &thing);
        if (fault_distance(&thing, site->address) < FAR)
            return;
    }
    for (size_t i = 0; i < COUNT_OF(element_bytes) && site->wrapped == 0; ++i) {
        const uint64_t address = site->address - ((uint64_t)element_bytes[i] << 32);
        const struct region *region = fault_nearest_region(emulator, address, site->is_constant);
        if (region == NULL || region->bytes > SMALL)
            continue;
        fault_thing_of_region(region, &thing);
        if (region->kind == REGION_HEAP &&
            !fault_nearest_allocation(&launch->emulator->heap, address, &thing))
            continue;
        if (is_near(address - thing.begin, thing.bytes))
            site->wrapped = element_bytes[i];
    }
}

void fault_find_meant(const struct warp *warp, struct fault_site *site)
{
    struct launch *launch = warp->runner->launch;
    struct fault_thing thing;
    const bool has_shared = fault_nearest_shared(launch, 0, &thing);
    const uint64_t shared = launch->shared_bytes, local = warp->local_top;
    if (site->is_generic && site->space == PTX_SHARED) {
        if (local > 0 && site->address - WINDOW_BYTES + REACH < REACH)
            (void)find_in_space(site, PTX_LOCAL, site->address - WINDOW_BYTES, local);
    } else if (site->space == PTX_SHARED || site->space == PTX_LOCAL) {
        if (site->address > INT32_MAX && site->address <= UINT32_MAX) /* a register of 32 bits */
            site->address -= UINT64_C(1) << 32;
        else
            (void)find_in_space(site, site->space, site->address,
                                site->space == PTX_LOCAL ? local : shared);
    } else if (!(site->is_generic &&
                 ((has_shared &&
                   find_in_space(site, PTX_SHARED, site->address - SHARED_WINDOW, shared)) ||
                  (local > 0 &&
                   find_in_space(site, PTX_LOCAL, site->address - LOCAL_WINDOW, local))))) {
        find_buffer(launch, site);
    }
}

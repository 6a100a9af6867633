/* fault_things.c - what an address can be near to: variables, buffers, allocations, with their
 * names for people. */
#include "emulator/machine.h"

#include "demangle.h"

/* A variable as it was written, in quotes: the last component of its C++ name. */
static void variable_name(const char *symbol, char *text, size_t room)
{
    struct demangled storage;
    const char *demangled = demangle(symbol, &storage);
    if (demangled == NULL) {
        (void)snprintf(text, room, "`%.80s`", symbol);
        return;
    }
    const struct name_parts parts = demangle_split(demangled);
    (void)snprintf(text, room, "`%.*s`", (int)(parts.length < 60 ? parts.length : 60), parts.begin);
}

bool fault_is_before(const struct fault_thing *thing, uint64_t address)
{
    return (int64_t)(address - thing->begin) < 0;
}

uint64_t fault_distance(const struct fault_thing *thing, uint64_t address)
{
    if (fault_is_before(thing, address))
        return thing->begin - address;
    return address - thing->begin < thing->bytes ? 0 : address - (thing->begin + thing->bytes) + 1;
}

/* Static variables, what is reserved, and dynamic shared memory: whichever is nearest. False: the
 * kernel has none. */
bool fault_nearest_shared(const struct launch *launch, uint64_t address, struct fault_thing *ret)
{
    const struct kernel *kernel = launch->kernel;
    const uint64_t dynamic = launch->shared_bytes - launch->dynamic_bytes;
    bool found = false;
    for (size_t i = 0; i < kernel->shared_count + 1; ++i) {
        struct fault_thing thing = {.begin = dynamic, .bytes = launch->dynamic_bytes};
        const char *name = NULL;
        if (i < kernel->shared_count) {
            const struct ptx_symbol *symbol = kernel->shared[i].symbol;
            if (symbol->unsized)
                continue;
            thing.begin = kernel->shared[i].offset;
            thing.bytes = symbol->bytes;
            name = symbol->name;
        }
        if (thing.bytes == 0 ||
            (found && fault_distance(&thing, address) >= fault_distance(ret, address)))
            continue;
        *ret = thing;
        found = true;
        if (name != NULL)
            variable_name(name, ret->name, sizeof ret->name);
        else
            (void)snprintf(ret->name, sizeof ret->name, "dynamic shared memory");
    }
    return found;
}

/* The allocation of device malloc that is nearest; false: there is none. */
bool fault_nearest_allocation(struct heap *heap, uint64_t address, struct fault_thing *ret)
{
    bool found = false;
    (void)pthread_mutex_lock(&heap->lock);
    for (size_t i = 0; i < heap->chunk_count; ++i) {
        const struct fault_thing thing = {.begin = heap->region->base + heap->chunks[i].offset,
                                          .bytes = heap->chunks[i].bytes};
        if (found && fault_distance(&thing, address) >= fault_distance(ret, address))
            continue;
        *ret = thing;
        found = true;
    }
    (void)pthread_mutex_unlock(&heap->lock);
    (void)snprintf(ret->name, sizeof ret->name, "memory that malloc gave");
    return found;
}

void fault_thing_of_region(const struct region *region, struct fault_thing *ret)
{
    *ret = (struct fault_thing){.begin = region->base, .bytes = region->bytes};
    if (region->kind <= REGION_CONSTANT)
        variable_name(region->label, ret->name, sizeof ret->name);
    else
        (void)snprintf(ret->name, sizeof ret->name, "%s", region->label);
}

/* The nearest region of those that the access could have meant. */
const struct region *fault_nearest_region(const struct emulator *emulator, uint64_t address,
                                          bool is_constant)
{
    const struct region *nearest = NULL;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < emulator->region_count; ++i) {
        const struct region *region = emulator->regions[i];
        const struct fault_thing thing = {.begin = region->base, .bytes = region->bytes};
        const uint64_t distance = fault_distance(&thing, address);
        if ((is_constant && region->kind != REGION_CONSTANT) || region->bytes == 0 ||
            distance >= least)
            continue;
        nearest = region;
        least = distance;
    }
    return least > UINT64_C(1) << 40 ? NULL : nearest;
}

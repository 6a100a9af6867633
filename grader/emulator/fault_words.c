/* fault_words.c - the words of a fault: where in the source, which memory, how far from what. */
#include "emulator/machine.h"

#include "demangle.h"
#include "text.h"

/* ---- Places in the source ---------------------------------------------------------------------
 */

/* "registers.cu:41": the line of the kernel's own file, if the code was inlined from another. */
void fault_place(const struct launch *launch, const struct op *op, struct emulator_fault *fault,
                 char *text, size_t room)
{
    const struct ptx_instruction *instruction = op->instruction;
    const struct ptx_location *location = instruction == NULL ? NULL : instruction->location;
    fault->ptx_line = instruction == NULL ? 0 : instruction->line;
    if (location != NULL) {
        const char *path = ptx_file_path(launch->emulator->module, location->shown_file);
        fault->line = location->shown_line;
        (void)snprintf(fault->file, sizeof fault->file, "%s", path == NULL ? "" : path);
    }
    const char *slash = strrchr(fault->file, '/');
    if (fault->line != 0 && fault->file[0] != '\0')
        (void)snprintf(text, room, "%.120s:%u", slash == NULL ? fault->file : slash + 1,
                       fault->line);
    else
        (void)snprintf(text, room, "PTX line %u", fault->ptx_line);
}

unsigned fault_line(const struct ptx_instruction *instruction)
{
    if (instruction == NULL)
        return 0;
    return instruction->location != NULL ? instruction->location->shown_line : instruction->line;
}

/* ---- Names and numbers ------------------------------------------------------------------------
 */

/* "1 byte", "1,024 bytes" */
#define BYTES_ROOM (TEXT_NUMBER_BYTES + 8)
static const char *count_bytes(uint64_t bytes, char text[BYTES_ROOM])
{
    char number[TEXT_NUMBER_BYTES];
    (void)snprintf(text, BYTES_ROOM, "%s byte%s", text_number(bytes, number),
                   bytes == 1 ? "" : "s");
    return text;
}

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

struct thing { /* that has a name (a variable in quotes, or words) and a place in a space */
    char name[96];
    uint64_t begin, bytes;
};

/* The thing that is nearer; one that holds the address is at distance 0. */
static uint64_t distance_to(const struct thing *thing, uint64_t address)
{
    if (address < thing->begin)
        return thing->begin - address;
    return address - thing->begin < thing->bytes ? 0 : address - (thing->begin + thing->bytes) + 1;
}

/* Static variables, what is reserved, and dynamic shared memory: whichever is nearest. False: the
 * kernel has none. */
static bool nearest_shared(const struct launch *launch, uint64_t address, struct thing *ret)
{
    const struct kernel *kernel = launch->kernel;
    const uint64_t dynamic = launch->shared_bytes - launch->dynamic_bytes;
    bool found = false;
    for (size_t i = 0; i < kernel->shared_count + 1; ++i) {
        struct thing thing = {.begin = dynamic, .bytes = launch->dynamic_bytes};
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
            (found && distance_to(&thing, address) >= distance_to(ret, address)))
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
static bool nearest_allocation(struct heap *heap, uint64_t address, struct thing *ret)
{
    bool found = false;
    (void)pthread_mutex_lock(&heap->lock);
    for (size_t i = 0; i < heap->chunk_count; ++i) {
        const struct thing thing = {.begin = heap->region->base + heap->chunks[i].offset,
                                    .bytes = heap->chunks[i].bytes};
        if (found && distance_to(&thing, address) >= distance_to(ret, address))
            continue;
        *ret = thing;
        found = true;
    }
    (void)pthread_mutex_unlock(&heap->lock);
    (void)snprintf(ret->name, sizeof ret->name, "memory that malloc gave");
    return found;
}

static void thing_of_region(const struct region *region, struct thing *ret)
{
    *ret = (struct thing){.begin = region->base, .bytes = region->bytes};
    if (region->kind <= REGION_CONSTANT)
        variable_name(region->label, ret->name, sizeof ret->name);
    else
        (void)snprintf(ret->name, sizeof ret->name, "%s", region->label);
}

/* ---- Where an address is ----------------------------------------------------------------------
 */

/* ", byte 12 of `box`"; "" when it is in nothing that has a name. */
void fault_owner(const struct warp *warp, const struct fault_site *site, char *text, size_t room)
{
    struct launch *launch = warp->runner->launch;
    struct thing thing = {.bytes = 0};
    text[0] = '\0';
    if (site->space == PTX_SHARED) {
        if (!nearest_shared(launch, site->address, &thing))
            return;
    } else if (site->space == PTX_GLOBAL || site->space == PTX_GENERIC) {
        const struct region *region = memory_find(launch->emulator, site->address);
        if (region == NULL)
            return;
        if (region->kind != REGION_HEAP)
            thing_of_region(region, &thing);
        else if (!nearest_allocation(&launch->emulator->heap, site->address, &thing))
            return;
    }
    if (distance_to(&thing, site->address) == 0 && thing.bytes > 0)
        (void)snprintf(text, room, ", byte %llu of %s",
                       (unsigned long long)(site->address - thing.begin), thing.name);
}

/* How far the access is from the thing that it most likely meant. Fills the two ends of the
 * sentence: "reads past the end of `in`" … " read 4 bytes at …, 8 bytes after the last element of
 * `in`". */
static void describe_distance(const struct fault_site *site, const struct thing *thing,
                              const char *where, struct fault_words *words)
{
    const char *verb = site->is_store ? "writes" : "reads";
    char bytes[BYTES_ROOM], size[BYTES_ROOM], gap[BYTES_ROOM];
    const uint64_t end = thing->begin + thing->bytes;
    (void)count_bytes(site->bytes, bytes);
    (void)count_bytes(thing->bytes, size);
    const int used = snprintf(words->after, sizeof words->after, " %s %s at %saddress 0x%llx",
                              site->is_store ? "wrote" : "read", bytes, where,
                              (unsigned long long)site->address);
    char *rest = words->after + used;
    const size_t room = sizeof words->after - (size_t)used;
    if (site->address < thing->begin) {
        const uint64_t last = site->address + site->bytes;
        (void)snprintf(words->what, sizeof words->what, "%s before the beginning of %s", verb,
                       thing->name);
        (void)snprintf(rest, room, ", %s before the first element of %s (%s)",
                       count_bytes(last <= thing->begin ? thing->begin - last : 0, gap),
                       thing->name, size);
        return;
    }
    (void)snprintf(words->what, sizeof words->what, "%s past the end of %s", verb, thing->name);
    if (site->address < end)
        (void)snprintf(rest, room, ", which begins inside %s (%s) and ends behind it", thing->name,
                       size);
    else
        (void)snprintf(rest, room, ", %s after the last element of %s (%s)",
                       count_bytes(site->address - end, gap), thing->name, size);
}

static void describe_shared(const struct launch *launch, const struct fault_site *site,
                            struct fault_words *words)
{
    struct thing thing;
    if (nearest_shared(launch, site->address, &thing)) {
        describe_distance(site, &thing, "shared ", words);
        return;
    }
    char bytes[BYTES_ROOM];
    (void)snprintf(words->what, sizeof words->what,
                   "%s shared memory, of which the launch gives it none",
                   site->is_store ? "writes" : "reads");
    (void)snprintf(words->after, sizeof words->after, " %s %s at shared address 0x%llx",
                   site->is_store ? "wrote" : "read", count_bytes(site->bytes, bytes),
                   (unsigned long long)site->address);
}

/* The nearest region of those that the access could have meant. */
static const struct region *nearest_region(const struct emulator *emulator,
                                           const struct fault_site *site)
{
    const struct region *nearest = NULL;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < emulator->region_count; ++i) {
        const struct region *region = emulator->regions[i];
        const struct thing thing = {.begin = region->base, .bytes = region->bytes};
        const uint64_t distance = distance_to(&thing, site->address);
        if ((site->is_constant && region->kind != REGION_CONSTANT) || region->bytes == 0 ||
            distance >= least)
            continue;
        nearest = region;
        least = distance;
    }
    return least > UINT64_C(1) << 40 ? NULL : nearest;
}

static void describe_global(struct launch *launch, const struct fault_site *site,
                            struct fault_words *words)
{
    const char *verb = site->is_store ? "writes" : "reads";
    char bytes[BYTES_ROOM];
    struct thing thing;
    const struct region *region = nearest_region(launch->emulator, site);
    (void)snprintf(words->after, sizeof words->after, " %s %s at address 0x%llx",
                   site->is_store ? "wrote" : "read", count_bytes(site->bytes, bytes),
                   (unsigned long long)site->address);
    if (site->address < 65536) {
        (void)snprintf(words->what, sizeof words->what, "%s through a null pointer", verb);
        return;
    }
    if (region == NULL) {
        (void)snprintf(words->what, sizeof words->what, "%s where there is no memory", verb);
        return;
    }
    thing_of_region(region, &thing);
    const bool inside = distance_to(&thing, site->address) == 0 &&
                        thing.bytes - (site->address - thing.begin) >= site->bytes;
    if (!inside) {
        describe_distance(site, &thing, "", words);
        return;
    }
    if (region->kind != REGION_HEAP) {
        (void)snprintf(words->what, sizeof words->what, "%s memory that kernels may only read: %s",
                       verb, thing.name);
        return;
    }
    words->is_freed = heap_was_freed(&launch->emulator->heap, site->address);
    if (!nearest_allocation(&launch->emulator->heap, site->address, &thing)) {
        (void)snprintf(words->what, sizeof words->what, "%s memory that malloc never gave", verb);
        return;
    }
    if (words->is_freed)
        (void)snprintf(words->what, sizeof words->what, "%s memory that was freed", verb);
    else
        describe_distance(site, &thing, "", words);
}

bool fault_is_in_heap(const struct warp *warp, const struct fault_site *site)
{
    if (site->space == PTX_SHARED || site->space == PTX_LOCAL)
        return false;
    const struct region *region = nearest_region(warp->runner->launch->emulator, site);
    return region != NULL && region->kind == REGION_HEAP;
}

void fault_describe_access(const struct warp *warp, const struct fault_site *site,
                           struct fault_words *ret)
{
    struct launch *launch = warp->runner->launch;
    *ret = (struct fault_words){.is_freed = false};
    if (site->space == PTX_SHARED) {
        describe_shared(launch, site, ret);
    } else if (site->space == PTX_LOCAL) {
        const struct thing stack = {.name = "its local memory", .bytes = warp->local_top};
        struct fault_site within = *site;
        if (site->address - LOCAL_WINDOW < WINDOW_BYTES) /* a generic address */
            within.address -= LOCAL_WINDOW;
        describe_distance(&within, &stack, "local ", ret);
    } else {
        describe_global(launch, site, ret);
    }
}

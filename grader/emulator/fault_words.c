/* fault_words.c - the words of a fault: where in the source, which memory, how far from what. */
#include "emulator/machine.h"

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

/* ---- Where an address is ----------------------------------------------------------------------
 */

/* ", byte 12 of `box`"; "" when it is in nothing that has a name. */
void fault_owner(const struct warp *warp, const struct fault_site *site, char *text, size_t room)
{
    struct launch *launch = warp->runner->launch;
    struct fault_thing thing = {.bytes = 0};
    text[0] = '\0';
    if (site->space == PTX_SHARED) {
        if (!fault_nearest_shared(launch, site->address, &thing))
            return;
    } else if (site->space == PTX_GLOBAL || site->space == PTX_GENERIC) {
        const struct region *region = memory_find(launch->emulator, site->address);
        if (region == NULL)
            return;
        if (region->kind != REGION_HEAP)
            fault_thing_of_region(region, &thing);
        else if (!fault_nearest_allocation(&launch->emulator->heap, site->address, &thing))
            return;
    }
    if (fault_distance(&thing, site->address) == 0 && thing.bytes > 0)
        (void)snprintf(text, room, ", byte %llu of %s",
                       (unsigned long long)(site->address - thing.begin), thing.name);
}

/* "0x80", "-0x4" */
#define ADDRESS_ROOM 20
static const char *address_text(const struct fault_site *site, char text[ADDRESS_ROOM])
{
    const bool below = (site->space == PTX_SHARED || site->space == PTX_LOCAL) &&
                       site->address > (uint64_t)INT64_MAX;
    (void)snprintf(text, ADDRESS_ROOM, "%s0x%llx", below ? "-" : "",
                   (unsigned long long)(below ? UINT64_C(0) - site->address : site->address));
    return text;
}

/* ", 8 bytes after the last element of `in` (64 bytes)" */
static void tell_distance(const struct fault_site *site, const struct fault_thing *thing,
                          char *text, size_t room)
{
    char size[BYTES_ROOM], gap[BYTES_ROOM];
    const uint64_t address = fault_near(site), end = thing->begin + thing->bytes;
    (void)count_bytes(thing->bytes, size);
    if (fault_is_before(thing, address) && fault_is_before(thing, address + site->bytes - 1)) {
        const uint64_t between = thing->begin - address - site->bytes;
        (void)snprintf(text, room, ", %s before the first element of %s (%s)",
                       between == 0 ? "directly" : count_bytes(between, gap), thing->name, size);
    } else if (fault_is_before(thing, address)) {
        (void)snprintf(text, room, ", which begins before %s (%s) and ends inside it", thing->name,
                       size);
    } else if (address >= end) {
        (void)snprintf(text, room, ", %s after the last element of %s (%s)",
                       address == end ? "directly" : count_bytes(address - end, gap), thing->name,
                       size);
    } else if (site->wrapped != 0) {
        (void)snprintf(text, room, ", byte %llu of %s (%s)",
                       (unsigned long long)(address - thing->begin), thing->name, size);
    } else {
        (void)snprintf(text, room, ", which begins inside %s (%s) and ends behind it", thing->name,
                       size);
    }
}

/* How far the access is from the thing that it most likely meant. Fills the two ends of the
 * sentence: "reads past the end of `in`" … " read 4 bytes at …, 8 bytes after the last element of
 * `in`". */
static void describe_distance(const struct fault_site *site, const struct fault_thing *thing,
                              const char *where, struct fault_words *words)
{
    char bytes[BYTES_ROOM], address[ADDRESS_ROOM], distance[256], above[96] = "";
    (void)snprintf(
        words->what, sizeof words->what, "%s %s of %s", site->is_store ? "writes" : "reads",
        fault_is_before(thing, fault_near(site)) ? "before the beginning" : "past the end",
        thing->name);
    tell_distance(site, thing, distance, sizeof distance);
    if (site->wrapped != 0)
        (void)snprintf(above, sizeof above,
                       " plus 2^32 x %s: an unsigned index that fell below zero looks like that",
                       count_bytes(site->wrapped, bytes));
    (void)snprintf(words->after, sizeof words->after, " %s %s at %saddress %s%s%s",
                   site->is_store ? "wrote" : "read", count_bytes(site->bytes, bytes), where,
                   address_text(site, address), distance, above);
}

static void describe_shared(const struct launch *launch, const struct fault_site *site,
                            struct fault_words *words)
{
    struct fault_thing thing;
    if (fault_nearest_shared(launch, fault_near(site), &thing)) {
        describe_distance(site, &thing, "shared ", words);
        return;
    }
    char bytes[BYTES_ROOM], address[ADDRESS_ROOM];
    (void)snprintf(words->what, sizeof words->what,
                   "%s shared memory, of which the launch gives it none",
                   site->is_store ? "writes" : "reads");
    (void)snprintf(words->after, sizeof words->after, " %s %s at shared address %s",
                   site->is_store ? "wrote" : "read", count_bytes(site->bytes, bytes),
                   address_text(site, address));
}

static void describe_global(struct launch *launch, const struct fault_site *site,
                            struct fault_words *words)
{
    const char *verb = site->is_store ? "writes" : "reads";
    char bytes[BYTES_ROOM];
    struct fault_thing thing;
    const uint64_t near = fault_near(site);
    const struct region *region = fault_nearest_region(launch->emulator, near, site->is_constant);
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
    fault_thing_of_region(region, &thing);
    const bool inside =
        fault_distance(&thing, near) == 0 && thing.bytes - (near - thing.begin) >= site->bytes;
    if (site->wrapped != 0 && region->kind == REGION_HEAP)
        (void)fault_nearest_allocation(&launch->emulator->heap, near, &thing);
    if (!inside || site->wrapped != 0) {
        describe_distance(site, &thing, "", words);
        return;
    }
    if (region->kind != REGION_HEAP) {
        (void)snprintf(words->what, sizeof words->what, "%s memory that kernels may only read: %s",
                       verb, thing.name);
        return;
    }
    words->is_freed = heap_was_freed(&launch->emulator->heap, site->address);
    if (!fault_nearest_allocation(&launch->emulator->heap, site->address, &thing)) {
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
    const struct region *region =
        fault_nearest_region(warp->runner->launch->emulator, site->address, site->is_constant);
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
        const struct fault_thing stack = {.name = "its local memory", .bytes = warp->local_top};
        describe_distance(site, &stack, "local ", ret);
    } else {
        describe_global(launch, site, ret);
    }
}

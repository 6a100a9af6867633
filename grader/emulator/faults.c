/* faults.c - what went wrong, in full the first time, counted from then on.
 *
 * A runner keeps one note for each kind of fault and instruction. The notes of all runners are
 * merged after the launch (launch.c): the one of the lowest block is shown, so that the outcome
 * does not depend on which thread was faster. */
#include "emulator/machine.h"

#include <stdarg.h>

#include "text.h"

static const char *space_name(enum ptx_space space)
{
    static const char *const names[] = {"",       "register", "parameter", "constant",
                                        "global", "local",    "shared",    "generic"};
    return names[space];
}

/* "registers.cu:41"; the line where it was inlined, if it comes from another file than its kernel.
 */
static void describe_place(const struct launch *launch, const struct op *op,
                           struct emulator_fault *fault, char *text, size_t room)
{
    const struct ptx_instruction *instruction = op->instruction;
    const struct ptx_module *module = launch->emulator->module;
    const struct ptx_location *location = instruction == NULL ? NULL : instruction->location;
    fault->ptx_line = instruction == NULL ? 0 : instruction->line;
    const struct ptx_location *first = launch->kernel->entry->first_location;
    if (location != NULL) {
        unsigned file = location->file, line = location->line;
        if (first != NULL && file != first->file && location->inlined_line != 0 &&
            location->inlined_file == first->file) {
            file = location->inlined_file;
            line = location->inlined_line;
        }
        const char *path = ptx_file_path(module, file);
        fault->line = line;
        (void)snprintf(fault->file, sizeof fault->file, "%s", path == NULL ? "" : path);
    }
    const char *slash = strrchr(fault->file, '/');
    if (fault->line != 0 && fault->file[0] != '\0')
        (void)snprintf(text, room, "%.120s:%u", slash == NULL ? fault->file : slash + 1,
                       fault->line);
    else
        (void)snprintf(text, room, "PTX line %u", fault->ptx_line);
}

static void describe_index(char *text, size_t room, const unsigned index[3], const unsigned size[3])
{
    if (size[2] > 1)
        (void)snprintf(text, room, "(%u, %u, %u)", index[0], index[1], index[2]);
    else if (size[1] > 1)
        (void)snprintf(text, room, "(%u, %u)", index[0], index[1]);
    else
        (void)snprintf(text, room, "%u", index[0]);
}

/* The note to count in; NULL: too many different faults already. *is_new: it has to be filled. */
static struct fault_note *find_note(struct runner *runner, const char *kind, const void *key,
                                    bool *is_new)
{
    for (size_t i = 0; i < runner->fault_count; ++i)
        if (runner->faults[i].key == key && strcmp(runner->faults[i].fault.kind, kind) == 0) {
            *is_new = runner->faults[i].block > runner->block_number;
            return &runner->faults[i];
        }
    if (runner->fault_count == CAP_FAULT_LINES)
        return NULL;
    if (runner->faults == NULL) {
        runner->faults = calloc(CAP_FAULT_LINES, sizeof *runner->faults);
        if (runner->faults == NULL)
            return NULL;
    }
    *is_new = true;
    struct fault_note *note = &runner->faults[runner->fault_count++];
    note->key = key;
    return note;
}

static void report(struct warp *warp, const struct fault_site *site, const char *kind, bool warning,
                   const char *words, const char *after)
{
    struct runner *runner = warp->runner;
    const struct launch *launch = runner->launch;
    bool is_new = false;
    struct fault_note *note = find_note(runner, kind, site->op->instruction, &is_new);
    if (note == NULL)
        return;
    struct emulator_fault *fault = &note->fault;
    ++fault->count;
    if (!is_new)
        return;
    const uint64_t count = fault->count;
    *fault = (struct emulator_fault){.count = count, .warning = warning};
    note->block = runner->block_number;
    (void)snprintf(fault->kind, sizeof fault->kind, "%s", kind);
    fault->address = site->address;
    fault->bytes = site->bytes;
    for (unsigned i = 0; i < 3; ++i) {
        fault->block[i] = runner->block[i];
        fault->thread[i] = warp->tid[i][site->lane];
    }
    char place[160], block[64], thread[64];
    describe_place(launch, site->op, fault, place, sizeof place);
    describe_index(block, sizeof block, fault->block, launch->grid);
    describe_index(thread, sizeof thread, fault->thread, launch->block);
    (void)snprintf(fault->text, sizeof fault->text, "%s %s: block %s, thread %s (%s)%s",
                   launch->kernel->name, words, block, thread, place, after);
}

void fault_report(struct warp *warp, const struct fault_site *site, const char *kind, bool warning,
                  const char *format, ...)
{
    char words[512], after[160] = "";
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (site->bytes != 0) {
        char owner[96] = "";
        const struct region *region =
            site->space == PTX_GLOBAL ? memory_find(warp->runner->launch->emulator, site->address)
                                      : NULL;
        if (region != NULL && site->address - region->base < region->bytes)
            (void)snprintf(owner, sizeof owner, ", byte %llu of `%s`",
                           (unsigned long long)(site->address - region->base), region->label);
        (void)snprintf(after, sizeof after, ", %s memory, address 0x%llx%s",
                       space_name(site->space), (unsigned long long)site->address, owner);
    }
    report(warp, site, kind, warning, words, after);
}

/* Tells how far the address is from the buffer that it most likely meant. */
static void describe_global(const struct emulator *emulator, const struct fault_site *site,
                            bool is_freed, char *words, size_t words_room, char *after,
                            size_t after_room)
{
    const char *verb = site->is_store ? "writes" : "reads";
    const char *past_verb = site->is_store ? "wrote" : "read";
    char size[TEXT_NUMBER_BYTES], distance[TEXT_NUMBER_BYTES];
    const struct region *below = memory_find(emulator, site->address);
    const struct region *above = NULL;
    for (size_t i = 0; i < emulator->region_count && above == NULL; ++i)
        if (emulator->regions[i]->base > site->address)
            above = emulator->regions[i];
    (void)snprintf(after, after_room, " %s %u bytes at address 0x%llx", past_verb, site->bytes,
                   (unsigned long long)site->address);
    const size_t used = strlen(after);
    if (site->address < 65536) {
        (void)snprintf(words, words_room, "%s through a null pointer", verb);
        return;
    }
    if (below != NULL && site->address - below->base < below->bytes &&
        below->bytes - (site->address - below->base) >= site->bytes) {
        if (below->kind != REGION_HEAP)
            (void)snprintf(words, words_room, "%s memory that kernels may only read: `%s`", verb,
                           below->label);
        else
            (void)snprintf(words, words_room, "%s %s", verb,
                           is_freed ? "memory that was freed"
                                    : "past the end of memory that malloc gave");
        return;
    }
    uint64_t to_below = below == NULL ? UINT64_MAX : site->address - (below->base + below->bytes);
    if (below != NULL && site->address < below->base + below->bytes)
        to_below = 0; /* the access begins inside and ends outside */
    uint64_t to_above = above == NULL ? UINT64_MAX : above->base - (site->address + site->bytes);
    const bool is_below = to_below <= to_above;
    const struct region *near = is_below ? below : above;
    const uint64_t gap = is_below ? to_below : to_above;
    if (near == NULL || gap > UINT64_C(1) << 40) {
        (void)snprintf(words, words_room, "%s where there is no memory", verb);
        return;
    }
    (void)text_number(near->bytes, size);
    (void)text_number(gap, distance);
    if (is_below) {
        (void)snprintf(words, words_room, "%s past the end of `%s`", verb, near->label);
        if (to_below == 0 && site->address < near->base + near->bytes)
            (void)snprintf(after + used, after_room - used,
                           ", which begins inside `%s` (%s bytes) and ends behind it", near->label,
                           size);
        else
            (void)snprintf(after + used, after_room - used,
                           ", %s bytes after the last element of `%s` (%s bytes)", distance,
                           near->label, size);
    } else {
        (void)snprintf(words, words_room, "%s before the beginning of `%s`", verb, near->label);
        (void)snprintf(after + used, after_room - used,
                       ", %s bytes before the first element of `%s` (%s bytes)", distance,
                       near->label, size);
    }
}

void fault_access(struct warp *warp, const struct fault_site *site)
{
    char words[256], after[384];
    const struct launch *launch = warp->runner->launch;
    char size[TEXT_NUMBER_BYTES];
    bool is_freed = false;
    if (site->space == PTX_SHARED || site->space == PTX_LOCAL) {
        bool shared = site->space == PTX_SHARED;
        uint64_t bytes = shared ? launch->shared_bytes : warp->local_top;
        (void)snprintf(words, sizeof words, "%s outside its %s memory",
                       site->is_store ? "writes" : "reads", space_name(site->space));
        (void)snprintf(after, sizeof after, " %s %u bytes at %s address 0x%llx of %s bytes",
                       site->is_store ? "wrote" : "read", site->bytes, space_name(site->space),
                       (unsigned long long)site->address, text_number(bytes, size));
    } else {
        is_freed = heap_was_freed(&launch->emulator->heap, site->address);
        describe_global(launch->emulator, site, is_freed, words, sizeof words, after, sizeof after);
    }
    report(warp, site, is_freed ? "use after free" : "out of bounds", false, words, after);
}

void fault_leak(struct runner *runner, const struct op *site, uint64_t allocations, uint64_t bytes)
{
    bool is_new = false;
    char place[160], number[TEXT_NUMBER_BYTES], size[TEXT_NUMBER_BYTES];
    struct fault_note *note = find_note(runner, "leak", site->instruction, &is_new);
    if (note == NULL)
        return;
    note->block = UINT64_MAX - 1; /* after everything that the blocks did */
    note->fault = (struct emulator_fault){.count = allocations, .warning = true};
    (void)snprintf(note->fault.kind, sizeof note->fault.kind, "leak");
    describe_place(runner->launch, site, &note->fault, place, sizeof place);
    (void)snprintf(
        note->fault.text, sizeof note->fault.text,
        "%s does not free what it allocates: %s allocation%s of malloc (%s), %s bytes in "
        "all, are left",
        runner->launch->kernel->name, text_number(allocations, number), allocations == 1 ? "" : "s",
        place, text_number(bytes, size));
}

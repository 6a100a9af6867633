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

static void describe_index(char *text, size_t room, const unsigned index[3], const unsigned size[3])
{
    if (size[2] > 1)
        (void)snprintf(text, room, "(%u, %u, %u)", index[0], index[1], index[2]);
    else if (size[1] > 1)
        (void)snprintf(text, room, "(%u, %u)", index[0], index[1]);
    else
        (void)snprintf(text, room, "%u", index[0]);
}

/* Faults of one kind at one line of the source are one. */
static uint64_t key_of(const struct ptx_instruction *instruction)
{
    if (instruction == NULL)
        return 0;
    const struct ptx_location *location = instruction->location;
    return location == NULL
               ? instruction->line
               : (UINT64_C(1) << 63) | (uint64_t)location->shown_file << 32 | location->shown_line;
}

/* Is this place in the file that the kernel is written in? True as well when nobody knows that
 * file. */
static bool is_in_own_file(const struct launch *launch, const struct ptx_instruction *instruction)
{
    const struct ptx_location *own = launch->kernel->entry->first_location;
    return own == NULL || (instruction != NULL && instruction->location != NULL &&
                           instruction->location->shown_file == own->file);
}

/* Whose place is shown: unoptimised code calls the functions of NVIDIA's headers, and what somebody
 * can mend is where the kernel's own file does so. */
static const struct op *shown_op(const struct warp *warp, const struct op *op)
{
    const struct launch *launch = warp->runner->launch;
    const struct op *shown = op;
    for (const struct frame *frame = warp->frame; frame != NULL; frame = frame->parent) {
        const struct program *program = frame->program;
        if (is_in_own_file(launch, shown->instruction))
            return shown;
        if (frame->return_to == NULL || shown < program->ops ||
            shown >= program->ops + program->op_count)
            break;
        shown = frame->return_to - 1; /* the call */
    }
    return is_in_own_file(launch, shown->instruction) ? shown : op;
}

/* The note to count in; NULL: too many different faults already. *is_new: it has to be filled. */
static struct fault_note *find_note(struct runner *runner, const char *kind,
                                    const struct ptx_instruction *instruction, bool *is_new)
{
    const uint64_t key = key_of(instruction);
    for (size_t i = 0; i < runner->fault_count; ++i)
        if (runner->faults[i].key == key && strcmp(runner->faults[i].fault.kind, kind) == 0) {
            *is_new = runner->faults[i].block > runner->block_number;
            return &runner->faults[i];
        }
    if (runner->fault_count == CAP_FAULT_LINES)
        return NULL;
    if (runner->faults == NULL) {
        runner->faults = calloc(CAP_FAULT_LINES, sizeof *runner->faults);
        if (runner->faults == NULL) { /* a fault that nobody hears of would be none */
            atomic_store(&runner->launch->no_memory, true);
            return NULL;
        }
    }
    *is_new = true;
    struct fault_note *note = &runner->faults[runner->fault_count++];
    note->key = key;
    return note;
}

/* One more of a fault that has its words already: finding them costs more than the access. */
static bool count_again(const struct warp *warp, const char *kind, const struct op *op)
{
    struct runner *runner = warp->runner;
    const uint64_t key = key_of(shown_op(warp, op)->instruction);
    for (size_t i = 0; i < runner->fault_count; ++i) {
        struct fault_note *note = &runner->faults[i];
        if (note->key == key && strcmp(note->fault.kind, kind) == 0) {
            note->fault.count += note->block <= runner->block_number;
            return note->block <= runner->block_number;
        }
    }
    return false;
}

static void report(struct warp *warp, const struct fault_site *site, const char *kind, bool warning,
                   const char *words, const char *after)
{
    struct runner *runner = warp->runner;
    const struct launch *launch = runner->launch;
    bool is_new = false;
    const struct op *shown = shown_op(warp, site->op);
    struct fault_note *note = find_note(runner, kind, shown->instruction, &is_new);
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
    fault_place(launch, shown, fault, place, sizeof place);
    describe_index(block, sizeof block, fault->block, launch->grid);
    describe_index(thread, sizeof thread, fault->thread, launch->block);
    (void)snprintf(fault->text, sizeof fault->text, "%s %s: block %s, thread %s (%s)%s",
                   launch->kernel->name, words, block, thread, place, after);
}

void fault_report(struct warp *warp, const struct fault_site *site, const char *kind, bool warning,
                  const char *format, ...)
{
    char words[512], after[256] = "";
    va_list arguments;
    if (count_again(warp, kind, site->op))
        return;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (site->bytes != 0) {
        char owner[160];
        fault_owner(warp, site, owner, sizeof owner);
        (void)snprintf(after, sizeof after, ", %s memory, address 0x%llx%s",
                       space_name(site->space), (unsigned long long)site->address, owner);
    }
    report(warp, site, kind, warning, words, after);
}

void fault_access(struct warp *warp, const struct fault_site *site)
{
    static const char beyond[] = "out of bounds";
    struct fault_words words;
    if (!fault_is_in_heap(warp, site) && count_again(warp, beyond, site->op))
        return;
    struct fault_site meant = *site;
    fault_find_meant(warp, &meant);
    fault_describe_access(warp, &meant, &words);
    report(warp, &meant, words.is_freed ? "use after free" : beyond, false, words.what,
           words.after);
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
    fault_place(runner->launch, site, &note->fault, place, sizeof place);
    (void)snprintf(
        note->fault.text, sizeof note->fault.text,
        "%s does not free what it allocates: %s allocation%s of malloc (%s), %s bytes in "
        "all, are left",
        runner->launch->kernel->name, text_number(allocations, number), allocations == 1 ? "" : "s",
        place, text_number(bytes, size));
}

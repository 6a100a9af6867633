/* frames.h - which registers the functions of a cubin save in their frames, from `.debug_frame`.
 *
 * A called function keeps its caller's registers in its frame. ptxas counts those stores and loads
 * among the spills, but does not mark them in the machine code as it does other spills; the call
 * frame information (DWARF 4, section 6.4, which ptxas writes in its 64-bit form) names them. Only
 * places and registers are taken from it: the frame offsets it states are wrong where spill slots
 * lie in between (seen with ptxas 13.0), so the offset comes from the store itself. */
#ifndef SPILLWAY_FRAMES_H
#define SPILLWAY_FRAMES_H

#include "elf.h"

struct frame_save {
    uint64_t after; /* section offset of the instruction that follows the store */
    unsigned reg;
};

struct frame_function {
    size_t section;      /* of its code */
    uint64_t begin, end; /* offsets in that section */
    size_t first_save, save_count;
};

struct frames {
    struct frame_function *functions; /* owned */
    size_t function_count;
    struct frame_save *saves; /* owned */
    size_t save_count;
    bool understood; /* false: something in the section is not known, so saves may be missing */
};

/* Reads section `index` (`.debug_frame`) with its relocations in section `relocations` (0: none).
 * Returns 0, also when the content is not understood; -1 when out of memory. */
int frames_read(struct frames *out, const struct elf *elf, size_t index, size_t relocations,
                const struct elf_table *symbols, struct error *err);
void frames_release(struct frames *frames);

#endif

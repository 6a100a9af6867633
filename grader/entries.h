/* entries.h - find a lab's kernel among the entries of a PTX module, by its unqualified source
 * name. */
#ifndef SPILLWAY_ENTRIES_H
#define SPILLWAY_ENTRIES_H

#include "emulator/ptx.h"
#include "labs/lab.h"

struct entry_match {
    const struct ptx_function *function; /* borrowed from the module; NULL: none that will do */
    char problem[300];                   /* when NULL: what is wrong and how to mend it */
};

/* Exactly one entry of that name at global scope, with the lab's parameters, will do. `extern "C"`
 * is fine; a namespace, a template or another signature is not. */
struct entry_match entries_find(const struct ptx_module *module, const struct lab_kernel *kernel);

/* Threads a block that a kernel is bounded to, by `__launch_bounds__` or its like; 0: none. */
uint64_t entries_block_bound(const struct ptx_function *function);

/* True when the function's unqualified name is that of a kernel of the lab. */
bool entries_belongs(const struct ptx_function *function, const struct lab *lab);

#endif

/* facts.h - everything known of one kernel on one architecture, each number with its witnesses. */
#ifndef SPILLWAY_FACTS_H
#define SPILLWAY_FACTS_H

#include "cubin.h"
#include "emulator/ptx.h"
#include "occupancy.h"
#include "report.h"
#include "arch.h"

#define FACT_UNKNOWN (-1)

/* One number, as each source states it; FACT_UNKNOWN where a source is silent. */
struct witnesses {
    int64_t ptxas, cubin, machine_code, device;
};

struct kernel_facts {
    const char *name; /* source name; borrowed from the lab */
    char *symbol;     /* owned */
    struct arch arch;
    int64_t registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, barriers;
    struct {
        struct witnesses registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes;
    } witnesses;
    char disagreement[256];         /* "" when all witnesses agree */
    unsigned max_threads_per_block; /* what a launch may use */
    struct occupancy occupancy;     /* at the lab's block size */
    int64_t device_blocks_per_sm;   /* occupancy API; FACT_UNKNOWN without a GPU */
};

#endif

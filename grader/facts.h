/* facts.h - everything known of one kernel on one architecture, each number with its witnesses.
 *
 * No number comes from one source: registers, frame and spill bytes are stated by ptxas's words and
 * by the cubin (attributes and machine code), and on a GPU by the device. Where they differ the
 * fact is no fact, and `disagreement` says who said what. */
#ifndef SPILLWAY_FACTS_H
#define SPILLWAY_FACTS_H

#include "arch.h"
#include "audit.h"
#include "build.h"
#include "occupancy.h"
#include "run.h"

#define FACT_UNKNOWN (-1)

/* One number, as each source states it; FACT_UNKNOWN where a source is silent. */
struct witnesses {
    int64_t ptxas, cubin, device;
};

struct kernel_facts {
    const char *name;   /* source name; borrowed from the lab */
    const char *symbol; /* borrowed from the PTX module */
    struct arch arch;
    /* What the witnesses agree on (ptxas's number where they do not). */
    int64_t registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, barriers;
    struct {
        struct witnesses registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes;
    } witnesses;
    char disagreement[256]; /* "" when all witnesses agree, and then the numbers hold */
    bool blamed;            /* a disagreement is the submission's own doing: see audit_blames() */
    const struct ptx_function *function; /* launch bounds as the PTX has them; borrowed */
    const struct cubin_kernel *machine;  /* borrowed; NULL when the cubin could not be read */
    unsigned max_threads_per_block;      /* what a launch may use */
    struct occupancy occupancy;          /* at the lab's block size, by occupancy.c */
    bool has_occupancy;                  /* false: the architecture's limits are not in our table */
    int64_t device_blocks_per_sm;        /* occupancy API; FACT_UNKNOWN without a GPU */
};

/* Facts of one lab kernel in one build. Returns false, with a sentence in problem, when the build
 * has no such kernel (or did not come to be). A report that we cannot read, or a cubin without the
 * kernel, is a disagreement of the witnesses. `device` (may be NULL) is the launch on a GPU of
 * exactly this architecture. Everything borrowed lives as long as the build. */
bool facts_gather(struct kernel_facts *out, const struct lab_kernel *kernel,
                  const struct build_target *target, const struct audit *audit,
                  const struct run_launch_result *device, char problem[300]);

/* Facts of the lab's what-if build: image instead of the target's own. */
bool facts_gather_image(struct kernel_facts *out, const struct lab_kernel *kernel,
                        const struct build_target *target, const struct build_image *image,
                        char problem[300]);

/* Traffic of the spills of one launch of n threads in warps of 32, each spill instruction executed
 * once by each of them: `known` only for straight-line machine code. */
struct traffic_direction facts_spill_traffic(const struct kernel_facts *facts, uint64_t threads);

#endif

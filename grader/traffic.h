/* traffic.h - memory traffic of one launch, in the units of the profiler's L1 counters.
 *
 * A request is one memory instruction executed by one warp with at least one active lane, whatever
 * its alignment; a 128-bit local access counts four. A sector is a distinct 32-byte piece that the
 * active lanes of one request touch (l1tex__t_requests_pipe_lsu_mem_*, l1tex__t_sectors_*). It is
 * traffic at L1, not at DRAM. */
#ifndef SPILLWAY_TRAFFIC_H
#define SPILLWAY_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

struct traffic_count {
    uint64_t requests, sectors;
};

struct traffic_direction {
    bool known; /* false: nobody counted; the numbers mean nothing */
    struct traffic_count load, store;
};

struct traffic {
    struct traffic_direction global;
    struct traffic_direction local_array; /* arrays that live in local memory: .local in the PTX */
    struct traffic_direction spill; /* values that ptxas pushed out: only the machine code knows */
};

#endif

#include "occupancy.h"

#include "text.h"

static unsigned round_up(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

static unsigned warps_of(unsigned threads)
{
    return (threads + OCCUPANCY_WARP_THREADS - 1) / OCCUPANCY_WARP_THREADS;
}

/* Registers that one warp takes. */
static unsigned warp_registers(const struct sm_limits *sm, unsigned registers)
{
    return round_up(registers * OCCUPANCY_WARP_THREADS, sm->register_allocation);
}

static unsigned blocks_by_registers(const struct sm_limits *sm, unsigned registers, unsigned warps)
{
    if (registers > sm->registers_per_thread)
        return 0;
    unsigned per_warp = warp_registers(sm, registers);
    if (per_warp * round_up(warps, sm->warp_allocation) > sm->registers_per_block)
        return 0; /* the launch is refused */
    if (per_warp == 0)
        return OCCUPANCY_NO_LIMIT;
    unsigned warps_per_part = sm->registers_per_sm / sm->sub_partitions / per_warp;
    return warps_per_part * sm->sub_partitions / warps;
}

static unsigned blocks_by_shared(const struct sm_limits *sm, unsigned bytes)
{
    unsigned most = sm->shared_per_block > sm->shared_per_block_optin ? sm->shared_per_block
                                                                      : sm->shared_per_block_optin;
    if (bytes > most)
        return 0;
    unsigned allocated = round_up(bytes + sm->shared_reserved, sm->shared_allocation);
    return allocated == 0 ? OCCUPANCY_NO_LIMIT : sm->shared_per_sm / allocated;
}

static unsigned blocks_fit(const struct sm_limits *sm, const struct occupancy_kernel *kernel,
                           unsigned blocks_by[OCCUPANCY_LIMIT_COUNT])
{
    unsigned warps = warps_of(kernel->threads);
    bool launchable = kernel->threads > 0 && kernel->threads <= sm->threads_per_block &&
                      (kernel->max_threads == 0 || kernel->threads <= kernel->max_threads);
    blocks_by[0] = launchable ? sm->threads_per_sm / OCCUPANCY_WARP_THREADS / warps : 0;
    blocks_by[1] = sm->blocks_per_sm;
    blocks_by[2] =
        launchable ? blocks_by_registers(sm, kernel->registers, warps) : OCCUPANCY_NO_LIMIT;
    blocks_by[3] = blocks_by_shared(sm, kernel->shared_bytes);
    blocks_by[4] = kernel->barriers == 0 || sm->barriers_per_sm == 0
                       ? OCCUPANCY_NO_LIMIT
                       : sm->barriers_per_sm / kernel->barriers;
    unsigned least = blocks_by[0];
    for (size_t i = 1; i < OCCUPANCY_LIMIT_COUNT; ++i)
        least = blocks_by[i] < least ? blocks_by[i] : least;
    return least;
}

/* The largest count below that takes less of the register file: only that can gain a block. */
static unsigned fewer_registers(const struct sm_limits *sm, unsigned registers)
{
    if (registers > sm->registers_per_thread)
        return sm->registers_per_thread;
    if (registers == 0)
        return 0;
    return (warp_registers(sm, registers) - sm->register_allocation) / OCCUPANCY_WARP_THREADS;
}

struct occupancy occupancy_compute(const struct sm_limits *sm,
                                   const struct occupancy_kernel *kernel)
{
    struct occupancy out = {.registers_allocated =
                                warp_registers(sm, kernel->registers) / OCCUPANCY_WARP_THREADS};
    out.blocks = blocks_fit(sm, kernel, out.blocks_by);
    for (size_t i = 0; i < OCCUPANCY_LIMIT_COUNT; ++i)
        if (out.blocks_by[i] == out.blocks)
            out.limited_by |= 1u << i;
    unsigned warps = out.blocks * warps_of(kernel->threads);
    unsigned slots = sm->threads_per_sm / OCCUPANCY_WARP_THREADS;
    out.threads = out.blocks * kernel->threads;
    out.percent = 100.0 * warps / slots;
    struct occupancy_kernel leaner = *kernel;
    unsigned unused[OCCUPANCY_LIMIT_COUNT];
    while (out.next_registers == 0) {
        leaner.registers = fewer_registers(sm, leaner.registers);
        if (leaner.registers == 0)
            break;
        unsigned blocks = blocks_fit(sm, &leaner, unused);
        if (blocks > out.blocks) {
            out.next_registers = leaner.registers;
            out.next_blocks = blocks;
        }
    }
    return out;
}

unsigned occupancy_max_block_threads(const struct sm_limits *sm, unsigned registers,
                                     unsigned max_threads)
{
    unsigned most = sm->threads_per_block;
    unsigned per_warp = warp_registers(sm, registers);
    if (registers > sm->registers_per_thread)
        return 0;
    if (per_warp > 0) {
        unsigned warps = sm->registers_per_block / per_warp;
        warps -= warps % sm->warp_allocation;
        if (warps * OCCUPANCY_WARP_THREADS < most)
            most = warps * OCCUPANCY_WARP_THREADS;
    }
    return max_threads != 0 && max_threads < most ? max_threads : most;
}

unsigned occupancy_register_budget(const struct sm_limits *sm, unsigned threads, unsigned blocks)
{
    struct occupancy_kernel kernel = {.threads = threads, .registers = sm->registers_per_thread};
    unsigned unused[OCCUPANCY_LIMIT_COUNT];
    while (kernel.registers > 0 && blocks_fit(sm, &kernel, unused) < blocks)
        --kernel.registers;
    return kernel.registers;
}

const char *occupancy_limit_name(enum occupancy_limit limit)
{
    switch (limit) {
    case OCCUPANCY_BY_THREADS:
        return "threads";
    case OCCUPANCY_BY_BLOCKS:
        return "blocks";
    case OCCUPANCY_BY_REGISTERS:
        return "registers";
    case OCCUPANCY_BY_SHARED:
        return "shared memory";
    case OCCUPANCY_BY_BARRIERS:
        return "barriers";
    }
    return "";
}

void occupancy_explain_registers(struct bytes *out, const struct sm_limits *sm,
                                 const struct occupancy_kernel *kernel)
{
    char a[TEXT_NUMBER_BYTES], b[TEXT_NUMBER_BYTES], c[TEXT_NUMBER_BYTES];
    unsigned per_warp = warp_registers(sm, kernel->registers), warps = warps_of(kernel->threads);
    unsigned allocated = per_warp / OCCUPANCY_WARP_THREADS;
    if (kernel->registers > sm->registers_per_thread) {
        (void)bytes_printf(out, "%u registers are more than the %u that a thread may have",
                           kernel->registers, sm->registers_per_thread);
        return;
    }
    if (per_warp == 0 || warps == 0) {
        (void)bytes_append_text(out, "no registers are used, so they set no limit");
        return;
    }
    if (allocated == kernel->registers)
        (void)bytes_printf(out, "%u registers are allocated as they are; ", allocated);
    else
        (void)bytes_printf(out, "%u registers are allocated as %u; ", kernel->registers, allocated);
    unsigned blocks = blocks_by_registers(sm, kernel->registers, warps);
    unsigned per_block = per_warp * warps,
             checked = per_warp * round_up(warps, sm->warp_allocation);
    if (blocks == 0) {
        (void)bytes_printf(out, "%u x %u = %s, more than the %s that a block may have", allocated,
                           checked / allocated, text_number(checked, a),
                           text_number(sm->registers_per_block, b));
    } else if (sm->registers_per_sm / per_block == blocks) {
        (void)bytes_printf(out, "%u x %u = %s; %s / %s = %u block%s", allocated,
                           per_block / allocated, text_number(per_block, a),
                           text_number(sm->registers_per_sm, b), text_number(per_block, c), blocks,
                           blocks == 1 ? "" : "s");
    } else {
        unsigned part = sm->registers_per_sm / sm->sub_partitions;
        (void)bytes_printf(out,
                           "a warp takes 32 x %u = %s; each of %u sub-partitions has %s, room for "
                           "%u warps; %u x %u / %u warps a block = %u block%s",
                           allocated, text_number(per_warp, a), sm->sub_partitions,
                           text_number(part, b), part / per_warp, sm->sub_partitions,
                           part / per_warp, warps, blocks, blocks == 1 ? "" : "s");
    }
}

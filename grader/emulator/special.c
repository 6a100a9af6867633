/* special.c - special registers (PTX ISA, chapter 10), addresses in frames, doubtful registers. */
#include "emulator/machine.h"

#include <time.h>

enum special special_find(const char *name, char component, enum width *width)
{
    static const struct {
        const char *name;
        enum special special; /* with a component: that of .x */
        bool is_vector;
        enum width width;
    } table[] = {
        {"%tid", SPECIAL_TID_X, true, WIDTH_32},
        {"%ntid", SPECIAL_NTID_X, true, WIDTH_32},
        {"%ctaid", SPECIAL_CTAID_X, true, WIDTH_32},
        {"%nctaid", SPECIAL_NCTAID_X, true, WIDTH_32},
        {"%laneid", SPECIAL_LANEID, false, WIDTH_32},
        {"%warpid", SPECIAL_WARPID, false, WIDTH_32},
        {"%nwarpid", SPECIAL_NWARPID, false, WIDTH_32},
        {"%smid", SPECIAL_SMID, false, WIDTH_32},
        {"%nsmid", SPECIAL_NSMID, false, WIDTH_32},
        {"%gridid", SPECIAL_GRIDID, false, WIDTH_64},
        {"%lanemask_eq", SPECIAL_LANEMASK_EQ, false, WIDTH_32},
        {"%lanemask_le", SPECIAL_LANEMASK_LE, false, WIDTH_32},
        {"%lanemask_lt", SPECIAL_LANEMASK_LT, false, WIDTH_32},
        {"%lanemask_ge", SPECIAL_LANEMASK_GE, false, WIDTH_32},
        {"%lanemask_gt", SPECIAL_LANEMASK_GT, false, WIDTH_32},
        {"%clock", SPECIAL_CLOCK, false, WIDTH_32},
        {"%clock_hi", SPECIAL_CLOCK_HI, false, WIDTH_32},
        {"%clock64", SPECIAL_CLOCK64, false, WIDTH_64},
        {"%globaltimer", SPECIAL_GLOBALTIMER, false, WIDTH_64},
        {"%globaltimer_lo", SPECIAL_GLOBALTIMER_LO, false, WIDTH_32},
        {"%globaltimer_hi", SPECIAL_GLOBALTIMER_HI, false, WIDTH_32},
        {"%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM_SIZE, false, WIDTH_32},
        {"%total_smem_size", SPECIAL_TOTAL_SMEM_SIZE, false, WIDTH_32},
        {"%aggr_smem_size", SPECIAL_TOTAL_SMEM_SIZE, false, WIDTH_32},
        {"%clusterid", SPECIAL_CTAID_X, true, WIDTH_32}, /* clusters are one block each */
        {"%nclusterid", SPECIAL_NCTAID_X, true, WIDTH_32},
        {"%envreg1", SPECIAL_WORKSPACE_HIGH, false, WIDTH_32},
        {"%envreg2", SPECIAL_WORKSPACE_LOW, false, WIDTH_32},
        {"%reserved_smem_offset_begin", SPECIAL_ZERO, false, WIDTH_32},
        {"%reserved_smem_offset_0", SPECIAL_ZERO, false, WIDTH_32},
        {"%reserved_smem_offset_1", SPECIAL_RESERVED_MIDDLE, false, WIDTH_32},
        {"%reserved_smem_offset_end", SPECIAL_RESERVED_END, false, WIDTH_32},
        {"%reserved_smem_offset_cap", SPECIAL_RESERVED_END, false, WIDTH_32},
        {"%cluster_ctarank", SPECIAL_ZERO, false, WIDTH_32},
        {"%cluster_nctarank", SPECIAL_ONE, false, WIDTH_32},
    };
    for (size_t i = 0; i < COUNT_OF(table); ++i) {
        if (strcmp(name, table[i].name) != 0)
            continue;
        *width = table[i].width;
        if (table[i].is_vector && component == 'w')
            return SPECIAL_ZERO;
        if (table[i].is_vector && component >= 'x' && component <= 'z')
            return (enum special)((int)table[i].special + (component - 'x'));
        if (!table[i].is_vector && component == '\0')
            return table[i].special;
    }
    /* Counters of performance, and what a driver may leave to be read: always zero. */
    if (component == '\0' && (strncmp(name, "%pm", 3) == 0 || strncmp(name, "%envreg", 7) == 0)) {
        *width = strstr(name, "_64") != NULL ? WIDTH_64 : WIDTH_32;
        return SPECIAL_ZERO;
    }
    if (component >= 'x' && component <= 'z') {
        *width = WIDTH_32;
        if (strcmp(name, "%cluster_ctaid") == 0)
            return SPECIAL_ZERO;
        if (strcmp(name, "%cluster_nctaid") == 0)
            return SPECIAL_ONE;
    }
    return SPECIAL_UNKNOWN;
}

/* A clock that only goes forward: instructions run, or the host's time in ns for globaltimer. The
 * `ahead` last ones of the basic block have been counted when it began, and are yet to run. */
static uint64_t uniform_value(const struct warp *warp, enum special special, uint32_t ahead)
{
    const struct runner *runner = warp->runner;
    const struct launch *launch = runner->launch;
    struct timespec now;
    switch (special) {
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
        return launch->block[special - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
        return runner->block[special - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
        return launch->grid[special - SPECIAL_NCTAID_X];
    case SPECIAL_WARPID:
        return warp->number;
    case SPECIAL_NWARPID:
        return 64;
    case SPECIAL_RESERVED_MIDDLE:
        return RESERVED_SHARED_BYTES / 2;
    case SPECIAL_RESERVED_END:
        return RESERVED_SHARED_BYTES;
    case SPECIAL_NSMID:
    case SPECIAL_GRIDID:
    case SPECIAL_ONE:
        return 1;
    case SPECIAL_CLOCK:
    case SPECIAL_CLOCK64:
        return (runner->instructions - ahead) * 4;
    case SPECIAL_CLOCK_HI:
        return (runner->instructions - ahead) * 4 >> 32;
    case SPECIAL_GLOBALTIMER:
    case SPECIAL_GLOBALTIMER_LO:
    case SPECIAL_GLOBALTIMER_HI: {
        (void)clock_gettime(CLOCK_REALTIME, &now);
        uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
        return special == SPECIAL_GLOBALTIMER_HI ? ns >> 32 : ns;
    }
    case SPECIAL_DYNAMIC_SMEM_SIZE:
        return launch->dynamic_bytes;
    case SPECIAL_TOTAL_SMEM_SIZE:
        return launch->shared_bytes - launch->kernel->reserved_bytes;
    case SPECIAL_WORKSPACE_LOW:
        return launch->emulator->workspace->base;
    case SPECIAL_WORKSPACE_HIGH:
        return launch->emulator->workspace->base >> 32;
    default:
        return 0; /* SMID: one multiprocessor; SPECIAL_ZERO */
    }
}

static uint32_t lane_value(const struct warp *warp, enum special special, unsigned lane)
{
    const uint32_t bit = UINT32_C(1) << lane;
    switch (special) {
    case SPECIAL_TID_X:
    case SPECIAL_TID_Y:
    case SPECIAL_TID_Z:
        return warp->tid[special - SPECIAL_TID_X][lane];
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_LANEMASK_EQ:
        return bit;
    case SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case SPECIAL_LANEMASK_LT:
        return bit - 1;
    case SPECIAL_LANEMASK_GE:
        return ~(bit - 1);
    default:
        return ~(bit | (bit - 1));
    }
}

static bool is_uniform(enum special special)
{
    return special > SPECIAL_TID_Z && special != SPECIAL_LANEID &&
           !(special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GT);
}

void special_read(struct warp *warp, const struct op *op)
{
    const enum special special = (enum special)op->imm;
    const uint64_t uniform = is_uniform(special) ? uniform_value(warp, special, op->a) : 0;
    const unsigned bytes = width_bytes((enum width)op->width);
    if (warp->active == FULL_MASK && special <= SPECIAL_TID_Z) {
        memcpy(warp->registers + op->d, warp->tid[special - SPECIAL_TID_X], 4 * LANES);
        return;
    }
    if (warp->active == FULL_MASK && is_uniform(special) && bytes == 4) {
        for (unsigned lane = 0; lane < LANES; ++lane)
            memcpy(warp->registers + op->d + 4 * lane, &uniform, 4);
        return;
    }
    for (uint32_t left = warp->active; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t value = is_uniform(special) ? uniform : lane_value(warp, special, lane);
        memcpy(warp->registers + op->d + bytes * lane, &value, bytes);
    }
}

void special_frame_address(struct warp *warp, const struct op *op)
{
    const uint64_t value = warp->frame->local_base + op->imm;
    const unsigned bytes = width_bytes((enum width)op->width);
    for (uint32_t left = warp->active; left != 0; left &= left - 1)
        memcpy(warp->registers + op->d + bytes * (unsigned)__builtin_ctz(left), &value, bytes);
}

/* ---- Registers that may be undefined -------------------------------------------------------- */

void defined_check(struct warp *warp, const struct op *op)
{
    uint32_t defined;
    memcpy(&defined, warp->registers + op->a, sizeof defined);
    const uint32_t missing = warp->active & ~defined;
    if (missing == 0 || !warp->runner->launch->checks)
        return;
    const struct ptx_operand *operand = op->detail;
    for (uint32_t left = missing; left != 0; left &= left - 1) {
        struct fault_site site = {.op = op, .lane = (unsigned)__builtin_ctz(left)};
        fault_report(warp, &site, "uninitialised register", op->imm != 0,
                     "uses the register %.60s, which has no value yet", operand->name);
    }
    defined |= missing; /* once is enough */
    memcpy(warp->registers + op->a, &defined, sizeof defined);
}

void defined_set(struct warp *warp, const struct op *op)
{
    uint32_t defined;
    memcpy(&defined, warp->registers + op->d, sizeof defined);
    defined |= warp->active;
    memcpy(warp->registers + op->d, &defined, sizeof defined);
}

void defined_copy(struct warp *warp, const struct op *op)
{
    uint32_t defined, source;
    memcpy(&defined, warp->registers + op->d, sizeof defined);
    memcpy(&source, warp->registers + op->a, sizeof source);
    defined = (defined & ~warp->active) | (source & warp->active);
    memcpy(warp->registers + op->d, &defined, sizeof defined);
}

/* lane_values.h - reading and writing single lanes and predicates of the running frame. */
#ifndef SPILLWAY_EMULATOR_LANE_VALUES_H
#define SPILLWAY_EMULATOR_LANE_VALUES_H

#include "emulator/machine.h"

static inline uint32_t read_mask(const struct warp *warp, uint32_t offset)
{
    uint32_t mask;
    memcpy(&mask, warp->registers + offset, sizeof mask);
    return mask;
}

/* Only the active lanes change. */
static inline void write_mask(const struct warp *warp, uint32_t offset, uint32_t value)
{
    uint32_t mask = (read_mask(warp, offset) & ~warp->active) | (value & warp->active);
    memcpy(warp->registers + offset, &mask, sizeof mask);
}

static inline uint32_t read_lane(const struct warp *warp, uint32_t offset, unsigned lane)
{
    uint32_t value;
    memcpy(&value, warp->registers + offset + 4 * lane, sizeof value);
    return value;
}

static inline void write_lane(const struct warp *warp, uint32_t offset, unsigned lane,
                              uint32_t value)
{
    memcpy(warp->registers + offset + 4 * lane, &value, sizeof value);
}

static inline uint64_t read_wide(const struct warp *warp, uint32_t offset, unsigned lane)
{
    uint64_t value;
    memcpy(&value, warp->registers + offset + 8 * lane, sizeof value);
    return value;
}

#define EACH_ACTIVE(lane)                                                                          \
    for (uint32_t left_ = warp->active, lane = 0;                                                  \
         left_ != 0 && ((lane = (uint32_t)__builtin_ctz(left_)), true); left_ &= left_ - 1)

#endif

/* support_emulator.h - what the suites of the emulator share. */
#ifndef SPILLWAY_SUPPORT_EMULATOR_H
#define SPILLWAY_SUPPORT_EMULATOR_H

#include "testing.h"

#include "emulator/emulator.h"

struct emulator *support_emulator(const char *ptx, size_t length); /* aborts the test on failure */
struct emulator *support_emulator_fixture(const char *name);

struct support_argument {
    const void *data;
    size_t bytes;
};

/* One launch; aborts the test unless it could be made. Release the result. */
struct emulator_result support_launch(struct emulator *emulator, const char *entry, unsigned grid,
                                      unsigned block, const struct support_argument *arguments,
                                      size_t count, const struct emulator_options *options);

/* A poisoned or (with data) initialised buffer. */
uint64_t support_buffer(struct emulator *emulator, const char *label, const void *data,
                        size_t bytes);

/* Fails the test with the first fault's words unless the launch finished. */
void support_finished(const struct emulator_result *result);

/* Pseudo-random numbers of a fixed seed; floats in [-8, 8) of few bits, never subnormal. */
uint32_t support_random(uint32_t *state);
float support_random_float(uint32_t *state);

#endif

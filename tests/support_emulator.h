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

/* Runs `statements` as the body of a kernel: %in and %out hold the addresses of two buffers, %t is
 * the thread's index in the grid, and b16, b32 and b64 registers %h, %r, %d, predicates %p, f32 %f
 * and f64 %g can be used, twenty of each. `declarations` come before it. The launch need not
 * finish. */
struct support_kernel {
    const char *declarations, *statements;
    unsigned grid, block; /* 0: 1 and 32 */
    unsigned shared_bytes;
    const void *in;
    size_t in_bytes;
    void *out; /* what it begins with, and where it is copied */
    size_t out_bytes;
    struct emulator_options options;
};
struct emulator_result support_run(const struct support_kernel *kernel);

/* Fails the test with the first fault's words unless the launch finished. */
void support_finished(const struct emulator_result *result);

/* Pseudo-random numbers of a fixed seed; floats in [-8, 8) of few bits, never subnormal. */
uint32_t support_random(uint32_t *state);
float support_random_float(uint32_t *state);

#endif

/* bench.h - what the parts of `make bench` share: rounds, ratios, bars. */
#ifndef SPILLWAY_BENCH_H
#define SPILLWAY_BENCH_H

#include "base.h"

#include "emulator/emulator.h"

#define ROUNDS_MAX 101

struct bench {
    const char *spillway, *nvcc;
    char *folder; /* owned; temporary */
    unsigned rounds;
    bool missed;
    struct emulator *emulator;
    float *input, *output, *expected; /* owned */
    uint64_t device_input, device_output;
};

struct series { /* a figure of each round */
    double values[ROUNDS_MAX];
};

_Noreturn void give_up(const char *text);
/* Runs a program to its end; its wall time in ns. Gives up when it fails. */
double run_program(const struct bench *bench, const char *const *argv);
double median_of(struct series series, unsigned count);
/* Prints the ratio of two series, round by round. bar 0: none. */
void print_ratio(struct bench *bench, const char *what, const struct series *measured,
                 const struct series *against, double bar);
void print_time(const char *what, const struct series *series, unsigned rounds);

/* kernels.c: barriers, shuffles and divergence; threads; checks. */
void bench_kernels(struct bench *bench);

#endif

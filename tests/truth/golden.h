/* golden.h - what the hardware made of the launches: tests/fixtures/truth/golden, read.
 *
 * Made by record.sh and golden.sh; measured.md beside the data says where and when. */
#ifndef SPILLWAY_TRUTH_GOLDEN_H
#define SPILLWAY_TRUTH_GOLDEN_H

#include "bytes.h"

/* The columns of counters.tsv and probes.tsv. */
enum golden_counter {
    GOLDEN_GLOBAL_LOAD_REQUESTS,
    GOLDEN_GLOBAL_LOAD_SECTORS,
    GOLDEN_GLOBAL_STORE_REQUESTS,
    GOLDEN_GLOBAL_STORE_SECTORS,
    GOLDEN_LOCAL_LOAD_REQUESTS,
    GOLDEN_LOCAL_LOAD_SECTORS,
    GOLDEN_LOCAL_STORE_REQUESTS,
    GOLDEN_LOCAL_STORE_SECTORS,
    GOLDEN_RED_REQUESTS,
    GOLDEN_RED_SECTORS,
    GOLDEN_ATOM_REQUESTS,
    GOLDEN_ATOM_SECTORS,
    GOLDEN_SHARED_LOADS,
    GOLDEN_SHARED_LOAD_WAVEFRONTS,
    GOLDEN_SHARED_STORES,
    GOLDEN_SHARED_STORE_WAVEFRONTS,
    GOLDEN_SHARED_ATOMICS,
    GOLDEN_INSTRUCTIONS,
    GOLDEN_COUNTER_COUNT
};
extern const char *const golden_counter_names[GOLDEN_COUNTER_COUNT];

struct golden {
    struct bytes counters, outputs, raw, rows, rows_raw, fused; /* the files */
};

/* Aborts the test if a file cannot be read. */
void golden_read(struct golden *ret);
void golden_release(struct golden *golden);

/* false: that launch was not counted. */
bool golden_counters(const struct golden *golden, const char *group, const char *launch,
                     uint64_t ret[GOLDEN_COUNTER_COUNT]);

/* It comes out otherwise when ptxas joins products and sums. */
bool golden_is_fused(const struct golden *golden, const char *group, const char *launch);

struct golden_output {
    uint64_t hash; /* truth_hash() of the buffer */
    size_t bytes;
    const unsigned char *raw; /* the buffer itself, of approximations only; inside golden->raw */
};
/* false: that launch was not recorded. */
bool golden_output(const struct golden *golden, const char *group, const char *launch, int argument,
                   struct golden_output *ret);

/* The same of an instruction; raw: its first 512 results, 8 bytes each. */
bool golden_row(const struct golden *golden, const char *key, struct golden_output *ret);

#endif

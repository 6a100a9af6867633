/* emulator.h - run PTX kernels on the CPU, and check every access while doing so.
 *
 * Life cycle: emulator_create() over PTX text; emulator_allocate() and emulator_copy_in() for each
 * buffer; emulator_launch(); emulator_copy_out(); emulator_free(). Launches on one emulator run one
 * after another; each spreads its blocks over `threads` threads. */
#ifndef SPILLWAY_EMULATOR_H
#define SPILLWAY_EMULATOR_H

#include "bytes.h"
#include "errors.h"
#include "traffic.h"

struct emulator;

enum emulator_status {
    EMULATOR_FINISHED,
    EMULATOR_FAULTED, /* at least one fault: see faults */
    EMULATOR_REFUSED, /* an instruction or feature that we do not run: see refusal */
    EMULATOR_STOPPED, /* instruction budget or wall clock: see faults[0] for the line it was on */
};

struct emulator_fault {
    char kind[48];   /* "out of bounds", "misaligned", "uninitialised read", "trap", … */
    char text[1024]; /* one sentence: kernel, source line, block, thread, address, buffer */
    char file[256];  /* from .loc; "" unknown */
    unsigned line;   /* source line from .loc; 0 unknown */
    unsigned ptx_line;
    unsigned block[3], thread[3];
    uint64_t address;
    unsigned bytes;
    uint64_t count; /* accesses that met this kind at this line */
    bool warning;   /* does not make the launch a fault (e.g. a global race) */
};

struct emulator_options {
    unsigned threads;               /* 0: one per core */
    uint64_t max_warp_instructions; /* of one launch; 0: the default in caps.h */
    int64_t wall_ns;                /* 0: no limit */
    bool (*interrupted)(void);      /* asked now and then; true ends the launch. NULL: never */
    bool no_checks; /* bounds stay checked (memory safety); init, race, alignment are not */
};

struct emulator_launch {
    const char *entry;
    unsigned grid[3], block[3];
    unsigned shared_bytes;        /* dynamic */
    const void *const *arguments; /* one pointer to the bytes of each parameter */
    const size_t *argument_bytes;
    size_t argument_count;
};

/* What a launch did, summed over its warps. A warp instruction counts once, whatever the lanes. */
enum emulator_kind {
    EMULATOR_INTEGER, /* arithmetic, logic, comparison, moves */
    EMULATOR_FLOAT,   /* f32, f16, bf16 */
    EMULATOR_DOUBLE,
    EMULATOR_CONVERSION,
    EMULATOR_LOAD,
    EMULATOR_STORE,
    EMULATOR_ATOMIC,
    EMULATOR_CONTROL,  /* branches, calls, ends */
    EMULATOR_BARRIER,  /* of the block */
    EMULATOR_EXCHANGE, /* among the lanes of a warp */
    EMULATOR_OTHER,
    EMULATOR_KIND_COUNT
};
const char *emulator_kind_name(enum emulator_kind kind);

struct emulator_counters {
    uint64_t instructions[EMULATOR_KIND_COUNT];
    uint64_t lane_instructions; /* summed over the active lanes: share = this / 32 / instructions */
    uint64_t branches, divergent_branches;
    uint64_t barriers; /* times that a barrier of a block opened */
    struct traffic_count global_atomic, async_copy;
    uint64_t shared_atomics;                        /* requests */
    struct traffic_count shared_load, shared_store; /* requests; sectors: wavefronts */
};

/* Sums of products that ptxas may round once, the emulator twice: see fuse.c. */
struct emulator_fusable {
    uint64_t count;          /* additions in the kernel's code; 0: none */
    unsigned line, ptx_line; /* of the first; line 0: unknown */
};

struct emulator_result {
    enum emulator_status status;
    struct emulator_fault *faults;
    size_t fault_count;     /* owned; first of each kind and line */
    char refusal[512];      /* "line 88: mma.sync…: …" */
    struct traffic traffic; /* global and local_array; spill is not known to PTX */
    struct emulator_counters counters;
    uint64_t warps; /* warps launched */
    uint64_t warp_instructions;
    struct emulator_fusable fusable;
    struct bytes printed; /* printf output of the kernel, capped */
};

/* NULL with *err when the PTX cannot be parsed ("line N: …") or memory is short. */
struct emulator *emulator_create(const char *ptx, size_t length, struct error *err);
void emulator_free(struct emulator *emulator);

/* Device address of a new buffer, a multiple of 256 KiB (of larger ones, of their size up to 2 MiB,
 * with 64-bit addresses), surrounded by addresses that belong to nobody; 0 when memory is short.
 * Where a buffer begins decides how lanes of an atomic take turns: see traffic.c. Contents count as
 * uninitialised until written. */
uint64_t emulator_allocate(struct emulator *emulator, size_t bytes, const char *label);

/* Host access. Return -1 when the range is not inside one buffer. copy_in marks bytes initialised;
 * poison fills without marking. */
int emulator_copy_in(struct emulator *emulator, uint64_t address, const void *data, size_t bytes);
int emulator_poison(struct emulator *emulator, uint64_t address, const void *data, size_t bytes);
int emulator_copy_out(struct emulator *emulator, uint64_t address, void *data, size_t bytes);

/* Returns 0 whatever the kernel did; -1 with *err for no memory, an unknown entry, arguments that
 * do not fit its parameters, or an interrupt. Release the result. */
int emulator_launch(struct emulator *emulator, const struct emulator_launch *request,
                    const struct emulator_options *options, struct emulator_result *ret,
                    struct error *err);
void emulator_result_release(struct emulator_result *result);

#endif

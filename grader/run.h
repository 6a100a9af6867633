/* run.h - run kernels under an executor in a worker process, and bring back raw bytes.
 *
 * The parent makes inputs, keeps the clock and compares; the worker (`spillway worker`, exec'd)
 * gets the module and the inputs through a memfd and answers on a private pipe with framed records.
 * A launch that hangs is killed by the wall clock; a launch that faults on a GPU ends that worker,
 * and the remaining launches continue in a fresh one. So one kernel's trouble is never another's.
 *
 * Life cycle: fill a struct run_request, run_launches(), read struct run, run_release(). */
#ifndef SPILLWAY_RUN_H
#define SPILLWAY_RUN_H

#include "errors.h"
#include "traffic.h"

#define RUN_ARGUMENTS_MAX 16
#define RUN_LAUNCHES_MAX 256

enum executor_kind { EXECUTOR_NONE, EXECUTOR_GPU, EXECUTOR_EMULATOR };

/* "none", "gpu", "emulator": as the JSON has them. */
const char *executor_word(enum executor_kind kind);

/* A GPU's worker that lives on from run to run, since making a context costs more than a lab's
 * launches. It is replaced after a fault, and after a number of runs all the same. For one run at a
 * time, and one thread: the worker dies with the thread that started it. Only GPU runs use it. */
struct run_lane;
struct run_lane *run_lane_open(void); /* NULL: no memory, and then each run gets its own worker */
void run_lane_close(struct run_lane *lane);

/* ---- What to run (all pointers borrowed until run_launches() returns) ------------------------ */

struct run_argument {
    enum { RUN_SCALAR, RUN_INPUT, RUN_OUTPUT } role;
    unsigned scalar_bytes; /* RUN_SCALAR: 4 or 8 */
    uint64_t scalar;       /* RUN_SCALAR: the bits, little endian */
    const void *data;      /* RUN_INPUT: `bytes` bytes */
    size_t bytes;          /* RUN_INPUT, RUN_OUTPUT */
    const char *name;      /* for messages: "in", "out" */
};

struct run_launch {
    const char *kernel; /* source name, for messages */
    const char *symbol; /* entry in the module */
    unsigned grid[3], block[3];
    unsigned shared_bytes; /* dynamic */
    const struct run_argument *arguments;
    size_t argument_count;
    unsigned timing_group; /* launches of one non-zero group are timed interleaved (GPU only) */
    int64_t frame_bytes;   /* of the kernel, so that stale local memory can be scrubbed */
    int64_t shared_static_bytes;
};

struct run_request {
    enum executor_kind executor;
    const void *module; /* EXECUTOR_EMULATOR: PTX text; EXECUTOR_GPU: cubin for the device */
    size_t module_bytes;
    const void *scrub_module; /* EXECUTOR_GPU: cubin of scrub_source(), or NULL */
    size_t scrub_module_bytes;
    const struct run_launch *launches;
    size_t launch_count;
    uint64_t poison_seed;   /* outputs are poisoned with NaN patterns drawn from it */
    unsigned threads;       /* emulator threads; 0: one per core */
    unsigned timing_rounds; /* GPU: 0 = do not time */
    int64_t launch_wall_ns; /* silence allowed per launch; 0: LIMIT_LAUNCH_SECONDS */
    int device;             /* GPU ordinal */
    bool unconfined;        /* the worker does not shut itself in */
    bool guards_only;       /* GPU: guard zones even where unmapped pages could be had (tests) */
    struct run_lane *lane;  /* NULL: a worker of its own */
};

/* ---- What came back -------------------------------------------------------------------------- */

enum run_status {
    RUN_NOT_RUN, /* the executor is none, or the run was given up before this launch */
    RUN_FINISHED,
    RUN_FAULTED, /* illegal address, misaligned, trap, assert, launch error, … : fault says what */
    RUN_TIMED_OUT, /* killed by the wall clock or the instruction budget */
    RUN_REFUSED,   /* the emulator does not know an instruction: not the student's fault */
    RUN_LOST,      /* the worker died for no reason that we can pin on the kernel: infrastructure */
};

/* The kind of fault of a launch that was spared, since an earlier one of its kernel hung. */
#define RUN_NOT_LAUNCHED_AGAIN "not launched again"

struct run_fault {
    char kind[48];   /* "out of bounds", "misaligned", "uninitialised read", "trap", … */
    char text[1024]; /* the whole sentence, for people */
    char file[256];  /* source file as .file says; "" unknown */
    unsigned line;   /* source line; 0 unknown */
    uint64_t count;  /* how many threads or accesses met it; 0 unknown */
};

struct run_timing {
    bool known;
    double median_ns, q1_ns, q3_ns;
    unsigned rounds;
    double *samples_ns; /* owned; `rounds` of them in the order of the rounds, so that two launches
                           of one group can be compared round by round (timing.h) */
    double empty_ns;    /* median of an event pair around nothing: what the clock itself costs */
};

struct run_output { /* one per RUN_OUTPUT argument, in argument order */
    void *data;     /* owned; the bytes after the launch; NULL unless RUN_FINISHED */
    size_t bytes;
    bool scrub_differs; /* GPU: two launches over different stale memory gave different bytes */
    size_t scrub_first; /* byte offset of the first such difference */
};

struct run_launch_result {
    enum run_status status;
    struct run_output outputs[RUN_ARGUMENTS_MAX];
    size_t output_count;
    bool input_changed;        /* an input buffer no longer equals its pristine copy */
    unsigned input_index;      /* which argument */
    size_t input_offset;       /* first changed byte */
    bool later_launch_differs; /* a repeated (timed) launch with fresh inputs gave a wrong answer */
    struct run_fault fault;    /* RUN_FAULTED, RUN_TIMED_OUT, RUN_REFUSED, RUN_LOST */
    struct run_fault warning;  /* emulator: the first remark that is no fault; kind "": none */
    struct traffic traffic;
    uint64_t warps_launched, warps_active; /* emulator: warps with at least one thread */
    struct run_timing time;
    /* Device's own view (GPU only): -1 unknown. */
    int64_t device_registers, device_local_bytes, device_shared_bytes, device_max_threads;
    int64_t device_blocks_per_sm;
    char *printed; /* what the kernel printed, owned, capped; NULL: nothing */
};

struct run {
    enum executor_kind executor;
    char device[128];                   /* "NVIDIA H200"; "PTX emulator, 2 threads" */
    unsigned device_cc;                 /* 90; 0 for the emulator */
    struct run_launch_result *launches; /* owned, launch_count of the request */
    size_t launch_count;
    int64_t wall_ns;
};

/* Runs every launch. Returns 0 whatever the kernels did; -1 with *err when the machine failed us
 * (no worker, no memory, GPU gone) or the user interrupted. *out is then empty. */
int run_launches(struct run *out, const struct run_request *request, struct error *err);
void run_release(struct run *run);

/* The 32-bit word that fills the outputs of this launch before it runs: a NaN as a float, as a
 * double and as a half. An output element that still holds it was never written. */
uint32_t run_poison_word(uint64_t poison_seed, size_t launch);

#endif

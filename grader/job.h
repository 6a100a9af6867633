/* job.h - what the grader and its worker say to each other: the layout of the shared memory, and
 * the messages.
 *
 * Three things connect the two processes.
 *   The job: a memfd, sealed against every change once it is written. It holds a struct job_header,
 *     the tables of launches and arguments, the module, and the inputs. Nothing in it points; every
 *     place is an offset from its beginning.
 *   The results: a second memfd of a fixed size, which the worker writes and the grader reads. One
 *     launch uses it at a time: the grader copies the bytes out before it asks for the next.
 *   A socket that keeps message boundaries: the grader sends a struct job_task, the worker answers
 *     with struct job_record. One task is in flight at a time.
 *
 * Both sides check everything before they use it: the worker the job's offsets (job_open), the
 * grader the records (job_record_valid). A worker never computes an address from a message.
 * All structs are plain data of fixed-width fields without padding between them. */
#ifndef SPILLWAY_JOB_H
#define SPILLWAY_JOB_H

#include "run.h"

#include <fcntl.h>
#include "timing.h"

#define JOB_MAGIC UINT32_C(0x53504a42) /* "SPJB" */
#define JOB_VERSION UINT32_C(1)

#define JOB_LAUNCHES_MAX RUN_LAUNCHES_MAX
#define JOB_NAME_BYTES ((size_t)64 << 10)
#define JOB_TIMED_MAX 16                  /* launches of one timing group */
#define JOB_SAMPLES_MAX TIMING_ROUNDS_MAX /* timed rounds kept */
#define JOB_ALIGNMENT 64                  /* of every place in the two memories */
#define JOB_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE) /* that a job must carry */
#define JOB_DESCRIPTOR_JOB 3                                          /* the worker's descriptors */
#define JOB_DESCRIPTOR_RESULTS 4
#define JOB_DESCRIPTOR_SOCKET 5

/* ---- The job ---------------------------------------------------------------------------------*/

struct job_span {
    uint64_t offset, bytes;
};

struct job_argument {
    uint32_t role;         /* RUN_SCALAR, RUN_INPUT, RUN_OUTPUT */
    uint32_t scalar_bytes; /* 4 or 8 */
    uint64_t scalar;
    uint64_t bytes;       /* of the buffer */
    struct job_span data; /* RUN_INPUT: the pristine bytes */
    struct job_span name; /* with its NUL */
    uint64_t first;       /* in the results: the buffer after the launch */
    uint64_t second;      /* RUN_OUTPUT on a GPU: after the second launch, over other leftovers */
};

struct job_launch {
    struct job_span kernel, symbol; /* with their NUL */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes, timing_group;
    uint32_t first_argument, argument_count;
    uint64_t frame_bytes, shared_static_bytes;
    uint64_t samples; /* in the results: JOB_SAMPLES_MAX doubles; timed launches only */
};

struct job_header {
    uint32_t magic, version;
    uint64_t total_bytes, result_bytes;
    uint32_t executor, device;
    uint32_t threads, timing_rounds;
    uint32_t launch_count, argument_count;
    uint64_t poison_seed;
    uint64_t wall_ns;     /* of one launch, for an executor that can stop itself */
    uint64_t guards_only; /* 0 or 1 */
    struct job_span launches, arguments, module, scrub_module;
};

/* A job as its two memories: owned mappings and descriptors. A zero struct with both descriptors
 * -1 is empty. */
struct job {
    int job_fd, result_fd;
    const unsigned char *base;
    unsigned char *results; /* writable in the worker only */
    const struct job_header *header;
    const struct job_launch *launches;
    const struct job_argument *arguments;
};

/* Grader's side: lays the request out, writes and seals the job, makes the results. -1 with *err
 * when memory is short or the request passes a cap. */
int job_create(struct job *out, const struct run_request *request, struct error *err);
/* Worker's side: maps both descriptors (which it takes over) and checks every offset. */
int job_open(struct job *out, int job_fd, int result_fd, struct error *err);
void job_release(struct job *job);

static inline const char *job_text(const struct job *job, struct job_span span)
{
    return (const char *)job->base + span.offset;
}
static inline const struct job_argument *job_launch_arguments(const struct job *job,
                                                              const struct job_launch *launch)
{
    return job->arguments + launch->first_argument;
}

/* ---- Messages --------------------------------------------------------------------------------*/

enum job_task_kind {
    JOB_RUN = 1, /* the launch that is compared: -> JOB_RAN or JOB_FAULT */
    JOB_FENCE,   /* the launch beside unmapped memory: -> JOB_FENCED or JOB_FAULT */
    JOB_TIME,    /* timed rounds: JOB_PROGRESS …, then JOB_TIMED or JOB_FAULT */
    JOB_SURVEY,  /* what GPUs are there: -> JOB_SURVEYED */
    JOB_NEXT,    /* on a GPU: another job, whose two memories come along: -> JOB_HELLO */
};

enum job_fence_side { JOB_FENCE_END, JOB_FENCE_START };

struct job_task {
    uint32_t magic, version;
    uint32_t sequence; /* 1, 2, …; every answer repeats it */
    uint32_t kind;
    uint32_t launch;
    uint32_t fence_side;
    uint32_t fence_alignment; /* of the buffer's start; 1: end it exactly at the fence */
    uint32_t fenced;          /* bit i: argument i gets a fence */
    uint32_t timed_count;
    uint32_t timed[JOB_TIMED_MAX];
};

enum job_record_kind {
    JOB_HELLO =
        1, /* the executor is up and, on a GPU, has answered a probe; first with sequence 0 */
    JOB_RAN,
    JOB_FAULT,
    JOB_FENCED,
    JOB_PROGRESS, /* `launch` is about to run once more */
    JOB_TIMED,
    JOB_SURVEYED,
    JOB_TROUBLE, /* the machine failed us, not the kernel */
};

struct job_hello {
    char device[128];
    unsigned char uuid[16]; /* of a GPU */
    uint32_t cc, reserved;
};

struct job_count {
    uint64_t known, load_requests, load_sectors, store_requests, store_sectors;
};

struct job_device { /* the device's own view of the kernel; -1 unknown */
    int64_t registers, local_bytes, shared_bytes, max_threads, blocks_per_sm;
};

struct job_fault {
    uint32_t status; /* RUN_FAULTED, RUN_TIMED_OUT, RUN_REFUSED */
    uint32_t line;
    uint64_t count;
    char kind[48], text[1024], file[256];
};

struct job_ran {
    struct job_device device;
    struct job_count global, local_array;
    uint64_t warps_launched, warps_active;
    uint32_t later_differs; /* emulator: a second launch over other inputs went wrong */
    uint32_t reserved;
    struct job_fault warning; /* kind "" when there is none */
};

struct job_faulted {
    struct job_device device;
    struct job_fault fault;
    uint32_t ends_worker; /* the device context is dead: the worker exits after this record */
    uint32_t misaligned;  /* the fault was a misaligned access */
    uint32_t address;     /* the fault was an illegal address */
    uint32_t reserved;
};

struct job_fenced {
    uint32_t changed;  /* 1: bytes beside a buffer were overwritten */
    uint32_t depends;  /* 1: the output depends on bytes beside a buffer (guard zones only) */
    uint32_t argument; /* changed: which */
    uint32_t after;    /* changed: 1 behind the end, 0 before the start */
    uint64_t distance; /* changed: bytes between the buffer and the nearest changed byte */
    uint32_t guarded;  /* 1: guard zones stood in for unmapped memory */
    uint32_t reserved;
};

struct job_progress {
    uint64_t round;
};

struct job_timed {
    uint32_t count; /* as the task's timed_count */
    uint32_t rounds;
    double empty_ns; /* median of an event pair with nothing in between; 0: not measured */
    uint32_t differs[JOB_TIMED_MAX];
};

struct job_gpu {
    char name[128];
    uint32_t ordinal, major, minor, threads_per_sm, blocks_per_sm, threads_per_block;
    uint32_t registers_per_sm, registers_per_block, shared_per_sm, shared_per_block;
    uint32_t shared_per_block_optin, shared_reserved;
    uint64_t memory_bytes;
};

#define JOB_GPUS_MAX 16
struct job_surveyed {
    uint32_t driver_present, driver_version, runtime_version, device_count;
    struct job_gpu devices[JOB_GPUS_MAX];
    char why_none[256];
};

struct job_trouble {
    char text[1024];
};

struct job_record {
    uint32_t magic, version, sequence, kind, launch;
    uint32_t payload_bytes; /* of the union's member that belongs to the kind */
    union {
        struct job_hello hello;
        struct job_ran ran;
        struct job_faulted fault;
        struct job_fenced fenced;
        struct job_progress progress;
        struct job_timed timed;
        struct job_surveyed surveyed;
        struct job_trouble trouble;
    };
};
#define JOB_RECORD_HEAD_BYTES offsetof(struct job_record, hello)

/* Bytes of a kind's payload; 0: there is no such kind. */
size_t job_payload_bytes(uint32_t kind);

/* What the grader expects the next record to belong to. */
struct job_expectation {
    uint32_t sequence;
    const struct job_task *task; /* NULL: the hello */
    uint32_t launch_count;
};

/* Is this message, of `length` bytes in a buffer of sizeof(struct job_record), one that the worker
 * may send now? If not, *why is a sentence's end. Texts hold their NUL and numbers are in range
 * after a true. */
bool job_record_valid(const struct job_record *record, size_t length,
                      const struct job_expectation *expected, const char **why);

/* A task that the worker may act on: kind, launch and argument indices fit the job. */
bool job_task_valid(const struct job_task *task, size_t length, const struct job *job);

#endif

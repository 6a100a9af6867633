/* process.h - run a child process: argument vector, exact environment, limits, a wall clock.
 *
 * The child leads its own process group, gets /dev/null as standard input unless told otherwise,
 * inherits no descriptor but those named, and dies with the thread that started it. Its standard
 * output and error are captured up to a cap; what comes after the cap is read and dropped, so that
 * the child never blocks on us. When the child ends, the wall clock runs out, or the user
 * interrupts, the whole group gets SIGKILL: nothing that the child started outlives it (but what
 * made a session of its own, which only a container or a process namespace can hold).
 *
 * Safe to call from several threads at once. Only async-signal-safe calls run between fork and
 * exec. */
#ifndef SPILLWAY_PROCESS_H
#define SPILLWAY_PROCESS_H

#include "bytes.h"
#include "errors.h"

struct process_spec {
    const char *const *argv;        /* NULL-terminated; argv[0] is a path, never searched for */
    const char *const *environment; /* NULL-terminated "NAME=value" list; NULL: an empty one */
    const char *directory;          /* where the child starts; NULL: here */
    const int *input;               /* its standard input; NULL: /dev/null */
    int64_t wall_ns;                /* 0: no limit */
    uint64_t memory_bytes;          /* RLIMIT_AS of each process; 0: no limit */
    uint64_t file_bytes;            /* RLIMIT_FSIZE; 0: no limit */
    uint64_t cpu_seconds;           /* RLIMIT_CPU of each process; 0: no limit */
    uint64_t processes;             /* RLIMIT_NPROC, over all processes of the user; 0: no limit */
    uint64_t open_files;            /* RLIMIT_NOFILE of each process; 0: no limit */
    const int *inherited;           /* descriptors above 2 that the child keeps, same numbers */
    size_t inherited_count;
    /* Called last before exec, in the child: only async-signal-safe calls. Not 0: it failed, errno
     * says why. NULL: nothing to do. */
    int (*confine)(const void *confinement);
    const void *confinement;
    size_t output_limit; /* cap of each captured stream, in bytes */
    bool merge_error;    /* put standard error into `output`, as `2>&1` does */
};

struct process_result {
    bool timed_out; /* the wall clock ran out and the group was killed */
    bool signalled; /* ended by a signal: `signal` says which */
    int signal;
    int exit_code;              /* valid unless signalled */
    struct bytes output;        /* standard output, owned */
    struct bytes error;         /* standard error, owned */
    bool output_cut, error_cut; /* the stream went on past the cap */
    int64_t wall_ns;
};

/* Returns 0 once the child has ended, however it ended; -1 with *err when it could not be started
 * (not found, no memory, no processes left), its output could not be taken, or the user
 * interrupted; *out is then empty. */
int process_run(struct process_result *out, const struct process_spec *spec, struct error *err);
void process_result_release(struct process_result *result);

/* Installs handlers for SIGINT, SIGTERM and SIGHUP that raise a flag and wake every process_run();
 * one that the program was started with ignored (nohup) stays ignored. Makes SIGPIPE and SIGXFSZ
 * errors of write(). Call once, from main. */
void process_catch_interrupts(void);
bool process_interrupted(void);
/* A descriptor that becomes readable at the first interrupt: for other poll loops. -1 if none. */
int process_interrupt_fd(void);

/* What every child begins with, between fork() and exec(): a process group of its own, death with
 * the thread that forked (`parent` is its process; the child exits when that is gone already),
 * signals as the system has them, no core file. Async-signal-safe. */
void process_begin_child(pid_t parent);

/* Monotonic clock in nanoseconds. */
int64_t process_now_ns(void);

#endif

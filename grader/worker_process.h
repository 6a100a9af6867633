/* worker_process.h - start, talk to and end one worker process.
 *
 * The worker is this very program, exec'd as `spillway worker`: its own process group, an exact
 * argument vector and environment, /dev/null as standard input, standard output and error into
 * pipes, and no other descriptor than the job, the results and one end of a socket. It dies with
 * the thread that started it.
 *
 * Life cycle: worker_start(), worker_wait() for each message, worker_stop(). Not for two threads at
 * once; different workers may live in different threads. */
#ifndef SPILLWAY_WORKER_PROCESS_H
#define SPILLWAY_WORKER_PROCESS_H

#include "bytes.h"
#include "errors.h"
#include "job.h"

struct worker {
    pid_t pid;  /* 0: not running */
    int socket; /* -1 when closed, like the two below */
    int output, error;
    struct bytes printed; /* standard output since the last worker_take_printed(), capped */
    struct bytes said;    /* standard error, capped: for messages */
    char ending[160];     /* after the end: "ended by signal 11 (Segmentation fault)", … */
};

#define WORKER_NONE ((struct worker){.socket = -1, .output = -1, .error = -1})

struct worker_spec {
    const struct job *job; /* NULL: a worker that only surveys */
    bool unconfined;       /* the worker does not shut itself in */
    uint64_t memory_bytes; /* RLIMIT_AS; 0: no limit (CUDA reserves address space generously) */
};

/* Returns 0 once the process runs; -1 with *err when it cannot be started. */
int worker_start(struct worker *worker, const struct worker_spec *spec, struct error *err);

/* Sends one message. False when the worker is gone. */
bool worker_send(struct worker *worker, const struct job_task *task);
/* The same with the two memories of another job, for JOB_NEXT. */
bool worker_send_job(struct worker *worker, const struct job_task *task, const struct job *job);

enum worker_event {
    WORKER_MESSAGE,     /* *record holds `*length` bytes: check them with job_record_valid() */
    WORKER_SILENT,      /* the deadline came first */
    WORKER_GONE,        /* the worker closed its socket or died */
    WORKER_INTERRUPTED, /* the user interrupted */
};

/* Waits for one message until `deadline_ns` on the monotonic clock. Meanwhile collects what the
 * worker prints; all that it printed before it sent the message is in `printed` afterwards. */
enum worker_event worker_wait(struct worker *worker, int64_t deadline_ns, struct job_record *record,
                              size_t *length);

/* Kills the whole group, reaps it, fills `ending`, closes everything but what was captured. Fine
 * on a worker that does not run. */
void worker_stop(struct worker *worker);
/* The same after a moment in which the worker may end by itself. */
void worker_end(struct worker *worker);
void worker_release(struct worker *worker);

/* For tests: the program to exec in place of /proc/self/exe, and a function that takes the worker's
 * place in the forked child (its result is the exit status). NULL: as usual. */
void worker_process_use(const char *path, int (*instead)(void));

#endif

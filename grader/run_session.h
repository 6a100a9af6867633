/* run_session.h - one run's conversation with its workers: ask, wait, kill, start again.
 *
 * A session holds the job and at most one worker. session_ask() starts a worker when none runs, so
 * whoever plans the launches need not care how many workers have died so far. */
#ifndef SPILLWAY_RUN_SESSION_H
#define SPILLWAY_RUN_SESSION_H

#include "job.h"
#include "worker_process.h"

struct session {
    const struct run_request *request; /* borrowed */
    struct job job;                    /* owned */
    struct worker worker;              /* owned */
    int lock;                          /* on the GPU, owned; -1: none */
    bool up;                           /* the worker has said hello */
    bool adopted;                      /* the worker is the lane's, and has yet to take this job */
    bool was_adopted;                  /* … and has taken it */
    bool killed;            /* the last worker was killed, or its device context died: probe */
    uint32_t sequence;      /* of the last task */
    uint32_t running;       /* the launch that the last JOB_PROGRESS named */
    struct job_hello hello; /* of the first worker */
    char reason[512];       /* after SESSION_DIED: why, in words */
};

enum session_end {
    SESSION_ANSWERED, /* *answer holds a checked record that is no progress and no trouble */
    SESSION_HUNG,     /* the wall clock ran out; the worker is killed */
    SESSION_DIED,     /* the worker ended or talked nonsense: `reason`; it is gone */
    SESSION_FAILED,   /* *err is filled: the machine failed us, or the user interrupted */
};

/* Lays out the job. -1 with *err; *session is then empty. The request must outlive the session. */
int session_open(struct session *session, const struct run_request *request, struct error *err);

/* Sends the task (its magic, version and sequence are filled in here) and waits for the answer. */
enum session_end session_ask(struct session *session, struct job_task *task,
                             struct job_record *answer, struct error *err);

/* Lets go of a worker whose device context is dead. The next task gets a fresh one. */
void session_retire(struct session *session);

void session_close(struct session *session);

#endif

#include "worker_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/socket.h>

static uint32_t sequence;    /* of the task in hand */
static int kept_output = -1; /* standard output while it is muted */

/* ---- Records ---------------------------------------------------------------------------------*/

static const struct job_device unknown_device = {-1, -1, -1, -1, -1};

void worker_record_init(struct job_record *record, enum job_record_kind kind, uint32_t launch)
{
    memset(record, 0, sizeof *record);
    record->magic = JOB_MAGIC;
    record->version = JOB_VERSION;
    record->kind = kind;
    record->launch = launch;
    record->payload_bytes = (uint32_t)job_payload_bytes(kind);
    if (kind == JOB_RAN)
        record->ran.device = unknown_device;
    if (kind == JOB_FAULT)
        record->fault.device = unknown_device;
}

void worker_record_fault(struct job_record *record, uint32_t launch, enum run_status status,
                         const char *kind, const char *format, ...)
{
    worker_record_init(record, JOB_FAULT, launch);
    struct job_fault *fault = &record->fault.fault;
    fault->status = (uint32_t)status;
    (void)snprintf(fault->kind, sizeof fault->kind, "%s", kind);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
}

void worker_record_trouble(struct job_record *record, const char *format, ...)
{
    worker_record_init(record, JOB_TROUBLE, 0);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(record->trouble.text, sizeof record->trouble.text, format, arguments);
    va_end(arguments);
}

void worker_answer_begin(uint32_t task_sequence)
{
    sequence = task_sequence;
}

bool worker_answer_send(struct job_record *record)
{
    record->sequence = sequence;
    size_t length = JOB_RECORD_HEAD_BYTES + record->payload_bytes;
    ssize_t sent = 0;
    (void)fflush(stdout);
    do
        sent = send(JOB_DESCRIPTOR_SOCKET, record, length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)length;
}

void worker_progress(uint32_t launch, uint64_t round)
{
    struct job_record record;
    worker_record_init(&record, JOB_PROGRESS, launch);
    record.progress.round = round;
    if (!worker_answer_send(&record))
        _exit(EXIT_STATUS_INFRASTRUCTURE); /* nobody listens any more */
}

/* ---- What executors share --------------------------------------------------------------------*/

void worker_mute(bool mute)
{
    (void)fflush(stdout);
    if (mute && kept_output < 0) {
        AUTO_CLOSE int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        kept_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 16);
        if (null_fd >= 0 && kept_output >= 0)
            (void)dup2(null_fd, STDOUT_FILENO);
    } else if (!mute && kept_output >= 0) {
        (void)dup2(kept_output, STDOUT_FILENO);
        (void)close(steal_fd(&kept_output));
    }
}

void worker_fill_poison(void *into, size_t bytes, uint32_t word)
{
    unsigned char *to = into;
    size_t done = bytes < sizeof word ? bytes : sizeof word;
    memcpy(to, &word, done);
    /* What is filled fills the next as much: buffers have megabytes. */
    while (done < bytes) {
        size_t more = bytes - done < done ? bytes - done : done;
        memcpy(to + done, to, more);
        done += more;
    }
}

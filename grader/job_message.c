/* job_message.c - is this message one that the other side may send now? */
#include "job.h"

#include <math.h>

size_t job_payload_bytes(uint32_t kind)
{
    switch (kind) {
    case JOB_HELLO:
        return sizeof(struct job_hello);
    case JOB_RAN:
        return sizeof(struct job_ran);
    case JOB_FAULT:
        return sizeof(struct job_faulted);
    case JOB_FENCED:
        return sizeof(struct job_fenced);
    case JOB_PROGRESS:
        return sizeof(struct job_progress);
    case JOB_TIMED:
        return sizeof(struct job_timed);
    case JOB_SURVEYED:
        return sizeof(struct job_surveyed);
    case JOB_TROUBLE:
        return sizeof(struct job_trouble);
    default:
        return 0;
    }
}

static bool terminated(const char *text, size_t room)
{
    return memchr(text, 0, room) != NULL;
}

static bool fault_valid(const struct job_fault *fault)
{
    return terminated(fault->kind, sizeof fault->kind) &&
           terminated(fault->text, sizeof fault->text) &&
           terminated(fault->file, sizeof fault->file);
}

static bool device_valid(const struct job_device *device)
{
    const int64_t values[] = {device->registers, device->local_bytes, device->shared_bytes,
                              device->max_threads, device->blocks_per_sm};
    for (size_t i = 0; i < COUNT_OF(values); ++i)
        if (values[i] < -1 || values[i] > UINT32_MAX)
            return false;
    return true;
}

static bool timed_valid(const struct job_timed *timed, const struct job_task *task)
{
    bool fits = timed->count == task->timed_count && timed->rounds <= JOB_SAMPLES_MAX &&
                isfinite(timed->empty_ns) && timed->empty_ns >= 0;
    for (size_t i = 0; i < COUNT_OF(timed->differs); ++i)
        fits = fits && timed->differs[i] <= 1;
    return fits;
}

static bool surveyed_valid(const struct job_surveyed *surveyed)
{
    if (surveyed->device_count > JOB_GPUS_MAX || surveyed->driver_present > 1 ||
        surveyed->driver_version > INT32_MAX || surveyed->runtime_version > INT32_MAX ||
        !terminated(surveyed->why_none, sizeof surveyed->why_none))
        return false;
    for (size_t i = 0; i < surveyed->device_count; ++i)
        if (!terminated(surveyed->devices[i].name, sizeof surveyed->devices[i].name) ||
            surveyed->devices[i].ordinal > INT32_MAX || surveyed->devices[i].major > 1000 ||
            surveyed->devices[i].minor > 9)
            return false;
    return true;
}

/* May this kind answer this task? */
static bool kind_answers(uint32_t kind, const struct job_task *task)
{
    if (kind == JOB_TROUBLE)
        return true;
    if (task == NULL)
        return kind == JOB_HELLO;
    switch (task->kind) {
    case JOB_RUN:
        return kind == JOB_RAN || kind == JOB_FAULT;
    case JOB_FENCE:
        return kind == JOB_FENCED || kind == JOB_FAULT;
    case JOB_TIME:
        return kind == JOB_PROGRESS || kind == JOB_TIMED || kind == JOB_FAULT;
    case JOB_SURVEY:
        return kind == JOB_SURVEYED;
    case JOB_NEXT:
        return kind == JOB_HELLO;
    default:
        return false;
    }
}

/* Is this the launch that the task is about? */
static bool launch_belongs(uint32_t kind, uint32_t launch, const struct job_task *task)
{
    if (task == NULL || kind == JOB_TROUBLE || kind == JOB_TIMED || task->kind == JOB_SURVEY)
        return true;
    if (task->kind != JOB_TIME)
        return launch == task->launch;
    for (size_t i = 0; i < task->timed_count; ++i)
        if (task->timed[i] == launch)
            return true;
    return false;
}

static bool payload_valid(const struct job_record *record, const struct job_task *task)
{
    switch (record->kind) {
    case JOB_HELLO:
        return terminated(record->hello.device, sizeof record->hello.device) &&
               record->hello.cc < 10000;
    case JOB_RAN:
        return device_valid(&record->ran.device) && record->ran.global.known <= 1 &&
               record->ran.local_array.known <= 1 && fault_valid(&record->ran.warning);
    case JOB_FAULT:
        return device_valid(&record->fault.device) && fault_valid(&record->fault.fault) &&
               (record->fault.fault.status == RUN_FAULTED ||
                record->fault.fault.status == RUN_TIMED_OUT ||
                record->fault.fault.status == RUN_REFUSED);
    case JOB_FENCED:
        return record->fenced.changed <= 1 && record->fenced.depends <= 1 &&
               record->fenced.after <= 1 && record->fenced.argument < RUN_ARGUMENTS_MAX;
    case JOB_TIMED:
        return timed_valid(&record->timed, task);
    case JOB_SURVEYED:
        return surveyed_valid(&record->surveyed);
    case JOB_TROUBLE:
        return terminated(record->trouble.text, sizeof record->trouble.text);
    default:
        return true;
    }
}

bool job_record_valid(const struct job_record *record, size_t length,
                      const struct job_expectation *expected, const char **why)
{
    const struct job_task *task = expected->task;
    *why = NULL;
    if (length < JOB_RECORD_HEAD_BYTES || record->magic != JOB_MAGIC)
        *why = "is none of ours";
    else if (record->version != JOB_VERSION)
        *why = "comes from another version of spillway";
    else if (job_payload_bytes(record->kind) == 0)
        *why = "has an unknown kind";
    else if (record->payload_bytes != job_payload_bytes(record->kind) ||
             length != JOB_RECORD_HEAD_BYTES + record->payload_bytes)
        *why = "has a wrong length";
    else if (record->sequence != expected->sequence)
        *why = "answers another question";
    else if (!kind_answers(record->kind, task))
        *why = "is not what was asked for";
    else if (record->launch >= expected->launch_count && record->launch != 0)
        *why = "names a launch that does not exist";
    else if (!launch_belongs(record->kind, record->launch, task))
        *why = "is about another launch";
    else if (!payload_valid(record, task))
        *why = "holds a value out of range";
    return *why == NULL;
}

bool job_task_valid(const struct job_task *task, size_t length, const struct job *job)
{
    if (length != sizeof *task || task->magic != JOB_MAGIC || task->version != JOB_VERSION)
        return false;
    if (task->kind == JOB_SURVEY || task->kind == JOB_NEXT)
        return true;
    if (job == NULL || job->header == NULL)
        return false;
    uint32_t launches = job->header->launch_count;
    switch (task->kind) {
    case JOB_RUN:
        return task->launch < launches;
    case JOB_FENCE:
        return task->launch < launches && task->fence_side <= JOB_FENCE_START &&
               task->fence_alignment >= 1 && task->fence_alignment <= 256 &&
               (task->fence_alignment & (task->fence_alignment - 1)) == 0;
    case JOB_TIME:
        if (task->timed_count == 0 || task->timed_count > JOB_TIMED_MAX)
            return false;
        for (size_t i = 0; i < task->timed_count; ++i)
            if (task->timed[i] >= launches || job->launches[task->timed[i]].timing_group == 0)
                return false;
        return true;
    default:
        return false;
    }
}

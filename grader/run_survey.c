/* run_survey.c - ask a worker what GPUs there are.
 *
 * The grader itself never loads the driver: a process that has used CUDA can no longer fork safely,
 * and a broken driver may hang or crash. Where no device node exists nothing is started at all. */
#include "run_survey.h"

#include "caps.h"
#include "process.h"
#include "worker_process.h"

/* Any of these means that some NVIDIA driver is there: desktop and server, WSL, Tegra. */
static const char *const nodes[] = {
    "/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu",
};

static bool any_node(void)
{
    for (size_t i = 0; i < COUNT_OF(nodes); ++i)
        if (access(nodes[i], F_OK) == 0)
            return true;
    return false;
}

/* The table knows what no attribute tells; the device knows itself best. */
static struct sm_limits limits_of(const struct job_gpu *gpu)
{
    const struct sm_limits *known = sm_limits_find(gpu->major, gpu->minor);
    struct sm_limits sm = known != NULL
                              ? *known
                              : (struct sm_limits){.registers_per_thread = 255,
                                                   .register_allocation = 256,
                                                   .sub_partitions = 4,
                                                   .warp_allocation = 4,
                                                   .shared_allocation = 128,
                                                   .barriers_per_sm = 16 * gpu->blocks_per_sm};
    const struct {
        uint32_t said;
        unsigned *into;
    } fields[] = {
        {gpu->threads_per_sm, &sm.threads_per_sm},
        {gpu->blocks_per_sm, &sm.blocks_per_sm},
        {gpu->threads_per_block, &sm.threads_per_block},
        {gpu->registers_per_sm, &sm.registers_per_sm},
        {gpu->registers_per_block, &sm.registers_per_block},
        {gpu->shared_per_sm, &sm.shared_per_sm},
        {gpu->shared_per_block, &sm.shared_per_block},
        {gpu->shared_per_block_optin, &sm.shared_per_block_optin},
        {gpu->shared_reserved, &sm.shared_reserved},
    };
    for (size_t i = 0; i < COUNT_OF(fields); ++i)
        if (fields[i].said != 0)
            *fields[i].into = fields[i].said;
    sm.major = gpu->major;
    sm.minor = gpu->minor;
    return sm;
}

static void take(struct gpu_survey *out, const struct job_surveyed *surveyed)
{
    out->driver_present = surveyed->driver_present != 0;
    out->driver_version = (int)surveyed->driver_version;
    out->runtime_version = (int)surveyed->runtime_version;
    (void)snprintf(out->why_none, sizeof out->why_none, "%s", surveyed->why_none);
    for (size_t i = 0; i < surveyed->device_count && i < COUNT_OF(out->devices); ++i) {
        const struct job_gpu *gpu = &surveyed->devices[i];
        struct gpu_device *device = &out->devices[out->device_count++];
        *device = (struct gpu_device){.ordinal = (int)gpu->ordinal,
                                      .major = gpu->major,
                                      .minor = gpu->minor,
                                      .sm = limits_of(gpu),
                                      .memory_bytes = gpu->memory_bytes};
        (void)snprintf(device->name, sizeof device->name, "%s", gpu->name);
    }
}

/* Waits for one record; false after putting into `why_none` what went wrong instead. */
static bool receive(struct worker *worker, const struct job_expectation *expected,
                    struct job_record *record, struct gpu_survey *out, struct error *err)
{
    size_t length = 0;
    const char *why = NULL;
    int64_t deadline = process_now_ns() + LIMIT_WORKER_START_SECONDS * INT64_C(1000000000);
    char *text = out->why_none;
    switch (worker_wait(worker, deadline, record, &length)) {
    case WORKER_INTERRUPTED:
        error_set(err, ERROR_INTERRUPTED, "interrupted");
        return false;
    case WORKER_SILENT:
        (void)snprintf(text, sizeof out->why_none, "the NVIDIA driver does not answer");
        return false;
    case WORKER_GONE:
        worker_stop(worker);
        (void)snprintf(text, sizeof out->why_none,
                       "the process that asked the NVIDIA driver %.150s", worker->ending);
        return false;
    case WORKER_MESSAGE:
        break;
    }
    if (job_record_valid(record, length, expected, &why) && record->kind != JOB_TROUBLE)
        return true;
    (void)snprintf(text, sizeof out->why_none, "the NVIDIA driver could not be asked");
    return false;
}

int run_survey_gpus(struct gpu_survey *out, struct error *err)
{
    *out = (struct gpu_survey){0};
    if (!any_node()) {
        (void)snprintf(out->why_none, sizeof out->why_none,
                       "no NVIDIA GPU is visible here (there is no %s)", nodes[0]);
        return 0;
    }
    struct worker worker = WORKER_NONE;
    const struct worker_spec spec = {.job = NULL};
    if (worker_start(&worker, &spec, err) != 0)
        return -1;
    struct job_task task = {
        .magic = JOB_MAGIC, .version = JOB_VERSION, .sequence = 1, .kind = JOB_SURVEY};
    struct job_record record;
    const struct job_expectation hello = {.sequence = 0};
    const struct job_expectation answer = {.sequence = 1, .task = &task};
    if (receive(&worker, &hello, &record, out, err) && worker_send(&worker, &task) &&
        receive(&worker, &answer, &record, out, err))
        take(out, &record.surveyed);
    worker_end(&worker);
    worker_release(&worker);
    return err->kind == ERROR_NONE ? 0 : -1;
}

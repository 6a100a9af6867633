/* fuzz_results.c - a record that may stand, and shared memory that a worker filled with anything,
 * become a launch's result. */
#include <assert.h>

#include "run_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    const bool ran = length > 0 && data[0] % 2 != 0;
    struct run_argument arguments[] = {{.role = RUN_INPUT, .data = "in", .bytes = 3, .name = "in"},
                                       {.role = RUN_OUTPUT, .bytes = 61, .name = "out"}};
    const struct run_launch launch = {"k", "k", {1, 1, 1}, {1, 1, 1}, 0, arguments, 2, 1, 0, 0};
    struct run_request request = {.module = "", .launches = &launch, .launch_count = 1};
    const struct job_task task = {.kind = ran ? JOB_RUN : JOB_TIME, .timed_count = 1};
    const struct job_expectation expected = {0, &task, 1};
    struct job_record record = {JOB_MAGIC, JOB_VERSION, 0, ran ? JOB_RAN : JOB_TIMED, .launch = 0};
    struct run_launch_result result;
    struct error err = {0};
    struct job job;
    const char *why = NULL;
    record.payload_bytes = (uint32_t)job_payload_bytes(record.kind);
    request.executor = length > 0 && data[0] < 128 ? EXECUTOR_GPU : EXECUTOR_EMULATOR;
    if (length <= record.payload_bytes || job_create(&job, &request, &err) != 0)
        return 0;
    memcpy(&record.ran, data + 1, record.payload_bytes);
    size_t rest = length - 1 - record.payload_bytes, room = job.header->result_bytes;
    ssize_t filled = pwrite(job.result_fd, data + length - rest, rest < room ? rest : room, 0);
    run_result_init(&result);
    if (!job_record_valid(&record, JOB_RECORD_HEAD_BYTES + record.payload_bytes, &expected, &why))
        assert(why != NULL && filled >= 0);
    else if (ran)
        assert(run_result_take_ran(&result, &job, 0, &record.ran, &err) == 0);
    else
        assert(run_result_take_times(&result, &job, 0, &record.timed, 0, &err) == 0);
    run_result_release(&result);
    job_release(&job);
    return 0;
}

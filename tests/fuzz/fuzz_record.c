/* fuzz_record.c - a worker that was taken over sends anything: what is accepted can be used. */
#include <assert.h>

#include "job.h"
#include "run_result.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static const uint32_t kinds[] = {JOB_RUN, JOB_FENCE, JOB_TIME, JOB_SURVEY};
    if (length == 0)
        return 0;
    struct job_task task = {.kind = kinds[data[0] % COUNT_OF(kinds)], .sequence = 1};
    task.timed_count = task.kind == JOB_TIME ? 2 : 0;
    task.timed[1] = 1;
    const struct job_expectation expected = {
        .sequence = 1, .task = data[0] < 128 ? &task : NULL, .launch_count = 3};
    struct job_record record = {0};
    const char *why = NULL;
    size_t size = length - 1 < sizeof record ? length - 1 : sizeof record;
    memcpy(&record, data + 1, size);
    if (!job_record_valid(&record, length - 1, &expected, &why)) {
        assert(why != NULL);
        return 0;
    }
    assert(record.launch < expected.launch_count || expected.task == NULL ||
           task.kind == JOB_SURVEY || record.kind == JOB_TROUBLE || record.kind == JOB_TIMED);
    struct run_launch_result result;
    run_result_init(&result);
    if (record.kind == JOB_FAULT) {
        run_result_take_fault(&result, &record.fault);
        assert(text_is_utf8(result.fault.text, strlen(result.fault.text)));
    }
    run_result_release(&result);
    return 0;
}

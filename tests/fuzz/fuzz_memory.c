/* fuzz_memory.c - any bytes are what was remembered of somebody's work, as far as they make sense.
 */
#include <assert.h>

#include "memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct memory memory;
    const struct lab *lab = lab_registry[0];
    const int most = lab_max_score(lab);
    memory_parse(&memory, lab, (const char *)data, length);
    assert(memory.score >= 0 && memory.score <= most && memory.best <= most);
    for (size_t i = lab->criterion_count; i < MEMORY_MARKS_MAX; ++i)
        assert(!memory.has_mark[i]);
    for (size_t i = 0; i < MEMORY_KERNELS_MAX; ++i)
        assert(memory.kernels[i].registers >= 0 && memory.kernels[i].spill_load_bytes >= 0);
    size_t lost = memory_first_lost(&memory);
    assert(lost == SIZE_MAX || lost < lab->criterion_count);
    return 0;
}

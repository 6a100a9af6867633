/* fuzz_attempt.c - any bytes are an attempt from another machine, whose sums are those of its marks
 * and that comes back as the same document, or an error. */
#include <assert.h>

#include "attempt.h"
#include "caps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct attempt attempt, again;
    struct error err = {0};
    if (attempt_from_json(&attempt, (const char *)data, length, &err) != 0) {
        assert(err.kind == ERROR_INFRASTRUCTURE && attempt.marks == NULL);
        return 0;
    }
    int64_t score = 0;
    for (size_t i = 0; i < attempt.mark_count; ++i)
        score += attempt.marks[i].points;
    assert(attempt.outcome != ATTEMPT_GRADED || score == attempt.score);
    struct bytes first = bytes_with_limit(2 * LIMIT_ATTEMPT_BYTES);
    struct bytes second = bytes_with_limit(2 * LIMIT_ATTEMPT_BYTES);
    assert(attempt_to_json(&first, &attempt, &err) == 0);
    assert(attempt_from_json(&again, first.data, first.length, &err) == 0);
    assert(attempt_to_json(&second, &again, &err) == 0);
    assert(strcmp(bytes_text(&first), bytes_text(&second)) == 0);
    bytes_release(&first);
    bytes_release(&second);
    attempt_release(&attempt);
    attempt_release(&again);
    return 0;
}

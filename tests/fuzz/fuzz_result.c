/* fuzz_result.c - any bytes are the JSON of a grade: what is taken can be written in every format,
 * and what is written reads back as the same. */
#include <assert.h>

#include "merge.h"
#include "out_json.h"
#include "out_text.h"
#include "result_read.h"
#include "writers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct grade first, again;
    struct error err = {0};
    if (result_read(&first, (const char *)data, length, NULL, &err) != 0)
        return assert(err.text[0] != '\0'), 0;
    struct bytes one = bytes_with_limit((size_t)64 << 20), two = one, page = one;
    assert(out_json_text(&one, &first, &err) == 0);
    assert(result_read(&again, one.data, one.length, first.lab, &err) == 0);
    assert(out_json_text(&two, &again, &err) == 0);
    assert(strcmp(one.data, two.data) == 0);
    (void)setenv("CLASSROOM", "c", 1), (void)setenv("ASSIGNMENT", "a", 1);
    (void)setenv("SUBMISSION_TAG", "s", 1), (void)setenv("COMMIT_URL", "u", 1);
    (void)setenv("RELEASE_URL", "r", 1);
    for (size_t i = 0; i < writer_count; ++i)
        assert(writer_table[i].write == NULL ||
               writer_table[i].write(&page, &first, &(struct writer_context){0}, &err) == 0);
    out_text_write(&page, &first, &(struct out_text_options){.verbose = true});
    int score = first.score, status = merge_grades(&first, &again, &err);
    assert(!page.failed && (status != 0 || first.score == score));
    bytes_release(&one), bytes_release(&two), bytes_release(&page);
    grade_release(&first), grade_release(&again);
    return 0;
}

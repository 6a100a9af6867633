/* fuzz_submission.c - any tree of a commit is read, or why not. Input: a length, a file of that
 * length, a tree (repository.h). */
#include <assert.h>

#include "repository.h"
#include "submission.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char commit[41];
    struct submission submission;
    struct error err = {0};
    struct submission_options options = {repository_folder(), commit, NULL};
    repository_put_all(commit, data, length, false);
    if (submission_read(&submission, &options, &err) == 0)
        assert(submission.lab && strcmp(submission.commit, commit) == 0);
    submission_release(&submission);
    repository_forget();
    return 0;
}

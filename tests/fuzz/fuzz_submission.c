/* fuzz_submission.c - any tree of a commit is read, or why not. Input: a length, a file of that
 * length, a tree, in which twenty F are the id of the file, twenty T of the tree, 3 levels deep. */
#include <assert.h>

#include "repository.h"
#include "submission.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void replace(uint8_t *tree, size_t length, const char *marker, const uint8_t id[20])
{
    for (uint8_t *at = tree; (at = memmem(at, (size_t)(tree + length - at), marker, 20)) != NULL;)
        memcpy(at, id, 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    if (length == 0)
        return 0;
    size_t file_bytes = data[0] < length ? data[0] : length - 1, rest = length - 1 - file_bytes;
    uint8_t *tree = malloc(rest + 1), file[20], id[20] = {0};
    char commit[41];
    repository_put(file, data + 1, file_bytes, GIT_OBJECT_BLOB);
    for (int depth = 0; tree != NULL && depth < 3; ++depth) { /* starter/<lab>/<file> */
        memcpy(tree, data + length - rest, rest);
        replace(tree, rest, "FFFFFFFFFFFFFFFFFFFF", file);
        replace(tree, rest, "TTTTTTTTTTTTTTTTTTTT", id);
        repository_put(id, tree, rest, GIT_OBJECT_TREE);
    }
    repository_commit(commit, id);
    struct submission submission;
    struct error err = {0};
    struct submission_options options = {repository_folder(), commit, NULL};
    if (submission_read(&submission, &options, &err) == 0)
        assert(submission.lab && strcmp(submission.commit, commit) == 0);
    submission_release(&submission);
    repository_forget();
    free(tree);
    return 0;
}

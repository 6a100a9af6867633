/* replay.c - runs a fuzz target without libFuzzer, by any compiler: every file of the folders
 * named, and some damaged copies of each, the same ones every time.
 *
 *   replay FOLDER… */
#include "base.h"

#include <dirent.h>

#include "files.h"

#define COPIES 24
#define FILE_BYTES_MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static uint64_t state = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t next_random(void) /* xorshift64 (Marsaglia, 2003) */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* A memory block of exactly this size, so that a byte too far is seen by a sanitizer. */
static void run_copy(const uint8_t *data, size_t length)
{
    uint8_t *exact = malloc(length > 0 ? length : 1);
    if (exact == NULL)
        return;
    if (length > 0)
        memcpy(exact, data, length);
    (void)LLVMFuzzerTestOneInput(exact, length);
    free(exact);
}

static void run_damaged(const uint8_t *data, size_t length)
{
    uint8_t *copy = malloc(length);
    if (copy == NULL)
        return;
    for (int i = 0; i < COPIES; ++i) {
        memcpy(copy, data, length);
        size_t cut = i % 4 == 3 ? next_random() % length : length;
        for (int k = 0; k <= i % 8; ++k)
            copy[next_random() % length] = (uint8_t)next_random();
        run_copy(copy, cut);
    }
    free(copy);
}

static size_t replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    size_t count = 0;
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        AUTO_FREE char *name = path_join(path, entry->d_name);
        struct bytes content = {0};
        if (name == NULL || file_read(&content, name, FILE_BYTES_MAX, false) != FILE_READ)
            continue;
        run_copy((const uint8_t *)content.data, content.length);
        if (content.length > 0)
            run_damaged((const uint8_t *)content.data, content.length);
        bytes_release(&content);
        ++count;
    }
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; ++i)
        count += replay_folder(argv[i]);
    (void)printf("%zu files and %zu damaged copies\n", count, count * COPIES);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

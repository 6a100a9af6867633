/* testing.h - what every suite shares: counted skips, paths, and running the real binary. */
#ifndef SPILLWAY_TESTING_H
#define SPILLWAY_TESTING_H

#include "base.h"

#include <check.h>

#include "bytes.h"
#include "process.h"

/* Says why a test cannot run here, counts it, and returns from the test function. */
#define TEST_SKIP(...)                                                                             \
    do {                                                                                           \
        testing_count_skip(__func__, __VA_ARGS__);                                                 \
        return;                                                                                    \
    } while (0)
void testing_count_skip(const char *test, const char *format, ...) PRINTF_LIKE(2, 3);

/* True when nvcc works here; tests that need it call TEST_SKIP("no CUDA toolkit") otherwise. */
bool testing_have_toolkit(void);
/* The toolkit's folder ($CUDA_HOME or /usr/local/cuda). */
const char *testing_cuda_home(void);

/* Absolute path of the spillway binary under test ($SPILLWAY_BINARY). */
const char *testing_binary(void);

/* A file below tests/fixtures, whole. Aborts the test if it cannot be read. Release it. */
struct bytes testing_fixture(const char *name);

/* Runs the binary with these arguments (NULL-terminated, without argv[0]) from the current folder,
 * with a minimal environment plus `environment` (may be NULL). Aborts the test if it cannot start.
 */
struct process_result testing_spillway(const char *const *arguments,
                                       const char *const *environment);

/* A private folder, removed when the runner ends. Never NULL; owned by the runner. */
const char *testing_temporary_folder(void);

/* Writes a file for a test; aborts the test on failure. */
void testing_write(const char *path, const void *data, size_t length);

/* One suite a check_<module>.c; the list is made from the file names (see the Makefile). */
#define SUITE(name) Suite *suite_##name(void);
#include "suites.inc"
#undef SUITE

#endif

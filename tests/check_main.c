/* check_main.c - runs every suite (or those named on the command line) and counts what ran. */
#include "testing.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "files.h"

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.inc"
#undef SUITE
};

/* Tests run in forked children: the count lives in shared memory. */
static unsigned *skipped;
static char *temporary_folder;

void testing_count_skip(const char *test, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "skipped %s: ", test);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    __atomic_fetch_add(skipped, 1, __ATOMIC_RELAXED);
}

const char *testing_cuda_home(void)
{
    const char *home = getenv("CUDA_HOME");
    return home != NULL && home[0] != '\0' ? home : "/usr/local/cuda";
}

bool testing_have_toolkit(void)
{
    AUTO_FREE char *path = path_join(testing_cuda_home(), "bin/nvcc");
    return path != NULL && access(path, X_OK) == 0;
}

const char *testing_binary(void)
{
    const char *path = getenv("SPILLWAY_BINARY");
    ck_assert_msg(path != NULL, "SPILLWAY_BINARY is not set: run the tests with `make check`");
    return path;
}

struct bytes testing_fixture(const char *name)
{
    AUTO_FREE char *path = path_join("tests/fixtures", name);
    struct bytes content;
    ck_assert_ptr_nonnull(path);
    enum file_status status = file_read(&content, path, (size_t)64 << 20, true);
    ck_assert_msg(status == FILE_READ, "%s: %s", path, file_status_text(status));
    return content;
}

struct process_result testing_spillway(const char *const *arguments, const char *const *environment)
{
    const char *argv[64] = {testing_binary()};
    size_t count = 1;
    for (; *arguments != NULL; ++arguments) {
        ck_assert_uint_lt(count, COUNT_OF(argv) - 1);
        argv[count++] = *arguments;
    }
    static char cuda_home[4096], path[4096], cache[4096];
    const char *env[32] = {cuda_home, path, cache, "LC_ALL=C.UTF-8"};
    (void)snprintf(cuda_home, sizeof cuda_home, "CUDA_HOME=%s", testing_cuda_home());
    (void)snprintf(path, sizeof path, "PATH=/usr/bin:/bin");
    (void)snprintf(cache, sizeof cache, "SPILLWAY_CACHE=%s/cache", testing_temporary_folder());
    for (size_t used = 4; environment != NULL && *environment != NULL; ++environment) {
        ck_assert_uint_lt(used, COUNT_OF(env) - 1);
        env[used++] = *environment;
    }
    struct process_result result;
    struct error err = {0};
    const struct process_spec spec = {.argv = argv,
                                      .environment = env,
                                      .wall_ns = INT64_C(300000000000),
                                      .output_limit = (size_t)32 << 20};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    return result;
}

const char *testing_temporary_folder(void)
{
    return temporary_folder;
}

void testing_write(const char *path, const void *data, size_t length)
{
    struct error err = {0};
    ck_assert_msg(file_write(path, data, length, &err) == 0, "%s", err.text);
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    skipped =
        mmap(NULL, sizeof *skipped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    temporary_folder = temporary_folder_create(&err);
    if (skipped == MAP_FAILED || temporary_folder == NULL) {
        (void)fprintf(stderr, "cannot set up the tests: %s\n", err.text);
        return EXIT_FAILURE;
    }
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < COUNT_OF(suites); ++i)
        if (wanted(suites[i].name, argc, argv))
            srunner_add_suite(runner, suites[i].make());
    srunner_run_all(runner, CK_ENV);
    int ran = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    temporary_folder_remove(temporary_folder);
    if (ran == 0)
        (void)fprintf(stderr, "no test ran: is the suite's name right?\n");
    unsigned skips = *skipped;
    (void)printf("%d passed, %d failed, %u skipped\n", ran - failed - (int)skips, failed, skips);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* check_scrub.c - the scrub kernels assemble for every architecture, and keep their memory. */
#include "testing.h"

#include "files.h"
#include "scrub.h"

/* Runs ptxas -v over the text; its words go to *said (release it). */
static bool assemble(const char *ptx, size_t length, const char *arch, struct bytes *said)
{
    char source[4096], cubin[4096];
    AUTO_FREE char *ptxas = path_join(testing_cuda_home(), "bin/ptxas");
    (void)snprintf(source, sizeof source, "%s/scrub-%s-%d.ptx", testing_temporary_folder(), arch,
                   (int)getpid());
    (void)snprintf(cubin, sizeof cubin, "%s/scrub-%s-%d.cubin", testing_temporary_folder(), arch,
                   (int)getpid());
    testing_write(source, ptx, length);
    const char *argv[] = {ptxas, "-v", "-arch", arch, "-o", cubin, source, NULL};
    const struct process_spec spec = {.argv = argv,
                                      .wall_ns = INT64_C(60000000000),
                                      .output_limit = 1 << 20,
                                      .merge_error = true};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    bool fine = !result.timed_out && !result.signalled && result.exit_code == 0;
    *said = result.output;
    result.output = (struct bytes){0};
    process_result_release(&result);
    return fine;
}

static const char *const architectures[] = {"sm_75",  "sm_80",  "sm_86",  "sm_87",
                                            "sm_88",  "sm_89",  "sm_90",  "sm_100",
                                            "sm_103", "sm_110", "sm_120", "sm_121"};

/* What ptxas says of one entry, up to the next. */
static void words_about(const char *said, const char *entry, char *into, size_t room)
{
    const char *begin = strstr(said, entry);
    ck_assert_msg(begin != NULL, "%s is not in: %s", entry, said);
    const char *end = strstr(begin, "Compiling entry function");
    int length = (int)(end != NULL ? end - begin : (long)strlen(begin));
    (void)snprintf(into, room, "%.*s", length, begin);
}

START_TEST(assembles_for_every_architecture)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    const char *arch = architectures[_i];
    struct bytes ptx, said;
    char about[4096];
    ck_assert_int_eq(scrub_source(&ptx, arch, 250, 20001), 0);
    bool fine = assemble(bytes_text(&ptx), ptx.length, arch, &said);
    if (!fine && strstr(bytes_text(&said), "not defined for option") != NULL) {
        bytes_release(&ptx);
        bytes_release(&said);
        TEST_SKIP("this ptxas does not know %s", arch);
    }
    ck_assert_msg(fine, "%s: %s", arch, bytes_text(&said));
    /* The array must be there, or nothing would be scrubbed. */
    words_about(bytes_text(&said), "'" SCRUB_LOCAL_ENTRY "'", about, sizeof about);
    ck_assert_msg(strstr(about, "256 bytes stack frame, 0 bytes spill stores") != NULL, "%s: %s",
                  arch, about);
    words_about(bytes_text(&said), "'" SCRUB_SHARED_ENTRY "'", about, sizeof about);
    ck_assert_msg(strstr(about, "20016 bytes smem") != NULL, "%s: %s", arch, about);
    bytes_release(&ptx);
    bytes_release(&said);
}
END_TEST

/* The lowest .version that knows the target: an older toolkit reads it then. */
START_TEST(no_older_version_would_do)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    static const char *const versions[] = {"6.3", "6.4", "6.5", "7.0", "7.1", "7.2", "7.3", "7.4",
                                           "7.5", "7.6", "7.7", "7.8", "8.0", "8.1", "8.2", "8.3",
                                           "8.4", "8.5", "8.6", "8.7", "8.8", "9.0"};
    struct bytes ptx, said;
    ck_assert_int_eq(scrub_source(&ptx, architectures[_i], 16, 0), 0);
    size_t ours = 0;
    for (size_t i = 0; i < COUNT_OF(versions); ++i)
        if (strncmp(ptx.data + strlen(".version "), versions[i], 3) == 0)
            ours = i;
    if (ours > 0) {
        memcpy(ptx.data + strlen(".version "), versions[ours - 1], 3);
        ck_assert_msg(!assemble(ptx.data, ptx.length, architectures[_i], &said),
                      "%s would do with %s", architectures[_i], versions[ours - 1]);
        bytes_release(&said);
    }
    bytes_release(&ptx);
}
END_TEST

static const struct {
    int64_t frame, shared;
    const char *holds, *holds_not;
} sizes[] = {
    {1, 0, "frame[16]", SCRUB_SHARED_ENTRY},
    {40, 0, "frame[48]", SCRUB_SHARED_ENTRY},
    {256, 0, "frame[256]", SCRUB_SHARED_ENTRY},
    {INT64_MAX, 0, "frame[8192]", SCRUB_SHARED_ENTRY},
    {-1, 1, "area[16384]", SCRUB_LOCAL_ENTRY},
    {0, 20000, "area[20000]", SCRUB_LOCAL_ENTRY},
    {0, INT64_MAX, "area[49152]", SCRUB_LOCAL_ENTRY},
    {0, 0, "frame[16]", SCRUB_SHARED_ENTRY}, /* never an empty module */
};

START_TEST(sizes_are_rounded_and_capped)
{
    struct bytes ptx;
    ck_assert_int_eq(scrub_source(&ptx, "sm_90a", sizes[_i].frame, sizes[_i].shared), 0);
    ck_assert_ptr_nonnull(strstr(bytes_text(&ptx), sizes[_i].holds));
    ck_assert_ptr_null(strstr(bytes_text(&ptx), sizes[_i].holds_not));
    bytes_release(&ptx);
}
END_TEST

START_TEST(unknown_targets_are_refused)
{
    static const char *const targets[] = {"", "sm_", "sm_37", "turing", "sm_75; ret;", "sm_76"};
    struct bytes ptx;
    for (size_t i = 0; i < COUNT_OF(targets); ++i) {
        ck_assert_msg(scrub_source(&ptx, targets[i], 256, 0) == -1, "%s", targets[i]);
        bytes_release(&ptx);
    }
    ck_assert_int_eq(scrub_source(&ptx, "sm_130", 256, 0), 0); /* newer than this program */
    bytes_release(&ptx);
}
END_TEST

Suite *suite_scrub(void)
{
    Suite *suite = suite_create("scrub");
    TCase *tests = tcase_create("scrub");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, assembles_for_every_architecture, 0, COUNT_OF(architectures));
    tcase_add_loop_test(tests, no_older_version_would_do, 0, COUNT_OF(architectures));
    tcase_add_loop_test(tests, sizes_are_rounded_and_capped, 0, COUNT_OF(sizes));
    tcase_add_test(tests, unknown_targets_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_fuzz.c - a smoke run of every fuzz target over its corpus, and damaged copies of it. */
#include "testing.h"

#include <dirent.h>

#include "files.h"

/* A target that needs more than a page holds logic that nobody tests. */
static void assert_short(const char *file)
{
    char path[128];
    struct bytes source;
    size_t lines = 0;
    (void)snprintf(path, sizeof path, "tests/fuzz/%s", file);
    ck_assert_int_eq(file_read(&source, path, 1 << 16, false), FILE_READ);
    for (size_t i = 0; i < source.length; ++i)
        lines += source.data[i] == '\n';
    ck_assert_msg(lines <= 40, "%s has %zu lines", path, lines);
    bytes_release(&source);
}

START_TEST(every_corpus_is_taken)
{
    DIR *folder = opendir("tests/fuzz");
    size_t targets = 0;
    ck_assert_ptr_nonnull(folder);
    const char *binary = testing_binary();
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[64], program[4096], corpus[128];
        if (sscanf(entry->d_name, "fuzz_%60[a-z_].c", name) != 1)
            continue;
        assert_short(entry->d_name);
        (void)snprintf(program, sizeof program, "%.*s/tests/fuzz/%s",
                       (int)(strrchr(binary, '/') - binary), binary, name);
        (void)snprintf(corpus, sizeof corpus, "tests/fuzz/corpus/%s", name);
        const char *const argv[] = {program, corpus, NULL};
        const struct process_spec spec = {.argv = argv,
                                          .wall_ns = INT64_C(600000000000),
                                          .output_limit = 1 << 16,
                                          .merge_error = true};
        struct process_result result;
        struct error err = {0};
        ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
        ck_assert_msg(!result.timed_out && !result.signalled && result.exit_code == 0,
                      "%s: ended with %d, signal %d: %s", name, result.exit_code, result.signal,
                      bytes_text(&result.output));
        process_result_release(&result);
        ++targets;
    }
    (void)closedir(folder);
    ck_assert_uint_gt(targets, 10);
}
END_TEST

Suite *suite_fuzz(void)
{
    Suite *suite = suite_create("fuzz");
    TCase *tests = tcase_create("fuzz");
    tcase_set_timeout(tests, 900);
    tcase_add_test(tests, every_corpus_is_taken);
    suite_add_tcase(suite, tests);
    return suite;
}

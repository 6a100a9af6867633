/* check_class_chapter.c - the README's way from a roster to Canvas, typed as it stands there. */
#include "testing.h"

#include "csv.h"
#include "files.h"
#include "number.h"
#include "support_school.h"

#define CANVAS                                                                                     \
    "Student,ID,SIS User ID,SIS Login ID,Section,Day 17 (7)\n    Points Possible,,,,,100\n"        \
    "One,1,s001,x1,A,\nTwo,2,s002,x2,A,\nThree,3,s003,x3,A,\nFour,4,s004,x4,A,\n"                  \
    "Five,5,s005,x5,A,\nSix,6,s006,x6,A,\n"
#define APPEALS "student,mark,points,reason\ns003,counts.decayNarrow,2,read aloud in class\n"

/* The block of commands that names the class, with a deadline that is far away. */
static char *commands(void)
{
    struct bytes readme;
    ck_assert_int_eq(file_read(&readme, "README.md", (size_t)1 << 20, false), FILE_READ);
    const char *begin = strstr(readme.data, "```sh\nclass='");
    ck_assert_ptr_nonnull(begin);
    begin += strlen("```sh\n");
    const char *end = strstr(begin, "```");
    ck_assert_ptr_nonnull(end);
    char *block = strndup(begin, (size_t)(end - begin));
    char *year = strstr(block, "2026-");
    ck_assert_ptr_nonnull(year);
    memcpy(year, "2099", 4);
    bytes_release(&readme);
    return block;
}

/* The program on the PATH, in a hurry and with the class's toolkit. */
static void put_program(const struct school *school)
{
    AUTO_FREE char *script = NULL, *binary = realpath(testing_binary(), NULL);
    ck_assert_int_gt(asprintf(&script,
                              "#!/bin/sh\nexport CUDA_HOME='%s'\n"
                              "exec '%s' \"$@\" --sandbox off --executor emulator "
                              "--elements 2000\n",
                              school->toolkit.home, binary),
                     0);
    support_script(support_path(school->folder, "spillway"), script);
}

static struct csv table(const struct school *school, const char *name)
{
    struct csv csv;
    struct problems problems = {0};
    struct error err = {0};
    ck_assert_msg(csv_read(&csv, support_path(school->folder, name), &problems, &err) == 0, "%s",
                  err.text);
    ck_assert_uint_eq(problems.total, 0);
    return csv;
}

static const char *cell(const struct csv *csv, const char *key, size_t key_column,
                        const char *column)
{
    for (size_t i = 1; i < csv->row_count; ++i)
        for (size_t j = 0; j < csv->rows[0].count; ++j)
            if (strcmp(csv_cell(&csv->rows[i], key_column), key) == 0 &&
                strcmp(csv_cell(&csv->rows[0], j), column) == 0)
                return csv_cell(&csv->rows[i], j);
    ck_abort_msg("no %s of %s", column, key);
}

START_TEST(from_roster_to_canvas)
{
    struct school school;
    struct process_result result;
    struct error err = {0};
    school_make(&school, SCHOOL_KINDS, "");
    put_program(&school);
    testing_write(support_path(school.folder, "appeals.csv"), APPEALS, strlen(APPEALS));
    testing_write(support_path(school.folder, "export.csv"), CANVAS, strlen(CANVAS));
    AUTO_FREE char *block = commands(), *path = NULL, *home = NULL;
    ck_assert_int_gt(asprintf(&path, "PATH=%s:/usr/bin:/bin", school.folder), 0);
    ck_assert_int_gt(asprintf(&home, "HOME=%s", school.folder), 0);
    const char *const argv[] = {"/bin/sh", "-e", "-c", block, NULL};
    const char *const environment[] = {path, home, NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .directory = school.folder,
                                      .wall_ns = INT64_C(300000000000),
                                      .output_limit = (size_t)1 << 20,
                                      .merge_error = true};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    ck_assert_msg(!result.timed_out && !result.signalled && result.exit_code == 0, "%d: %s",
                  result.exit_code, bytes_text(&result.output));

    struct csv grades = table(&school, "results/grades.csv");
    struct csv canvas = table(&school, "results/canvas.csv");
    ck_assert_uint_eq(canvas.row_count, 2 + SCHOOL_KINDS);
    for (size_t i = 1; i <= SCHOOL_KINDS; ++i) {
        char id[8];
        (void)snprintf(id, sizeof id, "s%03zu", i);
        ck_assert_str_eq(cell(&canvas, id, 2, "Day 17 (7)"), cell(&grades, id, 0, "score"));
    }
    uint64_t graded = 0, counted = 0;
    ck_assert(number_parse_u64(cell(&grades, "s003", 0, "graded_score"), 100, &graded));
    ck_assert(number_parse_u64(cell(&grades, "s003", 0, "score"), 100, &counted));
    ck_assert_uint_eq(counted, graded + 2);
    ck_assert_str_eq(cell(&grades, "s003", 0, "overridden"), "1");
    ck_assert_str_eq(cell(&grades, "s001", 0, "score"), "100");
    ck_assert_str_eq(cell(&grades, "s005", 0, "status"), "missing");
    struct bytes feedback;
    ck_assert_int_eq(file_read(&feedback,
                               support_path(school.folder, "results/students/s003/feedback.txt"),
                               (size_t)1 << 20, false),
                     FILE_READ);
    ck_assert_ptr_nonnull(strstr(feedback.data, "read aloud in class"));
    bytes_release(&feedback);
    csv_release(&grades);
    csv_release(&canvas);
    process_result_release(&result);
}
END_TEST

Suite *suite_class_chapter(void)
{
    Suite *suite = suite_create("class_chapter");
    TCase *tests = tcase_create("class_chapter");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, from_roster_to_canvas);
    suite_add_tcase(suite, tests);
    return suite;
}

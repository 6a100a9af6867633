/* check_batch_days.c - one batch after another, and batches that were stopped: what is there in the
 * end is what one batch gives. */
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "csv.h"
#include "gradebook.h"
#include "support_batch.h"
#include "support_git.h"

#define STUDENTS 12 /* two of each kind */

/* ---- Day after day ----------------------------------------------------------------------------*/

static void work_on(void)
{
    AUTO_FREE char *source = school_source();
    school_hand_in(&batch_school, 5, source, NULL); /* who had handed in nothing */
    school_hand_in(&batch_school, 1, "// gone\n", NULL);
}

static void move_the_source(void)
{
    AUTO_FREE char *source = school_source();
    const struct git_file files[] = {
        {"registers.cu", "// another\n", 0, GIT_FILE_PLAIN},
        {"starter/day17-registers/registers.cu", source, 0, GIT_FILE_PLAIN}};
    support_git_commit(school_repo(&batch_school, 2), files, COUNT_OF(files), NULL);
}

static void spell_otherwise(void)
{
    struct bytes roster = batch_read(batch_school.folder, "roster.csv");
    struct bytes changed = bytes_with_limit((size_t)1 << 20);
    const char *at = strstr(roster.data, "/s003\n");
    bytes_append(&changed, roster.data, (size_t)(at - roster.data));
    bytes_printf(&changed, "/.%s", at);
    testing_write(batch_school.roster, changed.data, changed.length);
    bytes_release(&roster);
    bytes_release(&changed);
}

/* The last student leaves. */
static void lose_a_row(void)
{
    struct bytes roster = batch_read(batch_school.folder, "roster.csv");
    roster.data[roster.length - 1] = '\0';
    testing_write(batch_school.roster, roster.data,
                  (size_t)(strrchr(roster.data, '\n') + 1 - roster.data));
    bytes_release(&roster);
}

static const struct {
    void (*change)(void); /* before the batch */
    const char *arguments[4];
} days[] = {
    {NULL, {NULL}},
    {work_on, {NULL}},
    {NULL, {"--deadline", BATCH_LATE_BY_A_DAY, "--late", "percent=10"}},
    {move_the_source, {"--path", "starter/day17-registers"}},
    {spell_otherwise, {"--path", "nosuch", "--head"}},
    {lose_a_row, {"--deadline", "2023-11-01 12:00 UTC"}},
    {NULL, {NULL}},
};

static void assert_same_table(const char *a, const char *b)
{
    struct csv one, other;
    struct problems problems = {0};
    struct error err = {0};
    ck_assert_int_eq(csv_read(&one, support_path(a, "grades.csv"), &problems, &err), 0);
    ck_assert_int_eq(csv_read(&other, support_path(b, "grades.csv"), &problems, &err), 0);
    ck_assert_uint_eq(one.row_count, other.row_count);
    for (size_t i = 0; i < one.row_count; ++i)
        for (size_t j = 0; j < one.rows[0].count; ++j)
            if (strcmp(csv_cell(&one.rows[0], j), "attempt") != 0)
                ck_assert_msg(strcmp(csv_cell(&one.rows[i], j), csv_cell(&other.rows[i], j)) == 0,
                              "%s of %s: %s, afresh %s", csv_cell(&one.rows[0], j),
                              csv_cell(&one.rows[i], 0), csv_cell(&one.rows[i], j),
                              csv_cell(&other.rows[i], j));
    csv_release(&one);
    csv_release(&other);
}

/* Whatever changes between two batches, in the end the folder holds what one batch gives. */
START_TEST(going_on_equals_starting_afresh)
{
    batch_set_up(6, "");
    for (size_t day = 0; day < COUNT_OF(days); ++day) {
        const char *arguments[8] = {QUICK};
        char afresh[600], name[64];
        (void)snprintf(afresh, sizeof afresh, "%s-%zu", batch_out, day);
        if (days[day].change != NULL)
            days[day].change();
        for (size_t i = 0; i < 4 && days[day].arguments[i] != NULL; ++i)
            arguments[i + 2] = days[day].arguments[i];
        batch_expect(0, arguments, LIST("seed 17"));
        struct process_result result = school_batch(&batch_school, afresh, arguments);
        ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
        process_result_release(&result);
        assert_same_table(batch_out, afresh);
        for (size_t i = 1; i <= 5; ++i) {
            (void)snprintf(name, sizeof name, "students/s%03zu/feedback.txt", i);
            struct bytes one = batch_read(batch_out, name), other = batch_read(afresh, name);
            ck_assert_msg(strcmp(bytes_text(&one), bytes_text(&other)) == 0,
                          "day %zu, %s:\n%s---\n%s", day, name, one.data, other.data);
            bytes_release(&one);
            bytes_release(&other);
        }
    }
}
END_TEST

/* ---- Stopped and going on --------------------------------------------------------------------*/

struct child {
    pid_t pid;
    int output; /* both streams */
};

static struct child start(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    struct child child = {.pid = fork(), .output = ends[0]};
    ck_assert_int_ge(child.pid, 0);
    if (child.pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)setenv("CUDA_HOME", batch_school.toolkit.home, 1);
        (void)setenv("PATH", "/usr/bin:/bin", 1); /* as testing_spillway() has it */
        (void)execl(testing_binary(), "spillway", "batch", batch_school.roster, "--lab",
                    "day17-registers", "--out", batch_out, "--seed", "17", "--sandbox", "off",
                    "--executor", "emulator", "--elements", "3000", (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    return child;
}

/* Reads until `lines` students are finished, or the end. */
static struct bytes read_lines(const struct child *child, size_t lines)
{
    struct bytes text = bytes_with_limit((size_t)1 << 20);
    char c = '\0';
    while (lines > 0 && read(child->output, &c, 1) == 1) {
        bytes_append(&text, &c, 1);
        lines -= c == '\n';
    }
    return text;
}

static int end(struct child *child, int signal)
{
    int status = 0;
    if (signal != 0)
        (void)kill(child->pid, signal);
    ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
    (void)close(child->output);
    return status;
}

/* The gradebook opens, and holds everybody whose line was printed. */
static void assert_holds(const char *printed)
{
    struct gradebook *book = NULL;
    struct error err = {0};
    if (access(support_path(batch_out, "gradebook.sqlite"), F_OK) != 0) {
        ck_assert_str_eq(printed, "");
        return;
    }
    ck_assert_msg(gradebook_open(&book, support_path(batch_out, "gradebook.sqlite"), &err) == 0,
                  "%s", err.text);
    AUTO_FREE char *copy = strdup(printed);
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && rest != NULL;) {
        char id[5];
        struct attempt attempt;
        bool found = false;
        if (line[0] != 's' || strstr(line, "graded") == NULL || strstr(line, "not graded") != NULL)
            continue;
        (void)snprintf(id, sizeof id, "%.4s", line);
        ck_assert_int_eq(gradebook_latest(book, id, 0, &attempt, &found, &err), 0);
        ck_assert_msg(found, "%s was said to be finished, and is not in the gradebook", id);
        attempt_release(&attempt);
    }
    gradebook_close(book);
}

static const char *const compared[] = {"grades.csv", "pending.csv", "explanations.csv",
                                       "trouble.csv"};

static void assert_same_file(const char *a, const char *b, const char *name)
{
    struct bytes one = batch_read(a, name), other = batch_read(b, name);
    const char *x = bytes_text(&one), *y = bytes_text(&other);
    size_t at = 0, line = 0;
    for (; x[at] != '\0' && x[at] == y[at]; ++at)
        line = x[at] == '\n' ? at + 1 : line;
    ck_assert_msg(one.length == other.length && x[at] == '\0', "%s differs:\n%.900s\n---\n%.900s",
                  name, x + line, y + line);
    bytes_release(&one);
    bytes_release(&other);
}

static void assert_same_results(const char *a, const char *b)
{
    for (size_t i = 0; i < COUNT_OF(compared); ++i)
        assert_same_file(a, b, compared[i]);
    for (size_t i = 1; i <= batch_school.students; ++i) {
        char name[64];
        (void)snprintf(name, sizeof name, "students/s%03zu/feedback.txt", i);
        assert_same_file(a, b, name);
        (void)snprintf(name, sizeof name, "students/s%03zu/result.json", i);
        assert_same_file(a, b, name);
        (void)snprintf(name, sizeof name, "students/s%03zu/report.html", i);
        assert_same_file(a, b, name);
    }
}

/* The class graded without a stop, in out-straight. */
static void grade_straight(char straight[600])
{
    (void)snprintf(straight, 600, "%s-straight", batch_out);
    struct process_result result =
        school_batch(&batch_school, straight, LIST("--executor", "emulator", "--elements", "3000"));
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    process_result_release(&result);
}

static void finish_and_compare(const char *straight)
{
    struct process_result result = BATCH("--executor", "emulator", "--elements", "3000");
    ck_assert_msg(result.exit_code == 0, "%s%s", bytes_text(&result.output),
                  bytes_text(&result.error));
    process_result_release(&result);
    assert_same_results(straight, batch_out);
}

static size_t kills(void)
{
    const char *wish = getenv("SPILLWAY_TEST_KILLS");
    return wish != NULL && strcmp(wish, "100") == 0 ? 100 : 10;
}

START_TEST(killed_at_any_moment_nothing_is_lost)
{
    char straight[600];
    batch_set_up(STUDENTS, "sleep 0.05");
    struct timespec began, ended;
    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    grade_straight(straight);
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    int64_t whole_us =
        (ended.tv_sec - began.tv_sec) * 1000000 + (ended.tv_nsec - began.tv_nsec) / 1000;
    unsigned seed = (unsigned)began.tv_nsec;
    for (size_t i = 0; i < kills(); ++i) {
        /* Anew at times, so that every moment has its turn. */
        if (i % 3 == 0) {
            (void)snprintf(batch_out, sizeof batch_out, "%s/out-%zu", batch_school.folder, i);
        }
        struct child child = start();
        (void)usleep((useconds_t)((uint64_t)rand_r(&seed) % (uint64_t)whole_us));
        (void)kill(child.pid, SIGKILL);
        struct bytes printed = read_lines(&child, SIZE_MAX);
        (void)end(&child, 0);
        assert_holds(bytes_text(&printed));
        bytes_release(&printed);
        if (i % 3 == 2 || i + 1 == kills())
            finish_and_compare(straight);
    }
}
END_TEST

START_TEST(interrupted_it_ends_cleanly_and_says_how_to_go_on)
{
    char straight[600];
    batch_set_up(STUDENTS, "sleep 0.2");
    grade_straight(straight);
    struct child child = start();
    struct bytes first = read_lines(&child, 2);
    (void)kill(child.pid, SIGINT);
    struct bytes rest = read_lines(&child, SIZE_MAX);
    int status = end(&child, 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 130, "%x: %s", (unsigned)status,
                  bytes_text(&rest));
    ck_assert_msg(strstr(bytes_text(&rest), "the same command goes on") != NULL, "%s",
                  bytes_text(&rest));
    assert_holds(bytes_text(&first));
    bytes_release(&first);
    bytes_release(&rest);
    finish_and_compare(straight);
}
END_TEST

/* Whom trouble of the machine kept from being graded is not finished. */
START_TEST(interrupted_it_counts_trouble_apart)
{
    char expected[200];
    batch_set_up(4, "sleep 0.3");
    AUTO_FREE char *hidden = strdup(support_path(batch_school.folder, "away"));
    ck_assert_int_eq(rename(school_repo(&batch_school, 2), hidden), 0);
    struct child child = start();
    struct bytes said = read_lines(&child, 1);
    while (strstr(bytes_text(&said), "s002             not graded") == NULL) {
        struct bytes line = read_lines(&child, 1);
        ck_assert_msg(line.length > 0, "%s", bytes_text(&said));
        bytes_append_text(&said, bytes_text(&line));
        bytes_release(&line);
    }
    (void)kill(child.pid, SIGINT);
    struct bytes rest = read_lines(&child, SIZE_MAX);
    bytes_append_text(&said, bytes_text(&rest));
    int status = end(&child, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    size_t finished = 0;
    for (const char *at = bytes_text(&said); (at = strstr(at, "  graded ")) != NULL; ++at)
        ++finished;
    ck_assert_uint_lt(finished, 3);
    (void)snprintf(expected, sizeof expected,
                   "%zu of 4 students are finished and safe in %s, and 1 could not be graded",
                   finished, batch_out);
    ck_assert_msg(strstr(bytes_text(&said), expected) != NULL, "expected \"%s\" in\n%s", expected,
                  bytes_text(&said));
    bytes_release(&rest);
    bytes_release(&said);
    ck_assert_int_eq(rename(hidden, school_repo(&batch_school, 2)), 0);
    struct process_result result = BATCH("--executor", "emulator", "--elements", "3000");
    ck_assert_int_eq(result.exit_code, 0);
    batch_assert_says(&result, "s002             graded");
    process_result_release(&result);
}
END_TEST

Suite *suite_batch_days(void)
{
    Suite *suite = suite_create("batch_days");
    TCase *tests = tcase_create("days");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, going_on_equals_starting_afresh);
    suite_add_tcase(suite, tests);
    TCase *stops = tcase_create("stops");
    tcase_set_timeout(stops, 1200);
    tcase_add_test(stops, interrupted_it_ends_cleanly_and_says_how_to_go_on);
    tcase_add_test(stops, interrupted_it_counts_trouble_apart);
    tcase_add_test(stops, killed_at_any_moment_nothing_is_lost);
    suite_add_tcase(suite, stops);
    return suite;
}

/* check_out.c - the writers: the page for a terminal and the JSON say the same, whatever the grade
 * holds. */
#include "testing.h"

#include <jansson.h>

#include "files.h"
#include "out_json.h"
#include "out_text.h"
#include "support_situation.h"
#include "support_toolkit.h"
#include "text.h"

static struct situation s;

static struct bytes page_of(const struct grade *grade, const struct out_text_options *options)
{
    struct bytes page = bytes_with_limit((size_t)1 << 20);
    out_text_write(&page, grade, options);
    ck_assert(!page.failed);
    return page;
}

static json_t *json_of(const struct grade *grade)
{
    char folder[512];
    struct error err = {0};
    json_error_t trouble;
    support_new_folder(folder);
    const char *path = support_path(folder, "grade.json");
    ck_assert_msg(out_json_write(grade, path, &err) == 0, "%s", err.text);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &trouble);
    ck_assert_msg(root != NULL, "%s", trouble.text);
    return root;
}

/* ---- The grades
 * ---------------------------------------------------------------------------------- */

static void all_passed(void) {}
static void some_of_each(void)
{
    s.answers = "[build]\nnvcc = 12.6\n[registers]\ntwice = 9\n[q]\nword = spills\nunjudged = 1\n"
                "nonsense = 1\n";
    s.outcomes[TINY_CASE_TWICE].status = CASE_WRONG;
    s.outcomes[TINY_CASE_TWICE].mismatches = 3;
    s.outcomes[TINY_CASE_TWICE].first_index = 7;
    s.outcomes[TINY_CASE_TWICE].expected_bits = 0x3F800000;
    s.outcomes[TINY_CASE_TWICE].got_bits = 0x80000000;
    (void)snprintf(s.outcomes[TINY_CASE_TWICE].problem, sizeof s.outcomes[0].problem,
                   "twice: 3 of 10 elements differ from the CPU reference; the first is element 7 "
                   "(block 0, thread 7): expected 1 (0x3f800000), got -0 (0x80000000)");
    s.outcomes[TINY_CASE_PICK].status = CASE_ERROR;
    (void)snprintf(s.outcomes[TINY_CASE_PICK].problem, sizeof s.outcomes[0].problem,
                   "the worker died");
    s.launches[TINY_CASE_PICK].status = RUN_LOST;
    (void)snprintf(s.launches[TINY_CASE_PICK].fault.text, sizeof s.launches[0].fault.text,
                   "the worker died");
    ++s.cubin[TINY_PICK].registers;
}
static void not_built(void)
{
    s.compiled = false;
    s.answers = NULL;
}
static void timed_on_a_gpu(void)
{
    s.run.executor = EXECUTOR_GPU;
    s.run.device_cc = 75;
    (void)snprintf(s.run.device, sizeof s.run.device, "Tesla T4");
    for (size_t i = 0; i < TINY_CASES; ++i) {
        bool pick = i != TINY_CASE_TWICE;
        struct run_launch_result *launch = &s.launches[i];
        launch->device_registers = pick ? 64 : 8;
        launch->device_local_bytes = pick ? 64 : 0;
        launch->device_shared_bytes = 0;
        launch->device_max_threads = 1024;
        launch->device_blocks_per_sm = 16;
        launch->time = (struct run_timing){.known = true,
                                           .median_ns = pick ? 250000.25 : 100000,
                                           .q1_ns = pick ? 240000 : 99000,
                                           .q3_ns = pick ? 260000 : 101000,
                                           .rounds = 31};
        launch->traffic.global = (struct traffic_direction){
            .known = true, .load = {2098374, 8393496}, .store = {32788, 131149}};
        launch->traffic.spill.known = true;
    }
}
static void hostile(void)
{
    static char printed[] = "\x1b[2J\x1b]0;title\x07 Score: 100/100 \xff\xfe\xc3\n\n\n";
    s.launches[TINY_CASE_PICK].printed = printed;
    s.outcomes[TINY_CASE_TWICE].status = CASE_WRONG;
    (void)snprintf(
        s.outcomes[TINY_CASE_TWICE].problem, sizeof s.outcomes[0].problem,
        "\x1b[31m\"quoted\" \\ </script> \xe2\x80\xae %%s%%n \xf0\x9f\x98\x80 \xed\xa0\x80");
    (void)snprintf(s.run.device, sizeof s.run.device, "a \"device\"\nwith lines");
    s.answers = "[q]\nword = \"};\x01\nnumber = %s%n%s\n<b> = 1\n";
    s.more_ptx =
        ".visible .entry nasty_name_that_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_"
        "and_on_and_on() { ret; }\n";
}

static void (*const grades[])(void) = {all_passed, some_of_each, not_built, timed_on_a_gpu,
                                       hostile};

/* ---- Both say the same
 * ---------------------------------------------------------------------------- */

static int int_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return (int)json_integer_value(value);
}

static const char *text_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_string(value), "%s", key);
    return json_string_value(value);
}

/* A line is enough of what only waits for the build, but where the build's own mark is left out. */
START_TEST(what_waits_for_the_build_is_brief)
{
    situation_start(&s);
    not_built();
    situation_judge(&s);
    struct bytes whole = page_of(&s.grade, &(struct out_text_options){0});
    struct bytes part = page_of(&s.grade, &(struct out_text_options){.only = "code"});
    ck_assert_ptr_nonnull(
        strstr(bytes_text(&whole), "code.frame, waits for the build\nFAIL   0/16  code.spills,"));
    ck_assert_ptr_null(strstr(bytes_text(&part), "waits for the build\n"));
    ck_assert_ptr_nonnull(strstr(bytes_text(&part), "code.frame\n      a frame\n      seen:  "));
    bytes_release(&whole);
    bytes_release(&part);
    situation_release(&s);
}
END_TEST

START_TEST(totals_are_equal)
{
    static const struct {
        const char *word, *status;
    } words[] = {{"OK", "passed"}, {"FAIL", "failed"}, {"SKIP", "skipped"}, {"ERROR", "error"}};
    situation_start(&s);
    grades[_i]();
    situation_judge(&s);
    struct bytes page = page_of(&s.grade, &(struct out_text_options){.verbose = true});
    json_t *root = json_of(&s.grade);
    int score = int_of(root, "score"), pending = int_of(root, "pending");
    int points = 0, skipped = 0, possible = 0;
    const json_t *marks = json_object_get(root, "marks");
    ck_assert_uint_eq(json_array_size(marks), TINY_CRITERIA);
    for (size_t i = 0; i < TINY_CRITERIA; ++i) {
        const json_t *mark = json_array_get(marks, i);
        const char *status = text_of(mark, "status");
        char line[200];
        for (size_t k = 0; k < COUNT_OF(words); ++k)
            if (strcmp(status, words[k].status) == 0)
                (void)snprintf(line, sizeof line, "\n%-5s %2d/%-2d  %s%s\n", words[k].word,
                               int_of(mark, "points"), int_of(mark, "max_points"),
                               text_of(mark, "id"),
                               s.grade.marks[i].waits ? ", waits for the build" : "");
        ck_assert_msg(strstr(bytes_text(&page), line) != NULL, "%s is not in:\n%s", line,
                      bytes_text(&page));
        points += int_of(mark, "points");
        possible += int_of(mark, "max_points");
        if (strcmp(status, "skipped") == 0 || strcmp(status, "error") == 0)
            skipped += int_of(mark, "max_points");
    }
    ck_assert_int_eq(points, score);
    ck_assert_int_eq(skipped, pending);
    ck_assert_int_eq(possible, int_of(root, "max_score"));
    char last[100];
    if (pending > 0)
        (void)snprintf(last, sizeof last, "\nScore: %d/%d (%d pending)\n", score, possible,
                       pending);
    else
        (void)snprintf(last, sizeof last, "\nScore: %d/%d\n", score, possible);
    ck_assert_uint_ge(page.length, strlen(last));
    ck_assert_str_eq(bytes_text(&page) + page.length - strlen(last), last);
    json_decref(root);
    bytes_release(&page);
    situation_release(&s);
}
END_TEST

/* ---- The page
 * -------------------------------------------------------------------------------------- */

START_TEST(the_page_is_plain)
{
    situation_start(&s);
    grades[_i]();
    situation_judge(&s);
    struct bytes page = page_of(&s.grade, &(struct out_text_options){.verbose = true});
    const char *text = bytes_text(&page);
    ck_assert(text_is_utf8(text, page.length));
    for (const char *p = text; *p != '\0'; ++p)
        ck_assert((unsigned char)*p >= 0x20 || *p == '\n');
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n"), columns = 0;
        for (size_t i = 0; i < length; ++i)
            columns += ((unsigned char)line[i] & 0xC0) != 0x80;
        bool word =
            length > 0 && memchr(line + strspn(line, " "), ' ', length - strspn(line, " ")) ==
                              NULL; /* one that cannot be broken */
        ck_assert_msg(columns <= 80 || word || strncmp(line, "  | ", 4) == 0, "%zu columns: %.*s",
                      columns, (int)length, line);
        ck_assert_msg(length == 0 || line[length - 1] != ' ', "ends with a blank: %.*s",
                      (int)length, line);
        line += length + (line[length] == '\n');
    }
    bytes_release(&page);
    situation_release(&s);
}
END_TEST

START_TEST(colour_only_repeats)
{
    situation_start(&s);
    some_of_each();
    situation_judge(&s);
    struct bytes plain = page_of(&s.grade, &(struct out_text_options){0});
    struct bytes coloured = page_of(&s.grade, &(struct out_text_options){.colour = true});
    ck_assert_ptr_nonnull(strstr(bytes_text(&coloured), "\033[31mFAIL "));
    struct bytes stripped = bytes_with_limit((size_t)1 << 20);
    for (const char *p = bytes_text(&coloured); *p != '\0';) {
        if (*p != '\033') {
            bytes_append(&stripped, p++, 1);
            continue;
        }
        p += strcspn(p, "m") + 1;
    }
    ck_assert_str_eq(bytes_text(&stripped), bytes_text(&plain));
    bytes_release(&stripped);
    bytes_release(&coloured);
    bytes_release(&plain);
    situation_release(&s);
}
END_TEST

START_TEST(colour_belongs_on_terminals)
{
    FILE *file = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(file);
    ck_assert(!out_text_wants_colour(file));
    (void)fclose(file);
    FILE *terminal = fopen("/dev/ptmx", "w");
    if (terminal == NULL)
        TEST_SKIP("no pseudo terminal can be opened");
    static const struct {
        const char *no_colour, *term;
        bool wanted;
    } rows[] = {{NULL, "xterm", true},
                {"", "xterm", true},
                {"1", "xterm", false},
                {NULL, "dumb", false},
                {NULL, NULL, true}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        (void)(rows[i].no_colour ? setenv("NO_COLOR", rows[i].no_colour, 1) : unsetenv("NO_COLOR"));
        (void)(rows[i].term ? setenv("TERM", rows[i].term, 1) : unsetenv("TERM"));
        ck_assert_msg(out_text_wants_colour(terminal) == rows[i].wanted, "row %zu", i);
    }
    (void)fclose(terminal);
}
END_TEST

START_TEST(a_failure_says_what_to_do)
{
    situation_start(&s);
    some_of_each();
    situation_judge(&s);
    struct bytes page = page_of(&s.grade, &(struct out_text_options){.only = "numbers.twice"});
    const char *mark = strstr(bytes_text(&page), "FAIL   0/2   numbers.twice\n"
                                                 "      twice is right\n"
                                                 "      seen:  twice: 3 of 10 elements differ");
    ck_assert_ptr_nonnull(mark);
    ck_assert_ptr_nonnull(strstr(mark, "\n      where: tiny.cu:8\n"
                                       "      why:   It matters.\n"
                                       "      try:   Try again.\n"));
    ck_assert_ptr_null(strstr(bytes_text(&page), "numbers.pick"));
    ck_assert_ptr_null(strstr(bytes_text(&page), "\nOK"));
    bytes_release(&page);
    situation_release(&s);
}
END_TEST

static const struct {
    double median, q1, q3;
    const char *verdict;
} times[] = {
    {250000, 240000, 260000, "2.50 times as long as twice (slower)"},
    {50000, 49000, 51000, "0.50 times as long as twice (faster)"},
    {100000, 99500, 100500, "1.00 times as long as twice (the same)"},
    {100000, 90000, 110000, "1.00 times as long as twice (unclear: the quartiles overlap)"},
    {150000, 90000, 190000, "1.50 times as long as twice (unclear: the quartiles overlap)"},
};

START_TEST(times_are_compared)
{
    situation_start(&s);
    timed_on_a_gpu();
    s.launches[TINY_CASE_PICK].time.median_ns = times[_i].median;
    s.launches[TINY_CASE_PICK].time.q1_ns = times[_i].q1;
    s.launches[TINY_CASE_PICK].time.q3_ns = times[_i].q3;
    situation_judge(&s);
    struct bytes page = page_of(&s.grade, &(struct out_text_options){0});
    ck_assert_msg(strstr(bytes_text(&page), times[_i].verdict) != NULL, "%s", bytes_text(&page));
    bytes_release(&page);
    situation_release(&s);
}
END_TEST

/* ---- The JSON
 * ---------------------------------------------------------------------------------------- */

static void assert_keys(const json_t *object, const char *const *keys)
{
    ck_assert(json_is_object(object));
    for (; *keys != NULL; ++keys)
        ck_assert_msg(json_object_get(object, *keys) != NULL, "there is no \"%s\"", *keys);
}
#define KEYS(object, ...) assert_keys(object, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(the_schema_holds)
{
    situation_start(&s);
    grades[_i]();
    situation_judge(&s);
    json_t *root = json_of(&s.grade);
    KEYS(root, "schema", "lab", "submission", "toolchain", "executor", "seed", "kernels", "marks",
         "score", "pending", "max_score", "duration_ns");
    ck_assert_str_eq(text_of(root, "schema"), "spillway/result/v1");
    ck_assert_str_eq(text_of(root, "lab"), "tiny");
    ck_assert_int_eq(int_of(root, "seed"), 17);
    const json_t *submission = json_object_get(root, "submission");
    KEYS(submission, "kind", "path", "commit", "chosen");
    ck_assert_str_eq(text_of(submission, "kind"), "directory");
    const json_t *toolchain = json_object_get(root, "toolchain");
    KEYS(toolchain, "nvcc", "archs");
    ck_assert_str_eq(text_of(toolchain, "nvcc"), "13.0.88");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(toolchain, "archs"), 0)),
                     "sm_75");
    const json_t *executor = json_object_get(root, "executor");
    KEYS(executor, "kind", "device", "why");
    const json_t *kernels = json_object_get(root, "kernels");
    ck_assert_uint_eq(json_array_size(kernels), TINY_KERNELS);
    for (size_t k = 0; k < TINY_KERNELS; ++k) {
        const json_t *kernel = json_array_get(kernels, k);
        KEYS(kernel, "name", "arch", "registers", "stack_bytes", "spill_store_bytes",
             "spill_load_bytes", "shared_bytes", "barriers", "max_threads_per_block",
             "blocks_per_sm", "occupancy_percent", "witnesses", "compared", "mismatches",
             "first_mismatch", "fault", "traffic", "time_ns");
        KEYS(json_object_get(kernel, "traffic"), "global", "local_array", "spill");
        const json_t *witnesses = json_object_get(kernel, "witnesses");
        if (!json_is_null(witnesses))
            KEYS(json_object_get(witnesses, "registers"), "ptxas", "cubin", "device");
        ck_assert_int_eq(json_is_null(witnesses), grades[_i] == not_built);
    }
    const json_t *marks = json_object_get(root, "marks");
    for (size_t i = 0; i < json_array_size(marks); ++i) {
        const json_t *mark = json_array_get(marks, i);
        KEYS(mark, "id", "title", "status", "points", "max_points", "message", "hint");
        bool passed = strcmp(text_of(mark, "status"), "passed") == 0;
        ck_assert_int_eq(json_is_null(json_object_get(mark, "hint")), passed);
    }
    json_decref(root);
    situation_release(&s);
}
END_TEST

static const json_t *kernel_of(const json_t *root, size_t index)
{
    return json_array_get(json_object_get(root, "kernels"), index);
}

START_TEST(what_is_known_and_what_is_not)
{
    situation_start(&s);
    some_of_each();
    situation_judge(&s);
    json_t *root = json_of(&s.grade);
    const json_t *twice = kernel_of(root, TINY_TWICE), *pick = kernel_of(root, TINY_PICK);
    ck_assert_int_eq(int_of(twice, "registers"), 8);
    ck_assert_int_eq(int_of(twice, "compared"), 10);
    ck_assert_int_eq(int_of(twice, "mismatches"), 3);
    const json_t *first = json_object_get(twice, "first_mismatch");
    ck_assert_int_eq(int_of(first, "index"), 7);
    ck_assert_str_eq(text_of(first, "expected_bits"), "0x3f800000");
    ck_assert_str_eq(text_of(first, "got_bits"), "0x80000000");
    ck_assert(json_is_null(json_object_get(twice, "fault")));
    ck_assert(json_is_null(json_object_get(twice, "time_ns")));
    ck_assert_int_eq(int_of(pick, "compared"), 30);
    ck_assert(json_is_null(json_object_get(pick, "first_mismatch")));
    ck_assert_str_eq(text_of(json_object_get(pick, "fault"), "text"), "the worker died");
    const json_t *said = json_object_get(json_object_get(pick, "witnesses"), "registers");
    ck_assert_int_eq(int_of(said, "ptxas"), 64);
    ck_assert_int_eq(int_of(said, "cubin"), 65);
    ck_assert(json_is_null(json_object_get(said, "device")));
    ck_assert_str_eq(text_of(json_object_get(root, "executor"), "kind"), "emulator");
    json_decref(root);
    situation_release(&s);
    situation_start(&s);
    timed_on_a_gpu();
    situation_judge(&s);
    root = json_of(&s.grade);
    twice = kernel_of(root, TINY_TWICE);
    KEYS(json_object_get(twice, "time_ns"), "median", "q1", "q3", "rounds");
    const json_t *load =
        json_object_get(json_object_get(json_object_get(twice, "traffic"), "global"), "load");
    ck_assert_int_eq(int_of(load, "requests"), 2098374);
    ck_assert_int_eq(int_of(load, "sectors"), 8393496);
    ck_assert(json_is_null(json_object_get(json_object_get(twice, "traffic"), "local_array")));
    ck_assert_str_eq(text_of(json_object_get(root, "executor"), "kind"), "gpu");
    ck_assert_str_eq(text_of(json_object_get(root, "executor"), "device"), "Tesla T4");
    json_decref(root);
    situation_release(&s);
    situation_start(&s);
    not_built();
    situation_judge(&s);
    root = json_of(&s.grade);
    twice = kernel_of(root, TINY_TWICE);
    ck_assert(json_is_null(json_object_get(twice, "registers")));
    ck_assert(json_is_null(json_object_get(twice, "blocks_per_sm")));
    ck_assert(json_is_null(json_object_get(twice, "occupancy_percent")));
    ck_assert_str_eq(text_of(twice, "problem"), "it does not compile");
    json_decref(root);
    situation_release(&s);
}
END_TEST

/* What cannot be JSON (a number that is none) is left out, and never costs the grade. */
START_TEST(numbers_that_are_none)
{
    situation_start(&s);
    timed_on_a_gpu();
    s.launches[TINY_CASE_TWICE].time.median_ns = __builtin_nan("");
    s.launches[TINY_CASE_TWICE].time.q3_ns = __builtin_inf();
    situation_judge(&s);
    json_t *root = json_of(&s.grade);
    const json_t *time = json_object_get(kernel_of(root, TINY_TWICE), "time_ns");
    ck_assert(json_is_null(json_object_get(time, "median")));
    ck_assert(json_is_null(json_object_get(time, "q3")));
    ck_assert(json_is_real(json_object_get(time, "q1")));
    json_decref(root);
    situation_release(&s);
}
END_TEST

START_TEST(what_cannot_be_written)
{
    struct error err = {0};
    situation_start(&s);
    situation_judge(&s);
    ck_assert_int_eq(out_json_write(&s.grade, "/nowhere/grade.json", &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, "/nowhere/grade.json") != NULL, "%s", err.text);
    err = (struct error){0};
    ck_assert_int_eq(out_json_write(&s.grade, "/dev/full", &err), -1);
    ck_assert_msg(strstr(err.text, "No space left") != NULL, "%s", err.text);
    situation_release(&s);
}
END_TEST

Suite *suite_out(void)
{
    Suite *suite = suite_create("out");
    TCase *tests = tcase_create("out");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_waits_for_the_build_is_brief);
    tcase_add_loop_test(tests, totals_are_equal, 0, COUNT_OF(grades));
    tcase_add_loop_test(tests, the_page_is_plain, 0, COUNT_OF(grades));
    tcase_add_test(tests, colour_only_repeats);
    tcase_add_test(tests, colour_belongs_on_terminals);
    tcase_add_test(tests, a_failure_says_what_to_do);
    tcase_add_loop_test(tests, times_are_compared, 0, COUNT_OF(times));
    tcase_add_loop_test(tests, the_schema_holds, 0, COUNT_OF(grades));
    tcase_add_test(tests, what_is_known_and_what_is_not);
    tcase_add_test(tests, numbers_that_are_none);
    tcase_add_test(tests, what_cannot_be_written);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_merge.c - grades read back from JSON, what such a file may not say, and two grades joined.
 */
#include "testing.h"

#include <jansson.h>

#include "files.h"
#include "merge.h"
#include "out_json.h"
#include "result_read.h"
#include "support_situation.h"
#include "support_toolkit.h"

#define CORPUS "tests/fuzz/corpus/result/"

static struct situation s;

/* ---- The grades ------------------------------------------------------------------------------ */

static void passed(void) {}
static void wrong(void)
{
    s.answers = "[registers]\ntwice = 9\n[q]\nword = spills\nnonsense = 1\n";
    s.outcomes[TINY_CASE_TWICE].status = CASE_WRONG;
    s.outcomes[TINY_CASE_TWICE].mismatches = 3;
    s.outcomes[TINY_CASE_TWICE].first_index = 7;
    s.outcomes[TINY_CASE_TWICE].expected_bits = 0x3F800000;
    s.outcomes[TINY_CASE_TWICE].got_bits = 0x80000000;
    (void)snprintf(s.outcomes[TINY_CASE_TWICE].problem, sizeof s.outcomes[0].problem,
                   "twice: 3 of 10 elements differ\nin two lines");
    ++s.cubin[TINY_PICK].registers;
}
static void faulted(void)
{
    static char printed[] = "a \x1b[1m b\n";
    s.launches[TINY_CASE_PICK].printed = printed;
    s.launches[TINY_CASE_PICK].status = RUN_FAULTED;
    s.launches[TINY_CASE_PICK].fault.line = 5;
    (void)snprintf(s.launches[TINY_CASE_PICK].fault.text, sizeof s.launches[0].fault.text,
                   "out of bounds");
    s.outcomes[TINY_CASE_PICK].status = CASE_WRONG;
}
static void timed(void)
{
    s.run.executor = EXECUTOR_GPU;
    s.run.device_cc = 75;
    (void)snprintf(s.run.device, sizeof s.run.device, "Tesla T4");
    for (size_t i = 0; i < TINY_CASES; ++i) {
        struct run_launch_result *launch = &s.launches[i];
        bool pick = i != TINY_CASE_TWICE;
        launch->device_registers = pick ? 64 : 8;
        launch->device_local_bytes = pick ? 64 : 0;
        launch->device_shared_bytes = 0;
        launch->device_max_threads = 1024;
        launch->device_blocks_per_sm = 16;
        launch->time =
            (struct run_timing){.known = true, .median_ns = 0.1, .q1_ns = 0, .q3_ns = 1e9};
        launch->traffic.global = (struct traffic_direction){.known = true, .load = {1, 2}};
    }
}
static void not_built(void)
{
    s.compiled = false;
    s.answers = NULL;
}
static void nothing_ran(void)
{
    s.run.executor = EXECUTOR_NONE;
    s.run.device[0] = '\0';
    for (size_t i = 0; i < TINY_CASES; ++i) {
        s.outcomes[i].status = CASE_SKIPPED;
        s.outcomes[i].launch = NULL;
    }
}

static void (*const situations[])(void) = {passed, wrong, faulted, timed, not_built, nothing_ran};

static struct bytes json_of(const struct grade *grade)
{
    struct bytes text = bytes_with_limit((size_t)4 << 20);
    struct error err = {0};
    ck_assert_msg(out_json_text(&text, grade, &err) == 0, "%s", err.text);
    return text;
}

static struct bytes situation_json(void (*change)(void))
{
    situation_start(&s);
    change();
    situation_judge(&s);
    struct bytes text = json_of(&s.grade);
    situation_release(&s);
    return text;
}

/* ---- Read back ------------------------------------------------------------------------------- */

START_TEST(a_grade_reads_back_as_it_was)
{
    struct bytes first = situation_json(situations[_i]);
    struct grade grade;
    struct error err = {0};
    ck_assert_msg(result_read(&grade, first.data, first.length, &support_lab, &err) == 0, "%s",
                  err.text);
    struct bytes second = json_of(&grade);
    ck_assert_msg(strcmp(first.data, second.data) == 0, "%s", second.data);
    bytes_release(&second);
    bytes_release(&first);
    grade_release(&grade);
}
END_TEST

/* One value of the JSON put in place of another: a path of keys and indices, and JSON; NULL: the
 * key goes. */
static const struct {
    const char *path[4];
    const char *value;
    const char *says; /* NULL: it is taken all the same */
} edits[] = {
    /* clang-format off */
    {{"later"}, "{\"a\": [1]}", NULL},
    {{"schema"}, "\"spillway/result/v2\"", "it is no grade"},
    {{"schema"}, NULL, "it is no grade"},
    {{"lab"}, "\"another\"", "for the lab \"another\", which there is not"},
    {{"lab"}, "7", "for the lab \"\""},
    {{"score"}, "7", "score is 7, but the marks add up to"},
    {{"pending"}, "0", "pending is 0"},
    {{"max_score"}, NULL, "max_score is -1"},
    {{"score"}, "4.0", "score is not a whole number"},
    {{"marks"}, "[]", "0 marks, where tiny has 13"},
    {{"marks", "0", "id"}, "\"x\"", "there is no mark build.accepted"},
    {{"marks", "0", "points"}, "100", "mark build.accepted has 100 of 1 points"},
    {{"marks", "0", "max_points"}, "2", "mark build.accepted has 1 of 2 points"},
    {{"marks", "0", "status"}, "\"failed\"", "mark build.accepted has 1 of 1 points, where the lab gives 0 of 1"},
    {{"marks", "0", "status"}, "\"lost\"", "marks.status is not one of the words"},
    {{"marks", "0", "message"}, "[]", "marks.message is not a text"},
    {{"marks", "0", "line"}, "-1", "marks.line is not a whole number"},
    {{"marks", "0", "title"}, "\"<b>another title</b>\"", NULL},
    {{"submission", "kind"}, "\"usb\"", "submission.kind is not one of the words"},
    {{"submission", "source"}, "null", "submission.source is not there"},
    {{"toolchain", "archs"}, "[]", "toolchain.archs is not a list"},
    {{"toolchain", "archs", "0"}, "\"sm_banana\"", "toolchain.archs is not an architecture"},
    {{"executor", "kind"}, "\"oracle\"", "executor.kind is not one of the words"},
    {{"sandbox", "mode"}, "\"sometimes\"", "sandbox.mode is not auto, on or off"},
    {{"seed"}, "-1", "seed is not a whole number"},
    {{"seed"}, "99999999999999999999", "too big integer"},
    {{"kernels", "0", "name"}, "\"thrice\"", "kernels.name is not a kernel of the lab"},
    {{"kernels", "0", "arch"}, NULL, "kernels.arch is not an architecture"},
    {{"kernels", "0", "registers"}, "1e300", "kernels.registers is not a whole number"},
    {{"kernels", "0", "occupancy_percent"}, "-1", "kernels.occupancy_percent is not a number"},
    {{"kernels", "0", "first_mismatch"}, "{\"index\": 0, \"expected_bits\": \"zero\"}", "kernels.expected_bits is not the bits"},
    {{"notes"}, "[7]", "notes is not a list of texts"},
    {{"printed"}, "7", NULL},
    /* clang-format on */
};

static json_t *step(json_t *at, const char *key)
{
    return json_is_array(at) ? json_array_get(at, (size_t)(key[0] - '0'))
                             : json_object_get(at, key);
}

START_TEST(what_a_file_may_not_say)
{
    struct bytes text = situation_json(passed);
    json_t *root = json_loads(text.data, 0, NULL), *at = root;
    size_t last = 0;
    while (last < 3 && edits[_i].path[last + 1] != NULL)
        at = step(at, edits[_i].path[last++]);
    const char *key = edits[_i].path[last];
    /* Put in as text: jansson would not make all of these. */
    static const char mark[] = "\"HERE\"";
    if (edits[_i].value == NULL)
        (void)json_object_del(at, key);
    else if (json_is_array(at))
        (void)json_array_set_new(at, 0, json_string("HERE"));
    else
        (void)json_object_set_new(at, key, json_string("HERE"));
    AUTO_FREE char *changed = json_dumps(root, 0);
    struct bytes document = bytes_with_limit((size_t)4 << 20);
    char *here = strstr(changed, mark);
    if (here != NULL)
        bytes_printf(&document, "%.*s%s%s", (int)(here - changed), changed, edits[_i].value,
                     here + sizeof mark - 1);
    else
        bytes_append_text(&document, changed);
    struct grade grade;
    struct error err = {0};
    int status = result_read(&grade, document.data, document.length, &support_lab, &err);
    ck_assert_int_eq(status, edits[_i].says == NULL ? 0 : -1);
    ck_assert_msg(edits[_i].says == NULL || strstr(err.text, edits[_i].says) != NULL, "%s",
                  err.text);
    if (status == 0)
        ck_assert_str_eq(grade.marks[0].criterion->title, "builds");
    else
        ck_assert(err.kind == ERROR_USAGE && grade.mark_count == 0 && grade.marks == NULL);
    grade_release(&grade);
    json_decref(root);
    bytes_release(&document);
    bytes_release(&text);
}
END_TEST

START_TEST(bytes_that_are_no_json)
{
    static const char *const texts[] = {
        "",        "{", "[]", "null", "{\"schema\": 1, \"schema\": 2}", "{\"a\": \"\\u0000\"}",
        "\xff\xfe"};
    struct bytes deep = bytes_with_limit((size_t)1 << 20);
    for (size_t i = 0; i < 100000; ++i)
        bytes_append_text(&deep, "[");
    for (size_t i = 0; i <= COUNT_OF(texts); ++i) {
        struct grade grade;
        struct error err = {0};
        const char *text = i < COUNT_OF(texts) ? texts[i] : bytes_text(&deep);
        ck_assert_int_eq(result_read(&grade, text, strlen(text), NULL, &err), -1);
        ck_assert_int_eq(err.kind, ERROR_USAGE);
    }
    bytes_release(&deep);
}
END_TEST

/* ---- Joined ---------------------------------------------------------------------------------- */

static void read_corpus(struct grade *ret, const char *name)
{
    struct bytes text;
    struct error err = {0};
    AUTO_FREE char *path = path_join(CORPUS, name);
    ck_assert_int_eq(file_read(&text, path, (size_t)1 << 20, false), FILE_READ);
    ck_assert_msg(result_read(ret, text.data, text.length, NULL, &err) == 0, "%s", err.text);
    bytes_release(&text);
}

static bool has_note(const struct grade *grade, const char *words)
{
    for (size_t i = 0; i < grade->note_count; ++i)
        if (strstr(grade->notes[i], words) != NULL)
            return true;
    return false;
}

START_TEST(pending_marks_are_taken)
{
    struct grade first, second;
    struct error err = {0};
    read_corpus(&first, "none");
    read_corpus(&second, "gpu");
    ck_assert_int_eq(first.score, 75);
    ck_assert_int_eq(first.pending, 25);
    ck_assert(!first.kernels[1].ran && !first.kernels[1].time.known);
    ck_assert_msg(merge_grades(&first, &second, &err) == 0, "%s", err.text);
    ck_assert_int_eq(first.score, 100);
    ck_assert_int_eq(first.pending, 0);
    ck_assert_int_eq(first.max_score, 100);
    ck_assert_int_eq(first.executor, EXECUTOR_GPU);
    ck_assert_str_eq(first.device, "NVIDIA H200");
    ck_assert_uint_eq(first.seed, second.seed);
    ck_assert(first.kernels[1].ran && first.kernels[1].time.known);
    ck_assert_int_ge(first.kernels[1].registers_said.device, 0);
    ck_assert(has_note(&first, "taken from a run on NVIDIA H200, seed 17, nvcc 13.0.88: "
                               "numbers.decayNarrow, numbers.decayWide, "));
    ck_assert(has_note(&first, "a note"));
    grade_release(&first);
    grade_release(&second);
}
END_TEST

START_TEST(what_both_judged_stays)
{
    struct grade first, second;
    struct error err = {0};
    read_corpus(&first, "emulator");
    read_corpus(&second, "gpu");
    struct mark *mark = &second.marks[1];
    mark->status = MARK_FAILED;
    mark->points = 0;
    ck_assert_int_eq(merge_grades(&first, &second, &err), 0);
    ck_assert_int_eq(first.score, 100);
    ck_assert_int_eq(first.executor, EXECUTOR_EMULATOR);
    ck_assert(first.kernels[1].time.known);
    ck_assert(has_note(&first, "numbers.decayNarrow passed in the first grade and failed in the "
                               "second; the first counts"));
    ck_assert(has_note(&first, "nothing was taken from a run on NVIDIA H200"));
    grade_release(&first);
    grade_release(&second);
}
END_TEST

START_TEST(failures_are_taken_as_well)
{
    struct grade first, second;
    struct error err = {0};
    read_corpus(&first, "none");
    read_corpus(&second, "gpu");
    free(second.marks[1].message);
    free(second.marks[1].remedy);
    second.marks[1] = (struct mark){.criterion = second.marks[1].criterion,
                                    .status = MARK_FAILED,
                                    .message = strdup("it is wrong"),
                                    .remedy = strdup("mend it"),
                                    .line = 9};
    second.marks[2].status = MARK_ERROR; /* still pending: nothing to take */
    second.marks[2].points = 0;
    ck_assert_int_eq(merge_grades(&first, &second, &err), 0);
    ck_assert_int_eq(first.score, 90);
    ck_assert_int_eq(first.pending, 5);
    ck_assert_str_eq(first.marks[1].message, "it is wrong");
    ck_assert_str_eq(first.marks[1].remedy, "mend it");
    ck_assert_uint_eq(first.marks[1].line, 9);
    grade_release(&first);
    grade_release(&second);
}
END_TEST

/* Another compiler's figures do not go into a kernel's row. */
START_TEST(figures_of_two_compilers_stay_apart)
{
    struct grade first, second;
    struct error err = {0};
    read_corpus(&first, "none");
    read_corpus(&second, "gpu");
    (void)snprintf(second.nvcc_version, sizeof second.nvcc_version, "12.6.85");
    ck_assert_int_eq(merge_grades(&first, &second, &err), 0);
    ck_assert_int_eq(first.score, 100);
    ck_assert(!first.kernels[1].time.known);
    ck_assert_int_eq(first.kernels[1].registers_said.device, FACT_UNKNOWN);
    ck_assert(has_note(&first, "nvcc 12.6.85"));
    grade_release(&first);
    grade_release(&second);
}
END_TEST

static void other_source(struct grade *grade)
{
    grade->source_id[0] = grade->source_id[0] == '0' ? '1' : '0';
}
static void other_answers(struct grade *grade)
{
    grade->answers_id[0] = '\0';
}
static void other_arch(struct grade *grade)
{
    grade->archs[0].number = 90;
}
static void other_seed(struct grade *grade)
{
    grade->seed = 18;
}
static void other_lab(struct grade *grade)
{
    grade->lab = &support_lab;
}

static const struct {
    void (*change)(struct grade *grade);
    const char *says;
} refusals[] = {
    {other_source, "they grade different work: registers.cu is"},
    {other_answers, "they grade different work: answers.ini is"},
    {other_arch,
     "graded for sm_75, the second for sm_90: grade the second again with --arch sm_75"},
    {other_seed, "grade the second again with --seed 17"},
    {other_lab, "of the lab day17-registers, the second of tiny"},
};

START_TEST(what_cannot_be_joined)
{
    struct grade first, second;
    struct error err = {0};
    read_corpus(&first, "emulator");
    read_corpus(&second, "gpu");
    const struct lab *lab = second.lab;
    refusals[_i].change(&second);
    ck_assert_int_eq(merge_grades(&first, &second, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, refusals[_i].says) != NULL, "%s", err.text);
    second.lab = lab;
    grade_release(&first);
    grade_release(&second);
}
END_TEST

START_TEST(grades_of_unknown_bytes)
{
    struct grade first, second;
    struct error err = {0};
    read_corpus(&first, "none");
    read_corpus(&second, "gpu");
    first.source_id[0] = second.source_id[0] = '\0';
    ck_assert_int_eq(merge_grades(&first, &second, &err), -1);
    ck_assert_msg(strstr(err.text, "neither says which bytes it graded") != NULL, "%s", err.text);
    grade_release(&first);
    grade_release(&second);
}
END_TEST

/* ---- By the program -------------------------------------------------------------------------- */

static const struct {
    const char *arguments[8];
    int exit_code;
    const char *says; /* on either stream */
} commands[] = {
    /* clang-format off */
    {{CORPUS "none", CORPUS "gpu"}, 0, "Score: 100/100\n"},
    {{CORPUS "none", CORPUS "none", "--fail-under", "76"}, 1, "Score: 75/100 (25 pending)\n"},
    {{CORPUS "none", CORPUS "gpu"}, 0, "  run by      NVIDIA H200: a device can be used, in the second grade; the first\n              ran no kernel\n"},
    {{CORPUS "gpu", CORPUS "none"}, 0, "  run by      NVIDIA H200: a device can be used, in the first grade; the second\n              ran no kernel\n"},
    {{CORPUS "none", CORPUS "none"}, 0, "  run by      nothing: neither of the two grades ran a kernel\n"},
    {{CORPUS "emulator", CORPUS "gpu"}, 0, "; joined with a run on"},
    {{CORPUS "none", CORPUS "gpu", "--tap", "-"}, 0, "TAP version 14\n1..25\n"},
    {{CORPUS "none", CORPUS "gpu", "--autolab"}, 0, "{\"scores\":{\"build\":5,\"numbers\":25,"},
    {{CORPUS "none", CORPUS "starter"}, 2, "cannot be joined: they grade different work"},
    {{CORPUS "none"}, 2, "two grades are joined, and 1 is named"},
    {{CORPUS "none", CORPUS "gpu", CORPUS "gpu"}, 2, "and 3 are named"},
    {{"-", "-"}, 2, "only one of the two can be standard input"},
    {{CORPUS "none", "/nowhere"}, 3, "cannot read /nowhere"},
    {{CORPUS "none", "Makefile"}, 2, "Makefile: line 1"},
    {{CORPUS "none", CORPUS "gpu", "--only", "x"}, 2, "--only x: no mark of day17-registers begins so"},
    {{"--help"}, 0, "usage: spillway merge A.json B.json"},
    /* clang-format on */
};

START_TEST(by_the_program)
{
    const char *arguments[12] = {"merge"};
    for (size_t i = 0; i < 8 && commands[_i].arguments[i] != NULL; ++i)
        arguments[1 + i] = commands[_i].arguments[i];
    struct process_result result = testing_spillway(arguments, NULL);
    ck_assert_msg(result.exit_code == commands[_i].exit_code, "exit status %d: %s",
                  result.exit_code, bytes_text(&result.error));
    ck_assert_msg(strstr(bytes_text(&result.output), commands[_i].says) != NULL ||
                      strstr(bytes_text(&result.error), commands[_i].says) != NULL,
                  "%s%s", bytes_text(&result.output), bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

/* ---- The page that says what is in the file -------------------------------------------------- */

struct keys {
    char *items[300]; /* owned, in order of appearance, each once */
    size_t count;
};

static void add_key(struct keys *keys, const char *path)
{
    for (size_t i = 0; i < keys->count; ++i)
        if (strcmp(keys->items[i], path) == 0)
            return;
    ck_assert_uint_lt(keys->count, COUNT_OF(keys->items));
    keys->items[keys->count++] = strdup(path);
}

static bool has_key(const struct keys *keys, const char *path)
{
    for (size_t i = 0; i < keys->count; ++i)
        if (strcmp(keys->items[i], path) == 0)
            return true;
    return false;
}

static void release_keys(struct keys *keys)
{
    for (size_t i = 0; i < keys->count; ++i)
        free(keys->items[i]);
}

/* "kernels[].fault.line" for every key that is there. */
static void collect_keys(struct keys *keys, json_t *value, const char *path)
{
    const char *key = NULL;
    json_t *inner = NULL;
    size_t index = 0;
    char below[300];
    json_object_foreach(value, key, inner)
    {
        (void)snprintf(below, sizeof below, "%s%s%s", path, path[0] == '\0' ? "" : ".", key);
        if (!json_is_array(inner))
            add_key(keys, below);
        collect_keys(keys, inner, below);
    }
    json_array_foreach(value, index, inner)
    {
        (void)snprintf(below, sizeof below, "%s[]", path);
        add_key(keys, below);
        collect_keys(keys, inner, below);
    }
}

/* Keys that are like another: what is below them, the page has below the other. */
struct alike {
    struct {
        char key[200], other[200];
    } items[30];
    size_t count;
};

/* The first cell of each row; "likewise `b` and `c`" in the last stands for further keys, whose
 * path ends with b or c instead. */
static void documented_keys(struct keys *keys, struct alike *alike)
{
    struct bytes page;
    ck_assert_int_eq(file_read(&page, "grader/FORMATS.md", (size_t)1 << 20, false), FILE_READ);
    char *rest = page.data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (strncmp(line, "| `", 3) != 0)
            continue;
        char *key = line + 3, *end = strchr(key, '`'), *word = strstr(end, "likewise");
        *end = '\0';
        add_key(keys, key);
        while (word != NULL && (word = strchr(word, '`')) != NULL) {
            char *stop = strchr(word + 1, '`');
            size_t at = alike->count++;
            ck_assert_uint_lt(at, COUNT_OF(alike->items));
            (void)snprintf(alike->items[at].key, sizeof alike->items[at].key, "%.*s.%.*s",
                           (int)(strrchr(key, '.') - key), key, (int)(stop - word - 1), word + 1);
            (void)snprintf(alike->items[at].other, sizeof alike->items[at].other, "%s", key);
            add_key(keys, alike->items[at].key);
            word = stop + 1;
        }
    }
    bytes_release(&page);
}

static bool is_documented(const struct keys *keys, const struct alike *alike, const char *path)
{
    bool found = has_key(keys, path);
    for (size_t i = 0; i < alike->count && !found; ++i) {
        size_t length = strlen(alike->items[i].key);
        char other[600];
        if (strncmp(path, alike->items[i].key, length) != 0 || path[length] != '.')
            continue;
        (void)snprintf(other, sizeof other, "%s%s", alike->items[i].other, path + length);
        found = is_documented(keys, alike, other);
    }
    return found;
}

START_TEST(the_page_has_exactly_the_keys)
{
    struct keys written = {0}, documented = {0};
    struct alike alike = {0};
    for (size_t i = 0; i < COUNT_OF(situations); ++i) {
        struct bytes text = situation_json(situations[i]);
        json_t *root = json_loads(text.data, 0, NULL);
        collect_keys(&written, root, "");
        json_decref(root);
        bytes_release(&text);
    }
    documented_keys(&documented, &alike);
    for (size_t i = 0; i < written.count; ++i)
        ck_assert_msg(is_documented(&documented, &alike, written.items[i]),
                      "FORMATS.md does not have %s", written.items[i]);
    for (size_t i = 0; i < documented.count; ++i)
        ck_assert_msg(has_key(&written, documented.items[i]), "nobody writes %s",
                      documented.items[i]);
    ck_assert_uint_gt(written.count, 90);
    release_keys(&written);
    release_keys(&documented);
}
END_TEST

Suite *suite_merge(void)
{
    Suite *suite = suite_create("merge");
    TCase *tests = tcase_create("merge");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_grade_reads_back_as_it_was, 0, COUNT_OF(situations));
    tcase_add_loop_test(tests, what_a_file_may_not_say, 0, COUNT_OF(edits));
    tcase_add_test(tests, bytes_that_are_no_json);
    tcase_add_test(tests, pending_marks_are_taken);
    tcase_add_test(tests, what_both_judged_stays);
    tcase_add_test(tests, failures_are_taken_as_well);
    tcase_add_test(tests, figures_of_two_compilers_stay_apart);
    tcase_add_loop_test(tests, what_cannot_be_joined, 0, COUNT_OF(refusals));
    tcase_add_test(tests, grades_of_unknown_bytes);
    tcase_add_loop_test(tests, by_the_program, 0, COUNT_OF(commands));
    tcase_add_test(tests, the_page_has_exactly_the_keys);
    suite_add_tcase(suite, tests);
    return suite;
}

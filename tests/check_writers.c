/* check_writers.c - each format against its published rules, whatever the grade holds; and the same
 * totals in all of them. */
#include "testing.h"

#include <ctype.h>
#include <jansson.h>

#include "files.h"
#include "mark_words.h"
#include "number.h"
#include "out_text.h"
#include "support_situation.h"
#include "support_toolkit.h"
#include "text.h"
#include "writers.h"

#define FIRST_OPTION 1000

static struct situation s;
static const struct writer_context no_context;

/* A folder may be called anything. */
#define HOSTILE_PATH "x,line=9::pwned,]]>\"<b>%%0A#\\ y/tiny.cu"

/* ---- The grades ------------------------------------------------------------------------------ */

/* What each format could take for its own: ends of strings, elements and blocks, commands, scores.
 */
#define POISON                                                                                     \
    "pwned \x1b[31m\x07\x9b]]></failure></pre></details><script>alert(1)</script>\n"               \
    "::error file=x::pwned\n::add-mask::pwned\n##[error]pwned\n"                                   \
    "ok 1 - pwned\nnot ok 2 - pwned\n1..1\nBail out! pwned\n  ...\n  ---\n# pwned\n"               \
    "{\"scores\":{\"numbers\":100}}\n=cmd|' /C calc'!A0\n@SUM(1)\nname: \"pwned\" \\ 100%0A\n"     \
    "| a | b |\n&amp; %s%n \xff\xfe\xc3 \xed\xa0\x80 \xef\xbf\xbf \xe2\x80\xae \xf0\x9f\x98\x80"

static void all_but_one(void) {}
static void some_of_each(void)
{
    s.answers = "[build]\nnvcc = 12.6\n[registers]\ntwice = 9\n[q]\nword = spills\nunjudged = 1\n";
    s.outcomes[TINY_CASE_TWICE].status = CASE_WRONG;
    s.outcomes[TINY_CASE_TWICE].mismatches = 3;
    (void)snprintf(s.outcomes[TINY_CASE_TWICE].problem, sizeof s.outcomes[0].problem,
                   "twice: 3 of 10 elements differ");
    s.outcomes[TINY_CASE_PICK].status = CASE_ERROR;
    (void)snprintf(s.outcomes[TINY_CASE_PICK].problem, sizeof s.outcomes[0].problem,
                   "the worker died");
    ++s.cubin[TINY_PICK].registers;
}
static void faulted(void)
{
    s.outcomes[TINY_CASE_PICK].status = CASE_WRONG;
    s.launches[TINY_CASE_PICK].status = RUN_FAULTED;
    s.launches[TINY_CASE_PICK].fault.line = 5;
    (void)snprintf(s.outcomes[TINY_CASE_PICK].problem, sizeof s.outcomes[0].problem,
                   "pick: out of bounds");
    (void)snprintf(s.launches[TINY_CASE_PICK].fault.text, sizeof s.launches[0].fault.text,
                   "out of bounds");
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
        (void)snprintf(s.outcomes[i].problem, sizeof s.outcomes[i].problem, "nothing ran");
    }
}
static void hostile(void)
{
    static char printed[] = POISON;
    s.launches[TINY_CASE_PICK].printed = printed;
    s.outcomes[TINY_CASE_TWICE].status = CASE_WRONG;
    (void)snprintf(s.outcomes[TINY_CASE_TWICE].problem, sizeof s.outcomes[0].problem, "%s", POISON);
    s.outcomes[TINY_CASE_PICK].status = CASE_SKIPPED;
    (void)snprintf(s.outcomes[TINY_CASE_PICK].problem, sizeof s.outcomes[0].problem, "%s", POISON);
    (void)snprintf(s.run.device, sizeof s.run.device, "%s", "dev\n::error::pwned ]]> </pre>");
    s.answers = "[q]\nword = ]]></failure><script>pwned\nnumber = ::error::pwned\n<b>pwned = 1\n";
}

static void judge(void (*change)(void))
{
    change();
    situation_judge(&s);
    if (change != hostile)
        return;
    free(s.grade.source_path);
    free(s.grade.answers_path);
    s.grade.source_path = strdup(HOSTILE_PATH);
    s.grade.answers_path = strdup(HOSTILE_PATH);
}

static void (*const situations[])(void) = {all_but_one, some_of_each, faulted,
                                           not_built,   nothing_ran,  hostile};

static void set_up(void)
{
    static const char *const stamps[][2] = {{"CLASSROOM", "cs"},
                                            {"ASSIGNMENT", "day17"},
                                            {"SUBMISSION_TAG", "submit/1"},
                                            {"COMMIT_URL", "https://example.org/c"},
                                            {"RELEASE_URL", "https://example.org/r"}};
    for (size_t i = 0; i < COUNT_OF(stamps); ++i)
        (void)setenv(stamps[i][0], stamps[i][1], 1);
    (void)unsetenv("REVIEW_URL");
    situation_start(&s);
}

static void tear_down(void)
{
    situation_release(&s);
}

static struct bytes document_by(writer_function *writer, const struct writer_context *context)
{
    struct bytes document = bytes_with_limit((size_t)4 << 20);
    struct error err = {0};
    ck_assert_msg(writer(&document, &s.grade, context, &err) == 0, "%s", err.text);
    ck_assert(!document.failed);
    ck_assert(text_is_utf8(bytes_text(&document), document.length));
    for (size_t i = 0; i < document.length; ++i)
        ck_assert_msg((unsigned char)document.data[i] >= 0x20 || document.data[i] == '\n',
                      "control byte %d", document.data[i]);
    return document;
}

static json_t *json_by(writer_function *writer, const struct writer_context *context)
{
    struct bytes document = document_by(writer, context);
    json_error_t trouble;
    json_t *root = json_loadb(document.data, document.length, JSON_REJECT_DUPLICATES, &trouble);
    ck_assert_msg(root != NULL, "%s", trouble.text);
    bytes_release(&document);
    return root;
}

/* ---- Totals ---------------------------------------------------------------------------------- */

struct totals {
    int score, max_score, pending; /* what the format says */
    int summed, summed_max;        /* what its marks add up to; -1: it does not say */
};

static int int_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_integer(value), "%s", key);
    return (int)json_integer_value(value);
}

static int sum_of(const json_t *array, const char *key)
{
    int sum = 0;
    for (size_t i = 0; i < json_array_size(array); ++i)
        sum += (int)json_integer_value(json_object_get(json_array_get(array, i), key));
    return sum;
}

static struct totals gradescope_totals(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    const json_t *tests = json_object_get(root, "tests");
    struct totals totals = {.score = int_of(root, "score")};
    totals.max_score = int_of(json_object_get(root, "extra_data"), "max_score");
    totals.pending = int_of(json_object_get(root, "extra_data"), "pending");
    totals.summed = sum_of(tests, "score");
    totals.summed_max = sum_of(tests, "max_score") + totals.pending;
    json_decref(root);
    return totals;
}

static struct totals classroom50_totals(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    const json_t *tests = json_object_get(root, "tests");
    struct totals totals = {.score = int_of(root, "score"),
                            .max_score = int_of(root, "max-score"),
                            .pending = int_of(root, "pending"),
                            .summed = sum_of(tests, "score"),
                            .summed_max = sum_of(tests, "max-score")};
    json_decref(root);
    return totals;
}

/* "62/100 (20 pending)" after `before`. */
static void score_words(struct totals *totals, const char *text, const char *before)
{
    const char *at = strstr(text, before);
    ck_assert_msg(at != NULL, "no \"%s\" in:\n%s", before, text);
    at += strlen(before);
    uint64_t numbers[3] = {0};
    for (size_t i = 0; i < 3; ++i) {
        size_t digits = strspn(at, "0123456789");
        ck_assert(number_parse_u64_bytes(at, digits, 100000, &numbers[i]));
        at += digits;
        if (strncmp(at, i == 0 ? "/" : " (", i == 0 ? 1 : 2) != 0)
            break;
        at += i == 0 ? 1 : 2;
    }
    totals->score = (int)numbers[0];
    totals->max_score = (int)numbers[1];
    totals->pending = (int)numbers[2];
}

static struct totals prairielearn_totals(const char *text)
{
    struct totals totals = {0};
    json_t *root = json_loads(text, 0, NULL);
    const json_t *tests = json_object_get(root, "tests");
    score_words(&totals, json_string_value(json_object_get(root, "message")), "Score: ");
    double share = json_real_value(json_object_get(root, "score"));
    ck_assert_double_eq_tol(share * totals.max_score, totals.score, 1e-9);
    totals.summed = sum_of(tests, "points");
    totals.summed_max = sum_of(tests, "max_points");
    json_decref(root);
    return totals;
}

static struct totals json_totals(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    const json_t *marks = json_object_get(root, "marks");
    struct totals totals = {.score = int_of(root, "score"),
                            .max_score = int_of(root, "max_score"),
                            .pending = int_of(root, "pending"),
                            .summed = sum_of(marks, "points"),
                            .summed_max = sum_of(marks, "max_points")};
    json_decref(root);
    return totals;
}

static int after(const char *text, const char *before)
{
    const char *at = strstr(text, before);
    uint64_t number = 0;
    ck_assert_msg(at != NULL, "no \"%s\"", before);
    at += strlen(before);
    ck_assert(number_parse_u64_bytes(at, strspn(at, "0123456789"), 100000, &number));
    return (int)number;
}

static struct totals junit_totals(const char *text)
{
    struct totals totals = {.score = after(text, "name=\"score\" value=\""),
                            .max_score = after(text, "name=\"max_score\" value=\""),
                            .pending = after(text, "name=\"pending\" value=\"")};
    for (const char *at = text; (at = strstr(at, "name=\"points.")) != NULL; ++at) {
        totals.summed += after(at, "value=\"");
        totals.summed_max += after(strstr(at, "value=\"") + 7, "/");
    }
    return totals;
}

static struct totals tap_totals(const char *text)
{
    struct totals totals = {0};
    score_words(&totals, text, "\n# Score: ");
    for (const char *at = text; (at = strstr(at, "\n  points: ")) != NULL; ++at)
        totals.summed += after(at, "points: ");
    for (const char *at = text; (at = strstr(at, "\n  max_points: ")) != NULL; ++at)
        totals.summed_max += after(at, "max_points: ");
    return totals;
}

static struct totals github_totals(const char *text)
{
    struct totals totals = {.summed = -1, .summed_max = -1};
    score_words(&totals, text, "**Score: ");
    return totals;
}

static struct totals html_totals(const char *text)
{
    static const char cell[] = "<td class=\"n\">";
    struct totals totals = {0};
    score_words(&totals, text, "<p class=\"score\">Score: ");
    for (const char *at = strstr(text, "<caption>Marks</caption>"); (at = strstr(at, cell)) != NULL;
         ++at) {
        totals.summed += after(at, cell);
        totals.summed_max += after(at, "/");
    }
    return totals;
}

static struct totals page_totals(const char *text)
{
    struct totals totals = {.summed = -1, .summed_max = -1};
    score_words(&totals, text, "\nScore: ");
    return totals;
}

static const char *last_line(const char *text)
{
    size_t length = strlen(text);
    ck_assert_uint_gt(length, 0);
    const char *at = text + length - 1;
    ck_assert_int_eq(*at, '\n');
    while (at > text && at[-1] != '\n')
        --at;
    return at;
}

/* Autolab has nothing but points. */
static struct totals autolab_totals(const char *text)
{
    struct totals totals = {.max_score = -1, .pending = -1, .summed = -1, .summed_max = -1};
    json_t *root = json_loads(last_line(text), 0, NULL);
    const char *key = NULL;
    json_t *value = NULL;
    ck_assert_uint_eq(json_object_size(root), 1);
    json_object_foreach(json_object_get(root, "scores"), key, value)
    {
        ck_assert(json_is_integer(value));
        totals.score += (int)json_integer_value(value);
    }
    json_decref(root);
    return totals;
}

static const struct {
    const char *option; /* of the table; NULL: the page */
    struct totals (*read)(const char *text);
} readers[] = {
    {"json", json_totals},
    {"junit", junit_totals},
    {"tap", tap_totals},
    {"html", html_totals},
    {"gradescope", gradescope_totals},
    {"autolab", autolab_totals},
    {"prairielearn", prairielearn_totals},
    {"classroom50", classroom50_totals},
    {"github-summary", github_totals},
    {NULL, page_totals},
};

static void same_totals(const struct totals *totals, int score, int pending, int max_score,
                        const char *format)
{
    const char *name = format == NULL ? "the page" : format;
    ck_assert_msg(totals->score == score, "%s: %d, not %d", name, totals->score, score);
    ck_assert_msg(totals->pending == -1 || totals->pending == pending, "%s: %d pending, not %d",
                  name, totals->pending, pending);
    ck_assert_msg(totals->max_score == -1 || totals->max_score == max_score, "%s: of %d, not %d",
                  name, totals->max_score, max_score);
    ck_assert_msg(totals->summed == -1 || totals->summed == score, "%s: marks add up to %d, not %d",
                  name, totals->summed, score);
    ck_assert_msg(totals->summed_max == -1 || totals->summed_max == max_score,
                  "%s: marks add up to %d at most, not %d", name, totals->summed_max, max_score);
}

static const struct writer *writer_called(const char *option)
{
    for (size_t i = 0; i < writer_count; ++i)
        if (strcmp(writer_table[i].option, option) == 0)
            return &writer_table[i];
    ck_abort_msg("there is no --%s", option);
    return NULL;
}

START_TEST(totals_agree_in_all_formats)
{
    judge(situations[_i]);
    for (size_t i = 0; i < COUNT_OF(readers); ++i) {
        struct bytes document = bytes_with_limit((size_t)1 << 20);
        if (readers[i].option == NULL) {
            out_text_write(&document, &s.grade, &(struct out_text_options){0});
        } else {
            const struct writer *writer = writer_called(readers[i].option);
            bytes_release(&document);
            document = document_by(writer->write != NULL ? writer->write : writer->after_page,
                                   &no_context);
        }
        struct totals totals = readers[i].read(bytes_text(&document));
        same_totals(&totals, s.grade.score, s.grade.pending, s.grade.max_score, readers[i].option);
        bytes_release(&document);
    }
}
END_TEST

/* A format that is added has to be read back here. */
START_TEST(each_format_is_read_back)
{
    for (size_t i = 0; i < writer_count; ++i) {
        bool found = writer_table[i].set != NULL;
        for (size_t k = 0; k < COUNT_OF(readers); ++k)
            found = found || (readers[k].option != NULL &&
                              strcmp(readers[k].option, writer_table[i].option) == 0);
        ck_assert_msg(found, "nobody reads --%s back", writer_table[i].option);
    }
}
END_TEST

static const struct {
    const char *folder, *executor;
    int score, pending;
} graded[] = {
    {"reference/day17-registers", "emulator", 100, 0},
    {"starter/day17-registers", "emulator", 25, 0},
    {"reference/day17-registers", "none", 75, 25},
};

/* The same by the real program, from one run. */
START_TEST(totals_agree_in_one_run)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    char folder[512];
    support_new_folder(folder);
    const char *arguments[40] = {"grade", graded[_i].folder, "--executor", graded[_i].executor,
                                 "--autolab"};
    size_t count = 5;
    char *owned[2 * COUNT_OF(readers)] = {0};
    for (size_t i = 0; i < COUNT_OF(readers); ++i) {
        if (readers[i].option == NULL || writer_called(readers[i].option)->write == NULL)
            continue;
        ck_assert_int_gt(asprintf(&owned[2 * i], "--%s", readers[i].option), 0);
        owned[2 * i + 1] = strdup(support_path(folder, readers[i].option));
        arguments[count++] = owned[2 * i];
        arguments[count++] = owned[2 * i + 1];
    }
    struct process_result result = testing_spillway(
        arguments, (const char *[]){"CLASSROOM=c", "ASSIGNMENT=a", "SUBMISSION_TAG=t",
                                    "COMMIT_URL=u", "RELEASE_URL=r", NULL});
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    for (size_t i = 0; i < COUNT_OF(readers); ++i) {
        struct bytes content = bytes_with_limit((size_t)4 << 20);
        if (owned[2 * i + 1] != NULL)
            ck_assert_int_eq(file_read(&content, owned[2 * i + 1], (size_t)4 << 20, false),
                             FILE_READ);
        else
            bytes_append_text(&content, bytes_text(&result.output));
        struct totals totals = readers[i].read(bytes_text(&content));
        same_totals(&totals, graded[_i].score, graded[_i].pending, 100, readers[i].option);
        bytes_release(&content);
    }
    for (size_t i = 0; i < COUNT_OF(owned); ++i)
        free(owned[i]);
    process_result_release(&result);
}
END_TEST

/* ---- JSON formats: every key, its type and its values, as the systems publish them ----------- */

enum type { STRING, NUMBER, INTEGER, BOOL, ARRAY, OBJECT, ANY };

struct field {
    const char *key;
    enum type type;
    bool required;
    const char *values; /* "a|b": a string is one of these; NULL: any */
};

static bool has_type(const json_t *value, enum type type)
{
    switch (type) {
    case STRING:
        return json_is_string(value);
    case NUMBER:
        return json_is_number(value);
    case INTEGER:
        return json_is_integer(value);
    case BOOL:
        return json_is_boolean(value);
    case ARRAY:
        return json_is_array(value);
    case OBJECT:
        return json_is_object(value);
    case ANY:
        break;
    }
    return true;
}

static bool among(const char *value, const char *values)
{
    size_t length = strlen(value);
    for (const char *at = values; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, value, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return true;
    }
    return false;
}

static void assert_fields(json_t *object, const struct field *fields, size_t count)
{
    const char *key = NULL;
    json_t *value = NULL;
    ck_assert(json_is_object(object));
    json_object_foreach(object, key, value)
    {
        const struct field *field = NULL;
        for (size_t i = 0; i < count; ++i)
            if (strcmp(fields[i].key, key) == 0)
                field = &fields[i];
        ck_assert_msg(field != NULL, "the format knows no \"%s\"", key);
        ck_assert_msg(has_type(value, field->type), "\"%s\" has the wrong type", key);
        ck_assert_msg(field->values == NULL || among(json_string_value(value), field->values),
                      "\"%s\" cannot be \"%s\"", key, json_string_value(value));
    }
    for (size_t i = 0; i < count; ++i)
        ck_assert_msg(!fields[i].required || json_object_get(object, fields[i].key) != NULL,
                      "\"%s\" is missing", fields[i].key);
}

#define TEXT_FORMATS "text|html|simple_format|md|ansi"
#define VISIBILITIES "visible|hidden|after_due_date|after_published"
static const struct field gradescope_top[] = {
    /* clang-format off */
    {"score", NUMBER, true, NULL}, {"execution_time", NUMBER, false, NULL},
    {"output", STRING, false, NULL}, {"output_format", STRING, false, TEXT_FORMATS},
    {"test_output_format", STRING, false, TEXT_FORMATS},
    {"test_name_format", STRING, false, TEXT_FORMATS},
    {"visibility", STRING, false, VISIBILITIES}, {"stdout_visibility", STRING, false, VISIBILITIES},
    {"extra_data", OBJECT, false, NULL}, {"tests", ARRAY, false, NULL},
    {"leaderboard", ARRAY, false, NULL},
    /* clang-format on */
};
static const struct field gradescope_test[] = {
    /* clang-format off */
    {"score", NUMBER, false, NULL}, {"max_score", NUMBER, false, NULL},
    {"status", STRING, false, "passed|failed"}, {"name", STRING, false, NULL},
    {"name_format", STRING, false, TEXT_FORMATS}, {"number", STRING, false, NULL},
    {"output", STRING, false, NULL}, {"output_format", STRING, false, TEXT_FORMATS},
    {"tags", ARRAY, false, NULL}, {"visibility", STRING, false, VISIBILITIES},
    {"extra_data", OBJECT, false, NULL},
    /* clang-format on */
};
static const struct field prairielearn_top[] = {
    {"gradable", BOOL, true, NULL},  {"format_errors", ANY, false, NULL},
    {"score", NUMBER, false, NULL},  {"message", STRING, false, NULL},
    {"output", STRING, false, NULL}, {"images", ARRAY, false, NULL},
    {"tests", ARRAY, false, NULL},
};
static const struct field prairielearn_test[] = {
    {"name", STRING, true, NULL},     {"description", STRING, false, NULL},
    {"points", NUMBER, true, NULL},   {"max_points", NUMBER, true, NULL},
    {"message", STRING, false, NULL}, {"output", STRING, false, NULL},
    {"images", ARRAY, false, NULL},
};
static const struct field classroom50_top[] = {
    {"schema", STRING, true, "classroom50/result/v1"},
    {"classroom", STRING, true, NULL},
    {"assignment", STRING, true, NULL},
    {"submission", STRING, true, NULL},
    {"commit", STRING, true, NULL},
    {"release", STRING, true, NULL},
    {"review", STRING, true, NULL},
    {"datetime", STRING, true, NULL},
    {"score", INTEGER, true, NULL},
    {"max-score", INTEGER, true, NULL},
    {"pending", INTEGER, true, NULL}, /* ours: other keys are kept */
    {"tests", ARRAY, true, NULL},
};
static const struct field classroom50_test[] = {
    {"test-name", STRING, true, NULL}, {"passed", BOOL, true, NULL},
    {"score", INTEGER, true, NULL},    {"max-score", INTEGER, true, NULL},
    {"title", STRING, true, NULL},     {"status", STRING, true, "passed|failed|skipped|error"},
    {"message", STRING, true, NULL},
};

static const struct {
    writer_function *write;
    const struct field *top, *test;
    size_t top_count, test_count;
} json_formats[] = {
    /* clang-format off */
    {out_gradescope, gradescope_top, gradescope_test, COUNT_OF(gradescope_top), COUNT_OF(gradescope_test)},
    {out_prairielearn, prairielearn_top, prairielearn_test, COUNT_OF(prairielearn_top), COUNT_OF(prairielearn_test)},
    {out_classroom50, classroom50_top, classroom50_test, COUNT_OF(classroom50_top), COUNT_OF(classroom50_test)},
    /* clang-format on */
};

START_TEST(json_has_the_published_fields)
{
    judge(situations[_i]);
    for (size_t f = 0; f < COUNT_OF(json_formats); ++f) {
        json_t *root = json_by(json_formats[f].write, &no_context);
        assert_fields(root, json_formats[f].top, json_formats[f].top_count);
        json_t *tests = json_object_get(root, "tests");
        ck_assert_uint_eq(json_array_size(tests), TINY_CRITERIA);
        for (size_t i = 0; i < json_array_size(tests); ++i)
            assert_fields(json_array_get(tests, i), json_formats[f].test,
                          json_formats[f].test_count);
        json_decref(root);
    }
}
END_TEST

START_TEST(gradescope_shows_text_and_leaves_pending_marks_open)
{
    some_of_each();
    situation_judge(&s);
    json_t *root = json_by(out_gradescope, &no_context);
    ck_assert_str_eq(json_string_value(json_object_get(root, "output_format")), "text");
    ck_assert_str_eq(json_string_value(json_object_get(root, "test_output_format")), "text");
    ck_assert_str_eq(json_string_value(json_object_get(root, "test_name_format")), "text");
    const json_t *tests = json_object_get(root, "tests");
    for (size_t i = 0; i < TINY_CRITERIA; ++i) {
        const json_t *test = json_array_get(tests, i);
        bool pending = mark_is_pending(&s.grade.marks[i]);
        const char *name = json_string_value(json_object_get(test, "name"));
        ck_assert_int_eq(strncmp(name, "PENDING", 7) == 0, pending);
        ck_assert_int_eq(json_object_get(test, "score") == NULL, pending);
        ck_assert_int_eq(json_object_get(test, "status") == NULL, pending);
    }
    static const char *const numbers[] = {"1.1", "2.1", "2.2", "3.1"};
    for (size_t i = 0; i < COUNT_OF(numbers); ++i)
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(tests, i), "number")),
                         numbers[i]);
    json_decref(root);
}
END_TEST

/* ---- What stands in a file before there is a grade ------------------------------------------- */

static const struct {
    int (*write)(struct bytes *, const char *, struct error *);
    const struct field *top;
    size_t top_count;
} absent_formats[] = {
    {out_gradescope_absent, gradescope_top, COUNT_OF(gradescope_top)},
    {out_prairielearn_absent, prairielearn_top, COUNT_OF(prairielearn_top)},
};

START_TEST(files_without_a_grade_are_valid)
{
    static const char *const reasons[] = {NULL, "no nvcc", POISON};
    for (size_t r = 0; r < COUNT_OF(reasons); ++r) {
        struct bytes document = bytes_with_limit(100000);
        struct error err = {0};
        ck_assert_int_eq(absent_formats[_i].write(&document, reasons[r], &err), 0);
        json_t *root = json_loadb(document.data, document.length, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_ptr_nonnull(root);
        assert_fields(root, absent_formats[_i].top, absent_formats[_i].top_count);
        ck_assert(!json_is_true(json_object_get(root, "gradable")));
        ck_assert_double_eq(json_number_value(json_object_get(root, "score")), 0);
        if (reasons[r] != NULL)
            ck_assert_ptr_nonnull(strstr(bytes_text(&document), r == 1 ? "no nvcc" : "pwned"));
        json_decref(root);
        bytes_release(&document);
    }
}
END_TEST

static const struct {
    const char *created, *due, *says;
    int days; /* -1: not known */
} late_rows[] = {
    /* clang-format off */
    {"2026-03-01T23:59:59.123456-08:00", "2026-03-02T08:00:00.000000Z", "submitted in time", 0},
    {"2026-03-02T08:00:00Z", "2026-03-02T08:00:00Z", "submitted in time", 0},
    {"2026-03-02T08:00:01Z", "2026-03-02T08:00:00Z", "submitted 1 second after the due date: 1 late day", 1},
    {"2026-03-03T08:00:00Z", "2026-03-02T08:00:00Z", "submitted 1 day after the due date: 1 late day", 1},
    {"2026-03-03T11:00:00Z", "2026-03-02T08:00:00Z", "submitted 1 day 3 hours after the due date: 2 late days", 2},
    /* The clock went forward that night: the offsets tell. */
    {"2026-03-08T23:59:00.0-07:00", "2026-03-07T23:59:00.0-08:00", "submitted 23 hours after the due date: 1 late day", 1},
    {"2026-03-02T13:30:00+0530", "2026-03-02T08:00:00+00:00", "submitted in time", 0},
    {"yesterday", "2026-03-02T08:00:00Z", "", -1},
    {"2026-03-02T08:00:00", "2026-03-02T08:00:00Z", "", -1}, /* no zone: nobody knows when */
    {"2026-13-02T08:00:00Z", "2026-03-02T08:00:00Z", "", -1},
    {"2026-03-02T08:00:00Z then", "2026-03-02T08:00:00Z", "", -1},
    {"2026-02-30T08:00:00Z", "2026-03-02T08:00:00Z", "", -1}, /* no such day */
    {"2026-03-02T09:00 Europe/Berlin", "2026-03-02T08:00:00Z", "submitted in time", 0},
    /* clang-format on */
};

START_TEST(late_days_come_from_the_metadata)
{
    char folder[512], metadata[2000];
    support_new_folder(folder);
    (void)snprintf(metadata, sizeof metadata,
                   "{\"id\": 1, \"created_at\": \"%s\", \"assignment\": {\"due_date\": \"%s\", "
                   "\"late_due_date\": null, \"total_points\": \"100.0\"}, \"users\": []}",
                   late_rows[_i].created, late_rows[_i].due);
    const char *path = support_path(folder, "submission_metadata.json");
    testing_write(path, metadata, strlen(metadata));
    situation_judge(&s);
    json_t *root = json_by(out_gradescope, &(struct writer_context){.gradescope_metadata = path});
    const json_t *days = json_object_get(json_object_get(root, "extra_data"), "late_days");
    if (late_rows[_i].days < 0)
        ck_assert(json_is_null(days));
    else
        ck_assert_int_eq(json_integer_value(days), late_rows[_i].days);
    ck_assert_msg(strstr(json_string_value(json_object_get(root, "output")), late_rows[_i].says) !=
                      NULL,
                  "%s", json_string_value(json_object_get(root, "output")));
    json_decref(root);
}
END_TEST

/* It costs the days, not the grade. */
START_TEST(metadata_that_cannot_be_read)
{
    static const char *const contents[] = {NULL, "", "{", "[1]", "{\"assignment\": 3}"};
    char folder[512];
    support_new_folder(folder);
    const char *path = support_path(folder, "submission_metadata.json");
    if (contents[_i] != NULL)
        testing_write(path, contents[_i], strlen(contents[_i]));
    situation_judge(&s);
    json_t *root = json_by(out_gradescope, &(struct writer_context){.gradescope_metadata = path});
    ck_assert_int_eq(int_of(root, "score"), s.grade.score);
    ck_assert(json_is_null(json_object_get(json_object_get(root, "extra_data"), "late_days")));
    json_decref(root);
}
END_TEST

START_TEST(classroom50_needs_its_runner)
{
    struct error err = {0};
    ck_assert_int_eq(out_classroom50_ready(&err), 0);
    (void)unsetenv("SUBMISSION_TAG");
    ck_assert_int_eq(out_classroom50_ready(&err), -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "SUBMISSION_TAG"));
}
END_TEST

/* ---- JUnit ----------------------------------------------------------------------------------- */

static struct process_result xmllint(const char *first, const char *second, const char *path)
{
    const struct process_spec spec = {
        .argv = (const char *[]){"/usr/bin/xmllint", "--nonet", first, second, path, NULL},
        .wall_ns = INT64_C(60000000000),
        .output_limit = (size_t)1 << 20};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    return result;
}

START_TEST(junit_follows_the_schema)
{
    if (access("/usr/bin/xmllint", X_OK) != 0)
        TEST_SKIP("no xmllint");
    char folder[512];
    support_new_folder(folder);
    judge(situations[_i]);
    struct bytes document = document_by(out_junit, &no_context);
    const char *path = support_path(folder, "junit.xml");
    testing_write(path, document.data, document.length);
    struct process_result result = xmllint("--schema", "tests/fixtures/writers/junit.xsd", path);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    process_result_release(&result);
    static const char *const counts[] = {[MARK_PASSED] = "count(//testcase[not(*)])",
                                         [MARK_FAILED] = "count(//testcase/failure)",
                                         [MARK_SKIPPED] = "count(//testcase/skipped)",
                                         [MARK_ERROR] = "count(//testcase/error)"};
    for (size_t status = 0; status < COUNT_OF(counts); ++status) {
        int expected = 0;
        for (size_t i = 0; i < s.grade.mark_count; ++i)
            expected += s.grade.marks[i].status == (enum mark_status)status;
        result = xmllint("--xpath", counts[status], path);
        int seen = after(bytes_text(&result.output), "");
        ck_assert_msg(seen == expected, "%s: %d, not %d", counts[status], seen, expected);
        process_result_release(&result);
    }
    bytes_release(&document);
}
END_TEST

/* ---- HTML ------------------------------------------------------------------------------------ */

START_TEST(html_is_well_formed_and_harmless)
{
    if (access("/usr/bin/xmllint", X_OK) != 0)
        TEST_SKIP("no xmllint");
    char folder[512];
    support_new_folder(folder);
    situations[_i]();
    situation_judge(&s);
    struct bytes document = document_by(out_html, &no_context);
    ck_assert_ptr_null(strcasestr(bytes_text(&document), "<script"));
    ck_assert_ptr_null(strstr(bytes_text(&document), "http-equiv"));
    const char *path = support_path(folder, "grade.html");
    testing_write(path, document.data, document.length);
    struct process_result result = xmllint("--noout", "--nonet", path);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    process_result_release(&result);
    /* Each picture says in words what it shows. */
    result =
        xmllint("--xpath", "count(//*[local-name()='svg'][not(*[local-name()='title'])])", path);
    ck_assert_int_eq(after(bytes_text(&result.output), ""), 0);
    process_result_release(&result);
    result = xmllint("--xpath", "count(//strong)", path);
    ck_assert_int_eq(after(bytes_text(&result.output), ""), (int)s.grade.mark_count);
    process_result_release(&result);
    bytes_release(&document);
}
END_TEST

static void frame_is(int64_t frame, int64_t stores, int64_t loads, const char *words)
{
    situation_start(&s);
    s.ptxas[TINY_PICK].stack_bytes = s.cubin[TINY_PICK].stack_bytes = frame;
    s.ptxas[TINY_PICK].spill_store_bytes = s.cubin[TINY_PICK].spill_store_bytes = stores;
    s.ptxas[TINY_PICK].spill_load_bytes = s.cubin[TINY_PICK].spill_load_bytes = loads;
    situation_judge(&s);
    struct bytes document = document_by(out_html, &no_context);
    ck_assert_msg(strstr(bytes_text(&document), words) != NULL, "no \"%s\"", words);
    bytes_release(&document);
    situation_release(&s);
}

/* A table that is too wide can be moved by the keyboard, a telephone shows the page as wide as it
 * is, each head says what it is the head of, and dark schemes have colours of their own. */
START_TEST(html_reads_everywhere)
{
    static const char *const words[] = {
        "<meta name=\"viewport\" content=\"width=device-width\"/>",
        "<meta name=\"color-scheme\" content=\"light dark\"/>",
        "@media (prefers-color-scheme: dark)",
        "<div class=\"wide\" role=\"region\" aria-label=\"Kernels\" tabindex=\"0\">",
        "<caption>Kernels</caption>",
        "<caption>Marks</caption>",
        "<th colspan=\"3\" scope=\"rowgroup\">numbers: ",
        "<dt>try</dt>\n<dd>",
    };
    situation_release(&s);
    situation_start(&s);
    s.ptxas[TINY_PICK].stack_bytes = s.cubin[TINY_PICK].stack_bytes = 0;
    situation_judge(&s);
    struct bytes document = document_by(out_html, &no_context);
    const char *text = bytes_text(&document);
    for (size_t i = 0; i < COUNT_OF(words); ++i)
        ck_assert_msg(strstr(text, words[i]) != NULL, "no %s in\n%s", words[i], text);
    ck_assert_ptr_null(strstr(text, "<th>"));
    ck_assert_ptr_null(strstr(text, "<pre>"));
    bytes_release(&document);
}
END_TEST

START_TEST(html_pictures_say_what_they_show)
{
    situation_release(&s);
    frame_is(0, 0, 0, "none: everything lives in registers");
    frame_is(64, 0, 0, "<title>64 bytes: an array, nothing spilled</title>");
    frame_is(72, 4, 8, "72 bytes: 64 of an array, 8 more (4 bytes spilled out, 8 in)");
    frame_is(64, 0, 0, "<title>16 blocks of 64 threads: 1,024 of 1,024 thread slots</title>");
    situation_start(&s);
}
END_TEST

/* ---- TAP 14 ---------------------------------------------------------------------------------- */

/* One line of the YAML block: `  key: value`, and a value is a number, a bare word, or a JSON
 * string.
 */
static void assert_yaml(const char *line, size_t length)
{
    ck_assert_msg(length > 4 && strncmp(line, "  ", 2) == 0 && islower((unsigned char)line[2]),
                  "%.*s", (int)length, line);
    size_t key = 2 + strspn(line + 2, "abcdefghijklmnopqrstuvwxyz_");
    ck_assert_msg(strncmp(line + key, ": ", 2) == 0, "%.*s", (int)length, line);
    const char *value = line + key + 2;
    size_t rest = length - key - 2;
    if (value[0] != '"') {
        ck_assert_uint_eq(strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789"), rest);
        return;
    }
    json_t *string = json_loadb(value, rest, JSON_DECODE_ANY, NULL);
    ck_assert_msg(json_is_string(string), "%.*s", (int)length, line);
    json_decref(string);
}

/* `ok N - text`, `not ok N - text`, with an optional ` # SKIP reason`. */
static enum mark_status assert_test_point(const char *line, size_t length, size_t number)
{
    bool failed = strncmp(line, "not ", 4) == 0;
    char start[40];
    (void)snprintf(start, sizeof start, "ok %zu - ", number);
    const char *at = line + (failed ? 4 : 0);
    ck_assert_msg(strncmp(at, start, strlen(start)) == 0, "%.*s", (int)length, line);
    bool skipped = false;
    for (at += strlen(start); at < line + length; ++at) {
        if (*at == '\\') {
            ++at;
            ck_assert(*at == '\\' || *at == '#');
        } else if (*at == '#') {
            ck_assert_msg(!skipped && strncmp(at, "# SKIP ", 7) == 0 && at[-1] == ' ', "%.*s",
                          (int)length, line);
            skipped = true;
        }
    }
    ck_assert(!(failed && skipped));
    return skipped ? MARK_SKIPPED : failed ? MARK_FAILED : MARK_PASSED;
}

START_TEST(tap_follows_version_14)
{
    judge(situations[_i]);
    struct bytes document = document_by(out_tap, &no_context);
    size_t number = 0, line_number = 0;
    bool in_yaml = false;
    for (const char *line = bytes_text(&document); *line != '\0'; ++line_number) {
        size_t length = strcspn(line, "\n");
        ck_assert_int_eq(line[length], '\n');
        if (line_number == 0)
            ck_assert_msg(length == 14 && strncmp(line, "TAP version 14", length) == 0, "version");
        else if (line_number == 1)
            ck_assert_int_eq(after(line, "1.."), (int)s.grade.mark_count);
        else if (in_yaml && length == 5 && strncmp(line, "  ...", 5) == 0)
            in_yaml = false;
        else if (in_yaml)
            assert_yaml(line, length);
        else if (length == 5 && strncmp(line, "  ---", 5) == 0)
            in_yaml = true;
        else if (line[0] == '#')
            ck_assert_msg(strncmp(line, "# Score: ", 9) == 0, "%.*s", (int)length, line);
        else {
            enum mark_status said = assert_test_point(line, length, ++number);
            const struct mark *mark = &s.grade.marks[number - 1];
            ck_assert_int_eq(said, mark_is_pending(mark) ? MARK_SKIPPED : mark->status);
        }
        line += length + 1;
    }
    ck_assert(!in_yaml);
    ck_assert_uint_eq(number, s.grade.mark_count);
    bytes_release(&document);
}
END_TEST

/* ---- Autolab --------------------------------------------------------------------------------- */

/* What Autolab's parser does to the last line: a word that a colon follows gets quotes. */
static void assert_unquotable(const char *line)
{
    for (const char *p = line; *p != '\0'; ++p)
        ck_assert_msg(*p != ':' || p == line || !isalnum((unsigned char)p[-1]), "%.40s", p - 20);
}

START_TEST(autolab_ends_with_scores)
{
    static const char *const groups[] = {"build", "numbers", "code", "counts", "q"};
    judge(situations[_i]);
    struct bytes page = bytes_with_limit((size_t)1 << 20);
    out_text_write(&page, &s.grade, &(struct out_text_options){0});
    size_t page_length = page.length;
    struct error err = {0};
    ck_assert_int_eq(out_autolab_line(&page, &s.grade, &no_context, &err), 0);
    const char *view = bytes_text(&page) + page_length, *line = last_line(bytes_text(&page));
    ck_assert_ptr_eq(strchr(view, '\n') + 1, line);
    assert_unquotable(view);
    json_t *scores = json_loads(line, 0, NULL), *root = NULL;
    ck_assert_uint_eq(json_object_size(json_object_get(scores, "scores")), COUNT_OF(groups));
    root = json_loadb(view, strcspn(view, "\n"), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(root);
    ck_assert_str_eq(json_string_value(json_object_get(root, "_presentation")), "semantic");
    const json_t *stages = json_object_get(root, "stages");
    ck_assert_uint_eq(json_array_size(stages), COUNT_OF(groups));
    size_t cases = 0;
    for (size_t i = 0; i < COUNT_OF(groups); ++i) {
        const char *key = NULL;
        json_t *test = NULL;
        ck_assert_str_eq(json_string_value(json_array_get(stages, i)), groups[i]);
        json_object_foreach(json_object_get(root, groups[i]), key, test)
        {
            ck_assert(json_is_boolean(json_object_get(test, "passed")));
            ck_assert(json_is_string(json_object_get(test, "hint")));
            ++cases;
        }
    }
    ck_assert_uint_eq(cases, TINY_CRITERIA);
    json_decref(root);
    json_decref(scores);
    bytes_release(&page);
}
END_TEST

/* ---- GitHub ---------------------------------------------------------------------------------- */

/* Everything that a student wrote stands inside <pre>, and no markup in there. */
START_TEST(github_summary_quotes_what_is_hostile)
{
    judge(situations[_i]);
    struct bytes document = document_by(out_github_summary, &no_context);
    bool inside = false;
    for (const char *line = bytes_text(&document); *line != '\0';) {
        size_t length = strcspn(line, "\n");
        AUTO_FREE char *copy = strndup(line, length);
        ck_assert_ptr_nonnull(copy);
        line += length + 1;
        if (strcmp(copy, "<pre>") == 0 || strcmp(copy, "</pre>") == 0) {
            ck_assert_int_eq(inside, copy[1] == '/');
            inside = !inside;
        } else if (inside) {
            ck_assert_msg(strpbrk(copy, "<>") == NULL, "%s", copy);
        } else {
            ck_assert_msg(strstr(copy, "pwned") == NULL, "%s", copy);
        }
    }
    ck_assert(!inside);
    bytes_release(&document);
}
END_TEST

START_TEST(github_annotations_are_commands_and_nothing_else)
{
    judge(situations[_i]);
    struct bytes document = document_by(out_github_annotations, &no_context);
    size_t lines = 0, expected = 0;
    for (size_t i = 0; i < s.grade.mark_count; ++i)
        expected += s.grade.marks[i].status != MARK_PASSED;
    for (const char *line = bytes_text(&document); *line != '\0'; ++lines) {
        size_t length = strcspn(line, "\n");
        bool error = strncmp(line, "::error ", 8) == 0;
        ck_assert_msg(error || strncmp(line, "::warning ", 10) == 0, "%.*s", (int)length, line);
        const char *message = memmem(line + 2, length - 2, "::", 2),
                   *title = strstr(line, "title=");
        ck_assert_ptr_nonnull(message);
        ck_assert_msg(title != NULL && title < message, "%.*s", (int)length, line);
        for (const char *p = line; p < line + length; ++p)
            ck_assert_msg(*p != '%' || strncmp(p, "%25", 3) == 0 || strncmp(p, "%0A", 3) == 0 ||
                              strncmp(p, "%3A", 3) == 0 || strncmp(p, "%2C", 3) == 0,
                          "%.*s", (int)length, line);
        line += length + 1;
    }
    ck_assert_uint_eq(lines, expected);
    bytes_release(&document);
}
END_TEST

START_TEST(annotations_name_the_line)
{
    faulted();
    situation_judge(&s);
    struct bytes document = document_by(out_github_annotations, &no_context);
    ck_assert_msg(strncmp(bytes_text(&document),
                          "::error file=there/tiny.cu,line=5,title=numbers.pick (0/4)::", 59) == 0,
                  "%s", bytes_text(&document));
    bytes_release(&document);
}
END_TEST

START_TEST(the_page_is_guarded_in_actions)
{
    char token[WRITERS_TOKEN_BYTES], again[WRITERS_TOKEN_BYTES];
    struct bytes page = bytes_with_limit(1000), plain = bytes_with_limit(1000);
    (void)setenv("GITHUB_ACTIONS", "true", 1);
    writers_guard_page(&page, token);
    bytes_append_text(&page, "::error::pwned\n");
    writers_unguard_page(&page, token);
    char expected[300];
    (void)snprintf(expected, sizeof expected, "::stop-commands::%s\n::error::pwned\n::%s::\n",
                   token, token);
    ck_assert_str_eq(bytes_text(&page), expected);
    ck_assert_uint_gt(strlen(token), 30);
    writers_guard_page(&page, again);
    ck_assert_str_ne(token, again);
    (void)unsetenv("GITHUB_ACTIONS");
    writers_guard_page(&plain, token);
    writers_unguard_page(&plain, token);
    ck_assert_uint_eq(plain.length, 0);
    bytes_release(&plain);
    bytes_release(&page);
}
END_TEST

/* ---- Requests -------------------------------------------------------------------------------- */

static int option_value(const char *option)
{
    return FIRST_OPTION + (int)(writer_called(option) - writer_table);
}

static const struct {
    const char *options[3][2];
    const char *refused; /* NULL: taken */
    bool own_output;
} requests[] = {
    {{{"json", "-"}}, NULL, true},
    {{{"json", "a"}, {"tap", "b"}, {"junit", "c"}}, NULL, false},
    {{{"json", "a"}, {"tap", "-"}}, NULL, true},
    {{{"json", "-"}, {"tap", "-"}}, "--json and --tap both want standard output", false},
    {{{"tap", "-"}, {"autolab", NULL}}, "--tap and --autolab both want standard output", false},
    {{{"autolab", NULL}, {"tap", "-"}}, "--autolab and --tap both want standard output", false},
    {{{"autolab", NULL}, {"github-summary", "a"}}, NULL, false},
    {{{"github-summary", "a"}, {"json", "-"}}, NULL, true},
};

START_TEST(one_writer_has_standard_output)
{
    struct writers writers = {0};
    struct error err = {0};
    for (size_t i = 0; i < 3 && requests[_i].options[i][0] != NULL; ++i)
        ck_assert(writers_take(&writers, option_value(requests[_i].options[i][0]), FIRST_OPTION,
                               requests[_i].options[i][1], &err));
    ck_assert_int_eq(err.kind != ERROR_NONE, requests[_i].refused != NULL);
    if (requests[_i].refused != NULL)
        ck_assert_msg(strstr(err.text, requests[_i].refused) != NULL, "%s", err.text);
    else
        ck_assert_int_eq(writers_own_output(&writers), requests[_i].own_output);
    ck_assert(!writers_take(&writers, FIRST_OPTION + (int)writer_count, FIRST_OPTION, "a", &err));
    ck_assert(!writers_take(&writers, FIRST_OPTION - 1, FIRST_OPTION, "a", &err));
}
END_TEST

START_TEST(options_are_added_behind_others)
{
    struct option table[WRITERS_OPTIONS + 2] = {{"lab", required_argument, NULL, 7}};
    writers_options(table, COUNT_OF(table), FIRST_OPTION);
    ck_assert_str_eq(table[0].name, "lab");
    ck_assert_str_eq(table[1].name, writer_table[0].option);
    ck_assert_int_eq(table[writer_count].val, FIRST_OPTION + (int)writer_count - 1);
    ck_assert_ptr_null(table[writer_count + 1].name);
}
END_TEST

/* A summary is added to; every other file is replaced. */
START_TEST(a_summary_grows)
{
    char folder[512];
    support_new_folder(folder);
    situation_judge(&s);
    struct writers writers = {0};
    struct error err = {0};
    AUTO_FREE char *summary = strdup(support_path(folder, "summary.md"));
    AUTO_FREE char *tap = strdup(support_path(folder, "grade.tap"));
    testing_write(summary, "before\n", 7);
    testing_write(tap, "before\n", 7);
    (void)writers_take(&writers, option_value("github-summary"), FIRST_OPTION, summary, &err);
    (void)writers_take(&writers, option_value("tap"), FIRST_OPTION, tap, &err);
    for (int i = 0; i < 2; ++i)
        ck_assert_msg(writers_finish(&writers, &s.grade, &err) == 0, "%s", err.text);
    struct bytes content;
    ck_assert_int_eq(file_read(&content, summary, (size_t)1 << 20, false), FILE_READ);
    const char *first = strstr(bytes_text(&content), "## A tiny lab");
    ck_assert_int_eq(strncmp(bytes_text(&content), "before\n## A tiny lab", 20), 0);
    ck_assert_ptr_nonnull(strstr(first + 1, "## A tiny lab"));
    bytes_release(&content);
    ck_assert_int_eq(file_read(&content, tap, (size_t)1 << 20, false), FILE_READ);
    ck_assert_int_eq(strncmp(bytes_text(&content), "TAP version 14\n", 15), 0);
    bytes_release(&content);
}
END_TEST

/* ---- By the program -------------------------------------------------------------------------- */

static struct fake_toolkit toolkit;
static char home[600];

/* The compiler looks at the file while the grading goes on. */
START_TEST(a_partial_file_comes_first)
{
    fake_toolkit_make(&toolkit, "cp \"$here/results.json\" \"$here/partial\"\nexit 1\n", NULL);
    (void)snprintf(home, sizeof home, "CUDA_HOME=%s", toolkit.home);
    const char *nvcc_folder = toolkit.nvcc;
    AUTO_FREE char *here = strndup(nvcc_folder, (size_t)(strrchr(nvcc_folder, '/') - nvcc_folder));
    AUTO_FREE char *results = strdup(support_path(here, "results.json"));
    struct process_result result =
        testing_spillway((const char *[]){"grade", "starter/day17-registers", "--sandbox", "off",
                                          "--executor", "none", "--gradescope", results, NULL},
                         (const char *[]){home, NULL});
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    struct bytes partial = fake_toolkit_note(&toolkit, "partial");
    ck_assert_msg(strstr(bytes_text(&partial), "did not come to its end") != NULL, "%s",
                  bytes_text(&partial));
    struct bytes final = fake_toolkit_note(&toolkit, "results.json");
    ck_assert_ptr_nonnull(strstr(bytes_text(&final), "\"tests\": ["));
    bytes_release(&final);
    bytes_release(&partial);
    process_result_release(&result);
}
END_TEST

static const struct {
    const char *arguments[8];
    int exit_code;
    const char *says; /* on standard error */
    const char *file; /* what the --gradescope file says; NULL: there is none */
} trouble_rows[] = {
    /* clang-format off */
    {{"starter/day17-registers", "--nvcc", "/nowhere"}, 3, "/nowhere", "Nothing was graded: --nvcc /nowhere"},
    {{"/nowhere"}, 2, "no folder", "Nothing was graded: there is no folder /nowhere"},
    {{"starter/day17-registers", "--classroom50", "-"}, 2, "CLASSROOM in the environment", "did not come to its end"},
    {{"starter/day17-registers", "--json", "-", "--tap", "-"}, 2, "both want standard output", NULL},
    {{"starter/day17-registers", "--autolab", "--tap", "-"}, 2, "both want standard output", NULL},
    {{"starter/day17-registers", "--junit"}, 2, "--junit", NULL},
    {{"starter/day17-registers", "--prairielearn", "/nowhere/results.json"}, 3, "cannot write /nowhere", "did not come to its end"},
    /* clang-format on */
};

START_TEST(trouble_is_said_in_the_file_too)
{
    char folder[512];
    support_new_folder(folder);
    const char *path = support_path(folder, "results.json");
    const char *arguments[12] = {"grade", "--gradescope", path};
    for (size_t i = 0; i < 8 && trouble_rows[_i].arguments[i] != NULL; ++i)
        arguments[3 + i] = trouble_rows[_i].arguments[i];
    struct process_result result = testing_spillway(arguments, NULL);
    ck_assert_msg(result.exit_code == trouble_rows[_i].exit_code, "exit status %d: %s",
                  result.exit_code, bytes_text(&result.error));
    ck_assert_msg(strstr(bytes_text(&result.error), trouble_rows[_i].says) != NULL, "%s",
                  bytes_text(&result.error));
    struct bytes content;
    enum file_status status = file_read(&content, path, 100000, false);
    ck_assert_int_eq(status == FILE_READ, trouble_rows[_i].file != NULL);
    if (status == FILE_READ)
        ck_assert_msg(strstr(bytes_text(&content), trouble_rows[_i].file) != NULL, "%s",
                      bytes_text(&content));
    bytes_release(&content);
    process_result_release(&result);
}
END_TEST

Suite *suite_writers(void)
{
    Suite *suite = suite_create("writers");
    TCase *formats = tcase_create("formats"), *program = tcase_create("program");
    const int all = (int)COUNT_OF(situations);
    tcase_set_timeout(formats, 60);
    tcase_add_checked_fixture(formats, set_up, tear_down);
    tcase_add_loop_test(formats, totals_agree_in_all_formats, 0, all);
    tcase_add_test(formats, each_format_is_read_back);
    tcase_add_loop_test(formats, json_has_the_published_fields, 0, all);
    tcase_add_test(formats, gradescope_shows_text_and_leaves_pending_marks_open);
    tcase_add_loop_test(formats, files_without_a_grade_are_valid, 0, COUNT_OF(absent_formats));
    tcase_add_loop_test(formats, late_days_come_from_the_metadata, 0, COUNT_OF(late_rows));
    tcase_add_loop_test(formats, metadata_that_cannot_be_read, 0, 5);
    tcase_add_test(formats, classroom50_needs_its_runner);
    tcase_add_loop_test(formats, junit_follows_the_schema, 0, all);
    tcase_add_loop_test(formats, html_is_well_formed_and_harmless, 0, all);
    tcase_add_test(formats, html_pictures_say_what_they_show);
    tcase_add_test(formats, html_reads_everywhere);
    tcase_add_loop_test(formats, tap_follows_version_14, 0, all);
    tcase_add_loop_test(formats, autolab_ends_with_scores, 0, all);
    tcase_add_loop_test(formats, github_summary_quotes_what_is_hostile, 0, all);
    tcase_add_loop_test(formats, github_annotations_are_commands_and_nothing_else, 0, all);
    tcase_add_test(formats, annotations_name_the_line);
    tcase_add_test(formats, the_page_is_guarded_in_actions);
    tcase_add_loop_test(formats, one_writer_has_standard_output, 0, COUNT_OF(requests));
    tcase_add_test(formats, options_are_added_behind_others);
    tcase_add_test(formats, a_summary_grows);
    suite_add_tcase(suite, formats);
    tcase_set_timeout(program, 120);
    tcase_add_loop_test(program, totals_agree_in_one_run, 0, COUNT_OF(graded));
    tcase_add_test(program, a_partial_file_comes_first);
    tcase_add_loop_test(program, trouble_is_said_in_the_file_too, 0, COUNT_OF(trouble_rows));
    suite_add_tcase(suite, program);
    return suite;
}

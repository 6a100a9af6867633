/* check_lab.c - every lab's tables and files, and the key functions of day17-registers on made-up
 * facts. That the reference earns everything and the starter its floor is check_mutants' to show.
 */
#include "testing.h"

#include "answers.h"
#include "facts.h"
#include "files.h"
#include "hints.h"
#include "labs/lab.h"
#include "number.h"
#include "report.h"
#include "solution.h"
#include "toolchain.h"

/* ---- Files ---- */

/* ROOT/LAB/NAME, whole. Release it. */
static struct bytes lab_file(const char *root, const struct lab *lab, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s/%s", root, lab->id, name);
    struct bytes content;
    enum file_status status = file_read(&content, path, (size_t)1 << 20, false);
    ck_assert_msg(status == FILE_READ, "%s: %s", path, file_status_text(status));
    return content;
}

static void expect_mentions(const char *root, const struct lab *lab, const char *name,
                            const char *wanted)
{
    struct bytes text = lab_file(root, lab, name);
    ck_assert_msg(strstr(bytes_text(&text), wanted) != NULL, "%s/%s/%s does not mention \"%s\"",
                  root, lab->id, name, wanted);
    bytes_release(&text);
}

/* ---- The tables of every lab ---- */

static bool is_answer(const struct criterion *criterion)
{
    return criterion->kind == CRITERION_ANSWER || criterion->kind == CRITERION_REPORTED_COUNT;
}

static void check_criterion(const struct lab *lab, const struct criterion *c)
{
    ck_assert_msg(strchr(c->id, '.') != NULL && c->id[0] != '.', "%s: not group.item", c->id);
    ck_assert_msg(c->points > 0, "%s: no points", c->id);
    ck_assert_msg(c->title != NULL && c->title[0] != '\0', "%s: no title", c->id);
    const char *const sentences[] = {c->why, c->try_next};
    for (size_t i = 0; i < COUNT_OF(sentences); ++i) {
        ck_assert_msg(sentences[i] != NULL && strlen(sentences[i]) > 20, "%s: too short", c->id);
        ck_assert_msg(strchr(".?", sentences[i][strlen(sentences[i]) - 1]) != NULL,
                      "%s: no full stop", c->id);
    }
    ck_assert_uint_lt(c->kernel, lab->kernel_count);
    ck_assert_int_eq(c->kind == CRITERION_NUMBERS, c->case_count > 0);
    for (size_t i = 0; i < c->case_count; ++i) {
        ck_assert_uint_lt(c->first_case + i, lab->case_count);
        ck_assert_uint_eq(lab->cases[c->first_case + i].kernel, c->kernel);
    }
    if (c->kind == CRITERION_NUMBERS && c->equal_to_case >= 0) {
        ck_assert_uint_lt((size_t)c->equal_to_case, lab->case_count);
        ck_assert_uint_eq(lab->cases[c->equal_to_case].input_group,
                          lab->cases[c->first_case].input_group);
    }
    ck_assert_int_eq(is_answer(c), c->section != NULL && c->key != NULL);
    ck_assert_int_eq(c->kind == CRITERION_ANSWER, c->compute != NULL);
}

START_TEST(tables_are_sound)
{
    const struct lab *lab = lab_registry[_i];
    ck_assert_ptr_eq(lab_find(lab->id), lab);
    ck_assert_int_eq(lab_max_score(lab), 100);
    ck_assert_int_gt(lab->starter_floor, 0);
    ck_assert_int_lt(lab->starter_floor, 100);
    ck_assert_int_eq(lab->criteria[0].kind, CRITERION_BUILD);
    for (size_t i = 0; i < lab->criterion_count; ++i) {
        check_criterion(lab, &lab->criteria[i]);
        for (size_t k = 0; k < i; ++k)
            ck_assert_str_ne(lab->criteria[i].id, lab->criteria[k].id);
    }
    ck_assert_uint_le(lab->kernel_count, LAB_KERNELS_MAX);
    for (size_t i = 0; i < lab->kernel_count; ++i) {
        ck_assert_ptr_nonnull((void *)(uintptr_t)lab->kernels[i].reference);
        for (size_t k = 0; k < i; ++k)
            ck_assert_str_ne(lab->kernels[i].name, lab->kernels[k].name);
    }
    for (size_t i = 0; i < lab->case_count; ++i) {
        ck_assert_uint_lt(lab->cases[i].kernel, lab->kernel_count);
        ck_assert_uint_ne(lab->cases[i].n % lab->kernels[lab->cases[i].kernel].block_threads, 0);
    }
}
END_TEST

START_TEST(unknown_lab_is_not_found)
{
    ck_assert_ptr_null(lab_find("day18"));
    ck_assert_ptr_null(lab_find(""));
    ck_assert_ptr_null(lab_find("day17-registers "));
}
END_TEST

/* ---- The files of every lab ---- */

START_TEST(every_mark_has_hints)
{
    const struct lab *lab = lab_registry[_i];
    struct hints hints;
    struct error err = {0};
    ck_assert_msg(hints_load(&hints, lab->id, &err) == 0, "%s", err.text);
    for (size_t i = 0; i < lab->criterion_count; ++i)
        ck_assert_msg(hints_find(&hints, lab->criteria[i].id) != NULL, "no hints for %s",
                      lab->criteria[i].id);
    /* A terminal has 80 columns. */
    struct bytes text = lab_file("labs", lab, "hints");
    size_t column = 0;
    for (size_t at = 0; at < text.length; ++at) {
        column = text.data[at] == '\n' ? 0 : column + 1;
        ck_assert_uint_le(column, 82);
    }
    bytes_release(&text);
    hints_release(&hints);
}
END_TEST

static void read_answers(struct answers *answers, const char *root, const struct lab *lab)
{
    struct bytes text = lab_file(root, lab, "answers.ini");
    struct error err = {0};
    ck_assert_int_eq(answers_parse(answers, bytes_text(&text), text.length, &err), 0);
    ck_assert(answers->usable);
    ck_assert_uint_eq(answers->problem_count, 0);
    const struct answer *named = answers_find(answers, "", "lab");
    ck_assert_ptr_nonnull(named);
    ck_assert_str_eq(named->value, lab->id);
    bytes_release(&text);
}

static bool key_is_known(const struct lab *lab, const struct answer *answer)
{
    if (answer->section[0] == '\0' || strcmp(answer->section, "build") == 0)
        return true;
    for (size_t i = 0; i < lab->criterion_count; ++i)
        if (is_answer(&lab->criteria[i]) &&
            strcmp(lab->criteria[i].section, answer->section) == 0 &&
            strcmp(lab->criteria[i].key, answer->key) == 0)
            return true;
    return false;
}

START_TEST(answer_sheets_have_every_key_and_no_other)
{
    const struct lab *lab = lab_registry[_i];
    struct answers blank, filled;
    read_answers(&blank, "exercises", lab);
    read_answers(&filled, "reference", lab);
    ck_assert_uint_eq(blank.count, filled.count);
    for (size_t i = 0; i < lab->criterion_count; ++i) {
        const struct criterion *c = &lab->criteria[i];
        if (!is_answer(c))
            continue;
        const struct answer *empty = answers_find(&blank, c->section, c->key);
        const struct answer *given = answers_find(&filled, c->section, c->key);
        ck_assert_msg(empty != NULL && empty->value[0] == '\0', "%s is not blank", c->id);
        ck_assert_msg(given != NULL && given->value[0] != '\0', "%s has no answer", c->id);
        if (c->kind == CRITERION_ANSWER)
            expect_mentions("exercises", lab, "questions.md", c->key);
    }
    for (size_t i = 0; i < blank.count; ++i)
        ck_assert_msg(key_is_known(lab, &blank.items[i]), "[%s] %s: nobody asks",
                      blank.items[i].section, blank.items[i].key);
    answers_release(&blank);
    answers_release(&filled);
}
END_TEST

START_TEST(handout_names_what_a_student_needs)
{
    const struct lab *lab = lab_registry[_i];
    static const char *const wanted[] = {"nvcc -std=c++17 -O3 -arch=sm_75 -Xptxas -v",
                                         "make grade",
                                         "answers.ini",
                                         "explain.md",
                                         "questions.md",
                                         "spillway hint",
                                         "--reveal",
                                         "Compiler Explorer",
                                         "20 to 30 minutes"};
    for (size_t i = 0; i < COUNT_OF(wanted); ++i)
        expect_mentions("labs", lab, "README.md", wanted[i]);
    expect_mentions("labs", lab, "README.md", lab->source_name);
    for (size_t i = 0; i < lab->kernel_count; ++i)
        expect_mentions("labs", lab, "README.md", lab->kernels[i].name);
    for (size_t i = 0; i < lab->criterion_count; ++i) {
        char group[64];
        (void)snprintf(group, sizeof group, "%.*s", (int)strcspn(lab->criteria[i].id, "."),
                       lab->criteria[i].id);
        if (strncmp(group, "question", 8) != 0) /* "`question1` to `question3`" */
            expect_mentions("labs", lab, "README.md", group);
    }
}
END_TEST

/* ---- The starter is the reference without its solutions ---- */

START_TEST(starter_is_made_from_the_reference)
{
    const struct lab *lab = lab_registry[_i];
    struct bytes starter = lab_file("starter", lab, lab->source_name);
    struct bytes reference = lab_file("reference", lab, lab->source_name);
    struct bytes made = bytes_with_limit((size_t)1 << 20);
    struct error err = {0};
    int parts = solution_strip(&made, bytes_text(&reference), reference.length, &err);
    ck_assert_msg(parts > 0, "%d solutions: %s", parts, err.text);
    ck_assert_msg(strcmp(bytes_text(&made), bytes_text(&starter)) == 0,
                  "starter/%s/%s is not what `make starter` makes", lab->id, lab->source_name);
    ck_assert_ptr_nonnull(strstr(bytes_text(&starter), "TODO"));
    bytes_release(&starter);
    bytes_release(&reference);
    bytes_release(&made);
}
END_TEST

/* ---- day17-registers ---- */

enum { NARROW, WIDE, INDEXED, BOUNDED, KERNELS };

START_TEST(handout_teaches_the_pitfalls)
{
    const struct lab *lab = lab_find("day17-registers");
    static const char *const wanted[] = {
        "first L1, then L2", "__launch_bounds__(1024)", "undo the edit", "-maxrregcount",
        "-warn-spills",      "too many resources",      "-gencode",      "13.0.88"};
    for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
        struct bytes text = lab_file("labs", lab, "README.md");
        ck_assert_msg(strcasestr(bytes_text(&text), wanted[i]) != NULL, "handout lacks \"%s\"",
                      wanted[i]);
        bytes_release(&text);
    }
}
END_TEST

/* Numbers of one kernel's line in published.tsv, in the columns' order; false at the end. */
#define PUBLISHED_COLUMNS 10
static bool next_published(char **rest, char **name, char *columns[PUBLISHED_COLUMNS])
{
    for (char *line; (line = strsep(rest, "\n")) != NULL;) {
        if (line[0] == '#' || line[0] == '\0')
            continue;
        *name = strsep(&line, "\t");
        for (size_t i = 0; i < PUBLISHED_COLUMNS; ++i) {
            columns[i] = strsep(&line, "\t");
            ck_assert_msg(columns[i] != NULL, "%s: a column is missing", *name);
        }
        return true;
    }
    return false;
}

static void expect_published(const char *name, const char *column, int64_t seen)
{
    int64_t published = 0;
    ck_assert_msg(number_parse_i64(column, 0, INT64_MAX, &published), "%s: %s", name, column);
    ck_assert_msg(seen == published, "%s: published %s, seen %lld", name, column, (long long)seen);
}

/* What the lesson published for sm_75 and CUDA 13.0 is what that toolkit says of our reference. */
static void compare_with_published(const char *words)
{
    enum { REGISTERS = 0, STACK = 7, SPILL_STORES = 8, SPILL_LOADS = 9 };
    struct bytes table = lab_file("labs", lab_find("day17-registers"), "published.tsv");
    struct report report;
    struct error err = {0};
    ck_assert_int_eq(report_parse(&report, words, strlen(words), &err), 0);
    ck_assert_uint_eq(report.kernel_count, 4);
    char *rest = table.data, *name = NULL, *columns[PUBLISHED_COLUMNS];
    size_t compared = 0;
    for (; next_published(&rest, &name, columns); ++compared) {
        const struct report_kernel *kernel = NULL;
        for (size_t i = 0; i < report.kernel_count; ++i)
            if (strncmp(report.kernels[i].name, name, strlen(name)) == 0 &&
                report.kernels[i].name[strlen(name)] == '(')
                kernel = &report.kernels[i];
        ck_assert_msg(kernel != NULL, "%s is not in the report", name);
        expect_published(name, columns[REGISTERS], kernel->registers);
        expect_published(name, columns[STACK], kernel->stack_bytes);
        expect_published(name, columns[SPILL_STORES], kernel->spill_store_bytes);
        expect_published(name, columns[SPILL_LOADS], kernel->spill_load_bytes);
    }
    ck_assert_uint_eq(compared, 4);
    report_release(&report);
    bytes_release(&table);
}

static bool toolkit_is(const char *version)
{
    struct toolchain toolchain;
    struct error err = {0};
    AUTO_FREE char *nvcc = path_join(testing_cuda_home(), "bin/nvcc");
    bool same = toolchain_find(&toolchain, nvcc, &err) == 0 &&
                toolchain_ask(&toolchain, &err) == 0 &&
                strncmp(toolchain.version, version, strlen(version)) == 0;
    toolchain_release(&toolchain);
    return same;
}

/* The commands of the handout, as a student types them. */
START_TEST(program_builds_without_a_warning)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    static const char *const roots[] = {"starter", "reference"};
    char nvcc[4096], source[256], program[4096], path[] = "PATH=/usr/bin:/bin";
    (void)snprintf(nvcc, sizeof nvcc, "%s/bin/nvcc", testing_cuda_home());
    (void)snprintf(source, sizeof source, "%s/day17-registers/registers.cu", roots[_i]);
    (void)snprintf(program, sizeof program, "%s/registers-%d", testing_temporary_folder(), _i);
    const char *const compile[] = {nvcc, "-std=c++17", "-O3",   "-arch=sm_75", "-Xptxas",
                                   "-v", "-o",         program, source,        NULL};
    const char *const environment[] = {path, NULL};
    struct process_spec spec = {.argv = compile,
                                .environment = environment,
                                .wall_ns = INT64_C(100000000000),
                                .output_limit = 1 << 20,
                                .merge_error = true};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    const char *said = bytes_text(&result.output);
    ck_assert_msg(result.exit_code == 0 && strcasestr(said, "warning") == NULL, "%s", said);
    ck_assert_ptr_nonnull(strstr(said, "'_Z16decayWideBoundedPKfPfm' for 'sm_75'"));
    if (strcmp(roots[_i], "reference") == 0 && toolkit_is("13.0."))
        compare_with_published(said);
    process_result_release(&result);

    /* No device: one sentence, status 3. With one, it may be of another architecture (status 1), or
     * the table is printed. */
    const char *const start[] = {program, NULL};
    spec.argv = start;
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    said = bytes_text(&result.output);
    if (result.exit_code == 3) {
        const char *newline = strchr(said, '\n');
        ck_assert_msg(strstr(said, "no CUDA device") != NULL && newline != NULL &&
                          newline[1] == '\0',
                      "%s", said);
    } else if (result.exit_code == 0) {
        ck_assert_msg(strstr(said, "decayWideBounded 0") != NULL &&
                          strstr(said, "differ from one another: 0") != NULL,
                      "%s", said);
    } else {
        ck_assert_msg(strstr(said, "-arch=sm_XX") != NULL, "%s", said);
    }
    process_result_release(&result);
}
END_TEST

/* ---- day17-registers: keys on made-up facts ---- */

struct made_up { /* one kernel's facts; registers < 0: the build has no such kernel */
    int64_t registers, stack, stores, loads;
};

struct key_row {
    const char *what, *section, *key;
    struct made_up indexed, bounded, what_if;
    unsigned arch;
    int kind;
    const char *word;
    int64_t number;
    const char *because;
};

#define AS_MEANT                                                                                   \
    {69, 256, 0, 0}, {64, 48, 44, 44},                                                             \
    {                                                                                              \
        64, 48, 44, 44                                                                             \
    }
#define ABSENT                                                                                     \
    {                                                                                              \
        -1, 0, 0, 0                                                                                \
    }

/* clang-format off */
static const struct key_row key_rows[] = {
    {"the pair", "question1", "lost_argument", AS_MEANT, 75, KEY_WORD, "decayWideBounded", 0, "44 bytes out"},
    {"the pair", "question1", "other_is", AS_MEANT, 75, KEY_WORD, "planned", 0, "256 bytes"},
    {"the pair", "question1", "more_registers_fix", AS_MEANT, 75, KEY_WORD, "decayWideBounded", 0, ""},
    {"turned round", "question1", "lost_argument", {64, 40, 40, 40}, {64, 256, 0, 0}, ABSENT, 75, KEY_WORD, "decayWideIndexed", 0, ""},
    {"turned round", "question1", "more_registers_fix", {64, 40, 0, 40}, {64, 256, 0, 0}, ABSENT, 75, KEY_WORD, "decayWideIndexed", 0, ""},
    {"neither edited", "question1", "lost_argument", {72, 0, 0, 0}, {72, 0, 0, 0}, ABSENT, 75, KEY_UNKNOWN, "", 0, "no such pair"},
    {"no shift", "question1", "other_is", {72, 0, 0, 0}, {64, 48, 44, 44}, ABSENT, 75, KEY_UNKNOWN, "", 0, "decayWideIndexed: a frame of 0 bytes"},
    {"no bound", "question1", "more_registers_fix", {69, 256, 0, 0}, {72, 0, 0, 0}, ABSENT, 75, KEY_UNKNOWN, "", 0, "no such pair"},
    {"both spill", "question1", "lost_argument", {64, 300, 44, 44}, {64, 48, 44, 44}, ABSENT, 75, KEY_UNKNOWN, "", 0, "no such pair"},
    {"one is missing", "question1", "lost_argument", ABSENT, {64, 48, 44, 44}, ABSENT, 75, KEY_UNKNOWN, "", 0, "decayWideIndexed: not in this build"},
    {"T4", "question2", "blocks_at_65", AS_MEANT, 75, KEY_NUMBER, "", 3, "72 x 256 = 18,432"},
    {"T4", "question2", "blocks_at_64", AS_MEANT, 75, KEY_NUMBER, "", 4, "65 registers are handed out as 72"},
    {"T4", "question2", "threads_lost", AS_MEANT, 75, KEY_NUMBER, "", 256, "64 x 256 = 16,384"},
    {"T4", "question2", "percent_lost", AS_MEANT, 75, KEY_NUMBER, "", 25, "18,432"},
    {"always a T4", "question2", "percent_lost", AS_MEANT, 90, KEY_NUMBER, "", 25, "a T4"},
    {"no build", "question2", "blocks_at_65", ABSENT, ABSENT, ABSENT, 75, KEY_NUMBER, "", 3, ""},
    {"budget", "question3", "max_registers", AS_MEANT, 75, KEY_NUMBER, "", 64, "65,536 registers / 1024 threads"},
    {"budget", "question3", "max_registers", AS_MEANT, 120, KEY_NUMBER, "", 64, ""},
    {"unknown arch", "question3", "max_registers", AS_MEANT, 999, KEY_UNJUDGED, "", 0, "not known"},
    {"measured", "question3", "spills", AS_MEANT, 75, KEY_WORD, "yes", 0, "64 registers"},
    {"only loads", "question3", "spills", ABSENT, ABSENT, {64, 4, 0, 4}, 75, KEY_WORD, "yes", 0, ""},
    {"room enough", "question3", "spills", ABSENT, ABSENT, {60, 0, 0, 0}, 75, KEY_WORD, "no", 0, "60 registers"},
    {"not built", "question3", "spills", ABSENT, ABSENT, ABSENT, 75, KEY_UNKNOWN, "", 0, "ptxas went away"},
    {"always", "question3", "speed", ABSENT, ABSENT, ABSENT, 75, KEY_WORD, "undetermined", 0, "clock"},
};
/* clang-format on */

static const struct kernel_facts *make_facts(struct kernel_facts *facts, const struct made_up *from,
                                             const char *name)
{
    *facts = (struct kernel_facts){.name = name,
                                   .arch = {.number = 75},
                                   .registers = from->registers,
                                   .stack_bytes = from->stack,
                                   .spill_store_bytes = from->stores,
                                   .spill_load_bytes = from->loads};
    return from->registers >= 0 ? facts : NULL;
}

START_TEST(key_row)
{
    const struct key_row *row = &key_rows[_i];
    const struct lab *lab = lab_find("day17-registers");
    struct kernel_facts indexed, bounded, what_if;
    const struct kernel_facts *kernels[KERNELS] = {
        [INDEXED] = make_facts(&indexed, &row->indexed, "decayWideIndexed"),
        [BOUNDED] = make_facts(&bounded, &row->bounded, "decayWideBounded"),
    };
    struct key_context context = {.lab = lab,
                                  .kernels = kernels,
                                  .sm = sm_limits_find(row->arch / 10, row->arch % 10),
                                  .what_if = make_facts(&what_if, &row->what_if, "decayWide")};
    context.what_if_problem = context.what_if == NULL ? "ptxas went away" : "";
    const struct criterion *criterion = NULL;
    for (size_t i = 0; i < lab->criterion_count; ++i)
        if (lab->criteria[i].kind == CRITERION_ANSWER &&
            strcmp(lab->criteria[i].section, row->section) == 0 &&
            strcmp(lab->criteria[i].key, row->key) == 0)
            criterion = &lab->criteria[i];
    ck_assert_ptr_nonnull(criterion);
    struct answer_key key = {0};
    criterion->compute(&context, &key);
    ck_assert_msg(key.kind == (unsigned)row->kind, "%s: kind %u, %s", row->what, key.kind,
                  key.because);
    ck_assert_str_eq(key.word, row->word);
    ck_assert_int_eq(key.number, row->number);
    ck_assert_msg(key.because[0] != '\0' && strstr(key.because, row->because) != NULL, "%s: %s",
                  row->what, key.because);
    ck_assert_uint_lt(strlen(key.because), sizeof key.because - 1); /* nothing was cut */
}
END_TEST

Suite *suite_lab(void)
{
    Suite *suite = suite_create("lab");
    TCase *tests = tcase_create("lab");
    tcase_set_timeout(tests, 240);
    int labs = (int)lab_registry_count;
    tcase_add_loop_test(tests, tables_are_sound, 0, labs);
    tcase_add_test(tests, unknown_lab_is_not_found);
    tcase_add_loop_test(tests, every_mark_has_hints, 0, labs);
    tcase_add_loop_test(tests, answer_sheets_have_every_key_and_no_other, 0, labs);
    tcase_add_loop_test(tests, handout_names_what_a_student_needs, 0, labs);
    tcase_add_loop_test(tests, starter_is_made_from_the_reference, 0, labs);
    tcase_add_test(tests, handout_teaches_the_pitfalls);
    tcase_add_loop_test(tests, program_builds_without_a_warning, 0, 2);
    tcase_add_loop_test(tests, key_row, 0, COUNT_OF(key_rows));
    suite_add_tcase(suite, tests);
    return suite;
}

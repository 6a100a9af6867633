/* check_hints.c - the parser of hint ladders, and `spillway hint` as a student meets it. */
#include "testing.h"

#include <errno.h>
#include <sys/stat.h>

#include "files.h"
#include "hints.h"
#include "labs/lab.h"

#define LADDER                                                                                     \
    "# comment\n"                                                                                  \
    "item one A title of words\n"                                                                  \
    "defer one.mark if kernelA no-frame and kernelB spills\n"                                      \
    "hint\n"                                                                                       \
    "  Line one,\n"                                                                                \
    "\n"                                                                                           \
    "    indented.\n"                                                                              \
    "\n"                                                                                           \
    "hint if kernelA no-frame\n"                                                                   \
    "  No frame.\n"                                                                                \
    "hint if kernelA frame and kernelB spills and kernelC fault\n"                                 \
    "  All three.\n"                                                                               \
    "hint\n"                                                                                       \
    "  Two.\n"                                                                                     \
    "solution\n"                                                                                   \
    "  Here.\n"

static int parse(struct hints *hints, const char *text, struct error *err)
{
    return hints_parse(hints, text, strlen(text), err);
}

START_TEST(reads_a_ladder)
{
    struct hints hints;
    struct error err = {0};
    ck_assert_msg(parse(&hints, LADDER, &err) == 0, "%s", err.text);
    ck_assert_uint_eq(hints.count, 1);
    const struct hint_item *one = hints_find(&hints, "one");
    ck_assert_ptr_nonnull(one);
    ck_assert_str_eq(one->title, "A title of words");
    ck_assert_uint_eq(one->count, 2);
    ck_assert_str_eq(one->rungs[0], "Line one,\n\n  indented.\n");
    ck_assert_str_eq(one->rungs[1], "Two.\n");
    ck_assert_uint_eq(one->trigger_count, 2);
    ck_assert_uint_eq(one->triggers[0].facts.count, 1);
    ck_assert_str_eq(one->triggers[0].facts.items[0].kernel, "kernelA");
    ck_assert_int_eq(one->triggers[0].facts.items[0].fact, HINT_NO_FRAME);
    ck_assert_str_eq(one->triggers[0].text, "No frame.\n");
    const struct hint_facts *three = &one->triggers[1].facts;
    ck_assert_uint_eq(three->count, 3);
    ck_assert_int_eq(three->items[0].fact, HINT_FRAME);
    ck_assert_str_eq(three->items[1].kernel, "kernelB");
    ck_assert_int_eq(three->items[1].fact, HINT_SPILLS);
    ck_assert_str_eq(three->items[2].kernel, "kernelC");
    ck_assert_int_eq(three->items[2].fact, HINT_FAULT);
    ck_assert_uint_eq(one->deferral_count, 1);
    ck_assert_str_eq(one->deferrals[0].mark, "one.mark");
    ck_assert_uint_eq(one->deferrals[0].facts.count, 2);
    ck_assert_str_eq(one->solution, "Here.\n");
    ck_assert_ptr_eq(hints_find(&hints, "one.some_key"), one);
    ck_assert_ptr_null(hints_find(&hints, "on"));
    ck_assert_ptr_null(hints_find(&hints, ""));
    hints_release(&hints);
}
END_TEST

START_TEST(carriage_returns_and_a_missing_last_newline_are_fine)
{
    struct hints hints;
    struct error err = {0};
    ck_assert_int_eq(parse(&hints, "item a B\r\nhint\r\n  text  \r\n  more", &err), 0);
    ck_assert_str_eq(hints.items[0].rungs[0], "text\nmore\n");
    hints_release(&hints);
}
END_TEST

static const struct broken {
    const char *text;
    const char *said; /* part of the message */
} broken[] = {
    /* clang-format off */
    {"", "no item"},
    {"# nothing\n", "no item"},
    {"hint\n  text\n", "line 1: a hint needs an item"},
    {"  text\n", "line 1: text stands outside"},
    {"item a\nhint\n  x\n", "line 1: expected `item ID Title`"},
    {"item a \nhint\n  x\n", "line 1: expected `item ID Title`"},
    {"item A B\nhint\n  x\n", "line 1: expected `item ID Title`"},
    {"item abcdefghijklmnopqrstuvwxyz1234567 B\nhint\n  x\n", "line 1: expected"},
    {"item a B\n", "no hint"},
    {"item a B\nitem b C\nhint\n  x\n", "line 2: the item before this line has no hint"},
    {"item a B\nhint\nhint\n  x\n", "line 3: the hint or solution before this line has no text"},
    {"item a B\nhint\n  x\nhint\n", "has no text"},
    {"item a B\nhint\n  x\nitem a C\nhint\n  y\n", "line 4: this item exists already"},
    {"item a B\nsolution\n  x\nhint\n  y\n", "line 4: nothing may follow the solution"},
    {"item a B\nhint\n  x\nsolution\n  y\nsolution\n  z\n", "line 6: nothing may follow"},
    {"item a B\n  text\n", "line 2: text stands outside"},
    {"item a B\nhint\n\ttext\n", "line 3: holds a control character"},
    {"item a B\nhint\n  x\x1b[31m\n", "line 3: holds a control character"},
    {"item a B\nhint\n  x\xff\n", "line 3: is not UTF-8"},
    {"item a B\nhnit\n  x\n", "line 2: expected"},
    {"item a B\nhint if k\n  x\nhint\n  y\n", "line 2: expected `if KERNEL FACT`"},
    {"item a B\nhint if k melts\n  x\nhint\n  y\n", "line 2: a fact is `spills`"},
    {"item a B\nhint if k spills\n  x\n", "no hint"},
    {"item a B\nhint if k spills\nhint\n  y\n", "line 3: the hint or solution before this line has no"},
    {"hint if k spills\n  x\n", "line 1: a hint needs an item"},
    {"item a B\nhint if k spills and\n  x\nhint\n  y\n", "line 2: a fact is `spills`"},
    {"item a B\nhint if k spills and l\n  x\nhint\n  y\n", "line 2: expected `if KERNEL FACT`"},
    {"item a B\nhint if k fault and k fault and k fault and k fault and k fault\n", "line 2: too many facts"},
    {"item a B\ndefer a.b\nhint\n  x\n", "line 2: expected `defer MARK if"},
    {"item a B\ndefer a b if k spills\nhint\n  x\n", "line 2: expected `defer MARK if"},
    {"item a B\ndefer  if k spills\nhint\n  x\n", "line 2: expected `defer MARK if"},
    {"item a B\ndefer a.b if spills\nhint\n  x\n", "line 2: expected `if KERNEL FACT`"},
    {"item a B\nhint\n  x\ndefer a.b if k spills\n", "line 4: `defer` belongs right below"},
    {"defer a.b if k spills\n", "line 1: `defer` belongs right below"},
    {"item a B\ndefer a if k fault\ndefer b if k fault\ndefer c if k fault\ndefer d if k fault\ndefer e if k fault\n", "line 6: too many marks"},
    /* clang-format on */
};

START_TEST(broken_file_names_its_line)
{
    struct hints hints;
    struct error err = {0};
    ck_assert_int_eq(parse(&hints, broken[_i].text, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, broken[_i].said) != NULL, "said: %s", err.text);
    ck_assert_ptr_null(hints.items);
}
END_TEST

/* Every prefix and every single changed byte must be read or refused, never crash. */
START_TEST(any_bytes_are_survived)
{
    size_t length = strlen(LADDER);
    for (size_t cut = 0; cut <= length; ++cut) {
        struct hints hints;
        struct error err = {0};
        if (hints_parse(&hints, LADDER, cut, &err) == 0)
            hints_release(&hints);
    }
    for (size_t at = 0; at < length; ++at) {
        static const char bytes[] = {'\0', '\n', ' ', '\t', 'x', (char)0x80, (char)0xff};
        for (size_t b = 0; b < sizeof bytes; ++b) {
            char text[] = LADDER;
            text[at] = bytes[b];
            struct hints hints;
            struct error err = {0};
            if (hints_parse(&hints, text, length, &err) == 0)
                hints_release(&hints);
        }
    }
}
END_TEST

START_TEST(caps_hold)
{
    struct bytes text = bytes_with_limit(HINTS_BYTES_MAX + 100);
    struct hints hints;
    struct error err = {0};
    for (int i = 0; i <= HINTS_ITEMS_MAX; ++i)
        bytes_printf(&text, "item i%d T\nhint\n  x\n", i);
    ck_assert_int_eq(parse(&hints, bytes_text(&text), &err), -1);
    ck_assert_ptr_nonnull(strstr(err.text, "too many items"));

    bytes_clear(&text);
    bytes_append_text(&text, "item a B\n");
    for (int i = 0; i <= HINTS_RUNGS_MAX; ++i)
        bytes_append_text(&text, "hint\n  x\n");
    err = (struct error){0};
    ck_assert_int_eq(parse(&hints, bytes_text(&text), &err), -1);
    ck_assert_ptr_nonnull(strstr(err.text, "too many hints"));

    bytes_clear(&text);
    while (text.length <= HINTS_BYTES_MAX)
        bytes_append_text(&text, "# 1234567890123456789012345678901234567890\n");
    err = (struct error){0};
    ck_assert_int_eq(parse(&hints, bytes_text(&text), &err), -1);
    ck_assert_ptr_nonnull(strstr(err.text, "larger"));
    bytes_release(&text);
}
END_TEST

/* ---- The command ---- */

/* Runs `spillway hint …` with a cache of its own; the arguments end with NULL. */
static struct process_result hint(const char *cache, const char *first, const char *second,
                                  const char *third)
{
    char variable[4200];
    (void)snprintf(variable, sizeof variable, "SPILLWAY_CACHE=%s", cache);
    const char *const arguments[] = {"hint", first, second, third, NULL};
    const char *const environment[] = {variable, NULL};
    return testing_spillway(arguments, environment);
}

static void expect(struct process_result result, int status, const char *said)
{
    ck_assert_int_eq(result.exit_code, status);
    const char *output = status == 0 ? bytes_text(&result.output) : bytes_text(&result.error);
    ck_assert_msg(strstr(output, said) != NULL, "expected \"%s\" in:\n%s", said, output);
    process_result_release(&result);
}

static void expect_silence_about(struct process_result result, const char *secret)
{
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_ptr_null(strstr(bytes_text(&result.output), secret));
    process_result_release(&result);
}

START_TEST(command_climbs_rung_by_rung)
{
    AUTO_FREE char *cache = path_join(testing_temporary_folder(), "hints-climb");
    const char *lab = "day17-registers";
    static const char solution[] = "18,432";
    expect(hint(cache, lab, NULL, NULL), 0, "question2    0/3");
    expect(hint(cache, lab, "question2", NULL), 0, "hint 1 of 3");
    expect_silence_about(hint(cache, lab, "question2", NULL), solution);
    expect_silence_about(hint(cache, lab, "question2", NULL), solution);
    expect(hint(cache, lab, "question2", NULL), 0, "seen all 3 hints");
    expect(hint(cache, lab, "question2", "--reveal"), 0, solution);
    /* A mark's id will do. */
    expect(hint(cache, lab, "question3.speed", NULL), 0, "hint 1 of 3");
    expect(hint(cache, lab, NULL, NULL), 0, "question2    3/3");
    expect(hint(cache, lab, "question2", "--reset"), 0, "Forgotten");
    expect(hint(cache, lab, "question2", NULL), 0, "hint 1 of 3");
    expect(hint(cache, lab, "--reset", NULL), 0, "Forgotten");
    expect(hint(cache, lab, NULL, NULL), 0, "question3    0/3");
}
END_TEST

START_TEST(command_takes_the_lab_from_the_folder_or_the_first)
{
    AUTO_FREE char *cache = path_join(testing_temporary_folder(), "hints-default");
    expect(hint(cache, "question1", NULL, NULL), 0, "question1: ");
    expect(hint(cache, NULL, NULL, NULL), 0, "Hints for Day 17");
    expect(hint(cache, "--help", NULL, NULL), 0, "usage: spillway hint");
}
END_TEST

START_TEST(command_survives_a_bad_progress_file)
{
    AUTO_FREE char *cache = path_join(testing_temporary_folder(), "hints-bad");
    AUTO_FREE char *file = path_join(cache, "hints-day17-registers");
    expect(hint(cache, "question1", NULL, NULL), 0, "hint 1 of 2");
    static const char junk[] = "question1 99999999999999999999\nquestion1\n\0\nshift 2\nquestion3 "
                               "49\nnoise 3\nquestion2 1";
    testing_write(file, junk, sizeof junk - 1);
    expect(hint(cache, NULL, NULL, NULL), 0, "shift        2/3");
    expect(hint(cache, NULL, NULL, NULL), 0, "question3    3/3");
    expect(hint(cache, "question1", NULL, NULL), 0, "hint 1 of 2");
}
END_TEST

START_TEST(command_shows_the_hint_when_nothing_can_be_remembered)
{
    AUTO_FREE char *cache = path_join(testing_temporary_folder(), "hints-file");
    testing_write(cache, "", 0); /* a file stands where the folder should be */
    struct process_result result = hint(cache, "question1", NULL, NULL);
    ck_assert_ptr_nonnull(strstr(bytes_text(&result.error), "cannot remember"));
    expect(result, 0, "hint 1 of 2");
}
END_TEST

/* ---- What was measured ---- */

/* What a grading left in the cache. */
static void remember(const char *cache, const char *text)
{
    AUTO_FREE char *file = path_join(cache, "grade-day17-registers");
    testing_write(file, text, strlen(text));
}

static const char lost_shift[] = "score 45 0 48\n"
                                 "mark build.accepted passed\n"
                                 "mark shift.frame failed\n"
                                 "mark shift.spills failed\n"
                                 "mark bounds.blocks skipped\n"
                                 "kernel decayWideIndexed 72 0 0 0 ran\n"
                                 "kernel decayWideBounded 74 0 0 0 fault\n";

START_TEST(measured_facts_choose_the_hint)
{
    AUTO_FREE char *cache = path_join(testing_temporary_folder(), "hints-measured");
    const char *lab = "day17-registers";
    expect(hint(cache, lab, "next", NULL), 0, "Nothing was graded yet");
    remember(cache, lost_shift);
    expect(hint(cache, lab, NULL, NULL), 0, "shift        0/3   2 lost   The edit");
    expect(hint(cache, lab, NULL, NULL), 0, "build        0/2   done     Getting");
    expect(hint(cache, lab, NULL, NULL), 0, "45 of 100 points; the best so far gave 48");
    /* The fact first, once; then the ladder. */
    expect(hint(cache, lab, "next", NULL), 0, "A frame of 0 bytes: the compiler could tell");
    expect(hint(cache, lab, "next", NULL), 0, "shift: The edit of decayWideIndexed, hint 1 of 3");
    expect(hint(cache, lab, "shift", NULL), 0, "hint 2 of 3");
    expect(hint(cache, lab, "bounds", NULL), 0, "a launch went wrong");
    expect(hint(cache, lab, "bounds", NULL), 0, "nothing refuses this kernel a register yet");
    expect(hint(cache, lab, "bounds", NULL), 0, "hint 1 of 2");
    expect(hint(cache, lab, "numbers", NULL), 0, "A bound for fewer makes the driver");
    /* Another grading, another fact. */
    remember(cache,
             "score 60 0 60\nmark shift.spills failed\nkernel decayWideIndexed 64 264 8 8 ran\n");
    expect(hint(cache, lab, "next", NULL), 0,
           "is there a launch bound in front of the wrong name?");
    expect(hint(cache, lab, "shift", "--reset"), 0, "Forgotten");
    expect(hint(cache, lab, "next", NULL), 0,
           "is there a launch bound in front of the wrong name?");
    remember(cache, "score 90 10 90\nmark shift.spills passed\nmark shift.frame skipped\n");
    expect(hint(cache, lab, "next", NULL), 0, "10 points are pending");
    remember(cache, "score 100 0 100\nmark shift.spills passed\n");
    expect(hint(cache, lab, "next", NULL), 0, "nothing left to hint at");
}
END_TEST

/* Each row: what a grading left, what was asked for, and how the first hint begins to help. */
static const struct {
    const char *item, *memory, *said;
} first_hints[] = {
/* clang-format off */
#define UNTOUCHED "score 25 0 25\nmark build.accepted passed\nmark numbers.decayWide passed\n" \
                  "mark numbers.decayWideIndexed.shifted failed\nmark shift.frame failed\n" \
                  "kernel decayWide 72 0 0 0 ran\nkernel decayWideIndexed 72 0 0 0 ran\n" \
                  "kernel decayWideBounded 72 0 0 0 ran\n"
#define EDITED "score 72 0 72\nmark numbers.decayWideIndexed.shifted passed\nmark counts.decayNarrow failed\n" \
               "kernel decayWide 72 0 0 0 ran\nkernel decayWideIndexed 69 256 0 0 ran\n" \
               "kernel decayWideBounded 64 48 44 44 ran\n"
    {"next",      UNTOUCHED, "shift: The edit of decayWideIndexed\n"},
    {"next",      "score 20 0 20\nmark numbers.decayWideIndexed failed\nmark numbers.decayWideIndexed.shifted failed\n"
                  "mark shift.frame failed\nkernel decayWideIndexed 72 0 0 0 ran\n",
                  "numbers: Getting the right numbers\n"},
    {"next",      "score 80 0 80\nmark numbers.decayWideIndexed.shifted failed\nkernel decayWideIndexed 69 256 0 0 ran\n",
                  "numbers: Getting the right numbers, hint 1 of 3"},
    {"next",      "score 80 0 80\nmark numbers.decayWideIndexed.shifted failed\nkernel decayWideIndexed 72 0 0 0 ran\n",
                  "numbers: Getting the right numbers\n"},
    {"numbers",   UNTOUCHED, "no index of the array depends on `shift`"},
    {"next",      "score 20 0 20\nmark numbers.decayWide failed\nkernel decayWide 72 0 0 0 ran\nkernel decayWideIndexed 72 0 0 0 ran\n",
                  "its results are not those of the reference.\n\ndecayWide is right as it was given"},
    {"next",      "score 20 0 20\nmark build.accepted failed\nkernel decayWide 72 0 0 0 ran\nkernel decayWideIndexed 72 0 0 0 ran\nkernel decayWideBounded 72 0 0 0 ran\n",
                  "found no kernel decayNarrow in the build.\n\nThe grader looks"},
    {"next",      "score 0 0 20\nmark build.accepted failed\n", "build: Getting it to build, hint 1 of 2"},
    {"question1", UNTOUCHED, "step 2 of the handout comes first"},
    {"question1", "score 25 0 25\nkernel decayWideIndexed 69 256 0 0 ran\nkernel decayWideBounded 72 0 0 0 ran\n",
                  "step 3 of the handout comes first"},
    {"question1", EDITED,    "of decayWideBounded: 64 registers, a frame of\n48 bytes, 44 bytes of spill stores, 44 of spill loads.\n"
                             "Your last grading measured of decayWideIndexed: 69 registers, a frame of\n256 bytes"},
    {"question1", EDITED,    "These two are the kernels of the question"},
    {"question1", "",        "Look at the two numbers"},
    {"question2", UNTOUCHED, "65,536 registers. By what?"},
    {"question3", UNTOUCHED, "decayWide without a bound"},
    {"question3", "score 25 0 25\nkernel decayWide 64 48 44 44 ran\n", "then undo\nthe edit"},
    {"next",      EDITED,    "counts: The four register counts, hint 1"},
    /* clang-format on */
};

START_TEST(first_hint_is_the_one_that_helps)
{
    char name[32];
    (void)snprintf(name, sizeof name, "hints-first-%d", _i);
    AUTO_FREE char *cache = path_join(testing_temporary_folder(), name);
    expect(hint(cache, NULL, NULL, NULL), 0, "Hints for");
    ck_assert(mkdir(cache, 0700) == 0 || errno == EEXIST);
    remember(cache, first_hints[_i].memory);
    expect(hint(cache, "day17-registers", first_hints[_i].item, NULL), 0, first_hints[_i].said);
}
END_TEST

START_TEST(what_was_remembered_may_be_anything)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "score\n",
        "score 101 0 0\n",
        "score -1 0 0\n",
        "score 1 2\n",
        "mark\nmark x failed\n",
        "score 1 1 1\nmark shift.frame\nkernel decayWide\nkernel decayWide 1 2\n",
        "kernel x 1 1 1 1 ran\n",
        "kernel decayWide 99999999999999999999 0 0 0 ran\nscore 5 0 5",
        "\xff\xfe\x00",
    };
    AUTO_FREE char *cache = path_join(testing_temporary_folder(), "hints-anything");
    expect(hint(cache, NULL, NULL, NULL), 0, "Hints for");
    for (size_t i = 0; i < COUNT_OF(texts); ++i) {
        remember(cache, texts[i]);
        expect(hint(cache, NULL, NULL, NULL), 0, "Hints for");
        expect(hint(cache, "next", NULL, NULL), 0, "");
    }
}
END_TEST

static void expect_kernels(const struct lab *lab, const struct hint_facts *facts)
{
    for (size_t i = 0; i < facts->count; ++i) {
        bool known = false;
        for (size_t k = 0; k < lab->kernel_count; ++k)
            known = known || strcmp(lab->kernels[k].name, facts->items[i].kernel) == 0 ||
                    strcmp(facts->items[i].kernel, "any") == 0;
        ck_assert_msg(known, "no kernel %s", facts->items[i].kernel);
    }
}

/* Hints for what was measured name kernels and marks that there are. */
START_TEST(facts_name_kernels_and_marks)
{
    const struct lab *lab = lab_registry[_i];
    struct hints hints;
    struct error err = {0};
    ck_assert_int_eq(hints_load(&hints, lab->id, &err), 0);
    for (size_t i = 0; i < hints.count; ++i) {
        const struct hint_item *item = &hints.items[i];
        for (size_t t = 0; t < item->trigger_count; ++t)
            expect_kernels(lab, &item->triggers[t].facts);
        for (size_t d = 0; d < item->deferral_count; ++d) {
            const char *mark = item->deferrals[d].mark;
            bool known = false;
            for (size_t k = 0; k < lab->criterion_count; ++k)
                known = known || strcmp(lab->criteria[k].id, mark) == 0;
            ck_assert_msg(known && hints_find(&hints, mark) == item, "%s: no mark %s", item->id,
                          mark);
            expect_kernels(lab, &item->deferrals[d].facts);
        }
    }
    hints_release(&hints);
}
END_TEST

START_TEST(command_refuses_what_does_not_exist)
{
    AUTO_FREE char *cache = path_join(testing_temporary_folder(), "hints-usage");
    expect(hint(cache, "day17-registers", "question9", NULL), 2, "has no item \"question9\"");
    expect(hint(cache, "day99", "question1", NULL), 2, "no lab \"day99\"");
    expect(hint(cache, "day17-registers", "--reveal", NULL), 2, "--reveal needs an item");
    expect(hint(cache, "question1", "--reveal", "--reset"), 2, "one of --reveal and --reset");
    expect(hint(cache, "--nonsense", NULL, NULL), 2, "--help");
    expect(hint(cache, "day17-registers", "question1", "shift"), 2, "takes a lab and an item");
}
END_TEST

START_TEST(labs_are_listed)
{
    static const char *const list[] = {"labs", NULL}, *const odd[] = {"labs", "x", NULL};
    expect(testing_spillway(list, NULL), 0, "day17-registers");
    expect(testing_spillway(odd, NULL), 2, "there is no lab \"x\"");
}
END_TEST

Suite *suite_hints(void)
{
    Suite *suite = suite_create("hints");
    TCase *tests = tcase_create("hints");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, reads_a_ladder);
    tcase_add_test(tests, carriage_returns_and_a_missing_last_newline_are_fine);
    tcase_add_loop_test(tests, broken_file_names_its_line, 0, COUNT_OF(broken));
    tcase_add_test(tests, any_bytes_are_survived);
    tcase_add_test(tests, caps_hold);
    tcase_add_test(tests, command_climbs_rung_by_rung);
    tcase_add_test(tests, command_takes_the_lab_from_the_folder_or_the_first);
    tcase_add_test(tests, command_survives_a_bad_progress_file);
    tcase_add_test(tests, command_shows_the_hint_when_nothing_can_be_remembered);
    tcase_add_test(tests, measured_facts_choose_the_hint);
    tcase_add_loop_test(tests, first_hint_is_the_one_that_helps, 0, COUNT_OF(first_hints));
    tcase_add_test(tests, what_was_remembered_may_be_anything);
    tcase_add_loop_test(tests, facts_name_kernels_and_marks, 0, (int)lab_registry_count);
    tcase_add_test(tests, command_refuses_what_does_not_exist);
    tcase_add_test(tests, labs_are_listed);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_watch.c - noticing saves, what a watch prints, and `spillway watch` as a student's editor
 * meets it. */
#include "testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "files.h"
#include "support_driven.h"
#include "support_situation.h"
#include "watch.h"
#include "watch_page.h"

/* ---- Noticing saves -------------------------------------------------------------------------- */

static char *folder, *file, *other; /* of one test */

static char *below(const char *parent, const char *name)
{
    char *path = path_join(parent, name);
    ck_assert_ptr_nonnull(path);
    return path;
}

static void save(const char *path, const char *text)
{
    testing_write(path, text, strlen(text));
}

static void in_place(void)
{
    save(file, "two");
}
static void same_text_again(void)
{
    save(file, "one");
}
static void renamed_over(void)
{
    AUTO_FREE char *fresh = below(folder, "file~");
    save(fresh, "one");
    ck_assert_int_eq(rename(fresh, file), 0);
}
static void moved_away_and_written(void) /* as vim does with a backup */
{
    AUTO_FREE char *backup = below(folder, "file.bak");
    ck_assert_int_eq(rename(file, backup), 0);
    save(file, "one");
}
static void deleted(void)
{
    ck_assert_int_eq(unlink(file), 0);
}
static void deleted_and_back(void)
{
    deleted();
    save(file, "one");
}
static void burst(void)
{
    for (int i = 0; i < 50; ++i)
        save(file, i % 2 == 0 ? "x" : "yy");
}
static void neighbour(void)
{
    AUTO_FREE char *swap = below(folder, ".file.swp");
    save(swap, "x");
    ck_assert_int_eq(unlink(swap), 0);
}
static void only_read(void)
{
    struct bytes text;
    ck_assert_int_eq(file_read(&text, file, 100, false), FILE_READ);
    bytes_release(&text);
}
static void other_appears(void)
{
    save(other, "x");
}

static const struct {
    void (*change)(void);
    bool noticed;
} saves[] = {
    {in_place, true},     {same_text_again, true},
    {renamed_over, true}, {moved_away_and_written, true},
    {deleted, true},      {deleted_and_back, true},
    {burst, true},        {neighbour, false},
    {only_read, false},   {other_appears, true},
};

static void start_files(const char *name)
{
    folder = below(testing_temporary_folder(), name);
    file = below(folder, "file");
    other = below(folder, "other");
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    save(file, "one");
}

static void end_files(void)
{
    free(folder);
    free(file);
    free(other);
}

START_TEST(save_is_noticed_once)
{
    char name[32];
    (void)snprintf(name, sizeof name, "watch-save-%d", _i);
    start_files(name);
    struct watch watch;
    struct error err = {0};
    int64_t noticed_ns = 0;
    watch_open(&watch);
    ck_assert_int_eq(watch_add(&watch, file, &err), 0);
    ck_assert_int_eq(watch_add(&watch, file, &err), 0); /* once is enough */
    ck_assert_int_eq(watch_add(&watch, other, &err), 0);
    ck_assert_uint_eq(watch.count, 2);
    ck_assert(!watch_changed(&watch));
    saves[_i].change();
    ck_assert_int_eq(watch_changed(&watch), saves[_i].noticed);
    if (saves[_i].noticed) {
        ck_assert_int_eq(watch_wait(&watch, &noticed_ns, &err), 0);
        ck_assert_int_gt(noticed_ns, 0);
        ck_assert(!watch_changed(&watch));
    }
    watch_close(&watch);
    end_files();
}
END_TEST

static void *save_later(void *argument)
{
    (void)argument;
    (void)usleep(30000);
    renamed_over();
    return NULL;
}

/* The wait ends by the event, or without one by the look once a second. */
START_TEST(wait_ends_when_a_save_comes)
{
    start_files(_i == 0 ? "watch-later" : "watch-blind");
    struct watch watch;
    struct error err = {0};
    int64_t noticed_ns = 0, began = process_now_ns();
    pthread_t thread;
    watch_open(&watch);
    ck_assert_int_eq(watch_add(&watch, file, &err), 0);
    if (_i == 1) { /* a file system that reports nothing */
        ck_assert_int_eq(close(watch.fd), 0);
        watch.fd = -1;
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, save_later, NULL), 0);
    ck_assert_int_eq(watch_wait(&watch, &noticed_ns, &err), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_gt(noticed_ns, began + 30000000);
    watch_close(&watch);
    end_files();
}
END_TEST

/* ---- The page -------------------------------------------------------------------------------- */

static struct situation s;

static void judge(struct watch_page *page, struct bytes *out, const char *answers, bool frame,
                  bool preview, int changed)
{
    situation_start(&s);
    if (answers != NULL)
        s.answers = answers;
    if (!frame)
        s.ptxas[TINY_PICK].stack_bytes = s.cubin[TINY_PICK].stack_bytes = 0;
    situation_judge(&s);
    bytes_clear(out);
    ck_assert_int_eq(watch_page_marks(page, out, &s.grade, preview), changed);
}

static void expect(const struct bytes *out, const char *said)
{
    ck_assert_msg(strstr(bytes_text(out), said) != NULL, "\"%s\" is not in:\n%s", said,
                  bytes_text(out));
}

START_TEST(page_shows_what_changed)
{
    struct watch_page page;
    struct bytes out = bytes_with_limit(100000);
    ck_assert_int_eq(watch_page_start(&page, &support_lab, false), 0);
    /* At first a line each; those for numbers come when the kernels have run. */
    judge(&page, &out, NULL, false, true, TINY_CRITERIA - 2);
    expect(&out, "FAIL   0/8   code.frame\n");
    ck_assert_ptr_null(strstr(bytes_text(&out), "numbers."));
    ck_assert_ptr_null(strstr(bytes_text(&out), "seen:"));
    situation_release(&s);
    judge(&page, &out, NULL, false, false, 2);
    expect(&out, "OK     2/2   numbers.twice\n");
    bytes_clear(&out);
    watch_page_score(&page, &out, &s.grade);
    expect(&out, "Score: ");
    expect(&out, "Next:  code.frame: Let the argument reach the index");
    situation_release(&s);
    /* The same again: nothing. */
    judge(&page, &out, NULL, false, false, 0);
    ck_assert_uint_eq(out.length, 0);
    situation_release(&s);
    /* One mended, one lost, with all that is known of it. */
    judge(&page, &out,
          "[registers]\ntwice = 9\n[q]\nword = fits\nnumber = 8\nwhat_if = 7\nunjudged = x\n", true,
          false, 3);
    expect(&out, "OK     8/8   code.frame (was FAIL)\n");
    expect(
        &out,
        "FAIL   0/256  counts.twice (was OK)\n      registers of twice\n      seen:  you report 9");
    bytes_clear(&out);
    watch_page_score(&page, &out, &s.grade);
    expect(&out, "(-232)"); /* 8 + 16 won, 256 lost */
    situation_release(&s);
    bytes_release(&out);
    watch_page_end(&page);
}
END_TEST

START_TEST(page_says_when_all_is_done)
{
    struct watch_page page;
    struct bytes out = bytes_with_limit(100000);
    ck_assert_int_eq(watch_page_start(&page, &support_lab, true), 0);
    situation_start(&s);
    situation_judge(&s);
    s.grade.max_score = s.grade.score; /* one mark of this lab cannot be judged */
    s.grade.pending = 0;
    ck_assert_int_gt(watch_page_marks(&page, &out, &s.grade, false), 0);
    expect(&out, "\033[32mOK   \033[0m");
    watch_page_score(&page, &out, &s.grade);
    expect(&out, "this lab is done");
    expect(&out, "commit tiny.cu and\nanswers.ini, and push");
    situation_release(&s);
    bytes_release(&out);
    watch_page_end(&page);
}
END_TEST

/* ---- The command ----------------------------------------------------------------------------- */

static const struct {
    const char *arguments[4];
    int status;
    const char *said;
} usage_rows[] = {
    {{"watch", "--help"}, 0, "usage: spillway watch"},
    {{"watch", "no-such-folder"}, 2, "there is no folder no-such-folder"},
    {{"watch", "a", "b"}, 2, "one folder at a time"},
    {{"watch", "--executor", "abacus"}, 2, "expected auto, gpu, emulator or none"},
    {{"watch", "--arch", "t4"}, 2, "names like sm_75"},
};

START_TEST(usage_row)
{
    const char *arguments[5] = {NULL};
    for (size_t i = 0; i < 4; ++i)
        arguments[i] = usage_rows[_i].arguments[i];
    struct process_result result = testing_spillway(arguments, NULL);
    const struct bytes *stream = usage_rows[_i].status == 0 ? &result.output : &result.error;
    ck_assert_int_eq(result.exit_code, usage_rows[_i].status);
    ck_assert_msg(strstr(bytes_text(stream), usage_rows[_i].said) != NULL, "%s",
                  bytes_text(stream));
    process_result_release(&result);
}
END_TEST

static struct driven watched;

static void hear(const char *marker)
{
    bool heard = driven_wait(&watched, marker);
    const char *said = bytes_text(&watched.said);
    size_t length = strlen(said);
    ck_assert_msg(heard, "\"%s\" was not said; the end of what was:\n%s", marker,
                  said + (length > 2000 ? length - 2000 : 0));
}

static char *text_of(const char *path)
{
    struct bytes text;
    ck_assert_int_eq(file_read(&text, path, (size_t)1 << 20, false), FILE_READ);
    return bytes_take(&text);
}

/* The text with the first `from` behind `mark` replaced. Owned. */
static char *edited(const char *text, const char *mark, const char *from, const char *to)
{
    const char *at = strstr(text, mark);
    ck_assert_ptr_nonnull(at);
    at = strstr(at, from);
    ck_assert_ptr_nonnull(at);
    char *made = NULL;
    ck_assert_int_gt(asprintf(&made, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)), 0);
    return made;
}

static size_t rounds_of(const char *text, const char *heading)
{
    size_t count = 0;
    for (; (text = strstr(text, heading)) != NULL; ++text)
        ++count;
    return count;
}

START_TEST(a_students_hour)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    AUTO_FREE char *home = below(testing_temporary_folder(), "watch-hour");
    AUTO_FREE char *cache = NULL, *source = below(home, "registers.cu");
    AUTO_FREE char *answers = below(home, "answers.ini"), *fresh = below(home, "4913");
    AUTO_FREE char *hidden = below(testing_temporary_folder(), "watch-hidden"), *path = NULL;
    const char *const release[] = {"release", "day17-registers", home, NULL};
    struct process_result made = testing_spillway(release, NULL);
    ck_assert_int_eq(made.exit_code, 0);
    process_result_release(&made);
    ck_assert_int_gt(asprintf(&cache, "SPILLWAY_CACHE=%s/cache", testing_temporary_folder()), 0);
    ck_assert_int_gt(asprintf(&path, "PATH=%s/bin:/usr/bin:/bin", testing_cuda_home()), 0);
    const char *const argv[] = {testing_binary(), "watch",    home, "--seed", "17",
                                "--executor",     "emulator", NULL};
    const char *const environment[] = {cache, path, NULL};
    ck_assert(driven_start(&watched, argv, environment));
    hear("FAIL   0/8   shift.frame\n");
    hear("Score: 25/100\n");
    hear("all after");

    /* An editor that renames over: what needs no launch comes before what needs one. */
    AUTO_FREE char *starter = text_of(source);
    AUTO_FREE char *shifted = edited(starter, "void decayWideIndexed", "levels[tap] +",
                                     "levels[(tap + shift) % WIDE_TAPS] +");
    save(fresh, shifted);
    ck_assert_int_eq(rename(fresh, source), 0);
    ck_assert_int_eq(chmod(source, 0600), 0); /* as an editor does behind a save: no other one */
    hear("shift.frame (was FAIL)");
    hear("numbers.decayWideIndexed.shifted (was FAIL)");
    hear("Score: 45/100 (+20)");
    hear("all after");

    /* answers.ini alone: nothing is built. */
    AUTO_FREE char *sheet = text_of(answers);
    AUTO_FREE char *filled = edited(sheet, "[question2]", "blocks_at_65 =", "blocks_at_65 = 3");
    save(answers, filled);
    hear("question2.blocks_at_65 (was FAIL)");
    hear("Score: 48/100 (+3)");
    hear("all after");

    /* Gone, and back again. */
    ck_assert_int_eq(rename(source, hidden), 0);
    hear("Waiting for the next save");
    ck_assert_int_eq(rename(hidden, source), 0);
    save(answers, sheet); /* else nothing is another than before */
    hear("question2.blocks_at_65 (was OK)");
    hear("Score: 45/100 (-3)");
    hear("all after");

    /* Both files at once: in one round or in two, it ends with what both say. */
    AUTO_FREE char *narrow = edited(shifted, "void decayNarrow", "+ tap]", "+ tap + 1]");
    save(source, narrow);
    save(answers, filled);
    hear("numbers.decayNarrow (was OK)");
    hear("Score: 43/100 (");
    hear("all after");
    save(answers, sheet);
    save(source, shifted);
    hear("numbers.decayNarrow (was FAIL)");
    hear("Score: 45/100 (");
    hear("all after");

    /* A slip of the pen, with the compiler's words. */
    AUTO_FREE char *broken =
        edited(shifted, "decayWideBounded(const", "float level =", "flaot level =");
    save(source, broken);
    hear("build.accepted (was OK)");
    hear("the first error");
    hear("shift.frame (was OK), waits for the build\n");
    hear("Score: 0/100 (-45)");
    hear("all after");
    ck_assert_int_eq(driven_stop(&watched, SIGINT), 130);
    ck_assert_uint_eq(rounds_of(bytes_text(&watched.said), "  registers.cu\nOK     8/8   shift"),
                      1);
    bytes_release(&watched.said);

    /* What was measured is in the cache, and nothing of it in the student's folder. */
    static const char *const expected[] = {"cache", ".cache", "grade-day17-registers"};
    for (size_t i = 0; i < COUNT_OF(expected); ++i) {
        AUTO_FREE char *left = below(home, expected[i]);
        ck_assert_int_ne(access(left, F_OK), 0);
    }
    AUTO_FREE char *remembered = NULL;
    ck_assert_int_gt(
        asprintf(&remembered, "%s/cache/grade-day17-registers", testing_temporary_folder()), 0);
    AUTO_FREE char *memory = text_of(remembered);
    ck_assert_msg(strncmp(memory, "score 0 0 48\n", 13) == 0, "%s", memory);
}
END_TEST

Suite *suite_watch(void)
{
    Suite *suite = suite_create("watch");
    TCase *tests = tcase_create("watch");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, save_is_noticed_once, 0, COUNT_OF(saves));
    tcase_add_loop_test(tests, wait_ends_when_a_save_comes, 0, 2);
    tcase_add_test(tests, page_shows_what_changed);
    tcase_add_test(tests, page_says_when_all_is_done);
    tcase_add_loop_test(tests, usage_row, 0, COUNT_OF(usage_rows));
    tcase_add_test(tests, a_students_hour);
    suite_add_tcase(suite, tests);
    return suite;
}

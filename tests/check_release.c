/* check_release.c - student repositories: what is in them, what is not, and what their Makefile
 * does; solution markers; the search for leaks. */
#include "testing.h"

#include <sys/stat.h>

#include "files.h"
#include "release.h"
#include "solution.h"
#include "support_git.h"

#define LAB "day17-registers"

/* ---- Markers ---- */

static const struct strip_row {
    const char *text, *starter; /* NULL: refused */
    int parts;
    const char *said;
} strip_rows[] = {
    /* clang-format off */
    {"a\nb\n", "a\nb\n", 0, ""},
    {"", "", 0, ""},
    {"a\n// BEGIN SOLUTION\nx\n// END SOLUTION\nb\n", "a\nb\n", 1, ""},
    {"  // BEGIN SOLUTION\n  //: y // TODO\n  x\n  // END SOLUTION", "  y // TODO\n", 1, ""},
    {"// BEGIN SOLUTION\n    //: if (a)\n    //:     b;\n    //:\n    x\n// END SOLUTION\n", "    if (a)\n        b;\n\n", 1, ""},
    {"/* BEGIN SOLUTION\nx\n## END SOLUTION\n; BEGIN SOLUTION\ny\n; END SOLUTION\n", "", 2, ""},
    {"say BEGIN SOLUTION\n", "say BEGIN SOLUTION\n", 0, ""},
    {"no newline", "no newline\n", 0, ""},
    {"// BEGIN SOLUTION\nx\n", NULL, 0, "line 1: BEGIN SOLUTION without"},
    {"a\n// END SOLUTION\n", NULL, 0, "line 2: END SOLUTION without"},
    {"// BEGIN SOLUTION\nx\n// BEGIN SOLUTION\n", NULL, 0, "line 3: BEGIN SOLUTION inside"},
    {"// BEGIN SOLUTION\n//: only a prompt\n\n// END SOLUTION\n", NULL, 0, "line 1: this solution has no line"},
    {"//: lost\n", NULL, 0, "line 1: \"//:\" belongs between"},
    /* clang-format on */
};

START_TEST(strip_row)
{
    const struct strip_row *row = &strip_rows[_i];
    struct bytes starter = bytes_with_limit(10000);
    struct error err = {0};
    int parts = solution_strip(&starter, row->text, strlen(row->text), &err);
    if (row->starter == NULL) {
        ck_assert_int_eq(parts, -1);
        ck_assert_msg(strstr(err.text, row->said) == err.text, "said: %s", err.text);
    } else {
        ck_assert_msg(parts == row->parts, "%d parts; %s", parts, err.text);
        ck_assert_str_eq(bytes_text(&starter), row->starter);
    }
    bytes_release(&starter);
}
END_TEST

/* ---- The command ---- */

static struct process_result release(const char *folder, const char *option, const char *value)
{
    const char *const arguments[] = {"release", LAB, folder, option, value, NULL};
    return testing_spillway(arguments, NULL);
}

static char *new_folder(const char *name)
{
    char *path = path_join(testing_temporary_folder(), name);
    ck_assert_ptr_nonnull(path);
    return path;
}

/* A released repository of this name. Owned. */
static char *released(const char *name)
{
    char *folder = new_folder(name);
    struct process_result result = release(folder, NULL, NULL);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    process_result_release(&result);
    return folder;
}

static struct bytes content(const char *folder, const char *name)
{
    AUTO_FREE char *path = path_join(folder, name);
    struct bytes text;
    enum file_status status = file_read(&text, path, (size_t)1 << 20, false);
    ck_assert_msg(status == FILE_READ, "%s: %s", path, file_status_text(status));
    return text;
}

static void expect_same(const char *folder, const char *name, const char *origin)
{
    struct bytes made = content(folder, name), given = content(".", origin);
    ck_assert_msg(strcmp(bytes_text(&made), bytes_text(&given)) == 0, "%s is not %s", name, origin);
    bytes_release(&made);
    bytes_release(&given);
}

struct seen {
    unsigned commits, trees, blobs;
    struct bytes commit;
};

static int see(void *context, const char *id, const char *type, const char *data, size_t length)
{
    struct seen *seen = context;
    (void)id;
    seen->commits += strcmp(type, "commit") == 0;
    seen->trees += strcmp(type, "tree") == 0;
    seen->blobs += strcmp(type, "blob") == 0;
    return strcmp(type, "commit") == 0 ? bytes_append(&seen->commit, data, length) : 0;
}

START_TEST(repository_is_what_a_student_gets)
{
    AUTO_FREE char *folder = new_folder("release-whole");
    struct process_result result = release(folder, "--url", "https://example.org/spillway.git");
    const char *said = bytes_text(&result.output);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    ck_assert_ptr_nonnull(strstr(said, "with 3 solutions left out"));
    ck_assert_ptr_nonnull(strstr(said, "none is there"));
    ck_assert_ptr_nonnull(strstr(said, "25 of 100 points"));
    ck_assert_ptr_null(strstr(said, "--url"));
    process_result_release(&result);

    expect_same(folder, "registers.cu", "starter/" LAB "/registers.cu");
    expect_same(folder, "answers.ini", "exercises/" LAB "/answers.ini");
    expect_same(folder, "questions.md", "exercises/" LAB "/questions.md");
    expect_same(folder, "README.md", "labs/" LAB "/README.md");
    static const char *const filled[] = {"Makefile", ".gitignore", "colab.ipynb", ".gitlab-ci.yml",
                                         ".github/workflows/grade.yml"};
    for (size_t i = 0; i < COUNT_OF(filled); ++i) {
        struct bytes text = content(folder, filled[i]);
        const char *at = strchr(bytes_text(&text), '@');
        for (; at != NULL; at = strchr(at + 1, '@')) /* "checkout@v4" is none of ours */
            ck_assert_msg(at[1] < 'A' || at[1] > 'Z', "%s: %.20s is not filled in", filled[i], at);
        if (strchr(filled[i], 'y') != NULL)
            ck_assert_ptr_nonnull(strstr(bytes_text(&text), "https://example.org/spillway.git"));
        bytes_release(&text);
    }

    struct seen seen = {.commit = bytes_with_limit(10000)};
    struct error err = {0};
    ck_assert_int_eq(release_git_objects(folder, see, &seen, &err), 0);
    ck_assert_uint_eq(seen.commits, 1);
    ck_assert_uint_eq(seen.trees, 3); /* the root, .github, workflows */
    ck_assert_uint_eq(seen.blobs, 10);
    ck_assert_ptr_null(strstr(bytes_text(&seen.commit), "parent "));
    bytes_release(&seen.commit);
    struct stat info;
    ck_assert_int_eq(stat(folder, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0755);
}
END_TEST

/* Who leaves the address out is told what will not work, and it is so. */
START_TEST(missing_address_is_told)
{
    AUTO_FREE char *folder = new_folder("release-without-url");
    struct process_result result = release(folder, NULL, NULL);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_ptr_nonnull(
        strstr(bytes_text(&result.output), "No --url was given, so nothing in it says where"));
    process_result_release(&result);
    static const struct {
        const char *file, *words;
    } places[] = {
        {"Makefile", "\nSPILLWAY_URL := \n"},
        {".github/workflows/grade.yml", "vars.SPILLWAY_URL || '' }}"},
        {".gitlab-ci.yml", "SPILLWAY_URL: \"\"\n"},
        {"colab.ipynb", "SPILLWAY_URL = \\\"\\\""},
    };
    for (size_t i = 0; i < COUNT_OF(places); ++i) {
        struct bytes text = content(folder, places[i].file);
        ck_assert_msg(strstr(bytes_text(&text), places[i].words) != NULL, "%s", places[i].file);
        bytes_release(&text);
    }
}
END_TEST

START_TEST(grading_it_gives_the_floor)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    AUTO_FREE char *folder = released("release-graded");
    const char *const arguments[] = {"grade", folder, "--executor", "emulator", NULL};
    struct process_result result = testing_spillway(arguments, NULL);
    ck_assert_msg(strstr(bytes_text(&result.output), "\nScore: 25/100\n") != NULL, "%s",
                  bytes_text(&result.output));
    process_result_release(&result);
}
END_TEST

static const struct {
    const char *arguments[5];
    int status;
    const char *said;
} usage_rows[] = {
    /* clang-format off */
    {{"release", "--help"},                       0, "usage: spillway release"},
    {{"release"},                                 2, "takes a lab and a folder"},
    {{"release", LAB},                            2, "takes a lab and a folder"},
    {{"release", "day99", "x"},                   2, "no lab \"day99\""},
    {{"release", LAB, "tests"},                   2, "is there already"},
    {{"release", LAB, "Makefile"},                2, "is there already"},
    {{"release", LAB, "."},                       2, "is the current folder"},
    {{"release", LAB, "no/such/folder"},          2, "no folder no/such to make no/such/folder in: make it first (mkdir -p no/such)"},
    {{"release", LAB, "/no-such//folder//"},      2, "(mkdir -p /no-such), or"},
    {{"release", LAB, "Makefile/folder"},         2, "Makefile/folder cannot be made, since Makefile is not a folder"},
    {{"release", LAB, "x", "--url", "a' b"},      2, "--url is written into"},
    {{"release", LAB, "no-such-folder", "--check"}, 3, "no-such-folder"},
    {{"release", LAB, "--starter"},               0, "// TODO: give it launch bounds"},
    /* clang-format on */
};

START_TEST(usage_row)
{
    const char *arguments[6] = {NULL};
    for (size_t i = 0; i < 5; ++i)
        arguments[i] = usage_rows[_i].arguments[i];
    struct process_result result = testing_spillway(arguments, NULL);
    const struct bytes *stream = usage_rows[_i].status == 0 ? &result.output : &result.error;
    ck_assert_int_eq(result.exit_code, usage_rows[_i].status);
    ck_assert_msg(strstr(bytes_text(stream), usage_rows[_i].said) != NULL, "%s",
                  bytes_text(stream));
    process_result_release(&result);
}
END_TEST

/* ---- Leaks ---- */

static void expect_check(const char *folder, int status, const char *said)
{
    struct process_result result = release(folder, "--check", NULL);
    const struct bytes *stream = status == 0 ? &result.output : &result.error;
    ck_assert_msg(result.exit_code == status, "exit status %d: %s%s", result.exit_code,
                  bytes_text(&result.output), bytes_text(&result.error));
    ck_assert_msg(strstr(bytes_text(stream), said) != NULL, "\"%s\" is not in: %s", said,
                  bytes_text(stream));
    process_result_release(&result);
}

static const struct leak_row {
    const char *file, *text;
    const char *said; /* NULL: no leak */
} leak_rows[] = {
    /* clang-format off */
    {"notes.txt",   "sum = levels[(tap + shift) & (WIDE_TAPS - 1)] + DECAY * sum;\n", "notes.txt: reference/" LAB "/registers.cu, line "},
    {"notes.txt",   "sum=levels[(tap+shift)&(WIDE_TAPS-1)]\n   +DECAY * sum;\n", "notes.txt: "},
    {"cells.ipynb", "[\"  sum = levels[(tap + shift) & (WIDE_TAPS - 1)] + DECAY * sum;\\n\"]", "cells.ipynb: "},
    {"extra.cu",    "__global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS_PER_SM)\n", "extra.cu: "},
    {".git/description", "// threads fit one SM. What no longer fits is spilled to local memory.\n", ".git/description: "},
    {"answers.ini", "decayWideBounded = 64\n", "answers.ini: reference/" LAB "/answers.ini"},
    {"answers.ini", "speed=undetermined", "answers.ini: "},
    {"hints",       "  and 65,536 / 18,432 = 3.56, so 3 blocks\n", NULL}, /* half a line */
    {"hints",       "  65,536 / 18,432 = 3.56, so 3 blocks, 768 threads. (Even unrounded, 65 x 256\n", "labs/" LAB "/hints, solution of question2"},
    {"reference.c", "void day17_reference_indexed(const struct reference_call *call)\n", "reference/" LAB "/reference.c"},
    {"notes.txt",   "I read the level at tap + shift, modulo the taps.\n", NULL},
    {"mine.cu",     "__global__ void decayWideIndexed(const float *in, float *out, size_t n, int shift)\n", NULL},
    /* clang-format on */
};

START_TEST(leak_row)
{
    char name[32];
    (void)snprintf(name, sizeof name, "release-leak-%d", _i);
    AUTO_FREE char *folder = released(name);
    AUTO_FREE char *path = path_join(folder, leak_rows[_i].file);
    expect_check(folder, 0, "none is there");
    testing_write(path, leak_rows[_i].text, strlen(leak_rows[_i].text));
    if (leak_rows[_i].said != NULL)
        expect_check(folder, 1, leak_rows[_i].said);
    else
        expect_check(folder, 0, "none is there");
}
END_TEST

START_TEST(handout_may_show_what_it_shows_and_no_more)
{
    AUTO_FREE char *folder = released("release-handout");
    AUTO_FREE char *path = path_join(folder, "README.md");
    struct bytes text = content(folder, "README.md");
    /* The launch bounds stand there, on purpose. */
    ck_assert_ptr_nonnull(
        strstr(bytes_text(&text), "__launch_bounds__(BLOCK_THREADS, BLOCKS_PER_SM)"));
    bytes_append_text(&text, "\nsum = levels[(tap + shift) & (WIDE_TAPS - 1)] + DECAY * sum;\n");
    testing_write(path, text.data, text.length);
    bytes_release(&text);
    expect_check(folder, 1, "README.md: reference/");
}
END_TEST

/* The file is clean again; the history is not. */
START_TEST(history_is_searched_too)
{
    static const char solved[] = "sum = levels[(tap + shift) & (WIDE_TAPS - 1)] + DECAY * sum;\n";
    AUTO_FREE char *folder = released("release-history");
    const struct git_file dirty = {.path = "registers.cu", .data = solved};
    const struct git_file clean = {.path = "registers.cu", .data = "nothing\n"};
    char id[48];
    support_git_commit(folder, &dirty, 1, id);
    support_git_commit(folder, &clean, 1, id);
    expect_check(folder, 1, "git blob ");
}
END_TEST

/* A program without the tree around it, as a package installs it. */
START_TEST(without_a_reference_it_says_so)
{
    static const char *const folders[] = {"labs", "starter", "exercises", "packaging"};
    AUTO_FREE char *data = new_folder("release-data"), *target = new_folder("release-installed");
    AUTO_FREE char *program = path_join(data, "spillway"), *variable = NULL;
    ck_assert_int_eq(mkdir(data, 0755), 0);
    AUTO_FREE char *here = realpath(".", NULL);
    for (size_t i = 0; i < COUNT_OF(folders); ++i) {
        AUTO_FREE char *from = path_join(here, folders[i]), *to = path_join(data, folders[i]);
        ck_assert_int_eq(symlink(from, to), 0);
    }
    struct bytes binary;
    ck_assert_int_eq(file_read(&binary, testing_binary(), (size_t)256 << 20, true), FILE_READ);
    testing_write(program, binary.data, binary.length);
    bytes_release(&binary);
    ck_assert_int_eq(chmod(program, 0755), 0);
    ck_assert_int_gt(asprintf(&variable, "SPILLWAY_DATA=%s", data), 0);
    const char *const argv[] = {program, "release", LAB, target, NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = (const char *[]){variable, NULL},
                                      .wall_ns = INT64_C(60000000000),
                                      .output_limit = 65536,
                                      .merge_error = true};
    struct process_result result;
    struct error err = {0};
    ck_assert_int_eq(process_run(&result, &spec, &err), 0);
    ck_assert_msg(result.exit_code == 0 &&
                      strstr(bytes_text(&result.output), "holds no reference") != NULL,
                  "%s", bytes_text(&result.output));
    process_result_release(&result);
    expect_same(target, "registers.cu", "starter/" LAB "/registers.cu");
    expect_check(target, 0, "none is there"); /* by a program that has the reference */
}
END_TEST

/* ---- The student's Makefile ---- */

static struct process_result run_make(const char *folder, const char *path,
                                      const char *const *arguments)
{
    const char *argv[8] = {"/usr/bin/make", "--no-print-directory", "-C", folder};
    for (size_t i = 0; arguments[i] != NULL; ++i)
        argv[4 + i] = arguments[i];
    const struct process_spec spec = {.argv = argv,
                                      .environment = (const char *[]){path, NULL},
                                      .wall_ns = INT64_C(60000000000),
                                      .output_limit = 65536,
                                      .merge_error = true};
    struct process_result result;
    struct error err = {0};
    ck_assert_int_eq(process_run(&result, &spec, &err), 0);
    return result;
}

static void expect_make(const char *folder, const char *path, const char *const *arguments,
                        bool succeeds, const char *said)
{
    struct process_result result = run_make(folder, path, arguments);
    ck_assert_msg((result.exit_code == 0) == succeeds &&
                      strstr(bytes_text(&result.output), said) != NULL,
                  "make %s: exit status %d, not \"%s\": %s", arguments[0], result.exit_code, said,
                  bytes_text(&result.output));
    process_result_release(&result);
}

static void write_program(const char *path, const char *text)
{
    testing_write(path, text, strlen(text));
    ck_assert_int_eq(chmod(path, 0755), 0);
}

START_TEST(makefile_finds_or_builds_spillway)
{
    AUTO_FREE char *folder = released("release make"); /* a blank in the path */
    AUTO_FREE char *bin = path_join(folder, "bin"), *sources = path_join(folder, "its sources");
    AUTO_FREE char *installed = path_join(bin, "spillway"), *makefile = NULL, *path = NULL,
                   *named = NULL;
    makefile = path_join(sources, "Makefile");
    ck_assert(mkdir(bin, 0755) == 0 && mkdir(sources, 0755) == 0);
    ck_assert_int_gt(asprintf(&path, "PATH=%s:/usr/bin:/bin", bin), 0);
    ck_assert_int_gt(asprintf(&named, "SPILLWAY_SRC=%s", sources), 0);
    static const char rules[] =
        "all:\n"
        "\t@mkdir -p build/release\n"
        "\t@printf '#!/bin/sh\\necho built \"$$*\"\\n' > build/release/spillway\n"
        "\t@chmod +x build/release/spillway\n";
    testing_write(makefile, rules, sizeof rules - 1);

    expect_make(folder, "PATH=/usr/bin:/bin", (const char *[]){"grade", NULL}, false,
                "SPILLWAY_SRC=../spillway");
    expect_make(folder, "PATH=/usr/bin:/bin", (const char *[]){"grade", named, NULL}, true,
                "built grade . --lab " LAB "\n");
    write_program(installed, "#!/bin/sh\necho installed \"$*\"\n");
    expect_make(folder, path, (const char *[]){"grade", "ARCH=sm_90", "OPTIONS=--seed 3", NULL},
                true, "installed grade . --lab " LAB " --arch sm_90 --seed 3\n");
    expect_make(folder, path, (const char *[]){"hint", NULL}, true,
                "installed hint " LAB " next\n");
    expect_make(folder, path, (const char *[]){"hint", "ITEM=shift", NULL}, true,
                "hint " LAB " shift\n");
    expect_make(folder, path, (const char *[]){"doctor", NULL}, true, "installed doctor\n");
    expect_make(folder, path, (const char *[]){"watch", NULL}, true,
                "installed watch . --lab " LAB);
    expect_make(folder, path, (const char *[]){"help", NULL}, true, "make watch ");
    /* The statuses that matter: interrupted is how a watch ends, anything else is not. */
    write_program(installed, "#!/bin/sh\nexit 130\n");
    expect_make(folder, path, (const char *[]){"watch", NULL}, true, "");
    expect_make(folder, path, (const char *[]){"grade", NULL}, false, "130");
    write_program(installed, "#!/bin/sh\nexit 3\n");
    expect_make(folder, path, (const char *[]){"watch", NULL}, false, "");
}
END_TEST

START_TEST(ci_files_are_yaml)
{
    static const char script[] =
        "import sys, yaml\n"
        "for name in sys.argv[1:]:\n"
        "    text = yaml.safe_load(open(name))\n"
        "    job = text['jobs']['grade'] if 'jobs' in text else text['grade']\n"
        "    steps = [s.get('run', '') for s in job['steps']] if 'steps' in job else "
        "job['before_script'] + job['script']\n"
        "    assert all(isinstance(s, str) for s in steps), steps\n"
        "    assert any('make grade' in s for s in steps), name\n"
        "print('fine')\n";
    const char *const probe[] = {"/usr/bin/python3", "-c", "import yaml", NULL};
    struct process_spec spec = {
        .argv = probe, .wall_ns = INT64_C(60000000000), .output_limit = 65536, .merge_error = true};
    struct process_result result;
    struct error err = {0};
    bool able = access(probe[0], X_OK) == 0 && process_run(&result, &spec, &err) == 0;
    if (able) {
        able = result.exit_code == 0;
        process_result_release(&result);
    }
    if (!able)
        TEST_SKIP("no python3 with yaml");
    AUTO_FREE char *folder = released("release-yaml");
    AUTO_FREE char *github = path_join(folder, ".github/workflows/grade.yml");
    AUTO_FREE char *gitlab = path_join(folder, ".gitlab-ci.yml");
    const char *const argv[] = {probe[0], "-c", script, github, gitlab, NULL};
    spec.argv = argv;
    ck_assert_int_eq(process_run(&result, &spec, &err), 0);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.output));
    process_result_release(&result);
}
END_TEST

Suite *suite_release(void)
{
    Suite *suite = suite_create("release");
    TCase *tests = tcase_create("release");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, strip_row, 0, COUNT_OF(strip_rows));
    tcase_add_test(tests, repository_is_what_a_student_gets);
    tcase_add_test(tests, missing_address_is_told);
    tcase_add_test(tests, grading_it_gives_the_floor);
    tcase_add_loop_test(tests, usage_row, 0, COUNT_OF(usage_rows));
    tcase_add_loop_test(tests, leak_row, 0, COUNT_OF(leak_rows));
    tcase_add_test(tests, handout_may_show_what_it_shows_and_no_more);
    tcase_add_test(tests, history_is_searched_too);
    tcase_add_test(tests, without_a_reference_it_says_so);
    tcase_add_test(tests, makefile_finds_or_builds_spillway);
    tcase_add_test(tests, ci_files_are_yaml);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_submission.c - which files make a submission, from a folder and from a commit. */
#include "testing.h"

#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "caps.h"
#include "libraries.h"
#include "submission.h"
#include "support_git.h"
#include "support_toolkit.h"

#define LAB "day17-registers"
#define SOURCE "registers.cu"
#define OTHER_USER 65534

static char root[512]; /* a folder of each test's own */

static void set_up(void)
{
    support_new_folder(root);
}

static const char *in_root(const char *name)
{
    return support_path(root, name);
}

static void put_bytes(const char *name, const void *data, size_t length)
{
    const char *path = in_root(name);
    AUTO_FREE char *folder = strdup(path);
    ck_assert_ptr_nonnull(folder);
    *strrchr(folder, '/') = '\0';
    support_folder(folder);
    testing_write(path, data, length);
}

static void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

static struct submission read_with(const char *folder, const char *revision, const char *lab)
{
    struct submission submission;
    struct error err = {0};
    const struct submission_options options = {
        .directory = in_root(folder), .revision = revision, .lab_id = lab};
    ck_assert_msg(submission_read(&submission, &options, &err) == 0, "%s", err.text);
    return submission;
}

static void assert_refused(const char *folder, const char *revision, const char *lab,
                           enum error_kind kind, const char *why)
{
    struct submission submission;
    struct error err = {0};
    const struct submission_options options = {.directory =
                                                   folder[0] == '/' ? folder : in_root(folder),
                                               .revision = revision,
                                               .lab_id = lab};
    ck_assert_int_eq(submission_read(&submission, &options, &err), -1);
    ck_assert_msg(err.kind == kind && strstr(err.text, why) != NULL, "expected \"%s\" in: %s", why,
                  err.text);
    ck_assert(submission.path == NULL && submission.source.path == NULL);
}

static void assert_source(const struct submission *submission, const char *expected)
{
    ck_assert_str_eq(submission->source.problem, "");
    ck_assert_str_eq(bytes_text(&submission->source.content), expected);
}

/* ---- Which lab ------------------------------------------------------------------------------- */

START_TEST(which_lab)
{
    put("a/" SOURCE, "by answers");
    put("a/answers.ini", "lab = " LAB "\n");
    struct submission submission = read_with("a", NULL, NULL);
    ck_assert_str_eq(submission.lab->id, LAB);
    ck_assert_int_eq(submission.kind, SUBMISSION_DIRECTORY);
    assert_source(&submission, "by answers");
    submission_release(&submission);
    put(LAB "/" SOURCE, "by name");
    submission = read_with(LAB, NULL, NULL);
    assert_source(&submission, "by name");
    submission_release(&submission);
    put("b/" SOURCE, "by option");
    put("b/answers.ini", "lab = another\n");
    put("c/" SOURCE, "in capitals");
    put("c/answers.ini", "LAB = Day17-Registers\n");
    submission = read_with("c", NULL, NULL);
    ck_assert_str_eq(submission.lab->id, LAB);
    submission_release(&submission);
    submission = read_with("b", NULL, LAB);
    assert_source(&submission, "by option");
    submission_release(&submission);
}
END_TEST

START_TEST(no_lab)
{
    put("a/" SOURCE, "x");
    put("b/answers.ini", "lab = day18-\x1b[1mother\n");
    put("c/answers.ini", "lab = " LAB "\nlab = " LAB "\n");
    put(LAB "/answers.ini", "lab = day18\n");
    put(LAB "/" SOURCE, "x");
    assert_refused("a", NULL, NULL, ERROR_USAGE, "name it with --lab ID; the labs are: " LAB);
    assert_refused("a", NULL, "day99", ERROR_USAGE, "there is no lab \"day99\"; the labs are: ");
    assert_refused("a", NULL, "", ERROR_USAGE, "there is no lab \"\"");
    assert_refused("b", NULL, NULL, ERROR_USAGE, "is for the lab \"day18-?[1mother\"");
    assert_refused("c", NULL, NULL, ERROR_USAGE, "cannot tell which lab");
    /* What the student says outweighs the folder's name, also when it is wrong. */
    assert_refused(LAB, NULL, NULL, ERROR_USAGE, "is for the lab \"day18\"");
}
END_TEST

START_TEST(no_folder)
{
    put("file", "x");
    assert_refused("nowhere", NULL, LAB, ERROR_USAGE, "there is no folder");
    assert_refused("file", NULL, LAB, ERROR_USAGE, "is not a folder");
    assert_refused("/dev/null", NULL, LAB, ERROR_USAGE, "is not a folder");
    assert_refused("nowhere", "HEAD", LAB, ERROR_USAGE, "there is no folder");
    support_folder(in_root("empty"));
    assert_refused("empty", NULL, LAB, ERROR_USAGE, "no " SOURCE " in ");
}
END_TEST

/* ---- Where the files lie --------------------------------------------------------------------- */

START_TEST(course_layout)
{
    static const char *const folders[] = {"course", "course/starter/" LAB, "course/exercises/" LAB,
                                          "course/starter/" LAB "/deep"};
    put("course/starter/" LAB "/" SOURCE, "starter's");
    put("course/exercises/" LAB "/answers.ini", "[build]\nnvcc = 12.6\n");
    support_folder(in_root("course/starter/" LAB "/deep"));
    for (size_t i = 0; i < COUNT_OF(folders); ++i) {
        struct submission submission = read_with(folders[i], NULL, LAB);
        assert_source(&submission, "starter's");
        ck_assert(submission.answers.usable);
        ck_assert_str_eq(answers_find(&submission.answers, "build", "nvcc")->value, "12.6");
        ck_assert_ptr_nonnull(strstr(submission.answers_path, "/course/exercises/" LAB "/"));
        submission_release(&submission);
    }
    /* The folder itself comes first, then the nearest. */
    put("course/starter/" LAB "/answers.ini", "[build]\nnvcc = 13.0\n");
    put("course/starter/" LAB "/deep/starter/" LAB "/" SOURCE, "nearest");
    struct submission submission = read_with("course/starter/" LAB "/deep", NULL, LAB);
    assert_source(&submission, "nearest");
    submission_release(&submission);
    submission = read_with("course/starter/" LAB, NULL, LAB);
    ck_assert_str_eq(answers_find(&submission.answers, "build", "nvcc")->value, "13.0");
    submission_release(&submission);
}
END_TEST

/* A student's clone inside the course's tree is a tree of its own: what the student did not hand in
 * is not taken from the teacher. */
/* Who edits the one that does not count has to hear of it. */
START_TEST(another_source_is_noticed)
{
    put("two/" SOURCE, "mine");
    put("two/starter/" LAB "/" SOURCE, "starter's");
    put("two/answers.ini", "lab = " LAB);
    put("two/exercises/" LAB "/answers.ini", "lab = " LAB);
    struct submission submission = read_with("two", NULL, LAB);
    assert_source(&submission, "mine");
    ck_assert_ptr_nonnull(strstr(submission.other_source, "/two/starter/" LAB "/" SOURCE));
    ck_assert_ptr_null(submission.other_answers); /* the same */
    submission_release(&submission);
    put("two/exercises/" LAB "/answers.ini", "lab = other");
    put("two/starter/" LAB "/" SOURCE, "mine");
    submission = read_with("two", NULL, LAB);
    ck_assert_ptr_null(submission.other_source);
    ck_assert_ptr_nonnull(strstr(submission.other_answers, "/two/exercises/" LAB "/answers.ini"));
    submission_release(&submission);
    /* From the second place, nothing was passed over. */
    submission = read_with("two/exercises", NULL, LAB);
    assert_source(&submission, "mine");
    ck_assert_ptr_null(submission.other_source);
    submission_release(&submission);
}
END_TEST

START_TEST(a_repository_is_a_tree)
{
    put("course/starter/" LAB "/" SOURCE, "starter's");
    put("course/exercises/" LAB "/answers.ini", "[question1]\nother_is = planned\n");
    put("course/students/ada/" SOURCE, "ada's");
    put("course/students/ada/.git/HEAD", "ref: refs/heads/main\n");
    put("course/students/bob/answers.ini", "lab = " LAB "\n");
    put("course/students/bob/.git/HEAD", "ref: refs/heads/main\n");
    struct submission submission = read_with("course/students/ada", NULL, LAB);
    assert_source(&submission, "ada's");
    ck_assert(!submission.answers.usable);
    ck_assert_ptr_null(submission.answers_path);
    submission_release(&submission);
    assert_refused("course/students/bob", NULL, NULL, ERROR_USAGE, "no " SOURCE " in ");
    /* The course's own repository still finds its own. */
    put("course/.git/HEAD", "ref: refs/heads/main\n");
    submission = read_with("course/exercises/" LAB, NULL, LAB);
    assert_source(&submission, "starter's");
    submission_release(&submission);
}
END_TEST

START_TEST(no_answers)
{
    put("a/" SOURCE, "x");
    struct submission submission = read_with("a", NULL, LAB);
    ck_assert(!submission.answers.usable);
    ck_assert_ptr_null(submission.answers_path);
    ck_assert_uint_eq(submission.answers.problem_count, 1);
    ck_assert_ptr_nonnull(strstr(submission.answers.problems[0], "there is no answers.ini"));
    submission_release(&submission);
}
END_TEST

/* ---- What is wrong with a file --------------------------------------------------------------- */

#define BYTES(text) text, sizeof(text) - 1

/* clang-format off */
static const struct {
    const char *data;
    size_t length, repeat;
    const char *problem; /* "": none */
} contents[] = {
    {BYTES("x"), 1, ""},
    {BYTES("\xef\xbb\xbf__global__ void k() {}\r\n"), 1, ""},
    {BYTES("0123456789abcdef"), LIMIT_SOURCE_BYTES / 16, ""},
    {BYTES("0123456789abcdef"), LIMIT_SOURCE_BYTES / 16 + 1, "is larger than 1048576 bytes"},
    {BYTES(""), 1, "is empty"},
    {BYTES("a\0b"), 1, "holds NUL bytes"},
    {BYTES("// caf\xe9\n"), 1, "is not UTF-8"},
    {BYTES("cut \xc3"), 1, "is not UTF-8"},
    {BYTES("\xff\xfeu\0t\0f\0"), 1, "holds NUL bytes"},
    {BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"), 1,
     "Git LFS pointer"},
};
/* clang-format on */

static struct bytes repeated(size_t row)
{
    struct bytes data = bytes_with_limit((size_t)2 << 20);
    for (size_t i = 0; i < contents[row].repeat; ++i)
        ck_assert_int_eq(bytes_append(&data, contents[row].data, contents[row].length), 0);
    return data;
}

static void assert_problem(const struct submission *submission, const char *problem)
{
    const struct submission_file *source = &submission->source;
    ck_assert_ptr_nonnull(source->path);
    if (problem[0] == '\0') {
        ck_assert_str_eq(source->problem, "");
        return;
    }
    ck_assert_msg(strstr(source->problem, problem) != NULL, "%s", source->problem);
    ck_assert_uint_eq(source->content.length, 0);
}

START_TEST(source_content)
{
    struct bytes data = repeated((size_t)_i);
    put_bytes("a/" SOURCE, data.data, data.length);
    struct submission submission = read_with("a", NULL, LAB);
    assert_problem(&submission, contents[_i].problem);
    submission_release(&submission);
    /* The same from a commit. */
    support_git_init(in_root("git"), false);
    const struct git_file file = {.path = SOURCE, .data = data.data, .length = data.length};
    support_git_commit(in_root("git"), &file, 1, NULL);
    submission = read_with("git", "HEAD", LAB);
    assert_problem(&submission, contents[_i].problem);
    submission_release(&submission);
    bytes_release(&data);
}
END_TEST

enum made { MADE_LINK, MADE_FIFO, MADE_FOLDER, MADE_LARGE, MADE_COUNT };

static void make(enum made what, const char *name)
{
    const char *path = in_root(name);
    switch (what) {
    case MADE_LINK:
        ck_assert_int_eq(symlink("/etc/passwd", path), 0);
        break;
    case MADE_FIFO:
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        break;
    case MADE_FOLDER:
        ck_assert_int_eq(mkdir(path, 0700), 0);
        break;
    case MADE_LARGE:
    case MADE_COUNT: {
        struct bytes data = bytes_with_limit((size_t)2 << 20);
        while (data.length <= LIMIT_SOURCE_BYTES)
            ck_assert_int_eq(bytes_append_text(&data, "; a remark\n"), 0);
        testing_write(path, data.data, data.length);
        bytes_release(&data);
        break;
    }
    }
}

START_TEST(odd_files)
{
    const char *problem = _i == MADE_LARGE ? "is larger than" : "is not a regular file";
    put("b/" SOURCE, "x");
    make((enum made)_i, "b/answers.ini");
    struct submission submission = read_with("b", NULL, LAB);
    assert_source(&submission, "x");
    ck_assert(!submission.answers.usable);
    ck_assert_uint_eq(submission.answers.problem_count, 1);
    ck_assert_msg(strstr(submission.answers.problems[0], problem) != NULL, "%s",
                  submission.answers.problems[0]);
    ck_assert_ptr_nonnull(submission.answers_path);
    submission_release(&submission);
    support_folder(in_root("a"));
    make((enum made)_i, "a/" SOURCE);
    submission = read_with("a", NULL, LAB);
    assert_problem(&submission, problem);
    submission_release(&submission);
}
END_TEST

static int read_as_nobody(void)
{
    struct submission submission;
    struct error err = {0};
    const struct submission_options options = {.directory = in_root("a"), .lab_id = LAB};
    if (geteuid() == 0 && (setgid(OTHER_USER) != 0 || setuid(OTHER_USER) != 0))
        return 77;
    if (submission_read(&submission, &options, &err) == 0)
        return 1;
    return err.kind == ERROR_INFRASTRUCTURE && strstr(err.text, "/a/" SOURCE) != NULL &&
                   strstr(err.text, "Permission denied") != NULL
               ? 0
               : 2;
}

START_TEST(unreadable_source)
{
    put("a/" SOURCE, "x");
    ck_assert_int_eq(chmod(in_root("a/" SOURCE), 0), 0);
    support_open_to_all();
    pid_t pid = fork();
    if (pid == 0)
        _exit(read_as_nobody());
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        TEST_SKIP("cannot change the user");
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* ---- Commits --------------------------------------------------------------------------------- */

#define PLAIN(name, text)                                                                          \
    {                                                                                              \
        .path = (name), .data = (text)                                                             \
    }

START_TEST(which_commit)
{
    const struct git_file first[] = {PLAIN(SOURCE, "first"), PLAIN("answers.ini", "lab = " LAB)};
    const struct git_file second[] = {PLAIN(SOURCE, "second"),
                                      PLAIN("answers.ini", "lab = " LAB "\n[build]\nnvcc = 13.0")};
    char ids[2][48], short_id[12];
    support_git_init(in_root("git"), false);
    support_git_commit(in_root("git"), first, COUNT_OF(first), ids[0]);
    support_git_tag(in_root("git"), "handin", "HEAD");
    support_git_commit(in_root("git"), second, COUNT_OF(second), ids[1]);
    /* The working tree has no say. */
    put("git/" SOURCE, "not committed");
    put("git/answers.ini", "lab = another\n");
    (void)snprintf(short_id, sizeof short_id, "%.9s", ids[0]);
    const struct {
        const char *revision;
        size_t commit;
    } rows[] = {{"HEAD", 1},   {"main", 1},   {"refs/heads/main", 1},
                {ids[1], 1},   {"HEAD~1", 0}, {"handin", 0},
                {short_id, 0}, {"main^", 0},  {"handin^{}", 0}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct submission submission = read_with("git", rows[i].revision, NULL);
        ck_assert_int_eq(submission.kind, SUBMISSION_GIT);
        assert_source(&submission, rows[i].commit == 0 ? "first" : "second");
        ck_assert_str_eq(submission.commit, ids[rows[i].commit]);
        ck_assert_ptr_nonnull(strstr(submission.chosen, rows[i].revision));
        ck_assert_int_eq(strncmp(submission.source.path, ids[rows[i].commit], 10), 0);
        ck_assert_str_eq(submission.source.path + 10, ":" SOURCE);
        ck_assert_int_eq(answers_find(&submission.answers, "build", "nvcc") != NULL,
                         rows[i].commit == 1);
        submission_release(&submission);
    }
}
END_TEST

START_TEST(no_commit)
{
    const struct git_file files[] = {PLAIN(SOURCE, "x")};
    static const char *const revisions[] = {"",
                                            "nothing",
                                            "HEAD~7",
                                            ("HEAD:" SOURCE),
                                            "HEAD^{tree}",
                                            "-x",
                                            "..",
                                            "0000000000000000000000000000000000000000"};
    support_git_init(in_root("git"), false);
    assert_refused("git", "HEAD", LAB, ERROR_USAGE, "there is no commit HEAD");
    support_git_commit(in_root("git"), files, COUNT_OF(files), NULL);
    for (size_t i = 0; i < COUNT_OF(revisions); ++i)
        assert_refused("git", revisions[i], LAB, ERROR_USAGE, "there is no commit");
    put("plain/" SOURCE, "x");
    assert_refused("plain", "HEAD", LAB, ERROR_USAGE, "no git repository");
}
END_TEST

START_TEST(bare_repository_and_subfolders)
{
    const struct git_file files[] = {
        PLAIN("starter/" LAB "/" SOURCE, "starter's"),
        PLAIN("exercises/" LAB "/answers.ini", "[build]\nnvcc = 12.6\n"),
        PLAIN("lab/" SOURCE, "lab's"),
        PLAIN("lab/answers.ini", "lab = " LAB),
    };
    support_git_init(in_root("bare.git"), true);
    support_git_commit(in_root("bare.git"), files, COUNT_OF(files), NULL);
    struct submission submission = read_with("bare.git", "main", LAB);
    assert_source(&submission, "starter's");
    ck_assert_str_eq(answers_find(&submission.answers, "build", "nvcc")->value, "12.6");
    submission_release(&submission);
    /* A folder of the working tree stands for the same folder of the commit. */
    support_git_init(in_root("git"), false);
    support_git_commit(in_root("git"), files, COUNT_OF(files), NULL);
    support_folder(in_root("git/lab"));
    support_folder(in_root("git/starter/" LAB));
    submission = read_with("git/lab", "main", NULL);
    assert_source(&submission, "lab's");
    ck_assert_str_eq(submission.source.path + 10, ":lab/" SOURCE);
    submission_release(&submission);
    submission = read_with("git/starter/" LAB, "main", NULL);
    assert_source(&submission, "starter's");
    ck_assert_str_eq(answers_find(&submission.answers, "build", "nvcc")->value, "12.6");
    submission_release(&submission);
}
END_TEST

START_TEST(odd_entries)
{
    static const struct {
        struct git_file file;
        const char *problem;
    } rows[] = {
        {{.path = SOURCE, .data = "/etc/passwd", .kind = GIT_FILE_LINK}, "is a symbolic link"},
        {{.path = SOURCE, .kind = GIT_FILE_NESTED}, "is a nested repository"},
        {{.path = SOURCE "/file", .data = "x"}, "is a folder"},
        {{.path = "starter", .kind = GIT_FILE_NESTED}, "lies in a nested repository"},
        {{.path = "starter/" LAB, .kind = GIT_FILE_NESTED}, "lies in a nested repository"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char name[16];
        (void)snprintf(name, sizeof name, "git%zu", i);
        support_git_init(in_root(name), false);
        support_git_commit(in_root(name), &rows[i].file, 1, NULL);
        struct submission submission = read_with(name, "HEAD", LAB);
        assert_problem(&submission, rows[i].problem);
        submission_release(&submission);
    }
    const struct git_file other = PLAIN("readme", "x");
    support_git_init(in_root("none"), false);
    support_git_commit(in_root("none"), &other, 1, NULL);
    assert_refused("none", "HEAD", LAB, ERROR_USAGE, "no " SOURCE " in ");
    put("none/" SOURCE, "not committed");
    assert_refused("none", "HEAD", LAB, ERROR_USAGE, "no " SOURCE " in ");
}
END_TEST

/* A clone that lacks objects is the grader's trouble, never the student's. */
START_TEST(lost_objects)
{
    const struct git_file files[] = {PLAIN(SOURCE, "source"), PLAIN("answers.ini", "lab = " LAB),
                                     PLAIN("starter/" LAB "/other", "x")};
    static const char *const lost[] = {"HEAD:" SOURCE, "HEAD:answers.ini"};
    for (size_t i = 0; i < COUNT_OF(lost); ++i) {
        char name[16];
        (void)snprintf(name, sizeof name, "git%zu", i);
        support_git_init(in_root(name), false);
        support_git_commit(in_root(name), files, COUNT_OF(files), NULL);
        support_git_lose(in_root(name), lost[i]);
        assert_refused(name, "HEAD", LAB, ERROR_INFRASTRUCTURE, "clone it again in full");
    }
    support_git_init(in_root("tree"), false);
    support_git_commit(in_root("tree"), files + 1, COUNT_OF(files) - 1, NULL);
    support_git_lose(in_root("tree"), "HEAD:starter");
    assert_refused("tree", "HEAD", LAB, ERROR_INFRASTRUCTURE, "clone it again in full");
    support_git_init(in_root("root"), false);
    support_git_commit(in_root("root"), files, COUNT_OF(files), NULL);
    support_git_lose(in_root("root"), "HEAD^{tree}");
    assert_refused("root", "HEAD", LAB, ERROR_INFRASTRUCTURE, "cannot read the tree of HEAD");
}
END_TEST

static int give_away(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return lchown(path, OTHER_USER, OTHER_USER);
}

START_TEST(foreign_repository)
{
    const struct git_file files[] = {PLAIN(SOURCE, "x")};
    if (geteuid() != 0)
        TEST_SKIP("only root can give a folder away");
    struct libraries here;
    libraries_ask(&here);
    if (strncmp(here.libgit2, "1.1.", 4) == 0)
        TEST_SKIP("libgit2 %s does not ask whose a folder is", here.libgit2);
    support_git_init(in_root("git"), false);
    support_git_commit(in_root("git"), files, COUNT_OF(files), NULL);
    if (nftw(in_root("git"), give_away, 16, FTW_PHYS) != 0)
        TEST_SKIP("cannot give a folder away");
    assert_refused("git", "HEAD", LAB, ERROR_USAGE, "safe.directory");
}
END_TEST

Suite *suite_submission(void)
{
    Suite *suite = suite_create("submission");
    TCase *tests = tcase_create("submission");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, which_lab);
    tcase_add_test(tests, no_lab);
    tcase_add_test(tests, no_folder);
    tcase_add_test(tests, course_layout);
    tcase_add_test(tests, another_source_is_noticed);
    tcase_add_test(tests, a_repository_is_a_tree);
    tcase_add_test(tests, no_answers);
    tcase_add_loop_test(tests, source_content, 0, COUNT_OF(contents));
    tcase_add_loop_test(tests, odd_files, 0, MADE_COUNT);
    tcase_add_test(tests, unreadable_source);
    tcase_add_test(tests, which_commit);
    tcase_add_test(tests, no_commit);
    tcase_add_test(tests, bare_repository_and_subfolders);
    tcase_add_test(tests, odd_entries);
    tcase_add_test(tests, lost_objects);
    tcase_add_test(tests, foreign_repository);
    suite_add_tcase(suite, tests);
    return suite;
}

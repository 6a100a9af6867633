/* check_repo_cache.c - what a fetch leaves and finds: caches that a kill or a disk broke, histories
 * that were rewritten, threads at the same cache; folders of others; requests. */
#include "support_repos.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/stat.h>

#include "files.h"
#include "libraries.h"

#define OTHER_USER 65534

static void write_in(const char *folder, const char *name, const char *content)
{
    AUTO_FREE char *path = path_join(folder, name);
    testing_write(path, content, strlen(content));
}

/* ---- Owners -----------------------------------------------------------------------------------
 */

static int give_away(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return lchown(path, OTHER_USER, OTHER_USER);
}

/* As git's own configuration trusts a folder; NULL: it says nothing. */
static const struct {
    const char *said; /* %s: the folder */
    bool trusted;
} owners[] = {
    {NULL, false},
    {"directory = %s", true},
    {"directory = %s/", true},
    {"directory = *", true},
    {"directory = %s/*", false},
    {"directory = /*", true},
    {"directory = %sx", false},
    {"directory = *\n\tdirectory =", false},
};

START_TEST(folders_of_others)
{
    if (!repos_have_git())
        TEST_SKIP("no git");
    if (geteuid() != 0)
        TEST_SKIP("only root can give a folder away");
    struct libraries here;
    libraries_ask(&here);
    if (strncmp(here.libgit2, "1.1.", 4) == 0)
        TEST_SKIP("libgit2 %s does not ask whose a folder is", here.libgit2);
    const char *path = repos_in("foreign"), *home = repos_in("home-of-it");
    AUTO_FREE char *config = path_join(home, ".gitconfig");
    repos_plain(path);
    if (nftw(path, give_away, 16, FTW_PHYS) != 0)
        TEST_SKIP("cannot give a folder away");
    (void)mkdir(home, 0700);
    ck_assert_int_eq(setenv("HOME", home, 1), 0);
    ck_assert_int_eq(setenv("XDG_CONFIG_HOME", home, 1), 0);
    for (size_t i = 0; i < COUNT_OF(owners); ++i) {
        struct bytes text = bytes_with_limit(4000);
        if (owners[i].said != NULL) {
            const char *place = strstr(owners[i].said, "%s");
            (void)bytes_printf(
                &text, "[safe]\n\t%.*s%s%s\n",
                place == NULL ? (int)strlen(owners[i].said) : (int)(place - owners[i].said),
                owners[i].said, place == NULL ? "" : path, place == NULL ? "" : place + 2);
        }
        testing_write(config, bytes_text(&text), text.length);
        struct repo_request request = repos_request(path);
        struct repo_answer answer = repos_fetch(&request);
        ck_assert_msg(answer.reason == (owners[i].trusted ? REPO_FINE : REPO_OWNER), "%s: %s: %s",
                      bytes_text(&text), repo_reason_word(answer.reason), answer.sentence);
        if (!owners[i].trusted) {
            ck_assert_ptr_nonnull(strstr(answer.sentence, "user (number 65534)"));
            ck_assert_ptr_nonnull(strstr(answer.sentence, "--add safe.directory"));
        }
        repo_answer_release(&answer);
        bytes_release(&text);
    }
}
END_TEST

/* ---- The cache --------------------------------------------------------------------------------
 */

static struct repo_answer fetch_fine(const struct repo_request *request, const char *content)
{
    struct repo_answer answer = repos_fetch(request);
    ck_assert_msg(answer.reason == REPO_FINE, "%s", answer.sentence);
    ck_assert_str_eq(bytes_text(&answer.files[0].content), content);
    return answer;
}

static int remove_packs(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)where;
    return type == FTW_F && strstr(path, "/pack-") != NULL ? unlink(path) : 0;
}

static int truncate_packs(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)where;
    if (type != FTW_F || strstr(path, ".pack") == NULL)
        return 0;
    return chmod(path, 0600) == 0 ? truncate(path, info->st_size / 2) : -1;
}

static void break_by_removing(const char *cache)
{
    ck_assert_int_eq(nftw(cache, remove_packs, 16, FTW_PHYS), 0);
}

static void break_by_truncating(const char *cache)
{
    ck_assert_int_eq(nftw(cache, truncate_packs, 16, FTW_PHYS), 0);
}

static void break_head(const char *cache)
{
    write_in(cache, "HEAD", "");
}

static void break_config(const char *cache)
{
    write_in(cache, "config", "[[[");
}

/* What kills leave. */
static void leave_locks(const char *cache)
{
    struct bytes output;
    ck_assert(repos_try_git(cache, NULL, &output, "for-each-ref", "--format=%(refname)",
                            "refs/spillway/now", NULL));
    output.data[strcspn(output.data, "\n")] = '\0';
    AUTO_FREE char *lock = NULL;
    ck_assert_int_gt(asprintf(&lock, "%s.lock", output.data), 0);
    write_in(cache, lock, "");
    write_in(cache, "objects/pack/pack_git2_abcdef", "half a pack");
    bytes_release(&output);
}

static void (*const breakers[])(const char *cache) = {
    break_by_removing, break_by_truncating, break_head, break_config, leave_locks,
};

START_TEST(a_broken_cache_is_mended)
{
    if (!repos_have_git())
        TEST_SKIP("no git");
    char path[400], cache[600];
    (void)snprintf(path, sizeof path, "%s", repos_in("mended-XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(path));
    repos_plain(path);
    struct repo_request request = repos_request(path);
    (void)snprintf(cache, sizeof cache, "%s", request.cache);
    request.cache = cache;
    struct repo_answer answer = fetch_fine(&request, "first\n");
    repo_answer_release(&answer);
    breakers[_i](cache);
    answer = fetch_fine(&request, "first\n");
    repo_answer_release(&answer);
    breakers[_i](cache);
    repos_commit(path, REPOS_SOURCE, "second\n", NULL);
    answer = fetch_fine(&request, "second\n");
    repo_answer_release(&answer);
    AUTO_FREE char *rest = path_join(cache, "objects/pack/pack_git2_abcdef");
    ck_assert_int_ne(access(rest, F_OK), 0);
}
END_TEST

/* Of a force-push it is known for good; and what was graded before stays. */
/* A cache that cannot be opened is ours, and no student's fault. */
START_TEST(a_cache_without_access)
{
    if (!repos_have_git())
        TEST_SKIP("no git");
    char path[400];
    struct error err = {0};
    struct repo_answer answer;
    (void)snprintf(path, sizeof path, "%s", repos_in("closed-cache"));
    repos_plain(path);
    struct repo_request request = repos_request(path);
    repo_fetcher_use(testing_binary());
    (void)umask(0777); /* what is made in the cache cannot be read by who made it */
    struct repo_fetcher *fetcher = repo_fetcher_open(NULL, &err);
    ck_assert_msg(fetcher != NULL, "%s", err.text);
    int status = repo_fetch(fetcher, &request, &answer, &err);
    repo_fetcher_close(fetcher);
    (void)umask(022);
    if (status == 0 && answer.reason == REPO_FINE) {
        repo_answer_release(&answer);
        TEST_SKIP("who runs this may read everything");
    }
    ck_assert_msg(status == -1, "%s", answer.sentence);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, request.cache) != NULL, "%s", err.text);
    ck_assert_int_eq(chmod(request.cache, 0700), 0);
}
END_TEST

START_TEST(rewritten_history)
{
    if (!repos_have_git())
        TEST_SKIP("no git");
    char path[400], before[41];
    (void)snprintf(path, sizeof path, "%s", repos_in("rewritten"));
    repos_plain(path);
    repos_id(path, "HEAD", before);
    struct repo_request request = repos_request(path);
    struct repo_answer answer = fetch_fine(&request, "first\n");
    ck_assert_uint_eq(answer.flags, 0);
    repo_answer_release(&answer);
    repos_git(path, NULL, "commit", "-q", "--amend", "-m", "other words", NULL);
    repos_commit(path, REPOS_SOURCE, "second\n", NULL);
    for (int i = 0; i < 2; ++i) {
        answer = fetch_fine(&request, "second\n");
        ck_assert_uint_eq(answer.flags, 1u << REPO_FLAG_REWRITTEN);
        ck_assert_ptr_nonnull(
            strstr(answer.flag_text[REPO_FLAG_REWRITTEN], "1 earlier tip is no longer in it"));
        repo_answer_release(&answer);
    }
    repos_git(request.cache, NULL, "cat-file", "commit", before, NULL);
}
END_TEST

/* Two members of a group at the same moment. */
static void *fetch_in_thread(void *context)
{
    const struct repo_request *request = context;
    struct repo_options options = {.attempts = 1};
    struct error err = {0};
    struct repo_fetcher *fetcher = repo_fetcher_open(&options, &err);
    intptr_t fine = 0;
    for (int i = 0; fetcher != NULL && i < 10; ++i) {
        struct repo_answer answer;
        if (repo_fetch(fetcher, request, &answer, &err) != 0)
            break;
        fine += answer.reason == REPO_FINE && answer.files[0].content.length == 6;
        repo_answer_release(&answer);
    }
    repo_fetcher_close(fetcher);
    return (void *)fine; // NOLINT(performance-no-int-to-ptr)
}

START_TEST(one_cache_for_many_threads)
{
    if (!repos_have_git())
        TEST_SKIP("no git");
    char path[400];
    pthread_t threads[4];
    (void)snprintf(path, sizeof path, "%s", repos_in("shared"));
    repos_plain(path);
    repo_fetcher_use(testing_binary());
    struct repo_request request = repos_request(path);
    for (size_t i = 0; i < COUNT_OF(threads); ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fetch_in_thread, &request), 0);
    for (size_t i = 0; i < COUNT_OF(threads); ++i) {
        void *fine = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &fine), 0);
        ck_assert_int_eq((intptr_t)fine, 10);
    }
}
END_TEST

/* A repo that keeps its readers waiting costs its own row. */
START_TEST(a_pipe_instead_of_a_file)
{
    static const char *const files[] = {".git/HEAD", ".git/config", ".git/packed-refs",
                                        ".git/objects/info/alternates"};
    if (!repos_have_git())
        TEST_SKIP("no git");
    const struct repo_options options = {.silence_ns = 300000000, .attempts = 1};
    for (size_t i = 0; i < COUNT_OF(files); ++i) {
        char name[40];
        (void)snprintf(name, sizeof name, "pipe-%zu", i);
        const char *path = repos_in(name);
        repos_plain(path);
        AUTO_FREE char *pipe = path_join(path, files[i]);
        (void)unlink(pipe);
        ck_assert_int_eq(mkfifo(pipe, 0644), 0);
        struct repo_request request = repos_request(path);
        struct repo_answer answer = repos_fetch_with(&request, &options);
        /* Some it never opens, since they are no files. */
        ck_assert_msg(answer.reason != REPO_CRASHED, "%s: %s", files[i], answer.sentence);
        repo_answer_release(&answer);
    }
}
END_TEST

/* ---- Requests ---------------------------------------------------------------------------------
 */

START_TEST(folder_by_path)
{
    static const char *const paths[] = {"homework/day17", "/homework/day17/", "./homework/day17"};
    if (!repos_have_git())
        TEST_SKIP("no git");
    const char *path = repos_in("by-path");
    repos_init(path);
    repos_commit(path, "starter/" REPOS_LAB "/" REPOS_SOURCE, "starter's\n", NULL);
    repos_commit(path, "exercises/" REPOS_LAB "/answers.ini", "lab = x\n", NULL);
    repos_commit(path, "homework/day17/" REPOS_SOURCE, "homework\n", NULL);
    repos_commit(path, "homework/day17/answers.ini", "lab = y\n", NULL);
    for (size_t i = 0; i < COUNT_OF(paths); ++i) {
        struct repo_request request = repos_request(path);
        request.path = paths[i];
        struct repo_answer answer = fetch_fine(&request, "homework\n");
        ck_assert_str_eq(answer.files[0].path, "homework/day17/" REPOS_SOURCE);
        ck_assert_str_eq(bytes_text(&answer.files[1].content), "lab = y\n");
        repo_answer_release(&answer);
    }
    struct repo_request request = repos_request(path);
    struct repo_answer answer = fetch_fine(&request, "starter's\n");
    ck_assert_str_eq(bytes_text(&answer.files[1].content), "lab = x\n");
    repo_answer_release(&answer);
}
END_TEST

START_TEST(requests_that_cannot_be)
{
    struct error err = {0};
    repo_fetcher_use(testing_binary());
    struct repo_fetcher *fetcher = repo_fetcher_open(NULL, &err);
    ck_assert_ptr_nonnull(fetcher);
    char long_name[300];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    for (int i = 0; i < 3; ++i) {
        struct repo_request request = repos_request(i == 0 ? "ftp://example.org/x" : "/nowhere");
        struct repo_answer answer;
        request.ref = i == 1 ? long_name : NULL;
        request.wanted_count = i == 2 ? REPO_FILES_MAX + 1 : 1;
        ck_assert_int_eq(repo_fetch(fetcher, &request, &answer, &err), -1);
        ck_assert_int_eq(err.kind, ERROR_USAGE);
        err = (struct error){0};
    }
    repo_fetcher_close(fetcher);
    repo_fetcher_close(NULL);
}
END_TEST

Suite *suite_repo_cache(void)
{
    Suite *suite = suite_create("repo_cache");
    TCase *tests = tcase_create("repo_cache");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, folders_of_others);
    tcase_add_loop_test(tests, a_broken_cache_is_mended, 0, COUNT_OF(breakers));
    tcase_add_test(tests, a_cache_without_access);
    tcase_add_test(tests, rewritten_history);
    tcase_add_test(tests, one_cache_for_many_threads);
    tcase_add_test(tests, a_pipe_instead_of_a_file);
    tcase_add_test(tests, folder_by_path);
    tcase_add_test(tests, requests_that_cannot_be);
    suite_add_tcase(suite, tests);
    return suite;
}

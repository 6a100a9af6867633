/* check_repo_publish.c - feedback as a commit on one branch, by every way there is. */
#include "support_repos.h"
#include "support_server.h"

#include <sys/stat.h>

#include "files.h"
#include "repo_publish.h"

struct scene {
    char root[400];    /* holds ann.git (bare) and work (a clone of it) */
    char bare[500];    /* what is looked at */
    char address[700]; /* what is published to */
    struct server_ssh ssh;
    struct repo_options options;
};

static const char *const ways[] = {"path", "work tree", "file URL", "git daemon", "http", "ssh"};

static void make_repos(struct scene *scene)
{
    *scene = (struct scene){.options = {.backoff_ns = 1000000, .attempts = 2}};
    (void)snprintf(scene->root, sizeof scene->root, "%s", repos_in("class-XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(scene->root));
    (void)snprintf(scene->bare, sizeof scene->bare, "%s/ann.git", scene->root);
    AUTO_FREE char *work = path_join(scene->root, "work");
    repos_git("/", NULL, "init", "-q", "--bare", "-b", "main", scene->bare, NULL);
    repos_git("/", NULL, "clone", "-q", scene->bare, work, NULL);
    repos_git(work, NULL, "checkout", "-q", "-B", "main", NULL);
    repos_commit(work, REPOS_SOURCE, "first\n", NULL);
    repos_git(work, NULL, "push", "-q", "origin", "main", NULL);
}

/* False: this way is not there. */
static bool make_scene(struct scene *scene, size_t way)
{
    make_repos(scene);
    switch (way) {
    case 1: /* the student's own clone is what the roster names */
        (void)snprintf(scene->bare, sizeof scene->bare, "%s/work", scene->root);
        /* fall through */
    case 0:
        (void)snprintf(scene->address, sizeof scene->address, "%s", scene->bare);
        return true;
    case 2:
        (void)snprintf(scene->address, sizeof scene->address, "file://%s", scene->bare);
        return true;
    case 3:
        (void)snprintf(scene->address, sizeof scene->address, "git://127.0.0.1:%u/ann.git",
                       server_git(scene->root));
        return true;
    case 4:
        (void)snprintf(scene->address, sizeof scene->address, "http://127.0.0.1:%u/ann.git",
                       server_http(SERVER_PASSWORD, scene->root, NULL));
        ck_assert_int_eq(setenv("SPILLWAY_GIT_TOKEN", SERVER_TOKEN, 1), 0);
        ck_assert_int_eq(setenv("SPILLWAY_GIT_TOKEN_HOST", "127.0.0.1", 1), 0);
        return true;
    default:
        if (!server_ssh(&scene->ssh))
            return false;
        (void)snprintf(scene->address, sizeof scene->address, "ssh://127.0.0.1:%u%s",
                       scene->ssh.port, scene->bare);
        scene->options.ssh_config = scene->ssh.config;
        scene->options.ssh_key = scene->ssh.key;
        return true;
    }
}

static struct repo_published publish(const struct scene *scene, const char *lab, const char *text)
{
    const struct repo_publish_file files[] = {{"feedback.txt", text, strlen(text)},
                                              {"result.json", "{}\n", 3}};
    AUTO_FREE char *cache = repo_cache_folder(testing_temporary_folder(), scene->address);
    const struct repo_publication publication = {.address = scene->address,
                                                 .cache = cache,
                                                 .lab_id = lab,
                                                 .now_s = REPOS_NOW,
                                                 .files = files,
                                                 .file_count = COUNT_OF(files)};
    struct error err = {0};
    struct repo_published published;
    repo_fetcher_use(testing_binary());
    struct repo_fetcher *fetcher = repo_fetcher_open(&scene->options, &err);
    ck_assert_msg(fetcher != NULL, "%s", err.text);
    ck_assert_msg(repo_publish(fetcher, &publication, &published, &err) == 0, "%s", err.text);
    repo_fetcher_close(fetcher);
    return published;
}

static void assert_published(const struct scene *scene, const struct repo_published *published,
                             bool unchanged)
{
    char id[41];
    ck_assert_msg(published->reason == REPO_FINE, "%s: %s", scene->address, published->sentence);
    ck_assert_int_eq(published->unchanged, unchanged);
    repos_id(scene->bare, "refs/heads/feedback", id);
    ck_assert_str_eq(published->commit, id);
}

static void assert_content(const struct scene *scene, const char *path, const char *expected)
{
    struct bytes output;
    AUTO_FREE char *spec = NULL;
    ck_assert_int_gt(asprintf(&spec, "feedback:%s", path), 0);
    ck_assert_msg(repos_try_git(scene->bare, NULL, &output, "cat-file", "blob", spec, NULL), "%s",
                  bytes_text(&output));
    ck_assert_str_eq(bytes_text(&output), expected);
    bytes_release(&output);
}

/* Number of commits on the branch. */
static unsigned long commits(const struct scene *scene)
{
    struct bytes output;
    ck_assert(repos_try_git(scene->bare, NULL, &output, "rev-list", "--count", "feedback", NULL));
    unsigned long count = strtoul(output.data, NULL, 10);
    bytes_release(&output);
    return count;
}

/* Every ref but the branch itself, with what it names. */
static struct bytes other_refs(const struct scene *scene)
{
    struct bytes output, kept = bytes_with_limit(65536);
    ck_assert(repos_try_git(scene->bare, NULL, &output, "for-each-ref", NULL));
    char *rest = output.data;
    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;)
        if (strstr(line, "refs/heads/feedback") == NULL)
            (void)bytes_printf(&kept, "%s\n", line);
    bytes_release(&output);
    return kept;
}

/* A pipe in the branch's place is no reason to wait. */
START_TEST(a_branch_that_is_no_file)
{
    struct scene scene;
    if (!repos_have_git())
        TEST_SKIP("no git");
    ck_assert(make_scene(&scene, 0));
    AUTO_FREE char *branch = path_join(scene.bare, "refs/heads/feedback");
    ck_assert_int_eq(mkfifo(branch, 0644), 0);
    struct repo_published published = publish(&scene, REPOS_LAB, "one\n");
    ck_assert_msg(published.reason == REPO_DAMAGED, "%s", published.sentence);
    ck_assert_msg(strstr(published.sentence, "refs/heads/feedback is a pipe") != NULL, "%s",
                  published.sentence);
}
END_TEST

START_TEST(round_trip)
{
    struct scene scene;
    if (!repos_have_git())
        TEST_SKIP("no git");
    if (!make_scene(&scene, (size_t)_i))
        TEST_SKIP("no %s here", ways[_i]);
    struct bytes before = other_refs(&scene);
    struct repo_published published = publish(&scene, REPOS_LAB, "well done\n");
    assert_published(&scene, &published, false);
    assert_content(&scene, REPOS_LAB "/feedback.txt", "well done\n");
    assert_content(&scene, REPOS_LAB "/result.json", "{}\n");
    ck_assert_uint_eq(commits(&scene), 1);
    /* Again: nothing. */
    published = publish(&scene, REPOS_LAB, "well done\n");
    assert_published(&scene, &published, true);
    ck_assert_uint_eq(commits(&scene), 1);
    /* Other words: one more commit on top. Another lab: beside it. */
    published = publish(&scene, REPOS_LAB, "better\n");
    assert_published(&scene, &published, false);
    published = publish(&scene, "pitfalls", "good\n");
    assert_published(&scene, &published, false);
    assert_content(&scene, REPOS_LAB "/feedback.txt", "better\n");
    assert_content(&scene, "pitfalls/feedback.txt", "good\n");
    ck_assert_uint_eq(commits(&scene), 3);
    struct bytes after = other_refs(&scene);
    ck_assert_str_eq(bytes_text(&after), bytes_text(&before));
    bytes_release(&before);
    bytes_release(&after);
    struct bytes output;
    ck_assert(repos_try_git(scene.bare, NULL, &output, "fsck", "--strict", NULL));
    bytes_release(&output);
    ck_assert(repos_try_git(scene.bare, NULL, &output, "log", "-1", "--format=%an %ct %s",
                            "feedback", NULL));
    ck_assert_str_eq(bytes_text(&output), "Spillway 1780000000 Feedback on pitfalls [skip ci]\n");
    bytes_release(&output);
}
END_TEST

/* What the student put on the branch stays, and so does its history. */
START_TEST(on_top_of_others)
{
    struct scene scene;
    char before[41], after[41];
    if (!repos_have_git())
        TEST_SKIP("no git");
    if (!make_scene(&scene, (size_t)_i))
        TEST_SKIP("no %s here", ways[_i]);
    (void)publish(&scene, REPOS_LAB, "first\n");
    AUTO_FREE char *other = path_join(scene.root, "other");
    repos_git("/", NULL, "clone", "-q", "-b", "feedback", scene.bare, other, NULL);
    repos_commit(other, "thanks.txt", "thank you\n", NULL);
    repos_git(other, NULL, "push", "-q", "origin", "feedback", NULL);
    repos_id(scene.bare, "feedback", before);
    struct repo_published published = publish(&scene, REPOS_LAB, "second\n");
    assert_published(&scene, &published, false);
    repos_id(scene.bare, "feedback^", after);
    ck_assert_str_eq(after, before);
    assert_content(&scene, "thanks.txt", "thank you\n");
    assert_content(&scene, REPOS_LAB "/feedback.txt", "second\n");
}
END_TEST

static void refused(const struct scene *scene, enum repo_reason reason, const char *words)
{
    struct repo_published published = publish(scene, REPOS_LAB, "x\n");
    ck_assert_msg(published.reason == reason, "%s: %s: %s", scene->address,
                  repo_reason_word(published.reason), published.sentence);
    ck_assert_msg(strstr(published.sentence, words) != NULL, "%s", published.sentence);
    ck_assert_str_eq(published.commit, "");
}

/* The branch that somebody stands on; and none that would become the first, and so the default. */
START_TEST(never_the_default_branch)
{
    struct scene scene;
    if (!repos_have_git())
        TEST_SKIP("no git");
    if (!make_scene(&scene, (size_t)_i))
        TEST_SKIP("no %s here", ways[_i]);
    repos_git(scene.bare, NULL, "branch", "-m", "main", "feedback", NULL);
    repos_git(scene.bare, NULL, "symbolic-ref", "HEAD", "refs/heads/feedback", NULL);
    refused(&scene, REPO_EMPTY, "no branch beside");
    repos_git(scene.bare, NULL, "branch", "work", "feedback", NULL);
    refused(&scene, REPO_NO_BRANCH, "default");
    ck_assert_uint_eq(commits(&scene), 1);
}
END_TEST

START_TEST(other_refusals)
{
    struct scene scene;
    if (!repos_have_git())
        TEST_SKIP("no git");
    /* A server that hands out but takes nothing. */
    make_repos(&scene);
    (void)snprintf(scene.address, sizeof scene.address, "http://127.0.0.1:%u/ann.git",
                   server_http(SERVER_PASSWORD, scene.root, NULL));
    refused(&scene, REPO_NO_ACCESS, "credential");
    /* A hook or a rule of the server. */
    AUTO_FREE char *hook = path_join(scene.bare, "hooks/update");
    static const char says_no[] = "#!/bin/sh\nexit 1\n";
    testing_write(hook, says_no, sizeof says_no - 1);
    ck_assert_int_eq(chmod(hook, 0755), 0);
    (void)snprintf(scene.address, sizeof scene.address, "git://127.0.0.1:%u/ann.git",
                   server_git(scene.root));
    refused(&scene, REPO_NO_BRANCH, "hook declined");
    /* Another program's lock, or what is left of it. */
    AUTO_FREE char *locked = path_join(scene.bare, "refs/heads/feedback.lock");
    testing_write(locked, "", 0);
    (void)snprintf(scene.address, sizeof scene.address, "%s", scene.bare);
    refused(&scene, REPO_NO_BRANCH, "left the file refs/heads/feedback.lock");
    ck_assert_int_eq(unlink(locked), 0);
    /* Nothing to give feedback on. */
    (void)snprintf(scene.bare, sizeof scene.bare, "%s/empty.git", scene.root);
    (void)snprintf(scene.address, sizeof scene.address, "git://127.0.0.1:%u/empty.git",
                   server_git(scene.root));
    repos_git("/", NULL, "init", "-q", "--bare", scene.bare, NULL);
    refused(&scene, REPO_EMPTY, "empty");
    (void)snprintf(scene.address, sizeof scene.address, "%s", scene.bare);
    refused(&scene, REPO_EMPTY, "no branch beside");
    ck_assert(!repos_try_git(scene.bare, NULL, NULL, "rev-parse", "-q", "--verify",
                             "refs/heads/feedback", NULL));
    (void)snprintf(scene.address, sizeof scene.address, "%s/nobody.git", scene.root);
    refused(&scene, REPO_NOT_FOUND, "no folder");
    (void)snprintf(scene.address, sizeof scene.address, "%s", scene.root);
    refused(&scene, REPO_NOT_GIT, "no git repo");
}
END_TEST

START_TEST(odd_names)
{
    static const char *const names[] = {"", ".", "..", ".git", ".GIT", ".gitmodules", "a/b"};
    struct error err = {0};
    repo_fetcher_use(testing_binary());
    struct repo_fetcher *fetcher = repo_fetcher_open(NULL, &err);
    ck_assert_ptr_nonnull(fetcher);
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        const struct repo_publish_file file = {names[i], "x", 1};
        struct repo_publication publication = {.address = "/nowhere",
                                               .cache = repos_in("cache"),
                                               .lab_id = REPOS_LAB,
                                               .files = &file,
                                               .file_count = 1};
        struct repo_published published;
        ck_assert_int_eq(repo_publish(fetcher, &publication, &published, &err), -1);
        ck_assert_int_eq(err.kind, ERROR_USAGE);
        err = (struct error){0};
        publication.lab_id = names[i];
        ck_assert_int_eq(repo_publish(fetcher, &publication, &published, &err), -1);
        err = (struct error){0};
    }
    repo_fetcher_close(fetcher);
}
END_TEST

Suite *suite_repo_publish(void)
{
    Suite *suite = suite_create("repo_publish");
    TCase *tests = tcase_create("repo_publish");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_branch_that_is_no_file);
    tcase_add_loop_test(tests, round_trip, 0, COUNT_OF(ways));
    tcase_add_loop_test(tests, on_top_of_others, 0, COUNT_OF(ways));
    tcase_add_loop_test(tests, never_the_default_branch, 0, COUNT_OF(ways));
    tcase_add_test(tests, other_refusals);
    tcase_add_test(tests, odd_names);
    suite_add_tcase(suite, tests);
    return suite;
}

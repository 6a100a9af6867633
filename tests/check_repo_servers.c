/* check_repo_servers.c - repos behind real servers on loopback: git daemon, git http-backend, sshd;
 * servers that are silent, hang up, refuse or send on; credentials that go where they should. */
#include "support_repos.h"
#include "support_server.h"

#include <errno.h>
#include <sys/stat.h>

#include "files.h"
#include "repo_ssh.h"

/* A bare repo at ROOT/ann.git, with one commit, and a clone at ROOT/work to push from. */
static void make_class(char root[400])
{
    (void)snprintf(root, 400, "%s", repos_in("class-XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(root));
    AUTO_FREE char *bare = path_join(root, "ann.git"), *work = path_join(root, "work");
    AUTO_FREE char *empty = path_join(root, "empty.git");
    repos_git("/", NULL, "init", "-q", "--bare", "-b", "main", bare, NULL);
    repos_git("/", NULL, "init", "-q", "--bare", "-b", "main", empty, NULL);
    repos_git("/", NULL, "clone", "-q", bare, work, NULL);
    repos_git(work, NULL, "checkout", "-q", "-B", "main", NULL);
    repos_commit(work, REPOS_SOURCE, "first\n", NULL);
    repos_git(work, NULL, "push", "-q", "origin", "main", NULL);
}

static void push_more(const char *root, const char *content)
{
    AUTO_FREE char *work = path_join(root, "work");
    repos_commit(work, REPOS_SOURCE, content, NULL);
    repos_git(work, NULL, "push", "-q", "origin", "main", NULL);
}

static void assert_fine(const struct repo_answer *answer, const char *content)
{
    ck_assert_msg(answer->reason == REPO_FINE, "%s: %s", repo_reason_word(answer->reason),
                  answer->sentence);
    ck_assert_str_eq(bytes_text(&answer->files[0].content), content);
    ck_assert_str_eq(answer->ref, "refs/heads/main");
}

/* First all of it, then nothing, then what is new, then what is left after a force-push. */
static void fetch_round(const char *root, const char *address, const struct repo_options *options)
{
    AUTO_FREE char *work = path_join(root, "work");
    struct repo_request request = repos_request(address);
    struct repo_answer answer = repos_fetch_with(&request, options), again;
    char state[41];
    assert_fine(&answer, "first\n");
    ck_assert_uint_eq(answer.received_objects, 3);
    (void)snprintf(state, sizeof state, "%s", answer.state);
    repo_answer_release(&answer);
    request.known_state = state;
    again = repos_fetch_with(&request, options);
    ck_assert(again.unchanged);
    repo_answer_release(&again);
    push_more(root, "second\n");
    answer = repos_fetch_with(&request, options);
    assert_fine(&answer, "second\n");
    ck_assert_uint_eq(answer.received_objects, 3);
    ck_assert_uint_eq(answer.flags, 0);
    repo_answer_release(&answer);
    repos_git(work, NULL, "reset", "-q", "--hard", "HEAD~1", NULL);
    repos_commit(work, REPOS_SOURCE, "rewritten\n", NULL);
    repos_git(work, NULL, "push", "-q", "--force", "origin", "main", NULL);
    answer = repos_fetch_with(&request, options);
    assert_fine(&answer, "rewritten\n");
    ck_assert_uint_eq(answer.flags, 1u << REPO_FLAG_REWRITTEN);
    repo_answer_release(&answer);
}

static const struct repo_options quick = {
    .backoff_ns = 1000000, .silence_ns = INT64_C(30000000000), .attempts = 2};

START_TEST(by_git_daemon)
{
    char root[400], address[600];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    unsigned port = server_git(root);
    (void)snprintf(address, sizeof address, "git://127.0.0.1:%u/ann.git", port);
    fetch_round(root, address, &quick);
}
END_TEST

START_TEST(by_http)
{
    char root[400], address[600];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    unsigned port = server_http(SERVER_PLAIN, root, NULL);
    (void)snprintf(address, sizeof address, "http://127.0.0.1:%u/ann.git", port);
    fetch_round(root, address, &quick);
}
END_TEST

START_TEST(by_ssh)
{
    char root[400], address[600];
    struct server_ssh server;
    if (!repos_have_git() || !server_ssh(&server))
        TEST_SKIP("no git or no sshd");
    make_class(root);
    struct repo_options options = quick;
    options.ssh_config = server.config;
    options.ssh_key = server.key;
    (void)snprintf(address, sizeof address, "ssh://127.0.0.1:%u%s/ann.git", server.port, root);
    fetch_round(root, address, &options);
}
END_TEST

/* ---- Trouble ----------------------------------------------------------------------------------
 */

static const struct {
    enum server_http kind;
    const char *path;
    enum repo_reason reason;
    const char *words;
    unsigned attempts;
} troubles[] = {
    {SERVER_PLAIN, "nobody.git", REPO_NOT_FOUND, "knows no such repo", 1},
    {SERVER_PLAIN, "empty.git", REPO_EMPTY, "not one commit", 1},
    {SERVER_PASSWORD, "ann.git", REPO_NO_ACCESS, "asks for a credential", 1},
    {SERVER_SILENT, "ann.git", REPO_SILENT, "silent for 1 seconds", 2},
    {SERVER_DRIPS, "ann.git", REPO_SILENT, "seconds", 2},
    {SERVER_HANGS_UP, "ann.git", REPO_NETWORK, "broke off", 2},
    {SERVER_STATUS, "403/ann.git", REPO_NO_ACCESS, "HTTP 403", 1},
    {SERVER_STATUS, "404/ann.git", REPO_NOT_FOUND, "HTTP 404", 1},
    {SERVER_STATUS, "410/ann.git", REPO_NOT_FOUND, "HTTP 410", 1},
    {SERVER_STATUS, "429/ann.git", REPO_NETWORK, "HTTP 429", 2},
    {SERVER_STATUS, "503/ann.git", REPO_NETWORK, "503", 2},
    {SERVER_PAGE, "ann.git", REPO_NOT_GIT, "no git server", 1},
    {SERVER_DUMB, "ann.git", REPO_NOT_GIT, "smart protocol", 1},
};

START_TEST(trouble_by_http)
{
    char root[400], address[600];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    /* The small answers go through whole. */
    for (int i = 0; troubles[_i].kind == SERVER_HANGS_UP && i < 20; ++i) {
        char branch[40];
        AUTO_FREE char *bare = path_join(root, "ann.git");
        (void)snprintf(branch, sizeof branch, "branch-number-%d", i);
        repos_git(bare, NULL, "branch", branch, "main", NULL);
    }
    unsigned port = server_http(troubles[_i].kind, root, NULL);
    (void)snprintf(address, sizeof address, "http://127.0.0.1:%u/%s", port, troubles[_i].path);
    struct repo_options options = quick;
    if (troubles[_i].reason == REPO_SILENT)
        options.silence_ns = INT64_C(1000000000);
    struct repo_request request = repos_request(address);
    struct repo_answer answer = repos_fetch_with(&request, &options);
    ck_assert_msg(answer.reason == troubles[_i].reason, "%s %s: %s: %s", address, troubles[_i].path,
                  repo_reason_word(answer.reason), answer.sentence);
    ck_assert_msg(strstr(answer.sentence, troubles[_i].words) != NULL, "%s", answer.sentence);
    ck_assert_msg(strstr(answer.sentence, repo_reason_mend(answer.reason)) != NULL, "%s",
                  answer.sentence);
    ck_assert_uint_eq(answer.attempts, troubles[_i].attempts);
    repo_answer_release(&answer);
}
END_TEST

/* ---- Repos that are no good, on a server ------------------------------------------------------
 */

static void serve_sha256(const char *root)
{
    AUTO_FREE char *work = path_join(root, "sha256"), *bare = path_join(root, "bad.git");
    repos_git("/", NULL, "init", "-q", "-b", "main", "--object-format=sha256", work, NULL);
    repos_commit(work, REPOS_SOURCE, "x", NULL);
    repos_git("/", NULL, "clone", "-q", "--bare", work, bare, NULL);
}

static void serve_shallow(const char *root)
{
    AUTO_FREE char *url = NULL, *bare = path_join(root, "bad.git");
    push_more(root, "second\n");
    ck_assert_int_gt(asprintf(&url, "file://%s/ann.git", root), 0);
    repos_git("/", NULL, "clone", "-q", "--bare", "--depth", "1", url, bare, NULL);
}

static void serve_lost(const char *root)
{
    char id[41];
    AUTO_FREE char *work = path_join(root, "work"), *bare = path_join(root, "bad.git");
    AUTO_FREE char *path = NULL;
    repos_id(work, "HEAD:" REPOS_SOURCE, id);
    repos_git("/", NULL, "clone", "-q", "--bare", "--no-hardlinks", work, bare, NULL);
    ck_assert_int_gt(asprintf(&path, "%s/objects/%.2s/%s", bare, id, id + 2), 0);
    ck_assert_int_eq(unlink(path), 0);
}

static void serve_unborn(const char *root)
{
    AUTO_FREE char *work = path_join(root, "work"), *bare = path_join(root, "bad.git");
    repos_git("/", NULL, "clone", "-q", "--bare", work, bare, NULL);
    repos_git(bare, NULL, "symbolic-ref", "HEAD", "refs/heads/trunk", NULL);
    repos_git(bare, NULL, "branch", "other", "main", NULL);
}

static const struct {
    void (*serve)(const char *root);
    enum repo_reason reason;
    const char *words;
} served[] = {
    {serve_sha256, REPO_SHA256, "SHA-256"},
    {serve_shallow, REPO_SHALLOW, "shallow clone"},
    {serve_lost, REPO_DAMAGED, "missing or corrupt"},
    {serve_unborn, REPO_NO_REF, "the branches are main, other"},
};

START_TEST(no_good_on_a_server)
{
    char root[400], address[600];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    served[_i].serve(root);
    unsigned port = server_git(root);
    for (int http = 0; http < 2; ++http) {
        if (http)
            port = server_http(SERVER_PLAIN, root, NULL);
        (void)snprintf(address, sizeof address, "%s://127.0.0.1:%u/bad.git", http ? "http" : "git",
                       port);
        struct repo_request request = repos_request(address);
        struct repo_answer answer = repos_fetch_with(&request, &quick);
        ck_assert_msg(answer.reason == served[_i].reason, "%s: %s: %s", address,
                      repo_reason_word(answer.reason), answer.sentence);
        ck_assert_msg(strstr(answer.sentence, served[_i].words) != NULL, "%s", answer.sentence);
        repo_answer_release(&answer);
    }
}
END_TEST

/* The next one is graded all the same, by the same fetcher. */
START_TEST(a_silent_server_costs_one_row)
{
    char root[400], silent[600], sound[600];
    struct error err = {0};
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    (void)snprintf(silent, sizeof silent, "http://127.0.0.1:%u/ann.git",
                   server_http(SERVER_SILENT, root, NULL));
    (void)snprintf(sound, sizeof sound, "git://127.0.0.1:%u/ann.git", server_git(root));
    const struct repo_options options = {.silence_ns = 300000000, .attempts = 1};
    repo_fetcher_use(testing_binary());
    struct repo_fetcher *fetcher = repo_fetcher_open(&options, &err);
    ck_assert_ptr_nonnull(fetcher);
    for (int i = 0; i < 4; ++i) {
        struct repo_answer answer;
        struct repo_request request = repos_request(i % 2 == 0 ? silent : sound);
        ck_assert_int_eq(repo_fetch(fetcher, &request, &answer, &err), 0);
        ck_assert_int_eq(answer.reason, i % 2 == 0 ? REPO_SILENT : REPO_FINE);
        repo_answer_release(&answer);
    }
    repo_fetcher_close(fetcher);
}
END_TEST

START_TEST(tried_again_after_a_broken_connection)
{
    char root[400], address[600];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    unsigned port = server_http(SERVER_FAILS_ONCE, root, NULL);
    (void)snprintf(address, sizeof address, "http://127.0.0.1:%u/ann.git", port);
    struct repo_request request = repos_request(address);
    struct repo_answer answer = repos_fetch_with(&request, &quick);
    assert_fine(&answer, "first\n");
    ck_assert_uint_eq(answer.attempts, 2);
    repo_answer_release(&answer);
}
END_TEST

START_TEST(nobody_listens)
{
    static const struct {
        const char *address;
        enum repo_reason reason;
    } rows[] = {
        {"http://127.0.0.1:1/a", REPO_NETWORK},
        {"git://127.0.0.1:1/a", REPO_NETWORK},
        {"ssh://127.0.0.1:1/a", REPO_NETWORK},
        {"https://127.0.0.1:1/a", REPO_NETWORK},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct repo_request request = repos_request(rows[i].address);
        struct repo_answer answer = repos_fetch_with(&request, &quick);
        ck_assert_msg(answer.reason == rows[i].reason, "%s: %s: %s", rows[i].address,
                      repo_reason_word(answer.reason), answer.sentence);
        ck_assert_uint_eq(answer.attempts, 2);
        repo_answer_release(&answer);
    }
}
END_TEST

START_TEST(no_tls_there)
{
    char root[400], address[600];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    unsigned port = server_http(SERVER_DRIPS, root, NULL);
    (void)snprintf(address, sizeof address, "https://127.0.0.1:%u/ann.git", port);
    struct repo_request request = repos_request(address);
    struct repo_answer answer = repos_fetch_with(&request, &quick);
    ck_assert_msg(answer.reason == REPO_CERTIFICATE || answer.reason == REPO_NETWORK, "%s: %s",
                  repo_reason_word(answer.reason), answer.sentence);
    repo_answer_release(&answer);
}
END_TEST

/* A history that is larger than allowed is stopped while it comes. */
START_TEST(too_large)
{
    char root[400];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    push_more(root, "second\n");
    AUTO_FREE char *http = NULL, *local = NULL, *work = path_join(root, "work");
    AUTO_FREE char *noise = malloc(100001);
    uint32_t seed = 1;
    for (size_t i = 0; i < 100000; ++i)
        noise[i] = (char)('!' + (seed = seed * 1103515245 + 12345) / 65536 % 90);
    noise[100000] = '\0';
    repos_commit(work, "noise", noise, NULL);
    repos_git(work, NULL, "push", "-q", "origin", "main", NULL);
    ck_assert_int_gt(
        asprintf(&http, "http://127.0.0.1:%u/ann.git", server_http(SERVER_PLAIN, root, NULL)), 0);
    ck_assert_int_gt(asprintf(&local, "%s/ann.git", root), 0);
    const char *const addresses[] = {http, local};
    for (size_t i = 0; i < 4; ++i) {
        struct repo_options options = quick;
        if (i < 2)
            options.most_objects = 5;
        else
            options.most_bytes = 5000;
        struct repo_request request = repos_request(addresses[i % 2]);
        struct repo_answer answer = repos_fetch_with(&request, &options);
        ck_assert_msg(answer.reason == REPO_TOO_LARGE, "%zu: %s: %s", i,
                      repo_reason_word(answer.reason), answer.sentence);
        repo_answer_release(&answer);
    }
}
END_TEST

/* ---- Credentials ------------------------------------------------------------------------------
 */

static const struct {
    const char *token, *host;
    enum repo_reason reason;
    const char *words;
    bool sent;
} tokens[] = {
    {SERVER_TOKEN, "127.0.0.1", REPO_FINE, "", true},
    {"another", "127.0.0.1", REPO_NO_ACCESS, "does not take the credential", true},
    {SERVER_TOKEN, NULL, REPO_NO_ACCESS, "SPILLWAY_GIT_TOKEN is for github.com only", false},
    {SERVER_TOKEN, "example.org", REPO_NO_ACCESS, "is for example.org only", false},
};

START_TEST(token_from_the_environment)
{
    char root[400], address[600];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    unsigned port = server_http(SERVER_PASSWORD, root, NULL);
    (void)snprintf(address, sizeof address, "http://127.0.0.1:%u/ann.git", port);
    ck_assert_int_eq(setenv("SPILLWAY_GIT_TOKEN", tokens[_i].token, 1), 0);
    if (tokens[_i].host != NULL)
        ck_assert_int_eq(setenv("SPILLWAY_GIT_TOKEN_HOST", tokens[_i].host, 1), 0);
    struct repo_request request = repos_request(address);
    struct repo_answer answer = repos_fetch_with(&request, &quick);
    ck_assert_msg(answer.reason == tokens[_i].reason, "%s: %s", repo_reason_word(answer.reason),
                  answer.sentence);
    ck_assert_msg(strstr(answer.sentence, tokens[_i].words) != NULL, "%s", answer.sentence);
    ck_assert_ptr_null(strstr(answer.sentence, tokens[_i].token));
    ck_assert_int_eq(server_credentials() > 0, tokens[_i].sent);
    repo_answer_release(&answer);
}
END_TEST

/* A helper as git's own configuration names it; without one nobody is asked and nothing hangs. */
START_TEST(credential_helper)
{
    char root[400], address[600];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    AUTO_FREE char *home = path_join(root, "home"),
                   *store = path_join(root, "home/.git-credentials");
    AUTO_FREE char *config = path_join(root, "home/.gitconfig");
    static const char helper[] = "[credential]\n\thelper = store\n";
    unsigned port = server_http(SERVER_PASSWORD, root, NULL);
    ck_assert_int_eq(mkdir(home, 0700), 0);
    ck_assert_int_eq(setenv("HOME", home, 1), 0);
    testing_write(config, helper, sizeof helper - 1);
    char known[300];
    (void)snprintf(known, sizeof known, "http://" SERVER_USER ":" SERVER_TOKEN "@127.0.0.1%%3a%u\n",
                   port);
    (void)snprintf(address, sizeof address, "http://127.0.0.1:%u/ann.git", port);
    struct repo_request request = repos_request(address);
    struct repo_answer answer = repos_fetch_with(&request, &quick);
    ck_assert_int_eq(answer.reason, REPO_NO_ACCESS);
    repo_answer_release(&answer);
    testing_write(store, known, strlen(known));
    answer = repos_fetch_with(&request, &quick);
    assert_fine(&answer, "first\n");
    repo_answer_release(&answer);
}
END_TEST

/* Another host that a server sends on to is followed only while no secret is in hand. */
START_TEST(sent_on)
{
    char root[400], address[600], target[100];
    if (!repos_have_git())
        TEST_SKIP("no git");
    make_class(root);
    (void)snprintf(target, sizeof target, "http://localhost:%u",
                   server_http(SERVER_PLAIN, root, NULL));
    unsigned port = server_http(SERVER_REDIRECT, root, target);
    (void)snprintf(address, sizeof address, "http://127.0.0.1:%u/ann.git", port);
    struct repo_request request = repos_request(address);
    struct repo_answer answer = repos_fetch_with(&request, &quick);
    ck_assert_msg(answer.reason == REPO_FINE || answer.reason == REPO_MOVED, "%s: %s",
                  repo_reason_word(answer.reason), answer.sentence);
    repo_answer_release(&answer);
    ck_assert_int_eq(setenv("SPILLWAY_GIT_TOKEN", SERVER_TOKEN, 1), 0);
    ck_assert_int_eq(setenv("SPILLWAY_GIT_TOKEN_HOST", "127.0.0.1", 1), 0);
    answer = repos_fetch_with(&request, &quick);
    ck_assert_msg(answer.reason == REPO_MOVED, "%s: %s", repo_reason_word(answer.reason),
                  answer.sentence);
    ck_assert_uint_eq(server_credentials(), 0);
    repo_answer_release(&answer);
}
END_TEST

/* ---- ssh --------------------------------------------------------------------------------------
 */

START_TEST(trouble_by_ssh)
{
    char root[400], ann[600], nobody[600];
    struct server_ssh server;
    if (!repos_have_git() || !server_ssh(&server))
        TEST_SKIP("no git or no sshd");
    make_class(root);
    (void)snprintf(ann, sizeof ann, "ssh://127.0.0.1:%u%s/ann.git", server.port, root);
    (void)snprintf(nobody, sizeof nobody, "ssh://127.0.0.1:%u%s/it's; exit 1/nobody.git",
                   server.port, root);
    for (char *blank; (blank = strchr(nobody, ' ')) != NULL;)
        *blank = '+';
    const struct {
        const char *address, *config, *key;
        enum repo_reason reason;
        const char *words;
    } rows[] = {
        {ann, server.stranger_config, server.key, REPO_HOST_KEY, "does not know this server's key"},
        {ann, server.config, server.other_key, REPO_NO_ACCESS, "Permission denied"},
        {nobody, server.config, server.key, REPO_NOT_FOUND, "no git repo there"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct repo_options options = quick;
        options.ssh_config = rows[i].config;
        options.ssh_key = rows[i].key;
        struct repo_request request = repos_request(rows[i].address);
        struct repo_answer answer = repos_fetch_with(&request, &options);
        ck_assert_msg(answer.reason == rows[i].reason, "%zu: %s: %s", i,
                      repo_reason_word(answer.reason), answer.sentence);
        ck_assert_msg(strstr(answer.sentence, rows[i].words) != NULL, "%s", answer.sentence);
        ck_assert_uint_eq(answer.attempts, 1);
        repo_answer_release(&answer);
    }
}
END_TEST

START_TEST(words_of_ssh)
{
    static const struct {
        const char *words;
        enum repo_reason reason;
        const char *detail;
    } rows[] = {
        {"", REPO_FINE, ""},
        {"ERROR: Repository not found.\r\nfatal: Could not read from remote repository.\n",
         REPO_NOT_FOUND, "knows no such repo"},
        {"git@github.com: Permission denied (publickey).\n", REPO_NO_ACCESS,
         "Permission denied (publickey)"},
        {"ssh: Could not resolve hostname nowhere: Name or service not known\n", REPO_NOT_FOUND,
         "no server of that name"},
        {"ssh: Could not resolve hostname a: Temporary failure in name resolution\n", REPO_NETWORK,
         "Temporary failure"},
        {"ssh: connect to host a port 22: Connection timed out\n", REPO_NETWORK, "timed out"},
        {"@@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@@\nx\n", REPO_HOST_KEY,
         "not the one in known_hosts"},
        {"bash: line 1: git-upload-pack: command not found\n", REPO_NOT_GIT,
         "no git on the server"},
        {"banner\nsomething\033[31m else\n", REPO_FINE, "something?[31m else"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char detail[500];
        ck_assert_int_eq(repo_ssh_meaning(rows[i].words, detail), rows[i].reason);
        ck_assert_msg(strstr(detail, rows[i].detail) != NULL, "%s", detail);
    }
}
END_TEST

Suite *suite_repo_servers(void)
{
    Suite *suite = suite_create("repo_servers");
    TCase *tests = tcase_create("repo_servers");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, by_git_daemon);
    tcase_add_test(tests, by_http);
    tcase_add_test(tests, by_ssh);
    tcase_add_loop_test(tests, trouble_by_http, 0, COUNT_OF(troubles));
    tcase_add_loop_test(tests, no_good_on_a_server, 0, COUNT_OF(served));
    tcase_add_test(tests, a_silent_server_costs_one_row);
    tcase_add_test(tests, tried_again_after_a_broken_connection);
    tcase_add_test(tests, nobody_listens);
    tcase_add_test(tests, no_tls_there);
    tcase_add_test(tests, too_large);
    tcase_add_loop_test(tests, token_from_the_environment, 0, COUNT_OF(tokens));
    tcase_add_test(tests, credential_helper);
    tcase_add_test(tests, sent_on);
    tcase_add_test(tests, trouble_by_ssh);
    tcase_add_test(tests, words_of_ssh);
    suite_add_tcase(suite, tests);
    return suite;
}

#include "testing.h"

#include "repo_url.h"

static const struct {
    const char *text;
    enum repo_kind kind;
    const char *user, *host;
    unsigned port;
    const char *path;
} good[] = {
    {"/srv/class/ann.git", REPO_PATH, "", "", 0, "/srv/class/ann.git"},
    {"ann.git", REPO_PATH, "", "", 0, "ann.git"},
    {"../repos/ann", REPO_PATH, "", "", 0, "../repos/ann"},
    {"./with:colon", REPO_PATH, "", "", 0, "./with:colon"},
    {"/a/with:colon@b", REPO_PATH, "", "", 0, "/a/with:colon@b"},
    {"Übung/ann", REPO_PATH, "", "", 0, "Übung/ann"},
    {"file:///srv/a%20b.git", REPO_FILE_URL, "", "", 0, "/srv/a b.git"},
    {"file://localhost/srv/a.git", REPO_FILE_URL, "", "", 0, "/srv/a.git"},
    {"https://example.org/ann/lab.git", REPO_HTTPS, "", "example.org", 0, "/ann/lab.git"},
    {"HTTPS://example.org:8443/a", REPO_HTTPS, "", "example.org", 8443, "/a"},
    {"https://ann@example.org/a", REPO_HTTPS, "ann", "example.org", 0, "/a"},
    {"http://127.0.0.1:8000/a", REPO_HTTP, "", "127.0.0.1", 8000, "/a"},
    {"git://localhost/a", REPO_GIT, "", "localhost", 0, "/a"},
    {"git://[::1]:9418/a", REPO_GIT, "", "::1", 9418, "/a"},
    {"ssh://git@example.org/ann/lab.git", REPO_SSH, "git", "example.org", 0, "/ann/lab.git"},
    {"ssh://git@example.org:22022/~ann/lab", REPO_SSH, "git", "example.org", 22022, "~ann/lab"},
    {"ssh://[fe80::1%eth0]/a", REPO_SSH, "", "fe80::1%eth0", 0, "/a"},
    {"git@example.org:ann/lab.git", REPO_SSH, "git", "example.org", 0, "ann/lab.git"},
    {"example.org:/srv/lab.git", REPO_SSH, "", "example.org", 0, "/srv/lab.git"},
    {"git@[::1]:lab.git", REPO_SSH, "git", "::1", 0, "lab.git"},
    {"host:path/with:colon", REPO_SSH, "", "host", 0, "path/with:colon"},
    {"h:lab.git", REPO_SSH, "", "h", 0, "lab.git"},
    {"./C:/ann", REPO_PATH, "", "", 0, "./C:/ann"},
    {"ann~1", REPO_PATH, "", "", 0, "ann~1"},
};

START_TEST(taken_apart)
{
    struct repo_url url;
    enum repo_kind kind = REPO_GIT;
    char problem[300] = "?";
    ck_assert_msg(repo_url_parse(&url, good[_i].text, problem), "%s: %s", good[_i].text, problem);
    ck_assert_str_eq(problem, "");
    ck_assert_int_eq(url.kind, good[_i].kind);
    ck_assert_str_eq(url.user, good[_i].user);
    ck_assert_str_eq(url.host, good[_i].host);
    ck_assert_uint_eq(url.port, good[_i].port);
    ck_assert_str_eq(url.path, good[_i].path);
    ck_assert(repo_classify(good[_i].text, &kind, problem));
    ck_assert_int_eq(kind, good[_i].kind);
}
END_TEST

static const struct {
    const char *text, *problem;
} bad[] = {
    {"", "is empty"},
    {"a\nb", "control character"},
    {"a\xff", "UTF-8"},
    {"ftp://example.org/a", "none of the URLs"},
    {"ext::sh -c id", "helper program"},
    {"fd::7", "helper program"},
    {"-oProxyCommand=id", "begins with a dash"},
    {"ssh://-oProxyCommand=id/a", "no host's name"},
    {"-oProxyCommand=id:a", "no host's name"},
    {"ssh://-l@example.org/a", "user's name"},
    {"host:-u", "no path"},
    {"host:", "no path"},
    {"https://example.org", "no path"},
    {"https://example.org/", "no path"},
    {"https:///a", "no host's name"},
    {"https://ann:secretword@example.org/a", "password or token"},
    {"ssh://ann:secretword@example.org/a", "password or token"},
    {"ann:secretword@example.org:a", "password"},
    {"https://ghp_secretword@example.org/a", "password or token"},
    {"https://example.org/a?secretword=1", "? or #"},
    {"https://example.org:0/a", "port"},
    {"https://example.org:65536/a", "port"},
    {"https://example.org:0x50/a", "port"},
    {"https://example.org/a b", "blank"},
    {"ssh://[::1/a", "no host's name"},
    {"ssh://[::1]x/a", "behind the ]"},
    {"git@[example]:22:a", "IPv6"},
    {"http://example.org/a", "unencrypted"},
    {"git://example.org/a", "unencrypted"},
    {"file://server/share", "another machine"},
    {"file://srv", "another machine"},
    {"file:///a%0", "%25"},
    {"file:///a%00b", "%25"},
    {"git@example.org/ann/lab.git", "without its colon"},
    {"//etc", "two slashes"},
    {"//example.org/ann/lab.git", "two slashes"},
    {"C:\\class\\ann", "drive of Windows"},
    {"c:/class/ann", "drive of Windows"},
    {"\\\\server\\share", "backslash"},
    {"\\class", "backslash"},
    {"~/class/ann", "only shells"},
    {"~ann/lab", "only shells"},
    {"~", "only shells"},
    {"https:/example.org/a", "write https://"},
    {"HTTPS:example.org/a", "write https://"},
    {"ssh:/example.org/a", "write ssh://"},
    {"file:/srv/a", "write file://"},
};

START_TEST(refused)
{
    struct repo_url url;
    char problem[300] = "";
    bool fits = repo_url_parse(&url, bad[_i].text, problem);
    if (bad[_i].problem[0] == '\0') { /* a path in scp's way may hold anything */
        ck_assert(fits);
        return;
    }
    ck_assert_msg(!fits, "\"%s\" was taken", bad[_i].text);
    ck_assert_msg(strstr(problem, bad[_i].problem) != NULL, "\"%s\": %s", bad[_i].text, problem);
    ck_assert_msg(strstr(problem, "secretword") == NULL, "%s", problem);
}
END_TEST

START_TEST(too_long)
{
    static char text[LIMIT_REPO_URL_BYTES + 2];
    struct repo_url url;
    char problem[300] = "";
    memset(text, 'a', LIMIT_REPO_URL_BYTES + 1);
    ck_assert(!repo_url_parse(&url, text, problem));
    ck_assert_ptr_nonnull(strstr(problem, "longer than"));
    text[LIMIT_REPO_URL_BYTES] = '\0';
    ck_assert(repo_url_parse(&url, text, problem));
    ck_assert_str_eq(url.path, text);
    memcpy(text, "file:///", 8);
    ck_assert(repo_url_parse(&url, text, problem));
}
END_TEST

START_TEST(nothing_secret_is_shown)
{
    static const struct {
        const char *text, *secret, *shown;
    } rows[] = {
        {"cannot read https://ann:word@example.org/a: no", NULL,
         "cannot read https://********@example.org/a: no"},
        {"https://word@a/x and ssh://word@b/y@z", NULL, "https://****@a/x and ssh://****@b/y@z"},
        {"https://example.org/ann@home", NULL, "https://example.org/ann@home"},
        {"Bearer word, word", "word", "Bearer ****, ****"},
        {"nothing here", "", "nothing here"},
        {"ends in ://", "x", "ends in ://"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char text[200];
        (void)snprintf(text, sizeof text, "%s", rows[i].text);
        repo_url_redact(text, rows[i].secret);
        ck_assert_str_eq(text, rows[i].shown);
    }
}
END_TEST

Suite *suite_repo_url(void)
{
    Suite *suite = suite_create("repo_url");
    TCase *tests = tcase_create("repo_url");
    tcase_add_loop_test(tests, taken_apart, 0, COUNT_OF(good));
    tcase_add_loop_test(tests, refused, 0, COUNT_OF(bad));
    tcase_add_test(tests, too_long);
    tcase_add_test(tests, nothing_secret_is_shown);
    suite_add_tcase(suite, tests);
    return suite;
}

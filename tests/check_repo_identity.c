/* check_repo_identity.c - one repo, however its address is written. */
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "repo_identity.h"
#include "support_toolkit.h"

static const struct {
    const char *one, *other;
    bool same;
} pairs[] = {
    /* clang-format off */
    {"repos/d2", "repos/./d2", true},
    {"repos/d2", "./repos//d2/", true},
    {"repos/d2", "repos/d2/.", true},
    {"repos/d2", "repos/d2/.git", true},
    {"repos/d2", "repos/d2/.git/", true},
    {"repos/d2", "repos/d2.git", true},
    {"repos/d2", "/class/repos/d2", true},
    {"repos/d2", "file:///class/repos/d2", true},
    {"repos/d2", "file://localhost/class/./repos/d2/", true},
    {"repos/a b", "file:///class/repos/a%20b", true},
    {"repos/d2", "repos/D2", false},
    {"repos/d2", "repos/d", false},
    {"repos/d2", "repos/x/../d2", false}, /* neither is there, and x may be a link */
    {"/", "/.git", false},
    {"..", ".", false},
    {"https://h.org/c/d2", "https://H.org/c/d2.git/", true},
    {"https://h.org/c/d2", "https://h.org:443/c/./d2", true},
    {"https://h.org/c/d2", "https://ann@h.org/c//d2", true},
    {"https://h.org/c/d2", "git@h.org:c/d2.git", true},
    {"https://h.org/c/d2", "ssh://git@h.org/c/d2", true},
    {"ssh://git@h.org:22/c/d2", "h.org:/c/d2", true},
    {"https://h.org/c/d2", "https://h.org/C/d2", false},
    {"https://github.com/Ann/D2", "git@GitHub.com:ann/d2.git", true},
    {"https://h.org/c/d2", "https://h.org:8443/c/d2", false},
    {"https://h.org/c/d2", "https://other.org/c/d2", false},
    {"ann@h.org:d2", "bob@h.org:d2", false}, /* each in a home of their own */
    {"https://h.org/c/d2", "/h.org/c/d2", false},
    {"C:/x", "C:/x", true}, /* no address, and the same nevertheless */
    /* clang-format on */
};

START_TEST(addresses_are_compared)
{
    AUTO_FREE char *one = repo_identity(pairs[_i].one, "/class");
    AUTO_FREE char *other = repo_identity(pairs[_i].other, "/class");
    ck_assert_msg((strcmp(one, other) == 0) == pairs[_i].same, "%s is %s, and %s is %s",
                  pairs[_i].one, one, pairs[_i].other, other);
}
END_TEST

/* Folders that exist say more than their names. */
START_TEST(folders_are_looked_at)
{
    char folder[512];
    support_new_folder(folder);
    static const char *const made[] = {"a", "a.git", "a/.git", "b", "b/c"};
    for (size_t i = 0; i < COUNT_OF(made); ++i)
        ck_assert_int_eq(mkdir(support_path(folder, made[i]), 0700), 0);
    ck_assert_int_eq(symlink("a", support_path(folder, "link")), 0);
    static const struct {
        const char *name;
        bool same; /* as a */
    } others[] = {{"link", true}, {"link/.git", true}, {"b/../a", true}, {"b/c/../../link", true},
                  {"b", false},   {"a.git", false},    {"a2", false}};
    AUTO_FREE char *a = repo_identity("a", folder);
    for (size_t i = 0; i < COUNT_OF(others); ++i) {
        AUTO_FREE char *other = repo_identity(others[i].name, folder);
        ck_assert_msg((strcmp(a, other) == 0) == others[i].same, "%s: %s", others[i].name, other);
    }
}
END_TEST

static const struct {
    const char *address, *location;
} places[] = {
    {"repos/d2", "/class/repos/d2"},
    {"repos/./d2//", "/class/repos/d2"},
    {"./..//x/.", "/class/../x"},
    {".", "/class"},
    {"/", "/"},
    {"//", "//"}, /* no address: left alone */
    {"/a//b", "/a/b"},
    {"file:///a//b", "file:///a//b"},
    {"https://h.org/c//d.git/", "https://h.org/c//d.git/"},
};

START_TEST(places_are_whole_paths)
{
    AUTO_FREE char *location = repo_location(places[_i].address, "/class");
    ck_assert_str_eq(location, places[_i].location);
}
END_TEST

Suite *suite_repo_identity(void)
{
    Suite *suite = suite_create("repo_identity");
    TCase *tests = tcase_create("identity");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, addresses_are_compared, 0, (int)COUNT_OF(pairs));
    tcase_add_test(tests, folders_are_looked_at);
    tcase_add_loop_test(tests, places_are_whole_paths, 0, (int)COUNT_OF(places));
    suite_add_tcase(suite, tests);
    return suite;
}

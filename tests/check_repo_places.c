/* check_repo_places.c - which of a repo's folders a file is taken from, and what is said of those
 * that were passed over. */
#include "support_repos.h"

#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

#define STARTER "starter/" REPOS_LAB
#define EXERCISE "exercises/" REPOS_LAB
#define FLAG(name) (1u << REPO_FLAG_##name)

struct place {
    const char *path, *content; /* NULL for a link to the folder above */
};

static const struct {
    const char *name;
    struct place files[5];
    const char *folder; /* that the request names */
    const char *source; /* of the file that counts */
    uint32_t flags;
    const char *note; /* of the first of them; NULL: none */
} rows[] = {
    /* clang-format off */
    {"alone", {{REPOS_SOURCE, "a"}}, NULL, "a", 0, NULL},
    {"beside-starter", {{REPOS_SOURCE, "a"}, {STARTER "/" REPOS_SOURCE, "b"}}, NULL, "a",
     FLAG(TWICE), "registers.cu counted, and not starter/day17-registers/registers.cu, which differs from it"},
    {"equal-starter", {{REPOS_SOURCE, "a"}, {STARTER "/" REPOS_SOURCE, "a"}}, NULL, "a", 0, NULL},
    {"two-others", {{REPOS_SOURCE, "a"}, {STARTER "/" REPOS_SOURCE, "b"}, {REPOS_LAB "/" REPOS_SOURCE, "c"}},
     NULL, "a", FLAG(TWICE), "/registers.cu or day17-registers/registers.cu, which differ from it"},
    {"starter-and-lab", {{STARTER "/" REPOS_SOURCE, "b"}, {REPOS_LAB "/" REPOS_SOURCE, "c"}}, NULL, "b",
     FLAG(TWICE), "starter/day17-registers/registers.cu counted, and not day17-registers/registers.cu"},
    {"elsewhere", {{REPOS_SOURCE, "a"}, {"old/" REPOS_SOURCE, "b"}}, NULL, "a", 0, NULL},
    {"two-answers", {{REPOS_SOURCE, "a"}, {"answers.ini", "x"}, {EXERCISE "/answers.ini", "y"}}, NULL, "a",
     FLAG(TWICE_OTHER), "answers.ini counted, and not exercises/day17-registers/answers.ini, which"},
    {"two-of-each", {{REPOS_SOURCE, "a"}, {"answers.ini", "x"}, {EXERCISE "/answers.ini", "y"}, {STARTER "/" REPOS_SOURCE, "b"}},
     NULL, "a", FLAG(TWICE) | FLAG(TWICE_OTHER), "registers.cu counted, and not starter/"},
    {"a-link", {{REPOS_SOURCE, "a"}, {STARTER "/" REPOS_SOURCE, NULL}}, NULL, "a", 0, NULL},
    {"named", {{REPOS_SOURCE, "a"}, {"src/" REPOS_SOURCE, "b"}}, "src", "b",
     FLAG(TWICE), "src/registers.cu counted, and not registers.cu, which differs from it"},
    {"named-alone", {{"src/deep/" REPOS_SOURCE, "b"}}, "/./src//deep/", "b", 0, NULL},
    {"named-top", {{REPOS_SOURCE, "a"}}, "./", "a", 0, NULL},
    {"not-there", {{REPOS_SOURCE, "a"}}, "nosuch", "a",
     FLAG(PATH), "the files were expected in nosuch, which is not there: registers.cu counted instead"},
    {"not-below", {{REPOS_SOURCE, "a"}}, REPOS_SOURCE "/x", "a", FLAG(PATH), "which is not there"},
    {"not-in-it", {{"src/readme", "a"}, {STARTER "/" REPOS_SOURCE, "b"}}, "src", "b",
     FLAG(PATH), "src, which has no registers.cu: starter/day17-registers/registers.cu counted instead"},
    {"no-folder", {{REPOS_SOURCE, "a"}}, REPOS_SOURCE, "a", FLAG(PATH), "registers.cu, which is a file: registers.cu"},
    {"a-linked-folder", {{REPOS_SOURCE, "a"}, {"src", NULL}}, "src", "a", FLAG(PATH), "src, which is no folder"},
    {"above", {{REPOS_SOURCE, "a"}}, "../x", "a", FLAG(PATH), "which is not there"},
    /* clang-format on */
};

static void make(const char *repo, const struct place *files)
{
    struct error err = {0};
    repos_init(repo);
    for (; files->path != NULL; ++files) {
        AUTO_FREE char *whole = path_join(repo, files->path);
        AUTO_FREE char *folder = strndup(whole, (size_t)(strrchr(whole, '/') - whole));
        ck_assert_int_eq(folders_make(folder, &err), 0);
        if (files->content == NULL)
            ck_assert_int_eq(symlink("..", whole), 0);
        else
            testing_write(whole, files->content, strlen(files->content));
    }
    repos_git(repo, NULL, "add", "-A", NULL);
    repos_git(repo, NULL, "commit", "-q", "-m", "x", NULL);
}

START_TEST(places)
{
    if (!repos_have_git())
        TEST_SKIP("no git");
    const char *path = repos_in(rows[_i].name), *note = NULL;
    make(path, rows[_i].files);
    struct repo_request request = repos_request(path);
    request.path = rows[_i].folder;
    struct repo_answer answer = repos_fetch(&request);
    ck_assert_msg(answer.reason == REPO_FINE, "%s", repos_words(&answer));
    ck_assert_str_eq(bytes_text(&answer.files[0].content), rows[_i].source);
    for (size_t i = REPO_FLAG_COUNT; i-- > 0;)
        note = answer.flag_text[i][0] != '\0' ? answer.flag_text[i] : note;
    ck_assert_msg(answer.flags == rows[_i].flags, "flags %x: %s", answer.flags, note);
    ck_assert_msg((note == NULL) == (rows[_i].note == NULL), "%s", note);
    if (note != NULL)
        ck_assert_msg(strstr(note, rows[_i].note) != NULL, "%s", note);
    repo_answer_release(&answer);
}
END_TEST

Suite *suite_repo_places(void)
{
    Suite *suite = suite_create("repo_places");
    TCase *tests = tcase_create("places");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, places, 0, (int)COUNT_OF(rows));
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_repo_pick.c - which commit is graded, and what is said about it. Times are UTC unless they
 * bear an offset. */
#include "support_repos.h"

#include <sys/stat.h>

#include "files.h"

#define DAY INT64_C(86400)
#define JANUARY INT64_C(1767225600) /* 2026-01-01 00:00 */

static char folder[400];

/* Days of January 2026, noon. */
static int64_t noon(int day)
{
    return JANUARY + (day - 1) * DAY + DAY / 2;
}

static const char *on(int day)
{
    static char text[4][40];
    static size_t next;
    char *into = text[next++ % COUNT_OF(text)];
    (void)snprintf(into, 40, "2026-01-%02dT12:00:00+0000", day);
    return into;
}

static void set_up(void)
{
    (void)snprintf(folder, sizeof folder, "%s", repos_in("repo-XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (repos_have_git())
        repos_init(folder);
}

/* A commit whose source says its name. */
static void commit(const char *content, int day)
{
    repos_commit(folder, REPOS_SOURCE, content, on(day));
}

static struct repo_request request_until(int day)
{
    struct repo_request request = repos_request(folder);
    request.has_cutoff = true;
    request.cutoff_s = noon(day);
    request.cutoff_text = "the deadline";
    return request;
}

/* Fetches, and looks at what was chosen: `content` of the source, part of the reason, flags. */
static struct repo_answer expect(const struct repo_request *request, const char *content,
                                 const char *chosen, uint32_t flags)
{
    struct repo_answer answer = repos_fetch(request);
    ck_assert_msg(answer.reason == REPO_FINE, "%s: %s", repo_reason_word(answer.reason),
                  answer.sentence);
    ck_assert_str_eq(bytes_text(&answer.files[0].content), content);
    ck_assert_msg(strstr(answer.chosen, chosen) != NULL, "%s", answer.chosen);
    ck_assert_msg(answer.flags == flags, "flags %x, expected %x", answer.flags, flags);
    return answer;
}

static void expect_only(const struct repo_request *request, const char *content, const char *chosen,
                        uint32_t flags)
{
    struct repo_answer answer = expect(request, content, chosen, flags);
    repo_answer_release(&answer);
}

static void refused(const struct repo_request *request, enum repo_reason reason, const char *words)
{
    struct repo_answer answer = repos_fetch(request);
    ck_assert_msg(answer.reason == reason, "%s: %s", repo_reason_word(answer.reason),
                  answer.sentence);
    ck_assert_msg(strstr(answer.sentence, words) != NULL, "%s", answer.sentence);
    repo_answer_release(&answer);
}

#define FLAG(name) (1u << REPO_FLAG_##name)
#define NEEDS_GIT                                                                                  \
    if (!repos_have_git())                                                                         \
    TEST_SKIP("no git")

/* ---- Branches ---------------------------------------------------------------------------------
 */

START_TEST(the_last_in_time)
{
    NEEDS_GIT;
    static const struct {
        int until;
        const char *content, *chosen;
        unsigned later;
    } rows[] = {
        {9, "four", "the newest commit on main", 0},
        {4, "four", "the newest commit on main, dated 2026-01-04", 0},
        {3, "three",
         "the last commit on main at or before the deadline (dated 2026-01-03 12:00:00 "
         "+00:00); 1 later one was not graded",
         1},
        {1, "one", "3 later ones were not graded", 3},
    };
    commit("one", 1);
    commit("two", 2);
    commit("three", 3);
    commit("four", 4);
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct repo_request request = request_until(rows[i].until);
        struct repo_answer answer = expect(&request, rows[i].content, rows[i].chosen, 0);
        ck_assert_uint_eq(answer.later, rows[i].later);
        ck_assert_int_eq(answer.source, REPO_TIME_COMMIT);
        ck_assert_int_eq(answer.unix_s, answer.commit_s);
        repo_answer_release(&answer);
    }
    struct repo_request request = request_until(3);
    request.cutoff_s -= 1;
    expect_only(&request, "two", "dated 2026-01-02", 0);
    request.choice = REPO_TIP;
    expect_only(&request, "four", "what main names now", 0);
    request.cutoff_s = JANUARY;
    request.choice = REPO_LAST;
    refused(&request, REPO_NOTHING_IN_TIME,
            "no commit on main at or before the deadline: the first one is dated 2026-01-01");
}
END_TEST

START_TEST(offsets_are_counted)
{
    NEEDS_GIT;
    repos_commit(folder, REPOS_SOURCE, "east", "2026-01-05T00:30:00+0100");
    struct repo_request request = request_until(4);
    request.cutoff_s = JANUARY + 4 * DAY - 1800; /* 23:30 UTC, the same moment */
    request.cutoff_text = NULL;
    struct repo_answer answer = expect(&request, "east", "2026-01-04 23:30:00 +00:00", 0);
    ck_assert_int_eq(answer.unix_s, request.cutoff_s);
    ck_assert_int_eq(answer.commit_offset_s, 3600);
    repo_answer_release(&answer);
    request.cutoff_s -= 1;
    refused(&request, REPO_NOTHING_IN_TIME, "2026-01-05 00:30:00 +01:00");
}
END_TEST

/* Work that a merge after the cut-off brought in was not on the branch in time. */
START_TEST(merged_too_late)
{
    NEEDS_GIT;
    commit("one", 1);
    repos_git(folder, NULL, "checkout", "-q", "-b", "side", NULL);
    repos_commit(folder, "notes", "side", on(2));
    repos_git(folder, NULL, "checkout", "-q", "main", NULL);
    commit("main", 3);
    repos_git(folder, on(6), "merge", "-q", "--no-ff", "-m", "merge", "side", NULL);
    struct repo_request request = request_until(4);
    struct repo_answer answer =
        expect(&request, "main", "1 later one was not graded", FLAG(MERGED));
    ck_assert_ptr_nonnull(strstr(answer.flag_text[REPO_FLAG_MERGED], "which is dated before"));
    repo_answer_release(&answer);
    request = request_until(6);
    expect_only(&request, "main", "the newest commit on main", 0);
}
END_TEST

START_TEST(odd_dates)
{
    NEEDS_GIT;
    commit("one", 5);
    commit("backdated", 2);
    struct repo_request request = request_until(3);
    struct repo_answer answer = expect(&request, "backdated", "the newest", FLAG(BACKWARDS));
    ck_assert_ptr_nonnull(strstr(answer.flag_text[REPO_FLAG_BACKWARDS], "before its parent"));
    repo_answer_release(&answer);
    repos_commit(folder, REPOS_SOURCE, "later", "2031-01-01T00:00:00Z");
    request = repos_request(folder);
    expect_only(&request, "later", "the newest", FLAG(BACKWARDS) | FLAG(FUTURE));
    /* Said also of commits that were passed over. */
    request = request_until(9);
    expect_only(&request, "backdated", "1 later one", FLAG(BACKWARDS) | FLAG(FUTURE));
}
END_TEST

/* What git itself would not write. */
START_TEST(absurd_dates)
{
    NEEDS_GIT;
    static const struct {
        const char *date;
        enum repo_reason reason;
    } dates[] = {{"99999999999999 +0000", REPO_FINE},
                 {"1767225600 +9959", REPO_FINE},
                 {"0 -9999", REPO_FINE},
                 {"18446744073709551615 +0000", REPO_DAMAGED}}; /* libgit2 takes it for no date */
    commit("one", 1);
    struct bytes output;
    char tree[41], parent[41];
    repos_id(folder, "HEAD^{tree}", tree);
    repos_id(folder, "HEAD", parent);
    for (size_t i = 0; i < COUNT_OF(dates); ++i) {
        AUTO_FREE char *text = NULL;
        AUTO_FREE char *path = path_join(folder, ".git/raw");
        ck_assert_int_gt(
            asprintf(&text, "tree %s\nparent %s\nauthor A <a@b> %s\ncommitter A <a@b> %s\n\nx",
                     tree, parent, dates[i].date, dates[i].date),
            0);
        testing_write(path, text, strlen(text));
        ck_assert(repos_try_git(folder, NULL, &output, "hash-object", "-t", "commit", "-w",
                                "--literally", path, NULL));
        char id[41];
        (void)snprintf(id, sizeof id, "%.40s", output.data);
        bytes_release(&output);
        repos_git(folder, NULL, "update-ref", "refs/heads/main", id, NULL);
        struct repo_request request = repos_request(folder);
        struct repo_answer answer = repos_fetch(&request);
        ck_assert_msg(answer.reason == dates[i].reason, "%s: %s", dates[i].date, answer.sentence);
        repo_answer_release(&answer);
    }
}
END_TEST

START_TEST(cut_history)
{
    NEEDS_GIT;
    AUTO_FREE char *url = NULL;
    commit("one", 1);
    commit("two", 2);
    commit("three", 3);
    commit("four", 4);
    ck_assert_int_gt(asprintf(&url, "file://%s", folder), 0);
    const char *clone = repos_in("clone-of-it");
    repos_git("/", NULL, "clone", "-q", "--depth", "2", url, clone, NULL);
    struct repo_request request = request_until(3);
    request.address = clone;
    expect_only(&request, "three", "1 later one", FLAG(CUT));
    request.cutoff_s = noon(2);
    refused(&request, REPO_SHALLOW, "its oldest commit is dated 2026-01-03");
    /* Mended, it is whole again, though its tip is the same. */
    repos_git(clone, NULL, "fetch", "-q", "--unshallow", NULL);
    expect_only(&request, "two", "2 later ones", 0);
}
END_TEST

START_TEST(refs_by_name)
{
    NEEDS_GIT;
    static const struct {
        const char *ref, *content, *chosen;
    } rows[] = {
        {NULL, "main", "the newest commit on main"},
        {"HEAD", "main", "the newest commit on main"},
        {"work", "work", "the newest commit on work"},
        {"refs/heads/work", "work", "the newest commit on work"},
        {"v1", "one", "tag v1 (a commit dated 2026-01-01"},
        {"v2", "one", "tag v2 (made 2026-01-08"},
        {"refs/tags/v1", "one", "tag v1"},
        {"work/deep", "deep", "the newest commit on work/deep"},
    };
    commit("one", 1);
    repos_git(folder, NULL, "tag", "v1", NULL);
    repos_git(folder, on(8), "tag", "-a", "-m", "x", "v2", NULL);
    repos_git(folder, NULL, "checkout", "-q", "-b", "work", NULL);
    commit("work", 2);
    char id[41];
    repos_id(folder, "HEAD~1", id);
    repos_git(folder, NULL, "checkout", "-q", "main", NULL);
    commit("main", 3);
    for (size_t i = 0; i < COUNT_OF(rows) - 1; ++i) {
        struct repo_request request = repos_request(folder);
        request.ref = rows[i].ref;
        expect_only(&request, rows[i].content, rows[i].chosen, 0);
    }
    struct repo_request request = repos_request(folder);
    request.ref = id;
    expect_only(&request, "one", "the commit that the roster names", 0);
    request.ref = "1234567890123456789012345678901234567890";
    refused(&request, REPO_NO_REF, "on none of the branches");
    request.ref = "elsewhere";
    refused(&request, REPO_NO_REF, "no branch or tag elsewhere; the branches are main, work");
    /* A name that was a branch becomes a folder of branches: the cache does not mind. */
    repos_git(folder, NULL, "branch", "-D", "work", NULL);
    repos_git(folder, NULL, "checkout", "-q", "-b", "work/deep", NULL);
    commit("deep", 4);
    request.ref = rows[COUNT_OF(rows) - 1].ref;
    expect_only(&request, "deep", rows[COUNT_OF(rows) - 1].chosen, 0);
}
END_TEST

/* ---- Tags -------------------------------------------------------------------------------------
 */

START_TEST(the_last_tag)
{
    NEEDS_GIT;
    commit("one", 1);
    repos_git(folder, on(2), "tag", "-a", "-m", "x", "submit/1", NULL);
    commit("two", 3);
    repos_git(folder, NULL, "tag", "submit/2", NULL); /* as old as its commit */
    repos_git(folder, on(6), "tag", "-a", "-m", "x", "submit/3", "submit/1", NULL); /* of a tag */
    commit("three", 4);
    repos_git(folder, on(9), "tag", "-a", "-m", "x", "other", NULL);
    struct repo_request request = request_until(9);
    request.choice = REPO_LAST_TAG;
    request.tag_pattern = "submit/*";
    struct repo_answer answer =
        expect(&request, "one",
               "tag submit/3 (made 2026-01-06 12:00:00 +00:00), the last of 3 that "
               "match submit/*",
               0);
    ck_assert_int_eq(answer.source, REPO_TIME_TAG);
    ck_assert_int_eq(answer.unix_s, noon(6));
    ck_assert_int_eq(answer.commit_s, noon(1));
    ck_assert_str_eq(answer.ref, "refs/tags/submit/3");
    repo_answer_release(&answer);
    request.cutoff_s = noon(5);
    answer = expect(&request, "two", "tag submit/2 (a commit dated 2026-01-03", 0);
    ck_assert_int_eq(answer.source, REPO_TIME_COMMIT);
    ck_assert_uint_eq(answer.later, 1);
    repo_answer_release(&answer);
    request.cutoff_s = noon(1);
    refused(&request, REPO_NOTHING_IN_TIME, "the earliest, submit/1, bears the date 2026-01-02");
    request.tag_pattern = "hand-in-?";
    refused(&request, REPO_NO_TAG, "o tag matches hand-in-?; the repo's tags are other, submit/1");
    request.tag_pattern = "subm[i]t/[12]";
    request.has_cutoff = false;
    expect_only(&request, "two", "the last of 2", 0);
}
END_TEST

/* A chain of tags is followed for some steps; one that goes on and on harms no other. */
START_TEST(tags_of_tags_of_tags)
{
    NEEDS_GIT;
    char name[16], before[16] = "HEAD";
    commit("one", 1);
    for (int i = 1; i <= LIMIT_REPO_TAG_DEPTH + 1; ++i) {
        (void)snprintf(name, sizeof name, "t%02d", i);
        repos_git(folder, on(i), "tag", "-a", "-m", "x", name, before, NULL);
        (void)snprintf(before, sizeof before, "%s", name);
    }
    struct repo_request request = repos_request(folder);
    request.ref = "t16";
    expect_only(&request, "one", "tag t16 (made 2026-01-16", 0);
    request.ref = "t17";
    refused(&request, REPO_NO_COMMIT, "efs/tags/t17 is a tag of a tag of a tag");
    request = repos_request(folder);
    request.choice = REPO_LAST_TAG;
    request.tag_pattern = "t1[67]";
    expect_only(&request, "one", "tag t16 (made 2026-01-16", 0);
}
END_TEST

/* What is no file is said of the one that the roster names, and of no other. */
START_TEST(a_wish_that_is_no_file)
{
    NEEDS_GIT;
    static const struct {
        const char *ref, *says; /* NULL: graded */
    } rows[] = {
        {"pipe", "its refs/heads/pipe is a pipe (FIFO)"},
        {"refs/tags/pipe", "its refs/tags/pipe"},
        {"nothing", "no branch or tag nothing"},
        {"main", NULL},
        {"both", NULL},
    };
    commit("one", 1);
    repos_git(folder, NULL, "branch", "both", NULL);
    static const char *const pipes[] = {"heads/pipe", "tags/pipe", "tags/both"};
    for (size_t i = 0; i < COUNT_OF(pipes); ++i) {
        AUTO_FREE char *path = NULL;
        ck_assert_int_gt(asprintf(&path, "%s/.git/refs/%s", folder, pipes[i]), 0);
        ck_assert_int_eq(mkfifo(path, 0644), 0);
    }
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct repo_request request = repos_request(folder);
        request.ref = rows[i].ref;
        struct repo_answer answer = repos_fetch(&request);
        ck_assert_msg((answer.reason == REPO_FINE) == (rows[i].says == NULL), "%s: %s", rows[i].ref,
                      answer.sentence);
        ck_assert_msg(rows[i].says == NULL || strcasestr(answer.sentence, rows[i].says) != NULL,
                      "%s: %s", rows[i].ref, answer.sentence);
        repo_answer_release(&answer);
    }
    struct repo_request request = repos_request(folder);
    request.choice = REPO_LAST_TAG;
    request.tag_pattern = "*";
    refused(&request, REPO_NO_TAG, "o tag matches *");
}
END_TEST

START_TEST(tags_of_no_commit)
{
    NEEDS_GIT;
    commit("one", 1);
    struct repo_request request = repos_request(folder);
    request.choice = REPO_LAST_TAG;
    request.tag_pattern = "*";
    refused(&request, REPO_NO_TAG, "the repo has no tags");
    repos_git(folder, NULL, "tag", "blob", "HEAD:" REPOS_SOURCE, NULL);
    repos_git(folder, NULL, "tag", "-a", "-m", "x", "tree", "HEAD^{tree}", NULL);
    refused(&request, REPO_NO_COMMIT, "one of the tags names a commit");
    repos_git(folder, NULL, "tag", "commit", "HEAD", NULL);
    expect_only(&request, "one", "tag commit", 0);
}
END_TEST

/* ---- Pushes -----------------------------------------------------------------------------------
 */

static struct repo_push push_of(const char *revision, int day)
{
    struct repo_push push = {.unix_s = noon(day)};
    repos_id(folder, revision, push.commit);
    return push;
}

START_TEST(the_push_log_knows_better)
{
    NEEDS_GIT;
    commit("one", 1);
    commit("two", 2);
    commit("three", 3); /* all dated in time, but pushed late */
    const struct repo_push pushes[] = {push_of("HEAD~2", 1), push_of("HEAD~1", 5),
                                       push_of("HEAD", 8)};
    struct repo_request request = request_until(6);
    request.pushes = pushes;
    request.push_count = COUNT_OF(pushes);
    request.has_push_log = true;
    struct repo_answer answer = expect(&request, "two",
                                       "the last push to main at or before the "
                                       "deadline (it arrived 2026-01-05",
                                       0);
    ck_assert_int_eq(answer.source, REPO_TIME_PUSH);
    ck_assert_int_eq(answer.unix_s, noon(5));
    ck_assert_int_eq(answer.commit_s, noon(2));
    ck_assert_uint_eq(answer.later, 1);
    repo_answer_release(&answer);
    request.has_cutoff = false;
    expect_only(&request, "three", "the newest commit on main, pushed 2026-01-08", 0);
    commit("four", 4); /* after the log was taken */
    expect_only(&request, "four", "the newest commit on main", FLAG(NOT_PUSHED));
    request.has_cutoff = true;
    expect_only(&request, "two", "the last push to main", 0);
    request = request_until(1);
    request.cutoff_s = JANUARY;
    request.pushes = pushes;
    request.push_count = COUNT_OF(pushes);
    refused(&request, REPO_NOTHING_IN_TIME, "the first push arrived 2026-01-01");
    request = request_until(2);
    request.has_push_log = true;
    expect_only(&request, "two", "the last commit on main", FLAG(NOT_PUSHED));
}
END_TEST

/* Pushed, then rewritten: what the platform saw is no longer there, unless it was fetched before.
 */
START_TEST(a_pushed_commit_that_is_gone)
{
    NEEDS_GIT;
    commit("one", 1);
    commit("two", 2);
    const struct repo_push pushes[] = {push_of("HEAD~1", 1), push_of("HEAD", 2)};
    struct repo_request request = repos_request(folder);
    expect_only(&request, "two", "the newest", 0); /* into this cache */
    repos_git(folder, NULL, "reset", "-q", "--hard", "HEAD~1", NULL);
    commit("other", 9);
    repos_git(folder, NULL, "reflog", "expire", "--expire=now", "--all", NULL);
    repos_git(folder, NULL, "gc", "-q", "--prune=now", NULL);
    request = request_until(3);
    request.pushes = pushes;
    request.push_count = 2;
    expect_only(&request, "two", "the last push", FLAG(REWRITTEN));
    AUTO_FREE char *fresh = path_join(testing_temporary_folder(), "fresh-cache");
    request.cache = fresh;
    struct repo_answer answer = expect(&request, "one", "the last push", FLAG(GONE));
    ck_assert_ptr_nonnull(strstr(answer.flag_text[REPO_FLAG_GONE], "is not in main"));
    repo_answer_release(&answer);
    request.pushes = pushes + 1;
    request.push_count = 1;
    expect_only(&request, "one", "the last commit on main", FLAG(GONE));
}
END_TEST

/* ---- Late, and unchanged ----------------------------------------------------------------------
 */

/* Everything until day 20 counts; later than day 3 is late, later than day 4 costs something. */
static struct repo_request late_request(void)
{
    struct repo_request request = request_until(20);
    request.has_due = true;
    request.due_s = noon(3);
    request.free_s = noon(4);
    return request;
}

#define UNCHANGED "has the same graded files as this one of 2026-01-0"

/* Days of commits: a letter is the source's content, '.' a commit of the README alone. */
START_TEST(late_and_unchanged)
{
    NEEDS_GIT;
    static const struct {
        const char *work; /* from day 1 on; ' ': no commit on that day */
        const char *content;
        int day; /* on which the counted one was handed in */
        const char *chosen;
        const char *earlier; /* part of the note on an earlier commit; NULL: none */
    } rows[] = {
        {"a  ..", "a", 1, UNCHANGED "1", NULL}, /* the README alone */
        {"ab  .", "b", 2, UNCHANGED "2", NULL}, /* not an older one */
        {"a. .", "a", 2, UNCHANGED "2", NULL},  /* the newest in time */
        {"a   b", "b", 5, "the newest commit", "was in time"},
        {"a   b.", "b", 5, UNCHANGED "5", "was in time"},
        {"a  b .", "b", 4, UNCHANGED "4", NULL}, /* late at no cost */
        {"a  b c", "c", 6, "the newest commit", "would have cost nothing"},
        {"a   ba", "a", 1, UNCHANGED "1", NULL},               /* taken back */
        {"ab  a", "a", 5, "the newest commit", "was in time"}, /* b was in time, a is not b */
        {"    b.", "b", 5, UNCHANGED "5", NULL},               /* nothing in time */
        {"a .", "a", 3, "the newest commit", NULL},            /* in time */
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        char where[40], id[41] = "";
        (void)snprintf(where, sizeof where, "late-%zu", i);
        (void)snprintf(folder, sizeof folder, "%s", repos_in(where));
        repos_init(folder);
        for (int day = 1; rows[i].work[day - 1] != '\0'; ++day) {
            const char content[] = {rows[i].work[day - 1], '\0'};
            if (content[0] == '.')
                repos_commit(folder, "README.md", on(day), on(day));
            else if (content[0] != ' ')
                commit(content, day);
            if (day <= 3 && content[0] != ' ')
                repos_id(folder, "HEAD", id);
        }
        struct repo_request request = late_request();
        struct repo_answer answer = expect(&request, rows[i].content, rows[i].chosen,
                                           rows[i].earlier == NULL ? 0 : FLAG(EARLIER));
        ck_assert_msg(answer.unix_s == noon(rows[i].day), "row %zu: %s", i, answer.chosen);
        ck_assert_int_eq(answer.commit_s, answer.unix_s);
        ck_assert_int_eq(answer.source, REPO_TIME_COMMIT);
        const char *note = answer.flag_text[REPO_FLAG_EARLIER];
        if (rows[i].earlier != NULL)
            ck_assert_msg(strstr(note, rows[i].earlier) != NULL && strstr(note, "`ref`") != NULL &&
                              note[strlen(note) - 1] == ')',
                          "row %zu: %s", i, note);
        if (rows[i].earlier != NULL && strcmp(rows[i].earlier, "was in time") == 0)
            ck_assert_msg(strstr(note, id) != NULL, "row %zu: %s", i, note);
        repo_answer_release(&answer);
        /* The newest, whenever it was made, is judged by the same rule; where nothing is late, the
         * newest is graded. */
        request.choice = REPO_TIP;
        answer = repos_fetch(&request);
        ck_assert_msg(answer.unix_s == noon(rows[i].day), "row %zu: %s", i, answer.chosen);
        repo_answer_release(&answer);
        request = request_until(20);
        expect_only(&request, rows[i].content, "the newest commit", 0);
    }
}
END_TEST

/* Each of these makes a late commit other work, or leaves it the same. */
START_TEST(what_is_the_same_work)
{
    NEEDS_GIT;
    struct repo_request request = late_request();
    commit("one", 1);
    repos_commit(folder, "answers.ini", "lab = x", on(6));
    expect_only(&request, "one", "the newest commit", FLAG(EARLIER));
    request.due_s = request.free_s = noon(6);
    /* explain.md costs nobody anything, and is the newest one's. */
    const struct repo_wanted wanted[] = {
        request.wanted[0], request.wanted[1], {"explain.md", "exercises", 1000, true, NULL}};
    request.wanted = wanted;
    request.wanted_count = COUNT_OF(wanted);
    repos_commit(folder, "explain.md", "why", on(8));
    struct repo_answer answer = expect(&request, "one", UNCHANGED "6", 0);
    ck_assert_str_eq(bytes_text(&answer.files[1].content), "lab = x");
    ck_assert_str_eq(bytes_text(&answer.files[2].content), "why");
    repo_answer_release(&answer);
    /* Into another folder, byte by byte the same. */
    repos_git(folder, NULL, "rm", "-q", "--cached", REPOS_SOURCE, NULL);
    AUTO_FREE char *top = path_join(folder, REPOS_SOURCE);
    ck_assert_int_eq(unlink(top), 0);
    repos_commit(folder, "starter/" REPOS_LAB "/" REPOS_SOURCE, "one", on(9));
    answer = expect(&request, "one", UNCHANGED "6", 0);
    ck_assert_str_eq(answer.files[0].path, REPOS_SOURCE);
    repo_answer_release(&answer);
    /* The name of a link is not the file. */
    ck_assert_int_eq(symlink("starter/" REPOS_LAB "/" REPOS_SOURCE, top), 0);
    repos_commit(folder, "README.md", "linked", on(10));
    answer = repos_fetch(&request);
    ck_assert_int_eq(answer.unix_s, noon(10));
    ck_assert(strstr(answer.files[0].problem, "symbolic link") != NULL);
    repo_answer_release(&answer);
}
END_TEST

/* What was handed out is nobody's work: no note offers it, unless something was filled in. */
START_TEST(late_and_blank_before)
{
    NEEDS_GIT;
    static char starter[] = "starter\n", questions[] = "lab =\n";
    const struct bytes source = {.data = starter, .length = sizeof starter - 1};
    const struct bytes answers = {.data = questions, .length = sizeof questions - 1};
    struct repo_request request = late_request();
    struct repo_wanted wanted[] = {request.wanted[0], request.wanted[1]};
    wanted[0].blank = &source;
    wanted[1].blank = &answers;
    request.wanted = wanted;
    repos_commit(folder, REPOS_SOURCE, starter, on(1));
    commit("done", 6);
    expect_only(&request, "done", "the newest commit", 0);
    commit(starter, 7);
    repos_commit(folder, "answers.ini", questions, on(7));
    commit("done", 8);
    request.due_s = request.free_s = noon(7);
    expect_only(&request, "done", "the newest commit", 0);
    wanted[1].blank = &source;
    expect_only(&request, "done", "the newest commit", FLAG(EARLIER));
    wanted[0].blank = NULL;
    expect_only(&request, "done", "the newest commit", FLAG(EARLIER));
}
END_TEST

/* Rewritten after the deadline: what was in time is not on the branch any more, and a commit's date
 * is its author's word. A push log knows. */
START_TEST(late_and_rewritten)
{
    NEEDS_GIT;
    commit("zero", 1);
    commit("one", 2);
    const struct repo_push before = push_of("HEAD", 2);
    struct repo_request request = late_request();
    expect_only(&request, "one", "the newest commit", 0); /* the cache keeps it */
    repos_git(folder, on(6), "commit", "-q", "--amend", "-m", "reworded", NULL);
    struct repo_answer answer =
        expect(&request, "one", "the newest commit", FLAG(REWRITTEN) | FLAG(EARLIER));
    ck_assert_int_eq(answer.unix_s, noon(6));
    repo_answer_release(&answer);
    const struct repo_push pushes[] = {before, push_of("HEAD", 7)};
    request.pushes = pushes;
    request.push_count = COUNT_OF(pushes);
    request.has_push_log = true;
    answer = expect(&request, "one", UNCHANGED "2", FLAG(REWRITTEN));
    ck_assert_str_eq(answer.commit, before.commit);
    ck_assert_int_eq(answer.unix_s, noon(2));
    ck_assert_int_eq(answer.source, REPO_TIME_PUSH);
    repo_answer_release(&answer);
}
END_TEST

/* Dated in time, all of it: when it arrived is what counts. */
START_TEST(late_and_unchanged_by_push)
{
    NEEDS_GIT;
    commit("one", 1);
    commit("two", 1);
    repos_commit(folder, "README.md", "x", on(1));
    repos_commit(folder, "README.md", "y", on(1));
    const struct repo_push pushes[] = {push_of("HEAD~3", 2), push_of("HEAD~2", 6),
                                       push_of("HEAD~1", 7), push_of("HEAD", 8)};
    struct repo_request request = late_request();
    request.pushes = pushes;
    request.push_count = COUNT_OF(pushes);
    request.has_push_log = true;
    struct repo_answer answer = expect(&request, "two", UNCHANGED "6", FLAG(EARLIER));
    ck_assert_int_eq(answer.unix_s, noon(6));
    ck_assert_int_eq(answer.source, REPO_TIME_PUSH);
    ck_assert_ptr_nonnull(strstr(answer.flag_text[REPO_FLAG_EARLIER], pushes[0].commit));
    repo_answer_release(&answer);
    request.due_s = request.free_s = noon(6);
    expect_only(&request, "two", UNCHANGED "6", 0);
    /* A commit that the roster names is as old as the log says, too. */
    request.ref = pushes[1].commit;
    answer = expect(&request, "two", "the commit that the roster names", 0);
    ck_assert_int_eq(answer.unix_s, noon(6));
    ck_assert_int_eq(answer.source, REPO_TIME_PUSH);
    repo_answer_release(&answer);
    request.ref = pushes[0].commit;
    expect_only(&request, "one", "the commit that the roster names", 0);
}
END_TEST

START_TEST(late_and_unchanged_by_tag)
{
    NEEDS_GIT;
    static const struct {
        int day;
        const char *tag;
    } late[] = {{6, "submit/b"}, {7, "submit/c"}};
    commit("one", 1);
    repos_git(folder, on(2), "tag", "-a", "-m", "x", "submit/a", NULL);
    repos_commit(folder, "README.md", "x", on(1)); /* dated in time, tagged late */
    for (size_t i = 0; i < COUNT_OF(late); ++i)
        repos_git(folder, on(late[i].day), "tag", "-a", "-m", "x", late[i].tag, NULL);
    struct repo_request request = late_request();
    request.choice = REPO_LAST_TAG;
    request.tag_pattern = "submit/*";
    struct repo_answer answer = expect(&request, "one", UNCHANGED "2", 0);
    ck_assert_str_eq(answer.ref, "refs/tags/submit/a");
    ck_assert_int_eq(answer.source, REPO_TIME_TAG);
    ck_assert_int_eq(answer.unix_s, noon(2));
    repo_answer_release(&answer);
    commit("two", 1);
    repos_git(folder, on(8), "tag", "-a", "-m", "x", "submit/d", NULL);
    answer = expect(&request, "two", "tag submit/d", FLAG(EARLIER));
    ck_assert_int_eq(answer.unix_s, noon(8));
    repo_answer_release(&answer);
}
END_TEST

/* ---- State ------------------------------------------------------------------------------------
 */

START_TEST(what_changes_the_state)
{
    NEEDS_GIT;
    commit("one", 1);
    repos_commit(folder, "elsewhere/" REPOS_SOURCE, "two", on(2));
    const struct repo_push pushes[] = {push_of("HEAD", 2)};
    struct repo_request base = request_until(3), variants[10];
    for (size_t i = 0; i < COUNT_OF(variants); ++i)
        variants[i] = base;
    variants[0].cutoff_s -= 1;
    variants[1].choice = REPO_TIP;
    variants[2].ref = "main";
    variants[3].path = "elsewhere/";
    variants[4].pushes = pushes;
    variants[4].push_count = 1;
    variants[5].has_cutoff = false;
    variants[6].has_push_log = true;
    variants[7].wanted_count = 1;
    variants[8].has_due = true;
    variants[9].free_s = 1;
    struct repo_answer first = repos_fetch(&base);
    for (size_t i = 0; i < COUNT_OF(variants); ++i) {
        variants[i].known_state = first.state;
        struct repo_answer answer = repos_fetch(&variants[i]);
        ck_assert_msg(!answer.unchanged && answer.reason == REPO_FINE, "variant %zu", i);
        ck_assert_str_eq(bytes_text(&answer.files[0].content), i == 3 ? "two" : "one");
        repo_answer_release(&answer);
    }
    /* What is not graded changes nothing. */
    repos_git(folder, NULL, "branch", "another", "HEAD~1", NULL);
    repos_git(folder, NULL, "tag", "another-tag", NULL);
    base.now_s += 1000;
    base.known_state = first.state;
    struct repo_answer answer = repos_fetch(&base);
    ck_assert(answer.unchanged);
    repo_answer_release(&answer);
    repo_answer_release(&first);
}
END_TEST

Suite *suite_repo_pick(void)
{
    Suite *suite = suite_create("repo_pick");
    TCase *tests = tcase_create("repo_pick");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, the_last_in_time);
    tcase_add_test(tests, offsets_are_counted);
    tcase_add_test(tests, merged_too_late);
    tcase_add_test(tests, odd_dates);
    tcase_add_test(tests, absurd_dates);
    tcase_add_test(tests, cut_history);
    tcase_add_test(tests, refs_by_name);
    tcase_add_test(tests, the_last_tag);
    tcase_add_test(tests, tags_of_tags_of_tags);
    tcase_add_test(tests, a_wish_that_is_no_file);
    tcase_add_test(tests, tags_of_no_commit);
    tcase_add_test(tests, the_push_log_knows_better);
    tcase_add_test(tests, a_pushed_commit_that_is_gone);
    tcase_add_test(tests, late_and_unchanged);
    tcase_add_test(tests, what_is_the_same_work);
    tcase_add_test(tests, late_and_blank_before);
    tcase_add_test(tests, late_and_rewritten);
    tcase_add_test(tests, late_and_unchanged_by_push);
    tcase_add_test(tests, late_and_unchanged_by_tag);
    tcase_add_test(tests, what_changes_the_state);
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_repo_fetch.c - every kind of repo that students hand in, made by git itself: each kind of
 * trouble has its own reason and sentence, and what can be graded is. */
#include "support_repos.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <sys/stat.h>

#include "files.h"
#include "process.h"
#include "sandbox.h"

#define OTHER_USER 65534

static void write_in(const char *folder, const char *name, const char *content)
{
    AUTO_FREE char *path = path_join(folder, name);
    testing_write(path, content, strlen(content));
}

static void remove_in(const char *folder, const char *name)
{
    AUTO_FREE char *path = path_join(folder, name);
    ck_assert_msg(unlink(path) == 0 || rmdir(path) == 0, "%s: %s", path, strerror(errno));
}

/* The file that holds a loose object. */
static char *object_path(const char *folder, const char *revision)
{
    char id[41];
    char *path = NULL;
    repos_id(folder, revision, id);
    ck_assert_int_gt(asprintf(&path, "%s/.git/objects/%.2s/%s", folder, id, id + 2), 0);
    return path;
}

static void lose(const char *folder, const char *revision)
{
    AUTO_FREE char *path = object_path(folder, revision);
    ck_assert_msg(unlink(path) == 0, "%s", path);
}

static void garble(const char *folder, const char *revision)
{
    AUTO_FREE char *path = object_path(folder, revision);
    ck_assert_int_eq(chmod(path, 0644), 0);
    testing_write(path, "no object at all", 16);
}

/* ---- Makers: each makes the repo at `path` ----------------------------------------------------
 */

static void make_plain(const char *path)
{
    repos_init(path);
    repos_commit(path, REPOS_SOURCE, "first\n", NULL);
    repos_commit(path, "answers.ini", "lab = " REPOS_LAB "\n", NULL);
}

static void make_nothing(const char *path)
{
    (void)path;
}

static void make_file(const char *path)
{
    testing_write(path, "x", 1);
}

static void make_folder(const char *path)
{
    ck_assert_int_eq(mkdir(path, 0755), 0);
}

static void make_closed(const char *path)
{
    make_plain(path);
    ck_assert_int_eq(chmod(path, 0), 0);
}

static void make_empty_bare(const char *path)
{
    repos_git("/", NULL, "init", "-q", "--bare", "-b", "main", path, NULL);
}

static void make_other_default(const char *path)
{
    make_plain(path);
    repos_git(path, NULL, "branch", "-m", "main", "ábgabe/final", NULL);
}

static void make_head_elsewhere(const char *path)
{
    make_plain(path);
    write_in(path, ".git/HEAD", "ref: refs/heads/master\n");
}

static void make_head_nowhere(const char *path)
{
    make_head_elsewhere(path);
    repos_git(path, NULL, "branch", "second", "main", NULL);
}

static void make_detached(const char *path)
{
    make_plain(path);
    repos_git(path, NULL, "checkout", "-q", "--detach", "HEAD", NULL);
    repos_commit(path, REPOS_SOURCE, "detached\n", NULL);
}

static void make_head_garbage(const char *path)
{
    make_plain(path);
    write_in(path, ".git/HEAD", "what is this\n");
}

/* A broken branch beside the graded one harms nobody. */
static void make_broken_branch(const char *path)
{
    make_plain(path);
    write_in(path, ".git/refs/heads/broken", "0123\n");
    write_in(path, ".git/refs/heads/gone", "1234567890123456789012345678901234567890\n");
}

static void make_shallow(const char *path)
{
    const char *source = repos_in("shallow-source");
    AUTO_FREE char *url = NULL;
    make_plain(source);
    repos_commit(source, REPOS_SOURCE, "third\n", "2026-02-01T00:00:00Z");
    ck_assert_int_gt(asprintf(&url, "file://%s", source), 0);
    repos_git("/", NULL, "clone", "-q", "--depth", "2", url, path, NULL);
}

static void make_partial(const char *path)
{
    const char *source = repos_in("partial-source");
    AUTO_FREE char *url = NULL;
    make_plain(source);
    repos_git(source, NULL, "config", "uploadpack.allowFilter", "true", NULL);
    ck_assert_int_gt(asprintf(&url, "file://%s", source), 0);
    repos_git("/", NULL, "clone", "-q", "--bare", "--filter=blob:none", url, path, NULL);
}

/* With a work tree the newest files are there. */
static void make_partial_with_files(const char *path)
{
    const char *source = repos_in("partial-source");
    AUTO_FREE char *url = NULL;
    make_plain(source);
    repos_commit(source, REPOS_SOURCE, "third\n", NULL);
    repos_git(source, NULL, "config", "uploadpack.allowFilter", "true", NULL);
    ck_assert_int_gt(asprintf(&url, "file://%s", source), 0);
    repos_git("/", NULL, "clone", "-q", "--filter=blob:none", url, path, NULL);
}

static void make_lost_blob(const char *path)
{
    make_plain(path);
    lose(path, "HEAD:" REPOS_SOURCE);
}

static void make_lost_tree(const char *path)
{
    make_plain(path);
    lose(path, "HEAD^{tree}");
}

static void make_lost_commit(const char *path)
{
    make_plain(path);
    lose(path, "HEAD");
}

static void make_garbled_blob(const char *path)
{
    make_plain(path);
    garble(path, "HEAD:" REPOS_SOURCE);
}

static void make_garbled_commit(const char *path)
{
    make_plain(path);
    garble(path, "HEAD");
}

/* Old objects are lost, what is graded is whole. */
static void make_lost_history(const char *path)
{
    make_plain(path);
    repos_commit(path, REPOS_SOURCE, "third\n", NULL);
    lose(path, "HEAD~1:" REPOS_SOURCE);
}

static void make_sha256(const char *path)
{
    repos_git("/", NULL, "init", "-q", "-b", "main", "--object-format=sha256", path, NULL);
    repos_commit(path, REPOS_SOURCE, "first\n", NULL);
}

static void make_unknown_extension(const char *path)
{
    make_plain(path);
    repos_git(path, NULL, "config", "core.repositoryFormatVersion", "1", NULL);
    repos_git(path, NULL, "config", "extensions.spindleShape", "round", NULL);
}

static void make_unknown_version(const char *path)
{
    make_plain(path);
    repos_git(path, NULL, "config", "core.repositoryFormatVersion", "7", NULL);
}

static void make_borrowing(const char *path)
{
    const char *source = repos_in("lender");
    make_plain(source);
    repos_git("/", NULL, "clone", "-q", "--shared", source, path, NULL);
}

static void make_worktree(const char *path)
{
    const char *source = repos_in("main-tree");
    make_plain(source);
    repos_git(source, NULL, "worktree", "add", "-q", path, NULL);
}

static void make_common_folder(const char *path)
{
    AUTO_FREE char *common = NULL;
    const char *source = repos_in("victim");
    make_plain(source);
    make_plain(path);
    ck_assert_int_gt(asprintf(&common, "%s/.git", source), 0);
    write_in(path, ".git/commondir", common);
}

static void make_linked_objects(const char *path)
{
    AUTO_FREE char *target = NULL, *link = NULL;
    const char *source = repos_in("victim");
    make_plain(source);
    make_empty_bare(path);
    ck_assert_int_gt(asprintf(&target, "%s/.git/refs", source), 0);
    link = path_join(path, "refs");
    ck_assert(strlen(path) > 0);
    remove_in(path, "refs/heads");
    remove_in(path, "refs/tags");
    remove_in(path, "refs");
    ck_assert_int_eq(symlink(target, link), 0);
}

static void make_without_source(const char *path)
{
    repos_init(path);
    repos_commit(path, "readme", "x", NULL);
}

static void make_other_folder(const char *path)
{
    repos_init(path);
    repos_commit(path, "homework/day17/" REPOS_SOURCE, "x", NULL);
}

static void make_other_case(const char *path)
{
    repos_init(path);
    repos_commit(path, "Registers.cu", "x", NULL);
}

static void make_usual_folder(const char *path)
{
    repos_init(path);
    repos_commit(path, "starter/" REPOS_LAB "/" REPOS_SOURCE, "starter's\n", NULL);
    repos_commit(path, "exercises/" REPOS_LAB "/answers.ini", "lab = x\n", NULL);
}

static void make_lab_folder(const char *path)
{
    repos_init(path);
    repos_commit(path, REPOS_LAB "/" REPOS_SOURCE, "lab's\n", NULL);
    repos_commit(path, REPOS_LAB "/answers.ini", "lab = x\n", NULL);
}

static void make_link(const char *path)
{
    repos_init(path);
    AUTO_FREE char *link = path_join(path, REPOS_SOURCE);
    ck_assert_int_eq(symlink("/etc/passwd", link), 0);
    repos_git(path, NULL, "add", "-A", NULL);
    repos_git(path, NULL, "commit", "-q", "-m", "x", NULL);
}

static void make_linked_folder(const char *path)
{
    repos_init(path);
    AUTO_FREE char *link = path_join(path, REPOS_LAB);
    ck_assert_int_eq(symlink("/etc", link), 0);
    repos_git(path, NULL, "add", "-A", NULL);
    repos_git(path, NULL, "commit", "-q", "-m", "x", NULL);
}

static void make_submodule(const char *path)
{
    const char *inner = repos_in("inner");
    make_plain(inner);
    repos_init(path);
    repos_git(path, NULL, "submodule", "--quiet", "add", inner, REPOS_LAB, NULL);
    repos_git(path, NULL, "commit", "-q", "-m", "x", NULL);
}

/* What `git add` does to a folder in which somebody ran `git init`. */
static void make_nested(const char *path)
{
    repos_init(path);
    repos_commit(path, "readme", "x", NULL);
    AUTO_FREE char *inner = path_join(path, "work");
    make_plain(inner);
    repos_git(path, NULL, "-c", "advice.addEmbeddedRepo=false", "add", "-A", NULL);
    repos_git(path, NULL, "commit", "-q", "-m", "x", NULL);
}

static void make_lfs(const char *path)
{
    repos_init(path);
    repos_commit(path, ".gitattributes", "*.cu filter=lfs diff=lfs merge=lfs -text\n", NULL);
    repos_commit(path, REPOS_SOURCE,
                 "version https://git-lfs.github.com/spec/v1\n"
                 "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
                 "size 12345\n",
                 NULL);
}

static void make_crlf(const char *path)
{
    repos_init(path);
    repos_commit(path, REPOS_SOURCE, "one\r\ntwo\r\n", NULL);
}

static void make_case_twins(const char *path)
{
    repos_init(path);
    repos_commit(path, REPOS_SOURCE, "lower\n", NULL);
    repos_commit(path, "Registers.CU", "upper\n", NULL);
}

static void make_large_file(const char *path)
{
    AUTO_FREE char *large = malloc(LIMIT_SOURCE_BYTES + 2);
    ck_assert_ptr_nonnull(large);
    memset(large, 'x', LIMIT_SOURCE_BYTES + 1);
    large[LIMIT_SOURCE_BYTES + 1] = '\0';
    repos_init(path);
    repos_commit(path, REPOS_SOURCE, large, NULL);
}

static void make_foreign_filter(const char *path)
{
    /* What a repo's own configuration would run. */
    make_plain(path);
    repos_commit(path, ".gitattributes", "*.cu filter=evil\n", NULL);
    repos_git(path, NULL, "config", "filter.evil.smudge", "touch /tmp/spillway-was-here", NULL);
    repos_git(path, NULL, "config", "core.fsmonitor", "touch /tmp/spillway-was-here", NULL);
    repos_git(path, NULL, "config", "core.sshCommand", "touch /tmp/spillway-was-here", NULL);
    repos_git(path, NULL, "config", "uploadpack.packObjectsHook", "touch /tmp/spillway-was-here",
              NULL);
}

/* Objects and refs that are links to somebody else's files: nothing outside of the repo is read. */
static void make_linked_object(const char *path)
{
    const char *source = repos_in("victim-of-object");
    make_plain(source);
    make_plain(path);
    AUTO_FREE char *theirs = object_path(source, "HEAD:" REPOS_SOURCE);
    AUTO_FREE char *ours = object_path(path, "HEAD:" REPOS_SOURCE);
    ck_assert_int_eq(unlink(ours), 0);
    ck_assert_int_eq(symlink(theirs, ours), 0);
}

static void make_linked_branch(const char *path)
{
    AUTO_FREE char *target = NULL, *link = path_join(path, ".git/refs/heads/main");
    const char *source = repos_in("victim-of-ref");
    make_plain(source);
    make_plain(path);
    ck_assert_int_gt(asprintf(&target, "%s/.git/refs/heads/main", source), 0);
    ck_assert_int_eq(unlink(link), 0);
    ck_assert_int_eq(symlink(target, link), 0);
}

/* Names that do something to a terminal. */
static void make_odd_names(const char *path)
{
    repos_init(path);
    repos_commit(path, REPOS_SOURCE, "odd\n", NULL);
    struct bytes output;
    char blob[41];
    repos_id(path, "HEAD:" REPOS_SOURCE, blob);
    ck_assert(repos_try_git(path, NULL, &output, "update-index", "--add", "--cacheinfo", "100644",
                            blob, "a\033[2J/REGISTERS.CU", NULL));
    bytes_release(&output);
    repos_git(path, NULL, "commit", "-q", "-m", "x", NULL);
}

/* ---- The table --------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    void (*make)(const char *path);
    enum repo_reason reason;
    const char *words;   /* part of the sentence or problem; "" when all is well */
    const char *content; /* of the source; NULL: not looked at */
    uint32_t flags;
} rows[] = {
#define FLAG(name) (1u << REPO_FLAG_##name)
    {"plain", make_plain, REPO_FINE, "", "first\n", 0},
    {"nothing", make_nothing, REPO_NOT_FOUND, "There is no folder", NULL, 0},
    {"file", make_file, REPO_NOT_GIT, "a file, not the folder of a repo", NULL, 0},
    {"folder", make_folder, REPO_NOT_GIT, "no git repo in that folder", NULL, 0},
    {"closed", make_closed, REPO_NO_ACCESS, "may not look into", NULL, 0},
    {"empty", repos_init, REPO_EMPTY, "not one commit", NULL, 0},
    {"empty-bare", make_empty_bare, REPO_EMPTY, "not one commit", NULL, 0},
    {"other-default", make_other_default, REPO_FINE, "", "first\n", 0},
    {"head-elsewhere", make_head_elsewhere, REPO_FINE, "", "first\n", FLAG(ONLY_BRANCH)},
    {"head-nowhere", make_head_nowhere, REPO_NO_REF, "master, which does not exist", NULL, 0},
    {"head-garbage", make_head_garbage, REPO_FINE, "", "first\n", FLAG(ONLY_BRANCH)},
    {"detached", make_detached, REPO_FINE, "", "detached\n", FLAG(DETACHED)},
    {"broken-branch", make_broken_branch, REPO_FINE, "", "first\n", 0},
    {"shallow", make_shallow, REPO_FINE, "", "third\n", FLAG(CUT)},
    {"partial", make_partial, REPO_PARTIAL, "git clone --filter", NULL, 0},
    {"partial-files", make_partial_with_files, REPO_FINE, "", "third\n", FLAG(CUT)},
    {"lost-blob", make_lost_blob, REPO_DAMAGED, "content of registers.cu", NULL, 0},
    {"lost-tree", make_lost_tree, REPO_DAMAGED, "missing or corrupt", NULL, 0},
    {"lost-commit", make_lost_commit, REPO_DAMAGED, "missing or corrupt", NULL, 0},
    {"garbled-blob", make_garbled_blob, REPO_DAMAGED, "content of registers.cu", NULL, 0},
    {"garbled-commit", make_garbled_commit, REPO_DAMAGED, "missing or corrupt", NULL, 0},
    {"lost-history", make_lost_history, REPO_FINE, "", "third\n", FLAG(CUT)},
    {"sha256", make_sha256, REPO_SHA256, "--object-format=sha1", NULL, 0},
    {"extension", make_unknown_extension, REPO_FORMAT, "spindleshape", NULL, 0},
    {"version", make_unknown_version, REPO_FORMAT, "version", NULL, 0},
    {"borrowing", make_borrowing, REPO_BORROWED, "borrows objects", NULL, 0},
    {"worktree", make_worktree, REPO_BORROWED, "git worktree", NULL, 0},
    {"commondir", make_common_folder, REPO_BORROWED, "git worktree", NULL, 0},
    {"linked-refs", make_linked_objects, REPO_BORROWED, "refs are a link", NULL, 0},
    {"linked-object", make_linked_object, REPO_DAMAGED, "content of registers.cu", NULL, 0},
    {"linked-branch", make_linked_branch, REPO_EMPTY, "not one commit", NULL, 0},
    {"odd-names", make_odd_names, REPO_FINE, "", "odd\n", 0},
    {"no-source", make_without_source, REPO_NO_SOURCE, "or anywhere", NULL, 0},
    {"other-folder", make_other_folder, REPO_NO_SOURCE, "homework/day17/registers.cu", NULL, 0},
    {"other-case", make_other_case, REPO_NO_SOURCE, "Registers.cu", NULL, 0},
    {"usual-folder", make_usual_folder, REPO_FINE, "", "starter's\n", 0},
    {"lab-folder", make_lab_folder, REPO_FINE, "", "lab's\n", 0},
    {"link", make_link, REPO_FINE, "is a symbolic link", "", 0},
    {"linked-folder", make_linked_folder, REPO_FINE, "behind a symbolic link", "", 0},
    {"submodule", make_submodule, REPO_FINE, "lies in a nested repository", "", 0},
    {"nested", make_nested, REPO_NO_SOURCE, "work is a nested repository", NULL, 0},
    {"lfs", make_lfs, REPO_FINE, "Git LFS pointer", "", 0},
    {"crlf", make_crlf, REPO_FINE, "", "one\r\ntwo\r\n", FLAG(CRLF)},
    {"case-twins", make_case_twins, REPO_FINE, "", "lower\n", FLAG(CASE)},
    {"large-file", make_large_file, REPO_FINE, "has 1048577 bytes", "", 0},
    {"filter", make_foreign_filter, REPO_FINE, "", "first\n", 0},
};

static void assert_row(size_t i, const struct repo_answer *answer)
{
    const char *words = repos_words(answer);
    ck_assert_msg(answer->reason == rows[i].reason, "%s: %s: %s", rows[i].name,
                  repo_reason_word(answer->reason), words);
    ck_assert_msg(strstr(words, rows[i].words) != NULL, "%s: %s", rows[i].name, words);
    ck_assert_msg(rows[i].reason == REPO_FINE ||
                      strstr(words, repo_reason_mend(rows[i].reason)) != NULL,
                  "%s: %s", rows[i].name, words);
    ck_assert_msg(answer->flags == rows[i].flags, "%s: flags %x, expected %x", rows[i].name,
                  answer->flags, rows[i].flags);
    if (rows[i].reason == REPO_FINE && rows[i].words[0] == '\0')
        ck_assert_str_eq(words, "");
    if (rows[i].content != NULL)
        ck_assert_str_eq(bytes_text(&answer->files[0].content), rows[i].content);
}

/* NULL: it can be looked at here. */
static const char *obstacle(size_t i)
{
    bool walled = rows[i].make == make_linked_object || rows[i].make == make_linked_branch;
    if (rows[i].make == make_closed && geteuid() == 0)
        return "root may read everything";
    return walled && sandbox_probe()->landlock_abi == 0 ? "no Landlock in this kernel" : NULL;
}

START_TEST(kinds_of_repos)
{
    if (!repos_have_git())
        TEST_SKIP("no git");
    size_t i = (size_t)_i;
    const char *path = repos_in(rows[i].name);
    if (obstacle(i) != NULL)
        TEST_SKIP("%s", obstacle(i));
    rows[i].make(path);
    struct repo_request request = repos_request(path);
    struct repo_answer answer = repos_fetch(&request);
    assert_row(i, &answer);
    ck_assert_msg(access("/tmp/spillway-was-here", F_OK) != 0, "a program of the repo was run");
    /* Once more, now with the cache there: the same answer; and a settled one is known again. */
    struct repo_answer again = repos_fetch(&request);
    assert_row(i, &again);
    ck_assert_str_eq(again.state, answer.state);
    ck_assert_str_eq(again.commit, answer.commit);
    repo_answer_release(&again);
    if (answer.reason == REPO_FINE) {
        request.known_state = answer.state;
        again = repos_fetch(&request);
        ck_assert(again.unchanged);
        ck_assert_uint_eq(again.received_objects, 0);
        repo_answer_release(&again);
    }
    repo_answer_release(&answer);
    if (rows[i].make == make_closed)
        ck_assert_int_eq(chmod(path, 0755), 0);
}
END_TEST

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
    const char *path = repos_in("foreign"), *home = repos_in("home-of-it");
    AUTO_FREE char *config = path_join(home, ".gitconfig");
    make_plain(path);
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
    return type == FTW_F && strstr(path, ".pack") != NULL ? truncate(path, info->st_size / 2) : 0;
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
    make_plain(path);
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
START_TEST(rewritten_history)
{
    if (!repos_have_git())
        TEST_SKIP("no git");
    char path[400], before[41];
    (void)snprintf(path, sizeof path, "%s", repos_in("rewritten"));
    make_plain(path);
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
    make_plain(path);
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

/* ---- Requests ---------------------------------------------------------------------------------
 */

START_TEST(folder_by_path)
{
    static const char *const paths[] = {"homework/day17", "/homework/day17/", "./homework/day17"};
    if (!repos_have_git())
        TEST_SKIP("no git");
    const char *path = repos_in("by-path");
    make_usual_folder(path);
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

Suite *suite_repo_fetch(void)
{
    Suite *suite = suite_create("repo_fetch");
    TCase *tests = tcase_create("repo_fetch");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, kinds_of_repos, 0, COUNT_OF(rows));
    tcase_add_test(tests, folders_of_others);
    tcase_add_loop_test(tests, a_broken_cache_is_mended, 0, COUNT_OF(breakers));
    tcase_add_test(tests, rewritten_history);
    tcase_add_test(tests, one_cache_for_many_threads);
    tcase_add_test(tests, folder_by_path);
    tcase_add_test(tests, requests_that_cannot_be);
    suite_add_tcase(suite, tests);
    return suite;
}

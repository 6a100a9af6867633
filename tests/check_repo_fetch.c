/* check_repo_fetch.c - every kind of repo that students hand in, made by git itself: each kind of
 * trouble has its own reason and sentence, and what can be graded is. */
#include "support_repos.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "files.h"
#include "sandbox.h"

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
    repos_plain(path);
    ck_assert_int_eq(chmod(path, 0), 0);
}

static void make_empty_bare(const char *path)
{
    repos_git("/", NULL, "init", "-q", "--bare", "-b", "main", path, NULL);
}

static void make_other_default(const char *path)
{
    repos_plain(path);
    repos_git(path, NULL, "branch", "-m", "main", "ábgabe/final", NULL);
}

static void make_head_elsewhere(const char *path)
{
    repos_plain(path);
    write_in(path, ".git/HEAD", "ref: refs/heads/master\n");
}

static void make_head_nowhere(const char *path)
{
    make_head_elsewhere(path);
    repos_git(path, NULL, "branch", "second", "main", NULL);
}

/* The instructor's branch is none of the student's, whatever HEAD says. */
static void make_beside_feedback(const char *path)
{
    make_head_elsewhere(path);
    repos_git(path, NULL, "branch", "feedback", "main", NULL);
}

static void make_feedback_alone(const char *path)
{
    make_beside_feedback(path);
    repos_git(path, NULL, "branch", "-D", "main", NULL);
}

/* What a host made of feedback that was pushed first. */
static void make_default_feedback(const char *path)
{
    repos_plain(path);
    repos_git(path, NULL, "checkout", "-q", "--orphan", "feedback", NULL);
    repos_commit(path, REPOS_SOURCE, "feedback\n", NULL);
}

static void make_default_feedback_with_two(const char *path)
{
    make_default_feedback(path);
    repos_git(path, NULL, "branch", "dev", "feedback", NULL);
}

static void make_default_feedback_without_main(const char *path)
{
    make_default_feedback_with_two(path);
    repos_git(path, NULL, "branch", "-m", "main", "work", NULL);
}

static void make_default_feedback_alone(const char *path)
{
    make_default_feedback(path);
    repos_git(path, NULL, "branch", "-D", "main", NULL);
}

static void make_detached(const char *path)
{
    repos_plain(path);
    repos_git(path, NULL, "checkout", "-q", "--detach", "HEAD", NULL);
    repos_commit(path, REPOS_SOURCE, "detached\n", NULL);
}

static void make_head_garbage(const char *path)
{
    repos_plain(path);
    write_in(path, ".git/HEAD", "what is this\n");
}

/* A broken branch beside the graded one harms nobody. */
static void make_broken_branch(const char *path)
{
    repos_plain(path);
    write_in(path, ".git/refs/heads/broken", "0123\n");
    write_in(path, ".git/refs/heads/gone", "1234567890123456789012345678901234567890\n");
}

static void make_shallow(const char *path)
{
    const char *source = repos_in("shallow-source");
    AUTO_FREE char *url = NULL;
    repos_plain(source);
    repos_commit(source, REPOS_SOURCE, "third\n", "2026-02-01T00:00:00Z");
    ck_assert_int_gt(asprintf(&url, "file://%s", source), 0);
    repos_git("/", NULL, "clone", "-q", "--depth", "2", url, path, NULL);
}

static void make_partial(const char *path)
{
    const char *source = repos_in("partial-source");
    AUTO_FREE char *url = NULL;
    repos_plain(source);
    repos_git(source, NULL, "config", "uploadpack.allowFilter", "true", NULL);
    ck_assert_int_gt(asprintf(&url, "file://%s", source), 0);
    repos_git("/", NULL, "clone", "-q", "--bare", "--filter=blob:none", url, path, NULL);
}

/* With a work tree the newest files are there. */
static void make_partial_with_files(const char *path)
{
    const char *source = repos_in("partial-source");
    AUTO_FREE char *url = NULL;
    repos_plain(source);
    repos_commit(source, REPOS_SOURCE, "third\n", NULL);
    repos_git(source, NULL, "config", "uploadpack.allowFilter", "true", NULL);
    ck_assert_int_gt(asprintf(&url, "file://%s", source), 0);
    repos_git("/", NULL, "clone", "-q", "--filter=blob:none", url, path, NULL);
}

static void make_lost_blob(const char *path)
{
    repos_plain(path);
    lose(path, "HEAD:" REPOS_SOURCE);
}

static void make_lost_tree(const char *path)
{
    repos_plain(path);
    lose(path, "HEAD^{tree}");
}

static void make_lost_commit(const char *path)
{
    repos_plain(path);
    lose(path, "HEAD");
}

static void make_garbled_blob(const char *path)
{
    repos_plain(path);
    garble(path, "HEAD:" REPOS_SOURCE);
}

static void make_garbled_commit(const char *path)
{
    repos_plain(path);
    garble(path, "HEAD");
}

/* Old objects are lost, what is graded is whole. */
static void make_lost_history(const char *path)
{
    repos_plain(path);
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
    repos_plain(path);
    repos_git(path, NULL, "config", "core.repositoryFormatVersion", "1", NULL);
    repos_git(path, NULL, "config", "extensions.spindleShape", "round", NULL);
}

static void make_unknown_version(const char *path)
{
    repos_plain(path);
    repos_git(path, NULL, "config", "core.repositoryFormatVersion", "7", NULL);
}

static void make_borrowing(const char *path)
{
    const char *source = repos_in("lender");
    repos_plain(source);
    repos_git("/", NULL, "clone", "-q", "--shared", source, path, NULL);
}

static void make_worktree(const char *path)
{
    const char *source = repos_in("main-tree");
    repos_plain(source);
    repos_git(source, NULL, "worktree", "add", "-q", path, NULL);
}

static void make_common_folder(const char *path)
{
    AUTO_FREE char *common = NULL;
    const char *source = repos_in("victim");
    repos_plain(source);
    repos_plain(path);
    ck_assert_int_gt(asprintf(&common, "%s/.git", source), 0);
    write_in(path, ".git/commondir", common);
}

static void make_linked_objects(const char *path)
{
    AUTO_FREE char *target = NULL, *link = NULL;
    const char *source = repos_in("victim");
    repos_plain(source);
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
    repos_plain(inner);
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
    repos_plain(inner);
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
    repos_plain(path);
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
    repos_plain(source);
    repos_plain(path);
    AUTO_FREE char *theirs = object_path(source, "HEAD:" REPOS_SOURCE);
    AUTO_FREE char *ours = object_path(path, "HEAD:" REPOS_SOURCE);
    ck_assert_int_eq(unlink(ours), 0);
    ck_assert_int_eq(symlink(theirs, ours), 0);
}

static void make_linked_branch(const char *path)
{
    AUTO_FREE char *target = NULL, *link = path_join(path, ".git/refs/heads/main");
    const char *source = repos_in("victim-of-ref");
    repos_plain(source);
    repos_plain(path);
    ck_assert_int_gt(asprintf(&target, "%s/.git/refs/heads/main", source), 0);
    ck_assert_int_eq(unlink(link), 0);
    ck_assert_int_eq(symlink(target, link), 0);
}

/* ---- What is no file where one belongs, or an absurd one ------------------------------------- */

static void pipe_at(const char *path, const char *name)
{
    AUTO_FREE char *place = path_join(path, name);
    (void)unlink(place);
    ck_assert_msg(mkfifo(place, 0644) == 0, "%s: %s", place, strerror(errno));
}

static void link_at(const char *path, const char *name, const char *target)
{
    AUTO_FREE char *place = path_join(path, name);
    (void)unlink(place);
    ck_assert_msg(symlink(target, place) == 0, "%s: %s", place, strerror(errno));
}

/* A file of a terabyte that takes no room. */
static void hole_at(const char *path, const char *name)
{
    AUTO_FREE char *place = path_join(path, name);
    AUTO_CLOSE int fd = open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_msg(fd >= 0 && ftruncate(fd, (off_t)1 << 40) == 0, "%s: %s", place, strerror(errno));
}

static void make_pipe_branch(const char *path)
{
    repos_plain(path);
    pipe_at(path, ".git/refs/heads/main");
}

/* Beside the graded one it harms nobody. */
static void make_pipe_tag(const char *path)
{
    repos_plain(path);
    pipe_at(path, ".git/refs/tags/hand-in");
}

static void make_pipe_head(const char *path)
{
    repos_plain(path);
    pipe_at(path, ".git/HEAD");
}

static void make_pipe_config(const char *path)
{
    repos_plain(path);
    pipe_at(path, ".git/config");
}

static void make_pipe_packed_refs(const char *path)
{
    repos_plain(path);
    pipe_at(path, ".git/packed-refs");
}

static void make_pipe_shallow(const char *path)
{
    repos_plain(path);
    pipe_at(path, ".git/shallow");
}

static void make_pipe_object(const char *path)
{
    repos_plain(path);
    AUTO_FREE char *object = object_path(path, "HEAD:" REPOS_SOURCE);
    pipe_at("/", object);
}

static void make_pipe_index(const char *path)
{
    repos_plain(path);
    repos_git(path, NULL, "repack", "-q", "-a", "-d", NULL);
    pipe_at(path, ".git/objects/pack/pack-0123456789012345678901234567890123456789.idx");
    write_in(path, ".git/objects/pack/pack-0123456789012345678901234567890123456789.pack", "PACK");
}

static void make_pipe_itself(const char *path)
{
    make_folder(path);
    pipe_at(path, ".git");
}

static void make_socket_branch(const char *path)
{
    repos_plain(path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char before[400];
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    /* Names of sockets are short. */
    (void)snprintf(address.sun_path, sizeof address.sun_path, ".git/refs/heads/talk");
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(chdir(path), 0);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(chdir(before), 0);
}

static void make_socket_head(const char *path)
{
    make_socket_branch(path);
    write_in(path, ".git/HEAD", "ref: refs/heads/talk\n");
}

/* HEAD leads to a branch, and that to another. */
static void make_pipe_behind(const char *path)
{
    repos_plain(path);
    write_in(path, ".git/refs/heads/main", "ref: refs/heads/far\n");
    pipe_at(path, ".git/refs/heads/far");
}

static void make_huge_packed_refs(const char *path)
{
    repos_plain(path);
    hole_at(path, ".git/packed-refs");
}

static void make_huge_branch(const char *path)
{
    repos_plain(path);
    hole_at(path, ".git/refs/heads/main");
}

static void make_huge_beside(const char *path)
{
    repos_plain(path);
    hole_at(path, ".git/refs/heads/huge");
}

static void make_huge_config(const char *path)
{
    repos_plain(path);
    hole_at(path, ".git/config");
}

static void make_linked_git(const char *path)
{
    AUTO_FREE char *target = NULL;
    const char *source = repos_in("linked-git-of-somebody"); /* no folder of linked-git */
    repos_plain(source);
    make_folder(path);
    ck_assert_int_gt(asprintf(&target, "%s/.git", source), 0);
    link_at(path, ".git", target);
}

static void make_git_that_leads_nowhere(const char *path)
{
    make_folder(path);
    link_at(path, ".git", "/nowhere/at/all");
}

/* In the repo itself a link is as good as what it names. */
static void make_linked_inside(const char *path)
{
    AUTO_FREE char *from = path_join(path, ".git"), *to = path_join(path, "really");
    repos_plain(path);
    ck_assert_int_eq(rename(from, to), 0);
    link_at(path, ".git", "really");
    link_at(path, ".git/HEAD", "refs/heads/main");
}

static void make_linked_config(const char *path)
{
    const char *source = repos_in("victim-of-config");
    AUTO_FREE char *target = path_join(source, ".git/config");
    repos_plain(source);
    repos_plain(path);
    link_at(path, ".git/config", target);
}

static void make_linked_pack_folder(const char *path)
{
    const char *source = repos_in("victim-of-pack");
    AUTO_FREE char *target = path_join(source, ".git/objects/pack");
    repos_plain(source);
    repos_plain(path);
    remove_in(path, ".git/objects/pack");
    link_at(path, ".git/objects/pack", target);
}

static void make_linked_heads(const char *path)
{
    const char *source = repos_in("victim-of-heads");
    AUTO_FREE char *target = path_join(source, ".git/refs/heads");
    repos_plain(source);
    repos_plain(path);
    remove_in(path, ".git/refs/heads/main");
    remove_in(path, ".git/refs/heads");
    link_at(path, ".git/refs/heads", target);
}

static void include(const char *path, const char *what)
{
    repos_git(path, NULL, "config", "--add", "include.path", what, NULL);
}

static void make_including_elsewhere(const char *path)
{
    const char *secret = repos_in("secret-config");
    testing_write(secret, "[user]\n\tname = x\n", 18);
    repos_plain(path);
    include(path, secret);
}

static void make_including_home(const char *path)
{
    repos_plain(path);
    include(path, "~/.gitconfig-of-the-university");
}

static void make_including_own(const char *path)
{
    repos_plain(path);
    write_in(path, "course.gitconfig", "[user]\n\tname = x\n");
    include(path, "../course.gitconfig");
    include(path, "../course.gitconfig");
}

static void make_including_nothing(const char *path)
{
    repos_plain(path);
    include(path, "nowhere/at/all");
}

static void make_including_pipe(const char *path)
{
    repos_plain(path);
    pipe_at(path, "talk");
    write_in(path, ".git/more", "; more\n[INCLUDE] path = \"../talk\"\n");
    include(path, "more");
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
    {"plain", repos_plain, REPO_FINE, "", "first\n", 0},
    {"nothing", make_nothing, REPO_NOT_FOUND, "There is no folder", NULL, 0},
    {"file", make_file, REPO_NOT_GIT, "a file, not the folder of a repo", NULL, 0},
    {"folder", make_folder, REPO_NOT_GIT, "no git repo in that folder", NULL, 0},
    {"closed", make_closed, REPO_NO_ACCESS, "may not look into", NULL, 0},
    {"empty", repos_init, REPO_EMPTY, "not one commit", NULL, 0},
    {"empty-bare", make_empty_bare, REPO_EMPTY, "not one commit", NULL, 0},
    {"other-default", make_other_default, REPO_FINE, "", "first\n", 0},
    {"head-elsewhere", make_head_elsewhere, REPO_FINE, "", "first\n", FLAG(ONLY_BRANCH)},
    {"beside-feedback", make_beside_feedback, REPO_FINE, "", "first\n", FLAG(ONLY_BRANCH)},
    {"feedback-alone", make_feedback_alone, REPO_EMPTY, "not one commit", NULL, 0},
    {"default-feedback", make_default_feedback, REPO_FINE, "", "first\n", FLAG(ONLY_BRANCH)},
    {"default-feedback-two", make_default_feedback_with_two, REPO_FINE, "", "first\n",
     FLAG(ONLY_BRANCH)},
    {"default-feedback-work", make_default_feedback_without_main, REPO_NO_REF,
     "he default branch is feedback, to which instructors publish; the branches are dev, work",
     NULL, 0},
    {"default-feedback-alone", make_default_feedback_alone, REPO_EMPTY,
     "not one commit was pushed, but feedback", NULL, 0},
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
    {"linked-object", make_linked_object, REPO_BORROWED, "is a link to somewhere else", NULL, 0},
    {"linked-branch", make_linked_branch, REPO_BORROWED, "refs/heads/main is a link", NULL, 0},
    {"pipe-branch", make_pipe_branch, REPO_DAMAGED, "refs/heads/main is a pipe", NULL, 0},
    {"pipe-tag", make_pipe_tag, REPO_FINE, "", "first\n", 0},
    {"pipe-head", make_pipe_head, REPO_DAMAGED, "HEAD is a pipe", NULL, 0},
    {"pipe-config", make_pipe_config, REPO_DAMAGED, "config is a pipe", NULL, 0},
    {"pipe-packed-refs", make_pipe_packed_refs, REPO_DAMAGED, "packed-refs is a pipe", NULL, 0},
    {"pipe-shallow", make_pipe_shallow, REPO_DAMAGED, "shallow is a pipe", NULL, 0},
    {"pipe-object", make_pipe_object, REPO_DAMAGED, "is a pipe (FIFO) where a file", NULL, 0},
    {"pipe-index", make_pipe_index, REPO_DAMAGED, ".idx is a pipe", NULL, 0},
    {"pipe-itself", make_pipe_itself, REPO_DAMAGED, ".git is neither", NULL, 0},
    {"pipe-behind", make_pipe_behind, REPO_DAMAGED, "refs/heads/far is a pipe", NULL, 0},
    {"socket-branch", make_socket_branch, REPO_FINE, "", "first\n", 0},
    {"socket-head", make_socket_head, REPO_DAMAGED, "refs/heads/talk is a socket", NULL, 0},
    {"huge-packed-refs", make_huge_packed_refs, REPO_DAMAGED,
     "packed-refs has 1,099,511,627,776 bytes", NULL, 0},
    {"huge-branch", make_huge_branch, REPO_DAMAGED, "refs/heads/main has 1,099,511", NULL, 0},
    {"huge-beside", make_huge_beside, REPO_DAMAGED, "refs/heads/huge has 1,099,511", NULL, 0},
    {"huge-config", make_huge_config, REPO_DAMAGED, "config has 1,099,511", NULL, 0},
    {"linked-git", make_linked_git, REPO_BORROWED, ".git is a link to somewhere", NULL, 0},
    {"git-nowhere", make_git_that_leads_nowhere, REPO_BORROWED, "leads nowhere", NULL, 0},
    {"linked-inside", make_linked_inside, REPO_FINE, "", "first\n", 0},
    {"linked-config", make_linked_config, REPO_BORROWED, "config is a link", NULL, 0},
    {"linked-packs", make_linked_pack_folder, REPO_BORROWED, "objects/pack is a link", NULL, 0},
    {"linked-heads", make_linked_heads, REPO_BORROWED, "refs/heads is a link", NULL, 0},
    {"including-elsewhere", make_including_elsewhere, REPO_FORMAT, "includes another file", NULL,
     0},
    {"including-home", make_including_home, REPO_FINE, "", "first\n", 0},
    {"including-own", make_including_own, REPO_FINE, "", "first\n", 0},
    {"including-nothing", make_including_nothing, REPO_FINE, "", "first\n", 0},
    {"including-pipe", make_including_pipe, REPO_DAMAGED, "talk, which is a pipe", NULL, 0},
    {"odd-names", make_odd_names, REPO_FINE, "", "odd\n", 0},
    {"no-source", make_without_source, REPO_NO_SOURCE,
     "has no file registers.cu: it belongs in the top folder, starter/day17-registers or "
     "day17-registers. Commit the file and push it.",
     NULL, 0},
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
    bool walled = rows[i].make == make_including_elsewhere;
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

Suite *suite_repo_fetch(void)
{
    Suite *suite = suite_create("repo_fetch");
    TCase *tests = tcase_create("repo_fetch");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, kinds_of_repos, 0, COUNT_OF(rows));
    suite_add_tcase(suite, tests);
    return suite;
}

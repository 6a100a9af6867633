#include "support_repos.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "files.h"

#define ARGUMENTS_MAX 40

bool repos_have_git(void)
{
    AUTO_FREE char *git = program_find("git");
    return git != NULL;
}

const char *repos_in(const char *name)
{
    static char *kept[16];
    static size_t next;
    size_t slot = next++ % COUNT_OF(kept);
    free(kept[slot]);
    kept[slot] = path_join(testing_temporary_folder(), name);
    ck_assert_ptr_nonnull(kept[slot]);
    return kept[slot];
}

/* ---- git ------------------------------------------------------------------------------------- */

static bool run_git(const char *folder, const char *date, struct bytes *output, va_list arguments)
{
    AUTO_FREE char *git = program_find("git");
    AUTO_FREE char *home = NULL, *author = NULL, *committer = NULL, *path = NULL;
    const char *when = date != NULL ? date : "2026-01-01T12:00:00+0000";
    ck_assert_ptr_nonnull(git);
    ck_assert_int_gt(asprintf(&home, "HOME=%s", testing_temporary_folder()), 0);
    ck_assert_int_gt(asprintf(&author, "GIT_AUTHOR_DATE=%s", when), 0);
    ck_assert_int_gt(asprintf(&committer, "GIT_COMMITTER_DATE=%s", when), 0);
    ck_assert_int_gt(asprintf(&path, "PATH=%s", getenv("PATH")), 0);
    const char *const environment[] = {home,
                                       author,
                                       committer,
                                       path,
                                       "GIT_CONFIG_NOSYSTEM=1",
                                       "GIT_CONFIG_GLOBAL=/dev/null",
                                       "GIT_AUTHOR_NAME=A Student",
                                       "GIT_AUTHOR_EMAIL=student@example.org",
                                       "GIT_COMMITTER_NAME=A Student",
                                       "GIT_COMMITTER_EMAIL=student@example.org",
                                       "GIT_TERMINAL_PROMPT=0",
                                       NULL};
    const char *argv[ARGUMENTS_MAX] = {git,  "-c",        "protocol.file.allow=always",
                                       "-c", "gc.auto=0", NULL};
    size_t used = 5;
    for (const char *argument; (argument = va_arg(arguments, const char *)) != NULL;) {
        ck_assert_uint_lt(used + 1, COUNT_OF(argv));
        argv[used++] = argument;
    }
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .directory = folder,
                                      .wall_ns = INT64_C(60000000000),
                                      .merge_error = true,
                                      .output_limit = (size_t)1 << 20};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "git: %s", err.text);
    bool fine = !result.timed_out && !result.signalled && result.exit_code == 0;
    if (output != NULL) {
        *output = bytes_with_limit((size_t)1 << 20);
        (void)bytes_append(output, result.output.data, result.output.length);
    } else
        ck_assert_msg(fine, "git %s %s: %s", argv[5], argv[6] != NULL ? argv[6] : "",
                      bytes_text(&result.output));
    process_result_release(&result);
    return fine;
}

void repos_git(const char *folder, const char *date, ...)
{
    va_list arguments;
    va_start(arguments, date);
    (void)run_git(folder, date, NULL, arguments);
    va_end(arguments);
}

bool repos_try_git(const char *folder, const char *date, struct bytes *output, ...)
{
    struct bytes unused = {0};
    va_list arguments;
    va_start(arguments, output);
    bool fine = run_git(folder, date, output != NULL ? output : &unused, arguments);
    va_end(arguments);
    bytes_release(&unused);
    return fine;
}

void repos_id(const char *folder, const char *revision, char into[41])
{
    struct bytes output;
    ck_assert(repos_try_git(folder, NULL, &output, "rev-parse", "--verify", revision, NULL));
    ck_assert_uint_ge(output.length, 40);
    (void)snprintf(into, 41, "%.40s", output.data);
    bytes_release(&output);
}

void repos_init(const char *folder)
{
    repos_git("/", NULL, "init", "-q", "-b", "main", folder, NULL);
}

void repos_commit(const char *folder, const char *name, const char *content, const char *date)
{
    AUTO_FREE char *path = path_join(folder, name);
    ck_assert_ptr_nonnull(path);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; ++slash) {
        *slash = '\0';
        ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    testing_write(path, content, strlen(content));
    repos_git(folder, date, "add", "-A", "-f", NULL);
    repos_git(folder, date, "commit", "-q", "--allow-empty", "-m", "work", NULL);
}

void repos_plain(const char *folder)
{
    repos_init(folder);
    repos_commit(folder, REPOS_SOURCE, "first\n", NULL);
    repos_commit(folder, "answers.ini", "lab = " REPOS_LAB "\n", NULL);
}

/* ---- Fetching -------------------------------------------------------------------------------- */

struct repo_request repos_request(const char *address)
{
    static const struct repo_wanted wanted[] = {
        {REPOS_SOURCE, "starter", LIMIT_SOURCE_BYTES, false, NULL},
        {"answers.ini", "exercises", LIMIT_ANSWERS_BYTES, false, NULL},
    };
    static char *cache;
    free(cache);
    cache = repo_cache_folder(testing_temporary_folder(), address);
    ck_assert_ptr_nonnull(cache);
    return (struct repo_request){.address = address,
                                 .cache = cache,
                                 .lab_id = REPOS_LAB,
                                 .now_s = REPOS_NOW,
                                 .wanted = wanted,
                                 .wanted_count = COUNT_OF(wanted)};
}

struct repo_answer repos_fetch_with(const struct repo_request *request,
                                    const struct repo_options *options)
{
    struct error err = {0};
    struct repo_answer answer;
    repo_fetcher_use(testing_binary());
    struct repo_fetcher *fetcher = repo_fetcher_open(options, &err);
    ck_assert_msg(fetcher != NULL, "%s", err.text);
    ck_assert_msg(repo_fetch(fetcher, request, &answer, &err) == 0, "%s", err.text);
    repo_fetcher_close(fetcher);
    return answer;
}

struct repo_answer repos_fetch(const struct repo_request *request)
{
    const struct repo_options options = {.backoff_ns = 1000000, .silence_ns = 20000000000};
    return repos_fetch_with(request, &options);
}

const char *repos_words(const struct repo_answer *answer)
{
    static struct bytes words;
    bytes_release(&words);
    words = bytes_with_limit(4000);
    repo_answer_describe(answer, &words);
    return bytes_text(&words);
}

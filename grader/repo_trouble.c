/* repo_trouble.c - what libgit2 and servers say, as reasons.
 *
 * libgit2 has few codes and many sentences, which differ from release to release: the tables below
 * hold what 1.1 to 1.9 say. What is in none of them keeps its own words. */
#include "repo_work.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "process.h"
#include "text.h"

int repo_work_refuse(struct repo_work *work, enum repo_reason reason, const char *format, ...)
{
    if (work->reply.reason != REPO_FINE)
        return 0;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(work->reply.detail, sizeof work->reply.detail, format, arguments);
    va_end(arguments);
    text_clean(work->reply.detail);
    work->reply.reason = reason;
    return 0;
}

int repo_work_machine(struct repo_work *work, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(work->err, ERROR_INFRASTRUCTURE, "%s", text);
}

void repo_work_flag(struct repo_work *work, enum repo_flag flag, const char *format, ...)
{
    if ((work->reply.flags >> flag & 1) != 0)
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(work->reply.flag_text[flag], sizeof work->reply.flag_text[flag], format,
                    arguments);
    va_end(arguments);
    text_clean(work->reply.flag_text[flag]);
    work->reply.flags |= 1u << flag;
}

void repo_work_sign_of_life(struct repo_work *work)
{
    int64_t now = process_now_ns();
    if (work->answers < 0 || now - work->said_life_ns < INT64_C(1000000000))
        return;
    work->said_life_ns = now;
    (void)send(work->answers, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

const char *repo_git_words(void)
{
    const git_error *last = git_error_last();
    return last != NULL && last->message != NULL ? last->message : "";
}

bool repo_git_disk_full(void)
{
    const char *words = repo_git_words();
    return strstr(words, "No space left") != NULL || strstr(words, "Disk quota") != NULL;
}

bool repo_git_too_large(void)
{
    const git_error *last = git_error_last();
    return last != NULL && (last->klass == GIT_ERROR_NOMEMORY ||
                            strstr(repo_git_words(), "File too large") != NULL);
}

int repo_work_too_large(struct repo_work *work)
{
    return repo_work_refuse(work, REPO_TOO_LARGE,
                            "its history is larger than %llu MB or %llu objects",
                            (unsigned long long)(work->task->most_bytes >> 20),
                            (unsigned long long)work->task->most_objects);
}

int repo_work_too_deep(struct repo_work *work, const char *tag)
{
    return repo_work_refuse(
        work, REPO_NO_COMMIT,
        "%.100s is a tag of a tag of a tag and so on: no commit was found after "
        "%d of them",
        tag, LIMIT_REPO_TAG_DEPTH);
}

/* ---- Opening --------------------------------------------------------------------------------- */

struct saying {
    const char *words; /* part of what was said, small letters */
    enum repo_reason reason;
    const char *detail; /* NULL: what was said */
};

static const char not_git[] = "there is no git repo in that folder";
static const char sha256[] = "the repo names its objects by SHA-256, which libgit2 does not read; "
                             "git's own default is SHA-1";

static const struct saying openings[] = {
    {"objectformat", REPO_SHA256, sha256},
    {"object format", REPO_SHA256, sha256},
    {"unsupported extension", REPO_FORMAT, NULL},
    {"unsupported repository version", REPO_FORMAT, NULL},
    {"could not find repository", REPO_NOT_GIT, not_git},
    {"is not a git repository", REPO_NOT_GIT, not_git},
    {"permission denied", REPO_NO_ACCESS, NULL},
    {"not owned by", REPO_OWNER, NULL},
    {"safe.directory", REPO_OWNER, NULL},
};

/* NULL: nothing in the table. */
static const struct saying *find(const struct saying *table, size_t count, const char *words)
{
    for (size_t i = 0; i < count; ++i)
        if (strcasestr(words, table[i].words) != NULL)
            return &table[i];
    return NULL;
}

int repo_work_cannot_open(struct repo_work *work, int code)
{
    char words[400];
    (void)text_copy(words, sizeof words, repo_git_words());
    const struct saying *saying = find(openings, COUNT_OF(openings), words);
    if (saying != NULL)
        return repo_work_refuse(work, saying->reason, "%s",
                                saying->detail != NULL ? saying->detail : words);
    if (code == GIT_ENOTFOUND)
        return repo_work_refuse(work, REPO_NOT_GIT, "%s", not_git);
    return repo_work_refuse(work, REPO_DAMAGED, "the repo cannot be opened: %s", words);
}

/* ---- Talking --------------------------------------------------------------------------------- */

/* In this order: the first that fits. */
/* clang-format off */
static const struct saying talks[] = {
    /* http */
    {"status code: 401", REPO_NO_ACCESS, "the server takes neither no credential nor the one that was offered"},
    {"status code: 403", REPO_NO_ACCESS, "the server forbids it (HTTP 403)"},
    {"status code: 404", REPO_NOT_FOUND, "the server knows no such repo (HTTP 404)"},
    {"status code: 410", REPO_NOT_FOUND, "the server says that the repo is gone (HTTP 410)"},
    {"status code: 429", REPO_NETWORK, "the server is asked too often (HTTP 429)"},
    {"status code: 5", REPO_NETWORK, NULL},
    {"status code: 4", REPO_NOT_FOUND, NULL},
    {"cannot redirect", REPO_MOVED, NULL},
    {"unexpected redirect", REPO_MOVED, NULL},
    {"too many redirects", REPO_MOVED, NULL},
    {"invalid content-type: 'text/plain", REPO_NOT_GIT, "the server hands out files, but does not speak git's smart protocol"},
    {"content-type", REPO_NOT_GIT, "what answers there is no git server"},
    {"authentication required", REPO_NO_ACCESS, "the server asks for a credential, and there is none for it (some servers do so for repos that do not exist, too)"},
    {"authentication failure", REPO_NO_ACCESS, "the server does not take the credential"},
    {"too many authentication", REPO_NO_ACCESS, "the server does not take the credential"},
    /* The way there */
    {"certificate", REPO_CERTIFICATE, NULL},
    {"ssl error", REPO_CERTIFICATE, NULL},
    {"ssl handshake", REPO_CERTIFICATE, NULL},
    {"name or service not known", REPO_NOT_FOUND, "no server of that name is known"},
    {"no address associated", REPO_NOT_FOUND, "no server of that name is known"},
    {"failed to resolve", REPO_NETWORK, NULL},
    {"failed to connect", REPO_NETWORK, NULL},
    {"failed to init ssl", REPO_CERTIFICATE, NULL},
    /* Repos */
    {"object format", REPO_SHA256, sha256},
    {"object-format", REPO_SHA256, sha256},
    {"aborting due to possible repository corruption", REPO_DAMAGED, "the server says that objects of the repo are missing or corrupt"},
    {"unable to read", REPO_DAMAGED, "the server says that objects of the repo are missing or corrupt"},
    {"bad object", REPO_DAMAGED, "the server says that objects of the repo are missing or corrupt"},
    {"is corrupt", REPO_DAMAGED, "the server says that objects of the repo are missing or corrupt"},
    {"missing object", REPO_DAMAGED, "the server says that objects of the repo are missing or corrupt"},
    {"missing tree", REPO_DAMAGED, "the server says that objects of the repo are missing or corrupt"},
    {"missing blob", REPO_DAMAGED, "the server says that objects of the repo are missing or corrupt"},
    {"does not appear to be a git repository", REPO_NOT_FOUND, "the server has no git repo there"},
    {"not found", REPO_NOT_FOUND, NULL},
    {"not exported", REPO_NOT_FOUND, "the server has no such repo, or does not hand it out"},
    {"access denied", REPO_NO_ACCESS, NULL},
    {"permission denied", REPO_NO_ACCESS, NULL},
    {"denied to", REPO_NO_ACCESS, NULL},
    {"not authorized", REPO_NO_ACCESS, NULL},
};
/* clang-format on */

int repo_work_cannot_talk(struct repo_work *work, int code)
{
    if (work->reply.reason != REPO_FINE)
        return 0;
    char words[400];
    (void)text_copy(words, sizeof words, repo_git_words());
    if (repo_git_too_large())
        return repo_work_too_large(work);
    if (repo_git_disk_full())
        return repo_work_machine(work, "cannot write the cache: %s", words);
    if (work->sha256)
        return repo_work_refuse(work, REPO_SHA256, "%s", sha256);
    if ((work->reply.traits & REPO_TRAIT_SHALLOW) != 0)
        return repo_work_refuse(
            work, REPO_SHALLOW,
            "the repo on the server is a shallow clone, from which this libgit2 "
            "cannot fetch");
    /* What the server itself said is nearer to the cause than what libgit2 made of its end. */
    const struct saying *saying = find(talks, COUNT_OF(talks), work->remarks);
    const char *said = work->remarks;
    if (saying == NULL) {
        saying = find(talks, COUNT_OF(talks), words);
        said = words;
    }
    if (saying != NULL)
        return repo_work_refuse(work, saying->reason, "%s",
                                saying->detail != NULL ? saying->detail : said);
    if (code == GIT_EAUTH)
        return repo_work_refuse(work, REPO_NO_ACCESS, "the server does not take the credential");
    if (code == GIT_ECERTIFICATE)
        return repo_work_refuse(work, REPO_CERTIFICATE, "%s", words);
    if (work->reply.state[0] != '\0') /* it has listed its refs */
        return repo_work_refuse(
            work, REPO_NETWORK,
            "the server broke off while it sent objects (%s): the connection was "
            "lost, or objects of the repo are missing there",
            words);
    return repo_work_refuse(work, REPO_NETWORK, "the connection broke off: %s", words);
}

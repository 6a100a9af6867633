/* repo_owner.c - folders of other users.
 *
 * git refuses them (CVE-2022-24765), since a repo's configuration and hooks can run programs. None
 * of that happens here, but an instructor who is used to git's answer shall get the same one, and
 * the same remedy shall help. libgit2 has several codes and sentences for it, and 1.5 does not know
 * '*': so the rule of git-config(1), "safe.directory", is written out here. */
#include "repo_call.h"

#include <git2.h>
#include <sys/stat.h>

#include "files.h"
#include "number.h"

#define TRUSTED_MAX 10000

static void forget(struct repo_fetcher *fetcher)
{
    for (size_t i = 0; i < fetcher->trusted_count; ++i)
        free(fetcher->trusted[i]);
    fetcher->trusted_count = 0;
}

static int note(const git_config_entry *entry, void *context)
{
    struct repo_fetcher *fetcher = context;
    if (entry->value[0] == '\0') { /* an empty value takes back what was said before */
        forget(fetcher);
        return 0;
    }
    if (fetcher->trusted_count == TRUSTED_MAX)
        return 0;
    char **more = reallocarray(fetcher->trusted, fetcher->trusted_count + 1, sizeof *more);
    if (more == NULL)
        return -1;
    fetcher->trusted = more;
    more[fetcher->trusted_count] = strdup(entry->value);
    if (more[fetcher->trusted_count] == NULL)
        return -1;
    ++fetcher->trusted_count;
    return 0;
}

int repo_owner_load(struct repo_fetcher *fetcher, struct error *err)
{
    git_config *config = NULL;
    /* A configuration that cannot be read trusts nobody. */
    if (git_config_open_default(&config) != 0)
        return 0;
    int code = git_config_get_multivar_foreach(config, "safe.directory", NULL, note, fetcher);
    git_config_free(config);
    return code == -1 && fetcher->trusted == NULL ? error_no_memory(err) : 0;
}

void repo_owner_release(struct repo_fetcher *fetcher)
{
    forget(fetcher);
    free(fetcher->trusted);
    fetcher->trusted = NULL;
}

static bool matches(const char *entry, const char *path)
{
    size_t length = strlen(entry);
    if (strcmp(entry, "*") == 0)
        return true;
    if (length >= 2 && strcmp(entry + length - 2, "/*") == 0)
        return strncmp(entry, path, length - 1) == 0;
    AUTO_FREE char *real = realpath(entry, NULL);
    return strcmp(entry, path) == 0 || (real != NULL && strcmp(real, path) == 0);
}

static bool is_ours(uid_t owner)
{
    uint64_t invoker = 0;
    const char *sudo = getenv("SUDO_UID");
    if (owner == geteuid())
        return true;
    return geteuid() == 0 && sudo != NULL && number_parse_u64(sudo, UINT32_MAX, &invoker) &&
           invoker == owner;
}

static bool is_foreign(const char *path, uid_t *owner)
{
    struct stat info;
    if (stat(path, &info) != 0 || is_ours(info.st_uid))
        return false;
    *owner = info.st_uid;
    return true;
}

bool repo_owner_trusts(const struct repo_fetcher *fetcher, const char *path, char detail[700])
{
    AUTO_FREE char *inner = path_join(path, ".git");
    uid_t owner = 0;
    if (!is_foreign(path, &owner) && (inner == NULL || !is_foreign(inner, &owner)))
        return true;
    for (size_t i = 0; i < fetcher->trusted_count; ++i)
        if (matches(fetcher->trusted[i], path))
            return true;
    (void)snprintf(detail, 700,
                   "the folder %.400s belongs to another user (number %u), and git does not read "
                   "such ones unasked (\"dubious ownership\")",
                   path, (unsigned)owner);
    return false;
}

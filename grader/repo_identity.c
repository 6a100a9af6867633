#include "repo_identity.h"

#include <ctype.h>
#include <errno.h>

#include "files.h"
#include "repo_url.h"
#include "slice.h"

static void cut_end(char *path, const char *end)
{
    size_t length = strlen(path), cut = strlen(end);
    if (length > cut + 1 && strcmp(path + length - cut, end) == 0 && path[length - cut - 1] != '/')
        path[length - cut] = '\0';
}

static char *absolute_path(const char *path, const char *folder)
{
    char *whole = path[0] == '/' ? strdup(path) : path_join(folder, path);
    if (whole != NULL)
        path_shorten(whole);
    return whole;
}

static char *folder_identity(const char *path, const char *folder)
{
    AUTO_FREE char *whole = absolute_path(path, folder);
    if (whole == NULL)
        return NULL;
    char *real = realpath(whole, NULL);
    if (real == NULL && errno == ENOMEM)
        return NULL;
    if (real == NULL) {
        cut_end(whole, ".git");
        real = strdup(whole);
    }
    if (real != NULL)
        cut_end(real, "/.git");
    return real;
}

static void lower(char *text)
{
    for (; *text != '\0'; ++text)
        *text = (char)tolower((unsigned char)*text);
}

static bool ignores_case(const char *host)
{
    static const char *const hosts[] = {"github.com", "gitlab.com", "bitbucket.org"};
    for (size_t i = 0; i < COUNT_OF(hosts); ++i)
        if (strcmp(host, hosts[i]) == 0)
            return true;
    return false;
}

static char *server_identity(struct repo_url *url)
{
    static const unsigned own_ports[] = {
        [REPO_HTTPS] = 443, [REPO_HTTP] = 80, [REPO_GIT] = 9418, [REPO_SSH] = 22};
    char port[16] = "", *whole = NULL;
    /* The user of an https address says nothing; that of ssh may have a home of its own. */
    bool has_user = url->kind == REPO_SSH && url->user[0] != '\0' && strcmp(url->user, "git") != 0;
    if (url->port != 0 && url->port != own_ports[url->kind])
        (void)snprintf(port, sizeof port, ":%u", url->port);
    lower(url->host);
    path_shorten(url->path);
    cut_end(url->path, ".git");
    if (ignores_case(url->host))
        lower(url->path);
    if (asprintf(&whole, "%s%s%s%s/%s", has_user ? url->user : "", has_user ? "@" : "", url->host,
                 port, url->path + strspn(url->path, "/")) < 0)
        return NULL;
    return whole;
}

char *repo_identity(const char *address, const char *folder)
{
    char problem[300], *identity = NULL;
    struct repo_url *url = malloc(sizeof *url);
    if (url == NULL)
        return NULL;
    if (!repo_url_parse(url, address, problem))
        identity = strdup(address);
    else if (repo_kind_is_local(url->kind))
        identity = folder_identity(url->path, folder);
    else
        identity = server_identity(url);
    free(url);
    return identity;
}

char *repo_location(const char *address, const char *folder)
{
    enum repo_kind kind;
    char problem[300];
    return repo_classify(address, &kind, problem) && kind == REPO_PATH
               ? absolute_path(address, folder)
               : strdup(address);
}

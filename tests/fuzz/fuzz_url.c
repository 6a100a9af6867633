/* fuzz_url.c - any text is the address of a repo, taken apart, or refused in words that hold no
 * secret; what could be an option or a program is never taken. */
#include <assert.h>

#include "repo_url.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_url(const struct repo_url *url)
{
    assert(url->user[0] != '-' && url->host[0] != '-' && url->port <= 65535);
    assert(strpbrk(url->host, " \t\r\n/@") == NULL && strpbrk(url->user, " \t\r\n/@") == NULL);
    assert((url->host[0] == '\0') == repo_kind_is_local(url->kind));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct repo_url url;
    char problem[300] = "";
    char *text = strndup((const char *)data, length);
    if (text == NULL)
        return 0;
    if (repo_url_parse(&url, text, problem))
        check_url(&url);
    else
        assert(problem[0] != '\0' && text_is_utf8(problem, strlen(problem)));
    size_t before = strlen(text);
    repo_url_redact(text, before > 3 ? "abc" : NULL);
    assert(strlen(text) <= before && (before <= 3 || strstr(text, "abc") == NULL));
    free(text);
    return 0;
}

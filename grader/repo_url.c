/* repo_url.c - addresses as git reads them (git-fetch(1), "GIT URLS"), less what a student has no
 * business to write. */
#include "repo_url.h"

#include <ctype.h>
#include <stdarg.h>

#include "number.h"
#include "slice.h"
#include "text.h"

static bool refuse(char problem[300], const char *format, ...) PRINTF_LIKE(2, 3);

static bool refuse(char problem[300], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(problem, 300, format, arguments);
    va_end(arguments);
    text_clean(problem);
    return false;
}

static const struct {
    const char *scheme;
    enum repo_kind kind;
} schemes[] = {
    {"file://", REPO_FILE_URL}, {"https://", REPO_HTTPS}, {"http://", REPO_HTTP},
    {"git://", REPO_GIT},       {"ssh://", REPO_SSH},     {"git+ssh://", REPO_SSH},
    {"ssh+git://", REPO_SSH},
};

bool repo_kind_is_local(enum repo_kind kind)
{
    return kind == REPO_PATH || kind == REPO_FILE_URL;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static bool copy(char *into, size_t room, struct slice part)
{
    if (part.length >= room)
        return false;
    if (part.length > 0)
        memcpy(into, part.text, part.length);
    into[part.length] = '\0';
    return true;
}

static bool all_of(struct slice part, const char *beyond_letters_and_digits)
{
    for (size_t i = 0; i < part.length; ++i)
        if (!isalnum((unsigned char)part.text[i]) &&
            strchr(beyond_letters_and_digits, part.text[i]) == NULL)
            return false;
    return part.length > 0;
}

/* Tokens of the large hosts, which people put in the place of the user's name. */
static bool looks_like_token(struct slice user)
{
    static const char *const beginnings[] = {"ghp_", "gho_",        "ghu_",    "ghs_",
                                             "ghr_", "github_pat_", "glpat-",  "gldt-",
                                             "ATBB", "x-oauth",     "x-access"};
    for (size_t i = 0; i < COUNT_OF(beginnings); ++i)
        if (slice_starts_with(user, beginnings[i]))
            return true;
    return user.length > 39; /* the longest user name that the large hosts have */
}

static bool take_user(struct repo_url *ret, struct slice user, char problem[300])
{
    if (slice_find_char(user, ':') != NULL || looks_like_token(user))
        return refuse(problem, "holds a password or token, which would land in logs: take it out; "
                               "an ssh agent, SPILLWAY_GIT_TOKEN or git's credential helper hold "
                               "such things");
    if (!all_of(user, "._-+~") || user.text[0] == '-' || !copy(ret->user, sizeof ret->user, user))
        return refuse(problem, "has a user's name that is none: letters, digits and . _ - + ~, the "
                               "first not a dash");
    return true;
}

static bool take_port(struct repo_url *ret, struct slice port, char problem[300])
{
    uint64_t number = 0;
    if (port.length == 0)
        return true;
    if (!slice_is_digit_at(port, 0) || slice_digits(port) != port.length ||
        !number_parse_u64_bytes(port.text, port.length, 65535, &number) || number == 0)
        return refuse(problem, "has a port that is none: expected a number from 1 to 65535");
    ret->port = (unsigned)number;
    return true;
}

/* host, host:port, [::1]:port. */
static bool take_host(struct repo_url *ret, struct slice host, bool with_port, char problem[300])
{
    const char *close = slice_is_char_at(host, 0, '[') ? slice_find_char(host, ']') : NULL;
    struct slice name = host, port = {0};
    if (close != NULL) {
        name = slice_from(slice_to(host, close), 1);
        port = slice_from(host, (size_t)(close - host.text) + 1);
        if (port.length > 0 && port.text[0] != ':')
            return refuse(problem, "has something behind the ] of its host");
        port = port.length > 0 ? slice_from(port, 1) : port;
        if (!all_of(name, ":.%") || slice_find_char(name, ':') == NULL)
            return refuse(problem, "has no IPv6 address between [ and ]");
    } else {
        const char *colon = slice_find_char(host, ':');
        if (colon != NULL) {
            name = slice_to(host, colon);
            port = slice_from(host, name.length + 1);
        }
        if (!all_of(name, ".-_"))
            return refuse(problem, "has no host's name: letters, digits, dots and dashes");
    }
    if (name.text[0] == '-' || !copy(ret->host, sizeof ret->host, name))
        return refuse(problem, "has no host's name: letters, digits, dots and dashes, the first no "
                               "dash, at most 255");
    if (port.length > 0 && !with_port)
        return refuse(problem, "has a port where scp's way of writing has none: write "
                               "ssh://host:port/path");
    return take_port(ret, port, problem);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes %xx. */
static bool decode_path(struct repo_url *ret, struct slice path, char problem[300])
{
    size_t used = 0;
    for (size_t i = 0; i < path.length && used < LIMIT_REPO_URL_BYTES; ++i) {
        char c = path.text[i];
        if (c == '%') {
            int high = i + 2 < path.length ? hex_value(path.text[i + 1]) : -1;
            int low = i + 2 < path.length ? hex_value(path.text[i + 2]) : -1;
            if (high < 0 || low < 0 || high * 16 + low < ' ')
                return refuse(problem, "has a %% that no two hex digits of a character follow: "
                                       "write %%25 for a percent sign");
            c = (char)(high * 16 + low);
            i += 2;
        }
        ret->path[used++] = c;
    }
    ret->path[used] = '\0';
    return true;
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

static bool is_this_machine(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           strncmp(host, "127.", 4) == 0;
}

static bool take_file(struct repo_url *ret, struct slice rest, char problem[300])
{
    const char *slash = slice_find_char(rest, '/');
    struct slice host = slash == NULL ? rest : slice_to(rest, slash);
    if (slash == NULL || (host.length > 0 && !slice_is(host, "localhost")))
        return refuse(problem, "names another machine: a file:// URL has three slashes, "
                               "file:///absolute/path");
    return decode_path(ret, slice_from(rest, host.length), problem);
}

/* What stands behind "scheme://" of a server. */
static bool take_server(struct repo_url *ret, struct slice rest, char problem[300])
{
    const char *slash = slice_find_char(rest, '/');
    struct slice place = slash == NULL ? rest : slice_to(rest, slash);
    struct slice path = slash == NULL ? (struct slice){0} : slice_from(rest, place.length);
    const char *at = slice_find_last(place, "@");
    if (at != NULL) {
        if (!take_user(ret, slice_to(place, at), problem))
            return false;
        place = slice_from(place, (size_t)(at - place.text) + 1);
    }
    if (!take_host(ret, place, true, problem))
        return false;
    if (path.length < 2)
        return refuse(problem, "has no path behind the host");
    if (slice_find_char(path, '?') != NULL || slice_find_char(path, '#') != NULL)
        return refuse(problem, "has a ? or # in it, which no repo's address has: copy the one that "
                               "`git clone` takes, not the page's");
    if ((ret->kind == REPO_HTTP || ret->kind == REPO_GIT) && !is_this_machine(ret->host))
        return refuse(problem, "travels unencrypted, so that anybody on the way can read and "
                               "change it: write https://");
    if (ret->kind != REPO_SSH)
        return copy(ret->path, sizeof ret->path, path);
    /* ssh://host/~user/x is ~user/x to the server. */
    return decode_path(ret, slice_is_char_at(path, 1, '~') ? slice_from(path, 1) : path, problem);
}

/* user@host:path, host:path, [::1]:path. */
static bool take_scp(struct repo_url *ret, struct slice place, struct slice path, char problem[300])
{
    ret->kind = REPO_SSH;
    const char *at = slice_find_last(place, "@");
    if (at != NULL) {
        if (!take_user(ret, slice_to(place, at), problem))
            return false;
        place = slice_from(place, (size_t)(at - place.text) + 1);
    }
    if (!take_host(ret, place, false, problem))
        return false;
    if (at == NULL && slice_find_char(path, '@') != NULL)
        return refuse(problem, "holds a password, or has an @ where none belongs: expected "
                               "user@host:path");
    if (path.length == 0 || path.text[0] == '-' || path.text[0] == ':')
        return refuse(problem, "has no path behind the colon");
    return copy(ret->path, sizeof ret->path, path);
}

/* The colon of scp's way of writing stands before any slash, and behind brackets if there are
 * some. NULL: there is none. */
static const char *scp_colon(struct slice text)
{
    const char *at = slice_find_char(text, '@');
    struct slice host = at == NULL ? text : slice_from(text, (size_t)(at - text.text) + 1);
    const char *close = slice_is_char_at(host, 0, '[') ? slice_find_char(host, ']') : NULL;
    if (close != NULL)
        return close + 1 < text.text + text.length && close[1] == ':' ? close + 1 : NULL;
    const char *colon = slice_find_char(text, ':'), *slash = slice_find_char(text, '/');
    return colon != NULL && (slash == NULL || colon < slash) ? colon : NULL;
}

/* "C:\ann" and "C:/ann" are ssh to git, with a host called C; "https:/host" likewise. */
static bool is_host_by_mistake(struct slice place, struct slice path, char problem[300])
{
    bool drive = place.length == 1 && isalpha((unsigned char)place.text[0]) &&
                 (slice_is_char_at(path, 0, '\\') || slice_is_char_at(path, 0, '/'));
    if (drive)
        return refuse(problem, "begins with a drive of Windows: write the path that this machine "
                               "knows the folder by, such as /mnt/c/…");
    for (size_t i = 0; i < COUNT_OF(schemes); ++i)
        if (place.length + strlen("://") == strlen(schemes[i].scheme) &&
            strncasecmp(schemes[i].scheme, place.text, place.length) == 0)
            return refuse(problem, "has too few slashes: write %s", schemes[i].scheme);
    return true;
}

static bool take_path(struct repo_url *ret, struct slice text, char problem[300])
{
    const char *slash = slice_find_char(text, '/'), *at = slice_find_char(text, '@');
    if (text.text[0] == '-')
        return refuse(problem, "begins with a dash: write ./ in front of it");
    if (slice_starts_with(text, "//"))
        return refuse(problem, "begins with two slashes: a URL has https: in front of them, a path "
                               "has one");
    if (text.text[0] == '\\')
        return refuse(problem, "begins with a backslash, as on Windows: write the path that this "
                               "machine knows the folder by, with slashes");
    if (text.text[0] == '~' && (text.length == 1 || slash != NULL))
        return refuse(problem, "begins with ~, which only shells understand: write the whole path");
    if (at != NULL && slash != NULL && at < slash && at != text.text && text.text[0] != '.')
        return refuse(problem, "looks like an ssh address without its colon: write user@host:path, "
                               "or ./ in front if it is a folder");
    ret->kind = REPO_PATH;
    return copy(ret->path, sizeof ret->path, text);
}

static bool is_fit(struct slice text, char problem[300])
{
    if (text.length == 0)
        return refuse(problem, "is empty: expected a path, or a URL that begins with https://, "
                               "ssh:// or file://, or user@host:path");
    if (text.length > LIMIT_REPO_URL_BYTES)
        return refuse(problem, "is longer than %d bytes", LIMIT_REPO_URL_BYTES);
    for (size_t i = 0; i < text.length; ++i)
        if ((unsigned char)text.text[i] < ' ' || text.text[i] == 0x7f)
            return refuse(problem, "holds a control character");
    if (!text_is_utf8(text.text, text.length))
        return refuse(problem, "is not UTF-8");
    return true;
}

bool repo_url_parse(struct repo_url *ret, const char *text, char problem[300])
{
    struct slice whole = {text, strlen(text)};
    *ret = (struct repo_url){.kind = REPO_PATH};
    problem[0] = '\0';
    if (!is_fit(whole, problem))
        return false;
    for (size_t i = 0; i < COUNT_OF(schemes); ++i) {
        size_t length = strlen(schemes[i].scheme);
        if (strncasecmp(text, schemes[i].scheme, length) != 0)
            continue;
        ret->kind = schemes[i].kind;
        struct slice rest = slice_from(whole, length);
        if (ret->kind == REPO_FILE_URL)
            return take_file(ret, rest, problem);
        if (slice_find_char(rest, ' ') != NULL)
            return refuse(problem, "has a blank in it: write %%20");
        return take_server(ret, rest, problem);
    }
    const char *colon = scp_colon(whole);
    if (colon == NULL)
        return take_path(ret, whole, problem);
    struct slice place = slice_to(whole, colon), path = slice_from(whole, place.length + 1);
    if (slice_starts_with(path, "//"))
        return refuse(problem, "is none of the URLs that are read here: https://, ssh:// and "
                               "file://");
    if (slice_starts_with(path, ":"))
        return refuse(problem, "names a helper program of git, and none is run here");
    return is_host_by_mistake(place, path, problem) && take_scp(ret, place, path, problem);
}

bool repo_classify(const char *text, enum repo_kind *ret, char problem[300])
{
    struct repo_url url;
    bool fits = repo_url_parse(&url, text, problem);
    if (fits)
        *ret = url.kind;
    return fits;
}

/* ---- Redaction ------------------------------------------------------------------------------- */

static void blank(char *text, size_t length)
{
    memset(text, '*', length);
}

void repo_url_redact(char *text, const char *secret)
{
    size_t length = secret == NULL ? 0 : strlen(secret);
    for (char *at = text; length > 0 && (at = strstr(at, secret)) != NULL; at += length)
        blank(at, length);
    for (char *at = text; (at = strstr(at, "://")) != NULL;) {
        at += 3;
        size_t place = strcspn(at, "/ \t\n\"'<>)");
        const char *end = memrchr(at, '@', place);
        if (end != NULL)
            blank(at, (size_t)(end - at));
    }
}

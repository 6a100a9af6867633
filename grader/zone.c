#include "zone.h"

#include <pthread.h>
#include <time.h>

#include "caps.h"
#include "files.h"

#define DAY_S INT64_C(86400)
#define FIRST_S INT64_C(0)
#define LAST_S INT64_C(4102444800) /* 2100-01-01 */

/* Zones live as long as the program: moments point at them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct zone *known[LIMIT_ZONES];
static size_t known_count;

/* Of the zone that TZ names just now. */
static int32_t offset_at(int64_t unix_s)
{
    time_t time = (time_t)unix_s;
    struct tm parts;
    return localtime_r(&time, &parts) == NULL ? 0 : (int32_t)parts.tm_gmtoff;
}

static int add_change(struct zone *zone, int64_t unix_s, int32_t offset_s)
{
    struct zone_change *grown =
        realloc(zone->changes, (zone->change_count + 1) * sizeof zone->changes[0]);
    if (grown == NULL)
        return -1;
    zone->changes = grown;
    grown[zone->change_count++] = (struct zone_change){unix_s, offset_s};
    return 0;
}

static int read_changes(struct zone *zone)
{
    int32_t offset = offset_at(FIRST_S);
    if (add_change(zone, INT64_MIN, offset) != 0)
        return -1;
    for (int64_t day = FIRST_S; day < LAST_S; day += DAY_S) {
        int32_t next = offset_at(day + DAY_S);
        if (next == offset)
            continue;
        int64_t before = day, after = day + DAY_S;
        while (after - before > 1) {
            int64_t middle = before + (after - before) / 2;
            if (offset_at(middle) == offset)
                before = middle;
            else
                after = middle;
        }
        if (add_change(zone, after, next) != 0)
            return -1;
        offset = next;
    }
    return 0;
}

/* Under the lock. */
static struct zone *make_zone(const char *name)
{
    struct zone *zone = calloc(1, sizeof *zone);
    const char *old = getenv("TZ");
    AUTO_FREE char *kept = old == NULL ? NULL : strdup(old);
    if (zone == NULL || (old != NULL && kept == NULL) || setenv("TZ", name, 1) != 0) {
        free(zone);
        return NULL;
    }
    tzset();
    (void)snprintf(zone->name, sizeof zone->name, "%s", name);
    int status = read_changes(zone);
    if (kept != NULL)
        (void)setenv("TZ", kept, 1);
    else
        (void)unsetenv("TZ");
    tzset();
    if (status == 0)
        return zone;
    free(zone->changes);
    free(zone);
    return NULL;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *database(void)
{
    const char *folder = getenv("TZDIR");
    return folder != NULL && folder[0] == '/' ? folder : "/usr/share/zoneinfo";
}

/* Letters, digits and _ + - in components: nothing that leads out of the database. */
static bool is_well_formed(const char *name)
{
    bool fresh = true;
    for (const char *at = name; *at != '\0'; ++at) {
        bool letter = (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z');
        bool other = (*at >= '0' && *at <= '9') || *at == '_' || *at == '+' || *at == '-';
        if (!letter && !(other && !fresh) && !(*at == '/' && !fresh))
            return false;
        fresh = *at == '/';
    }
    return !fresh && strlen(name) < sizeof((struct zone *)0)->name;
}

static bool is_utc(const char *name)
{
    return strcmp(name, "UTC") == 0 || strcmp(name, "GMT") == 0 || strcmp(name, "Etc/UTC") == 0;
}

/* CET, EST5EDT, …: some are in the database, but with offsets that surprise half of those who write
 * them. */
static bool is_abbreviation(const char *name)
{
    return strchr(name, '/') == NULL && strlen(name) <= 8 &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-") == strlen(name);
}

/* libc takes a name that it does not know for UTC, without a word. */
static bool check_name(const char *name, char problem[MOMENT_PROBLEM_BYTES])
{
    if (!is_well_formed(name)) {
        (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                       "`%.60s` is no time zone: expected a name of the IANA database, such as "
                       "Europe/Berlin",
                       name);
        return false;
    }
    if (is_utc(name))
        return true;
    if (is_abbreviation(name)) {
        (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                       "`%s` is an abbreviation, which other countries use for other hours: write "
                       "a name of the IANA database, such as Europe/Berlin, or an offset, such as "
                       "+02:00",
                       name);
        return false;
    }
    struct bytes content;
    AUTO_FREE char *path = path_join(database(), name);
    enum file_status status =
        path == NULL ? FILE_MISSING : file_read(&content, path, (size_t)1 << 20, true);
    bool known_name =
        status == FILE_READ && content.length >= 4 && memcmp(content.data, "TZif", 4) == 0;
    if (status == FILE_READ)
        bytes_release(&content);
    if (known_name)
        return true;
    if (access(database(), R_OK) != 0)
        (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                       "this machine has no time zones (%s): install tzdata, or write times with "
                       "an offset, such as 2026-03-29T23:59:00+02:00",
                       database());
    else
        (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                       "there is no time zone `%s`: names are those of the IANA database, such as "
                       "Europe/Berlin (`timedatectl list-timezones` lists them)",
                       name);
    return false;
}

const struct zone *zone_find(const char *name, char problem[MOMENT_PROBLEM_BYTES])
{
    problem[0] = '\0';
    if (strcmp(name, "Z") == 0 || strcmp(name, "z") == 0)
        name = "UTC";
    if (!check_name(name, problem))
        return NULL;
    (void)pthread_mutex_lock(&lock);
    struct zone *found = NULL;
    for (size_t i = 0; i < known_count && found == NULL; ++i)
        if (strcmp(known[i]->name, name) == 0)
            found = known[i];
    if (found == NULL && known_count < LIMIT_ZONES) {
        /* Without a database UTC is UTC all the same. */
        found = make_zone(is_utc(name) ? "UTC0" : name);
        if (found != NULL) {
            (void)snprintf(found->name, sizeof found->name, "%s", name);
            known[known_count++] = found;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    if (found == NULL)
        (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                       "more time zones than one run can hold (%d), or no memory", LIMIT_ZONES);
    return found;
}

const char *zone_name(const struct zone *zone)
{
    return zone->name;
}

const struct zone_change *zone_change_at(const struct zone *zone, int64_t unix_s)
{
    size_t low = 0, high = zone->change_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle].unix_s <= unix_s)
            low = middle;
        else
            high = middle;
    }
    return &zone->changes[low];
}

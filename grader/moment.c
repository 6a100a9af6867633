#include "moment.h"

#include <time.h>

#include "number.h"
#include "slice.h"
#include "zone.h"

#define DAY_S INT64_C(86400)

/* ---- Days ------------------------------------------------------------------------------------ */

/* Days from 1970-01-01 to a date of the Gregorian calendar, years 1 to 9999: whole years since
 * March of year 0, so that a leap day comes last, then the days of their months (which repeat as
 * 153 days in five months). */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted_month = (month + 9) % 12; /* March is 0 */
    int64_t y = month <= 2 ? year - 1 : year;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * shifted_month + 2) / 5 + day - 1 - 719468;
}

struct civil {
    int64_t year, month, day, hour, minute, second;
};

static int64_t month_days(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* Seconds since 1970 as if the time were UTC. */
static int64_t civil_seconds(const struct civil *c)
{
    return days_of(c->year, c->month, c->day) * DAY_S + c->hour * 3600 + c->minute * 60 + c->second;
}

static struct civil civil_of(int64_t seconds)
{
    int64_t days = seconds / DAY_S, rest = seconds % DAY_S;
    if (rest < 0) {
        --days;
        rest += DAY_S;
    }
    struct civil c = {.hour = rest / 3600, .minute = rest / 60 % 60, .second = rest % 60};
    /* Close from below, then by years and months: at most a few steps. */
    c.year = 1970 + days / 366 - (days < 0 ? 2 : 0);
    while (days_of(c.year + 1, 1, 1) <= days)
        ++c.year;
    c.month = 1;
    while (c.month < 12 && days_of(c.year, c.month + 1, 1) <= days)
        ++c.month;
    c.day = days - days_of(c.year, c.month, 1) + 1;
    return c;
}

/* ---- Local times ----------------------------------------------------------------------------- */

int32_t moment_offset(struct moment moment)
{
    return moment.zone == NULL ? moment.offset_s
                               : zone_change_at(moment.zone, moment.unix_s)->offset_s;
}

enum local_kind { LOCAL_ONCE, LOCAL_GAP, LOCAL_TWICE };

/* The instant of a local time, `local` seconds as if it were UTC. */
static enum local_kind instant_of(const struct zone *zone, int64_t local, int64_t *ret)
{
    /* No offset is a day or more, so the changes around decide. */
    int32_t before = zone_change_at(zone, local - DAY_S)->offset_s;
    int32_t after = zone_change_at(zone, local + DAY_S)->offset_s;
    int64_t by_before = local - before, by_after = local - after;
    bool before_holds = zone_change_at(zone, by_before)->offset_s == before;
    bool after_holds = zone_change_at(zone, by_after)->offset_s == after;
    *ret = before_holds && !after_holds ? by_before : by_after;
    if (before == after || before_holds != after_holds)
        return LOCAL_ONCE;
    if (before_holds)
        return LOCAL_TWICE; /* the clock went back: by_after is the later one */
    *ret = by_before;
    return LOCAL_GAP;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Exactly `digits` digits. */
static bool take_number(struct slice *s, size_t digits, int64_t min, int64_t max, int64_t *ret)
{
    uint64_t value = 0;
    if (slice_digits(*s) < digits ||
        !number_parse_u64_bytes(s->text, digits, (uint64_t)max, &value) || (int64_t)value < min)
        return false;
    *ret = (int64_t)value;
    *s = slice_from(*s, digits);
    return true;
}

static bool take_char(struct slice *s, char c)
{
    if (!slice_is_char_at(*s, 0, c))
        return false;
    *s = slice_from(*s, 1);
    return true;
}

static bool take_date(struct slice *s, struct civil *c)
{
    return take_number(s, 4, 1970, 9999, &c->year) && take_char(s, '-') &&
           take_number(s, 2, 1, 12, &c->month) && take_char(s, '-') &&
           take_number(s, 2, 1, month_days(c->year, c->month), &c->day);
}

/* 23:59, 23:59:30 or 23:59:30.25; a leap second counts as the one before. */
static bool take_time(struct slice *s, struct civil *c)
{
    if (!take_number(s, 2, 0, 23, &c->hour) || !take_char(s, ':') ||
        !take_number(s, 2, 0, 59, &c->minute))
        return false;
    if (!take_char(s, ':'))
        return true;
    if (!take_number(s, 2, 0, 60, &c->second))
        return false;
    if (c->second == 60)
        c->second = 59;
    if (!take_char(s, '.'))
        return true;
    size_t digits = slice_digits(*s);
    *s = slice_from(*s, digits);
    return digits > 0;
}

/* +02:00, -0530 or +02. */
static bool take_offset(struct slice *s, int32_t *ret)
{
    bool negative = slice_is_char_at(*s, 0, '-');
    int64_t hours = 0, minutes = 0;
    if (!take_char(s, '+') && !take_char(s, '-'))
        return false;
    if (!take_number(s, 2, 0, 23, &hours))
        return false;
    bool colon = take_char(s, ':');
    if ((colon || slice_is_digit_at(*s, 0)) && !take_number(s, 2, 0, 59, &minutes))
        return false;
    int64_t seconds = hours * 3600 + minutes * 60;
    *ret = (int32_t)(negative ? -seconds : seconds);
    return s->length == 0 || slice_is_blank_at(*s, 0);
}

static const struct zone *find_zone(struct slice name, char problem[MOMENT_PROBLEM_BYTES])
{
    char text[80];
    (void)snprintf(text, sizeof text, "%.*s", (int)(name.length < 79 ? name.length : 79),
                   name.text);
    return zone_find(text, problem);
}

/* " (Europe/Berlin)" behind an offset, as moment_text() has it: the two must agree. */
static bool take_zone_in_parentheses(struct slice s, struct moment *m)
{
    char problem[MOMENT_PROBLEM_BYTES];
    s = slice_trim(s);
    if (s.length < 3 || s.text[0] != '(' || s.text[s.length - 1] != ')')
        return false;
    const struct zone *zone = find_zone((struct slice){s.text + 1, s.length - 2}, problem);
    if (zone == NULL || zone_change_at(zone, m->unix_s)->offset_s != m->offset_s)
        return false;
    *m = moment_at(m->unix_s, zone);
    return true;
}

static bool parse_epoch(struct moment *ret, struct slice s, char problem[MOMENT_PROBLEM_BYTES])
{
    uint64_t seconds = 0;
    *ret = (struct moment){0};
    if (slice_digits(s) == s.length &&
        number_parse_u64_bytes(s.text, s.length, (uint64_t)(INT64_C(253402300800) - 1), &seconds)) {
        ret->unix_s = (int64_t)seconds;
        return true;
    }
    (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                   "behind @ stand the seconds since 1970, such as @1774821540");
    return false;
}

static void say_jump(enum local_kind kind, const struct moment *m, const char *text,
                     char note[MOMENT_PROBLEM_BYTES])
{
    char taken[MOMENT_TEXT_BYTES];
    if (kind == LOCAL_GAP)
        (void)snprintf(note, MOMENT_PROBLEM_BYTES,
                       "`%.60s` does not exist: clocks go forward over it; taken as %s", text,
                       moment_text(*m, taken));
    else
        (void)snprintf(note, MOMENT_PROBLEM_BYTES,
                       "`%.60s` comes twice, since clocks go back; the later one is taken, %s",
                       text, moment_text(*m, taken));
}

static bool say_unreadable(const char *text, char problem[MOMENT_PROBLEM_BYTES])
{
    (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                   "`%.60s` is no time: expected one such as 2026-03-29 23:59 Europe/Berlin, or "
                   "2026-03-29T23:59:00+02:00",
                   text);
    return false;
}

bool moment_parse(struct moment *ret, const char *text, const struct zone *zone,
                  char problem[MOMENT_PROBLEM_BYTES], char note[MOMENT_PROBLEM_BYTES])
{
    problem[0] = note[0] = '\0';
    struct slice rest = slice_trim((struct slice){text, strlen(text)});
    if (take_char(&rest, '@'))
        return parse_epoch(ret, rest, problem);
    struct civil c = {0};
    if (!take_date(&rest, &c))
        return say_unreadable(text, problem);
    bool has_break = take_char(&rest, 'T') || take_char(&rest, 't') || slice_is_blank_at(rest, 0);
    rest = slice_trim(rest);
    if (!has_break && rest.length > 0)
        return say_unreadable(text, problem);
    if (rest.length == 0 || !slice_is_digit_at(rest, 0)) {
        (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                       "`%.60s` has no time of day: is its beginning meant, or its end? Write one, "
                       "such as 23:59",
                       text);
        return false;
    }
    if (!take_time(&rest, &c) ||
        (rest.length > 0 && !slice_is_blank_at(rest, 0) && strchr("Zz+-", rest.text[0]) == NULL))
        return say_unreadable(text, problem);
    rest = slice_trim(rest);
    int64_t local = civil_seconds(&c);
    struct moment made = {0};
    if (rest.length > 0 && (rest.text[0] == '+' || rest.text[0] == '-')) {
        if (!take_offset(&rest, &made.offset_s))
            return say_unreadable(text, problem);
        made.unix_s = local - made.offset_s;
        if (rest.length > 0 && !take_zone_in_parentheses(rest, &made))
            return say_unreadable(text, problem);
        *ret = made;
        return true;
    }
    if (rest.length > 0 && (zone = find_zone(rest, problem)) == NULL)
        return false;
    if (zone == NULL) {
        (void)snprintf(problem, MOMENT_PROBLEM_BYTES,
                       "`%.60s` has no time zone: write one behind it, such as Europe/Berlin, or "
                       "give --zone",
                       text);
        return false;
    }
    made.zone = zone;
    enum local_kind kind = instant_of(zone, local, &made.unix_s);
    if (kind != LOCAL_ONCE)
        say_jump(kind, &made, text, note);
    *ret = made;
    return true;
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

struct moment moment_at(int64_t unix_s, const struct zone *zone)
{
    return (struct moment){.unix_s = unix_s, .zone = zone};
}

struct moment moment_at_offset(int64_t unix_s, int32_t offset_s)
{
    return (struct moment){.unix_s = unix_s, .offset_s = offset_s};
}

struct moment moment_now(const struct zone *zone)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return moment_at((int64_t)now.tv_sec, zone);
}

struct moment moment_plus(struct moment moment, int64_t seconds)
{
    moment.unix_s += seconds;
    return moment;
}

struct moment moment_plus_days(struct moment moment, int64_t days)
{
    /* No day is no change, even in the hour that comes twice, where the local time would not tell
     * which of the two is meant. */
    if (moment.zone == NULL || days == 0)
        return moment_plus(moment, days * DAY_S);
    int64_t local = moment.unix_s + moment_offset(moment) + days * DAY_S;
    (void)instant_of(moment.zone, local, &moment.unix_s);
    return moment;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_offset(int32_t offset_s, char into[16])
{
    int32_t size = offset_s < 0 ? -offset_s : offset_s;
    (void)snprintf(into, 16, "%c%02d:%02d", offset_s < 0 ? '-' : '+', size / 3600, size / 60 % 60);
}

const char *moment_text(struct moment moment, char into[MOMENT_TEXT_BYTES])
{
    int32_t offset_s = moment_offset(moment);
    struct civil c = civil_of(moment.unix_s + offset_s);
    char offset[16], seconds[8] = "";
    print_offset(offset_s, offset);
    if (c.second != 0)
        (void)snprintf(seconds, sizeof seconds, ":%02d", (int)c.second);
    (void)snprintf(into, MOMENT_TEXT_BYTES, "%04d-%02d-%02d %02d:%02d%s %s", (int)c.year,
                   (int)c.month, (int)c.day, (int)c.hour, (int)c.minute, seconds, offset);
    if (moment.zone != NULL) {
        size_t used = strlen(into);
        (void)snprintf(into + used, MOMENT_TEXT_BYTES - used, " (%s)", moment.zone->name);
    }
    return into;
}

const char *moment_rfc3339(struct moment moment, char into[MOMENT_TEXT_BYTES])
{
    int32_t offset_s = moment_offset(moment);
    struct civil c = civil_of(moment.unix_s + offset_s);
    char offset[16];
    print_offset(offset_s, offset);
    (void)snprintf(into, MOMENT_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d%s", (int)c.year,
                   (int)c.month, (int)c.day, (int)c.hour, (int)c.minute, (int)c.second, offset);
    return into;
}

const char *moment_duration(int64_t seconds, char into[MOMENT_TEXT_BYTES])
{
    int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
    if (seconds < 60)
        (void)snprintf(into, MOMENT_TEXT_BYTES, "%lld s", (long long)seconds);
    else if (hours == 0)
        (void)snprintf(into, MOMENT_TEXT_BYTES, "%lld min", (long long)minutes);
    else if (days < 2)
        (void)snprintf(into, MOMENT_TEXT_BYTES, "%lld h %lld min", (long long)hours,
                       (long long)(minutes % 60));
    else
        (void)snprintf(into, MOMENT_TEXT_BYTES, "%lld days %lld h %lld min", (long long)days,
                       (long long)(hours % 24), (long long)(minutes % 60));
    return into;
}

#include "lateness.h"

#include <jansson.h>
#include <time.h>

#include "caps.h"
#include "files.h"
#include "number.h"
#include "text.h"

#define DAY_SECONDS 86400

/* Exactly `digits` digits at *p, which moves past them. */
static bool take_number(const char **p, size_t digits, int least, int most, int *out)
{
    uint64_t number = 0;
    if (strspn(*p, "0123456789") < digits ||
        !number_parse_u64_bytes(*p, digits, (uint64_t)most, &number) || (int)number < least)
        return false;
    *p += digits;
    *out = (int)number;
    return true;
}

static bool take_character(const char **p, const char *any_of)
{
    if (**p == '\0' || strchr(any_of, **p) == NULL)
        return false;
    ++*p;
    return true;
}

/* "Z", "+05:30" or "-0800", in seconds east. */
static bool take_zone(const char **p, int64_t *east)
{
    int hours = 0, minutes = 0;
    bool west = **p == '-';
    *east = 0;
    if (take_character(p, "Zz"))
        return true;
    if (!take_character(p, "+-") || !take_number(p, 2, 0, 23, &hours))
        return false;
    (void)take_character(p, ":");
    if (!take_number(p, 2, 0, 59, &minutes))
        return false;
    *east = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

bool lateness_parse_time(const char *text, int64_t *seconds)
{
    struct tm when = {0};
    const char *p = text;
    int64_t east = 0;
    if (!take_number(&p, 4, 1970, 9999, &when.tm_year) || !take_character(&p, "-") ||
        !take_number(&p, 2, 1, 12, &when.tm_mon) || !take_character(&p, "-") ||
        !take_number(&p, 2, 1, 31, &when.tm_mday) || !take_character(&p, "Tt ") ||
        !take_number(&p, 2, 0, 23, &when.tm_hour) || !take_character(&p, ":") ||
        !take_number(&p, 2, 0, 59, &when.tm_min) || !take_character(&p, ":") ||
        !take_number(&p, 2, 0, 60, &when.tm_sec))
        return false;
    if (take_character(&p, "."))
        p += strspn(p, "0123456789");
    if (!take_zone(&p, &east) || *p != '\0')
        return false;
    when.tm_year -= 1900;
    when.tm_mon -= 1;
    *seconds = (int64_t)timegm(&when) - east;
    return true;
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

int lateness_read(struct lateness *out, const char *path, struct error *err)
{
    *out = (struct lateness){0};
    struct bytes content;
    enum file_status status = file_read(&content, path, LIMIT_METADATA_BYTES, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_USAGE, "cannot read %s: it is %s", path,
                         file_status_text(status));
    json_error_t trouble;
    json_t *root = json_loadb(content.data == NULL ? "" : content.data, content.length,
                              JSON_REJECT_DUPLICATES, &trouble);
    bytes_release(&content);
    if (root == NULL)
        return error_set(err, ERROR_USAGE, "%s, line %d: %s", path, trouble.line, trouble.text);
    int64_t created = 0, due = 0;
    (void)text_copy(out->created_at, sizeof out->created_at, text_at(root, "created_at"));
    (void)text_copy(out->due_date, sizeof out->due_date,
                    text_at(json_object_get(root, "assignment"), "due_date"));
    json_decref(root);
    if (!lateness_parse_time(out->created_at, &created) ||
        !lateness_parse_time(out->due_date, &due))
        return 0;
    out->known = true;
    out->late_seconds = created - due;
    if (out->late_seconds > 0)
        out->late_days = (unsigned)((out->late_seconds + DAY_SECONDS - 1) / DAY_SECONDS);
    return 0;
}

static void duration(struct bytes *out, int64_t seconds)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{DAY_SECONDS, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    size_t shown = 0;
    for (size_t i = 0; i < COUNT_OF(units) && shown < 2; ++i) {
        int64_t count = seconds / units[i].seconds;
        seconds -= count * units[i].seconds;
        if (count == 0 && shown == 0)
            continue;
        ++shown;
        if (count > 0)
            bytes_printf(out, "%s%lld %s%s", shown > 1 ? " " : "", (long long)count, units[i].name,
                         count == 1 ? "" : "s");
    }
}

void lateness_explain(struct bytes *out, const struct lateness *lateness)
{
    if (!lateness->known)
        return;
    if (lateness->late_seconds <= 0) {
        bytes_append_text(out, "submitted in time");
        return;
    }
    bytes_append_text(out, "submitted ");
    duration(out, lateness->late_seconds);
    bytes_printf(out, " after the due date: %u late day%s", lateness->late_days,
                 lateness->late_days == 1 ? "" : "s");
}

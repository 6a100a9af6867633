#include "lateness.h"

#include <jansson.h>

#include "caps.h"
#include "files.h"
#include "moment.h"
#include "text.h"

#define DAY_SECONDS 86400

static bool read_time(const char *text, int64_t *unix_s)
{
    char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];
    struct moment moment = {0};
    bool known = moment_parse(&moment, text, NULL, problem, note);
    *unix_s = moment.unix_s;
    return known;
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
    if (!read_time(out->created_at, &created) || !read_time(out->due_date, &due))
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

#include "late.h"

#include "caps.h"
#include "number.h"
#include "slice.h"

struct late_policy late_policy_none(void)
{
    return (struct late_policy){.kind = LATE_FREE, .most_days = -1};
}

/* ---- Reading a policy ------------------------------------------------------------------------ */

/* "12" or "12.5", at most four digits behind the point, in LATE_UNITs. */
static bool parse_amount(struct slice s, uint64_t max, int64_t *ret)
{
    uint64_t whole = 0, fraction = 0;
    size_t digits = slice_digits(s);
    if (digits == 0 || !number_parse_u64_bytes(s.text, digits, max, &whole))
        return false;
    s = slice_from(s, digits);
    int64_t units = (int64_t)whole * LATE_UNIT;
    if (s.length > 0) {
        if (s.text[0] != '.' || s.length > 5)
            return false;
        s = slice_from(s, 1);
        if (s.length == 0 || slice_digits(s) != s.length ||
            !number_parse_u64_bytes(s.text, s.length, 9999, &fraction))
            return false;
        int64_t scale = LATE_UNIT;
        for (size_t i = 0; i < s.length; ++i)
            scale /= 10;
        units += (int64_t)fraction * scale;
    }
    *ret = units;
    return units <= (int64_t)max * LATE_UNIT;
}

/* "30min", "2h", "1h30min". */
static bool parse_grace(struct slice s, int64_t *ret)
{
    uint64_t hours = 0, minutes = 0;
    bool any = false;
    size_t digits = slice_digits(s);
    if (digits > 0 && slice_is_char_at(s, digits, 'h')) {
        if (!number_parse_u64_bytes(s.text, digits, LIMIT_EXTENSION_HOURS, &hours))
            return false;
        s = slice_from(s, digits + 1);
        any = true;
        digits = slice_digits(s);
    }
    if (digits > 0 && slice_is(slice_from(s, digits), "min")) {
        if (!number_parse_u64_bytes(s.text, digits, 60 * LIMIT_EXTENSION_HOURS, &minutes))
            return false;
        s = slice_from(s, s.length);
        any = true;
    }
    *ret = (int64_t)(hours * 3600 + minutes * 60);
    return any && s.length == 0;
}

static bool parse_days(struct slice s, int64_t *ret)
{
    uint64_t days = 0;
    if (slice_digits(s) != s.length ||
        !number_parse_u64_bytes(s.text, s.length, LIMIT_LATE_DAYS, &days))
        return false;
    *ret = (int64_t)days;
    return true;
}

static int refuse(struct error *err, struct slice part, const char *expected)
{
    return error_set(err, ERROR_USAGE, "late policy: expected %s, got `%.*s`", expected,
                     (int)(part.length < 60 ? part.length : 60), part.text);
}

static int parse_part(struct late_policy *policy, struct slice part, struct error *err)
{
    const char *equals = slice_find_char(part, '=');
    if (equals == NULL)
        return refuse(err, part, "`name=value` parts joined by commas, such as percent=10,cap=50");
    struct slice name = slice_trim(slice_to(part, equals));
    struct slice value = slice_trim(slice_from(part, (size_t)(equals - part.text) + 1));
    bool percent = slice_is(name, "percent");
    if (percent || slice_is(name, "points")) {
        if (policy->kind != LATE_FREE)
            return refuse(err, part, "one of `percent` and `points`, once");
        policy->kind = percent ? LATE_PERCENT : LATE_POINTS;
        return parse_amount(value, percent ? 100 : 100000, &policy->per_day)
                   ? 0
                   : refuse(err, part,
                            percent ? "a percentage of the raw score a day, such as percent=10"
                                    : "points a day, such as points=5");
    }
    if (slice_is(name, "cap")) {
        policy->has_cap = true;
        return parse_amount(value, 100000, &policy->cap)
                   ? 0
                   : refuse(err, part, "the most that is taken, such as cap=50");
    }
    if (slice_is(name, "grace"))
        return parse_grace(value, &policy->grace_s)
                   ? 0
                   : refuse(err, part, "a time of grace, such as grace=30min or grace=2h");
    if (slice_is(name, "slack"))
        return parse_days(value, &policy->slack_days)
                   ? 0
                   : refuse(err, part, "a number of free days, such as slack=1");
    if (slice_is(name, "days"))
        return parse_days(value, &policy->most_days)
                   ? 0
                   : refuse(err, part, "the last day on which anything counts, such as days=3");
    return refuse(err, part, "percent, points, cap, grace, slack or days");
}

int late_policy_parse(struct late_policy *ret, const char *text, struct error *err)
{
    struct late_policy policy = late_policy_none();
    struct slice rest = slice_trim((struct slice){text, strlen(text)});
    if (slice_is(rest, "none")) {
        *ret = policy;
        return 0;
    }
    for (bool more = true; more;) {
        const char *comma = slice_find_char(rest, ',');
        struct slice part = comma == NULL ? rest : slice_to(rest, comma);
        if (parse_part(&policy, slice_trim(part), err) != 0)
            return -1;
        more = comma != NULL;
        if (more)
            rest = slice_from(rest, part.length + 1);
    }
    if (policy.has_cap && policy.kind == LATE_FREE)
        return error_set(
            err, ERROR_USAGE,
            "late policy: `cap` limits what a day costs: give percent= or points= too");
    /* Else work from any later day would count in full, which is hardly what was meant. */
    if ((policy.grace_s > 0 || policy.slack_days > 0) && policy.kind == LATE_FREE &&
        policy.most_days < 0)
        return error_set(err, ERROR_USAGE,
                         "late policy: `grace` and `slack` alone would let any later day count in "
                         "full: give percent= or points= too, or days= for the last day that "
                         "counts (days=0: none after the grace)");
    if (policy.has_cap && policy.kind == LATE_PERCENT && policy.cap > 100 * LATE_UNIT)
        return error_set(err, ERROR_USAGE, "late policy: expected a cap of at most 100 percent");
    *ret = policy;
    return 0;
}

/* ---- Writing a policy ------------------------------------------------------------------------ */

const char *late_amount(int64_t units, char into[LATE_AMOUNT_BYTES])
{
    int length = snprintf(into, LATE_AMOUNT_BYTES, "%lld.%06lld", (long long)(units / LATE_UNIT),
                          (long long)(units % LATE_UNIT));
    while (length > 0 && into[length - 1] == '0')
        into[--length] = '\0';
    if (length > 0 && into[length - 1] == '.')
        into[length - 1] = '\0';
    return into;
}

void late_policy_write(struct bytes *out, const struct late_policy *policy)
{
    char amount[LATE_AMOUNT_BYTES];
    size_t start = out->length;
    if (policy->kind != LATE_FREE)
        bytes_printf(out, ",%s=%s", policy->kind == LATE_PERCENT ? "percent" : "points",
                     late_amount(policy->per_day, amount));
    if (policy->has_cap)
        bytes_printf(out, ",cap=%s", late_amount(policy->cap, amount));
    if (policy->grace_s > 0)
        bytes_printf(out, ",grace=%lldmin", (long long)(policy->grace_s / 60));
    if (policy->slack_days > 0)
        bytes_printf(out, ",slack=%lld", (long long)policy->slack_days);
    if (policy->most_days >= 0)
        bytes_printf(out, ",days=%lld", (long long)policy->most_days);
    if (out->length == start)
        bytes_append_text(out, "none");
    else if (!out->failed) { /* without the first comma */
        memmove(out->data + start, out->data + start + 1, out->length - start);
        --out->length;
    }
}

void late_policy_describe(struct bytes *out, const struct late_policy *policy)
{
    char amount[LATE_AMOUNT_BYTES], time[MOMENT_TEXT_BYTES];
    if (policy->kind == LATE_FREE)
        bytes_append_text(out, "being late costs nothing");
    else
        bytes_printf(out, "each started day costs %s%s", late_amount(policy->per_day, amount),
                     policy->kind == LATE_PERCENT ? " % of the raw score" : " points");
    if (policy->has_cap)
        bytes_printf(out, ", at most %s%s", late_amount(policy->cap, amount),
                     policy->kind == LATE_PERCENT ? " %" : " points");
    if (policy->slack_days > 0)
        bytes_printf(out, ", the first %lld free", (long long)policy->slack_days);
    if (policy->grace_s > 0)
        bytes_printf(out, ", with %s of grace", moment_duration(policy->grace_s, time));
    if (policy->most_days == 0)
        bytes_append_text(out, ", and nothing counts that is late");
    else if (policy->most_days > 0)
        bytes_printf(out, ", and nothing counts after %lld day%s", (long long)policy->most_days,
                     policy->most_days == 1 ? "" : "s");
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* The smallest k with handed_in <= deadline + k days + grace. */
static int64_t started_days(const struct moment *deadline, int64_t handed_in_s, int64_t grace_s)
{
    int64_t over_s = handed_in_s - grace_s - deadline->unix_s;
    if (over_s <= 0)
        return 0;
    /* A day has 23 to 25 hours: near the quotient, then step by step. */
    int64_t days = over_s / 86400 > 2 ? over_s / 86400 - 2 : 0;
    if (days > LIMIT_LATE_DAYS)
        days = LIMIT_LATE_DAYS;
    while (days <= LIMIT_LATE_DAYS &&
           handed_in_s > moment_plus_days(*deadline, days).unix_s + grace_s)
        ++days;
    return days;
}

/* What the days cost, in LATE_UNITs, before it is held against the raw score. */
static int64_t cost(const struct late_policy *policy, int64_t days, int64_t raw_score, bool *capped)
{
    int64_t sum = days * policy->per_day;
    *capped = policy->has_cap && sum > policy->cap;
    if (*capped)
        sum = policy->cap;
    /* Percents have at most four digits, so that dividing by 100 leaves nothing over. */
    return policy->kind == LATE_PERCENT ? sum * raw_score / 100 : sum;
}

static void describe_cost(struct bytes *words, const struct late_policy *policy,
                          const struct late *late, bool capped, int64_t charged)
{
    char per_day[LATE_AMOUNT_BYTES], amount[LATE_AMOUNT_BYTES], rest[LATE_AMOUNT_BYTES];
    const char *unit = policy->kind == LATE_PERCENT ? " %" : " points";
    bytes_printf(words, "%lld day%s × %s%s", (long long)late->penalised_days,
                 late->penalised_days == 1 ? "" : "s", late_amount(policy->per_day, per_day), unit);
    if (capped)
        bytes_printf(words, ", at most %s%s", late_amount(policy->cap, amount), unit);
    if (policy->kind == LATE_PERCENT)
        bytes_printf(words, " of %lld", (long long)late->raw_score);
    bytes_printf(words, " = %s", late_amount(charged, amount));
    if (charged > late->penalty)
        bytes_printf(words, ", of which %lld can be taken", (long long)late->raw_score);
    int64_t left = late->raw_score * LATE_UNIT - late->penalty;
    bytes_printf(words, "; %lld − %s = %s", (long long)late->raw_score,
                 late_amount(late->penalty, amount), late_amount(left, rest));
    if (left % LATE_UNIT != 0)
        bytes_printf(words, ", rounded %lld", (long long)late->score);
    bytes_append_text(words, ".");
}

static void describe_deadline(struct bytes *words, const struct moment *deadline,
                              int64_t extension_s)
{
    char text[MOMENT_TEXT_BYTES];
    bytes_printf(words, "the deadline, %s", moment_text(*deadline, text));
    if (extension_s > 0)
        bytes_printf(words, " (with an extension of %s)", moment_duration(extension_s, text));
}

static void describe(struct late *late, const struct late_policy *policy,
                     const struct moment *deadline, int64_t extension_s,
                     const struct moment *handed_in, bool capped, int64_t charged)
{
    char text[MOMENT_TEXT_BYTES], grace[MOMENT_TEXT_BYTES];
    struct bytes words = bytes_with_limit(sizeof late->words - 1);
    int64_t distance = late->over_s < 0 ? -late->over_s : late->over_s;
    bytes_append_text(&words, "Handed in ");
    if (late->over_s != 0)
        bytes_printf(&words, "%s %s ", moment_duration(distance, text),
                     late->over_s < 0 ? "before" : "after");
    else
        bytes_append_text(&words, "exactly at ");
    describe_deadline(&words, deadline, extension_s);
    if (late->over_s > 0) {
        bytes_printf(&words, ", at %s", moment_text(*handed_in, text));
        if (!late->late)
            bytes_printf(&words, "; %s of grace cover that",
                         moment_duration(policy->grace_s, grace));
    }
    bytes_append_text(&words, ": ");
    if (!late->late) {
        bytes_append_text(&words, "in time.");
    } else {
        bytes_printf(&words, "%lld started day%s", (long long)late->started_days,
                     late->started_days == 1 ? "" : "s");
        if (policy->grace_s > 0)
            bytes_printf(&words, " (with %s of grace a day)",
                         moment_duration(policy->grace_s, grace));
        if (late->refused) {
            bytes_printf(&words, ", and after %lld nothing counts: %lld − %lld = 0.",
                         (long long)policy->most_days, (long long)late->raw_score,
                         (long long)late->raw_score);
        } else if (policy->kind == LATE_FREE) {
            bytes_append_text(&words, ", which costs nothing.");
        } else if (late->penalised_days == 0) {
            bytes_printf(&words, ", all of them free (%lld slack day%s).",
                         (long long)policy->slack_days, policy->slack_days == 1 ? "" : "s");
        } else {
            if (policy->slack_days > 0)
                bytes_printf(&words, ", %lld of them free", (long long)policy->slack_days);
            bytes_append_text(&words, "; ");
            describe_cost(&words, policy, late, capped, charged);
        }
    }
    (void)snprintf(late->words, sizeof late->words, "%s", bytes_text(&words));
    bytes_release(&words);
}

void late_judge(struct late *ret, const struct late_policy *policy, const struct moment *deadline,
                int64_t extension_s, const struct moment *handed_in, int64_t raw_score)
{
    *ret = (struct late){.raw_score = raw_score, .score = raw_score};
    ret->has_deadline = deadline != NULL && handed_in != NULL;
    if (!ret->has_deadline)
        return;
    ret->over_s = handed_in->unix_s - deadline->unix_s;
    ret->started_days = started_days(deadline, handed_in->unix_s, policy->grace_s);
    ret->late = ret->started_days > 0;
    ret->penalised_days = ret->started_days - policy->slack_days;
    if (ret->penalised_days < 0)
        ret->penalised_days = 0;
    ret->refused = policy->most_days >= 0 && ret->started_days > policy->most_days;
    bool capped = false;
    int64_t most = raw_score * LATE_UNIT;
    int64_t charged = ret->refused ? most : cost(policy, ret->penalised_days, raw_score, &capped);
    ret->penalty = charged > most ? most : charged;
    /* The one rounding: half up. */
    ret->score = (most - ret->penalty + LATE_UNIT / 2) / LATE_UNIT;
    describe(ret, policy, deadline, extension_s, handed_in, capped, charged);
}

bool late_end(const struct late_policy *policy, const struct moment *deadline, struct moment *ret)
{
    if (policy->most_days < 0)
        return false;
    *ret = moment_plus(moment_plus_days(*deadline, policy->most_days), policy->grace_s);
    return true;
}

bool late_free_end(const struct late_policy *policy, const struct moment *deadline,
                   struct moment *ret)
{
    if (policy->kind == LATE_FREE || policy->per_day == 0)
        return late_end(policy, deadline, ret);
    bool ends = policy->most_days >= 0 && policy->most_days < policy->slack_days;
    *ret = moment_plus(moment_plus_days(*deadline, ends ? policy->most_days : policy->slack_days),
                       policy->grace_s);
    return true;
}

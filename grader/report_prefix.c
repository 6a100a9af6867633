/* report_prefix.c - what build tools and CI put in front of a compiler's words.
 *
 * A closed list on purpose: "anything, then ptxas" would also fit source lines that a compiler
 * quotes ("   12 | #warning ptxas info : Used 1 registers"), and those are no report. */
#include "report_prefix.h"

#include <ctype.h>

static size_t skip_digits(struct slice s, size_t at)
{
    while (slice_is_digit_at(s, at))
        ++at;
    return at;
}

static size_t skip_blanks(struct slice s, size_t at)
{
    while (slice_is_blank_at(s, at))
        ++at;
    return at;
}

/* Exactly these characters, '9' standing for any digit; returns the offset behind them, or 0. */
static size_t match(struct slice s, size_t at, const char *pattern)
{
    for (; *pattern != '\0'; ++pattern, ++at)
        if (*pattern == '9' ? !slice_is_digit_at(s, at) : !slice_is_char_at(s, at, *pattern))
            return 0;
    return at;
}

static size_t blanks(struct slice s)
{
    return skip_blanks(s, 0);
}

/* MSBuild: "1>", "3:17>"; ctest -V: "12: " */
static size_t project_number(struct slice s)
{
    size_t at = skip_digits(s, 0);
    if (at == 0 || at > 9)
        return 0;
    if (match(s, at, ": ") != 0)
        return at + 2;
    if (slice_is_char_at(s, at, ':'))
        at = skip_digits(s, at + 1);
    return slice_is_char_at(s, at, '>') ? at + 1 : 0;
}

/* MSBuild again: "CUDACOMPILE : ptxas warning : …" */
static size_t capital_word(struct slice s)
{
    size_t at = 0;
    while (at < s.length && at < 32 && isupper((unsigned char)s.text[at]))
        ++at;
    return at >= 2 ? match(s, at, " : ") : 0;
}

/* cargo: "warning: kernels@0.1.0: …" */
static size_t crate(struct slice s)
{
    size_t at = match(s, 0, "warning: "), begin = at;
    bool versioned = false;
    while (at != 0 && at < s.length && at - begin < 100 && s.text[at] != ' ' && s.text[at] != ':')
        versioned |= s.text[at++] == '@';
    return versioned ? match(s, at, ": ") : 0;
}

static size_t stream_name(struct slice s)
{
    size_t at = match(s, 0, "stderr: ");
    return at != 0 ? at : match(s, 0, "stdout: ");
}

/* Ninja "[3/10] ", CMake "[ 50%] ", Jenkins "[2024-05-01T…Z] ", mpirun "[1,0]<stderr>:", Azure
 * "##[warning]" */
static size_t brackets(struct slice s)
{
    if (match(s, 0, "##[") != 0) {
        size_t inner = brackets(slice_from(s, 2));
        return inner == 0 ? 0 : inner + 2;
    }
    if (!slice_is_char_at(s, 0, '[') && !slice_is_char_at(s, 0, '<'))
        return 0;
    char close = s.text[0] == '[' ? ']' : '>';
    for (size_t at = 1; at < s.length && at < 64; ++at)
        if (s.text[at] == close) {
            /* "<macro util>" and its like are files, not prefixes. */
            if (close == '>')
                return slice_is_char_at(s, at + 1, ':') ? at + 2 : 0;
            return at + 1;
        }
    return 0;
}

static size_t skip_clock(struct slice s, size_t at)
{
    at = match(s, at, "99:99:99");
    if (at != 0 && (slice_is_char_at(s, at, '.') || slice_is_char_at(s, at, ',')) &&
        slice_is_digit_at(s, at + 1))
        at = skip_digits(s, at + 1);
    return at;
}

/* "12:00:01", "2024-05-01 12:00:01,123", "2024/05/01 12:00:01", "2024-05-01T12:00:01.1234567Z",
 * "…+02:00", and GitLab's "…Z 01O " or Kubernetes's "…Z stderr F " behind it. */
static size_t time_stamp(struct slice s)
{
    size_t date = match(s, 0, "9999-99-99");
    if (date == 0)
        date = match(s, 0, "9999/99/99");
    bool separated = date == 0 || slice_is_char_at(s, date, 'T') || slice_is_char_at(s, date, ' ');
    size_t at = separated ? skip_clock(s, date == 0 ? 0 : date + 1) : 0;
    if (at == 0)
        return 0;
    if (slice_is_char_at(s, at, 'Z'))
        ++at;
    else if (slice_is_char_at(s, at, '+') || slice_is_char_at(s, at, '-')) {
        size_t zone = match(s, at + 1, "99:99");
        if (zone == 0)
            zone = match(s, at + 1, "9999");
        at = zone;
    }
    if (at == 0 || (at < s.length && !slice_is_blank_at(s, at)))
        return 0;
    static const char *const outputs[] = {" stdout F ", " stderr F ", " stdout P ", " stderr P "};
    for (size_t i = 0; i < COUNT_OF(outputs); ++i)
        if (match(s, at, outputs[i]) != 0)
            return match(s, at, outputs[i]);
    size_t stream = match(s, at, " 99");
    if (stream != 0 && (slice_is_char_at(s, stream, 'O') || slice_is_char_at(s, stream, 'E'))) {
        stream += slice_is_char_at(s, stream + 1, '+') ? 2 : 1;
        if (slice_is_blank_at(s, stream))
            return stream;
    }
    return at;
}

/* journalctl: "May 01 12:00:01 host make[17]: " */
static size_t journal(struct slice s)
{
    size_t at = 0;
    while (at < 3 && at < s.length && isalpha((unsigned char)s.text[at]))
        ++at;
    size_t day = skip_digits(s, skip_blanks(s, at));
    at = at == 3 && slice_is_char_at(s, day, ' ') ? skip_clock(s, day + 1) : 0;
    for (unsigned words = 0; at != 0 && words < 2; ++words) {
        size_t begin = skip_blanks(s, at), end = begin;
        while (end < s.length && end - begin < 64 && !slice_is_blank_at(s, end))
            ++end;
        at = begin > at && end > begin ? end : 0;
    }
    return at != 0 && s.text[at - 1] == ':' ? at : 0;
}

/* docker buildx: "#12 3.456 " */
static size_t build_step(struct slice s)
{
    size_t at = slice_is_char_at(s, 0, '#') ? skip_digits(s, 1) : 0;
    if (at < 2 || !slice_is_char_at(s, at, ' '))
        return 0;
    size_t fraction = skip_digits(s, at + 1);
    if (fraction == at + 1 || !slice_is_char_at(s, fraction, '.') ||
        !slice_is_digit_at(s, fraction + 1))
        return 0;
    at = skip_digits(s, fraction + 1);
    return slice_is_blank_at(s, at) ? at : 0;
}

/* docker compose: "builder-1  | ". A compiler's excerpt ("  12 | …") begins with no letter. */
static size_t service_name(struct slice s)
{
    size_t at = 0;
    if (s.length == 0 || !isalpha((unsigned char)s.text[0]))
        return 0;
    while (at < s.length && at < 64 &&
           (isalnum((unsigned char)s.text[at]) || strchr("._-", s.text[at]) != NULL) &&
           s.text[at] != '\0')
        ++at;
    size_t bar = skip_blanks(s, at);
    return bar > at && slice_is_char_at(s, bar, '|') && slice_is_char_at(s, bar + 1, ' ') ? bar + 2
                                                                                          : 0;
}

/* `gh run view --log`: "job TAB step TAB 2024-05-01T…Z " */
static size_t job_and_step(struct slice s)
{
    size_t at = 0;
    for (unsigned tabs = 0; tabs < 2; ++at) {
        if (at >= s.length || at > 200)
            return 0;
        tabs += s.text[at] == '\t';
    }
    size_t stamp = time_stamp(slice_from(s, at));
    return stamp == 0 ? 0 : at + stamp;
}

size_t report_prefix(struct slice line)
{
    static size_t (*const kinds[])(struct slice) = {
        blanks,       project_number, capital_word, brackets,    time_stamp, build_step,
        service_name, job_and_step,   crate,        stream_name, journal,
    };
    for (size_t i = 0; i < COUNT_OF(kinds); ++i) {
        size_t length = kinds[i](line);
        if (length > 0)
            return length;
    }
    return 0;
}

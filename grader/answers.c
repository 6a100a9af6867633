#include "answers.h"

#include <ctype.h>
#include <ini.h>
#include <stdarg.h>
#include <strings.h>

#include "number.h"
#include "text.h"

#define PROBLEMS_MAX 20 /* a file that is wrong throughout need not say it on every line */

static int add_problem(struct answers *answers, struct error *err, const char *format, ...)
    PRINTF_LIKE(3, 4);

static int add_problem(struct answers *answers, struct error *err, const char *format, ...)
{
    if (answers->problem_count >= PROBLEMS_MAX)
        return 0;
    char **grown =
        realloc(answers->problems, (answers->problem_count + 1) * sizeof answers->problems[0]);
    if (grown == NULL)
        return error_no_memory(err);
    answers->problems = grown;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&grown[answers->problem_count], format, arguments);
    va_end(arguments);
    if (length < 0)
        return error_no_memory(err);
    ++answers->problem_count;
    return 0;
}

/* Hands inih one line at a time, so that we know each line's number and length. */
struct reader {
    const char *text;
    size_t length, position;
    unsigned line;
    struct answers *answers;
    struct error *err;
    bool too_many; /* said once */
    bool failed;
};

static void problem_at(struct reader *reader, const char *what)
{
    if (add_problem(reader->answers, reader->err, "line %u: %s", reader->line, what) != 0)
        reader->failed = true;
}

/* Why a line is kept from inih; NULL when it may see it. */
static const char *refuse_line(const char *line, size_t length)
{
    if (length > LIMIT_ANSWERS_LINE_BYTES)
        return "longer than 190 bytes; put remarks into explain.md and keep the value short";
    if (memchr(line, '\0', length) != NULL)
        return "holds a NUL byte; save the file as plain UTF-8 text";
    if (!text_is_utf8(line, length))
        return "is not UTF-8 text";
    return NULL;
}

static char *read_line(char *buffer, int room, void *user)
{
    struct reader *reader = user;
    if (reader->position >= reader->length || reader->failed)
        return NULL;
    const char *line = reader->text + reader->position;
    const char *newline = memchr(line, '\n', reader->length - reader->position);
    size_t length = newline == NULL ? reader->length - reader->position : (size_t)(newline - line);
    reader->position += length + (newline != NULL);
    ++reader->line;
    const char *refusal = refuse_line(line, length);
    if (refusal != NULL || length + 2 > (size_t)room) {
        problem_at(reader, refusal != NULL ? refusal : "too long");
        length = 0; /* inih sees an empty line, so that its line numbers stay ours */
    }
    while (length > 0 && isspace((unsigned char)*line)) {
        ++line;
        --length;
    }
    memcpy(buffer, line, length);
    buffer[length] = '\n';
    buffer[length + 1] = '\0';
    return buffer;
}

static struct answer *find(const struct answers *answers, const char *section, const char *key)
{
    for (size_t i = 0; i < answers->count; ++i)
        if (strcasecmp(answers->items[i].section, section) == 0 &&
            strcasecmp(answers->items[i].key, key) == 0)
            return &answers->items[i];
    return NULL;
}

/* inih's handler: non-zero means "go on". */
static int take(void *user, const char *section, const char *name, const char *value)
{
    struct reader *reader = user;
    struct answers *answers = reader->answers;
    struct answer *known = find(answers, section, name);
    if (known != NULL) {
        known->duplicate = true;
        if (add_problem(answers, reader->err,
                        "line %u: \"%s\" was given on line %u already; neither counts",
                        reader->line, known->key, known->line) != 0)
            reader->failed = true;
        return 1;
    }
    if (answers->count >= LIMIT_ANSWERS_KEYS) {
        if (!reader->too_many)
            problem_at(reader, "more keys than any lab has; the rest is not read");
        reader->too_many = true;
        return 1;
    }
    struct answer item = {.line = reader->line};
    if (name[0] == '\0' || strlen(section) >= sizeof item.section ||
        strlen(name) >= sizeof item.key || strlen(value) > LIMIT_ANSWER_VALUE_BYTES) {
        problem_at(reader, name[0] == '\0' ? "there is no key before the ="
                                           : "a section, key or value that is too long");
        return 1;
    }
    /* "key =; remark": without a blank before it inih takes the remark for the value. */
    if (value[0] == ';')
        value = "";
    (void)snprintf(item.section, sizeof item.section, "%s", section);
    (void)snprintf(item.key, sizeof item.key, "%s", name);
    (void)snprintf(item.value, sizeof item.value, "%s", value);
    text_clean(item.section);
    text_clean(item.key);
    text_clean(item.value);
    struct answer *grown = realloc(answers->items, (answers->count + 1) * sizeof answers->items[0]);
    if (grown == NULL) {
        error_no_memory(reader->err);
        reader->failed = true;
        return 0;
    }
    answers->items = grown;
    grown[answers->count++] = item;
    return 1;
}

int answers_parse(struct answers *out, const char *text, size_t length, struct error *err)
{
    *out = (struct answers){.usable = true};
    struct reader reader = {.text = text, .length = length, .answers = out, .err = err};
    int first_bad = ini_parse_stream(read_line, &reader, take, &reader);
    if (!reader.failed && first_bad > 0 &&
        add_problem(out, err, "line %d: neither [section], key = value nor a comment", first_bad) !=
            0)
        reader.failed = true;
    if (reader.failed) {
        answers_release(out);
        return error_no_memory(err);
    }
    return 0;
}

int answers_absent(struct answers *out, const char *reason, struct error *err)
{
    *out = (struct answers){0};
    return add_problem(out, err, "%s", reason);
}

void answers_release(struct answers *answers)
{
    free(answers->items);
    for (size_t i = 0; i < answers->problem_count; ++i)
        free(answers->problems[i]);
    free(answers->problems);
    *answers = (struct answers){0};
}

const struct answer *answers_find(const struct answers *answers, const char *section,
                                  const char *key)
{
    return find(answers, section, key);
}

bool answer_number(const struct answer *answer, int64_t *ret)
{
    char digits[sizeof answer->value];
    (void)snprintf(digits, sizeof digits, "%s", answer->value);
    size_t length = strlen(digits);
    if (length > 0 && digits[length - 1] == '%')
        digits[--length] = '\0';
    while (length > 0 && digits[length - 1] == ' ')
        digits[--length] = '\0';
    /* "25.0" says 25 as well; "25.5" is no whole number. */
    char *dot = strchr(digits, '.');
    if (dot != NULL && dot != digits && dot[1] != '\0' && strspn(dot + 1, "0") == strlen(dot + 1))
        *dot = '\0';
    return number_parse_i64(digits, INT64_MIN, INT64_MAX, ret);
}

bool answers_toolkit(const struct answers *answers, unsigned *major, unsigned *minor)
{
    const struct answer *answer = answers_find(answers, "build", "nvcc");
    if (answer == NULL || answer->duplicate)
        return false;
    const char *text = answer->value + (answer->value[0] == 'V' || answer->value[0] == 'v');
    size_t major_length = strspn(text, "0123456789");
    if (text[major_length] != '.')
        return false;
    const char *rest = text + major_length + 1;
    uint64_t numbers[2];
    if (!number_parse_u64_bytes(text, major_length, 999, &numbers[0]) ||
        !number_parse_u64_bytes(rest, strspn(rest, "0123456789"), 999, &numbers[1]) ||
        rest[strspn(rest, "0123456789.")] != '\0')
        return false;
    *major = (unsigned)numbers[0];
    *minor = (unsigned)numbers[1];
    return true;
}

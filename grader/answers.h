/* answers.h - read answers.ini: sections, keys, values, each with its line.
 *
 * The parsing is inih's. What inih does silently is refused here with its line number: lines longer
 * than its buffer (it takes the rest for another key) and duplicate keys. Leading blanks are taken
 * off before inih sees a line: it would take an indented key or section for more of the value
 * above. Nothing a student writes is a struct error: trouble becomes a `problem`, and the key
 * concerned is missing. */
#ifndef SPILLWAY_ANSWERS_H
#define SPILLWAY_ANSWERS_H

#include "errors.h"
#include "caps.h"

struct answer {
    /* All printable UTF-8. */
    char section[64], key[64];
    char value[LIMIT_ANSWER_VALUE_BYTES + 1]; /* trimmed; "" when blank */
    unsigned line;
    bool duplicate; /* given more than once: counts as not answered */
};

struct answers {
    struct answer *items; /* owned */
    size_t count;
    char **problems; /* owned sentences for the student: "line 12: …" */
    size_t problem_count;
    bool usable; /* false: the file was not read at all (see problems) */
};

/* Parses the text. -1 only when out of memory. */
int answers_parse(struct answers *out, const char *text, size_t length, struct error *err);

/* An answers value for a file that is missing or cannot be used; `reason` becomes its only problem.
 */
int answers_absent(struct answers *out, const char *reason, struct error *err);

void answers_release(struct answers *answers);

/* NULL when not given. Section and key compare without case. */
const struct answer *answers_find(const struct answers *answers, const char *section,
                                  const char *key);

/* Value as a whole number: decimal or 0x hex, a trailing % allowed, ".0" allowed. */
bool answer_number(const struct answer *answer, int64_t *ret) MUST_CHECK;

/* The toolkit that `nvcc` in [build] names: "12.6", "12.6.85", "V12.6.85". False when it is not
 * given, given twice, or no version. */
bool answers_toolkit(const struct answers *answers, unsigned *major, unsigned *minor) MUST_CHECK;

#endif

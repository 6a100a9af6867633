/* attacks_judge.c - is what a grade of an attack printed and wrote what an honest failure gets? */
#include "attacks.h"

#include <jansson.h>
#include <stdarg.h>

#include "text.h"

#define WORDS_BYTES_MAX 100000 /* of any document: a flood is an attack that succeeded */

void attack_outcome_release(struct outcome *outcome)
{
    bytes_release(&outcome->text);
    bytes_release(&outcome->trouble);
    bytes_release(&outcome->json);
    for (size_t i = 0; i < WRITERS_MAX; ++i)
        bytes_release(&outcome->formats[i]);
}

bool attack_object(char seen[400], const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct bytes printable = bytes_with_limit(399);
    text_sanitize(&printable, text, strlen(text), 399);
    (void)snprintf(seen, 400, "%s", bytes_text(&printable));
    bytes_release(&printable);
    return false;
}

/* No secret, no byte that steers a terminal, no broken UTF-8, no flood. */
static bool is_clean(const char *what, const struct bytes *text, char seen[400])
{
    static const char *const secrets[] = {CANARY, "root:x:0:", "FOUND-IT"};
    for (size_t i = 0; i < COUNT_OF(secrets); ++i)
        if (strstr(bytes_text(text), secrets[i]) != NULL)
            return attack_object(seen, "%s holds the secret %s", what, secrets[i]);
    if (!text_is_utf8(bytes_text(text), text->length))
        return attack_object(seen, "%s is no UTF-8", what);
    for (size_t i = 0; i < text->length; ++i) {
        unsigned char byte = (unsigned char)text->data[i];
        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F)
            return attack_object(seen, "%s holds the byte 0x%02x", what, byte);
    }
    if (text->length > WORDS_BYTES_MAX)
        return attack_object(seen, "%s has %zu bytes", what, text->length);
    return true;
}

/* A document of JSON parses; in one of tags, or where tags may be embedded, those of the submission
 * are harmless. */
static bool format_is_clean(const char *option, const struct bytes *text, char seen[400])
{
    static const char *const tags[] = {"<script", "<img", "]]><"};
    json_error_t trouble;
    const char *begin = bytes_text(text) + strspn(bytes_text(text), " \n");
    if (!is_clean(option, text, seen))
        return false;
    if (*begin == '{') {
        json_t *root = json_loadb(bytes_text(text), text->length, JSON_REJECT_DUPLICATES, &trouble);
        json_decref(root);
        return root != NULL || attack_object(seen, "%s is no JSON: %s", option, trouble.text);
    }
    for (size_t i = 0; strcmp(option, "tap") != 0 && i < COUNT_OF(tags); ++i)
        if (strstr(begin, tags[i]) != NULL)
            return attack_object(seen, "%s holds the tag %s", option, tags[i]);
    return true;
}

bool attack_words_are_clean(const struct outcome *outcome, char seen[400])
{
    if (!is_clean("the text", &outcome->text, seen) ||
        !is_clean("standard error", &outcome->trouble, seen) ||
        !is_clean("the JSON", &outcome->json, seen))
        return false;
    for (size_t i = 0; i < writer_count; ++i)
        if (!format_is_clean(writer_table[i].option, &outcome->formats[i], seen))
            return false;
    return true;
}

/* Whether `id` is named in a list; an item that begins with '?' counts when `optional`. */
static bool is_listed(const char *list, const char *id, bool optional)
{
    char copy[400];
    (void)snprintf(copy, sizeof copy, "%s", list);
    char *rest = copy;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (word[0] == '?' && !optional)
            continue;
        word += word[0] == '?';
        size_t length = strlen(word);
        bool group = length > 2 && strcmp(word + length - 2, ".*") == 0;
        if (group ? strncmp(word, id, length - 1) == 0 : strcmp(word, id) == 0)
            return true;
    }
    return false;
}

static const char *text_of(const json_t *object_value, const char *key)
{
    const char *text = json_string_value(json_object_get(object_value, key));
    return text == NULL ? "" : text;
}

static bool judge_marks(const struct attack *attack, const json_t *marks, char seen[400])
{
    for (size_t i = 0; i < json_array_size(marks); ++i) {
        const json_t *mark = json_array_get(marks, i);
        const char *id = text_of(mark, "id"), *status = text_of(mark, "status");
        bool passed = strcmp(status, "passed") == 0;
        if (!passed && strcmp(status, "failed") != 0)
            return attack_object(seen, "%s is %s: %s", id, status, text_of(mark, "message"));
        if (passed && is_listed(attack->lost, id, false))
            return attack_object(seen, "%s passed", id);
        if (!passed && !is_listed(attack->lost, id, true))
            return attack_object(seen, "lost %s: %s", id, text_of(mark, "message"));
    }
    return json_array_size(marks) > 0 || attack_object(seen, "no marks");
}

/* One line `Score: 62/100`, with the number of the JSON. */
static bool judge_score(const struct bytes *text, json_int_t score, char seen[400])
{
    char expected[32];
    (void)snprintf(expected, sizeof expected, "Score: %lld/100", (long long)score);
    unsigned lines = 0;
    for (const char *line = bytes_text(text); line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "Score:", 6) != 0)
            continue;
        if (++lines > 1 || strncmp(line, expected, strlen(expected)) != 0)
            return attack_object(seen, "a false score line: %.60s", line);
    }
    return lines == 1 || attack_object(seen, "no score line");
}

bool attack_judge_grade(const struct attack *attack, const struct outcome *outcome, char seen[400])
{
    json_error_t trouble;
    json_t *root = json_loadb(bytes_text(&outcome->json), outcome->json.length,
                              JSON_REJECT_DUPLICATES, &trouble);
    if (root == NULL)
        return attack_object(seen, "its JSON cannot be read: %s", trouble.text);
    json_int_t pending = json_integer_value(json_object_get(root, "pending"));
    json_int_t score = json_integer_value(json_object_get(root, "score"));
    bool fine = judge_marks(attack, json_object_get(root, "marks"), seen) &&
                (pending == 0 || attack_object(seen, "%lld points pending", (long long)pending)) &&
                judge_score(&outcome->text, score, seen);
    json_decref(root);
    return fine;
}

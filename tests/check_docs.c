/* check_docs.c - the examples in the documents are true.
 *
 * A block that opens with ```console holds commands ("$ spillway …") and what they print. Each
 * command is run by the real binary from the top of the tree, without a shell, and its standard
 * output is compared line by line. "…" inside a line stands for any text, alone on a line for any
 * lines. */
#include "testing.h"

static const char *const documents[] = {"README.md", "labs/day17-registers/README.md"};

/* Does `line` match a pattern in which "…" stands for any text? */
static bool line_matches(const char *pattern, const char *line)
{
    static const char wild[] = "…";
    const char *star = strstr(pattern, wild);
    if (star == NULL)
        return strcmp(pattern, line) == 0;
    size_t head = (size_t)(star - pattern);
    if (strncmp(pattern, line, head) != 0)
        return false;
    const char *rest = star + sizeof wild - 1;
    for (const char *at = line + head;; ++at) {
        if (line_matches(rest, at))
            return true;
        if (*at == '\0')
            return false;
    }
}

struct lines {
    const char *items[600];
    size_t count;
};

static void split_lines(struct lines *lines, char *text)
{
    lines->count = 0;
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        ck_assert_uint_lt(lines->count, COUNT_OF(lines->items));
        size_t length = strlen(line);
        while (length > 0 && line[length - 1] == ' ')
            line[--length] = '\0';
        lines->items[lines->count++] = line;
    }
    while (lines->count > 0 && lines->items[lines->count - 1][0] == '\0')
        --lines->count;
}

/* Index of the first expected line that finds no match; SIZE_MAX when all of both is used up. */
static size_t first_difference(const char *const *expected, size_t expected_count,
                               const char *const *seen, size_t seen_count)
{
    size_t s = 0;
    for (size_t e = 0; e < expected_count; ++e) {
        if (strcmp(expected[e], "…") == 0) {
            if (e + 1 == expected_count)
                return SIZE_MAX;
            while (s < seen_count && !line_matches(expected[e + 1], seen[s]))
                ++s;
            continue;
        }
        if (s >= seen_count || !line_matches(expected[e], seen[s]))
            return e;
        ++s;
    }
    return s == seen_count ? SIZE_MAX : expected_count;
}

static unsigned run_example(const char *document, const char *line, const char *const *expected,
                            size_t expected_count)
{
    const char *arguments[32] = {NULL};
    size_t count = 0;
    const char *shown = line;
    AUTO_FREE char *copy = strdup(line);
    char *rest = copy;
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        if (word[0] != '\0' && strcmp(word, "spillway") != 0 && count + 1 < COUNT_OF(arguments))
            arguments[count++] = word;
    struct process_result result = testing_spillway(arguments, NULL);
    struct lines seen;
    AUTO_FREE char *output = strdup(bytes_text(&result.output));
    split_lines(&seen, output);
    size_t at = first_difference(expected, expected_count, seen.items, seen.count);
    ck_assert_msg(at == SIZE_MAX, "%s: `%s` no longer prints \"%s\"; it prints:\n%s%s", document,
                  shown, at < expected_count ? expected[at] : "(the end)",
                  bytes_text(&result.output), bytes_text(&result.error));
    process_result_release(&result);
    return 1;
}

static unsigned run_document(const char *document)
{
    FILE *file = fopen(document, "re");
    ck_assert_msg(file != NULL, "cannot read %s", document);
    struct bytes text = bytes_with_limit((size_t)1 << 20);
    char chunk[4096];
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
        ck_assert_int_eq(bytes_append(&text, chunk, got), 0);
    (void)fclose(file);
    struct lines lines;
    split_lines(&lines, text.data);
    unsigned examples = 0;
    bool inside = false;
    for (size_t i = 0; i < lines.count; ++i) {
        if (strncmp(lines.items[i], "```", 3) == 0)
            inside = !inside && strcmp(lines.items[i], "```console") == 0;
        else if (inside && strncmp(lines.items[i], "$ spillway", 10) == 0) {
            size_t end = i + 1;
            while (end < lines.count && strncmp(lines.items[end], "```", 3) != 0 &&
                   strncmp(lines.items[end], "$ ", 2) != 0)
                ++end;
            examples += run_example(document, lines.items[i] + 2, &lines.items[i + 1], end - i - 1);
        }
    }
    bytes_release(&text);
    return examples;
}

START_TEST(examples_are_true)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    unsigned examples = 0;
    for (size_t i = 0; i < COUNT_OF(documents); ++i)
        examples += run_document(documents[i]);
    ck_assert_msg(examples >= 3, "only %u examples were found in the documents", examples);
}
END_TEST

START_TEST(patterns_match_as_promised)
{
    ck_assert(line_matches("a … c", "a b c"));
    ck_assert(line_matches("…", ""));
    ck_assert(!line_matches("a … c", "a b d"));
    ck_assert(line_matches("seed        …", "seed        17"));
    const char *const expected[] = {"one", "…", "four"};
    const char *const seen[] = {"one", "two", "three", "four"};
    ck_assert_uint_eq(first_difference(expected, 3, seen, 4), SIZE_MAX);
    ck_assert_uint_eq(first_difference(expected, 3, seen, 3), 2);
    ck_assert_uint_eq(first_difference(expected, 1, seen, 2), 1);
}
END_TEST

/* Each command's help fits 80 columns and shows how it is typed. */
START_TEST(every_help_has_examples)
{
    struct process_result list = testing_spillway((const char *[]){"--help", NULL}, NULL);
    const char *line = strstr(bytes_text(&list.output), "Commands:\n");
    ck_assert_ptr_nonnull(line);
    size_t commands = 0;
    for (line = strchr(line, '\n') + 1; line[0] == ' '; line = strchr(line, '\n') + 1) {
        char command[40];
        (void)snprintf(command, sizeof command, "%.*s", (int)strcspn(line + 2, " "), line + 2);
        struct process_result help =
            testing_spillway((const char *[]){command, "--help", NULL}, NULL);
        const char *text = bytes_text(&help.output);
        ck_assert_msg(strstr(text, "\nExamples:\n  ") != NULL, "%s --help has no examples",
                      command);
        size_t column = 0;
        for (const char *c = text; *c != '\0'; ++c) {
            bool continues = ((unsigned char)*c & 0xC0) == 0x80; /* of a character in UTF-8 */
            column = *c == '\n' ? 0 : column + !continues;
            ck_assert_msg(column <= 80, "%s --help has a line of more than 80 columns", command);
        }
        process_result_release(&help);
        ++commands;
    }
    ck_assert_uint_gt(commands, 10);
    process_result_release(&list);
}
END_TEST

Suite *suite_docs(void)
{
    Suite *suite = suite_create("docs");
    TCase *tests = tcase_create("docs");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, examples_are_true);
    tcase_add_test(tests, patterns_match_as_promised);
    tcase_add_test(tests, every_help_has_examples);
    suite_add_tcase(suite, tests);
    return suite;
}

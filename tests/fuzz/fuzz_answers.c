/* fuzz_answers.c - any bytes are an answers.ini: printable items within their caps. */
#include <assert.h>

#include "answers.h"
#include "arch.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_text(const char *text)
{
    struct bytes clean = bytes_with_limit(4096);
    text_sanitize(&clean, text, strlen(text), 4096);
    assert(strcmp(bytes_text(&clean), text) == 0);
    bytes_release(&clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct answers answers;
    struct error err = {0};
    if (answers_parse(&answers, (const char *)data, length, &err) != 0)
        return 0;
    assert(answers.count <= LIMIT_ANSWERS_KEYS && answers.problem_count <= 64);
    for (size_t i = 0; i < answers.count; ++i) {
        const struct answer *item = &answers.items[i];
        int64_t number = 0;
        struct arch arch;
        check_text(item->section);
        check_text(item->key);
        check_text(item->value);
        assert(answers_find(&answers, item->section, item->key) != NULL);
        (void)!answer_number(item, &number);
        (void)!arch_parse(item->value, &arch);
    }
    for (size_t i = 0; i < answers.problem_count; ++i)
        check_text(answers.problems[i]);
    answers_release(&answers);
    return 0;
}

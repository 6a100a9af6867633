#include "problems.h"

#include <stdarg.h>

#include "caps.h"
#include "text.h"

void problems_add(struct problems *problems, size_t line, const char *format, ...)
{
    ++problems->total;
    if (problems->count >= LIMIT_PROBLEMS)
        return;
    struct problem *grown =
        realloc(problems->items, (problems->count + 1) * sizeof problems->items[0]);
    if (grown == NULL)
        return;
    problems->items = grown;
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    text_clean(text);
    grown[problems->count++] = (struct problem){.line = line, .text = text};
}

void problems_sort(struct problems *problems)
{
    /* By insertion: the list is short, mostly in order, and equal lines must not change places. */
    for (size_t i = 1; i < problems->count; ++i) {
        struct problem moved = problems->items[i];
        size_t at = i;
        for (; at > 0 && problems->items[at - 1].line > moved.line; --at)
            problems->items[at] = problems->items[at - 1];
        problems->items[at] = moved;
    }
}

void problems_write(struct bytes *out, const struct problems *problems, const char *name)
{
    for (size_t i = 0; i < problems->count; ++i) {
        const struct problem *problem = &problems->items[i];
        if (problem->line > 0)
            bytes_printf(out, "%s:%zu: %s\n", name, problem->line, problem->text);
        else
            bytes_printf(out, "%s: %s\n", name, problem->text);
    }
    if (problems->total > problems->count)
        bytes_printf(out, "%s: and %zu more\n", name, problems->total - problems->count);
}

void problems_release(struct problems *problems)
{
    for (size_t i = 0; i < problems->count; ++i)
        free(problems->items[i].text);
    free(problems->items);
    *problems = (struct problems){0};
}

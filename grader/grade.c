#include "grade.h"

#include <stdarg.h>

#include "text.h"

const char *mark_status_word(enum mark_status status)
{
    switch (status) {
    case MARK_PASSED:
        return "passed";
    case MARK_FAILED:
        return "failed";
    case MARK_SKIPPED:
        return "skipped";
    case MARK_ERROR:
        break;
    }
    return "error";
}

void grade_add_up(struct grade *grade)
{
    grade->score = grade->pending = grade->max_score = 0;
    for (size_t i = 0; i < grade->mark_count; ++i) {
        const struct mark *mark = &grade->marks[i];
        grade->score += mark->points;
        grade->max_score += mark->criterion->points;
        if (mark->status == MARK_SKIPPED || mark->status == MARK_ERROR)
            grade->pending += mark->criterion->points;
    }
}

int grade_add_note(struct grade *grade, struct error *err, const char *format, ...)
{
    char **grown = realloc(grade->notes, (grade->note_count + 1) * sizeof grade->notes[0]);
    if (grown == NULL)
        return error_no_memory(err);
    grade->notes = grown;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&grown[grade->note_count], format, arguments);
    va_end(arguments);
    if (length < 0)
        return error_no_memory(err);
    text_clean(grown[grade->note_count++]);
    return 0;
}

void grade_release(struct grade *grade)
{
    free(grade->path);
    free(grade->source_path);
    free(grade->answers_path);
    free(grade->archs);
    free(grade->compiler_words);
    for (size_t i = 0; i < grade->kernel_count; ++i) {
        free(grade->kernels[i].fault);
        free(grade->kernels[i].printed);
    }
    free(grade->kernels);
    for (size_t i = 0; i < grade->note_count; ++i)
        free(grade->notes[i]);
    free(grade->notes);
    for (size_t i = 0; i < grade->mark_count; ++i) {
        free(grade->marks[i].message);
        free(grade->marks[i].remedy);
    }
    free(grade->marks);
    *grade = (struct grade){0};
}

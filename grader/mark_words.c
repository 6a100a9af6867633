#include "mark_words.h"

#include "text.h"

bool mark_is_pending(const struct mark *mark)
{
    return mark->status == MARK_SKIPPED || mark->status == MARK_ERROR;
}

size_t mark_group_length(const struct mark *mark)
{
    return strcspn(mark->criterion->id, ".");
}

void mark_explain(struct bytes *out, const struct grade *grade, const struct mark *mark)
{
    const struct criterion *criterion = mark->criterion;
    if (mark->status == MARK_PASSED)
        return;
    if (mark_is_pending(mark))
        bytes_printf(out,
                     "Pending: this machine could not judge it, and the %d point%s not lost.\n",
                     criterion->points, criterion->points == 1 ? " is" : "s are");
    if (mark->message[0] != '\0')
        bytes_printf(out, "seen: %s\n", mark->message);
    if (mark->line > 0)
        bytes_printf(out, "where: %s, line %u\n", grade->lab->source_name, mark->line);
    if (mark->status != MARK_FAILED)
        return;
    if (criterion->why != NULL && criterion->why[0] != '\0')
        bytes_printf(out, "why: %s\n", criterion->why);
    if (mark->remedy[0] != '\0')
        bytes_printf(out, "try: %s\n", mark->remedy);
}

void grade_score_words(struct bytes *out, const struct grade *grade)
{
    bytes_printf(out, "%d/%d", grade->score, grade->max_score);
    if (grade->pending > 0)
        bytes_printf(out, " (%d pending)", grade->pending);
}

void grade_finish_words(struct bytes *out, const struct grade *grade, bool hand_in)
{
    if (grade->score < grade->max_score)
        return;
    bytes_printf(out, "\nAll %d points: this lab is done.", grade->max_score);
    if (hand_in && !grade->from_git)
        bytes_printf(out, " What is left is to hand it in: commit %s and\nanswers.ini, and push.",
                     grade->lab->source_name);
    bytes_append_text(out, "\n");
}

void grade_explain(struct bytes *out, const struct grade *grade)
{
    char arch[ARCH_NAME_BYTES];
    bytes_append_text(out, "Score: ");
    grade_score_words(out, grade);
    bytes_printf(out, "\n%s (%s)\nGraded for", grade->lab->title, grade->lab->id);
    for (size_t i = 0; i < grade->graded_arch_count; ++i)
        bytes_printf(out, " %s", arch_name(grade->archs[i], "sm_", arch));
    bytes_printf(out, " with nvcc %s, seed %llu\n", grade->nvcc_version,
                 (unsigned long long)grade->seed);
    bytes_printf(out, "Run by %s: %s\n",
                 grade->executor == EXECUTOR_NONE ? "nothing"
                 : grade->device[0] == '\0'       ? executor_word(grade->executor)
                                                  : grade->device,
                 grade->why);
    if (grade->compiler_words != NULL) {
        bytes_append_text(out, "\nThe compiler says:\n");
        text_sanitize_lines(out, grade->compiler_words, strlen(grade->compiler_words),
                            MARK_WORDS_COMPILER_BYTES);
        bytes_append_text(out, "\n");
    }
    if (grade->note_count > 0)
        bytes_append_text(out, "\nNotes, without points:\n");
    for (size_t i = 0; i < grade->note_count; ++i)
        bytes_printf(out, "- %s\n", grade->notes[i]);
}

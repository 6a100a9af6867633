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

size_t mark_parts(struct mark_part parts[MARK_PARTS_MAX], char room[2][MARK_ROOM_BYTES],
                  const struct grade *grade, const struct mark *mark)
{
    const struct criterion *criterion = mark->criterion;
    size_t count = 0;
    if (mark->status == MARK_PASSED)
        return 0;
    if (mark_is_pending(mark)) {
        (void)snprintf(room[0], MARK_ROOM_BYTES,
                       "Pending: this machine could not judge it, and the %d point%s not lost.",
                       criterion->points, criterion->points == 1 ? " is" : "s are");
        parts[count++] = (struct mark_part){"", room[0]};
    }
    if (mark->message[0] != '\0')
        parts[count++] = (struct mark_part){"seen", mark->message};
    if (mark->line > 0) {
        (void)snprintf(room[1], MARK_ROOM_BYTES, "%s, line %u", grade->lab->source_name,
                       mark->line);
        parts[count++] = (struct mark_part){"where", room[1]};
    }
    if (mark->status != MARK_FAILED)
        return count;
    if (criterion->why != NULL && criterion->why[0] != '\0')
        parts[count++] = (struct mark_part){"why", criterion->why};
    if (mark->remedy[0] != '\0')
        parts[count++] = (struct mark_part){"try", mark->remedy};
    return count;
}

void mark_explain(struct bytes *out, const struct grade *grade, const struct mark *mark)
{
    struct mark_part parts[MARK_PARTS_MAX];
    char room[2][MARK_ROOM_BYTES];
    size_t count = mark_parts(parts, room, grade, mark);
    for (size_t i = 0; i < count; ++i)
        bytes_printf(out, "%s%s%s\n", parts[i].label, parts[i].label[0] != '\0' ? ": " : "",
                     parts[i].text);
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

void grade_explain_tools(struct bytes *out, const struct grade *grade)
{
    char arch[ARCH_NAME_BYTES];
    bytes_append_text(out, "Graded for");
    for (size_t i = 0; i < grade->graded_arch_count; ++i)
        bytes_printf(out, " %s", arch_name(grade->archs[i], "sm_", arch));
    bytes_printf(out, " with nvcc %s, seed %llu\n", grade->nvcc_version,
                 (unsigned long long)grade->seed);
    bytes_printf(out, "Run by %s: %s\n", grade->device[0] == '\0' ? "nothing" : grade->device,
                 grade->why);
}

void grade_explain(struct bytes *out, const struct grade *grade)
{
    bytes_append_text(out, "Score: ");
    grade_score_words(out, grade);
    bytes_printf(out, "\n%s (%s)\n", grade->lab->title, grade->lab->id);
    grade_explain_tools(out, grade);
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

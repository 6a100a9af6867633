/* mark_words.h - a mark and a score in plain words, for the writers that print for people: each
 * says the same, and differs only in how it must be quoted. */
#ifndef SPILLWAY_MARK_WORDS_H
#define SPILLWAY_MARK_WORDS_H

#include "grade.h"

/* The most of a compiler's words that goes into somebody else's format: some have a limit. */
#define MARK_WORDS_COMPILER_BYTES ((size_t)32 << 10)

/* Skipped and error: the points are pending, not lost. */
bool mark_is_pending(const struct mark *mark);

/* "numbers" of "numbers.decayWide"; returns its length. */
size_t mark_group_length(const struct mark *mark);

/* What there is to say under a mark, part by part; borrowed from the mark, but for `where`. */
struct mark_part {
    const char *label; /* "seen", "where", "why", "try"; "" for a sentence of its own */
    const char *text;
};
#define MARK_PARTS_MAX 5
#define MARK_ROOM_BYTES 200
/* Fills *parts and returns how many there are: none after a pass. `room` holds what is put together
 * here, and has to live as long. */
size_t mark_parts(struct mark_part parts[MARK_PARTS_MAX], char room[2][MARK_ROOM_BYTES],
                  const struct grade *grade, const struct mark *mark);

/* The lines under a mark: what was seen, where, why it matters, what to try; "" after a pass. Each
 * line ends with a newline. */
void mark_explain(struct bytes *out, const struct grade *grade, const struct mark *mark);

/* "62/100" or "62/100 (20 pending)". */
void grade_score_words(struct bytes *out, const struct grade *grade);

/* Appends, when all points are there, the sentence that says so; with `hand_in` also what is left
 * to do for somebody whose files lie in a folder. */
void grade_finish_words(struct bytes *out, const struct grade *grade, bool hand_in);

/* The lines over the marks: the score, the tools and the machine, the compiler's words when it
 * failed, the notes. */
void grade_explain(struct bytes *out, const struct grade *grade);
/* Of those, the two lines about the tools and the machine. */
void grade_explain_tools(struct bytes *out, const struct grade *grade);

#endif

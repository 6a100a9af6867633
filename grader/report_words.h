/* report_words.h - names and sentences that fit a terminal. Internal to report_table.c and
 * report_explain.c. */
#ifndef SPILLWAY_REPORT_WORDS_H
#define SPILLWAY_REPORT_WORDS_H

#include "bytes.h"

/* Columns that well-formed UTF-8 takes, one a code point. */
size_t report_words_columns(const char *text);

/* Appends the text, or, if it is wider than `columns` (at least 3), its beginning, "…" and its
 * end. */
void report_words_shorten(struct bytes *out, const char *text, size_t columns);

/* Appends the sentence, broken at blanks before column 80, and a newline. */
void report_words_wrap(struct bytes *out, const char *sentence);

#endif

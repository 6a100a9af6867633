/* mutant_words.h - what the marks that a mutant loses must say: tests/mutants/<lab>/WORDS.tsv. */
#ifndef SPILLWAY_MUTANT_WORDS_H
#define SPILLWAY_MUTANT_WORDS_H

#include "bytes.h"
#include "errors.h"

struct mutant_words {
    struct bytes table; /* owned */
};

/* Reads the table of a lab; a lab without one has no words to be looked for. */
int mutant_words_load(struct mutant_words *out, const char *lab_id, struct error *err);
void mutant_words_release(struct mutant_words *words);

/* Whether the message and the remedy of this mutant's mark hold what the table says; when not,
 * `missing` (of `size` bytes) gets the words. `found` counts the rows that were looked at. */
bool mutant_words_hold(const struct mutant_words *words, const char *mutant, const char *mark,
                       const char *message, const char *remedy, char *missing, size_t size,
                       unsigned *found);

#endif

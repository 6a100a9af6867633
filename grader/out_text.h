/* out_text.h - a grade for a person at a terminal. */
#ifndef SPILLWAY_OUT_TEXT_H
#define SPILLWAY_OUT_TEXT_H

#include "grade.h"

struct out_text_options {
    bool colour;      /* words stay words; colour only repeats them */
    bool verbose;     /* memory traffic and witnesses as well */
    const char *only; /* list only marks whose id begins with this; NULL: all */
};

/* Appends the whole page to *out (trouble is in out->failed). */
void out_text_write(struct bytes *out, const struct grade *grade,
                    const struct out_text_options *options);

/* Colour belongs on `stream`: it is a terminal, NO_COLOR is unset or empty, and TERM is not "dumb".
 */
bool out_text_wants_colour(FILE *stream);

#endif

/* canvas.h - grades for Canvas: a CSV that its import takes, made from one that it exported.
 *
 * Only what is meant to change is written: the columns that say who somebody is, the assignment's
 * column, and the rows of students who have a score, since Canvas takes an empty cell for a change.
 * Rules as Canvas's importer has them: an assignment's column is "Title (id)"; the second row may
 * hold the points possible; columns with words such as "Final Score" in their title are passed
 * over. */
#ifndef SPILLWAY_CANVAS_H
#define SPILLWAY_CANVAS_H

#include "csv.h"
#include "standing.h"

struct canvas {
    struct csv csv;   /* the template */
    size_t *identity; /* owned; columns that are kept, in the template's order */
    size_t identity_count;
    size_t name, id, sis_user, sis_login; /* columns, or CSV_NO_COLUMN */
    size_t assignment;                    /* column of the template; CSV_NO_COLUMN: a new one */
    char *title;                          /* owned; the assignment's header */
    bool guessed;                         /* taken because it was the only one: say so */
    size_t points_row;                    /* row of the points possible; 0: none */
};

/* Reads a template. `column` is the assignment's header, with or without its id; NULL: the one that
 * bears the lab's title or id, else the only one. A title that the template lacks makes a new
 * assignment, if it was asked for by name. Problems: no template of Canvas's, no or several such
 * columns, one that Canvas would pass over. -1 with *err: no memory, or no such file. */
int canvas_read(struct canvas *ret, const char *path, const char *column, const struct lab *lab,
                struct problems *problems, struct error *err);
void canvas_release(struct canvas *canvas);

/* Appends the file. Students are found by their ids and addresses (SIS user id, SIS login, Canvas's
 * id), without regard to case. Who is on one side only, is excused in Canvas, or has no score yet
 * is left out and goes to `notes`; trouble is in out->failed. -1 with *err: no memory. */
int canvas_write(struct bytes *out, const struct canvas *canvas, const struct standings *standings,
                 struct problems *notes, struct error *err);

#endif

/* exports.h - the files of a batch, all from the same standings, so that their totals agree:
 *
 *   grades.csv           a row a student: out_grades.c
 *   canvas.csv           for Canvas, from an exported template: out_canvas.c
 *   pending.csv          marks that this machine could not judge
 *   trouble.csv          students whom trouble of the machine kept from being graded
 *   explanations.csv     what students wrote in explain.md
 *   students/ID/         feedback.txt (out_feedback.c) and result.json
 *
 * Each file is replaced whole (temporary file, fsync, rename, fsync of the folder), and only where
 * its bytes change. Folders are 0700, files 0600. */
#ifndef SPILLWAY_EXPORTS_H
#define SPILLWAY_EXPORTS_H

#include "standing.h"

struct exports_options {
    const char *folder;          /* the batch's output folder; it exists */
    const char *canvas_template; /* NULL: no canvas.csv */
    const char *canvas_column;   /* header of the assignment's column; NULL: found by the lab */
};

struct exports_report {
    size_t files_written, files_same;
    struct problems notes; /* of Canvas: who was not matched */
};

/* Release the report's notes with problems_release(). */
int exports_write(const struct standings *standings, struct gradebook *book,
                  const struct exports_options *options, struct exports_report *ret,
                  struct error *err);

/* The folder of one student, as soon as that student is finished. */
int exports_write_student(const struct standing *standing, const struct standings *standings,
                          struct gradebook *book, const char *folder, struct exports_report *ret,
                          struct error *err);

#endif

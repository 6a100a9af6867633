/* exports.h - the files of a batch, all from the same standings, so that their totals agree:
 *
 *   grades.csv         a row a student
 *   pending.csv        marks that this machine could not judge
 *   trouble.csv        students whom trouble of the machine kept from being graded
 *   explanations.csv   what students wrote in explain.md
 *   canvas.csv         for Canvas, from an exported template
 *   students/ID/       feedback.txt, result.json, report.html; nothing for who has no attempt yet
 *
 * Each file is replaced whole (temporary file, fsync, rename, fsync of the folder), and only where
 * its bytes change. Folders are 0700, files 0600. */
#ifndef SPILLWAY_EXPORTS_H
#define SPILLWAY_EXPORTS_H

#include "canvas.h"
#include "standing.h"

struct exports_options {
    const char *folder;          /* the batch's output folder; it exists */
    const struct canvas *canvas; /* NULL: no canvas.csv */
};

/* Counts what the calls below did; begin with a zero struct and release the notes at the end. */
struct exports_report {
    size_t files_written, files_same;
    struct problems notes; /* of Canvas: who was left out, and why */
};

/* All of it, and the standings into the gradebook. -1 with *err: what was written is whole, a
 * student whose folder cannot be written keeps nothing else from being so, and the same call again
 * writes the rest. */
int exports_write(const struct standings *standings, struct gradebook *book,
                  const struct exports_options *options, struct exports_report *report,
                  struct error *err);

/* The folder of one student, as soon as that student is finished. */
int exports_write_student(const struct standing *standing, const struct lab *lab,
                          struct gradebook *book, const char *folder, struct exports_report *report,
                          struct error *err);

#endif

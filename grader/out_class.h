/* out_class.h - tables of a whole class, as CSV; exports.h lists the files. Trouble is in
 * out->failed. Cells with words of students are safe to open in a spreadsheet (csv.h). */
#ifndef SPILLWAY_OUT_CLASS_H
#define SPILLWAY_OUT_CLASS_H

#include "standing.h"

/* grades.csv: a row a student in the roster's order, a column a mark behind the others. */
void out_class_grades(struct bytes *out, const struct standings *standings);
/* pending.csv: a row a mark that nobody could judge and no override settled. */
void out_class_pending(struct bytes *out, const struct standings *standings);
/* trouble.csv: a row a student whom trouble of the machine kept from being graded (again). */
void out_class_trouble(struct bytes *out, const struct standings *standings);

/* explanations.csv, row by row: its texts are not kept in memory. */
void out_class_explanations_head(struct bytes *out);
void out_class_explanation(struct bytes *out, const struct standing *standing,
                           const char *explanation);

#endif

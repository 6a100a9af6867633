/* report_table.h - a report for a person: a table, and sentences on what a number cannot say. */
#ifndef SPILLWAY_REPORT_TABLE_H
#define SPILLWAY_REPORT_TABLE_H

#include "report.h"

/* Columns of the narrowest terminal that the table is made for. */
#define REPORT_TABLE_COLUMNS 80

/* Appends one row a kernel, and one below it for each function that it calls and that has a frame
 * or spills. "-" is what the log did not print. Names are shortened in the middle when `shorten` is
 * set (a terminal); otherwise a long name gets a line of its own. */
void report_table_write(struct bytes *out, const struct report *report, bool shorten);

/* Appends what there is to say besides: who spills how much, whose frame is no spill. */
void report_table_explain(struct bytes *out, const struct report *report, bool shorten);

/* Appends what is ambiguous, incomplete or failed, and why it matters. Nothing when all is well. */
void report_table_explain_trouble(struct bytes *out, const struct report *report, bool shorten);

/* Appends the sentence for a log without a kernel. `blank`: it has no words at all. */
void report_table_explain_nothing(struct bytes *out, const struct report *report, bool blank);

#endif

/* report_rows.h - what report.c reads off a log, before equal rows are put together by
 * report_result.c. Internal to report*.c. Slices point into the log. */
#ifndef SPILLWAY_REPORT_ROWS_H
#define SPILLWAY_REPORT_ROWS_H

#include "report_fields.h"

#define REPORT_NO_ROW SIZE_MAX

/* One printed "Compiling entry function" (ptxas) or "Function properties for 'NAME':" (nvlink). */
struct report_row {
    struct slice symbol, arch;
    enum report_tool tool;
    struct report_numbers numbers;
    size_t bank_start, bank_count;   /* in report_rows.banks */
    size_t block_start, block_count; /* filled by report_rows_finish() */
    size_t cluster;                  /* row that was the first to be unfinished at that time */
    size_t line;
    bool symbol_cut;
    bool damaged;        /* a piece of its record is missing or cut */
    bool has_properties; /* its own "Function properties" line was seen */
    bool has_frame, has_used, has_time;
    bool contested;     /* a "Used" line that may have been its own went to another row */
    bool cluster_mixed; /* on the first row of a cluster: whose "Used" is whose cannot be known */
    bool ambiguous;
    bool complete; /* filled by report_rows_finish() */
};

/* One "Function properties" block that is not the entry's own. */
struct report_block {
    struct slice symbol; /* empty: a line whose beginning is missing */
    size_t owner;        /* row, or REPORT_NO_ROW */
    bool inside;         /* it stands between the owner's own block and its "Used" line */
    struct report_numbers numbers;
    bool whole;
};

struct report_messages {
    char **texts; /* owned, printable */
    size_t count, capacity;
};

struct report_rows {
    struct report_row *rows;
    size_t count, capacity;
    struct report_block *blocks;
    size_t block_count, block_capacity;
    struct report_bank *banks;
    size_t bank_count, bank_capacity;
    struct report_messages warnings, errors;
    bool has_properties; /* ptxas printed "Function properties" for anything at all */
    bool recognised, build_failed, truncated;
    size_t unread_lines;
};

/* Makes the public report of the rows. The rows stay the caller's, but the messages move to *out.
 * -1 when out of memory; *out is then empty. */
int report_rows_finish(struct report *out, struct report_rows *rows, struct error *err);

void report_rows_release(struct report_rows *rows);

/* Makes room for one more item of `size` bytes behind `count`. False when out of memory. */
bool report_rows_grow(void *items, size_t *capacity, size_t count, size_t size);

#endif

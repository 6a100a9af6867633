/* report_records.h - whose line is this? Internal to report*.c.
 *
 * A record of ptxas is up to five messages: "Compiling entry function 'X' for 'sm_75'", "Function
 * properties for X" with its frame line, "Used …", "Compile time = …", and then one "Function
 * properties" block for each function that X calls and that was not inlined. Each message is one
 * write(2), so several compilers on one pipe may shuffle messages, but hardly ever tear one. "Used"
 * names nobody. Hence:
 * - entries without a "Used" line stay open; a "Used" line goes to the newest open entry that has
 *   its properties. If another one had them too, that one is contested, and if it gets a "Used"
 * line after all, then two compilers were at work and all entries of that cluster are ambiguous;
 * - a block that is not an open entry's own belongs to the last entry, unless a "Compile time" line
 *   follows it, or the log has no times and nvlink links: then ptxas compiled it by itself (-G,
 *   relocatable code) and nobody owns it;
 * - "N bytes gmem" begins the next run of the compiler. */
#ifndef SPILLWAY_REPORT_RECORDS_H
#define SPILLWAY_REPORT_RECORDS_H

#include "report_rows.h"

/* More entries than any build leaves unfinished at once; the oldest is forgotten, and so stays
 * incomplete. */
enum { REPORT_OPEN_MAX = 64 };

enum report_subject { SUBJECT_NONE, SUBJECT_ROW, SUBJECT_BLOCK };

struct report_records {
    struct report_rows rows;
    size_t open[REPORT_OPEN_MAX]; /* ptxas entries without their "Used" line, oldest first */
    size_t open_count;
    size_t owner;                  /* last ptxas entry of this run, or REPORT_NO_ROW */
    size_t nvlink_row;             /* nvlink function without its "used" line, or REPORT_NO_ROW */
    enum report_subject pending;   /* whose frame line is awaited… */
    enum report_subject subject;   /* …and whose "Compile time" comes next… */
    size_t pending_at, subject_at; /* …as index of a row or a block */
    bool in_module;                /* a "gmem" line was seen */
    bool module_has_entry, module_has_time;
    bool saw_time;   /* in any run so far */
    bool stray_time; /* a "Compile time" that follows no record: another compiler's… */
    bool shuffled;   /* …and then a block, of which compiler's entry nobody knows */
    bool separate;   /* this run compiles functions by themselves, and before its entries */
    bool linked;     /* nvlink told of a kernel: there was relocatable code */
    bool full;       /* a cap was reached: no more statistics are taken */
    bool no_memory;
};

void report_records_init(struct report_records *records);

/* Takes a line of a statistics kind (LINE_MODULE to LINE_TIME), `number` being its line in the log.
 * `terminated` is false when nothing says that the line is whole. Out of memory sets no_memory. */
void report_records_take(struct report_records *records, const struct report_line *line,
                         bool terminated, size_t number);

/* Marks what cannot be known; once, after the last line. */
void report_records_end(struct report_records *records);

void report_records_release(struct report_records *records);

#endif

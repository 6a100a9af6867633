/* report_line.h - one line of a compiler's log told apart: what it is, and the pieces it holds.
 *
 * Internal to report*.c. A slice points into the log that is parsed (or its cleaned copy) and lives
 * as long as that. Nothing here allocates or fails: a line that is not understood is LINE_FOREIGN,
 * a piece that is cut says so. */
#ifndef SPILLWAY_REPORT_LINE_H
#define SPILLWAY_REPORT_LINE_H

#include "bytes.h"
#include "report.h"
#include "slice.h"

enum report_line_kind {
    LINE_BLANK,
    LINE_FOREIGN,       /* neither ptxas nor nvlink said it */
    LINE_FOREIGN_ERROR, /* the front end, the host compiler or the build tool gave up */
    LINE_MODULE,        /* "N bytes gmem": a new run of the tool begins */
    LINE_ENTRY,         /* "Compiling entry function 'NAME' for 'ARCH'" */
    LINE_PROPERTIES,    /* "Function properties for NAME" */
    LINE_FRAME,         /* "N bytes stack frame, N bytes spill stores, N bytes spill loads" */
    LINE_USED,          /* "Used N registers, …" */
    LINE_TIME,          /* "Compile time = N ms" */
    LINE_WARNING,       /* a warning, or a note with a code: "(C7510) Potential Performance Loss" */
    LINE_ERROR,         /* error or fatal */
    LINE_REMARK,        /* any other words of the tools */
};

struct report_line {
    enum report_line_kind kind;
    enum report_tool tool;
    struct slice message; /* from the tag on, without a build tool's prefix */
    struct slice fields;  /* LINE_FRAME, LINE_USED: the comma-separated list */
    struct slice name;    /* LINE_ENTRY, LINE_PROPERTIES */
    struct slice arch;    /* LINE_ENTRY, and nvlink's "(target: sm_75)"; empty: not printed */
    bool other_tool;      /* nvcc itself or cicc speaks: neither ptxas nor nvlink */
    bool name_cut;        /* the name ends in the middle: its quote, or its line, never ends */
    bool arch_cut;        /* the same of the architecture */
    bool cut;             /* so early that the kind is all that is known */
};

/* Reads one line (without its line end). `terminated` is false for what ends without a line end. */
void report_line_read(struct report_line *out, struct slice line, bool terminated);

/* Where a statistics line is followed by another message on the same line (two processes wrote into
 * one another), the offset of that message in `line`; 0 where there is none. */
size_t report_line_second(const struct report_line *line, struct slice whole);

/* Quotations that may hold line ends: ptxas repeats an unknown .pragma, or the token at which it
 * gave up, as it stands. */
enum report_quote {
    QUOTE_NONE,   /* the message quotes nothing of the kind */
    QUOTE_CLOSED, /* it ends on its own line */
    QUOTE_OPEN,   /* it goes on below */
};
enum report_quote report_line_quote(struct slice message);

/* The quote that ends such a quotation, anywhere in the text, or NULL. */
const char *report_quote_end(struct slice text);

/* True when the line holds the end of such a quotation without its beginning. */
bool report_line_closes_quote(struct slice line);

/* Makes *copy the log without a byte-order mark, UTF-16 and the escape sequences of terminals, and
 * points *clean at it; or points *clean at the log itself where there is none of them. -1 when out
 * of memory. */
int report_clean(struct slice *clean, struct bytes *copy, struct slice log);

#endif

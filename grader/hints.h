/* hints.h - a lab's ladder of hints, read from the plain text file labs/<id>/hints.
 *
 * The format, line by line; what stands in column 1 decides:
 *
 *     # a comment                     (and blank lines between the parts)
 *     item ID Title to the line's end
 *     defer MARK if FACTS             a lost MARK that another item's edit mends, as FACTS show:
 *                                     `hint next` passes it over
 *     hint if FACTS                   opens a rung that is shown first, and only while FACTS hold
 *       The text.
 *     hint                            opens a rung; its text follows, indented by two blanks
 *       The text. A blank line inside it parts two paragraphs.
 *     solution                        opens the solution, at most one and last
 *       The text.
 *
 * FACTS are one or more of `KERNEL FACT`, parted by ` and `: what the last grading measured of the
 * kernel, or of `any` one. FACT is `spills`, `frame` (local memory without a spill), `no-frame`,
 * `fault` (a launch that was refused or went wrong), `wrong` (a mark for its numbers was lost), or
 * `missing` (the build had others, but not this one).
 *
 * An item needs a title and at least one hint. ID is made of a-z, 0-9, '-' and '_'. By convention
 * it is the group of a mark ("question2" for question2.percent_lost), so that whoever loses a mark
 * finds its hints.
 *
 * Life cycle: hints_parse() or hints_load(), read, hints_release(). */
#ifndef SPILLWAY_HINTS_H
#define SPILLWAY_HINTS_H

#include "errors.h"

#define HINTS_BYTES_MAX ((size_t)256 << 10)
#define HINTS_ITEMS_MAX 100
#define HINTS_RUNGS_MAX 50 /* of one item */
#define HINTS_LINE_MAX 200
#define HINTS_ID_MAX 31
#define HINTS_TRIGGERS_MAX 16 /* of one item */
#define HINTS_DEFERRALS_MAX 4 /* of one item */
#define HINTS_KERNEL_MAX 63
#define HINTS_MARK_MAX 95
#define HINTS_FACTS_MAX 4 /* behind one `if` */

enum hint_fact {
    HINT_SPILLS,
    HINT_FRAME,
    HINT_NO_FRAME,
    HINT_FAULT,
    HINT_WRONG,
    HINT_MISSING,
    HINT_FACT_COUNT
};

struct hint_facts { /* all of them have to hold */
    struct hint_measured {
        char kernel[HINTS_KERNEL_MAX + 1]; /* or "any" */
        enum hint_fact fact;
    } items[HINTS_FACTS_MAX];
    size_t count;
};

struct hint_trigger { /* a rung for what was measured */
    struct hint_facts facts;
    char *text; /* owned */
};

struct hint_deferral {
    char mark[HINTS_MARK_MAX + 1];
    struct hint_facts facts;
};

struct hint_item {
    char id[HINTS_ID_MAX + 1];
    char *title;  /* owned */
    char **rungs; /* owned texts; each ends with a newline */
    size_t count;
    struct hint_trigger triggers[HINTS_TRIGGERS_MAX];
    size_t trigger_count;
    struct hint_deferral deferrals[HINTS_DEFERRALS_MAX];
    size_t deferral_count;
    char *solution; /* owned; NULL: none */
};

struct hints {
    struct hint_item *items; /* owned */
    size_t count;
};

/* Returns 0, or -1 with *err (infrastructure: the file came with the program) that names the line;
 * *out is then empty. The bytes may be anything. */
int hints_parse(struct hints *out, const char *text, size_t length, struct error *err);

/* Reads and parses labs/<lab_id>/hints. */
int hints_load(struct hints *out, const char *lab_id, struct error *err);

void hints_release(struct hints *hints);

/* What of each item was shown. */
struct hint_progress {
    size_t seen[HINTS_ITEMS_MAX];   /* rungs of the ladder */
    uint32_t told[HINTS_ITEMS_MAX]; /* bit k: trigger k */
};

/* Reads it from lines "ID COUNT" and "ID if BITS" of any bytes; what makes no sense is passed over.
 * `seen` is never more than the item has. */
void hints_read_progress(const struct hints *hints, struct hint_progress *progress,
                         const char *text, size_t length);

/* "spills", "frame", … as the file has them. */
const char *hints_fact_word(enum hint_fact fact);

/* The item of this id, or of the group that a mark id begins with ("bounds.blocks"); NULL: none.
 */
const struct hint_item *hints_find(const struct hints *hints, const char *id);

#endif

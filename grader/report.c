/* report.c - from a log to lines, and what is no statistics: messages, quotations, other voices. */
#include "report.h"

#include "caps.h"
#include "report_records.h"
#include "text.h"

struct parser {
    struct report_records records;
    bool saw_foreign; /* somebody else wrote into the log as well */

    /* Quotations over several lines (see report_line.h). */
    bool trust_quotes;    /* take them for one message */
    bool swallowed;       /* one was taken so */
    bool no_quote_end;    /* there is none in the rest of the log… */
    size_t doubtful_from; /* …so rows from here on may be quoted */
    bool quote_seen;      /* a message that quotes was seen, and… */
    size_t quoted_since;  /* …rows from here on were printed after the last of them */
};

/* ---- messages ----------------------------------------------------------------------------------
 */

static void take_text(struct parser *p, struct report_messages *messages, struct slice text)
{
    if (messages->count >= LIMIT_REPORT_MESSAGES) {
        p->records.rows.truncated = true;
        return;
    }
    struct bytes printable = bytes_with_limit(LIMIT_MESSAGE_BYTES);
    text_sanitize(&printable, text.text, text.length, LIMIT_MESSAGE_BYTES);
    char *owned = bytes_take(&printable);
    bytes_release(&printable);
    if (owned == NULL || !report_rows_grow(&messages->texts, &messages->capacity, messages->count,
                                           sizeof *messages->texts)) {
        free(owned);
        p->records.no_memory = true;
        return;
    }
    messages->texts[messages->count++] = owned;
}

/* ---- quotations --------------------------------------------------------------------------------
 */

/* A warning or an error on the first line of `rest`, which is the log from here on; that line has
 * `length` bytes. Returns how many bytes below it belong to the message too. */
static size_t take_message(struct parser *p, const struct report_line *line, struct slice rest,
                           size_t length)
{
    struct report_messages *list =
        line->kind == LINE_WARNING ? &p->records.rows.warnings : &p->records.rows.errors;
    p->records.rows.build_failed |= line->kind == LINE_ERROR;
    struct slice text = line->message;
    enum report_quote quote = report_line_quote(text);
    size_t more = 0;
    if (quote == QUOTE_OPEN && !p->no_quote_end) {
        /* Below the line, not behind its text: blanks at the line's end are no part of that. */
        struct slice below = slice_from(rest, length);
        const char *end = report_quote_end(below);
        if (end == NULL) {
            /* The log ends inside: what follows is the quotation, or is not. */
            p->no_quote_end = true;
            if (p->doubtful_from > p->records.rows.count)
                p->doubtful_from = p->records.rows.count;
        } else if (p->trust_quotes) {
            struct slice tail = slice_from(below, (size_t)(end - below.text));
            const char *newline = slice_find_char(tail, '\n');
            if (newline == NULL)
                newline = tail.text + tail.length;
            text.length = (size_t)(newline - text.text);
            more = (size_t)(newline - below.text);
            p->swallowed = true;
        }
    }
    if (quote != QUOTE_NONE) {
        p->quote_seen = true;
        p->quoted_since = p->records.rows.count;
    }
    take_text(p, list, text);
    return more;
}

/* The end of a quotation that began nowhere: what looked like rows before it may have been quoted.
 */
static void take_quote_end(struct parser *p)
{
    for (; p->quoted_since < p->records.rows.count; ++p->quoted_since)
        p->records.rows.rows[p->quoted_since].ambiguous = true;
}

/* ---- lines -------------------------------------------------------------------------------------
 */

/* Takes the line that `rest` begins with, of `length` bytes. Returns how much further to go. */
static size_t take_line(struct parser *p, struct slice rest, size_t length, bool terminated,
                        size_t number)
{
    struct slice whole = {rest.text, length};
    size_t more = 0;
    for (bool again = true; again;) {
        struct report_line line;
        report_line_read(&line, whole, terminated);
        size_t second = report_line_second(&line, whole);
        again = second != 0;
        if (again)
            report_line_read(&line, slice_to(whole, whole.text + second), false);
        p->records.rows.recognised |= line.kind >= LINE_MODULE && !line.other_tool;
        p->saw_foreign |= line.other_tool;
        p->records.rows.truncated |= line.cut;
        switch (line.kind) {
        case LINE_BLANK:
            break;
        case LINE_FOREIGN_ERROR:
            p->records.rows.build_failed = true;
            take_text(p, &p->records.rows.errors, line.message);
            /* fall through */
        case LINE_FOREIGN:
            p->saw_foreign = true;
            p->records.rows.unread_lines += slice_find(line.message, "ptxas info") != NULL;
            break;
        case LINE_WARNING:
        case LINE_ERROR:
            more = take_message(p, &line, rest, length);
            break;
        case LINE_REMARK:
            break;
        default:
            report_records_take(&p->records, &line, terminated && !again, number);
            break;
        }
        if (p->quote_seen && more == 0 && line.kind != LINE_WARNING && line.kind != LINE_ERROR &&
            report_line_closes_quote(whole))
            take_quote_end(p);
        if (again)
            whole = slice_from(whole, second);
    }
    return more;
}

static void parse_log(struct parser *p, struct slice log)
{
    size_t number = 1;
    while (log.length > 0 && !p->records.no_memory) {
        const char *newline = slice_find_char(log, '\n');
        size_t length = newline != NULL ? (size_t)(newline - log.text) : log.length;
        /* A lone carriage return begins a line as well: progress bars, old Macs. */
        const char *back = slice_find_char((struct slice){log.text, length}, '\r');
        if (back != NULL)
            length = (size_t)(back - log.text);
        bool terminated = length < log.length;
        size_t more = take_line(p, log, length, terminated, number);
        for (size_t i = 0; i < more; ++i)
            number += log.text[length + i] == '\n';
        length += more;
        number += slice_is_char_at(log, length, '\n');
        log = slice_from(log, length < log.length ? length + 1 : length);
    }
}

static int parse(struct parser *p, struct slice log, bool trust_quotes)
{
    *p = (struct parser){.doubtful_from = SIZE_MAX, .trust_quotes = trust_quotes};
    report_records_init(&p->records);
    parse_log(p, log);
    report_records_end(&p->records);
    for (size_t i = p->doubtful_from; i < p->records.rows.count; ++i)
        p->records.rows.rows[i].ambiguous = true;
    return p->records.no_memory ? -1 : 0;
}

int report_parse(struct report *out, const char *log, size_t length, struct error *err)
{
    *out = (struct report){0};
    struct slice clean;
    struct bytes copy;
    struct parser parser;
    if (report_clean(&clean, &copy, (struct slice){log, length}) != 0) {
        bytes_release(&copy);
        return error_no_memory(err);
    }
    int status = parse(&parser, clean, true);
    if (status == 0 && parser.swallowed && parser.saw_foreign) {
        /* Somebody else's line may have opened the quotation, to hide what ptxas said: then all
         * of it counts, and what was said twice is ambiguous. */
        report_records_release(&parser.records);
        status = parse(&parser, clean, false);
    }
    status =
        status != 0 ? error_no_memory(err) : report_rows_finish(out, &parser.records.rows, err);
    report_records_release(&parser.records);
    bytes_release(&copy);
    return status;
}

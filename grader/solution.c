#include "solution.h"

enum line_kind { LINE_PLAIN, LINE_BEGIN, LINE_END, LINE_PROMPT };

/* One line without its newline, taken off *rest. */
static struct slice next_line(struct slice *rest)
{
    const char *newline = slice_find_char(*rest, '\n');
    struct slice line = newline != NULL ? slice_to(*rest, newline) : *rest;
    *rest = slice_from(*rest, line.length + (newline != NULL));
    return line;
}

static enum line_kind classify(struct slice line)
{
    struct slice words = slice_trim(line);
    if (slice_starts_with(words, "//:"))
        return LINE_PROMPT;
    while (words.length > 0 && strchr("/#;*", words.text[0]) != NULL)
        words = slice_from(words, 1);
    words = slice_trim(words);
    return slice_is(words, "BEGIN SOLUTION") ? LINE_BEGIN
           : slice_is(words, "END SOLUTION") ? LINE_END
                                             : LINE_PLAIN;
}

static int refuse(struct error *err, unsigned line, const char *what)
{
    return error_set(err, ERROR_INFRASTRUCTURE, "line %u: %s", line, what);
}

/* "    //: text" as the student gets it: "    text". */
static void append_prompt(struct bytes *starter, struct slice line)
{
    const char *sign = slice_find(line, "//:");
    struct slice indent = slice_to(line, sign);
    struct slice text = slice_from(line, indent.length + strlen("//:"));
    if (slice_is_char_at(text, 0, ' '))
        text = slice_from(text, 1);
    if (text.length > 0)
        bytes_append(starter, indent.text, indent.length);
    bytes_append(starter, text.text, text.length);
    bytes_append_text(starter, "\n");
}

int solution_strip(struct bytes *starter, const char *text, size_t length, struct error *err)
{
    struct slice rest = {text, length};
    unsigned number = 0, begun = 0;
    int parts = 0;
    bool solved = false;
    while (rest.length > 0) {
        struct slice line = next_line(&rest);
        ++number;
        switch (classify(line)) {
        case LINE_BEGIN:
            if (begun != 0)
                return refuse(err, number, "BEGIN SOLUTION inside a solution");
            begun = number;
            solved = false;
            break;
        case LINE_END:
            if (begun == 0)
                return refuse(err, number, "END SOLUTION without its BEGIN SOLUTION");
            if (!solved)
                return refuse(err, begun, "this solution has no line");
            begun = 0;
            ++parts;
            break;
        case LINE_PROMPT:
            if (begun == 0)
                return refuse(err, number, "\"//:\" belongs between BEGIN and END SOLUTION");
            append_prompt(starter, line);
            break;
        case LINE_PLAIN:
            if (begun != 0)
                solved = solved || slice_trim(line).length > 0;
            else if (bytes_append(starter, line.text, line.length) == 0)
                bytes_append_text(starter, "\n");
            break;
        }
    }
    if (begun != 0)
        return refuse(err, begun, "BEGIN SOLUTION without its END SOLUTION");
    return starter->failed ? error_no_memory(err) : parts;
}

int solution_lines(const char *text, size_t length,
                   int (*each)(void *context, struct slice line, unsigned number), void *context)
{
    struct slice rest = {text, length};
    unsigned number = 0;
    bool inside = false;
    while (rest.length > 0) {
        struct slice line = next_line(&rest);
        enum line_kind kind = classify(line);
        ++number;
        if (kind == LINE_BEGIN || kind == LINE_END) {
            inside = kind == LINE_BEGIN;
            continue;
        }
        int status = inside && kind == LINE_PLAIN && slice_trim(line).length > 0
                         ? each(context, line, number)
                         : 0;
        if (status != 0)
            return status;
    }
    return 0;
}

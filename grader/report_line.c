/* report_line.c - tell one line of a log apart.
 *
 * Forms of the tag (CUDA 2 to 13): "ptxas info    : …" with any blanks or a TAB, "nvlink info …",
 * "info    : …" (the driver's linker), "ptxas         .   …" (NVRTC and OpenCL continue a message
 * so) and "ptxas FILE, line N; warning : …". The frame line has no tag of its own. */
#include "report_line.h"

#include <ctype.h>

#include "report_prefix.h"

enum tool_word { TOOL_NONE, TOOL_PTXAS, TOOL_NVLINK, TOOL_OTHER };
enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

struct tag {
    enum tool_word tool;
    enum severity severity;
    struct slice text; /* what follows the colon, without blanks around it */
};

/* ---- the tag -----------------------------------------------------------------------------------
 */

/* "info", blanks, an optional "(C7602)", a colon. */
static bool read_severity(struct slice s, bool padded, struct tag *tag)
{
    static const struct {
        const char *word;
        enum severity severity;
    } words[] = {
        {"info", SEVERITY_INFO},
        {"warning", SEVERITY_WARNING},
        {"error", SEVERITY_ERROR},
        {"fatal", SEVERITY_ERROR},
    };
    for (size_t i = 0; i < COUNT_OF(words); ++i) {
        if (!slice_starts_with(s, words[i].word))
            continue;
        size_t at = strlen(words[i].word), word_length = at;
        while (slice_is_blank_at(s, at))
            ++at;
        /* Everybody's "error:" is not the driver's "error   : ". */
        if (padded && (words[i].severity == SEVERITY_INFO ? at == word_length : at != 8))
            return false;
        if (at < s.length && s.text[at] == '(') {
            const char *close = memchr(s.text + at, ')', s.length - at < 12 ? s.length - at : 12);
            if (close == NULL)
                return false;
            at = (size_t)(close - s.text) + 1;
        }
        while (slice_is_blank_at(s, at))
            ++at;
        if (at >= s.length || s.text[at] != ':')
            return false;
        tag->severity = words[i].severity;
        tag->text = slice_trim(slice_from(s, at + 1));
        return true;
    }
    return false;
}

/* "ptxas FILE, line N; warning : …", FILE being anything. */
static bool read_located(struct slice s, struct tag *tag)
{
    static const char mark[] = ", line ";
    for (const char *at; (at = slice_find(s, mark)) != NULL;) {
        s = slice_from(s, (size_t)(at - s.text) + sizeof mark - 1);
        size_t count = slice_digits(s);
        if (count == 0 || count >= s.length || s.text[count] != ';')
            continue;
        if (read_severity(slice_trim(slice_from(s, count + 1)), false, tag))
            return true;
    }
    return false;
}

static bool read_tag(struct slice s, struct tag *tag)
{
    static const struct {
        const char *word;
        enum tool_word tool;
    } tools[] = {
        {"ptxas", TOOL_PTXAS}, {"nvlink", TOOL_NVLINK},   {"nvcc", TOOL_OTHER},
        {"cicc", TOOL_OTHER},  {"fatbinary", TOOL_OTHER}, {"cudafe++", TOOL_OTHER},
    };
    for (size_t i = 0; i < COUNT_OF(tools); ++i) {
        size_t length = strlen(tools[i].word);
        if (!slice_starts_with(s, tools[i].word) || !slice_is_blank_at(s, length))
            continue;
        tag->tool = tools[i].tool;
        struct slice rest = slice_trim(slice_from(s, length));
        if (slice_starts_with(rest, ".") && slice_is_blank_at(rest, 1)) {
            tag->severity = SEVERITY_INFO;
            tag->text = slice_trim(slice_from(rest, 1));
            return true;
        }
        return read_severity(rest, false, tag) || read_located(rest, tag);
    }
    tag->tool = TOOL_NONE;
    return read_severity(s, true, tag);
}

/* ---- statistics --------------------------------------------------------------------------------
 */

static bool is_arch(struct slice s)
{
    if (!slice_starts_with(s, "sm_"))
        return false;
    s = slice_from(s, 3);
    size_t count = slice_digits(s);
    return count >= 2 && count <= 3 &&
           (s.length == count ||
            (s.length == count + 1 && (s.text[count] == 'a' || s.text[count] == 'f')));
}

static void take_arch(struct report_line *out, struct slice arch)
{
    if (is_arch(arch))
        out->arch = arch;
    else
        out->arch_cut = true;
}

/* Behind "Compiling entry function": 'NAME' for 'ARCH', 'NAME' (CUDA 2), or the same unquoted. */
static void read_entry(struct report_line *out, struct slice s, bool terminated)
{
    out->kind = LINE_ENTRY;
    bool quoted = slice_starts_with(s, "'");
    if (quoted)
        s = slice_from(s, 1);
    const char *middle = slice_find_last(s, quoted ? "' for '" : " for ");
    if (middle != NULL) {
        out->name = slice_to(s, middle);
        struct slice arch = slice_from(s, out->name.length + strlen(quoted ? "' for '" : " for "));
        const char *close = quoted ? memchr(arch.text, '\'', arch.length) : NULL;
        if (quoted && close == NULL)
            out->arch_cut = true;
        else
            take_arch(out, quoted ? slice_to(arch, close) : arch);
        return;
    }
    const char *close = quoted ? slice_find_last(s, "'") : NULL;
    out->name = close != NULL ? slice_to(s, close) : s;
    out->name_cut = out->name.length == 0 || (quoted ? close == NULL : !terminated);
    /* CUDA 2 printed no architecture; anything behind the name is the beginning of one. */
    out->arch_cut = close != NULL && close + 1 < s.text + s.length;
}

/* Behind "Function properties for": NAME (ptxas), or 'NAME': (nvlink). */
static void read_properties(struct report_line *out, struct slice s, enum tool_word tool,
                            bool terminated)
{
    out->kind = LINE_PROPERTIES;
    out->name = s;
    out->name_cut = s.length == 0 || !terminated;
    bool quoted = slice_starts_with(s, "'"), colon = false;
    if (quoted) {
        const char *close = slice_find_last(slice_from(s, 1), "'");
        out->name_cut = close == NULL;
        out->name = close == NULL ? slice_from(s, 1) : slice_to(slice_from(s, 1), close);
        colon = close != NULL && close + 1 < s.text + s.length && close[1] == ':';
    }
    if (tool == TOOL_NVLINK || (tool == TOOL_NONE && quoted && colon))
        out->tool = REPORT_NVLINK;
}

/* nvlink puts " (target: sm_75)" behind each line when it links for several architectures. */
static struct slice take_target(struct report_line *out, struct slice s)
{
    static const char mark[] = "(target: ";
    const char *begin = slice_find_last(s, mark);
    if (begin == NULL || s.text[s.length - 1] != ')')
        return s;
    struct slice arch = slice_from(s, (size_t)(begin - s.text) + sizeof mark - 1);
    --arch.length;
    take_arch(out, arch);
    return slice_trim(slice_to(s, begin));
}

static bool counts(struct slice s, const char *unit)
{
    return slice_digits(s) > 0 && slice_starts_with(slice_from(s, slice_digits(s)), unit);
}

/* True for the words that ptxas and nvlink print as information and that we count on. */
static bool read_statistics(struct report_line *out, const struct tag *tag, bool terminated)
{
    static const char entry[] = "Compiling entry function",
                      properties[] = "Function properties for";
    static const char time[] = "Compile time";
    struct slice s = tag->text;
    if (tag->tool != TOOL_PTXAS)
        s = take_target(out, s);
    if (slice_starts_with(s, entry)) {
        read_entry(out, slice_trim(slice_from(s, sizeof entry - 1)), terminated);
    } else if (slice_starts_with(s, properties)) {
        read_properties(out, slice_trim(slice_from(s, sizeof properties - 1)), tag->tool,
                        terminated);
    } else if (counts(s, " bytes gmem")) {
        out->kind = LINE_MODULE;
    } else if (counts(s, " bytes stack frame")) {
        out->kind = LINE_FRAME;
        out->fields = s;
    } else if ((slice_starts_with(s, "Used") || slice_starts_with(s, "used")) &&
               (s.length == 4 || slice_is_blank_at(s, 4))) {
        out->kind = LINE_USED;
        out->fields = s;
        if (tag->tool == TOOL_NVLINK || (tag->tool == TOOL_NONE && s.text[0] == 'u'))
            out->tool = REPORT_NVLINK;
    } else if (slice_starts_with(s, time)) {
        out->kind = LINE_TIME;
    } else if (!terminated && (slice_begins(s, entry) || slice_begins(s, properties) ||
                               slice_begins(s, "Used") || slice_begins(s, time))) {
        out->kind = LINE_REMARK;
        out->cut = true;
    } else {
        return false;
    }
    return true;
}

static void read_message(struct report_line *out, const struct tag *tag, bool terminated)
{
    out->tool = tag->tool == TOOL_NVLINK ? REPORT_NVLINK : REPORT_PTXAS;
    out->other_tool = tag->tool == TOOL_OTHER;
    switch (tag->severity) {
    case SEVERITY_WARNING:
        out->kind = LINE_WARNING;
        return;
    case SEVERITY_ERROR:
        out->kind = LINE_ERROR;
        return;
    case SEVERITY_INFO:
        break;
    }
    if (tag->tool == TOOL_OTHER) {
        out->kind = LINE_FOREIGN;
    } else if (!read_statistics(out, tag, terminated)) {
        bool coded = slice_starts_with(tag->text, "(C") && tag->text.length > 2 &&
                     isdigit((unsigned char)tag->text.text[2]);
        out->kind = coded ? LINE_WARNING : tag->tool == TOOL_NONE ? LINE_FOREIGN : LINE_REMARK;
    }
}

/* ---- what others say ---------------------------------------------------------------------------
 */

/* "kernel.cu(3): error: …", "x.cc:3:5: fatal error: …", "make: *** [x.o] Error 1" */
static bool is_foreign_error(struct slice s)
{
    static const char *const beginnings[] = {
        "make: *** ", "ninja: build stopped", "ninja: error:", "CMake Error", "collect2: error:",
    };
    for (size_t i = 0; i < COUNT_OF(beginnings); ++i)
        if (slice_starts_with(s, beginnings[i]))
            return true;
    if (slice_starts_with(s, "make[")) {
        struct slice rest = slice_from(s, 5);
        return slice_starts_with(slice_from(rest, slice_digits(rest)), "]: *** ");
    }
    if (slice_digits(s) > 0 &&
        (slice_starts_with(slice_from(s, slice_digits(s)), " error detected in") ||
         slice_starts_with(slice_from(s, slice_digits(s)), " errors detected in")))
        return true;
    for (struct slice rest = s;;) {
        const char *word = slice_find(rest, "error");
        if (word == NULL)
            return false;
        rest = slice_from(rest, (size_t)(word - rest.text) + 5);
        if (rest.length == 0 || strchr(": ", rest.text[0]) == NULL || rest.text[0] == '\0')
            continue;
        size_t before = (size_t)(word - s.text);
        static const char *const kinds[] = {"fatal ", "catastrophic "};
        for (size_t i = 0; i < COUNT_OF(kinds); ++i) {
            size_t length = strlen(kinds[i]);
            if (before >= length && memcmp(word - length, kinds[i], length) == 0)
                before -= length;
        }
        if (before >= 3 && memcmp(s.text + before - 2, ": ", 2) == 0 &&
            (s.text[before - 3] == ')' || isdigit((unsigned char)s.text[before - 3])))
            return true;
    }
}

void report_line_read(struct report_line *out, struct slice line, bool terminated)
{
    *out = (struct report_line){.kind = LINE_FOREIGN};
    struct slice rest = line;
    for (unsigned prefixes = 0; prefixes < 8; ++prefixes) {
        struct tag tag = {0};
        if (read_tag(rest, &tag)) {
            out->message = slice_trim(rest);
            read_message(out, &tag, terminated);
            if (out->kind != LINE_FOREIGN)
                return;
            break;
        }
        if (counts(rest, " bytes stack frame")) {
            out->kind = LINE_FRAME;
            out->message = out->fields = slice_trim(rest);
            return;
        }
        size_t length = report_prefix(rest);
        if (length == 0)
            break;
        rest = slice_from(rest, length);
    }
    out->message = slice_trim(rest);
    if (out->message.length == 0)
        out->kind = LINE_BLANK;
    else if (!terminated && out->message.length >= 5 &&
             (slice_begins(out->message, "ptxas info    :") ||
              slice_begins(out->message, "nvlink info    :"))) {
        out->kind = LINE_REMARK;
        out->cut = true;
    } else if (is_foreign_error(out->message))
        out->kind = LINE_FOREIGN_ERROR;
}

size_t report_line_second(const struct report_line *line, struct slice whole)
{
    if (line->kind < LINE_MODULE || line->kind > LINE_TIME)
        return 0;
    /* A name made of such words must not cost its length squared: a few tries are enough. */
    enum { TRIES = 16 };
    struct slice rest = slice_from(line->message, line->message.length > 0);
    for (unsigned tries = 0; tries < TRIES; ++tries) {
        const char *ptxas = slice_find(rest, "ptxas "), *nvlink = slice_find(rest, "nvlink ");
        const char *at = ptxas == NULL || (nvlink != NULL && nvlink < ptxas) ? nvlink : ptxas;
        if (at == NULL)
            return 0;
        rest = slice_from(rest, (size_t)(at - rest.text));
        struct tag tag = {0};
        if (read_tag(rest, &tag))
            return (size_t)(rest.text - whole.text);
        rest = slice_from(rest, 1);
    }
    return 0;
}

/* ---- quotations over several lines -------------------------------------------------------------
 */

const char *report_quote_end(struct slice text)
{
    /* "Pragma '…' unsupported", "near '…': syntax error" */
    static const char *const tails[] = {
        " unsupported", " not supported", " is allowed", " is not allowed", " cannot be",
        " specified",   " has value",     " on ",        ": syntax error",
    };
    for (const char *quote; (quote = slice_find_char(text, '\'')) != NULL;) {
        text = slice_from(text, (size_t)(quote - text.text) + 1);
        for (size_t i = 0; i < COUNT_OF(tails); ++i)
            if (slice_starts_with(text, tails[i]))
                return quote;
    }
    return NULL;
}

enum report_quote report_line_quote(struct slice message)
{
    static const char *const beginnings[] = {"Pragma '", "near '"};
    for (size_t i = 0; i < COUNT_OF(beginnings); ++i) {
        const char *open = slice_find(message, beginnings[i]);
        if (open == NULL)
            continue;
        size_t behind = (size_t)(open - message.text) + strlen(beginnings[i]);
        return slice_find_char(slice_from(message, behind), '\'') != NULL ? QUOTE_CLOSED
                                                                          : QUOTE_OPEN;
    }
    return QUOTE_NONE;
}

bool report_line_closes_quote(struct slice line)
{
    const char *close = report_quote_end(line);
    if (close == NULL)
        return false;
    size_t quotes = 0;
    for (const char *p = line.text; p < close; ++p) {
        /* "can't" quotes nothing. */
        bool within_word =
            p > line.text && isalnum((unsigned char)p[-1]) && isalnum((unsigned char)p[1]);
        quotes += *p == '\'' && !within_word;
    }
    return quotes % 2 == 0;
}

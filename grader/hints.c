#include "hints.h"

#include "datadir.h"
#include "files.h"
#include "number.h"
#include "slice.h"
#include "text.h"

struct parser {
    struct hints *hints;
    struct error *err;
    unsigned line;
    struct hint_item *item; /* the open one; NULL before the first */
    struct bytes text;      /* of the open rung or solution */
    enum { IN_NOTHING, IN_ITEM, IN_HINT, IN_TRIGGER, IN_SOLUTION } state;
    size_t blanks; /* blank lines held back until more text follows */
};

static int refuse(struct parser *parser, const char *what)
{
    return error_set(parser->err, ERROR_INFRASTRUCTURE, "line %u: %s", parser->line, what);
}

/* ---- Closing what is open ---- */

static bool in_text(const struct parser *parser)
{
    return parser->state == IN_HINT || parser->state == IN_TRIGGER || parser->state == IN_SOLUTION;
}

static int close_text(struct parser *parser)
{
    if (!in_text(parser))
        return 0;
    struct hint_item *item = parser->item;
    if (parser->text.length == 0)
        return refuse(parser, "the hint or solution before this line has no text");
    char *text = bytes_take(&parser->text);
    if (text == NULL)
        return error_no_memory(parser->err);
    parser->text = bytes_with_limit(HINTS_BYTES_MAX);
    parser->blanks = 0;
    if (parser->state == IN_SOLUTION) {
        item->solution = text;
    } else if (parser->state == IN_TRIGGER) {
        item->triggers[item->trigger_count++].text = text;
    } else {
        char **grown = realloc(item->rungs, (item->count + 1) * sizeof item->rungs[0]);
        if (grown == NULL) {
            free(text);
            return error_no_memory(parser->err);
        }
        item->rungs = grown;
        item->rungs[item->count++] = text;
    }
    parser->state = IN_ITEM;
    return 0;
}

static int close_item(struct parser *parser)
{
    if (close_text(parser) != 0)
        return -1;
    if (parser->item != NULL && parser->item->count == 0)
        return refuse(parser, "the item before this line has no hint");
    return 0;
}

/* ---- Lines ---- */

static bool has_prefix(const char *line, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && memcmp(line, prefix, strlen(prefix)) == 0;
}

static bool is_word(const char *line, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(line, word, length) == 0;
}

static bool is_id(const char *text, size_t length)
{
    if (length == 0 || length > HINTS_ID_MAX)
        return false;
    for (size_t i = 0; i < length; ++i)
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') ||
              text[i] == '-' || text[i] == '_'))
            return false;
    return true;
}

static struct hint_item *find_exact(const struct hints *hints, const char *id, size_t length)
{
    for (size_t i = 0; i < hints->count; ++i)
        if (strlen(hints->items[i].id) == length && memcmp(hints->items[i].id, id, length) == 0)
            return &hints->items[i];
    return NULL;
}

static int open_item(struct parser *parser, const char *rest, size_t length)
{
    if (close_item(parser) != 0)
        return -1;
    const char *blank = memchr(rest, ' ', length);
    size_t id_length = blank != NULL ? (size_t)(blank - rest) : length;
    if (!is_id(rest, id_length) || id_length + 1 >= length)
        return refuse(parser, "expected `item ID Title`");
    if (find_exact(parser->hints, rest, id_length) != NULL)
        return refuse(parser, "this item exists already");
    if (parser->hints->count == HINTS_ITEMS_MAX)
        return refuse(parser, "too many items");
    parser->item = &parser->hints->items[parser->hints->count];
    memcpy(parser->item->id, rest, id_length);
    parser->item->title = strndup(rest + id_length + 1, length - id_length - 1);
    if (parser->item->title == NULL)
        return error_no_memory(parser->err);
    ++parser->hints->count;
    parser->state = IN_ITEM;
    return 0;
}

static int open_text(struct parser *parser, int state)
{
    if (parser->state == IN_NOTHING)
        return refuse(parser, "a hint needs an item above it");
    if (close_text(parser) != 0)
        return -1;
    if (parser->item->solution != NULL)
        return refuse(parser, "nothing may follow the solution of an item");
    if (parser->item->count == HINTS_RUNGS_MAX)
        return refuse(parser, "too many hints in one item");
    parser->state = state;
    parser->text = bytes_with_limit(HINTS_BYTES_MAX);
    return 0;
}

const char *hints_fact_word(enum hint_fact fact)
{
    static const char *const words[] = {
        [HINT_SPILLS] = "spills", [HINT_FRAME] = "frame", [HINT_NO_FRAME] = "no-frame",
        [HINT_FAULT] = "fault",   [HINT_WRONG] = "wrong", [HINT_MISSING] = "missing"};
    return words[fact];
}

/* "KERNEL FACT", up to `length`. */
static int read_measured(struct parser *parser, struct hint_measured *out, const char *text,
                         size_t length)
{
    const char *blank = memchr(text, ' ', length);
    size_t name = blank != NULL ? (size_t)(blank - text) : 0;
    if (name == 0 || name > HINTS_KERNEL_MAX)
        return refuse(parser, "expected `if KERNEL FACT`");
    memcpy(out->kernel, text, name);
    for (int fact = HINT_SPILLS; fact < HINT_FACT_COUNT; ++fact)
        if (is_word(blank + 1, length - name - 1, hints_fact_word((enum hint_fact)fact))) {
            out->fact = (enum hint_fact)fact;
            return 0;
        }
    return refuse(parser, "a fact is `spills`, `frame`, `no-frame`, `fault`, `wrong` or `missing`");
}

/* What follows "if ". */
static int read_facts(struct parser *parser, struct hint_facts *out, const char *text,
                      size_t length)
{
    static const char and[] = " and ";
    const char *end = text + length;
    for (;;) {
        const char *next = memmem(text, (size_t)(end - text), and, strlen(and));
        const char *here = next != NULL ? next : end;
        if (out->count == HINTS_FACTS_MAX)
            return refuse(parser, "too many facts behind one `if`");
        if (read_measured(parser, &out->items[out->count++], text, (size_t)(here - text)) != 0)
            return -1;
        if (next == NULL)
            return 0;
        text = next + strlen(and);
    }
}

/* What follows "hint if ". */
static int open_trigger(struct parser *parser, const char *rest, size_t length)
{
    if (open_text(parser, IN_TRIGGER) != 0)
        return -1;
    if (parser->item->trigger_count == HINTS_TRIGGERS_MAX)
        return refuse(parser, "too many hints for what was measured in one item");
    return read_facts(parser, &parser->item->triggers[parser->item->trigger_count].facts, rest,
                      length);
}

/* What follows "defer ". */
static int add_deferral(struct parser *parser, const char *rest, size_t length)
{
    static const char condition[] = " if ";
    if (parser->state != IN_ITEM || parser->item->count > 0 || parser->item->trigger_count > 0)
        return refuse(parser, "`defer` belongs right below the line of an item");
    if (parser->item->deferral_count == HINTS_DEFERRALS_MAX)
        return refuse(parser, "too many marks that are deferred in one item");
    struct hint_deferral *deferral = &parser->item->deferrals[parser->item->deferral_count];
    const char *facts = memmem(rest, length, condition, strlen(condition));
    size_t mark = facts != NULL ? (size_t)(facts - rest) : 0;
    if (mark == 0 || mark > HINTS_MARK_MAX || memchr(rest, ' ', mark) != NULL)
        return refuse(parser, "expected `defer MARK if KERNEL FACT`");
    memcpy(deferral->mark, rest, mark);
    ++parser->item->deferral_count;
    facts += strlen(condition);
    return read_facts(parser, &deferral->facts, facts, (size_t)(rest + length - facts));
}

static int add_text(struct parser *parser, const char *text, size_t length)
{
    if (!in_text(parser))
        return refuse(parser, "text stands outside a hint or solution");
    for (; parser->blanks > 0; --parser->blanks)
        bytes_append_text(&parser->text, "\n");
    bytes_append(&parser->text, text, length);
    return bytes_append_text(&parser->text, "\n") == 0 ? 0 : error_no_memory(parser->err);
}

static int read_line(struct parser *parser, const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        --length;
    while (length > 0 && line[length - 1] == ' ')
        --length;
    if (length > HINTS_LINE_MAX)
        return refuse(parser, "too long");
    if (length == 0) {
        if (parser->text.length > 0)
            ++parser->blanks;
        return 0;
    }
    for (size_t i = 0; i < length; ++i)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7F)
            return refuse(parser, "holds a control character (indent with blanks)");
    if (!text_is_utf8(line, length))
        return refuse(parser, "is not UTF-8 text");
    if (has_prefix(line, length, "  "))
        return add_text(parser, line + 2, length - 2);
    if (line[0] == '#')
        return 0;
    if (has_prefix(line, length, "item "))
        return open_item(parser, line + 5, length - 5);
    if (has_prefix(line, length, "defer "))
        return add_deferral(parser, line + 6, length - 6);
    if (has_prefix(line, length, "hint if "))
        return open_trigger(parser, line + 8, length - 8);
    if (is_word(line, length, "hint"))
        return open_text(parser, IN_HINT);
    if (is_word(line, length, "solution"))
        return open_text(parser, IN_SOLUTION);
    return refuse(parser, "expected `item`, `defer`, `hint`, `solution` or text indented by two");
}

/* ---- Whole files ---- */

int hints_parse(struct hints *out, const char *text, size_t length, struct error *err)
{
    *out = (struct hints){.items = calloc(HINTS_ITEMS_MAX, sizeof out->items[0])};
    if (out->items == NULL)
        return error_no_memory(err);
    struct parser parser = {.hints = out, .err = err};
    int status = length > HINTS_BYTES_MAX
                     ? error_set(err, ERROR_INFRASTRUCTURE, "larger than any hints file may be")
                     : 0;
    for (size_t at = 0; status == 0 && at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end != NULL ? (size_t)(end - (text + at)) : length - at;
        ++parser.line;
        status = read_line(&parser, text + at, size);
        at += size + 1;
    }
    if (status == 0)
        status = close_item(&parser);
    if (status == 0 && out->count == 0)
        status = error_set(err, ERROR_INFRASTRUCTURE, "holds no item");
    bytes_release(&parser.text);
    if (status != 0)
        hints_release(out);
    return status;
}

int hints_load(struct hints *out, const char *lab_id, struct error *err)
{
    *out = (struct hints){0};
    char relative[256];
    if (snprintf(relative, sizeof relative, "labs/%s/hints", lab_id) >= (int)sizeof relative)
        return error_set(err, ERROR_USAGE, "a lab's name is not that long");
    AUTO_FREE char *path = data_path(relative, err);
    if (path == NULL)
        return -1;
    struct bytes content;
    enum file_status read = file_read(&content, path, HINTS_BYTES_MAX, true);
    if (read != FILE_READ)
        return error_set(err, ERROR_INFRASTRUCTURE, "%s: %s", path, file_status_text(read));
    int status = hints_parse(out, bytes_text(&content), content.length, err);
    bytes_release(&content);
    return status == 0 ? 0 : error_context(err, "%s", path);
}

static void read_progress_line(const struct hints *hints, struct hint_progress *progress,
                               struct slice line)
{
    static const char told[] = "if ";
    const char *blank = slice_find_char(line, ' ');
    if (blank == NULL)
        return;
    struct slice id = slice_to(line, blank), rest = slice_from(line, id.length + 1);
    const struct hint_item *item = find_exact(hints, id.text, id.length);
    uint64_t number = 0;
    if (item == NULL)
        return;
    size_t at = (size_t)(item - hints->items);
    if (slice_starts_with(rest, told)) {
        rest = slice_from(rest, strlen(told));
        if (number_parse_u64_bytes(rest.text, rest.length, UINT32_MAX, &number))
            progress->told[at] = (uint32_t)number;
    } else if (number_parse_u64_bytes(rest.text, rest.length, HINTS_RUNGS_MAX, &number)) {
        progress->seen[at] = number < item->count ? (size_t)number : item->count;
    }
}

void hints_read_progress(const struct hints *hints, struct hint_progress *progress,
                         const char *text, size_t length)
{
    struct slice rest = {text, length};
    for (const char *end; (end = slice_find_char(rest, '\n')) != NULL;) {
        struct slice line = slice_to(rest, end);
        read_progress_line(hints, progress, line);
        rest = slice_from(rest, line.length + 1);
    }
}

void hints_release(struct hints *hints)
{
    for (size_t i = 0; i < hints->count; ++i) {
        struct hint_item *item = &hints->items[i];
        for (size_t r = 0; r < item->count; ++r)
            free(item->rungs[r]);
        for (size_t t = 0; t < item->trigger_count; ++t)
            free(item->triggers[t].text);
        free(item->rungs);
        free(item->title);
        free(item->solution);
    }
    free(hints->items);
    *hints = (struct hints){0};
}

const struct hint_item *hints_find(const struct hints *hints, const char *id)
{
    const struct hint_item *exact = find_exact(hints, id, strlen(id));
    return exact != NULL ? exact : find_exact(hints, id, strcspn(id, "."));
}

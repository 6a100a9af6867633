#include "line_map.h"

#include "canonical.h"
#include "caps.h"
#include "number.h"

/* ---- Lines of code ---------------------------------------------------------------------------*/

static bool holds_code(struct slice line)
{
    for (size_t i = 0; i < line.length; ++i)
        if (line.text[i] != ' ' && line.text[i] != CANONICAL_JOINED_LINES)
            return true;
    return false;
}

bool line_map_make(struct line_map *map, struct bytes *code, const struct bytes *canonical)
{
    struct slice text = {bytes_text(canonical), canonical->length};
    size_t number = 0, room = 1;
    for (size_t i = 0; i < text.length; ++i)
        room += text.text[i] == '\n';
    *map = (struct line_map){.lines = calloc(room, sizeof map->lines[0])};
    *code = bytes_with_limit(canonical->length + 2);
    if (map->lines == NULL)
        return false;
    while (text.length > 0) {
        const char *newline = slice_find_char(text, '\n');
        struct slice line = newline == NULL ? text : slice_to(text, newline);
        ++number;
        if (holds_code(line)) {
            map->lines[map->count++] = (uint32_t)number;
            (void)bytes_append(code, line.text, line.length);
            (void)bytes_append(code, "\n", 1);
        }
        text = slice_from(text, line.length + (newline != NULL));
    }
    return !code->failed;
}

void line_map_release(struct line_map *map)
{
    free(map->lines);
    *map = (struct line_map){0};
}

bool line_map_all_differ(const struct line_map *a, const struct line_map *b)
{
    bool differ = a->count == b->count && a->count > 0;
    for (size_t i = 0; differ && i < a->count; ++i)
        differ = a->lines[i] != b->lines[i];
    return differ;
}

/* ---- PTX -------------------------------------------------------------------------------------*/

struct rewrite;
typedef bool line_change(const struct rewrite *r, uint64_t from, uint64_t *ret);

struct numbering {
    struct line_map *map; /* lines by number: room for LIMIT_SOURCE_BYTES */
    uint32_t *number_of;  /* by line, as much room; 0: not seen yet */
};

struct rewrite {
    const struct line_map *map;
    line_change *change;
    const struct numbering *numbering; /* of line_map_of_ptx(); NULL: columns and paths stay */
    uint64_t file;                     /* the source's number in the file table */
    struct bytes *out;
};

static bool place_of(const struct rewrite *r, uint64_t line, uint64_t *ret)
{
    const struct line_map *map = r->map;
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->lines[middle] < line)
            low = middle + 1;
        else
            high = middle;
    }
    *ret = low + 1;
    return low < map->count && map->lines[low] == line;
}

static bool line_at(const struct rewrite *r, uint64_t place, uint64_t *ret)
{
    const struct line_map *map = r->map;
    if (place < 1 || place > map->count)
        return false;
    *ret = map->lines[place - 1];
    return true;
}

static bool number_of(const struct rewrite *r, uint64_t line, uint64_t *ret)
{
    const struct numbering *numbering = r->numbering;
    if (line >= LIMIT_SOURCE_BYTES)
        return false;
    if (numbering->number_of[line] == 0) {
        numbering->map->lines[numbering->map->count] = (uint32_t)line;
        numbering->number_of[line] = (uint32_t)++numbering->map->count;
    }
    *ret = numbering->number_of[line];
    return true;
}

/* One number at the front, with the blanks before it: copied, and taken off. */
static bool take_number(struct bytes *out, struct slice *line, uint64_t *ret, bool keep)
{
    size_t blanks = 0;
    while (slice_is_blank_at(*line, blanks))
        ++blanks;
    struct slice rest = slice_from(*line, blanks);
    size_t digits = slice_digits(rest);
    if (!number_parse_u64_bytes(rest.text, digits, UINT32_MAX, ret))
        return false;
    (void)bytes_append(out, line->text, keep ? blanks + digits : blanks);
    *line = slice_from(rest, digits);
    return true;
}

/* "1 35 0": file, line, column. */
static bool rewrite_place(const struct rewrite *r, struct slice *line)
{
    uint64_t file = 0, number = 0, changed = 0, column = 0;
    if (!take_number(r->out, line, &file, true) || !take_number(r->out, line, &number, false))
        return false;
    changed = number;
    if (file == r->file && number != 0 && !r->change(r, number, &changed))
        return false;
    bytes_printf(r->out, "%llu", (unsigned long long)changed);
    return take_number(r->out, line, &column, r->numbering == NULL);
}

static bool rewrite_entry(const struct rewrite *r, struct slice line)
{
    static const char inlined[] = "inlined_at";
    size_t head = (size_t)(slice_find(line, ".loc") - line.text) + 4;
    (void)bytes_append(r->out, line.text, head);
    line = slice_from(line, head);
    if (!rewrite_place(r, &line))
        return false;
    const char *at = slice_find(line, inlined);
    if (at != NULL) {
        size_t until = (size_t)(at - line.text) + sizeof inlined - 1;
        (void)bytes_append(r->out, line.text, until);
        line = slice_from(line, until);
        if (!rewrite_place(r, &line))
            return false;
    }
    (void)bytes_append(r->out, line.text, line.length);
    return true;
}

/* A .file entry that ends in this file's name, in quotes. */
static bool is_file(struct slice line, const char *source_name)
{
    char ending[300];
    (void)snprintf(ending, sizeof ending, "/%s\"", source_name);
    const char *end = slice_find_last(line, ending);
    return end != NULL && end + strlen(ending) == line.text + line.length;
}

/* The number of the one file of that name. */
static bool find_file(struct slice ptx, const char *source_name, uint64_t *ret)
{
    bool found = false;
    for (const char *at; (at = slice_find(ptx, "\t.file")) != NULL;) {
        ptx = slice_from(ptx, (size_t)(at - ptx.text) + 6);
        const char *newline = slice_find_char(ptx, '\n');
        struct slice line = newline == NULL ? ptx : slice_to(ptx, newline);
        struct slice number = slice_trim(line);
        if (!is_file(line, source_name))
            continue;
        if (found || !number_parse_u64_bytes(number.text, slice_digits(number), UINT32_MAX, ret))
            return false;
        found = true;
    }
    return found;
}

static bool rewrite(struct rewrite *r, struct slice ptx, const char *source_name)
{
    struct bytes checked;
    *r->out = bytes_with_limit(2 * ptx.length + 100);
    bool good =
        canonical_ptx(&checked, ptx.text, ptx.length) && find_file(ptx, source_name, &r->file);
    bytes_release(&checked);
    while (good && ptx.length > 0) {
        const char *newline = slice_find_char(ptx, '\n');
        size_t length = newline == NULL ? ptx.length : (size_t)(newline - ptx.text) + 1;
        struct slice line = {ptx.text, length};
        struct slice trimmed = slice_trim(newline == NULL ? line : slice_to(line, newline));
        if (slice_starts_with(trimmed, ".loc") && slice_is_blank_at(trimmed, 4))
            good = rewrite_entry(r, line);
        else if (r->numbering != NULL && slice_starts_with(trimmed, ".file") &&
                 is_file(trimmed, source_name))
            bytes_printf(r->out, "\t.file\t%llu\n", (unsigned long long)r->file);
        else
            (void)bytes_append(r->out, line.text, line.length);
        ptx = slice_from(ptx, length);
    }
    if (good && !r->out->failed)
        return true;
    bytes_release(r->out);
    return false;
}

bool line_map_to_places(struct bytes *out, struct slice ptx, const char *source_name,
                        const struct line_map *map)
{
    struct rewrite r = {.map = map, .change = place_of, .out = out};
    return rewrite(&r, ptx, source_name);
}

bool line_map_to_lines(struct bytes *out, struct slice ptx, const char *source_name,
                       const struct line_map *map)
{
    struct rewrite r = {.map = map, .change = line_at, .out = out};
    return rewrite(&r, ptx, source_name);
}

bool line_map_of_ptx(struct line_map *map, struct bytes *text, struct slice ptx,
                     const char *source_name)
{
    *text = (struct bytes){0};
    *map = (struct line_map){.lines = calloc(LIMIT_SOURCE_BYTES, sizeof map->lines[0])};
    AUTO_FREE uint32_t *numbers = calloc(LIMIT_SOURCE_BYTES, sizeof numbers[0]);
    const struct numbering numbering = {.map = map, .number_of = numbers};
    struct rewrite r = {.change = number_of, .numbering = &numbering, .out = text};
    return map->lines != NULL && numbers != NULL && rewrite(&r, ptx, source_name);
}

size_t line_map_number(const struct line_map *map, uint64_t line)
{
    for (size_t i = 0; i < map->count; ++i)
        if (map->lines[i] == line)
            return i + 1;
    return 0;
}

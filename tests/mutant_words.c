#include "mutant_words.h"

#include "files.h"
#include "slice.h"

#define TABLE_BYTES_MAX ((size_t)1 << 20)

int mutant_words_load(struct mutant_words *out, const char *lab_id, struct error *err)
{
    char path[256];
    (void)snprintf(path, sizeof path, "tests/mutants/%s/WORDS.tsv", lab_id);
    enum file_status status = file_read(&out->table, path, TABLE_BYTES_MAX, true);
    return status == FILE_READ || status == FILE_MISSING
               ? 0
               : error_set(err, ERROR_USAGE, "%s: %s", path, file_status_text(status));
}

void mutant_words_release(struct mutant_words *words)
{
    bytes_release(&words->table);
}

static struct slice take(struct slice *rest, char end)
{
    const char *at = slice_find_char(*rest, end);
    struct slice cell = at != NULL ? slice_to(*rest, at) : *rest;
    *rest = slice_from(*rest, cell.length + (at != NULL));
    return cell;
}

/* One of the alternatives "a|b" stands in the text; "-" is nothing to look for. */
static bool holds(const char *text, struct slice wanted)
{
    if (slice_is(wanted, "-"))
        return true;
    while (wanted.length > 0) {
        struct slice words = take(&wanted, '|');
        if (memmem(text, strlen(text), words.text, words.length) != NULL)
            return true;
    }
    return false;
}

bool mutant_words_hold(const struct mutant_words *words, const char *mutant, const char *mark,
                       const char *message, const char *remedy, char *missing, size_t size,
                       unsigned *found)
{
    struct slice rest = {bytes_text(&words->table), words->table.length};
    while (rest.length > 0) {
        struct slice line = take(&rest, '\n');
        struct slice row_mutant = take(&line, '\t'), row_mark = take(&line, '\t');
        struct slice in_message = take(&line, '\t'), in_remedy = take(&line, '\t');
        if (!slice_is(row_mutant, mutant) || !slice_is(row_mark, mark))
            continue;
        ++*found;
        struct slice lost = !holds(message, in_message) ? in_message : in_remedy;
        if (holds(message, in_message) && holds(remedy, in_remedy))
            continue;
        (void)snprintf(missing, size, "\"%.*s\"", (int)lost.length, lost.text);
        return false;
    }
    return true;
}

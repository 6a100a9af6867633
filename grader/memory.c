#include "memory.h"

#include "files.h"
#include "number.h"
#include "slice.h"

#define FILE_BYTES_MAX ((size_t)64 << 10)

static char *memory_path(const struct lab *lab, struct error *err)
{
    AUTO_FREE char *folder = cache_folder(err);
    char name[128];
    if (folder == NULL)
        return NULL;
    (void)snprintf(name, sizeof name, "grade-%s", lab->id);
    char *path = path_join(folder, name);
    if (path == NULL)
        error_no_memory(err);
    return path;
}

/* ---- Reading --------------------------------------------------------------------------------- */
/* Lines of words: "score 40 0 45", "mark shift.frame failed", "kernel decayWide 72 0 0 0 ran". */

static struct slice take_word(struct slice *line)
{
    *line = slice_trim(*line);
    const char *blank = slice_find_char(*line, ' ');
    struct slice word = blank != NULL ? slice_to(*line, blank) : *line;
    *line = slice_from(*line, word.length);
    return word;
}

static bool take_number(struct slice *line, uint64_t most, int64_t *ret)
{
    struct slice word = take_word(line);
    uint64_t number = 0;
    bool whole = number_parse_u64_bytes(word.text, word.length, most, &number);
    *ret = (int64_t)number;
    return whole;
}

static void read_score(struct memory *memory, struct slice line)
{
    int64_t score = 0, pending = 0, best = 0;
    uint64_t most = (uint64_t)lab_max_score(memory->lab);
    memory->graded = take_number(&line, most, &score) && take_number(&line, most, &pending) &&
                     take_number(&line, most, &best);
    memory->score = (int)score;
    memory->pending = (int)pending;
    memory->best = (int)best;
}

static void read_mark(struct memory *memory, struct slice line)
{
    struct slice id = take_word(&line), word = take_word(&line);
    for (size_t i = 0; i < memory->lab->criterion_count && i < MEMORY_MARKS_MAX; ++i)
        for (int status = MARK_PASSED; status <= MARK_ERROR; ++status)
            if (slice_is(id, memory->lab->criteria[i].id) &&
                slice_is(word, mark_status_word((enum mark_status)status))) {
                memory->marks[i] = (enum mark_status)status;
                memory->has_mark[i] = true;
            }
}

static void read_kernel(struct memory *memory, struct slice line)
{
    struct slice name = take_word(&line);
    struct memory_kernel kernel = {.known = true};
    bool whole = take_number(&line, INT32_MAX, &kernel.registers) &&
                 take_number(&line, INT32_MAX, &kernel.stack_bytes) &&
                 take_number(&line, INT32_MAX, &kernel.spill_store_bytes) &&
                 take_number(&line, INT32_MAX, &kernel.spill_load_bytes);
    kernel.fault = slice_is(take_word(&line), "fault");
    for (size_t i = 0; whole && i < memory->lab->kernel_count && i < MEMORY_KERNELS_MAX; ++i)
        if (slice_is(name, memory->lab->kernels[i].name))
            memory->kernels[i] = kernel;
}

void memory_parse(struct memory *out, const struct lab *lab, const char *text, size_t length)
{
    *out = (struct memory){.lab = lab};
    struct slice rest = {text, length};
    const char *newline = NULL;
    for (; (newline = slice_find_char(rest, '\n')) != NULL;) {
        struct slice line = slice_to(rest, newline);
        rest = slice_from(rest, line.length + 1);
        struct slice kind = take_word(&line);
        if (slice_is(kind, "score"))
            read_score(out, line);
        else if (slice_is(kind, "mark"))
            read_mark(out, line);
        else if (slice_is(kind, "kernel"))
            read_kernel(out, line);
    }
}

void memory_load(struct memory *out, const struct lab *lab)
{
    struct error ignored = {0};
    AUTO_FREE char *path = memory_path(lab, &ignored);
    struct bytes content = {0};
    if (path != NULL)
        (void)file_read(&content, path, FILE_BYTES_MAX, false);
    memory_parse(out, lab, bytes_text(&content), content.length);
    bytes_release(&content);
}

size_t memory_first_lost(const struct memory *memory)
{
    for (size_t i = 0; i < memory->lab->criterion_count && i < MEMORY_MARKS_MAX; ++i)
        if (memory->has_mark[i] && memory->marks[i] == MARK_FAILED)
            return i;
    return SIZE_MAX;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The mark for its numbers is lost, and not because of the numbers: nothing came back. */
static bool launch_failed(const struct grade *grade, const struct grade_kernel *kernel)
{
    if (kernel->fault != NULL)
        return true;
    for (size_t i = 0; i < grade->mark_count; ++i) {
        const struct criterion *criterion = grade->marks[i].criterion;
        if (criterion->kind == CRITERION_NUMBERS && grade->marks[i].status == MARK_FAILED &&
            strcmp(grade->lab->kernels[criterion->kernel].name, kernel->name) == 0)
            return kernel->known && !kernel->ran;
    }
    return false;
}

static void write_kernels(struct bytes *out, const struct grade *grade)
{
    for (size_t k = 0; k < grade->lab->kernel_count; ++k)
        for (size_t i = 0; i < grade->kernel_count; ++i) {
            const struct grade_kernel *row = &grade->kernels[i];
            if (strcmp(row->name, grade->lab->kernels[k].name) != 0 || !row->known)
                continue;
            bytes_printf(out, "kernel %s %lld %lld %lld %lld %s\n", row->name,
                         (long long)row->registers, (long long)row->stack_bytes,
                         (long long)row->spill_store_bytes, (long long)row->spill_load_bytes,
                         launch_failed(grade, row) ? "fault" : "ran");
            break; /* of the first graded architecture */
        }
}

int memory_keep(const struct grade *grade, struct error *err)
{
    struct memory before;
    AUTO_FREE char *path = memory_path(grade->lab, err);
    if (path == NULL)
        return -1;
    memory_load(&before, grade->lab);
    struct bytes text = bytes_with_limit(FILE_BYTES_MAX);
    bytes_printf(&text, "score %d %d %d\n", grade->score, grade->pending,
                 grade->score > before.best ? grade->score : before.best);
    for (size_t i = 0; i < grade->mark_count; ++i)
        bytes_printf(&text, "mark %s %s\n", grade->marks[i].criterion->id,
                     mark_status_word(grade->marks[i].status));
    write_kernels(&text, grade);
    int status =
        text.failed ? error_no_memory(err) : file_write(path, bytes_text(&text), text.length, err);
    bytes_release(&text);
    return status;
}

/* report_result.c - from printed rows to the report: equal rows become one, rows that contradict
 * each other are marked, names are copied and demangled.
 *
 * Rows are sorted rather than hashed: names are hostile, and a sort has no bad case. */
#include "report_rows.h"

#include "caps.h"
#include "demangle.h"
#include "text.h"

bool report_rows_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    void *old = NULL;
    memcpy(&old, items, sizeof old);
    size_t wanted = *capacity == 0 ? 16 : *capacity * 2;
    void *grown = reallocarray(old, wanted, size);
    if (grown == NULL)
        return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

static void messages_release(struct report_messages *messages)
{
    for (size_t i = 0; i < messages->count; ++i)
        free(messages->texts[i]);
    free(messages->texts);
    *messages = (struct report_messages){0};
}

void report_rows_release(struct report_rows *rows)
{
    free(rows->rows);
    free(rows->blocks);
    free(rows->banks);
    messages_release(&rows->warnings);
    messages_release(&rows->errors);
    *rows = (struct report_rows){0};
}

/* ---- what belongs to a row ---------------------------------------------------------------------
 */

struct context {
    const struct report_rows *rows;
    size_t *owned; /* block indices, grouped by row */
};

/* Groups the blocks by their owners: row->block_start, block_count. */
static bool assign_blocks(struct report_rows *rows, struct context *context)
{
    context->rows = rows;
    context->owned = calloc(rows->block_count + 1, sizeof *context->owned);
    if (context->owned == NULL)
        return false;
    for (size_t i = 0; i < rows->block_count; ++i)
        if (rows->blocks[i].owner != REPORT_NO_ROW)
            ++rows->rows[rows->blocks[i].owner].block_count;
    size_t start = 0;
    for (size_t i = 0; i < rows->count; ++i) {
        rows->rows[i].block_start = start;
        start += rows->rows[i].block_count;
        rows->rows[i].block_count = 0;
    }
    for (size_t i = 0; i < rows->block_count; ++i)
        if (rows->blocks[i].owner != REPORT_NO_ROW) {
            struct report_row *row = &rows->rows[rows->blocks[i].owner];
            context->owned[row->block_start + row->block_count++] = i;
        }
    return true;
}

static const struct report_block *block_of(const struct context *context,
                                           const struct report_row *row, size_t index)
{
    return &context->rows->blocks[context->owned[row->block_start + index]];
}

/* Before compute capability 2.0, and in the first compilers for it, there was no frame line. */
static bool has_no_frame_line(const struct context *context, const struct report_row *row)
{
    if (row->has_properties)
        return false;
    bool first = row->arch.length == 5 && row->arch.text[3] == '1';
    bool early = row->arch.length == 0 || (row->arch.length == 5 && row->arch.text[3] == '2');
    return first || (early && !context->rows->has_properties);
}

static bool is_complete(const struct context *context, const struct report_row *row)
{
    if (row->damaged || !row->has_used)
        return false;
    if (row->tool == REPORT_NVLINK)
        return true;
    for (size_t i = 0; i < row->block_count; ++i)
        if (!block_of(context, row, i)->whole)
            return false;
    return row->has_frame || has_no_frame_line(context, row);
}

/* ---- order -------------------------------------------------------------------------------------
 */

static int compare_numbers(const struct report_numbers *a, const struct report_numbers *b)
{
    return memcmp(a, b, sizeof *a); /* eight int64_t: no padding; any order will do */
}

static int compare_keys(const struct report_row *a, const struct report_row *b)
{
    int order = slice_compare(a->symbol, b->symbol);
    if (order == 0)
        order = (a->tool > b->tool) - (a->tool < b->tool);
    if (order == 0)
        order = slice_compare(a->arch, b->arch);
    return order != 0 ? order : (a->symbol_cut > b->symbol_cut) - (a->symbol_cut < b->symbol_cut);
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* Order of what two rows of one key say. */
static int compare_content(const struct context *context, const struct report_row *a,
                           const struct report_row *b)
{
    int order = compare_numbers(&a->numbers, &b->numbers);
    if (order == 0)
        order = (int)a->complete - (int)b->complete;
    if (order == 0)
        order = compare_sizes(a->bank_count, b->bank_count);
    for (size_t i = 0; order == 0 && i < a->bank_count; ++i) {
        const struct report_bank *bank_a = &context->rows->banks[a->bank_start + i];
        const struct report_bank *bank_b = &context->rows->banks[b->bank_start + i];
        order = compare_sizes(bank_a->number, bank_b->number);
        if (order == 0)
            order = (bank_a->bytes > bank_b->bytes) - (bank_a->bytes < bank_b->bytes);
    }
    if (order == 0)
        order = compare_sizes(a->block_count, b->block_count);
    for (size_t i = 0; order == 0 && i < a->block_count; ++i) {
        const struct report_block *block_a = block_of(context, a, i);
        const struct report_block *block_b = block_of(context, b, i);
        order = slice_compare(block_a->symbol, block_b->symbol);
        if (order == 0)
            order = compare_numbers(&block_a->numbers, &block_b->numbers);
    }
    return order;
}

static int compare_rows(const void *left, const void *right, void *payload)
{
    const struct context *context = payload;
    size_t index_a = *(const size_t *)left, index_b = *(const size_t *)right;
    const struct report_row *a = &context->rows->rows[index_a];
    const struct report_row *b = &context->rows->rows[index_b];
    int order = compare_keys(a, b);
    if (order == 0)
        order = compare_content(context, a, b);
    return order != 0 ? order : compare_sizes(index_a, index_b);
}

/* ---- the public report -------------------------------------------------------------------------
 */

/* A printable copy; `cut` puts "…" behind it, so that it can be nobody's name. */
static char *copy_name(struct slice name, bool cut)
{
    struct bytes copy = bytes_with_limit(LIMIT_REPORT_NAME_BYTES + 8);
    text_sanitize(&copy, name.text, name.length, LIMIT_REPORT_NAME_BYTES);
    if (cut)
        bytes_append_text(&copy, "…");
    char *text = bytes_take(&copy);
    bytes_release(&copy);
    return text;
}

static bool copy_arch(char **out, struct slice arch)
{
    *out = arch.length == 0 ? NULL : strndup(arch.text, arch.length);
    return arch.length == 0 || *out != NULL;
}

static bool copy_block(struct report_function *out, const struct report_block *block,
                       struct slice arch)
{
    *out = (struct report_function){
        .symbol = copy_name(block->symbol, false),
        .stack_bytes = block->numbers.stack_bytes,
        .spill_store_bytes = block->numbers.spill_store_bytes,
        .spill_load_bytes = block->numbers.spill_load_bytes,
    };
    return copy_arch(&out->arch, arch) && out->symbol != NULL;
}

/* What was not printed for one function is not known of the sum. */
static void add(int64_t *sum, int64_t value)
{
    *sum = *sum < 0 || value < 0 ? REPORT_ABSENT : *sum + value;
}

static void sum_up(struct report_kernel *kernel)
{
    kernel->total_spill_store_bytes = kernel->spill_store_bytes;
    kernel->total_spill_load_bytes = kernel->spill_load_bytes;
    kernel->max_stack_bytes = kernel->stack_bytes;
    for (size_t i = 0; i < kernel->function_count; ++i) {
        const struct report_function *function = &kernel->functions[i];
        add(&kernel->total_spill_store_bytes, function->spill_store_bytes);
        add(&kernel->total_spill_load_bytes, function->spill_load_bytes);
        if (function->stack_bytes < 0 || kernel->max_stack_bytes < 0)
            kernel->max_stack_bytes = REPORT_ABSENT;
        else if (function->stack_bytes > kernel->max_stack_bytes)
            kernel->max_stack_bytes = function->stack_bytes;
    }
}

static bool copy_row(struct report_kernel *out, const struct context *context,
                     const struct report_row *row)
{
    *out = (struct report_kernel){
        .symbol = copy_name(row->symbol, row->symbol_cut),
        .tool = row->tool,
        .registers = row->numbers.registers,
        .stack_bytes = row->numbers.stack_bytes,
        .cumulative_stack_bytes = row->numbers.cumulative_stack_bytes,
        .spill_store_bytes = row->numbers.spill_store_bytes,
        .spill_load_bytes = row->numbers.spill_load_bytes,
        .shared_bytes = row->numbers.shared_bytes,
        .local_bytes = row->numbers.local_bytes,
        .barriers = row->numbers.barriers,
        .complete = row->complete,
        .ambiguous = row->ambiguous,
        .count = 1,
        .line = row->line,
    };
    if (out->symbol == NULL || !copy_arch(&out->arch, row->arch))
        return false;
    struct demangled storage;
    const char *name = row->symbol_cut ? NULL : demangle(out->symbol, &storage);
    out->name = strdup(name != NULL ? name : out->symbol);
    out->banks = calloc(row->bank_count + 1, sizeof *out->banks);
    out->functions = calloc(row->block_count + 1, sizeof *out->functions);
    if (out->name == NULL || out->banks == NULL || out->functions == NULL)
        return false;
    for (; out->bank_count < row->bank_count; ++out->bank_count)
        out->banks[out->bank_count] = context->rows->banks[row->bank_start + out->bank_count];
    while (out->function_count < row->block_count) {
        const struct report_block *block = block_of(context, row, out->function_count);
        if (!copy_block(&out->functions[out->function_count++], block, row->arch))
            return false;
    }
    sum_up(out);
    return true;
}

/* Marks, in `order` (sorted), the first of each run of equal rows with how many they are: times[].
 * Rows of one key that differ are ambiguous. */
static void count_equal(struct report_rows *rows, const struct context *context,
                        const size_t *order, unsigned *times)
{
    for (size_t begin = 0; begin < rows->count;) {
        size_t end = begin + 1, first = begin;
        bool differ = false;
        times[order[first]] = 1;
        for (; end < rows->count; ++end) {
            struct report_row *head = &rows->rows[order[first]];
            const struct report_row *row = &rows->rows[order[end]];
            if (compare_keys(head, row) != 0)
                break;
            if (compare_content(context, head, row) == 0) {
                ++times[order[first]];
                head->ambiguous |= row->ambiguous;
            } else {
                first = end;
                times[order[first]] = 1;
                differ = true;
            }
        }
        for (; differ && begin < end; ++begin)
            rows->rows[order[begin]].ambiguous = true;
        begin = end;
    }
}

/* True when ptxas printed an entry of this name. `order` is sorted, ptxas's before nvlink's. */
static bool is_entry(const struct report_rows *rows, const size_t *order, struct slice symbol)
{
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (slice_compare(rows->rows[order[middle]].symbol, symbol) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->count && rows->rows[order[low]].tool == REPORT_PTXAS &&
           slice_equal(rows->rows[order[low]].symbol, symbol);
}

/* Nobody calls a kernel as a function. Where a callee is a kernel elsewhere in the log, its
 * "Compiling entry function" line is lost, and its numbers may have gone to the wrong owner. */
static void mark_lost_entries(struct report_rows *rows, const size_t *order)
{
    for (size_t i = 0; i < rows->block_count; ++i) {
        const struct report_block *block = &rows->blocks[i];
        if (block->owner != REPORT_NO_ROW && block->symbol.length > 0 &&
            is_entry(rows, order, block->symbol)) {
            rows->rows[block->owner].ambiguous = true;
            rows->truncated = true;
        }
    }
}

static bool copy_rows(struct report *out, struct report_rows *rows, const struct context *context)
{
    AUTO_FREE size_t *order = calloc(rows->count + 1, sizeof *order);
    AUTO_FREE unsigned *times = calloc(rows->count + 1, sizeof *times);
    if (order == NULL || times == NULL)
        return false;
    for (size_t i = 0; i < rows->count; ++i)
        order[i] = i;
    qsort_r(order, rows->count, sizeof *order, compare_rows, (void *)context);
    mark_lost_entries(rows, order);
    count_equal(rows, context, order, times);
    size_t kept = 0, orphans = 0;
    for (size_t i = 0; i < rows->count; ++i)
        kept += times[i] > 0;
    for (size_t i = 0; i < rows->block_count; ++i)
        orphans += rows->blocks[i].owner == REPORT_NO_ROW;
    out->kernels = calloc(kept + 1, sizeof *out->kernels);
    out->functions = calloc(orphans + 1, sizeof *out->functions);
    if (out->kernels == NULL || out->functions == NULL)
        return false;
    for (size_t i = 0; i < rows->count; ++i) {
        if (times[i] == 0)
            continue;
        struct report_kernel *kernel = &out->kernels[out->kernel_count++];
        if (!copy_row(kernel, context, &rows->rows[i]))
            return false;
        kernel->count = times[i];
    }
    for (size_t i = 0; i < rows->block_count; ++i)
        if (rows->blocks[i].owner == REPORT_NO_ROW &&
            !copy_block(&out->functions[out->function_count++], &rows->blocks[i],
                        (struct slice){0}))
            return false;
    return true;
}

int report_rows_finish(struct report *out, struct report_rows *rows, struct error *err)
{
    *out = (struct report){0};
    struct context context = {0};
    bool whole = assign_blocks(rows, &context);
    for (size_t i = 0; whole && i < rows->count; ++i) {
        rows->rows[i].complete = is_complete(&context, &rows->rows[i]);
        rows->truncated |= !rows->rows[i].complete;
    }
    whole = whole && copy_rows(out, rows, &context);
    free(context.owned);
    if (!whole) {
        report_release(out);
        return error_no_memory(err);
    }
    out->warnings = rows->warnings.texts;
    out->warning_count = rows->warnings.count;
    out->errors = rows->errors.texts;
    out->error_count = rows->errors.count;
    rows->warnings = rows->errors = (struct report_messages){0};
    out->build_failed = rows->build_failed;
    out->truncated = rows->truncated;
    out->recognised = rows->recognised;
    out->unread_lines = rows->unread_lines;
    return 0;
}

static void functions_release(struct report_function *functions, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        free(functions[i].symbol);
        free(functions[i].arch);
    }
    free(functions);
}

static void texts_release(char **texts, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        free(texts[i]);
    free(texts);
}

void report_release(struct report *report)
{
    for (size_t i = 0; i < report->kernel_count; ++i) {
        struct report_kernel *kernel = &report->kernels[i];
        free(kernel->symbol);
        free(kernel->name);
        free(kernel->arch);
        free(kernel->banks);
        functions_release(kernel->functions, kernel->function_count);
    }
    free(report->kernels);
    functions_release(report->functions, report->function_count);
    texts_release(report->warnings, report->warning_count);
    texts_release(report->errors, report->error_count);
    *report = (struct report){0};
}

const struct report_kernel *report_find(const struct report *report, const char *symbol,
                                        const char *arch, bool *ambiguous)
{
    const struct report_kernel *found = NULL;
    *ambiguous = false;
    for (size_t i = 0; i < report->kernel_count; ++i) {
        const struct report_kernel *kernel = &report->kernels[i];
        if (kernel->tool != REPORT_PTXAS || strcmp(kernel->symbol, symbol) != 0)
            continue;
        if (arch != NULL && (kernel->arch == NULL || strcmp(kernel->arch, arch) != 0))
            continue;
        *ambiguous |= kernel->ambiguous || found != NULL;
        if (found == NULL)
            found = kernel;
    }
    return found;
}

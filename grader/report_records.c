/* report_records.c - from statistics lines to rows; see report_records.h. */
#include "report_records.h"

#include "caps.h"

static struct report_row *new_row(struct report_records *records, const struct report_line *line,
                                  size_t number)
{
    struct report_rows *rows = &records->rows;
    if (rows->count >= LIMIT_REPORT_KERNELS) {
        records->full = true;
        return NULL;
    }
    if (!report_rows_grow(&rows->rows, &rows->capacity, rows->count, sizeof *rows->rows)) {
        records->no_memory = true;
        return NULL;
    }
    struct report_row *row = &rows->rows[rows->count++];
    *row = (struct report_row){
        .symbol = line->name,
        .arch = line->arch,
        .tool = line->tool,
        .line = number,
        .symbol_cut = line->name_cut,
        .damaged = line->name_cut || line->arch_cut,
    };
    report_numbers_init(&row->numbers);
    if (row->damaged)
        rows->truncated = true;
    return row;
}

static struct report_block *new_block(struct report_records *records, struct slice symbol,
                                      size_t owner)
{
    struct report_rows *rows = &records->rows;
    if (rows->block_count >= LIMIT_REPORT_FUNCTIONS) {
        records->full = true;
        return NULL;
    }
    if (!report_rows_grow(&rows->blocks, &rows->block_capacity, rows->block_count,
                          sizeof *rows->blocks)) {
        records->no_memory = true;
        return NULL;
    }
    struct report_block *block = &rows->blocks[rows->block_count++];
    *block = (struct report_block){.symbol = symbol, .owner = owner};
    report_numbers_init(&block->numbers);
    return block;
}

/* A line whose record begins nowhere: kept as a block without a name. */
static struct report_block *new_orphan(struct report_records *records)
{
    records->rows.truncated = true;
    return new_block(records, (struct slice){"", 0}, REPORT_NO_ROW);
}

static bool keep_banks(struct report_records *records, struct report_row *row,
                       const struct report_banks *banks)
{
    struct report_rows *rows = &records->rows;
    row->bank_start = rows->bank_count;
    for (size_t i = 0; i < banks->count; ++i) {
        if (!report_rows_grow(&rows->banks, &rows->bank_capacity, rows->bank_count,
                              sizeof *rows->banks)) {
            records->no_memory = true;
            return false;
        }
        rows->banks[rows->bank_count++] = banks->banks[i];
    }
    row->bank_count = banks->count;
    return true;
}

/* ---- open entries ------------------------------------------------------------------------------
 */

static void open_remove(struct report_records *records, size_t at)
{
    memmove(&records->open[at], &records->open[at + 1],
            (records->open_count - at - 1) * sizeof records->open[0]);
    --records->open_count;
}

static void open_add(struct report_records *records, size_t row)
{
    struct report_row *rows = records->rows.rows;
    rows[row].cluster =
        records->open_count == 0 ? row : rows[records->open[records->open_count - 1]].cluster;
    if (records->open_count == REPORT_OPEN_MAX)
        open_remove(records, 0);
    records->open[records->open_count++] = row;
}

/* The newest open entry of this name that still waits for its properties, or REPORT_NO_ROW. */
static size_t open_find(const struct report_records *records, struct slice name)
{
    for (size_t i = records->open_count; i-- > 0;) {
        const struct report_row *row = &records->rows.rows[records->open[i]];
        if (!row->has_properties && !row->symbol_cut && slice_equal(row->symbol, name))
            return records->open[i];
    }
    return REPORT_NO_ROW;
}

/* ---- statistics --------------------------------------------------------------------------------
 */

static void take_module(struct report_records *records, const struct report_line *line)
{
    if (line->tool == REPORT_NVLINK) {
        records->nvlink_row = REPORT_NO_ROW;
        return;
    }
    /* Whose "Used" comes now, if one comes, nobody knows. */
    for (size_t i = 0; i < records->open_count; ++i)
        records->rows.rows[records->open[i]].contested = true;
    records->owner = REPORT_NO_ROW;
    records->pending = records->subject = SUBJECT_NONE;
    records->in_module = true;
    records->module_has_entry = records->module_has_time = records->separate = false;
}

static void take_entry(struct report_records *records, const struct report_line *line,
                       size_t number)
{
    records->pending = records->subject = SUBJECT_NONE;
    records->owner = REPORT_NO_ROW;
    records->module_has_entry = true;
    records->stray_time = false;
    if (new_row(records, line, number) == NULL)
        return;
    records->owner = records->rows.count - 1;
    open_add(records, records->owner);
}

static void take_nvlink_properties(struct report_records *records, const struct report_line *line,
                                   size_t number)
{
    records->linked = true;
    records->nvlink_row =
        new_row(records, line, number) != NULL ? records->rows.count - 1 : REPORT_NO_ROW;
}

/* Who owns a block of ptxas that is no open entry's own. */
static size_t block_owner(struct report_records *records)
{
    if (records->owner == REPORT_NO_ROW) {
        if (records->in_module && !records->module_has_entry)
            records->separate = true;
        return REPORT_NO_ROW;
    }
    /* Before "Compile time" was printed (CUDA 12.8 and older), only the order tells. */
    if (records->separate && !records->module_has_time)
        return REPORT_NO_ROW;
    struct report_row *owner = &records->rows.rows[records->owner];
    if (records->stray_time) {
        records->shuffled = true;
        return REPORT_NO_ROW;
    }
    /* Since "Compile time" is printed, an entry's properties and its "Used" line come together, and
     * blocks only after its time: in between stands another record, or one is lost. */
    bool torn = owner->has_used ? !owner->has_time && records->module_has_time
                                : owner->has_properties && records->saw_time;
    if (!torn && (records->open_count == 0 ||
                  (records->open_count == 1 && records->open[0] == records->owner)))
        return records->owner;
    owner->ambiguous = true;
    for (size_t i = 0; i < records->open_count; ++i)
        records->rows.rows[records->open[i]].ambiguous = true;
    return REPORT_NO_ROW;
}

static void take_properties(struct report_records *records, const struct report_line *line,
                            size_t number)
{
    if (line->tool == REPORT_NVLINK) {
        take_nvlink_properties(records, line, number);
        return;
    }
    records->rows.has_properties = true;
    records->pending = records->subject = SUBJECT_NONE;
    if (line->name_cut) {
        records->rows.truncated = true;
        if (records->owner != REPORT_NO_ROW)
            records->rows.rows[records->owner].damaged = true;
        return;
    }
    size_t own = open_find(records, line->name);
    if (own != REPORT_NO_ROW) {
        records->rows.rows[own].has_properties = true;
        records->pending = records->subject = SUBJECT_ROW;
        records->pending_at = records->subject_at = own;
    } else if (new_block(records, line->name, block_owner(records)) != NULL) {
        records->rows.blocks[records->rows.block_count - 1].inside =
            records->owner != REPORT_NO_ROW && records->rows.rows[records->owner].has_properties &&
            !records->rows.rows[records->owner].has_used;
        records->pending = records->subject = SUBJECT_BLOCK;
        records->pending_at = records->subject_at = records->rows.block_count - 1;
    }
}

static void take_frame(struct report_records *records, const struct report_line *line)
{
    struct report_numbers *numbers = NULL;
    bool *seen = NULL;
    struct report_block *block = NULL;
    switch (records->pending) {
    case SUBJECT_ROW:
        numbers = &records->rows.rows[records->pending_at].numbers;
        seen = &records->rows.rows[records->pending_at].has_frame;
        break;
    case SUBJECT_BLOCK:
        block = &records->rows.blocks[records->pending_at];
        break;
    case SUBJECT_NONE:
        block = new_orphan(records);
        break;
    }
    if (block != NULL) {
        numbers = &block->numbers;
        seen = &block->whole;
    }
    records->pending = SUBJECT_NONE;
    if (numbers == NULL)
        return;
    struct report_banks banks = {.count = 0};
    *seen = report_fields_read(line->fields, numbers, &banks) && numbers->stack_bytes >= 0 &&
            numbers->spill_store_bytes >= 0 && numbers->spill_load_bytes >= 0;
    records->rows.truncated |= !*seen;
}

/* Whether a "Used" line without a line end may be whole: what this tool and architecture always
 * print towards its end must be there, and in front of "Compile time" it is never the last line. */
static bool used_may_end(const struct report_records *records, const struct report_row *row,
                         const struct report_banks *banks)
{
    if (row->tool == REPORT_NVLINK)
        return row->numbers.local_bytes >= 0;
    bool parameters_in_bank_0 =
        row->arch.length == 5 && row->arch.text[3] >= '2' && row->arch.text[3] <= '8';
    if (parameters_in_bank_0)
        return banks->count > 0 && banks->banks[0].number == 0;
    return !records->saw_time;
}

static void fill_used(struct report_records *records, size_t at, const struct report_line *line,
                      bool terminated)
{
    struct report_row *row = &records->rows.rows[at];
    struct report_banks banks = {.count = 0};
    bool whole = report_fields_read(line->fields, &row->numbers, &banks);
    row->has_used = true;
    if (row->tool == REPORT_NVLINK && row->arch.length == 0)
        row->arch = line->arch;
    if (!whole || row->numbers.registers < 0 ||
        (!terminated && !used_may_end(records, row, &banks))) {
        row->damaged = true;
        records->rows.truncated = true;
    }
    (void)keep_banks(records, row, &banks);
}

/* The position in `open` of the entry that this "Used" line belongs to; open_count when none. */
static size_t used_owner(struct report_records *records)
{
    struct report_row *rows = records->rows.rows;
    size_t best = records->open_count;
    for (size_t i = records->open_count; i-- > 0;) {
        if (!rows[records->open[i]].has_properties)
            continue;
        if (best == records->open_count)
            best = i;
        else
            rows[records->open[i]].contested = true;
    }
    /* Compute capability 1.x has no properties. */
    if (best == records->open_count && records->open_count > 0)
        best = records->open_count - 1;
    return best;
}

static void take_used(struct report_records *records, const struct report_line *line,
                      bool terminated)
{
    if (line->tool == REPORT_NVLINK) {
        if (records->nvlink_row != REPORT_NO_ROW)
            fill_used(records, records->nvlink_row, line, terminated);
        else
            (void)new_orphan(records);
        records->nvlink_row = REPORT_NO_ROW;
        return;
    }
    size_t at = used_owner(records);
    if (at == records->open_count) {
        if (records->owner != REPORT_NO_ROW)
            records->rows.rows[records->owner].ambiguous = true; /* its second */
        (void)new_orphan(records);
        return;
    }
    size_t row = records->open[at];
    if (records->rows.rows[row].contested)
        records->rows.rows[records->rows.rows[row].cluster].cluster_mixed = true;
    fill_used(records, row, line, terminated);
    open_remove(records, at);
    records->pending = SUBJECT_NONE;
    records->subject = SUBJECT_ROW;
    records->subject_at = row;
}

static void take_time(struct report_records *records)
{
    struct report_rows *rows = &records->rows;
    records->saw_time = records->module_has_time = true;
    if (records->subject == SUBJECT_NONE) {
        records->stray_time = true;
    } else if (records->subject == SUBJECT_ROW) {
        rows->rows[records->subject_at].has_time = true;
    } else if (records->subject == SUBJECT_BLOCK) {
        struct report_block *block = &rows->blocks[records->subject_at];
        if (block->owner != REPORT_NO_ROW && !rows->rows[block->owner].has_time)
            rows->rows[block->owner].has_time = true;
        else
            block->owner = REPORT_NO_ROW;
    }
    records->subject = SUBJECT_NONE;
}

void report_records_take(struct report_records *records, const struct report_line *line,
                         bool terminated, size_t number)
{
    if (records->full)
        return;
    switch (line->kind) {
    case LINE_MODULE:
        take_module(records, line);
        break;
    case LINE_ENTRY:
        take_entry(records, line, number);
        break;
    case LINE_PROPERTIES:
        take_properties(records, line, number);
        break;
    case LINE_FRAME:
        take_frame(records, line);
        break;
    case LINE_USED:
        take_used(records, line, terminated);
        break;
    case LINE_TIME:
        take_time(records);
        break;
    default:
        break;
    }
    records->rows.truncated |= records->full;
}

void report_records_init(struct report_records *records)
{
    *records = (struct report_records){.owner = REPORT_NO_ROW, .nvlink_row = REPORT_NO_ROW};
}

void report_records_end(struct report_records *records)
{
    struct report_row *rows = records->rows.rows;
    for (size_t i = 0; i < records->rows.count; ++i)
        if (rows[i].tool == REPORT_PTXAS &&
            (records->shuffled || rows[rows[i].cluster].cluster_mixed))
            rows[i].ambiguous = true;
    for (size_t i = 0; records->saw_time && i < records->rows.block_count; ++i)
        if (records->rows.blocks[i].inside && records->rows.blocks[i].owner != REPORT_NO_ROW)
            rows[records->rows.blocks[i].owner].ambiguous = true;
    /* What nvlink links was compiled function by function. Without "Compile time" (CUDA 12.8 and
     * older) a block between two entries looks as if the first one called it. */
    for (size_t i = 0; records->linked && !records->saw_time && i < records->rows.block_count; ++i)
        records->rows.blocks[i].owner = REPORT_NO_ROW;
    /* The last entry's "Compile time" is missing, and with it what stood behind it. */
    if (records->owner != REPORT_NO_ROW && records->module_has_time && !records->stray_time &&
        !rows[records->owner].has_time)
        records->rows.truncated = true;
}

void report_records_release(struct report_records *records)
{
    report_rows_release(&records->rows);
}

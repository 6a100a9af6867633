/* report_table.c - the table. */
#include "report_table.h"

#include "demangle.h"
#include "report_words.h"

enum column { ARCH, REGISTERS, STACK, SPILLS, SHARED, CONSTANT, BARRIERS, COLUMN_COUNT };

static const char *const headings[COLUMN_COUNT] = {
    "arch", "regs", "stack", "spill st/ld", "shared", "const", "barriers",
};

enum { CELL_BYTES = 48, NAME_COLUMNS_LEAST = 16, NAME_COLUMNS_MOST = 60 };

static const char function_indent[] = "  + ";

struct cells {
    char text[COLUMN_COUNT][CELL_BYTES];
};

static void put_number(char cell[CELL_BYTES], int64_t value)
{
    if (value < 0)
        (void)snprintf(cell, CELL_BYTES, "-");
    else
        (void)snprintf(cell, CELL_BYTES, "%lld", (long long)value);
}

static void put_spills(char cell[CELL_BYTES], int64_t stores, int64_t loads)
{
    char store[20], load[20];
    put_number(cell, stores);
    (void)snprintf(store, sizeof store, "%s", cell);
    put_number(cell, loads);
    (void)snprintf(load, sizeof load, "%s", cell);
    if (stores < 0 && loads < 0)
        (void)snprintf(cell, CELL_BYTES, "-");
    else
        (void)snprintf(cell, CELL_BYTES, "%s/%s", store, load);
}

static void kernel_cells(struct cells *cells, const struct report_kernel *kernel)
{
    bool has_bank_0 = kernel->bank_count > 0 && kernel->banks[0].number == 0;
    (void)snprintf(cells->text[ARCH], CELL_BYTES, "%s", kernel->arch == NULL ? "-" : kernel->arch);
    put_number(cells->text[REGISTERS], kernel->registers);
    put_number(cells->text[STACK], kernel->stack_bytes);
    put_spills(cells->text[SPILLS], kernel->spill_store_bytes, kernel->spill_load_bytes);
    put_number(cells->text[SHARED], kernel->shared_bytes);
    put_number(cells->text[CONSTANT], has_bank_0 ? kernel->banks[0].bytes : REPORT_ABSENT);
    put_number(cells->text[BARRIERS], kernel->barriers);
}

static void function_cells(struct cells *cells, const struct report_function *function)
{
    for (size_t i = 0; i < COLUMN_COUNT; ++i)
        cells->text[i][0] = '\0';
    put_number(cells->text[STACK], function->stack_bytes);
    put_spills(cells->text[SPILLS], function->spill_store_bytes, function->spill_load_bytes);
}

/* A function that has nothing to show would only make the table long. */
static bool is_shown(const struct report_function *function)
{
    return function->stack_bytes != 0 || function->spill_store_bytes != 0 ||
           function->spill_load_bytes != 0;
}

struct layout {
    size_t name, columns[COLUMN_COUNT];
};

static void widen(struct layout *layout, const struct cells *cells, size_t name_columns)
{
    for (size_t i = 0; i < COLUMN_COUNT; ++i)
        if (strlen(cells->text[i]) > layout->columns[i])
            layout->columns[i] = strlen(cells->text[i]);
    if (name_columns > layout->name)
        layout->name = name_columns;
}

static struct layout lay_out(const struct report *report, bool shorten)
{
    struct layout layout = {.name = strlen("kernel")};
    for (size_t i = 0; i < COLUMN_COUNT; ++i)
        layout.columns[i] = strlen(headings[i]);
    for (size_t i = 0; i < report->kernel_count; ++i) {
        const struct report_kernel *kernel = &report->kernels[i];
        struct cells cells;
        kernel_cells(&cells, kernel);
        widen(&layout, &cells, report_words_columns(kernel->name));
        for (size_t j = 0; j < kernel->function_count; ++j)
            if (is_shown(&kernel->functions[j])) {
                struct demangled storage;
                const char *name = demangle(kernel->functions[j].symbol, &storage);
                function_cells(&cells, &kernel->functions[j]);
                widen(&layout, &cells,
                      strlen(function_indent) +
                          report_words_columns(name != NULL ? name : kernel->functions[j].symbol));
            }
    }
    size_t numbers = 0, most = NAME_COLUMNS_MOST;
    for (size_t i = 0; i < COLUMN_COUNT; ++i)
        numbers += 1 + layout.columns[i];
    if (shorten)
        most = numbers + NAME_COLUMNS_LEAST < REPORT_TABLE_COLUMNS ? REPORT_TABLE_COLUMNS - numbers
                                                                   : NAME_COLUMNS_LEAST;
    if (layout.name > most)
        layout.name = most;
    return layout;
}

static void put_row(struct bytes *out, const struct layout *layout, const char *indent,
                    const char *name, const struct cells *cells, bool shorten)
{
    size_t room = layout->name - strlen(indent), columns = report_words_columns(name);
    bytes_append_text(out, indent);
    if (columns <= room || shorten) {
        report_words_shorten(out, name, room);
        columns = columns < room ? columns : room;
    } else {
        bytes_printf(out, "%s\n%s", name, indent);
        columns = 0;
    }
    bytes_printf(out, "%*s", (int)(room - columns), "");
    size_t last = 0;
    for (size_t i = 0; i < COLUMN_COUNT; ++i)
        if (cells->text[i][0] != '\0')
            last = i;
    for (size_t i = 0; i <= last; ++i)
        bytes_printf(out, i == ARCH ? " %-*s" : " %*s", (int)layout->columns[i], cells->text[i]);
    bytes_append_text(out, "\n");
}

static void put_functions(struct bytes *out, const struct layout *layout,
                          const struct report_function *functions, size_t count, bool shorten)
{
    for (size_t i = 0; i < count; ++i) {
        if (!is_shown(&functions[i]))
            continue;
        struct demangled storage;
        const char *name = demangle(functions[i].symbol, &storage);
        struct cells cells;
        function_cells(&cells, &functions[i]);
        put_row(out, layout, function_indent, name != NULL ? name : functions[i].symbol, &cells,
                shorten);
    }
}

void report_table_write(struct bytes *out, const struct report *report, bool shorten)
{
    if (report->kernel_count == 0)
        return;
    struct layout layout = lay_out(report, shorten);
    struct cells cells;
    static const char *const groups[] = {"kernel", "kernel, as linked by nvlink"};
    for (int tool = REPORT_PTXAS; tool <= REPORT_NVLINK; ++tool) {
        bool headed = false;
        for (size_t i = 0; i < report->kernel_count; ++i) {
            const struct report_kernel *kernel = &report->kernels[i];
            if ((int)kernel->tool != tool)
                continue;
            if (!headed) {
                for (size_t j = 0; j < COLUMN_COUNT; ++j)
                    (void)snprintf(cells.text[j], CELL_BYTES, "%s", headings[j]);
                bytes_append_text(out, tool == REPORT_NVLINK && i > 0 ? "\n" : "");
                put_row(out, &layout, "", groups[tool], &cells, shorten);
                headed = true;
            }
            kernel_cells(&cells, kernel);
            put_row(out, &layout, "", kernel->name, &cells, shorten);
            put_functions(out, &layout, kernel->functions, kernel->function_count, shorten);
        }
    }
}

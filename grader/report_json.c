#include "report_json.h"

#include <jansson.h>

/* Every setter of jansson takes NULL for a value that could not be made and then fails: the flag
 * is looked at once, at the end. */
struct builder {
    bool failed;
};

static void set(struct builder *b, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        b->failed = true;
}

static void append(struct builder *b, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        b->failed = true;
}

static json_t *number_or_null(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

static json_t *text_or_null(const char *text)
{
    return text == NULL || text[0] == '\0' ? json_null() : json_string(text);
}

static json_t *banks_of(struct builder *b, const struct report_kernel *kernel)
{
    json_t *banks = json_object();
    for (size_t i = 0; i < kernel->bank_count; ++i) {
        char key[16];
        (void)snprintf(key, sizeof key, "%u", kernel->banks[i].number);
        set(b, banks, key, json_integer(kernel->banks[i].bytes));
    }
    return banks;
}

static json_t *functions_of(struct builder *b, const struct report_function *functions,
                            size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; ++i) {
        json_t *function = json_object();
        set(b, function, "symbol", text_or_null(functions[i].symbol));
        set(b, function, "stack_bytes", number_or_null(functions[i].stack_bytes));
        set(b, function, "spill_store_bytes", number_or_null(functions[i].spill_store_bytes));
        set(b, function, "spill_load_bytes", number_or_null(functions[i].spill_load_bytes));
        append(b, array, function);
    }
    return array;
}

static json_t *kernel_of(struct builder *b, const struct report_kernel *kernel)
{
    json_t *object = json_object(), *totals = json_object();
    bool has_bank_0 = kernel->bank_count > 0 && kernel->banks[0].number == 0;
    set(b, object, "symbol", json_string(kernel->symbol));
    set(b, object, "name", json_string(kernel->name));
    set(b, object, "arch", text_or_null(kernel->arch));
    set(b, object, "tool", json_string(kernel->tool == REPORT_NVLINK ? "nvlink" : "ptxas"));
    set(b, object, "registers", number_or_null(kernel->registers));
    set(b, object, "stack_bytes", number_or_null(kernel->stack_bytes));
    set(b, object, "spill_store_bytes", number_or_null(kernel->spill_store_bytes));
    set(b, object, "spill_load_bytes", number_or_null(kernel->spill_load_bytes));
    set(b, object, "shared_bytes", number_or_null(kernel->shared_bytes));
    set(b, object, "constant_bytes",
        has_bank_0 ? json_integer(kernel->banks[0].bytes) : json_null());
    set(b, object, "constant_banks", banks_of(b, kernel));
    set(b, object, "barriers", number_or_null(kernel->barriers));
    set(b, object, "functions", functions_of(b, kernel->functions, kernel->function_count));
    set(b, totals, "spill_store_bytes", number_or_null(kernel->total_spill_store_bytes));
    set(b, totals, "spill_load_bytes", number_or_null(kernel->total_spill_load_bytes));
    set(b, totals, "max_stack_bytes", number_or_null(kernel->max_stack_bytes));
    set(b, object, "totals", totals);
    set(b, object, "count", json_integer(kernel->count));
    set(b, object, "complete", json_boolean(kernel->complete));
    set(b, object, "ambiguous", json_boolean(kernel->ambiguous));
    return object;
}

static json_t *texts_of(struct builder *b, char *const *texts, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; ++i)
        append(b, array, json_string(texts[i]));
    return array;
}

char *report_json_text(const struct report *report, struct error *err)
{
    struct builder b = {false};
    json_t *root = json_object(), *kernels = json_array();
    for (size_t i = 0; i < report->kernel_count; ++i)
        append(&b, kernels, kernel_of(&b, &report->kernels[i]));
    set(&b, root, "schema", json_string("spillway/report/v1"));
    set(&b, root, "kernels", kernels);
    set(&b, root, "functions", functions_of(&b, report->functions, report->function_count));
    set(&b, root, "warnings", texts_of(&b, report->warnings, report->warning_count));
    set(&b, root, "errors", texts_of(&b, report->errors, report->error_count));
    set(&b, root, "build_failed", json_boolean(report->build_failed));
    AUTO_FREE char *dumped = b.failed ? NULL : json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    char *text = NULL;
    if (dumped == NULL || asprintf(&text, "%s\n", dumped) < 0) {
        error_no_memory(err);
        return NULL;
    }
    return text;
}

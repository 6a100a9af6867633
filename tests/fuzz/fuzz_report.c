/* fuzz_report.c - any bytes are a log: no crash, printable texts, sums that add up. */
#include <assert.h>

#include "report.h"
#include "report_json.h"
#include "report_table.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_kernel(const struct report_kernel *kernel)
{
    assert(text_is_utf8(kernel->symbol, strlen(kernel->symbol)) && kernel->count > 0);
    assert(!kernel->complete || kernel->registers >= 0);
    assert(kernel->max_stack_bytes < 0 || kernel->max_stack_bytes >= kernel->stack_bytes);
    assert(kernel->total_spill_store_bytes < 0 ||
           kernel->total_spill_store_bytes >= kernel->spill_store_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct report report;
    struct error err = {0};
    if (report_parse(&report, (const char *)data, length, &err) != 0)
        return 0;
    for (size_t i = 0; i < report.kernel_count; ++i)
        check_kernel(&report.kernels[i]);
    char *json = report_json_text(&report, &err);
    assert(json != NULL && text_is_utf8(json, strlen(json)));
    free(json);
    struct bytes page = bytes_with_limit((size_t)64 << 20);
    report_table_write(&page, &report, length % 2 != 0);
    report_table_explain(&page, &report, length % 2 != 0);
    report_table_explain_trouble(&page, &report, length % 2 != 0);
    report_table_explain_nothing(&page, &report, false);
    assert(!page.failed);
    bytes_release(&page);
    report_release(&report);
    return 0;
}

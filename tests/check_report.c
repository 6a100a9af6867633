/* check_report.c - the report parser against golden logs, damaged logs, and very large ones. */
#include "testing.h"

#include <dirent.h>
#include <time.h>

#include "caps.h"
#include "report.h"
#include "text.h"

#define FOLDER "ptxas/"

/* ---- golden logs -------------------------------------------------------------------------------
 */

static void put_number(struct bytes *out, int64_t value)
{
    if (value < 0)
        bytes_append_text(out, "\t-");
    else
        bytes_printf(out, "\t%lld", (long long)value);
}

static const char *or_dash(const char *text)
{
    return text == NULL || text[0] == '\0' ? "-" : text;
}

static void put_function(struct bytes *out, const char *kind,
                         const struct report_function *function)
{
    bytes_printf(out, "%s\t%s", kind, or_dash(function->symbol));
    put_number(out, function->stack_bytes);
    put_number(out, function->spill_store_bytes);
    put_number(out, function->spill_load_bytes);
    bytes_append_text(out, "\n");
}

static void put_kernel(struct bytes *out, const struct report_kernel *kernel)
{
    bytes_printf(out, "kernel\t%zu\t%s\t%s\t%s\t%s", kernel->line, kernel->symbol, kernel->name,
                 or_dash(kernel->arch), kernel->tool == REPORT_NVLINK ? "nvlink" : "ptxas");
    const int64_t numbers[] = {
        kernel->registers,         kernel->stack_bytes,      kernel->cumulative_stack_bytes,
        kernel->spill_store_bytes, kernel->spill_load_bytes, kernel->shared_bytes,
        kernel->local_bytes,       kernel->barriers,
    };
    for (size_t i = 0; i < COUNT_OF(numbers); ++i)
        put_number(out, numbers[i]);
    bytes_append_text(out, kernel->bank_count == 0 ? "\t-" : "\t");
    for (size_t i = 0; i < kernel->bank_count; ++i)
        bytes_printf(out, "%s%u:%lld", i > 0 ? " " : "", kernel->banks[i].number,
                     (long long)kernel->banks[i].bytes);
    bytes_printf(out, "\t%u\t%s\t%s", kernel->count, kernel->complete ? "complete" : "incomplete",
                 kernel->ambiguous ? "ambiguous" : "plain");
    put_number(out, kernel->total_spill_store_bytes);
    put_number(out, kernel->total_spill_load_bytes);
    put_number(out, kernel->max_stack_bytes);
    bytes_append_text(out, "\n");
    for (size_t i = 0; i < kernel->function_count; ++i)
        put_function(out, "callee", &kernel->functions[i]);
}

/* The section of expected.tsv that this report would need. */
static struct bytes describe(const char *name, const struct report *report)
{
    struct bytes out = bytes_with_limit((size_t)16 << 20);
    bytes_printf(&out, "log\t%s\t%s%s%s\t%zu\t%zu\t%zu\t%zu\t%zu\n", name,
                 report->build_failed ? "failed " : "", report->truncated ? "truncated " : "",
                 report->recognised ? "recognised" : "", report->kernel_count,
                 report->function_count, report->warning_count, report->error_count,
                 report->unread_lines);
    for (size_t i = 0; i < report->kernel_count; ++i)
        put_kernel(&out, &report->kernels[i]);
    for (size_t i = 0; i < report->function_count; ++i)
        put_function(&out, "function", &report->functions[i]);
    for (size_t i = 0; i < report->warning_count; ++i)
        bytes_printf(&out, "warning\t%s\n", report->warnings[i]);
    for (size_t i = 0; i < report->error_count; ++i)
        bytes_printf(&out, "error\t%s\n", report->errors[i]);
    ck_assert(!out.failed);
    return out;
}

static struct report parse(const char *log, size_t length)
{
    struct report report;
    struct error err = {0};
    ck_assert_msg(report_parse(&report, log, length, &err) == 0, "%s", err.text);
    return report;
}

static int is_log(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".log") == 0;
}

static struct dirent **logs;
static int log_count;

/* Before the runner forks; a missing folder leaves no logs, and the test below says so. */
static void find_logs(void)
{
    log_count = scandir("tests/fixtures/" FOLDER, &logs, is_log, alphasort);
    if (log_count < 0)
        log_count = 0;
}

static struct bytes read_log(int index)
{
    char path[300];
    (void)snprintf(path, sizeof path, FOLDER "%s", logs[index]->d_name);
    return testing_fixture(path);
}

START_TEST(golden_log)
{
    const char *name = logs[_i]->d_name;
    struct bytes table = testing_fixture(FOLDER "expected.tsv"), log = read_log(_i);
    char head[300];
    (void)snprintf(head, sizeof head, "log\t%s\t", name);
    const char *section = strstr(bytes_text(&table), head);
    ck_assert_msg(section != NULL, "expected.tsv says nothing of %s", name);
    struct report report = parse(bytes_text(&log), log.length);
    struct bytes said = describe(name, &report);
    const char *end = strstr(section, "\nlog\t");
    size_t length = end != NULL ? (size_t)(end + 1 - section) : strlen(section);
    size_t same = 0;
    while (same < length && same < said.length && section[same] == said.data[same])
        ++same;
    while (same > 0 && section[same - 1] != '\n')
        --same;
    ck_assert_msg(same == length && same == said.length, "%s\nexpected: %.*s\nread:     %.*s", name,
                  (int)strcspn(section + same, "\n"), section + same,
                  (int)strcspn(bytes_text(&said) + same, "\n"), bytes_text(&said) + same);
    report_release(&report);
    bytes_release(&said);
    bytes_release(&log);
    bytes_release(&table);
}
END_TEST

START_TEST(every_expectation_has_its_log)
{
    struct bytes table = testing_fixture(FOLDER "expected.tsv");
    int sections = 0;
    for (const char *at = strstr(bytes_text(&table), "log\t"); at != NULL;
         at = strstr(at + 1, "\nlog\t"))
        ++sections;
    ck_assert_int_eq(sections, log_count);
    ck_assert_int_ge(sections, 43);
    bytes_release(&table);
}
END_TEST

/* ---- damaged logs: what is called whole and unambiguous is never wrong -------------------------
 */

static const struct report_kernel *find_same(const struct report *report,
                                             const struct report_kernel *kernel)
{
    for (size_t i = 0; i < report->kernel_count; ++i) {
        const struct report_kernel *other = &report->kernels[i];
        if (other->tool == kernel->tool && strcmp(other->symbol, kernel->symbol) == 0 &&
            strcmp(or_dash(other->arch), or_dash(kernel->arch)) == 0)
            return other;
    }
    return NULL;
}

/* A kernel's own numbers: those of its callees may lie in the part that was lost. */
static void check_against(const struct report *truth, const struct report *damaged,
                          const char *what, size_t where)
{
    for (size_t i = 0; i < damaged->kernel_count; ++i) {
        const struct report_kernel *kernel = &damaged->kernels[i];
        if (!kernel->complete || kernel->ambiguous)
            continue;
        const struct report_kernel *real = find_same(truth, kernel);
        ck_assert_msg(real != NULL, "%s %zu: %s is invented", what, where, kernel->symbol);
        bool equal = kernel->registers == real->registers &&
                     kernel->stack_bytes == real->stack_bytes &&
                     kernel->spill_store_bytes == real->spill_store_bytes &&
                     kernel->spill_load_bytes == real->spill_load_bytes &&
                     kernel->barriers == real->barriers;
        ck_assert_msg(equal, "%s %zu: %s has another's numbers", what, where, kernel->symbol);
    }
}

static const char *const honest_logs[] = {
    FOLDER "60_two_archs_all_warnings.log",
    FOLDER "61_indirect_calls_repeat_device_fns.log",
    FOLDER "62_rdc_compile_then_nvlink.log",
    FOLDER "81_all_major_parallel_arch_order.log",
    FOLDER "116_debug_G_functions_by_themselves.log",
    FOLDER "141_three_archs_callee_in_each.log",
};

START_TEST(cut_anywhere)
{
    struct bytes log = testing_fixture(honest_logs[_i]);
    struct report truth = parse(log.data, log.length);
    for (size_t at = 0; at < log.length; ++at) {
        struct report head = parse(log.data, at), tail = parse(log.data + at, log.length - at);
        check_against(&truth, &head, "cut at byte", at);
        check_against(&truth, &tail, "begun at byte", at);
        report_release(&head);
        report_release(&tail);
    }
    report_release(&truth);
    bytes_release(&log);
}
END_TEST

enum { LINES_MAX = 400 };

struct lines {
    const char *text[LINES_MAX];
    size_t length[LINES_MAX], count;
};

/* Messages rather than lines: ptxas writes the frame line together with the one above it. */
static void split(struct lines *lines, const struct bytes *log)
{
    lines->count = 0;
    for (const char *at = log->data; *at != '\0';) {
        size_t length = strcspn(at, "\n") + 1;
        if (lines->count > 0 && strncmp(at, "    ", 4) == 0) {
            lines->length[lines->count - 1] += length;
        } else {
            ck_assert_uint_lt(lines->count, LINES_MAX);
            lines->text[lines->count] = at;
            lines->length[lines->count++] = length;
        }
        at += length;
    }
}

static bool is_message(const struct lines *lines, size_t index, const char *words)
{
    return memmem(lines->text[index], lines->length[index], words, strlen(words)) != NULL;
}

START_TEST(without_any_message)
{
    struct bytes log = testing_fixture(honest_logs[_i]), damaged = bytes_with_limit(1 << 20);
    struct report truth = parse(log.data, log.length);
    struct lines lines;
    split(&lines, &log);
    for (size_t first = 0; first < lines.count; ++first)
        for (size_t missing = 1; missing <= 6; ++missing) {
            /* One entry's properties, then another's "Used": nothing can tell that from a record.
             */
            if (first > 0 && first + missing < lines.count &&
                is_message(&lines, first - 1, "Function properties") &&
                is_message(&lines, first + missing, "Used"))
                continue;
            bytes_clear(&damaged);
            for (size_t i = 0; i < lines.count; ++i)
                if (i < first || i >= first + missing)
                    bytes_append(&damaged, lines.text[i], lines.length[i]);
            struct report report = parse(bytes_text(&damaged), damaged.length);
            check_against(&truth, &report, "without message", first);
            report_release(&report);
        }
    report_release(&truth);
    bytes_release(&damaged);
    bytes_release(&log);
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Several compilers on one pipe: each writes its messages in order, whole. */
START_TEST(shuffled_with_itself_and_another)
{
    static const char *const pairs[][2] = {
        {FOLDER "81_all_major_parallel_arch_order.log",
         FOLDER "141_three_archs_callee_in_each.log"},
        {FOLDER "60_two_archs_all_warnings.log", FOLDER "81_all_major_parallel_arch_order.log"},
        {FOLDER "67_maxrregcount_vs_launch_bounds.log",
         FOLDER "67_maxrregcount_vs_launch_bounds.log"},
        {FOLDER "61_indirect_calls_repeat_device_fns.log",
         FOLDER "141_three_archs_callee_in_each.log"},
    };
    struct bytes logs_of[2] = {testing_fixture(pairs[_i][0]), testing_fixture(pairs[_i][1])};
    struct bytes mixed = bytes_with_limit(1 << 20);
    struct lines lines[2];
    bytes_append(&mixed, logs_of[0].data, logs_of[0].length);
    bytes_append(&mixed, logs_of[1].data, logs_of[1].length);
    struct report truth = parse(mixed.data, mixed.length);
    for (size_t i = 0; i < 2; ++i)
        split(&lines[i], &logs_of[i]);
    uint64_t state = 88172645463325252u;
    for (unsigned round = 0; round < 400; ++round) {
        size_t at[2] = {0, 0};
        bytes_clear(&mixed);
        while (at[0] < lines[0].count || at[1] < lines[1].count) {
            size_t from = next_random(&state) % 2;
            if (at[from] == lines[from].count)
                from = 1 - from;
            for (uint64_t run = 1 + next_random(&state) % 5;
                 run > 0 && at[from] < lines[from].count; --run, ++at[from])
                bytes_append(&mixed, lines[from].text[at[from]], lines[from].length[at[from]]);
        }
        struct report report = parse(mixed.data, mixed.length);
        check_against(&truth, &report, "shuffle", round);
        report_release(&report);
    }
    report_release(&truth);
    bytes_release(&mixed);
    bytes_release(&logs_of[0]);
    bytes_release(&logs_of[1]);
}
END_TEST

/* One byte of a golden log replaced: never a crash, and every text stays printable UTF-8. */
START_TEST(bytes_replaced)
{
    static const char replacements[] = {'\0', '\n', '\r', '\'', '\x1b', '\xff', '9', ' ', ','};
    struct bytes log = read_log(_i);
    uint64_t state = 0x9E3779B97F4A7C15u + (uint64_t)_i;
    for (unsigned round = 0; round < 300 && log.length > 0; ++round) {
        size_t at = next_random(&state) % log.length;
        char kept = log.data[at];
        log.data[at] = replacements[next_random(&state) % sizeof replacements];
        struct report report = parse(log.data, log.length);
        for (size_t i = 0; i < report.kernel_count; ++i) {
            const char *symbol = report.kernels[i].symbol, *name = report.kernels[i].name;
            ck_assert(text_is_utf8(symbol, strlen(symbol)));
            ck_assert(text_is_utf8(name, strlen(name)));
        }
        for (size_t i = 0; i < report.warning_count; ++i)
            ck_assert(text_is_utf8(report.warnings[i], strlen(report.warnings[i])));
        report_release(&report);
        log.data[at] = kept;
    }
    bytes_release(&log);
}
END_TEST

/* ---- size --------------------------------------------------------------------------------------
 */

static void put_record(struct bytes *out, const char *symbol, unsigned number, unsigned registers)
{
    bytes_printf(out,
                 "ptxas info    : Compiling entry function '%s%u' for 'sm_75'\n"
                 "ptxas info    : Function properties for %s%u\n"
                 "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                 "ptxas info    : Used %u registers, used 0 barriers, 376 bytes cmem[0]\n"
                 "ptxas info    : Compile time = 1.0 ms\n",
                 symbol, number, symbol, number, registers);
}

static void distinct_names(struct bytes *out, unsigned i)
{
    put_record(out, "_Z6kernelIfLi256EEvPKT_PS0_iiiiffff", i, 32);
}

static void one_name_other_numbers(struct bytes *out, unsigned i)
{
    put_record(out, "same", 0, i % 60000);
}

static void never_finished(struct bytes *out, unsigned i)
{
    bytes_printf(out, "ptxas info    : Compiling entry function 'open%u' for 'sm_75'\n", i);
}

static void callees(struct bytes *out, unsigned i)
{
    if (i == 0)
        put_record(out, "caller", 0, 32);
    bytes_printf(out,
                 "ptxas info    : Function properties for callee%u\n"
                 "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n",
                 i);
}

static void open_quotes(struct bytes *out, unsigned i)
{
    bytes_printf(out, "ptxas warning : Pragma 'never closed %u\n", i);
}

static void quote_ends(struct bytes *out, unsigned i)
{
    distinct_names(out, i);
    bytes_append_text(out,
                      i == 0 ? "ptxas warning : Pragma 'a' unsupported\n" : "x' unsupported\n");
}

static void one_long_line(struct bytes *out, unsigned i)
{
    bytes_append_text(out, i == 0 ? "ptxas info    : Function properties for " : "ptxas nvlink ");
}

static void one_long_list(struct bytes *out, unsigned i)
{
    if (i == 0)
        never_finished(out, i);
    bytes_printf(out, i == 0 ? "ptxas info    : Used 3 registers" : ", 8 bytes cmem[%u]", i % 1000);
}

static void errors_everywhere(struct bytes *out, unsigned i)
{
    bytes_printf(out, "kernel.cu(%u): error: error error error, line 3; error, line 4\n", i);
}

static void escapes(struct bytes *out, unsigned i)
{
    (void)i;
    bytes_append_text(out, "\x1b]0;\x1b[31m\x1b_x");
}

static void strays(struct bytes *out, unsigned i)
{
    (void)i;
    bytes_append_text(out, "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                           "ptxas info    : Used 3 registers\nptxas info    : 0 bytes gmem\n");
}

static const struct {
    const char *name;
    void (*put)(struct bytes *out, unsigned i);
} shapes[] = {
    {"distinct names", distinct_names},
    {"one name, other numbers", one_name_other_numbers},
    {"never finished", never_finished},
    {"callees", callees},
    {"open quotes", open_quotes},
    {"quote ends", quote_ends},
    {"one long line", one_long_line},
    {"one long list", one_long_list},
    {"errors everywhere", errors_everywhere},
    {"escapes", escapes},
    {"strays", strays},
};

static double seconds_to_parse(int shape, unsigned items)
{
    struct bytes log = bytes_with_limit((size_t)128 << 20);
    for (unsigned i = 0; i < items; ++i)
        shapes[shape].put(&log, i);
    ck_assert(!log.failed);
    clock_t begin = clock();
    struct report report = parse(bytes_text(&log), log.length);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    report_release(&report);
    bytes_release(&log);
    return seconds;
}

/* Eight times the log in much less than 64 times the processor time. */
START_TEST(time_grows_with_the_log)
{
    const unsigned items = 12000;
    double small = seconds_to_parse(_i, items), large = seconds_to_parse(_i, 8 * items);
    ck_assert_msg(large < 0.25 || large < 24 * small, "%s: %.3f s, eight times as long: %.3f s",
                  shapes[_i].name, small, large);
}
END_TEST

START_TEST(caps_are_said)
{
    struct bytes log = bytes_with_limit((size_t)128 << 20);
    for (unsigned i = 0; i <= LIMIT_REPORT_KERNELS; ++i)
        put_record(&log, "k", i, 32);
    struct report report = parse(log.data, log.length);
    ck_assert_uint_eq(report.kernel_count, LIMIT_REPORT_KERNELS);
    ck_assert(report.truncated);
    report_release(&report);

    bytes_clear(&log);
    for (unsigned i = 0; i <= LIMIT_REPORT_MESSAGES; ++i)
        bytes_printf(&log, "ptxas warning : number %u\n", i);
    report = parse(log.data, log.length);
    ck_assert_uint_eq(report.warning_count, LIMIT_REPORT_MESSAGES);
    ck_assert(report.truncated);
    report_release(&report);

    bytes_clear(&log);
    bytes_append_text(&log, "ptxas warning : ");
    for (unsigned i = 0; i < 10000; ++i)
        bytes_append_text(&log, "long ");
    report = parse(log.data, log.length);
    ck_assert_uint_eq(report.warning_count, 1);
    ck_assert_uint_le(strlen(report.warnings[0]), LIMIT_MESSAGE_BYTES);
    report_release(&report);
    bytes_release(&log);
}
END_TEST

/* Two names that differ only behind the cap are still two kernels. */
START_TEST(names_over_the_cap)
{
    struct bytes log = bytes_with_limit((size_t)1 << 20), name = bytes_with_limit((size_t)1 << 20);
    for (size_t i = 0; i < LIMIT_REPORT_NAME_BYTES + 100; ++i)
        bytes_append(&name, "n", 1);
    put_record(&log, bytes_text(&name), 1, 10);
    put_record(&log, bytes_text(&name), 2, 20);
    struct report report = parse(log.data, log.length);
    ck_assert_uint_eq(report.kernel_count, 2);
    for (size_t i = 0; i < 2; ++i) {
        ck_assert_uint_le(strlen(report.kernels[i].symbol), LIMIT_REPORT_NAME_BYTES);
        ck_assert(report.kernels[i].complete && !report.kernels[i].ambiguous);
        ck_assert_int_eq(report.kernels[i].registers, i == 0 ? 10 : 20);
    }
    report_release(&report);
    bytes_release(&name);
    bytes_release(&log);
}
END_TEST

/* ---- report_find() -----------------------------------------------------------------------------
 */

static const struct {
    const char *log, *symbol, *arch;
    int64_t registers; /* REPORT_ABSENT: not found */
    bool ambiguous;
} find_rows[] = {
    {FOLDER "81_all_major_parallel_arch_order.log", "lb", "sm_90", 64, false},
    {FOLDER "81_all_major_parallel_arch_order.log", "lb", NULL, 64, true},
    {FOLDER "81_all_major_parallel_arch_order.log", "lb", "sm_86", REPORT_ABSENT, false},
    {FOLDER "81_all_major_parallel_arch_order.log", "l", "sm_90", REPORT_ABSENT, false},
    {FOLDER "67_maxrregcount_vs_launch_bounds.log", "nolb", NULL, 32, false},
    {FOLDER "88_forged_by_pragma_message.log", "nolb", "sm_75", 8, true},
    {FOLDER "88_forged_by_pragma_message.log", "lb", "sm_75", 64, false},
    {FOLDER "62_rdc_compile_then_nvlink.log", "_Z5recurPii", NULL, 24, false},
    {FOLDER "111_nvlink_one_arch.log", "__nv_static_24__47d5ad35_4_a_cu__Z3fibi__Z3kstPf", NULL,
     REPORT_ABSENT, false},
    {FOLDER "101_cuda2_tab_no_arch_lmem_plus.log", "_Z4copyPfS_", "sm_10", REPORT_ABSENT, false},
};

START_TEST(find_row)
{
    struct bytes log = testing_fixture(find_rows[_i].log);
    struct report report = parse(log.data, log.length);
    bool ambiguous = !find_rows[_i].ambiguous;
    const struct report_kernel *kernel =
        report_find(&report, find_rows[_i].symbol, find_rows[_i].arch, &ambiguous);
    ck_assert_int_eq(kernel == NULL ? REPORT_ABSENT : kernel->registers, find_rows[_i].registers);
    ck_assert_int_eq(ambiguous, find_rows[_i].ambiguous);
    report_release(&report);
    bytes_release(&log);
}
END_TEST

/* A quotation over two lines, and blanks at the end of its first line: they are no part of what the
 * message goes on with, and the line below the quotation is whole. */
START_TEST(blanks_before_the_rest_of_a_quotation)
{
    struct bytes log = bytes_with_limit(1000);
    bytes_printf(&log,
                 "ptxas warning : Pragma 'x%*s\ny' unsupported\n"
                 "ptxas info    : Compiling entry function 'k' for 'sm_75'\n"
                 "ptxas info    : Function properties for k\n"
                 "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                 "ptxas info    : Used 12 registers, 360 bytes cmem[0]\n",
                 _i, "");
    struct report report = parse(log.data, log.length);
    bool ambiguous = false;
    const struct report_kernel *kernel = report_find(&report, "k", "sm_75", &ambiguous);
    ck_assert_ptr_nonnull(kernel);
    ck_assert_int_eq(kernel->registers, 12);
    ck_assert(kernel->complete && !ambiguous && !report.truncated);
    ck_assert_int_eq(report.warning_count, 1);
    ck_assert_msg(strstr(report.warnings[0], "unsupported") != NULL, "%s", report.warnings[0]);
    report_release(&report);
    bytes_release(&log);
}
END_TEST

Suite *suite_report(void)
{
    find_logs();
    Suite *suite = suite_create("report");
    TCase *golden = tcase_create("golden"), *damaged = tcase_create("damaged");
    TCase *large = tcase_create("large");
    tcase_set_timeout(golden, 30);
    tcase_add_loop_test(golden, golden_log, 0, log_count);
    tcase_add_test(golden, every_expectation_has_its_log);
    tcase_add_loop_test(golden, find_row, 0, COUNT_OF(find_rows));
    tcase_add_loop_test(golden, blanks_before_the_rest_of_a_quotation, 0, 5);
    suite_add_tcase(suite, golden);
    tcase_set_timeout(damaged, 300);
    tcase_add_loop_test(damaged, cut_anywhere, 0, COUNT_OF(honest_logs));
    tcase_add_loop_test(damaged, without_any_message, 0, COUNT_OF(honest_logs));
    tcase_add_loop_test(damaged, shuffled_with_itself_and_another, 0, 4);
    tcase_add_loop_test(damaged, bytes_replaced, 0, log_count);
    suite_add_tcase(suite, damaged);
    tcase_set_timeout(large, 300);
    tcase_add_loop_test(large, time_grows_with_the_log, 0, COUNT_OF(shapes));
    tcase_add_test(large, caps_are_said);
    tcase_add_test(large, names_over_the_cap);
    suite_add_tcase(suite, large);
    return suite;
}

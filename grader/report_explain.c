/* report_explain.c - the sentences below the table. */
#include "report_table.h"

#include "caps.h"
#include "demangle.h"
#include "report_words.h"

/* Of one kind; the rest is counted. A log may hold 100,000 kernels. */
enum { SENTENCES_MOST = 12, NAME_COLUMNS = 50, QUOTE_COLUMNS = 300 };

struct speaker {
    struct bytes *out;
    bool shorten;
};

static void put_name(const struct speaker *speaker, struct bytes *sentence, const char *name)
{
    if (speaker->shorten)
        report_words_shorten(sentence, name, NAME_COLUMNS);
    else
        bytes_append_text(sentence, name);
}

static void put_kernel(const struct speaker *speaker, struct bytes *sentence,
                       const struct report_kernel *kernel)
{
    put_name(speaker, sentence, kernel->name);
    if (kernel->arch != NULL)
        bytes_printf(sentence, " on %s", kernel->arch);
    if (kernel->tool == REPORT_NVLINK)
        bytes_append_text(sentence, " (nvlink)");
}

static void put_function(const struct speaker *speaker, struct bytes *sentence, const char *symbol)
{
    struct demangled storage;
    const char *name = demangle(symbol, &storage);
    if (symbol[0] == '\0')
        bytes_append_text(sentence, "a function whose name the log lacks");
    else
        put_name(speaker, sentence, name != NULL ? name : symbol);
}

static void say(const struct speaker *speaker, struct bytes *sentence)
{
    if (sentence->failed)
        speaker->out->failed = true;
    else
        report_words_wrap(speaker->out, bytes_text(sentence));
    bytes_clear(sentence);
}

static bool spills(int64_t stores, int64_t loads)
{
    return stores > 0 || loads > 0;
}

static void put_bytes(struct bytes *sentence, int64_t stores, int64_t loads)
{
    if (stores < 0)
        bytes_printf(sentence, "%lld bytes of loads, and nobody knows how many of stores",
                     (long long)loads);
    else if (loads < 0)
        bytes_printf(sentence, "%lld bytes of stores, and nobody knows how many of loads",
                     (long long)stores);
    else
        bytes_printf(sentence, "%lld bytes of stores, %lld bytes of loads", (long long)stores,
                     (long long)loads);
}

/* "k on sm_75 itself spills nothing, but fib(int), which it calls, does: 20 bytes of stores, …" */
static void put_kernel_spills(const struct speaker *speaker, struct bytes *sentence,
                              const struct report_kernel *kernel)
{
    put_kernel(speaker, sentence, kernel);
    bool own = spills(kernel->spill_store_bytes, kernel->spill_load_bytes);
    bytes_append_text(sentence, own ? " spills registers: " : " itself spills nothing, but");
    if (own)
        put_bytes(sentence, kernel->spill_store_bytes, kernel->spill_load_bytes);
    size_t said = 0, more = 0;
    for (size_t i = 0; i < kernel->function_count; ++i) {
        const struct report_function *function = &kernel->functions[i];
        if (!spills(function->spill_store_bytes, function->spill_load_bytes))
            continue;
        if (said++ >= SENTENCES_MOST) {
            ++more;
            continue;
        }
        bytes_append_text(sentence, own || said > 1 ? "; " : " ");
        put_function(speaker, sentence, function->symbol);
        bytes_append_text(sentence, ", which it calls, ");
        bytes_append_text(sentence, own || said > 1 ? "spills " : "does: ");
        put_bytes(sentence, function->spill_store_bytes, function->spill_load_bytes);
    }
    if (more > 0)
        bytes_printf(sentence, "; and %zu more functions that it calls spill", more);
    bytes_append_text(sentence, ".");
}

static bool kernel_spills(const struct report_kernel *kernel)
{
    bool found = spills(kernel->spill_store_bytes, kernel->spill_load_bytes);
    for (size_t i = 0; !found && i < kernel->function_count; ++i)
        found =
            spills(kernel->functions[i].spill_store_bytes, kernel->functions[i].spill_load_bytes);
    return found;
}

static bool kernel_has_planned_frame(const struct report_kernel *kernel)
{
    return kernel->max_stack_bytes > 0 && kernel->total_spill_store_bytes == 0 &&
           kernel->total_spill_load_bytes == 0;
}

static bool kernel_is_ambiguous(const struct report_kernel *kernel)
{
    return kernel->ambiguous;
}

static bool kernel_is_incomplete(const struct report_kernel *kernel)
{
    return !kernel->complete;
}

static bool kernel_is_repeated(const struct report_kernel *kernel)
{
    return kernel->count > 1;
}

static void put_planned_frame(const struct speaker *speaker, struct bytes *sentence,
                              const struct report_kernel *kernel)
{
    put_kernel(speaker, sentence, kernel);
    bytes_printf(sentence,
                 " has a stack frame of %lld bytes and no spills: the frame holds local arrays or "
                 "what calls need, which more registers would not change.",
                 (long long)kernel->max_stack_bytes);
}

static void put_ambiguous(const struct speaker *speaker, struct bytes *sentence,
                          const struct report_kernel *kernel)
{
    put_kernel(speaker, sentence, kernel);
    bytes_printf(sentence,
                 " (line %zu) is ambiguous: the log gives other numbers for it as well, or its "
                 "lines are mixed with another's, and nothing in the log says which are true.",
                 kernel->line);
}

static void put_incomplete(const struct speaker *speaker, struct bytes *sentence,
                           const struct report_kernel *kernel)
{
    put_kernel(speaker, sentence, kernel);
    bytes_printf(
        sentence,
        " (line %zu) is incomplete: part of its record is cut, missing or out of range, so "
        "a \"-\" here does not mean none.",
        kernel->line);
}

static void put_repeated(const struct speaker *speaker, struct bytes *sentence,
                         const struct report_kernel *kernel)
{
    put_kernel(speaker, sentence, kernel);
    bytes_printf(sentence, " was printed %u times with the same numbers.", kernel->count);
}

/* One sentence for each kernel that `applies`, up to a limit; returns how many apply. */
static size_t say_of_each(const struct speaker *speaker, const struct report *report,
                          bool (*applies)(const struct report_kernel *),
                          void (*put)(const struct speaker *, struct bytes *,
                                      const struct report_kernel *),
                          const char *more)
{
    struct bytes sentence = bytes_with_limit(speaker->out->limit);
    size_t count = 0;
    for (size_t i = 0; i < report->kernel_count; ++i) {
        if (!applies(&report->kernels[i]) || ++count > SENTENCES_MOST)
            continue;
        put(speaker, &sentence, &report->kernels[i]);
        say(speaker, &sentence);
    }
    if (count > SENTENCES_MOST) {
        bytes_printf(&sentence, "%zu more kernels %s.", count - SENTENCES_MOST, more);
        say(speaker, &sentence);
    }
    bytes_release(&sentence);
    return count;
}

static void say_ownerless(const struct speaker *speaker, const struct report *report)
{
    struct bytes sentence = bytes_with_limit(speaker->out->limit);
    size_t count = 0;
    for (size_t i = 0; i < report->function_count; ++i) {
        const struct report_function *function = &report->functions[i];
        if (!spills(function->spill_store_bytes, function->spill_load_bytes) ||
            ++count > SENTENCES_MOST)
            continue;
        put_function(speaker, &sentence, function->symbol);
        bytes_append_text(&sentence, " spills ");
        put_bytes(&sentence, function->spill_store_bytes, function->spill_load_bytes);
        bytes_append_text(&sentence, "; the log does not say which kernels call it.");
        say(speaker, &sentence);
    }
    if (count > SENTENCES_MOST) {
        bytes_printf(&sentence, "%zu more functions without a kernel spill.",
                     count - SENTENCES_MOST);
        say(speaker, &sentence);
    }
    bytes_release(&sentence);
}

/* "Nothing spills" is said only where that is known of every kernel. */
static bool nothing_spills(const struct report *report)
{
    size_t known = 0;
    for (size_t i = 0; i < report->kernel_count; ++i) {
        const struct report_kernel *kernel = &report->kernels[i];
        if (kernel->tool == REPORT_NVLINK)
            continue;
        if (!kernel->complete || kernel->ambiguous || kernel->total_spill_store_bytes != 0 ||
            kernel->total_spill_load_bytes != 0)
            return false;
        ++known;
    }
    for (size_t i = 0; i < report->function_count; ++i)
        if (report->functions[i].spill_store_bytes != 0 ||
            report->functions[i].spill_load_bytes != 0)
            return false;
    return known > 0 && !report->truncated;
}

static bool has_no_spill_fields(const struct report_kernel *kernel)
{
    return kernel->complete && kernel->tool == REPORT_PTXAS && kernel->spill_store_bytes < 0 &&
           kernel->local_bytes >= 0;
}

static void put_local_memory(const struct speaker *speaker, struct bytes *sentence,
                             const struct report_kernel *kernel)
{
    put_kernel(speaker, sentence, kernel);
    bytes_printf(sentence,
                 " uses %lld bytes of local memory; a compiler this old does not say how much of "
                 "it is spilled registers.",
                 (long long)kernel->local_bytes);
}

static void say_failure(const struct speaker *speaker, const struct report *report)
{
    if (!report->build_failed)
        return;
    struct bytes sentence = bytes_with_limit(speaker->out->limit);
    bytes_append_text(&sentence, "The build failed, so no program holds these numbers");
    if (report->error_count > 0) {
        bytes_append_text(&sentence, ": ");
        report_words_shorten(&sentence, report->errors[0], QUOTE_COLUMNS);
    } else {
        bytes_append_text(&sentence, ".");
    }
    say(speaker, &sentence);
    bytes_release(&sentence);
}

static void say_text(const struct speaker *speaker, const char *text)
{
    report_words_wrap(speaker->out, text);
}

static void say_warnings(const struct speaker *speaker, const struct report *report)
{
    struct bytes sentence = bytes_with_limit(speaker->out->limit);
    if (report->warning_count > 0) {
        bytes_printf(&sentence, "The compiler printed %zu warning%s; --json lists %s.",
                     report->warning_count, report->warning_count == 1 ? "" : "s",
                     report->warning_count == 1 ? "it" : "them");
        say(speaker, &sentence);
    }
    bytes_release(&sentence);
}

void report_table_explain(struct bytes *out, const struct report *report, bool shorten)
{
    const struct speaker speaker = {out, shorten};
    (void)say_of_each(&speaker, report, kernel_spills, put_kernel_spills, "spill");
    say_ownerless(&speaker, report);
    if (nothing_spills(report))
        say_text(&speaker, "No register is spilled.");
    (void)say_of_each(&speaker, report, kernel_has_planned_frame, put_planned_frame,
                      "have a stack frame and no spills");
    (void)say_of_each(&speaker, report, has_no_spill_fields, put_local_memory, "use local memory");
    (void)say_of_each(&speaker, report, kernel_is_repeated, put_repeated,
                      "were printed several times");
    say_warnings(&speaker, report);
}

void report_table_explain_trouble(struct bytes *out, const struct report *report, bool shorten)
{
    const struct speaker speaker = {out, shorten};
    (void)say_of_each(&speaker, report, kernel_is_ambiguous, put_ambiguous, "are ambiguous");
    size_t incomplete =
        say_of_each(&speaker, report, kernel_is_incomplete, put_incomplete, "are incomplete");
    size_t records = 0;
    for (size_t i = 0; i < report->kernel_count; ++i)
        records += report->kernels[i].count;
    if (report->truncated && records >= LIMIT_REPORT_KERNELS)
        say_text(&speaker, "The log holds more kernels than are read of one log: split it.");
    else if (report->truncated && incomplete == 0)
        say_text(&speaker, "The log holds part of a record whose beginning or end is missing, so "
                           "it may lack kernels or the functions that they call: was it cut, or "
                           "filtered?");
    say_failure(&speaker, report);
}

void report_table_explain_nothing(struct bytes *out, const struct report *report, bool blank)
{
    static const char how[] = " ptxas reports on kernels when it gets -v (nvcc: -Xptxas -v), on "
                              "standard error, and not with -ptx, -dlto or -E: nvcc … -Xptxas -v "
                              "2>&1 | spillway report";
    struct bytes sentence = bytes_with_limit(out->limit);
    const struct speaker speaker = {out, false};
    if (blank)
        bytes_append_text(&sentence, "The log is empty: nothing is known of registers or spills.");
    else if (!report->recognised && report->unread_lines > 0)
        bytes_printf(
            &sentence,
            "%zu line%s of this log hold%s \"ptxas info\" in the middle, so nothing is known "
            "of registers or spills. If a build tool put its own words in front of every "
            "line, remove them (with cut or sed) and try again.",
            report->unread_lines, report->unread_lines == 1 ? "" : "s",
            report->unread_lines == 1 ? "s" : "");
    else if (!report->recognised)
        bytes_append_text(&sentence, "No line of this log is one of ptxas or nvlink, so nothing is "
                                     "known of registers or spills.");
    else if (report->function_count > 0)
        bytes_printf(&sentence,
                     "The log reports on %zu function%s and on no kernel, so nothing is known of a "
                     "kernel's registers or spills.",
                     report->function_count, report->function_count == 1 ? "" : "s");
    else
        bytes_append_text(&sentence, "ptxas or nvlink wrote into this log, but reported on no "
                                     "kernel, so nothing is known of registers or spills.");
    if (report->build_failed && report->error_count > 0) {
        bytes_append_text(&sentence, " The build failed: ");
        report_words_shorten(&sentence, report->errors[0], QUOTE_COLUMNS);
    } else {
        bytes_append_text(&sentence, how);
    }
    say(&speaker, &sentence);
    bytes_release(&sentence);
}

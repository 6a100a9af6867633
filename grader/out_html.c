/* out_html.c - a grade as one HTML page without scripts or other files: what a notebook shows
 * inline and a browser opens. Well-formed as XML too.
 *
 * Two pictures a kernel: how many of the SM's thread slots its blocks fill, and what its stack
 * frame holds. Each says in words what it shows. */
#include "out_html.h"

#include "html.h"
#include "mark_words.h"
#include "text.h"
#include "writers.h"

#define PICTURE_WIDTH 240

/* ---- Pictures -------------------------------------------------------------------------------- */

static void begin_picture(struct bytes *out, const char *words)
{
    bytes_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"18\" "
        "viewBox=\"0 0 %d 18\"><title>",
        PICTURE_WIDTH, PICTURE_WIDTH);
    html_escape(out, words);
    bytes_append_text(out, "</title>");
}

static void box(struct bytes *out, double x, double width, const char *fill)
{
    bytes_printf(out,
                 "<rect x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"16\" fill=\"%s\" "
                 "stroke=\"#444\"/>",
                 x + 0.5, width, fill);
}

static void end_picture(struct bytes *out, const char *words)
{
    bytes_append_text(out, "</svg><br/>");
    html_escape(out, words);
}

/* A box for each resident block, and an empty one for the slots that no block fits into. */
static void picture_occupancy(struct bytes *out, const struct grade_kernel *kernel,
                              unsigned block_threads)
{
    char words[200], threads[TEXT_NUMBER_BYTES], slots[TEXT_NUMBER_BYTES];
    const struct sm_limits *sm = sm_limits_find(arch_major(kernel->arch), arch_minor(kernel->arch));
    if (sm == NULL || kernel->blocks_per_sm < 0) {
        bytes_append_text(out, "not known");
        return;
    }
    unsigned blocks = (unsigned)kernel->blocks_per_sm, filled = blocks * block_threads;
    double width = (double)(PICTURE_WIDTH - 1) * block_threads / sm->threads_per_sm;
    (void)snprintf(words, sizeof words, "%u block%s of %u threads: %s of %s thread slots", blocks,
                   blocks == 1 ? "" : "s", block_threads, text_number(filled, threads),
                   text_number(sm->threads_per_sm, slots));
    begin_picture(out, words);
    for (unsigned i = 0; i < blocks; ++i)
        box(out, width * i, width, "#7fb5e6");
    if (filled < sm->threads_per_sm)
        box(out, width * blocks, PICTURE_WIDTH - 1 - width * blocks, "#fff");
    end_picture(out, words);
}

/* The frame that a criterion expects of a kernel: its array; 0: none does. */
static int64_t expected_frame(const struct grade *grade, const char *kernel)
{
    for (size_t i = 0; i < grade->lab->criterion_count; ++i) {
        const struct criterion *criterion = &grade->lab->criteria[i];
        if (criterion->kind == CRITERION_FRAME_BYTES &&
            strcmp(grade->lab->kernels[criterion->kernel].name, kernel) == 0)
            return (int64_t)criterion->expected;
    }
    return 0;
}

static int64_t largest_frame(const struct grade *grade)
{
    int64_t largest = 1;
    for (size_t i = 0; i < grade->kernel_count; ++i)
        if (grade->kernels[i].known && grade->kernels[i].stack_bytes > largest)
            largest = grade->kernels[i].stack_bytes;
    return largest;
}

/* The frame as a bar, its parts by what they hold: an array, spilled values. */
static void picture_frame(struct bytes *out, const struct grade *grade,
                          const struct grade_kernel *kernel)
{
    char words[200];
    int64_t spilled = kernel->spill_store_bytes + kernel->spill_load_bytes;
    int64_t array = expected_frame(grade, kernel->name);
    array = array > kernel->stack_bytes ? kernel->stack_bytes : array;
    if (spilled == 0)
        array = kernel->stack_bytes;
    int64_t rest = kernel->stack_bytes - array;
    if (kernel->stack_bytes == 0) {
        bytes_append_text(out, "none: everything lives in registers");
        return;
    }
    if (array > 0 && rest > 0)
        (void)snprintf(words, sizeof words,
                       "%lld bytes: %lld of an array, %lld more (%lld bytes spilled out, %lld in)",
                       (long long)kernel->stack_bytes, (long long)array, (long long)rest,
                       (long long)kernel->spill_store_bytes, (long long)kernel->spill_load_bytes);
    else if (array > 0)
        (void)snprintf(words, sizeof words, "%lld bytes: an array, nothing spilled",
                       (long long)array);
    else
        (void)snprintf(words, sizeof words, "%lld bytes: spills (%lld bytes out, %lld in)",
                       (long long)rest, (long long)kernel->spill_store_bytes,
                       (long long)kernel->spill_load_bytes);
    double scale = (double)(PICTURE_WIDTH - 1) / (double)largest_frame(grade);
    begin_picture(out, words);
    if (array > 0)
        box(out, 0, (double)array * scale, "#c9b6e4");
    if (rest > 0)
        box(out, (double)array * scale, (double)rest * scale, "#f0a58f");
    end_picture(out, words);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void write_kernel(struct bytes *out, const struct grade *grade,
                         const struct grade_kernel *kernel)
{
    char arch[ARCH_NAME_BYTES];
    unsigned block_threads = 0;
    for (size_t k = 0; k < grade->lab->kernel_count; ++k)
        if (strcmp(grade->lab->kernels[k].name, kernel->name) == 0)
            block_threads = grade->lab->kernels[k].block_threads;
    bytes_append_text(out, "<tr>");
    html_element(out, "td", "", kernel->name);
    html_element(out, "td", "", arch_name(kernel->arch, "sm_", arch));
    if (!kernel->known) {
        html_element(out, "td", " colspan=\"4\"", kernel->problem);
        bytes_append_text(out, "</tr>\n");
        return;
    }
    bytes_printf(out, "<td class=\"n\">%lld</td>\n<td>", (long long)kernel->registers);
    picture_occupancy(out, kernel, block_threads);
    bytes_append_text(out, "</td>\n<td>");
    picture_frame(out, grade, kernel);
    if (kernel->time.known)
        bytes_printf(out, "</td>\n<td class=\"n\">%.4f</td></tr>\n", kernel->time.median_ns / 1e6);
    else
        bytes_append_text(out, "</td>\n<td>not timed</td></tr>\n");
}

static void write_kernels(struct bytes *out, const struct grade *grade)
{
    bytes_append_text(out, "<table>\n<tr><th>kernel</th><th>for</th><th>registers</th>"
                           "<th>occupancy of an SM</th><th>stack frame of a thread</th>"
                           "<th>ms</th></tr>\n");
    for (size_t i = 0; i < grade->kernel_count; ++i)
        write_kernel(out, grade, &grade->kernels[i]);
    bytes_append_text(out, "</table>\n");
}

static const char *word_of(enum mark_status status)
{
    static const char *const words[] = {[MARK_PASSED] = "OK",
                                        [MARK_FAILED] = "FAIL",
                                        [MARK_SKIPPED] = "SKIP",
                                        [MARK_ERROR] = "ERROR"};
    return words[status];
}

static void write_mark(struct bytes *out, const struct grade *grade, const struct mark *mark)
{
    struct bytes words = bytes_with_limit((size_t)1 << 20);
    char attributes[64];
    (void)snprintf(attributes, sizeof attributes, " class=\"word %s\"",
                   mark_status_word(mark->status));
    bytes_append_text(out, "<tr><td>");
    html_element(out, "span", attributes, word_of(mark->status));
    bytes_printf(out, "</td>\n<td class=\"n\">%d/%d</td>\n<td>", mark->points,
                 mark->criterion->points);
    html_element(out, "strong", "", mark->criterion->id);
    html_escape(out, mark->criterion->title);
    mark_explain(&words, grade, mark);
    if (words.length > 0)
        html_element(out, "pre", "", bytes_text(&words));
    out->failed = out->failed || words.failed;
    bytes_append_text(out, "</td></tr>\n");
    bytes_release(&words);
}

void out_html_grade(struct bytes *out, const struct grade *grade)
{
    struct bytes head = bytes_with_limit((size_t)1 << 20);
    grade_explain(&head, grade);
    html_element(out, "pre", "", bytes_text(&head));
    write_kernels(out, grade);
    bytes_append_text(out, "<table>\n<tr><th>mark</th><th>points</th><th>for</th></tr>\n");
    for (size_t i = 0; i < grade->mark_count; ++i)
        write_mark(out, grade, &grade->marks[i]);
    bytes_append_text(out, "</table>\n");
    out->failed = out->failed || head.failed;
    bytes_release(&head);
}

int out_html(struct bytes *out, const struct grade *grade, const struct writer_context *context,
             struct error *err)
{
    (void)context;
    html_begin(out, grade->lab->title);
    html_element(out, "h1", "", grade->lab->title);
    out_html_grade(out, grade);
    html_end(out);
    return out->failed ? error_no_memory(err) : 0;
}

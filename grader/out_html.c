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
                 "stroke=\"currentColor\"/>",
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
        box(out, width * blocks, PICTURE_WIDTH - 1 - width * blocks, "none");
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
                         const struct grade_kernel *kernel, bool timed)
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
        html_element(out, "td", timed ? " colspan=\"4\"" : " colspan=\"3\"", kernel->problem);
        bytes_append_text(out, "</tr>\n");
        return;
    }
    bytes_printf(out, "<td class=\"n\">%lld</td>\n<td>", (long long)kernel->registers);
    picture_occupancy(out, kernel, block_threads);
    bytes_append_text(out, "</td>\n<td>");
    picture_frame(out, grade, kernel);
    bytes_append_text(out, "</td>\n");
    if (timed && kernel->time.known)
        bytes_printf(out, "<td class=\"n\">%.4f</td>", kernel->time.median_ns / 1e6);
    else if (timed)
        bytes_append_text(out, "<td>not timed</td>");
    bytes_append_text(out, "</tr>\n");
}

/* The table is wider than a telephone: it moves by itself, also by the keyboard. */
static void write_kernels(struct bytes *out, const struct grade *grade)
{
    bool timed = false;
    for (size_t i = 0; i < grade->kernel_count; ++i)
        timed = timed || grade->kernels[i].time.known;
    bytes_append_text(out, "<div class=\"wide\" role=\"region\" aria-label=\"Kernels\" "
                           "tabindex=\"0\">\n<table>\n<caption>Kernels</caption>\n"
                           "<tr><th scope=\"col\">kernel</th><th scope=\"col\">for</th>"
                           "<th scope=\"col\">registers</th>"
                           "<th scope=\"col\">occupancy of an SM</th>"
                           "<th scope=\"col\">stack frame of a thread</th>");
    bytes_append_text(out, timed ? "<th scope=\"col\">ms</th></tr>\n" : "</tr>\n");
    for (size_t i = 0; i < grade->kernel_count; ++i)
        write_kernel(out, grade, &grade->kernels[i], timed);
    bytes_append_text(out, "</table>\n</div>\n");
}

static const char *word_of(enum mark_status status)
{
    static const char *const words[] = {[MARK_PASSED] = "OK",
                                        [MARK_FAILED] = "FAIL",
                                        [MARK_SKIPPED] = "SKIP",
                                        [MARK_ERROR] = "ERROR"};
    return words[status];
}

static void write_parts(struct bytes *out, const struct grade *grade, const struct mark *mark)
{
    struct mark_part parts[MARK_PARTS_MAX];
    char room[2][MARK_ROOM_BYTES];
    size_t count = mark_parts(parts, room, grade, mark), i = 0;
    for (; i < count && parts[i].label[0] == '\0'; ++i)
        html_element(out, "div", "", parts[i].text);
    if (i == count)
        return;
    bytes_append_text(out, "<dl>\n");
    for (; i < count; ++i) {
        html_element(out, "dt", "", parts[i].label);
        html_element(out, "dd", "", parts[i].text);
    }
    bytes_append_text(out, "</dl>\n");
}

static void write_mark(struct bytes *out, const struct grade *grade, const struct mark *mark)
{
    char attributes[64];
    (void)snprintf(attributes, sizeof attributes, " class=\"word %s\"",
                   mark_status_word(mark->status));
    bytes_append_text(out, "<tr><td>");
    html_element(out, "span", attributes, word_of(mark->status));
    bytes_printf(out, "</td>\n<td class=\"n\">%d/%d</td>\n<td>", mark->points,
                 mark->criterion->points);
    html_element(out, "strong", "", mark->criterion->id);
    html_escape(out, mark->criterion->title);
    if (mark->waits)
        bytes_append_text(out, " (waits for the build)");
    else
        write_parts(out, grade, mark);
    bytes_append_text(out, "</td></tr>\n");
}

static bool same_group(const struct mark *a, const struct mark *b)
{
    size_t length = mark_group_length(a);
    return mark_group_length(b) == length &&
           memcmp(a->criterion->id, b->criterion->id, length) == 0;
}

/* The group that begins with this mark: its name and its points. */
static void write_group(struct bytes *out, const struct mark *mark, const struct mark *end)
{
    char words[200], open[60] = "";
    int points = 0, most = 0, pending = 0;
    for (const struct mark *one = mark; one != end && same_group(one, mark); ++one) {
        points += one->points;
        most += one->criterion->points;
        pending += mark_is_pending(one) ? one->criterion->points : 0;
    }
    if (pending > 0)
        (void)snprintf(open, sizeof open, ", %d pending", pending);
    (void)snprintf(words, sizeof words, "%.*s: %d of %d points%s", (int)mark_group_length(mark),
                   mark->criterion->id, points, most, open);
    bytes_append_text(out, "<tr class=\"group\">");
    html_element(out, "th", " colspan=\"3\" scope=\"rowgroup\"", words);
    bytes_append_text(out, "</tr>\n");
}

static void write_marks(struct bytes *out, const struct grade *grade)
{
    const struct mark *end = grade->marks + grade->mark_count;
    bytes_append_text(out, "<table>\n<caption>Marks</caption>\n<tr><th scope=\"col\">mark</th>"
                           "<th scope=\"col\">points</th><th scope=\"col\">for</th></tr>\n");
    for (const struct mark *mark = grade->marks; mark != end; ++mark) {
        if (mark == grade->marks || !same_group(mark - 1, mark))
            write_group(out, mark, end);
        write_mark(out, grade, mark);
    }
    bytes_append_text(out, "</table>\n");
}

static void write_head(struct bytes *out, const struct grade *grade)
{
    struct bytes text = bytes_with_limit((size_t)1 << 20);
    bytes_append_text(&text, "Score: ");
    grade_score_words(&text, grade);
    html_element(out, "p", " class=\"score\"", bytes_text(&text));
    bytes_clear(&text);
    grade_finish_words(&text, grade, false);
    if (text.length > 0)
        html_element(out, "p", "", bytes_text(&text));
    bytes_clear(&text);
    grade_explain_tools(&text, grade);
    html_element(out, "p", " class=\"plain\"", bytes_text(&text));
    bytes_clear(&text);
    if (grade->compiler_words != NULL) {
        text_sanitize_lines(&text, grade->compiler_words, strlen(grade->compiler_words),
                            MARK_WORDS_COMPILER_BYTES);
        bytes_append_text(out, "<p>The compiler says:</p>\n");
        html_element(out, "pre", "", bytes_text(&text));
    }
    if (grade->note_count > 0)
        bytes_append_text(out, "<p>Notes, without points:</p>\n<ul>\n");
    for (size_t i = 0; i < grade->note_count; ++i)
        html_element(out, "li", "", grade->notes[i]);
    if (grade->note_count > 0)
        bytes_append_text(out, "</ul>\n");
    out->failed = out->failed || text.failed;
    bytes_release(&text);
}

void out_html_grade(struct bytes *out, const struct grade *grade)
{
    write_head(out, grade);
    write_kernels(out, grade);
    write_marks(out, grade);
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

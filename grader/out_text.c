#include "out_text.h"

#include "text.h"
#include "wrap.h"

bool out_text_wants_colour(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(stream)) && (no_colour == NULL || no_colour[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

/* ---- What is being used ---------------------------------------------------------------------- */

static void write_sandbox(struct bytes *out, const struct sandbox *sandbox)
{
    char room[2000];
    struct bytes line = bytes_in(room, sizeof room);
    sandbox_describe(sandbox, &line);
    wrap_text(out, 2, "sandbox     ", bytes_text(&line));
    bytes_clear(&line);
    sandbox_lost(sandbox, &line);
    if (line.length > 0) {
        bytes_printf(&line, " (%s)", sandbox->trouble);
        wrap_text(out, 14, "not kept: ", bytes_text(&line));
    }
    bytes_clear(&line);
    sandbox_remedy(sandbox, &line);
    if (line.length > 0)
        wrap_text(out, 14, "mend: ", bytes_text(&line));
}

static void write_header(struct bytes *out, const struct grade *grade)
{
    char arch[ARCH_NAME_BYTES];
    bytes_printf(out, "%s (%s)\n", grade->lab->title, grade->lab->id);
    wrap_text(out, 2, "submission  ", grade->source_path);
    wrap_text(out, 2, "answers     ",
              grade->answers_path != NULL ? grade->answers_path : "none: no answers.ini was found");
    char room[2000];
    struct bytes line = bytes_in(room, sizeof room);
    if (grade->from_git) {
        bytes_printf(&line, "%s (%s)", grade->commit, grade->chosen);
        wrap_text(out, 2, "commit      ", bytes_text(&line));
        bytes_clear(&line);
    }
    bytes_printf(&line, "nvcc %s (%s, by %s)", grade->nvcc_version, grade->nvcc_path,
                 grade->nvcc_found);
    wrap_text(out, 2, "toolkit     ", bytes_text(&line));
    bytes_clear(&line);
    for (size_t i = 0; i < grade->graded_arch_count; ++i)
        bytes_printf(&line, "%s%s", i == 0 ? "" : " ", arch_name(grade->archs[i], "sm_", arch));
    if (grade->declared_arch.number != 0)
        bytes_printf(&line, " (counts for %s, as answers.ini says)",
                     arch_name(grade->declared_arch, "sm_", arch));
    wrap_text(out, 2, "graded for  ", bytes_text(&line));
    bytes_clear(&line);
    bytes_printf(&line, "%s: %s",
                 grade->executor == EXECUTOR_NONE || grade->device[0] == '\0' ? "nothing"
                                                                              : grade->device,
                 grade->why);
    wrap_text(out, 2, "run by      ", bytes_text(&line));
    write_sandbox(out, &grade->sandbox);
    bytes_printf(out, "  seed        %llu\n", (unsigned long long)grade->seed);
}

/* ---- The kernel table ------------------------------------------------------------------------ */

static void number_cell(struct bytes *out, int width, bool known, int64_t value)
{
    if (known && value >= 0)
        bytes_printf(out, "%*lld", width, (long long)value);
    else
        bytes_printf(out, "%*s", width, "-");
}

static void write_kernel_row(struct bytes *out, const struct grade_kernel *kernel)
{
    bytes_printf(out, "%-17s", kernel->name);
    number_cell(out, 5, kernel->known, kernel->registers);
    number_cell(out, 8, kernel->known, kernel->stack_said.device);
    number_cell(out, 6, kernel->known, kernel->stack_bytes);
    number_cell(out, 9, kernel->known, kernel->spill_store_bytes);
    number_cell(out, 5, kernel->known, kernel->spill_load_bytes);
    number_cell(out, 7, kernel->known, kernel->max_threads_per_block);
    number_cell(out, 7, kernel->known, kernel->blocks_per_sm);
    if (kernel->occupancy_percent >= 0)
        bytes_printf(out, "%7.1f", kernel->occupancy_percent);
    else
        bytes_printf(out, "%7s", "-");
    if (kernel->time.known)
        bytes_printf(out, "%8.4f\n", kernel->time.median_ns / 1e6);
    else
        bytes_printf(out, "%8s\n", "-");
}

static void write_kernels(struct bytes *out, const struct grade *grade)
{
    struct arch last = {0};
    for (size_t i = 0; i < grade->kernel_count; ++i) {
        const struct grade_kernel *kernel = &grade->kernels[i];
        char arch[ARCH_NAME_BYTES];
        if (!arch_equal(kernel->arch, last)) {
            bytes_printf(out, "\n%-17s%5s%8s%6s%9s%5s%7s%7s%7s%8s\n",
                         arch_name(kernel->arch, "sm_", arch), "regs", "local B", "stack",
                         "spill st", "ld", "maxTPB", "blk/SM", "occ %", "ms");
            bytes_append_text(out,
                              "----------------- ---- ------- ----- -------- ---- ------ ------ "
                              "------ -------\n");
            last = kernel->arch;
        }
        write_kernel_row(out, kernel);
    }
}

/* What two medians say: they differ when the quartiles lie apart, are the same when both spreads
 * are narrow and overlap, and else nobody can tell. Nothing is judged by time. */
static const char *compare_times(const struct run_timing *time, const struct run_timing *base)
{
    static const double narrow = 0.02;
    if (time->q1_ns > base->q3_ns)
        return "slower";
    if (time->q3_ns < base->q1_ns)
        return "faster";
    bool steady = time->q3_ns - time->q1_ns <= narrow * time->median_ns &&
                  base->q3_ns - base->q1_ns <= narrow * base->median_ns;
    return steady ? "the same" : "unclear: the quartiles overlap";
}

/* The lab's base kernel, if it was timed. */
static const struct grade_kernel *time_base(const struct grade *grade)
{
    const char *name = grade->lab->kernels[grade->lab->time_base].name;
    for (size_t i = 0; i < grade->kernel_count; ++i)
        if (grade->kernels[i].time.known && strcmp(grade->kernels[i].name, name) == 0)
            return &grade->kernels[i];
    return NULL;
}

static void write_times(struct bytes *out, const struct grade *grade)
{
    const struct grade_kernel *base = time_base(grade);
    if (base == NULL)
        return;
    bytes_printf(out, "\nTimes are medians of %u interleaved rounds and cost no points:\n",
                 base->time.rounds);
    for (size_t i = 0; i < grade->kernel_count; ++i) {
        const struct grade_kernel *kernel = &grade->kernels[i];
        if (!kernel->time.known || kernel == base)
            continue;
        char room[500];
        struct bytes line = bytes_in(room, sizeof room);
        bytes_printf(&line, "%s takes %.2f times as long as %s (%s)", kernel->name,
                     kernel->time.median_ns / base->time.median_ns, base->name,
                     compare_times(&kernel->time, &base->time));
        wrap_text(out, 2, "", bytes_text(&line));
    }
}

static void write_direction(struct bytes *out, const char *kernel, const char *space,
                            const struct traffic_direction *traffic)
{
    const uint64_t numbers[] = {traffic->load.requests, traffic->load.sectors,
                                traffic->store.requests, traffic->store.sectors};
    bytes_printf(out, "%-17s %-11s", kernel, space);
    for (size_t i = 0; i < COUNT_OF(numbers); ++i) {
        char text[TEXT_NUMBER_BYTES];
        bytes_printf(out, " %11s", traffic->known ? text_number(numbers[i], text) : "-");
    }
    bytes_append_text(out, "\n");
}

static bool any_traffic(const struct traffic *traffic)
{
    return traffic->global.known || traffic->local_array.known || traffic->spill.known;
}

static void write_traffic(struct bytes *out, const struct grade *grade)
{
    bool first = true;
    for (size_t i = 0; i < grade->kernel_count; ++i) {
        const struct grade_kernel *kernel = &grade->kernels[i];
        if (!any_traffic(&kernel->traffic))
            continue;
        if (first)
            bytes_printf(out,
                         "\nMemory traffic of one launch, counted at the L1 cache:\n"
                         "%-17s %-11s %11s %11s %11s %11s\n",
                         "", "", "loads", "sectors", "stores", "sectors");
        first = false;
        write_direction(out, kernel->name, "global", &kernel->traffic.global);
        write_direction(out, "", "local array", &kernel->traffic.local_array);
        write_direction(out, "", "spill", &kernel->traffic.spill);
    }
}

/* ---- Marks ----------------------------------------------------------------------------------- */

static const char *status_label(enum mark_status status)
{
    static const char *const labels[] = {[MARK_PASSED] = "OK",
                                         [MARK_FAILED] = "FAIL",
                                         [MARK_SKIPPED] = "SKIP",
                                         [MARK_ERROR] = "ERROR"};
    return labels[status];
}

static const char *status_colour(enum mark_status status)
{
    static const char *const colours[] = {[MARK_PASSED] = "\033[32m",
                                          [MARK_FAILED] = "\033[31m",
                                          [MARK_SKIPPED] = "\033[33m",
                                          [MARK_ERROR] = "\033[35m"};
    return colours[status];
}

/* `brief`: of a mark that only waits for the build a line is enough, since that of the build says
 * all there is. */
static void write_mark(struct bytes *out, const struct grade *grade, const struct mark *mark,
                       bool colour, bool brief)
{
    const struct criterion *criterion = mark->criterion;
    brief = brief && mark->waits;
    bytes_printf(out, "%s%-5s%s %2d/%-2d  %s%s\n", colour ? status_colour(mark->status) : "",
                 status_label(mark->status), colour ? "\033[0m" : "", mark->points,
                 criterion->points, criterion->id, brief ? ", waits for the build" : "");
    if (mark->status == MARK_PASSED || brief)
        return;
    wrap_text(out, 6, "", criterion->title);
    if (mark->message[0] != '\0')
        wrap_text(out, 6, "seen:  ", mark->message);
    if (mark->line > 0)
        bytes_printf(out, "      where: %s:%u\n", grade->lab->source_name, mark->line);
    if (mark->status != MARK_FAILED)
        return;
    if (!mark->waits && criterion->why != NULL && criterion->why[0] != '\0')
        wrap_text(out, 6, "why:   ", criterion->why);
    if (mark->remedy[0] != '\0')
        wrap_text(out, 6, "try:   ", mark->remedy);
}

static void write_printed(struct bytes *out, const struct grade *grade)
{
    for (size_t i = 0; i < grade->kernel_count; ++i) {
        const struct grade_kernel *kernel = &grade->kernels[i];
        if (kernel->printed == NULL)
            continue;
        char room[600];
        struct bytes quoted = bytes_in(room, sizeof room);
        text_sanitize(&quoted, kernel->printed, strlen(kernel->printed), 400);
        bytes_printf(out, "\n%s printed (quoted; it has no say in the marks):\n", kernel->name);
        wrap_text(out, 2, "| ", bytes_text(&quoted));
    }
}

void out_text_write(struct bytes *out, const struct grade *grade,
                    const struct out_text_options *options)
{
    write_header(out, grade);
    write_kernels(out, grade);
    write_times(out, grade);
    if (options->verbose)
        write_traffic(out, grade);
    if (grade->compiler_words != NULL) {
        bytes_append_text(out, "\nThe compiler says:\n");
        for (const char *line = grade->compiler_words; *line != '\0';) {
            size_t length = strcspn(line, "\n");
            bytes_printf(out, "  | %.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
    bytes_append_text(out, "\n");
    for (size_t i = 0; i < grade->mark_count; ++i)
        if (options->only == NULL ||
            strncmp(grade->marks[i].criterion->id, options->only, strlen(options->only)) == 0)
            write_mark(out, grade, &grade->marks[i], options->colour, options->only == NULL);
    write_printed(out, grade);
    if (grade->note_count > 0)
        bytes_append_text(out, "\nNotes, without points:\n");
    for (size_t i = 0; i < grade->note_count; ++i)
        wrap_text(out, 2, "- ", grade->notes[i]);
    if (grade->pending > 0)
        bytes_printf(out, "\nScore: %d/%d (%d pending)\n", grade->score, grade->max_score,
                     grade->pending);
    else
        bytes_printf(out, "\nScore: %d/%d\n", grade->score, grade->max_score);
}

#include "merge.h"

#include "mark_words.h"
#include "text.h"

/* ---- May they be joined? --------------------------------------------------------------------- */

static int same_file(const char *name, const char *first, const char *second, struct error *err)
{
    if (strcmp(first, second) == 0)
        return 0;
    return error_set(err, ERROR_USAGE,
                     "they grade different work: %s is %.12s in the first and %.12s in the second",
                     name, first[0] == '\0' ? "missing" : first,
                     second[0] == '\0' ? "missing" : second);
}

static void list_archs(struct bytes *out, const struct grade *grade)
{
    char name[ARCH_NAME_BYTES];
    for (size_t i = 0; i < grade->graded_arch_count; ++i)
        bytes_printf(out, "%s%s", i == 0 ? "" : ",", arch_name(grade->archs[i], "sm_", name));
}

static int same_archs(const struct grade *first, const struct grade *second, struct error *err)
{
    struct bytes a = bytes_with_limit(1000), b = bytes_with_limit(1000);
    list_archs(&a, first);
    list_archs(&b, second);
    int status = 0;
    if (strcmp(bytes_text(&a), bytes_text(&b)) != 0)
        status = error_set(err, ERROR_USAGE,
                           "the first is graded for %s, the second for %s: grade the second again "
                           "with --arch %s",
                           bytes_text(&a), bytes_text(&b), bytes_text(&a));
    bytes_release(&a);
    bytes_release(&b);
    return status;
}

static int check(const struct grade *first, const struct grade *second, struct error *err)
{
    if (first->lab != second->lab)
        return error_set(err, ERROR_USAGE, "the first is of the lab %s, the second of %s",
                         first->lab->id, second->lab->id);
    if (first->source_id[0] == '\0' && second->source_id[0] == '\0')
        return error_set(err, ERROR_USAGE,
                         "neither says which bytes it graded (%s could not be read): grade both "
                         "again",
                         first->lab->source_name);
    if (same_file(first->lab->source_name, first->source_id, second->source_id, err) != 0 ||
        same_file("answers.ini", first->answers_id, second->answers_id, err) != 0 ||
        same_archs(first, second, err) != 0)
        return -1;
    if (first->executor != EXECUTOR_NONE && second->executor != EXECUTOR_NONE &&
        first->seed != second->seed)
        return error_set(err, ERROR_USAGE,
                         "the first ran on the inputs of seed %llu, the second on those of %llu: "
                         "grade the second again with --seed %llu",
                         (unsigned long long)first->seed, (unsigned long long)second->seed,
                         (unsigned long long)first->seed);
    return 0;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static int take_text(char **into, const char *from, struct error *err)
{
    if (*into != NULL || from == NULL)
        return 0;
    *into = strdup(from);
    return *into == NULL ? error_no_memory(err) : 0;
}

static void take_device(struct witnesses *into, const struct witnesses *from)
{
    if (into->device < 0)
        into->device = from->device;
}

static int take_run(struct grade_kernel *into, const struct grade_kernel *from, struct error *err)
{
    take_device(&into->registers_said, &from->registers_said);
    take_device(&into->stack_said, &from->stack_said);
    take_device(&into->spill_store_said, &from->spill_store_said);
    take_device(&into->spill_load_said, &from->spill_load_said);
    take_device(&into->shared_said, &from->shared_said);
    if (!into->time.known)
        into->time = from->time;
    if (!into->traffic.global.known)
        into->traffic.global = from->traffic.global;
    if (!into->traffic.local_array.known)
        into->traffic.local_array = from->traffic.local_array;
    if (!into->traffic.spill.known)
        into->traffic.spill = from->traffic.spill;
    if (into->ran || !from->ran)
        return 0;
    into->ran = true;
    into->compared = from->compared;
    into->mismatches = from->mismatches;
    into->has_first_mismatch = from->has_first_mismatch;
    into->first_index = from->first_index;
    into->expected_bits = from->expected_bits;
    into->got_bits = from->got_bits;
    into->fault_line = from->fault_line;
    return take_text(&into->fault, from->fault, err) != 0 ||
                   take_text(&into->printed, from->printed, err) != 0
               ? -1
               : 0;
}

static struct grade_kernel *find_kernel(struct grade *grade, const struct grade_kernel *like)
{
    for (size_t i = 0; i < grade->kernel_count; ++i)
        if (strcmp(grade->kernels[i].name, like->name) == 0 &&
            arch_equal(grade->kernels[i].arch, like->arch))
            return &grade->kernels[i];
    return NULL;
}

static int add_kernel(struct grade *grade, const struct grade_kernel *from, struct error *err)
{
    struct grade_kernel *grown =
        realloc(grade->kernels, (grade->kernel_count + 1) * sizeof grade->kernels[0]);
    if (grown == NULL)
        return error_no_memory(err);
    grade->kernels = grown;
    struct grade_kernel *row = &grown[grade->kernel_count++];
    *row = *from;
    row->fault = row->printed = NULL;
    return take_text(&row->fault, from->fault, err) != 0 ||
                   take_text(&row->printed, from->printed, err) != 0
               ? -1
               : 0;
}

/* Figures of two compilers do not go into one row. */
static int take_kernels(struct grade *into, const struct grade *from, struct error *err)
{
    bool same_compiler = strcmp(into->nvcc_version, from->nvcc_version) == 0;
    for (size_t i = 0; i < from->kernel_count; ++i) {
        struct grade_kernel *row = find_kernel(into, &from->kernels[i]);
        int status = 0;
        if (row == NULL)
            status = add_kernel(into, &from->kernels[i], err);
        else if (same_compiler)
            status = take_run(row, &from->kernels[i], err);
        if (status != 0)
            return -1;
    }
    return 0;
}

/* ---- Marks ----------------------------------------------------------------------------------- */

static void describe(struct bytes *out, const struct grade *grade)
{
    if (grade->executor == EXECUTOR_NONE)
        bytes_append_text(out, "a grade without a run");
    else
        bytes_printf(out, "a run on %s, seed %llu",
                     grade->device[0] == '\0' ? executor_word(grade->executor) : grade->device,
                     (unsigned long long)grade->seed);
    bytes_printf(out, ", nvcc %s", grade->nvcc_version);
}

static int take_mark(struct mark *into, const struct mark *from, struct error *err)
{
    char *message = strdup(from->message), *remedy = strdup(from->remedy);
    if (message == NULL || remedy == NULL) {
        free(message);
        free(remedy);
        return error_no_memory(err);
    }
    free(into->message);
    free(into->remedy);
    into->message = message;
    into->remedy = remedy;
    into->status = from->status;
    into->points = from->points;
    into->line = from->line;
    return 0;
}

static int take_marks(struct grade *into, const struct grade *from, struct bytes *taken,
                      struct error *err)
{
    for (size_t i = 0; i < into->mark_count; ++i) {
        struct mark *mark = &into->marks[i];
        const struct mark *other = &from->marks[i];
        if (mark_is_pending(other))
            continue;
        if (mark_is_pending(mark)) {
            bytes_printf(taken, "%s%s", taken->length == 0 ? "" : ", ", mark->criterion->id);
            if (take_mark(mark, other, err) != 0)
                return -1;
        } else if (mark->status != other->status &&
                   grade_add_note(
                       into, err,
                       "%s %s in the first grade and %s in the second; the first counts: "
                       "look at both",
                       mark->criterion->id, mark_status_word(mark->status),
                       mark_status_word(other->status)) != 0) {
            return -1;
        }
    }
    return 0;
}

static bool has_note(const struct grade *grade, const char *note)
{
    for (size_t i = 0; i < grade->note_count; ++i)
        if (strcmp(grade->notes[i], note) == 0)
            return true;
    return false;
}

static int take_notes(struct grade *into, const struct grade *from, struct error *err)
{
    for (size_t i = 0; i < from->note_count; ++i)
        if (!has_note(into, from->notes[i]) && grade_add_note(into, err, "%s", from->notes[i]) != 0)
            return -1;
    return 0;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Whose run the joined grade shows: of two, the first's; the words say which grade it came from. */
static void take_executor(struct grade *into, const struct grade *from, const char *second)
{
    char why[sizeof into->why];
    bool first_ran = into->executor != EXECUTOR_NONE, second_ran = from->executor != EXECUTOR_NONE;
    if (first_ran && second_ran)
        (void)snprintf(why, sizeof why, "%s; joined with %s", into->why, second);
    else if (first_ran)
        (void)snprintf(why, sizeof why, "%s, in the first grade; the second ran no kernel",
                       into->why);
    else if (second_ran)
        (void)snprintf(why, sizeof why, "%s, in the second grade; the first ran no kernel",
                       from->why);
    else
        (void)snprintf(why, sizeof why, "neither of the two grades ran a kernel");
    text_clean(why);
    memcpy(into->why, why, sizeof why);
    if (first_ran)
        return;
    into->executor = from->executor;
    into->seed = from->seed;
    memcpy(into->device, from->device, sizeof into->device);
}

int merge_grades(struct grade *into, const struct grade *from, struct error *err)
{
    if (check(into, from, err) != 0)
        return -1;
    struct bytes taken = bytes_with_limit(10000), second = bytes_with_limit(1000);
    describe(&second, from);
    int status = take_marks(into, from, &taken, err);
    if (status == 0 && taken.length > 0)
        status =
            grade_add_note(into, err, "taken from %s: %s", bytes_text(&second), bytes_text(&taken));
    else if (status == 0)
        status = grade_add_note(into, err,
                                "nothing was taken from %s: it judged no mark that was pending",
                                bytes_text(&second));
    if (status == 0)
        status = take_kernels(into, from, err);
    if (status == 0)
        status = take_notes(into, from, err);
    take_executor(into, from, bytes_text(&second));
    into->duration_ns += from->duration_ns;
    grade_add_up(into);
    bytes_release(&second);
    bytes_release(&taken);
    return status;
}

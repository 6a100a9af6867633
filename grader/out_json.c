#include "out_json.h"

#include <math.h>

#include "files.h"
#include "json_text.h"

/* jansson refuses invalid UTF-8 and returns NULL, which json_object_set_new() reports as a failure:
 * `bad` collects that, and one test at the end suffices. Every string here was made printable. */
struct builder {
    bool bad;
};

static void put(struct builder *builder, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        builder->bad = true;
}

static void push(struct builder *builder, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        builder->bad = true;
}

static json_t *text_or_null(const char *text)
{
    return text == NULL || text[0] == '\0' ? json_null() : json_string(text);
}

static json_t *number_or_null(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

/* JSON has no NaN and no infinity. */
static json_t *real_or_null(double value)
{
    return isfinite(value) && value >= 0 ? json_real(value) : json_null();
}

static json_t *arch_text(struct arch arch)
{
    char buffer[ARCH_NAME_BYTES];
    return json_string(arch_name(arch, "sm_", buffer));
}

static json_t *witnesses(struct builder *b, const struct witnesses *said)
{
    json_t *object = json_object();
    put(b, object, "ptxas", number_or_null(said->ptxas));
    put(b, object, "cubin", number_or_null(said->cubin));
    put(b, object, "device", number_or_null(said->device));
    return object;
}

static json_t *count(struct builder *b, const struct traffic_count *traffic)
{
    json_t *object = json_object();
    put(b, object, "requests", json_integer((json_int_t)traffic->requests));
    put(b, object, "sectors", json_integer((json_int_t)traffic->sectors));
    return object;
}

static json_t *direction(struct builder *b, const struct traffic_direction *traffic)
{
    if (!traffic->known)
        return json_null();
    json_t *object = json_object();
    put(b, object, "load", count(b, &traffic->load));
    put(b, object, "store", count(b, &traffic->store));
    return object;
}

static json_t *first_mismatch(struct builder *b, const struct grade_kernel *kernel)
{
    if (!kernel->has_first_mismatch)
        return json_null();
    char expected[16], got[16];
    (void)snprintf(expected, sizeof expected, "0x%08x", kernel->expected_bits);
    (void)snprintf(got, sizeof got, "0x%08x", kernel->got_bits);
    json_t *object = json_object();
    put(b, object, "index", json_integer((json_int_t)kernel->first_index));
    put(b, object, "expected_bits", json_string(expected));
    put(b, object, "got_bits", json_string(got));
    return object;
}

static json_t *fault(struct builder *b, const struct grade_kernel *kernel)
{
    if (kernel->fault == NULL)
        return json_null();
    json_t *object = json_object();
    put(b, object, "text", json_string(kernel->fault));
    put(b, object, "line", kernel->fault_line > 0 ? json_integer(kernel->fault_line) : json_null());
    return object;
}

static json_t *timing(struct builder *b, const struct run_timing *time)
{
    if (!time->known)
        return json_null();
    json_t *object = json_object();
    put(b, object, "median", real_or_null(time->median_ns));
    put(b, object, "q1", real_or_null(time->q1_ns));
    put(b, object, "q3", real_or_null(time->q3_ns));
    put(b, object, "rounds", json_integer(time->rounds));
    return object;
}

static json_t *known_number(const struct grade_kernel *kernel, int64_t value)
{
    return kernel->known ? number_or_null(value) : json_null();
}

static json_t *one_kernel(struct builder *b, const struct grade_kernel *kernel)
{
    json_t *object = json_object();
    put(b, object, "name", json_string(kernel->name));
    put(b, object, "arch", arch_text(kernel->arch));
    put(b, object, "problem", kernel->known ? json_null() : text_or_null(kernel->problem));
    put(b, object, "registers", known_number(kernel, kernel->registers));
    put(b, object, "stack_bytes", known_number(kernel, kernel->stack_bytes));
    put(b, object, "spill_store_bytes", known_number(kernel, kernel->spill_store_bytes));
    put(b, object, "spill_load_bytes", known_number(kernel, kernel->spill_load_bytes));
    put(b, object, "shared_bytes", known_number(kernel, kernel->shared_bytes));
    put(b, object, "barriers", known_number(kernel, kernel->barriers));
    put(b, object, "max_threads_per_block", number_or_null(kernel->max_threads_per_block));
    put(b, object, "blocks_per_sm", number_or_null(kernel->blocks_per_sm));
    put(b, object, "occupancy_percent", real_or_null(kernel->occupancy_percent));
    json_t *said = kernel->known ? json_object() : json_null();
    if (kernel->known) {
        put(b, said, "registers", witnesses(b, &kernel->registers_said));
        put(b, said, "stack_bytes", witnesses(b, &kernel->stack_said));
        put(b, said, "spill_store_bytes", witnesses(b, &kernel->spill_store_said));
        put(b, said, "spill_load_bytes", witnesses(b, &kernel->spill_load_said));
        put(b, said, "shared_bytes", witnesses(b, &kernel->shared_said));
    }
    put(b, object, "witnesses", said);
    put(b, object, "compared",
        kernel->ran ? json_integer((json_int_t)kernel->compared) : json_null());
    put(b, object, "mismatches",
        kernel->ran ? json_integer((json_int_t)kernel->mismatches) : json_null());
    put(b, object, "first_mismatch", first_mismatch(b, kernel));
    put(b, object, "fault", fault(b, kernel));
    json_t *traffic = json_object();
    put(b, traffic, "global", direction(b, &kernel->traffic.global));
    put(b, traffic, "local_array", direction(b, &kernel->traffic.local_array));
    put(b, traffic, "spill", direction(b, &kernel->traffic.spill));
    put(b, object, "traffic", traffic);
    put(b, object, "time_ns", timing(b, &kernel->time));
    put(b, object, "printed", text_or_null(kernel->printed));
    return object;
}

static json_t *one_mark(struct builder *b, const struct mark *mark)
{
    json_t *object = json_object();
    put(b, object, "id", json_string(mark->criterion->id));
    put(b, object, "title", json_string(mark->criterion->title));
    put(b, object, "status", json_string(mark_status_word(mark->status)));
    put(b, object, "points", json_integer(mark->points));
    put(b, object, "max_points", json_integer(mark->criterion->points));
    put(b, object, "message", json_string(mark->message));
    bool passed = mark->status == MARK_PASSED;
    put(b, object, "why", passed ? json_null() : text_or_null(mark->criterion->why));
    put(b, object, "hint", passed ? json_null() : text_or_null(mark->criterion->try_next));
    put(b, object, "line", mark->line > 0 ? json_integer(mark->line) : json_null());
    return object;
}

static json_t *submission(struct builder *b, const struct grade *grade)
{
    json_t *object = json_object();
    put(b, object, "kind", json_string(grade->from_git ? "git" : "directory"));
    put(b, object, "path", text_or_null(grade->path));
    put(b, object, "source", text_or_null(grade->source_path));
    put(b, object, "answers", text_or_null(grade->answers_path));
    put(b, object, "commit", text_or_null(grade->commit));
    put(b, object, "chosen", text_or_null(grade->chosen));
    return object;
}

static json_t *sandbox_text(void (*say)(const struct sandbox *, struct bytes *),
                            const struct sandbox *sandbox)
{
    struct bytes words = bytes_with_limit(2000);
    say(sandbox, &words);
    json_t *text = text_or_null(bytes_text(&words));
    bytes_release(&words);
    return text;
}

static json_t *sandbox(struct builder *b, const struct sandbox *sandbox)
{
    json_t *object = json_object();
    put(b, object, "level", json_string(sandbox_word(sandbox)));
    put(b, object, "why", text_or_null(sandbox->trouble));
    put(b, object, "lost", sandbox_text(sandbox_lost, sandbox));
    put(b, object, "remedy", sandbox_text(sandbox_remedy, sandbox));
    return object;
}

static json_t *whole(struct builder *b, const struct grade *grade)
{
    json_t *root = json_object();
    put(b, root, "schema", json_string("spillway/result/v1"));
    put(b, root, "lab", json_string(grade->lab->id));
    put(b, root, "submission", submission(b, grade));
    json_t *toolchain = json_object(), *archs = json_array();
    for (size_t i = 0; i < grade->graded_arch_count; ++i)
        push(b, archs, arch_text(grade->archs[i]));
    put(b, toolchain, "nvcc", json_string(grade->nvcc_version));
    put(b, toolchain, "archs", archs);
    put(b, root, "toolchain", toolchain);
    json_t *executor = json_object();
    put(b, executor, "kind", json_string(executor_word(grade->executor)));
    put(b, executor, "device", text_or_null(grade->device));
    put(b, executor, "why", json_string(grade->why));
    put(b, root, "executor", executor);
    put(b, root, "sandbox", sandbox(b, &grade->sandbox));
    put(b, root, "seed", json_integer((json_int_t)grade->seed));
    json_t *kernels = json_array(), *marks = json_array(), *notes = json_array();
    for (size_t i = 0; i < grade->kernel_count; ++i)
        push(b, kernels, one_kernel(b, &grade->kernels[i]));
    for (size_t i = 0; i < grade->mark_count; ++i)
        push(b, marks, one_mark(b, &grade->marks[i]));
    for (size_t i = 0; i < grade->note_count; ++i)
        push(b, notes, json_string(grade->notes[i]));
    put(b, root, "kernels", kernels);
    put(b, root, "marks", marks);
    put(b, root, "notes", notes);
    put(b, root, "compiler_words", text_or_null(grade->compiler_words));
    put(b, root, "score", json_integer(grade->score));
    put(b, root, "pending", json_integer(grade->pending));
    put(b, root, "max_score", json_integer(grade->max_score));
    put(b, root, "duration_ns", json_integer(grade->duration_ns));
    return root;
}

int out_json_write(const struct grade *grade, const char *path, struct error *err)
{
    struct builder builder = {0};
    json_t *root = whole(&builder, grade);
    if (builder.bad) {
        json_decref(root);
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot write the grade as JSON");
    }
    struct bytes document = bytes_with_limit((size_t)64 << 20);
    int status = json_text_append(&document, root, 0, err);
    if (status == 0)
        status = file_write(path, document.data, document.length, err);
    bytes_release(&document);
    return status;
}

#include "out_json.h"

#include "files.h"
#include "json_build.h"

static json_t *arch_text(struct arch arch)
{
    char buffer[ARCH_NAME_BYTES];
    return json_text(arch_name(arch, "sm_", buffer));
}

static json_t *witnesses(struct json_builder *b, const struct witnesses *said)
{
    json_t *object = json_object();
    json_put(b, object, "ptxas", json_number_or_null(said->ptxas));
    json_put(b, object, "cubin", json_number_or_null(said->cubin));
    json_put(b, object, "device", json_number_or_null(said->device));
    return object;
}

static json_t *count(struct json_builder *b, const struct traffic_count *traffic)
{
    json_t *object = json_object();
    json_put(b, object, "requests", json_integer((json_int_t)traffic->requests));
    json_put(b, object, "sectors", json_integer((json_int_t)traffic->sectors));
    return object;
}

static json_t *direction(struct json_builder *b, const struct traffic_direction *traffic)
{
    if (!traffic->known)
        return json_null();
    json_t *object = json_object();
    json_put(b, object, "load", count(b, &traffic->load));
    json_put(b, object, "store", count(b, &traffic->store));
    return object;
}

static json_t *first_mismatch(struct json_builder *b, const struct grade_kernel *kernel)
{
    if (!kernel->has_first_mismatch)
        return json_null();
    char expected[16], got[16];
    (void)snprintf(expected, sizeof expected, "0x%08x", kernel->expected_bits);
    (void)snprintf(got, sizeof got, "0x%08x", kernel->got_bits);
    json_t *object = json_object();
    json_put(b, object, "index", json_integer((json_int_t)kernel->first_index));
    json_put(b, object, "expected_bits", json_text(expected));
    json_put(b, object, "got_bits", json_text(got));
    return object;
}

static json_t *fault(struct json_builder *b, const struct grade_kernel *kernel)
{
    if (kernel->fault == NULL)
        return json_null();
    json_t *object = json_object();
    json_put(b, object, "text", json_text(kernel->fault));
    json_put(b, object, "line",
             kernel->fault_line > 0 ? json_integer(kernel->fault_line) : json_null());
    return object;
}

static json_t *timing(struct json_builder *b, const struct run_timing *time)
{
    if (!time->known)
        return json_null();
    json_t *object = json_object();
    json_put(b, object, "median", json_real_or_null(time->median_ns));
    json_put(b, object, "q1", json_real_or_null(time->q1_ns));
    json_put(b, object, "q3", json_real_or_null(time->q3_ns));
    json_put(b, object, "rounds", json_integer(time->rounds));
    return object;
}

static json_t *known_number(const struct grade_kernel *kernel, int64_t value)
{
    return kernel->known ? json_number_or_null(value) : json_null();
}

static json_t *one_kernel(struct json_builder *b, const struct grade_kernel *kernel)
{
    json_t *object = json_object();
    json_put(b, object, "name", json_text(kernel->name));
    json_put(b, object, "arch", arch_text(kernel->arch));
    json_put(b, object, "problem",
             kernel->known ? json_null() : json_text_or_null(kernel->problem));
    json_put(b, object, "registers", known_number(kernel, kernel->registers));
    json_put(b, object, "stack_bytes", known_number(kernel, kernel->stack_bytes));
    json_put(b, object, "spill_store_bytes", known_number(kernel, kernel->spill_store_bytes));
    json_put(b, object, "spill_load_bytes", known_number(kernel, kernel->spill_load_bytes));
    json_put(b, object, "shared_bytes", known_number(kernel, kernel->shared_bytes));
    json_put(b, object, "barriers", known_number(kernel, kernel->barriers));
    json_put(b, object, "max_threads_per_block",
             json_number_or_null(kernel->max_threads_per_block));
    json_put(b, object, "blocks_per_sm", json_number_or_null(kernel->blocks_per_sm));
    json_put(b, object, "occupancy_percent", json_real_or_null(kernel->occupancy_percent));
    json_t *said = kernel->known ? json_object() : json_null();
    if (kernel->known) {
        json_put(b, said, "registers", witnesses(b, &kernel->registers_said));
        json_put(b, said, "stack_bytes", witnesses(b, &kernel->stack_said));
        json_put(b, said, "spill_store_bytes", witnesses(b, &kernel->spill_store_said));
        json_put(b, said, "spill_load_bytes", witnesses(b, &kernel->spill_load_said));
        json_put(b, said, "shared_bytes", witnesses(b, &kernel->shared_said));
    }
    json_put(b, object, "witnesses", said);
    json_put(b, object, "compared",
             kernel->ran ? json_integer((json_int_t)kernel->compared) : json_null());
    json_put(b, object, "mismatches",
             kernel->ran ? json_integer((json_int_t)kernel->mismatches) : json_null());
    json_put(b, object, "first_mismatch", first_mismatch(b, kernel));
    json_put(b, object, "fault", fault(b, kernel));
    json_t *traffic = json_object();
    json_put(b, traffic, "global", direction(b, &kernel->traffic.global));
    json_put(b, traffic, "local_array", direction(b, &kernel->traffic.local_array));
    json_put(b, traffic, "spill", direction(b, &kernel->traffic.spill));
    json_put(b, object, "traffic", traffic);
    json_put(b, object, "time_ns", timing(b, &kernel->time));
    json_put(b, object, "printed", json_text_or_null(kernel->printed));
    return object;
}

static json_t *one_mark(struct json_builder *b, const struct mark *mark)
{
    json_t *object = json_object();
    json_put(b, object, "id", json_text(mark->criterion->id));
    json_put(b, object, "title", json_text(mark->criterion->title));
    json_put(b, object, "status", json_text(mark_status_word(mark->status)));
    json_put(b, object, "points", json_integer(mark->points));
    json_put(b, object, "max_points", json_integer(mark->criterion->points));
    json_put(b, object, "message", json_text(mark->message));
    bool passed = mark->status == MARK_PASSED;
    json_put(b, object, "why", passed ? json_null() : json_text_or_null(mark->criterion->why));
    json_put(b, object, "hint",
             json_text_or_null(passed || mark->remedy[0] != '\0' ? mark->remedy
                                                                 : mark->criterion->try_next));
    json_put(b, object, "line", mark->line > 0 ? json_integer(mark->line) : json_null());
    return object;
}

static json_t *submission(struct json_builder *b, const struct grade *grade)
{
    json_t *object = json_object();
    json_put(b, object, "kind", json_text(grade->from_git ? "git" : "directory"));
    json_put(b, object, "path", json_text_or_null(grade->path));
    json_put(b, object, "source", json_text_or_null(grade->source_path));
    json_put(b, object, "answers", json_text_or_null(grade->answers_path));
    json_put(b, object, "commit", json_text_or_null(grade->commit));
    json_put(b, object, "chosen", json_text_or_null(grade->chosen));
    json_put(b, object, "source_id", json_text_or_null(grade->source_id));
    json_put(b, object, "answers_id", json_text_or_null(grade->answers_id));
    return object;
}

static json_t *sandbox_text(void (*say)(const struct sandbox *, struct bytes *),
                            const struct sandbox *sandbox)
{
    char room[2000];
    struct bytes words = bytes_in(room, sizeof room);
    say(sandbox, &words);
    json_t *text = json_text_or_null(bytes_text(&words));
    return text;
}

static json_t *sandbox(struct json_builder *b, const struct sandbox *sandbox)
{
    json_t *object = json_object();
    json_put(b, object, "level", json_text(sandbox_word(sandbox)));
    json_put(b, object, "why", json_text_or_null(sandbox->trouble));
    json_put(b, object, "lost", sandbox_text(sandbox_lost, sandbox));
    json_put(b, object, "remedy", sandbox_text(sandbox_remedy, sandbox));
    json_put(b, object, "mode", json_text(sandbox_mode_word(sandbox->mode)));
    json_put(b, object, "bubblewrap", json_text_or_null(sandbox->bubblewrap));
    json_put(b, object, "landlock_abi", json_integer(sandbox->landlock_abi));
    json_put(b, object, "seccomp", json_boolean(sandbox->seccomp));
    return object;
}

static json_t *whole(struct json_builder *b, const struct grade *grade)
{
    json_t *root = json_object();
    json_put(b, root, "schema", json_text("spillway/result/v1"));
    json_put(b, root, "lab", json_text(grade->lab->id));
    json_put(b, root, "submission", submission(b, grade));
    json_t *toolchain = json_object(), *archs = json_array();
    for (size_t i = 0; i < grade->graded_arch_count; ++i)
        json_push(b, archs, arch_text(grade->archs[i]));
    json_put(b, toolchain, "nvcc", json_text(grade->nvcc_version));
    json_put(b, toolchain, "archs", archs);
    json_put(b, toolchain, "declared_arch",
             grade->declared_arch.number != 0 ? arch_text(grade->declared_arch) : json_null());
    json_put(b, toolchain, "path", json_text_or_null(grade->nvcc_path));
    json_put(b, toolchain, "found", json_text_or_null(grade->nvcc_found));
    json_put(b, root, "toolchain", toolchain);
    json_t *executor = json_object();
    json_put(b, executor, "kind", json_text(executor_word(grade->executor)));
    json_put(b, executor, "device", json_text_or_null(grade->device));
    json_put(b, executor, "why", json_text(grade->why));
    json_put(b, root, "executor", executor);
    json_put(b, root, "sandbox", sandbox(b, &grade->sandbox));
    json_put(b, root, "seed", json_integer((json_int_t)grade->seed));
    json_t *kernels = json_array(), *marks = json_array(), *notes = json_array();
    for (size_t i = 0; i < grade->kernel_count; ++i)
        json_push(b, kernels, one_kernel(b, &grade->kernels[i]));
    for (size_t i = 0; i < grade->mark_count; ++i)
        json_push(b, marks, one_mark(b, &grade->marks[i]));
    for (size_t i = 0; i < grade->note_count; ++i)
        json_push(b, notes, json_text(grade->notes[i]));
    json_put(b, root, "kernels", kernels);
    json_put(b, root, "marks", marks);
    json_put(b, root, "notes", notes);
    json_put(b, root, "compiler_words", json_text_or_null(grade->compiler_words));
    json_put(b, root, "score", json_integer(grade->score));
    json_put(b, root, "pending", json_integer(grade->pending));
    json_put(b, root, "max_score", json_integer(grade->max_score));
    json_put(b, root, "duration_ns", json_integer(grade->duration_ns));
    return root;
}

int out_json_text(struct bytes *out, const struct grade *grade, struct error *err)
{
    struct json_builder builder = {0};
    json_t *root = whole(&builder, grade);
    return json_finish(&builder, out, root, err);
}

int out_json_write(const struct grade *grade, const char *path, struct error *err)
{
    struct bytes document = bytes_with_limit((size_t)64 << 20);
    int status = out_json_text(&document, grade, err);
    if (status == 0)
        status = file_write(path, document.data, document.length, err);
    bytes_release(&document);
    return status;
}

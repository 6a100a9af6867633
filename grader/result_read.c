#include "result_read.h"

#include "caps.h"
#include "result_internal.h"
#include "text.h"

/* ---- Marks ----------------------------------------------------------------------------------- */

static const json_t *find_mark(const json_t *array, const char *id)
{
    for (size_t i = 0; i < json_array_size(array); ++i) {
        const json_t *mark = json_array_get(array, i);
        const char *text = json_string_value(json_object_get(mark, "id"));
        if (text != NULL && strcmp(text, id) == 0)
            return mark;
    }
    return NULL;
}

static void read_mark(const struct result_reader *reader, const json_t *array, struct mark *mark)
{
    static const char *const words[] = {[MARK_PASSED] = "passed",
                                        [MARK_FAILED] = "failed",
                                        [MARK_SKIPPED] = "skipped",
                                        [MARK_ERROR] = "error"};
    const struct criterion *criterion = mark->criterion;
    const json_t *object = find_mark(array, criterion->id);
    int64_t points = -1, most = -1, line = 0;
    if (object == NULL) {
        error_set(reader->err, ERROR_USAGE, "there is no mark %s: another rubric judged it",
                  criterion->id);
        return;
    }
    int status = result_take_choice(reader, object, "status", words, COUNT_OF(words));
    (void)result_take_integer(reader, object, "points", 0, INT32_MAX, &points);
    (void)result_take_integer(reader, object, "max_points", 0, INT32_MAX, &most);
    (void)result_take_integer(reader, object, "line", 0, INT32_MAX, &line);
    const char *message = result_take_words(reader, object, "message");
    mark->message = result_copy(reader, message == NULL ? "" : message, LIMIT_MESSAGE_BYTES);
    mark->status = (enum mark_status)status;
    const char *hint = json_string_value(json_object_get(object, "hint"));
    bool has_hint = hint != NULL && mark->status == MARK_FAILED;
    mark->remedy = result_copy(reader, has_hint ? hint : "", LIMIT_MESSAGE_BYTES);
    if (result_failed(reader))
        return;
    mark->points = mark->status == MARK_PASSED ? criterion->points : 0;
    mark->line = (unsigned)line;
    if (points != mark->points || most != criterion->points)
        error_set(reader->err, ERROR_USAGE,
                  "mark %s has %lld of %lld points, where the lab gives %d of %d", criterion->id,
                  (long long)points, (long long)most, mark->points, criterion->points);
}

static void check_sum(const struct result_reader *reader, const json_t *root, const char *key,
                      int sum)
{
    int64_t said = -1;
    (void)result_take_integer(reader, root, key, 0, INT32_MAX, &said);
    if (!result_failed(reader) && said != sum)
        error_set(reader->err, ERROR_USAGE, "%s is %lld, but the marks add up to %d", key,
                  (long long)said, sum);
}

static void read_marks(struct result_reader *reader, const json_t *root, struct grade *grade)
{
    const struct lab *lab = grade->lab;
    const json_t *array = json_object_get(root, "marks");
    reader->where = "marks";
    if (json_array_size(array) != lab->criterion_count) {
        error_set(reader->err, ERROR_USAGE, "%zu marks, where %s has %zu: another rubric judged it",
                  json_array_size(array), lab->id, lab->criterion_count);
        return;
    }
    grade->marks = calloc(lab->criterion_count, sizeof grade->marks[0]);
    if (grade->marks == NULL) {
        error_no_memory(reader->err);
        return;
    }
    for (size_t i = 0; i < lab->criterion_count && !result_failed(reader); ++i) {
        grade->marks[grade->mark_count].criterion = &lab->criteria[i];
        read_mark(reader, array, &grade->marks[grade->mark_count++]);
    }
    grade_add_up(grade);
    reader->where = "";
    check_sum(reader, root, "score", grade->score);
    check_sum(reader, root, "pending", grade->pending);
    check_sum(reader, root, "max_score", grade->max_score);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void read_submission(struct result_reader *reader, const json_t *root, struct grade *grade)
{
    static const char *const kinds[] = {"directory", "git"};
    const json_t *object = json_object_get(root, "submission");
    reader->where = "submission";
    grade->from_git = result_take_choice(reader, object, "kind", kinds, COUNT_OF(kinds)) == 1;
    result_take_text(reader, object, "path", LIMIT_RESULT_PATH_BYTES, &grade->path);
    result_take_text(reader, object, "source", LIMIT_RESULT_PATH_BYTES, &grade->source_path);
    result_take_text(reader, object, "answers", LIMIT_RESULT_PATH_BYTES, &grade->answers_path);
    result_take_array(reader, object, "commit", grade->commit, sizeof grade->commit);
    result_take_array(reader, object, "chosen", grade->chosen, sizeof grade->chosen);
    result_take_array(reader, object, "source_id", grade->source_id, sizeof grade->source_id);
    result_take_array(reader, object, "answers_id", grade->answers_id, sizeof grade->answers_id);
    if (!result_failed(reader) && grade->source_path == NULL)
        result_complain(reader, "source", "there");
}

static void read_toolchain(struct result_reader *reader, const json_t *root, struct grade *grade)
{
    const json_t *object = json_object_get(root, "toolchain");
    const json_t *archs = json_object_get(object, "archs");
    size_t count = json_array_size(archs);
    reader->where = "toolchain";
    result_take_array(reader, object, "nvcc", grade->nvcc_version, sizeof grade->nvcc_version);
    result_take_array(reader, object, "path", grade->nvcc_path, sizeof grade->nvcc_path);
    result_take_array(reader, object, "found", grade->nvcc_found, sizeof grade->nvcc_found);
    result_take_arch(reader, "declared_arch", json_object_get(object, "declared_arch"),
                     &grade->declared_arch);
    if (count == 0 || count > LIMIT_RESULT_ARCHS) {
        result_complain(reader, "archs", "a list of one to some architectures");
        return;
    }
    grade->archs = calloc(count, sizeof grade->archs[0]);
    if (grade->archs == NULL) {
        error_no_memory(reader->err);
        return;
    }
    grade->arch_count = grade->graded_arch_count = count;
    for (size_t i = 0; i < count; ++i)
        result_take_arch(reader, "archs", json_array_get(archs, i), &grade->archs[i]);
}

static void read_executor(struct result_reader *reader, const json_t *root, struct grade *grade)
{
    const char *words[3];
    static const enum executor_kind kinds[] = {EXECUTOR_NONE, EXECUTOR_EMULATOR, EXECUTOR_GPU};
    for (size_t i = 0; i < COUNT_OF(kinds); ++i)
        words[i] = executor_word(kinds[i]);
    const json_t *object = json_object_get(root, "executor");
    reader->where = "executor";
    int kind = result_take_choice(reader, object, "kind", words, COUNT_OF(words));
    grade->executor = kind < 0 ? EXECUTOR_NONE : kinds[kind];
    result_take_array(reader, object, "device", grade->device, sizeof grade->device);
    result_take_array(reader, object, "why", grade->why, sizeof grade->why);
}

static void read_sandbox(struct result_reader *reader, const json_t *root, struct grade *grade)
{
    static const char *const levels[] = {"limits", "landlock", "seccomp", "bubblewrap"};
    static const enum sandbox_level kinds[] = {SANDBOX_LIMITS, SANDBOX_KERNEL, SANDBOX_KERNEL,
                                               SANDBOX_BUBBLEWRAP};
    struct sandbox *sandbox = &grade->sandbox;
    const json_t *object = json_object_get(root, "sandbox");
    int64_t abi = 0;
    reader->where = "sandbox";
    int level = result_take_choice(reader, object, "level", levels, COUNT_OF(levels));
    sandbox->level = level < 0 ? SANDBOX_LIMITS : kinds[level];
    const char *mode = result_take_words(reader, object, "mode");
    if (mode != NULL && !sandbox_parse_mode(mode, &sandbox->mode))
        result_complain(reader, "mode", "auto, on or off");
    result_take_array(reader, object, "why", sandbox->trouble, sizeof sandbox->trouble);
    result_take_array(reader, object, "bubblewrap", sandbox->bubblewrap,
                      sizeof sandbox->bubblewrap);
    (void)result_take_integer(reader, object, "landlock_abi", 0, 1000, &abi);
    sandbox->landlock_abi = (unsigned)abi;
    sandbox->seccomp = json_is_true(json_object_get(object, "seccomp"));
}

static void read_notes(struct result_reader *reader, const json_t *root, struct grade *grade)
{
    const json_t *array = json_object_get(root, "notes");
    reader->where = "";
    if (json_array_size(array) > LIMIT_RESULT_NOTES)
        result_complain(reader, "notes", "a list of so few notes as a grade can have");
    for (size_t i = 0; i < json_array_size(array) && !result_failed(reader); ++i) {
        const char *text = json_string_value(json_array_get(array, i));
        if (text == NULL)
            result_complain(reader, "notes", "a list of texts");
        else
            (void)grade_add_note(grade, reader->err, "%.*s", LIMIT_MESSAGE_BYTES, text);
    }
}

static void read_whole(struct result_reader *reader, const json_t *root, const struct lab *wanted,
                       struct grade *grade)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const char *lab = json_string_value(json_object_get(root, "lab"));
    int64_t seed = 0;
    if (schema == NULL || strcmp(schema, "spillway/result/v1") != 0) {
        error_set(reader->err, ERROR_USAGE,
                  "it is no grade that `spillway grade --json` wrote (schema spillway/result/v1)");
        return;
    }
    if (lab != NULL && wanted != NULL && strcmp(wanted->id, lab) == 0)
        grade->lab = wanted;
    else if (lab != NULL && wanted == NULL)
        grade->lab = lab_find(lab);
    if (grade->lab == NULL) {
        char name[80];
        error_set(reader->err, ERROR_USAGE, "it is for the lab \"%s\", which there is not",
                  text_copy(name, sizeof name, lab == NULL ? "" : lab));
        return;
    }
    read_submission(reader, root, grade);
    read_toolchain(reader, root, grade);
    read_executor(reader, root, grade);
    read_sandbox(reader, root, grade);
    reader->where = "";
    (void)result_take_integer(reader, root, "seed", 0, INT64_MAX, &seed);
    grade->seed = (uint64_t)seed;
    (void)result_take_integer(reader, root, "duration_ns", 0, INT64_MAX, &grade->duration_ns);
    result_take_text(reader, root, "compiler_words", LIMIT_COMPILER_OUTPUT_BYTES,
                     &grade->compiler_words);
    read_notes(reader, root, grade);
    if (!result_failed(reader))
        result_read_kernels(reader, root, grade);
    if (!result_failed(reader))
        read_marks(reader, root, grade);
}

int result_read(struct grade *ret, const char *text, size_t length, const struct lab *lab,
                struct error *err)
{
    *ret = (struct grade){0};
    json_error_t trouble;
    struct result_reader reader = {.err = err, .where = ""};
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &trouble);
    if (root == NULL) {
        char words[JSON_ERROR_TEXT_LENGTH];
        return error_set(err, ERROR_USAGE, "line %d: %s", trouble.line,
                         text_copy(words, sizeof words, trouble.text));
    }
    read_whole(&reader, root, lab, ret);
    json_decref(root);
    if (!result_failed(&reader))
        return 0;
    grade_release(ret);
    return -1;
}

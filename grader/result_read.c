#include "result_read.h"

#include <jansson.h>
#include <math.h>

#include "caps.h"
#include "number.h"
#include "text.h"

/* ---- One value ------------------------------------------------------------------------------- */

/* Which object is being read, for messages, and whether anything was wrong: each take_…() below
 * leaves its target alone then. Absent and null are one thing. */
struct reader {
    struct error *err;
    const char *where; /* "marks", "kernels" … */
};

static void complain(const struct reader *reader, const char *key, const char *expected)
{
    error_set(reader->err, ERROR_USAGE, "%s%s%s is not %s", reader->where,
              reader->where[0] == '\0' ? "" : ".", key, expected);
}

static bool is_absent(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

/* False when there is none; then nothing is said, and the caller decides. */
static bool take_integer(const struct reader *reader, const json_t *object, const char *key,
                         int64_t least, int64_t most, int64_t *ret)
{
    const json_t *value = json_object_get(object, key);
    if (is_absent(value))
        return false;
    if (!json_is_integer(value) || json_integer_value(value) < least ||
        json_integer_value(value) > most) {
        complain(reader, key, "a whole number of the size that it can have");
        return false;
    }
    *ret = json_integer_value(value);
    return true;
}

static void take_number(const struct reader *reader, const json_t *object, const char *key,
                        double *ret)
{
    const json_t *value = json_object_get(object, key);
    if (is_absent(value))
        return;
    if (!json_is_number(value) || !isfinite(json_number_value(value)) ||
        json_number_value(value) < 0)
        complain(reader, key, "a number");
    else
        *ret = json_number_value(value);
}

/* Borrowed; NULL when absent. */
static const char *take_words(const struct reader *reader, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (is_absent(value))
        return NULL;
    if (!json_is_string(value)) {
        complain(reader, key, "a text");
        return NULL;
    }
    return json_string_value(value);
}

static void take_array(const struct reader *reader, const json_t *object, const char *key,
                       char *into, size_t size)
{
    const char *text = take_words(reader, object, key);
    if (text != NULL)
        (void)text_copy(into, size, text);
}

/* An owned printable copy of at most `most` bytes, with its lines. */
static char *copy_of(const struct reader *reader, const char *text, size_t most)
{
    struct bytes copy = bytes_with_limit(most + 8);
    text_sanitize_lines(&copy, text, strlen(text), most);
    bytes_append_text(&copy, ""); /* an empty text is one, too */
    char *taken = bytes_take(&copy);
    bytes_release(&copy);
    if (taken == NULL)
        error_no_memory(reader->err);
    return taken;
}

static void take_text(const struct reader *reader, const json_t *object, const char *key,
                      size_t most, char **ret)
{
    const char *text = take_words(reader, object, key);
    if (text != NULL)
        *ret = copy_of(reader, text, most);
}

static void take_arch(const struct reader *reader, const char *key, const json_t *value,
                      struct arch *ret)
{
    if (!is_absent(value) && (!json_is_string(value) || !arch_parse(json_string_value(value), ret)))
        complain(reader, key, "an architecture like sm_75");
}

static void take_bits(const struct reader *reader, const json_t *object, const char *key,
                      uint32_t *ret)
{
    const char *text = take_words(reader, object, key);
    uint64_t number = 0;
    if (text != NULL && !number_parse_u64(text, UINT32_MAX, &number))
        complain(reader, key, "the bits of a number, like 0x3f800000");
    *ret = (uint32_t)number;
}

/* Index of the word that `name(i)` gives, i < count; -1 with a complaint. */
static int take_choice(const struct reader *reader, const json_t *object, const char *key,
                       const char *const *words, size_t count)
{
    const char *word = take_words(reader, object, key);
    for (size_t i = 0; word != NULL && i < count; ++i)
        if (strcmp(word, words[i]) == 0)
            return (int)i;
    complain(reader, key, "one of the words that it can be");
    return -1;
}

static bool failed(const struct reader *reader)
{
    return reader->err->kind != ERROR_NONE;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static void read_witnesses(const struct reader *reader, const json_t *all, const char *key,
                           struct witnesses *ret)
{
    const json_t *said = json_object_get(all, key);
    *ret = (struct witnesses){FACT_UNKNOWN, FACT_UNKNOWN, FACT_UNKNOWN};
    (void)take_integer(reader, said, "ptxas", 0, INT32_MAX, &ret->ptxas);
    (void)take_integer(reader, said, "cubin", 0, INT32_MAX, &ret->cubin);
    (void)take_integer(reader, said, "device", 0, INT32_MAX, &ret->device);
}

static void read_count(const struct reader *reader, const json_t *object, uint64_t *ret,
                       const char *key)
{
    int64_t number = 0;
    (void)take_integer(reader, object, key, 0, INT64_MAX, &number);
    *ret = (uint64_t)number;
}

static void read_direction(const struct reader *reader, const json_t *traffic, const char *key,
                           struct traffic_direction *ret)
{
    const json_t *object = json_object_get(traffic, key);
    ret->known = json_is_object(object);
    struct traffic_count *const counts[] = {&ret->load, &ret->store};
    static const char *const keys[] = {"load", "store"};
    for (size_t i = 0; i < COUNT_OF(keys); ++i) {
        const json_t *count = json_object_get(object, keys[i]);
        read_count(reader, count, &counts[i]->requests, "requests");
        read_count(reader, count, &counts[i]->sectors, "sectors");
    }
}

static void read_time(const struct reader *reader, const json_t *object, struct run_timing *ret)
{
    int64_t rounds = 0;
    if (is_absent(object))
        return;
    ret->known = true;
    ret->median_ns = ret->q1_ns = ret->q3_ns = NAN;
    take_number(reader, object, "median", &ret->median_ns);
    take_number(reader, object, "q1", &ret->q1_ns);
    take_number(reader, object, "q3", &ret->q3_ns);
    (void)take_integer(reader, object, "rounds", 0, 1000000, &rounds);
    ret->rounds = (unsigned)rounds;
}

static void read_run(const struct reader *reader, const json_t *object, struct grade_kernel *row)
{
    int64_t number = 0;
    row->ran = take_integer(reader, object, "compared", 0, INT64_MAX, &number);
    row->compared = (uint64_t)number;
    read_count(reader, object, &row->mismatches, "mismatches");
    const json_t *first = json_object_get(object, "first_mismatch");
    row->has_first_mismatch = json_is_object(first);
    uint64_t index = 0;
    read_count(reader, first, &index, "index");
    row->first_index = (size_t)index;
    take_bits(reader, first, "expected_bits", &row->expected_bits);
    take_bits(reader, first, "got_bits", &row->got_bits);
    const json_t *fault = json_object_get(object, "fault");
    int64_t line = 0;
    take_text(reader, fault, "text", LIMIT_MESSAGE_BYTES, &row->fault);
    (void)take_integer(reader, fault, "line", 0, INT32_MAX, &line);
    row->fault_line = (unsigned)line;
    const json_t *traffic = json_object_get(object, "traffic");
    read_direction(reader, traffic, "global", &row->traffic.global);
    read_direction(reader, traffic, "local_array", &row->traffic.local_array);
    read_direction(reader, traffic, "spill", &row->traffic.spill);
    read_time(reader, json_object_get(object, "time_ns"), &row->time);
    take_text(reader, object, "printed", LIMIT_KERNEL_PRINT_BYTES, &row->printed);
}

static void read_facts(const struct reader *reader, const json_t *object, struct grade_kernel *row)
{
    const struct {
        const char *key;
        int64_t *number;
        struct witnesses *said; /* NULL: it has none */
    } facts[] = {
        {"registers", &row->registers, &row->registers_said},
        {"stack_bytes", &row->stack_bytes, &row->stack_said},
        {"spill_store_bytes", &row->spill_store_bytes, &row->spill_store_said},
        {"spill_load_bytes", &row->spill_load_bytes, &row->spill_load_said},
        {"shared_bytes", &row->shared_bytes, &row->shared_said},
        {"barriers", &row->barriers, NULL},
        {"max_threads_per_block", &row->max_threads_per_block, NULL},
        {"blocks_per_sm", &row->blocks_per_sm, NULL},
    };
    const json_t *said = json_object_get(object, "witnesses");
    row->known = json_is_object(said);
    row->occupancy_percent = -1;
    take_number(reader, object, "occupancy_percent", &row->occupancy_percent);
    for (size_t i = 0; i < COUNT_OF(facts); ++i) {
        *facts[i].number = FACT_UNKNOWN;
        (void)take_integer(reader, object, facts[i].key, 0, INT32_MAX, facts[i].number);
        if (facts[i].said != NULL)
            read_witnesses(reader, said, facts[i].key, facts[i].said);
    }
}

static void read_kernel(const struct reader *reader, const json_t *object, const struct lab *lab,
                        struct grade_kernel *row)
{
    const char *name = take_words(reader, object, "name");
    for (size_t i = 0; i < lab->kernel_count && name != NULL; ++i)
        if (strcmp(lab->kernels[i].name, name) == 0)
            row->name = lab->kernels[i].name;
    if (row->name == NULL)
        complain(reader, "name", "a kernel of the lab");
    take_arch(reader, "arch", json_object_get(object, "arch"), &row->arch);
    if (row->arch.number == 0)
        complain(reader, "arch", "an architecture like sm_75");
    take_array(reader, object, "problem", row->problem, sizeof row->problem);
    read_facts(reader, object, row);
    read_run(reader, object, row);
}

static void read_kernels(struct reader *reader, const json_t *root, struct grade *grade)
{
    const json_t *array = json_object_get(root, "kernels");
    size_t count = json_array_size(array);
    reader->where = "kernels";
    if (count > LIMIT_RESULT_KERNELS) {
        error_set(reader->err, ERROR_USAGE, "more than %d kernels", LIMIT_RESULT_KERNELS);
        return;
    }
    grade->kernels = calloc(count + 1, sizeof grade->kernels[0]);
    if (grade->kernels == NULL) {
        error_no_memory(reader->err);
        return;
    }
    for (size_t i = 0; i < count && !failed(reader); ++i)
        read_kernel(reader, json_array_get(array, i), grade->lab,
                    &grade->kernels[grade->kernel_count++]);
}

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

static void read_mark(const struct reader *reader, const json_t *array, struct mark *mark)
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
    int status = take_choice(reader, object, "status", words, COUNT_OF(words));
    (void)take_integer(reader, object, "points", 0, INT32_MAX, &points);
    (void)take_integer(reader, object, "max_points", 0, INT32_MAX, &most);
    (void)take_integer(reader, object, "line", 0, INT32_MAX, &line);
    const char *message = take_words(reader, object, "message");
    mark->message = copy_of(reader, message == NULL ? "" : message, LIMIT_MESSAGE_BYTES);
    mark->status = (enum mark_status)status;
    const char *hint = json_string_value(json_object_get(object, "hint"));
    bool has_hint = hint != NULL && mark->status == MARK_FAILED;
    mark->remedy = copy_of(reader, has_hint ? hint : "", LIMIT_MESSAGE_BYTES);
    if (failed(reader))
        return;
    mark->points = mark->status == MARK_PASSED ? criterion->points : 0;
    mark->line = (unsigned)line;
    if (points != mark->points || most != criterion->points)
        error_set(reader->err, ERROR_USAGE,
                  "mark %s has %lld of %lld points, where the lab gives %d of %d", criterion->id,
                  (long long)points, (long long)most, mark->points, criterion->points);
}

static void check_sum(const struct reader *reader, const json_t *root, const char *key, int sum)
{
    int64_t said = -1;
    (void)take_integer(reader, root, key, 0, INT32_MAX, &said);
    if (!failed(reader) && said != sum)
        error_set(reader->err, ERROR_USAGE, "%s is %lld, but the marks add up to %d", key,
                  (long long)said, sum);
}

static void read_marks(struct reader *reader, const json_t *root, struct grade *grade)
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
    for (size_t i = 0; i < lab->criterion_count && !failed(reader); ++i) {
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

static void read_submission(struct reader *reader, const json_t *root, struct grade *grade)
{
    static const char *const kinds[] = {"directory", "git"};
    const json_t *object = json_object_get(root, "submission");
    reader->where = "submission";
    grade->from_git = take_choice(reader, object, "kind", kinds, COUNT_OF(kinds)) == 1;
    take_text(reader, object, "path", LIMIT_RESULT_PATH_BYTES, &grade->path);
    take_text(reader, object, "source", LIMIT_RESULT_PATH_BYTES, &grade->source_path);
    take_text(reader, object, "answers", LIMIT_RESULT_PATH_BYTES, &grade->answers_path);
    take_array(reader, object, "commit", grade->commit, sizeof grade->commit);
    take_array(reader, object, "chosen", grade->chosen, sizeof grade->chosen);
    take_array(reader, object, "source_id", grade->source_id, sizeof grade->source_id);
    take_array(reader, object, "answers_id", grade->answers_id, sizeof grade->answers_id);
    if (!failed(reader) && grade->source_path == NULL)
        complain(reader, "source", "there");
}

static void read_toolchain(struct reader *reader, const json_t *root, struct grade *grade)
{
    const json_t *object = json_object_get(root, "toolchain");
    const json_t *archs = json_object_get(object, "archs");
    size_t count = json_array_size(archs);
    reader->where = "toolchain";
    take_array(reader, object, "nvcc", grade->nvcc_version, sizeof grade->nvcc_version);
    take_array(reader, object, "path", grade->nvcc_path, sizeof grade->nvcc_path);
    take_array(reader, object, "found", grade->nvcc_found, sizeof grade->nvcc_found);
    take_arch(reader, "declared_arch", json_object_get(object, "declared_arch"),
              &grade->declared_arch);
    if (count == 0 || count > LIMIT_RESULT_ARCHS) {
        complain(reader, "archs", "a list of one to some architectures");
        return;
    }
    grade->archs = calloc(count, sizeof grade->archs[0]);
    if (grade->archs == NULL) {
        error_no_memory(reader->err);
        return;
    }
    grade->arch_count = grade->graded_arch_count = count;
    for (size_t i = 0; i < count; ++i)
        take_arch(reader, "archs", json_array_get(archs, i), &grade->archs[i]);
}

static void read_executor(struct reader *reader, const json_t *root, struct grade *grade)
{
    const char *words[3];
    static const enum executor_kind kinds[] = {EXECUTOR_NONE, EXECUTOR_EMULATOR, EXECUTOR_GPU};
    for (size_t i = 0; i < COUNT_OF(kinds); ++i)
        words[i] = executor_word(kinds[i]);
    const json_t *object = json_object_get(root, "executor");
    reader->where = "executor";
    int kind = take_choice(reader, object, "kind", words, COUNT_OF(words));
    grade->executor = kind < 0 ? EXECUTOR_NONE : kinds[kind];
    take_array(reader, object, "device", grade->device, sizeof grade->device);
    take_array(reader, object, "why", grade->why, sizeof grade->why);
}

static void read_sandbox(struct reader *reader, const json_t *root, struct grade *grade)
{
    static const char *const levels[] = {"limits", "landlock", "seccomp", "bubblewrap"};
    static const enum sandbox_level kinds[] = {SANDBOX_LIMITS, SANDBOX_KERNEL, SANDBOX_KERNEL,
                                               SANDBOX_BUBBLEWRAP};
    struct sandbox *sandbox = &grade->sandbox;
    const json_t *object = json_object_get(root, "sandbox");
    int64_t abi = 0;
    reader->where = "sandbox";
    int level = take_choice(reader, object, "level", levels, COUNT_OF(levels));
    sandbox->level = level < 0 ? SANDBOX_LIMITS : kinds[level];
    const char *mode = take_words(reader, object, "mode");
    if (mode != NULL && !sandbox_parse_mode(mode, &sandbox->mode))
        complain(reader, "mode", "auto, on or off");
    take_array(reader, object, "why", sandbox->trouble, sizeof sandbox->trouble);
    take_array(reader, object, "bubblewrap", sandbox->bubblewrap, sizeof sandbox->bubblewrap);
    (void)take_integer(reader, object, "landlock_abi", 0, 1000, &abi);
    sandbox->landlock_abi = (unsigned)abi;
    sandbox->seccomp = json_is_true(json_object_get(object, "seccomp"));
}

static void read_notes(struct reader *reader, const json_t *root, struct grade *grade)
{
    const json_t *array = json_object_get(root, "notes");
    reader->where = "";
    if (json_array_size(array) > LIMIT_RESULT_NOTES)
        complain(reader, "notes", "a list of so few notes as a grade can have");
    for (size_t i = 0; i < json_array_size(array) && !failed(reader); ++i) {
        const char *text = json_string_value(json_array_get(array, i));
        if (text == NULL)
            complain(reader, "notes", "a list of texts");
        else
            (void)grade_add_note(grade, reader->err, "%.*s", LIMIT_MESSAGE_BYTES, text);
    }
}

static void read_whole(struct reader *reader, const json_t *root, const struct lab *wanted,
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
    (void)take_integer(reader, root, "seed", 0, INT64_MAX, &seed);
    grade->seed = (uint64_t)seed;
    (void)take_integer(reader, root, "duration_ns", 0, INT64_MAX, &grade->duration_ns);
    take_text(reader, root, "compiler_words", LIMIT_COMPILER_OUTPUT_BYTES, &grade->compiler_words);
    read_notes(reader, root, grade);
    if (!failed(reader))
        read_kernels(reader, root, grade);
    if (!failed(reader))
        read_marks(reader, root, grade);
}

int result_read(struct grade *ret, const char *text, size_t length, const struct lab *lab,
                struct error *err)
{
    *ret = (struct grade){0};
    json_error_t trouble;
    struct reader reader = {.err = err, .where = ""};
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &trouble);
    if (root == NULL) {
        char words[JSON_ERROR_TEXT_LENGTH];
        return error_set(err, ERROR_USAGE, "line %d: %s", trouble.line,
                         text_copy(words, sizeof words, trouble.text));
    }
    read_whole(&reader, root, lab, ret);
    json_decref(root);
    if (!failed(&reader))
        return 0;
    grade_release(ret);
    return -1;
}

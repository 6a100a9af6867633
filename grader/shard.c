#include "shard.h"

#include <errno.h>
#include <sys/stat.h>

#include "files.h"
#include "pack.h"
#include "text.h"

#define WORK_MAGIC UINT64_C(0x314b524f57575053) /* "SPWWORK1" */
#define PLAN_MAGIC UINT64_C(0x314e414c50575053) /* "SPWPLAN1" */
#define PLAN_KEYS_MOST 1000000
#define JOBS_MOST 100000

static char *path_of(const char *folder, const char *kind, const char *key, const char *ending)
{
    char *path = NULL;
    return asprintf(&path, "%s/shards/%s/%s%s", folder, kind, key, ending) < 0 ? NULL : path;
}

int shard_make_folders(const char *folder, struct error *err)
{
    static const char *const names[] = {"shards", "shards/work", "shards/done", "shards/log"};
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        AUTO_FREE char *path = path_join(folder, names[i]);
        if (path == NULL)
            return error_no_memory(err);
        if (folder_make_private(path, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- Works -----------------------------------------------------------------------------------*/

int shard_write_work(const char *folder, const struct batch_item *item, struct error *err)
{
    const struct submission *s = &item->submission;
    char key[DIGEST_HEX_BYTES];
    AUTO_FREE char *path = path_of(folder, "work", batch_item_key(item->attempt.key, key), "");
    struct bytes work = bytes_with_limit(LIMIT_CACHE_FILE_BYTES);
    if (path == NULL)
        return error_no_memory(err);
    pack_number(&work, WORK_MAGIC);
    pack_text(&work, item->attempt.key);
    pack_text(&work, s->lab->id);
    pack_text(&work, s->path);
    pack_text(&work, s->commit);
    pack_text(&work, s->chosen);
    pack_text(&work, s->source.path);
    pack_text(&work, s->source.problem);
    pack_bytes(&work, s->source.content.data, s->source.content.length);
    pack_text(&work, s->source_id);
    pack_text(&work, s->answers_id);
    pack_text(&work, s->answers_path);
    pack_text(&work, item->answers_problem);
    pack_bytes(&work, item->answers.data, item->answers.length);
    int status = work.failed ? error_no_memory(err) : file_write(path, work.data, work.length, err);
    bytes_release(&work);
    return status;
}

static int unpack_work(struct batch_item *item, const struct lab *lab, const struct bytes *work,
                       struct error *err)
{
    struct unpack from = unpack_from(bytes_text(work), work->length);
    struct submission *s = &item->submission;
    AUTO_FREE char *lab_id = NULL;
    AUTO_FREE char *answers_problem = NULL;
    *s = (struct submission){.kind = SUBMISSION_GIT, .lab = lab};
    bool magic = unpack_number(&from) == WORK_MAGIC;
    item->attempt.key = unpack_text(&from);
    lab_id = unpack_text(&from);
    s->path = unpack_text(&from);
    unpack_text_into(&from, s->commit, sizeof s->commit);
    unpack_text_into(&from, s->chosen, sizeof s->chosen);
    s->source.path = unpack_text(&from);
    unpack_text_into(&from, s->source.problem, sizeof s->source.problem);
    struct slice source = unpack_bytes(&from);
    char source_id[sizeof s->source_id], answers_id[sizeof s->answers_id];
    unpack_text_into(&from, source_id, sizeof source_id);
    unpack_text_into(&from, answers_id, sizeof answers_id);
    s->answers_path = unpack_text(&from);
    answers_problem = unpack_text(&from);
    struct slice answers = unpack_bytes(&from);
    if (!magic || !unpack_done(&from) || lab_id == NULL || strcmp(lab_id, lab->id) != 0 ||
        item->attempt.key == NULL)
        return error_set(err, ERROR_INFRASTRUCTURE, "it is damaged, or of another version");
    s->source.content = bytes_with_limit(source.length + 1);
    struct bytes raw = bytes_with_limit(answers.length + 1);
    int status = 0;
    if ((s->source.problem[0] == '\0' &&
         bytes_append(&s->source.content, source.text, source.length) != 0) ||
        bytes_append(&raw, answers.text, answers.length) != 0)
        status = error_no_memory(err);
    else
        status = submission_take_answers(s, s->answers_path != NULL ? &raw : NULL,
                                         answers_problem != NULL ? answers_problem : "", err);
    bytes_release(&raw);
    /* Of bytes that could not be used, and so did not come along, too. */
    memcpy(s->source_id, source_id, sizeof s->source_id);
    memcpy(s->answers_id, answers_id, sizeof s->answers_id);
    return status;
}

int shard_read_work(const char *folder, const char *key, const struct lab *lab,
                    struct batch_item *item, struct error *err)
{
    AUTO_FREE char *path = path_of(folder, "work", key, "");
    struct bytes work;
    if (path == NULL)
        return error_no_memory(err);
    enum file_status status = file_read(&work, path, LIMIT_CACHE_FILE_BYTES, false);
    if (status != FILE_READ)
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot read %s: %s", path,
                         file_status_text(status));
    int result = unpack_work(item, lab, &work, err);
    bytes_release(&work);
    return result == 0 ? 0 : error_context(err, "cannot use %s", path);
}

/* ---- Results ---------------------------------------------------------------------------------*/

int shard_write_attempt(const char *folder, const struct batch_item *item, struct error *err)
{
    char key[DIGEST_HEX_BYTES];
    AUTO_FREE char *path = path_of(folder, "done", batch_item_key(item->attempt.key, key), ".json");
    struct bytes text = bytes_with_limit(2 * LIMIT_ATTEMPT_BYTES);
    int status = path == NULL ? error_no_memory(err) : attempt_to_json(&text, &item->attempt, err);
    if (status == 0)
        status = file_write(path, bytes_text(&text), text.length, err);
    bytes_release(&text);
    return status;
}

int shard_write_trouble(const char *folder, const char *key, const char *sentence,
                        struct error *err)
{
    AUTO_FREE char *path = path_of(folder, "done", key, ".trouble");
    return path == NULL ? error_no_memory(err) : file_write(path, sentence, strlen(sentence), err);
}

enum shard_result shard_read_result(const char *folder, const char *key, struct attempt *attempt,
                                    struct error *trouble)
{
    AUTO_FREE char *good = path_of(folder, "done", key, ".json");
    AUTO_FREE char *bad = path_of(folder, "done", key, ".trouble");
    struct bytes text = {0};
    struct error damaged = {0};
    char own[DIGEST_HEX_BYTES];
    *attempt = (struct attempt){0};
    if (good == NULL || bad == NULL)
        return SHARD_NOTHING;
    if (file_read(&text, good, 2 * LIMIT_ATTEMPT_BYTES, false) == FILE_READ) {
        bool whole = attempt_from_json(attempt, bytes_text(&text), text.length, &damaged) == 0;
        bytes_release(&text);
        if (whole && strcmp(batch_item_key(attempt->key, own), key) == 0)
            return SHARD_ATTEMPT;
        attempt_release(attempt);
        (void)unlink(good);
    }
    if (file_read(&text, bad, sizeof trouble->text, false) != FILE_READ)
        return SHARD_NOTHING;
    char sentence[sizeof trouble->text];
    error_set(trouble, ERROR_INFRASTRUCTURE, "%s",
              text_copy(sentence, sizeof sentence, bytes_text(&text)));
    bytes_release(&text);
    return SHARD_TROUBLE;
}

void shard_remove_result(const char *folder, const char *key)
{
    static const char *const endings[] = {".json", ".trouble"};
    for (size_t i = 0; i < COUNT_OF(endings); ++i) {
        AUTO_FREE char *path = path_of(folder, "done", key, endings[i]);
        if (path != NULL)
            (void)unlink(path);
    }
}

/* ---- Plans -----------------------------------------------------------------------------------*/

/* Another build of this program could read works otherwise, or grade otherwise. */
static int own_digest(struct digest *ret, struct error *err)
{
    return digest_file(ret, "/proc/self/exe", err);
}

char *shard_write_plan(const struct shard_plan *plan, unsigned number, struct error *err)
{
    struct digest program;
    AUTO_FREE char *path = NULL;
    if (own_digest(&program, err) != 0)
        return NULL;
    if (asprintf(&path, "%s/shards/plan-%u", plan->folder, number) < 0) {
        path = NULL;
        error_no_memory(err);
        return NULL;
    }
    struct bytes out = bytes_with_limit(LIMIT_CACHE_FILE_BYTES);
    pack_number(&out, PLAN_MAGIC);
    pack_bytes(&out, program.bytes, sizeof program.bytes);
    pack_text(&out, plan->folder);
    pack_text(&out, plan->lab_id);
    pack_number(&out, plan->seed);
    pack_number(&out, plan->elements);
    pack_text(&out, plan->machine.nvcc);
    pack_text(&out, plan->machine.executor);
    pack_number(&out, plan->machine.sandbox);
    pack_number(&out, plan->machine.threads);
    pack_number(&out, plan->machine.launch_seconds);
    pack_number(&out, plan->machine.arch_count);
    for (size_t i = 0; i < plan->machine.arch_count; ++i) {
        char name[ARCH_NAME_BYTES];
        pack_text(&out, arch_name(plan->machine.archs[i], "sm_", name));
    }
    pack_number(&out, plan->jobs);
    pack_number(&out, plan->per_task);
    pack_number(&out, plan->key_count);
    for (size_t i = 0; i < plan->key_count; ++i)
        pack_text(&out, plan->keys[i]);
    if (out.failed)
        error_no_memory(err);
    else
        (void)file_write(path, out.data, out.length, err);
    bytes_release(&out);
    return err->kind == ERROR_NONE ? steal_pointer(&path) : NULL;
}

static void unpack_archs(struct unpack *from, struct machine_options *machine)
{
    machine->arch_count = unpack_below(from, CHOICE_ARCHS_MAX);
    for (size_t i = 0; i < machine->arch_count; ++i) {
        char name[ARCH_NAME_BYTES];
        unpack_text_into(from, name, sizeof name);
        from->failed = from->failed || !arch_parse(name, &machine->archs[i]);
    }
}

static int unpack_plan(struct shard_plan *plan, const struct bytes *text, struct error *err)
{
    struct digest program;
    struct unpack from = unpack_from(bytes_text(text), text->length);
    if (own_digest(&program, err) != 0)
        return -1;
    bool magic = unpack_number(&from) == PLAN_MAGIC;
    struct slice theirs = unpack_bytes(&from);
    if (magic && theirs.length == DIGEST_BYTES &&
        memcmp(theirs.text, program.bytes, DIGEST_BYTES) != 0)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "it was made by another build of spillway than the one on this machine: "
                         "install the same everywhere");
    plan->folder = unpack_text(&from);
    plan->lab_id = unpack_text(&from);
    plan->seed = unpack_number(&from);
    plan->elements = unpack_number(&from);
    plan->nvcc = unpack_text(&from);
    plan->executor = unpack_text(&from);
    plan->machine.nvcc = plan->nvcc;
    plan->machine.executor = plan->executor;
    plan->machine.sandbox = (enum sandbox_mode)unpack_below(&from, SANDBOX_OFF);
    plan->machine.threads = (unsigned)unpack_below(&from, JOBS_MOST);
    plan->machine.launch_seconds = (unsigned)unpack_below(&from, UINT32_MAX);
    unpack_archs(&from, &plan->machine);
    plan->jobs = (unsigned)unpack_below(&from, JOBS_MOST);
    plan->per_task = unpack_below(&from, PLAN_KEYS_MOST);
    plan->key_count = unpack_below(&from, PLAN_KEYS_MOST);
    plan->keys = calloc(plan->key_count + 1, sizeof plan->keys[0]);
    if (plan->keys == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < plan->key_count; ++i)
        unpack_text_into(&from, plan->keys[i], sizeof plan->keys[i]);
    if (!magic || !unpack_done(&from) || plan->folder == NULL || plan->lab_id == NULL ||
        plan->executor == NULL || plan->per_task == 0)
        return error_set(err, ERROR_INFRASTRUCTURE, "it is no plan, or damaged");
    return 0;
}

int shard_read_plan(struct shard_plan *ret, const char *path, struct error *err)
{
    *ret = (struct shard_plan){0};
    struct bytes text;
    enum file_status status = file_read(&text, path, LIMIT_CACHE_FILE_BYTES, false);
    if (status != FILE_READ)
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot read the plan %s: %s", path,
                         file_status_text(status));
    int result = unpack_plan(ret, &text, err);
    bytes_release(&text);
    if (result != 0)
        shard_plan_release(ret);
    return result == 0 ? 0 : error_context(err, "cannot use the plan %s", path);
}

void shard_plan_release(struct shard_plan *plan)
{
    free(plan->folder);
    free(plan->lab_id);
    free(plan->nvcc);
    free(plan->executor);
    free(plan->keys);
    *plan = (struct shard_plan){0};
}

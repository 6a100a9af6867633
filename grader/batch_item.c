#include "batch_item.h"

#include <time.h>

#include "datadir.h"
#include "files.h"
#include "process.h"
#include "repo_task.h"
#include "text.h"

/* ---- Keys ------------------------------------------------------------------------------------
 * An attempt's key is two words: the digest of all that the attempt was made from, and that of the
 * settings alone. While the settings hold, the repo's state tells the next fetch that nothing came;
 * when they change, the files are read again. */

int batch_settings(struct batch *batch, struct error *err)
{
    const struct machine_options *machine = &batch->options->machine;
    struct digest digest, program;
    struct digester digester;
    if (digest_file(&program, "/proc/self/exe", err) != 0)
        return -1;
    digester_begin(&digester);
    digester_add_digest(&digester, &program);
    digester_add_text(&digester, batch->options->lab->id);
    digester_add_number(&digester, batch->seed);
    digester_add_number(&digester, batch->options->elements);
    for (size_t i = 0; i < machine->arch_count; ++i) {
        char name[ARCH_NAME_BYTES];
        digester_add_text(&digester, arch_name(machine->archs[i], "sm_", name));
    }
    digester_add_number(&digester, machine->launch_seconds);
    digester_add_text(&digester, batch->options->path);
    if (batch->elsewhere) {
        digester_add_text(&digester, machine->executor);
        digester_add_text(&digester, machine->nvcc);
    } else {
        digester_add_digest(&digester, &batch->recall.toolkit);
        digester_add_text(&digester, batch->machine.toolchain.nvcc);
        digester_add_text(&digester, batch->machine.toolchain.found);
        digester_add_text(&digester, executor_word(batch->machine.choice.executor));
        digester_add_text(&digester, batch->machine.choice.gpu.name);
        digester_add_text(&digester, batch->machine.choice.why);
        digester_add_number(&digester, batch->machine.options.threads);
    }
    if (digester_end(&digester, &digest, err) != 0)
        return -1;
    (void)digest_hex(&digest, batch->settings);
    return 0;
}

static bool word_of_key(const char *key, size_t index, char *into, size_t size)
{
    for (size_t i = 0; i < index && key != NULL; ++i) {
        key = strchr(key, ' ');
        key = key == NULL ? NULL : key + 1;
    }
    into[0] = '\0';
    if (key == NULL)
        return false;
    size_t length = strcspn(key, " ");
    if (length >= size)
        return false;
    memcpy(into, key, length);
    into[length] = '\0';
    return length > 0;
}

const char *batch_item_key(const char *key, char into[DIGEST_HEX_BYTES])
{
    (void)word_of_key(key, 0, into, DIGEST_HEX_BYTES);
    return into;
}

/* Gives the attempt its key. True when the latest attempt was made from the same. */
static bool settle_key(const struct batch *batch, struct batch_item *item,
                       const struct digester *made, struct error *err)
{
    struct digester digester = *made;
    struct digest digest;
    char hex[DIGEST_HEX_BYTES], known[DIGEST_HEX_BYTES];
    const struct attempt *attempt = &item->attempt;
    digester_add_text(&digester, batch->settings);
    digester_add_text(&digester, item->student->repo);
    digester_add_text(&digester, attempt->commit);
    digester_add_text(&digester, attempt->chosen);
    digester_add_number(&digester, attempt->has_handed_in);
    digester_add_number(&digester, (uint64_t)attempt->handed_in.unix_s);
    digester_add_text(&digester, attempt->handed_in_from);
    digester_add_text(&digester, attempt->warnings);
    digester_add_text(&digester, attempt->explanation);
    if (digester_end(&digester, &digest, err) != 0)
        return false;
    free(item->attempt.key);
    if (asprintf(&item->attempt.key, "%s %s", digest_hex(&digest, hex), batch->settings) < 0) {
        item->attempt.key = NULL;
        error_no_memory(err);
        return false;
    }
    return !batch->options->force && word_of_key(item->known_key, 0, known, sizeof known) &&
           strcmp(known, hex) == 0;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

void batch_item_fail(struct batch_item *item, const struct error *err)
{
    item->end = err->kind == ERROR_INTERRUPTED ? ITEM_STOPPED : ITEM_TROUBLE;
    item->passing = true;
    item->err = *err;
}

void batch_item_reset(struct batch_item *item)
{
    pipeline_release(&item->pipeline);
    submission_release(&item->submission);
    attempt_release(&item->attempt);
    bytes_release(&item->answers);
    free(item->answers_problem);
    item->answers_problem = NULL;
    item->sharded = false;
    item->end = ITEM_UNDERWAY;
    item->passing = false;
    item->err = (struct error){0};
}

void batch_item_release(struct batch_item *item)
{
    batch_item_reset(item);
    free(item->known_key);
    free(item->known_state);
    item->known_key = item->known_state = NULL;
}

static void finish_attempt(struct batch_item *item)
{
    item->attempt.finished_s = (int64_t)time(NULL);
    item->attempt.duration_ns = process_now_ns() - item->began_ns;
    item->end = ITEM_ATTEMPT;
}

/* ---- What students begin with -----------------------------------------------------------------
 */

static void read_blank(struct bytes *ret, const char *family, const char *lab, const char *name,
                       size_t limit)
{
    struct error ignored = {0};
    AUTO_FREE char *relative = NULL;
    if (asprintf(&relative, "%s/%s/%s", family, lab, name) < 0) {
        relative = NULL;
        return;
    }
    AUTO_FREE char *path = data_path(relative, &ignored);
    if (path == NULL || file_read(ret, path, limit, false) != FILE_READ)
        *ret = (struct bytes){0};
}

void batch_read_blanks(struct batch *batch)
{
    const struct lab *lab = batch->options->lab;
    read_blank(&batch->blank_source, "starter", lab->id, lab->source_name, LIMIT_SOURCE_BYTES);
    read_blank(&batch->blank_answers, "exercises", lab->id, "answers.ini", LIMIT_ANSWERS_BYTES);
}

/* ---- Fetching -------------------------------------------------------------------------------- */

/* The latest moment that counts for the choice. False: there is none. */
static bool cutoff_of(const struct batch *batch, const struct student *student, struct moment *ret)
{
    struct moment deadline;
    if (!student_deadline(student, batch->options->deadline, &deadline))
        return false;
    if (batch->options->late != NULL)
        return late_end(batch->options->late, &deadline, ret);
    *ret = deadline;
    return true;
}

/* After which moment a hand-in is late, and after which that costs something. */
static void set_due(const struct batch *batch, const struct student *student,
                    struct repo_request *request)
{
    const struct late_policy none = late_policy_none();
    const struct late_policy *policy = batch->options->late != NULL ? batch->options->late : &none;
    struct moment deadline, free_end;
    request->has_due = student_deadline(student, batch->options->deadline, &deadline);
    if (!request->has_due)
        return;
    request->due_s = moment_plus(deadline, policy->grace_s).unix_s;
    request->free_s = late_free_end(policy, &deadline, &free_end) ? free_end.unix_s : INT64_MAX;
}

static struct repo_push *pushes_of(const struct batch *batch, const struct student *student,
                                   size_t *count)
{
    *count = 0;
    const struct push *pushes =
        batch->options->pushes == NULL ? NULL : pushlog_of(batch->options->pushes, student, count);
    struct repo_push *list = calloc(*count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < *count; ++i) {
        (void)snprintf(list[i].commit, sizeof list[i].commit, "%.40s", pushes[i].commit);
        list[i].unix_s = pushes[i].time.unix_s;
    }
    return list;
}

/* The files of a submission, in the order in which they are asked for. */
enum { SOURCE, ANSWERS, EXPLANATION, FILE_COUNT };

static int fetch(struct batch *batch, struct batch_item *item, struct repo_fetcher *fetcher,
                 struct repo_answer *answer, struct error *err)
{
    const struct batch_options *options = batch->options;
    const struct repo_wanted wanted[FILE_COUNT] = {
        [SOURCE] = {options->lab->source_name, "starter", LIMIT_SOURCE_BYTES, false,
                    &batch->blank_source},
        [ANSWERS] = {"answers.ini", "exercises", LIMIT_ANSWERS_BYTES, false, &batch->blank_answers},
        [EXPLANATION] = {"explain.md", "exercises", LIMIT_EXPLANATION_BYTES, true, NULL},
    };
    struct moment cutoff = {0};
    char cutoff_text[MOMENT_TEXT_BYTES] = "", known_settings[DIGEST_HEX_BYTES];
    size_t push_count = 0;
    AUTO_FREE struct repo_push *pushes = pushes_of(batch, item->student, &push_count);
    AUTO_FREE char *cache = repo_cache_folder(options->folder, item->student->identity);
    if (pushes == NULL || cache == NULL)
        return error_no_memory(err);
    bool has_cutoff = cutoff_of(batch, item->student, &cutoff);
    if (has_cutoff)
        (void)moment_text(cutoff, cutoff_text);
    bool known = !options->force &&
                 word_of_key(item->known_key, 1, known_settings, sizeof known_settings) &&
                 strcmp(known_settings, batch->settings) == 0;
    struct repo_request request = {
        .address = item->student->location,
        .cache = cache,
        .ref = item->student->ref,
        /* One commit that the roster names is meant whatever is tagged. */
        .choice = options->choice == REPO_LAST_TAG && item->student->ref != NULL &&
                          repo_is_id(item->student->ref)
                      ? REPO_LAST
                      : options->choice,
        .tag_pattern = options->tag_pattern,
        .has_cutoff = has_cutoff,
        .cutoff_s = cutoff.unix_s,
        .cutoff_text = has_cutoff ? cutoff_text : NULL,
        .pushes = pushes,
        .push_count = push_count,
        .has_push_log = options->pushes != NULL,
        .now_s = batch->now_s,
        .lab_id = options->lab->id,
        .path = options->path,
        .wanted = wanted,
        .wanted_count = COUNT_OF(wanted),
        .known_state = known ? item->known_state : NULL,
    };
    set_due(batch, item->student, &request);
    return repo_fetch(fetcher, &request, answer, err);
}

static bool copy_text(char **slot, const char *text)
{
    *slot = text == NULL || text[0] == '\0' ? NULL : strdup(text);
    return text == NULL || text[0] == '\0' || *slot != NULL;
}

/* The repo's state, which commit, when, and what is odd about it: into the attempt. */
static int describe_choice(const struct batch *batch, struct batch_item *item,
                           const struct repo_answer *answer, struct error *err)
{
    static const char *const sources[] = {[REPO_TIME_COMMIT] = "the commit's own date",
                                          [REPO_TIME_TAG] = "the tag's date",
                                          [REPO_TIME_PUSH] = "the push log"};
    struct attempt *attempt = &item->attempt;
    struct bytes warnings = bytes_with_limit(LIMIT_MESSAGE_BYTES);
    for (size_t i = 0; i < REPO_FLAG_COUNT; ++i)
        if (answer->flag_text[i][0] != '\0')
            bytes_printf(&warnings, "%s%s", warnings.length > 0 ? "\n" : "", answer->flag_text[i]);
    const struct repo_file *explanation = &answer->files[EXPLANATION];
    if (explanation->problem[0] != '\0')
        bytes_printf(&warnings, "%s%s %s (it was not read)", warnings.length > 0 ? "\n" : "",
                     explanation->path, explanation->problem);
    bool good = copy_text(&attempt->state, answer->state) &&
                copy_text(&attempt->commit, answer->commit) &&
                copy_text(&attempt->chosen, answer->chosen) &&
                copy_text(&attempt->warnings, bytes_text(&warnings));
    bytes_release(&warnings);
    if (good && answer->commit[0] != '\0') {
        attempt->has_handed_in = true;
        attempt->handed_in = batch->options->zone != NULL
                                 ? moment_at(answer->unix_s, batch->options->zone)
                                 : moment_at_offset(answer->unix_s, answer->commit_offset_s);
        good = copy_text(&attempt->handed_in_from, sources[answer->source]);
    }
    return good ? 0 : error_no_memory(err);
}

/* Nothing can be graded, and the student has to act. */
static int take_refusal(const struct batch *batch, struct batch_item *item,
                        const struct repo_answer *answer, struct error *err)
{
    static const enum repo_reason missing[] = {REPO_EMPTY, REPO_NO_REF, REPO_NO_TAG,
                                               REPO_NOTHING_IN_TIME, REPO_NO_SOURCE};
    enum attempt_outcome outcome = ATTEMPT_BROKEN;
    for (size_t i = 0; i < COUNT_OF(missing); ++i)
        if (answer->reason == missing[i])
            outcome = ATTEMPT_MISSING;
    if (attempt_without_grade(&item->attempt, outcome, answer->sentence, err) != 0 ||
        describe_choice(batch, item, answer, err) != 0)
        return -1;
    struct digester digester;
    digester_begin(&digester);
    digester_add_text(&digester, attempt_outcome_word(outcome));
    digester_add_text(&digester, answer->sentence);
    bool same = settle_key(batch, item, &digester, err);
    if (err->kind != ERROR_NONE)
        return -1;
    finish_attempt(item);
    if (same)
        item->end = ITEM_UNCHANGED;
    return 0;
}

static char *shown_path(const struct repo_answer *answer, const char *path)
{
    char *shown = NULL;
    return asprintf(&shown, "%.10s:%s", answer->commit, path) < 0 ? NULL : shown;
}

/* The others are looked at by who compiles and parses them. */
static void look_at_explanation(struct repo_file *explanation)
{
    const struct bytes *content = &explanation->content;
    if (content->length > 0 && memchr(content->data, '\0', content->length) != NULL)
        (void)snprintf(explanation->problem, sizeof explanation->problem,
                       "holds NUL bytes, as UTF-16 has: save it as UTF-8");
}

static int take_files(const struct batch *batch, struct batch_item *item,
                      struct repo_answer *answer, struct error *err)
{
    struct submission *submission = &item->submission;
    struct repo_file *source = &answer->files[SOURCE], *answers = &answer->files[ANSWERS];
    struct repo_file *explanation = &answer->files[EXPLANATION];
    struct digester digester;
    look_at_explanation(explanation);
    digester_begin(&digester);
    for (size_t i = 0; i < FILE_COUNT; ++i) {
        const struct repo_file *file = &answer->files[i];
        digester_add_number(&digester, file->found);
        digester_add_text(&digester, file->path);
        digester_add_text(&digester, file->problem);
        digester_add(&digester, bytes_text(&file->content), file->content.length);
    }
    *submission = (struct submission){.kind = SUBMISSION_GIT, .lab = batch->options->lab};
    (void)snprintf(submission->commit, sizeof submission->commit, "%s", answer->commit);
    (void)snprintf(submission->chosen, sizeof submission->chosen, "%s", answer->chosen);
    bool good = describe_choice(batch, item, answer, err) == 0 &&
                copy_text(&submission->path, item->student->repo) &&
                (submission->source.path = shown_path(answer, source->path)) != NULL;
    if (good && answers->found)
        good = (submission->answers_path = shown_path(answer, answers->path)) != NULL;
    if (good && explanation->found && explanation->problem[0] == '\0')
        good =
            (item->attempt.explanation = text_printable(bytes_text(&explanation->content))) != NULL;
    good = submission_take_source(submission, &source->content, source->problem, err) == 0 && good;
    if (good)
        good = submission_take_answers(submission, answers->found ? &answers->content : NULL,
                                       answers->problem, err) == 0;
    if (good && batch->elsewhere)
        good = copy_text(&item->answers_problem, answers->problem);
    if (batch->elsewhere) {
        item->answers = answers->content;
        answers->content = (struct bytes){0};
    }
    bool same = settle_key(batch, item, &digester, err);
    if (same)
        item->end = ITEM_UNCHANGED;
    if (!good)
        error_no_memory(err);
    return err->kind == ERROR_NONE ? 0 : -1;
}

void batch_item_fetch(struct batch *batch, struct batch_item *item, struct repo_fetcher *fetcher)
{
    struct error err = {0};
    struct repo_answer *answer = calloc(1, sizeof *answer); /* too large for a thread's stack */
    item->began_ns = process_now_ns();                      /* for who has nothing to be built */
    if (answer == NULL)
        error_no_memory(&err);
    else if (fetch(batch, item, fetcher, answer, &err) == 0) {
        enum repo_actor actor = repo_reason_actor(answer->reason);
        if (answer->unchanged)
            item->end = ITEM_UNCHANGED;
        else if (answer->reason == REPO_FINE)
            (void)take_files(batch, item, answer, &err);
        else if (actor == REPO_STUDENT)
            (void)take_refusal(batch, item, answer, &err);
        else {
            error_set(&item->err, ERROR_INFRASTRUCTURE, "%s", answer->sentence);
            item->end = ITEM_TROUBLE;
            item->passing = actor == REPO_TIME;
        }
        repo_answer_release(answer);
    }
    if (err.kind != ERROR_NONE)
        batch_item_fail(item, &err);
    free(answer);
}

/* ---- Building, running, judging -------------------------------------------------------------- */

/* Inputs and expected outputs are the same for everybody, and made when the first one needs them.
 */
static int prepare_numbers(struct batch *batch, struct error *err)
{
    (void)pthread_mutex_lock(&batch->numbers_lock);
    int status = 0;
    if (!batch->numbers_ready)
        status = numbers_prepare(&batch->numbers, batch->options->lab, batch->seed,
                                 batch->options->elements, err);
    batch->numbers_ready = status == 0;
    (void)pthread_mutex_unlock(&batch->numbers_lock);
    return status;
}

void batch_item_complete(struct batch_item *item, struct attempt *graded)
{
    struct attempt *attempt = &item->attempt;
    free(graded->commit);
    free(graded->chosen);
    free(graded->key);
    graded->commit = steal_pointer(&attempt->commit);
    graded->chosen = steal_pointer(&attempt->chosen);
    graded->has_handed_in = attempt->has_handed_in;
    graded->handed_in = attempt->handed_in;
    graded->handed_in_from = steal_pointer(&attempt->handed_in_from);
    graded->warnings = steal_pointer(&attempt->warnings);
    graded->explanation = steal_pointer(&attempt->explanation);
    graded->key = steal_pointer(&attempt->key);
    graded->state = steal_pointer(&attempt->state);
    attempt_release(attempt);
    *attempt = *graded;
    *graded = (struct attempt){0};
    item->end = ITEM_ATTEMPT;
}

static int run_and_judge(struct batch_item *item, struct error *err)
{
    struct attempt graded;
    if (pipeline_run(&item->pipeline, err) != 0 || pipeline_judge(&item->pipeline, err) != 0)
        return -1;
    /* A regrade, or a batch that was stopped and went on, gives the same bytes: how long it took is
     * in the gradebook alone. */
    item->pipeline.grade.duration_ns = 0;
    if (attempt_from_grade(&graded, &item->pipeline.grade, err) != 0)
        return -1;
    pipeline_release(&item->pipeline);
    batch_item_complete(item, &graded);
    finish_attempt(item);
    return 0;
}

void batch_item_work(struct batch *batch, struct batch_item *item)
{
    struct error err = {0};
    int status = 0;
    item->began_ns = process_now_ns();
    if (process_interrupted())
        status = error_set(&err, ERROR_INTERRUPTED, "interrupted");
    if (status == 0)
        status = prepare_numbers(batch, &err);
    if (status == 0)
        status = pipeline_start(&item->pipeline, &batch->machine, &item->submission,
                                &batch->numbers, &err);
    if (status == 0)
        status = pipeline_build(&item->pipeline, &err);
    if (status == 0 && batch->machine.choice.executor != EXECUTOR_GPU)
        status = run_and_judge(item, &err);
    if (status != 0)
        batch_item_fail(item, &err);
}

void batch_item_lane(struct batch_item *item, const struct gpu_device *gpu, struct run_lane *lane)
{
    struct error err = {0};
    item->pipeline.choice.gpu = *gpu;
    item->pipeline.lane = lane;
    if (run_and_judge(item, &err) != 0)
        batch_item_fail(item, &err);
}

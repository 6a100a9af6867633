#include "batch.h"

#include <time.h>

#include "batch_session.h"
#include "exports.h"
#include "process.h"

#define SECOND_NS INT64_C(1000000000)
#define WAIT_NS (SECOND_NS / 5)
#define TRIES 2

/* ---- Who is graded ----------------------------------------------------------------------------*/

static bool listed(const char *const *ids, size_t count, const char *id)
{
    for (size_t i = 0; i < count; ++i)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

static int mark_picked(struct session *s, enum gradebook_pick pick, bool *picked, struct error *err)
{
    struct student_ids ids;
    if (gradebook_pick(s->book, pick, s->options->since_s, &ids, err) != 0)
        return -1;
    /* Both are in the roster's order. */
    size_t next = 0;
    for (size_t i = 0; i < s->options->roster->count && next < ids.count; ++i)
        if (strcmp(s->options->roster->students[i].id, ids.ids[next]) == 0) {
            picked[i] = true;
            ++next;
        }
    student_ids_release(&ids);
    return 0;
}

static int recall_attempt(struct session *s, struct batch_item *item, struct error *err)
{
    struct attempt latest = {0};
    bool found = false;
    if (gradebook_latest(s->book, item->student->id, ATTEMPT_HEAD, &latest, &found, err) != 0)
        return -1;
    if (found) {
        item->known_key = steal_pointer(&latest.key);
        item->known_state = steal_pointer(&latest.state);
        item->known_outcome = latest.outcome;
    }
    attempt_release(&latest);
    return 0;
}

static int select_students(struct session *s, struct error *err)
{
    const struct batch_options *o = s->options;
    for (size_t i = 0; i < o->student_count; ++i)
        if (roster_find(o->roster, o->students[i]) == NULL)
            return error_set(err, ERROR_USAGE, "--student %s: there is no such id in the roster",
                             o->students[i]);
    bool all = !o->failed && !o->retry && !o->has_since;
    AUTO_FREE bool *picked = calloc(o->roster->count + 1, sizeof *picked);
    s->batch.items = calloc(o->roster->count + 1, sizeof s->batch.items[0]);
    if (picked == NULL || s->batch.items == NULL)
        return error_no_memory(err);
    if ((o->failed && mark_picked(s, PICK_FAILED, picked, err) != 0) ||
        (o->retry && mark_picked(s, PICK_TROUBLE, picked, err) != 0) ||
        (o->has_since && mark_picked(s, PICK_SINCE, picked, err) != 0))
        return -1;
    for (size_t i = 0; i < o->roster->count; ++i) {
        const struct student *student = &o->roster->students[i];
        if ((!all && !picked[i]) ||
            (o->student_count > 0 && !listed(o->students, o->student_count, student->id)))
            continue;
        struct batch_item *item = &s->batch.items[s->batch.item_count++];
        item->student = student;
        if (recall_attempt(s, item, err) != 0)
            return -1;
    }
    s->result->selected = s->batch.item_count;
    return 0;
}

/* ---- Finished students ------------------------------------------------------------------------*/

static int read_standing(struct session *s, const struct batch_item *item, struct standing *ret,
                         struct error *err)
{
    return standing_read(ret, s->book, item->student, s->options->lab, s->options->deadline,
                         &s->policy, err);
}

/* What an instructor should look at, behind a line. */
static void add_notes(struct bytes *line, const char *warnings)
{
    for (const char *note = warnings; note != NULL && *note != '\0';) {
        size_t length = strcspn(note, "\n");
        bytes_printf(line, "; note: %.*s", (int)length, note);
        note += length + (note[length] == '\n');
    }
}

/* The student's line, with the score that counts. `unwritten`: why the files are not there. */
static void say(struct session *s, const struct standing *standing, const char *first,
                const struct error *unwritten)
{
    struct bytes line = bytes_with_limit(2 * LIMIT_MESSAGE_BYTES);
    bytes_append_text(&line, first);
    if (standing->status != STANDING_GRADED)
        bytes_append_text(&line, standing_status_word(standing->status));
    if (standing->status == STANDING_GRADED || standing->late.score > 0) {
        bytes_append_text(&line, standing->status == STANDING_GRADED ? "" : ", ");
        standing_describe(&line, standing);
    }
    if (first[0] == '\0' && standing->attempt.reason != NULL)
        bytes_printf(&line, ": %s", standing->attempt.reason);
    add_notes(&line, standing->attempt.warnings);
    if (unwritten->kind != ERROR_NONE)
        bytes_printf(&line, "; not written: %s", unwritten->text);
    batch_progress_line(&s->progress, standing->student->id, "%s", bytes_text(&line));
    bytes_release(&line);
}

/* The student's own files at once: whatever happens later, they are there. Where they cannot be
 * written, the gradebook has what the end of this batch, or the next one, makes them from. */
static int take_attempt(struct session *s, struct batch_item *item, struct error *err)
{
    struct attempt *attempt = &item->attempt;
    struct standing standing = {0};
    struct exports_report report = {0};
    bool graded = attempt->outcome == ATTEMPT_GRADED;
    int status = gradebook_record(s->book, item->student->id, attempt, err);
    if (status == 0)
        status = read_standing(s, item, &standing, err);
    if (status == 0) {
        struct error unwritten = {0};
        (void)exports_write_student(&standing, s->options->lab, s->book, s->options->folder,
                                    &report, &unwritten);
        s->result->regraded += graded;
        s->result->missing += attempt->outcome == ATTEMPT_MISSING;
        s->result->broken += attempt->outcome == ATTEMPT_BROKEN;
        s->progress.failed += !graded;
        say(s, &standing, graded ? "graded " : "", &unwritten);
    }
    problems_release(&report.notes);
    standing_release(&standing);
    return status;
}

static int take_unchanged(struct session *s, const struct batch_item *item, struct error *err)
{
    bool graded = item->known_outcome == ATTEMPT_GRADED;
    struct standing standing;
    ++s->result->unchanged;
    ++s->progress.unchanged;
    s->progress.failed += !graded;
    if (gradebook_end_trouble(s->book, item->student->id, err) != 0)
        return -1;
    if (s->progress.terminal) /* no lines there */
        return 0;
    if (read_standing(s, item, &standing, err) != 0)
        return -1;
    say(s, &standing, graded ? "unchanged " : "unchanged: ", &(struct error){0});
    standing_release(&standing);
    return 0;
}

/* Trouble passes, perhaps: once more, behind all the others. */
static int take_trouble(struct session *s, struct batch_item *item, bool *again, struct error *err)
{
    *again = item->passing && ++item->tries < TRIES;
    if (*again) {
        batch_item_reset(item);
        pool_add(s->pool, STAGE_FETCH, (size_t)(item - s->batch.items));
        return 0;
    }
    if (gradebook_record_trouble(s->book, item->student->id, item->err.text, err) != 0)
        return -1;
    ++s->result->trouble;
    ++s->progress.failed;
    batch_progress_line(&s->progress, item->student->id, "not graded: %s", item->err.text);
    return 0;
}

int session_take(struct session *s, struct batch_item *item, struct error *err)
{
    int status = 0;
    bool again = false;
    switch (item->end) {
    case ITEM_ATTEMPT:
        status = take_attempt(s, item, err);
        break;
    case ITEM_UNCHANGED:
        status = take_unchanged(s, item, err);
        break;
    case ITEM_TROUBLE:
        status = take_trouble(s, item, &again, err);
        break;
    case ITEM_UNDERWAY:
        return session_shard(s, item, err);
    case ITEM_STOPPED:
        return 0;
    }
    if (again || status != 0)
        return status;
    s->result->finished += item->end != ITEM_TROUBLE;
    ++s->progress.done;
    batch_item_release(item);
    return 0;
}

static void count_stages(struct session *s)
{
    s->progress.running = 0;
    for (size_t stage = 0; stage < STAGE_COUNT; ++stage) {
        size_t working = 0, waiting = 0;
        pool_counts(s->pool, stage, &working, &waiting);
        s->progress.running += working;
    }
    size_t left = s->batch.item_count - s->progress.done;
    s->progress.waiting = left > s->progress.running ? left - s->progress.running : 0;
}

/* Nothing is left to be done with these here. */
static size_t settled(const struct session *s)
{
    return s->result->finished + s->result->trouble + s->sharded;
}

/* Until each is finished, in trouble, or for another machine to grade. */
static int run_pool(struct session *s, struct error *err)
{
    int status = 0;
    while (status == 0 && settled(s) < s->batch.item_count && !process_interrupted()) {
        size_t index = pool_wait(s->pool, WAIT_NS);
        if (index != POOL_DONE)
            status = session_take(s, &s->batch.items[index], err);
        if (s->progress.terminal) {
            count_stages(s);
            batch_progress_show(&s->progress, false);
        }
    }
    pool_stop(s->pool);
    /* What was finished while the others were told to stop. */
    for (size_t index; status == 0 && (index = pool_wait(s->pool, 0)) != POOL_DONE;)
        if (s->batch.items[index].end != ITEM_TROUBLE)
            status = session_take(s, &s->batch.items[index], err);
    if (status == 0 && settled(s) < s->batch.item_count)
        status = error_set(err, ERROR_INTERRUPTED, "interrupted");
    return status;
}

static int grade_all(struct session *s, struct error *err)
{
    enum crew_source source = s->batch.elsewhere ? CREW_FETCH_ALONE : CREW_FETCH;
    batch_progress_begin(&s->progress, s->batch.item_count);
    int status = crew_start(&s->pool, &s->batch, source, err);
    if (status == 0)
        status = run_pool(s, err);
    if (status == 0 && s->sharded > 0)
        status = session_grade_on_slurm(s, err);
    batch_progress_end(&s->progress);
    return status;
}

static int find_machine(struct session *s, struct error *err)
{
    s->batch.elsewhere = s->options->on_slurm;
    int status = s->batch.elsewhere ? shard_make_folders(s->options->folder, err)
                                    : crew_find_machine(&s->batch, err);
    batch_read_blanks(&s->batch);
    return status == 0 ? batch_settings(&s->batch, err) : -1;
}

/* ---- Terms ------------------------------------------------------------------------------------*/

/* Which commit counts, at what cost. */
static void write_commit_terms(struct bytes *terms, const struct batch_options *o)
{
    char deadline[MOMENT_TEXT_BYTES];
    if (o->deadline != NULL)
        bytes_printf(terms, " --deadline %s", moment_text(*o->deadline, deadline));
    if (o->late != NULL) {
        bytes_append_text(terms, " --late ");
        late_policy_write(terms, o->late);
    }
    if (o->tag_pattern != NULL)
        bytes_printf(terms, " --tag %s", o->tag_pattern);
    if (o->choice == REPO_TIP)
        bytes_append_text(terms, " --head");
    if (o->pushes != NULL)
        bytes_append_text(terms, " --pushed-at");
    if (o->path != NULL)
        bytes_printf(terms, " --path %s", o->path);
}

/* What it is graded by. */
static void write_machine_terms(struct bytes *terms, const struct batch_options *o)
{
    const struct machine_options *machine = &o->machine;
    char name[ARCH_NAME_BYTES];
    for (size_t i = 0; i < machine->arch_count; ++i)
        bytes_printf(terms, "%s%s", i == 0 ? " --arch " : ",",
                     arch_name(machine->archs[i], "sm_", name));
    if (strcmp(machine->executor, "auto") != 0)
        bytes_printf(terms, " --executor %s", machine->executor);
    if (o->elements != 0)
        bytes_printf(terms, " --elements %zu", o->elements);
    if (machine->launch_seconds != 0)
        bytes_printf(terms, " --launch-seconds %u", machine->launch_seconds);
}

static char *write_terms(const struct batch_options *o)
{
    struct bytes terms = bytes_with_limit(LIMIT_MESSAGE_BYTES);
    bytes_append_text(&terms, "");
    write_commit_terms(&terms, o);
    write_machine_terms(&terms, o);
    char *text = terms.failed ? NULL : bytes_take(&terms);
    bytes_release(&terms);
    return text;
}

/* An option that is forgotten changes everybody's grade, and nothing else would say so. */
static int compare_terms(struct session *s, struct error *err)
{
    struct batch_result *result = s->result;
    result->terms = write_terms(s->options);
    if (result->terms == NULL)
        return error_no_memory(err);
    if (gradebook_get(s->book, "terms", &result->terms_before, err) != 0)
        return -1;
    if (result->terms_before != NULL && strcmp(result->terms_before, result->terms) == 0) {
        free(result->terms_before);
        result->terms_before = NULL;
        return 0;
    }
    return gradebook_set(s->book, "terms", result->terms, err);
}

/* ---- The whole --------------------------------------------------------------------------------*/

static int finish(struct session *s, struct error *err)
{
    const struct batch_options *o = s->options;
    struct batch_result *result = s->result;
    const struct exports_options exports = {.folder = o->folder, .canvas = o->canvas};
    struct exports_report report = {0};
    if (standings_read(&result->standings, s->book, o->roster, o->lab, o->deadline, &s->policy,
                       err) != 0 ||
        exports_write(&result->standings, s->book, &exports, &report, err) != 0 ||
        compare_terms(s, err) != 0)
        return -1;
    result->notes = report.notes;
    summary_make(&result->summary, &result->standings);
    result->summary.cached = result->unchanged;
    return 0;
}

static void session_close(struct session *s)
{
    pool_close(s->pool);
    crew_release(&s->batch);
    bytes_release(&s->batch.blank_source);
    bytes_release(&s->batch.blank_answers);
    (void)pthread_mutex_destroy(&s->batch.numbers_lock);
    gradebook_close(s->book);
    if (s->lock >= 0)
        (void)close(s->lock);
}

int batch_run(struct batch_result *ret, const struct batch_options *options, struct error *err)
{
    *ret = (struct batch_result){0};
    struct session s = {.options = options,
                        .result = ret,
                        .lock = -1,
                        .policy = options->late != NULL ? *options->late : late_policy_none(),
                        .batch = {.options = options, .now_s = (int64_t)time(NULL)}};
    (void)pthread_mutex_init(&s.batch.numbers_lock, NULL);
    int status = -1;
    if (batch_session_open(&s, err) == 0 && find_machine(&s, err) == 0 &&
        select_students(&s, err) == 0) {
        ret->seed = s.batch.seed;
        status = grade_all(&s, err);
        if (status == 0)
            status = finish(&s, err);
    }
    session_close(&s);
    return status;
}

void batch_result_release(struct batch_result *result)
{
    standings_release(&result->standings);
    problems_release(&result->notes);
    student_ids_release(&result->left);
    free(result->terms);
    free(result->terms_before);
    *result = (struct batch_result){0};
}

/* cmd_watch.c - `spillway watch`: grade again at each save, and show only what changed.
 *
 * The compiler starts as soon as a save is noticed; the marks that need no launch are shown when it
 * ends, the rest after the kernels ran. Inputs and reference are computed once, a change of
 * answers.ini alone is judged without building anything, and what a newer save has overtaken is not
 * run any more. */
#include "commands.h"

#include <pthread.h>
#include <time.h>

#include "files.h"
#include "grading_options.h"
#include "memory.h"
#include "out_text.h"
#include "process.h"
#include "progress.h"
#include "watch.h"
#include "watch_page.h"
#include "wrap.h"

static const char usage[] =
    "usage: spillway watch [DIR] [OPTION]…\n"
    "\n"
    "Grades the submission in DIR (default: the current folder), and again at each\n"
    "save, showing only the marks that changed. Ctrl-C ends it.\n"
    "\n"
    "  --lab ID              the lab (default: answers.ini says, else DIR's name)\n"
    "  --arch sm_XX[,sm_YY]  grade for these architectures\n"
    "  --executor KIND       auto (default), gpu, emulator, or none\n"
    "  --seed N              inputs and shifts are drawn from N (default: random)\n"
    "  --sandbox MODE        auto (default: the best that works here), off, or on\n"
    "  --nvcc PATH           the compiler (default: CUDA_HOME, PATH, /usr/local/cuda)\n"
    "  --threads N           threads of the emulator (default: one per core)\n"
    "  --launch-seconds N    stop a kernel that has not ended after N s (default: 20)\n"
    "  --help                this text\n"
    "\n"
    "Exit status: 2 usage, 3 the machine failed, 130 ended by Ctrl-C.\n"
    "\n"
    "Examples:\n"
    "  spillway watch\n"
    "  spillway watch ~/day17 --arch sm_75 --executor emulator\n";

/* ---- Options --------------------------------------------------------------------------------- */

/* Returns 1 after --help was printed, 0 to go on, -1 with *err. */
static int parse_options(struct grading_options *options, int argc, char **argv, struct error *err)
{
    static const struct option table[] = {
        {"lab", required_argument, NULL, GRADING_LAB},
        {"arch", required_argument, NULL, GRADING_ARCH},
        {"executor", required_argument, NULL, GRADING_EXECUTOR},
        {"seed", required_argument, NULL, GRADING_SEED},
        {"sandbox", required_argument, NULL, GRADING_SANDBOX},
        {"nvcc", required_argument, NULL, GRADING_NVCC},
        {"threads", required_argument, NULL, GRADING_THREADS},
        {"launch-seconds", required_argument, NULL, GRADING_LAUNCH_SECONDS},
        {"help", no_argument, NULL, OPTIONS_HELP},
        {NULL, 0, NULL, 0},
    };
    *options = GRADING_OPTIONS;
    optind = 0;
    for (int option; (option = options_next(argc, argv, table, "watch", err)) != OPTIONS_END;) {
        if (option == OPTIONS_HELP) {
            (void)fputs(usage, stdout);
            return 1;
        }
        if (grading_options_take(options, option, optarg, err) != 0)
            return -1;
    }
    return grading_options_folder(options, argc, argv, err) == 0
               ? grading_options_draw_seed(options, err)
               : -1;
}

/* ---- A session ------------------------------------------------------------------------------- */

/* One state of the files, and what is known of it. */
struct state {
    struct submission submission;
    struct pipeline pipeline; /* points to the submission beside it */
    bool built, ran;
};

struct session {
    struct grading_options options;
    struct machine machine;
    const struct lab *lab;
    struct numbers numbers;
    bool prepared;
    struct run_lane *lane;
    struct state states[2]; /* the last one, and the next */
    size_t last;
    struct watch watch;
    struct watch_page page;
    bool missing; /* it was said already that there is nothing to grade */
};

static void state_release(struct state *state)
{
    pipeline_release(&state->pipeline);
    submission_release(&state->submission);
    *state = (struct state){0};
}

static void session_release(struct session *s)
{
    state_release(&s->states[0]);
    state_release(&s->states[1]);
    watch_page_end(&s->page);
    watch_close(&s->watch);
    run_lane_close(s->lane);
    numbers_release(&s->numbers);
    machine_release(&s->machine);
}

/* The files that are graded now, and those that would be if they were there. */
static int watch_files(struct session *s, const struct submission *submission, struct error *err)
{
    AUTO_FREE char *folder = realpath(s->options.submission.directory, NULL);
    if (folder == NULL)
        return error_set_errno(err, ERROR_USAGE, "cannot watch %s",
                               s->options.submission.directory);
    AUTO_FREE char *source = path_join(folder, s->lab->source_name);
    AUTO_FREE char *answers = path_join(folder, "answers.ini");
    if (source == NULL || answers == NULL)
        return error_no_memory(err);
    return watch_add(&s->watch, source, err) != 0 || watch_add(&s->watch, answers, err) != 0 ||
                   watch_add(&s->watch, submission->source.path, err) != 0 ||
                   (submission->answers_path != NULL &&
                    watch_add(&s->watch, submission->answers_path, err) != 0)
               ? -1
               : 0;
}

/* ---- One round ------------------------------------------------------------------------------- */

/* Prints what was appended, at once: a person waits for it. */
static void say(struct bytes *page)
{
    progress_clear();
    (void)fwrite(bytes_text(page), 1, page->length, stdout);
    (void)fflush(stdout);
    bytes_clear(page);
}

static bool same_source(const struct state *a, const struct state *b)
{
    return a->submission.source_id[0] != '\0' &&
           strcmp(a->submission.source_id, b->submission.source_id) == 0;
}

static bool same_choice(const struct choice *a, const struct choice *b)
{
    if (a->arch_count != b->arch_count || a->graded_count != b->graded_count ||
        a->declared != b->declared)
        return false;
    for (size_t i = 0; i < a->arch_count; ++i)
        if (!arch_equal(a->archs[i], b->archs[i]))
            return false;
    return true;
}

/* What was built and run for the last state holds for this one: only answers.ini is another. */
static void take_over(struct state *state, struct state *last)
{
    struct pipeline *to = &state->pipeline, *from = &last->pipeline;
    grade_release(&from->grade);
    rubric_input_release(&from->rubric);
    to->build = from->build;
    to->scrub = from->scrub;
    to->result = from->result;
    from->build = (struct build){0};
    from->scrub = (struct build_image){0};
    from->result = (struct numbers_result){0};
    state->built = true;
    state->ran = last->ran;
    last->built = last->ran = false;
}

struct preparation {
    struct session *session;
    int status;
    struct error err;
};

static void *prepare_main(void *argument)
{
    struct preparation *preparation = argument;
    struct session *s = preparation->session;
    preparation->status =
        numbers_prepare(&s->numbers, s->lab, s->options.seed, 0, &preparation->err);
    return NULL;
}

/* Inputs and reference are made while the compiler runs, once. */
static int build(struct session *s, struct state *state, struct error *err)
{
    struct preparation preparation = {.session = s};
    pthread_t thread;
    bool beside = !s->prepared && pthread_create(&thread, NULL, prepare_main, &preparation) == 0;
    progress_show("compiling …");
    int status = pipeline_build(&state->pipeline, err);
    if (beside)
        (void)pthread_join(thread, NULL);
    else if (!s->prepared)
        (void)prepare_main(&preparation);
    s->prepared = s->prepared || preparation.status == 0;
    if (status == 0 && preparation.status != 0) {
        *err = preparation.err;
        return -1;
    }
    state->built = status == 0;
    return status;
}

static double seconds_since(int64_t begun_ns)
{
    return (double)(process_now_ns() - begun_ns) / 1e9;
}

/* Shows the marks that are another than before; *first_s becomes when the first of them was shown.
 */
static int show(struct session *s, const struct state *state, struct bytes *page, bool preview,
                int64_t noticed_ns, double *first_s)
{
    int changed = watch_page_marks(&s->page, page, &state->pipeline.grade, preview);
    if (changed > 0 || preview) {
        say(page);
        if (*first_s == 0)
            *first_s = seconds_since(noticed_ns);
    }
    return changed;
}

static bool same_answers(const struct state *a, const struct state *b)
{
    return strcmp(a->submission.answers_id, b->submission.answers_id) == 0;
}

/* Do the files hold something else by now? Many an editor sets a mode or a time after a save: that
 * alone is none. */
static bool overtaken(struct session *s, const struct state *state)
{
    struct watch_stamp stamps[WATCH_FILES_MAX];
    struct state now = {0};
    struct error ignored = {0};
    if (!watch_changed(&s->watch))
        return false;
    watch_look(&s->watch, stamps);
    bool other = submission_read(&now.submission, &s->options.submission, &ignored) != 0 ||
                 !same_source(&now, state) || !same_answers(&now, state);
    if (!other)
        memcpy(s->watch.stamps, stamps, sizeof stamps[0] * s->watch.count);
    submission_release(&now.submission);
    return other;
}

/* Grades the state, as much of it as was not known before. */
static int grade(struct session *s, struct state *state, int64_t noticed_ns, struct error *err)
{
    struct bytes page = bytes_with_limit((size_t)1 << 20);
    double first_s = 0;
    int shown = 0, more = 0, status = -1;
    if (!state->built) {
        if (build(s, state, err) != 0 || pipeline_preview(&state->pipeline, err) != 0)
            goto done;
        shown = show(s, state, &page, true, noticed_ns, &first_s);
    }
    if (overtaken(s, state)) { /* the next round shows what is missing */
        status = 0;
        goto done;
    }
    progress_show("running %zu launches …", s->numbers.case_count);
    if ((!state->ran && pipeline_run(&state->pipeline, err) != 0) ||
        pipeline_judge(&state->pipeline, err) != 0)
        goto done;
    state->ran = true;
    more = show(s, state, &page, false, noticed_ns, &first_s);
    if (shown < 0 || more < 0) {
        error_no_memory(err);
        goto done;
    }
    if (shown + more == 0)
        bytes_append_text(&page, "No mark has changed.\n");
    watch_page_score(&s->page, &page, &state->pipeline.grade);
    bytes_printf(&page, "(first marks %.2f s after the save was noticed, all after %.2f s)\n",
                 first_s == 0 ? seconds_since(noticed_ns) : first_s, seconds_since(noticed_ns));
    say(&page);
    struct error ignored = {0};
    (void)memory_keep(&state->pipeline.grade, &ignored);
    status = 0;
done:
    bytes_release(&page);
    return status;
}

static void say_what_was_saved(const struct session *s, const struct state *last,
                               const struct state *state)
{
    char clock[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (localtime_r(&now, &parts) != NULL)
        (void)strftime(clock, sizeof clock, "%H:%M:%S", &parts);
    bool source = !same_source(last, state);
    bool answers = !same_answers(last, state);
    (void)printf("\n%s  %s%s%s\n", clock, source ? s->lab->source_name : "",
                 source && answers ? ", " : "", answers ? "answers.ini" : "");
}

/* Reads the files and grades them if they are others than before. */
static int take_round(struct session *s, int64_t noticed_ns, struct error *err)
{
    struct state *last = &s->states[s->last], *next = &s->states[1 - s->last];
    if (submission_read(&next->submission, &s->options.submission, err) != 0)
        return -1;
    s->missing = false;
    if (last->ran && same_source(last, next) && same_answers(last, next)) {
        state_release(next);
        return 0;
    }
    say_what_was_saved(s, last, next);
    if (pipeline_start(&next->pipeline, &s->machine, &next->submission, &s->numbers, err) != 0)
        return -1;
    next->pipeline.lane = s->lane;
    if (last->built && same_source(last, next) &&
        same_choice(&last->pipeline.choice, &next->pipeline.choice))
        take_over(next, last);
    if (grade(s, next, noticed_ns, err) != 0)
        return -1;
    state_release(last);
    s->last = 1 - s->last;
    return 0;
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* What a user can mend ends no watch. */
static int survive(struct session *s, struct error *err)
{
    state_release(&s->states[1 - s->last]);
    progress_clear();
    if (err->kind == ERROR_INTERRUPTED)
        return -1;
    struct bytes page = bytes_with_limit(4000);
    bytes_append_text(&page, "\n");
    wrap_text(&page, 0, "", err->text);
    bytes_append_text(&page, "Waiting for the next save.\n");
    if (!(s->missing && err->kind == ERROR_USAGE))
        say(&page);
    bytes_release(&page);
    s->missing = err->kind == ERROR_USAGE;
    *err = (struct error){0};
    return 0;
}

static int session_start(struct session *s, struct error *err)
{
    struct submission submission;
    if (submission_read(&submission, &s->options.submission, err) != 0)
        return -1;
    s->lab = submission.lab;
    s->options.submission.lab_id = s->lab->id; /* for good, whatever answers.ini says later */
    watch_open(&s->watch);
    int status = watch_files(s, &submission, err);
    submission_release(&submission);
    if (status != 0 || machine_find(&s->machine, &s->options.machine, err) != 0)
        return -1;
    if (watch_page_start(&s->page, s->lab, out_text_wants_colour(stdout)) != 0)
        return error_no_memory(err);
    s->lane = run_lane_open();
    (void)printf("%s: watching %s and answers.ini; Ctrl-C ends it\n", s->lab->title,
                 s->lab->source_name);
    return 0;
}

static int watch_loop(struct session *s, struct error *err)
{
    int64_t noticed_ns = process_now_ns();
    for (;;) {
        if (take_round(s, noticed_ns, err) != 0 && survive(s, err) != 0)
            return -1;
        if (watch_wait(&s->watch, &noticed_ns, err) != 0)
            return -1;
    }
}

int cmd_watch(int argc, char **argv)
{
    struct error err = {0};
    struct session session = {.watch.fd = -1};
    int parsed = parse_options(&session.options, argc, argv, &err);
    if (parsed > 0)
        return EXIT_STATUS_DONE;
    if (parsed == 0 && session_start(&session, &err) == 0)
        (void)watch_loop(&session, &err);
    session_release(&session);
    progress_clear();
    return error_report(&err);
}

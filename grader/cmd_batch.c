/* cmd_batch.c - `spillway batch`: grade a class from its repos. */
#include "commands.h"

#include "cmd_batch.h"
#include "grading_options.h"
#include "progress.h"
#include "text.h"

#define STUDENTS_MOST 1000 /* named with --student */
#define SBATCH_OPTIONS_MOST 50

struct command {
    struct batch_options batch;
    struct grading_options grading;
    const char *roster_path, *override_path, *pushed_path, *zone_text, *deadline_text, *since_text;
    const char *late_text, *canvas_path, *canvas_column, *gres_text;
    const char *sbatch_options[SBATCH_OPTIONS_MOST];
    const char *students[STUDENTS_MOST];
    char *student_lists[STUDENTS_MOST]; /* owned */
    size_t student_list_count;
    /* What the options' pointers point to */
    struct roster roster;
    struct overrides overrides;
    struct pushlog pushes;
    struct canvas canvas;
    struct moment deadline;
    struct late_policy late;
    bool publish;
};

static const char usage[] =
    "usage: spillway batch ROSTER.csv --lab ID --out DIR [OPTION]…\n"
    "\n"
    "Grades the repo of every student in the roster into DIR: gradebook.sqlite,\n"
    "grades.csv, and a folder a student. The same command again grades only what\n"
    "has changed, and goes on where one that was stopped left off.\n"
    "\n"
    "The roster has a header: id, name, email, repo; and if you like ref, deadline,\n"
    "extension_hours, group.\n"
    "\n"
    "Which commit:\n"
    "  --deadline TIME       the last commit at or before it counts, as in\n"
    "                        \"2026-03-29 23:59 Europe/Berlin\"\n"
    "  --zone NAME           zone of times without one, and of times that are shown\n"
    "  --late POLICY         later commits count, at a cost, as in\n"
    "                        percent=10,cap=50,grace=30min,slack=1,days=3\n"
    "  --pushed-at FILE      when commits arrived (CSV: commit, time, id or repo)\n"
    "  --tag PATTERN         the last tag of that name, as in 'submit/*'\n"
    "  --head                the newest commit, whenever it was made\n"
    "  --path FOLDER         where in the repos the files are; who has none there is\n"
    "                        graded from the usual places, with a note\n"
    "  --ssh-key FILE        the key for ssh (default: the agent's)\n"
    "Who:\n"
    "  --student ID[,ID]     only these\n"
    "  --failed              only who lost a mark, or handed in nothing readable\n"
    "  --since TIME          only who was graded at TIME or later\n"
    "  --retry               only whom trouble of the machine kept from being graded\n"
    "  --force               also what has not changed\n"
    "How:\n"
    "  --arch sm_XX[,sm_YY]  grade for these architectures\n"
    "  --executor KIND       auto (default), gpu, emulator, or none\n"
    "  --seed N              inputs and shifts are drawn from N (default: random at\n"
    "                        first, then the same)\n"
    "  --jobs N              build so many at a time (default: one per core)\n"
    "  --fetch-jobs N        fetch so many at a time\n"
    "  --nvcc PATH           the compiler (default: CUDA_HOME, PATH, /usr/local/cuda)\n"
    "  --sandbox MODE        on (default), auto or off\n"
    "  --elements N          elements of the full-size launches (default: the lab's)\n"
    "  --launch-seconds N    stop a kernel that has not ended after N s (default: 20)\n"
    "Where:\n"
    "  --engine KIND         local (default), or slurm: fetch here, grade on nodes\n"
    "  --partition NAME      of Slurm, like the following\n"
    "  --time LIMIT          of one task, as in 2:00:00\n"
    "  --gres LIST           what a task needs (default: gpu:1, without a GPU none)\n"
    "  --per-task N          students of one task\n"
    "  --sbatch OPTION       one more option for sbatch, as it is\n"
    "What is written:\n"
    "  --override FILE       points set by hand (CSV: student, mark, points, reason)\n"
    "  --canvas FILE         also canvas.csv, made from this export of Canvas\n"
    "  --canvas-column NAME  the assignment's column there\n"
    "  --publish             push each student's feedback to the branch `feedback` of\n"
    "                        the student's own repo, and to no other branch\n"
    "\n"
    "Exit status: 0 everybody is graded; 2 usage; 3 the machine failed, for everybody\n"
    "or for those who are listed (--retry tries them again); 130 interrupted.\n"
    "\n"
    "Examples:\n"
    "  spillway batch roster.csv --lab day17-registers --out results\n"
    "  spillway batch roster.csv --lab day17-registers --out results \\\n"
    "    --deadline '2026-03-29 23:59 Europe/Berlin' --late percent=10,days=3\n"
    "  spillway batch roster.csv --lab day17-registers --out results --retry\n"
    "  spillway batch roster.csv --lab day17-registers --out results \\\n"
    "    --engine slurm --partition gpu --time 30 --sbatch -c4\n";

/* ---- Options ---------------------------------------------------------------------------------*/

enum {
    OPT_OUT = GRADING_OWN,
    OPT_DEADLINE,
    OPT_ZONE,
    OPT_LATE,
    OPT_PUSHED_AT,
    OPT_TAG,
    OPT_HEAD,
    OPT_PATH,
    OPT_SSH_KEY,
    OPT_STUDENT,
    OPT_FAILED,
    OPT_SINCE,
    OPT_RETRY,
    OPT_FORCE,
    OPT_JOBS,
    OPT_FETCH_JOBS,
    OPT_OVERRIDE,
    OPT_CANVAS,
    OPT_CANVAS_COLUMN,
    OPT_PUBLISH,
    OPT_ENGINE,
    OPT_PARTITION,
    OPT_TIME,
    OPT_GRES,
    OPT_PER_TASK,
    OPT_SBATCH
};

static const struct option long_options[] = {
    /* clang-format off */
    {"lab",            required_argument, NULL, GRADING_LAB},
    {"out",            required_argument, NULL, OPT_OUT},
    {"deadline",       required_argument, NULL, OPT_DEADLINE},
    {"zone",           required_argument, NULL, OPT_ZONE},
    {"late",           required_argument, NULL, OPT_LATE},
    {"pushed-at",      required_argument, NULL, OPT_PUSHED_AT},
    {"tag",            required_argument, NULL, OPT_TAG},
    {"head",           no_argument,       NULL, OPT_HEAD},
    {"path",           required_argument, NULL, OPT_PATH},
    {"ssh-key",        required_argument, NULL, OPT_SSH_KEY},
    {"student",        required_argument, NULL, OPT_STUDENT},
    {"failed",         no_argument,       NULL, OPT_FAILED},
    {"since",          required_argument, NULL, OPT_SINCE},
    {"retry",          no_argument,       NULL, OPT_RETRY},
    {"force",          no_argument,       NULL, OPT_FORCE},
    {"arch",           required_argument, NULL, GRADING_ARCH},
    {"executor",       required_argument, NULL, GRADING_EXECUTOR},
    {"seed",           required_argument, NULL, GRADING_SEED},
    {"jobs",           required_argument, NULL, OPT_JOBS},
    {"fetch-jobs",     required_argument, NULL, OPT_FETCH_JOBS},
    {"nvcc",           required_argument, NULL, GRADING_NVCC},
    {"sandbox",        required_argument, NULL, GRADING_SANDBOX},
    {"elements",       required_argument, NULL, GRADING_ELEMENTS},
    {"launch-seconds", required_argument, NULL, GRADING_LAUNCH_SECONDS},
    {"override",       required_argument, NULL, OPT_OVERRIDE},
    {"canvas",         required_argument, NULL, OPT_CANVAS},
    {"canvas-column",  required_argument, NULL, OPT_CANVAS_COLUMN},
    {"publish",        no_argument,       NULL, OPT_PUBLISH},
    {"engine",         required_argument, NULL, OPT_ENGINE},
    {"partition",      required_argument, NULL, OPT_PARTITION},
    {"time",           required_argument, NULL, OPT_TIME},
    {"gres",           required_argument, NULL, OPT_GRES},
    {"per-task",       required_argument, NULL, OPT_PER_TASK},
    {"sbatch",         required_argument, NULL, OPT_SBATCH},
    {"help",           no_argument,       NULL, OPTIONS_HELP},
    {NULL, 0, NULL, 0},
    /* clang-format on */
};

static int add_students(struct command *c, const char *list, struct error *err)
{
    if (c->student_list_count >= STUDENTS_MOST)
        return error_set(err, ERROR_USAGE, "--student: at most %d at a time", STUDENTS_MOST);
    char *rest = strdup(list);
    if (rest == NULL)
        return error_no_memory(err);
    c->student_lists[c->student_list_count++] = rest;
    for (char *id; (id = strsep(&rest, ",")) != NULL;) {
        if (id[0] == '\0')
            continue;
        if (c->batch.student_count >= STUDENTS_MOST)
            return error_set(err, ERROR_USAGE, "--student: at most %d at a time", STUDENTS_MOST);
        c->students[c->batch.student_count++] = id;
    }
    c->batch.students = c->students;
    return 0;
}

static int take_count(unsigned *ret, const char *name, const char *value, uint64_t least,
                      uint64_t most, struct error *err)
{
    uint64_t number = 0;
    if (options_number(&number, name, value, least, most, "", err) != 0)
        return -1;
    *ret = (unsigned)number;
    return 0;
}

/* The options that are kept as they are. */
static bool keep_text(struct command *c, int option, const char *value)
{
    const struct {
        int option;
        const char **into;
    } texts[] = {
        {OPT_OUT, &c->batch.folder},
        {OPT_DEADLINE, &c->deadline_text},
        {OPT_ZONE, &c->zone_text},
        {OPT_LATE, &c->late_text},
        {OPT_PUSHED_AT, &c->pushed_path},
        {OPT_TAG, &c->batch.tag_pattern},
        {OPT_PATH, &c->batch.path},
        {OPT_SSH_KEY, &c->batch.repo.ssh_key},
        {OPT_SINCE, &c->since_text},
        {OPT_OVERRIDE, &c->override_path},
        {OPT_CANVAS, &c->canvas_path},
        {OPT_CANVAS_COLUMN, &c->canvas_column},
        {OPT_PARTITION, &c->batch.slurm.partition},
        {OPT_TIME, &c->batch.slurm.time},
        {OPT_GRES, &c->gres_text},
    };
    for (size_t i = 0; i < COUNT_OF(texts); ++i)
        if (texts[i].option == option) {
            *texts[i].into = value;
            return true;
        }
    return false;
}

static int take_slurm_option(struct command *c, int option, const char *value, struct error *err)
{
    struct batch_options *batch = &c->batch;
    uint64_t number = 0;
    switch (option) {
    case OPT_ENGINE:
        batch->on_slurm = strcmp(value, "slurm") == 0;
        return batch->on_slurm || strcmp(value, "local") == 0
                   ? 0
                   : options_refuse(err, "--engine", value, "local or slurm");
    case OPT_PER_TASK:
        if (options_number(&number, "--per-task", value, 1, 100000, "", err) != 0)
            return -1;
        batch->per_task = number;
        return 0;
    default:
        if (batch->slurm.extra_count >= SBATCH_OPTIONS_MOST)
            return error_set(err, ERROR_USAGE, "--sbatch: at most %d times", SBATCH_OPTIONS_MOST);
        c->sbatch_options[batch->slurm.extra_count++] = value;
        batch->slurm.extra = c->sbatch_options;
        return 0;
    }
}

static int take_option(struct command *c, int option, const char *value, struct error *err)
{
    struct batch_options *batch = &c->batch;
    if (keep_text(c, option, value))
        return 0;
    switch (option) {
    case OPT_HEAD:
        batch->choice = REPO_TIP;
        return 0;
    case OPT_STUDENT:
        return add_students(c, value, err);
    case OPT_FAILED:
        batch->failed = true;
        return 0;
    case OPT_RETRY:
        batch->retry = true;
        return 0;
    case OPT_FORCE:
        batch->force = true;
        return 0;
    case OPT_PUBLISH:
        c->publish = true;
        return 0;
    case OPT_JOBS:
        return take_count(&batch->jobs, "--jobs", value, 1, 1024, err);
    case OPT_FETCH_JOBS:
        return take_count(&batch->fetch_jobs, "--fetch-jobs", value, 1, 256, err);
    case OPT_ENGINE:
    case OPT_PER_TASK:
    case OPT_SBATCH:
        return take_slurm_option(c, option, value, err);
    default:
        return grading_options_take(&c->grading, option, value, err);
    }
}

/* Returns 1 after --help was printed, 0 to go on, -1 with *err. */
static int parse_options(struct command *c, int argc, char **argv, struct error *err)
{
    optind = 0;
    for (int option;
         (option = options_next(argc, argv, long_options, "batch", err)) != OPTIONS_END;) {
        if (option == OPTIONS_HELP) {
            (void)fputs(usage, stdout);
            return 1;
        }
        if (take_option(c, option, optarg, err) != 0)
            return -1;
    }
    if (argc - optind != 1)
        return error_set(err, ERROR_USAGE,
                         argc == optind ? "name the roster: spillway batch ROSTER.csv --lab ID "
                                          "--out DIR"
                                        : "one roster at a time: what is \"%s\"?",
                         argv[argc - 1]);
    c->roster_path = argv[optind];
    const char *lab_id = c->grading.submission.lab_id;
    if (lab_id == NULL || c->batch.folder == NULL)
        return error_set(err, ERROR_USAGE,
                         "%s is missing: spillway batch ROSTER.csv --lab ID "
                         "--out DIR",
                         lab_id == NULL ? "--lab ID" : "--out DIR");
    if (c->canvas_column != NULL && c->canvas_path == NULL)
        return error_set(err, ERROR_USAGE,
                         "--canvas-column names a column of what --canvas FILE exports: give both");
    if (c->batch.tag_pattern != NULL && c->batch.choice == REPO_TIP)
        return error_set(err, ERROR_USAGE, "--tag and --head choose different commits: take one");
    if (c->batch.tag_pattern != NULL)
        c->batch.choice = REPO_LAST_TAG;
    c->batch.machine = c->grading.machine;
    c->batch.has_seed = c->grading.has_seed;
    c->batch.seed = c->grading.seed;
    c->batch.elements = c->grading.elements;
    bool no_gpu = strcmp(c->batch.machine.executor, "emulator") == 0 ||
                  strcmp(c->batch.machine.executor, "none") == 0;
    if (c->gres_text != NULL)
        c->batch.slurm.gres = strcmp(c->gres_text, "none") == 0 ? NULL : c->gres_text;
    else
        c->batch.slurm.gres = no_gpu ? NULL : "gpu:1";
    return 0;
}

/* ---- What the options name -------------------------------------------------------------------*/

static int read_lab(struct command *c, struct error *err)
{
    const char *id = c->grading.submission.lab_id;
    c->batch.lab = lab_find(id);
    if (c->batch.lab != NULL)
        return 0;
    return error_set(err, ERROR_USAGE, "there is no lab \"%s\"; `spillway labs` lists them", id);
}

static int read_time(struct moment *ret, const char *option, const char *text,
                     const struct zone *zone, struct error *err)
{
    char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];
    if (!moment_parse(ret, text, zone, problem, note))
        return error_set(err, ERROR_USAGE, "%s \"%s\": %s", option, text, problem);
    if (note[0] != '\0')
        (void)fprintf(stderr, "spillway: %s: %s\n", option, note);
    return 0;
}

static int read_times(struct command *c, struct error *err)
{
    char problem[MOMENT_PROBLEM_BYTES];
    struct moment since;
    if (c->zone_text != NULL && (c->batch.zone = zone_find(c->zone_text, problem)) == NULL)
        return error_set(err, ERROR_USAGE, "--zone %s: %s", c->zone_text, problem);
    if (c->deadline_text != NULL) {
        if (read_time(&c->deadline, "--deadline", c->deadline_text, c->batch.zone, err) != 0)
            return -1;
        c->batch.deadline = &c->deadline;
        if (c->batch.zone == NULL)
            c->batch.zone = c->deadline.zone;
    }
    if (c->since_text != NULL) {
        if (read_time(&since, "--since", c->since_text, c->batch.zone, err) != 0)
            return -1;
        c->batch.has_since = true;
        c->batch.since_s = since.unix_s;
    }
    if (c->late_text == NULL)
        return 0;
    c->batch.late = &c->late;
    return late_policy_parse(&c->late, c->late_text, err);
}

/* Everything that is wrong with a file of the instructor's, at once. */
static int refuse_file(struct problems *problems, const char *path, struct error *err)
{
    if (err->kind == ERROR_NONE && problems->total > 0) {
        struct bytes page = bytes_with_limit((size_t)1 << 20);
        problems_sort(problems);
        problems_write(&page, problems, path);
        (void)fputs(bytes_text(&page), stderr);
        bytes_release(&page);
        error_set(err, ERROR_USAGE, "%s has %zu problem%s: nothing was graded", path,
                  problems->total, problems->total == 1 ? "" : "s");
    }
    problems_release(problems);
    return err->kind == ERROR_NONE ? 0 : -1;
}

static void show_notes(const struct problems *notes, const char *path)
{
    struct bytes page = bytes_with_limit((size_t)1 << 20);
    problems_write(&page, notes, path);
    (void)fputs(bytes_text(&page), stderr);
    bytes_release(&page);
}

static int read_files(struct command *c, struct error *err)
{
    struct problems problems = {0};
    (void)roster_read(&c->roster, c->roster_path, c->batch.zone, &problems, err);
    if (refuse_file(&problems, c->roster_path, err) != 0)
        return -1;
    show_notes(&c->roster.notes, c->roster_path);
    if (c->roster.count == 0)
        return error_set(err, ERROR_USAGE, "%s names no student", c->roster_path);
    c->batch.roster = &c->roster;
    if (c->override_path != NULL) {
        (void)overrides_read(&c->overrides, c->override_path, &c->roster, c->batch.lab, &problems,
                             err);
        if (refuse_file(&problems, c->override_path, err) != 0)
            return -1;
        c->batch.overrides = &c->overrides;
    }
    if (c->pushed_path != NULL) {
        (void)pushlog_read(&c->pushes, c->pushed_path, &c->roster, c->batch.zone, &problems, err);
        if (refuse_file(&problems, c->pushed_path, err) != 0)
            return -1;
        show_notes(&c->pushes.notes, c->pushed_path);
        c->batch.pushes = &c->pushes;
    }
    if (c->canvas_path != NULL) {
        (void)canvas_read(&c->canvas, c->canvas_path, c->canvas_column, c->batch.lab, &problems,
                          err);
        if (refuse_file(&problems, c->canvas_path, err) != 0)
            return -1;
        c->batch.canvas = &c->canvas;
        char title[100];
        if (c->canvas.guessed)
            (void)fprintf(stderr,
                          "spillway: %s: \"%s\" does not name the lab, but is its only assignment, "
                          "and is taken (--canvas-column names another)\n",
                          c->canvas_path, text_copy(title, sizeof title, c->canvas.title));
    }
    return 0;
}

/* A policy that could not cost anybody anything was given by mistake. */
static int check_late(const struct command *c, struct error *err)
{
    struct moment deadline;
    if (c->late_text == NULL)
        return 0;
    for (size_t i = 0; i < c->roster.count; ++i)
        if (student_deadline(&c->roster.students[i], c->batch.deadline, &deadline))
            return 0;
    return error_set(err, ERROR_USAGE,
                     "--late %s: late after what? Give --deadline TIME, or a column `deadline` in "
                     "%s",
                     c->late_text, c->roster_path);
}

/* ---- All -------------------------------------------------------------------------------------*/

static void command_release(struct command *c)
{
    for (size_t i = 0; i < c->student_list_count; ++i)
        free(c->student_lists[i]);
    canvas_release(&c->canvas);
    pushlog_release(&c->pushes);
    overrides_release(&c->overrides);
    roster_release(&c->roster);
}

int cmd_batch(int argc, char **argv)
{
    struct error err = {0};
    struct batch_result result = {0};
    struct command *c = calloc(1, sizeof *c);
    if (c == NULL) {
        error_no_memory(&err);
        return error_report(&err);
    }
    c->grading = GRADING_OPTIONS;
    c->grading.machine.sandbox = SANDBOX_ON;
    int status = parse_options(c, argc, argv, &err);
    if (status == 0)
        status = read_lab(c, &err);
    if (status == 0)
        status = read_times(c, &err);
    if (status == 0)
        status = read_files(c, &err);
    if (status == 0)
        status = check_late(c, &err);
    if (status == 0) {
        status = batch_run(&result, &c->batch, &err);
        if (status == 0)
            cmd_batch_summary(&c->batch, &result);
        else
            cmd_batch_remainder(&c->batch, &result);
        if (status == 0 && c->publish)
            status = cmd_batch_publish(&c->batch, &result, &err);
    }
    if (status == 0 && result.trouble > 0)
        error_set(&err, ERROR_INFRASTRUCTURE,
                  "%zu student%s could not be graded, through no fault of theirs: %s/trouble.csv "
                  "says why; --retry tries again",
                  result.trouble, result.trouble == 1 ? "" : "s", c->batch.folder);
    batch_result_release(&result);
    command_release(c);
    free(c);
    return status > 0 || err.kind == ERROR_NONE ? EXIT_STATUS_DONE : error_report(&err);
}

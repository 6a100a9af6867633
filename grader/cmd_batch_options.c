/* cmd_batch_options.c - the command line of `spillway batch`. */
#include "cmd_batch.h"

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

static int add_students(struct batch_command *c, const char *list, struct error *err)
{
    if (c->student_list_count >= BATCH_STUDENTS_MOST)
        return error_set(err, ERROR_USAGE, "--student: at most %d at a time", BATCH_STUDENTS_MOST);
    char *rest = strdup(list);
    if (rest == NULL)
        return error_no_memory(err);
    c->student_lists[c->student_list_count++] = rest;
    size_t before = c->batch.student_count;
    for (char *id; (id = strsep(&rest, ", \t")) != NULL;) {
        if (id[0] == '\0')
            continue;
        if (c->batch.student_count >= BATCH_STUDENTS_MOST)
            return error_set(err, ERROR_USAGE, "--student: at most %d at a time",
                             BATCH_STUDENTS_MOST);
        c->students[c->batch.student_count++] = id;
    }
    c->batch.students = c->students;
    /* Nobody, as an empty variable of a script gives, does not mean everybody. */
    return c->batch.student_count > before
               ? 0
               : error_set(err, ERROR_USAGE,
                           "--student \"%s\" names nobody: expected ids of the roster, joined by "
                           "commas",
                           list);
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
static bool keep_text(struct batch_command *c, int option, const char *value)
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

static int take_slurm_option(struct batch_command *c, int option, const char *value,
                             struct error *err)
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
        if (batch->slurm.extra_count >= BATCH_SBATCH_OPTIONS_MOST)
            return error_set(err, ERROR_USAGE, "--sbatch: at most %d times",
                             BATCH_SBATCH_OPTIONS_MOST);
        c->sbatch_options[batch->slurm.extra_count++] = value;
        batch->slurm.extra = c->sbatch_options;
        return 0;
    }
}

/* What nobody but Slurm takes, as it is written; NULL: not one of these. */
static const char *slurm_option(int option)
{
    switch (option) {
    case OPT_PARTITION:
        return "--partition";
    case OPT_TIME:
        return "--time";
    case OPT_GRES:
        return "--gres";
    case OPT_PER_TASK:
        return "--per-task";
    case OPT_SBATCH:
        return "--sbatch";
    default:
        return NULL;
    }
}

static int take_option(struct batch_command *c, int option, const char *value, struct error *err)
{
    struct batch_options *batch = &c->batch;
    if (c->slurm_option == NULL)
        c->slurm_option = slurm_option(option);
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

int cmd_batch_parse(struct batch_command *c, int argc, char **argv, struct error *err)
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
    if (c->batch.folder != NULL && c->batch.folder[0] == '\0')
        return error_set(err, ERROR_USAGE, "--out \"\" names no folder");
    if (lab_id == NULL || c->batch.folder == NULL)
        return error_set(err, ERROR_USAGE,
                         "%s is missing: spillway batch ROSTER.csv --lab ID "
                         "--out DIR",
                         lab_id == NULL ? "--lab ID" : "--out DIR");
    if (c->canvas_column != NULL && c->canvas_path == NULL)
        return error_set(err, ERROR_USAGE,
                         "--canvas-column names a column of what --canvas FILE exports: give both");
    if (c->slurm_option != NULL && !c->batch.on_slurm)
        return error_set(err, ERROR_USAGE,
                         "%s is an option of Slurm's, and this batch grades on this machine: give "
                         "--engine slurm as well, or leave it out",
                         c->slurm_option);
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

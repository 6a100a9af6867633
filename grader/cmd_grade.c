/* cmd_grade.c - `spillway grade`: the pipeline, in reading order.
 *
 *   submission → build → report → facts → run → rubric → grade → writers
 *
 * build, run and rubric are pipeline.c's; report and facts are made inside build_run() and
 * rubric_gather(), one per architecture. */
#include "commands.h"

#include <pthread.h>

#include "cmd_output.h"
#include "grading_options.h"
#include "memory.h"
#include "process.h"
#include "progress.h"

struct grade_options {
    struct grading_options grading;
    struct output_options output;
};

static const char usage_options[] =
    "usage: spillway grade [DIR] [OPTION]…\n"
    "\n"
    "Rebuilds the kernels of a submission, runs them, and judges them by the lab's\n"
    "rubric. DIR holds the submission (default: the current folder).\n"
    "\n"
    "  --lab ID              the lab (default: answers.ini says, else DIR's name)\n"
    "  --rev REV             grade the files of a git revision instead of DIR's\n"
    "  --arch sm_XX[,sm_YY]  grade for these architectures\n"
    "  --executor KIND       auto (default), gpu, emulator, or none\n"
    "  --seed N              inputs and shifts are drawn from N (default: random)\n"
    "  --only CRITERION      list only marks whose id begins so; all are judged\n"
    "  --fail-under N        exit with status 1 when the score is below N\n"
    "  --sandbox MODE        auto (default: the best that works here), off, or on\n"
    "                        (bubblewrap, else nothing is graded)\n"
    "  --nvcc PATH           the compiler (default: CUDA_HOME, PATH, /usr/local/cuda)\n"
    "  --elements N          elements of the full-size launches (default: the lab's)\n"
    "  --threads N           threads of the emulator (default: one per core)\n"
    "  --launch-seconds N    stop a kernel that has not ended after N s (default: 20)\n"
    "  --verbose             show memory traffic as well\n";

/* Here stand the writers' own options. */
static const char usage_end[] =
    "\n"
    "Exit status: 0 graded, 1 below --fail-under, 2 usage, 3 the machine failed and\n"
    "nothing was graded, 130 interrupted.\n"
    "\n"
    "Examples:\n"
    "  spillway grade starter/day17-registers\n"
    "  spillway grade . --arch sm_75,sm_90 --json grade.json\n"
    "  spillway grade . --rev HEAD~1 --executor emulator --seed 17\n";

/* ---- Options --------------------------------------------------------------------------------- */

enum { OPT_ONLY = GRADING_OWN, OPT_FAIL_UNDER, OPT_VERBOSE, OPT_WRITERS };

static const struct option long_options[] = {
    /* clang-format off */
    {"lab",            required_argument, NULL, GRADING_LAB},
    {"rev",            required_argument, NULL, GRADING_REV},
    {"arch",           required_argument, NULL, GRADING_ARCH},
    {"executor",       required_argument, NULL, GRADING_EXECUTOR},
    {"seed",           required_argument, NULL, GRADING_SEED},
    {"only",           required_argument, NULL, OPT_ONLY},
    {"fail-under",     required_argument, NULL, OPT_FAIL_UNDER},
    {"nvcc",           required_argument, NULL, GRADING_NVCC},
    {"sandbox",        required_argument, NULL, GRADING_SANDBOX},
    {"elements",       required_argument, NULL, GRADING_ELEMENTS},
    {"threads",        required_argument, NULL, GRADING_THREADS},
    {"launch-seconds", required_argument, NULL, GRADING_LAUNCH_SECONDS},
    {"verbose",        no_argument,       NULL, OPT_VERBOSE},
    {"help",           no_argument,       NULL, OPTIONS_HELP},
    {NULL, 0, NULL, 0},
    /* clang-format on */
};

static int take_option(struct grade_options *options, int option, const char *value,
                       struct error *err)
{
    switch (option) {
    case OPT_ONLY:
        options->output.only = value;
        return 0;
    case OPT_FAIL_UNDER:
        return options_number(&options->output.fail_under, "--fail-under", value, 0, 1000, "", err);
    case OPT_VERBOSE:
        options->output.verbose = true;
        return 0;
    default:
        if (writers_take(&options->output.writers, option, OPT_WRITERS, value, err))
            return err->kind == ERROR_NONE ? 0 : -1;
        return grading_options_take(&options->grading, option, value, err);
    }
}

static void print_usage(void)
{
    struct bytes formats = bytes_with_limit(10000);
    writers_help(&formats);
    (void)printf("%s%s%s", usage_options, bytes_text(&formats), usage_end);
    bytes_release(&formats);
}

/* Returns 1 after --help was printed, 0 to go on, -1 with *err. */
static int parse_options(struct grade_options *options, int argc, char **argv, struct error *err)
{
    *options = (struct grade_options){.grading = GRADING_OPTIONS};
    struct option table[COUNT_OF(long_options) + WRITERS_OPTIONS] = {0};
    memcpy(table, long_options, sizeof long_options);
    writers_options(table, COUNT_OF(table), OPT_WRITERS);
    optind = 0;
    for (int option; (option = options_next(argc, argv, table, "grade", err)) != OPTIONS_END;) {
        if (option == OPTIONS_HELP) {
            print_usage();
            return 1;
        }
        if (take_option(options, option, optarg, err) != 0)
            return -1;
    }
    return grading_options_folder(&options->grading, argc, argv, err);
}

/* ---- The stages ------------------------------------------------------------------------------ */

struct stages {
    struct submission submission;
    struct machine machine;
    struct numbers numbers;
    struct pipeline pipeline;
};

/* The CPU reference is computed while the compiler runs. */
struct preparation {
    struct stages *stages;
    const struct grading_options *options;
    pthread_t thread;
    int status;
    struct error err;
};

static void *prepare_main(void *argument)
{
    struct preparation *preparation = argument;
    preparation->status = numbers_prepare(
        &preparation->stages->numbers, preparation->stages->submission.lab,
        preparation->options->seed, preparation->options->elements, &preparation->err);
    return NULL;
}

static int build_stage(struct stages *s, const struct grading_options *options, struct error *err)
{
    size_t count = s->pipeline.choice.arch_count;
    progress_show("compiling for %zu architecture%s …", count, count == 1 ? "" : "s");
    struct preparation preparation = {.stages = s, .options = options};
    bool beside = pthread_create(&preparation.thread, NULL, prepare_main, &preparation) == 0;
    int status = pipeline_build(&s->pipeline, err);
    if (beside)
        (void)pthread_join(preparation.thread, NULL);
    else
        (void)prepare_main(&preparation);
    if (status == 0 && preparation.status != 0) {
        *err = preparation.err;
        return -1;
    }
    return status;
}

static int run_stage(struct stages *s, struct error *err)
{
    progress_show("running %zu launches …", s->numbers.case_count);
    return pipeline_run(&s->pipeline, err);
}

static int grade(struct stages *s, struct grade_options *options, struct error *err)
{
    int64_t began = process_now_ns();
    struct grading_options *grading = &options->grading;
    if (submission_read(&s->submission, &grading->submission, err) != 0 ||
        output_check_only(s->submission.lab, options->output.only, err) != 0 ||
        grading_options_draw_seed(grading, err) != 0 ||
        machine_find(&s->machine, &grading->machine, err) != 0 ||
        pipeline_start(&s->pipeline, &s->machine, &s->submission, &s->numbers, err) != 0 ||
        build_stage(s, grading, err) != 0 || run_stage(s, err) != 0 ||
        pipeline_judge(&s->pipeline, err) != 0)
        return -1;
    s->pipeline.grade.duration_ns = process_now_ns() - began;
    struct error ignored = {0}; /* without a cache, hints know less: no more than that */
    if (s->submission.kind == SUBMISSION_DIRECTORY)
        (void)memory_keep(&s->pipeline.grade, &ignored);
    return 0;
}

int cmd_grade(int argc, char **argv)
{
    struct error err = {0};
    struct grade_options options;
    int parsed = parse_options(&options, argc, argv, &err);
    if (parsed > 0)
        return EXIT_STATUS_DONE;
    if (parsed < 0)
        return error_report(&err);
    struct stages stages = {0};
    int status = writers_begin(&options.output.writers, &err);
    if (status == 0 && (status = grade(&stages, &options, &err)) != 0)
        writers_fail(&options.output.writers, &err);
    if (status == 0)
        status = output_grade(&stages.pipeline.grade, &options.output, &err);
    int exit_status = output_status(&stages.pipeline.grade, &options.output);
    pipeline_release(&stages.pipeline);
    numbers_release(&stages.numbers);
    machine_release(&stages.machine);
    submission_release(&stages.submission);
    progress_clear();
    return status == 0 ? exit_status : error_report(&err);
}

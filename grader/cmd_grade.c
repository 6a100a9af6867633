/* cmd_grade.c - `spillway grade`: the pipeline, in reading order.
 *
 *   submission → build → report → facts → run → rubric → grade → writers
 *
 * build, run and rubric are pipeline.c's; report and facts are made inside build_run() and
 * rubric_gather(), one per architecture. */
#include "commands.h"

#include <pthread.h>
#include <sys/random.h>

#include "cmd_output.h"
#include "memory.h"
#include "options.h"
#include "pipeline.h"
#include "process.h"
#include "progress.h"

struct grade_options {
    struct submission_options submission;
    struct machine_options machine;
    struct output_options output;
    bool has_seed;
    uint64_t seed, elements;
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

enum {
    OPT_LAB = OPTIONS_HELP + 1,
    OPT_REV,
    OPT_ARCH,
    OPT_EXECUTOR,
    OPT_SEED,
    OPT_ONLY,
    OPT_FAIL_UNDER,
    OPT_NVCC,
    OPT_SANDBOX,
    OPT_ELEMENTS,
    OPT_THREADS,
    OPT_LAUNCH_SECONDS,
    OPT_VERBOSE,
    OPT_WRITERS
};

static const struct option long_options[] = {
    /* clang-format off */
    {"lab",        required_argument, NULL, OPT_LAB},
    {"rev",        required_argument, NULL, OPT_REV},
    {"arch",       required_argument, NULL, OPT_ARCH},
    {"executor",   required_argument, NULL, OPT_EXECUTOR},
    {"seed",       required_argument, NULL, OPT_SEED},
    {"only",       required_argument, NULL, OPT_ONLY},
    {"fail-under", required_argument, NULL, OPT_FAIL_UNDER},
    {"nvcc",       required_argument, NULL, OPT_NVCC},
    {"sandbox",    required_argument, NULL, OPT_SANDBOX},
    {"elements",   required_argument, NULL, OPT_ELEMENTS},
    {"threads",    required_argument, NULL, OPT_THREADS},
    {"launch-seconds", required_argument, NULL, OPT_LAUNCH_SECONDS},
    {"verbose",    no_argument,       NULL, OPT_VERBOSE},
    {"help",       no_argument,       NULL, OPTIONS_HELP},
    {NULL, 0, NULL, 0},
    /* clang-format on */
};

static int take_small(unsigned *out, const char *name, const char *value, unsigned most,
                      struct error *err)
{
    uint64_t number = 0;
    if (options_number(&number, name, value, 0, most, "", err) != 0)
        return -1;
    *out = (unsigned)number;
    return 0;
}

static int take_option(struct grade_options *options, int option, const char *value,
                       struct error *err)
{
    switch (option) {
    case OPT_LAB:
        options->submission.lab_id = value;
        return 0;
    case OPT_REV:
        options->submission.revision = value;
        return 0;
    case OPT_ARCH:
        return choice_parse_archs(options->machine.archs, &options->machine.arch_count, value, err);
    case OPT_EXECUTOR:
        return choice_parse_executor(&options->machine.executor, value, err);
    case OPT_SEED:
        options->has_seed = true;
        return options_number(&options->seed, "--seed", value, 0, INT64_MAX, "", err);
    case OPT_ONLY:
        options->output.only = value;
        return 0;
    case OPT_FAIL_UNDER:
        return options_number(&options->output.fail_under, "--fail-under", value, 0, 1000, "", err);
    case OPT_NVCC:
        options->machine.nvcc = value;
        return 0;
    case OPT_SANDBOX:
        return sandbox_parse_mode(value, &options->machine.sandbox)
                   ? 0
                   : options_refuse(err, "--sandbox", value, "auto, on or off");
    case OPT_ELEMENTS:
        return options_number(&options->elements, "--elements", value, 1, 16777216, "", err);
    case OPT_THREADS:
        return take_small(&options->machine.threads, "--threads", value, 256, err);
    case OPT_LAUNCH_SECONDS:
        return take_small(&options->machine.launch_seconds, "--launch-seconds", value, 86400, err);
    case OPT_VERBOSE:
        options->output.verbose = true;
        return 0;
    default: /* or options_next() has filled *err */
        return writers_take(&options->output.writers, option, OPT_WRITERS, value, err) &&
                       err->kind == ERROR_NONE
                   ? 0
                   : -1;
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
    *options = (struct grade_options){.submission.directory = ".", .machine.executor = "auto"};
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
    if (argc - optind > 1)
        return error_set(err, ERROR_USAGE, "one folder at a time: what is \"%s\"?",
                         argv[optind + 1]);
    if (optind < argc)
        options->submission.directory = argv[optind];
    return 0;
}

static int draw_seed(struct grade_options *options, struct error *err)
{
    uint32_t drawn = 0;
    if (options->has_seed)
        return 0;
    if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot draw a random seed");
    options->seed = drawn;
    return 0;
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
    const struct grade_options *options;
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

static int build_stage(struct stages *s, const struct grade_options *options, struct error *err)
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
    if (submission_read(&s->submission, &options->submission, err) != 0 ||
        output_check_only(s->submission.lab, options->output.only, err) != 0 ||
        draw_seed(options, err) != 0 || machine_find(&s->machine, &options->machine, err) != 0 ||
        pipeline_start(&s->pipeline, &s->machine, &s->submission, &s->numbers, err) != 0 ||
        build_stage(s, options, err) != 0 || run_stage(s, err) != 0 ||
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

/* cmd_compare.c - `spillway compare`: what one submission's kernels cost on several cards. */
#include "commands.h"

#include "files.h"
#include "grading_options.h"
#include "out_compare.h"
#include "progress.h"

static const char usage[] =
    "usage: spillway compare [DIR] [OPTION]…\n"
    "\n"
    "Builds a submission for a T4, an A100, the RTX 30 and RTX 40 series, an H100 and\n"
    "a B200, and lays registers, frame, spills and blocks per SM of each kernel side\n"
    "by side. Needs none of the cards: nothing is run.\n"
    "\n"
    "  --lab ID              the lab (default: answers.ini says, else DIR's name)\n"
    "  --rev REV             take the files of a git revision instead of DIR's\n"
    "  --kernel NAME         only this kernel\n"
    "  --arch sm_XX[,sm_YY]  these architectures instead\n"
    "  --nvcc PATH           the compiler (default: CUDA_HOME, PATH, /usr/local/cuda)\n"
    "  --sandbox MODE        auto (default: the best that works here), off, or on\n"
    "  --json                print JSON (schema spillway/compare/v1)\n"
    "  --help                this text\n"
    "\n"
    "Exit status: 0 done, 2 usage, 3 the machine failed, 130 interrupted.\n"
    "\n"
    "Examples:\n"
    "  spillway compare\n"
    "  spillway compare ~/day17 --kernel decayWideBounded --arch sm_75,sm_120\n";

struct compare_options {
    struct grading_options grading;
    struct out_compare_options out;
    bool json;
};

enum { OPT_KERNEL = GRADING_OWN, OPT_JSON };

static int take_option(struct compare_options *options, int option, const char *value,
                       struct error *err)
{
    switch (option) {
    case OPT_KERNEL:
        options->out.kernel = value;
        return 0;
    case OPT_JSON:
        options->json = true;
        return 0;
    default:
        return grading_options_take(&options->grading, option, value, err);
    }
}

/* Returns 1 after --help was printed, 0 to go on, -1 with *err. */
static int parse_options(struct compare_options *options, int argc, char **argv, struct error *err)
{
    static const struct option table[] = {
        {"lab", required_argument, NULL, GRADING_LAB},
        {"rev", required_argument, NULL, GRADING_REV},
        {"kernel", required_argument, NULL, OPT_KERNEL},
        {"arch", required_argument, NULL, GRADING_ARCH},
        {"nvcc", required_argument, NULL, GRADING_NVCC},
        {"sandbox", required_argument, NULL, GRADING_SANDBOX},
        {"json", no_argument, NULL, OPT_JSON},
        {"help", no_argument, NULL, OPTIONS_HELP},
        {NULL, 0, NULL, 0},
    };
    *options = (struct compare_options){.grading = GRADING_OPTIONS};
    options->grading.machine.executor = "none";
    optind = 0;
    for (int option; (option = options_next(argc, argv, table, "compare", err)) != OPTIONS_END;) {
        if (option == OPTIONS_HELP) {
            (void)fputs(usage, stdout);
            return 1;
        }
        if (take_option(options, option, optarg, err) != 0)
            return -1;
    }
    return grading_options_folder(&options->grading, argc, argv, err);
}

static int check_kernel(const struct lab *lab, const char *name, struct error *err)
{
    struct bytes known = bytes_with_limit(1000);
    bool found = name == NULL;
    for (size_t i = 0; i < lab->kernel_count; ++i) {
        found = found || strcmp(lab->kernels[i].name, name) == 0;
        bytes_printf(&known, "%s%s", i == 0 ? "" : ", ", lab->kernels[i].name);
    }
    if (!found)
        error_set(err, ERROR_USAGE, "--kernel %s: the kernels of %s are %s", name, lab->id,
                  bytes_text(&known));
    bytes_release(&known);
    return found ? 0 : -1;
}

/* All cards that this nvcc knows; the others are named below the tables. */
static void choose_cards(struct machine *machine, struct arch left_out[], size_t *left_out_count)
{
    struct machine_options *options = &machine->options;
    if (options->arch_count > 0)
        return;
    for (size_t i = 0; i < card_count; ++i)
        if (toolchain_knows(&machine->toolchain, card_archs[i]))
            options->archs[options->arch_count++] = card_archs[i];
        else
            left_out[(*left_out_count)++] = card_archs[i];
}

static int print(const struct grade *grade, const struct compare_options *options,
                 struct error *err)
{
    struct bytes page = bytes_with_limit((size_t)4 << 20);
    int status = 0;
    if (options->json)
        status = out_compare_json(&page, grade, &options->out, err);
    else
        out_compare_text(&page, grade, &options->out);
    progress_clear();
    if (status == 0)
        status = page.failed ? error_no_memory(err)
                             : file_write("-", bytes_text(&page), page.length, err);
    bytes_release(&page);
    return status;
}

static int compare(struct compare_options *options, struct error *err)
{
    struct submission submission = {0};
    struct machine machine = {0};
    struct numbers numbers = {0};
    struct pipeline pipeline = {0};
    struct arch left_out[CHOICE_ARCHS_MAX];
    int status = -1;
    if (submission_read(&submission, &options->grading.submission, err) != 0 ||
        check_kernel(submission.lab, options->out.kernel, err) != 0 ||
        machine_find(&machine, &options->grading.machine, err) != 0)
        goto done;
    options->out.left_out = left_out;
    choose_cards(&machine, left_out, &options->out.left_out_count);
    progress_show("compiling for %zu architectures …", machine.options.arch_count);
    /* Numbers only because a grade has some: one element is as good as a million. */
    if (numbers_prepare(&numbers, submission.lab, 1, 1, err) == 0 &&
        pipeline_start(&pipeline, &machine, &submission, &numbers, err) == 0 &&
        pipeline_build(&pipeline, err) == 0 && pipeline_preview(&pipeline, err) == 0)
        status = print(&pipeline.grade, options, err);
done:
    options->out.left_out = NULL;
    pipeline_release(&pipeline);
    numbers_release(&numbers);
    machine_release(&machine);
    submission_release(&submission);
    progress_clear();
    return status;
}

int cmd_compare(int argc, char **argv)
{
    struct error err = {0};
    struct compare_options options;
    int parsed = parse_options(&options, argc, argv, &err);
    if (parsed > 0)
        return EXIT_STATUS_DONE;
    if (parsed == 0)
        (void)compare(&options, &err);
    return err.kind == ERROR_NONE ? EXIT_STATUS_DONE : error_report(&err);
}

/* cmd_merge.c - `spillway merge A.json B.json`: a grade, and a later one that judged what it left
 * pending. */
#include "commands.h"

#include "caps.h"
#include "cmd_output.h"
#include "files.h"
#include "merge.h"
#include "options.h"
#include "result_read.h"

static const char usage_start[] =
    "usage: spillway merge A.json B.json [OPTION]…\n"
    "\n"
    "Joins two grades of the same work that `spillway grade --json` wrote: what A\n"
    "left pending is taken from B, most often a run on a GPU. Both must be of the\n"
    "same lab, files and architectures, and of the same seed if both ran kernels.\n"
    "Where both judged, A's verdict stays, and a note tells of a difference.\n"
    "\n"
    "  --only CRITERION      list only marks whose id begins so\n"
    "  --fail-under N        exit with status 1 when the joined score is below N\n"
    "  --verbose             show memory traffic as well\n";

static const char usage_end[] =
    "\n"
    "One of the two may be -, standard input.\n"
    "\n"
    "Exit status: 0 joined, 1 below --fail-under, 2 the two cannot be joined, 3 a\n"
    "file cannot be read or written.\n"
    "\n"
    "Examples:\n"
    "  spillway merge emulator.json gpu.json\n"
    "  spillway merge emulator.json gpu.json --json joined.json --junit joined.xml\n";

enum { OPT_ONLY = OPTIONS_HELP + 1, OPT_FAIL_UNDER, OPT_VERBOSE, OPT_WRITERS };

static const struct option long_options[] = {
    /* clang-format off */
    {"only",       required_argument, NULL, OPT_ONLY},
    {"fail-under", required_argument, NULL, OPT_FAIL_UNDER},
    {"verbose",    no_argument,       NULL, OPT_VERBOSE},
    {"help",       no_argument,       NULL, OPTIONS_HELP},
    {NULL, 0, NULL, 0},
    /* clang-format on */
};

static void print_usage(void)
{
    struct bytes formats = bytes_with_limit(10000);
    writers_help(&formats);
    (void)printf("%s%s%s", usage_start, bytes_text(&formats), usage_end);
    bytes_release(&formats);
}

static int take_option(struct output_options *output, int option, const char *value,
                       struct error *err)
{
    switch (option) {
    case OPT_ONLY:
        output->only = value;
        return 0;
    case OPT_FAIL_UNDER:
        return options_number(&output->fail_under, "--fail-under", value, 0, 1000, "", err);
    case OPT_VERBOSE:
        output->verbose = true;
        return 0;
    default: /* or options_next() has filled *err */
        return writers_take(&output->writers, option, OPT_WRITERS, value, err) &&
                       err->kind == ERROR_NONE
                   ? 0
                   : -1;
    }
}

/* Returns 1 after --help was printed, 0 to go on, -1 with *err. */
static int parse_options(struct output_options *output, int argc, char **argv, struct error *err)
{
    struct option table[COUNT_OF(long_options) + WRITERS_OPTIONS] = {0};
    memcpy(table, long_options, sizeof long_options);
    writers_options(table, COUNT_OF(table), OPT_WRITERS);
    optind = 0;
    for (int option; (option = options_next(argc, argv, table, "merge", err)) != OPTIONS_END;) {
        if (option == OPTIONS_HELP) {
            print_usage();
            return 1;
        }
        if (take_option(output, option, optarg, err) != 0)
            return -1;
    }
    if (argc - optind != 2)
        return error_set(err, ERROR_USAGE,
                         "two grades are joined, and %d %s named: `spillway merge A.json B.json`",
                         argc - optind, argc - optind == 1 ? "is" : "are");
    if (strcmp(argv[optind], "-") == 0 && strcmp(argv[optind + 1], "-") == 0)
        return error_set(err, ERROR_USAGE, "only one of the two can be standard input");
    return 0;
}

static int read_grade(struct grade *ret, const char *path, struct error *err)
{
    struct bytes content;
    enum file_status status = strcmp(path, "-") == 0
                                  ? file_read_fd(&content, STDIN_FILENO, LIMIT_RESULT_BYTES)
                                  : file_read(&content, path, LIMIT_RESULT_BYTES, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot read %s: it is %s", path,
                         file_status_text(status));
    int result = result_read(ret, bytes_text(&content), content.length, NULL, err);
    bytes_release(&content);
    return result == 0 ? 0 : error_context(err, "%s", path);
}

static int merge(struct grade *first, const char *const *paths, const struct output_options *output,
                 struct error *err)
{
    struct grade second = {0};
    int status = writers_begin(&output->writers, err);
    if (status == 0)
        status = read_grade(first, paths[0], err);
    if (status == 0)
        status = output_check_only(first->lab, output->only, err);
    if (status == 0)
        status = read_grade(&second, paths[1], err);
    if (status == 0 && (status = merge_grades(first, &second, err)) != 0)
        error_context(err, "%s and %s cannot be joined", paths[0], paths[1]);
    grade_release(&second);
    if (status != 0)
        writers_fail(&output->writers, err);
    return status == 0 ? output_grade(first, output, err) : -1;
}

int cmd_merge(int argc, char **argv)
{
    struct error err = {0};
    struct output_options output = {0};
    int parsed = parse_options(&output, argc, argv, &err);
    if (parsed > 0)
        return EXIT_STATUS_DONE;
    if (parsed < 0)
        return error_report(&err);
    struct grade grade = {0};
    int status = merge(&grade, (const char *const *)(argv + optind), &output, &err);
    int exit_status = status == 0 ? output_status(&grade, &output) : error_report(&err);
    grade_release(&grade);
    return exit_status;
}

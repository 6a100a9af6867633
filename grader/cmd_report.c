/* cmd_report.c - `spillway report`: any `ptxas -v` log as a table or as JSON. */
#include "commands.h"

#include <errno.h>
#include <signal.h>

#include "caps.h"
#include "files.h"
#include "options.h"
#include "report.h"
#include "report_json.h"
#include "report_table.h"
#include "text.h"

static const char usage[] =
    "usage: spillway report [FILE|-] [--json]\n"
    "\n"
    "Reads what nvcc, ptxas or nvlink printed with -v, from FILE or standard input:\n"
    "\n"
    "  nvcc -c kernels.cu -Xptxas -v 2>&1 | spillway report\n"
    "\n"
    "and shows per kernel and architecture: registers, stack frame, spill stores and\n"
    "loads, shared memory, constant bank 0 (all in bytes) and barriers. \"-\" is what\n"
    "the log does not say. A function that a kernel calls stands below it with \"+\".\n"
    "\n"
    "  --json  print everything as JSON (schema spillway/report/v1)\n"
    "  --help  this text\n"
    "\n"
    "Exit status: 0 parsed; 1 no kernel found, something is ambiguous or incomplete,\n"
    "or the build failed (the table or the JSON is printed all the same); 2 usage;\n"
    "3 the log cannot be read.\n"
    "\n"
    "Examples:\n"
    "  nvcc -arch=sm_75 -Xptxas -v -o registers registers.cu 2>&1 | spillway report\n"
    "  spillway report build.log --json\n";

static int read_log(struct bytes *log, const char *path, struct error *err)
{
    bool from_stdin = path == NULL || strcmp(path, "-") == 0;
    if (from_stdin && isatty(STDIN_FILENO) == 1)
        (void)fputs("spillway: reading the log from the terminal; Ctrl-D ends it\n", stderr);
    enum file_status status = from_stdin ? file_read_fd(log, STDIN_FILENO, LIMIT_REPORT_BYTES)
                                         : file_read(log, path, LIMIT_REPORT_BYTES, true);
    if (status == FILE_READ)
        return 0;
    int saved = errno;
    char shown[LIMIT_QUOTE_BYTES];
    (void)text_copy(shown, sizeof shown, from_stdin ? "standard input" : path);
    errno = saved;
    if (status == FILE_TOO_LARGE)
        error_set(err, ERROR_INFRASTRUCTURE,
                  "cannot read the log %s: it is larger than %zu MiB, and no compiler's log is",
                  shown, LIMIT_REPORT_BYTES >> 20);
    else
        error_set(err, ERROR_INFRASTRUCTURE, "cannot read the log %s: %s", shown,
                  file_status_text(status));
    return -1;
}

static bool is_blank(const struct bytes *log)
{
    const char *text = bytes_text(log);
    return strspn(text, " \t\r\n") == log->length;
}

/* The log answers the question it was read for: what every kernel of the build uses. */
static bool is_reliable(const struct report *report)
{
    for (size_t i = 0; i < report->kernel_count; ++i)
        if (!report->kernels[i].complete || report->kernels[i].ambiguous)
            return false;
    return report->kernel_count > 0 && !report->build_failed && !report->truncated;
}

/* The table and its sentences; or the JSON on standard output, and what is wrong in words on
 * standard error. */
static int print_report(const struct report *report, bool json, bool blank, struct error *err)
{
    bool shorten = isatty(STDOUT_FILENO) == 1;
    struct bytes page = bytes_with_limit((size_t)1 << 30), trouble = bytes_with_limit(1 << 20);
    int status = 0;
    if (report->kernel_count == 0)
        report_table_explain_nothing(&trouble, report, blank);
    else
        report_table_explain_trouble(&trouble, report, !json && shorten);
    if (json) {
        AUTO_FREE char *text = report_json_text(report, err);
        status = text == NULL ? -1 : file_write("-", text, strlen(text), err);
    } else if (report->kernel_count > 0) {
        report_table_write(&page, report, shorten);
        bytes_append_text(&page, "\n");
        report_table_explain(&page, report, shorten);
        bytes_append(&page, bytes_text(&trouble), trouble.length);
        bytes_clear(&trouble);
        status = page.failed ? error_no_memory(err)
                             : file_write("-", bytes_text(&page), page.length, err);
    }
    if (status == 0)
        (void)fputs(bytes_text(&trouble), stderr);
    bytes_release(&page);
    bytes_release(&trouble);
    return status;
}

/* Nothing here needs cleaning up, and a read that waits for a person must end at Ctrl-C. */
static void die_of_signals(void)
{
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
}

int cmd_report(int argc, char **argv)
{
    enum { JSON = OPTIONS_HELP + 1 };
    static const struct option options[] = {
        /* clang-format off */
        {"json", no_argument, NULL, JSON},
        {"help", no_argument, NULL, OPTIONS_HELP},
        {NULL, 0, NULL, 0},
        /* clang-format on */
    };
    bool json = false;
    struct error err = {0};
    optind = 0;
    for (int option; (option = options_next(argc, argv, options, "report", &err)) != OPTIONS_END;) {
        if (option == OPTIONS_WRONG)
            return error_report(&err);
        if (option == OPTIONS_HELP) {
            (void)fputs(usage, stdout);
            return EXIT_STATUS_DONE;
        }
        json = true;
    }
    if (argc - optind > 1)
        error_set(&err, ERROR_USAGE,
                  "report takes one log, and there are %d: join them with cat, or run it on each",
                  argc - optind);
    if (err.kind != ERROR_NONE)
        return error_report(&err);
    die_of_signals();
    struct bytes log;
    struct report report = {0};
    bool reliable = false;
    if (read_log(&log, optind < argc ? argv[optind] : NULL, &err) == 0 &&
        report_parse(&report, bytes_text(&log), log.length, &err) == 0) {
        reliable = is_reliable(&report);
        (void)print_report(&report, json, is_blank(&log), &err);
    }
    report_release(&report);
    bytes_release(&log);
    if (err.kind != ERROR_NONE)
        return error_report(&err);
    return reliable ? EXIT_STATUS_DONE : EXIT_STATUS_FAIL_UNDER;
}

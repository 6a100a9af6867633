/* cmd_release.c - `spillway release`: a student repository of a lab, and the search for leaks. */
#include "commands.h"

#include "options.h"
#include "release.h"
#include "text.h"

static const char usage[] =
    "usage: spillway release LAB DIR [--url URL]\n"
    "       spillway release LAB DIR --check\n"
    "       spillway release LAB --starter\n"
    "\n"
    "Makes DIR, a git repository with what a student gets of a lab: the source with\n"
    "its gaps, blank answers, the handout, the questions, a notebook, a Makefile, CI\n"
    "for GitHub and GitLab, and one commit without a past. Before DIR gets its name,\n"
    "every file and every git object is searched for lines of the solution.\n"
    "\n"
    "  --url URL    where Spillway is cloned from: written into the Makefile, CI and\n"
    "               the notebook. Without it CI fails until SPILLWAY_URL is set there\n"
    "  --check      make nothing: search DIR, changed since or not, for leaks\n"
    "  --starter    make nothing: print the student's version of the source\n"
    "  --help       this text\n"
    "\n"
    "Exit status: 0 done and clean, 1 --check found a leak, 2 usage, 3 nothing was\n"
    "made.\n"
    "\n"
    "Examples:\n"
    "  spillway release day17-registers ~/class/day17 \\\n"
    "      --url https://git.example.org/course/spillway.git\n"
    "  spillway release day17-registers ~/class/day17 --check\n";

/* What the templates of packaging/student do where no address was filled in. */
static const char without_url[] =
    "\n"
    "No --url was given, so nothing in it says where Spillway comes from:\n"
    "  make grade    works where Spillway is installed, or with SPILLWAY_SRC=DIR; it\n"
    "                cannot tell the others where to get it\n"
    "  CI            fails at each push until a variable SPILLWAY_URL is set for the\n"
    "                organisation or group (GitHub: Actions variable, GitLab: CI/CD)\n"
    "  colab.ipynb   asks each student for the address\n"
    "With --url URL (a git repository that students can clone) all three know it.\n";

static void print_leaks(const struct leak_report *leaks)
{
    (void)fputs(bytes_text(&leaks->findings), stderr);
}

static void print_search(const struct leak_report *leaks, size_t secrets, size_t shown)
{
    char bytes[TEXT_NUMBER_BYTES];
    (void)printf("Searched %zu files and %zu git objects (%s bytes) for %zu telling lines of the\n"
                 "solution: ",
                 leaks->file_count, leaks->object_count, text_number(leaks->bytes, bytes), secrets);
    if (leaks->finding_count > 0)
        (void)printf("found %zu.\n", leaks->finding_count);
    else
        (void)printf("none is there%s.\n",
                     shown > 0 ? ", but for what the handout itself shows" : "");
}

static int make(const struct release_options *options)
{
    struct release release;
    struct error err = {0};
    int status = release_make(&release, options, &err);
    if (status == 0) {
        (void)printf("Released %s to %s: %zu files, commit %.10s\n", options->lab->id,
                     options->folder, release.file_count, release.commit);
        if (release.gap_count >= 0)
            (void)printf("%s was made from the reference, with %d solutions left out.\n",
                         options->lab->source_name, release.gap_count);
        else
            (void)printf(
                "%s is the starter that came with this program, which holds no reference:\n"
                "only the solutions of the hints could be searched for.\n",
                options->lab->source_name);
        print_search(&release.leaks, release.secret_count, release.shown_count);
        if (options->url[0] == '\0')
            (void)fputs(without_url, stdout);
        (void)printf("\nTry it as a student (it earns %d of %d points as it comes):\n"
                     "  make -C %s grade\n",
                     options->lab->starter_floor, lab_max_score(options->lab), options->folder);
    } else {
        print_leaks(&release.leaks);
    }
    release_release(&release);
    return status == 0 ? EXIT_STATUS_DONE : error_report(&err);
}

static int check(const struct release_options *options)
{
    struct error err = {0};
    struct secrets secrets;
    struct leak_report leaks = {0};
    if (secrets_gather(&secrets, options->lab, &err) != 0)
        return error_report(&err);
    int status = leak_check(&leaks, &secrets, options->folder, &err);
    if (status == 0) {
        print_search(&leaks, secrets.count, secrets.shown_count);
        (void)fflush(stdout);
        print_leaks(&leaks);
    }
    status = status != 0               ? error_report(&err)
             : leaks.finding_count > 0 ? EXIT_STATUS_FAIL_UNDER
                                       : EXIT_STATUS_DONE;
    leak_report_release(&leaks);
    secrets_release(&secrets);
    return status;
}

static int print_starter(const struct lab *lab)
{
    struct error err = {0};
    struct bytes text = bytes_with_limit((size_t)4 << 20);
    int gaps = release_starter(&text, lab, &err);
    if (gaps >= 0)
        (void)fwrite(bytes_text(&text), 1, text.length, stdout);
    bytes_release(&text);
    return gaps >= 0 ? EXIT_STATUS_DONE : error_report(&err);
}

int cmd_release(int argc, char **argv)
{
    enum { URL = OPTIONS_HELP + 1, CHECK, STARTER };
    static const struct option table[] = {
        {"url", required_argument, NULL, URL},
        {"check", no_argument, NULL, CHECK},
        {"starter", no_argument, NULL, STARTER},
        {"help", no_argument, NULL, OPTIONS_HELP},
        {NULL, 0, NULL, 0},
    };
    struct error err = {0};
    struct release_options options = {.url = ""};
    int wanted = 0;
    optind = 0;
    for (int option; (option = options_next(argc, argv, table, "release", &err)) != OPTIONS_END;) {
        if (option == OPTIONS_WRONG)
            return error_report(&err);
        if (option == OPTIONS_HELP) {
            (void)fputs(usage, stdout);
            return EXIT_STATUS_DONE;
        }
        if (option == URL)
            options.url = optarg;
        else
            wanted = option;
    }
    if (argc - optind != (wanted == STARTER ? 1 : 2))
        error_set(&err, ERROR_USAGE, "release takes a lab%s; see `spillway release --help`",
                  wanted == STARTER ? "" : " and a folder");
    else if ((options.lab = lab_find(argv[optind])) == NULL)
        error_set(&err, ERROR_USAGE, "there is no lab \"%s\"; `spillway labs` lists them",
                  argv[optind]);
    else if (!release_url_is_plain(options.url))
        error_set(&err, ERROR_USAGE,
                  "--url is written into a Makefile and YAML files: letters, digits and "
                  "-._~:/@%%+ only");
    if (err.kind != ERROR_NONE || options.lab == NULL)
        return error_report(&err);
    if (wanted == STARTER)
        return print_starter(options.lab);
    options.folder = argv[optind + 1];
    return wanted == CHECK ? check(&options) : make(&options);
}

/* cmd_batch_end.c - the last words of `spillway batch`. */
#include "cmd_batch.h"

#include "batch_publish.h"
#include "text.h"
#include "wrap.h"

/* An empty selection is no mistake, but whoever made it wants to know. */
static void explain_nobody(const struct batch_options *o)
{
    bool alone = o->student_count == 0 && o->failed + o->retry + o->has_since == 1;
    const char *why = !alone
                          ? "The options together pick nobody; without them everybody is looked at"
                      : o->retry  ? "--retry: trouble of the machine keeps nobody from being graded"
                      : o->failed ? "--failed: nobody who was graded lost a mark or is missing"
                                  : "--since: nobody was graded at that time or later";
    (void)printf("Nothing to do. %s.\n", why);
}

/* A folder that is not in the repos was passed over for the usual places. */
static void explain_path(struct bytes *page, const struct batch_options *o,
                         const struct summary *summary)
{
    char path[200];
    if (o->path == NULL || summary->outside_path == 0)
        return;
    (void)text_copy(path, sizeof path, o->path);
    if (summary->outside_path == summary->graded)
        bytes_printf(page,
                     "--path %s: nobody's source is in that folder; what was found in the usual "
                     "places counted.\nIs the folder's name right?\n",
                     path);
    else
        bytes_printf(page,
                     "--path %s: the source of %zu of %zu is not in that folder; what was found\n"
                     "in the usual places counted, as their notes say.\n",
                     path, summary->outside_path, summary->graded);
}

#define LEFT_SHOWN 8

static void explain_left(struct bytes *page, const struct student_ids *left)
{
    struct bytes names = bytes_with_limit(LIMIT_MESSAGE_BYTES);
    if (left->count == 0)
        return;
    bytes_append_text(&names, "No longer in the roster: ");
    for (size_t i = 0; i < left->count && i < LEFT_SHOWN; ++i)
        bytes_printf(&names, "%s%s", i == 0 ? "" : ", ", left->ids[i]);
    if (left->count > LEFT_SHOWN)
        bytes_printf(&names, " and %zu more", left->count - LEFT_SHOWN);
    bytes_append_text(&names, ". Their history and their folders stay; grades.csv is without them. "
                              "If rows were lost, the same command with them brings all back.");
    wrap_text(page, 0, "", bytes_text(&names));
    bytes_release(&names);
}

void cmd_batch_summary(const struct batch_options *options, const struct batch_result *result)
{
    struct bytes page = bytes_with_limit((size_t)1 << 20);
    char title[100];
    if (result->selected == 0)
        explain_nobody(options);
    problems_write(&page, &result->notes, "canvas.csv");
    bytes_append_text(&page, "\n");
    summary_write(&page, &result->summary);
    bytes_printf(&page, "\nseed %llu; grades in %s/grades.csv, feedback in %s/students\n",
                 (unsigned long long)result->seed, options->folder, options->folder);
    explain_path(&page, options, &result->summary);
    explain_left(&page, &result->left);
    if (result->terms_before != NULL) {
        char before[300], now[300];
        (void)text_copy(before, sizeof before, result->terms_before);
        (void)text_copy(now, sizeof now, result->terms);
        bytes_printf(&page,
                     "Other terms than the last time:\n"
                     "  before%s\n  now   %s\nIf an option was forgotten, the same command with "
                     "it brings the grades back.\n",
                     before[0] == '\0' ? " no option" : before,
                     now[0] == '\0' ? " no option" : now);
    }
    if (options->canvas != NULL)
        bytes_printf(&page, "for Canvas to import: %s/canvas.csv, column \"%s\"\n", options->folder,
                     text_copy(title, sizeof title, options->canvas->title));
    (void)fputs(bytes_text(&page), stdout);
    bytes_release(&page);
}

void cmd_batch_remainder(const struct batch_options *options, const struct batch_result *result)
{
    const char *folder = options->folder;
    if (result->selected == 0)
        return;
    if (result->finished + result->trouble == result->selected)
        (void)fprintf(stderr,
                      "spillway: %zu of %zu students are finished and safe in %s, but not all of "
                      "the files made from that: the same command writes the others\n",
                      result->finished, result->selected, folder);
    else if (result->trouble == 0)
        (void)fprintf(stderr,
                      "spillway: %zu of %zu students are finished and safe in %s; the same command "
                      "goes on with the others\n",
                      result->finished, result->selected, folder);
    else
        (void)fprintf(stderr,
                      "spillway: %zu of %zu students are finished and safe in %s, and %zu could "
                      "not be graded, through no fault of theirs; the same command goes on with "
                      "the others and tries these again\n",
                      result->finished, result->selected, folder, result->trouble);
}

int cmd_batch_publish(const struct batch_options *options, const struct batch_result *result,
                      struct error *err)
{
    struct batch_publications publications;
    int status = batch_publish(&publications, options, result, err);
    for (size_t i = 0; i < publications.count; ++i) {
        const struct batch_publication *row = &publications.rows[i];
        if (row->tried && row->published.reason != REPO_FINE && row->published.reason != REPO_EMPTY)
            (void)fprintf(stderr, "spillway: feedback of %s was not published: %s\n",
                          row->student->id, row->published.sentence);
    }
    (void)printf("feedback published to %zu repo%s", publications.published_repos,
                 publications.published_repos == 1 ? "" : "s");
    if (publications.published != publications.published_repos)
        (void)printf(" (of %zu students)", publications.published);
    (void)printf(", unchanged in %zu\n", publications.unchanged_repos);
    if (publications.without_repos > 0)
        (void)printf("%zu repo%s without a branch got none: a first branch would become the "
                     "default\n",
                     publications.without_repos, publications.without_repos == 1 ? "" : "s");
    if (status == 0 && publications.refused > 0)
        status = error_set(err, ERROR_INFRASTRUCTURE,
                           "feedback of %zu student%s was not published, for the reasons above; "
                           "the same command tries again",
                           publications.refused, publications.refused == 1 ? "" : "s");
    batch_publications_release(&publications);
    return status;
}

#include "cmd_output.h"

#include "errors.h"
#include "files.h"
#include "mark_words.h"
#include "out_text.h"
#include "progress.h"

int output_check_only(const struct lab *lab, const char *only, struct error *err)
{
    struct bytes groups = bytes_with_limit(1000);
    const char *last = "";
    size_t last_length = 0;
    bool found = only == NULL;
    for (size_t i = 0; i < lab->criterion_count && !found; ++i) {
        const char *id = lab->criteria[i].id;
        size_t length = strcspn(id, ".");
        found = strncmp(id, only, strlen(only)) == 0;
        if (length != last_length || memcmp(id, last, length) != 0)
            bytes_printf(&groups, "%s%.*s", groups.length > 0 ? ", " : "", (int)length, id);
        last = id;
        last_length = length;
    }
    if (!found)
        error_set(err, ERROR_USAGE, "--only %s: no mark of %s begins so; there are %s", only,
                  lab->id, bytes_text(&groups));
    bytes_release(&groups);
    return found ? 0 : -1;
}

int output_grade(const struct grade *grade, const struct output_options *options, struct error *err)
{
    progress_clear();
    if (writers_finish(&options->writers, grade, err) != 0)
        return -1;
    bool page_wanted = !writers_own_output(&options->writers);
    char token[WRITERS_TOKEN_BYTES] = "";
    struct bytes page = bytes_with_limit((size_t)16 << 20);
    if (page_wanted) {
        writers_guard_page(&page, token);
        out_text_write(&page, grade,
                       &(struct out_text_options){.colour = out_text_wants_colour(stdout),
                                                  .verbose = options->verbose,
                                                  .only = options->only});
        grade_finish_words(&page, grade, isatty(STDOUT_FILENO) == 1);
        writers_unguard_page(&page, token);
    }
    /* What the page would end with goes to standard error: a runner reads both. */
    int status = writers_after_page(&options->writers, &page, grade, err);
    if (status == 0 && page.failed)
        status = error_no_memory(err);
    if (status == 0 && page_wanted)
        status = file_write("-", bytes_text(&page), page.length, err);
    else if (status == 0)
        (void)fputs(bytes_text(&page), stderr);
    bytes_release(&page);
    return status;
}

int output_status(const struct grade *grade, const struct output_options *options)
{
    return (uint64_t)grade->score < options->fail_under ? EXIT_STATUS_FAIL_UNDER : EXIT_STATUS_DONE;
}

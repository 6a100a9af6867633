#include "writers.h"

#include <sys/random.h>

#include "caps.h"
#include "files.h"
#include "out_json.h"

#define DOCUMENT_BYTES ((size_t)64 << 20)

static int write_json(struct bytes *out, const struct grade *grade,
                      const struct writer_context *context, struct error *err)
{
    (void)context;
    return out_json_text(out, grade, err);
}

static void set_gradescope_metadata(struct writer_context *context, const char *value)
{
    context->gradescope_metadata = value;
}

/* In this order they are listed, written, and follow the page: Autolab's line has to be the last.
 */
const struct writer writer_table[] = {
    {.option = "json",
     .help = " FILE           write the grade as JSON too (-: only that, on stdout;\n"
             "                        the same holds for each FILE below)\n",
     .write = write_json},
    {.option = "junit", .help = " FILE          JUnit XML\n", .write = out_junit},
    {.option = "tap", .help = " FILE            TAP version 14\n", .write = out_tap},
    {.option = "html",
     .help = " FILE           a page for a browser, with pictures\n",
     .write = out_html},
    {.option = "gradescope",
     .help = " FILE     Gradescope's results.json; a partial one comes first\n",
     .write = out_gradescope,
     .absent = out_gradescope_absent},
    {.option = "gradescope-metadata",
     .help = " FILE\n"
             "                        submission_metadata.json: say how late it was\n",
     .set = set_gradescope_metadata},
    {.option = "prairielearn",
     .help = " FILE   PrairieLearn's results.json\n",
     .write = out_prairielearn,
     .absent = out_prairielearn_absent},
    {.option = "classroom50",
     .help = " FILE    Classroom 50's result.json (its runner's environment)\n",
     .write = out_classroom50,
     .ready = out_classroom50_ready},
    {.option = "github-summary",
     .help = " FILE  add to a step's summary ($GITHUB_STEP_SUMMARY), and\n"
             "                        print annotations at the lines of the source\n",
     .write = out_github_summary,
     .after_page = out_github_annotations,
     .adds = true},
    {.option = "autolab",
     .help = "             end the output with Autolab's line of scores\n",
     .after_page = out_autolab_line},
};
const size_t writer_count = COUNT_OF(writer_table);
_Static_assert(COUNT_OF(writer_table) <= WRITERS_MAX, "raise WRITERS_MAX");

/* ---- Options --------------------------------------------------------------------------------- */

static bool takes_value(const struct writer *writer)
{
    return writer->write != NULL || writer->set != NULL;
}

void writers_options(struct option *into, size_t size, int first_value)
{
    size_t at = 0;
    while (into[at].name != NULL)
        ++at;
    for (size_t i = 0; i < writer_count && at + 1 < size; ++i)
        into[at++] = (struct option){
            writer_table[i].option, takes_value(&writer_table[i]) ? required_argument : no_argument,
            NULL, first_value + (int)i};
    into[at] = (struct option){NULL, 0, NULL, 0};
}

void writers_help(struct bytes *out)
{
    for (size_t i = 0; i < writer_count; ++i)
        bytes_printf(out, "  --%s%s", writer_table[i].option, writer_table[i].help);
}

static bool is_output(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

/* The request that leaves no room for another on standard output; NULL: none. */
static const struct writer *output_owner(const struct writers *writers, bool also_below_page)
{
    for (size_t i = 0; i < writers->count; ++i)
        if (is_output(writers->requests[i].path) ||
            (also_below_page && writers->requests[i].path == NULL))
            return writers->requests[i].writer;
    return NULL;
}

bool writers_take(struct writers *writers, int option, int first_value, const char *value,
                  struct error *err)
{
    if (option < first_value || option >= first_value + (int)writer_count)
        return false;
    const struct writer *writer = &writer_table[option - first_value];
    if (writer->set != NULL) {
        writer->set(&writers->context, value);
        return true;
    }
    /* One that ends the page needs the page. */
    bool whole = is_output(value);
    const struct writer *owner = whole || value == NULL ? output_owner(writers, whole) : NULL;
    if (owner != NULL)
        error_set(err, ERROR_USAGE,
                  "--%s and --%s both want standard output: let one write to a file", owner->option,
                  writer->option);
    else if (writers->count >= WRITERS_MAX)
        error_set(err, ERROR_USAGE, "at most %d files at a time", WRITERS_MAX);
    else {
        writers->requests[writers->count].writer = writer;
        writers->requests[writers->count++].path = value;
    }
    return true;
}

bool writers_own_output(const struct writers *writers)
{
    return output_owner(writers, false) != NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* What a file holds already, if it is one that keeps anything. */
static int load(struct bytes *document, const char *path, struct error *err)
{
    struct bytes old;
    enum file_status status = file_read(&old, path, LIMIT_SUMMARY_BYTES, true);
    int result = 0;
    if (status == FILE_READ && bytes_append(document, bytes_text(&old), old.length) != 0)
        result = error_no_memory(err);
    else if (status == FILE_TOO_LARGE || status == FILE_UNREADABLE)
        result = error_set(err, ERROR_INFRASTRUCTURE, "cannot add to %s: it is %s", path,
                           file_status_text(status));
    bytes_release(&old);
    return result;
}

static int write_grade(const struct writer *writer, const char *path, const struct grade *grade,
                       const struct writer_context *context, struct error *err)
{
    struct bytes document = bytes_with_limit(DOCUMENT_BYTES);
    int status = writer->adds && !is_output(path) ? load(&document, path, err) : 0;
    if (status == 0)
        status = writer->write(&document, grade, context, err);
    if (status == 0)
        status = file_write(path, bytes_text(&document), document.length, err);
    bytes_release(&document);
    return status;
}

static int write_absent(const struct writer *writer, const char *path, const char *why,
                        struct error *err)
{
    struct bytes document = bytes_with_limit(DOCUMENT_BYTES);
    int status = writer->absent(&document, why, err);
    if (status == 0)
        status = file_write(path, bytes_text(&document), document.length, err);
    bytes_release(&document);
    return status;
}

int writers_begin(const struct writers *writers, struct error *err)
{
    for (size_t i = 0; i < writers->count; ++i) {
        const struct writer *writer = writers->requests[i].writer;
        const char *path = writers->requests[i].path;
        if (writer->ready != NULL && writer->ready(err) != 0)
            return -1;
        if (writer->absent != NULL && !is_output(path) &&
            write_absent(writer, path, NULL, err) != 0)
            return -1;
    }
    return 0;
}

int writers_finish(const struct writers *writers, const struct grade *grade, struct error *err)
{
    for (size_t i = 0; i < writers->count; ++i)
        if (writers->requests[i].path != NULL &&
            write_grade(writers->requests[i].writer, writers->requests[i].path, grade,
                        &writers->context, err) != 0)
            return -1;
    return 0;
}

void writers_fail(const struct writers *writers, const struct error *why)
{
    for (size_t i = 0; i < writers->count; ++i) {
        struct error ignored = {0};
        if (writers->requests[i].writer->absent != NULL)
            (void)write_absent(writers->requests[i].writer, writers->requests[i].path,
                               why->text[0] != '\0' ? why->text : "interrupted", &ignored);
    }
}

/* ---- Below and around the page --------------------------------------------------------------- */

int writers_after_page(const struct writers *writers, struct bytes *page, const struct grade *grade,
                       struct error *err)
{
    for (size_t w = 0; w < writer_count; ++w)
        for (size_t i = 0; i < writers->count; ++i)
            if (writers->requests[i].writer == &writer_table[w] &&
                writer_table[w].after_page != NULL &&
                writer_table[w].after_page(page, grade, &writers->context, err) != 0)
                return -1;
    return 0;
}

void writers_guard_page(struct bytes *page, char token[WRITERS_TOKEN_BYTES])
{
    uint64_t random[2] = {0};
    const char *actions = getenv("GITHUB_ACTIONS");
    token[0] = '\0';
    if (actions == NULL || strcmp(actions, "true") != 0 ||
        getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return;
    (void)snprintf(token, WRITERS_TOKEN_BYTES, "spillway-%016llx%016llx",
                   (unsigned long long)random[0], (unsigned long long)random[1]);
    bytes_printf(page, "::stop-commands::%s\n", token);
}

void writers_unguard_page(struct bytes *page, const char *token)
{
    if (token[0] != '\0')
        bytes_printf(page, "::%s::\n", token);
}

/* out_junit.c - JUnit XML, as Jenkins, GitLab and most CI systems read it.
 *
 * There is no official description; this keeps to the elements and attributes that both Ant's
 * formatter and Maven's Surefire write and that the schema of Jenkins' xUnit plugin (junit-10)
 * allows. A failed mark is a failure, a skipped one is skipped, one that our side could not judge
 * is an error; points are properties of the suite. */
#include "writers.h"

#include "mark_words.h"
#include "text.h"

/* Markup and quotes become entities; what XML 1.0 has no way to hold becomes '?'. */
static void escape(struct bytes *out, const char *text, bool attribute)
{
    AUTO_FREE char *printable = text_printable(text);
    if (printable == NULL) {
        out->failed = true;
        return;
    }
    for (const char *p = printable; *p != '\0'; ++p) {
        switch (*p) {
        case '&':
            bytes_append_text(out, "&amp;");
            break;
        case '<':
            bytes_append_text(out, "&lt;");
            break;
        case '>':
            bytes_append_text(out, "&gt;");
            break;
        case '"':
            bytes_append_text(out, "&quot;");
            break;
        case '\n':
        case '\t': /* a reader makes them blanks in an attribute */
            if (attribute)
                bytes_printf(out, "&#%d;", *p);
            else
                bytes_append(out, p, 1);
            break;
        default:
            bytes_append(out, p, 1);
        }
    }
}

static void attribute(struct bytes *out, const char *name, const char *value)
{
    bytes_printf(out, " %s=\"", name);
    escape(out, value, true);
    bytes_append_text(out, "\"");
}

static void property(struct bytes *out, const char *name, const char *value)
{
    bytes_append_text(out, "      <property");
    attribute(out, "name", name);
    attribute(out, "value", value);
    bytes_append_text(out, "/>\n");
}

static void number_property(struct bytes *out, const char *name, uint64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    property(out, name, text);
}

static void properties(struct bytes *out, const struct grade *grade)
{
    bytes_append_text(out, "    <properties>\n");
    number_property(out, "score", (uint64_t)grade->score);
    number_property(out, "pending", (uint64_t)grade->pending);
    number_property(out, "max_score", (uint64_t)grade->max_score);
    number_property(out, "seed", grade->seed);
    property(out, "nvcc", grade->nvcc_version);
    property(out, "executor", executor_word(grade->executor));
    property(out, "device", grade->device);
    for (size_t i = 0; i < grade->mark_count; ++i) {
        const struct mark *mark = &grade->marks[i];
        char name[160], value[32];
        (void)snprintf(name, sizeof name, "points.%s", mark->criterion->id);
        (void)snprintf(value, sizeof value, "%d/%d", mark->points, mark->criterion->points);
        property(out, name, value);
    }
    bytes_append_text(out, "    </properties>\n");
}

static void test_case(struct bytes *out, const struct grade *grade, const struct mark *mark)
{
    static const char *const elements[] = {
        [MARK_FAILED] = "failure", [MARK_SKIPPED] = "skipped", [MARK_ERROR] = "error"};
    char class_name[200];
    (void)snprintf(class_name, sizeof class_name, "%s.%.*s", grade->lab->id,
                   (int)mark_group_length(mark), mark->criterion->id);
    bytes_append_text(out, "    <testcase");
    attribute(out, "classname", class_name);
    attribute(out, "name", mark->criterion->id);
    bytes_append_text(out, " time=\"0\"");
    if (mark->status == MARK_PASSED) {
        bytes_append_text(out, "/>\n");
        return;
    }
    struct bytes words = bytes_with_limit((size_t)64 << 10);
    mark_explain(&words, grade, mark);
    bytes_printf(out, ">\n      <%s", elements[mark->status]);
    attribute(out, "message", mark->criterion->title);
    attribute(out, "type", mark_status_word(mark->status));
    bytes_append_text(out, ">");
    escape(out, bytes_text(&words), false);
    bytes_printf(out, "</%s>\n    </testcase>\n", elements[mark->status]);
    out->failed = out->failed || words.failed;
    bytes_release(&words);
}

int out_junit(struct bytes *out, const struct grade *grade, const struct writer_context *context,
              struct error *err)
{
    (void)context;
    size_t counts[4] = {0};
    for (size_t i = 0; i < grade->mark_count; ++i)
        ++counts[grade->marks[i].status];
    double seconds = (double)grade->duration_ns / 1e9;
    bytes_printf(out,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<testsuites name=\"spillway\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                 "time=\"%.3f\">\n  <testsuite",
                 grade->mark_count, counts[MARK_FAILED], counts[MARK_ERROR], seconds);
    attribute(out, "name", grade->lab->id);
    bytes_printf(
        out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
        grade->mark_count, counts[MARK_FAILED], counts[MARK_ERROR], counts[MARK_SKIPPED], seconds);
    attribute(out, "file", grade->source_path);
    bytes_append_text(out, ">\n");
    properties(out, grade);
    for (size_t i = 0; i < grade->mark_count; ++i)
        test_case(out, grade, &grade->marks[i]);
    struct bytes words = bytes_with_limit((size_t)1 << 20);
    grade_explain(&words, grade);
    bytes_append_text(out, "    <system-out>");
    escape(out, bytes_text(&words), false);
    bytes_append_text(out, "</system-out>\n  </testsuite>\n</testsuites>\n");
    bool failed = out->failed || words.failed;
    bytes_release(&words);
    return failed ? error_no_memory(err) : 0;
}

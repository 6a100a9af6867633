/* out_classroom50.c - result.json of Classroom 50, schema classroom50/result/v1.
 *
 * Which classroom, assignment and submission this is stands in the environment that its runner
 * sets. The runner itself stamps owner, kind of assignment and the commit's date over what is
 * written here. Scores are integers. */
#include "writers.h"

#include <time.h>

#include "json_build.h"
#include "mark_words.h"

static const struct {
    const char *key, *variable;
    const char *otherwise; /* the variable whose value will do; NULL: none will */
} stamps[] = {
    {"classroom", "CLASSROOM", NULL},       {"assignment", "ASSIGNMENT", NULL},
    {"submission", "SUBMISSION_TAG", NULL}, {"commit", "COMMIT_URL", NULL},
    {"release", "RELEASE_URL", NULL},       {"review", "REVIEW_URL", "COMMIT_URL"},
};

static const char *stamp(size_t index)
{
    const char *value = getenv(stamps[index].variable);
    if ((value == NULL || value[0] == '\0') && stamps[index].otherwise != NULL)
        value = getenv(stamps[index].otherwise);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

int out_classroom50_ready(struct error *err)
{
    for (size_t i = 0; i < COUNT_OF(stamps); ++i)
        if (stamp(i) == NULL)
            return error_set(err, ERROR_USAGE,
                             "--classroom50 needs %s in the environment, as the Classroom 50 "
                             "runner sets it",
                             stamps[i].variable);
    return 0;
}

static json_t *test_of(struct json_builder *b, const struct grade *grade, const struct mark *mark)
{
    json_t *test = json_object();
    struct bytes words = bytes_with_limit((size_t)64 << 10);
    mark_explain(&words, grade, mark);
    b->bad = b->bad || words.failed;
    json_put(b, test, "test-name", json_text(mark->criterion->id));
    json_put(b, test, "passed", json_boolean(mark->status == MARK_PASSED));
    json_put(b, test, "score", json_integer(mark->points));
    json_put(b, test, "max-score", json_integer(mark->criterion->points));
    json_put(b, test, "title", json_text(mark->criterion->title));
    json_put(b, test, "status", json_text(mark_status_word(mark->status)));
    json_put(b, test, "message", json_text(bytes_text(&words)));
    bytes_release(&words);
    return test;
}

int out_classroom50(struct bytes *out, const struct grade *grade,
                    const struct writer_context *context, struct error *err)
{
    (void)context;
    if (out_classroom50_ready(err) != 0)
        return -1;
    struct json_builder b = {0};
    json_t *root = json_object(), *tests = json_array();
    json_put(&b, root, "schema", json_text("classroom50/result/v1"));
    for (size_t i = 0; i < COUNT_OF(stamps); ++i)
        json_put(&b, root, stamps[i].key, json_text(stamp(i)));
    char when[32];
    struct tm utc;
    time_t now = time(NULL);
    (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_put(&b, root, "datetime", json_text(when));
    json_put(&b, root, "score", json_integer(grade->score));
    json_put(&b, root, "max-score", json_integer(grade->max_score));
    json_put(&b, root, "pending", json_integer(grade->pending));
    for (size_t i = 0; i < grade->mark_count; ++i)
        json_push(&b, tests, test_of(&b, grade, &grade->marks[i]));
    json_put(&b, root, "tests", tests);
    return json_finish(&b, out, root, err);
}

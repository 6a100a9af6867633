/* out_prairielearn.c - results.json of PrairieLearn's external graders.
 *
 * The score is a share of 1. A submission that was not graded is "not gradable": it uses up no
 * attempt. PrairieLearn refuses a file over 1 MB, so what a compiler says is cut. */
#include "writers.h"

#include "json_build.h"
#include "mark_words.h"

static json_t *text_of(struct json_builder *b, const struct bytes *words)
{
    b->bad = b->bad || words->failed;
    return json_text(bytes_text(words));
}

static json_t *test_of(struct json_builder *b, const struct grade *grade, const struct mark *mark)
{
    json_t *test = json_object();
    struct bytes words = bytes_with_limit((size_t)64 << 10);
    json_put(b, test, "name", json_text(mark->criterion->id));
    json_put(b, test, "description", json_text(mark->criterion->title));
    json_put(b, test, "points", json_integer(mark->points));
    json_put(b, test, "max_points", json_integer(mark->criterion->points));
    bytes_append_text(&words, mark_status_word(mark->status));
    json_put(b, test, "message", text_of(b, &words));
    bytes_clear(&words);
    mark_explain(&words, grade, mark);
    json_put(b, test, "output", text_of(b, &words));
    bytes_release(&words);
    return test;
}

int out_prairielearn(struct bytes *out, const struct grade *grade,
                     const struct writer_context *context, struct error *err)
{
    (void)context;
    struct json_builder b = {0};
    json_t *root = json_object(), *tests = json_array();
    struct bytes words = bytes_with_limit((size_t)1 << 20);
    json_put(&b, root, "gradable", json_true());
    json_put(&b, root, "score",
             json_real(grade->max_score > 0 ? (double)grade->score / grade->max_score : 0));
    bytes_append_text(&words, "Score: ");
    grade_score_words(&words, grade);
    json_put(&b, root, "message", text_of(&b, &words));
    bytes_clear(&words);
    grade_explain(&words, grade);
    json_put(&b, root, "output", text_of(&b, &words));
    bytes_release(&words);
    for (size_t i = 0; i < grade->mark_count; ++i)
        json_push(&b, tests, test_of(&b, grade, &grade->marks[i]));
    json_put(&b, root, "tests", tests);
    return json_finish(&b, out, root, err);
}

int out_prairielearn_absent(struct bytes *out, const char *why, struct error *err)
{
    struct json_builder b = {0};
    json_t *root = json_object(), *errors = json_array();
    json_put(&b, root, "gradable", json_false());
    json_push(&b, errors,
              json_text(why != NULL ? why : "The grading began and did not come to its end."));
    json_put(&b, root, "format_errors", errors);
    json_put(&b, root, "message", json_text("Nothing was graded, and no attempt is used up."));
    return json_finish(&b, out, root, err);
}
